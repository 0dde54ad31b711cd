"""Sets of shards: one checkpoint over all files, whatever is missing is said, and nothing outside the folder is read.

The folders of tests/corpus/sharded/ are made by make_sharded.py; expected.json says what is in each.
"""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.cli import main
from inert.containers.folder import Folder, unsafe
from inert.errors import FormatError, InertError, LimitError, UnidentifiedError, UnsupportedError
from inert.tensor import Tensor
from tests.conformance import look_over
from tests.source_tree import REPOSITORY

HERE = Path(__file__).parent / "corpus" / "sharded"
TABLE: dict[str, dict[str, Any]] = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
SHARED = REPOSITORY.parent / "shared" / "corpus"
ENDS = (".index.json", ".index.fp16.json")


def index_of(folder: Path) -> Path | None:
    return next((path for path in folder.iterdir() if path.name.endswith(ENDS)), None)


def subjects() -> Iterator[tuple[str, Path]]:
    """Each folder as itself and by its index."""
    for name in TABLE:
        yield name, HERE / name
        index = index_of(HERE / name)
        if index is not None:
            yield name, index


def hashes(checkpoint: inert.Checkpoint) -> dict[str, str]:
    return {name: tensor.sha256() for name, tensor in checkpoint.tensors.items()}


@pytest.mark.parametrize(
    ("name", "path"), list(subjects()), ids=lambda value: value if isinstance(value, str) else value.suffix or "folder"
)
def test_a_set_is_one_checkpoint(name: str, path: Path) -> None:
    row = TABLE[name]
    if row["refuses"]:
        with pytest.raises(FormatError, match=row["refuses"]):
            inert.open(path)
        return
    with inert.open(path) as checkpoint:
        assert checkpoint.format == "sharded"
        assert hashes(checkpoint) == row["tensors"]
        assert sorted({note.code for note in checkpoint.notes}) == row["notes"]
        assert checkpoint.content.source.name == str(path)
        assert all(part.size >= 0 and os.path.isfile(part.file) for part in checkpoint.parts.values())
    torn = any(note.severity == "error" for note in checkpoint.notes)
    if torn:
        with pytest.raises(FormatError):
            inert.open(path, strict=True)
    else:
        inert.open(path, strict=True).close()


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("mmap", [True, False])
def test_load_gives_a_whole_set_or_refuses_it(name: str, mmap: bool) -> None:
    row = TABLE[name]
    if row["refuses"] or any(code.startswith("shard-") and code != "shard-stray" for code in row["notes"]):
        with pytest.raises(FormatError, match=row["refuses"] or "not whole"):
            inert.load(HERE / name, mmap=mmap)
    else:
        assert set(inert.load(HERE / name, mmap=mmap)) == set(row["tensors"])


def test_names_are_in_the_index_s_order(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "safetensors", tmp_path / "set")
    index = index_of(folder)
    assert index is not None
    facts = json.loads(index.read_text())
    facts["weight_map"] = dict(reversed(facts["weight_map"].items()))
    index.write_text(json.dumps(facts))
    with inert.open(index) as checkpoint:
        assert list(checkpoint.tensors) == ["c", "n.b", "a"]
        assert checkpoint.tensors["n.b"].path == ("n.b",)


def test_parts_are_the_shards_and_what_is_in_them() -> None:
    with inert.open(HERE / "bin") as checkpoint:
        parts = checkpoint.parts
        assert [part.role for part in parts.values()].count("shard") == 2
        assert parts["pytorch_model.bin.index.json"].role == "index"
        inner = parts["pytorch_model-00002-of-00002.bin/pytorch_model-00002-of-00002/data/0"]
        assert (inner.role, inner.size, Path(inner.file).name) == ("storage", 4, "pytorch_model-00002-of-00002.bin")
        assert sorted(checkpoint.pickles) == [f"pytorch_model-0000{i}-of-00002.bin/pytorch_model-0000{i}-of-00002/data.pkl" for i in (1, 2)]
        storages = {tensor.storage.key for tensor in checkpoint.tensors.values() if tensor.storage}
        assert len(storages) == 3, "two shards have a data/0 each"


def test_metadata_is_the_index_s_and_the_shards() -> None:
    with inert.open(HERE / "total") as checkpoint:
        assert checkpoint.metadata == {"total_size": "7", "b": "text", "format": "pt"}


def test_tied_tensors_of_one_shard_share_their_storage() -> None:
    with inert.open(HERE / "tied") as checkpoint:
        assert checkpoint.tensors["a"].storage == checkpoint.tensors["b"].storage
    state = inert.load(HERE / "tied", mmap=False)
    assert state["a"] is state["b"]


def test_arrays_outlive_the_set_and_closing_closes_every_file() -> None:
    with inert.open(HERE / "safetensors") as checkpoint:
        tensors = dict(checkpoint.tensors)
        array = tensors["a"].numpy()
        with checkpoint.content.source.steady():
            assert tensors["c"].sha256()
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    for tensor in tensors.values():
        with pytest.raises(UnsupportedError, match="closed"):
            tensor.sha256()


