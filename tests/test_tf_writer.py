"""TensorFlow's checkpoints as inert writes them: tests/corpus/tf/ordered was saved by TensorFlow in the order of its keys, so that its files
are those that a writer must make; the other checkpoints of tests/corpus/tf keep what they hold."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import inert
from inert.checkpoint import Checkpoint
from inert.cli import main
from inert.containers.sstablewrite import behind, between, common, table
from inert.errors import UnsupportedError
from inert.formats.tf_bundle import TfBundle
from inert.formats.tf_checks import tensor_checks
from inert.tensor import Tensor
from inert.tensorflow.strings import stored as stored_strings
from inert.tensorflow.strings import stored_size
from inert.writers import WRITERS, Options, Saved, writer_for
from tests import tf_tables
from tests.tf_tables import HEADER, bundle, entry, field, stored

HERE = Path(__file__).parent / "corpus" / "tf"
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
WRITTEN = sorted(path.name for path in HERE.iterdir() if path.is_dir() and path.name != "hole")


def facts(name: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads((HERE / f"{name}.expected.json").read_text(encoding="utf-8"))
    return read


def prefix_of(name: str) -> Path:
    return HERE / name / facts(name)["prefix"]


def anew(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Its tensors as if they were of no checkpoint: no file is copied."""
    return {name: Tensor(tensor.layout, tensor.limits) for name, tensor in checkpoint.tensors.items()}


def files(prefix: Path) -> dict[str, bytes]:
    return {path.name[len(prefix.name) :]: path.read_bytes() for path in prefix.parent.glob(f"{prefix.name}.*")}


def sound(path: Path) -> dict[str, str]:
    """The hashes of a bundle in which nothing is wrong, checksums included."""
    with inert.open(path) as checkpoint:
        assert isinstance(checkpoint.content, TfBundle)
        assert not checkpoint.notes
        assert list(tensor_checks(checkpoint.content)) == []
        return {name: "" if tensor.kind == "opaque" else tensor.sha256() for name, tensor in checkpoint.tensors.items()}


# ------------------------------------------------------------------------------------------------------------------- what is written


@pytest.mark.parametrize("known", [True, False])
def test_what_tensorflow_writes_in_the_order_of_the_keys(known: bool, tmp_path: Path) -> None:
    with inert.open(prefix_of("ordered")) as checkpoint:
        tensors = anew(checkpoint)
        for tensor in tensors.values() if not known else ():
            for part in (tensor, *tensor.components.values()):
                assert part.storage is not None
                part.storage.crc32c = 0
        done = inert.save(tensors, tmp_path / "made.index")
    assert done.files == [str(tmp_path / "made.data-00000-of-00001"), str(tmp_path / "made.index")]
    assert files(tmp_path / "made") == files(prefix_of("ordered"))


@pytest.mark.parametrize("name", WRITTEN)
def test_everything_is_kept(name: str, tmp_path: Path) -> None:
    with inert.open(prefix_of(name)) as checkpoint:
        plan = next(one for one in WRITERS if one.id == "tf-bundle").plan(Saved(anew(checkpoint), {}), Options(str(tmp_path / "out")))
        written = plan.pour(str(tmp_path / "out"))
        assert [Path(path).stat().st_size for path in written] == [file.size for file in plan.files]
        kinds = {name: tensor.kind for name, tensor in checkpoint.tensors.items()}
    found = sound(tmp_path / "out")
    rows = {row["name"]: row for row in facts(name)["tensors"]}
    assert sorted(found) == sorted(rows)
    assert {name: found[name] for name, row in rows.items() if "sha256" in row} == {
        name: row["sha256"] for name, row in rows.items() if "sha256" in row
    }
    with inert.open(tmp_path / "out") as checkpoint:
        assert {name: tensor.kind for name, tensor in checkpoint.tensors.items()} == kinds
        assert {name: str(tensor.dtype) for name, tensor in checkpoint.tensors.items()} == {
            name: row["dtype"] for name, row in rows.items()
        }


