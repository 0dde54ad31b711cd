"""The shortcut for tensor records cannot be told from the machine that goes step by step.

Law: for any bytes, ``decode(data, shortcut=True)`` and ``decode(data, shortcut=False)`` give equal roots (sharing and cycles included), equal
sequences of Globals, References and Calls at equal offsets, equal memos, equal oddities, and the same fault at the same offset.
"""

from __future__ import annotations

import pickletools
import random
import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inert.errors import LimitError
from inert.limits import Limits
from inert.pickle.decode import Document, decode
from inert.pickle.nodes import Call
from inert.pickle.row import Row
from tests.graphs import difference
from tests.makers import CPU, KINDS, REBUILD_V1, REBUILD_V2, STORAGE, Made, Name, dumps, storage, tensor, text

# ------------------------------------------------------------------------------------------------------------ equal to the last bit


def memo(document: Document) -> dict[int, Any]:
    machine = document._machine
    for node in document.rows:
        if type(node) is Row:
            node.events()
    return machine.memo


def check(data: bytes, limits: Limits | None = None, start: int = 0) -> tuple[Document, int]:
    """Both readings of ``data`` agree. The quick one, and how many rows it took."""
    bounds = limits or Limits()
    quick, slow = (decode(data, "p", bounds, start=start, shortcut=shortcut) for shortcut in (True, False))
    rows = sum(type(node) is Row for node in quick.rows)
    assert not slow._machine.runs
    ends = [(type(d.fault), d.fault and d.fault.offset, d.fault and d.fault.message, d.end, d.protocol, d.odd) for d in (quick, slow)]
    assert ends[0] == ends[1]
    assert list(quick.opcodes.items()) == list(slow.opcodes.items())
    made = list(quick.made), list(slow.made)
    assert len(made[0]) == len(made[1])
    assert [(type(n) is Row, type(n), n.offset) for n in made[0]] == [(False, type(n), n.offset) for n in made[1]]
    for kind in ("globals", "calls", "references"):
        assert [n.offset for n in getattr(quick, kind)] == [n.offset for n in getattr(slow, kind)]
    left, right = memo(quick), memo(slow)
    assert left.keys() == right.keys()
    pairs = [(quick.root, slow.root), *zip(*made, strict=True), *((left[i], right[i]) for i in right)]
    assert difference(pairs) == ""
    assert quick._machine.hidden == 0
    return quick, rows


# ---------------------------------------------------------------------------------------------------------------- what it is made of

FILL = [str(i) for i in range(300)]  # takes the memo beyond 256 entries, where its indices become long


def state(count: int, shape: tuple[int, ...] = (2, 3), prefix: str = "layer") -> dict[str, Any]:
    return {f"{prefix}.{i}.weight": tensor(storage(str(i), 6), shape) for i in range(count)}


def late(value: Any) -> list[Any]:
    """``value`` among long memo indices."""
    return [FILL, state(3), value]


def glob(name: Name) -> bytes:
    return b"c" + name.module.encode() + b"\n" + name.name.encode() + b"\n"


# The five names a record refers to, under memo indices 0 to 4, then texts up to the index ``first``: byte by byte, for what no pickler writes.
NAMED_FIVE = b"\x80\2" + glob(REBUILD_V2) + b"q\0" + text(STORAGE) + b"q\1" + glob(KINDS["Float"]) + b"q\2" + text(CPU) + b"q\3"
NAMED_FIVE += glob(Name("collections", "OrderedDict")) + b"q\4"


def put(index: int) -> bytes:
    """BINPUT or LONG_BINPUT, as the pickler chooses."""
    return b"q" + bytes([index]) if 0 <= index < 256 else b"r" + struct.pack("<I", index & 0xFFFFFFFF)


def get(index: int) -> bytes:
    return b"j" + struct.pack("<I", index & 0xFFFFFFFF)


class Start:
    """Opcodes that fill the memo up to ``first``, the first free index, and set a mark."""

    def __init__(self, first: int, filled: int = 5) -> None:
        self.first = first
        self.head = NAMED_FIVE + b"".join(text(str(i)) + put(i) for i in range(filled, first)) + b"0" * (5 + first - filled) + b"("


SHORT, LONG = Start(70), Start(300)  # room for short memo indices, and beyond them
QUICK = [Start(6), Start(300, 299)]  # the same without filling the memo first


@pytest.fixture(params=[SHORT, LONG], ids=["short", "long"])
def on(request: pytest.FixtureRequest) -> Start:
    start: Start = request.param
    return start


