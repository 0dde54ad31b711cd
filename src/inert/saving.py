"""``inert.save``: values → a file.

Knows: how the arrays in an object are found, and which writer a destination asks for.
Refuses to know: formats.
"""

from __future__ import annotations

import os
from contextlib import nullcontext

from .checkpoint import Checkpoint
from .names import children

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .sink import Progress
    from .tensor import Tensor
    from .writers import Written

LEAVES = frozenset((str, int, float, bool, bytes, type(None)))


def tensors_in(root: Any) -> dict[int, Tensor]:
    """A Tensor for each array in an object, by the array's id."""
    from .memory import tensors_of

    return tensors_of(arrays_in(root))


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
            if hasattr(value, "untyped_storage"):  # torch saves a tensor's attributes with it, and there may be tensors among them
                todo += reversed(list(vars(value).values()))
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
    alignment: int = 0,
    max_shard_size: int | str = 0,
    shared: str = "alias",
    leaves: str = "lost",
    metadata: dict[str, str] | None = None,
    sync: bool = True,
    progress: Progress | None = None,
) -> Written:
    """Write an object: dicts, lists, numbers, texts …, with NumPy arrays (ml_dtypes' too), inert Tensors or torch tensors in it.

    The format follows from the suffix, or ``format`` names it ("torch-zip", "torch-legacy", "safetensors", …). What torch.save would
    write for the same object under the same name is written to the byte. Arrays that share memory share storage: the memory that
    they cover together, so that of a larger storage, of which loaded arrays are views, the rest is left out. ``protocol`` of the pickle
    (2 to 5; torch.load's weights_only mode reads 2 and 3), ``alignment`` of the records in an archive, or of the tensors in a
    TensorFlow checkpoint, in bytes (0: as their libraries have it, 64 and 1). The destination is complete or
    untouched; ``sync=False`` does not wait for the disk. A Checkpoint is written with the changes that were made to it.

    safetensors, tf-bundle, npz, npy and shards hold named tensors only: names are the keys that lead to them, joined by dots. Other values
    are listed in the answer's ``lost``; ``leaves="sidecar"`` keeps them in NAME.json beside, "metadata" in the metadata as JSON, "error"
    refuses them.
    ``shared``: equal tensors over the same memory are written once, the other names stand in the metadata ("alias"), each is written
    ("copy"), or they are refused ("error"). ``metadata``: texts for safetensors' header. ``max_shard_size`` (bytes, or like "5GB") writes
    shards with Hugging Face's names and index; so does a folder, or a path that ends in .index.json, with shards of 5 GB;
    of a TensorFlow checkpoint (PREFIX.index, or a prefix and format="tf-bundle") it makes several data files.
    Raises UnsupportedError for what the format cannot hold; OSError passes through."""
    from .writers import Options, Saved, Written, copied, writer_for
    from .writers.roots import contents
    from .writers.sharded import bytes_of

    name, most = os.fsdecode(path), bytes_of(max_shard_size)
    source = obj if isinstance(obj, Checkpoint) else None
    writer = writer_for(name, format, most, source.format if source is not None else "")
    inner = format or "" if writer.id == "sharded" and format != writer.id else ""
    if source is not None and writer.id == source.format and not metadata and source.content.plain() and source.untouched():
        plan = copied(source.content.source)
    else:
        root, lost = (obj, []) if source is None else contents(source, writer.id)
        saved = Saved(root, tensors_in(root), metadata, source)
        plan = writer.plan(saved, Options(name, protocol, alignment, most, shared, leaves, inner))
        plan.lost = [*lost, *plan.lost]
    with source.content.source.steady() if source is not None and not os.path.exists(name) else nullcontext():  # else it may be replaced
        errors = source.errors if source is not None else []  # what is damaged in the source is so in what is made of it
        return Written(plan.pour(name, sync=sync, progress=progress), plan.lost, [*errors, *plan.notes])
