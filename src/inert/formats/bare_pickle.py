"""pickle: a pickle that is a file of its own, whatever its protocol.

Knows: pickles one behind another; joblib's raw arrays between the opcodes, and the files beside the pickle that it wrote arrays to before
0.10; a lone data.pkl, whose tensors have their bytes nowhere.
Refuses to know: any class. A pickle has no magic number before protocol 2: what makes one here is that it decodes to its STOP and that
this gives something that nobody writes by chance.

Facts: CPython 3.13 Lib/pickle.py; joblib 1.5 joblib/numpy_pickle.py; torch 2.13 torch/serialization.py (_load) for data.pkl.
"""

from __future__ import annotations

from mmap import mmap

from ..containers.folder import neighbours
from ..content import Content, Part
from ..errors import FormatError, LimitError, TruncatedError
from ..finding import Finding
from ..layout import Layout
from ..pickle.decode import Document, decode
from ..pickle.nodes import Call, Dict, List, Set
from ..torch.arguments import Odd
from ..torch.build import Builder, Work
from ..torch.companions import Companions, wrappers
from ..torch.legacy import source_notes
from ..torch.persistent import Storages
from ..torch.raw import Joblib
from ..words import counted
from .torch_zip import document_notes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..limits import Limits
    from ..source import Source, Span
    from ..tensor import Tensor

