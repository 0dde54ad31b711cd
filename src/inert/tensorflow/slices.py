"""The keys under which slices of a partitioned tensor lie, and what slices make of a whole one.

Knows: the ordered code of names and numbers, both ways; which boxes a tensor's slices are, and whether they leave holes or overlap.
Refuses to know: tables and entries.

Facts: TensorFlow 2.21 lib/strings/ordered_code.cc, util/saved_tensor_slice_util.cc (EncodeTensorNameSlice).
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod

from ..errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .messages import Extent

ESCAPE = re.compile(rb"\0\xff|\xff\0")
NAME = re.compile(rb"\x00((?:[^\x00\xff]|\x00\xff|\xff\x00)*)\x00\x01", re.S)  # a number 0, then an escaped name and its end
WIDEST = 10  # bytes of a number of 64 bits
PAIRS = 1 << 16  # pairs of slices that are held against each other


def key_of(name: bytes, extents: Iterable[Extent]) -> bytes:
    """The key of a slice: its extents as they are written, so that a whole dimension may be length -1 or its size."""
    steps = list(extents)
    width = (len(steps).bit_length() + 7) // 8
    escaped = b"\0\xff".join(part.replace(b"\xff", b"\xff\0") for part in name.split(b"\0"))
    made = [b"\0", escaped, b"\0\1", bytes((width,)), len(steps).to_bytes(width, "big")]
    for start, length in steps:
        made += [_signed(start), _signed(length)]
    return b"".join(made)


def _signed(value: int) -> bytes:
    """A number in as few bytes as hold it with its sign; as many leading bits as there are bytes are turned over."""
    size = (value if value >= 0 else ~value).bit_length()
    width = size // 7 + 1
    return ((value & (1 << 8 * width) - 1) ^ _lead(width)).to_bytes(width, "big")


def _lead(width: int) -> int:
    return ((1 << width) - 1) << (7 * width)


def decode(key: bytes) -> tuple[bytes, tuple[Extent, ...]] | None:
    """(name, extents) of a slice's key; None for a key that is none."""
    try:
        return _decoded(key)
    except (IndexError, FormatError):
        return None


def _decoded(key: bytes) -> tuple[bytes, tuple[Extent, ...]] | None:
    found = NAME.match(key)
    if found is None:
        return None
    at = found.end()
    width = key[at]
    rank, at = int.from_bytes(key[at + 1 : at + 1 + width], "big"), at + 1 + width
    if rank > (len(key) - at) // 2:
        return None
    numbers = []
    for _ in range(2 * rank):
        value, at = _number(key, at)
        numbers.append(value)
    name = ESCAPE.sub(lambda pair: pair[0][:1], found[1])
    return (name, tuple(zip(numbers[::2], numbers[1::2], strict=True))) if at == len(key) else None


def _number(key: bytes, at: int) -> tuple[int, int]:
    first = key[at]
    flip = 0 if first & 0x80 else 0xFF
    lead = (first ^ flip) << 8 | (key[at + 1] ^ flip if first ^ flip == 0xFF else 0)
    width = 16 - (lead ^ 0xFFFF).bit_length()
    raw = key[at : at + width]
    if len(raw) != width or width > WIDEST:
        raise FormatError("a number ends too early or is too long")
    value = int.from_bytes(raw, "big") ^ _lead(width)
    return (value - (1 << 8 * width) if value >> (8 * width - 1) else value), at + width


def spelt(extents: Iterable[Extent]) -> str:
    """A slice as people write one: 0:2,:."""
    return ",".join(":" if length < 0 else f"{start}:{start + length}" for start, length in extents)


# -- boxes ------------------------------------------------------------------------------------------------------------------


def box_of(extents: Sequence[Extent], shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(offsets, sizes) of a slice in a tensor of this shape."""
    if len(extents) != len(shape):
        raise FormatError(f"a slice of {len(extents)} dimensions in a tensor of {len(shape)}")
    sizes = tuple(size if length < 0 else length for (_, length), size in zip(extents, shape, strict=True))
    return tuple(0 if length < 0 else start for start, length in extents), sizes


def uncovered(shape: tuple[int, ...], boxes: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> str:
    """What keeps boxes from being the whole tensor, in words: which overlap, what is in none of them. "" where nothing does."""
    for offsets, sizes in boxes:
        if any(at < 0 or size < 0 or at + size > most for at, size, most in zip(offsets, sizes, shape, strict=True)):
            return f"its slice at {list(offsets)} of shape {list(sizes)} reaches beyond the shape {list(shape)}"
    solid = sorted(box for box in boxes if prod(box[1]))
    if not solid:
        return "" if not prod(shape) else "none of its slices is there"
    if len(solid) ** 2 <= PAIRS:
        for number, (at, size) in enumerate(solid):
            for other, its in solid[number + 1 :]:
                if all(a < b + m and b < a + n for a, n, b, m in zip(at, size, other, its, strict=True)):
                    return f"its slices at {list(at)} and {list(other)} overlap"
    held, wanted = sum(prod(size) for _, size in solid), prod(shape)
    return "" if held == wanted else f"its slices hold {held:,} elements of {wanted:,}{_holes(shape, solid)}"


def _holes(shape: tuple[int, ...], boxes: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> str:
    """Where the gap is, told along the one dimension that the slices were cut in."""
    cut = [i for i, size in enumerate(shape) if any(sizes[i] != size for _, sizes in boxes)]
    if len(cut) != 1:
        return ""
    axis = cut[0]
    runs = sorted((at[axis], at[axis] + size[axis]) for at, size in boxes)
    edges = [0, *(edge for run in runs for edge in run), shape[axis]]
    gaps = [f"{first} to {last - 1}" for first, last in list(pairwise(edges))[::2] if last > first]
    if not gaps:
        return ""
    return f": {', '.join(gaps[:3])}{' …' if len(gaps) > 3 else ''} of dimension {axis} is in none"
