"""report.plain: any value of a saved object becomes something that JSON holds, in bounded time and space."""

from __future__ import annotations

import datetime
import decimal
import fractions
import json
import math
import time
import uuid
from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import inert
from inert.layout import Layout
from inert.pickle.nodes import Buffer, Call, Dict, Global, List, Reference, Set
from inert.report import plain
from inert.report.listing import covered, extent, modules, totals
from inert.torch.objects import Device, Key, Object, Size
from tests.makers import Made, Name, dumps, storage, tensor, torch_zip


def dumped(value: Any, **limits: int) -> str:
    """JSON of a plain value; strict, so that NaN or an unknown type is an error."""
    return json.dumps(plain(value, **limits), allow_nan=False)


ROWS: list[tuple[Any, Any]] = [
    (None, None), (True, True), (3, 3), (-0.5, -0.5), ("a", "a"), ("\ud800é", "\\ud800é"),
    (math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity"), (1 + 2j, "1+2j"), (complex(0, math.inf), "infj"),
    (b"\x00\xff", {"hex": "00ff"}), (bytearray(b"a"), {"hex": "61"}), (b"", {"hex": ""}),
    ((1, (2, "x")), [1, [2, "x"]]), ({3}, [3]), (frozenset(), []), (deque([1, 2], 2), [1, 2]),
    ({"a": 1, 2: "b", None: [], (1, "x"): 0}, {"a": 1, "2": "b", "None": [], "(1, 'x')": 0}),
    ({1: "number", "1": "text", "1#2": "third"}, {"1": "number", "1#2": "text", "1#2#2": "third"}),
    ({"1": "a", "1#2": "b", 1: "c"}, {"1": "a", "1#2": "b", "1#3": "c"}),
    (OrderedDict(a=1), {"a": 1}), (defaultdict(list, b=[1]), {"b": [1]}), (Counter("aab"), {"a": 2, "b": 1}),
    (Namespace(lr=0.1), {"lr": 0.1}), (slice(1, None), "slice(1, None, None)"), (range(3), "range(0, 3)"),
    (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02T03:04:00"), (datetime.date(2020, 1, 2), "2020-01-02"),
    (datetime.time(1, 2), "01:02:00"), (datetime.timedelta(1), "1 day, 0:00:00"), (datetime.timezone.utc, "UTC"),
    (PurePosixPath("/a/b"), "/a/b"), (PureWindowsPath("C:/a"), "C:\\a"), (decimal.Decimal("1.10"), "1.10"),
    (fractions.Fraction(1, 3), "1/3"), (uuid.UUID(int=5), "00000000-0000-0000-0000-000000000005"),
    (Size((2, 3)), [2, 3]), (Device("cuda:1"), "cuda:1"), (Ellipsis, "Ellipsis"),
    (np.float32(0.5), 0.5), (np.float64("nan"), "NaN"), (np.int64(2**62), 2**62), (np.uint64(2**64 - 1), 2**64 - 1), (np.bool_(True), True),
    (np.complex64(1j), "1j"), (np.str_("x"), "x"), (np.bytes_(b"x"), {"hex": "78"}), (np.datetime64("2020-01-02"), "2020-01-02"),
    (np.frombuffer(bytes([5, *[0] * 7]), "<M8")[0], 5), (np.timedelta64(3, "D"), "3 days"),
    (np.void(b"ab"), {"hex": "6162"}), (np.dtype("<f4"), "float32"),
    (ml_dtypes.bfloat16(1.5), 1.5), (np.zeros((2, 3), np.int8), {"array": "int8", "shape": [2, 3]}),
    (Global("a.b", "C", 0), {"global": "a.b.C"}), (Reference(("storage", 1), 0), {"reference": ["storage", 1]}),
    (Call(Global("os", "system", 0), ("x",), 7, "REDUCE"), {"call": "os.system", "at": 7}),
    (Buffer(0), {"node": "Buffer"}), (List([1, 2], 0), {"node": "List of 2"}), (Dict([1, 2], 0), {"node": "Dict of 1"}),
    (Set([1], 0), {"node": "Set of 1"}), (Key(List([], 0)), {"key": "List of 0"}), (object(), {"value": "object"}),
]  # fmt: skip


@pytest.mark.parametrize(("value", "want"), ROWS, ids=[type(value).__name__ + str(i) for i, (value, _) in enumerate(ROWS)])
def test_each_kind_of_value(value: Any, want: Any) -> None:
    assert json.loads(dumped(value)) == want
    assert json.loads(dumped([{"x": value}])) == [{"x": want}]


def test_an_unknown_object_keeps_everything() -> None:
    made = Object(Call(Global("pkg", "Thing", 0), (), 0, "NEWOBJ"))
    assert plain(made) == {"object": "pkg.Thing"}
    made.arguments, made.keywords, made.state, made.items, made.pairs = (1,), {"k": 2}, {"a": [3]}, [4], [(5, 6)]
    assert plain(made) == {
        "object": "pkg.Thing", "arguments": [1], "keywords": {"k": 2}, "fields": {"a": [3]}, "items": [4], "pairs": {"5": 6},
    }  # fmt: skip
    made.state = 7
    assert plain(made)["state"] == 7


def test_long_texts_and_bytes_are_cut_with_their_length() -> None:
    assert plain("x" * 12, text=10) == {"text": "x" * 10, "length": 12, "left_out": "2 characters"}
    assert plain(b"x" * 12, text=10) == {"hex": "78" * 10, "length": 12, "left_out": "2 bytes"}
    (key,) = plain({"k" * 50: 1}, text=10)
    assert key == "kkkkkkkkkk… (50 characters)"


def test_large_integers_are_not_printed_in_full() -> None:
    assert plain(1 << 4000) == 1 << 4000
    assert plain(1 << 500_000)["bits"] == 500_001
    assert len(dumped([1 << 500_000])) < 200


def test_cycles() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = {"again": loop}
    assert plain(loop) == {"self": {"again": {"left_out": "a cycle: the same container 2 levels up"}}}
    lone: list[Any] = []
    lone.append(lone)
    assert plain(lone) == [{"left_out": "a cycle: the same container 1 levels up"}]


def test_a_shared_container_is_shown_in_each_place() -> None:
    shared = [1]
    assert plain({"a": shared, "b": shared}) == {"a": [1], "b": [1]}


def test_depth_is_bounded() -> None:
    deep: Any = []
    for _ in range(200_000):
        deep = [deep] if len(deep) % 2 else {"d": deep}
    text = dumped(deep)
    assert "more than 64 levels deep" in text
    assert len(text) < 5000
    while deep:  # taken apart by hand: dropping it at once would be deep too
        deep = deep[0] if isinstance(deep, list) else deep["d"]


def test_path_bombs_are_bounded() -> None:
    bomb: Any = [0]
    for _ in range(60):
        bomb = (bomb, bomb)
    start = time.process_time()
    assert len(dumped(bomb)) < 3_000_000
    assert len(dumped({"b": bomb}, nodes=1000)) < 60_000
    assert time.process_time() - start < 5


def test_wide_containers_are_cut_and_say_so() -> None:
    made = plain(list(range(100)), nodes=10)
    assert made[-1] == {"left_out": f"{100 - (len(made) - 1)} more"}
    made = plain({str(i): i for i in range(100)}, nodes=10)
    assert made["left_out"] == f"{100 - (len(made) - 1)} more"
    assert len(plain(["x" * 9000] * 5000)) < 1000, "long texts count for more"


# ------------------------------------------------------------------------------------------------------------------- totals


@pytest.mark.parametrize(
    ("runs", "want"),
    [([(0, 4)], 4), ([(0, 4), (4, 8)], 8), ([(2, 8), (0, 5)], 8), ([(0, 2), (6, 8)], 4), ([(0, 9), (1, 2)], 9), ([(3, 3), (3, 3)], 0)],
)
def test_covered(runs: list[tuple[int, int]], want: int) -> None:
    assert covered(runs) == want


def opened(tmp_path: Path, state: Any, storages: dict[str, bytes]) -> inert.Checkpoint:
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps(state), storages))
    return inert.open(path)


