"""What torch saves, inert reads: random objects, bit for bit.

The expectation is what torch.load gives for the same file (tests/corpus/describe.py), never what was meant to be saved.
"""

from __future__ import annotations

import io
import subprocess
import sys
import warnings
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inert
from inert.errors import UnsupportedError
from tests.conformance import differences
from tests.corpus.describe import content, described
from tests.source_tree import SOURCE

QUIET = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]}

CLASSIC = [
    torch.float16,
    torch.float32,
    torch.float64,
    torch.bfloat16,
    torch.complex64,
    torch.complex128,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.bool,
]
LATER = [
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.complex32,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
    torch.float8_e8m0fnu,
    torch.float4_e2m1fn_x2,
    torch.bits8,
    torch.bits16,
]


@st.composite
def bases(draw: st.DrawFn) -> torch.Tensor:
    """A one-dimensional tensor over a storage of its own, any bits in it."""
    dtype = draw(st.sampled_from(CLASSIC + LATER))
    count = draw(st.integers(0, 40))
    raw = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    if dtype is torch.bool:
        raw = bytes(byte & 1 for byte in raw)
    return torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(dtype) if raw else torch.empty(0, dtype=dtype)


@st.composite
def views(draw: st.DrawFn, base: torch.Tensor) -> torch.Tensor:
    """A strided view of ``base``; types that torch cannot stride are taken as they are."""
    if base.dtype in (torch.bits8, torch.bits16, torch.float4_e2m1fn_x2) or not base.numel():
        return base
    room = base.numel() - 1
    offset = draw(st.integers(0, room))
    room -= offset
    shape, stride = [], []
    for _ in range(draw(st.integers(0, 4))):
        size = draw(st.integers(0, 4))
        step = draw(st.integers(0, room // (size - 1) if size > 1 else 3))
        room -= max(size - 1, 0) * step
        shape.append(size)
        stride.append(step)
    return torch.as_strided(base, shape, stride, offset)


@st.composite
def others(draw: st.DrawFn) -> torch.Tensor:
    """Parameters, sparse, quantised, meta, conjugated and negated tensors."""
    values = draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.5, 7.0]), min_size=12, max_size=12))
    dense = torch.tensor(values).reshape(3, 4)
    kind = draw(st.integers(0, 12))
    scale, zero = draw(st.floats(0.01, 2)), draw(st.integers(-5, 5))
    scales = (torch.tensor([0.1, 0.5, 2.0], dtype=torch.float64), torch.tensor([0, zero, 1]))
    made = [
        lambda: torch.nn.Parameter(dense, requires_grad=draw(st.booleans())), dense.to_sparse, dense.to_sparse_csr, dense.to_sparse_csc, lambda: dense.repeat(2, 1).to_sparse_bsr((2, 2)), lambda: dense.repeat(2, 1).to_sparse_bsc((3, 2)),
        lambda: torch.quantize_per_tensor(dense, scale, zero, draw(st.sampled_from([torch.qint8, torch.qint32]))), lambda: torch.quantize_per_tensor(dense, scale, abs(zero), torch.quint8),
        lambda: torch.quantize_per_channel(dense, *scales, 0, torch.qint8), lambda: dense.to("meta"), lambda: torch.complex(dense, dense.flip(0)).conj(), lambda: torch._neg_view(dense), lambda: dense.half().to_sparse(),
    ][kind]  # fmt: skip
    found: torch.Tensor = made()
    return found


@dataclass
class Place:
    """Where a tensor will stand."""

    index: int


@st.composite
def objects(draw: st.DrawFn) -> Any:
    """Nested containers of views that share storages, of other tensors, and of plain values."""
    stored = draw(st.lists(bases(), min_size=1, max_size=4))
    tensors = [draw(views(stored[draw(st.integers(0, len(stored) - 1))])) for _ in range(draw(st.integers(1, 8)))]
    tensors += draw(st.lists(others(), max_size=3))
    plain = (
        st.none()
        | st.booleans()
        | st.integers(-(2**70), 2**70)
        | st.floats(allow_nan=True)
        | st.text(st.characters(codec=None, categories=None), max_size=6)
        | st.binary(max_size=6)
    )
    places = st.builds(Place, st.integers(0, len(tensors) - 1))  # hypothesis itself would ask tensors for their truth
    leaves = places | plain
    keys = st.text("abcxyz._é☃", min_size=1, max_size=6)
    shape = draw(
        st.dictionaries(keys, st.recursive(leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4) | st.tuples(inner, inner), max_leaves=12), max_size=8)
        | st.lists(leaves, max_size=6) | places
    )  # fmt: skip
    shape = [shape, [Place(i) for i in range(len(tensors))]] if draw(st.booleans()) else shape
    return filled(shape, tensors)


def filled(shape: Any, tensors: list[torch.Tensor]) -> Any:
    if isinstance(shape, Place):
        return tensors[shape.index]
    if isinstance(shape, dict):
        return {key: filled(value, tensors) for key, value in shape.items()}
    return type(shape)(filled(part, tensors) for part in shape) if isinstance(shape, (list, tuple)) else shape


def save(value: Any, path: Path, **options: Any) -> bool:
    """Whether torch saves it at all: it refuses two types over one storage."""
    try:
        torch.save(value, path, **options)
    except RuntimeError as error:
        assert "different types" in str(error)
        return False
    return True


