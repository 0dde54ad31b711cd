"""What a notebook shows: facts and the first values, whatever the file calls its tensors."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

import inert
from tests.makers import dumps, storage, tensor, torch_zip
from tests.source_tree import REPOSITORY

CORPUS = REPOSITORY / "tests" / "corpus"


class Seen(HTMLParser):
    """The elements and the text of a piece of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.open.append(tag)
        assert all(name == "style" for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data + " "


TAGS = {"p", "b", "table", "thead", "tbody", "tr", "th", "td", "code"}


@pytest.mark.parametrize(
    "path",
    [*sorted((CORPUS / "torch").glob("*.pt"))[::4], CORPUS / "tf" / "objects", CORPUS / "broken" / "record_missing.pt"],
    ids=lambda path: path.name,
)
def test_every_tensor_and_file(path: Path) -> None:
    with inert.open(path) as ckpt:
        seen = Seen(ckpt._repr_html_())
        assert seen.tags <= TAGS
        assert ckpt.format in seen.text
        for one in ckpt.tensors.values():
            made = Seen(one._repr_html_())
            assert made.tags <= TAGS
            assert str(one.dtype) in made.text
            if one.fault:
                assert "damaged" in made.text


def test_values_are_the_arrays(tmp_path: Path) -> None:
    import numpy as np

    array = np.arange(24, dtype="<f4").reshape(2, 3, 4) / 8
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({"w": tensor(storage("0", 24), (2, 3, 4))}), {"0": array.tobytes()}))
    with inert.open(path) as ckpt:
        text = Seen(ckpt.tensors["w"]._repr_html_()).text
        assert all(str(value) in text for value in array[0].flat)
        assert str(array[1, 0, 0] + 100) not in text
        assert "first plane of [2,3,4]" in text


def test_names_stay_text(tmp_path: Path) -> None:
    name = "<script>x</script>\u202e\x1b[31m" + "k" * 5000
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({name: tensor(storage("0", 1), (1,))}), {"0": bytes(4)}))
    with inert.open(path) as ckpt:
        for html in (ckpt._repr_html_(), ckpt.tensors[name]._repr_html_()):
            seen = Seen(html)
            assert "script" not in seen.tags
            assert "<script>" in seen.text
            assert not {"\u202e", "\x1b"} & set(html)
            assert len(html) < 3000


def test_what_cannot_be_read_is_said_in_place_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({"w": tensor(storage("0", 4), (4,))}), {"0": bytes(16)}))
    with inert.open(path) as ckpt:
        path.write_bytes(b"something else")
        text = Seen(ckpt._repr_html_()).text
        assert "torch-zip" in text
        assert "while it was open" in text


def test_many_tensors_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({f"w{i}": tensor(storage("0", 1), (1,)) for i in range(500)}), {"0": bytes(4)}))
    with inert.open(path) as ckpt:
        text = Seen(ckpt._repr_html_()).text
        assert "500 tensors" in text
        assert "and 480 more" in text
        assert repr(ckpt) == f"<Checkpoint '{path}' torch-zip>"
        assert repr(ckpt.tensors["w3"]) == "<Tensor 'w3' float32[1]>"
