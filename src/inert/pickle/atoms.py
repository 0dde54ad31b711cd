"""Handlers of the opcodes that push numbers, texts and bytes.

Knows: the forms of these values, and the bounds of those that could grow dear.
Refuses to know: everything else (handlers.py has the table).
"""

from __future__ import annotations

from re import DOTALL
from re import compile as pattern

from ..errors import FormatError, LimitError
from .arguments import I4, U4, line, sized, text_number
from .begins import BEGINS, FIRST
from .nodes import ByteString, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .decode import Machine
    from .handlers import Handler

SHORTEST = 8  # bytes of a pickle that asks for a name: "ca\nb\n." is six


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


def int_(m: Machine, position: int) -> int:
    text, position = text_number(m, position)
    m.stack.append({b"00": False, b"01": True}[text] if text in (b"00", b"01") else int(text, 0))
    return position


def long_(m: Machine, position: int) -> int:
    text, position = text_number(m, position)
    m.stack.append(int(text[:-1] if text[-1:] == b"L" else text, 0))
    return position


def float_(m: Machine, position: int) -> int:
    text, position = text_number(m, position)
    m.stack.append(float(text))
    return position


def long1(m: Machine, position: int) -> int:
    end = sized(m, position + 1, m.data[position])
    m.stack.append(int.from_bytes(m.data[position + 1 : end], "little", signed=True))
    return end


def long4(m: Machine, position: int) -> int:
    length = I4(m.data, position)[0]
    end = sized(m, position + 4, length)
    if length > m.limits.integer_bytes:
        raise LimitError(f"an integer of {length:,} bytes", hint="raise Limits.integer_bytes")
    m.stack.append(int.from_bytes(m.data[position + 4 : end], "little", signed=True))
    return end


def binunicode(m: Machine, position: int) -> int:
    start = position + 4
    end: int = start + U4(m.data, position)[0]
    if end > m.size:
        sized(m, start, end - start)
    text = str(m.data[start:end], "utf-8", "surrogatepass")
    m.stack.append(text if end - start > 3 else own(text))
    return end


def counted(unpack: Callable[[bytes, int], tuple[Any, ...]], width: int, make: Callable[[bytes], Any]) -> Handler:
    """A length of ``width`` bytes and that many bytes, made into a value."""

    def push(m: Machine, position: int) -> int:
        start = position + width
        end = sized(m, start, unpack(m.data, position)[0])
        m.stack.append(make(m.data[start:end]))
        return end

    return push


def blob(unpack: Callable[[bytes, int], tuple[Any, ...]], width: int, make: Callable[[bytes], Any]) -> Handler:
    """The same for bytes: those that begin like a pickle or an archive are kept aside as well, also where they are dropped later."""

    def push(m: Machine, position: int) -> int:
        start = position + width
        end = sized(m, start, unpack(m.data, position)[0])
        value = make(m.data[start:end])
        if end - start >= SHORTEST and m.data[start] in FIRST and BEGINS.match(value):
            m.blobs.append((start, value))
        m.stack.append(value)
        return end

    return push


_ESCAPE = pattern(rb"\\(?:x([0-9a-fA-F]{2})|([0-7]{1,3})|(\n)|(.))", DOTALL)
_SIMPLE = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def string(m: Machine, position: int) -> int:
    text, position = line(m, position, m.size)
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

    value = ByteString(_ESCAPE.sub(plain, text[1:-1]))
    if len(value) >= SHORTEST and BEGINS.match(value):
        m.blobs.append((position - len(text) - 1, value))
    m.stack.append(value)
    return position


def unicode_(m: Machine, position: int) -> int:
    text, position = line(m, position, m.size)
    m.stack.append(own(str(text, "raw-unicode-escape")))
    return position
