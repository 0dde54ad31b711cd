"""The headers of an archive's members, held against its directory.

Knows: local headers as PyTorch writes them, in one loop over all of them; records of raw tensor data, of which the beginning is looked at.
Refuses to know: headers of any other kind; the names of such members are given back, for containers.zip to look at.

Facts: APPNOTE.TXT 6.3.10 (4.3.7, 4.3.12); torch 2.13 caffe2/serialize/inline_container.cc.
"""

from __future__ import annotations

import re
from struct import Struct
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ...pickle.begins import BEGINS, FIRST
from .extras import PADS, padding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...containers.zip import Zip
    from ...containers.zipdirectory import Member

# a directory entry from its byte 6 on: version to date, sizes, name and extra length, file attributes, offset
_ENTRY = Struct("<10s4x2I2H6x2I").unpack_from
_LOCAL = Struct("<4s10s12s2H").unpack_from  # a local header: signature, version to date, checksum and sizes, name and extra length
_FLAGS = Struct("<2H").unpack_from  # from byte 2 of a version on
LINK = 0xA << 28  # the high bits of a file's attributes, as Unix has them, of a symbolic link
PADDING = 4200  # bytes of an extra field: PyTorch aligns records by it, to 64 bytes as a rule and to a page at most
HEAD = 300  # bytes of a record that are looked at
RECORD = re.compile(r"(?:^|/)(?:data|tensors|weights|constants|xl)/[\w.-]+$|\.data/[\w.-]+\.storage$")
PLAIN = re.compile(rb"[0-9\n]*|little|big")  # a version, an id, a byte order: no opcode of these imports, and none of them ends a pickle
PICKLE = re.compile(r"\.(?:pkl|pickle|debug_pkl|joblib)$", re.IGNORECASE)


class Record:
    """One member as it lies in the file: name, where its bytes begin and end, how they are stored, how long its content is."""

    __slots__ = ("end", "member", "name", "offset", "size", "start")

    def __init__(self, name: str, offset: int, start: int, end: int, size: int, member: Member | None) -> None:
        self.name = name
        self.offset = offset  # of the local header
        self.start = start
        self.end = end
        self.size = size
        self.member = member  # None for a stored one that is as PyTorch writes it


class Headers:
    """All members of an archive: the records that may hold something (``found``), names of those whose headers differ (``rest``), symbolic
    links (``links``); extra fields that are not PyTorch's padding (``extras``: name, begin, end); (begin, end) of what the others take of
    the file (``runs``), and their sizes by name."""

    def __init__(self) -> None:
        self.found: list[Record] = []
        self.rest: list[str] = []
        self.links: list[str] = []
        self.extras: list[tuple[str, int, int]] = []
        self.runs: list[tuple[int, int]] = []
        self.sizes: dict[str, int] = {}


def quick(archive: Zip, whole: Any) -> Headers:
    """All members in one loop. ``whole``: the bytes of the file."""
    made = Headers()
    members, size = archive.members, archive.source.size
    data, shift, since, limit = members.data, members.shift, members.since, PADDING
    found, rest, runs, links, sizes = made.found, made.rest, made.runs, made.links, made.sizes
    pads = PADS
    described: dict[bytes, int] = {}  # version to date → whether checksum and sizes stand in a data descriptor; -1: not plainly stored
    for name, place in members.places.items():
        head, packed, length, n, x, attributes, offset = _ENTRY(data, place + 6)
        offset += shift if offset >= since and offset + shift >= 0 else 0
        end = offset + 30 + n
        if attributes >= LINK:
            links += [name] if attributes >> 28 == LINK >> 28 else []
        if x or packed != length or end > size or offset < 0:
            rest.append(name)
            continue
        sign, same, sums, named, extra = _LOCAL(whole, offset)
        later = described.get(head)
        if later is None:
            flags, method = _FLAGS(head, 2)
            later = described[head] = -1 if method or flags & 0x61 else flags & 8
        start = end + extra
        behind = start + packed
        if (
            later < 0
            or same != head
            or sign != b"PK\3\4"
            or named != n
            or extra > limit
            or behind > size
            or whole[offset + 30 : end] != data[place + 46 : place + 46 + n]
            or (not later and sums != data[place + 16 : place + 28])
        ):
            rest.append(name)
        else:
            if whole[end:start] != (pads[extra] if extra in pads else padding(extra)):
                made.extras.append((name, end, start))
            runs.append((offset, behind))
            sizes[name] = packed
            if packed and (whole[start] in FIRST or not 48 <= data[place + 45 + n] < 58):  # its name ends in a digit
                if packed < 64 and PLAIN.fullmatch(whole, start, behind):
                    continue
                if PICKLE.search(name) or not RECORD.search(name) or BEGINS.match(whole[start : start + min(HEAD, packed)]):
                    found.append(Record(name, offset, start, behind, packed, None))
    return made


def links(archive: Zip) -> list[str]:
    """Members that are symbolic links."""
    data, places = archive.members.data, archive.members.places
    return [name for name, place in places.items() if _ENTRY(data, place + 6)[5] >> 28 == LINK >> 28]


def inflated_head(packed: bytes, most: int) -> bytes:
    """The first bytes of raw deflate data."""
    try:
        return decompressobj(-MAX_WBITS).decompress(packed, most)
    except ZlibError:
        return b""
