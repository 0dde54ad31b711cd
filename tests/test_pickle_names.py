"""Names of Python 2: what CPython imports for them, what torch's weights_only unpickler looks up, and below which protocol."""

from __future__ import annotations

import _compat_pickle
import collections
import io
import pickle
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from inert.pickle import python2
from inert.pickle.decode import decode
from inert.pickle.nodes import Global
from inert.torch.allowed import allowed, torch_name
from inert.torch.predict import imports


def name(data: bytes) -> Global:
    document = decode(data)
    assert document.fault is None
    assert type(document.root) is Global
    return document.root


def test_the_tables_are_those_of_the_python_we_run_on() -> None:
    there = {old: new for old, new in _compat_pickle.IMPORT_MAPPING.items() if old != "Tix"}  # Python 3.13 has no tkinter.tix any more
    assert there == python2.MODULES
    assert _compat_pickle.NAME_MAPPING == python2.NAMES


@pytest.mark.parametrize(
    "old", [*python2.NAMES, *((module, "x") for module in python2.MODULES), ("torch._utils", "y"), ("exceptions", "z")]
)
def test_a_name_is_spelled_as_python_3_spells_it(old: tuple[str, str]) -> None:
    module, attribute = old
    node = name(f"c{module}\n{attribute}\n.".encode())
    new = _compat_pickle.NAME_MAPPING.get(old) or (_compat_pickle.IMPORT_MAPPING.get(module, module), attribute)
    assert (node.module, node.name) == old
    assert node.imported == new
    assert node.dotted == ".".join(new)


DICT = b"cUserDict\nUserDict\n"
STACKED = b"\x8c\x08UserDict\x8c\x08UserDict\x93"


@pytest.mark.parametrize(
    ("data", "old"),
    [
        (DICT + b".", True), (b"\x80\2" + DICT + b".", True), (b"\x80\3" + DICT + b".", False), (b"\x80\4" + DICT + b".", False),
        (b"\x80\2" + STACKED + b".", True), (b"\x80\4" + STACKED + b".", False), (STACKED + b".", True),
        (b"\x80\4\x80\2" + STACKED + b".", True), (b"\x80\2\x80\4" + DICT + b".", False), (b"\x80\4N0\x80\0" + DICT + b".", True),
    ],
)  # fmt: skip
def test_old_spellings_count_below_protocol_3_only(data: bytes, old: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "UserDict", SimpleNamespace(UserDict="somebody's own module"))  # type: ignore[arg-type]
    theirs: Any = pickle.loads(data)
    assert theirs is collections.UserDict if old else theirs == "somebody's own module"
    node = name(data)
    assert node.imported == (("collections", "UserDict") if old else ("UserDict", "UserDict"))
    assert imports([node]) == (([], []) if old else (["the module UserDict"], []))


def test_an_instance_of_protocol_0_has_such_a_name_too() -> None:
    (node,) = decode(b"(iUserDict\nUserDict\n.").globals
    assert (node.how, node.imported) == ("INST", ("collections", "UserDict"))


def test_torch_replaces_fewer_names_but_in_every_protocol() -> None:
    for start in (b"\x80\2", b"\x80\4", b"\x80\6"):
        assert allowed(name(start + b"c__builtin__\nset\n."))
        assert name(start + b"c__builtin__\nset\n.").dotted == "builtins.set", "what no Python has, only torch can mean"
        assert torch_name(name(start + b"ccommands\ngetoutput\n.")) == "commands.getoutput"
    assert not allowed(name(b"\x80\2cexceptions\nset\n."))
    assert name(b"\x80\4cdbm\nopen\n.").dotted == "dbm.open", "Python 3 has a module of that name"
    assert name(b"\x80\2cdbm\nopen\n.").dotted == "dbm.ndbm.open"


def test_exceptions_that_python_2_did_not_have_stay_as_they_are() -> None:
    node = name(b"\x80\2cexceptions\neval\n.")
    assert node.dotted == "exceptions.eval"
    with pytest.raises(ModuleNotFoundError):
        pickle.load(io.BytesIO(b"\x80\2cexceptions\neval\n."))
