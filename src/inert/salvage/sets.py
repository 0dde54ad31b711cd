"""What is left of a sharded set: every shard that can be read or salvaged, whatever its index says.

Knows: that the index can be made again from the shards, and that it names what was in those that are missing.
Refuses to know: what a shard is.
"""

from __future__ import annotations

from ..containers.folder import Folder, around
from ..errors import FormatError, InertError
from ..finding import ERROR, Finding
from ..formats import sharded
from ..formats.sharded import Shard, Sharded
from ..formats.sharded_index import INDEX, SHARD, Index, chosen, indexed, numbered, unnamed
from ..words import counted
from ..writers import File, Options, Plan, is_folder
from ..writers.sharded import index, named, stale
from .held import Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..source import Source

SUFFIXES = (".safetensors", ".bin", ".pt", ".pth", ".ckpt")


def _keys(shard: Shard) -> set[Any]:
    """The names in a shard that can be read."""
    value = shard.content.root()[0] if shard.content is not None and shard.fault is None else {}
    return set(value) if isinstance(value, dict) else set()


class SalvagedSet(Sharded):
    def __init__(self, folder: Folder, limits: Limits, index: Index, byteorder: str | None) -> None:
        super().__init__(folder, limits, index, byteorder)
        self.salvages: dict[str, Salvage] = {}
        self.unnamed: list[Finding] = []

    def shards(self) -> list[Shard]:
        """Every shard that the index names, and those beside it that hold what these do not."""
        if self._shards is None:
            found = [self._open(name) for name in self.index.shards]
            self._shards = found + self._beside(found)
        return super().shards()

    def _beside(self, named: list[Shard]) -> list[Shard]:
        """An index of another save names other shards, or not all of them."""
        known = set().union(*map(_keys, named))
        taken = []
        for name in unnamed(self.index, Folder.names(self.folder, self.limits)):
            shard = self._open(name)
            keys = _keys(shard) - known
            if keys:
                text = f"the index does not name it; it holds {counted(len(keys), 'tensor')} that no shard of the index does"
                self.unnamed.append(Finding("shard-unnamed", text, name))
                taken.append(shard)
                known |= keys
        return taken

    def _open(self, name: str) -> Shard:
        from . import salvage

        shard = Shard(name)
        try:
            source = self.folder.open(name)
            found = salvage(source, (), self.limits, self.byteorder, inner=True)
            found.content.pickles()
            found.content.root()
        except FileNotFoundError:
            shard.fault = self._fault(shard, "shard-missing", "the shard is not there")
        except OSError as error:
            shard.fault = self._fault(shard, "shard-unreadable", error.strerror or str(error))
        except InertError as error:
            code = "shard-path" if "is refused" in error.message else "shard-unreadable"
            shard.fault = self._fault(shard, code, error.message, error.offset)
        else:
            if found.content.format == self.format:
                shard.fault = self._fault(shard, "shard-unreadable", "it is a set of its own")
                return shard
            shard.content = found.content
            shard.content.label = f"{name}/"
            self.salvages[name] = found
        return shard


