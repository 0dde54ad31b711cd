"""What was saved, told by its keys: hand-made roots for every profile, and the real files of every Lightning generation.

Expectations: the tables of keys that pytorch_lightning, transformers and torch write; of real files, what the program that wrote them read
back (X.expected.json beside them).
"""

from __future__ import annotations

import io
import json
import struct
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.profiles import describe
from inert.profiles.lightning import literal, migrations
from tests.makers import Made, Name, dumps, storage, tensor, torch_zip
from tests.source_tree import REPOSITORY

CORPUS = REPOSITORY.parent / "shared" / "corpus"
LIGHTNING = sorted((CORPUS / "lightning").rglob("*.ckpt")) if CORPUS.is_dir() else []
STORAGES = {"0": struct.pack("<6f", *range(6)), "1": struct.pack("<2f", 0.25, 9.0), "2": struct.pack("<q", 7)}
WEIGHT, BIAS = (lambda: tensor(storage("0", 6), (2, 3))), (lambda: tensor(storage("1", 2), (2,)))
COUNT = lambda: tensor(storage("2", 1, "Long"), ())  # noqa: E731
SCORE = lambda: tensor(storage("1", 2), ())  # noqa: E731


def said(root: Any) -> dict[str, Any]:
    with inert.open(io.BytesIO(torch_zip(dumps(root), STORAGES))) as ckpt:
        return describe(ckpt)


def weights() -> dict[str, Any]:
    return OrderedDict(weight=WEIGHT(), bias=BIAS())


def adam() -> dict[str, Any]:
    state = {"step": COUNT(), "exp_avg": BIAS(), "exp_avg_sq": BIAS()}
    return {"state": {0: state}, "param_groups": [{"lr": 0.001, "betas": (0.9, 0.999), "foreach": None, "params": [0, 1]}]}


def module(kind: str, **children: Any) -> Made:
    state = {"training": False, "_parameters": OrderedDict(w=BIAS()), "_buffers": OrderedDict(), "_modules": OrderedDict(children)}
    return Made(Name(*kind.rsplit(".", 1)), (), state, new=True)


