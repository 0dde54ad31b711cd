"""Damaged archives: what torch's own reader refuses, by the prediction, verify does not call sound (the oracle holds both against torch)."""

from __future__ import annotations

from pathlib import Path

import pytest

import inert
from inert.torch.predict import loads
from tests.makers import Entry, zip_bytes
from tests.zipdamage import damaged, named, whole, wrong

WRONG = dict(wrong())
KINDS = ("weights_only", "mmap", "full")


def doubted(path: Path) -> bool:
    return any(one.severity != "info" for one in inert.verify(path).findings)


def answers(path: Path) -> dict[str, bool]:
    try:
        with inert.open(path) as ckpt:
            said = loads(ckpt)
    except inert.InertError:
        return dict.fromkeys(KINDS, False)
    return {kind: said[kind]["ok"] for kind in KINDS}


def test_the_sound_one_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(whole())
    assert not doubted(path)
    assert answers(path) == dict.fromkeys(KINDS, True)


@pytest.mark.parametrize("label", WRONG)
def test_what_torch_refuses_is_not_sound(label: str, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(WRONG[label])
    assert all(answers(path).values()) or doubted(path)


@pytest.mark.parametrize("seed", range(4))
def test_random_damage_is_found(seed: int, tmp_path: Path) -> None:
    path, tried = tmp_path / "m.pt", 0
    for data in damaged(whole(), 100 + seed, 60):
        path.write_bytes(data)
        assert all(answers(path).values()) or doubted(path)
        tried += 1
    assert tried > 40


@pytest.mark.parametrize("name", ["DATA.PKL", "Data.pkl"])
def test_records_are_found_without_regard_to_case(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(named("data.pkl", name))
    with inert.open(path) as ckpt:
        assert ckpt.format == "torch-zip"
        assert ckpt.tensors["b"].shape == (10,)
        assert [note.message for note in ckpt.notes if note.code == "zip-case"] == ["torch takes it for 'archive/data.pkl'"]
    assert inert.scan(path).weights_only.accepts
    repaired = inert.repair(path, tmp_path / "again.pt", sync=False)
    assert sorted(repaired.recovered) == ["b", "w"]
    assert not doubted(tmp_path / "again.pt")


def test_the_byte_order_is_that_of_the_record_that_torch_finds(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(whole(byteorder=b"big").replace(b"archive/byteorder", b"archive/BYTEORDER"))
    with inert.open(path) as ckpt:
        assert ckpt.metadata["byteorder"] == "big"


def test_what_matters_to_torch_alone_is_not_said_of_other_archives(tmp_path: Path) -> None:
    """A zip archive around a checkpoint, with names in Latin-1 and two that differ by case."""
    path = tmp_path / "around.zip"
    path.write_bytes(zip_bytes([Entry("m.pt", whole()), Entry(b"gr\xfcn.txt", b"x"), Entry("A.txt", b"x"), Entry("a.txt", b"x")]))
    assert not [one for one in inert.verify(path).findings if one.severity == "error"]


def test_offsets_that_taken_out_bytes_would_move_before_the_file(tmp_path: Path) -> None:
    """The directory lies earlier than it says, and a member's own offset is smaller than by how much."""
    path, seen = tmp_path / "m.pt", 0
    data = whole()
    ends = data.index(b"PK\1\2")
    moved = data[:ends].rindex(b"PK\3\4")  # the last member but for its first bytes
    for cut in range(1, ends - moved, 5):
        path.write_bytes(data[: moved + 4] + data[moved + 4 + cut :])
        assert not inert.verify(path).ok
        inert.scan(path)
        try:
            ckpt = inert.open(path)
        except inert.InertError:
            continue
        with ckpt:
            seen += any(note.severity == "error" for note in ckpt.notes)
    assert seen
