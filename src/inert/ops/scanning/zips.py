"""Zip archives: every member, whatever the directory says of it, and what stands between the members.

Knows: the directory's members and those that it hides, local headers that it does not name or calls otherwise, records of raw tensor data
(of which the beginning is looked at), bytes before, between and behind; what torch keeps in archives, by names.
Refuses to know: pickles (streams.py). All headers as PyTorch writes them are held against the directory in one loop; whatever differs is
looked at by containers.zip.

Facts: APPNOTE.TXT 6.3.10; torch 2.13 caffe2/serialize/inline_container.cc; torch/package and torch/export for what their archives hold.
"""

from __future__ import annotations

import re
from itertools import repeat
from mmap import mmap
from operator import gt, mul, sub
from struct import Struct
from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ...containers.zip import Zip
from ...containers.zipdirectory import DEFLATED, ENCRYPTED, PATCHED, STORED, member_name
from ...errors import FormatError, InertError
from ...pickle.begins import BEGINS, FIRST
from ...pickle.nodes import Global, Reference
from ...source import BytesSource, Window
from ...torch.home import find_root
from ...torch.storages import STORAGE_TYPES
from . import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...containers.zipdirectory import Member
    from ...pickle.decode import Document
    from ...source import Source, Span
    from .look import Look

# a directory entry from its byte 8 on: flags, method, sizes, name and extra length, file attributes, offset
_ENTRY = Struct("<2H8x2I2H6x2I").unpack_from
_LOCAL = Struct("<2H").unpack_from  # a local header from its byte 26 on: name and extra length
_SIZE = Struct("<I").unpack_from
_END = Struct("<2IH").unpack_from  # an end record from its byte 12 on: size and offset of the directory, length of the comment
_END64 = Struct("<2Q").unpack  # the same two of a ZIP64 record, at its byte 40
_FULL = Struct("<4s5H3I2H")  # a whole local header
PLAIN_END = 22 + 76  # bytes of the end records behind a directory
ENDS = re.compile(rb"PK\x06\x06\x2c\x00{7}.{44}PK\x06\x07.{16}PK\x05\x06.{16}\x00\x00", re.DOTALL)  # both of them, and no comment
LINK = 0xA << 28  # the high bits of a file's attributes, as Unix has them, of a symbolic link
DESCRIPTORS = {0, 16, 20, 24}  # bytes behind a member that its data descriptor takes
PIECE = 1 << 14  # bytes that are inflated at a time
PADDING = 4200  # bytes of an extra field: PyTorch aligns records by it, to 64 bytes as a rule and to a page at most
HEAD = 300  # bytes of a record that are looked at
RECORD = re.compile(r"(?:^|/)(?:data|tensors|weights|constants|xl)/[\w.-]+$|\.data/[\w.-]+\.storage$")
PLAIN = re.compile(rb"[0-9\n]*|little|big")  # a version, an id, a byte order: no opcode of these imports, and none of them ends a pickle
SIGNATURE = re.compile(rb"PK(?:\x03\x04|\x01\x02|\x05\x06|\x06\x06|\x07\x08)")
PICKLE = re.compile(r"\.(?:pkl|pickle|debug_pkl|joblib)$", re.IGNORECASE)
OUTSIDE = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[A-Za-z]:")
SCRIPT = re.compile(r"(?:^|/)code/.*\.py$")
NATIVE = (".so", ".dll", ".dylib", ".cubin")


class Record:
    """One member as it lies in the file: name, where its bytes begin and end, how they are stored, how long its content is."""

    __slots__ = ("end", "member", "name", "offset", "size", "start")

    def __init__(self, name: str, offset: int, start: int, end: int, size: int, member: Member | None) -> None:
        self.name = name
        self.offset = offset  # of the local header
        self.start = start
        self.end = end
        self.size = size
        self.member = member  # None for a stored one that is as PyTorch writes it


