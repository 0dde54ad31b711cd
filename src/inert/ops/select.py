"""Parts of a saved object by name: what is kept, dropped and renamed.

Knows: how the names of ``inert ls`` lead to places in dicts and lists, for values that are no tensors as well.
Refuses to know: files.
"""

from __future__ import annotations

import re

from ..errors import UnsupportedError
from ..index import place_for, rekey, slot
from ..names import Lister, piece, wanted
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..limits import Limits


def select(root: Any, keep: Sequence[str], drop: Sequence[str]) -> list[str]:
    """Take out of the root's dicts and lists, in place, what a pattern of ``drop`` names, and what no pattern of ``keep`` does (without
    any: nothing); what is inside of a named container goes or stays with it. The names of what was taken out, a container's for all in it.
    """
    kept, dropped = wanted(keep), wanted(drop)
    gone: list[str] = []
    seen: set[int] = set()
    todo = [(root, "", not keep)]  # a container, the beginning of its items' names, whether all in it is kept
    while todo:
        value, prefix, whole = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        out = []
        for key, item in items_of(value):
            name = prefix + piece(key)
            stays, open_ = whole or kept(name), isinstance(item, (dict, list)) and bool(item)
            if (drop and dropped(name)) or not (stays or open_):
                out.append((key, name))
            elif open_:
                todo.append((item, f"{name}.", stays))
        for key, name in reversed(out):
            del value[key]
            gone.append(name)
    return sorted(gone + (_without_empty(root) if keep else []))


def items_of(value: Any) -> list[tuple[Any, Any]]:
    """Keys and items of a dict or list; those of anything else are none."""
    return list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())


def _without_empty(root: Any) -> list[str]:
    """Take out the dicts and lists that have become empty, the inner ones first."""
    places: list[tuple[Any, Any, str]] = []
    seen: set[int] = set()
    todo = [(root, "")]
    while todo:
        value, prefix = todo.pop()
        if id(value) not in seen:
            seen.add(id(value))
            inner = [(key, item, prefix + piece(key)) for key, item in items_of(value) if isinstance(item, (dict, list))]
            places += [(value, key, name) for key, _, name in inner]
            todo += [(item, f"{name}.") for _, item, name in inner]
    gone = []
    for container, key, name in reversed(places):
        if not container[key]:
            del container[key]
            gone.append(name)
    return gone


def rename(root: Any, rules: Iterable[tuple[str, str]], limits: Limits) -> dict[str, str]:
    """Rename tensors in place: each rule is a regular expression and what takes the place of its matches in a name. Old names → new ones.

    A tensor whose new name begins with the names of the dicts that it lies in keeps its place; another one moves to the deepest dict that
    its new name leads to. UnsupportedError where two would have one name, or where a name would be empty or lie in no dict."""
    compiled = [(_compiled(pattern), text) for pattern, text in rules]
    tensors = Lister(root, limits).tensors
    names = {name: _renamed(name, compiled) for name in tensors}
    changed = {old: new for old, new in names.items() if old != new}
    _refuse_collisions(names)
    moved: list[tuple[str, Tensor]] = []
    keys: dict[int, tuple[dict[Any, Any], dict[Any, Any]]] = {}
    for old, new in changed.items():
        tensor = tensors[old]
        if not tensor.path or not new:
            raise UnsupportedError(f"the tensor {old!r} cannot be called {new!r}", hint="a name needs a dict to stand in")
        container, key = slot(root, tensor.path)
        base = old[: len(old) - len(piece(key))]
        if isinstance(container, dict) and old.endswith(piece(key)) and new.startswith(base) and new != base:
            keys.setdefault(id(container), (container, {}))[1][key] = new[len(base) :]
        elif isinstance(container, (dict, list)):
            moved.append((new, tensor))
        else:
            raise UnsupportedError(f"{old!r} lies in a {type(container).__name__}, where nothing can be renamed")
    values = [(new, *slot(root, tensor.path)) for new, tensor in moved]
    for container, fresh in keys.values():
        if len({fresh.get(key, key) for key in container}) < len(container):
            raise UnsupportedError(f"a new name is the name of something else already: {', '.join(map(str, fresh.values()))[:200]}")
        rekey(container, fresh)
    for new, container, key in values:
        value = container[key] if key in container or isinstance(container, list) else container[keys[id(container)][1][key]]
        if isinstance(container, dict):
            del container[key]
        target, rest = place_for(root, new)
        if rest in target:
            raise UnsupportedError(f"{new!r} is the name of something else already")
        target[rest] = value
    return changed


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UnsupportedError(f"{pattern!r} is no regular expression: {error}") from None


def _renamed(name: str, rules: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, text in rules:
        try:
            name = pattern.sub(text, name)
        except (re.error, IndexError) as error:
            raise UnsupportedError(f"{text!r} cannot take the place of {pattern.pattern!r}: {error}") from None
    return name


def _refuse_collisions(names: dict[str, str]) -> None:
    seen: dict[str, str] = {}
    for old, new in names.items():
        if new in seen:
            raise UnsupportedError(f"{seen[new]!r} and {old!r} would both be called {new!r}", hint="change the expression")
        seen[new] = old
