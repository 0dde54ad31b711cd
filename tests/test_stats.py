"""Statistics: equal to NumPy's over the whole array, exact for integers, and bounded in memory."""

from __future__ import annotations

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

from inert.dtypes import DTYPES, foreign
from inert.errors import FormatError, UnsupportedError
from inert.layout import Layout, Storage, contiguous
from inert.source import BytesSource
from inert.stats import BINS, stats
from inert.tensor import Tensor


def held(array: Any, dtype: str = "", order: str = "little") -> Tensor:
    """A dense tensor over the bytes of ``array``."""
    kind = DTYPES[dtype or array.dtype.name]
    data = array.tobytes()
    where = Storage("0", len(data), kind, "cpu", BytesSource(data).span)
    where.order = order
    return Tensor(Layout(kind, array.shape, contiguous(array.shape), 0, where))


@settings(max_examples=150, deadline=None)
@given(hn.arrays(st.sampled_from(["f4", "f8", "f2"]), st.integers(0, 300), elements={"allow_nan": True, "allow_infinity": True}))
def test_floats_like_numpy(array: Any) -> None:
    found = stats(held(array))
    sound = array[np.isfinite(array)].astype(np.float64)
    assert (found["count"], found["nan"], found["inf"]) == (array.size, int(np.isnan(array).sum()), int(np.isinf(array).sum()))
    assert found["zeros"] == int((array == 0).sum())
    if not sound.size:
        assert (found["min"], found["max"], found["mean"], found["std"], found["histogram"]) == (None,) * 5
        return
    assert (found["min"], found["max"]) == (sound.min(), sound.max())
    with np.errstate(all="ignore"):
        mean, std = sound.mean(), sound.std()
    scale = float(np.abs(sound).max())
    if scale < 1e150:
        assert found["mean"] == pytest.approx(mean, rel=1e-9, abs=1e-9 * scale)
        assert found["std"] == pytest.approx(std, rel=1e-6, abs=1e-7 * scale)
    assert sum(found["histogram"]["counts"]) == sound.size
    assert len(found["histogram"]["edges"]) == len(found["histogram"]["counts"]) + 1


@settings(max_examples=150, deadline=None)
@given(hn.arrays(st.sampled_from(["i1", "u1", "i2", "u4", "i8", "u8", "?"]), st.integers(1, 300)))
def test_integers_exactly(array: Any) -> None:
    found = stats(held(array))
    values = [int(value) for value in array.tolist()]
    assert (found["min"], found["max"], found["zeros"]) == (min(values), max(values), values.count(0))
    assert found["mean"] == sum(values) / len(values)
    assert sum(found["histogram"]["counts"]) == len(values)
    if max(values) - min(values) < BINS:
        assert found["histogram"]["counts"] == [values.count(value) for value in range(min(values), max(values) + 1)]


def test_many_pieces_are_one_whole() -> None:
    array = np.random.default_rng(1).normal(1e6, 1, (1 << 21) + 17).astype(np.float32)
    found = stats(held(array))
    wide = array.astype(np.float64)
    assert found["mean"] == pytest.approx(wide.mean(), rel=1e-14)
    assert found["std"] == pytest.approx(wide.std(), rel=1e-9), "a running sum of squares would be far off here"
    assert sum(found["histogram"]["counts"]) == array.size


def test_the_range_of_float64_itself() -> None:
    big = np.finfo(np.float64).max
    found = stats(held(np.array([-big, 0.0, big])))
    counts = found["histogram"]["counts"]
    assert (counts[0], counts[BINS // 2], counts[-1], sum(counts)) == (1, 1, 1, 3)
    assert all(math.isfinite(edge) for edge in found["histogram"]["edges"])


def test_one_value() -> None:
    found = stats(held(np.full(5, 2.5, np.float32)))
    assert (found["min"], found["max"], found["std"]) == (2.5, 2.5, 0.0)
    assert found["histogram"] == {"edges": [2.5, 2.5], "counts": [5]}


def test_big_endian() -> None:
    array = np.arange(5, dtype=">f4")
    found = stats(held(array, "float32", "big"))
    assert (found["min"], found["max"], found["mean"]) == (0.0, 4.0, 2.0)


def test_complex_by_magnitude() -> None:
    found = stats(held(np.array([3 + 4j, 0, complex("nan"), 1j], np.complex64)))
    assert (found["min"], found["max"], found["nan"], found["zeros"]) == (0.0, 5.0, 1, 1)
    assert found["mean"] == pytest.approx((3 + 5j) / 3)
    assert found["note"] == "ordered by magnitude"


def test_small_floats_are_widened_exactly() -> None:
    found = stats(held(np.array([0x3F80, 0x4000, 0x7FC0], np.uint16), "bfloat16"))
    assert (found["min"], found["max"], found["mean"], found["nan"]) == (1.0, 2.0, 1.5, 1)
    found = stats(held(np.array([0x38, 0x40, 0x7F, 0], np.uint8), "float8_e4m3fn"))
    assert (found["min"], found["max"], found["nan"], found["zeros"]) == (0.0, 2.0, 1, 1)


def test_items_that_straddle_pieces() -> None:
    """No element type of torch does, but a chunk's size is nobody's promise."""
    tensor = held(np.arange(1000, dtype=np.int32))
    data = np.arange(1000, dtype=np.int32).tobytes()

    class Uneven(Tensor):
        def chunks(self) -> Any:
            return (data[at : at + 7] for at in range(0, len(data), 7))

    found = stats(Uneven(tensor.layout))
    assert (found["count"], found["min"], found["max"], found["mean"]) == (1000, 0, 999, 499.5)


@pytest.mark.parametrize(
    ("kind", "dtype", "word"),
    [
        ("meta", "float32", "meta"), ("wrapper", "float32", "components"), ("nested", "float32", "components"),
        ("quantized", "quint4x2", "packs 2"), ("dense", "bits8", "no numbers"),
    ],
)  # fmt: skip
def test_what_has_none_says_why(kind: str, dtype: str, word: str) -> None:
    layout = Layout(DTYPES[dtype], (4,), (1,), 0, None)
    layout.kind = kind
    with pytest.raises(UnsupportedError, match=word):
        stats(Tensor(layout))


def test_texts_have_none() -> None:
    with pytest.raises(UnsupportedError, match="no numbers"):
        stats(Tensor(Layout(foreign("S5", 5), (4,), (1,), 0, None)))


def test_a_damaged_tensor_has_none() -> None:
    layout = held(np.zeros(3)).layout
    layout.fault = "it is damaged"
    with pytest.raises(FormatError, match="it is damaged"):
        stats(Tensor(layout))


def test_memory_is_bounded_by_the_piece() -> None:
    array = np.zeros(40_000_000, np.uint8)
    tensor = held(array)
    seen: list[int] = []
    tracemalloc.start()
    stats(tensor, done=seen.append)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40_000_000
    assert sum(seen) == 2 * array.nbytes, "both passes are told"
