"""The tar container: names → members → Spans, read in place.

Knows: ustar, GNU and pax headers (long names, sizes beyond 8 GiB), where each member's bytes lie, what a damaged archive still holds.
Refuses to know: how to unpack. Nothing is ever extracted, so that no name can lead anywhere; links, devices and sparse files have no
bytes here and are listed with the reason, and so are names that are absolute or climb with "..".

Facts: POSIX.1-2017 (pax, ustar), GNU tar manual "Basic Tar Format"; of equal names the last one counts, as in CPython's tarfile.
"""

from __future__ import annotations

import re

from ..errors import FormatError, LimitError, TruncatedError
from ..finding import Finding
from ..source import Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..limits import Limits
    from ..source import Source

BLOCK = 512
LONGEST = 1 << 20  # bytes of an extended header: real ones take a few hundred
NOTED = 100  # members that a finding is made for
KINDS = {  # members that are no plain files, by their type flag
    b"1": "a hard link", b"2": "a symbolic link", b"3": "a character device", b"4": "a block device", b"5": "a folder", b"6": "a FIFO",
    b"S": "a sparse file",
}  # fmt: skip
FILES = (b"0", b"\0", b"7")
EXTENDED = (b"x", b"g", b"L", b"K")
RECORD = re.compile(rb"([0-9]{1,7}) ([^=\n]{1,256})=")


class Member:
    """One file of the archive: ``offset`` of its first byte and ``size``, both in bytes; ``refused`` says why it has none to give."""

    __slots__ = ("name", "offset", "refused", "size")

    def __init__(self, name: str, offset: int, size: int, refused: str = "") -> None:
        self.name = name
        self.offset = offset
        self.size = size
        self.refused = refused


class Tar:
    """An opened archive: ``members`` by name (a leading "./" is left out), ``notes``. ``most``: stop after so many members."""

    def __init__(self, source: Source, limits: Limits, most: int | None = None) -> None:
        self.source = source
        self.limits = limits
        self.notes: list[Finding] = []
        self.members: dict[str, Member] = {}
        self.whole = True  # all members have been looked at
        self.fillers: list[tuple[int, int]] = []  # (offset, size) of what fills the last block of each member …
        self.end = source.size  # … and where the members end
        for number, member in enumerate(self._walk()):
            if number == most:
                self.whole = False
                break
            if number >= limits.entries:
                raise LimitError(f"more than {number:,} members", part=source.name, hint="raise Limits.entries")
            self._add(member)

    def _add(self, member: Member) -> None:
        known = self.members.pop(member.name, None)
        if known is not None and not (known.refused and member.refused):
            self._note("tar-duplicate", "two members have this name", member)
        if member.refused and not member.refused.startswith("a folder"):
            self._note("tar-refused", member.refused, member)
        self.members[member.name] = member

    def _note(self, code: str, text: str, member: Member) -> None:
        if len(self.notes) < NOTED:
            self.notes.append(Finding(code, text, member.name, member.offset))

    def content(self, name: str, cut: bool = False) -> Span:
        """The bytes of the member called ``name``. FormatError where it is none or has none, TruncatedError where they are cut off;
        with ``cut``, those that are left."""
        member = self.members.get(name)
        if member is None:
            raise FormatError("there is no such member", part=name)
        if member.refused:
            raise FormatError(f"this member is {member.refused}, not a plain file", part=name, offset=member.offset)
        room = self.source.size - member.offset
        if member.size > room and cut:
            return Span(self.source, min(member.offset, self.source.size), max(room, 0))
        if member.size > room:
            text = f"its {member.size:,} bytes would end beyond the file's {self.source.size:,}"
            raise TruncatedError(text, part=name, offset=member.offset, hint="the file is cut short")
        return Span(self.source, member.offset, member.size)

    def _walk(self) -> Iterator[Member]:
        at, size = 0, self.source.size
        shared: dict[str, bytes] = {}  # what pax "g" headers say of all members that follow …
        own: dict[str, bytes] = {}  # … and "x", "L" and "K" headers of the next one
        while at + BLOCK <= size:
            header = self.source.read(at, BLOCK)
            if not is_header(header):
                self.end = at
                if header.count(0) != BLOCK:
                    self.notes.append(Finding("tar-damaged", "no header of a member stands here", self.source.name, at))
                return
            kind, length, start = header[156:157], number(header[124:136]), at + BLOCK
            if kind in EXTENDED:
                self.fillers.append((start + length, -length % BLOCK))
                at = start + -(-length // BLOCK) * BLOCK
                (shared if kind == b"g" else own).update(self._extended(kind, start, length))
                continue
            said = shared | own
            own = {}
            if said.get("size", b"").isdigit() and len(said["size"]) < 20:
                length = int(said["size"])
            at = start if kind in KINDS and kind != b"S" else start + -(-length // BLOCK) * BLOCK
            if at > start and length % BLOCK:
                self.fillers.append((start + length, -length % BLOCK))
            name = clean(said.get("path") or plain_name(header))
            yield Member(name, start, length, unsafe(name) or KINDS.get(kind, "" if kind in FILES else "of an unknown kind"))
        self.end = min(at, size)
        if at > size:
            self.notes.append(Finding("tar-cut", f"its last member should end at byte {at:,}", self.source.name, size))

    def _extended(self, kind: bytes, start: int, length: int) -> dict[str, bytes]:
        """Fields of an extended header. FormatError where it is far longer than any real one."""
        if length > LONGEST:
            raise FormatError(f"an extended header of {length:,} bytes", part=self.source.name, offset=start)
        data = self.source.read(start, min(length, self.source.size - start))
        if kind == b"L":
            return {"path": data.rstrip(b"\0")}
        return {} if kind == b"K" else dict(records(data))


def records(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The "length key=value" records of a pax header."""
    at = 0
    while found := RECORD.match(data, at):
        end = at + int(found[1])
        if not found.end() <= end <= len(data):
            return
        yield found[2].decode("utf-8", "replace"), data[found.end() : end - 1]
        at = end


def is_header(block: bytes) -> bool:
    """Whether the checksum of a member's header is right: old archives have no magic number, and anything may hold "ustar"."""
    return len(block) == BLOCK and block[0] != 0 and sum(block) - sum(block[148:156]) + 8 * 32 == number(block[148:156])


def number(field: bytes) -> int:
    """Octal digits, or (GNU, from 8 GiB on) a binary number."""
    digits = re.match(rb"[ \0]*([0-7]{1,12})", field)
    if digits:
        return int(digits[1], 8)
    return int.from_bytes(field[1:], "big") if field[:1] == b"\x80" else 0


def plain_name(header: bytes) -> bytes:
    name, prefix = header[:100].partition(b"\0")[0], header[345:500].partition(b"\0")[0]
    return prefix + b"/" + name if prefix and header[257:263] == b"ustar\0" else name


def clean(raw: bytes) -> str:
    return raw[:4096].decode("utf-8", "surrogateescape").removeprefix("./")


def unsafe(name: str) -> str:
    """Why a name is refused: "" where it leads nowhere outside."""
    if name.startswith(("/", "\\")) or name[1:2] == ":":
        return "under an absolute name"
    return "under a name that climbs out of its folder" if ".." in re.split(r"[/\\]", name) else ""
