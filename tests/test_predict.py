"""Would torch load it: every answer here is torch 2.13's own, written down; tests/oracle/test_predict_oracle.py asks it again.

The pickles are assembled opcode by opcode, since no pickler would write most of them.
"""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.torch.allowed import ALLOWED, FIRST, TORCH
from inert.torch.predict import loads, oldest
from inert.torch.reader import heap_sorted
from tests.source_tree import REPOSITORY

# -- an assembler -------------------------------------------------------------------------------------------------------------


class Raw(bytes):
    """Opcodes as they are."""


def encode(value: Any) -> bytes:
    """The opcodes of protocol 2 that make a value; nothing is memoised."""
    if isinstance(value, Raw):
        return bytes(value)
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"\x88", False: b"\x89"}[value]
    if isinstance(value, int):
        size = (value.bit_length() + 8) // 8
        long = b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)
        return b"J" + struct.pack("<i", value) if -(1 << 31) <= value < 1 << 31 else long
    if isinstance(value, float):
        return b"G" + struct.pack(">d", value)
    if isinstance(value, str):
        return b"X" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, bytes):  # a Python 2 text
        return b"U" + bytes([len(value)]) + value
    if isinstance(value, dict):
        return b"}(" + b"".join(encode(key) + encode(item) for key, item in value.items()) + b"u"
    first, last = (b"(", b"t") if isinstance(value, tuple) else (b"](", b"e")
    return first + b"".join(map(encode, value)) + last


def name(spelled: str) -> Raw:
    """A GLOBAL: "module name"."""
    return Raw(b"c" + spelled.replace(" ", "\n").encode() + b"\n")


def call(function: Any, *arguments: Any) -> Raw:
    return Raw(encode(function) + encode(arguments) + b"R")


def new(function: Any, *arguments: Any) -> Raw:
    return Raw(encode(function) + encode(arguments) + b"\x81")


def built(target: Any, *states: Any) -> Raw:
    return Raw(encode(target) + b"".join(encode(state) + b"b" for state in states))


def filled(target: Any, pairs: dict[Any, Any]) -> Raw:
    return Raw(encode(target) + b"(" + b"".join(encode(key) + encode(item) for key, item in pairs.items()) + b"u")


def grown(target: Any, items: list[Any]) -> Raw:
    return Raw(encode(target) + b"(" + b"".join(map(encode, items)) + b"e")


def pid(value: Any) -> Raw:
    return Raw(encode(value) + b"Q")


def storage(key: str = "0", kind: str = "FloatStorage", n: int = 16, loc: str = "cpu") -> Raw:
    return pid(("storage", name(kind if " " in kind else f"torch {kind}"), key, loc, n))


EMPTY = call(name("collections OrderedDict"))


def utils(function: str, *arguments: Any) -> Raw:
    """A call of one of torch's own rebuild functions."""
    return call(name(f"torch._utils _rebuild_{function}"), *arguments)


def tensor(
    held: Raw | None = None, offset: Any = 0, size: Any = (2, 3), stride: Any = (3, 1), grad: Any = False, hooks: Any = EMPTY, *more: Any
) -> Raw:
    return utils("tensor_v2", held or storage(), offset, size, stride, grad, hooks, *more)


class Case:
    """An object to be pickled with the records that go beside it."""

    def __init__(
        self, value: Any, storages: dict[str, bytes] | None = None, records: dict[str, bytes | None] | None = None, method: int = 0
    ) -> None:
        self.value = value
        self.storages = {"0": bytes(range(64))} if storages is None else storages
        self.records = records or {}
        self.method = method

    def archive(self, protocol: int = 2) -> bytes:
        value = self.value
        data = value if type(value) is bytes else b"\x80" + bytes([protocol]) + encode(value) + b"."
        records: dict[str, bytes | None] = {"data.pkl": data, "byteorder": b"little", "version": b"3\n"}
        records |= {f"data/{key}": raw for key, raw in self.storages.items()}
        return zipped({f"a/{name}": raw for name, raw in (records | self.records).items() if raw is not None}, self.method)


def zipped(members: dict[str, bytes] | list[tuple[str, bytes]], method: int = 0) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for path, raw in members.items() if isinstance(members, dict) else members:
            made.writestr(path, raw)
    return out.getvalue()


ENCODE, BYTEARRAY, SET, COMPLEX = (
    name(text) for text in ("_codecs encode", "__builtin__ bytearray", "__builtin__ set", "__builtin__ complex")
)
ORDERED, COUNTER, PARAMETER = (name(text) for text in ("collections OrderedDict", "collections Counter", "torch.nn.parameter Parameter"))
DEVICE, REBUILD, PER_TENSOR = (name(text) for text in ("torch device", "torch._utils _rebuild_tensor_v2", "torch per_tensor_affine"))
FLOAT_QPARAMS = name("torch per_channel_affine_float_qparams")
PER_CHANNEL, FROM_CPU = name("torch per_channel_affine"), name("torch._utils _rebuild_device_tensor_from_cpu_tensor")
COO, CSR = (call(name("torch.serialization _get_layout"), f"torch.sparse_{kind}") for kind in ("coo", "csr"))
QINT8 = storage(kind="QInt8Storage", n=64)
TWO = {"0": bytes(64), "1": bytes(64)}
INDICES, VALUES = tensor(storage("0", "LongStorage", 8), 0, (1, 2), (2, 1)), tensor(storage("1"), 0, (2,), (1,))
CROW, COLUMNS = (tensor(storage("0", "LongStorage", 8), 0, (count,), (1,)) for count in (3, 2))
ARGUMENTS = (storage(), 0, (2,), (1,), False, EMPTY)


