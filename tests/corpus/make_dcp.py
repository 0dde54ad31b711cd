"""Makes the folders of dcp/: python make_dcp.py (torch 2.13.0 with gloo; run make_manifest.py afterwards).

NAME/ is a folder of torch.distributed.checkpoint; NAME.expected.json is what torch's own consolidation (dcp_to_torch_save) reads from it.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from describe import write
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "dcp"


def alone() -> dict[str, Any]:
    return {
        "model": {
            "w": torch.arange(12.0).reshape(3, 4),
            "half.b": torch.ones(3, dtype=torch.bfloat16),
            "one": torch.tensor(7),
            "none": torch.ones(0, 3),
        },
        "steps": [torch.ones(2), {"lr": torch.tensor([0.5])}],
        "epoch": 5,
        "name": "x",
    }


def ranked(rank: int, size: int, folder: str) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29611"}
    dist.init_process_group("gloo", rank=rank, world_size=size)
    if size == 4:
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("a", "b"))
        state = {"w": distribute_tensor(torch.arange(48.0).reshape(6, 4, 2), mesh, [Shard(0), Shard(1)])}
        state |= {"uneven": distribute_tensor(torch.arange(15).reshape(3, 5), mesh, [Shard(1), Shard(1)])}
        state |= {"mixed": distribute_tensor(torch.arange(8, dtype=torch.int32).reshape(4, 2), mesh, [Replicate(), Shard(0)])}
    else:
        mesh = init_device_mesh("cpu", (size,))
        state = {
            "rows": distribute_tensor(torch.arange(24.0).reshape(6, 4), mesh, [Shard(0)]),
            "columns": distribute_tensor(torch.arange(21).reshape(3, 7), mesh, [Shard(1)]),
        }
        state |= {
            "whole": distribute_tensor(torch.ones(3, dtype=torch.float16), mesh, [Replicate()]),
            "few": distribute_tensor(torch.ones(1), mesh, [Shard(0)]),
        }
    dcp.save({"model": state, "step": 3}, checkpoint_id=folder)
    dist.destroy_process_group()


def describe(name: str, why: str) -> None:
    folder = FOLDER / name
    whole = FOLDER / f"{name}.pt"
    dcp_to_torch_save(folder, whole)
    write(whole, format="torch-dcp", writer=f"torch.distributed.checkpoint torch {torch.__version__}", why=why, notes=[])
    whole.with_name(f"{whole.name}.expected.json").rename(FOLDER / f"{name}.expected.json")
    whole.unlink()


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    dcp.save(alone(), checkpoint_id=FOLDER / "alone", no_dist=True)
    describe("alone", "one process: every tensor in one chunk")
    for name, size, why in (("two_ranks", 2, "rows and columns of two ranks"), ("four_ranks", 4, "a mesh of two by two ranks")):
        mp.spawn(ranked, (size, str(FOLDER / name)), size)
        describe(name, why)


if __name__ == "__main__":
    sys.exit(main())
