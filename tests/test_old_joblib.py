"""Dumps of joblib before 0.10, whose arrays lie in files beside the pickle: read to the bit, from nowhere else, and never in silence.

The folders of tests/corpus/old_joblib/ are made by make_old_joblib.py with the joblib and Python of their names; expected.json says what was
dumped, and joblib 1.6 reads the same.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import inert
from inert.cli import main
from inert.errors import FormatError, LimitError, UnsupportedError
from inert.limits import Limits
from inert.torch.objects import Object
from tests.conformance import look_over
from tests.makers import Made, Name, dumps

HERE = Path(__file__).parent / "corpus" / "old_joblib"
TABLE: dict[str, dict[str, Any]] = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
ARRAYS = ("w", "f", "big", "empty", "scalar", "matrix", "text")


def codes(found: inert.Checkpoint) -> set[str]:
    return {note.code for note in found.notes}


@pytest.mark.parametrize("writer", TABLE)
def test_arrays_are_what_was_dumped(writer: str) -> None:
    expected = TABLE[writer]
    with inert.open(HERE / writer / "state.pkl") as found:
        assert found.format == "pickle"
        assert found.metadata["writer"] == "joblib"
        assert set(found.tensors) == set(ARRAYS)
        for name in ARRAYS:
            shape, dtype, sha = expected[name]
            tensor = found.tensors[name]
            array = tensor.numpy()
            assert (list(tensor.shape), tensor.sha256()) == (shape, sha)
            assert array.dtype.newbyteorder("<").str.replace("|", "") == dtype
            assert hashlib.sha256(array.astype(dtype).tobytes()).hexdigest() == sha
        assert found.root["epoch"] == 3
        if "objects" in expected:
            assert found.root["objects"] == expected["objects"]
        assert isinstance(found.root["record"], Object), "records are kept as what the pickle says of them"
        assert "pickle-companions" in codes(found)
        assert not found.errors
        arrays = [part for part in found.parts.values() if part.role == "array"]
        assert len(arrays) >= len(ARRAYS)
        zipped = "!" in arrays[0].file
        assert zipped or all(os.path.getsize(part.file) == part.size for part in arrays)
        at, file = found.tensors["w"].file_offset, found.tensors["w"].file
        if at is not None and file is not None:
            assert struct.unpack("<12f", Path(file).read_bytes()[at : at + 48]) == tuple(range(12))
        assert (at is None) == (writer.endswith("-z") or zipped)
    state = inert.load(HERE / writer / "state.pkl")
    assert state["w"].tolist() == np.arange(12).reshape(3, 4).tolist()
    assert state["matrix"].tolist() == [[1, 2], [3, 4]]
    assert inert.load(HERE / writer / "state.pkl", mmap=False)["f"].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_the_pickle_of_an_array_of_objects_is_there_to_be_judged() -> None:
    with inert.open(HERE / "py27-0.8.4" / "state.pkl") as found:
        name = next(name for name in found.pickles if name.endswith(".npy"))
        assert "numpy.core.multiarray._reconstruct" in {one.dotted for one in found.pickles[name].globals}


def test_the_commands_take_them(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("ls", "info", "parts"):
        assert main([command, str(HERE / "py27-0.9.4" / "state.pkl")]) == 0
        assert "pickle" in capsys.readouterr().out


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return shutil.copytree(HERE / "py27-0.9.4", tmp_path / "dump")


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    return shutil.copytree(HERE / "py36-0.9.4-z", tmp_path / "packed")


def holding(folder: Path, name: str) -> Path:
    """The file of an array."""
    with inert.open(folder / "state.pkl") as found:
        storage = found.tensors[name].storage
        assert storage is not None
        return folder / storage.key


def test_a_missing_file_is_named_and_the_others_are_read(dump: Path) -> None:
    lost = holding(dump, "w")
    lost.unlink()
    with inert.open(dump / "state.pkl") as found:
        fault = f"its file {lost.name!r} is not beside the pickle; its shape and element type stand only there"
        assert found.tensors["w"].fault == fault
        assert found.tensors["f"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        said = {note.code: note.message for note in found.notes}
        assert said["companion-missing"] == f"1 array, such as this: {fault}"
        with pytest.raises(FormatError, match="not beside the pickle"):
            found.tensors["w"].numpy()
    with pytest.raises(FormatError, match="not beside the pickle"):
        inert.load(dump / "state.pkl")
    with pytest.raises(FormatError, match="not beside the pickle"):
        inert.open(dump / "state.pkl", strict=True)


def test_a_missing_packed_file_leaves_shape_and_type(packed: Path) -> None:
    holding(packed, "w").unlink()
    with inert.open(packed / "state.pkl") as found:
        tensor = found.tensors["w"]
        assert (tensor.shape, str(tensor.dtype)) == ((3, 4), "float32")
        assert "is not beside the pickle" in tensor.fault
        assert "companion-missing" in codes(found)


def test_a_stream_has_nothing_beside_it(dump: Path) -> None:
    with inert.open(io.BytesIO((dump / "state.pkl").read_bytes())) as found:
        assert {tensor.fault.partition(", ")[2].partition(";")[0] for tensor in found.tensors.values()} == {
            "which was not opened by its path"
        }


def test_a_closed_dump_and_one_that_changes(dump: Path) -> None:
    path = holding(dump, "w")
    with inert.open(dump / "state.pkl") as found:
        tensor = found.tensors["w"]
        os.utime(path, ns=(1, 1))
        with pytest.raises(FormatError, match="changed or replaced"):
            tensor.numpy()
        other = found.tensors["f"]
    with pytest.raises(UnsupportedError, match="closed"):
        other.numpy()


# -------------------------------------------------------------------------------------------------------------------- files that lie


def npy(header: bytes, data: bytes = b"", version: int = 1) -> bytes:
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + data


GOOD = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n"
TWO = struct.pack("<2f", 1, 2)


def opened(folder: Path, file: bytes | None, name: Any = "x_01.npy", kind: str = "NDArrayWrapper", **state: Any) -> inert.Checkpoint:
    """A dump of one array."""
    state = {"filename": name, "subclass": Name("numpy", "ndarray"), **state}
    (folder / "x").write_bytes(dumps(Made(Name("joblib.numpy_pickle", kind), (), state, new=True)))
    if file is not None:
        (folder / "x_01.npy").write_bytes(file)
    return inert.open(folder / "x")


@pytest.mark.parametrize(
    "file",
    [
        npy(GOOD, TWO),
        npy(GOOD, TWO, 2),
        npy(GOOD, TWO, 3),
        npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }", TWO),
        npy(b"{'descr': '<f4', 'fortran_order': True, 'shape': (2,)}      \n", TWO),
    ],
)
def test_headers_of_every_version(file: bytes, tmp_path: Path) -> None:
    with opened(tmp_path, file) as found:
        assert found.tensors[""].numpy().tolist() == [1, 2]
        assert codes(found) == {"pickle-companions"}
    assert np.load(io.BytesIO(file.replace(b"2L", b"2 "))).tolist() == [1, 2], "NumPy agrees"


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (b"", "it is no .npy file"),
        (b"\x93NUMPY\1", "it is no .npy file"),
        (npy(GOOD, TWO, 9), "it is no .npy file"),
        (npy(GOOD)[:20], "its header is cut short"),
        (npy(b"", b"")[:8] + b"\xff\xff" + bytes(10), "its header is cut short"),
        (b"\x93NUMPY\2\0\xff\xff\xff\x7f" + bytes(10), "a header of 2,147,483,647 bytes"),
        (npy(b"__import__('os').system('id')"), "none that NumPy writes"),
        (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"), "none that NumPy writes"),
        (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"9" * 30 + b",), }"), "no list of numbers"),
        (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (" + b"1," * 70 + b"), }"), "70 dimensions"),
        (npy(GOOD, TWO[:-1]), "an array of shape [2] over 7 bytes"),
        (npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }", TWO), "over 8 bytes"),
        (npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", b"\x80\x02]"), "ends without STOP"),
    ],
)
def test_a_companion_that_is_none_is_listed_with_its_fault(file: bytes, says: str, tmp_path: Path) -> None:
    with opened(tmp_path, file) as found:
        assert says in found.tensors[""].fault
        assert {"companion-missing", "tensor-damaged"} <= codes(found)


def test_bytes_behind_an_array_are_noted(tmp_path: Path) -> None:
    with opened(tmp_path, npy(GOOD, TWO + b"more")) as found:
        assert found.tensors[""].numpy().tolist() == [1, 2]
        (note,) = [note for note in found.notes if note.code == "npy-trailing"]
        assert (note.message, note.where.offset) == ("4 bytes follow the array", 10 + len(GOOD) + 8)


@pytest.mark.parametrize("name", ["../x_01.npy", "/etc/passwd", "a/b", "", "..", "c:\\x", "x\0y", "fifo", "folder", "link"], ids=repr)
def test_no_name_leads_out_of_the_folder(name: Any, tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "folder").mkdir(parents=True)
    (tmp_path / "x_01.npy").write_bytes(npy(GOOD, TWO))
    (home / "link").symlink_to(tmp_path / "x_01.npy")
    os.mkfifo(home / "fifo")
    for kind in ("NDArrayWrapper", "ZNDArrayWrapper"):
        f4 = Made(Name("numpy", "dtype"), ("f4", False, True), (3, "<", None, None, None, -1, -1, 0))
        with opened(home, None, name, kind, state=(1, (2,), f4, False)) as found:
            assert found.tensors[""].fault
            assert not [part for part in found.parts.values() if part.role == "array"]


def test_a_hostile_array_of_objects_opens_as_data(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    inner = dumps(Made(Name("os", "system"), (f"touch {mark}",)))
    with opened(tmp_path, npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", inner)) as found:
        assert isinstance(found.root, Object)
        assert [one.dotted for one in found.pickles["./x_01.npy"].globals] == ["os.system"]
    assert not mark.exists()
    with pytest.raises(LimitError):
        inert.open(tmp_path / "x", limits=Limits(pickle_bytes=10))


def test_a_companion_hides_no_other_pickle(tmp_path: Path) -> None:
    inner = npy(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", dumps([1]))
    (tmp_path / "pickle").write_bytes(inner)
    with opened(tmp_path, None, "pickle") as found:
        assert list(found.pickles) == ["pickle", "./pickle"]
        assert list(found.parts) == ["pickle", "./pickle"]


@pytest.mark.parametrize("name", [None, 3, [1], (((),),) * 3, {}], ids=repr)
def test_a_name_that_is_no_text(name: Any, tmp_path: Path) -> None:
    for kind in ("NDArrayWrapper", "ZNDArrayWrapper"):
        with opened(tmp_path, None, name, kind) as found:
            assert isinstance(found.root, Object)
            assert "value-odd" in codes(found)


@pytest.mark.no_cover
def test_a_name_that_is_very_deep(tmp_path: Path) -> None:
    deep = b"(" * 300_000 + b"t" * 300_000
    data = b"\x80\x02cjoblib.numpy_pickle\nNDArrayWrapper\n)\x81}X\x08\x00\x00\x00filename" + deep + b"sb."
    (tmp_path / "x").write_bytes(data)
    with inert.open(tmp_path / "x") as found:
        assert isinstance(found.root, Object)
        assert "value-odd" in codes(found)


def zfile(data: bytes, said: int | None = None) -> bytes:
    return b"ZF" + hex(len(data) if said is None else said).ljust(19).encode() + zlib.compress(data)


@pytest.mark.parametrize(
    ("file", "says"),
    [
        (zfile(TWO), ""),
        (zfile(TWO).replace(b"ZF0x8", b"ZF0x8L", 1)[:21] + b" " + zlib.compress(TWO), ""),
        (b"junk", "none of joblib's compressed files"),
        (zfile(TWO[:4]), "holds 4 bytes, 8 are wanted"),
        (zfile(bytes(100), 8), "100 bytes come out, 8 are wanted"),
        (zfile(TWO)[:-8], "bytes come out, 8 are wanted|wrapper is damaged"),
    ],
)
def test_a_packed_companion(file: bytes, says: str, tmp_path: Path) -> None:
    f4 = Made(Name("numpy", "dtype"), ("f4", False, True), (3, "<", None, None, None, -1, -1, 0))
    with opened(
        tmp_path, file, kind="ZNDArrayWrapper", init_args=(Name("numpy", "ndarray"), (0,), "b"), state=(1, (2,), f4, False)
    ) as found:
        if says:
            with pytest.raises(FormatError, match=says):
                found.tensors[""].numpy()
        else:
            assert found.tensors[""].numpy().tolist() == [1, 2]
            assert found.tensors[""].numpy().tolist() == [1, 2], "inflated once, read twice"


@pytest.mark.parametrize("state", [{}, {"state": 3}, {"state": (1, (2,), None, False)}], ids=repr)
def test_a_wrapper_that_says_nothing_stays_an_object(state: dict[str, Any], tmp_path: Path) -> None:
    with opened(tmp_path, zfile(TWO), kind="ZNDArrayWrapper", **state) as found:
        assert isinstance(found.root, Object)
        assert "value-odd" in codes(found)


@pytest.mark.parametrize("writer", ["py27-0.8.4", "py36-0.9.4-z"])
def test_any_cut_of_any_file_gives_a_result_or_a_refusal(writer: str, tmp_path: Path) -> None:
    home = shutil.copytree(HERE / writer, tmp_path / "x")
    for path in sorted(home.iterdir()):
        data = path.read_bytes()
        for end in {*range(0, len(data), 29), len(data) - 1}:
            path.write_bytes(data[:end])
            look_over(home / "state.pkl")
        path.write_bytes(data)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_change_of_any_file_gives_a_result_or_a_refusal(tmp_path: Path, draw: Any) -> None:
    home = tmp_path / "x"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(HERE / draw.draw(st.sampled_from(["py27-0.8.4", "py36-0.9.4-z"])), home)
    path = draw.draw(st.sampled_from(sorted(home.iterdir())))
    data = bytearray(path.read_bytes())
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    path.write_bytes(data)
    look_over(home / "state.pkl")
