"""Lightning: what every key of its checkpoints means, from pytorch_lightning 0.x to 2.x, and what an incomplete one lacks.

Knows: the tables of keys, both spellings of callbacks, the loops' progress, and what today's Lightning changes in old files.
Refuses to know: other programs' dictionaries. Callback keys are read as data: what follows the class name is never compiled.

Facts: pytorch_lightning 0.9 to 2.6 (trainer/connectors/checkpoint_connector.py, utilities/migration, core/saving.py), and real files of
0.9, 1.2, 1.5, 1.9, 2.0, 2.5 and 2.6.
"""

from __future__ import annotations

import re

from ..names import piece
from ..pickle.nodes import Global
from .values import LONG, MOST, fields_of, kind_of, optimizer, scalar, summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION, LEGACY_VERSION = "pytorch-lightning_version", "legacy_pytorch-lightning_version"
HPARAMS = ("hyper_parameters", "hparams", "module_arguments")  # the first since 0.7.6, the others before
# Lightning's own keys, by what they hold
ROLES = {
    "progress": ("epoch", "global_step"),
    "version": (VERSION, LEGACY_VERSION),
    "weights": ("state_dict",),
    "loops": ("loops",),
    "callbacks": (
        "callbacks", "checkpoint_callback_best_model_score", "checkpoint_callback_best_model_path", "checkpoint_callback_best",
        "early_stop_callback_wait", "early_stop_callback_patience",
    ),
    "optimizers": ("optimizer_states",),
    "schedulers": ("lr_schedulers",),
    "precision": ("native_amp_scaling_state", "amp_scaling_state"),
    "hparams": (*HPARAMS, "hparams_name", "hparams_type"),
    "datamodule": ("datamodule_hyper_parameters", "datamodule_hparams_name", "datamodule_hparams_type"),
    "averaging": ("current_model_state", "averaging_state"),
}  # fmt: skip
KEYS = {key: role for role, keys in ROLES.items() for key in keys}
# keys that nobody but Lightning writes: with epoch, global_step and state_dict, one of them tells a file that has lost its version
MARKS = frozenset(key for key, role in KEYS.items() if role in ("optimizers", "schedulers", "callbacks", "precision", "datamodule"))
MARKS |= {"hparams_name", "hparams_type", "loops"}
# callback keys of 0.x → (class, key of its state today)
OLD_CALLBACKS = {
    "checkpoint_callback_best_model_score": ("ModelCheckpoint", "best_model_score"),
    "checkpoint_callback_best_model_path": ("ModelCheckpoint", "best_model_path"),
    "checkpoint_callback_best": ("ModelCheckpoint", "best_model_score"),
    "early_stop_callback_wait": ("EarlyStopping", "wait_count"),
    "early_stop_callback_patience": ("EarlyStopping", "patience"),
}
# class names of precision plugins, the keys of their states; other keys are known by the state of a GradScaler
PRECISION = re.compile(
    r"(Native|Apex|FSDP|DeepSpeed|Megatron|XLA|TPU|IPU|HPU)?(Mixed|Double|Half|BFloat16|TransformerEngine|Bitsandbytes)?Precision(Plugin)?"
)
SCALER = frozenset(("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"))
CLASS_NAME = re.compile(r"(\w+\.(<locals>\.)?)*[A-Z]\w*")  # __qualname__: DM, test.<locals>.DM
# version → what Lightning changes in files written before it
MIGRATIONS = (
    ((0, 7, 6), "hparams and module_arguments become hyper_parameters"),
    ((0, 10, 0), "checkpoint_callback_* and early_stop_callback_* move into callbacks"),
    ((1, 5, 0), "callback classes as keys become their names"),
    ((1, 6, 0), "loops are made from epoch and global_step"),
    ((1, 6, 5), "_batches_that_stepped is set to global_step"),
    ((1, 9, 0), "save_on_train_epoch_end leaves the keys of ModelCheckpoint"),
    ((2, 0, 0), "epoch_loop.batch_loop and dataloader_progress are renamed in loops; apex scaling is dropped"),
)
# what an incomplete file lacks → what comes of it
LACKS = (
    (VERSION, "Lightning refuses it with KeyError: 'pytorch-lightning_version'"),
    ("state_dict", "there are no weights to load"),
    ("optimizer_states", "a weights-only file: training cannot be resumed, Trainer.fit(ckpt_path=…) stops with KeyError"),
    ("lr_schedulers", "learning-rate schedulers cannot be resumed"),
    ("callbacks", "best scores, early stopping and the like start anew"),
    ("loops", "progress can be taken only from epoch and global_step, as in files of Lightning before 1.6"),
)


