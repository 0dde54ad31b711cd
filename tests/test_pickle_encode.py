"""The encoder writes what the pickler would have written: CPython's for what is new, a document's own for what it held.

Expectations are the bytes that CPython's own picklers write, or the bytes of committed files that real programs wrote. Law: for every pickle
that decodes, ``encode`` gives a pickle with an equal graph, and encoding that one again gives the same bytes.
"""

from __future__ import annotations

import io
import os
import pickle
import struct
from collections import OrderedDict
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.errors import LimitError, UnsupportedError
from inert.pickle.decode import Document, decode
from inert.pickle.encode import Encoder, encode
from inert.pickle.nodes import Call, Dict, Global, List, Reference
from inert.pickle.roundtrip import lost, style_of
from inert.pickle.row import Row
from inert.pickle.style import CPICKLE, TORCH, C, fresh
from inert.torch.storing import Storing
from inert.torch.unbuild import Unbuilder
from tests.graphs import difference
from tests.makers import Made, Name, Pid, dumps, storage, tensor, text
from tests.source_tree import REPOSITORY
from tests.test_pickle_machine import graphs
from tests.test_pickle_rows import changed

HERE = Path(__file__).parent / "corpus"
SHARED = REPOSITORY.parent / "shared" / "corpus"
PROTOCOLS = [2, 3, 4, 5]
DEEP = 12_000


def ours(value: Any, protocol: int) -> bytes:
    return Encoder(fresh(protocol), None, Unbuilder(protocol, Storing(), {})).encode(value)


def sound(data: bytes) -> Document:
    document = decode(bytes(data), "p")
    assert document.fault is None, document.fault
    return document


def again(document: Document) -> tuple[bytes, bool]:
    """A document written again, after a look at the law. And whether it has come out as it was."""
    style, same = style_of(document)
    made = encode(document.root, style, document)
    assert same == (made == document.data[document._machine.start : document.end])
    second = sound(made)
    assert difference([(document.root, second.root)], places=False) == ""
    assert encode(second.root, style, second) == made
    return made, same


# ------------------------------------------------------------------------------------------------------ new values: CPython's bytes

TEXT = "x" * 70_000
ALL = bool(os.environ.get("INERT_ALL"))  # also what takes long and hardly shows more
SHARED_LIST = [1, 2]
VALUES: dict[str, Any] = {
    "none": None, "numbers": [0, 1, 255, 256, 65535, 65536, 2**31 - 1, 2**31, -1, -(2**31), -(2**31) - 1, 2**63, -(2**63), 2**2040, 2**2100],
    "floats": [0.0, -0.0, 1.5, float("inf"), float("-inf"), 5e-324], "constants": [True, False, None, (), [], {}, ""],
    "letters": ["a", "b", "a", {"a": "b"}, "é", "€"], "texts": ["ab", "ab" * 200, "\ud800", "\0\n"], "bytes": [b"", b"a", b"abc" * 100, b"\xff\0"],
    "bytearrays": [bytearray(), bytearray(b"x" * 300)], "tuples": [(1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), ((),), ((1,), (1,))],
    "sets": [set(), {1}, frozenset(), frozenset({"a"}), set(range(1000)), set(range(1001))], "shared": [SHARED_LIST, SHARED_LIST, (SHARED_LIST,)],
    "ordered": OrderedDict(a=1, b=OrderedDict()), "complex": [1j, complex(2, -3)], "slice and range": [slice(1, None, 2), range(5), range(1, 10, 3)],
    **{f"list of {n}": list(range(n)) for n in (1, 2, 999, 1000, 1001, 2000, 2001)},
    **{f"dict of {n}": {i: i for i in range(n)} for n in (1, 2, 999, 1000, 1001, 2000, 2001)},
    **{f"OrderedDict of {n}": OrderedDict((i, i) for i in range(n)) for n in (1, 999, 1000, 1001, 2000, 2001)},
    **{f"text of {n}": ["before", "y" * n, "after"] for n in (254, 255, 256, 65530, 65535, 65536, 65537)},
    **{f"bytes of {n}": ["before", b"y" * n, "after"] for n in (255, 256, 65530, 65535, 65536, 65537)},
    **{f"texts of {n} in all": ["y" * 1000 + str(i) for i in range(n)] for n in (63, 64, 65, 66, 200)},
    "large texts in turn": [TEXT, 1, TEXT + "x", {"k": TEXT + "y"}, b"z" * 70_000, bytearray(70_000)], "a large text alone": "q" * 100_000,
    "more than 256 memo entries": [(i, str(i)) for i in range(300)], "more than 65,536 memo entries": [[i] for i in range(66_000)],
}  # fmt: skip


