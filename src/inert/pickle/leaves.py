"""How what holds nothing is written: constants, numbers, texts and bytes.

Knows: the opcodes of protocols 2 to 5 for them, and which is the shortest that holds a value.
Refuses to know: containers and calls, the table (kinds.py), and the memo, which is the encoder's (encode.py).

Facts: CPython 3.13 Lib/pickle.py and Modules/_pickle.c.
"""

from __future__ import annotations

from struct import pack

from ..errors import UnsupportedError
from .framing import FRAME_TARGET
from .nodes import ByteString
from .spelling import Empty, Number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .encode import Encoder

LARGE = 64  # bits of a number that is memoised where the document does so: writing it again for each GET would multiply the bytes


def constant(code: bytes) -> Callable[[Encoder, Any, list[Any]], None]:
    return lambda e, value, todo: e.out.append(code)


def bool_(e: Encoder, value: bool, todo: list[Any]) -> None:
    e.out.append(b"\x88" if value else b"\x89")


def number(e: Encoder, value: Number, todo: list[Any]) -> None:
    e.out.append(value.raw)


def empty(e: Encoder, value: Empty, todo: list[Any]) -> None:
    if not e.get(value):
        e.out.append(b"(t" if value.marked else b")")
        if value.kept:
            e.kept.add(id(value))
            e.put(value)


def int_(e: Encoder, value: int, todo: list[Any]) -> None:
    if value.bit_length() > LARGE and e.kept:
        if not e.get(value):
            e.out.append(long1(value))
            if id(value) in e.kept:
                e.put(value)
        return
    if 0 <= value < 1 << 8:
        e.out.append(bytes((0x4B, value)))
    elif 0 <= value < 1 << 16:
        e.out.append(b"M" + pack("<H", value))
    elif -(1 << 31) <= value < 1 << 31:
        e.out.append(b"J" + pack("<i", value))
    elif e.style.wide == "text" and -(1 << 63) <= value < 1 << 63:
        e.out.append(b"I%d\n" % value)
    else:
        e.out.append(long1(value, 8 if e.style.wide == "eight" else 0))


def long1(value: int, least: int = 0) -> bytes:
    """LONG1 or LONG4 of a number, in as few bytes as hold it, but ``least`` of them."""
    size = (value.bit_length() if value >= 0 else (value + 1).bit_length()) // 8 + 1
    size = max(size if value else 0, least)
    return (b"\x8a" + bytes((size,)) if size < 256 else b"\x8b" + pack("<i", size)) + value.to_bytes(size, "little", signed=True)


def float_(e: Encoder, value: float, todo: list[Any]) -> None:
    e.out.append(b"G" + pack(">d", value))


def _counted(e: Encoder, node: Any, raw: bytes, short: bytes, plain: bytes, long: bytes, sign: str = "I") -> None:
    size = len(raw)
    if short and size < 256:
        head = short + bytes((size,))
    elif size < 1 << (31 if sign == "i" else 32):
        head = plain + pack("<" + sign, size)
    elif long and e.style.protocol >= 4:
        head = long + pack("<Q", size)
    else:
        raise UnsupportedError(f"protocol {e.style.protocol} has no text of {size:,} bytes", hint="use protocol 4")
    if size < FRAME_TARGET:
        e.out.append(head + raw)
    else:
        e.out += (head, raw)
        e.large.add(len(e.out) - 1)
    e.put(node)


def str_(e: Encoder, value: str, todo: list[Any]) -> None:
    e.text = value
    if not e.get(value):
        raw = value.encode("utf-8", "surrogatepass")
        _counted(e, value, raw, b"\x8c" if e.style.protocol >= 4 else b"", b"X", b"\x8d")


def bytes_(e: Encoder, value: bytes, todo: list[Any]) -> None:
    if e.style.protocol < 3:
        todo.append(e.spelled_out(value))
    elif not e.get(value):
        _counted(e, value, value, b"C", b"B", b"\x8e")


def byte_string(e: Encoder, value: ByteString, todo: list[Any]) -> None:
    if not e.get(value):
        _counted(e, value, value, b"U", b"T", b"", "i")


def bytearray_(e: Encoder, value: bytearray, todo: list[Any]) -> None:
    if e.style.protocol < 5:
        todo.append(e.spelled_out(value))
    elif not e.get(value):
        e.out.append(b"\x96" + pack("<Q", len(value)))
        e.out.append(bytes(value))
        if len(value) >= FRAME_TARGET:
            e.large.add(len(e.out) - 1)
        e.put(value)
