"""From a Layout to elements: NumPy arrays and bounded byte pieces.

Knows: how to view, gather, swap, conjugate, unpack and densify. NumPy is imported here and nowhere below, and only when an array is made:
contiguous little-endian tensors are hashed and streamed without it.
Refuses to know: names and files. Everything arrives as a Layout that has been checked against its storage.
"""

from __future__ import annotations

from math import prod

from .errors import FormatError, UnsupportedError
from .tensor import PIECE, Layout, byte_strides, check_logical, is_contiguous, items_of, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .limits import Limits

REFUSED = {
    "meta": "a tensor on the meta device has no data",
    "wrapper": "a wrapper subclass has no data of its own; see its components",
    "nested": "a nested tensor is no single array; see its components",
    "objects": "an array of Python objects has no plain bytes; its objects stand in ckpt.root",
}


def array_of(layout: Layout, limits: Limits, held: Any = None) -> Any:
    """The NumPy array of a sound layout; over ``held``, the bytes of its whole storage in an array, where that is given."""
    refuse(layout)
    if layout.kind.startswith("sparse"):
        return DENSE[layout.kind](layout, limits)
    raw = items(layout, limits, held)
    if layout.dtype.packed == 1:
        return raw
    return _unpack(raw, layout)


def refuse(layout: Layout) -> None:
    if layout.kind in REFUSED:
        raise UnsupportedError(REFUSED[layout.kind])


def items(layout: Layout, limits: Limits, held: Any = None) -> Any:
    """The stored items as an array: of the tensor's shape, or one-dimensional where several values are packed in an item."""
    import numpy as np

    array = _gather(layout, layout.dtype.array_type(), limits, held)
    if layout.conj:
        array = np.conjugate(array)
    return np.negative(array) if layout.neg else array


def _gather(layout: Layout, kind: Any, limits: Limits, held: Any = None) -> Any:
    """A strided array of NumPy type ``kind`` over the bytes between the first and the last element: no copy where they are mapped."""
    import numpy as np

    storage, dtype, width = layout.storage, layout.dtype, layout.dtype.itemsize
    assert storage is not None
    shape, strides, offset = _item_geometry(layout)
    last, count, _ = reach(shape, strides)
    if last < 0:
        return np.empty(shape, kind)
    first, length = offset * width, (last + 1) * width
    check_logical(count * width, length, limits)
    if held is not None:
        flat: Any = held[first : first + length]
    else:
        span = storage.span()
        if length != span.length:
            span = span.sub(first, length)
        flat = span.view()
        if flat is None:
            flat = span.read()
    if storage.order == "big" and dtype.unit > 1:
        flat = np.frombuffer(flat, np.uint8).reshape(-1, dtype.unit)[:, ::-1].tobytes()
    return np.ndarray(shape, kind, flat, 0, byte_strides(strides, width))