def scales(count: int, kind: str = "DoubleStorage", width: int = 8) -> Raw:
    return tensor(storage("1", kind, 64 // width), 0, (count,), (1,))


def quantized(*arguments: Any) -> Raw:
    return utils("qtensor", *arguments)


def sparse(*arguments: Any) -> Raw:
    return utils("sparse_tensor", *arguments)


def typed(*arguments: Any) -> Raw:
    return call(name("torch._tensor _rebuild_from_type_v2"), *arguments)


# -- what weights_only=True takes, and what it refuses ------------------------------------------------------------------------

TAKEN: dict[str, Any] = {
    "plain": tensor(),
    "big off empty": tensor(None, 1000, (0,), (1,)),
    "neg stride size1": tensor(None, 3, (1,), (-1,)),
    "neg stride empty": tensor(None, 0, (0,), (-1,)),
    "neg stride numel1 2d": tensor(None, 0, (1, 2), (-5, 1)),
    "neg size w zero": tensor(None, 0, (0, -1), (1, 1)),
    "overflow with zero": tensor(None, 0, (0, 2**62, 2**62), (1, 1, 1)),
    "rank 70": tensor(None, 0, (1,) * 70, (1,) * 70),
    "stride huge size1": tensor(None, 0, (1,), (2**62,)),
    "stride0 huge": tensor(None, 0, (2**40,), (0,)),
    "numel 2^63-1": tensor(None, 0, (2**63 - 1,), (0,)),
    "size list": tensor(None, 0, [2, 3], [3, 1]),
    "size Size": tensor(None, 0, call(name("torch Size"), (2, 3)), (3, 1)),
    "hooks none": tensor(None, 0, (1,), (1,), False, None),
    "hooks int": tensor(None, 0, (1,), (1,), False, 3),
    "hooks dict": tensor(None, 0, (1,), (1,), False, {1: 2}),
    "metadata junk": tensor(None, 0, (1,), (1,), False, EMPTY, {"x": True}),
    "metadata nonbool": tensor(None, 0, (1,), (1,), False, EMPTY, {"neg": 1}),
    "v1": utils("tensor", storage(), 0, (1,), (1,)),
    "v3": utils("tensor_v3", storage(kind="torch.storage UntypedStorage", n=64), 0, (1,), (1,), False, EMPTY, name("torch uint16")),
    "v3 typed": utils("tensor_v3", storage(), 0, (1,), (1,), False, EMPTY, name("torch uint16")),
    "v3 unaligned": Case(
        utils("tensor_v3", storage(kind="torch.storage UntypedStorage", n=63), 0, (3,), (1,), False, EMPTY, name("torch uint16")),
        storages={"0": bytes(63)},
    ),
    "param": utils("parameter", tensor(), True, EMPTY),
    "param int nograd": utils("parameter", tensor(storage(kind="IntStorage")), False, EMPTY),
    "param none": utils("parameter", None, False, EMPTY),
    "param state": utils("parameter_with_state", tensor(), False, EMPTY, {"a": 1}),
    "param state none": utils("parameter_with_state", tensor(), False, EMPTY, None),
    "param state pair": utils("parameter_with_state", tensor(), False, EMPTY, (None, {"b": 2})),
    "Parameter reduce": call(PARAMETER, tensor()),
    "Parameter reduce 0": call(PARAMETER),
    "Parameter newobj": new(PARAMETER, tensor()),
    "Parameter newobj 0": new(PARAMETER),
    "Parameter newobj build3": built(new(PARAMETER), (True, False, EMPTY)),
    "tensor build set_": built(tensor(), (storage(), 0, (2,), (1,))),
    "tensor build ()": built(tensor(), ()),
    "FloatTensor newobj build": built(new(name("torch FloatTensor")), (storage(), 0, (2,), (1,))),
    "FloatTensor reduce st": call(name("torch FloatTensor"), storage()),
    "FloatTensor list": call(name("torch FloatTensor"), [1, 2]),
    "sparse FloatTensor": new(name("torch.sparse FloatTensor")),
    "Tensor reduce": call(name("torch Tensor")),
    "Tensor newobj": new(name("torch Tensor")),
    "Tensor 3": call(name("torch Tensor"), 3),
    "Size list": call(name("torch Size"), [1, 2]),
    "Size 0": call(name("torch Size")),
    "Size newobj": new(name("torch Size"), (1, 2)),
    "layout": call(name("torch.serialization _get_layout"), "torch.sparse_csr"),
    "layout jagged": call(name("torch.serialization _get_layout"), "torch.jagged"),
    "layout mkl": call(name("torch.serialization _get_layout"), "torch._mkldnn"),
    "enc latin1": call(ENCODE, "ÿ", "latin1"),
    "enc default": call(ENCODE, "a"),
    "enc utf8": call(ENCODE, "a", "utf8"),
    "enc b": call(ENCODE, call(ENCODE, "a", "latin1"), "base64"),
    "enc errors": call(ENCODE, "Ā", "latin1", "ignore"),
    "ba 0": call(BYTEARRAY),
    "ba bytes": call(BYTEARRAY, call(ENCODE, "a", "latin1")),
    "ba str enc": call(BYTEARRAY, "a", "latin1"),
    "ba list": call(BYTEARRAY, [1, 2]),
    "ba newobj": new(BYTEARRAY, 5),
    "set list": call(SET, [1, 2]),
    "set 0": call(SET),
    "set str": call(SET, "ab"),
    "set newobj": new(SET, 1, 2),
    "set of tensor": call(SET, [tensor()]),
    "set of storage": call(SET, [storage()]),
    "set of global": call(SET, [name("torch FloatStorage")]),
    "set dtype": call(SET, [name("torch float32")]),
    "cx": call(COMPLEX, 1.0, 2),
    "cx1": call(COMPLEX, 1.0),
    "cx0": call(COMPLEX),
    "cx str": call(COMPLEX, "1+2j"),
    "cx cx": call(COMPLEX, call(COMPLEX, 1.0, 2.0), 1.0),
    "cx new": new(COMPLEX, 1.0, 2.0),
    "od pairs": call(ORDERED, [["a", 1], ("b", 2)]),
    "od pairs tuple": call(ORDERED, (("a", 1),)),
    "od dict": call(ORDERED, {"a": 1}),
    "od str2": call(ORDERED, ["ab"]),
    "od newobj args": new(ORDERED, 1, 2, 3),
    "od od": call(ORDERED, call(ORDERED, [["a", 1]])),
    "od set": call(ORDERED, call(SET, [("a", 1)])),
    "od build": built(call(ORDERED), {"_metadata": 1}),
    "od build pairs": built(call(ORDERED), [("a", 1)]),
    "od build intkey": built(call(ORDERED), {1: 1}),
    "od setitem": filled(call(ORDERED), {"a": 1}),
    "c dict": call(COUNTER, {"a": 1}),
    "c list": call(COUNTER, ["a", "b"]),
    "c str": call(COUNTER, "ab"),
    "c none": call(COUNTER, None),
    "c set": filled(call(COUNTER), {"a": 1}),
    "c build": built(call(COUNTER), {"a": 1}),
    "c build slots": built(call(COUNTER), ({"a": 1}, None)),
    "c build none": built(call(COUNTER), None),
    "c dict strval": call(COUNTER, {"a": "b"}),
    "ba build none": built(call(BYTEARRAY), None),
    "set build": built(call(SET), {}),
    "size build empty": built(call(name("torch Size")), {}),
    "cx build none": built(call(COMPLEX), None),
    "dev build none": built(call(name("torch device"), "cpu"), None),
    "storage build none": built(storage(), None),
    "storage build d": built(storage(), {"a": 1}),
    "unhash key": {"a": 1} and filled({}, {}),
    "key tensor": Raw(b"}" + encode(tensor()) + b"K\x01s"),
    "key storage": Raw(b"}" + encode(storage()) + b"K\x01s"),
    "key size": Raw(b"}" + encode(call(name("torch Size"), (1,))) + b"K\x01s"),
    "key dev": Raw(b"}" + encode(call(name("torch device"), "cpu")) + b"K\x01s"),
    "key param": Raw(b"}" + encode(call(name("torch.nn.parameter Parameter"), tensor())) + b"K\x01s"),
    "key untyped": Raw(b"}" + encode(call(name("torch.storage UntypedStorage"), 3)) + b"K\x01s"),
    "pid loc bytes": tensor(pid((b"storage", name("torch FloatStorage"), b"0", b"cpu", 16))),
    "pid cuda st": tensor(storage(kind="torch.cuda FloatStorage")),
    "pid key case": Case(tensor(storage(key="A")), storages={"a": bytes(64)}),
    "two types": (tensor(storage()), tensor(storage(kind="IntStorage"))),
    "two n": (tensor(storage()), tensor(storage(n=3))),
    "two n2": (tensor(storage(n=16)), tensor(storage(n=1600))),
    "storage root": storage(),
    "meta": tensor(storage(loc="meta")),
    "py2 str ok": {"a": b"abc"},
    "py2 key": Raw(b"}" + encode(b"ab") + b"K\x01s"),
    "big": Case(tensor(), records={"byteorder": b"big"}),
    "bo none": Case(tensor(), records={"byteorder": None}),
    "ver 10": Case(tensor(), records={"version": b"10"}),
    "ver 3junk": Case(tensor(), records={"version": b" +3 junk"}),
    "both2": Case(tensor(), records={".data/version": b"3", "version": b"99"}),
    "align nl": Case(tensor(), records={".storage_alignment": b"64\n"}),
    "fmt bad": Case(tensor(), records={".format_version": b"x"}),
    "align neg": Case(tensor(), records={".storage_alignment": b"-1"}),
    "align _": Case(tensor(), records={".storage_alignment": b"6_4"}),
    "big q": Case(tensor(storage(kind="QInt32Storage")), records={"byteorder": b"big"}),
    "big qu4": Case(tensor(storage(kind="QUInt4x2Storage", n=64)), records={"byteorder": b"big"}),
    "big cx": Case(tensor(storage(kind="ComplexFloatStorage", n=8), 0, (2,), (1,)), records={"byteorder": b"big"}),
    "deflated": Case(tensor(), method=8),
    "bits dtype v2 q": tensor(storage(kind="QInt8Storage", n=64), 0, (3,), (1,)),
    "q": quantized(QINT8, 0, (2,), (1,), (PER_TENSOR, 0.5, 3), False, EMPTY),
    "q scale int": quantized(QINT8, 0, (2,), (1,), (PER_TENSOR, 1, 3), False, EMPTY),
    "q neg scale": quantized(QINT8, 0, (2,), (1,), (PER_TENSOR, -0.5, 3), False, EMPTY),
    "q zero scale": quantized(QINT8, 0, (2,), (1,), (PER_TENSOR, 0.0, 3), False, EMPTY),
    "qc": Case(
        quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, scales(2), tensor(storage("2", "LongStorage", 8), 0, (2,), (1,)), 0), False, EMPTY),
        storages={**TWO, "2": bytes(64)},
    ),
    "coo": Case(sparse(COO, (INDICES, VALUES, call(name("torch Size"), (4,)))), storages=TWO),
    "coo4": Case(sparse(COO, (INDICES, VALUES, call(name("torch Size"), (4,)), True)), storages=TWO),
    "coo tuple size": Case(sparse(COO, (INDICES, VALUES, (4,))), storages=TWO),
    "coo int ix": Case(sparse(COO, (tensor(storage("0", "IntStorage", 16), 0, (1, 2), (2, 1)), VALUES, (4,))), storages=TWO),
    "coo float ix": Case(sparse(COO, (tensor(storage("0", "FloatStorage", 16), 0, (1, 2), (2, 1)), VALUES, (4,))), storages=TWO),
    "csr": Case(sparse(CSR, (CROW, COLUMNS, VALUES, (2, 3))), storages=TWO),
    "csr badlen": Case(sparse(CSR, (CROW, COLUMNS, VALUES, (5, 3))), storages=TWO),
    "csr 1d": Case(sparse(CSR, (CROW, COLUMNS, VALUES, (5,))), storages=TWO),
    "csr cr float": Case(sparse(CSR, (VALUES, COLUMNS, VALUES, (2, 3))), storages=TWO),
    "meta t": utils("meta_tensor_no_storage", name("torch float32"), (2,), (1,), False),
    "meta huge": utils("meta_tensor_no_storage", name("torch float32"), (2**40, 2**20), (1, 1), False),
    "meta neg stride": utils("meta_tensor_no_storage", name("torch float32"), (2,), (-1,), False),
    "ft tensor": typed(REBUILD, name("torch Tensor"), ARGUMENTS, {"a": 1}),
    "ft param": typed(REBUILD, name("torch.nn.parameter Parameter"), ARGUMENTS, {"a": 1}),
    "ft none": typed(REBUILD, name("torch Tensor"), ARGUMENTS, None),
    "ft attr data": typed(REBUILD, name("torch Tensor"), ARGUMENTS, {"grad": None}),
    "ft nested ft": typed(
        name("torch._tensor _rebuild_from_type_v2"), name("torch Tensor"), (REBUILD, name("torch Tensor"), ARGUMENTS, None), None
    ),
    "cpu t": call(FROM_CPU, tensor(), name("torch float32"), "cpu", False),
    "xla t": call(FROM_CPU, tensor(), name("torch float32"), "xla:0", False),
    "nested": Case(
        utils(
            "nested_tensor",
            VALUES,
            tensor(storage("0", "LongStorage", 8), 0, (2, 1), (1, 1)),
            tensor(storage("0", "LongStorage", 8), 0, (2, 1), (1, 1)),
            tensor(storage("0", "LongStorage", 8), 0, (2,), (1,)),
        ),
        storages={"0": struct.pack("<8q", 1, 1, 0, 0, 0, 0, 0, 0), "1": bytes(64)},
    ),
    "reduce args list": Raw(encode(name("torch Size")) + encode([(1, 2)]) + b"R"),
    "newobj list args": Raw(encode(name("collections OrderedDict")) + encode([]) + b"\x81"),
    "reduce args dict": Raw(encode(name("torch Size")) + encode({}) + b"R"),
    "noproto": Raw(b"\x80\x02") + b"K\x01.",
    "device cpu": call(DEVICE, *("cpu",)),
    "device cuda:1": call(DEVICE, *("cuda:1",)),
    "device cuda 1": call(DEVICE, *("cuda", 1)),
    "device cpu 0": call(DEVICE, *("cpu", 0)),
    "device privateuseone:1": call(DEVICE, *("privateuseone:1",)),
    "device xla": call(DEVICE, *("xla",)),
}
REFUSED: dict[str, Any] = {
    "neg off empty": tensor(None, -1, (0,), (1,)),
    "neg off": tensor(None, -1, (1,), (1,)),
    "stride 2**70": tensor(None, 0, (1,), (2**70,)),
    "stride0 huge 2^63": tensor(None, 0, (2**62, 2), (0, 0)),
    "size bool": tensor(None, 0, (True,), (1,)),
    "size float": tensor(None, 0, (2.0,), (1,)),
    "off bool": tensor(None, True, (1,), (1,)),
    "off None": tensor(None, None, (1,), (1,)),
    "grad int 1": tensor(None, 0, (1,), (1,), 1),
    "grad None": tensor(None, 0, (1,), (1,), None),
    "grad str": tensor(None, 0, (1,), (1,), "x"),
    "grad int dtype": tensor(storage(kind="IntStorage"), 0, (1,), (1,), True),
    "metadata conj real": tensor(None, 0, (1,), (1,), False, EMPTY, {"conj": True}),
    "metadata list": tensor(None, 0, (1,), (1,), False, EMPTY, [1]),
    "5 args": utils("tensor_v2", storage(), 0, (1,), (1,), False),
    "v3 over": utils("tensor_v3", storage(kind="torch.storage UntypedStorage", n=64), 0, (33,), (1,), False, EMPTY, name("torch uint16")),
    "v3 int grad": utils("tensor_v3", storage(kind="torch.storage UntypedStorage", n=64), 0, (3,), (1,), True, EMPTY, name("torch uint16")),
    "param int": utils("parameter", tensor(storage(kind="IntStorage")), True, EMPTY),
    "param 2args": utils("parameter", tensor(), False),
    "param 4args": utils("parameter", tensor(), False, EMPTY, 1),
    "param state trip": utils("parameter_with_state", tensor(), False, EMPTY, (None, None, None)),
    "param state list": utils("parameter_with_state", tensor(), False, EMPTY, [1]),
    "Parameter reduce int": call(PARAMETER, tensor(storage(kind="IntStorage"))),
    "Parameter newobj build4": built(new(PARAMETER), (storage(), 0, (2,), (1,))),
    "Parameter newobj build2": built(new(PARAMETER), (tensor(), True)),
    "Parameter build dict": built(call(PARAMETER, tensor()), {"a": 1}),
    "Parameter num": call(PARAMETER, 1),
    "tensor build dict": built(tensor(), {"a": 1}),
    "FloatTensor newobj build over": built(new(name("torch FloatTensor")), (storage(), 0, (20,), (1,))),
    "FloatTensor newobj build type": built(new(name("torch FloatTensor")), (storage(kind="IntStorage"), 0, (2,), (1,))),
    "cuda FloatTensor newobj": built(new(name("torch.cuda FloatTensor")), (storage(), 0, (2,), (1,))),
    "storage reduce": call(name("torch FloatStorage"), 3),
    "dtype reduce": call(name("torch float32"), 3),
    "Size str": call(name("torch Size"), ("a",)),
    "Size int": call(name("torch Size"), 3),
    "layout bad": call(name("torch.serialization _get_layout"), "foo"),
    "enc latin1 over": call(ENCODE, "Ā", "latin1"),
    "enc ascii bad": call(ENCODE, "ÿ", "ascii"),
    "enc hex": call(ENCODE, "a", "hex"),
    "enc int": call(ENCODE, 1),
    "enc none codec": call(ENCODE, "a", "nope"),
    "ba neg": call(BYTEARRAY, -1),
    "ba str": call(BYTEARRAY, "a"),
    "ba list bad": call(BYTEARRAY, [1, 300]),
    "set unhash": call(SET, [[1]]),
    "set int": call(SET, 1),
    "set 2": call(SET, [1], [2]),
    "set tuple unhash": call(SET, [([1],)]),
    "cx str bad": call(COMPLEX, "z"),
    "cx none": call(COMPLEX, None),
    "cx str2": call(COMPLEX, "1", 2),
    "od bad": call(ORDERED, [1]),
    "od trip": call(ORDERED, [(1, 2, 3)]),
    "od unhash": call(ORDERED, [([1], 2)]),
    "od none": call(ORDERED, None),
    "od int": call(ORDERED, 1),
    "od 2": call(ORDERED, {}, {}),
    "od build none": built(call(ORDERED), None),
    "od build tuple2": built(call(ORDERED), ({"a": 1}, None)),
    "od append": grown(call(ORDERED), [1]),
    "c int": call(COUNTER, 1),
    "c 2": call(COUNTER, {}, {}),
    "c unhash": call(COUNTER, [[1]]),
    "ba build": built(call(BYTEARRAY), {"a": 1}),
    "size build": built(call(name("torch Size")), {"a": 1}),
    "size build int": built(call(name("torch Size")), 5),
    "bytes build": built(call(ENCODE, "a", "latin1"), None),
    "list build": built([], None),
    "dict build": built({}, {}),
    "global build": built(name("torch FloatTensor"), {}),
    "global od build": built(ORDERED, {}),
    "tensor setitem": filled(tensor(), {0: 1}),
    "storage append": grown(storage(), [1]),
    "listcall append": grown(call(SET), [1]),
    "dtype build": built(name("torch float32"), None),
    "unhash": Raw(b"}]K\x01s"),
    "unhash tuple": Raw(b"}" + encode(([1],)) + b"K\x01s"),
    "unhash set": Raw(b"}\x8fK\x01s"),
    "key od": Raw(b"}" + encode(call(ORDERED)) + b"K\x01s"),
    "key ba": Raw(b"}" + encode(call(BYTEARRAY)) + b"K\x01s"),
    "key counter": Raw(b"}" + encode(call(COUNTER)) + b"K\x01s"),
    "pid int": pid(5),
    "pid str": pid("storage"),
    "pid list": pid(["storage"]),
    "pid 4": pid(("storage", name("torch FloatStorage"), "0", "cpu")),
    "pid 6": pid(("storage", name("torch FloatStorage"), "0", "cpu", 16, None)),
    "pid empty": pid(()),
    "pid n float": tensor(pid(("storage", name("torch FloatStorage"), "0", "cpu", 16.0))),
    "pid n bool": Case(tensor(pid(("storage", name("torch ByteStorage"), "0", "cpu", True))), storages={"0": b"x"}),
    "pid dtype": tensor(pid(("storage", name("torch float32"), "0", "cpu", 16))),
    "pid typed": tensor(pid(("storage", name("torch.storage TypedStorage"), "0", "cpu", 16))),
    "pid neg": tensor(pid(("storage", name("torch FloatStorage"), "0", "cpu", -1))),
    "pid key dots": tensor(storage(key="../a/version", n=0), 0, (0,), (1,)),
    "storage root big": storage(n=17),
    "meta norec": tensor(storage(key="9", loc="meta")),
    "py2 str bad": {"a": b"\xff"},
    "bo bad": Case(tensor(), records={"byteorder": b"little\n"}),
    "ver none": Case(tensor(), records={"version": None}),
    "ver 0": Case(tensor(), records={"version": b"0\n"}),
    "ver 11": Case(tensor(), records={"version": b"11\n"}),
    "ver neg": Case(tensor(), records={"version": b"-3"}),
    "ver hex": Case(tensor(), records={"version": b"0x3"}),
    "ver empty": Case(tensor(), records={"version": b""}),
    "both": Case(tensor(), records={".data/version": b"99"}),
    "align bad": Case(tensor(), records={".storage_alignment": b"x"}),
    "q grad": quantized(QINT8, 0, (2,), (1,), (PER_TENSOR, 0.5, 3), True, EMPTY),
    "q zp float": quantized(QINT8, 0, (2,), (1,), (PER_TENSOR, 1.0, 3.0), False, EMPTY),
    "q over": quantized(QINT8, 0, (65,), (1,), (PER_TENSOR, 0.5, 3), False, EMPTY),
    "q float st": quantized(storage(), 0, (2,), (1,), (PER_TENSOR, 0.5, 3), False, EMPTY),
    "q sym": quantized(QINT8, 0, (2,), (1,), (name("torch per_tensor_symmetric"), 0.5, 3), False, EMPTY),
    "q 2": quantized(QINT8, 0, (2,), (1,), (PER_TENSOR, 0.5), False, EMPTY),
    "qc axis": Case(
        quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, scales(2), tensor(storage("2", "LongStorage", 8), 0, (2,), (1,)), 1), False, EMPTY),
        storages={**TWO, "2": bytes(64)},
    ),
    "qc len": Case(
        quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, scales(3), tensor(storage("2", "LongStorage", 8), 0, (2,), (1,)), 0), False, EMPTY),
        storages={**TWO, "2": bytes(64)},
    ),
    "coo bad rank": Case(sparse(COO, (INDICES, VALUES, (4, 4))), storages=TWO),
    "coo nnz": Case(sparse(COO, (tensor(storage("0", "LongStorage", 8), 0, (1, 3), (2, 1)), VALUES, (4,))), storages=TWO),
    "coo neg": Case(sparse(COO, (INDICES, VALUES, (-4,))), storages=TWO),
    "coo 5": Case(sparse(COO, (INDICES, VALUES, (4,), True, 1)), storages=TWO),
    "strided": Case(sparse(call(name("torch.serialization _get_layout"), "torch.strided"), (INDICES, VALUES, (4,))), storages=TWO),
    "meta neg": utils("meta_tensor_no_storage", name("torch float32"), (-2,), (1,), False),
    "meta rank": utils("meta_tensor_no_storage", name("torch float32"), (2,), (1, 1), False),
    "meta int grad": utils("meta_tensor_no_storage", name("torch int32"), (2,), (1,), True),
    "ft list state": typed(REBUILD, name("torch Tensor"), ARGUMENTS, [1]),
    "ft floattensor": typed(REBUILD, name("torch FloatTensor"), ARGUMENTS, None),
    "ft od": typed(name("collections OrderedDict"), name("torch Tensor"), (), None),
    "ft type str": typed(REBUILD, "x", ARGUMENTS, None),
    "ft attr odd": typed(REBUILD, name("torch Tensor"), ARGUMENTS, {"shape": 1}),
    "ft wrap": typed(
        name("torch._utils _rebuild_wrapper_subclass"),
        name("torch Tensor"),
        (name("torch Tensor"), name("torch float32"), (2,), (1,), 0, COO, call(name("torch device"), "cpu"), False),
        None,
    ),
    "np t": utils("device_tensor_from_numpy", tensor(), name("torch float32"), "cpu", False),
    "reduce tuple func": call((1, 2)),
    "reduce str": call("x"),
    "reduce tensor": call(tensor()),
    "newobj dtype": new(name("torch float32")),
    "newobj func": new(name("_codecs encode"), "a"),
    "newobj storagetype": new(name("torch FloatStorage")),
    "reduce args str": Raw(encode(name("_codecs encode")) + encode("ab") + b"R"),
    "reduce args None": Raw(encode(name("collections OrderedDict")) + b"NR"),
    "device foo": call(DEVICE, *("foo",)),
    "device cuda:x": call(DEVICE, *("cuda:x",)),
    "device nothing": call(DEVICE, *()),
    "device npu:0": call(DEVICE, *("npu:0",)),
    "device cuda -2": call(DEVICE, *("cuda", -2)),
    "device three": call(DEVICE, *("cpu", 0, 1)),
    "device capitals": call(DEVICE, *("CPU",)),
}


