"""The shortcut over a whole block of an index says what the reader of one entry after the other says: on usual blocks, on mutants of them,
and on whole checkpoints.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import inert
from inert.containers import sstablecolumns
from inert.containers.sstableblock import Block
from inert.containers.sstablecolumns import RENT, Columns, columns
from inert.errors import FormatError, LimitError
from inert.limits import DEFAULT
from inert.tensorflow.columns import Listed, Run
from inert.tensorflow.entries import Head, Stored, stored
from inert.tensorflow.messages import entry as parsed
from tests.source_tree import REPOSITORY, SOURCE
from tests.tf_tables import block, bundle, entry, field, shape

CORPUS = Path(__file__).parent / "corpus" / "tf"


class FakeBundle:
    limits = DEFAULT
    order = "little"
    name = "made.index"

    def place(self, shard: int, offset: int, size: int) -> tuple[str, str]:
        return "made.data", ""

    def span(self, shard: int, offset: int, size: int) -> Any:
        raise AssertionError("nothing is read")


BUNDLE: Any = FakeBundle()
VALUES = st.one_of(
    st.builds(
        lambda dtype, sizes, offset, size, crc, shard: entry(dtype, tuple(sizes), offset, size, crc, shard),
        st.integers(1, 34), st.lists(st.integers(0, 1 << 20), max_size=6), st.integers(0, 1 << 62), st.integers(0, 1 << 30),
        st.integers(0, (1 << 32) - 1), st.integers(0, 130),
    ),
    st.sampled_from([
        b"", field(1, 1), field(1, 1) + field(2, shape(2)), field(1, 1) + field(2, field(3, 1)), field(1, 300) + field(2, shape(2)),
        field(1, 1) + field(2, shape(4)) + field(7, field(1, field(2, 2))), entry(1, (2,), 3, 8) + field(1, 2), entry(1, (2,), 3, 8) + field(9, 1),
        field(1, 1) + field(2, b"\x12\xff") + b"\x35aaaa", field(1, 1) + field(2, shape(2)) + field(5, 8) + field(4, 8),
        field(1, 1) + field(2, shape(*range(40))), field(1, 1) + field(2, shape(2)) + b"\x20" + b"\xff" * 9 + b"\1",
    ]),
)  # fmt: skip
KEYS = st.one_of(
    st.text("abc/_.", max_size=12).map(str.encode), st.binary(max_size=6), st.sampled_from([b"", b"_CHECKPOINTABLE_OBJECT_GRAPH"])
)
BLOCKS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=50).map(lambda items: sorted(items.items()))


def same_as_one_by_one(data: bytes) -> Columns | None:
    """Both readings of a block, which must be the same where there are two."""
    try:
        held = Block(data, 0, 1 << 16)
    except FormatError:
        return None
    made = columns(held)
    if made is None:
        return None
    keys, values, wrong = held.pairs()
    assert wrong is None
    assert [key.encode() for key in made.keys] == keys
    assert [made.value(at) for at in range(len(keys))] == values
    assert made.length == sum(map(len, keys))
    assert keys == sorted(set(keys))
    assert [made.has(key.decode()) for key in keys] == [True] * len(keys)
    assert not made.has("\x7f none")
    same_tensors(made, keys, values)
    return made


def same_tensors(made: Columns, keys: list[bytes], values: list[bytes]) -> None:
    tensors, odd = Run(BUNDLE, made, {}, lambda name: ("in", name)).tensors()
    assert [at for at, tensor in enumerate(tensors) if tensor is None] == odd
    for key, raw, tensor in zip(keys, values, tensors, strict=True):
        if tensor is None:
            continue  # read by the same function as ever
        one = stored(BUNDLE, key, raw, {})
        assert isinstance(one, Stored)
        assert not one.key
        assert (tensor.name.encode(), tensor.dtype, tensor.shape) == (key, one.dtype, one.shape)
        assert tensor.path == ("in", tensor.name)
        mine, its = tensor.layout, one.layout()
        assert tensor.layout is mine
        assert (mine.dtype, mine.shape, mine.strides, mine.fault, mine.kind) == (its.dtype, its.shape, its.strides, its.fault, its.kind)
        assert (mine.storage.key, mine.storage.nbytes, mine.storage.crc32c) == (its.storage.key, its.storage.nbytes, its.storage.crc32c)


@given(BLOCKS, st.sampled_from([1, 2, 16]))
@example([(b"k%02d" % at, entry(1, (2, 3), at * 24, 24, 7)) for at in range(40)], 16)
def test_a_block_says_the_same_as_columns(items: list[tuple[bytes, bytes]], every: int) -> None:
    made = same_as_one_by_one(block(items, every))
    usual = all(key.isascii() and b"\0" not in key and len(value) < 128 for key, value in items)
    assert (made is not None) == usual, "or nothing would be gained"


@pytest.mark.no_cover
@settings(max_examples=400)
@given(BLOCKS, st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 255)), min_size=1, max_size=4), st.sampled_from([3, 16]))
def test_a_mutant_is_never_read_otherwise(items: list[tuple[bytes, bytes]], changes: list[tuple[int, int]], every: int) -> None:
    data = bytearray(block(items, every))
    for place, byte in changes:
        data[place % len(data)] = byte
    same_as_one_by_one(bytes(data))


@given(st.binary(min_size=4, max_size=200), st.integers(0, 40))
def test_any_bytes_are_no_columns_or_the_same(data: bytes, restarts: int) -> None:
    same_as_one_by_one(data + struct.pack("<I", restarts))


def test_usual_entries_are_found_usual() -> None:
    items = [(b"k%03d" % at, entry(1 + at % 9, tuple(range(at % 5)), at * 24, at % 7, at, at % 3)) for at in range(300)]
    made = same_as_one_by_one(block(items))
    assert made is not None
    tensors, odd = Run(BUNDLE, made, {}, lambda name: (name,)).tensors()
    assert not odd
    assert {type(tensor) for tensor in tensors} == {Listed}


def test_what_equal_beginnings_say_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = columns(Block(block([(b"k%03d" % at, entry(1, (at % 3, 5), at, 24)) for at in range(300)]), 0, 1 << 16))
    assert made is not None
    asked: list[bytes] = []

    def counted(raw: bytes) -> Any:
        asked.append(raw)
        return parsed(raw)

    monkeypatch.setattr("inert.tensorflow.columns.entry", counted)
    heads: dict[bytes, Head] = {}
    Run(BUNDLE, made, heads, lambda name: (name,)).tensors()
    assert len(asked) == len(heads) == 3


def test_keys_that_share_far_too_much_are_refused_as_ever() -> None:
    bomb = block([(b"a" * 100 + b"%02d" % at, b"") for at in range(50)])
    held = Block(bomb, 0, 1000)
    assert columns(held) is None
    with pytest.raises(LimitError):
        held.pairs()


def test_a_process_without_numpy_fetches_it_only_for_much() -> None:
    script = "import sys, inert\nfrom inert.containers import sstablecolumns\nsstablecolumns._paid[0] = int(sys.argv[1])\n"
    script += "with inert.open(sys.argv[2]) as checkpoint:\n    len(checkpoint.tensors)\nprint('numpy' in sys.modules)"
    for paid, wanted in ((0, "False"), (RENT, "True")):
        done = subprocess.run(
            [sys.executable, "-c", script, str(paid), str(CORPUS / "names")],
            capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY / "src")},
        )  # fmt: skip
        assert done.stdout.strip() == wanted


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir() if path.is_dir() and not path.name.startswith("v1")))
def test_a_checkpoint_is_the_same_either_way(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = []
    for worth in (True, False):
        monkeypatch.setattr(sstablecolumns, "_worth", lambda entries, worth=worth: worth)
        with inert.open(CORPUS / name) as checkpoint:
            told.append([
                [(key, str(one.dtype), one.shape, one.path, one.kind, one.fault, one.nbytes) for key, one in checkpoint.tensors.items()],
                [(part.name, part.offset, part.size) for part in checkpoint.parts.values()],
                [(note.code, note.message) for note in checkpoint.notes],
                [*checkpoint.tensors], len(checkpoint.tensors), [one.name for one in checkpoint.tensors.values()],
            ])  # fmt: skip
    assert told[0] == told[1]


def test_a_listed_tensor_is_like_any_other(tmp_path: Path) -> None:
    data = np.arange(6, dtype="<f4").tobytes()
    prefix = bundle(tmp_path, {b"a/b": entry(1, (2, 3), 0, 24), b"c": entry(1, (6,), 0, 24)}, data)
    with inert.open(prefix) as checkpoint:
        tensor = next(iter(checkpoint.tensors.values()))
        assert type(tensor) is Listed
        assert checkpoint.tensors["a/b"] is tensor
        assert dict(checkpoint.tensors)["a/b"] is checkpoint.root["a/b"] is tensor
        assert tensor in checkpoint.tensors.values()
        assert ("a/b", tensor) in checkpoint.tensors.items()
        assert len(checkpoint.tensors.items()) == len(checkpoint.tensors.values()) == 2
        assert repr(tensor) == "<Tensor 'a/b' float32[2, 3]>"
        assert tensor.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        inert.save({"x": tensor, "y": [tensor]}, tmp_path / "out.pt")
        checkpoint.tensors.rename("c", "d")
        checkpoint.tensors["e"] = tensor
        checkpoint.save(tmp_path / "again.index")
    assert inert.load(tmp_path / "out.pt")["y"][0].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert {name: array.shape for name, array in inert.load(tmp_path / "again").items()} == {"a/b": (2, 3), "d": (6,), "e": (2, 3)}


def test_nobody_asks_for_the_very_class_of_a_tensor() -> None:
    found = [
        path.name for path in SOURCE.rglob("*.py") if re.search(r"type\(\w+\) is (not )?Tensor\b|kind is Tensor\b", path.read_text("utf-8"))
    ]
    assert not found, "a Listed is a Tensor too: use isinstance"
