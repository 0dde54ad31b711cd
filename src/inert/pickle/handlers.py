"""One function per opcode: what it does to a Machine. ``HANDLERS[code](machine, position)`` gives the offset of the next opcode.

Knows: the stack effects, as CPython's Lib/pickle.py has them; the arguments' forms.
Refuses to know: names. See decode.py, which runs this table.
"""

from __future__ import annotations

from re import DOTALL
from re import compile as pattern
from struct import Struct

from ..errors import FormatError, LimitError, TruncatedError
from .nodes import Buffer, ByteString, Call, Dict, Global, List, Node, Reference, Set, own
from .row import take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .decode import Machine

    Handler = Callable[[Machine, int], int]
    Follow = Callable[[Machine, Call, int], int]  # behind a BUILD on a Call: where the opcodes go on

U2, U4, I4, U8, F8 = (Struct(f).unpack_from for f in ("<H", "<I", "<i", "<Q", ">d"))


class Stop(Exception):
    """STOP was reached."""


def _take(m: Machine, position: int, length: int) -> int:
    end = position + length
    if end > m.size or length < 0:
        raise TruncatedError(f"an argument of {length:,} bytes, but {m.size - position:,} are left", hint="the pickle is cut short or lies")
    return end


def _line(m: Machine, position: int, limit: int) -> tuple[bytes, int]:
    end = m.data.find(b"\n", position, position + limit + 1)
    if end < 0 and m.size - position <= limit:
        raise TruncatedError("a text argument without an end", hint="the pickle is cut short")
    if end < 0:
        raise FormatError(f"a text argument without an end within {limit:,} bytes")
    return m.data[position:end], end + 1


def _unmark(m: Machine) -> list[Any]:
    if not m.marks:
        raise FormatError("a mark is wanted and none is set")
    items, m.stack = m.stack, m.marks.pop()
    return items


# -- marks and stack ------------------------------------------------------------------------------------------------


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
        _unmark(m)
    return position


def pop_mark(m: Machine, position: int) -> int:
    _unmark(m)
    return position


def dup(m: Machine, position: int) -> int:
    m.stack.append(m.stack[-1])
    return position


# -- numbers, text, bytes ---------------------------------------------------------------------------------------------


def constant(value: Any) -> Handler:
    def push(m: Machine, position: int) -> int:
        m.stack.append(value)
        return position

    return push


def binint1(m: Machine, position: int) -> int:
    m.stack.append(m.data[position])
    return position + 1


def fixed(unpack: Callable[[bytes, int], tuple[Any, ...]], width: int) -> Handler:
    def push(m: Machine, position: int) -> int:
        m.stack.append(unpack(m.data, position)[0])
        return position + width

    return push


def _text_number(m: Machine, position: int) -> tuple[bytes, int]:
    text, position = _line(m, position, m.limits.text_number + 8)
    if len(text) > m.limits.text_number:
        raise LimitError(f"a number of {len(text):,} digits", hint="raise Limits.text_number")
    return text, position


def int_(m: Machine, position: int) -> int:
    text, position = _text_number(m, position)
    m.stack.append({b"00": False, b"01": True}[text] if text in (b"00", b"01") else int(text, 0))
    return position


def long_(m: Machine, position: int) -> int:
    text, position = _text_number(m, position)
    m.stack.append(int(text[:-1] if text[-1:] == b"L" else text, 0))
    return position


def float_(m: Machine, position: int) -> int:
    text, position = _text_number(m, position)
    m.stack.append(float(text))
    return position


def long1(m: Machine, position: int) -> int:
    end = _take(m, position + 1, m.data[position])
    m.stack.append(int.from_bytes(m.data[position + 1 : end], "little", signed=True))
    return end


def long4(m: Machine, position: int) -> int:
    length = I4(m.data, position)[0]
    end = _take(m, position + 4, length)
    if length > m.limits.integer_bytes:
        raise LimitError(f"an integer of {length:,} bytes", hint="raise Limits.integer_bytes")
    m.stack.append(int.from_bytes(m.data[position + 4 : end], "little", signed=True))
    return end


