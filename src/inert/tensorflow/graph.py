"""The object graph of an object-based checkpoint: which objects there were, how they held each other, under which key each value lies.

Knows: TrackableObjectGraph, the keys' escapes, and the tree of plain dicts that the graph stands for; an object that is held twice is one
dict, and so is one that holds itself.
Refuses to know: what the objects were. No class is named anywhere in the graph but those of registered savers, which stay texts.

Facts: TensorFlow 2.21 trackable_object_graph.proto, checkpoint/trackable_view.py, trackable_utils.py (escape_local_name).
"""

from __future__ import annotations

import re

from ..containers.protowire import DELIMITED, VARINT, fields, signed, text
from ..errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
ATTRIBUTES, VALUE, SLOT = "/.ATTRIBUTES/", "VARIABLE_VALUE", "/.OPTIMIZER_SLOT/"
ESCAPED = re.compile(r"\.([.S])")
ATTRIBUTE, SLOTS = ".ATTRIBUTES/", ".OPTIMIZER_SLOT"  # keys of dicts in the tree; no name of a child can be like them
# fields of a node (children, attributes, slots, saver) → which fields of their messages are texts
TEXTS = {1: (2,), 2: (1, 2, 3), 3: (2,), 4: (1,)}


class Node:
    """One object: ``children`` {local name: node}, ``attributes`` {name: (full name, key)}, ``slots`` [(node of the variable, name,
    node of the slot variable)], ``saver``: the registered saver's name."""

    __slots__ = ("attributes", "children", "saver", "slots")

    def __init__(self) -> None:
        self.children: dict[str, int] = {}
        self.attributes: dict[str, tuple[str, str]] = {}
        self.slots: list[tuple[int, str, int]] = []
        self.saver = ""


def parse(data: bytes) -> list[Node]:
    """The graph's nodes; the first is the root. FormatError where the bytes are no TrackableObjectGraph or a number leads nowhere."""
    nodes = [_node(data, value, end) for number, wire, value, end in fields(data) if (number, wire) == (1, DELIMITED)]
    for node in nodes:
        ends = [*node.children.values(), *(number for slot in node.slots for number in (slot[0], slot[2]))]
        if ends and not 0 <= min(ends) <= max(ends) < len(nodes):
            raise FormatError(f"an object graph of {len(nodes):,} nodes leads to one that it does not have")
    return nodes


def _node(data: bytes, start: int, end: int) -> Node:
    made = Node()
    for number, wire, value, stop in fields(data, start, end):
        if wire != DELIMITED or number not in TEXTS:
            continue
        known = _values(data, value, stop, TEXTS[number])
        if number == 1:
            made.children[known.get(2, "")] = known.get(1, 0)
        elif number == 2:
            made.attributes[known.get(1, "")] = known.get(2, ""), known.get(3, "")
        elif number == 3:
            made.slots.append((known.get(1, 0), known.get(2, ""), known.get(3, 0)))
        elif number == 4:
            made.saver = known.get(1, "")
    return made


def _values(data: bytes, start: int, end: int, texts: tuple[int, ...]) -> dict[int, Any]:
    """The fields of a flat message: of some the texts, of all others the numbers. One of another kind is unknown, as in protobuf."""
    found: dict[int, Any] = {}
    for number, wire, value, stop in fields(data, start, end):
        if wire == DELIMITED and number in texts:
            found[number] = text(data, value, stop)
        elif wire == VARINT and number not in texts:
            found[number] = signed(value, 32)
    return found


def unescaped(name: str) -> str:
    """A step of a key as the local name it stands for."""
    return ESCAPED.sub(lambda found: "/" if found[1] == "S" else ".", name) if "." in name else name


def path_of(key: str) -> tuple[str, ...]:
    """Where in the tree the value under a key stands, as far as the key can tell; (key,) for one that is of no object."""
    before, mark, attribute = key.rpartition(ATTRIBUTES)
    if not mark:
        return (key,)
    variable, slot, rest = before.rpartition(SLOT)
    if slot:
        optimizer, _, name = rest.rpartition("/")
        return (*_steps(optimizer), SLOTS, variable, name)
    return _steps(before) if attribute == VALUE else (*_steps(before), ATTRIBUTE + attribute)


def _steps(path: str) -> tuple[str, ...]:
    return tuple(map(unescaped, path.split("/"))) if path else ()


def tree(nodes: list[Node], value: Callable[[str], Any]) -> Any:
    """The root as plain dicts, with ``value(key)`` where an object has one under that key; an object with a value alone is that value."""
    if not nodes:
        return {}
    made: list[Any] = [_leaf(node, value) for node in nodes]
    slots: set[int] = {slot[2] for node in nodes for slot in node.slots}
    for node, held in zip(nodes, made, strict=True):
        if _is_leaf(node):
            continue
        for name, child in node.children.items():
            held[name] = made[child]
        for name, (_, key) in node.attributes.items():
            held[ATTRIBUTE + name] = value(key)
        for variable, name, slot in node.slots:
            if slot in slots:
                under = next((key.rpartition(ATTRIBUTES)[0] for _, key in nodes[variable].attributes.values()), str(variable))
                held.setdefault(SLOTS, {}).setdefault(under, {})[name] = made[slot]
    return made[0]


def _is_leaf(node: Node) -> bool:
    return not node.children and not node.slots and list(node.attributes) == [VALUE]


def _leaf(node: Node, value: Callable[[str], Any]) -> Any:
    return value(node.attributes[VALUE][1]) if _is_leaf(node) else {}


def variables(nodes: list[Node]) -> dict[str, dict[str, Any]]:
    """By key: the variable's ``full_name``, and for a slot variable ``slot`` (its name) and ``of`` (the full name of its variable)."""
    found: dict[str, dict[str, Any]] = {}
    for node in nodes:
        for full, key in node.attributes.values():
            if key:
                found[key] = {"full_name": full}
    for node in nodes:
        for variable, name, slot in node.slots:
            of = next((full or key for full, key in nodes[variable].attributes.values()), "")
            for _, key in nodes[slot].attributes.values():
                if key in found:
                    found[key] |= {"slot": name, "of": of}
    return found
