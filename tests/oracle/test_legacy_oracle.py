"""The layout before 1.6 against torch 2.13, which still writes it on request: any state dict is read as torch reads it, to the bit."""

from __future__ import annotations

import hashlib
import io
from collections import OrderedDict
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

import inert

READ = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool,
    torch.complex64, torch.complex128,
]  # fmt: skip
# Torch writes these without a storage class and then cannot read them back.
WRITTEN = [
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
    torch.complex32,
]


def saved(value: Any, protocol: int = 2) -> io.BytesIO:
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=False, pickle_protocol=protocol)
    buffer.seek(0)
    return buffer


def content(tensor: torch.Tensor) -> str:
    raw = tensor.detach().resolve_conj().resolve_neg().contiguous().clone()
    return hashlib.sha256(bytes(raw.untyped_storage())[: raw.nbytes]).hexdigest()


def same(ours: Any, theirs: torch.Tensor) -> None:
    assert str(theirs.dtype) == f"torch.{ours.dtype}"
    assert ours.shape == tuple(theirs.shape)
    assert ours.requires_grad == theirs.requires_grad
    assert ours.sha256() == content(theirs)
    if theirs.numel() > 1:
        assert (ours.strides, ours.offset) == (theirs.stride(), theirs.storage_offset())


@st.composite
def tensors(draw: Any, kinds: list[torch.dtype]) -> torch.Tensor:
    kind = draw(st.sampled_from(kinds))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    raw = torch.frombuffer(bytearray(draw(st.binary(min_size=1040, max_size=1040))), dtype=torch.uint8)
    if kind is torch.bool:
        raw = raw & 1
    base = raw[: 64 * kind.itemsize].view(kind).reshape(4, 4, 4)
    value = base[tuple(slice(0, size) for size in shape)] if shape else base[1, 2, 3]
    how = draw(st.integers(0, 3))
    if how == 1 and value.dim() == 2:
        value = value.t()
    if how == 2 and kind.is_floating_point and kind.itemsize > 1:
        value = nn.Parameter(value, requires_grad=draw(st.booleans()))
    return value


@settings(max_examples=120, deadline=None)
@given(
    st.dictionaries(
        st.text(st.characters(blacklist_characters=".", blacklist_categories=["Cs"]), min_size=1, max_size=12), tensors(READ), max_size=5
    ),
    st.integers(2, 5),
)
def test_any_state_dict(state: dict[str, torch.Tensor], protocol: int) -> None:
    state = OrderedDict(state)
    for number, value in enumerate(list(state.values())[:2]):
        state[f"shared{number}"] = value.detach()
    file = saved(state, protocol)
    read = torch.load(file, weights_only=False)
    with inert.open(file) as found:
        assert found.format == "torch-legacy"
        assert list(found.tensors) == list(read)
        for name, value in read.items():
            same(found.tensors[name], value)
        for first in read:
            for other in read:
                if read[first].numel() and read[other].numel():
                    shares = read[first].untyped_storage().data_ptr() == read[other].untyped_storage().data_ptr()
                    assert (found.tensors[first].storage == found.tensors[other].storage) == shares
        assert not found.errors


@pytest.mark.filterwarnings("ignore:ComplexHalf")
@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdef"), tensors(WRITTEN), max_size=4))
def test_what_torch_writes_but_cannot_read(state: dict[str, torch.Tensor]) -> None:
    file = saved(state)
    if state:
        with pytest.raises(Exception, match=r"."):
            torch.load(file, weights_only=False)
    file.seek(0)
    with inert.open(file) as found:
        assert list(found.tensors) == list(state)
        for name, value in state.items():
            assert str(value.dtype) == f"torch.{found.tensors[name].dtype}"
            assert found.tensors[name].shape == tuple(value.shape)
            assert found.tensors[name].sha256() == content(value)


def test_a_module_with_the_source_of_its_classes() -> None:
    module = nn.Sequential(OrderedDict(fc=nn.Linear(3, 2), norm=nn.BatchNorm1d(2)))
    file = saved(module)
    with inert.open(file) as found:
        assert found.root.type == "torch.nn.modules.container.Sequential"
        assert list(found.tensors) == list(module.state_dict())
        for name, value in module.state_dict(keep_vars=True).items():
            same(found.tensors[name], value)
        sources = [note.message for note in found.notes if note.code == "module-source"]
        assert len(sources) == 3
        assert any("BatchNorm1d" in text for text in sources)


def test_two_saves_in_one_file_are_what_two_loads_give() -> None:
    buffer = io.BytesIO()
    values = [{"a": torch.arange(5.0)}, {"b": torch.arange(3), "n": 2}]
    for value in values:
        torch.save(value, buffer, _use_new_zipfile_serialization=False)
    buffer.seek(0)
    read = [torch.load(buffer, weights_only=False) for _ in values]
    with inert.open(buffer) as found:
        same(found.tensors["0.a"], read[0]["a"])
        same(found.tensors["1.b"], read[1]["b"])
        assert found.root[1]["n"] == 2
