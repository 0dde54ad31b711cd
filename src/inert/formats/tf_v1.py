"""tf-v1: what TensorFlow's Saver wrote before bundles, and still does where it is asked to: values inside the table itself.

Knows: one table or several shards, each with its own list of tensors and slices; how slices make whole tensors. The list alone is read to
open one; a tensor's values cost the block that they lie in. Floats are views of the mapped file, integers are unpacked from varints.
Refuses to know: what a message means (tensorflow/v1.py) and how a table is laid out (containers/sstable.py).

Facts: TensorFlow 2.21 util/tensor_slice_reader.cc, tensor_slice_writer.cc; checkpoints of TensorFlow 0.12 to 2.21.
"""

from __future__ import annotations

from functools import partial
from math import prod

from ..containers import sstable
from ..content import Content, Listing, Part
from ..errors import FormatError, InertError
from ..finding import Finding
from ..layout import Layout, Storage, contiguous
from ..source import BytesSource
from ..tensor import Tensor
from ..tensorflow.entries import assembled, unfit
from ..tensorflow.slices import box_of, decode, key_of, spelt
from ..tensorflow.v1 import LISTS, NUMBERS, TEXTS, Saved, meta, runs, tensor_proto, unpacked
from ..tiled import Box, whole
from .tf_checks import FAULTS
from .tf_places import V1, find
from .tf_shards import READS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..checking import Inspector
    from ..containers.sstableblock import Block
    from ..dtypes import DType
    from ..limits import Limits
    from ..source import Source, Span
    from ..tensorflow.messages import Extent
    from .tf_places import Place


def claims(source: Source, limits: Limits) -> Place | None:
    place = find(source, limits)
    return place if place is not None and place.kind == V1 else None


def read(source: Source, limits: Limits, claim: Place, byteorder: str | None) -> TfV1:
    try:
        return TfV1(source, claim, limits)
    except BaseException:
        if claim.folder is not None:
            claim.folder.close()
        raise


class Shard:
    """One table, with the tensors that it lists. ``fault``: why it is not read."""

    def __init__(self, name: str, file: Source, limits: Limits) -> None:
        self.name = name
        self.file = file
        self.table = sstable.Table(file, limits)
        raw = self.table.get(b"")
        if raw is None:
            raise FormatError("it has no list of tensors, the entry under the empty key", part=file.name)
        try:
            self.tensors, self.header = meta(raw)
        except FormatError as error:
            error.part = error.part or file.name
            raise


class Values:
    """The values of one slice: its type and shape as announced, its Layout once they are looked up."""

    __slots__ = ("dtype", "make", "shape")

    def __init__(self, dtype: DType, shape: tuple[int, ...], make: Callable[[], Layout]) -> None:
        self.dtype = dtype
        self.shape = shape
        self.make = make

    def layout(self) -> Layout:
        return self.make()


