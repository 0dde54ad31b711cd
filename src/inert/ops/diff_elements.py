"""Two tensors, element by element: how many differ, where first, and by how much.

Knows: how elements of any two types are compared without rounding either (integers in 64 bits, also against floats; narrow floats widened;
packed ones unpacked), in blocks of a bounded size that both sides read in step; equal bytes of equal types are never made numbers.
Refuses to know: names, and what a tensor is besides its elements (diff_tensors.py).

Meaning, with a - b as the difference: ``max_abs`` is max |a - b|, ``max_rel`` is max |a - b| / |b| (infinite where b is 0), both over all
elements that differ at all and are numbers on both sides; an element is within the tolerance where |a - b| <= atol + rtol |b|, as
numpy.isclose and torch.isclose have it. The figures are made in float64, those of integers exactly.
"""

from __future__ import annotations

from math import prod

from ..errors import UnsupportedError
from ..layout import item_geometry, items_of, pieces, reach
from ..stats import numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..dtypes import DType
    from ..source import Span
    from ..tensor import Tensor

BLOCK = 1 << 19  # bytes of a block on each side: both fit a cache
FINE = 1 << 12  # values that are made numbers at once: arrays so small that their memory is used again and again
WORDS = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}  # what items are compared as, bit by bit


class Tolerance:
    """What counts as equal."""

    __slots__ = ("atol", "equal_nan", "rtol")

    def __init__(self, rtol: float = 0.0, atol: float = 0.0, equal_nan: bool = True) -> None:
        self.rtol = rtol
        self.atol = atol
        self.equal_nan = equal_nan

    @property
    def exact(self) -> bool:
        return not (self.rtol or self.atol)


class Figures:
    """What a comparison found. ``count``: elements looked at · ``different``: those beyond the tolerance · ``within``: those that differ
    and are not beyond it · ``bits``: equal ones of other bits (0.0 and -0.0, NaNs) · ``nan``: elements that are NaN in a, in b alone ·
    ``first``: position, in row-major order, of the first of ``different``, or else of ``within``; ``firsts``: the values there."""

    __slots__ = (
        "bits",
        "count",
        "different",
        "first",
        "firsts",
        "max_abs",
        "max_abs_at",
        "max_rel",
        "max_rel_at",
        "measured",
        "nan",
        "total",
        "within",
    )

    def __init__(self) -> None:
        self.count = self.different = self.within = self.bits = 0
        self.nan = [0, 0]
        self.first = self.max_abs_at = self.max_rel_at = -1
        self.firsts: tuple[Any, Any] | None = None
        self.max_abs: int | float | None = None
        self.max_rel: float | None = None
        self.total = 0.0  # of |a - b|, where both are numbers
        self.measured = 0  # elements that differ and are numbers on both sides

    @property
    def mean_abs(self) -> float | None:
        """Over all elements that are numbers on both sides, equal ones included; None where there are none."""
        held = self.count - (self.different + self.within - self.measured)
        return self.total / held if held else None

    def add(self, other: Figures) -> None:
        """What another part of the same tensor says; positions go on behind those of this one."""
        base = self.count
        if other.first >= 0 and (self.first < 0 or (other.different and not self.different)):
            self.first, self.firsts = base + other.first, other.firsts
        if other.max_abs is not None and (self.max_abs is None or other.max_abs > self.max_abs):
            self.max_abs, self.max_abs_at = other.max_abs, base + other.max_abs_at
        if other.max_rel is not None and (self.max_rel is None or other.max_rel > self.max_rel):
            self.max_rel, self.max_rel_at = other.max_rel, base + other.max_rel_at
        self.count += other.count
        self.different += other.different
        self.within += other.within
        self.bits += other.bits
        self.nan = [self.nan[0] + other.nan[0], self.nan[1] + other.nan[1]]
        self.total += other.total
        self.measured += other.measured


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
    return dtype.kind in "biucxq" or (dtype.kind == "f" and bool(dtype.numpy))


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


