"""The ZIP container as PyTorch writes and reads it: names → members → Spans.

Knows: the members that the central directory (zipdirectory.py) names, local headers (where the bytes begin), stored and deflated members.
Refuses to know: what a member means, and to unpack anything to disk under a name that the file chose.

Facts: APPNOTE.TXT 6.3.10 for the structures; PyTorch's writer leaves local sizes zero and pads with an ``FB`` extra field, its reader
looks only at the central directory, which is why that is the truth here and a local header that disagrees is a finding.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from struct import Struct

from ..errors import FormatError, LimitError, TruncatedError, UnsupportedError
from ..finding import Finding
from ..source import Span
from ..words import counted, is_text
from .deflated import inflate
from .zipdirectory import DEFLATED, ENCRYPTED, FOLDER, FULL32, MASKED, PATCHED, STORED, Member, Members, find_directory, marks, member_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..limits import Limits
    from ..source import Source

_STORED = Struct("<2H8x2I2xH10xI").unpack_from  # a small entry from its byte 8 on: flags, method, sizes, extra length, offset
_LENGTHS = Struct("<3H").unpack_from  # name, extra and comment length of a central directory entry, at its byte 28
_SHORT = Struct("<2H").unpack_from  # two fields of a local header: flags and method at 6, name and extra length at 26
_LOCAL = Struct("<4s5H3I2H")  # local header, 30 bytes


FAR = 1 << 64  # beyond any offset


class Zip:
    """An opened archive: ``members`` by name in directory order (of equal names the last), ``notes``, and Spans on demand."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.directory = find_directory(source)
        self.notes = self.directory.notes
        self.shadowed: list[Member] = []  # members hidden behind a later one of the same name
        self.members = self._parse()
        self._starts: dict[tuple[int, str], int] = {}  # by offset of the local header and name
        self._inflated: dict[tuple[int, int, int], Span] = {}  # by place and sizes: members may claim the same bytes

    def _parse(self) -> Members:
        where = self.directory
        if where.count > self.limits.entries:
            raise LimitError(f"the archive promises {where.count:,} members", part=self.source.name, hint="raise Limits.entries")
        data = self.source.read(where.offset, where.size)
        members = Members(data, where.shift)
        places, position, seen = members.places, 0, 0
        while seen < where.count and position + 46 <= len(data):
            n, x, c = _LENGTHS(data, position + 28)
            if data[position : position + 4] != b"PK\1\2" or position + 46 + n + x + c > len(data):
                break
            # entries whose names are equally long come in runs (data/1000 … data/9999): those are unpacked in one go
            entry = Struct(f"<4s24x3H12x{n}s{x + c}x")
            most = min((len(data) - position) // entry.size, where.count - seen)
            for signature, names, extras, comments, raw in entry.iter_unpack(memoryview(data)[position : position + most * entry.size]):
                if signature != b"PK\1\2" or names != n or extras != x or comments != c:
                    break
                name = member_name(raw)
                if name in places:
                    self._shadow(members.at(name, places.pop(name)))
                places[name] = position
                seen += 1
                position += entry.size
        self._count(seen, position, data)
        if where.shift:
            self._displaced(members)
        return members

    def _displaced(self, members: Members) -> None:
        """Which members the bytes that the offsets do not count have moved: all, or those behind the place where they were put in."""
        shift, name = members.shift, self.source.name
        members.since = FAR
        found = sorted((member.offset, member.name) for member in members.values())  # as the directory says them
        members.since = 0
        if not found or self._begins(found[0][0] + shift, found[0][1]) or not self._begins(*found[0]):
            if shift < 0:
                raise FormatError(f"no central directory at offset {self.directory.offset - shift:,}", part=name, offset=self.directory.end)
            self.notes.append(Finding("zip-prefix", f"{counted(shift, 'byte', 'lie')} before the archive", name, 0))
            return
        last = bisect_left(found, True, key=lambda one: not self._begins(*one)) - 1
        at, hit = found[last]
        members.since = at + 1
        said = f"{counted(abs(shift), 'byte')} {'more' if shift > 0 else 'fewer'} than the directory counts"
        self.notes.append(Finding("zip-directory", f"{said}, within this member or right behind it", hit, at))

    def _begins(self, offset: int, name: str) -> bool:
        """Whether the local header of a member is at a place."""
        raw = name.encode("utf-8", "surrogateescape")
        if not 0 <= offset <= self.source.size - 30 - len(raw):
            return False
        head = self.source.read(offset, 30 + len(raw))
        return head[:4] == b"PK\3\4" and head[30:] == raw

    def _shadow(self, member: Member) -> None:
        self.shadowed.append(member)
        if len(self.shadowed) <= 100:
            self.notes.append(Finding("zip-duplicate", "two members have this name", member.name, member.offset))

    def _count(self, seen: int, position: int, data: bytes) -> None:
        where = self.directory
        if seen != where.count:
            text = f"the end record promises {where.count:,} members, the directory holds {seen:,}"
            self.notes.append(Finding("zip-count", text, self.source.name, where.offset + position))
        elif position != len(data):
            text = f"{len(data) - position:,} bytes of the directory lie beyond its {seen:,} members"
            self.notes.append(Finding("zip-count", text, self.source.name, where.offset + position))
        if seen == 0 and where.count:
            raise FormatError("the central directory holds no readable entry", part=self.source.name, offset=where.offset)

    def rename(self, names: dict[str, str]) -> None:
        """Call members by other names from now on."""
        self.members.rename(names)

    def start(self, member: Member) -> int:
        """Offset of the member's first byte, from its local header; disagreements with the directory become notes, once."""
        place = member.offset, member.name
        known = self._starts.get(place)
        if known is None:
            known, findings = self.inspect(member)
            if member.name not in self.members or self.members[member.name].offset != member.offset:
                return known  # hidden behind a later one: later() tells of it
            self.notes.extend(findings)
            self._starts[place] = known
        return known

    def inspect(self, member: Member) -> tuple[int, list[Finding]]:
        """The start of the member's data and what its local header says differently. FormatError where there is no header."""
        room = self.source.size - member.offset
        if room < 30:
            raise TruncatedError("its local header would lie beyond the end of the file", part=member.name, offset=member.offset)
        raw = member.name.encode("utf-8", "surrogateescape")
        head = self.source.read(member.offset, min(30 + len(raw), room))  # one read for header and name, as a rule
        signature, _, flags, method, _, _, crc, packed, size, n, x = _LOCAL.unpack_from(head)
        if signature != b"PK\3\4":
            raise FormatError("no local header where the directory says", part=member.name, offset=member.offset)
        if 30 + n + x + member.packed > room:
            text = f"its {member.packed:,} bytes would end beyond the file's {self.source.size:,}"
            raise TruncatedError(
                text, part=member.name, offset=member.offset, hint="the file is cut short or its headers are damaged: get the file again"
            )
        start = member.offset + 30 + n + x
        if head[30:] == raw and n == len(raw) and method == member.method and flags == member.flags and flags & 8:
            return start, []  # as PyTorch writes it: sizes and checksum are in the directory alone
        said = [("method", method, member.method), ("flags", flags & 0x61, member.flags & 0x61)]
        if not flags & 8:  # without a data descriptor, the local fields ought to be true
            said += [("crc", crc, member.crc32), ("size", packed, member.packed), ("length", size, member.size)]
        odd = [f"{what} {here}, directory {there}" for what, here, there in said if here != there and here not in (0, FULL32)]
        found = [Finding("zip-local-fields", f"local header: {'; '.join(odd)}", member.name, member.offset)] if odd else []
        name = self.source.read(member.offset + 30, n)
        if name != raw:
            found.append(Finding("zip-local-name", f"the local header calls it {member_name(name)[:80]!r}", member.name, member.offset))
        return start, found

    def raw(self, member: Member) -> Span:
        """The member's bytes as they lie in the file, compressed or not."""
        return Span(self.source, self.start(member), member.packed)

    def content(self, name: str) -> Span:
        """The content of the member called ``name``."""
        flags, method, packed, size, x, offset = _STORED(self.members.data, self.members.places[name] + 8)
        offset = self.members.real(offset)
        if not x and method == STORED and packed == size and not flags & (ENCRYPTED | PATCHED):
            raw = name.encode("utf-8", "surrogateescape")
            if offset + 30 + len(raw) <= self.source.size:
                head = self.source.read(offset, 30 + len(raw))
                if head[30:] == raw and head[:4] == b"PK\3\4" and _SHORT(head, 6) == (flags, STORED) and flags & 8:
                    n, x = _SHORT(head, 26)
                    if n == len(raw):  # as PyTorch writes it; whatever differs takes the long way
                        return Span(self.source, offset + 30 + n + x, size)
        return self.span(self.members[name])

    def span(self, member: Member, cap: int | None = None) -> Span:
        """The member's content. ``cap``: refuse to inflate to more bytes than this (default ``Limits.inflated``)."""
        if member.method == STORED and not member.flags & (ENCRYPTED | PATCHED):
            if member.packed != member.size:
                text = f"stored, but its sizes differ: {member.packed:,} and {member.size:,}"
                raise FormatError(text, part=member.name, offset=member.offset)
            return self.raw(member)
        place = (member.offset, member.packed, member.size)
        known = self._inflated.get(place)
        if known is None:
            known = self._inflated[place] = self._inflate(member, self.limits.inflated if cap is None else cap)
        return known

    def pickle(self, member: Member) -> Span:
        """The content of a member that a pickle machine will read: it may not grow out of proportion to the file."""
        grown = max(self.limits.expand_floor, self.limits.expand_ratio * member.packed)
        return self.span(member, min(grown, self.limits.pickle_bytes))

    def _inflate(self, member: Member, cap: int) -> Span:
        if member.flags & (ENCRYPTED | PATCHED):
            raise UnsupportedError("the member is encrypted or a patch", part=member.name, offset=member.offset)
        if member.method != DEFLATED:
            hint = "torch reads stored and deflated members only; unzip and zip it again with -0"
            raise UnsupportedError(f"compression method {member.method}", part=member.name, offset=member.offset, hint=hint)
        if member.size > cap:
            text = f"{member.packed:,} compressed bytes would grow to {member.size:,}, more than {cap:,}"
            raise LimitError(text, part=member.name, offset=member.offset, hint="raise Limits.inflated or Limits.expand_ratio")
        return inflate(self.raw(member), member.size, member.name)

    def later(self) -> list[Finding]:
        """The findings that need every member: methods, checksums, local headers, members that overlap, case twins."""
        runs: list[tuple[int, int, str]] = []
        folded: dict[str, str] = {}
        members = [*self.members.values(), *self.shadowed]
        found = _told(members)
        for member in members:
            twin = folded.setdefault(member.name.lower(), member.name)
            if twin != member.name:
                found.append(Finding("zip-case", f"differs from {twin!r} by case only", member.name, member.offset))
            place = member.offset, member.name
            start = self._starts.get(place, -1)
            notes: list[Finding] = []
            try:
                if start < 0:  # else start() has looked at it, and noted what it found
                    start, notes = self.inspect(member)
            except FormatError as error:
                if error.part != member.name:  # the file itself: cut or replaced while it was open
                    raise
                code = "zip-beyond-end" if isinstance(error, TruncatedError) else "zip-local-header"
                found.append(Finding(code, error.message, member.name, member.offset))
            else:
                found.extend(notes)
                if not notes:
                    self._starts[place] = start
                runs.append((member.offset, start + member.packed, member.name))
        runs.sort()
        for (_, end, name), (offset, _, after) in pairwise(runs):
            if offset < end:
                found.append(Finding("zip-overlap", f"shares bytes with {name!r}", after, offset))
        return found


def _told(members: list[Member]) -> list[Finding]:
    """What the directory says of its members: methods that nobody reads, compression, encryption, no checksums."""
    odd = [member for member in members if not is_text(member.name)]
    found: list[Finding] = []
    if odd:
        text = f"{counted(len(odd), 'name', 'are')} no UTF-8, such as {odd[0].name[:80]!r}"
        found.append(Finding("zip-text", text, odd[0].name, odd[0].offset))
    for member in members:
        if member.flags & MASKED or member.marked & FOLDER:
            found += marks(member)
        if member.flags & (ENCRYPTED | PATCHED):
            found.append(Finding("zip-encrypted", "encrypted or a patch", member.name, member.offset))
        elif member.method not in (STORED, DEFLATED):
            found.append(Finding("zip-method", f"compression method {member.method}", member.name, member.offset))
        elif member.method == STORED and member.packed != member.size:
            text = f"stored, but its sizes differ: {member.packed:,} and {member.size:,}"
            found.append(Finding("zip-sizes", text, member.name, member.offset))
    deflated = [member.name for member in members if member.method == DEFLATED]
    if deflated:
        found.append(Finding("zip-deflated", f"{len(deflated):,} of {len(members):,} members are compressed", deflated[0]))
    bare = [member.name for member in members if member.size and not member.crc32]
    if bare:
        found.append(Finding("zip-crc-none", f"{len(bare):,} of {len(members):,} members have no checksum", bare[0]))
    return found
