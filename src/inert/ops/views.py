"""Which tensors view which storage: the ground for every change that must keep ties.

Knows: every tensor below a root with its names, components included, by the storage it views; which run of it.
Refuses to know: what is done with it.
"""

from __future__ import annotations

from ..layout import Layout, Storage, contiguous, item_geometry, items_of, reach
from ..names import Lister
from ..tensor import Tensor
from .walk import slots

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..source import Span

PLAIN = ("dense", "tiled", "meta")  # kinds that are elements over one storage and nothing else


class Views:
    """``names``: by place, the names of the tensors there · ``layouts``: by id of a storage, the layouts over it, each place once ·
    ``fixed``: ids of storages that something else than plain tensors uses."""

    def __init__(self, root: Any, limits: Limits) -> None:
        self.names: dict[Any, list[str]] = {}
        self.layouts: dict[int, dict[Any, Layout]] = {}
        self.storages: dict[int, Storage] = {}
        self.fixed: set[int] = set()
        for name, tensor in Lister(root, limits).tensors.items():
            self._add(tensor.layout, name)
        for storage in bare(root):
            self.fixed.add(id(storage))
            self.storages[id(storage)] = storage

    def _add(self, layout: Layout, name: str) -> None:
        if layout.fault:
            return
        if layout.kind in PLAIN:
            self.names.setdefault(place(layout), []).append(name)
        for role, part in layout.components.items():
            if layout.kind.startswith("sparse"):
                self._add(part.layout, f"{name}.{role}")
            elif layout.kind != "tiled" and part.storage is not None:
                self.fixed.add(id(part.storage))
                self.storages[id(part.storage)] = part.storage
        storage = layout.storage
        if storage is None:
            return
        self.storages[id(storage)] = storage  # keeps it alive, and so its id
        if layout.kind in PLAIN:
            self.layouts.setdefault(id(storage), {}).setdefault(place(layout), layout)
        else:
            self.fixed.add(id(storage))


def place(layout: Layout) -> Any:
    """Equal for layouts of the same elements: whatever becomes of one becomes of the other."""
    if layout.storage is None:
        return id(layout)
    return (id(layout.storage), layout.dtype, layout.offset, layout.shape, layout.strides, layout.conj, layout.neg)


def names_of(root: Any, limits: Limits) -> dict[Any, list[str]]:
    """The names of every tensor, whatever its kind, by place."""
    found: dict[Any, list[str]] = {}
    for name, tensor in Lister(root, limits).tensors.items():
        found.setdefault(place(tensor.layout), []).append(name)
    return found


def run(layout: Layout) -> tuple[int, int]:
    """(first stored item, the one behind the last) of what a layout views; the same twice where it has no elements."""
    shape, strides, offset = item_geometry(layout)
    return offset, offset + reach(shape, strides)[0] + 1


def bare(root: Any) -> list[Storage]:
    """Storages that stand in the saved object by themselves."""
    found: list[Storage] = []
    seen: set[int] = set()
    todo = [root]
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, Tensor):
            continue
        seen.add(id(value))
        if isinstance(value, Storage):
            found.append(value)
        todo += [item for _, item in slots(value)]
    return found


def own(layout: Layout, limits: Limits) -> Layout:
    """The same elements in a storage of their own, in order; they are gathered when they are read."""

    def opened() -> Span:
        from ..casts import InOrder

        return InOrder(layout, limits, "gathered").span()

    dtype = layout.dtype
    storage = Storage("gathered", items_of(dtype, layout.shape) * dtype.itemsize, dtype, layout.device, opened)
    made = layout.copy()
    made.strides, made.offset, made.storage = contiguous(layout.shape), 0, storage
    made.conj = made.neg = False
    made.kind, made.components = "dense", {}
    return made