@pytest.mark.no_cover
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", VALUES)
def test_new_values_are_written_as_cpython_does(name: str, protocol: int) -> None:
    if protocol < 4 and name == "slice and range":
        pytest.skip("protocols below 4 spell slice by way of its class")
    assert ours(VALUES[name], protocol) == pickle.dumps(VALUES[name], protocol)


@given(graphs(), st.sampled_from(PROTOCOLS))
@settings(max_examples=150, deadline=None)
def test_any_graph_is_written_as_cpython_does(value: Any, protocol: int) -> None:
    assert ours(value, protocol) == pickle.dumps(value, protocol)


def _in_python(value: Any, protocol: int) -> bytes:
    out = io.BytesIO()
    pickle._Pickler(out, protocol).dump(value)  # type: ignore[attr-defined]
    return out.getvalue()


@given(graphs(), st.sampled_from(PROTOCOLS))
@settings(max_examples=150, deadline=None)
def test_any_graph_comes_out_as_it_was(value: Any, protocol: int) -> None:
    for data in (pickle.dumps(value, protocol), _in_python(value, protocol)):
        made, same = again(sound(data))
        assert same, pickle.dumps(value, protocol)
        assert made == data


# the longest one shows nothing more in every protocol
@pytest.mark.parametrize(
    ("name", "protocol"), [(name, one) for name in VALUES for one in PROTOCOLS if (one == 4 and ALL) or "65,536" not in name]
)
def test_old_values_come_out_as_they_were(name: str, protocol: int) -> None:
    for data in (pickle.dumps(VALUES[name], protocol), _in_python(VALUES[name], protocol)):
        assert again(sound(data)) == (data, True)


@pytest.mark.parametrize("protocol", [0, 1])
def test_protocols_0_and_1_become_2(protocol: int) -> None:
    value = {"a": [1, 2.5, None, True], "b": ("x", 2**40), "c": "é\n"}
    made, same = again(sound(pickle.dumps(value, protocol)))
    assert not same
    assert made[:2] == b"\x80\2"
    assert pickle.loads(made) == value


@given(graphs(), st.sampled_from([0, 1]))
@settings(max_examples=60, deadline=None)
def test_any_graph_of_the_old_protocols_keeps_its_meaning(value: Any, protocol: int) -> None:
    again(sound(pickle.dumps(value, protocol)))


OBJECTS: list[Any] = [
    Made(Name("gone", "C"), (1,), {"a": 1}), Made(Name("gone", "C"), (), None, [1, 2, 3]), Made(Name("gone", "C"), (), None, None, [("a", 1)]),
    Made(Name("gone", "C"), (1, 2), {"a": 1}, new=True), Made(Name("gone", "C"), (), None, [5], [("k", "v")], new=True),
    Pid(("storage", 1)), Pid("text"), Pid(5), [Pid(("storage", 1)), Pid(("storage", 1))], {f"w{i}": tensor(storage(str(i), 6), (2, 3)) for i in range(40)},
    [Made(Name("a", "b"), (Made(Name("c", "d"), ([],)),))] * 3, Name("os", "system"),
    Made(Name("gone", "C"), (), None, list(range(2500)), [(i, i) for i in range(2500)]),
]  # fmt: skip


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("number", range(len(OBJECTS)))
def test_calls_names_and_persistent_ids_come_out_as_they_were(number: int, protocol: int) -> None:
    data = dumps(OBJECTS[number], protocol)
    assert again(sound(data)) == (data, True)