def record(first: int, **change: Any) -> bytes:
    """One tensor's record, its memo entries numbered from ``first``. ``change`` replaces pieces: bytes as they are, or a list of indices."""
    parts = {
        "function": b"h\0", "tag": b"h\1", "kind": b"h\2", "location": b"h\3", "hooks": b"h\4", "key": b"X\1\0\0\0007", "count": b"K\6",
        "offset": b"K\0", "size": b"K\2K\3\x86", "stride": b"K\3K\1\x86", "grad": b"\x89",
    } | {name: value for name, value in change.items() if name != "puts"}  # fmt: skip
    puts = iter([put(i) for i in change.get("puts", range(first, first + 8))])

    def after(opcode: bytes, plain: bool = True) -> bytes:
        return opcode + (next(puts) if plain else b"")

    key = after(parts["key"], parts["key"][:1] in b"XU\x8c")
    body = parts["function"] + b"((" + parts["tag"] + parts["kind"] + key + parts["location"] + parts["count"] + after(b"t") + b"Q"
    body += parts["offset"] + after(parts["size"], parts["size"] != b")") + after(parts["stride"], parts["stride"] != b")")
    return body + parts["grad"] + parts["hooks"] + b")R" + after(b"") + b"t" + after(b"") + b"R" + after(b"")


def named(name: str | bytes, first: int, **change: Any) -> bytes:
    return text(name) + put(first) + record(first + 1, **change)


def tail(first: int, change: dict[str, Any]) -> bytes:
    """Five rows alike and one that is changed."""
    return b"".join(named(f"{i}", first + 8 * i, **(change if i == 5 else {})) for i in range(6))


def test_the_handmade_record_is_the_picklers_own(on: Start) -> None:
    first = on.first
    written = dumps(late({"w": tensor(storage("7777", 6), (2, 3))}))
    opcodes = [opcode.name for opcode, _, at in pickletools.genops(written) if at >= written.index(text("7777"))]
    mine = [opcode.name for opcode, _, _ in pickletools.genops(on.head + record(first) + b"s.")]
    length = mine[::-1].index("BINUNICODE")  # from the key to the end of the record
    theirs = [name.replace("LONG_BINGET", "BINGET") for name in opcodes][: length - 1]
    assert [name.replace("LONG_BINPUT", "BINPUT") for name in mine[-length - 1 : -2]] == [
        name.replace("LONG_BINPUT", "BINPUT") for name in theirs
    ]
    document, rows = check(on.head + record(first) + b"l.")
    assert (rows, document.fault) == (1, None)
    (call,) = document.root.items
    assert call.dotted == "torch._utils._rebuild_tensor_v2"
    assert call.arguments[1:5] == (0, (2, 3), (3, 1), False)
    assert call.arguments[0].pid[2:] == ("7", "cpu", 6)


# -------------------------------------------------------------------------------------------------------- what picklers write

