"""Pickles that are files of their own: what is one, what is in it, and what a hostile one does, which is nothing."""

from __future__ import annotations

import io
import os
import pickle
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.errors import FormatError, LimitError, UnidentifiedError
from inert.files import FileSource
from inert.formats import bare_pickle
from inert.limits import Limits
from inert.torch.objects import Object
from tests.conformance import look_over
from tests.makers import Made, Name, Pid, dumps, storage, tensor
from tests.source_tree import REPOSITORY

HERE = Path(__file__).parent / "corpus"
SHARED = REPOSITORY.parent / "shared" / "corpus"
PLAIN = sorted((HERE / "pickles").glob("numpy-*")) + sorted((HERE / "pickles").glob("joblib-p*"))


def opened(data: bytes, **options: Any) -> inert.Checkpoint:
    return inert.open(io.BytesIO(data), **options)


def codes(found: inert.Checkpoint) -> list[str]:
    return [note.code for note in found.notes]


# --------------------------------------------------------------------------------------------------------- NumPy and joblib


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.name)
def test_a_dict_of_arrays(path: Path) -> None:
    """The expectations are the lines of make_pickles.py that made the files."""
    with inert.open(path) as found:
        assert found.format == "pickle"
        assert found.root["epoch"] == 3
        assert found.root["objects"] == [1, "two", None]
        assert isinstance(found.root["record"], Object)
        arrays = {name: tensor.numpy() for name, tensor in found.tensors.items()}
        assert sorted(arrays) == ["big", "empty", "f", "scalar", "twin", "w"]
        assert np.array_equal(arrays["w"], np.arange(12).reshape(3, 4))
        assert np.array_equal(arrays["twin"], arrays["w"])
        assert np.array_equal(arrays["f"], np.arange(6).reshape(2, 3))
        assert found.tensors["f"].strides == (1, 2), "Fortran order"
        assert np.array_equal(arrays["big"], [0, 1, 2])
        assert arrays["empty"].shape == (0, 4)
        assert arrays["scalar"] == 7
        assert {str(found.tensors[name].dtype) for name in ("w", "f", "big", "scalar")} == {"float32", "int16", "float64", "int64"}
        joblib = "joblib" in path.name
        assert (found.metadata.get("writer") == "joblib") == joblib
        assert ("pickle-raw" in codes(found)) == joblib
        assert all(kind in ("pickle-raw", "value-odd") for kind in codes(found))  # the record stays an object
        assert [part.role for part in found.parts.values()] == ["pickle"]


def test_joblib_arrays_lie_in_the_file() -> None:
    path = HERE / "pickles" / "joblib-p4.joblib"
    with inert.open(path) as found:
        at = found.tensors["w"].file_offset
        assert at is not None
        assert at % 16 == 0, "joblib aligns them"
        assert struct.unpack("<12f", path.read_bytes()[at : at + 48]) == tuple(range(12))


def test_a_large_file_is_decoded_over_its_map(monkeypatch: pytest.MonkeyPatch) -> None:
    path = HERE / "pickles" / "joblib-p2.joblib"
    with inert.open(path) as small:
        wanted = {name: tensor.sha256() for name, tensor in small.tensors.items()}
    monkeypatch.setattr(bare_pickle, "MAPPED", 0)
    monkeypatch.setattr(bare_pickle, "FIRST", 64)
    with inert.open(path) as found:
        assert {name: tensor.sha256() for name, tensor in found.tensors.items()} == wanted
    with pytest.raises(LimitError, match="a pickle of"):
        opened(path.read_bytes(), limits=Limits(pickle_bytes=100))


def test_a_python_2_blob_in_the_manner_of_detectron() -> None:
    raw = struct.pack("<4f", 1, 2, 3, 4)
    blob = (  # as cPickle writes it
        b"\x80\x02}q\x01U\x05blobsq\x02}q\x03U\x07conv1_wq\x04cnumpy.core.multiarray\n_reconstruct\nq\x05cnumpy\nndarray\nq\x06K\x00\x85U\x01b\x87Rq\x07"
        b"(K\x01K\x02K\x02\x86cnumpy\ndtype\nq\x08U\x02f4K\x00K\x01\x87Rq\x09(K\x03U\x01<NNN"
        b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x10" + raw + b"tbss."
    )  # fmt: skip
    with opened(blob) as found:
        assert np.array_equal(found.tensors["blobs.conv1_w"].numpy(), [[1, 2], [3, 4]])


@pytest.mark.parametrize("path", sorted((HERE / "python2").iterdir()), ids=lambda path: path.name)
def test_python_2_pickles(path: Path) -> None:
    with inert.open(path) as found:
        assert found.root[0]["s"] == b"bytes \xff\n'\""
        assert found.root[-1] is found.root


