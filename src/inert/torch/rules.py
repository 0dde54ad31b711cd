"""The arguments that the allowed classes and functions take, one rule each: what a call makes, or why Python or torch raises.

Knows: OrderedDict, Counter, set, bytearray, complex, bytes by way of ``_codecs.encode``, torch.Size, device, layout, Parameter, the tensor
classes of old, and what BUILD may do to their results.
Refuses to know: the rebuild functions of tensors (weights.py).

Facts: CPython 3.11 and torch 2.13, each rule tried out with the real program.
"""

from __future__ import annotations

import re

from ..pickle.nodes import ByteString, Call, Dict, Global, List, Reference, Set
from ..pickle.row import Row
from .allowed import DEVICES, LAYOUTS, TENSOR_CLASSES
from .arguments import integers, text
from .needs import Refused, differentiable, needed
from .rebuild import REBUILD
from .storages import TENSOR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .weights import Judge

    Rule = Callable[[Judge, list[Any]], str]


# classes whose __new__ takes anything → the kind of object it makes
CLASSES = {
    "collections.OrderedDict": "OrderedDict", "collections.Counter": "Counter", "builtins.set": "set", "builtins.bytearray": "bytearray",
    "torch.storage.UntypedStorage": "?", "torch.storage.TypedStorage": "?",
}  # fmt: skip
# names that are functions: no object of theirs can be made by NEWOBJ
FUNCTIONS = ("_codecs.encode", "torch.serialization._get_layout", "torch.nested._internal.nested_tensor._rebuild_njt")
MAPPINGS = ("dict", "OrderedDict", "Counter")
_NAMES = {List: "list", Dict: "dict", Set: "set", Global: "global", Reference: "storage", ByteString: "str", Row: "Tensor"}
_NUMBERS = ("int", "float", "bool", "complex")
# codecs of a text that _codecs.encode may be asked for; others are neither looked up nor taken to be there
_CODECS = frozenset(("latin1", "latin-1", "iso-8859-1", "utf-8", "utf8", "ascii", "utf-16", "utf-32"))
_TEXT_CODECS = frozenset(("rot13", "rot_13"))
_BYTE_CODECS = frozenset(("base64", "hex", "zlib", "bz2", "quopri", "uu"))


def kind_of(judge: Judge, node: Any) -> str:
    """The type of a value when torch has made it; "?" where only the file's own code knows."""
    known = judge.kinds.get(id(node)) if isinstance(node, (Call, Reference)) else None
    if known is None and type(node) is not Row and isinstance(node, Call):
        return CLASSES.get(node.dotted, "?")
    return known or _NAMES.get(type(node), type(node).__name__)


def _most(arguments: list[Any], most: int, name: str) -> None:
    if len(arguments) > most:
        raise Refused(f"{name} takes at most {most} arguments, not {len(arguments)}")


def _elements(judge: Judge, node: Any, name: str) -> list[Any]:
    """What iterating over a value gives."""
    kind = kind_of(judge, node)
    if type(node) is tuple or type(node) is str:
        return list(node)
    if type(node) is List or type(node) is Set:
        return list(node.items)
    if type(node) is Dict:
        return node.flat[::2]
    if kind in ("int", "float", "bool", "NoneType", "complex", "global", "device"):
        raise Refused(f"{name} wants something to iterate over, not {kind}")
    return []


def _hashable(judge: Judge, items: list[Any]) -> None:
    for item in items:
        why = judge.unhashable(item)
        if why:
            raise Refused(why)


def _pairs(judge: Judge, node: Any, name: str) -> None:
    if kind_of(judge, node) in MAPPINGS:
        return
    for item in _elements(judge, node, name):
        pair = _elements(judge, item, name)
        known = type(item) in (tuple, str, List)
        if known and len(pair) != 2:
            raise Refused(f"{name} wants pairs")
        _hashable(judge, pair[:1])


def _ordered(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 1, "OrderedDict")
    for first in arguments:
        _pairs(judge, first, "OrderedDict")
    return "OrderedDict"


def _counter(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 1, "Counter")
    for first in arguments:
        if first is not None and kind_of(judge, first) not in MAPPINGS:
            _hashable(judge, _elements(judge, first, "Counter"))
    return "Counter"


def _set(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 1, "set")
    for first in arguments:
        _hashable(judge, _elements(judge, first, "set"))
    return "set"


