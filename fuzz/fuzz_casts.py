"""Whatever the elements, casts, statistics and widened types give what NumPy and ml_dtypes give for the same values, in whichever pieces they are read."""

from __future__ import annotations

import math

import numpy as np
from driver import instrument, run

with instrument():
    from inert.casts import FLOATS, NARROW, SATURATED, WIDER, Cast, InOrder, Whole, cast, single, widened, wider
    from inert.dtypes import DTYPES
    from inert.layout import Layout, Storage
    from inert.limits import DEFAULT
    from inert.source import BytesSource
    from inert.stats import stats
    from inert.tensor import Tensor

READS = ("casts", "stats", "widened")
FINITE = {
    "float16": 65504.0,
    "bfloat16": 3.38e38,
    "float8_e4m3fn": 448.0,
    "float8_e5m2": 57344.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2fnuz": 57344.0,
}


def tensor_of(raw: bytes, dtype: str) -> Tensor:
    storage = Storage("s", len(raw), DTYPES[dtype], "cpu", lambda: BytesSource(raw).span())
    return Tensor(Layout(DTYPES[dtype], (len(raw) // DTYPES[dtype].itemsize,), (1,), 0, storage), DEFAULT, "t")


def cast_same(raw: bytes, given: str, wanted: str) -> None:
    kind = DTYPES[given].array_type()
    values = np.frombuffer(raw, np.uint8).view(kind)
    made, lost = cast(values, DTYPES[wanted])
    assert made.dtype.itemsize == DTYPES[wanted].itemsize
    with np.errstate(all="ignore"):
        numbers = values.astype(np.float32)
        result = made.view(DTYPES[wanted].array_type()).astype(np.float64)
        if wanted in FINITE:
            expected = numbers.astype(DTYPES[wanted].array_type()).astype(np.float64)
            plain = np.abs(numbers) <= FINITE[wanted]
            assert np.array_equal(result[plain], expected[plain])
        elif wanted in ("float32", "float64") and given != "float8_e8m0fnu":
            assert np.array_equal(result, numbers.astype(np.float64), equal_nan=True)
        if wanted != "float8_e8m0fnu" and given != "float8_e8m0fnu":
            assert np.array_equal(np.isnan(result) >= np.isnan(numbers), np.ones(len(values), bool))
    assert all(places is None or (places < len(values)).all() for places in lost)
    assert single(values).dtype == np.float32


def in_pieces(raw: bytes, given: str, wanted: str, at: int) -> None:
    """A storage that is cast while it is read: the same bytes in any pieces."""
    storage = tensor_of(raw, given).storage
    assert storage is not None
    items = len(raw) // DTYPES[given].itemsize
    whole = cast(np.frombuffer(raw, np.uint8).view(DTYPES[given].array_type()), DTYPES[wanted])[0].tobytes()
    made = Cast(storage, DTYPES[given], DTYPES[wanted], [(0, items)]).storage.span()
    middle = at % (len(whole) + 1)
    assert made.read(middle) + made.read(0, middle) == whole[middle:] + whole[:middle]
    array = np.frombuffer(raw, np.uint8)
    held = Whole(len(raw), lambda: array, "whole")
    assert held.span(at % (len(raw) + 1)).read() == raw[at % (len(raw) + 1) :]
    rows = InOrder(tensor_of(raw, given).layout, DEFAULT, "rows").span()
    assert rows.read(at % (len(raw) + 1)) + rows.read() == raw[at % (len(raw) + 1) :] + raw


def wide_same(raw: bytes, given: str, big: bool) -> None:
    wanted = wider(DTYPES[given])
    made = widened(DTYPES[given], wanted, big)(raw, 0)
    if given.startswith("uint"):
        order = ">" if big else "<"
        assert np.array_equal(
            np.frombuffer(made, f"<i{wanted.itemsize}"),
            np.frombuffer(raw, f"{order}u{DTYPES[given].itemsize}").astype(f"<i{wanted.itemsize}"),
        )
    assert len(made) // wanted.itemsize == len(raw) // DTYPES[given].itemsize


def told_same(raw: bytes, dtype: str) -> None:
    """Statistics against NumPy's, in float64."""
    said = stats(tensor_of(raw, dtype))
    with np.errstate(all="ignore"):
        values = np.frombuffer(raw, np.uint8).view(DTYPES[dtype].array_type())
        numbers = values.astype(np.float64) if DTYPES[dtype].kind not in "iu" else values
        finite = numbers[np.isfinite(numbers)]
        assert said["count"] == len(numbers)
        assert said["nan"] == int(np.isnan(numbers).sum())
        assert said["inf"] == int(np.isinf(numbers).sum())
        assert said["zeros"] == int((numbers == 0).sum())
        if len(finite):
            assert (said["min"], said["max"]) == (finite.min(), finite.max()), said
            exact = math.fsum(map(float, finite)) / len(finite) if np.abs(finite.astype(np.float64)).max() < 1e300 else None
            assert exact is None or math.isclose(
                said["mean"], exact, rel_tol=1e-9, abs_tol=1e-9 * float(np.abs(finite.astype(np.float64)).max())
            ), (said, exact)
            assert said["histogram"] is None or sum(said["histogram"]["counts"]) == len(finite)
        else:
            assert said["min"] is None


WHOLE = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def one(data: bytes) -> None:
    if len(data) < 12:
        return
    first, second, third, at, raw = data[0], data[1], data[2], data[3], data[4:2052]
    given, wanted = FLOATS[first % len(FLOATS)], FLOATS[second % len(FLOATS)]
    size = DTYPES[given].itemsize
    cast_same(raw[: len(raw) // size * size], given, wanted)
    in_pieces(raw[: len(raw) // size * size], given, wanted, at)
    wide = list(WIDER)[third % len(WIDER)]
    wide_same(raw[: len(raw) // 8 * 8], wide, bool(at & 1))
    told = (*FLOATS, *WHOLE)[third % (len(FLOATS) + len(WHOLE))]
    size = DTYPES[told].itemsize
    if told != "float8_e8m0fnu":
        told_same(raw[: len(raw) // size * size], told)


assert set(NARROW) < set(FLOATS)
assert SATURATED == 1
EDGES = np.array(
    [0.0, -0.0, 1.0, 448.0, 464.0, 465.0, 65504.0, 65520.0, 5.9e-8, 1e-45, np.inf, -np.inf, np.nan, 3.4e38, 57344.0, 61440.0, 240.0, 248.0],
    "<f4",
).tobytes()

run(
    one,
    seeds=[
        *[bytes([a, b, (a * 7 + b) % 19, 5]) + EDGES for a in range(len(FLOATS)) for b in range(0, len(FLOATS), 3)],
        bytes([1, 2, 3, 4]) + np.array([1e308, -1e308, 5e-324], "<f8").tobytes(),
    ],
    smoke=4000,
)
