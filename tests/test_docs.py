"""The documents that repeat a table of the code say what it says."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

import inert
from inert.cli import main as inert_command
from inert.finding import CODES
from inert.formats import FORMATS
from inert.writers import WRITERS
from tools.make_docs import ROOT, between, documents, findings, formats, main, table, writers

README = ROOT / "README.md"
MARKED = "a\n<!-- formats -->\nold\n<!-- /formats -->\nb\n"


@pytest.mark.parametrize("file", documents(), ids=lambda file: file.name)
def test_the_file_is_what_the_script_makes(file: Path) -> None:
    if file == README and "<!-- formats -->" not in file.read_text(encoding="utf-8"):
        pytest.skip("README.md has no markers for the formats")
    assert file.exists(), f"{file.name} is missing: run tools/make_docs.py"
    assert file.read_text(encoding="utf-8") == documents()[file], f"{file.name} is out of date: run tools/make_docs.py"


def test_every_code_and_every_format_has_a_row() -> None:
    assert all(f"| `{code}` | {severity} | {fix} |\n" in findings() for code, (severity, fix) in CODES.items())
    assert all(f"| `{one.id}` | {one.summary} |\n" in formats() for one in FORMATS)
    assert all(f"| `{one.id}` | " in writers() and f" | {one.summary} |\n" in writers() for one in WRITERS)
    assert all(f"`{suffix}`" in writers() for one in WRITERS for suffix in one.suffixes)


def test_a_bar_in_a_cell_ends_no_cell() -> None:
    assert table(("x", "y"), [("a|b", "c")]) == "| x | y |\n| --- | --- |\n| a\\|b | c |\n"


def test_only_what_stands_between_the_markers_is_made() -> None:
    assert between(MARKED, "formats", "new\n") == MARKED.replace("old", "new")
    assert between("no markers\n", "formats", "new\n") == "no markers\n"


@pytest.mark.parametrize("text", ["<!-- formats -->\nx\n", "x\n<!-- /formats -->\n", "<!-- /formats -->\n<!-- formats -->\n"])
def test_a_marker_without_its_partner_is_told(text: str) -> None:
    with pytest.raises(ValueError, match="one is missing"):
        between(text, "formats", "new\n")


def test_the_script_writes_what_is_out_of_date_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(MARKED, encoding="utf-8")
    assert main(tmp_path) == 0
    assert capsys.readouterr().out.split("\n") == [f"{Path('docs', 'findings.md')} made anew", "README.md made anew", ""]
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == between(MARKED, "formats", formats())
    assert main(tmp_path) == 0
    assert not capsys.readouterr().out


def blocks(section: str, language: str) -> list[str]:
    """The fenced blocks of a language in a section of the README."""
    text = README.read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_examples_of_convert_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "demo.ckpt", "last.ckpt")
    shutil.copy(ROOT / "tests" / "corpus" / "torch" / "python_objects.pt", "strange.pt")
    (shell,) = blocks("Convert and edit", "sh")
    commands = [shlex.split(line) for line in shell.splitlines() if line.startswith("inert ")]
    for words in commands:
        assert inert_command(words[1:]) == 0, (words, capsys.readouterr())
        assert Path(words[3]).exists()
    assert len(commands) > 6
    (python,) = blocks("Convert and edit", "python")
    exec(compile(python, "README.md", "exec"), {"inert": inert})
    with inert.open("body.pt") as ckpt:
        assert next(iter(ckpt.tensors)) == "0.weight"
    with inert.open("edited.ckpt") as ckpt:
        assert not ckpt.tensors["state_dict.head.bias"].numpy().any()
        assert "optimizer_states" not in ckpt.root
    with inert.open("small.ckpt") as ckpt:
        assert {str(t.dtype) for name, t in ckpt.tensors.items() if name.startswith("state_dict.")} == {"bfloat16", "float32", "int64"}


def test_the_examples_of_diff_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "demo.ckpt", "last.ckpt")
    inert.convert("last.ckpt", "small.ckpt", dtype="bf16")
    inert.convert("last.ckpt", "lean.ckpt", drop=["optimizer_states"])
    inert.convert("last.ckpt", "weights.safetensors", unwrap=True)
    inert.convert("last.ckpt", "wrapped.pt", root="state_dict", rename={"^": "module."})
    (shown,) = blocks("Diff", "console")
    command, *lines, dots = shown.splitlines()
    assert inert_command(shlex.split(command)[2:]) == 1
    assert (capsys.readouterr().out.splitlines()[: len(lines)], dots) == (lines, "…")
    (shell,) = blocks("Diff", "sh")
    commands = [shlex.split(line) for line in shell.splitlines() if line.startswith("inert ")]
    for words in commands:
        assert inert_command(words[1:]) == 0, (words, capsys.readouterr())
    assert len(commands) == 4
    (python,) = blocks("Diff", "python")
    exec(compile(python, "README.md", "exec"), names := {"inert": inert})
    assert {change.name for change in names["found"].changed} >= {"head.weight"}
