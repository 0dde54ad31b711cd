"""A ZIP archive without its directory: members found by their own headers, where the directory is missing, damaged or not to be trusted.

Knows: local headers one behind another, data descriptors (each says how long what it ends is, and so where that began), entries of a
directory wherever some are left, and what else may say a member's size. What of a member is readable is known to the byte.
Refuses to know: what a member means. It asks ``sized`` for the size that a member's user expects.

Facts: APPNOTE.TXT 6.3.10; torch 2.13 caffe2/serialize/inline_container.cc: sizes stand in the descriptor and the directory alone, records
begin at multiples of their alignment.

One pass over the bytes at most, and only where the chain of headers breaks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from struct import Struct

from ..errors import InertError
from ..finding import Finding
from .zip import Zip
from .zipdirectory import DEFLATED, ENCRYPTED, FULL32, PATCHED, STORED, _zip64, marks, member_name
from .zipsigns import DESCRIPTOR, ENDS, ENTRY, LOCAL, Entry, Signs, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..limits import Limits
    from ..source import Source

    Sized = Callable[[str, "list[Found]"], int | None]

_LOCAL = Struct("<4s5H3I2H").unpack_from
MOVED = "the descriptor that should stand behind its bytes does not: they may have been moved"
TRIES = 1 << 18  # places that are no headers after all, in the whole file


class Found:
    """A member: where its header and its ``packed`` bytes begin, how many of these are readable (``there``), its checksums (those that
    are not zero), and whether it is ``whole``. ``vouched``: a descriptor, or what stands behind it, confirms its size; ``doubt``: why what
    stands behind it says that its bytes were moved."""

    __slots__ = ("checks", "doubt", "flags", "head", "method", "name", "packed", "size", "start", "there", "vouched", "whole")

    def __init__(self, name: str, head: int, start: int, method: int, flags: int) -> None:
        self.name = name
        self.head = head
        self.start = start
        self.method = method
        self.flags = flags
        self.packed = self.size = self.there = 0
        self.checks: list[int] = []
        self.doubt = ""
        self.whole = self.vouched = False


class Walk:
    """One walk. ``found``: members in the order of the file; ``notes``: what was wrong; ``ended``: a directory stands behind the last one,
    so that there were no more."""

    def __init__(self, source: Source, limits: Limits, sized: Sized) -> None:
        self.source = source
        self.limits = limits
        self.sized = sized
        self.signs = Signs(source, limits)
        self.notes = self.signs.notes
        self.found: list[Found] = []
        self.ended = False
        self.tries = TRIES
        self.told: set[tuple[str, int | None]] = set()
        self.folder: bytes | None = None
        self.entries = self._directory()
        self._walk()
        self._rest()

    def _directory(self) -> dict[int, Entry]:
        """What the directory says, where it can be read in the ordinary way; else entries wherever they stand."""
        try:
            archive = Zip(self.source, self.limits)
        except InertError as error:
            self.notes.append(Finding("zip-directory", error.message, self.source.name, error.offset))
            return self.signs.marked[2]
        self.notes += archive.notes
        members = [*archive.members.values(), *archive.shadowed]
        self.notes += [note for one in members for note in marks(one)]
        return {one.offset: Entry(one.name, one.offset, one.packed, one.size, one.crc32, one.method, one.flags) for one in members}

    # -- the walk -------------------------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        at, size, chained = 0, self.source.size, False  # whether a member ends there for certain
        if self.signs.read(0, 4) != LOCAL:
            at = self._next(0)
        while at >= 0 and at + 30 <= size and len(self.found) < self.limits.entries:
            mark = self.source.read(at, 4)
            if mark in ENDS:
                self.ended = True
                return
            member = self._local(at) if mark == LOCAL or chained else None
            if member is None:
                at, chained = self._next(at + 1), False
                continue
            if mark != LOCAL:
                self._once(Finding("zip-local-header", f"its local header begins with {mark!r}", member.name, at))
            self.found.append(member)
            end = self._measure(member)
            chained = end >= 0
            at = end if chained else self._next(member.start + member.there)
        if at >= 0 and self.signs.read(at, 4) in ENDS:
            self.ended = True
        elif 0 <= at < size and self.found:
            self.notes.append(Finding("zip-cut", "a header is cut short", self.source.name, at))

    def _next(self, at: int) -> int:
        """The next place that looks like a member's header, or like a directory behind the members; -1 for none."""
        places = self.signs.marked[0]
        for number in range(bisect_left(places, at), len(places)):
            if self.tries < 0:
                break
            if self._local(places[number]) is not None:
                return places[number]
            self.tries -= 1
        return -1

    def _local(self, at: int) -> Found | None:
        """The member whose header is at a place; None where that can be none."""
        head = self.signs.read(at, 30)
        if len(head) < 30:
            return None
        _, _, flags, method, _, _, crc, packed, size, n, x = _LOCAL(head)
        known = self.entries.get(at)
        raw = self.signs.read(at + 30, n)
        if known is not None:
            real = known.name.encode("utf-8", "surrogateescape")
            if raw != real:
                text = f"the local header calls it {member_name(raw)[:80]!r}"
                self._once(Finding("zip-local-name", text, known.name, at))
                raw, n = real, len(real)
            if method not in (STORED, DEFLATED):
                method, flags = known.method, known.flags
            elif method != known.method:  # sizes that are equal are those of a stored member
                said, method = method, STORED if known.packed == known.size else DEFLATED
                if said != method:
                    self._once(Finding("zip-local-fields", f"compression method {said} in the local header", known.name, at))
        elif method not in (STORED, DEFLATED) or not 0 < n <= self.limits.member_name or not plain(raw) or len(raw) < n:
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
                size, packed, _ = _zip64(self.signs.read(at + 30 + n, x), size, packed, 0)
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
        behind = self.signs.read(end, 28)
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
        told = self.signs.marked[1].get(start)
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
        end, seen = start + member.there, room - member.there >= 8 or start + room < self.source.size
        if member.whole and packed and member.flags & 8 and seen and self.signs.read(end, 4) != DESCRIPTOR:
            member.doubt = MOVED
        return -1

    def _settle(self, member: Found, packed: int, end: int, known: Entry | None) -> int:
        member.packed = member.there = packed
        member.whole = member.vouched = True
        if end > member.start + packed:
            data = self.source.read(member.start + packed, end - member.start - packed)
            crc = int.from_bytes(data[4:8], "little")
            member.checks = [crc] if crc else []
            member.size = int.from_bytes(data[8 + (len(data) - 8) // 2 :], "little")
        elif member.flags & 8 and packed and end < self.source.size:
            member.doubt = MOVED
        if not member.size:
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
        entries = self.signs.marked[2]
        if nearest < 0 and entries:
            for place in self.signs.places_of(ENTRY, start):
                if self.signs.entry(place) is not None:
                    end = min(end, place)
                    break
        return end - start

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
        names = Counter(entry.name for entry in self.entries.values())
        for offset, entry in self.entries.items():
            member = found.get(entry.name)
            if member is None:
                continue
            if offset not in met and entry.crc and names[entry.name] == 1 and entry.packed == member.packed:
                member.checks += [entry.crc] if entry.crc not in member.checks else []
            if offset not in met and offset != member.head:
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
        if (note.code, note.where.offset) not in self.told:
            self.told.add((note.code, note.where.offset))
            self.notes.append(note)