SHARED = storage("shared", 6)
KEY = "9" * 3
NAMES = {
    "long": "x" * 299, "longer": "x" * 300, "longest": "x" * 301, "far": "x" * 5000, "empty": "", "accents": "poids.été", "snow": "☃" * 80,
    "astral": "\U0001f600", "lone": "a\udc80b", "newline": "a\nb", "nul": "\0", "opcodes": "h\0((h\1h\2", "digits": "12",
}  # fmt: skip
RECORD_TEXT = record(900).decode("latin-1")
ODD_TENSORS: dict[str, Callable[[], Any]] = {
    "0-dim": lambda: {"a": tensor(storage("0", 1), ()), "b": tensor(storage("1", 1), ())},
    "1-dim": lambda: {"a": tensor(storage("0", 5), (5,)), "b": tensor(storage("1", 5), (5,), (1,), 2)},
    "3-dim": lambda: {"a": tensor(storage("0", 6), (1, 2, 3))},
    "4-dim": lambda: {"a": tensor(storage("0", 6), (1, 1, 2, 3))},
    "5-dim": lambda: {"a": tensor(storage("0", 6), (1, 1, 1, 2, 3)), "b": tensor(storage("0", 6), (1,) * 5)},
    "64-dim": lambda: {"a": tensor(storage("0", 1), (1,) * 64)},
    "200-dim": lambda: {"a": tensor(storage("0", 1), (1,) * 200), "b": tensor(storage("1", 1), (1,))},
    "sizes shared with strides": lambda: (lambda t: {k: Made(REBUILD_V2, (storage(k, 9), 0, t, t, False, OrderedDict())) for k in "abc"})((1, 1)),
    "shared key": lambda: {"a": tensor(storage(KEY, 6), (2, 3)), "b": tensor(storage(KEY, 6), (3, 2)), "c": tensor(storage(KEY, 6), (6,))},
    "shared pid": lambda: {"a": tensor(SHARED, (2, 3)), "b": tensor(SHARED, (3, 2))},
    "key of letters": lambda: {"a": tensor(storage("k", 6), (2, 3)), "b": tensor(storage("0", 6), (2, 3))},
    "key of digits beyond ascii": lambda: {"a": tensor(storage("٣", 6), (2, 3)), "b": tensor(storage("0", 6), (2, 3))},
    "long key": lambda: {"a": tensor(storage("94070414282080", 6), (2, 3))},
    "key of 255 digits": lambda: {"a": tensor(storage("9" * 255, 6), (2, 3)), "b": tensor(storage("9" * 256, 6), (2, 3))},
    "empty key": lambda: {"a": tensor(storage("", 6), (2, 3))},
    "many kinds": lambda: {k: tensor(storage(str(i), 6, k), (2, 3)) for i, k in enumerate(KINDS)} | state(5),
    "devices": lambda: {str(i): tensor(storage(str(i), 6, location=d), (2, 3)) for i, d in enumerate(["cpu", "cuda:0", "cpu", "mps"] * 2)},
    "metadata": lambda: {"a": tensor(storage("0", 6), (2, 3), None, 0, False, {"conj": True}), "b": tensor(storage("1", 6), (2, 3))},
    "grad": lambda: {"a": tensor(storage("0", 6), (2, 3), None, 0, True), "b": tensor(storage("1", 6), (2, 3), None, 0, None)},
    "hooks": lambda: {"a": Made(REBUILD_V2, (storage("0", 6), 0, (6,), (1,), False, OrderedDict(x=1))), "b": tensor(SHARED, (2, 3))},
    "v1": lambda: {"a": Made(REBUILD_V1, (storage("0", 6), 0, (6,), (1,))), "b": tensor(SHARED, (2, 3))},
    "list sizes": lambda: {"a": tensor(storage("0", 6), [2, 3], [3, 1])},
    "lists of tensors": lambda: [list(state(5).values()), tuple(state(3).values()), [tensor(SHARED, (6,))]],
    "int keys": lambda: {i: t for i, t in enumerate(state(20).values())},
    "tuple keys": lambda: {(i, "x"): t for i, t in enumerate(state(20).values())},
    "mixed with plain values": lambda: {k: v for i in range(50) for k, v in ((f"w{i}", state(1)["layer.0.weight"]), (f"n{i}", i))},
    "text values": lambda: {k: v for i in range(50) for k, v in ((f"w{i}", tensor(storage(str(i), 6), (6,))), (f"n{i}", f"text {i}"))},
    "pairs of texts": lambda: [x for i in range(50) for x in (f"name {i}", tensor(storage(str(i), 6), (6,)), f"text {i}", f"more {i}")],
    "parameters": lambda: {
        k: Made(Name("torch._utils", "_rebuild_parameter"), (v, True, OrderedDict())) for k, v in state(8).items()
    },
    "subclasses": lambda: {
        k: Made(Name("torch._tensor", "_rebuild_from_type_v2"), (REBUILD_V2, Name("torch", "Tensor"), v.args, {"x": 1}))
        for k, v in state(4).items()
    },
    "BUILD on a row": lambda: {"a": Made(REBUILD_V2, state(1)["layer.0.weight"].args, {"note": SHARED}), **state(2)},
    "SETITEM on a row": lambda: {"a": Made(REBUILD_V2, state(1)["layer.0.weight"].args, None, None, [("x", 1)]), **state(2)},
    "APPENDS on a row": lambda: {"a": Made(REBUILD_V2, state(1)["layer.0.weight"].args, None, [1, 2, 3]), **state(2)},
    "APPEND on a row": lambda: {"a": Made(REBUILD_V2, state(1)["layer.0.weight"].args, None, [1]), **state(2)},
    "a row that holds itself": lambda: (lambda t: (setattr(t, "state", {"me": t}), {"a": t})[1])(tensor(SHARED, (6,))),
    "names": lambda: {name: tensor(storage(str(i), 6), (2, 3)) for i, name in enumerate(NAMES.values())},
    "a name that is a record": lambda: {RECORD_TEXT: tensor(storage("0", 6), (2, 3)), "b": tensor(storage("1", 6), (2, 3))},
    "a value that is a record": lambda: {"t": RECORD_TEXT, "a": tensor(storage("0", 6), (2, 3))},
    "a name with a record behind a put": lambda: {"w" + put(900).decode("latin-1") + RECORD_TEXT: tensor(SHARED, (2, 3)), **state(3)},
}  # fmt: skip


