"""Values: what the objects of a pickle stand for, and that nothing else is made of them.

What CPython pickles of standard classes must come back equal; calls are made by hand where the class is absent, odd or hostile.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import decimal
import enum
import fractions
import io
import math
import pathlib
import pickle
import struct
import types
import uuid
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.errors import LimitError
from inert.limits import Limits
from inert.pickle.nodes import Call, Global, Reference
from tests.makers import Made, Name, Pid, dumps, storage, tensor, text, torch_zip


def opened(data: bytes, **storages: bytes) -> inert.Checkpoint:
    return inert.open(io.BytesIO(torch_zip(data, storages)))


def value(obj: Any, protocol: int = 2) -> Any:
    """What inert makes of an object that CPython's pickler writes."""
    with opened(dumps(obj, protocol)) as checkpoint:
        assert checkpoint.notes == []
        return checkpoint.root


def odd(obj: Any, protocol: int = 2) -> Any:
    """The same where it stays an inert object, with a note."""
    with opened(dumps(obj, protocol)) as checkpoint:
        assert {note.code for note in checkpoint.notes} == {"value-odd"}
        return checkpoint.root


# ------------------------------------------------------------------------------------------------------- as CPython pickles them

utc = datetime.timezone.utc
STANDARD: list[Any] = [
    None, True, 5, -(2**70), 2**70, 1.5, -0.0, math.inf, "text", "\udc80", b"", b"\x00\xffabc", bytearray(), bytearray(b"\1\2"), 1 + 2j, complex(math.inf, -0.0),
    (), (1,), (1, (2, [3])), [], [1, [2]], {}, {"a": 1}, {1: 2, None: 3, 1.5: 4, b"k": 5, (1, "x"): 6, True: 7, 2j: 8, (): 9}, set(), {1, "a", (2, 3)}, frozenset(), frozenset({1, frozenset({2})}),
    range(5), range(0, 10, 3), slice(1, 5, 2), slice(None), datetime.date(1999, 12, 31), datetime.datetime(2020, 1, 2, 3, 4, 5, 6), datetime.datetime(2020, 1, 2, tzinfo=utc),
    datetime.datetime(2020, 10, 25, 2, 30, fold=1), datetime.time(1, 2, 3, 4), datetime.time(1, tzinfo=utc), datetime.timedelta(3, 4, 5), datetime.timezone(datetime.timedelta(hours=2), "CEST"), utc,
    decimal.Decimal("1.25"), decimal.Decimal("NaN"), decimal.Decimal("-Infinity"), decimal.Decimal("1E+999999999"), fractions.Fraction(1, 3), uuid.UUID(int=5), uuid.UUID(int=2**128 - 1),
    pathlib.PurePosixPath("a/b"), pathlib.PurePosixPath("/"), pathlib.PurePosixPath(), pathlib.PureWindowsPath("C:\\x\\y"), OrderedDict(b=1, a=[2]), collections.Counter("aab"), collections.deque([1, 2], 5),
    collections.deque([1]), collections.deque(maxlen=0), collections.defaultdict(list, a=[1]), collections.defaultdict(int), collections.defaultdict(None, a=1),
]  # fmt: skip


def same(found: Any, wanted: Any) -> bool:
    if type(found) is not type(wanted):
        return False
    if isinstance(wanted, (float, complex)):
        return repr(found) == repr(wanted)
    if isinstance(wanted, decimal.Decimal):
        return str(found) == str(wanted)
    if isinstance(wanted, collections.deque):
        return list(found) == list(wanted) and found.maxlen == wanted.maxlen
    if isinstance(wanted, collections.defaultdict):
        return found == wanted and found.default_factory is wanted.default_factory
    if isinstance(wanted, dict):
        return list(found.items()) == list(wanted.items())
    return bool(found == wanted)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("wanted", STANDARD, ids=lambda x: type(x).__name__)
