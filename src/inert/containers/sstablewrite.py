"""Sorted tables written: what TensorFlow's TableBuilder makes of keys and values, byte for byte.

Knows: data blocks with shared key prefixes and restarts, the index block with its shortened keys, the empty metaindex block, the masked
CRC-32C behind each block, the footer. Nothing is compressed, as BundleWriter has it. A block is given as soon as it is full.
Refuses to know: what keys and values mean, and whether the keys ascend: their giver has sorted them.

Facts: TensorFlow 2.21 lib/io/table_builder.cc, block_builder.cc, table_options.h (block_size 262,144, block_restart_interval 16); LevelDB
util/comparator.cc (FindShortestSeparator, FindShortSuccessor).
"""

from __future__ import annotations

from .crc32c import crc32c, masked
from .protowire import encoded
from .sstable import FOOTER, MAGIC, PLAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLOCK, RESTART = 262_144, 16


def table(entries: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    """The bytes of a table of these entries, whose keys ascend: block after block, then the footer."""
    at, block = 0, Builder(RESTART)
    index = Builder(1)
    handle, last = b"", b""  # of the block that has been closed last, whose key in the index the next key decides
    for key, value in entries:
        if handle:
            index.add(between(last, key), handle)
            handle = b""
        block.add(key, value)
        last = key
        if block.size >= BLOCK:
            made, handle = closed(block, at)
            yield made
            at, block = at + len(made), Builder(RESTART)
    if block.last is not None:
        made, handle = closed(block, at)
        yield made
        at += len(made)
    if handle:
        index.add(behind(last), handle)
    made, meta = closed(Builder(RESTART), at)
    yield made
    at += len(made)
    made, last = closed(index, at)
    yield made
    yield (meta + last).ljust(FOOTER - len(MAGIC), b"\0") + MAGIC


class Builder:
    """One block. ``size``: its bytes so far, restarts included."""

    __slots__ = ("count", "every", "last", "length", "pieces", "restarts")

    def __init__(self, every: int) -> None:
        self.every = every
        self.count = self.length = 0
        self.pieces: list[bytes] = []
        self.restarts: list[int] = [0]
        self.last: bytes | None = None

    @property
    def size(self) -> int:
        return self.length + 4 * len(self.restarts) + 4

    def add(self, key: bytes, value: bytes) -> None:
        same = 0
        if self.count % self.every:
            assert self.last is not None
            same = common(self.last, key)
        elif self.count:
            self.restarts.append(self.length)
        own = len(key) - same
        lead = bytes((same, own, len(value))) if same | own | len(value) < 0x80 else encoded(same) + encoded(own) + encoded(len(value))
        self.pieces += (lead, key[same:], value)
        self.length += len(lead) + own + len(value)
        self.count += 1
        self.last = key

    def bytes(self) -> bytes:
        numbers = (*self.restarts, len(self.restarts))
        return b"".join((*self.pieces, *(number.to_bytes(4, "little") for number in numbers)))


def closed(block: Builder, at: int) -> tuple[bytes, bytes]:
    """A block with its trailer, and its handle where it lies ``at`` that place."""
    raw = block.bytes()
    handle = encoded(at) + encoded(len(raw))
    raw += bytes((PLAIN,))
    return raw + masked(crc32c(raw)).to_bytes(4, "little"), handle


def common(a: bytes, b: bytes) -> int:
    """How many bytes two keys have in common at their beginning."""
    size = min(len(a), len(b))
    if a[:size] == b[:size]:
        return size
    differ = int.from_bytes(a[:size], "big") ^ int.from_bytes(b[:size], "big")
    return size - (differ.bit_length() + 7) // 8


def between(low: bytes, high: bytes) -> bytes:
    """A short key that is not less than ``low`` and less than ``high``."""
    at = common(low, high)
    if at < min(len(low), len(high)) and low[at] + 1 < high[at]:
        return low[:at] + bytes((low[at] + 1,))
    return low


def behind(key: bytes) -> bytes:
    """A short key that is not less than this one."""
    for at, byte in enumerate(key):
        if byte != 0xFF:
            return key[:at] + bytes((byte + 1,))
    return key
