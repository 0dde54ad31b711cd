"""What is left of a zip archive of torch.save or torch.jit.save.

Knows: that data.pkl comes first and says how large every storage is, so that records without a directory can be bounded; that a pickle cut
short still names what stood before the cut.
Refuses to know: zip structures (containers/zipwalk.py), and how values are built (torch/).

Facts: torch 2.13 torch/serialization.py (_save), torch/csrc/jit/serialization/export_module.cpp (storages before their pickle).
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..containers.zipdirectory import DEFLATED
from ..containers.zipfound import Walked
from ..content import Content
from ..dtypes import DTYPES
from ..errors import FormatError
from ..finding import Finding
from ..formats.torch_zip import TorchZip
from ..formats.torchscript import FOLDERS, MARKS, TorchScript
from ..layout import Layout, Storage
from ..names import Lister, piece
from ..pickle.nodes import Call, Global
from ..pickle.partial import decode_cut, rescue
from ..pickle.row import Row
from ..tensor import Tensor
from ..torch.arguments import Odd
from ..torch.build import Builder
from ..torch.home import find_root, fold
from ..torch.legacy import declared
from ..torch.rebuild import REBUILD, Rebuilder
from ..torch.script import ScriptBuilder
from ..writers import Plan
from .held import Held, Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..containers.zipwalk import Found
    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source
    from ..writers import Options

LOOKED = 1 << 20  # bytes in which an archive is looked for behind other bytes
OTHERS = ("archive_format", "models/", ".data/extern_modules", ".data/python_version", "extern_modules")


def behind(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    """An archive behind a damaged beginning, or behind other bytes."""
    head = source.read(0, min(LOOKED, source.size))
    return read(source, limits, byteorder, raw) if b"PK\3\4" in head or b"PK\1\2" in head else None


def read(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    """What is left of an archive; None where it is none of torch's. FormatError where nothing in it can be named."""
    archive = Walked(source, limits, Sizes(source, limits))
    names = archive.members
    root = find_root(archive)
    if root is None:
        return _nameless(source, limits, archive, raw)
    if any(f"{root}{name}" in names or any(one.startswith(f"{root}{name}") for one in names if name.endswith("/")) for name in OTHERS):
        return None
    script = any(f"{root}{name}" in names for name in MARKS) or any(name.startswith(f"{root}code/") for name in names)
    content: SalvagedZip | SalvagedScript = SalvagedZip(source, limits, archive, root, byteorder)
    if script or content.of_script():
        content = SalvagedScript(source, limits, archive, root, byteorder)
    content.longer = {}
    made = Salvage(content)
    if content.main_document().root is None and raw and content.main_document().fault is not None:
        return _nameless(source, limits, archive, raw)
    content.rescue(made)
    _doubts(made, archive, content)
    made.healed = lambda options: again(content, options)
    return made


