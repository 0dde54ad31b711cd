"""The parts that TensorFlow's formats are read with, under random input: messages, slice keys, tables, Snappy, varints of the first version.

Expected values are written out from the formats' descriptions, made by tests/tf_tables.py, or by NumPy.
"""

from __future__ import annotations

import random
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from inert.containers import snappy, sstable, sstableblock
from inert.containers.protowire import fields, signed
from inert.containers.sstablecolumns import Columns
from inert.dtypes import DTYPES
from inert.errors import FormatError, InertError, LimitError
from inert.limits import DEFAULT
from inert.source import BytesSource
from inert.tensorflow import graph, messages
from inert.tensorflow.entries import Head, Stored, listed, quick, stored, usual_head
from inert.tensorflow.slices import box_of, decode, key_of, spelt, uncovered
from inert.tensorflow.v1 import unpacked
from tests.tf_tables import block, entry, field, literal, shape, table, varint

# ---------------------------------------------------------------------------------------------------------------------- messages


@given(st.binary(max_size=60))
def test_any_bytes_are_fields_or_refused(data: bytes) -> None:
    try:
        found = list(fields(data))
    except FormatError:
        return
    for number, wire, value, end in found:
        assert number > 0
        assert wire in (0, 1, 2, 5)
        assert value <= end <= len(data) if wire == 2 else 0 <= value < 1 << 64


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x08", "too early"),
        (b"\x08" + b"\xff" * 10 + b"\1", "more than ten"),
        (b"\x08" + b"\xff" * 9 + b"\x7f", "64 bits"),
        (b"\x0b", "wire type 3"),
        (b"\x00\x00", "without a number"),
        (b"\x0a\x05abc", "5 bytes where 3 are left"),
        (b"\x0d\0\0", "too early"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        list(fields(data))


def test_numbers_are_signed_as_their_field_is() -> None:
    assert [signed(value) for value in (0, 5, (1 << 64) - 1, 1 << 63)] == [0, 5, -1, -(1 << 63)]
    assert signed((1 << 64) - 1, 32) == -1
    assert signed(0x1_0000_0005, 32) == 5


class FakeBundle:
    limits = DEFAULT


BUNDLE: Any = FakeBundle()

USUAL = st.builds(
    lambda dtype, sizes, offset, size, crc, shard: entry(dtype, tuple(sizes), offset, size, crc, shard),
    st.integers(1, 33), st.lists(st.integers(0, 1 << 40), max_size=6), st.integers(0, (1 << 63) - 1), st.integers(0, (1 << 63) - 1),
    st.integers(0, (1 << 32) - 1), st.integers(0, 300),
)  # fmt: skip


@given(USUAL)
@example(b"\x08\x01\x12\x00\x35\0\0\0\0")
@example(b"")
def test_the_usual_entry_says_the_same_at_a_glance(raw: bytes) -> None:
    glance = quick(raw)
    found = messages.entry(raw)
    assert glance is None or glance == (found.shard, found.offset, found.size, found.crc)
    if raw and found.shard < 128 and len(found.shape) < 6:
        assert glance is not None, "or nothing would be gained"


@given(USUAL, st.lists(st.tuples(st.integers(0, 80), st.integers(0, 255)), max_size=4), st.binary(max_size=6))
def test_a_glance_is_never_another_answer(raw: bytes, changes: list[tuple[int, int]], more: bytes) -> None:
    data = bytearray(raw + more)
    for place, byte in changes:
        if place < len(data):
            data[place] = byte
    mutant = bytes(data)
    try:
        found = messages.entry(mutant)
    except FormatError:
        with pytest.raises(FormatError):
            stored(BUNDLE, b"w", mutant, {})
        return
    heads: dict[bytes, Head] = {}
    if usual_head(mutant) and quick(mutant):  # as if an equal beginning had been met before
        messages_head = messages.entry(mutant[: usual_head(mutant)])
        heads[mutant[: usual_head(mutant)]] = Head(BUNDLE, messages_head)
    for made in (stored(BUNDLE, b"w", mutant, dict(heads)), listed(BUNDLE, [b"w"], [mutant], heads)[0]):
        assert isinstance(made, Stored)
        assert (made.dtype, made.shape, bool(made.key)) == (found.dtype, found.shape, bool(found.slices))
    assert quick(mutant) is None or (quick(mutant) == (found.shard, found.offset, found.size, found.crc) and not found.slices)


# ------------------------------------------------------------------------------------------------------------------------ slices

NUMBERS = {
    0: "80", 2: "82", 63: "bf", 64: "c040", -1: "7f", 8192: "e02000", 1 << 20: "f0100000", 1 << 34: "fc0400000000",
    1 << 48: "ff01000000000000", 1 << 55: "ff8080000000000000",
}  # fmt: skip


def test_keys_of_slices_are_tensorflow_s() -> None:
    assert key_of(b"v", [(0, 2), (0, -1)]).hex() == "0076000101028082807f"
    assert key_of(b"a", []).hex() == "0061000100"
    for number, code in NUMBERS.items():
        assert key_of(b"", [(number, 0)]).hex() == f"0000010101{code}80"
    assert key_of(b"\0\xff", []).hex() == "0000ffff00000100"
    assert spelt(((0, 2), (0, -1))) == "0:2,:"


@given(st.binary(max_size=12), st.lists(st.tuples(st.integers(0, (1 << 63) - 1), st.integers(-1, (1 << 63) - 1)), max_size=5))
@example(b"\xff\xff\0\0\xff\0", [(1 << 62, -1)])
def test_keys_of_slices_go_both_ways(name: bytes, extents: list[tuple[int, int]]) -> None:
    assert decode(key_of(name, extents)) == (name, tuple(extents))


@given(st.binary(max_size=30))
@example(b"\0\0\1\1\1\xff\xff\xff\xff")
def test_any_bytes_are_a_slice_s_key_or_none(key: bytes) -> None:
    found = decode(b"\0" + key)
    assert found is None or len(found[1]) <= len(key)
    decode(key)


def test_boxes_and_what_they_leave() -> None:
    assert box_of([(0, -1), (2, 3)], (4, 5)) == ((0, 2), (4, 3))
    with pytest.raises(FormatError, match="1 dimensions in a tensor of 2"):
        box_of([(0, 1)], (2, 2))
    assert uncovered((4, 3), [((0, 0), (2, 3)), ((2, 0), (2, 3))]) == ""
    assert "2 to 3 of dimension 0 is in none" in uncovered((4, 3), [((0, 0), (2, 3))])
    assert "overlap" in uncovered((4, 3), [((0, 0), (3, 3)), ((2, 0), (2, 3))])
    assert "beyond" in uncovered((4, 3), [((0, 1), (4, 3))])
    assert uncovered((0, 3), []) == ""
    assert uncovered((4, 3), []) == "none of its slices is there"
    assert uncovered((4, 4), [((0, 0), (2, 2)), ((2, 2), (2, 2))]) == "its slices hold 8 elements of 16"


# ------------------------------------------------------------------------------------------------------------------------ tables


def pairs_of(rows: Columns | tuple[list[bytes], list[bytes]]) -> list[tuple[bytes, bytes]]:
    if isinstance(rows, Columns):
        return [(key.encode(), rows.value(at)) for at, key in enumerate(rows.keys)]
    return list(zip(*rows, strict=True))


ITEMS = st.dictionaries(st.binary(max_size=20), st.binary(max_size=200), max_size=60)


@given(ITEMS, st.integers(1, 400), st.sampled_from([0, 1]), st.binary(max_size=20))
def test_a_table_gives_what_was_put_in(items: dict[bytes, bytes], size: int, kind: int, other: bytes) -> None:
    items = dict(sorted(items.items()))
    made = sstable.Table(BytesSource(table(items, size=size, kind=kind)), DEFAULT)
    faults: list[sstable.Fault] = []
    found = {key: bytes(held.data[start:end]) for key, held, start, end in made.entries(faults)}
    assert list(found.items()) == list(items.items())
    assert [pair for rows in made.listing(faults) for pair in pairs_of(rows)] == list(items.items())
    assert all(made.get(key) == value for key, value in items.items())
    assert made.get(other) == items.get(other)
    assert not faults
    assert not list(sstable.checksums(made))
    assert not list(sstable.layout(made))


@given(st.binary(min_size=4, max_size=200), st.integers(0, 40))
def test_any_block_is_read_alike_in_both_ways(data: bytes, restarts: int) -> None:
    try:
        held = sstableblock.Block(data + struct.pack("<I", restarts), 0, 1000)
    except FormatError:
        return
    keys, values, wrong = [], [], None
    try:
        for key, start, end in held.entries():
            keys.append(key)
            values.append(bytes(held.data[start:end]))
    except FormatError as error:
        wrong = error
    except LimitError:
        with pytest.raises(LimitError):
            held.pairs()
        return
    found = held.pairs()
    assert found[:2] == (keys, values)
    assert (found[2] is None) == (wrong is None)
    try:
        held.find(b"k")
    except FormatError:
        pass


def test_restarts_are_used_to_find_a_key() -> None:
    items = [(b"%04d" % number, b"x") for number in range(500)]
    held = sstableblock.Block(block(items), 0, 1 << 20)
    assert held.restarts == 32
    assert held.find(b"0499") is not None
    assert held.find(b"9") is None
    assert held.find(b"") is None


# ------------------------------------------------------------------------------------------------------------------------ snappy


def packed(rng: random.Random, steps: int) -> tuple[bytes, bytes]:
    """(what a Snappy writer could write, what it stands for), with every kind of tag."""
    raw, made = bytearray(b"ab"), bytearray(b"\x04ab")
    for _ in range(steps):
        kind = rng.randrange(4)
        if kind == 0:
            piece = bytes(rng.randrange(256) for _ in range(rng.choice((1, 60, 61, 300))))
            extra = b"" if len(piece) <= 60 else (len(piece) - 1).to_bytes(1 if len(piece) <= 256 else 2, "little")
            made += bytes((((59 + len(extra)) if extra else len(piece) - 1) << 2,)) + extra + piece
            raw += piece
            continue
        back = rng.randrange(1, min(len(raw), 2000) + 1)
        size = rng.randrange(4, 12) if kind == 1 else rng.randrange(1, 65)
        if kind == 1:
            made += bytes(((back >> 8) << 5 | (size - 4) << 2 | 1, back & 255))
        else:
            made += bytes((size - 1 << 2 | kind,)) + back.to_bytes(2 if kind == 2 else 4, "little")
        for _ in range(size):
            raw.append(raw[-back])
    return varint(len(raw)) + bytes(made), bytes(raw)


@given(st.randoms(use_true_random=False), st.integers(0, 40))
def test_snappy_gives_what_was_packed(rng: random.Random, steps: int) -> None:
    data, raw = packed(rng, steps)
    assert snappy.inflate(data, 1 << 20) == raw
    assert snappy.inflate(literal(raw), 1 << 20) == raw


@given(st.binary(max_size=80))
def test_any_snappy_is_inflated_in_bounds_or_refused(data: bytes) -> None:
    try:
        assert len(snappy.inflate(data, 4096)) <= min(4096, 32 * len(data) + 64)
    except InertError:
        pass


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\xff\xff\xff\x7f\0a", "6 bytes that says it holds 268,435,455"),
        (b"\4\0a\x05\x02", "before its start"),
        (b"\4\0a\x05\x00", "before its start"),
        (b"\4\0a", "gives 1 bytes where it says 4"),
        (b"\1\0a\0b", "gives 2 bytes where it says 1"),
        (b"\4\x0ca", "too early"),
    ],
)
def test_snappy_that_lies_is_refused(data: bytes, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        snappy.inflate(data, 1 << 30)
    with pytest.raises(LimitError):
        snappy.inflate(b"\x80\x02", 255)


# ----------------------------------------------------------------------------------------------------- the first version, objects


@given(
    st.sampled_from(["int32", "uint8", "int64", "bool", "uint16", "float16"]), st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=50)
)
def test_varints_become_elements(name: str, numbers: list[int]) -> None:
    dtype = DTYPES[name]
    wanted = b"".join((number & ((1 << 8 * dtype.itemsize) - 1)).to_bytes(dtype.itemsize, "little") for number in numbers)
    raw = b"".join(map(varint, numbers))
    assert unpacked(raw, dtype) == wanted
    if raw:
        for bad in (b"\xff" * 11 + raw, b"\x80" * 40):
            with pytest.raises(FormatError, match="ten bytes"):
                unpacked(bad, dtype)


