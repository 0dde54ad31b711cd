"""Holes in a saved object: the places of tensors that are lost, closed or filled.

Knows: how a lost tensor is taken out of dicts and objects, that None keeps its place in lists and tuples, and what a hole is filled with.
Refuses to know: why a tensor is lost. Fillings are made while they are read: they take no memory.
"""

from __future__ import annotations

from collections import deque
from copy import copy
from math import prod

from ..finding import Finding
from ..layout import Layout, Storage, bounds, contiguous, items_of
from ..names import HERE, children, piece
from ..pickle.nodes import Reference
from ..source import Source
from ..tensor import Tensor
from ..tiled import Box, fault, tiled
from ..torch.objects import Object
from ..torch.rebuild import REBUILD
from .walk import FIELDS, LEAVES, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits

FILLS = ("zeros", "nan")
KINDS = ("dense", "numpy")  # what can be filled
BLOCK = 1 << 16
DEEP = 200  # keys that a name is made of at most


class Repeated(Source):
    """One item again and again."""

    __slots__ = ("_block", "item")

    def __init__(self, item: bytes, size: int, name: str = "filled") -> None:
        super().__init__(name, size)
        self.item = item
        self._block = item * max(BLOCK // max(len(item), 1), 1)

    def _read(self, offset: int, length: int) -> bytes:
        skip = offset % len(self.item)
        times = -(-(skip + length) // len(self._block))
        return (self._block * times)[skip : skip + length]


class Filler:
    """What holes are filled with. ``left``: bytes that may still be made: a damaged file may ask for any amount; ``partly``: id of a Layout
    → how many of how many slices were filled, where a tensor is made of some."""

    def __init__(self, fill: str, limits: Limits, size: int) -> None:
        self.fill = fill
        self.left = max(limits.logical_bytes, limits.logical_ratio * size)
        self.made: dict[Any, Layout] = {}
        self.zeroed: list[DType] = []  # types without a NaN
        self.partly: dict[int, tuple[int, int]] = {}

    def layout(self, lost: Layout, limits: Limits) -> Layout | None:
        """The layout of a tensor in a lost one's place, equal for equal ones; None where there can be none."""
        if lost.kind == "tiled":
            return self._slices(lost, limits) or self._whole(lost, limits)
        return self._whole(lost, limits) if lost.kind in KINDS else None

    def _slices(self, lost: Layout, limits: Limits) -> Layout | None:
        """A tensor of slices, of which those are filled that are not there."""
        boxes = [Box(*lost.boxes[key], part) for key, part in lost.components.items() if key in lost.boxes]
        odd = any(box.tensor.dtype != lost.dtype or box.tensor.shape != box.shape for box in boxes)
        if odd or fault(lost.shape, boxes):
            return None
        holes = [box for box in boxes if box.tensor.fault]
        if not holes:
            return None  # which of them is damaged is not known
        for box in holes:
            made = self._whole(box.tensor.layout, limits)
            if made is None:
                return None
            box.tensor = Tensor(made, limits)
        whole = tiled(lost.dtype, lost.shape, boxes, "filled", limits)
        whole.slices = lost.slices
        self.partly[id(whole)] = len(holes), len(boxes)
        return whole

    def _whole(self, lost: Layout, limits: Limits) -> Layout | None:
        if not lost.dtype.itemsize or lost.dtype.packed != 1 or min(lost.shape, default=0) < 0:
            return None
        key = (id(lost.storage), lost.dtype, lost.shape, lost.strides, lost.offset) if lost.storage is not None else id(lost)
        known = self.made.get(key)
        if known is not None:
            return known
        strides = contiguous(lost.shape)
        size = items_of(lost.dtype, lost.shape) * lost.dtype.itemsize
        storage = Storage("filled", size, lost.dtype, lost.device, None)
        if bounds(lost.dtype, lost.shape, strides, 0, storage, limits.rank) or size > self.left:
            return None
        self.left -= size
        item = self.item(lost.dtype)
        storage.opener = lambda: Repeated(item, size).span()
        made = lost.copy()
        made.fault, made.conj, made.neg = "", False, False
        made.attributes = made.hooks = None  # what they hold may be lost as well
        if made.kind == "tiled":
            made.kind, made.components, made.boxes, made.slices = "dense", {}, {}, ()
        made.storage, made.strides, made.offset = storage, strides, 0
        self.made[key] = made
        return made

    def told(self, name: str, made: Layout) -> list[Finding]:
        """That a tensor was filled in part."""
        if id(made) not in self.partly:
            return []
        filled, count = self.partly[id(made)]
        text = f"{filled:,} of its {count:,} slices were filled; the others are as they were"
        return [Finding("repair-filled", text, name, None, (name,))]

    def item(self, dtype: DType) -> bytes:
        if self.fill == "nan" and dtype.kind in "fc" and dtype.numpy:
            import numpy as np

            value = np.full(1, float("nan")).astype(dtype.array_type())
            if bool(np.isnan(value)[0]):
                return bytes(value.tobytes())
        if self.fill == "nan" and dtype not in self.zeroed:
            self.zeroed.append(dtype)
        return bytes(dtype.itemsize)


def fault_of(tensor: Tensor) -> str:
    return tensor.layout.fault or next((part.layout.fault for part in tensor.components.values() if part.layout.fault), "")


def empty(tensor: Tensor) -> Layout | None:
    """The layout of a tensor without elements, which no missing bytes can hurt; None for any other one."""
    lost = tensor.layout
    if 0 not in lost.shape or min(lost.shape) < 0 or lost.kind not in KINDS or lost.storage is None:
        return None
    made = lost.copy()
    made.fault, made.offset, made.strides = "", 0, contiguous(lost.shape)
    made.storage = Storage("filled", 0, lost.dtype, lost.device, lambda: Repeated(b"", 0).span())
    return made


def renewed(root: Any) -> Any:
    """The root with dicts that are others than those that were read: what they held first, and do not any more, is written no more."""
    return replace(root, lambda value: copy(value) if isinstance(value, dict) else value)


class Holes:
    """Lost tensors by the ids of their layouts, with what takes their places (None: nothing). ``nones``: how many places hold None now."""

    def __init__(self, lost: dict[int, Tensor | None]) -> None:
        self.lost = lost
        self.nones = 0
        self.gone = object()

    def close(self, root: Any) -> Any:
        """The root without its lost tensors, in place; None for one that is nothing else."""
        made = replace(root, self._change)
        return None if made is self.gone else made

    def _change(self, value: Any) -> Any:
        gone = self.gone
        if isinstance(value, Tensor):
            layout = value.layout
            return self.lost[id(layout)] or gone if id(layout) in self.lost else value
        if is_wreck(value):
            return gone
        if isinstance(value, dict):
            for key in [key for key, item in value.items() if item is gone or type(getattr(key, "node", key)) is Reference]:
                del value[key]
        if isinstance(value, (dict,)) or hasattr(value, "__dict__"):
            holder = vars(value) if hasattr(value, "__dict__") else {}
            for key in [key for key, item in holder.items() if item is gone]:
                del holder[key]
        elif isinstance(value, (list, deque)):
            for at, item in enumerate(value):
                if item is gone:
                    value[at] = None
                    self.nones += 1
        elif isinstance(value, tuple) and any(item is gone for item in value):
            self.nones += 1
            items = [None if item is gone else item for item in value]
            return tuple(items) if type(value) is tuple else type(value)(items)
        elif isinstance(value, set):
            value.discard(gone)
        elif isinstance(value, Object):
            for name in FIELDS:
                if getattr(value, name) is gone:
                    setattr(value, name, None)
        return value


def is_wreck(value: Any) -> bool:
    """Whether a value stands for a tensor that could not be made: its call with arguments that are wrong, a storage that is none; or is a
    storage of which a part is missing."""
    if type(value) is Storage:
        return bool(value.fault or value.lack)
    return (type(value) is Object and value.call.dotted in REBUILD) or type(value) is Reference


def wrecks(root: Any) -> list[tuple[str, Any]]:
    """The names of such values, the outermost ones."""
    found: list[tuple[str, Any]] = []
    seen: set[int] = set()
    todo: list[tuple[Any, Any]] = [(root, None)]  # a value, and where it is: (where what holds it is, the key)
    while todo:
        value, where = todo.pop()
        if is_wreck(value):
            found.append((_name(where), value))
            continue
        inside = children(value) if type(value) not in LEAVES and id(value) not in seen else None
        if inside is not None:
            seen.add(id(value))
            todo += reversed([(item, where if key is HERE else (where, key)) for key, item in inside if type(item) not in LEAVES])
    return found


def _name(where: Any) -> str:
    """The keys that lead to a place, joined; of a very deep one the last ones."""
    keys: list[str] = []
    while where is not None and len(keys) < DEEP:
        where, key = where
        keys.append(piece(key))
    return ".".join(keys[::-1] if where is None else ["…", *keys[::-1]])


def sized(layout: Layout) -> int | None:
    """Bytes of a tensor's elements, as far as its shape makes sense; None for elements of no fixed size, such as texts."""
    if not layout.dtype.bits:
        return None
    return prod(layout.shape) * layout.dtype.bits // 8 if min(layout.shape, default=0) >= 0 else 0
