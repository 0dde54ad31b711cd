"""Tensors in tiles: one tensor whose elements lie in several others, each a box of it or a run of its elements.

Knows: how any run of the whole tensor's bytes is gathered from the boxes, or from the runs of flat tensors, that it touches; nothing else
of them is read, and memory is bounded by the run that is asked for.
Refuses to know: where the boxes and runs come from. Boxes that leave a gap give FormatError, where the gap is read.

Units: offsets and shapes of boxes count elements, as the whole tensor's shape does.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import prod

from .errors import FormatError
from .layout import PIECE, Layout, Storage, check_logical, contiguous, reach
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .dtypes import DType
    from .limits import Limits
    from .source import Span
    from .tensor import Tensor


class Box:
    """A tensor that holds the elements of the whole one from ``offsets``, ``shape`` of them along each dimension."""

    __slots__ = ("offsets", "shape", "tensor")

    def __init__(self, offsets: tuple[int, ...], shape: tuple[int, ...], tensor: Tensor) -> None:
        self.offsets = offsets
        self.shape = shape
        self.tensor = tensor


def fault(shape: tuple[int, ...], boxes: list[Box]) -> str:
    """Why boxes cannot make a tensor of this shape; "" where they may. That none overlap is seen when the gaps they leave are read."""
    for box in boxes:
        if len(box.offsets) != len(shape) or len(box.shape) != len(shape):
            return f"a chunk of {len(box.shape)} dimensions in a tensor of {len(shape)}"
        if any(at < 0 or size < 0 or at + size > most for at, size, most in zip(box.offsets, box.shape, shape, strict=True)):
            return f"a chunk at {list(box.offsets)} of shape {list(box.shape)} reaches beyond the shape {list(shape)}"
    held, wanted = sum(prod(box.shape) for box in boxes), prod(shape)
    return "" if held == wanted else f"its chunks hold {held:,} elements of {wanted:,}"


def geometry(dtype: DType, shape: tuple[int, ...], limits: Limits) -> str:
    """Why there can be no tensor of this type and shape; "" where there can."""
    if len(shape) > limits.rank:
        return f"{len(shape)} dimensions, more than {limits.rank}"
    size = dtype.itemsize
    for step in shape:
        if step < 0:
            return "a negative size"
        size *= max(step, 1)
    return "its size exceeds 64 bits" if size >= 1 << 63 else ""


def tiled(dtype: DType, shape: tuple[int, ...], boxes: list[Box], name: str, limits: Limits) -> Layout:
    """The Layout of a tensor of ``boxes``, which are its components under their offsets. Reads nothing."""
    storage = Storage(name, prod(shape) * dtype.itemsize, dtype, "cpu", lambda: Tiles(dtype, shape, boxes, name, limits).span())
    made = Layout(dtype, shape, contiguous(shape), 0, storage)
    made.kind = "tiled"
    made.components = {",".join(map(str, box.offsets)): box.tensor for box in boxes}
    made.boxes = {",".join(map(str, box.offsets)): (box.offsets, box.shape) for box in boxes}
    made.fault = storage.fault = fault(shape, boxes)
    return made


class Tiles(Source):
    """The contiguous bytes of a tensor of boxes, gathered when they are read."""

    __slots__ = ("boxes", "depth", "dtype", "limits", "shape")

    def __init__(self, dtype: DType, shape: tuple[int, ...], boxes: list[Box], name: str, limits: Limits) -> None:
        super().__init__(name, prod(shape) * dtype.itemsize)
        self.dtype = dtype
        self.shape = shape
        self.boxes = boxes
        self.limits = limits
        # the dimension along which runs are cut: the first whose rows fit a piece
        self.depth = next((i for i in range(len(shape)) if prod(shape[i + 1 :]) * dtype.itemsize <= PIECE), max(len(shape) - 1, 0))

    def _read(self, offset: int, length: int) -> bytes:
        width = prod(self.shape[self.depth + 1 :]) * self.dtype.itemsize  # bytes of a row
        first, last = offset // width, -(-(offset + length) // width)
        pieces, row = [], first
        while row < last:
            index = self._index(row)
            count = min(last - row, (self.shape[self.depth] if self.shape else 1) - (index[-1] if index else 0))
            pieces.append(self._rows(index, count))
            row += count
        whole = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        start = offset - first * width
        return whole if not start and len(whole) == length else whole[start : start + length]

    def _index(self, row: int) -> tuple[int, ...]:
        """The position of a row along the dimensions down to ``depth``."""
        steps = []
        for size in reversed(self.shape[: self.depth + 1]):
            row, step = divmod(row, size)
            steps.append(step)
        return tuple(reversed(steps))

    def _rows(self, index: tuple[int, ...], count: int) -> bytes:
        """``count`` rows from a position on, gathered from the boxes that hold some of them."""
        import numpy as np

        kind, depth = f"V{self.dtype.itemsize}", self.depth
        touched = [box for box in self.boxes if self._touches(box, index, count)]
        for box in touched:
            self._check(box)  # before there is any memory for what they say they hold
        made = np.empty((count, *self.shape[depth + 1 :]), kind) if self.shape else np.empty((), kind)
        given = np.zeros(made.shape, bool)  # boxes that overlap elsewhere leave gaps, and what is in a gap is nobody's
        filled = 0
        for box in touched:
            if not index:
                made, filled = self._slice(box, ..., kind), filled + 1
                given = np.ones((), bool)
                continue
            start, end = max(index[-1], box.offsets[depth]), min(index[-1] + count, box.offsets[depth] + box.shape[depth])
            inner = tuple(slice(at, at + size) for at, size in zip(box.offsets[depth + 1 :], box.shape[depth + 1 :], strict=True))
            outer = tuple(step - at for step, at in zip(index[:-1], box.offsets, strict=False))
            part = self._slice(box, (*outer, slice(start - box.offsets[depth], end - box.offsets[depth])), kind)
            place = (slice(start - index[-1], end - index[-1]), *inner)
            made[place], given[place] = part, True
            filled += part.size
        if filled != made.size or not given.all():
            raise FormatError(f"its chunks give {int(given.sum()):,} of {made.size:,} elements, some twice", part=self.name)
        return bytes(made.tobytes())

    def _touches(self, box: Box, index: tuple[int, ...], count: int) -> bool:
        """Whether a box holds some of ``count`` rows from a position on."""
        if not prod(box.shape):
            return False
        if not index:
            return True
        lead = zip(index[:-1], box.offsets, box.shape, strict=False)
        first, size = box.offsets[self.depth], box.shape[self.depth]
        return all(at <= step < at + most for step, at, most in lead) and index[-1] < first + size and first < index[-1] + count

    def _check(self, box: Box) -> None:
        """FormatError where a box is damaged or not as announced, LimitError where it has far more elements than bytes."""
        layout = box.tensor.layout
        if layout.fault:
            raise FormatError(layout.fault, part=self.name)
        if layout.dtype != self.dtype or layout.shape != box.shape:
            text = f"a chunk is {layout.dtype}{list(layout.shape)} where {self.dtype}{list(box.shape)} was announced"
            raise FormatError(text, part=self.name)
        last, held, _ = reach(layout.shape, layout.strides)
        width = self.dtype.itemsize
        check_logical(held * width, (last + 1) * width, self.limits, "raise Limits.logical_bytes to read it all the same")

    def _slice(self, box: Box, index: Any, kind: str) -> Any:
        from .arrays import gather, narrow

        return gather(narrow(box.tensor.layout, index), kind, self.limits)


def whole(box: Box, shape: tuple[int, ...]) -> bool:
    """Whether a box is all of the tensor."""
    return box.shape == shape and not any(box.offsets)


def span_of(layout: Layout, dtype: DType, shape: tuple[int, ...]) -> Span | None:
    """Where the elements of a layout lie in order, if it is of this type and shape and they lie so plainly."""
    plain = layout.kind == "dense" and not (layout.fault or layout.conj or layout.neg) and layout.dtype == dtype and layout.shape == shape
    if not plain or layout.storage is None or layout.storage.order != "little" or layout.strides != contiguous(shape):
        return None
    return layout.storage.span().sub(layout.offset * dtype.itemsize, prod(shape) * dtype.itemsize)


def single(dtype: DType, shape: tuple[int, ...], box: Box, name: str, limits: Limits) -> Layout:
    """The Layout of a tensor that is all in one box: where that holds it plainly it is a view of the mapped file. Reads nothing."""
    gathered = tiled(dtype, shape, [box], name, limits)
    assert gathered.storage is not None
    rest, size = gathered.storage, prod(shape) * dtype.itemsize
    storage = Storage(name, size, dtype, "cpu", lambda: span_of(box.tensor.layout, dtype, shape) or rest.span())
    return Layout(dtype, shape, contiguous(shape), 0, storage)


# -- runs -----------------------------------------------------------------------------------------------------------------

SHOWN = 64  # runs that are given as components: a parameter may lie in parts of a thousand files

# (flat tensor, first element, number of elements)
Run = tuple["Layout", int, int]


def strung(dtype: DType, shape: tuple[int, ...], found: list[Run], runs: Callable[[], list[Run]], name: str, limits: Limits) -> Layout:
    """The Layout of a tensor whose elements, in row-major order, are runs of flat tensors end to end: ``found``, and what ``runs`` gives
    each time that bytes are wanted. None are kept, since there may be a thousand for each of a thousand tensors. One run that lies plainly
    is a view of the mapped file; of several, not too many, the components are the runs under the numbers of their first elements. Reads
    nothing."""

    def span() -> Span:
        found = runs()
        plain = span_of(piece(*found[0]), dtype, (found[0][2],)) if len(found) == 1 else None
        return plain or Strings(dtype, shape, runs, name, limits).span()

    storage = Storage(name, prod(shape) * dtype.itemsize, dtype, "cpu", span)
    made = Layout(dtype, shape, contiguous(shape), 0, storage)
    held = sum(count for _, _, count in found)
    if held != prod(shape):
        made.fault = storage.fault = f"its runs hold {held:,} elements of {prod(shape):,}"
    elif len(found) > 1:
        from .tensor import Tensor

        made.kind = "tiled"
        starts = accumulate((count for _, _, count in found), initial=0)
        if len(found) <= SHOWN:
            made.components = {str(start): Tensor(piece(*run), limits) for start, run in zip(starts, found, strict=False)}
    return made


def piece(flat: Layout, start: int, count: int) -> Layout:
    """Some elements of a flat tensor."""
    part = flat.copy()
    part.shape, part.offset = (count,), flat.offset + start * flat.strides[0]
    return part


class Strings(Source):
    """The bytes of runs of flat tensors, end to end, gathered when they are read."""

    __slots__ = ("dtype", "limits", "runs")

    def __init__(self, dtype: DType, shape: tuple[int, ...], runs: Callable[[], list[Run]], name: str, limits: Limits) -> None:
        super().__init__(name, prod(shape) * dtype.itemsize)
        self.dtype = dtype
        self.runs = runs
        self.limits = limits

    def _read(self, offset: int, length: int) -> bytes:
        width, runs = self.dtype.itemsize, self.runs()
        first, last = offset // width, -(-(offset + length) // width)  # elements
        starts = list(accumulate((count for _, _, count in runs), initial=0))
        pieces = []
        for number in range(bisect_right(starts, first) - 1, len(runs)):
            flat, start, count = runs[number]
            begin, end = max(first - starts[number], 0), min(last - starts[number], count)
            if starts[number] >= last:
                break
            if flat.fault:
                raise FormatError(flat.fault, part=self.name)
            if end > begin:
                part = piece(flat, start + begin, end - begin)
                plain = span_of(part, self.dtype, part.shape)
                pieces.append(self._gathered(part) if plain is None else plain.read())
        whole = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        skip = offset - first * width
        return whole if not skip and len(whole) == length else whole[skip : skip + length]

    def _gathered(self, part: Layout) -> bytes:
        from .arrays import gather

        return bytes(gather(part, f"V{self.dtype.itemsize}", self.limits).tobytes())
