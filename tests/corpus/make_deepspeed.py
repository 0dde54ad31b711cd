"""Makes the folders of deepspeed/: python make_deepspeed.py (torch 2.13.0 with gloo, deepspeed 0.19.8; run make_manifest.py afterwards).

NAME/ is what DeepSpeed's save_checkpoint writes, without the scripts that it puts beside; NAME.expected.json is what DeepSpeed's own
consolidation (get_fp32_state_dict_from_zero_checkpoint) reads from it. Of the folders that it refuses (BF16_Optimizer,
pipelines, experts) the expectation is what the live optimizer gives for each parameter (safe_get_full_fp32_param), and behind these what
torch.load gives for the rest; of stage 0 it is the model file's state dict.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

os.environ |= {
    "DS_ACCELERATOR": "cpu",
    "DS_BUILD_OPS": "0",
    "LOCAL_RANK": "0",
    "GLOO_SOCKET_IFNAME": "lo",
    "TOKENIZERS_PARALLELISM": "false",
}

import deepspeed
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from deepspeed.pipe import LayerSpec, PipelineModule, TiedLayerSpec
from deepspeed.utils import safe_get_full_fp32_param
from deepspeed.utils.zero_to_fp32 import get_fp32_state_dict_from_zero_checkpoint
from describe import write
from torch import nn

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "deepspeed"
TAG = "global_step1"
PORT = 29617

# name → ranks, element type, configuration, why
ZERO: dict[str, tuple[int, str, dict[str, Any], str]] = {
    "zero1": (2, "bf16", {"stage": 1}, "ZeRO-1: frozen parameters lie in the model file only"),
    "zero2": (3, "fp32", {"stage": 2}, "ZeRO-2 of three ranks: parameters across the ends of partitions, a lean last one, two groups"),
    "zero3": (
        2,
        "bf16",
        {"stage": 3, "sub_group_size": 8},
        "ZeRO-3: a part of every parameter in each rank's file, in several flat groups",
    ),
    "bf16_optimizer": (2, "bf16", {"stage": 1}, "BF16_Optimizer: files of another prefix, no stage, untrimmed partitions"),
    "stage0": (2, "fp32", {"stage": 0}, "no ZeRO: one model file and no optimizer files"),
}

WHY = {"pipeline": "two stages of a pipeline: layers in files of their own", "experts": "two experts in files of their own"}
NOTES = {name: ["zero-optimizer", "zero-saved"] for name in ("zero1", "bf16_optimizer", "pipeline", "experts")}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 3)
        self.frozen = nn.Linear(3, 3)
        self.norm = nn.LayerNorm(3)
        self.body = nn.Linear(3, 5)
        self.back = nn.Linear(5, 3, bias=False)
        self.head = nn.Linear(3, 7, bias=False)
        self.head.weight = self.embed.weight
        self.scale = nn.Parameter(torch.tensor([1.5]))
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3) / 7)
        self.register_buffer("narrow", torch.tensor([1.0, 1 / 3]).bfloat16())
        self.register_buffer("wide", torch.tensor([1e300, 1 / 3]).double())
        self.register_buffer("steps", torch.tensor(3))
        self.register_buffer("mask", torch.tensor([True, False, True]))
        self.frozen.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm((self.frozen(self.embed(x)) + self.table[0]).to(self.norm.weight.dtype))
        out: torch.Tensor = self.head(self.back(torch.relu(self.body(y))) * self.scale)
        return out.float().square().mean()


def settings(name: str, dtype: str, zero: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"train_micro_batch_size_per_gpu": 2, "zero_optimization": zero, "steps_per_print": 1000}
    made["zero_allow_untested_optimizer"] = True
    if dtype != "fp32":
        made[dtype] = {"enabled": True}
    if name == "bf16_optimizer":
        made["data_types"] = {"grad_accum_dtype": "fp32"}
    return made


def begin(rank: int, size: int) -> None:
    os.environ |= {
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_RANK": str(rank),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(PORT),
    }
    torch.manual_seed(0)
    torch.set_num_threads(1)
    deepspeed.init_distributed("gloo")


def master(net: nn.Module, folder: str, rank: int) -> None:
    """The float32 weights of the live optimizer, for main()."""
    found = {name: safe_get_full_fp32_param(value) for name, value in net.named_parameters()}
    torch.save({name: value.cpu().clone() for name, value in found.items() if value is not None}, f"{folder}.{rank}.live")


def zero(rank: int, size: int, name: str, folder: str) -> None:
    begin(rank, size)
    _, dtype, stage, _ = ZERO[name]
    net = Net()
    named = [(key, value) for key, value in net.named_parameters() if value.requires_grad]
    groups = [
        {"params": [value for key, value in named if value.ndim > 1], "weight_decay": 0.1},
        {"params": [value for key, value in named if value.ndim <= 1], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.SGD(groups, lr=0.25)
    engine, *_ = deepspeed.initialize(model=net, optimizer=optimizer, config=settings(name, dtype, stage))
    engine.backward(engine(torch.tensor([rank % 7, 3])))
    engine.step()
    engine.save_checkpoint(folder, tag=TAG)
    master(net, folder, rank)
    dist.barrier()
    dist.destroy_process_group()


class Bent(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(super().forward(x))


def turned(layer: Any, x: torch.Tensor) -> torch.Tensor:
    return x @ layer.weight


def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x.float() - y.float()).square().mean()


def pipeline(rank: int, size: int, name: str, folder: str) -> None:
    begin(rank, size)
    layers = [TiedLayerSpec("ends", nn.Linear, 3, 5, bias=False), LayerSpec(Bent, 5, 5), LayerSpec(Bent, 5, 5)]
    layers += [TiedLayerSpec("ends", nn.Linear, 3, 5, bias=False, forward_fn=turned)]
    net = PipelineModule(layers=layers, loss_fn=loss, num_stages=2, partition_method="uniform")
    optimizer = torch.optim.SGD([value for value in net.parameters() if value.requires_grad], lr=0.25)
    config = settings(name, "bf16", {"stage": 1}) | {"gradient_accumulation_steps": 1}
    engine, *_ = deepspeed.initialize(model=net, optimizer=optimizer, config=config)
    data = iter([(torch.ones(2, 3, dtype=torch.bfloat16), torch.zeros(2, 3, dtype=torch.bfloat16))] * 4)
    engine.train_batch(data_iter=data)
    engine.save_checkpoint(folder, tag=TAG)
    master(net, folder, rank)
    dist.barrier()
    dist.destroy_process_group()


def experts(rank: int, size: int, name: str, folder: str) -> None:
    from deepspeed.moe.layer import MoE
    from deepspeed.moe.utils import split_params_into_different_moe_groups_for_optimizer as split

    begin(rank, size)

    class Sparse(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 4)
            self.moe = MoE(4, nn.Linear(4, 4), num_experts=2, ep_size=2, k=1, min_capacity=0)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            out: torch.Tensor = self.moe(self.first(x))[0]
            return out.float().square().mean()

    net = Sparse()
    groups = split({"params": list(net.parameters()), "name": "all"})
    optimizer = torch.optim.SGD(groups, lr=0.25)
    engine, *_ = deepspeed.initialize(model=net, optimizer=optimizer, config=settings(name, "bf16", {"stage": 2}))
    engine.backward(engine(torch.ones(2, 3, dtype=torch.bfloat16) * (rank + 1)))
    engine.step()
    engine.save_checkpoint(folder, tag=TAG)
    master(net, folder, rank)
    dist.barrier()
    dist.destroy_process_group()


def apart(state: dict[str, Any]) -> dict[str, Any]:
    """Each tensor in a storage of its own, tied ones in one: what shares a merged vector in the tool's memory shares nothing in the files."""
    made: dict[int, Any] = {}
    return {name: made.setdefault(id(value), value.detach().clone().requires_grad_(value.requires_grad)) for name, value in state.items()}


