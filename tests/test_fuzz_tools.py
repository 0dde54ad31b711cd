"""tools/fuzz.py and fuzz/driver.py: a broken invariant, a hang and an empty folder all fail; an honest target passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source_tree import REPOSITORY
from tools.fuzz import main

HEAD = f"""
import sys
sys.path.insert(0, {str(REPOSITORY / "fuzz")!r})
import pathlib, driver
driver.FOUND = pathlib.Path(__file__).parent / "found"
"""
HONEST = HEAD + "driver.run(lambda data: None, [b'seed'])\n"
BROKEN = HEAD + "def one(data):\n    if b'd' not in data: raise KeyError(data)\ndriver.run(one, [b'seed'])\n"
SLOW = """
driver.SLOW = 1
def one(data):
    while True:
        try: sum(range(999))
        except Exception: pass
driver.run(one, [b'seed'])
"""
HUNG = "import time\ntime.sleep(60)\n"


def fuzz(folder: Path, target: str, *further: str) -> int:
    (folder / "fuzz_it.py").write_text(target, encoding="utf-8")
    return main(["--seconds", "0.5", "--targets", str(folder), "--grace", "20", "--", "--engine", "random", *further])


def test_an_honest_target_passes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, HONEST) == 0
    out = capfd.readouterr().out
    assert "random inputs, the invariant holds" in out
    assert "fuzz_it.py: fine" in out
    assert not (tmp_path / "found").exists()


def test_a_broken_invariant_is_kept_and_can_be_tried_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, BROKEN) == 1
    (found,) = (tmp_path / "found").iterdir()
    assert b"d" not in found.read_bytes()
    assert "KeyError" in (err := capfd.readouterr().err)
    assert "1 of 1 fuzz targets failed" in err
    assert fuzz(tmp_path, BROKEN, str(found)) == 1
    assert fuzz(tmp_path, HONEST, str(found)) == 0


def test_an_endless_input_is_found(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert fuzz(tmp_path, HEAD + SLOW) == 1
    assert "more than 1 seconds" in capfd.readouterr().err


def test_a_hung_target_is_ended(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fuzz_it.py").write_text(HUNG, encoding="utf-8")
    assert main(["--seconds", "0.5", "--targets", str(tmp_path), "--grace", "0.5"]) == 1
    assert "did not end within 1 s" in capfd.readouterr().err


def test_no_target_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--targets", str(tmp_path)]) == 2
    assert "no fuzz target" in capsys.readouterr().err