def look(look: Look, source: Source, part: str, depth: int, begins: bool) -> bool:
    """Scan an archive, and others in the same bytes; whether there is any. ``begins``: they begin as one, so that a missing directory is
    damage."""
    try:
        archive = Zip(source, look.limits)
    except FormatError as error:
        if not begins:
            return False
        look.unread(error, part or source.name)
        streams.hunt(look, source.span(), part or source.name)
        return True
    except InertError as error:
        look.unread(error, part or source.name)
        return True
    where = archive.directory
    others = segments(look, source) if where.shift or source.size - where.offset - where.size > PLAIN_END else []
    _Archive(look, archive, part, depth, others if len(others) > 1 else []).scan()
    if len(others) > 1:
        look.note("zip-several", f"{len(others):,} archives lie one behind another in it", part or source.name)
    for start, end in others:
        if start == where.shift and start <= where.offset < end:
            continue  # the one that has been scanned
        window = Window(source.span(start, end - start), part or source.name)
        try:
            inner = Zip(window, look.limits)
        except InertError as error:
            look.unread(error, part or source.name)
        else:
            _Archive(look, inner, f"{part or source.name}[{start}:{end}]", depth, []).scan()
    return True


def segments(look: Look, source: Source) -> list[tuple[int, int]]:
    """Where archives lie one behind another: (start, end) of each whose end record fits its own directory, from front to back."""
    found: list[tuple[int, int]] = []
    at, place = 0, -1
    while (place := _next_end(source, max(at, place + 1))) >= 0 and place + 22 <= source.size:
        if not look.spend(1 << 12, source.name):
            break
        size, offset, comment = _END(source.read(place, 22), 12)
        start = place - size - offset
        if place >= 76 and source.read(place - 20, 4) == b"PK\6\7":  # PyTorch writes both
            size, offset = _END64(source.read(place - 36, 16))
            start = place - 76 - size - offset
        if start >= at and source.read(start, 4) == b"PK\3\4" and place + 22 + comment <= source.size:
            at = place + 22 + comment
            found.append((start, at))
    return found


def _next_end(source: Source, at: int) -> int:
    """Where the next end record begins, or -1."""
    while at < source.size:
        data = source.read(at, min(1 << 20, source.size - at))
        place = data.find(b"PK\5\6")
        if place >= 0:
            return at + place
        at += max(len(data) - 3, 1)
    return -1


