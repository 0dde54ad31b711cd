"""DeepSpeed's own consolidation against inert's reading: the committed folders, and random ones that torch.save has written.

Skipped where deepspeed is not installed; `make test-oracle` tries to.
"""

from __future__ import annotations

import json
import os
import random
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import pytest
import torch

import inert

os.environ.setdefault("DS_ACCELERATOR", "cpu")
tool = pytest.importorskip("deepspeed.utils.zero_to_fp32", reason="deepspeed is not installed", exc_type=ImportError)

CORPUS = Path(__file__).parents[1] / "corpus" / "deepspeed"
REFUSED = ("stage0", "bf16_optimizer", "pipeline", "experts")  # by DeepSpeed's consolidation; inert reads them all the same
DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.bool, torch.float8_e5m2)


def raw(tensor: torch.Tensor) -> bytes:
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype)
    return bytes(flat.copy_(tensor.detach().reshape(-1)).view(torch.uint8).numpy().tobytes())


def compare(folder: Path) -> int:
    """Names in order, types, shapes, bytes, gradients and ties. What only inert gives stands behind the rest."""
    wanted = tool.get_fp32_state_dict_from_zero_checkpoint(str(folder))
    with inert.open(folder) as checkpoint:
        found = list(checkpoint.tensors.items())
        assert [name for name, _ in found[: len(wanted)]] == list(wanted)
        for (name, tensor), other in zip(found, wanted.values(), strict=False):
            kind = str(other.dtype).removeprefix("torch.")
            assert (tensor.dtype, tensor.shape, tensor.requires_grad) == (kind, tuple(other.shape), other.requires_grad), name
            assert b"".join(tensor.chunks()) == raw(other), name
            assert tensor.numpy().tobytes() == raw(other), name
            if tensor.shape:
                assert tensor[-1].tobytes() == raw(other[-1]), name
        ties = {name: id(other) for name, other in wanted.items()}
        for (name, tensor), (twin, same) in pairwise(found):
            if twin in ties and prod(tensor.shape):
                assert (tensor.storage == same.storage) == (ties[name] == ties[twin]), (name, twin)
        assert all(note.code == "zero-saved" or note.severity != "error" for note in checkpoint.notes)
    return len(wanted)


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir() if path.is_dir() and path.name not in REFUSED))
def test_committed_folders(name: str) -> None:
    assert compare(CORPUS / name) == len(json.loads((CORPUS / f"{name}.expected.json").read_text())["tensors"]) - 2 * (name == "zero1")


@pytest.mark.parametrize("name", REFUSED)
def test_what_deepspeed_refuses_it_refuses_still(name: str) -> None:
    with pytest.raises((ValueError, TypeError, FileNotFoundError, KeyError, AttributeError)):
        tool.get_fp32_state_dict_from_zero_checkpoint(str(CORPUS / name))