def test_standard_objects_come_back_equal(wanted: Any, protocol: int) -> None:
    assert same(value(wanted, protocol), wanted)
    found = value([wanted, {"k": wanted}], protocol)
    assert same(found[0], wanted)
    assert same(found[1]["k"], wanted)


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.decimals(allow_nan=False) | st.fractions() | st.datetimes(timezones=st.none() | st.just(utc))
        | st.dates() | st.times() | st.timedeltas() | st.uuids() | st.complex_numbers(allow_nan=False) | st.frozensets(st.integers() | st.text()),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.dates() | st.tuples(st.integers(), st.text()), inner) | st.tuples(inner, inner) | st.sets(st.integers() | st.binary()),
        max_leaves=20,
    ),
    st.integers(2, 5),
)  # fmt: skip
def test_any_such_object_comes_back_equal(wanted: Any, protocol: int) -> None:
    found = value(wanted, protocol)
    assert found == wanted
    wanted = pickle.loads(pickle.dumps(wanted, protocol))  # protocol 2 and 3 leave out the fold of a time
    assert repr(found) == repr(wanted) or isinstance(wanted, (set, frozenset, list, dict, tuple))


@pytest.mark.parametrize("protocol", [2, 4])
def test_sharing_and_cycles_stay(protocol: int) -> None:
    inner = [1]
    ring: dict[str, Any] = {"a": inner, "b": inner}
    ring["me"] = ring
    ring["od"] = OrderedDict(x=inner, ring=ring)
    ring["tuple"] = (ring, inner)
    found = value(ring, protocol)
    assert found["me"] is found
    assert found["a"] is found["b"] is found["od"]["x"] is found["tuple"][1]
    assert found["od"]["ring"] is found["tuple"][0] is found
    loop: list[Any] = []
    loop.append((loop, {"t": (loop,)}))
    back = value(loop, protocol)
    assert back[0][0] is back
    assert back[0][1]["t"][0] is back


def test_the_real_path_classes_become_pure_ones() -> None:
    for name, wanted in (
        ("PosixPath", pathlib.PurePosixPath),
        ("WindowsPath", pathlib.PureWindowsPath),
        ("PurePosixPath", pathlib.PurePosixPath),
        ("Path", pathlib.PurePosixPath),
    ):
        for module in ("pathlib", "pathlib._local"):
            found = value(Made(Name(module, name), ("a", "b.txt")))
            assert type(found) is wanted
            assert found.name == "b.txt"


def test_state_dicts_keep_their_metadata() -> None:
    wanted = OrderedDict({"w": 1})
    wanted._metadata = OrderedDict({"": {"version": 1}, "bn": {"version": 2}})  # type: ignore[attr-defined]
    for obj in (wanted, [wanted._metadata, wanted], {"m": {"": 1}, "x": wanted}):  # type: ignore[attr-defined]
        found = value(obj)
        found = found[1] if isinstance(obj, list) else found["x"] if "x" in obj else found
        assert type(found) is OrderedDict
        assert found._metadata == wanted._metadata  # type: ignore[attr-defined]
        assert type(found._metadata) is OrderedDict
    assert vars(value(OrderedDict(a=1))) == {}


def test_namespaces() -> None:
    found = value(argparse.Namespace(lr=0.1, sub=argparse.Namespace(x=[1]), path=pathlib.PurePosixPath("a")))
    assert type(found) is argparse.Namespace
    assert (found.lr, found.sub.x, found.path) == (0.1, [1], pathlib.PurePosixPath("a"))
    assert value(types.SimpleNamespace(a=1)).a == 1
    looped = argparse.Namespace()
    looped.me = looped
    assert value(looped).me.me.me is not None


def test_python_2_texts() -> None:
    data = b"\x80\2}(U\4nameU\5valueU\3rawU\2\xff\xfeU\1kK\1u."
    with opened(data) as checkpoint:
        assert checkpoint.root == {"name": "value", "raw": b"\xff\xfe", "k": 1}
        assert [type(key) for key in checkpoint.root] == [str, str, str]
    assert opened(b"\x80\2}U\2\xff\xfeK\1s.").root == {b"\xff\xfe": 1}
    assert opened(b"\x80\2ccollections\nOrderedDict\n](]U\1aaK\1ae\x85R.").root == OrderedDict(a=1)
    assert opened(b"\x80\2ccollections\nOrderedDict\n](](U\1aK\1e](U\1bK\2ee\x85R.").root == OrderedDict(a=1, b=2)
    assert opened(b"\x80\2cdatetime\ndatetime\nU\n\x07\xe4\1\2\3\4\5\0\0\6\x85R.").root == datetime.datetime(2020, 1, 2, 3, 4, 5, 6)
    assert opened(b"\x80\2c__builtin__\nset\n](K\1K\2e\x85R.").root == {1, 2}
    assert opened(b"\x80\2c__builtin__\nxrange\nK\0K\3K\1\x87R.").root == range(3)
    assert opened(b"\x80\2c__builtin__\nlong\nK\5\x85R.").root == 5