def test_many_varints_are_taken_in_pieces() -> None:
    numbers = np.arange(1 << 20, dtype=np.int64)
    raw = b"".join(map(varint, numbers.tolist()))
    assert len(raw) > 1 << 20
    assert unpacked(raw, DTYPES["int64"]) == numbers.tobytes()


@given(st.binary(max_size=80))
def test_any_object_graph_is_a_tree_or_refused(data: bytes) -> None:
    try:
        nodes = graph.parse(data)
    except FormatError:
        return
    graph.tree(nodes, lambda key: key)
    graph.variables(nodes)


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("a/b/.ATTRIBUTES/VARIABLE_VALUE", ("a", "b")),
        ("x.Sy/k..z/.ATTRIBUTES/VARIABLE_VALUE", ("x/y", "k.z")),
        ("..S/..../a.S..b/.ATTRIBUTES/VARIABLE_VALUE", (".S", "..", "a/.b")),
        ("a/.ATTRIBUTES/OBJECT_CONFIG_JSON", ("a", ".ATTRIBUTES/OBJECT_CONFIG_JSON")),
        ("m/w/.OPTIMIZER_SLOT/o/p/v/.ATTRIBUTES/VARIABLE_VALUE", ("o", "p", ".OPTIMIZER_SLOT", "m/w", "v")),
        ("_CHECKPOINTABLE_OBJECT_GRAPH", ("_CHECKPOINTABLE_OBJECT_GRAPH",)),
    ],
)
def test_keys_tell_where_in_the_tree_a_value_stands(key: str, path: tuple[str, ...]) -> None:
    assert graph.path_of(key) == path


