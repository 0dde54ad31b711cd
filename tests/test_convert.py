"""inert.convert: what it changes, and that nothing else changes.

Expected values: torch's own casts (tests/corpus/casts.json), NumPy and ml_dtypes, the bytes that the test itself put into the file.
"""

from __future__ import annotations

import json
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import inert
from inert.casts import BLOCK, cast
from inert.dtypes import DTYPES
from inert.errors import UnsupportedError
from inert.layout import Layout, Storage
from inert.ops.cast import floating
from inert.pickle.nodes import Global
from inert.source import BytesSource
from inert.tensor import Tensor
from inert.torch.objects import Object
from inert.torch.predict import loads
from tests.corpus.make_casts import WIDTHS, samples, settled
from tests.makers import Made, Name, dumps, storage, tensor, torch_zip

HERE = Path(__file__).parent / "corpus"
LIGHTNING = HERE / "lightning" / "plain.ckpt"
CASTS = json.loads((HERE / "casts.json").read_text(encoding="utf-8"))["casts"]


def saved(path: Path, state: Any, storages: dict[str, bytes] | None = None, protocol: int = 2, **options: Any) -> Path:
    path.write_bytes(torch_zip(dumps(state, protocol), storages or {}, **options))
    return path


def hashes(path: Path, prefix: str = "") -> dict[str, str]:
    with inert.open(path) as ckpt:
        return {name.removeprefix(prefix): t.sha256() for name, t in ckpt.tensors.items() if name.startswith(prefix)}


def values(path: Path) -> dict[str, Any]:
    with inert.open(path) as ckpt:
        return {name: np.array(t.numpy()) for name, t in ckpt.tensors.items()}


def two(tmp_path: Path, **state: Any) -> tuple[Path, Path]:
    """A file of these arrays, each in a storage of its own, and a path to write to."""
    inert.save({name: np.asarray(array) for name, array in state.items()}, tmp_path / "in.pt", sync=False)
    return tmp_path / "in.pt", tmp_path / "out.pt"


# ------------------------------------------------------------------------------------------------------------------------ casts


@pytest.mark.parametrize("pair", CASTS)
def test_numbers_are_rounded_as_torch_rounds_them(pair: str) -> None:
    source, target = pair.split()
    given = samples(source).view(DTYPES[source].array_type())
    made = np.concatenate([cast(given[at : at + 50_000], DTYPES[target])[0] for at in range(0, len(given), 50_000)])
    assert made.dtype.itemsize == WIDTHS[target]
    assert list(settled(made, target)) == CASTS[pair]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("bf16", "bfloat16"), ("torch.float16", "float16"), ("FP32", "float32"), ("f8_e4m3fn", "float8_e4m3fn"), ("half", "float16"),
     ("fp8_e5m2", "float8_e5m2"), ("double", "float64"), (" bfloat16 ", "bfloat16")],
)  # fmt: skip
def test_types_have_many_names(said: str, meant: str) -> None:
    assert floating(said) == meant


@pytest.mark.parametrize("said", ["int8", "complex64", "qint8", "float4_e2m1fn_x2", "", "brain"])
def test_only_floating_types_are_cast_to(said: str, tmp_path: Path) -> None:
    source, out = two(tmp_path, a=np.ones(2, "f4"))
    with pytest.raises(UnsupportedError, match="cannot be cast"):
        inert.convert(source, out, dtype=said)
    assert not out.exists()


def test_a_cast_changes_floating_tensors_alone(tmp_path: Path) -> None:
    numbers = np.linspace(-3, 3, 1000, dtype="f4").reshape(10, 100)
    source, out = two(tmp_path, w=numbers, d=np.array([1 / 3]), i=np.arange(3), b=np.array([True]), c=np.array([1 + 2j]))
    done = inert.convert(source, out, dtype="bf16")
    made = values(out)
    assert made["w"].tobytes() == numbers.astype(ml_dtypes.bfloat16).tobytes()
    assert made["d"].tobytes() == np.array([1 / 3], "f4").astype(ml_dtypes.bfloat16).tobytes()
    assert [str(made[name].dtype) for name in "ibc"] == ["int64", "bool", "complex128"]
    assert [(one["name"], one["from"], one["to"]) for one in done.cast] == [("w", "float32", "bfloat16"), ("d", "float64", "bfloat16")]
    assert not done.notes


def test_the_last_rule_that_fits_counts(tmp_path: Path) -> None:
    ones = np.ones(2, "f4")
    source, out = two(tmp_path, **{"a.norm.w": ones, "a.w": ones.copy(), "b.w": ones.copy(), "c": ones.copy()})
    inert.convert(source, out, dtype=["bf16", "*.norm.*=float32", "b=f16"])
    found = {name: str(array.dtype) for name, array in values(out).items()}
    assert found == {"a.norm.w": "float32", "a.w": "bfloat16", "b.w": "float16", "c": "bfloat16"}
    inert.convert(source, out, dtype={"c": "f64"})
    assert [str(array.dtype) for array in values(out).values()] == ["float32"] * 3 + ["float64"]


def test_ties_views_and_strides_stay_through_a_cast(tmp_path: Path) -> None:
    held = storage("0", 12)
    tied = tensor(held, (3, 4))
    state = {"a": tied, "b": tied, "t": tensor(storage("0", 12), (4, 3), (1, 4)), "v": tensor(storage("0", 12), (2,), (1,), 5)}
    numbers = np.arange(12, dtype="f4") + 0.1
    source = saved(tmp_path / "in.pt", state, {"0": numbers.tobytes()})
    inert.convert(source, tmp_path / "out.pt", dtype="f16")
    with inert.open(tmp_path / "out.pt") as ckpt:
        found = dict(ckpt.tensors)
        assert len({t.storage for t in found.values()}) == 1
        assert ckpt.root["a"] is ckpt.root["b"]
        assert [(t.strides, t.offset) for t in found.values()] == [((4, 1), 0), ((4, 1), 0), ((1, 4), 0), ((1,), 5)]
        half = numbers.astype("f2")
        assert found["t"].numpy().tolist() == half.reshape(3, 4).T.tolist()
        assert found["v"].numpy().tolist() == half[5:7].tolist()
        assert found["a"].storage.nbytes == 24


