"""``inert.load``: the saved object with NumPy arrays where its tensors were.

Knows: that tied tensors stay one array and views of one storage keep sharing memory, mapped or copied.
Refuses to know: how arrays are made (arrays.py) and how values are built. What no plain array can say (sparse, quantised, nested, meta and
wrapped tensors, element types that NumPy lacks) stays a Tensor.
"""

from __future__ import annotations

import numpy as np

from .arrays import array_of
from .errors import FormatError, UnsupportedError
from .names import piece
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .layout import Storage

PLAIN = ("dense", "numpy", "tiled", "strings")


class Arrays:
    """Tensors → arrays. ``mmap``: views of the mapped file; otherwise each storage is copied once and its tensors are views of the copy."""

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
                known = array_of(layout, tensor.limits, None if self.mmap or layout.kind == "strings" else self._copy(storage))
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
        return copy


def find(value: Any, path: str) -> Any:
    """The value at a dotted path; a key may hold dots itself, so the longest key that fits is taken at each step."""
    steps, at = path.split("."), 0
    while at < len(steps):
        for end in range(len(steps), at, -1):
            key = ".".join(steps[at:end])
            found = step(value, key)
            if found is not None:
                value, at = found[0], end
                break
        else:
            known = ", ".join(map(piece, list(value)[:8])) if isinstance(value, dict) else type(value).__name__
            raise FormatError(f"no {'.'.join(steps[at:])!r} in {'.'.join(steps[:at]) or 'the saved object'}", hint=f"there is: {known}")
    return value


def step(value: Any, key: str) -> tuple[Any] | None:
    """The item of one container under a key's text, in a tuple; None where there is none."""
    if isinstance(value, dict):
        if key in value:
            return (value[key],)
        return next(((item,) for name, item in value.items() if not isinstance(name, str) and piece(name) == key), None)
    if isinstance(value, (list, tuple)):
        return (value[int(key)],) if key.isdigit() and int(key) < len(value) else None
    fields = getattr(value, "fields", None) or getattr(value, "__dict__", {})
    return (fields[key],) if key in fields else None
