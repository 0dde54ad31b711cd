"""torch-tar: what torch.save wrote before PyTorch 0.1.10, a tar archive of storages, tensors and the object that refers to them.

Knows: which members make such an archive, and how they make a Checkpoint. Nothing is extracted: members are read where they lie.
Refuses to know: what the streams in the members mean (torch/tar.py).

Facts: torch 2.13 torch/serialization.py (_legacy_load.legacy_load), which still reads them with weights_only=False.
"""

from __future__ import annotations

from ..containers.tar import BLOCK, Tar, is_header
from ..content import Content, Part
from ..errors import InertError, LimitError
from ..pickle.decode import decode
from ..pickle.nodes import Dict, shown
from ..torch.arguments import text
from ..torch.build import Builder
from ..torch.legacy import source_notes
from ..torch.tar import Objects
from .torch_zip import document_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..finding import Finding
    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source, Span
    from ..tensor import Tensor

NEEDED = ("pickle", "tensors", "storages")  # torch needs no other member
ROLES = {"sys_info": "system", "pickle": "pickle", "storages": "storages", "tensors": "tensors"}
SYSTEM = 1 << 16  # bytes of sys_info, which torch itself never reads; it takes about 116
LOOKED = 64  # members that are looked at: torch wrote four


def claims(source: Source, limits: Limits) -> Tar | None:
    """An archive whose first member is torch's, or that holds the three which torch reads."""
    if source.size < BLOCK or not is_header(source.read(0, BLOCK)):
        return None
    try:
        archive = Tar(source, limits, LOOKED)
    except InertError:
        return None
    first = next(iter(archive.members), "")
    return archive if first in ("sys_info", "storages", "tensors") or all(name in archive.members for name in NEEDED) else None


def read(source: Source, limits: Limits, archive: Tar, byteorder: str | None) -> TorchTar:
    return TorchTar(source, limits, archive)


class TorchTar(Content):
    format = "torch-tar"

    def __init__(self, source: Source, limits: Limits, archive: Tar) -> None:
        super().__init__(source, limits)
        self.tar = archive
        self._document: Document | None = None
        self._objects: Objects | None = None

    def _object(self) -> Document:
        if self._document is None:
            span = self.tar.content("pickle")
            if span.length > self.limits.pickle_bytes:
                raise LimitError(f"a pickle of {span.length:,} bytes", part="pickle", hint="raise Limits.pickle_bytes")
            self._document = decode(span.read(), "pickle", self.limits)
        if self._document.fault is not None:
            raise self._document.fault
        return self._document

    def _held(self) -> Objects:
        if self._objects is None:
            self._objects = Objects(self._stream("storages"), self._stream("tensors"), self.limits)
        return self._objects

    def _stream(self, name: str) -> Span:
        """What there is of a member; nothing where it is missing, which Objects then says."""
        return self.tar.content(name, cut=True) if name in self.tar.members else self.source.span(0, 0)

    def _system(self) -> Document | None:
        try:
            span = self.tar.content("sys_info")
        except InertError:
            return None
        return decode(span.read(), "sys_info", self.limits) if span.length <= SYSTEM else None

    def pickles(self) -> dict[str, Document]:
        system = self._system()
        found = {"sys_info": system} if system else {}
        return found | {"pickle": self._object()} | self._held().documents

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        builder = Builder(self._object(), self._held(), self.limits, convert)
        value = builder.build()
        return value, builder.notes

    def parts(self) -> dict[str, Part]:
        made = {}
        for name, member in self.tar.members.items():
            role = "refused" if member.refused else ROLES.get(name, "other")
            made[name] = Part(name, self.source.name, member.offset, member.size, role)
        for key, span in self._held().spans.items():
            made[f"storage {key}"] = Part(f"storage {key}", self.source.name, span.offset, span.length, "storage")
        return made

    def metadata(self) -> dict[str, str]:
        system = self._system()
        pairs = list(system.root.pairs()) if system and type(system.root) is Dict else []
        facts = {str(text(key)): shown(value) for key, value in pairs if type(value) is int}
        said = {text(key): value for key, value in pairs if type(text(key)) is str}
        if type(said.get("little_endian")) is bool:
            facts["byteorder"] = "little" if said["little_endian"] else "big"
        return facts

    def checks(self) -> tuple[Any, ...]:
        from . import plain_checks

        return (plain_checks.tar,)

    def notes(self) -> list[Finding]:
        found = [*self.tar.notes, *self._held().notes, *document_notes(self._object()), *source_notes(self._object())]
        for document in self._held().documents.values():
            found += [note for note in document_notes(document) if note.code != "pickle-trailing"]
        return found
