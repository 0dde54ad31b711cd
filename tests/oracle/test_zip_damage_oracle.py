"""Damaged archives as torch's own reader takes them: what it refuses is predicted, and found by verify."""

from __future__ import annotations

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


@pytest.mark.parametrize("seed", range(6))
def test_archives_with_random_damage(seed: int, tmp_path: Path) -> None:
    path, tried = tmp_path / "m.pt", 0
    for data in damaged(whole(), seed, 150):
        path.write_bytes(data)
        compared(path)
        tried += 1
    assert tried > 100
