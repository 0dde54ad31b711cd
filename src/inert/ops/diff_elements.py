"""Two tensors, element by element: how many differ, where first, and by how much.

Knows: how elements of any two types are compared without rounding either (integers in 64 bits, also against floats; narrow floats widened;
packed ones unpacked), in blocks of a bounded size that both sides read in step; equal bytes of equal types are never made numbers.
Refuses to know: names, what a tensor is besides its elements (diff_tensors.py), and the arithmetic (diff_figures.py, diff_numbers.py).
"""

from __future__ import annotations

from itertools import count as counting
from math import prod

from ..errors import UnsupportedError
from ..layout import is_contiguous, item_geometry, items_of, pieces, reach
from ..stats import numbers
from .diff_figures import Figures, Tolerance, measure, opaque
from .diff_numbers import unequal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..dtypes import DType
    from ..layout import Layout
    from ..source import Span
    from ..tensor import Tensor

BLOCK = 1 << 19  # bytes of a block on each side: both fit a cache
FINE = 1 << 12  # values that are made numbers at once: arrays so small that their memory is used again and again
WORDS = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}  # what items are compared as, bit by bit


# -- the elements of one side ---------------------------------------------------------------------------------------------------


def packing(dtype: DType) -> int:
    """Values in an item, as a shape of values counts them: bits types are compared as items."""
    return 1 if dtype.counts_items and dtype.kind == "x" else dtype.packed


