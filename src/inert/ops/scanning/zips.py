"""Zip archives: every member, whatever the directory says of it, and what stands between the members.

Knows: the directory's members and those that it hides, local headers that it does not name or calls otherwise, records of raw tensor data
(of which the beginning is looked at), bytes before, between and behind; what torch keeps in archives, by names.
Refuses to know: pickles (streams.py), headers as PyTorch writes them (headers.py), members without a directory (strays.py).

Facts: APPNOTE.TXT 6.3.10; torch 2.13 caffe2/serialize/inline_container.cc; torch/package and torch/export for what their archives hold.
"""

from __future__ import annotations

import re
from mmap import mmap
from operator import sub

from ...containers.zip import Zip
from ...containers.zipdirectory import DEFLATED, ENCRYPTED, PATCHED, STORED
from ...errors import FormatError, InertError
from ...source import Window
from ...torch.home import find_root
from ...words import counted
from . import hooks, streams
from .covers import covered, declared
from .extras import Extras
from .headers import HEAD, PICKLE, RECORD, Record, inflated_head, links, quick
from .strays import segments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...containers.zipdirectory import Member
    from ...pickle.decode import Document
    from ...source import Source, Span
    from .look import Look

PLAIN_END = 22 + 76  # bytes of the end records behind a directory
ENDS = re.compile(rb"PK\x06\x06\x2c\x00{7}.{44}PK\x06\x07.{16}PK\x05\x06.{16}\x00\x00", re.DOTALL)  # both of them, and no comment
DESCRIPTORS = {0, 16, 20, 24}  # bytes behind a member that its data descriptor takes
OUTSIDE = re.compile(r"(?:^|[/\\])\.\.(?:[/\\]|$)|^[/\\]|^[A-Za-z]:")
SCRIPT = re.compile(r"(?:^|/)code/.*\.py$")
NATIVE = (".so", ".dll", ".dylib", ".cubin")


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
        look.note("zip-several", f"{counted(len(others), 'archive', 'lie')} one behind another in it", part or source.name)
    for start, end in others:
        if start == (0 if archive.members.since else where.shift) and start <= where.offset < end:
            continue  # the one that has been scanned
        window = Window(source.span(start, end - start), part or source.name)
        try:
            inner = Zip(window, look.limits)
        except InertError as error:
            look.unread(error, part or source.name)
        else:
            _Archive(look, inner, f"{part or source.name}[{start}:{end}]", depth, []).scan()
    return True


class _Archive:
    def __init__(self, look: Look, archive: Zip, part: str, depth: int, others: list[tuple[int, int]]) -> None:
        self.look = look
        self.others = others  # where archives lie in the same bytes, this one included
        self.document: Document | None = None  # of data.pkl
        self.archive = archive
        self.source = archive.source
        self.part = part
        self.depth = depth
        self.extras = Extras(look, archive, part)
        self.sizes: dict[str, int] = {}  # of the members that the quick loop took
        self._odd = [name for name in archive.members if not name[-1:].isdigit()]  # what is no tensor's record, as a rule
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
        self.extras.directory()
        self._between()

    # -- members ------------------------------------------------------------------------------------------------------------

    def _records(self) -> Iterator[Record]:
        """Every member that may hold something: those that are records of raw data by what they begin with are left out."""
        archive = self.archive
        whole = self.source.view(0, self.source.size)
        if whole is not None:
            mapped = whole.obj
            headers = quick(archive, mapped if isinstance(mapped, (bytes, mmap)) and len(mapped) == len(whole) else whole)
            self.sizes, self.runs, rest = headers.sizes, headers.runs, headers.rest
            self._links(headers.links)
            for name, begin, end in headers.extras:
                self.extras.local(self._name(name), begin, end)
            yield from headers.found
        else:
            rest = list(archive.members)
            self._links(links(archive))
        for name in rest:
            yield from self._inspected(archive.members[name])
        for member in archive.shadowed:
            yield from self._inspected(member, " (hidden by a later one of its name)")
        self._twins()

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
        self.extras.header(self._name(member.name), member.offset, start)
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
        for name in self._odd:
            twin = folded.setdefault(name.lower(), name)
            if twin != name:
                self.look.note("zip-case", f"differs from {twin!r:.80} by case only", self._name(name))

    # -- what an archive is ---------------------------------------------------------------------------------------------------

    def _kind(self, root: str | None) -> None:
        """What the names say that the archive brings along besides pickles."""
        look, names = self.look, self.archive.members
        folder = next(iter(names), "").partition("/")[0] + "/"
        marks = ("constants.pkl", "bytecode.pkl") if f"{folder}data.pkl" in names else ("constants.pkl", "bytecode.pkl", "model.json")
        inside = [f"{folder}{name}" in names for name in marks]
        code = [name for name in self._odd if name.endswith(".py") and SCRIPT.search(name)]
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
            look.note("script-code", f"{counted(len(code), 'file')} of TorchScript code, such as {code[0][:80]}", self._name(code[0]))
        if kind == "torchscript":
            hooks.scripts(look, self.archive, [*code, f"{folder}bytecode.pkl"], self._name)
        if package:
            source = [name for name in self._odd if name.endswith((".py", ".pyc"))]
            if source:
                look.note("package-source", f"{len(source):,} Python files, such as {source[0][:80]}", self._name(source[0]))
        native = [name for name in self._odd if name.endswith(NATIVE)]
        if native:
            look.note("export-native", f"{len(native):,} compiled libraries, such as {native[0][:80]}", self._name(native[0]))

    def _extra(self, document: Document, root: str) -> None:
        """Records that are longer than the storages that the pickle lays over them."""
        members = self.archive.members
        prefix = f"{root}data/"
        if covered(document, prefix, self.sizes, len(members)):
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
