"""What torch 2.13 demands of a tensor before it makes one: size, stride and offset, element type, components.

Knows: the checks of set_(), of quantised and sparse constructors and of requires_grad, as conditions on numbers.
Refuses to know: pickles, storages' records, and what the data is.

Facts: torch 2.13 torch/_utils.py and aten/src/ATen/native/Resize.h, each condition tried out with the real program.
"""

from __future__ import annotations

from functools import lru_cache

from ..pickle.nodes import Call, Dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType
    from ..layout import Layout

SCHEMES = ("per_tensor_affine", "per_channel_affine", "per_channel_affine_float_qparams")


class Refused(Exception):
    """Torch would raise; the text says over what."""


def differentiable(dtype: DType) -> None:
    if dtype.kind not in "fc":
        raise Refused(f"requires_grad on a tensor of {dtype}: only floating point and complex ones can")


@lru_cache(1 << 12)
def needed(dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, meta: bool = False) -> int:
    """Bytes that torch wants of a storage for a view of it. Refused where set_() raises whatever the storage."""
    if len(shape) != len(strides):
        raise Refused(f"{len(shape)} sizes but {len(strides)} strides")
    if not 0 <= offset < 1 << 63:
        raise Refused(f"the storage offset {offset}")
    if any(not -(1 << 63) <= n < 1 << 63 for n in (*shape, *strides)):
        raise Refused("a size or stride beyond 64 bits")
    if meta and min(shape, default=0) < 0:
        raise Refused("a negative size")
    if 0 in shape:
        return 0
    countable(shape)
    if meta:
        return 0
    if any(size > 1 and stride < 0 for size, stride in zip(shape, strides, strict=True)):
        raise Refused("a negative stride")
    last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if size > 1)
    packed = 1 if dtype.counts_items else dtype.packed
    return (last // packed + 1) * dtype.itemsize


def countable(shape: tuple[int, ...]) -> None:
    """Refused where torch cannot count the elements."""
    count = 1
    for size in shape:
        count *= size
        if size < 0 or count >= 1 << 63:
            raise Refused("the number of elements is negative or exceeds 64 bits")


def quantized(layout: Layout) -> None:
    said = layout.quantization
    if layout.dtype.kind != "q":
        raise Refused(f"a quantised tensor of {layout.dtype}")
    if said["scheme"] not in SCHEMES:
        raise Refused(f"the quantisation scheme {said['scheme']}")
    if "axis" in said:
        axis, sizes = said["axis"], [part.size for part in layout.components.values()]
        if type(axis) is not int or not 0 <= axis < len(layout.shape) or sizes != [layout.shape[axis]] * 2:
            raise Refused("scales and zero points that do not fit the shape")
    elif type(said["zero_point"]) is not int or type(said["scale"]) not in (int, float):
        raise Refused("a scale or zero point that is no number")


def sparse(layout: Layout) -> None:
    """The checks that torch makes even without check_invariants: COO only."""
    if layout.kind != "sparse_coo":
        return
    indices, values = layout.components["indices"], layout.components["values"]
    if len(indices.shape) != 2 or not values.shape or indices.shape[1] != values.shape[0]:
        raise Refused("indices and values of a sparse tensor that do not go together")
    if len(layout.shape) != indices.shape[0] + len(values.shape) - 1:
        raise Refused("a sparse tensor's size that does not go with its indices and values")
    countable(layout.shape)


def nested(layouts: list[Layout]) -> None:
    """Buffer, sizes, strides and offsets of a nested tensor; what the last three say is data."""
    for layout, rank, what in zip(layouts, (1, 2, 2, 1), ("buffer", "sizes", "strides", "offsets"), strict=True):
        if layout.kind != "dense":
            raise Refused(f"the {what} of a nested tensor that are {layout.kind}")
        if len(layout.shape) != rank:
            raise Refused(f"the {what} of a nested tensor in {len(layout.shape)} dimensions instead of {rank}")
        if what != "buffer" and layout.dtype != "int64":
            raise Refused(f"the {what} of a nested tensor as {layout.dtype}")


def jagged(state: Any) -> None:
    """Torch 2.13 wants an attribute of the cached lengths that torch 2.15 no longer writes."""
    facts = {key: value for key, value in state.pairs() if type(key) is str} if type(state) is Dict else {}
    if not {"values", "offsets"} <= facts.keys():
        raise Refused("a jagged tensor without values or offsets")
    cache = facts.get("_metadata_cache")
    for call in cache.flat[1::2] if type(cache) is Dict else ():
        state = call.arguments[3] if isinstance(call, Call) and type(call.arguments) is tuple and len(call.arguments) == 4 else None
        names = {key for key in state.flat[::2] if type(key) is str} if type(state) is Dict else set()
        if "_dynamo_dynamic_indices" in names and "_dynamo_dynamic_range" not in names:
            raise Refused("a jagged tensor as torch 2.15 writes it")
