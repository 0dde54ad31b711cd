"""What torch.distributed.checkpoint says in ``.metadata``: nodes → which chunk of which tensor lies where.

Knows: the fields of Metadata, TensorStorageMetadata, ChunkStorageMetadata, MetadataIndex and _StorageInfo, as torch 2.0 to 2.13 has them.
Refuses to know: files; and any class. Names are compared, objects are read by their fields, and what does not fit raises ``Odd``.

Facts: torch 2.13 torch/distributed/checkpoint/metadata.py and filesystem.py; torch 2.0 and 2.6 (same files, and real folders of each).
"""

from __future__ import annotations

from ..pickle.nodes import Call, Dict, List, shown
from .arguments import Odd, dtype_of, integers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType

METADATA = "torch.distributed.checkpoint.metadata.Metadata"
CHUNKS = 1 << 22  # chunks and records of one checkpoint


class Place:
    """Where a record lies: ``length`` bytes from ``offset`` of a file. ``coded``: what must be undone first, "" for nothing."""

    __slots__ = ("coded", "file", "length", "offset")

    def __init__(self, file: str, offset: int, length: int, coded: str) -> None:
        self.file = file
        self.offset = offset
        self.length = length
        self.coded = coded


class Entry:
    """A name of the saved state: a tensor with its chunks (offsets, shape), or ``dtype`` None and no chunks for any other value."""

    __slots__ = ("chunks", "dtype", "shape")

    def __init__(self, dtype: DType | None, shape: tuple[int, ...], chunks: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
        self.dtype = dtype
        self.shape = shape
        self.chunks = chunks


class Plan:
    """All of it. ``entries`` by name; ``paths``: name → keys; ``places``: (name, offsets or None) → Place; ``odd``: (name, why)."""

    def __init__(self, root: Any) -> None:
        said = fields(root, METADATA)
        self.entries: dict[str, Entry] = {}
        self.paths: dict[str, tuple[Any, ...]] = {}
        self.places: dict[tuple[str, tuple[int, ...] | None], Place] = {}
        self.odd: list[tuple[str, str]] = []
        self.version = said.get("version")
        for name, node in pairs(said.get("state_dict_metadata")):
            self._try(shown(name) if type(name) is not str else name, lambda name=name, node=node: self._entry(name, node))
        for name, path in pairs(said.get("planner_data")):
            if type(name) is str and type(path) is tuple and path and all(type(key) in (str, int) for key in path):
                self.paths[name] = path
        for key, node in pairs(said.get("storage_data")):
            self._try("storage_data", lambda key=key, node=node: self._place(key, node))

    def _try(self, name: str, make: Any) -> None:
        try:
            make()
        except Odd as odd:
            if len(self.odd) < 100:
                self.odd.append((name, str(odd)))

    def _entry(self, name: Any, node: Any) -> None:
        if type(name) is not str:
            raise Odd("its name is no text")
        self.entries[name] = entry(node)

    def _place(self, key: Any, node: Any) -> None:
        index, info = fields(key, ""), fields(node, "")
        name, offset = index.get("fqn"), index.get("offset")
        file, start, length = (info.get(field) for field in ("relative_path", "offset", "length"))
        if type(name) is not str or type(file) is not str or not all(type(n) is int and 0 <= n < 1 << 63 for n in (start, length)):
            raise Odd("a record's place is no file, offset and length")
        coded = info.get("transform_descriptors")
        coded = shown(coded) if coded is not None and not (type(coded) is List and not coded.items) and coded != () else ""
        self.places[name, None if offset is None else integers(offset)] = Place(file, start, length, coded)  # type: ignore[arg-type]


def fields(node: Any, dotted: str) -> dict[Any, Any]:
    """The fields of an object's node, by its last state; of this class, where one is given."""
    if not isinstance(node, Call) or (dotted and node.dotted != dotted):
        raise Odd(f"{shown(node)} where {dotted or 'an object'} is expected")
    state = node.states[-1] if node.states else None
    if type(state) is tuple and len(state) == 2 and type(state[1]) is Dict:
        state = state[1]  # slots
    return {key: value for key, value in pairs(state) if type(key) is str}


def pairs(node: Any) -> list[tuple[Any, Any]]:
    """The items of a dict; those of anything else are none."""
    found = list(node.pairs()) if type(node) is Dict else []
    if len(found) > CHUNKS:
        raise Odd(f"{len(found):,} entries")
    return found


def entry(node: Any) -> Entry:
    said = fields(node, "")
    if "chunks" not in said or "properties" not in said:
        return Entry(None, (), [])
    chunks = said["chunks"]
    if type(chunks) is not List or len(chunks.items) > CHUNKS:
        raise Odd("its chunks are no list")
    boxes = [fields(chunk, "") for chunk in chunks.items]
    found = [(integers(box.get("offsets")), integers(box.get("sizes"))) for box in boxes]
    return Entry(_dtype(said["properties"]), integers(said.get("size")), found)


def _dtype(node: Any) -> DType:
    """TensorProperties: a tuple as state, the element type first; or fields."""
    state = node.states[-1] if isinstance(node, Call) and node.states else None
    if type(state) is tuple and state and type(state[0]) is not Dict and state[0] is not None:
        return dtype_of(state[0])
    return dtype_of(fields(node, "").get("dtype"))
