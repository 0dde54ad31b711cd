"""What is left of a bare pickle: what it had said before the fault.

Knows: that the arrays of a pickle lie in it, so that those which stand before the fault are whole.
Refuses to know: classes, as everywhere.
"""

from __future__ import annotations

from ..errors import FormatError, InertError
from ..finding import Finding
from ..formats.bare_pickle import PROTOCOLS, STARTS, BarePickle, Claim, whole
from ..names import Lister, piece
from ..pickle.partial import decode_cut, rescue
from ..torch.raw import Joblib
from .held import Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source

__all__ = ["STARTS", "read"]


class SalvagedPickle(BarePickle):
    def pickles(self) -> dict[str, Document]:
        return {document.name: document for document in self.claim.documents}


def read(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    if source.read(0, min(2, source.size)) not in PROTOCOLS:
        return None
    follow = Joblib(source)
    try:
        data = whole(source, limits)
        document = decode_cut(data, "pickle", limits, follow=follow)
    except InertError:
        return None
    fault = document.fault
    if fault is None and document.data is data:
        return None  # the ordinary reader's
    open_ = rescue(document)
    claim = Claim()
    claim.documents, claim.starts, claim.follows = [document], [0], [follow]
    content = SalvagedPickle(source, limits, claim, byteorder)
    tensors: Any = Lister(content.root()[0], limits).tensors if document.root is not None else {}
    why, at = (fault.message, fault.offset) if fault is not None else ("a frame is longer than the file", 0)
    if not any(not tensor.fault for tensor in tensors.values()):
        raise FormatError(f"nothing can be recovered: {why}", part="pickle", offset=at)
    made = Salvage(content)
    made.notes = [Finding("pickle-broken", why, "pickle", at)]
    if fault is None:
        return made
    made.lost = [(".".join(map(piece, path)), "the pickle ends before it says what this is") for path in open_]
    made.more = "the pickle is cut or damaged; what it would have said behind the fault is not known"
    return made
