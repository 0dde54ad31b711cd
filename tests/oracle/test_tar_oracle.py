"""The tar layout against torch 2.13, which still reads it: what ``tests/tars.py`` writes is what torch reads, and inert reads the same."""

from __future__ import annotations

import io
import struct
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from tests.tars import checkpoint, key, sample, storages, tensors

DTYPES = {"Float": "<f4", "Double": "<f8", "Half": "<f2", "Long": "<i8", "Int": "<i4", "Short": "<i2", "Byte": "<u1"}


def test_the_sample(tmp_path: Path) -> None:
    path = tmp_path / "m.pth"
    path.write_bytes(sample())
    read = torch.load(path, weights_only=False)
    with inert.open(path) as found:
        for name, value in {"w": read["w"], "n.0": read["n"][0], "v": read["v"]}.items():
            ours = found.tensors[name]
            assert (ours.shape, ours.strides, ours.offset) == (tuple(value.shape), value.stride(), value.storage_offset())
            assert np.array_equal(ours.numpy(), value.numpy())
        assert found.root["epoch"] == read["epoch"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(DTYPES)), st.integers(0, 4), st.integers(0, 3), st.integers(0, 2)), max_size=5))
def test_any_tensors(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, int, int, int]]) -> None:
    held, listed, root = [], [], {}
    for number, (kind, rows_, columns, offset) in enumerate(rows):
        values = np.arange(offset + rows_ * columns).astype(DTYPES[kind])
        held.append((number, kind, values.tobytes()))
        listed.append((100 + number, number, kind, (rows_, columns), (columns, 1), offset))
        root[str(number)] = key(100 + number)
    path = tmp_path_factory.mktemp("tar") / "m.pth"
    path.write_bytes(checkpoint(root, storages(held), tensors(listed)))
    read = torch.load(path, weights_only=False)
    with inert.open(path) as found:
        assert list(found.tensors) == list(read)
        for name, value in read.items():
            assert str(value.dtype).removeprefix("torch.") == str(found.tensors[name].dtype)
            assert np.array_equal(found.tensors[name].numpy(), value.numpy())


def test_torch_refuses_what_inert_notes(tmp_path: Path) -> None:
    path = tmp_path / "m.pth"
    data = sample()
    start = data.index(struct.pack("<8f", *range(8)))
    path.write_bytes(data[: start + 40])
    with pytest.raises(Exception, match=r"."):
        torch.load(path, weights_only=False)
    with inert.open(io.BytesIO(path.read_bytes())) as found:
        assert found.errors
