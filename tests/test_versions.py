"""What weights_only of each version of torch takes: the tables against counts and answers of the real versions.

The counts are of ``_get_allowed_globals()`` of torch 1.13.0 to 2.14.0, whose sources were run one by one. The shared corpus holds what torch
1.13.1, 2.0.1, 2.3.1, 2.4.1, 2.6.0, 2.13.0, 2.14.1 and 2.15.0 said of the files that they had written.
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.pickle.decode import decode
from inert.torch.allowed import ALLOWED, REGISTERED
from inert.torch.predict import loads, weights_only
from inert.torch.versions import EXCEPTIONS, FIRST, HANDED, NEVER, OTHERS, SINCE, VERSIONS, handed, listed_since, since, spelled
from tests.source_tree import REPOSITORY
from tests.test_predict import Case, call, encode, name, new, tensor

SHARED = REPOSITORY.parent / "shared" / "corpus"
# torch → how many names are on its list
COUNTS = {
    "1.13": 90, "2.0": 90, "2.1": 90, "2.2": 94, "2.3": 96, "2.4": 119, "2.5": 122, "2.6": 128, "2.7": 143, "2.8": 144, "2.9": 144,
    "2.10": 144, "2.11": 144, "2.12": 144, "2.14": 145,
}  # fmt: skip
# written by programs that had imported more than torch
IMPORTED = {"nested_tensor_jagged.pt": "torch._dynamo.decorators._DimRange"}


def number(version: str) -> tuple[int, int]:
    first, _, second = version.partition(".")
    return int(first), int(second)


@pytest.mark.parametrize("version", COUNTS)
def test_how_many_names_each_version_lists(version: str) -> None:
    added_elsewhere = REGISTERED | EXCEPTIONS | {"traceback.StackSummary", "traceback.FrameSummary"}  # by add_safe_globals
    spans = {dotted: listed_since(dotted) for dotted in (ALLOWED | OTHERS.keys()) - added_elsewhere}
    assert sum(first <= number(version) < until for first, until in spans.values()) == COUNTS[version]


def test_the_table_is_of_names_that_some_version_lists() -> None:
    assert set(SINCE) <= ALLOWED | REGISTERED
    assert not set(SINCE) & set(OTHERS) - REGISTERED
    assert all(FIRST < first <= VERSIONS[-1] for first in SINCE.values())
    assert all(first < until for first, until in OTHERS.values())
    assert listed_since("os.system") == (NEVER, NEVER)


def answers() -> list[tuple[Path, str, bool]]:
    """(file, the torch that wrote it, whether that torch takes it back with weights_only=True)."""
    found = []
    for record in sorted([*SHARED.glob("torch/t*/**/*.expected.json"), *SHARED.glob("lightning/*torch*/**/*.expected.json")]):
        written = re.search(r"(?:/t|torch)(\d+\.\d+)", str(record.relative_to(SHARED).parent))
        path = record.with_name(record.name.removesuffix(".expected.json"))
        if written and path.is_file() and number(written[1]) >= FIRST:
            said = json.loads(record.read_text(encoding="utf-8")).get("weights_only")
            found += [(path, written[1], said == "ok")] if said is not None else []
    return found


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus of real files does not lie beside the repository")
def test_what_real_versions_said_of_their_own_files() -> None:
    wrong, asked = [], 0
    for path, version, ok in answers():
        with inert.open(path) as ckpt:
            said = loads(ckpt)["weights_only"]
        if not said["versions"]:  # no file of torch.save: no version takes it
            assert not ok
            continue
        one = said["versions"][version]
        asked += 1
        if one["ok"] != ok and IMPORTED.get(path.name, "-") not in one["why"]:
            wrong.append(f"{path.relative_to(SHARED)}: torch {version} says {ok}, inert {one}")
    assert not wrong, "\n" + "\n".join(wrong)
    assert asked > 700


@pytest.mark.parametrize(
    ("value", "first", "why"),
    [
        (tensor(), "1.13", ""),
        (1.5, "2.0", "the opcode BINFLOAT, which torch 2.0 brought"),
        (call(name("collections Counter"), {}), "2.4", "the name collections.Counter, which torch 2.4 brought"),
        (call(name("__builtin__ set"), [1]), "2.6", "the name builtins.set, which torch 2.6 brought"),
        (new(name("collections OrderedDict")), "1.13", ""),
        (name("torch int4"), "2.7", "the name torch.int4, which torch 2.7 brought"),
        (name("torch float4_e2m1fn_x2"), "2.8", "the name torch.float4_e2m1fn_x2, which torch 2.8 brought"),
    ],
)
def test_since_which_version(value: Any, first: str, why: str) -> None:
    with inert.open(io.BytesIO(Case(value).archive())) as ckpt:
        said = loads(ckpt)["weights_only"]
    assert said["since"] == first
    assert {version: one["ok"] for version, one in said["versions"].items()} == {
        spelled(version): version >= number(first) for version in VERSIONS
    }
    if why:
        assert said["versions"]["1.13"]["why"] == why


def test_names_that_come_and_go() -> None:
    with inert.open(io.BytesIO(Case([name("torch bcomplex32"), name("traceback StackSummary")]).archive())) as ckpt:
        said = loads(ckpt)["weights_only"]
    assert not said["ok"]
    assert said["since"] == "2.14"
    with inert.open(io.BytesIO(Case(name("torch.nested._internal.nested_tensor NestedTensor")).archive())) as ckpt:
        said = loads(ckpt)["weights_only"]
    assert said["ok"]
    assert said["since"] == ""
    assert said["versions"]["2.15"]["why"] == "the name torch.nested._internal.nested_tensor.NestedTensor, gone since torch 2.15"


def test_pickles_by_themselves() -> None:
    good = decode(b"\x80\x02" + encode({"w": tensor()}) + b".", "good")
    bad = decode(b"\x80\x02" + encode([1.5, call(name("os system"), "true"), name("os popen")]) + b".", "bad")
    assert weights_only([good])["accepts"]
    assert weights_only([good])["since"] == "1.13"
    said = weights_only([good, bad])
    assert not said["accepts"]
    assert said["blocked"] == ["os.system", "os.popen"]
    assert said["since"] == ""
    assert "os.system" in said["why"]


def test_a_handed_file_is_judged_as_safetensors_since_2_13() -> None:
    old, new_ = {"ok": True, "why": "old"}, {"ok": False, "why": "new"}
    made = handed({spelled(version): old for version in VERSIONS}, new_)
    assert made["since"] == ""
    assert {version: one["why"] for version, one in made["versions"].items()} == {
        spelled(version): "new" if version >= HANDED else "old" for version in VERSIONS
    }
    assert since({"2.0": old, "2.1": new_, "2.2": old}) == "2.2"


def test_the_document_has_a_row_for_each_version() -> None:
    text = (REPOSITORY / "docs" / "loading.md").read_text(encoding="utf-8")
    assert all(f"\n| {spelled(version)} | " in text for version in VERSIONS)
    assert all(f"`{dotted}`" in text for dotted in SINCE)
