"""torch-package: archives of torch.package, which hold Python source, pickles, resources and the tensors of those pickles.

Knows: which records are pickles, where their storages lie (``.data/<key>.storage``; ``data/<key>`` in torch 1.8), and the TorchScript
modules that a package may hold.
Refuses to know: the source. It is flagged and listed, never parsed or imported; objects of packaged classes are shown by what their pickles
say. The root is a dict of the pickles by their paths in the package.

Facts: torch 2.13 torch/package (package_exporter.py, package_importer.py, _package_pickler.py), torch 1.8 torch/package/exporter.py.
"""

from __future__ import annotations

from ..containers.zip import Zip
from ..errors import InertError
from ..finding import Finding
from ..names import HERE, Joined
from ..pickle.decode import Document, decode
from ..pickle.nodes import Reference
from ..torch.arguments import text
from ..torch.build import Builder
from ..torch.persistent import Storages
from ..torch.script import ScriptBuilder
from ..words import counted
from .torch_zip import TorchZip, document_notes, opened, storages_in
from .torchscript import folder, later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..containers.zipdirectory import Member
    from ..content import Part
    from ..layout import Storage
    from ..limits import Limits
    from ..source import Source
    from ..tensor import Tensor

MARKS = (".data/extern_modules", ".data/python_version", ".data/ts_code/", "extern_modules")  # the last: torch 1.8
OWN = frozenset((
    "extern_modules", ".data/extern_modules", ".data/python_version", "version", ".data/version", "byteorder", ".data/serialization_id",
))  # fmt: skip
SCRIPTS = ".data/ts_code/"
SHOWN = 20  # modules that the metadata names


def claims(source: Source, limits: Limits) -> Zip | None:
    """A zip with torch.package's own records and no data.pkl beside them."""
    archive = opened(source, limits)
    if archive is None:
        return None
    root = folder(archive)
    marked = any(f"{root}{mark}" in archive.members for mark in MARKS) or any(_storage(name, root) for name in archive.members)
    return archive if marked and f"{root}archive_format" not in archive.members else None


def _storage(name: str, root: str) -> bool:
    return name.endswith(".storage") and name.startswith(f"{root}.data/")


def read(source: Source, limits: Limits, claim: Zip, byteorder: str | None) -> TorchPackage:
    return TorchPackage(source, limits, claim, folder(claim), byteorder)


class PackageStorages(Storages):
    """Storages that pickles name by number, and TorchScript by record: one for each record, whoever names it."""

    def of(self, node: Any) -> Storage:
        if type(node) is Reference and type(node.pid) is tuple and len(node.pid) > 2:
            key = text(node.pid[2])
            if type(key) is int and key.bit_length() < 64:
                key = str(key)
            if type(key) is str and self.prefix == ".data/" and not key.endswith(".storage"):
                key += ".storage"
            node = Reference((*node.pid[:2], key, *node.pid[3:]), node.offset)
        return super().of(node)


