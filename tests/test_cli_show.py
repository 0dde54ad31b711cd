"""``inert show``: values, slices, statistics, other values by their path, and .npy files."""

from __future__ import annotations

import json
import math
import os
import random
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.makers import KINDS, Made, Name, storage, tensor
from tests.test_cli_ls import STEERING, saved
from tests.test_cli_main import Run, run

__all__ = ["run"]


def shown(run: Run, *words: str | Path, code: int = 0) -> dict[str, Any]:
    found, out, err = run("show", "--json", *words)
    assert found == code, err
    made: dict[str, Any] = json.loads(out)
    return made


def grid(tmp_path: Path, rows: int = 4, columns: int = 6) -> Path:
    """w: float32 [rows, columns], 0 1 2 …; and other values beside it."""
    count = rows * columns
    state = {
        "w": tensor(storage("0", count), (rows, columns)),
        "optimizer_states": [{"param_groups": [{"lr": 0.25, "betas": (0.9, 0.999), "params": [0, 1]}]}],
        "a.b": {"c": 1},
        "a": {"b": {"c": 2, "d": 3}},
        "nothing": None,
        7: "seven",
    }
    return saved(tmp_path / "x.pt", state, {"0": np.arange(count, dtype="<f4").tobytes()})


# ------------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("optimizer_states.0.param_groups.0.lr", 0.25),
        ("optimizer_states.0.param_groups.0.betas", [0.9, 0.999]),
        ("optimizer_states.0.param_groups.0.betas.1", 0.999),
        ("a.b", {"c": 1}),
        ("a.b.d", 3),
        ("a", {"b": {"c": 2, "d": 3}}),
        ("nothing", None),
        ("7", "seven"),
    ],
)
def test_any_value_by_its_path(run: Run, tmp_path: Path, name: str, value: Any) -> None:
    found = shown(run, grid(tmp_path), name)
    assert (found["name"], found["value"]) == (name, value)


def test_the_whole_object_without_a_name(run: Run, tmp_path: Path) -> None:
    path = grid(tmp_path)
    found = shown(run, path)
    assert list(found["value"]) == ["w", "optimizer_states", "a.b", "a", "nothing", "7"]
    assert found["value"]["w"] == {"tensor": "w", "dtype": "float32", "shape": [4, 6]}
    code, out, _ = run("show", path)
    assert code == 0
    assert out.splitlines() == [
        "w: <float32 [4,6]>", "optimizer_states:", "  -", "    param_groups:", "      - {lr: 0.25, betas: [0.9, 0.999], params: [0, 1]}",
        "a.b: {c: 1}", "a:", "  b: {c: 2, d: 3}", "nothing: None", '7: "seven"',
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "like"), [("ww", "'w'"), ("optimizer_state", "optimizer_states"), ("zzz", "there is 'w'")])
def test_an_unknown_name_gets_those_like_it(run: Run, tmp_path: Path, name: str, like: str) -> None:
    code, out, err = run("show", grid(tmp_path), name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"there is no {name!r} in it" in err
    assert like in err


def test_a_destination_that_cannot_be_is_named_itself(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for out in (tmp_path / "nodir" / "x.npy", tmp_path / "folder"):
        code, _, err = run("show", grid(tmp_path), "w", "--npy", out)
        assert (code, err.count("\n")) == (2, 1)
        assert err.startswith(f"inert: {out}: ")
        assert ".tmp" not in err
    assert [*(tmp_path / "folder").iterdir()] == []


@pytest.mark.parametrize("command", ["ls", "info", "show", "parts"])
@pytest.mark.parametrize(
    ("word", "said"), [("https://host/x.pt", "download it first"), ("-", "give a file's path"), ("~/x.pt", "whole path")]
)
def test_words_that_are_no_paths_have_a_sentence(run: Run, command: str, word: str, said: str) -> None:
    code, out, err = run(command, word)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"inert: {word}: ")
    assert said in err


def test_a_name_that_steers_is_escaped(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"\x1b[31m": {"\u202e": "\x07" * 3, "b": b"\x1b"}, "t\x1b": tensor(storage("0", 6), (6,))})
    for words in ([], ["\x1b[31m"], ["t\x1b"], ["t\x1b", "--stats"], ["t\x1b[0:2]"], ["\x1b"], ["--json"], ["t\x1b", "--json"]):
        _, out, err = run("show", path, *words)
        assert not STEERING.search((out + err).replace("\n", "")), words


# ------------------------------------------------------------------------------------------------------------------ slices

