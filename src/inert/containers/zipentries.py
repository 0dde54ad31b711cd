"""What can be checked of a ZIP archive's directory and end records, to the byte.

Knows: which fields are said twice and must agree, which have one right value, and which nobody can vouch for.
Refuses to know: the members themselves (zipcheck.py). What finding them has noted already (zip.py, zipdirectory.py) is not said again here.

Facts: APPNOTE.TXT 6.3.10; PyTorch 2.13 caffe2/serialize/inline_container.cc (zero dates and attributes).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from struct import Struct, unpack_from

from ..finding import Finding
from .folder import unsafe
from .zipdirectory import ENCRYPTED, FULL16, FULL32, MASKED, PATCHED, member_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..checking import Inspector
    from .zip import Zip
    from .zipdirectory import Members

_ROW = Struct("<4s6H3I5H2I")  # an entry of the directory, 46 bytes
_END = Struct("<4s4H2IH")
_LOCATOR = Struct("<4sIQI")
_END64 = Struct("<4sQ2H2I4Q")
END, END64, LOCATOR = 22, 56, 20
MINIZ = 0x031E  # by what PyTorch's library says the ZIP64 end record was made, where it says 0 of every member
TAIL = 1 << 17  # bytes at the end in which further end records are looked for
KNOWN_FLAGS = 0x080E  # descriptor, UTF-8 names, the two bits of deflate's effort
ZIP64, FB = 1, 0x4246  # kinds of extra blocks: long sizes, PyTorch's padding
KINDS = {  # of other programs; the content of these blocks is theirs to check
    0x000A, 0x000D, 0x0017, 0x5455, 0x5855, 0x5A4C, 0x6375, 0x7075, 0x7855, 0x7875, 0x9901, 0xCAFE, 0xD935, 0xA220,
}  # fmt: skip
DATA = ("zip-crc", "zip-inflate")  # findings that name tensors: all of them are given
SHOWN = 100  # members that a finding of one kind is made for


class Row:
    """An entry of the directory with all of its fields."""

    __slots__ = (
        "attributes", "comment", "crc", "date", "disk", "extra", "flags", "made", "method", "name", "needed", "offset", "packed", "place",
        "size", "time", "until", "wide",
    )  # fmt: skip

    def __init__(self, members: Members, place: int) -> None:
        data = members.data
        _, made, needed, flags, method, time, date, crc, packed, size, n, x, c, disk, inner, outer, offset = _ROW.unpack_from(data, place)
        self.place = place
        self.name = data[place + 46 : place + 46 + n]
        self.extra = data[place + 46 + n : place + 46 + n + x]
        self.comment = c
        self.made, self.needed, self.flags, self.method, self.time, self.date = made, needed, flags, method, time, date
        self.crc, self.disk, self.attributes = crc, disk, (inner, outer)
        self.wide = FULL32 in (packed, size, offset)
        if self.wide:
            size, packed, offset = _wide(self.extra, size, packed, offset)
        self.packed, self.size, self.offset = packed, size, members.real(offset)
        self.until = 0  # where the next member, or the directory, begins

    @property
    def text(self) -> str:
        return member_name(self.name)


def _wide(extra: bytes, *fields: int) -> tuple[int, ...]:
    """Size, packed size and offset with the values of the ZIP64 block in the place of saturated ones."""
    block = next((body for kind, _, body in blocks(extra) if kind == ZIP64), b"")
    values = [int.from_bytes(block[at : at + 8], "little") for at in range(0, len(block) - 7, 8)]
    return tuple(values.pop(0) if field == FULL32 and values else field for field in fields)


def blocks(extra: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(kind, where the content begins, content) of the blocks of an extra field; kind -1 for what is none."""
    at = 0
    while at < len(extra):
        if at + 4 > len(extra):
            yield -1, at, extra[at:]
            return
        kind, length = unpack_from("<2H", extra, at)
        if at + 4 + length > len(extra):
            yield -1, at, extra[at:]
            return
        yield kind, at + 4, extra[at + 4 : at + 4 + length]
        at += 4 + length


def rows(archive: Zip) -> list[Row]:
    """Every entry of the directory, those hidden behind a later one of the same name included, in the order of the file."""
    found, at = [], 0
    for _ in range(len(archive.members) + len(archive.shadowed)):
        row = Row(archive.members, at)
        found.append(row)
        at += 46 + len(row.name) + len(row.extra) + row.comment
    found.sort(key=lambda row: row.offset)
    end = archive.directory.offset
    for row, after in pairwise(found):
        row.until = after.offset if row.offset > end else min(after.offset, end)
    if found:
        found[-1].until = max(end, found[-1].offset)
    return found


# -- the directory ----------------------------------------------------------------------------------------------------------------


def entries(archive: Zip, found: list[Row], inspector: Inspector) -> Iterator[Finding]:
    """Names, disks, flags and extra blocks of the directory's entries, and those that another program has added."""
    start, unknown, comments = archive.directory.offset, [], []
    faults: Counter[str] = Counter()
    for row in found:
        for code, text in _entry(row):
            faults[code] += 1
            if faults[code] <= SHOWN:
                yield Finding(code, text, row.text, start + row.place)
        base = start + row.place + 46 + len(row.name)
        unknown += [(base + at, len(body)) for kind, at, body in blocks(row.extra) if kind not in (-1, ZIP64) and body]
        if row.comment:
            comments.append((base + len(row.extra), row.comment))
    name = archive.source.name
    yield from more(faults, name)
    if unknown:
        inspector.note("extra blocks of the directory, which other programs wrote for themselves", name, "directory", unknown)
    if comments:
        inspector.note("comments of members", name, "directory", comments)
    yield from _strangers(archive, found, inspector)
    inspector.read(len(archive.members.data), 1)


