"""``inert.save``: values → a file.

Knows: how the arrays in an object are found, and which writer a destination asks for.
Refuses to know: formats.
"""

from __future__ import annotations

import os

from .checkpoint import Checkpoint
from .names import children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .finding import Finding
    from .sink import Progress

LEAVES = frozenset((str, int, float, bool, bytes, type(None)))


def arrays_in(root: Any) -> list[Any]:
    """Every NumPy array and torch tensor in an object, each once, in order."""
    from .memory import is_array

    found: dict[int, Any] = {}
    seen: set[int] = set()
    todo = [root]
    while todo:
        value = todo.pop()
        if type(value) in LEAVES or id(value) in seen:
            continue
        seen.add(id(value))
        if is_array(value):
            found[id(value)] = value
            continue
        inside = children(value)
        if inside is not None:
            todo += reversed([item for _, item in inside if type(item) not in LEAVES])
    return list(found.values())


def save(
    obj: Any,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    protocol: int = 2,
    alignment: int = 64,
    sync: bool = True,
    progress: Progress | None = None,
) -> list[Finding]:
    """Write an object: dicts, lists, numbers, texts …, with NumPy arrays (ml_dtypes' too), inert Tensors or torch tensors in it.

    The format follows from the suffix, or ``format`` names it ("torch-zip", "torch-legacy", "safetensors", …). What torch.save would
    write for the same object under the same name is written to the byte. Arrays that share memory share storage. ``protocol`` of the
    pickle (2 to 5; torch.load's weights_only mode reads 2 and 3), ``alignment`` of the records in bytes. The destination is complete or
    untouched; ``sync=False`` does not wait for the disk. What is worth knowing comes back as Findings.
    Raises UnsupportedError for what the format cannot hold; OSError passes through."""
    from .memory import tensors_of
    from .writers import Options, Saved, writer_for

    if isinstance(obj, Checkpoint):
        return save_checkpoint(obj, path, format=format, protocol=protocol, alignment=alignment, sync=sync, progress=progress)
    name = os.fspath(path)
    writer = writer_for(name, format)
    saved = Saved(obj, tensors_of(arrays_in(obj)))
    plan = writer.plan(saved, Options(name, protocol, alignment))
    plan.pour(name, sync=sync, progress=progress)
    return plan.notes


def save_checkpoint(
    checkpoint: Checkpoint,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    protocol: int = 2,
    alignment: int = 64,
    sync: bool = True,
    progress: Progress | None = None,
) -> list[Finding]:
    """What ``Checkpoint.save`` does."""
    from .memory import tensors_of
    from .writers import Options, Saved, copied, writer_for

    name, content = os.fspath(path), checkpoint.content
    writer = writer_for(name, format, checkpoint.format)
    if writer.id == checkpoint.format and checkpoint.untouched() and content.plain():
        plan = copied(content.source)
    else:
        root = checkpoint.root
        saved = Saved(root, tensors_of(arrays_in(root)), dict(checkpoint.metadata), checkpoint)
        plan = writer.plan(saved, Options(name, protocol, alignment))
    plan.pour(name, sync=sync, progress=progress)
    return plan.notes
