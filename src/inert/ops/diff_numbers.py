"""Numbers of any two types: which pairs of them differ, and how far they are apart.

Knows: how integers of 64 bits are compared with floats, and signed ones with unsigned ones, without rounding either; which distances
float64 holds and which are counted in integers.
Refuses to know: what the numbers are of, and what is near enough (diff_figures.py).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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
        return _mixed(*((x, y) if y.dtype.kind == "f" else (y, x))), None
    apart, beyond, _ = _apart(x, y, exact=True)
    highest = int(apart.max())
    if beyond is not None and beyond.any():
        highest = (1 << 64) + int(apart[beyond].max())
        return np.where(beyond, apart.astype(np.float64) + 2.0**64, apart.astype(np.float64)), highest
    return apart.astype(np.float64), highest


def _mixed(whole: Any, number: Any) -> Any:
    """|integer - float| as float64, rounded at the end only."""
    import numpy as np

    near, _ = _integers(number, whole.dtype)
    wide = number.astype(np.float64)
    over, _, above = _apart(whole, near)
    rest = wide - near.astype(np.float64)  # what rounding down took away: exact, since it is 0 beyond 2^53
    bits = whole if whole.dtype == np.uint64 else whole.astype(np.int64).view(np.uint64)
    low, high, least = (0.0, 2.0**64, 0) if whole.dtype == np.uint64 else (-(2.0**63), 2.0**63, 1 << 63)
    up = (np.uint64((least - 1) % (1 << 64)) - bits).astype(np.float64) + 1.0  # from the integer to the first that does not fit
    down = (bits - np.uint64(least)).astype(np.float64)
    outside = np.where(wide >= high, wide - high + up, low - wide + down)
    return np.where((wide >= low) & (wide < high), np.abs(np.where(above, over, -over) - rest), outside)


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
