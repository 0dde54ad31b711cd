"""Names: every tensor under the path that leads to it, whatever the keys, however deep or shared the object."""

from __future__ import annotations

import io
import struct
from argparse import Namespace
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.limits import Limits
from inert.names import bracketed
from inert.report.show import show
from tests.makers import PARAMETER, Made, Name, dumps, storage, tensor, text, torch_zip

ONE = struct.pack("<f", 1)


def weight(key: str = "0") -> Made:
    return tensor(storage(key, 1), (1,))


def opened(data: bytes, limits: Limits | None = None) -> inert.Checkpoint:
    return inert.open(io.BytesIO(torch_zip(data, {str(i): struct.pack("<f", i) for i in range(10)})), limits=limits or Limits())


def told(checkpoint: inert.Checkpoint) -> list[str]:
    """The notes; most pickles here use a part of the ten storages only."""
    return [note.code for note in checkpoint.notes if note.code != "storage-stray"]


def names(obj: Any, protocol: int = 2, **limits: int) -> list[str]:
    with opened(dumps(obj, protocol), Limits(**limits)) as checkpoint:
        for name, found in checkpoint.tensors.items():
            assert found.name == name
        return list(checkpoint.tensors)


def test_a_bare_tensor_has_no_name() -> None:
    with opened(dumps(weight())) as checkpoint:
        assert list(checkpoint.tensors) == [""]
        assert (checkpoint.tensors[""].name, checkpoint.tensors[""].path) == ("", ())


def test_keys_positions_and_fields() -> None:
    w = weight()
    made = {
        "a": {"b": w}, "list": [w, [w]], "tuple": (1, (w,)), 5: w, None: {True: w}, 1.5: w, b"bytes": w, b"\xff": w, (1, "x"): w, "deque": deque([w]), "od": OrderedDict(k=w), "ns": Namespace(x=w, y=Namespace(z=w)),
        "obj": Made(Name("gone", "C"), (), {"field": w}, new=True), "args": Made(Name("gone", "f"), (w, {"k": w})), "items": Made(Name("gone", "L"), (), None, [w]), "pairs": Made(Name("gone", "D"), (), None, None, [("k", w)]),
        "named tuple": Made(Name("gone", "Pair"), (w, 2), new=True), "state": Made(Name("gone", "C"), (), [w], new=True), "slots": Made(Name("gone", "C"), (), (None, {"s": w}), new=True), "set": {w}, "": w, "x.y": w,
    }  # fmt: skip
    assert names(made, 4) == [
        "a.b", "list.0", "list.1.0", "tuple.1.0", "5", "None.True", "1.5", "bytes", "\\xff", "(1, 'x')", "deque.0", "od.k", "ns.x", "ns.y.z", "obj.field", "args.args.0", "args.args.1.k", "items.0", "pairs.k",
        "named tuple.0", "state.state.0", "slots.s", "set.0", "", "x.y",
    ]  # fmt: skip
    with opened(dumps(made, 4)) as checkpoint:
        assert checkpoint.tensors["list.1.0"].path == ("list", 1, 0)
        assert checkpoint.tensors["5"].path == (5,)
        assert checkpoint.tensors["None.True"].path == (None, True)
        assert checkpoint.tensors["(1, 'x')"].path == ((1, "x"),)
    keywords = b"\x80\4\x8c\4gone\x8c\1C\x93)}\x8c\1k" + dumps(weight())[2:-1] + b"s\x92."
    with opened(keywords) as checkpoint:
        assert list(checkpoint.tensors) == ["kwargs.k"]


def test_modules_have_the_names_of_their_state_dict() -> None:
    def module(parameters: Any = (), buffers: Any = (), modules: Any = (), **more: Any) -> Made:
        state = {
            "training": True,
            "_parameters": OrderedDict(parameters),
            "_buffers": OrderedDict(buffers),
            "_modules": OrderedDict(modules),
            **more,
        }
        return Made(Name("gone", "Module"), (), state, new=True)

    linear = module({"weight": Made(PARAMETER, (weight(), True, OrderedDict())), "bias": None}, plain={"t": weight()})
    norm = module({}, {"running_mean": weight(), "none": None}, _non_persistent_buffers_set={"scratch"})
    net = module({}, {}, {"0": linear, "sub": module({}, {}, {"bn": norm})}, _flat_weights=[weight()])
    assert names(net) == ["0.weight", "0.plain.t", "sub.bn.running_mean", "_flat_weights.0"]
    assert names({"model": net})[0] == "model.0.weight"
    assert names(Made(Name("gone", "C"), (), {"_modules": [weight()]}, new=True)) == ["_modules.0"], "only dicts are left out"


def test_every_path_to_a_tensor_is_listed() -> None:
    w = weight()
    inner = {"w": w}
    with opened(dumps({"a": w, "b": w, "c": inner, "d": inner, "e": [inner]})) as checkpoint:
        assert list(checkpoint.tensors) == ["a", "b", "c.w", "d.w", "e.0.w"]
        assert len({t.storage for t in checkpoint.tensors.values()}) == 1
        assert [t.path for t in checkpoint.tensors.values()] == [("a",), ("b",), ("c", "w"), ("d", "w"), ("e", 0, "w")]
        assert checkpoint.root["a"] is checkpoint.root["b"]


