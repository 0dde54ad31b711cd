"""Archives one behind another, and members that no directory names.

Knows: how end records tell where an archive begins; how a local header alone tells where its member's bytes are.
Refuses to know: what members hold (streams.py reads them).

Facts: APPNOTE.TXT 6.3.10 (4.3.7, 4.3.9, 4.3.16).
"""

from __future__ import annotations

import re
from struct import Struct
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ...containers.zipdirectory import DEFLATED, ENCRYPTED, PATCHED, STORED, member_name
from ...source import BytesSource
from . import streams
from .headers import PICKLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...source import Source
    from .look import Look

_END = Struct("<2IH").unpack_from  # an end record from its byte 12 on: size and offset of the directory, length of the comment
_END64 = Struct("<2Q").unpack  # the same two of a ZIP64 record, at its byte 40
_FULL = Struct("<4s5H3I2H")  # a whole local header
PIECE = 1 << 14  # bytes that are inflated at a time
SIGNATURE = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x05\x06|\x06\x06|\x07\x08)")


def segments(look: Look, source: Source) -> list[tuple[int, int]]:
    """Where archives lie one behind another: (start, end) of each whose end record fits its own directory, from front to back."""
    found: list[tuple[int, int]] = []
    at, place = 0, -1
    while (place := _next_end(source, max(at, place + 1))) >= 0 and place + 22 <= source.size:
        if not look.spend(1 << 12, source.name):
            break
        size, offset, comment = _END(source.read(place, 22), 12)
        start = place - size - offset
        if place >= 76 and source.read(place - 20, 4) == b"PK\6\7":  # PyTorch writes both
            size, offset = _END64(source.read(place - 36, 16))
            start = place - 76 - size - offset
        if start >= at and source.read(start, 4) == b"PK\3\4" and place + 22 + comment <= source.size:
            at = place + 22 + comment
            found.append((start, at))
    return found


def _next_end(source: Source, at: int) -> int:
    """Where the next end record begins, or -1."""
    while at < source.size:
        data = source.read(at, min(1 << 20, source.size - at))
        place = data.find(b"PK\5\6")
        if place >= 0:
            return at + place
        at += max(len(data) - 3, 1)
    return -1


def stray(look: Look, data: bytes, at: int, part: str, base: int) -> int:
    """A local header that no directory names, at a place in a region's bytes: scan its member. The place behind it."""
    if len(data) - at < 30:
        return at + 4
    fields: tuple[Any, ...] = _FULL.unpack_from(data, at)
    flags, method, packed, n = fields[2], fields[3], int(fields[7]), int(fields[9])
    start = at + 30 + n + int(fields[10])
    if n > 1024 or method not in (STORED, DEFLATED) or start > len(data) or flags & (ENCRYPTED | PATCHED):
        return at + 4
    end = start + packed
    if flags & 8 or end > len(data):  # its length stands behind it: what follows is some record of an archive
        found = SIGNATURE.search(data, start)
        end = found.start() if found else len(data)
    content = data[start:end] if method == STORED else _inflated(look, data, start, part)
    name = f"{part}: {member_name(data[at + 30 : at + 30 + n])[:200]} (in no directory)"
    before = look.pickles
    if content[:1] and content[:4] != b"PK\3\4":
        sure = PICKLE.search(member_name(data[at + 30 : at + 30 + n])) is not None
        streams.read(look, BytesSource(content, name).span(), name, sure, rest=False)
    if look.pickles > before:
        look.note("zip-stray", "a member that the archive's directory does not name", name, base + at)
        return end if method == STORED else start
    return start


def _inflated(look: Look, data: bytes, start: int, name: str) -> bytes:
    """As much as comes out of deflated data whose length nobody says."""
    engine, pieces, left = decompressobj(-MAX_WBITS), [], min(look.limits.expand_floor, max(look.left, 1))
    try:
        while start < len(data) and left > 0 and not engine.eof:
            pieces.append(engine.decompress(data[start : start + PIECE], left))
            start += PIECE
            left -= len(pieces[-1])
    except ZlibError:
        pass  # what came out before the damage is looked at
    made = b"".join(pieces)
    return made if look.spend(len(made), name) else b""