@pytest.mark.parametrize("protocol", [2, 3])
@pytest.mark.parametrize("make", ODD_TENSORS.values(), ids=ODD_TENSORS)
def test_what_a_pickler_writes(make: Callable[[], Any], protocol: int) -> None:
    data = dumps(late(make()), protocol)
    document, rows = check(data)
    assert document.fault is None
    assert rows >= 2  # the two tensors behind the first of late()'s, at least
    for cut in range(1, 60, 2 if protocol == 2 else 9):  # within the last record
        check(data[:-cut])


@pytest.mark.parametrize("protocol", [0, 1, 4, 5])
def test_other_protocols_have_no_such_rows_or_the_same_ones(protocol: int) -> None:
    document, _ = check(dumps(late(state(30)), protocol))
    assert document.fault is None


def test_ints_of_every_width() -> None:
    numbers = [0, 1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**40, -1, -(2**31)]
    tensors = {f"{i}": tensor(storage(str(i), n), (n, 1), (1, n), n) for i, n in enumerate(numbers)}
    document, rows = check(dumps(late(tensors)))
    assert document.fault is None
    assert rows >= 8  # all but 2**31, 2**40, which LONG1 writes, and late()'s first
    found = document.root.items[2].flat[1::2]
    assert [call.arguments[0].pid[4] for call in found] == numbers
    assert [call.arguments[1] for call in found] == numbers
    assert [call.arguments[2] for call in found] == [(n, 1) for n in numbers]
    assert [call.arguments[3] for call in found] == [(1, n) for n in numbers]


@pytest.mark.no_cover
def test_many_tensors_are_rows_beyond_65536_memo_entries() -> None:
    document, rows = check(dumps(state(9500)))
    assert rows > 9400
    assert document._machine.top > 65536
    names = document.root.flat[::2]
    assert names == [f"layer.{i}.weight" for i in range(9500)]
    assert [call.arguments[0].pid[2] for call in document.root.flat[1::2]] == [str(i) for i in range(9500)]


@pytest.mark.no_cover
def test_a_series_longer_than_one_addition_covers() -> None:
    """The memo indices of 8,192 entries are checked in one step; a wrong one in the second thousand of rows is still seen."""
    data = dumps([FILL, state(3000)])
    at = data.index(b"layer.2500.weight")
    bad = at + len("layer.2500.weight") + 1
    wrong = data[:bad] + struct.pack("<I", 7) + data[bad + 4 :]
    assert check(data)[1] > 2990
    document, rows = check(wrong)
    assert document.fault is None
    assert 0 < rows < 3000


# ---------------------------------------------------------------------------------------- what later opcodes ask of a row's entries

# memo entries of a record by their distance from its first: key, pid tuple, sizes, strides, hooks, arguments, result
ENTRIES = {"key": 0, "pid": 1, "size": 2, "stride": 3, "hooks": 4, "arguments": 5, "result": 6}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("opcode", ["BINGET", "LONG_BINGET", "GET"])
@pytest.mark.parametrize("name", [None, "w"])
def test_a_later_get_of_any_entry(on: Start, entry: str, opcode: str, name: str | None) -> None:
    first = on.first
    data = on.head + record(first)
    if name is not None:
        data += named(name, first + 7)
        first += 8
    index = first + ENTRIES[entry]
    back = {"BINGET": b"h" + bytes([index & 255]), "LONG_BINGET": get(index), "GET": b"g%d\n" % index}[opcode]
    document, rows = check(data + back + back + b"l.")
    assert (document.fault, rows) == (None, 1 if name is None else 2)
    if opcode != "BINGET":
        again = document.root.items[-1]
        assert again is document.root.items[-2]
        assert {"key": again == "7", "result": isinstance(again, Call), "hooks": isinstance(again, Call)}.get(entry, type(again) is tuple)


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_later_record_refers_to_an_entry(on: Start, entry: str) -> None:
    first = on.first
    index = first + ENTRIES[entry]
    back = get(index)
    for part in ("function", "tag", "kind", "location", "hooks", "key"):
        puts = range(first + 7, first + 15)
        check(on.head + record(first) + record(first + 7, **{part: back, "puts": puts}) + b"l.")
        check(on.head + record(first) + named("w", first + 7, **{part: back}) + b"l.")
        check(on.head + record(first) + named("v", first + 7) + named("w", first + 15, **{part: back}) + named("x", first + 23) + b"l.")


