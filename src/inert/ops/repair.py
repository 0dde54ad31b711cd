"""``inert.repair``: a damaged checkpoint → a sound one of all that is whole in it.

Knows: that repairing is reading what can be trusted (salvage), taking out what is lost, and writing the rest as any other checkpoint is
written: what a writer makes is right in every field. Where nothing is lost, the source's own records and files are written again, byte for
byte.
Refuses to know: how anything is damaged (salvage) and how anything is written (writers). What is done about each fault that reading notes
says one table, ``REPAIRS`` in finding.py.
"""

from __future__ import annotations

import os

from ..checkpoint import Calm, Checkpoint
from ..errors import FormatError, InertError, LimitError, UnsupportedError
from ..finding import ERROR, INFO, REPAIRS, Finding, listed
from ..formats.torch_zip import FILLED, TOLD
from ..layout import Storage
from ..reading import hold
from ..saving import tensors_in
from ..sink import apart
from ..tensor import Tensor
from .holes import FILLS, KINDS, Filler, Holes, empty, fault_of, renewed, sized, wrecks
from .losses import Lost, Repaired
from .rechecked import Indices, mendable
from .spoiled import spoiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..layout import Layout
    from ..limits import Limits
    from ..salvage import Salvage
    from ..sink import Progress
    from ..writers import Plan, Writer

CALL = "pickle-arguments"  # what no unpickler can make is written as it stands
DOUBTFUL = ("keep", "lost")
TELLING = ("torch-zip", "torch-legacy", "safetensors", "sharded")  # formats that say what was filled
SUFFIXLESS = "sharded"  # a destination without a suffix is a folder for it


def repair(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    fill: str | None = None,
    to: str | None = None,
    doubtful: str = "keep",
    raw: bool = False,
    byteorder: str | None = None,
    limits: Limits | None = None,
    sync: bool = True,
    progress: Progress | None = None,
) -> Repaired:
    """Write what is whole in ``source`` as ``destination``, and say exactly what is lost. Every tensor whose bytes are there is recovered.

    The format is the source's own where the destination's suffix may mean it, else the suffix's; or ``to`` names it. The destination is
    complete or untouched. No file of the source is ever changed: a destination that is one of them is refused with UnsupportedError, for
    what is lost today may be read by a better program tomorrow.
    ``fill``: lost tensors of known type and shape are written all the same, as "zeros" or "nan" (zeros where a type has no NaN).
    ``doubtful``: tensors whose bytes do not have their checksum are kept and named ("keep"), or left out ("lost"). ``raw``: where an
    archive has lost the pickle that says what its storages are, these are written as bytes.
    Raises as ``inert.open`` and ``inert.save`` do; FormatError where nothing can be recovered."""
    from ..limits import DEFAULT
    from ..salvage import salvage

    if fill not in (None, *FILLS):
        raise UnsupportedError(f"fill={fill!r}", hint="say zeros or nan")
    if doubtful not in DOUBTFUL:
        raise UnsupportedError(f"doubtful={doubtful!r}", hint="say keep or lost")
    if byteorder not in (None, "little", "big"):
        raise ValueError("byteorder must be 'little', 'big' or None")
    bounds, name = limits or DEFAULT, os.fsdecode(destination)
    held, members = hold(source)
    try:
        with Calm():
            found = salvage(held, members, bounds, byteorder, raw)
            with Checkpoint(found.content) as ckpt:
                work = Work(found, ckpt, name, to, fill, doubtful)
                plan = work.plan()
                apart(plan.places(name), {held.name, *found.content.read_from()})
                work.done.written = plan.pour(name, sync=sync, progress=progress)
                return work.told(plan)
    except MemoryError:
        raise LimitError("repairing it needs more memory than there is", part=held.name) from None
    except InertError as error:
        error.part = error.part or held.name
        error.file = error.file or held.name
        raise
    finally:
        held.close()


