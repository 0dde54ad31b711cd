"""Profiles: what kind of thing was saved, told by the keys of the saved object, and what its keys mean.

Knows: rows of keys by which Lightning, Hugging Face's Trainer, optimizers, modules and state dicts are recognised; what every key of a
Lightning checkpoint means, from 0.x to 2.x, and what an incomplete one lacks.
Refuses to know: formats. It looks at the root at most four levels deep, never in depth, and reads no tensor but single numbers.

Facts: pytorch_lightning 0.9 to 2.6 (trainer/connectors/checkpoint_connector.py, utilities/migration, core/saving.py), transformers 4
(Trainer._save_optimizer_and_scheduler, _save_rng_state), torch 2.13 (Optimizer.state_dict, GradScaler.state_dict), and real files of each.
"""

from __future__ import annotations

import re
from struct import unpack

from .errors import InertError, one_line
from .names import piece
from .pickle.nodes import Global
from .tensor import Tensor
from .torch.values import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .checkpoint import Checkpoint
    from .layout import Layout, Storage

# -- the tables ---------------------------------------------------------------------------------------------------------------

VERSION, LEGACY_VERSION = "pytorch-lightning_version", "legacy_pytorch-lightning_version"
# Lightning's own keys → what they hold
LIGHTNING = {
    "epoch": "progress", "global_step": "progress", VERSION: "version", LEGACY_VERSION: "version", "state_dict": "weights",
    "loops": "loops", "callbacks": "callbacks", "optimizer_states": "optimizers", "lr_schedulers": "schedulers",
    "hyper_parameters": "hparams", "hparams_name": "hparams", "hparams_type": "hparams", "hparams": "hparams", "module_arguments": "hparams",
    "datamodule_hyper_parameters": "datamodule", "datamodule_hparams_name": "datamodule", "datamodule_hparams_type": "datamodule",
    "checkpoint_callback_best_model_score": "callbacks", "checkpoint_callback_best_model_path": "callbacks",
    "checkpoint_callback_best": "callbacks", "early_stop_callback_wait": "callbacks", "early_stop_callback_patience": "callbacks",
    "native_amp_scaling_state": "precision", "amp_scaling_state": "precision",
    "current_model_state": "averaging", "averaging_state": "averaging",
}  # fmt: skip
# keys that nobody but Lightning writes: beside a state_dict, two of them tell a checkpoint that has lost its version
MARKS = frozenset(key for key, role in LIGHTNING.items() if role not in ("progress", "weights", "averaging")) - {
    VERSION, LEGACY_VERSION, "callbacks", "hparams", "loops",
}  # fmt: skip
# callback keys of 0.x → (class, key of its state today)
OLD_CALLBACKS = {
    "checkpoint_callback_best_model_score": ("ModelCheckpoint", "best_model_score"),
    "checkpoint_callback_best_model_path": ("ModelCheckpoint", "best_model_path"),
    "checkpoint_callback_best": ("ModelCheckpoint", "best_model_score"),
    "early_stop_callback_wait": ("EarlyStopping", "wait_count"),
    "early_stop_callback_patience": ("EarlyStopping", "patience"),
}
PRECISION = re.compile(r"(Native|Apex|FSDP|DeepSpeed|Megatron|XLA|TPU|IPU|HPU)?(Mixed|Double|Half|BFloat16|TransformerEngine|Bitsandbytes)?"
                       r"Precision(Plugin)?")  # fmt: skip
SCALER = frozenset(("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"))
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
# what an incomplete Lightning file lacks → what comes of it
LACKS = (
    (VERSION, "Lightning refuses it with KeyError: 'pytorch-lightning_version'"),
    ("state_dict", "there are no weights to load"),
    ("optimizer_states", "a weights-only file: training cannot be resumed, Trainer.fit(ckpt_path=…) stops with KeyError"),
    ("lr_schedulers", "learning-rate schedulers cannot be resumed"),
    ("callbacks", "best scores, early stopping and the like start anew"),
    ("loops", "written before Lightning 1.6: progress is taken from epoch and global_step"),
)

