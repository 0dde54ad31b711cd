"""Sorted tables of keys and values in blocks, as LevelDB makes them and TensorFlow has taken over.

Knows: the footer, the index block, data blocks with shared key prefixes and restarts, compressed blocks, and the masked CRC-32C behind
each block. A block is read when it is asked for: one key costs one block, found by halving over the index and over the block's restarts.
Refuses to know: what keys and values mean. The metaindex block is not read, as TensorFlow does not.

What is damaged costs its own block: ``entries`` goes on with the next one. Checksums and order are the business of the checks at the end;
each is a function that gives faults and never raises for the bytes.

Facts: LevelDB doc/table_format.md; TensorFlow 2.21 lib/io/table.cc, block.cc, format.cc. Offsets count bytes of the file.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from operator import lt

from ..errors import FormatError, InertError, LimitError, TruncatedError
from .crc32c import crc32c, masked
from .protowire import encoded, varint
from .sstableblock import Block
from .sstablecolumns import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from ..limits import Limits
    from ..source import Source, Span
    from .sstablecolumns import Columns

    Bytes = bytes | memoryview

FOOTER, TRAILER = 48, 5
MAGIC = bytes.fromhex("57fb808b247547db")
PLAIN, SNAPPY = 0, 1
KEPT = 64 << 20  # bytes of blocks that are kept for further keys
COPIED = 1 << 20  # blocks up to this size are read as bytes, which are quicker to take apart than a view; larger ones hold tensors


def is_table(source: Source) -> bool:
    """Whether the last eight bytes say so."""
    return source.size >= FOOTER and source.read(source.size - 8, 8) == MAGIC


class Fault:
    """What is wrong with one block or entry: a short code (block, crc, order), words, and where in the file."""

    __slots__ = ("code", "message", "offset")

    def __init__(self, code: str, message: str, offset: int) -> None:
        self.code = code
        self.message = message
        self.offset = offset


class Table:
    """A table over a Source. Making one reads the footer and the index block. TruncatedError, FormatError where these are no such thing."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.kept: dict[tuple[int, int], Block] = {}
        self.room = KEPT
        if source.size < FOOTER:
            raise TruncatedError(f"{source.size:,} bytes are too few for a table", part=source.name, hint="get the file again")
        footer = source.read(source.size - FOOTER, FOOTER)
        if not footer.endswith(MAGIC):
            hint = "it is cut short or of another program; get the file again"
            raise FormatError("it does not end with the mark of a table", part=source.name, offset=source.size - 8, hint=hint)
        handles, at, what = [], 0, "footer"
        try:
            for _ in range(4):
                value, at = varint(footer, at, 40)
                handles.append(value)
            self.plain = footer[:40] == b"".join(map(encoded, handles)).ljust(40, b"\0")
            what = "index block"
            self.meta, self.index = (handles[0], handles[1]), (handles[2], handles[3])
            block = self.block(self.index)
            self.keys: list[bytes] = []  # of each block: no key in it is greater
            self.handles: list[tuple[int, int]] = []
            for key, start, end in block.entries():
                offset, middle = varint(block.data, start, end)
                self.handles.append((offset, varint(block.data, middle, end)[0]))
                self.keys.append(key)
        except InertError as error:
            raise FormatError(f"its {what}: {error.message}", part=source.name, offset=error.offset, hint="get the file again") from None

    def block(self, handle: tuple[int, int]) -> Block:
        """The block at (offset, size). FormatError where it is damaged, LimitError where it would inflate too far."""
        offset, size = handle
        source = self.source
        if offset + size + TRAILER > source.size:
            raise TruncatedError(f"a block of {size:,} bytes at {offset:,} reaches beyond the end", part=source.name, offset=offset)
        kind = source.read(offset + size, 1)[0]
        if kind == PLAIN:
            data: Bytes | None = source.view(offset, size) if size > COPIED else None
            return Block(source.read(offset, size) if data is None else data, offset, self.limits.name_bytes)
        if kind != SNAPPY:
            raise FormatError(f"a block of unknown compression {kind}", part=source.name, offset=offset)
        from .snappy import inflate

        return Block(inflate(source.read(offset, size), self.limits.inflated), -1, self.limits.name_bytes)

    def find(self, key: bytes) -> tuple[Block, int, int] | None:
        """The block that holds a key, with start and end of its value; reads that block only."""
        number = bisect_left(self.keys, key)
        if number == len(self.keys):
            return None
        block = self._kept(self.handles[number])
        found = block.find(key)
        return None if found is None else (block, *found)

    def _kept(self, handle: tuple[int, int]) -> Block:
        """A block, which is kept: one key of it is seldom the last."""
        block = self.kept.get(handle)
        if block is None:
            block = self.block(handle)
            self.room -= len(block.data)
            if self.room < 0:
                self.kept, self.room = {}, KEPT - len(block.data)
            self.kept[handle] = block
        return block

    def has(self, key: bytes) -> bool:
        """Whether TensorFlow would find a key."""
        number = bisect_left(self.keys, key)
        return number < len(self.keys) and self._kept(self.handles[number]).halve(key) is not None

    def get(self, key: bytes) -> bytes | None:
        found = self.find(key)
        return None if found is None else bytes(found[0].data[found[1] : found[2]])

    def entries(self, faults: list[Fault]) -> Iterator[tuple[bytes, Block, int, int]]:
        """Every entry that can be read; what cannot, and what is out of order, goes into ``faults``."""
        last, count, above = None, 0, None
        for handle, most in zip(self.handles, self.keys, strict=True):
            try:
                block = self.block(handle)
                for key, start, end in block.entries():
                    if above is not None and key <= above:
                        text = f"the index has the key {above[:80]!r} for blocks before the one with {key[:80]!r}"
                        faults.append(Fault("order", text, handle[0]))
                    above = None
                    if last is not None and key <= last:
                        faults.append(_disorder(last, key, handle[0]))
                    if key > most:
                        text = f"the index has the key {most[:80]!r} for a block with {key[:80]!r}"
                        faults.append(Fault("order", text, handle[0]))
                    last = key
                    yield key, block, start, end
                    count += 1
                    if count > self.limits.entries:
                        raise LimitError(f"more than {self.limits.entries:,} entries", part=self.source.name, hint="raise Limits.entries")
            except FormatError as error:
                faults.append(Fault("block", error.message, handle[0] if error.offset is None else error.offset))
            above = most

    def listing(self, faults: list[Fault]) -> Iterator[Columns | tuple[list[bytes], list[bytes]]]:
        """The entries of block after block: as Columns, or keys and values as copies. The same as ``entries``, quicker where values are
        small."""
        last, count, above = b"", 0, b""
        for handle, most in zip(self.handles, self.keys, strict=True):
            found, wrong = self._rows(handle)
            if wrong is not None:
                faults.append(Fault("block", wrong.message, handle[0] if wrong.offset is None else wrong.offset))
            keys: Sequence[Any] = found[0] if isinstance(found, tuple) else found.keys
            if keys:
                first, end = (key if isinstance(key, bytes) else key.encode() for key in (keys[0], keys[-1]))
                if count and first <= last:
                    faults.append(_disorder(last, first, handle[0]))
                if isinstance(found, tuple) and not all(map(lt, keys, keys[1:])):  # those of Columns ascend
                    faults += [_disorder(before, key, handle[0]) for before, key in pairwise(keys) if key <= before]
                last, count = end, count + len(keys)
                if last > most or (first <= above and handle != self.handles[0]):
                    text = f"the index has the key {most[:80]!r} for the block from {first[:80]!r} to {last[:80]!r}"
                    faults.append(Fault("order", text, handle[0]))
            above = most
            if count > self.limits.entries:
                raise LimitError(f"more than {self.limits.entries:,} entries", part=self.source.name, hint="raise Limits.entries")
            yield found

    def _rows(self, handle: tuple[int, int]) -> tuple[Columns | tuple[list[bytes], list[bytes]], FormatError | None]:
        """What can be read of a block, and what ended that too early."""
        try:
            block = self.kept.get(handle) or self.block(handle)
        except FormatError as error:
            return ([], []), error
        found = columns(block)
        if found is not None:
            return found, None
        keys, values, wrong = block.pairs()
        return (keys, values), wrong

    def span(self, block: Block, start: int, end: int) -> Span | None:
        """Where a value lies plainly in the file; None where its block is compressed."""
        return None if block.base < 0 else self.source.span(block.base + start, end - start)


