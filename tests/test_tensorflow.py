"""TensorFlow's checkpoints: the files of tests/corpus/tf (tests/test_corpus.py compares them with what TensorFlow read), the ways that
lead to one, and what is missing, damaged or untrue.

What TensorFlow never writes is made by tests/tf_tables.py.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.checkpoint import Checkpoint
from inert.cli import main
from inert.containers import sstable, sstableblock
from inert.errors import FormatError, UnidentifiedError
from inert.formats.tf_checks import tensor_checks
from inert.limits import DEFAULT, Limits
from inert.source import BytesSource
from tests.conformance import look_over
from tests.tf_tables import HEADER, bundle, entry, field, mask, shape, stored, table

HERE = Path(__file__).parent / "corpus" / "tf"
NAMES = sorted(path.name for path in HERE.iterdir() if path.is_dir())


def codes(checkpoint: Checkpoint) -> set[str]:
    return {note.code for note in checkpoint.notes}


# ---------------------------------------------------------------------------------------------------------------------- the ways

WAYS = {
    "objects": ["", "ckpt-2", "ckpt-2.index", "ckpt-2.data-00000-of-00001", "checkpoint"],
    "saved_model": ["", "saved_model.pb", "variables", "variables/variables", "variables/variables.index"],
    "v2_shards": ["", "model.ckpt-7", "model.ckpt-7.data-00001-of-00004", "checkpoint"],
    "v1_shards": ["", "model.ckpt-7", "model.ckpt-7-00001-of-00004", "checkpoint"],
    "v1_file": ["", "model.ckpt-7", "checkpoint"],
    "unmerged": ["", "parts", "parts_temp"],
    "types": ["", "types", "types.index", "types.data-00000-of-00001"],
}


@pytest.mark.parametrize("name", WAYS)
def test_every_way_leads_to_one_checkpoint(name: str) -> None:
    wanted = [row["name"] for row in json.loads((HERE / f"{name}.expected.json").read_text(encoding="utf-8"))["tensors"]]
    for way in WAYS[name]:
        with inert.open(HERE / name / way) as checkpoint:
            assert sorted(checkpoint.tensors) == sorted(wanted), way
            assert not checkpoint.errors, way


def test_a_meta_file_leads_to_its_checkpoint(tmp_path: Path) -> None:
    shutil.copytree(HERE / "v1_shards", tmp_path / "a")
    (tmp_path / "a" / "model.ckpt-7.meta").write_bytes(b"\x0a\x00")
    with inert.open(tmp_path / "a" / "model.ckpt-7.meta") as checkpoint:
        assert checkpoint.format == "tf-v1"
        assert "p" in checkpoint.tensors


def test_a_path_that_begins_other_names_stays_missing(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    for path in (tmp_path / "model", tmp_path / "none", tmp_path / "no" / "folder"):
        with pytest.raises(FileNotFoundError):
            inert.open(path)


def test_an_index_in_a_stream_is_listed_without_data() -> None:
    raw = (HERE / "types" / "types.index").read_bytes()
    with inert.open(io.BytesIO(raw)) as checkpoint:
        assert checkpoint.tensors["x/bfloat16"].shape == (2, 3)
        assert "stream" in checkpoint.tensors["x/bfloat16"].fault
        assert "tf-index-alone" in codes(checkpoint)


@pytest.mark.parametrize(
    ("text", "opened", "notes"),
    [
        ('model_checkpoint_path: "ckpt-1"\n', "ckpt-1", set()),
        ('model_checkpoint_path: "./ckpt-1"', "ckpt-1", set()),
        ('# a comment\nmodel_checkpoint_path : "/home/author/run/ckpt-1"\n', "ckpt-1", {"tf-state-path"}),
        ('model_checkpoint_path: "C:\\\\run\\\\ckpt-1"\n', "ckpt-1", {"tf-state-path"}),
        ('model_checkpoint_path: "\\143kpt\\x2d1"\n', "ckpt-1", set()),
        ('model_checkpoint_path: "ckpt-9"\nall_model_checkpoint_paths: "ckpt-1"\nall_model_checkpoint_paths: "ckpt-2"', "ckpt-2", {"tf-state-stale"}),
    ],
)  # fmt: skip
def test_a_state_file_names_the_newest_checkpoint(text: str, opened: str, notes: set[str], tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "objects", tmp_path / "run")
    (folder / "checkpoint").write_text(text, encoding="utf-8")
    for path in (folder, folder / "checkpoint"):
        with inert.open(path) as checkpoint:
            assert f"{opened}.index" in checkpoint.parts
            assert codes(checkpoint) == notes


def test_a_state_file_leads_nowhere_outside(tmp_path: Path) -> None:
    shutil.copytree(HERE / "objects", tmp_path / "real")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "checkpoint").write_text(f'model_checkpoint_path: "{tmp_path}/real/ckpt-1"\n', encoding="utf-8")
    with pytest.raises(FormatError, match="nothing is beside it"):
        inert.open(tmp_path / "run")
    (tmp_path / "run" / "checkpoint").write_text('model_checkpoint_path: "../real/ckpt-1"\n', encoding="utf-8")
    with pytest.raises(FormatError, match="nothing is beside it"):
        inert.open(tmp_path / "run")


def test_of_several_the_latest_step_is_chosen(tmp_path: Path) -> None:
    for step in (9, 10):
        for end in ("index", "data-00000-of-00001"):
            shutil.copy(HERE / "types" / f"types.{end}", tmp_path / f"ckpt-{step}.{end}")
    with inert.open(tmp_path) as checkpoint:
        assert "ckpt-10.index" in checkpoint.parts
        assert codes(checkpoint) == {"tf-choice"}


# -------------------------------------------------------------------------------------------------------------------- the values


def test_numbers_are_views_of_the_mapped_file() -> None:
    for prefix, name in (("types/types", "x/float64"), ("v1_types/first", "float64")):
        with inert.open(HERE / prefix) as checkpoint:
            tensor = checkpoint.tensors[name]
            array = tensor.numpy()
            assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
            assert not array.flags.owndata
            assert tensor.file is not None
            assert tensor.file_offset is not None
            assert Path(tensor.file).read_bytes()[tensor.file_offset :][: array.nbytes] == array.tobytes()
        assert array[1].tolist() == [3, 4, 5], "a view outlives its checkpoint"


def test_strings_are_bytes_and_can_be_cut() -> None:
    with inert.open(HERE / "strings") as checkpoint:
        tensor = checkpoint.tensors["s"]
        assert (tensor.kind, tensor.numpy().tolist()) == ("strings", [[b"", b"abc"], ["é".encode() * 5, b"\xff\0"]])
        assert tensor[1, 1:].tolist() == [b"\xff\0"]
        assert tensor[:, 1].tolist() == [b"abc", b"\xff\0"]
        assert b"".join(tensor.chunks())[:19] == bytes(8) + (3).to_bytes(8, "little") + b"abc"
        assert tensor.nbytes == 23
    assert inert.load(HERE / "strings")["scalar"].tolist() == b"one"


def test_a_variant_is_opaque() -> None:
    with inert.open(HERE / "iterator") as checkpoint:
        tensor = next(tensor for tensor in checkpoint.tensors.values() if tensor.dtype == "variant")
        assert tensor.kind == "opaque"
        with pytest.raises(inert.UnsupportedError, match="TensorFlow's own"):
            tensor.numpy()
        assert not checkpoint.errors
        assert list(tensor_checks(checkpoint.content)) == []


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith("v1")])
def test_every_checksum_of_tensorflow_s_own_files_holds(name: str) -> None:
    with inert.open(HERE / name) as checkpoint:
        assert list(tensor_checks(checkpoint.content)) == []


@pytest.mark.parametrize("kind", ["<f4", "<i8", "<c16", "<u2", "<f2", "|u1"])
def test_a_big_endian_bundle_is_read_on_any_machine(kind: str, tmp_path: Path) -> None:
    numbers = {"<f4": 1, "<i8": 9, "<c16": 18, "<u2": 17, "<f2": 19, "|u1": 4}
    array = (np.arange(6) * (2 - 1j if kind == "<c16" else 3)).astype(kind).reshape(2, 3)
    data = array.astype(array.dtype.newbyteorder(">")).tobytes()
    prefix = bundle(
        tmp_path, {b"w": entry(numbers[kind], (2, 3), 0, len(data), stored(data))}, data, field(1, 1) + field(2, 1) + field(3, field(1, 1))
    )
    with inert.open(prefix) as checkpoint:
        assert checkpoint.metadata["byteorder"] == "big"
        assert np.array_equal(checkpoint.tensors["w"].numpy(), array)
        assert b"".join(checkpoint.tensors["w"].chunks()) == array.tobytes()
        assert not checkpoint.notes
        assert list(tensor_checks(checkpoint.content)) == []


def test_slices_are_components_of_the_whole() -> None:
    with inert.open(HERE / "slices") as checkpoint:
        tensor = checkpoint.tensors["m"]
        assert tensor.kind == "tiled"
        assert list(tensor.components) == ["0,0", "2,0", "2,3"]
        assert tensor.numpy().tolist() == np.arange(48.0).reshape(6, 8).tolist()
        assert tensor[3].tolist() == np.arange(24.0, 32).tolist()
        assert list(checkpoint.tensors) == ["b", "m", "v"]
        assert "m[0:2,:]" in checkpoint.parts


def test_holes_and_overlaps_are_said(tmp_path: Path) -> None:
    with inert.open(HERE / "hole") as checkpoint:
        tensor = checkpoint.tensors["m"]
        assert "16 elements of 24: 2 to 3 of dimension 0 is in none" in tensor.fault
        assert tensor.components["4,0"].numpy().tolist() == np.arange(16.0, 24).reshape(2, 4).tolist()
        assert checkpoint.tensors["w"].numpy() == 1
    first, second = [field(1, field(2, 2)), field(1, field(1, 1) + field(2, 3))]
    items = {
        b"\0m\0\1\1\1\x80\x82": entry(4, (2,), 0, 2),
        b"\0m\0\1\1\1\x81\x83": entry(4, (3,), 0, 3),
        b"m": field(1, 4) + field(2, shape(4)) + field(7, first) + field(7, second),
    }
    with inert.open(bundle(tmp_path, items, bytes(3))) as checkpoint:
        assert "slices at [0] and [1] overlap" in checkpoint.tensors["m"].fault
    items[b"m"] = field(1, 4) + field(2, shape(9)) + field(7, first) + field(7, field(1, field(1, 2) + field(2, 7)))
    with inert.open(bundle(tmp_path, items, bytes(3))) as checkpoint:
        assert "its slice at [2] has no entry" in checkpoint.tensors["m"].fault
        assert "tf-slice-stray" in codes(checkpoint)


# ----------------------------------------------------------------------------------------------------------------------- objects


def test_the_root_is_the_tree_of_objects() -> None:
    with inert.open(HERE / "objects") as checkpoint:
        root = checkpoint.root
        assert root["model"] is root["again"], "held twice"
        assert root["model"]["self"] is root["model"], "holds itself"
        assert root["model"]["kernel"].shape == (2, 3)
        assert list(root["model"]["by_name"]) == ["x/y", "k.z"]
        for name, tensor in checkpoint.tensors.items():
            if name == "_CHECKPOINTABLE_OBJECT_GRAPH":
                continue
            here = root
            for step in tensor.path:
                here = here[step]
            assert here is tensor, name
        assert root["optimizer"][".OPTIMIZER_SLOT"]["again/kernel"]["m"].path[-1] == "m"
    loaded = inert.load(HERE / "objects")
    assert loaded["step"] == 3
    assert loaded["model"]["parts"]["1"].tolist() == [2, 3]


def test_info_knows_variables_and_optimizers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(HERE / "objects"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["format"], found["profile"]) == ("tf-bundle", "training")
    facts = found["facts"]
    assert facts["variables"]["again/kernel/.OPTIMIZER_SLOT/optimizer/v/.ATTRIBUTES/VARIABLE_VALUE"] == {
        "role": "optimizer",
        "full_name": "kernel/Adam_1",
        "slot": "v",
        "of": "kernel",
    }
    assert facts["optimizer"]["slots"] == {"m": 2, "v": 2}
    assert facts["roles"]["optimizer"]["tensors"] == 6, "its two powers too"
    assert main(["info", str(HERE / "names"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    assert facts["optimizer"] == {"tensors": 3, "nbytes": 12, "slots": {"Adam": 1, "Adam_1": 1, "ExponentialMovingAverage": 1}}
    assert facts["roles"]["average"]["tensors"] == 1
    assert facts["variables"]["w/Adam"] == {"role": "optimizer", "slot": "Adam", "of": "w"}
    assert "w" not in facts["variables"]
    assert main(["info", str(HERE / "keras"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)["facts"]
    assert facts["optimizer"]["slots"] == {"momentum": 4, "velocity": 4}
    slots = {said["slot"]: said["of"] for said in facts["variables"].values() if said.get("full_name", "").endswith("a_b_kernel_momentum")}
    assert list(slots) == ["momentum"]
    assert slots["momentum"].endswith("a_b/kernel")
    assert facts["writer"].startswith("TensorFlow with checkpoints of version 1")
    assert facts["objects"]["nodes"] > 10


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", ["ls", "info", "show", "parts"])
def test_commands_read_them(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main([command, str(HERE / name), *(["--hash"] if command == "ls" and name != "iterator" else [])])
    assert status == (1 if name == "hole" and command in ("ls", "info") else 0), capsys.readouterr().err
    assert capsys.readouterr().out.isprintable() is False


def test_an_object_graph_that_is_damaged_costs_the_tree_only(tmp_path: Path) -> None:
    for text in (b"\x0a\x04\x0a\x02\x08\x05", b"\xff\xff", b"\x0b"):
        raw = bytes((len(text),)) + struct.pack("<I", stored(struct.pack("<I", len(text)))) + text
        items = {b"_CHECKPOINTABLE_OBJECT_GRAPH": entry(7, (), 0, len(raw)), b"a/.ATTRIBUTES/VARIABLE_VALUE": entry(4, (1,), 0, 1)}
        with inert.open(bundle(tmp_path, items, raw)) as checkpoint:
            assert sorted(checkpoint.root) == sorted(checkpoint.tensors)
            assert "tf-object-graph" in codes(checkpoint)


# ------------------------------------------------------------------------------------------------------------------- large ones


def test_one_tensor_costs_one_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items = {b"t%05d" % number: entry(4, (1,), number, 1) for number in range(2000)}
    prefix = bundle(tmp_path, items, bytes(range(250)) * 8, size=512)
    read: list[tuple[int, int]] = []
    block = sstable.Table.block

    def counted(self: sstable.Table, handle: tuple[int, int]) -> sstableblock.Block:
        read.append(handle)
        return block(self, handle)

    monkeypatch.setattr(sstable.Table, "block", counted)
    with inert.open(prefix) as checkpoint:
        assert checkpoint.tensors["t01234"].numpy().tolist() == [1234 % 250]
        assert "t99999" not in checkpoint.tensors
        assert len(read) <= 4, "index, header, the tensor, and the one that is not there"
        first = checkpoint.tensors["t01234"]
        assert list(checkpoint.tensors) == sorted(name.decode() for name in items)
        assert len(checkpoint.tensors) == 2000
        assert dict(checkpoint.tensors)["t01234"] is first is checkpoint.tensors["t01234"]
        assert not checkpoint.notes


def test_blocks_may_be_compressed(tmp_path: Path) -> None:
    items = {b"t%03d" % number: entry(4, (1,), number, 1) for number in range(200)}
    with inert.open(bundle(tmp_path, items, bytes(range(200)), kind=1, size=700)) as checkpoint:
        assert [tensor.numpy()[0] for tensor in checkpoint.tensors.values()] == list(range(200))
        assert not checkpoint.notes


def test_a_damaged_block_costs_its_own_tensors(tmp_path: Path) -> None:
    items = {b"t%03d" % number: entry(4, (1,), number, 1) for number in range(200)}
    prefix = bundle(tmp_path, items, bytes(200), size=700)
    path = prefix.with_name("made.index")
    raw = bytearray(path.read_bytes())
    with inert.open(prefix) as checkpoint:
        offset, size = checkpoint.content.bundles[0].table.handles[2]  # type: ignore[attr-defined]
    raw[offset + size - 4 : offset + size] = b"\xff\xff\xff\xff"
    path.write_bytes(raw)
    with inert.open(prefix) as checkpoint:
        assert 100 < len(checkpoint.tensors) < 200
        assert codes(checkpoint) == {"tf-block", "tf-block-crc"}
        missing = next(name.decode() for name in items if name.decode() not in list(checkpoint.tensors))
        assert checkpoint.tensors.get(missing) is None


def test_restarts_that_are_wrong_hide_nothing(tmp_path: Path) -> None:
    items = {b"t%03d" % number: entry(4, (1,), number, 1) for number in range(100)}
    path = bundle(tmp_path, items, bytes(range(100))).with_name("made.index")
    raw = bytearray(path.read_bytes())
    with inert.open(tmp_path / "made") as checkpoint:
        offset, size = checkpoint.content.bundles[0].table.handles[0]  # type: ignore[attr-defined]
    for number in range(1, 7):
        raw[offset + size - 4 - 4 * number] ^= 0x15
    path.write_bytes(raw)
    with inert.open(tmp_path / "made") as checkpoint:
        assert [checkpoint.tensors[f"t{number:03d}"].numpy()[0] for number in range(100)] == list(range(100))
        assert codes(checkpoint) == {"tf-block-crc"}


def test_an_index_key_that_is_wrong_is_noted(tmp_path: Path) -> None:
    items = {b"t%03d" % number: entry(4, (1,), number, 1) for number in range(100)}
    path = bundle(tmp_path, items, bytes(100), size=700).with_name("made.index")
    raw = path.read_bytes()
    last = max(key for key in items if raw.count(key))
    with inert.open(tmp_path / "made") as checkpoint:
        key = checkpoint.content.bundles[0].table.keys[1]  # type: ignore[attr-defined]
    assert last != key
    at = raw.rindex(key)
    path.write_bytes(raw[:at] + b"a" + raw[at + 1 :])
    with inert.open(tmp_path / "made") as checkpoint:
        assert {"tf-block-crc", "tf-order"} == codes(checkpoint)
        assert len(checkpoint.tensors) == 100


def test_an_index_of_which_nothing_can_be_read_is_refused(tmp_path: Path) -> None:
    path = bundle(tmp_path, first(), bytes(24)).with_name("made.index")
    raw = path.read_bytes()
    path.write_bytes(b"\xff" * 8 + raw[8:])
    with pytest.raises(FormatError, match="get the file again"):
        inert.open(tmp_path / "made")


def test_limits_hold(tmp_path: Path) -> None:
    items = {b"t%05d" % number: entry(4, (1,), number, 1) for number in range(3000)}
    prefix = bundle(tmp_path, items, bytes(3000))
    with pytest.raises(inert.LimitError, match=r"Limits\.entries"):
        inert.open(prefix, limits=Limits(entries=1000)).tensors.keys().__len__()
    with inert.open(prefix, limits=Limits(name_bytes=20_000)) as checkpoint:
        assert "names-limit" in codes(checkpoint) or len(checkpoint.tensors) == 3000
    bomb = (
        b"\x00\x90\x4e\x00"
        + b"k" * 10_000
        + b"".join(b"\x90\x4e\x01\x00" + bytes((number,)) for number in range(200))
        + struct.pack("<II", 0, 1)
    )
    with pytest.raises(inert.LimitError, match="share"):
        list(sstableblock.Block(bomb, 0, 100_000).entries())
    with pytest.raises(inert.LimitError, match="share"):
        sstableblock.Block(bomb, 0, 100_000).pairs()


# ----------------------------------------------------------------------------------------------------------- missing and damaged


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(HERE / "v2_shards", tmp_path / "run")


def test_a_missing_data_file_is_named_with_its_tensors(folder: Path) -> None:
    (folder / "model.ckpt-7.data-00001-of-00004").unlink()
    with inert.open(folder) as checkpoint:
        note = next(note for note in checkpoint.notes if note.code == "tf-shard-missing")
        assert note.where.part == "model.ckpt-7.data-00001-of-00004"
        hit = {name for name, tensor in checkpoint.tensors.items() if tensor.fault}
        assert hit
        assert hit == {name.partition("[")[0] for name in note.tensors}
        assert "which it lies in, is not there" in checkpoint.tensors[min(hit)].fault
        assert len(hit) < len(checkpoint.tensors)


def test_a_missing_index_is_named(folder: Path) -> None:
    (folder / "model.ckpt-7.index").unlink()
    for way in ("model.ckpt-7", "model.ckpt-7.data-00002-of-00004"):
        with pytest.raises(FormatError, match=r"'model\.ckpt-7\.index'.*is missing; 4 of its data files are there"):
            inert.open(folder / way)
    with pytest.raises(FormatError, match="nothing is beside it"):
        inert.open(folder)
    (folder / "checkpoint").unlink()
    with pytest.raises(FormatError, match=r"'model\.ckpt-7\.index'"):
        inert.open(folder)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 999\n", "LFS"),
        (b"", "empty"),
        (b"<!DOCTYPE html><html></html>", "HTML"),
    ],
)
def test_an_index_that_is_something_else_is_called_that(raw: bytes, says: str, folder: Path) -> None:
    (folder / "model.ckpt-7.index").write_bytes(raw)
    (folder / "checkpoint").unlink()
    for way in ("model.ckpt-7.index", ""):
        with pytest.raises((UnidentifiedError, FormatError), match=says):
            inert.open(folder / way)


def test_a_data_file_that_was_never_downloaded_is_called_that(folder: Path) -> None:
    (folder / "model.ckpt-7.data-00000-of-00004").write_bytes(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 999\n"
    )
    with inert.open(folder) as checkpoint:
        assert "Git LFS pointer" in next(note.message for note in checkpoint.notes if note.code == "tf-shard-missing")
        assert "Git LFS pointer" in next(tensor.fault for tensor in checkpoint.tensors.values() if tensor.fault)


def test_files_under_each_other_s_names_are_found_out(tmp_path: Path) -> None:
    shutil.copy(HERE / "types" / "types.index", tmp_path / "m.data-00000-of-00001")
    shutil.copy(HERE / "types" / "types.data-00000-of-00001", tmp_path / "m.index")
    for way in ("m", ""):
        with pytest.raises(FormatError, match=r"'m\.data-00000-of-00001' is an index by its content"):
            inert.open(tmp_path / way)
    with inert.open(tmp_path / "m.data-00000-of-00001") as checkpoint:
        assert "tf-index-name" in codes(checkpoint)
        assert checkpoint.tensors["x/int32"].shape == (2, 3)


def test_the_name_of_a_file_that_is_missing_leads_to_the_others(folder: Path) -> None:
    (folder / "model.ckpt-7.data-00001-of-00004").unlink()
    with inert.open(folder / "model.ckpt-7.data-00001-of-00004") as checkpoint:
        assert "tf-shard-missing" in codes(checkpoint)
    (folder / "model.ckpt-7.index").unlink()
    with pytest.raises(FormatError, match="is missing"):
        inert.open(folder / "model.ckpt-7.index")


def test_a_data_file_that_is_cut_or_of_another_save_is_found_out(folder: Path) -> None:
    path = folder / "model.ckpt-7.data-00000-of-00004"
    raw = path.read_bytes()
    path.write_bytes(raw[:-1])
    with inert.open(folder) as checkpoint:
        assert {"tf-shard-short", "tensor-damaged"} <= codes(checkpoint)
        assert "bytes 40 to 56 are wanted of" in next(tensor.fault for tensor in checkpoint.tensors.values() if tensor.fault)
    path.write_bytes(raw + b"\0")
    with inert.open(folder) as checkpoint:
        assert codes(checkpoint) == {"tf-state-path", "tf-shard-long"}


def test_a_wrong_bit_and_another_step_are_told_apart(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "types", tmp_path / "run")
    path = folder / "types.data-00000-of-00001"
    raw = bytearray(path.read_bytes())
    raw[3] ^= 1
    path.write_bytes(raw)
    with inert.open(folder) as checkpoint:
        found = list(tensor_checks(checkpoint.content))
        assert [note.code for note in found] == ["tf-tensor-crc"]
        assert len(found[0].tensors) == 1
    path.write_bytes(bytes(byte ^ 0x55 for byte in raw))
    with inert.open(folder) as checkpoint:
        found = list(tensor_checks(checkpoint.content))
        assert [note.code for note in found] == ["tf-mixed-steps"]
        assert len(found[0].tensors) > 20


def test_a_part_that_is_missing_is_said(tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "unmerged", tmp_path / "run")
    (folder / "parts_temp" / "part-00001-of-00003.index").unlink()
    with inert.open(folder) as checkpoint:
        assert {"tf-unmerged", "tf-part-missing"} <= codes(checkpoint)
        assert "only/0" in checkpoint.tensors
        assert "12 elements of 24" in checkpoint.tensors["m"].fault
    shards = shutil.copytree(HERE / "v1_shards", tmp_path / "first")
    (shards / "model.ckpt-7-00002-of-00004").unlink()
    with inert.open(shards) as checkpoint:
        assert "tf-part-missing" in codes(checkpoint)


def first(**changes: Any) -> dict[bytes, bytes]:
    """One entry, with something untrue in it."""
    facts = {"dtype": 1, "sizes": (2, 3), "offset": 0, "size": 24} | changes
    return {b"w": entry(facts["dtype"], facts["sizes"], facts["offset"], facts["size"], 0, facts.get("shard", 0))}


LIES: dict[str, tuple[dict[bytes, bytes], str]] = {
    "negative size": (first(sizes=(2, -3)), "a negative size"),
    "no type": (first(dtype=0), "no DataType 0"),
    "unknown type": (first(dtype=999), "no DataType 999"),
    "data file beyond": (first(shard=5), "data file 5 of 1"),
    "data file negative": (first(shard=-1), "data file -1 of 1"),
    "offset negative": (first(offset=-1), "bytes -1 to 23"),
    "offset beyond": (first(offset=1 << 62), "are wanted of"),
    "size": (first(size=25), "25 bytes are stored for float32[2, 3], which takes 24"),
    "overflow": (first(sizes=(1 << 40, 1 << 40)), "exceeds 64 bits"),
    "dimensions": (first(sizes=(1,) * 300), "300 dimensions"),
    "unknown rank": ({b"w": field(1, 1) + field(2, field(3, 1))}, "shape is not known"),
    "strings": (first(dtype=7, size=8), "cannot hold 6 strings"),
}


@pytest.mark.parametrize("lie", LIES)
def test_an_entry_that_lies_costs_its_tensor(lie: str, tmp_path: Path) -> None:
    items, says = LIES[lie]
    prefix = bundle(tmp_path, {b"a": entry(4, (1,), 0, 1), **items}, bytes(24))
    with inert.open(prefix) as checkpoint:
        assert says in checkpoint.tensors["w"].fault
        assert checkpoint.tensors["a"].numpy().tolist() == [0]
        assert "tensor-damaged" in codes(checkpoint)
    assert look_over(prefix).damaged == 1


def test_one_size_that_is_wrong_is_not_another_s(tmp_path: Path) -> None:
    items = {b"a": entry(4, (2,), 0, -1), b"b": entry(4, (2,), 0, 2), b"c": entry(4, (2,), 0, 3)}
    with inert.open(bundle(tmp_path, items, bytes(3))) as checkpoint:
        assert [bool(tensor.fault) for tensor in checkpoint.tensors.values()] == [True, False, True]


def test_entries_that_are_none_are_noted(tmp_path: Path) -> None:
    items = {b"a": b"\x08", b"b": b"\x0b", b"c": b"\x08\x01\x12\x05", b"d": b"\x0d\0\0\0\0", b"w": entry(4, (1,), 0, 1)}
    with inert.open(bundle(tmp_path, items, b"\1")) as checkpoint:
        assert list(checkpoint.tensors) == ["w"]
        assert sorted(note.tensors[0] for note in checkpoint.notes if note.code == "tf-entry") == ["a", "b", "c", "d"]


def test_unknown_fields_and_any_order_are_read(tmp_path: Path) -> None:
    odd = (
        b"\x35"
        + struct.pack("<I", stored(b"abc"))
        + field(5, 3)
        + field(2, shape(3) + field(9, b"x"))
        + field(99, 1)
        + b"\xa1\x06"
        + bytes(8)
        + field(1, 4)
    )
    with inert.open(bundle(tmp_path, {b"w": odd}, b"abc")) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [97, 98, 99]
        assert list(tensor_checks(checkpoint.content)) == []


def test_keys_out_of_order_and_twice_are_noted(tmp_path: Path) -> None:
    raw = table([(b"", HEADER), (b"b", entry(4, (1,), 0, 1)), (b"a", entry(4, (1,), 1, 1)), (b"a", entry(4, (1,), 0, 1))])
    (tmp_path / "m.index").write_bytes(raw)
    (tmp_path / "m.data-00000-of-00001").write_bytes(b"\1\2")
    with inert.open(tmp_path / "m") as checkpoint:
        messages = [note.message for note in checkpoint.notes if note.code == "tf-order"]
        assert ["out of order" in text for text in messages] == [True, False]
        assert [tensor.numpy()[0] for tensor in checkpoint.tensors.values()] == [1, 2]
    with pytest.raises(FormatError):
        inert.open(tmp_path / "m", strict=True)


HEADERS: dict[str, tuple[bytes, str]] = {
    "reader": (field(1, 1) + field(3, field(1, 1) + field(2, 2)), "readers of version 2"),
    "excluded": (field(1, 1) + field(3, field(1, 1) + field(3, 1)), "excludes"),
    "negative": (field(1, -1), "-1 data files"),
    "another type": (b"\x0d\0\0\0\0", "field 1"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_tensorflow_refuses_is_noted(name: str, tmp_path: Path) -> None:
    header, says = HEADERS[name]
    with inert.open(bundle(tmp_path, first(), bytes(24), header)) as checkpoint:
        assert any(says in note.message for note in checkpoint.notes if note.code == "tf-header")
        assert list(checkpoint.tensors) == ["w"]


def test_a_table_without_a_header_is_noted(tmp_path: Path) -> None:
    (tmp_path / "m.index").write_bytes(table({b"w": entry(4, (1,), 0, 1)}))
    (tmp_path / "m.data-00000-of-00001").write_bytes(b"\7")
    with inert.open(tmp_path / "m") as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [7]
        assert "tf-header" in codes(checkpoint)


def test_wrong_checksums_and_gaps_of_an_index_are_noted(tmp_path: Path) -> None:
    with inert.open(bundle(tmp_path, first(), bytes(24), crc=lambda crc: crc)) as checkpoint:  # type: ignore[arg-type]
        assert [note.code for note in checkpoint.notes] == ["tf-block-crc"] * 3
    raw = table({b"": HEADER, **first()})
    (tmp_path / "made.index").write_bytes(raw[:-48] + b"??" + raw[-48:])
    with inert.open(tmp_path / "made") as checkpoint:
        assert codes(checkpoint) == {"tf-index-gap"}


def test_tensors_over_each_other_are_noted(tmp_path: Path) -> None:
    items = {b"a": entry(4, (4,), 0, 4), b"b": entry(4, (4,), 3, 4), b"c": entry(4, (0,), 2, 0)}
    with inert.open(bundle(tmp_path, items, bytes(7))) as checkpoint:
        notes = [note for note in checkpoint.notes if note.code == "tf-overlap"]
        assert [note.tensors for note in notes] == [("a", "b")]


# ------------------------------------------------------------------------------------------------------------------- any bytes


@pytest.mark.parametrize(
    "name",
    [
        "objects/ckpt-2.index",
        "slices/slices.index",
        "v1_file/model.ckpt-7",
        "v1_shards/model.ckpt-7-00000-of-00004",
        "strings/strings.data-00000-of-00001",
    ],
)
def test_any_prefix_gives_an_answer(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree((HERE / name).parent, tmp_path / "run")
    path = folder / Path(name).name
    raw = path.read_bytes()
    for end in range(len(raw)):
        path.write_bytes(raw[:end])
        look = look_over(path)
        assert look.refused or look.codes or look.damaged, end


@pytest.mark.parametrize(
    "name",
    [
        "objects/ckpt-2.index",
        "slices/slices.index",
        "v1_types/first",
        "v1_shards/model.ckpt-7-00000-of-00004",
        "strings/strings.data-00000-of-00001",
    ],
)
def test_random_changes_give_an_answer(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree((HERE / name).parent, tmp_path / "run")
    path, rng = folder / Path(name).name, random.Random(name)
    raw = path.read_bytes()
    for _ in range(300):
        mutant = bytearray(raw)
        for _ in range(rng.choice((1, 2, 8))):
            mutant[rng.randrange(len(mutant))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        path.write_bytes(mutant)
        look_over(path)


def test_a_table_s_own_ends() -> None:
    good = table({b"": HEADER})
    assert sstable.is_table(BytesSource(good))
    for raw, says in ((good[-40:], "too few"), (good[:-1] + b"\0", "mark of a table"), (bytes(60) + good[-48:], "index block")):
        with pytest.raises(FormatError, match=says):
            sstable.Table(BytesSource(raw), DEFAULT)


def test_masks() -> None:
    from inert.containers.crc32c import crc32c, masked, unmasked

    assert crc32c(b"123456789") == 0xE3069283, "the check value of CRC-32C"
    assert masked(0) == 0xA282EAD8
    assert all(unmasked(mask(crc)) == crc for crc in (0, 1, 0xE3069283, 0xFFFFFFFF))


FIRST: dict[str, Callable[[bytes], bytes]] = {
    "values too few": lambda raw: raw.replace(b"\x2a\x18", b"\x2a\x14", 1),
    "another list": lambda raw: raw.replace(b"\x2a\x18", b"\x32\x18", 1),
    "another slice": lambda raw: raw.replace(b"\x80\x7f\x80\x7f", b"\x81\x7f\x80\x7f", 1),
}


@pytest.mark.parametrize("lie", FIRST)
def test_values_of_the_first_version_that_lie_cost_their_tensor(lie: str, tmp_path: Path) -> None:
    folder = shutil.copytree(HERE / "v1_file", tmp_path / "run")
    path = folder / "model.ckpt-7"
    raw = path.read_bytes()
    path.write_bytes(FIRST[lie](raw))
    assert path.read_bytes() != raw
    look = look_over(path)
    assert look.refused or look.damaged
    assert look.refused or "tf-block-crc" in look.codes


def test_blocks_of_an_index_that_share_bytes_are_noted(tmp_path: Path) -> None:
    raw = table({b"": HEADER, **first()})
    footer = raw[-48:]
    meta, at = [], 0
    for _ in range(4):  # offset and size of the metaindex block and of the index block, as varints
        end = at
        while footer[end] & 0x80:
            end += 1
        meta.append(footer[at : end + 1])
        at = end + 1
    shared = (meta[2] + meta[3] + meta[2] + meta[3]).ljust(40, b"\0") + footer[40:]  # the metaindex where the index lies
    (tmp_path / "made.index").write_bytes(raw[:-48] + shared)
    (tmp_path / "made.data-00000-of-00001").write_bytes(bytes(24))
    with inert.open(tmp_path / "made") as checkpoint:
        assert "tf-index-overlap" in codes(checkpoint)
