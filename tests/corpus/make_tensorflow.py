"""Makes the folders of tf/: python make_tensorflow.py [NAME …] (tensorflow-cpu 2.21.0; run make_manifest.py afterwards).

NAME/ holds one checkpoint; NAME.expected.json is what tf.train.load_checkpoint reads from it: every tensor that tf.train.list_variables
names, with the SHA-256 of its elements, or of each string. What TensorFlow refuses to read says so (``refused``).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "tf"
v1 = tf.compat.v1

PLAIN = (
    "float32", "float64", "int32", "uint8", "int16", "int8", "complex64", "int64", "bool", "bfloat16", "uint16", "complex128", "float16",
    "uint32", "uint64", "float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz", "float8_e5m2fnuz",
    "int4", "uint4", "int2", "uint2", "float4_e2m1fn",
)  # fmt: skip
QUANTISED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}


def values(name: str) -> Any:
    """A tensor of two by three elements of a type."""
    numbers = np.array([[0, 1, 1], [0, 1, 0]])
    dtype = getattr(tf.dtypes, name, None) or tf.dtypes.as_dtype(name)
    if name in QUANTISED:
        return tf.bitcast(tf.constant(np.arange(6).reshape(2, 3), QUANTISED[name]), dtype)
    kind = dtype.as_numpy_dtype
    small = name.startswith(("int2", "uint2", "int4", "uint4", "float4", "bool"))
    return tf.constant((numbers if small else np.arange(6).reshape(2, 3)).astype(kind), dtype)


def save(prefix: Path, tensors: dict[str, Any], slices: dict[str, str] | None = None) -> None:
    names = list(tensors)
    specs = [(slices or {}).get(name, "") for name in names]
    tf.raw_ops.SaveV2(
        prefix=str(prefix), tensor_names=[n.partition("|")[0] for n in names], shape_and_slices=specs, tensors=list(tensors.values())
    )


def types(folder: Path) -> None:
    save(
        folder / "types",
        {f"x/{name}": values(name) for name in (*PLAIN, *QUANTISED)} | {"scalar": tf.constant(2.5), "none": tf.zeros((0, 2))},
    )


def strings(folder: Path) -> None:
    texts = {"s": tf.constant([["", "abc"], ["é" * 5, b"\xff\x00"]]), "scalar": tf.constant("one"), "none": tf.zeros((0,), tf.string)}
    save(folder / "strings", texts | {"long": tf.constant(["x" * 300, "y"]), "number": tf.constant(7)})


def names(folder: Path) -> None:
    odd = [
        "a/b:0",
        " space ",
        "é/日本",
        "dots.in.it",
        "tab\there",
        "x" * 300,
        "w",
        "w/Adam",
        "w/Adam_1",
        "beta1_power",
        "w/ExponentialMovingAverage",
    ]
    save(folder / "names", {name: tf.constant(float(i)) for i, name in enumerate(odd)})


def slices(folder: Path) -> None:
    whole = tf.reshape(tf.range(48.0), (6, 8))
    parts = {"m|0": whole[:2, :], "m|1": whole[2:, :3], "m|2": whole[2:, 3:], "v": tf.range(4), "b|0": tf.range(3), "b|1": tf.range(3, 7)}
    specs = {"m|0": "6 8 0,2:-", "m|1": "6 8 2,4:0,3", "m|2": "6 8 2,4:3,5", "b|0": "7 0,3", "b|1": "7 3,4"}
    save(folder / "slices", parts, specs)


TEXTS = {"t|0": "5 2 0,3:-", "t|1": "5 2 3,2:0,1", "t|2": "5 2 3,2:1,1"}  # TensorFlow restores such slices, and joins none of them


def string_slices(folder: Path) -> None:
    whole = np.array([[b"", b"one"], [b"\xff\x00", b"x" * 200], [b"two", b""], [b"a", b"b"], [b"c" * 30, "\u00e9".encode()]], object)
    parts = {"t|0": whole[:3], "t|1": whole[3:, :1], "t|2": whole[3:, 1:]}
    save(folder / "string_slices", {name: tf.constant(part, tf.string) for name, part in parts.items()} | {"w": tf.constant(1.5)}, TEXTS)


def put_together(prefix: Path, name: str, shape: list[int]) -> Any:
    """What RestoreV2 gives of the slices of TEXTS, each at its place."""
    made = np.empty(shape, object)
    for spec in TEXTS.values():
        box = [
            slice(None) if one == "-" else slice(int(one.split(",")[0]), sum(map(int, one.split(","))))
            for one in spec.split()[-1].split(":")
        ]
        read = tf.raw_ops.RestoreV2(prefix=str(prefix), tensor_names=[name], shape_and_slices=[spec], dtypes=[tf.string])[0]
        made[tuple(box)] = read.numpy()
    return made


def ordered(folder: Path) -> None:
    """Saved in the order of the keys, which is that of the data then: what a writer can be held against, byte for byte."""
    whole = tf.reshape(tf.range(48.0), (6, 8))
    parts = {"m|0": whole[:2, :], "m|1": whole[2:, :3], "m|2": whole[2:, 3:], "b|0": tf.range(3), "b|1": tf.range(3, 7)}
    specs = {"m|0": "6 8 0,2:-", "m|1": "6 8 2,4:0,3", "m|2": "6 8 2,4:3,5", "b|0": "7 0,3", "b|1": "7 3,4"}
    texts = {"s": tf.constant([["", "abc"], ["é" * 5, b"\xff\x00"]]), "scalar": tf.constant("one"), "long": tf.constant(["x" * 300, "y"])}
    many = {f"layer_{i:03d}/kernel": tf.fill((1, i % 3), i) for i in range(40)}
    tensors = (
        parts
        | texts
        | many
        | {f"x/{name}": values(name) for name in (*PLAIN, *QUANTISED)}
        | {"none": tf.zeros((0, 2)), "é": tf.constant(1)}
    )
    save(folder / "ordered", dict(sorted(tensors.items(), key=lambda item: item[0].encode())), specs)


def hole(folder: Path) -> None:
    whole = tf.reshape(tf.range(24.0), (6, 4))
    save(folder / "hole", {"m|0": whole[:2], "m|1": whole[4:], "w": tf.constant(1)}, {"m|0": "6 4 0,2:-", "m|1": "6 4 4,2:-"})


def shards(folder: Path, merge: bool = True) -> None:
    """Parts of one save, each of a process of its own, before and after they are merged."""
    whole = tf.reshape(tf.range(24), (4, 6))
    parts = [folder / "parts_temp" / f"part-{number:05d}-of-00003" for number in range(3)]
    for number, part in enumerate(parts[:2]):
        save(part, {f"only/{number}": tf.fill((2,), number), "m": whole[2 * number : 2 * number + 2]}, {"m": f"4 6 {2 * number},2:-"})
    save(parts[2], {"last": tf.constant(["text"])})
    if merge:
        tf.raw_ops.MergeV2Checkpoints(
            checkpoint_prefixes=list(map(str, parts)), destination_prefix=str(folder / "shards"), delete_old_dirs=True
        )


class Layer(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kernel = tf.Variable(tf.reshape(tf.range(6.0), (2, 3)), name="kernel")
        self.parts = [tf.Variable(1.0, name="a"), tf.Variable([2, 3], name="b")]
        self.by_name = {"x/y": tf.Variable(True), "k.z": tf.Variable("text")}
        self.self = self  # a cycle


def objects(folder: Path) -> None:
    layer, optimizer = Layer(), v1.train.AdamOptimizer(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer.kernel) + layer.parts[0]
    variables = [layer.kernel, layer.parts[0]]
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    made = tf.train.Checkpoint(model=layer, again=layer, optimizer=optimizer, step=tf.Variable(3, dtype=tf.int64, name="step"))
    manager = tf.train.CheckpointManager(made, str(folder), max_to_keep=2)
    manager.save()
    manager.save()


def keras(folder: Path) -> None:
    """A model and an optimizer of Keras 3, whose slots have no place of their own in the graph."""
    model = tf.keras.Sequential([tf.keras.layers.Input((2,)), tf.keras.layers.Dense(3, name="a_b"), tf.keras.layers.Dense(1, name="c")])
    optimizer = tf.keras.optimizers.Adam()
    model.compile(optimizer, "mse")
    model.fit(np.zeros((2, 2)), np.zeros((2, 1)), verbose=0)
    tf.train.Checkpoint(model=model, optimizer=optimizer).write(str(folder / "keras"))


def iterator(folder: Path) -> None:
    found = iter(tf.data.Dataset.range(5))
    next(found)
    tf.train.Checkpoint(iterator=found).write(str(folder / "iterator"))


def saved_model(folder: Path) -> None:
    tf.saved_model.save(Layer(), str(folder))
    shutil.rmtree(folder / "assets", ignore_errors=True)


def saver(folder: Path, version: int, sharded: bool, partitioned: bool = False) -> None:
    with tf.Graph().as_default():
        split = v1.fixed_size_partitioner(3) if partitioned else None
        for number in range(3):
            with tf.device(f"/cpu:{number}"):
                v1.get_variable(f"v{number}", initializer=np.arange(6.0, dtype=np.float32).reshape(2, 3) + number, use_resource=False)
                v1.get_variable(f"step{number}", initializer=np.array([number, -number, 1 << 20], np.int32), use_resource=False)
        if partitioned:
            v1.get_variable("p", (7, 2), initializer=v1.random_uniform_initializer(seed=1), partitioner=split, use_resource=False)
        with v1.Session(config=v1.ConfigProto(device_count={"CPU": 3})) as session:
            session.run(v1.global_variables_initializer())
            made = v1.train.Saver(write_version=version, sharded=sharded)
            made.save(session, str(folder / "model.ckpt"), global_step=7, write_meta_graph=False)
    state = folder / "checkpoint"  # it holds whole paths, which mean nothing to anybody else
    state.write_text(state.read_text(encoding="utf-8").replace(str(folder), "/home/author/run"), encoding="utf-8")


def first_types(folder: Path) -> None:
    held = (
        "float32",
        "float64",
        "int32",
        "uint8",
        "int16",
        "int8",
        "complex64",
        "int64",
        "bool",
        "uint16",
        "complex128",
        "float16",
        "qint8",
        "quint8",
        "qint32",
    )
    named = {name: values(name) for name in held} | {
        "string": tf.constant(["", "abc"]),
        "negative": tf.constant([-1, -(1 << 62)], tf.int64),
    }
    with tf.Graph().as_default(), v1.Session() as session:
        fed = {name: v1.placeholder(value.dtype, value.shape) for name, value in named.items()}
        saved = tf.raw_ops.SaveSlices(
            filename=str(folder / "first"), tensor_names=list(named), shapes_and_slices=[""] * len(named), data=list(fed.values())
        )
        session.run(saved, {fed[name]: value.numpy() if hasattr(value, "numpy") else value for name, value in named.items()})


CASES: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "types": ("types", types, "every element type that SaveV2 takes, a scalar, no elements"),
    "strings": ("strings", strings, "strings: empty, with bytes that are no text, long, scalar, none"),
    "names": ("names", names, "odd names, and the slots of an optimizer of TensorFlow 1"),
    "slices": ("slices", slices, "partitioned tensors: rows and columns, one dimension"),
    "string_slices": ("string_slices", string_slices, "a partitioned tensor of strings, which RestoreV2 gives slice by slice"),
    "ordered": ("ordered", ordered, "types, strings, slices and many small tensors, saved in the order of their keys"),
    "hole": ("hole", hole, "a partitioned tensor of which rows were never saved: TensorFlow refuses it"),
    "shards": ("shards", shards, "parts of three processes, merged: a partitioned tensor over two shards"),
    "objects": ("ckpt-2", objects, "tf.train.CheckpointManager: objects, a cycle, slots of an optimizer, a state file"),
    "keras": ("keras", keras, "a model and an optimizer of Keras 3"),
    "iterator": ("iterator", iterator, "an iterator of tf.data: a variant tensor"),
    "saved_model": ("variables/variables", saved_model, "a SavedModel"),
    "v1_file": ("model.ckpt-7", lambda folder: saver(folder, 1, sharded=False), "Saver, first version, one file"),
    "v1_shards": ("model.ckpt-7", lambda folder: saver(folder, 1, sharded=True, partitioned=True), "Saver, first version, sharded and partitioned"),
    "v2_shards": ("model.ckpt-7", lambda folder: saver(folder, 2, sharded=True, partitioned=True), "Saver, bundles, sharded and partitioned"),
    "v1_types": ("first", first_types, "every element type of the first version"),
}  # fmt: skip


NOTES = {"hole": ["tensor-damaged"], **{name: ["tf-state-path"] for name in ("v1_file", "v1_shards", "v2_shards")}}


def described(prefix: Path) -> list[dict[str, Any]]:
    sharded = not prefix.exists() and not prefix.with_name(f"{prefix.name}.index").exists()  # the first version wants a pattern
    pattern = f"{prefix}-?????-of-?????" if sharded else str(prefix)
    reader = tf.train.load_checkpoint(pattern)
    types = reader.get_variable_to_dtype_map()
    rows = []
    for name, shape in sorted(reader.get_variable_to_shape_map().items()):
        row: dict[str, Any] = {"path": [["key", name]], "name": name, "dtype": types[name].name, "shape": list(shape)}
        try:
            value = np.asarray(reader.get_tensor(name))
        except Exception as error:
            try:  # the reader of the first version knows few types and no slices; the operation knows all of them
                value = np.asarray(tf.raw_ops.Restore(file_pattern=pattern, tensor_name=name, dt=types[name]).numpy())
            except Exception:
                value = put_together(prefix, name, shape) if prefix.name == "string_slices" else None
            if value is None:
                rows.append(row | {"refused": str(error)[:200]})
                continue
        if types[name] == tf.string:
            texts = [item if isinstance(item, bytes) else bytes(item) for item in value.astype(object).reshape(-1).tolist()]
            row["strings"] = [[len(text), hashlib.sha256(text).hexdigest()] for text in texts]
        else:
            row["sha256"] = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        rows.append(row)
    return rows


def main() -> None:
    for name, (prefix, make, why) in CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        folder = FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make(folder)
        facts = {
            "writer": f"tensorflow {tf.__version__}",
            "why": why,
            "format": "tf-v1" if name.startswith("v1_") else "tf-bundle",
            "prefix": prefix,
            "notes": NOTES.get(name, []),
            "tensors": described(folder / prefix),
            "leaves": [],
        }
        (FOLDER / f"{name}.expected.json").write_text(json.dumps(facts, indent=None, ensure_ascii=True) + "\n", encoding="utf-8")
    if sys.argv[1:] and "unmerged" not in sys.argv[1:]:
        return
    shutil.rmtree(FOLDER / "unmerged", ignore_errors=True)
    (FOLDER / "unmerged").mkdir()
    shards(FOLDER / "unmerged", merge=False)
    facts = json.loads((FOLDER / "shards.expected.json").read_text(encoding="utf-8"))
    facts |= {"why": "parts of three processes, never merged; what TensorFlow reads from them once they are", "notes": ["tf-unmerged"]}
    facts["prefix"] = "parts"
    (FOLDER / "unmerged.expected.json").write_text(json.dumps(facts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
