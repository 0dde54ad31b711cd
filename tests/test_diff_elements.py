"""Elements against elements: what NumPy says of whole arrays, and Python's exact fractions of single numbers."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from inert.dtypes import DTYPES
from inert.errors import FormatError, UnsupportedError
from inert.layout import Layout, Storage, contiguous
from inert.ops import diff_elements
from inert.ops.diff_elements import both, compare
from inert.ops.diff_figures import Figures, Tolerance
from inert.ops.diff_histogram import BINS, difference_histogram
from inert.source import BytesSource
from inert.tensor import Tensor

EDGES = [0, 1, -1, 127, -128, 255, 2**24 + 1, 2**31 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e-310, 2.0**53, 2.0**63, -(2.0**63), 2.0**64, 1e300, -1e300, math.inf, -math.inf, math.nan]
NARROW = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "float32", "float64")


def held(array: Any, dtype: str = "", order: str = "little", shape: Any = None, strides: Any = None) -> Tensor:
    """A dense tensor over the bytes of ``array``."""
    kind = DTYPES[dtype or array.dtype.name]
    data = (array.byteswap() if order == "big" else array).tobytes()
    where = Storage("0", len(data), kind, "cpu", BytesSource(data).span)
    where.order = order
    shape = array.shape if shape is None else shape
    return Tensor(Layout(kind, shape, contiguous(shape) if strides is None else strides, 0, where))


def figures(a: Tensor, b: Tensor, rtol: float = 0.0, atol: float = 0.0, equal_nan: bool = True) -> Figures:
    return compare(*both(a, b), Tolerance(rtol, atol, equal_nan), lambda count: None)


# ------------------------------------------------------------------------------------------------------------------ whole arrays


@pytest.mark.parametrize("equal_nan", [True, False])
@pytest.mark.parametrize("tolerance", [0.0, 1e-3, 0.5])
@pytest.mark.parametrize("other", ["f2", "f4", "f8"])
@pytest.mark.parametrize("one", ["f2", "f4", "f8"])
def test_floats_like_numpy(one: str, other: str, equal_nan: bool, tolerance: float) -> None:
    rng = np.random.default_rng(7)
    for size in (0, 1, 2, 9, 300, 300):
        values = np.where(rng.random((2, size)) < 0.5, rng.choice(FLOATS, (2, size)), rng.normal(size=(2, size)))
        values[1] = np.where(rng.random(size) < 0.3, values[0], values[1])
        with np.errstate(all="ignore"):
            a, b = (side.astype(kind) for side, kind in zip(values, (one, other), strict=True))
        like_numpy(a, b, equal_nan, tolerance)


def like_numpy(a: Any, b: Any, equal_nan: bool, tolerance: float) -> None:
    size = a.size
    with np.errstate(all="ignore"):
        x, y = a.astype("f8"), b.astype("f8")
        found = figures(held(a), held(b), tolerance, tolerance, equal_nan)
        differ = ~((x == y) | (equal_nan & np.isnan(x) & np.isnan(y)))
        beyond = ~np.isclose(x, y, tolerance, tolerance, equal_nan)
        apart = np.where(differ, np.abs(x - y), math.nan)
        relative = apart / np.abs(y)
    assert (found.count, found.different, found.within) == (size, int(beyond.sum()), int((differ & ~beyond).sum()))
    assert found.nan == [int((differ & np.isnan(x) & ~np.isnan(y)).sum()), int((differ & np.isnan(y) & ~np.isnan(x)).sum())]
    assert found.first == (int(np.argmax(beyond)) if beyond.any() else int(np.argmax(differ)) if differ.any() else -1)
    for most, at, all_of in ((found.max_abs, found.max_abs_at, apart), (found.max_rel, found.max_rel_at, relative)):
        assert most == (None if np.isnan(all_of).all() else np.nanmax(all_of))
        assert at == (-1 if np.isnan(all_of).all() else int(np.nanargmax(all_of)))
    if a.dtype == b.dtype and equal_nan:
        bits = {2: "u2", 4: "u4", 8: "u8"}[a.dtype.itemsize]
        assert found.bits == int(((a.view(bits) != b.view(bits)) & ~differ).sum())


def test_mean_is_over_all_that_are_numbers() -> None:
    a, b = np.array([1, 2, math.nan, 4], "f4"), np.array([1, 3, 0, 4.5], "f4")
    assert figures(held(a), held(b)).mean_abs == pytest.approx(1.5 / 3)
    assert figures(held(a[2:3]), held(b[2:3])).mean_abs is None


@pytest.mark.parametrize("size", [1, 4095, 4096, 4097, 300_001])
def test_blocks_join(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diff_elements, "BLOCK", 1 << 16)
    a = np.arange(size, dtype="f4")
    b = a.copy()
    places = np.unique([0, size // 2, size - 1])
    b[places] += 1 + places
    found = figures(held(a), held(b))
    with np.errstate(divide="ignore"):
        relative = np.abs(a - b) / np.abs(b)
    assert (found.different, found.first, found.max_abs, found.max_abs_at) == (len(places), 0, float(np.abs(a - b).max()), size - 1)
    assert (found.max_rel, found.max_rel_at) == (float(relative.astype("f8").max()), int(np.argmax(relative)))


@pytest.mark.parametrize("narrow", NARROW)
@pytest.mark.parametrize("wide", ["float32", "bfloat16"])
def test_types_are_compared_as_the_numbers_they_are(narrow: str, wide: str) -> None:
    kinds = [np.dtype(getattr(ml_dtypes, name, name)) for name in (narrow, wide)]
    values = np.linspace(-3, 3, 1000)
    a, b = (values.astype(kind) for kind in kinds)
    found = figures(held(a, narrow), held(b, wide))
    x, y = a.astype("f8"), b.astype("f8")
    assert found.different == int((x != y).sum())
    if found.different:
        assert found.max_abs == np.abs(x - y).max()


def test_every_value_of_the_8_bit_floats() -> None:
    every = np.arange(256, dtype="u1")
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"):
        wide = every.view(getattr(ml_dtypes, name)).astype("f4")
        assert figures(held(every.view(getattr(ml_dtypes, name)), name), held(wide)).different == 0
        shifted = np.roll(every, 1).view(getattr(ml_dtypes, name))
        same = (wide == shifted.astype("f4")) | (np.isnan(wide) & np.isnan(shifted.astype("f4")))
        assert figures(held(every.view(getattr(ml_dtypes, name)), name), held(shifted, name)).different == int((~same).sum())


def test_zeros_and_nans_of_other_bits_are_equal_and_told() -> None:
    a = np.array([0.0, -0.0, math.nan, 1.0], "f4")
    b = np.array([-0.0, -0.0, math.nan, 1.0], "f4")
    b[2:3] = np.array([0x7FC00001], "u4").view("f4")
    found = figures(held(a), held(b))
    assert (found.different, found.bits) == (0, 2)
    assert figures(held(a), held(b), equal_nan=False).different == 1
    assert figures(held(a), held(a), equal_nan=False).different == 1, "NaN is then not equal to itself"


def test_infinities() -> None:
    a, b = np.array([math.inf, math.inf, 1.0, -math.inf], "f8"), np.array([math.inf, -math.inf, math.inf, 2.0], "f8")
    found = figures(held(a), held(b), rtol=10, atol=10)
    assert (found.different, found.max_abs, found.max_abs_at) == (3, math.inf, 1), "no tolerance reaches infinity"


def test_big_endian_strided_and_repeated_elements() -> None:
    a = np.arange(24, dtype="f4").reshape(4, 6)
    b = a.copy()
    b[2, 3] = 7.5
    assert figures(held(a, order="big"), held(a)).different == 0
    assert figures(held(a, shape=(6, 4), strides=(1, 6)), held(a.T.copy())).different == 0
    turned = figures(held(a, shape=(6, 4), strides=(1, 6)), held(b.T.copy()))
    assert (turned.different, turned.first, turned.firsts) == (1, 3 * 4 + 2, (15.0, 7.5))
    assert figures(held(a[:1], shape=(5, 6), strides=(0, 1)), held(np.repeat(a[:1], 5, axis=0))).different == 0


def test_complex_numbers_by_their_distance() -> None:
    a, b = np.array([1 + 1j, 2, 3j], "c8"), np.array([1 - 2j, 2, 3j], "c16")
    found = figures(held(a), held(b))
    assert (found.different, found.first, found.max_abs) == (1, 0, 3.0)
    assert found.max_rel == pytest.approx(3 / math.sqrt(5))
    assert figures(held(a.real.copy()), held(a)).different == 2


def test_packed_values_are_counted_one_by_one() -> None:
    a = held(np.array([0x21, 0x43], "u1"), "quint4x2", shape=(4,))
    b = held(np.array([0x21, 0x53], "u1"), "quint4x2", shape=(4,))
    found = figures(a, b)
    assert (found.count, found.different, found.first, found.firsts) == (4, 1, 3, (4, 5))
    pairs = [held(np.array(data, "u1"), "float4_e2m1fn_x2", shape=(2,)) for data in ([0x10, 0x02], [0x10, 0x0A])]
    assert (figures(*pairs).count, figures(*pairs).different, figures(*pairs).first) == (4, 1, 2)


def test_what_has_no_numbers_is_compared_by_its_bytes() -> None:
    a, b = (held(np.array(data, "u1"), "bits8") for data in ([1, 2, 3], [1, 9, 3]))
    assert (figures(a, b).different, figures(a, b).first, figures(a, b).max_abs) == (1, 1, None)
    with pytest.raises(UnsupportedError, match="no way to compare"):
        figures(a, held(np.zeros(3, "f4")))


# ---------------------------------------------------------------------------------------------------------------- single numbers


def fraction(value: Any) -> Fraction:
    return Fraction(float(value)) if isinstance(value, (float, np.floating)) else Fraction(int(value))


@pytest.mark.parametrize("one", ["i1", "u1", "i4", "i8", "u8", "?"])
@pytest.mark.parametrize("other", ["i2", "i8", "u8", "f4", "f8"])
def test_numbers_of_any_two_types_exactly(one: str, other: str) -> None:
    def fitting(kind: str) -> Any:
        if kind == "?":
            return np.array([False, True])
        if kind[0] == "f":
            with np.errstate(over="ignore"):
                made = np.array(FLOATS, "f8").astype(kind)
            return made[np.isfinite(made)]
        info = np.iinfo(kind)
        return np.array([value for value in EDGES if info.min <= value <= info.max], kind)

    pairs = [(x, y) for x in fitting(one) for y in fitting(other)]
    for x, y in pairs + [(y, x) for x, y in pairs]:
        found = figures(held(x.reshape(1)), held(y.reshape(1)))
        apart = abs(fraction(x) - fraction(y))
        assert bool(found.different) is (apart != 0), (x, y)
        if apart:
            assert found.max_abs == (int(apart) if isinstance(found.max_abs, int) else pytest.approx(float(apart), rel=1e-15)), (x, y)
            assert isinstance(found.max_abs, int) is (x.dtype.kind in "iub" and y.dtype.kind in "iub")


# ---------------------------------------------------------------------------------------------------------------------- histogram


@settings(max_examples=100)
@given(st.data(), st.sampled_from(["f4", "f8", "i4", "u1"]), st.integers(1, 60))
def test_the_histogram_is_numpys(data: Any, kind: str, bins: int) -> None:
    size = data.draw(st.integers(1, 60))
    elements = {"allow_nan": False, "allow_infinity": False, "min_value": -1e4, "max_value": 1e4} if kind[0] == "f" else {}
    a, b = (data.draw(hn.arrays(kind, size, elements=elements or None)) for _ in "ab")
    found = difference_histogram(held(a), held(b), bins)
    apart = b.astype("f8") - a.astype("f8")
    assert (found.low, found.high, found.count, found.complete) == (apart.min(), apart.max(), size, True)
    assert found.equal == int((apart == 0).sum())
    expected = np.histogram(apart, np.array(found.edges))[0]
    assert found.counts == expected.tolist()
    assert (len(found.counts), sum(found.counts)) == (bins, size)
    if apart.min() < apart.max():
        assert (found.edges[0], found.edges[-1]) == pytest.approx((apart.min(), apart.max()), rel=1e-12)


def test_a_histogram_tells_what_has_no_place_in_it() -> None:
    a = np.array([1, math.nan, math.inf, -math.inf, math.nan, 5, 6], "f4")
    b = np.array([2, math.nan, math.inf, 0, 3, 1, 6], "f4")
    found = difference_histogram(held(a), held(b), 5)
    assert (found.count, found.equal, found.nan, found.infinite, found.low, found.high) == (7, 3, 1, 1, -4.0, 1.0)
    assert found.counts == [1, 0, 0, 0, 4], "0 is the lower edge of the last bin"
    near = difference_histogram(held(a), held(b), 2, between=(-1.0, 1.0))
    assert (near.counts, near.outside, near.edges) == ([0, 4], 1, [-1.0, 0.0, 1.0])
    nothing = difference_histogram(held(a[1:2]), held(b[4:5]))
    assert (nothing.counts, nothing.edges, nothing.nan, nothing.complete) == ([], [], 1, True)


def test_histograms_at_the_ends_of_what_numbers_can_be() -> None:
    big = np.finfo("f8").max
    wide = difference_histogram(held(np.array([0.0, 0.0, 0.0])), held(np.array([-big, 0.0, big])), 4)
    assert (wide.counts, wide.edges[0], wide.edges[-1]) == ([1, 0, 1, 1], -big, big)
    tiny = difference_histogram(held(np.zeros(2)), held(np.array([0.0, 5e-324])), 10)
    assert sum(tiny.counts) == 2
    one = difference_histogram(held(np.zeros(3, "f4")), held(np.full(3, 2, "f4")), 2)
    assert (one.edges, one.counts) == ([1.0, 2.0, 3.0], [0, 3])
    far = difference_histogram(held(np.array([2**63], "u8")), held(np.array([-1], "i8")), 1)
    assert far.low == far.high == -float(2**63 + 1)
    signs = difference_histogram(held(np.array([2**63 - 2, 5], "i8")), held(np.array([2**63 - 1, 4], "i8")), 2)
    assert (signs.low, signs.high) == (-1.0, 1.0)


def test_a_histogram_of_complex_and_quantised_numbers() -> None:
    found = difference_histogram(held(np.array([0, 1j], "c8")), held(np.array([3 + 4j, 1j], "c8")), 5)
    assert (found.low, found.high, found.counts) == (0.0, 5.0, [1, 0, 0, 0, 1])
    with pytest.raises(UnsupportedError, match="have no differences"):
        difference_histogram(held(np.zeros(3, "u1"), "bits8"), held(np.zeros(3, "u1"), "bits8"))


@pytest.mark.parametrize(
    ("options", "said"), [({"bins": 0}, "bins=0"), ({"bins": 1 << 20}, "bins="), ({"between": (1, 1)}, "between"), ({"between": (0, math.nan)}, "between")]
)  # fmt: skip
def test_what_a_histogram_cannot_be_asked(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        difference_histogram(held(np.zeros(3, "f4")), held(np.zeros(3, "f4")), **options)
    with pytest.raises(UnsupportedError, match="the shapes are"):
        difference_histogram(held(np.zeros(3, "f4")), held(np.zeros(4, "f4")))


def test_a_histogram_can_be_watched_and_stopped() -> None:
    a, b = np.zeros(1 << 20, "f4"), np.ones(1 << 20, "f4")
    seen: list[tuple[int, int]] = []
    found = difference_histogram(held(a), held(b), step=lambda *read: seen.append(read))
    assert seen[-1] == (4 * a.nbytes, 4 * a.nbytes), "two passes over two tensors"
    assert found.complete
    assert len(found.counts) == BINS
    stopped = difference_histogram(held(a), held(b), step=lambda read, total: read < total / 4)
    assert (stopped.complete, stopped.counts) == (False, [])
    assert 0 < stopped.count < a.size
    later = difference_histogram(held(a), held(b), step=lambda read, total: read < 3 * total / 4)
    assert not later.complete
    assert 0 < sum(later.counts) == later.count < a.size


def test_memory_is_that_of_a_block() -> None:
    a, b = np.zeros(1 << 20, "f4"), np.ones(1 << 20, "f4")
    one, other = held(a), held(b)
    figures(held(a[:5000]), held(b[:5000]))
    tracemalloc.start()
    try:
        assert figures(one, other).different == a.size
        assert sum(difference_histogram(one, other).counts) == a.size
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_a_storage_cut_short_is_damage() -> None:
    short = held(np.zeros(4, "f4"), shape=(5,))
    for call in (figures, difference_histogram):
        with pytest.raises(FormatError):
            call(short, held(np.zeros(5, "f4")))
