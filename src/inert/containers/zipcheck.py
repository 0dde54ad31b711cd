"""What can be checked of a ZIP archive, to the byte: its directory, its end records, and every member's header, content and descriptor.

Knows: which fields are said twice and must agree, which have one right value, and which nobody can vouch for.
Refuses to know: what a member means. What finding the members has noted already (zip.py, zipdirectory.py) is not said again here.

Members are looked at in the order of the file, small ones many at a time. Of members that share bytes only the first is read: an archive
may list the same bytes a million times.

Facts: APPNOTE.TXT 6.3.10; PyTorch 2.13 caffe2/serialize/inline_container.cc (the FB block of Zs, zero dates and attributes).
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from struct import Struct, unpack_from
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ..errors import InertError
from ..finding import Finding
from .folder import unsafe
from .zipdirectory import DEFLATED, ENCRYPTED, FULL16, FULL32, PATCHED, STORED, member_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..checking import Inspector
    from .zip import Zip

    Hit = Callable[[str], tuple[str, ...]]

_ROW = Struct("<4s6H3I5H2I")  # an entry of the directory, 46 bytes
_LOCAL = Struct("<4s5H3I2H")  # a local header, 30 bytes
_END = Struct("<4s4H2IH")
_LOCATOR = Struct("<4sIQI")
_END64 = Struct("<4sQ2H2I4Q")
END, END64, LOCATOR = 22, 56, 20
DESCRIPTOR, STREAMED = b"PK\7\10", 8  # a data descriptor's mark; the flag that says there is one
MINIZ = 0x031E  # by what PyTorch's library says the ZIP64 end record was made, where it says 0 of every member
TAIL = 1 << 17  # bytes at the end in which further end records are looked for
KNOWN_FLAGS = 0x080E  # descriptor, UTF-8 names, the two bits of deflate's effort
ZIP64, FB = 1, 0x4246  # kinds of extra blocks: long sizes, PyTorch's padding
KINDS = {  # of other programs; the content of these blocks is theirs to check
    0x000A, 0x000D, 0x0017, 0x5455, 0x5855, 0x5A4C, 0x6375, 0x7075, 0x7855, 0x7875, 0x9901, 0xCAFE, 0xD935, 0xA220,
}  # fmt: skip
BATCH = 1 << 18  # bytes of small members that are read at once
PIECE = 1 << 18  # bytes inflated at once
DATA = ("zip-crc", "zip-inflate")  # findings that name tensors: all of them are given
SHOWN = 100  # members that a finding of one kind is made for


class Row:
    """An entry of the directory with all of its fields."""

    __slots__ = (
        "attributes", "comment", "crc", "date", "disk", "extra", "flags", "made", "method", "name", "needed", "offset", "packed", "place",
        "size", "time", "until", "wide",
    )  # fmt: skip

    def __init__(self, data: bytes, place: int, shift: int) -> None:
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
        self.packed, self.size, self.offset = packed, size, offset + shift
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
    data, shift, found, at = archive.members.data, archive.members.shift, [], 0
    for _ in range(len(archive.members) + len(archive.shadowed)):
        row = Row(data, at, shift)
        found.append(row)
        at += 46 + len(row.name) + len(row.extra) + row.comment
    found.sort(key=lambda row: row.offset)
    for row, after in pairwise(found):
        row.until = after.offset
    if found:
        found[-1].until = max(archive.directory.offset, found[-1].offset)
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
    if row.flags & ~(KNOWN_FLAGS | ENCRYPTED | PATCHED):
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
    end = source.size - where.trailing - where.comment - END
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
            _, size, made, needed, *_ = _END64.unpack(record)
            if size != end - LOCATOR - where.end - 12:
                yield Finding("zip-end", f"the ZIP64 end record says that it has {size:,} bytes", source.name, where.end)
            if needed != 45:
                yield Finding("zip-end", f"the ZIP64 end record asks for version {needed}", source.name, where.end)
            if made != MINIZ and found and not any(row.made for row in found):
                text = f"the ZIP64 end record was made by version {made:#06x}, and the members were not"
                yield Finding("zip-strangers", text, source.name, where.end)
            elif made != MINIZ:
                inspector.note("the version that the ZIP64 end record was made by", source.name, "end records", [(where.end + 12, 2)])
    if where.comment:
        inspector.note("the archive's comment", source.name, "end records", [(end + END, where.comment)])
    if where.trailing:
        inspector.note("bytes behind the archive", source.name, "", [(source.size - where.trailing, where.trailing)])
    if tail.count(b"PK\5\6") > 1:
        yield Finding("zip-end", "there are several end records; readers differ on which of them counts", source.name, end)


# -- members ----------------------------------------------------------------------------------------------------------------------


class Look:
    """What looking at some members has given."""

    __slots__ = ("bare", "extras", "filler", "findings", "parts")

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.bare: list[tuple[int, int, str]] = []  # content without a checksum: offset, size, name
        self.extras: list[tuple[int, int]] = []  # blocks of other programs
        self.filler: list[tuple[int, int]] = []  # last bytes of deflated content
        self.parts = 0


class Region:
    """The file, with some of it read already."""

    __slots__ = ("data", "offset", "source")

    def __init__(self, archive: Zip, offset: int, data: memoryview) -> None:
        self.source = archive.source
        self.offset = offset
        self.data = data

    def read(self, offset: int, length: int) -> bytes:
        at = offset - self.offset
        if at >= 0 and at + length <= len(self.data):
            return bytes(self.data[at : at + length])
        return self.source.read(offset, max(0, min(length, self.source.size - offset)))

    def held(self, offset: int, length: int) -> memoryview | None:
        at = offset - self.offset
        return self.data[at : at + length] if at >= 0 and at + length <= len(self.data) else None


def records(archive: Zip, found: list[Row], inspector: Inspector, hit: Hit) -> Iterator[Finding]:
    """Every member's local header, content, checksum and descriptor, and the bytes between members. One pass over the file."""
    shared: list[Row] = []
    whole = Look()
    kinds: Counter[str] = Counter()
    if found and found[0].offset > 0 and not archive.directory.shift:
        yield Finding("zip-prefix", f"{found[0].offset:,} bytes lie before the first member", archive.source.name, 0)
    if archive.directory.shift or (found and found[0].offset):
        inspector.note("bytes before the archive", archive.source.name, "", [(0, found[0].offset if found else archive.directory.offset)])
    work = batches(archive, found, shared)
    for look in inspector.each(lambda batch: looked(archive, batch, inspector), work):
        for one in look.findings:
            kinds[one.code] += 1
            if one.code in DATA:
                one.tensors = hit(one.where.part)
            elif kinds[one.code] > SHOWN:
                continue
            yield one
        whole.bare += look.bare
        whole.extras += look.extras
        whole.filler += look.filler
        inspector.read(0, look.parts)
    name = archive.source.name
    yield from more(kinds, name)
    if whole.bare:
        text = f"{len(whole.bare):,} of {len(found):,} records have no checksum: whoever wrote them computed none"
        tensors = tuple(dict.fromkeys(tensor for _, _, part in whole.bare for tensor in hit(part)))
        inspector.note(text, name, whole.bare[0][2], [run[:2] for run in whole.bare], tensors)
    if whole.extras:
        inspector.note("extra blocks of local headers, which other programs wrote for themselves", name, "local headers", whole.extras)
    if whole.filler:
        inspector.note("up to seven filler bits at the end of each deflated record", name, "deflated records", whole.filler)
    if shared:
        inspector.note(f"{len(shared):,} records that share bytes with others", name, shared[0].text, [(row.offset, 0) for row in shared])


