"""Elements of another type: floating numbers rounded as torch's ``Tensor.to()`` does, and Sources whose bytes are made while they are read.

Knows: how torch 2.13 rounds each floating type (to float32 first, then to the nearest, ties to even), which values saturate, overflow or
become zero, and how a whole storage is converted piece by piece in bounded memory.
Refuses to know: names and files. Element types come from the dtype table.

Facts: torch 2.13 c10/util/{Half,BFloat16,Float8_*}.h and ``tensor.to()`` itself, compared value by value
(tests/oracle/test_convert_oracle.py). A NaN stays a NaN; which one depends on the processor in torch, and is that of its scalar code here.
"""

from __future__ import annotations

from threading import Lock

import numpy as np

from .dtypes import DTYPES
from .errors import UnsupportedError
from .layout import Layout, Storage, items_of, pieces
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .dtypes import DType
    from .limits import Limits
    from .source import Span

BLOCK = 1 << 16  # items that are converted at once: they stay in the processor's cache
NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
FLOATS = ("float32", "float64", *NARROW)  # what torch can cast to
# type → (largest finite value, bits without the sign, the first of them that is no number, whether there is an infinity)
RANGES: dict[str, tuple[float, int, int, bool]] = {
    "float16": (65504.0, 0x7FFF, 0x7C00, True),
    "bfloat16": (3.3895313892515355e38, 0x7FFF, 0x7F80, True),
    "float8_e4m3fn": (448.0, 0x7F, 0x7F, False),
    "float8_e5m2": (57344.0, 0x7F, 0x7C, True),
    "float8_e4m3fnuz": (240.0, 0xFF, 0x80, False),
    "float8_e5m2fnuz": (57344.0, 0xFF, 0x80, False),
    "float8_e8m0fnu": (1.7014118346046923e38, 0xFF, 0xFF, False),
    "float32": (3.4028234663852886e38, 0x7FFFFFFF, 0x7F800000, True),
}
OVERFLOW, SATURATED, ZERO = range(3)  # became no number; became the nearest there is; was not zero and is now


# -- numbers ------------------------------------------------------------------------------------------------------------------


def single(values: Any) -> Any:
    """float32 of an array of any floating type. NaNs are made quiet, as processors do."""
    if values.dtype.name == "float8_e8m0fnu":
        exponent = values.view(np.uint8).astype(np.uint32)
        bits = np.where(exponent == 0, np.uint32(0x400000), np.where(exponent == 255, np.uint32(0x7FC00000), exponent << np.uint32(23)))
        return bits.astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        made = values.astype(np.float32)
    empty = np.isnan(made)
    if empty.any():
        made.view(np.uint32)[empty] |= np.uint32(0x400000)
    return made


def rounded(values: Any, wanted: DType) -> Any:
    """float32 numbers as the bits of another type."""
    kind = wanted.array_type()
    if wanted == "float8_e8m0fnu":
        return _exponents(values)
    with np.errstate(all="ignore"):
        if wanted == "bfloat16":
            bits = values.view(np.uint32)
            made = ((bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)).astype(np.uint16)
            made[np.isnan(values)] = 0x7FC0
            return made
        made = values.astype(kind).view(f"u{wanted.itemsize}")
    if wanted == "float8_e4m3fn":  # torch saturates, infinities too
        sign = np.uint8(0x80) & made
        made = np.where(np.abs(values) > 464, sign | np.uint8(0x7E), made)
    elif wanted == "float8_e5m2":
        made = np.where(np.isnan(values), made | np.uint8(0x7F), made)
    return made


def _exponents(values: Any) -> Any:
    """float8_e8m0fnu: the exponent alone, rounded to the nearest power of two (ties to even mantissas); signs are lost."""
    bits = values.view(np.uint32)
    exponent = (bits >> np.uint32(23)) & np.uint32(0xFF)
    half, rest = (bits & np.uint32(0x400000)) != 0, (bits & np.uint32(0x3FFFFF)) != 0
    up = half & (rest | (exponent > 0)) & (exponent < 255)
    return (exponent + up).astype(np.uint8)


