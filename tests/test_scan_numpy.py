"""Pickles where NumPy and joblib look for them: behind the header of a .npy file, however its type is spelled, and behind joblib's wrappers,
however they are made.

NumPy 2.4 (numpy.load with allow_pickle) and joblib 1.5 ran the call of each dangerous one.
"""

from __future__ import annotations

import io
import struct
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import inert
from tests.makers import Made, Name, dumps
from tests.spelled import call, dtype, name, named, number, of, text

if TYPE_CHECKING:
    from pathlib import Path

SYSTEM = b"\x80\2" + call(name("os", "system"), text("true")) + b"."


def npy(descr: str, data: bytes, shape: str = "(1,)") -> bytes:
    head = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data


def saved(array: Any) -> bytes:
    made = io.BytesIO()
    np.save(made, array)
    return made.getvalue()


def scan(data: bytes) -> Any:
    return inert.scan(io.BytesIO(data))


def codes(report: Any) -> set[str]:
    return {finding.code for finding in report.findings}


SPELLED = (
    "'|O'", "'O8'", "'object'", "'i4,O'", "'\\x7cO'", "('|O', (1,))", "b'|O'", "'|' 'O'", "'object_'", "'O,O'", "\"|O\"",
    "[('a', 'O')]", "[('a','O')]", "[('a', [('b', '|O')])]", "[('a', '|O', (1,))]", "[('a', '<f4'), ('b', 'object')]", "[['a', 'O']]",
)  # fmt: skip


@pytest.mark.parametrize("descr", SPELLED)
def test_whatever_is_not_plain_may_be_objects(descr: str) -> None:
    for data in (SYSTEM, SYSTEM[2:]):
        assert scan(npy(descr, data)).verdict == "dangerous"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.npy", npy(descr, SYSTEM))
    assert scan(packed.getvalue()).verdict == "dangerous"


def test_what_does_not_fit_the_shape_is_looked_at() -> None:
    assert scan(npy("'<f4'", bytes(4) + SYSTEM)).verdict == "dangerous"
    assert scan(npy("'<f4'", SYSTEM, "(1000,)")).verdict == "dangerous"
    assert scan(npy("[('a', '<f4'), ('b', '|u1', (3,))]", bytes(7) + SYSTEM)).verdict == "dangerous"
    assert scan(npy("'<f4'", bytes(4)) + npy("'|O'", SYSTEM)).verdict == "dangerous"
    assert scan(npy("'|O'", b"\0\1\2")).verdict == "unreadable"
    assert scan(npy("{}", SYSTEM)).verdict == "dangerous"


def test_plain_arrays_are_clean() -> None:
    records = np.zeros(5, [("a", "<f4"), ("b", [("c", "|S3"), (("title", "d"), "<i8", (2, 2))])])
    aligned = np.zeros(5, np.dtype([("a", "|u1"), ("b", "<f8")], align=True))
    for array in (np.arange(6.0), np.zeros((), bool), np.array(["ab"]), np.zeros(3, "<M8[s]"), np.zeros(2, "V5"), records, aligned):
        report = scan(saved(array))
        assert (report.verdict, codes(report) - {"scan-nothing"}) == ("clean", set())
    assert scan(saved(np.arange(3)) + saved(np.arange(4))).verdict == "clean"
    assert scan(saved(np.array(["a", None], object))).verdict == "clean"


@pytest.mark.parametrize("file", [npy("[('a', 'O')]", SYSTEM), npy("'object'", SYSTEM), SYSTEM])
def test_files_beside_a_pickle_are_looked_at_as_numpy_does(file: bytes, tmp_path: Path) -> None:
    state = {"filename": "x_01.npy", "subclass": Name("numpy", "ndarray")}
    (tmp_path / "x.pkl").write_bytes(dumps(Made(Name("joblib.numpy_pickle", "NDArrayWrapper"), (), state, new=True)))
    (tmp_path / "x_01.npy").write_bytes(file)
    assert inert.scan(tmp_path / "x.pkl").verdict == "dangerous"


