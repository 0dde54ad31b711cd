"""Lines of text: sizes, widths, tables, outlines, JSON in pieces; and a terminal instead of a pipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inert.cli.terminal import Progress
from inert.cli.text import as_json, compact, lines, outline, shape, size, table, width
from inert.report import plain
from tests.makers import storage, tensor
from tests.source_tree import SOURCE
from tests.test_cli_ls import saved


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (999, "999 B"), (1000, "1 kB"), (1024, "1.02 kB"), (400_000, "400 kB"), (1_234_567, "1.23 MB"), (999_499, "999 kB"),
        (999_999, "1 MB"), (7_160_000_000, "7.16 GB"), (3 * 10**12, "3 TB"), (5 * 10**18, "5 EB"), (10**24, "1,000,000 EB"),
    ],
)  # fmt: skip
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text
    assert size(count, exact=True) == str(count)


def test_shapes_are_one_word() -> None:
    assert [shape(()), shape((2,)), shape((2, 3))] == ["[]", "[2]", "[2,3]"]


def test_widths() -> None:
    assert [width(text) for text in ("ab", "é", "e\u0301", "数", "カ", "")] == [2, 1, 1, 2, 1 if width("カ") == 1 else 2, 0]
    assert width("ｶ") == 1, "a halfwidth letter"


def test_a_table_stands_straight() -> None:
    rows = [("a", "1", ""), ("数え", "10", ""), ("x" * 81, "5", "")]
    assert list(table(("name", ">n", "nothing"), rows)) == ["name   n", "a      1", "数え  10", "x" * 81 + "   5"]
    assert list(table(("name", ">n"), [])) == ["name  n"]


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({}, ["{}"]),
        ([], ["[]"]),
        (None, ["None"]),
        ("a\nb", ['"a\\nb"']),
        ([1, [2, "x"]], ['[1, [2, "x"]]']),
        ({"a": {"b": 1, "c": [1, 2]}}, ["a: {b: 1, c: [1, 2]}"]),
        ({"a": {"b": {"c": 1}}}, ["a:", "  b: {c: 1}"]),
        ([{"a": [{"b": 1}]}], ["-", "  a:", "    - {b: 1}"]),
        ({"\x1b[0m": b"\x00\x01"}, ["\\x1b[0m: 0x0001 (2 bytes)"]),
        ({"a": list(range(60))}, ["a:", *[f"  - {i}" for i in range(60)]]),
        ({"k": "x" * 20_000}, ['k: "' + "x" * 200 + '…" (20,000 characters)']),
    ],
)
def test_outlines(value: Any, lines: list[str]) -> None:
    assert list(outline(plain(value))) == lines


def test_a_cut_outline_shortens_lists() -> None:
    (line,) = outline({"a": list(range(1000))}, cut=True)
    shown = line.count(",")
    assert line.startswith("a: [0, 1, 2, ")
    assert line.endswith(f"… {1000 - shown:,} more]")
    assert len(line) < 130


def test_a_dict_that_looks_like_a_mark_is_a_dict() -> None:
    assert compact(plain({"hex": 5})) == "{hex: 5}"
    assert compact(plain({"tensor": "x"})) == '{tensor: "x"}'


def test_json_in_pieces_is_json() -> None:
    value = {"a": [{"b": 1}, {"c": "\x7f\u202eé"}], "n": None, "empty": [], "list": [1, 2]}
    text = "".join(as_json(value))
    assert json.loads(text) == value
    assert text.isascii()
    assert text.isprintable() or set(text) - {"\n"} <= set(map(chr, range(32, 127)))
    assert '\n {"b": 1},\n' in text
    with pytest.raises(ValueError, match="JSON"):
        "".join(as_json({"x": float("nan")}))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_gets_the_same_facts(tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"a\x1b[2Jb": tensor(storage("0", 6), (2, 3)), "[red]c[/red]": tensor(storage("0", 6), (6,))})
    ours, theirs = os.openpty()
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent), "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-m", "inert", "ls", str(path)], env=env, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:  # Linux says so at the end
            pass
        os.close(ours)
        assert running.wait(60) == 0
    assert b"\x1b[2J" not in text
    for part in (b"a\\x1b[2Jb", b"[red]c[/red]", b"float32", b"[2,3]", b"24 B", b"2 tensors"):
        assert part in text


def test_progress_is_silent_in_a_pipe_and_short_work(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with Progress("reading", 10) as progress:
        progress(10)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("reading", 10) as progress:
        progress(10)
        progress(10)
    assert capsys.readouterr() == ("", "")
    with Progress("reading", 10) as progress:
        progress(2)
        progress.next = 0.001
        progress(3)
    assert capsys.readouterr().err == "\rreading  50 %\r\x1b[K"


def test_no_line_steers_a_terminal() -> None:
    assert list(lines(["plain é 漢", "a\x1b[31m\n\u2028"])) == ["plain é 漢\n", "a\\x1b[31m\\n\\u2028\n"]
