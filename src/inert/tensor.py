"""Tensors: a Layout under a name, and what can be asked of it.

Knows: strided views over a Storage, tensors made of component tensors (sparse, nested, wrapped), quantised integers; how they are given as
NumPy arrays, bounded chunks and hashes.
Refuses to know: which format the bytes come from. Nothing but metadata is read before ``numpy()``, ``chunks()``, ``sha256()`` or ``[…]``.
"""

from __future__ import annotations

from math import prod

from .errors import FormatError, UnsupportedError, one_line
from .layout import Layout, items_of, pieces
from .limits import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .dtypes import DType
    from .layout import Storage
    from .limits import Limits


class Tensor:
    """One tensor of a checkpoint. Cheap to make and to pass around; safe to read from several threads."""

    __slots__ = ("_base", "_key", "_layout", "limits", "name")

    def __init__(self, layout: Any, limits: Limits = DEFAULT, name: str = "", base: tuple[Any, ...] | None = None, key: Any = None) -> None:
        """``layout`` is a Layout, or something that knows dtype and shape and whose ``layout()`` makes the Layout when it is needed.
        The rest is what ``place`` says."""
        self._layout = layout
        self.limits = limits
        self.name = name
        self._base = base
        self._key = key

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
            return Tensor(self.layout, self.limits).place(name, base, key)  # made now: two would be two storages
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
        """None for tensors that have no storage of their own (sparse, nested, a part of a wrapped one): see ``components``."""
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
        """dense · quantized · sparse_coo · sparse_csr · sparse_csc · sparse_bsr · sparse_bsc · nested · meta · wrapper · numpy · tiled ·
        strings · opaque.

        A tiled tensor is put together from its components, which are boxes of it."""
        return self.layout.kind

    @property
    def components(self) -> dict[str, Tensor]:
        """The tensors that this one is made of, by their role; {} for a dense one."""
        return self.layout.components

    @property
    def placement(self) -> str:
        """How a tensor is spread over processes, of which the file is that of one: "Shard(0), Replicate() on mesh dp=2 × tp=1, rank 1 at
        [1, 0]" for a DTensor, "1 of 2 shards, rank 1 of 2" for a ShardedTensor; "" for any other."""
        return self.layout.placement

    @property
    def boxes(self) -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
        """Which part of the tensor each component is: role → (offsets, shape), both in elements along each dimension.

        Of a tiled tensor all of them; of a DTensor or ShardedTensor in the file of one process those that this file holds, where they are
        known and are boxes; {} for any other. Where they are all of the tensor, ``numpy()`` gives it."""
        return self.layout.boxes

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
        """Bytes of the contiguous elements (packed where the dtype packs); of all components for a sparse or nested tensor,
        as stored for strings and opaque elements."""
        layout = self.layout
        if layout.components and layout.storage is None:
            return sum(part.nbytes for part in layout.components.values())
        if layout.kind == "wrapper" and layout.storage is None:
            return 0
        if not layout.dtype.itemsize and layout.storage is not None:
            return layout.storage.nbytes
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
        if layout.storage is None or layout.storage.opener is None or layout.fault:
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
        return f"<Tensor {self.name!r} {layout.dtype}{list(layout.shape)}{kind}{one_line(fault)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .notebook import tensor_html

        return tensor_html(self)
