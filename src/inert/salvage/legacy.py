"""What is left of a file of torch.save before PyTorch 1.6.

Knows: that the object's pickle says how large every storage is, so that storages can be reached over a damaged count, and a cut one is
taken as far as it goes; that torch never looks at the system information.
Refuses to know: how values are built (torch/).

Facts: torch 2.13 torch/serialization.py (_legacy_save, _legacy_load).
"""

from __future__ import annotations

from ..errors import FormatError
from ..finding import Finding
from ..formats.torch_legacy import TorchLegacy
from ..pickle.decode import decode
from ..pickle.nodes import List
from ..pickle.partial import rescue
from ..torch.arguments import text
from ..torch.legacy import MAGIC, PARTS, PROTOCOL, Legacy, Reached, declared, decode_at, read_legacy
from ..words import counted
from ..writers import File, Options, Plan
from ..writers.torch_legacy import plainly
from .held import Held, Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..sink import Out, Piece
    from ..source import Source, Span
    from ..torch.persistent import Storages

KEYS = (b"\x80\2]", b"\x80\3]", b"\x80\4]", b"\x80\5]", b"\x80\4\x95")
TRIES = 64
SYSTEM = 1 << 16  # bytes in which the end of a damaged system information is looked for
INFO = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


class Save(Reached):
    def storages(self, prefix: str) -> Storages:
        records = self.records
        return Held(lambda key: records[key].length if key in records else None, records.__getitem__, "little", prefix)