# where weights lie in a dictionary of a training script, first choice first
WEIGHTS = (
    "state_dict", "model_state_dict", "model", "params_ema", "params", "module", "ema", "model_ema", "ema_state_dict", "generator", "g_ema",
    "net", "network", "net_g", "weights", "model_state", "student", "teacher", "encoder", "backbone", "state.model", "model.state_dict",
)  # fmt: skip
HYPER_PARAMETERS = (
    "hyper_parameters", "hparams", "module_arguments", "hyperparameters", "hyper_params", "args", "cfg", "config", "opt", "train_args",
)  # fmt: skip
# Hugging Face Trainer and Accelerate: keys that must be there → what it is
TRAINER = (
    (("python", "numpy", "cpu"), "random-number states of the Hugging Face Trainer (rng_state.pth)"),
    (("random_state", "numpy_random_seed"), "random-number states of Accelerate (random_states_0.pkl)"),
    (("last_epoch", "_step_count"), "a learning-rate scheduler's state (scheduler.pt)"),
    (("scale", "growth_factor", "backoff_factor"), "a gradient scaler's state (scaler.pt)"),
)
ARGUMENTS = re.compile(r"(transformers|trl|peft|accelerate|sentence_transformers)\..*(Arguments|Config)")
# state of one parameter → optimizers that keep such
FAMILIES = {
    ("exp_avg", "exp_avg_sq"): "Adam or AdamW", ("exp_avg", "exp_inf"): "Adamax", ("momentum_buffer",): "SGD with momentum",
    ("square_avg", "acc_delta"): "Adadelta", ("square_avg",): "RMSprop", ("sum",): "Adagrad", ("prev", "step_size"): "Rprop",
    ("exp_avg",): "Lion or the like",
}  # fmt: skip
_PLAIN = (str, int, float, bool, type(None))
MOST, LONG = 64, 500  # entries of a summary; characters of a text in one
_NUMBERS = {
    "float64": "<d", "float32": "<f", "float16": "<e", "int64": "<q", "int32": "<i", "int16": "<h", "int8": "<b", "uint8": "<B", "bool": "<?",
}  # fmt: skip


# -- the answer ---------------------------------------------------------------------------------------------------------------


def describe(ckpt: Checkpoint) -> dict[str, Any]:
    """``profile`` (lightning, state-dict, training, module, optimizer, hf-trainer, bare or other), ``sentence`` (a noun phrase), ``sections``
    ([{key, nbytes, tensors}]: bytes of the storages, each counted once, under the first key that uses it), ``facts`` (by profile),
    ``missing`` (what an incomplete Lightning file lacks), and ``hyper_parameters`` where there are any."""
    root = ckpt.root
    sizes = Sizes(ckpt)
    found: dict[str, Any] = {"profile": "", "sentence": "", "sections": sizes.sections(root), "facts": {}, "missing": []}
    for look in LOOKS:
        said = look(root, sizes)
        if said is not None:
            found.update(said)
            break
    found["sentence"] = one_line(found["sentence"], 300)
    if "hyper_parameters" not in found and isinstance(root, dict):
        for key in HYPER_PARAMETERS:
            value = root.get(key)
            if (isinstance(value, (dict, Object)) or hasattr(value, "__dict__")) and not is_weights(value) and not is_optimizer(value):
                found["hyper_parameters"] = value
                break
    return found


class Sizes:
    """Bytes and tensors by the first two keys of their paths; each storage counts where it is met first."""

    def __init__(self, ckpt: Checkpoint) -> None:
        self.by_key: dict[Any, list[int]] = {}  # first key → [bytes, tensors]
        self.by_pair: dict[tuple[Any, Any], int] = {}  # first and second key → bytes
        self.tensors = len(ckpt.tensors)
        seen: set[Storage] = set()
        for tensor in ckpt.tensors.values():
            path = tensor.path
            first = path[0] if path else ""
            size = sum(map(_held, _new_storages(tensor.layout, seen)))
            entry = self.by_key.setdefault(first, [0, 0])
            entry[0] += size
            entry[1] += 1
            if len(path) > 1:
                pair = first, path[1]
                self.by_pair[pair] = self.by_pair.get(pair, 0) + size

    def sections(self, root: Any) -> list[dict[str, Any]]:
        keys = dict.fromkeys([*(root if isinstance(root, dict) else ()), *self.by_key])
        return [{"key": piece(key), "nbytes": self.of(key)[0], "tensors": self.of(key)[1]} for key in keys]

    def of(self, key: Any) -> list[int]:
        return self.by_key.get(key, [0, 0])


