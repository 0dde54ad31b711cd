"""Any bytes as a checkpoint to be repaired: what is written has no fault that repair mends, or nothing is written and a sentence says why.

Also: a file that opens without errors loses no tensor by being repaired, and every tensor that is recovered can be read.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from driver import instrument, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    import inert
    from inert.errors import InertError, LimitError, UnsupportedError
    from inert.finding import ERROR, REPAIRS
    from inert.limits import Limits

READS = ("ops.repair", "containers.zipfound", "containers.zipwalk", "containers.zipsigns", "salvage.torch_zip", "salvage.wrapped")
LIMITS = Limits(entries=100_000, inflated=1 << 22, opcodes=1 << 20, pickle_bytes=1 << 22, name_bytes=1 << 20, logical_bytes=1 << 20)
CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"
SEEDS = (
    "torch/bare_list.pt", "torch/colliding.pt", "crafted/deflated.pt", "legacy/state_dict.pt", "legacy/views.pt", "old/tar.pth", "old/numpy.pkl",
    "safetensors/shapes.safetensors", "script/kinds.pt",
)  # fmt: skip
SUFFIXES = {b"P": ".pt", b"\x80": ".pth"}
FILLS = (None, "zeros", "nan")


def names(path: str) -> set[str] | None:
    """The tensors of a file that has no errors, but those whose bytes cannot be read; None for any other."""
    try:
        with inert.open(path, strict=True, limits=LIMITS) as checkpoint:
            return {name for name, tensor in checkpoint.tensors.items() if _whole(tensor)}
    except InertError:
        return None


def _whole(tensor: inert.Tensor) -> bool:
    """Opening reads no elements: those of a deflated record may turn out to be damaged."""
    if any(part.fault for part in tensor.components.values()):
        return False
    try:
        tensor.sha256()
    except (LimitError, UnsupportedError):
        return True
    except InertError:
        return False
    return True


def one(data: bytes) -> None:
    folder = tempfile.mkdtemp(dir=os.environ.get("FUZZ_TMP"))
    try:
        source, target = os.path.join(folder, "source"), os.path.join(folder, "target.pt")
        Path(source).write_bytes(data)
        _repair(source, target, FILLS[len(data) % 3])
    finally:
        shutil.rmtree(folder)


def _repair(source: str, target: str, fill: str | None) -> None:
    before = names(source)
    try:
        done = inert.repair(source, target, fill=fill, limits=LIMITS, sync=False)
    except InertError as error:
        assert str(error).isprintable()
        assert not os.path.exists(target)
        assert not before or isinstance(error, (LimitError, UnsupportedError)), (str(error), before)
        return
    for note in done.findings:
        assert str(note).isprintable()
    assert before is None or before <= {*done.recovered, *done.filled} or done.format == "safetensors"
    with inert.open(target, limits=LIMITS) as checkpoint:
        left = [str(note) for note in checkpoint.notes if note.severity == ERROR and note.code in REPAIRS]
        assert not left, left
        for name in done.recovered[:50]:
            if done.format in ("torch-zip", "torch-legacy") and name in checkpoint.tensors:
                try:
                    checkpoint.tensors[name].sha256()
                except (LimitError, UnsupportedError):
                    pass


run(one, seeds=[(CORPUS / seed).read_bytes() for seed in SEEDS], smoke=800)