@pytest.mark.parametrize("index", [0, 2, 60, "+0", "+1", "+6", "+7", "+20", 255, 256, 1 << 31, (1 << 32) - 1])
@pytest.mark.parametrize("again", [b"r%s", b"q", b"p"])
def test_a_put_out_of_order_before_between_and_after(on: Start, index: int | str, again: bytes) -> None:
    first = on.first
    index = first + int(index) if isinstance(index, str) else index
    write = {b"r": b"r" + struct.pack("<I", index), b"q": b"q" + bytes([index & 255]), b"p": b"p%d\n" % index}[again[:1]]
    one, two, back = record(first), named("w", first + 7), get(index)
    check(on.head + b"N" + write + one + two + b"l.")
    check(on.head + one + b"N" + write + two + back + b"l.")
    check(on.head + one + two + b"N" + write + back + b"l.")
    check(on.head + one + b"N" + write + two + two + named("v", first + 30) + back + b"l.")


@pytest.mark.parametrize("place", range(8))
@pytest.mark.parametrize("index", [0, 3, "-1", "+0", "+3", "+6", "+7", "+8", 255, 256, 1 << 20, (1 << 32) - 1])
def test_a_put_inside_a_record_goes_elsewhere(on: Start, place: int, index: int | str) -> None:
    """Overwriting an older entry, skipping, repeating, running backwards: in the first record, in the second, with and without a name."""
    first = on.first
    index = first + int(index) if isinstance(index, str) else index
    puts = [first, first + 1, first + 2, first + 3, first + 4, first + 5, first + 6, first + 7]
    puts[place % 7] = index
    gets = b"".join(get(i) for i in {index, first, first + 6})
    check(on.head + record(first, puts=puts) + gets + b"l.")
    check(on.head + record(first, puts=puts) + named("w", first + 7) + named("v", first + 15) + gets + b"l.")
    shifted = [i + 8 if i != index else i for i in puts]
    check(on.head + record(first) + named("w", first + 7, puts=shifted) + named("v", first + 15) + gets + b"l.")
    check(on.head + record(first) + text("w") + put(index) + record(first + 8) + gets + b"l.")


CHANGES: dict[str, bytes] = {
    "function": b"h\1", "tag": b"h\0", "kind": b"j\3\0\0\0", "location": b"h\0", "hooks": b"h\3", "count": b"J\xff\xff\xff\xff",
    "offset": b"J\0\0\0\x80", "grad": b"\x88",
}  # fmt: skip
SIZES = [
    b")", b"K\1\x85", b"K\1K\2K\3\x87", b"(K\1K\2K\3K\4t", b"(t", b"(K\1t", b"(K\1K\2t", b"M\1\2J\1\2\3\4\x86", b"K\1\x86", b"K\1K\2\x85", b"K\1K\2\x87",
    b"K\1K\2K\3\x86", b"(K\1K\2\x86", b"K\1K\2t", b"(" + b"K\1" * 64 + b"t", b"(" + b"K\1" * 65 + b"t", b"(" + b"M((" * 70 + b"t", b"J\xff\xff\xff\xff\x85",
    b"K\x85\x85", b"K(K)\x86", b"Mh\0K(\x86",
]  # fmt: skip
KEYS = [
    b"X\1\0\0\0009", b"X\2\0\0\0009", b"X\0\0\0\0009", b"X\3\0\0\000123", b"X\2\0\0\000123", b"X\4\0\0\000123", b"X\1\0\0\0a", b"X\1\1\0\0009",
    b"X\x20\0\0\000" + b"1" * 32, b"X\x72\0\0\000" + b"1" * 0x72, b"X\x0a\0\0\000" + b"1" * 10, b"h\x40", b"j\x40\0\0\0", b"h\xff", b"j\xff\xff\xff\xff", b"h\1", b"h\0",
    b"U\x019", b"\x8c\x019", b"X\1\0\0\0\xff", b"X\2\0\0\0\xc3\xa9",
]  # fmt: skip


@pytest.mark.parametrize("piece", ["size", "stride"])
@pytest.mark.parametrize("size", SIZES)
def test_sizes_and_strides_of_every_form(on: Start, piece: str, size: bytes) -> None:
    first = on.first
    for ending in (b"l.", b"."):
        check(on.head + record(first, **{piece: size}) + ending)
        check(on.head + record(first) + named("w", first + 7, **{piece: size}) + named("v", first + 15) + ending)


