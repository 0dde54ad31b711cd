"""The command line as a whole: what ends a command, what its exit code says, and that stderr gets one clear line.

Files are made by hand (tests/makers.py), never with inert.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from inert.cli import COMMANDS, DEBUG, main
from tests.makers import dumps, storage, tensor, torch_zip
from tests.source_tree import SOURCE

WORDS = {"convert": "SRC DST", "diff": "A B", "repair": "SRC DST"}  # of commands that take more than one file
Result = tuple[int, str, str]
Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """(exit code, stdout, stderr) of ``inert WORDS``. A fault of inert itself is raised."""
    monkeypatch.setenv(DEBUG, "1")

    def call(*words: str | Path) -> Result:
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.pt"
    path.write_bytes(torch_zip(dumps({"w": tensor(storage("0", 6), (2, 3))}), {"0": bytes(24)}))
    return path


def child(*words: str | Path, **options: object) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    command = [sys.executable, "-m", "inert", *map(str, words)]
    return subprocess.run(command, env=env, check=False, timeout=120, **{"capture_output": True, **options})  # type: ignore[call-overload,no-any-return]


def refused(result: Result, *words: str) -> None:
    """Exit code 2, nothing on stdout, one line on stderr that has the words."""
    code, out, err = result
    assert (code, out, err.count("\n")) == (2, "", 1), result
    assert err.startswith("inert: "), err
    for word in words:
        assert word in err


def test_no_words_give_the_commands_and_code_2(run: Run) -> None:
    code, out, err = run()
    assert (code, err) == (2, "")
    assert all(name in out for name in COMMANDS)


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help(run: Run, word: str) -> None:
    code, out, err = run(word)
    assert (code, err) == (0, "")
    assert all(f"  {name} " in out for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(run: Run, command: str) -> None:
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: inert {command} {WORDS.get(command, 'FILE')}")
    assert "--json" in out
    assert "--byteorder" in out


def test_version(run: Run) -> None:
    import inert

    assert run("--version") == (0, f"inert {inert.__version__}\n", "")


def test_an_unknown_command_names_the_likely_one(run: Run) -> None:
    refused(run("inf", "x"), "'inf'", "did you mean info?")
    refused(run("\x1b[31mzzz"), "\\x1b[31mzzz", "ls, info")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in WORDS and name != "view"])  # which shows what others refuse
class TestEveryReadingCommand:
    def test_a_missing_file(self, run: Run, command: str, tmp_path: Path) -> None:
        refused(run(command, tmp_path / "no\x1b[0m.pt"), "no\\x1b[0m.pt: No such file or directory")

    def test_a_folder(self, run: Run, command: str, tmp_path: Path) -> None:
        refused(run(command, tmp_path), "folder")

    def test_no_file(self, run: Run, command: str) -> None:
        refused(run(command), "FILE is missing", f"inert {command} FILE")

    def test_an_unknown_option(self, run: Run, command: str, plain: Path) -> None:
        refused(run(command, plain, "--frobnicate"), "'--frobnicate'", f"inert {command} --help")

    def test_a_bad_choice(self, run: Run, command: str, plain: Path) -> None:
        refused(run(command, plain, "--byteorder", "middle"), "middle", "little")

    def test_a_name_that_begins_with_a_dash(self, run: Run, command: str, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(plain.parent)
        plain.rename("-x.pt")
        refused(run(command, "-x.pt"), "behind --")
        code, out, _ = run(command, "--json", "--", "-x.pt")
        assert code == 0
        assert isinstance(json.loads(out), dict)

    def test_what_is_no_checkpoint(self, run: Run, command: str, tmp_path: Path) -> None:
        (tmp_path / "page.pt").write_bytes(b"<!doctype html><html><head><title>Quota exceeded</title></head></html>")
        if command == "scan":  # a folder holds such files too; there is nothing in them to load
            code, out, _ = run(command, tmp_path / "page.pt")
            assert code == 0
            assert "Quota exceeded" in out
            return
        refused(run(command, tmp_path / "page.pt"), "page.pt", "Quota exceeded")
        (tmp_path / "empty.pt").write_bytes(b"")
        refused(run(command, tmp_path / "empty.pt"), "empty")

    def test_a_fault_of_inert_itself_is_one_line(
        self, command: str, plain: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def broken(*_: object) -> None:
            raise ZeroDivisionError("no\nway")

        monkeypatch.delenv(DEBUG, raising=False)
        monkeypatch.setattr("inert.cli._run", broken)
        code = main([command, str(plain)])
        refused((code, *capsys.readouterr()), "a fault in inert itself (ZeroDivisionError: no\\nway)")

    def test_control_c_is_quiet(
        self, command: str, plain: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("inert.cli._run", interrupted)
        assert main([command, str(plain)]) == 130
        assert capsys.readouterr() == ("", "")

    def test_the_module_runs_as_a_program(self, command: str, plain: Path) -> None:
        done = child(command, "--json", plain)
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout)["file" if command != "show" else "name"] is not None
        assert done.stdout.isascii()


def test_a_closed_pipe_is_quiet(tmp_path: Path) -> None:
    """The reader goes away after one line of many; the code stays that of what was found."""
    many = {f"layer.{i}.weight": tensor(storage("0", 6), (2, 3)) for i in range(5000)}
    for name, state, code in (("sound.pt", many, 0), ("damaged.pt", {**many, "lost": tensor(storage("1", 6), (2, 3))}, 1)):
        path = tmp_path / name
        path.write_bytes(torch_zip(dumps(state), {"0": bytes(24)}))
        for words in (["ls", str(path)], ["ls", "--json", str(path)]):
            command = [sys.executable, "-m", "inert", *words]
            env = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
            with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
                assert running.stdout is not None
                assert running.stderr is not None
                running.stdout.read(100)
                running.stdout.close()
                err = running.stderr.read()
                assert running.wait(60) == code
            assert b"Traceback" not in err
            assert b"Broken" not in err


def test_an_encoding_that_lacks_a_letter_ends_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({"größe": tensor(storage("0", 6), (2, 3)), "o": "…"}), {"0": bytes(24)}))
    env = {**os.environ, "PYTHONPATH": str(SOURCE.parent), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-m", "inert", "ls", str(path)], env=env, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0
    assert b"gr\\xf6\\xdfe" in done.stdout
