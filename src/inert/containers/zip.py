"""The ZIP container as PyTorch writes and reads it: names → members → Spans.

Knows: end records, ZIP64, the central directory (the truth), local headers (where the bytes begin), stored and deflated members.
Refuses to know: what a member means, and to unpack anything to disk under a name that the file chose.

Facts: APPNOTE.TXT 6.3.10 for the structures; PyTorch's writer leaves local sizes zero and pads with an ``FB`` extra field, its reader
looks only at the central directory, which is why that is the truth here and a local header that disagrees is a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from struct import Struct, unpack_from
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ..errors import FormatError, LimitError, TruncatedError, UnsupportedError
from ..finding import Finding
from ..source import BytesSource, Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..limits import Limits

STORED, DEFLATED = 0, 8
ENCRYPTED, PATCHED = 0x1, 0x20
FULL16, FULL32 = 0xFFFF, 0xFFFFFFFF
IN_MEMORY = 64 << 20  # a larger inflated member goes to an unnamed temporary file

_END = Struct("<4s4H2IH")  # end of central directory, 22 bytes
_LOCATOR = Struct("<4sIQI")  # ZIP64 locator, 20 bytes
_END64 = Struct("<4sQ2H2I4Q")  # ZIP64 end of central directory, 56 bytes
_ENTRY = Struct("<4H3I5H2I").unpack_from  # a central directory entry from its byte 8 on: flags, method …
_STORED = Struct("<2H8x2I2xH10xI").unpack_from  # the same, of a small entry: flags, method, sizes, extra length, offset
_SIZE = Struct("<I").unpack_from
_LENGTHS = Struct("<3H").unpack_from  # name, extra and comment length of a central directory entry, at its byte 28
_SHORT = Struct("<2H").unpack_from  # two fields of a local header: flags and method at 6, name and extra length at 26
_LOCAL = Struct("<4s5H3I2H")  # local header, 30 bytes


class Member:
    """One row of the central directory. Offsets and sizes in bytes; ``offset`` is that of the local header."""

    __slots__ = ("crc32", "flags", "method", "name", "offset", "packed", "size")

    def __init__(self, name: str, offset: int, packed: int, size: int, crc32: int, method: int, flags: int) -> None:
        self.name = name
        self.offset = offset
        self.packed = packed
        self.size = size
        self.crc32 = crc32
        self.method = method
        self.flags = flags


class Members(Mapping[str, Member]):
    """The members by name, in directory order; of equal names the last. Kept as places in the directory's bytes: few are looked at."""

    def __init__(self, data: bytes, shift: int) -> None:
        self.data = data
        self.shift = shift
        self.places: dict[str, int] = {}

    def __getitem__(self, name: str) -> Member:
        return self.at(name, self.places[name])

    def at(self, name: str, place: int) -> Member:
        """The member whose directory entry is at ``place``."""
        flags, method, _, _, crc, packed, size, n, x, *_, offset = _ENTRY(self.data, place + 8)
        if x and FULL32 in (packed, size, offset):
            size, packed, offset = _zip64(self.data[place + 46 + n : place + 46 + n + x], size, packed, offset)
        return Member(name, offset + self.shift, packed, size, crc, method, flags)

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def size(self, name: str) -> int | None:
        """The size of a member's content, or None."""
        place = self.places.get(name)
        if place is None:
            return None
        size: int = _SIZE(self.data, place + 24)[0]
        return size if size != FULL32 else self[name].size


class Directory:
    """Where the central directory lies and how many entries the end records promise."""

    __slots__ = ("comment", "count", "end", "notes", "offset", "shift", "size", "trailing")

    def __init__(self, offset: int, size: int, count: int, shift: int, end: int, comment: int, trailing: int) -> None:
        self.offset = offset  # of the directory in the source, shift included
        self.size = size
        self.count = count
        self.shift = shift  # bytes before the archive, that its own offsets do not count
        self.end = end  # offset of the first end record: where the directory should stop
        self.comment = comment
        self.trailing = trailing
        self.notes: list[Finding] = []