WHOLE = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize(
    ("index", "want"),
    [
        ("[0:2,3]", WHOLE[0:2, 3]),
        ("[1]", WHOLE[1]),
        ("[-1]", WHOLE[-1]),
        ("[..., 2]", WHOLE[..., 2]),
        ("[:, ::2]", WHOLE[:, ::2]),
        ("[::-1, 0]", WHOLE[::-1, 0]),
        ("[3, 5]", WHOLE[3, 5]),
        ("[9:, 0]", WHOLE[9:, 0]),
        ("[1:3][0]", None),
    ],
)
def test_slices(run: Run, tmp_path: Path, index: str, want: Any) -> None:
    path = grid(tmp_path)
    if want is None:
        assert run("show", path, f"w{index}")[0] == 2
        return
    found = shown(run, path, f"w{index}", "--stats")
    assert found["values"] == want.tolist()
    assert (found["name"], found["shape"], found["stats"]["count"]) == (f"w{index}", list(want.shape), want.size)


@pytest.mark.parametrize(
    ("index", "word"),
    [
        ("[4]", "out of bounds"),
        ("[0,0,0]", "too many indices"),
        ("[...,...]", "ellipsis"),
        ("[::0]", "zero"),
        ("[99999999999999999999999]", "no slice of 'w'"),
        ("[x]", "such as [0:2,3]"),
    ],
)
def test_a_slice_that_does_not_fit(run: Run, tmp_path: Path, index: str, word: str) -> None:
    code, out, err = run("show", grid(tmp_path), f"w{index}")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert word in err


def test_a_tensor_whose_name_looks_like_a_slice_comes_first(run: Run, tmp_path: Path) -> None:
    state = {"w": tensor(storage("0", 6), (6,)), "w[0]": tensor(storage("0", 6), (2, 3))}
    assert shown(run, saved(tmp_path / "x.pt", state), "w[0]")["shape"] == [2, 3]


# ------------------------------------------------------------------------------------------------------------------ values


def test_a_large_tensor_gives_a_corner_unless_full(run: Run, tmp_path: Path) -> None:
    path = grid(tmp_path, 50, 60)
    whole = np.arange(3000, dtype=np.float32).reshape(50, 60)
    found = shown(run, path, "w")
    rows = len(found["values"])
    assert found["values_of"] == f"[0:{rows},0:{rows}]"
    assert found["values"] == whole[:rows, :rows].tolist()
    assert shown(run, path, "w", "--full")["values"] == whole.tolist()
    text = run("show", path, "w")[1].split("\n", 1)[1].rstrip()
    assert text == np.array2string(whole, threshold=100, edgeitems=3, max_line_width=120), "as NumPy prints it, made of the ends alone"
    assert run("show", path, "w", "--full")[1].count("e+0") >= 3000


DTYPES = [
    ("Float", struct.pack("<4f", 1.5, math.nan, math.inf, -math.inf), [1.5, "NaN", "Infinity", "-Infinity"]),
    ("Double", struct.pack("<2d", 0.1, -0.0), [0.1, -0.0]),
    ("Half", struct.pack("<2e", 1.5, 65504), [1.5, 65504.0]),
    ("BFloat16", struct.pack("<2H", 0x3FC0, 0x7F80), [1.5, "Infinity"]),
    ("Long", struct.pack("<2q", -(2**63), 2**63 - 1), [-(2**63), 2**63 - 1]),
    ("Bool", b"\0\1", [False, True]),
    ("ComplexFloat", struct.pack("<4f", 1, 2, 0, math.nan), ["1+2j", "nanj"]),
    ("ComplexDouble", struct.pack("<2d", -1, -0.5), ["-1-0.5j"]),
]


@pytest.mark.parametrize(("kind", "data", "values"), DTYPES, ids=[row[0] for row in DTYPES])
def test_values_of_each_type(run: Run, tmp_path: Path, kind: str, data: bytes, values: list[Any]) -> None:
    count = len(values)
    path = saved(tmp_path / "x.pt", {"t": tensor(storage("0", count, kind), (count,))}, {"0": data})
    assert shown(run, path, "t")["values"] == values
    assert run("show", path, "t", "--stats")[0] == 0