@settings(max_examples=250, **QUIET)
@given(
    objects(),
    st.sampled_from(
        [{}, {}, {"pickle_protocol": 3}, {"pickle_protocol": 4}, {"pickle_protocol": 5}, {"_use_new_zipfile_serialization": False}]
    ),
)
def test_any_object_that_torch_saves(value: Any, options: dict[str, Any]) -> None:
    import tempfile

    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        path = Path(folder) / "saved.pt"
        if not save(value, path, **options):
            return
        try:
            expected = described(path)
        except (RuntimeError, AttributeError):  # what torch itself cannot read back
            return
        with inert.open(path) as checkpoint:
            assert differences(checkpoint, expected) == []
            assert [note for note in checkpoint.notes if note.severity == "error"] == []
            loaded = torch.load(path, weights_only=False)
            for found in checkpoint.tensors.values():
                same_as_torch(found, at(loaded, found.path))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def same_as_torch(found: inert.Tensor, theirs: torch.Tensor) -> None:
    """t.torch() gives a tensor that torch cannot tell from its own."""
    if theirs.dtype in (torch.bits8, torch.bits16, torch.float4_e2m1fn_x2, torch.complex32) and (found.layout.conj or theirs.numel() == 0):
        return
    ours = found.torch()
    assert (ours.dtype, ours.shape, ours.layout, ours.requires_grad) == (theirs.dtype, theirs.shape, theirs.layout, theirs.requires_grad)
    if theirs.is_meta:
        assert ours.is_meta
        assert ours.stride() == theirs.stride()
    elif theirs.layout is not torch.strided:
        assert torch.equal(ours.to_dense(), theirs.to_dense())
    elif theirs.is_quantized:
        assert ours.qscheme() == theirs.qscheme()
        assert torch.equal(ours.int_repr(), theirs.int_repr())
        assert torch.equal(ours.dequantize(), theirs.dequantize())
    else:
        assert content(ours) == content(theirs)


@settings(max_examples=150, **QUIET)
@given(st.data())
def test_any_view_sliced_as_torch_slices(data: st.DataObject) -> None:
    base = data.draw(bases().filter(lambda t: t.numel() > 0 and t.dtype in CLASSIC))
    view = data.draw(views(base))
    out = io.BytesIO()
    torch.save(view, out)
    with inert.open(out) as checkpoint:
        found = checkpoint.tensors[""]
        index = tuple(
            data.draw(st.slices(size).filter(lambda s: (s.step or 1) > 0)) for size in view.shape[: data.draw(st.integers(0, view.dim()))]
        )
        wanted = content(view[index]) if index else content(view)
        assert np.ascontiguousarray(found[index]).tobytes() == wanted


@pytest.mark.parametrize("dtype", CLASSIC + LATER, ids=str)
def test_numpy_says_what_torch_says(dtype: torch.dtype) -> None:
    base = torch.arange(64, dtype=torch.uint8).repeat(4)
    tensor = (base % 2 if dtype is torch.bool else base).view(dtype) if dtype.itemsize else base
    out = io.BytesIO()
    torch.save(tensor, out)
    with inert.open(out) as checkpoint:
        found = checkpoint.tensors[""]
        assert b"".join(found.chunks()) == content(tensor)
        try:
            array = found.numpy()
        except UnsupportedError:
            assert dtype is torch.complex32
            return
        if dtype in CLASSIC and dtype is not torch.bfloat16:
            assert np.array_equal(array, tensor.numpy(), equal_nan=dtype.is_floating_point or dtype.is_complex)
        elif dtype.is_floating_point and dtype is not torch.float4_e2m1fn_x2:
            assert np.array_equal(array.astype("f4"), tensor.float().numpy(), equal_nan=True)


def test_whole_modules_and_state_dicts() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.LSTM(4, 3, 2),
        torch.nn.MultiheadAttention(8, 2),
        torch.nn.Embedding(5, 3),
    )
    out = io.BytesIO()
    torch.save(model, out)
    with inert.open(out) as checkpoint:
        wanted = model.state_dict()
        assert wanted.keys() <= checkpoint.tensors.keys()
        for name, tensor in wanted.items():
            assert b"".join(checkpoint.tensors[name].chunks()) == content(tensor), name
    out = io.BytesIO()
    torch.save(model.state_dict(), out)
    with inert.open(out) as checkpoint:
        assert list(checkpoint.tensors) == list(wanted)
        assert type(checkpoint.root) is OrderedDict
        assert checkpoint.root._metadata == wanted._metadata  # type: ignore[attr-defined]


LISTING = """
import sys
import inert
with inert.open(sys.argv[1]) as checkpoint:
    print(len(checkpoint.tensors), sum(t.nbytes for t in checkpoint.tensors.values()), checkpoint.tensors["w.1"][5:7].tolist(), len(checkpoint.notes))
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM")))
"""


def test_three_terabytes_are_listed_in_little_memory(tmp_path: Path) -> None:
    """torch writes the file without its data: holes on the disk, true sizes in the archive."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        state = {f"w.{i}": torch.empty(3 << 38, dtype=torch.int8) for i in range(4)}
    path = tmp_path / "huge.pt"
    try:
        with torch.serialization.skip_data(materialize_fake_tensors=True):
            torch.save(state, path)
    except (RuntimeError, OSError) as error:
        pytest.skip(f"no sparse file of 3 TB here: {error}")
    assert path.stat().st_size > 3 << 40
    done = subprocess.run(
        [sys.executable, "-c", LISTING, str(path)], env={"PYTHONPATH": str(SOURCE.parent)}, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    listed, megabytes = done.stdout.splitlines()
    assert listed == f"4 {3 << 40} [0, 0] 1"
    assert int(megabytes) < 150
