"""The multi-pickle layout of torch.save before 1.6, which plain pickle still embeds as bytes.

Knows: magic, protocol number, system information, object, storage keys, then storages with a count of their own each.
Refuses to know: files; it reads a Span. One save after another may follow in the same bytes (``start``).

Facts: torch 2.13 torch/serialization.py (_legacy_save, _legacy_load).
"""

from __future__ import annotations

from ..errors import FormatError, TruncatedError
from ..finding import Finding
from ..pickle.decode import Document, decode
from ..pickle.nodes import List, shown
from ..source import BytesSource
from .arguments import Odd, text
from .persistent import Storages, class_of
from .storages import STORAGE_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits
    from ..source import Span

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
PARTS = ("magic", "protocol", "sys_info", "object", "storage_keys")


class Legacy:
    """One save: its five pickles by name with their offsets, and its storage records by key."""

    def __init__(self, pickles: dict[str, Document], starts: dict[str, int]) -> None:
        self.pickles = pickles
        self.starts = starts
        self.records: dict[str, Span] = {}
        self.end = 0  # offset behind the last storage
        self.fault = ""  # why the storages end early
        self.fault_at = 0
        self.notes: list[Finding] = []

    def size(self, key: str) -> int | None:
        """Bytes of a storage, None where there is none or where it lies behind a fault."""
        return self.records[key].length if key in self.records else None

    def storages(self, prefix: str) -> Storages:
        """The storages of this save. They know its records, not the save, which holds the pickles that hold them."""
        records = self.records
        return Storages(lambda key: records[key].length if key in records else None, records.__getitem__, "little", prefix)


def decode_at(span: Span, at: int, name: str, limits: Limits, window: int = 1 << 16) -> Document:
    """Decode the pickle at ``at``, reading no more of what follows it than four times its own length (and ``window`` bytes)."""
    while True:
        data = span.read(at, min(window, span.length - at))
        document = decode(data, name, limits)
        if not isinstance(document.fault, TruncatedError) or window >= span.length - at:
            return document
        window *= 4


def read_legacy(span: Span, limits: Limits, start: int = 0) -> Legacy:
    """Read one save at ``start``. FormatError where the pickles are damaged; storages behind a fault are missing from ``records``."""
    pickles: dict[str, Document] = {}
    starts: dict[str, int] = {}
    at = start
    for name in PARTS:
        document = decode_at(span, at, name, limits)
        if document.fault:
            raise document.fault
        if name == "magic" and document.root != MAGIC:
            raise FormatError("the first pickle is not torch's magic number", part=name, offset=start)
        if name == "protocol" and document.root != PROTOCOL:
            raise FormatError(f"protocol {shown(document.root)}; torch knows {PROTOCOL}", part=name, offset=at)
        pickles[name], starts[name] = document, at
        at += document.end
    save = Legacy(pickles, starts)
    save.end = at
    keys = pickles["storage_keys"].root
    if type(keys) is List:
        _storages(save, span, [text(key) for key in keys.items], at)
    else:
        save.fault, save.fault_at = f"the storage keys are {shown(keys)}, not a list", starts["storage_keys"]
    return save


def _storages(save: Legacy, span: Span, names: list[Any], at: int) -> None:
    """Step from count to count; the data between is not read."""
    said = declared(save.pickles["object"])
    for name in names:
        words = said.get(name) if type(name) is str else None
        if not words:
            save.fault = f"storage {shown(name)} is listed but no tensor uses it, so its size is unknown: it and those behind it are lost"
            break
        try:
            count = int.from_bytes(span.read(at, 8), "little", signed=True)
            dtype = next((dtype for dtype, items in words if items == count), next(iter(words))[0])
            place = span.sub(at + 8, count * dtype.itemsize)
        except TruncatedError:
            save.fault = f"storage {name} does not fit the {span.length - at:,} bytes that are left"
            break
        if (dtype, count) not in words:
            save.fault = f"storage {name} counts {count:,} elements where the pickle says {next(iter(words))[1]:,}"
            break
        if name in save.records and len(save.notes) < 100:
            save.notes.append(Finding("legacy-keys", f"storage {name} is listed twice", "storage_keys", at))
        save.records[name] = place
        at += 8 + place.length
    save.end = save.fault_at = at


def declared(document: Document) -> dict[str, dict[tuple[DType, int], None]]:
    """Storage key → element types and counts, the first one first, from the persistent ids: the storages themselves give only a count."""
    nowhere: dict[str, Span] = {}
    probe = Storages(lambda key: None, nowhere.__getitem__, "little", "")
    found: dict[str, dict[tuple[DType, int], None]] = {}
    for reference in document.references:
        try:
            probe.of(reference)
        except Odd:
            continue
        kind, key, _, count = reference.pid[1:5]
        found.setdefault(text(key), {})[STORAGE_TYPES[kind.dotted], count] = None
    return found


_Row = tuple[str, int, int, bool]  # a storage's key, where its count stands, bytes, whether the count is right


