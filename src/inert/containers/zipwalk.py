"""A ZIP archive without its directory: members found by their own headers, where the directory is missing, damaged or not to be trusted.

Knows: local headers one behind another, data descriptors (each says how long what it ends is, and so where that began), entries of a
directory wherever some are left, and what else may say a member's size. What of a member is readable is known to the byte; its checksum is
compared.
Refuses to know: what a member means. It asks ``sized`` for the size that a member's user expects.

Facts: APPNOTE.TXT 6.3.10; torch 2.13 caffe2/serialize/inline_container.cc: sizes stand in the descriptor and the directory alone, records
begin at multiples of their alignment.

One pass over the bytes at most, and only where the chain of headers breaks.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from struct import Struct

from ..errors import InertError
from ..finding import Finding
from ..source import Span
from .deflated import readable
from .zip import Zip
from .zipdirectory import DEFLATED, ENCRYPTED, FULL32, PATCHED, STORED, Directory, Member, Members, _zip64, member_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..limits import Limits
    from ..source import Source

    Sized = Callable[[str, "list[Found]"], int | None]

_LOCAL = Struct("<4s5H3I2H").unpack_from
_ENTRY = Struct("<4s6H3I5H2I").unpack_from
LOCAL, ENTRY, DESCRIPTOR = b"PK\3\4", b"PK\1\2", b"PK\7\x08"
ENDS = (ENTRY, b"PK\6\6", b"PK\5\6")
MARKS = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x07\x08)")
CHUNK = 16 << 20
TRIES = 1 << 16  # places in damaged stretches that are looked at for a header


class Found:
    """A member: where its header and its ``packed`` bytes begin, how many of these are readable (``there``), its checksums (those that
    are not zero), and whether it is ``whole``. ``vouched``: a descriptor, or what stands behind it, confirms its size."""

    __slots__ = ("checks", "flags", "head", "method", "name", "packed", "size", "start", "there", "vouched", "whole")

    def __init__(self, name: str, head: int, start: int, method: int, flags: int) -> None:
        self.name = name
        self.head = head
        self.start = start
        self.method = method
        self.flags = flags
        self.packed = self.size = self.there = 0
        self.checks: list[int] = []
        self.whole = self.vouched = False


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


class Walk:
    """One walk. ``found``: members in the order of the file; ``notes``: what was wrong; ``ended``: a directory stands behind the last one,
    so that there were no more."""

    def __init__(self, source: Source, limits: Limits, sized: Sized) -> None:
        self.source = source
        self.limits = limits
        self.sized = sized
        self.notes: list[Finding] = []
        self.found: list[Found] = []
        self.ended = False
        self.folder: bytes | None = None
        self._marked: tuple[list[int], dict[int, tuple[int, int, int]], dict[int, Entry]] | None = None
        self.entries = self._directory()
        self._walk()
        self._rest()

    # -- signatures -----------------------------------------------------------------------------------------------------------

    @property
    def marked(self) -> tuple[list[int], dict[int, tuple[int, int, int]], dict[int, Entry]]:
        """(places of local signatures; start of a member → (its length, checksum, end of descriptor) as descriptors say it; entries of
        a directory by the place of the member)."""
        if self._marked is None:
            locals_: list[int] = []
            ends: dict[int, tuple[int, int, int]] = {}
            entries: dict[int, Entry] = {}
            for count, at in enumerate(self._marks()):
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
                    entry = self._entry(at)
                    if entry is not None:
                        entries.setdefault(entry.offset, entry)
            self._marked = locals_, ends, entries
        return self._marked

    def _marks(self) -> Iterator[int]:
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
            behind = self._read(at + end, 4)
            if packed and packed <= at and (not behind or behind in (LOCAL, *ENDS) or len(behind) < 4):
                ends.setdefault(at - packed, (packed, int.from_bytes(data[4:8], "little"), at + end))

    def _entry(self, at: int) -> Entry | None:
        """An entry of a directory at a place, where it names a member that could be one."""
        if at + 46 > self.source.size:
            return None
        _, _, _, flags, method, _, _, crc, packed, size, n, x, _, _, _, _, offset = _ENTRY(self.source.read(at, 46))
        if at + 46 + n + x > self.source.size or not 0 < n <= self.limits.member_name or method not in (STORED, DEFLATED):
            return None
        raw = self.source.read(at + 46, n + x)
        if FULL32 in (size, packed, offset):
            size, packed, offset = _zip64(raw[n:], size, packed, offset)
        if offset >= at or not _plain(raw[:n]):
            return None
        return Entry(member_name(raw[:n]), offset, packed, size, crc, method, flags)

    def _read(self, at: int, length: int) -> bytes:
        return self.source.read(at, max(min(length, self.source.size - at), 0)) if at < self.source.size else b""

    def _directory(self) -> dict[int, Entry]:
        """What the directory says, where it can be read in the ordinary way; else entries wherever they stand."""
        try:
            archive = Zip(self.source, self.limits)
        except InertError as error:
            self.notes.append(Finding("zip-directory", error.message, self.source.name, error.offset))
            return self.marked[2]
        self.notes += archive.notes
        return {
            one.offset: Entry(one.name, one.offset, one.packed, one.size, one.crc32, one.method, one.flags)
            for one in (*archive.members.values(), *archive.shadowed)
        }

    # -- the walk -------------------------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        at, size = 0, self.source.size
        if self._read(0, 4) != LOCAL:
            at = self._next(0)
        while at >= 0 and at + 30 <= size and len(self.found) < self.limits.entries:
            mark = self.source.read(at, 4)
            if mark in ENDS:
                self.ended = True
                return
            member = self._local(at) if mark == LOCAL else None
            if member is None:
                at = self._next(at + 1)
                continue
            self.found.append(member)
            end = self._measure(member)
            at = end if end >= 0 else self._next(member.start + member.there)
        if at >= 0 and self._read(at, 4) in ENDS:
            self.ended = True
        elif 0 <= at < size and self.found:
            self.notes.append(Finding("zip-cut", "a header is cut short", self.source.name, at))

    def _next(self, at: int) -> int:
        """The next place that looks like a member's header, or like a directory behind the members; -1 for none."""
        places = self.marked[0]
        for tried, place in enumerate(places[bisect_left(places, at) :]):
            if tried > TRIES:
                break
            if self._local(place) is not None:
                return place
        return -1

    def _local(self, at: int) -> Found | None:
        """The member whose header is at a place; None where that can be none."""
        head = self._read(at, 30)
        if len(head) < 30:
            return None
        _, _, flags, method, _, _, crc, packed, size, n, x = _LOCAL(head)
        known = self.entries.get(at)
        raw = self._read(at + 30, n)
        if known is not None:
            real = known.name.encode("utf-8", "surrogateescape")
            if raw != real:
                text = f"the local header calls it {member_name(raw)[:80]!r}"
                self._once(Finding("zip-local-name", text, known.name, at))
                raw, n = real, len(real)
            if method not in (STORED, DEFLATED):
                method, flags = known.method, known.flags
        elif method not in (STORED, DEFLATED) or not 0 < n <= self.limits.member_name or not _plain(raw) or len(raw) < n:
            return None
        if self.folder is None and b"/" in raw:
            self.folder = raw.partition(b"/")[0] + b"/"
        elif self.found and known is None and self.folder is not None and not raw.startswith(self.folder):
            return None  # a header in the data of a member, most likely
        start = self._start(at, n, x, known)
        if start > self.source.size:
            return None
        member = Found(member_name(raw), at, start, method, flags)
        if known is None and not flags & 8:
            if FULL32 in (packed, size):
                size, packed, _ = _zip64(self._read(at + 30 + n, x), size, packed, 0)
            member.packed, member.size, member.vouched = packed, size, True
            member.checks = [crc] if crc else []
        return member

    def _start(self, at: int, n: int, x: int, known: Entry | None) -> int:
        """Where the content begins; where the lengths in the header are damaged, by what ends the member."""
        start = at + 30 + n + x
        if known is None or self._ends(start, known.packed) >= 0:
            return start
        lead = at + 30 + n + 4
        for alignment in (64, 4096, 1):
            other = lead + -lead % alignment
            if self._ends(other, known.packed) >= 0:
                return other
        return start

    def _ends(self, start: int, packed: int) -> int:
        """The end of a member of such a length, descriptor included, where something confirms it; else -1."""
        end = start + packed
        if end > self.source.size:
            return -1
        behind = self._read(end, 28)
        if behind[:4] == DESCRIPTOR:
            for width in (4, 8):
                if len(behind) >= 8 + 2 * width and int.from_bytes(behind[8 : 8 + width], "little") == packed:
                    return end + 8 + 2 * width
            return -1
        return end if behind[:4] in (LOCAL, *ENDS) or not behind else -1

    def _measure(self, member: Found) -> int:
        """Find out how long a member is; the end of all that belongs to it, -1 where nothing confirms that."""
        start, known = member.start, self.entries.get(member.head)
        local = member.vouched
        hint = self.sized(member.name, self.found[:-1]) if member.method == STORED else None
        sizes = [member.packed] if local else ([known.packed] if known is not None else []) + ([hint] if hint is not None else [])
        for packed in sizes:
            end = self._ends(start, packed)
            if end >= 0:
                return self._settle(member, packed, end, known)
        told = self.marked[1].get(start)
        if told is not None:
            return self._settle(member, told[0], told[2], known)
        member.vouched = False
        room = self._room(start)
        packed = sizes[0] if sizes else room
        if hint is not None:
            packed = hint
        member.packed, member.there = packed, min(packed, room)
        member.whole = bool(sizes) and member.there == packed
        member.size = known.size if known is not None and known.packed == packed else member.size if local else packed
        if known is not None and known.crc:
            member.checks = [known.crc]
        return -1

    def _settle(self, member: Found, packed: int, end: int, known: Entry | None) -> int:
        member.packed = member.there = packed
        member.whole = member.vouched = True
        if end > member.start + packed:
            data = self.source.read(member.start + packed, end - member.start - packed)
            crc = int.from_bytes(data[4:8], "little")
            member.checks = [crc] if crc else []
            member.size = int.from_bytes(data[8 + (len(data) - 8) // 2 :], "little")
        elif not member.size:
            member.size = known.size if known is not None else packed
        if known is not None and known.crc and known.crc not in member.checks:
            member.checks.append(known.crc)
        if member.method == STORED:
            member.size = packed
        return end

    def _room(self, start: int) -> int:
        """Bytes up to the next member, the directory, or the end."""
        nearest = self._next(start)
        end = self.source.size if nearest < 0 else nearest
        entries = self.marked[2]
        if nearest < 0 and entries:
            for place in self._marks_of(ENTRY, start):
                if self._entry(place) is not None:
                    end = min(end, place)
                    break
        return end - start

    def _marks_of(self, mark: bytes, start: int) -> Iterator[int]:
        at = start
        while at < self.source.size:
            data = self.source.read(at, min(CHUNK + 3, self.source.size - at))
            place = data.find(mark)
            while 0 <= place < CHUNK:
                yield at + place
                place = data.find(mark, place + 1)
            at += CHUNK

    def _rest(self) -> None:
        """Members that a directory names and whose headers the walk did not meet: damaged ones."""
        met = {member.head for member in self.found}
        names = {member.name for member in self.found}
        for offset, entry in sorted(self.entries.items()):
            if offset in met or entry.name in names or offset + 30 > self.source.size or entry.name.endswith("/"):
                continue
            n, x = len(entry.name.encode("utf-8", "surrogateescape")), int.from_bytes(self.source.read(offset + 28, 2), "little")
            member = Found(entry.name, offset, min(self._start(offset, n, x, entry), self.source.size), entry.method, entry.flags)
            confirmed = self._ends(member.start, entry.packed) >= 0
            self.notes.append(Finding("zip-local-header", "its local header is damaged", entry.name, offset))
            if confirmed:
                self._settle(member, entry.packed, self._ends(member.start, entry.packed), entry)
            else:
                room = self.source.size - member.start
                member.packed, member.size, member.there = entry.packed, entry.size, min(entry.packed, room)
                member.whole = member.there == entry.packed
            if entry.crc and entry.crc not in member.checks:
                member.checks.append(entry.crc)
            self.found.append(member)
        self.found.sort(key=lambda one: one.head)
        self._compare({member.name: member for member in self.found}, met)

    def _compare(self, found: dict[str, Found], met: set[int]) -> None:
        """What entries of a directory say wrongly of members that were found."""
        for offset, entry in self.entries.items():
            member = found.get(entry.name)
            if member is None:
                continue
            if offset not in met:
                text = f"its entry in the directory says that it begins at byte {offset:,}; it does at {member.head:,}"
                self.notes.append(Finding("zip-directory", text, entry.name, member.head))
            elif entry.method != member.method:
                self.notes.append(Finding("zip-method", f"compression method {entry.method} in the directory", entry.name, offset))
            elif (entry.flags | member.flags) & (ENCRYPTED | PATCHED):
                self.notes.append(Finding("zip-encrypted", "its header says that it is encrypted or a patch", entry.name, offset))
            elif entry.packed != member.packed or (member.vouched and entry.size != member.size):
                text = f"its entry in the directory says {entry.packed:,} and {entry.size:,} bytes; it has {member.packed:,}"
                self.notes.append(Finding("zip-sizes", text, entry.name, offset))

    def _once(self, note: Finding) -> None:
        if not any(one.code == note.code and one.where.offset == note.where.offset for one in self.notes):
            self.notes.append(note)


def _plain(raw: bytes) -> bool:
    """Whether a name is one that anybody would give a member."""
    return bool(raw) and not any(byte < 32 or byte == 127 for byte in raw)


class Listed(Members):
    """Members that were found, by name."""

    def __init__(self, members: dict[str, Member]) -> None:
        super().__init__(b"", 0)
        self.held = members
        self.places = dict.fromkeys(members, 0)

    def __getitem__(self, name: str) -> Member:
        return self.held[name]

    def size(self, name: str) -> int | None:
        return self.held[name].size if name in self.held else None


class Walked(Zip):
    """An archive of members that were found. ``cut``: those of which a part is missing, by name; ``wrong``: why the bytes of others are
    in doubt. Of members of one name the last whole one counts."""

    def __init__(self, source: Source, limits: Limits, sized: Sized) -> None:
        walk = Walk(source, limits, sized)
        self.source = source
        self.limits = limits
        self.notes = walk.notes
        self.shadowed: list[Member] = []
        self.ended = walk.ended
        self.cut: dict[str, Found] = {}
        self.wrong: dict[str, str] = {}
        self._starts: dict[str, int] = {}
        self._inflated: dict[tuple[int, int, int], Span] = {}
        self.directory = Directory(source.size, 0, len(walk.found), 0, source.size, 0, 0)
        held: dict[str, Member] = {}
        for found in walk.found:
            self._take(found, held)
        self.members = Listed(held)

    def _take(self, found: Found, held: dict[str, Member]) -> None:
        size, name = found.size, found.name
        place = (found.head, found.there, size)
        if found.flags & (ENCRYPTED | PATCHED) and found.method == STORED:
            found.flags &= ~(ENCRYPTED | PATCHED)  # torch does not look at these bits; where it is true, the checksum will tell
        if found.flags & (ENCRYPTED | PATCHED):
            found.whole, size = False, 0
            self.notes.append(Finding("zip-encrypted", "encrypted or a patch", name, found.head))
        elif found.method == DEFLATED:
            most = size if found.vouched else max(size, self.limits.expand_floor, self.limits.expand_ratio * found.there)
            content, fault = readable(Span(self.source, found.start, found.there), min(self.limits.inflated, most), name)
            if fault or (found.vouched and content.length != size):
                found.whole = False
                self.notes.append(Finding("zip-cut", fault or f"inflates to {content.length:,} of {size:,} bytes", name, found.head))
            size = content.length
            place = (found.head, found.there, size)
            self._inflated[place] = content
        elif not found.whole:
            size = found.there
            text = f"{found.there:,} bytes of it are there" + (f" of {found.packed:,}" if found.packed > found.there else "")
            self.notes.append(Finding("zip-cut", text, name, found.head))
        member = Member(name, found.head, found.there, size, found.checks[0] if found.checks else 0, found.method, found.flags)
        if name in held:
            self.notes.append(Finding("zip-duplicate", "two members have this name", name, found.head))
            if not found.whole and name not in self.cut:
                self.shadowed.append(member)
                return
            self.shadowed.append(held[name])
        held[name] = member
        self.cut.pop(name, None)
        self.wrong.pop(name, None)
        if not found.whole:
            self.cut[name] = found
        self._starts[name] = found.start
        if found.whole and found.checks:
            self._check(found, self._inflated[place] if found.method == DEFLATED else Span(self.source, found.start, found.there))

    def _check(self, found: Found, content: Span) -> None:
        """Compare a member's bytes with its checksums: one that stands twice, and once right, was damaged itself."""
        from isal.isal_zlib import crc32

        value = 0
        for block in content.chunks():
            value = crc32(block, value)
        wrong = [check for check in found.checks if check != value]
        if wrong and len(wrong) < len(found.checks):
            text = f"one of its two checksums is {wrong[0]:08x}; the other one, {value:08x}, is that of the bytes"
            self.notes.append(Finding("zip-crc-field", text, found.name, found.head))
        elif wrong:
            text = f"its bytes have the checksum {value:08x}, not {wrong[0]:08x}"
            self.wrong[found.name] = text
            self.notes.append(Finding("zip-crc", text, found.name, found.head))

    def inspect(self, member: Member) -> tuple[int, list[Finding]]:
        return self._starts.get(member.name, member.offset), []

    def content(self, name: str) -> Span:
        return self.span(self.members[name])