def test_one_tensor_cannot_have_two_types(tmp_path: Path) -> None:
    tied = tensor(storage("0", 4), (4,))
    source = saved(tmp_path / "in.pt", {"a": tied, "b": tied}, {"0": bytes(16)})
    with pytest.raises(UnsupportedError, match="one tensor and cannot have two types"):
        inert.convert(source, tmp_path / "out.pt", dtype="a=bf16")
    source = saved(tmp_path / "in.pt", {"a": tensor(storage("0", 4), (2,)), "b": tensor(storage("0", 4), (2,), (1,), 2)}, {"0": bytes(16)})
    with pytest.raises(UnsupportedError, match="share one storage and cannot have two types"):
        inert.convert(source, tmp_path / "out.pt", dtype="a=bf16")
    inert.convert(source, tmp_path / "out.pt", dtype="a=bf16", shared="copy")
    assert [str(array.dtype) for array in values(tmp_path / "out.pt").values()] == ["bfloat16", "float32"]


def test_what_does_not_survive_is_counted_for_each_tensor(tmp_path: Path) -> None:
    numbers = np.ones(3 * BLOCK, "f4")
    numbers[[0, BLOCK - 1, BLOCK, 3 * BLOCK - 1]] = [1e6, -1e6, np.inf, 1e-9]
    numbers[5] = np.nan
    views = {"left": tensor(storage("0", numbers.size), (BLOCK,)), "right": tensor(storage("0", numbers.size), (2 * BLOCK,), (1,), BLOCK)}
    source = saved(tmp_path / "in.pt", {**views, "fine": tensor(storage("1", 2), (2,))}, {"0": numbers.tobytes(), "1": bytes(8)})
    done = inert.convert(source, tmp_path / "out.pt", dtype="f16")
    counts = {one["name"]: (one["overflowed"], one["saturated"], one["zeroed"]) for one in done.cast}
    assert counts == {"left": (2, 0, 0), "right": (0, 0, 1), "fine": (0, 0, 0)}  # an infinity stays one
    (note,) = done.notes
    assert (note.code, note.severity, note.tensors) == ("cast-overflow", "warning", ("left",))
    assert "2 values of 1 tensor are infinite or NaN now" in note.message
    done = inert.convert(source, tmp_path / "out.pt", dtype="f8_e4m3fn")
    counts = {one["name"]: (one["overflowed"], one["saturated"], one["zeroed"]) for one in done.cast}
    assert counts == {"left": (0, 2, 0), "right": (0, 1, 1), "fine": (0, 0, 0)}  # torch saturates infinities too
    assert [(note.code, note.tensors) for note in done.notes] == [("cast-saturated", ("left", "right"))]
    made = values(tmp_path / "out.pt")
    assert made["left"][[0, BLOCK - 1]].astype("f4").tolist() == [448, -448]
    assert np.isnan(made["left"][5])


def test_big_endian_numbers_are_cast_by_their_values(tmp_path: Path) -> None:
    numbers = np.linspace(1, 2, 7, dtype=">f4")
    source = saved(tmp_path / "in.pt", {"w": tensor(storage("0", 7), (7,))}, {"0": numbers.tobytes()}, byteorder="big")
    inert.convert(source, tmp_path / "out.pt", dtype="f16")
    assert values(tmp_path / "out.pt")["w"].tolist() == numbers.astype("f2").tolist()
    inert.convert(source, tmp_path / "little.pt", root="w")
    assert values(tmp_path / "little.pt")[""].tolist() == numbers.tolist()


def test_bytes_that_two_types_look_at_stay_for_the_other(tmp_path: Path) -> None:
    numbers = np.arange(4, dtype="f4")
    rebuild, dtype = Name("torch._utils", "_rebuild_tensor_v3"), Name("torch", "float32")
    held = storage("0", 16, "Untyped")
    state = {
        "f": Made(rebuild, (held, 0, (4,), (1,), False, OrderedDict(), dtype)),
        "i": Made(rebuild, (held, 0, (4,), (1,), False, OrderedDict(), Name("torch", "int32"))),
    }
    source = saved(tmp_path / "in.pt", state, {"0": numbers.tobytes()})
    done = inert.convert(source, tmp_path / "out.pt", dtype="bf16")
    made = values(tmp_path / "out.pt")
    assert made["f"].tobytes() == numbers.astype(ml_dtypes.bfloat16).tobytes()
    assert made["i"].tobytes() == numbers.tobytes()
    assert [(note.code, note.tensors) for note in done.notes] == [("cast-untied", ("f",))]


def test_two_types_on_one_storage_are_refused_as_torch_refuses_them(tmp_path: Path) -> None:
    both = np.zeros(4, "f4")
    with pytest.raises(UnsupportedError, match="float32 and as int32"):
        inert.save({"f": both, "i": both.view("i4")}, tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())


def test_sparse_values_and_meta_tensors_are_cast(tmp_path: Path) -> None:
    done = inert.convert(HERE / "torch" / "sparse.pt", tmp_path / "out.pt", dtype="bf16")
    before, after = values(HERE / "torch" / "sparse.pt"), values(tmp_path / "out.pt")
    with inert.open(tmp_path / "out.pt") as ckpt:
        assert ckpt.tensors["csr"].kind == "sparse_csr"
        assert ckpt.tensors["csr"].dtype == "bfloat16"
        assert ckpt.tensors["bool"].dtype == "bool"
    for name, array in before.items():
        wanted = array.astype(ml_dtypes.bfloat16) if array.dtype.kind == "f" and name != "uncoalesced" else array
        if name != "uncoalesced":  # its values are added up after they have been rounded
            assert np.array_equal(after[name].astype("f4"), wanted.astype("f4")), name
    assert "csr.values" in [one["name"] for one in done.cast]
    inert.convert(HERE / "torch" / "meta.pt", tmp_path / "meta.pt", dtype="bf16")
    with inert.open(HERE / "torch" / "meta.pt") as one, inert.open(tmp_path / "meta.pt") as two:
        for name, t in one.tensors.items():
            assert two.tensors[name].shape == t.shape
            assert (two.tensors[name].dtype == "bfloat16") == (t.dtype.kind == "f"), name


def test_attributes_and_classes_stay_through_a_cast(tmp_path: Path) -> None:
    inert.convert(HERE / "torch" / "parameters.pt", tmp_path / "out.pt", dtype="bf16")
    inert.convert(HERE / "torch" / "subclasses.pt", tmp_path / "sub.pt", dtype="bf16")
    with inert.open(HERE / "torch" / "parameters.pt") as one, inert.open(tmp_path / "out.pt") as two:
        for name, t in one.tensors.items():
            again = two.tensors[name]
            assert (again.layout.type, again.requires_grad, again.layout.attributes) == (
                t.layout.type, t.requires_grad, t.layout.attributes,
            ), name  # fmt: skip
    with inert.open(HERE / "torch" / "subclasses.pt") as one, inert.open(tmp_path / "sub.pt") as two:
        assert [t.layout.type for t in two.tensors.values()] == [t.layout.type for t in one.tensors.values()]