def _new_storages(layout: Layout, seen: set[Storage]) -> Iterable[Storage]:
    todo, found = [layout], []
    while todo:
        layout = todo.pop()
        todo += [part.layout for part in layout.components.values()]
        if layout.storage is not None and layout.storage not in seen:
            seen.add(layout.storage)
            found.append(layout.storage)
    return found


def _held(storage: Storage) -> int:
    """Bytes that are there: none for a meta storage, none where the record is missing or not what the pickle says."""
    return 0 if storage.opener is None or storage.fault else storage.nbytes


# -- what a value is ----------------------------------------------------------------------------------------------------------


def is_tensor(value: Any) -> bool:
    return type(value) is Tensor or (type(value) is Object and value.type.endswith("Parameter"))


def is_weights(value: Any) -> bool:
    """Whether a dict is a state dict: at least half of its values are tensors."""
    if not isinstance(value, dict) or not value:
        return False
    count = sum(map(is_tensor, value.values()))
    return count > 0 and 2 * count >= len(value)


def is_optimizer(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("state"), dict) and isinstance(value.get("param_groups"), list)


def is_module(value: Any) -> bool:
    return type(value) is Object and value.is_module


def scalar(value: Any) -> Any:
    """A tensor of one element as its number; whatever else as it is, texts cut."""
    if type(value) is str and len(value) > LONG:
        return value[:LONG] + "…"
    if type(value) is not Tensor or value.kind != "dense" or value.size != 1 or value.fault:
        return value
    storage, form = value.storage, "<f" if value.dtype == "bfloat16" else _NUMBERS.get(value.dtype)
    if storage is None or storage.order != "little" or form is None:
        return value
    try:
        raw = b"".join(value.chunks())
    except InertError:
        return value
    return unpack(form, b"\0\0" + raw if value.dtype == "bfloat16" else raw)[0]


def summary(value: Any) -> Any:
    """The plain entries of a dict and its one-element tensors; of the rest, what it is."""
    if not isinstance(value, dict):
        return scalar(value)
    made: dict[str, Any] = {}
    for key, item in list(value.items())[:MOST]:
        made[piece(key)[:LONG]] = _entry(scalar(item))
    if len(value) > MOST:
        made["…"] = f"{len(value) - MOST:,} more"
    return made


def _entry(item: Any) -> Any:
    if isinstance(item, _PLAIN):
        return item
    if isinstance(item, (list, tuple)) and len(item) <= 16 and all(isinstance(one, _PLAIN) for one in item):
        return list(item)
    if isinstance(item, dict) and len(item) <= 16 and all(isinstance(scalar(one), _PLAIN) for one in item.values()):
        return {piece(key)[:LONG]: scalar(one) for key, one in item.items()}
    if type(item) is Tensor:
        return f"{item.dtype}{list(item.shape)}"
    return f"{_kind(item)} of {len(item)}" if isinstance(item, (dict, list, tuple, set)) else _kind(item)


def _kind(value: Any) -> str:
    if isinstance(value, (Object, Global)):
        return value.type if isinstance(value, Object) else value.dotted
    return type(value).__name__


def optimizer(state: Any, nbytes: int) -> dict[str, Any]:
    """An optimizer's state_dict: its likely class, parameter groups with their settings, number and names of states."""
    if not isinstance(state, dict):
        return {"kind": _kind(state)}
    states, groups = state.get("state"), state.get("param_groups")
    first = next(iter(states.values()), None) if isinstance(states, dict) else None
    names = [piece(key) for key in first][:MOST] if isinstance(first, dict) else []
    family = next((name for keys, name in FAMILIES.items() if set(keys) <= set(names)), "")
    made = []
    for group in groups[:MOST] if isinstance(groups, list) else ():
        settings = summary({key: item for key, item in group.items() if key != "params"}) if isinstance(group, dict) else {}
        count = len(group["params"]) if isinstance(group, dict) and isinstance(group.get("params"), list) else 0
        made.append({"parameters": count, **settings})
    return {"likely": family, "states": len(states) if isinstance(states, dict) else 0, "keeps": names, "groups": made, "nbytes": nbytes}


# -- Lightning ----------------------------------------------------------------------------------------------------------------


