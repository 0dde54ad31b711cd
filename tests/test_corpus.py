"""Every file of the corpus is read as the program that wrote it reads it, to the bit.

tests/corpus/ is our own, made by its make_*.py with torch 2.13.0, lightning and Python 2.7. The shared corpus of real files, made by many
versions of these programs, is used where it lies beside the repository.
"""

from __future__ import annotations

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.errors import UnidentifiedError
from tests.conformance import UNTOLD, differences, look_over
from tests.source_tree import REPOSITORY

HERE = Path(__file__).parent / "corpus"
SHARED = REPOSITORY.parent / "shared" / "corpus"
OWN = sorted(path for path in HERE.rglob("*.expected.json"))
KINDS = ("torch", "lightning", "thirdparty", "vector")
REAL = sorted(path for kind in KINDS for path in (SHARED / kind).rglob("*.expected.json")) if SHARED.is_dir() else []

# Expectations of the shared corpus that are not what the bytes say, each with its proof.
WRONG: dict[str, tuple[str, set[str]]] = {
    "custom_classes": (
        "point is a named tuple of an absent class. Its pickle holds two values and no field names (the name 'y' is nowhere in data.pkl), "
        "so inert names them by position; likewise reduced is a call with arguments, whose field 'n' only its class could tell. The "
        "expectation was written with the classes at hand.",
        {"missing point.y", "invented point.1", "value point.x: no such place", "value reduced.n: no such place"},
    ),
    "cloudpickle_module_with_lambda": (
        "The expectation lists a part of the tensors only: the module's pickle builds model.l.weight and model.l.bias too "
        "(two more records, data/1 and data/2, with their _rebuild_tensor_v2 calls).",
        {"invented model.l.weight", "invented model.l.bias"},
    ),
    "optimizer_object": (
        "These names are nowhere in data.pkl: Optimizer.__setstate__ adds them to the live object.",
        {
            f"value _{name}: no such place"
            for name in (
                "zero_grad_profile_name", "optimizer_step_pre_hooks", "optimizer_step_post_hooks", "optimizer_state_dict_pre_hooks",
                "optimizer_state_dict_post_hooks", "optimizer_load_state_dict_pre_hooks", "optimizer_load_state_dict_post_hooks",
            )
        },
    ),
    "quantized_dynamic_module": (
        "LinearPackedParams of torch 1.10 keeps a plain tuple as its state (weight, bias, training, dtype); only its __setstate__ knows names for them.",
        {f"value _modules.{i}._modules._packed_params.{name}: no such place" for i in (0, 2) for name in ("dtype", "training")},
    ),
    "export_program": (
        "torch.export.load(…).state_dict holds Parameters that want gradients (tests/oracle/test_script_oracle.py asks torch 2.13); the "
        "expectation was written from detached copies of them.",
        {"l.weight: requires_grad True, not False", "l.bias: requires_grad True, not False"},
    ),
}  # fmt: skip


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def subject(expected: Path) -> Path:
    return expected.with_name(expected.name.removesuffix(".expected.json"))


@pytest.mark.parametrize("path", OWN, ids=lambda path: subject(path).relative_to(HERE).as_posix())
def test_our_own_files(path: Path) -> None:
    expected = load(path)
    with inert.open(subject(path)) as checkpoint:
        assert checkpoint.format == expected.get("format", "torch-zip")
        assert differences(checkpoint, expected) == []
        assert sorted({note.code for note in checkpoint.notes}) == expected.get("notes", [])
        for key, value in expected.get("metadata", {}).items():
            assert checkpoint.metadata[key] == value


def test_every_file_has_its_reason() -> None:
    """MANIFEST.tsv: path, writer, why. One row for each file that is no maker, no table and no expectation."""
    lines = (HERE / "MANIFEST.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "path\twriter\twhy"
    rows = [line.split("\t") for line in lines[1:]]
    assert all(len(row) == 3 and all(row) for row in rows)
    files = {
        path.relative_to(HERE).as_posix()
        for path in HERE.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".json", ".tsv", ".pyc") and "__pycache__" not in path.parts
    }
    assert [row[0] for row in rows] == sorted(files)
    assert sum(path.stat().st_size for path in HERE.rglob("*") if path.is_file() and "__pycache__" not in path.parts) < 2_000_000


def test_every_format_has_files() -> None:
    formats = {load(path).get("format", "torch-zip") for path in OWN}
    assert {one.id for one in inert.FORMATS} - {"wrapped"} <= formats, "what is wrapped keeps the format that it has"


# ------------------------------------------------------------------------------------------------------------- the shared corpus


def proven_wrong(path: Path) -> set[str]:
    return next((texts for name, (_, texts) in WRONG.items() if path.name.startswith(name)), set())


