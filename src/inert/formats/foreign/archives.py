"""Archives of several members, zip and tar: the members' names tell what an archive is.

Knows: where names stand in whole and in cut archives, and how many of them are worth a look.
Refuses to know: what is in the members. `containers.zip` reads archives; this is for those that it or a format refuses.
"""

from __future__ import annotations

import re
from struct import Struct

from .look import END, SHOWN, WHOLE, containing, counted, show
from .tables import AGAIN, CHECKPOINT, TARRED, TARS, ZIPS
from .text import mangled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...source import Source
    from .look import Answer, Look
    from .tables import Rows

COMMENT = (64 << 10) + 22  # how far before the end of a file a zip's end record may lie
CANDIDATES = 16  # end records of a zip that are tried: a comment may hold false ones
HOPS = 64  # members of a tar that are visited
END_RECORD = Struct("<4s4H2LH")
END_RECORD_64 = Struct("<4sQ2H2L4Q")
LOCAL = (b"PK\3\4", 26, 30)  # of a member's header: signature, where the name's length stands, where the name stands
CENTRAL = (b"PK\1\2", 28, 46)


def zipped(look: Look) -> Answer | None:
    begins = look.head.startswith(b"PK\3\4")
    if look.inner:
        return _named(ZIPS, _names(look.head, *LOCAL)[0]) if begins else None
    end = _zip_end(look, begins)
    if end is None:
        return _zip_cut(look) if begins else None
    count, directory, size, front = end
    if directory < 0:
        kind, noun, _, _ = _named(ZIPS, _names(look.head, *LOCAL)[0])
        facts = f"; its end record tells of {counted(count, 'member')}, but their directory is not there"
        return mangled(look) or ("zip-damaged", f"{noun} that is damaged", facts, _again(kind))
    kind, noun, facts, hint = _named(ZIPS, _directory_names(look.source, directory, size), count)
    if begins and look.head[6] & 1:
        facts += "; it is encrypted"
    if front:
        facts += f"; {counted(front, 'byte')} of {'other zip archives' if begins else 'something else'} before it"
        hint = f"cut that off with `tail -c +{front + 1} FILE > NEW`, then open NEW"
    return kind, noun, facts, hint


def _zip_end(look: Look, begins: bool) -> tuple[int, int, int, int] | None:
    """(members, offset of the directory or -1, its size, bytes before the archive); None where there is no end record."""
    source = look.source
    start = max(source.size - (COMMENT if begins else END), 0)
    tail = source.read(start, source.size - start)
    told = None
    at = tail.rfind(b"PK\5\6", 0, max(len(tail) - END_RECORD.size + 4, 0))
    for _ in range(CANDIDATES):
        if at < 0:
            break
        found = _end_record(source, start, tail, at)
        if found[1] >= 0:
            return found
        told = told or found
        at = tail.rfind(b"PK\5\6", 0, at)
    return told if begins else None


def _end_record(source: Source, start: int, tail: bytes, at: int) -> tuple[int, int, int, int]:
    """The end record at ``at`` of ``tail``, which lies at ``start`` of the file; the directory's offset is -1 where none is."""
    _, _, _, _, count, size, offset, _ = END_RECORD.unpack_from(tail, at)
    end = start + at
    if tail[max(at - 20, 0) : at].startswith(b"PK\6\7") and end >= 76:  # a ZIP64 record and its locator stand between
        end -= 76
        fields = END_RECORD_64.unpack(source.read(end, END_RECORD_64.size))
        if fields[0] == b"PK\6\6":
            count, size, offset = fields[7:10]
    for directory in (end - size, offset):
        if 0 <= directory <= source.size - 46 and source.read(directory, 4) == b"PK\1\2":
            return count, directory, size, max(directory - offset, 0)
    return count, -1, 0, 0


