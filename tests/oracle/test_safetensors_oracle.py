"""The library reads the files of tests/corpus/safetensors/ as the table says; under any change of a header it and inert read alike."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.errors import InertError
from inert.formats.safetensors import SPELLING

safetensors: Any = pytest.importorskip("safetensors")
HERE = Path(__file__).parent.parent / "corpus" / "safetensors"
BROKEN: dict[str, dict[str, Any]] = json.loads((HERE / "broken" / "expected.json").read_text(encoding="utf-8"))
ODD = {"safetensors-extra", "safetensors-duplicate", "safetensors-header"}  # noted by inert, let pass by the library
pytestmark = pytest.mark.oracle


def library(data: bytes) -> dict[str, tuple[str, list[int], bytes]] | None:
    """What the library reads from a whole file; None where it refuses it."""
    try:
        return {name: (one["dtype"], one["shape"], bytes(one["data"])) for name, one in safetensors.deserialize(data)}
    except (safetensors.SafetensorError, OverflowError):
        return None


def ours(path: Path) -> tuple[dict[str, tuple[str, list[int], bytes]], set[str]] | None:
    """The same from inert, where it has no note that the library would refuse the file for."""
    try:
        with inert.open(path) as checkpoint:
            codes = {note.code for note in checkpoint.notes}
            found = {}
            for name, tensor in checkpoint.tensors.items():
                shape = list(tensor.shape)
                if tensor.dtype == "float4_e2m1fn_x2":
                    shape[-1] *= 2
                found[name] = (str(tensor.dtype).removesuffix("_x2"), shape, b"" if tensor.fault else b"".join(tensor.chunks()))
            return found, codes
    except InertError:
        return None


def alike(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    said, read = library(data), ours(path)
    if said is None:
        assert read is None or read[1] - {"safetensors-extra", "safetensors-duplicate"}
        return
    assert read is not None
    found, codes = read
    assert codes <= ODD
    assert found == {name: (SPELLING[dtype], shape, raw) for name, (dtype, shape, raw) in said.items()}


@pytest.mark.parametrize("path", sorted(HERE.glob("*.safetensors")), ids=lambda path: path.name)
def test_whole_files(path: Path, tmp_path: Path) -> None:
    alike(path.read_bytes(), tmp_path / "x.safetensors")


@pytest.mark.parametrize("name", BROKEN)
def test_the_table_of_broken_files_is_the_library_s(name: str, tmp_path: Path) -> None:
    data = (HERE / "broken" / name).read_bytes()
    assert (library(data) is None) == bool(BROKEN[name]["library"])
    alike(data, tmp_path / "x.safetensors")


@pytest.mark.parametrize("path", sorted(HERE.rglob("*.safetensors")), ids=lambda path: path.name)
def test_changed_headers(path: Path, tmp_path: Path) -> None:
    """Characters of the header put in the place of others, with the length kept true."""
    rng, data = random.Random(path.name), path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    for _ in range(300):
        header = bytearray(data[8 : 8 + length])
        if not header or len(data) < 8 + length:
            return
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(header))
            header[at : at + rng.choice((0, 1, 1, 2))] = bytes(
                [rng.choice(b'[]{}":,0123456789.eE- \\uFI816ntrfalse')] * rng.choice((0, 1, 1))
            )
        alike(struct.pack("<Q", len(header)) + bytes(header) + data[8 + length :], tmp_path / "x.safetensors")
