"""Statistics of a tensor in bounded memory: one pass for the moments, one for the histogram.

Knows: how the stored items of each element type become numbers that NumPy can count with (``numbers``), and how to add up what the pieces
of a tensor say without losing exactness (integers) or stability (floats).
Refuses to know: names, files and how anything is printed.

Meaning: min, max, mean and std are over the finite values; std is that of the population (divided by the count); complex numbers are
ordered by magnitude, their mean is complex; quantised tensors give their integers.
"""

from __future__ import annotations

from .errors import UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .dtypes import DType
    from .tensor import Tensor

BINS = 20
STEP = 1 << 20  # values widened at a time: 8 MiB as float64
NOTES = {
    "complex": "ordered by magnitude",
    "quantized": "of the stored integers, before scale and zero point",
    "sparse": "of the dense array",
}


def stats(tensor: Tensor, bins: int = BINS, done: Callable[[int], None] | None = None) -> dict[str, Any]:
    """count, nan, inf, zeros, min, max, mean, std and a histogram {edges, counts}; None where no finite value gives one.

    ``done`` is told of the bytes that have been read. Raises UnsupportedError where the elements are no numbers or not there at all,
    FormatError for a damaged tensor, LimitError as ``numpy()`` does."""
    said = refusal(tensor)
    if said:
        raise UnsupportedError(said, part=tensor.name)
    made = _First()
    for piece, size in pieces(tensor):
        made.add(piece)
        if done is not None:
            done(size)
    found = made.result()
    found["histogram"] = _histogram(tensor, made, bins, done)
    note = "complex" if made.complex else tensor.kind.partition("_")[0]
    if note in NOTES:
        found["note"] = NOTES[note]
    return found


def refusal(tensor: Tensor) -> str:
    """Why there are no statistics, "" where there are."""
    dtype, kind = tensor.dtype, tensor.kind
    if kind == "meta":
        return "a tensor on the meta device has no data"
    if kind == "nested" or (kind == "wrapper" and tensor.storage is None):
        return f"a {kind} tensor is no single array; ask for one of its components"
    if dtype.kind == "q" and dtype.packed > 1:
        return f"{dtype} packs {dtype.packed} values in a byte; there are no statistics of packed values"
    if dtype.kind not in "biufcq":
        return f"{dtype} elements are no numbers"
    return ""


# -- items → numbers ------------------------------------------------------------------------------------------------------


def numbers(data: Any, dtype: DType) -> Any:
    """Stored items (contiguous little-endian bytes, or an array of them) as an array of a type that NumPy itself can count with:
    bfloat16, float8 and float4 widened to float32, complex32 to complex64, which hold them exactly; the rest as they are."""
    import numpy as np

    if isinstance(data, (bytes, bytearray, memoryview)):
        if dtype.kind == "c" and not dtype.numpy:
            return _halves(data, dtype)
        data = np.frombuffer(data, dtype.array_type())
        if dtype.canonical == "float4_e2m1fn" and dtype.packed > 1:
            data = _nibbles(data)
    with np.errstate(invalid="ignore"):  # a signalling NaN is a value like any other
        return data.astype(np.float32) if data.dtype.kind == "V" and dtype.kind == "f" else data


def _halves(data: Any, dtype: DType) -> Any:
    """complex32: pairs of float16; bcomplex32: of bfloat16."""
    import ml_dtypes
    import numpy as np

    parts = np.frombuffer(data, "<f2" if dtype == "complex32" else ml_dtypes.bfloat16)
    with np.errstate(invalid="ignore"):
        return parts.astype(np.float32).view(np.complex64)


def _nibbles(items: Any) -> Any:
    """Two float4 values a byte, the low one first."""
    import ml_dtypes
    import numpy as np

    pairs = np.stack((items & np.uint8(15), items >> np.uint8(4)), axis=-1)
    return pairs.reshape(-1).view(ml_dtypes.float4_e2m1fn)


def pieces(tensor: Tensor) -> Iterator[tuple[Any, int]]:
    """(one-dimensional numbers, bytes read for them), at most STEP values at a time, in row-major order."""
    import numpy as np

    if tensor.kind.startswith("sparse"):
        dense = numbers(np.ascontiguousarray(tensor.numpy()).reshape(-1), tensor.dtype)
        yield from ((dense[at : at + STEP], 0) for at in range(0, dense.size, STEP))
        return
    width = max(1, tensor.dtype.itemsize)
    left = b""  # of an item that two chunks share
    for data in tensor.chunks():
        whole = memoryview(left + data if left else data)
        sound = len(whole) // width * width
        for at in range(0, sound, STEP * width):
            part = whole[at : min(at + STEP * width, sound)]
            yield numbers(part, tensor.dtype), len(part)
        left = bytes(whole[sound:])


