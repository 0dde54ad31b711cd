"""Persistent ids: the storages of one pickle, and the classes with their source of torch before 1.6.

Knows: the tuples that torch's pickles give as persistent ids, and what counts where two of them differ about one storage.
Refuses to know: where storages lie; the format gives each key's size and Span.

Facts: torch 2.13 torch/serialization.py and torch/storage.py; older forms: torch 0.1 to 1.5 (same files).
"""

from __future__ import annotations

from functools import partial

from ..dtypes import DType
from ..layout import Storage
from ..pickle.nodes import Call, Global, Node, Reference, shown
from .arguments import Odd, text
from .storages import STORAGE_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..source import Span

    Declared = tuple[DType, int, str]  # element type, how many elements, device


class Storages:
    """The storages of one pickle: made once per key from persistent ids, so that shared storage is one object."""

    def __init__(self, size: Callable[[str], int | None], opener: Callable[[str], Span], order: str, prefix: str = "data/") -> None:
        self.size = size  # of the record of a key in bytes, or None where there is none
        self.opener = opener
        self.order = order
        self.prefix = prefix
        self.known: dict[str, Storage] = {}
        self.declared: dict[str, Declared] = {}  # by key: what it is first declared to be counts, as in torch
        self.others: dict[tuple[str, DType, int], Storage] = {}  # what a key is declared to be later, where the first word does not count
        self.differing: set[str] = set()  # keys with several words on them
        self.retyped: set[str] = set()
        self.recounted: set[str] = set()
        self.missing = ""  # code of the finding for a storage that is not there, "" where the format says it in its own way
        self.views: dict[str | int, Storage] = {}
        self.embedded: Callable[[Call], Storage] | None = None  # the builder's: plain pickle puts a torch file into a call for each storage

    def of(self, node: Any) -> Storage:
        """The Storage of a Reference, or of a call whose argument holds one. Odd where it names none."""
        if isinstance(node, Call) and self.embedded is not None:
            return self.embedded(node)
        if type(node) is not Reference:
            raise Odd("the storage is no persistent id")
        storage = self.get(*self.said(node))
        pid = node.pid
        view = pid[5] if len(pid) == 6 else None
        if view is None:
            return storage
        if type(view) is not tuple or len(view) != 3:
            raise Odd("view metadata must be (key, offset, size)")
        return self.view(storage, *view)

    def said(self, node: Reference) -> tuple[Any, DType, Any, Any]:
        """Key, element type, device and number of elements that a persistent id names. Odd where it names no storage."""
        pid = node.pid
        if type(pid) is not tuple or not 5 <= len(pid) <= 6 or text(pid[0]) != "storage":
            raise Odd(f"persistent id {shown(pid)} names no storage")
        kind, key, location, count = pid[1:5]
        dtype = STORAGE_TYPES.get(kind.dotted) if type(kind) is Global else None
        if dtype is None:
            raise Odd(f"{shown(kind)} is no storage type")
        return text(key), dtype, text(location), count

    def key(self, node: Reference) -> Any:
        """The key that a persistent id names; the node itself where that is no text."""
        try:
            key = self.said(node)[0]
        except Odd:
            return node
        return key if type(key) is str else node

    def declare(self, node: Reference) -> None:
        """Take a persistent id's word on its storage, unless there is an earlier one."""
        try:
            key, dtype, location, count = self.said(node)
        except Odd:
            return
        if type(key) is str and type(count) is int and type(location) is str and count.bit_length() <= 63:
            word = (dtype, count, location)
            if self.declared.setdefault(key, word) != word:
                self.differing.add(key)

    def value(self, node: Reference) -> Any:
        """What a Reference stands for: a Storage, a class (its Global), or, in the tar layout, the Layout of a tensor."""
        named = class_of(node)
        return self.of(node) if named is None else named

    def view(self, root: Storage, key: Any, offset: Any, count: Any) -> Storage:
        """A storage that is a run of another's elements (PyTorch 0.1 and 0.2 had such), made once per key."""
        key, width = text(key), root.dtype.itemsize
        if type(key) not in (str, int) or type(offset) is not int or type(count) is not int:
            raise Odd("a storage view's key, offset and size must be a text and two numbers")
        if max(offset.bit_length(), count.bit_length()) > 63:
            raise Odd("a storage view beyond 64 bits")
        known = self.views.get(key)
        if known is None:
            name = f"{root.key}[{offset}:{offset + count}]"
            known = Storage(name, count * width, root.dtype, root.device, lambda: root.span().sub(offset * width, count * width))
            known.order = root.order
            if root.fault or min(offset, count) < 0 or (offset + count) * width > root.nbytes:
                known.fault = root.fault or f"its storage {name} does not lie inside {root.key}"
            self.views[key] = known
        return known

    def get(self, key: Any, dtype: DType, location: Any, count: Any) -> Storage:
        if type(key) is not str or type(count) is not int or type(location) is not str:
            raise Odd("a storage's key, location and size must be a text, a text and a number")
        if count.bit_length() > 63:
            raise Odd("a storage's size is beyond 64 bits")
        said = (dtype, count, location)
        first = self.declared.setdefault(key, said)
        storage = self.known.get(key) or self.known.setdefault(key, self._make(key, *first))
        return storage if first == said else self._again(key, storage, said)

    def _again(self, key: str, storage: Storage, said: Declared) -> Storage:
        """A key that is declared twice, and differently. Torch goes by the first word (but for a storage without bytes), and refuses
        the file where that is not what the record holds: here a later word that is true of the record is believed."""
        dtype, count, _ = said
        here = storage.nbytes and not storage.fault
        if dtype is not storage.dtype and (here or storage.fault):
            self.retyped.add(key)
        if count * dtype.itemsize != storage.nbytes:
            self.recounted.add(key)
        if here:
            return storage
        other = self.others.get((key, dtype, count)) or self.others.setdefault((key, dtype, count), self._make(key, *said))
        return storage if other.fault and storage.fault else other

    def _make(self, key: str, dtype: DType, count: int, location: str) -> Storage:
        nbytes = count * dtype.itemsize
        if location == "meta":
            return Storage(self.prefix + key, max(nbytes, 0), dtype, "meta", None)
        there = self.size(key)
        storage = Storage(self.prefix + key, nbytes, dtype, location, partial(self.opener, key))
        if self.order != "little":
            storage.order = self.order
        if there != nbytes:
            what = "is not in the file" if there is None else f"holds {there:,} bytes where the pickle says {nbytes:,}"
            storage.fault = f"its storage {storage.key.removeprefix('storage ')} {what}"
            storage.lack = self.missing if there is None else "record-size"
        return storage


