"""Makes hub/: python make_hub.py (huggingface_hub 2.4.0, safetensors 0.8.0, torch 2.13.0; run make_manifest.py afterwards).

One state dict as save_torch_state_dict deals it out to shards of at most LIMIT bytes, in both formats: with a tie, a tensor that
is transposed, one without elements, one larger than a shard. hub/ORDER.json: the state dict's names in order.
"""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import huggingface_hub
import torch
from describe import Walk
from huggingface_hub import save_torch_state_dict
from safetensors.torch import load_file

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "hub"
LIMIT = 400


def state() -> dict[str, torch.Tensor]:
    torch.manual_seed(4)
    embedding = torch.randn(8, 5)
    return {
        "embed.weight": embedding,
        "layer.0.weight": torch.randn(6, 9),
        "layer.0.empty": torch.zeros(0, 3),
        "layer.1.weight": torch.randn(7, 5).t(),
        "layer.1.large": torch.randn(20, 20).to(torch.bfloat16),
        "layer.1.steps": torch.tensor(3),
        "head.weight": embedding,
        "head.bias": torch.randn(8).half(),
    }


def main() -> None:
    logging.disable()
    tensors = state()
    shutil.rmtree(FOLDER, ignore_errors=True)
    for folder, safe in (("safetensors", True), ("bin", False)):
        home = FOLDER / folder
        home.mkdir(parents=True)
        save_torch_state_dict(dict(tensors), home, max_shard_size=LIMIT, safe_serialization=safe)
        found: dict[str, torch.Tensor] = {}
        (index,) = home.glob("*.index.json")
        for shard in dict.fromkeys(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()):
            found |= load_file(home / shard) if safe else torch.load(home / shard, weights_only=True)
        walk = Walk()
        walk.walk(found, [])
        facts = {
            "format": "sharded",
            "writer": f"huggingface_hub {huggingface_hub.__version__}",
            "why": "shards as the Hub's library deals them",
        }
        facts |= {"notes": ["aliases"] if safe else [], "tensors": walk.tensors, "leaves": walk.leaves}
        text = json.dumps(facts, separators=(",", ":")).replace('{"path":', '\n{"path":')
        (FOLDER / f"{folder}.expected.json").write_text(text + "\n", encoding="utf-8")
    (FOLDER / "ORDER.json").write_text(json.dumps(list(tensors), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
