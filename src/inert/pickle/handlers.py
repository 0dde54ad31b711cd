"""One function per opcode: what it does to a Machine. ``HANDLERS[code](machine, position)`` gives the offset of the next opcode.

Knows: the stack effects, as CPython's Lib/pickle.py has them: here those of marks, memo and framing, and the table of all.
Refuses to know: names. See decode.py, which runs this table.
"""

from __future__ import annotations

from ..errors import FormatError, LimitError
from .arguments import F8, I4, U2, U4, U8, sized, text_number, unmark, utf8
from .atoms import binint1, binunicode, blob, constant, counted, fixed, float_, int_, long1, long4, long_, string, unicode_
from .calls import (
    binpersid,
    build,
    extension,
    global_,
    inst,
    newobj,
    newobj_ex,
    next_buffer,
    obj,
    persid,
    readonly_buffer,
    reduce,
    stack_global,
)
from .collections import (
    additems,
    append,
    appends,
    dict_,
    empty_dict,
    empty_list,
    empty_set,
    frozenset_,
    list_,
    setitem,
    setitems,
    tuple_,
    tuple_of,
)  # fmt: skip
from .frames import Frame
from .nodes import ByteString, Call, own_bytes
from .row import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .decode import Machine
    from .nodes import Call

    Handler = Callable[[Machine, int], int]
    Follow = Callable[[Machine, Call, int], int]  # behind a BUILD on a Call: where the opcodes go on


class Stop(Exception):
    """STOP was reached."""


# -- marks and stack ---------------------------------------------------------------------------------------------------


def mark(m: Machine, position: int) -> int:
    m.marks.append(m.stack)
    m.stack = []
    if len(m.marks) > m.limits.marks:
        raise LimitError(f"more than {m.limits.marks:,} open marks", hint="raise Limits.marks")
    return position


def stop(m: Machine, position: int) -> int:
    raise Stop


def pop(m: Machine, position: int) -> int:
    if m.stack:
        gone = m.stack.pop()
        if type(gone) is Call:
            m.popped.append(gone)
            if type(gone.arguments) is tuple and gone.arguments and isinstance(gone.arguments[0], Call):
                m.dropped.setdefault(id(gone.arguments[0]), []).append(gone)
    else:
        unmark(m)
    return position


def pop_mark(m: Machine, position: int) -> int:
    unmark(m)
    return position


def dup(m: Machine, position: int) -> int:
    m.stack.append(m.stack[-1])
    return position


# -- memo --------------------------------------------------------------------------------------------------------------


def binget(m: Machine, position: int) -> int:
    after = position + 1
    if m.data[after : after + 2] == b"((":
        end = take(m, position - 1)
        if end > 0:
            return end
    m.stack.append(m.fetch(m.data[position]))
    return after


def long_binget(m: Machine, position: int) -> int:
    after = position + 4
    if m.data[after : after + 2] == b"((":
        end = take(m, position - 1)
        if end > 0:
            return end
    m.stack.append(m.fetch(U4(m.data, position)[0]))
    return after


def get(m: Machine, position: int) -> int:
    text, position = text_number(m, position)
    m.stack.append(m.fetch(int(text)))
    return position


def binput(m: Machine, position: int) -> int:
    m.put(m.data[position], m.stack[-1])
    return position + 1


def long_binput(m: Machine, position: int) -> int:
    m.put(U4(m.data, position)[0], m.stack[-1])
    return position + 4


def put(m: Machine, position: int) -> int:
    text, position = text_number(m, position)
    index = int(text)
    if index < 0:
        raise FormatError("a negative memo index")
    m.put(index, m.stack[-1])
    return position


def memoize(m: Machine, position: int) -> int:
    m.put(len(m.memo) + m.hidden, m.stack[-1])
    return position


# -- framing -----------------------------------------------------------------------------------------------------------


def proto(m: Machine, position: int) -> int:
    version = m.data[position]
    if version > 5:
        m.note("pickle-protocol", position - 1, f"protocol {version}; the highest is 5")
    if position != m.start + 1:
        m.note("pickle-proto", position - 1, f"PROTO {version} inside the pickle")
    m.current = version
    m.protocol = max(m.protocol, version)
    return position + 1


def frame(m: Machine, position: int) -> int:
    start = position + 8
    end = sized(m, start, U8(m.data, position)[0])
    m.frame.leave(m, position - 1)
    m.frame = Frame(start, end)
    return start


def unknown(m: Machine, position: int) -> int:
    raise FormatError(f"byte {m.data[position - 1]:#04x} is no opcode", hint="the pickle is damaged, or this is no pickle")


_BY_CODE: dict[bytes, Handler] = {
    b"(": mark, b".": stop, b"0": pop, b"1": pop_mark, b"2": dup,
    b"F": float_, b"I": int_, b"L": long_, b"N": constant(None), b"\x88": constant(True), b"\x89": constant(False),
    b"G": fixed(F8, 8), b"J": fixed(I4, 4), b"K": binint1, b"M": fixed(U2, 2), b"\x8a": long1, b"\x8b": long4,
    b"S": string, b"V": unicode_, b"X": binunicode, b"\x8c": counted(lambda d, i: (d[i],), 1, utf8), b"\x8d": counted(U8, 8, utf8),
    b"T": blob(I4, 4, ByteString), b"U": blob(lambda d, i: (d[i],), 1, ByteString),
    b"B": blob(U4, 4, own_bytes), b"C": blob(lambda d, i: (d[i],), 1, own_bytes), b"\x8e": blob(U8, 8, own_bytes),
    b"\x96": blob(U8, 8, bytearray), b"\x97": next_buffer, b"\x98": readonly_buffer,
    b"]": empty_list, b"}": empty_dict, b"\x8f": empty_set, b")": constant(()), b"l": list_, b"d": dict_, b"\x91": frozenset_,
    b"t": tuple_, b"\x85": tuple_of(1), b"\x86": tuple_of(2), b"\x87": tuple_of(3),
    b"a": append, b"e": appends, b"s": setitem, b"u": setitems, b"\x90": additems,
    b"c": global_, b"\x93": stack_global, b"\x82": extension(lambda d, i: (d[i],), 1), b"\x83": extension(U2, 2), b"\x84": extension(I4, 4),
    b"R": reduce, b"\x81": newobj, b"\x92": newobj_ex, b"i": inst, b"o": obj, b"b": build, b"P": persid, b"Q": binpersid,
    b"g": get, b"h": binget, b"j": long_binget, b"p": put, b"q": binput, b"r": long_binput, b"\x94": memoize,
    b"\x80": proto, b"\x95": frame,
}  # fmt: skip
HANDLERS: list[Handler] = [_BY_CODE.get(bytes([code]), unknown) for code in range(256)]


def first_use(m: Machine, position: int) -> int:
    """Stands for every handler in a Machine's own table until its opcode is met; notes where that was and makes way."""
    code = m.data[position - 1]
    handler = m.table[code] = HANDLERS[code]
    m.opcodes.setdefault(code, position - 1)
    return handler(m, position)