def wrapper(shape: tuple[int, ...], dtype: Any, **more: Any) -> Made:
    state = {"subclass": Name("numpy", "ndarray"), "shape": shape, "order": "C", "dtype": dtype, "allow_mmap": True, **more}
    return Made(Name("joblib.numpy_pickle", "NumpyArrayWrapper"), (), state, new=True)


def kind(name: str) -> Made:
    return Made(Name("numpy", "dtype"), (name, False, True), (3, "<", None, None, None, -1, -1, 0))


def raw_pickle(shape: Any, dtype: Any, data: bytes, **more: Any) -> bytes:
    """An array as joblib before 1.2 wrote it, without padding: the STOP behind the wrapper goes behind the bytes."""
    return dumps(wrapper(shape, dtype, **more))[:-1] + data + b"."


def test_an_array_of_an_older_joblib_has_no_padding() -> None:
    with opened(raw_pickle((2,), kind("f4"), struct.pack("<2f", 1, 2))) as found:
        assert found.tensors[""].numpy().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((-1,), kind("f4")), ((1 << 62, 4), kind("f4")), ((1,), None), ("x", kind("f4")), ((1,), kind("Q99")), ((10,), kind("f8"))],
)
def test_a_wrapper_that_lies(shape: Any, dtype: Any) -> None:
    with pytest.raises(FormatError, match=r"."):
        opened(raw_pickle(shape, dtype, bytes(8)))


def test_what_pickle_and_joblib_read_differently_is_told() -> None:
    """The bytes of the array are opcodes of a call: joblib.load takes them for numbers, pickle.load makes the call."""
    payload = b"cposix\nsystem\nX\x02\x00\x00\x00id\x85R0N"
    data = raw_pickle((len(payload),), kind("u1"), payload)
    with opened(data) as found:
        assert found.tensors[""].shape == (len(payload),)
        assert "pickle-hidden" in codes(found)
        named = [node.dotted for document in found.pickles.values() for node in document.globals]
        assert "posix.system" in named


# ------------------------------------------------------------------------------------------------------------------- torch


def test_a_lone_data_pkl_shows_its_structure() -> None:
    data = dumps({"w": tensor(storage("0", 6), (2, 3)), "epoch": 3})
    with opened(data) as found:
        assert found.root["epoch"] == 3
        assert (found.tensors["w"].shape, str(found.tensors["w"].dtype)) == ((2, 3), "float32")
        assert found.tensors["w"].fault == "its storage data/0 is not in the file"
        assert {"data-missing", "tensor-damaged"} == set(codes(found))


@pytest.mark.parametrize("order", ["little", "big", None])
def test_an_unpacked_archive_is_read_whole(tmp_path: Path, order: str | None) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data.pkl").write_bytes(dumps({"w": tensor(storage("0", 6), (2, 3)), "lost": tensor(storage("1", 6), (2, 3))}))
    (tmp_path / "data" / "0").write_bytes(struct.pack("<6f" if order != "big" else ">6f", *range(6)))
    if order:
        (tmp_path / "byteorder").write_text(order)
    with inert.open(tmp_path / "data.pkl") as found:
        tensors = found.tensors
        assert tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        assert (tensors["w"].file, tensors["w"].file_offset) == (str(tmp_path / "data" / "0"), 0)
        assert tensors["lost"].fault
        assert {"data-beside", "data-missing"} <= set(codes(found))
        assert found.parts["data/0"].role == "storage"
        (tmp_path / "data" / "0").write_bytes(bytes(8))
        with pytest.raises(FormatError, match="while it was open"):
            tensors["w"].sha256()


@pytest.mark.parametrize("key", ["../secret", "/etc/passwd", "..", "", "a/b", "x\0y", "fifo", "folder"])
def test_a_storage_key_leads_nowhere_else(tmp_path: Path, key: str) -> None:
    (tmp_path / "data" / "folder").mkdir(parents=True)
    os.mkfifo(tmp_path / "data" / "fifo")
    (tmp_path / "secret").write_bytes(bytes(4))
    (tmp_path / "data.pkl").write_bytes(dumps({"w": tensor(storage(key, 1), (1,))}))
    with inert.open(tmp_path / "data.pkl") as found:
        assert found.tensors["w"].fault


