"""``inert scan`` as a user sees it: pages, JSON, SARIF, exit codes. The files are made by hand (tests/makers.py)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inert.cli import main
from inert.finding import CODES
from tests.makers import Entry, Made, Name, dumps, storage, tensor, torch_zip, zip_bytes

Run = Callable[..., tuple[int, str, str]]
PLAIN = torch_zip(dumps({"w": tensor(storage("0", 2), (2,))}), {"0": bytes(8)})
BAD = torch_zip(dumps(Made(Name("__builtin__", "eval"), ("1",))))
UNKNOWN = torch_zip(dumps(Made(Name("gone", "Thing\x1b[31m"), ())))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str | Path) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in {"a.pt": PLAIN, "bad.pt": BAD, "odd.pt": UNKNOWN, "cut.pt": PLAIN[:-40], "note.txt": b"words\n"}.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "options", "code"),
    [
        ("a.pt", (), 0),
        ("odd.pt", (), 0),
        ("bad.pt", (), 1),
        ("cut.pt", (), 1),
        ("note.txt", (), 0),
        ("odd.pt", ("--fail-on", "unknown"), 1),
        ("a.pt", ("--fail-on", "unknown"), 0),
        (".", (), 1),
    ],
)
@pytest.mark.parametrize("shape", [(), ("--json",), ("--sarif",)], ids=["page", "json", "sarif"])
def test_exit_codes(run: Run, folder: Path, name: str, options: tuple[str, ...], code: int, shape: tuple[str, ...]) -> None:
    found, out, err = run("scan", folder / name, *options, *shape)
    assert (found, err) == (code, "")
    assert all(line.isprintable() for line in out.splitlines())


def test_the_page_of_a_dangerous_file(run: Run, folder: Path) -> None:
    _, out, _ = run("scan", folder / "bad.pt")
    first, *rest = out.splitlines()
    assert first == f"{folder / 'bad.pt'}: DANGEROUS: loading it as a pickle would call builtins.eval"
    (row,) = [line for line in rest if line.startswith("dangerous")]
    assert "builtins.eval (written __builtin__.eval)" in row
    assert "archive/data.pkl at byte 2" in row
    assert "torch.load(weights_only=True) refuses" in out
    assert rest[-1] == "next: do not load it as a pickle; inert ls, info and convert read its tensors without running anything"


def test_the_page_of_a_clean_file(run: Run, folder: Path) -> None:
    _, out, _ = run("scan", folder / "a.pt")
    assert "CLEAN: every name that it asks for builds data" in out
    assert "torch.load(weights_only=True) takes every name in it\nnext: it may be loaded\n" in out


def test_many_names_and_findings_are_cut_short(run: Run, tmp_path: Path) -> None:
    data = b"\x80\2" + b"".join(b"cm%d\nn\n0\x82\1" % i for i in range(60)) + b"."
    (tmp_path / "x.pkl").write_bytes(data)
    _, out, _ = run("scan", tmp_path / "x.pkl")
    assert "… 21 more names: --json has them all" in out
    assert "more findings: --json has them all" in out
    found = json.loads(run("scan", "--json", tmp_path / "x.pkl")[1])
    assert len(found["globals"]) == 61


def test_an_overview_of_a_folder(run: Run, folder: Path) -> None:
    _, out, _ = run("scan", folder)
    lines = out.splitlines()
    assert lines[-2] == "5 files: 2 clean, 1 unknown, 1 dangerous, 1 unreadable"
    assert not any(line.startswith("clean") for line in lines)
    assert any(line.startswith(f"dangerous   {folder / 'bad.pt'}: ") for line in lines)
    _, out, _ = run("scan", folder, "--all", "--jobs", "2")
    assert sum(line.startswith("clean ") for line in out.splitlines()) == 2


def test_only_clean_ones(run: Run, folder: Path) -> None:
    _, out, _ = run("scan", folder / "a.pt", folder / "note.txt")
    assert out == "2 files: 2 clean\nevery file may be loaded\n"


def test_many_findings_of_one_of_several_files(run: Run, folder: Path) -> None:
    members = [Entry("a/data.pkl", dumps({})), *(Entry(f"../{i}", b"1") for i in range(6))]
    (folder / "out.pt").write_bytes(zip_bytes(members))
    _, out, _ = run("scan", folder)
    assert f"… 3 more: inert scan {folder / 'out.pt'}" in out


def test_the_json_of_one_file(run: Run, folder: Path) -> None:
    found = json.loads(run("scan", "--json", folder / "bad.pt")[1])
    assert {"verdict", "weights_only", "globals", "findings", "file", "summary", "kind", "size"} <= found.keys()
    assert found["verdict"] == "dangerous"
    (name,) = found["globals"]
    assert (name["module"], name["name"], name["written"], name["verdict"]) == ("builtins", "eval", "__builtin__.eval", "dangerous")
    assert name["where"] == {"part": "archive/data.pkl", "offset": 2}
    assert (name["count"], name["calls"]) == (1, 1)
    assert name["why"]
    assert found["weights_only"]["blocked"]


def test_the_json_of_several(run: Run, folder: Path) -> None:
    found = json.loads(run("scan", "--json", folder)[1])
    assert found["counts"] == {"clean": 2, "unknown": 1, "dangerous": 1, "unreadable": 1}
    assert [Path(one["file"]).name for one in found["files"]] == ["a.pt", "bad.pt", "cut.pt", "note.txt", "odd.pt"]
    assert all(finding["file"] for finding in found["findings"])


def test_sarif(run: Run, folder: Path) -> None:
    found: dict[str, Any] = json.loads(run("scan", "--sarif", folder)[1])
    assert found["version"] == "2.1.0"
    (part,) = found["runs"]
    rules = part["tool"]["driver"]["rules"]
    assert {rule["id"] for rule in rules} - CODES.keys() == {"dangerous-name", "unknown-name"}
    for result in part["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note")
        assert result["message"]["text"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"].startswith("file:///")
    bad = next(result for result in part["results"] if result["ruleId"] == "dangerous-name")
    assert bad["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "archive/data.pkl", "kind": "member"}]


def test_what_cannot_be_scanned_is_one_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    code, out, err = run("scan", tmp_path / "empty")
    assert (code, out) == (2, "")
    assert "there is no file in it" in err


def test_info_says_whether_loading_is_safe(run: Run, folder: Path) -> None:
    assert "safe?       clean: every name that it asks for builds data" in run("info", folder / "a.pt")[1]
    assert "safe?       dangerous: loading it as a pickle would call builtins.eval" in run("info", folder / "bad.pt")[1]
    assert json.loads(run("info", "--json", folder / "bad.pt")[1])["scan"]["verdict"] == "dangerous"