def _complex(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 2, "complex")
    kinds = [kind_of(judge, item) for item in arguments]
    if kinds == ["str"]:
        try:
            complex(text(arguments[0]))
        except (ValueError, TypeError):
            raise Refused("complex of a text that is no number") from None
    elif not all(kind in (*_NUMBERS, "?") for kind in kinds):
        raise Refused("complex wants numbers")
    return "complex"


def _encode(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 3, "encode")
    value, codec, errors = (
        [text(item) for item in [*arguments, *("utf-8", "strict")[len(arguments) - 1 :]]][:3] if arguments else (None,) * 3
    )
    kind = kind_of(judge, value)
    if type(codec) is not str or type(errors) is not str:
        raise Refused("encode wants the name of a codec")
    name = codec.lower().replace("_", "-")
    if type(value) is str and (name in _CODECS or codec in _TEXT_CODECS):
        try:
            if name in _CODECS and errors == "strict":
                value.encode(name)
        except UnicodeEncodeError:
            raise Refused(f"a text that {codec} cannot encode") from None
        return "bytes" if name in _CODECS else "str"
    if kind in ("bytes", "bytearray") and name in _BYTE_CODECS:
        return "bytes"
    raise Refused(f"encode of a {kind} by the codec {codec[:40]!r}")


def _bytearray(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 3, "bytearray")
    kinds = [kind_of(judge, item) for item in arguments]
    if kinds and kinds[0] == "str":
        if len(arguments) < 2:
            raise Refused("bytearray of a text without an encoding")
        _encode(judge, arguments)
    elif len(arguments) > 1:
        raise Refused("bytearray with an encoding but no text")
    elif kinds and kinds[0] in ("int", "bool"):
        if arguments[0] < 0:
            raise Refused("bytearray of a negative size")
    elif kinds and kinds[0] not in ("bytes", "bytearray", "?"):
        items = _elements(judge, arguments[0], "bytearray")
        if any(type(item) is not int or not 0 <= item < 256 for item in items):
            raise Refused("bytearray of what are no bytes")
    return "bytearray"


def _size(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 1, "torch.Size")
    for first in arguments:
        if any(type(item) not in (int, bool) and kind_of(judge, item) != "Tensor" for item in _elements(judge, first, "torch.Size")):
            raise Refused("torch.Size of what are no numbers")
    return "Size"


def _device(judge: Judge, arguments: list[Any]) -> str:
    if arguments and kind_of(judge, arguments[0]) in ("device", "?"):
        return "device"
    name = text(arguments[0]) if 1 <= len(arguments) <= 2 else None
    index = arguments[1] if len(arguments) == 2 else None
    found = re.fullmatch(r"([a-z]+)(?::(0|[1-9][0-9]{0,8}))?", name) if type(name) is str else None
    if found is None or found[1] not in DEVICES or (index is not None and (type(index) is not int or index < -1 or found[2])):
        raise Refused(f"torch.device of {name!r:.40}")
    return "device"


def _layout(judge: Judge, arguments: list[Any]) -> str:
    if len(arguments) != 1 or text(arguments[0]) not in LAYOUTS:
        raise Refused("a layout that torch does not know")
    return "layout"


def _bytes(judge: Judge, arguments: list[Any]) -> str:
    """UntypedStorage: empty, of a size, or of numbers."""
    _most(arguments, 1, "UntypedStorage")
    for first in arguments:
        if kind_of(judge, first) not in ("int", "list", "tuple", "?"):
            raise Refused(f"UntypedStorage of a {kind_of(judge, first)}")
    return "?"


def _parameter(judge: Judge, arguments: list[Any]) -> str:
    _most(arguments, 2, "Parameter")
    data = arguments[0] if arguments else None
    if data is not None:
        if kind_of(judge, data) not in ("Tensor", "Parameter", "?"):
            raise Refused("Parameter of what is no tensor")
        if isinstance(data, Call) and data.dotted in REBUILD and (len(arguments) < 2 or arguments[1] is True):
            differentiable(judge.rebuilder.layout(data).dtype)
    return "Parameter"


def _old(name: str) -> Rule:
    """torch.FloatTensor and the like: made empty, of sizes, of numbers or of a storage."""

    def rule(judge: Judge, arguments: list[Any]) -> str:
        if name.startswith("torch.cuda."):
            raise Refused(f"{name} is there only where CUDA is")
        for item in arguments:
            if kind_of(judge, item) not in ("int", "storage", "list", "tuple", "Size", "Tensor", "?"):
                raise Refused(f"{name} of a {kind_of(judge, item)}")
        return "Tensor"

    return rule


