"""The arguments of opcodes: how many bytes they take, and what these say.

Knows: fixed numbers, counted bytes, lines of text, and the bounds of each; what stands above the last mark.
Refuses to know: what an opcode does with its argument (atoms.py, collections.py, calls.py, handlers.py).

Facts: CPython 3.13 Lib/pickletools.py.
"""

from __future__ import annotations

from struct import Struct

from ..errors import FormatError, LimitError, TruncatedError
from .nodes import own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .decode import Machine

U2, U4, I4, U8, F8 = (Struct(f).unpack_from for f in ("<H", "<I", "<i", "<Q", ">d"))


def sized(m: Machine, position: int, length: int) -> int:
    end = position + length
    if end > m.size or length < 0:
        raise TruncatedError(
            f"an argument of {length:,} bytes, but {m.size - position:,} are left",
            hint="the pickle is cut short or lies: get the file again",
        )
    return end


def line(m: Machine, position: int, limit: int) -> tuple[bytes, int]:
    end = m.data.find(b"\n", position, position + limit + 1)
    if end < 0 and m.size - position <= limit:
        raise TruncatedError("a text argument without an end", hint="the pickle is cut short: get the file again")
    if end < 0:
        raise FormatError(f"a text argument without an end within {limit:,} bytes")
    return m.data[position:end], end + 1


def text_number(m: Machine, position: int) -> tuple[bytes, int]:
    text, position = line(m, position, m.limits.text_number + 8)
    if len(text) > m.limits.text_number:
        raise LimitError(f"a number of {len(text):,} digits", hint="raise Limits.text_number")
    return text, position


def name_line(m: Machine, position: int) -> tuple[str, int]:
    text, position = line(m, position, m.limits.global_name)
    return utf8(text), position


def utf8(raw: bytes) -> str:
    return own(str(raw, "utf-8", "surrogatepass"))


def unmark(m: Machine) -> list[Any]:
    if not m.marks:
        raise FormatError("a mark is wanted and none is set")
    items, m.stack = m.stack, m.marks.pop()
    return items
