"""What inert writes as a TensorFlow checkpoint is what TensorFlow 2.21 writes of the same tensors, to the byte, and TensorFlow reads it: made
here, at random, in one environment with TensorFlow."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.tensor import Tensor
from tests.oracle.test_tensorflow_oracle import TYPES, at_random, letters, same
from tests.tf_tables import entry, field, shape, stored, table

tf = pytest.importorskip("tensorflow")

QUANTISED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}
Items = list[tuple[str, str, Any]]  # name, shape and slice, tensor


def saved(prefix: Path, items: Items) -> None:
    """Written by TensorFlow, in the order of the keys."""
    items = sorted(items, key=lambda item: item[0].encode())
    names, specs, tensors = zip(*items, strict=True)
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=list(names), shape_and_slices=list(specs), tensors=list(tensors))


def anew(checkpoint: inert.Checkpoint) -> dict[str, Tensor]:
    """Its tensors as if they were of no checkpoint: nothing is copied as a file."""
    return {name: Tensor(tensor.layout, tensor.limits) for name, tensor in checkpoint.tensors.items()}


def files(prefix: Path) -> dict[str, bytes]:
    return {path.name[len(prefix.name) :]: path.read_bytes() for path in prefix.parent.glob(f"{prefix.name}.*")}


def restored(prefix: Path, name: str, dtype: Any, spec: str = "") -> Any:
    return tf.raw_ops.RestoreV2(prefix=str(prefix), tensor_names=[name], shape_and_slices=[spec], dtypes=[dtype])[0]


def written_alike(tmp_path: Path, items: Items) -> None:
    """TensorFlow's files and inert's, of what inert has read of them: with the checksums that were stored, and made anew."""
    saved(tmp_path / "a", items)
    with inert.open(tmp_path / "a") as checkpoint:
        inert.save(anew(checkpoint), tmp_path / "b.index")
        tensors = anew(checkpoint)
        for tensor in tensors.values():
            for part in (tensor, *tensor.components.values()):
                assert part.storage is not None
                part.storage.crc32c = 0
        inert.save(tensors, tmp_path / "c", format="tf-bundle")
    assert files(tmp_path / "a") == files(tmp_path / "b") == files(tmp_path / "c")


@pytest.mark.parametrize("seed", range(30))
def test_bundles_at_random_are_the_same_to_the_byte(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    written_alike(tmp_path, [(name, "", at_random(rng)) for name in {letters(rng) for _ in range(rng.randrange(1, 40))}])


def test_every_type(tmp_path: Path) -> None:
    items: Items = [(name, "", tf.constant(np.array([0, 1, 1]).astype(tf.dtypes.as_dtype(name).as_numpy_dtype))) for name in TYPES]
    items += [(name, "", tf.bitcast(tf.constant(np.arange(6).reshape(2, 3), kind), name)) for name, kind in QUANTISED.items()]
    items += [("s", "", tf.constant(["", "x" * 300, b"\xff\0"])), ("s0", "", tf.constant("one")), ("s1", "", tf.constant([], tf.string))]
    written_alike(tmp_path, items)
    for name, _, tensor in items:
        again = restored(tmp_path / "b", name, tensor.dtype)
        if name in QUANTISED:
            assert (tf.bitcast(again, QUANTISED[name]) == tf.bitcast(tensor, QUANTISED[name])).numpy().all()
        else:
            assert np.asarray(again).tobytes() == np.asarray(tensor).tobytes() or tensor.dtype == tf.string
    assert same(tmp_path / "b") == len(items)


def test_from_arrays(tmp_path: Path) -> None:
    arrays = {
        name: np.arange(4).reshape(2, 2).astype(tf.dtypes.as_dtype(name).as_numpy_dtype) for name in TYPES if name not in ("float4_e2m1fn",)
    }
    inert.save({"a": arrays, "b": np.asfortranarray(np.arange(6.0).reshape(2, 3))}, tmp_path / "b.index")
    named = {f"a.{name}": array for name, array in arrays.items()} | {"b": np.arange(6.0).reshape(2, 3)}
    saved(tmp_path / "a", [(name, "", tf.constant(array)) for name, array in named.items()])
    assert files(tmp_path / "a") == files(tmp_path / "b")


@pytest.mark.parametrize("width", [1, 60])
def test_an_index_of_many_blocks(width: int, tmp_path: Path) -> None:
    names = [f"layer_{i % 99}/{'n' * width}{i * 7919 % 100003:06d}{chr(0x7F + i % 9)}" for i in range(20_000)]
    written_alike(tmp_path, [(name, "", tf.constant(float(i))) for i, name in enumerate(names)])


@pytest.mark.parametrize("seed", range(30))
def test_keys_at_random(seed: int, tmp_path: Path) -> None:
    """Keys that are close to each other in all ways, in blocks that a few large entries fill: shared prefixes and the index's short keys."""
    rng = random.Random(seed)
    long = "k" * 40_000
    names = {"".join(rng.choice("ab\x7f\x01") for _ in range(rng.randrange(1, 6))) + rng.choice(("", long)) for _ in range(60)}
    written_alike(tmp_path, [(name, "", tf.constant(1)) for name in names])


