"""Graphs of pickle nodes: held against each other, and against the Python objects that were pickled, sharing and cycles included.

Knows: what makes two nodes equal.
Refuses to know: bytes.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from inert.pickle.nodes import Buffer, Call, Dict, Global, List, Reference, Set
from inert.pickle.row import Row


def alike(obj: Any, root: Any) -> str:
    """Where the nodes under ``root`` are not the object graph ``obj`` that CPython pickled; "" where they are, sharing included."""
    forth: dict[int, Any] = {}
    back: dict[int, Any] = {}
    keep: list[Any] = []
    todo = [(obj, root, "")]
    while todo:
        a, b, at = todo.pop()
        kind = type(a)
        if kind in (bytes, bytearray) and isinstance(b, Call):
            b = _bytes(b)
        if kind in (type(None), bool, int, float, str, bytes, bytearray):
            same = type(b) is kind and (b == a or (kind is float and math.isnan(a) and math.isnan(b)))
            if kind is float and same and math.copysign(1, a) != math.copysign(1, b):
                same = False
            if not same:
                return f"{at}: {a!r} and {b!r}"
            continue
        if kind is tuple and not a:
            if type(b) is not tuple or b:
                return f"{at}: () and {b!r}"
            continue
        if id(a) in forth or id(b) in back:
            if forth.get(id(a)) is not b or back.get(id(b)) is not a:
                return f"{at}: sharing of {kind.__name__}"
            continue
        forth[id(a)], back[id(b)] = b, a
        keep.append(b)
        mine: list[Any]
        if kind is dict and type(b) is Dict:
            mine, other = [x for pair in a.items() for x in pair], b.flat
        elif (kind is list and type(b) is List) or (kind is tuple and type(b) is tuple):
            mine, other = list(a), list(b.items) if kind is list else list(b)
        elif kind in (set, frozenset):
            mine, other = list(a), _set_items(b, kind)
        else:
            return f"{at}: {kind.__name__} and {b!r}"
        if len(mine) != len(other):
            return f"{at}: {len(mine)} and {len(other)} items"
        todo += [(x, y, f"{at}.{i}") for i, (x, y) in enumerate(zip(mine, other, strict=True))]
    return ""


def _bytes(call: Call) -> Any:
    """What protocols 0 to 2 make of bytes, 0 to 4 of a bytearray."""
    if call.dotted == "_codecs.encode":
        value, codec = call.arguments
        assert codec == "latin1"
        return value.encode("latin1")
    assert call.dotted in ("builtins.bytes", "builtins.bytearray"), call
    made = bytearray if call.dotted.endswith("array") else bytes
    if call.arguments:
        (inner,) = call.arguments[:1]
        if type(inner) is str:
            return made(inner, "latin1")
        return made(_bytes(inner) if isinstance(inner, Call) else inner)
    return made()


def _set_items(node: Any, kind: type) -> list[Any]:
    if type(node) is Set:
        assert node.frozen == (kind is frozenset)
        return list(node.items)
    assert isinstance(node, Call), node
    assert node.dotted == f"builtins.{kind.__name__}", node
    return list(node.arguments[0].items)


def fields(node: Any, places: bool = True) -> tuple[tuple[Any, ...], list[Any]] | None:
    """(what must be equal, what must be equal in turn) of a node that has an identity; None for a number, text or constant. Without
    ``places`` it does not count where in its pickle a node stands, nor how a name was spelled, nor an APPENDS of nothing."""
    found = _fields(node)
    if places or found is None:
        return found
    if type(node) is Global:
        return None
    facts = found[0]
    if isinstance(node, Call):
        facts = ("Call", node.how, node.dotted, tuple(len(part or ()) for part in (node.states, node.items, node.flat)))
    elif type(node) is not tuple:
        facts = (type(node).__name__, getattr(node, "frozen", None), getattr(node, "readonly", None), len(found[1]))
    return facts, found[1]


def _fields(node: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    if type(node) is tuple:
        return (("tuple", len(node)), list(node)) if node else None
    if type(node) is List:
        return ("List", node.offset, len(node.items)), list(node.items)
    if type(node) is Dict:
        return ("Dict", node.offset, len(node.flat)), list(node.flat)
    if type(node) is Set:
        return ("Set", node.offset, node.frozen, len(node.items)), list(node.items)
    if type(node) is Global:
        return ("Global", node.module, node.name, node.dotted, node.offset, node.how), []
    if type(node) is Reference:
        return ("Reference", node.offset), [node.pid]
    if type(node) is Buffer:
        return ("Buffer", node.offset), []
    if isinstance(node, Call):
        counts = tuple(None if part is None else len(part) for part in (node.states, node.items, node.flat))
        parts = [node.function, node.arguments, node.keywords, *node.states, *(node.items or ()), *(node.flat or ())]
        return ("Call", node.how, node.offset, node.dotted, counts), parts
    return None


def atom(value: Any) -> tuple[Any, ...]:
    if type(value) is Global:
        return Global, value.module, value.name
    if isinstance(value, float):
        return float, struct.pack(">d", value)
    return type(value), bytes(value) if isinstance(value, bytearray) else value


def whole(node: Any) -> Any:
    """A Row and the last Call of its events are one thing."""
    return node.events()[-1] if type(node) is Row else node


def _path(way: Any) -> str:
    """The last steps of a way from a root; the way itself may be very long."""
    steps: list[str] = []
    while way is not None and len(steps) < 12:
        way, step = way
        steps.append(str(step))
    return ".".join(reversed(steps))


def difference(pairs: list[tuple[Any, Any]], places: bool = True) -> str:
    """Where two graphs differ, walked in step from each pair of roots; "" where they are isomorphic. ``places``: see ``fields``."""
    forth: dict[int, Any] = {}
    back: dict[int, Any] = {}
    todo: list[tuple[Any, Any, Any]] = [(a, b, (None, i)) for i, (a, b) in enumerate(pairs)]
    while todo:
        a, b, way = todo.pop()
        row = type(a) is Row
        if row and a.function is not whole(a).function:
            return f"{_path(way)}: a row's function"
        a, b = whole(a), whole(b)
        mine, other = fields(a, places), fields(b, places)
        if (mine is None) != (other is None):
            return f"{_path(way)}: {a!r} and {b!r}"
        if mine is None or other is None:
            if atom(a) != atom(b):
                return f"{_path(way)}: {a!r} and {b!r}"
            continue
        if id(a) in forth or id(b) in back:
            if forth.get(id(a)) is not b or back.get(id(b)) is not a:
                return f"{_path(way)}: sharing differs at {mine[0]}"
            continue
        forth[id(a)], back[id(b)] = b, a
        if mine[0] != other[0]:
            return f"{_path(way)}: {mine[0]} and {other[0]}"
        todo += [(x, y, (way, i)) for i, (x, y) in enumerate(zip(mine[1], other[1], strict=True))]
    return ""
