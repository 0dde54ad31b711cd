"""A tensor of floating-point numbers as float32, widened (or narrowed) when it is read.

Knows: that the elements of a contiguous tensor are converted in the run that is asked for, so that memory is bounded by it; and that any
other tensor is gathered once.
Refuses to know: why anybody wants float32.
"""

from __future__ import annotations

from math import prod

from .dtypes import DTYPES
from .errors import FormatError
from .layout import Layout, Storage, contiguous, is_contiguous
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .limits import Limits
    from .tensor import Tensor

FLOAT32 = DTYPES["float32"]


def widens(dtype: Any) -> bool:
    """Whether a type is one of floating-point numbers that float32 can be made of."""
    return bool(dtype.kind == "f" and dtype.packed == 1 and dtype.numpy and dtype != FLOAT32)


class Widened:
    """The float32 Layout of a tensor, made when it is asked for."""

    __slots__ = ("dtype", "limits", "made", "tensor")

    def __init__(self, tensor: Tensor, limits: Limits) -> None:
        self.dtype = FLOAT32
        self.limits = limits
        self.made: Layout | None = None
        self.tensor = tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    def layout(self) -> Layout:
        if self.made is None:
            old = self.tensor.layout
            name = old.storage.key if old.storage is not None else "float32"
            storage = Storage(name, prod(old.shape) * FLOAT32.itemsize, FLOAT32, "cpu", lambda: Floats(old, name, self.limits).span())
            self.made = Layout(FLOAT32, old.shape, contiguous(old.shape), 0, storage, old.requires_grad)
            self.made.fault = storage.fault = old.fault
        return self.made


class Floats(Source):
    """The float32 bytes of a layout of other floating-point numbers."""

    __slots__ = ("_held", "flat", "limits")

    def __init__(self, layout: Layout, name: str, limits: Limits) -> None:
        super().__init__(name, prod(layout.shape) * FLOAT32.itemsize)
        self.limits = limits
        self._held: bytes | None = None
        self.flat = layout
        if is_contiguous(layout.shape, layout.strides):
            self.flat = layout.copy()
            self.flat.shape, self.flat.strides = (prod(layout.shape),), (1,)

    def _read(self, offset: int, length: int) -> bytes:
        width = FLOAT32.itemsize
        if self.flat.strides != (1,):
            if self._held is None:
                self._held = self._floats(...)
            return self._held[offset : offset + length]
        first, last = offset // width, -(-(offset + length) // width)
        whole = self._floats(slice(first, last))
        return whole[offset - first * width :][:length]

    def _floats(self, index: Any) -> bytes:
        import numpy as np

        from .arrays import array_of, narrow

        if self.flat.fault:
            raise FormatError(self.flat.fault, part=self.name)
        with np.errstate(all="ignore"):  # what is too large for a float32 is infinite, as in torch
            return bytes(np.asarray(array_of(narrow(self.flat, index), self.limits)).astype(np.float32).tobytes())
