"""What the names that pickles ask for do: the one judgement that ``inert scan`` gives of a name.

Knows: verdicts and their order, and a handful of names.
Refuses to know: pickles, and what a name is called with.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

CLEAN, UNKNOWN, DANGEROUS, UNREADABLE = "clean", "unknown", "dangerous", "unreadable"
ORDER = (CLEAN, UNKNOWN, UNREADABLE, DANGEROUS)  # worst last


def worst(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts; clean of none."""
    return max(verdicts, key=ORDER.index, default=CLEAN)


class Judgement:
    """``verdict`` of a name, ``why`` in one sentence, ``since`` when it is known, ``link`` to where that is told."""

    __slots__ = ("link", "since", "verdict", "why")

    def __init__(self, verdict: str, why: str, since: str = "", link: str = "") -> None:
        self.verdict = verdict
        self.why = why
        self.since = since
        self.link = link


_DATA = frozenset(("collections.OrderedDict", "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_tensor", "_codecs.encode"))
_RUNS = frozenset(("os", "posix", "nt", "subprocess", "sys", "builtins", "runpy", "importlib", "pickle", "_pickle", "ctypes", "bdb", "shutil", "io", "_io"))


def judge(module: str, name: str) -> Judgement:
    """The judgement of what Python's unpickler would import as ``name`` from ``module``; the name may be dotted."""
    dotted = f"{module}.{name}"
    if dotted in _DATA or (module == "torch" and name.endswith("Storage")):
        return Judgement(CLEAN, "builds data")
    if module.partition(".")[0] in _RUNS:
        return Judgement(DANGEROUS, "runs code")
    return Judgement(UNKNOWN, "inert does not know what it does")