# -------------------------------------------------------------------------------------------------------------------- collisions

COLLISIONS: dict[str, tuple[Any, list[str]]] = {
    "dots": ({"a.b": weight("0"), "a": {"b": weight("1")}}, ['["a.b"]', '["a"]["b"]']),
    "numbers": ({"0": weight("0"), 0: weight("1")}, ['["0"]', "[0]"]),
    "list and dict": ({"x": [weight("0")], "x.0": weight("1")}, ['["x"][0]', '["x.0"]']),
    "empty": ({"": weight("0"), "a": {"": weight("1")}, "a.": weight("2")}, ["", '["a"][""]', '["a."]']),
    "only those": ({"a.b": weight("0"), "c": weight("1"), "a": {"b": weight("2"), "d": weight("3")}}, ['["a.b"]', "c", '["a"]["b"]', "a.d"]),
    "three": ({"a": {"b": {"c": weight("0")}, "b.c": weight("1")}, "a.b": {"c": weight("2")}}, ['["a"]["b"]["c"]', '["a"]["b.c"]', '["a.b"]["c"]']),
    "a bracketed name as a key": ({'["a.b"]': weight("0"), "a.b": weight("1"), "a": {"b": weight("2")}}, ['["a.b"]', '["a.b"]#2', '["a"]["b"]']),
}  # fmt: skip


@pytest.mark.parametrize("case", COLLISIONS)
def test_names_that_collide_are_bracketed(case: str) -> None:
    made, wanted = COLLISIONS[case]
    with opened(dumps(made)) as checkpoint:
        assert list(checkpoint.tensors) == wanted
        assert [t.name for t in checkpoint.tensors.values()] == wanted
        values = [t.numpy().tolist() for t in checkpoint.tensors.values()]
        assert sorted(values) == [[float(i)] for i in range(len(wanted))], "every one is listed, none twice"


def test_objects_of_one_look_are_told_apart() -> None:
    with opened(
        dumps({Name("gone", "a"): weight("0"), Name("gone", "b"): weight("1"), Made(Name("x", "y"), (), new=True): weight("2")})
    ) as checkpoint:
        assert len(checkpoint.tensors) == 3
        assert len({t.numpy()[0] for t in checkpoint.tensors.values()}) == 3


