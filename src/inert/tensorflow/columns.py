"""Tensors of a whole block of the index at once: the other half of the shortcut (containers/sstablecolumns.py).

Knows: which entries are usual ones (type and shape first and short, then shard, offset, size and checksum), found for a whole block by
NumPy; what equal beginnings say is read once, as any other entry is. A Listed is such a tensor; the rest of its entry is taken apart when
somebody asks for its Layout.
Refuses to know: entries that are not usual. They are named, for ``entries.stored`` to read.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import repeat

from ..errors import FormatError
from ..tensor import Tensor
from .entries import Head, Stored
from .messages import entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..containers.sstablecolumns import Columns
    from ..dtypes import DType
    from ..layout import Layout
    from ..limits import Limits
    from .entries import Bundle

WORDS = 3  # of eight bytes that the beginnings of entries are compared by: type and shape of up to four or five dimensions
LONGEST = 8 * WORDS
SHIFT = 50  # of a product of 64 bits, the highest 14 are the place in a table of beginnings
FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)


class Run:
    """The entries of one block. ``path``: the path of a tensor by its name."""

    __slots__ = ("bundle", "columns", "heads", "path")

    def __init__(self, bundle: Bundle, columns: Columns, heads: dict[bytes, Head], path: Callable[[str], tuple[Any, ...]]) -> None:
        self.bundle = bundle
        self.columns = columns
        self.heads = heads
        self.path = path

    def raw(self, name: str) -> bytes:
        """The entry of one of the names."""
        return self.columns.value(bisect_left(self.columns.keys, name))

    def layout(self, name: str) -> Layout:
        raw = self.raw(name)
        return Stored(self.heads[raw[: 4 + raw[3]]], raw).layout()

    def tensors(self) -> tuple[list[Any], list[int]]:
        """A tensor for each entry, and the numbers of those that are not usual ones, for which there is None."""
        heads, odd = usual(self.bundle, self.columns, self.heads)
        made: list[Any] = list(map(Listed.__new__, repeat(Listed, len(heads))))
        for tensor, name, head in zip(made, self.columns.keys, heads, strict=True):
            tensor.name = name
            tensor.run = self
            tensor.dtype = head.dtype
            tensor.shape = head.shape
        for number in odd:
            made[number] = None
        return made, odd


class Listed(Tensor):
    """A tensor known by its place in a Run. It is like any other one; nothing but its name, type and shape has been made. What the Run says
    of its path and its limits needs no room here, which is taken by what everybody asks for: there may be a million."""

    __slots__ = ()
    if TYPE_CHECKING:
        dtype: DType
        shape: tuple[int, ...]
        run: Run
    else:
        dtype, shape, run = Tensor._base, Tensor._key, Tensor.limits

    @property
    def layout(self) -> Layout:
        try:
            made: Layout = self._layout
        except AttributeError:
            made = self._layout = self.run.layout(self.name)
        return made

    @property
    def limits(self) -> Limits:  # type: ignore[override]
        return self.run.bundle.limits

    @property
    def path(self) -> tuple[Any, ...]:
        return self.run.path(self.name)

    def place(self, name: str, base: tuple[Any, ...], key: Any) -> Tensor:
        return Tensor(self.layout, self.limits).place(name, base, key)


class Odd:
    """Stands for the Head of an entry that is to be read on its own."""

    dtype = shape = None


def usual(bundle: Bundle, columns: Columns, known: dict[bytes, Head]) -> tuple[list[Any], list[int]]:
    """What each entry says of type and shape, and the numbers of the entries that are not usual ones, for which that is Odd.
    ``known``: what equal beginnings of entries were found to say."""
    import numpy as np

    held, starts, ends = columns.bytes, columns.starts, columns.ends
    shape_size = held.take(starts + 3)
    sizes = shape_size.astype(np.intp) + 4
    fine = (held.take(starts) == 8) & (held.take(starts + 1) < 128) & (held.take(starts + 2) == 0x12)
    fine &= (sizes <= LONGEST) & (starts + sizes <= ends)
    sizes *= fine
    words = beginnings(columns, sizes)
    places = words[0] * np.uint64(FACTORS[0])
    for word, factor in zip(words[1:], FACTORS[1:], strict=False):
        places ^= word * np.uint64(factor)
    places >>= np.uint64(SHIFT)
    numbers = np.arange(len(starts))
    table = np.zeros(1 << 64 - SHIFT, np.intp)
    places = places.astype(np.intp)
    table[places] = numbers
    first = table.take(places)  # the number of one entry in the same place, most often with the same beginning
    for word in words:
        fine &= word == word.take(first)
    fine &= tails(held, starts + sizes, ends)
    heads = np.empty(len(starts), object)
    for number in np.flatnonzero((first == numbers) & (sizes > 0)).tolist():
        raw = columns.data[starts[number] : starts[number] + sizes[number]]
        try:
            heads[number] = known.get(raw) or known.setdefault(raw, Head(bundle, entry(raw)))
        except FormatError:
            fine &= first != number
    odd = np.flatnonzero(~fine)
    made = heads.take(first)
    made[odd] = Odd
    return made.tolist(), odd.tolist()


def beginnings(columns: Columns, sizes: Any) -> list[Any]:
    """The first ``sizes`` bytes of each value as numbers of eight bytes, as many as the longest one takes."""
    import numpy as np
    from numpy.lib.stride_tricks import as_strided

    size = len(columns.data)
    anywhere = as_strided(np.frombuffer(columns.data, "<u8", size // 8), (size - 7,), (1,), writeable=False)
    return [
        anywhere[columns.starts + 8 * number] & mask.take(sizes) for number, mask in enumerate(masks()[: -(-int(sizes.max()) // 8) or 1])
    ]


@lru_cache(1)
def masks() -> Any:
    """[word][size]: the bits of a word that are of the first so many bytes."""
    import numpy as np

    made = [[(1 << 8 * min(max(size - 8 * word, 0), 8)) - 1 for size in range(LONGEST + 1)] for word in range(WORDS)]
    return np.array(made, np.uint64)


def tails(held: Any, at: Any, ends: Any) -> Any:
    """Whether entries end as ``messages.TAIL`` has it from ``at`` on: shard, offset, size, checksum, each at most once, nothing else."""
    there = (held.take(at) == 0x18) & (at < ends)
    fine = ~there | (held.take(at + 1) < 128)
    at = at + 2 * there
    for tag in (0x20, 0x28):
        more = there = (held.take(at) == tag) & (at < ends)
        at += there
        for _ in range(8):
            more = more & (held.take(at) > 127)
            if not more.any():
                break
            at += more
        fine &= ~(there & (held.take(at) > 127))
        at += there
    at += 5 * ((held.take(at) == 0x35) & (at < ends))
    fine &= at == ends
    return fine
