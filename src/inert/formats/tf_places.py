"""Where the files of a TensorFlow checkpoint are: whatever of it somebody names leads to its prefix.

Knows: the names that TensorFlow gives: PREFIX.index and PREFIX.data-00000-of-00001, PREFIX.meta, the state file ``checkpoint``, a
SavedModel's variables/variables, the parts of a save that was never merged (PREFIX_temp*/part-00000-of-00002), and of the first version
PREFIX or PREFIX-00000-of-00003.
Refuses to know: what is in a table or a shard. Paths that a state file gives are looked for inside its own folder only, whoever's
absolute paths they were.

Facts: TensorFlow 2.21 checkpoint_management.py, tensor_bundle/naming.cc, saver.py (_get_checkpoint_filename), save_restore_v2_ops.cc.
"""

from __future__ import annotations

import os
import re

from ..containers.archived import Archived, Member
from ..containers.folder import Folder, Prefix, around, unsafe
from ..containers.protowire import DELIMITED, fields
from ..containers.sstable import Table, is_table
from ..errors import FormatError, InertError
from ..finding import Finding
from .tf_state import candidates, named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..limits import Limits
    from ..source import Source

INDEX, META, STATE = ".index", ".meta", "checkpoint"
DATA = re.compile(r"(.+)\.data-(\d{5,10})-of-(\d{5,10})", re.S)
PIECE = re.compile(r"(.+)(?<!\.data)-(\d{5,10})-of-(\d{5,10})", re.S)
PART = re.compile(r"(part)-(\d{5,10})-of-(\d{5,10})\.index")
TEMPORARY = re.compile(r"_temp(?:_[0-9a-f]{32})?$")
STEP = re.compile(r"(\d+)\D*$")
SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")
VARIABLES = "variables/variables"
FEW = 100  # files of a folder that are all looked into for a table

BUNDLE, V1 = "bundle", "v1"


class Place:
    """A checkpoint's files: those of ``stems`` in ``folder`` (several where parts were never merged). ``file``: the table that was named
    itself, where it was; ``folder`` is None for a stream, which has nothing beside it."""

    __slots__ = ("file", "folder", "kind", "notes", "stems")

    def __init__(self, kind: str, folder: Folder | None, stems: list[str], file: Source | None = None) -> None:
        self.kind = kind
        self.folder = folder
        self.stems = stems
        self.file = file
        self.notes: list[Finding] = []

    def noted(self, *notes: Finding) -> Place:
        self.notes = [*notes, *self.notes]
        return self


def find(source: Source, limits: Limits) -> Place | None:
    """The checkpoint that a file, folder or prefix is or belongs to. FormatError where it belongs to one of which the files that say what
    is in it are not there."""
    if isinstance(source, (Prefix, Archived)) and source.stem:
        place = at(source, source.stem, limits)
        if place is None:
            raise _without_index(source, source.stem, limits)
        return place
    if isinstance(source, Folder):
        return in_folder(source, limits)
    base = os.path.basename(source.name.replace("\\", "/"))
    if is_table(source):
        return _table(source, base, limits)
    return _beside(source, base, limits)


def _table(source: Source, base: str, limits: Limits) -> Place:
    """A table was named: what its first entry says it is, or its name where that cannot be read."""
    folder, index = _around(source), base.endswith(INDEX)
    kind = BUNDLE if index else V1
    try:
        first = Table(source, limits).get(b"")
        kind = kind if first is None else V1 if next(fields(first))[:2] == (1, DELIMITED) else BUNDLE
    except (InertError, StopIteration):
        pass  # whoever reads it says what is wrong
    piece = PIECE.fullmatch(base)
    if kind == V1 and piece and folder is not None:
        shards = pieces_of(piece[1], all_of(folder, limits))
        if base in shards:
            return Place(V1, folder, shards).noted(*_absent(shards, folder.name))
    data = DATA.fullmatch(base)
    if data is not None and kind == BUNDLE:
        text = f"by its content it is the index {data[1]}{INDEX}"
        return Place(kind, folder, [data[1]], source).noted(Finding("tf-index-name", text, source.name))
    return Place(kind, folder, [base[: -len(INDEX)] if index and kind == BUNDLE else base], source)


