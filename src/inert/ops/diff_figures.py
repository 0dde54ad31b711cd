"""What comparing the elements of two tensors says: counts, places, the greatest differences.

Meaning, with a - b as the difference: ``max_abs`` is max |a - b|, ``max_rel`` is max |a - b| / |b| (infinite where b is 0), both over all
elements that differ at all and are numbers on both sides; an element is within the tolerance where |a - b| <= atol + rtol |b|, as
numpy.isclose and torch.isclose have it. The figures are made in float64, those of integers exactly.
Refuses to know: where the numbers come from (diff_elements.py).
"""

from __future__ import annotations

from .diff_numbers import distance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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


def opaque(found: Figures, places: Any) -> None:
    if found.first < 0 and places.size:
        found.first = int(places[0])
    found.different += places.size


def measure(found: Figures, x: Any, y: Any, places: Any, tolerance: Tolerance) -> None:
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
