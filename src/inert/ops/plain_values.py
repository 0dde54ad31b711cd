"""One value by itself as data that torch.load(weights_only=True) takes: keys, objects of unknown classes, layouts, whatever holds nothing.

Knows: which plain value says the same as another one.
Refuses to know: what is around it: plain.py walks the object, and says what it has replaced.

Facts: torch 2.13 (torch/weights.py has the opcodes).
"""

from __future__ import annotations

from ..dtypes import DType
from ..layout import Layout
from ..names import bracketed
from ..pickle.nodes import Call, Global, Node, shown
from ..tensor import Tensor
from ..torch.objects import RECONSTRUCTORS, Device, Key, Object
from ..torch.storages import CLASS_OF

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ATOMS = frozenset((str, int, float, bool, type(None), bytes, complex))
CLASS = "__class__"  # the key under which the dict of an object keeps its class
EMPTY = Call(Global("_codecs", "encode", 0), ("", "latin1"), 0, "REDUCE")  # b"", whose own spelling names a type that is refused
LONGEST = 8 * 255 - 8  # bits of a number that LONG1 holds


def sound(layout: Layout) -> Layout:
    """The layout without what weights_only refuses: classes, attributes, hooks, requires_grad where torch itself cannot load that."""
    parameter = layout.type == "torch.nn.parameter.Parameter"
    graded = layout.requires_grad and (layout.dtype.kind not in "fc" or (layout.dtype not in CLASS_OF and not parameter))
    if (not layout.type or parameter) and layout.attributes is None and layout.hooks is None and not graded:
        return layout
    made = layout.copy()
    made.type = layout.type if parameter else ""
    made.attributes = made.hooks = None
    made.requires_grad = layout.requires_grad and not graded
    return made


def contents(value: Object) -> dict[Any, Any]:
    """All that an object of an unknown class holds, as one dict with its class's name."""
    found: dict[Any, Any] = {CLASS: value.type}
    fields, state = value.fields, value.state
    said = {"args": value.arguments, "kwargs": value.keywords, "items": value.items, "pairs": value.pairs}
    if isinstance(state, dict) and len(fields) == len(state):
        found |= {key: item for key, item in fields.items() if key != CLASS}
    elif state is not None:
        found["state"] = state
    base = value.arguments[0] if type(value.arguments) is tuple and len(value.arguments) == 2 else None
    if value.call.dotted in RECONSTRUCTORS and type(base) is Global and base.dotted == "builtins.object":
        said["args"] = ()  # an object made of nothing
    for key, item in said.items():
        if item:
            found[key if key not in found else f"({key})"] = item
    return found


def hashable(key: Any) -> Any:
    """A key that torch's unpickler can make and hash: itself, or a plain one that looks like it."""
    if key == b"":
        return EMPTY
    if type(key) in (str, float, bool, type(None), bytes, complex) or (type(key) is int and key.bit_length() <= LONGEST):
        return key
    if type(key) is tuple and len(key) < 64 and all(type(part) in ATOMS and hashable(part) is part for part in key):
        return key
    if isinstance(key, Tensor):
        return f"tensor {key.name}"
    if type(key) is frozenset and len(key) < 64:
        return tuple(hashable(part) for part in key)
    if type(key) is tuple:
        return bracketed(key[:64])
    if type(key) is Key:
        return f"key {shown(key.node)}"
    if type(key) is int:
        return hex(key)
    made = single(key)[0]
    return made if type(made) in ATOMS and hashable(made) is made else shown(made)


def kind_of(value: Any) -> str:
    if isinstance(value, Global):
        return value.dotted
    if isinstance(value, Call):
        return value.dotted or "a call"
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.").removeprefix("inert.pickle.nodes.")


def single(value: Any) -> tuple[Any, str]:
    """(a plain value for one that holds nothing, what it is in words)."""
    if isinstance(value, Global):
        return value.dotted, "its dotted name"
    if isinstance(value, Node):
        return shown(value), "text"
    kind = type(value)
    home = kind.__module__.partition(".")[0]
    if home == "ml_dtypes" or (home == "numpy" and hasattr(value, "dtype") and hasattr(value, "item")):
        return _number(value)
    if kind in (slice, range):
        return (value.start, value.stop, value.step), "tuple (start, stop, step)"
    if home == "datetime" and hasattr(value, "isoformat"):
        return value.isoformat(), "text"
    if kind in (Device, DType):
        return str(value), "its name"
    return str(value), "text"


def _number(value: Any) -> tuple[Any, str]:
    kind = value.dtype.kind
    if kind == "b":
        return bool(value), "bool"
    if kind in "iu":
        return int(value), "int"
    if kind == "c":
        return complex(value), "complex"
    if kind == "U":
        return str(value), "text"
    if kind in "S":
        return bytes(value), "bytes"
    if kind in "Mm":
        return str(value), "text"
    if kind == "V" and not hasattr(type(value), "__float__"):
        return bytes(value.tobytes()), "bytes"
    return float(value), "float"
