"""Layouts: what a tensor is, apart from its name, and where its bytes lie.

Knows: a Storage (a run of bytes), a Layout (element type, shape, strides, offset over a Storage, or component tensors), the arithmetic of
both, and how contiguous elements are streamed.
Refuses to know: names, and NumPy (arrays.py).

Units: strides and offsets count stored items of the dtype, sizes called ``nbytes`` or ``length`` count bytes.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from .errors import FormatError, LimitError, UnsupportedError
from .words import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .dtypes import DType
    from .limits import Limits
    from .source import Span
    from .tensor import Tensor

RANK = 1024  # dimensions whose sizes are multiplied at all: the product of a million large sizes is a very large number
PIECE = 4 << 20  # bytes of a chunk


class Storage:
    """A run of bytes that tensors are views of. Hashable; equal exactly for shared storage.

    ``key`` is the name of its record, ``nbytes`` what that holds, ``dtype`` what it was declared with (uint8 where it was untyped),
    ``order`` the byte order of its items. ``opener`` says where the bytes are; None for a meta storage, which has none."""

    # plain attributes with defaults here, not slots: there are as many storages as tensors, and few of them set more than five
    fault = ""
    crc32c = 0  # masked, of all of the bytes, where the file has it for them; 0 where it does not
    lack = ""  # code of the finding where the fault is the record's: it is missing, or its size is not what was declared
    order = "little"
    _span: Span | None = None

    def __init__(self, key: str, nbytes: int, dtype: DType, device: str, opener: Callable[[], Span] | None) -> None:
        self.key = key
        self.nbytes = nbytes
        self.dtype = dtype
        self.device = device
        self.opener = opener

    def span(self) -> Span:
        """Where the bytes lie. FormatError where the record is missing or damaged, UnsupportedError where there are none."""
        if self.fault:
            raise FormatError(self.fault, part=self.key)
        if self._span is None:
            if self.opener is None:
                raise UnsupportedError("a tensor on the meta device has no data", part=self.key)
            self._span = self.opener()
        return self._span

    def __repr__(self) -> str:
        return f"<Storage {self.key} {self.nbytes} bytes>"


_NONE: dict[str, Any] = {}


class Layout:
    """What a tensor is, apart from its name. One Layout may be listed under several names.

    ``fault``: why its data is refused · ``conj``, ``neg``: the stored values are still to be conjugated or negated · ``attributes``: the
    state of a tensor with Python attributes · ``hooks``: non-empty backward hooks · ``type``: class name of a subclass or parameter.

    Of a tensor that is spread over several processes: ``placement`` says how, ``boxes`` where each component lies in the whole (offsets,
    shape), ``holds`` what of it these are, in words; ``partial``: each process holds a term of the values, not the values."""

    kind = "dense"
    fault = ""
    conj = neg = False
    components: dict[str, Tensor] = _NONE
    quantization: dict[str, Any] = _NONE
    strings: Any = None  # of a tensor of strings: a function that gives every one of them, in row-major order
    attributes: Any = None
    hooks: Any = None
    type = ""
    placement = holds = ""
    boxes: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = _NONE
    partial = False
    slices: tuple[tuple[tuple[int, int], ...], ...] = ()  # of a partitioned variable: each component's box as its file spells it

    def __init__(
        self,
        dtype: DType,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int,
        storage: Storage | None,
        requires_grad: bool = False,
        device: str = "cpu",
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.storage = storage
        self.requires_grad = requires_grad
        self.device = device

    def copy(self) -> Layout:
        other = Layout.__new__(Layout)
        other.__dict__.update(self.__dict__)
        return other


REFUSED = {
    "meta": "a tensor on the meta device has no data",
    "wrapper": "a wrapper subclass has no data of its own; see its components",
    "nested": "a nested tensor is no single array; see its components",
    "opaque": "its elements are objects of TensorFlow's own; t.storage.span() has their bytes",
    "objects": "an array of Python objects has no plain bytes; its objects stand in ckpt.root",
}


def refuse(layout: Layout) -> None:
    """UnsupportedError where a layout has no elements of its own."""
    if layout.kind not in REFUSED or (layout.kind == "wrapper" and layout.storage is not None):
        return
    if not layout.placement:
        raise UnsupportedError(REFUSED[layout.kind])
    if layout.partial:
        text = f"this file holds one process's term of it, and the values are those of all processes reduced ({layout.placement})"
        raise UnsupportedError(text, hint="see its components")
    text = f"this file holds {layout.holds or 'a part'} of it ({layout.placement})"
    raise UnsupportedError(text, hint="see its components; the rest lies in the files of the other ranks")


def item_geometry(layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and offset in items. A packed tensor (quint4x2 …) is a run of items, and only contiguous ones exist."""
    dtype = layout.dtype
    if dtype.packed == 1 or dtype.counts_items:
        return layout.shape, layout.strides, layout.offset
    if layout.offset % dtype.packed or not is_contiguous(layout.shape, layout.strides):
        raise UnsupportedError(f"a view of packed {dtype} values")
    return (items_of(dtype, layout.shape),), (1,), layout.offset // dtype.packed


