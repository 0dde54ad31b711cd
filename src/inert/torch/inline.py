"""Numbers in a pickle's own list as a tensor.

Knows: the lists that stand for scales and zero points of quantised tensors.
Refuses to know: nested lists, and to pack a list before somebody asks for its bytes: many tensors may share one.

Facts: torch 2.13 torch/_utils.py (_rebuild_qtensor): float64 and int64, for float parameters float32.
"""

from __future__ import annotations

from math import inf, isnan
from struct import pack

from ..dtypes import DTYPES
from ..layout import Layout, Storage
from ..source import BytesSource
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..pickle.nodes import List
    from ..source import Span


def _single(value: float) -> float:
    """As a cast to float32 has it: infinite where it is too large, which ``pack`` refuses."""
    return value if abs(value) < LARGE or isnan(value) else inf * (1 if value > 0 else -1)


LARGE = 2.0**128 - 2.0**103  # rounds to infinity in float32
_PACKED: dict[str, tuple[str, Callable[[Any], float]]] = {
    "float64": ("d", float),
    "float32": ("f", lambda value: _single(float(value))),
    "int64": ("q", int),
}


def list_tensor(node: List, dtype: str, limits: Limits) -> Tensor:
    """A tensor of one dimension. ValueError or OverflowError where an item is no number, or none of the dtype."""
    code, number = _PACKED[dtype]
    for item in node.items:
        if type(item) not in (int, float, bool):
            raise ValueError("a list of scales or zero points that holds what is no number")
        if code == "q" and int(item).bit_length() > 63:
            raise ValueError("a zero point beyond 64 bits")
        number(item)

    def opener() -> Span:
        raw = pack(f"<{len(node.items)}{code}", *map(number, node.items))
        return BytesSource(raw, f"list@{node.offset}").span()

    kind = DTYPES[dtype]
    storage = Storage(f"list@{node.offset}", len(node.items) * kind.itemsize, kind, "cpu", opener)
    return Tensor(Layout(kind, (len(node.items),), (1,), 0, storage), limits)
