"""The central directory of a ZIP archive: where it lies, and its entries as Members.

Knows: end records, ZIP64 records and extra blocks, bytes before and behind the archive, the fields of an entry.
Refuses to know: local headers and the members' bytes (zip.py).

Facts: APPNOTE.TXT 6.3.10; PyTorch's reader looks only at the central directory, which is why that is the truth here.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct, unpack_from

from ..errors import FormatError, TruncatedError
from ..finding import Finding
from ..words import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..source import Source

STORED, DEFLATED = 0, 8
ENCRYPTED, PATCHED, MASKED = 0x1 | 0x40, 0x20, 0x2000  # by either method; the last: the directory itself is encrypted
UNREAD = ENCRYPTED | PATCHED | MASKED
FOLDER = 0x10  # external attribute, of DOS
FULL16, FULL32 = 0xFFFF, 0xFFFFFFFF

_END = Struct("<4s4H2IH")  # end of central directory, 22 bytes
_LOCATOR = Struct("<4sIQI")  # ZIP64 locator, 20 bytes
_END64 = Struct("<4sQ2H2I4Q")  # ZIP64 end of central directory, 56 bytes
_ENTRY = Struct("<4H3I5H2I").unpack_from  # a central directory entry from its byte 8 on: flags, method …
_PLAIN = Struct("<2H8x2I2xH2xH2x2I").unpack_from  # flags, method, sizes, extra length, disk, external attributes, offset
_SIZE = Struct("<I").unpack_from


class Member:
    """One row of the central directory. Offsets and sizes in bytes; ``offset`` is that of the local header."""

    __slots__ = ("crc32", "disk", "flags", "marked", "method", "name", "offset", "packed", "size", "time")

    def __init__(
        self, name: str, offset: int, packed: int, size: int, crc32: int, method: int, flags: int, rest: tuple[int, int, int] = (0, 0, 0)
    ) -> None:
        self.name = name
        self.offset = offset
        self.packed = packed
        self.size = size
        self.crc32 = crc32
        self.method = method
        self.flags = flags
        self.time, self.disk, self.marked = rest  # of day; that it is said to begin on; external attributes


class Members(Mapping[str, Member]):
    """The members by name, in directory order; of equal names the last. Kept as places in the directory's bytes: few are looked at."""

    def __init__(self, data: bytes, shift: int) -> None:
        self.data = data
        self.shift = shift
        self.since = 0  # offsets from here on are shifted: all, where the bytes lie before the archive
        self.places: dict[str, int] = {}

    def __getitem__(self, name: str) -> Member:
        return self.at(name, self.places[name])

    def at(self, name: str, place: int) -> Member:
        """The member whose directory entry is at ``place``."""
        flags, method, time, _, crc, packed, size, n, x, _, disk, _, marked, offset = _ENTRY(self.data, place + 8)
        if x and FULL32 in (packed, size, offset):
            size, packed, offset = _zip64(self.data[place + 46 + n : place + 46 + n + x], size, packed, offset)
        return Member(name, self.real(offset), packed, size, crc, method, flags, (time, disk, marked))

    def real(self, offset: int) -> int:
        """Where in the source an offset of the directory's is. One that would lie before the source stays as it is said."""
        return offset + self.shift if offset >= self.since and offset + self.shift >= 0 else offset

    def rename(self, names: dict[str, str]) -> None:
        """Call members by other names from now on; the file is as it was."""
        self.places = {names.get(name, name): place for name, place in self.places.items()}

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

    def stored(self, name: str) -> tuple[int, int] | None:
        """(offset of the local header, size) of a stored member with small fields and nothing odd; else None."""
        place = self.places.get(name)
        if place is None:
            return None
        flags, method, packed, size, x, disk, marked, offset = _PLAIN(self.data, place + 8)
        odd = x or disk or method != STORED or packed != size or FULL32 in (size, offset) or flags & UNREAD or marked & FOLDER
        return None if odd else (self.real(offset), size)


def marks(member: Member) -> Iterator[Finding]:
    """What its entry in the directory says that torch stumbles over, and inert does not: it refuses the archive, or reads nothing."""
    if member.flags & MASKED:
        yield Finding("zip-masked", "the directory says of itself that it is encrypted", member.name, member.offset)
    if member.marked & FOLDER and member.size:
        yield Finding("zip-folder", f"{member.size:,} bytes that are marked as a folder", member.name, member.offset)


class Directory:
    """Where the central directory lies and how many entries the end records promise."""

    __slots__ = ("comment", "count", "end", "notes", "offset", "record", "shift", "size")

    def __init__(self, offset: int, size: int, count: int, shift: int, end: int, record: int, comment: int) -> None:
        self.offset = offset  # of the directory in the source, shift included
        self.size = size
        self.count = count
        self.shift = shift  # bytes before the archive, or put into it (less than 0: taken out of it), that its own offsets do not count
        self.end = end  # offset of the first end record: where the directory should stop
        self.record = record  # offset of the end record of 22 bytes
        self.comment = comment  # bytes behind it that it takes for a comment; more than there are where it is damaged
        self.notes: list[Finding] = []