@pytest.mark.parametrize(
    ("name", "data", "values"),
    [
        ("float8_e4m3fn", b"\x38\x7f", [1.0, "NaN"]),
        ("float8_e5m2", b"\x3c\x7c", [1.0, "Infinity"]),
        ("float4_e2m1fn_x2", b"\x21\xf7", [0.5, 1.0, 6.0, -6.0]),
        ("complex32", struct.pack("<4e", 1, -2, 0.5, 0), ["1-2j", "0.5+0j"]),
        ("bcomplex32", struct.pack("<2H", 0x3F80, 0x4000), ["1+2j"]),
        ("uint64", struct.pack("<2Q", 2**64 - 1, 0), [2**64 - 1, 0]),
    ],
)
def test_types_that_numpy_or_old_torch_lack(run: Run, tmp_path: Path, name: str, data: bytes, values: list[Any]) -> None:
    """_rebuild_tensor_v3 over an untyped storage; a float4 pair counts as one element."""
    items = len(data) if name.startswith(("float8", "float4")) else len(values)
    made = Made(
        Name("torch._utils", "_rebuild_tensor_v3"),
        (storage("0", len(data), "Untyped"), 0, (items,), (1,), False, OrderedDict(), Name("torch", name)),
    )
    path = saved(tmp_path / "x.pt", {"t": made}, {"0": data})
    found = shown(run, path, "t", "--stats")
    assert (found["dtype"], found["values"]) == (name, values)
    assert found["stats"]["count"] == len(values)
    assert run("show", path, "t")[0] == 0


def test_quantised_integers_with_their_scale(run: Run, tmp_path: Path) -> None:
    scheme = (Name("torch", "per_tensor_affine"), 0.5, 3)
    made = Made(Name("torch._utils", "_rebuild_qtensor"), (storage("0", 4, "QInt8"), 0, (4,), (1,), scheme, False, OrderedDict()))
    path = saved(tmp_path / "x.pt", {"q": made}, {"0": struct.pack("<4b", -2, 0, 3, 7)})
    found = shown(run, path, "q", "--stats")
    assert (found["kind"], found["values"]) == ("quantized", [-2, 0, 3, 7])
    assert found["quantization"] == {"scheme": "per_tensor_affine", "scale": 0.5, "zero_point": 3}
    assert (found["stats"]["min"], found["stats"]["max"], "integers" in found["stats"]["note"]) == (-2, 7, True)
    assert "scale 0.5, zero_point 3" in run("show", path, "q")[1]


def test_what_has_no_elements_says_why(run: Run, tmp_path: Path) -> None:
    made = Made(Name("torch._utils", "_rebuild_meta_tensor_no_storage"), (Name("torch", "float32"), (2, 3), (3, 1), False))
    path = saved(tmp_path / "x.pt", {"m": made}, {})
    found = shown(run, path, "m", "--stats")
    assert (found["kind"], found["values"], found["stats"]) == ("meta", None, None)
    assert "meta" in found["why"]
    code, out, _ = run("show", path, "m", "--stats")
    assert code == 0
    assert "no elements to show: a tensor on the meta device has no data" in out


def test_a_damaged_tensor_is_a_finding(run: Run, tmp_path: Path) -> None:
    state = {"far": tensor(storage("0", 6), (7,)), "good": tensor(storage("0", 6), (6,))}
    path = saved(tmp_path / "x.pt", state)
    found = shown(run, path, "far", code=1)
    assert found["values"] is None
    assert "holds 6" in found["fault"]
    code, out, _ = run("show", path, "far")
    assert code == 1
    assert "damaged: " in out
    assert run("show", path, "good")[0] == 0
    assert run("show", path, "far[0]")[0] == 2


def test_a_bomb_of_stride_0_shows_a_corner(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"w": tensor(storage("0", 6), (1 << 40,), (0,))}, {"0": struct.pack("<6f", *[2.0] * 6)})
    found = shown(run, path, "w", "--stats")
    assert set(found["values"]) == {2.0}
    assert found["stats"] is None
    assert run("show", path, "w", "--stats")[0] == 0
    assert run("show", path, "w", "--npy", tmp_path / "out.npy")[0] == 2
    assert sorted(tmp_path.iterdir()) == [path]


# -------------------------------------------------------------------------------------------------------------- statistics


def test_statistics_as_numpy_has_them(run: Run, tmp_path: Path) -> None:
    values = np.random.default_rng(3).normal(5, 2, 3000).astype("<f4")
    values[:7] = [math.nan, math.inf, -math.inf, 0, 0, -0.0, math.nan]
    sound = values[np.isfinite(values)].astype(np.float64)
    path = saved(tmp_path / "x.pt", {"w": tensor(storage("0", 3000), (3000,))}, {"0": values.tobytes()})
    found = shown(run, path, "w", "--stats")["stats"]
    assert {key: found[key] for key in ("count", "nan", "inf", "zeros")} == {"count": 3000, "nan": 2, "inf": 2, "zeros": 3}
    assert (found["min"], found["max"]) == (float(sound.min()), float(sound.max()))
    assert found["mean"] == pytest.approx(sound.mean(), rel=1e-12)
    assert found["std"] == pytest.approx(sound.std(), rel=1e-12)
    counts, edges = np.histogram(sound, 20)
    assert found["histogram"]["edges"] == pytest.approx(edges.tolist())
    assert found["histogram"]["counts"] == counts.tolist()
    out = run("show", path, "w", "--stats")[1]
    assert "count 3,000  nan 2  inf 2  zeros 3" in out
    assert len(out.splitlines()) > 24


