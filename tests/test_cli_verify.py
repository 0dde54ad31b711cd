"""``inert verify``: exit codes, the table and the JSON, several files and folders, and that it reads a file once in bounded memory."""

from __future__ import annotations

import json
import os
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.finding import CODES
from tests.makers import dumps, storage, tensor, torch_zip
from tests.test_cli_main import Run, run

__all__ = ["run"]

HERE = Path(__file__).parent / "corpus"
DATA = {"0": struct.pack("<6f", *range(6))}
SOUND = torch_zip(dumps({"w": tensor(storage("0", 6), (2, 3)), "v": tensor(storage("0", 6), (6,))}), DATA)


def damaged() -> bytes:
    data = bytearray(SOUND)
    data[data.index(DATA["0"])] ^= 1
    return bytes(data)


def put(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        (folder / name.replace("_", ".")).write_bytes(data)
    return folder


def answer(run: Run, *words: Any, code: int = 0) -> dict[str, Any]:
    found, out, _ = run("verify", "--json", *words)
    assert found == code
    made: dict[str, Any] = json.loads(out)
    return made


def test_a_sound_file_is_one_line_and_status_0(run: Run, tmp_path: Path) -> None:
    code, out, err = run("verify", put(tmp_path, x_pt=SOUND) / "x.pt")
    assert (code, err) == (0, "")
    (line,) = out.splitlines()
    assert line.startswith(f"{tmp_path / 'x.pt'}: no error was found; every checksum fits (torch-zip, 7 parts, ")


def test_a_damaged_one_is_a_table_what_to_do_and_status_1(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("verify", put(tmp_path, x_pt=damaged()) / "x.pt")
    assert code == 1
    head, row, _, fix, last = out.splitlines()
    assert head.split() == ["severity", "code", "where", "what", "tensors"]
    assert row.startswith("error     zip-crc  archive/data/0 at byte ")
    assert row.endswith("w, v")
    assert fix == f"zip-crc: {CODES['zip-crc'][1]}"
    assert "it is not sound: 1 error that hit 2 tensors: w, v" in last


def test_json_has_code_severity_place_tensors_and_what_to_do(run: Run, tmp_path: Path) -> None:
    found = answer(run, put(tmp_path, x_pt=damaged()) / "x.pt", code=1)
    assert (found["ok"], found["format"], found["counts"]) == (False, "torch-zip", {"error": 1, "warning": 0, "info": 0})
    (one,) = found["findings"]
    assert (one["code"], one["severity"], one["tensors"]) == ("zip-crc", "error", ["w", "v"])
    assert one["where"] == {"part": "archive/data/0", "offset": damaged().index(DATA["0"][1:]) - 1}
    assert one["fix"] == CODES["zip-crc"][1]
    assert found["unchecked"] == []
    assert found["checked"]["parts"] == 7
    assert "census" not in found


def test_what_is_not_verified_is_told(run: Run) -> None:
    found = answer(run, HERE / "safetensors" / "shapes.safetensors")
    assert [one["part"] for one in found["unchecked"]] == ["header", "tensors"]
    assert all(one["size"] == sum(size for _, size in one["runs"]) for one in found["unchecked"])
    assert found["ok"]
    _, out, _ = run("verify", HERE / "safetensors" / "shapes.safetensors")
    assert "; but 260 bytes cannot be verified (the header's names and texts: " in out
    _, out, _ = run("verify", "--all", HERE / "safetensors" / "shapes.safetensors")
    assert "not verified: " in out


def test_strict_ends_in_1_for_warnings(run: Run, tmp_path: Path) -> None:
    file = put(tmp_path, x_pt=SOUND + b"behind it") / "x.pt"
    assert answer(run, file)["counts"]["warning"] == 1
    assert answer(run, file, "--strict", code=1)["ok"]


def test_a_census_counts(run: Run, tmp_path: Path) -> None:
    inert.save({"n": np.array([np.nan, np.inf, 1], "f4"), "s": np.zeros(4, "f2"), "i": np.arange(3)}, tmp_path / "x.pt")
    found = answer(run, tmp_path / "x.pt", "--census")
    assert found["census"]["total"] == {"count": 7, "nan": 1, "inf": 1, "odd": 0}
    assert {row["name"]: row["nan"] for row in found["census"]["tensors"]} == {"n": 1, "s": 0}
    assert [one["code"] for one in found["findings"]] == ["values-nan"]
    code, out, _ = run("verify", "--census", tmp_path / "x.pt")
    assert code == 0
    assert "n: 1 NaN, 1 infinite of 3" in out
    assert "census: 1 NaN and 1 infinite of 7 values in 2 floating tensors" in out


@pytest.mark.parametrize("name", ["none.pt", "none"])
def test_no_such_file_is_status_2(name: str, run: Run, tmp_path: Path) -> None:
    code, out, err = run("verify", tmp_path / name)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_no_checkpoint_is_status_2_and_a_damaged_one_is_1(run: Run, tmp_path: Path) -> None:
    code, out, err = run("verify", put(tmp_path, page_pt=b"<!doctype html><html>") / "page.pt")
    assert (code, out) == (2, "")
    assert "HTML" in err
    found = answer(run, put(tmp_path, cut_pt=SOUND[:300]) / "cut.pt", code=1)
    assert (found["ok"], found["format"]) == (False, "")
    assert found["findings"][0]["code"] == "unreadable"
    assert found["sentence"].startswith("it cannot be opened: ")


def test_several_files_have_one_answer(run: Run, tmp_path: Path) -> None:
    put(tmp_path, a_pt=SOUND, b_pt=damaged(), c_txt=b"text")
    found = answer(run, tmp_path / "a.pt", tmp_path / "b.pt", code=1)
    assert [(Path(one["file"]).name, one["ok"]) for one in found["files"]] == [("a.pt", True), ("b.pt", False)]
    assert [(Path(one["file"]).name, one["code"]) for one in found["findings"]] == [("b.pt", "zip-crc")]
    code, out, err = run("verify", tmp_path / "a.pt", tmp_path / "c.txt", tmp_path / "none.pt")
    assert code == 2
    assert "none.pt" in err
    assert "c.txt" in err
    assert "a.pt: no error was found" in out


def test_a_folder_stands_for_the_checkpoints_in_it(run: Run, tmp_path: Path) -> None:
    put(tmp_path, a_pt=SOUND, notes_txt=b"text")
    shutil.copytree(HERE / "sharded" / "safetensors", tmp_path / "set")
    shutil.copytree(HERE / "dcp" / "two_ranks", tmp_path / "deep" / "dcp")
    shutil.copytree(HERE / "tf" / "strings", tmp_path / "tf")
    found = answer(run, tmp_path)
    names = {str(Path(one["file"]).relative_to(tmp_path)): one["format"] for one in found["files"]}
    assert names == {"a.pt": "torch-zip", "set": "sharded", "deep/dcp": "torch-dcp", "tf": "tf-bundle"}
    assert found["skipped"] == 1
    code, out, _ = run("verify", tmp_path)
    assert code == 0
    assert "4 checkpoints: 0 not sound, 4 without errors, 1 file of other kinds left out" in out


def test_a_folder_that_is_a_checkpoint_is_one(run: Run) -> None:
    assert answer(run, HERE / "sharded" / "safetensors")["format"] == "sharded"
    assert answer(run, HERE / "dcp" / "two_ranks" / "__0_0.distcp")["format"] == "torch-dcp"


def test_a_folder_without_checkpoints_is_status_2(run: Run, tmp_path: Path) -> None:
    assert run("verify", tmp_path)[0] == 2
    code, out, err = run("verify", put(tmp_path, c_txt=b"text"))
    assert (code, out) == (2, "")
    assert "no checkpoint in the folder" in err


def test_a_distcp_file_that_no_set_claims_is_told(tmp_path: Path) -> None:
    made = Path(shutil.copytree(HERE / "dcp" / "two_ranks", tmp_path / "set"))
    shutil.copy(made / "__0_0.distcp", made / "__9_0.distcp")
    assert [(one.code, one.where.part) for one in inert.verify(made / "__9_0.distcp").findings] == [
        ("dcp-stray", str(made / "__9_0.distcp"))
    ]
    (made / ".metadata").unlink()
    assert inert.verify(made / "__0_0.distcp").format != "torch-dcp"


MISNAMED = {  # torch 2.13 and safetensors 0.7 refuse these
    "x.safetensors": (SOUND, True),
    "y.safetensors": ((HERE / "safetensors" / "shapes.safetensors").read_bytes(), False),
    "x.pt": (dumps({"a": 1}), True),
    "x.pth": ((HERE / "safetensors" / "shapes.safetensors").read_bytes(), True),
    "x.pkl": (dumps({"a": 1}), False),
    "x.bin": (SOUND, False),
}


@pytest.mark.parametrize("name", MISNAMED)
def test_a_name_that_promises_another_format_is_told(name: str, tmp_path: Path) -> None:
    data, told = MISNAMED[name]
    (tmp_path / name).write_bytes(data)
    assert ("file-name" in [one.code for one in inert.verify(tmp_path / name).findings]) == told


def test_progress_is_told_of_every_byte(tmp_path: Path) -> None:
    file = put(tmp_path, x_pt=SOUND) / "x.pt"
    seen: list[int] = []
    found = inert.verify(file, progress=seen.append)
    assert sum(seen) == found.bytes
    assert 0.8 * len(SOUND) < found.bytes < 1.2 * len(SOUND)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    import tracemalloc

    inert.save({str(number): np.ones(1 << 20, "f4") for number in range(8)}, tmp_path / "x.pt")
    inert.convert(tmp_path / "x.pt", tmp_path / "x.index")
    for name in ("x.pt", "x.index"):
        inert.verify(tmp_path / name, threads=1)
        tracemalloc.start()
        try:
            assert inert.verify(tmp_path / name, threads=1).ok
            assert tracemalloc.get_traced_memory()[1] < 4 << 20
        finally:
            tracemalloc.stop()


def test_of_several_the_newest_without_errors_is_named(run: Run, tmp_path: Path) -> None:
    put(tmp_path, step9_pt=SOUND, step10_pt=SOUND, step11_pt=damaged())
    for name in ("step9.pt", "step10.pt", "step11.pt"):
        os.utime(tmp_path / name, (1000, 1000))
    code, out, _ = run("verify", tmp_path)
    assert code == 1
    assert out.splitlines()[-1] == f"the newest without errors: {tmp_path / 'step10.pt'}"
    os.utime(tmp_path / "step9.pt", (2000, 2000))
    assert answer(run, tmp_path, code=1)["newest"] == str(tmp_path / "step9.pt")
    put(tmp_path, step9_pt=damaged(), step10_pt=damaged())
    assert answer(run, tmp_path, code=1)["newest"] is None
