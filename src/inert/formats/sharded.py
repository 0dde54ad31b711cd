"""sharded: one checkpoint in several files, as Hugging Face writes it: an index that says which tensor lies where, or only numbered shards.

Knows: how the shards of a set are opened and asked. The index (sharded_index.py) is read at once; listing reads the header or pickle of
every shard, because only these know shapes; data is read from the one shard it lies in.
Refuses to know: what a shard is. Its content decides, and whatever format reads it gives its tensors; a shard is never an index again.

Missing, unreadable, escaping shards and names that do not lie where the index says are noted; the others are read. Where no shard can be
read at all there is no answer: FormatError. ``inert.load`` refuses a set that is not whole.
"""

from __future__ import annotations

from ..containers.folder import Folder, around, unsafe
from ..content import Content, Part
from ..errors import FormatError, InertError, UnsupportedError
from ..finding import ERROR, Finding, listed
from ..tensor import Tensor
from .safetensors import aliases_in
from .sharded_index import INDEX, absent_of, chosen, indexed, numbered, unnamed
from .sharded_union import Union, grouped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source
    from .sharded_index import Index

HEAD = 1 << 20  # bytes in which the name of the map is looked for


def claims(source: Source, limits: Limits) -> tuple[Folder, str] | None:
    """(folder, name of the index in it, "" where there are only shards)."""
    if isinstance(source, Folder):
        found = chosen(source.names(limits))
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


def read(source: Source, limits: Limits, claim: tuple[Folder, str], byteorder: str | None) -> Sharded:
    folder, name = claim
    try:
        index = indexed(folder, name, source, limits) if name else numbered(folder, limits)
        return Sharded(folder, limits, index, byteorder)
    except BaseException:
        folder.close()
        raise


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
            others = unnamed(self.index, self.folder.names(self.limits))
            hint = f"there is {listed(others)}, which the index does not name: `inert repair SRC DST` reads that"
            said = f"{text}: {faults[0].where}: {faults[0].message}"
            raise FormatError(said, part=self.folder.name, hint=hint if others else faults[0].fix)
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

    def owners(self) -> dict[Any, str]:
        """Which shard each name is taken from."""
        union = Union(self.index)
        for shard, (value, _) in self._each(lambda one: one.root()):
            union.add(shard, value)
        return union.owner

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

    def aliases(self, names: Collection[Any]) -> dict[str, str]:
        if self.formats != {"safetensors"}:
            return {}
        odd = any(note.code == "safetensors-metadata" for _, notes in self._each(lambda one: one.notes()) for note in notes)
        return {} if odd else aliases_in(self.metadata(), names)

    def checks(self) -> tuple[Any, ...]:
        from . import set_checks

        return (set_checks.shards,)

    def notes(self) -> list[Finding]:
        inner = [_moved(note, shard.name) for shard, notes in self._each(lambda one: one.notes()) for note in notes]
        return [*self.index.notes, *self._faults(), *inner]

    def _faults(self) -> Iterator[Finding]:
        yield from (shard.fault for shard in self.shards() if shard.fault is not None)
        absent = absent_of(name for name in self.index.shards if not unsafe(name))
        if absent:
            code = "shard-missing" if self.index.where is None else "shards-count"
            yield Finding(code, f"by their numbers there should also be {listed(absent)}", self.folder.name)


def _moved(note: Finding, shard: str) -> Finding:
    """A shard's note as one of the set."""
    part = note.where.part
    return Finding(note.code, note.message, part if shard in part else f"{shard}/{part}", note.where.offset, note.tensors)