def _disorder(before: bytes, key: bytes, offset: int) -> Fault:
    what = "twice" if key == before else "out of order"
    return Fault("order", f"the key {key[:80]!r} stands there {what}", offset)


# -- checks -----------------------------------------------------------------------------------------------------------------


def checksums(table: Table) -> Iterator[Fault]:
    """Every block whose stored CRC-32C is not that of its bytes."""
    for name, (offset, size) in [("", one) for one in table.handles] + [("metaindex ", table.meta), ("index ", table.index)]:
        if offset + size + TRAILER > table.source.size:
            if name:
                yield Fault("block", f"the {name}block reaches beyond the end", offset)
            continue  # a data block's is told by ``entries``
        crc, at = 0, offset
        while at < offset + size + 1:
            piece = table.source.read(at, min(1 << 20, offset + size + 1 - at))
            crc, at = crc32c(piece, crc), at + len(piece)
        stored = int.from_bytes(table.source.read(offset + size + 1, 4), "little")
        if masked(crc) != stored:
            yield Fault("crc", f"the {name}block of {size:,} bytes has the checksum {masked(crc):08x}, not {stored:08x}", offset)


def layout(table: Table) -> Iterator[Fault]:
    """Blocks that share bytes, and bytes between them that nothing refers to."""
    runs = sorted([*table.handles, table.meta, table.index])
    end = 0
    for offset, size in runs:
        if offset < end:
            yield Fault("overlap", "two blocks share bytes", offset)
        elif offset > end:
            yield Fault("gap", f"{offset - end:,} bytes belong to no block", end)
        end = max(end, offset + size + TRAILER)
    if end < table.source.size - FOOTER:
        yield Fault("gap", f"{table.source.size - FOOTER - end:,} bytes belong to no block", end)
    if not table.plain:
        yield Fault("footer", "the footer is spelled oddly, or the bytes that fill it up are not zero", table.source.size - FOOTER)
