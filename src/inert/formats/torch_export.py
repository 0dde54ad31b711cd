"""torch-export: programs of torch.export (.pt2): their weights and constants.

Knows: the archives of torch 2.8 and later (raw records under a JSON table, before that nested torch.save files under data/), and the plain
zip of 2.1 to 2.6. A nested file is read by the format that it is of.
Refuses to know: the program. models/*.json and compiled code (data/aotinductor) are listed; compiled code is flagged. Sample inputs are
listed as parts, their pickles decoded, and their tensors are not among the weights.

The root is the state dict with the constants behind it, by qualified name; {model: …} where the archive holds several models.

Facts: torch 2.13 torch/export/pt2_archive (_package.py, constants.py), torch 2.6 torch/export/__init__.py (save).
"""

from __future__ import annotations

from functools import partial

from ..containers.jsontext import parse_record
from ..containers.zip import Zip
from ..dtypes import DTYPES
from ..errors import FormatError, InertError
from ..finding import Finding
from ..layout import Storage
from ..pickle.decode import Document, decode
from ..source import Window
from ..tensor import Tensor
from ..torch.build import Builder
from ..torch.exported import described
from ..torch.persistent import Storages
from ..words import counted
from . import torch_legacy, torch_zip
from .torch_zip import TorchZip, document_notes, opened
from .torchscript import folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from ..containers.zipdirectory import Member
    from ..content import Content, Part
    from ..limits import Limits
    from ..source import Source

OLD = "serialized_exported_program.json"  # at the root of the zip
OLD_FILES = {"serialized_state_dict": "weights", "serialized_constants": "constants", "serialized_example_inputs": "sample inputs"}
WEIGHTS, CONSTANTS, SAMPLES = "data/weights/", "data/constants/", "data/sample_inputs/"
CONFIGS = {WEIGHTS: "_weights_config.json", CONSTANTS: "_constants_config.json"}
ROLES = (  # first match: how a record's name begins and ends
    (WEIGHTS, ".json", "config"), (CONSTANTS, ".json", "config"), (WEIGHTS, "", "storage"), (CONSTANTS, "", "storage"),
    (SAMPLES, "", "sample inputs"), ("models/", "", "model"), ("data/aotinductor/", "", "native"), ("extra/", "", "extra"),
    (OLD, "", "model"), *[(start, "", kind) for start, kind in OLD_FILES.items()], ("archive_", "", "version"),
)  # fmt: skip
NATIVE = (".so", ".o", ".cubin", ".cpp", ".dylib", ".dll", ".pyd", ".spv", ".hsaco", ".ptx")


def claims(source: Source, limits: Limits) -> Zip | None:
    """A zip that says pt2 of itself, or one of the old layout's names."""
    archive = opened(source, limits)
    if archive is None:
        return None
    member = archive.members.get(f"{folder(archive)}archive_format")
    if member is not None:
        return archive if member.size <= 16 and _said(archive, member).strip() == b"pt2" else None
    return archive if OLD in archive.members else None


def _said(archive: Zip, member: Member) -> bytes:
    try:
        return archive.span(member, 16).read()
    except InertError:
        return b""


def read(source: Source, limits: Limits, claim: Zip, byteorder: str | None) -> TorchExport:
    return TorchExport(source, limits, claim, "" if OLD in claim.members else folder(claim), byteorder)