REFUSED |= {
    "v3 grad": utils("tensor_v3", storage(), 0, (1,), (1,), True, EMPTY, name("torch float8_e5m2")),
    "metadata int key": tensor(None, 0, (1,), (1,), False, EMPTY, {1: True}),
    "UntypedStorage of a text": call(name("torch.storage UntypedStorage"), "a"),
}

# what Python's own unpickler refuses all the same
STRICTER = {
    "tensor build ()", "od build pairs", "c build slots", "set build", "size build empty", "reduce args list", "reduce args dict",
    "newobj list args",
}  # fmt: skip
TWICE = storage(kind="IntStorage", n=16)
TAKEN |= {
    "q lists": quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, [0.5, 1], [3, True], 0), False, EMPTY),
    "q lists of floats": quantized(QINT8, 0, (2,), (1,), (FLOAT_QPARAMS, [0.5, 1e300], [3, 1.5], 0), False, EMPTY),
    "protocol 6": Case(b"\x80\x06" + encode({"w": tensor()}) + b"."),
    "protocol 255": Case(b"\x80\xff" + encode(call(name("__builtin__ set"), [1])) + b"."),
    "a key of two counts": [
        tensor(TWICE),
        tensor(storage(kind="IntStorage", n=2), 4, (4,), (1,)),
        tensor(storage(kind="IntStorage", n=99)),
    ],
    "a key of two types": [tensor(TWICE), tensor(storage(kind="LongStorage", n=8)), tensor(storage(kind="LongStorage", n=16))],
    "a key of two types, empty": Case(
        [tensor(storage(n=0), 0, (0,), (1,)), tensor(storage(kind="LongStorage", n=0), 0, (0,), (1,))], storages={"0": b""}
    ),
    "a key of two devices": [tensor(TWICE), tensor(storage(kind="IntStorage", n=16, loc="cuda:0"))],
}
STRICTER |= {"protocol 6", "protocol 255"}
REFUSED |= {
    "q a list and a tuple": quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, [0.5, 1.0], (3, 1), 0), False, EMPTY),
    "q a list of texts": quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, [0.5, "1"], [3, 1], 0), False, EMPTY),
    "q a long list": quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, [0.5, 1.0, 2.0], [3, 1, 2], 0), False, EMPTY),
    "q a long zero point": quantized(QINT8, 0, (2,), (1,), (PER_CHANNEL, [0.5, 1.0], [3, 1 << 63], 0), False, EMPTY),
    "a key of two counts, the first wrong": [tensor(storage(kind="IntStorage", n=2)), tensor(TWICE)],
    "a key of two counts, the first none": Case(
        [tensor(storage(n=0), 0, (0,), (1,)), tensor(storage(kind="LongStorage", n=4), 0, (2,), (1,))], storages={"0": b""}
    ),
}


