"""The shortcut: a whole block of a table as columns, by NumPy.

Knows: the usual block: lengths below 128, restarts that lead to every entry, keys of plain ASCII that ascend. Its entries are followed from
all restarts at once; where each ends at the next one's beginning, reading them one by one would give the same.
Refuses to know: anything else. Of any other block there are no columns, and ``Block.pairs`` reads it and says what is wrong
(tests/test_tensorflow_columns.py holds both against each other).

NumPy is used where the process has it already. Fetching it takes as long as reading some ten thousand entries without it: so many are read
before it is.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from itertools import islice
from operator import lt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sstableblock import Block

STEPS = 64  # entries from one restart to the next; a writer's are 16
SPARE = 32  # bytes behind a block's own, for those who look at several at a time
RENT = 50_000  # entries read without NumPy before it is fetched
_paid = [0]  # how many have been, in this process


class Columns:
    """The entries of one block: the keys as texts (``length``: characters of all of them), and where each value starts and ends in
    ``data`` (``bytes`` as an array)."""

    __slots__ = ("bytes", "data", "ends", "keys", "length", "starts")

    def __init__(self, data: bytes, held: Any, keys: list[str], length: int, starts: Any, ends: Any) -> None:
        self.data = data
        self.length = length
        self.bytes = held
        self.keys = keys
        self.starts = starts
        self.ends = ends

    def has(self, key: str) -> bool:
        at = bisect_left(self.keys, key)
        return self.keys[at : at + 1] == [key]

    def value(self, at: int) -> bytes:
        return self.data[self.starts[at] : self.ends[at]]


def columns(block: Block) -> Columns | None:
    """None for a block that is not the usual one, and where NumPy is not worth its while."""
    if not block.copied or not block.end or not _worth(16 * block.restarts):
        return None
    import numpy as np

    data = bytes(block.data) + bytes(SPARE)
    held = np.frombuffer(data, np.uint8)
    firsts = np.frombuffer(data, "<u4", block.restarts, block.end).astype(np.intp)
    places = _followed(held, firsts, block.end)
    if places is None:
        return None
    shared, own, length = held.take(places), held.take(places + 1), held.take(places + 2)
    begins = places + 3
    starts = begins + own
    ends = starts + length
    if (shared | own | length).max() > 127 or shared[0] or int(shared.sum()) > block.budget:
        return None
    if (shared[1:] > (shared + own)[:-1]).any() or not (np.array_equal(ends[:-1], places[1:]) and ends[-1] == block.end):
        return None
    keys = _keys(held, shared, begins, own, length)
    if keys is None:
        return None
    return Columns(data, held, keys, int(shared.sum()) + int(own.sum()), starts, ends)


def _keys(held: Any, shared: Any, begins: Any, own: Any, length: Any) -> list[str] | None:
    """The keys; None where they are not plain ASCII or do not ascend. What each does not share is put together, behind a NUL each, and
    taken apart as one text."""
    import numpy as np

    text = held[: begins[-1] + int(own[-1]) + int(length[-1])].copy()
    text[begins - 1] = 0
    runs = np.full((len(begins), 3), 2, np.intp)
    runs[:, 1] = own
    runs[:, 1] += 1
    runs[:, 2] = length
    kept = np.repeat(np.tile([False, True, False], len(begins)), runs.ravel())
    try:
        ends = str(text[kept], "ascii").split("\0")
    except UnicodeDecodeError:
        return None
    if len(ends) != len(begins) + 1:
        return None
    key = ""
    keys = [key := key[:same] + end for same, end in zip(shared.tolist(), islice(ends, 1, None), strict=True)]
    return keys if all(map(lt, keys, keys[1:])) else None


def _worth(entries: int) -> bool:
    if "numpy" in sys.modules:
        return True
    _paid[0] += entries
    return _paid[0] > RENT


def _followed(held: Any, firsts: Any, end: int) -> Any:
    """Where every entry begins, in order; None where following them from one restart does not lead to the next."""
    import numpy as np

    stops = np.append(firsts[1:], end)
    if firsts[0] or (firsts >= stops).any():
        return None
    found, at = [], firsts
    for _ in range(STEPS):
        found.append(at)
        after = at + 3
        after += held.take(at + 1)
        after += held.take(at + 2)
        more = after < stops
        if more.all():
            at = after
            continue
        if (after > stops).any():
            return None
        at, stops = after[more], stops[more]
        if not len(at):
            made = np.concatenate(found)
            made.sort()
            return made
    return None
