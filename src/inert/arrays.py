"""From a Layout to elements: NumPy arrays and bounded byte pieces.

Knows: how to view, gather, swap, conjugate, unpack and densify. NumPy is imported here, and this module only when an array is made:
contiguous little-endian tensors are hashed and streamed without it (tensor.py).
Refuses to know: names and files. Everything arrives as a Layout that has been checked against its storage.
"""

from __future__ import annotations

from math import prod
from operator import index as index_of

import numpy as np

from .errors import FormatError, LimitError, UnsupportedError
from .layout import PIECE, Layout, byte_strides, check_logical, item_geometry, reach, refuse
from .limits import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .limits import Limits
    from .source import Span

BLOCKS = 4  # pieces that are gathered at once: the more, the longer the runs that are read of a transposed tensor
SPARSE = 4  # times as many bytes as are wanted are read, if they lie between them
SMALL = 64 << 10  # bytes that are read together in any case


def array_of(layout: Layout, limits: Limits, held: Any = None) -> Any:
    """The NumPy array of a sound layout; over ``held``, the bytes of its whole storage in an array, where that is given."""
    if layout.kind != "dense":
        refuse(layout)
        if layout.kind in DENSE:
            return DENSE[layout.kind](layout, limits)
    array = gather(layout, layout.dtype.array_type(), limits, held)
    if layout.conj:
        array = np.conjugate(array)
    if layout.neg:
        array = np.negative(array)
    return array if layout.dtype.packed == 1 else _unpack(array, layout)


def gather(layout: Layout, kind: Any, limits: Limits, held: Any = None) -> Any:
    """An array of NumPy type ``kind`` over the stored items between the first element and the last: no copy where they are mapped.
    It has the tensor's shape, or one dimension where an item packs several values."""
    storage, width = layout.storage, layout.dtype.itemsize
    assert storage is not None
    shape, strides, offset = (layout.shape, layout.strides, layout.offset) if layout.dtype.packed == 1 else item_geometry(layout)
    last, count, _ = reach(shape, strides)
    if last < 0:
        return _nothing(shape, kind)
    first, length = offset * width, (last + 1) * width
    if count * width > limits.logical_bytes:
        check_logical(count * width, length, limits)
    span = storage.span() if held is None else None
    view: Any = held if span is None else span.view()
    if view is None and span is not None:
        view, first = span.read(first, length), 0
    if storage.order == "big" and layout.dtype.unit > 1:
        view = np.frombuffer(view, np.uint8)[first : first + length].reshape(-1, layout.dtype.unit)[:, ::-1].copy()
        first = 0
    return np.ndarray(shape, kind, view, first, byte_strides(strides, width))


def _nothing(shape: tuple[int, ...], kind: Any) -> Any:
    """An array without elements. UnsupportedError where NumPy, which multiplies its other dimensions, finds them too large."""
    try:
        return np.empty(shape, kind)
    except ValueError:
        raise UnsupportedError(f"NumPy has no array of shape {list(shape)}", hint="it has no elements; PyTorch can hold it") from None


def _unpack(raw: Any, layout: Layout) -> Any:
    """Single values of packed items, the lowest bits first (torch's order); bits types stay as they are."""
    dtype = layout.dtype
    if dtype.kind == "x":
        return raw
    shifts = np.arange(0, 8, dtype.bits, dtype=np.uint8)
    values = (raw[..., None] >> shifts) & np.uint8((1 << dtype.bits) - 1)
    if dtype.canonical == "float4_e2m1fn":
        import ml_dtypes

        shape = layout.shape
        if dtype.counts_items:
            shape = (*layout.shape[:-1], layout.shape[-1] * 2) if layout.shape else (2,)
        return values.reshape(shape).view(ml_dtypes.float4_e2m1fn)
    return values.reshape(-1)[: prod(layout.shape)].reshape(layout.shape)


# -- pieces -------------------------------------------------------------------------------------------------------------


