"""What DeepSpeed's files say about ZeRO: one fact after another, or that there is none.

Knows: the spellings of stages, numbers of partitions, shapes and names, over the versions.
Refuses to know: how tensors are made of it (zero.py, partitions.py). What a rank's file says is a ``Told``: its value, or why there is
none.

Facts: DeepSpeed 0.19.8 (checkpoint/constants.py; state_dict of runtime/zero/stage_1_and_2.py and stage3.py; runtime/engine.py).
"""

from __future__ import annotations

from ..tiled import geometry
from .objects import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits

STAGES = {"disabled": 0, "optimizer_states": 1, "gradients": 2, "weights": 3}  # by name, where an enumeration is not saved by value


class Told:
    """What a file says: its dictionary, or the reason why there is none."""

    __slots__ = ("fault", "file", "value")

    def __init__(self, file: str, value: Any, fault: str = "") -> None:
        self.file = file
        self.value: dict[Any, Any] = value if isinstance(value, dict) else {}
        self.fault = fault or ("" if isinstance(value, dict) else f"{file} holds no dictionary")


def inner(told: Told) -> Told:
    """The optimizer's own dictionary of an optimizer file."""
    return told if told.fault else Told(told.file, told.value.get("optimizer_state_dict"))


def worlds(said: Any) -> int:
    """partition_count: a number, or one for each group, of which the largest is that of all ranks; 0 for neither."""
    found = list(said) if isinstance(said, (list, tuple)) else [said]
    return max(found) if found and all(type(one) is int and one > 0 for one in found) else 0


def stage_of(said: Any) -> int | None:
    """ZeRO's stage, which is saved as a number or as a member of ZeroStageEnum."""
    if isinstance(said, Object) and said.type.endswith("ZeroStageEnum") and isinstance(said.arguments, tuple) and said.arguments:
        said = said.arguments[-1]
    if type(said) is str:
        said = STAGES.get(said)
    return said if type(said) is int and 0 <= said <= 3 else None


def alien(model: dict[Any, Any]) -> str:
    """Why partitions cannot be put together at all: DeepSpeed's own consolidation refuses AutoEP's partitions of ZeRO-3, too."""
    layers = model.get("ds_autoep_layers") or model.get("autoep_layers")
    formats = [one.get("checkpoint_format") for one in layers if isinstance(one, dict)] if isinstance(layers, list) else []
    return "AutoEP has cut the experts among other ranks than the rest" if "zero3_partitioned" in formats else ""


def shape_of(said: Any, dtype: DType, limits: Limits) -> tuple[int, ...] | None:
    """A shape as DeepSpeed saves it; None for what is none."""
    if not isinstance(said, (tuple, list)) or not all(type(size) is int for size in said):
        return None
    shape = tuple(said)
    return None if geometry(dtype, shape, limits) else shape


def is_text(name: Any) -> bool:
    return type(name) is str


def pairs(said: Any) -> list[tuple[str, Any]]:
    """The items of a dictionary by name."""
    return [(name, value) for name, value in said.items() if type(name) is str] if isinstance(said, dict) else []
