"""What torch 2.13 itself reads from the TorchScript, package and export files of tests/corpus/script, and from files made here."""

from __future__ import annotations

import hashlib
import io
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import inert
from inert.torch.predict import loads
from inert.torch.storages import SCALAR_TYPES

FOLDER = Path(__file__).parent.parent / "corpus" / "script"
SHARED = Path(__file__).parents[3] / "shared" / "corpus" / "torch"
SCRIPTS = ("module.pt", "kinds.pt", "lite.ptl", "flatbuffer.ptl")
pytestmark = pytest.mark.filterwarnings("ignore")


def content(tensor: torch.Tensor) -> str:
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    tensor = tensor.resolve_conj().contiguous()
    start = tensor.storage_offset() * tensor.itemsize
    return hashlib.sha256(bytes(tensor.untyped_storage())[start : start + tensor.nbytes]).hexdigest()


def held(tensor: Any) -> str:
    if tensor.components and tensor.storage is None:
        return hashlib.sha256(tensor.numpy().tobytes()).hexdigest()
    found: str = tensor.sha256()
    return found


@pytest.mark.parametrize("name", SCRIPTS)
def test_state_dicts(name: str) -> None:
    module = torch.jit.load(str(FOLDER / name))  # a flatbuffer's tensors lie in memory that goes with it
    state = module.state_dict()
    with inert.open(FOLDER / name) as checkpoint:
        assert set(state) <= set(checkpoint.tensors)
        for key, tensor in state.items():
            mine = checkpoint.tensors[key]
            assert (list(mine.shape), held(mine)) == (list(tensor.shape), content(tensor)), key
            assert mine.requires_grad == tensor.requires_grad, key


@pytest.mark.parametrize("name", SCRIPTS)
def test_parameters_that_want_gradients_are_known_by_their_type(name: str) -> None:
    module = torch.jit.load(str(FOLDER / name))
    with inert.open(FOLDER / name) as checkpoint:
        typed = {key for key, tensor in checkpoint.tensors.items() if tensor.layout.type}
        assert {key for key, tensor in module.named_parameters() if tensor.requires_grad} <= typed


class Fresh(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList([nn.Conv2d(1, 2, 3), nn.Conv2d(2, 3, 3)])
        self.norm = nn.BatchNorm2d(3)
        self.head = nn.LSTM(4, 5, bidirectional=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for conv in self.convs:
            x = conv(x)
        return self.norm(x)


@pytest.mark.parametrize("way", ["script", "trace", "frozen", "half", "flatbuffer", "lite"])
def test_fresh_modules(way: str, tmp_path: Path) -> None:
    torch.manual_seed(3)
    module, path = Fresh().eval(), tmp_path / "m.pt"
    scripted: Any = torch.jit.trace(module, torch.ones(1, 1, 8, 8)) if way == "trace" else torch.jit.script(module)
    if way == "half":
        scripted = scripted.half()
    if way == "frozen":
        scripted = torch.jit.freeze(scripted)
    if way in ("flatbuffer", "lite"):
        scripted._save_for_lite_interpreter(str(path), _use_flatbuffer=way == "flatbuffer")
    else:
        scripted.save(str(path))
    if way == "frozen":
        wanted = {f"CONSTANTS.{name}": t for name, t in torch.jit.load(str(path)).code_with_constants[1].const_mapping.items()}
    else:
        wanted = dict(scripted.state_dict())
    with inert.open(path) as checkpoint:
        found = {name: checkpoint.tensors[name].sha256() for name in wanted}
        assert found == {name: content(tensor) for name, tensor in wanted.items()}
        assert not checkpoint.errors


def test_every_scalar_type_by_its_number() -> None:
    """A dtype is saved as a number: the ScalarType of what a script keeps as an int."""

    class Kind(nn.Module):
        def __init__(self, kind: torch.dtype) -> None:
            super().__init__()
            self.kind = kind

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.to(self.kind)

    checked = 0
    for dtype in filter(None, SCALAR_TYPES):
        if not hasattr(torch, str(dtype)):
            continue
        out = io.BytesIO()
        torch.jit.save(torch.jit.script(Kind(getattr(torch, str(dtype)))), out)
        with inert.open(out) as checkpoint:
            assert SCALAR_TYPES[checkpoint.root["kind"]] is dtype
        checked += 1
    assert checked > 25


TOO_OLD = ("export_old.pt2", "t2.3.1-py3.11")  # graphs of versions that torch 2.13 reads no more


def test_what_an_exported_program_holds(tmp_path: Path) -> None:
    """Its parameters want gradients: the shared corpus' expectations, which say no, were written from detached copies."""
    fresh = tmp_path / "fresh.pt2"
    torch.export.save(torch.export.export(Fresh().eval(), (torch.ones(1, 1, 8, 8),)), fresh)
    files = [fresh, FOLDER / "export.pt2", FOLDER / "export_old.pt2", *SHARED.glob("*/export_program.pt2")]
    compared: dict[Path, int] = {}
    for path in files:
        old = path.name in TOO_OLD or path.parent.name in TOO_OLD
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                program = torch.export.load(path)
            except Exception:
                assert old, path
                continue
        wanted = {**program.state_dict, **program.constants}
        with inert.open(path) as checkpoint:
            assert list(checkpoint.tensors) == list(wanted)
            for name, tensor in wanted.items():
                mine = checkpoint.tensors[name]
                assert (mine.requires_grad, mine.sha256()) == (tensor.requires_grad, content(tensor))
                assert mine.strides == tensor.stride()
        compared[path] = len(wanted)
    assert len(compared) >= len(files) - len(TOO_OLD)
    assert all(compared.values())
    assert compared[fresh] == len(Fresh().state_dict())


def test_what_a_package_holds() -> None:
    from torch.package import PackageImporter

    importer = PackageImporter(FOLDER / "package.pt")
    state = importer.load_pickle("model", "state.pkl")
    with inert.open(FOLDER / "package.pt") as checkpoint:
        for name, tensor in state.items():
            assert checkpoint.tensors[f"model/state.pkl.{name}"].sha256() == content(tensor)


@pytest.mark.parametrize("path", sorted(path for path in FOLDER.iterdir() if path.suffix != ".json"), ids=lambda path: path.name)
def test_what_is_predicted(path: Path) -> None:
    ways: dict[str, Any] = {
        "full": lambda: torch.load(path, weights_only=False),
        "weights_only": lambda: torch.load(path, weights_only=True),
        "jit": lambda: torch.jit.load(str(path)),
    }
    with inert.open(path) as checkpoint:
        said = loads(checkpoint)
    for way, load in ways.items():
        try:
            load()
            done = True
        except Exception:
            done = False
        assert said[way]["ok"] == done, (way, said[way])