def gathered(layout: Layout, limits: Limits) -> Iterator[bytes]:
    """The elements of a layout that is no plain run of bytes (strided, big-endian, conjugated …), in pieces of at most PIECE bytes."""
    dtype, turned = layout.dtype, layout.conj or layout.neg
    if turned and not dtype.numpy:
        raise UnsupportedError(f"a conjugated or negated {dtype} view")
    kind = dtype.array_type() if dtype.numpy else np.dtype(f"V{dtype.itemsize}")  # complex32 and the like are moved as they are
    for part in _blocks(layout, *item_geometry(layout)):
        array = _collected(part, kind, limits)
        if layout.conj:
            array = np.conjugate(array)
        if layout.neg:
            array = np.negative(array)
        data = array.tobytes()
        del array
        yield from (data[at : at + PIECE] for at in range(0, len(data), PIECE)) if len(data) > PIECE else (data,)
        del data  # before the next block is made


def _collected(part: Layout, kind: Any, limits: Limits) -> Any:
    """The items of a block: of a file in bounded reads, since a map of it would count as memory with every page that is touched."""
    assert part.storage is not None
    span, unit = part.storage.span(), part.dtype.unit
    if span.region() is None and span.source.descriptor(span.offset) is None and span.view() is not None:
        return gather(part, kind, limits)
    made = np.empty(part.shape, kind)
    with span.source.steady():
        _fill(made, part.strides, part.offset, span)
    if part.storage.order == "big" and unit > 1:
        made = made.reshape(-1).view(np.uint8).reshape(-1, unit)[:, ::-1].copy().reshape(-1).view(kind).reshape(part.shape)
    return made


