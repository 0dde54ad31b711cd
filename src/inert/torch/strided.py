"""Tensors that are strides over one storage, parameters, and those of no storage: meta tensors, and arrays of other devices.

Knows: the argument tuples of their rebuild functions, hooks, and the bits for values not conjugated or negated yet.
Refuses to know: which name calls which function (rebuild.py), and tensors made of several others.

Facts: torch 2.13 torch/_utils.py, torch/_tensor.py; older forms: torch 0.1 to 1.5 (same files).
"""

from __future__ import annotations

from ..layout import Layout
from ..pickle.nodes import Call, Dict, List
from .arguments import Odd, dtype_of, integers, take, text
from .storages import TENSOR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .rebuild import Rebuilder

TYPE_TAG = "torch.jit._pickle.restore_type_tag"


def with_hooks(layout: Layout, hooks: Any) -> Layout:
    """Backward hooks are an empty OrderedDict in every sound file, a plain empty dict in some; anything else is kept as nodes."""
    if not (hooks is None or _bare(hooks)):
        layout.hooks = hooks
    return layout


def _bare(hooks: Any) -> bool:
    """Whether these are no hooks at all: a dictionary without arguments, items or a state that could hold some."""
    if type(hooks) is Dict:
        return not hooks.flat
    if not isinstance(hooks, Call) or hooks.dotted != "collections.OrderedDict":
        return False
    given = hooks.arguments[0] if type(hooks.arguments) is tuple and len(hooks.arguments) == 1 else None  # Python 2: OrderedDict([])
    empty = hooks.arguments == () or (type(given) is List and not given.items)
    return empty and not (hooks.keywords or hooks.states or hooks.flat or hooks.items)


def _bits(layout: Layout, metadata: Any) -> Layout:
    """{'conj': True, 'neg': True}: the stored values are not conjugated or negated yet."""
    if isinstance(metadata, Call) and metadata.dotted == TYPE_TAG and type(metadata.arguments) is tuple and metadata.arguments:
        metadata = metadata.arguments[0]  # the C++ pickler tags every dict with its type
    if metadata is None or not isinstance(metadata, Dict):
        return layout
    for key, value in metadata.pairs():
        if key == "conj" and value is True:
            layout.conj = True
        elif key == "neg" and value is True:
            layout.neg = True
    return layout


def tensor_v1(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride = take(call.arguments, 4, 4)
    held = b.storages.of(storage)
    return b.strided(held, held.dtype, offset, size, stride)


def tensor_v2(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride, grad, hooks, metadata = take(call.arguments, 6, 7)
    held = b.storages.of(storage)
    return _bits(with_hooks(b.strided(held, held.dtype, offset, size, stride, grad), hooks), metadata)


def tensor_v3(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride, grad, hooks, dtype, metadata = take(call.arguments, 7, 8)
    return _bits(with_hooks(b.strided(b.storages.of(storage), dtype_of(dtype), offset, size, stride, grad), hooks), metadata)


def parameter(b: Rebuilder, call: Call) -> Layout:
    data, grad, hooks, _state = take(call.arguments, 1, 4)
    layout = b.tensor(data).layout.copy()
    layout.requires_grad = grad is None or grad is True
    layout.type = "torch.nn.parameter.Parameter"
    if len(call.arguments) == 4:
        layout.attributes = _state
    for state in call.states:  # (requires_grad, volatile, hooks) of torch 0.x
        if type(state) is tuple and state and type(state[0]) is bool:
            layout.requires_grad = state[0]
    return with_hooks(layout, hooks)


def parameter_object(b: Rebuilder, call: Call) -> Layout:
    """Parameter as NEWOBJ: its tensor is in the arguments or in the first state."""
    if type(call.arguments) is tuple and call.arguments:
        return parameter(b, call)
    for state in call.states:
        if type(state) is tuple and state:
            inner = Call(call.function, state[:2], call.offset, call.how)
            return parameter(b, inner)
    raise Odd("a Parameter without data")


def old_tensor(b: Rebuilder, call: Call) -> Layout:
    """torch.FloatTensor() with a state of (storage, offset, size, stride): torch 0.1."""
    state = call.states[-1] if call.states else call.arguments
    storage, offset, size, stride = take(state, 4, 4)
    return b.strided(b.storages.of(storage), TENSOR_TYPES[call.dotted], offset, size, stride)


def meta(b: Rebuilder, call: Call) -> Layout:
    dtype, size, stride, grad = take(call.arguments, 4, 4)
    layout = Layout(dtype_of(dtype), integers(size), integers(stride), 0, None, grad is True, "meta")
    layout.kind = "meta"
    return layout


def from_cpu(b: Rebuilder, call: Call) -> Layout:
    data, dtype, device, grad = take(call.arguments, 4, 4)
    layout = b.tensor(data).layout.copy()
    if layout.dtype != dtype_of(dtype):
        raise Odd("the dtype differs from the data's")
    layout.device, layout.requires_grad = str(text(device)), grad is True
    return layout


def from_numpy(b: Rebuilder, call: Call) -> Layout:
    from .ndarray import array_layout

    data, dtype, device, grad = take(call.arguments, 4, 4)
    layout = array_layout(data, b.limits)
    wanted = dtype_of(dtype)
    if wanted not in (layout.dtype, "bfloat16"):  # bfloat16 travels as float32
        raise Odd(f"an array of {layout.dtype} for a tensor of {wanted}")
    layout.kind, layout.device, layout.requires_grad = "dense", str(text(device)), grad is True
    return layout
