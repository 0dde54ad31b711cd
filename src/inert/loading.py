"""``inert.load``: the saved object with NumPy arrays where its tensors were.

Knows: that tied tensors stay one array and views of one storage keep sharing memory, mapped or copied.
Refuses to know: how arrays are made (arrays.py) and how values are built. What no plain array can say (sparse, quantised, nested, meta and
wrapped tensors, element types that NumPy lacks) stays a Tensor.
"""

from __future__ import annotations

import numpy as np

from .arrays import array_of
from .errors import FormatError, UnsupportedError
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .layout import Storage

PLAIN = ("dense", "numpy", "tiled", "strings")


class Arrays:
    """Tensors → arrays. ``mmap``: read-only views of the mapped file, or of a copy where it cannot be mapped; otherwise writable views of
    copies. Each storage is copied once."""

    def __init__(self, mmap: bool) -> None:
        self.mmap = mmap
        self.made: dict[Any, Any] = {}
        self.copies: dict[Storage, Any] = {}

    def __call__(self, tensor: Tensor) -> Any:
        layout = tensor.layout
        if layout.fault:
            raise FormatError(layout.fault, part=tensor.name or "tensor", hint="inert.open gives the tensors that are sound")
        storage = layout.storage
        if layout.kind not in PLAIN or storage is None:
            return tensor
        key = (storage, layout.offset, layout.dtype, layout.shape, layout.strides, layout.conj, layout.neg)
        known = self.made.get(key)
        if known is None:
            try:
                whole = layout.kind == "strings" or (self.mmap and storage.span().view() is not None)
                known = array_of(layout, tensor.limits, None if whole else self._copy(storage))
            except UnsupportedError:
                known = tensor
            self.made[key] = known
        return known

    def _copy(self, storage: Storage) -> Any:
        copy = self.copies.get(storage)
        if copy is None:
            span = storage.span()
            copy = self.copies[storage] = np.empty(span.length, np.uint8)
            span.readinto(copy.data)
            copy.flags.writeable = not self.mmap
        return copy
