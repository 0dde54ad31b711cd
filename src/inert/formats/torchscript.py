"""torchscript: archives of torch.jit.save, from torch 1.0's model.json to lite-interpreter files, as zip and as flatbuffer.

Knows: which records make the module's object graph, where their storages lie, and what every other record is for.
Refuses to know: code. ``code/`` (TorchScript source), bytecode and debug tables are listed, and their pickles decoded, but nothing of
them is parsed for weights. Storages of traced_inputs.pkl are empty by design; its tensors are not listed.

Facts: torch 2.13 torch/csrc/jit/serialization (export_module.cpp, import.cpp, import_legacy.cpp, flatbuffer_serializer.cpp).
"""

from __future__ import annotations

from collections.abc import Mapping

from ..containers.flatbuffer import Buffer
from ..containers.jsontext import parse_record
from ..containers.zip import Zip
from ..containers.zipdirectory import DEFLATED
from ..content import Content, Part
from ..errors import FormatError, InertError
from ..finding import Finding
from ..names import HERE, Joined
from ..pickle.decode import Document, decode
from ..tensor import Tensor
from ..torch.home import find_root
from ..torch.mobile import BYTECODE_VERSION, EXTRA_FILES, OPERATOR_VERSION, SOURCES, Mobile
from ..torch.script import ScriptBuilder, Table, module_tree, tensor_of
from ..words import counted
from .torch_zip import TorchZip, document_notes, opened, storages_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..containers.zipdirectory import Member
    from ..layout import Layout
    from ..limits import Limits
    from ..source import Source

FLATBUFFER = b"PTMF"  # bytes 4 to 8
MARKS = ("constants.pkl", "bytecode.pkl")  # beside data.pkl; the first is torch.load's own test
OTHERS = ("archive_format", ".data/extern_modules", ".data/python_version")  # programs and packages may hold TorchScript inside
# Where the storages of each pickle lie. traced_inputs and debug tables have none that is worth reading.
FOLDERS = {"data.pkl": "data/", "constants.pkl": "constants/", "bytecode.pkl": "constants/", "traced_inputs.pkl": "traced_inputs/"}
ROLES = (  # first match: how a record's name begins and ends
    ("code/", ".debug_pkl", "debug"), ("debug/", "", "debug"), ("", "mobile_debug_handles.pkl", "debug"), ("", ".debug_pkl", "debug"),
    ("code/", "", "code"), ("libs/", "", "code"), ("extra/", "", "extra"), ("constants/", "", "storage"), ("traced_inputs/", "", "storage"),
    ("", "constants.pkl", "constants"), ("", "bytecode.pkl", "bytecode"), ("", "traced_inputs.pkl", "traced inputs"),
    ("", "model.json", "model"), ("", ".pkl", "pickle"),
)  # fmt: skip


def claims(source: Source, limits: Limits) -> Zip | str | None:
    """A zip with constants.pkl or bytecode.pkl beside data.pkl, or with model.json and without data.pkl, beside which that name is one like
    any other; or a flatbuffer with torch's identifier."""
    if source.size >= 8 and source.read(4, 4) == FLATBUFFER:
        return "flatbuffer"
    archive = opened(source, limits)
    if archive is None:
        return None
    find_root(archive)  # which respells names
    root = folder(archive)
    names = archive.members
    if any(f"{root}{name}" in names for name in OTHERS):
        return None
    pickled = f"{root}data.pkl" in names
    marks = MARKS if pickled else ("model.json", "version")
    there = [f"{root}{name}" in names for name in marks]
    return archive if (any(there) if pickled else all(there)) else None


def folder(archive: Zip) -> str:
    """The folder of the first entry, with its slash: torch's own rule."""
    return next(iter(archive.members), "").partition("/")[0] + "/"


def read(source: Source, limits: Limits, claim: Zip | str, byteorder: str | None) -> Content:
    if isinstance(claim, Zip):
        return TorchScript(source, limits, claim, folder(claim), byteorder)
    return Flatbuffer(source, limits)


def role(inner: str, known: str) -> str:
    """What a record is for, by its name inside the folder."""
    return next((kind for start, end, kind in ROLES if inner.startswith(start) and inner.endswith(end)), known)


def later(archive: Zip, *code: str) -> list[Finding]:
    """What the container is noted for once all is looked at; that code (in these folders) is deflated is torch's own way."""
    packed = [name for name, member in archive.members.items() if member.method == DEFLATED]
    odd = not packed or not all(name.startswith(code) for name in packed)
    return [note for note in archive.later() if odd or note.code != "zip-deflated"]


