"""Tensors of torch.distributed in the file of one rank: which part of the whole tensor that file holds.

Knows: how DTensor, ShardedTensor and LocalShardsWrapper keep their local tensors, the mesh and the placements of a DTensor, and the
arithmetic of both: which box of the whole each local tensor is.
Refuses to know: any class (names are compared, fields are read by name), and where data lies. What does not fit gives no box, never an
error: the local tensors can be read all the same.

Facts: torch 2.13 torch/distributed/tensor (placement_types.py, _utils.py: compute_local_shape_and_global_offset, _dtensor_spec.py),
device_mesh.py, _mesh_layout.py, _shard/sharded_tensor (api.py, shard.py, metadata.py); real files of torch 1.13 (ShardedTensor), 2.1, 2.3,
2.6, 2.9 and 2.13; torch 1.10 to 1.12 (api.py: ShardedTensor, there no tensor but an object). A mesh of torch 2.0 held its process groups,
which no pickle takes: a DTensor in a file is of torch 2.1 or later.
"""

from __future__ import annotations

from math import prod

from ..pickle.nodes import Call, Dict, List

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Offsets = tuple[int, ...]
    Box = tuple[Offsets, Offsets]  # (offsets, sizes)
    Runs = list[tuple[int, int]]  # (start, length) of what is held along one dimension, in order

HOME = "torch.distributed."
FIELDS = 64  # of an object that is looked into; those of torch have some ten
DIMENSIONS = 64  # of a mesh, and of a tensor in it
RUNS = 1024  # along one dimension: what _StridedShard cuts
NAME = 40  # characters of a mesh dimension's name that are shown

FLAT = ("_flat_param", "flat_param")  # FSDP's name of a flattened parameter: since torch 2.0, and before


class Placed:
    """What one rank's file says of a distributed tensor: ``parts`` (role → node of a local tensor), the ``boxes`` of the whole tensor that
    they are, where that is known, and ``text``: the placement, readable. ``partial``: the values are yet to be reduced over the ranks."""

    __slots__ = ("boxes", "partial", "parts", "text")

    def __init__(self, parts: dict[str, Any], boxes: dict[str, Box], text: str, partial: bool = False) -> None:
        self.parts = parts
        self.boxes = boxes
        self.text = text
        self.partial = partial


def placed(dotted: str, state: Any, shape: Offsets) -> Placed | None:
    """The placement of a tensor of class ``dotted`` with this state; None for any other class, or another state than torch writes."""
    read = CLASSES.get(family(dotted))
    return None if read is None else read(state, shape)


def family(dotted: str) -> str:
    """The class's own name, where it is one of torch.distributed: the modules have changed from version to version, the names have not."""
    return dotted.rpartition(".")[2] if dotted.startswith(HOME) else ""


def cost(state: Any) -> int:
    """How many local tensors a state lists, at most: what ``placed`` may do for it."""
    return sum(len(part.items) for part in (state if type(state) is tuple else (state,)) if type(part) is List)


# -- nodes ------------------------------------------------------------------------------------------------------------------


def fields(node: Any, name: str = "") -> dict[str, Any]:
    """The fields of an object of torch.distributed (of this name); {} for anything else."""
    if not isinstance(node, Call) or (name and family(node.dotted) != name):
        return {}
    return attributes(node.states[-1] if node.states else None)


def attributes(state: Any) -> dict[str, Any]:
    """What a state sets: a dict, or one for ``__dict__`` and one for slots."""
    found: dict[str, Any] = {}
    for part in state if type(state) is tuple and len(state) == 2 else (state,):
        if type(part) is Dict and len(part.flat) <= 2 * FIELDS:
            found |= {key: value for key, value in part.pairs() if type(key) is str}
    return found


def items(node: Any) -> tuple[Any, ...] | list[Any] | None:
    """The items of a tuple, list or torch.Size."""
    if isinstance(node, Call) and node.dotted == "torch.Size" and type(node.arguments) is tuple and len(node.arguments) == 1:
        node = node.arguments[0]
    return node.items if type(node) is List else node if type(node) is tuple else None


def numbers(node: Any) -> Offsets | None:
    """A tuple, list or torch.Size of a few numbers none of which is negative; None for anything else."""
    found = items(node)
    if found is None or len(found) > DIMENSIONS or not all(type(n) is int and 0 <= n < 1 << 63 for n in found):
        return None
    return tuple(found)


# -- DTensor ----------------------------------------------------------------------------------------------------------------