def cast(values: Any, wanted: DType) -> tuple[Any, list[Any]]:
    """(the array in another type, as bits; for OVERFLOW, SATURATED and ZERO the places where that happened, None for none)."""
    numbers = single(values)
    if wanted == "float64":
        return numbers.astype(np.float64).view(np.uint64), [None] * 3
    made = numbers.view(np.uint32) if wanted == "float32" else rounded(numbers, wanted)
    return made, _lost(values, numbers, made, wanted)


def _lost(values: Any, numbers: Any, made: Any, wanted: DType) -> list[Any]:
    most, mask, first, infinite = RANGES[wanted]
    given = values if values.dtype == np.float64 else numbers
    with np.errstate(all="ignore"):
        inside = given.size == 0 or (bool(given.min() >= -most) and bool(given.max() <= most))  # False for a NaN
    found: list[Any] = [None] * 3
    plain = wanted != "float8_e8m0fnu"
    magnitude = made & made.dtype.type(mask)
    if not inside:
        gone = magnitude >= first if wanted not in ("float8_e4m3fnuz", "float8_e5m2fnuz") else magnitude == first
        gone &= ~np.isnan(given)
        if infinite:
            gone &= ~np.isinf(given)
        found[OVERFLOW] = _places(gone)
        if wanted == "float8_e4m3fn":
            found[SATURATED] = _places(np.abs(given) > 464)
    if not plain:
        found[SATURATED] = _places(given <= 0)  # it has neither signs nor zero
    elif np.count_nonzero(magnitude) != np.count_nonzero(given):
        found[ZERO] = _places((magnitude == 0) & (given != 0))
    return found


def _places(mask: Any) -> Any:
    at = np.flatnonzero(mask)
    return at if at.size else None


# -- sources ------------------------------------------------------------------------------------------------------------------


class Encoded(Source):
    """The items of a span in another form, made block by block while they are read. ``kernel`` makes the bytes of a block."""

    __slots__ = ("_last", "_lock", "given", "held", "items", "kernel", "wanted")

    def __init__(self, held: Span, items: int, given: int, wanted: int, kernel: Callable[[bytes, int], bytes], name: str) -> None:
        """``given`` and ``wanted``: bytes of an item. ``kernel`` is given the bytes and the number of a block."""
        super().__init__(name, items * wanted)
        self.held = held
        self.items = items
        self.given = given
        self.wanted = wanted
        self.kernel = kernel
        self._lock = Lock()
        self._last = -1, b""

    def readinto(self, offset: int, buffer: memoryview) -> None:
        self.check(offset, len(buffer))
        size, at = BLOCK * self.wanted, 0
        while at < len(buffer):
            number, start = divmod(offset + at, size)
            piece = memoryview(self._block(number))[start : start + len(buffer) - at]
            buffer[at : at + len(piece)] = piece
            at += len(piece)

    def _read(self, offset: int, length: int) -> bytes:
        made = bytearray(length)
        self.readinto(offset, memoryview(made))
        return bytes(made)

    def _block(self, number: int) -> bytes:
        with self._lock:
            if self._last[0] != number:
                start = number * BLOCK
                raw = self.held.read(start * self.given, min(BLOCK, self.items - start) * self.given)
                self._last = number, self.kernel(raw, number)
            return self._last[1]


class Whole(Source):
    """Bytes that are made at once, when first asked for, and let go of when their end has been read."""

    __slots__ = ("_held", "_lock", "make")

    def __init__(self, size: int, make: Callable[[], Any], name: str) -> None:
        """``make`` gives an array of ``size`` bytes."""
        super().__init__(name, size)
        self.make = make
        self._held: memoryview | None = None
        self._lock = Lock()

    def _read(self, offset: int, length: int) -> bytes:
        with self._lock:
            if self._held is None:
                array = np.ascontiguousarray(self.make())
                self._held = array.reshape(-1).view(np.uint8).data
            made = bytes(self._held[offset : offset + length])
            if offset + length == self.size:
                self._held = None
            return made