def _fill(made: Any, strides: tuple[int, ...], offset: int, span: Span) -> None:
    """Read the items at these strides into an array, in bounded reads that take what lies between if that is little."""
    width = made.dtype.itemsize
    todo = [(made, offset)]
    while todo:
        target, at = todo.pop()
        wanted = target.size * width
        extent = (sum((size - 1) * step for size, step in zip(target.shape, strides, strict=True)) + 1) * width
        if extent <= max(min(SPARSE * wanted, BLOCKS * PIECE), SMALL):
            data = span.read(at * width, extent)
            target[...] = np.ndarray(target.shape, made.dtype, data, 0, byte_strides(strides, width))
            continue
        axis = max((i for i, size in enumerate(target.shape) if size > 1), key=lambda i: strides[i])
        size, pitch = target.shape[axis], strides[axis] * width
        most = BLOCKS * PIECE if pitch <= SPARSE * wanted // size else SMALL  # whether what lies between the slices is worth reading
        count = max(1, min((most - (extent - (size - 1) * pitch)) // pitch + 1, size // 2))
        before = (slice(None),) * axis
        todo += [(target[(*before, slice(i, i + count))], at + i * strides[axis]) for i in reversed(range(0, size, count))]


def _blocks(layout: Layout, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Iterator[Layout]:
    """The tensor cut along its leading dimensions into layouts of at most BLOCKS * PIECE bytes (or single rows of its last dimension)."""
    todo = [(shape, strides, offset)]
    while todo:
        shape, strides, offset = todo.pop()
        size = prod(shape) * layout.dtype.itemsize
        if size <= BLOCKS * PIECE or not shape:
            part = layout.copy()
            part.shape, part.strides, part.offset = shape, strides, offset
            if size:
                yield part
            continue
        step = max(1, shape[0] * BLOCKS * PIECE // size)
        if shape[0] == 1:
            todo.append((shape[1:], strides[1:], offset))
            continue
        starts = range(0, shape[0], step)
        todo.extend(
            ((min(step, shape[0] - i), *shape[1:]), strides, offset + i * strides[0]) for i in reversed(starts)
        )  # fmt: skip


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
            position = index_of(item)
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
    size = prod(layout.shape) * layout.dtype.itemsize
    check_logical(size, sum(part.nbytes for part in layout.components.values()), limits)
    return np.zeros(layout.shape, layout.dtype.array_type())


def _inside(index: Any, size: int) -> Any:
    if index.size and (index.min() < 0 or index.max() >= size):
        raise FormatError(f"a sparse index lies outside a dimension of size {size}")
    return index


def _indices(layout: Layout, role: str) -> Any:
    found = _part(layout, role)
    if found.dtype.kind not in "iu":
        raise FormatError(f"{role} of type {found.dtype}")
    return found.astype(np.int64)


def _coo(layout: Layout, limits: Limits) -> Any:
    indices, values, dense = _indices(layout, "indices"), _part(layout, "values"), _zeros(layout, limits)
    fits = indices.ndim == 2 and len(indices) <= dense.ndim and values.ndim > 0
    if not fits or values.shape[:1] != indices.shape[1:] or values.shape[1:] != dense.shape[len(indices) :]:
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


BATCHES = 1 << 20  # compressed matrices in one tensor


def _compressed(layout: Layout, limits: Limits, rows: bool) -> Any:
    """CSR, CSC, BSR, BSC with leading batch dimensions: compressed indices count entries along one axis, plain ones name the other."""
    names = ("crow_indices", "col_indices") if rows else ("ccol_indices", "row_indices")
    counts, plain = _indices(layout, names[0]), _indices(layout, names[1])
    values, dense = _part(layout, "values"), _zeros(layout, limits)
    depth, blocked = counts.ndim - 1, 2 if layout.kind.endswith(("bsr", "bsc")) else 0
    block = values.shape[depth + 1 : depth + 3] if blocked else (1, 1)
    batch, matrix, tail = dense.shape[:depth], dense.shape[depth : depth + 2], values.shape[depth + 1 + blocked :]
    fits = depth >= 0 and len(matrix) == len(block) == 2 and 0 not in block and not any(n % b for n, b in zip(matrix, block, strict=True))
    fits = (
        fits
        and dense.shape[depth + 2 :] == tail
        and counts.shape[:-1] == batch == plain.shape[:-1]
        and plain.shape == values.shape[: depth + 1]
    )
    across = tuple(n // b for n, b in zip(matrix, block, strict=True)) if fits else (0, 0)  # blocks in a matrix
    major, minor = across if rows else across[::-1]
    if not fits or counts.shape[-1] != major + 1:
        raise FormatError(f"compressed indices {counts.shape}, {plain.shape} and values {values.shape} do not fit {dense.shape}")
    if prod(batch) > BATCHES:
        raise LimitError(f"{prod(batch):,} compressed matrices in one tensor", hint="see its components")
    for place in np.ndindex(*batch):
        steps = np.diff(counts[place])
        if counts[place][0] != 0 or counts[place][-1] != plain.shape[-1] or (steps < 0).any():
            raise FormatError("compressed indices do not count up to the number of values")
        first = np.repeat(np.arange(major), steps)
        second = _inside(plain[place], minor)
        row, column = (first, second) if rows else (second, first)
        blocks = dense[place].reshape(across[0], block[0], across[1], block[1], *tail)  # a view: dense is contiguous
        blocks[row, :, column] = values[place].reshape(-1, *block, *tail)
    return dense


def _strings(layout: Layout, limits: Limits) -> Any:
    """An array of bytes objects; of a slice, after all strings of the tensor have been read."""
    held = np.array([*layout.strings(), None], object)[:-1]  # the None keeps NumPy from looking into the strings
    shape, strides = layout.shape, byte_strides(layout.strides, held.itemsize)
    return np.lib.stride_tricks.as_strided(held[layout.offset :], shape, strides).copy()


def lengthed(layout: Layout) -> Iterator[bytes]:
    """Each string behind its length as eight little-endian bytes."""
    for one in _strings(layout, DEFAULT).reshape(-1).tolist():
        yield len(one).to_bytes(8, "little") + one


DENSE: dict[str, Callable[[Layout, Limits], Any]] = {
    "sparse_coo": _coo,
    "strings": _strings,
    "sparse_csr": lambda layout, limits: _compressed(layout, limits, rows=True),
    "sparse_bsr": lambda layout, limits: _compressed(layout, limits, rows=True),
    "sparse_csc": lambda layout, limits: _compressed(layout, limits, rows=False),
    "sparse_bsc": lambda layout, limits: _compressed(layout, limits, rows=False),
}


def dequantized(layout: Layout, limits: Limits) -> Any:
    facts = layout.quantization
    if not facts:
        raise UnsupportedError("the tensor is not quantised")
    values = array_of(layout, limits)
    if "axis" not in facts:
        return (values.astype(np.float32) - np.float32(facts["zero_point"])) * np.float32(facts["scale"])
    along = [1] * values.ndim
    along[facts["axis"]] = -1
    scales = _part(layout, "scales").astype(np.float64).reshape(along)
    zeros = _part(layout, "zero_points").astype(np.float64).reshape(along)
    return ((values.astype(np.float64) - zeros) * scales).astype(np.float32)
