"""``inert repair``: what it says, its JSON, its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import inert
from inert.cli import main
from tests.cuts import CORPUS

WHOLE = CORPUS / "torch" / "small.pt"


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    code = main(["repair", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.fixture
def short(tmp_path: Path) -> Path:
    raw = WHOLE.read_bytes()
    path = tmp_path / "short.pt"
    path.write_bytes(raw[: raw.index(b"small/data/2") + 20])
    return path


def test_a_whole_file_needs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, WHOLE, tmp_path / "out.pt")
    assert code == 0
    assert "recovered 5 tensors" in out
    assert "nothing was wrong" in out
    assert not err


def test_faults_that_cost_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, CORPUS / "broken" / "cut_the_end_record.pt", tmp_path / "out.pt")
    assert code == 0
    assert "recovered 5 tensors" in out
    assert "no end-of-archive record" in err
    assert "the members are found by their own headers; the directory is written anew" in err


def test_losses_are_said(short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, short, tmp_path / "out.pt")
    assert code == 1
    assert "recovered 2 tensors of 5" in out
    assert "lost i_i32 (int32 [" in out
    assert "data/3 is not in the file" in out
    assert err


def test_the_json_says_the_same(short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, short, tmp_path / "out.pt", "--fill", "nan", "--json")
    found = json.loads(out)
    assert code == 1
    assert not err
    assert found["written"] == [str(tmp_path / "out.pt")]
    assert found["format"] == "torch-zip"
    assert found["recovered"] == ["w_f32", "b_f16"]
    assert [set(one) for one in found["lost"]] == [{"name", "dtype", "shape", "nbytes", "why"}] * 3
    assert found["filled"] == [one["name"] for one in found["lost"]]
    assert {"code", "severity", "message", "where", "tensors", "fix", "repair"} == set(found["findings"][0])
    with inert.open(tmp_path / "out.pt", strict=True) as ckpt:
        assert len(ckpt.tensors) == 5


def test_filled_and_doubtful_tensors_are_said(short: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, err = run(capsys, short, tmp_path / "out.pt", "--fill", "zeros")
    assert "of these, 3 tensors filled" in out
    assert "were filled with zeros" in err
    code, out, _ = run(capsys, CORPUS / "broken" / "bit_flip.pt", tmp_path / "flip.pt")
    assert code == 1
    assert "in doubt " in out


def test_a_pickle_that_ends_says_that_there_may_have_been_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, CORPUS / "broken" / "pickle_cut.pt", tmp_path / "out.pt")
    assert code == 1
    assert "there may have been more" in out


def test_long_lists_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = (CORPUS / "torch" / "many.pt").read_bytes()
    path = tmp_path / "many.pt"
    path.write_bytes(raw[: raw.index(b"many/data/12")])
    code, out, _ = run(capsys, path, tmp_path / "out.pt")
    assert code == 1
    assert "28 more tensors: see --json" in out


def test_what_cannot_be_done_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        (CORPUS / "broken" / "nuls.pt", tmp_path / "out.pt"),
        (tmp_path / "none.pt", tmp_path / "out.pt"),
        (WHOLE,),
        (WHOLE, tmp_path / "out.pt", "--fill", "ones"),
    ):
        code, out, err = run(capsys, *words)
        assert code == 2
        assert not out
        assert err.count("\n") == 1
        assert not list(tmp_path.iterdir())


def test_each_loss_is_told_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, err = run(capsys, CORPUS / "broken" / "record_missing.pt", tmp_path / "out.pt")
    assert code == 1
    assert (out + err).count("its storage data/1 is not in the file") == 1
