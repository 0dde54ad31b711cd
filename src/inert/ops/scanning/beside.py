"""Files beside a pickle that loading it reads too.

Knows: those that joblib before 0.10 wrote arrays to, and that it loads them as numpy.load does: an array, an archive of arrays or a pickle.
Refuses to know: what these hold (look.py), and files anywhere else.

Facts: joblib 1.5 joblib/numpy_pickle_compat.py (NDArrayWrapper.read); NumPy 2.4 numpy/lib/_npyio_impl.py (load: what is neither .npy nor an
archive is a pickle).
"""

from __future__ import annotations

from ...errors import InertError
from ...pickle.decode import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...source import Span
    from .look import Look


def neighbours(look: Look, document: Document, span: Span, part: str) -> None:
    """The files beside the pickle that joblib before 0.10 wrote arrays to: those of objects are pickles, which joblib loads too."""
    if not any("joblib" in node.module for node in document.globals):
        return
    from ...containers import folder
    from ...torch.arguments import Odd
    from ...torch.companions import ZFILE, Companions, wrappers

    calls = wrappers(document)
    if not calls:
        return
    kept, look.kind, look.latest = (look.kind, look.latest), "pickle", None
    companions = Companions(folder.neighbours(span.source), look.limits)
    try:
        for call in calls:
            try:
                found = companions.array(call)
            except (Odd, InertError):
                continue
            if not isinstance(found, Document) and found.fault:
                look.note("companion-missing", found.fault, part)
        for name, source in companions.files.items():
            if not ZFILE.match(source.read(0, min(21, source.size))):  # the bytes of an array, whose element type stands in the pickle
                look.source(source, f"./{name}", 1, True)  # numpy.load, which loads pickles too
    finally:
        companions.close()
        look.kind, look.latest = kept
