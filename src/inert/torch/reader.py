"""PyTorch's own zip reader, as far as it decides whether a file can be loaded: which record it finds, and what it refuses.

Knows: where it takes the root folder from, that it looks names up without regard to case, which of several equal names it gets, which
version records it takes, and which headers it will not read.
Refuses to know: what the records mean. It reads headers and small records, no data.

Facts: torch 2.13 caffe2/serialize/inline_container.cc and third_party/miniz (mz_zip_reader_read_central_dir, …_sort_central_dir_offsets_
by_filename, …_locate_file_binary_search): the directory is sorted by a heap sort, which keeps no order among equals, and searched by
halving; so of members with one name it gets whichever the halving meets.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import chain
from struct import Struct
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ..containers.zipdirectory import DEFLATED, ENCRYPTED, FOLDER, MASKED, PATCHED, STORED, Member
from ..words import is_text
from .allowed import TORCH
from .ends import DISKS, Ends
from .home import fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..containers.zip import Zip

_HEADER = Struct("<4s22x2H").unpack_from  # signature, name and extra length of a local header
AHEAD = 1 << 14  # bytes
SMALL = 256  # bytes of a record that says something of the archive
INFLATES = 1032  # times: the most that deflate makes of a byte
OLDEST, NEWEST = 1, 10  # version records
SAVE = ".data/serialization_id"


class Reader:
    """The archive with torch's eyes. ``closed``: why torch's reader cannot open it at all, "" where it can; ``unlisted``: why torch.load,
    which asks for the names of all records, cannot; ``fault``: either, or what stops it at the small records beside data.pkl."""

    def __init__(self, archive: Zip) -> None:
        self.archive = archive
        self.source = archive.source
        self._whole: dict[str, tuple[int, int]] = {}  # offset and size of the records that are as torch writes them
        self._ahead, self._at = b"", 0  # bytes that were read, and where they begin
        first = next(iter(archive.members), "")
        self.root = first.partition("/")[0] + "/"
        self.deflated = False
        self.closed = self._directory() or self._version()
        self.unlisted = self.closed or self._names()
        self.fault = self.unlisted or self._settings()

    # -- looking up ---------------------------------------------------------------------------------------------------------

    def find(self, name: str) -> Member | None:
        """The member that torch finds under the root folder as ``name``."""
        path = self.root + name
        members = self.archive.members
        if not self._plain:
            return self._search(fold(path))
        if path not in members:
            path = self._folded.get(fold(path), "")
        return members[path] if path else None

    def size(self, name: str) -> int | None:
        if self._plain and (whole := self._whole.get(self.root + name)) is not None:
            return whole[1]
        member = self.find(name)
        return None if member is None else member.size

    @cached_property
    def _plain(self) -> bool:
        """Whether no two members have names that torch takes for the same."""
        return not self.archive.shadowed and len(self._folded) == len(self.archive.members)

    @cached_property
    def _folded(self) -> dict[str, str]:
        return {fold(name): name for name in self.archive.members}

    @cached_property
    def _sorted(self) -> list[tuple[str, Member]]:
        """The directory in the order of miniz's heap sort."""
        return heap_sorted([(fold(member.name), member) for member in self._entries()])

    def _entries(self) -> Iterator[Member]:
        """All members in directory order, equal names included."""
        members, at = self.archive.members, 0
        data = members.data
        while at + 46 <= len(data) and data[at : at + 4] == b"PK\1\2":
            n, x, c = (int.from_bytes(data[at + i : at + i + 2], "little") for i in (28, 30, 32))
            yield members.at(data[at + 46 : at + 46 + n].decode("utf-8", "surrogateescape"), at)
            at += 46 + n + x + c

    def _search(self, path: str) -> Member | None:
        low, high = 0, len(self._sorted) - 1
        while low <= high:
            middle = low + (high - low) // 2
            name, member = self._sorted[middle]
            if name == path:
                return member
            if less(name, path):
                low = middle + 1
            else:
                high = middle - 1
        return None

    # -- what it refuses ----------------------------------------------------------------------------------------------------

    def _directory(self) -> str:
        where, size = self.archive.directory, self.source.size
        if size < 4 or self.source.read(0, 4) != b"PK\3\4":
            return "the file does not begin with PK\\3\\4, so torch takes it for the layout before 1.6"
        if where.shift:
            return "its directory is not where it says: bytes lie before the archive, or were put into it or taken out"
        ends = Ends(self.archive)
        if ends.fault:
            return ends.fault
        members = self.archive.members
        odd = (self._odd(name) or (members[name] if ends.disk else None) for name in members)  # plain ones say disk 0
        for entry in chain((member for member in odd if member is not None), self.archive.shadowed):
            # of those whose time is not 0, it does not compare the sizes: it reads method and time as one number
            damaged = (entry.method == STORED and not entry.time and entry.packed != entry.size) or (entry.size and not entry.packed)
            if damaged or entry.offset + 30 + entry.packed > size or entry.flags & MASKED:
                return f"the directory's entry of {entry.name[:80]!r} is damaged, and torch opens no archive with such an entry"
            if entry.disk not in (ends.disk, 1):
                return DISKS
            self.deflated = self.deflated or entry.method == DEFLATED
        if len(members) + len(self.archive.shadowed) != self.archive.directory.count:
            return "its directory is damaged"
        return "" if "/" in next(iter(members), "") else "its records lie in no folder"

    def _odd(self, name: str) -> Member | None:
        """The member, where it is not a plain stored one whose bytes may well lie inside the file."""
        plain = self.archive.members.stored(name)
        if plain is None or plain[0] + 30 + plain[1] > self.source.size:
            return self.archive.members[name]
        self._whole[name] = plain
        return None

    def _names(self) -> str:
        for name in self.archive.members:
            if not is_text(name.partition("\0")[0]):
                return f"the name of {name[:80]!r} is no UTF-8"
            if not name.startswith(self.root):
                return f"{name[:80]!r} lies outside the folder {self.root[:80]!r} of the first entry"
        return ""

    def _version(self) -> str:
        name = next((name for name in (".data/version", "version") if self.find(name)), None)
        if name is None:
            return "there is no version record"
        why = self.trouble(name)
        if why:
            return f"{name}: {why}"
        said = self.text(name)
        found = re.match(rb"\s*([+-]?)([0-9]+)", said)
        if found is None:
            return f"the version {said[:20]!r} is no number"
        number = int(found[1] + found[2][:30])
        return "" if OLDEST <= number <= NEWEST else f"version {number} of the archive format; torch {TORCH} reads {OLDEST} to {NEWEST}"

    def _settings(self) -> str:
        for name in ("data.pkl", ".format_version", "byteorder", ".storage_alignment", SAVE):
            if self.find(name):
                why = self.trouble(name, unread=name == ".format_version")
                if why:
                    return f"{name}: {why}"
        if self.find("data.pkl") is None:
            return "there is no data.pkl"
        order = self.text("byteorder") if self.find("byteorder") else b"little"
        if order not in (b"little", b"big"):
            return f"byteorder is {order[:20]!r}"
        if self.find(".storage_alignment"):
            try:
                int(self.text(".storage_alignment"))
            except ValueError:
                return ".storage_alignment is no number"
        try:
            self.text(SAVE).decode()
        except UnicodeDecodeError:
            return f"{SAVE} is no UTF-8"
        return ""

    def text(self, name: str) -> bytes:
        """A small record's content, cut at 256 bytes, as far as torch reads it: what inflates to more than is promised is cut."""
        member = self.find(name)
        if member is None:
            return b""
        start, wanted = self._start(member), min(member.size, SMALL)
        if member.method == STORED:
            return self.source.read(start, min(wanted, self.source.size - start))
        try:
            return decompressobj(-MAX_WBITS).decompress(self.source.read(start, min(member.packed, AHEAD)), wanted)
        except ZlibError:
            return b""

    def trouble(self, name: str, mapped: bool = False, unread: bool = False) -> str:
        """Why torch cannot read a record, "" where it can. ``mapped``: why it cannot map it, or would map what are not its values.
        ``unread``: whatever the record says is nothing to torch."""
        plain = self._whole.get(self.root + name) if self._plain else None
        if plain is not None:  # whatever differs takes the long way
            signature, n, x = self._head(plain[0])
            if signature == b"PK\3\4" and plain[0] + 30 + n + x + plain[1] <= self.source.size:
                return ""
        member = self.find(name)
        if member is None:
            return "torch finds no such record"
        if member.flags & (ENCRYPTED | PATCHED):
            return "the record is encrypted or a patch"
        if member.method not in (STORED, DEFLATED):
            return f"compression method {member.method}; torch reads stored and deflated records only"
        if member.marked & FOLDER and member.size and not mapped and not unread:
            return "it is marked as a folder: torch reads nothing of it, and takes for its bytes what happens to be in memory"
        if member.method == DEFLATED and member.size <= SMALL and len(self.text(name)) != member.size:
            return "its deflated data is damaged"
        if member.method == DEFLATED and member.size > INFLATES * (member.packed + 1):
            return f"{member.packed:,} deflated bytes cannot hold the {member.size:,} that the directory promises"
        if mapped and member.method == DEFLATED and member.size:
            return "the record is deflated, and torch would map the compressed bytes as if they were values"
        return self._header(member, mapped)

    def _head(self, offset: int) -> tuple[bytes, int, int]:
        """Signature, name and extra length of a local header. Small records lie close together: these are read by the dozen."""
        at = offset - self._at
        if not 0 <= at <= len(self._ahead) - 30:
            length = AHEAD if 0 <= at < AHEAD else 30
            self._ahead, self._at, at = self.source.read(offset, min(length, self.source.size - offset)), offset, 0
        found: tuple[bytes, int, int] = _HEADER(self._ahead, at)
        return found

    def _header(self, member: Member, mapped: bool) -> str:
        if member.offset + 30 > self.source.size:
            return "its header lies beyond the end of the file"
        if self.source.read(member.offset, 4) != b"PK\3\4" and not mapped:  # mmap=True takes the lengths from there and looks no further
            return "its local header is damaged"
        beyond = self._start(member) + max(member.packed, member.size * (member.method == STORED)) > self.source.size
        return "its bytes end beyond the file" if beyond else ""

    def _start(self, member: Member) -> int:
        """Where its bytes begin, by the lengths in its local header."""
        head = self.source.read(member.offset, 30)
        return member.offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")


def less(a: str, b: str) -> bool:
    """miniz's order of folded names: byte by byte, then the shorter one first."""
    return a.encode("utf-8", "surrogateescape") < b.encode("utf-8", "surrogateescape")


def heap_sorted(items: list[tuple[str, Member]]) -> list[tuple[str, Member]]:
    """The heap sort of miniz, swap by swap: what it does with equal names depends on their places."""
    size = len(items)

    def sift(root: int, end: int) -> None:
        while (child := 2 * root + 1) < end:
            child += child + 1 < end and less(items[child][0], items[child + 1][0])
            if not less(items[root][0], items[child][0]):
                return
            items[root], items[child] = items[child], items[root]
            root = child

    for start in range((size - 2) // 2, -1, -1):
        sift(start, size)
    for end in range(size - 1, 0, -1):
        items[end], items[0] = items[0], items[end]
        sift(0, end)
    return items