def test_statistics_only_where_asked(run: Run, tmp_path: Path) -> None:
    assert "stats" not in shown(run, grid(tmp_path), "w")


# -------------------------------------------------------------------------------------------------------------------- .npy


@pytest.mark.parametrize("kind", ["Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Bool", "ComplexFloat"])
def test_npy_is_what_numpy_reads(run: Run, tmp_path: Path, kind: str) -> None:
    numpy = {"Float": "<f4", "Double": "<f8", "Half": "<f2", "Long": "<i8", "Int": "<i4", "Short": "<i2", "Byte": "u1", "Bool": "?"}
    dtype = np.dtype(numpy.get(kind, "<c8"))
    data = random.Random(5).randbytes(24 * dtype.itemsize) if kind != "Bool" else bytes([0, 1] * 12)
    want = np.frombuffer(data, dtype).reshape(4, 6)
    state = {"t": tensor(storage("0", 24, kind), (4, 6)), "transposed": tensor(storage("0", 24, kind), (6, 4), (1, 6))}
    path, out = saved(tmp_path / "x.pt", state, {"0": data}), tmp_path / "out.npy"
    code, text, err = run("show", path, "t", "--npy", out)
    assert (code, err) == (0, "")
    assert f"written to {out}: {dtype.name} [4,6]" in text
    for name, array in (("t", want), ("transposed", want.T), ("t[1:3, ::2]", want[1:3, ::2])):
        assert shown(run, path, name, "--npy", out)["npy"]["shape"] == list(array.shape)
        got = np.load(out)
        assert got.dtype == dtype
        assert got.tobytes() == array.tobytes()
        assert got.shape == array.shape
    assert sorted(tmp_path.iterdir()) == [out, path]


def test_npy_widens_what_numpy_lacks_and_says_so(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"t": tensor(storage("0", 3, "BFloat16"), (3,))}, {"0": struct.pack("<3H", 0x3FC0, 0x7F80, 1)})
    out = tmp_path / "out.npy"
    assert "(bfloat16 widened, exactly)" in run("show", path, "t", "--npy", out)[1]
    got = np.load(out)
    assert (got.dtype, got[0], got[1]) == (np.float32, 1.5, np.inf)
    assert got.view(np.uint32)[2] == 0x10000


def test_npy_of_what_is_no_tensor(run: Run, tmp_path: Path) -> None:
    code, _, err = run("show", grid(tmp_path), "a", "--npy", tmp_path / "out.npy")
    assert code == 2
    assert "no tensor" in err
    assert not (tmp_path / "out.npy").exists()


def test_npy_never_overwrites_the_checkpoint(run: Run, tmp_path: Path) -> None:
    path = grid(tmp_path)
    before = path.read_bytes()
    os.link(path, tmp_path / "twin.pt")
    for target in (path, tmp_path / "twin.pt"):
        code, _, err = run("show", path, "w", "--npy", target)
        assert code == 2
        assert "overwrite the checkpoint" in err
    assert path.read_bytes() == before


def test_npy_leaves_nothing_behind_where_it_fails(run: Run, tmp_path: Path) -> None:
    state = {"w": tensor(storage("9", 6), (6,)), "s": tensor(storage("0", 6), (6,))}
    path = saved(tmp_path / "x.pt", state)
    (tmp_path / "out.npy").write_text("kept")
    assert run("show", path, "w", "--npy", tmp_path / "out.npy")[0] == 2
    assert (tmp_path / "out.npy").read_text() == "kept"
    code, _, err = run("show", path, "s", "--npy", tmp_path / "no" / "out.npy")
    assert (code, err.count("\n")) == (2, 1)
    assert "No such file" in err
    (tmp_path / "folder").mkdir()
    assert run("show", path, "s", "--npy", tmp_path / "folder")[0] == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "out.npy", "x.pt"]


def test_the_makers_know_the_types() -> None:
    assert {"Float", "Half", "BFloat16"} <= set(KINDS)


def test_the_beginning_of_names_is_told_from_a_name(run: Run, tmp_path: Path) -> None:
    path = saved(
        tmp_path / "x.pt", {"model.w": tensor(storage("0", 2), (2,)), "model.b": tensor(storage("0", 2), (2,)), "epoch": 3}, {"0": bytes(8)}
    )
    code, _, err = run("show", path, "model")
    assert (code, "it is the beginning of 2 names" in err) == (2, True)
    code, out, err = run("show", path, "epoch", "--stats")
    assert (code, out.strip()) == (0, "3")
    assert "no statistics" in err