class _Archive:
    def __init__(self, look: Look, archive: Zip, part: str, depth: int, others: list[tuple[int, int]]) -> None:
        self.look = look
        self.others = others  # where archives lie in the same bytes, this one included
        self.document: Document | None = None  # of data.pkl
        self.archive = archive
        self.source = archive.source
        self.part = part
        self.depth = depth
        self.sizes: dict[str, int] = {}  # of the members that the quick loop took
        self.runs: list[tuple[int, int]] = []  # what members take of the file, headers included

    def _name(self, name: str) -> str:
        return f"{self.part}!{name}" if self.part else name

    def scan(self) -> None:
        look, archive = self.look, self.archive
        root = find_root(archive)
        main = f"{root}data.pkl" if root is not None else ""
        if self.depth == 0 and not look.kind:
            look.main_part = main
        for record in self._records():
            self._record(record, main)
        around = ("zip-prefix", "zip-trailing", "zip-count") if self.others else ()
        look.names.take(note for note in archive.notes if note.code not in around)
        self._kind(root)
        if self.document is not None:
            self._extra(self.document, root or "")
        self._between()

    # -- members ------------------------------------------------------------------------------------------------------------

    def _records(self) -> Iterator[Record]:
        """Every member that may hold something: those that are records of raw data by what they begin with are left out."""
        archive = self.archive
        whole = self.source.view(0, self.source.size)
        if whole is not None:
            mapped = whole.obj
            found, rest = self._quick(mapped if type(mapped) is mmap and len(mapped) == len(whole) else whole)
            yield from found
        else:
            rest = list(archive.members)
            places = archive.members.places
            self._links([name for name in rest if _ENTRY(archive.members.data, places[name] + 8)[6] >> 28 == LINK >> 28])
        for name in rest:
            yield from self._inspected(archive.members[name])
        for member in archive.shadowed:
            yield from self._inspected(member, " (hidden by a later one of its name)")
        self._twins()

    def _quick(self, whole: Any) -> tuple[list[Record], list[str]]:
        """The members whose local headers are as PyTorch writes them, less the records that begin with nothing of interest; the others'
        names."""
        members, size = self.archive.members, self.source.size
        data, shift, limit = members.data, members.shift, PADDING
        found, rest, runs, links, sizes = [], [], self.runs, [], self.sizes
        for name, place in members.places.items():
            flags, method, packed, length, n, x, attributes, offset = _ENTRY(data, place + 8)
            offset += shift
            end = offset + 30 + n
            if attributes >= LINK:
                links += [name] if attributes >> 28 == LINK >> 28 else []
            if x or method or packed != length or flags & 0x61 or end > size:
                rest.append(name)
                continue
            # from version to date the two headers are the same; checksum and sizes too, unless they stand in a data descriptor
            same = 14 if flags & 8 else 26
            named, extra = _LOCAL(whole, offset + 26)
            start = end + extra
            behind = start + packed
            if (
                whole[offset : offset + same] != b"PK\3\4" + data[place + 6 : place + same + 2]
                or named != n
                or extra > limit
                or behind > size
                or whole[offset + 30 : end] != data[place + 46 : place + 46 + n]
            ):
                rest.append(name)
            else:
                runs.append((offset, behind))
                sizes[name] = packed
                if packed and (whole[start] in FIRST or not 48 <= data[place + 45 + n] < 58):  # its name ends in a digit
                    if packed < 64 and PLAIN.fullmatch(whole, start, behind):
                        continue
                    if PICKLE.search(name) or not RECORD.search(name) or BEGINS.match(whole[start : start + min(HEAD, packed)]):
                        found.append(Record(name, offset, start, behind, packed, None))
        self._links(links)
        return found, rest

    def _links(self, links: list[str]) -> None:
        """Members that lead elsewhere once a program unpacks them."""
        for name in links:
            self.look.note("archive-escape", "it is a symbolic link", self._name(name))
        names = "\n".join(self.archive.members)
        if names[:1] == "/" or any(sign in names for sign in ("..", "\n/", "\\", ":")):
            for name in self.archive.members:
                if OUTSIDE.search(name):
                    self.look.note("archive-escape", "its name leads out of the archive's folder", self._name(name))

    def _inspected(self, member: Member, more: str = "") -> Iterator[Record]:
        try:
            start, findings = self.archive.inspect(member)
        except FormatError as error:
            if error.part != member.name:  # the file itself
                raise
            code = "zip-beyond-end" if "beyond the end" in error.message else "zip-local-header"
            self.look.note(code, error.message, self._name(member.name), member.offset)
            return
        self.look.names.take(findings)
        self.runs.append((member.offset, start + member.packed))
        if member.flags & (ENCRYPTED | PATCHED):
            self.look.note("zip-encrypted", "encrypted or a patch", self._name(member.name), member.offset)
        elif member.method not in (STORED, DEFLATED):
            self.look.note("zip-method", f"compression method {member.method}", self._name(member.name), member.offset)
        elif member.method == STORED and member.packed != member.size:
            text = f"stored, but its sizes differ: {member.packed:,} and {member.size:,}"
            self.look.note("zip-sizes", text, self._name(member.name), member.offset)
            self._region(start, min(start + max(member.packed, member.size), self.source.size))
        elif member.size or member.packed:
            yield Record(member.name + more, member.offset, start, start + member.packed, member.size, member)

    def _record(self, record: Record, main: str) -> None:
        """Scan what a member holds."""
        look, name = self.look, self._name(record.name)
        sure = PICKLE.search(record.name) is not None or record.name == main
        raw = not sure and RECORD.search(record.name) is not None
        if raw and not look.suspicious(self._head(record)):
            return
        try:
            span = self._content(record)
        except InertError as error:
            look.unread(error, name)
            return
        before = look.pickles
        if sure:
            self._pickle(span, name)
            if record.name == main:
                self.document = look.latest
        else:
            look.inner(span, name, self.depth, False)
        if raw and look.pickles > before:
            look.note("pickle-elsewhere", "the record of a tensor is a pickle or archive itself", name)

    def _pickle(self, span: Span, name: str) -> None:
        """A member that is called a pickle: one that cannot be read as that is no clean one."""
        look, before = self.look, self.look.pickles
        look.latest = None
        look.inner(span, name, self.depth, True)
        if look.pickles == before and span.length and not look.names.noted["scan-limit"]:
            look.note("scan-unread", "it is called a pickle and is none", name)

    def _head(self, record: Record) -> bytes:
        if record.member is None or record.member.method == STORED:
            return self.source.read(record.start, min(HEAD, record.end - record.start))
        return inflated_head(self.source.read(record.start, min(4 * HEAD, record.end - record.start)), HEAD)

    def _content(self, record: Record) -> Span:
        if record.member is None:
            return self.source.span(record.start, record.end - record.start)
        if RECORD.search(record.name):
            return self.archive.span(record.member)
        return self.archive.pickle(record.member)

    def _twins(self) -> None:
        """Names that differ by case only: torch may read either."""
        folded: dict[str, str] = {}
        for name in self.archive.members:
            if not name[-1:].isdigit():
                twin = folded.setdefault(name.lower(), name)
                if twin != name:
                    self.look.note("zip-case", f"differs from {twin!r:.80} by case only", self._name(name))

    # -- what an archive is ---------------------------------------------------------------------------------------------------

    def _kind(self, root: str | None) -> None:
        """What the names say that the archive brings along besides pickles."""
        look, names = self.look, self.archive.members
        folder = next(iter(names), "").partition("/")[0] + "/"
        inside = [f"{folder}{name}" in names for name in ("constants.pkl", "bytecode.pkl", "model.json")]
        code = [name for name in names if name.endswith(".py") and SCRIPT.search(name)]
        package = any(f"{folder}{name}" in names for name in (".data/extern_modules", ".data/python_version", "extern_modules"))
        if any(inside) or code:
            kind = "torchscript"
        elif package:
            kind = "torch-package"
        elif f"{folder}archive_format" in names or "archive_format" in names:
            kind = "torch-export"
        else:
            kind = "torch-zip" if root is not None else "zip"
        if self.depth == 0 or not look.kind:
            look.kind = kind
        if kind in ("torchscript", "torch-export") and self.depth == 0:
            look.main.clear()  # torch.load reads none of its pickles as it reads its own
        if code:
            look.note("script-code", f"{len(code):,} files of TorchScript code, such as {code[0][:80]}", self._name(code[0]))
        if package:
            source = [name for name in names if name.endswith((".py", ".pyc"))]
            if source:
                look.note("package-source", f"{len(source):,} Python files, such as {source[0][:80]}", self._name(source[0]))
        native = [name for name in names if name.endswith(NATIVE)]
        if native:
            look.note("export-native", f"{len(native):,} compiled libraries, such as {native[0][:80]}", self._name(native[0]))

    def _extra(self, document: Document, root: str) -> None:
        """Records that are longer than the storages that the pickle lays over them."""
        members = self.archive.members
        prefix = f"{root}data/"
        if self._covered(document, prefix):
            return
        for key, size in declared(document).items():
            name = prefix + key
            there = members.size(name)
            if there is None or there <= size:
                continue
            self.look.note("storage-extra", f"{there - size:,} bytes more than the {size:,} of its storage", self._name(name), size)
            try:
                streams.hunt(self.look, self.archive.content(name).sub(size), self._name(name), size)
            except InertError as error:
                self.look.unread(error, self._name(name))

    def _covered(self, document: Document, prefix: str) -> bool:
        """Whether no record is longer than any storage that the pickle lays over it: rows are held against records in columns."""
        runs, others = document.parted()
        if any(self.sizes.get(prefix + key, 0) > size for key, size in _single(others)):
            return False
        for run in runs:
            widths = {template: _width(template.storage) for template in set(run.templates)}
            sizes = map(mul, run.counts, map(widths.__getitem__, run.templates))
            if any(map(gt, map(self.sizes.get, map(prefix.__add__, run.keys), repeat(0)), sizes)):
                return False
        return len(self.sizes) == len(self.archive.members)

    # -- between the members --------------------------------------------------------------------------------------------------

    def _between(self) -> None:
        """What stands before, between and behind members."""
        where = self.archive.directory
        runs = sorted(self.runs)
        starts, ends = [start for start, _ in runs], [end for _, end in runs]
        close = runs and not starts[0] and set(map(sub, starts[1:], ends)) <= DESCRIPTORS  # nothing but data descriptors between them
        at = ends[-1] if close else self._gaps(runs)
        if where.offset - at not in DESCRIPTORS:
            self._region(at, where.offset)
        after = max(where.offset + where.size, at)
        left = self.source.size - after
        if left > 22 and not (left == PLAIN_END and ENDS.fullmatch(self.source.read(after, left))):
            self._region(after, self.source.size)

    def _gaps(self, runs: list[tuple[int, int]]) -> int:
        at = 0
        for offset, end in runs:
            if offset < at:
                self.look.note("zip-overlap", "two members share bytes", self.part or self.source.name, offset)
            elif offset - at not in DESCRIPTORS:
                self._region(at, offset)
            at = max(at, end)
        return at

    def _region(self, start: int, end: int) -> None:
        """Search what belongs to no member, and to no other archive either."""
        for first, behind in [*self.others, (end, end)]:
            if start < min(first, end):
                self._searched(start, min(first, end))
            start = max(start, behind)

    def _searched(self, start: int, end: int) -> None:
        streams.hunt(self.look, self.source.span(start, end - start), self.part or self.source.name, start)