def test_torch_values() -> None:
    found = value([Made(Name("torch", "Size"), ((2, 3),)), Made(Name("torch", "Size"), ([4],)), Made(Name("torch", "Size"), ()), Made(Name("torch", "device"), ("cuda", 1)), Made(Name("torch", "device"), ("cpu",)),
                   Name("torch", "float16"), Name("torch", "half"), Name("torch", "per_channel_affine"), Made(Name("torch.serialization", "_get_layout"), ("torch.sparse_coo",))])  # fmt: skip
    assert [tuple(size) for size in found[:3]] == [(2, 3), (4,), ()]
    assert repr(found[0]) == "torch.Size([2, 3])"
    assert found[3:] == ["cuda:1", "cpu", "float16", "float16", "torch.per_channel_affine", "torch.sparse_coo"]
    assert found[5].itemsize == 2


# ------------------------------------------------------------------------------------------------------------------------- NumPy

SPELLINGS = ["numpy.core", "numpy._core"]


def dtype_of(name: str, order: str = "<", *more: Any) -> Made:
    return Made(Name("numpy", "dtype"), (name, False, True), (3, order, None, None, None, -1, -1, 0, *more))


def array_of(core: str, shape: Any, dtype: Any, data: Any, fortran: bool = False) -> Made:
    return Made(Name(f"{core}.multiarray", "_reconstruct"), (Name("numpy", "ndarray"), (0,), b"b"), (1, shape, dtype, fortran, data))


ARRAYS = [
    np.arange(6, dtype="<f4").reshape(2, 3), np.asfortranarray(np.arange(6, dtype="<i2").reshape(2, 3)), np.array(5.0), np.zeros((0, 3)), np.array([True, False]), np.array([1 + 2j], "c8"),
    np.array([1, 2**64 - 1], "u8"), np.arange(3, dtype=">i4"), np.array([0.5], ">f8"), np.array([b"ab", b"c"]), np.array(["ab", "☃z"]), np.array(["2020-01-02", "NaT"], "M8[D]"), np.array([1, 2], "m8[25s]"),
    np.array([0.5, 2], "f2"), np.arange(10)[2:8:2], np.array(["NaT"], "M8"), np.array([b""], "S1"), np.array(["x"], ">U2"),
]  # fmt: skip


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype.str} {a.shape}")
def test_numpy_arrays(array: Any, protocol: int) -> None:
    with opened(dumps({"a": array, "again": [array]}, protocol)) as checkpoint:
        assert checkpoint.notes == []
        found = checkpoint.tensors["a"]
        assert found.kind == "numpy"
        got = found.numpy()
        assert got.dtype == array.dtype.newbyteorder("=") if array.dtype.kind in "iufcb" else got.dtype == array.dtype
        assert got.shape == array.shape
        assert got.tolist() == array.tolist()
        assert found.storage == checkpoint.tensors["again.0"].storage


@pytest.mark.parametrize("core", SPELLINGS)
def test_numpy_in_both_module_spellings_and_from_python_2(core: str) -> None:
    raw = struct.pack("<2f", 1, 2)
    assert value(array_of(core, (2,), dtype_of("f4"), raw), 3).numpy().tolist() == [1, 2]
    assert value(array_of(core, (2,), dtype_of("f4", ">"), struct.pack(">2f", 1, 2)), 3).numpy().tolist() == [1, 2]
    assert value(array_of(core, (1, 2), dtype_of("f4"), raw, True), 3).numpy().tolist() == [[1, 2]]
    assert value(array_of(core, (2,), dtype_of("a4", "|"), raw), 3).numpy().dtype == np.dtype("S4")
    buffered = Made(Name(f"{core}.numeric", "_frombuffer"), (bytearray(raw), dtype_of("f4"), (2,), "C"))
    assert value(buffered, 5).numpy().tolist() == [1, 2]
    assert value(Made(Name(f"{core}.multiarray", "scalar"), (dtype_of("f4"), raw[:4])), 3) == np.float32(1)
    python2 = (
        b"\x80\2c"
        + core.encode()
        + b".multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85U\1b\x87R(K\1K\2\x85cnumpy\ndtype\nU\2f4K\0K\1\x87R(K\3U\1<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89U\x08"
        + raw
        + b"tb."
    )
    assert opened(python2).root.numpy().tolist() == [1, 2]


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_arrays_of_ml_dtypes(name: str) -> None:
    import ml_dtypes

    array = np.array([1.5, -2], getattr(ml_dtypes, name))
    found = value(array, 3)
    assert (found.dtype, found.numpy().tobytes()) == (name, array.tobytes())


