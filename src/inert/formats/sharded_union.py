"""One dictionary of all shards, held against what their index says.

Knows: in which order names come, which of two shards counts that hold the same name, and what an index may say wrongly.
Refuses to know: how shards are found, opened and read.

Facts: transformers 4.57 (modeling_utils.load_sharded_checkpoint); huggingface_hub 1.0 (serialization/_torch.py).
"""

from __future__ import annotations

from ..finding import Finding, listed
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .sharded import Shard
    from .sharded_index import Index


def grouped(keys: Iterable[Any], owner: dict[Any, str]) -> dict[str, list[Any]]:
    """Keys by the shard that each lies in."""
    found: dict[str, list[Any]] = {}
    for key in keys:
        found.setdefault(owner[key], []).append(key)
    return found


class Union:
    """One dictionary of all shards: in the index's order where there is one."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.where = index.where or {}
        self.found: dict[Any, Any] = {}
        self.owner: dict[Any, str] = {}
        self.notes: list[Finding] = []
        self.twice: dict[str, list[str]] = {}  # shards → names that lie in both

    def add(self, shard: Shard, value: Any) -> None:
        if not isinstance(value, dict):
            self.notes.append(Finding("shards-odd", f"it holds a {type(value).__name__} instead of a dictionary", shard.name))
            value = {shard.name: value}
        shard.keys = set(value)
        for key, item in value.items():
            first = self.owner.get(key)
            if first is not None:
                self.twice.setdefault(f"{first} and {shard.name}", []).append(str(key))
                if self.where.get(key) == first:
                    continue
            self.found[key], self.owner[key] = item, shard.name

    def compare(self, shards: list[Shard]) -> None:
        """Hold what was found against what the index says."""
        for both, names in self.twice.items():
            kept = "the index decided" if self.index.where is not None else "the last was used"
            self.notes.append(
                Finding("shard-duplicate", f"{len(names):,} names lie in {both}; {kept}", self.index.name, None, tuple(names))
            )
        if self.index.where is None:
            return
        self._ghosts({shard.name: shard for shard in shards if shard.fault is None})
        stray = [key for key in self.found if key not in self.where]
        for name, keys in grouped(stray, self.owner).items():
            hit = tuple(map(str, keys))
            self.notes.append(Finding("shard-stray", f"the index does not know {listed(hit)}", name, None, hit))
        self.found = {**{key: self.found[key] for key in self.where if key in self.found}, **{key: self.found[key] for key in stray}}
        if len(self.where.keys() & self.found.keys()) == len(self.where):
            self._total()

    def _ghosts(self, sound: dict[str, Shard]) -> None:
        absent: dict[str, list[str]] = {}
        for key, name in self.where.items():
            if key not in sound[name].keys if name in sound else key in self.owner:
                absent.setdefault(name, []).append(key)
        for name, keys in absent.items():
            other = dict.fromkeys(self.owner[key] for key in keys if key in self.owner)
            text = f"the index places {listed(keys)} there, in vain" + (f"; some lie in {listed(other)}" if other else "")
            self.notes.append(Finding("shard-ghost", text, name, None, tuple(keys)))

    def _total(self) -> None:
        """total_size counts each tensor, tied ones once or, in some writers, each time."""
        said = self.index.metadata.get("total_size")
        if type(said) not in (int, float):
            return
        tensors = [value for value in self.found.values() if isinstance(value, Tensor)]
        once = {(tensor.storage or tensor, tensor.offset): tensor.nbytes for tensor in tensors}
        sizes = (sum(once.values()), sum(tensor.nbytes for tensor in tensors))
        if said not in sizes:
            self.notes.append(Finding("shards-total", f"total_size says {said:,} bytes; the tensors take {sizes[0]:,}", self.index.name))