def class_of(node: Reference) -> Global | None:
    """The class that a persistent id stands for: ('module', class, file, source) before torch 1.6, (class, file, source) before 0.1.10."""
    pid = node.pid
    if type(pid) is not tuple or not 3 <= len(pid) <= 4 or (len(pid) == 4 and text(pid[0]) != "module"):
        return None
    return pid[-3] if type(pid[-3]) is Global else None


def unnamed(node: Reference) -> bool:
    """Whether such an id has anything but a name where the class stands. torch looks up the class's own source, and writes the difference
    to a file that is called after the class (torch/serialization.py, _check_container_source)."""
    pid = node.pid
    if type(pid) is not tuple or not 3 <= len(pid) <= 4 or (len(pid) == 4 and text(pid[0]) not in ("module", b"module")):
        return False
    return isinstance(pid[-3], Node) and type(pid[-3]) is not Global


def class_name(node: Any) -> str:
    """The dotted name of a class that a Global or a persistent id stands for; "" for anything else."""
    named = class_of(node) if type(node) is Reference else node
    return named.dotted if type(named) is Global else ""


class Taken(Storages):
    """Storages as torch takes them with ``map_location="cpu"``, whatever their location says and with numbers as keys too; only looked at,
    never read. ``size``: None where no records are at hand. ``mapped``: with mmap=True, which cuts what the file has not."""

    def __init__(self, size: Callable[[str], int | None] | None, mapped: bool = False) -> None:
        super().__init__(size or _unknown, _unread, "little", "")
        self.mapped = mapped

    def get(self, key: Any, dtype: DType, location: Any, count: Any) -> Storage:
        if self.mapped and type(count) is int and count >= 1 << 63:
            count = (1 << 63) - 1
        return super().get(str(key) if type(key) is int else key, dtype, "cpu", count)

    def _again(self, key: str, storage: Storage, said: Declared) -> Storage:
        return storage if storage.nbytes else super()._again(key, storage, said)


def _unknown(key: str) -> None:
    """The size of a record that is not at hand."""


def _unread(key: str) -> Span:
    raise Odd(f"what data/{key} holds is not looked at")