SCALARS = [
    np.bool_(True),
    np.int8(-1),
    np.uint64(2**64 - 1),
    np.float16(0.5),
    np.float64(0.1),
    np.complex64(1 + 2j),
    np.bytes_(b"cde"),
    np.str_("☃z"),
    np.datetime64("1970-01-02T00:00:00"),
    np.timedelta64(1, "D"),
    np.bytes_(b""),
    np.str_(""),
]


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("scalar", SCALARS, ids=lambda s: s.dtype.str)
def test_numpy_scalars(scalar: Any, protocol: int) -> None:
    found = value(scalar, protocol)
    assert (type(found), found.dtype, found) == (type(scalar), scalar.dtype, scalar)


@pytest.mark.parametrize("dtype", ["f4", ">i2", "M8[s]", "S5", "U3", "?", "O", "c16"])
def test_numpy_dtypes(dtype: str) -> None:
    assert value(np.dtype(dtype)) == np.dtype(dtype)


def test_arrays_of_objects_are_lists_of_them() -> None:
    array = np.array([1, "x", None, [2]], object)
    assert value({"a": array}, 4)["a"] == [1, "x", None, [2]]
    with opened(dumps({"a": np.array([1], object), "t": tensor(storage("0", 1), (1,))}, 4), **{"0": bytes(4)}) as checkpoint:
        assert list(checkpoint.tensors) == ["t"]


@pytest.mark.parametrize(
    "made",
    [
        np.zeros(2, [("x", "<i4")]), np.dtype([("x", "<i4")]), array_of("numpy._core", (2,), dtype_of("f4"), 5), array_of("numpy._core", "shape", dtype_of("f4"), b"1234"), array_of("numpy._core", (1,), 5, b"1234"),
        array_of("numpy._core", (1,), dtype_of("V4;os.system"), b"1234"), Made(Name("numpy._core.multiarray", "_reconstruct"), (1, 2, 3)), Made(Name("numpy._core.multiarray", "scalar"), (dtype_of("f4"), b"12")),
        Made(Name("numpy._core.multiarray", "scalar"), (dtype_of("O", "|"), b"12")), Made(Name("numpy._core.multiarray", "scalar"), ()), Made(Name("numpy._core.numeric", "_frombuffer"), (1,)), dtype_of("__import__"),
        dtype_of("M8", "<", ({}, (b"zz", 1, 1, 1))), Made(Name("numpy", "dtype"), ()), Made(Name("numpy", "dtype"), (["f4"],)), array_of("numpy._core", (1,), Made(Name("numpy", "dtype"), ("f4",), 5), b"12"),
    ],
)  # fmt: skip
def test_numpy_objects_that_are_no_plain_numbers_stay_inert(made: Any) -> None:
    with opened(dumps(made, 4)) as checkpoint:
        found = checkpoint.root
        damaged = isinstance(found, inert.Tensor) and found.fault
        assert damaged or found.type.startswith("numpy.")
        assert checkpoint.notes


def test_arrays_that_do_not_fit_their_bytes() -> None:
    for shape in ((3,), (-2,), (1, 1, 1), (2**40, 2**40)):
        with opened(dumps({"a": array_of("numpy._core", shape, dtype_of("f4"), bytes(8)), "ok": 1}, 4)) as checkpoint:
            assert "over 8 bytes" in checkpoint.tensors["a"].fault
            assert checkpoint.root["ok"] == 1
            assert [note.code for note in checkpoint.notes] == ["tensor-damaged"]


# ------------------------------------------------------------------------------------------------------- objects of absent classes


class Colour(enum.Enum):
    RED = 1


