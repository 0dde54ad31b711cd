"""What inert.convert makes, held against torch's own doing: casts, parts, dense and compact tensors, Lightning, weights_only.

Expected values come from torch 2.13 and lightning 2.6 in the same run.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import inert
from inert.casts import cast
from inert.dtypes import DTYPES
from inert.errors import InertError
from inert.names import Lister
from inert.torch.predict import loads
from tests.corpus.describe import content
from tests.corpus.make_casts import WIDTHS, settled

ROOT = Path(__file__).parents[2]
OWN, SHARED = ROOT / "tests" / "corpus", ROOT.parent / "shared" / "corpus"
SIGNED = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
PAIRS = [(source, target) for source in WIDTHS for target in WIDTHS if source != target]


def digest(tensor: torch.Tensor) -> str:
    return hashlib.sha256(content(tensor)).hexdigest()


def loaded(path: Path) -> Any:
    return torch.load(path, weights_only=True, map_location="cpu")


def bits(tensor: torch.Tensor) -> Any:
    return tensor.view(SIGNED[tensor.element_size()]).numpy()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_casts_are_those_of_torch(source: str, target: str) -> None:
    """Every value of 8 and 16 bits, a million of 32 and 64: the same bits, but for which NaN it is."""
    width = WIDTHS[source]
    kind = np.dtype(f"u{width}")
    if width < 4:
        raw = np.arange(1 << 8 * width, dtype=kind)
    else:
        rng = np.random.default_rng(0)
        narrow = rng.standard_normal(500_000) * np.exp(rng.uniform(-80, 80, 500_000))
        raw = np.concatenate([rng.integers(0, 1 << 32, 500_000 * width // 4, dtype="u4").view(kind), narrow.astype(f"f{width}").view(kind)])
    given = torch.from_numpy(raw.view(np.dtype(str(SIGNED[width]).removeprefix("torch.")))).view(getattr(torch, source))
    wanted = bits(given.to(getattr(torch, target)))
    made = cast(raw.view(DTYPES[source].array_type()), DTYPES[target])[0]
    assert settled(made, target) == settled(wanted, target)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 8))
        self.head = nn.Linear(8, 8)
        self.head.weight = self.body[2].weight  # tied
        self.register_buffer("table", torch.randn(5).half())


def trained(path: Path) -> dict[str, Any]:
    """A training checkpoint with an optimizer's state."""
    torch.manual_seed(0)
    net = Net()
    optimizer = torch.optim.AdamW(net.parameters())
    sum(p.sum() for p in net.parameters()).backward()
    optimizer.step()
    state = {"epoch": 3, "state_dict": net.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, path)
    return state


def test_strip_extract_and_cast_as_torch_does(tmp_path: Path) -> None:
    state = trained(tmp_path / "in.pt")
    weights = {name: t.bfloat16() if t.is_floating_point() else t for name, t in state["state_dict"].items()}
    inert.convert(tmp_path / "in.pt", tmp_path / "stripped.pt", drop=["optimizer"])
    inert.convert(tmp_path / "stripped.pt", tmp_path / "weights.pt", root="state_dict")
    inert.convert(tmp_path / "weights.pt", tmp_path / "out.pt", dtype="bf16")
    inert.convert(tmp_path / "in.pt", tmp_path / "once.pt", unwrap=True, dtype="bf16")
    for name in ("out.pt", "once.pt"):
        made = loaded(tmp_path / name)
        assert list(made) == list(weights)
        assert {key: digest(t) for key, t in made.items()} == {key: digest(t) for key, t in weights.items()}
        assert made["head.weight"].data_ptr() == made["body.2.weight"].data_ptr()
        assert torch.load(tmp_path / name, weights_only=True, mmap=True).keys() == made.keys()
        with inert.open(tmp_path / name) as ckpt:
            assert {key: t.sha256() for key, t in ckpt.tensors.items()} == {key: digest(t) for key, t in weights.items()}
    assert loaded(tmp_path / "stripped.pt").keys() == {"epoch", "state_dict"}


def test_strip_extract_cast_shard_and_merge_as_torch_does(tmp_path: Path) -> None:
    """The whole way, by formats of other libraries and back: every tensor is the one that torch makes."""
    torch.manual_seed(0)
    weights = {f"layers.{i}.weight": torch.randn(256, 300 + i) for i in range(20)} | {"steps": torch.arange(7)}
    torch.save({"state_dict": weights, "optimizer": {"state": {}, "param_groups": []}, "epoch": 1}, tmp_path / "in.pt")
    wanted = {name: digest(t.bfloat16() if t.is_floating_point() else t) for name, t in weights.items()}
    inert.convert(tmp_path / "in.pt", tmp_path / "out.pt", drop=["optimizer"], dtype="bf16")
    (tmp_path / "shards").mkdir()
    inert.convert(tmp_path / "out.pt", tmp_path / "shards", root="state_dict", max_shard_size="1MB")
    assert len(list((tmp_path / "shards").glob("*-of-*"))) > 2
    inert.convert(tmp_path / "shards", tmp_path / "merged.pt")
    inert.convert(tmp_path / "shards", tmp_path / "merged.safetensors")
    assert {name: digest(t) for name, t in loaded(tmp_path / "merged.pt").items()} == wanted
    library = pytest.importorskip("safetensors.torch")
    assert {name: digest(t) for name, t in library.load_file(tmp_path / "merged.safetensors").items()} == wanted