class Mesh:
    """A DeviceMesh: its ``sizes``, the ``names`` of its dimensions, where this rank is in it (``at``), which rank it is (None: unknown)."""

    __slots__ = ("at", "names", "rank", "sizes")

    def __init__(self, node: Any) -> None:
        said = fields(node, "DeviceMesh")
        self.sizes = _sizes(said)
        names = items(said.get("mesh_dim_names", said.get("_mesh_dim_names")))
        fits = names is not None and self.sizes is not None and len(names) == len(self.sizes) and all(type(name) is str for name in names)
        self.names: list[str] = [readable(name) for name in names] if fits and names is not None else []
        at = numbers(said.get("_coordinate_on_dim"))
        inside = at is not None and self.sizes is not None and len(at) == len(self.sizes)
        self.at = at if inside and all(i < size for i, size in zip(at or (), self.sizes or (), strict=True)) else None
        self.rank = self._rank(said)

    def _rank(self, said: dict[str, Any]) -> int | None:
        rank, ranks = said.get("_rank"), items(said.get("_flatten_mesh_list"))
        if type(rank) is not int and ranks is not None and self.at is not None and self.sizes is not None:
            place = 0
            for i, size in zip(self.at, self.sizes, strict=True):
                place = place * size + i
            rank = ranks[place] if place < len(ranks) else None
        return rank if type(rank) is int and 0 <= rank < 1 << 63 else None

    @property
    def text(self) -> str:
        if self.sizes is None:
            return "on a mesh of unknown shape"
        names = self.names or [""] * len(self.sizes)
        made = "on mesh " + " × ".join(f"{name}={size}" if name else str(size) for name, size in zip(names, self.sizes, strict=True))
        if self.at is None:
            return made
        return f"{made}, {'' if self.rank is None else f'rank {self.rank} '}at {list(self.at)}"


def readable(name: str) -> str:
    return name if len(name) <= NAME and name.isprintable() else ascii(name[:NAME])[1:-1]


def _sizes(said: dict[str, Any]) -> Offsets | None:
    """The shape of a mesh: of its tensor of ranks, since torch 2.9 of a layout, since 2.13 of one layout for each dimension."""
    layout, mesh = said.get("_layout"), said.get("mesh")
    if layout is not None:
        inner = fields(layout, "_MeshLayout")
        axes = items(inner.get("axes"))
        if axes is not None:
            return _products([fields(axis, "_FlatLayout").get("shape") for axis in axes]) if len(axes) <= DIMENSIONS else None
        shape = inner.get("shape")
        dims = (shape,) if type(shape) is int else items(shape)
        return None if dims is None or len(dims) > DIMENSIONS else _products([(n,) if type(n) is int else n for n in dims])
    if isinstance(mesh, Call) and mesh.dotted.startswith("torch._utils._rebuild_tensor") and type(mesh.arguments) is tuple:
        return numbers(mesh.arguments[2]) if len(mesh.arguments) > 2 else None
    return None


def _products(shapes: list[Any]) -> Offsets | None:
    found = [numbers(shape) for shape in shapes]
    sizes = tuple(prod(shape) for shape in found if shape is not None)
    return sizes if len(sizes) == len(shapes) and all(size < 1 << 63 for size in sizes) else None


def dtensor(state: Any, shape: Offsets) -> Placed | None:
    """(None, {_local_tensor, _spec})"""
    said = attributes(state)
    spec, local = fields(said.get("_spec"), "DTensorSpec"), said.get("_local_tensor")
    placements = items(spec.get("placements"))
    if local is None or placements is None or len(placements) > DIMENSIONS:
        return None
    mesh = Mesh(spec.get("mesh"))
    kinds = [(family(node.dotted) if isinstance(node, Call) else "", fields(node)) for node in placements]
    partial = any("Partial" in kind for kind, _ in kinds)
    box = None if partial else _box(kinds, mesh, shape, spec.get("shard_order"))
    text = f"{', '.join(_spelled(kind, facts) for kind, facts in kinds) or 'no placements'} {mesh.text}"
    return Placed({"_local_tensor": local}, {} if box is None else {"_local_tensor": box}, text, partial)


ARGUMENTS = {"dim": "", "reduce_op": "", "split_factor": "split_factor="}  # of placements → how they are written