# -- the profiles -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("root", "profile", "sentence"),
    [
        (weights(), "state-dict", "a state dict of 2 entries"),
        ({"model": weights(), "epoch": 3}, "training", "a training state with its weights under 'model'"),
        ({"params_ema": weights(), "params": weights()}, "training", "a training state with its weights under 'params_ema'"),
        ({"params": weights()}, "training", "a training state with its weights under 'params'"),
        (
            {"model_state_dict": weights(), "optimizer_state_dict": adam()},
            "training",
            "a training state with its weights under 'model_state_dict'",
        ),
        ({"state_dict": weights(), "epoch": 5, "arch": "resnet18"}, "training", "a training state with its weights under 'state_dict'"),
        ({"module": weights(), "iteration": 9}, "training", "a training state with its weights under 'module'"),
        ({"epoch": 1, "ema": weights()}, "training", "a training state with its weights under 'ema'"),
        ({"generator": weights(), "discriminator": weights()}, "training", "a training state with its weights under 'generator'"),
        ({"my_net": weights()}, "training", "a training state with its weights under 'my_net'"),
        ({"state": {"model": weights()}, "rng": 1}, "training", "a training state with its weights under 'state.model'"),
        ({"scores": [1, 2], "optimizer": adam()}, "training", "a training state without weights"),
        (
            module("models.yolo.Model", model=module("torch.nn.modules.container.Sequential")),
            "module",
            "a whole module, models.yolo.Model with 1 submodule",
        ),
        ({"model": module("models.yolo.Model"), "epoch": 2}, "module", "a whole module, models.yolo.Model with 0 submodules under 'model'"),
        (adam(), "optimizer", "an optimizer's state alone (2 parameters in 1 group)"),
        (
            {"python": (3, (1, 2), None), "numpy": ("MT19937",), "cpu": BIAS()},
            "hf-trainer",
            "random-number states of the Hugging Face Trainer (rng_state.pth)",
        ),
        (
            {"step": 0, "random_state": (3,), "numpy_random_seed": (1,)},
            "hf-trainer",
            "random-number states of Accelerate (random_states_0.pkl)",
        ),
        (
            {"base_lrs": [0.1], "last_epoch": 2, "_step_count": 3, "_last_lr": [0.1]},
            "hf-trainer",
            "a learning-rate scheduler's state (scheduler.pt)",
        ),
        (WEIGHT(), "bare", "a single tensor, float32[2, 3]"),
        ([WEIGHT(), BIAS()], "bare", "a bare list of 2 items"),
        ((1,), "bare", "a bare tuple of 1 item"),
        (3.5, "bare", "a single value of type float"),
        ("text", "bare", "a single value of type str"),
        (None, "bare", "a single value of type NoneType"),
        ({}, "other", "a dict of 0 entries without tensors"),
        ({"a": 1, "b": [WEIGHT()], "c": 2}, "other", "a dict of 3 entries"),
        (
            Made(Name("torch_geometric.data.data", "Data"), (), {"x": WEIGHT()}, new=True),
            "other",
            "an object of class torch_geometric.data.data.Data",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_profile_has_its_keys(root: Any, profile: str, sentence: str) -> None:
    found = said(root)
    assert (found["profile"], found["sentence"]) == (profile, sentence)
    assert found["missing"] == []


def test_sections_count_every_storage_once_and_keep_the_order() -> None:
    found = said({"epoch": 3, "model": weights(), "ema": weights(), "optimizer": adam()})
    assert found["sections"] == [
        {"key": "epoch", "nbytes": 0, "tensors": 0},
        {"key": "model", "nbytes": 24 + 8, "tensors": 2},
        {"key": "ema", "nbytes": 0, "tensors": 2},
        {"key": "optimizer", "nbytes": 8, "tensors": 3},
    ]
    assert said(WEIGHT())["sections"] == [{"key": "", "nbytes": 24, "tensors": 1}]
    assert said([WEIGHT(), 1])["sections"] == [{"key": "0", "nbytes": 24, "tensors": 1}]


def test_a_section_counts_no_bytes_that_are_not_there() -> None:
    lies = {"w": tensor(storage("0", 1 << 40), (2,)), "v": tensor(storage("9", 2), (2,))}
    assert said(lies)["sections"] == [{"key": "w", "nbytes": 0, "tensors": 1}, {"key": "v", "nbytes": 0, "tensors": 1}]


def test_training_facts() -> None:
    facts = said({"epoch": 3, "best": SCORE(), "arch": "vgg", "net": weights(), "model": weights(), "opt": adam(), "x": object})["facts"]
    assert facts["key"] == "model"
    assert facts["weights"] == {"model": 2, "net": 2}
    assert facts["values"] == {"epoch": 3, "best": 0.25, "arch": "vgg"}
    assert facts["optimizers"]["opt"]["likely"] == "Adam or AdamW"


def test_optimizer_facts() -> None:
    assert said(adam())["facts"] == {
        "likely": "Adam or AdamW",
        "states": 1,
        "keeps": ["step", "exp_avg", "exp_avg_sq"],
        "groups": [{"parameters": 2, "lr": 0.001, "betas": [0.9, 0.999], "foreach": None}],
        "nbytes": 16,
    }


def test_module_facts() -> None:
    layer = module("torch.nn.modules.conv.Conv2d")
    found = said(
        {"ema": None, "model": module("models.yolo.Model", a=layer, b=module("torch.nn.modules.conv.Conv2d"), c=layer), "epoch": 7}
    )
    facts = found["facts"]
    assert (facts["class"], facts["submodules"], facts["key"]) == ("models.yolo.Model", 2, "model")
    assert facts["classes"] == ["torch.nn.modules.conv.Conv2d", "models.yolo.Model"]
    assert facts["values"] == {"ema": None, "epoch": 7}


@pytest.mark.parametrize("key", ["hyper_parameters", "hparams", "args", "cfg", "config", "opt"])
def test_hyper_parameters_of_training_scripts(key: str) -> None:
    assert said({"model": weights(), key: {"lr": 0.1}})["hyper_parameters"] == {"lr": 0.1}
    assert "hyper_parameters" not in said({"model": weights(), key: adam()})
    assert "hyper_parameters" not in said({"model": weights(), key: "text"})
    space = Made(Name("argparse", "Namespace"), (), {"lr": 0.1}, new=True)
    assert vars(said({"model": weights(), key: space})["hyper_parameters"]) == {"lr": 0.1}


def test_training_arguments_are_hyper_parameters() -> None:
    found = said(Made(Name("transformers.training_args", "TrainingArguments"), (), {"output_dir": "x", "seed": 42}, new=True))
    assert found["profile"] == "hf-trainer"
    assert found["sentence"] == "training arguments of the Hugging Face Trainer (TrainingArguments)"
    assert found["hyper_parameters"] == {"output_dir": "x", "seed": 42}


# -- Lightning ----------------------------------------------------------------------------------------------------------------

FULL = {
    "epoch": 1,
    "global_step": 6,
    "pytorch-lightning_version": "2.6.0",
    "state_dict": weights(),
    "loops": {
        "fit_loop": {
            "state_dict": {},
            "epoch_progress": {"total": {"ready": 2, "completed": 1}, "current": {"ready": 2, "completed": 1}},
            "epoch_loop.automatic_optimization.optim_progress": {"optimizer": {"step": {"total": {"ready": 6, "completed": 6}}}},
        }
    },
    "callbacks": {
        "EarlyStopping{'monitor': 'val_loss', 'mode': 'min'}": {"wait_count": 0, "best_score": SCORE(), "patience": 3},
        "ModelCheckpoint{'monitor': 'it\\'s', 'every_n_epochs': 1, 'train_time_interval': datetime.timedelta(seconds=3)}": {
            "best_model_path": "/a/b.ckpt",
            "best_model_score": SCORE(),
            "best_k_models": {"/a/b.ckpt": SCORE()},
        },
        "MyCallback": {"history": [1.0, 2.0]},
    },
    "optimizer_states": [adam()],
    "lr_schedulers": [{"gamma": 0.1, "last_epoch": 2, "_last_lr": [0.01]}],
    "MixedPrecision": {"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000, "_growth_tracker": 0},
    "hparams_name": "kwargs",
    "hyper_parameters": {"lr": 0.01},
    "hparams_type": Name("omegaconf.dictconfig", "DictConfig"),
    "datamodule_hparams_name": "kwargs",
    "datamodule_hyper_parameters": {"batch": 4},
    "test.<locals>.DM": {"seen": 12},
    "custom": [1],
}


def test_a_full_lightning_checkpoint_has_every_fact() -> None:
    found = said(FULL)
    assert (found["profile"], found["missing"]) == ("lightning", [])
    assert found["sentence"] == "a PyTorch Lightning 2.6.0 run (epoch 1, step 6, full)"
    assert found["hyper_parameters"] == {"lr": 0.01}
    assert found["facts"] == {
        "epoch": 1,
        "global_step": 6,
        "version": "2.6.0",
        "written_by": "2.6.0",
        "complete": "full",
        "state_dict": {"entries": 2, "nbytes": 32},
        "callbacks": [
            {
                "class": "EarlyStopping",
                "parameters": {"monitor": "val_loss", "mode": "min"},
                "state": {"wait_count": 0, "best_score": 0.25, "patience": 3},
            },
            {
                "class": "ModelCheckpoint",
                "parameters": {"monitor": "it's", "every_n_epochs": 1, "train_time_interval": "datetime.timedelta(seconds=3)"},
                "state": {"best_model_path": "/a/b.ckpt", "best_model_score": 0.25, "best_k_models": {"/a/b.ckpt": 0.25}},
            },
            {"class": "MyCallback", "state": {"history": [1.0, 2.0]}},
        ],
        "optimizers": [
            {
                "likely": "Adam or AdamW",
                "states": 1,
                "keeps": ["step", "exp_avg", "exp_avg_sq"],
                "groups": [{"parameters": 2, "lr": 0.001, "betas": [0.9, 0.999], "foreach": None}],
                "nbytes": 8,
            }
        ],
        "schedulers": [{"gamma": 0.1, "last_epoch": 2, "_last_lr": [0.01]}],
        "loops": {
            "fit_loop": {
                "epoch_progress": {"total": {"ready": 2, "completed": 1}, "current": {"ready": 2, "completed": 1}},
                "epoch_loop.automatic_optimization.optim_progress": {"optimizer": {"step": {"total": {"ready": 6, "completed": 6}}}},
            }
        },
        "precision": {"MixedPrecision": FULL["MixedPrecision"]},
        "hparams": {"key": "hyper_parameters", "name": "kwargs", "type": "omegaconf.dictconfig.DictConfig", "entries": 1},
        "datamodule_hparams": {
            "key": "datamodule_hyper_parameters", "name": "kwargs", "type": "dict", "entries": 1, "values": {"batch": 4},
        },
        "datamodules": {"test.<locals>.DM": {"seen": 12}},
        "custom": ["custom"],
    }  # fmt: skip


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in FULL.items() if key not in keys}


def test_a_weights_only_file_says_what_it_lacks() -> None:
    found = said(without("optimizer_states", "lr_schedulers", "callbacks", "MixedPrecision"))
    assert found["facts"]["complete"] == "weights-only"
    assert found["sentence"] == "a PyTorch Lightning 2.6.0 run (epoch 1, step 6, weights only)"
    assert [text.partition(":")[0] for text in found["missing"]] == ["no optimizer_states", "no lr_schedulers", "no callbacks"]
    assert "stops with KeyError" in found["missing"][0]


def test_a_file_that_has_lost_its_version_is_still_known() -> None:
    found = said(without("pytorch-lightning_version"))
    assert found["profile"] == "lightning"
    assert found["missing"] == ["no pytorch-lightning_version: Lightning refuses it with KeyError: 'pytorch-lightning_version'"]
    assert found["sentence"] == "a PyTorch Lightning run (epoch 1, step 6, full)"


def test_old_keys_and_class_objects_as_callback_keys() -> None:
    stopping = Name("pytorch_lightning.callbacks.early_stopping", "EarlyStopping")
    found = said(
        {
            "epoch": 3,
            "global_step": 1200,
            "pytorch-lightning_version": "0.7.5",
            "checkpoint_callback_best_model_score": SCORE(),
            "checkpoint_callback_best_model_path": "/a",
            "early_stop_callback_wait": 0,
            "early_stop_callback_patience": 3,
            "callbacks": {stopping: {"wait_count": 1}},
            "optimizer_states": [],
            "lr_schedulers": [],
            "native_amp_scaling_state": {"scale": 2.0},
            "state_dict": weights(),
            "hparams": {"lr": 0.1},
        }
    )
    assert found["sentence"] == "a PyTorch Lightning 0.7.5 run (epoch 3, step 1,200, full)"
    facts = found["facts"]
    assert facts["callbacks"] == [
        {"class": "pytorch_lightning.callbacks.early_stopping.EarlyStopping", "state": {"wait_count": 1}},
        {"class": "ModelCheckpoint", "state": {"best_model_score": 0.25, "best_model_path": "/a"}},
        {"class": "EarlyStopping", "state": {"wait_count": 0, "patience": 3}},
    ]
    assert facts["precision"] == {"native_amp_scaling_state": {"scale": 2.0}}
    assert found["hyper_parameters"] == {"lr": 0.1}
    assert len(facts["migrations"]) == 7
    assert [text.partition(":")[0] for text in found["missing"]] == ["no loops", "optimizer_states is empty"]


def test_before_0_7_there_was_no_version_key() -> None:
    found = said({"epoch": 1, "global_step": 2, "checkpoint_callback_best": 0.5, "optimizer_states": [adam()], "state_dict": weights()})
    assert found["profile"] == "lightning"
    assert found["facts"]["callbacks"] == [{"class": "ModelCheckpoint", "state": {"best_model_score": 0.5}}]


@pytest.mark.parametrize(
    "root",
    [
        {"state_dict": weights(), "epoch": 5, "arch": "resnet18", "optimizer": adam()},
        {"state_dict": weights(), "epoch": 1, "global_step": 3},
        {"model_state_dict": weights(), "optimizer_state_dict": adam(), "epoch": 1, "global_step": 2},
    ],
)
def test_other_programs_dictionaries_are_not_lightning(root: dict[str, Any]) -> None:
    assert said(root)["profile"] == "training"


@pytest.mark.parametrize(
    ("version", "count"),
    [("0.7.5", 7), ("0.9.0", 6), ("1.4.9", 5), ("1.6.0", 3), ("1.9.5", 1), ("2.0.0", 0), ("2.6.6", 0), ("x", 0), (None, 0)],
)
def test_migrations_are_those_of_later_versions(version: Any, count: int) -> None:
    assert len(migrations(version)) == count


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("{'a': None, 'b': True, 'c': -1, 'd': 1e-05, 'e': 'x'}", {"a": None, "b": True, "c": -1, "d": 1e-05, "e": "x"}),
        ("{'a': [1, 2], 'b': {'c': (3,)}}", {"a": "[1, 2]", "b": "{'c':(3, )}"}),
        ('{"it\'s": "a, {b"}', {"it's": "a, {b"}),
        ("{'a': inf}", {"a": float("inf")}),
        ("{'a'}", "{'a'}"),
        ("{'a': 1", "{'a': 1"),
        ("{'a': 1}; import os", "{'a': 1}; import os"),
        ("{" * 3000, "{" * 500),
        ("{'a': '" + "x" * 5000 + "'}", "{'a': '" + "x" * 493),
    ],
)
def test_callback_parameters_are_read_as_data(text: str, value: Any) -> None:
    assert literal(text) == value


