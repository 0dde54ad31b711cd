"""Entries of bundles as tensors: what the index says of each, and its Layout once somebody asks for it.

Knows: the usual entry at a glance (type and shape; the rest by one pattern), bounds, byte order, string tensors, slices put together.
Refuses to know: how the files are found. ``Bundle`` is asked for spans of shards and for other entries.
"""

from __future__ import annotations

from functools import partial
from math import prod

from ..errors import FormatError, InertError
from ..layout import Layout, Storage, check_logical, contiguous
from ..source import Span
from ..tensor import Tensor
from ..tiled import Box, tiled
from .messages import OPAQUE, TAIL, Entry, entry, number_of
from .slices import box_of, key_of, uncovered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, Protocol

    from ..dtypes import DType
    from ..limits import Limits
    from .messages import Extent

    class Bundle(Protocol):
        limits: Limits
        order: Literal["little", "big"]

        def place(self, shard: int, offset: int, size: int) -> tuple[str, str]:
            """(name of the shard's file, why these bytes are not in it)."""

        def span(self, shard: int, offset: int, size: int) -> Span: ...

        def raw(self, key: bytes) -> tuple[Bundle, bytes] | None:
            """The entry under a key, and the bundle it is of."""


SIZES = 16  # of which a head remembers whether they fit; a sound file has one


class Head:
    """What all entries of one type and shape have in common, which many have. ``fault``: why there can be no such tensor,
    ``fits``: why so many bytes can be none."""

    __slots__ = ("bundle", "cut", "dtype", "fault", "fits", "shape", "strides")

    def __init__(self, bundle: Bundle, found: Entry) -> None:
        self.bundle = bundle
        self.dtype = found.dtype
        self.shape = found.shape
        self.cut = found.shape[: bundle.limits.rank]  # of more dimensions than that nothing is computed
        self.strides = contiguous(self.cut)
        self.fault = found.fault
        self.fits: dict[int, str] = {}

    def wrong(self, size: int) -> str:
        """Why ``size`` bytes cannot be such a tensor."""
        known = self.fits.get(size)
        if known is None:
            known = self.fault or unfit(self.dtype, self.shape, size, self.bundle.limits)
            if len(self.fits) < SIZES:
                self.fits[size] = known
        return known


class Stored:
    """A tensor as its entry has it. Type and shape are known at once; ``layout()`` takes the rest apart. ``key`` is that of a tensor made
    of slices, whose keys are made from it."""

    __slots__ = ("dtype", "head", "key", "raw", "shape")

    def __init__(self, head: Head, raw: bytes, key: bytes = b"") -> None:
        self.head = head
        self.raw = raw
        self.key = key
        self.dtype = head.dtype
        self.shape = head.shape

    def entry(self) -> Entry:
        return entry(self.raw)

    def layout(self) -> Layout:
        head, place = self.head, quick(self.raw)
        if place is not None:
            return plain(head, *place)
        found = self.entry()
        return whole(head.bundle, self.key, found, [(head.bundle, found.slices)]) if found.slices else run(head.bundle, found)


class Joined(Stored):
    """A partitioned tensor of which several bundles have slices."""

    __slots__ = ("others",)
    others: list[tuple[Bundle, Entry]]

    def layout(self) -> Layout:
        found, bundle = self.entry(), self.head.bundle
        return whole(bundle, self.key, found, [(bundle, found.slices), *((one, its.slices) for one, its in self.others)])


def listed(bundle: Bundle, keys: list[bytes], values: list[bytes], heads: dict[bytes, Head]) -> list[Stored | FormatError]:
    """The tensors of many entries, in their order. ``heads``: what equal beginnings of entries were found to say."""
    made: list[Stored | FormatError] = []
    known, usual = heads.get, TAIL.fullmatch
    for key, raw in zip(keys, values, strict=True):
        if len(raw) > 4:
            size = 4 + raw[3]
            head = known(raw[:size])
            if head is not None and usual(raw, size):
                made.append(Stored(head, raw))
                continue
        try:
            made.append(stored(bundle, key, raw, heads))
        except FormatError as error:
            made.append(error)
    return made


def stored(bundle: Bundle, key: bytes, raw: bytes, heads: dict[bytes, Head]) -> Stored:
    """The tensor of an entry. FormatError where the bytes are none."""
    size = usual_head(raw)
    if size and TAIL.fullmatch(raw, size):
        found = entry(raw[:size])
        head = heads[raw[:size]] = Head(bundle, found)
        return Stored(head, raw)
    found = entry(raw)
    return Stored(Head(bundle, found), raw, key if found.slices else b"")


def usual_head(raw: bytes) -> int:
    """How many bytes of an entry are its type and shape, where these stand first and are short; else 0."""
    return 4 + raw[3] if len(raw) > 3 and raw[0] == 8 and raw[2] == 0x12 and raw[1] | raw[3] < 0x80 and len(raw) >= 4 + raw[3] else 0


def quick(raw: bytes) -> tuple[int, int, int, int] | None:
    """(shard, offset, size, checksum) of a usual entry, whose checksum stands last (0 where it has none); None for any other one."""
    size = usual_head(raw)
    match = TAIL.fullmatch(raw, size) if size else None
    if match is None:
        return None
    shard, offset, length, crc = match.groups()
    return number_of(shard), number_of(offset), number_of(length), int.from_bytes(raw[-4:], "little") if crc else 0


