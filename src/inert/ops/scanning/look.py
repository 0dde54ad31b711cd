"""One file, looked at as everything that a reader may take it for.

Knows: which looks there are (pickles in a row, zip, tar, compression, arrays, other programs' formats), that a file may be several things
at once, how deep things may lie in each other, and how much work a file may ask for.
Refuses to know: names (judging.py). Formats as ``inert.open`` has them are not asked: a scan must work where these refuse a file.

What is looked at: every byte of pickles, directories and everything small; of a record of raw tensor data its beginning,
which tells whether it is a pickle or an archive itself, and what it has more than the tensors cover; between and behind records
the first 16 MiB of each gap.
"""

from __future__ import annotations

from ...containers.tar import BLOCK, is_header
from ...errors import FormatError, InertError, LimitError, one_line
from ...finding import Finding
from ...inflate import ENGINES, inflated
from ...pickle.begins import BEGINS
from ...source import BytesSource, Window
from . import hooks, streams
from .judging import Names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...limits import Limits
    from ...pickle.decode import Document
    from ...source import Source, Span

DEPTH = 8  # files inside of each other: a .tar.gz of archives of archives is four
HEAD = 512  # bytes of a file that tell what it may be
TAIL = 65_557 + 65_536  # bytes at a file's end in which an archive's end record may stand
WEAK = ("zlib", "lzma")  # a few bytes that prove nothing


def sealed(source: Source, head: bytes) -> tuple[str, str]:
    """(kind, noun) of an archive that nothing here looks into; two empty texts for anything else."""
    if head[:1] == b"\x80" or head.startswith(b"PK\3\4"):  # a pickle or a zip archive: what nearly all files are
        return "", ""
    from ...formats.foreign.look import matching
    from ...formats.foreign.tables import HEADS, IMAGE, SEALED, WRAPPERS

    for kind, _, noun, _ in matching((*WRAPPERS, *HEADS), head):
        if kind in SEALED:
            return kind, noun
    place, sign, noun = IMAGE
    return ("iso", noun) if source.size > place + len(sign) and source.read(place, len(sign)) == sign else ("", "")


