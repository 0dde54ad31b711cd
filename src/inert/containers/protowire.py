"""Protocol-buffer messages, field by field, in bounds.

Knows: the wire types that programs write (varint, 64-bit, length-delimited, 32-bit), that unknown fields are stepped over, and how a field
is written.
Refuses to know: what a field means; groups, which no program here writes, are refused. Values of length-delimited fields are places in
the message, not copies; nothing recurses.

Facts: the protocol-buffer encoding guide (varints of at most ten bytes, negative numbers as ten).
"""

from __future__ import annotations

from ..errors import FormatError, TruncatedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Bytes = bytes | memoryview

VARINT, FIXED64, DELIMITED, FIXED32 = 0, 1, 2, 5
SMALL = tuple(bytes((number,)) for number in range(0x80))  # varints of one byte


def varint(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """(value, position behind it). TruncatedError where it does not end in time, FormatError for more than 64 bits."""
    value = shift = 0
    while at < end:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                raise FormatError("a number exceeds 64 bits", offset=at - 1)
            return value, at
        shift += 7
        if shift > 63:
            raise FormatError("a number has more than ten bytes", offset=at - 1)
    raise TruncatedError("a number ends too early", offset=at)


def encoded(value: int) -> bytes:
    """A varint: of a negative number, that of its 64 bits in two's complement."""
    if 0 <= value < 0x80:
        return SMALL[value]
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 0x7F:
        made.append(value & 0x7F | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def number_field(number: int, value: int) -> bytes:
    """A varint field; nothing for 0, as proto3 has it."""
    return encoded(number << 3 | VARINT) + encoded(value) if value else b""


def message_field(number: int, data: bytes) -> bytes:
    """A length-delimited field."""
    return encoded(number << 3 | DELIMITED) + encoded(len(data)) + data


def fields(data: Bytes, at: int = 0, end: int | None = None) -> Iterator[tuple[int, int, int, int]]:
    """(field number, wire type, value, end): for a length-delimited field its start and end in ``data``, for any other one its value
    (unsigned) and 0. FormatError where the bytes are no message."""
    end = len(data) if end is None else end
    while at < end:
        start = at
        tag = data[at]
        at += 1
        if tag >= 0x80:
            tag, at = varint(data, start, end)
        number, wire = tag >> 3, tag & 7
        if not number:
            raise FormatError("a field without a number", offset=start)
        if wire == DELIMITED:
            size, at = varint(data, at, end)
            if size > end - at:
                raise TruncatedError(f"a field of {size:,} bytes where {end - at:,} are left", offset=start)
            yield number, wire, at, at + size
            at += size
        elif wire == VARINT:
            value, at = varint(data, at, end)
            yield number, wire, value, 0
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
            if size > end - at:
                raise TruncatedError("a number ends too early", offset=start)
            yield number, wire, int.from_bytes(data[at : at + size], "little"), 0
            at += size
        else:
            raise FormatError(f"a field of wire type {wire}", offset=start)


def signed(value: int, bits: int = 64) -> int:
    """An int32 or int64 from its varint: the lowest bits, in two's complement."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def text(data: Bytes, start: int, end: int) -> str:
    """A string field. Bytes that are no UTF-8 are kept as surrogates."""
    return bytes(data[start:end]).decode("utf-8", "surrogateescape")