def case_of(value: Any) -> Case:
    return value if isinstance(value, Case) else Case(value)


def judged(raw: bytes) -> dict[str, Any]:
    with inert.open(io.BytesIO(raw)) as ckpt:
        return loads(ckpt)


@pytest.mark.parametrize("key", TAKEN)
def test_what_weights_only_takes(key: str) -> None:
    said = judged(case_of(TAKEN[key]).archive())
    assert said["weights_only"]["ok"]
    assert said["weights_only"]["blocked"] == []
    assert said["weights_only"]["why"].startswith(f"torch {TORCH} loads it with weights_only=True, its default")
    assert said["full"]["ok"] is (key not in STRICTER)


@pytest.mark.parametrize("key", REFUSED)
def test_what_weights_only_refuses(key: str) -> None:
    said = judged(case_of(REFUSED[key]).archive())["weights_only"]
    assert not said["ok"]
    assert TORCH in said["why"]
    assert len(said["why"]) > 30


OUTSIDE = (
    b"I1\n",
    b"L1L\n",
    b"F1.0\n",
    b"S'a'\n",
    b"Va\n",
    b"T\1\0\0\0a",
    b"\x8b\1\0\0\0\1",
    b"C\1a",
    b"\x8c\1a",
    b"\x95\1" + bytes(7) + b"N",
)