def test_an_empty_tuple_may_be_memoised_too(on: Start) -> None:
    first = on.first
    one = record(first, size=b")", stride=b")")
    at = one.index(b"))")
    double = one[: at + 1] + put(first + 2) + one[at + 1 :]
    check(on.head + double + b"l.")
    check(on.head + record(first) + double + get(first + 2) + b"l.")


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_form(on: Start, key: bytes) -> None:
    first = on.first
    check(on.head + record(first, key=key) + b"l.")
    check(on.head + record(first) + named("w", first + 7, key=key) + named("v", first + 15) + b"l.")
    check(on.head + record(first) + named("w", first + 7, key=key) + named("v", first + 14) + b"l.")


@pytest.mark.parametrize("piece", CHANGES)
def test_other_names_and_numbers(on: Start, piece: str) -> None:
    first = on.first
    change = {piece: CHANGES[piece]}
    check(on.head + record(first, **change) + b"l.")
    check(on.head + record(first) + named("w", first + 7, **change) + named("v", first + 15) + b"l.")


@pytest.mark.parametrize("piece", ["function", "tag", "kind", "location", "hooks", "key"])
@pytest.mark.parametrize("index", [299, 300, 306, 307, 311, 400, (1 << 32) - 1])
def test_a_missing_entry_is_missed_by_both(on: Start, piece: str, index: int) -> None:
    first = on.first
    back = get(index)
    check(on.head + record(first, **{piece: back}) + b"l.")
    check(on.head + record(first) + named("w", first + 7, **{piece: back}) + b"l.")


@pytest.mark.parametrize(
    "name",
    [b"", b"\xff", b"a\xffb", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"r", b"r\0\0\0\0", b"X\1\0\0\0w", b"w" * 300, b"w" * 301],
)
@pytest.mark.parametrize("lie", [0, 1, -1, 5, 1000])
def test_texts_that_lie_and_texts_that_are_none(on: Start, name: bytes, lie: int) -> None:
    first = on.first
    said = b"X" + struct.pack("<I", max(len(name) + lie, 0)) + name
    check(on.head + record(first) + said + put(first + 7) + record(first + 8) + b"l.")
    check(on.head + record(first) + named("v", first + 7) + said + put(first + 15) + record(first + 16) + named("x", first + 23) + b"l.")


def test_a_text_that_holds_whole_records(on: Start) -> None:
    """The pattern finds records inside a text; only the length says that they are none."""
    first = on.first
    inner = b"a" + put(first + 8) + record(first + 9)
    check(on.head + record(first) + text(inner) + put(first + 7) + record(first + 8) + b"l.")
    check(on.head + record(first) + text(inner) + named("v", first + 7) + b"l.")
    check(on.head + record(first) + (text(inner) + named("v", first + 7)) * 3 + b"l.")


@pytest.mark.parametrize(
    "opcode",
    [b"0", b"1", b"2", b"a", b"e", b"s", b"u", b"b", b"R", b"\x81", b"\x85", b"\x86", b"t", b"l", b"d", b"Q", b"\x93", b"\x94", b"\x98"],
)
def test_any_opcode_may_meet_a_row(on: Start, opcode: bytes) -> None:
    first = on.first
    row, two = record(first), named("w", first + 7)
    for ahead in (b"", b"N", b"]", b"}", b"(", b"N(", b"](", b"}(", b"cx\ny\n", b"cx\ny\n("):
        check(on.head + ahead + row + opcode + b".")
        check(on.head + ahead + row + two + opcode + b"l.")
        check(on.head + ahead + row + opcode + two + opcode + b"l.")
    for behind in (b"N", b"NN", b"(NN", b"}", b"K\1K\2\x86", b")"):
        check(on.head + row + behind + opcode + b"l.")
        check(on.head + row + two + behind + opcode + behind + opcode + b"l.")
        check(on.head + row + b"2" + behind + opcode + get(first + 6) + b"l.")


def test_memoize_counts_the_entries_that_rows_stand_for(on: Start) -> None:
    first = on.first
    document, rows = check(on.head + record(first) + b"N\x94" + record(first + 8) + b"K\7\x94" + get(first + 15) + b"l.")
    assert (document.fault, rows) == (None, 2)
    assert document.root.items[-1] == 7


def test_memoize_after_a_gap_in_the_indices(on: Start) -> None:
    check(on.head + b"N" + put(1000) + record(1001) + b"K\7\x94j\0\4\0\0l.")
    check(on.head + b"N" + put(1000) + record(1001) + b"K\7\x94" + record(1008) + b"l.")


def test_the_last_index_of_all(on: Start) -> None:
    top = (1 << 32) - 1
    for start in range(top - 16, top + 1):
        check(on.head + b"N" + put(start) + record(start + 1) + named("w", start + 8) + b"l.")