class Zip:
    """An opened archive: ``members`` by name in directory order (of equal names the last), ``notes``, and Spans on demand."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.directory = find_directory(source)
        self.notes = self.directory.notes
        self.shadowed: list[Member] = []  # members hidden behind a later one of the same name
        self.members = self._parse()
        self._starts: dict[str, int] = {}
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
                name = _name(raw)
                if name in places:
                    self._shadow(members.at(name, places.pop(name)))
                places[name] = position
                seen += 1
                position += entry.size
        self._count(seen, position, data)
        return members

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

    def start(self, member: Member) -> int:
        """Offset of the member's first byte, from its local header; disagreements with the directory become notes, once."""
        if member.name not in self.members or self.members[member.name].offset != member.offset:  # hidden behind a later one
            return self.inspect(member)[0]
        known = self._starts.get(member.name)
        if known is None:
            known, findings = self.inspect(member)
            self.notes.extend(findings)
            self._starts[member.name] = known
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
            raise TruncatedError(text, part=member.name, offset=member.offset, hint="the file is cut short or its headers are damaged")
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
            found.append(Finding("zip-local-name", f"the local header calls it {_name(name)[:80]!r}", member.name, member.offset))
        return start, found

    def raw(self, member: Member) -> Span:
        """The member's bytes as they lie in the file, compressed or not."""
        return Span(self.source, self.start(member), member.packed)

    def content(self, name: str) -> Span:
        """The content of the member called ``name``."""
        flags, method, packed, size, x, offset = _STORED(self.members.data, self.members.places[name] + 8)
        offset += self.members.shift
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
            try:
                start, notes = self.inspect(member)
            except FormatError as error:
                if error.part != member.name:  # the file itself: cut or replaced while it was open
                    raise
                code = "zip-beyond-end" if isinstance(error, TruncatedError) else "zip-local-header"
                found.append(Finding(code, error.message, member.name, member.offset))
            else:
                if member.name not in self._starts or self.members[member.name].offset != member.offset:  # else start() has noted it
                    found.extend(notes)
                runs.append((member.offset, start + member.packed, member.name))
        runs.sort()
        for (_, end, name), (offset, _, after) in pairwise(runs):
            if offset < end:
                found.append(Finding("zip-overlap", f"shares bytes with {name!r}", after, offset))
        return found


def _told(members: list[Member]) -> list[Finding]:
    """What the directory says of its members: methods that nobody reads, compression, encryption, no checksums."""
    found = []
    for member in members:
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


def inflate(packed: Span, size: int, name: str) -> Span:
    """Inflate raw deflate data that promises ``size`` bytes; never makes more. FormatError where it is damaged or lies."""
    source: Source
    if size <= IN_MEMORY:
        out = bytearray()
        _inflate_into(out.extend, packed, size, name)
        source = BytesSource(bytes(out), name)
    else:
        from ..scratch import written

        source = written(lambda write: _inflate_into(write, packed, size, name), name)
    return source.span()


def _inflate_into(write: Callable[[bytes], Any], packed: Span, size: int, name: str) -> None:
    engine, made = decompressobj(-MAX_WBITS), 0
    try:
        for piece in packed.chunks():
            while not engine.eof:
                data = engine.decompress(piece, min(1 << 20, size - made + 1))
                made += len(data)
                if made > size:
                    raise FormatError(f"inflates to more than the {size:,} bytes it promises", part=name, offset=packed.offset)
                write(data)
                piece = engine.unconsumed_tail
                if not data and not piece:  # nothing is held back: more input is wanted
                    break
    except ZlibError as error:
        raise FormatError(f"its deflated data is damaged ({error})", part=name, offset=packed.offset) from None
    if made != size or not engine.eof:
        raise TruncatedError(f"inflates to {made:,} of {size:,} bytes", part=name, offset=packed.offset)


def _name(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "surrogateescape")


