"""tools/fuzz.py and fuzz/driver.py: a broken invariant, a hang and an empty folder all fail; an honest target passes; what failed can be
made again from the last lines alone; and there is a target for every format and every reader."""

from __future__ import annotations

import ast
import base64
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from inert.formats import FORMATS
from tests.source_tree import REPOSITORY, imports, modules
from tools.fuzz import main

FUZZ = REPOSITORY / "fuzz"
TARGETS = sorted(FUZZ.glob("fuzz_*.py"))
HEAD = f"""
import sys
sys.path.insert(0, {str(FUZZ)!r})
import pathlib, driver
driver.FOUND = pathlib.Path(__file__).parent / "found"
"""
HONEST = HEAD + "driver.run(lambda data: None, [b'seed'])\n"
COUNTED = HEAD + "driver.run(lambda data: print(data), [b'seed'], smoke=50)\n"
BROKEN = HEAD + "def one(data):\n    if b'd' not in data: raise KeyError(data)\ndriver.run(one, [b'seed'])\n"
SLOW = """
driver.SLOW = 1
def one(data):
    while True:
        try: sum(range(999))
        except Exception: pass
driver.run(one, [b'seed'])
"""
LARGE = """
import watch
watch.WARM = 0
driver.GROWTH = 50 << 20
driver.run(lambda data: bytearray(b"x") * (100 << 20), [b'seed'])
"""
REACHES = """
def one(data):
    try: {}
    except BaseException: pass
driver.run(one, [b'seed'])
"""
HUNG = "import time\ntime.sleep(60)\n"


def fuzz(folder: Path, target: str, *further: str, smoke: bool = False) -> int:
    (folder / "fuzz_it.py").write_text(target, encoding="utf-8")
    share = ["--smoke"] if smoke else ["--seconds", "0.5"]
    return main([*share, "--targets", str(folder), "--grace", "30", "--", "--engine", "random", *further])


def test_an_honest_target_passes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, HONEST) == 0
    (line,) = capfd.readouterr().out.splitlines()
    assert re.fullmatch(r"fuzz_it\.py: [\d,]{3,} executions, \d+ s, fine", line), line
    assert "random driver, 1 seeds, 0.5 s" in (tmp_path / "logs" / "fuzz_it.log").read_text("utf-8")
    assert not (tmp_path / "found").exists()


def test_a_smoke_run_tries_the_same_inputs_each_time(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    said = set()
    for _ in range(2):
        assert fuzz(tmp_path, COUNTED, smoke=True) == 0
        assert "fuzz_it.py: 51 executions, " in capfd.readouterr().out
        said.add((tmp_path / "logs" / "fuzz_it.log").read_text("utf-8"))
    assert len(said) == 1


def test_a_broken_invariant_is_kept_and_can_be_tried_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, BROKEN) == 1
    (found,) = (tmp_path / "found").iterdir()
    assert b"d" not in found.read_bytes()
    lines = capfd.readouterr().out.splitlines()
    assert "1 of 1 fuzz targets failed" in lines[1]
    assert lines[-1] == f"—— fuzz_it.py: KeyError: {found.read_bytes()!r}"
    again = re.fullmatch(r"—— again: echo (\S*) \| base64 -d >found && python \S+fuzz_it\.py found", lines[-2])
    assert again, lines[-2]
    assert base64.b64decode(again[1]) == found.read_bytes()
    assert "Traceback (most recent call last):" in lines
    number = re.search(r"\((--engine random --seed 1 --first \d+ --runs 1)\)", "\n".join(lines))
    assert number, lines
    assert fuzz(tmp_path, BROKEN, *number[1].split()[2:]) == 1
    assert "fuzz_it.py: 1 executions" in (said := capfd.readouterr().out) or "--first 0" in number[1], said
    assert fuzz(tmp_path, BROKEN, str(found)) == 1
    assert capfd.readouterr().out.splitlines()[-2:] == lines[-2:]
    assert fuzz(tmp_path, HONEST, str(found)) == 0


def test_an_endless_input_is_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, HEAD + SLOW) == 1
    assert "TooSlow: more than 1 seconds" in capfd.readouterr().out.splitlines()[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="no peak of memory is told there")
