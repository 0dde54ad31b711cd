"""How the differences between two tensors are spread: a histogram of b - a.

Knows: how it is made in slices of a bounded size, in two passes (the range, then the counts) or, where the range is given, in one; and how
whoever waits for it can stop it.
Refuses to know: how it is drawn.

Elements that are equal have the difference 0, infinities included; both NaN is equal. Of complex numbers it is |b - a|. Differences are
made in float64, those of 64-bit integers after the subtraction.
"""

from __future__ import annotations

from math import inf, isfinite

from ..errors import UnsupportedError
from .diff_elements import Elements, blocks_of_both, both, cut, equal_items, numeric
from .diff_numbers import distance, unequal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..tensor import Tensor

    Step = Callable[[int, int], bool | None]  # (bytes read, bytes in all) → False: stop

BINS = 40
SLICE = 1 << 14  # values made numbers at once
MOST = 10_000  # bins


class Histogram:
    """``edges``: len(counts) + 1 of them, in equal steps; none where no difference is finite, or before the second pass · ``counts``:
    elements by their difference, each bin without its upper edge but for the last, as numpy.histogram has it · ``equal``: elements that do
    not differ (they are in ``counts`` too, at 0) · ``nan``: those of which one is NaN · ``infinite``: those that are infinitely far apart ·
    ``outside``: those beyond the range that was asked for · ``low``, ``high``: the least and the greatest finite difference ·
    ``count``: elements looked at · ``complete``: False where it was stopped."""

    __slots__ = ("complete", "count", "counts", "edges", "equal", "high", "infinite", "low", "nan", "outside")

    def __init__(self) -> None:
        self.edges: list[float] = []
        self.counts: list[int] = []
        self.count = self.equal = self.nan = self.infinite = self.outside = 0
        self.low = inf
        self.high = -inf
        self.complete = True


def difference_histogram(
    a: Tensor, b: Tensor, bins: int = BINS, step: Step | None = None, between: tuple[float, float] | None = None
) -> Histogram:
    """The histogram of b - a over all elements of two tensors of one shape.

    ``step(read, total)`` is called after each slice with bytes; where it returns False, the result is what is known by then, and not
    ``complete``. ``between``: the range, where it is known (a Figures' ``max_abs`` gives one): the tensors are read once then.
    UnsupportedError where elements have no differences or the shapes are not equal; FormatError for a damaged tensor."""
    if not 1 <= bins <= MOST:
        raise UnsupportedError(f"bins={bins!r}", hint=f"say a number from 1 to {MOST:,}")
    if between is not None and not (between[0] < between[1] and isfinite(between[1] - between[0])):
        raise UnsupportedError(f"between={between!r}", hint="say two finite numbers, the lower one first")
    one, other = _sides(a, b)
    watch = _Watch(step, (1 if between else 2) * (max(a.nbytes, 0) + max(b.nbytes, 0)))
    made = Histogram()
    if between is None:
        if not _spread(made, one, other, watch) or made.low > made.high:
            return made
        between = _widened(made.low, made.high)
    _fill(made, one, other, watch, between, bins)
    return made


def _widened(low: float, high: float) -> tuple[float, float]:
    """A range with something in it."""
    pad = 0.0 if low < high else abs(low) / 2 or 0.5
    return low - pad, high + pad


def _sides(a: Tensor, b: Tensor) -> tuple[Elements, Elements]:
    one, other = both(a, b)
    for side in (one, other):
        if side.layout.kind in ("strings", "opaque") or not numeric(side.dtype):
            raise UnsupportedError(f"{side.dtype} elements have no differences", part=side.tensor.name)
    if one.shape != other.shape:
        raise UnsupportedError(f"the shapes are {list(a.shape)} and {list(b.shape)}", part=a.name)
    return one, other


class _Watch:
    """Counts what was read, and asks whether to go on."""

    def __init__(self, step: Step | None, total: int) -> None:
        self.step = step
        self.read = 0
        self.total = total

    def __call__(self, more: int) -> bool:
        self.read += more
        return self.step is None or self.step(self.read, self.total) is not False


def _slices(made: Histogram, a: Elements, b: Elements, watch: _Watch) -> Iterator[tuple[int, Any]]:
    """(how many elements are equal, the differences of the others), until all are seen or nobody waits any more."""
    import numpy as np

    alike = equal_items(a, b)
    for start, count, one, other in blocks_of_both(a, b):
        for at in range(0, count, SLICE):
            few = min(SLICE, count - at)
            left, right = cut(a, one, at, few), cut(b, other, at, few)
            made.count += few
            if alike and left == right:
                yield few, None
                continue
            x, y = a.numbers(left, few, start + at), b.numbers(right, few, start + at)
            held = np.flatnonzero(unequal(x, y, True))
            yield few - held.size, signed(x[held], y[held]) if held.size else None
        if not watch(len(one) + len(other)):
            made.complete = False
            return


def signed(x: Any, y: Any) -> Any:
    """y - x of numbers that differ, as float64: the distance, below 0 where y is less."""
    import numpy as np

    with np.errstate(all="ignore"):
        size, _ = distance(x, y)
        if "c" in (x.dtype.kind, y.dtype.kind):
            return size
        narrow = x.dtype.kind in "iu" and y.dtype.kind in "iu" and x.dtype == y.dtype
        less = y < x if narrow else y.astype(np.float64) < x.astype(np.float64)
        return np.where(less, -size, size)


def _counted(made: Histogram, equal: int, differences: Any) -> Any:
    """The finite differences of a slice; all others are counted."""
    import numpy as np

    made.equal += equal
    if differences is None:
        return None
    sound = differences[np.isfinite(differences)]
    if sound.size < differences.size:
        nan = int(np.count_nonzero(np.isnan(differences)))
        made.nan += nan
        made.infinite += differences.size - sound.size - nan
    return sound


def _spread(made: Histogram, a: Elements, b: Elements, watch: _Watch) -> bool:
    """The first pass: the range. Whether it came to the end."""
    for equal, differences in _slices(made, a, b, watch):
        _ranged(made, equal, _counted(made, equal, differences))
    return made.complete


def _ranged(made: Histogram, equal: int, sound: Any) -> None:
    if equal:
        made.low, made.high = min(made.low, 0.0), max(made.high, 0.0)
    if sound is not None and sound.size:
        made.low, made.high = min(made.low, float(sound.min())), max(made.high, float(sound.max()))


def _fill(made: Histogram, a: Elements, b: Elements, watch: _Watch, between: tuple[float, float], bins: int) -> None:
    """The pass that counts."""
    import numpy as np

    made.count = made.equal = made.nan = made.infinite = 0
    scale = 1.0 if isfinite(between[1] - between[0]) else 0.5  # halves, where the range itself is no number
    edges = np.linspace(between[0] * scale, between[1] * scale, bins + 1)
    counts = np.zeros(bins, np.int64)
    for equal, differences in _slices(made, a, b, watch):
        sound = _counted(made, equal, differences)
        _ranged(made, equal, sound)
        for values, times in ((np.zeros(1), equal), (sound, 1)):
            if values is None or not times:
                continue
            inside = values[(values >= between[0]) & (values <= between[1])]
            places = np.minimum(np.searchsorted(edges, inside * scale, side="right") - 1, bins - 1)
            counts += times * np.bincount(places, minlength=bins)
            made.outside += times * (values.size - inside.size)
    made.edges, made.counts = (edges / scale).tolist(), counts.tolist()
