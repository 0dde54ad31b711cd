"""torch-dcp: a folder of torch.distributed.checkpoint: ``.metadata`` says which chunk of which tensor lies where in the ``.distcp`` files.

Knows: how whole tensors are put together from the chunks of all ranks, and the saved state from its names. A record is a file of torch.save
of its own, inside a .distcp file; it is opened when its chunk's data is asked for. Values that are no tensors are read for ``root``.
Refuses to know: what ``.metadata`` means (torch/dcp.py) and how a record is read (whatever format claims it).

Facts: torch 2.13 torch/distributed/checkpoint (filesystem.py: FileSystemReader; default_planner.py; _nested_dict.py, _traverse.py).
"""

from __future__ import annotations

import os
from functools import partial

from ..containers.folder import Folder, around
from ..content import Content, Part
from ..errors import FormatError, InertError, UnsupportedError
from ..files import FileSource
from ..finding import Finding
from ..layout import Layout
from ..pickle.decode import decode
from ..source import Window
from ..tensor import Tensor
from ..tiled import Box, fault, geometry, single, tiled, whole
from ..torch.arguments import Odd
from ..torch.dcp import Entry, Plan
from .torch_zip import document_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source
    from ..torch.dcp import Place

NAME = ".metadata"
MARK = b"torch.distributed.checkpoint.metadata"
HEAD = 4096


def claims(source: Source, limits: Limits) -> tuple[Folder, Source] | None:
    """A folder whose .metadata names the classes of torch.distributed.checkpoint, or that file of it: (folder, .metadata)."""
    if isinstance(source, Folder):
        if NAME not in source.names(limits):
            return None
        path = source.place(NAME)
        if not os.path.isfile(path):
            return None
        file = FileSource(path)
        if MARK in file.read(0, min(HEAD, file.size)):
            return source, source.adopt(file)
        file.close()
        return None
    if not source.name.endswith(NAME) or MARK not in source.read(0, min(HEAD, source.size)):
        return None
    folder = around(source)
    return None if folder is None else (folder, source)


def read(source: Source, limits: Limits, claim: tuple[Folder, Source], byteorder: str | None) -> TorchDcp:
    folder, file = claim
    try:
        return TorchDcp(folder, file, limits)
    except BaseException:
        folder.close()
        raise


def set_of(path: str) -> str:
    """The .metadata beside a .distcp file, which says what lies where in it; "" where there is none."""
    there = os.path.join(os.path.dirname(path), NAME)
    if not (os.path.isfile(path) and os.path.isfile(there)):
        return ""
    with open(there, "rb") as file:
        return there if MARK in file.read(HEAD) else ""


class Chunk:
    """A chunk's tensor: its element type and shape as announced; its Layout from its record."""

    __slots__ = ("dtype", "make", "shape")

    def __init__(self, dtype: Any, shape: tuple[int, ...], make: Callable[[], Layout]) -> None:
        self.dtype = dtype
        self.shape = shape
        self.make = make

    def layout(self) -> Layout:
        return self.make()


