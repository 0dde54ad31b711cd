"""Tensors: a name, a geometry, and bytes that are read only when asked for.

Knows: strided views over a Storage, tensors made of component tensors (sparse, nested, wrapped), quantised integers; how to give them as
NumPy arrays, bounded chunks and hashes.
Refuses to know: which format the bytes come from. Nothing but metadata is read before ``numpy()``, ``chunks()``, ``sha256()`` or ``[…]``.

Units: ``strides`` and ``offset`` count stored items of the dtype, ``nbytes`` is the size of the contiguous elements in bytes.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from .errors import FormatError, LimitError, UnsupportedError
from .limits import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .dtypes import DType
    from .limits import Limits
    from .source import Span

PIECE = 4 << 20  # bytes of a chunk


class Storage:
    """A run of bytes that tensors are views of. Hashable; equal exactly for shared storage.

    ``key`` is the name of its record, ``nbytes`` what that holds, ``dtype`` what it was declared with (uint8 where it was untyped),
    ``order`` the byte order of its items. ``opener`` says where the bytes are; None for a meta storage, which has none."""

    # plain attributes with defaults here, not slots: there are as many storages as tensors, and few of them set more than five
    fault = ""
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
    state of a tensor with Python attributes · ``hooks``: non-empty backward hooks · ``type``: class name of a subclass or parameter."""

    kind = "dense"
    fault = ""
    conj = neg = False
    components: dict[str, Tensor] = _NONE
    quantization: dict[str, Any] = _NONE
    attributes: Any = None
    hooks: Any = None
    type = ""

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