class Look:
    """The look at one file. ``main``: the pickles that torch.load would read, in order; ``kind``: what the file is, by its content."""

    def __init__(self, limits: Limits, size: int) -> None:
        self.limits = limits
        self.names = Names()
        self.main: list[Document] = []
        self.main_part = "pickle"  # under which name the first of them is met
        self.latest: Document | None = None  # the first pickle of the stream that was read last
        self.kind = ""
        self.pickles = 0  # that were found
        self.left = max(limits.scan_floor, limits.scan_ratio * size)
        self._done: set[tuple[int, int]] = set()  # constants that were looked at
        self._told = False

    # -- words --------------------------------------------------------------------------------------------------------------

    def note(self, code: str, message: str, part: str = "", offset: int | None = None) -> None:
        self.names.note(code, message, part, offset)

    def unread(self, error: InertError, part: str) -> None:
        """A part that nobody can say anything of."""
        code = "scan-limit" if isinstance(error, LimitError) else "scan-unread"
        self.note(code, one_line(f"{error.message}{error.hint and f' ({error.hint})'}"), error.part or part, error.offset)

    def spend(self, count: int, part: str) -> bool:
        """Whether so many more bytes may be looked at."""
        self.left -= count
        if self.left >= 0:
            return True
        if not self._told:
            self._told = True
            self.note("scan-limit", "pickles and archives inside of each other hold more bytes than a scan of this file may take", part)
        return False

    def document(self, document: Document, part: str, base: int = 0) -> None:
        """Take what a pickle asks for, and look at what it carries along."""
        self.pickles += 1
        self.names.document(document, part, base)
        hooks.pickled(self, document, part, base)

    # -- sources ------------------------------------------------------------------------------------------------------------

    def file(self, source: Source) -> None:
        """The whole file, and then the constants that its pickles hold."""
        self.source(source, "", 0, True)
        depth = 0
        while self.names.blobs and depth < DEPTH:
            depth += 1
            blobs, self.names.blobs = self.names.blobs, []
            for data, part, sure in blobs:
                self._blob(data, part, sure, depth)
        if self.names.blobs:
            self.note("scan-limit", f"pickles inside of pickles, more than {DEPTH} deep", self.names.blobs[0][1])

    def _blob(self, data: bytes | bytearray, part: str, sure: bool, depth: int) -> None:
        key = (len(data), hash(bytes(data)))
        if key in self._done or not self.spend(len(data), part):
            return
        self._done.add(key)
        before = self.pickles
        self.source(BytesSource(data, part), part, depth, sure)
        if self.pickles > before:
            self.note("pickle-embedded", f"{len(data):,} bytes of it are a file of their own", part)

    def source(self, source: Source, part: str, depth: int, sure: bool) -> None:
        """Everything that a reader might take these bytes for. ``sure``: they are to be read by somebody, so that faults count."""
        if not source.size:
            return
        if depth > DEPTH:
            self.note("scan-limit", f"files inside of each other, more than {DEPTH} deep", part)
            return
        head = source.read(0, min(HEAD, source.size))
        zipped = head.startswith(b"PK") and self._archive(source, head, part, depth, sure)
        tarred = self._tar(source, head, part, depth)
        if tarred and head[:2] in streams.PROTOCOLS:
            self.note("tar-head", "it begins as a pickle, and as a tar archive too, which torch.load tries first", part)
        taken = tarred or zipped  # a tar archive may end with a member that is a zip archive
        taken = taken or self._archive(source, head, part, depth, sure)
        taken = self._compressed(source, head, part, depth, sure) or taken
        if not taken or not head.startswith(b"PK"):
            taken = streams.read(self, source.span(), part, sure and (not taken or head[:2] in streams.PROTOCOLS)) or taken
        if not taken or not head.startswith((b"PK", b"\x80")):
            from .others import look

            taken = look(self, source, head, part) or taken
        self._sealed(source, head, part)
        if not taken and (sure or source.size <= streams.HUNTED):
            streams.hunt(self, source.span(), part)
            behind = max(source.size - streams.HUNTED, streams.HUNTED)
            if behind < source.size:  # what was appended to a large file
                streams.hunt(self, source.span(behind, source.size - behind), part, behind)

    def inner(self, span: Span, part: str, depth: int, sure: bool) -> None:
        """A member of an archive."""
        if span.length and self.spend(min(span.length, streams.HUNTED), part):
            self.source(Window(span, part), part, depth + 1, sure)

    def suspicious(self, head: bytes) -> bool:
        return BEGINS.match(head) is not None

    def _archive(self, source: Source, head: bytes, part: str, depth: int, sure: bool) -> bool:
        begins = head.startswith(b"PK\3\4")
        if not begins:
            if source.size < 22:
                return False
            window = min(TAIL if sure else 22, source.size)
            if b"PK\5\6" not in source.read(source.size - window, window):
                return False
        from .zips import look

        return look(self, source, part, depth, begins)

    def _tar(self, source: Source, head: bytes, part: str, depth: int) -> bool:
        if source.size < BLOCK or not is_header(head[:BLOCK]):
            return False
        from .others import tar

        tar(self, source, part, depth)
        return True

    def _sealed(self, source: Source, head: bytes, part: str) -> None:
        """An archive or wrapper that nothing here looks into: who unpacks it may find anything."""
        kind, noun = sealed(source, head)
        if kind:
            self.kind = self.kind or kind
            self.note("scan-unread", f"{noun}, which is not looked into", part or source.name)

    def _compressed(self, source: Source, head: bytes, part: str, depth: int, sure: bool) -> bool:
        kind = next((kind for kind, engine in ENGINES.items() if engine.begins.match(head)), "")
        if not kind:
            return False
        try:
            inner, notes = inflated(source, kind, self.limits)
        except FormatError as error:
            if sure and kind not in WEAK:
                self.unread(error, part)
                return True
            return False
        except InertError as error:
            self.unread(error, part)
            return True
        try:
            if notes and not sure:
                return False  # some bytes came out of what only looks compressed
            if self.spend(inner.size, part):
                self.kind = self.kind or kind
                self.names.take(Finding(note.code, note.message, part or source.name, note.where.offset) for note in notes)
                self.source(inner, f"{part}!{ENGINES[kind].noun}" if part else ENGINES[kind].noun, depth + 1, True)
        finally:
            inner.close()
        return True
