"""The three streams of a checkpoint in the tar layout (torch before 0.1.10): storages, tensors, and the object that refers to them.

Knows: a stream of small pickles with raw numbers between them; keys are numbers, one key space for storages and tensors.
Refuses to know: the archive; it reads Spans. What stands behind a fault is missing, and the tensors that need it are refused one by one.

Facts: torch 2.13 torch/serialization.py (_legacy_load.legacy_load).
"""

from __future__ import annotations

from struct import unpack

from ..errors import InertError, LimitError, TruncatedError
from ..finding import Finding
from ..layout import Layout, Storage, bounds
from ..pickle.nodes import Global, List, Reference, shown
from .arguments import Odd, text
from .legacy import decode_at
from .persistent import Storages, class_of
from .storages import STORAGE_TYPES, TENSOR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Span

WINDOW = 256  # bytes read for one of the small pickles at first: they take about sixty


class Objects(Storages):
    """Storages and tensors by the numbers that the object's persistent ids name."""

    partial = False  # whether what is left of a storage that is cut short is taken

    def __init__(self, storages: Span, tensors: Span, limits: Limits) -> None:
        nowhere: dict[str, Span] = {}  # storages are made here, by number, and never asked for by key
        super().__init__(lambda key: None, nowhere.__getitem__, "little", "storage ")
        self.limits = limits
        self.notes: list[Finding] = []
        self.documents: dict[str, Document] = {}
        self.keyed: dict[int, Storage | Layout] = {}
        self.spans: dict[int, Span] = {}
        for name, span, read in (("storages", storages, self._storages), ("tensors", tensors, self._tensors)):
            stream = Stream(name, span, self)
            try:
                read(stream)
            except (Odd, InertError) as error:
                if isinstance(error, LimitError):
                    raise
                message = error.message if isinstance(error, InertError) else str(error)
                self.notes.append(Finding("record-missing", f"what follows is not read: {message}", name, stream.at))

    def value(self, node: Reference) -> Any:
        named = class_of(node)
        return self.of(node) if named is None else named

    def of(self, node: Any) -> Any:
        """The Storage, or the Layout of the tensor, that a Reference names by a number in digits."""
        pid = text(node.pid) if type(node) is Reference else None
        if type(pid) is str and pid.isdecimal() and len(pid) < 20:
            pid = int(pid)
        found = self.keyed.get(pid) if type(pid) is int else None
        if found is None:
            raise Odd(f"persistent id {shown(pid)} names neither a storage nor a tensor")
        return found

    def _storages(self, stream: Stream) -> None:
        for number in range(stream.count()):
            key, location, kind = stream.fields(number)
            dtype = STORAGE_TYPES.get(kind.dotted) if type(kind) is Global else None
            if dtype is None or type(key) is not int or type(location) is not str:
                raise Odd(f"entry {number} is no storage's (key, location, type)")
            (items,) = stream.numbers(1)
            place = stream.take(items * dtype.itemsize) if not self.partial else stream.some(items * dtype.itemsize, dtype.itemsize)
            self.spans[key] = place
            self.keyed[key] = storage = Storage(f"storage {key}", place.length, dtype, location, lambda place=place: place)  # type: ignore[misc]
            self.known[str(key)] = storage
        views = stream.pickle("views").root
        for entry in views.items if type(views) is List else ():
            fields = tuple(entry.items) if type(entry) is List else entry
            if type(fields) is not tuple or len(fields) != 4:
                raise Odd(f"the view {shown(entry)} is no (key, root, offset, size)")
            target, root, offset, count = fields
            held = self.keyed.get(root) if type(root) is int else None
            if type(held) is not Storage or type(target) is not int:
                raise Odd(f"the view {shown(target)} is of no storage")
            self.keyed[target] = self.view(held, target, offset, count)

    def _tensors(self, stream: Stream) -> None:
        for number in range(stream.count()):
            key, held, kind = stream.fields(number)
            if type(key) is not int or type(held) is not int:
                raise Odd(f"entry {number} is no tensor's (key, storage, type)")
            rank = stream.numbers(1)[0] & 0xFFFFFFFF  # the high half was never set: older files hold chance there
            if rank > self.limits.rank:
                raise Odd(f"a tensor of {rank:,} dimensions")
            *geometry, offset = stream.numbers(2 * rank + 1)
            known = self.keyed.get(held)
            dtype = TENSOR_TYPES.get(kind.dotted) if type(kind) is Global else None
            storage = known if isinstance(known, Storage) else self._missing(held, dtype)
            self.keyed[key] = self._layout(storage, tuple(geometry[:rank]), tuple(geometry[rank:]), offset)

    def _missing(self, key: int, dtype: DType | None) -> Storage:
        if dtype is None:
            raise Odd(f"a tensor of storage {key}, which is not there, and of no known type")
        storage = Storage(f"storage {key}", 0, dtype, "cpu", None)
        storage.fault = f"its storage {key} is not in the file"
        return storage

    def _layout(self, storage: Storage, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Layout:
        layout = Layout(storage.dtype, shape, strides, offset, storage, device=storage.device)
        fault = storage.fault or bounds(storage.dtype, shape, strides, offset, storage, self.limits.rank)
        if fault:
            layout.fault = fault
        return layout


class Stream:
    """Where reading is in one member: pickles and raw numbers in turn."""

    def __init__(self, name: str, span: Span, objects: Objects) -> None:
        self.name = name
        self.span = span
        self.objects = objects
        self.at = 0

    def pickle(self, what: str) -> Document:
        name = f"{self.name}/{what}"
        document = decode_at(self.span, self.at, name, self.objects.limits, WINDOW)
        plain = all(node.dotted in STORAGE_TYPES or node.dotted in TENSOR_TYPES for node in document.made if type(node) is Global)
        if not plain or any(type(node) is not Global for node in document.rows) or what in ("count", "views"):
            self._keep(name, document)  # those of one storage or tensor are kept only where they say more than that
        if document.fault:
            raise document.fault
        self.at += document.end
        return document

    def _keep(self, name: str, document: Document) -> None:
        if len(self.objects.documents) >= self.objects.limits.pickles:
            raise LimitError(f"more than {self.objects.limits.pickles:,} odd pickles", part=self.name, hint="raise Limits.pickles")
        self.objects.documents[name] = document

    def count(self) -> int:
        count = self.pickle("count").root
        if type(count) is not int or count < 0:
            raise Odd(f"the number of {self.name} is {shown(count)}")
        return count

    def fields(self, number: int) -> list[Any]:
        root = self.pickle(str(number)).root
        if type(root) is not tuple or len(root) != 3:
            raise Odd(f"entry {number} is {shown(root)}")
        return [text(item) for item in root]

    def numbers(self, count: int) -> tuple[int, ...]:
        data = self.take(8 * count).read()
        return unpack(f"<{count}q", data)

    def some(self, length: int, unit: int) -> Span:
        """As many of so many bytes as are left, in whole units."""
        left = self.span.length - self.at
        return self.take(length if 0 <= length <= left else left - left % unit if length > 0 else length)

    def take(self, length: int) -> Span:
        if length < 0 or self.at + length > self.span.length:
            raise TruncatedError(f"{length:,} bytes are wanted of {self.span.length - self.at:,}", part=self.name, offset=self.at)
        span = self.span.sub(self.at, length)
        self.at += length
        return span
