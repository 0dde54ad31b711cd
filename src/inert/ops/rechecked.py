"""What repair has the checks of verify look at, before it calls anything whole: the fields of a source that would be copied as it is, and
the indices of sparse tensors.

Knows: that a fault which repair promises to mend (REPAIRS) is one that it must have looked for; that indices which lead out of a tensor
are damaged, whatever their checksum says.
Refuses to know: what is checked (verify.py), and what is done about it (repair.py).
"""

from __future__ import annotations

from ..checking import Inspector, Tally
from ..errors import InertError
from ..finding import REPAIRS
from ..formats import identify
from .sparse import wrong
from .verify import examined
from .verify_tensors import Budget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..finding import Finding
    from ..limits import Limits
    from ..source import Source
    from ..tensor import Tensor


def mendable(source: Source, limits: Limits) -> list[Finding] | None:
    """The findings of verify that writing the file again mends; None where an ordinary strict reader refuses it. Reads all of it."""
    try:
        found = examined(identify(source, limits, None))
    except InertError:
        return None
    if found.error is not None:
        return None
    return [one for one in found.findings if one.code in REPAIRS]


class Indices:
    """The indices of the sparse tensors of one source, as far as they may be looked at."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.inspector = Inspector(Tally(1, None), dict)
        self.budget = Budget(tensors)

    def doubt(self, tensor: Tensor) -> str:
        """Why a sparse tensor cannot be what was saved; "" where its indices may well be."""
        if not tensor.kind.startswith("sparse"):
            return ""
        size = sum(one.nbytes for role, one in tensor.components.items() if role != "values")
        said = wrong(tensor, self.inspector) if self.budget.spend(size) else ""
        return f"its indices are damaged: {said}" if said else ""