def run(bundle: Bundle, found: Entry) -> Layout:
    return plain(Head(bundle, found), found.shard, found.offset, found.size, found.crc)


def plain(head: Head, shard: int, offset: int, size: int, crc: int = 0) -> Layout:
    """The Layout of a tensor whose bytes lie in one run."""
    bundle, dtype, shape = head.bundle, head.dtype, head.cut
    name, missing = bundle.place(shard, offset, size)
    storage = Storage(f"{name}@{offset}", max(size, 0), dtype, "cpu", partial(bundle.span, shard, offset, size))
    storage.order = bundle.order
    storage.crc32c = crc
    made = Layout(dtype, shape, head.strides, 0, storage)
    wrong = head.wrong(size) or missing
    if wrong:
        made.fault = storage.fault = wrong
    if dtype == "string":
        made.kind = "strings"
        made.strings = lambda: strings(storage, prod(shape), bundle.order)
    elif not dtype.itemsize:
        made.kind = "opaque"
    return made


def strings(storage: Storage, count: int, order: Literal["little", "big"]) -> list[bytes]:
    from .strings import elements

    try:
        return elements(storage.span().read(), count, order)
    except InertError as error:
        error.part = error.part or storage.key
        raise


def unfit(dtype: DType, shape: tuple[int, ...], size: int | None, limits: Limits) -> str:
    """Why ``size`` bytes cannot be a tensor of this type and shape; "" where they can. None: as many as it takes."""
    if len(shape) > limits.rank:
        return f"{len(shape)} dimensions, more than {limits.rank}"
    most = max(dtype.itemsize, 1)
    for step in shape:
        most *= max(step, 1)
    if most >= 1 << 63:
        return "its size exceeds 64 bits"
    if not dtype.itemsize and dtype not in ("string", *OPAQUE):
        return f"TensorFlow has no {dtype}"
    if size is None or dtype in OPAQUE:
        return ""
    count = prod(shape)
    if dtype == "string":
        return f"{size:,} bytes cannot hold {count:,} strings" if size < count + 4 else ""
    wanted = count * dtype.itemsize
    return "" if size == wanted else f"{size:,} bytes are stored for {dtype}{list(shape)}, which takes {wanted:,}"


def assembled(
    dtype: DType, shape: tuple[int, ...], boxes: list[Box], name: str, wrong: str, limits: Limits, spelt: list[tuple[Extent, ...]]
) -> Layout:
    """The Layout of a tensor of slices, which are ``spelt`` so, refused for what is ``wrong`` with it, or with the slices together."""
    wrong = wrong or unfit(dtype, shape, None, limits) or uncovered(shape, [(box.offsets, box.shape) for box in boxes])
    if not wrong and not dtype.itemsize and dtype != "string":
        wrong = f"a partitioned tensor of {dtype} elements is not put together; see its components"
    made = tiled(dtype, shape[: limits.rank], boxes, name, limits)
    assert made.storage is not None
    made.fault = made.storage.fault = wrong or made.fault
    made.slices = tuple(spelt)
    if dtype == "string":  # which have no bytes but those of the slices
        made.kind, made.strings = "strings", partial(joined, shape, boxes, limits)
        made.storage.opener, made.storage.nbytes = None, sum(max(box.tensor.nbytes, 0) for box in boxes)
    return made


def joined(shape: tuple[int, ...], boxes: list[Box], limits: Limits) -> list[bytes]:
    """The strings of a partitioned tensor in row-major order. LimitError where slices that share bytes make far more of them."""
    import numpy as np

    parts = [box.tensor.layout.storage for box in boxes]
    behind = {span.source.name: span.source.size for part in parts if part is not None and part.opener for span in (part.span(),)}
    if behind:
        check_logical(sum(part.nbytes for part in parts if part is not None), sum(behind.values()), limits)
    made = np.empty(shape, object)
    for box in boxes:
        made[tuple(slice(at, at + size) for at, size in zip(box.offsets, box.shape, strict=True))] = box.tensor.numpy()
    held: list[bytes] = made.reshape(-1).tolist()
    return held


# -- partitioned tensors --------------------------------------------------------------------------------------------------------


def whole(bundle: Bundle, key: bytes, found: Entry, parts: list[tuple[Bundle, list[tuple[tuple[int, int], ...]]]]) -> Layout:
    """The Layout of a tensor that is put together from its slices, which are its components."""
    boxes, spelt, wrong = [], [], found.fault
    for home, slices in parts:
        for extents in slices:
            try:
                offsets, sizes = box_of(extents, found.shape)
                held = home.raw(key_of(key, extents))
                if held is None:
                    raise FormatError(f"its slice at {list(offsets)} has no entry in the index")
                layout = run(held[0], entry(held[1]))
            except InertError as error:
                wrong = wrong or error.message
                continue
            if layout.dtype != found.dtype or layout.shape != sizes:
                said = f"its slice at {list(offsets)} is {layout.dtype}{list(layout.shape)} where {found.dtype}{list(sizes)} was announced"
                wrong = wrong or said
            wrong = wrong or layout.fault
            boxes.append(Box(offsets, sizes, Tensor(layout, bundle.limits)))
            spelt.append(extents)
    return assembled(found.dtype, found.shape, boxes, key.decode("utf-8", "replace"), wrong, bundle.limits, spelt)
