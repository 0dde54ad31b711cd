"""Files assembled by hand from those that torch wrote: python make_crafted.py [FOLDER] (torch 2.13.0). Run make_torch.py first.

Each holds the same objects as its original, in a container that another program, another machine or another age would have written. The
expectation is what torch reads from the file itself, or from the original where torch refuses the file or misreads it (said in ``why``).
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import torch
from describe import described

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from tests.makers import PARAMETER, REBUILD_V1, REBUILD_V3, Entry, Made, Name, dumps, storage, tensor, torch_entries, zip_bytes  # noqa: E402

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "crafted"
STATE, DTYPES = HERE / "torch" / "state_dict.pt", HERE / "torch" / "dtypes.pt"


def records(path: Path) -> dict[str, bytes]:
    """Name without the root folder → content, in the file's order."""
    with zipfile.ZipFile(path) as archive:
        return {info.filename.partition("/")[2]: archive.read(info) for info in archive.infolist()}


def entries(found: dict[str, bytes], root: str = "archive") -> list[Entry]:
    return [Entry(f"{root}/{name}" if root else name, data) for name, data in found.items()]


def expect(
    name: str, why: str, notes: tuple[str, ...] = (), *, original: Path | None = None, metadata: dict[str, str] | None = None
) -> None:
    facts: dict[str, Any] = described(original or FOLDER / name, to_cpu=True, writer="CRAFTED", why=why, notes=sorted(notes))
    if metadata:
        facts["metadata"] = metadata
    text = json.dumps(facts, separators=(",", ":")).replace('{"path":', '\n{"path":').replace('"leaves":', '\n"leaves":')
    (FOLDER / f"{name}.expected.json").write_text(text + "\n", encoding="utf-8")


def write(name: str, data: bytes, why: str, notes: tuple[str, ...] = (), **options: Any) -> None:
    (FOLDER / name).write_bytes(data)
    expect(name, why, notes, **options)


def swapped(path: Path) -> dict[str, bytes]:
    """The records of a file whose storages are turned into the other byte order, item by item of the tensors' type."""
    found = records(path) | {"byteorder": b"big"}
    for key, value in enumerate(torch.load(path).values()):
        unit = value.itemsize // 2 if value.is_complex() else value.itemsize
        raw = found[f"data/{key}"]
        found[f"data/{key}"] = b"".join(raw[i : i + unit][::-1] for i in range(0, len(raw), unit))
    return found