def value_shape(dtype: DType, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in single values: of torch's float4_e2m1fn_x2, whose shape counts pairs, the last size doubled."""
    if dtype.counts_items and packing(dtype) > 1:
        return (*shape[:-1], shape[-1] * dtype.packed) if shape else (dtype.packed,)
    return shape


def numeric(dtype: DType) -> bool:
    """Whether single values of the type can be told: all others are compared as items of bytes."""
    return dtype.kind in "biucq" or (dtype.kind == "f" and bool(dtype.numpy))


class Elements:
    """A tensor's elements in row-major order. ``dequantized``: the numbers that a quantised one stands for, not its integers."""

    def __init__(self, tensor: Tensor, dequantized: bool = False) -> None:
        self.tensor = tensor
        self.layout = tensor.layout
        self.dtype = self.layout.dtype
        self.shape = value_shape(self.dtype, self.layout.shape)
        self.size = prod(self.shape)
        self.packed = packing(self.dtype)
        self.scaled = Scaled(tensor) if dequantized else None

    @property
    def width(self) -> int:
        """Bytes of an item."""
        return self.dtype.itemsize

    def blocks(self, step: int) -> Iterator[bytes | bytearray]:
        """The stored items as little-endian bytes: ``step`` values at a time, a multiple of what an item packs. A block is good until the
        next one is asked for."""
        size = step // self.packed * self.width
        if self.layout.kind.startswith("sparse"):
            import numpy as np

            held = np.ascontiguousarray(self.tensor.numpy()).reshape(-1)
            count = size // self.width
            yield from (held[at : at + count].tobytes() for at in range(0, held.size, count))
            return
        span = run_of(self.tensor)
        yield from dealt(pieces(self.layout, self.tensor.limits), size) if span is None else filled(span, size)

    def numbers(self, raw: Any, count: int, start: int) -> Any:
        """The ``count`` values of a block that begins with value ``start``, as an array of a type that NumPy itself can count with."""
        import numpy as np

        if self.dtype.kind == "b":
            made = np.frombuffer(raw, np.uint8) != 0
        elif self.dtype.kind == "q" and self.packed > 1:
            shifts = np.arange(0, 8, self.dtype.bits, dtype=np.uint8)
            made = (np.frombuffer(raw, np.uint8)[:, None] >> shifts & np.uint8((1 << self.dtype.bits) - 1)).reshape(-1)
        else:
            made = numbers(raw, self.dtype)
            if made.dtype.kind == "V":  # int4 and the like
                made = made.astype(np.int8)
            elif made.dtype == np.float16:
                made = made.astype(np.float32)  # which NumPy compares many times faster
        made = made[:count]
        return made if self.scaled is None else self.scaled(made, start)


class Scaled:
    """The float32 values of quantised integers, as ``Tensor.dequantize`` makes them."""

    def __init__(self, tensor: Tensor) -> None:
        layout = tensor.layout
        facts = layout.quantization
        if not facts:
            raise UnsupportedError("quantised integers without a scale", part=tensor.name)
        self.scale, self.zero = facts.get("scale"), facts.get("zero_point")
        self.channels = None
        if "axis" in facts:
            axis = facts["axis"]
            self.inner, self.along = prod(layout.shape[axis + 1 :]), layout.shape[axis]
            self.channels = [layout.components[role].numpy().astype("f8").reshape(-1) for role in ("scales", "zero_points")]

    def __call__(self, integers: Any, start: int) -> Any:
        import numpy as np

        if self.channels is None:
            return (integers.astype(np.float32) - np.float32(self.zero)) * np.float32(self.scale)
        scales, zeros = self.channels
        at = np.arange(start, start + integers.size) // self.inner % self.along
        return ((integers.astype(np.float64) - zeros[at]) * scales[at]).astype(np.float32)


def in_order(layout: Layout) -> bool:
    """Whether the elements lie one after the other as little-endian items."""
    if layout.storage is None or layout.kind == "strings" or layout.conj or layout.neg:
        return False
    return (layout.storage.order != "big" or layout.dtype.unit <= 1) and is_contiguous(*item_geometry(layout)[:2])


def run_of(tensor: Tensor) -> Span | None:
    """Where the elements lie in order; None where they must be gathered or turned. Raises as ``chunks()`` does."""
    layout = tensor.layout
    if layout.storage is None or not in_order(layout):
        return None
    width = layout.dtype.itemsize
    return layout.storage.span().sub(item_geometry(layout)[2] * width, items_of(layout.dtype, layout.shape) * width)


def extent_of(tensor: Tensor) -> Span | None:
    """The bytes from the first element to the last, whatever the strides; None where there are none or a view packs its values."""
    layout = tensor.layout
    if layout.storage is None or layout.kind == "strings" or packing(layout.dtype) > 1:
        return None
    last, width = reach(layout.shape, layout.strides)[0], layout.dtype.itemsize
    return layout.storage.span().sub(layout.offset * width, (last + 1) * width)


def filled(span: Span, size: int) -> Iterator[bytearray]:
    """The span in blocks, all in one buffer: memory that was used a moment ago is in the cache."""
    buffer = bytearray(min(size, span.length))
    view = memoryview(buffer)
    for at in range(0, span.length, size):
        count = min(size, span.length - at)
        if count < len(buffer):
            del view
            buffer = bytearray(count)
            view = memoryview(buffer)
        span.source.readinto(span.offset + at, view)
        yield buffer


def dealt(found: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Pieces of any lengths as blocks of one."""
    left = b""
    for piece in found:
        whole = left + piece if left else piece
        sound = len(whole) // size * size
        yield from (whole[at : at + size] for at in range(0, sound, size))
        left = whole[sound:]
    if left:
        yield left


def same_bytes(one: Span, other: Span, done: Callable[[int], None]) -> bool:
    """Whether two runs of one length hold the same bytes."""
    if one.source is other.source and one.offset == other.offset:
        return True
    for a, b in zip(filled(one, BLOCK), filled(other, BLOCK), strict=True):
        if a != b:
            return False
        done(2 * len(a))
    return True


# -- both sides -----------------------------------------------------------------------------------------------------------------


def compare(a: Elements, b: Elements, tolerance: Tolerance, done: Callable[[int], None]) -> Figures:
    """The figures of two tensors of equally many values. ``done`` is told of the bytes that have been read."""
    found = Figures()
    found.count = a.size
    skips = equal_items(a, b) and (tolerance.equal_nan or a.dtype.kind not in "fc")
    for start, count, one, other in blocks_of_both(a, b):
        if not (skips and one == other):
            for at in range(0, count, FINE):
                few = min(FINE, count - at)
                left, right = cut(a, one, at, few), cut(b, other, at, few)
                if not (skips and left == right):
                    _block(found, a, b, left, right, few, start + at, skips, tolerance)
        done(len(one) + len(other))
    return found


def both(a: Tensor, b: Tensor) -> tuple[Elements, Elements]:
    """The elements of two tensors: of a quantised one the integers, or what these stand for where the other is not."""
    mixed = (a.dtype.kind == "q") != (b.dtype.kind == "q")
    one, other = (Elements(side, mixed and side.dtype.kind == "q") for side in (a, b))
    return one, other


def equal_items(a: Elements, b: Elements) -> bool:
    """Whether items of equal bytes are equal elements (NaN for NaN). UnsupportedError where elements cannot be compared at all."""
    alike = a.dtype.canonical == b.dtype.canonical and a.packed == b.packed and a.width == b.width and a.scaled is b.scaled
    if not (numeric(a.dtype) and numeric(b.dtype)) and not alike:
        raise UnsupportedError(f"there is no way to compare {a.dtype} with {b.dtype}")
    return alike


def blocks_of_both(a: Elements, b: Elements) -> Iterator[tuple[int, int, Any, Any]]:
    """(number of the first value, number of values, items of a, items of b) in step: equally many values on both sides."""
    step = max(8, BLOCK // max(a.width, b.width, 1) // 8 * 8)
    for start, one, other in zip(counting(0, step), a.blocks(step), b.blocks(step), strict=False):
        yield start, min(step, a.size - start), one, other


def cut(side: Elements, raw: Any, at: int, count: int) -> Any:
    """The items of some values of a block."""
    first = at // side.packed * side.width
    return raw[first : first - count // -side.packed * side.width]


def _block(
    found: Figures, a: Elements, b: Elements, one: Any, other: Any, count: int, start: int, alike: bool, tolerance: Tolerance
) -> None:
    """Add what one block says. ``alike``: equal items are equal values, so that numbers are made of the others only."""
    import numpy as np

    if not numeric(a.dtype):
        unlike = np.flatnonzero((items(one, a.width) != items(other, b.width)).any(axis=1))
        opaque(found, unlike * a.packed + start)
        return
    places: Any = None  # of the values that are looked at; None: all of them
    unlike_bits = -1
    if alike and a.packed == 1:
        unlike = np.flatnonzero(unlike_items(one, other, a.width))
        unlike_bits = unlike.size
        if 2 * unlike.size < count:
            places, count = unlike, unlike.size
            one, other = (items(raw, a.width)[unlike].tobytes() for raw in (one, other))
    x, y = a.numbers(one, count, start), b.numbers(other, count, start)
    held = np.flatnonzero(unequal(x, y, tolerance.equal_nan))
    if unlike_bits >= 0:
        found.bits += unlike_bits - held.size
    if held.size:
        if held.size < x.size:
            x, y = x[held], y[held]
        measure(found, x, y, (held if places is None else places[held]) + start, tolerance)


def unlike_items(one: Any, other: Any, width: int) -> Any:
    """Which items are of other bytes."""
    found = words(one, width) != words(other, width)
    return found.any(axis=1) if found.ndim > 1 else found


def items(raw: Any, width: int) -> Any:
    import numpy as np

    return np.frombuffer(raw, np.uint8).reshape(-1, width)


def words(raw: Any, width: int) -> Any:
    """Items as integers of their size, or as rows of such."""
    import numpy as np

    if width in WORDS:
        return np.frombuffer(raw, WORDS[width])
    return np.frombuffer(raw, "<u8").reshape(-1, 2) if width == 16 else items(raw, width)
