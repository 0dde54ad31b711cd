"""Tensor names: the saved object → every tensor in it under the path that leads to it.

Knows: how paths are walked (dict keys, list positions, fields of objects, module state under its state_dict names) and joined.
Refuses to know: recursion, and unbounded work. A container that many paths lead to is listed under each, up to ``Limits.paths`` more
visits than there are containers; what holds no tensor is walked once.
"""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from itertools import chain, islice

from .errors import FormatError
from .finding import Finding
from .pickle.nodes import Global, shown
from .tensor import Tensor
from .torch.objects import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .limits import Limits

    Link = tuple["Link", Any] | None  # (link of the container, key)

ELIDED = ("_parameters", "_buffers", "_modules")  # a module's own dicts: state_dict() leaves them out of its names
_LEAVES = frozenset((str, int, float, bool, bytes, type(None)))
OPEN, BARREN, LISTED = 1, 2, 3  # a container on the path (met again: a cycle), without tensors, with some
CANDIDATES, LONG = 5000, 300  # names that are compared for likeness (difflib takes about 20 µs for each); characters of one
CLASS = 200  # characters of a class name that is a key
HERE = object()  # a step that adds nothing to the path


def near(name: str, known: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """Up to three names for which ``name`` may have been meant: those with it in them or that are most of it, the nearest in length first;
    else those spelled like it (``others`` before the first of ``known``)."""
    from difflib import get_close_matches

    folded, known = name.lower(), list(known)
    inside = [one for one in known if folded in one.lower() or (2 * len(one) >= len(name) and one.lower() in folded)]
    inside.sort(key=lambda one: abs(len(one) - len(name)))
    if not inside:
        inside = (
            get_close_matches(name, [one for one in (*others, *known[:CANDIDATES]) if len(one) < LONG], 3, 0.5) if len(name) < LONG else []
        )
    return [*dict.fromkeys(inside)][:3]


class Joined:
    """Several values under one root: the (key, value) pairs that a format lists together. ``HERE`` as a key adds nothing to the names."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        self.pairs = tuple(pairs)


def children(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """(key, value) of what a container holds; None for what is no container."""
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, (list, tuple, deque)):
        return enumerate(value)
    if isinstance(value, (set, frozenset)):
        return enumerate(value)
    if isinstance(value, Namespace):
        return vars(value).items()
    if isinstance(value, Object):
        return _object(value)
    if type(value) is Joined:
        return value.pairs
    return None


def _object(value: Object) -> Iterator[tuple[Any, Any]]:
    fields = value.fields
    for name, item in fields.items():
        yield (HERE if name in ELIDED and isinstance(item, dict) else name), item
    if not fields and value.state is not None:
        yield "state", value.state
    yield from _beside(value)


def _beside(value: Object) -> Iterator[tuple[Any, Any]]:
    """What an object holds besides its state."""
    yield from chain(enumerate(value.items), value.pairs)
    if value.call.how == "NEWOBJ" and value.state is None and isinstance(value.arguments, tuple):
        yield from enumerate(value.arguments)  # a named tuple, most likely: its class alone knows the names
    elif value.arguments:
        yield "args", value.arguments
    if value.keywords:
        yield "kwargs", value.keywords


def piece(key: Any) -> str:
    """A key as a part of a name."""
    if type(key) is str:
        return key
    if isinstance(key, bytes):
        return key.decode("utf-8", "backslashreplace")
    if isinstance(key, int) and key.bit_length() > 1000:
        return f"{key:#x}"  # decimal digits take quadratic time, and Python gives no more than 4,300 of them
    if isinstance(key, (int, float, bool)) or key is None:
        return str(key)
    if isinstance(key, tuple) and len(key) < 20 and all(type(part) in _LEAVES for part in key):
        return f"({', '.join(map(shown, key))}{',' if len(key) == 1 else ''})"
    if type(key) is Global:
        return f"<{key.dotted[:CLASS]}>"
    return f"<{type(key).__name__}>"


class _Frame:
    __slots__ = ("found", "items", "link", "path", "prefix", "value")

    def __init__(self, value: Any, items: Iterator[tuple[Any, Any]], link: Link, found: int) -> None:
        self.value = value
        self.items = items
        self.link = link
        self.found = found  # tensors found before this frame
        self.path: tuple[Any, ...] | None = None
        self.prefix = ""


class Lister:
    """One walk over a root. ``tensors`` maps names to Tensors in the object's order; ``notes`` says what was left out.

    ``arrays``: by id of a value in the root, the Tensor that stands for it. ``seen``: by id of a container, BARREN or LISTED."""

    def __init__(self, root: Any, limits: Limits, arrays: Mapping[int, Tensor] | None = None) -> None:
        self.limits = limits
        self.arrays = arrays or {}
        self.seen: dict[int, int] = {}
        self.bare: set[int] = set()  # ids of states without tensors: one may be that of a great many objects
        self.notes: list[Finding] = []
        self.tensors: dict[str, Tensor] = {}
        self.count = 0
        self.twins: set[str] = set()  # names that several paths have
        self.budget = limits.name_bytes
        self.revisits = limits.paths
        root = self.arrays.get(id(root), root)
        if isinstance(root, Tensor):
            self.tensors[""] = root
        else:
            self._walk(root)
        if self.twins:
            self._bracket()

    def _walk(self, root: Any) -> None:
        state, arrays = self.seen, self.arrays
        stack: list[_Frame] = []
        self._push(stack, state, root, None)
        while stack:
            frame = stack[-1]
            for key, value in frame.items:
                kind = type(value)
                if arrays and id(value) in arrays:
                    value, kind = arrays[id(value)], Tensor
                if isinstance(value, Tensor):
                    base = frame.path if frame.path is not None else self._enter(stack)
                    name = frame.prefix + (key if type(key) is str else piece(key))
                    self.budget -= len(name)
                    if self.budget < 0:
                        self.notes.append(Finding("names-limit", f"{self.count:,} tensors are listed", "root"))
                        return
                    self.count += 1
                    placed = value.place(name, base, key)
                    if self.tensors.setdefault(name, placed) is not placed:
                        self.twins.add(name)
                        self.tensors[self.count] = placed  # type: ignore[index]  # keeps its place until it gets a name
                elif kind not in _LEAVES:
                    known = state.get(id(value))
                    if known not in (None, LISTED) or (known == LISTED and not self._again()):
                        continue
                    if self._push(stack, state, value, frame.link if key is HERE else (frame.link, key)):
                        break
            else:
                stack.pop()
                state[id(frame.value)] = BARREN if frame.found == self.count else LISTED
                if frame.found == self.count and type(frame.value) is Object:
                    self.bare.add(id(frame.value.state))

    def _push(self, stack: list[_Frame], state: dict[int, int], value: Any, link: Link) -> bool:
        bare = type(value) is Object and value.state is not None and id(value.state) in self.bare
        items = _beside(value) if bare else children(value)
        if items is None:
            return False
        state[id(value)] = OPEN
        stack.append(_Frame(value, iter(items), link, self.count))
        return True

    def _again(self) -> bool:
        self.revisits -= 1
        if self.revisits == -1:
            self.notes.append(Finding("paths-limit", f"more than {self.limits.paths:,} further paths", "root"))
        return self.revisits >= 0

    def _enter(self, stack: list[_Frame]) -> tuple[Any, ...]:
        """Path and prefix of the last frame, from those of the nearest frame above that has them."""
        frame = stack[-1]
        above = next((other for other in islice(reversed(stack), 1, None) if other.path is not None), None)
        top, path, prefix = (above.link, above.path, above.prefix) if above else (None, (), "")
        steps, link = [], frame.link
        while link is not None and link is not top:
            link, key = link
            steps.append(key)
        steps.reverse()
        frame.path = (*(path or ()), *steps)
        frame.prefix = prefix + "".join([f"{piece(step)}." for step in steps])
        self.budget -= 8 * len(frame.path)
        return frame.path

    def _bracket(self) -> None:
        """Names that collide are replaced, every one, by their bracketed paths; the order stays."""
        plain, self.tensors = self.tensors, {}
        for tensor in plain.values():
            if tensor.name in self.twins:
                base = name = bracketed(tensor.path)
                number = 2
                while name in self.tensors or name in plain:
                    name, number = f"{base}#{number}", number + 1
                tensor.name = name
            self.tensors[tensor.name] = tensor


def wanted(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Whether a name fits one of the patterns: a name, the name of what it lies in, or a glob over whole names (* ? [])."""
    from fnmatch import translate
    from re import compile as expression

    globs = [expression(translate(pattern)).match for pattern in patterns if set(pattern) & set("*?[")]
    exact, inside = set(patterns), tuple(f"{pattern}." for pattern in patterns)
    return lambda name: name in exact or name.startswith(inside) or any(glob(name) for glob in globs)


def bracketed(path: tuple[Any, ...]) -> str:
    """The unmistakable spelling of a path: ["a.b"], ["a"]["b"], [0]."""
    return "".join(f'["{step}"]' if isinstance(step, str) else f"[{piece(step)}]" for step in path)


def find(value: Any, path: str) -> Any:
    """The value at a dotted path; a key may hold dots itself, so the longest key that fits is taken at each step."""
    steps, at = path.split("."), 0
    while at < len(steps):
        for end in range(len(steps), at, -1):
            key = ".".join(steps[at:end])
            found = step(value, key)
            if found is not None:
                value, at = found[0], end
                break
        else:
            known = ", ".join(map(piece, list(value)[:8])) if isinstance(value, dict) else type(value).__name__
            raise FormatError(f"no {'.'.join(steps[at:])!r} in {'.'.join(steps[:at]) or 'the saved object'}", hint=f"there is: {known}")
    return value


def step(value: Any, key: str) -> tuple[Any] | None:
    """The item of one container under a key's text, in a tuple; None where there is none."""
    if isinstance(value, dict):
        if key in value:
            return (value[key],)
        return next(((item,) for name, item in value.items() if not isinstance(name, str) and piece(name) == key), None)
    if isinstance(value, (list, tuple)):
        return (value[int(key)],) if key.isdigit() and int(key) < len(value) else None
    fields = getattr(value, "fields", None) or getattr(value, "__dict__", {})
    return (fields[key],) if key in fields else None