@settings(max_examples=200, deadline=None)
@given(
    st.recursive(
        st.just(None),
        lambda inner: (
            st.dictionaries(st.sampled_from(["a", "b", "a.b", ".", "", "0"]) | st.integers(0, 1), inner, max_size=3)
            | st.lists(inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_any_nesting_lists_every_tensor_once(shape: Any) -> None:
    count = 0

    def fill(part: Any) -> Any:
        nonlocal count
        if part is None:
            count += 1
            return tensor(storage("0", 1), (1,))
        return {key: fill(value) for key, value in part.items()} if isinstance(part, dict) else [fill(value) for value in part]

    with opened(dumps(fill(shape))) as checkpoint:
        assert len(checkpoint.tensors) == count
        for name, found in checkpoint.tensors.items():
            at: Any = checkpoint.root
            for step in found.path:
                at = at[step]
            assert at.storage == found.storage
            joined = ".".join(map(str, found.path))
            assert name == joined or name.startswith(bracketed(found.path))


# -------------------------------------------------------------------------------------------------------- cycles, sharing, depth


def test_cycles_are_walked_once() -> None:
    ring: dict[str, Any] = {"w": weight()}
    ring["me"] = ring
    ring["list"] = [ring, {"again": ring}]
    assert names(ring) == ["w"]
    parent = Made(Name("gone", "C"), (), {}, new=True)
    parent.state = {"child": Made(Name("gone", "C"), (), {"parent": parent, "w": weight()}, new=True)}
    assert names(parent) == ["child.w"]


def doubled(levels: int, leaf: bytes) -> bytes:
    """A list of two references to a list of two references …, ``levels`` deep."""
    return b"\x80\2" + leaf + b"q\x80" + b"".join(b"0](h%ch%ceq%c" % (0x80 + i, 0x80 + i, 0x81 + i) for i in range(levels)) + b"."


def test_paths_are_counted_to_a_limit() -> None:
    leaf = dumps(weight())[2:-1]
    with opened(doubled(5, leaf)) as checkpoint:
        assert len(checkpoint.tensors) == 2**5
        assert told(checkpoint) == []
    with opened(doubled(60, leaf), Limits(paths=1000)) as checkpoint:
        assert 1000 <= len(checkpoint.tensors) < 2100
        assert told(checkpoint) == ["paths-limit"]
    with opened(doubled(60, leaf), Limits(paths=0)) as checkpoint:
        assert len(checkpoint.tensors) == 2


def test_what_holds_no_tensor_costs_no_path() -> None:
    empty = doubled(60, b"]")[2:-1]
    data = b"\x80\2" + empty + b"0](h\xbc" + text("k") + b"h\xbc" + dumps([weight()])[2:-1].replace(b"q\0", b"r\1\1\0\0") + b"e."
    with opened(data) as checkpoint:
        assert len(checkpoint.tensors) == 1
        assert told(checkpoint) == []


@pytest.mark.no_cover
def test_two_hundred_thousand_levels() -> None:
    depth = 200_000
    data = b"\x80\2" + b"}X\1\0\0\0d" * depth + dumps(weight())[2:-1] + b"s" * depth + b"."
    with opened(data) as checkpoint:
        (found,) = checkpoint.tensors.values()
        assert found.name == ".".join("d" * depth)
        assert len(found.path) == depth
        assert found.numpy().tolist() == [0]


def test_names_are_counted_to_a_limit() -> None:
    state = {f"layer.{i}": weight() for i in range(100)}
    with opened(dumps(state), Limits(name_bytes=300)) as checkpoint:
        assert 20 < len(checkpoint.tensors) < 45
        assert told(checkpoint) == ["names-limit"]
        assert "tensors are listed" in checkpoint.notes[-1].message
    deep = b"\x80\2" + dumps(weight())[2:-1] + b"q\xff0" + b"}(X\1\0\0\0th\xffX\1\0\0\0d" * 2000 + b"N" + b"u" * 2000 + b"."
    with opened(deep) as checkpoint:
        assert len(checkpoint.tensors) == 2000
    with opened(deep, Limits(name_bytes=1 << 20)) as checkpoint:
        assert 200 < len(checkpoint.tensors) < 600
        assert told(checkpoint) == ["names-limit"]


def test_many_branches_at_the_bottom_of_a_deep_chain() -> None:
    """Each branch's path is as long as the chain: the limit ends the walk, which would take a quadratic time."""
    depth, branches = 3000, 3000
    leaf = dumps(weight())[2:-1] + b"q\xff0"
    data = b"\x80\2" + leaf + b"}X\1\0\0\0d" * depth + b"](" + b"}X\1\0\0\0wh\xffs" * branches + b"e" + b"s" * depth + b"."
    with opened(data, Limits(name_bytes=8 << 20)) as checkpoint:
        assert 50 < len(checkpoint.tensors) < branches
        assert told(checkpoint) == ["names-limit"]


@pytest.mark.parametrize(
    ("key", "wanted"),
    [(2**20000, f"{2**20000:#x}"), (-(2**20000), f"{-(2**20000):#x}"), ((1, 2**20000), "(1, a number of 20,001 bits)"), ((1,), "(1,)"), ((), "()"), (("x" * 100,), f"('{'x' * 60}',)"), (2j, "<complex>"), ((1, (2,)), "<tuple>")],
    ids=range(8),
)  # fmt: skip
def test_keys_whose_text_would_be_long_or_never_end(key: Any, wanted: str) -> None:
    assert names({key: weight()}) == [wanted]


def test_odd_keys_have_names_too() -> None:
    leaf = dumps(weight())[2:-1]
    with opened(b"\x80\2}]" + leaf + b"s.") as checkpoint:
        assert list(checkpoint.tensors) == ["<Key>"]
    with opened(b"\x80\2}" + text("\x1b[31m\n") + leaf + b"s.") as checkpoint:
        assert list(checkpoint.tensors) == ["\x1b[31m\n"], "names are data; what a terminal shows is another matter"


def test_names_that_collide_stand_in_the_objects_order() -> None:
    state = {"x": weight("0"), "a.b": weight("1"), "m": weight("2"), "a": {"b": weight("3"), "c": weight("4")}, "y": weight("5")}
    assert names(state) == ["x", '["a.b"]', "m", '["a"]["b"]', "a.c", "y"]
    with opened(dumps(state)) as checkpoint:
        assert [found.storage.key for found in checkpoint.tensors.values()] == [f"data/{i}" for i in range(6)]


def test_brackets() -> None:
    assert bracketed(("a.b", 0, "c", None, (1,))) == '["a.b"][0]["c"][None][(1,)]'
    assert bracketed(()) == ""


def test_classes_as_keys_are_called_by_their_names(tmp_path: Path) -> None:
    """As Lightning before 1.5 keys the states of callbacks."""
    state = {Name("made.callbacks", "Stopping"): {"best": tensor(storage("0", 2), (2,))}, Name("made.callbacks", "Saving"): {"epoch": 3}}
    path = tmp_path / "x.pt"
    path.write_bytes(torch_zip(dumps({"callbacks": state}), {"0": bytes(8)}))
    with inert.open(path) as ckpt:
        assert list(ckpt.tensors) == ["callbacks.<made.callbacks.Stopping>.best"]
        (name,) = ckpt.tensors
        assert show(ckpt, "callbacks.<made.callbacks.Saving>.epoch")["value"] == 3
        assert show(ckpt, name)["name"] == name