def pieces(layout: Layout, limits: Limits) -> Iterator[bytes]:
    """Contiguous little-endian bytes of the elements in row-major order, in pieces of about PIECE bytes."""
    refuse(layout)
    if layout.kind == "strings":
        from .arrays import lengthed

        yield from lengthed(layout)
        return
    if layout.storage is None:
        raise UnsupportedError(f"a {layout.kind} tensor has no single run of bytes; see its components")
    storage, dtype = layout.storage, layout.dtype
    shape, strides, offset = item_geometry(layout)
    last, count, _ = reach(shape, strides)
    size = count * dtype.itemsize
    check_logical(size, (last + 1) * dtype.itemsize, limits)
    if layout.conj or layout.neg or (storage.order == "big" and dtype.unit > 1) or not is_contiguous(shape, strides):
        from .arrays import gathered

        yield from gathered(layout, limits)
    elif size:
        yield from storage.span().sub(offset * dtype.itemsize, size).chunks(PIECE)


def items_of(dtype: DType, shape: tuple[int, ...]) -> int:
    """Stored items of a contiguous tensor: its values, or the items that pack them."""
    count = prod(shape)
    return count if dtype.packed == 1 or dtype.counts_items else -(-count // dtype.packed)


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides, in items."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the elements lie in row-major order without gaps. Strides of dimensions of size 1 do not matter."""
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


@lru_cache(1 << 14)
def reach(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int, str]:
    """(index of the last element behind the first or -1 where there is none, number of elements, what is wrong with the geometry)."""
    if len(shape) != len(strides):
        return 0, 0, f"{counted(len(shape), 'size')} but {counted(len(strides), 'stride')}"
    if len(shape) > RANK:
        return 0, 0, f"{len(shape)} dimensions"
    if min(shape, default=0) < 0 or min(strides, default=0) < 0:
        return 0, 0, "a negative size or stride"
    count = prod(shape)
    if count > (1 << 63) - 1:
        return 0, 0, "the number of elements exceeds 64 bits"
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True)) if count else -1
    return last, count, ""


@lru_cache(1 << 14)
def byte_strides(strides: tuple[int, ...], width: int) -> tuple[int, ...]:
    return tuple(stride * width for stride in strides)


def bounds(dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...], offset: int, storage: Storage, rank: int) -> str:
    """Why a strided tensor does not fit its storage, in words; "" where it does."""
    last, _, wrong = reach(shape, strides)
    if wrong or last < 0:
        return wrong
    if offset < 0:
        return "a negative offset"
    if len(shape) > rank:
        return f"{len(shape)} dimensions, more than {rank}"
    values = storage.nbytes // dtype.itemsize
    if dtype.packed != 1 and not dtype.counts_items:
        values *= dtype.packed
    if last + offset >= values:
        return f"its last element would be number {last + offset + 1:,} of a storage that holds {values:,}"
    return ""


def check_logical(logical: int, behind: int, limits: Limits, hint: str = "take a slice of it, or raise Limits.logical_bytes") -> None:
    """LimitError where the elements together are far more bytes than those behind them (stride 0 makes such tensors)."""
    if logical > limits.logical_bytes and logical > limits.logical_ratio * behind:
        raise LimitError(f"{logical:,} bytes of elements over {behind:,} stored bytes", hint=hint)