def rezipped(path: Path, method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in records(path).items():
            archive.writestr(zipfile.ZipInfo(f"renamed/{name}"), data, method)
    return out.getvalue()


def containers() -> None:
    state = records(STATE)
    write("big_endian.pt", zip_bytes(entries(swapped(DTYPES))), "the other byte order; torch itself misreads the newer types in it",
          original=DTYPES, metadata={"byteorder": "big"})  # fmt: skip
    write("deflated.pt", rezipped(STATE, zipfile.ZIP_DEFLATED), "unpacked and packed again by a general zip program", ("zip-deflated",))
    write("stored.pt", rezipped(STATE, zipfile.ZIP_STORED), "packed again without compression: no padding, no descriptors")
    old = {name: data for name, data in state.items() if name == "data.pkl" or name.startswith("data/")} | {"version": b"3\n"}
    write("torch_1_6.pt", zip_bytes(entries(old)), "the records of PyTorch 1.6 to 2.0", ("byteorder-missing",))
    write("no_version.pt", zip_bytes(entries({k: v for k, v in state.items() if k != "version"})), "torch refuses it: no version record",
          ("version-missing",), original=STATE)  # fmt: skip
    write("version_10.pt", zip_bytes(entries(state | {"version": b"10\n"})), "the highest version")
    write(
        "version_99.pt",
        zip_bytes(entries(state | {"version": b"99\n"})),
        "torch refuses it: a version to come",
        ("version-unknown",),
        original=STATE,
    )
    write(
        "two_versions.pt", zip_bytes(entries(state | {".data/version": b"3\n"})), "both spellings of the version record", ("version-twice",)
    )
    write("byteorder_odd.pt", zip_bytes(entries(state | {"byteorder": b"little\n"})), "torch refuses it: a line feed behind the byte order",
          ("byteorder-bad",), original=STATE)  # fmt: skip
    write("no_folder.pt", zip_bytes(entries(state, "")), "torch refuses it: zipped inside the folder", ("zip-no-root",), original=STATE)
    write("more_folders.pt", zip_bytes([*entries(state), Entry("notes/readme.txt", b"hello")]), "torch refuses it: a second folder",
          ("zip-outside-root",), original=STATE)  # fmt: skip
    write("duplicate.pt", zip_bytes([Entry("archive/data/0", bytes(48)), *entries(state)]), "two records of one name; the last counts",
          ("zip-duplicate",), original=STATE)  # fmt: skip
    write(
        "before.pt",
        zip_bytes(entries(state), before=b"#!/bin/sh\nexit\n"),
        "torch refuses it: bytes before the archive",
        ("zip-prefix",),
        original=STATE,
    )
    write("behind.pt", zip_bytes(entries(state), after=bytes(1000)), "bytes behind the archive", ("zip-trailing",))
    write("comment.pt", zip_bytes(entries(state), comment=b"made elsewhere"), "an archive comment", ("zip-comment",))
    write("narrow.pt", zip_bytes(entries(state), wide=False), "no ZIP64 end record")
    write("folder_entries.pt", zip_bytes([Entry("archive/", b""), Entry("archive/data/", b""), *entries(state)]), "entries for folders")
    write(
        "unused_records.pt",
        zip_bytes(entries(state | {"data/900": b"stray", "extra/config.json": b"{}"})),
        "records that no tensor uses",
        notes=("storage-stray",),
    )


def pickles() -> None:
    floats = b"\0\0\x80?\0\0\0@\0\0@@\0\0\x80@"
    whole = {"0": floats}
    for place in ("cuda:3", "mps:0", "privateuseone:0", "xpu", "npu:1", "hpu", "CPU"):
        name = f"location_{place.replace(':', '_')}.pt"
        data = dumps({"w": tensor(storage("0", 4, location=place), (2, 2))})
        (FOLDER / name).write_bytes(zip_bytes(torch_entries(data, whole)))
        (FOLDER / "plain.pt").write_bytes(zip_bytes(torch_entries(dumps({"w": tensor(storage("0", 4), (2, 2))}), whole)))
        expect(name, f"a storage tagged {place}", original=FOLDER / "plain.pt")
    (FOLDER / "plain.pt").unlink()
    held = storage("0", 4)
    write(
        "rebuild_v1.pt",
        zip_bytes(torch_entries(dumps({"w": Made(REBUILD_V1, (held, 1, (3,), (1,)))}), whole)),
        "_rebuild_tensor of the first versions",
    )
    parameter = Made(PARAMETER, (tensor(held, (4,)), False, Made(Name("collections", "OrderedDict"))))
    write("rebuild_parameter.pt", zip_bytes(torch_entries(dumps({"p": parameter}), whole)), "a frozen parameter")
    v3 = Made(
        REBUILD_V3,
        (storage("0", 16, "Untyped"), 2, (2, 2), (1, 2), False, Made(Name("collections", "OrderedDict")), Name("torch", "uint16")),
    )
    write("rebuild_v3.pt", zip_bytes(torch_entries(dumps({"t": v3}), whole)), "_rebuild_tensor_v3 over an untyped storage")

    python2 = dumps({"layer.weight": tensor(held, (4,)), "raw": b"?"}, 2)
    for text in (b"layer.weight", b"raw"):
        python2 = python2.replace(b"X" + len(text).to_bytes(4, "little") + text, b"U" + bytes([len(text)]) + text)
    write("python_2_texts.pt", zip_bytes(torch_entries(python2, whole)), "keys in Python 2's own string opcode")

    for spelling, other in (("numpy_1", (b"numpy._core.", b"numpy.core.")), ("numpy_2", (b"numpy.core.", b"numpy._core."))):
        found = records(HERE / "torch" / "numpy_objects.pt")
        found["data.pkl"] = found["data.pkl"].replace(*other)
        write(f"{spelling}.pt", zip_bytes(entries(found)), f"NumPy's modules in the spelling of {spelling.replace('_', ' ')}")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    containers()
    pickles()


if __name__ == "__main__":
    main()
