"""Makes the files of distributed/: python make_distributed.py, once with each torch (run make_manifest.py afterwards).

What the ranks of a job save, each for itself, with torch.save: DTensors, ShardedTensors, FSDP's local and sharded state dicts. KIND-VERSION-RANK.pt;
expected.json: what torch itself says of each tensor (offset and shape of the local parts, their bytes, the bytes of the whole where a rank has it).

The files here are of torch 1.13.1 (where Python 3.11 wants the dataclass TensorProperties to be hashable: unsafe_hash=True), 2.1.2, 2.3.1, 2.6.0,
2.9.1 (all from PyPI) and 2.13.0+cpu, with gloo on one machine.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "distributed"
VERSION = torch.__version__.partition("+")[0]
NEWEST = VERSION.startswith("2.13")
ROWS = torch.arange(15.0).reshape(5, 3)
WHY = {
    "dtensor": "DTensors of a rank of four",
    "sharded": "a ShardedTensor of a rank of two",
    "alone": "a ShardedTensor of two local shards that are all of it, a DTensor on a mesh of one",
    "fsdp_local": "FSDP1: LOCAL_STATE_DICT, a flattened parameter",
    "fsdp_sharded": "FSDP1: SHARDED_STATE_DICT",
}


def sha(tensor: torch.Tensor) -> str:
    tensor = tensor.detach().contiguous()
    return hashlib.sha256(tensor.view(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b"").hexdigest()


# -- what torch says --------------------------------------------------------------------------------------------------------


def box_of(tensor: Any) -> tuple[Any, Any]:
    """(shape, offsets) of the local part."""
    mesh, placements = tensor.device_mesh, tensor.placements
    try:
        from torch.distributed.tensor._utils import compute_local_shape_and_global_offset as both
    except ImportError:
        try:
            from torch.distributed._tensor._utils import compute_local_shape_and_global_offset as both
        except ImportError:
            from torch.distributed._tensor._utils import compute_local_offset, compute_local_shape

            return compute_local_shape(tensor.shape, mesh, placements), compute_local_offset(tensor.shape, mesh, placements)
    return both(tensor.shape, mesh, placements)


def described(tensor: Any) -> dict[str, Any]:
    """One DTensor or ShardedTensor: its parts by inert's name of the component."""
    told: dict[str, Any] = {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch."), "parts": {}}
    if hasattr(tensor, "local_shards"):
        for i, shard in enumerate(tensor.local_shards()):
            told["parts"][str(i)] = {**placed(shard.metadata.shard_sizes, shard.metadata.shard_offsets), "sha256": sha(shard.tensor)}
        told["of"] = len(tensor.metadata().shards_metadata)
        if dist.get_world_size() == 1:
            whole = torch.empty(tensor.shape)
            tensor.gather(0, whole)
            told["whole"] = sha(whole)
        return told
    local = tensor.to_local()
    told["parts"]["_local_tensor"] = {**placed(*box_of(tensor)), "sha256": sha(local)}
    told["placements"] = [repr(placement) for placement in tensor.placements]
    told["mesh"], told["at"] = list(tensor.device_mesh.mesh.shape), list(tensor.device_mesh.get_coordinate())
    if tensor.device_mesh.size() == 1 or all(placement.is_replicate() for placement in tensor.placements):
        told["whole"] = sha(tensor.full_tensor() if hasattr(tensor, "full_tensor") else local)
    return told


def placed(shape: Any, offsets: Any) -> dict[str, Any]:
    return {"shape": [int(n) for n in shape], "offsets": [int(n) for n in offsets]}


# -- what is saved ----------------------------------------------------------------------------------------------------------


def dtensors(size: int) -> dict[str, Any]:
    try:
        from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
    except ImportError:
        from torch.distributed._tensor import DTensor, Replicate, Shard, distribute_tensor
        from torch.distributed._tensor.placement_types import _Partial as Partial
    try:
        from torch.distributed.device_mesh import init_device_mesh

        line, grid = init_device_mesh("cpu", (size,)), init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("dp", "tp"))
    except ImportError:
        from torch.distributed._tensor import DeviceMesh

        line, grid = DeviceMesh("cpu", list(range(size))), DeviceMesh("cpu", torch.arange(size).reshape(2, -1))
    state = {
        "rows": distribute_tensor(ROWS, line, [Shard(0)]),
        "columns": distribute_tensor(ROWS, line, [Shard(1)]),
        "everywhere": distribute_tensor(ROWS, line, [Replicate()]),
        "both": distribute_tensor(ROWS.to(torch.float16), grid, [Shard(0), Shard(1)]),
        "twice": distribute_tensor(ROWS, grid, [Shard(0), Shard(0)]),
        "mixed": distribute_tensor(ROWS, grid, [Replicate(), Shard(1)]),
        "few": distribute_tensor(torch.ones(1), line, [Shard(0)]),
        "parameter": torch.nn.Parameter(distribute_tensor(ROWS, line, [Shard(0)])),
        "terms": DTensor.from_local(torch.ones(2), line, [Partial()], run_check=False),
    }
    if VERSION.startswith("2.1."):  # its arithmetic takes no dimension that is smaller than the mesh
        del state["columns"], state["few"]
    if NEWEST:
        from torch.distributed.tensor.placement_types import _StridedShard

        state["strided"] = cut(torch.arange(14).reshape(7, 2), grid, [_StridedShard(0, split_factor=2), Shard(0)])
        state["scattered"] = cut(torch.arange(14).reshape(7, 2), grid, [_StridedShard(0, split_factor=2), Replicate()])
        state["sub"] = distribute_tensor(ROWS, grid["tp"], [Shard(0)])
    return state