def test_arrays_are_written(tmp_path: Path) -> None:
    array = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    inert.save({"w": {"t": array.T, "half": array.astype(ml_dtypes.bfloat16)}, "s": np.array([b"x", b""], object)}, tmp_path / "a.index")
    with inert.open(tmp_path / "a") as checkpoint:
        assert list(checkpoint.tensors) == ["s", "w.half", "w.t"]
        assert np.array_equal(checkpoint.tensors["w.t"].numpy(), array.T)
        assert checkpoint.tensors["w.half"].dtype == "bfloat16"
        assert checkpoint.tensors["s"].numpy().tolist() == [b"x", b""]
    assert sound(tmp_path / "a")["s"] == inert_hash([b"x", b""])


def inert_hash(held: list[bytes]) -> str:
    from hashlib import sha256

    return sha256(b"".join(len(one).to_bytes(8, "little") + one for one in held)).hexdigest()


def test_what_is_loaded_can_be_saved(tmp_path: Path) -> None:
    inert.save(inert.load(prefix_of("strings")), tmp_path / "a", format="tf-bundle")
    with inert.open(prefix_of("strings")) as checkpoint:
        assert sound(tmp_path / "a") == {name: tensor.sha256() for name, tensor in checkpoint.tensors.items()}


def test_an_empty_checkpoint(tmp_path: Path) -> None:
    inert.save({}, tmp_path / "a.index")
    assert (tmp_path / "a.data-00000-of-00001").read_bytes() == b""
    with inert.open(tmp_path / "a") as checkpoint:
        assert dict(checkpoint.tensors) == {}
        assert not checkpoint.errors


def test_tensors_that_share_memory_are_written_one_by_one(tmp_path: Path) -> None:
    array = np.arange(4)
    inert.save({"a": array, "b": array[1:], "c": array}, tmp_path / "m.index")
    assert (tmp_path / "m.data-00000-of-00001").stat().st_size == 8 * (4 + 3 + 4)
    assert len(sound(tmp_path / "m")) == 3
    with pytest.raises(UnsupportedError, match="share memory"):
        inert.save({"a": array, "b": array[1:]}, tmp_path / "m.index", shared="error")


def test_values_that_are_no_tensors(tmp_path: Path) -> None:
    state = {"w": np.zeros(2), "step": 3}
    assert inert.save(state, tmp_path / "a.index").lost == [("step", "an int is no tensor")]
    done = inert.save(state, tmp_path / "a.index", leaves="sidecar")
    assert [Path(name).name for name in done.files] == ["a.json", "a.data-00000-of-00001", "a.index"]
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == {"step": 3}
    with pytest.raises(UnsupportedError, match="metadata"):
        inert.save(state, tmp_path / "b.index", leaves="metadata")
    assert not (tmp_path / "b.index").exists()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("\0w", np.zeros(1), "NUL"),
        ("\ud800", np.zeros(1), "surrogate"),
        ("w", np.zeros(1, ml_dtypes.float8_e8m0fnu), "TensorFlow has no float8_e8m0fnu; cast it to bfloat16"),
        ("w", np.array([None]), "an array of object"),
    ],
)
def test_what_cannot_be_written_is_said_and_nothing_is(name: str, value: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=says):
        inert.save({"a": np.zeros(3), name: value}, tmp_path / "m.index")
    assert list(tmp_path.iterdir()) == []


def test_a_tensor_needs_a_name(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="without a name"):
        inert.save(np.zeros(1), tmp_path / "m.index")
    with pytest.raises(UnsupportedError, match="key of"):
        inert.save({"é": np.zeros(1), "\udcc3\udca9": np.zeros(1)}, tmp_path / "m.index")
    with pytest.raises(UnsupportedError, match="a prefix"):
        inert.save({"w": np.zeros(1)}, f"{tmp_path}/", format="tf-bundle")


def test_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    raw = np.arange(3, dtype="<f4").tobytes()
    prefix = bundle(tmp_path, {b"\xff\xfew": entry(1, (3,), 0, 12, stored(raw))}, raw)
    with inert.open(prefix) as checkpoint:
        inert.save(anew(checkpoint), tmp_path / "again.index")
        names = list(checkpoint.tensors)
    size = len(table_block := tf_tables.block([(b"", HEADER), (b"\xff\xfew", entry(1, (3,), 0, 12, stored(raw)))]))
    assert files(tmp_path / "again")[".index"][:size] == table_block
    assert list(sound(tmp_path / "again")) == names