@pytest.mark.no_cover
@pytest.mark.corpus
@pytest.mark.skipif(not REAL, reason="the shared corpus of real files does not lie beside the repository")
@pytest.mark.parametrize("kind", KINDS)
def test_real_files(kind: str) -> None:
    wrong, right, other, told = [], 0, 0, Counter[str]()
    for path in REAL:
        if path.relative_to(SHARED).parts[0] != kind or not subject(path).is_file():
            continue
        expected = load(path)
        if "tensors" not in expected or any("path" not in entry for entry in expected["tensors"]):
            continue  # a TensorFlow checkpoint
        try:
            with inert.open(subject(path)) as checkpoint:
                found = [text for text in differences(checkpoint, expected, told) if text not in proven_wrong(path)]
                found += [f"{note.code} {note}" for note in checkpoint.notes if note.code in ("tensor-damaged", "pickle-broken")]
        except UnidentifiedError:
            other += 1  # another container
            continue
        right += not found
        if found:
            wrong.append(f"{path.relative_to(SHARED)}: {found[:4]}")
    assert not wrong, "\n" + "\n".join(wrong[:20]) + f"\n{len(wrong)} of {right + len(wrong)}"
    assert right
    assert other <= {"torch": 610, "lightning": 7, "thirdparty": 75, "vector": 0}[kind]
    assert not set(told) & UNTOLD


@pytest.mark.corpus
@pytest.mark.skipif(not REAL, reason="the shared corpus of real files does not lie beside the repository")
def test_a_wrong_expectation_is_wrong_still() -> None:
    """The table of wrong expectations holds nothing that has been put right meanwhile."""
    for name in WRONG:
        homes = ("t1.10.2-py3.8", "extra", "t2.13.0-py3.11")
        path = next(path for path in REAL if path.name.startswith(f"{name}.pt") and path.parent.name in homes)
        with inert.open(subject(path)) as checkpoint:
            found = set(differences(checkpoint, load(path)))
            assert found
            assert found <= proven_wrong(path)


def test_the_reference_vector_is_read_to_the_byte() -> None:
    """small.pt of the shared corpus has a sibling of our own, made by the same calls with the same values."""
    look = look_over(HERE / "torch" / "small.pt")
    assert look.names == ["w_f32", "b_f16", "e_bf16", "i_i32", "s_f32"]
    with inert.open(HERE / "torch" / "small.pt") as checkpoint:
        sizes = {name.partition("/")[2]: part.size for name, part in checkpoint.parts.items()}
        assert sizes == {
            "data.pkl": 477, ".format_version": 1, ".storage_alignment": 2, "byteorder": 6, "data/0": 1024, "data/1": 16, "data/2": 12, "data/3": 24,
            "data/4": 4, "version": 2, ".data/serialization_id": 40,
        }  # fmt: skip
        assert all(part.offset is not None and part.offset % 64 == 0 for part in checkpoint.parts.values())
        assert checkpoint.metadata["serialization_id"][:20] == "00551901853203590787"
        assert {key: checkpoint.metadata[key] for key in ("root", "byteorder", "version", "storage_alignment", "format_version")} == {
            "root": "small", "byteorder": "little", "version": "3", "storage_alignment": "64", "format_version": "1",
        }  # fmt: skip
    assert (HERE / "torch" / "small.pt").stat().st_size == 3587


TENSORFLOW = sorted((SHARED / "tf").rglob("*.expected.json")) if SHARED.is_dir() else []


@pytest.mark.no_cover
@pytest.mark.corpus
@pytest.mark.skipif(not TENSORFLOW, reason="the shared corpus of real files does not lie beside the repository")
def test_real_tensorflow_checkpoints() -> None:
    """By their prefix, as TensorFlow 0.12 to 2.21 read them: names, shapes, every element. What TensorFlow refuses to read is listed."""
    wrong = []
    for path in TENSORFLOW:
        expected = load(path)
        with inert.open(subject(path)) as checkpoint:
            found = [text for row in expected["tensors"] for text in tensorflow_differs(checkpoint.tensors.get(row["name"]), row)]
            if set(checkpoint.tensors) != {row["name"] for row in expected["tensors"]}:
                found.append("other names")
            if any(note.severity == "error" and note.code != "tensor-damaged" for note in checkpoint.notes):
                found.append(str(checkpoint.errors[0]))
        wrong += [f"{path.relative_to(SHARED)}: {found[:3]}"] if found else []
    assert not wrong, "\n" + "\n".join(wrong[:20]) + f"\n{len(wrong)} of {len(TENSORFLOW)}"


def tensorflow_differs(tensor: Any, row: dict[str, Any]) -> list[str]:
    if tensor is None:
        return [f"missing {row['name']}"]
    if "read_error" in row:
        return []
    if "strings" in row:
        texts = [(len(text), sha256(text).hexdigest()) for text in tensor.numpy().reshape(-1).tolist()]
        same = texts == [(text["len"], text["sha256"]) for text in row["strings"]]
    else:
        same = tensor.sha256() == row["sha256"] and str(tensor.dtype) in (row["dtype"], row["numpy_dtype"])
    return [] if same and list(tensor.shape) == row["shape"] else [f"{row['name']} is {tensor!r}"]