def run_of(tensor: Tensor) -> Span | None:
    """Where the elements lie in order as little-endian items; None where they must be gathered or turned. Raises as ``chunks()`` does."""
    layout = tensor.layout
    from ..layout import is_contiguous

    if layout.storage is None or layout.kind == "strings" or layout.conj or layout.neg:
        return None
    if layout.storage.order == "big" and layout.dtype.unit > 1:
        return None
    shape, strides, offset = item_geometry(layout)
    if not is_contiguous(shape, strides):
        return None
    return layout.storage.span().sub(offset * layout.dtype.itemsize, items_of(layout.dtype, layout.shape) * layout.dtype.itemsize)


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
    alike = a.dtype.canonical == b.dtype.canonical and a.packed == b.packed and a.width == b.width and a.scaled is b.scaled
    if not (numeric(a.dtype) and numeric(b.dtype)) and not alike:
        raise UnsupportedError(f"there is no way to compare {a.dtype} with {b.dtype}")
    skips = alike and (tolerance.equal_nan or a.dtype.kind not in "fc")
    step = max(8, BLOCK // max(a.width, b.width, 1) // 8 * 8)
    start = 0
    for one, other in zip(a.blocks(step), b.blocks(step), strict=True):
        count = min(step, a.size - start)
        if not (skips and one == other):
            for at in range(0, count, FINE):
                few = min(FINE, count - at)
                left, right = cut(a, one, at, few), cut(b, other, at, few)
                if not (skips and left == right):
                    _block(found, a, b, left, right, few, start + at, skips, tolerance)
        start += count
        done(len(one) + len(other))
    return found


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
        _opaque(found, unlike * a.packed + start)
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
        _measure(found, x, y, (held if places is None else places[held]) + start, tolerance)


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


def _opaque(found: Figures, places: Any) -> None:
    if found.first < 0 and places.size:
        found.first = int(places[0])
    found.different += places.size


def _measure(found: Figures, x: Any, y: Any, places: Any, tolerance: Tolerance) -> None:
    """Add elements that differ, at these places."""
    import numpy as np

    with np.errstate(all="ignore"):
        size, highest = distance(x, y)
        scale = np.abs(y.astype(np.complex128 if y.dtype.kind == "c" else np.float64))
        known = ~np.isnan(size)
        relative = size / scale
    if not known.all():
        nan_x, nan_y = (np.isnan(side) if side.dtype.kind in "fc" else np.zeros(side.shape, bool) for side in (x, y))
        found.nan[0] += int(np.count_nonzero(nan_x & ~nan_y))
        found.nan[1] += int(np.count_nonzero(nan_y & ~nan_x))
    beyond = np.ones(size.shape, bool)
    if not tolerance.exact:
        with np.errstate(all="ignore"):
            beyond = ~((size <= tolerance.atol + tolerance.rtol * scale) & np.isfinite(scale))
    number = int(np.count_nonzero(beyond))
    if number and not found.different:
        _first(found, x, y, places, int(np.argmax(beyond)))
    elif found.first < 0:
        _first(found, x, y, places, 0)
    found.different += number
    found.within += size.size - number
    measured = int(np.count_nonzero(known))
    found.measured += measured
    if not measured:
        return
    found.total += float(size[known].sum()) if measured < size.size else float(size.sum())
    top = int(np.nanargmax(size))
    most = highest if highest is not None else float(size[top])
    if found.max_abs is None or most > found.max_abs:
        found.max_abs, found.max_abs_at = most, int(places[top])
    relative = np.where(known & ~np.isnan(relative), relative, -1.0)
    top = int(np.argmax(relative))
    if relative[top] >= 0 and (found.max_rel is None or relative[top] > found.max_rel):
        found.max_rel, found.max_rel_at = float(relative[top]), int(places[top])


def _first(found: Figures, x: Any, y: Any, places: Any, at: int) -> None:
    found.first = int(places[at])
    found.firsts = (x[at].item(), y[at].item())


# -- numbers of any two types ---------------------------------------------------------------------------------------------------


def unequal(x: Any, y: Any, equal_nan: bool) -> Any:
    """Which pairs differ: no value is rounded to the other's type."""
    import numpy as np

    kinds = {x.dtype.kind, y.dtype.kind}
    if "c" in kinds:
        return unequal(x.real, y.real, equal_nan) | unequal(_imaginary(x), _imaginary(y), equal_nan)
    if kinds == {"f"}:
        differ = x != y
        if equal_nan and differ.any():
            differ &= ~((x != x) & (y != y))  # noqa: PLR0124
        return differ
    if "f" in kinds:
        whole, number = (x, y) if y.dtype.kind == "f" else (y, x)
        near, exact = _integers(number, whole.dtype)
        return ~exact | unequal(whole, near, equal_nan)
    if x.dtype == y.dtype:
        return x != y
    if np.uint64 in (x.dtype, y.dtype):
        x, y = (x, y) if x.dtype == np.uint64 else (y, x)
        negative = (y < 0) if y.dtype.kind == "i" else np.zeros(y.shape, bool)
        return negative | (x != y.astype(np.uint64))
    return x.astype(np.int64) != y.astype(np.int64)


def _imaginary(x: Any) -> Any:
    import numpy as np

    return x.imag if x.dtype.kind == "c" else np.zeros(x.shape, np.float32)


def _integers(number: Any, kind: Any) -> tuple[Any, Any]:
    """Floats rounded down to 64-bit integers (0 where they do not fit), and which of them were such integers before."""
    import numpy as np

    wide = number.astype(np.float64)
    low, high, made = (0.0, 2.0**64, np.uint64) if kind == np.uint64 else (-(2.0**63), 2.0**63, np.int64)
    with np.errstate(invalid="ignore"):
        floor = np.floor(wide)
        fits = (floor >= low) & (floor < high)
        return np.where(fits, floor, 0.0).astype(made), fits & (floor == wide)


def distance(x: Any, y: Any) -> tuple[Any, int | None]:
    """|x - y| as float64 (NaN where either is NaN), and the greatest of integers exactly."""
    import numpy as np

    kinds = {x.dtype.kind, y.dtype.kind}
    if "c" in kinds:
        if kinds == {"c"} or "f" in kinds:
            return np.abs(x.astype(np.complex128) - y.astype(np.complex128)), None
        return np.hypot(distance(x.real, y.real)[0], distance(_imaginary(x), _imaginary(y))[0]), None
    if kinds == {"f"}:
        return np.abs(x.astype(np.float64) - y.astype(np.float64)), None
    if "f" in kinds:
        whole, number = (x, y) if y.dtype.kind == "f" else (y, x)
        near, _ = _integers(number, whole.dtype)
        wide = number.astype(np.float64)
        plain = np.abs(whole.astype(np.float64) - wide)
        inside = (wide >= (0 if whole.dtype == np.uint64 else -(2.0**63))) & (wide < (2.0**64 if whole.dtype == np.uint64 else 2.0**63))
        over, _, above = _apart(whole, near)
        rest = wide - near.astype(np.float64)  # what rounding down took away: exact, since it is 0 beyond 2^53
        return np.where(inside, np.abs(np.where(above, over, -over) - rest), plain), None
    apart, beyond, _ = _apart(x, y, exact=True)
    highest = int(apart.max())
    if beyond is not None and beyond.any():
        highest = (1 << 64) + int(apart[beyond].max())
        return np.where(beyond, apart.astype(np.float64) + 2.0**64, apart.astype(np.float64)), highest
    return apart.astype(np.float64), highest


def _apart(x: Any, y: Any, exact: bool = False) -> tuple[Any, Any, Any]:
    """|x - y| of integers as uint64 (float64 unless ``exact``), which of them are 2^64 too small (None: none), and where x >= y."""
    import numpy as np

    def halves(side: Any) -> tuple[Any, Any]:  # bits as unsigned, and which are negative
        if side.dtype == np.uint64:
            return side, np.zeros(side.shape, bool)
        wide = side.astype(np.int64)
        return wide.view(np.uint64), wide < 0

    (p, minus_p), (q, minus_q) = halves(x), halves(y)
    above = np.where(minus_p == minus_q, p >= q, minus_q)
    apart = np.where(above, p - q, q - p)
    beyond = None
    if (x.dtype == np.uint64) != (y.dtype == np.uint64):
        big, small, minus = (p, q, minus_q) if x.dtype == np.uint64 else (q, p, minus_p)
        beyond = minus & (big - small < big) & (small != 0)  # big + |small| went round
    if exact:
        return apart, beyond, above
    made = apart.astype(np.float64)
    return (made if beyond is None else np.where(beyond, made + 2.0**64, made)), beyond, above