def _utf8(raw: bytes) -> str:
    return own(str(raw, "utf-8", "surrogatepass"))


def binunicode(m: Machine, position: int) -> int:
    start = position + 4
    end: int = start + U4(m.data, position)[0]
    if end > m.size:
        _take(m, start, end - start)
    text = str(m.data[start:end], "utf-8", "surrogatepass")
    m.stack.append(text if end - start > 3 else own(text))
    return end


def counted(unpack: Callable[[bytes, int], tuple[Any, ...]], width: int, make: Callable[[bytes], Any]) -> Handler:
    """A length of ``width`` bytes and that many bytes, made into a value."""

    def push(m: Machine, position: int) -> int:
        start = position + width
        end = _take(m, start, unpack(m.data, position)[0])
        m.stack.append(make(m.data[start:end]))
        return end

    return push


_ESCAPE = pattern(rb"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(\n)|(.))", DOTALL)
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def string(m: Machine, position: int) -> int:
    text, position = _line(m, position, m.size)
    if len(text) < 2 or text[:1] != text[-1:] or text[:1] not in (b"'", b'"'):
        raise FormatError("the text argument of STRING must be quoted")

    def plain(match: Any) -> bytes:
        hexa, octal, newline, char = match.groups()
        if hexa or octal:
            return bytes([int(hexa or octal, 16 if hexa else 8) & 0xFF])
        if newline:
            return b""
        if char == b"x":
            raise FormatError("STRING holds an unfinished \\x escape")
        known: bytes = char if char in b"\\'\"" else _SIMPLE.get(char, b"\\" + char)
        return known

    m.stack.append(ByteString(_ESCAPE.sub(plain, text[1:-1])))
    return position


def unicode_(m: Machine, position: int) -> int:
    text, position = _line(m, position, m.size)
    m.stack.append(own(str(text, "raw-unicode-escape")))
    return position


# -- containers -------------------------------------------------------------------------------------------------------


def empty_list(m: Machine, position: int) -> int:
    m.stack.append(List([], position - 1))
    return position


def empty_dict(m: Machine, position: int) -> int:
    m.stack.append(Dict([], position - 1))
    return position


def empty_set(m: Machine, position: int) -> int:
    m.stack.append(Set([], position - 1))
    return position


def frozenset_(m: Machine, position: int) -> int:
    items = _unmark(m)
    m.stack.append(Set(items, position - 1, frozen=True))
    return position


def list_(m: Machine, position: int) -> int:
    items = _unmark(m)
    m.stack.append(List(items, position - 1))
    return position


def dict_(m: Machine, position: int) -> int:
    flat = _unmark(m)
    if len(flat) % 2:
        raise FormatError("DICT with a key that has no value")
    m.stack.append(Dict(flat, position - 1))
    return position


def tuple_(m: Machine, position: int) -> int:
    items = _unmark(m)
    m.stack.append(tuple(items))
    return position


def tuple_of(count: int) -> Handler:
    def push(m: Machine, position: int) -> int:
        stack = m.stack
        if len(stack) < count:
            raise IndexError
        stack[-count:] = [tuple(stack[-count:])]
        return position

    return push


def _extend(m: Machine, items: list[Any], position: int, how: str) -> None:
    target = m.stack[-1]
    if type(target) is List or type(target) is Set:
        if (type(target) is Set) != (how == "ADDITEMS"):
            raise FormatError(f"{how} on a {type(target).__name__.lower()}")
        target.items.extend(items)
    elif isinstance(target, Call):
        if target.items is None:
            target.items = []
        target.items.extend(items)
    else:
        _odd_target(m, target, tuple(items), position, how)


def append(m: Machine, position: int) -> int:
    item = m.stack.pop()
    _extend(m, [item], position, "APPEND")
    return position


def appends(m: Machine, position: int) -> int:
    items = _unmark(m)
    _extend(m, items, position, "APPENDS")
    return position


def additems(m: Machine, position: int) -> int:
    items = _unmark(m)
    _extend(m, items, position, "ADDITEMS")
    return position


