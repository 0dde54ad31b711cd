"""Which shard holds which tensor: an index of Hugging Face's, or only the shards' numbers.

Knows: the index (``weight_map``, ``metadata``), the names of shards and indexes, and which of several sets in a folder is taken.
Refuses to know: what a shard is, and how the parts make one dictionary.

Facts: transformers 4.57 (modeling_utils.load_sharded_checkpoint, utils/hub.py), huggingface_hub 1.0 (serialization/_torch.py), and real
folders of each. Shards are numbered from 1: NAME-00001-of-00003.EXT.
"""

from __future__ import annotations

import os
import re

from ..containers.folder import Folder
from ..containers.jsontext import parse
from ..errors import FormatError, LimitError
from ..finding import Finding, are

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..limits import Limits
    from ..source import Source

INDEX = re.compile(r".\.index(?:\.[\w-]+)?\.json$")
SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})((?:\.[\w-]+)?\.(?:safetensors|bin|pt|pth|ckpt))$")
KINDS = (".safetensors", ".bin")  # of several sets in a folder the first of these is taken, as transformers does


class Index:
    """Which shard holds which tensor. ``shards``: every file that is named, in order; ``where``: tensor → shard, None without an index."""

    def __init__(
        self, name: str, shards: Iterable[str], where: dict[str, str] | None, metadata: dict[str, Any], notes: list[Finding]
    ) -> None:
        self.name = name
        self.shards = list(shards)
        self.where = where
        self.metadata = metadata
        self.notes = notes


def chosen(names: list[str]) -> str | None:
    """The index to read in a folder with these files; "" for shards without one; None where there is neither."""
    indexes = sorted((name for name in names if INDEX.search(name)), key=lambda name: (_rank(name), len(name), name))
    if indexes and _rank(indexes[0]) < len(KINDS):
        return indexes[0]
    return "" if any(SHARD.match(name) for name in names) else None


def _rank(name: str) -> int:
    return next((rank for rank, kind in enumerate(KINDS) if f"{kind}." in f"{name}."), len(KINDS))


def indexed(folder: Folder, name: str, source: Source, limits: Limits) -> Index:
    file = folder.open(name) if source is folder else source
    if file.size > limits.json_bytes:
        raise LimitError(f"an index of {file.size:,} bytes", part=file.name, hint="raise Limits.json_bytes")
    value, twice = parse(file.read(0, file.size), file.name, limits)
    names = value.get("weight_map") if type(value) is dict else None
    if type(names) is not dict:
        wrong = "is no object" if type(value) is dict and "weight_map" in value else "is missing"
        raise FormatError(f"weight_map {wrong}, so the index says of no tensor where it lies", part=file.name, hint="open the shards")
    notes = [Finding("shards-index", f"{key[:80]!r} stands twice; the last was used", file.name, at) for key, at in twice[:100]]
    where: dict[str, str] = {}
    for tensor, shard in names.items():
        if type(shard) is str:
            where[tensor] = shard
        else:
            notes.append(Finding("shards-index", "a tensor's shard is no text", file.name, None, (tensor,)))
    metadata = value.get("metadata", {})
    if type(metadata) is not dict:
        notes.append(Finding("shards-index", "metadata is no object", file.name))
        metadata = {}
    others = [other for other in folder.names(limits) if INDEX.search(other) and other != name] if source is folder else []
    if others:
        notes.append(Finding("shards-choice", f"{name} was read; there {are(others)}", folder.name))
    return Index(name, sorted(dict.fromkeys(where.values())), where, metadata, notes)


def numbered(folder: Folder, limits: Limits) -> Index:
    """The shards of a folder without an index: those of one set, all numbers that it should have."""
    sets: dict[tuple[int, str, str, str], list[str]] = {}
    for name in folder.names(limits):
        match = SHARD.match(name)
        if match is not None:
            stem, _, count, kind = match.groups()
            sets.setdefault((_rank(name), stem, count, kind), []).append(name)
    first, *others = sorted(sets)
    _, stem, count, kind = first
    notes = []
    if others:
        said = [f"{name}-…-of-{total}{suffix}" for _, name, total, suffix in others]
        notes.append(Finding("shards-choice", f"{stem}-…-of-{count}{kind} was read; there {are(said)}", folder.name))
    notes.append(Finding("shards-no-index", "the folder holds no index of its shards", folder.name))
    return Index("", sets[first], None, {}, notes)


def unnamed(index: Index, names: Iterable[str]) -> list[str]:
    """Of the files in an index's folder, those numbered like its shards that it does not name; the sets that are whole come first."""
    if index.where is None:
        return []
    matches = [match for match in map(SHARD.match, index.shards) if match is not None]
    kinds = {(match[1], match[4]) for match in matches} | {_shards_of(index.name)}
    found: dict[str, list[str]] = {}
    for name in names:
        match = SHARD.match(name)
        if match is not None and (match[1], match[4]) in kinds and name not in index.shards:
            found.setdefault(match[3], []).append(name)
    whole = {match[3] for match in matches}
    return [name for count in sorted(found, key=lambda one: (one in whole, len(found[one]) < int(one), one)) for name in found[count]]


def _shards_of(index: str) -> tuple[str, str]:
    """(what the names of its shards begin with, how they end) by the name of an index."""
    stem, suffix = os.path.splitext(index[: index.rindex(".index.")] if ".index." in index else index)
    return stem, suffix


def absent_of(names: Iterable[str]) -> list[str]:
    """The files that numbered names promise and that are not among them."""
    found: dict[tuple[str, str, str], set[int]] = {}
    for name in names:
        match = SHARD.match(name)
        if match is not None:
            found.setdefault((match[1], match[3], match[4]), set()).add(int(match[2]))
    return [f"{a}-{n:05}-of-{b}{c}" for (a, b, c), numbers in found.items() for n in range(1, int(b) + 1) if n not in numbers]