def member_name(raw: bytes) -> str:
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
    empty: Directory | None = None  # a record that promises nothing counts only where no other promises more
    for _ in range(16):  # a comment may hold false signatures; a few tries are enough for any real file
        at = tail.rfind(b"PK\5\6", 0, at + 3 if at < len(tail) else at)
        if at < 0:
            break
        if at + 22 <= len(tail):
            try:
                found = _directory(source, tail, tail_at, at)
                if found.count or found.size:
                    return found
                empty = empty or found
            except FormatError as error:
                fault = fault or error
    if empty:
        return empty
    if fault:
        raise fault
    raise TruncatedError("no end-of-archive record", part=source.name, offset=source.size, hint="the file is cut short; get it again")


def _directory(source: Source, tail: bytes, tail_at: int, at: int) -> Directory:
    _, disk, cd_disk, n_here, count, size, offset, comment = _END.unpack_from(tail, at)
    end, narrow, notes = tail_at + at, (count, size, offset), []
    wide = _zip64_end(source, tail, tail_at, at, offset)
    if wide:
        end, disk, cd_disk, n_here, count, size, offset = wide
        full = [n == (FULL16 if i == 0 else FULL32) for i, n in enumerate(narrow)]
        fits = [w < (FULL16 if i == 0 else FULL32) for i, w in enumerate((count, size, offset))]
        # some writers fill up all three as soon as one does not fit; one that fits, filled up alone, is of no writer
        if any(n != w and not (f and (all(full) or not s)) for n, w, f, s in zip(narrow, (count, size, offset), full, fits, strict=True)):
            text = f"end records disagree: {narrow} and, in ZIP64, {(count, size, offset)} (members, size, offset)"
            notes.append(Finding("zip-count", text, source.name, end))
    if (disk, cd_disk) not in ((0, 0), (1, 1)) or n_here != count:  # as torch has it
        raise FormatError("the archive is spread over several disks", part=source.name, offset=end)
    if size > end:
        raise FormatError(
            f"its directory would be {size:,} bytes long",
            part=source.name,
            offset=end,
            hint="the end record is damaged: get the file again",
        )
    shift = _shift(source, offset, size, end, count)
    found = Directory(offset + shift, size, count, shift, end, tail_at + at, comment)
    found.notes = notes + _around(source, found)
    return found


def _zip64_end(source: Source, tail: bytes, tail_at: int, at: int, start: int) -> tuple[int, int, int, int, int, int, int] | None:
    if at < 20 or not tail.startswith(b"PK\6\7", at - 20):
        return None
    _, _, offset, _ = _LOCATOR.unpack_from(tail, at - 20)
    # where the locator says; or right before it, where bytes before the archive make it and the end record's own offset wrong
    shifted = start + 4 > source.size or source.read(start, 4) != b"PK\1\2"
    for place in (offset, tail_at + at - 20 - 56)[: 1 + shifted]:
        if 0 <= place <= source.size - 56:
            record = source.read(place, 56)
            if record[:4] == b"PK\6\6":
                _, _, _, _, disk, cd_disk, n_here, count, size, start = _END64.unpack(record)
                return place, disk, cd_disk, n_here, count, size, start
    return None


def _shift(source: Source, offset: int, size: int, end: int, count: int) -> int:
    """0 where the directory lies at its absolute offset (what torch believes), else how far bytes before it moved it: more, or less."""
    if not count and not size:
        return 0
    if offset + 4 <= source.size and source.read(offset, 4) == b"PK\1\2":
        return 0
    moved = end - size - offset
    if moved and moved > -source.size and source.read(end - size, 4) == b"PK\1\2":
        return moved
    raise FormatError(
        f"no central directory at offset {offset:,}", part=source.name, offset=end, hint="the end record is damaged: get the file again"
    )


def _around(source: Source, where: Directory) -> list[Finding]:
    found = []
    gap = where.end - (where.offset + where.size)
    if gap and not where.shift:
        text = f"{abs(gap):,} bytes {'lie between' if gap > 0 else 'are shared by'} the directory and its end record"
        found.append(Finding("zip-count", text, source.name, where.end))
    behind = where.record + 22
    trailing = source.size - behind - where.comment
    if trailing < 0:
        text = f"its comment would reach {counted(-trailing, 'byte')} beyond the end of the file"
        found.append(Finding("zip-end", text, source.name, where.record + 20))
    if trailing > 0:
        found.append(Finding("zip-trailing", f"{counted(trailing, 'byte', 'follow')} the archive", source.name, source.size - trailing))
    if where.comment:
        found.append(Finding("zip-comment", f"a comment of {counted(where.comment, 'byte')}", source.name, behind))
    return found
