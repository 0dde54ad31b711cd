"""One storage key that several tensors declare differently: torch goes by the first word; a word that is true of the record is believed.

What torch 2.13 reads of such files is held against it live in tests/oracle/test_predict_oracle.py ("a key of two …").
"""

from __future__ import annotations

import io
import struct
from typing import Any

import pytest

import inert
from inert.errors import FormatError
from tests.makers import dumps, storage, tensor, torch_zip

RAW = struct.pack("<16i", *range(16))


def opened(*declared: tuple[str, int], location: str = "cpu", many: int = 0, raw: bytes = RAW) -> inert.Checkpoint:
    """Tensors of two elements on key "0"; with ``many``, behind as many sound ones, so that their records are rows."""
    state: dict[str, Any] = {f"s{i}": tensor(storage("1", 2, "Int"), (2,)) for i in range(many)}
    state |= {str(i): tensor(storage("0", count, kind), (2,)) for i, (kind, count) in enumerate(declared)}
    return inert.open(io.BytesIO(torch_zip(dumps(state), {"0": raw, "1": RAW[:8]})))


def codes(checkpoint: inert.Checkpoint) -> set[str]:
    return {note.code for note in checkpoint.notes} - {"storage-stray"}


@pytest.mark.parametrize("many", [0, 60], ids=["alone", "rows"])
@pytest.mark.parametrize("backwards", [False, True])
class TestWords:
    """Whatever the order in which tensors are looked at."""

    def values(self, checkpoint: inert.Checkpoint, backwards: bool) -> list[Any]:
        names = [name for name in checkpoint.tensors if name.isdigit()]
        found: dict[str, Any] = {}
        for name in reversed(names) if backwards else names:
            try:
                found[name] = (str(checkpoint.tensors[name].dtype), checkpoint.tensors[name].numpy().tolist())
            except FormatError:
                found[name] = None
        return [found[name] for name in names]

    def test_the_first_is_true(self, many: int, backwards: bool) -> None:
        with opened(("Int", 16), ("Int", 2), ("Int", 99), ("Long", 8), many=many) as found:
            assert self.values(found, backwards) == [("int32", [0, 1])] * 4
            assert len({found.tensors[str(i)].storage for i in range(4)}) == 1
            assert codes(found) == {"tensor-storage-resized", "tensor-storage-retyped"}

    def test_a_later_one_is_true(self, many: int, backwards: bool) -> None:
        with opened(("Int", 2), ("Int", 16), ("Int", 3), ("Int", 16), many=many) as found:
            assert self.values(found, backwards) == [None, ("int32", [0, 1]), None, ("int32", [0, 1])]
            assert found.tensors["1"].storage is found.tensors["3"].storage
            assert codes(found) == {"tensor-storage-resized", "record-size"}
            assert [note.tensors for note in found.notes if note.code == "record-size"] == [("0",), ("2",)]

    def test_a_later_one_of_another_type_is_true(self, many: int, backwards: bool) -> None:
        with opened(("Int", 2), ("Long", 8), many=many) as found:
            assert self.values(found, backwards) == [None, ("int64", [1 << 32, 2 | 3 << 32])]

    def test_none_is_true(self, many: int, backwards: bool) -> None:
        with opened(("Int", 2), ("Int", 3), many=many) as found:
            assert self.values(found, backwards) == [None, None]


def test_what_is_empty_keeps_its_own_types() -> None:
    state = {"a": tensor(storage("0", 0, "Float"), (0,)), "b": tensor(storage("0", 0, "Long"), (0,))}
    with inert.open(io.BytesIO(torch_zip(dumps(state), {"0": b""}))) as found:
        assert [str(found.tensors[name].dtype) for name in "ab"] == ["float32", "int64"]
        assert codes(found) == set()


def test_the_first_device_counts_whichever_is_looked_at_first() -> None:
    for many in (0, 60):
        state = {f"s{i}": tensor(storage("1", 2), (2,)) for i in range(many)}
        state |= {"a": tensor(storage("0", 16, "Int", "cpu"), (2,)), "b": tensor(storage("0", 16, "Int", "cuda:1"), (2,))}
        with inert.open(io.BytesIO(torch_zip(dumps(state), {"0": RAW, "1": RAW[:8]}))) as found:
            assert [found.tensors[name].device for name in "ba"] == ["cpu", "cpu"]
