"""What can be checked of a ZIP archive's members, to the byte: every local header, content, checksum and descriptor.

Knows: which fields are said twice and must agree, which have one right value, and which nobody can vouch for.
Refuses to know: the directory (zipentries.py) and what a member means. What finding the members has noted already is not said again here.

Members are looked at in the order of the file, small ones many at a time. Of members that share bytes only the first is read: an archive
may list the same bytes a million times.

Facts: APPNOTE.TXT 6.3.10; PyTorch 2.13 caffe2/serialize/inline_container.cc (the FB block of Zs, no descriptor behind an empty record).
"""

from __future__ import annotations

from collections import Counter
from struct import Struct
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ..errors import InertError
from ..finding import Finding
from .zipdirectory import DEFLATED, ENCRYPTED, FULL32, PATCHED, STORED
from .zipentries import DATA, FB, KINDS, SHOWN, ZIP64, blocks, more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..checking import Inspector
    from .zip import Zip
    from .zipentries import Row

    Hit = Callable[[str], tuple[str, ...]]

_LOCAL = Struct("<4s5H3I2H")  # a local header, 30 bytes
DESCRIPTOR, STREAMED = b"PK\7\10", 8  # a data descriptor's mark; the flag that says there is one
BATCH = 1 << 18  # bytes of small members that are read at once
PIECE = 1 << 18  # bytes inflated at once


class Look:
    """What looking at some members has given."""

    __slots__ = ("bare", "closed", "coded", "extras", "findings", "parts")

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.bare: list[tuple[int, int, str]] = []  # content without a checksum: offset, size, name
        self.closed: list[tuple[int, int, str]] = []  # content that is not read: encrypted, or of an unknown compression
        self.extras: list[tuple[int, int]] = []  # blocks of other programs
        self.coded: list[tuple[int, int]] = []  # deflated content
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
    where = archive.directory
    before = min(found[0].offset, where.offset) if found else where.offset  # an offset may be any number
    if found and before > 0 and not where.shift:
        yield Finding("zip-prefix", f"{before:,} bytes lie before the first member", archive.source.name, 0)
    if before > 0:
        inspector.note("bytes before the archive", archive.source.name, "", [(0, before)])
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
        whole.closed += look.closed
        whole.extras += look.extras
        whole.coded += look.coded
        inspector.read(0, look.parts)
    name = archive.source.name
    yield from more(kinds, name)
    for held, text in (
        (whole.bare, "records have no checksum: whoever wrote them computed none"),
        (whole.closed, "records are encrypted, or compressed in a way that is not read"),
    ):
        if held:
            tensors = tuple(dict.fromkeys(tensor for _, _, part in held for tensor in hit(part)))
            inspector.note(f"{len(held):,} of {len(found):,} {text}", name, held[0][2], [run[:2] for run in held], tensors)
    if whole.extras:
        inspector.note("extra blocks of local headers, which other programs wrote for themselves", name, "local headers", whole.extras)
    if whole.coded:
        inspector.coding(name, "deflated records", whole.coded)
    if shared:
        inspector.note(f"{len(shared):,} records that share bytes with others", name, shared[0].text, [(row.offset, 0) for row in shared])


def batches(archive: Zip, found: list[Row], shared: list[Row]) -> Iterator[list[Row]]:
    """Members in the order of the file: small ones together, each large one alone. Of what shares bytes only the first."""
    batch: list[Row] = []
    end = 0
    for row in found:
        if row.offset + 30 > archive.source.size:
            continue  # noted
        if row.offset < end:
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
        look.closed.append((start, row.packed, row.text))
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
            look.coded.append((start, row.packed))
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
