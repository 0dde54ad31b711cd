"""Files of single ranks: what torch does with them in a program of one process, and in the job that saved them."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

import inert
from inert.torch.predict import loads
from tests.makers import Made, Name, dumps, torch_zip
from tests.oracle.ranks import run

HERE = Path(__file__).parent.parent / "corpus" / "distributed"
FILES = sorted(HERE.glob("*.pt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_predicted(path: Path) -> None:
    with inert.open(path) as checkpoint:
        said = loads(checkpoint)["full"]
    try:
        torch.load(path, weights_only=False, map_location="cpu")
        done = ""
    except (RuntimeError, AttributeError) as error:
        done = str(error)
    assert said["ok"] == (not done), (said, done)
    if "_Partial" in done:
        assert "torch.distributed._tensor.placement_types._Partial" in said["why"]
    elif done:
        assert 'using "init_process_group" before loading ShardedTensor' in done
        assert "in a program that has called torch.distributed.init_process_group" in said["why"]


def test_a_sharded_tensor_is_loaded_by_its_own_rank_only(tmp_path: Path) -> None:
    run("sharded", 2, tmp_path)
    for rank in range(2):
        told: dict[str, Any] = json.loads((tmp_path / f"told{rank}.json").read_text(encoding="utf-8"))
        assert told[str(1 - rank)] == f"Local rank at save time was {1 - rank}, but at load time was {rank}"
        with inert.open(tmp_path / f"{rank}.pt") as checkpoint:
            assert f"only by rank {rank} of 2, " in loads(checkpoint)["full"]["why"]
            tensor = checkpoint.tensors["w"]
            assert tensor.components["0"].numpy().tolist() == told[str(rank)]
            assert tensor.boxes == {"0": ((rank, 0), (1, 3))}


@pytest.mark.parametrize("module", ["_shard.sharded_tensor", "_sharded_tensor"])
def test_a_sharded_tensor_of_torch_1_12_is_loaded_no_more(module: str) -> None:
    old = Made(Name(f"torch.distributed.{module}.api", "ShardedTensor"), (), ([], None, None, None, False), new=True)
    data = torch_zip(dumps({"w": old}))
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert "torch 1.12 and before" in loads(checkpoint)["full"]["why"]
    with warnings.catch_warnings(), pytest.raises(TypeError, match="sharding_spec"):
        warnings.simplefilter("ignore")  # of the older module's being deprecated
        torch.load(io.BytesIO(data), weights_only=False)
