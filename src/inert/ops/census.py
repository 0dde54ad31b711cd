"""How many elements of a tensor are no numbers to compute with.

Knows: how to count NaN, infinities and odd bools in bounded pieces, and which tensors have none of these.
Refuses to know: names and files.
"""

from __future__ import annotations

from ..errors import InertError
from ..stats import pieces, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..checking import Inspector
    from ..tensor import Tensor


def counted(tensor: Tensor, inspector: Inspector) -> dict[str, int] | None:
    """{count, nan, inf, odd}; None for integers and whatever has no plain elements. ``odd``: bytes of a bool tensor other than 0 and 1."""
    import numpy as np

    if tensor.fault or refusal(tensor) or tensor.dtype.kind not in "fcb":
        return None
    made = {"count": 0, "nan": 0, "inf": 0, "odd": 0}
    try:
        for piece, size in pieces(tensor):
            made["count"] += int(piece.size)
            if tensor.dtype.kind == "b":
                made["odd"] += int(np.count_nonzero(piece.view(np.uint8) > 1))
            else:
                sound = int(np.count_nonzero(np.isfinite(piece)))
                if sound != piece.size:
                    nan = int(np.count_nonzero(np.isnan(piece)))
                    made["nan"] += nan
                    made["inf"] += int(piece.size) - sound - nan
            inspector.again(size)
    except InertError:
        return None  # said by the checks: it is damaged
    return made