def test_renamed_weights_fit_the_module_that_they_are_for(tmp_path: Path) -> None:
    state = trained(tmp_path / "in.pt")
    inert.convert(tmp_path / "in.pt", tmp_path / "out.pt", root="state_dict", keep=["body"], rename={r"^body\.": ""})
    made, net = loaded(tmp_path / "out.pt"), Net().body
    assert made._metadata["1"] == {"version": 2}  # BatchNorm asks for it
    assert made._metadata[""] == state["state_dict"]._metadata["body"]
    net.load_state_dict(made)
    assert all(torch.equal(made[name], state["state_dict"][f"body.{name}"]) for name in made)


@pytest.mark.parametrize("target", ["float16", "float8_e4m3fn", "float8_e5m2", "float64"])
def test_parameters_and_views_are_cast_as_torch_does(target: str, tmp_path: Path) -> None:
    big = torch.randn(64, 32) * 1e4
    state = {
        "parameter": nn.Parameter(big[:4].clone()), "leaf": torch.randn(3, requires_grad=True), "t": big.t(), "row": big[3], "step": big[::2, ::3],
        "expanded": big[:1].expand(5, 32), "neg": torch.randn(3, dtype=torch.complex64).conj().imag, "last": torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        "empty": torch.empty(0, 3), "scalar": torch.tensor(1.5), "int": torch.arange(3), "complex": torch.ones(2, dtype=torch.complex64),
    }  # fmt: skip
    torch.save(state, tmp_path / "in.pt")
    inert.convert(tmp_path / "in.pt", tmp_path / "out.pt", dtype=target)
    made = loaded(tmp_path / "out.pt")
    for name, t in state.items():
        wanted = t.detach().resolve_neg().to(getattr(torch, target)) if t.is_floating_point() else t
        assert made[name].dtype == wanted.dtype, name
        assert digest(made[name]) == digest(wanted), name
    assert isinstance(made["parameter"], nn.Parameter)
    assert made["last"].stride() == state["last"].stride()
    assert made["t"].untyped_storage().data_ptr() == made["row"].untyped_storage().data_ptr()


def test_dense_is_to_dense_and_dequantize(tmp_path: Path) -> None:
    torch.manual_seed(0)
    x = torch.relu(torch.randn(4, 6))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        state = {
            "coo": x.to_sparse(), "csr": x.to_sparse_csr(), "csc": x.to_sparse_csc(), "bsr": x.to_sparse_bsr((2, 3)), "bsc": x.to_sparse_bsc((2, 3)),
            "half": x.half().to_sparse(), "tensor": torch.quantize_per_tensor(x, 0.07, 3, torch.quint8),
            "channels": torch.quantize_per_channel(x, torch.rand(4) + 0.1, torch.arange(4), 0, torch.qint8),
            "turned": torch.quantize_per_tensor(x, 0.07, 3, torch.qint32).t(), "plain": x,
        }  # fmt: skip
        torch.save(state, tmp_path / "in.pt")
        wanted = {name: t.dequantize() if t.is_quantized else t.to_dense() for name, t in state.items()}
    inert.convert(tmp_path / "in.pt", tmp_path / "out.pt", dense=True)
    made = loaded(tmp_path / "out.pt")
    assert {name: (t.dtype, digest(t)) for name, t in made.items()} == {name: (t.dtype, digest(t)) for name, t in wanted.items()}


def test_compact_and_untied_tensors_are_equal_and_smaller(tmp_path: Path) -> None:
    base = torch.arange(10_000.0)
    state = {"a": base[10:20], "b": base[15:30], "c": base[500:600].view(10, 10).t(), "d": base[::100], "e": torch.ones(3)}
    state["f"] = state["a"]
    torch.save(state, tmp_path / "in.pt")
    inert.convert(tmp_path / "in.pt", tmp_path / "compact.pt", compact=True)
    inert.convert(tmp_path / "in.pt", tmp_path / "copied.pt", shared="copy", compact=True)
    for name in ("compact.pt", "copied.pt"):
        made = loaded(tmp_path / name)
        assert {key: digest(t) for key, t in made.items()} == {key: digest(t) for key, t in state.items()}
    made = loaded(tmp_path / "copied.pt")
    assert len({t.untyped_storage().data_ptr() for t in made.values()}) == len(made)
    assert made["f"].untyped_storage().nbytes() == 40


