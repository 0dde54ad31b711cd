"""Damaged files: python make_broken.py [FOLDER] (nothing but Python). Run make_torch.py first: torch/small.pt is what they are made of.

``broken/expected.json`` says of each file what was done to it, whether it opens, which tensors are lost, and which notes tell of it.
"""

from __future__ import annotations

import json
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from tests.makers import Entry, zip_bytes  # noqa: E402

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "broken"
WHOLE = (HERE / "torch" / "small.pt").read_bytes()
NAMES = ["w_f32", "b_f16", "e_bf16", "i_i32", "s_f32"]
TABLE: dict[str, dict[str, Any]] = {}


def put(
    name: str, data: bytes, why: str, *, opens: bool = True, lost: tuple[str, ...] = (), notes: tuple[str, ...] = (), refuses: str = ""
) -> None:
    """``lost``: tensors whose data is refused · ``notes``: codes that must be among those noted · ``refuses``: words of the refusal."""
    (FOLDER / f"{name}.pt").write_bytes(data)
    TABLE[f"{name}.pt"] = {"why": why, "opens": opens, "lost": sorted(lost), "notes": sorted(notes), "refuses": refuses}


def records() -> dict[str, bytes]:
    with zipfile.ZipFile(HERE / "torch" / "small.pt") as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def rebuilt(**changes: Any) -> bytes:
    """The file with some records replaced, or left out where they are None."""
    found = {name: changes.get(name.partition("/")[2], data) for name, data in records().items()}
    return zip_bytes([Entry(name, data) for name, data in found.items() if data is not None])


def central(record: str, field: int, value: bytes) -> bytes:
    """The file with bytes of a record's directory entry replaced."""
    name = f"small/{record}".encode()
    at = WHOLE.index(b"PK\1\2")
    while WHOLE[at + 46 : at + 46 + len(name)] != name or WHOLE[at + 28 : at + 30] != struct.pack("<H", len(name)):
        at = WHOLE.index(b"PK\1\2", at + 4)
    return WHOLE[: at + field] + value + WHOLE[at + field + len(value) :]


def local(record: str, field: int, value: bytes) -> bytes:
    at = WHOLE.index(f"small/{record}".encode()) - 30
    return WHOLE[: at + field] + value + WHOLE[at + field + len(value) :]


def cut() -> None:
    for name, data in (
        ("by_one", WHOLE[:-1]),
        ("the_end_record", WHOLE[:-22]),
        ("half", WHOLE[: len(WHOLE) // 2]),
        ("after_the_pickle", WHOLE[:700]),
        ("in_the_pickle", WHOLE[:300]),
    ):
        put(f"cut_{name}", data, "the end is missing", opens=False, refuses="cut short")
    put("cut_to_nothing", b"", "an empty file", opens=False, refuses="empty")
    put("cut_to_signature", WHOLE[:4], "four bytes are left", opens=False, refuses="4 bytes")
    put("nuls", bytes(4096), "nothing but NUL", opens=False, refuses="NUL")
    put(
        "hollow",
        WHOLE[:200] + bytes(len(WHOLE) - 400) + WHOLE[-200:],
        "zero but for its ends: an unfinished download",
        opens=False,
        refuses="bytes 200 to 3,398 are all NUL",
    )


def replaced() -> None:
    put("record_missing", rebuilt(**{"data/1": None}), "a storage is not there", lost=("b_f16",), notes=("record-missing",))
    put("record_short", rebuilt(**{"data/0": bytes(1000)}), "a storage is too short", lost=("w_f32",), notes=("record-size",))
    put("record_long", rebuilt(**{"data/2": bytes(13)}), "a storage is too long", lost=("e_bf16",), notes=("record-size",))
    put("record_empty", rebuilt(**{"data/4": b""}), "a storage is empty", lost=("s_f32",), notes=("record-size",))
    put("byteorder_empty", rebuilt(byteorder=b""), "an empty byteorder record", notes=("byteorder-bad",))
    put("version_text", rebuilt(version=b"three\n"), "a version that is no number", notes=("version-unknown",))
    put("pickle_empty", rebuilt(**{"data.pkl": b""}), "an empty pickle", opens=False, refuses="without STOP")
    put("pickle_text", rebuilt(**{"data.pkl": b"hello\n"}), "a pickle that is text", opens=False, refuses="small/data.pkl")
    put(
        "pickle_cut",
        rebuilt(**{"data.pkl": records()["small/data.pkl"][:400]}),
        "a pickle that is cut short",
        opens=False,
        refuses="without STOP",
    )
    put(
        "pickle_junk_behind",
        rebuilt(**{"data.pkl": records()["small/data.pkl"] + b"junk"}),
        "bytes behind the pickle",
        notes=("pickle-trailing",),
    )
    put("bit_flip", WHOLE.replace(b"\0\0\x80?", b"\0\0\x81?", 1), "one bit of the data is wrong: only a checksum can tell")


def fields() -> None:
    put("directory_signature", WHOLE.replace(b"PK\1\2", b"PK\1\3", 1), "the directory's first signature", opens=False, refuses="directory")
    put("local_signature", local("data/1", 0, b"XX"), "a local header's signature", lost=("b_f16",), notes=("zip-local-header",))
    put("local_name", local("data/1", 30, b"small/data/9"), "a local header's name", notes=("zip-local-name",))
    put("local_name_length", local("data/1", 26, b"\xff\xff"), "a local header's length", lost=("b_f16",), notes=("zip-beyond-end",))
    put(
        "central_offset",
        central("data/1", 42, struct.pack("<I", 1 << 30)),
        "an offset beyond the end",
        lost=("b_f16",),
        notes=("zip-beyond-end",),
    )
    put("central_method", central("data/1", 10, b"\x63\0"), "an unknown method", lost=("b_f16",), notes=("zip-method",))
    put("central_encrypted", central("data/1", 8, b"\x09\x08"), "an encrypted storage", lost=("b_f16",), notes=("zip-encrypted",))
    put("central_packed", central("data/1", 20, struct.pack("<I", 15)), "a stored record of two sizes", lost=("b_f16",))
    put(
        "central_size",
        central("data/1", 24, struct.pack("<I", 99)),
        "a record larger than it is",
        lost=("b_f16",),
        notes=("record-size",),
    )
    put("central_crc", central("data/1", 16, struct.pack("<I", zlib.crc32(b"other"))), "a wrong checksum: only verifying can tell")
    put(
        "end_count",
        WHOLE[:-12] + struct.pack("<2H", 3, 3)[:2] + WHOLE[-10:],
        "the narrow end record counts three members",
        notes=("zip-count",),
    )
    put("utf8_mangled", WHOLE.decode("utf-8", "replace").encode(), "converted to text and back", opens=False, refuses="conversion to text")
    put("line_ends", WHOLE.replace(b"\n", b"\r\n"), "line feeds became two bytes", opens=False, refuses="")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    cut()
    replaced()
    fields()
    rows = (f"{json.dumps(name)}: {json.dumps(row, sort_keys=True)}" for name, row in sorted(TABLE.items()))
    (FOLDER / "expected.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{len(TABLE)} files")


if __name__ == "__main__":
    main()
