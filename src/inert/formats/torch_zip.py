"""torch-zip: what torch.save has written since PyTorch 1.6.

Knows: the records (data.pkl, byteorder, version, data/<key> …), where the root folder is, and how they make a Checkpoint.
Refuses to know: TorchScript, packages and exported programs, which share the container but not the meaning.

Facts: torch 2.13 torch/serialization.py (_save, _load), caffe2/serialize/inline_container.cc (record order, root folder, versions).
"""

from __future__ import annotations

from itertools import islice

from ..containers.tar import BLOCK, is_header
from ..containers.zip import Zip
from ..containers.zipdirectory import DEFLATED, Member
from ..content import Content, Part
from ..errors import FormatError, InertError
from ..finding import Finding
from ..pickle.decode import Document, decode
from ..pickle.nodes import Reference
from ..pickle.row import Row
from ..torch.arguments import text
from ..torch.build import Builder
from ..torch.home import find_root
from ..torch.persistent import Storages
from ..words import counted, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ..limits import Limits
    from ..source import Source
    from ..tensor import Tensor

OTHERS = (
    "constants.pkl", "bytecode.pkl", "archive_format", "models/", ".data/extern_modules", ".data/python_version",
    "extern_modules",
)  # fmt: skip
ROLES = {
    "data.pkl": "pickle", "version": "version", ".data/version": "version", "byteorder": "byteorder",
    ".format_version": "format version", ".storage_alignment": "alignment", ".data/serialization_id": "serialization id",
}  # fmt: skip
ID = ".data/serialization_id"
DAMAGED = ("zip-cut", "zip-damaged", "mangled")  # what formats.foreign says of an archive that cannot be read
VERSIONS = range(1, 11)  # torch 2.13 reads these
FILLED = "filled_by_inert_repair"  # says which tensors hold no trained values, and what they hold
SMALL, TOLD = 256, 1 << 20  # bytes of a small record, and of that one


def claims(source: Source, limits: Limits) -> Zip | None:
    """A zip archive with a data.pkl that is neither TorchScript nor a package. FormatError for an archive that ends too early."""
    if is_header(source.read(0, min(BLOCK, source.size))):
        return None  # a tar archive whose last member is a zip archive
    archive = opened(source, limits)
    if archive is None:
        return None
    root = find_root(archive)
    if root is None or any(f"{root}{name}" in archive.members for name in OTHERS):
        return None
    return archive


def opened(source: Source, limits: Limits) -> Zip | None:
    """The source as a zip archive, or None. FormatError for one that torch began to write and that ends too early."""
    if source.size < 22:
        return None
    if source.read(0, 4) != b"PK\3\4" and b"PK\5\6" not in source.read(max(0, source.size - 65557), min(65557, source.size)):
        return None
    try:
        return Zip(source, limits)
    except FormatError as error:
        if source.read(0, 4) == b"PK\3\4" and _looks_like_torch(source):
            raise explained(error, source) from None
        return None


def explained(error: FormatError, source: Source) -> FormatError:
    """The refusal of an archive, told by what has become of the file where its bytes show that: the recognisers look at all of it."""
    from .foreign import describe

    kind, sentence, hint = describe(source)
    if kind not in DAMAGED:
        return error
    return type(error)(f"{sentence}: {error.message}", part=error.part, offset=error.offset, hint=hint)


def _looks_like_torch(source: Source) -> bool:
    return b"data.pkl" in source.read(0, min(4096, source.size))


def read(source: Source, limits: Limits, archive: Zip, byteorder: str | None) -> TorchZip:
    root = find_root(archive)
    assert root is not None
    return TorchZip(source, limits, archive, root, byteorder)


def storages_in(archive: Zip, there: str, order: str, prefix: str, kind: type[Storages] = Storages) -> Storages:
    """The storages whose records lie under the folder ``there``. They know the archive, not its Content, which holds the pickles that hold
    them: a map goes with its last view, and does not wait for the garbage collector."""
    made = kind(lambda key: archive.members.size(there + key), lambda key: archive.content(there + key), order, prefix)
    made.missing = "record-missing"
    return made