def test_unknown_objects_keep_everything() -> None:
    with opened(
        dumps([Made(Name("gone.sub", "Class"), (1, "two"), {"a": 1, "w": tensor(storage("0", 1), (1,))}, [7], [("k", "v")])]),
        **{"0": struct.pack("<f", 5)},
    ) as checkpoint:
        (found,) = checkpoint.root
        assert (found.type, found.arguments, found.keywords, found.items, found.pairs) == (
            "gone.sub.Class",
            (1, "two"),
            None,
            [7],
            [("k", "v")],
        )
        assert list(found) == ["a", "w"]
        assert found["a"] == 1
        assert found.fields["w"].numpy().tolist() == [5]
        assert found.call.how == "REDUCE"
        assert not found.is_module
        assert repr(found) == "<gone.sub.Class object>"
        assert list(checkpoint.tensors) == ["0.w"]
    single = value(Made(Name("gone", "C"), ("x" * 500,), new=True))
    assert len(repr(single)) < 200
    assert len({single, value(Made(Name("gone", "C"), (), new=True))}) == 2
    slots = value(Made(Name("gone", "C"), (), (None, {"x": 1}), new=True))
    assert slots.fields == {"x": 1}
    assert slots.state == (None, {"x": 1})
    text_state = value(Made(Name("gone", "C"), (), "text", new=True))
    assert (text_state.state, text_state.fields) == ("text", {})
    nothing = value(Made(Name("gone", "C"), ()))
    assert (nothing.state, [*nothing.items], [*nothing.pairs]) == (None, [], [])
    twice = opened(b"\x80\2cgone\nC\n)R}X\1\0\0\0aK\1sb}X\1\0\0\0bK\2sb.").root
    assert twice.state == ({"a": 1}, {"b": 2})
    assert twice.fields == {"a": 1, "b": 2}
    keywords = opened(b"\x80\4\x8c\4gone\x8c\1C\x93K\1\x85}\x8c\1kK\2s\x92.").root
    assert (keywords.arguments, keywords.keywords) == ((1,), {"k": 2})


def test_enum_members_named_tuples_and_partials() -> None:
    red = value(Made(Name("gone", "Colour"), (1,)))
    assert (red.type, red.arguments) == ("gone.Colour", (1,))
    assert repr(red) == "<gone.Colour(1)>"
    pair = value(Made(Name("gone", "Pair"), (1, "b"), new=True))
    assert (pair.type, pair.arguments) == ("gone.Pair", (1, "b"))
    partial = value(Made(Name("functools", "partial"), (Name("gone", "f"),), (Name("gone", "f"), (1,), {"base": 2}, None)))
    assert partial.type == "functools.partial"
    assert partial.state[2] == {"base": 2}


@pytest.mark.parametrize("how", ["_reconstructor", "__newobj__", "__newobj_ex__"])
def test_the_class_of_old_objects_stands_in_the_arguments(how: str) -> None:
    found = value(Made(Name("copy_reg", how), (Name("gone", "Old"), Name("__builtin__", "object"), None), {"x": 1}))
    assert (found.type, found.fields) == ("gone.Old", {"x": 1})


def test_cycles_through_unknown_objects() -> None:
    ring = Made(Name("gone", "C"), (), {}, new=True)
    ring.state = {"me": ring, "list": [ring]}
    found = value(ring)
    assert found.fields["me"] is found
    assert found.fields["list"][0] is found


def test_names_and_references_stay_what_they_are() -> None:
    with opened(dumps({"name": Name("os", "system"), "pid": Pid(("elsewhere", 5)), "text": Pid("x")})) as checkpoint:
        assert [note.code for note in checkpoint.notes] == ["reference-unknown"] * 2
        found = checkpoint.root
    assert isinstance(found["name"], Global)
    assert found["name"].dotted == "os.system"
    assert isinstance(found["pid"], Reference)
    assert found["pid"].pid == ("elsewhere", 5)


def test_the_class_of_a_module_that_came_with_its_source() -> None:
    kind = Pid(("module", Name("gone", "Net"), "net.py", "class Net: ..."))
    with opened(dumps(Made(kind, (), {"_parameters": {}, "_buffers": {}, "_modules": {}}, new=True))) as checkpoint:
        assert checkpoint.root.type == "gone.Net"
        assert checkpoint.root.is_module


def test_omegaconf() -> None:
    def node(kind: str, held: Any) -> Made:
        return Made(Name("omegaconf.nodes", kind), (), {"_metadata": 1, "_parent": None, "_val": held}, new=True)

    inner = Made(
        Name("omegaconf.listconfig", "ListConfig"),
        (),
        {"_content": [node("FloatNode", 0.9), node("AnyNode", "x")], "_parent": None},
        new=True,
    )
    outer = Made(
        Name("omegaconf.dictconfig", "DictConfig"),
        (),
        {"_content": {"lr": node("AnyNode", 0.1), "betas": inner, 5: node("IntegerNode", 7)}},
        new=True,
    )
    inner.state["_parent"] = outer
    assert value({"cfg": outer})["cfg"] == {"lr": 0.1, "betas": [0.9, "x"], 5: 7}
    assert value(Made(Name("omegaconf.dictconfig", "DictConfig"), (), {"_content": None}, new=True)) is None
    assert value(Made(Name("omegaconf.dictconfig", "DictConfig"), (), {"_content": "${a}"}, new=True)) == "${a}"
    itself = Made(Name("omegaconf.dictconfig", "DictConfig"), (), {}, new=True)
    itself.state["_content"] = itself
    with opened(dumps(itself)) as checkpoint:
        assert isinstance(checkpoint.root, Call)


