"""``inert info``: the keys it promises, and a page that a person can read."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.makers import Made, Name, dumps, storage, tensor, torch_entries
from tests.test_cli_ls import CORPUS, STEERING, needs_corpus, saved
from tests.test_cli_main import Run, run

__all__ = ["run"]

KEYS = {
    "format", "profile", "byteorder", "compression", "dimension_order", "loader_executes_code", "loads", "metadata", "sections", "notes",
}  # fmt: skip
LIGHTNING = {
    "epoch": 3,
    "global_step": 120,
    "pytorch-lightning_version": "2.5.1",
    "state_dict": {"net.weight": tensor(storage("0", 6), (2, 3)), "net.bias": tensor(storage("1", 2), (2,))},
    "loops": {"fit_loop": {"state_dict": {}}},
    "callbacks": {"EarlyStopping{'monitor': 'val_loss'}": {"patience": 3}},
    "optimizer_states": [{"state": {0: {"exp_avg": tensor(storage("2", 6), (2, 3))}}, "param_groups": [{"lr": 0.001, "params": [0]}]}],
    "lr_schedulers": [],
    "hparams_name": "kwargs",
    "hyper_parameters": {"lr": 0.001, "name": "größe\x1b[31m", "layers": [1, 2, 3], "fn": Name("my.module", "loss")},
}
STORAGES = {"0": bytes(24), "1": bytes(8), "2": bytes(24)}


def answer(run: Run, path: Path, code: int = 0) -> dict[str, Any]:
    found, out, _ = run("info", "--json", path)
    assert found == code
    made: dict[str, Any] = json.loads(out)
    return made


def test_every_key_of_a_plain_state_dict(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.pt", {"w": tensor(storage("0", 6), (2, 3)), "b": tensor(storage("0", 6), (2,))})
    found = answer(run, path)
    assert set(found) >= KEYS
    facts = {key: found[key] for key in ("format", "byteorder", "compression", "dimension_order", "loader_executes_code")}
    assert facts == {
        "format": "torch-zip", "byteorder": "little", "compression": "none", "dimension_order": "row major", "loader_executes_code": True,
    }  # fmt: skip
    assert set(found["loads"]) == {"full", "weights_only", "mmap", "jit"}
    assert all(isinstance(said["ok"], bool) and said["why"] for said in found["loads"].values())
    assert found["metadata"]["version"] == "3"
    assert (found["count"], found["nbytes"], found["storage_nbytes"]) == (2, 32, 24)
    assert found["dtypes"] == [{"dtype": "float32", "tensors": 2, "nbytes": 32}]
    assert found["size"] == path.stat().st_size
    assert found["notes"] == []
    assert "hyper_parameters" not in found


def test_a_lightning_checkpoint(run: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "x.ckpt", LIGHTNING, STORAGES)
    found = answer(run, path)
    assert found["profile"] == "lightning"
    assert "Lightning 2.5.1" in found["sentence"]
    sections = {section["key"]: (section["tensors"], section["nbytes"]) for section in found["sections"]}
    assert sections["state_dict"] == (2, 32)
    assert sections["optimizer_states"] == (1, 24)
    assert found["hyper_parameters"] == {
        "lr": 0.001, "name": "größe\x1b[31m", "layers": [1, 2, 3], "fn": {"global": "my.module.loss"},
    }  # fmt: skip
    assert found["loads"]["weights_only"]["ok"] is False
    assert found["loads"]["weights_only"]["blocked"] == ["my.module.loss"]
    code, out, err = run("info", path)
    assert (code, err) == (0, "")
    assert not STEERING.search(out.replace("\n", ""))
    for text in ("Lightning 2.5.1", "weights_only=True", "my.module.loss", 'name: "größe\\x1b[31m"', "layers: [1, 2, 3]", "state_dict"):
        assert text in out
    assert out.splitlines()[0] == found["sentence"]


def test_compression_and_findings(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in torch_entries(dumps({"w": tensor(storage("9", 6), (2, 3))}), {"0": bytes(24)}):
            archive.writestr(str(entry.name), entry.data)
    found = answer(run, path, code=1)
    assert found["compression"].startswith("deflate (")
    notes = {note["code"]: note for note in found["notes"]}
    assert notes["record-missing"]["tensors"] == ["w"]
    assert set(notes["record-missing"]) == {"code", "severity", "message", "where", "tensors", "fix"}
    code, out, err = run("info", path)
    assert (code, err) == (1, "")
    assert "error: w: its storage data/9 is not in the file" in out


@pytest.mark.parametrize("value", [[], 3, "text", None, {1: 2}, [{"a": (1, b"x")}], Made(Name("a.b", "C"), (), {"x": 1})])
def test_whatever_was_saved(run: Run, tmp_path: Path, value: Any) -> None:
    path = saved(tmp_path / "x.pt", value, {})
    assert answer(run, path)["count"] == 0
    assert run("info", path)[0] == 0
    assert run("show", path)[0] == 0
    assert run("ls", path)[0] == 0


@pytest.mark.parametrize(
    ("place", "reader"),
    [
        ("sharded/bin", "from_pretrained"),
        ("dcp/two_ranks", "torch.distributed.checkpoint.load"), ("deepspeed/zero2", "DeepSpeed"), ("tf/types", "tf.train.load_checkpoint"),
        ("tf/v1_file", "tf.train.load_checkpoint"), ("pickles/numpy-p2.pkl", "pickle.load"),
    ],
)  # fmt: skip
def test_what_torch_does_not_read_is_one_line(run: Run, place: str, reader: str) -> None:
    path = Path(__file__).parent / "corpus" / place
    lines = run("info", path)[1].splitlines()
    at = lines.index("would it load?")
    assert reader in lines[at + 1]
    assert "torch.load" in lines[at + 1]
    assert lines[at + 2] == ""
    assert reader in json.loads(run("info", "--json", path)[1])["read_by"]


def test_safetensors_are_read_by_torch_since_2_13_and_by_their_package(run: Run) -> None:
    path = Path(__file__).parent / "corpus" / "safetensors" / "shapes.safetensors"
    text = run("info", path)[1]
    assert "\n  torch.load(weights_only=True)   yes " in text
    assert "by version: taken by torch 2.13 to 2.15; torch 2.12 stops: torch before 2.13 reads no safetensors files" in text
    assert "\n  without torch.load              yes   safetensors.torch.load_file" in text


def test_the_versions_that_take_it(run: Run) -> None:
    path = Path(__file__).parent / "corpus" / "torch" / "python_objects.pt"
    assert "by version" not in run("info", path)[1]
    said = json.loads(run("info", "--json", path)[1])["loads"]["weights_only"]
    assert (said["since"], {one["ok"] for one in said["versions"].values()}) == ("", {False})
    text = run("info", path.with_name("sparse.pt"))[1]
    assert "by version: taken by torch 2.1 to 2.15; torch 2.0 stops: " in text


@pytest.mark.no_cover
def test_as_many_sections_as_there_are_keys(run: Run, tmp_path: Path) -> None:
    count = 30_000
    state: dict[str, Any] = dict.fromkeys((f"t{i}" for i in range(count)), tensor(storage("0", 6), (2, 3)))
    path = saved(tmp_path / "x.pt", state | {"long" * 5000: 1, "last": tensor(storage("1", 6), (6,))}, {"0": bytes(24), "1": bytes(24)})
    found = answer(run, path)
    assert len(found["sections"]) == count + 2
    assert found["sections"][-1] == {"key": "last", "nbytes": 24, "tensors": 1}
    code, out, _ = run("info", path)
    assert code == 0
    assert f"  … {count + 1 - 20:,} more" in out


@needs_corpus
@pytest.mark.corpus
@pytest.mark.parametrize("path", sorted(CORPUS.glob("lightning/*/*.ckpt")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_lightning_files_of_every_version(run: Run, path: Path) -> None:
    code, out, err = run("info", path)
    if code == 2:
        assert err.count("\n") == 1
        pytest.skip("not read yet")
    assert code == 0
    assert not STEERING.search(out.replace("\n", ""))
    found = answer(run, path)
    tables = path.with_name(path.name + ".expected.json")
    if tables.is_file():
        leaves = json.loads(tables.read_text(encoding="utf-8")).get("leaves", [])
        versions = [leaf["value"] for leaf in leaves if leaf["name"] == "pytorch-lightning_version"]
        assert all(version in found["sentence"] for version in versions)
