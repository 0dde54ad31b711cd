"""The way back: values → the nodes that torch's pickles hold for them.

Knows: which call torch and Python's pickle write for a tensor, a dict with attributes, a set, a number of NumPy …; how storages get keys.
Refuses to know: opcodes (pickle/encode.py) and files. What is an object of an unknown class goes back to the call it was read from; what
has no spelling is refused with UnsupportedError.

Facts: torch 2.13 torch/_tensor.py (_reduce_ex_internal), torch/serialization.py (persistent_id), torch/_utils.py; CPython 3.13 pickle.py.
"""

from __future__ import annotations

import sys
from collections import OrderedDict

from ..dtypes import DType
from ..errors import UnsupportedError
from ..memory import PARAMETER
from ..pickle.nodes import Call, Dict, Global, List, Node, Reference, Set
from ..tensor import Tensor
from .objects import Device, Key, Object, Size
from .storages import CLASS_OF, DTYPE_VALUES, SPARSE_PARTS
from .storing import solid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..layout import Layout
    from .storing import Storing


class Names:
    """Globals of one pickle: one object for each name, so that it is memoised once."""

    def __init__(self, protocol: int) -> None:
        self.protocol = protocol
        self.known: dict[tuple[str, str], Global] = {}

    def __call__(self, module: str, name: str) -> Global:
        if self.protocol < 3:
            module, name = ANCIENT.get((module, name), (OLD_MODULES.get(module, module), name))
        node = self.known.get((module, name))
        if node is None:
            how = "STACK_GLOBAL" if self.protocol >= 4 else "GLOBAL"
            node = self.known[module, name] = Global(module, name, 0, how)
        return node


# Names as Python 2 knew them, which protocols 0 to 2 write (CPython: Lib/_compat_pickle.py)
OLD_MODULES = {"builtins": "__builtin__", "copyreg": "copy_reg", "collections": "collections"}
ANCIENT = {("builtins", "range"): ("__builtin__", "xrange"), ("builtins", "int"): ("__builtin__", "long")}