class TfV1(Content):
    format = "tf-v1"

    def __init__(self, source: Source, place: Place, limits: Limits) -> None:
        super().__init__(place.folder if place.folder is not None else source, limits)
        self.named = source
        self.place = place
        self.shards: list[Shard] = []
        self.odd: list[Finding] = []
        for stem in place.stems:
            self._open(stem)
        if not self.shards:
            raise FormatError(f"none of its {len(place.stems):,} files can be read: {self.odd[0].message}", part=self.odd[0].where.part)
        self._tensors: dict[str, Tensor] | None = None

    def _open(self, stem: str) -> None:
        try:
            file = self.place.file if self.place.file is not None and len(self.place.stems) == 1 else None
            if file is None:
                assert self.place.folder is not None
                file = self.place.folder.open(stem)
            self.shards.append(Shard(stem, file, self.limits))
        except FileNotFoundError:
            self.odd.append(Finding("tf-part-missing", "it is not there", stem))
        except InertError as error:
            if len(self.place.stems) == 1:
                raise
            self.odd.append(Finding("shard-unreadable", error.message, stem, error.offset))

    # -- tensors ----------------------------------------------------------------------------------------------------------------

    def tensors(self) -> dict[str, Tensor]:
        if self._tensors is None:
            merged: dict[str, tuple[Saved, list[tuple[Shard, tuple[Extent, ...]]]]] = {}
            for shard in self.shards:
                for saved in shard.tensors:
                    first, slices = merged.setdefault(saved.name, (saved, []))
                    if (first.dtype, first.shape) != (saved.dtype, saved.shape):
                        text = f"{saved.name[:200]!r} is {saved.dtype}{list(saved.shape)} there, {first.dtype}{list(first.shape)} elsewhere"
                        self.odd.append(Finding("tf-entry", text, shard.name, None, (saved.name,)))
                        continue
                    slices += [(shard, extents) for extents in saved.slices]
            self._tensors = {
                name: Tensor(Values(saved.dtype, saved.shape, partial(self._layout, saved, slices)), self.limits).place(name, (), name)
                for name, (saved, slices) in sorted(merged.items())
            }
        return self._tensors

    def _layout(self, saved: Saved, slices: list[tuple[Shard, tuple[Extent, ...]]]) -> Layout:
        wrong = saved.fault
        boxes, spelt = [], []
        for shard, extents in slices if len(saved.shape) <= self.limits.rank else ():
            try:
                offsets, sizes = box_of(extents, saved.shape)
            except FormatError as error:
                wrong = wrong or error.message
                continue
            make = partial(self._values, shard, saved, extents, sizes)
            boxes.append(Box(offsets, sizes, Tensor(Values(saved.dtype, sizes, make), self.limits)))
            spelt.append(extents)
        if not wrong and len(boxes) == 1 and whole(boxes[0], saved.shape) and not unfit(saved.dtype, saved.shape, None, self.limits):
            return boxes[0].tensor.layout
        return assembled(saved.dtype, saved.shape, boxes, saved.name, wrong, self.limits, spelt)

    def _values(self, shard: Shard, saved: Saved, extents: tuple[Extent, ...], sizes: tuple[int, ...]) -> Layout:
        """The Layout of one slice; one with a fault where its values are not there or too few."""
        dtype, count = saved.dtype, prod(sizes)
        name = f"{shard.name}:{saved.name}"
        storage = Storage(name, count * dtype.itemsize, dtype, "cpu", None)
        made = Layout(dtype, sizes, contiguous(sizes), 0, storage)
        made.kind = "strings" if dtype == "string" else "dense"
        try:
            key = key_of(saved.name.encode("utf-8", "surrogateescape"), extents)
            found = shard.table.find(key)
            if found is None:
                raise FormatError("its values have no entry in the table")
            block, start, end = found
            first, last = tensor_proto(block.data, start, end)
            kind, pieces = runs(block.data, first, last, dtype)
            if kind == TEXTS:
                held = [bytes(block.data[at:stop]) for at, stop in pieces]
                storage.nbytes, made.strings = sum(map(len, held)), lambda: held
                wrong = "" if len(held) == count else f"{len(held):,} strings for the shape {list(sizes)}"
            else:
                storage.opener = partial(_span, shard, block, kind, pieces, dtype, count)
                wrong = _amiss(block, kind, pieces, dtype, count)
        except InertError as error:
            wrong = error.message
        made.fault = storage.fault = wrong
        return made

    # -- what a checkpoint is asked -----------------------------------------------------------------------------------------------

    def listing(self) -> Listing:
        return Listing(self.tensors(), [])

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        return {name: tensor if convert is None else convert(tensor) for name, tensor in self.tensors().items()}, []

    def profile(self) -> dict[str, Any]:
        from .tf_profile import profile

        head = self.shards[0].header
        facts = {
            "writer": f"a TensorFlow of graph version {head.producer} (readers of {head.min_consumer} and later)",
            "files": [shard.name for shard in self.shards],
        }
        return profile(self.tensors(), [], False, facts)

    def parts(self) -> dict[str, Part]:
        made = {shard.name: Part(shard.name, shard.file.name, 0, shard.file.size, "shard") for shard in self.shards}
        for shard in self.shards:
            for key, block, start, end in shard.table.entries([]):
                name, extents = decode(key) or (key or b"(list of tensors)", ())
                text = str(name, "utf-8", "surrogateescape")
                if any(length >= 0 for _, length in extents):
                    text += f"[{spelt(extents)}]"
                offset = block.base + start if block.base >= 0 else None
                part = Part(text, shard.file.name, offset, end - start, "storage" if key else "index")
                made[text if text not in made else f"{shard.name}:{text}"] = part
        return made

    def metadata(self) -> dict[str, str]:
        return {"byteorder": "little", "shards": str(len(self.shards)), **self.shards[0].header.told()}

    def checks(self) -> tuple[Any, ...]:
        return (values,)

    def notes(self) -> list[Finding]:
        self.tensors()
        found = [*self.place.notes, *self.odd]
        for shard in self.shards:
            found += table_checks(shard)
        return found

    def close(self) -> None:
        super().close()
        self.named.close()
        for shard in self.shards:
            shard.file.close()


