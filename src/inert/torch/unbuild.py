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
from .objects import RECONSTRUCTORS, Device, Key, Object, Size
from .persistent import class_of
from .respelling import AS_IT_IS
from .storages import CLASS_OF, DTYPE_VALUES, SPARSE_PARTS
from .storing import solid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..layout import Layout
    from .respelling import Spelling
    from .storing import Storing


class Names:
    """Globals of one pickle: one object for each name, so that it is memoised once."""

    def __init__(self, protocol: int, spelling: Spelling = AS_IT_IS) -> None:
        self.protocol = protocol
        self.spelling = spelling
        self.known: dict[tuple[str, str], Global] = {}

    def __call__(self, module: str, name: str) -> Global:
        module = self.spelling.module(module)
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
    ``nodes``: for values that came from a pickle, by id: their own nodes."""

    def __init__(
        self,
        protocol: int,
        storing: Storing,
        tensors: dict[int, Tensor],
        nodes: dict[int, Any] | None = None,
        spelling: Spelling = AS_IT_IS,
    ) -> None:
        self.protocol = protocol
        self.spelling = spelling
        self.storing = storing
        self.tensors = tensors
        self.nodes = nodes or {}
        self.name = Names(protocol, spelling)
        self.home = "".join(
            ("tor", "ch")
        )  # a dtype says no module; the pickler finds it among all modules, under another text than classes say
        self.made: dict[int, Any] = {}
        self.references: dict[int, Reference] = {}  # made here: their keys are those that are written
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
        if isinstance(value, Tensor):
            return self.tensor(value)
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
        said = f"{kind.__module__}.{kind.__qualname__}"
        if said.partition(".")[0] not in TRUSTED:
            raise UnsupportedError(f"a checkpoint of inert's holds no {said}", hint=_HINT)
        if issubclass(kind, type):
            raise UnsupportedError("a checkpoint of inert's holds no classes", hint=_HINT)
        try:
            parts = value.__reduce_ex__(self.protocol)
        except TypeError as error:  # functions, modules, generators …, which have no pickled form
            raise UnsupportedError(f"a checkpoint holds no {said}: {error}", hint=_HINT) from None
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

    def function(self, node: Any) -> Any:
        """What an object of an unknown class is made by; of a class with its source text, which only the legacy format has, the name."""
        return class_of(node) or node if type(node) is Reference and not self.storing.tail else node

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
            inner.requires_grad, inner.type, inner.hooks = False, "", None
            name = "_rebuild_parameter" if layout.attributes is None else "_rebuild_parameter_with_state"
            state = () if layout.attributes is None else (self.state(layout),)
            return self.call("torch._utils", name, make(self, inner), layout.requires_grad, self.hooks(layout), *state)
        if (layout.type and layout.kind != "numpy") or layout.attributes is not None:
            made = make(self, layout)
            module, _, name = (layout.type or "torch.Tensor").rpartition(".")
            module, name = (sys.intern(module), sys.intern(name)) if module == "torch" else (module, name)  # as in torch's source
            state = (self.state(layout),) if layout.attributes is not None else (None,)
            return self.call("torch._tensor", "_rebuild_from_type_v2", made.function, self.name(module, name), made.arguments, *state)
        return make(self, layout)

    def state(self, layout: Layout) -> Any:
        """The attributes of a tensor: a dict, or a pair of dicts or None."""
        said = layout.attributes
        pair = type(said) is tuple and len(said) == 2 and all(part is None or isinstance(part, dict) for part in said)
        if not pair and not isinstance(said, dict):
            raise UnsupportedError("a tensor with a state that torch writes no more", hint="leave it as it is, or out")
        return said

    def hooks(self, layout: Layout) -> Any:
        """Backward hooks: none, in any sound file."""
        return self.call("collections", "OrderedDict") if layout.hooks is None else layout.hooks

    def dtype(self, dtype: str) -> Global:
        return self.name(self.home, str(dtype))  # a DType is a text of its own class

    def reference(self, layout: Layout) -> Reference:
        """The persistent id of a tensor's storage."""
        storage, dtype = layout.storage, layout.dtype
        assert storage is not None
        named = CLASS_OF.get(dtype)
        kind = self.name("torch", f"{named}Storage") if named else self.name("torch.storage", "UntypedStorage")
        count = storage.nbytes // dtype.itemsize if named else storage.nbytes
        key = self.storing.key(storage, dtype if named else "uint8", count, dtype.unit)
        self.storing.untyped += not named
        if layout.device == "meta":
            if self.storing.tail:
                text = "a storage on the meta device, which this format cannot hold"
                raise UnsupportedError(text, hint="write torch-zip, or leave it out")
            self.storing.pieces.pop(key, None)
        device = self.spelling.location(layout.device)
        location = sys.intern(device) if device in ("cpu", "meta") else "".join((device[:1], device[1:]))  # as in torch's source
        made = Reference(("storage", kind, key, location, count, *self.storing.tail), 0)
        self.references[id(made)] = made
        return made

    def dense(self, layout: Layout) -> Call:
        name, behind = ("_rebuild_tensor_v2", ()) if layout.dtype in CLASS_OF else ("_rebuild_tensor_v3", (self.dtype(layout.dtype),))
        if f"torch.{layout.dtype}" not in DTYPE_VALUES or layout.dtype.padded:
            raise UnsupportedError(f"torch has no {layout.dtype}", hint="cast it: --dtype float32")
        bits: dict[str, bool] = {}
        if layout.conj:
            bits["".join(("co", "nj"))] = True  # torch makes these texts anew each time
        if layout.neg:
            bits["".join(("ne", "g"))] = True
        return self.call(
            "torch._utils", name, self.reference(layout), layout.offset, tuple(layout.shape), tuple(layout.strides), layout.requires_grad,
            self.hooks(layout), *behind, *([bits] if bits else []),
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
        return self.call("torch._utils", "_rebuild_qtensor", *place, parameters, layout.requires_grad, self.hooks(layout))

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
    kind, _, index = str(value).partition(":")  # of a text without the sign, partition gives that very object
    return u.call("torch", "device", kind, *([int(index)] if index else []))


# torch's own plain values, where the caller has them: known by the names of their types
_OF_TORCH: dict[str, Callable[[Unbuilder, Any], Any]] = {
    "Size": lambda u, value: u.call("torch", "Size", tuple(value)),
    "dtype": lambda u, value: u.dtype(str(value).removeprefix("torch.")),
    "device": lambda u, value: _device(u, Device(str(value))),
}


def _object(u: Unbuilder, value: Object) -> Call:
    """The call it was read from, with values in the place of nodes: the storages in it get keys of the file that is written."""
    call, inner = value.call, value.arguments
    if call.dotted in RECONSTRUCTORS and type(inner) is tuple and type(call.arguments) is tuple and len(inner) < len(call.arguments):
        inner = (call.arguments[0], *inner)
    made = Call(u.function(call.function), inner, 0, call.how)
    made.keywords = value.keywords
    made.states = (value.state,) if len(call.states) == 1 else tuple(value.state or ())
    made.items = list(value.items) or None
    made.flat = [part for pair in value.pairs for part in pair] or None
    return made


_TABLE: dict[type, Callable[[Unbuilder, Any], Any]] = {
    dict: _dict, OrderedDict: _ordered, list: lambda u, value: List(value, 0), bytes: _bytes, bytearray: _bytearray, set: _set,
    frozenset: _set, Size: _size, Device: _device, Object: _object, Tensor: Unbuilder.tensor, Key: lambda u, value: value.node,
    complex: lambda u, value: u.call("builtins", "complex", value.real, value.imag),
    DType: lambda u, value: u.dtype(value),
}  # fmt: skip