@pytest.mark.parametrize("top", range(225, 262))
def test_where_short_memo_indices_end(top: int) -> None:
    """Rows just below, across and above the 256th entry; the one that crosses is the machine's, those behind it are rows again."""
    series = b"".join(named(f"w{i}", top + 8 + 8 * i) for i in range(8))
    document, rows = check(SHORT.head + b"N" + put(top) + b"0" + record(top + 1) + series + b"l.")
    assert document.fault is None
    assert rows >= 7
    check(SHORT.head + b"N" + put(top) + b"0" + record(top + 1).replace(put(top + 3), b"r" + struct.pack("<I", top + 3)) + series + b"l.")
    check(SHORT.head + b"N" + put(top) + b"0" + record(top + 1) + series.replace(b"K\6t", b"K\6tN0", 1) + get(top + 4) + b"l.")


@pytest.mark.parametrize("ahead", range(20))
def test_a_state_dict_is_rows_wherever_it_starts(ahead: int) -> None:
    document, rows = check(dumps([[f"text {i}" for i in range(ahead)], state(80)]))
    assert document.fault is None
    assert rows >= 77  # the first names what the others refer to, one may cross the 256th entry


@pytest.mark.parametrize("marks", range(1, 8))
def test_the_limit_of_open_marks_is_the_same(on: Start, marks: int) -> None:
    first = on.first
    check(on.head + record(first, size=b"(K\1K\1K\1K\1t") + b"l.", Limits(marks=marks))
    check(on.head + b"((" + record(first) + named("w", first + 7) + b"tll.", Limits(marks=marks))


@pytest.mark.parametrize("on", QUICK, ids=["short", "long"])
@pytest.mark.parametrize(
    "change", [{}, *({"size": size} for size in SIZES), *({"stride": size} for size in SIZES), *({"key": key} for key in KEYS)]
)
def test_the_limit_of_opcodes_is_the_same(on: Start, change: dict[str, bytes]) -> None:
    """A row is as many opcodes as it is made of, whatever the form of its sizes, key and GETs; the limit ends both at the same one."""
    first = on.first
    data = on.head + record(first, **change) + named("w", first + 7, **change) + named("v", first + 15) + b"l."
    count = sum(1 for _ in pickletools.genops(data)) if decode(data).fault is None else 150
    for limit in range(max(count - 80, 1), count + 2):
        check(data, Limits(opcodes=limit))


def test_rows_count_as_the_opcodes_they_are_made_of() -> None:
    data = dumps(state(3000, (2, 70_000)))
    count = sum(1 for _ in pickletools.genops(data))
    found, rows = check(data, Limits(opcodes=count))
    assert found.fault is None
    assert rows >= 2990
    short, _ = check(data, Limits(opcodes=count - 1))
    assert isinstance(short.fault, LimitError)


@pytest.mark.no_cover
def test_more_rows_than_a_slice_of_opcodes() -> None:
    data = dumps(state(60_000))
    count = sum(1 for _ in pickletools.genops(data))
    assert count > 3 << 19
    assert decode(data, limits=Limits(opcodes=count)).fault is None
    assert decode(data, limits=Limits(opcodes=count - 1)).fault is not None


def test_opcodes_first_met_inside_a_row_are_noted_where_they_stand(on: Start) -> None:
    """The first of a kind in the last of many rows."""
    first = on.first
    for change in (
        {"size": b"(J\0\0\1\0M\0\1t"},
        {"count": b"J\0\0\1\0"},
        {"grad": b"\x88"},
        {"stride": b"K\1K\2K\3\x87"},
        {"tag": b"j\1\0\0\0"},
    ):
        found, rows_taken = check(on.head + record(first) + tail(first + 7, change) + b"l.")
        assert rows_taken == 7
        assert found.fault is None


def test_a_second_pickle_in_the_same_bytes() -> None:
    data = dumps(late(state(10)))
    for start in (1, 57):
        document, rows = check(b"\0" * start + data, start=start)
        assert document.fault is None
        assert rows > 8


# ------------------------------------------------------------------------------------------------------------------ any bytes at all

SEEDS = [dumps(late(make())) for name, make in ODD_TENSORS.items() if name not in ("names", "200-dim", "key of 255 digits")] + [
    on.head + record(on.first) + named("w", on.first + 7) + named("v", on.first + 15, key=b"h\x30") + b"l." for on in (SHORT, LONG)
]
TAIL = 900  # bytes at the end that are changed: the first entries are there to fill the memo
PIECES = [
    b"(", b")", b"t", b"Q", b"R", b"r", b"h\0", b"j\0\0\0\0", b"h\3", b"K\0", b"M\0\1", b"J\0\0\0\0", b"X\1\0\0\0009", b"\x85", b"\x86", b"\x87", b"\x88", b"\x89", b"0", b"2",
    b"N", b"\x94", b"q\0", b"r\0\0\0\0", b"r\x2e\1\0\0", b"r\xff\xff\xff\xff", b".", b"((", b"}", b"]", b"s", b"a", b"u", b"e", b"b", b"l", b"d",
]  # fmt: skip


