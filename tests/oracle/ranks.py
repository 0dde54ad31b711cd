"""One process of a job of torch.distributed: python ranks.py JOB RANK SIZE FOLDER (gloo on loopback; the processes meet at a file).

``run`` starts them all and waits. Each job saves into FOLDER what the tests of this folder then read.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SECONDS = 120
NAMED = (
    "bfloat16", "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "complex64", "complex128", "float8_e4m3fn",
    "float8_e5m2", "uint16", "uint32", "uint64",
)  # fmt: skip


def run(job: str, size: int, folder: Path) -> None:
    """Every rank of a job in a process of its own. AssertionError, with what they wrote, where one fails or all take too long."""
    folder.mkdir(parents=True, exist_ok=True)
    logs = [folder / f"rank{rank}.log" for rank in range(size)]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for rank, log in enumerate(logs):
            command = [sys.executable, "-W", "ignore", __file__, job, str(rank), str(size), str(folder)]
            with log.open("wb") as out:
                started.append(subprocess.Popen(command, stdout=out, stderr=out))
        end = time.monotonic() + SECONDS
        codes = [process.wait(max(1, end - time.monotonic())) for process in started]
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
    assert not any(codes), "\n".join(log.read_text(errors="replace")[-2000:] for log in logs)


# -- the jobs ---------------------------------------------------------------------------------------------------------------


def counted(shape: tuple[int, ...], dtype: Any) -> Any:
    """Different elements of any type."""
    import torch

    count = int(torch.tensor(shape).prod()) if shape else 1
    return (torch.arange(count) * 7 % 11).reshape(shape).to(dtype)


def lines(size: int) -> dict[str, Any]:
    """One-dimensional meshes, every element type, plain tensors, odd shapes, and values that are no tensors."""
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (size,))
    view = torch.arange(24.0).reshape(4, 6)
    state: dict[str, Any] = {
        "rows": distribute_tensor(counted((7, 3), torch.float32), mesh, [Shard(0)]),
        "columns": distribute_tensor(counted((3, 5), torch.int64), mesh, [Shard(1)]),
        "third": distribute_tensor(counted((2, 3, 4, 5), torch.float64), mesh, [Shard(2)]),
        "everywhere": distribute_tensor(counted((4, 2), torch.float16), mesh, [Replicate()]),
        "few": distribute_tensor(torch.ones(1), mesh, [Shard(0)]),
        "one.number": distribute_tensor(torch.tensor(2.5), mesh, [Replicate()]),
        "parameter": torch.nn.Parameter(distribute_tensor(counted((6, 2), torch.float32), mesh, [Shard(0)])),
        "plain": {"": torch.tensor(3), "t": view.T, "part": view[1:3, ::2], "none": torch.ones(0, 3), "b": torch.tensor([True, False])},
        "steps": [torch.ones(2), {"lr": torch.tensor([0.5])}, 5, "text"],
        "epoch": 5, "lr": 0.1, "name": "ä", "nothing": None, "flag": True, "raw": b"\x00\xff", "pair": (1, "two"), "empty": {}, "list": [],
        "deep": {"a": {"b": {"c": torch.arange(3), "d": [1, [2, 3]]}}},
    }  # fmt: skip
    state["types"] = {name: counted((3, 2), getattr(torch, name)) for name in NAMED}
    rank = mesh.get_local_rank()
    for name in ("bfloat16", "bool", "complex64"):
        whole = counted((5, 2), getattr(torch, name))
        local = whole.chunk(size)[rank].clone() if rank < len(whole.chunk(size)) else whole[:0].clone()
        state["types"][f"{name} sharded"] = DTensor.from_local(
            local, mesh, [Shard(0)], run_check=False, shape=whole.shape, stride=whole.stride()
        )
    return state


def grids(size: int) -> dict[str, Any]:
    """Meshes of two dimensions, and ShardedTensors of several local shards."""
    import torch
    from torch.distributed._shard.metadata import ShardMetadata
    from torch.distributed._shard.sharded_tensor import Shard as Piece
    from torch.distributed._shard.sharded_tensor import ShardedTensor
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    state: dict[str, Any] = {}
    placements = {
        "both": [Shard(0), Shard(1)],
        "mixed": [Replicate(), Shard(0)],
        "twice": [Shard(1), Shard(1)],
        "half": [Shard(1), Replicate()],
    }
    shapes = [(size, 1), (1, size)] + ([(2, size // 2)] if size == 4 else [])
    for shape in shapes:
        mesh = init_device_mesh("cpu", shape, mesh_dim_names=("dp", "tp"))
        name = "x".join(map(str, shape))
        state[name] = {key: distribute_tensor(counted((5, 7), torch.float32), mesh, placed) for key, placed in placements.items()}
    rank, whole = torch.distributed.get_rank(), counted((2 * size, 3), torch.float32)
    mine = [rank, 2 * size - 1 - rank]
    pieces = [Piece(whole[i : i + 1].clone(), ShardMetadata([i, 0], [1, 3], f"rank:{rank}/cpu")) for i in mine]
    state["sharded"] = ShardedTensor._init_from_local_shards(pieces, *whole.shape)
    return state


def trained(size: int) -> dict[str, Any]:
    """A model under FSDP2 after a step, with its optimiser's state."""
    import torch
    from torch.distributed.checkpoint.state_dict import get_state_dict
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.BatchNorm1d(5), torch.nn.Linear(5, 2))
    fully_shard(model, mesh=init_device_mesh("cpu", (size,)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    weights, moments = get_state_dict(model, optimizer)
    return {"model": weights, "optimizer": moments}


JOBS = {"lines": lines, "grids": grids, "trained": trained}


def sharded(rank: int, size: int, folder: Path) -> None:
    """A ShardedTensor, saved by each rank; then every rank tells how torch.load of each of these files ends for it."""
    import torch
    import torch.distributed as dist
    from torch.distributed._shard.metadata import ShardMetadata
    from torch.distributed._shard.sharded_tensor import Shard, ShardedTensor

    rows = torch.arange(3.0 * size).reshape(size, 3)[rank : rank + 1].clone()
    tensor = ShardedTensor._init_from_local_shards([Shard(rows, ShardMetadata([rank, 0], [1, 3], f"rank:{rank}/cpu"))], size, 3)
    torch.save({"w": tensor}, folder / f"{rank}.pt")
    dist.barrier()
    told = {}
    for other in range(size):
        try:
            told[str(other)] = torch.load(folder / f"{other}.pt", weights_only=False)["w"].local_shards()[0].tensor.tolist()
        except RuntimeError as error:
            told[str(other)] = str(error)
    (folder / f"told{rank}.json").write_text(json.dumps(told), encoding="utf-8")


def main(job: str, rank: int, size: int, folder: Path) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp

    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=size)
    if job == "sharded":
        sharded(rank, size, folder)
    else:
        single = size != 3  # both ways of the writer: a file for each rank, or one for each tensor
        writer = dcp.FileSystemWriter(folder / "saved", single_file_per_rank=single, thread_count=1 if single else 2)
        dcp.save(JOBS[job](size), storage_writer=writer)
    dist.barrier()
    dist.destroy_process_group()
    # All is saved. Gloo's threads, of which a process may have some left, would now and then end it by std::terminate on the way out.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
