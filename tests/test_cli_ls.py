"""``inert ls``: names, numbers, marks, patterns, totals, the tree; and that no file can steer a terminal by it."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.makers import Made, Name, dumps, storage, tensor, torch_zip
from tests.test_cli_main import Run, run

__all__ = ["run"]

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
KEYS = {
    "name", "path", "dtype", "canonical", "bits", "shape", "strides", "nbytes", "kind", "storage", "offset", "file", "file_offset",
    "device", "requires_grad",
}  # fmt: skip
STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
ELIDED = {"_modules", "_parameters", "_buffers"}


def saved(path: Path, state: Any, storages: dict[str, bytes] | None = None, **options: Any) -> Path:
    path.write_bytes(torch_zip(dumps(state), {"0": bytes(24)} if storages is None else storages, **options))
    return path


def listed(run: Run, *words: str | Path) -> dict[str, Any]:
    code, out, _ = run("ls", "--json", *words)
    assert code in (0, 1)
    made: dict[str, Any] = json.loads(out)
    return made


def rows(run: Run, *words: str | Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in listed(run, *words)["tensors"]}


def test_json_has_every_key_and_true_numbers(run: Run, tmp_path: Path) -> None:
    values = struct.pack("<6f", *range(6))
    state = {
        "a": {"w": tensor(storage("0", 6), (2, 3), grad=True)},
        "h": [tensor(storage("1", 4, "BFloat16", "cuda:1"), (2,), (2,), 1)],
    }
    path = saved(tmp_path / "x.pt", state, {"0": values, "1": bytes(8)})
    found = listed(run, path, "--hash")
    assert {"file": str(path), "format": "torch-zip", "count": 2, "nbytes": 28, "storage_nbytes": 32}.items() <= found.items()
    assert found["storages"] == 2
    first, second = found["tensors"]
    assert set(first) == KEYS | {"sha256"}
    data = path.read_bytes()
    assert first == {
        "name": "a.w", "path": ["a", "w"], "dtype": "float32", "canonical": "float32", "bits": 32, "shape": [2, 3], "strides": [3, 1],
        "nbytes": 24, "kind": "dense", "storage": "data/0", "offset": 0, "file": str(path), "file_offset": data.index(values),
        "device": "cpu", "requires_grad": True, "sha256": hashlib.sha256(values).hexdigest(),
    }  # fmt: skip
    assert second["path"] == ["h", 0]
    assert (second["dtype"], second["bits"], second["strides"], second["offset"]) == ("bfloat16", 16, [2], 1)
    assert (second["device"], second["nbytes"]) == ("cuda:1", 4)
    assert data[second["file_offset"] - 2 :][:8] == bytes(8)


def test_the_table(run: Run, tmp_path: Path) -> None:
    state = {"encoder.weight": tensor(storage("0", 6), (2, 3)), "n": tensor(storage("1", 1, "Long"), ())}
    code, out, err = run("ls", saved(tmp_path / "x.pt", state, {"0": bytes(24), "1": bytes(8)}))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("torch-zip checkpoint of ")
    assert lines[0].endswith(", 2 tensors, little-endian, no notes")
    assert lines[2:] == [
        "name            dtype    shape  size",
        "encoder.weight  float32  [2,3]  24 B",
        "n               int64    []      8 B",
        "",
        "2 tensors, 32 B of tensors in 2 storages of 32 B",
    ]


def test_sizes_as_people_read_them_and_exactly(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"w": tensor(storage("0", 100_000), (100_000,))}, {"0": bytes(400_000)})
    assert "400 kB of tensors in 1 storage of 400 kB" in run("ls", path)[1]
    assert "400000 B of tensors in 1 storage of 400000 B" in run("ls", path, "--bytes")[1]


def test_a_saved_view_is_said_to_keep_its_storage(run: Run, tmp_path: Path) -> None:
    held = storage("0", 100_000)
    state = {"x": tensor(held, (5,)), "y": tensor(held, (6,), None, 2)}
    path = saved(tmp_path / "x.pt", state, {"0": bytes(400_000)})
    code, out, _ = run("ls", path)
    assert code == 0
    assert "uses 32 B of 400 kB: a saved view keeps its whole storage" in out
    assert "y     float32  [6]    24 B  shares storage with x" in out
    found = listed(run, path)
    assert (found["nbytes"], found["storage_nbytes"], found["used_nbytes"]) == (44, 400_000, 32)
    assert "uses" in run("ls", path, "x")[1], "what is used is told of the whole file"


@pytest.mark.parametrize("name", ["strings", "types", "slices", "objects", "v1_types"])
def test_what_has_no_views_is_said_to_use_all(run: Run, name: str) -> None:
    found = listed(run, Path(__file__).parent / "corpus" / "tf" / name)
    assert found["used_nbytes"] == found["storage_nbytes"]


def test_a_listing_says_where_its_notes_are(run: Run) -> None:
    path = Path(__file__).parent / "corpus" / "tf" / "v1_file"
    assert run("ls", path)[1].splitlines()[-1] == f"1 note: see inert info {path}"


CALLBACK = "callbacks.ModelCheckpoint{'monitor': 'loss', 'mode': 'min', 'every_n_train_steps': 0, 'every_n_epochs': 1}."


def test_very_long_names_are_shortened_in_the_middle(run: Run, tmp_path: Path) -> None:
    held = tensor(storage("0", 6), (6,))
    deep = {"x" * 50: {"y" * 400: {"z": held}}}
    names = ["w", CALLBACK + "best_model_score", CALLBACK + "current_score", "数" * 90, "\x1b" * 90 + "end"]
    path = saved(tmp_path / "x.pt", dict.fromkeys(names, held) | deep)
    lines = run("ls", path)[1].splitlines()[2:9]
    column = lines[0].index("dtype")
    assert column == 82
    assert [line[:80] for line in lines[2:4]] == [
        "callbacks.ModelCheckpoint{'monitor': 'lo…, 'every_n_epochs': 1}.best_model_score",
        "callbacks.ModelCheckpoint{'monitor': 'lo…: 0, 'every_n_epochs': 1}.current_score",
    ]
    assert {line[:column].count("…") for line in lines[2:]} == {1}
    assert {cut_at(line, column) for line in lines[1:]} == {"float32"}
    assert all("= w" in line for line in lines[2:])
    assert [row["name"] for row in listed(run, path)["tensors"]] == [*names, "x" * 50 + "." + "y" * 400 + ".z"]
    for words in ([], ["--tree"]):
        whole = run("ls", path, "--full", *words)[1]
        assert "y" * 400 in whole
        assert CALLBACK[:-1] in whole
    assert CALLBACK[:-1] not in run("ls", path, "--tree")[1]
    asked = run("ls", path, names[1], "w")[1]
    assert f"{names[1]}  float32" in asked
    assert f"{names[2]}" not in run("ls", path, CALLBACK + "*", "callbacks*")[1]


def cut_at(line: str, column: int) -> str:
    """The word that begins at a column of a line, wide letters counted twice."""
    used = 0
    for at, letter in enumerate(line):
        if used == column:
            return line[at:].split(maxsplit=1)[0]
        used += 2 if letter == "数" else 1
    return ""


def test_names_that_differ_in_the_middle_are_whole(run: Run, tmp_path: Path) -> None:
    names = ["a" * 90 + one + "b" * 90 for one in "xyz"]
    out = run("ls", saved(tmp_path / "x.pt", dict.fromkeys(names, tensor(storage("0", 6), (6,)))))[1]
    assert all(f"\n{name}  float32" in out for name in names)


def test_tied_tensors_name_their_twin(run: Run, tmp_path: Path) -> None:
    tied = tensor(storage("0", 6), (2, 3))
    out = run("ls", saved(tmp_path / "x.pt", {"embed": tied, "head": tied}))[1]
    assert re.search(r"^head .* = embed$", out, re.MULTILINE)


def test_patterns_are_names_modules_and_globs(run: Run, tmp_path: Path) -> None:
    names = ["enc.0.w", "enc.0.b", "enc.1.w", "encoder.w", "dec.w"]
    path = saved(tmp_path / "x.pt", {name: tensor(storage("0", 6), (2, 3)) for name in names})
    assert list(rows(run, path, "enc")) == names[:3]
    assert list(rows(run, path, "enc.0.w", "dec")) == ["enc.0.w", "dec.w"]
    assert list(rows(run, path, "*.w")) == ["enc.0.w", "enc.1.w", "encoder.w", "dec.w"]
    assert list(rows(run, path, "enc.[0-9].?")) == names[:3]
    code, out, err = run("ls", path, "enc.0")
    assert "2 of 5 tensors" in out
    code, out, err = run("ls", path, "encodr.w")
    assert code == 2
    assert out == ""
    assert err == "inert: no tensor fits 'encodr.w': did you mean 'encoder.w' or 'enc.1.w' or 'enc.0.w'?\n"
    assert run("ls", path, "zzz") == (
        2,
        "",
        "inert: no tensor fits 'zzz': there is 'enc.0.w', 'enc.0.b', 'enc.1.w', 'encoder.w', 'dec.w'\n",
    )
    code, out, err = run("ls", path, path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "one file only" in err


@pytest.mark.parametrize("order", [["--json", "{}", "a*"], ["{}", "--json", "a*"], ["{}", "a*", "--json"]])
def test_options_stand_anywhere(run: Run, tmp_path: Path, order: list[str]) -> None:
    path = saved(tmp_path / "x.pt", {"a": tensor(storage("0", 6), (6,)), "b": tensor(storage("0", 6), (6,))})
    code, out, _ = run("ls", *[word.format(path) for word in order])
    assert (code, json.loads(out)["count"]) == (0, 1)


def test_sorting(run: Run, tmp_path: Path) -> None:
    state = {"b": tensor(storage("0", 6), (2,)), "c": tensor(storage("0", 6), (6,)), "a": tensor(storage("1", 3, "Double"), (1,))}
    path = saved(tmp_path / "x.pt", state, {"0": bytes(24), "1": bytes(24)})
    assert list(rows(run, path)) == ["b", "c", "a"]
    assert list(rows(run, path, "--sort", "size")) == ["c", "b", "a"]
    assert list(rows(run, path, "--sort", "name")) == ["a", "b", "c"]
    assert list(rows(run, path, "--sort", "dtype")) == ["b", "c", "a"]


def test_the_tree(run: Run, tmp_path: Path) -> None:
    names = ["model.layers.0.w", "model.layers.0.b", "model.layers.1.w", "model.norm", "callbacks.C{'a': 0.5}.score", "bias"]
    state = {name: tensor(storage("0", 6), (6,)) for name in names if "{" not in name}
    state["callbacks"] = {"C{'a': 0.5}": {"score": tensor(storage("0", 6), ())}}
    path = saved(tmp_path / "x.pt", state)
    out = run("ls", "--tree", path)[1].splitlines()[2:]
    assert [line.split() for line in out[:6]] == [
        ["module", "tensors", "size", "its", "own", "tensors"],
        ["6", "124", "B", "bias"],
        ["model", "4", "96", "B", "norm"],
        ["└─", "layers", "3", "72", "B"],
        ["├─", "0", "2", "48", "B", "w,", "b"],
        ["└─", "1", "1", "24", "B", "w"],
    ]
    assert out[6].startswith("callbacks.C{'a': 0.5}")
    tree = listed(run, "--tree", path)["tree"]
    assert (tree["tensors"], tree["nbytes"], tree["leaves"]) == (6, 124, ["bias"])
    assert [child["name"] for child in tree["children"]] == ["model", "callbacks"]


def test_names_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    name = "\x1b[31mred\u202e\u200b\x07\r\nx"
    state = {name: tensor(storage("0", 6), (6,)), "数え": tensor(storage("0", 6), (2, 3)), "e\u0301": tensor(storage("0", 6), (6,))}
    path = saved(tmp_path / "x.pt", state)
    for words in ([], ["--tree"], ["--hash"], ["--json"]):
        code, out, err = run("ls", path, *words)
        assert code == 0
        assert not STEERING.search(out.replace("\n", "") + err), words
    assert "\\x1b[31mred\\u202e\\u200b\\x07\\r\\nx  float32" in run("ls", path)[1]
    assert [row["name"] for row in listed(run, path)["tensors"]] == list(state), "JSON keeps names as they are"
    lines = run("ls", path)[1].splitlines()
    wide = lines[2].index("dtype")
    assert lines[4].index("float32") == wide - 2, "two wide letters take four columns"
    assert lines[5].index("float32") == wide + 1, "a combining accent takes none"


def test_a_lone_surrogate_is_escaped(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"a\ud800": tensor(storage("0", 6), (6,))})
    out = run("ls", "--json", path)[1]
    assert json.loads(out)["tensors"][0]["name"] == "a\\ud800"
    assert "a\\ud800" in run("ls", path)[1]


def test_damaged_tensors_are_marked_and_the_code_is_1(run: Run, tmp_path: Path) -> None:
    state = {"good": tensor(storage("0", 6), (2, 3)), "lost": tensor(storage("9", 6), (2, 3)), "far": tensor(storage("0", 6), (7,))}
    path = saved(tmp_path / "x.pt", state)
    code, out, err = run("ls", path)
    assert code == 1
    assert "2 damaged tensors" in out.splitlines()[0]
    assert re.search(r"^lost .* damaged: its storage data/9 is not in the file$", out, re.MULTILINE)
    assert re.search(r"^far .* damaged: ", out, re.MULTILINE)
    assert err.count("\n") == 2
    assert "[lost]" in err
    found = rows(run, path, "--hash")
    assert "fault" not in found["good"]
    assert "data/9" in found["lost"]["fault"]
    assert found["lost"]["sha256"] is None
    assert found["lost"]["file_offset"] is None
    assert [note["tensors"] for note in listed(run, path)["notes"]] == [["lost"], ["far"]]


def test_a_damaged_local_header_is_told_with_its_tensor(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"w": tensor(storage("0", 6), (2, 3))})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\3\4", data.index(b"byteorder")) :][:4] = b""
    at = data.index(b"PK\3\4", data.index(b"byteorder"))
    data[at : at + 4] = b"XXXX"
    path.write_bytes(data)
    code, _, err = run("ls", path)
    assert code == 1
    assert "data/0" in err
    assert "data/0" in rows(run, path)["w"]["fault"]


def test_warnings_alone_leave_the_code_0(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"w": tensor(storage("0", 6), (2, 3))}, version=None)
    code, out, err = run("ls", path)
    assert code == 0
    assert "1 warning" in out.splitlines()[0]
    assert "version" in err


def test_byte_order_can_be_given(run: Run, tmp_path: Path) -> None:
    values = struct.pack(">6f", *range(6))
    path = saved(tmp_path / "x.pt", {"w": tensor(storage("0", 6), (6,))}, {"0": values}, byteorder=None)
    little = hashlib.sha256(struct.pack("<6f", *range(6))).hexdigest()
    assert rows(run, path, "--hash", "--byteorder", "big")["w"]["sha256"] == little
    assert rows(run, path, "--hash")["w"]["sha256"] == hashlib.sha256(values).hexdigest()
    assert ", big-endian, " in run("ls", path, "--byteorder", "big")[1]


def test_components_and_kinds(run: Run, tmp_path: Path) -> None:
    parts = (tensor(storage("0", 2, "Long"), (1, 2)), tensor(storage("1", 2), (2,)), (5,))
    sparse = Made(Name("torch._utils", "_rebuild_sparse_tensor"), (Name("torch", "sparse_coo"), parts))
    path = saved(tmp_path / "x.pt", {"s": sparse}, {"0": bytes(16), "1": bytes(8)})
    row = rows(run, path, "--hash")["s"]
    assert (row["kind"], row["shape"], row["storage"], row["nbytes"]) == ("sparse_coo", [5], None, 24)
    assert {role: part["name"] for role, part in row["components"].items()} == {"indices": "s.indices", "values": "s.values"}
    assert (row["sha256"], bool(row["sha256_why"])) == (None, True)
    assert listed(run, path)["storage_nbytes"] == 24
    assert re.search(r"^s .* sparse_coo$", run("ls", path)[1], re.MULTILINE)


def test_nothing_saved(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("ls", saved(tmp_path / "x.pt", {}, {}))
    assert code == 0
    assert out.splitlines()[-1] == f"no tensors; inert show {tmp_path / 'x.pt'} gives the saved object"


# ------------------------------------------------------------------------------------------------------------- the shared corpus

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the shared corpus is not there: {CORPUS}")


def expectations() -> list[Path]:
    folders = ("vector", "lightning/pl2.6.6-torch2.13", "torch/t2.13.0-py3.11")
    return [path for folder in folders for path in sorted((CORPUS / folder).glob("*.expected.json")) if ".legacy." not in path.name]


@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("table", expectations(), ids=lambda path: path.name.removesuffix(".expected.json"))
def test_what_the_real_programs_saw(run: Run, table: Path) -> None:
    path = table.with_name(table.name.removesuffix(".expected.json"))
    if not path.is_file() or path.read_bytes()[:2] != b"PK":
        pytest.skip("another container than a zip")
    code, out, err = run("ls", "--json", "--hash", path)
    if code == 2:
        assert err.count("\n") == 1
        pytest.skip("not read yet")
    found = {row["name"]: row for row in json.loads(out)["tensors"]}
    for wanted in json.loads(table.read_text(encoding="utf-8")).get("tensors", []):
        steps = [value for kind, value in wanted["path"] if not (kind == "attr" and value in ELIDED)]
        if wanted.get("layout") or "sha256" not in wanted or any(kind == "part" for kind, _ in wanted["path"]):
            continue
        if any(not isinstance(step, (str, int)) for step in steps) or any(
            kind == "attr" and value not in ELIDED for kind, value in wanted["path"]
        ):
            continue
        row = found[".".join(map(str, steps))]
        assert row["dtype"] == wanted["dtype"]
        assert row["sha256"] == wanted["sha256"] or wanted.get("meta")
        assert row["shape"] == wanted["shape"] or row["bits"] < 8


@pytest.mark.no_cover
@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("name", ["pickle/deep_dict_200k.pt", "pickle/dag_bomb_dict_tensors.pt", "pickle/dag_bomb_tuple.pt"])
@pytest.mark.parametrize("words", [["ls", "--json"], ["ls", "--tree"], ["info"], ["show", "--json"]], ids=" ".join)  # each in one way
def test_deep_objects_and_path_bombs_end(run: Run, name: str, words: list[str]) -> None:
    code, out, _ = run(*words, CORPUS / "broken" / name)
    assert code in (0, 1)
    assert len(out) < 20_000_000
    if "--json" in words:
        json.loads(out)


def test_names_that_a_tensor_stands_for_are_shown(run: Run, tmp_path: Path) -> None:
    import numpy as np

    import inert

    base = np.ones((2, 2), "f4")
    inert.save({"head.weight": base, "embed.weight": base, "b": np.zeros(2, "f4")}, tmp_path / "x.safetensors")
    found = listed(run, tmp_path / "x.safetensors")
    assert {row["name"]: row.get("aliases") for row in found["tensors"]} == {"embed.weight": ["head.weight"], "b": None}
    assert [note["code"] for note in found["notes"]] == ["aliases"]
    _, out, _ = run("ls", tmp_path / "x.safetensors")
    assert "also head.weight" in out