def test_fields_of_a_graph_that_are_of_another_kind_are_unknown_ones() -> None:
    node = (
        field(1, field(1, b"text") + field(2, 7))
        + field(2, field(1, 7) + field(3, 7))
        + field(3, field(1, b"x") + field(2, 7))
        + field(4, field(1, 7))
    )
    (one,) = graph.parse(field(1, node))
    assert (one.children, one.attributes, one.slots, one.saver) == ({"": 0}, {"": ("", "")}, [(0, "", 0)], "")
    graph.tree([one], lambda key: key)


def test_an_object_graph_is_followed_without_recursion() -> None:
    deep = b"".join(field(1, field(1, field(1, number + 1) + field(2, b"x"))) for number in range(5000)) + field(1, b"")
    here = graph.tree(graph.parse(deep), lambda key: key)
    for _ in range(5000):
        here = here["x"]
    assert here == {}
    assert shape() == b""


def test_one_restart_makes_no_long_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    items = {b"%06d" % number: b"" for number in range(20_000)}
    made = sstable.Table(BytesSource(table_of_one(items)), DEFAULT)
    walks = 0
    entries = sstable.Block.entries

    def counted(self: sstable.Block, at: int = 0) -> Any:
        nonlocal walks
        walks += 1
        return entries(self, at)

    monkeypatch.setattr(sstable.Block, "entries", counted)
    assert all(made.get(key) == b"" for key in items)
    assert made.get(b"x") is None
    assert walks == 1


def table_of_one(items: dict[bytes, bytes]) -> bytes:
    """A table whose block has a single restart."""
    from tests.tf_tables import MAGIC, closed, mask

    raw, none = block(items.items(), every=1 << 30), block([])
    made = closed(raw, 0, mask)
    ends = varint(len(made)) + varint(len(none))
    made += closed(none, 0, mask)
    index = block([(max(items), varint(0) + varint(len(raw)))])
    ends += varint(len(made)) + varint(len(index))
    return made + closed(index, 0, mask) + ends.ljust(40, b"\0") + MAGIC
