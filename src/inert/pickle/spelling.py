"""Spellings: where a pickle says a number or a tuple in other opcodes than CPython's pickler would.

Knows: which numbers are not spelled in the fewest bytes (Python 2's ``long``, protocol 0's text), which short tuples stand behind a mark,
which empty ones are memoised. It decodes the pickle once more, with marked numbers and tuples, and lays both graphs side by side.
Refuses to know: nodes that an edit has made; they are spelled in the document's Style.
"""

from __future__ import annotations

from ..errors import FormatError, InertError
from .collections import tuple_
from .handlers import HANDLERS
from .nodes import Call, Dict, List, Reference, Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .decode import Document, Machine
    from .handlers import Handler


LONGEST = 32  # bytes of a number's opcode that are kept for each place where it stands: a longer one is spelled anew


class Number(int):
    """A number and the opcode with its argument that spelled it."""

    raw: bytes


class Empty(tuple[()]):
    """An empty tuple: Python has but one, a pickle may have memoised several. ``marked``: spelled as MARK TUPLE."""

    marked: bool
    kept: bool  # memoised


class Marked(tuple[object, ...]):
    """A tuple of one to three parts that stands behind a mark."""


class Spellings:
    """``parts``: by id of a node, for some of its parts (by place in ``parts_of``; None: of the root itself) what stands for them ·
    ``marked``: ids of short tuples behind a mark · ``known``: ids of all tuples and nodes of the document."""

    __slots__ = ("known", "marked", "parts")

    def __init__(self) -> None:
        self.parts: dict[int | None, dict[int, Any]] = {}
        self.marked: set[int] = set()
        self.known: set[int] = set()


def parts_of(node: Any) -> list[Any] | None:
    """What a node holds, in the order of the opcodes; None for a leaf."""
    kind = type(node)
    if isinstance(node, tuple):
        return list(node)
    if kind is List or kind is Set:
        return list(node.items)
    if kind is Dict:
        return list(node.flat)
    if isinstance(node, Call):
        return [node.function, node.arguments, node.keywords, *(node.items or ()), *(node.flat or ()), *node.states]
    if kind is Reference:
        return [node.pid]
    return None


def _number(handler: Handler) -> Handler:
    def push(m: Machine, position: int) -> int:
        after = handler(m, position)
        value = m.stack[-1]
        if type(value) is int and after - position <= LONGEST:
            number = m.stack[-1] = Number(value)
            number.raw = bytes(m.data[position - 1 : after])
        return after

    return push


def _empty(m: Machine, position: int) -> int:
    empty = Empty()
    empty.marked = empty.kept = False
    m.stack.append(empty)
    return position


def _marked(m: Machine, position: int) -> int:
    tuple_(m, position)
    made = m.stack[-1]
    if not made:
        m.stack.pop()
        _empty(m, position)
        m.stack[-1].marked = True
    elif len(made) <= 3:
        m.stack[-1] = Marked(made)
    return position


def _keeping(handler: Handler) -> Handler:
    def put(m: Machine, position: int) -> int:
        if type(m.stack[-1]) is Empty:
            m.stack[-1].kept = True
        return handler(m, position)

    return put


_OWN: dict[bytes, Handler] = {
    **{code: _number(HANDLERS[code[0]]) for code in (b"I", b"L", b"\x8a", b"\x8b", b"J", b"M")},
    **{code: _keeping(HANDLERS[code[0]]) for code in (b"p", b"q", b"r", b"\x94")},
    b")": _empty,
    b"t": _marked,
}


def spellings(document: Document) -> Spellings:
    """The spellings of a sound Document, worked out once."""
    machine = document._machine
    if machine.spellings is None:
        try:
            machine.spellings = _compared(document.root, _again(machine))
        except InertError:  # bytes that are no opcodes stand between them, and such a pickle is not written again anyway
            machine.spellings = Spellings()
    return machine.spellings


def _again(machine: Machine) -> Any:
    """The root of the same pickle, with marked numbers and tuples."""
    again = type(machine)(machine.data, machine.limits, shortcut=False)
    again.table = list(HANDLERS)
    for code, handler in _OWN.items():
        again.table[code[0]] = handler
    again.run(machine.start)
    return again.stack[-1]


def _compared(root: Any, other: Any) -> Spellings:
    made = Spellings()
    if type(other) in _SPELT:
        made.parts[None] = {0: other}
    todo = [(root, other)]
    while todo:
        node, twin = todo.pop()
        parts = parts_of(node)
        if parts is None or (not parts and type(node) is tuple) or id(node) in made.known:
            continue
        made.known.add(id(node))
        if type(twin) is Marked:
            made.marked.add(id(node))
        twins = parts_of(twin) or []
        if len(twins) != len(parts):
            raise FormatError("not the same opcodes")
        odd = {at: part for at, part in enumerate(twins) if type(part) in _SPELT}
        if odd:
            made.parts[id(node)] = odd
        todo += zip(parts, twins, strict=True)
    return made


_SPELT = (Number, Empty)
