"""sharded: one checkpoint in several files, as Hugging Face writes it: an index that says which tensor lies where, or only numbered shards.

Knows: the index (``weight_map``, ``metadata``), the names of shards and indexes, and how the parts make one dictionary. The index is read
at once; listing reads the header or pickle of every shard, because only these know shapes; data is read from the one shard it lies in.
Refuses to know: what a shard is. Its content decides, and whatever format reads it gives its tensors; a shard is never an index again.

Missing, unreadable, escaping shards and names that do not lie where the index says are noted; the others are read. Where no shard can be
read at all there is no answer: FormatError. ``inert.load`` refuses a set that is not whole.

Facts: transformers 4.57 (modeling_utils.load_sharded_checkpoint, utils/hub.py), huggingface_hub 1.0 (serialization/_torch.py), and real
folders of each. Shards are numbered from 1: NAME-00001-of-00003.EXT.
"""

from __future__ import annotations

import re

from ..checkpoint import Content, Part
from ..containers.folder import Folder, around, unsafe
from ..containers.jsontext import parse
from ..errors import FormatError, InertError, LimitError, UnsupportedError
from ..finding import ERROR, Finding
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source

INDEX = re.compile(r".\.index(?:\.[\w-]+)?\.json$")
SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})((?:\.[\w-]+)?\.(?:safetensors|bin|pt|pth|ckpt))$")
KINDS = (".safetensors", ".bin")  # of several sets in a folder the first of these is taken, as transformers does
HEAD = 1 << 20  # bytes in which the name of the map is looked for
SHOWN = 5  # names in one sentence


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


def claims(source: Source, limits: Limits) -> tuple[Folder, str] | None:
    """(folder, name of the index in it, "" where there are only shards)."""
    if isinstance(source, Folder):
        found = _chosen(source.names(limits))
        return None if found is None else (source, found)
    head = source.read(0, min(64, source.size)).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.startswith(b"{"):
        return None
    if not INDEX.search(source.name) and b'"weight_map"' not in source.read(0, min(HEAD, source.size)):
        return None
    folder = around(source)
    if folder is None:
        raise UnsupportedError("the index of a sharded checkpoint names files beside it, and a stream has none", hint="open it by its path")
    return folder, source.name.replace("\\", "/").rpartition("/")[2]


def _chosen(names: list[str]) -> str | None:
    """The index to read in a folder with these files; "" for shards without one; None where there is neither."""
    indexes = sorted((name for name in names if INDEX.search(name)), key=lambda name: (_rank(name), len(name), name))
    if indexes and _rank(indexes[0]) < len(KINDS):
        return indexes[0]
    return "" if any(SHARD.match(name) for name in names) else None


def _rank(name: str) -> int:
    return next((rank for rank, kind in enumerate(KINDS) if f"{kind}." in f"{name}."), len(KINDS))


def read(source: Source, limits: Limits, claim: tuple[Folder, str], byteorder: str | None) -> Sharded:
    folder, name = claim
    try:
        index = _indexed(folder, name, source, limits) if name else _numbered(folder, limits)
        return Sharded(folder, limits, index, byteorder)
    except BaseException:
        folder.close()
        raise


# -- the index ------------------------------------------------------------------------------------------------------------------


def _indexed(folder: Folder, name: str, source: Source, limits: Limits) -> Index:
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
        notes.append(Finding("shards-choice", f"{name} was read; there {_are(others)}", folder.name))
    return Index(name, sorted(dict.fromkeys(where.values())), where, metadata, notes)


def _numbered(folder: Folder, limits: Limits) -> Index:
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
        notes.append(Finding("shards-choice", f"{stem}-…-of-{count}{kind} was read; there {_are(said)}", folder.name))
    notes.append(Finding("shards-no-index", "the folder holds no index of its shards", folder.name))
    return Index("", sets[first], None, {}, notes)


def _absent(names: Iterable[str]) -> list[str]:
    """The files that numbered names promise and that are not among them."""
    found: dict[tuple[str, str, str], set[int]] = {}
    for name in names:
        match = SHARD.match(name)
        if match is not None:
            found.setdefault((match[1], match[3], match[4]), set()).add(int(match[2]))
    return [f"{a}-{n:05}-of-{b}{c}" for (a, b, c), numbers in found.items() for n in range(1, int(b) + 1) if n not in numbers]


def _list(names: Iterable[str]) -> str:
    shown = list(names)
    return ", ".join(name[:80] for name in shown[:SHOWN]) + (f" and {len(shown) - SHOWN:,} more" if len(shown) > SHOWN else "")


def _are(names: list[str]) -> str:
    return f"{'is' if len(names) == 1 else 'are'} also {_list(names)}"


# -- the set --------------------------------------------------------------------------------------------------------------------


