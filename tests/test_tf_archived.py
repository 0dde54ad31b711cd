"""TensorFlow's checkpoints inside of zip and tar archives: as in a folder, nothing is unpacked. Expected values are what TensorFlow read
(tests/corpus/tf)."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

import inert
from inert.errors import FormatError, UnidentifiedError

TF = Path(__file__).parent / "corpus" / "tf"
KINDS = {
    "zip": lambda path: zipped(path, zipfile.ZIP_STORED),
    "deflated": lambda path: zipped(path, zipfile.ZIP_DEFLATED),
    "tar": lambda path: tarfile.TarFile.open(path, "w"),
    "tar.gz": lambda path: tarfile.TarFile.open(path, "w:gz"),
}


class zipped(zipfile.ZipFile):
    """With a TarFile's way of adding a file."""

    def __init__(self, path: Path, method: int) -> None:
        super().__init__(path, "w", method)

    def add(self, file: Path, name: str) -> None:
        self.write(file, name)


def archive(path: Path, kind: str, *folders: str, under: str = "run/", only: str = "*") -> Path:
    """An archive with the files of some folders of the corpus, in folders of their own where ``under`` gives one."""
    with KINDS[kind](path) as made:
        for folder in folders:
            for file in sorted((TF / folder).rglob(only)):
                if file.is_file():
                    made.add(file, f"{under and under + folder + '/'}{file.relative_to(TF / folder).as_posix()}")
    return path


def read(path: str | Path) -> dict[str, str]:
    with inert.open(path) as checkpoint:
        assert not checkpoint.errors
        return {name: tensor.sha256() for name, tensor in checkpoint.tensors.items() if tensor.kind != "opaque"}


def plain(folder: str) -> dict[str, str]:
    return read(TF / folder)


@pytest.mark.parametrize(
    ("kind", "folder"),
    [*((kind, "objects") for kind in KINDS),
     *(("zip", folder) for folder in ("shards", "saved_model", "slices", "unmerged", "v1_file", "v1_shards"))],
)  # fmt: skip
def test_one_in_an_archive_is_read_as_in_a_folder(kind: str, folder: str, tmp_path: Path) -> None:
    expected = json.loads((TF / f"{folder}.expected.json").read_text())
    wanted = plain(folder)
    assert len(wanted) <= len(expected["tensors"])
    for under in ("run/", ""):
        path = archive(tmp_path / f"m{len(under)}.{kind}", kind, folder, under=under)
        assert read(path) == wanted
    with inert.open(path) as checkpoint:
        assert "wrapper-opened" in [note.code for note in checkpoint.notes]


@pytest.mark.parametrize(
    "member",
    ["run/objects", "run/objects/", "run/objects/ckpt-1", "run/objects/ckpt-1.index", "run/objects/ckpt-1.data-00000-of-00001",
     "run/objects/checkpoint", "ckpt-1.index"],
)  # fmt: skip
def test_any_of_its_names_leads_to_it(member: str, tmp_path: Path) -> None:
    path = archive(tmp_path / "m.zip", "zip", "objects", "names")
    step = "ckpt-2" if member.rstrip("/").endswith(("objects", "checkpoint")) else "ckpt-1"
    assert read(f"{path}!{member}") == read(TF / "objects" / step)


def test_several_are_listed(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.tar", "tar", "objects", "names")
    with pytest.raises(UnidentifiedError, match="2 files that may be checkpoints: run/objects, run/names") as caught:
        inert.open(path)
    assert "m.tar!run/objects" in str(caught.value)
    with pytest.raises(UnidentifiedError, match="there is no member 'run/objects/ckpt-7'"):
        inert.open(f"{path}!run/objects/ckpt-7")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as made:
        made.write(TF / "names" / "names.index", "a/names.index")
        made.write(TF.parent / "torch" / sorted(p.name for p in (TF.parent / "torch").glob("*.pt"))[0], "b/model.pt")
    with pytest.raises(UnidentifiedError, match=r"b/model\.pt, a"):
        inert.open(tmp_path / "other.zip")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    index = archive(tmp_path / "index.zip", "zip", "shards", only="*.index")
    with inert.open(index) as checkpoint:
        said = [note.message for note in checkpoint.notes if note.code == "tf-shard-missing"]
        assert said
        assert all("is not there" in text for text in said)
        assert all(tensor.fault for tensor in checkpoint.tensors.values())
    with pytest.raises(
        FormatError, match=r"the index 'shards.index' of this TensorFlow checkpoint is missing; 3 of its data files are there"
    ):
        inert.open(archive(tmp_path / "data.zip", "zip", "shards", only="*.data*"))
    with inert.open(archive(tmp_path / "state.zip", "zip", "v1_shards", only="*00001*")) as checkpoint:
        assert any(note.code == "tf-part-missing" for note in checkpoint.notes)


def test_indexes_of_other_programs_are_no_checkpoints(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.zip", "w") as made:
        for number in range(300):
            made.writestr(f"{number}/git.index", "DIRC" * 20)
        made.writestr("checkpoint", "a diary")
    with pytest.raises(UnidentifiedError):
        inert.open(tmp_path / "m.zip")
    with pytest.raises(UnidentifiedError, match="there is no checkpoint"):
        inert.open(f"{tmp_path / 'm.zip'}!7")


def test_members_lead_nowhere_outside(tmp_path: Path) -> None:
    (tmp_path / "secret.data-00000-of-00001").write_bytes(b"x" * 99)
    (tmp_path / "sub").mkdir()
    with zipfile.ZipFile(tmp_path / "sub" / "m.zip", "w") as made:
        made.write(TF / "names" / "names.index", "a/names.index")
        made.writestr("a/checkpoint", 'model_checkpoint_path: "../../secret"\n')
        made.write(TF / "names" / "names.data-00000-of-00001", "../names.data-00000-of-00001")
    with pytest.raises(FormatError, match="of which nothing is beside it"):
        inert.open(tmp_path / "sub" / "m.zip")


def test_it_is_converted_and_written(tmp_path: Path) -> None:
    path = archive(tmp_path / "m.zip", "deflated", "shards")
    inert.convert(path, tmp_path / "out.index")
    assert read(tmp_path / "out") == plain("shards")