PROTOCOLS = (b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5")
STARTS = b"(])}lcNIJKMLFGSTUVXdi"  # opcodes that a pickle of protocol 0 or 1 begins with
FIRST = 1 << 16  # bytes that are decoded before the whole file is read
MAPPED = 64 << 20  # larger files are decoded over the map: copies of their arrays would take as much memory as the file
BROKEN = ("pickle", "joblib")  # what formats.foreign calls a file that is a pickle in spite of its faults


class Claim:
    """The pickles found: their Documents in order, where each begins, and what was odd about where they stand."""

    __slots__ = ("documents", "follows", "notes", "starts")

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.starts: list[int] = []
        self.follows: list[Joblib] = []
        self.notes: list[Finding] = []


def claims(source: Source, limits: Limits) -> Claim | None:
    """The pickles of a file that holds nothing else from its first byte on."""
    head = source.read(0, min(FIRST, source.size))
    if not head.startswith(PROTOCOLS) and head[:1] not in STARTS:
        return None
    follow = Joblib(source)
    document = decode(head, "pickle", limits, follow=follow)
    if document.fault and source.size > len(head) and not hopeless(document):
        follow = Joblib(source)
        document = decode(whole(source, limits), "pickle", limits, follow=follow)
    if document.fault is not None:
        return _faulty(source, document)
    if not meant(document, source.size):
        return None
    claim = Claim()
    _collect(claim, source, limits, document, follow)
    return claim


def whole(source: Source, limits: Limits) -> Any:
    """The file's bytes: the map of a large file, which has all that the machine asks of bytes, else a copy."""
    if source.size > MAPPED:
        view = source.view(0, source.size)
        if view is not None and type(view.obj) is mmap and len(view.obj) == source.size:
            return view.obj
    if source.size > limits.pickle_bytes:
        raise LimitError(f"a pickle of {source.size:,} bytes", part=source.name, hint="raise Limits.pickle_bytes")
    return source.read(0, source.size)


def hopeless(document: Document) -> bool:
    """Whether more bytes could not mend the fault: they could where the pickle, or what follows raw in it, ends too early."""
    return not isinstance(document.fault, TruncatedError) and document.fault is not None and not _at_end(document)


def _at_end(document: Document) -> bool:
    offset = document.fault.offset if document.fault else None
    return offset is None or offset >= len(document.data) - 16


def meant(document: Document, size: int) -> bool:
    """Whether a pickle says something that no text says by chance. Since protocol 2 it begins with a byte that no text has."""
    root = document.root
    if document.data[:1] == b"\x80":
        return True
    if isinstance(root, Call):
        return True
    filled = bool(root.items if isinstance(root, (List, Set)) else root.flat if isinstance(root, Dict) else root)
    if isinstance(root, (List, Dict, Set, tuple)):
        return filled or (document.top >= 0 and document.end == size)
    return document.top >= 0 and document.end == size  # a number or text alone, memoised


def _faulty(source: Source, document: Document) -> Claim | None:
    """A damaged pickle is claimed, and its fault told, where it can be nothing else."""
    from .foreign import describe

    if document.data[:2] not in PROTOCOLS and not any(isinstance(node, Call) for node in document.rows):
        return None
    if describe(source)[0] not in BROKEN:
        return None
    claim = Claim()
    claim.documents, claim.starts = [document], [0]
    return claim


def _collect(claim: Claim, source: Source, limits: Limits, document: Document, follow: Joblib) -> None:
    """The first pickle and those that follow it."""
    at, data, size = 0, document.data, source.size
    while True:
        claim.documents.append(document)
        claim.starts.append(at)
        claim.follows.append(follow)
        at = document.end
        if at >= size:
            return
        if len(claim.documents) >= limits.pickles:
            claim.notes.append(Finding("pickles-limit", f"{limits.pickles:,} pickles were read", source.name, at))
            return
        if len(data) < size:
            data = whole(source, limits)
        follow = Joblib(source)
        document = decode(data, f"pickle {len(claim.documents)}", limits, start=at, follow=follow)
        if document.fault is not None or not (
            data[at : at + 2] in PROTOCOLS or (data[at] in STARTS and isinstance(document.root, (Call, List, Dict)))
        ):
            said = f": {document.fault.message}" if document.fault and data[at : at + 2] in PROTOCOLS else ""
            claim.notes.append(Finding("pickle-trailing", f"{size - at:,} bytes follow STOP{said}", claim.documents[-1].name, at))
            return


def read(source: Source, limits: Limits, claim: Claim, byteorder: str | None) -> BarePickle:
    return BarePickle(source, limits, claim, byteorder)


class BarePickle(Content):
    format = "pickle"

    def __init__(self, source: Source, limits: Limits, claim: Claim, byteorder: str | None) -> None:
        super().__init__(source, limits)
        self.claim = claim
        self.order = byteorder or "little"
        self._plain: list[Document] | None = None
        self.companions = Companions(neighbours(source), limits)

    def pickles(self) -> dict[str, Document]:
        for document in self.claim.documents:
            if document.fault is not None:
                raise document.fault
        objects = [found for call in self._wrappers() if isinstance(found := self._array(call), Document)]
        return {document.name: document for document in [*self.claim.documents, *self._hidden(), *objects]}

    def _wrappers(self) -> list[Call]:
        """The objects that stand for arrays in files of their own."""
        return [call for document in self.claim.documents for call in wrappers(document)]

    def _array(self, call: Call) -> Layout | Document | None:
        try:
            return self.companions.array(call)
        except Odd:
            return None  # noted where its value is made

    def _hidden(self) -> list[Document]:
        """What a plain unpickler would find in the raw bytes of joblib's arrays: there to be judged like any other pickle."""
        if self._plain is None:
            self._plain = self._look_for_hidden()
        return self._plain

    def _look_for_hidden(self) -> list[Document]:
        found = []
        for document, start, follow in zip(self.claim.documents, self.claim.starts, self.claim.follows, strict=False):
            if follow.first >= 0:
                plain = decode(document.data, f"{document.name} as pickle.load reads it", self.limits, start=start)
                if plain.rows and getattr(plain.rows[-1], "offset", 0) >= follow.first:
                    found.append(plain)
        return found

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        self.pickles()
        values, notes = [], []
        work = Work(len(self.claim.documents[0].data))
        for document in self.claim.documents:
            storages = Storages(_absent, _nowhere, self.order)
            builder = Builder(document, storages, self.limits, convert, work=work)
            builder.companions = self.companions
            values.append(builder.build())
            notes += builder.notes
            notes += self._told(document, storages)
        return (values[0] if len(values) == 1 else values), notes

    def _told(self, document: Document, storages: Storages) -> list[Finding]:
        """That the bytes of the storages are nowhere."""
        for reference in document.references:
            try:
                storages.value(reference)
            except Odd:
                continue
        if not storages.known:
            return []
        text = f"the data of {counted(len(storages.known), 'storage')} is not here, such as data/{next(iter(storages.known))[:40]}"
        return [Finding("data-missing", text, document.name)]

    def parts(self) -> dict[str, Part]:
        made = {}
        for document, start in zip(self.claim.documents, self.claim.starts, strict=True):
            end = document.end or len(document.data)
            made[document.name] = Part(document.name, self.source.name, start, end - start, "pickle")
        for call in self._wrappers():
            self._array(call)
        for name, file in self.companions.files.items():
            made[f"./{name}" if name in made else name] = Part(name, file.name, 0, file.size, "array")
        return made

    def metadata(self) -> dict[str, str]:
        facts = {"protocol": str(max(document.protocol for document in self.claim.documents))}
        if any(follow.first >= 0 for follow in self.claim.follows) or self._wrappers():
            facts["writer"] = "joblib"
        return facts

    def checks(self) -> tuple[Any, ...]:
        from . import plain_checks

        return (plain_checks.pickled,)

    def notes(self) -> list[Finding]:
        found = list(self.claim.notes)
        name = self.source.name
        if len(self.claim.documents) > 1:
            found.append(Finding("pickle-several", f"{len(self.claim.documents):,} pickles one behind another", name))
        first = next((follow.first for follow in self.claim.follows if follow.first >= 0), -1)
        if first >= 0:
            found.append(Finding("pickle-raw", "the bytes of arrays stand between the opcodes, as joblib writes them", name, first))
        found += self._beside()
        found += [Finding("pickle-hidden", "more names or calls are found", plain.name, first) for plain in self._hidden()]
        for document in self.claim.documents:
            found += [note for note in document_notes(document) if note.code != "pickle-trailing"]
            found += source_notes(document)
        return found

    def _beside(self) -> Iterator[Finding]:
        """Of the files that arrays lie in."""
        arrays = [self._array(call) for call in self._wrappers()]
        lost = [one.fault for one in arrays if isinstance(one, Layout) and one.fault]
        if arrays:
            yield Finding(
                "pickle-companions", f"{counted(len(arrays), 'array')} in {counted(len(self.companions.files), 'file')}", self.source.name
            )
        if lost:
            yield Finding("companion-missing", f"{counted(len(lost), 'array')}, such as this: {lost[0]}", self.source.name)
        yield from self.companions.notes.values()

    def close(self) -> None:
        super().close()
        self.companions.close()


def _absent(key: str) -> int | None:
    return None


def _nowhere(key: str) -> Span:
    raise FormatError("its data is not beside the pickle", part=key)
