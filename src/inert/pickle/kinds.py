"""How each kind of node is written: one function for each, and the table of them.

Knows: the opcodes of protocols 2 to 5. A function writes what it can at once, and leaves the parts, and what is to be done behind them, as
nodes, Ops, Steps and Puts on the stack of the encoder that is its first argument.
Refuses to know: the order in which things are written, the memo and the batches, which are the encoder's (encode.py).

Facts: CPython 3.13 Lib/pickle.py and Modules/_pickle.c (order of opcodes, recursive tuples and reductions); torch 2.13
torch/csrc/jit/serialization/pickler.cpp (marks).
"""

from __future__ import annotations

from struct import pack

from ..errors import UnsupportedError
from .leaves import bool_, byte_string, bytearray_, bytes_, constant, empty, float_, int_, long1, number, str_
from .nodes import Buffer, ByteString, Call, Dict, Global, List, Raw, Reference, Set
from .row import Row
from .rowcopy import copied, same_text
from .spelling import Empty, Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .encode import Encoder


class Op(bytes):
    """Opcodes to write as they are, at their turn."""

    __slots__ = ()


class Step:
    """What is to be done when the parts of ``node`` have been written: ``ends`` it (the opcode) and do what comes ``later``, or ``drop``
    its parts if it turns out to have been written meanwhile, inside of them."""

    __slots__ = ("drop", "ends", "later", "node", "puts")

    def __init__(self, node: Any, ends: bytes, drop: bytes, puts: bool = True, later: list[Any] | None = None) -> None:
        self.node = node
        self.ends = ends
        self.drop = drop
        self.puts = puts
        self.later = later


class Put:
    """Memoise ``node``, which is on top of the stack."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node


def _tuple(e: Encoder, node: tuple[Any, ...], todo: list[Any]) -> None:
    count = len(node)
    if not count:
        e.out.append(b")")
    elif not e.get(node):
        e.begin(node, count)
        if count <= 3 and (e.spelt is None or id(node) not in e.spelt.marked):
            todo.append(Step(node, b"\x85\x86\x87"[count - 1 : count], b"0" * count))
        else:
            e.out.append(b"(")
            todo.append(Step(node, b"t", b"1"))
        todo += reversed(e.spelling_of(node, node))


def _list(e: Encoder, node: List, todo: list[Any]) -> None:
    if not e.get(node):
        e.out.append(b"]")
        e.opened(node, todo)
        items = e.spelling_of(node, e.edits.get(id(node), node.items))
        todo += reversed(list(e.batches(node, items, 1, b"a", b"e", e.style.exact)))


def _dict(e: Encoder, node: Dict, todo: list[Any]) -> None:
    if not e.get(node):
        e.out.append(b"}")
        e.opened(node, todo)
        flat = e.spelling_of(node, e.edits.get(id(node), node.flat))
        todo += reversed(list(e.batches(node, flat, 2, b"s", b"u", e.style.exact)))


def _set(e: Encoder, node: Set, todo: list[Any]) -> None:
    if e.style.protocol < 4:
        todo.append(e.spelled_out(node))
        return
    if e.get(node):
        return
    items = e.spelling_of(node, e.edits.get(id(node), node.items))
    if node.frozen:
        e.begin(node, len(items))
        e.out.append(b"(")
        todo.append(Step(node, b"\x91", b"1"))
        todo += reversed(items)
        return
    e.out.append(b"\x8f")
    e.put(node)
    ends = len(items) + (e.style.exact and len(items) % 1000 == 0 and bool(items))  # CPython's C code ends a full set by an empty batch
    for at in reversed(range(0, ends, 1000)):
        todo += [Op(b"\x90"), *reversed(items[at : at + 1000]), Op(b"(")]


def _row(e: Encoder, row: Row, todo: list[Any]) -> None:
    if e.get(row) or copied(e, row):
        return
    row.events()
    if e.machine is not None and row.run.machine is e.machine and row.named:
        same_text(e, e.machine.memo.get(row.first))
    if not e.style.puts_all and e.machine is not None:
        e.kept.update(id(e.machine.memo[i]) for i in range(row.first, row.last + 1) if i in e.machine.memo)
    _call(e, row, todo)


_CALLS = {"REDUCE": b"R", "NEWOBJ": b"\x81", "NEWOBJ_EX": b"\x92"}


def _call(e: Encoder, node: Call, todo: list[Any]) -> None:
    if e.get(node):
        return
    if e.dropped:
        e.calls.add((id(node.function), id(node.arguments)))
    e.begin(node, 1 + len(node.items or ()) + len(node.flat or ()) + len(node.states))
    function, arguments, keywords = e.spelling_of(node, (node.function, node.arguments, node.keywords))
    later = list(_later(e, node))
    puts = not e.style.late
    if not puts:
        later.append(Put(node))
    if node.how == "INST":
        name = f"{function.module}\n{function.name}\n".encode("utf-8", "surrogatepass")
        todo += [Step(node, b"i" + name, b"1", puts, later), *reversed(e.spelling_of(arguments, arguments)), Op(b"(")]
    elif node.how == "OBJ":
        todo += [Step(node, b"o", b"1", puts, later), *reversed(e.spelling_of(arguments, arguments)), function, Op(b"(")]
    elif e.style.marked and node.how == "REDUCE" and type(arguments) is tuple and (e.spelt is None or id(node) not in e.spelt.known):
        todo += [Step(node, b"tR", b"10", puts, later), *reversed(list(_marked(arguments))), Op(b"("), function]
    elif node.how in _CALLS:
        parts = [function, arguments, *([keywords] if node.how == "NEWOBJ_EX" else [])]
        todo += [Step(node, _CALLS[node.how], b"0" * len(parts), puts, later), *reversed(parts)]
    else:
        raise UnsupportedError(f"a call by {node.how} leaves nothing to write")


def _later(e: Encoder, node: Call) -> Iterator[Any]:
    """What is done to the result of a call."""
    at = 3
    if node.items:
        yield from e.batches(node, e.spelling_of(node, node.items, at), 1, b"a", b"e", False)
    at += len(node.items or ())
    flat = e.edits.get(id(node), node.flat)
    if flat:
        yield from e.batches(node, e.spelling_of(node, flat, at), 2, b"s", b"u", False)
    at += len(node.flat or ())
    for state in e.spelling_of(node, node.states, at):
        yield from (state, Op(b"b"))
    for setter in e.dropped.get(id(node), ()):  # what sets the state, called for its effect alone
        if (id(setter.function), id(setter.arguments)) in e.calls:
            continue  # no setter, but what CPython's pickler makes a second time of what holds itself
        yield setter.function
        if len(setter.arguments) == 2:
            yield from (*setter.arguments, Op(b"\x86R0"))
        else:
            yield from (Op(b"("), *setter.arguments, Op(b"tR0"))


def _marked(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Arguments as torch's C++ pickler writes them: sizes and strides have marks too."""
    for part in arguments:
        if type(part) is tuple and len(part) <= 3 and set(map(type, part)) <= {int}:
            yield from (Op(b"("), *part, Op(b"t"))
        else:
            yield part