@pytest.mark.parametrize("code", OUTSIDE)
def test_opcodes_outside_the_subset_are_named(code: bytes) -> None:
    said = judged(Case(b"\x80\x04" + code + b".").archive())
    assert not said["weights_only"]["ok"]
    assert "is not among the 34 it takes" in said["weights_only"]["why"]
    assert said["weights_only"]["blocked"] == []
    assert said["full"]["ok"]


def test_the_blocked_names_come_once_each_and_in_order() -> None:
    odd = [call(name("numpy dtype"), "f4"), name("models.yolo Model"), name("os system"), name("numpy dtype"), name("torch Size")]
    said = judged(Case(odd).archive())
    assert said["weights_only"]["blocked"] == ["numpy.dtype", "models.yolo.Model", "os.system"]
    assert said["weights_only"]["why"] == "torch 2.13 refuses 3 names: numpy.dtype, models.yolo.Model, os.system"


@pytest.mark.parametrize(
    ("spelled", "why"),
    [
        ("torch.distributed.tensor DTensor", "import torch.distributed.tensor first"),
        ("torch._dynamo.decorators _DimRange", "import torch._dynamo first"),
        ("sys exit", "refuses 1 name: sys.exit"),
        ("__builtin__ eval", "refuses 1 name: builtins.eval"),
        ("torch bcomplex32", "refuses 1 name: torch.bcomplex32"),
    ],
)
def test_a_name_is_refused_with_what_would_help(spelled: str, why: str) -> None:
    assert why in judged(Case(name(spelled)).archive())["weights_only"]["why"]