def with_constants(root: Any, constants: list[Any]) -> Any:
    """The module under its own names, and the constants as TorchScript's source calls them: CONSTANTS.c0 …"""
    if not constants:
        return root
    return Joined([("" if isinstance(root, Tensor) else HERE, root), ("CONSTANTS", {f"c{i}": value for i, value in enumerate(constants)})])


class Pickles(Mapping[str, Document]):
    """The pickles of an archive by name, each decoded when it is first asked for: debug tables are many, and seldom wanted."""

    def __init__(self, names: list[str], make: Callable[[str], Document]) -> None:
        self.names = dict.fromkeys(names)
        self.make = make
        self.made: dict[str, Document] = {}

    def __getitem__(self, name: str) -> Document:
        if name not in self.names:
            raise KeyError(name)
        known = self.made.get(name)
        return known if known is not None else self.made.setdefault(name, self.make(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


class TorchScript(TorchZip):
    format = "torchscript"

    def __init__(self, source: Source, limits: Limits, archive: Zip, root: str, byteorder: str | None) -> None:
        super().__init__(source, limits, archive, root, byteorder)
        inner = [name.removeprefix(root) for name in archive.members if name.startswith(root)]
        self._code = (f"{root}code/", f"{root}libs/")
        self.main = "data.pkl" if "data.pkl" in inner else ""
        pickles = [name for name in inner if name.endswith((".pkl", ".debug_pkl")) and not name.startswith("extra/")]
        pickles.sort(key=lambda name: (name != self.main, name.endswith("debug_pkl")))
        self._pickles = Pickles([root + name for name in pickles], self._decode)
        self._model: Any = None
        self._constants: tuple[Any, list[Finding]] | None = None

    # -- pickles ------------------------------------------------------------------------------------------------------------

    def _decode(self, name: str) -> Document:
        """One pickle. Its faults are noted; only the one of the object is refused for them."""
        # the shortcut knows the records of Python's pickler, which differ from those of the C++ one
        return decode(self.archive.pickle(self.archive.members[name]).read(), name, self.limits, shortcut=False)

    def pickles(self) -> Mapping[str, Document]:
        if self.main:
            fault = self._pickles[self.folder + self.main].fault
            if fault is not None:
                raise fault
        return self._pickles

    # -- the object ---------------------------------------------------------------------------------------------------------

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        table, notes = self._table()
        if self.main:
            value, more = self._value(self.main, convert, table)
        else:
            value, more = self._tree(convert, table)
        return value, [*notes, *more]

    def _value(self, name: str, convert: Any = None, table: list[Layout] | None = None) -> tuple[Any, list[Finding]]:
        document = self._pickles[self.folder + name]
        if document.fault is not None:
            raise document.fault
        where = FOLDERS.get(name, "data/")
        if where == "data/":
            where = self.data.removeprefix(self.folder)
        there = self.folder + where
        storages = storages_in(self.archive, there, self.order, where)
        builder = ScriptBuilder(document, storages, self.limits, convert, table)
        return builder.build(), builder.notes

    def listed(self, root: Any) -> Any:
        return with_constants(root, self.constants())

    def constants(self) -> list[Any]:
        """The values of constants.pkl, which the module's code refers to by number: all the weights of a frozen module."""
        if self._constants is None:
            self._constants = self._read_constants()
        value = self._constants[0]
        return list(value) if isinstance(value, (tuple, list)) else []

    def _read_constants(self) -> tuple[Any, list[Finding]]:
        name = self.folder + "constants.pkl"
        if not self.main or name not in self._pickles.names:
            return (), []
        try:
            return self._value("constants.pkl")
        except InertError as error:
            return (), [Finding("pickle-broken", error.message, name, error.offset)]

    # -- torch 1.0 to 1.3: tensors in a table, modules in model.json -----------------------------------------------------------

    def _table(self) -> tuple[list[Layout], list[Finding]]:
        if f"{self.folder}model.json" not in self.archive.members:
            return [], []
        table = Table(
            lambda key: self.archive.members.size(self.folder + key),
            lambda key: self.archive.content(self.folder + key),
            self.order,
            self.limits,
        )
        model = self.model()
        return table.layouts(model.get("tensors") if isinstance(model, dict) else None), []

    def model(self) -> Any:
        if self._model is None:
            name = f"{self.folder}model.json"
            self._model = parse_record(self.archive.span(self.archive.members[name], self.limits.json_bytes), name, self.limits)
        return self._model

    def _tree(self, convert: Any, table: list[Layout]) -> tuple[Any, list[Finding]]:
        values: list[Any] = []
        notes: list[Finding] = []
        if f"{self.folder}attributes.pkl" in self.archive.members:
            found, notes = self._value("attributes.pkl", convert, table)
            values = list(found) if isinstance(found, (tuple, list)) else []
        root, odd = module_tree(self.model(), table, values, lambda layout: tensor_of(layout, self.limits, convert))
        name = f"{self.folder}model.json"
        return root, [*notes, *[Finding("value-odd", text, name) for text in odd]]

    # -- what is told of the file -----------------------------------------------------------------------------------------------

    def _part(self, name: str, member: Member) -> Part:
        part = super()._part(name, member)
        if part.role in ("other", "pickle"):
            part.role = role(name.removeprefix(self.folder), part.role)
        return part

    def metadata(self) -> dict[str, str]:
        found = super().metadata()
        if f"{self.folder}model.json" in self.archive.members:
            try:
                model = self.model()
            except InertError:
                return found  # said where the tensors are asked for
            for key in ("protoVersion", "producerName", "producerVersion"):
                if isinstance(model, dict) and isinstance(model.get(key), (str, int)):
                    found[key] = str(model[key])
        return found

    def notes(self) -> list[Finding]:
        found = [*self.archive.notes, *self._notes, *later(self.archive, *self._code)]
        found += self._constants[1] if self._constants else []
        for name in self._pickles:
            try:
                document = self._pickles[name]
            except InertError as error:
                found.append(Finding("pickle-broken", error.message, name, error.offset))
                continue
            if document.fault is not None:
                found.append(Finding("pickle-broken", document.fault.message, name, document.fault.offset))
            found += document_notes(document)
        code = [name for name in self.archive.members if name.startswith(self._code)]
        if code:
            found.append(Finding("script-code", f"{counted(len(code), 'record')} of TorchScript source and debug tables", code[0]))
        return found


class Flatbuffer(Content):
    """A lite-interpreter file that is one flatbuffer. Its values are read when it is opened: nothing else would tell that it is whole."""

    format = "torchscript"
    order = "little"  # flatbuffers know no other

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self.module = Mobile(Buffer(source), limits)
        self.constants = self.module.constants()
        self.faults: list[Finding] = []
        self.files = {prefix: self._said([], self.module.files, field) for field, prefix in ((EXTRA_FILES, "extra/"), (SOURCES, "code/"))}
        fields = {"bytecode_version": BYTECODE_VERSION, "operator_version": OPERATOR_VERSION}
        self.versions = {name: self._said(None, self.module.root.number, field, "I") for name, field in fields.items()}

    def _said(self, otherwise: Any, ask: Callable[..., Any], *arguments: Any) -> Any:
        """What is not needed for the tensors: where it is damaged, that is noted."""
        try:
            return ask(*arguments)
        except FormatError as error:
            self.faults.append(Finding("value-odd", error.message, self.source.name, error.offset))
            return otherwise

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        module = Mobile(Buffer(self.source), self.limits, convert) if convert else self.module
        value = module.state()
        return value, [Finding("value-odd", text, self.source.name) for text in module.odd]

    def listed(self, root: Any) -> Any:
        return with_constants(root, self.constants)

    def parts(self) -> dict[str, Part]:
        made = {}
        for number, span in enumerate(self.module.spans):
            if span is not None:
                made[f"storage {number}"] = Part(f"storage {number}", self.source.name, span.offset, span.length, "storage")
        for prefix, kind in (("extra/", "extra"), ("code/", "code")):
            for name, span in self.files[prefix]:
                made[prefix + name] = Part(prefix + name, self.source.name, span.offset, span.length, kind)
        return made

    def metadata(self) -> dict[str, str]:
        return {"container": "flatbuffer", **{name: str(number) for name, number in self.versions.items() if number is not None}}

    def checks(self) -> tuple[Any, ...]:
        from . import plain_checks

        return (plain_checks.whole,)

    def notes(self) -> list[Finding]:
        code = [name for name, part in self.parts().items() if part.role == "code"]
        return [*self.faults, *([Finding("script-code", f"{counted(len(code), 'source')} of TorchScript", code[0])] if code else [])]
