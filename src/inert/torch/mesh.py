"""A DeviceMesh in a file: its shape, the names of its dimensions, and where the rank that wrote the file is in it.

Knows: how torch 2.1 to 2.13 saved meshes.
Refuses to know: what is placed on a mesh (placements.py). What does not fit is not known, never an error.

Facts: torch 2.13 torch/distributed/device_mesh.py and _mesh_layout.py; real files of torch 2.1, 2.3, 2.6, 2.9 and 2.13. A mesh of torch 2.0
held its process groups, which no pickle takes: a DTensor in a file is of torch 2.1 or later.
"""

from __future__ import annotations

from math import prod

from ..pickle.nodes import Call
from .distributed import DIMENSIONS, fields, items, numbers, readable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .distributed import Offsets


class Mesh:
    """A DeviceMesh: its ``sizes``, the ``names`` of its dimensions, where this rank is in it (``at``), which rank it is (None: unknown)."""

    __slots__ = ("at", "names", "rank", "sizes")

    def __init__(self, node: Any) -> None:
        said = fields(node, "DeviceMesh")
        self.sizes = _sizes(said)
        names = items(said.get("mesh_dim_names", said.get("_mesh_dim_names")))
        fits = names is not None and self.sizes is not None and len(names) == len(self.sizes) and all(type(name) is str for name in names)
        self.names: list[str] = [readable(name) for name in names] if fits and names is not None else []
        at = numbers(said.get("_coordinate_on_dim"))
        inside = at is not None and self.sizes is not None and len(at) == len(self.sizes)
        self.at = at if inside and all(i < size for i, size in zip(at or (), self.sizes or (), strict=True)) else None
        self.rank = self._rank(said)

    def _rank(self, said: dict[str, Any]) -> int | None:
        rank, ranks = said.get("_rank"), items(said.get("_flatten_mesh_list"))
        if type(rank) is not int and ranks is not None and self.at is not None and self.sizes is not None:
            place = 0
            for i, size in zip(self.at, self.sizes, strict=True):
                place = place * size + i
            rank = ranks[place] if place < len(ranks) else None
        return rank if type(rank) is int and 0 <= rank < 1 << 63 else None

    @property
    def text(self) -> str:
        if self.sizes is None:
            return "on a mesh of unknown shape"
        names = self.names or [""] * len(self.sizes)
        made = "on mesh " + " × ".join(f"{name}={size}" if name else str(size) for name, size in zip(names, self.sizes, strict=True))
        if self.at is None:
            return made
        return f"{made}, {'' if self.rank is None else f'rank {self.rank} '}at {list(self.at)}"


def _sizes(said: dict[str, Any]) -> Offsets | None:
    """The shape of a mesh: of its tensor of ranks, since torch 2.9 of a layout, since 2.13 of one layout for each dimension."""
    layout, mesh = said.get("_layout"), said.get("mesh")
    if layout is not None:
        inner = fields(layout, "_MeshLayout")
        axes = items(inner.get("axes"))
        if axes is not None:
            return _products([fields(axis, "_FlatLayout").get("shape") for axis in axes]) if len(axes) <= DIMENSIONS else None
        shape = inner.get("shape")
        dims = (shape,) if type(shape) is int else items(shape)
        return None if dims is None or len(dims) > DIMENSIONS else _products([(n,) if type(n) is int else n for n in dims])
    if isinstance(mesh, Call) and mesh.dotted.startswith("torch._utils._rebuild_tensor") and type(mesh.arguments) is tuple:
        return numbers(mesh.arguments[2]) if len(mesh.arguments) > 2 else None
    return None


def _products(shapes: list[Any]) -> Offsets | None:
    found = [numbers(shape) for shape in shapes]
    sizes = tuple(prod(shape) for shape in found if shape is not None)
    return sizes if len(sizes) == len(shapes) and all(size < 1 << 63 for size in sizes) else None