def batches(archive: Zip, found: list[Row], shared: list[Row]) -> Iterator[list[Row]]:
    """Members in the order of the file: small ones together, each large one alone. Of what shares bytes only the first."""
    batch: list[Row] = []
    end = 0
    for row in found:
        if row.offset < end or row.offset + 30 > archive.source.size:
            shared.append(row)
            continue
        end = row.offset + 30 + row.packed
        if end > archive.source.size:  # noted; what follows it is looked at all the same
            end = row.offset + 30
        large = row.until - row.offset > BATCH or end - row.offset > BATCH
        if batch and (large or row.until - batch[0].offset > BATCH):
            yield batch
            batch = []
        batch.append(row)
        if large:
            yield batch
            batch = []
    if batch:
        yield batch


def looked(archive: Zip, batch: list[Row], inspector: Inspector) -> Look:
    look = Look()
    first, last = batch[0].offset, min(max(batch[-1].until, batch[-1].offset), archive.source.size)
    data = inspector.buffer()[: last - first] if last - first <= BATCH else memoryview(b"")
    if data:
        archive.source.readinto(first, data)
        inspector.read(len(data))
    region = Region(archive, first, data)
    for row in batch:
        _member(archive, row, region, inspector, look)
    return look


def _member(archive: Zip, row: Row, region: Region, inspector: Inspector, look: Look) -> None:
    name, size = row.text, archive.source.size
    head = region.read(row.offset, 30)
    if head[:4] != b"PK\3\4":
        return  # noted: it has no local header

    def found(code: str, text: str, offset: int) -> None:
        look.findings.append(Finding(code, text, name, offset))

    _, needed, flags, _, time, date, crc, packed, length, n, x = _LOCAL.unpack(head)
    start = row.offset + 30 + n + x
    end = start + row.packed
    if end > size:
        return  # noted: it ends beyond the file
    said = [
        ("version", needed, row.needed),
        ("flags", flags & ~0x61, row.flags & ~0x61),
        ("time", time, row.time),
        ("date", date, row.date),
    ]
    sizes = [("crc", crc, row.crc), ("size", packed, row.packed), ("length", length, row.size)]
    if flags & STREAMED:
        if any(here not in (0, FULL32) for _, here, _ in sizes):  # all of them are said there, or none
            said += [fact for fact in sizes if fact[1] != FULL32]
    else:
        said += [fact for fact in sizes if not fact[1]]
    odd = [f"{what} {here}, directory {there}" for what, here, there in said if here != there]
    if odd:
        found("zip-local-fields", f"local header: {'; '.join(odd)}", row.offset)
    _extra(region.read(row.offset + 30 + n, x), row.offset + 30 + n, found, look)
    look.parts += 1
    _content(archive, row, start, region, inspector, look, found)
    end += _descriptor(row, end, region, (flags | row.flags) & STREAMED, found)
    if end > archive.directory.offset >= row.offset:
        found("zip-overlap", "it reaches into the directory", row.offset)
    elif end < row.until:
        hidden = b"PK\3\4" in region.read(end, min(row.until - end, BATCH))
        text = f"{row.until - end:,} bytes behind it belong to no member"
        found("zip-gap", text + (", and there are members in them that the directory does not list" if hidden else ""), end)


