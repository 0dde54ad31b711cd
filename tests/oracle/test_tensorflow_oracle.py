"""What inert reads of TensorFlow's checkpoints is what TensorFlow 2.21 reads, of files made here, at random, by TensorFlow itself; and what
no TensorFlow writes (Snappy, several blocks, big-endian files) is read by both alike."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.formats.tf_checks import tensor_checks
from tests.tf_tables import entry, field, shape, stored, table

tf = pytest.importorskip("tensorflow")

TYPES = (
    "float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64", "bool", "bfloat16", "uint16", "complex128", "float16", "uint32",
    "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz", "int4", "uint4", "int2", "uint2", "float4_e2m1fn",
)  # fmt: skip


def test_tensorflow_is_the_version_that_the_facts_were_checked_against() -> None:
    assert tf.__version__ == "2.21.0"


def same(prefix: Path, path: Path | None = None) -> int:
    """How many tensors both read, all of them alike."""
    reader = tf.train.load_checkpoint(str(prefix))
    types = reader.get_variable_to_dtype_map()
    with inert.open(path or prefix) as checkpoint:
        assert [(name, list(tensor.shape)) for name, tensor in checkpoint.tensors.items()] == tf.train.list_variables(str(prefix))
        for name, tensor in checkpoint.tensors.items():
            assert str(tensor.dtype) == types[name].name
            wanted = np.asarray(reader.get_tensor(name))
            if tensor.dtype == "string":
                assert tensor.numpy().tolist() == wanted.tolist()
            else:
                assert b"".join(tensor.chunks()) == wanted.tobytes()
                assert tensor.numpy().dtype == wanted.dtype
        assert not checkpoint.errors
        if checkpoint.format == "tf-bundle":
            assert list(tensor_checks(checkpoint.content)) == []
        return len(checkpoint.tensors)


def at_random(rng: random.Random) -> Any:
    sizes = [rng.randrange(5) for _ in range(rng.randrange(4))]
    name = rng.choice((*TYPES, "string"))
    if name == "string":
        return tf.constant(
            np.array([rng.randbytes(rng.choice((0, 1, 5, 200))) for _ in range(int(np.prod(sizes)))], object).reshape(sizes), tf.string
        )
    dtype = tf.dtypes.as_dtype(name)
    return tf.constant(np.random.default_rng(rng.randrange(99)).integers(0, 2, sizes).astype(dtype.as_numpy_dtype), dtype)


def letters(rng: random.Random) -> str:
    return "".join(rng.choice("abc/_.é\t0") for _ in range(rng.randrange(1, 30)))


@pytest.mark.parametrize("seed", range(30))
def test_bundles_at_random(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    tensors = {letters(rng): at_random(rng) for _ in range(rng.randrange(1, 40))}
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "m"), tensor_names=list(tensors), shape_and_slices=[""] * len(tensors), tensors=list(tensors.values())
    )
    assert same(tmp_path / "m") == len(tensors)


def test_an_index_of_several_blocks(tmp_path: Path) -> None:
    tensors = {f"layer_{i:05d}/{'n' * 60}{i * 7919 % 100003:06d}": tf.constant(i) for i in range(9000)}
    tf.raw_ops.SaveV2(
        prefix=str(tmp_path / "m"), tensor_names=list(tensors), shape_and_slices=[""] * len(tensors), tensors=list(tensors.values())
    )
    with inert.open(tmp_path / "m") as checkpoint:
        assert len(checkpoint.content.bundles[0].table.handles) > 1  # type: ignore[attr-defined]
    assert same(tmp_path / "m") == 9000


@pytest.mark.parametrize("seed", range(20))
def test_slices_at_random(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    sizes = [rng.randrange(1, 9) for _ in range(rng.randrange(1, 4))]
    whole = np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)
    boxes = [[(0, size) for size in sizes]]
    for _ in range(rng.randrange(6)):
        box = boxes.pop(rng.randrange(len(boxes)))
        axis = rng.randrange(len(sizes))
        at, size = box[axis]
        half = rng.randrange(1, size) if size > 1 else 0
        boxes += [[*box[:axis], (at, half), *box[axis + 1 :]], [*box[:axis], (at + half, size - half), *box[axis + 1 :]]] if half else [box]
    spelt = [
        " ".join(
            [
                *map(str, sizes),
                ":".join(
                    "-" if (at, n) == (0, most) and rng.random() < 0.5 else f"{at},{n}" for (at, n), most in zip(box, sizes, strict=True)
                ),
            ]
        )
        for box in boxes
    ]
    parts = [tf.constant(whole[tuple(slice(at, at + n) for at, n in box)]) for box in boxes]
    tf.raw_ops.SaveV2(prefix=str(tmp_path / "m"), tensor_names=["v"] * len(parts), shape_and_slices=spelt, tensors=parts)
    assert same(tmp_path / "m") == 1


def test_objects_and_savers(tmp_path: Path) -> None:
    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [tf.Variable(tf.ones((3, 2)), name=f"w{i}") for i in range(5)]
            self.names = {"a.b/c": tf.Variable(["x"])}

    model = Model()
    prefix = tf.train.Checkpoint(model=model, step=tf.Variable(1)).save(str(tmp_path / "ckpt"))
    assert same(Path(prefix), tmp_path) == 9
    tf.saved_model.save(model, str(tmp_path / "saved"))
    assert same(tmp_path / "saved" / "variables" / "variables", tmp_path / "saved") == 7


def test_blocks_that_are_compressed_are_read_by_both(tmp_path: Path) -> None:
    items = {b"": field(1, 1) + field(3, field(1, 1))}
    items |= {b"t%04d" % number: entry(4, (1,), number, 1, stored(bytes((number % 256,)))) for number in range(600)}
    (tmp_path / "m.index").write_bytes(table(items, size=2000, kind=1))
    (tmp_path / "m.data-00000-of-00001").write_bytes(bytes(number % 256 for number in range(600)))
    assert same(tmp_path / "m") == 600


def test_a_big_endian_bundle_is_read_by_both(tmp_path: Path) -> None:
    text = b"\x03" + struct.pack(">I", 0) + b"abc"
    array = (np.arange(6) * (2 - 1j)).astype(">c16")
    from google_crc32c import extend, value

    from tests.tf_tables import mask

    lengths = value(struct.pack(">I", 3))
    text = b"\x03" + struct.pack(">I", mask(lengths)) + b"abc"
    data = array.tobytes() + text
    items = {
        b"": field(1, 1) + field(2, 1) + field(3, field(1, 1)),
        b"c": entry(18, (6,), 0, 96, stored(array.tobytes())),
        b"s": field(1, 7)
        + field(2, shape())
        + field(4, 96)
        + field(5, len(text))
        + b"\x35"
        + struct.pack("<I", mask(extend(lengths, text[1:]))),
    }
    (tmp_path / "m.index").write_bytes(table(items))
    (tmp_path / "m.data-00000-of-00001").write_bytes(data)
    assert same(tmp_path / "m") == 2


@pytest.mark.parametrize("seed", range(10))
def test_the_first_version_at_random(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    tensors = {
        f"{letters(rng)}{number}": tensor
        for number in range(20)
        if (tensor := at_random(rng)).dtype in (tf.float32, tf.int32, tf.int64, tf.float64, tf.complex64, tf.uint8, tf.string)
    }
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        fed = {name: tf.compat.v1.placeholder(value.dtype, value.shape) for name, value in tensors.items()}
        made = tf.raw_ops.SaveSlices(
            filename=str(tmp_path / "m"), tensor_names=list(fed), shapes_and_slices=[""] * len(fed), data=list(fed.values())
        )
        session.run(made, {fed[name]: value.numpy() for name, value in tensors.items()})
    with inert.open(tmp_path / "m") as checkpoint:
        assert checkpoint.format == "tf-v1"
        assert set(checkpoint.tensors) == set(tensors)
        for name, value in tensors.items():
            read = tf.raw_ops.Restore(file_pattern=str(tmp_path / "m"), tensor_name=name, dt=value.dtype).numpy()
            tensor = checkpoint.tensors[name]
            assert tensor.shape == value.shape
            assert tensor.numpy().tolist() == np.asarray(read).tolist(), name
        assert not checkpoint.notes
