"""Names that build data with the arguments that picklers give them, called with others; and values that stand for a class.

Each of the dangerous ones was loaded with the real programs (torch 2.13, NumPy 2.4, pandas 3.1, OmegaConf 2.4): a file was made or opened,
or the process died of a bad address.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import inert
from tests.spelled import call, dtype, name, named, number, of, text

if TYPE_CHECKING:
    from collections.abc import Callable


def scanned(data: bytes) -> Any:
    return inert.scan(io.BytesIO(b"\x80\4" + data + b"."))


NONE, NO = b"N", b"\x89"
LINEAR = name("torch.nn.modules.linear", "Linear")
ENUM, TAG, ALIAS = name("enum", "Enum"), name("torch.jit._pickle", "restore_type_tag"), name("typing", "_GenericAlias")
ARRAY, OBJECTS, BYTES = name("numpy", "ndarray"), dtype("O"), b"C\x08AAAAAAAA"
STATE = of(NONE, named(__annotations__=named(a=text("print()")))) + b"b"  # attributes of a class; others evaluate these
THREE, BAR = number(3), text("|")
POINTER = named(cdata=number(0x41414141))
FIELDS = named(a=of(dtype("O8"), number(0)))


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (call(TAG, LINEAR, text("")) + STATE, "pickle-changes-name"),
        (call(TAG, call(TAG, LINEAR, text("")), text("")) + STATE, "pickle-changes-name"),
        (call(name("torch.jit._pickle", "build_intlist"), LINEAR) + text("") + b"a", "pickle-changes-name"),
        (call(ENUM, text("X"), text("a")) + STATE, "pickle-changes-name"),
        (call(ALIAS, LINEAR, of()) + STATE, "pickle-changes-name"),
        (call(name("torch._tensor", "_rebuild_from_type_v2"), name("_codecs", "encode"), LINEAR, of(text("x"), text("idna")), NONE), ""),
        (name("torch", "UntypedStorage") + of(number(8)) + named(allocator=number(0x41414141)) + b"\x92", "pickle-odd-arguments"),
        (name("torch", "FloatTensor") + of() + POINTER + b"\x92", "pickle-odd-arguments"),
        (call(name("copyreg", "__newobj_ex__"), name("torch", "Tensor"), of(), POINTER), "pickle-odd-arguments"),
        (name("torch", "Tensor") + of() + b"}" + call(name("builtins", "str"), BYTES) + number(1) + b"s\x92", "pickle-odd-arguments"),
        (call(ARRAY, of(number(1)), OBJECTS, BYTES), "pickle-odd-arguments"),
        (ARRAY + call(name("builtins", "tuple"), b"](" + of(number(1)) + OBJECTS + BYTES + b"e") + b"R", "pickle-odd-arguments"),
        (
            call(name("torch._tensor", "_rebuild_from_type_v2"), ARRAY, ARRAY, of(of(number(1)), OBJECTS, BYTES), NONE),
            "pickle-odd-arguments",
        ),
        (call(name("copyreg", "__newobj__"), ARRAY, of(number(1)), OBJECTS, BYTES), "pickle-odd-arguments"),
        (dtype("O8", THREE, BAR, NONE, NONE, NONE, number(8), number(8), number(0)), "pickle-odd-arguments"),
        (dtype("object", THREE, BAR, NONE, NONE, NONE, number(8), number(8), number(0)), "pickle-odd-arguments"),
        (dtype("V8", THREE, BAR, NONE, of(text("a")), FIELDS, number(8), number(1), number(0)), "pickle-odd-arguments"),
        (
            dtype(
                "V8", THREE, BAR, NONE, of(text("a"), text("b")), FIELDS[:-1] + text("b") + of(dtype("i8"), number(0)) + b"u",
                number(8), number(1), number(63),
            ),
            "pickle-odd-arguments",
        ),
        (
            dtype("V8", THREE, BAR, NONE, of(text("a")), named(a=of(dtype("f8"), number(4))), number(8), number(1), number(0)),
            "pickle-odd-arguments",
        ),
        (dtype("V8", THREE, BAR, of(dtype("f8"), of(number(9))), NONE, NONE, number(8), number(1), number(0)), "pickle-odd-arguments"),
        (dtype("U1", THREE, text("<"), NONE, NONE, NONE, number(5), number(4), number(8)), "pickle-odd-arguments"),
        (
            call(name("pandas.core.indexes.base", "_new_Index"), name("pandas.core.indexes.base", "Index"),
                 named(data=b"]", dtype=text("datetime64[ns, dateutil//dev/stdin]"))),
            "pickle-odd-arguments",
        ),
        (
            name("pandas._libs.tslibs.timestamps", "Timestamp") + of(text("2020")) + named(tz=text("dateutil//dev/stdin")) + b"\x92",
            "pickle-odd-arguments",
        ),
    ],
)  # fmt: skip
def test_more_than_data_is_built(data: bytes, code: str) -> None:
    report = scanned(data)
    assert report.verdict == "dangerous"
    assert not code or code in {finding.code for finding in report.findings}


def test_objects_of_what_a_call_gave_are_no_clean_ones() -> None:
    held = call(name("collections", "UserList"), b"]" + number(1) + b"a") + named(__new__=ARRAY) + b"b"
    report = scanned(call(name("copyreg", "__newobj__"), held, OBJECTS, BYTES))
    assert report.verdict == "unknown"
    assert "pickle-calls-result" in {finding.code for finding in report.findings}


KINDS = [
    "f4", "O", "S5", "U7", "V8", "M8[ns]", "?", ">i2", "g", [("a", "f4"), ("b", "i8")], [("a", "O"), ("b", "U3", (2, 3))],
    [("a", [("x", "O"), ("y", "f8")]), ("b", "S0")], [("a", "f8", (0,))], {"names": ["a", "b"], "formats": ["f4", "f4"], "offsets": [0, 2]},
    [(("a title", "a"), "i4"), ("b", "O")],
]  # fmt: skip
MAKERS: list[Callable[[], Any]] = [
    *(lambda kind=kind: np.zeros(2, kind) for kind in KINDS),  # type: ignore[misc]
    lambda: np.dtype([("a", "i1"), ("b", "O")], align=True),
    lambda: np.rec.fromarrays([[1, 2], ["a", "b"]], names="x,y"),
    lambda: np.ma.masked_array([(1, 2.0)], mask=[(1, 0)], dtype=[("a", "i4"), ("b", "f8")]),
    lambda: np.dtype(("f8", (2, 2))),
]


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("make", MAKERS)
def test_arrays_as_numpy_pickles_them(make: Callable[[], Any], protocol: int) -> None:
    report = inert.scan(io.BytesIO(pickle.dumps(make(), protocol)))
    assert not [finding for finding in report.findings if finding.code == "pickle-odd-arguments"]


@pytest.mark.no_cover
def test_many_calls_may_share_what_they_are_given() -> None:
    fields = b"}(" + b"".join(text(str(at)) + of(dtype("i1"), number(at)) for at in range(2000)) + b"uq\1"
    types = dtype("V2000", THREE, BAR, NONE, NONE, b"h\1", number(2000), number(1), number(0)) * 2000
    shared = b"(" + number(1) * 100_000 + b"tq\2" + (name("pandas", "Series") + b"h\2R") * 2000
    report = scanned(b"(" + fields + types + shared + b"t")
    assert report.verdict == "unknown"


CODE = b"class M(Module):\n  def __setstate__(self: __torch__.M,\n    s: Tensor) -> NoneType:\n    %s\n    return None\n"


@pytest.mark.parametrize(
    ("member", "data", "dangerous"),
    [
        ("code/__torch__.py", CODE % b'torch.save(s, "/tmp/x")', True),  # torch.load of such an archive wrote the file
        ("code/__torch__.py", CODE % b't = torch\n    t . save(s, "/tmp/x")', True),
        ("code/__torch__/a.py", CODE % b'_0 = (torch.  # words\n      from_file)("/tmp/x", True, 16)', True),
        ("code/__torch__.py", CODE % b'saved = torch.add(s, 1)', False),
        ("bytecode.pkl", b"\x80\2X\x0a\0\0\0aten::save.", True),
        ("bytecode.pkl", b"\x80\2X\x09\0\0\0aten::add.", False),
    ],
)  # fmt: skip
def test_torchscript_that_reaches_for_files(member: str, data: bytes, dangerous: bool) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in (("data.pkl", b"\x80\2}."), ("constants.pkl", b"\x80\2)."), (member, data)):
            archive.writestr(f"m/{name}", content)
    report = inert.scan(made)
    assert ("script-files" in {finding.code for finding in report.findings}) is dangerous
    assert (report.verdict == "dangerous") is dangerous


def test_compiled_torchscript_that_reaches_for_files() -> None:
    assert inert.scan(io.BytesIO(b"\x18\0\0\0PTMF" + bytes(40) + b"\x0a\0\0\0aten::save\0")).verdict == "dangerous"