def _entry(row: Row) -> Iterator[tuple[str, str]]:
    name = row.text
    wrong = unsafe(name.rstrip("/"))
    if wrong:
        yield "zip-name", f"the name {name[:80]!r} is no plain one: {wrong}"
    if row.disk:
        yield "zip-disk", f"it should lie on disk {row.disk:,}"
    if row.flags & ~(KNOWN_FLAGS | ENCRYPTED | PATCHED | MASKED):
        yield "zip-flags", f"flags {row.flags:#06x}"
    kinds = [kind for kind, _, _ in blocks(row.extra)]
    if -1 in kinds:
        yield "zip-extra", "its extra field does not come out in the directory"
    odd = [kind for kind in kinds if kind not in KINDS and kind not in (-1, ZIP64, FB)]
    if odd:
        yield "zip-extra", f"an extra block of the unknown kind {odd[0]:#06x} in the directory"
    if row.wide and ZIP64 not in kinds:
        yield "zip-sizes", "its size or place is said to be in a ZIP64 block, and there is none"


def _strangers(archive: Zip, found: list[Row], inspector: Inspector) -> Iterator[Finding]:
    """Entries that differ from the others in what no reader looks at: who made them, and attributes."""
    plain = [row for row in found if not row.name.endswith(b"/")]
    usual = Counter((row.made, *row.attributes) for row in plain).most_common(1)
    strange = [row for row in plain if (row.made, *row.attributes) != usual[0][0]]
    if strange:
        text = f"{len(strange):,} of {len(plain):,} members differ in version and attributes, such as {strange[0].text[:80]!r}"
        yield Finding("zip-strangers", text, strange[0].text, archive.directory.offset + strange[0].place)
    alone = plain if len(plain) == 1 else []
    lone = [row for row in found if row.name.endswith(b"/")] + alone
    if lone:
        start = archive.directory.offset
        runs = [run for row in lone for run in ((start + row.place + 4, 2), (start + row.place + 36, 6))]
        inspector.note("who made folder entries and a lone member, and their attributes", archive.source.name, "directory", runs)


def more(kinds: Counter[str], name: str) -> Iterator[Finding]:
    """That there are more findings of a kind than were given."""
    for code, count in kinds.items():
        if count > SHOWN and code not in DATA:
            yield Finding(code, f"and {count - SHOWN:,} more members like this", name)


def ends(archive: Zip, found: list[Row], inspector: Inspector) -> Iterator[Finding]:
    """The end records: every field that is said once only, and that there is one set of them."""
    where, source = archive.directory, archive.source
    end, behind = where.record, where.record + END
    tail_at = max(where.end, source.size - TAIL)
    tail = source.read(tail_at, source.size - tail_at)
    _, *disks, here, count, _, _, _ = _END.unpack(source.read(end, END))
    if any(disk not in (0, FULL16) for disk in disks) or here != count:
        text = f"the end record is of disks {disks[0]:,} and {disks[1]:,}, and counts {here:,} of {count:,} members"
        yield Finding("zip-end", text, source.name, end)
    before = source.read(max(0, end - LOCATOR), min(LOCATOR, end))
    if before[:4] == b"PK\6\7":
        _, disk, place, disks = _LOCATOR.unpack(before)
        if disk or disks != 1 or where.end not in (place, place + where.shift):
            text = f"the locator has the ZIP64 end record at {place:,} on disk {disk:,} of {disks:,}; it is at {where.end:,}"
            yield Finding("zip-end", text, source.name, end - LOCATOR)
        record = source.read(where.end, min(END64, source.size - where.end))
        if record[:4] == b"PK\6\6":
            _, size, made, needed, *disks = _END64.unpack(record)[:6]
            if size != end - LOCATOR - where.end - 12:
                yield Finding("zip-end", f"the ZIP64 end record says that it has {size:,} bytes", source.name, where.end)
            if any(disks):
                yield Finding("zip-end", f"the ZIP64 end record is of disks {disks[0]:,} and {disks[1]:,}", source.name, where.end)
            if needed != 45:
                yield Finding("zip-end", f"the ZIP64 end record asks for version {needed}", source.name, where.end)
            if made != MINIZ and found and not any(row.made for row in found):
                text = f"the ZIP64 end record was made by version {made:#06x}, and the members were not"
                yield Finding("zip-strangers", text, source.name, where.end)
            elif made != MINIZ:
                inspector.note("the version that the ZIP64 end record was made by", source.name, "end records", [(where.end + 12, 2)])
    comment = min(where.comment, source.size - behind)
    if comment:
        inspector.note("the archive's comment", source.name, "end records", [(behind, comment)])
    if behind + comment < source.size:
        inspector.note("bytes behind the archive", source.name, "", [(behind + comment, source.size - behind - comment)])
    if tail.count(b"PK\5\6") > 1:
        yield Finding("zip-end", "there are several end records; readers differ on which of them counts", source.name, end)