class InOrder(Source):
    """The elements of a layout one behind another, gathered while they are read from the beginning on; going back begins anew."""

    __slots__ = ("_at", "_left", "_lock", "_pieces", "layout", "limits")

    def __init__(self, layout: Layout, limits: Limits, name: str) -> None:
        super().__init__(name, items_of(layout.dtype, layout.shape) * layout.dtype.itemsize)
        self.layout = layout
        self.limits = limits
        self._lock = Lock()
        self._at = 0  # of the first byte in _left
        self._left = b""
        self._pieces: Iterator[bytes] = iter(())

    def _read(self, offset: int, length: int) -> bytes:
        with self._lock:
            if offset < self._at or not self._at + len(self._left):
                self._at, self._left, self._pieces = 0, b"", pieces(self.layout, self.limits)
            while self._at + len(self._left) <= offset:
                self._at, self._left = self._at + len(self._left), next(self._pieces)
            self._at, self._left = offset, self._left[offset - self._at :]
            made, size = [self._left], len(self._left)
            while size < length:
                made.append(next(self._pieces))
                size += len(made[-1])
            last = made[-1]
            self._at, self._left = offset + size - len(last), last
            return b"".join(made)[:length]


class Cast:
    """One storage in another floating type, whatever views it. ``counts(start, end)``: what befell the items there, as far as they have
    been read: [overflowed, saturated, became zero]."""

    def __init__(self, storage: Storage, given: DType, wanted: DType, runs: Iterable[tuple[int, int]]) -> None:
        """``runs``: (first item, item behind the last) of what will be asked for."""
        self.given, self.wanted = given, wanted
        items = storage.nbytes // given.itemsize
        self.edges = np.array(sorted({0, items, *(edge for run in runs for edge in run)}), np.int64)
        self.found = np.zeros((3, len(self.edges) + 1), np.int64)
        self.seen: set[int] = set()
        self.kind = given.array_type()
        self.swap = storage.order == "big" and given.itemsize > 1
        opener = None if storage.opener is None else lambda: self.source(storage, items).span()
        self.storage = Storage(storage.key, items * wanted.itemsize, wanted, storage.device, opener)
        if storage.fault:
            self.storage.fault = storage.fault

    def source(self, storage: Storage, items: int) -> Source:
        return Encoded(storage.span(), items, self.given.itemsize, self.wanted.itemsize, self._kernel, storage.key)

    def _kernel(self, raw: bytes, number: int) -> bytes:
        values = np.frombuffer(raw, np.uint8)
        if self.swap:
            values = values.reshape(-1, self.given.itemsize)[:, ::-1].copy().reshape(-1)
        made, lost = cast(values.view(self.kind), self.wanted)
        if number not in self.seen:
            self.seen.add(number)
            for what, places in enumerate(lost):
                if places is not None:
                    at = np.searchsorted(self.edges, places + number * BLOCK, side="right")
                    np.add.at(self.found[what], at, 1)
        done: bytes = made.tobytes()
        return done

    def counts(self, start: int, end: int) -> list[int]:
        first, last = np.searchsorted(self.edges, [start, end])
        return [int(n) for n in self.found[:, first + 1 : last + 1].sum(axis=1)]


def wider(dtype: DType) -> DType:
    """The narrowest type of torch before 2.2 that holds every value of this one. UnsupportedError where there is none."""
    found = WIDER.get(dtype)
    if found is None:
        raise UnsupportedError(f"no type of torch before 2.2 holds every {dtype}")
    return DTYPES[found]


WIDER = {
    "uint16": "int32", "uint32": "int64", "uint64": "int64", "complex32": "complex64", "float8_e4m3fn": "float16",
    "float8_e5m2": "float16", "float8_e4m3fnuz": "float16", "float8_e5m2fnuz": "float16", "float8_e8m0fnu": "bfloat16",
}  # fmt: skip


def widened(given: DType, wanted: DType, big: bool) -> Callable[[bytes, int], bytes]:
    """What makes the items of a block wider, value by value."""

    def kernel(raw: bytes, number: int) -> bytes:
        made: bytes
        if given == "complex32":  # pairs of float16
            made = np.frombuffer(raw, ">f2" if big else "<f2").astype(np.float32).tobytes()
        elif given.kind == "u":
            order = ">" if big else "<"
            made = np.frombuffer(raw, f"{order}u{given.itemsize}").astype(f"<i{wanted.itemsize}").tobytes()
        else:
            made = cast(np.frombuffer(raw, np.uint8).view(given.array_type()), wanted)[0].tobytes()
        return made

    return kernel