def _item_geometry(layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape, strides and offset in items. A packed tensor (quint4x2 …) is a run of items, and only contiguous ones exist."""
    dtype = layout.dtype
    if dtype.packed == 1 or dtype.counts_items:
        return layout.shape, layout.strides, layout.offset
    if layout.offset % dtype.packed or not is_contiguous(layout.shape, layout.strides):
        raise UnsupportedError(f"a view of packed {dtype} values")
    return (items_of(dtype, layout.shape),), (1,), layout.offset // dtype.packed


def _unpack(raw: Any, layout: Layout) -> Any:
    """Single values of packed items, the lowest bits first (torch's order); bits types stay as they are."""
    import numpy as np

    dtype = layout.dtype
    if dtype.kind == "x":
        return raw
    shifts = np.arange(0, 8, dtype.bits, dtype=np.uint8)
    values = (raw[..., None] >> shifts) & np.uint8((1 << dtype.bits) - 1)
    if dtype.canonical == "float4_e2m1fn":
        import ml_dtypes

        shape = (*layout.shape[:-1], layout.shape[-1] * 2) if layout.shape else (2,)
        return values.reshape(shape).view(ml_dtypes.float4_e2m1fn)
    return values.reshape(-1)[: prod(layout.shape)].reshape(layout.shape)


# -- pieces -------------------------------------------------------------------------------------------------------------


def pieces(layout: Layout, limits: Limits) -> Iterator[bytes]:
    """Contiguous little-endian bytes in row-major order, in pieces of about PIECE bytes."""
    refuse(layout)
    if layout.kind.startswith("sparse"):
        raise UnsupportedError("a sparse tensor has no single run of bytes; see its components")
    storage, dtype = layout.storage, layout.dtype
    assert storage is not None
    shape, strides, offset = _item_geometry(layout)
    last, count, _ = reach(shape, strides)
    size = count * dtype.itemsize
    check_logical(size, (last + 1) * dtype.itemsize, limits)
    plain = not layout.conj and not layout.neg and (storage.order == "little" or dtype.unit == 1)
    if plain and is_contiguous(shape, strides):
        if size:
            yield from storage.span().sub(offset * dtype.itemsize, size).chunks(PIECE)
        return
    for part in _blocks(layout, shape, strides, offset):
        yield _bytes_of(part, limits)


def _blocks(layout: Layout, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Iterator[Layout]:
    """The tensor cut along its leading dimensions into layouts of at most PIECE bytes (or single rows of its last dimension)."""
    todo = [(shape, strides, offset)]
    while todo:
        shape, strides, offset = todo.pop()
        size = prod(shape) * layout.dtype.itemsize
        if size <= PIECE or not shape:
            part = layout.copy()
            part.shape, part.strides, part.offset = shape, strides, offset
            if size:
                yield part
            continue
        step = max(1, shape[0] * PIECE // size)
        if shape[0] == 1:
            todo.append((shape[1:], strides[1:], offset))
            continue
        starts = range(0, shape[0], step)
        todo.extend(
            ((min(step, shape[0] - i), *shape[1:]), strides, offset + i * strides[0]) for i in reversed(starts)
        )  # fmt: skip


def _bytes_of(layout: Layout, limits: Limits) -> bytes:
    """One block, gathered. complex32 and the like have no NumPy type: they are moved as they are."""
    if layout.dtype.numpy:
        data: bytes = items(layout, limits).tobytes()
    elif layout.conj or layout.neg:
        raise UnsupportedError(f"a conjugated or negated {layout.dtype} view")
    else:
        data = _gather(layout, f"V{layout.dtype.itemsize}", limits).tobytes()
    return data


# -- slices -------------------------------------------------------------------------------------------------------------


def narrow(layout: Layout, index: Any) -> Layout:
    """The layout of ``tensor[index]`` for integers, slices and ``...``. IndexError and TypeError as NumPy has them."""
    refuse(layout)
    if layout.kind.startswith("sparse") or layout.dtype.packed > 1:
        raise UnsupportedError(f"a slice of a {layout.kind} {layout.dtype} tensor", hint="take numpy() and slice that")
    wanted = list(index) if isinstance(index, tuple) else [index]
    if sum(item is Ellipsis for item in wanted) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    rank = len(layout.shape)
    given = sum(item is not Ellipsis for item in wanted)
    if given > rank:
        raise IndexError(f"too many indices: the tensor has {rank} dimensions, but {given} were indexed")
    at = next((i for i, item in enumerate(wanted) if item is Ellipsis), len(wanted))
    wanted[at : at + 1] = [slice(None)] * (rank - given)
    shape, strides, offset = [], [], layout.offset
    for item, size, stride in zip(wanted, layout.shape, layout.strides, strict=True):
        if isinstance(item, slice):
            start, stop, step = item.indices(size)
            count = len(range(start, stop, step))
            if step < 0:
                raise UnsupportedError("a slice with a negative step", hint="take numpy() and slice that")
            shape.append(count)
            strides.append(stride * step)
            offset += start * stride if count else 0
        else:
            position = item.__index__()
            if not -size <= position < size:
                raise IndexError(f"index {position} is out of bounds for a dimension of size {size}")
            offset += (position % size) * stride
    part = layout.copy()
    part.shape, part.strides, part.offset = tuple(shape), tuple(strides), offset
    return part


# -- sparse and quantised -----------------------------------------------------------------------------------------------


def _part(layout: Layout, role: str) -> Any:
    return layout.components[role].numpy()


def _zeros(layout: Layout, limits: Limits) -> Any:
    import numpy as np

    size = prod(layout.shape) * layout.dtype.itemsize
    check_logical(size, sum(part.nbytes for part in layout.components.values()), limits)
    return np.zeros(layout.shape, layout.dtype.array_type())


def _inside(index: Any, size: int) -> Any:
    if index.size and (index.min() < 0 or index.max() >= size):
        raise FormatError(f"a sparse index lies outside a dimension of size {size}")
    return index


def _coo(layout: Layout, limits: Limits) -> Any:
    import numpy as np

    indices, values, dense = _part(layout, "indices"), _part(layout, "values"), _zeros(layout, limits)
    if indices.ndim != 2 or values.shape[:1] != indices.shape[1:] or values.shape[1:] != dense.shape[indices.shape[0] :]:
        raise FormatError(f"sparse indices {indices.shape} and values {values.shape} do not fit {dense.shape}")
    where = tuple(_inside(row, size) for row, size in zip(indices, dense.shape, strict=False))
    if not where:
        return dense + values.sum(axis=0, dtype=dense.dtype)
    if dense.dtype.kind in "biufc":
        np.add.at(dense, where, values)  # coordinates may repeat: torch adds them up
    else:
        for place, value in zip(zip(*where, strict=True), values, strict=True):
            dense[place] = dense[place] + value
    return dense


def _compressed(layout: Layout, limits: Limits, rows: bool) -> Any:
    """CSR, CSC, BSR, BSC with leading batch dimensions: compressed indices count entries along one axis, plain ones name the other."""
    import numpy as np

    names = ("crow_indices", "col_indices") if rows else ("ccol_indices", "row_indices")
    counts, plain, values, dense = _part(layout, names[0]), _part(layout, names[1]), _part(layout, "values"), _zeros(layout, limits)
    batch = counts.shape[:-1]
    block = values.shape[len(batch) + 1 : len(batch) + 3] if layout.kind.endswith(("bsr", "bsc")) else (1, 1)
    height, width = dense.shape[len(batch) : len(batch) + 2]
    major, minor = (height // block[0], width // block[1]) if rows else (width // block[1], height // block[0])
    if counts.shape[-1] != major + 1 or plain.shape != values.shape[: len(batch) + 1] or counts.shape[:-1] != plain.shape[:-1]:
        raise FormatError(f"compressed indices {counts.shape}, {plain.shape} and values {values.shape} do not fit {dense.shape}")
    for place in np.ndindex(*batch):
        steps = np.diff(counts[place])
        if counts[place][0] != 0 or counts[place][-1] != plain.shape[-1] or (steps < 0).any():
            raise FormatError("compressed indices do not count up to the number of values")
        first = np.repeat(np.arange(major), steps)
        second = _inside(plain[place], minor)
        row, column = (first, second) if rows else (second, first)
        tail = values.shape[len(batch) + (3 if layout.kind.endswith(("bsr", "bsc")) else 1) :]
        blocks = values[place].reshape(-1, *block, *tail)
        for i in range(block[0]):
            for j in range(block[1]):
                dense[place][row * block[0] + i, column * block[1] + j] = blocks[:, i, j]
    return dense


DENSE: dict[str, Callable[[Layout, Limits], Any]] = {
    "sparse_coo": _coo,
    "sparse_csr": lambda layout, limits: _compressed(layout, limits, rows=True),
    "sparse_bsr": lambda layout, limits: _compressed(layout, limits, rows=True),
    "sparse_csc": lambda layout, limits: _compressed(layout, limits, rows=False),
    "sparse_bsc": lambda layout, limits: _compressed(layout, limits, rows=False),
}


def dequantized(layout: Layout, limits: Limits) -> Any:
    import numpy as np

    facts = layout.quantization
    if not facts:
        raise UnsupportedError("the tensor is not quantised")
    values = array_of(layout, limits).astype(np.float32)
    if "axis" not in facts:
        return (values - np.float32(facts["zero_point"])) * np.float32(facts["scale"])
    along = [1] * values.ndim
    along[facts["axis"]] = -1
    scales = _part(layout, "scales").astype(np.float32).reshape(along)
    zeros = _part(layout, "zero_points").astype(np.float32).reshape(along)
    if facts["scheme"].endswith("float_qparams"):
        return values * scales + zeros
    return (values - zeros) * scales