def _spelled(kind: str, facts: dict[str, Any]) -> str:
    """Shard(0), _StridedShard(0, split_factor=2), Replicate(), Partial(sum)"""
    words = [(label, _word(facts.get(field))) for field, label in ARGUMENTS.items()]
    inside = [label + word for label, word in words if word]
    return f"{readable(kind) or 'unknown'}({', '.join(inside)})"


def _word(fact: Any) -> str:
    """A number or name of an argument; "" for what is neither."""
    if type(fact) is int and fact.bit_length() < 64:
        return str(fact)
    return readable(fact) if type(fact) is str else ""


def _box(kinds: list[tuple[str, dict[str, Any]]], mesh: Mesh, shape: Offsets, order: Any) -> Box | None:
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


# -- ShardedTensor, LocalShardsWrapper ----------------------------------------------------------------------------------------


def sharded(state: Any, shape: Offsets) -> Placed | None:
    """(local shards, metadata, process group's state, sharding spec, whether there are remote references)"""
    if type(state) is not tuple or len(state) != 5 or type(state[0]) is not List:
        return None
    parts, boxes = {}, {}
    for i, node in enumerate(state[0].items):
        shard = fields(node, "Shard")
        where = fields(shard.get("metadata"), "ShardMetadata")
        parts[str(i)] = shard.get("tensor")
        box = inside(where.get("shard_offsets"), where.get("shard_sizes", where.get("shard_lengths")), shape)
        if box is not None:
            boxes[str(i)] = box
    everywhere = items(fields(state[1], "ShardedTensorMetadata").get("shards_metadata"))
    total = "" if everywhere is None else f" of {len(everywhere):,}"
    group = attributes(state[2].states[-1]) if isinstance(state[2], Call) and state[2].states else {}
    rank, size = group.get("global_rank"), group.get("global_world_size")
    known = type(rank) is int and type(size) is int and 0 <= rank < size < 1 << 63
    text = f"{len(parts):,}{total} shard{'' if total == ' of 1' or (not total and len(parts) == 1) else 's'}"
    return Placed(parts, boxes, f"{text}, rank {rank} of {size}" if known else text)


def inside(offsets: Any, sizes: Any, shape: Offsets) -> Box | None:
    """The box at these offsets; None where it does not lie inside the shape."""
    start, size = numbers(offsets), numbers(sizes)
    if start is None or size is None or not len(start) == len(size) == len(shape):
        return None
    fits = all(at + count <= most for at, count, most in zip(start, size, shape, strict=True))
    return (start, size) if fits else None


def wrapped(state: Any, shape: Offsets) -> Placed | None:
    """(None, {_local_shards, _storage_meta}): what a DTensor of several local tensors has for its local one."""
    said = attributes(state)
    shards, chunks = said.get("_local_shards"), items(fields(said.get("_storage_meta"), "TensorStorageMetadata").get("chunks"))
    if type(shards) is not List:
        return None
    count = len(shards.items)
    text = f"{count:,} local shard{'' if count == 1 else 's'}"
    where = [fields(node, "ChunkStorageMetadata") for node in chunks or ()] if chunks is not None and len(chunks) <= count else []
    at = ", ".join(str(list(start)) for start in (numbers(said.get("offsets")) for said in where[:8]) if start is not None)
    # these offsets count in the DTensor around it, whose size is not known here: they are told, and no boxes
    return Placed({str(i): node for i, node in enumerate(shards.items)}, {}, f"{text} at {at}" if at else text)


CLASSES = {"DTensor": dtensor, "ShardedTensor": sharded, "LocalShardsWrapper": wrapped}


# -- words ------------------------------------------------------------------------------------------------------------------


def holds(boxes: dict[str, Box], shape: Offsets) -> str:
    """What boxes hold of a tensor, in few words: "rows 3:5", "[0:5, 1:3]"; "" where there are none."""
    filled = [box for box in boxes.values() if prod(box[1]) or not prod(shape)]
    if boxes and not filled:
        return "nothing"
    said = [_words(box, shape) for box in filled[:4]]
    return " and ".join(said) + (f" and {len(filled) - 4:,} boxes more" if len(filled) > 4 else "")


def _words(box: Box, shape: Offsets) -> str:
    if box == ((0,) * len(shape), shape):
        return "all"
    spans = [f"{at}:{at + count}" for at, count in zip(*box, strict=True)]
    rows = len(shape) > 1 and box[0][1:] == (0,) * (len(shape) - 1) and box[1][1:] == shape[1:]
    return f"rows {spans[0]}" if rows else f"[{', '.join(spans)}]"