def lightning(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if not isinstance(root, dict) or not _is_lightning(root):
        return None
    version = root.get(VERSION)
    epoch, step = root.get("epoch"), root.get("global_step")
    full = "optimizer_states" in root
    others = [key for key in root if key not in LIGHTNING]
    precision = [key for key in root if LIGHTNING.get(key) == "precision" or (key in others and _is_precision(key, root[key]))]
    datamodules = [key for key in others if key not in precision and _is_class_name(key) and isinstance(root[key], dict)]
    facts = {
        "epoch": epoch,
        "global_step": step,
        "version": version,
        "complete": "full" if full else "weights-only",
        "state_dict": {
            "entries": len(root["state_dict"]) if isinstance(root.get("state_dict"), dict) else 0,
            "nbytes": sizes.of("state_dict")[0],
        },
        "callbacks": callbacks(root),
        "optimizers": [
            optimizer(one, sizes.by_pair.get(("optimizer_states", number), 0)) for number, one in enumerate(_list(root, "optimizer_states"))
        ],
        "schedulers": [summary(one) for one in _list(root, "lr_schedulers")],
        "loops": loops(root.get("loops")),
        "precision": {key: summary(root[key]) for key in precision},
        "datamodules": {piece(key): summary(root[key]) for key in datamodules},
        "custom": [piece(key) for key in others if key not in precision and key not in datamodules],
    }
    facts |= {name: said for name, said in (("hparams", hparams(root, "")), ("datamodule_hparams", hparams(root, "datamodule_"))) if said}
    if LEGACY_VERSION in root:
        facts["written_by"] = root[LEGACY_VERSION]
    facts["migrations"] = migrations(root.get(LEGACY_VERSION, version))
    if "averaging_state" in root or "current_model_state" in root:
        facts["averaging"] = "state_dict holds the averaged weights; the live ones are in current_model_state"
    made = {"profile": "lightning", "facts": {key: value for key, value in facts.items() if value not in ([], {})}, "missing": lacks(root)}
    known = next((root[key] for key in HYPER_PARAMETERS[:3] if key in root), None)
    if known is not None:
        made["hyper_parameters"] = known
    shown = f" {version}" if isinstance(version, str) else ""
    rest = "full" if full else "weights only"
    made["sentence"] = f"a PyTorch Lightning{shown} run (epoch {_short(epoch)}, step {_short(step)}, {rest})"
    return made


def _is_lightning(root: dict[Any, Any]) -> bool:
    if VERSION in root:
        return True
    marks = sum(key in MARKS for key in root)
    return "state_dict" in root and marks > 0 and (("epoch" in root and "global_step" in root) or marks > 1)


def _short(value: Any) -> str:
    value = scalar(value)
    return f"{value:,}" if isinstance(value, int) else "unknown"


def _list(root: dict[Any, Any], key: str) -> list[Any]:
    value = root.get(key)
    return list(value[:MOST]) if isinstance(value, (list, tuple)) else []


def _is_class_name(key: Any) -> bool:
    """A class's __qualname__: DM, test.<locals>.DM."""
    return isinstance(key, str) and re.fullmatch(r"(\w+\.(<locals>\.)?)*[A-Z]\w*", key) is not None


def _is_precision(key: Any, value: Any) -> bool:
    return isinstance(key, str) and (PRECISION.fullmatch(key) is not None or (isinstance(value, dict) and value.keys() >= SCALER))


def lacks(root: dict[Any, Any]) -> list[str]:
    """What is not there, and what comes of it."""
    said = [f"no {key}: {why}" for key, why in LACKS if key not in root]
    states = root.get("optimizer_states")
    if isinstance(states, list) and not states:
        said.append("optimizer_states is empty: the model had no optimizer, or the strategy keeps its state elsewhere")
    return said


def migrations(version: Any) -> list[str]:
    """What today's Lightning changes in a file of this version when it loads it."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", version) if isinstance(version, str) else None
    if numbers is None:
        return []
    here = tuple(int(number or 0) for number in numbers.groups())
    return [f"{'.'.join(map(str, since))}: {what}" for since, what in MIGRATIONS if here < since]


def hparams(root: dict[Any, Any], prefix: str) -> dict[str, Any]:
    """The name and the type under which hyper-parameters were saved, and how many there are."""
    keys = ["hyper_parameters"] if prefix else HYPER_PARAMETERS[:3]
    key = next((prefix + key for key in keys if prefix + key in root), None)
    if key is None:
        return {}
    value, kind = root[key], root.get(f"{prefix}hparams_type")
    held = value if isinstance(value, dict) else getattr(value, "__dict__", None) or (value.fields if type(value) is Object else {})
    return {
        "key": key, "name": root.get(f"{prefix}hparams_name"), "type": _kind(value) if kind is None else kind if isinstance(kind, str) else
        _kind(kind), "entries": len(held),
        **({"values": summary(value)} if prefix else {}),
    }  # fmt: skip


def callbacks(root: dict[Any, Any]) -> list[dict[str, Any]]:
    """Class, parameters and state of each callback, in both spellings."""
    held = root.get("callbacks")
    made = [_callback(key, state) for key, state in (list(held.items())[:MOST] if isinstance(held, dict) else ())]
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


_TOKEN = re.compile(r"""\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[\w.+-]+|[{}:,()\[\]])""")
_WORDS = {"None": None, "True": True, "False": False}


def literal(text: str) -> Any:
    """A dict of plain values as ``repr`` writes it; the text itself where it is anything else, or longer than 4,096 characters.

    Read by hand: ast.literal_eval would compile what the file says, if only to look at it."""
    tokens = [match[1] for match in _TOKEN.finditer(text[:4097])]
    if len(text) > 4096 or "".join(tokens) != re.sub(_TOKEN, r"\1", text) or tokens[:1] != ["{"] or tokens[-1:] != ["}"]:
        return text[:LONG]
    made: dict[Any, Any] = {}
    at, end = 1, len(tokens) - 1
    while at < end:
        stop, depth = at, 0
        while stop < end and (depth or tokens[stop] != ","):
            depth += (tokens[stop] in "([{") - (tokens[stop] in ")]}")
            stop += 1
        if stop - at < 3 or tokens[at + 1] != ":" or tokens[at][:1] not in "'\"":
            return text[:LONG]
        made[_unquoted(tokens[at])] = _value(tokens[at + 2 : stop])
        at = stop + 1
    return made


def _unquoted(token: str) -> str:
    return re.sub(r"\\(['\"\\])", r"\1", token[1:-1])


def _value(tokens: list[str]) -> Any:
    """A plain value; text for anything longer, such as datetime.timedelta(seconds=3)."""
    (first, *rest) = tokens
    if not rest:
        if first in _WORDS:
            return _WORDS[first]
        if first[0] in "'\"":
            return _unquoted(first)
        for kind in (int, float):
            try:
                return kind(first)
            except ValueError:
                continue
    return "".join(tokens)


def loops(value: Any) -> dict[str, Any]:
    """The progress entries of each loop: key → {total, current} with what was ready, started, processed and completed."""
    made: dict[str, Any] = {}
    for loop, state in list(value.items())[:MOST] if isinstance(value, dict) else ():
        entries = {}
        for key, item in list(state.items())[:MOST] if isinstance(state, dict) else ():
            if isinstance(item, dict) and "progress" in piece(key):
                entries[piece(key)[:LONG]] = {piece(part)[:LONG]: summary(counts) for part, counts in list(item.items())[:MOST]}
        made[piece(loop)[:LONG]] = entries
    return made


# -- the other profiles -------------------------------------------------------------------------------------------------------


def trainer(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if type(root) is Object and ARGUMENTS.fullmatch(root.type):
        text = f"training arguments of the Hugging Face Trainer ({root.type.rpartition('.')[2]})"
        return {"profile": "hf-trainer", "sentence": text, "facts": {"class": root.type}, "hyper_parameters": root.fields}
    if isinstance(root, dict):
        for keys, text in TRAINER:
            if all(key in root for key in keys) and not any(map(is_weights, root.values())):
                return {"profile": "hf-trainer", "sentence": text, "facts": {"entries": summary(root)}}
    return None


def optimizer_only(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if not is_optimizer(root):
        return None
    said = optimizer(root, sizes.of("state")[0])
    count = sum(group["parameters"] for group in said["groups"])
    groups = f"{len(said['groups'])} group{'s' * (len(said['groups']) != 1)}"
    return {"profile": "optimizer", "sentence": f"an optimizer's state alone ({count:,} parameters in {groups})", "facts": said}


def module(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    key, held = "", root
    if isinstance(root, dict):
        choices = [name for name in dict.fromkeys([*WEIGHTS, *root]) if is_module(root.get(name))]
        if not choices:
            return None
        key, held = choices[0], root[choices[0]]
    if not is_module(held):
        return None
    count, classes = submodules(held)
    where = f" under {piece(key)!r}" if isinstance(root, dict) else ""
    facts: dict[str, Any] = {"class": held.type, "submodules": count, "classes": classes}
    if isinstance(root, dict):
        facts |= {"key": piece(key), **training_facts(root, sizes)}
    return {"profile": "module", "sentence": f"a whole module, {held.type} with {count:,} submodules{where}", "facts": facts}


def submodules(root: Object) -> tuple[int, list[str]]:
    """How many modules lie below one, each counted once, and their classes, the most frequent first."""
    seen, todo, classes = {id(root)}, [root], {root.type: 1}
    while todo:
        held = todo.pop().fields.get("_modules")
        for child in held.values() if isinstance(held, dict) else ():
            if type(child) is Object and id(child) not in seen:
                seen.add(id(child))
                todo.append(child)
                classes[child.type] = classes.get(child.type, 0) + 1
    return len(seen) - 1, sorted(classes, key=lambda name: -classes[name])[:MOST]


def state_dict(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if not is_weights(root):
        return None
    prefixes = dict.fromkeys(key.partition(".")[0] for key in root if isinstance(key, str))
    return {
        "profile": "state-dict",
        "sentence": f"a state dict of {len(root):,} entries",
        "facts": {"entries": len(root), "prefixes": list(prefixes)[:MOST]},
    }


def training(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if not isinstance(root, dict):
        return None
    facts = training_facts(root, sizes)
    if "key" in facts:
        return {"profile": "training", "sentence": f"a training state with its weights under {facts['key']!r}", "facts": facts}
    if "optimizers" in facts:
        return {"profile": "training", "sentence": "a training state without weights", "facts": facts}
    return None


def training_facts(root: dict[Any, Any], sizes: Sizes) -> dict[str, Any]:
    """Which keys hold weights (``key`` the first choice) and optimizers, and the plain values beside them."""
    facts: dict[str, Any] = {}
    paths = [path for path in WEIGHTS if is_weights(_at(root, path))]
    others = [key for key, value in root.items() if key not in WEIGHTS and is_weights(value)]
    if paths or others:
        facts["key"] = paths[0] if paths else piece(others[0])
        held = [(path, _at(root, path)) for path in paths] + [(piece(key), root[key]) for key in others]
        facts["weights"] = {path: len(value) for path, value in held[:MOST]}
    optimizers = {piece(key): optimizer(value, sizes.of(key)[0]) for key, value in list(root.items()) if is_optimizer(value)}
    values = {piece(key): scalar(value) for key, value in root.items() if isinstance(scalar(value), _PLAIN)}
    facts |= {"optimizers": dict(list(optimizers.items())[:MOST])} if optimizers else {}
    facts |= {"values": dict(list(values.items())[:MOST])} if values else {}
    return facts


def _at(root: Any, path: str) -> Any:
    for key in path.split("."):
        root = root.get(key) if isinstance(root, dict) else None
    return root


def bare(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if type(root) is Tensor:
        text = f"a single tensor, {root.dtype}{list(root.shape)}"
    elif isinstance(root, (list, tuple, set, frozenset)):
        text = f"a bare {type(root).__name__} of {len(root):,} items"
    elif isinstance(root, (*_PLAIN, complex, bytes, bytearray)):
        text = f"a single value of type {type(root).__name__}"
    else:
        return None
    return {"profile": "bare", "sentence": text, "facts": {"type": type(root).__name__}}


def other(root: Any, sizes: Sizes) -> dict[str, Any]:
    if isinstance(root, dict):
        text = f"a dict of {len(root):,} entries" + ("" if sizes.tensors else " without tensors")
    else:
        text = f"an object of class {_kind(root)}"
    return {"profile": "other", "sentence": text, "facts": {"type": _kind(root)}}


LOOKS = (lightning, trainer, optimizer_only, module, state_dict, training, bare, other)