# -- hostile roots ------------------------------------------------------------------------------------------------------------


def deep(levels: int) -> bytes:
    return b"\x80\x02" + b"}X\x01\x00\x00\x00a" * levels + b"N" + b"s" * levels + b"."


def lightning_with(value: bytes) -> bytes:
    """A Lightning dict whose every key holds the same value."""
    keys = [*FULL, "hparams", "checkpoint_callback_best", "averaging_state"]
    body = b"".join(b"X" + struct.pack("<I", len(key)) + key.encode() + b"h\x00" for key in keys)
    return b"\x80\x02" + value + b"q\x000}q\x01(" + body + b"u."


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "data",
    [
        deep(200_000),
        b"\x80\x02]q\x00h\x00a.",  # a list in itself
        b"\x80\x02}q\x00X\x05\x00\x00\x00modelh\x00s.",  # a dict in itself
        b"\x80\x02]q\x00" + b"".join(b"]q" + bytes([i + 1]) + b"(h" + bytes([i]) + b"h" + bytes([i]) + b"e" for i in range(60)) + b".",
        *(
            lightning_with(value)
            for value in (b"N", b"K\x01", b"X\x01\x00\x00\x00a", b"]", b"}", b")", b"\x8f", b"}K\x01K\x02s", b"]K\x01a")
        ),
        lightning_with(b"}" + b"q\x02X\x05\x00\x00\x00stateh\x02s"),
        lightning_with(b"cos\nsystem\n"),
        lightning_with(b"cos\nsystem\n)R}b"),
        b"\x80\x02}((K\x01tK\x02cos\nsystem\nK\x03G\x7f\xf8\x00\x00\x00\x00\x00\x00Nu.",  # keys of all kinds
    ],
)
def test_no_root_is_too_much(data: bytes) -> None:
    with inert.open(io.BytesIO(torch_zip(data))) as ckpt:
        found = describe(ckpt)
    assert found["profile"]
    assert found["sentence"].isprintable()


