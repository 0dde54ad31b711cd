"""Tensors as arrays, slices, pieces, hashes: held against NumPy's own arithmetic over the same bytes.

Checkpoints are made by hand (tests/makers.py); what an element is, is written with struct or computed with NumPy and ml_dtypes.
"""

from __future__ import annotations

import hashlib
import io
import math
import struct
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.dtypes import DTYPES, foreign
from inert.errors import FormatError, LimitError, UnsupportedError
from inert.limits import Limits
from inert.tensor import Tensor
from tests.makers import (
    CPU,
    PARAMETER,
    REBUILD_V1,
    REBUILD_V2,
    REBUILD_V3,
    STORAGE,
    Made,
    Name,
    Pid,
    dumps,
    steps,
    storage,
    tensor,
    torch_zip,
)

HOOKS = Name("collections", "OrderedDict")


def opened(state: Any, storages: dict[str, bytes], limits: Limits | None = None, **options: Any) -> inert.Checkpoint:
    return inert.open(io.BytesIO(torch_zip(dumps(state), storages, **options)), limits=limits or Limits())


def one(made: Any, *raw: bytes, **options: Any) -> Tensor:
    """The only tensor of a checkpoint."""
    return opened(made, {str(i): data for i, data in enumerate(raw)}, **options).tensors[""]


def v3(dtype: str, raw: bytes, shape: tuple[int, ...], stride: tuple[int, ...] | None = None, offset: int = 0, *more: Any) -> Made:
    held = storage("0", len(raw), "Untyped")
    return Made(
        REBUILD_V3, (held, offset, shape, steps(shape) if stride is None else stride, False, OrderedDict(), Name("torch", dtype), *more)
    )


def floats(values: Iterable[float]) -> bytes:
    return np.asarray(list(values), "<f4").tobytes()


# ------------------------------------------------------------------------------------------------------------------ dense tensors


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_a_mapped_file_is_viewed_and_a_stream_is_copied(kind: str, tmp_path: Path) -> None:
    raw = floats(range(6))
    data = torch_zip(dumps({"w": tensor(storage("0", 6), (2, 3))}), {"0": raw})
    path = tmp_path / "m.pt"
    path.write_bytes(data)
    with inert.open(path if kind == "file" else io.BytesIO(data)) as checkpoint:
        found = checkpoint.tensors["w"]
        array = found.numpy()
        assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert (found.dtype, found.shape, found.strides, found.offset, found.nbytes, found.size) == ("float32", (2, 3), (3, 1), 0, 24, 6)
        assert (found.kind, found.device, found.requires_grad, found.components, found.fault) == ("dense", "cpu", False, {}, "")
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 9
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
        if kind == "file":
            again = found.numpy()
            assert np.shares_memory(array, again)
            assert found.file == str(path)
            assert found.file_offset is not None
            assert data[found.file_offset :][:24] == raw
        else:
            assert found.file is None
            assert found.file_offset is None
        assert np.asarray(found).tolist() == array.tolist()
        assert np.asarray(found, dtype=np.float64).dtype == np.float64
        copied = np.array(found, copy=True)
        copied[0, 0] = 9
        assert array[0, 0] == 0
        assert repr(found) == "<Tensor 'w' float32[2, 3]>"


DTYPE_BYTES = {name: bytes(range(1, 33)) for name in ("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64")} | {
    "float16": np.array([0.5, -2, math.inf, 65504], "<f2").tobytes(), "float32": floats([0.1, -0.0, math.nan, 1e-45]),
    "float64": np.array([0.1, -math.inf, 5e-324], "<f8").tobytes(), "complex64": np.array([1 + 2j, -3j], "<c8").tobytes(),
    "complex128": np.array([1 + 2j, -3j], "<c16").tobytes(), "bool": b"\0\1\1\0\2", "bfloat16": b"\x80\x3f\x00\xc0\x80\x7f\xc1\x7f",
    "float8_e4m3fn": bytes(range(256)), "float8_e5m2": bytes(range(256)), "float8_e4m3fnuz": bytes(range(256)), "float8_e5m2fnuz": bytes(range(256)),
    "float8_e8m0fnu": bytes(range(256)), "bits8": b"abcd", "bits16": b"abcd", "complex32": bytes(range(12)),
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPE_BYTES)
@pytest.mark.parametrize("order", ["little", "big"])
def test_every_element_type_keeps_its_bits(name: str, order: str) -> None:
    little = DTYPE_BYTES[name]
    unit = {"complex64": 4, "complex128": 8, "complex32": 2}.get(name) or DTYPES[name].itemsize
    raw = little if order == "little" else b"".join(little[i : i + unit][::-1] for i in range(0, len(little), unit))
    count = len(little) // DTYPES[name].itemsize
    found = one(v3(name, raw, (count,)), raw, byteorder=order)
    assert found.dtype == name
    assert found.fault == ""
    assert b"".join(found.chunks()) == little
    assert found.sha256() == hashlib.sha256(little).hexdigest()
    assert found.nbytes == len(little)
    if name == "complex32":
        with pytest.raises(UnsupportedError, match="NumPy has no complex32"):
            found.numpy()
        return
    array = found.numpy()
    assert array.tobytes() == little
    assert array.dtype.name == {"bits8": "uint8", "bits16": "uint16"}.get(name, name)
    assert array.dtype.byteorder in "=|<"


@pytest.mark.parametrize(
    "kind", ["Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool", "ComplexFloat", "ComplexDouble"]
)
@pytest.mark.parametrize("module", ["torch", "torch.cuda", "torch.storage"])
def test_every_storage_class(kind: str, module: str) -> None:
    names = {"Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64", "Int": "int32", "Short": "int16",
             "Char": "int8", "Byte": "uint8", "Bool": "bool", "ComplexFloat": "complex64", "ComplexDouble": "complex128"}  # fmt: skip
    raw = bytes(16 * 3)
    count = 48 // DTYPES[names[kind]].itemsize
    held = Pid((STORAGE, Name(module, f"{kind}Storage"), "0", CPU, count))
    found = one(tensor(held, (count,)), raw)
    assert (found.dtype, found.sha256()) == (names[kind], hashlib.sha256(raw).hexdigest())


def test_the_dtype_table_says_what_numpy_says() -> None:
    for name, dtype in DTYPES.items():
        assert dtype == name
        assert dtype.packed * dtype.bits == dtype.itemsize * 8 or name in (
            "int4",
            "uint4",
            "int2",
            "uint2",
            "string",
            "variant",
            "resource",
        )
        if not dtype.numpy:
            with pytest.raises(UnsupportedError):
                dtype.array_type()
        elif dtype.kind != "s":
            assert dtype.array_type().itemsize == dtype.itemsize
    assert DTYPES["bfloat16"].array_type() is np.dtype(ml_dtypes.bfloat16)
    assert DTYPES["complex64"].unit == 4
    assert foreign("<U3", 12).array_type() == np.dtype("<U3")


GEOMETRY = st.integers(1, 4).flatmap(
    lambda rank: st.tuples(
        st.lists(st.integers(0, 4), min_size=rank, max_size=rank),
        st.lists(st.integers(0, 7), min_size=rank, max_size=rank),
        st.integers(0, 9),
    )
)


