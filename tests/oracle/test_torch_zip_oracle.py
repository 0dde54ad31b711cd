"""What torch saved is what inert reads: random state dicts through torch.save, compared bit for bit with torch's own view of them.

Every expectation is taken from the torch tensors that were saved: their dtype, shape, strides, offset, shared storage and bytes.
"""

from __future__ import annotations

import hashlib
import io
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inert

WHOLE = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
OTHER = (
    torch.bool, torch.complex64, torch.complex128, torch.complex32, torch.uint16, torch.uint32, torch.uint64,
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz, torch.float8_e8m0fnu,
)  # fmt: skip
shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12).filter(lambda name: "." not in name)


def filled(dtype: torch.dtype, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    """Random bytes of any type; booleans are 0 or 1."""
    count = 1
    for size in shape:
        count *= size
    generator = torch.Generator().manual_seed(seed)
    high = 2 if dtype is torch.bool else 256
    raw = torch.randint(0, high, (max(count, 1) * dtype.itemsize,), dtype=torch.uint8, generator=generator)
    return raw.view(dtype)[:count].reshape(shape)


def view(base: torch.Tensor, how: str) -> torch.Tensor:
    if how == "transposed" and base.dim() >= 2:
        return base.transpose(0, -1)
    if how == "sliced" and base.dim() and base.shape[0]:
        return base[base.shape[0] // 2 :]
    if how == "expanded":
        return base.unsqueeze(0).expand(3, *base.shape)
    return base


tensors = st.builds(
    lambda dtype, shape, seed, how: view(filled(dtype, shape, seed), how),
    st.sampled_from(WHOLE + OTHER), shapes, st.integers(0, 1 << 30), st.sampled_from(("whole", "transposed", "sliced", "expanded")),
)  # fmt: skip


def digest(tensor: torch.Tensor) -> str:
    """SHA-256 of the contiguous bytes, by torch."""
    flat = tensor.detach().contiguous().reshape(-1)
    raw = flat.view(torch.uint8) if flat.numel() else torch.empty(0, dtype=torch.uint8)
    return hashlib.sha256(bytes(raw.tolist())).hexdigest()


def same(mine: inert.Tensor, theirs: torch.Tensor) -> None:
    assert f"torch.{mine.dtype}" == str(theirs.dtype)
    assert mine.shape == tuple(theirs.shape)
    assert mine.sha256() == digest(theirs)
    assert mine.requires_grad == theirs.requires_grad
    if theirs.numel() > 1:
        assert mine.strides == theirs.stride()
        assert mine.offset == theirs.storage_offset()


def saved(value: Any, **options: Any) -> inert.Checkpoint:
    out = io.BytesIO()
    torch.save(value, out, **options)
    out.seek(0)
    return inert.open(out)


@given(st.dictionaries(names, tensors, max_size=12), st.integers(2, 5))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_random_state_dicts(state: dict[str, torch.Tensor], protocol: int) -> None:
    checkpoint = saved(OrderedDict(state), pickle_protocol=protocol)
    assert list(checkpoint.tensors) == list(state)
    for name, tensor in state.items():
        same(checkpoint.tensors[name], tensor)
        again = checkpoint.tensors[name].torch()
        assert again.dtype == tensor.dtype
        assert digest(again) == digest(tensor)
    assert not checkpoint.errors


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_storages_are_shared_exactly_where_torch_shares_them(cuts: list[tuple[int, int, int]]) -> None:
    bases = [torch.arange(32.0) + 100 * i for i in range(4)]
    state = {f"t{i}": bases[base][start : start + size] for i, (base, start, size) in enumerate(cuts)}
    checkpoint = saved(state)
    for left in state:
        same(checkpoint.tensors[left], state[left])
        for right in state:
            shared = state[left].untyped_storage().data_ptr() == state[right].untyped_storage().data_ptr()
            assert (checkpoint.tensors[left].storage == checkpoint.tensors[right].storage) is shared


@pytest.mark.parametrize("count", [300, 3000])
def test_many_tensors_and_ties(count: int) -> None:
    """Long state dicts go through the shortcut of the pickle machine; ties come back from its memo."""
    state: dict[str, Any] = {
        f"layer.{i}.weight": filled((torch.float32, torch.float16, torch.int64)[i % 3], (i % 5, 3), i) for i in range(count)
    }
    state["tied"] = state["layer.7.weight"]
    state["nested"] = {"again": state["layer.8.weight"], "p": torch.nn.Parameter(torch.ones(2)), "list": [state["layer.9.weight"], 1]}
    checkpoint = saved(state)
    flat = {name: value for name, value in state.items() if isinstance(value, torch.Tensor)}
    flat |= {"nested.again": state["layer.8.weight"], "nested.p": state["nested"]["p"], "nested.list.0": state["layer.9.weight"]}
    assert set(checkpoint.tensors) == set(flat)
    for name, tensor in flat.items():
        same(checkpoint.tensors[name], tensor)
    assert checkpoint.tensors["tied"].storage == checkpoint.tensors["layer.7.weight"].storage


def test_sparse_quantised_and_conjugated() -> None:
    dense = torch.tensor([[0.0, 1.0, 0.0, 2.0], [3.0, 0.0, 0.0, 0.0]])
    made = {
        "coo": dense.to_sparse(), "csr": dense.to_sparse_csr(), "csc": dense.to_sparse_csc(),
        "bsr": dense.to_sparse_bsr((1, 2)), "bsc": dense.to_sparse_bsc((1, 2)),
    }  # fmt: skip
    complex_ = torch.tensor([1 + 2j, 3 - 4j])
    other = complex_.clone()  # torch saves no two views of one storage as two types
    made |= {"conj": complex_.conj(), "neg": other.conj().imag}
    quantised = torch.quantize_per_channel(dense, torch.tensor([0.1, 0.2]), torch.tensor([0, 3]), 0, torch.qint8)
    checkpoint = saved({**made, "q": quantised})
    for name in ("coo", "csr", "csc", "bsr", "bsc"):
        assert checkpoint.tensors[name].numpy().tolist() == dense.tolist(), name
        assert checkpoint.tensors[name].torch().to_dense().equal(dense), name
    assert checkpoint.tensors["conj"].numpy().tolist() == complex_.conj().resolve_conj().tolist()
    assert checkpoint.tensors["neg"].numpy().tolist() == other.conj().imag.resolve_neg().tolist()
    assert checkpoint.tensors["q"].sha256() == digest(quantised.int_repr())
    assert checkpoint.tensors["q"].dequantize().tolist() == quantised.dequantize().tolist()
    assert checkpoint.tensors["q"].torch().dequantize().equal(quantised.dequantize())


@pytest.mark.parametrize("mapped", [True, False])
def test_load(tmp_path: Path, mapped: bool) -> None:
    """inert.load gives what torch.load gives, as arrays; ties are one array, and a change of one copied view shows in the others."""
    big = torch.arange(12.0).reshape(3, 4)
    path = tmp_path / "model.pt"
    torch.save({"w": big, "tied": big, "row": big[1], "half": big.bfloat16(), "n": 3, "deep": [{"x": big.t()}]}, path)
    theirs = torch.load(path)
    mine = inert.load(path, mmap=mapped)
    assert mine["n"] == 3
    assert mine["w"] is mine["tied"]
    assert mine["w"].tolist() == theirs["w"].tolist()
    assert mine["row"].tolist() == theirs["row"].tolist()
    assert mine["deep"][0]["x"].tolist() == theirs["deep"][0]["x"].tolist()
    assert str(mine["half"].dtype) == "bfloat16"
    assert mine["half"].astype("float32").tolist() == theirs["half"].float().tolist()
    assert mine["w"].flags.writeable is not mapped
    if not mapped:
        mine["w"][1, 0] = 99
        assert mine["row"][0] == 99
        assert mine["deep"][0]["x"][0, 1] == 99