class Shard:
    """One file of the set: its Content, or the Finding that says why there is none."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.content: Content | None = None
        self.fault: Finding | None = None
        self.keys: set[Any] = set()


class Sharded(Content):
    format = "sharded"

    def __init__(self, folder: Folder, limits: Limits, index: Index, byteorder: str | None) -> None:
        super().__init__(folder, limits)
        self.folder = folder
        self.index = index
        self.byteorder = byteorder
        self._shards: list[Shard] | None = None
        self._named: dict[str, list[str]] | None = None

    def shards(self) -> list[Shard]:
        """Every shard, opened. FormatError where none of them can be read."""
        if self._shards is None:
            found = [self._open(name) for name in self.index.shards]
            self._shards = found
        faults = [shard.fault for shard in self._shards if shard.fault is not None]
        if faults and len(faults) == len(self._shards):
            count = len(faults)
            text = "its only shard cannot be read" if count == 1 else f"none of its {count:,} shards can be read"
            raise FormatError(f"{text}: {faults[0].where}: {faults[0].message}", part=self.folder.name, hint=faults[0].fix)
        return self._shards

    def _open(self, name: str) -> Shard:
        from . import FORMATS, identify

        shard = Shard(name)
        try:
            source = self.folder.open(name)
        except FormatError as error:
            shard.fault = self._fault(shard, "shard-path", error.message)
            return shard
        except FileNotFoundError:
            shard.fault = self._fault(shard, "shard-missing", "the shard is not there")
            return shard
        except OSError as error:
            shard.fault = self._fault(shard, "shard-unreadable", error.strerror or str(error))
            return shard
        try:
            shard.content = identify(source, self.limits, self.byteorder, [one for one in FORMATS if one.id != self.format])
            shard.content.label = f"{name}/"
        except InertError as error:
            shard.fault = self._fault(shard, "shard-unreadable", error.message, error.offset)
        return shard

    def _fault(self, shard: Shard, code: str, message: str, offset: int | None = None) -> Finding:
        if self._named is None:
            where = self.index.where or {}
            self._named = grouped(where, where)
        return Finding(code, message, shard.name, offset, tuple(self._named.get(shard.name, ())))

    def _each(self, ask: Callable[[Content], Any]) -> Iterator[tuple[Shard, Any]]:
        """What each readable shard answers; one that cannot answer is unreadable from then on."""
        for shard in self.shards():
            if shard.content is None or shard.fault is not None:
                continue
            try:
                answer = ask(shard.content)
            except InertError as error:
                shard.fault = self._fault(shard, "shard-unreadable", error.message, error.offset)
                continue
            yield shard, answer
        self.shards()

    @property
    def formats(self) -> set[str]:
        """The formats of its shards."""
        return {shard.content.format for shard in self.shards() if shard.content is not None}

    # -- what a checkpoint is asked -------------------------------------------------------------------------------------------

    def pickles(self) -> dict[str, Document]:
        return {f"{shard.name}/{name}": made for shard, found in self._each(lambda one: one.pickles()) for name, made in found.items()}

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        union = Union(self.index)
        for shard, (value, notes) in self._each(lambda one: one.root()):
            union.add(shard, value)
            union.notes += [_moved(note, shard.name) for note in notes]
        union.compare(self.shards())
        if convert is None:
            return union.found, union.notes
        torn = [note for note in [*self._faults(), *union.notes] if note.severity == ERROR and note.code.startswith("shard-")]
        if torn:
            hint = "inert.open gives the tensors that are there"
            raise FormatError(f"the set is not whole: {torn[0].where}: {torn[0].message}", part=self.folder.name, hint=hint)
        whole: dict[Any, Any] = {}
        taken = grouped(union.owner, union.owner)
        for shard in self.shards():
            if shard.content is not None:
                value = shard.content.root(convert)[0]
                whole |= {key: value[key] for key in taken.get(shard.name, ())} if isinstance(value, dict) else {shard.name: value}
        return {key: whole[key] for key in union.found}, union.notes

    def parts(self) -> dict[str, Part]:
        made = {}
        if self.index.name:
            file = self.folder.place(self.index.name)
            made[self.index.name] = Part(self.index.name, file, 0, self.folder.size_of(self.index.name), "index")
        for shard, parts in self._each(lambda one: one.parts()):
            assert shard.content is not None
            source = shard.content.source
            made[shard.name] = Part(shard.name, source.name, 0, source.size, "shard")
            for name, part in parts.items():
                inner = f"{shard.name}/{part.name}"
                made[f"{shard.name}/{name}"] = Part(inner, part.file, part.offset, part.size, part.role, part.compressed, part.crc32)
        return made

    def metadata(self) -> dict[str, str]:
        """The index's, with numbers as texts; and what each safetensors shard says of itself."""
        found = {key: str(value) for key, value in self.index.metadata.items() if type(value) not in (dict, list, type(None))}
        for shard, said in self._each(lambda one: one.metadata()):
            if shard.content is not None and shard.content.format == "safetensors":
                found = {**said, **found}
        return found

    def notes(self) -> list[Finding]:
        inner = [_moved(note, shard.name) for shard, notes in self._each(lambda one: one.notes()) for note in notes]
        return [*self.index.notes, *self._faults(), *inner]

    def _faults(self) -> Iterator[Finding]:
        yield from (shard.fault for shard in self.shards() if shard.fault is not None)
        absent = _absent(name for name in self.index.shards if not unsafe(name))
        if absent:
            code = "shard-missing" if self.index.where is None else "shards-count"
            yield Finding(code, f"by their numbers there should also be {_list(absent)}", self.folder.name)


def _moved(note: Finding, shard: str) -> Finding:
    """A shard's note as one of the set."""
    part = note.where.part
    return Finding(note.code, note.message, part if shard in part else f"{shard}/{part}", note.where.offset, note.tensors)


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
            self.notes.append(Finding("shard-stray", f"the index does not know {_list(hit)}", name, None, hit))
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
            text = f"the index places {_list(keys)} there, in vain" + (f"; some lie in {_list(other)}" if other else "")
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
