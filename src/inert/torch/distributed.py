"""Objects of torch.distributed as nodes: their fields by name.

Knows: where a class of torch.distributed is told by its own name, and how fields, tuples and sizes are read, within bounds.
Refuses to know: what the fields mean (placements.py, mesh.py), and any class: names are compared.

Facts: torch 2.13 torch/distributed.
"""

from __future__ import annotations

from ..pickle.nodes import Call, Dict, List

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Offsets = tuple[int, ...]

HOME = "torch.distributed."
FIELDS = 64  # of an object that is looked into; those of torch have some ten
DIMENSIONS = 64  # of a mesh, and of a tensor in it
NAME = 40  # characters of a mesh dimension's name that are shown
FLAT = ("_flat_param", "flat_param")  # FSDP's name of a flattened parameter: since torch 2.0, and before


def family(dotted: str) -> str:
    """The class's own name, where it is one of torch.distributed: the modules have changed from version to version, the names have not."""
    return dotted.rpartition(".")[2] if dotted.startswith(HOME) else ""


def fields(node: Any, name: str = "") -> dict[str, Any]:
    """The fields of an object of torch.distributed (of this name); {} for anything else."""
    if not isinstance(node, Call) or (name and family(node.dotted) != name):
        return {}
    return attributes(node.states[-1] if node.states else None)


def attributes(state: Any) -> dict[str, Any]:
    """What a state sets: a dict, or one for ``__dict__`` and one for slots."""
    found: dict[str, Any] = {}
    for part in state if type(state) is tuple and len(state) == 2 else (state,):
        if type(part) is Dict and len(part.flat) <= 2 * FIELDS:
            found |= {key: value for key, value in part.pairs() if type(key) is str}
    return found


def items(node: Any) -> tuple[Any, ...] | list[Any] | None:
    """The items of a tuple, list or torch.Size."""
    if isinstance(node, Call) and node.dotted == "torch.Size" and type(node.arguments) is tuple and len(node.arguments) == 1:
        node = node.arguments[0]
    return node.items if type(node) is List else node if type(node) is tuple else None


def numbers(node: Any) -> Offsets | None:
    """A tuple, list or torch.Size of a few numbers none of which is negative; None for anything else."""
    found = items(node)
    if found is None or len(found) > DIMENSIONS or not all(type(n) is int and 0 <= n < 1 << 63 for n in found):
        return None
    return tuple(found)


def readable(name: str) -> str:
    return name if len(name) <= NAME and name.isprintable() else ascii(name[:NAME])[1:-1]