# -- values -----------------------------------------------------------------------------------------------------------------------


def _amiss(block: Block, kind: str, pieces: list[tuple[int, int]], dtype: DType, count: int) -> str:
    """Why the values cannot be so many elements, as far as their bytes tell without being read; "" where they may be."""
    size = sum(stop - at for at, stop in pieces)
    if kind == NUMBERS:  # one to ten bytes each
        return "" if count <= size <= 10 * count else f"{size:,} bytes cannot be {count:,} numbers"
    return "" if size == count * dtype.itemsize else f"{size:,} bytes of values for {count:,} elements of {dtype}"


def _span(shard: Shard, block: Block, kind: str, pieces: list[tuple[int, int]], dtype: DType, count: int) -> Span:
    """The elements: where they lie in the file, where that is as they are; else a copy of them."""
    if kind != NUMBERS and len(pieces) == 1 and (found := shard.table.span(block, *pieces[0])) is not None:
        return found
    raw = b"".join(bytes(block.data[at:stop]) for at, stop in pieces)
    made = unpacked(raw, dtype) if kind == NUMBERS else raw
    if len(made) != count * dtype.itemsize:
        raise FormatError(f"{len(made) // dtype.itemsize:,} numbers for {count:,} elements", part=shard.name)
    return BytesSource(made, shard.name).span()


# -- checks -----------------------------------------------------------------------------------------------------------------------


def table_checks(shard: Shard) -> Iterator[Finding]:
    """Version, order of keys, checksums and places of blocks. Reads the whole file: the values lie in it."""
    head = shard.header
    if head.min_consumer > READS:
        yield Finding("tf-header", f"it asks for readers of version {head.min_consumer}", shard.name)
    faults: list[sstable.Fault] = []
    for _ in shard.table.entries(faults):
        pass
    for fault in (*faults, *sstable.checksums(shard.table), *sstable.layout(shard.table)):
        yield Finding(FAULTS[fault.code], fault.message, shard.name, fault.offset)


def values(content: TfV1, inspector: Inspector) -> Iterator[Finding]:
    """Whether the numbers of every tensor come out: they lie in the blocks, whose checksums ``table_checks`` has looked at."""
    for name, tensor in content.tensors().items():
        if tensor.fault or LISTS.get(tensor.dtype, ("", ""))[1] != NUMBERS:
            continue  # of others, the sizes were compared when they were listed
        try:
            for _ in tensor.chunks():
                pass
        except InertError as error:
            yield Finding("tensor-damaged", error.message, name, None, (name,))
    for shard in content.shards:
        inspector.read(shard.file.size, 3 + len(shard.table.handles))
