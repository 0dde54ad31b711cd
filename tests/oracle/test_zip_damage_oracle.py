"""Damaged archives as torch's own reader takes them: what it refuses is predicted, and found by verify."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import inert
from inert.torch.predict import loads
from tests.zipdamage import damaged, whole, wrong

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.oracle

# A load that gives wrong values without a word is none; torch itself says nothing of these.
SILENT = ("as if it were its values", "as if they were values", "marked as a folder", "its deflated data is damaged")
WRONG = dict(wrong())


def loaded(path: Path, mapped: bool) -> bool:
    try:
        torch.load(path, weights_only=True, map_location="cpu", mmap=mapped)
    except Exception:  # whatever torch raises is its answer
        return False
    return True


def compared(path: Path) -> None:
    """Prediction is what torch does; and what it refuses, verify does not call sound."""
    found = inert.verify(path)
    doubted = any(one.severity != "info" for one in found.findings)
    try:
        with inert.open(path) as ckpt:
            said = loads(ckpt)
    except inert.InertError:
        said = {}
    for kind in ("weights_only", "mmap"):
        there = loaded(path, kind == "mmap")
        assert there or doubted, (kind, said)
        if not said:
            continue
        if there and not said[kind]["ok"]:
            assert any(text in said[kind]["why"] for text in SILENT), (kind, said[kind]["why"])
        else:
            assert there == said[kind]["ok"], (kind, said[kind]["why"])


@pytest.mark.parametrize("label", WRONG)
def test_an_archive_with_one_thing_wrong(label: str, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(WRONG[label])
    compared(path)


SMALL = [
    ("byteorder", b"x"),
    ("byteorder", b""),
    (".data/serialization_id", b"\xff"),
    ("version", b"x"),
    ("version", b"11"),
    ("version", b"3x"),
]


@pytest.mark.parametrize(("record", "said"), [*SMALL, ("other/foo", b"x"), ("\xff", b"x"), (".storage_alignment", b"x")])
def test_what_stops_torch_jit_load_and_what_torch_load(record: str, said: bytes, tmp_path: Path) -> None:
    """torch.load asks for the names of all records before it hands a TorchScript archive on; neither looks at byteorder then."""
    path, made = tmp_path / "m.pt", tmp_path / "made.pt"
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), path)
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(made, "w") as new:
        root = old.namelist()[0].partition("/")[0]
        for name in old.namelist():
            new.writestr(name, said if name == f"{root}/{record}" else old.read(name))
        if f"{root}/{record}" not in old.namelist():
            new.writestr(record if "/" in record else f"{root}/{record.replace(chr(255), 'x~x')}", said)
    made.write_bytes(made.read_bytes().replace(b"x~x", b"x\xffx"))
    with inert.open(made) as ckpt:
        answers = loads(ckpt)
    for kind, load in (("jit", torch.jit.load), ("full", lambda file: torch.load(file, weights_only=False))):
        try:
            load(made)
        except Exception:  # whatever torch raises is its answer
            assert not answers[kind]["ok"], kind
        else:
            assert answers[kind]["ok"], (kind, answers[kind]["why"])


@pytest.mark.parametrize("seed", range(6))
def test_archives_with_random_damage(seed: int, tmp_path: Path) -> None:
    path, tried = tmp_path / "m.pt", 0
    for data in damaged(whole(), seed, 150):
        path.write_bytes(data)
        compared(path)
        tried += 1
    assert tried > 100