def _set(m: Machine, flat: list[Any], position: int, how: str) -> None:
    if len(flat) % 2:
        raise FormatError(f"{how} with a key that has no value")
    target = m.stack[-1]
    if type(target) is Dict:
        target.flat.extend(flat)
    elif isinstance(target, Call):
        if target.flat is None:
            target.flat = []
        target.flat.extend(flat)
    else:
        _odd_target(m, target, tuple(flat), position, how)


def setitem(m: Machine, position: int) -> int:
    value, key = m.stack.pop(), m.stack.pop()
    _set(m, [key, value], position, "SETITEM")
    return position


def setitems(m: Machine, position: int) -> int:
    flat = _unmark(m)
    _set(m, flat, position, "SETITEMS")
    return position


def _odd_target(m: Machine, target: Any, arguments: tuple[Any, ...], position: int, how: str) -> None:
    """On a class or a persistent object these opcodes call a method of it: recorded as a Call. On plain data they are an error."""
    if not isinstance(target, (Global, Reference)):
        raise FormatError(f"{how} on a {type(target).__name__}")
    m.made.append(Call(target, arguments, position - 1, how))


# -- names, calls, references -------------------------------------------------------------------------------------------


def _name_line(m: Machine, position: int) -> tuple[str, int]:
    text, position = _line(m, position, m.limits.global_name)
    return _utf8(text), position


def _import(m: Machine, module: str, name: str, position: int, how: str) -> Global:
    node = Global(module, name, position - 1, how)
    m.made.append(node)
    return node


def global_(m: Machine, position: int) -> int:
    module, after = _name_line(m, position)
    name, after = _name_line(m, after)
    m.stack.append(_import(m, module, name, position, "GLOBAL"))
    return after


def stack_global(m: Machine, position: int) -> int:
    name, module = m.stack.pop(), m.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise FormatError("STACK_GLOBAL wants two texts")
    if len(name) > m.limits.global_name or len(module) > m.limits.global_name:
        raise LimitError(f"a name of {max(len(name), len(module)):,} characters", hint="raise Limits.global_name")
    m.stack.append(_import(m, module, name, position, "STACK_GLOBAL"))
    return position


def extension(unpack: Callable[[bytes, int], tuple[Any, ...]], width: int) -> Handler:
    def push(m: Machine, position: int) -> int:
        code = unpack(m.data, position)[0]
        if code <= 0:
            raise FormatError(f"extension code {code}")
        m.odd.append(("pickle-extension", position - 1, f"extension code {code}"))
        m.stack.append(_import(m, "copyreg", f"extension {code}", position, "EXT"))
        return position + width

    return push


def _call(m: Machine, function: Any, arguments: Any, position: int, how: str, keywords: Any = None) -> None:
    node = Call(function, arguments, position - 1, how, keywords)
    m.made.append(node)
    m.stack.append(node)


def reduce(m: Machine, position: int) -> int:
    arguments = m.stack.pop()
    function = m.stack.pop()
    _call(m, function, arguments, position, "REDUCE")
    return position


def newobj(m: Machine, position: int) -> int:
    arguments = m.stack.pop()
    function = m.stack.pop()
    _call(m, function, arguments, position, "NEWOBJ")
    return position


def newobj_ex(m: Machine, position: int) -> int:
    keywords, arguments, function = m.stack.pop(), m.stack.pop(), m.stack.pop()
    _call(m, function, arguments, position, "NEWOBJ_EX", keywords)
    return position


def inst(m: Machine, position: int) -> int:
    module, after = _name_line(m, position)
    name, after = _name_line(m, after)
    arguments = tuple(_unmark(m))
    _call(m, _import(m, module, name, position, "INST"), arguments, position, "INST")
    return after


def obj(m: Machine, position: int) -> int:
    items = _unmark(m)
    _call(m, items[0], tuple(items[1:]), position, "OBJ")
    return position


