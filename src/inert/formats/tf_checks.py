"""What can be checked of a bundle: the blocks of its index, its data files, every tensor's checksum. Each check gives Findings.

Knows: what an index says that its data files must be like, and which failures together mean more than each alone.
Refuses to know: how a bundle is read (tf_bundle.py, tf_shards.py).

Facts: TensorFlow 2.21 tensor_bundle.cc, and bundles of TensorFlow 0.12 to 2.21.
"""

from __future__ import annotations

from math import prod

from ..checking import PIECE, Inspector, Tally, runs_outside
from ..containers import sstable
from ..containers.crc32c import crc32c, masked
from ..errors import InertError
from ..finding import Finding
from ..tensorflow.messages import entry
from ..tensorflow.strings import strings_crc, variants_crc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from ..source import Span
    from ..tensorflow.messages import Entry
    from .tf_bundle import TfBundle
    from .tf_shards import Bundle, Shard

MIXED = 3  # tensors whose checksums fail, that say more than that each is damaged
FAULTS = {
    "crc": "tf-block-crc",
    "block": "tf-block",
    "order": "tf-order",
    "overlap": "tf-index-overlap",
    "gap": "tf-index-gap",
    "footer": "tf-footer",
}
TOGETHER = 1 << 20  # bytes of small tensors that are read at once …
MANY = 256  # … and how many of them one thread takes


def index_checks(bundle: Bundle) -> Iterator[Finding]:
    """Checksums and places of the blocks of an index."""
    for fault in (*sstable.checksums(bundle.table), *sstable.layout(bundle.table)):
        yield Finding(FAULTS[fault.code], fault.message, bundle.name, fault.offset)


def shard_checks(content: TfBundle) -> Iterator[Finding]:
    """What of each data file is not as the index says: missing, short, longer than its last tensor, or with tensors that share bytes."""
    runs: dict[tuple[Bundle, int], list[tuple[int, int, str]]] = {}
    for name, bundle, number, offset, size, _ in content.places():
        if 0 <= number < bundle.header.shards:
            runs.setdefault((bundle, number), []).append((offset, size, name))
    for (bundle, number), held in runs.items():
        shard = bundle.shard(number)
        if shard.file is None or shard.missing:
            if bundle.folder is None:
                yield Finding("tf-index-alone", "the data of its tensors cannot be reached", bundle.name)
            else:
                names = tuple(name for _, _, name in held)
                text = f"{shard.missing}: {len(names):,} tensor{'s' * (len(names) != 1)}, {sum(size for _, size, _ in held):,} bytes"
                yield Finding("tf-shard-missing", text, shard.name, None, names)
            continue
        held.sort()
        yield from _shared(shard, held)
        end = max(offset + size for offset, size, _ in held)
        if end > shard.file.size:
            hit = tuple(name for offset, size, name in held if offset + size > shard.file.size)
            size = shard.file.size
            yield Finding("tf-shard-short", f"the index places bytes up to {end:,} in it; it has {size:,}", shard.name, size, hit)
        elif end < shard.file.size:
            yield Finding("tf-shard-long", f"its last tensor ends at byte {end:,} of {shard.file.size:,}", shard.name, end)


def _shared(shard: Shard, held: list[tuple[int, int, str]]) -> Iterator[Finding]:
    """Tensors that lie over others; ``held`` is sorted."""
    end, owner = 0, ""
    for offset, size, name in held:
        if size > 0 and offset < end:
            yield Finding("tf-overlap", f"{name[:200]!r} lies over the bytes of {owner[:200]!r}", shard.name, offset, (owner, name))
        if offset + size > end:
            end, owner = offset + size, name


def data(content: TfBundle, inspector: Inspector) -> Iterator[Finding]:
    """What ``tensor_checks`` says, and the bytes of the data files that belong to no tensor."""
    yield from tensor_checks(content, inspector)
    held: dict[tuple[Bundle, int], list[tuple[int, int]]] = {}
    for _, bundle, number, offset, size, _ in content.places():
        if 0 <= number < bundle.header.shards:
            held.setdefault((bundle, number), []).append((offset, offset + size))
    for (bundle, number), runs in held.items():
        shard = bundle.shard(number)
        if shard.file is not None and not shard.missing:
            yield from _between(shard, runs, inspector)
    for bundle in content.bundles:
        inspector.read(bundle.file.size, 2 + len(bundle.table.handles))


def _between(shard: Shard, runs: list[tuple[int, int]], inspector: Inspector) -> Iterator[Finding]:
    """What lies between tensors aligns the next one: zeros (BundleWriter's PadAlignment), and nothing else."""
    file, rest = shard.file, []
    assert file is not None
    last = max(end for _, end in runs)
    for offset, size in runs_outside(runs, 0, file.size):
        if offset >= last:
            rest.append((offset, size))  # shard_checks says so
            continue
        for at in range(offset, offset + size, PIECE):
            piece = file.read(at, min(PIECE, offset + size - at))
            inspector.read(len(piece))
            if piece.count(0) != len(piece):
                place = at + len(piece) - len(piece.lstrip(b"\0"))
                yield Finding("tf-gap", f"{size:,} bytes between two tensors belong to none, and are not zeros", shard.name, place)
                rest.append((offset, size))
                break
    if rest:
        inspector.note("bytes that belong to no tensor", file.name, shard.name, rest)