def test_an_input_that_takes_much_memory_is_found(tmp_path: Path) -> None:
    """By way of a process that is small: the peak that a system tells of a process begins at that of the one which started it."""
    (tmp_path / "fuzz_it.py").write_text(HEAD + LARGE, encoding="utf-8")
    command = [sys.executable, REPOSITORY / "tools" / "fuzz.py", "--seconds", "0.5", "--targets", tmp_path, "--", "--engine", "random"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8", env=os.environ | {"PYTHONUTF8": "1"})
    assert done.returncode == 1
    assert "more bytes of memory for one input" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    "reach",
    [
        "open('/nowhere/x', 'w')",
        "__import__('tkinter_gone')",
        "__import__('os').system('true')",
        "__import__('pickle').loads(b'cos\\nsystem\\n.')",
    ],
)
def test_what_reaches_outside_is_found_even_where_it_is_caught(reach: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, HEAD + REACHES.format(reach)) == 1
    assert "Outside" in capfd.readouterr().out.splitlines()[-1]


def test_a_hung_target_is_ended(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fuzz_it.py").write_text(HUNG, encoding="utf-8")
    assert main(["--seconds", "0.5", "--targets", str(tmp_path), "--grace", "0.5"]) == 1
    assert "did not end within 1 s" in capfd.readouterr().out.splitlines()[-1]


def test_no_target_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--targets", str(tmp_path)]) == 2
    assert "no fuzz target" in capsys.readouterr().err


# -- the targets ------------------------------------------------------------------------------------------------------------


def reads(target: Path) -> tuple[str, ...]:
    """The modules that a target says it is for."""
    for node in ast.parse(target.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "READS":
            made: tuple[str, ...] = ast.literal_eval(node.value)
            return made
    return ()


READ = {module for target in TARGETS for module in reads(target)}


@pytest.mark.parametrize("target", TARGETS, ids=lambda path: path.stem)
def test_a_target_states_its_invariant_and_what_it_is_for(target: Path) -> None:
    first = (ast.get_docstring(ast.parse(target.read_text("utf-8"))) or "").partition("\n")[0]
    assert first.endswith((".", ";", ",")) or len(first) > 100, first
    assert len(first) > 60, first
    for module in reads(target):
        path = REPOSITORY / "src" / "inert" / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.id)
def test_every_format_has_a_target(format: object) -> None:
    assert f"formats.{getattr(format, 'module')}" in READ  # noqa: B009


@pytest.mark.parametrize("folder", ["containers", "writers"])
def test_every_container_and_writer_has_a_target(folder: str) -> None:
    """By its own name, or as a part of a module that is named."""
    named = {f"inert.{module}" for module in READ}
    parts = {found.target for found in imports() if found.module in named}
    missing = {module for module in modules() if module.startswith(f"inert.{folder}.")} - named - parts
    assert not missing, f"no target names these in READS: {sorted(missing)}"


def test_changes_are_those_of_the_seed_and_keep_the_structure() -> None:
    sys.path.insert(0, str(FUZZ))
    try:
        from mutation import LONGEST, MARK, mutated, spans
    finally:
        sys.path.remove(str(FUZZ))
    seeds = [
        b"head" + MARK + b"a/data.pkl\n\x80\x02}q\x00X\x01\x00\x00\x00aK\x01s." + MARK + b'x.json\n{"a": [1, "b"]}',
        b"\x80\x02]q\x00(K\x01K\x02e.",
    ]
    made = [mutated(random.Random(number), seeds) for number in range(2000)]
    assert made == [mutated(random.Random(number), seeds) for number in range(2000)]
    assert len(set(made)) > 1500
    assert all(len(data) <= LONGEST for data in made)
    parted = [data for data in made if MARK in data]
    assert len(parted) > 800
    assert sum(b"a/data.pkl\n" in data for data in parted) > 500
    assert spans(seeds[1]) == [(0, 2), (2, 3), (3, 5), (5, 6), (6, 8), (8, 10), (10, 11), (11, 12)]
