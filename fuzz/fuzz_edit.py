"""Whatever is renamed, replaced, deleted and added in a checkpoint that can be opened: what is saved and opened again is equal but for the edit.

The head of an input says the edits, two bytes each; the rest is a file, or the members of one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from asking import LIMITS, MARK, answer, contents, joined, members, parted, scratch, zipped
from driver import instrument, run

with instrument():
    import inert
    from inert.errors import InertError, UnsupportedError
    from inert.index import TensorIndex

READS = (
    "saving", "sink", "torch.changes", "torch.unbuild", "torch.storing", "torch.needs", "writers", "writers.torch_zip", "writers.torch_legacy", "writers.torchscript", "writers.torch_pickle",
    "containers.zipwrite", "memory", "pickle.style", "pickle.spelling", "pickle.leaves", "pickle.kinds", "pickle.rowcopy",
)  # fmt: skip
SUFFIX = {
    "torch-zip": ".pt",
    "torch-legacy": ".pt",
    "torchscript": ".pt",
    "safetensors": ".safetensors",
    "pickle": ".pt",
    "torch-tar": ".pt",
}
FRESH = (np.arange(3, dtype=np.float32), np.zeros((0, 2), np.int64), np.array(True), np.ones((2, 2), np.complex64).T)


def hashes(checkpoint: inert.Checkpoint) -> dict[str, Any]:
    return {
        name: (str(tensor.dtype), tensor.shape, answer(tensor.sha256))
        for name, tensor in checkpoint.tensors.items()
        if not tensor.components
    }


def edit(checkpoint: inert.Checkpoint, script: bytes) -> int:
    """Do what the script says where that can be done; how much was."""
    done = 0
    for at in range(0, min(len(script), 8) - 1, 2):
        names = list(checkpoint.tensors)
        name = names[script[at + 1] % len(names)] if names else ""
        try:
            match script[at] % 5:
                case 0 if names:
                    del checkpoint.tensors[name]
                case 1 if names:
                    checkpoint.tensors[name] = FRESH[script[at + 1] % len(FRESH)]
                case 2 if names:
                    checkpoint.tensors.rename(name, f"{name}_é")
                case 3:
                    checkpoint.tensors[f"new.{script[at + 1]}"] = FRESH[script[at + 1] % len(FRESH)]
                case 4:
                    if not isinstance(checkpoint.root, dict):
                        continue
                    checkpoint.root[f"number {script[at + 1]}"] = [script[at + 1], {"x": "é", "y": None}]
                case _:
                    continue
        except (UnsupportedError, ValueError, TypeError):
            continue
        done += 1
    return done


def one(data: bytes) -> None:
    head, files = parted(data)
    script, raw = (head[:8], zipped(data).getvalue()) if files else (data[-8:], data[:-8])
    folder = scratch().filled({})
    source = folder / "in.pt"
    source.write_bytes(raw)
    try:
        checkpoint = inert.open(source, limits=LIMITS)
    except InertError:
        return
    with checkpoint:
        if len(checkpoint.tensors) > 60:
            return
        format, before = checkpoint.format, hashes(checkpoint)
        edited = edit(checkpoint, script)
        if isinstance(checkpoint.tensors, TensorIndex):
            checkpoint.root = checkpoint.root  # listed anew: what lies in several places was changed in all of them
        wanted = hashes(checkpoint)
        path = folder / f"out{SUFFIX.get(format, '.pt')}"
        saved(checkpoint, path, format if format in SUFFIX and format not in ("pickle", "torch-tar") else "torch-zip", wanted)
    if not edited and path.exists() and format in ("torch-zip", "torch-legacy", "torchscript", "safetensors"):
        assert path.read_bytes() == raw
    with inert.open(source, limits=LIMITS) as checkpoint:
        assert hashes(checkpoint) == before, "the source has changed"


def saved(checkpoint: inert.Checkpoint, path: Path, format: str, wanted: dict[str, Any]) -> None:
    try:
        written = checkpoint.save(path, format=format, sync=False)
    except InertError as error:
        assert str(error).isprintable()
        assert not path.exists(), "a destination that was begun"
        assert [entry.name for entry in path.parent.iterdir()] == ["in.pt"], "something is left beside it"
        return
    lost = {name for name, why in written.lost if why.isprintable()}
    with inert.open(path, limits=LIMITS) as again:
        found = hashes(again)
        missing = {name: said for name, said in wanted.items() if found.get(name) != said and name not in lost}
        assert not missing or again.content.wrappers, (missing, {name: found.get(name) for name in missing})
        more = found.keys() - wanted.keys()
        assert not more, more


SCRIPTS = (b"", b"\0\0", b"\1\1", b"\2\0", b"\3\2", b"\4\1", b"\0\1\1\0\2\2\3\3")
WHOLE = contents(
    "legacy/*.pt", "safetensors/shapes.safetensors", "safetensors/metadata.safetensors", "pickles/numpy-p[24].pkl", "old/tar.pth", most=4000
)
PARTS = ("torch/small.pt", "torch/sharing.pt", "torch/views.pt", "torch/state_dict.p[45].pt", "torch/parameters.pt", "torch/sparse.pt", "torch/quantized.pt", "torch/dtypes.pt", "torch/python_objects*.pt",
         "torch/custom_objects.pt", "torch/nested.pt", "torch/meta.pt", "lightning/weights_only.ckpt", "script/module.pt", "script/kinds.pt", "crafted/big_endian.pt", "crafted/deflated.pt")  # fmt: skip

run(
    one,
    seeds=[
        *[joined(parted(data)[1], script) for number, data in enumerate(members(*PARTS, most=14_000)) for script in (SCRIPTS[number % 7], SCRIPTS[(number + 3) % 7])],
        *[data + script.ljust(8, b"\xff") for data in WHOLE for script in SCRIPTS[1:4]],
    ],
    smoke=500,
)  # fmt: skip
assert MARK
