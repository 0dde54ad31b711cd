"""One block of a sorted table: entries that share key prefixes, and restarts.

Knows: how entries follow one another, one by one, all at once, or the one under a key by halving over the restarts.
Refuses to know: what keys and values mean, and where a block lies in its file (sstable.py).

Facts: LevelDB doc/table_format.md; TensorFlow 2.21 lib/io/block.cc.
"""

from __future__ import annotations

from ..errors import FormatError, LimitError
from .protowire import varint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Bytes = bytes | memoryview

STRIDE = 1 << 16  # bytes from one restart to the next on average; a writer's are 16 entries


class Block:
    """One block's bytes without its trailer. ``base``: where they lie in the file, -1 where they were compressed."""

    __slots__ = ("base", "budget", "copied", "data", "end", "places", "restarts")

    def __init__(self, data: Bytes, base: int, budget: int) -> None:
        self.data = data
        self.base = base
        self.budget = budget
        self.copied = isinstance(data, bytes)
        self.places: dict[bytes, tuple[int, int]] | None = None  # of every value, once somebody had to look at all of them
        size = len(data)
        count = int.from_bytes(data[size - 4 :], "little") if size >= 4 else 0
        if not 0 < count <= (size - 4) // 4:
            raise FormatError(f"a block of {size:,} bytes with {count:,} restarts", offset=max(base, 0))
        self.restarts = count
        self.end = size - 4 - 4 * count

    def entries(self, at: int = 0) -> Iterator[tuple[bytes, int, int]]:
        """(key, start and end of its value) in order, from a restart on. FormatError where an entry is damaged, LimitError where shared
        prefixes make far more bytes of keys than there are bytes."""
        data, end, key, budget = self.data, self.end, b"", self.budget
        while at < end:
            first = at
            shared, own, length = data[at : at + 3] if at + 3 <= end else (128, 0, 0)
            if shared | own | length < 0x80:
                at += 3
            else:
                shared, at = varint(data, at, end)
                own, at = varint(data, at, end)
                length, at = varint(data, at, end)
            start = at + own
            at = start + length
            if shared > len(key) or at > end:
                raise self._beyond(first)
            key = key[:shared] + (data[start - own : start] if self.copied else bytes(data[start - own : start]))
            budget -= shared
            if budget < 0:
                raise _shares()
            yield key, start, at

    def pairs(self) -> tuple[list[bytes], list[bytes], FormatError | None]:
        """Every key and every value, as copies; and what ended that too early. The same as ``entries``, in one loop: a listing's time goes
        here."""
        data, end, at, key, budget = bytes(self.data[: self.end]), self.end, 0, b"", self.budget
        keys: list[bytes] = []
        values: list[bytes] = []
        try:
            while at < end:
                first = at
                shared, own, length = data[at : at + 3] if at + 3 <= end else (128, 0, 0)
                if shared | own | length < 0x80:
                    at += 3
                else:
                    shared, at = varint(data, at, end)
                    own, at = varint(data, at, end)
                    length, at = varint(data, at, end)
                start = at + own
                stop = start + length
                if shared > len(key) or stop > end:
                    return keys, values, self._beyond(first)
                key = key[:shared] + data[at:start] if shared else data[at:start]
                budget -= shared
                if budget < 0:
                    raise _shares()
                keys.append(key)
                values.append(data[start:stop])
                at = stop
        except FormatError as error:
            return keys, values, error
        return keys, values, None

    def _beyond(self, at: int) -> FormatError:
        return FormatError("an entry reaches beyond its block", offset=max(self.base, 0) + at)

    def find(self, key: bytes) -> tuple[int, int] | None:
        """Start and end of the value of a key. Where halving over the restarts does not lead to it, or by long walks, every entry
        is looked at, once: restarts that are wrong hide nothing and cost nothing."""
        found = None
        if self.places is None and self.end <= STRIDE * self.restarts:
            try:
                found = self.halve(key)
            except FormatError:
                found = None
        if found is None:
            if self.places is None:
                self.places = {}
                for held, start, end in self.entries():
                    self.places.setdefault(held, (start, end))
            found = self.places.get(key)
        return found

    def halve(self, key: bytes) -> tuple[int, int] | None:
        """The same by halving alone, as TensorFlow does."""
        low, high = 0, self.restarts - 1
        while low < high:  # the last restart whose key is less than the wanted one
            middle = (low + high + 1) // 2
            if self._first(middle) < key:
                low = middle
            else:
                high = middle - 1
        for found, start, end in self.entries(self._restart(low)):
            if found >= key:
                return (start, end) if found == key else None
        return None

    def _restart(self, number: int) -> int:
        at = self.end + 4 * number
        return int.from_bytes(self.data[at : at + 4], "little")

    def _first(self, number: int) -> bytes:
        return next(self.entries(self._restart(number)), (b"", 0, 0))[0]


def _shares() -> LimitError:
    return LimitError("the keys of a block share far more bytes than it has", hint="raise Limits.name_bytes")
