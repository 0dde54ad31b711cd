"""tools/core_coverage.py: the floor under the core's coverage is exact, and its sentences say what to do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tools.core_coverage import CORE, judge, main, part_of


def report(files: dict[str, tuple[int, int, int, int]], *, branches: bool = True) -> dict[str, Any]:
    """File → (statements, missing lines, branches, missing branches), laid out as coverage does."""
    keys = ("num_statements", "missing_lines", "num_branches", "missing_branches")
    return {
        "meta": {"branch_coverage": branches},
        "files": {name: {"summary": dict(zip(keys, counts, strict=True))} for name, counts in files.items()},
    }


@pytest.mark.parametrize(
    ("file", "part"),
    [
        ("src/inert/source.py", "source"),
        ("src/inert/pickle/decode.py", "pickle"),
        ("src\\inert\\torch\\build.py", "torch"),
        ("inert/formats/deep/er.py", "formats"),
        ("lib/site-packages/inert/containers/zip.py", "containers"),
        ("src/inert/__init__.py", "__init__"),
        ("src/inert/cli/inert.py", "cli"),
        ("work/inert/main/src/inert/tensorflow/table.py", "tensorflow"),
        ("tests/pickle/test_decode.py", ""),
        ("inert.py", ""),
    ],
)
def test_a_file_belongs_to_a_part(file: str, part: str) -> None:
    assert part_of(file) == part


def test_exactly_the_floor_is_enough() -> None:
    status, sentence = judge(report({"src/inert/source.py": (60, 3, 40, 2)}))
    assert (status, sentence) == (0, "Coverage of the core is 95.0 % (floor 95 %) over 1 files.")


def test_a_branch_less_is_too_little_and_the_worst_files_are_named() -> None:
    files = {
        "src/inert/source.py": (600, 0, 400, 0),
        "src/inert/pickle/decode.py": (600, 61, 400, 40),
        "src/inert/formats/pt.py": (0, 0, 0, 0),
    }
    status, sentence = judge(report(files))
    assert status == 1
    assert sentence == (
        "Coverage of the core is 94.9 %, below its floor of 95 %: 61 lines and 40 branches are never taken. Least covered:\n"
        "  src/inert/pickle/decode.py 89.9 % (61 lines, 40 branches missing)"
    )


def test_what_is_not_core_does_not_count() -> None:
    files = {"src/inert/cli/__init__.py": (1000, 1000, 10, 10), "src/inert/torch/build.py": (10, 0, 2, 0)}
    assert judge(report(files))[0] == 0
    status, sentence = judge(report({"src/inert/cli/__init__.py": (10, 0, 0, 0)}))
    assert status == 2
    assert all(part in sentence for part in CORE)


def test_a_report_without_branches_is_no_answer() -> None:
    status, sentence = judge(report({"src/inert/source.py": (10, 0, 0, 0)}, branches=False))
    assert status == 2
    assert "--cov-branch" in sentence


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "coverage.json"
    path.write_text(json.dumps(report({"src/inert/source.py": (10, 1, 0, 0)})), encoding="utf-8")
    assert main([str(path)]) == 1
    assert "90.0 %" in capsys.readouterr().err
    assert main([str(path), "--floor", "90"]) == 0
    assert "90.0 %" in capsys.readouterr().out


@pytest.mark.parametrize("content", [None, "no json", "{}", "[]"])
def test_a_bad_report_is_said_in_one_line(content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "coverage.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert main([str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be used" in line
