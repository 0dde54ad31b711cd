"""Tensors of torch.distributed in the file of one rank: which part of the whole tensor that file holds.

Knows: how DTensor, ShardedTensor and LocalShardsWrapper keep their local tensors, and how their placement is told.
Refuses to know: any class (names are compared, fields are read by name: distributed.py), the arithmetic of cuts (cuts.py), and where data
lies. What does not fit gives no box, never an error: the local tensors can be read all the same.

Facts: torch 2.13 torch/distributed/tensor (placement_types.py, _dtensor_spec.py), _shard/sharded_tensor (api.py, shard.py, metadata.py);
real files of torch 1.13 (ShardedTensor), 2.1, 2.3, 2.6, 2.9 and 2.13; torch 1.10 to 1.12 (api.py: ShardedTensor, there no tensor but an
object).
"""

from __future__ import annotations

from math import prod

from ..pickle.nodes import Call, List
from .cuts import box_of
from .distributed import DIMENSIONS, attributes, family, fields, items, numbers, readable
from .mesh import Mesh

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .cuts import Box
    from .distributed import Offsets


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


def cost(state: Any) -> int:
    """How many local tensors a state lists, at most: what ``placed`` may do for it."""
    return sum(len(part.items) for part in (state if type(state) is tuple else (state,)) if type(part) is List)


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
    box = None if partial else box_of(kinds, mesh, shape, spec.get("shard_order"))
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
