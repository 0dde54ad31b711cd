"""What can be checked of a bundle: the blocks of its index, its data files, every tensor's checksum. Each check gives Findings.

Knows: what an index says that its data files must be like, and which failures together mean more than each alone.
Refuses to know: how a bundle is read (tf_bundle.py, tf_shards.py).

Facts: TensorFlow 2.21 tensor_bundle.cc, and bundles of TensorFlow 0.12 to 2.21.
"""

from __future__ import annotations

from math import prod

from ..containers import sstable
from ..containers.crc32c import crc32c, masked
from ..errors import InertError
from ..finding import Finding
from ..tensorflow.messages import entry
from ..tensorflow.strings import strings_crc, variants_crc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from ..source import Span
    from ..tensorflow.messages import Entry
    from .tf_bundle import TfBundle
    from .tf_shards import Bundle, Shard

MIXED = 3  # tensors whose checksums fail, that say more than that each is damaged
FAULTS = {"crc": "tf-block-crc", "block": "tf-block", "order": "tf-order", "overlap": "tf-index-overlap", "gap": "tf-index-gap"}


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
            yield Finding(
                "tf-shard-short", f"the index places bytes up to {end:,} in it; it has {shard.file.size:,}", shard.name, None, hit
            )
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


def tensor_checks(content: TfBundle, done: Callable[[int], None] | None = None) -> Iterator[Finding]:
    """Every tensor's checksum. Where most of a file's tensors fail, index and data are of two saves. Reads all data, in its order."""
    tried: dict[str, int] = {}
    failed: dict[str, list[Finding]] = {}
    for name, bundle, number, offset, size, raw in sorted(content.places(), key=lambda place: place[2:4]):
        shard, missing = bundle.place(number, offset, size)
        if missing:
            continue  # shard_checks says so
        tried[shard] = tried.get(shard, 0) + 1
        try:
            wrong = differs(bundle.span(number, offset, size), entry(raw), bundle.order)
        except InertError as error:
            wrong = error.message
        if wrong:
            failed.setdefault(shard, []).append(Finding("tf-tensor-crc", wrong, shard, offset, (name,)))
        if done is not None:
            done(size)
    for shard, found in failed.items():
        if len(found) < MIXED or 2 * len(found) <= tried[shard]:
            yield from found
            continue
        text = f"{len(found):,} of {tried[shard]:,} tensors in it do not have the checksums that the index has for them"
        yield Finding("tf-mixed-steps", text, shard, None, tuple(name for one in found for name in one.tensors))


def differs(span: Span, found: Entry, order: Literal["little", "big"]) -> str:
    """How stored bytes differ from the checksum of their entry; "" where they do not."""
    if found.dtype == "string":
        crc = strings_crc(span.read(), prod(found.shape), order)
    elif found.dtype == "variant":
        crc = variants_crc(span.read(), prod(found.shape), order)
    else:
        crc = 0
        for piece in span.chunks():
            crc = crc32c(piece, crc)
    return "" if masked(crc) == found.crc else f"the checksum of its bytes is {masked(crc):08x}, not {found.crc:08x}"
