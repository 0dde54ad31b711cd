"""Objects that are given attributes which other code obeys, functions that are made while loading and called by others, and classes with
source text that are made while loading.

NumPy 2.4 and torch 2.13 read or wrote the address, called the function and wrote the file.
"""

from __future__ import annotations

import io
from typing import Any

import pytest

import inert
from inert.torch.legacy import MAGIC
from tests.makers import Name, Pid, dumps
from tests.spelled import call, long_number, name, named, number, of, text


def scanned(data: bytes) -> Any:
    return inert.scan(io.BytesIO(b"\x80\4" + data + b"."))


MEMORY = named(data=of(long_number(0x4141414141), b"\x89"), shape=of(number(8)), typestr=text("|u1"), version=number(3))
SPACE = name("argparse", "Namespace") + b")\x81"
FACE = named(__array_interface__=MEMORY)
PAIRS = b"](" + of(text("__array_interface__"), MEMORY) + b"e"
COMPUTED = b"}" + call(name("builtins", "str"), b"C\x05__a__", text("ascii")) + b"Ns"
WAYS = {
    "a state": SPACE + FACE + b"b",
    "a state of two": SPACE + of(b"N", FACE) + b"b",
    "a structure": SPACE + named(__array_struct__=b"N") + b"b",
    "a function": SPACE + named(__array__=name("builtins", "len")) + b"b",
    "for CUDA": SPACE + named(__cuda_array_interface__=MEMORY) + b"b",
    "a mapping": call(name("types", "SimpleNamespace"), FACE),
    "keywords": name("types", "SimpleNamespace") + b")" + FACE + b"\x92",
    "an item": name("addict", "Dict") + b")\x81" + text("__array_interface__") + MEMORY + b"s",
    "pairs": SPACE + call(name("collections", "OrderedDict"), PAIRS) + b"b",
    "a dict of a dict": SPACE + call(name("builtins", "dict"), FACE) + b"b",
    "items of a dict": SPACE + name("collections", "OrderedDict") + b")R" + text("__array__") + b"Nsb",
    "a name that is made": SPACE + COMPUTED + b"b",
    "a partial function": call(name("functools", "partial"), name("builtins", "len"))
    + of(name("builtins", "len"), b")", b"}", FACE)
    + b"b",
    "another class": SPACE + of(b"N", named(__class__=name("my.own", "Class"))) + b"b",
    "what the next state calls": SPACE + named(__setstate__=name("my.own", "function")) + b"b}b",
    "a tensor's state": call(
        name("torch._tensor", "_rebuild_from_type_v2"), name("builtins", "list"), name("builtins", "list"), of(), of(FACE, b"}")
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_attributes_that_other_code_obeys(way: str) -> None:
    report = scanned(WAYS[way])
    assert "pickle-odd-arguments" in {one.code for one in report.findings}
    assert report.verdict == "dangerous"


def test_the_same_words_as_values_and_keys_are_harmless() -> None:
    for data in (text("__class__"), named(a=text("__array__")), FACE, SPACE + named(names=text("__dict__")) + b"b"):
        assert scanned(data).verdict == "clean"


MADE = call(name("my.own", "find"), text("os.system"))


@pytest.mark.parametrize(
    "data",
    [
        call(name("torch._tensor", "_rebuild_from_type_v2"), MADE, name("builtins", "int"), of(text("true")), b"}"),
        call(name("torch._tensor", "_rebuild_from_type"), MADE, name("builtins", "int"), of(text("true")), b"}"),
        call(name("pandas.core.indexes.base", "_new_Index"), MADE, b"}"),
        call(name("torch._tensor", "_rebuild_from_type_v2"), text("0") + b"Q", name("builtins", "int"), of(), b"}"),
    ],
)
def test_functions_that_are_made_while_loading(data: bytes) -> None:
    report = scanned(data)
    assert (report.verdict, "pickle-odd-arguments" in {one.code for one in report.findings}) == ("dangerous", True)


def legacy(root: bytes) -> bytes:
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    return dumps(MAGIC) + dumps(1001) + dumps(system) + b"\x80\2" + root + b"." + dumps([])


@pytest.mark.parametrize("kind", [call(name("builtins", "type"), text("x"), of(), b"}"), text("0") + b"Q", MADE])
def test_a_class_with_source_text_has_a_name(kind: bytes) -> None:
    report = inert.scan(io.BytesIO(legacy(of(text("module"), kind, text("a.py"), text("text")) + b"Q")))
    assert (report.verdict, "pickle-odd-arguments" in {one.code for one in report.findings}) == ("dangerous", True)
    report = inert.scan(io.BytesIO(legacy(dumps(Pid(("module", Name("my.own", "Net"), "a.py", "text")))[2:-1])))
    assert report.verdict == "unknown"


def test_attributes_of_a_class_that_is_given_back() -> None:
    """The state of what _rebuild_from_type gets back is set on it, be it a class."""
    back = name("torch.jit._pickle", "build_intlist")
    given = of(name("torch.nn.modules.linear", "Linear"))
    report = scanned(call(name("torch._tensor", "_rebuild_from_type_v2"), back, name("builtins", "type"), given, named(a=b"N")))
    assert (report.verdict, "pickle-changes-name" in {one.code for one in report.findings}) == ("dangerous", True)