@settings(max_examples=300, deadline=None)
@given(GEOMETRY)
def test_any_strides_over_a_storage(geometry: tuple[list[int], list[int], int]) -> None:
    shape, stride, offset = tuple(geometry[0]), tuple(geometry[1]), geometry[2]
    base = np.arange(100, dtype="<f4")
    fits = offset + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) < 100 or 0 in shape
    found = one(tensor(storage("0", 100), shape, stride, offset), base.tobytes())
    assert (found.shape, found.strides, found.offset) == (shape, stride, offset)
    if not fits:
        assert "storage that holds 100" in found.fault
        for ask in (found.numpy, found.sha256, lambda: list(found.chunks()), lambda: found[...]):
            with pytest.raises(FormatError):
                ask()
        assert found.file_offset is None
        return
    wanted = np.lib.stride_tricks.as_strided(base[offset:] if math.prod(shape) else base, shape, [4 * s for s in stride])
    assert found.numpy().tolist() == wanted.tolist()
    assert b"".join(found.chunks()) == wanted.tobytes()
    assert found.sha256() == hashlib.sha256(wanted.tobytes()).hexdigest()


INDEX = st.one_of(
    st.integers(-6, 5),
    st.slices(6),
    st.just(Ellipsis),
    st.builds(slice, st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9), st.none() | st.integers(1, 4)),
)


@pytest.mark.no_cover
@settings(max_examples=500, deadline=None)
@given(st.data())
def test_any_slice_is_numpys(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(0, 6), min_size=0, max_size=3)))
    stride = data.draw(st.permutations(steps(shape)))
    base = np.arange(500, dtype="<i4")
    found = one(tensor(storage("0", 500, "Int"), shape, tuple(stride), 3), base.tobytes())
    index = data.draw(st.one_of(INDEX, st.lists(INDEX, max_size=4).map(tuple)))
    whole = np.lib.stride_tricks.as_strided(base[3:], shape, [4 * s for s in stride])
    if any(isinstance(part, slice) and (part.step or 1) < 0 for part in (index if isinstance(index, tuple) else (index,))):
        with pytest.raises((UnsupportedError, IndexError)):
            found[index]
        return
    try:
        wanted = whole[index]
    except IndexError:
        with pytest.raises(IndexError):
            found[index]
        return
    got = found[index]
    assert (got.shape, got.dtype, got.tolist()) == (np.shape(wanted), np.dtype("<i4"), np.asarray(wanted).tolist())


@pytest.mark.parametrize("index", ["a", None, [0], 1.5, (0, "a"), np.array([1])])
def test_an_index_that_is_none(index: Any) -> None:
    found = one(tensor(storage("0", 6), (2, 3)), floats(range(6)))
    with pytest.raises((TypeError, IndexError, UnsupportedError)):
        found[index]