def test_a_storage_in_an_object_list_or_set_is_found(tmp_path: Path) -> None:
    one, two, three = (tensor(storage(str(key), 2), (2,)) for key in range(3))
    state = {
        "list": Made(Name("my", "List"), (), None, [one, "x"], new=True),
        "dict": Made(Name("my", "Dict"), (), None, None, [("k", two)], new=True),
        "made": Made(Name("my", "make"), (three, 1)),
        "tuple": (tensor(storage("3", 2), (2,)),),
    }
    raw = np.ones(2, "f4").tobytes()
    source = saved(tmp_path / "in.pt", state, {str(key): raw for key in range(4)})
    inert.convert(source, tmp_path / "out.pt", dtype="bf16")
    with inert.open(tmp_path / "out.pt") as ckpt:
        assert [str(t.dtype) for t in ckpt.tensors.values()] == ["bfloat16"] * 4
        assert ckpt.root["list"].type == "my.List"
        assert ckpt.root["list"].items[1] == "x"
        assert ckpt.root["made"].arguments[1] == 1


# ---------------------------------------------------------------------------------------------------------------- parts, names


def test_without_changes_a_file_is_copied(tmp_path: Path) -> None:
    inert.convert(LIGHTNING, tmp_path / "copy.ckpt")
    assert (tmp_path / "copy.ckpt").read_bytes() == LIGHTNING.read_bytes()


def test_a_file_can_be_written_over_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.ckpt"
    path.write_bytes(LIGHTNING.read_bytes())
    wanted = hashes(LIGHTNING, "state_dict.")
    inert.convert(path, path, root="state_dict")
    assert hashes(path) == wanted
    inert.convert(path, path, dtype="f64")
    inert.convert(path, path, dtype="f32")
    assert hashes(path) == wanted


def test_unwrap_finds_the_weights_of_every_profile(tmp_path: Path) -> None:
    wanted = hashes(LIGHTNING, "state_dict.")
    inert.convert(LIGHTNING, tmp_path / "a.pt", unwrap=True)
    assert hashes(tmp_path / "a.pt") == wanted
    inert.convert(tmp_path / "a.pt", tmp_path / "b.pt", unwrap=True)  # a state dict already
    assert (tmp_path / "a.pt").read_bytes() == (tmp_path / "b.pt").read_bytes()
    weights = {f"l.{i}": np.full(2, i, "f4") for i in range(3)}
    inert.save({"epoch": 3, "model": weights, "optimizer": {"state": {}, "param_groups": []}}, tmp_path / "training.pt")
    inert.convert(tmp_path / "training.pt", tmp_path / "c.pt", unwrap=True)
    assert list(hashes(tmp_path / "c.pt")) == list(weights)
    inert.save([1, 2], tmp_path / "no.pt")
    with pytest.raises(UnsupportedError, match="no state dict was found"):
        inert.convert(tmp_path / "no.pt", tmp_path / "d.pt", unwrap=True)


def test_strip_takes_the_prefixes_that_all_names_have(tmp_path: Path) -> None:
    a = np.ones(1, "f4")
    source, out = two(tmp_path, **{"module.model.a.w": a, "module.model.b": a.copy()})
    assert inert.convert(source, out, strip=True).renamed == {"module.model.a.w": "a.w", "module.model.b": "b"}
    source, out = two(tmp_path, **{"model.a": a, "other.b": a.copy()})
    assert not inert.convert(source, out, strip=True).renamed
    source, out = two(tmp_path, **{"model.": a})
    assert not inert.convert(source, out, strip=True).renamed


@pytest.mark.parametrize("drop", [("optimizer_states",), ("optimizer_states", "callbacks", "lr_schedulers")])
def test_drop(drop: tuple[str, ...], tmp_path: Path) -> None:
    done = inert.convert(LIGHTNING, tmp_path / "x.ckpt", drop=drop)
    assert done.dropped == sorted(drop)
    with inert.open(LIGHTNING) as one, inert.open(tmp_path / "x.ckpt") as two:
        assert list(two.root) == [key for key in one.root if key not in drop]
        assert two.root["hyper_parameters"] == one.root["hyper_parameters"]
    kept = {name: value for name, value in hashes(LIGHTNING).items() if not name.startswith(drop)}
    assert hashes(tmp_path / "x.ckpt") == kept


def test_keep_keeps_what_is_empty_inside_of_it(tmp_path: Path) -> None:
    inert.save({"a": {"empty": {}, "x": 1}, "b": {"c": {"d": 2}}, "e": {}, "f": [[], [3]]}, tmp_path / "x.pt")
    done = inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", keep=["a", "f.0"])
    assert inert.load(tmp_path / "y.pt") == {"a": {"empty": {}, "x": 1}, "f": [[]]}
    assert done.dropped == ["b", "b.c", "b.c.d", "e", "f.1", "f.1.0"]


def test_patterns_that_fit_nothing_are_told(tmp_path: Path) -> None:
    done = inert.convert(LIGHTNING, tmp_path / "x.ckpt", drop=["optimizer_state", "loops"], keep=["*"])
    assert [(note.code, "'optimizer_state'" in note.message) for note in done.notes] == [("pattern-idle", True)]


def test_a_rule_that_keeps_a_type_has_done_something(tmp_path: Path) -> None:
    """All to bfloat16, and the biases as they are: the second rule casts nothing, and is not idle."""
    inert.save({"w": np.ones(2, "f4"), "w.bias": np.ones(2, "f4")}, tmp_path / "x.pt")
    done = inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", dtype={"": "bf16", "*.bias": "float32"})
    assert not [note for note in done.notes if note.code == "pattern-idle"]
    done = inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", dtype={"": "bf16", "*.gamma": "float32"})
    assert [note.code for note in done.notes if note.code == "pattern-idle"] == ["pattern-idle"]


def test_renaming_keeps_places_and_takes_module_versions_along(tmp_path: Path) -> None:
    done = inert.convert(LIGHTNING, tmp_path / "x.ckpt", rename={r"^state_dict\.net\.": "state_dict.body."})
    assert done.renamed["state_dict.net.0.weight"] == "state_dict.body.0.weight"
    with inert.open(LIGHTNING) as one, inert.open(tmp_path / "x.ckpt") as two:
        assert list(two.tensors) == [name.replace("state_dict.net.", "state_dict.body.") for name in one.tensors]
        before, after = one.root["state_dict"]._metadata, two.root["state_dict"]._metadata
        assert [name.replace("net", "body") for name in before] == list(after)
        assert list(before.values()) == list(after.values())


