"""What a conversion or a repair has written, as plain dicts: what ``inert convert --json`` and ``inert repair --json`` give.

Knows: which facts are told, and that names and reasons are the file's own texts. Refuses to know: how anything was written.
"""

from __future__ import annotations

from ..finding import REPAIRS
from .listing import notes
from .plain import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.convert import Converted
    from ..ops.losses import Lost, Repaired


def converted(done: Converted) -> dict[str, Any]:
    return {
        "written": [printable(path) for path in done.written],
        "lost": [{"name": printable(name), "why": printable(why)} for name, why in done.lost],
        "dropped": [printable(name) for name in done.dropped],
        "renamed": {printable(old): printable(new) for old, new in done.renamed.items()},
        "cast": done.cast,
        "replaced": [{"path": printable(one.path), "was": printable(one.was), "now": printable(one.now)} for one in done.replaced],
        "notes": notes(done.notes),
    }


def repaired(done: Repaired) -> dict[str, Any]:
    """``findings`` are as everywhere, with what ``repair`` does about each."""
    found = notes(done.findings)
    return {
        "written": [printable(path) for path in done.written],
        "format": done.format,
        "recovered": [printable(name) for name in done.recovered],
        "lost": [_lost(one) for one in done.lost],
        "filled": [printable(name) for name in done.filled],
        "doubtful": [{"name": printable(name), "why": printable(why)} for name, why in done.doubtful.items()],
        "more": printable(done.more),
        "findings": [note | {"repair": REPAIRS.get(note["code"], "")} for note in found],
    }


def _lost(one: Lost) -> dict[str, Any]:
    shape = None if one.shape is None else list(one.shape)
    return {"name": printable(one.name), "dtype": one.dtype, "shape": shape, "nbytes": one.nbytes, "why": printable(one.why)}