class Made:
    """A random folder, as DeepSpeed lays it out."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        torch.manual_seed(seed)
        self.folder = folder / "some" / "tag"
        self.folder.mkdir(parents=True)
        (folder / "latest").write_text("some/tag\n")
        self.world = self.rng.choice((1, 2, 3, 4, 7, 12))
        self.stage = self.rng.choice((1, 2, 3))
        self.groups = [self.parameters(f"g{i}") for i in range(self.rng.randrange(1, 4))]
        self.frozen = self.parameters("frozen") if self.stage > 1 and self.rng.random() < 0.5 else {}
        self.write()

    def parameters(self, name: str) -> dict[str, torch.Tensor]:
        return {f"{name}.{i}": torch.randn(self.shape()) for i in range(self.rng.randrange(1, 6))}

    def shape(self) -> tuple[int, ...]:
        return tuple(self.rng.randrange(1, 9) for _ in range(self.rng.randrange(4)))

    def write(self) -> None:
        ranks = self.joined() if self.stage < 3 else self.woven()
        prefix = self.rng.choice(("", "bf16_"))
        for rank, state in enumerate(ranks):
            name = f"{prefix}zero_pp_rank_{rank}_mp_rank_00_optim_states.pt"
            torch.save({"optimizer_state_dict": {"zero_stage": self.stage, **state}, "ds_version": "0.19.8"}, self.folder / name)
        for rank in range(self.world if self.stage == 3 else 1):
            name = f"zero_pp_rank_{rank}_mp_rank_00_model_states.pt" if self.stage == 3 else "mp_rank_00_model_states.pt"
            torch.save(self.model(rank), self.folder / name)

    def joined(self) -> list[dict[str, Any]]:
        """Partitions of each group end to end, the last one without what pads the group."""
        paddings = [[self.rng.choice((0, 0, 0, 1, 3)) for _ in shapes] for shapes in self.groups] if self.rng.random() < 0.5 else None
        parts = []
        for number, held in enumerate(self.groups):
            gaps = paddings[number] if paddings else [0] * len(held)
            flat = torch.cat([torch.cat([value.reshape(-1), torch.zeros(gap)]) for value, gap in zip(held.values(), gaps, strict=True)])
            size = -(-len(flat) // (2 * self.world)) * 2
            whole = torch.cat([flat, torch.zeros(size * self.world - len(flat))])
            lean = min(size, size * self.world - len(flat)) if self.rng.random() < 0.5 else 0
            cuts = [whole[rank * size : (rank + 1) * size].clone() for rank in range(self.world)]
            cuts[-1] = cuts[-1][: size - lean]
            parts.append(cuts)
        count: Any = [self.world] * len(parts) if self.rng.random() < 0.5 else self.world
        more = {"param_alignment_paddings": paddings} if paddings else {}
        grad = self.rng.random() < 0.5
        return [
            {"single_partition_of_fp32_groups": [cuts[rank].requires_grad_(grad) for cuts in parts], "partition_count": count, **more}
            for rank in range(self.world)
        ]

    def part(self, value: torch.Tensor, rank: int) -> torch.Tensor:
        size = -(-value.numel() // self.world)
        whole = torch.cat([value.reshape(-1), torch.zeros(size * self.world - value.numel(), dtype=value.dtype)])
        return whole[rank * size : (rank + 1) * size].clone()

    def woven(self) -> list[dict[str, Any]]:
        """A part of every parameter, in flat groups of whole parts. DeepSpeed cuts none in two, and its consolidation would go wrong there."""
        values = [value for held in self.groups for value in held.values()]
        ends = sorted({0, len(values), *(self.rng.randrange(len(values)) for _ in range(self.rng.randrange(4)))})
        groups = [values[a:b] for a, b in pairwise(ends)]
        flats = [[torch.cat([self.part(value, rank) for value in held]) for held in groups] for rank in range(self.world)]
        return [{"fp32_flat_groups": held, "partition_count": self.world} for held in flats]

    def model(self, rank: int) -> dict[str, Any]:
        buffers = {f"buffer.{i}": self.buffer(kind) for i, kind in enumerate(DTYPES) if self.rng.random() < 0.5}
        trained = [name for held in self.groups for name in held]
        shared = {"tied": self.rng.choice(trained), "lost": "nothing"} if self.rng.random() < 0.5 else {}
        fragments = {name: self.part(value, rank) if self.stage == 3 else value for name, value in self.frozen.items()}
        return {
            "module": {**buffers, **{name: torch.zeros(0) for name in trained if self.stage == 3}},
            "buffer_names": list(buffers),
            "param_shapes": [{name: value.shape for name, value in held.items()} for held in self.groups],
            "frozen_param_shapes": {name: value.shape for name, value in self.frozen.items()} or None,
            "frozen_param_fragments": fragments or None,
            "shared_params": shared,
            "ds_version": "0.19.8",
        }

    def buffer(self, kind: torch.dtype) -> torch.Tensor:
        made = (torch.randn(self.shape()) * 1e5).to(kind)
        return made.T if made.ndim == 2 and self.rng.random() < 0.3 else made


@pytest.mark.parametrize("seed", range(60))
def test_random_folders(seed: int, tmp_path: Path) -> None:
    Made(seed, tmp_path)
    assert compare(tmp_path)