def test_a_module_that_becomes_the_root_brings_its_version(tmp_path: Path) -> None:
    inert.convert(LIGHTNING, tmp_path / "x.pt", root="state_dict", rename=[(r"^net\.", "")])
    with inert.open(LIGHTNING) as one, inert.open(tmp_path / "x.pt") as two:
        before = one.root["state_dict"]._metadata
        wanted = {name.removeprefix("net").removeprefix("."): version for name, version in before.items()}
        assert dict(two.root._metadata) == wanted
        assert list(two.tensors)[:2] == ["0.weight", "0.bias"]


def test_names_that_would_be_one_are_refused(tmp_path: Path) -> None:
    a = np.ones(1, "f4")
    source, out = two(tmp_path, **{"a.w": a, "b.w": a.copy(), "c": a.copy()})
    with pytest.raises(UnsupportedError, match=r"'a\.w' and 'b\.w' would both be called 'w'"):
        inert.convert(source, out, rename={"^[ab]\\.": ""})
    with pytest.raises(UnsupportedError, match="would both be called 'c'"):
        inert.convert(source, out, rename={"^a\\.w$": "c"})
    inert.save({"a": a, "n": 1}, source)
    with pytest.raises(UnsupportedError, match="'n' is the name of something else"):
        inert.convert(source, out, rename={"^a$": "n"})
    with pytest.raises(UnsupportedError, match="cannot be called ''"):
        inert.convert(source, out, rename={"^a$": ""})
    assert not out.exists()


def test_swapped_names_are_no_collision(tmp_path: Path) -> None:
    source, out = two(tmp_path, a=np.zeros(1, "f4"), b=np.ones(1, "f4"))
    inert.convert(source, out, rename=[("^a$", "x"), ("^b$", "a"), ("^x$", "b")])
    assert {name: array[0] for name, array in values(out).items()} == {"b": 0, "a": 1}


def test_a_rename_can_move_a_tensor_into_another_dict(tmp_path: Path) -> None:
    a, b, c = (np.full(1, i, "f4") for i in range(3))
    inert.save({"model": {"net": {"w": a, "v": b}}, "other": {"x": c, 1: {"y": np.full(1, 3, "f4")}}}, tmp_path / "x.pt")
    inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", rename=[(r"^model\.net\.", "other."), (r"^other\.x$", "x"), (r"1\.y$", "1.z")])
    made = inert.load(tmp_path / "y.pt")
    assert list(made) == ["other", "x"]  # what has become empty is gone
    assert list(made["other"]) == [1, "w", "v"]
    assert list(made["other"][1]) == ["z"]
    assert [made["other"]["w"][0], made["other"]["v"][0], made["x"][0]] == [0, 1, 2]


def test_an_entry_can_be_renamed_where_its_place_was_taken(tmp_path: Path) -> None:
    source, out = two(tmp_path, **{"a.b": np.zeros(1, "f4")})
    inert.save({"d": {"a": np.zeros(1, "f4"), "b": np.ones(1, "f4")}}, source)
    inert.convert(source, out, rename=[(r"^d\.b$", "b"), (r"^d\.a$", "d.b")])
    made = inert.load(out)
    assert (made["d"]["b"][0], made["b"][0]) == (0, 1)


def test_positions_in_lists_have_no_other_names(tmp_path: Path) -> None:
    inert.save({"l": [np.ones(1, "f4")], "t": (np.ones(2, "f4"),)}, tmp_path / "x.pt")
    with pytest.raises(UnsupportedError, match="a position in a list"):
        inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", rename={r"^l\.0$": "l.first"})
    with pytest.raises(UnsupportedError, match="lies in a tuple"):
        inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", rename={r"^t\.0$": "w"})


def test_odd_keys_are_renamed_by_the_names_that_ls_shows(tmp_path: Path) -> None:
    state = {"a.b": np.ones(1, "f4"), "a": {"b": np.ones(2, "f4")}, 7: np.ones(3, "f4"), "x[0]": np.ones(4, "f4")}
    inert.save(state, tmp_path / "x.pt")
    with inert.open(tmp_path / "x.pt") as ckpt:
        assert list(ckpt.tensors) == ['["a.b"]', '["a"]["b"]', "7", "x[0]"]
    inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", rename=[(r'^\["a\.b"\]$', "c"), ("^7$", "seven"), (r"\[0\]$", "")])
    made = inert.load(tmp_path / "y.pt")
    assert {key: getattr(value, "size", None) for key, value in made.items()} == {"a": None, "seven": 3, "x": 4, "c": 1}
    assert made["a"]["b"].size == 2


def test_one_dict_under_two_names_gets_one_new_name(tmp_path: Path) -> None:
    shared = {"w": np.ones(1, "f4")}
    inert.save({"a": shared, "b": shared}, tmp_path / "x.pt")
    with pytest.raises(UnsupportedError, match="one entry of one dict"):
        inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", rename={r"^a\.w$": "a.v"})
    inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", rename={r"\.w$": ".v"})
    assert list(hashes(tmp_path / "y.pt")) == ["a.v", "b.v"]


def test_a_bad_expression_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no regular expression"):
        inert.convert(LIGHTNING, tmp_path / "x.ckpt", rename={"(": ""})
    with pytest.raises(UnsupportedError, match="cannot take the place"):
        inert.convert(LIGHTNING, tmp_path / "x.ckpt", rename={"net": r"\7"})


@pytest.mark.no_cover
def test_renaming_many_entries_of_many_dicts_is_quick(tmp_path: Path) -> None:
    state = {"state": {i: {"exp_avg": np.zeros(1, "f4")} for i in range(5_000)}}
    inert.save(state, tmp_path / "x.pt", sync=False)
    done = inert.convert(tmp_path / "x.pt", tmp_path / "y.pt", rename={"exp_avg$": "m"}, sync=False)
    assert len(done.renamed) == 5_000
    assert list(inert.load(tmp_path / "y.pt")["state"][4_999]) == ["m"]


# -------------------------------------------------------------------------------------------------------------- plainer tensors


def test_dense(tmp_path: Path) -> None:
    expected = json.loads((HERE / "torch" / "sparse.pt.expected.json").read_text(encoding="utf-8"))
    before = values(HERE / "torch" / "sparse.pt")
    inert.convert(HERE / "torch" / "sparse.pt", tmp_path / "out.pt", dense=True)
    with inert.open(tmp_path / "out.pt") as ckpt:
        assert len(ckpt.tensors) == len(before) == len({tuple(map(str, t["path"])) for t in expected["tensors"] if len(t["path"]) == 1})
        for name, t in ckpt.tensors.items():
            assert t.kind == "dense"
            assert np.array_equal(t.numpy(), before[name]), name


