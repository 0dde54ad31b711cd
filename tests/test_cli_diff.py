"""``inert diff``: what it says, its exit codes, its JSON.

Files are written with inert; what differs is what the test itself changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.cli.diff import brief, tolerance
from inert.cli.text import width
from inert.errors import InertError
from tests.test_cli_main import Run, refused, run

__all__ = ["run"]

HERE = Path(__file__).parent / "corpus"
LIGHTNING = HERE / "lightning" / "plain.ckpt"
KEYS = {"same", "added", "removed", "changed", "values"}
CHANGED = {"name", "differs", "dtype", "shape", "kind", "elements", "count", "within", "bits", "nan", "max_abs", "max_abs_at", "max_rel",
           "max_rel_at", "mean_abs", "first", "first_values"}  # fmt: skip


def state() -> dict[str, Any]:
    made = {f"layers.{i}.{part}": np.arange(12, dtype="f4").reshape(3, 4) + i for i in range(3) for part in ("weight", "bias")}
    return {**made, "epoch": 3}


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    a, b = state(), state()
    b["layers.1.weight"][2, 1] += 0.5
    b["layers.2.bias"] = b["layers.2.bias"].astype("f2")
    b["new"], b["epoch"] = np.ones((2, 2), "i8"), 4
    del b["layers.0.bias"]
    for path, held in ((tmp_path / "a.pt", a), (tmp_path / "b.pt", b)):
        inert.save(held, path, sync=False)
    return tmp_path / "a.pt", tmp_path / "b.pt"


def test_the_same(run: Run, two: tuple[Path, Path]) -> None:
    assert run("diff", two[0], two[0]) == (0, "the same: 6 tensors\n", "")


def test_what_differs(run: Run, two: tuple[Path, Path]) -> None:
    code, out, err = run("diff", *two)
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0] == (
        "different: 2 of 5 tensors differ (1 of another dtype: float32 → float16, 1 with other values), 1 tensor in A only, "
        "1 tensor in B only, 1 other value differs; 3 the same"
    )
    assert [line.split() for line in lines if line.startswith("layers")] == [
        ["layers.1.weight", "float32", "[3,4]", "1", "0.5", "0.0476", "[2,1]"],
        ["layers.2.bias", "float32", "→", "float16", "[3,4]", "0"],
        ["layers.0.bias", "float32", "[3,4]"],
    ]
    assert [line.split() for line in lines[-2:]] == [["path", "A", "B"], ["epoch", "3", "4"]]
    assert [line for line in lines if line.endswith(":")] == ["changed:", "in A only:", "in B only:", "other values:"]


def test_json(run: Run, two: tuple[Path, Path]) -> None:
    code, out, _ = run("diff", "--json", *two)
    said = json.loads(out)
    assert code == 1
    assert said.keys() >= KEYS
    assert (said["same"], said["added"], said["removed"], said["equal"]) == (False, ["new"], ["layers.0.bias"], 3)
    assert said["values"] == [{"path": "epoch", "what": "changed", "a": 3, "b": 4}]
    first, second = said["changed"]
    assert first.keys() == second.keys() == CHANGED
    assert (first["count"], first["elements"], first["max_abs"], first["first"], first["first_values"]) == (1, 12, 0.5, [2, 1], [10, 10.5])
    assert first["max_rel"] == 0.5 / 10.5
    assert (second["differs"], second["dtype"], second["count"], second["max_abs"]) == (["dtype"], ["float32", "float16"], 0, None)
    assert json.loads(run("diff", "--json", two[0], two[0])[1])["same"] is True


def test_json_has_no_number_that_is_none(run: Run, tmp_path: Path) -> None:
    for name, value in (("a.pt", 1.0), ("b.pt", np.inf)):
        inert.save({"w": np.array([value, np.nan], "f4"), "x": value}, tmp_path / name, sync=False)
    _, out, _ = run("diff", "--json", tmp_path / "a.pt", tmp_path / "b.pt")
    said = json.loads(out, parse_constant=pytest.fail)
    assert (said["changed"][0]["max_abs"], said["changed"][0]["max_rel"], said["values"][0]["b"]) == ("Infinity", None, "Infinity")


def test_tolerances_and_types(run: Run, two: tuple[Path, Path]) -> None:
    only = ("--keep", "layers.[12].*")
    assert run("diff", *two, *only)[0] == 1
    code, out, _ = run("diff", *two, *only, "--ignore-dtype", "--atol", "0.5")
    assert (code, out) == (0, "the same: 4 tensors, 1 of them within the tolerance only\n")
    code, out, _ = run("diff", *two, *only, "--ignore-dtype", "--atol", "0.5", "--full")
    assert code == 0
    assert out.splitlines()[2] == "within the tolerance:"
    assert run("diff", *two, *only, "--ignore-dtype", "--rtol", "0.04")[0] == 1


@pytest.mark.parametrize("word", ["-1", "nan", "inf", "much", ""])
def test_what_is_no_tolerance(word: str, run: Run, two: tuple[Path, Path]) -> None:
    with pytest.raises(InertError, match="is no tolerance"):
        tolerance(word)
    refused(run("diff", *two, f"--rtol={word}"), "is no tolerance", "1e-5")


def test_other_names(run: Run, tmp_path: Path) -> None:
    inert.save(state(), tmp_path / "a.pt", sync=False)
    inert.save({f"module.{name}": value for name, value in state().items()}, tmp_path / "b.pt", sync=False)
    code, out, _ = run("diff", tmp_path / "a.pt", tmp_path / "b.pt", "--only", "weights")
    assert code == 1
    assert out.splitlines() == [
        "different: 6 tensors under another name",
        r"B's names have the prefix `module.`: compared through that, these 6 tensors hold the same; --rename '^module\.=' (or --auto-rename) "
        "takes them as the same names",
    ]
    for option in ("--auto-rename", r"--rename=^module\.="):
        code, out, _ = run("diff", tmp_path / "a.pt", tmp_path / "b.pt", "--only", "weights", option)
        assert (code, out.splitlines()[0]) == (0, "the same: 6 tensors")
    assert "layers.0.weight" in run("diff", tmp_path / "a.pt", tmp_path / "b.pt", "--full")[1]


def test_only_weights(run: Run, tmp_path: Path) -> None:
    with inert.open(LIGHTNING) as ckpt:
        weights = {name.removeprefix("state_dict."): t.numpy() for name, t in ckpt.tensors.items() if name.startswith("state_dict.")}
    inert.save(weights, tmp_path / "w.safetensors", sync=False)
    code, out, _ = run("diff", LIGHTNING, tmp_path / "w.safetensors", "--only", "weights")
    assert code == 0
    assert out.startswith(f"the same: {len(weights)} tensors (`state_dict` of A and all of B)\n")
    inert.save({"epoch": 1}, tmp_path / "none.pt", sync=False)
    refused(run("diff", LIGHTNING, tmp_path / "none.pt", "--only", "weights"), "none.pt", "--keep")


def test_tables_are_narrow_and_cut(run: Run, tmp_path: Path) -> None:
    a = {f"model.decoder.layers.{i}.self_attention.query_key_value.weight": np.ones((64, 64), "f4") for i in range(50)}
    b = {name: value + 1 for name, value in a.items()}
    for path, held in (("a.pt", a), ("b.pt", b)):
        inert.save(held, tmp_path / path, sync=False)
    _, out, _ = run("diff", tmp_path / "a.pt", tmp_path / "b.pt")
    rows = [line for line in out.splitlines() if line.startswith("model.")]
    assert len(rows) == 40
    assert max(width(row) for row in rows) <= 100
    assert "… 10 more: see --full or --json" in out
    assert all(" all " in row for row in rows)
    _, out, _ = run("diff", tmp_path / "a.pt", tmp_path / "b.pt", "--full")
    assert sum(name in out for name in a) == 50


def test_names_that_would_look_alike_stay_whole() -> None:
    names = [f"{'a' * 40}{middle}{'b' * 40}" for middle in "xy"]
    assert brief(names, False) == names
    assert brief(["", "c" * 90], False)[0] == '""'
    assert len(brief(["", "c" * 90], False)[1]) == 48
    assert brief(["c" * 90], True) == ["c" * 90]


def test_what_cannot_be_compared(run: Run, two: tuple[Path, Path], tmp_path: Path) -> None:
    refused(run("diff", two[0]), "B")
    refused(run("diff", two[0], tmp_path / "none.pt"), "none.pt", "No such file")
    (tmp_path / "text").write_text("hello")
    refused(run("diff", two[0], tmp_path / "text"), "text")
    refused(run("diff", *two, "--rename", "a(="), "a(")


def test_a_control_character_never_reaches_the_terminal(run: Run, tmp_path: Path) -> None:
    inert.save({"a\x1b[2Jb": np.ones(2, "f4"), "x": "\x1b]0;hi\x07"}, tmp_path / "a.pt", sync=False)
    inert.save({"a\x1b[2Jb": np.zeros(2, "f4"), "x": "\u202e"}, tmp_path / "b.pt", sync=False)
    for words in ((), ("--full",), ("--json",)):
        code, out, _ = run("diff", tmp_path / "a.pt", tmp_path / "b.pt", *words)
        assert code == 1
        assert all(c.isprintable() or c == "\n" for c in out), repr(out)
