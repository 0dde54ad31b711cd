"""The rebuild table: a call that torch's pickles make for a tensor → the tensor's Layout, without making the call.

Knows: the names of torch's rebuild functions, and how wrapper subclasses hold other tensors.
Refuses to know: where storages lie (persistent.py), and the arguments of the functions for tensors without a class of their own
(strided.py, compound.py). Arguments are read as data: wrong ones raise ``Odd`` and the call stays an inert node; right ones that do not
fit their storage give a Layout with a ``fault``.

Facts: torch 2.13 torch/_utils.py, torch/_tensor.py, torch/storage.py; older forms: torch 0.1 to 1.5 (same files).
"""

from __future__ import annotations

from ..dtypes import DType
from ..layout import Layout, Storage, bounds, is_contiguous
from ..pickle.nodes import Call, Dict, Global, List, Reference, shown
from ..tensor import Tensor
from ..tiled import Box, tiled
from .arguments import Odd, dtype_of, integers, take, text
from .compound import broken, jagged, jagged_object, nested, quantized, sparse
from .distributed import attributes, fields
from .inline import list_tensor
from .storages import TENSOR_TYPES
from .strided import from_cpu, from_numpy, meta, old_tensor, parameter, parameter_object, tensor_v1, tensor_v2, tensor_v3

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from .persistent import Storages

ENTRIES = 1 << 16  # of the states of all wrapper subclasses of a pickle, beside one for each of its bytes: one state may serve many of them
PART = 16  # such entries that a component costs; its record in the pickle is longer


class Deep(Odd):
    """Too deep for inert; torch may well read it."""


class Rebuilder:
    """Calls → Layouts, of a pickle of ``size`` bytes."""

    def __init__(self, storages: Storages, limits: Limits, size: int = 0) -> None:
        self.storages = storages
        self.limits = limits
        self._depth = 0
        self._lists: dict[tuple[int, str], Tensor] = {}  # made of lists of numbers, by their ids: the document keeps them alive
        self._entries = ENTRIES + size

    def spend(self, entries: int) -> None:
        self._entries -= entries
        if self._entries < 0:
            raise Odd("the states of wrapper subclasses are shared by so many that reading them would take far longer than the file is")

    def layout(self, call: Call) -> Layout:
        """The Layout that ``call`` asks to build. Odd where its arguments are wrong; KeyError where it is no tensor call."""
        if self._depth > 16:
            raise Deep("tensors wrapped in tensors, more than 16 deep")
        self._depth += 1
        try:
            return REBUILD[call.dotted](self, call)
        finally:
            self._depth -= 1

    def tensor(self, node: Any) -> Tensor:
        """A component: a tensor call inside another's arguments, or what stands for a tensor in the tar layout."""
        if type(node) is Reference and type(layout := self.storages.value(node)) is Layout:
            return Tensor(layout, limits=self.limits)
        if not isinstance(node, Call) or node.dotted not in REBUILD:
            raise Odd(f"{shown(node)} is no tensor")
        return Tensor(self.layout(node), limits=self.limits)

    def numbers(self, scheme: str, scales: Any, zeros: Any) -> list[Tensor]:
        """Scales and zero points: two tensors, or two lists of numbers, of which each is looked through once."""
        if type(scales) is not List or type(zeros) is not List:
            return [self.tensor(scales), self.tensor(zeros)]
        found = []
        for node, dtype in zip((scales, zeros), ("float32",) * 2 if "float_qparams" in scheme else ("float64", "int64"), strict=True):
            if (id(node), dtype) not in self._lists:
                self._lists[id(node), dtype] = list_tensor(node, dtype, self.limits)
            found.append(self._lists[id(node), dtype])
        return found

    def strided(self, storage: Storage, dtype: DType, offset: Any, size: Any, stride: Any, grad: Any = False) -> Layout:
        shape, strides = integers(size), integers(stride)
        if type(offset) is not int or offset.bit_length() > 63 or type(grad) not in (bool, int):
            raise Odd("the offset is no 64-bit number or requires_grad no boolean")
        layout = Layout(dtype, shape, strides, offset, storage, bool(grad), storage.device)
        if storage.device == "meta":
            layout.kind = "meta"
        fault = storage.fault or bounds(dtype, shape, strides, offset, storage, self.limits.rank)
        if fault:
            layout.fault = fault
        return layout


def wrapper(b: Rebuilder, call: Call) -> Layout:
    kind, dtype, size, stride, offset, _, device, grad = take(call.arguments, 8, 8)
    layout = Layout(dtype_of(dtype), integers(size), integers(stride), offset if type(offset) is int else 0, None, grad is True)
    layout.kind = "wrapper"
    layout.type = kind.dotted if type(kind) is Global else ""
    where = take(device.arguments, 1, 2)[0] if isinstance(device, Call) and device.dotted == "torch.device" else ""
    layout.device = str(text(where))
    return layout


def from_type(b: Rebuilder, call: Call) -> Layout:
    function, kind, arguments, state = take(call.arguments, 4, 4)
    inner = Call(function, arguments, call.offset, call.how)
    if inner.dotted not in REBUILD:
        raise Odd(f"{shown(function)} rebuilds no tensor")
    layout = b.layout(inner).copy()
    if type(kind) is Global and kind.dotted != "torch.Tensor":
        layout.type = kind.dotted
    layout.attributes = state
    if layout.kind == "wrapper":
        _wrap(b, layout, state, call.offset)
    return layout


