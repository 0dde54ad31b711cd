"""``inert.diff``: what is the same, what differs, what has another name, what has no effect on values.

Files are made by hand, written with inert, or by the real frameworks (tests/corpus); what differs is what the test itself changed.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import inert
from inert.errors import InertError, UnsupportedError
from inert.ops.diff_kinds import MISSING
from inert.report.diff import sentences, told
from tests.makers import Made, Name, dumps, storage, tensor, torch_zip

HERE = Path(__file__).parent / "corpus"
LIGHTNING = HERE / "lightning" / "plain.ckpt"
SELF = [
    path
    for folder in ("torch", "legacy", "lightning", "safetensors", "pickles", "script", "python2", "crafted")
    for path in sorted((HERE / folder).iterdir())
    if path.is_file() and path.suffix not in (".json", ".md")
]


def saved(path: Path, state: Any, **options: Any) -> Path:
    inert.save(state, path, sync=False, **options)
    return path


def two(tmp_path: Path, a: Any, b: Any, **options: Any) -> inert.Difference:
    return inert.diff(saved(tmp_path / "a.pt", a), saved(tmp_path / "b.pt", b), **options)


def arrays(*names: str, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {name: rng.standard_normal((3, 5 + i)).astype("f4") for i, name in enumerate(names)}


def paths(made: inert.Difference) -> dict[str, tuple[Any, Any]]:
    return {one.path: (one.a, one.b) for one in made.values}


# ---------------------------------------------------------------------------------------------------------------------- the same


@pytest.mark.parametrize("path", SELF, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_file_is_the_same_as_its_copy(path: Path) -> None:
    try:
        with inert.open(path) as ckpt:
            bad = sum(bool(tensor.layout.fault) for tensor in ckpt.tensors.values())
    except InertError:
        pytest.skip("not to be opened")
    found = inert.diff(path, io.BytesIO(path.read_bytes()) if path.suffix not in (".bin", ".json") else path)
    unread = [one for one in found.changed if one.differs == ("unread",)]
    assert len(found.changed) == sum("damaged" in one.differs for one in found.changed) + len(unread), sentences(found)
    assert sum("damaged" in one.differs for one in found.changed) >= bad
    assert [*found.removed, *found.added, *found.renamed, *found.minor] == [], sentences(found)
    assert bad or not found.values
    assert told(found)["same"] is found.same


@pytest.mark.parametrize("suffix", [".safetensors", "legacy.pt", ".safetensors.index.json"])
def test_containers_do_not_matter(suffix: str, tmp_path: Path) -> None:
    state = arrays("w", "v.b", "z") | {"half": np.ones(3, "f2"), "n": np.array([2**62, -1]), "flag": np.array([True])}
    options = {"legacy.pt": {"format": "torch-legacy"}, ".safetensors.index.json": {"max_shard_size": 200}}.get(suffix, {})
    other = saved(tmp_path / f"b{suffix}", state, **options)
    found = inert.diff(saved(tmp_path / "a.pt", state), other)
    assert (found.same, found.equal) == (True, 6)
    assert found.a.format != found.b.format
    state["n"] = state["n"] + 1
    again = inert.diff(saved(tmp_path / "a.pt", state), other)
    assert [(one.name, one.differs, one.figures.max_abs) for one in again.changed if one.figures] == [("n", ("values",), 1)]


def test_an_open_checkpoint_and_a_stream_are_taken_too(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.pt", arrays("w"))
    with inert.open(path) as ckpt:
        assert inert.diff(ckpt, path).same
        assert inert.diff(ckpt, ckpt).same
        ckpt.tensors["w"] = np.zeros((3, 5), "f4")
        found = inert.diff(ckpt, io.BytesIO(path.read_bytes()))
        assert ([one.name for one in found.changed], found.values) == (["w"], [])
        assert ckpt.tensors["w"].shape == (3, 5), "it stays open"


def test_what_has_no_effect_on_values_is_told_and_no_difference(tmp_path: Path) -> None:
    w = np.arange(12, dtype="f4").reshape(3, 4)
    lies = {
        "a": {"w": tensor(storage("0", 12), (3, 4)), "v": tensor(storage("1", 2), (2,)), "t": tensor(storage("1", 2), (2,))},
        "b": {"v": tensor(storage("1", 2), (2,)), "w": tensor(storage("0", 12), (3, 4), (1, 3)), "t": tensor(storage("2", 2), (2,))},
    }
    files = {"a": {"0": w.tobytes(), "1": struct.pack("<2f", 0, 1)}, "b": {"0": w.T.tobytes(), "1": struct.pack("<2f", -0.0, 1)}}
    files["b"]["2"] = files["a"]["1"]
    a, b = (io.BytesIO(torch_zip(dumps(lies[side]), files[side])) for side in "ab")
    found = inert.diff(a, b)
    assert found.same
    minor = {one.what: one for one in found.minor}
    assert minor.keys() == {"strides", "bits", "ties", "order"}
    assert (minor["strides"].names, minor["strides"].a, minor["strides"].b) == (["w"], "row-major", "column-major")
    assert (minor["bits"].names, minor["ties"].names, minor["ties"].b) == (["v"], ["v", "t"], "apart")


# ----------------------------------------------------------------------------------------------------------------------- tensors


def test_names_shapes_dtypes_and_values(tmp_path: Path) -> None:
    a = arrays("same", "gone", "shape", "dtype", "values")
    b = {**a, "new": np.ones(30, "f4"), "shape": a["shape"].T.copy(), "dtype": a["dtype"].astype("f8"), "values": a["values"].copy()}
    del b["gone"]
    b["values"][1, 2] += 3
    found = two(tmp_path, a, b)
    assert (found.removed, found.added, found.same) == (["gone"], ["new"], False)
    assert {one.name: one.differs for one in found.changed}.keys() == {"shape", "dtype", "values"}
    assert {one.name: one.differs for one in found.changed if one.name != "shape"} == {"dtype": ("dtype",), "values": ("values",)}
    assert "shape" in next(one for one in found.changed if one.name == "shape").differs
    (values,) = (one for one in found.changed if one.name == "values")
    assert values.figures is not None
    assert (values.figures.different, values.index(values.figures.first)) == (1, (1, 2))
    assert values.figures.max_abs == pytest.approx(3, rel=1e-6)
    assert found.kinds["dtype"] == found.kinds["shape"] == 1


def test_ignoring_dtypes_and_tolerances(tmp_path: Path) -> None:
    a = arrays("w", "v")
    b = {name: value.astype(ml_dtypes.bfloat16) for name, value in a.items()}
    assert {one.differs for one in two(tmp_path, a, b).changed} == {("dtype", "values")}
    assert {one.differs for one in two(tmp_path, a, b, ignore_dtype=True).changed} == {("values",)}
    near = two(tmp_path, a, b, ignore_dtype=True, rtol=2**-8)
    assert (near.same, near.equal, len(near.close), near.changed) == (True, 0, 2, [])
    assert "within the tolerance only" in sentences(near)[0]
    exact = {name: value.astype("f8") for name, value in a.items()}
    assert two(tmp_path, a, exact, ignore_dtype=True).same, "float64 holds every float32"


def test_nans(tmp_path: Path) -> None:
    a, b = {"w": np.array([1, np.nan], "f4")}, {"w": np.array([np.nan, np.nan], "f4")}
    assert two(tmp_path, a, a).same
    assert not two(tmp_path, a, a, equal_nan=False).same
    (one,) = two(tmp_path, a, b, rtol=1e9).changed
    assert one.figures is not None
    assert (one.figures.different, one.figures.nan) == (1, [0, 1])


def test_a_damaged_tensor_is_a_difference_with_its_reason() -> None:
    whole = {"w": tensor(storage("0", 4), (4,)), "v": tensor(storage("1", 4), (4,))}
    a = io.BytesIO(torch_zip(dumps(whole), {"0": bytes(16), "1": bytes(16)}))
    b = io.BytesIO(torch_zip(dumps(whole), {"0": bytes(16)}))
    found = inert.diff(a, b)
    assert [(one.name, one.differs) for one in found.changed] == [("v", ("damaged",))]
    assert found.changed[0].why.startswith("damaged in b: ")


@pytest.mark.parametrize("name", ["quantized.pt", "sparse.pt", "nested.pt", "dtypes.pt", "views.pt", "subclasses.pt", "conj_neg.pt"])
def test_one_byte_of_any_kind_of_tensor_is_found(name: str) -> None:
    data = (HERE / "torch" / name).read_bytes()
    with inert.open(io.BytesIO(data)) as ckpt:
        spots = {part.offset: part.size for part in ckpt.parts.values() if part.role == "storage" and part.size and part.offset}
    seen = 0
    for offset in list(spots)[:12]:
        cut = bytearray(data)
        cut[offset] ^= 1
        found = inert.diff(io.BytesIO(data), io.BytesIO(bytes(cut)))
        seen += not found.same
        assert [*found.removed, *found.added] == []
    assert seen >= len(list(spots)[:12]) * 0.7, "all but what no tensor views, and what is minor (-0.0)"


# ------------------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize("prefix", ["module.", "model.", "_orig_mod.", "model.module.", "a.b.c.", "net/", "x"])
@pytest.mark.parametrize("turned", [False, True])
def test_prefixes_are_recognised(prefix: str, turned: bool, tmp_path: Path) -> None:
    a = arrays("embed.weight", *(f"layers.{i}.{part}" for i in range(6) for part in ("weight", "bias")))
    b = {prefix + name: value for name, value in a.items()}
    if turned:
        a, b = b, a
    found = two(tmp_path, a, b)
    assert not found.same
    assert (found.removed, found.added, found.changed, found.equal) == ([], [], [], len(a))
    (rule,) = found.rules
    assert (rule.where, rule.old, rule.new, rule.side) == ("start", prefix, "", "a" if turned else "b")
    assert f"prefix `{prefix}`" in sentences(found)[1]
    assert two(tmp_path, a, b, auto_rename=True).same
    assert two(tmp_path, a, b, rename={rule.pattern: rule.text}).same, "what the sentence proposes does it"
    one = next(iter(b))
    b[one] = b[one] + 1
    changed = two(tmp_path, a, b)
    assert [change.other for change in changed.changed] == [one]


def test_words_inside_and_suffixes_are_recognised(tmp_path: Path) -> None:
    a = arrays(*(f"layers.{i}.attn.{part}" for i in range(5) for part in ("q", "k")))
    for new in ("blocks.{}.attn.{}", "layers.{}._orig_mod.attn.{}", "layers.{}.attn.{}.value", "layers.{}.attention.{}"):
        b = {new.format(*[name.split(".")[i] for i in (1, 3)]): value for name, value in a.items()}
        found = two(tmp_path, a, b, auto_rename=True)
        assert (found.same, found.equal, len(found.rules)) == (True, 10, 1), new


def test_another_layer_is_another_tensor(tmp_path: Path) -> None:
    a = arrays(*(f"layers.{i}.weight" for i in range(4)))
    b = {f"layers.{i + 4}.weight": value + 1 for i, value in enumerate(a.values())}
    found = two(tmp_path, a, b)
    assert (found.rules, len(found.removed), len(found.added)) == ([], 4, 4)


def test_equal_content_under_another_name(tmp_path: Path) -> None:
    a = arrays("kept", "first", "odd") | {"zeros": np.zeros(100, "f4")}
    b = {"kept": a["kept"], "wholly.different": a["first"], "strange": a["odd"] + 1, "empty": np.zeros(100, "f4")}
    found = two(tmp_path, a, b)
    assert [(one.a, one.b, one.how) for one in found.renamed] == [("first", "wholly.different", "content")]
    assert (found.removed, found.added) == (["odd", "zeros"], ["strange", "empty"]), "zeros prove nothing"
    assert not found.same


def test_rules_of_the_user(tmp_path: Path) -> None:
    a = arrays("w", "v")
    b = {f"net.{name}": value for name, value in a.items()}
    found = two(tmp_path, a, b, rename=[(r"^net\.", "")])
    assert (found.same, {one.how for one in found.renamed}) == (True, {"rule"})
    with pytest.raises(UnsupportedError, match="would both be called"):
        two(tmp_path, a, b, rename={"[wv]": "x"})
    with pytest.raises(UnsupportedError, match="no regular expression"):
        two(tmp_path, a, b, rename={"(": ""})
    with pytest.raises(UnsupportedError, match="cannot take the place"):
        two(tmp_path, a, b, rename={"w": r"\7"})
    with pytest.raises(UnsupportedError, match="no mapping"):
        two(tmp_path, a, b, rename=["abc"])


# ------------------------------------------------------------------------------------------------------------------------ values


@pytest.mark.parametrize(
    ("a", "b", "differs"),
    [
        (1, 2, True), (1, 1.0, False), (0.1, 0.1, False), ("x", "y", True), ("x", b"x", True), (None, 0, True), (True, 1, False),
        (float("nan"), float("nan"), False), (0.0, -0.0, False), ([1, 2], (1, 2), False), ([1], [1, 2], True), ({1, 2}, {2, 1}, False),
        ({1}, {2}, True), ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False), ({}, None, True), (OrderedDict(a=1), {"a": 1}, False),
        (2**80, 2**80 + 1, True), ("é" * 500, "é" * 499 + "e", True), (1 + 2j, 1 + 2j, False), ([[[]]], [[()]], False),
    ],
)  # fmt: skip
def test_values(a: Any, b: Any, differs: bool, tmp_path: Path) -> None:
    w = np.ones(2, "f4")
    found = two(tmp_path, {"w": w, "value": a}, {"w": w, "value": b})
    assert found.same is not differs, found.values
    assert all(path.split(".")[0] == "value" for path in paths(found))


def test_values_have_their_paths(tmp_path: Path) -> None:
    a = {"epoch": 3, "cfg": {"lr": 0.1, "old": 1, "list": [1, 2]}, "w": np.ones(2, "f4")}
    b = {"epoch": 4, "cfg": {"lr": 0.1, "new": 1, "list": [1, 5]}, "w": np.ones(2, "f4")}
    found = two(tmp_path, a, b)
    assert paths(found) == {"epoch": (3, 4), "cfg.old": (1, MISSING), "cfg.new": (MISSING, 1), "cfg.list.1": (2, 5)}
    assert {one.path: one.what for one in found.values}["cfg.new"] == "added"
    assert paths(two(tmp_path, a, b, keep=["cfg"])).keys() == {"cfg.old", "cfg.new", "cfg.list.1"}
    assert paths(two(tmp_path, a, b, drop=["cfg"])).keys() == {"epoch"}
    b["cfg"]["lr"] = 0.1 + 1e-9
    assert "cfg.lr" in paths(two(tmp_path, a, b))
    assert "cfg.lr" not in paths(two(tmp_path, a, b, rtol=1e-6))


def test_unknown_objects_are_compared_by_what_they_hold() -> None:
    def one(name: str, **fields: Any) -> io.BytesIO:
        return io.BytesIO(torch_zip(dumps({"o": Made(Name("app", name), (), fields)}), {}))

    assert inert.diff(one("Config", lr=1), one("Config", lr=1)).same
    assert paths(inert.diff(one("Config", lr=1), one("Config", lr=2))).keys() == {"o.lr"}
    assert "o.<class>" in paths(inert.diff(one("Config", lr=1), one("Other", lr=1)))


def test_only_weights(tmp_path: Path) -> None:
    with inert.open(LIGHTNING) as ckpt:
        weights = {name.removeprefix("state_dict."): t.numpy() for name, t in ckpt.tensors.items() if name.startswith("state_dict.")}
    bare = saved(tmp_path / "w.safetensors", weights)
    found = inert.diff(LIGHTNING, bare, only="weights")
    assert (found.same, found.equal, found.a.part, found.b.part) == (True, len(weights), "state_dict", "")
    assert not inert.diff(LIGHTNING, bare).same
    name = next(name for name, value in weights.items() if value.dtype.kind == "f")
    weights[name] = weights[name] + 1
    assert [one.name for one in inert.diff(LIGHTNING, saved(bare, weights), only="weights").changed] == [name]
    with pytest.raises(UnsupportedError, match="only="):
        inert.diff(LIGHTNING, bare, only="optimizer")
    with pytest.raises(UnsupportedError, match="rtol"):
        inert.diff(LIGHTNING, bare, rtol=-1)


# ----------------------------------------------------------------------------------------------------------------------- bounds


def test_deep_wide_and_circular_values(tmp_path: Path) -> None:
    data = b"\x80\x02" + b"]" * 3000 + b"K\x01" + b"a" * 3000 + b"."
    other = data.replace(b"K\x01", b"K\x02")
    found = inert.diff(io.BytesIO(data), io.BytesIO(other), auto_rename=True)
    assert (found.values_count, found.values[0].a, found.values[0].b) == (1, 1, 2)
    assert len(found.values[0].path) < 1000
    ring = b"\x80\x02]q\x00h\x00a."  # a list that holds itself
    assert inert.diff(io.BytesIO(ring), io.BytesIO(ring)).same
    many = {"n": list(range(3000)), "w": np.ones(1, "f4")}
    counted = two(tmp_path, many, {**many, "n": list(range(1, 3001))})
    assert (counted.values_count, len(counted.values)) == (3000, 1000)


def test_progress_is_told_of_both_files(tmp_path: Path) -> None:
    a = arrays("w", "v")
    b = {name: value + 1 for name, value in a.items()}
    seen: list[int] = []
    two(tmp_path, a, b, progress=seen.append)
    assert sum(seen) == 2 * sum(value.nbytes for value in a.values())


# ---------------------------------------------------------------------------------------------------------------- files of any kind


FOLDERS = [path for kind in ("tf", "dcp", "deepspeed", "sharded") for path in sorted((HERE / kind).iterdir()) if path.is_dir()]


@pytest.mark.parametrize("path", FOLDERS[::3], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_folders_are_the_same_as_themselves(path: Path) -> None:
    try:
        found = inert.diff(path, path)
    except InertError:
        pytest.skip("not to be opened")
    assert all(one.differs in (("damaged",), ("unread",)) for one in found.changed), found.changed
    assert [*found.removed, *found.added, *found.minor] == []


@pytest.mark.parametrize("folder", ["hostile", "broken"])
def test_hostile_and_broken_files_end_in_a_result_or_one_line(folder: str) -> None:
    ends = set()
    for path in sorted((HERE / folder).iterdir())[::3]:
        if path.is_file() and path.stat().st_size < 1 << 16 and not path.name.startswith(("deep_", "copies_")):  # slow ones
            try:
                json.dumps(told(inert.diff(path, LIGHTNING)), allow_nan=False)
                json.dumps(told(inert.diff(path, io.BytesIO(path.read_bytes()))), allow_nan=False)
                ends.add("result")
            except InertError as error:
                assert str(error).count("\n") == 0
                ends.add("error")
    assert ends == {"result", "error"}


def test_strings_of_tensorflow(tmp_path: Path) -> None:
    with inert.open(HERE / "tf" / "strings") as ckpt:
        name = next(name for name, tensor in ckpt.tensors.items() if tensor.dtype == "string" and tensor.shape)
        held = ckpt.tensors[name].numpy().copy()
        held.flat[-1] = b"another"
        ckpt.tensors[name] = held
        ckpt.save(tmp_path / "edited")
        found = inert.diff(HERE / "tf" / "strings", tmp_path / "edited", drop=["_CHECKPOINTABLE_OBJECT_GRAPH"])
    assert [one.name for one in found.changed] == [name]
    figures = found.changed[0].figures
    assert figures is not None
    assert (figures.count, figures.different, figures.first) == (held.size, 1, held.size - 1)
    assert figures.firsts is not None
    assert figures.firsts[1] == b"another"


def test_another_program_of_the_same_weights() -> None:
    path = HERE / "script" / "kinds.pt"
    same, other = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(same, "w") as one, zipfile.ZipFile(other, "w") as two:
        for name in archive.namelist():
            data = archive.read(name)
            one.writestr(name, data)
            two.writestr(name, data + b"# more\n" if name.endswith("/code/__torch__.py") else data)
    found = inert.diff(path, same)
    assert (found.same, found.values_count) == (True, 0), "stored or deflated, it is the same code"
    for first in (path, same):
        found = inert.diff(first, other)
        assert (found.same, found.changed, found.values_count) == (False, [], 1)
        assert (found.values[0].path, found.values[0].a) == ("code/__torch__.py", "686 bytes of code")


def test_metadata_of_safetensors_is_minor() -> None:
    def file(text: str) -> io.BytesIO:
        header = json.dumps({"__metadata__": {"by": text}, "w": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}}).encode()
        return io.BytesIO(struct.pack("<Q", len(header)) + header + b"ab")

    found = inert.diff(file("me"), file("you"))
    assert (found.same, [(one.what, one.names) for one in found.minor]) == (True, [("metadata", ["by"])])
    assert sentences(found)[1] == "no effect on values: 1 entry of metadata"


def test_quantised_tensors_and_what_they_stand_for(tmp_path: Path) -> None:
    path = HERE / "torch" / "quantized.pt"
    with inert.open(path) as ckpt:
        plain = {name: ckpt.tensors[name].dequantize() for name in ("qint8", "quint8", "channels", "float channels", "transposed")}
    saved(tmp_path / "plain.pt", plain)
    found = inert.diff(path, tmp_path / "plain.pt", keep=list(plain))
    assert {one.name for one in found.changed} == plain.keys()
    assert all(set(one.differs) == {"kind", "dtype"} for one in found.changed), "their elements are the same numbers"
    plain["channels"] = plain["channels"] + np.float32(1)
    (one,) = inert.diff(path, saved(tmp_path / "plain.pt", plain), keep=["channels"]).changed
    assert one.figures is not None
    assert (one.figures.different, one.figures.max_abs) == (12, pytest.approx(1, rel=1e-5))


def test_a_pattern_that_fits_nothing_is_said_and_a_comparison_of_nothing_is_refused(tmp_path: Path) -> None:
    path = HERE / "lightning" / "namespace.ckpt"
    with pytest.raises(UnsupportedError, match="nothing fits state_dit"):
        inert.diff(path, path, keep=["state_dit"])
    found = inert.diff(path, path, keep=["state_dict", "state_dit"], drop=["zzz"])
    assert [note.message for note in found.notes if note.code == "pattern-idle"] == [
        "'state_dit' fits nothing on either side",
        "'zzz' fits nothing on either side",
    ]
    assert found.same
    assert not inert.diff(path, path, keep=["epoch"]).notes