class Work:
    """One repair: what is lost, and the plan of what is written."""

    def __init__(self, found: Salvage, ckpt: Checkpoint, name: str, to: str | None, fill: str | None, doubtful: str) -> None:
        from ..writers import is_folder, writer_for

        self.found = found
        self.ckpt = ckpt
        self.content = found.content
        self.limits = self.content.limits
        self.done = Repaired()
        self.notes: list[Finding] = []
        self.hidden = False
        self.filler = Filler(fill, self.limits, _size(self.content)) if fill is not None else None
        own = self.content.format
        self.writer = writer_for(name, to, 0, own)
        if self.writer.id == SUFFIXLESS and own == SUFFIXLESS and to is None and not is_folder(name) and not name.endswith(".json"):
            name += os.sep
        self.name = name
        self._sort(doubtful)

    # -- what is whole --------------------------------------------------------------------------------------------------------

    def _sort(self, doubtful: str) -> None:
        """Every tensor is recovered or lost."""
        done, found = self.done, self.found
        said = dict(found.lost)
        self.lost: dict[int, Tensor | None] = {}
        torn = self._wrecks()
        inside = tuple(f"{name}." for name, _ in torn)
        self.names: dict[str, Tensor] = {name: one for name, one in self.ckpt.tensors.items() if not name.startswith(inside)}
        built = self.content.built if self.content.listing() is None else None
        inside_ = spoiled(built) if built is not None else {}
        indices = Indices(self.names)
        for name, tensor in self.names.items():
            why = fault_of(tensor) or said.get(name, "")
            bare = empty(tensor) if why else None
            if not why and id(tensor.layout) in inside_:
                why, bare = self._inside(tensor, inside_[id(tensor.layout)])
            if bare is not None:
                self.lost[id(tensor.layout)] = Tensor(bare, self.limits)
                why = ""
            doubt = "" if why else self._doubt(tensor) or indices.doubt(tensor)
            if doubt and doubtful == "lost":
                why = doubt
            if why:
                done.lost.append(Lost(name, why, str(tensor.dtype), tensor.shape, sized(tensor.layout)))
                self.lost[id(tensor.layout)] = self._filling(name, tensor)
            else:
                done.recovered.append(name)
                if doubt:
                    done.doubtful[name] = doubt
        done.lost += [Lost(name, why) for name, why in said.items() if name not in self.names]
        done.lost += [self._wreck(name, value) for name, value in torn]
        done.more = found.more or next((f"{one}: what such a call made is not known" for one in self._found() if one.code == CALL), "")
        if not done.recovered and (done.lost or found.more):
            why = found.more or f"of {done.lost[0].name or 'the tensor'}, {done.lost[0].why}"
            raise FormatError(f"nothing can be recovered: no tensor of this file is whole: {why}", part=self.content.source.name)

    def _inside(self, tensor: Tensor, why: str) -> tuple[str, Layout | None]:
        """Of a tensor that holds lost ones: why it is lost too; or what it is without its attributes."""
        if tensor.kind not in KINDS:
            return f"what it is made of: {why}", None
        bare = tensor.layout.copy()
        bare.attributes = bare.hooks = None
        self.done.lost.append(Lost(f"{tensor.name} (its Python attributes)", why))
        self.notes.append(Finding("repair-attributes", f"its Python attributes are left out: {why}", tensor.name, None, (tensor.name,)))
        return "", bare

    def _doubt(self, tensor: Tensor) -> str:
        longer: dict[str, str] = getattr(self.content, "longer", getattr(self.content.built and self.content.built.storages, "longer", {}))
        for part in (tensor, *tensor.components.values()):
            storage = part.layout.storage
            why = "" if storage is None else self.found.doubts.get(storage.key) or longer.get(storage.key)
            if storage is not None and why:
                return f"{storage.key}: {why}"
        return self.found.unsure

    def _filling(self, name: str, tensor: Tensor) -> Tensor | None:
        layout = self.filler.layout(tensor.layout, self.limits) if self.filler is not None else None
        if self.filler is None or layout is None:
            return None
        self.done.filled.append(name)
        self.notes += self.filler.told(name, layout)
        return Tensor(layout, self.limits)

    def _wrecks(self) -> list[tuple[str, Any]]:
        return wrecks(self.ckpt.root) if self.content.listing() is None else []

    def _wreck(self, name: str, value: Any) -> Lost:
        """What stands for a tensor that could not be made; or a storage, of which a part is missing."""
        if type(value) is not Storage:
            return Lost(name, "what it says is damaged, and no tensor can be made of it")
        held: Any = self.content.built.storages if self.content.built is not None else None
        size = getattr(held, "wanted", {}).get(value.key, value.nbytes)
        why = value.fault or getattr(held, "odd", {}).get(value.key, "a part of it is missing")
        return Lost(name, why, str(value.dtype), (size // value.dtype.itemsize,), size)

    # -- what is written ------------------------------------------------------------------------------------------------------

    def plan(self) -> Plan:
        from ..writers import Options, copied

        done, content = self.done, self.content
        done.format = self.writer.id
        # faults of what the saved object holds no more, such as the first of two values under one key
        self.hidden = not done.lost and any(note.code in ("tensor-damaged", "reference-unknown") for note in self._found())
        kept = not done.lost and not self.lost and self.writer.id == content.format and not self.hidden
        options = Options(self.name, inner=self._inner())
        if kept and content.plain() and not self._faulty():
            return copied(content.source)
        if kept and self.found.healed is not None:
            made = self.found.healed(options)
            if made is not None:
                return made
        return self._anew(self._writer(), options)

    def _inner(self) -> str:
        from ..writers import is_folder

        if self.writer.id != SUFFIXLESS or not is_folder(self.name) or self.content.format != SUFFIXLESS:
            return ""
        formats: set[str] = getattr(self.content, "formats", set())
        return "safetensors" if formats <= {"safetensors"} else "torch-zip"

    def _faulty(self) -> bool:
        """Whether there is anything to be done: for the salvage reader, for an ordinary strict one, or for the checks of verify."""
        if any(note.severity != INFO or note.code in REPAIRS for note in self._found()):
            return True
        found = mendable(self.content.source, self.limits)
        self.notes += found or []
        return found is None or bool(found)

    def _writer(self) -> Writer:
        """The writer; of a program that is not whole, its tensors alone are written."""
        from ..writers import WRITERS

        if self.writer.id != "torchscript":
            return self.writer
        text = "the program is not whole: its tensors were written as a state dict"
        self.notes.append(Finding("repair-program", text, self.content.source.name))
        self.done.format = "torch-zip"
        return next(one for one in WRITERS if one.id == "torch-zip")

    def _anew(self, writer: Writer, options: Any) -> Plan:
        from ..writers import Saved
        from ..writers.roots import contents

        value, gone = contents(self.ckpt, writer.id)
        self.done.lost += [Lost(name, why) for name, why in gone]
        if self.content.listing() is not None and isinstance(value, dict):
            value = self._listed(value)
        else:
            holes = Holes(self.lost)
            value = holes.close(renewed(value) if self.hidden else value)
            if value is not self.ckpt.root and self.ckpt.untouched():
                self.ckpt.root = value
            if holes.nones:
                text = f"lost tensors stood in {holes.nones:,} places of lists or tuples"
                self.notes.append(Finding("repair-place", text, self.content.source.name))
        # in a damaged bundle nothing is worth being copied unseen: every checksum is made anew
        source = None if writer.id == self.content.format == "tf-bundle" and self._faulty() else self.ckpt
        saved = Saved(value, tensors_in(value), self._metadata(writer), source)
        return writer.plan(saved, options)

    def _listed(self, value: dict[str, Any]) -> dict[str, Any]:
        """Of a format that names tensors itself: those that are not lost."""
        gone = {one.name for one in self.done.lost}
        made = {}
        for name, tensor in value.items():
            now = self.lost.get(id(tensor.layout)) if isinstance(tensor, Tensor) else None
            if now is not None or name not in gone:
                made[name] = now or tensor
        return made

    def _metadata(self, writer: Writer) -> dict[str, str] | None:
        if not self.done.filled or self.filler is None:
            return None
        if writer.id not in TELLING:
            self.notes.append(Finding("repair-untold", "the file itself has no place to say which tensors were filled", self.name))
        return {FILLED: f"{self.filler.fill}: {', '.join(self.done.filled)}"[:TOLD]}

    # -- what is told ---------------------------------------------------------------------------------------------------------

    def told(self, plan: Plan) -> Repaired:
        done = self.done
        done.lost += [Lost(name, why) for name, why in plan.lost if name not in done.recovered]
        if self.filler is not None and done.filled:
            which = "NaN" if self.filler.fill == "nan" else "zeros"
            some = f" ({', '.join(self.filler.zeroed)} with zeros: they have no NaN)" if self.filler.zeroed else ""
            text = f"{len(done.filled):,} lost tensors were filled with {which}{some}: {listed(done.filled)}"
            self.notes.append(Finding("repair-filled", text, self.content.source.name, None, tuple(done.filled)))
        done.findings = [*self._found(), *self.notes, *plan.notes]
        return done

    def _found(self) -> list[Finding]:
        """What was wrong, each fact once."""
        found: dict[Any, Finding] = {}
        for note in [*self.found.notes, *self.ckpt.notes]:
            found.setdefault((note.code, note.message, note.where.part, note.where.offset), note)
        return sorted(found.values(), key=lambda note: (note.severity != ERROR, note.severity == INFO))


def _size(content: Any) -> int:
    size: int = content.source.size
    return size
