"""Tensors that are whole to look at, and hold others of which the bytes are gone: parts that no name leads to, and Python attributes.

Knows: which nodes of a pickle lead to a storage that is not there.
Refuses to know: what a tensor is made of. One look at every node, and one step back for each that leads to a lost storage.
"""

from __future__ import annotations

from ..pickle.encode import parts_of
from ..pickle.nodes import Call, Reference
from ..pickle.row import Row
from ..tensor import Tensor
from ..torch.arguments import Odd
from ..torch.build import ATOMS
from ..torch.persistent import class_of
from ..torch.rebuild import REBUILD
from .holes import KINDS, is_wreck

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..torch.build import Builder


def spoiled(builder: Builder) -> dict[int, str]:
    """By id of a layout, why it cannot be written as it is."""
    storages = builder.storages
    holders: dict[int, list[Any]] = {}
    lost: list[tuple[Any, str]] = []
    todo, seen = [builder.document.root], {0}
    while todo:
        node = todo.pop()
        if type(node) in ATOMS or id(node) in seen:
            continue
        seen.add(id(node))
        why = _fault(storages, node) if type(node) is Reference else _row(node) if type(node) is Row else _call(builder, node)
        if why:
            lost.append((node, why))
        if type(node) is Row:
            continue
        for part in parts_of(node, {}) or ():
            if type(part) not in ATOMS:
                holders.setdefault(id(part), []).append(node)
                todo.append(part)
    return _up(builder, holders, lost)


def _up(builder: Builder, holders: dict[int, list[Any]], lost: list[tuple[Any, str]]) -> dict[int, str]:
    """From lost storages to the tensors that hold them."""
    found: dict[int, str] = {}
    seen = {0}
    while lost:
        node, why = lost.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        value = builder.done.get(id(node))
        if isinstance(value, Tensor) and (value.kind not in KINDS or value.layout.attributes is not None or value.layout.hooks is not None):
            found[id(value.layout)] = why
        lost += [(holder, why) for holder in holders.get(id(node), ())]
    return found


def _call(builder: Builder, node: Any) -> str:
    wreck = isinstance(node, Call) and node.dotted in REBUILD and is_wreck(builder.done.get(id(node)))
    return "what it says is damaged" if wreck else ""


def _row(row: Row) -> str:
    value = row.value
    return value.layout.fault if isinstance(value, Tensor) else ""


def _fault(storages: Any, node: Reference) -> str:
    try:
        fault: str = storages.of(node).fault
    except Odd:
        return "" if class_of(node) is not None else "a persistent id that names no storage"
    return fault