def test_dict_subclasses_with_attributes() -> None:
    for module, name in (
        ("pytorch_lightning.utilities.parsing", "AttributeDict"),
        ("lightning.fabric.utilities.data", "AttributeDict"),
        ("easydict", "EasyDict"),
    ):
        found = value(Made(Name(module, name), (), {"a": 1}, None, [("a", 1), ("b", [2])]))
        assert found == {"a": 1, "b": [2]}


def test_the_tags_of_torchs_own_pickler() -> None:
    assert value(Made(Name("torch.jit._pickle", "build_intlist"), ([1, 2],))) == [1, 2]
    assert value(Made(Name("torch.jit._pickle", "restore_type_tag"), ({"a": 1}, "Dict[str, int]"))) == {"a": 1}


ODD: list[Any] = [
    Made(Name("collections", "OrderedDict"), (5,)), Made(Name("collections", "OrderedDict"), ([1, 2],)), Made(Name("collections", "OrderedDict"), (), [1]), Made(Name("collections", "OrderedDict"), (), {5: 1}),
    Made(Name("collections", "defaultdict"), (Name("os", "system"),)), Made(Name("collections", "defaultdict"), (5,)), Made(Name("collections", "deque"), ([], -1)), Made(Name("collections", "deque"), ([], "x")),
    Made(Name("collections", "deque"), (5,)), Made(Name("builtins", "set"), (5,)), Made(Name("builtins", "list"), ({"a": 1},)), Made(Name("builtins", "dict"), ({"a": 1},), {"x": 1}), Made(Name("uuid", "UUID"), (), {"int": -1}),
    Made(Name("uuid", "UUID"), (), {"int": "5"}), Made(Name("uuid", "UUID"), ()), Made(Name("argparse", "Namespace"), (), 5), Made(Name("argparse", "Namespace"), (), {5: 1}),
    Made(Name("builtins", "bytearray"), (2**40,)), Made(Name("builtins", "bytes"), (2**40,)), Made(Name("builtins", "complex"), ("x",)), Made(Name("builtins", "complex"), (1, 2, 3)), Made(Name("builtins", "slice"), ()),
    Made(Name("builtins", "range"), ("x",)), Made(Name("builtins", "int"), ("x",)), Made(Name("builtins", "int"), ("9" * 5000,)), Made(Name("builtins", "str"), (5,)), Made(Name("builtins", "bytes"), ([256],)),
    Made(Name("_codecs", "encode"), ("x", "rot13")), Made(Name("_codecs", "encode"), ("x", "punycode")), Made(Name("_codecs", "encode"), ("☃", "latin1")), Made(Name("_codecs", "encode"), (5,)),
    Made(Name("datetime", "date"), (b"12",)), Made(Name("datetime", "date"), (2020, 1, 1)), Made(Name("datetime", "datetime"), (b"1234567890", "zone")), Made(Name("datetime", "timedelta"), (10**20,)), Made(Name("datetime", "timezone"), (5,)),
    Made(Name("datetime", "time"), ()), Made(Name("decimal", "Decimal"), ("x",)), Made(Name("decimal", "Decimal"), (5,)), Made(Name("decimal", "Decimal"), ("1" * 5000,)), Made(Name("fractions", "Fraction"), ("1e999999999",)),
    Made(Name("fractions", "Fraction"), (1, 0)), Made(Name("fractions", "Fraction"), (2.5,)), Made(Name("fractions", "Fraction"), (1 << 20000, 3)), Made(Name("pathlib", "PosixPath"), (5,)),
    Made(Name("pathlib", "PosixPath"), (["a"],)), Made(Name("torch", "device"), (5,)), Made(Name("torch", "device"), ("cpu", "x")), Made(Name("torch", "Size"), (5,)), Made(Name("torch", "Size"), (["x"],)),
    Made(Name("fractions", "Fraction"), (Made(Name("decimal", "Decimal"), ("1e999999999",)),)), Made(Name("builtins", "int"), (Made(Name("decimal", "Decimal"), ("1e999999999",)),)),
    Made(Name("torch", "Size"), (Made(Name("builtins", "range"), (10**12,)),)), Made(Name("builtins", "bytes"), (Made(Name("builtins", "range"), (10**12,)),)), Made(Name("builtins", "bytearray"), ({"a": 1},)),
]  # fmt: skip