# -- the first pass -------------------------------------------------------------------------------------------------------


class _First:
    """What the pieces say together. Integers are added up exactly; floats by mean and squared deviation of each piece (Chan et al.)."""

    def __init__(self) -> None:
        self.count = self.nan = self.inf = self.zeros = self.finite = 0
        self.min: Any = None
        self.max: Any = None
        self.total = 0  # of integers
        self.mean: Any = 0.0
        self.squares = 0.0
        self.complex = self.exact = False

    def add(self, piece: Any) -> None:
        import numpy as np

        if not piece.size:
            return
        self.count += piece.size
        self.zeros += int(piece.size - np.count_nonzero(piece))
        self.exact = piece.dtype.kind in "biu"
        self.complex = piece.dtype.kind == "c"
        if not self.exact:
            sound = np.isfinite(piece)
            if not sound.all():
                nan = int(np.isnan(piece).sum())
                self.nan += nan
                self.inf += int(piece.size - sound.sum()) - nan
                piece = piece[sound]
        if piece.size:
            self._moments(piece)

    def _moments(self, piece: Any) -> None:
        import numpy as np

        ordered = magnitude(piece)
        low, high = ordered.min().item(), ordered.max().item()
        self.min = low if self.min is None else min(self.min, low)
        self.max = high if self.max is None else max(self.max, high)
        if self.exact:
            self.total += exact_sum(piece)
        with np.errstate(all="ignore"):
            wide = piece.astype(np.complex128 if self.complex else np.float64, copy=False)
            mean = wide.mean()
            squares = float((np.abs(wide - mean) ** 2).sum())
            shift, both = mean - self.mean, self.finite + piece.size
            self.squares += squares + float(abs(shift) ** 2) * self.finite * piece.size / both
            self.mean = self.mean + shift * (piece.size / both)
            self.finite = both

    def result(self) -> dict[str, Any]:
        made: dict[str, Any] = {"count": self.count, "nan": self.nan, "inf": self.inf, "zeros": self.zeros}
        if not self.finite:
            return {**made, "min": None, "max": None, "mean": None, "std": None}
        mean = self.total / self.count if self.exact else complex(self.mean) if self.complex else float(self.mean)
        std = (self.squares / self.finite) ** 0.5
        return {**made, "min": plain_number(self.min), "max": plain_number(self.max), "mean": mean, "std": std}


def magnitude(piece: Any) -> Any:
    """What is ordered: the numbers themselves, the magnitudes of complex ones."""
    import numpy as np

    return np.abs(piece.astype(np.complex128)) if piece.dtype.kind == "c" else piece


def plain_number(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value


def exact_sum(piece: Any) -> int:
    """The sum of integers without overflow: at most 2^20 of them, so that the halves of 64-bit ones add up within 64 bits."""
    import numpy as np

    if piece.dtype.itemsize < 8:
        return int(piece.sum(dtype=np.int64))
    return (int((piece >> 32).sum(dtype=np.int64)) << 32) + int((piece & np.array(0xFFFFFFFF, piece.dtype)).sum(dtype=np.int64))


# -- the second pass ------------------------------------------------------------------------------------------------------


def _histogram(tensor: Tensor, first: _First, bins: int, done: Callable[[int], None] | None) -> dict[str, Any] | None:
    """Counts of the finite values in ``bins`` equal steps from min to max; fewer where the integers between them are fewer."""
    import numpy as np

    if not first.finite:
        return None
    low, high = first.min, first.max
    single = first.exact and high - low < bins  # a bin for each integer
    bins = int(high - low) + 1 if single else 1 if low == high else bins
    counts = np.zeros(bins, np.int64)
    for piece, size in pieces(tensor):
        if single:
            place = (piece.astype(np.uint8) if piece.dtype.kind == "b" else piece) - np.array(low, piece.dtype)
        else:
            with np.errstate(invalid="ignore"):  # a signalling NaN is a value like any other
                place = _places(magnitude(piece).astype(np.float64), low, high, bins)
        counts += np.bincount(place.astype(np.int64), minlength=bins)
        if done is not None:
            done(size)
    if single:
        edges = [low - 0.5 + i for i in range(bins + 1)]
    else:
        edges = [float(low) * (1 - i / bins) + float(high) * (i / bins) for i in range(bins + 1)]
    return {"edges": edges, "counts": counts.tolist()}


def _places(values: Any, low: float, high: float, bins: int) -> Any:
    """Which bin each finite value falls into. Halves are compared: the range of float64 values may itself be infinite."""
    import numpy as np

    values = values[np.isfinite(values)] / 2
    span = high / 2 - low / 2
    if not span:
        return np.zeros(values.size, np.int64)
    return np.clip(((values - low / 2) / span * bins).astype(np.int64), 0, bins - 1)
