"""Whatever can be opened and converted: in each format that can be written, a name and its hash are the same or listed as lost, and renaming does what it says.

The head of an input says the format and the options; the rest is a file, or the members of one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from asking import LIMITS, answer, contents, joined, members, parted, scratch, zipped
from driver import instrument, run

with instrument():
    import inert
    from inert.errors import InertError

READS = (
    "ops.convert", "ops.select", "ops.shape", "ops.cast", "ops.plain", "ops.plain_values", "ops.walk", "ops.views", "ops.wrap", "writers.safetensors", "writers.sharded", "writers.tf_bundle",
    "writers.npz", "writers.npy", "writers.flat", "writers.roots", "tensorflow.graph", "tensorflow.strings", "containers.sstablewrite",
)  # fmt: skip
TARGETS = ("torch-zip", "torch-legacy", "safetensors", "npz", "tf-bundle", "sharded", "npy", "torchscript")
NAMES = {
    "torch-zip": "out.pt",
    "torch-legacy": "out.pth",
    "safetensors": "out.safetensors",
    "npz": "out.npz",
    "tf-bundle": "out.index",
    "sharded": "out.safetensors.index.json",
    "npy": "out.npy",
    "torchscript": "out.ptl",
}
OPTIONS: tuple[dict[str, Any], ...] = (
    {}, {"shared": "copy"}, {"rename": {"^": "n/"}}, {"dense": True}, {"for_weights_only": True}, {"unwrap": True}, {"compact": True}, {"dtype": "bf16"}, {"protocol": 4},
    {"leaves": "metadata"}, {"leaves": "sidecar"}, {"max_shard_size": 64}, {"numpy": 2}, {"device": "cpu"}, {"rebuild": "v2"}, {"strip": True}, {"lightning": "2.6.0"}, {"drop": ["*0*"]},
)  # fmt: skip
SAME = frozenset(("shared", "protocol", "leaves", "max_shard_size", "numpy", "device"))  # options that leave names and elements alone
KINDS = ("dense", "numpy", "quantized", "tiled", "strings")


def hashes(path: Path) -> dict[str, Any]:
    if path.suffix in (".npz", ".npy"):
        with np.errstate(all="ignore"):
            held = np.load(path, allow_pickle=False)
            return {name: held[name].shape for name in held.files} if path.suffix == ".npz" else {"": held.shape}
    with inert.open(path, limits=LIMITS) as checkpoint:
        assert str(checkpoint.notes)
        return {name: answer(tensor.sha256) for name, tensor in checkpoint.tensors.items() if tensor.kind in KINDS}


def one(data: bytes) -> None:
    head, files = parted(data)
    head, raw = (head, zipped(data).getvalue()) if files else (data[-2:], data[:-2])
    if len(head) < 2:
        return
    folder = scratch().filled({})
    source = folder / "in.pt"
    source.write_bytes(raw)
    format, options = TARGETS[head[0] % len(TARGETS)], OPTIONS[head[1] % len(OPTIONS)]
    out = folder / "out"
    out.mkdir()
    path = out / NAMES[format]
    try:
        with inert.open(source, limits=LIMITS) as checkpoint:
            if len(checkpoint.tensors) > 60:
                return
            before = {name: answer(tensor.sha256) for name, tensor in checkpoint.tensors.items() if tensor.kind in KINDS}
            shapes = {name: tensor.shape for name, tensor in checkpoint.tensors.items()}
    except InertError:
        return
    try:
        done = inert.convert(source, path, to=None if "max_shard_size" in options else format, limits=LIMITS, sync=False, **options)
    except InertError as error:
        assert str(error).isprintable()
        assert not list(out.iterdir()), "a destination that was begun"
        return
    assert source.read_bytes() == raw
    assert all(Path(one).is_file() for one in done.written)
    assert all(why.isprintable() and why for _, why in done.lost)
    assert all(str(note).isprintable() for note in done.notes)
    written = [Path(one) for one in done.written if not one.endswith(".safetensors.json") and one != f"{path}.json"]  # no sidecar of leaves
    first = next((one for one in written if one.name.endswith((".index", ".index.json"))), written[0])
    found = hashes(first)
    if not options.keys() <= SAME or first.suffix == ".npy":
        return
    lost = {name for name, _ in done.lost}
    if first.suffix == ".npz":
        assert all(found.get(name or "arr_0") == shapes[name] or name in lost for name in before)
        return
    missing = {name for name, said in before.items() if found.get(name) != said and name not in lost and not aliased(first, name)}
    assert not missing, {name: (before[name], found.get(name)) for name in missing}


def aliased(path: Path, name: str) -> bool:
    """Whether the written file says of a name that another stands for it."""
    with inert.open(path, limits=LIMITS) as checkpoint:
        return name in checkpoint.content.aliases(checkpoint.tensors)


WHOLE = contents("legacy/*.pt", "safetensors/*.safetensors", "pickles/numpy-p[24].pkl", "old/tar.pth", most=4000)
PARTS = ("torch/small.pt", "torch/sharing.pt", "torch/views.pt", "torch/parameters.pt", "torch/sparse.pt", "torch/quantized.pt", "torch/dtypes.pt", "torch/python_objects.pt", "torch/numpy_objects.pt",
         "torch/custom_objects.pt", "torch/nested.pt", "torch/conj_neg.pt", "lightning/*.ckpt", "script/module.pt", "script/kinds.pt", "crafted/big_endian.pt", "distributed/*.pt")  # fmt: skip
HEADS = [bytes((a, b)) for a in range(len(TARGETS)) for b in range(len(OPTIONS))]

run(
    one,
    seeds=[
        *[joined(parted(data)[1], HEADS[(number * 5 + step * 31) % len(HEADS)]) for number, data in enumerate(members(*PARTS, most=14_000)) for step in range(3)],
        *[data + HEADS[(number * 7 + step * 29) % len(HEADS)] for number, data in enumerate(WHOLE) for step in range(3)],
    ],
    smoke=350,
)  # fmt: skip
