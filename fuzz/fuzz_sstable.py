"""Whatever the bytes of a sorted table, its checksums made right: keys and values or an InertError; what is listed is found; what is written is read."""

from __future__ import annotations

import struct

from asking import CORPUS
from driver import instrument, run
from google_crc32c import value as crc32c

with instrument():
    from inert.containers import snappy
    from inert.containers.protowire import encoded, fields, signed, text, varint
    from inert.containers.sstable import Table, checksums, layout
    from inert.containers.sstablewrite import table
    from inert.errors import InertError
    from inert.limits import Limits
    from inert.source import BytesSource

from tests import tf_tables

READS = (
    "containers.sstable",
    "containers.sstableblock",
    "containers.sstablecolumns",
    "containers.sstablewrite",
    "containers.snappy",
    "containers.protowire",
    "containers.crc32c",
)
LIMITS = Limits(inflated=1 << 20, name_bytes=1 << 18)


def mended(data: bytes) -> bytes:
    """The table with the checksum of each block that its index leads to made right."""
    made = bytearray(data)
    try:
        found = Table(BytesSource(data), LIMITS)
    except InertError:
        return data
    for offset, size in (*found.handles, found.index, found.meta):
        if offset + size + 5 <= len(made):
            made[offset + size + 1 : offset + size + 5] = struct.pack("<I", tf_tables.mask(crc32c(bytes(made[offset : offset + size + 1]))))
    return bytes(made)


def listed(data: bytes) -> list[tuple[bytes, bytes]] | None:
    try:
        found = Table(BytesSource(data), LIMITS)
        faults: list[object] = []
        entries = [(key, bytes(block.data[start:end])) for key, block, start, end in found.entries(faults)]
    except InertError as error:
        assert str(error).isprintable()
        return None
    odd = [*checksums(found), *layout(found)]
    assert all(fault.message.isprintable() and fault.offset >= 0 for fault in odd)
    if not faults and not odd:
        first: dict[bytes, bytes] = {}
        for key, value in entries:
            first.setdefault(key, value)
        for key, value in list(first.items())[:50]:
            assert found.get(key) == value
    return entries


def wire(data: bytes) -> None:
    """Messages, numbers and compressed blocks out of the same bytes."""
    for read in (
        lambda: list(fields(data)),
        lambda: varint(data, 0, len(data)),
        lambda: text(data, 0, len(data)),
        lambda: snappy.inflate(data, 1 << 20),
    ):
        try:
            read()
        except InertError as error:
            assert str(error).isprintable()
    number = int.from_bytes(data[:8], "little")
    assert varint(encoded(number), 0, 10) == (number, len(encoded(number)))
    assert signed(number) % (1 << 64) == number
    assert snappy.inflate(tf_tables.literal(data[:300]), 1 << 20) == data[:300]


def one(data: bytes) -> None:
    wire(data)
    for version in {data, mended(data)}:
        entries = listed(version)
        assert listed(version) == entries
        if entries:
            ascending = sorted(dict(entries).items())
            assert listed(b"".join(table(ascending))) == ascending


ITEMS = {b"": tf_tables.HEADER, **{b"name/%02d" % number: bytes([number]) * number for number in range(40)}}

run(
    one,
    seeds=[
        *[tf_tables.table(ITEMS, size, kind) for size in (1 << 20, 60) for kind in (0, 1)], tf_tables.table({}), b"".join(table(ITEMS.items())),
        *[path.read_bytes() for path in sorted((CORPUS / "tf").rglob("*.index"))[:6]], tf_tables.literal(b"abc" * 30), b"\x20\x0cabcd\x3e\x04\x00",
    ],
    smoke=4000,
)  # fmt: skip