def _extra(extra: bytes, offset: int, found: Callable[[str, str, int], None], look: Look) -> None:
    """PyTorch's padding must be all Z; of other blocks the kind is looked at, and that they come out."""
    for kind, at, body in blocks(extra):
        if kind == FB:
            if body.count(b"Z") != len(body):
                found("zip-extra", "the padding in front of it is not what PyTorch writes", offset + at)
        elif kind == -1:
            if body.count(0) == len(body):  # zipalign's own padding
                continue
            found("zip-extra", "the extra field of its local header does not come out", offset + at)
        elif kind not in KINDS and kind != ZIP64:
            found("zip-extra", f"an extra block of the unknown kind {kind:#06x}", offset + at - 4)
            look.extras.append((offset + at, len(body)))
        elif body:
            look.extras.append((offset + at, len(body)))


def _content(
    archive: Zip, row: Row, start: int, region: Region, inspector: Inspector, look: Look, found: Callable[[str, str, int], None]
) -> None:
    if row.flags & (ENCRYPTED | PATCHED) or row.method not in (STORED, DEFLATED):
        look.bare.append((start, row.packed, row.text))
        return  # noted
    if row.method == STORED and row.packed != row.size:
        return  # noted
    if not row.crc and row.size and row.method == STORED:
        look.bare.append((start, row.packed, row.text))
        return
    held = region.held(start, row.packed)
    wrong, crc = "", 0
    try:
        if row.method == DEFLATED:
            crc, wrong = _inflated(archive, row, start, inspector)
            look.filler.append((start + row.packed - 1, 1))
            if not row.crc and row.size:
                look.bare.append((start, row.packed, row.text))
                crc = 0
        elif held is not None:
            from isal.isal_zlib import crc32

            crc = crc32(held)
        else:
            crc = inspector.crc32(archive.source.span(start, row.packed))
    except InertError as error:
        found("zip-inflate", error.message, start)
        return
    if wrong:
        found("zip-inflate", wrong, start)
    elif crc != row.crc:
        after = region.read(start + row.packed, 8)
        agrees = after[:4] == DESCRIPTOR and int.from_bytes(after[4:8], "little") == crc
        text = f"its {row.size:,} bytes have the CRC-32 {crc:08x}, and the directory says {row.crc:08x}"
        found("zip-crc", text + ("; the descriptor behind them agrees with the bytes: the directory is damaged" if agrees else ""), start)