def recognise(root: Any) -> bool:
    """Whether it is a Lightning checkpoint: by its version, or by its other keys where that is lost (or was not written yet)."""
    if not isinstance(root, dict):
        return False
    if VERSION in root:
        return True
    marks = sum(key in root for key in MARKS)
    return "state_dict" in root and marks > 0 and (("epoch" in root and "global_step" in root) or marks > 1)


def describe(root: dict[Any, Any], weights: int, optimizers: list[int]) -> dict[str, Any]:
    """The parts of profiles.describe's answer. ``weights``: bytes of the state dict; ``optimizers``: of each optimizer's state."""
    version = root.get(VERSION)
    shown = f" {version}" if isinstance(version, str) else ""
    rest = "full" if "optimizer_states" in root else "weights only"
    made: dict[str, Any] = {
        "profile": "lightning",
        "sentence": f"a PyTorch Lightning{shown} run (epoch {_number(root.get('epoch'))}, step {_number(root.get('global_step'))}, {rest})",
        "facts": {key: value for key, value in _facts(root, weights, optimizers).items() if not isinstance(value, (dict, list)) or value},
        "missing": lacks(root),
    }
    key = next((key for key in HPARAMS if root.get(key) is not None), None)
    if key:
        made["hyper_parameters"] = root[key]
    return made


def _facts(root: dict[Any, Any], weights: int, optimizers: list[int]) -> dict[str, Any]:
    others = [key for key in root if key not in KEYS]
    precision = [key for key in root if KEYS.get(key) == "precision" or (key in others and _is_precision(key, root[key]))]
    others = [key for key in others if key not in precision]
    datamodules = [key for key in others if isinstance(key, str) and CLASS_NAME.fullmatch(key) and isinstance(root[key], dict)]
    facts = {
        "epoch": scalar(root.get("epoch")),
        "global_step": scalar(root.get("global_step")),
        "version": root.get(VERSION),
        "written_by": root.get(LEGACY_VERSION, root.get(VERSION)),
        "complete": "full" if "optimizer_states" in root else "weights-only",
        "state_dict": {"entries": len(fields_of(root.get("state_dict"))), "nbytes": weights},
        "callbacks": callbacks(root),
        "optimizers": [optimizer(one, size) for one, size in zip(items(root, "optimizer_states"), optimizers, strict=True)],
        "schedulers": [summary(one) for one in items(root, "lr_schedulers")],
        "loops": loops(root.get("loops")),
        "precision": {key: summary(root[key]) for key in precision},
        "hparams": hparams(root, ""),
        "datamodule_hparams": hparams(root, "datamodule_"),
        "datamodules": {key: summary(root[key]) for key in datamodules},
        "custom": [piece(key) for key in others if key not in datamodules],
        "migrations": migrations(root.get(LEGACY_VERSION, root.get(VERSION))),
    }
    if any(key in root for key in ROLES["averaging"]):
        facts["averaging"] = "state_dict holds averaged weights; the live ones are in current_model_state"
    return facts


def items(root: dict[Any, Any], key: str) -> list[Any]:
    """The first entries of a list; [] where there is none."""
    value = root.get(key)
    return list(value[:MOST]) if isinstance(value, (list, tuple)) else []


def _number(value: Any) -> str:
    value = scalar(value)
    return f"{value:,}" if isinstance(value, int) else "unknown"


def _is_precision(key: Any, value: Any) -> bool:
    return isinstance(key, str) and (PRECISION.fullmatch(key) is not None or (isinstance(value, dict) and value.keys() >= SCALER))


def lacks(root: dict[Any, Any]) -> list[str]:
    """What is not there, and what comes of it."""
    said = [f"no {key}: {why}" for key, why in LACKS if key not in root]
    if root.get("optimizer_states") == []:
        said.append("optimizer_states is empty: the model had no optimizer, or the strategy keeps its state elsewhere")
    return said


