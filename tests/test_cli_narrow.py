"""Pages on a narrow terminal and help pages: lines fit, words stay whole, and the facts that a user needs are there."""

from __future__ import annotations

import argparse
import fcntl
import os
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from inert.cli import COMMANDS, _command
from inert.cli.narrow import stacked, wrapped
from inert.cli.text import width
from tests.source_tree import SOURCE

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples" / "demo.ckpt"
DOTTED = ROOT / "tests" / "corpus" / "hostile" / "dotted.pt"


def on_terminal(columns: int, *words: str | Path) -> list[str]:
    """The lines that a command writes to a terminal of so many columns."""
    mine, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    command = [sys.executable, "-m", "inert", *map(str, words)]
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent), "NO_COLOR": "1", "TERM": "dumb"}
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=subprocess.PIPE, env=env) as child:
        os.close(its)
        found = b""
        while True:
            try:
                piece = os.read(mine, 1 << 16)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            found += piece
        assert child.stderr is not None
        assert b"Traceback" not in child.stderr.read()
    os.close(mine)
    return found.decode().replace("\r\n", "\n").splitlines()


def test_a_wide_cell_stands_below_its_row() -> None:
    rows = [("w", "float32", "a b c d e " * 8 + "f"), ("x", "int8", "")]
    assert list(stacked(("name", ">dtype", "notes"), rows, 50)) == [
        "name    dtype",
        "w     float32",
        "    notes: a b c d e a b c d e a b c d e a b c d e",
        "      a b c d e a b c d e a b c d e a b c d e f",
        "x        int8",
    ]


def test_the_rightmost_wide_columns_go_down_first() -> None:
    row = ("dangerous", "n" * 30, "w" * 30, "y" * 60)
    assert list(stacked(("verdict", "name", "where", "why"), [row], 80))[1] == f"dangerous  {'n' * 30}  {'w' * 30}"
    assert list(stacked(("verdict", "name", "where", "why"), [row], 60))[1:] == [
        f"dangerous  {'n' * 30}",
        f"    where: {'w' * 30}",
        "    why:",
        f"      {'y' * 60}",
    ], "a word is never broken"


def test_a_name_wider_than_its_room_has_a_line_of_its_own() -> None:
    rows = [("short", "[2]", "8 B"), ("n" * 60, "[3]", "12 B")]
    assert list(stacked(("name", "shape", ">size"), rows, 40)) == [
        f"{'name':27}  shape  size",
        f"{'short':27}  [2]     8 B",
        "n" * 60,
        f"{'':27}  [3]    12 B",
    ]


def test_titles_alone() -> None:
    assert list(stacked(("name", ">size"), [], 4)) == ["name  size"]


@pytest.mark.parametrize("room", [40, 57, 80])
def test_words_are_broken_into_lines(room: int) -> None:
    text = "  a line of 数え words that has to be told whole, with  two blanks and " + "x" * 60
    lines = list(wrapped(text, room, 4))
    assert all(width(line) <= room or line.strip() == "x" * 60 for line in lines)
    assert lines[0].startswith("  a")
    assert all(line.startswith("    ") for line in lines[1:])
    assert " ".join(line.strip() for line in lines).split() == text.split()
    assert list(wrapped("a b", 5, 0)) == ["a b"], "so little room is the terminal's to deal with"


def test_a_verdict_at_80_columns() -> None:
    lines = on_terminal(80, "scan", DOTTED)
    assert "dangerous  torch.serialization.os.system           1       1" in lines
    assert "    first in: archive/data.pkl at byte 34" in lines
    assert max(len(line) for line in lines if line.startswith(("dangerous", "clean", "    "))) <= 80


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("words", [("info",), ("ls", "--tree"), ("ls", "--hash")], ids=" ".join)
def test_pages_of_a_training_checkpoint(columns: int, words: tuple[str, ...]) -> None:
    command, *options = words
    lines = on_terminal(columns, command, DEMO, *options)
    wide = [line for line in lines[1:] if width(line) > columns and " " in line.strip()]
    names = [line for line in wide if "callbacks." in line]  # names with blanks in them
    prose = ("43 tensors", "└─ best_k_models")  # a sentence, and a file's name
    assert [line for line in wide if line not in names and not line.strip().startswith(prose)] == []


def test_a_wide_terminal_keeps_the_table() -> None:
    assert any(line.rstrip().endswith("it is a container") and line.startswith("clean") for line in on_terminal(180, "scan", DOTTED))


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, command: str, columns: int) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((columns, 40)))
    lines = _command(command).parser().format_help().splitlines()
    assert [line for line in lines if len(line) > min(columns, 120) and not line.startswith(("usage", "  inert"))] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_the_words_are_and_how_it_ends(command: str) -> None:
    parser: argparse.ArgumentParser = _command(command).parser()
    text = " ".join(parser.format_help().split())
    assert "Exit status: 0 " in text
    assert "2 it could not be done" in text
    assert "folder" in text
    assert "prefix" in text or command == "verify"
    assert not [action.dest for action in parser._actions if not action.help]