def tensor_checks(content: TfBundle, inspector: Inspector | None = None) -> Iterator[Finding]:
    """Every tensor's checksum. Where most of a file's tensors fail, index and data are of two saves. Reads all data, in its order."""
    inspector = inspector or Inspector(Tally(1, None), dict)
    tried: dict[str, int] = {}
    failed: dict[str, list[Finding]] = {}
    for found in inspector.each(lambda batch: batch.differing(inspector), batches(content, tried, inspector)):
        for one in found:
            failed.setdefault(one.where.part, []).append(one)
    for shard, found in failed.items():
        if len(found) < MIXED or 2 * len(found) <= tried[shard]:
            yield from found
            continue
        text = f"{len(found):,} of {tried[shard]:,} tensors in it do not have the checksums that the index has for them"
        yield Finding("tf-mixed-steps", text, shard, None, tuple(name for one in found for name in one.tensors))


class Batch:
    """Tensors of one data file that are read together: (name, offset, size, entry) each."""

    __slots__ = ("bundle", "end", "number", "shard", "start", "tensors")

    def __init__(self, bundle: Bundle, number: int, shard: str, start: int) -> None:
        self.bundle = bundle
        self.number = number
        self.shard = shard
        self.start = self.end = start
        self.tensors: list[tuple[str, int, int, bytes]] = []

    def add(self, name: str, offset: int, size: int, raw: bytes) -> None:
        self.tensors.append((name, offset, size, raw))
        self.end = max(self.end, offset + size)

    def differing(self, inspector: Inspector) -> list[Finding]:
        bundle, whole = self.bundle, b""
        if self.end - self.start <= TOGETHER:
            whole = bundle.span(self.number, self.start, self.end - self.start).read()
        found = []
        for name, offset, size, raw in self.tensors:
            try:
                one = entry(raw)
                if whole and one.dtype not in ("string", "variant"):
                    wrong = compared(crc32c(whole[offset - self.start : offset - self.start + size]), one)
                else:
                    wrong = differs(bundle.span(self.number, offset, size), one, bundle.order)
            except InertError as error:
                wrong = error.message
            if wrong:
                found.append(Finding("tf-tensor-crc", wrong, self.shard, offset, (name,)))
            inspector.read(size, 1)
        return found


def batches(content: TfBundle, tried: dict[str, int], inspector: Inspector) -> Iterator[Batch]:
    """All tensors in the order of their bytes, small ones together. ``tried`` counts those of each data file."""
    order = {bundle: number for number, bundle in enumerate(content.bundles)}
    batch: Batch | None = None
    last: dict[str, int] = {}  # where the tensors of a data file end so far …
    spare: dict[str, int] = {}  # … and how many bytes of it may be read twice: an index can place any number of tensors on the same ones
    for name, bundle, number, offset, size, raw in sorted(content.places(), key=lambda place: (order[place[1]], *place[2:4])):
        shard, missing = bundle.place(number, offset, size)
        if missing:
            continue  # shard_checks says so
        if size > 0 and offset < last.get(shard, 0):
            file = bundle.shards[number].file
            spare[shard] = spare.get(shard, file.size if file is not None else 0) - size
            if spare[shard] < 0:
                inspector.note("a tensor that lies over others", shard, name, [(offset, size)], (name,))
                continue
        last[shard] = max(last.get(shard, 0), offset + size)
        tried[shard] = tried.get(shard, 0) + 1
        if batch is not None and (
            (batch.bundle, batch.number) != (bundle, number)
            or max(batch.end, offset + size) - batch.start > TOGETHER
            or len(batch.tensors) >= MANY
        ):
            yield batch
            batch = None
        batch = batch or Batch(bundle, number, shard, offset)
        batch.add(name, offset, size, raw)
    if batch is not None:
        yield batch


def differs(span: Span, found: Entry, order: Literal["little", "big"]) -> str:
    """How stored bytes differ from the checksum of their entry; "" where they do not."""
    if found.dtype == "string":
        crc = strings_crc(span.read(), prod(found.shape), order)
    elif found.dtype == "variant":
        crc = variants_crc(span.read(), prod(found.shape), order)
    else:
        crc = 0
        for piece in span.chunks(PIECE):
            crc = crc32c(piece, crc)
    return compared(crc, found)


def compared(crc: int, found: Entry) -> str:
    """How a checksum differs from that of an entry; "" where it does not."""
    return "" if masked(crc) == found.crc else f"the checksum of its bytes is {masked(crc):08x}, not {found.crc:08x}"
