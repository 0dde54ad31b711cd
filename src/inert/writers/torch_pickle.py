"""The pickle of a value for any of torch's containers: of the nodes it came from, where it came from a pickle, else made anew.

Knows: how storages get new keys, and that what a pickle says of unknown classes is kept as it was said.
Refuses to know: containers.
"""

from __future__ import annotations

from ..finding import Finding
from ..pickle.encode import Encoder
from ..pickle.nodes import Reference
from ..pickle.style import fresh
from ..tensor import Tensor
from ..torch.arguments import Odd, text
from ..torch.changes import Changes
from ..torch.persistent import class_of
from ..torch.unbuild import Unbuilder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..torch.build import Builder
    from ..torch.storing import Storing
    from . import Saved


def pickled(saved: Saved, protocol: int, storing: Storing) -> tuple[bytes, list[Finding]]:
    """The pickle of ``saved.root``, and what is worth knowing of it."""
    builder = saved.source.content.built if saved.source is not None else None
    if builder is None:
        unbuilder = Unbuilder(protocol, storing, saved.tensors, spelling=saved.spelling)
        return Encoder(fresh(protocol), None, unbuilder).encode(saved.root), []
    changes = Changes(builder)
    unbuilder = Unbuilder(protocol, storing, saved.tensors, changes.nodes, saved.spelling)
    swaps = {**saved.spelling.swaps(builder.document), **changes.swaps}
    storages = builder.storages
    units = {} if storages.order == storing.order else numbers(builder)

    def refer(node: Reference) -> Any:
        """The persistent id of the same storage under its new key; of a class with its source text, which only the legacy layout has, the
        class's name."""
        if id(node) in unbuilder.references:
            return node
        try:
            storage = storages.of(node)
        except Odd:
            return node if storing.tail else class_of(node) or node
        pid, count = node.pid, storage.nbytes // storage.dtype.itemsize
        untyped = text(pid[1].name) == "UntypedStorage"
        storing.untyped += untyped
        key = storing.key(storage, "uint8" if untyped else storage.dtype, count, units.get(id(storage), 0))
        return Reference((pid[0], pid[1], key, saved.spelling.location(pid[3]), count, *storing.tail), node.offset)

    encoder = Encoder(fresh(protocol), builder.document, unbuilder, changes.edits, swaps, refer)
    root = changes.nodes.get(id(saved.root), saved.root)
    data = encoder.encode(root)
    notes = [Finding("class-plain", f"{name} is written as a plain container", "data.pkl") for name in dict.fromkeys(changes.plain)]
    return data, notes


def numbers(builder: Builder) -> dict[int, int]:
    """Bytes of a number in the storages that are untyped, by id: their tensors know."""
    found: dict[int, int] = {}
    for value in builder.done.values():
        if isinstance(value, Tensor) and value.layout.storage is not None:
            found.setdefault(id(value.layout.storage), value.layout.dtype.unit)
    return found