def test_extents_count_what_strides_span(tmp_path: Path) -> None:
    held = storage("0", 12)
    state = {"column": tensor(held, (3,), (4,), 1), "none": tensor(held, (0, 4)), "one": tensor(held, (), None, 11)}
    with opened(tmp_path, state, {"0": bytes(48)}) as ckpt:
        assert [extent(t.layout) for t in ckpt.tensors.values()] == [(4, 40), (0, 0), (44, 48)]
        found = totals(ckpt.tensors.values())
    assert found == {"count": 3, "nbytes": 16, "storages": 1, "storage_nbytes": 48, "used_nbytes": 40}


def test_packed_extents_are_in_bytes() -> None:
    from inert.dtypes import DTYPES

    assert extent(Layout(DTYPES["quint4x2"], (5,), (1,), 2, None)) == (1, 4)
    assert extent(Layout(DTYPES["float4_e2m1fn_x2"], (5,), (1,), 2, None)) == (2, 7)


def test_a_tree_of_very_deep_names_ends(tmp_path: Path) -> None:
    with opened(tmp_path, {"a." * 5000 + "w": tensor(storage("0", 6), (6,))}, {"0": bytes(24)}) as ckpt:
        tree = modules(ckpt.tensors.values())
    assert json.dumps(tree)
    assert tree["tensors"] == 1


def test_objects_in_files(tmp_path: Path) -> None:
    thing = Made(Name("my.config", "Config"), (), {"path": Made(Name("pathlib", "PosixPath"), ("/", "tmp"))})
    with opened(tmp_path, {"config": thing, "t": tensor(storage("0", 6), (6,))}, {"0": bytes(24)}) as ckpt:
        assert json.loads(dumped(ckpt.root)) == {
            "config": {"object": "my.config.Config", "fields": {"path": "/tmp"}},
            "t": {"tensor": "t", "dtype": "float32", "shape": [6]},
        }