def cut(whole: torch.Tensor, mesh: Any, placements: list[Any]) -> Any:
    """A DTensor whose local part is cut by the placements themselves: distribute_tensor takes no uneven _StridedShard."""
    from torch.distributed.tensor import DTensor

    local = whole
    for placement, size, at in zip(placements, mesh.shape, mesh.get_coordinate(), strict=True):
        if not placement.is_replicate():
            local = placement._split_tensor(local, size, with_padding=False)[0][at]
    return DTensor.from_local(local.clone(), mesh, placements, run_check=False, shape=whole.shape, stride=whole.stride())


def sharded(cuts: list[int], mine: list[int], rank: int) -> Any:
    from torch.distributed._shard.metadata import ShardMetadata
    from torch.distributed._shard.sharded_tensor import Shard, ShardedTensor

    shards = []
    for i in mine:
        rows = ROWS[cuts[i] : cuts[i + 1]].clone()
        shards.append(Shard(rows, ShardMetadata([cuts[i], 0], list(rows.shape), f"rank:{rank}/cpu")))
    return ShardedTensor._init_from_local_shards(shards, *ROWS.shape)


def fsdp(kind: str) -> dict[str, Any]:
    from torch.distributed.fsdp import FullyShardedDataParallel, StateDictType

    torch.manual_seed(3)
    module = FullyShardedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Linear(5, 2)), device_id=torch.device("cpu"))
    with FullyShardedDataParallel.state_dict_type(module, getattr(StateDictType, kind)):
        return dict(module.state_dict())


def saved(kind: str, rank: int, size: int) -> dict[str, Any]:
    if kind == "dtensor":
        return dtensors(size)
    if kind == "sharded":
        return {"w": sharded([0, 3, 5], [rank], rank), "step": 7}
    if kind == "alone":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.tensor import Shard, distribute_tensor

        state = {"one": sharded([0, 5], [0], 0), "two": sharded([0, 3, 5], [0, 1], 0)}
        return state | {"mesh": distribute_tensor(ROWS.T, init_device_mesh("cpu", (1,)), [Shard(1)])}
    return fsdp(f"{kind.rpartition('_')[2].upper()}_STATE_DICT")


# kind → (ranks, those of them whose files are kept), for torch 2.13 and for older ones
JOBS: dict[str, dict[str, tuple[int, tuple[int, ...]]]] = {
    "2.13.0": {"dtensor": (4, (1, 3)), "sharded": (2, (0, 1)), "alone": (1, (0,)), "fsdp_local": (2, (1,)), "fsdp_sharded": (4, (3,))},
    "2.9.1": {"dtensor": (4, (1,))},
    "2.6.0": {"dtensor": (4, (2,))},
    "2.3.1": {"dtensor": (4, (3,)), "fsdp_local": (2, (1,))},
    "2.1.2": {"dtensor": (4, (2,))},
    "1.13.1": {"sharded": (2, (1,))},
}


def work(rank: int, size: int, kind: str, keep: tuple[int, ...], notes: str, port: int) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    dist.init_process_group("gloo", rank=rank, world_size=size)
    state = saved(kind, rank, size)
    tensors = {name: described(value) for name, value in state.items() if isinstance(value, torch.Tensor)}
    if rank in keep:
        name = f"{kind}-{VERSION}-{rank}.pt"
        torch.save(state, FOLDER / name)
        row = {"why": f"torch {VERSION}: {WHY[kind]}", "rank": rank, "ranks": size, "tensors": tensors}
        Path(notes, name).write_text(json.dumps(row), encoding="utf-8")
    dist.barrier()
    dist.destroy_process_group()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    table = FOLDER / "expected.json"
    told = json.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
    with tempfile.TemporaryDirectory() as notes:
        for port, (kind, (size, keep)) in enumerate(JOBS[VERSION].items(), 29641):
            mp.spawn(work, (size, kind, keep, notes, port), size)
        told |= {path.name: json.loads(path.read_text(encoding="utf-8")) for path in Path(notes).iterdir()}
    lines = (f"{json.dumps(name)}: {json.dumps(row, separators=(',', ':'))}" for name, row in sorted(told.items()))
    table.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
