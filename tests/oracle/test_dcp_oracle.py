"""Folders that torch.distributed.checkpoint writes from several processes, against torch's own consolidation of them, to the bit.

Names, element types, shapes, bytes and all values that are no tensors, and each record of the .distcp files by itself.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

import inert
from inert.tensor import Tensor
from tests.oracle.ranks import NAMED, run

JOBS = [("lines", 2), ("lines", 3), ("grids", 2), ("grids", 4), ("trained", 2), ("trained", 3)]
LEAST = {"lines": 30, "grids": 9, "trained": 20}  # tensors that must have been compared


@pytest.fixture(scope="module", params=JOBS, ids=lambda job: f"{job[0]}-{job[1]}")
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    job, size = request.param
    folder = tmp_path_factory.mktemp(f"{job}{size}")
    run(job, size, folder)
    return job, folder / "saved"


def raw(tensor: torch.Tensor) -> str:
    """SHA-256 of the contiguous bytes."""
    tensor = tensor.detach().contiguous()
    return hashlib.sha256(bytes(tensor.untyped_storage())[: tensor.nbytes] if tensor.numel() else b"").hexdigest()


def told(tensor: torch.Tensor) -> tuple[str, tuple[int, ...], str]:
    return str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape), raw(tensor.clone())


def found(tensor: Tensor) -> tuple[str, tuple[int, ...], str]:
    return str(tensor.dtype), tensor.shape, tensor.sha256()


def leaves(value: Any, path: tuple[Any, ...] = ()) -> dict[tuple[Any, ...], Any]:
    """Every value by its path: tensors as (dtype, shape, hash)."""
    if isinstance(value, (torch.Tensor, Tensor)):
        return {path: told(value) if isinstance(value, torch.Tensor) else found(value)}
    if isinstance(value, (dict, list, tuple)) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        inner: dict[tuple[Any, ...], Any] = {(*path, type(value).__name__.replace("OrderedDict", "dict")): len(value)}
        for key, item in pairs:
            inner |= leaves(item, (*path, key))
        return inner
    return {path: value}


def test_the_whole_is_what_torch_puts_together(saved: tuple[str, Path]) -> None:
    job, folder = saved
    whole = folder.parent / "whole.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp_to_torch_save(folder, whole)
        wanted = leaves(torch.load(whole, weights_only=False))
    with inert.open(folder) as checkpoint:
        assert [str(note) for note in checkpoint.notes] == []
        assert leaves(checkpoint.root) == wanted
        hashes = {tensor.path: found(tensor) for tensor in checkpoint.tensors.values()}
        assert hashes == {path: value for path, value in wanted.items() if type(value) is tuple}
        assert len(hashes) >= LEAST[job]
        if job == "lines":
            assert {tensor.dtype for tensor in checkpoint.tensors.values()} == set(NAMED)
            assert {len(tensor.shape) for tensor in checkpoint.tensors.values()} == {0, 1, 2, 4}


def test_each_record_is_what_torch_reads_from_it(saved: tuple[str, Path]) -> None:
    _, folder = saved
    count = 0
    with inert.open(folder) as checkpoint:
        for (name, offsets), place in checkpoint.content.plan.places.items():
            data = (folder / place.file).read_bytes()[place.offset : place.offset + place.length]
            record = torch.load(io.BytesIO(data), weights_only=False)
            with inert.open(io.BytesIO(data)) as inner:
                assert leaves(inner.root) == leaves(record), name
            if isinstance(record, torch.Tensor):
                tensor = checkpoint.tensors[next(key for key, one in checkpoint.tensors.items() if joined(one.path) == name)]
                role = ",".join(map(str, offsets or ()))
                assert found(tensor.components.get(role, tensor)) == told(record), name
            count += 1
    assert count > 9


def joined(path: tuple[Any, ...]) -> str:
    """A name as torch's planner makes it."""
    return ".".join(map(str, path))


def test_boxes_are_where_the_chunks_lie(saved: tuple[str, Path]) -> None:
    _, folder = saved
    from torch.distributed.checkpoint import FileSystemReader
    from torch.distributed.checkpoint.metadata import TensorStorageMetadata

    said = FileSystemReader(folder).read_metadata().state_dict_metadata
    with inert.open(folder) as checkpoint:
        tensors = {joined(tensor.path): tensor for tensor in checkpoint.tensors.values()}
        several = 0
        for name, entry in said.items():
            if isinstance(entry, TensorStorageMetadata) and len(entry.chunks) > 1:
                wanted = {(tuple(chunk.offsets), tuple(chunk.sizes)) for chunk in entry.chunks}
                assert set(tensors[name].boxes.values()) == wanted
                several += 1
    assert several
