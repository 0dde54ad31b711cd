"""The storages that are written: each gets a key when it is first met, and its bytes.

Knows: what is one storage (the same Storage, or one address of this process's memory), that torch refuses two element types on one, and how
a tensor that is no plain view becomes one of its own.
Refuses to know: pickles and containers.

Facts: torch 2.13 torch/serialization.py (_save: id_map, storage_dtypes).
"""

from __future__ import annotations

from ..errors import UnsupportedError
from ..layout import Layout, Storage, contiguous, items_of, pieces
from ..limits import DEFAULT
from ..sink import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..sink import Piece
    from .persistent import Storages


class Storing:
    """The keys of storages, and the bytes of those that are new; ``counts``: their items; ``untyped``: how many references have no type.

    ``kept``: keys that are taken already · ``order`` of the bytes · ``first``: number that is the first key · ``anew``: a key's text is
    another object each time (as in torch's legacy layout, whose keys are not memoised) · ``tail``: the end of each persistent id."""

    def __init__(
        self,
        kept: frozenset[str] = frozenset(),
        order: str = "little",
        first: int = 0,
        anew: bool = False,
        tail: tuple[Any, ...] = (),
    ) -> None:
        self.kept = kept
        self.order = order
        self.anew = anew
        self.tail = tail
        self.counts: dict[str, int] = {}
        self.untyped = 0
        self.keys: dict[Any, str] = {}
        self.types: dict[str, str] = {}
        self.pieces: dict[str, Piece] = {}
        self.next = first

    def key(self, storage: Storage, kind: str, count: int, unit: int = 0) -> str:
        """The key of a storage of ``count`` items. ``unit``: bytes of a number, where the storage itself is untyped and does not know.
        UnsupportedError where it is used as another type before, which torch refuses to save."""
        known = self.keys.get(identity(storage))
        if known is None:
            while str(self.next) in self.kept:
                self.next += 1
            known = self.keys[identity(storage)] = str(self.next)
            self.next += 1
            self.pieces[known] = data_of(storage, self.order, unit)
            self.counts[known] = count
        first = self.types.setdefault(known, kind)
        if first != kind and storage.nbytes:
            raise UnsupportedError(f"one storage as {first} and as {kind}, which torch does not save", hint="copy one of the tensors")
        return "".join((known[:1], known[1:])) if self.anew else known

    def know(self, storages: Storages) -> None:
        """These are in the file already, under their own keys."""
        for key, storage in storages.known.items():
            self.keys[identity(storage)] = key
            self.types[key] = storage.dtype


def identity(storage: Storage) -> Any:
    """What is equal for equal storage: torch's tensors in memory make a Storage for each, over one of torch's own."""
    return storage.key if storage.key.startswith("storage 0x") else storage


def data_of(storage: Storage, order: str = "little", unit: int = 0) -> Piece:
    """All bytes of a storage in this byte order; ``unit``: bytes of a number of it, if its own type does not say."""
    unit = unit or storage.dtype.unit
    if isinstance(storage, Gathered):
        piece = storage.piece
        return piece if order == "little" or unit == 1 else Stream(piece.length, lambda: (swapped(block, unit) for block in piece.chunks()))
    if storage.opener is None:
        return b""
    span = storage.span()
    if storage.order == order or unit == 1:
        return span
    return Stream(span.length, lambda: (swapped(block, unit) for block in span.chunks()))


def swapped(data: bytes, unit: int) -> bytes:
    """Each number of ``unit`` bytes in the other byte order."""
    from array import array

    items = array({2: "H", 4: "I", 8: "Q"}[unit], data)
    items.byteswap()
    return items.tobytes()


class Gathered(Storage):
    """A storage whose bytes are made of a tensor's elements while they are written."""

    piece: Stream


def solid(layout: Layout) -> Layout:
    """The same elements in a storage of their own, in order."""
    length = items_of(layout.dtype, layout.shape) * layout.dtype.itemsize
    storage = Gathered("gathered", length, layout.dtype, layout.device, None)
    storage.piece = Stream(length, lambda: pieces(layout, DEFAULT))
    made = Layout(layout.dtype, layout.shape, contiguous(layout.shape), 0, storage, layout.requires_grad, layout.device)
    made.type = layout.type
    return made