def _beside(source: Source, base: str, limits: Limits) -> Place | None:
    """A file that belongs to a checkpoint by its name."""
    data = DATA.fullmatch(base)
    index = base.endswith(INDEX) and base != INDEX
    stem = data[1] if data else base[: -len(INDEX if index else META)] if index or base.endswith(META) else ""
    state = base == STATE or source.read(0, min(21, source.size)) == b"model_checkpoint_path"
    if not (stem or state or base in SAVED_MODEL):
        return None
    folder = _around(source)
    if folder is None:
        return None
    if state:
        return in_state(folder, source, limits)
    if not stem:
        return at(folder, VARIABLES, limits)
    if index and not any((match := DATA.fullmatch(name)) and match[1] == stem for name in all_of(folder, limits)):
        return None  # somebody else's index
    place = at(folder, stem, limits)
    if place is None and data:
        from .foreign import describe

        if describe(source)[0] in ("tf-data", "unknown", "text", "zero-filled"):  # else it is something else under this name
            raise _without_index(folder, stem, limits)
    return place


def at(folder: Folder, stem: str, limits: Limits) -> Place | None:
    """The checkpoint under a prefix in a folder: an index, a table or its shards, or parts that were never merged."""
    if unsafe(stem):
        return None
    if folder.has(stem + INDEX):
        if not _opens_as_table(folder, stem + INDEX):
            raise _without_index(folder, stem, limits)
        return Place(BUNDLE, folder, [stem])
    if folder.has(stem) and _opens_as_table(folder, stem):
        return Place(V1, folder, [stem])
    lead, _, base = stem.rpartition("/")
    home = folder.below(lead)
    if home is None:
        return None
    names = all_of(home, limits)
    shards = pieces_of(base, names)
    if shards:
        return Place(V1, folder, [f"{lead}/{name}" if lead else name for name in shards]).noted(*_absent(shards, home.name))
    return _parts_below(folder, stem, limits)


def pieces_of(stem: str, names: list[str]) -> list[str]:
    """The shards of a sharded checkpoint of the first version among names: those of the largest set."""
    found = [match for match in map(PIECE.fullmatch, names) if match and match[1] == stem]
    most = max((int(match[3]) for match in found), default=0)
    return [match[0] for match in found if int(match[3]) == most]


def in_folder(folder: Folder, limits: Limits) -> Place | None:
    """The checkpoint of a folder: what its state file names, a SavedModel's variables, or what lies in it."""
    names = folder.names(limits)
    if STATE in names and folder.has(STATE):
        file = folder.open(STATE)
        if named(file)[0]:
            return in_state(folder, file, limits)
    if set(SAVED_MODEL) & set(names):
        return at(folder, VARIABLES, limits)
    parts = _parts(folder, limits)
    if parts:
        return _unmerged(folder, parts, "")
    stems = [name[: -len(INDEX)] for name in names if name.endswith(INDEX) and _opens_as_table(folder, name)]
    if not stems:
        firsts = {match[1]: match[0] for match in map(PIECE.fullmatch, reversed(names)) if match}
        stems = [stem for stem, first in firsts.items() if _opens_as_table(folder, first)]
    if not stems and len(names) <= FEW:
        stems = [name for name in names if not DATA.fullmatch(name) and _opens_as_table(folder, name)]
    if not stems:
        lone = {match[1]: None for match in map(DATA.fullmatch, names) if match}
        if lone:
            raise _without_index(folder, next(iter(lone)), limits)
        return _parts_below(folder, "", limits)
    stems.sort(key=_step)
    place = at(folder, stems[-1], limits)
    if place is not None and len(stems) > 1:
        others = ", ".join(stems[:-1][:5])
        place.noted(Finding("tf-choice", f"{stems[-1]!r} was opened, of {len(stems):,} checkpoints; others: {others}", folder.name))
    return place


def _step(stem: str) -> tuple[int, str]:
    """By the last number in a name: the step of training."""
    found = STEP.search(stem)
    return (int(found[1]) if found and len(found[1]) < 20 else -1), stem


# -- the state file -----------------------------------------------------------------------------------------------------------


