"""The tensors of a checkpoint as plain rows, with totals: what ``inert ls`` shows.

Knows: the JSON keys of a tensor, which storages the tensors use and how much of them, how names make a tree of modules.
Refuses to know: how anything is printed.
"""

from __future__ import annotations

from ..errors import InertError
from ..layout import reach
from ..names import piece, wanted
from .plain import plain, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from ..checkpoint import Checkpoint
    from ..finding import Finding
    from ..layout import Layout, Storage
    from ..tensor import Tensor

SORTS: dict[str, Callable[[Tensor], Any]] = {
    "size": lambda tensor: -nbytes(tensor),
    "name": lambda tensor: tensor.name,
    "dtype": lambda tensor: tensor.dtype,
}
UNSTRIDED = frozenset(("strings", "opaque"))  # kinds of tensors whose elements lie where no stride says
_NAME = frozenset(" {}()[]'/")  # characters of a key that is more than a name
LEVELS = 64  # of a tree: deeper names end in one long piece


def ls(
    ckpt: Checkpoint,
    patterns: Sequence[str] = (),
    sort: str = "",
    hash: bool = False,
    tree: bool = False,
    places: bool = True,
    done: Callable[[Tensor], None] | None = None,
) -> dict[str, Any]:
    """The tensors whose names fit a pattern (all without patterns), in the object's order or sorted by a key of SORTS.

    ``hash`` adds each SHA-256, ``tree`` the modules; ``places`` false leaves out ``file`` and ``file_offset``, which take a read each.
    ``done`` is told of each tensor that has been hashed."""
    chosen = select(ckpt.tensors, patterns)
    if sort:
        chosen = sorted(chosen, key=SORTS[sort])
    rows = []
    others: dict[str, list[str]] = {}
    for name, kept in ckpt.content.aliases(ckpt.tensors).items():
        others.setdefault(kept, []).append(printable(name))
    for tensor in chosen:
        rows.append(row(tensor, places=places))
        if tensor.name in others:
            rows[-1]["aliases"] = others[tensor.name]
        if hash:
            rows[-1].update(hashed(tensor))
            if done is not None:
                done(tensor)
    made = {"file": printable(ckpt.content.source.name), "format": ckpt.format, "tensors": rows, **totals(chosen)}
    if tree:
        made["tree"] = modules(chosen)
    return made


def select(tensors: Any, patterns: Sequence[str]) -> list[Tensor]:
    """The tensors that fit: a pattern is a name, a module's name, or a glob over whole names (* ? [])."""
    if not patterns:
        return list(tensors.values())
    fits = wanted(patterns)
    return [tensor for name, tensor in tensors.items() if fits(name)]


def row(tensor: Tensor, name: str = "", places: bool = True) -> dict[str, Any]:
    """One tensor (``name``: that of a component). ``file`` and ``file_offset`` are None where its bytes do not lie plainly in a file,
    ``fault`` says why it is refused; ``placement``, ``boxes`` and ``holds`` are those of a tensor that is spread over processes."""
    layout, dtype = tensor.layout, tensor.dtype
    storage, fault = layout.storage, layout.fault
    try:
        file, file_offset = (tensor.file, tensor.file_offset) if places else (None, None)
    except InertError as error:  # its record's local header is damaged
        file, file_offset, fault = None, None, fault or str(error)
    made: dict[str, Any] = {
        "name": printable(name or tensor.name),
        "path": [step if type(step) is int else printable(piece(step)) for step in tensor.path],
        "dtype": str(dtype),
        "canonical": dtype.canonical,
        "bits": dtype.bits,
        "shape": list(layout.shape),
        "strides": list(layout.strides),
        "nbytes": nbytes(tensor),
        "kind": layout.kind,
        "storage": None if storage is None else printable(storage.key),
        "offset": layout.offset,
        "file": None if file is None else printable(file),
        "file_offset": file_offset,
        "device": printable(layout.device),
        "requires_grad": layout.requires_grad,
    }
    if not places:
        del made["file"], made["file_offset"]
    if fault:
        made["fault"] = printable(fault)
    if layout.type:
        made["type"] = printable(layout.type)
    for bit in ("conj", "neg"):
        if getattr(layout, bit):
            made[bit] = True
    if layout.quantization:
        made["quantization"] = plain(layout.quantization, nodes=1000)
    if layout.placement:
        made["placement"] = printable(layout.placement)
    if layout.holds:
        made["holds"] = layout.holds
    if layout.boxes:
        made["boxes"] = {printable(role): {"offsets": list(at), "shape": list(size)} for role, (at, size) in layout.boxes.items()}
    if layout.components:
        made["components"] = {  # at most 16 levels: torch/rebuild.py
            printable(role): row(part, f"{made['name']}.{role}", places) for role, part in layout.components.items()
        }
    return made


def nbytes(tensor: Tensor) -> int:
    """Bytes of the elements; 0 where a damaged tensor's sizes make less than none."""
    return max(0, tensor.nbytes)


