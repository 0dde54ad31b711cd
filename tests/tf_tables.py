"""Index tables and bundles made by hand, for what TensorFlow never writes: several small blocks, Snappy, wrong checksums, lies.

Written from the format's description, not with inert; the CRC-32C is google_crc32c's.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from pathlib import Path

from google_crc32c import value as crc32c

MAGIC = bytes.fromhex("57fb808b247547db")


def mask(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    made = bytearray()
    while number > 127:
        made.append(number & 127 | 128)
        number >>= 7
    return bytes((*made, number))


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, bytes):
        return varint(number << 3 | 2) + varint(len(value)) + value
    return varint(number << 3) + varint(value)


def block(items: Iterable[tuple[bytes, bytes]], every: int = 16) -> bytes:
    made, restarts, last = b"", [], b""
    for number, (key, value) in enumerate(items):
        shared = 0
        if number % every == 0:
            restarts.append(len(made))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        made += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    restarts = restarts or [0]
    return made + struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))


def literal(data: bytes) -> bytes:
    """Snappy without any copy."""
    made = varint(len(data))
    for at in range(0, len(data), 60):
        piece = data[at : at + 60]
        made += bytes(((len(piece) - 1) << 2,)) + piece
    return made


def table(
    items: dict[bytes, bytes] | list[tuple[bytes, bytes]], size: int = 1 << 30, kind: int = 0, crc: Callable[[int], int] = mask
) -> bytes:
    """A table whose blocks are closed once their keys and values are ``size`` bytes."""
    groups: list[list[tuple[bytes, bytes]]] = [[]]
    for item in items.items() if isinstance(items, dict) else items:
        if sum(len(key) + len(value) for key, value in groups[-1]) >= size:
            groups.append([])
        groups[-1].append(item)
    made, index = b"", []
    for group in groups if groups[0] else []:
        offset, raw = len(made), block(group)
        stored = literal(raw) if kind == 1 else raw
        made += closed(stored, kind, crc)
        index.append((group[-1][0], varint(offset) + varint(len(stored))))
    handles = b""
    for raw in (block([]), block(index, 1)):
        handles += varint(len(made)) + varint(len(raw))
        made += closed(raw, 0, crc)
    return made + handles.ljust(40, b"\0") + MAGIC


def closed(raw: bytes, kind: int, crc: Callable[[int], int]) -> bytes:
    return raw + bytes((kind,)) + struct.pack("<I", crc(crc32c(raw + bytes((kind,)))))


# -- bundles ----------------------------------------------------------------------------------------------------------------

HEADER = field(1, 1) + field(3, field(1, 1))


def shape(*sizes: int) -> bytes:
    return b"".join(field(2, field(1, size)) for size in sizes)


def entry(dtype: int, sizes: tuple[int, ...], offset: int, size: int, crc: int = 0, shard: int = 0) -> bytes:
    made = field(1, dtype) + field(2, shape(*sizes))
    made += field(3, shard) if shard else b""
    made += field(4, offset) if offset else b""
    made += field(5, size) if size else b""
    return made + b"\x35" + struct.pack("<I", crc)


def bundle(folder: Path, items: dict[bytes, bytes], data: bytes = b"", header: bytes = HEADER, **options: int) -> Path:
    """PREFIX of a bundle of one data file."""
    prefix = folder / "made"
    prefix.with_name("made.index").write_bytes(table({b"": header, **items}, **options))  # type: ignore[arg-type]
    prefix.with_name("made.data-00000-of-00001").write_bytes(data)
    return prefix


def stored(data: bytes) -> int:
    """The checksum of an entry of these bytes."""
    return mask(crc32c(data))