def _inflated(archive: Zip, row: Row, start: int, inspector: Inspector) -> tuple[int, str]:
    """(CRC-32 of deflated content, what is wrong with it)."""
    if row.size > archive.limits.inflated:
        return 0, f"it would grow to {row.size:,} bytes, more than Limits.inflated"
    from isal.isal_zlib import crc32

    engine, made, crc = decompressobj(-MAX_WBITS), 0, 0
    span = archive.source.span(start, row.packed)
    try:
        for piece in span.chunks(PIECE):
            inspector.read(len(piece))
            if engine.eof:
                return 0, "bytes follow its deflated data"
            out = piece
            while out or piece:
                out = engine.decompress(piece, min(PIECE, row.size - made + 1))
                made, crc, piece = made + len(out), crc32(out, crc), engine.unconsumed_tail
                if made > row.size:
                    return 0, f"its deflated data grows to more than the {row.size:,} bytes it promises"
    except ZlibError as error:
        return 0, f"its deflated data is damaged ({error})"
    if made != row.size or not engine.eof or engine.unused_data:
        return (
            0,
            f"its deflated data gives {made:,} of {row.size:,} bytes"
            if made != row.size
            else "its deflated data does not end where it should",
        )
    return crc, ""


def _descriptor(row: Row, end: int, region: Region, streamed: int, found: Callable[[str, str, int], None]) -> int:
    """Bytes of the data descriptor behind a member, which must say what the directory says."""
    if not streamed:
        return 0
    room = max(row.until - end, 0)
    data = region.read(end, min(room, 24))
    if not data and not row.size:
        return 0
    for mark in (DESCRIPTOR, b""):
        for width in (8, 4):
            wanted = mark + row.crc.to_bytes(4, "little") + row.packed.to_bytes(width, "little") + row.size.to_bytes(8, "little")[:width]
            if data.startswith(wanted):
                return len(wanted)
    if not row.size and data[:4] != DESCRIPTOR:
        return 0  # PyTorch writes none behind an empty record
    found("zip-descriptor", "the data descriptor behind it does not say what the directory says", end)
    return room if room in (12, 16, 20, 24) else 0
