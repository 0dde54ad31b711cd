"""The tar container: names → members → Spans, read in place.

Knows: ustar, GNU and pax headers (long names, sizes beyond 8 GiB), where each member's bytes lie, what a damaged archive still holds.
Numbers and records are read as Python reads them, which torch reads the tar layout with; what it takes in a way of its own is refused.
Refuses to know: how to unpack. Nothing is ever extracted, so that no name can lead anywhere; links, devices and sparse files have no
bytes here and are listed with the reason, and so are names that are absolute or climb with "..".

Facts: POSIX.1-2017 (pax, ustar), GNU tar manual "Basic Tar Format" and "Sparse Formats"; CPython 3.13 Lib/tarfile.py (nti, nts, frombuf,
_proc_builtin, _proc_pax, _proc_gnulong, _apply_pax_info): of equal names the last one counts, of several headers about a member the first.
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
EXTENDED = (b"x", b"X", b"g", b"L", b"K")
RECORD = re.compile(rb"([0-9]{1,7}) ([^=\n]{1,256})=")
SPARSE = "GNU.sparse."  # what the records begin with that make a plain member a sparse one, give it another name or size
ODD = "odd"  # key of an extended header whose records are no records
DIGITS = 20  # of a number
# numbers of a header besides size and checksum: mode, owner, group, time, device
FIELDS = ((100, 108), (108, 116), (116, 124), (136, 148), (329, 337), (337, 345))


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
        self.shadowed: list[Member] = []  # those that later ones of the same name hide
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
        if known is not None:
            self.shadowed.append(known)
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
            raise TruncatedError(text, part=name, offset=member.offset, hint="the file is cut short: get the file again")
        return Span(self.source, member.offset, member.size)

    def _walk(self) -> Iterator[Member]:
        at, whole = 0, self.source.size
        shared: dict[str, bytes] = {}  # what pax "g" headers say of all members that follow …
        own: dict[str, bytes] | None = None  # … and "x", "L" and "K" headers of the next one; None where there are none
        while at + BLOCK <= whole:
            header = self.source.read(at, BLOCK)
            if not is_header(header):
                self.end = at
                if own is not None:
                    self.notes.append(Finding("tar-cut", "an extended header without its member", self.source.name, at))
                elif header.count(0) != BLOCK:
                    self.notes.append(Finding("tar-damaged", "no header of a member stands here", self.source.name, at))
                return
            kind, length, start = header[156:157], number(header[124:136]) or 0, at + BLOCK
            if kind in EXTENDED and length >= 0:
                self.fillers.append((start + length, -length % BLOCK))
                at = start + -(-length // BLOCK) * BLOCK
                made = self._extended(kind, start, length)
                own, shared = (own or {}, shared | made) if kind == b"g" else (made | (own or {}), shared)
                continue
            member, takes = self._member(header, start, shared, own or {})
            own = None
            yield member
            if takes and member.size % BLOCK:
                self.fillers.append((start + member.size, -member.size % BLOCK))
            at = start + -(-member.size // BLOCK) * BLOCK * takes
        self.end = min(at, whole)
        if at > whole or own is not None:
            self.notes.append(Finding("tar-cut", f"its last member should end at byte {at:,}", self.source.name, whole))

    def _member(self, header: bytes, start: int, shared: dict[str, bytes], own: dict[str, bytes]) -> tuple[Member, bool]:
        """The member of a header and what others say of it; whether its bytes stand behind the header."""
        said = shared | own
        name = clean(said.get(SPARSE + "name", b"") or said.get("path", b"").rstrip(b"/") or plain_name(header))
        kind, size = header[156:157], number(header[124:136]) or 0
        kind = b"5" if kind == b"\0" and name.endswith("/") else kind
        wrong = KINDS.get(kind, "" if kind in FILES else "of an unknown kind")
        if "size" in own:
            size = spelled(own["size"])
        if size < 0 or "size" in shared or ODD in said or any(key.startswith(SPARSE) for key in said):
            wrong = wrong or "of a header that makes it a sparse file, or that programs read differently"
        member = Member(name, start, max(size, 0), unsafe(name) or wrong)
        if "size" in own and not own["size"].isdigit():
            self._note("tar-number", f"its size is spelled {own['size'][:DIGITS]!r}", member)
        return member, kind not in KINDS or kind == b"S"

    def _extended(self, kind: bytes, start: int, length: int) -> dict[str, bytes]:
        """Fields of an extended header. FormatError where it is far longer than any real one."""
        if length > LONGEST:
            raise FormatError(f"an extended header of {length:,} bytes", part=self.source.name, offset=start)
        data = self.source.read(start, min(-(-length // BLOCK) * BLOCK, self.source.size - start))  # with what fills its last block
        if kind == b"L":
            return {"path": data.partition(b"\0")[0]}
        return {} if kind == b"K" else dict(records(data))


def records(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The "length key=value" records of a pax header; ODD where something else stands between or behind them."""
    at = 0
    while found := RECORD.match(data, at):
        end = at + int(found[1])
        if not found.end() < end <= len(data) or data[end - 1] != 10:
            break
        yield found[2].decode("utf-8", "replace"), data[found.end() : end - 1]
        at = end
    if data[at:].strip(b"\0"):
        yield ODD, b""


def is_header(block: bytes) -> bool:
    """Whether the checksum of a member's header is right: old archives have no magic number, and anything may hold "ustar". Some programs
    have added up the bytes as signed ones."""
    if len(block) != BLOCK or not block.strip(b"\0"):
        return False
    said = number(block[148:156])
    total = sum(block) - sum(block[148:156]) + 8 * 32
    if said != total and said != total - 256 * sum(byte > 127 for byte in block[:148] + block[156:]):
        return False
    return number(block[124:136]) is not None and all(number(block[start:end]) is not None for start, end in FIELDS)


def number(field: bytes) -> int | None:
    """Octal digits up to the first zero byte, or (GNU, from 8 GiB on) a binary number. None where it is none to Python, whose numbers may
    have a sign, blanks around and underscores between them."""
    if field[:1] in (b"\x80", b"\xff"):
        return int.from_bytes(field[1:], "big") - (256 ** (len(field) - 1) if field[0] == 255 else 0)
    text = field.partition(b"\0")[0]
    try:
        return int(text.decode("ascii").strip() or "0", 8)
    except ValueError:
        return None


def spelled(value: bytes) -> int:
    """A number in a pax header, as Python takes it: 0 where it is none."""
    try:
        return int(value.decode("utf-8", "replace")) if len(value) <= DIGITS else 0
    except ValueError:
        return 0


def plain_name(header: bytes) -> bytes:
    name, prefix = header[:100].partition(b"\0")[0], header[345:500].partition(b"\0")[0]
    return prefix + b"/" + name if prefix and header[156:157] not in (b"L", b"K", b"S") else name


def clean(raw: bytes) -> str:
    return raw[:4096].decode("utf-8", "surrogateescape").removeprefix("./")


def unsafe(name: str) -> str:
    """Why a name is refused: "" where it leads nowhere outside."""
    if name.startswith(("/", "\\")) or name[1:2] == ":":
        return "under an absolute name"
    return "under a name that climbs out of its folder" if ".." in re.split(r"[/\\]", name) else ""