RULES: dict[str, Rule] = {
    "collections.OrderedDict": _ordered,
    "collections.Counter": _counter,
    "builtins.set": _set,
    "builtins.complex": _complex,
    "builtins.bytearray": _bytearray,
    "_codecs.encode": _encode,
    "torch.Size": _size,
    "torch.device": _device,
    "torch.serialization._get_layout": _layout,
    "torch.nn.parameter.Parameter": _parameter,
    "torch.Tensor": _old("torch.Tensor"),
    "torch.storage.UntypedStorage": _bytes,
}
RULES |= {name: _old(name) for name in TENSOR_CLASSES}


def effects(judge: Judge, kind: str, call: Call) -> None:
    """What BUILD, APPENDS and SETITEMS do to the result of ``call``, which is of ``kind``."""
    if kind == "?":
        return
    for state in call.states:
        if judge.full:
            _build_fully(judge, kind, state, call)
        else:
            _build(judge, kind, state, call)
    if call.items is not None and not (judge.full and kind == "bytearray"):
        raise Refused(f"APPEND on a {kind}: only lists can be appended to")
    settable = ("OrderedDict", "Counter", "bytearray", "Tensor", "Parameter") if judge.full else ("OrderedDict", "Counter")
    if call.flat is not None and kind not in settable:
        raise Refused(f"SETITEM on a {kind}: only dict, OrderedDict and Counter can be set")


def _build(judge: Judge, kind: str, state: Any, call: Call) -> None:
    """BUILD as the weights_only unpickler has it."""
    if kind == "Tensor":
        _set_data(judge, state, call)
    elif kind == "Parameter":
        if type(state) is not tuple or len(state) != 3:
            raise Refused("a Parameter's state must be (requires_grad, volatile, hooks)")
    elif kind == "OrderedDict":
        _pairs(judge, state, "an OrderedDict's state")
    elif kind in ("bytes", "str", "layout", "list"):
        raise Refused(f"BUILD on {kind}: only tensors, Parameter, OrderedDict and allowed classes can be built")
    elif kind != "Counter" and _filled(state):
        raise Refused(f"a {kind} has no attributes to build")


def _build_fully(judge: Judge, kind: str, state: Any, call: Call) -> None:
    """BUILD as Python's own unpickler has it: Tensor.__setstate__, else a dict for __dict__ and one for slots."""
    if kind in ("Tensor", "Parameter"):
        if type(state) is not tuple or not 3 <= len(state) <= 5 or (kind == "Parameter" and len(state) == 4):
            raise Refused("a tensor's state must be (storage, offset, size, stride) or (requires_grad, volatile, hooks)")
        if len(state) == 4:
            _set_data(judge, state, call)
        return
    if kind not in ("OrderedDict", "Counter"):
        if state is not None:
            raise Refused(f"a {kind} has no attributes to build")
        return
    first, *slots = state if type(state) is tuple and len(state) == 2 else (state,)
    if not all(isinstance(part, (Dict, Call)) for part in slots) or not (first is None or isinstance(first, (Dict, Call))):
        raise Refused("an object's state must be a dict, or a dict and one for its slots")


def _filled(state: Any) -> bool:
    return bool(state.flat if type(state) is Dict else state.items if type(state) is List else state)


def _set_data(judge: Judge, state: Any, call: Call) -> None:
    """``tensor.set_(*state)``: nothing, a storage, or a storage with offset, size and stride."""
    if type(state) is not tuple:
        raise Refused("a tensor's state must be (storage, offset, size, stride)")
    if not state:
        return
    if len(state) not in (1, 4) or type(state[0]) is not Reference:
        raise Refused("a tensor's state must be (storage, offset, size, stride)")
    storage = judge.storages.of(state[0])
    wanted = TENSOR_TYPES.get(call.dotted, storage.dtype)
    if call.dotted in REBUILD and call.dotted not in TENSOR_TYPES:
        wanted = judge.rebuilder.layout(call).dtype
    if storage.dtype is not wanted:
        raise Refused(f"a storage of {storage.dtype} for a tensor of {wanted}")
    if len(state) == 4:
        if type(state[1]) is not int:
            raise Refused("a tensor's offset is no number")
        if needed(wanted, integers(state[2]), integers(state[3]), state[1]) > storage.nbytes:
            raise Refused("a tensor that its storage has no room for")