@st.composite
def changed(draw: st.DrawFn) -> bytes:
    data = bytearray(draw(st.sampled_from(SEEDS)))
    low = max(0, len(data) - TAIL)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(low, len(data)))
        how = draw(st.integers(0, 5))
        if how == 0 and at < len(data):
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif how == 1 and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif how == 2:
            data[at:at] = draw(st.sampled_from(PIECES))
        elif how == 3:
            del data[at : at + draw(st.integers(1, 40))]
        elif how == 4:
            piece = draw(st.sampled_from(PIECES))
            data[at : at + len(piece)] = piece
        else:
            start = draw(st.integers(low, len(data)))
            data[at:at] = data[start : start + draw(st.integers(1, 160))]
    return bytes(data)


@pytest.mark.no_cover
@settings(max_examples=800, deadline=None)
@given(changed())
def test_any_change_to_a_pickle_with_rows(data: bytes) -> None:
    check(data)


@pytest.mark.no_cover
@pytest.mark.parametrize("on", QUICK, ids=["short", "long"])
def test_every_single_byte_flipped_in_three_records(on: Start) -> None:
    data = on.head + record(on.first) + named("w", on.first + 7) + named("v", on.first + 15) + b"l."
    for at in range(len(on.head), len(data)):
        for value in {0, data[at] ^ 1, data[at] ^ 0x80, *b"(tQRqrhjKJX)"}:
            check(data[:at] + bytes([value]) + data[at + 1 :])


@pytest.mark.no_cover
@pytest.mark.parametrize("on", QUICK, ids=["short", "long"])
def test_random_programs_of_record_pieces(on: Start) -> None:
    rng = random.Random(5)
    words = [*PIECES, text("w"), text("7"), b"h\1", b"h\2", b"h\4", *[put(on.first + i) for i in range(9)]]
    whole_ones = [record(on.first), named("w", on.first + 7), named("v", on.first + 15), named("u", on.first)]
    for _ in range(2000):
        program = b"".join(rng.choice(whole_ones) if rng.random() < 0.4 else rng.choice(words) for _ in range(rng.randrange(1, 9)))
        check(on.head + program + b".")


# ---------------------------------------------------------------------------------------------------------------- bounded work


def scans(data: bytes) -> int:
    """How often the pattern for a name and its record is held against ``data`` while it is read."""
    from inert.pickle import row

    count = 0

    class Counting:
        def __init__(self, pattern: Any) -> None:
            self.pattern = pattern

        def scanner(self, *args: Any) -> Any:
            inner = self.pattern.scanner(*args)

            class Scanner:
                def match(self) -> Any:
                    nonlocal count
                    count += 1
                    return inner.match()

            return Scanner()

    real = row.patterns
    row.patterns = lambda short: (real(short)[0], Counting(real(short)[1]))  # type: ignore[assignment]
    try:
        decode(data)
    finally:
        row.patterns = real
    return count


def test_records_between_texts_are_not_scanned_again_and_again() -> None:
    """A text value between two tensors looks to the pattern like a name that is too long; what follows must not be matched each time."""
    mixed = [
        {k: v for i in range(n) for k, v in ((f"w{i}", tensor(storage(str(i), 6), (6,))), (f"n{i}", f"text {i}"))} for n in (500, 2000)
    ]
    few, many = (scans(dumps([FILL, value])) for value in mixed)
    assert 0 < few < 20 * 500
    assert many < 20 * 2000


def test_hostile_texts_do_not_make_the_scan_quadratic() -> None:
    inner = b"a" + put(LONG.first + 8) + record(LONG.first + 9)
    bad_utf8 = [
        LONG.head + record(LONG.first) + b"".join(named(f"w{i}", LONG.first + 7 + 8 * i) for i in range(n)) + named(b"\xff", 0) + b"l."
        for n in (300, 900)
    ]
    nested = [
        LONG.head + record(LONG.first) + b"".join(text(inner) + named("v", LONG.first + 7 + 8 * i) for i in range(n)) + b"l."
        for n in (300, 900)
    ]
    for few, many in (bad_utf8, nested):
        assert scans(many) < 20 * 900
        assert scans(few) < 20 * 300