@pytest.mark.parametrize("seed", range(20))
def test_slices_at_random(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    whole = np.random.default_rng(seed).standard_normal((rng.randrange(2, 300), rng.randrange(1, 4), 3)).astype(np.float32)
    cuts = sorted(rng.sample(range(1, len(whole)), min(len(whole) - 1, rng.randrange(1, 4))))
    items: Items = [("a", "", tf.constant(1)), ("z", "", tf.constant("text"))]
    tail = rng.choice((":-:-", f":0,{whole.shape[1]}:0,3"))
    for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        items.append(("w", f"{len(whole)} {whole.shape[1]} 3 {start},{end - start}{tail}", tf.constant(whole[start:end])))
    written_alike(tmp_path, items)
    first = f"{len(whole)} {whole.shape[1]} 3 0,{cuts[0]}:-:-"
    assert (restored(tmp_path / "b", "w", tf.float32) == whole).numpy().all()
    assert (restored(tmp_path / "b", "w", tf.float32, first) == whole[: cuts[0]]).numpy().all()
    for dtype, parts in (("float64", len(cuts) + 1), ("float16", 0)):  # slices of the tensor that was cast, where TensorFlow can join them
        done = inert.convert(tmp_path / "a", tmp_path / dtype, dtype=dtype, rename={"^w$": "v"})
        assert done.renamed == {"w": "v"}
        assert (restored(tmp_path / dtype, "v", tf.dtypes.as_dtype(dtype)) == whole.astype(dtype)).numpy().all()
        with inert.open(tmp_path / dtype) as checkpoint:
            assert len(checkpoint.tensors["v"].components) == parts


@pytest.mark.parametrize("most", [1, 40, 1000])
def test_several_data_files(most: int, tmp_path: Path) -> None:
    items: Items = [(f"t{i}", "", tf.fill((i,), i)) for i in range(20)]
    saved(tmp_path / "a", items)
    done = inert.convert(tmp_path / "a", tmp_path / "b.index", max_shard_size=most)
    assert len(done.written) > 2 if most < 1000 else len(done.written) == 2
    assert all(Path(name).stat().st_size <= max(most, 76) for name in done.written[:-1])
    assert same(tmp_path / "b") == 20


def test_a_big_endian_bundle_becomes_the_little_endian_one(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype=np.float32)
    pairs = np.array([1 + 2j, -3j], np.complex64)
    parts = {b"c": (8, (2,), pairs.astype(">c8").tobytes()), b"n": (1, (6,), numbers.astype(">f4").tobytes())}
    items, data = {b"": field(1, 1) + field(2, 1) + field(3, field(1, 1))}, b""
    for key, (kind, sizes, raw) in parts.items():
        items[key] = entry(kind, sizes, len(data), len(raw), stored(raw))
        data += raw
    (tmp_path / "big.index").write_bytes(table(items))
    (tmp_path / "big.data-00000-of-00001").write_bytes(data)
    saved(tmp_path / "a", [("c", "", tf.constant(pairs)), ("n", "", tf.constant(numbers))])
    inert.convert(tmp_path / "big", tmp_path / "b")
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert shape(2) == field(2, field(1, 2))


class Model(tf.Module):  # type: ignore[misc]
    def __init__(self, value: float) -> None:
        super().__init__()
        self.kernel = tf.Variable(tf.fill((2, 3), value))
        self.parts = [tf.Variable(value), tf.Variable("text" if value else "")]


def test_objects_are_restored(tmp_path: Path) -> None:
    tf.train.Checkpoint(model=Model(7.0)).write(str(tmp_path / "a"))
    inert.convert(tmp_path / "a", tmp_path / "copy")
    assert files(tmp_path / "a") == files(tmp_path / "copy")
    with inert.open(tmp_path / "a") as checkpoint:
        name = next(name for name in checkpoint.tensors if "kernel" in name)
        checkpoint.tensors[name] = np.full((2, 3), 9, np.float32)
        assert checkpoint.save(tmp_path / "b").lost == []
    model = Model(0.0)
    tf.train.Checkpoint(model=model).read(str(tmp_path / "b")).assert_consumed()
    assert model.kernel.numpy().tolist() == [[9.0] * 3] * 2
    assert [part.numpy() for part in model.parts] == [7.0, b"text"]
    lost = inert.convert(tmp_path / "a", tmp_path / "c", rename={"kernel": "core"}).lost
    assert [name for name, _ in lost] == ["_CHECKPOINTABLE_OBJECT_GRAPH"]
    assert same(tmp_path / "c") == 3


def test_an_iterator_is_kept(tmp_path: Path) -> None:
    found = iter(tf.data.Dataset.range(5))
    next(found)
    tf.train.Checkpoint(iterator=found).write(str(tmp_path / "a"))
    with inert.open(tmp_path / "a") as checkpoint:
        checkpoint.tensors["more"] = np.arange(3)
        assert checkpoint.save(tmp_path / "b").lost == []
    other = iter(tf.data.Dataset.range(5))
    tf.train.Checkpoint(iterator=other).restore(str(tmp_path / "b"))
    assert next(other).numpy() == 1


def test_by_way_of_other_formats(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    items: Items = [(f"layer/{i}", "", tf.constant(rng.standard_normal((3, i)).astype(np.float32))) for i in range(5)]
    saved(tmp_path / "a", items)
    inert.convert(tmp_path / "a", tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz") as archive:
        assert {name: archive[name].tolist() for name in archive} == {name: tensor.numpy().tolist() for name, _, tensor in items}
    for suffix in (".safetensors", ".pt", ".pth"):
        inert.convert(tmp_path / "a", tmp_path / f"m{suffix}", to="torch-legacy" if suffix == ".pth" else None)
        inert.convert(tmp_path / f"m{suffix}", tmp_path / f"back{suffix}.index")
        assert files(tmp_path / "a") == files(tmp_path / f"back{suffix}")


@pytest.mark.parametrize("seed", range(5))
def test_strings_in_slices(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    whole = np.array([rng.randbytes(rng.choice((0, 1, 7, 200))) for _ in range(2 * rng.randrange(3, 20))], object).reshape(-1, 2)
    cuts = sorted(rng.sample(range(1, len(whole)), min(len(whole) - 1, rng.randrange(1, 4))))
    specs = [f"{len(whole)} 2 {start},{end - start}:-" for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    parts = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    written_alike(tmp_path, [("s", spec, tf.constant(part, tf.string)) for spec, part in zip(specs, parts, strict=True)])
    inert.convert(tmp_path / "a", tmp_path / "d", rename={"s": "text"})
    for spec, part in zip(specs, parts, strict=True):
        assert restored(tmp_path / "d", "text", tf.string, spec).numpy().tolist() == part.tolist()
    with inert.open(tmp_path / "d") as checkpoint:
        assert checkpoint.tensors["text"].numpy().tolist() == whole.tolist()


@pytest.mark.parametrize("alignment", [8, 64, 4096])
def test_aligned_data_is_read(alignment: int, tmp_path: Path) -> None:
    rng = random.Random(alignment)
    saved(tmp_path / "a", [(f"{number}", "", at_random(rng)) for number in range(30)])
    inert.convert(tmp_path / "a", tmp_path / "b", to="tf-bundle", alignment=alignment, max_shard_size=10_000)
    assert same(tmp_path / "b") == 30
    before, after = (tf.train.load_checkpoint(str(tmp_path / which)) for which in "ab")
    assert before.get_variable_to_shape_map() == after.get_variable_to_shape_map()
    for name, dtype in before.get_variable_to_dtype_map().items():
        first, second = np.asarray(before.get_tensor(name)), np.asarray(after.get_tensor(name))
        assert first.tolist() == second.tolist() if dtype == tf.string else first.tobytes() == second.tobytes()


def test_big_endian_bundles_of_every_type(tmp_path: Path) -> None:
    """TensorFlow swaps them when it reads; inert when it reads and when it writes. Of the newest types, which have one byte an element,
    TensorFlow reads no big-endian bundle, and inert makes it one that it reads."""
    items, data, arrays = {b"": field(1, 1) + field(2, 1) + field(3, field(1, 1))}, b"", {}
    for name in sorted(TYPES):
        dtype = tf.dtypes.as_dtype(name)
        array = arrays[name] = (np.arange(6).reshape(2, 3) % (2 if dtype.size == 1 else 6)).astype(dtype.as_numpy_dtype)
        unit = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
        raw = array.reshape(-1).view(f"u{unit}").byteswap().tobytes()
        items[name.encode()] = entry(dtype.as_datatype_enum, (2, 3), len(data), len(raw), stored(raw))
        data += raw
    (tmp_path / "big.index").write_bytes(table(items))
    (tmp_path / "big.data-00000-of-00001").write_bytes(data)
    inert.convert(tmp_path / "big", tmp_path / "little")
    assert same(tmp_path / "little") == len(TYPES)
    big, little = (tf.train.load_checkpoint(str(tmp_path / name)) for name in ("big", "little"))
    with inert.open(tmp_path / "big") as checkpoint:
        for name, array in arrays.items():
            assert b"".join(checkpoint.tensors[name].chunks()) == array.tobytes() == np.asarray(little.get_tensor(name)).tobytes()
            if tf.dtypes.as_dtype(name).as_datatype_enum < 24:
                assert np.asarray(big.get_tensor(name)).tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_out_of_an_archive(kind: str, tmp_path: Path) -> None:
    tf.train.Checkpoint(model=Model(7.0)).save(str(tmp_path / "run" / "ckpt"))
    shutil.make_archive(str(tmp_path / "run"), kind, tmp_path, "run")
    inert.convert(f"{tmp_path / 'run'}.{kind}", tmp_path / "out.index")
    assert files(tmp_path / "run" / "ckpt-1") == files(tmp_path / "out")
    model = Model(0.0)
    tf.train.Checkpoint(model=model).read(str(tmp_path / "out")).assert_existing_objects_matched()
    assert model.kernel.numpy().tolist() == [[7.0] * 3] * 2
