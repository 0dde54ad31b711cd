"""Whether the indices of a sparse tensor lie inside of it.

Knows: what COO indices, and the compressed and plain indices of CSR, CSC, BSR and BSC must be like. They are looked at in bounded pieces.
Refuses to know: the values, and names.

Facts: torch 2.13 torch/_utils.py (_validate_loaded_sparse_tensors: only where check_invariants is on), aten/src/ATen/native/sparse
(_validate_compressed_sparse_indices).
"""

from __future__ import annotations

from ..errors import InertError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..checking import Inspector
    from ..tensor import Tensor

STEP = 1 << 18  # indices that are looked at together
COMPRESSED = {"sparse_csr": 0, "sparse_bsr": 0, "sparse_csc": 1, "sparse_bsc": 1}  # the dimension, of the last two, that is compressed


def wrong(tensor: Tensor, inspector: Inspector) -> str:
    """What is wrong with a sparse tensor's indices; "" where nothing is, or where they cannot be read, which other checks say."""
    try:
        if tensor.kind == "sparse_coo":
            return _coordinates(tensor, inspector)
        if tensor.kind in COMPRESSED:
            return _compressed(tensor, inspector)
    except InertError:
        return ""
    return ""


def _coordinates(tensor: Tensor, inspector: Inspector) -> str:
    indices = tensor.components["indices"]
    if len(indices.shape) != 2 or indices.shape[0] > len(tensor.shape):
        return ""  # refused when it is made dense
    count = indices.shape[1]
    values = tensor.components["values"].shape
    if values[:1] != (count,):
        return f"{count:,} places for values of the shape {list(values)}"
    place = 0
    for piece in _pieces(indices, inspector):
        at = 0
        while at < len(piece):
            row, column = divmod(place, count)
            size = min(len(piece) - at, count - column)
            said = _outside(piece[at : at + size], tensor.shape[row], f"dimension {row}")
            if said:
                return said
            at, place = at + size, place + size
    return ""


def _compressed(tensor: Tensor, inspector: Inspector) -> str:
    side = COMPRESSED[tensor.kind]
    names = list(tensor.components)  # crow_indices, col_indices, values; or ccol_indices, row_indices, values
    starts, plain, values = (tensor.components[name] for name in names[:3])
    batch = len(starts.shape) - 1
    shape, blocked = tensor.shape[batch : batch + 2], tensor.kind in ("sparse_bsr", "sparse_bsc")
    block = values.shape[batch + 1 : batch + 3] if blocked else (1, 1)
    if len(shape) != 2 or len(block) != 2 or not all(block):
        return ""
    lines, most, each = shape[side] // block[side], shape[1 - side] // block[1 - side], plain.shape[-1] if plain.shape else 0
    if starts.shape[-1] != lines + 1:
        return f"{names[0]} has {starts.shape[-1]:,} numbers for {lines:,} lines"
    last, number = 0, 0
    for piece in _pieces(starts, inspector):
        for start in range(0, len(piece), STEP):
            part = piece[start : start + STEP]
            said = _rising(part, number, lines + 1, last, each, names[0])
            if said:
                return said
            last, number = int(part[-1]), number + len(part)
    for piece in _pieces(plain, inspector):
        said = _outside(piece, most, names[1])
        if said:
            return said
    return ""


def _rising(part: Any, number: int, line: int, last: int, each: int, name: str) -> str:
    """Why these starts, from number ``number`` on of runs of ``line``, are none: each run goes from 0 to ``each``."""
    import numpy as np

    wide = part.astype(np.int64)
    first = (np.arange(len(wide)) + number) % line == 0
    before = np.concatenate(([last], wide[:-1]))
    if (wide[first] != 0).any():
        return f"{name} does not begin with 0"
    if ((wide < before) & ~first).any() or (wide < 0).any():
        return f"{name} does not rise"
    ends = (np.arange(len(wide)) + number) % line == line - 1
    if (wide[ends] != each).any():
        return f"{name} does not end with the number of values, {each:,}"
    return ""


def _outside(piece: Any, size: int, what: str) -> str:
    if not len(piece):
        return ""
    low, high = int(piece.min()), int(piece.max())
    return f"{what} has {size:,} places, and an index is {low if low < 0 else high:,}" if low < 0 or high >= size else ""


def _pieces(tensor: Tensor, inspector: Inspector) -> Iterator[Any]:
    from ..stats import pieces

    for piece, size in pieces(tensor):
        inspector.again(size)
        yield piece