# -- real files ---------------------------------------------------------------------------------------------------------------


def told(path: Path) -> dict[str, Any]:
    """Top-level plain values, as the writing program read them back, and how many tensors lie under each key."""
    expected = json.loads(path.with_name(f"{path.name}.expected.json").read_text(encoding="utf-8"))
    values = {leaf["path"][0][1]: leaf["value"] for leaf in expected["leaves"] if len(leaf["path"]) == 1}
    counts: dict[str, int] = {}
    for one in expected["tensors"]:
        counts[one["path"][0][1]] = counts.get(one["path"][0][1], 0) + 1
    return {"values": values, "counts": counts}


def reads(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PK\3\4"


@pytest.mark.corpus
@pytest.mark.skipif(not LIGHTNING, reason="the shared corpus is not beside the repository")
@pytest.mark.parametrize("path", [path for path in LIGHTNING if reads(path)], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_real_lightning_files(path: Path) -> None:
    with inert.open(path) as ckpt:
        found = describe(ckpt)
        root = ckpt.root
    wanted = told(path)
    if path.stem == "fabric":
        assert (found["profile"], found["facts"]["key"]) == ("training", "model")
        return
    facts = found["facts"]
    assert found["profile"] == "lightning"
    assert (
        facts["version"]
        == wanted["values"]["pytorch-lightning_version"]
        == path.parent.name.split("-torch")[0].split("-")[-1].removeprefix("pl")
    )
    assert (facts["epoch"], facts["global_step"]) == (wanted["values"]["epoch"], wanted["values"]["global_step"])
    assert (facts["complete"] == "weights-only") is ("weights_only" in path.stem)
    assert {one["key"]: one["tensors"] for one in found["sections"] if one["tensors"]} == wanted["counts"]
    assert [one["key"] for one in found["sections"]] == list(root)
    assert facts["hparams"]["name"] == wanted["values"]["hparams_name"] == "kwargs"
    assert set(found["hyper_parameters"]) >= {"hidden", "lr"}
    assert ("omegaconf" in facts["hparams"]["type"]) is ("hparams_all_omegaconf" in path.stem)
    if facts["complete"] == "full":
        classes = [one["class"].rpartition(".")[2] for one in facts["callbacks"]]
        assert "ModelCheckpoint" in classes
        assert len(facts["optimizers"]) == (2 if "two_optimizers" in path.stem else 1)
        assert ("EMA" in classes) is (path.stem.startswith("ema"))
    else:
        assert found["missing"][0].startswith("no optimizer_states: a weights-only file")
    if path.stem.startswith("amp_fp16") and facts["complete"] == "full":
        assert facts["precision"]["MixedPrecision"]["scale"] == 1024.0