def test_the_list_has_torch_s_144_names() -> None:
    assert len(ALLOWED) == 144
    assert {"torch.FloatStorage", "torch.uint7", "collections.Counter", "torch._tensor._rebuild_from_type_v2"} <= ALLOWED
    assert not {"collections.defaultdict", "builtins.slice", "torch._tensor._rebuild_from_type", "torch.storage._load_from_bytes"} & ALLOWED


@pytest.mark.no_cover
def test_keys_that_would_hang_or_crash_python() -> None:
    bomb = b"\x80\x02}N\x85q\x00" + b"".join(bytes([0x68, i, 0x86, 0x71, i + 1]) for i in range(40)) + b"Ns."
    assert "torch hangs" in judged(Case(bomb).archive())["weights_only"]["why"]
    deep = b"\x80\x02})" + b"\x85" * 150_000 + b"Ns."
    said = judged(Case(deep).archive())
    assert "150,001 nested tuples: torch crashes" in said["weights_only"]["why"]
    assert "torch crashes" in said["full"]["why"]
    flat = b"\x80\x02})" + b"\x85" * 1000 + b"Ns."
    assert judged(Case(flat).archive())["weights_only"]["ok"]


def test_a_huge_memo_index_is_the_end_of_a_full_load_only() -> None:
    said = judged(Case(b"\x80\x02Nr\x00\x00\x00\xff.").archive())
    assert said["weights_only"]["ok"]
    assert said["full"] == {"ok": False, "why": "torch 2.13 stops: memo index 4,278,190,080 makes Python's unpickler reserve 63 GiB"}


