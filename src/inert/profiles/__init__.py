"""Profiles: what kind of thing was saved, told by the keys of the saved object.

Knows: rows of keys by which Lightning, Hugging Face's Trainer, optimizers, modules, state dicts and training scripts' dictionaries are
recognised, in the order in which they are asked.
Refuses to know: formats. It looks at the root a few levels deep and never further; work is in proportion to what lies there.

Facts: transformers 4 (Trainer._save_optimizer_and_scheduler, _save_rng_state), torch 2.13 (GradScaler.state_dict), and real files of each;
Lightning's are in lightning.py.
"""

from __future__ import annotations

import re
from itertools import islice

from ..errors import one_line
from ..names import piece
from ..tensor import Tensor
from ..torch.objects import Object
from . import lightning
from .values import MOST, PLAIN, count, fields_of, is_module, is_optimizer, is_weights, kind_of, optimizer, scalar, summary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..checkpoint import Checkpoint
    from ..layout import Layout, Storage

# where weights lie in a dictionary of a training script, first choice first
WEIGHTS = (
    "state_dict", "model_state_dict", "model", "params_ema", "params", "module", "ema", "model_ema", "ema_state_dict", "generator", "g_ema",
    "net", "network", "net_g", "weights", "model_state", "student", "teacher", "encoder", "backbone", "state.model", "model.state_dict",
)  # fmt: skip
HYPER_PARAMETERS = (*lightning.HPARAMS, "hyperparameters", "hyper_params", "args", "cfg", "config", "opt", "train_args")
# Hugging Face Trainer and Accelerate: keys that must be there → what it is
TRAINER = (
    (("python", "numpy", "cpu"), "random-number states of the Hugging Face Trainer (rng_state.pth)"),
    (("random_state", "numpy_random_seed"), "random-number states of Accelerate (random_states_0.pkl)"),
    (("last_epoch", "_step_count"), "a learning-rate scheduler's state (scheduler.pt)"),
    (("scale", "growth_factor", "backoff_factor"), "a gradient scaler's state (scaler.pt)"),
)
ARGUMENTS = re.compile(r"(transformers|trl|peft|accelerate|sentence_transformers)\..*(Arguments|Config)")


def describe(ckpt: Checkpoint) -> dict[str, Any]:
    """What was saved: ``profile`` (lightning, state-dict, training, module, optimizer, hf-trainer, bare or other), ``sentence`` (a noun
    phrase), ``sections`` ([{key, nbytes, tensors}] by top-level key: bytes of the storages, each counted under the first key that uses
    it), ``facts`` (by profile), ``missing`` (what an incomplete Lightning file lacks), ``hyper_parameters`` (where there are any)."""
    said = ckpt.content.profile()
    if said is not None:
        return {**said, "sentence": one_line(said["sentence"], 300)}
    root, sizes = ckpt.root, Sizes(ckpt)
    found: dict[str, Any] = {"profile": "", "sentence": "", "sections": sizes.sections(root), "facts": {}, "missing": []}
    found |= next(said for look in LOOKS if (said := look(root, sizes)) is not None)
    found["sentence"] = one_line(found["sentence"], 300)
    if "hyper_parameters" not in found:
        known = [root[key] for key in HYPER_PARAMETERS if key in root] if isinstance(root, dict) else []
        known = [value for value in known if fields_of(value) and not any(test(value) for test in (is_weights, is_optimizer, is_module))]
        found |= {"hyper_parameters": known[0]} if known else {}
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
        if layout.kind != "tiled":  # tiles are counted as the whole that they make
            todo += [part.layout for part in layout.components.values()]
        if layout.storage is not None and layout.storage not in seen:
            seen.add(layout.storage)
            found.append(layout.storage)
    return found


def _held(storage: Storage) -> int:
    """Bytes that are there: none for a meta storage, none where the record is missing or not what the pickle says."""
    return 0 if storage.opener is None or storage.fault else storage.nbytes


# -- one function for each profile: its part of the answer, or None ----------------------------------------------------------


def lightning_run(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if not lightning.recognise(root):
        return None
    states = lightning.items(root, "optimizer_states")
    held = [sizes.by_pair.get(("optimizer_states", number), 0) for number in range(len(states))]
    return lightning.describe(root, sizes.of("state_dict")[0], held)


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
    parameters = sum(group["parameters"] for group in said["groups"])
    text = f"an optimizer's state alone ({count(parameters, 'parameter')} in {count(len(said['groups']), 'group')})"
    return {"profile": "optimizer", "sentence": text, "facts": said}


def module(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    key, held = "", root
    if isinstance(root, dict):
        choices = [name for name in dict.fromkeys([*WEIGHTS, *root]) if is_module(root.get(name))]
        if not choices:
            return None
        key, held = choices[0], root[choices[0]]
    if not is_module(held):
        return None
    below, classes = submodules(held)
    where = f" under {piece(key)!r}" if isinstance(root, dict) else ""
    facts: dict[str, Any] = {"class": kind_of(held), "submodules": below, "classes": classes}
    if isinstance(root, dict):
        facts |= training_facts(root, sizes) | {"key": piece(key)}
    return {"profile": "module", "sentence": f"a whole module, {kind_of(held)} with {count(below, 'submodule')}{where}", "facts": facts}


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
        "sentence": f"a state dict of {count(len(root), 'entry', 'entries')}",
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
    optimizers = {piece(key): optimizer(root[key], sizes.of(key)[0]) for key in root if is_optimizer(root[key])}
    plain = ((key, scalar(value)) for key, value in root.items() if isinstance(value, (*PLAIN, Tensor)))
    values = {piece(key): value for key, value in islice(plain, MOST) if isinstance(value, PLAIN)}
    return facts | ({"optimizers": optimizers} if optimizers else {}) | ({"values": values} if values else {})


def _at(root: Any, path: str) -> Any:
    for key in path.split("."):
        root = root.get(key) if isinstance(root, dict) else None
    return root


def bare(root: Any, sizes: Sizes) -> dict[str, Any] | None:
    if isinstance(root, Tensor):
        text = f"a single tensor, {root.dtype}{list(root.shape)}"
    elif isinstance(root, (list, tuple, set, frozenset)):
        text = f"a bare {type(root).__name__} of {count(len(root), 'item')}"
    elif isinstance(scalar(root), (*PLAIN, complex, bytes, bytearray)):
        text = f"a single value of type {type(root).__name__}"
    else:
        return None
    return {"profile": "bare", "sentence": text, "facts": {"type": type(root).__name__}}


def other(root: Any, sizes: Sizes) -> dict[str, Any]:
    if isinstance(root, dict):
        text = f"a dict of {count(len(root), 'entry', 'entries')}" + ("" if sizes.tensors else " without tensors")
    else:
        text = f"an object of class {kind_of(root)}"
    return {"profile": "other", "sentence": text, "facts": {"type": kind_of(root)}}


LOOKS = (lightning_run, trainer, optimizer_only, module, state_dict, training, bare, other)