class Tensor:
    """One tensor of a checkpoint. Cheap to make and to pass around; safe to read from several threads."""

    __slots__ = ("_base", "_key", "_layout", "limits", "name")

    def __init__(self, layout: Any, limits: Limits = DEFAULT) -> None:
        """``layout`` is a Layout, or something that knows dtype and shape and whose ``layout()`` makes the Layout when it is needed."""
        self._layout = layout
        self.limits = limits
        self.name = ""
        self._base: tuple[Any, ...] | None = None
        self._key: Any = None

    @property
    def path(self) -> tuple[Any, ...]:
        """The keys that lead to the tensor in the saved object; () for a bare tensor."""
        return () if self._base is None else (*self._base, self._key)

    @property
    def layout(self) -> Layout:
        layout = self._layout
        if type(layout) is not Layout:
            layout = self._layout = layout.layout()
        made: Layout = layout
        return made

    def place(self, name: str, base: tuple[Any, ...], key: Any) -> Tensor:
        """This tensor under its name, at ``key`` of the container whose path is ``base``; a twin of it where it has a name already."""
        if self._base is not None:
            return Tensor(self._layout, self.limits).place(name, base, key)
        self.name = name
        self._base = base
        self._key = key
        return self

    # -- what it is -----------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        dtype: DType = self._layout.dtype
        return dtype

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._layout.shape
        return shape

    @property
    def strides(self) -> tuple[int, ...]:
        """In stored items of the dtype."""
        return self.layout.strides

    @property
    def offset(self) -> int:
        """In stored items of the dtype, from the storage's start."""
        return self.layout.offset

    @property
    def storage(self) -> Storage | None:
        """None for tensors that have no storage of their own (sparse, nested, wrapped): see ``components``."""
        return self.layout.storage

    @property
    def requires_grad(self) -> bool:
        return self.layout.requires_grad

    @property
    def device(self) -> str:
        """The location tag that was saved; data is always read to the CPU."""
        return self.layout.device

    @property
    def kind(self) -> str:
        """dense · quantized · sparse_coo · sparse_csr · sparse_csc · sparse_bsr · sparse_bsc · nested · meta · wrapper · numpy."""
        return self.layout.kind

    @property
    def components(self) -> dict[str, Tensor]:
        """The tensors that this one is made of, by their role; {} for a dense one."""
        return self.layout.components

    @property
    def fault(self) -> str:
        """Why the data of a damaged tensor is refused; "" for a sound one."""
        return self.layout.fault

    @property
    def size(self) -> int:
        """Number of elements, as the shape counts them."""
        return prod(self.layout.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the contiguous elements (packed where the dtype packs); of all components for a sparse or nested tensor."""
        layout = self.layout
        if layout.components and layout.storage is None:
            return sum(part.nbytes for part in layout.components.values())
        if layout.kind == "wrapper":
            return 0
        return items_of(layout.dtype, layout.shape) * layout.dtype.itemsize

    @property
    def file_offset(self) -> int | None:
        """Where the first element lies in ``file``, in bytes; None where the bytes do not lie plainly in a file."""
        place = self._place()
        return None if place is None else place[1]

    @property
    def file(self) -> str | None:
        """The file that ``file_offset`` counts in."""
        place = self._place()
        return None if place is None else place[0]

    def _place(self) -> tuple[str, int] | None:
        layout = self.layout
        if layout.storage is None or layout.kind == "meta" or layout.fault:
            return None
        region = layout.storage.span().region()
        return None if region is None else (region[0], region[1] + layout.offset * layout.dtype.itemsize)

    # -- what it holds --------------------------------------------------------------------------------------------------

    def numpy(self) -> Any:
        """The elements as a NumPy array of ``shape``: a read-only view of the mapped file where that can be, else a copy.

        Quantised tensors give their integers, float4_e2m1fn_x2 its single values (twice the last dimension), sparse ones the dense array.
        Raises UnsupportedError where NumPy has no such type or the tensor no data, LimitError for shapes far beyond their bytes,
        FormatError for a damaged tensor."""
        from .arrays import array_of

        return array_of(self._sound(), self.limits)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __getitem__(self, index: Any) -> Any:
        """``numpy()[index]`` for integers, slices and ``...``, reading only what that needs."""
        from .arrays import array_of, narrow

        return array_of(narrow(self._sound(), index), self.limits)

    def chunks(self) -> Iterator[bytes]:
        """The elements in row-major order as little-endian bytes, in pieces of a few MiB: packed and quantised ones as stored."""
        return pieces(self._sound(), self.limits)

    def sha256(self) -> str:
        """Hex SHA-256 of what ``chunks()`` gives: equal for equal dense tensors in any container. Raises as ``numpy()`` does."""
        from hashlib import sha256

        digest = sha256(usedforsecurity=False)
        for piece in self.chunks():
            digest.update(piece)
        return digest.hexdigest()

    def dequantize(self) -> Any:
        """The float32 values of a quantised tensor: (integer - zero point) * scale."""
        from .arrays import dequantized

        return dequantized(self._sound(), self.limits)

    def torch(self) -> Any:
        """The tensor as a ``torch.Tensor`` on the CPU (a copy). Imports torch, because the caller asked; ImportError where it is absent."""
        from .interop import torch_of

        return torch_of(self._sound(), self.limits)

    def __dlpack__(self, **options: Any) -> Any:
        """A DLPack capsule over a copy. UnsupportedError where DLPack has no such type."""
        array = self.numpy()
        try:
            return array.copy().__dlpack__(**options)
        except (BufferError, TypeError) as error:
            raise UnsupportedError(f"DLPack cannot carry {self.dtype} ({error})", part=self.name) from None

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

    def _sound(self) -> Layout:
        layout = self.layout
        if layout.fault:
            raise FormatError(layout.fault, part=self.name or "tensor", hint="this tensor is refused; the others can be read")
        return layout

    def __repr__(self) -> str:
        layout = self.layout
        kind = "" if layout.kind == "dense" else f" {layout.kind}"
        fault = f" damaged: {layout.fault}" if layout.fault else ""
        return f"<Tensor {self.name!r} {layout.dtype}{list(layout.shape)}{kind}{fault}>"


REFUSED = {
    "meta": "a tensor on the meta device has no data",
    "wrapper": "a wrapper subclass has no data of its own; see its components",
    "nested": "a nested tensor is no single array; see its components",
    "objects": "an array of Python objects has no plain bytes; its objects stand in ckpt.root",
}


def refuse(layout: Layout) -> None:
    """UnsupportedError where a layout has no elements of its own."""
    if layout.kind in REFUSED:
        raise UnsupportedError(REFUSED[layout.kind])


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
        return 0, 0, f"{len(shape)} sizes but {len(strides)} strides"
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


def check_logical(logical: int, behind: int, limits: Limits) -> None:
    """LimitError where the elements together are far more bytes than those behind them (stride 0 makes such tensors)."""
    if logical > limits.logical_bytes and logical > limits.logical_ratio * behind:
        hint = "take a slice of it, or raise Limits.logical_bytes"
        raise LimitError(f"{logical:,} bytes of elements over {behind:,} stored bytes", hint=hint)