# -- full load ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spelled", "ok", "why"),
    [
        ("models.yolo Model", False, "needs the module models.yolo, and then runs what the file names"),
        ("omegaconf.dictconfig DictConfig", False, "needs the module omegaconf.dictconfig, and then runs what the file names"),
        ("__main__ EMA", False, "needs the class EMA of the script that saved it (__main__), and then runs what the file names"),
        ("argparse Namespace", True, "torch 2.13 loads it with weights_only=False, and runs what the file names: argparse.Namespace"),
        ("numpy.core.multiarray scalar", True, "and runs what the file names: numpy.core.multiarray.scalar"),
        ("torch.nn.modules.linear Linear", True, "and runs what the file names: torch.nn.modules.linear.Linear"),
        ("torch.nn.modules.linear _LinearWithBias", False, "lacks torch.nn.modules.linear._LinearWithBias (torch 1.9 renamed it"),
        ("torch._six inf", False, "lacks torch._six.inf (torch 2.0 removed it)"),
        ("torch bcomplex32", False, "lacks torch.bcomplex32 (torch 2.14 brought it)"),
        ("__builtin__ apply", False, "lacks builtins.apply (Python has no such name)"),
        ("collections OrderedDict", True, "torch 2.13 loads it with weights_only=False"),
    ],
)
def test_a_full_load_needs_the_modules_that_are_named(spelled: str, ok: bool, why: str) -> None:
    said = judged(Case(name(spelled)).archive())["full"]
    assert said["ok"] is ok
    assert said["why"].endswith(why) or why in said["why"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\x80\x02Pstorage\n.", "a persistent id that names no storage"),
        (b"\x80\x05\x97.", "out-of-band buffer"),
        (b"\x80\x02\x82\x05.", "extension 5 stands for a name that is registered nowhere"),
        (b"\x80\x02U\x01\xff.", "a Python 2 text that is not UTF-8"),
        (b"\x80\x02" + ENCODE + b"](X\x01\x00\x00\x00aeR.", "is called with a list for arguments"),
        (b"\x80\x02" + encode(tensor(storage(n=17))) + b".", "data/0 holds 64 bytes where the pickle says 68"),
    ],
)
def test_what_stops_python_s_own_unpickler(data: bytes, why: str) -> None:
    said = judged(Case(data).archive())["full"]
    assert not said["ok"]
    assert why in said["why"]


def test_a_device_that_may_be_missing_is_named() -> None:
    said = judged(Case(tensor(storage(loc="cuda:3"))).archive())
    assert {said[key]["ok"] for key in ("full", "weights_only")} == {True}
    assert said["weights_only"]["why"].endswith('; saved from cuda:3: where that is missing, give map_location="cpu"')


# -- the archive --------------------------------------------------------------------------------------------------------------

RECORDS = {"data.pkl": b"\x80\x02" + encode({"w": tensor()}) + b".", "byteorder": b"little", "data/0": bytes(64), "version": b"3\n"}


def under(root: str, **more: bytes) -> dict[str, bytes]:
    return {f"{root}{name}": raw for name, raw in (RECORDS | more).items()}


@pytest.mark.parametrize(
    ("members", "why"),
    [
        (under(""), "its records lie in no folder"),
        (under("a/") | {"__MACOSX/._a": b""}, "'__MACOSX/._a' lies outside the folder 'a/' of the first entry"),
        (under("a/", version=b"11\n"), "version 11 of the archive format; torch 2.13 reads 1 to 10"),
        (under("a/", version=b"abc"), "the version b'abc' is no number"),
        (under("a/", byteorder=b"little\n"), "byteorder is b'little\\n'"),
        ({"a/data.pkl": RECORDS["data.pkl"]}, "there is no version record"),
    ],
)
def test_an_archive_that_torch_cannot_open(members: dict[str, bytes], why: str) -> None:
    said = judged(zipped(members))
    assert {said[key]["ok"] for key in ("full", "weights_only", "jit")} == {False}
    assert said["full"]["why"] == said["weights_only"]["why"] == f"torch 2.13 cannot open the file: {why}"


def test_bytes_before_the_archive_and_far_behind_it() -> None:
    raw = zipped(under("a/"))
    assert "does not begin with PK" in judged(b"#!/bin/sh\n" + raw)["weights_only"]["why"]
    far = zipped(under("a/") | {"a/more": bytes(100_000)})  # torch looks at windows of 4,096 bytes, and goes on for more than 65,557
    assert judged(far + bytes(69_562))["weights_only"]["ok"]
    assert "69,563 bytes follow the end record" in judged(far + bytes(69_563))["weights_only"]["why"]
    assert judged(raw + bytes(3_000))["weights_only"]["ok"]
    assert not judged(raw + bytes(65_535))["weights_only"]["ok"]  # a window would begin before the file


def test_names_are_looked_up_without_regard_to_case() -> None:
    assert judged(zipped({key.replace("data/0", "DATA/0"): raw for key, raw in under("a/").items()}))["weights_only"]["ok"]


# copies of data.pkl, first in the directory or last → which of them torch 2.13 gets
PICKED = {2: (0, 0), 3: (0, 1), 4: (3, 1), 5: (4, 2), 6: (4, 2), 7: (5, 3)}


