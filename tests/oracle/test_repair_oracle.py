"""What repair writes of files cut short is loaded by the programs it is for: torch.load, torch.jit.load and safetensors, with the values that they
read from the whole file."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

import inert
from tests.conformance import name_of
from tests.cuts import CORPUS, SAMPLES, Cutter
from tests.makers import Entry, zip_bytes

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.filterwarnings("ignore:TypedStorage"),
    pytest.mark.filterwarnings("ignore:torch.quantize_"),
    pytest.mark.filterwarnings("ignore:.torch.jit"),
]
CUTS = 12
TORCH = ("zip", "zip-sharing", "zip-deflated", "zip-1.6", "lightning", "quantized", "legacy", "legacy-views", "tar", "sharded-bin")


def tensors(value: Any) -> dict[str, Any]:
    """The tensors of what torch has loaded, by the names that inert has for them."""
    found: dict[str, Any] = {}
    todo: list[tuple[list[list[Any]], Any]] = [([], value)]
    while todo:
        path, here = todo.pop()
        if isinstance(here, torch.Tensor):
            found[name_of(path)] = here
        elif isinstance(here, dict):
            todo += [([*path, ["key", key]], item) for key, item in here.items()]
        elif isinstance(here, (list, tuple)):
            todo += [([*path, ["index", at]], item) for at, item in enumerate(here)]
    return found


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.is_quantized:
        one, other = one.int_repr(), other.int_repr()
    one, other = one.detach().contiguous(), other.detach().contiguous()
    return (
        one.dtype == other.dtype
        and one.shape == other.shape
        and bool(torch.equal(one.reshape(-1).view(torch.uint8), other.reshape(-1).view(torch.uint8)))
    )


def cuts(name: str, cutter: Cutter) -> list[int]:
    """Some that leave at least one tensor whole, and the whole file."""
    least, size = min(filter(None, cutter.sample.needs.values())), len(cutter.whole)
    return [*random.Random(name).sample(range(least, size), min(CUTS, size - least)), size]


@pytest.mark.parametrize("name", TORCH)
def test_torch_loads_what_is_left(name: str, tmp_path: Path) -> None:
    cutter = Cutter(SAMPLES[name](tmp_path), tmp_path)
    source = cutter.path
    whole = tensors(torch.load(source, weights_only=False))
    for cut in cuts(name, cutter):
        source.write_bytes(cutter.whole[:cut])
        out = tmp_path / f"{cut}.pt"
        done = inert.repair(source, out, sync=False)
        found = tensors(torch.load(out, weights_only=name != "lightning"))
        assert set(done.recovered) <= set(found)
        if done.format == "torch-zip":
            assert set(tensors(torch.load(out, weights_only=name != "lightning", mmap=True))) == set(found)
        known = set(done.recovered) & set(whole)
        assert known
        assert not [key for key in known if not alike(found[key], whole[key])], cut


def test_safetensors_loads_what_is_left(tmp_path: Path) -> None:
    cutter = Cutter(SAMPLES["safetensors"](tmp_path), tmp_path)
    whole = safetensors.torch.load_file(cutter.path)
    for cut in cuts("safetensors", cutter):
        cutter.path.write_bytes(cutter.whole[:cut])
        done = inert.repair(cutter.path, tmp_path / "out.safetensors", fill="nan", sync=False)
        found = safetensors.torch.load_file(tmp_path / "out.safetensors")
        assert {*done.recovered, *done.filled} == set(found)
        assert all(alike(found[key], whole[key]) for key in done.recovered)
        with safetensors.safe_open(tmp_path / "out.safetensors", "pt") as file:
            told = (file.metadata() or {}).get("filled_by_inert_repair", "")
            assert bool(told) == bool(done.filled)


def test_torch_loads_filled_files_and_every_mended_one(tmp_path: Path) -> None:
    """Of each damaged file of the corpus of which anything is left."""
    count = 0
    for path in sorted((CORPUS / "broken").glob("*.pt")):
        for suffix in (".pt", "-legacy.pt"):
            try:
                done = inert.repair(path, tmp_path / f"out{suffix}", fill="zeros", to="torch-legacy" if "-" in suffix else None, sync=False)
            except inert.InertError:
                continue
            found = torch.load(tmp_path / f"out{suffix}", weights_only=True)
            assert {*done.recovered, *done.filled} <= set(found), path.name
            count += 1
    assert count > 30


def test_a_whole_program_whose_directory_is_lost_runs(tmp_path: Path) -> None:
    raw = (CORPUS / "script" / "module.pt").read_bytes()
    source = tmp_path / "module.pt"
    source.write_bytes(raw[: raw.rindex(b"PK\6\6")])
    done = inert.repair(source, tmp_path / "out.pt", sync=False)
    assert done.format == "torchscript"
    before, after = torch.jit.load(CORPUS / "script" / "module.pt"), torch.jit.load(tmp_path / "out.pt")
    assert after.code == before.code
    assert all(alike(after.state_dict()[key], value) for key, value in before.state_dict().items())


def test_an_archive_of_another_library_is_mapped_again(tmp_path: Path) -> None:
    """Without alignment and with records that are deflated, torch cannot map it."""
    import zipfile

    source = tmp_path / "again.pt"
    with zipfile.ZipFile(CORPUS / "torch" / "small.pt") as there:
        source.write_bytes(zip_bytes([Entry(name, there.read(name), method=8) for name in there.namelist()], align=1))
    inert.repair(source, tmp_path / "out.pt", sync=False)
    whole = torch.load(CORPUS / "torch" / "small.pt", weights_only=True)
    wrong = torch.load(source, weights_only=True, mmap=True)  # the compressed bytes, read as if they were values
    assert not any(alike(wrong[key], whole[key]) for key in whole)
    found = torch.load(tmp_path / "out.pt", weights_only=True, mmap=True)
    assert all(alike(found[key], whole[key]) for key in whole)