class TorchExport(TorchZip):
    format = "torch-export"

    def __init__(self, source: Source, limits: Limits, archive: Zip, root: str, byteorder: str | None) -> None:
        super().__init__(source, limits, archive, root, byteorder)
        self.names = [name.removeprefix(root) for name in archive.members if name.startswith(root)]
        self.inside: dict[str, Content | Document] = {}  # nested files that have been opened, by record

    def _early(self) -> None:
        if self.folder:
            super()._early()
        else:
            self.order = self.given_order or "little"  # nested files say their own

    # -- nested files -------------------------------------------------------------------------------------------------------

    def nested(self, name: str) -> Content | Document:
        """The file in a record: a Content of torch.save's, or the Document of a bare pickle. FormatError where it is neither."""
        known = self.inside.get(name)
        if known is None:
            known = self.inside[name] = self._open(name)
        return known

    def _open(self, name: str) -> Content | Document:
        member = self.archive.members[self.folder + name]
        source = Window(self.archive.span(member), self.folder + name)
        for module in (torch_zip, torch_legacy):
            claim: Any = module.claims(source, self.limits)
            if claim is not None:
                content: Content = module.read(source, self.limits, claim, self.given_order)
                return content
        if source.size > 1 and source.read(0, 1) == b"\x80":
            return decode(self.archive.pickle(member).read(), self.folder + name, self.limits)
        raise FormatError("it is no file of torch.save", part=self.folder + name, hint="the file may be damaged: get the file again")

    def _value(self, name: str, convert: Any) -> tuple[Any, list[Finding]]:
        held = self.nested(name)
        if not isinstance(held, Document):
            return held.root(convert)
        if held.fault is not None:
            raise held.fault
        builder = Builder(held, Storages(lambda key: None, _nowhere, self.order), self.limits, convert)
        return builder.build(), builder.notes

    def _files(self) -> Iterator[str]:
        """Records that may be files of torch.save."""
        for name in self.names:
            old = not self.folder and name.partition(".")[0] in OLD_FILES
            if old or (name.startswith((WEIGHTS, CONSTANTS, SAMPLES)) and name.endswith(".pt")):
                yield name

    def pickles(self) -> Mapping[str, Document]:
        """The pickles of nested files: record!pickle."""
        found: dict[str, Document] = {}
        for name in dict.fromkeys([*self._files(), *self.inside]):
            try:
                held = self.nested(name)
                if isinstance(held, Document):
                    found[held.name] = held
                else:
                    found.update((f"{self.folder}{name}!{inner}", document) for inner, document in held.pickles().items())
            except InertError:
                if not name.startswith((SAMPLES, "serialized_example")):
                    raise
        return found

    # -- weights and constants ------------------------------------------------------------------------------------------------

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        models: dict[str, dict[str, Any]] = {}
        notes: list[Finding] = []
        known: dict[str, Storage] = {}
        for model, part, name in self._tables():
            if name.endswith(".json") and self.folder:
                found, more = self._config(part, name, known, convert)
            else:
                found, more = self._value(name, convert)
            notes += more
            if isinstance(found, dict):
                _merge(models.setdefault(model, {}), found)
            else:
                notes.append(Finding("value-odd", "it holds no dict", self.folder + name))
        if not models and any(name.startswith(WEIGHTS) for name in self.names):
            raise FormatError(
                "no table says which weight is which", part=self.source.name, hint="the file may be damaged: get the file again"
            )
        return (next(iter(models.values()), {}) if len(models) < 2 else models), notes

    def _tables(self) -> Iterator[tuple[str, str, str]]:
        """(model, folder, record) of what names weights, then of what names constants."""
        if not self.folder:
            files = {name.partition(".")[0]: name for name in self._files()}
            yield from (("", "", files[stem]) for stem in list(OLD_FILES)[:2] if stem in files)
            return
        for part, end in CONFIGS.items():
            for name in self.names:
                inner = name.removeprefix(part)
                if inner != name and inner.endswith(end):
                    yield inner.removesuffix(end), part, name
                elif inner != name and inner.endswith(".pt"):
                    yield inner.removesuffix(".pt"), part, name

    def _config(self, part: str, name: str, known: dict[str, Storage], convert: Any) -> tuple[dict[str, Any], list[Finding]]:
        record = self.folder + name
        told = parse_record(self.archive.span(self.archive.members[record], self.limits.json_bytes), record, self.limits)
        rows = told.get("config") if isinstance(told, dict) else None
        if not isinstance(rows, dict):
            raise FormatError("it holds no config", part=record, hint="the file may be damaged: get the file again")
        made: dict[str, Any] = {}
        notes: list[Finding] = []
        for fqn, row in rows.items():
            path = row.get("path_name") if isinstance(row, dict) else None
            if not isinstance(path, str):
                notes.append(Finding("value-odd", f"{fqn[:80]!r} names no record", record))
            elif row.get("use_pickle") is True:
                try:
                    made[fqn], more = self._value(part + path, convert)
                    notes += more
                except (InertError, KeyError) as error:
                    notes.append(Finding("record-missing", f"{fqn[:80]!r} in {path[:80]!r}: {error}", record))
            else:
                storage = self._record(part + path, known)
                tensor = Tensor(described(row.get("tensor_meta"), storage, row.get("is_param") is True, self.limits), self.limits)
                made[fqn] = convert(tensor) if convert else tensor
        return made, notes

    def _record(self, name: str, known: dict[str, Storage]) -> Storage:
        storage = known.get(name)
        if storage is None:
            size = self.archive.members.size(self.folder + name)
            storage = known[name] = Storage(name, size or 0, DTYPES["uint8"], "cpu", partial(self.archive.content, self.folder + name))
            storage.order = self.order
            if size is None:
                storage.fault = f"its record {name[:80]} is not in the file"
        return storage

    # -- what is told of the file -----------------------------------------------------------------------------------------------

    def _part(self, name: str, member: Member) -> Part:
        part = super()._part(name, member)
        inner = name.removeprefix(self.folder)
        if part.role in ("other", "storage"):
            part.role = next((kind for start, end, kind in ROLES if inner.startswith(start) and inner.endswith(end)), part.role)
        return part

    def metadata(self) -> dict[str, str]:
        found = super().metadata()
        found |= {key: said.strip() for key in ("archive_format", "archive_version") if (said := self._small(key)) is not None}
        model = next((name for name in self.names if name == OLD or (name.startswith("models/") and name.endswith(".json"))), None)
        if model is not None:
            try:
                span = self.archive.span(self.archive.members[self.folder + model], self.limits.json_bytes)
                told = parse_record(span, model, self.limits)
            except InertError:
                return found  # weights do not need it
            facts = told if isinstance(told, dict) else {}
            schema = facts.get("schema_version")
            if isinstance(schema, dict):
                found["schema_version"] = f"{schema.get('major')!s:.20}.{schema.get('minor')!s:.20}"
            if isinstance(facts.get("torch_version"), str):
                found["torch_version"] = facts["torch_version"][:80]
        return found

    def notes(self) -> list[Finding]:
        found = [*self.archive.notes, *self._notes, *self.archive.later()]
        for name in self._files():
            try:
                held = self.nested(name)
                if isinstance(held, Document):
                    found += document_notes(held)
                else:
                    found += held.notes()
            except InertError as error:
                found.append(Finding("pickle-broken", error.message, self.folder + name, error.offset))
        native = [name for name in self.names if name.startswith("data/aotinductor/") and name.endswith(NATIVE)]
        if native:
            found.append(Finding("export-native", f"{counted(len(native), 'record')}, such as {native[0][:80]!r}", self.folder + native[0]))
        return found


def _nowhere(key: str) -> Any:
    raise FormatError("a bare pickle has no storages", part=key)


def _merge(into: dict[str, Any], found: dict[str, Any]) -> None:
    """Constants behind the weights; of one name in both, the constant is named so."""
    for name, value in found.items():
        into[f"constants.{name}" if name in into else name] = value