def in_state(folder: Folder, file: Source, limits: Limits) -> Place | None:
    """The newest checkpoint that a state file names, or the newest that is there."""
    newest, older = named(file)
    if not newest:
        return None
    missing: list[str] = []
    for path in [newest, *older[:100]]:
        for stem in candidates(path):
            place = at(folder, stem, limits)
            if place is None:
                continue
            if stem != path.replace("\\", "/").removeprefix("./"):
                place.noted(Finding("tf-state-path", f"it names {path[:200]!r}; {stem!r} was opened", file.name))
            if missing:
                place.noted(Finding("tf-state-stale", f"of {missing[0][:200]!r}, which it names, nothing is there", file.name))
            return place
        missing.append(path)
    hint = "get PREFIX.index and its .data files and put them beside it"
    raise FormatError(f"it names the checkpoint {newest[:200]!r}, of which nothing is beside it", part=file.name, hint=hint)


# -- parts and what is missing ------------------------------------------------------------------------------------------------


def _parts(folder: Folder, limits: Limits) -> list[str]:
    """The indexes of a save's parts that lie in a folder, without ``.index``."""
    return [name[: -len(INDEX)] for name in all_of(folder, limits) if PART.fullmatch(name) and _opens_as_table(folder, name)]


def _unmerged(folder: Folder, parts: list[str], lead: str) -> Place:
    place = Place(BUNDLE, folder, [lead + part for part in parts])
    text = f"{len(parts):,} parts of a save that was never merged: {', '.join(parts[:3])}{' …' if len(parts) > 3 else ''}"
    return place.noted(Finding("tf-unmerged", text, folder.name), *_absent(parts, folder.name))


def _absent(names: list[str], where: str) -> list[Finding]:
    """The parts or shards that there should be by the numbers of the others."""
    found = [match for match in map(PIECE.fullmatch, names) if match]
    there, most = {int(match[2]) for match in found}, max((int(match[3]) for match in found), default=0)
    lost = most - len(there & set(range(min(most, len(there) + 1000)))) if most else 0
    first = next((number for number in range(most) if number not in there), 0)
    if lost <= 0:
        return []
    stem = found[0][1]
    return [Finding("tf-part-missing", f"{lost:,} of {most:,} are not there; the first is {stem}-{first:05d}-of-{most:05d}", where)]


def _parts_below(folder: Folder, stem: str, limits: Limits) -> Place | None:
    """Parts in a temporary folder of a prefix; of any prefix where none is given."""
    lead, _, base = stem.rpartition("/")
    around_it = folder.below(lead)
    homes = around_it.folders() if around_it is not None else []
    for name in homes:
        home = folder.below(f"{lead}/{name}" if lead else name) if name.startswith(base) and TEMPORARY.search(name) else None
        parts = _parts(home, limits) if home is not None else []
        if parts and (not base or TEMPORARY.fullmatch(name[len(base) :])):
            return _unmerged(folder, parts, f"{lead}/{name}/" if lead else f"{name}/")
    return None


def _without_index(folder: Folder, stem: str, limits: Limits) -> FormatError:
    """What to say of a checkpoint whose index is not there."""
    lead, _, base = stem.rpartition("/")
    home = folder.below(lead) or folder
    shards = [name for name in all_of(home, limits) if (match := DATA.fullmatch(name)) and match[1] == base]
    size = sum(home.size_of(name) for name in shards)
    data = f"{len(shards):,} of its data files {'are' if len(shards) != 1 else 'is'} there ({size:,} bytes), without names, types or shapes"
    lost = "is missing"
    if folder.has(stem + INDEX):
        from .foreign import describe

        lost = "is none: " + describe(folder.open(stem + INDEX))[1]
    exchanged = next((name for name in shards if _opens_as_table(home, name)), "")
    if exchanged:
        data = f"{exchanged!r} is an index by its content: the files bear each other's names"
    text = f"the index {stem + INDEX!r} of this TensorFlow checkpoint {lost}; {data if shards else 'nor is there any data'}"
    return FormatError(text, part=folder.name, hint=f"get {stem}{INDEX} of the same save")


def all_of(folder: Folder, limits: Limits) -> list[str]:
    """The files right in a folder; of a Prefix, of its whole folder."""
    return Folder.names(folder, limits) if isinstance(folder, Prefix) else folder.names(limits)


def _around(source: Source) -> Folder | None:
    """The folder that a file lies in, on a disk or in an archive."""
    return source.home if isinstance(source, Member) else around(source)


def _opens_as_table(folder: Folder, name: str) -> bool:
    try:
        file = folder.afar(name) if folder.has(name) else None
        return file is not None and is_table(file)
    except (InertError, OSError):
        return False