def held(folder: Path) -> list[str]:
    """The files of a folder that this process holds open, where the system tells."""
    found = []
    for link in Path("/proc/self/fd").iterdir() if os.path.isdir("/proc/self/fd") else ():
        try:
            found.append(os.readlink(link))
        except OSError:  # that of this very listing
            continue
    return [path for path in found if path.startswith(str(folder.resolve()))]


@pytest.mark.parametrize("name", TABLE)
def test_no_file_stays_open(name: str) -> None:
    look_over(HERE / name)
    for strict in (True, False):
        try:
            inert.open(HERE / name, strict=strict).close()
            inert.load(HERE / name)
        except InertError as error:
            assert str(error)
    gc.collect()  # what an earlier test let go of without closing
    assert held(HERE / name) == []


# -------------------------------------------------------------------------------------------------------------- names and links


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/../../x", "/etc/passwd", "C:x", "c:\\x", "a\\b", "//server/x", "a//b", "./a", "a\0b", "a/"]
)
def test_names_that_lead_elsewhere_are_refused(name: str, tmp_path: Path) -> None:
    assert unsafe(name)
    with pytest.raises(FormatError, match="refused"):
        Folder(str(tmp_path)).open(name)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "safetensors", tmp_path / "set")
    shard = folder / "model-00002-of-00002.safetensors"
    shard.rename(tmp_path / "outside.safetensors")
    shard.symlink_to(tmp_path / "outside.safetensors")
    with inert.open(folder) as checkpoint:
        (note,) = checkpoint.notes
        assert (note.code, note.tensors, note.where.part) == ("shard-path", ("c",), shard.name)
        assert "leads out of the folder" in note.message
        assert list(checkpoint.tensors) == ["a", "n.b"]


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "safetensors", tmp_path / "set")
    shard = folder / "model-00002-of-00002.safetensors"
    shard.rename(folder / "other")
    shard.symlink_to("other")
    (tmp_path / "link").symlink_to(folder)
    for path in (folder, tmp_path / "link"):
        with inert.open(path) as checkpoint:
            assert hashes(checkpoint) == TABLE["safetensors"]["tensors"]


def test_a_snapshot_of_the_hugging_face_cache_is_read(tmp_path: Path) -> None:
    """snapshots/REVISION holds links to blobs/HASH."""
    snapshot, blobs = tmp_path / "models--a--b" / "snapshots" / "abc", tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate((HERE / "safetensors").iterdir()):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    for path in (snapshot, snapshot / "model.safetensors.index.json"):
        with inert.open(path) as checkpoint:
            assert hashes(checkpoint) == TABLE["safetensors"]["tensors"]
            assert checkpoint.notes == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_what_is_no_plain_file_is_not_opened(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "safetensors", tmp_path / "set")
    shard = folder / "model-00002-of-00002.safetensors"
    shard.unlink()
    os.mkfifo(shard)
    with inert.open(folder) as checkpoint:
        assert [note.message for note in checkpoint.notes] == [f"{shard.name!r} is no plain file"]
    shard.unlink()
    shard.mkdir()
    with inert.open(folder) as checkpoint:
        assert [note.code for note in checkpoint.notes] == ["shard-path"]


# ------------------------------------------------------------------------------------------------------------- which set is read


def test_of_two_indexes_safetensors_is_read(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "bin", tmp_path / "set")
    shutil.copytree(HERE / "safetensors", folder, dirs_exist_ok=True)
    (folder / "tf_model.h5.index.json").write_text("{}")
    with inert.open(folder) as checkpoint:
        assert checkpoint.content.formats == {"safetensors"}
        (note,) = checkpoint.notes
        assert note.code == "shards-choice"
        assert "pytorch_model.bin.index.json" in note.message
    with inert.open(folder / "pytorch_model.bin.index.json") as checkpoint:
        assert checkpoint.content.formats == {"torch-zip"}


def test_of_two_sets_without_an_index_one_is_read(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "no_index", tmp_path / "set")
    shutil.copytree(HERE / "bin", folder, dirs_exist_ok=True)
    (folder / "pytorch_model.bin.index.json").unlink()
    (folder / "tf_model.h5.index.json").write_text("{}")
    with inert.open(folder) as checkpoint:
        assert {note.code for note in checkpoint.notes} == {"shards-choice", "shards-no-index"}
        assert list(checkpoint.tensors) == ["n.b", "a", "c"], "in the order of the files"


def test_a_shard_s_content_decides_not_its_name(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "safetensors", tmp_path / "set")
    shutil.copy(HERE / "bin" / "pytorch_model-00002-of-00002.bin", folder / "model-00002-of-00002.safetensors")
    with inert.open(folder) as checkpoint:
        assert hashes(checkpoint) == TABLE["bin"]["tensors"]


