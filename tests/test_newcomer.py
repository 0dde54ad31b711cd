"""What somebody meets who has only read the README: each refusal says what to do next, and a word that is nearly right gets the right one."""

from __future__ import annotations

from pathlib import Path

import pytest

import inert
from inert.cli import main
from inert.errors import DAMAGED, FormatError
from inert.words import article, counted
from tests.makers import dumps, storage, tensor, torch_zip


def said(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    code = main([str(word) for word in words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture
def nested(tmp_path: Path) -> Path:
    path = tmp_path / "model.ckpt"
    state = {"model": {"encoder": {"w": tensor(storage("0", 6), (2, 3)), "b": tensor(storage("1", 2), (2,))}}, "step": 1}
    path.write_bytes(torch_zip(dumps(state), {"0": bytes(24), "1": bytes(8)}))
    return path


def test_a_module_named_without_what_it_lies_in(capsys: pytest.CaptureFixture[str], nested: Path) -> None:
    code, out, err = said(capsys, "ls", nested, "encoder")
    assert (code, out) == (2, "")
    assert err == "inert: no tensor fits 'encoder': did you mean 'model.encoder'?\n"
    assert "'model.encoder.w'?" in said(capsys, "ls", nested, "w")[2]
    assert said(capsys, "ls", nested, "model.encoder")[0] == 0


def test_a_file_named_nearly_right(capsys: pytest.CaptureFixture[str], nested: Path) -> None:
    _, _, err = said(capsys, "info", nested.with_name("modle.ckpt"))
    assert f"modle.ckpt: No such file or directory; did you mean '{nested}'?" in err
    _, _, err = said(capsys, "info", nested.parent / "no" / "x.pt")
    assert f"there is no folder '{nested.parent / 'no'}'" in err


def test_a_file_without_tensors(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({"step": 1}), {}))
    code, out, _ = said(capsys, "ls", path)
    assert code == 0
    assert out.splitlines()[1:] == ["", f"no tensors; inert show {path} gives the saved object"]


def test_values_that_a_format_has_no_place_for(capsys: pytest.CaptureFixture[str], nested: Path) -> None:
    _, _, err = said(capsys, "convert", nested, nested.with_suffix(".safetensors"))
    assert "not kept: step: an int is no tensor" in err
    assert "--leaves sidecar" in err
    assert "--leaves" not in said(capsys, "convert", nested, nested.with_suffix(".pt"))[2]


@pytest.mark.parametrize("pickle", [b"\x80\x02K", b"\x80\x02\xff.", b"\x80\x02u.", b"\x80\x02j\xff\xff\xff\xff."])
def test_a_damaged_pickle_has_a_next_step(capsys: pytest.CaptureFixture[str], tmp_path: Path, pickle: bytes) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(pickle, {}))
    with pytest.raises(FormatError) as caught:
        inert.open(path)
    assert caught.value.hint
    assert caught.value.hint == DAMAGED or caught.value.hint.endswith(": get the file again")
    code, out, err = said(capsys, "ls", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert caught.value.hint in err


def test_a_limit_that_no_command_can_raise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    path.write_bytes((100_000_001).to_bytes(8, "little") + b"{" + bytes(32))
    code, _, err = said(capsys, "ls", path)
    assert code == 2
    assert ("in Python, limits= of inert.open" in err) == ("Limits." in err), err
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({"w": 1}), {}))
    with pytest.raises(inert.LimitError) as caught:
        inert.open(path, limits=inert.Limits(opcodes=1))
    assert "in Python" not in str(caught.value), "somebody who gives limits knows where"


def test_no_finding_says_twice_what_is_there() -> None:
    """What to do next is told behind the message: it does not begin with the same fact."""
    from inert.finding import CODES

    again = ("bytes follow", "two members", "two tensors share", "the directory does not name", "bytes that belong")
    assert [code for code, (_, fix) in CODES.items() if fix.startswith(again)] == []


@pytest.mark.parametrize(
    ("count", "word", "verb", "text"),
    [
        (1, "byte", "follow", "1 byte follows"), (2, "byte", "follow", "2 bytes follow"), (1, "storage", "have", "1 storage has"),
        (0, "name", "hold", "0 names hold"), (1, "file", "", "1 file"), (1200, "file", "are", "1,200 files are"),
    ],
)  # fmt: skip
def test_one_is_no_many(count: int, word: str, verb: str, text: str) -> None:
    assert counted(count, word, verb) == text


def test_articles() -> None:
    assert [article(word) for word in ("int", "dict", "OrderedDict")] == ["an int", "a dict", "an OrderedDict"]


def test_figures_show_themselves(nested: Path) -> None:
    other = nested.with_name("other.ckpt")
    with inert.open(nested) as ckpt:
        ckpt.tensors["model.encoder.b"] = ckpt.tensors["model.encoder.b"].numpy() + 1
        ckpt.save(other)
    changed = inert.diff(nested, other).changed
    assert [repr(one.figures) for one in changed] == ["<Figures 2 of 2 differ, the greatest by 1>"]
