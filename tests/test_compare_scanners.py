"""The script that compares scanners: what it asks, what it counts, and that its document says what it made."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pytest

from inert.policy import judge
from tests.source_tree import REPOSITORY
from tools import compare_scanners as compare

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = REPOSITORY / "docs" / "scan.md"
SYSTEM = b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A hostile file, a harmless one beside it, and a real folder."""
    folder = tmp_path / "corpus"
    for name, data in (("malicious/zip/bad.pkl", SYSTEM), ("malicious/other/good.pkl", b"\x80\x02}."), ("torch/also.pkl", b"\x80\x02].")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    expected = {"zip/bad.pkl": {"expect": "unsafe"}, "other/good.pkl": {"expect": "safe"}}
    (folder / "malicious" / "expected.share.json").write_text(json.dumps(expected), encoding="utf-8")
    (folder / "broken").mkdir()
    return folder


def test_inert_is_asked_in_a_process_of_its_own(corpus: Path) -> None:
    paths = [str(corpus / "malicious/zip/bad.pkl"), str(corpus / "torch/also.pkl"), str(corpus / "absent.pkl")]
    said = compare.ask("inert", sys.executable, paths)
    assert [said[path]["said"] for path in paths] == [compare.FLAGGED, compare.PASSED, compare.CRASHED]
    assert [said[path]["strict"] for path in paths] == [True, False, False]
    assert "FileNotFoundError" in said[paths[2]]["why"]
    assert [one["seen"] for one in said.values()] == [[], [], []]


def test_damaged_files_and_notes_are_in_neither_set(corpus: Path) -> None:
    (corpus / "torch" / "expected.json").write_text("{}")
    (corpus / "broken" / "cut.pkl").write_bytes(b"\x80")
    bad, harmless = compare.hostile(corpus)
    assert bad == ["zip/bad.pkl"]
    assert compare.benign(corpus, harmless) == ["malicious/other/good.pkl", "torch/also.pkl"]


def test_the_report_counts_what_was_said() -> None:
    one = {"strict": False, "why": "", "seen": [], "seconds": 0.5}
    said = {
        "inert": {"malicious/zip/a.pt": {**one, "said": "flagged", "strict": True}, "b.pt": {**one, "said": "passed"}},
        "hayward": {"malicious/zip/a.pt": {**one, "said": "passed", "seen": ["os.system (b'x',)"]}, "b.pt": {**one, "said": "flagged"}},
    }
    text = "\n".join(compare.report(["malicious/zip/a.pt"], ["b.pt"], said))
    assert "| inert | 1 | 0 | 0 | 0 | 1 | 0 | 0 | 0 | 0 | 1.0 s |" in text
    assert re.search(r"\| hayward [\d.]+ \| 0 \| 0 \| 1 \| 0 \| 0 \| 0 \| 0 \| 1 \| 0 \| 1.0 s \|", text)
    assert "| zip archives that readers see differently | 1 | 1 | 0 |" in text
    assert "* **hayward** missed: `zip/a.pt`" in text
    assert "* **hayward** raised an alarm on: `b.pt`" in text
    assert "* **hayward** did more than read, in 1 files: os.system" in text


def test_every_file_has_a_kind() -> None:
    assert compare.kind("gadgets/torch_hub_load.pt") == "functions of torch, NumPy and other libraries"
    assert compare.kind("opcodes/stack_global_memo.pt") == "names put together from the memo"
    assert compare.kind("opcodes/stack_global_short_binstring.pt").startswith("protocols 0 and 1")
    assert compare.kind("something/new.pt") == "else"


def test_the_document_holds_what_the_script_made() -> None:
    """Every hostile file flagged, every scanner with its version; the examples are true."""
    text = DOCUMENT.read_text(encoding="utf-8")
    made = text.partition("<!-- compared -->")[2].partition("<!-- /compared -->")[0]
    hostile = int(re.search(r"(\d+) hostile and", made)[1])  # type: ignore[index]
    assert re.search(rf"\| inert \| {hostile} \| 0 \| 0 \| 0 \|", made)
    for name, (version, _, _) in compare.SCANNERS.items():
        assert f"| {name} {version}".rstrip() in made
    assert judge("collections", "OrderedDict").why in text
    assert judge("torch.serialization", "os.system").verdict == "dangerous"