def sharded_object(b: Rebuilder, call: Call) -> Layout:
    """A ShardedTensor before torch 1.13, where it was no tensor: an object whose state is that of the later ones."""
    state: Any = call.states[-1] if call.states else None
    if type(state) is not tuple or len(state) != 5:
        raise Odd("a ShardedTensor without a state of five parts")
    said = fields(state[1], "ShardedTensorMetadata")
    properties = said.get("tensor_properties")
    facts = properties.states[-1] if isinstance(properties, Call) and properties.states else None
    if type(facts) is tuple and len(facts) > 2:
        dtype, grad = facts[0], facts[2]
    else:
        dtype, grad = map(attributes(facts).get, ("dtype", "requires_grad"))
    layout = Layout(dtype_of(dtype), integers(said.get("size")), (), 0, None, grad is True)
    layout.kind, layout.type, layout.attributes = "wrapper", call.dotted, state
    _wrap(b, layout, state, call.offset)
    return layout


def _wrap(b: Rebuilder, layout: Layout, state: Any, offset: int) -> None:
    """Give a wrapper subclass its components, and what one rank's file says of the whole."""
    from . import placements  # most files hold no such tensor

    b.spend(1 + PART * placements.cost(state))
    known = placements.placed(layout.type, state, layout.shape)
    nodes = _inner_tensors(b, state) if known is None else known.parts
    layout.components = {role: b.tensor(node) for role, node in nodes.items() if isinstance(node, Call) and node.dotted in REBUILD}
    layout.fault = broken(layout.components)
    if known is None:
        return
    parts = layout.components
    boxes = {role: box for role, box in known.boxes.items() if role in parts and parts[role].shape == box[1]}
    odd = [role for role in known.boxes if role not in boxes]
    layout.placement = known.text + (f" (but {odd[0]} is not of that shape)" if odd else "")
    layout.boxes = boxes
    layout.partial = known.partial
    layout.holds = placements.holds(boxes, layout.shape)
    if not odd and not layout.fault and not known.partial:
        _whole(b, layout, offset)


def _whole(b: Rebuilder, layout: Layout, offset: int) -> None:
    """Where local tensors are all of it, the whole can be read from them: one is a view of its storage, several are tiles."""
    parts = [(layout.components[role], box) for role, box in layout.boxes.items()]
    plain = all(part.kind == "dense" and part.dtype == layout.dtype for part, _ in parts)
    if not plain or not parts or len(layout.boxes) != len(layout.components):
        return
    full = next((part.layout for part, box in parts if box == ((0,) * len(layout.shape), layout.shape)), None)
    if full is not None:
        layout.storage, layout.strides, layout.offset = full.storage, full.strides, full.offset
        layout.conj, layout.neg = full.conj, full.neg
    elif all(is_contiguous(part.shape, part.strides) and not (part.layout.conj or part.layout.neg) for part, _ in parts):
        tiles = [Box(start, size, part) for part, (start, size) in parts]
        made = tiled(layout.dtype, layout.shape, tiles, f"shards@{offset}", b.limits)
        if not made.fault:
            layout.kind, layout.storage, layout.strides = made.kind, made.storage, made.strides


def _inner_tensors(b: Rebuilder, state: Any) -> dict[str, Any]:
    """The nodes of tensors that a wrapper subclass keeps in its state, by attribute: torchao's data and scales."""
    found: dict[str, Any] = {}
    for part in state if type(state) is tuple else (state,):
        if type(part) is Dict:
            b.spend(len(part.flat) // 2)
            found |= {key: value for key, value in part.pairs() if type(key) is str and isinstance(value, Call) and value.dotted in REBUILD}
    b.spend(PART * len(found))
    return found


REBUILD: dict[str, Callable[[Rebuilder, Call], Layout]] = {
    "torch._utils._rebuild_tensor": tensor_v1,
    "torch._utils._rebuild_tensor_v2": tensor_v2,
    "torch._utils._rebuild_tensor_v3": tensor_v3,
    "torch._utils._rebuild_parameter": parameter,
    "torch._utils._rebuild_parameter_with_state": parameter,
    "torch.nn.parameter.Parameter": parameter_object,
    "torch.nn.Parameter": parameter_object,
    "torch.nn.parameter.Buffer": parameter_object,
    "torch._utils._rebuild_sparse_tensor": sparse,
    "torch._utils._rebuild_sparse_csr_tensor": sparse,
    "torch._utils._rebuild_qtensor": quantized,
    "torch._utils._rebuild_nested_tensor": nested,
    "torch.nested._internal.nested_tensor._rebuild_njt": jagged,
    "torch.nested._internal.nested_tensor.NestedTensor": jagged_object,
    "torch._utils._rebuild_meta_tensor_no_storage": meta,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": from_cpu,
    "torch._utils._rebuild_device_tensor_from_numpy": from_numpy,
    "torch._utils._rebuild_xla_tensor": from_numpy,
    "torch._utils._rebuild_wrapper_subclass": wrapper,
    "torch._tensor._rebuild_from_type_v2": from_type,
    "torch._tensor._rebuild_from_type": from_type,
    "torch.tensor._rebuild_from_type": from_type,
    "torch._utils._rebuild_from_type_v2": from_type,
    "torch.distributed._shard.sharded_tensor.api.ShardedTensor": sharded_object,
    "torch.distributed._sharded_tensor.api.ShardedTensor": sharded_object,
}
REBUILD.update(dict.fromkeys(TENSOR_TYPES, old_tensor))