def _zip64(extra: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """Replace saturated 32-bit fields by the 8-byte values of extra block 0x0001, in the order APPNOTE gives."""
    position = 0
    while position + 4 <= len(extra):
        kind, length = unpack_from("<2H", extra, position)
        block = extra[position + 4 : position + 4 + length]
        if kind == 1:
            values = [int.from_bytes(block[i : i + 8], "little") for i in range(0, len(block) - 7, 8)]
            fields = [size, packed, offset]
            for i, field in enumerate(fields):
                if field == FULL32 and values:
                    fields[i] = values.pop(0)
            return fields[0], fields[1], fields[2]
        position += 4 + length
    return size, packed, offset


def find_directory(source: Source) -> Directory:
    """Locate the central directory by the end records, trying end signatures from the back. FormatError where there is none."""
    for window in (4096, FULL16 + 22 + 65536):  # the longest comment, and as much behind the archive as torch tolerates
        tail_at = max(0, source.size - window)
        tail = source.read(tail_at, source.size - tail_at)
        if tail.find(b"PK\5\6", 0, -18) >= 0:  # a whole end record is 22 bytes
            break
    at = len(tail)
    fault: FormatError | None = None
    for _ in range(16):  # a comment may hold false signatures; a few tries are enough for any real file
        at = tail.rfind(b"PK\5\6", 0, at + 3 if at < len(tail) else at)
        if at < 0:
            break
        if at + 22 <= len(tail):
            try:
                return _directory(source, tail, tail_at, at)
            except FormatError as error:
                fault = fault or error
    if fault:
        raise fault
    raise TruncatedError("no end-of-archive record", part=source.name, offset=source.size, hint="the file is cut short; get it again")


def _directory(source: Source, tail: bytes, tail_at: int, at: int) -> Directory:
    _, disk, cd_disk, n_here, count, size, offset, comment = _END.unpack_from(tail, at)
    end, narrow, notes = tail_at + at, (count, size, offset), []
    wide = _zip64_end(source, tail, tail_at, at)
    if wide:
        end, disk, cd_disk, n_here, count, size, offset = wide
        if any(n not in (w, FULL16 if i == 0 else FULL32) for i, (n, w) in enumerate(zip(narrow, (count, size, offset), strict=True))):
            text = f"end records disagree: {narrow} and, in ZIP64, {(count, size, offset)} (members, size, offset)"
            notes.append(Finding("zip-count", text, source.name, end))
    if disk or cd_disk or n_here != count:
        raise FormatError("the archive is spread over several disks", part=source.name, offset=end)
    if size > end:
        raise FormatError(f"its directory would be {size:,} bytes long", part=source.name, offset=end, hint="the end record is damaged")
    shift = _shift(source, offset, size, end, count)
    trailing = max(0, len(tail) - (at + 22 + comment))
    found = Directory(offset + shift, size, count, shift, end, comment, trailing)
    found.notes = notes + _around(source, found)
    return found


def _zip64_end(source: Source, tail: bytes, tail_at: int, at: int) -> tuple[int, int, int, int, int, int, int] | None:
    if at < 20 or not tail.startswith(b"PK\6\7", at - 20):
        return None
    _, _, offset, _ = _LOCATOR.unpack_from(tail, at - 20)
    for place in (offset, tail_at + at - 20 - 56):  # where the locator says, or right before it (bytes before the archive)
        if 0 <= place <= source.size - 56:
            record = source.read(place, 56)
            if record[:4] == b"PK\6\6":
                _, _, _, _, disk, cd_disk, n_here, count, size, start = _END64.unpack(record)
                return place, disk, cd_disk, n_here, count, size, start
    return None


def _shift(source: Source, offset: int, size: int, end: int, count: int) -> int:
    """0 where the directory lies at its absolute offset (what torch believes), else how far bytes before the archive moved it."""
    if not count and not size:
        return 0
    if offset + 4 <= source.size and source.read(offset, 4) == b"PK\1\2":
        return 0
    moved = end - size - offset
    if moved > 0 and source.read(end - size, 4) == b"PK\1\2":
        return moved
    raise FormatError(f"no central directory at offset {offset:,}", part=source.name, offset=end, hint="the end record is damaged")


def _around(source: Source, where: Directory) -> list[Finding]:
    found = []
    gap = where.end - (where.offset + where.size)
    if where.shift:
        found.append(Finding("zip-prefix", f"{where.shift:,} bytes lie before the archive", source.name, 0))
    elif gap:
        text = f"{abs(gap):,} bytes {'lie between' if gap > 0 else 'are shared by'} the directory and its end record"
        found.append(Finding("zip-count", text, source.name, where.end))
    if where.trailing:
        text = f"{where.trailing:,} bytes follow the archive"
        found.append(Finding("zip-trailing", text, source.name, source.size - where.trailing))
    if where.comment:
        found.append(Finding("zip-comment", f"a comment of {where.comment:,} bytes", source.name, source.size - where.comment))
    return found