def migrations(version: Any) -> list[str]:
    """What today's Lightning changes in a file of this version when it loads it."""
    numbers = re.match(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?", version) if isinstance(version, str) else None
    if numbers is None:
        return []
    here = tuple(int(number or 0) for number in numbers.groups())
    return [f"{'.'.join(map(str, since))}: {what}" for since, what in MIGRATIONS if here < since]


def hparams(root: dict[Any, Any], prefix: str) -> dict[str, Any]:
    """The name and the type under which hyper-parameters were saved, and how many there are; of a data module's, also their values."""
    key = next((prefix + key for key in HPARAMS if prefix + key in root), None)
    if key is None:
        return {}
    value, kind = root[key], root.get(f"{prefix}hparams_type")
    made = {
        "key": key,
        "name": root.get(f"{prefix}hparams_name"),
        "type": kind if isinstance(kind, str) else kind_of(value if kind is None else kind),
        "entries": len(fields_of(value)),
    }
    return {**made, "values": summary(value)} if prefix else made


# -- callbacks ----------------------------------------------------------------------------------------------------------------


def callbacks(root: dict[Any, Any]) -> list[dict[str, Any]]:
    """Class, parameters and state of each callback, in every spelling."""
    held = root.get("callbacks")
    made = [_callback(key, state) for key, state in list(held.items())[:MOST]] if isinstance(held, dict) else []
    old: dict[str, dict[str, Any]] = {}
    for key, (name, today) in OLD_CALLBACKS.items():
        if key in root:
            old.setdefault(name, {})[today] = scalar(root[key])
    return made + [{"class": name, "state": state} for name, state in old.items()]


def _callback(key: Any, state: Any) -> dict[str, Any]:
    if not isinstance(key, str):
        return {"class": key.dotted if isinstance(key, Global) else piece(key), "state": summary(state)}
    name, brace, rest = key.partition("{")
    made: dict[str, Any] = {"class": name[:LONG]}
    if brace:
        made["parameters"] = literal(brace + rest)
    made["state"] = summary(state)
    return made


_TOKEN = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[\w.+-]+|[{}:,()\[\]=])\s*""")
_WORDS = {"None": None, "True": True, "False": False}
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
REPR = 4096  # characters of a callback's parameters


def literal(text: str) -> Any:
    """A dict of plain values as ``repr`` writes it; the text itself where it is anything else or longer than 4,096 characters.

    Read by hand: ast.literal_eval would compile what the file says, and inert compiles nothing that comes from one."""
    tokens, at = [], 0
    while at < len(text) <= REPR:
        match = _TOKEN.match(text, at)
        if match is None:
            break
        tokens.append(match[1])
        at = match.end()
    if at < len(text) or tokens[:1] != ["{"] or tokens[-1:] != ["}"]:
        return text[:LONG]
    made: dict[str, Any] = {}
    for entry in _entries(tokens[1:-1]):
        if len(entry) < 3 or entry[1] != ":" or entry[0][0] not in "'\"":
            return text[:LONG]
        made[_unquoted(entry[0])] = _value(entry[2:])
    return made


def _entries(tokens: list[str]) -> list[list[str]]:
    """The tokens between the commas that stand in no bracket."""
    entries: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += _BRACKETS.get(token, 0)
        if token == "," and not depth:
            entries.append([])
        else:
            entries[-1].append(token)
    return [entry for entry in entries if entry]


def _unquoted(token: str) -> str:
    return re.sub(r"\\(['\"\\])", r"\1", token[1:-1])


def _value(tokens: list[str]) -> Any:
    """A plain value; text for anything longer, such as datetime.timedelta(seconds=3)."""
    first = tokens[0]
    if len(tokens) > 1:
        return "".join(token if token != "," else ", " for token in tokens)
    if first[0] in "'\"":
        return _unquoted(first)
    if first in _WORDS:
        return _WORDS[first]
    for kind in (int, float):
        try:
            return kind(first)
        except ValueError:
            continue
    return first


# -- loops --------------------------------------------------------------------------------------------------------------------


def loops(value: Any) -> dict[str, Any]:
    """The progress entries of each loop: {total, current} with what was ready, started, processed and completed."""
    if not isinstance(value, dict):
        return {}
    return {piece(loop)[:LONG]: _progress(state) for loop, state in list(value.items())[:MOST]}


def _progress(state: Any) -> dict[str, Any]:
    held = fields_of(state)
    return {piece(key)[:LONG]: _counts(held[key], 3) for key in list(held)[:MOST] if piece(key).endswith("progress")}


def _counts(value: Any, depth: int) -> Any:
    """Dicts of numbers in dicts, such as {optimizer: {step: {total: {ready: 6, completed: 6}}}}."""
    if isinstance(value, dict) and depth:
        return {piece(key)[:LONG]: _counts(value[key], depth - 1) for key in list(value)[:MOST]}
    return summary(value)
