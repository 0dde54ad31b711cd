"""What of a checkpoint another format is given: its root, or its tensors by name where the root means nothing elsewhere.

Knows: that the classes of programs and packages mean nothing outside of them, and that TensorFlow's names are no paths of its object graph.
Refuses to know: how it is written.
"""

from __future__ import annotations

from ..names import Lister
from ..tensor import Tensor
from ..torch.objects import Object
from . import BUNDLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..checkpoint import Checkpoint

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
        gone = objects if to != BUNDLE else set()
        return {name: one for name, one in value.items() if name not in gone}, [
            (name, "it holds no numbers") for name in value if name in gone
        ]
    root = source.root
    if to != source.format and source.format in PROGRAMS and isinstance(root, Object):
        return dict(Lister(content.listed(root), content.limits).tensors), []
    return tied(source, root), []


def tied(source: Checkpoint, root: Any) -> Any:
    """The root with the names that its metadata says other tensors stand for; itself where there are none."""
    found = source.content.aliases(root) if isinstance(root, dict) else {}
    return {**root, **{name: root[kept] for name, kept in found.items()}} if found else root
