"""inert.save against torch.save: plain state dicts are written to the very bytes, and torch reads them in every way it has."""

from __future__ import annotations

import os
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inert
from inert.containers.zipwrite import ID
from tests.test_sink import killed
from tests.test_zipwrite import BIG, Archive, Record, hole, sparse

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.oracle, pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")]

NUMPY: dict[str, Any] = {
    name: getattr(ml_dtypes, name, None) or np.dtype(name)
    for name in (
        "float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "complex64", "complex128",
    )
}  # fmt: skip
DTYPES = {name: getattr(torch, name) for name in (*NUMPY, "complex32")}


def both(folder: Path, name: str = "n.pt") -> tuple[Path, Path]:
    for part in ("a", "b"):
        (folder / part).mkdir(exist_ok=True)
    return folder / "a" / name, folder / "b" / name


def same_bytes(obj: Any, folder: Path, given: Any = None, name: str = "n.pt", protocol: int = 2) -> Path:
    """inert.save of ``given`` (default the object itself) is torch.save of the object, byte for byte. Where torch wrote."""
    ours, theirs = both(folder, name)
    torch.save(obj, theirs, pickle_protocol=protocol)
    inert.save(obj if given is None else given, ours, sync=False, protocol=protocol)
    assert ours.read_bytes() == theirs.read_bytes()
    return theirs


def fresh(value: Any) -> Any:
    """Dtype, shape and raw bytes of every tensor in an object, to compare by."""
    if isinstance(value, torch.Tensor):
        plain = value.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
        raw = bytes(plain.reshape(-1).view(torch.uint8).numpy()) if plain.numel() else b""
        return str(value.dtype), tuple(value.shape), raw
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [fresh(item) for item in value]
    return value


# ------------------------------------------------------------------------------------------------------------------------- strategies


@st.composite
def tensors(draw: st.DrawFn, names: tuple[str, ...] = tuple(DTYPES)) -> Any:
    name = draw(st.sampled_from(names))
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    count = int(np.prod(shape, dtype=int))
    raw = torch.arange(count * 16, dtype=torch.int64).to(torch.uint8)
    dtype = DTYPES[name]
    size = torch.empty((), dtype=dtype).element_size()
    base = (
        (raw[: count * size] % 2 if name == "bool" else raw[: count * size].clone()).view(dtype).reshape(shape)
        if count
        else torch.empty(shape, dtype=dtype)
    )
    how = draw(st.sampled_from(["plain", "plain", "transposed", "sliced", "expanded", "steps"]))
    if how == "transposed" and base.dim() >= 2:
        return base.transpose(0, -1)
    if how == "sliced" and base.dim() and base.shape[0] > 1:
        return base[1:]
    if how == "expanded":
        return base.unsqueeze(0).expand(3, *base.shape)
    if how == "steps" and base.dim():
        return base[::2]
    return base


LEAVES = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.integers(-300, 70000) | st.floats() | st.text(max_size=6) | st.binary(max_size=6)
    | st.builds(complex, st.floats(allow_nan=False), st.floats(allow_nan=False)) | st.sets(st.integers(0, 9), max_size=4)
    | st.frozensets(st.integers(0, 9), max_size=3) | st.builds(bytearray, st.binary(max_size=4))
    | st.builds(lambda: torch.Size([2, 3])) | st.sampled_from([torch.float32, torch.bfloat16]) | st.builds(lambda: torch.device("cpu"))
)  # fmt: skip
KEYS = st.text(max_size=8) | st.integers(0, 300)


def objects(leaves: Any) -> Any:
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4) | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4).map(OrderedDict),
        max_leaves=12,
    )  # fmt: skip


def shared(obj: Any) -> Any:
    return st.tuples(obj, obj).map(lambda pair: {"a": pair[0], "b": pair[1], "again": pair[0], "deep": {"more": [pair[1], pair[0]]}})


SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@given(obj=objects(LEAVES | tensors() | tensors()) | shared(objects(tensors())), protocol=st.sampled_from([2, 2, 2, 3, 4, 5]))
@SETTINGS
def test_any_object_is_written_as_torch_does(obj: Any, protocol: int, tmp_path: Path) -> None:
    try:
        torch.save(obj, tmp_path / "probe.pt", pickle_protocol=protocol)
    except RuntimeError:  # two dtypes on one storage: not made here, but a view of complex numbers may be
        with pytest.raises(inert.InertError):
            inert.save(obj, tmp_path / "refused.pt", protocol=protocol)
        return
    same_bytes(obj, tmp_path, protocol=protocol)


