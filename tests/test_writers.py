"""The writers of named tensors, shards and the legacy layout: what they write is what the real programs wrote, and what they cannot, they say.

Expected bytes are files of tests/corpus/, which torch, safetensors and huggingface_hub have written, and what NumPy writes in the test.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import time
import zipfile
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import inert
import inert.memory
from inert.dtypes import DTYPES
from inert.errors import InertError, LimitError, UnsupportedError
from inert.files import FileSource
from inert.finding import Finding
from inert.layout import Layout, Storage
from inert.limits import DEFAULT
from inert.sink import destination
from inert.tensor import Tensor
from inert.writers import WRITERS, Options, Saved, safetensors, writer_for
from inert.writers.flat import Flat, plain, ties
from inert.writers.sharded import bytes_of

CORPUS = Path(__file__).parent / "corpus"
HUB = CORPUS / "hub"
ORDER: list[str] = json.loads((HUB / "ORDER.json").read_text(encoding="utf-8"))
LIMIT = 400  # make_hub.py


def codes(notes: list[Finding]) -> list[str]:
    return [note.code for note in notes]


def read(path: Path) -> dict[str, Any]:
    with inert.open(path, strict=True) as found:
        return {name: tensor.numpy().copy() for name, tensor in found.tensors.items()}


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert sorted(found) == sorted(wanted)
    for name, array in wanted.items():
        assert found[name].dtype == array.dtype, name
        assert found[name].shape == array.shape, name
        assert found[name].tobytes() == array.tobytes(), name


def tensor(dtype: str, shape: tuple[int, ...], data: bytes = b"", **facts: Any) -> Tensor:
    source = io.BytesIO(data)
    storage = Storage("x", len(data), DTYPES[dtype], "cpu", lambda: inert.files.StreamSource(source).span())
    layout = Layout(DTYPES[dtype], shape, inert.layout.contiguous(shape), 0, storage)
    vars(layout).update(facts)
    return Tensor(layout)


# -- safetensors ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dtypes", "float4", "nothing", "shapes"])
def test_what_the_library_wrote_is_written_again_to_the_byte(name: str, tmp_path: Path) -> None:
    path = CORPUS / "safetensors" / f"{name}.safetensors"
    with inert.open(path) as found:
        shuffled = dict(reversed(list(found.root.items())))
        plan = writer_for("x.safetensors").plan(Saved(shuffled, {}, {}, found), Options("x.safetensors"))
        plan.pour(str(tmp_path / "x.safetensors"))
        assert (tmp_path / "x.safetensors").read_bytes() == path.read_bytes()
        assert plan.size == path.stat().st_size
        assert not plan.lost
        assert not plan.notes


def test_metadata_is_sorted_behind_its_format(tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    inert.save({"w": np.ones(1, "u1")}, path, metadata={"z": "1", "a": 'é"\n'})
    head = path.read_bytes()[8:]
    assert head.startswith('{"__metadata__":{"format":"pt","a":"é\\"\\n","z":"1"},"w":'.encode())
    with inert.open(path) as found:
        assert dict(found.metadata) == {"z": "1", "a": 'é"\n', "format": "pt"}


def test_what_a_container_says_of_itself_is_no_metadata_of_another(tmp_path: Path) -> None:
    for source, wanted in (("torch/small.pt", {"format": "pt"}), ("safetensors/metadata.safetensors", {"format": "pt", "": "empty"})):
        with inert.open(CORPUS / source) as found:
            options = Options("x.safetensors")
            writer_for("x.safetensors").plan(Saved(found.root, {}, {}, found), options).pour(str(tmp_path / "x.safetensors"))
        with inert.open(tmp_path / "x.safetensors") as again:
            assert wanted.items() <= dict(again.metadata).items()
            assert "byteorder" not in again.metadata


def test_names_are_paths_and_other_values_are_listed(tmp_path: Path) -> None:
    root = {
        "state": OrderedDict(a=np.arange(3), b={"c": np.ones(2, "f4")}),
        "list": [np.zeros(1), 7, None],
        "epoch": 3,
        "hyper": {"lr": 0.1, "name": "x"},
        "": {"": np.ones((), "f2")},
    }
    said = inert.save(root, tmp_path / "x.safetensors")
    assert said.files == [str(tmp_path / "x.safetensors")]
    assert said.lost == [
        ("list.1", "an int is no tensor"), ("list.2", "a NoneType is no tensor"), ("epoch", "an int is no tensor"),
        ("hyper", "a dict of 2 is no tensor"),
    ]  # fmt: skip
    same(
        read(tmp_path / "x.safetensors"),
        {
            "state.a": np.arange(3),
            "state.b.c": np.ones(2, "f4"),
            "list.0": np.zeros(1),
            ".": np.ones((), "f2"),
        },
    )


def test_names_that_collide_are_bracketed(tmp_path: Path) -> None:
    inert.save({"a.b": np.zeros(1), "a": {"b": np.ones(1)}}, tmp_path / "x.safetensors")
    same(read(tmp_path / "x.safetensors"), {'["a.b"]': np.zeros(1), '["a"]["b"]': np.ones(1)})


def test_other_values_in_a_file_beside(tmp_path: Path) -> None:
    loop: list[Any] = []
    loop.append(loop)
    root = {
        "w": np.ones(1),
        "epoch": 3,
        "h": {"lr": 0.5, "tags": ("a", None)},
        "b": b"x",
        "nan": float("nan"),
        "keys": {1: 2},
        "loop": loop,
    }
    said = inert.save(root, tmp_path / "m.safetensors", leaves="sidecar")
    beside = tmp_path / "m.safetensors.json"
    assert said.files == [str(beside), str(tmp_path / "m.safetensors")]
    assert json.loads(beside.read_text(encoding="utf-8")) == {"epoch": 3, "h": {"lr": 0.5, "tags": ["a", None]}}
    assert [name for name, _ in said.lost] == ["b", "nan", "keys", "loop"]
    assert "JSON cannot hold it" in said.lost[0][1]
    inert.save(root["w"], tmp_path / "n.npy", leaves="sidecar")
    assert not (tmp_path / "n.npy.json").exists()


def test_other_values_in_the_metadata(tmp_path: Path) -> None:
    said = inert.save({"w": np.ones(1), "epoch": 3, "format": "mine"}, tmp_path / "m.safetensors", leaves="metadata")
    with inert.open(tmp_path / "m.safetensors") as found:
        assert dict(found.metadata) == {"format": "pt", "epoch": "3"}
    assert said.lost == [("format", "the metadata has a text of this name already")]


def test_other_values_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="epoch: an int is no tensor; leaves=lost"):
        inert.save({"w": np.ones(1), "epoch": 3}, tmp_path / "m.safetensors", leaves="error")
    with pytest.raises(UnsupportedError, match="leaves='x'"):
        inert.save({}, tmp_path / "m.safetensors", leaves="x")
    assert not list(tmp_path.iterdir())


def test_an_object_of_an_unknown_class_is_listed_once() -> None:
    with inert.open(CORPUS / "torch" / "module.pt") as found:
        flat = Flat(Saved(found.root, {}), Options("x"))
        assert flat.tensors.keys() | flat.aliases.keys() == found.tensors.keys()
        assert [name for name, _ in flat.lost] == [""] or len(flat.lost) < 10
        assert any("only the tensors are kept" in why for _, why in flat.lost)


def test_pages_that_lie_alike_are_copied_by_the_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(0).integers(0, 256, 3 * 4096, dtype="u1").tobytes()
    (tmp_path / "source").write_bytes(data)
    source, asked = FileSource(str(tmp_path / "source")), []
    kernel = os.copy_file_range

    def copy(*arguments: int) -> int:
        asked.append((arguments[2], arguments[3]))
        return kernel(*arguments)

    monkeypatch.setattr(os, "copy_file_range", copy)
    with destination(tmp_path / "x") as out:
        for piece in (source.span(0, 4096), source.span(4096, 100), source.span(8192, 4096)):
            out.pour(piece)
    assert (tmp_path / "x").read_bytes() == data[:4196] + data[8192:]
    assert asked == [(4096, 0), (100, 4096)]


# -- shared memory --------------------------------------------------------------------------------------------------------------------


def tied() -> dict[str, Any]:
    base = np.arange(12, dtype="f4").reshape(3, 4)
    return {"z": base, "m": base, "a": base[:], "t": base.T, "row": base[1], "other": np.ones(2), "none": base[:0]}


def test_equal_tensors_are_written_once_and_named(tmp_path: Path) -> None:
    said = inert.save(tied(), tmp_path / "x.safetensors")
    base = tied()["z"]
    same(read(tmp_path / "x.safetensors"), {"a": base, "t": base.T, "row": base[1], "other": np.ones(2), "none": base[:0]})
    with inert.open(tmp_path / "x.safetensors") as found:
        assert dict(found.metadata) == {"format": "pt", "m": "a", "z": "a"}
    assert codes(said.notes) == ["shared-alias", "shared-copy"]
    assert set(said.notes[0].tensors) == {"m", "z"}
    assert set(said.notes[1].tensors) == {"z", "t", "row"}


@pytest.mark.parametrize(
    ("format", "says"),
    [("pt", "torch-zip"), (".PTH", "torch-zip"), ("ptl", "torchscript"), ("safetensor", "safetensors"), ("index", "tf-bundle")],
)
def test_a_format_that_is_none_may_mean_another(format: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=rf"cannot be written; did you mean {says}\?"):
        inert.save({}, tmp_path / "x", format=format)
    with pytest.raises(UnsupportedError, match="can be: torch-zip, torchscript"):
        inert.save({}, tmp_path / "x", format="zebra")


def test_each_suffix_that_could_be_used_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError) as caught:
        inert.save({}, tmp_path / "x.what")
    assert "use one of .pt, .pth, .bin, .ckpt, .ptl, .safetensors," in str(caught.value)
    assert caught.value.hint.endswith("or give --to FORMAT (format= or to= in Python)")
    assert caught.value.hint.count(".pt,") == 1


@pytest.mark.parametrize("name", ["x.pt", "x.safetensors", "x.npz"])
def test_a_missing_folder_is_told(name: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no folder .*no.where' for the destination; make it first"):
        inert.save({"a": np.ones(2)}, tmp_path / "no" / "where" / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("way", ["one", "shards"])
def test_names_that_others_stand_for_come_back(way: str, tmp_path: Path) -> None:
    size = "60B" if way == "shards" else 0
    written = tmp_path / ("x.safetensors.index.json" if way == "shards" else "x.safetensors")
    base = np.arange(12, dtype="f4").reshape(3, 4)
    inert.save({"z": base, "m": base, "a": base, "free": np.ones(9)}, tmp_path / "first.pt")
    inert.convert(tmp_path / "first.pt", written, max_shard_size=size)
    with inert.open(written, strict=True) as found:
        assert list(found.tensors) == ["a", "free"] or list(found.tensors) == ["free", "a"]  # what the library lists
        note = next(note for note in found.notes if note.code == "aliases")
        assert set(note.tensors) == {"m", "z"}
    said = inert.convert(written, tmp_path / "back.pt")
    assert "aliases" in codes(said.notes)
    with inert.open(tmp_path / "back.pt") as found:
        assert set(found.tensors) == {"a", "m", "z", "free"}
        assert found.tensors["a"].storage is found.tensors["m"].storage is found.tensors["z"].storage
    with inert.open(written) as found:
        inert.save(found, tmp_path / "saved.pt")
        assert len(found.root) == 2
    with inert.open(tmp_path / "saved.pt") as found:
        assert found.tensors["a"].storage is found.tensors["m"].storage is found.tensors["z"].storage
    inert.convert(tmp_path / "back.pt", tmp_path / written.name.replace("x", "y", 1), max_shard_size=size)
    for file in sorted(tmp_path.glob("x*.safetensors")):
        assert (tmp_path / file.name.replace("x", "y", 1)).read_bytes() == file.read_bytes()


def test_aliases_go_with_the_names_that_they_mean(tmp_path: Path) -> None:
    base, path, made = np.ones((2, 2), "f4"), tmp_path / "x.safetensors", tmp_path / "y.safetensors"
    inert.save({"b": base, "c": np.zeros(3, "f4")}, path, metadata={"a": "b", "best": "b", "format": "c", "note": "none"})
    inert.convert(path, made)
    assert made.read_bytes() == path.read_bytes()
    with inert.open(path) as found:  # written anew: the first of the names stays the one that was written
        found.tensors["c"] = np.ones(3, "f4")
        inert.save(found, made)
    with inert.open(made) as found:
        assert dict(found.metadata) == {"a": "b", "best": "b", "format": "c", "note": "none"}
        assert list(found.tensors) == ["b", "c"]
    inert.convert(path, made, rename=[("^b$", "d")])
    with inert.open(made) as found:
        assert dict(found.metadata) == {"best": "a", "d": "a", "format": "c", "note": "none"}
    inert.convert(path, made, drop=["best"])
    with inert.open(made) as found:
        assert dict(found.metadata) == {"a": "b", "format": "c", "note": "none"}
    inert.convert(path, made, dtype="bf16")
    with inert.open(made) as found:
        assert {str(one.dtype) for one in found.tensors.values()} == {"bfloat16"}
        assert found.metadata["a"] == "b"


def test_each_is_written_or_none(tmp_path: Path) -> None:
    said = inert.save(tied(), tmp_path / "x.safetensors", shared="copy")
    same(read(tmp_path / "x.safetensors"), {name: np.array(array) for name, array in tied().items()})
    assert codes(said.notes) == ["shared-copy"]
    with pytest.raises(UnsupportedError, match="share memory: m, z, a"):
        inert.save(tied(), tmp_path / "x.safetensors", shared="error")


def test_an_alias_never_takes_the_place_of_a_text(tmp_path: Path) -> None:
    said = inert.save({"a": (x := np.ones(2)), "b": x}, tmp_path / "x.safetensors", metadata={"b": "mine"})
    assert [name for name, _ in said.lost] == ["b"]
    with inert.open(tmp_path / "x.safetensors") as found:
        assert found.metadata["b"] == "mine"


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 8)), max_size=8))
def test_overlaps_are_those_of_every_pair(runs: list[tuple[int, int]]) -> None:
    memory = Storage("x", 64, DTYPES["uint8"], "cpu", None)
    named = {str(i): Tensor(Layout(DTYPES["uint8"], (size,), (1,), at, memory)) for i, (at, size) in enumerate(runs)}
    equal, overlapping = ties(named)
    assert equal.keys() == {
        str(i) for i, run in enumerate(runs) if run in runs and str(i) != min(str(j) for j, r in enumerate(runs) if r == run)
    }
    firsts = {run: i for i, run in reversed(list(enumerate(runs)))}
    wanted = {
        str(i) for run, i in firsts.items() for other in firsts if other != run and run[0] < sum(other) and other[0] < sum(run)
    }  # fmt: skip
    assert set(overlapping) == wanted


# -- what has no place ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (np.ones(1, "c16"), "safetensors has no complex128; leave it out \\(--drop n\\.w\\), or put its values as complex64"),
        (tensor("complex32", (1,), b"1234"), "safetensors has no complex32"),
        (tensor("int4", (1,), b"1"), "safetensors has no int4; leave it out"),
        (tensor("float8_e4m3b11fnuz", (1,), b"1"), "no float8_e4m3b11fnuz; leave it out .*as bfloat16"),
        (tensor("qint8", (1,), b"1", kind="quantized"), "a tensor of kind quantized; dequantise it"),
        (tensor("float32", (1,), b"1234", kind="sparse_coo"), "kind sparse_coo; make it dense"),
        (tensor("float32", (1,), b"1234", kind="meta"), "kind meta; leave it out"),
        (tensor("float32", (1,), b"1234", fault="it is odd"), "damaged tensor cannot be written: it is odd"),
        (tensor("float4_e2m1fn", (3,), b"12"), "no whole number of bytes"),
    ],
)
def test_what_the_format_has_no_place_for(value: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=rf"n\.w: .*{says}" if "whole" not in says else says):
        inert.save({"n": {"w": value}}, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["x.pt", "x.safetensors", "x.npz", "x.safetensors.index.json"])
def test_every_damaged_tensor_is_named_with_the_option_that_leaves_it_out(name: str, tmp_path: Path) -> None:
    def bad() -> Tensor:
        return tensor("float32", (1,), b"1234", fault="it is odd")

    with pytest.raises(UnsupportedError) as caught:
        inert.save({"n": {"w": bad(), "good": np.ones(1), "v w": bad()}}, tmp_path / name)
    assert str(caught.value) == (
        "2 damaged tensors cannot be written: n.w, n.v w; of the first, it is odd; leave them out: --drop n.w --drop 'n.v w'; or repair the file"
    )
    with pytest.raises(UnsupportedError) as caught:
        inert.save({"w": bad()}, tmp_path / name)
    assert str(caught.value) == "w: a damaged tensor cannot be written: it is odd; leave it out: --drop w; or repair the file"
    assert not list(tmp_path.iterdir())


def test_what_is_said_of_a_type_that_the_format_lacks_works(tmp_path: Path) -> None:
    path, made = tmp_path / "x.pt", tmp_path / "x.safetensors"
    inert.save({"a": np.array([1 + 2j]), "b": np.ones(2, "f4")}, path)
    with pytest.raises(UnsupportedError, match=r"a: safetensors has no complex128; leave it out \(--drop a\)"):
        inert.convert(path, made)
    inert.convert(path, made, drop=["a"])
    assert list(inert.load(made)) == ["b"]
    with inert.open(path) as ckpt:
        ckpt.tensors["a"] = ckpt.tensors["a"].numpy().astype("complex64")
        ckpt.save(made)
    assert inert.load(made)["a"].tolist() == [1 + 2j]


def test_names_that_cannot_be(tmp_path: Path) -> None:
    for name, says in (("__metadata__", "keeps this name"), ("\ud800", "half a surrogate")):
        with pytest.raises(UnsupportedError, match=says):
            inert.save({name: np.ones(1)}, tmp_path / "x.safetensors")
    with pytest.raises(UnsupportedError, match="half a surrogate"):
        inert.save({}, tmp_path / "x.safetensors", metadata={"a": "\udc00"})


def test_a_bomb_is_seen_before_a_byte_is_written(tmp_path: Path) -> None:
    with pytest.raises(LimitError, match="w: "):
        inert.save({"w": np.broadcast_to(np.ones(1), (1 << 40,))}, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_header_that_nobody_reads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(safetensors, "NEAR", 200)
    said = inert.save({f"w{i}": np.ones(1) for i in range(10)}, tmp_path / "x.safetensors")
    assert codes(said.notes) == ["header-large"]
    monkeypatch.setattr(safetensors, "HEADER", 300)
    with pytest.raises(LimitError, match="header would take"):
        inert.save({f"w{i}": np.ones(1) for i in range(10)}, tmp_path / "x.safetensors")


def test_names_beyond_all_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DEFAULT, "name_bytes", 50)
    with pytest.raises(LimitError, match="names of the tensors"):
        Flat(Saved({f"name{i}" * 4: tensor("uint8", (1,), b"1") for i in range(10)}, {}), Options("x"))
    with pytest.raises(LimitError, match="names of the values"):
        Flat(Saved({"w": tensor("uint8", (1,), b"1"), **{f"name{i}" * 4: 1 for i in range(10)}}, {}), Options("x"))


def test_depth_takes_no_recursion_and_no_quadratic_time() -> None:
    deep: Any = {"w": tensor("uint8", (1,), b"1")}
    for _ in range(20_000):
        deep = {"x": deep}
    assert len(Flat(Saved(deep, {}), Options("x")).tensors) == 1
    assert not plain(deep)
    wide: Any = 1
    for _ in range(60):
        wide = [wide] * 10
    assert not plain(wide)


# -- elements -------------------------------------------------------------------------------------------------------------------------


def test_strided_swapped_and_expanded_arrays(tmp_path: Path) -> None:
    base = np.arange(240, dtype="i4").reshape(4, 5, 12)
    arrays = {
        "transposed": base.T, "last": base.transpose(0, 2, 1), "steps": base[::2, 1:, ::3], "expanded": np.broadcast_to(base[0], (3, 5, 12)),
        "back": base[:, ::-1], "big": base.astype(">i4"), "bf16": base.astype(ml_dtypes.bfloat16).T, "scalar": np.array(5), "rows": np.zeros((3, 0, 2)),
    }  # fmt: skip
    for name in ("x.safetensors", "x.pt", "x.npz"):
        kept = {key: array for key, array in arrays.items() if name != "x.npz" or key != "bf16"}
        inert.save(kept, tmp_path / name, shared="copy")
        wanted = {
            key: np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).reshape(array.shape) for key, array in kept.items()
        }
        if name == "x.npz":
            with np.load(tmp_path / name, allow_pickle=False) as found:
                same(dict(found), wanted)
        else:
            same(read(tmp_path / name), wanted)
    with inert.open(tmp_path / "x.pt") as found:  # strided views of a file, too
        inert.save(found.root, tmp_path / "y.safetensors", shared="copy")
    same(read(tmp_path / "y.safetensors"), read(tmp_path / "x.safetensors"))


@pytest.fixture(scope="module")
def noise(tmp_path_factory: pytest.TempPathFactory) -> FileSource:
    path = tmp_path_factory.mktemp("noise") / "noise"
    path.write_bytes(np.random.default_rng(1).integers(0, 256, 1 << 18, dtype="u1").tobytes())
    return FileSource(str(path))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["uint8", "int16", "float32", "complex64", "complex128", "complex32", "bfloat16"]),
    st.lists(st.tuples(st.sampled_from([1, 2, 3, 5, 8, 17]), st.sampled_from([0, 1, 2, 3, 7, 64, 300])), max_size=4),
    st.integers(0, 50), st.sampled_from(["little", "big"]), st.sampled_from([(4 << 20, 64 << 10), (256, 16), (4096, 64)]),
)  # fmt: skip
def test_any_strides_are_gathered_by_bounded_reads(
    noise: FileSource, name: str, dims: list[tuple[int, int]], offset: int, order: str, sizes: tuple[int, int]
) -> None:
    dtype = DTYPES[name]
    storage = Storage("x", noise.size, dtype, "cpu", noise.span)
    storage.order = order
    layout = Layout(dtype, tuple(n for n, _ in dims), tuple(s for _, s in dims), offset, storage)
    assume(not inert.layout.bounds(dtype, layout.shape, layout.strides, offset, storage, 64))
    raw = np.frombuffer(noise.read(0, noise.size), "u1")
    if order == "big":
        raw = np.ascontiguousarray(raw.reshape(-1, dtype.unit)[:, ::-1]).reshape(-1)
    places = np.full(layout.shape, offset)
    for axis, (size, stride) in enumerate(dims):
        places = places + (np.arange(size) * stride).reshape(-1, *(1,) * (len(dims) - axis - 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("inert.layout.PIECE", sizes[0])
        patch.setattr("inert.arrays.PIECE", sizes[0])
        patch.setattr("inert.arrays.SMALL", sizes[1])
        pieces = list(inert.layout.pieces(layout, DEFAULT))
    assert b"".join(pieces) == raw.reshape(-1, dtype.itemsize)[places.reshape(-1)].tobytes()
    assert max(map(len, pieces)) <= max(sizes[0], dtype.itemsize)


# -- NumPy's files ----------------------------------------------------------------------------------------------------------------------


def test_npz_is_what_savez_writes(tmp_path: Path) -> None:
    names = [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
    arrays = {f"{name}/x": np.arange(6).astype(name).reshape(2, 3) for name in names} | {"é": np.zeros((2, 0)), "scalar": np.array(1.5)}
    inert.save(arrays, tmp_path / "ours.npz")
    np.savez(tmp_path / "theirs.npz", **arrays)
    with zipfile.ZipFile(tmp_path / "ours.npz") as ours, zipfile.ZipFile(tmp_path / "theirs.npz") as theirs:
        assert ours.testzip() is None
        assert {name: ours.read(name) for name in ours.namelist()} == {name: theirs.read(name) for name in theirs.namelist()}
        assert {info.compress_type for info in ours.infolist()} == {zipfile.ZIP_STORED}
    with np.load(tmp_path / "ours.npz", allow_pickle=False) as found:
        same(dict(found), arrays)


def test_npy_is_what_save_writes(tmp_path: Path) -> None:
    array = np.arange(12, dtype="f4").reshape(3, 4)
    for value in (array, {"only": array}, [array]):
        inert.save(value, tmp_path / "ours.npy")
        np.save(tmp_path / "theirs.npy", array)
        assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    inert.save(array, tmp_path / "bare.npz")
    with np.load(tmp_path / "bare.npz", allow_pickle=False) as found:
        assert list(found) == ["arr_0"]


@pytest.mark.parametrize(
    ("value", "path", "says"),
    [
        ({"w": np.ones(2, ml_dtypes.bfloat16)}, "x.npz", "w: NumPy's files have no bfloat16; write safetensors, or cast it to float32"),
        (np.ones(2, ml_dtypes.float8_e4m3fn), "x.npy", "no float8_e4m3fn; write safetensors, or cast it to float32"),
        (tensor("qint8", (1,), b"1", kind="quantized"), "x.npy", "kind quantized"),
        ({"a": np.ones(1), "b": np.ones(1)}, "x.npy", "holds one array, and here are 2: a, b; keep one"),
        ({"x": 1}, "x.npy", "here are 0"),
        ({"../w": np.ones(1)}, "x.npz", "would lead outside"),
        ({"/w": np.ones(1)}, "x.npz", "would lead outside"),
        ({"c:w": np.ones(1)}, "x.npz", "would lead outside"),
        ({"\udc00": np.ones(1)}, "x.npz", "half a surrogate"),
    ],
)
def test_what_numpy_s_files_cannot_hold(value: Any, path: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=says):
        inert.save(value, tmp_path / path)
    with pytest.raises(UnsupportedError, match="no metadata"):
        inert.save(np.ones(1), tmp_path / path, leaves="metadata")
    assert not list(tmp_path.iterdir())


# -- the legacy layout --------------------------------------------------------------------------------------------------------------------

KEY = re.compile(rb"(?<!\d)\d{14}(?!\d)")


def mapped(data: bytes, blobs: int) -> tuple[bytes, dict[bytes, bytes]]:
    """The pickles up to the list of keys, with keys numbered as they come; each storage with its count, by that number."""
    keys: dict[bytes, bytes] = {}
    head = KEY.sub(lambda match: keys.setdefault(match[0], b"key%d" % len(keys)), data[:blobs])
    return head, keys


def save_parts(path: Path) -> tuple[bytes, dict[bytes, bytes], bytes]:
    data = path.read_bytes()
    with inert.open(path) as found:
        parts = found.parts
        listed = parts["storage_keys"].offset
        assert listed is not None
        head, keys = mapped(data, listed)
        stored = {}
        for name, part in parts.items():
            if part.role == "storage":
                assert part.offset is not None
                stored[keys[name.removeprefix("storage ").encode()]] = data[part.offset - 8 : part.offset + part.size]
        return head, stored, KEY.sub(b"key", data[listed : listed + parts["storage_keys"].size])


@pytest.mark.parametrize("name", ["bare_tensor", "empty_dict", "module", "quantized", "sharing", "state_dict", "views"])
def test_legacy_saves_are_torch_s_but_for_the_keys(name: str, tmp_path: Path) -> None:
    path = CORPUS / "legacy" / f"{name}.pt"
    with inert.open(path) as found:
        inert.save(found.root, tmp_path / "x.pt", format="torch-legacy")
    assert save_parts(tmp_path / "x.pt") == save_parts(path)
    assert (tmp_path / "x.pt").stat().st_size == path.stat().st_size


def test_legacy_types_that_torch_cannot_read_again_are_noted(tmp_path: Path) -> None:
    said = inert.save({"w": np.ones(2, "u2"), "x": np.ones(2)}, tmp_path / "x.pt", format="torch-legacy")
    assert codes(said.notes) == ["legacy-untyped"]
    same(read(tmp_path / "x.pt"), {"w": np.ones(2, "u2"), "x": np.ones(2)})
    with pytest.raises(UnsupportedError, match="meta device"):
        inert.save({"w": tensor("float32", (1,), device="meta")}, tmp_path / "y.pt", format="torch-legacy")


@pytest.mark.parametrize("format", ["torch-zip", "torch-legacy"])
@pytest.mark.parametrize("source", ["legacy/module.pt", "torch/module.pt", "torch/subclasses.pt", "torch/custom_objects.pt"])
def test_objects_of_unknown_classes_keep_their_tensors(source: str, format: str, tmp_path: Path) -> None:
    with inert.open(CORPUS / source) as found:
        inert.save(found.root, tmp_path / "x.pt", format=format)
        with inert.open(tmp_path / "x.pt") as again:
            assert not again.errors
            assert {name: one.sha256() for name, one in again.tensors.items()} == {
                name: one.sha256() for name, one in found.tensors.items()
            }


# -- shards -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name", "format"),
    [
        ("safetensors", "model.safetensors.index.json", None),
        ("safetensors", "model.safetensors", None),
        ("safetensors", "", None),
        ("bin", "pytorch_model.bin.index.json", "sharded"),
        ("bin", "pytorch_model.bin", "torch-zip"),
        ("bin", "", "torch-zip"),
    ],
)
def test_shards_are_the_hub_s_to_the_byte(kind: str, name: str, format: str | None, tmp_path: Path) -> None:
    with inert.open(HUB / "bin") as found:
        said = inert.save({key: found.root[key] for key in ORDER}, str(tmp_path / name), format=format, max_shard_size=LIMIT)
    assert sorted(os.listdir(tmp_path)) == sorted(os.listdir(HUB / kind))
    for file in (HUB / kind).iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes(), file.name
    assert said.files[-1].endswith(".index.json")
    assert codes(said.notes) == (["shared-alias"] if kind == "safetensors" else [])
    with inert.open(tmp_path, strict=True) as found:
        assert codes(found.notes) == (["aliases"] if kind == "safetensors" else [])


def test_what_fits_one_shard_has_no_index(tmp_path: Path) -> None:
    said = inert.save({"a": np.ones(3), "b": np.ones(3)}, tmp_path, max_shard_size="1KB")
    assert [Path(file).name for file in said.files] == ["model.safetensors"]
    with inert.open(said.files[0]) as found:
        assert found.format == "safetensors"
    assert not said.notes
    said = inert.save({"a": np.ones(3)}, tmp_path / "one.safetensors.index.json")
    assert [Path(file).name for file in said.files] == ["one.safetensors"]
    assert codes(said.notes) == ["shards-one"]
    assert "one.safetensors was written, and no index" in said.notes[0].message
    said = inert.save({}, f"{tmp_path}/made/")
    assert [Path(file).name for file in said.files] == ["model.safetensors"]
    assert inert.load(tmp_path / "made" / "model.safetensors") == {}


def test_variants_bare_names_and_sidecars(tmp_path: Path) -> None:
    root = {"a": np.ones(3), "b": np.ones(3), "epoch": 1}
    said = inert.save(root, tmp_path / "m.safetensors.index.fp16.json", format="sharded", max_shard_size=24, leaves="sidecar")
    assert [Path(file).name for file in said.files] == [
        "m.fp16.safetensors.json", "m.fp16-00001-of-00002.safetensors", "m.fp16-00002-of-00002.safetensors", "m.safetensors.index.fp16.json",
    ]  # fmt: skip
    same(read(tmp_path / "m.safetensors.index.fp16.json"), {"a": np.ones(3), "b": np.ones(3)})


def test_files_of_an_earlier_set_are_noted_and_left(tmp_path: Path) -> None:
    root = {"a": np.ones(3), "b": np.ones(3), "c": np.ones(3)}
    inert.save(root, tmp_path / "model.safetensors.index.json", max_shard_size=24)
    said = inert.save(root, tmp_path / "model.safetensors.index.json", max_shard_size=48)
    assert codes(said.notes) == ["shards-stale"]
    assert "model-00001-of-00003.safetensors, model-00002-of-00003.safetensors" in said.notes[0].message
    assert len(list(tmp_path.iterdir())) == 6


def test_a_set_becomes_another_in_its_own_folder(tmp_path: Path) -> None:
    root = {f"w{i}": np.full(50, i, "f8") for i in range(6)}
    path = tmp_path / "model.safetensors.index.json"
    inert.save(root, path, max_shard_size=400)
    with inert.open(path) as found:
        inert.save(dict(reversed(list(found.root.items()))), path, max_shard_size=400)
    same(read(path), root)


@pytest.mark.parametrize(
    ("path", "options", "says"),
    [
        ("x.npz.index.json", {}, "does not say what the shards are called"),
        ("x.safetensors", {"format": "torch-zip", "max_shard_size": 1}, "are not called"),
        ("x.bin", {"format": "sharded", "max_shard_size": -1}, "shards of -1 bytes"),
        ("x.bin", {"max_shard_size": "5 apples"}, "is no size"),
        ("x.what", {}, "suffix says no format"),
        ("x.pt", {"format": "what"}, "what cannot be written; can be: torch-zip, torchscript, torch-legacy, safetensors, sharded"),
    ],
)
def test_destinations_that_say_nothing(path: str, options: dict[str, Any], says: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=says):
        inert.save({"a": np.ones(1)}, tmp_path / path, **options)
    assert not list(tmp_path.iterdir())


def test_sizes() -> None:
    assert [bytes_of(text) for text in ("5GB", "1.5 kb", "2KiB", "10", 7, "3TB")] == [5 * 10**9, 1500, 2048, 10, 7, 3 * 10**12]


def test_room_for_all_is_looked_for_before_the_first_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Disk:
        f_bavail, f_frsize = 1000, 1

    monkeypatch.setattr(os, "statvfs", lambda path: Disk)
    with pytest.raises(OSError, match="bytes are to be written") as caught:
        inert.save({"a": np.ones(100), "b": np.ones(100)}, tmp_path / "x.safetensors", max_shard_size=800)
    assert caught.value.errno == errno.ENOSPC
    assert not list(tmp_path.iterdir())


def test_a_set_that_cannot_be_finished_leaves_nothing(tmp_path: Path) -> None:
    source = io.BytesIO(bytes(800))
    good = {"a": np.ones(100)}
    inert.save(good, tmp_path / "model.safetensors.index.json", max_shard_size=800)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    storage = Storage("x", 800, DTYPES["float64"], "cpu", lambda: inert.files.StreamSource(source).span())
    bad = Tensor(Layout(DTYPES["float64"], (100,), (1,), 0, storage))
    plan = writer_for("m", "sharded").plan(
        Saved({"a": tensor("float64", (100,), bytes(800)), "b": bad}, {}), Options(f"{tmp_path}/model.safetensors", max_shard_size=800)
    )
    source.truncate(100)
    with pytest.raises(InertError):
        plan.pour(f"{tmp_path}/model.safetensors")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_every_writer_has_a_suffix_or_a_name() -> None:
    first = {suffix: one.id for one in reversed(WRITERS) for suffix in one.suffixes}
    assert {suffix: writer_for(f"x{suffix}").id for suffix in first} == first
    assert {one.id for one in WRITERS} - set(first.values()) == {"torchscript", "torch-legacy"} - set(first.values())
    assert [writer_for("x", one.id) for one in WRITERS] == list(WRITERS)


# -- hostile and odd values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["torch-zip", "torch-legacy"])
@pytest.mark.parametrize(
    "value",
    [lambda: 0, os, int, (one for one in ()), memoryview(b"x"), compile("1", "", "eval"), MappingProxyType({})],
    ids=lambda value: type(value).__name__,
)
def test_values_without_a_pickled_form_are_refused(value: Any, format: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"a checkpoint .*holds no .*; give numbers"):
        inert.save({"a": np.zeros(1), "v": value}, tmp_path / "a.pt", format=format)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ["float8_e5m2", "float8_e4m3fn", "float32"])
def test_types_that_are_named_in_every_protocol(name: str, protocol: int, tmp_path: Path) -> None:
    """A float8 type stands in the pickle as a name, and protocol 4 spells the texts of names as values."""
    array = np.arange(3).astype(DTYPES[name].array_type())
    inert.save({"a": array, "b": array[:2].copy()}, tmp_path / "a.pt", protocol=protocol)
    with inert.open(tmp_path / "a.pt") as ckpt:
        assert [str(tensor.dtype) for tensor in ckpt.tensors.values()] == [name, name]
        np.testing.assert_array_equal(ckpt.tensors["a"].numpy(), array)


def test_numbers_that_json_s_readers_refuse_are_listed(tmp_path: Path) -> None:
    huge = 1 << 20_000
    for leaves in ("metadata", "sidecar"):
        written = inert.save({"w": np.zeros(1), "n": [huge], "m": 7}, tmp_path / "a.safetensors", leaves=leaves)
        assert written.lost == [("n", "a list of 1 is no tensor, and JSON cannot hold it")]


def test_a_member_s_name_has_16_bits_of_length(tmp_path: Path) -> None:
    inert.save({"x" * 65_531: np.zeros(1)}, tmp_path / "a.npz")
    assert np.load(tmp_path / "a.npz").files == ["x" * 65_531]
    with pytest.raises(UnsupportedError, match="64 KiB"):
        inert.save({"é" * 32_766: np.zeros(1)}, tmp_path / "a.npz")


def test_damaged_tensors_are_refused_before_shards_are_dealt(tmp_path: Path) -> None:
    bad = Tensor(Layout(DTYPES["float32"], (2, 2), (1,), 0, Storage("s", 16, DTYPES["float32"], "cpu", None)))
    bad._layout.fault = "2 sizes but 1 strides"
    for name in ("a.safetensors", "a.bin"):
        with pytest.raises(UnsupportedError, match="x: a damaged tensor cannot be written: 2 sizes but 1 strides"):
            inert.save({"x": bad}, tmp_path / name, max_shard_size=100)


def test_masked_arrays_are_not_written_without_their_masks(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="mask"):
        inert.save({"a": np.ma.masked_array([1.0, 2.0], [False, True])}, tmp_path / "a.pt")
    inert.save({"a": np.ma.masked_array([1.0, 2.0], [False, True]).filled(0)}, tmp_path / "a.pt")
    assert inert.load(tmp_path / "a.pt")["a"].tolist() == [1.0, 0.0]


def test_an_empty_array_does_not_part_those_around_it(tmp_path: Path) -> None:
    base = np.arange(100, dtype=np.float32)
    inert.save({"a": base[:60], "e": base[50:50], "b": base[40:]}, tmp_path / "a.pt")
    with inert.open(tmp_path / "a.pt") as ckpt:
        assert ckpt.tensors["a"].storage is ckpt.tensors["b"].storage
        assert ckpt.tensors["e"].shape == (0,)
        np.testing.assert_array_equal(ckpt.tensors["b"].numpy(), base[40:])


@pytest.mark.no_cover
def test_many_views_of_one_array_take_linear_time(tmp_path: Path) -> None:
    base = np.zeros((60_000, 2), np.float32)
    start = time.perf_counter()
    inert.memory.tensors_of([base, *base])
    assert time.perf_counter() - start < 20  # 0.5 s; each against each would take minutes


@pytest.mark.parametrize("protocol", [1, 6, "2"])
def test_protocols_that_are_none_are_refused(protocol: Any, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="protocol="):
        inert.save({"a": 1}, tmp_path / "a.pt", protocol=protocol)


@pytest.mark.parametrize("said", [{"a": 1}, {1: "a"}])
def test_metadata_is_text(said: Any, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="give texts under texts"):
        inert.save({"a": np.zeros(1)}, tmp_path / "a.safetensors", metadata=said)


def test_a_changed_safetensors_file_keeps_its_metadata(tmp_path: Path) -> None:
    inert.save({"w": np.zeros(2)}, tmp_path / "a.safetensors", metadata={"who": "me"})
    with inert.open(tmp_path / "a.safetensors") as ckpt:
        ckpt.tensors["z"] = np.ones(1)
        ckpt.save(tmp_path / "b.safetensors")
        ckpt.save(tmp_path / "c.safetensors", metadata={"more": "x"})
    inert.convert(tmp_path / "a.safetensors", tmp_path / "d.safetensors", rename=[("w", "v")])
    said = {}
    for name in "bcd":
        with inert.open(tmp_path / f"{name}.safetensors") as ckpt:
            said[name] = dict(ckpt.metadata)
    kept = {"format": "pt", "who": "me"}
    assert said == {"b": kept, "c": kept | {"more": "x"}, "d": kept}


def test_metadata_beside_a_torch_file(tmp_path: Path) -> None:
    with inert.open(CORPUS / "torch/small.pt") as ckpt:
        inert.save(ckpt, tmp_path / "a.safetensors", metadata={"who": "me"})
    with inert.open(tmp_path / "a.safetensors") as ckpt:
        assert dict(ckpt.metadata) == {"format": "pt", "who": "me"}


@pytest.mark.parametrize("format", ["a.safetensors", "a.pt", "a.safetensors.index.json"])
def test_tensors_whose_layouts_are_made_late_are_cast(format: str, tmp_path: Path) -> None:
    """In a format with lazy layouts each listing made a storage of its own, and nothing was found to be cast: the file was copied."""
    inert.save({"w": np.arange(3.0), "v": np.arange(4.0)}, tmp_path / "a.safetensors")
    done = inert.convert(tmp_path / "a.safetensors", tmp_path / f"b{format}", dtype="bf16")
    assert {one["name"] for one in done.cast} == {"w", "v"}
    with inert.open(done.written[-1]) as ckpt:
        assert {name: str(tensor.dtype) for name, tensor in ckpt.tensors.items()} == {"w": "bfloat16", "v": "bfloat16"}


@pytest.mark.parametrize("name", ["a\0b.pt", "\ud800.pt"])
def test_names_that_no_file_can_have(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no file can have this name"):
        inert.save({"a": 1}, f"{tmp_path}/{name}")


def test_a_destination_in_bytes(tmp_path: Path) -> None:
    assert inert.save({"a": 1}, os.fsencode(tmp_path / "a.pt")).files == [str(tmp_path / "a.pt")]  # type: ignore[arg-type]


@pytest.mark.parametrize("suffix", [".h5", ".onnx", ".gguf"])
def test_a_suffix_of_another_format_is_none_of_the_sources_own(suffix: str, tmp_path: Path) -> None:
    source = Path(__file__).parent / "corpus" / "torch" / "small.pt"
    for make in (inert.repair, inert.convert):
        with pytest.raises(UnsupportedError, match="the suffix says no format"):
            make(source, tmp_path / f"x{suffix}")
    with inert.open(source) as ckpt, pytest.raises(UnsupportedError, match="the suffix says no format"):
        ckpt.save(tmp_path / f"x{suffix}")
    assert not list(tmp_path.iterdir())