# ---------------------------------------------------------------------------------------------------------------- joblib's wrappers

WRAPPER = name("joblib.numpy_pickle", "NumpyArrayWrapper")
OBJECTS, BYTES = dtype("O"), dtype("u1")
NEW = WRAPPER + b")\x81"
# a pickle with a memo of its own: for who reads on with the first one's, its names are harmless
OUTER = text("collections") + b"\x94" + text("OrderedDict") + b"\x9400"
INNER = text("os") + b"\x94" + text("system") + b"\x9400" + b"h\0h\1\x93" + of(text("true")) + b"R."


def facts(element: bytes, count: int = 1) -> bytes:
    return named(subclass=name("numpy", "ndarray"), shape=of(number(count)), order=text("C"), dtype=element, allow_mmap=b"\x89")


WAYS = {
    "NEWOBJ": NEW,
    "_reconstructor": call(name("copyreg", "_reconstructor"), WRAPPER, name("builtins", "object"), b"N"),
    "__newobj__": call(name("copyreg", "__newobj__"), WRAPPER),
    "__newobj_ex__": call(name("copyreg", "__newobj_ex__"), WRAPPER, b")", b"}"),
    "__new__": b"\x8c\x13joblib.numpy_pickle\x8c\x19NumpyArrayWrapper.__new__\x93" + of(WRAPPER) + b"R",
    "by way of another module": b"\x8c\x16joblib._store_backends\x8c\x1enumpy_pickle.NumpyArrayWrapper\x93)\x81",
    "getattr": call(name("builtins", "getattr"), name("joblib", "numpy_pickle"), text("NumpyArrayWrapper")) + b")\x81",
    "a tensor's class": call(name("torch._tensor", "_rebuild_from_type_v2"), name("copyreg", "__newobj__"), WRAPPER, of(WRAPPER), b"}"),
    "given back": call(name("torch.jit._pickle", "build_intlist"), NEW),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_wrapper_is_one_however_it_is_made(way: str) -> None:
    for state in (facts(OBJECTS), of(b"N", facts(OBJECTS))):
        report = scan(b"\x80\4" + OUTER + WAYS[way] + state + b"b" + INNER + b".")
        assert "os.system" in {one.dotted for one in report.globals}
        assert report.verdict == "dangerous"


def test_a_second_state_of_a_wrapper_is_dangerous() -> None:
    again = b"\x80\4" + NEW + b"q\5" + facts(BYTES, 4) + b"b" + b"NNN." + b"0h\5" + named(shape=of(number(0))) + b"b."
    report = scan(again)
    assert (report.verdict, "pickle-array-again" in codes(report)) == ("dangerous", True)
    file = name("joblib.numpy_pickle", "NDArrayWrapper") + b")\x81" + named(filename=text("a.npy")) + b"b"
    report = scan(b"\x80\4" + file + named(filename=text("b.npy")) + b"b.")
    assert (report.verdict, "pickle-array-again" in codes(report)) == ("dangerous", True)


@pytest.mark.parametrize("way", ["NEWOBJ", "_reconstructor", "__newobj__"])  # protocols 2 and up, 0 and 1, 2 of Python 2
def test_an_array_is_read_however_its_wrapper_is_made(way: str) -> None:
    element = dtype("f8", number(3), text("<"), b"N", b"N", b"N", number(-1), number(-1), number(0))
    data = b"\x80\2" + b"}" + text("a") + WAYS[way] + facts(element, 3) + b"b" + struct.pack("<3d", 0, 1, 2) + b"s"
    data += text("o") + WAYS[way] + facts(OBJECTS) + b"b" + dumps(["x", None]) + b"s."
    with inert.open(io.BytesIO(data)) as found:
        assert found.tensors["a"].numpy().tolist() == [0, 1, 2]
        assert found.root["o"] == ["x", None]
    assert scan(data).verdict == "clean"