class Unbuilder:
    """Values → nodes, one level at a time: the encoder asks for each value that it has no opcode for. ``tensors``: for arrays, by id.
    ``nodes``: for values that came from a pickle, by id: their own nodes. ``tail``: what stands at the end of each persistent id."""

    def __init__(
        self,
        protocol: int,
        storing: Storing,
        tensors: dict[int, Tensor],
        nodes: dict[int, Any] | None = None,
        tail: tuple[Any, ...] = (),
    ) -> None:
        self.protocol = protocol
        self.tail = tail
        self.storing = storing
        self.tensors = tensors
        self.nodes = nodes or {}
        self.name = Names(protocol)
        self.made: dict[int, Any] = {}
        self.layouts: dict[int, Any] = {}  # by id of a Layout: tensors listed under two names are one object

    def __call__(self, value: Any) -> Any:
        """The node for a value."""
        node = self.nodes.get(id(value))
        if node is not None:
            return node
        kind = type(value)
        make = _TABLE.get(kind)
        if make is not None:
            return make(self, value)
        if isinstance(value, Node):
            return value
        tensor = self.tensors.get(id(value))
        if tensor is not None:
            return self.tensor(tensor)
        return self.reduced(value)

    def call(self, module: str, name: str, *arguments: Any) -> Call:
        return Call(self.name(module, name), arguments, 0, "REDUCE")

    def reduced(self, value: Any) -> Any:
        """What the value's own type says of how it is pickled; for the types of Python and NumPy only."""
        kind = type(value)
        if kind.__module__ == "torch" and kind.__name__ in _OF_TORCH:
            return _OF_TORCH[kind.__name__](self, value)
        home = kind.__module__.partition(".")[0]
        if home not in TRUSTED:
            raise UnsupportedError(f"a checkpoint of inert's holds no {type(value).__module__}.{type(value).__qualname__}", hint=_HINT)
        parts = value.__reduce_ex__(self.protocol)
        if isinstance(parts, str):
            return self.name(type(value).__module__, parts)
        function, arguments, state, items, pairs = (*parts, None, None, None, None)[:5]
        if getattr(function, "__name__", "") == "__newobj__":
            made = Call(self.named(arguments[0]), tuple(arguments[1:]), 0, "NEWOBJ")
        else:
            made = Call(self.named(function), tuple(map(self.plain, arguments)), 0, "REDUCE")
        made.states = () if state is None else (state,)
        made.items = list(items) if items is not None else None
        made.flat = [part for pair in pairs for part in pair] if pairs is not None else None
        return made

    def named(self, function: Any) -> Global:
        return self.name(function.__module__, function.__qualname__)

    def plain(self, argument: Any) -> Any:
        """Classes among the arguments as names."""
        return self.named(argument) if isinstance(argument, type) else argument

    # -- tensors ------------------------------------------------------------------------------------------------------------

    def tensor(self, tensor: Tensor) -> Any:
        layout = tensor.layout
        known = self.layouts.get(id(layout))
        if known is None:
            known = self.layouts[id(layout)] = self._tensor(layout)
        return known

    def _tensor(self, layout: Layout) -> Any:
        if layout.fault:
            raise UnsupportedError(f"a damaged tensor cannot be written: {layout.fault}", hint="leave it out, or repair the file")
        make = _KINDS.get(layout.kind)
        if make is None:
            raise UnsupportedError(f"a tensor of kind {layout.kind} has no spelling of its own", hint="write its components")
        if layout.type == PARAMETER:
            inner = layout.copy()
            inner.requires_grad, inner.type = False, ""
            return self.call("torch._utils", "_rebuild_parameter", make(self, inner), layout.requires_grad, self.hooks())
        return make(self, layout)

    def hooks(self) -> Call:
        """Backward hooks: always none."""
        return self.call("collections", "OrderedDict")

    def dtype(self, dtype: str) -> Global:
        return self.name("torch", str(dtype))  # a DType is a text of its own class

    def reference(self, layout: Layout) -> Reference:
        """The persistent id of a tensor's storage."""
        storage, dtype = layout.storage, layout.dtype
        assert storage is not None
        named = CLASS_OF.get(dtype)
        kind = self.name("torch", f"{named}Storage") if named else self.name("torch.storage", "UntypedStorage")
        key = self.storing.key(storage, dtype if named else "uint8")
        count = storage.nbytes // dtype.itemsize if named else storage.nbytes
        if layout.device == "meta":
            self.storing.pieces.pop(key, None)
        location = (
            sys.intern(layout.device) if layout.device in ("cpu", "meta") else "".join((layout.device[:1], layout.device[1:]))
        )  # as in torch's source
        return Reference(("storage", kind, key, location, count, *self.tail), 0)

    def dense(self, layout: Layout) -> Call:
        name, behind = ("_rebuild_tensor_v2", ()) if layout.dtype in CLASS_OF else ("_rebuild_tensor_v3", (self.dtype(layout.dtype),))
        if f"torch.{layout.dtype}" not in DTYPE_VALUES:
            raise UnsupportedError(f"torch has no {layout.dtype}", hint="cast it: --dtype float32")
        bits: dict[str, bool] = {}
        if layout.conj:
            bits["".join(("co", "nj"))] = True  # torch makes these texts anew each time
        if layout.neg:
            bits["".join(("ne", "g"))] = True
        return self.call(
            "torch._utils", name, self.reference(layout), layout.offset, tuple(layout.shape), tuple(layout.strides), layout.requires_grad,
            self.hooks(), *behind, *([bits] if bits else []),
        )  # fmt: skip

    def gathered(self, layout: Layout) -> Call:
        """A tensor that lies in pieces, or in another byte order, or as an array: as one of its own, contiguous."""
        return self.dense(solid(layout))

    def quantized(self, layout: Layout) -> Call:
        facts = layout.quantization
        scheme = self.name("torch", facts["scheme"].replace("_float_qparams", ""))
        if facts["scheme"].startswith("per_tensor"):
            parameters: tuple[Any, ...] = (scheme, facts["scale"], facts["zero_point"])
        else:
            parameters = (scheme, layout.components["scales"], layout.components["zero_points"], facts["axis"])
        place = (self.reference(layout), layout.offset, tuple(layout.shape), tuple(layout.strides))
        return self.call("torch._utils", "_rebuild_qtensor", *place, parameters, layout.requires_grad, self.hooks())

    def sparse(self, layout: Layout) -> Call:
        name = f"torch.{layout.kind}"
        kind = self.call("torch.serialization", "_get_layout", name)
        parts = [layout.components[role] for role in SPARSE_PARTS[name]]
        size = Size(layout.shape)
        data = (*parts, size, True) if layout.kind == "sparse_coo" else (*parts, size)
        return self.call("torch._utils", "_rebuild_sparse_tensor", kind, data)

    def meta(self, layout: Layout) -> Call:
        facts = (self.dtype(layout.dtype), tuple(layout.shape), tuple(layout.strides), layout.requires_grad)
        return self.call("torch._utils", "_rebuild_meta_tensor_no_storage", *facts)


