"""The oldest torch that reads a file, by what the file holds.

Knows: how names, containers and arguments are held against the tables of first versions (allowed.py).
Refuses to know: versions other than the first; what a newer torch has given up is for predict.py to say of torch 2.13.
"""

from __future__ import annotations

from ..errors import one_line
from ..pickle.nodes import Call
from ..pickle.row import Row
from . import allowed as table
from .arguments import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..pickle.decode import Document

    Since = tuple[tuple[int, int], str]  # version, and what it takes it for

UNTYPED = "torch.storage.UntypedStorage"


def oldest(ckpt: Any) -> dict[str, str]:
    """``{"torch": "1.5", "why": …}``: the first version of torch that reads what the file holds, by a full load, and what makes it so.

    ``torch`` is "" where no version does."""
    if ckpt.format == "torch-zip":
        (document,) = ckpt.pickles.values()
        if ckpt.content.data.endswith("tensors/"):
            return {"torch": "1.4", "why": "only torch 1.4 reads the zip layout with tensors/ records"}
        found: list[Since] = [(table.OLDEST, "the zip layout with data/ records"), *_container(ckpt)]
    elif ckpt.format == "torch-legacy":
        document = next(document for name, document in ckpt.pickles.items() if name.endswith("object"))
        if any(name.dotted == UNTYPED for name in document.globals):
            return {"torch": "", "why": "no torch reads untyped storages in the layout before 1.6, though some have written them"}
        found = [(table.OLDEST_LEGACY, "the layout before 1.6")]
    elif ckpt.format == "torch-tar":
        return {"torch": "0.1", "why": "every torch reads the tar layout, with weights_only=False where there is such a choice"}
    elif ckpt.format == "torchscript":
        return {"torch": "", "why": "which version reads it depends on the operators that its code calls"}
    elif ckpt.format == "safetensors" and ckpt.content.source.name.endswith(".safetensors"):
        return {"torch": "2.13", "why": "read since torch 2.13: files whose names end in .safetensors, by way of the package safetensors"}
    else:
        return {"torch": "", "why": f"torch.load reads no {ckpt.format} files"}
    names = [name.dotted for name in document.globals]
    for name in names:
        found += _name(name)
    for call in calls(document):
        found += forms(call)
    version, why = max(found, key=lambda since: since[0])
    first = ".".join(map(str, version))
    also = "; besides, NumPy 1.26 or newer (numpy._core)" if any(name.startswith("numpy._core.") for name in names) else ""
    return {"torch": first, "why": one_line(f"read since torch {first}: {why}{also}")}


def calls(document: Document) -> Iterator[Call]:
    """The calls that are no Rows, which are all alike."""
    for node in document.rows:
        if isinstance(node, Call) and type(node) is not Row:
            yield node


def _container(ckpt: Any) -> Iterator[Since]:
    said = ckpt.metadata.get("version", "3")
    number = int(said) if said.isdigit() and len(said) < 4 else 3
    first = next((first for most, first in table.VERSIONS.items() if number <= most), None)
    if first:
        yield first, f"version {number} of the archive format"
    if ckpt.content.order == "big":
        yield table.BYTESWAP, "big-endian data"


def _name(dotted: str) -> Iterator[Since]:
    if dotted in table.FIRST:
        yield table.FIRST[dotted], dotted
        return
    for prefix, first in table.FIRST_MODULES.items():
        if dotted.startswith(f"{prefix}."):
            yield first, prefix
            return


def forms(call: Call) -> Iterator[Since]:
    """Arguments that older rebuild functions do not take, and since when they are taken."""
    arguments = call.arguments if type(call.arguments) is tuple else ()
    if call.dotted == "torch._utils._rebuild_tensor_v2" and len(arguments) == 7:
        yield table.METADATA, "a tensor's metadata (conjugate or negative bit)"
    elif call.dotted == "torch._utils._rebuild_sparse_tensor" and len(arguments) == 2:
        layout, data = arguments
        said = layout.arguments if isinstance(layout, Call) else None
        name = text(said[0]) if type(said) is tuple and said else ""
        if name != "torch.sparse_coo":
            yield table.COMPRESSED, f"the layout {name}"
        elif type(data) is tuple and len(data) == 4:
            yield table.COALESCED, "a sparse tensor's mark of being coalesced"
