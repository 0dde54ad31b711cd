"""torch-legacy: what torch.save wrote before PyTorch 1.6, and still does on request.

Knows: several pickles end to end, then storages with a count of their own; one save may follow another in the same file.
Refuses to know: what the pickles mean (torch/). The data of storages is stepped over, not read.

Facts: torch 2.13 torch/serialization.py (_legacy_save, _legacy_load). Storages are little-endian whatever sys_info says.
"""

from __future__ import annotations

from ..containers.tar import BLOCK, is_header
from ..content import Content, Part
from ..errors import InertError
from ..finding import Finding
from ..pickle.nodes import Dict, shown
from ..torch.arguments import text
from ..torch.build import Builder
from ..torch.legacy import MAGIC, PARTS, Legacy, decode_at, read_legacy, source_notes
from ..words import counted
from .torch_zip import FILLED, TOLD, document_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source
    from ..tensor import Tensor

_MAGIC = MAGIC.to_bytes(10, "little"), str(MAGIC).encode()  # as LONG1, and as the text of protocols 0 and 1


def claims(source: Source, limits: Limits) -> bool | None:
    """The magic number is the first pickle's value, in whatever protocol."""
    head = source.read(0, min(64, source.size))
    if not any(magic in head for magic in _MAGIC):
        return None
    return decode_at(source.span(), 0, "magic", limits).root == MAGIC or None


def read(source: Source, limits: Limits, claim: bool, byteorder: str | None) -> TorchLegacy:
    return TorchLegacy(source, limits)


class TorchLegacy(Content):
    format = "torch-legacy"

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self._saves: list[Legacy] = []
        self._notes: list[Finding] = []

    @property
    def tarred(self) -> bool:
        """Whether torch takes it for a tar archive, which it tries first."""
        return is_header(self.source.read(0, min(BLOCK, self.source.size)))

    def saves(self) -> list[Legacy]:
        """Every save in the file, in order; what follows the last one is noted."""
        if not self._saves:
            span, at = self.source.span(), 0
            found: list[Legacy] = []
            while at < span.length:
                try:
                    save = read_legacy(span, self.limits, at)
                except InertError as error:
                    if not found:
                        raise
                    self._notes.append(
                        Finding("legacy-trailing", f"{counted(span.length - at, 'byte')}: {error.message}", self.source.name, at)
                    )
                    break
                found.append(save)
                at = save.end
                if save.fault:
                    break
                if len(found) * len(PARTS) >= self.limits.pickles and at < span.length:
                    text = f"{len(found):,} saves one behind another were read"
                    self._notes.append(Finding("pickles-limit", text, self.source.name, at))
                    break
            self._saves = found
        return self._saves

    def _prefix(self, number: int) -> str:
        return f"{number}/" if len(self.saves()) > 1 else ""

    def pickles(self) -> dict[str, Document]:
        return {f"{self._prefix(i)}{name}": save.pickles[name] for i, save in enumerate(self.saves()) for name in PARTS}

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        values, notes = [], []
        for number, save in enumerate(self.saves()):
            storages = save.storages(f"{self.label}{self._prefix(number)}storage ")
            builder = Builder(save.pickles["object"], storages, self.limits, convert)
            values.append(builder.build())
            notes += builder.notes
            if convert is None and len(self.saves()) == 1:
                self.built = builder
        return (values[0] if len(values) == 1 else values), notes

    def parts(self) -> dict[str, Part]:
        made = {}
        for number, save in enumerate(self.saves()):
            prefix = self._prefix(number)
            for name in PARTS:
                made[prefix + name] = Part(prefix + name, self.source.name, save.starts[name], save.pickles[name].end, "pickle")
            for key, span in save.records.items():
                name = f"{prefix}storage {key}"
                made[name] = Part(name, self.source.name, span.offset, span.length, "storage")
        return made

    def metadata(self) -> dict[str, str]:
        facts = {"protocol_version": "1001"}
        system = self.saves()[0].pickles["sys_info"].root
        for key, value in system.pairs() if type(system) is Dict else ():
            if text(key) == "little_endian":
                facts["byteorder"] = "little" if value is True else "big"
            elif text(key) == FILLED and type(value) is str:
                facts[FILLED] = value[:TOLD]
            elif type(value) is not Dict:
                facts[str(text(key))] = shown(value)
        return facts

    def checks(self) -> tuple[Any, ...]:
        from . import plain_checks

        return (plain_checks.legacy,)

    def notes(self) -> list[Finding]:
        saves = self.saves()
        found = list(self._notes)
        if len(saves) > 1:
            found.append(Finding("pickle-several", f"{len(saves):,} saves one behind another", self.source.name))
        for save in saves:
            found += save.notes
            if save.fault:
                found.append(Finding("record-missing", save.fault, self.source.name, save.fault_at))
            for document in save.pickles.values():
                found += [note for note in document_notes(document) if note.code != "pickle-trailing"]
            found += source_notes(save.pickles["object"])
        if self.tarred:
            found.append(Finding("tar-head", "its first 512 bytes are the header of a tar archive too", self.source.name, 0))
        if self.metadata().get("byteorder") == "big":
            found.append(Finding("legacy-byteorder", "sys_info says big-endian", "sys_info"))
        return found
