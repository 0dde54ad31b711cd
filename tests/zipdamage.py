"""Archives with one field wrong, and with random damage, for holding prediction and verify against torch's own reader.

Knows: where the fields of the directory and of the end records stand, and the small records that torch reads by name.
Refuses to know: inert.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator

from tests.makers import Entry, dumps, storage, tensor, torch_entries, zip_bytes

DATA = {"0": bytes(range(48)), "1": bytes(40)}
TREE = {"w": tensor(storage("0", 12), (3, 4)), "b": tensor(storage("1", 10), (10,))}
ID = {".data/serialization_id": b"1506586100111105375506710723357855857306"}
TEXTS = (b"", b"abc", b"64abc", b" 64", b"64\n", b"0", b"-64", b"1e3", b"9" * 30, b"6 4", b"64\0", b"\xd9\xa3", b"1_0", b"\xff")
VERSIONS = (b"", b"3abc", b" 3", b"3\n", b"-3", b"9" * 30, b"+3", b"11", b"0", b"3.7", b"0x3")
ORDERS = (b"", b"little\n", b"Little", b"big")
VALUES = (0, 1, 2, 0xFFFF)
EMPTY = b"PK\5\6" + bytes(18)
COMMENTS = (b"hello", EMPTY, EMPTY[:4] + b"\1\0\1\0" + bytes(14), EMPTY[:4], EMPTY[:4] + b"x" * 17, EMPTY[:4] + b"x" * 18, bytes(65535))
# label → (record, where in it, format); the record: the directory's first entry, the end record, its ZIP64 locator, the ZIP64 end record
FIELDS = {
    "entry flags": (b"PK\1\2", 8, "<H"), "entry method": (b"PK\1\2", 10, "<H"), "entry time": (b"PK\1\2", 12, "<H"),
    "entry packed": (b"PK\1\2", 20, "<I"), "entry size": (b"PK\1\2", 24, "<I"), "entry extra": (b"PK\1\2", 30, "<H"),
    "entry comment": (b"PK\1\2", 32, "<H"), "entry disk": (b"PK\1\2", 34, "<H"), "entry offset": (b"PK\1\2", 42, "<I"),
    "end disk": (b"PK\5\6", 4, "<H"), "end first disk": (b"PK\5\6", 6, "<H"), "end here": (b"PK\5\6", 8, "<H"),
    "end count": (b"PK\5\6", 10, "<H"), "end size": (b"PK\5\6", 12, "<I"), "end offset": (b"PK\5\6", 16, "<I"),
    "end comment": (b"PK\5\6", 20, "<H"),
    "locator": (b"PK\6\7", 0, "<I"), "locator disk": (b"PK\6\7", 4, "<I"), "locator place": (b"PK\6\7", 8, "<Q"),
    "locator disks": (b"PK\6\7", 16, "<I"),
    "wide": (b"PK\6\6", 0, "<I"), "wide length": (b"PK\6\6", 4, "<Q"), "wide disk": (b"PK\6\6", 16, "<I"),
    "wide first disk": (b"PK\6\6", 20, "<I"), "wide here": (b"PK\6\6", 24, "<Q"), "wide count": (b"PK\6\6", 32, "<Q"),
    "wide size": (b"PK\6\6", 40, "<Q"), "wide offset": (b"PK\6\6", 48, "<Q"),
}  # fmt: skip


def whole(**changed: bytes | None) -> bytes:
    """A file as torch.save writes it; records by name, with _ for what no keyword can hold, have other contents, or none."""
    return zip_bytes(entries(**changed))


def entries(**changed: bytes | None) -> list[Entry]:
    made = torch_entries(dumps(TREE), DATA, more=ID)
    other = {name.replace("__", "/").replace("_1", "."): data for name, data in changed.items()}
    for entry in made:
        inner = str(entry.name).removeprefix("archive/")
        if inner in other:
            entry.data = other[inner] or b""
    return [entry for entry in made if other.get(str(entry.name).removeprefix("archive/"), b"") is not None]


def named(old: str, new: str | bytes) -> bytes:
    """With a record under another name."""
    made = entries()
    for entry in made:
        if entry.name == f"archive/{old}":
            entry.name = new if isinstance(new, bytes) else f"archive/{new}"
    return zip_bytes(made)


def wrong() -> Iterator[tuple[str, bytes]]:
    """(label, archive) with one thing wrong, or unusual."""
    yield "nothing", whole()
    for value in TEXTS:
        yield f"alignment {value!r}", whole(_1storage_alignment=value)
        yield f"id {value!r}", whole(_1data__serialization_id=value)
        yield f"format {value!r}", whole(_1format_version=value)
    for value in VERSIONS:
        yield f"version {value!r}", whole(version=value)
    for value in ORDERS:
        yield f"byteorder {value!r}", whole(byteorder=value)
    for record in ("version", "byteorder", ".storage_alignment", ".format_version", ".data/serialization_id", "data/0"):
        yield f"no {record}", zip_bytes([entry for entry in entries() if entry.name != f"archive/{record}"])
        yield f"{record} upper case", named(record, record.upper())
    for name in ("Data.pkl", "DATA.PKL", "data.pkl\0"):
        yield f"data.pkl as {name!r}", named("data.pkl", name)
    for name in (b"archive/ver\xffsion", b"archive/\xff", b"archive/x\0\xff", b"other/x", "archive/ümlaut".encode()):
        yield f"a record {name!r}", zip_bytes([*entries(), Entry(name, b"x")])
    for comment in COMMENTS:
        yield f"comment {comment[:12]!r} {len(comment)}", zip_bytes(entries(), comment=comment)
        yield f"behind {comment[:12]!r} {len(comment)}", whole() + comment
    for disks in ((1, 1), (0, 1), (2, 2)):
        yield f"disks {disks}", on_disks(disks, 0)
        yield f"disks {disks}, entries on 1", on_disks(disks, 1)
    data = whole()
    for label, (mark, at, form) in FIELDS.items():
        for value in VALUES:
            made = bytearray(data)
            struct.pack_into(form, made, (data.index(mark) if mark == b"PK\1\2" else data.rindex(mark)) + at, value)
            yield f"{label} {value}", bytes(made)


def on_disks(disks: tuple[int, int], entry: int) -> bytes:
    made = entries()
    for one in made:
        one.disk = entry
    return zip_bytes(made, end=dict(zip(("disk", "cd_disk"), disks, strict=True)), wide=False)


def damaged(data: bytes, seed: int, count: int) -> Iterator[bytes]:
    """The archive with one or two random damages each, most of them in the directory and the end records."""
    rng, first = random.Random(seed), data.index(b"PK\1\2")
    for _ in range(count):
        made = bytearray(data)
        for _ in range(rng.choice((1, 1, 1, 2))):
            _hit(made, rng, first if rng.random() < 0.6 else 0)
        if made != data:
            yield bytes(made)


def _hit(made: bytearray, rng: random.Random, low: int) -> None:
    at, kind, width = rng.randrange(low, len(made) - 8), rng.random(), rng.choice((2, 4, 8))
    if kind < 0.35:
        made[at] ^= 1 << rng.randrange(8)
    elif kind < 0.5:
        made[at] = rng.choice((0, 255, rng.randrange(256)))
    elif kind < 0.7:
        made[at : at + width] = bytes(width)
    elif kind < 0.8:
        other = rng.randrange(low, len(made) - 8)
        made[at : at + width] = made[other : other + width]
    elif kind < 0.88:
        made[at : at + 4] = rng.choice((0xFFFF, 0xFFFFFFFF, 1, 2, len(made))).to_bytes(4, "little")
    elif kind < 0.94:
        del made[at : at + rng.choice((1, 2, 4))]
    else:
        made[at:at] = rng.randbytes(rng.choice((1, 2, 4, 22)))
