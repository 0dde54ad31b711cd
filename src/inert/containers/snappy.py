"""Snappy's raw format: one block, inflated within a bound.

Knows: the length in front and the tags (literals, copies that may overlap themselves). A stored length is believed only as far as the
compressed bytes could make it: two bytes of a copy give at most 64.
Refuses to know: frames and checksums; whoever has the block has its checksum.

Facts: google/snappy format_description.txt. Our own forty lines, because the two libraries on PyPI take the declared length for true and
would be one more thing to install for blocks that few programs write.
"""

from __future__ import annotations

from ..errors import FormatError, LimitError, TruncatedError
from .protowire import varint

EXPANDS = 32  # times that compressed bytes can grow: a copy of 64 bytes takes two or three
SLACK = 64


def inflate(data: bytes, most: int) -> bytes:
    """The block's bytes. FormatError where it is damaged, LimitError where it would be more than ``most``."""
    size, at = varint(data, 0, len(data))
    if size > most:
        raise LimitError(f"a compressed block of {size:,} bytes", hint="raise Limits.inflated")
    if size > EXPANDS * len(data) + SLACK:
        raise FormatError(f"a compressed block of {len(data):,} bytes that says it holds {size:,}")
    made = bytearray()
    end = len(data)
    while at < end:
        tag = data[at]
        at += 1
        kind = tag & 3
        if kind == 0:
            length = (tag >> 2) + 1
            if length > 60:
                extra = length - 60
                length = int.from_bytes(_take(data, at, extra), "little") + 1
                at += extra
            made += _take(data, at, length)
            at += length
        else:
            width = (1, 2, 4)[kind - 1]
            distance = int.from_bytes(_take(data, at, width), "little")
            at += width
            if kind == 1:
                length, distance = 4 + ((tag >> 2) & 7), distance | (tag >> 5) << 8
            else:
                length = 1 + (tag >> 2)
            _copy(made, distance, length, at)
        if len(made) > size:
            break
    if len(made) != size:
        raise FormatError(f"a compressed block gives {len(made):,} bytes where it says {size:,}", offset=at)
    return bytes(made)


def _take(data: bytes, at: int, length: int) -> bytes:
    piece = data[at : at + length]
    if len(piece) != length:
        raise TruncatedError("a compressed block ends too early", offset=at)
    return piece


def _copy(made: bytearray, distance: int, length: int, at: int) -> None:
    if not 0 < distance <= len(made):
        raise FormatError("a compressed block copies bytes from before its start", offset=at)
    start = len(made) - distance
    while length:  # the copy may reach into what it makes
        piece = made[start : start + min(length, len(made) - start)]
        made += piece
        start += len(piece)
        length -= len(piece)