class TorchPackage(TorchZip):
    format = "torch-package"

    def __init__(self, source: Source, limits: Limits, archive: Zip, root: str, byteorder: str | None) -> None:
        super().__init__(source, limits, archive, root, byteorder)
        self.names = [name.removeprefix(root) for name in archive.members if name.startswith(root) and not name.endswith("/")]
        old = f"{root}extern_modules" in archive.members
        self.place = "data/" if old else ".data/"
        self._documents: dict[str, Document] | None = None
        self._broken: list[Finding] = []

    # -- pickles ------------------------------------------------------------------------------------------------------------

    def pickles(self) -> Mapping[str, Document]:
        """Resources that are pickles, and those of TorchScript modules. Raises where there are some and none can be read."""
        if self._documents is None:
            found: dict[str, Document] = {}
            fault: InertError | None = None
            for name in filter(self._pickled, self.names):
                try:
                    member = self.archive.members[self.folder + name]
                    document = decode(self.archive.pickle(member).read(), self.folder + name, self.limits, shortcut=False)
                    if document.fault is not None:
                        raise document.fault
                except InertError as error:
                    if name.endswith(("pkl", ".pickle")):  # else it is a resource that only begins like a pickle
                        fault = fault or error
                        self._broken.append(Finding("pickle-broken", error.message, self.folder + name, error.offset))
                    continue
                found[self.folder + name] = document
            if fault is not None and not found:
                raise fault
            self._documents = found
        return self._documents

    def _pickled(self, name: str) -> bool:
        if name in OWN or name.endswith(".py") or name.startswith(self.place):
            return name.startswith(SCRIPTS) and name.endswith((".pkl", ".debug_pkl"))
        member = self.archive.members[self.folder + name]
        try:
            head = self.archive.pickle(member).read(0, min(2, member.size))
        except InertError:
            return name.endswith((".pkl", ".pickle"))
        return head[:1] == b"\x80" and head[1:2] in (b"\2", b"\3", b"\4", b"\5")

    # -- the objects --------------------------------------------------------------------------------------------------------

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        made: dict[str, Any] = {}
        notes: list[Finding] = []
        storages = self._storages()
        for name, document in self.pickles().items():
            inner = name.removeprefix(self.folder)
            if inner.startswith(SCRIPTS):
                if not inner.endswith("/data.pkl"):
                    continue
                builder: Builder = ScriptBuilder(document, storages, self.limits, convert)
                inner = inner.removesuffix("/data.pkl")
            else:
                builder = Builder(document, storages, self.limits, convert)
            made[inner] = builder.build()
            notes += builder.notes
        return made, notes

    def listed(self, root: Any) -> Any:
        """The objects, and beside each TorchScript module its constants."""
        more = []
        storages = self._storages()
        for name, document in self.pickles().items():
            inner = name.removeprefix(self.folder)
            if inner.startswith(SCRIPTS) and inner.endswith("/constants.pkl"):
                value = ScriptBuilder(document, storages, self.limits).build()
                if isinstance(value, tuple) and value:
                    constants = {"CONSTANTS": {f"c{i}": item for i, item in enumerate(value)}}
                    more.append((inner.removesuffix("/constants.pkl"), constants))
        return Joined([(HERE, root), *more]) if more else root

    def _storages(self) -> Storages:
        there = self.folder + self.place
        return storages_in(self.archive, there, self.order, self.place, PackageStorages)

    # -- what is told of the file -----------------------------------------------------------------------------------------------

    def _part(self, name: str, member: Member) -> Part:
        part = super()._part(name, member)
        inner = name.removeprefix(self.folder)
        if part.role == "other":
            pickled = self._documents is not None and name in self._documents
            part.role = _role(inner, self.folder + inner, pickled)
        return part

    def metadata(self) -> dict[str, str]:
        found = super().metadata()
        for name in (".data/python_version", "python_version"):
            if said := self._small(name):
                found["python_version"] = said.strip()
        modules = self._extern()
        if modules:
            found["extern_modules"] = ", ".join(modules[:SHOWN]) + (f" and {len(modules) - SHOWN} more" if len(modules) > SHOWN else "")
        return found

    def _extern(self) -> list[str]:
        for name in (".data/extern_modules", "extern_modules"):
            member = self.archive.members.get(self.folder + name)
            if member is not None and member.size <= 1 << 20:
                try:
                    return self.archive.span(member, 1 << 20).read().decode("utf-8", "replace").split()
                except InertError:
                    return []  # the container's own notes say why
        return []

    def notes(self) -> list[Finding]:
        found = [*self.archive.notes, *self._notes, *later(self.archive, self.folder + SCRIPTS)]
        documents = self.pickles()
        found += self._broken
        for document in documents.values():
            found += document_notes(document)
        source = [name for name in self.names if name.endswith(".py") and not name.startswith(SCRIPTS)]
        if source:
            found.append(Finding("package-source", f"{len(source):,} Python modules, such as {source[0][:80]!r}", self.folder + source[0]))
        made = [document.name for document in documents.values() if any(map(_reduced, document.references))]
        if made:
            found.append(
                Finding("package-reduce", f"{counted(len(made), 'pickle', 'hold')} objects that code of the package rebuilds", made[0])
            )
        return found


def _role(inner: str, name: str, pickled: bool) -> str:
    if inner.startswith(SCRIPTS):
        return "pickle" if inner.endswith(".pkl") else "debug" if inner.endswith(".debug_pkl") else "code"
    if inner.endswith(".py"):
        return "source"
    if inner.startswith(".data/"):
        return "storage" if inner.endswith(".storage") else "other"
    return "pickle" if pickled or inner.endswith(".pkl") else "other" if inner in OWN else "resource"


def _reduced(reference: Reference) -> bool:
    return type(reference.pid) is tuple and bool(reference.pid) and text(reference.pid[0]) == "reduce_package"