def test_a_shard_that_is_no_dictionary_is_kept_whole(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "no_index", tmp_path / "set")
    shutil.copy(HERE.parent / "torch" / "bare_list.pt", folder / "model-00002-of-00002.safetensors")
    with inert.open(folder) as checkpoint:
        assert {note.code for note in checkpoint.notes} == {"shards-odd", "shards-no-index"}
        assert isinstance(checkpoint.root["model-00002-of-00002.safetensors"], list)
        assert isinstance(checkpoint.root["a"], Tensor)
    assert isinstance(inert.load(folder)["model-00002-of-00002.safetensors"], list)


# --------------------------------------------------------------------------------------------------------------- what is refused


def test_an_index_without_a_folder_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="open it by its path"):
        inert.open(io.BytesIO(b'{"weight_map": {"a": "b"}}'))


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "no JSON"), ('{"metadata": {}}', "weight_map is missing"), ('{"weight_map": 1}', "no object"), ("{} x", "no JSON")],
)
def test_an_index_that_is_none_is_refused(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=says):
        inert.open(path)


def test_odd_metadata_and_no_tensors(tmp_path: Path) -> None:
    path = tmp_path / "x.index.json"
    path.write_text('{"metadata": 3, "weight_map": {}}')
    with inert.open(path) as checkpoint:
        assert dict(checkpoint.tensors) == {}
        assert [note.code for note in checkpoint.notes] == ["shards-index"]


def test_limits_bound_the_index(tmp_path: Path) -> None:
    path = tmp_path / "x.index.json"
    path.write_text('{"weight_map": {"a": "b", "c": "d"}}')
    for limits in (inert.Limits(json_bytes=9), inert.Limits(json_values=3)):
        with pytest.raises(LimitError):
            inert.open(path, limits=limits)
    with pytest.raises(LimitError):
        inert.open(HERE / "safetensors", limits=inert.Limits(entries=1))


def test_every_prefix_of_an_index_and_of_a_shard_gives_an_answer(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "safetensors", tmp_path / "set")
    for path in (folder / "model.safetensors.index.json", folder / "model-00001-of-00002.safetensors"):
        data = path.read_bytes()
        for end in range(len(data)):
            path.write_bytes(data[:end])
            look = look_over(folder)
            assert look.refused or end == len(data.rstrip()) or look.codes, (path.name, end)
        path.write_bytes(data)


FOLDERS = {
    "distributed": ([".metadata", "__0_0.distcp"], "torch.distributed.checkpoint did not write"),
    "deepspeed": (["zero_to_fp32.py"], "DeepSpeed"),
    "saved model": (["saved_model.pb"], "SavedModel"),
    "tensorflow": (["checkpoint", "model.ckpt-1.index", "model.ckpt-1.data-00000-of-00001"], "TensorFlow"),
    "data.pkl": (["data.pkl", "version"], "data.pkl but without the other records of a PyTorch archive"),
    "nothing": ([], "without files"),
    "single": (["config.json", "model.safetensors"], "2 files.*such as model.safetensors"),
    "other": (["a.txt"], "1 file, .*such as a.txt"),
}


@pytest.mark.parametrize(("names", "says"), list(FOLDERS.values()), ids=list(FOLDERS))
def test_other_folders_are_named(names: list[str], says: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(UnidentifiedError, match=says):
        inert.open(tmp_path)


# ---------------------------------------------------------------------------------------------------------------------- commands


@pytest.mark.parametrize("command", ["ls", "info", "parts"])
@pytest.mark.parametrize("name", ["bin", "safetensors", "missing", "escape"])
def test_commands_take_folders(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([command, str(HERE / name), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "sharded"
    assert code == (1 if name in ("missing", "escape") else 0)
    if command == "info":
        assert found["loader_executes_code"] == (name == "bin")
        assert found["size"] == sum(path.stat().st_size for path in (HERE / name).iterdir())


# ------------------------------------------------------------------------------------------------------------- the shared corpus


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus of real files does not lie beside the repository")
def test_real_sets_are_what_their_indexes_say() -> None:
    seen = 0
    for path in sorted((SHARED / "torch" / "frameworks").glob("*/*.index.json")):
        names = json.loads(path.read_text(encoding="utf-8"))["weight_map"]
        for subject in (path, path.parent):
            with inert.open(subject) as checkpoint:
                assert list(checkpoint.tensors) == list(names)
                assert checkpoint.notes == []
                assert all(tensor.file and Path(tensor.file).name == names[name] for name, tensor in checkpoint.tensors.items())
        seen += 1
    assert seen >= 3


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus of real files does not lie beside the repository")
def test_broken_sets_are_noted_or_refused() -> None:
    for path in sorted((SHARED / "broken" / "hf").glob("*/*.index.json")):
        look = look_over(path)
        assert look.refused or look.codes, path