class Sizes:
    """The sizes of storages, from the data.pkl among the members that were found so far."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits
        self.known: dict[str, int] | None = None

    def __call__(self, name: str, found: list[Found]) -> int | None:
        if self.known is None:
            pickle = next((one for one in found if fold(f"/{one.name}").endswith("/data.pkl")), None)
            if pickle is None or pickle.method == DEFLATED or pickle.there > self.limits.pickle_bytes:
                return None
            document = decode_cut(self.source.read(pickle.start, pickle.there), pickle.name, self.limits)
            folder = pickle.name[: -len("data.pkl")]
            said = declared(document)
            self.known = {
                f"{folder}{home}/{key}": next(iter(words))[0].itemsize * next(iter(words))[1]
                for key, words in said.items() for home in ("data", "tensors")
            }  # fmt: skip
        size = self.known.get(name)
        return size if size is not None and size >= 0 else None


def _nameless(source: Source, limits: Limits, archive: Walked, raw: bool) -> Salvage | None:
    """An archive without data.pkl: its storages have no names, types and shapes."""
    names = [name for name in archive.members if "/data/" in name or "/constants/" in name or name.startswith("data/")]
    names = [name for name in names if archive.members.size(name)]
    if not names:
        if not any(name.endswith(("/version", "/byteorder", "data.pkl")) for name in archive.members):
            return None
        raise FormatError("nothing can be recovered: the archive has neither data.pkl nor any storage left", part=source.name)
    size = sum(archive.members.size(name) or 0 for name in names)
    lost = "is damaged" if any(name.endswith("data.pkl") for name in archive.members) else "is not in the file"
    text = f"data.pkl, which says what everything is, {lost}; {len(names):,} storages ({size:,} bytes) are, without names"
    if not raw:
        hint = "--raw (raw=True) writes them as bytes under the names of their records"
        raise FormatError(f"{text}, types or shapes", part=source.name, hint=hint)
    made = Salvage(RawRecords(source, limits, archive, names))
    made.notes = [*archive.notes, Finding("repair-raw", text, source.name)]
    made.more = "what the storages were is not known"
    return made


def _doubts(made: Salvage, archive: Walked, content: TorchZip) -> None:
    """Of storages whose bytes do not have their checksum; of all, where the pickle does not have its own."""
    made.doubts = {name.removeprefix(content.folder): why for name, why in archive.wrong.items()}
    made.unsure = "; ".join(f"{name}: {why}" for name, why in archive.wrong.items() if name.endswith(".pkl"))[:300]


class Damaged(TorchZip, ABC):
    """What the salvaging Contents share: pickles as far as they go."""

    archive: Walked
    longer: dict[str, str]  # storage's key → that its record is longer than a pickle says

    def _document_of(self, name: str, shortcut: bool) -> Document:
        member = self.archive.members[name]
        document = decode_cut(self.archive.span(member, self.limits.pickle_bytes).read(), name, self.limits, shortcut=shortcut)
        self.open_ = rescue(document) if document.fault is not None else []
        return document

    def rescue(self, made: Salvage) -> None:
        """Say of the pickle what it does not say any more."""
        document = self.main_document()
        if document.fault is not None:
            made.notes.append(Finding("pickle-broken", document.fault.message, document.name, document.fault.offset))
            made.more = "the pickle that names the tensors is cut or damaged; what it would have named behind the fault is not known"
            made.lost += [(".".join(map(piece, path)), "the pickle ends before it says what this is") for path in self.open_]
            if document.root is None:
                hint = "--raw (raw=True) writes the storages that are there as bytes"
                text = f"nothing can be recovered: {document.fault.message}"
                raise FormatError(text, part=document.name, offset=document.fault.offset, hint=hint)

    @abstractmethod
    def main_document(self) -> Document:
        """The pickle that names the tensors."""

    def with_orphans(self, value: Any, builder: Builder, document: Document) -> Any:
        """The value with the tensors that a broken pickle had made and not yet put anywhere."""
        if document.fault is None or not isinstance(value, dict):
            return value
        known = {_geometry(tensor.layout) for tensor in Lister(value, self.limits).tensors.values()}
        rebuild = Rebuilder(builder.storages, self.limits, len(document.data))
        for call in document.rows:
            if not isinstance(call, Call) or (type(call) is not Row and call.dotted not in REBUILD):
                continue
            try:
                layout = rebuild.layout(call)
            except (Odd, ValueError, TypeError, OverflowError, ArithmeticError, LookupError, AttributeError):
                continue
            if layout.storage is None or _geometry(layout) in known:
                continue
            known.add(_geometry(layout))
            name = f"(unnamed {layout.storage.key})"
            value[name if name not in value else f"{name} at {layout.offset}"] = Tensor(layout, self.limits)
        return value


def _geometry(layout: Layout) -> Any:
    return (layout.storage.key if layout.storage is not None else None), layout.dtype, layout.offset, layout.shape, layout.strides


class SalvagedZip(Damaged):
    def of_script(self) -> bool:
        """Whether the pickle is of a program: its classes are TorchScript's own."""
        rows = self.main_document().rows
        return any(type(node) is Global and node.module.startswith("__torch__") for node in rows)

    def main_document(self) -> Document:
        if self._document is None:
            self._document = self._document_of(f"{self.folder}data.pkl", True)
        return self._document

    def pickles(self) -> Mapping[str, Document]:
        return {f"{self.folder}data.pkl": self.main_document()}

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        document = self.main_document()
        storages = held(self.archive, self.data, self.order, self.data.removeprefix(self.folder), self.label)
        builder = Builder(document, storages, self.limits, convert)
        value = self.with_orphans(builder.build(), builder, document)
        if convert is None:
            self.built = builder
        for tensor in Lister(value, self.limits).tensors.values() if convert is None else ():
            tensor.layout  # noqa: B018  # makes its storage, whose record is compared then
        self.longer |= storages.longer
        return value, [*builder.notes, *odd(storages)]

    def notes(self) -> list[Finding]:
        return [note for note in super().notes() if note.code not in ("zip-beyond-end", "record-size")]


class SalvagedScript(Damaged, TorchScript):
    def of_script(self) -> bool:
        return True

    def main_document(self) -> Document:
        return self._pickles[self.folder + self.main]

    def _decode(self, name: str) -> Document:
        return self._document_of(name, False)

    def pickles(self) -> Mapping[str, Document]:
        return self._pickles

    def _value(self, name: str, convert: Any = None, table: list[Layout] | None = None) -> tuple[Any, list[Finding]]:
        document = self._pickles[self.folder + name]
        if document.fault is not None and name != self.main:
            raise document.fault
        where = FOLDERS.get(name, "data/")
        where = self.data.removeprefix(self.folder) if where == "data/" else where
        storages = held(self.archive, self.folder + where, self.order, where)
        builder = ScriptBuilder(document, storages, self.limits, convert, table)
        value = self.with_orphans(builder.build(), builder, document)
        self.longer |= storages.longer
        return value, [*builder.notes, *odd(storages)]

    def program(self) -> str:
        """Why the program is not whole any more; "" where it is."""
        lost = [name for name in self.archive.cut if not name.startswith(f"{self.folder}data/")]
        if lost:
            return f"{lost[0]} is cut short"
        return "" if self.archive.ended else "the archive is cut short, and which records of the program are missing is not known"


def held(archive: Walked, there: str, order: str, prefix: str, label: str = "") -> Held:
    made = Held(lambda key: archive.members.size(there + key), lambda key: archive.content(there + key), order, label + prefix)
    made.missing = "record-missing"
    return made


def odd(storages: Any) -> list[Finding]:
    return [Finding("record-size", why, key) for key, why in storages.odd.items()]


class RawRecords(Content):
    """The storages of an archive whose pickle is gone, as bytes."""

    format = "torch-zip"

    def __init__(self, source: Source, limits: Limits, archive: Walked, names: list[str]) -> None:
        super().__init__(source, limits)
        self.archive = archive
        self.names = names

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        return {name.partition("/")[2] or name: self._tensor(name) for name in self.names}, []

    def _tensor(self, name: str) -> Tensor:
        size = self.archive.members.size(name) or 0
        storage = Storage(name, size, DTYPES["uint8"], "cpu", lambda: self.archive.content(name))
        return Tensor(Layout(DTYPES["uint8"], (size,), (1,), 0, storage), self.limits)


def again(content: SalvagedZip | SalvagedScript, options: Options) -> Plan | None:
    from .torch_zip_again import records_again

    return records_again(content, options)
