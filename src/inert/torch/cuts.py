"""The arithmetic of DTensor: which box of the whole a rank holds.

Knows: how Shard and _StridedShard cut a dimension, in which order mesh dimensions cut, and whether what is left is one box.
Refuses to know: files. Where it cannot be known, or is no box, there is None.

Facts: torch 2.13 torch/distributed/tensor (_utils.py: compute_local_shape_and_global_offset, placement_types.py, _dtensor_spec.py).
"""

from __future__ import annotations

from ..pickle.nodes import Call
from .distributed import DIMENSIONS, family, items, numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .distributed import Offsets
    from .mesh import Mesh

    Box = tuple[Offsets, Offsets]  # (offsets, sizes)
    Runs = list[tuple[int, int]]  # (start, length) of what is held along one dimension, in order

RUNS = 1024  # along one dimension: what _StridedShard cuts


def box_of(kinds: list[tuple[str, dict[str, Any]]], mesh: Mesh, shape: Offsets, order: Any) -> Box | None:
    """The box that a rank holds; None where it cannot be known, or where what it holds is no box."""
    if all(kind == "Replicate" for kind, _ in kinds):
        return (0,) * len(shape), shape
    steps = _steps(len(kinds), order, [kind for kind, _ in kinds])
    if mesh.sizes is None or mesh.at is None or len(mesh.sizes) != len(kinds) or steps is None or not _countable(shape):
        return None
    held: list[Runs] = [[(0, size)] for size in shape]
    for step in steps:
        kind, facts = kinds[step]
        if kind == "Replicate":
            continue
        dim = facts.get("dim")
        if kind not in CUTS or type(dim) is not int or not 0 <= dim < len(shape):
            return None
        factor = facts.get("split_factor", 1) if kind == "_StridedShard" else 1
        cuts = _cuts(length(held[dim]), factor, mesh.sizes[step], mesh.at[step])
        if cuts is None or len(cuts) * len(held[dim]) > RUNS:
            return None
        held[dim] = [run for start, end in cuts for run in part(held[dim], start, end)]
    runs = [joined(one) for one in held]
    if any(len(one) > 1 for one in runs):
        return None
    # as torch has it, nothing of a dimension begins at its end
    edges = [one[0] if one else (size, 0) for one, size in zip(runs, shape, strict=True)]
    whole = [(0, 0) if size == 0 else edge for edge, size in zip(edges, shape, strict=True)]
    return tuple(start for start, _ in whole), tuple(count for _, count in whole)


CUTS = ("Shard", "_StridedShard")


def _countable(shape: Offsets) -> bool:
    return len(shape) <= DIMENSIONS and all(0 <= size < 1 << 63 for size in shape)


def _steps(count: int, order: Any, kinds: list[str]) -> list[int] | None:
    """The mesh dimensions in the order in which they cut: from left to right, unless ``shard_order`` says otherwise for plain Shards."""
    steps = list(range(count))
    entries = items(order)
    if not entries or "_StridedShard" in kinds:
        return steps
    if len(entries) > DIMENSIONS:
        return None
    for entry in entries:
        given = entry.arguments if isinstance(entry, Call) and family(entry.dotted) == "ShardOrderEntry" else None
        dims = numbers(given[1]) if type(given) is tuple and len(given) == 2 else None
        if dims is None or len(set(dims)) != len(dims) or any(dim >= count for dim in dims):
            return None
        for place, dim in zip(sorted(dims), dims, strict=True):
            steps[place] = dim
    return steps if sorted(steps) == list(range(count)) else None


def _cuts(size: int, factor: Any, count: int, index: int) -> list[tuple[int, int]] | None:
    """(start, end) of what shard ``index`` of ``count`` has of ``size``, split in ``factor`` parts that are each cut in shards."""
    if type(factor) is not int or not 0 < factor <= RUNS:
        return None
    cuts = []
    for i in range(factor):
        first, last = chunk(size, factor, i)
        start, end = chunk(last - first, count, index)
        cuts.append((first + start, first + end))
    return cuts


def chunk(size: int, count: int, index: int) -> tuple[int, int]:
    """(start, end) of a chunk as torch.chunk has it: all of one size but the last ones, which may be smaller or empty."""
    full = -(-size // count)
    start = min(size, full * index)
    return start, min(size, start + full)


def length(runs: Runs) -> int:
    return sum(count for _, count in runs)


def part(runs: Runs, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The runs of elements ``start`` to ``end`` of what ``runs`` hold."""
    at = 0
    for first, count in runs:
        low, high = max(start, at), min(end, at + count)
        if low < high:
            yield first + low - at, high - low
        at += count


def joined(runs: Runs) -> Runs:
    """Runs that follow each other as one; empty ones left out."""
    made: Runs = []
    for start, count in runs:
        if made and made[-1][0] + made[-1][1] == start:
            made[-1] = made[-1][0], made[-1][1] + count
        elif count:
            made.append((start, count))
    return made
