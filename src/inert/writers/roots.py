"""What of a checkpoint another format is given: its root, or its tensors by name where the root means nothing elsewhere.

Knows: that the classes of programs and packages mean nothing outside of them, and that TensorFlow's names are no paths of its object graph.
Refuses to know: how it is written.
"""

from __future__ import annotations

from copy import copy

from ..dtypes import DTYPES
from ..names import Lister, children
from ..tensor import Tensor
from ..torch.objects import Object
from . import BUNDLE
from .flat import leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..checkpoint import Checkpoint

RECORDS = {  # roles of the parts that make a program
    "code": "source of the program",
    "bytecode": "bytecode of the program",
    "model": "the program",
    "native": "compiled code of the program",
    "source": "source of the package",
    "resource": "a file of the package",
    "extra": "a file that was put in beside the program",
}
PROGRAMS = ("torchscript", "torch-package", "torch-export")
NO_NUMBERS = ("strings", "opaque")  # kinds of tensors that other formats than TensorFlow's have no place for


def contents(source: Checkpoint, to: str) -> tuple[Any, list[tuple[str, str]]]:
    """The value that the writer of a format is given, and what is lost by that: (name, why)."""
    content = source.content
    if content.listing() is not None:
        value = source.named()
        if type(value) is not dict:
            return value, []
        # asking for the kind makes each layout, which is one from here on
        objects = {name for name, one in value.items() if isinstance(one, Tensor) and one.kind in NO_NUMBERS}
        if to == BUNDLE:
            return value, []
        rest = {name: one for name, one in value.items() if name not in objects}
        bare = [name for name, one in rest.items() if isinstance(one, Tensor) and one.dtype.kind == "q" and not one.layout.quantization]
        lost = [(name, f"that its integers are quantised: {rest[name].dtype} without a scale") for name in bare]
        rest |= {name: integers(rest[name]) for name in bare}
        return rest, [*((name, "it holds no numbers") for name in value if name in objects), *lost]
    root = source.root
    if to != source.format and source.format in PROGRAMS:
        lost = list(program(source))
        if not isinstance(root, Object):
            return root, lost
        lister = Lister(content.listed(root), content.limits)
        return dict(lister.tensors), [*lost, *((name, why) for name, value in leaves(root, lister, True) if (why := attribute(value)))]
    return tied(source, root), []


def integers(tensor: Tensor) -> Tensor:
    """The integers of a quantised tensor that says nothing of their scale: torch has no such tensors, and other formats no such types."""
    layout = tensor.layout.copy()
    layout.dtype = DTYPES[layout.dtype.numpy]
    if layout.storage is not None:
        layout.storage = copy(layout.storage)
        layout.storage.dtype = layout.dtype
    if layout.kind == "tiled":
        layout.kind, layout.components, layout.boxes, layout.slices = "dense", {}, {}, ()
    return Tensor(layout, tensor.limits, tensor.name, tensor.path[:-1], tensor.name)


def program(source: Checkpoint) -> Iterator[tuple[str, str]]:
    """What of a program is no value: a line for each kind of record."""
    kinds: dict[str, list[str]] = {}
    for name, part in source.content.parts().items():
        if part.role in RECORDS:
            kinds.setdefault(part.role, []).append(name)
    for kind, names in kinds.items():
        more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
        yield f"{names[0]}{more}", RECORDS[kind]


def attribute(value: Any) -> str:
    """Why an attribute of a module is lost; "" for one that holds nothing, and for a module, whose own attributes are told."""
    if value is None or (isinstance(value, Object) and children(value)):
        return ""
    return f"an attribute of the module ({type(value).__name__})"


def tied(source: Checkpoint, root: Any) -> Any:
    """The root with the names that its metadata says other tensors stand for; itself where there are none."""
    found = source.content.aliases(root) if isinstance(root, dict) else {}
    return {**root, **{name: root[kept] for name, kept in found.items()}} if found else root
