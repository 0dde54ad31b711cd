"""One bit in a zip directory, as torch takes it: what it refuses or reads as whatever memory held, verify and prediction call by its name."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import inert
from inert.torch.predict import loads

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle
WANTED = [float(n) for n in range(1024)]
# label, byte of the directory's entry, bit, code
BITS = [
    ("folder", 38, 0x10, "zip-folder"),
    ("strong", 8, 0x40, "zip-encrypted"),
    ("masked", 9, 0x20, "zip-masked"),
    ("encrypted", 8, 0x01, "zip-encrypted"),
]


def entry(data: bytes, name: bytes) -> int:
    """Where the directory's entry of a record begins."""
    at = data.index(b"PK\1\2")
    while True:
        long, extra, comment = struct.unpack_from("<3H", data, at + 28)
        if data[at + 46 : at + 46 + long].endswith(name):
            return at
        at += 46 + long + extra + comment


@pytest.mark.parametrize(("label", "place", "bit", "code"), BITS, ids=[row[0] for row in BITS])
def test_a_bit_that_torch_stumbles_over_is_an_error(tmp_path: Path, label: str, place: int, bit: int, code: str) -> None:
    path = tmp_path / "m.pt"
    torch.save({"w": torch.arange(1024.0)}, path)
    assert inert.verify(path).ok
    data = bytearray(path.read_bytes())
    data[entry(data, b"data/0") + place] |= bit
    path.write_bytes(data)
    try:
        whole = torch.load(path)["w"].tolist() == WANTED
    except RuntimeError as error:
        whole = False
        assert "encryption" in str(error)
    assert not whole
    found = inert.verify(path)
    assert code in [note.code for note in found.findings if note.severity == "error"]
    with inert.open(path) as ckpt:
        assert not loads(ckpt)["weights_only"]["ok"]
    repaired = inert.repair(path, tmp_path / "again.pt", sync=False)
    assert repaired.recovered == ["w"]
    assert torch.load(tmp_path / "again.pt")["w"].tolist() == WANTED