class SalvagedLegacy(TorchLegacy):
    """``first``: what was odd about the pickles."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self.odd: list[Finding] = []
        self.broken: Document | None = None
        self.open_: list[tuple[Any, ...]] = []
        self.ends: dict[str, int] = {}  # of damaged pickles that are replaced: how many bytes they take

    def saves(self) -> list[Legacy]:
        if not self._saves:
            span, at = self.source.span(), 0
            found: list[Legacy] = []
            while at < span.length and len(found) * len(PARTS) < self.limits.pickles:
                try:
                    save = self._save(span, at, bool(found))
                except FormatError as error:
                    if not found:
                        raise
                    self._notes.append(
                        Finding("legacy-trailing", f"{counted(span.length - at, 'byte')}: {error.message}", self.source.name, at)
                    )
                    self._followed(found[-1], span.read(at, min(2, span.length - at)))
                    break
                found.append(save)
                at = save.end
                if save.fault:
                    break
            self._saves = found
        return self._saves

    def _followed(self, save: Legacy, head: bytes) -> None:
        """Bytes follow a save that are no other one: they may be the end of its last storage, which others were put into."""
        if isinstance(save, Save) and save.records and head[:1] != b"\x80":
            save.moved.setdefault(next(reversed(save.records)), "bytes follow it that belong to no save: some may have been put into it")

    def _save(self, span: Span, at: int, strict: bool) -> Save:
        """One save, its storages as far as they reach. ``strict``: its beginning must be right."""
        if strict:
            sound = read_legacy(span, self.limits, at)
            save = Save(sound.pickles, sound.starts)
        else:
            save = self._pickles(span, at)
        keys = save.pickles["storage_keys"].root
        end = save.pickles["storage_keys"].end if strict else self.ends.get("storage_keys", save.pickles["storage_keys"].end)
        end += save.starts["storage_keys"]
        save.end = end
        if type(keys) is not List:
            raise FormatError("the list of storage keys is damaged", part="storage_keys", offset=save.starts["storage_keys"])
        save.reach(span, [text(key) for key in keys.items], end)
        return save

    def _pickles(self, span: Span, at: int) -> Save:
        pickles: dict[str, Document] = {}
        starts: dict[str, int] = {}
        for name in PARTS:
            document = decode_at(span, at, name, self.limits)
            if document.fault is not None and name == "sys_info":
                at, document = self._system(span, at, document)
            if document.fault is not None and name == "storage_keys":
                self.odd.append(Finding("legacy-head", f"the list of storage keys is damaged: {document.fault.message}", name, at))
                at, document = self._counted(span, at, document, pickles["object"])
            if document.fault is not None and name == "object":
                at = self._behind(span, at, document)
                starts[name], pickles[name] = at, document
                at, document = self._keys(span, at + (document.fault.offset or 0))
                name = "storage_keys"
            if document.fault is not None:
                raise document.fault
            starts[name], pickles[name] = at, document
            if (name == "magic" and document.root != MAGIC) or (name == "protocol" and document.root != PROTOCOL):
                self.odd.append(Finding("legacy-head", f"the {name} number is damaged", name, at))
            at += self.ends.get(name, document.end)
            if name == "storage_keys":
                break
        if not declared(pickles["object"]) and type(pickles["magic"].root) is not int:
            raise FormatError("the first pickle is not torch's magic number", part="magic", offset=0)
        return Save(pickles, starts)

    def _system(self, span: Span, at: int, document: Document) -> tuple[int, Document]:
        """The system information, which torch does not look at: where the next pickle begins is all that matters of it."""
        data = span.read(at, min(span.length - at, SYSTEM))
        assert document.fault is not None
        place = data.find(data[:2] if data[:1] == b"\x80" else b"\x80\2", 2)
        if place < 0:
            return at, document
        self.odd.append(Finding("legacy-head", f"the system information is damaged: {document.fault.message}", "sys_info", at))
        made = decode(plainly(dict(INFO), Options("")), "sys_info", self.limits)
        self.ends["sys_info"] = place
        return at, made

    def _counted(self, span: Span, at: int, document: Document, named: Document) -> tuple[int, Document]:
        """The storage keys in their order, which torch sorts, where the storages that end the file have the counts that belong to them."""
        words = {key: next(iter(said)) for key, said in declared(named).items()}
        keys = sorted(words)
        sizes = [words[key][0].itemsize * words[key][1] for key in keys]
        start = place = span.length - sum(sizes) - 8 * len(sizes)
        for key, size in zip(keys, sizes, strict=True):
            if place < at or size < 0 or int.from_bytes(span.read(place, 8), "little", signed=True) != words[key][1]:
                return at, document
            place += 8 + size
        made = decode(plainly(keys, Options("")), "storage_keys", self.limits)
        self.ends["storage_keys"] = start - at
        return at, made

    def _behind(self, span: Span, at: int, document: Document) -> int:
        self.open_ = rescue(document)
        self.broken = document
        return at

    def _keys(self, span: Span, at: int) -> tuple[int, Document]:
        """The list of storage keys behind a damaged object: a pickle of a list of texts."""
        data = span.read(at, min(span.length - at, self.limits.pickle_bytes))
        place, tried = 0, 0
        while tried < TRIES:
            found = [spot for spot in (data.find(key, place) for key in KEYS) if spot >= 0]
            if not found:
                break
            place = min(found)
            document = decode_at(span, at + place, "storage_keys", self.limits)
            if document.fault is None and type(document.root) is List and all(type(text(key)) is str for key in document.root.items):
                return at + place, document
            place, tried = place + 1, tried + 1
        assert self.broken is not None
        assert self.broken.fault is not None
        raise FormatError(
            f"nothing can be recovered: {self.broken.fault.message}, and the storages would come behind it",
            part="object", offset=self.broken.fault.offset,
        )  # fmt: skip


def read(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    first = decode_at(source.span(), 0, "magic", limits)
    if first.fault is not None or type(first.root) is not int:
        return None
    content = SalvagedLegacy(source, limits)
    saves = content.saves()
    made = Salvage(content)
    made.notes = list(content.odd)
    for number, save in enumerate(saves):
        prefix = f"{number}/" if len(saves) > 1 else ""
        assert isinstance(save, Save)
        made.doubts |= {f"{prefix}storage {key}": why for key, why in (save.moved | save.wrong).items()}
        made.notes += [Finding("legacy-count", why, f"{prefix}storage {key}") for key, why in save.wrong.items()]
    if content.broken is not None and content.broken.fault is not None:
        fault = content.broken.fault
        made.notes.append(Finding("pickle-broken", fault.message, "object", fault.offset))
        made.more = "the pickle that names the tensors is damaged; what it would have named behind the fault is not known"
        made.lost += [(".".join(map(str, path)), "the pickle ends before it says what this is") for path in content.open_]
    made.healed = lambda options: healed(content)
    return made


def healed(content: SalvagedLegacy) -> Plan | None:
    """The saves again, without what follows them, with counts that are right; None where a pickle is broken."""
    if content.broken is not None:
        return None
    span = content.source.span()
    pieces: list[Piece] = []
    for save in content.saves():
        assert isinstance(save, Save)
        if save.short or len(save.records) != len(save.pickles["storage_keys"].root.items):
            return None  # some are cut short, listed twice, or not there
        if not declared(save.pickles["object"]).keys() <= save.records.keys():
            return None  # the list does not name one, not even one of no bytes: torch looks for it
        for name in PARTS:
            right = {"magic": MAGIC, "protocol": PROTOCOL}.get(name)
            document = save.pickles[name]
            if right is not None and document.root != right:
                pieces.append(plainly(right, Options("")))
            elif name in content.ends and save is content.saves()[0]:
                pieces.append(document.data[: document.end])
            else:
                pieces.append(span.sub(save.starts[name], document.end))
        for key, record in save.records.items():
            pieces += (save.counts[key].to_bytes(8, "little"), record)

    def write(out: Out) -> None:
        for piece in pieces:
            out.pour(piece)

    from ..sink import length_of

    return Plan([File("", sum(map(length_of, pieces)), write)])