def declared(document: Document) -> dict[str, int]:
    """Storage key → bytes, the largest that a pickle declares."""
    found: dict[str, int] = {}
    runs, others = document.parted()
    for key, size in _single(others):
        found[key] = max(found.get(key, 0), size)
    for run in runs:
        sizes = {template: _width(template.storage) for template in set(run.templates)}
        for key, count, template in zip(run.keys, run.counts, run.templates, strict=True):
            size = count * sizes[template]
            if size >= found.get(key, 0):
                found[key] = size
    return found


def _width(kind: Any) -> int:
    dtype = STORAGE_TYPES.get(kind.dotted) if type(kind) is Global else None
    return dtype.itemsize if dtype is not None else 1 << 40  # of a type that nobody knows: any record may be as long


def _single(nodes: list[Any]) -> Iterator[tuple[str, int]]:
    """(key, bytes) of the storages that single persistent ids declare."""
    for node in nodes:
        if type(node) is Reference and type(node.pid) is tuple and len(node.pid) >= 5:
            kind, key, _, count = node.pid[1:5]
            if type(kind) is Global and type(key) is str and type(count) is int:
                yield key, count * _width(kind)


def inflated_head(packed: bytes, most: int) -> bytes:
    """The first bytes of raw deflate data."""
    try:
        return decompressobj(-MAX_WBITS).decompress(packed, most)
    except ZlibError:
        return b""