def rest(folder: Path) -> dict[str, Any]:
    """What the model files, those of layers and those of experts hold, in this order."""
    made: dict[str, Any] = {}
    for file in sorted((folder / TAG).glob("mp_rank_*_model_states.pt")):
        made |= torch.load(file, weights_only=False)["module"] or {}
    for file in sorted((folder / TAG).glob("layer_*")):
        inside = torch.load(file, weights_only=False)
        number = int(file.name.removeprefix("layer_").partition("-")[0]) if "_expert_" not in file.name else None
        made |= {name if number is None else f"{number}.{name}": value for name, value in inside.items()}
    return made


def expectation(name: str, folder: Path) -> dict[str, Any]:
    """What DeepSpeed reads of it; where it refuses, what the live optimizer and the files hold."""
    live: dict[str, Any] = {}
    for file in sorted(folder.parent.glob(f"{name}.*.live")):
        live = torch.load(file) | live
        file.unlink()
    if name == "stage0":
        return rest(folder)
    if name in ("bf16_optimizer", "pipeline", "experts"):
        held = rest(folder)
        model = torch.load(folder / TAG / "mp_rank_00_model_states.pt", weights_only=False)
        buffers = {key: held[key].float() if held[key].is_floating_point() else held[key] for key in model["buffer_names"] if key in held}
        files = [torch.load(file, weights_only=False) for file in sorted((folder / TAG).glob("mp_rank_*"))]
        shapes = dict.fromkeys(key for file in files for group in file["param_shapes"] for key in group if own(key))
        ties = {key: live[other] for key, other in model["shared_params"].items()}
        found = apart(buffers | {key: live[key].requires_grad_() for key in shapes} | ties)
        return found | {key: value for key, value in held.items() if key not in found}
    found = apart(get_fp32_state_dict_from_zero_checkpoint(str(folder)))
    for key, value in live.items():  # the tool and the live optimizer agree
        assert torch.equal(found[key], value), key
    return found | ({key: value for key, value in rest(folder).items() if key not in found} if name == "zero1" else {})


def own(name: str) -> bool:
    """Experts' partitions lie with some ranks only: the files of the experts have them."""
    return "deepspeed_experts" not in name


def main(names: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for name in names or [*ZERO, "pipeline", "experts"]:
        folder = FOLDER / name
        shutil.rmtree(folder, ignore_errors=True)
        size, _, _, why = ZERO.get(name, (2, "", {}, ""))
        mp.spawn({"pipeline": pipeline, "experts": experts}.get(name, zero), (size, name, str(folder)), size)
        for script in folder.glob("zero_to_*.py"):
            script.unlink()
        write(
            folder,
            expectation(name, folder),
            format="deepspeed",
            writer=f"deepspeed {deepspeed.__version__} torch {torch.__version__}",
            why=why or WHY[name],
            notes=NOTES.get(name, ["zero-optimizer"]),
        )
        print(name, sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
