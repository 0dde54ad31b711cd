"""Sparse, quantised and nested tensors: those that other tensors are the components of.

Knows: the argument tuples of their rebuild functions, and what must hold of the components together.
Refuses to know: which name calls which function (rebuild.py), and wrapper subclasses.

Facts: torch 2.13 torch/_utils.py, torch/nested/_internal/nested_tensor.py.
"""

from __future__ import annotations

from itertools import pairwise

from ..errors import InertError
from ..layout import Layout
from ..pickle.nodes import Call, Dict, Global, shown
from ..tensor import Tensor
from .arguments import Odd, integers, take, text
from .storages import SPARSE_NUMBERS, SPARSE_PARTS
from .strided import with_hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .rebuild import Rebuilder

PARTS = 1 << 20  # numbers that describe one nested tensor


def sparse(b: Rebuilder, call: Call) -> Layout:
    if type(call.arguments) is tuple and len(call.arguments) in (6, 7):
        return _sparse_flat(b, call.arguments)
    kind, data = take(call.arguments, 2, 2)
    name = kind.dotted if type(kind) is Global else None
    if isinstance(kind, Call) and kind.dotted == "torch.serialization._get_layout":
        name = text(take(kind.arguments, 1, 1)[0])
    roles = SPARSE_PARTS.get(str(name))
    if roles is None or type(data) is not tuple:
        raise Odd(f"{name or shown(kind)} is no sparse layout")
    values = take(data, len(roles) + 1, len(roles) + 2)
    return _sparse(b, str(name), values[len(roles)], values[: len(roles)])


def _sparse_flat(b: Rebuilder, arguments: tuple[Any, ...]) -> Layout:
    """As the C++ pickler has it: (number of the layout, size, requires_grad, components …, hooks)."""
    number, size, grad, *nodes, hooks = arguments
    name = SPARSE_NUMBERS.get(number) if type(number) is int else None
    if name is None or len(nodes) != len(SPARSE_PARTS[name]):
        raise Odd(f"{shown(number)} is no sparse layout of {len(nodes)} components")
    layout = _sparse(b, name, size, nodes)
    layout.requires_grad = grad is True
    return with_hooks(layout, hooks)


def _sparse(b: Rebuilder, name: str, size: Any, nodes: list[Any]) -> Layout:
    parts = {role: b.tensor(node) for role, node in zip(SPARSE_PARTS[name], nodes, strict=True)}
    layout = Layout(parts["values"].dtype, integers(size), (), 0, None)
    layout.kind = name.removeprefix("torch.")
    layout.components = parts
    layout.device = parts["values"].device
    layout.fault = broken(parts)
    if not layout.fault and (min(layout.shape, default=0) < 0 or len(layout.shape) > b.limits.rank):
        layout.fault = "a negative size or too many dimensions"
    return layout


def broken(parts: dict[str, Tensor]) -> str:
    """Why a tensor made of others is refused: the first of them that is; "" where all can be read."""
    return next((f"{role}: {part.fault}" for role, part in parts.items() if part.fault), "")


def quantized(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride, parameters, grad, hooks = take(call.arguments, 7, 7)
    held = b.storages.of(storage)
    layout = with_hooks(b.strided(held, held.dtype, offset, size, stride, grad), hooks)
    layout.kind = layout.kind if layout.kind == "meta" else "quantized"
    if type(parameters) is not tuple or len(parameters) < 3 or type(parameters[0]) is not Global:
        raise Odd("quantisation parameters")
    scheme = parameters[0].dotted.removeprefix("torch.")
    if scheme.startswith("per_tensor"):
        if type(parameters[1]) not in (int, float) or type(parameters[2]) is not int:
            raise Odd("a scale or zero point that is no number")
        layout.quantization = {"scheme": scheme, "scale": parameters[1], "zero_point": parameters[2]}
        return layout
    axis = take(parameters, 4, 4)[3]
    scales, zeros = b.numbers(scheme, parameters[1], parameters[2])
    if scales.dtype == "float32":  # torch tags both kinds alike; float parameters are what tells them apart
        scheme = "per_channel_affine_float_qparams"
    layout.quantization = {"scheme": scheme, "axis": axis}
    layout.components = {"scales": scales, "zero_points": zeros}
    layout.fault = layout.fault or broken(layout.components)
    if type(axis) is not int or not 0 <= axis < len(layout.shape) or scales.shape != (layout.shape[axis],) or zeros.shape != scales.shape:
        layout.fault = layout.fault or "its scales and zero points do not fit its shape"
    return layout


def nested(b: Rebuilder, call: Call) -> Layout:
    buffer, *facts = (b.tensor(node) for node in take(call.arguments, 4, 4))
    sizes, strides, offsets = map(_numbers, facts)
    return _jagged(b, buffer, list(zip(map(tuple, sizes), map(tuple, strides), offsets, strict=True)))


def _numbers(tensor: Tensor) -> list[Any]:
    """The integers that say how a nested tensor is laid out; they are data, and read while opening."""
    if tensor.size > PARTS:
        raise Odd(f"a nested tensor described by {tensor.size:,} numbers")
    try:
        array = tensor.numpy()
    except InertError as error:
        raise Odd(f"sizes, strides and offsets of a nested tensor: {error.message}") from None
    if array.dtype.kind not in "iu":
        raise Odd("sizes, strides or offsets of a nested tensor that are no integers")
    numbers: list[Any] = array.tolist()
    return numbers


def _jagged(b: Rebuilder, buffer: Tensor, rows: list[tuple[tuple[int, ...], tuple[int, ...], int]]) -> Layout:
    whole = buffer.layout
    if whole.storage is None:
        raise Odd(f"a nested tensor over a {whole.kind} one")
    common = [row[0] for row in rows]
    shape = tuple(sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*common, strict=True))  # -1: differs from part to part
    layout = Layout(whole.dtype, (len(rows), *shape), (), 0, None, whole.requires_grad, whole.device)
    layout.kind, layout.components = "nested", {}
    for i, (size, stride, start) in enumerate(rows):
        part = b.strided(whole.storage, whole.dtype, whole.offset + start, size, stride)
        layout.components[str(i)] = Tensor(part, limits=b.limits)
    layout.fault = whole.fault or broken(layout.components)
    return layout


def jagged(b: Rebuilder, call: Call) -> Layout:
    """NestedTensor of the jagged layout: values, offsets, ragged dimension 1 (others stay inert)."""
    state = take(call.arguments, 1, 1)[0]
    if type(state) is not Dict:
        raise Odd("a jagged tensor's state is no dict")
    facts = {key: value for key, value in state.pairs() if type(key) is str}
    layout = _from_offsets(b, b.tensor(facts.get("values")), b.tensor(facts.get("offsets")))
    if facts.get("lengths") is not None or facts.get("_ragged_idx", 1) != 1:
        raise Odd("a jagged tensor with lengths or another ragged dimension")
    layout.requires_grad = facts.get("requires_grad") is True
    return layout


def jagged_object(b: Rebuilder, call: Call) -> Layout:
    """The same as torch 2.3 and earlier pickled it: NestedTensor(values, offsets)."""
    values, offsets = take(call.arguments, 2, 2)
    return _from_offsets(b, b.tensor(values), b.tensor(offsets))


def _from_offsets(b: Rebuilder, values: Tensor, offsets: Tensor) -> Layout:
    at = _numbers(offsets)
    step = values.strides[0] if values.shape else 1
    rows = [((end - start, *values.shape[1:]), values.strides, start * step) for start, end in pairwise(at)]
    return _jagged(b, values, rows)