def hashed(tensor: Tensor) -> dict[str, Any]:
    """{"sha256": hex}, or None and why."""
    try:
        return {"sha256": tensor.sha256()}
    except InertError as error:
        return {"sha256": None, "sha256_why": printable(error.message)}


# -- totals ---------------------------------------------------------------------------------------------------------------


def totals(tensors: Iterable[Tensor]) -> dict[str, Any]:
    """``count`` and ``nbytes`` of the tensors, ``storages`` and ``storage_nbytes`` of what holds them, ``used_nbytes`` of that.

    Of a damaged tensor, and of one whose elements have no one size, the whole storage counts as used."""
    count = size = 0
    runs: dict[Storage, list[tuple[int, int]]] = {}
    for tensor in tensors:
        count += 1
        size += nbytes(tensor)
        todo = [tensor.layout]
        while todo:
            layout = todo.pop()
            if layout.components and layout.kind != "tiled":  # tiles are counted as the whole that they make
                todo += [part.layout for part in layout.components.values()]
            storage = layout.storage
            if storage is not None and storage.opener is not None:  # else the tensor has no bytes of its own
                whole = layout.fault or layout.kind in UNSTRIDED
                runs.setdefault(storage, []).append((0, storage.nbytes) if whole else extent(layout))
    return {
        "count": count,
        "nbytes": size,
        "storages": len(runs),
        "storage_nbytes": sum(storage.nbytes for storage in runs),
        "used_nbytes": sum(map(covered, runs.values())),
    }


def extent(layout: Layout) -> tuple[int, int]:
    """(first, end) byte of the elements within their storage; the gaps that strides leave between them count as used."""
    last, count, _ = reach(layout.shape, layout.strides)
    if not count:
        return 0, 0
    dtype, first = layout.dtype, layout.offset
    pack = 1 if dtype.counts_items else dtype.packed
    return first // pack * dtype.itemsize, ((first + last) // pack + 1) * dtype.itemsize


def covered(runs: list[tuple[int, int]]) -> int:
    """Bytes that at least one run covers."""
    if len(runs) == 1:
        return runs[0][1] - runs[0][0]
    total = reached = 0
    for first, end in sorted(runs):
        if end > reached:
            total += end - max(first, reached)
            reached = end
    return total


# -- the tree -------------------------------------------------------------------------------------------------------------


def modules(tensors: Iterable[Tensor], sizes: bool = False) -> dict[str, Any]:
    """Modules by the dots of the names: {"name", "tensors", "nbytes", "children": […], "leaves": [names of its own tensors]}.

    With ``sizes`` the leaves are {"name", "nbytes"}."""
    root = _module("")
    found: dict[tuple[int, str], dict[str, Any]] = {}
    above: dict[int, dict[str, Any]] = {}  # by id of a module, the one that it is in
    whole: dict[tuple[Any, ...], dict[str, Any]] = {}  # by all that leads to a tensor: most lie where the one before lay
    for tensor in tensors:
        lead, steps = _steps(tensor)
        node = whole.get(lead)
        if node is None:
            node = root
            for step in steps[:-1]:
                key = (id(node), step)
                child = found.get(key)
                if child is None:
                    child = found[key] = _module(printable(step))
                    node["children"].append(child)
                    above[id(child)] = node
                node = child
            whole[lead] = node
        node["tensors"] += 1
        node["nbytes"] += nbytes(tensor)
        name = printable(steps[-1])
        node["leaves"].append({"name": name, "nbytes": nbytes(tensor)} if sizes else name)
    for child in reversed(found.values()):  # inner ones were made later
        outer = above[id(child)]
        outer["tensors"] += child["tensors"]
        outer["nbytes"] += child["nbytes"]
    return root


def _steps(tensor: Tensor) -> tuple[tuple[Any, ...], list[str]]:
    """What leads to a tensor, as a key, and the modules on the way with its own name last.

    A key of the path is taken apart at its dots, unless it is more than a name (Lightning's callback keys)."""
    path = tensor.path
    steps: list[str] = []
    for key in map(piece, path):
        steps += [key] if not _NAME.isdisjoint(key) else key.split(".")
    steps = [*steps[:LEVELS], ".".join(steps[LEVELS:])] if len(steps) > LEVELS else steps or [""]
    return tuple(steps[:-1]), steps


def _module(name: str) -> dict[str, Any]:
    return {"name": name, "tensors": 0, "nbytes": 0, "children": [], "leaves": []}


# -- findings -------------------------------------------------------------------------------------------------------------


def notes(found: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings as JSON has them."""
    return [
        {
            "code": note.code,
            "severity": note.severity,
            "message": printable(note.message),
            "where": {"part": printable(note.where.part), "offset": note.where.offset},
            "tensors": [printable(name) for name in note.tensors],
            "fix": note.fix,
        }
        for note in found
    ]
