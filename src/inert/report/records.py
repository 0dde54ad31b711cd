"""The records of a file as plain rows: what ``inert parts`` shows.

Knows: where records lie, how they are aligned, and what fills the bytes between them.
Refuses to know: what is in a pickle; none is decoded here, so that a file whose pickle is damaged can still be looked at.
"""

from __future__ import annotations

from ..errors import InertError
from .listing import notes
from .plain import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..containers.zip import Zip
    from ..containers.zipdirectory import Member
    from ..content import Content, Part
    from ..source import Source

ALIGNED = 4096  # alignments are told up to this many bytes
HEADER, FB = 30, 0x4246  # a local header without name and extra field; PyTorch's padding block
DESCRIPTORS = (24, 20, 16)  # bytes of a data descriptor that bears its signature: of 8-byte sizes, a mixed form, 4-byte sizes


def parts(content: Content) -> dict[str, Any]:
    """Every record with offset, size, checksum and alignment; ``gaps``: the bytes that belong to no record, in the file's order."""
    with content.source.steady():
        return _parts(content)


def _parts(content: Content) -> dict[str, Any]:
    found = content.parts()
    metadata = content.metadata()
    made: dict[str, Any] = {
        "file": printable(content.source.name),
        "size": content.source.size,
        "format": content.format,
        "alignment": declared(metadata) or measured(found),
        "alignment_found": measured(found),
        "metadata": {printable(key): printable(value) for key, value in metadata.items()},
        "parts": [row(part, name) for name, part in found.items()],
    }
    archive = getattr(content, "archive", None)
    made["gaps"] = [] if archive is None or not hasattr(archive, "directory") else Regions(archive).gaps()  # an unpacked one has none
    made["notes"] = notes(content.notes())
    return made


def row(part: Part, name: str) -> dict[str, Any]:
    """One record. ``compressed``: its size in the file where that differs; ``crc32``: as stored, None where there is none; ``hidden``:
    a later one of the same name takes its place."""
    made: dict[str, Any] = {
        "name": printable(part.name),
        "file": printable(part.file),
        "offset": part.offset,
        "size": part.size,
        "compressed": part.compressed,
        "crc32": part.crc32,
        "role": part.role,
        "alignment": None if part.offset is None else aligned(part.offset),
    }
    if name != part.name:
        made["hidden"] = True
    return made


def aligned(offset: int) -> int:
    """The largest power of two, up to ALIGNED, that divides the offset."""
    return min(offset & -offset, ALIGNED) if offset else ALIGNED


def declared(metadata: dict[str, str]) -> int | None:
    """The alignment of storages that the file says it has."""
    said = metadata.get("storage_alignment", "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) < 10 else None


def measured(found: dict[str, Part]) -> int | None:
    """The alignment that all storages do have; None where there are none."""
    return min((aligned(part.offset) for part in found.values() if part.role == "storage" and part.offset is not None), default=None)


class Regions:
    """What lies between the records of a zip archive: headers, padding, data descriptors, the directory, and what has no name."""

    def __init__(self, archive: Zip) -> None:
        self.archive = archive
        self.source: Source = archive.source
        self.found: list[tuple[int, int, str, str]] = []  # offset, size, kind, record

    def gaps(self) -> list[dict[str, Any]]:
        end = 0
        for offset, start, size, member in self._runs():
            self._stray(end, offset)
            self._header(member, offset, start)
            end = max(end, start + size + self._descriptor(member, start + size))
        where = self.archive.directory
        self._stray(end, where.offset)
        if where.size:
            self._add(where.offset, where.size, "directory", "")
        after, stop = max(where.offset + where.size, end), min(where.record + 22 + where.comment, self.source.size)
        self._add(after, stop - after, "end records", "")
        self._add(stop, self.source.size - stop, "trailing bytes", "")
        return [{"offset": at, "size": size, "kind": kind, "record": printable(name)} for at, size, kind, name in self.found]

    def _runs(self) -> list[tuple[int, int, int, Member]]:
        """(offset of the header, start of the data, its size, member) in the file's order; damaged members are left out."""
        runs = []
        for member in [*self.archive.members.values(), *self.archive.shadowed]:
            try:
                runs.append((member.offset, self.archive.start(member), member.packed, member))
            except InertError:
                continue
        return sorted(runs, key=lambda run: run[:2])

    def _add(self, offset: int, size: int, kind: str, name: str) -> None:
        if size > 0:
            self.found.append((offset, size, kind, name))

    def _stray(self, end: int, offset: int) -> None:
        self._add(end, offset - end, "unused bytes" if end else "prefix", "")

    def _header(self, member: Member, offset: int, start: int) -> None:
        """The local header with its name, and PyTorch's padding, which is an extra field."""
        named = HEADER + int.from_bytes(self.source.read(offset + 26, 2), "little")
        extra = self.source.read(offset + named, min(start - offset - named, 1 << 16))
        padding, at = 0, 0
        while at + 4 <= len(extra):
            kind, length = int.from_bytes(extra[at : at + 2], "little"), int.from_bytes(extra[at + 2 : at + 4], "little")
            if kind == FB:
                padding = start - offset - named - at
                break
            at += 4 + length
        self._add(offset, start - offset - padding, "header", member.name)
        self._add(start - padding, padding, "padding", member.name)

    def _descriptor(self, member: Member, end: int) -> int:
        """Bytes of the data descriptor behind a member's data, where there is one."""
        if not member.flags & 8 or end + 16 > self.source.size or self.source.read(end, 4) != b"PK\7\10":
            return 0
        head = self.source.read(end, min(28, self.source.size - end))
        for size in DESCRIPTORS:
            if head[size : size + 2] == b"PK" or len(head) == size:
                self._add(end, size, "descriptor", member.name)
                return size
        return 0
