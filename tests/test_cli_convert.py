"""``inert convert``: what it writes, says and refuses.

Files are made by hand (tests/makers.py) or by the real frameworks (tests/corpus).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.cli.convert import rule
from inert.errors import InertError
from tests.makers import Made, Name, dumps, storage, tensor, torch_zip
from tests.test_cli_main import Run, refused, run

__all__ = ["run"]

HERE = Path(__file__).parent / "corpus"
LIGHTNING = HERE / "lightning" / "plain.ckpt"
KEYS = {"written", "lost", "dropped", "renamed", "cast", "replaced", "notes"}


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.pt"
    numbers = np.array([1, 2, 3, 1e6], "f4")
    state = {"model": {"w": tensor(storage("0", 4), (2, 2)), "n": 3}, "path": Made(Name("pathlib", "PosixPath"), ("a", "b"))}
    path.write_bytes(torch_zip(dumps(state), {"0": numbers.tobytes()}))
    return path


def told(run: Run, *words: str | Path) -> dict[str, Any]:
    code, out, _ = run("convert", "--json", *words)
    assert code == 0
    made: dict[str, Any] = json.loads(out)
    assert set(made) == KEYS
    return made


def test_json_says_what_was_written_and_changed(run: Run, plain: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pt"
    made = told(run, plain, out, "--rename", r"^model\.=net.", "--dtype", "fp16", "--drop", "path", "--drop", "nothing", "--no-sync")
    assert made["written"] == [str(out)]
    assert made["lost"] == []
    assert made["dropped"] == ["path"]
    assert made["renamed"] == {"model.w": "net.w"}
    assert made["cast"] == [{"name": "net.w", "from": "float32", "to": "float16", "overflowed": 1, "saturated": 0, "zeroed": 0}]
    assert [(note["code"], note["severity"], note["tensors"]) for note in made["notes"]] == [
        ("pattern-idle", "warning", []),
        ("cast-overflow", "warning", ["net.w"]),
    ]
    assert set(made["notes"][0]) == {"code", "severity", "message", "where", "tensors", "fix"}


def test_json_lists_every_replacement(run: Run, plain: Path, tmp_path: Path) -> None:
    made = told(run, plain, tmp_path / "out.pt", "--for-weights-only")
    assert made["replaced"] == [{"path": "path", "was": "pathlib.PurePosixPath", "now": "text"}]
    assert inert.load(tmp_path / "out.pt")["path"] == "a/b"


def test_lines_say_the_same(run: Run, plain: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pt"
    code, said, err = run("convert", plain, out, "--rename", r"^model\.=", "--dtype", "bf16", "--for-weights-only", "--drop", "model.n")
    assert code == 0
    assert said.splitlines() == [
        f"wrote {out}, {os.path.getsize(out) / 1000:.2f} kB",
        "left out model.n",
        "renamed 1 tensor, such as model.w to w",
        "cast 1 tensor from float32 to bfloat16",
        "replaced path: pathlib.PurePosixPath by text",
    ]
    assert err == ""
    code, said, err = run("convert", plain, out, "--dtype", "f8_e4m3fn")
    assert code == 0
    assert "1 value of 1 tensor is clipped [model.w]" in err


def test_the_options_reach_the_file(run: Run, tmp_path: Path) -> None:
    made = told(run, LIGHTNING, tmp_path / "w.pt", "--unwrap", "--strip", "--dtype", "bf16", "--dtype", "net.3=f32", "--protocol", "2")
    assert {one["name"]: one["to"] for one in made["cast"]}["net.0.weight"] == "bfloat16"
    with inert.open(tmp_path / "w.pt") as ckpt:
        assert {str(t.dtype) for name, t in ckpt.tensors.items() if name.startswith("net.3")} == {"float32"}
    told(run, tmp_path / "w.pt", tmp_path / "l.ckpt", "--lightning", "2.6.6")
    _, said, _ = run("info", tmp_path / "l.ckpt", "--json")
    assert json.loads(said)["profile"] == "lightning"
    told(
        run, HERE / "torch" / "sparse.pt", tmp_path / "d.pt", "--dense", "--compact", "--shared", "copy", "--device", "cpu", "--numpy", "1"
    )
    with inert.open(tmp_path / "d.pt") as ckpt:
        assert {t.kind for t in ckpt.tensors.values()} == {"dense"}
    told(run, HERE / "torch" / "dtypes.pt", tmp_path / "old.pt", "--rebuild", "v2", "--drop", "float4*", "--drop", "bits*")
    with inert.open(tmp_path / "old.pt") as ckpt:
        assert "float8_e4m3fn" not in {str(t.dtype) for t in ckpt.tensors.values()}


def test_source_and_destination_may_be_one(run: Run, plain: Path) -> None:
    told(run, plain, plain, "--root", "model")
    with inert.open(plain) as ckpt:
        assert list(ckpt.tensors) == ["w"]
    assert [path.name for path in plain.parent.iterdir()] == [plain.name]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dtype", "int8"), ("cannot be cast to 'int8'", "bfloat16")),
        (("--rename", "model"), ("not of the form REGEX=TEXT",)),
        (("--rename", "(=x"), ("no regular expression",)),
        (("--rename", "^model.w$=path"), ("'path' is the name of something else",)),
        (("--root", "nowhere"), ("no 'nowhere'", "model")),
        (("--root", "model", "--unwrap"), ("use one of them",)),
        (("--lightning", "2.0"), ("only a state dict",)),
        (("--to", "gguf"), ("gguf",)),
        (("--shared", "perhaps"), ("perhaps",)),
        (("--device", "cuda"), ("cuda",)),
        (("--protocol", "5", "--for-weights-only"), ("protocol 5",)),
        (("--frobnicate",), ("--frobnicate",)),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_is_one_line_and_leaves_nothing(
    words: tuple[str, ...], said: tuple[str, ...], run: Run, plain: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out" / "x.pt"
    out.parent.mkdir()
    refused(run("convert", plain, out, *words), *said)
    assert not list(out.parent.iterdir())


def test_a_missing_source_and_a_missing_word(run: Run, tmp_path: Path) -> None:
    refused(run("convert", tmp_path / "no.pt", tmp_path / "x.pt"), "no.pt: No such file or directory")
    refused(run("convert", tmp_path / "no.pt"), "DST is missing", "inert convert SRC DST")
    refused(run("convert"), "SRC is missing")


def test_damaged_tensors_stay_as_they_are_and_cannot_go_elsewhere(run: Run, tmp_path: Path) -> None:
    state = {"m": {"good": tensor(storage("0", 2), (2,)), "bad": tensor(storage("1", 9), (9,))}}
    (tmp_path / "x.pt").write_bytes(torch_zip(dumps(state), {"0": bytes(8), "1": bytes(8)}))
    code, out, err = run("convert", "--json", tmp_path / "x.pt", tmp_path / "y.pt", "--dtype", "bf16")
    assert code == 1  # what is written is as damaged as what was read
    assert "m.bad" in err
    notes = [(note["code"], note["tensors"]) for note in json.loads(out)["notes"]]
    assert notes == [("record-size", ["m.bad"]), ("cast-left", ["m.bad"])]
    with inert.open(tmp_path / "y.pt") as ckpt:
        assert [str(t.dtype) for t in ckpt.tensors.values()] == ["bfloat16", "float32"]
        assert "holds 8 bytes" in ckpt.tensors["m.bad"].fault
    refused(run("convert", tmp_path / "x.pt", tmp_path / "z.pt", "--for-weights-only"), "damaged", "leave it out")
    assert not (tmp_path / "z.pt").exists()


def test_names_of_a_file_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    state = {"\x1b[31mw": tensor(storage("0", 1), ()), "\x1b[2J": Made(Name("pathlib", "PosixPath"), ("\x07",))}
    (tmp_path / "x.pt").write_bytes(torch_zip(dumps(state), {"0": bytes(4)}))
    code, out, err = run("convert", tmp_path / "x.pt", tmp_path / "y.pt", "--rename", "w$=v", "--for-weights-only", "--dtype", "bf16")
    assert code == 0
    assert "\x1b" not in out + err
    assert "\x07" not in out + err


def test_a_rule_is_divided_at_its_last_sign() -> None:
    assert rule("a=b") == ("a", "b")
    assert rule("(?=x)y=") == ("(?=x)y", "")
    for text in ("", "a", "=b"):
        with pytest.raises(InertError, match="REGEX=TEXT"):
            rule(text)


def test_help_names_every_option(run: Run) -> None:
    code, out, _ = run("convert", "--help")
    assert code == 0
    for name in ("root", "unwrap", "keep", "drop", "strip", "rename", "dense", "dtype", "rebuild", "compact", "shared", "for-weights-only"):
        assert f"--{name}" in out


def test_patterns_that_fit_nothing_are_told(run: Run, tmp_path: Path) -> None:
    inert.save({"net": {"w": np.zeros(2, "f4"), "n": np.arange(2)}}, tmp_path / "x.pt")
    for words, said in (
        (["--dtype", "zzz=bf16"], "zzz=bfloat16"),
        (["--dtype", "n=bf16"], "n=bfloat16"),
        (["--rename", "zzz=b"], "zzz"),
        (["--strip"], "module."),
        (["--drop", "zzz"], "zzz"),
    ):
        code, _, err = run("convert", tmp_path / "x.pt", tmp_path / "y.pt", *words)
        assert code == 0
        assert said in err
    refused(run("convert", tmp_path / "x.pt", tmp_path / "x.pt", "--keep", "nope"), "nothing would be left")
    assert list(inert.open(tmp_path / "x.pt").tensors) == ["net.w", "net.n"]


def test_a_set_that_is_not_whole_is_told_when_it_is_converted(run: Run, tmp_path: Path) -> None:
    inert.save({f"w{i}": np.zeros(100) for i in range(3)}, tmp_path / "model.safetensors.index.json", max_shard_size=900)
    (tmp_path / "model-00002-of-00003.safetensors").unlink()
    code, out, err = run("convert", "--json", tmp_path, tmp_path / "out.pt")
    assert code == 1
    assert "shard-missing" in [note["code"] for note in json.loads(out)["notes"]]
    assert "model-00002-of-00003.safetensors" in err
    with inert.open(tmp_path / "model.safetensors.index.json") as ckpt:
        assert "shard-missing" in [note.code for note in ckpt.save(tmp_path / "again.pt").notes]


def test_progress_counts_against_the_size_of_what_is_written(tmp_path: Path) -> None:
    class Told:
        total = done = 0

        def expect(self, total: int) -> None:
            self.total = total

        def __call__(self, more: int) -> None:
            self.done += more

    told = Told()
    inert.save({"w": np.zeros(1000)}, tmp_path / "x.pt", progress=told)
    assert told.total == told.done == (tmp_path / "x.pt").stat().st_size
    told.done = 0
    inert.convert(tmp_path / "x.pt", tmp_path / "y.safetensors", progress=told)
    assert told.total == told.done == (tmp_path / "y.safetensors").stat().st_size