def stray(look: Look, data: bytes, at: int, part: str, base: int) -> int:
    """A local header that no directory names, at a place in a region's bytes: scan its member. The place behind it."""
    if len(data) - at < 30:
        return at + 4
    fields: tuple[Any, ...] = _FULL.unpack_from(data, at)
    flags, method, packed, n = fields[2], fields[3], int(fields[7]), int(fields[9])
    start = at + 30 + n + int(fields[10])
    if n > 1024 or method not in (STORED, DEFLATED) or start > len(data) or flags & (ENCRYPTED | PATCHED):
        return at + 4
    end = start + packed
    if flags & 8 or end > len(data):  # its length stands behind it: what follows is some record of an archive
        found = SIGNATURE.search(data, start)
        end = found.start() if found else len(data)
    content = data[start:end] if method == STORED else _inflated(look, data, start, part)
    name = f"{part}: {member_name(data[at + 30 : at + 30 + n])[:200]} (in no directory)"
    before = look.pickles
    if content[:1] and content[:4] != b"PK\3\4":
        sure = PICKLE.search(member_name(data[at + 30 : at + 30 + n])) is not None
        streams.read(look, BytesSource(content, name).span(), name, sure, rest=False)
    if look.pickles > before:
        look.note("zip-stray", "a member that the archive's directory does not name", name, base + at)
        return end if method == STORED else start
    return start


def _inflated(look: Look, data: bytes, start: int, name: str) -> bytes:
    """As much as comes out of deflated data whose length nobody says."""
    engine, pieces, left = decompressobj(-MAX_WBITS), [], min(look.limits.expand_floor, max(look.left, 1))
    try:
        while start < len(data) and left > 0 and not engine.eof:
            pieces.append(engine.decompress(data[start : start + PIECE], left))
            start += PIECE
            left -= len(pieces[-1])
    except ZlibError:
        pass  # what came out before the damage is looked at
    made = b"".join(pieces)
    return made if look.spend(len(made), name) else b""