def test_dense_of_quantised_tensors_is_what_they_stand_for(tmp_path: Path) -> None:
    inert.convert(HERE / "torch" / "quantized.pt", tmp_path / "out.pt", dense=True)
    with inert.open(HERE / "torch" / "quantized.pt") as one, inert.open(tmp_path / "out.pt") as two:
        first = one.tensors["qint8"]
        facts = first.layout.quantization
        wanted = (np.array(first.numpy()).astype("f4") - np.float32(facts["zero_point"])) * np.float32(facts["scale"])
        assert np.array_equal(two.tensors["qint8"].numpy(), wanted)
        assert {(t.kind, str(t.dtype)) for t in two.tensors.values()} == {("dense", "float32")}


def test_a_replicated_tensor_becomes_the_one_that_every_rank_holds(tmp_path: Path) -> None:
    def distributed(placement: str, local: Any) -> Made:
        place = Made(Name("torch.distributed.tensor.placement_types", placement), (), None, new=True)
        spec = Made(Name("torch.distributed.tensor._dtensor_spec", "DTensorSpec"), (), {"placements": (place,)}, new=True)
        kind = Name("torch.distributed.tensor", "DTensor")
        inner = (kind, Name("torch", "float32"), (4,), (1,), 0, Name("torch", "strided"), Made(Name("torch", "device"), ("cpu",)), True)
        rebuild = Name("torch._utils", "_rebuild_wrapper_subclass")
        return Made(Name("torch._tensor", "_rebuild_from_type_v2"), (rebuild, kind, inner, {"_local_tensor": local, "_spec": spec}))

    state = {"whole": distributed("Replicate", tensor(storage("0", 4), (4,))), "part": distributed("Shard", tensor(storage("1", 2), (2,)))}
    state["sum"] = distributed("Partial", tensor(storage("2", 4), (4,)))
    numbers = np.arange(4, dtype="f4")
    source = saved(tmp_path / "in.pt", state, {"0": numbers.tobytes(), "1": bytes(8), "2": bytes(16)})
    done = inert.convert(source, tmp_path / "out.pt", dense=True)
    with inert.open(tmp_path / "out.pt") as ckpt:
        whole = ckpt.tensors["whole"]
        assert (whole.kind, whole.requires_grad, whole.numpy().tolist()) == ("dense", True, [0, 1, 2, 3])
        assert [ckpt.tensors[name].kind for name in ("part", "sum")] == ["wrapper", "wrapper"]
    assert [(note.code, note.tensors) for note in done.notes] == [("dense-left", ("part", "sum"))]


