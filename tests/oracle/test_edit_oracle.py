"""Edited files, read by the programs they are for: torch.load takes a renamed checkpoint, torch.jit.load a program with other weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import inert
from inert.tensor import Tensor

pytestmark = [pytest.mark.oracle]
CORPUS = Path(__file__).parents[1] / "corpus"


def whole(tensor: Tensor) -> bool:
    """Whether the elements lie in order."""
    return bool(tensor.numpy().flags.c_contiguous)


def test_a_renamed_key_is_all_that_torch_sees_changed(tmp_path: Path) -> None:
    path = CORPUS / "lightning" / "plain.ckpt"
    before = torch.load(path, weights_only=False)
    with inert.open(path) as ckpt:
        old = next(name for name in ckpt.tensors if name.startswith("state_dict."))
        ckpt.tensors.rename(old, f"{old}_0")
        ckpt.save(tmp_path / "renamed.ckpt")
    for mmap in (False, True):
        after = torch.load(tmp_path / "renamed.ckpt", weights_only=False, mmap=mmap)
        key = old.removeprefix("state_dict.")
        assert list(after) == list(before)
        assert list(after["state_dict"]) == [f"{key}_0" if name == key else name for name in before["state_dict"]]
        assert all(torch.equal(a, b) for a, b in zip(after["state_dict"].values(), before["state_dict"].values(), strict=True))
        assert str({**after, "state_dict": None}) == str({**before, "state_dict": None})


@pytest.mark.parametrize("name", ["module.pt"])
def test_a_program_with_other_weights_runs(name: str, tmp_path: Path) -> None:
    path = CORPUS / "script" / name
    before = torch.jit.load(str(path)).state_dict()
    with inert.open(path) as ckpt:
        changed = next(key for key, one in ckpt.tensors.items() if key in before and one.dtype == "float32" and one.size > 1 and whole(one))
        first = ckpt.tensors[changed]
        twins = [key for key, one in ckpt.tensors.items() if one.storage == first.storage]  # tied: they are replaced together
        elements = np.full(first.shape, 0.5, np.float32)
        for twin in twins:
            ckpt.tensors[twin] = elements
        ckpt.save(tmp_path / name)
    after = torch.jit.load(str(tmp_path / name)).state_dict()
    assert after.keys() == before.keys()
    assert np.array_equal(after[changed].numpy(), elements)
    same = [key for key in before if key not in twins and before[key].layout == torch.strided and not before[key].is_quantized]
    assert all(torch.equal(after[key], before[key]) for key in same)