def call_for(e: Encoder, value: Any) -> Call:
    home = "builtins" if e.style.protocol >= 3 else "__builtin__"
    if type(value) is Set:
        return Call(e.name(home, "frozenset" if value.frozen else "set"), (List(value.items, 0),), 0, "REDUCE")
    if type(value) is bytearray:
        return Call(e.name(home, "bytearray"), (bytes(value),) if value else (), 0, "REDUCE")
    if not value:
        return Call(e.name(home, "bytes"), (), 0, "REDUCE")
    return Call(e.name("_codecs", "encode"), (value.decode("latin-1"), "latin1"), 0, "REDUCE")


def _global(e: Encoder, node: Global, todo: list[Any]) -> None:
    if e.get(node):
        return
    if node.how == "EXT":
        number = int(node.name.rpartition(" ")[2])
        e.out.append(
            b"\x82" + bytes((number,))
            if number < 256
            else b"\x83" + pack("<H", number)
            if number < 1 << 16
            else b"\x84" + pack("<i", number)
        )
        return
    if e.style.protocol >= 4 and node.how != "GLOBAL":
        todo += [Step(node, b"\x93", b"00"), node.name, node.module]
        return
    if "\n" in node.module or "\n" in node.name:
        raise UnsupportedError("a name with a line feed in it, before protocol 4")
    e.out.append(f"c{node.module}\n{node.name}\n".encode("utf-8", "surrogatepass"))
    e.put(node)


def _reference(e: Encoder, node: Reference, todo: list[Any]) -> None:
    if e.get(node):
        return
    told = e.refer(node) if e.refer is not None else node
    if type(told) is not Reference:
        todo.append(told)
        return
    e.begin(node, 1)
    e.references.append(node)
    pid = told.pid
    if e.style.long_counts and type(pid) is tuple and len(pid) in (5, 6) and type(pid[4]) is int and _is_new(e, pid):
        pid = (*pid[:4], _long(pid[4]), *pid[5:])
    todo += [Step(node, b"Q", b"0"), *e.spelling_of(node, [pid])]


def _is_new(e: Encoder, node: Any) -> bool:
    return e.spelt is None or id(node) not in e.spelt.known


def _long(value: int) -> Number:
    number = Number(value)
    number.raw = long1(value)
    return number


def _buffer(e: Encoder, node: Buffer, todo: list[Any]) -> None:
    if not e.get(node):
        e.out.append(b"\x97\x98" if node.readonly else b"\x97")
        e.put(node)


def _raw(e: Encoder, node: Raw, todo: list[Any]) -> None:
    raise UnsupportedError("bytes stand between the opcodes, as joblib writes them", hint="convert to another format")


TABLE: dict[type, Callable[[Encoder, Any, list[Any]], None]] = {
    type(None): constant(b"N"), bool: bool_, int: int_, Number: number, Empty: empty, float: float_, str: str_, bytes: bytes_,
    ByteString: byte_string,
    bytearray: bytearray_, tuple: _tuple, List: _list, Dict: _dict, Set: _set, Row: _row, Call: _call, Global: _global,
    Reference: _reference, Buffer: _buffer, Raw: _raw,
}  # fmt: skip
ODDLY_KEPT = frozenset((int, Reference, Buffer))  # what CPython's pickler memoises never, but other pickles may
SMALL = frozenset((type(None), bool, float, Number))
