"""How far tensors' storages reach in their records.

Knows: what a pickle declares of its storages: key, type and number of elements, in rows as in single persistent ids.
Refuses to know: the records' bytes.
"""

from __future__ import annotations

from itertools import repeat
from operator import gt, mul

from ...pickle.nodes import Global, Reference
from ...torch.storages import STORAGE_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...pickle.decode import Document


def covered(document: Document, prefix: str, sizes: dict[str, int], count: int) -> bool:
    """Whether no record is longer than any storage that the pickle lays over it: rows are held against records in columns."""
    runs, others = document.parted()
    if any(sizes.get(prefix + key, 0) > size for key, size in _single(others)):
        return False
    for run in runs:
        widths = {template: _width(template.storage) for template in set(run.templates)}
        needed = map(mul, run.counts, map(widths.__getitem__, run.templates))
        if any(map(gt, map(sizes.get, map(prefix.__add__, run.keys), repeat(0)), needed)):
            return False
    return len(sizes) == count


def declared(document: Document) -> dict[str, int]:
    """Storage key → bytes, the largest that a pickle declares."""
    found: dict[str, int] = {}
    runs, others = document.parted()
    for key, size in _single(others):
        found[key] = max(found.get(key, 0), size)
    for run in runs:
        sizes = {template: _width(template.storage) for template in set(run.templates)}
        for key, count, template in zip(run.keys, run.counts, run.templates, strict=True):
            size = count * sizes[template]
            if size >= found.get(key, 0):
                found[key] = size
    return found


def _width(kind: Any) -> int:
    dtype = STORAGE_TYPES.get(kind.dotted) if type(kind) is Global else None
    return dtype.itemsize if dtype is not None else 1 << 40  # of a type that nobody knows: any record may be as long


def _single(nodes: list[Any]) -> Iterator[tuple[str, int]]:
    """(key, bytes) of the storages that single persistent ids declare."""
    for node in nodes:
        if type(node) is Reference and type(node.pid) is tuple and len(node.pid) >= 5:
            kind, key, _, count = node.pid[1:5]
            if type(kind) is Global and type(key) is str and type(count) is int:
                yield key, count * _width(kind)
