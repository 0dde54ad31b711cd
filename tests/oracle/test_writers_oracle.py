"""The libraries read what inert writes, and write the same bytes: safetensors, huggingface_hub and torch 2.13 itself."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inert
from inert.errors import InertError, UnsupportedError
from inert.writers.safetensors import SPELLED
from inert.writers.sharded import bytes_of

safetensors: Any = pytest.importorskip("safetensors")
from safetensors.numpy import save_file as save_numpy  # noqa: E402 - the line above says why
from safetensors.torch import load_file, save_file, save_model  # noqa: E402

CORPUS = Path(__file__).parent.parent / "corpus"
TYPES = [getattr(torch, name) for name in SPELLED if hasattr(torch, name)]
FILES = [
    path
    for kind in ("torch", "legacy", "lightning", "safetensors")
    for path in sorted((CORPUS / kind).glob("*.*"))
    if path.suffix != ".json"
]
pytestmark = pytest.mark.oracle
names = st.text(st.characters(exclude_categories=("Cs",)), max_size=8).filter(lambda name: "." not in name and name != "__metadata__")
shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)


def filled(dtype: torch.dtype, shape: tuple[int, ...], seed: int) -> torch.Tensor:
    count = int(np.prod(shape, dtype=int))
    generator = torch.Generator().manual_seed(seed)
    raw = torch.randint(0, 2 if dtype is torch.bool else 256, (max(count, 1) * dtype.itemsize,), dtype=torch.uint8, generator=generator)
    return raw.view(dtype)[:count].reshape(shape).clone()


def content(tensor: torch.Tensor) -> str:
    raw = tensor.detach().resolve_conj().resolve_neg().contiguous().clone()
    return hashlib.sha256(bytes(raw.untyped_storage())[: raw.nbytes]).hexdigest()


tensors = st.builds(filled, st.sampled_from([one for one in TYPES if one is not torch.float4_e2m1fn_x2]), shapes, st.integers(0, 99))
states = st.dictionaries(names, tensors, max_size=8)
QUIET = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


# -- safetensors ------------------------------------------------------------------------------------------------------------------------


@QUIET
@given(states)
def test_save_file_writes_the_same_bytes(tmp_path: Path, state: dict[str, torch.Tensor]) -> None:
    said = inert.save(state, tmp_path / "ours.safetensors", sync=False)
    save_file(state, tmp_path / "theirs.safetensors", metadata={"format": "pt"})
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()
    assert not said.lost
    assert not said.notes


def test_every_type_that_torch_and_the_format_have(tmp_path: Path) -> None:
    assert len(TYPES) == 20
    state = {str(dtype): filled(dtype, (4, 2), 1) for dtype in TYPES}
    inert.save(state, tmp_path / "ours.safetensors")
    save_file(state, tmp_path / "theirs.safetensors", metadata={"format": "pt"})
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()


def test_arrays_of_numpy(tmp_path: Path) -> None:
    state = {f"{name} é\n": np.arange(6).astype(name).reshape(2, 3) for name in ("u1", "i2", "f2", "f4", "f8", "c8", "?", "u8", "i8", "u4")}
    inert.save(state, tmp_path / "ours.safetensors")
    save_numpy(state, tmp_path / "theirs.safetensors", metadata={"format": "pt"})
    assert (tmp_path / "ours.safetensors").read_bytes() == (tmp_path / "theirs.safetensors").read_bytes()


def test_a_model_with_ties_is_written_as_save_model_does(tmp_path: Path) -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(5, 3)
            self.head = torch.nn.Linear(3, 5)
            self.head.weight = self.embed.weight

    model = Tied()
    said = inert.save(model.state_dict(), tmp_path / "ours.safetensors")
    save_model(model, tmp_path / "theirs.safetensors")
    assert [note.code for note in said.notes] == ["shared-alias"]
    with (
        safetensors.safe_open(tmp_path / "ours.safetensors", "pt") as ours,
        safetensors.safe_open(tmp_path / "theirs.safetensors", "pt") as theirs,
    ):
        assert ours.metadata() == {"format": "pt", **theirs.metadata()}
        assert list(ours.keys()) == list(theirs.keys())
    again = Tied()
    safetensors.torch.load_model(again, tmp_path / "ours.safetensors")
    assert torch.equal(again.head.weight, model.head.weight)


VIEWS = {
    "transposed": lambda base: base.t(), "expanded": lambda base: base.unsqueeze(0).expand(3, 4, 6), "sliced": lambda base: base[1:, ::2],
    "channels_last": lambda base: base.reshape(1, 2, 3, 4).to(memory_format=torch.channels_last), "empty": lambda base: base[:0],
    "scalar": lambda base: base[1, 2], "half": lambda base: base.half(), "fp8": lambda base: base.to(torch.float8_e4m3fn).t(),
    "conj": lambda base: torch.complex(base, base).conj(), "neg": lambda base: torch.complex(base, base).conj().imag,
}  # fmt: skip


@pytest.mark.parametrize("shared", ["alias", "copy"])
def test_views(shared: str, tmp_path: Path) -> None:
    base = torch.arange(24.0).reshape(4, 6)
    state = {"base": base, **{name: make(base) for name, make in VIEWS.items()}}
    inert.save(state, tmp_path / "memory.safetensors", shared=shared)
    torch.save(state, tmp_path / "x.pt")
    with inert.open(tmp_path / "x.pt") as found:
        inert.save(found.root, tmp_path / "file.safetensors", shared=shared)
    for name in ("memory", "file"):
        found = load_file(tmp_path / f"{name}.safetensors")
        assert found.keys() == state.keys()
        for key, tensor in state.items():
            assert found[key].dtype == tensor.dtype
            assert found[key].shape == tensor.shape
            assert content(found[key]) == content(tensor), key


@pytest.mark.parametrize("dtype", [torch.complex128, torch.complex32])
def test_what_the_library_refuses_is_refused(dtype: torch.dtype, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, of complex32
        state = {"w": filled(dtype, (2,), 1)}
    with pytest.raises((KeyError, ValueError, safetensors.SafetensorError)):
        save_file(state, tmp_path / "theirs.safetensors")
    with pytest.raises(UnsupportedError, match=r"w: safetensors has no complex\d+; leave it out .* as complex64"):
        inert.save(state, tmp_path / "ours.safetensors")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_corpus_as_safetensors(path: Path, tmp_path: Path) -> None:
    """The library reads every tensor of every file as inert reads it from the source; what cannot be is refused by name."""
    with inert.open(path) as found:
        good = {
            name: one
            for name, one in found.tensors.items()
            if one.dtype in SPELLED and one.kind in ("dense", "numpy", "tiled") and not one.fault
        }
        if len(good) < len(found.tensors):
            with pytest.raises(InertError) as caught:
                inert.save(found.root, tmp_path / "x.safetensors", shared="copy")
            assert caught.value.part in found.tensors
        state = {("x" if name == "__metadata__" else name): one for name, one in good.items()}
        inert.save(state, tmp_path / "x.safetensors", shared="copy", sync=False)
        with safetensors.safe_open(tmp_path / "x.safetensors", "pt") as read:
            assert sorted(read.keys()) == sorted(state)
            for name, one in state.items():
                theirs = read.get_tensor(name)
                assert str(theirs.dtype) == f"torch.{one.dtype}"
                assert tuple(theirs.shape) == one.shape
                assert content(theirs) == one.sha256()


# -- shards -----------------------------------------------------------------------------------------------------------------------------


@st.composite
def models(draw: Any) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = {}
    for number in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["plain", "plain", "tied", "transposed", "empty", "large"]))
        shape = (draw(st.integers(1, 12)), draw(st.integers(1, 12)))
        made = filled(draw(st.sampled_from([torch.float32, torch.float16, torch.int64, torch.bfloat16])), shape, number)
        whole = [one for one in state.values() if one.is_contiguous() and one.numel()]
        if kind == "tied" and whole:
            made = draw(st.sampled_from(whole))
        elif kind == "transposed":
            made = made.t()
        elif kind == "empty":
            made = torch.zeros(0, 3)
        elif kind == "large":
            made = torch.ones(30, 30)
        state[f"{draw(st.sampled_from('zkab'))}.{number}"] = made
    return state


@QUIET
@given(models(), st.sampled_from([500, 1000, 3000, 10**6]), st.booleans())
def test_shards_are_dealt_as_the_hub_s_library_does(tmp_path_factory: pytest.TempPathFactory, state: Any, most: int, safe: bool) -> None:
    hub = pytest.importorskip("huggingface_hub")
    ours, theirs = tmp_path_factory.mktemp("ours"), tmp_path_factory.mktemp("theirs")
    hub.save_torch_state_dict(dict(state), theirs, max_shard_size=most, safe_serialization=safe)
    inert.save(state, ours, format="safetensors" if safe else "torch-zip", max_shard_size=most, sync=False)
    assert sorted(file.name for file in ours.iterdir()) == sorted(file.name for file in theirs.iterdir())
    for file in ours.iterdir():
        one, other = file.read_bytes(), (theirs / file.name).read_bytes()
        if one != other and file.name == "model.safetensors":  # the library writes several aliases in an order of chance
            texts = safetensors.safe_open(file, "pt").metadata()
            assert texts == safetensors.safe_open(theirs / file.name, "pt").metadata()
            assert len(texts) > 1
            one, other = (data[8 + int.from_bytes(data[:8], "little") :] for data in (one, other))
        assert one == other, file.name


@pytest.mark.parametrize("text", ["5GB", "1.5MB", "700KB", "0.3TB"])
def test_sizes_mean_what_they_mean_to_the_hub_s_library(text: str) -> None:
    pytest.importorskip("huggingface_hub")
    from huggingface_hub.serialization._base import parse_size_to_int

    assert bytes_of(text) == parse_size_to_int(text)


# -- legacy -----------------------------------------------------------------------------------------------------------------------------

READ = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int8,
    torch.uint8,
    torch.bool,
    torch.complex64,
)
KEY = re.compile(rb"(?<!\d)\d{14,15}(?!\d)")
leaves = st.one_of(st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False), st.text(max_size=5))
values = st.recursive(
    st.one_of(leaves, st.builds(filled, st.sampled_from(READ), shapes, st.integers(0, 99))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.tuples(inner, inner), st.dictionaries(st.text(max_size=4), inner, max_size=4),
        st.dictionaries(st.text(max_size=4), inner, max_size=4).map(OrderedDict),
    ),
    max_leaves=12,
)  # fmt: skip


def split(data: bytes) -> tuple[bytes, list[bytes]]:
    """The four pickles before the list of keys, with keys numbered as they come; each storage with its count, by these numbers."""
    with inert.open(io.BytesIO(data)) as found:
        at = found.parts["storage_keys"].offset
        assert at is not None
        keys: dict[bytes, int] = {}
        head = KEY.sub(lambda match: b"key %d" % keys.setdefault(match[0], len(keys)), data[:at])
        stored = {}
        for part in found.parts.values():
            if part.role == "storage":
                assert part.offset is not None
                stored[keys[part.name.removeprefix("storage ").encode()]] = data[part.offset - 8 : part.offset + part.size]
        return head, [stored[number] for number in sorted(stored)]


@QUIET
@given(values, st.sampled_from([2, 3, 4, 5]))
def test_legacy_saves_are_torch_s_but_for_the_keys(tmp_path: Path, value: Any, protocol: int) -> None:
    twice = {"a": value, "b": value, "c": [one.t() for one in [value] if isinstance(one, torch.Tensor) and one.dim() == 2]}
    torch.save(twice, tmp_path / "theirs.pt", pickle_protocol=protocol, _use_new_zipfile_serialization=False)
    inert.save(twice, tmp_path / "ours.pt", format="torch-legacy", protocol=protocol, sync=False)
    assert split((tmp_path / "ours.pt").read_bytes()) == split((tmp_path / "theirs.pt").read_bytes())
    torch.load(tmp_path / "ours.pt", weights_only=protocol == 2)


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.parent.name in ("torch", "legacy")], ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_the_corpus_as_legacy(path: Path, tmp_path: Path) -> None:
    with inert.open(path) as found, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, of quantised types
        good = {
            name: one for name, one in found.tensors.items() if one.kind == "dense" and not one.fault and one.dtype not in ("complex32",)
        }
        said = inert.save(good, tmp_path / "x.pt", format="torch-legacy", sync=False)
        with inert.open(tmp_path / "x.pt") as again:
            assert {name: one.sha256() for name, one in again.root.items()} == {name: one.sha256() for name, one in good.items()}
        known = all(one.layout.type in ("", "torch.nn.parameter.Parameter") for one in good.values())  # subclasses keep their classes
        if not said.notes and known:
            theirs = torch.load(tmp_path / "x.pt", weights_only=True)
            assert {name: content(one) for name, one in theirs.items()} == {name: one.sha256() for name, one in good.items()}


# -- torch's own tensors in memory --------------------------------------------------------------------------------------------------------


class Sub(torch.Tensor):
    pass


class SubParameter(torch.nn.Parameter):
    pass


def attributed(value: torch.Tensor) -> torch.Tensor:
    value.note = {"main_grad": torch.ones(3)}  # type: ignore[attr-defined]
    return value


KINDS = {
    "meta": lambda: torch.empty(3, device="meta"),
    "graded": lambda: torch.zeros(3, requires_grad=True),
    "parameter": lambda: torch.nn.Parameter(torch.zeros(2)),
    "subclass of Parameter": lambda: SubParameter(torch.zeros(2)),
    "buffer": lambda: torch.nn.Buffer(torch.zeros(2)),
    "subclass": lambda: torch.zeros(2).as_subclass(Sub),
    "attributes": lambda: attributed(torch.zeros(2)),
    "parameter with attributes": lambda: attributed(torch.nn.Parameter(torch.zeros(2))),
    "subclass with attributes": lambda: attributed(torch.zeros(2).as_subclass(Sub)),
    "float8": lambda: torch.zeros(2).to(torch.float8_e4m3fn),
    "uint16": lambda: torch.zeros(2, dtype=torch.uint16),
    "conjugate": lambda: torch.zeros(2, dtype=torch.complex64).conj(),
}


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_tensors_in_memory_are_written_as_torch_writes_them(kind: str, protocol: int, tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    value = {"x": KINDS[kind]()}
    inert.save(value, tmp_path / "x.pt", protocol=protocol)
    torch.save(value, tmp_path / "torch/x.pt", pickle_protocol=protocol)
    assert (tmp_path / "x.pt").read_bytes() == (tmp_path / "torch/x.pt").read_bytes()


def freed() -> torch.Tensor:
    value = torch.zeros(4)
    value.untyped_storage().resize_(0)
    return value


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch._subclasses.FakeTensorMode().from_tensor(torch.zeros(2)),  # whose address is 0
        freed,
        torch.nn.UninitializedParameter,
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.zeros(3).to_mkldnn(),
    ],
    ids=["fake", "freed", "uninitialised", "sparse", "mkldnn"],
)
def test_tensors_without_memory_of_their_own_are_refused(make: Any, tmp_path: Path) -> None:
    for name in ("x.pt", "x.safetensors"):
        with pytest.raises(UnsupportedError, match=r"give a (plain|dense)"):
            inert.save({"x": make()}, tmp_path / name)
    assert not list(tmp_path.iterdir())
