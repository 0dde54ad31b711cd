"""Flatbuffers: tables and vectors in a run of bytes, read field by field.

Knows: how a table finds its fields by its vtable, and how vectors, texts and inline numbers lie; every place is bounds-checked.
Refuses to know: any schema, and how to write. Offsets may point anywhere, so that a few bytes can stand for many items: ``budget`` counts
the items that are asked for, and one reading may ask for no more than the file has bytes.

Facts: flatbuffers' internals page (https://flatbuffers.dev/internals/): little-endian, unsigned 32-bit offsets to what lies further back,
a signed one from a table to its vtable.
"""

from __future__ import annotations

from struct import Struct, unpack_from
from struct import calcsize as width_of

from ..errors import FormatError, LimitError, TruncatedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..source import Source, Span

BLOCK = 1 << 16  # bytes of one read: tables lie close together
KEPT = 64  # blocks that are kept
U16, U32, I32 = Struct("<H"), Struct("<I"), Struct("<i")


class Buffer:
    """A source as a flatbuffer. Reads blocks as they are needed; large vectors are given as Spans and not read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.size = source.size
        self.budget = source.size + (1 << 16)
        self._blocks: dict[int, bytes] = {}

    def read(self, at: int, length: int) -> bytes:
        if at < 0 or at + length > self.size:
            raise TruncatedError(f"{length:,} bytes are wanted at {at:,} of {self.size:,}", part=self.source.name, offset=max(at, 0))
        first, last = at // BLOCK, (at + length - 1) // BLOCK
        if first != last:
            return self.source.read(at, length)
        block = self._blocks.get(first)
        if block is None:
            if len(self._blocks) >= KEPT:
                self._blocks.pop(next(iter(self._blocks)))
            start = first * BLOCK
            block = self._blocks[first] = self.source.read(start, min(BLOCK, self.size - start))
        inside = at - first * BLOCK
        return block[inside : inside + length]

    def number(self, form: Struct, at: int) -> int:
        value: int = form.unpack(self.read(at, form.size))[0]
        return value

    def spend(self, count: int) -> None:
        self.budget -= count
        if self.budget < 0:
            text = "its tables hold more items than the file has bytes: many of them are the same"
            raise LimitError(text, part=self.source.name, hint="the file is damaged: get the file again")

    def root(self) -> Table:
        return self.table(self.number(U32, 0))

    def table(self, at: int) -> Table:
        """The table at ``at``. FormatError where its vtable makes no sense."""
        self.spend(1)
        vtable = at - self.number(I32, at)
        size = self.number(U16, vtable)
        if size < 4 or size % 2:
            raise FormatError(f"a vtable of {size} bytes", part=self.source.name, offset=vtable)
        slots = unpack_from(f"<{size // 2}H", self.read(vtable, size))
        return Table(self, at, slots[2:])

    def reach(self, at: int) -> int:
        """Where the offset at ``at`` points."""
        return at + self.number(U32, at)

    def vector(self, at: int, width: int) -> tuple[int, int]:
        """(first item's place, count) of the vector at ``at``, whose items of ``width`` bytes lie inside the file."""
        count = self.number(U32, at)
        if at + 4 + count * width > self.size:
            raise TruncatedError(f"a vector of {count:,} items at {at:,} does not fit", part=self.source.name, offset=at)
        return at + 4, count

    def text(self, at: int) -> str:
        start, count = self.vector(at, 1)
        self.spend(count // 16)
        return self.read(start, count).decode("utf-8", "surrogateescape") if count else ""


class Table:
    """One table: ``slots`` are its fields' distances from ``at``, 0 for one that is not there."""

    __slots__ = ("at", "buffer", "slots")

    def __init__(self, buffer: Buffer, at: int, slots: tuple[int, ...]) -> None:
        self.buffer = buffer
        self.at = at
        self.slots = slots

    def place(self, field: int) -> int:
        """Where the field's inline part lies; 0 where there is none."""
        slot = self.slots[field] if field < len(self.slots) else 0
        return self.at + slot if slot else 0

    def number(self, field: int, form: str, default: Any = 0) -> Any:
        """An inline number of a struct format ("B", "i", "d" …)."""
        at = self.place(field)
        return unpack_from("<" + form, self.buffer.read(at, width_of("<" + form)))[0] if at else default

    def target(self, field: int) -> int:
        """Where the field's offset points; 0 where there is none."""
        at = self.place(field)
        return self.buffer.reach(at) if at else 0

    def table(self, field: int) -> Table | None:
        at = self.target(field)
        return self.buffer.table(at) if at else None

    def text(self, field: int) -> str:
        at = self.target(field)
        return self.buffer.text(at) if at else ""

    def numbers(self, field: int, form: str) -> tuple[Any, ...]:
        """A vector of numbers, all of them."""
        at = self.target(field)
        if not at:
            return ()
        width = width_of("<" + form)
        start, count = self.buffer.vector(at, width)
        self.buffer.spend(count)
        return unpack_from(f"<{count}{form}", self.buffer.read(start, count * width)) if count else ()

    def places(self, field: int) -> list[int]:
        """Where the offsets of a vector of tables or texts point."""
        at = self.target(field)
        if not at:
            return []
        start, count = self.buffer.vector(at, 4)
        offsets = self.numbers(field, "I")
        return [start + 4 * i + offset for i, offset in enumerate(offsets[:count])]

    def span(self, field: int) -> Span | None:
        """A vector of bytes, not read."""
        at = self.target(field)
        if not at:
            return None
        start, count = self.buffer.vector(at, 1)
        return self.buffer.source.span(start, count)
