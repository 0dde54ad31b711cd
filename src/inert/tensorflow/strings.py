"""String and variant tensors as a bundle stores them: lengths, checksums, bytes.

Knows: where each element lies, that every length must come out to the byte, and what the two checksums are sums of.
Refuses to know: what a variant holds: TensorFlow's own classes, which only it can say.

Facts: TensorFlow 2.21 tensor_bundle.cc (WriteStringTensor, ReadStringTensor, WriteVariantTensor).
"""

from __future__ import annotations

from itertools import accumulate

from ..containers.crc32c import crc32c, masked
from ..containers.protowire import encoded, varint
from ..errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    Order = Literal["little", "big"]

CRC = 4
OTHER: dict[str, Order] = {"little": "big", "big": "little"}


def lengths(data: bytes, count: int) -> tuple[list[int], int]:
    """The lengths in front, and where they end. FormatError where they are not ``count`` or do not come out."""
    if count > len(data):
        raise FormatError(f"{len(data):,} bytes cannot hold {count:,} strings")
    made, at = [], 0
    for _ in range(count):
        size, at = varint(data, at, len(data))
        made.append(size)
    if at + CRC + sum(made) != len(data):
        raise FormatError(f"the lengths of its strings come to {at + CRC + sum(made):,} bytes, but {len(data):,} are stored")
    return made, at


def elements(data: bytes, count: int, order: Order) -> list[bytes]:
    """Every string. FormatError where lengths or their checksum are wrong; a checksum of the other byte order will do, though TensorFlow
    refuses it (``strings_crc`` tells them apart)."""
    sizes, at = lengths(data, count)
    if not any(masked(lengths_crc(sizes, one)) == int.from_bytes(data[at : at + CRC], one) for one in (order, OTHER[order])):
        raise FormatError("the lengths of its strings do not have the checksum that is stored", offset=at)
    ends = list(accumulate(sizes, initial=at + CRC))
    return [data[start : start + size] for start, size in zip(ends, sizes, strict=False)]


def lengths_crc(sizes: list[int], order: Order) -> int:
    """Of each length as four bytes, or eight where that is not enough."""
    return crc32c(b"".join(size.to_bytes(4 if size < 1 << 32 else 8, order) for size in sizes))


def stored(held: list[bytes]) -> Iterator[bytes]:
    """Strings as a little-endian bundle stores them, in pieces: lengths, their checksum, then one after the other."""
    sizes = list(map(len, held))
    yield b"".join(map(encoded, sizes)) + masked(lengths_crc(sizes, "little")).to_bytes(CRC, "little")
    yield from held


def stored_size(held: list[bytes]) -> int:
    """Bytes that strings take."""
    return sum(max(len(one).bit_length() + 6, 7) // 7 + len(one) for one in held) + CRC


def strings_crc(data: bytes, count: int, order: Order) -> int:
    """What the entry of a string tensor has for a checksum, unmasked: lengths, their masked checksum, then the bytes. FormatError where
    the lengths' own checksum is wrong."""
    sizes, at = lengths(data, count)
    wanted, stored = masked(lengths_crc(sizes, order)), int.from_bytes(data[at : at + CRC], order)
    if wanted != stored:
        raise FormatError(f"the checksum of its lengths is {wanted:08x}, not {stored:08x}", offset=at)
    return crc32c(data[at:], lengths_crc(sizes, order))


def variants_crc(data: bytes, count: int, order: Order) -> int:
    """The same of a variant tensor: of each element the length as eight bytes, its bytes and the masked checksum so far."""
    crc = at = 0
    for _ in range(count):
        size, at = varint(data, at, len(data))
        if size > len(data) - at - CRC:
            raise FormatError("a variant reaches beyond what is stored", offset=at)
        crc = crc32c(data[at : at + size], crc32c(size.to_bytes(8, order), crc))
        at += size
        stored = int.from_bytes(data[at : at + CRC], order)
        if masked(crc) != stored:
            raise FormatError(f"a variant has the checksum {masked(crc):08x}, not {stored:08x}", offset=at)
        crc = crc32c(data[at : at + CRC], crc)
        at += CRC
    if at != len(data):
        raise FormatError(f"{len(data) - at:,} bytes follow the last variant", offset=at)
    return crc