@given(
    obj=objects(
        st.none() | st.integers() | st.text(max_size=5) | tensors(("float32", "int64", "bfloat16", "float16", "bool", "float8_e5m2"))
    )
)
@SETTINGS
def test_what_inert_loads_is_saved_as_it_was(obj: Any, tmp_path: Path) -> None:
    """``inert.load`` of a file of torch's, saved again: views of one storage share it again."""
    theirs = both(tmp_path)[1]
    torch.save(obj, theirs)
    ours = both(tmp_path)[0]
    inert.save(inert.load(theirs), ours, sync=False)
    there, here = torch.load(theirs, weights_only=True), torch.load(ours, weights_only=True)
    assert repr(fresh(there)) == repr(fresh(here))
    with inert.open(theirs) as found:
        inert.save(found.root, ours, sync=False)
    assert repr(fresh(torch.load(ours, weights_only=True))) == repr(fresh(there))


@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (1, 2, 0)])
def test_arrays_of_every_dtype_are_tensors(name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    count = int(np.prod(shape, dtype=int))
    array = np.arange(count).reshape(shape).astype(NUMPY[name])
    raw = torch.frombuffer(bytearray(array.tobytes()), dtype=DTYPES[name]) if count else torch.empty(0, dtype=DTYPES[name])
    value = raw.reshape(shape)
    theirs = same_bytes({"x": value, "y": 1}, tmp_path, {"x": array, "y": 1})
    assert torch.load(theirs, weights_only=True)["x"].dtype == DTYPES[name]


def test_arrays_that_share_memory_share_storage(tmp_path: Path) -> None:
    base = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    array = base.numpy()
    obj = {"all": base, "rows": base[1:3], "columns": base.t(), "again": base, "step": base[::2, 1::2], "wide": base[:, :1].expand(4, 5)}
    arrays = {
        "all": array, "rows": array[1:3], "columns": array.T, "again": array, "step": array[::2, 1::2],
        "wide": np.broadcast_to(array[:, :1], (4, 5)),
    }  # fmt: skip
    theirs = same_bytes(obj, tmp_path, arrays)
    assert len({t.untyped_storage().data_ptr() for t in torch.load(theirs).values()}) == 1


def test_parameters_memory_formats_and_odd_bits(tmp_path: Path) -> None:
    w = torch.randn(2, 3, 4, 5)
    c = torch.randn(3, dtype=torch.complex64)
    same_bytes({
        "p": torch.nn.Parameter(w), "frozen": torch.nn.Parameter(torch.ones(2), requires_grad=False), "grad": torch.ones(2, requires_grad=True),
        "last": w.contiguous(memory_format=torch.channels_last), "conj": c.conj(), "neg": torch.randn(3, dtype=torch.complex64).conj().imag, "real": torch.view_as_real(torch.zeros(2, dtype=torch.complex64)),
    }, tmp_path)  # fmt: skip
    tied = torch.nn.Parameter(w)
    same_bytes({"a": tied, "b": tied, "c": w}, tmp_path)


def test_state_dicts_of_modules_and_optimizers(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.LSTM(4, 2))
    theirs = same_bytes(model.state_dict(), tmp_path)
    assert torch.load(theirs)._metadata
    for make in (torch.optim.Adam, torch.optim.AdamW, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9)):
        one = torch.nn.Linear(3, 4)
        optimizer = make(one.parameters())
        one(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        same_bytes({"model": one.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3}, tmp_path)


@pytest.mark.parametrize("value", [slice(1, None, 2), range(3), [slice(None)], torch.Size([]), OrderedDict(), [[]] * 3, {"": {}}], ids=repr)
def test_odd_values(value: Any, tmp_path: Path) -> None:
    same_bytes(value, tmp_path)


@pytest.mark.parametrize("name", ["n.pt", "a.b.c.pt", "noext", "a.", "with spaces.pt", "é.pt", "x" * 200 + ".pt"])
def test_names_of_files(name: str, tmp_path: Path) -> None:
    if os.path.splitext(name)[1] == ".pt":
        same_bytes({"w": torch.ones(2)}, tmp_path, name=name)
        return
    ours, theirs = both(tmp_path, name)
    torch.save({"w": torch.ones(2)}, theirs)
    inert.save({"w": torch.ones(2)}, ours, format="torch-zip", sync=False)
    assert ours.read_bytes() == theirs.read_bytes()


def test_what_no_loaded_array_looks_at_is_left_out(tmp_path: Path) -> None:
    """Views keep sharing the memory that they cover together; the rest of a larger storage is not written again."""
    base = torch.arange(1000, dtype=torch.float32)
    theirs, ours = both(tmp_path)
    torch.save({"a": base[10:20], "b": base[15:30]}, theirs)
    inert.save(inert.load(theirs), ours)
    found = torch.load(ours, weights_only=True)
    assert torch.equal(found["a"], base[10:20])
    assert torch.equal(found["b"], base[15:30])
    assert found["a"].untyped_storage().data_ptr() == found["b"].untyped_storage().data_ptr()
    assert found["a"].untyped_storage().nbytes() == 20 * 4


# ------------------------------------------------------------------------------------------------------------ the archive's own facts


@pytest.mark.parametrize("count", [0, 1, 12, 13, 14, 27, 28, 29, 1_107, 1_108, 1_109, 1_110, 6_000])
def test_the_id_with_as_many_records(count: int, tmp_path: Path) -> None:
    same_bytes({str(i): torch.full((2,), float(i)) for i in range(count)}, tmp_path)


@pytest.mark.parametrize("raw", [b"PK\7\x08abcdefgh", b"PK\7\x08abcd", b"PK\7\x08abc", b"PK\7\x08", b"PK\3\4abcd", b"PK\1\2abcd"])
def test_the_id_of_content_that_looks_like_the_archive(raw: bytes, tmp_path: Path) -> None:
    same_bytes([torch.tensor(list(raw), dtype=torch.uint8)], tmp_path)


@pytest.mark.parametrize("alignment", [1, 64, 128, 4096])
def test_alignments(alignment: int, tmp_path: Path) -> None:
    from torch.utils.serialization import config

    obj = {"a": torch.ones(3), "b": torch.zeros(0), "c": torch.arange(1000)}
    ours, theirs = both(tmp_path)
    before = config.save.storage_alignment
    config.save.storage_alignment = alignment
    try:
        torch.save(obj, theirs)
    finally:
        config.save.storage_alignment = before
    inert.save(obj, ours, alignment=alignment, sync=False)
    assert ours.read_bytes() == theirs.read_bytes()


def test_records_beyond_four_gigabytes_lie_where_torch_puts_them(tmp_path: Path) -> None:
    """torch writes records without content as holes; all but the checksums and the id made of them must agree."""
    theirs, ours = tmp_path / "theirs.pt", tmp_path / "ours.pt"
    sizes = [("data/0", BIG), ("data/1", 5), ("data/2", (1 << 32) - 1), ("data/3", (1 << 32) - 2), ("data/4", 64)]
    writer = torch._C.PyTorchFileWriter(str(theirs))
    for name, size in sizes:
        writer.write_record_metadata(name, size)
    writer.write_end_of_file()
    archive = Archive("theirs", [*(Record(name, hole(size)) for name, size in sizes), *_written_last()])
    sparse(ours, archive)
    assert ours.stat().st_size == theirs.stat().st_size
    with theirs.open("rb") as a, ours.open("rb") as b:
        for offset, head, record in zip(archive.offsets, archive.heads, archive.records, strict=True):
            a.seek(offset)
            assert a.read(len(head)) == head, record.name
            tail = offset + len(head) + record.size
            a.seek(tail)
            b.seek(tail)
            there, here = a.read(24), b.read(24)
            assert there[:4] + there[8:16] == here[:4] + here[8:16], record.name
        a.seek(archive.directory)
        b.seek(archive.directory)
        there, here = a.read(), b.read()
        assert len(there) == len(here)
        place = 0
        for name in archive.names:
            extra = struct.unpack_from("<H", here, place + 30)[0]
            end = place + 46 + len(name) + extra
            assert there[place : place + 16] + there[place + 20 : end] == here[place : place + 16] + here[place + 20 : end], name
            place = end
        assert there[place:] == here[place:]


def _written_last() -> list[Record]:
    return [Record("version", b"3\n"), Record("byteorder", b"little"), Record(ID, bytes(40))]


# ------------------------------------------------------------------------------------------------------------- reading, and durability


@given(obj=objects(LEAVES | tensors() | tensors()))
@settings(SETTINGS, max_examples=60)
def test_torch_reads_all_of_it(obj: Any, tmp_path: Path) -> None:
    path = tmp_path / "n.pt"
    inert.save({"root": obj, "tensor": torch.ones(3)}, path, sync=False)
    loaded = torch.load(path, weights_only=False)
    assert repr(fresh(loaded["root"])) == repr(fresh(obj))
    assert repr(fresh(torch.load(path, weights_only=False, mmap=True)["root"])) == repr(fresh(obj))
    try:
        torch.save({"root": obj, "tensor": torch.ones(3)}, tmp_path / "n2.pt")
        torch.load(tmp_path / "n2.pt", weights_only=True)
    except Exception:
        return  # what torch itself wrote it does not take either: empty bytes, frozenset …
    assert repr(fresh(torch.load(path, weights_only=True)["root"])) == repr(fresh(obj))


@pytest.mark.parametrize("kind", ["nameless", "named"])
def test_a_process_that_is_killed_two_hundred_times(kind: str, tmp_path: Path) -> None:
    killed(kind, tmp_path, 100)