@pytest.mark.parametrize("made", ODD, ids=lambda m: repr(m.function))
def test_calls_with_arguments_that_their_class_would_not_take(made: Made) -> None:
    found = odd(made)
    assert found.type == f"{made.function.module}.{made.function.name}"
    assert found.call.dotted == found.type


@pytest.mark.parametrize(
    "name",
    [
        "torch.Size",
        "builtins.bytes",
        "builtins.bytearray",
        "builtins.list",
        "builtins.tuple",
        "builtins.set",
        "builtins.int",
        "builtins.float",
    ],
)
def test_a_tensor_is_no_argument(name: str) -> None:
    """A tensor of 2**62 elements over four bytes can be iterated for ever."""
    module, _, kind = name.rpartition(".")
    endless = tensor(storage("0", 1), (2**31, 2**31), (0, 0))
    with opened(dumps(Made(Name(module, kind), (endless,))), **{"0": bytes(4)}) as checkpoint:
        assert {note.code for note in checkpoint.notes} == {"value-odd"}


# --------------------------------------------------------------------------------------------------------------------------- keys


def test_odd_keys_stand_as_inert_keys() -> None:
    for data in (b"\x80\2}]K\1s.", b"\x80\2}}K\1s.", b"\x80\2}N" + b"2\x86" * 60 + b"K\1s.", b"\x80\2})" + b"\x85" * 1000 + b"K\1s.", b"\x80\2}" + text("x" * 70_000) + b"K\1s.",
                 b"\x80\2}(" + b"K\1" * 300 + b"tK\1s.", b"\x80\5}\x96\1\0\0\0\0\0\0\0aK\1s.", b"\x80\2}(]tK\1s."):  # fmt: skip
        with opened(data) as checkpoint:
            ((key, item),) = checkpoint.root.items()
            assert item == 1
            assert repr(key).startswith("<key ")
            assert {note.code for note in checkpoint.notes} == {"pickle-odd-key"}
    assert repr(next(iter(opened(b"\x80\4\x8f(]\x90.").root))) == "<key List>"


def test_keys_that_python_can_hold_cheaply_are_themselves() -> None:
    wanted = {
        (1, (2, ("x", None))): 1,
        frozenset({1, 2}): 2,
        datetime.date(2020, 1, 1): 3,
        decimal.Decimal("1.5"): 4,
        pathlib.PurePosixPath("a"): 5,
        uuid.UUID(int=1): 6,
        2**5000: 7,
        math.inf: 8,
    }
    assert value(wanted) == wanted
    assert list(value({Made(Name("torch", "Size"), ((1, 2),)): 1})) == [(1, 2)]
    assert len(value({Name("gone", "a"): 1, Made(Name("gone", "C"), (), new=True): 2, tensor(storage("0", 0), (0,)): 3})) == 3


def test_repeated_keys_are_noted_and_the_last_counts() -> None:
    for data in (b"\x80\2}(X\1\0\0\0aK\1X\1\0\0\0aK\2u.", b"\x80\2}(K\1K\1\x88K\2u."):
        with opened(data) as checkpoint:
            assert list(checkpoint.root.values()) == [2]
            assert {note.code for note in checkpoint.notes} == {"pickle-duplicate-key"}


def test_numbers_that_share_a_hash_value() -> None:
    few = {k * (2**61 - 1): k for k in range(500)}
    assert value(few) == few
    many = {k * (2**61 - 1): k for k in range(3000)}
    with opened(dumps(many)) as checkpoint:
        assert len(checkpoint.root) == 3000
        assert {note.code for note in checkpoint.notes} == {"pickle-odd-key"}
        assert all(repr(key) == "<key int>" for key in checkpoint.root)
    ordinary = {i: i for i in range(5000)} | {(i, "x"): i for i in range(5000)} | {i / 7: i for i in range(5000)}
    assert value(ordinary) == ordinary


