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

    Keys = tuple[dict[Any, Any], str, dict[Any, str]]  # a dict, the beginning of its items' names, its keys that change


def select(root: Any, keep: Sequence[str], drop: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take out of the root's dicts and lists, in place, what a pattern of ``drop`` names, and what no pattern of ``keep`` does (without
    any: nothing); what is inside of a named container goes or stays with it. The names of what was taken out, a container's for all in it;
    and the patterns that fit nothing that could be taken out or kept.
    """
    kept, dropped = Patterns(keep), Patterns(drop)
    gone: list[str] = []
    emptied: set[int] = set()  # containers that something was taken out of
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
            stays, open_ = kept(name) or whole, isinstance(item, (dict, list)) and bool(item)
            if dropped(name) or not (stays or open_):
                out.append((key, name))
            elif open_:
                todo.append((item, f"{name}.", stays))
        for key, name in reversed(out):
            del value[key]
            gone.append(name)
            emptied.add(id(value))
    gone += _without_empty(root, emptied) if keep else []
    return sorted(gone), [*kept.idle, *dropped.idle]


class Patterns:
    """Whether a name fits one of several patterns, ``given``; ``idle``: those that have fitted none so far."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.given = tuple(patterns)
        self.fits = wanted(patterns)
        self.idle = {pattern: wanted([pattern]) for pattern in patterns}

    def __call__(self, name: str) -> bool:
        found = self.fits(name)
        if found:
            for pattern in [pattern for pattern, fits in self.idle.items() if fits(name)]:
                del self.idle[pattern]
        return found


def items_of(value: Any) -> list[tuple[Any, Any]]:
    """Keys and items of a dict or list; those of anything else are none."""
    return list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())


def _without_empty(root: Any, emptied: set[int]) -> list[str]:
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
        if not container[key] and id(container[key]) in emptied:
            del container[key]
            emptied.add(id(container))
            gone.append(name)
    return gone


def rename(root: Any, rules: Iterable[tuple[str, str]], limits: Limits) -> dict[str, str]:
    """Rename tensors in place: each rule is a regular expression and what takes the place of its matches in a name. Old names → new ones.

    A tensor whose new name begins with the names of the dicts that it lies in keeps its place; another one moves to the deepest dict that
    its new name leads to, and dicts that become empty by that go. The module names in a state dict's ``_metadata``, where torch keeps the
    versions of modules, are renamed too. UnsupportedError where two would have one name, where a name would be empty or lie in no dict, and
    for positions in lists, which have no names of their own."""
    compiled = [(_compiled(pattern), text) for pattern, text in rules]
    tensors = Lister(root, limits).tensors
    names = {name: _renamed(name, compiled) for name in tensors}
    changed = {old: new for old, new in names.items() if old != new}
    _refuse_collisions(names)
    keys, moved = _places(root, tensors, names)
    values = [(new, container, container.pop(key)) for new, container, key in moved]
    for container, base, fresh in keys:
        if len({fresh.get(key, key) for key in container}) < len(container):
            taken = next(new for old, new in fresh.items() if new in container and new not in fresh)
            raise UnsupportedError(f"{base + taken!r} is the name of something else already", hint="change the expression")
        rekey(container, fresh)
        _rename_modules(container, base, fresh, compiled)
    for new, _, value in values:
        _, target, rest = place_for(root, new)
        if rest in target:
            raise UnsupportedError(f"{new!r} is the name of something else already", hint="change the expression")
        target[rest] = value
    if values:
        _without_empty(root, {id(container) for _, container, _ in values})
    return changed


def _places(root: Any, tensors: dict[str, Tensor], names: dict[str, str]) -> tuple[list[Keys], list[tuple[str, dict[Any, Any], Any]]]:
    """Where the tensors stand whose names change: the dicts that get other keys, and (new name, dict, key) of what leaves its dict."""
    keys: dict[int, Keys] = {}
    moved: list[tuple[str, dict[Any, Any], Any]] = []
    wishes: dict[tuple[int, Any], tuple[str, str]] = {}  # entries that several paths lead to must have one name
    for old, new in names.items():
        tensor = tensors[old]
        if not tensor.path:
            if new != old:
                raise UnsupportedError(f"the whole object is a tensor: it cannot be called {new!r}")
            continue
        container, key = slot(root, tensor.path)
        base = old[: len(old) - len(piece(key))] if old.endswith(piece(key)) else None
        stays = base is not None and new.startswith(base) and new != base
        wish = new[len(base) :] if base is not None and stays else f"\0{new}"
        known = wishes.setdefault((id(container), key), (old, wish))
        if known[1] != wish:
            raise UnsupportedError(f"{known[0]!r} and {old!r} are one entry of one dict", hint="give both the same new name")
        if new == old or known[0] != old:
            continue
        if not new:
            raise UnsupportedError(f"the tensor {old!r} cannot be called {new!r}", hint="a name needs a dict to stand in")
        if not isinstance(container, dict):
            what = "a position in a list has no other name" if isinstance(container, list) else f"it lies in a {type(container).__name__}"
            raise UnsupportedError(f"{old!r} cannot be called {new!r}: {what}")
        if base is not None and stays:
            keys.setdefault(id(container), (container, base, {}))[2][key] = wish
        else:
            moved.append((new, container, key))
    return list(keys.values()), moved


def _rename_modules(container: dict[Any, Any], base: str, fresh: dict[Any, str], rules: list[tuple[re.Pattern[str], str]]) -> None:
    """The names of modules in a state dict's ``_metadata``, as those of their tensors: torch asks for versions by them."""
    held = getattr(container, "_metadata", None)
    if not isinstance(held, dict) or not all(type(key) is str for key in held):
        return
    found: dict[str, str] = {}
    for old, new in fresh.items():
        module, leaf = str(old).rpartition(".")[::2]
        if module in held and (new == leaf or new.endswith(f".{leaf}")):
            found[module] = new[: len(new) - len(leaf) - 1]
    for module in held:
        if module and module not in found:
            new = _renamed(f"{base}{module}.", rules)
            if new == base or (new.startswith(base) and new.endswith(".")):
                found[module] = new[len(base) : -1] if new != base else ""
    items = [(found.get(module, module), module in found, version) for module, version in held.items()]
    held.clear()
    for name, _, version in sorted(items, key=lambda item: item[1]):  # what moves to a name counts there
        held[name] = version


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
