"""Pickles inside pickles: the files beside one, and whole torch files in its bytes.

Knows: which call stands for such a one, how deep they may lie in each other, and that they share the work that a pickle may ask for.
Refuses to know: how either is read (companions.py, legacy.py).
"""

from __future__ import annotations

from ..layout import Layout
from .arguments import Odd
from .ndarray import raw_bytes
from .values import argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..pickle.nodes import Call
    from .build import Builder

DEPTH = 8  # torch files inside torch files


def companion(b: Builder, call: Call) -> None:
    """An array in a file of its own; of objects, in a pickle there."""
    from .build import Builder

    if b.companions is None:
        from .companions import Companions

        b.companions = Companions(None, b.limits)
    found = b.companions.array(call)
    if isinstance(found, Layout):
        b.done[id(call)] = b._made(found)
        return
    if b.depth >= DEPTH:
        raise Odd(f"pickles inside pickles, more than {DEPTH} deep")
    b.work.spend(len(found.data))
    inner = Builder(found, b.storages, b.limits, b.convert, b.depth + 1, b.work)
    b.done[id(call)] = inner.build()
    b.notes += inner.notes


def embedded(b: Builder, call: Call) -> None:
    """A whole torch.save file as a bytes argument: what plain pickle makes of a tensor or storage."""
    from .legacy import embedded_value

    raw = raw_bytes(argument(call))
    if raw is None:
        raise Odd("no bytes")
    if b.depth >= DEPTH:
        raise Odd(f"torch files inside torch files, more than {DEPTH} deep")
    b.work.spend(len(raw))
    name = f"{b.document.name}@{call.offset}"
    b.done[id(call)], notes = embedded_value(raw, name, b.limits, b.convert, b.depth + 1, b.work)
    b.notes += notes