def test_small_types_of_tensorflow_are_no_packed_ones(tmp_path: Path) -> None:
    """One value in each byte: a safetensors file or torch would take the bytes for twice as many."""
    for suffix, says in ((".safetensors", "safetensors has no float4_e2m1fn"), (".pt", "torch has no float4_e2m1fn")):
        with pytest.raises(UnsupportedError, match=says):
            inert.convert(prefix_of("types"), tmp_path / f"a{suffix}", keep=["x/float4_e2m1fn"])


def test_strings_are_measured_before_they_are_written() -> None:
    for held in ([], [b""], [b"x" * 127, b"y" * 128], [b"z" * 16383, b"z" * 16384]):
        assert sum(map(len, stored_strings(held))) == stored_size(held)


# ------------------------------------------------------------------------------------------------------------------- data files


def test_a_suffix_or_a_format_asks_for_it() -> None:
    assert writer_for("a/m.index").id == "tf-bundle"
    assert writer_for("a/m.index", None, 1000).id == "tf-bundle"
    assert writer_for("a/m", "tf-bundle", 1000).id == "tf-bundle"
    assert writer_for("a/m", None, 1000, "tf-bundle").id == "tf-bundle"
    assert writer_for("a/m", None, 0, "tf-bundle").id == "tf-bundle"
    assert writer_for("a/m.safetensors", None, 0, "tf-bundle").id == "safetensors"
    assert writer_for("a/m.safetensors.index.json").id == "sharded"


@pytest.mark.parametrize(("most", "count"), [(1, 5), (40, 4), (80, 2), (1 << 20, 1)])
def test_several_data_files(most: int, count: int, tmp_path: Path) -> None:
    tensors = {f"t{i}": np.full(5, i, np.float64) for i in range(3)} | {
        "z": np.zeros(1, np.int8),
        "none": np.zeros((0, 2)),
        "y": np.zeros(9, np.int8),
    }
    done = inert.save(tensors, tmp_path / "m.index", max_shard_size=most)
    names = [f"m.data-{i:05d}-of-{count:05d}" for i in range(count)] + ["m.index"]
    assert [Path(name).name for name in done.files] == names
    assert len(sound(tmp_path / "m")) == 6
    again = inert.save(tensors, tmp_path / "m.index", max_shard_size="1KB")
    assert [note.code for note in again.notes] == (["shards-stale"] if count > 1 else [])


def test_no_negative_sizes(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="data files of -1 bytes"):
        inert.save({"w": np.zeros(1)}, tmp_path / "m.index", max_shard_size=-1)