def _zip_cut(look: Look) -> Answer:
    """No end record: the members' own headers tell what it was. Torch leaves sizes out of them, so they are searched for."""
    source = look.source
    names, last = _names(source.read(0, min(source.size, WHOLE)), *LOCAL)
    kind, noun, _, _ = _named(ZIPS, names)
    facts = "; no directory at its end" if b"PK\1\2" not in look.tail else "; the end of its directory is missing"
    seen = "" if source.size <= WHOLE else f" in its first {WHOLE:,} bytes"
    if names:
        facts += f"; {counted(len(names), 'member')} seen{seen}, the last is {show(names[-1], 60)} at byte {last:,}"
    else:
        facts += "; not even its first member's header is whole"
    hint = _again(kind, "members before the cut may be whole")
    return "zip-cut", f"{noun} cut short", facts, hint


def _directory_names(source: Source, offset: int, size: int) -> list[bytes]:
    """Names from both ends of the directory: what tells the flavours apart stands at either."""
    size = min(size, source.size - offset)
    if size <= 2 * COMMENT:
        return _names(source.read(offset, size), *CENTRAL)[0]
    ends = (source.read(offset, COMMENT), source.read(offset + size - COMMENT, COMMENT))
    return [name for end in ends for name in _names(end, *CENTRAL)[0]]


def _names(data: bytes, signature: bytes, length_at: int, name_at: int) -> tuple[list[bytes], int]:
    """The members' names in the headers seen, and where the last of these stands."""
    names: list[bytes] = []
    last = at = data.find(signature)
    while at >= 0:
        length = int.from_bytes(data[at + length_at : at + length_at + 2], "little")
        name = data[at + name_at : at + name_at + length]
        if name and len(name) == length:
            names.append(name)
            last = at
            at += name_at + length - 4
        at = data.find(signature, at + 4)
    return names, last


def _named(rows: Rows, names: list[bytes], count: int = 0) -> Answer:
    """The row whose pattern the members' names match; the last row matches any."""
    lines = b"".join(name.replace(b"\n", b"?") + b"\n" for name in names)
    kind, _, noun, hint = next(containing(rows, lines, re.M))
    facts = f"; {counted(count, 'member')}" if count else ""
    shown = [name for name in names if re.search(CHECKPOINT, name)] if kind.endswith("-of-checkpoint") else names
    if shown and kind != "torch-zip":
        facts += "; it begins with " if shown is names else "; it holds "
        facts += ", ".join(show(name, 60) for name in shown[:SHOWN])
    return kind, noun, facts, hint


def tarred(look: Look) -> Answer | None:
    if not _tar_header(look.head[:512]):
        if re.match(rb"(?:sys_info|storages|tensors)\0+\Z", look.head) and len(look.head) < 512:
            return "torch-tar", f"the beginning of {TARRED}", "; it is cut short within its first header", AGAIN
        return None
    names: list[bytes] = []
    at = 0
    while len(names) < HOPS and at + 512 <= look.source.size:
        header = look.source.read(at, 512)
        if not _tar_header(header):
            break
        names.append(header[:100].split(b"\0")[0])
        at += 512 + (_octal(header[124:136]) + 511) // 512 * 512
    kind, noun, facts, hint = _named(TARS, names)
    if at > look.source.size and not look.inner:
        facts += f"; it is cut short, for {show(names[-1], 60)} should end at byte {at:,}"
        hint = _again(kind)
    return kind, noun, facts, hint


def _again(kind: str, otherwise: str = "") -> str:
    """What to do about an archive that is damaged: of PyTorch's, repair keeps what is whole."""
    if kind.startswith("torch"):
        return f"{AGAIN}, or take an earlier checkpoint; `inert repair SRC DST` keeps what is whole"
    return f"{AGAIN}; {otherwise}" if otherwise else AGAIN


def _tar_header(block: bytes) -> bool:
    """The checksum of a tar header is right: old tars have no magic number, and anything may hold "ustar"."""
    return len(block) == 512 and block[0] != 0 and sum(block) - sum(block[148:156]) + 8 * 32 == _octal(block[148:156])


def _octal(field: bytes) -> int:
    digits = re.match(rb"[ \0]*([0-7]{1,12})", field)
    if digits:
        return int(digits[1], 8)
    return int.from_bytes(field[1:], "big") if field[:1] == b"\x80" else 0  # GNU: sizes from 8 GiB on as a binary number
