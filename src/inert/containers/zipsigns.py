"""The signatures of a ZIP archive, wherever they stand: local headers, data descriptors, entries of a directory.

Knows: how many bytes each of them takes, and what makes it a likely one: a descriptor's length leads back to where a member begins, an
entry names a plain name and a place before itself.
Refuses to know: which of them are to be believed (zipwalk.py).

Facts: APPNOTE.TXT 6.3.10.
"""

from __future__ import annotations

import re
from struct import Struct

from ..finding import Finding
from .zipdirectory import DEFLATED, FULL32, STORED, _zip64, member_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..limits import Limits
    from ..source import Source

_ENTRY = Struct("<4s6H3I5H2I").unpack_from
LOCAL, ENTRY, DESCRIPTOR = b"PK\3\4", b"PK\1\2", b"PK\7\x08"
ENDS = (ENTRY, b"PK\6\6", b"PK\5\6")
MARKS = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x07\x08)")
CHUNK = 16 << 20


class Entry:
    """What an entry of a directory, wherever it was found, says of a member."""

    __slots__ = ("crc", "flags", "method", "name", "offset", "packed", "size")

    def __init__(self, name: str, offset: int, packed: int, size: int, crc: int, method: int, flags: int) -> None:
        self.name = name
        self.offset = offset
        self.packed = packed
        self.size = size
        self.crc = crc
        self.method = method
        self.flags = flags


class Signs:
    """The signatures of one source, looked for once, when they are first asked for. ``notes``: what was odd."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.notes: list[Finding] = []
        self._marked: tuple[list[int], dict[int, tuple[int, int, int]], dict[int, Entry]] | None = None

    @property
    def marked(self) -> tuple[list[int], dict[int, tuple[int, int, int]], dict[int, Entry]]:
        """(places of local signatures; start of a member → (its length, checksum, end of descriptor) as descriptors say it; entries of
        a directory by the place of the member)."""
        if self._marked is None:
            locals_: list[int] = []
            ends: dict[int, tuple[int, int, int]] = {}
            entries: dict[int, Entry] = {}
            for count, at in enumerate(self._places()):
                if count > self.limits.entries:
                    self.notes.append(
                        Finding("zip-count", f"more than {count:,} signatures; the rest is not looked at", self.source.name, at)
                    )
                    break
                mark = self.source.read(at, 4)
                if mark == LOCAL:
                    locals_.append(at)
                elif mark == DESCRIPTOR:
                    self._descriptor(at, ends)
                else:
                    entry = self.entry(at)
                    if entry is not None:
                        entries.setdefault(entry.offset, entry)
            self._marked = locals_, ends, entries
        return self._marked

    def _places(self) -> Iterator[int]:
        at, size = 0, self.source.size
        while at < size:
            data = self.source.read(at, min(CHUNK + 3, size - at))
            for match in MARKS.finditer(data):
                if match.start() < CHUNK:
                    yield at + match.start()
            at += CHUNK

    def _descriptor(self, at: int, ends: dict[int, tuple[int, int, int]]) -> None:
        data = self.source.read(at, min(24, self.source.size - at))
        for width in (4, 8):  # of its sizes
            end = 8 + 2 * width
            if len(data) < end:
                break
            packed = int.from_bytes(data[8 : 8 + width], "little")
            behind = self.read(at + end, 4)
            if packed and packed <= at and (not behind or behind in (LOCAL, *ENDS) or len(behind) < 4):
                ends.setdefault(at - packed, (packed, int.from_bytes(data[4:8], "little"), at + end))

    def entry(self, at: int) -> Entry | None:
        """An entry of a directory at a place, where it names a member that could be one."""
        if at + 46 > self.source.size:
            return None
        _, _, _, flags, method, _, _, crc, packed, size, n, x, _, _, _, _, offset = _ENTRY(self.source.read(at, 46))
        if at + 46 + n + x > self.source.size or not 0 < n <= self.limits.member_name or method not in (STORED, DEFLATED):
            return None
        raw = self.source.read(at + 46, n + x)
        if FULL32 in (size, packed, offset):
            size, packed, offset = _zip64(raw[n:], size, packed, offset)
        if offset >= at or not plain(raw[:n]):
            return None
        return Entry(member_name(raw[:n]), offset, packed, size, crc, method, flags)

    def read(self, at: int, length: int) -> bytes:
        return self.source.read(at, max(min(length, self.source.size - at), 0)) if at < self.source.size else b""

    def places_of(self, mark: bytes, start: int) -> Iterator[int]:
        at = start
        while at < self.source.size:
            data = self.source.read(at, min(CHUNK + 3, self.source.size - at))
            place = data.find(mark)
            while 0 <= place < CHUNK:
                yield at + place
                place = data.find(mark, place + 1)
            at += CHUNK


def plain(raw: bytes) -> bool:
    """Whether a name is one that anybody would give a member."""
    return bool(raw) and not any(byte < 32 or byte == 127 for byte in raw)