def test_torch_tensors_by_plain_pickle() -> None:
    """Plain pickle puts a whole torch file into a call for each storage."""
    parts = (
        0x1950A86A20F9469CFC6C,
        1001,
        {"little_endian": True},
        Pid(("storage", Name("torch", "FloatStorage"), "7", "cpu", 2, None)),
        ["7"],
    )
    file = b"".join(dumps(part) for part in parts) + struct.pack("<q2f", 2, 5, 6)
    held = Made(Name("torch.storage", "_load_from_bytes"), (file,))
    with opened(dumps({"a": tensor(held, (2,)), "b": tensor(held, (1,), offset=1)}, 4)) as found:
        assert found.tensors["a"].numpy().tolist() == [5, 6]
        assert found.tensors["b"].numpy().tolist() == [6]
        assert found.tensors["a"].storage is found.tensors["b"].storage
        assert not found.notes


# --------------------------------------------------------------------------------------------------------- several, and none


def test_several_pickles_are_a_list() -> None:
    with opened(b"".join(pickle.dumps(value, 2) for value in ({"a": 1}, [2], 3))) as found:
        assert found.root == [{"a": 1}, [2], 3]
        assert list(found.pickles) == ["pickle", "pickle 1", "pickle 2"]
        assert codes(found) == ["pickle-several"]
    with opened(pickle.dumps([1], 2) * 5, limits=Limits(pickles=3)) as found:
        assert found.root == [[1]] * 3
        assert "pickles-limit" in codes(found)


@pytest.mark.parametrize("behind", [b"\n", b"junk", bytes(40), b"\x80\x02}"])
def test_what_follows_and_is_no_pickle_is_noted(behind: bytes) -> None:
    with opened(pickle.dumps({"a": 1}, 2) + behind) as found:
        assert found.root == {"a": 1}
        assert codes(found) == ["pickle-trailing"]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("value", [{"a": 1}, [1.5], {}, [], ("x", None)], ids=repr)
def test_every_protocol_is_seen(protocol: int, value: Any) -> None:
    with opened(pickle.dumps(value, protocol)) as found:
        assert found.root == value


@pytest.mark.parametrize(
    "text",
    [
        b"].\n",
        b"(l.",
        b"N.",
        b"I1\n.",
        b"Version\n.gitignore\n",
        b"import os\n.",
        b"(dp0\nhello",
        b").",
        b"cposix\nsystem\n.",
        b"Some text. And more.\n",
    ],
)
def test_a_text_is_no_pickle(text: bytes) -> None:
    with pytest.raises(UnidentifiedError):
        opened(text)


@pytest.mark.no_cover
def test_noise_is_no_pickle() -> None:
    rng = random.Random(1)
    for _ in range(3000):
        data = rng.choice(bare_pickle.STARTS).to_bytes(1, "little") + rng.randbytes(rng.choice((3, 10, 100)))
        with pytest.raises(UnidentifiedError):
            opened(data)


def test_the_repository_holds_no_other_pickles() -> None:
    """Sources, documents and tables are read by nobody as a pickle."""
    for path in [*(REPOSITORY / "src").rglob("*.py"), *REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]:
        source = FileSource(str(path))
        assert bare_pickle.claims(source, Limits()) is None
        source.close()


def test_a_damaged_pickle_is_refused_with_its_fault() -> None:
    data = pickle.dumps({"weights": list(range(50)), "name": "x"}, 2)
    with pytest.raises(FormatError, match="ends without STOP"):
        opened(data[:-1])
    with pytest.raises(FormatError, match="is no opcode"):
        opened(data[:60] + b"\xff" + data[61:])


def test_a_hostile_pickle_opens_as_data(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    for protocol in (0, 2, 4):
        data = dumps({"w": Made(Name("os", "system"), (f"touch {mark}",))}, protocol)
        with opened(data) as found:
            assert isinstance(found.root["w"], Object)
            assert found.root["w"].type == "os.system"
    assert not mark.exists()


# ------------------------------------------------------------------------------------------------------------------ any bytes


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: path.name)
def test_any_prefix_gives_a_result_or_a_refusal(path: Path) -> None:
    data = path.read_bytes()
    for end in range(0, len(data), 13):
        look_over(io.BytesIO(data[:end]))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PLAIN), st.data())
def test_any_change_gives_a_result_or_a_refusal(path: Path, draw: Any) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    look_over(io.BytesIO(bytes(data)))


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus of real files does not lie beside the repository")
def test_real_joblib_and_pickle_files() -> None:
    found = [*SHARED.glob("thirdparty/**/*.pkl"), *SHARED.glob("thirdparty/**/*.pickle"), SHARED / "torch" / "extra" / "joblib_dump.pkl"]
    assert len(found) > 15
    for path in found:
        with inert.open(path) as checkpoint:
            assert checkpoint.format == "pickle"
            assert not [tensor for tensor in checkpoint.tensors.values() if tensor.fault]