def build(m: Machine, position: int) -> int:
    state = m.stack.pop()
    target = m.stack[-1]
    if isinstance(target, Call):
        states = target.states
        if type(states) is list:
            states.append(state)
        else:  # real objects have one or two; a list where more would cost the square of their number
            target.states = (*states, state) if len(states) < 16 else [*states, state]
        return position if m.follow is None else m.follow(m, target, position)
    if not isinstance(target, Node):
        raise FormatError(f"BUILD on a {type(target).__name__}")
    call = Call(target, (state,), position - 1, "BUILD")  # sets attributes of a class, or of what a persistent id stood for
    m.made.append(call)
    return position


def persid(m: Machine, position: int) -> int:
    text, after = _line(m, position, m.limits.global_name)
    return _refer(m, text.decode("ascii"), position, after)


def binpersid(m: Machine, position: int) -> int:
    pid = m.stack.pop()
    return _refer(m, pid, position, position)


def _refer(m: Machine, pid: Any, position: int, after: int) -> int:
    node = Reference(pid, position - 1)
    m.made.append(node)
    m.stack.append(node)
    return after


def next_buffer(m: Machine, position: int) -> int:
    m.odd.append(("pickle-buffer", position - 1, "NEXT_BUFFER"))
    m.stack.append(Buffer(position - 1))
    return position


def readonly_buffer(m: Machine, position: int) -> int:
    if type(m.stack[-1]) is Buffer:
        m.stack[-1].readonly = True
    return position


# -- memo ---------------------------------------------------------------------------------------------------------------


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
    text, position = _text_number(m, position)
    m.stack.append(m.fetch(int(text)))
    return position


def binput(m: Machine, position: int) -> int:
    m.put(m.data[position], m.stack[-1])
    return position + 1


def long_binput(m: Machine, position: int) -> int:
    m.put(U4(m.data, position)[0], m.stack[-1])
    return position + 4


def put(m: Machine, position: int) -> int:
    text, position = _text_number(m, position)
    index = int(text)
    if index < 0:
        raise FormatError("a negative memo index")
    m.put(index, m.stack[-1])
    return position


def memoize(m: Machine, position: int) -> int:
    m.put(len(m.memo) + m.hidden, m.stack[-1])
    return position


# -- framing ------------------------------------------------------------------------------------------------------------


def proto(m: Machine, position: int) -> int:
    version = m.data[position]
    if version > 5:
        raise FormatError(f"pickle protocol {version}; the highest is 5")
    if position != m.start + 1:
        m.odd.append(("pickle-proto", position - 1, f"PROTO {version} inside the pickle"))
    m.protocol = max(m.protocol, version)
    return position + 1


def frame(m: Machine, position: int) -> int:
    start = position + 8
    _take(m, start, U8(m.data, position)[0])
    return start


def unknown(m: Machine, position: int) -> int:
    raise FormatError(f"byte {m.data[position - 1]:#04x} is no opcode", hint="the pickle is damaged, or this is no pickle")


_BY_CODE: dict[bytes, Handler] = {
    b"(": mark, b".": stop, b"0": pop, b"1": pop_mark, b"2": dup,
    b"F": float_, b"I": int_, b"L": long_, b"N": constant(None), b"\x88": constant(True), b"\x89": constant(False),
    b"G": fixed(F8, 8), b"J": fixed(I4, 4), b"K": binint1, b"M": fixed(U2, 2), b"\x8a": long1, b"\x8b": long4,
    b"S": string, b"V": unicode_, b"X": binunicode, b"\x8c": counted(lambda d, i: (d[i],), 1, _utf8), b"\x8d": counted(U8, 8, _utf8),
    b"T": counted(I4, 4, ByteString), b"U": counted(lambda d, i: (d[i],), 1, ByteString),
    b"B": counted(U4, 4, bytes), b"C": counted(lambda d, i: (d[i],), 1, bytes), b"\x8e": counted(U8, 8, bytes),
    b"\x96": counted(U8, 8, bytearray), b"\x97": next_buffer, b"\x98": readonly_buffer,
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
    m.opcodes[code] = position - 1
    return handler(m, position)