def test_a_slice_reads_what_it_needs_and_no_more(tmp_path: Path) -> None:
    raw = floats(range(1_000_000))
    reads: list[int] = []

    class Watched(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            reads.append(size or 0)
            return super().read(size)

    data = torch_zip(dumps({"w": tensor(storage("0", 1_000_000), (1000, 1000))}), {"0": raw})
    with inert.open(Watched(data)) as checkpoint:
        found = checkpoint.tensors["w"]
        reads.clear()
        assert found[5, 10:20].tolist() == list(range(5010, 5020))
        assert sum(reads) < 1000
        reads.clear()
        assert found[5:7].shape == (2, 1000)
        assert sum(reads) < 9000
        reads.clear()
        assert hashlib.sha256(raw).hexdigest() == found.sha256()
        assert sum(reads) < 4_100_000


def test_pieces_are_bounded_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    base = np.arange(60_000, dtype="<i4")
    for shape, stride in (
        ((60_000,), (1,)),
        ((300, 200), (1, 300)),
        ((200, 300), (300, 1)),
        ((1, 1, 20_000), (1, 1, 3)),
        ((3, 20_000), (1, 3)),
        ((2, 100, 300), (30_000, 1, 100)),
    ):
        monkeypatch.setattr("inert.layout.PIECE", 4096)
        monkeypatch.setattr("inert.arrays.PIECE", 4096, raising=False)
        found = one(tensor(storage("0", 60_000, "Int"), shape, stride), base.tobytes())
        pieces = list(found.chunks())
        wanted = np.lib.stride_tricks.as_strided(base, shape, [4 * s for s in stride])
        assert b"".join(pieces) == wanted.tobytes()
        assert max(map(len, pieces)) <= max(4096, 4 * shape[-1])
        assert len(pieces) > 10


@pytest.mark.parametrize("shape", [(), (0,), (0, 5), (2, 0, 3), (1, 1, 1)])
def test_no_dimension_and_no_element(shape: tuple[int, ...]) -> None:
    found = one(tensor(storage("0", 1), shape), floats([3.5]))
    assert found.numpy().shape == shape
    assert found.numpy().tolist() == np.full(shape, 3.5, "f4").tolist()
    assert found.sha256() == hashlib.sha256(np.full(shape, 3.5, "<f4").tobytes()).hexdigest()
    assert found.size == math.prod(shape)


def test_a_tensor_without_elements_may_lie_anywhere() -> None:
    found = one(tensor(storage("0", 0), (0, 3), (3, 1), 1000), b"")
    assert (found.fault, found.numpy().shape) == ("", (0, 3))


def test_more_elements_than_bytes() -> None:
    small = one(tensor(storage("0", 1), (1000, 1000), (0, 0)), floats([2.5]))
    assert small.numpy().sum() == 2.5e6
    assert small.sha256() == hashlib.sha256(floats([2.5]) * 1_000_000).hexdigest()
    bomb = one(tensor(storage("0", 1), (2**31, 2**31), (0, 0)), floats([2.5]))
    assert bomb.fault == ""
    assert bomb.nbytes == 2**64
    for ask in (bomb.numpy, bomb.sha256, lambda: list(bomb.chunks()), lambda: bomb[0 : 2**30]):
        with pytest.raises(LimitError, match=r"Limits\.logical_bytes"):
            ask()
    assert bomb[5, 7].tolist() == 2.5
    assert bomb[0, 0:4].tolist() == [2.5] * 4
    raised = Limits(logical_bytes=10, logical_ratio=2)
    tight = opened({"w": tensor(storage("0", 1), (3,), (0,))}, {"0": floats([1])}, limits=raised).tensors["w"]
    with pytest.raises(LimitError):
        tight.numpy()


LIES: dict[str, tuple[Any, str]] = {
    "too large": (tensor(storage("0", 6), (7,)), "number 7 of a storage that holds 6"),
    "offset": (tensor(storage("0", 6), (6,), (1,), 1), "number 7"),
    "negative offset": (tensor(storage("0", 6), (6,), (1,), -1), "negative offset"),
    "negative size": (tensor(storage("0", 6), (-1,)), "negative size or stride"),
    "negative stride": (tensor(storage("0", 6), (6,), (-1,), 5), "negative size or stride"),
    "rank": (tensor(storage("0", 6), (2, 3), (1,)), "2 sizes but 1 stride"),
    "64 bits": (tensor(storage("0", 6), (2**40, 2**40), (0, 0)), "exceeds 64 bits"),
    "dimensions": (tensor(storage("0", 6), (1,) * 65), "65 dimensions"),
    "counted short": (tensor(storage("0", 5), (5,)), "holds 24 bytes where the pickle says 20"),
    "counted long": (tensor(storage("0", 7), (7,)), "holds 24 bytes where the pickle says 28"),
    "missing": (tensor(storage("5", 6), (6,)), "data/5 is not in the file"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("many", [False, True], ids=["alone", "among many"])
def test_a_lie_is_said_and_the_others_are_read(lie: str, many: bool) -> None:
    bad, words = LIES[lie]
    state: dict[str, Any] = {f"w{i}": tensor(storage("1", 2), (2,)) for i in range(60 if many else 1)}
    state["bad"] = bad
    state["z"] = tensor(storage("1", 2), (2,))
    with opened(state, {"0": floats(range(6)), "1": floats([7, 8])}) as checkpoint:
        found = checkpoint.tensors["bad"]
        assert words in found.fault
        assert "damaged" in repr(found)
        with pytest.raises(FormatError) as raised:
            found.numpy()
        assert words in str(raised.value)
        assert raised.value.part == "bad"
        assert found.file_offset is None
        assert checkpoint.tensors["z"].numpy().tolist() == [7, 8]
        (note,) = [note for note in checkpoint.notes if note.tensors]
        assert note.code == {"counted short": "record-size", "counted long": "record-size", "missing": "record-missing"}.get(
            lie, "tensor-damaged"
        )
        assert note.tensors == ("bad",)
        assert words in note.message
    with pytest.raises(FormatError):
        inert.open(io.BytesIO(torch_zip(dumps(state), {"0": floats(range(6)), "1": floats([7, 8])})), strict=True)


def test_a_storage_of_two_types_is_read_with_the_first_and_noted() -> None:
    """torch caches by key: the second persistent id's type is never looked at."""
    for extra in (0, 60):
        state: dict[str, Any] = {f"x{i}": tensor(storage("1", 1), (1,)) for i in range(extra)}
        state |= {"a": tensor(storage("0", 2), (2,)), "b": tensor(storage("0", 2, "Int"), (2,))}
        with opened(state, {"0": floats([1, 2]), "1": floats([0])}) as checkpoint:
            assert [checkpoint.tensors[name].dtype for name in "ab"] == ["float32", "float32"]
            assert checkpoint.tensors["b"].numpy().tolist() == [1, 2]
            assert "tensor-storage-retyped" in {note.code for note in checkpoint.notes}


def test_sharing_is_by_storage() -> None:
    held = storage("0", 6)
    with opened(
        {"a": tensor(held, (6,)), "b": tensor(held, (2,), (1,), 2), "c": tensor(storage("1", 6), (6,))},
        {"0": floats(range(6)), "1": floats(range(6))},
    ) as checkpoint:
        a, b, c = checkpoint.tensors.values()
        assert a.storage == b.storage != c.storage
        assert hash(a.storage) == hash(b.storage)
        assert (a.offset, b.offset) == (0, 2)
        assert len({t.storage for t in (a, b, c)}) == 2
        assert (a.storage.key, a.storage.nbytes, a.storage.dtype) == ("data/0", 24, "float32")
        assert "data/0" in repr(a.storage)


# ------------------------------------------------------------------------------------------------------------- forms of rebuilding


def test_the_first_form_has_no_gradient() -> None:
    assert one(Made(REBUILD_V1, (storage("0", 6), 2, (3,), (1,))), floats(range(6))).numpy().tolist() == [2, 3, 4]


@pytest.mark.parametrize("grad", [True, False])
def test_parameters_are_transparent(grad: bool) -> None:
    inner = tensor(storage("0", 2), (2,))
    for made in (
        Made(PARAMETER, (inner, grad, OrderedDict())), Made(Name("torch._utils", "_rebuild_parameter_with_state"), (inner, grad, OrderedDict(), {"note": [1]})),
        Made(Name("torch.nn.parameter", "Parameter"), (inner, grad), new=True), Made(Name("torch.nn.parameter", "Parameter"), (inner,), (grad, False, OrderedDict())),
        Made(Name("torch.nn", "Parameter"), (), (inner, grad), new=True),
    ):  # fmt: skip
        found = one(made, floats([1, 2]))
        assert found.numpy().tolist() == [1, 2]
        assert found.requires_grad is grad
        assert "Parameter" in found.layout.type


def test_the_state_of_a_parameter_is_kept() -> None:
    made = Made(
        Name("torch._utils", "_rebuild_parameter_with_state"),
        (tensor(storage("0", 2), (2,)), True, OrderedDict(), {"note": [1], "t": tensor(storage("0", 2), (1,))}),
    )
    with opened({"p": made}, {"0": floats([1, 2])}) as checkpoint:
        attributes = checkpoint.tensors["p"].layout.attributes
        assert attributes["note"] == [1]
        assert attributes["t"].numpy().tolist() == [1]


def test_what_is_built_onto_a_tensor_is_kept() -> None:
    plain = tensor(storage("0", 2), (2,))
    with opened(
        {"p": Made(REBUILD_V2, plain.args, {"later": 5}), "q": Made(REBUILD_V2, plain.args, None, None, [("k", "v")])},
        {"0": floats([1, 2])},
    ) as checkpoint:
        assert {"later": 5} in checkpoint.tensors["p"].layout.attributes
        assert checkpoint.tensors["q"].layout.attributes[1:] == ("k", "v")
        assert checkpoint.tensors["p"].numpy().tolist() == [1, 2]


@pytest.mark.parametrize("hooks", [{}, OrderedDict(), Made(HOOKS, ([],)), None], ids=["dict", "OrderedDict", "of Python 2", "None"])
def test_no_hooks_are_not_noted(hooks: Any) -> None:
    with opened({"w": Made(REBUILD_V2, (storage("0", 2), 0, (2,), (1,), True, hooks))}, {"0": floats([1, 2])}) as checkpoint:
        assert not checkpoint.notes
        assert checkpoint.tensors["w"].numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    "hooks", [{1: "hook"}, Made(HOOKS, ([[1, "hook"]],)), Made(HOOKS, (), {"later": "hook"})], ids=["dict", "arguments", "state"]
)
def test_hooks_are_found_wherever_they_are(hooks: Any) -> None:
    with opened({"w": Made(REBUILD_V2, (storage("0", 2), 0, (2,), (1,), True, hooks))}, {"0": floats([1, 2])}) as checkpoint:
        assert {note.code for note in checkpoint.notes} == {"tensor-hooks"}
        kept = checkpoint.tensors["w"].layout.hooks
        assert "hook" in repr((kept, getattr(kept, "__dict__", None)))


def test_hooks_are_noted_and_kept() -> None:
    with opened(
        {"w": Made(REBUILD_V2, (storage("0", 2), 0, (2,), (1,), True, OrderedDict({1: Name("gone", "hook")})))}, {"0": floats([1, 2])}
    ) as checkpoint:
        assert {note.code for note in checkpoint.notes} == {"tensor-hooks"}
        assert checkpoint.tensors["w"].layout.hooks[1].dotted == "gone.hook"
        assert checkpoint.tensors["w"].numpy().tolist() == [1, 2]


def test_tensors_of_torch_0_1() -> None:
    old = Made(Name("torch", "FloatTensor"), (), (storage("0", 6), 1, (2, 2), (2, 1)), new=True)
    assert one(old, floats(range(6))).numpy().tolist() == [[1, 2], [3, 4]]
    assert one(
        Made(Name("torch.cuda", "LongTensor"), (), (storage("0", 2, "Long"), 0, (2,), (1,)), new=True), struct.pack("<2q", 5, 6)
    ).numpy().tolist() == [5, 6]


@pytest.mark.parametrize(
    "name", ["torch._tensor._rebuild_from_type_v2", "torch._tensor._rebuild_from_type", "torch.tensor._rebuild_from_type"]
)
def test_subclasses_and_tensors_with_attributes(name: str) -> None:
    module, _, function = name.rpartition(".")
    args = tensor(storage("0", 2), (2,)).args
    found = one(Made(Name(module, function), (REBUILD_V2, Name("gone", "Sub"), args, {"x": 1})), floats([1, 2]))
    assert found.numpy().tolist() == [1, 2]
    assert (found.layout.type, found.layout.attributes) == ("gone.Sub", {"x": 1})
    plain = one(Made(Name(module, function), (REBUILD_V2, Name("torch", "Tensor"), args, None)), floats([1, 2]))
    assert plain.layout.type == ""


def test_conjugated_and_negated_views() -> None:
    c = np.array([1 + 2j, -3j], "<c8")
    for metadata, wanted in (
        ({"conj": True}, c.conj()),
        ({"neg": True}, -c),
        ({"conj": True, "neg": True}, -c.conj()),
        ({}, c),
        ({"conj": False, "other": 1}, c),
        (None, c),
    ):
        found = one(tensor(storage("0", 2, "ComplexFloat"), (2,), None, 0, False, metadata), c.tobytes())
        assert found.numpy().tobytes() == wanted.tobytes()
        assert found.sha256() == hashlib.sha256(wanted.tobytes()).hexdigest()
        assert found[1].tolist() == wanted[1]
    imaginary = one(tensor(storage("0", 4), (2,), (2,), 1, False, {"neg": True}), c.tobytes())
    assert imaginary.numpy().tolist() == [-2, 3]
    half = one(v3("complex32", bytes(8), (2,), None, 0, {"conj": True}), bytes(8))
    with pytest.raises(UnsupportedError):
        half.sha256()


def test_big_endian_views(tmp_path: Path) -> None:
    base = np.arange(20, dtype=">i4")
    found = one(tensor(storage("0", 20, "Int"), (3, 4), (1, 5), 2), base.tobytes(), byteorder="big")
    wanted = np.lib.stride_tricks.as_strided(base[2:], (3, 4), (4, 20)).astype("<i4")
    assert found.numpy().tolist() == wanted.tolist()
    assert found.sha256() == hashlib.sha256(wanted.tobytes()).hexdigest()
    assert found[1:, 2].tolist() == wanted[1:, 2].tolist()
    said = inert.open(
        io.BytesIO(torch_zip(dumps(tensor(storage("0", 20, "Int"), (20,))), {"0": base.tobytes()}, byteorder=None)), byteorder="big"
    )
    assert said.tensors[""].numpy().tolist() == list(range(20))
    record = inert.open(
        io.BytesIO(torch_zip(dumps(tensor(storage("0", 20, "Int"), (20,))), {"0": base.astype("<i4").tobytes()})), byteorder="big"
    )
    assert record.tensors[""].numpy().tolist() == list(range(20)), "the file's own record counts"
    with pytest.raises(ValueError, match="byteorder"):
        inert.open(io.BytesIO(b""), byteorder="middle")


def test_meta_tensors_have_no_data() -> None:
    first = Made(Name("torch._utils", "_rebuild_meta_tensor_no_storage"), (Name("torch", "float16"), (2, 3), (3, 1), True))
    second = tensor(storage("0", 6, "Half", "meta"), (2, 3))
    for made in (first, second):
        found = one(made)
        assert (found.kind, found.dtype, found.shape, found.device, found.nbytes, found.fault) == (
            "meta",
            "float16",
            (2, 3),
            "meta",
            12,
            "",
        )
        for ask in (found.numpy, found.sha256, lambda: list(found.chunks()), lambda: found[0]):
            with pytest.raises(UnsupportedError, match="meta"):
                ask()
        assert found.file_offset is None


def test_tensors_brought_over_from_other_devices() -> None:
    array = Made(Name("numpy._core.multiarray", "_reconstruct"), (Name("numpy", "ndarray"), (0,), b"b"),
                 (1, (2,), Made(Name("numpy", "dtype"), ("f4", False, True), (3, "<", None, None, None, -1, -1, 0)), False, floats([1, 2])))  # fmt: skip
    cpu = Made(
        Name("torch._utils", "_rebuild_device_tensor_from_cpu_tensor"),
        (tensor(storage("0", 2), (2,)), Name("torch", "float32"), "xla:0", True),
    )
    for made in (cpu, Made(Name("torch._utils", "_rebuild_device_tensor_from_numpy"), (array, Name("torch", "float32"), "xla:0", True)),
                 Made(Name("torch._utils", "_rebuild_xla_tensor"), (array, Name("torch", "float32"), "xla:0", True))):  # fmt: skip
        found = opened({"t": made}, {"0": floats([1, 2])}).tensors["t"]
        assert (found.device, found.requires_grad, found.kind, found.numpy().tolist()) == ("xla:0", True, "dense", [1, 2])
    wrong = Made(Name("torch._utils", "_rebuild_device_tensor_from_numpy"), (array, Name("torch", "int64"), "xla:0", True))
    with opened({"t": wrong}, {}) as checkpoint:
        assert {note.code for note in checkpoint.notes} == {"tensor-damaged"}


def test_wrapper_subclasses_show_what_they_wrap() -> None:
    wrapper = Made(Name("torch._tensor", "_rebuild_from_type_v2"), (
        Name("torch._utils", "_rebuild_wrapper_subclass"), Name("torch.distributed.tensor", "DTensor"),
        (Name("torch.distributed.tensor", "DTensor"), Name("torch", "float32"), (4, 2), (2, 1), 0, Name("torch", "strided"), Made(Name("torch", "device"), ("cuda", 1)), True),
        (None, {"_local_tensor": tensor(storage("0", 4), (2, 2)), "_spec": Made(Name("gone", "Spec"), (), {"mesh": 1}, new=True)}),
    ))  # fmt: skip
    with opened({"w": wrapper}, {"0": floats(range(4))}) as checkpoint:
        found = checkpoint.tensors["w"]
        assert (found.kind, found.shape, found.dtype, found.requires_grad, found.device) == ("wrapper", (4, 2), "float32", True, "cuda")
        assert found.layout.type == "torch.distributed.tensor.DTensor"
        assert found.components["_local_tensor"].numpy().tolist() == [[0, 1], [2, 3]]
        assert found.nbytes == 16
        with pytest.raises(UnsupportedError, match="wrapper"):
            found.numpy()
        assert list(checkpoint.tensors) == ["w"]


ODD: list[Any] = [
    Made(REBUILD_V2, ()), Made(REBUILD_V2, (1, 2, 3, 4, 5, 6)), Made(REBUILD_V2, (storage("0", 2), "0", (2,), (1,), False, OrderedDict())),
    Made(REBUILD_V2, (storage("0", 2), 0, [2.5], (1,), False, OrderedDict())), Made(REBUILD_V2, (storage("0", 2), 0, (2,), (1,), "no", OrderedDict())),
    Made(REBUILD_V2, (Pid("x"), 0, (2,), (1,), False, OrderedDict())), Made(REBUILD_V2, (Pid((1, 2, 3, 4, 5)), 0, (2,), (1,), False, OrderedDict())),
    Made(REBUILD_V2, (storage(5, 2), 0, (2,), (1,), False, OrderedDict())), Made(REBUILD_V2, (storage("0", "2"), 0, (2,), (1,), False, OrderedDict())),
    Made(REBUILD_V3, (storage("0", 2), 0, (2,), (1,), False, OrderedDict(), "float32")), Made(REBUILD_V3, (storage("0", 2), 0, (2,), (1,), False, OrderedDict(), Name("torch", "float99"))),
    Made(PARAMETER, (5, True, OrderedDict())), Made(PARAMETER, ()), Made(Name("torch.nn.parameter", "Parameter"), (), new=True), Made(Name("torch", "FloatTensor"), ()),
    Made(Name("torch._utils", "_rebuild_sparse_tensor"), (Name("torch", "strided"), ())), Made(Name("torch._utils", "_rebuild_sparse_tensor"), (Name("torch", "sparse_coo"), 5)),
    Made(Name("torch._utils", "_rebuild_sparse_tensor"), (Name("torch", "sparse_coo"), (1, 2, 3))), Made(Name("torch._utils", "_rebuild_qtensor"), (storage("0", 8, "QInt8"), 0, (8,), (1,), (), False, OrderedDict())),
    Made(Name("torch._utils", "_rebuild_qtensor"), (storage("0", 8, "QInt8"), 0, (8,), (1,), (Name("torch", "per_tensor_affine"), "x", 0), False, OrderedDict())),
    Made(Name("torch._utils", "_rebuild_qtensor"), (storage("0", 8, "QInt8"), 0, (8,), (1,), (Name("torch", "per_channel_affine"), 1, 2, 0), False, OrderedDict())),
    Made(Name("torch._utils", "_rebuild_nested_tensor"), (1, 2, 3, 4)), Made(Name("torch._utils", "_rebuild_meta_tensor_no_storage"), ("f4", (2,), (1,), False)),
    Made(Name("torch._tensor", "_rebuild_from_type_v2"), (Name("os", "system"), Name("torch", "Tensor"), (), None)), Made(Name("torch._tensor", "_rebuild_from_type_v2"), ()),
    Made(Name("torch.nested._internal.nested_tensor", "_rebuild_njt"), (5,)), Made(Name("torch.nested._internal.nested_tensor", "_rebuild_njt"), ({"values": 1},)),
    Made(Name("torch._utils", "_rebuild_wrapper_subclass"), (1, 2)), Made(Name("torch._utils", "_rebuild_device_tensor_from_numpy"), (1, Name("torch", "float32"), "x", True)),
]  # fmt: skip


@pytest.mark.parametrize("made", ODD, ids=range(len(ODD)))
def test_wrong_arguments_stay_an_inert_object(made: Made) -> None:
    with opened({"odd": made, "w": tensor(storage("1", 2), (2,))}, {"0": floats([1, 2]), "1": floats([3, 4])}) as checkpoint:
        assert "tensor-damaged" in {note.code for note in checkpoint.notes}
        found = checkpoint.root["odd"]
        assert found.type.startswith("torch.")
        assert repr(found).startswith("<torch.")
        assert checkpoint.tensors["w"].numpy().tolist() == [3, 4]


# --------------------------------------------------------------------------------------------------------- sparse, nested, quantised

SPARSE = Name("torch._utils", "_rebuild_sparse_tensor")


def coo(indices: Any, values: Any, shape: tuple[int, ...], *, dtype: str = "Float") -> Tensor:
    where, what = np.asarray(indices, "<i8"), np.asarray(values, {"Float": "<f4", "Bool": "?", "Half": "<f2"}[dtype])
    layout = Made(Name("torch.serialization", "_get_layout"), ("torch.sparse_coo",))
    parts = (
        tensor(storage("0", where.size, "Long"), where.shape),
        tensor(storage("1", what.size, dtype), what.shape),
        Made(Name("torch", "Size"), (shape,)),
        True,
    )
    return one(Made(SPARSE, (layout, parts)), where.tobytes(), what.tobytes())


def test_coordinates_are_added_up() -> None:
    found = coo([[0, 0, 1], [1, 1, 2]], [1, 2, 3], (2, 3))
    assert (found.kind, found.shape, found.dtype) == ("sparse_coo", (2, 3), "float32")
    assert found.numpy().tolist() == [[0, 3, 0], [0, 0, 3]]
    assert found.components["values"].numpy().tolist() == [1, 2, 3]
    assert found.nbytes == 48 + 12
    assert coo([[2, 0]], [[1, 2], [3, 4]], (3, 2)).numpy().tolist() == [[3, 4], [0, 0], [1, 2]]
    assert coo(np.zeros((0, 2)), [5, 6], ()).numpy().tolist() == 11
    assert coo(np.zeros((2, 0)), [], (2, 2)).numpy().tolist() == [[0, 0], [0, 0]]
    assert coo([[1, 1]], [True, True], (3,), dtype="Bool").numpy().tolist() == [False, True, False]
    with pytest.raises(UnsupportedError, match="components"):
        found.sha256()
    with pytest.raises(UnsupportedError):
        found[0]


def test_coordinates_of_types_that_numpy_cannot_add() -> None:
    where, what = struct.pack("<3q", 1, 1, 2), np.array([1.5, 2, 3], ml_dtypes.bfloat16)
    layout = Made(Name("torch.serialization", "_get_layout"), ("torch.sparse_coo",))
    made = Made(SPARSE, (layout, (tensor(storage("0", 3, "Long"), (1, 3)), tensor(storage("1", 3, "BFloat16"), (3,)), (4,))))
    assert one(made, where, what.tobytes()).numpy().astype("f4").tolist() == [0, 3.5, 3, 0]


@pytest.mark.parametrize("indices", [[[4]], [[-1]], [[10**12]], [[2**63 - 1]]])
def test_coordinates_outside(indices: Any) -> None:
    with pytest.raises(FormatError, match="outside a dimension of size 4"):
        coo(indices, [1], (4,)).numpy()


@pytest.mark.parametrize(
    ("indices", "values", "shape"),
    [([0, 1], [1, 2], (4,)), ([[0, 1]], [1, 2, 3], (4,)), ([[0], [0], [0]], [1], (4,)), ([[0]], [[1, 2]], (4, 3))],
)
def test_coordinates_that_do_not_fit(indices: Any, values: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(FormatError, match="fit"):
        coo(indices, values, shape).numpy()


def test_a_sparse_tensor_of_any_size_is_listed_and_its_dense_form_is_bounded() -> None:
    found = coo([[0], [0]], [1], (2**31, 2**31))
    assert found.shape == (2**31, 2**31)
    with pytest.raises(LimitError):
        found.numpy()


def compressed(kind: str, counts: Any, plain: Any, values: Any, shape: tuple[int, ...]) -> Tensor:
    where, other, what = np.asarray(counts, "<i8"), np.asarray(plain, "<i8"), np.asarray(values, "<f4")
    layout = Made(Name("torch.serialization", "_get_layout"), (f"torch.sparse_{kind}",))
    parts = (
        tensor(storage("0", where.size, "Long"), where.shape),
        tensor(storage("1", other.size, "Long"), other.shape),
        tensor(storage("2", what.size), what.shape),
        shape,
    )
    return one(Made(SPARSE, (layout, parts)), where.tobytes(), other.tobytes(), what.tobytes())


def test_compressed_rows_and_columns() -> None:
    dense = [[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4]]
    assert compressed("csr", [0, 2, 2, 4], [1, 3, 0, 3], [1, 2, 3, 4], (3, 4)).numpy().tolist() == dense
    assert compressed("csc", [0, 1, 2, 2, 4], [2, 0, 0, 2], [3, 1, 2, 4], (3, 4)).numpy().tolist() == dense
    blocks = [[[0, 1], [0, 0]], [[3, 0], [0, 5]]]
    assert compressed("bsr", [0, 1, 2], [1, 0], blocks, (4, 4)).numpy().tolist() == [[0, 0, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [0, 5, 0, 0]]
    assert compressed("bsc", [0, 1, 2], [1, 0], blocks, (4, 4)).numpy().tolist() == [[0, 0, 3, 0], [0, 0, 0, 5], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert compressed("csr", [[0, 1, 1], [0, 0, 1]], [[1], [0]], [[5], [6]], (2, 2, 2)).numpy().tolist() == [
        [[0, 5], [0, 0]],
        [[0, 0], [6, 0]],
    ]
    assert compressed("csr", [0, 1, 2], [1, 0], [[1, 2], [3, 4]], (2, 2, 2)).numpy().tolist() == [[[0, 0], [1, 2]], [[3, 4], [0, 0]]]
    assert compressed("csr", [0], [], [], (0, 4)).numpy().shape == (0, 4)


@pytest.mark.parametrize(
    ("kind", "counts", "plain", "values", "shape"),
    [
        ("csr", [0, 2, 2], [1, 3, 0, 3], [1, 2, 3, 4], (3, 4)), ("csr", [0, 2, 2, 5], [1, 3, 0, 3], [1, 2, 3, 4], (3, 4)), ("csr", [1, 2, 2, 4], [1, 3, 0, 3], [1, 2, 3, 4], (3, 4)),
        ("csr", [0, 3, 2, 4], [1, 3, 0, 3], [1, 2, 3, 4], (3, 4)), ("csr", [0, 2, 2, 4], [1, 9, 0, 3], [1, 2, 3, 4], (3, 4)), ("csr", [0, 2, 2, 4], [1, -3, 0, 3], [1, 2, 3, 4], (3, 4)),
        ("csr", [0, 2, 2, 4], [1, 3, 0], [1, 2, 3, 4], (3, 4)), ("csr", [0, 2], [1, 0], [1, 2], (2,)), ("csr", 0, [1], [1], (1, 1)), ("bsr", [0, 1], [0], [1], (2, 2)), ("bsr", [0, 1], [0], [[[]]], (2, 2)),
        ("csr", [[0, 1]], [0], [1], (1, 1)), ("csr", [[0, 1], [0, 1]], [[0], [0]], [[1], [1]], (3, 1, 1)), ("bsr", [0, 1], [0], [[[1, 2, 3]]], (1, 4)), ("csr", [0, 1], [0], [[1, 2]], (1, 1, 3)),
    ],
)  # fmt: skip
def test_compressed_indices_that_lie(kind: str, counts: Any, plain: Any, values: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(FormatError):
        compressed(kind, counts, plain, values, shape).numpy()


def test_a_component_that_is_damaged_damages_the_whole() -> None:
    layout = Name("torch", "sparse_coo")
    made = Made(SPARSE, (layout, (tensor(storage("0", 2, "Long"), (1, 2)), tensor(storage("7", 2), (2,)), (4,))))
    with opened({"s": made}, {"0": bytes(16)}) as checkpoint:
        assert checkpoint.tensors["s"].fault == "values: its storage data/7 is not in the file"
        with pytest.raises(FormatError):
            checkpoint.tensors["s"].numpy()


def quantized(
    kind: str, raw: bytes, shape: tuple[int, ...], parameters: tuple[Any, ...], stride: tuple[int, ...] | None = None, count: int = 0
) -> Made:
    held = storage(
        "0",
        count
        or len(raw)
        // DTYPES[
            {"QInt8": "qint8", "QUInt8": "quint8", "QInt32": "qint32", "QUInt4x2": "quint4x2", "QUInt2x4": "quint2x4"}[kind]
        ].itemsize,
        kind,
    )
    return Made(
        Name("torch._utils", "_rebuild_qtensor"),
        (held, 0, shape, steps(shape) if stride is None else stride, parameters, False, OrderedDict()),
    )


def channels(axis: Any, scale: str = "Double", zero: str = "Long", count: int = 2) -> tuple[Any, ...]:
    return (
        Name("torch", "per_channel_affine"),
        tensor(storage("1", count, scale), (count,)),
        tensor(storage("2", count, zero), (count,)),
        axis,
    )


def test_quantised_per_tensor() -> None:
    for kind, form in (("QInt8", "<i1"), ("QUInt8", "<u1"), ("QInt32", "<i4")):
        values = np.array([[1, 2], [3, 100]], form)
        found = one(quantized(kind, values.tobytes(), (2, 2), (Name("torch", "per_tensor_affine"), 0.5, 3)), values.tobytes())
        assert (found.kind, found.numpy().tolist()) == ("quantized", values.tolist())
        assert found.layout.quantization == {"scheme": "per_tensor_affine", "scale": 0.5, "zero_point": 3}
        assert found.dequantize().tolist() == [[-1, -0.5], [0, 48.5]]
        assert found.dequantize().dtype == np.float32
        assert found.sha256() == hashlib.sha256(values.tobytes()).hexdigest()


def test_quantised_per_channel() -> None:
    values = np.array([[1, 2], [3, 4]], "<i1")
    scales, zeros = np.array([0.1, 2.0]), np.array([1, 0], "<i8")
    for axis, wanted in ((0, (values - zeros[:, None]) * scales[:, None]), (1, (values - zeros) * scales)):
        found = one(quantized("QInt8", values.tobytes(), (2, 2), channels(axis)), values.tobytes(), scales.tobytes(), zeros.tobytes())
        assert found.dequantize().tolist() == wanted.astype("f4").tolist()
        assert found.layout.quantization == {"scheme": "per_channel_affine", "axis": axis}
    floating = one(
        quantized("QInt8", values.tobytes(), (2, 2), channels(0, "Float", "Float")),
        values.tobytes(),
        scales.astype("<f4").tobytes(),
        zeros.astype("<f4").tobytes(),
    )
    assert floating.layout.quantization["scheme"] == "per_channel_affine_float_qparams"
    assert floating.dequantize().tolist() == ((values - zeros[:, None]) * scales.astype("f4")[:, None].astype("f8")).astype("f4").tolist()


@pytest.mark.parametrize("axis", [2, -1, "0"])
def test_channels_that_do_not_fit(axis: Any) -> None:
    found = one(quantized("QInt8", b"1234", (2, 2), channels(axis)), b"1234", bytes(16), bytes(16))
    assert "scales and zero points do not fit" in found.fault
    found = one(quantized("QInt8", b"123456", (3, 2), channels(0)), b"123456", bytes(16), bytes(16))
    assert found.fault


def test_packed_values() -> None:
    """The lowest bits first; the last item may be half full."""
    four = one(quantized("QUInt4x2", b"\x21\x43\x05", (5,), channels(0, "Float", "Float", 5)), b"\x21\x43\x05", bytes(20), bytes(20))
    assert (four.shape, four.nbytes, four.numpy().tolist()) == ((5,), 3, [1, 2, 3, 4, 5])
    assert four.sha256() == hashlib.sha256(b"\x21\x43\x05").hexdigest()
    two = one(quantized("QUInt2x4", b"\xe4\x1b", (2, 4), channels(0, "Float", "Float")), b"\xe4\x1b", bytes(8), bytes(8))
    assert two.numpy().tolist() == [[0, 1, 2, 3], [3, 2, 1, 0]]
    assert (
        "storage that holds 4"
        in one(quantized("QUInt4x2", b"\x21\x43", (5,), channels(0, "Float", "Float", 5)), b"\x21\x43", bytes(20), bytes(20)).fault
    )
    turned = one(quantized("QUInt4x2", b"\x21\x43", (2, 2), channels(0, "Float", "Float"), (1, 2)), b"\x21\x43", bytes(8), bytes(8))
    for ask in (turned.numpy, turned.sha256):
        with pytest.raises(UnsupportedError, match="packed"):
            ask()
    with pytest.raises(UnsupportedError):
        four[0]


def test_four_bit_floats_and_bits() -> None:
    found = one(v3("float4_e2m1fn_x2", b"\x21\xf7", (2,)), b"\x21\xf7")
    assert (found.dtype, found.shape, found.dtype.canonical, found.nbytes) == ("float4_e2m1fn_x2", (2,), "float4_e2m1fn", 2)
    assert found.numpy().astype("f4").tolist() == [0.5, 1, 6, -6]
    assert one(v3("float4_e2m1fn_x2", b"\x21", ()), b"\x21").numpy().astype("f4").tolist() == [0.5, 1]
    assert one(v3("float4_e2m1fn_x2", b"\x21\xf7\0\1", (2, 2)), b"\x21\xf7\0\1").numpy().shape == (2, 4)
    for name in ("bits1x8", "bits2x4", "bits4x2"):
        bits = one(v3(name, b"ab", (2,)), b"ab")
        assert (bits.numpy().tolist(), bits.sha256()) == ([97, 98], hashlib.sha256(b"ab").hexdigest())


def test_only_quantised_tensors_are_dequantised() -> None:
    with pytest.raises(UnsupportedError, match="not quantised"):
        one(tensor(storage("0", 2), (2,)), floats([1, 2])).dequantize()


def nested(sizes: Any, strides: Any, offsets: Any, count: int = 12) -> Tensor:
    facts = [np.asarray(part, "<i8") for part in (sizes, strides, offsets)]
    parts = [tensor(storage(str(i + 1), part.size, "Long"), part.shape) for i, part in enumerate(facts)]
    state = {"n": Made(Name("torch._utils", "_rebuild_nested_tensor"), (tensor(storage("0", count), (count,)), *parts))}
    checkpoint = opened(state, {"0": floats(range(count))} | {str(i + 1): part.tobytes() for i, part in enumerate(facts)})
    return checkpoint.tensors.get("n") or checkpoint.root["n"]


def test_nested_tensors_are_their_parts() -> None:
    found = nested([[2, 3], [1, 3]], [[3, 1], [3, 1]], [0, 6])
    assert (found.kind, found.shape, found.dtype, list(found.components)) == ("nested", (2, -1, 3), "float32", ["0", "1"])
    assert [part.numpy().tolist() for part in found.components.values()] == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8]]]
    assert found.nbytes == 36
    for ask in (found.numpy, found.sha256, lambda: found[0]):
        with pytest.raises(UnsupportedError, match="nested"):
            ask()
    assert "number 14 of a storage that holds 12" in nested([[2, 3], [2, 4]], [[3, 1], [4, 1]], [0, 6]).fault
    assert nested(np.zeros((0, 2)), np.zeros((0, 2)), []).shape == (0,)


@pytest.mark.parametrize(
    ("sizes", "strides", "offsets"),
    [([[2, 3]], [[3, 1]], [0, 6]), ([[2, 3], [1, 3]], [[3, 1]], [0, 6]), ([2, 3], [3, 1], [0, 6]), (5, 5, 5)],
)
def test_nested_tensors_described_wrongly(sizes: Any, strides: Any, offsets: Any) -> None:
    assert nested(sizes, strides, offsets).type == "torch._utils._rebuild_nested_tensor"  # type: ignore[attr-defined]


def jagged(state: Any) -> Any:
    made = Made(
        Name("torch._tensor", "_rebuild_from_type_v2"),
        (
            Name("torch.nested._internal.nested_tensor", "_rebuild_njt"),
            Name("torch.nested._internal.nested_tensor", "NestedTensor"),
            (state,),
            None,
        ),
    )
    checkpoint = opened({"n": made}, {"0": floats(range(6)), "1": struct.pack("<3q", 0, 1, 3)})
    return checkpoint.tensors.get("n") or checkpoint.root["n"]


def test_jagged_tensors() -> None:
    values, offsets = tensor(storage("0", 6), (3, 2)), tensor(storage("1", 3, "Long"), (3,))
    found = jagged({"values": values, "offsets": offsets, "lengths": None, "_ragged_idx": 1, "requires_grad": True})
    assert (found.kind, found.shape, found.requires_grad) == ("nested", (2, -1, 2), True)
    assert [part.numpy().tolist() for part in found.components.values()] == [[[0, 1]], [[2, 3], [4, 5]]]
    assert jagged({"values": values, "offsets": offsets, "_ragged_idx": 2}).type == "torch._tensor._rebuild_from_type_v2"
    old = Made(Name("torch.nested._internal.nested_tensor", "NestedTensor"), (values, offsets))
    assert opened({"n": old}, {"0": floats(range(6)), "1": struct.pack("<3q", 0, 1, 3)}).tensors["n"].shape == (2, -1, 2)


# ------------------------------------------------------------------------------------------------------------ storages, other worlds


def test_storages_are_values() -> None:
    typed = Made(Name("torch.storage", "TypedStorage"), (), new=True)
    with opened({"s": storage("0", 2), "u": storage("1", 3, "Untyped"), "t": typed}, {"0": floats([1, 2]), "1": b"abc"}) as checkpoint:
        assert checkpoint.root["s"].span().read() == floats([1, 2])
        assert checkpoint.root["u"].span().read() == b"abc"
        assert checkpoint.root["t"].type == "torch.storage.TypedStorage"


def test_embedded_files() -> None:
    loads = Name("torch.storage", "_load_from_bytes")

    def legacy(value: Any, keys: list[str], *raw: bytes, protocol: int = 1001) -> bytes:
        head = dumps(0x1950A86A20F9469CFC6C) + dumps(protocol) + dumps({"protocol_version": 1001, "little_endian": True, "type_sizes": {}})
        return head + dumps(value) + dumps(keys) + b"".join(struct.pack("<q", len(data) // 4) + data for data in raw)

    good = legacy(
        {"w": Made(REBUILD_V2, (Pid((STORAGE, Name("torch", "FloatStorage"), "k", CPU, 2, None)), 0, (2,), (1,), False, OrderedDict()))},
        ["k"],
        floats([1, 2]),
    )
    with opened({"x": Made(loads, (good,))}, {}) as checkpoint:
        assert checkpoint.notes == []
        assert checkpoint.tensors["x.w"].numpy().tolist() == [1, 2]
    cut = inert.open(io.BytesIO(torch_zip(dumps({"x": Made(loads, (good[:-3],))}, 3), {})))
    assert "record-missing" in {note.code for note in cut.notes}
    assert "is not in the file" in cut.tensors["x.w"].fault
    inner = good
    for depth in range(12):
        inner = legacy(Made(loads, (inner,)), [])
        with opened({"x": Made(loads, (inner,))}, {}) as checkpoint:
            assert bool(checkpoint.tensors) == (depth < 7), depth
    for bad in (
        b"",
        b"junk",
        dumps(5) + good,
        legacy({}, [], protocol=9),
        good[:50],
        good[:200],
        dumps(0x1950A86A20F9469CFC6C),
        legacy({}, ["stray"]),
        7,
        Name("a", "b"),
    ):
        with opened({"x": Made(loads, (bad,)), "w": tensor(storage("0", 1), (1,))}, {"0": floats([3])}) as checkpoint:
            assert {note.code for note in checkpoint.notes} <= {"value-odd", "record-missing"}
            assert checkpoint.notes
            assert checkpoint.tensors["w"].numpy().tolist() == [3]


def test_dlpack() -> None:
    found = one(tensor(storage("0", 6), (2, 3)), floats(range(6)))
    array = np.from_dlpack(found)
    assert array.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found.__dlpack_device__() == (1, 0)
    with pytest.raises(UnsupportedError, match="DLPack cannot carry bfloat16"):
        one(v3("bfloat16", bytes(4), (2,)), bytes(4)).__dlpack__()
    with pytest.raises(UnsupportedError):
        one(v3("complex32", bytes(4), (1,)), bytes(4)).__dlpack__()


def test_old_archives_keep_their_records_in_another_folder() -> None:
    """PyTorch 1.4's first zip form: tensors/<key>."""
    data = torch_zip(dumps({"w": tensor(storage("0", 2), (2,))}), more={"tensors/0": floats([1, 2])})
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [1, 2]


# ------------------------------------------------------------------------------------------------------------ the object with arrays


def saved(path: Path, state: Any, storages: dict[str, bytes], **options: Any) -> Path:
    path.write_bytes(torch_zip(dumps(state), storages, **options))
    return path


@pytest.mark.parametrize("mmap", [True, False])
def test_load_gives_arrays_that_share_what_the_tensors_shared(mmap: bool, tmp_path: Path) -> None:
    held = storage("0", 6)
    tied = tensor(held, (2, 3))
    state = {
        "a": tied,
        "b": tied,
        "row": tensor(held, (3,), (1,), 3),
        "list": [tied, 5],
        "w": tensor(storage("1", 2), (2,)),
        "od": OrderedDict(x=tied),
    }
    path = saved(tmp_path / "m.pt", state, {"0": floats(range(6)), "1": floats([7, 8])})
    found = inert.load(path, mmap=mmap)
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["a"] is found["b"] is found["list"][0] is found["od"]["x"]
    assert np.shares_memory(found["a"], found["row"])
    assert not np.shares_memory(found["a"], found["w"])
    assert found["row"].tolist() == [3, 4, 5]
    assert found["list"][1] == 5
    assert found["a"].flags.writeable is not mmap
    if not mmap:
        found["a"][1, 0] = 9
        assert found["row"][0] == 9
    path.unlink()
    assert found["w"].tolist() == [7, 8], "arrays outlive the file"


def test_load_keeps_what_no_array_can_say(tmp_path: Path) -> None:
    coordinates = Made(
        SPARSE, (Name("torch", "sparse_coo"), (tensor(storage("1", 1, "Long"), (1, 1)), tensor(storage("0", 1), (1,)), (4,)))
    )
    meta = Made(Name("torch._utils", "_rebuild_meta_tensor_no_storage"), (Name("torch", "float16"), (2,), (1,), False))
    state = {
        "sparse": coordinates,
        "meta": meta,
        "half": v3("complex32", bytes(4), (1,)),
        "bf": v3("bfloat16", bytes(4), (2,)),
        "n": [1, "x"],
    }
    for mmap in (True, False):
        found = inert.load(saved(tmp_path / "m.pt", state, {"0": bytes(4), "1": bytes(8)}), mmap=mmap)
        assert [type(found[name]) for name in ("sparse", "meta", "half")] == [Tensor] * 3
        assert found["bf"].dtype == np.dtype(ml_dtypes.bfloat16)
        assert found["n"] == [1, "x"]


def test_load_takes_a_part_by_its_path(tmp_path: Path) -> None:
    w = tensor(storage("0", 1), (1,))
    state = {
        "a": {"b.c": {"d": w}, "b": 1},
        "list": [{"x": 2}, (3, 4)],
        5: {"six": 6},
        "obj": Made(Name("gone", "C"), (), {"field": [7]}, new=True),
        (1 << 20000): 8,
    }
    path = saved(tmp_path / "m.pt", state, {"0": floats([9])})
    assert inert.load(path, root="a.b.c.d").tolist() == [9]
    for root, wanted in (("a.b", 1), ("list.0.x", 2), ("list.1.1", 4), ("5.six", 6), ("obj.field.0", 7)):
        assert inert.load(path, root=root) == wanted
    for root in ("a.x", "list.2", "list.x", "5.6", "obj.other", "a.b.c.d.0", "nothing"):
        with pytest.raises(FormatError, match="no "):
            inert.load(path, root=root)


def test_load_refuses_a_damaged_tensor_by_name_and_other_things_as_open_does(tmp_path: Path) -> None:
    path = saved(
        tmp_path / "m.pt", {"ok": tensor(storage("0", 1), (1,)), "bad": tensor(storage("1", 9), (9,))}, {"0": bytes(4), "1": bytes(4)}
    )
    for mmap in (True, False):
        with pytest.raises(FormatError, match="data/1 holds 4 bytes where the pickle says 36"):
            inert.load(path, mmap=mmap)
    with pytest.raises(FormatError):
        inert.load(saved(tmp_path / "n.pt", {"bad": Made(REBUILD_V2, (1, 2, 3, 4, 5, 6))}, {}))
    with pytest.raises(ValueError, match="byteorder"):
        inert.load(path, byteorder="middle")
    with pytest.raises(inert.UnidentifiedError):
        inert.load(io.BytesIO(b"nothing of ours"))


def test_load_from_a_stream_and_in_the_other_byte_order() -> None:
    base = np.arange(6, dtype=">i4")
    data = torch_zip(dumps([tensor(storage("0", 6, "Int"), (3, 2), (1, 3))]), {"0": base.tobytes()}, byteorder="big")
    for mmap in (True, False):
        (found,) = inert.load(io.BytesIO(data), mmap=mmap)
        assert found.tolist() == [[0, 3], [1, 4], [2, 5]]
        assert found.dtype == np.dtype("<i4")