class Reached(Legacy):
    """A save whose storages are taken as far as they reach: the object's pickle says how large each is, so one damaged count, or an end
    that comes too early, costs no more than what it hits. ``wrong``: why the bytes of a storage are in doubt, by key; ``moved``: of those
    whose own counts are right, that what follows them does not stand where it should."""

    def __init__(self, pickles: dict[str, Document], starts: dict[str, int]) -> None:
        super().__init__(pickles, starts)
        self.wrong: dict[str, str] = {}
        self.moved: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.short: set[str] = set()  # keys of storages of which a part is missing

    def reach(self, span: Span, names: list[Any], at: int) -> None:
        """Take the storages that are listed, from their first count on."""
        rows, at = self._rows(span, names, at)
        last = max((place for place, row in enumerate(rows) if row[3]), default=-1)
        if at == span.length:
            last = len(rows) - 1  # all of it comes out to the byte
            if len(rows) > 1 and not rows[-1][3] and rows[-2][3]:  # and nothing behind that count says that only it is damaged
                self.moved[rows[-2][0]] = "the count behind it is wrong: bytes may have been taken out of it"
        elif 0 <= last < len(rows) - 1 and rows[last + 1][1] + 8 <= span.length:
            rows, last = self._moved(span, rows, last, span.length - at)
        self._take(span, rows, last)

    def _rows(self, span: Span, names: list[Any], at: int) -> tuple[list[_Row], int]:
        """Where each storage should stand, and where all should end."""
        words = declared(self.pickles["object"])
        rows: list[_Row] = []
        for name in names:
            said = words.get(name) if type(name) is str else None
            if not said:
                text = f"storage {shown(name)} is listed but no tensor uses it, so its size is unknown: it and those behind it are lost"
                self.fault, self.fault_at = text, at
                break
            count = int.from_bytes(span.read(at, 8), "little", signed=True) if at + 8 <= span.length else None
            dtype, number = next(((dtype, items) for dtype, items in said if items == count), next(iter(said)))
            if number < 0:
                break
            rows.append((name, at, number * dtype.itemsize, count == number))
            self.counts[name] = number
            at += 8 + number * dtype.itemsize
        return rows, at

    def _moved(self, span: Span, rows: list[_Row], last: int, by: int) -> tuple[list[_Row], int]:
        """No count behind a storage is right: bytes were put into it, or taken out. Where the file is longer or shorter by as many as those
        behind it then stand further on, they are taken from there."""
        key = rows[last][0]
        told = f"{abs(by):,} bytes were {'put into it' if by > 0 else 'taken out of it'}, by where the counts behind it stand"
        there = [(name, start + by, size, True) for name, start, size, _ in rows[last + 1 :]]
        counts = [int.from_bytes(span.read(start, 8), "little", signed=True) for _, start, _, _ in there if start >= rows[last][1] + 8]
        if counts == [self.counts[name] for name, *_ in there]:
            self.wrong[key] = told
            return [*rows[: last + 1], *there], len(rows) - 1
        self.moved[key] = "what should follow it does not: bytes may have been put into it, or taken out"
        return rows, last

    def _take(self, span: Span, rows: list[_Row], last: int) -> None:
        """The records, up to the last whose place is certain."""
        for place, (name, start, size, right) in enumerate(rows):
            room = span.length - start - 8
            if room < 0:
                self.fault, self.fault_at = self.fault or f"storage {name} and those behind it are not in the file", min(start, span.length)
                if not size:
                    self.records[name] = span.sub(span.length, 0)  # nothing of it is missing but its count
                continue
            if not right and place > last:
                text = f"storage {name} does not stand where it should: its count is wrong, and so are all behind it"
                self.fault, self.fault_at = text, start
                break
            if not right:
                self.wrong[name] = f"the count before its bytes (at byte {start:,}) is damaged"
            if room < size:
                self.short.add(name)
            if room < size and not self.fault:
                self.fault, self.fault_at = f"storage {name} of {size:,} bytes does not fit the {room:,} bytes that are left", start
            self.records[name] = span.sub(start + 8, min(size, room))
            self.end = start + 8 + min(size, room)


def source_notes(document: Document) -> list[Finding]:
    """The source texts of module classes that the persistent ids carry: kept in the Reference, never parsed."""
    found: dict[str, Finding] = {}
    for reference in document.references:
        named = class_of(reference)
        if named is None or named.dotted in found:
            continue
        file, source = map(text, reference.pid[-2:])
        if isinstance(source, (str, bytes)) and source:
            message = f"the source text of {named.dotted} is in the file: {len(source):,} characters, from {shown(file)}"
            found[named.dotted] = Finding("module-source", message, document.name, reference.offset)
    return list(found.values())[:1000]


def embedded_value(raw: bytes, name: str, limits: Limits, convert: Any, depth: int, work: Any) -> tuple[Any, list[Finding]]:
    """The value of a legacy save held in bytes, and what was odd about it. Odd where it is damaged."""
    from .build import Builder

    try:
        save = read_legacy(BytesSource(raw, name).span(), limits)
    except FormatError as error:
        error.__traceback__ = None  # its frames hold the document that holds the error; there may be a great many
        raise Odd(f"the embedded torch file: {error}") from None
    builder = Builder(save.pickles["object"], save.storages(f"{name}/"), limits, convert, depth, work)
    value = builder.build()
    builder.notes += save.notes
    if save.fault:
        builder.notes.append(Finding("record-missing", save.fault, name))
    return value, builder.notes