TRUSTED = ("builtins", "collections", "datetime", "decimal", "fractions", "pathlib", "uuid", "argparse", "types", "numpy", "array")
_HINT = "give numbers, texts, lists, dicts, arrays"
_KINDS: dict[str, Callable[[Unbuilder, Layout], Any]] = {
    "dense": Unbuilder.dense, "numpy": Unbuilder.gathered, "tiled": Unbuilder.gathered, "quantized": Unbuilder.quantized,
    "sparse_coo": Unbuilder.sparse, "sparse_csr": Unbuilder.sparse, "sparse_csc": Unbuilder.sparse, "sparse_bsr": Unbuilder.sparse,
    "sparse_bsc": Unbuilder.sparse, "meta": Unbuilder.meta,
}  # fmt: skip


# -- plain values ---------------------------------------------------------------------------------------------------------------


def _dict(u: Unbuilder, value: dict[Any, Any]) -> Dict:
    return Dict([part for pair in value.items() for part in pair], 0)


def _ordered(u: Unbuilder, value: OrderedDict[Any, Any]) -> Call:
    made = u.call("collections", "OrderedDict")
    made.flat = [part for pair in value.items() for part in pair]
    if vars(value):
        made.states = (dict(vars(value)),)  # torch keeps a state dict's versions there: _metadata
    return made


def _bytes(u: Unbuilder, value: bytes) -> Any:
    if not value:
        return u.call("builtins", "bytes")
    return u.call("_codecs", "encode", value.decode("latin-1"), "latin1")


def _bytearray(u: Unbuilder, value: bytearray) -> Call:
    return u.call("builtins", "bytearray", *([bytes(value)] if value else []))


def _set(u: Unbuilder, value: Any) -> Any:
    frozen = isinstance(value, frozenset)
    if u.protocol >= 4:
        return Set(list(value), 0, frozen)
    return u.call("builtins", "frozenset" if frozen else "set", list(value))


def _size(u: Unbuilder, value: Size) -> Call:
    return u.call("torch", "Size", tuple(value))


def _device(u: Unbuilder, value: Device) -> Call:
    kind, _, index = str(value).partition(":")  # which gives back a Device itself where it finds no colon
    return u.call("torch", "device", kind, *([int(index)] if index else []))


# torch's own plain values, where the caller has them: known by the names of their types
_OF_TORCH: dict[str, Callable[[Unbuilder, Any], Any]] = {
    "Size": lambda u, value: u.call("torch", "Size", tuple(value)),
    "dtype": lambda u, value: u.dtype(str(value).removeprefix("torch.")),
    "device": lambda u, value: _device(u, Device(str(value))),
}


def _object(u: Unbuilder, value: Object) -> Call:
    return value.call


_TABLE: dict[type, Callable[[Unbuilder, Any], Any]] = {
    dict: _dict, OrderedDict: _ordered, list: lambda u, value: List(value, 0), bytes: _bytes, bytearray: _bytearray, set: _set,
    frozenset: _set, Size: _size, Device: _device, Object: _object, Tensor: Unbuilder.tensor, Key: lambda u, value: value.node,
    complex: lambda u, value: u.call("builtins", "complex", value.real, value.imag),
    DType: lambda u, value: u.dtype(value),
}  # fmt: skip
