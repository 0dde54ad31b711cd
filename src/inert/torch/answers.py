"""The shape of an answer to "would torch load it?", and the lists of names in its sentences.

Knows: ``{"ok": bool, "why": str}``, the four ways of loading, and how many names a sentence holds.
Refuses to know: where an answer comes from (predict.py and what it asks).
"""

from __future__ import annotations

from ..errors import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Answer = dict[str, Any]

SHOWN = 6  # names in one sentence


def yes(why: str) -> Answer:
    return {"ok": True, "why": one_line(why)}


def no(why: str) -> Answer:
    return {"ok": False, "why": one_line(why)}


def loading(full: Answer, weights_only: Answer, mmap: Answer, jit: Answer) -> dict[str, Answer]:
    """The four answers; that of weights_only has the names it refuses, and what other versions of torch say, where it knows them."""
    return {"full": full, "weights_only": {"blocked": [], "since": "", "versions": {}, **weights_only}, "mmap": mmap, "jit": jit}


def nowhere(why: str, jit: str = "") -> dict[str, Answer]:
    """No way of loading works."""
    return loading(no(why), no(why), no(why), no(jit or why))


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def counted(names: list[str], what: str) -> str:
    return f"{len(names)} {what}{'s' * (len(names) != 1)}"


def listed(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