def test_compact(tmp_path: Path) -> None:
    numbers = np.arange(100, dtype="f4")
    tied = tensor(storage("0", 100), (10,), (1,), 5)
    state = {
        "a": tied, "tied": tied,
        "over": tensor(storage("0", 100), (4,), (1,), 12),  # overlaps a: both stay together
        "far": tensor(storage("0", 100), (2, 3), (3, 1), 50),
        "turned": tensor(storage("1", 100), (3, 2), (1, 3), 20),
        "steps": tensor(storage("2", 100), (5,), (10,), 0),
        "all": tensor(storage("3", 6), (2, 3)),
        "wide": tensor(storage("4", 100), (3, 4), (0, 1), 10),
        "none": tensor(storage("5", 100), (0, 3), (3, 1), 0),
    }  # fmt: skip
    source = saved(tmp_path / "in.pt", state, {str(i): numbers[: 6 if i == 3 else 100].tobytes() for i in range(6)})
    before = values(source)
    inert.convert(source, tmp_path / "out.pt", compact=True)
    with inert.open(tmp_path / "out.pt") as ckpt:
        found = dict(ckpt.tensors)
        assert all(np.array_equal(t.numpy(), before[name]) for name, t in found.items())
        assert found["a"].storage == found["tied"].storage == found["over"].storage
        assert ckpt.root["a"] is ckpt.root["tied"]
        sizes = {name: (t.storage.nbytes // 4, t.offset, t.strides) for name, t in found.items() if t.storage is not None}
    assert sizes["a"] == (11, 0, (1,))
    assert sizes["over"] == (11, 7, (1,))
    assert sizes["far"] == (6, 0, (3, 1))
    assert sizes["turned"] == (6, 0, (1, 3))  # its order in memory stays
    assert sizes["steps"] == (5, 0, (1,))
    assert sizes["all"] == (6, 0, (3, 1))
    assert sizes["wide"] == (4, 0, (0, 1))
    assert sizes["none"][0] == 0


def test_shared(tmp_path: Path) -> None:
    numbers = np.arange(6, dtype="f4")
    tied = tensor(storage("0", 6), (2, 3))
    state = {"a": tied, "b": [tied, (tensor(storage("0", 6), (3,), (2,), 1),)], "c": tensor(storage("1", 1), ())}
    source = saved(tmp_path / "in.pt", state, {"0": numbers.tobytes(), "1": bytes(4)})
    before = values(source)
    inert.convert(source, tmp_path / "alias.pt", shared="alias")
    assert (tmp_path / "alias.pt").read_bytes() == source.read_bytes()
    inert.convert(source, tmp_path / "copy.pt", shared="copy")
    with inert.open(tmp_path / "copy.pt") as ckpt:
        assert len({t.storage for t in ckpt.tensors.values()}) == 4
        assert all(np.array_equal(t.numpy(), before[name]) for name, t in ckpt.tensors.items())
        assert type(ckpt.root["b"][1]) is tuple
    with pytest.raises(UnsupportedError, match=r"'a' and 'b\.0' and 'b\.1\.0' share storage"):
        inert.convert(source, tmp_path / "error.pt", shared="error")
    assert not (tmp_path / "error.pt").exists()


def test_rebuild_v2_widens_what_old_torch_lacks(tmp_path: Path) -> None:
    state = {
        "u16": np.array([0, 65535], "u2"), "u32": np.array([0, 2**32 - 1], "u4"), "u64": np.array([0, 2**63 - 1], "u8"),
        "f8": np.arange(255, dtype="u1").view(ml_dtypes.float8_e4m3fn), "e8": np.arange(255, dtype="u1").view(ml_dtypes.float8_e8m0fnu),
        "f4": np.ones(3, "f4"),
    }  # fmt: skip
    source, out = two(tmp_path, **state)
    done = inert.convert(source, out, rebuild="v2")
    made = values(out)
    types = {"u16": "int32", "u32": "int64", "u64": "int64", "f8": "float16", "e8": "bfloat16", "f4": "float32"}
    assert {name: str(array.dtype) for name, array in made.items()} == types
    for name, array in state.items():
        wide = "f8" if "f" in name or "e" in name else "i8"
        assert np.array_equal(
            made[name].astype(wide), array.astype("f4").astype(wide) if wide == "f8" else array.astype(wide), equal_nan=wide == "f8"
        )
    assert {note.code for note in done.notes} == {"dtype-widened"}
    with inert.open(out) as ckpt:
        assert {name.dotted for document in ckpt.pickles.values() for name in document.globals} & {
            "torch._utils._rebuild_tensor_v3", "torch.storage.UntypedStorage",
        } == set()  # fmt: skip


def test_rebuild_v2_refuses_what_no_old_type_holds(tmp_path: Path) -> None:
    source, out = two(tmp_path, big=np.array([2**63], "u8"))
    with pytest.raises(UnsupportedError, match="'big' holds numbers beyond int64"):
        inert.convert(source, out, rebuild="v2")
    packed = saved(tmp_path / "p.pt", {"x": Made(Name("torch._utils", "_rebuild_tensor_v3"), (
        storage("0", 2, "Untyped"), 0, (2,), (1,), False, OrderedDict(), Name("torch", "float4_e2m1fn_x2")))}, {"0": bytes(2)})  # fmt: skip
    with pytest.raises(UnsupportedError, match=r"no type of torch before 2\.2 holds every float4_e2m1fn_x2"):
        inert.convert(packed, out, rebuild="v2")
    assert not out.exists()


# -------------------------------------------------------------------------------------------------------------------- spellings


def globals_of(path: Path) -> set[str]:
    with inert.open(path) as ckpt:
        return {name.dotted for document in ckpt.pickles.values() for name in document.globals}


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("given", ["numpy.core", "numpy._core"])
def test_numpy_in_either_spelling(given: str, protocol: int, tmp_path: Path) -> None:
    dtype = Made(Name("numpy", "dtype"), ("f8", False, True), (3, "<", None, None, None, -1, -1, 0))
    scalar = [Made(Name(f"{given}.multiarray", "scalar"), (dtype, np.float64(i).tobytes())) for i in (1, 2)]
    source = saved(tmp_path / "in.pt", {"x": scalar, "w": tensor(storage("0", 1), ())}, {"0": bytes(4)}, protocol)
    for numpy, core in ((1, "numpy.core"), (2, "numpy._core")):
        inert.convert(source, tmp_path / "out.pt", numpy=numpy)
        assert {name for name in globals_of(tmp_path / "out.pt") if "multiarray" in name} == {f"{core}.multiarray.scalar"}
        assert inert.load(tmp_path / "out.pt")["x"] == [1, 2]


@pytest.mark.parametrize("tag", ["cuda:0", "cuda:3", "mps", "xpu", "cpu"])
def test_device_cpu_changes_the_tags_alone(tag: str, tmp_path: Path) -> None:
    state = {"a": tensor(storage("0", 2, location=tag), (2,)), "b": tensor(storage("0", 2, location=tag), (1,)), "t": "cuda:0"}
    state["m"] = tensor(storage("1", 2, location="meta"), (2,))
    source = saved(tmp_path / "in.pt", state, {"0": np.ones(2, "f4").tobytes()})
    inert.convert(source, tmp_path / "out.pt", device="cpu")
    with inert.open(tmp_path / "out.pt") as ckpt:
        assert [t.device for t in ckpt.tensors.values()] == ["cpu", "cpu", "meta"]
        assert ckpt.root["t"] == "cuda:0"
        assert ckpt.tensors["a"].storage == ckpt.tensors["b"].storage
    assert hashes(tmp_path / "out.pt", "a") == hashes(source, "a")
    with pytest.raises(UnsupportedError, match="the only device"):
        inert.convert(source, tmp_path / "out.pt", device="cuda")


def test_a_sparse_tensor_is_brought_to_the_cpu_whole(tmp_path: Path) -> None:
    parts = (tensor(storage("0", 2, "Long", "cuda:0"), (1, 2)), tensor(storage("1", 2, location="cuda:0"), (2,)))
    layout = Made(Name("torch.serialization", "_get_layout"), ("torch.sparse_coo",))
    sparse = Made(Name("torch._utils", "_rebuild_sparse_tensor"), (layout, (*parts, Made(Name("torch", "Size"), ((4,),)))))
    source = saved(tmp_path / "in.pt", {"s": sparse}, {"0": np.array([0, 3]).tobytes(), "1": np.ones(2, "f4").tobytes()})
    inert.convert(source, tmp_path / "out.pt", device="cpu")
    with inert.open(tmp_path / "out.pt") as ckpt:
        assert [part.device for part in ckpt.tensors["s"].components.values()] == ["cpu", "cpu"]
        assert ckpt.tensors["s"].numpy().tolist() == [1, 0, 0, 1]


# ------------------------------------------------------------------------------------------------------------------ weights_only


def plain(path: Path, tmp_path: Path) -> tuple[Any, dict[str, tuple[str, str]]]:
    """(the object of the sanitised copy with arrays, path → what was replaced and by what)."""
    done = inert.convert(path, tmp_path / "plain.pt", for_weights_only=True)
    with inert.open(tmp_path / "plain.pt") as ckpt:
        assert loads(ckpt)["weights_only"]["ok"], loads(ckpt)["weights_only"]
    return inert.load(tmp_path / "plain.pt"), {one.path: (one.was, one.now) for one in done.replaced}


def test_python_objects_become_plain_data(tmp_path: Path) -> None:
    made, replaced = plain(HERE / "torch" / "python_objects.pt", tmp_path)
    assert made["path"] == "a/b.txt"
    assert made["date"] == "1999-12-31"
    assert type(made["default"]) is dict
    assert type(made["frozenset"]) is set
    assert type(made["namespace"]) is dict
    assert type(made["deque"]) is list
    assert type(made["type"]) is str
    assert made["no bytes"] == b""
    assert made["partial"]["__class__"] == "functools.partial"
    assert replaced["path"][1] == "text"
    for same in ("int", "big", "str", "bytes", "complex", "list", "tuple", "set", "ordered", "counter", "size", "dtype", "device"):
        assert same not in replaced
    assert {"path", "date", "default", "frozenset", "namespace", "deque", "type", "partial", "slice", "range", "decimal"} <= set(replaced)


def test_objects_become_dicts_with_their_class(tmp_path: Path) -> None:
    color = Made(Name("my", "Color"), (2,))
    named = Made(Name("builtins", "getattr"), (Name("my", "Color"), "RED"))
    inner = Made(Name("my", "Config"), (), {"lr": 0.1, "__class__": "odd"}, new=True)
    base = Made(Name("copyreg", "_reconstructor"), (Name("my", "Old"), Name("builtins", "object"), None), {"x": 1})
    items = Made(Name("my", "Items"), (), {"y": 2}, ["a", inner], [("k", color)], new=True)
    state = {"c": color, "n": named, "o": inner, "b": base, "i": items, "again": inner}
    made, replaced = plain(saved(tmp_path / "in.pt", state), tmp_path)
    config = {"__class__": "my.Config", "lr": 0.1}
    assert made["c"] == 2
    assert made["n"] == "my.Color.RED"
    assert made["o"] == config
    assert made["again"] is made["o"]
    assert made["b"] == {"__class__": "my.Old", "x": 1}
    assert made["i"] == {"__class__": "my.Items", "y": 2, "items": ["a", config], "pairs": [("k", 2)]}
    assert replaced["c"] == ("my.Color", "int 2")
    assert replaced["o"] == ("my.Config", "dict")


def test_cycles_through_objects_stay_cycles(tmp_path: Path) -> None:
    child: Any = Made(Name("my", "Node"), (), {}, new=True)
    parent = Made(Name("my", "Node"), (), {"child": child, "list": [child]}, new=True)
    child.state["parent"] = parent
    made, _ = plain(saved(tmp_path / "in.pt", {"p": parent}), tmp_path)
    assert made["p"]["child"]["parent"] is made["p"]
    assert made["p"]["list"][0] is made["p"]["child"]


def test_arrays_become_tensors_and_scalars_numbers(tmp_path: Path) -> None:
    import pickle

    state = {"a": np.arange(6, dtype=">f4").reshape(2, 3), "f": np.asfortranarray(np.arange(4.0).reshape(2, 2)), "s": np.float32(0.5),
             "i": np.int64(7), "t": np.array(["x", "yz"]), "d": np.datetime64("2024-01-02"), "b": np.bool_(True)}  # fmt: skip
    (tmp_path / "in.pkl").write_bytes(pickle.dumps(state, 2))
    done = inert.convert(tmp_path / "in.pkl", tmp_path / "plain.pt", for_weights_only=True)
    with inert.open(tmp_path / "plain.pt") as ckpt:
        assert loads(ckpt)["weights_only"]["ok"]
        root = ckpt.root
        assert type(root["a"]) is Tensor
        assert root["a"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        assert root["f"].numpy().tolist() == [[0, 1], [2, 3]]
        assert (root["s"], root["i"], root["t"], root["d"], root["b"]) == (0.5, 7, ["x", "yz"], "2024-01-02", True)
        assert [type(root[key]) for key in "sib"] == [float, int, bool]
    assert {one.path for one in done.replaced} == set(state)


def test_keys_that_cannot_be_made_become_texts(tmp_path: Path) -> None:
    home = Name("pathlib", "PurePosixPath")
    pairs = [(Made(home, ("a",)), 1), ("a", 2), (Name("my", "Class"), 3), ((1, "x"), 4), (1 << 5000, 5)]
    source = saved(tmp_path / "in.pt", {"d": Made(Name("collections", "OrderedDict"), (), None, None, pairs)})
    made, replaced = plain(source, tmp_path)
    assert made["d"] == {"a#2": 1, "a": 2, "my.Class": 3, (1, "x"): 4, hex(1 << 5000): 5}
    assert any(was.startswith("a key") for was, _ in replaced.values())


def test_tensors_keep_their_bytes_their_ties_and_what_may_stay(tmp_path: Path) -> None:
    source = HERE / "lightning" / "namespace.ckpt"
    done = inert.convert(source, tmp_path / "plain.pt", for_weights_only=True)
    assert hashes(tmp_path / "plain.pt") == hashes(source)
    assert any(one.was == "argparse.Namespace" for one in done.replaced)
    inert.convert(HERE / "torch" / "sharing.pt", tmp_path / "tied.pt", for_weights_only=True)
    with inert.open(tmp_path / "tied.pt") as ckpt:
        assert ckpt.tensors["a"].storage == ckpt.tensors["view"].storage == ckpt.tensors["list.1"].storage


def test_a_whole_module_keeps_all_its_tensors(tmp_path: Path) -> None:
    inert.convert(HERE / "torch" / "module.pt", tmp_path / "plain.pt", for_weights_only=True)
    after = hashes(tmp_path / "plain.pt")
    for name, value in hashes(HERE / "torch" / "module.pt").items():
        assert value in after.values(), name


def test_for_weights_only_is_for_files_of_torch_load(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="no pickle of protocol 4"):
        inert.convert(LIGHTNING, tmp_path / "x.pt", for_weights_only=True, protocol=4)


# --------------------------------------------------------------------------------------------------------------------- Lightning


def test_a_state_dict_becomes_a_lightning_checkpoint_and_back(tmp_path: Path) -> None:
    inert.convert(LIGHTNING, tmp_path / "weights.pt", unwrap=True)
    inert.convert(tmp_path / "weights.pt", tmp_path / "x.ckpt", lightning="2.6.6")
    with inert.open(tmp_path / "x.ckpt") as ckpt:
        assert ckpt.root["pytorch-lightning_version"] == "2.6.6"
        assert (ckpt.root["epoch"], ckpt.root["global_step"]) == (0, 0)
    inert.convert(tmp_path / "x.ckpt", tmp_path / "again.pt", unwrap=True)
    assert hashes(tmp_path / "again.pt") == hashes(tmp_path / "weights.pt") == hashes(LIGHTNING, "state_dict.")
    with pytest.raises(UnsupportedError, match="only a state dict"):
        inert.convert(LIGHTNING, tmp_path / "y.ckpt", lightning="2.6.6")
    with pytest.raises(UnsupportedError, match="no version of Lightning"):
        inert.convert(tmp_path / "weights.pt", tmp_path / "y.ckpt", lightning="latest")


# ------------------------------------------------------------------------------------------------------------------- tensors[…]


def test_a_new_name_can_be_taken_away_again(tmp_path: Path) -> None:
    with inert.open(LIGHTNING) as ckpt:
        ckpt.tensors["state_dict.extra.w"] = np.ones(2, "f4")
        assert ckpt.tensors["state_dict.extra.w"].path == ("state_dict", "extra.w")
        assert ckpt.root["state_dict"]["extra.w"].shape == (2,)
        ckpt.tensors.rename("state_dict.extra.w", "state_dict.more")
        assert "more" in ckpt.root["state_dict"]
        del ckpt.tensors["state_dict.more"]
        assert "more" not in ckpt.root["state_dict"]


def test_new_names_lead_through_the_longest_keys(tmp_path: Path) -> None:
    inert.save({"a": {"x": 1}, "a.b": {"y": 2}, "n": {3: {"z": 4}}}, tmp_path / "x.pt")
    with inert.open(tmp_path / "x.pt") as ckpt:
        ckpt.tensors["a.b.c"] = np.ones(1, "f4")
        ckpt.tensors["n.3.w"] = np.ones(1, "f4")
        assert list(ckpt.root["a.b"]) == ["y", "c"]
        assert list(ckpt.root["n"][3]) == ["z", "w"]
        assert ckpt.tensors["n.3.w"].path == ("n", 3, "w")


def test_a_position_in_a_list_is_not_taken_out_by_name(tmp_path: Path) -> None:
    inert.save({"l": [np.zeros(1, "f4"), np.ones(1, "f4")]}, tmp_path / "x.pt")
    with inert.open(tmp_path / "x.pt") as ckpt, pytest.raises(UnsupportedError, match="nothing can be taken out of a list by name"):
        del ckpt.tensors["l.0"]


def test_a_bare_tensor_has_no_name_to_change(tmp_path: Path) -> None:
    inert.save(np.zeros(1, "f4"), tmp_path / "x.pt")
    with inert.open(tmp_path / "x.pt") as ckpt:
        with pytest.raises(ValueError, match="the whole object is this tensor"):
            ckpt.tensors.rename("", "x")
        index = ckpt.tensors
        index[""] = np.ones(3, "f4")
        assert index[""].shape == ckpt.root.shape == (3,)
        ckpt.save(tmp_path / "y.pt")
    assert inert.load(tmp_path / "y.pt").tolist() == [1, 1, 1]
    with inert.open(tmp_path / "x.pt") as ckpt, pytest.raises(UnsupportedError, match="cannot be called"):
        from inert.ops.select import rename

        rename(ckpt.root, [("^$", "w")], ckpt.content.limits)


def test_names_of_globals_and_objects_stay_inert(tmp_path: Path) -> None:
    """A cast leaves what is no tensor alone: names and objects of the file are the same nodes."""
    source = saved(
        tmp_path / "in.pt",
        {"f": Name("os", "system"), "o": Made(Name("my", "C"), (1, 2)), "w": tensor(storage("0", 1), ())},
        {"0": bytes(4)},
    )
    inert.convert(source, tmp_path / "out.pt", dtype="bf16")
    with inert.open(tmp_path / "out.pt") as ckpt:
        assert type(ckpt.root["f"]) is Global
        assert ckpt.root["f"].dotted == "os.system"
        assert type(ckpt.root["o"]) is Object
        assert ckpt.root["o"].arguments == (1, 2)


def test_a_gradient_that_torch_could_not_read_back_is_left_out_and_noted(tmp_path: Path) -> None:
    wanted = Tensor(Layout(DTYPES["float32"], (4,), (1,), 0, Storage("x", 16, DTYPES["float32"], "cpu", BytesSource(bytes(16)).span), True))
    inert.save({"w": wanted}, tmp_path / "w.pt")
    done = inert.convert(tmp_path / "w.pt", tmp_path / "cast.pt", dtype="float8_e5m2")
    assert [(note.code, note.tensors) for note in done.notes] == [("cast-no-grad", ("w",))]
    assert not inert.open(tmp_path / "cast.pt").tensors["w"].requires_grad


def test_a_wrapped_tensor_keeps_the_device_that_it_names(tmp_path: Path) -> None:
    pickled = next((HERE / "distributed").glob("dtensor-2.13.0-*.pt"))
    with zipfile.ZipFile(pickled) as archive:
        entries = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    data = entries.pop("data.pkl").replace(b"X\x03\x00\x00\x00cpu", b"X\x03\x00\x00\x00xpu")
    storages = {name.removeprefix("data/"): raw for name, raw in entries.items() if name.startswith("data/")}
    (tmp_path / "x.pt").write_bytes(torch_zip(data, storages))
    done = inert.convert(tmp_path / "x.pt", tmp_path / "cpu.pt", device="cpu")
    assert "device-left" in {note.code for note in done.notes}


# ------------------------------------------------------------------------------------------------------------------ programs


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_what_a_program_is_beside_its_tensors_is_told_as_lost(suffix: str, tmp_path: Path) -> None:
    to = "torch-zip" if suffix == ".pt" else None
    lost = dict(inert.convert(HERE / "script" / "module.pt", tmp_path / f"x{suffix}", to=to).lost)
    assert lost == {
        "module/extra/sub/labels.txt": "a file that was put in beside the program",
        "module/code/__torch__.py": "source of the program",
        "training": "an attribute of the module (bool)",
        "numbers": "an attribute of the module (list)",
        "inner.training": "an attribute of the module (bool)",
        "tied.training": "an attribute of the module (bool)",
    }
    assert inert.convert(HERE / "script" / "module.pt", tmp_path / "same.pt").lost == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lite.ptl", {"lite/code/__torch__.py and 1 more", "lite/bytecode.pkl"}),
        ("flatbuffer.ptl", {"code/__torch__"}),
        ("package.pt", {"package/packed.py", "package/conf/labels.txt and 1 more"}),
        ("export.pt2", {"export/models/model.json", "export/extra/note.txt"}),
    ],
)
def test_every_program_s_records_are_told_as_lost(name: str, told: set[str], tmp_path: Path) -> None:
    source = HERE / "script" / name
    assert told <= {lost for lost, _ in inert.convert(source, tmp_path / "x.pt", to="torch-zip").lost}


def test_configurations_that_become_plain_are_told(tmp_path: Path) -> None:
    _, replaced = plain(HERE / "lightning" / "omegaconf.ckpt", tmp_path)
    told = {path: was for path, (was, _) in replaced.items() if path.startswith("hyper_parameters")}
    assert sorted(told.values()) == ["omegaconf.dictconfig.DictConfig"] * 2 + ["omegaconf.listconfig.ListConfig"]
    assert replaced["…"] == ("4 × omegaconf.nodes.AnyNode", "what they hold")
    assert inert.convert(tmp_path / "plain.pt", tmp_path / "again.pt", for_weights_only=True).replaced == []