def test_an_end_in_the_middle_leaves_what_was_there(tmp_path: Path) -> None:
    inert.save({"w": np.arange(1000)}, tmp_path / "m.index")
    before = files(tmp_path / "m")

    def stop(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        inert.save({"w": np.arange(9)}, tmp_path / "m.index", progress=stop)
    assert files(tmp_path / "m") == before
    assert len(list(tmp_path.iterdir())) == 2


# ------------------------------------------------------------------------------------------------------------------- from itself


@pytest.mark.parametrize("name", ["types", "shards", "slices", "objects", "iterator", "hole"])
def test_an_unchanged_bundle_is_copied(name: str, tmp_path: Path) -> None:
    with inert.open(prefix_of(name)) as checkpoint:
        assert checkpoint.root  # looking at it changes nothing
        checkpoint.save(tmp_path / "copy")
    inert.convert(prefix_of(name), tmp_path / "converted")
    assert files(tmp_path / "copy") == files(tmp_path / "converted") == files(prefix_of(name))


def test_a_bundle_may_be_written_over_itself(tmp_path: Path) -> None:
    shutil.copytree(HERE / "slices", tmp_path / "a")
    inert.convert(tmp_path / "a" / "slices", tmp_path / "a" / "slices", rename={"^m$": "n"})
    with inert.open(prefix_of("slices")) as checkpoint:
        wanted = {name.replace("m", "n"): tensor.sha256() for name, tensor in checkpoint.tensors.items()}
    assert sound(tmp_path / "a" / "slices") == wanted


def test_big_endian_becomes_little_endian(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=">f4").tobytes()
    pairs = np.array([1 + 2j, -3j], ">c8").tobytes()
    lengths = field(0, 0)[:0] + bytes((2, 0)) + tf_tables.mask(tf_tables.crc32c(b"\0\0\0\2\0\0\0\0")).to_bytes(4, "big") + b"ab"
    data = numbers + pairs + lengths
    items = {
        b"n": entry(1, (6,), 0, 24, stored(numbers)),
        b"p": entry(8, (2,), 24, 16, stored(pairs)),
        b"s": entry(7, (2,), 40, len(lengths), 1),
    }
    prefix = bundle(tmp_path, items, data, field(1, 1) + field(2, 1) + field(3, field(1, 1)))
    inert.convert(prefix, tmp_path / "little")
    with inert.open(prefix) as checkpoint:
        assert sound(tmp_path / "little") == {name: tensor.sha256() for name, tensor in checkpoint.tensors.items()}
    with inert.open(tmp_path / "little") as checkpoint:
        assert checkpoint.metadata["byteorder"] == "little"
        assert checkpoint.tensors["n"].numpy().tolist() == [0, 1, 2, 3, 4, 5]
        assert checkpoint.tensors["s"].numpy().tolist() == [b"ab", b""]


def test_damage_stays_damage(tmp_path: Path) -> None:
    """Bytes that do not have their checksum must not get a new one that says that they are well."""
    raw = bytes(12)
    prefix = bundle(tmp_path, {b"w": entry(1, (3,), 0, 12, 12345)}, raw)
    inert.convert(prefix, tmp_path / "out", rename={"w": "v"})
    with inert.open(tmp_path / "out") as checkpoint:
        assert isinstance(checkpoint.content, TfBundle)
        assert [(note.code, note.tensors) for note in tensor_checks(checkpoint.content)] == [("tf-tensor-crc", ("v",))]


def test_an_entry_without_a_checksum_gets_one(tmp_path: Path) -> None:
    raw, text = bytes(range(12)), b"\2" + tf_tables.mask(tf_tables.crc32c(b"\2\0\0\0")).to_bytes(4, "little") + b"ab"
    prefix = bundle(tmp_path, {b"s": entry(7, (1,), 12, 7)[:-5], b"w": entry(1, (3,), 0, 12)[:-5]}, raw + text)
    inert.convert(prefix, tmp_path / "out", rename={"w": "v"})
    assert sorted(sound(tmp_path / "out")) == ["s", "v"]


def test_what_is_missing_or_damaged_is_refused(tmp_path: Path) -> None:
    prefix = bundle(tmp_path, {b"a": entry(1, (1,), 0, 4), b"w": entry(1, (3,), 4, 12)}, bytes(4))
    with pytest.raises(UnsupportedError, match=r"w: a damaged tensor cannot be written.*has 4"):
        inert.convert(prefix, tmp_path / "out", rename={"a": "b"})
    inert.convert(prefix, tmp_path / "out", drop=["w"])
    assert list(sound_or_not(tmp_path / "out")) == ["a"]
    prefix.with_name("made.data-00000-of-00001").unlink()
    with pytest.raises(UnsupportedError, match="is not there"):
        inert.convert(prefix, tmp_path / "other")
    assert not (tmp_path / "other.index").exists()


def sound_or_not(path: Path) -> list[str]:
    with inert.open(path) as checkpoint:
        return list(checkpoint.tensors)


def test_an_index_from_a_stream_has_no_data_to_write(tmp_path: Path) -> None:
    held = io.BytesIO(prefix_of("types").with_name("types.index").read_bytes())
    with inert.open(held) as checkpoint, pytest.raises(UnsupportedError, match="stream"):
        checkpoint.save(tmp_path / "out.index")
    assert list(tmp_path.iterdir()) == []


def test_slices_are_kept_and_cut_anew(tmp_path: Path) -> None:
    for dtype, parts in (("float64", {"0,0", "2,0", "2,3"}), ("float16", set())):  # TensorFlow does not join slices of float16
        done = inert.convert(prefix_of("slices"), tmp_path / dtype, dtype=dtype)
        assert [one["name"] for one in done.cast] == ["m"]
        with inert.open(tmp_path / dtype) as checkpoint, inert.open(prefix_of("slices")) as before:
            assert set(checkpoint.tensors["m"].components) == parts
            assert np.array_equal(checkpoint.tensors["m"].numpy(), before.tensors["m"].numpy().astype(dtype))
        assert len(sound(tmp_path / dtype)) == 3


def test_the_first_version_becomes_a_bundle(tmp_path: Path) -> None:
    for name in ("v1_file", "v1_shards", "v1_types"):
        done = inert.convert(HERE / name / facts(name)["prefix"] if name != "v1_shards" else HERE / name, tmp_path / f"{name}.index")
        assert done.lost == []
        with inert.open(HERE / name) as checkpoint:
            assert sound(tmp_path / name) == {name: tensor.sha256() for name, tensor in checkpoint.tensors.items()}
    with inert.open(tmp_path / "v1_shards") as checkpoint:
        assert checkpoint.tensors["p"].kind == "tiled"


# ------------------------------------------------------------------------------------------------------------------- objects, edits


def test_the_object_graph_stays_while_the_names_do(tmp_path: Path) -> None:
    prefix = prefix_of("objects")
    assert inert.convert(prefix, tmp_path / "cast", dtype="float64").lost == []
    with inert.open(prefix) as checkpoint, inert.open(tmp_path / "cast") as other:
        assert list(other.tensors) == list(checkpoint.tensors)
        assert other.tensors[GRAPH].sha256() == checkpoint.tensors[GRAPH].sha256()
        assert len(other.root) == len(checkpoint.root)
    for change in ({"rename": {"kernel": "core"}}, {"drop": ["*kernel*"]}):
        done = inert.convert(prefix, tmp_path / "other", **change)
        assert [name for name, _ in done.lost] == [GRAPH]
        assert "which is not there under this name any more" in done.lost[0][1]
        assert GRAPH not in sound(tmp_path / "other")


def test_tensors_by_name_can_be_changed(tmp_path: Path) -> None:
    with inert.open(prefix_of("names")) as checkpoint:
        index = checkpoint.tensors
        index["w"] = np.arange(3)
        index["new/one"] = np.zeros(2, np.float32)
        del index["tab\there"]
        index.rename("w/Adam", "w/m")
        assert checkpoint.root["new/one"] is index["new/one"]
        assert "tab\there" not in checkpoint.root
        assert list(checkpoint.root) == list(index)
        with pytest.raises(KeyError):
            del index["nothing"]
        with pytest.raises(ValueError, match="there already"):
            index.rename("w", "new/one")
        with pytest.raises(ValueError, match="needs a name"):
            index.rename("w", "")
        checkpoint.root["last"] = np.ones(1)
        checkpoint.save(tmp_path / "out")
        old = {name: tensor.sha256() for name, tensor in index.items()}
    made = sound(tmp_path / "out")
    assert sorted(made) == sorted([*old, "last"])
    assert {name: made[name] for name in old} == old
    assert made["w"] == inert.open(tmp_path / "out").tensors["w"].sha256()


def test_objects_by_name_can_be_changed(tmp_path: Path) -> None:
    with inert.open(prefix_of("objects")) as checkpoint:
        name = next(one for one in checkpoint.tensors if one.endswith("kernel/.ATTRIBUTES/VARIABLE_VALUE") and "SLOT" not in one)
        before = checkpoint.root
        checkpoint.tensors[name] = np.full((2, 3), 9, np.float32)
        assert checkpoint.root is not before  # the tree was made anew
        assert checkpoint.root["model"]["kernel"] is checkpoint.tensors[name]
        assert checkpoint.root["again"] is checkpoint.root["model"]
        assert checkpoint.save(tmp_path / "out").lost == []
        checkpoint.tensors["extra"] = np.zeros(1)
        assert checkpoint.save(tmp_path / "more").lost == []
        del checkpoint.tensors[name]
        assert [one for one, _ in checkpoint.save(tmp_path / "less").lost] == [GRAPH]
    with inert.open(tmp_path / "out") as checkpoint:
        assert checkpoint.tensors[name].numpy().tolist() == [[9.0] * 3] * 2
        assert checkpoint.root["again"] is checkpoint.root["model"]
    assert "extra" in sound(tmp_path / "more")
    assert name not in sound(tmp_path / "less")


def test_changes_in_a_tree_of_objects_are_refused(tmp_path: Path) -> None:
    with inert.open(prefix_of("objects")) as checkpoint:
        checkpoint.root["model"]["kernel"] = np.zeros(3)
        with pytest.raises(UnsupportedError, match=r"change ckpt\.tensors"):
            checkpoint.save(tmp_path / "out")
        with pytest.raises(UnsupportedError, match=r"change ckpt\.tensors"):
            checkpoint.tensors["x"] = np.zeros(1)
    assert list(tmp_path.iterdir()) == []


def test_a_root_of_its_own(tmp_path: Path) -> None:
    with inert.open(prefix_of("names")) as checkpoint:
        checkpoint.root = {"a": {"b": np.arange(2)}}
        checkpoint.save(tmp_path / "out")
    assert list(sound(tmp_path / "out")) == ["a.b"]


# ------------------------------------------------------------------------------------------------------------------- other formats


def test_there_and_back(tmp_path: Path) -> None:
    plain = {"float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "float8_e5m2"}
    keep = [f"x/{name}" for name in sorted(plain)]
    for suffix in (".safetensors", ".pt"):
        inert.convert(prefix_of("types"), tmp_path / f"m{suffix}", keep=keep)
        inert.convert(tmp_path / f"m{suffix}", tmp_path / f"back{suffix}.index")
        with inert.open(prefix_of("types")) as checkpoint:
            assert sound(tmp_path / f"back{suffix}") == {name: checkpoint.tensors[name].sha256() for name in sorted(keep)}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(prefix_of("names"))
    assert main(["convert", source, str(tmp_path / "a.npz")]) == 0
    assert main(["convert", source, str(tmp_path / "b"), "--rename", "^w=v", "--max-shard-size", "20", "--json"]) == 0
    made = json.loads(capsys.readouterr().out.partition("{")[2].join(("{", "")))
    assert [Path(name).name for name in made["written"]][-1] == "b.index"
    assert main(["convert", str(tmp_path / "b"), str(tmp_path / "c"), "--to", "tf-bundle", "--dtype", "float16"]) == 0
    with inert.open(tmp_path / "c") as checkpoint:
        assert {str(tensor.dtype) for tensor in checkpoint.tensors.values()} == {"float16"}
        assert "v/Adam" in checkpoint.tensors


# ------------------------------------------------------------------------------------------------------------------- tables


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 100])
def test_a_table_is_that_of_the_description(count: int) -> None:
    """tests/tf_tables.py writes the last key of a block as it is; TensorFlow's is the shortest that will do."""
    items = [(b"", HEADER)] + [(f"key{i:04d}".encode(), bytes(i)) for i in range(count)]
    made = tf_tables.table([*items[:-1], (items[-1][0], items[-1][1])])
    written = b"".join(table(items))
    size = len(tf_tables.block(items))
    assert written[: size + 5] == made[: size + 5]
    assert written[-8:] == made[-8:]
    assert len(written) == len(made) - (len(items[-1][0]) - 1 if count else 0)


def test_a_table_without_entries() -> None:
    assert b"".join(table([])) == tf_tables.table([])


def test_keys_between_blocks() -> None:
    """LevelDB util/comparator.cc: the shortest key where one byte can be raised at the place of the first difference."""
    assert between(b"abc1", b"abd") == b"abc1"
    assert between(b"abc1", b"abe") == b"abd"
    assert between(b"ab", b"abc") == b"ab"
    assert between(b"a\xff1", b"b") == b"a\xff1"
    assert between(b"a\xff1", b"c") == b"b"
    assert behind(b"layer") == b"m"
    assert behind(b"\xff\xffa") == b"\xff\xffb"
    assert behind(b"\xff\xff") == b"\xff\xff"
    assert [common(a, b) for a, b in ((b"", b"x"), (b"ab", b"abc"), (b"abx", b"aby"), (b"\0\0", b"\0\1"), (b"q", b"r"))] == [0, 2, 2, 1, 0]