def _holds_itself(protocol: int) -> bytes:
    inside: list[Any] = []
    made = Made(Name("gone", "C"), (inside,), {"s": 1})
    inside.append(made)
    return dumps(["before", made, made], protocol)


def test_a_call_that_holds_itself_keeps_its_identity() -> None:
    """``save_reduce`` makes such a call twice and drops the second, as CPython's issue 12687 has it."""
    data = _holds_itself(2)
    made, _ = again(sound(data))
    assert made.count(b"R0") == data.count(b"R0") == 1


# ------------------------------------------------------------------------------------------------------------------ hostile graphs

HOSTILE: dict[str, bytes] = {
    "a tuple in its own list": b"\x80\2]q\0h\0\x85q\1h\0h\1a0.",
    "a tuple in its own list, the list is the root": b"\x80\2]q\0h\0\x85q\1a.",
    "a call in its own argument": b"\x80\2cX\nY\n]q\0\x85Rq\1h\0h\1a0.",
    "a call that is its own state": b"\x80\2cX\nY\n)Rq\0h\0b.",
    "a call that is its own state, with marks": b"\x80\2cX\nY\n(tRq\0}(X\1\0\0\0ah\0ub.",
    "a persistent id that holds what it stands for": b"\x80\2]q\0h\0\x85Qq\1h\0h\1a0.",
    "one persistent object twice": b"\x80\2X\1\0\0\0aQq\0h\0h\0\x87.",
    "one persistent object by DUP": b"\x80\2X\1\0\0\0aQ2\x86.",
    "one list by DUP": b"\x80\2]2\x86.",
    "a large number by DUP": b"\x80\2" + b"(\x8a\x14" + b"\7" * 20 + b"2" * 500 + b"t.",
    "a large number from the memo": b"\x80\2" + b"(\x8a\x14" + b"\7" * 20 + b"q\0" + b"h\0" * 500 + b"t.",
    "a call on a persistent id": b"\x80\2X\1\0\0\0aQ)R.",
    "a call on a number": b"\x80\2K\1)R.",
    "a call without a tuple": b"\x80\2cX\nY\nK\1R.",
    "extension codes": b"\x80\2\x82\1\x83\1\1\x84\1\0\1\0\x87.",
    "instances": b"(ios\nsystem\n(cos\nsystem\nK\1o\x86.",
    "an instance with arguments": b"(K\1X\1\0\0\0aios\nsystem\nq\0h\0\x86.",
    "a protocol that does not exist": b"\x80\7]q\0K\1a.",
    "no protocol": b"]q\5K\1a.",
    "bytes in protocol 2": b"\x80\2C\3abc.",
    "a set in protocol 2": b"\x80\2\x8f(K\1K\2\x90.",
    "buffers": b"\x80\5\x97\x98q\0h\0\x97\x87.",
    "a wide memo": b"\x80\2]r\xff\xff\xff\xffj\xff\xff\xff\xff\x86.",
    "a memo entry written twice": b"\x80\2K\1q\0]q\0h\0\x86.",
    "dropped calls": b"\x80\2cos\nsystem\nX\1\0\0\0a\x85R0N.",
    "BUILD on a name": b"\x80\2cos\nsystem\n}b.",
    "APPENDS on a persistent id": b"\x80\2X\1\0\0\0aQ(K\1e.",
    "APPENDS of nothing": b"\x80\2cX\nY\n)R(e.",
    "one list in many": b"\x80\2(]q\0" + b"h\0\x85" * 300 + b"t.",
    "numbers of every spelling": b"(I5\nI01\nL5L\nL99999999999999999999L\nM\5\0J\5\0\0\0\x8a\1\5\x8b\1\0\0\0\5\x8a\0t.",
    "empty tuples of every spelling": b"\x80\2()q\0(tq\1(th\0h\1)t.",
    "marked tuples": b"\x80\2((K\1t(K\1K\2tq\0h\0t.",
    "a frozen set in its own list": b"\x80\4]\x94(h\0\x91\x94h\0h\1a0.",
    "Python 2 texts": b"\x80\2}q\1(U\1aq\2X\1\0\0\0bU\1aq\3h\2T\3\0\0\0abcK\1u.",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_graphs(name: str) -> None:
    document = sound(HOSTILE[name])
    again(document)
    for style in (C, TORCH, CPICKLE):
        try:
            made = encode(document.root, style._replace(protocol=style_of(document)[0].protocol), document)
        except UnsupportedError:
            continue
        assert difference([(document.root, sound(made).root)], places=False) == "", style.name


LOST = {
    b"\x80\2cos\nsystem\nX\1\0\0\0a\x85R0N.": ["os.system", "os.system"],
    b"\x80\2cos\nsystem\n}b.": ["os.system"],
    b"\x80\2X\1\0\0\0aQ0N.": ["Reference"],
    b"\x80\2cX\nY\n)Rq\0cset\nter\nh\0K\1\x86R0.": [],
    b"\x80\2cX\nY\n)R.": [],
    dumps({f"w{i}": tensor(storage(str(i), 6), (2, 3)) for i in range(30)}): [],
}


def test_what_an_encoding_would_lose_is_told() -> None:
    for data, names in LOST.items():
        found = lost(sound(data))
        assert [getattr(node, "dotted", type(node).__name__) for node in found] == names
        assert not (found and style_of(sound(data))[1])
    rows = dumps([[str(i) for i in range(300)], {f"w{i}": tensor(storage(str(i), 6), (2, 3)) for i in range(30)}])
    document = sound(rows[:-1] + b"0N.")
    assert any(type(node) is Row for node in document.rows)
    assert len(lost(document)) == len(document.rows)


def test_setters_called_for_their_effect_are_kept() -> None:
    data = b"\x80\2cX\nY\nq\0)Rq\1cset\nter\nq\2h\1K\1\x86R0."
    made, _ = again(sound(data))
    assert made.count(b"R0") == 1


DEEPS = {
    "lists": b"\x80\2" + b"]" * DEEP + b"a" * (DEEP - 1) + b".",
    "tuples": b"\x80\2)" + b"\x85" * DEEP + b".",
    "dicts": b"\x80\2" + b"}K\1" * DEEP + b"N" + b"s" * DEEP + b".",
    "calls": b"\x80\2cX\nY\nq\0" + b"h\0" * DEEP + b")" + b"R\x85" * DEEP + b"R.",
    "persistent ids": b"\x80\2N" + b"Q" * DEEP + b".",
    "states": b"\x80\2cX\nY\nq\0)R" + b"h\0)R" * DEEP + b"b" * DEEP + b".",
    "many states": b"\x80\2cX\nY\n)R" + b"Nb" * DEEP + b".",
    "marked tuples": b"\x80\2" + b"(" * DEEP + b"t" * DEEP + b".",
    "numbers by DUP": b"\x80\2(\x8b\0\x80\0\0" + b"\7" * 32768 + b"2" * DEEP + b"t.",
    "texts by DUP": b"\x80\2(" + text("y" * 100_000) + b"2" * DEEP + b"t.",
    "persistent ids by DUP": b"\x80\2(" + text("y" * 100_000) + b"Q" + b"2" * DEEP + b"t.",
    "Python 2 texts by DUP": b"\x80\2(T\0\x80\0\0" + b"y" * 32768 + b"2" * DEEP + b"t.",
    "names by DUP": b"\x80\2(c" + b"y" * 4000 + b"\nz\n" + b"2" * DEEP + b"t.",
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", DEEPS)
def test_deep_and_wide_graphs_cost_what_their_bytes_do(name: str) -> None:
    document = sound(DEEPS[name])
    start = process_time()
    style, _ = style_of(document)
    made = encode(document.root, style, document)
    assert process_time() - start < 8
    assert len(made) < 12 * len(document.data) + 1000
    for other in (CPICKLE, TORCH):
        made = encode(document.root, other, document)
        assert len(made) < 12 * len(document.data) + 1000
    assert encode(sound(made).root, C, sound(made))


def test_a_tuple_through_many_lists_of_its_own_is_bounded() -> None:
    """CPython's way to write it takes the square of their number."""
    count = 20_000
    data = bytearray(b"\x80\2(")
    for index in range(count):
        data += b"]r" + struct.pack("<I", index)
    data += b"tr" + struct.pack("<I", count) + b"0"
    for index in range(count):
        data += b"j" + struct.pack("<I", index) + b"j" + struct.pack("<I", count) + b"a0"
    document = sound(bytes(data) + b"j" + struct.pack("<I", count) + b".")
    with pytest.raises(LimitError, match="hold themselves"):
        encode(document.root, C, document)


def test_what_no_pickle_holds_is_refused() -> None:
    for protocol in PROTOCOLS:
        with pytest.raises(UnsupportedError):
            ours(Name("a", "b"), protocol)
    with pytest.raises(UnsupportedError, match="cannot hold"):
        encode(object(), fresh())
    with pytest.raises(UnsupportedError, match="line feed"):
        encode(Global("a\nb", "c", 0, "STACK_GLOBAL"), fresh(2))
    with pytest.raises(UnsupportedError, match="leaves nothing"):
        encode(Call(Global("a", "b", 0), (), 0, "BUILD"), fresh(2))
    loop: list[Any] = []
    node = List(loop, 0)
    loop.append(node)
    with pytest.raises(UnsupportedError, match="holds itself"):
        encode(node, TORCH)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nodes_of_a_later_protocol_are_spelled_in_an_earlier_one(protocol: int) -> None:
    value = [b"", b"abc", bytearray(b"x"), bytearray(), {1}, frozenset({2}), "y"]
    document = sound(pickle.dumps(value, 5))
    made = encode(document.root, fresh(protocol), document)
    assert made[1] == protocol
    assert pickle.loads(made) == value


def test_values_made_while_writing_are_never_taken_for_one_another() -> None:
    """Ids of objects that are gone are given to new ones: what was memoised must stay alive."""
    document = sound(dumps([Pid(("storage", str(i))) for i in range(3000)]))

    def refer(node: Reference) -> Reference:
        return Reference((*node.pid, node.pid[1] + "new"), 0)

    made = sound(Encoder(C, document, refer=refer).encode(document.root))
    assert [node.pid for node in made.root.items] == [("storage", str(i), f"{i}new") for i in range(3000)]


# ---------------------------------------------------------------------------------------------------------------------------- edits

FILL = [str(i) for i in range(300)]


def _state(count: int) -> Any:
    return {f"layer.{i}.weight": tensor(storage(str(i), 6), (2, 3)) for i in range(count)}


@pytest.mark.parametrize("fill", [[], FILL], ids=["short memo", "long memo"])
def test_rows_are_copied_or_written_step_by_step_to_the_same_effect(fill: list[str]) -> None:
    """A state dict without its first, a middle and its last tensor, and with them in reverse: what CPython's pickler writes of that."""
    state = _state(40)
    document = sound(dumps([fill, state]))
    table = document.root.items[1]
    pairs = list(table.pairs())
    names = list(state)
    for chosen in (range(1, 40), [*range(20), *range(21, 40)], range(39), range(39, -1, -1), [5], [], [0, 1, 3, 2, 4]):
        flat = [part for i in chosen for part in pairs[i]]
        made = Encoder(C, document, edits={id(table): flat}).encode(document.root)
        assert made == dumps([fill, {names[i]: state[names[i]] for i in chosen}]), chosen


@pytest.mark.no_cover
@given(changed())
@settings(max_examples=300, deadline=None)
def test_rows_among_odd_opcodes(data: bytes) -> None:
    document = decode(data, "p")
    if document.fault is None:
        again(document)


def test_rows_whose_memo_entries_are_written_over() -> None:
    data = dumps(_state(8))
    cut = data.index(b"layer.2.weight") - 5
    document = sound(data[:-2] + data[cut:-2] + b"u.")  # tensors 2 to 7 again, into the same memo entries
    assert any(type(node) is Row for node in document.rows)
    again(document)


def test_a_renamed_key_changes_its_own_bytes_alone() -> None:
    data = dumps([FILL, _state(40)])
    document = sound(data)
    table = document.root.items[1]
    flat = [*table.flat[:14], "layer.7.WEIGHT", *table.flat[15:]]
    made = Encoder(C, document, edits={id(table): flat}).encode(document.root)
    assert made == data.replace(b"layer.7.weight", b"layer.7.WEIGHT")


def test_edits_of_python_2_pickles_keep_the_spelling_of_numbers() -> None:
    data = b"\x80\2}q\1(U\1aq\2\x8a\1\5U\1bq\3K\5U\1cq\4\x8a\1\7u."
    document = sound(data)
    assert again(document) == (data, True)
    style, _ = style_of(document)
    table = document.root
    assert type(table) is Dict
    made = Encoder(style, document, edits={id(table): table.flat[2:]}).encode(table)
    assert made == b"\x80\2}q\1(U\1bq\2K\5U\1cq\3\x8a\1\7u."


# ----------------------------------------------------------------------------------------------------------------------------- files


def documents(path: Path) -> list[Document]:
    try:
        with inert.open(path) as found:
            return [document for document in found.pickles.values() if document.fault is None]
    except (inert.InertError, OSError):
        return []


FOLDERS = sorted({path.parent.name for path in HERE.rglob("*.p*")} - {"corpus"})
DEEP_FILES = (
    "deep_list",
    "deep_tuple",
    "deep_dict",
    "deep_calls",
    "deep_states",
    "deep_pids",
    "deep_key",
    "shared_sizes",
)  # their like is made above, less deep
# protocols 0 and 1; and Python 2's pickle.py, which counts arguments of old instances as memo entries without writing them
OTHERS = ("state", "numpy-p0", "numpy-p1", "cPickle-p0", "cPickle-p1", "pickle-p0", "pickle-p1", "pickle-p2")


def _law(path: Path) -> list[tuple[str, bool]]:
    found = []
    for document in documents(path):
        try:
            found.append((document.name, again(document)[1]))
        except UnsupportedError as error:
            assert "joblib" in str(error)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_committed_files_come_out_as_they_were(folder: str) -> None:
    for path in sorted(HERE.rglob(f"{folder}/*")):
        if (
            path.suffix in (".pt", ".pth", ".pkl", ".ckpt", ".bin", ".ptl", ".distcp", "")
            and path.is_file()
            and path.stem not in DEEP_FILES
            and (ALL or not path.stem.startswith("copies_"))  # whose bytes are copied a thousandfold
        ):
            for name, same in _law(path):
                assert same or folder in ("hostile", "broken", "crafted") or path.stem in OTHERS, (path, name)


REAL = [folder for folder in ("torch", "lightning", "thirdparty", "vector", "malicious", "broken") if (SHARED / folder).is_dir()]
AS_WRITTEN = ("torch", "lightning", "thirdparty", "vector")


@pytest.mark.no_cover
@pytest.mark.corpus
@pytest.mark.skipif(not REAL, reason="the shared corpus of real files does not lie beside the repository")
@pytest.mark.parametrize("folder", REAL)
def test_real_files_come_out_as_they_were(folder: str) -> None:
    most = 1 << 19 if folder == "broken" else 1 << 26  # bombs are for test_hostile.py
    paths = [path for path in sorted((SHARED / folder).rglob("*")) if path.is_file() and path.stat().st_size < most]
    step = 1 if ALL or len(paths) < 300 else 2  # INERT_ALL=1 takes every file
    found = [one for path in paths[::step] for one in _law(path)]
    assert found
    if folder in AS_WRITTEN:
        assert sum(same for _, same in found) >= 0.995 * len(found)