@pytest.mark.parametrize("where", ["namespace", "state", "uuid", "storage", "module"])
def test_a_key_is_not_hashed_on_the_way(where: str) -> None:
    """Tuples of 2**60 parts where names or texts are wanted."""
    dag: Any = ()
    for _ in range(60):
        dag = (dag, dag)
    made = {
        "namespace": Made(Name("argparse", "Namespace"), (), [(dag, 1)]), "state": Made(Name("collections", "OrderedDict"), (), [(dag, 1)]),
        "uuid": Made(Name("uuid", "UUID"), (), [(dag, 1)]), "storage": tensor(storage(dag, 6), (6,)), "module": Pid(("module", dag, dag)),
    }[where]  # fmt: skip
    data = dumps(made)
    if where in ("namespace", "state", "uuid"):  # the state is a dict with such a key
        data = dumps(Made(made.function, ()))[:-1] + b"}" + dumps(dag)[2:-1] + b"K\1sb."
    with opened(data) as checkpoint:
        assert checkpoint.root is not None
    rows = dumps([dag, [f"{i}" for i in range(300)], {f"w{i}": tensor(storage(dag if i == 5 else str(i), 6), (2, 3)) for i in range(9)}])
    with opened(rows, **{str(i): bytes(24) for i in range(9)}) as checkpoint:
        assert len(checkpoint.tensors) == 8


# -------------------------------------------------------------------------------------------------------------------- bounded work


def test_copies_are_in_proportion_to_the_pickle() -> None:
    large = b"B\0\0\1\0" + bytes(1 << 16)
    few = b"\x80\3cbuiltins\nbytearray\nq\0" + large + b"\x85q\0010](" + b"h\0h\1R" * 3 + b"e."
    assert [len(part) for part in opened(few).root] == [1 << 16] * 3
    many = few.replace(b"h\0h\1R" * 3, b"h\0h\1R" * 300)
    with pytest.raises(LimitError, match="again and again"):
        opened(many)


@pytest.mark.no_cover
def test_what_is_large_once_is_no_bomb() -> None:
    assert len(value({str(i): i for i in range(50_000)})) == 50_000
    assert len(value([None] * 300_000)) == 300_000
    assert len(value(set(range(30_000)))) == 30_000
    assert len(value(collections.deque(range(30_000)))) == 30_000
    assert len(value(collections.Counter(dict.fromkeys(range(30000), 1)))) == 30_000
    assert len(value(bytes(1_000_000))) == 1_000_000
    shared = list(range(1000))
    assert len(value([shared] * 10_000)) == 10_000


def test_limits_are_shown() -> None:
    assert "paths=7" in repr(Limits(paths=7))
    assert Limits(paths=7).rank == 64


@pytest.mark.parametrize("name", ["argparse.Namespace", "made.Thing"])
def test_a_state_that_is_given_again_and_again_counts_once(name: str) -> None:
    """By the last time that it is given, whose values stay, and by the first, which is the order of names (Python's dict.update)."""
    module, _, called = name.partition(".")
    big = b"}(" + b"".join(b"X\6\0\0\0%06dK\1" % key for key in range(20_000)) + b"uq\1"
    small = b"}(X\6\0\0\0" + b"000001" + b"K\2X\1\0\0\0aK\3uq\2"
    data = b"\x80\2" + big + small + b"00c" + f"{module}\n{called}\n".encode() + b")Rq\3h\1bh\2b" + b"h\1b" * 100_000 + b"h\2b."
    wanted: dict[str, int] = {}
    one, two = {f"{key:06d}": 1 for key in range(20_000)}, {"000001": 2, "a": 3}
    for state in (one, two, one, two):
        wanted.update(state)
    with inert.open(io.BytesIO(data)) as ckpt:
        found = vars(ckpt.root) if name.startswith("argparse") else ckpt.root.fields
    assert list(found.items()) == list(wanted.items())


def test_a_state_that_many_objects_share_is_looked_through_once() -> None:
    """Eighty thousand objects of one state of twenty thousand entries: a minute's work entry by entry, for a file of some 800 kB."""
    state = b"}(" + b"".join(b"X\6\0\0\0%06dK\1" % key for key in range(20_000)) + b"uq\1"
    data = b"\x80\2" + state + b"0cmade\nThing\nq\2](" + b"h\2)Rh\1b" * 80_000 + b"e."
    with inert.open(io.BytesIO(data)) as ckpt:
        assert not ckpt.tensors
        assert ckpt.root[-1].fields["019999"] == 1