class TorchDcp(Content):
    format = "torch-dcp"

    def __init__(self, folder: Folder, file: Source, limits: Limits) -> None:
        super().__init__(folder, limits)
        self.folder = folder
        self.file = file
        self.document = decode(file.read(0, file.size), NAME, limits)
        if self.document.fault is not None:
            raise self.document.fault
        try:
            self.plan = Plan(self.document.root)
        except Odd as odd:
            raise FormatError(f"it is not what torch.distributed.checkpoint writes: {odd}", part=file.name) from None
        self.files: dict[str, Source] = {}
        self._notes: list[Finding] = [Finding("dcp-entry", why, NAME, None, (name,)) for name, why in self.plan.odd]
        self._open()

    def _open(self) -> None:
        """Every file that a record lies in. FormatError where there is none of them."""
        names = dict.fromkeys(place.file for place in self.plan.places.values())
        for name in names:
            try:
                self.files[name] = self.folder.open(name)
            except InertError as error:
                self._notes.append(Finding("shard-path", error.message, name))
            except OSError as error:
                self._notes.append(Finding("dcp-file-missing", error.strerror or str(error), name))
        if names and not self.files:
            raise FormatError(f"none of its {len(names):,} .distcp files can be read", part=self.folder.name, hint="get the whole folder")

    # -- records ------------------------------------------------------------------------------------------------------------

    def _record(self, place: Place, name: str) -> Content:
        """The Content of one record."""
        from . import FORMATS, identify

        file = self.files.get(place.file)
        if file is None:
            raise FormatError(f"{place.file[:200]!r}, which it lies in, is not there", part=name)
        if place.coded:
            raise UnsupportedError(f"its record is coded: {place.coded}", part=name)
        formats = [one for one in FORMATS if one.id.startswith("torch-") and one.id != self.format]
        window = Window(file.span(place.offset, place.length), f"{place.file}[{place.offset}:{place.offset + place.length}]")
        return identify(window, self.limits, None, formats)

    def _chunk(self, place: Place, name: str) -> Layout:
        """The Layout of a chunk's tensor; one with a fault where its record is damaged."""
        try:
            value = self._record(place, name).root()[0]
            if isinstance(value, Tensor):
                return value.layout
            wrong = "its record holds no tensor"
        except InertError as error:
            wrong = f"its record in {place.file[:200]}: {error.message}"
        made = Layout(self.entry_dtype(name), (0,), (1,), 0, None)
        made.fault = wrong
        return made

    def entry_dtype(self, name: str) -> Any:
        return self.plan.entries[name].dtype

    def _tensor(self, name: str, entry: Entry) -> Tensor:
        return Tensor(Chunk(entry.dtype, entry.shape, partial(self._layout, name, entry)), self.limits)

    def _layout(self, name: str, entry: Entry) -> Layout:
        dtype, boxes, wrong = entry.dtype, [], ""
        assert dtype is not None
        for offsets, shape in entry.chunks:
            place = self.plan.places.get((name, offsets)) or self.plan.places.get((name, None))
            if place is None or place.file not in self.files:
                wrong = f"the chunk at {list(offsets)} is in no file" if place is None else f"{place.file[:200]!r} is not there"
                continue
            boxes.append(Box(offsets, shape, Tensor(Chunk(dtype, shape, partial(self._chunk, place, name)), self.limits)))
        wrong = wrong or geometry(dtype, entry.shape, self.limits) or fault(entry.shape, boxes) or self._twice(name, entry)
        if not wrong and len(boxes) == 1 and whole(boxes[0], entry.shape):
            return single(dtype, entry.shape, boxes[0], name, self.limits)
        made = tiled(dtype, entry.shape, boxes if not wrong else [], name, self.limits)
        if wrong and made.storage is not None:
            made.fault = made.storage.fault = wrong
        return made

    def _twice(self, name: str, entry: Entry) -> str:
        """Chunks that are all one record would make any size of tensor from a few bytes."""
        places = [self.plan.places.get((name, offsets)) or self.plan.places.get((name, None)) for offsets, _ in entry.chunks]
        records = {(place.file, place.offset) for place in places if place is not None}
        return "" if len(records) == len(places) else "several of its chunks are one record"

    # -- what a checkpoint is asked -------------------------------------------------------------------------------------------

    def pickles(self) -> dict[str, Document]:
        return {NAME: self.document}

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        made: dict[Any, Any] = {}
        notes: list[Finding] = []
        for name, entry in self.plan.entries.items():
            if entry.dtype is not None:
                value: Any = self._tensor(name, entry)
                value = value if convert is None else convert(value)
            else:
                try:
                    place = self.plan.places.get((name, None))
                    if place is None:
                        raise FormatError("it is in no file")
                    value, odd = self._record(place, name).root(convert)
                    notes += odd
                except InertError as error:
                    if convert is not None:
                        raise
                    notes.append(Finding("dcp-record", error.message, name, error.offset))
                    continue
            path = self.plan.paths.get(name, (name,))
            if not placed(made, path, value):
                made[name] = value
        return made, notes

    def parts(self) -> dict[str, Part]:
        made = {NAME: Part(NAME, self.file.name, 0, self.file.size, "metadata")}
        made |= {name: Part(name, source.name, 0, source.size, "shard") for name, source in self.files.items()}
        for (name, offsets), place in self.plan.places.items():
            inner = f"{name}[{', '.join(map(str, offsets))}]" if offsets else name
            file = self.files.get(place.file)
            there = file is not None and place.offset + place.length <= file.size
            made.setdefault(inner, Part(inner, file.name if file else place.file, place.offset if there else None, place.length, "record"))
        return made

    def metadata(self) -> dict[str, str]:
        return {"version": self.plan.version} if type(self.plan.version) is str else {}

    def checks(self) -> tuple[Any, ...]:
        from . import set_checks

        return (set_checks.dcp,)

    def notes(self) -> list[Finding]:
        return [*self._notes, *document_notes(self.document)]


def placed(root: dict[Any, Any], path: tuple[Any, ...], value: Any) -> bool:
    """Put a value where its path leads, as torch's planner does: keys that are numbers are places in lists. False where that cannot be."""
    here: Any = root
    for step, key in enumerate(path):
        last = step + 1 == len(path)
        if type(here) is list and type(key) is int and 0 <= key <= len(here) + GAP:
            here.extend([None] * (key + 1 - len(here)))
        elif type(here) is not dict:
            return False
        elif not last and key not in here:
            here[key] = None
        if last:
            here[key] = value
        elif here[key] is None:
            here[key] = here = {} if type(path[step + 1]) is str else []
        else:
            here = here[key]
    return True


GAP = 1024  # places of a list that may be left empty before the next one
