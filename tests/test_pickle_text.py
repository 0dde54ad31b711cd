"""The opcodes of a pickle as rows, held against CPython's own disassembler."""

from __future__ import annotations

import datetime
import decimal
import fractions
import io
import pickle
import pickletools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import inert
from inert.pickle.text import rows
from tests.source_tree import REPOSITORY

CORPUS = REPOSITORY / "tests" / "corpus"


def pickles() -> list[tuple[str, bytes]]:
    found = [(path.name, path.read_bytes()) for path in sorted((CORPUS / "pickles").glob("*.pkl"))]
    for path in sorted((CORPUS / "torch").glob("*.pt"))[:40]:
        with inert.open(path) as ckpt:
            found += [(f"{path.name}:{name}", bytes(document.data)) for name, document in ckpt.pickles.items()]
    return found


def test_rows_are_those_of_pickletools() -> None:
    held = pickles()
    assert len(held) > 40
    for name, data in held:
        expected = [(at, opcode.name) for opcode, _, at in pickletools.genops(data)]
        found = [(row.offset, row.name) for row in rows(data)]
        assert found == expected, name


def test_names_are_those_that_would_be_imported() -> None:
    for name, data in pickles():
        asked = [row.asks for row in rows(data) if row.name in ("GLOBAL", "INST")]
        expected = [tuple(str(arg).split(" ", 1)) for opcode, arg, _ in pickletools.genops(data) if opcode.name in ("GLOBAL", "INST")]
        assert asked == expected, name


@given(st.binary(max_size=400))
def test_any_bytes_give_rows_that_end(data: bytes) -> None:
    found = list(rows(data))
    offsets = [row.offset for row in found]
    assert offsets == sorted(set(offsets))
    assert found[-1].name in ("STOP", "?")
    assert len(found) <= len(data) + 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "ends without STOP"),
        (b"\xff", "no opcode"),
        (b"X\xff\xff\xff\x7f", "beyond the end"),
        (b"cos\nsystem", "beyond the end"),
        (b"N", "without STOP"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, said: str) -> None:
    assert said in str(list(rows(data))[-1].argument)


def test_a_name_on_the_stack() -> None:
    data = b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x94\x93."
    assert [row.asks for row in rows(data) if row.name == "STACK_GLOBAL"] == [("posix", "system")]


def test_a_name_out_of_the_memo() -> None:
    """Protocol 4 writes a module's name once; what stood before it is none of it."""
    data = b"\x80\x04\x8c\x05torch\x94\x8c\x04Size\x94\x93\x94h\x00\x8c\x06Tensor\x94\x93\x94K\x01\x93h\x00\x8c\x01N\x93."
    assert [row.asks for row in rows(data) if row.name == "STACK_GLOBAL"] == [("torch", "Size"), ("torch", "Tensor"), None, ("torch", "N")]


def test_names_on_the_stack_are_those_that_python_imports() -> None:
    """CPython's own unpickler says what it looks up; every name that the rows tell is one of these, in this order."""
    value = {
        "a": decimal.Decimal("1.5"),
        "b": datetime.date(2020, 1, 2),
        "c": [fractions.Fraction(1, 3), datetime.timedelta(3), decimal.Decimal(2)],
    }
    for protocol in (4, 5):
        data = pickle.dumps(value, protocol)
        asked: list[tuple[str, str]] = []

        class Reader(pickle._Unpickler):  # type: ignore[name-defined,misc]
            def find_class(self, module: str, name: str) -> object:
                asked.append((module, name))
                return super().find_class(module, name)

        Reader(io.BytesIO(data)).load()
        assert [row.asks for row in rows(data) if row.name == "STACK_GLOBAL"] == asked
        assert len(asked) == 4


@pytest.mark.no_cover
def test_a_pickle_that_is_cut() -> None:
    """Cut anywhere, a pickle gives the rows of what is whole, and one that says where it ends."""
    data = pickles()[0][1]
    whole = [(row.offset, row.name) for row in rows(data)]
    for end in range(len(data)):
        found = [(row.offset, row.name) for row in rows(data[:end])]
        assert found[:-1] == whole[: len(found) - 1]
        assert found[-1][1] == "?"