class TorchZip(Content):
    format = "torch-zip"

    def __init__(self, source: Source, limits: Limits, archive: Zip, root: str, byteorder: str | None) -> None:
        super().__init__(source, limits)
        self.archive = archive
        self.folder = root
        self.given_order = byteorder
        old = any(name.startswith(f"{root}tensors/") for name in islice(archive.members, 8))  # PyTorch 1.4
        self.data = f"{root}tensors/" if old else f"{root}data/"
        self._document: Document | None = None
        self._notes: list[Finding] = []
        self._early()

    def _early(self) -> None:
        """What can be said of the records without reading the pickle."""
        folder, members = self.folder, self.archive.members
        if not folder:
            self._note("zip-no-root", "the records lie in no folder", self.source.name)
        outside = [name for name in members if not name.startswith(folder)] if folder else []
        if outside:
            text = f"{counted(len(outside), 'record', 'lie')} outside the folder {folder!r}, such as {outside[0][:80]!r}"
            self._note("zip-outside-root", text, outside[0])
        self.order = self._order()
        self._version()
        self._alignment()
        if not is_text(self._small(ID, errors="surrogateescape") or ""):
            self._note("zip-text", f"{ID} is no UTF-8", self.folder + ID)

    def _note(self, code: str, text: str, part: str, offset: int | None = None) -> None:
        self._notes.append(Finding(code, text, part, offset))

    def _small(self, name: str, most: int = SMALL, errors: str = "replace") -> str | None:
        """The text of a small record; None where there is none or where it cannot be read."""
        member = self.archive.members.get(self.folder + name)
        if member is None or member.size > most:
            return None
        try:
            return self.archive.span(member, most).read().decode("utf-8", errors)
        except InertError as error:
            self._note("zip-local-header", error.message, member.name, error.offset)
            return None

    def _order(self) -> str:
        """The record's word; where there is none, the caller's; where there is none either, little, as torch has it."""
        said = self._small("byteorder")
        if said in ("little", "big"):
            return said
        if said is not None:
            self._note("byteorder-bad", f"byteorder is {said[:20]!r}", f"{self.folder}byteorder")
        elif self.given_order is None:
            self._note("byteorder-missing", "there is no byteorder record (normal before PyTorch 2.1)", self.source.name)
        return self.given_order or "little"

    def _version(self) -> None:
        texts = [self._small(name) for name in (".data/version", "version")]
        if all(texts):
            self._note("version-twice", "both version and .data/version are there", f"{self.folder}.data/version")
        said = next((text for text in texts if text is not None), None)
        if said is None:
            self._note("version-missing", "there is no version record", self.source.name)
            return
        number = said.strip()
        if not number.isdigit() or len(number) > 3 or int(number) not in VERSIONS:
            self._note("version-unknown", f"version is {said[:20]!r}", f"{self.folder}version")

    def _alignment(self) -> None:
        """torch makes a number of the record, as Python does; what else it is, is nothing to it."""
        said = self._small(".storage_alignment")
        try:
            int("0" if said is None else said)
        except ValueError:
            self._note("alignment-bad", f".storage_alignment is {said[:20]!r}", f"{self.folder}.storage_alignment")  # type: ignore[index]

    def pickles(self) -> Mapping[str, Document]:
        name = f"{self.folder}data.pkl"
        if self._document is None:
            member = self.archive.members[name]
            self._document = decode(self.archive.pickle(member).read(), name, self.limits)
        if self._document.fault is not None:
            raise self._document.fault
        return {name: self._document}

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        (document,) = self.pickles().values()
        storages = storages_in(self.archive, self.data, self.order, self.label + self.data.removeprefix(self.folder))
        builder = Builder(document, storages, self.limits, convert)
        value = builder.build()
        if convert is None:
            self.built = builder
        return value, builder.notes

    def parts(self) -> dict[str, Part]:
        made = {}
        for name, member in self.archive.members.items():
            made[name] = self._part(name, member)
        for number, member in enumerate(self.archive.shadowed):
            made[f"{member.name} (hidden {number + 1})"] = self._part(member.name, member)
        return made

    def _part(self, name: str, member: Member) -> Part:
        inner = name.removeprefix(self.folder)
        role = "storage" if inner.startswith(("data/", "tensors/")) else ROLES.get(inner, "other")
        if name.endswith("/") and not member.size:
            role = "folder"
        elif not name.startswith(self.folder):
            role = "foreign"
        try:
            start: int | None = self.archive.start(member)
        except InertError as error:
            if error.part != member.name:  # the file itself: closed, cut or replaced while it was open
                raise
            start = None
        packed = member.packed if member.method == DEFLATED else None
        crc = member.crc32 or (0 if not member.size else None)  # zero for a member with content: not computed
        return Part(name, self.source.name, start, member.size, role, packed, crc)

    def metadata(self) -> dict[str, str]:
        names = {"byteorder": "byteorder", "version": "version", ".data/version": "version", ".format_version": "format_version"}
        names |= {".storage_alignment": "storage_alignment", ".data/serialization_id": "serialization_id"}
        found = {key: text.strip() for name, key in names.items() if (text := self._small(name)) is not None}
        filled = self._small(f".data/{FILLED}", TOLD)
        if filled is not None:
            found[FILLED] = filled
        return {"root": self.folder.rstrip("/"), **found}

    def checks(self) -> tuple[Any, ...]:
        from .zip_checks import CHECKS

        return CHECKS

    def storage_key(self, record: str) -> str:
        """What the storage of a record is called."""
        return self.label + record.removeprefix(self.folder)

    def notes(self) -> list[Finding]:
        found = [*self.archive.notes, *self._notes, *self.archive.later()]
        if self._document is not None:
            found += document_notes(self._document) + self._strays(self._document)
        return found

    def _strays(self, document: Document) -> list[Finding]:
        """The records of storages that the pickle does not ask for."""
        used = storage_keys(document)
        records = (name.removeprefix(self.data) for name in self.archive.members if name.startswith(self.data) and not name.endswith("/"))
        strays = [key for key in records if key not in used]
        if not strays:
            return []
        text = f"{counted(len(strays), 'record')} that no tensor uses, such as {strays[0][:80]!r}"
        return [Finding("storage-stray", text, self.data + strays[0])]


def storage_keys(document: Document) -> set[Any]:
    """The storage keys that a pickle's persistent ids name; whole rows are not taken apart."""
    found = set()
    for node in document.rows:
        if type(node) is Row:
            found.add(node.key)
        elif type(node) is Reference and type(node.pid) is tuple and len(node.pid) > 2:
            key = text(node.pid[2])
            if type(key) is str:
                found.add(key)
    return found


def document_notes(document: Document) -> list[Finding]:
    found = [Finding(code, text, document.name, offset) for code, offset, text in document.odd[:100]]
    left = len(document.data) - document.end
    if document.fault is None and left:
        found.append(Finding("pickle-trailing", f"{left:,} bytes follow STOP", document.name, document.end))
    return found
