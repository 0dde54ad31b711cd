"""Values of a saved object, told apart and put in short: tensors, state dicts, modules, optimizers, and summaries of dicts.

Knows: what each of these looks like whatever program saved it, and how to keep a summary small.
Refuses to know: which keys they lie under. Nothing is looked at in depth; of tensors, single numbers alone are read.

Facts: torch 2.13 (Optimizer.state_dict; torch/optim/*.py for what each keeps of a parameter).
"""

from __future__ import annotations

from argparse import Namespace
from struct import unpack

from ..errors import InertError
from ..names import piece
from ..pickle.nodes import Global
from ..tensor import Tensor
from ..torch.objects import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# state kept of one parameter → optimizers that keep such, the first match counts
FAMILIES = {
    ("exp_avg", "exp_avg_sq"): "Adam or AdamW",
    ("exp_avg", "exp_inf"): "Adamax",
    ("square_avg", "acc_delta"): "Adadelta",
    ("square_avg",): "RMSprop",
    ("sum",): "Adagrad",
    ("prev", "step_size"): "Rprop",
    ("momentum_buffer",): "SGD with momentum",
}
PLAIN = (str, int, float, bool, type(None))
MOST, FEW, LONG = 64, 16, 500  # entries of a summary, of a container in one, characters of a text
# element types of single numbers, as struct unpacks them
NUMBERS = {"float64": "d", "float32": "f", "float16": "e", "int64": "q", "int32": "i", "int16": "h", "int8": "b", "uint8": "B", "bool": "?"}


def count(number: int, noun: str, plural: str = "") -> str:
    """3 tensors, 1 entry."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or (type(value) is Object and value.type.endswith("Parameter"))


def is_weights(value: Any) -> bool:
    """Whether it is a state dict: a dict of which at least half of the values are tensors."""
    if not isinstance(value, dict) or not value:
        return False
    tensors = sum(map(is_tensor, value.values()))
    return tensors > 0 and 2 * tensors >= len(value)


def is_optimizer(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("state"), dict) and isinstance(value.get("param_groups"), list)


def is_module(value: Any) -> bool:
    return type(value) is Object and value.is_module


def fields_of(value: Any) -> dict[Any, Any]:
    """The entries of a dict, the fields of an object or a namespace; {} for what has none."""
    if isinstance(value, dict):
        return value
    if isinstance(value, Namespace):
        return vars(value)
    return value.fields if type(value) is Object else {}


def kind_of(value: Any) -> str:
    """The class of a value, as the file names it."""
    if isinstance(value, Object):
        return "a class that the file itself makes" if value.type.startswith("<") else value.type
    return value.dotted if isinstance(value, Global) else type(value).__name__


def scalar(value: Any) -> Any:
    """A tensor of one element, or a NumPy scalar, as its number; a text cut at 500 characters; whatever else as it is."""
    if type(value) is str:
        return value if len(value) <= LONG else value[:LONG] + "…"
    if type(value).__module__ == "numpy" and callable(getattr(value, "item", None)):
        return value.item()
    if not isinstance(value, Tensor) or value.kind != "dense" or value.size != 1 or value.fault:
        return value
    storage, form = value.storage, "f" if value.dtype == "bfloat16" else NUMBERS.get(value.dtype)
    if storage is None or storage.order != "little" or form is None:
        return value
    try:
        raw = b"".join(value.chunks())
    except InertError:
        return value
    return unpack(f"<{form}", b"\0\0" + raw if value.dtype == "bfloat16" else raw)[0]


def summary(value: Any) -> Any:
    """The plain entries of a dict and its one-element tensors; of the rest, what it is."""
    if not isinstance(value, dict):
        return _entry(scalar(value))
    made: dict[str, Any] = {}
    for key, item in value.items():
        if len(made) == MOST:
            made["…"] = f"{len(value) - MOST:,} more"
            break
        made[piece(key)[:LONG]] = _entry(scalar(item))
    return made


def _entry(item: Any) -> Any:
    if isinstance(item, PLAIN):
        return item
    if isinstance(item, (list, tuple)) and len(item) <= FEW and all(isinstance(one, PLAIN) for one in item):
        return list(item)
    if isinstance(item, dict) and len(item) <= FEW and all(isinstance(scalar(one), PLAIN) for one in item.values()):
        return {piece(key)[:LONG]: scalar(one) for key, one in item.items()}
    if isinstance(item, Tensor):
        return f"{item.dtype}{list(item.shape)}"
    return f"{kind_of(item)} of {len(item):,}" if isinstance(item, (dict, list, tuple, set, frozenset)) else kind_of(item)


def optimizer(state: Any, nbytes: int) -> dict[str, Any]:
    """An optimizer's state_dict: its likely class, parameter groups with their settings, number and names of states."""
    if not isinstance(state, dict):
        return {"likely": "", "states": 0, "keeps": [], "groups": [], "nbytes": nbytes}
    states, groups = state.get("state"), state.get("param_groups")
    states = states if isinstance(states, dict) else {}
    first = next(iter(states.values()), None)
    names = [piece(key) for key in first][:MOST] if isinstance(first, dict) else []
    return {
        "likely": next((name for keys, name in FAMILIES.items() if set(keys) <= set(names)), ""),
        "states": len(states),
        "keeps": names,
        "groups": [_group(group) for group in groups[:MOST]] if isinstance(groups, list) else [],
        "nbytes": nbytes,
    }


def _group(group: Any) -> dict[str, Any]:
    if not isinstance(group, dict):
        return {"parameters": 0}
    held = group.get("params")
    settings = summary({key: item for key, item in group.items() if key != "params"})
    return {"parameters": len(held) if isinstance(held, (list, tuple)) else 0, **settings}
