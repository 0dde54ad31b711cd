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
from .rebuild import Odd, Storages, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..source import Span

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
PARTS = ("magic", "protocol", "sys_info", "object", "storage_keys")


class Legacy:
    """One save: its five pickles by name, and its storage records by key."""

    def __init__(self, pickles: dict[str, Document], records: dict[str, Span], end: int, fault: str) -> None:
        self.pickles = pickles
        self.records = records
        self.end = end  # offset behind the last storage
        self.fault = fault  # why the storages end early

    def size(self, key: str) -> int | None:
        return self.records[key].length if key in self.records else None


def read_legacy(span: Span, limits: Limits, start: int = 0) -> Legacy:
    """Read one save at ``start``. FormatError where the pickles are damaged; damaged storages are missing from ``records``."""
    data = span.read()
    pickles: dict[str, Document] = {}
    at = start
    for name in PARTS:
        document = decode(data, name, limits, start=at)
        if document.fault:
            raise document.fault
        pickles[name] = document
        at = document.end
    if pickles["magic"].root != MAGIC:
        raise FormatError("the first pickle is not torch's magic number", offset=start)
    if pickles["protocol"].root != PROTOCOL:
        raise FormatError(f"protocol {shown(pickles['protocol'].root)}; torch knows 1001", offset=pickles["magic"].end)
    keys = pickles["storage_keys"].root
    names = [text(key) for key in keys.items] if type(keys) is List else []
    return _storages(span, pickles, names, at)


def _storages(span: Span, pickles: dict[str, Document], names: list[Any], at: int) -> Legacy:
    sizes = _item_sizes(pickles["object"])
    records: dict[str, Span] = {}
    fault = ""
    for name in names:
        if type(name) is not str or name not in sizes:
            fault = f"storage {shown(name)} is listed but no tensor uses it, so its size is unknown"
            break
        try:
            count = int.from_bytes(span.read(at, 8), "little", signed=True)
            place = span.sub(at + 8, count * sizes[name])
        except TruncatedError:
            fault = f"storage {name} at byte {at:,} does not fit the bytes that are left"
            break
        records[name] = place
        at += 8 + place.length
    return Legacy(pickles, records, at, fault)


def _item_sizes(document: Document) -> dict[str, int]:
    """Storage key → bytes of an item, from the persistent ids: the storages themselves do not say."""
    nowhere: dict[str, Span] = {}
    probe = Storages(lambda key: None, nowhere.__getitem__, "little", "")
    sizes: dict[str, int] = {}
    for reference in document.references:
        try:
            storage = probe.of(reference)
        except Odd:
            continue
        sizes.setdefault(storage.key, storage.dtype.itemsize)
    return sizes


def embedded_value(raw: bytes, name: str, limits: Limits, convert: Any, depth: int, work: Any) -> tuple[Any, list[Finding]]:
    """The value of a legacy save held in bytes, and what was odd about it. Odd where it is damaged."""
    from .build import Builder

    try:
        save = read_legacy(BytesSource(raw, name).span(), limits)
    except FormatError as error:
        raise Odd(f"the embedded torch file: {error}") from None
    storages = Storages(save.size, save.records.__getitem__, "little", f"{name}/")
    builder = Builder(save.pickles["object"], storages, limits, convert, depth, work)
    value = builder.build()
    if save.fault:
        builder.notes.append(Finding("record-missing", save.fault, name))
    return value, builder.notes
