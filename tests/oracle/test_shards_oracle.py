"""A training checkpoint → its weights in bfloat16 → shards of a megabyte → one file again, held against the same done in torch."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import inert

pytestmark = [pytest.mark.oracle]


def checkpoint(path: Path) -> dict[str, torch.Tensor]:
    """A checkpoint like Lightning's, with an optimiser; its weights."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Embedding(3000, 128), torch.nn.Linear(128, 500), torch.nn.BatchNorm1d(500), torch.nn.Linear(500, 700)
    )
    model[3].bias.data = model[3].bias.data.half().float() * 1e30  # beyond what bfloat16 tells apart
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.zeros(2, dtype=torch.long)).sum().backward()
    optimizer.step()
    weights = OrderedDict((f"net.{name}", value) for name, value in model.state_dict().items())
    torch.save({"epoch": 3, "state_dict": weights, "optimizer_states": [optimizer.state_dict()]}, path)
    return dict(weights)


def same(mine: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor]) -> None:
    assert mine.keys() == theirs.keys()
    for name, value in theirs.items():
        assert mine[name].dtype == value.dtype, name
        assert torch.equal(mine[name], value), name


@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_strip_extract_cast_shard_and_merge(kind: str, tmp_path: Path) -> None:
    wanted = {
        name: value.to(torch.bfloat16) if value.is_floating_point() else value for name, value in checkpoint(tmp_path / "last.ckpt").items()
    }
    inert.convert(tmp_path / "last.ckpt", tmp_path / "small.ckpt", drop=["optimizer_states"])
    stripped = torch.load(tmp_path / "small.ckpt", weights_only=True)
    assert list(stripped) == ["epoch", "state_dict"]
    inert.convert(tmp_path / "small.ckpt", tmp_path / "weights.pt", root="state_dict", dtype="bf16")
    same(torch.load(tmp_path / "weights.pt", weights_only=True, mmap=True), wanted)
    index = tmp_path / "shards" / f"{'model' if kind == 'safetensors' else 'pytorch_model'}.{kind}.index.json"
    index.parent.mkdir()
    done = inert.convert(tmp_path / "weights.pt", index, max_shard_size="1MB")
    shards = [path for path in map(Path, done.written) if path.suffix == f".{kind}"]
    assert len(shards) > 1
    assert all(path.stat().st_size < 1_100_000 for path in shards[1:])
    loaded: dict[str, torch.Tensor] = {}
    for path in shards:
        loaded |= load_file(path) if kind == "safetensors" else torch.load(path, weights_only=True)
    same(loaded, wanted)
    inert.convert(index, tmp_path / "merged.pt")
    merged = torch.load(tmp_path / "merged.pt", weights_only=True)
    same(merged, wanted)
    inert.convert(index, tmp_path / "merged.safetensors")
    same(load_file(tmp_path / "merged.safetensors"), wanted)
