"""What the rows of a pickle mean: tensors of torch, of one element type on one device for each template.

Knows: which rows are plain tensors, the Layout of one, and what each storage key is first said to be.
Refuses to know: values; the builder (build.py) puts tensors in place.
"""

from __future__ import annotations

from itertools import chain

from ..layout import Layout, bounds, reach
from ..pickle.nodes import Global, Reference
from ..pickle.row import Row, Template
from .arguments import text
from .persistent import Storages
from .storages import STORAGE_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType

V2 = "torch._utils._rebuild_tensor_v2"


class Meaning:
    """What the rows of one template mean: tensors of one element type on one device."""

    __slots__ = ("dtype", "location", "rank", "storages")

    def __init__(self, storages: Storages, dtype: DType, location: str, rank: int) -> None:
        self.storages = storages
        self.dtype = dtype
        self.location = location
        self.rank = rank

    def layout(self, row: Row) -> Layout:
        count, offset, shape, strides, grad = row.geometry()
        storage = self.storages.get(row.key, self.dtype, self.location, count)
        layout = Layout(storage.dtype, shape, strides, offset, storage, grad, storage.device)
        last, _, wrong = reach(shape, strides)
        if wrong or offset < 0 or storage.fault or (last + offset) * storage.dtype.itemsize >= storage.nbytes:
            fault = storage.fault or bounds(storage.dtype, shape, strides, offset, storage, self.rank)
            if fault:
                layout.fault = fault
        return layout


def meant(template: Template, storages: Storages, rank: int) -> Meaning | bool:
    """What makes a Layout of this template's rows; False where the names are not those of a plain tensor."""
    storage, location = template.storage, template.location
    dtype = STORAGE_TYPES.get(storage.dotted) if type(storage) is Global else None
    plain = template.function.dotted == V2 and text(template.tag) == "storage" and template.hooks.dotted == "collections.OrderedDict"
    if dtype is None or not plain or type(location) is not str or location == "meta":
        return False
    return Meaning(storages, dtype, location, rank)


def declare(nodes: list[Any], storages: Storages, rank: int) -> None:
    """What each storage key is first said to be, in the pickle's order, which is how torch meets them."""
    keys = [*chain.from_iterable([node.run.keys for node in nodes if type(node) is Row and not node.at])]
    keys += [storages.key(node) for node in nodes if type(node) is Reference]
    if len(set(keys)) == len(keys):
        return  # each is named once, and there is only one word on it
    first, differing = storages.declared.setdefault, storages.differing
    for node in nodes:
        if type(node) is Row:
            run, at = node.run, node.at
            meaning = run.templates[at].meaning
            if meaning is None:
                meaning = run.templates[at].meaning = meant(run.templates[at], storages, rank)
            if meaning:
                word = (meaning.dtype, run.counts[at], meaning.location)
                if first(run.keys[at], word) != word:
                    differing.add(run.keys[at])
                continue
            node = node.events()[0]
        if type(node) is Reference:
            storages.declare(node)