@pytest.mark.filterwarnings("ignore:ComplexHalf")
def test_old_types_hold_the_same_values(tmp_path: Path) -> None:
    state = {
        "u16": torch.tensor([0, 65535], dtype=torch.uint16), "u32": torch.tensor([0, 2**32 - 1], dtype=torch.uint32),
        "u64": torch.tensor([0, 2**63 - 1], dtype=torch.uint64), "c": torch.tensor([1 + 2j, -3.5], dtype=torch.complex32),
    }  # fmt: skip
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"):
        state[name] = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name))
    torch.save(state, tmp_path / "in.pt")
    inert.convert(tmp_path / "in.pt", tmp_path / "out.pt", rebuild="v2")
    made = loaded(tmp_path / "out.pt")
    for name, t in state.items():
        wanted = t.to(torch.complex64 if name == "c" else torch.float64 if t.is_floating_point() else torch.int64)
        assert torch.equal(torch.nan_to_num(made[name].to(wanted.dtype), 7e7), torch.nan_to_num(wanted, 7e7)), name


def test_a_device_tag_goes_and_the_tensors_stay(tmp_path: Path) -> None:
    for path in sorted(OWN.glob("crafted/location_*.pt")):
        inert.convert(path, tmp_path / "out.pt", device="cpu")
        with inert.open(path) as ckpt:
            wanted = {name: t.sha256() for name, t in ckpt.tensors.items()}
        made = torch.load(tmp_path / "out.pt", weights_only=True)  # no map_location
        assert {name: digest(t) for name, t in made.items()} == wanted
        assert {t.device.type for t in made.values()} == {"cpu"}


# --------------------------------------------------------------------------------------------------------------------- Lightning


@pytest.mark.parametrize("version", ["2.6.6", "2.0.9", "1.9.5", "1.5.10"])
def test_lightning_loads_a_wrapped_state_dict(version: str, tmp_path: Path) -> None:
    pl = pytest.importorskip("lightning.pytorch")

    class Module(pl.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))

    module = Module()
    torch.save(module.state_dict(), tmp_path / "weights.pt")
    inert.convert(tmp_path / "weights.pt", tmp_path / "x.ckpt", lightning=version)
    again = Module.load_from_checkpoint(tmp_path / "x.ckpt", map_location="cpu", weights_only=True)
    assert all(torch.equal(a, b) for a, b in zip(module.state_dict().values(), again.state_dict().values(), strict=True))
    inert.convert(tmp_path / "x.ckpt", tmp_path / "back.pt", unwrap=True)
    back = loaded(tmp_path / "back.pt")
    assert list(back) == list(module.state_dict())
    assert back._metadata == module.state_dict()._metadata


# ------------------------------------------------------------------------------------------------------------------ weights_only

SIZE = 4_000_000  # bytes of the largest file that is looked at here
SLOW = ("deep_", "copies_", "dag_", "bomb", "exponential", "equal_")
HUGE = 1 << 27  # elements of a tensor whose storage is small: torch cannot make it contiguous
FILES = sorted(
    path
    for folder in (OWN, *(SHARED / kind for kind in ("torch", "lightning", "thirdparty", "vector") if SHARED.is_dir()))
    for path in folder.rglob("*")
    if path.is_file() and path.suffix in (".pt", ".pth", ".ckpt", ".bin", ".pkl", ".pickle", ".tar", ".ptl") and path.stat().st_size < SIZE
    if not path.name.startswith(SLOW)
)


def kept(path: Path) -> set[tuple[str, tuple[int, ...], str]]:
    """(type, shape, hash) of every tensor and array that inert reads in a file."""
    with inert.open(path) as ckpt:
        root = Lister(ckpt.root, ckpt.content.limits).tensors.values()
        plain = [t for t in root if t.kind in ("dense", "tiled", "numpy") and t.dtype in DTYPES and t.size < HUGE]
        return {(str(t.dtype), t.shape, t.sha256()) for t in plain if t.dtype.kind not in "so"}


def found(root: Any) -> set[tuple[str, tuple[int, ...], str]]:
    """The same of what torch has loaded."""
    seen: set[int] = set()
    made, todo = set(), [root]
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, torch.Tensor):
            plain = value.layout == torch.strided and not value.is_quantized and not value.is_nested and value.device.type == "cpu"
            if plain and value.numel() < HUGE:
                made.add((str(value.dtype).removeprefix("torch."), tuple(value.shape), digest(value)))
        elif isinstance(value, dict):
            todo += list(value.values())
        elif isinstance(value, (list, tuple, set)):
            todo += list(value)
    return made


def test_torch_loads_every_sanitised_file_of_the_corpus(tmp_path: Path) -> None:
    out, counts, wrong = tmp_path / "plain.pt", Counter[str](), []
    for path in FILES:
        try:
            with inert.open(path):
                pass
            inert.convert(path, out, to="torch-zip", for_weights_only=True, sync=False)
        except InertError:
            counts["refused"] += 1
            continue
        with inert.open(out) as ckpt:
            told = loads(ckpt)["weights_only"]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                made = loaded(out)
                missing = kept(path) - found(made)
        except Exception as error:  # whatever torch raises
            wrong.append(f"{path}: {str(error)[:200]}")
            continue
        if missing or not told["ok"]:
            wrong.append(f"{path}: {told['why']}; missing {list(missing)[:2]}")
        counts["loaded"] += 1
    assert not wrong, "\n".join(wrong)
    assert counts["loaded"] > 150
    assert counts["refused"] < len(FILES) // 3, counts