def copies(count: int, last: bool) -> list[tuple[str, bytes]]:
    """``count`` copies of data.pkl, which name os.system but for the one that torch gets."""
    bad, good = b"\x80\x02" + name("os system") + b".", b"\x80\x02N."
    made = [("a/data.pkl", good if number == PICKED[count][last] else bad) for number in range(count)]
    rest = [("a/byteorder", b"little"), ("a/version", b"3\n")]
    return rest + made if last else made + rest


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("count", PICKED)
def test_of_several_data_pkl_the_one_that_torch_gets_is_judged(count: int, last: bool) -> None:
    said = judged(zipped(copies(count, last)))["weights_only"]
    assert (said["ok"], said["why"], said["blocked"], said["since"]) == (
        True, "torch 2.13 loads it with weights_only=True, its default", [], "1.13",
    )  # fmt: skip


def test_the_heap_sort_sorts() -> None:
    names = [f"data/{number * 7919 % 100}" for number in range(100)]
    assert [key for key, _ in heap_sorted([(key, key) for key in names])] == sorted(names)


# -- mmap ---------------------------------------------------------------------------------------------------------------------


def mapped(path: Path, raw: bytes) -> dict[str, Any]:
    path.write_bytes(raw)
    with inert.open(path) as ckpt:
        return loads(ckpt)


def test_mmap_wants_a_path_and_stored_records(tmp_path: Path) -> None:
    raw = Case(tensor()).archive()
    assert mapped(tmp_path / "a.pt", raw)["mmap"] == {"ok": True, "why": "torch 2.13 maps the storages from the file"}
    assert "the path of a file" in judged(raw)["mmap"]["why"]
    said = mapped(tmp_path / "b.pt", Case(tensor(), method=zipfile.ZIP_DEFLATED).archive())
    assert said["weights_only"]["ok"]
    assert said["mmap"]["why"].endswith("torch would map the compressed bytes as if they were values")
    said = mapped(tmp_path / "c.pt", Case([1, name("os system")]).archive())
    assert said["mmap"]["why"] == "weights_only=True, which is the default, refuses os.system; with weights_only=False it could map them"


def test_mmap_does_not_look_at_the_size_of_a_record(tmp_path: Path) -> None:
    longer = mapped(tmp_path / "a.pt", Case(tensor(storage(n=8))).archive())
    assert not longer["weights_only"]["ok"]
    assert longer["mmap"]["ok"]  # the values are right all the same
    shorter = mapped(tmp_path / "b.pt", Case(tensor(storage(n=32), 0, (20,), (1,))).archive())
    assert "what lies behind the record" in shorter["mmap"]["why"]


def test_a_name_that_ends_in_safetensors_goes_to_another_reader(tmp_path: Path) -> None:
    said = mapped(tmp_path / "a.safetensors", Case(tensor()).archive())
    assert "hands it to the safetensors reader" in said["weights_only"]["why"]
    assert not said["full"]["ok"]


# -- the oldest torch ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "records", "version"),
    [
        (tensor(), {}, "1.5"),
        (tensor(), {"version": b"5\n"}, "1.6"),
        (tensor(), {"version": b"10\n"}, "1.12"),
        (tensor(), {"byteorder": b"big"}, "2.1"),
        (tensor(None, 0, (1,), (1,), False, EMPTY, {"neg": True}), {}, "2.0"),
        (utils("tensor_v3", storage(), 0, (1,), (1,), False, EMPTY, name("torch float8_e5m2")), {}, "2.2"),
        (utils("tensor_v3", storage(), 0, (1,), (1,), False, EMPTY, name("torch uint16")), {}, "2.3"),
        (utils("tensor_v3", storage(), 0, (1,), (1,), False, EMPTY, name("torch float4_e2m1fn_x2")), {}, "2.8"),
        (tensor(storage(kind="ComplexFloatStorage", n=8), 0, (1,), (1,)), {}, "1.6"),
        (utils("parameter_with_state", tensor(), False, EMPTY, {}), {}, "2.0"),
        (typed(REBUILD, name("torch Tensor"), ARGUMENTS, {}), {}, "1.10"),
    ],
)
def test_the_oldest_torch_that_reads_it(value: Any, records: dict[str, bytes | None], version: str) -> None:
    with inert.open(io.BytesIO(Case(value, records=records).archive())) as ckpt:
        said = oldest(ckpt)
    assert said["torch"] == version
    assert said["why"].startswith(f"read since torch {version}: ")


def test_the_layout_before_1_6(tmp_path: Path) -> None:
    """Magic number, protocol, system information, the object, its storages' keys, and each storage behind its count."""
    magic = b"\x80\x02\x8a\n" + bytes.fromhex("6cfc9c46f9206aa85019") + b"."
    held = pid(("storage", name("torch FloatStorage"), "0", "cpu", 2, None))
    values = (1001, {"little_endian": True}, {"w": tensor(held, 0, (2,), (1,))}, ["0"])
    raw = magic + b"".join(b"\x80\x02" + encode(value) + b"." for value in values) + struct.pack("<q2f", 2, 1.0, 2.0)
    path = tmp_path / "old.pth"
    path.write_bytes(raw)
    with inert.open(path) as ckpt:
        assert oldest(ckpt)["torch"] == "0.4"
        said = loads(ckpt)
    assert {key: one["ok"] for key, one in said.items()} == {"full": True, "weights_only": True, "mmap": False, "jit": False}
    path.write_bytes(raw[:-4])
    with inert.open(path) as ckpt:
        assert "cannot open the file" in loads(ckpt)["weights_only"]["why"]


def test_first_versions_name_nothing_twice() -> None:
    assert all((0, 1) < version <= (2, 14) for version in FIRST.values())


def test_the_reader_imports_neither_numpy_nor_torch() -> None:
    path = REPOSITORY / "tests" / "corpus" / "torch" / "align_1.pt"
    code = (
        "import sys, inert\nfrom inert.torch.predict import loads, oldest\nfrom inert.profiles import describe\n"
        f"ckpt = inert.open({str(path)!r})\nassert loads(ckpt)['full']['ok'] and oldest(ckpt) and describe(ckpt)\n"
        "assert not {'numpy', 'torch', 'pickle'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=REPOSITORY / "src")