def read(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    found = _found(source, limits)
    if found is None:
        return None
    folder, listing, notes = found
    content = SalvagedSet(folder, limits, listing, byteorder)
    value, _ = content.root()
    made = Salvage(content)
    made.notes = notes + content.unnamed
    for name, one in content.salvages.items():
        made.notes += [Finding(note.code, note.message, f"{name}/{note.where.part}", note.where.offset, note.tensors) for note in one.notes]
        made.lost += one.lost
        longer: dict[str, str] = getattr(one.content, "longer", {})
        made.doubts |= {f"{name}/{key}": why for key, why in (longer | one.doubts).items()}
        made.more = made.more or (f"{name}: {one.more}" if one.more else "")
    faults = {shard.name: shard.fault for shard in content.shards() if shard.fault is not None}
    known = set(value) | {name for name, _ in made.lost}
    for name, shard in (listing.where or {}).items():
        if name not in known:
            fault = faults.get(shard)
            made.lost.append((name, f"{shard}: {fault.message}" if fault is not None else f"{shard} does not hold it"))
    unnamed = [name for name in faults if listing.where is None]
    if unnamed or any(note.code == "shard-missing" and not note.tensors for note in content.notes()):
        made.more = made.more or "without an index, what the missing shards held is not known"
    made.healed = lambda options: again(content, options)
    return made


def _found(source: Source, limits: Limits) -> tuple[Folder, Index, list[Finding]] | None:
    """The folder and the index; where that is damaged, the shards themselves."""
    folder: Folder | None
    if isinstance(source, Folder):
        name = chosen(source.names(limits))
        if name is None:
            return None
        folder = source
    else:
        base = source.name.replace("\\", "/").rpartition("/")[2]
        if not INDEX.search(base) and sharded.claims(source, limits) is None:
            return None
        folder, name = around(source), base
        if folder is None:
            return None
    try:
        return folder, indexed(folder, name, source, limits) if name else numbered(folder, limits), []
    except FormatError as error:
        note = Finding("shards-index", error.message, name, error.offset)
    names = Folder.names(folder, limits)
    if any(SHARD.match(one) for one in names):
        return folder, numbered(folder, limits), [note]
    files = [one for suffix in SUFFIXES for one in names if one.endswith(suffix)]
    kind = next((suffix for suffix in SUFFIXES if any(one.endswith(suffix) for one in files)), "")
    files = [one for one in files if one.endswith(kind)]
    if not files:
        raise FormatError(f"nothing can be recovered: {note.message}; and there are no shards", part=folder.name)
    return folder, Index("", files, None, {}, [note]), []


# -- the same set again -------------------------------------------------------------------------------------------------------------


def again(content: SalvagedSet, options: Options) -> Plan | None:
    """The shards that are whole, byte for byte, with an index of what is in them; None where one of them is not whole."""
    names = named(Options(options.name, inner=_inner(content) if is_folder(options.name) else options.inner))
    sound = [shard for shard in content.shards() if shard.content is not None and shard.fault is None]
    if any(shard.content is not None and not _sound(content, shard) for shard in sound) or not sound:
        return None
    if any(not shard.name.endswith(names.kind) for shard in sound):
        return None
    owners = content.owners()
    files: list[File] = []
    where: dict[str, str] = {}
    for number, shard in enumerate(sound, 1):
        assert shard.content is not None
        name, span = names.shard(number, len(sound)), shard.content.source.span()
        files.append(File(name, span.length, lambda out, span=span: out.pour(span)))  # type: ignore[misc]
        where |= dict.fromkeys((str(key) for key in shard.keys if owners.get(key) == shard.name), name)
    value = content.root()[0]
    where = {str(key): where[str(key)] for key in value if str(key) in where}
    if len(files) > 1:
        total = _total(value)
        files.append(index(names, total, _said(content), where))
    return Plan(files, [], stale(names, options.name, {file.name for file in files}), names.inside)


def _sound(content: SalvagedSet, shard: Shard) -> bool:
    """Whether a shard can be copied as it is: nothing was wrong with it, and none of its tensors counts elsewhere."""
    found = content.salvages[shard.name]
    one = shard.content
    assert one is not None
    if found.notes or found.lost or found.doubts or not one.source.whole or one.wrappers:
        return False
    return not any(note.severity == ERROR for note in one.notes()) and all(
        owner == shard.name for key, owner in content.owners().items() if key in shard.keys
    )


def _inner(content: Sharded) -> str:
    return "safetensors" if content.formats <= {"safetensors"} else "torch-zip"


def _said(content: Sharded) -> dict[str, str]:
    return {key: text for key, text in content.metadata().items() if key not in ("total_size", "format")}


def _total(value: dict[object, object]) -> int:
    from ..tensor import Tensor

    once = {(one.storage or one, one.offset): one.nbytes for one in value.values() if isinstance(one, Tensor)}
    return sum(once.values())
