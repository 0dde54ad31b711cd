"""What loading a pickle would do with a name: build data, run code, or nobody knows.

Knows: the verdicts and their order; which table answers for a name, and what the shape of a name alone gives away (an attribute that leads
from any object to everything, a module that another module happens to hold).
Refuses to know: the pickle that names it. Which arguments a call has, whether a name is called at all, where bytes hide another pickle:
that is for the scan to say. Nothing is imported to find out.

*clean*: importing the name, calling it with any arguments and setting any state on what it makes builds values and does nothing else,
whatever the file says. What it may call meanwhile (a hook, a factory, an element's method) is named in the file and judged under its own
name. Clean names are listed one by one, never by prefix. *dangerous*: it runs code or commands, reads or writes files, talks to the
network, imports modules, looks names up, changes the interpreter, or loads another pickle; whole modules where that is what they are for.
*unknown*: everything else.
"""

from __future__ import annotations

from .rows import CLEAN, DANGEROUS, UNKNOWN, UNREADABLE, Judgement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CLEAN", "DANGEROUS", "ORDER", "UNKNOWN", "UNREADABLE", "Judgement", "judge", "worst"]

# The worst one last: what is known to be dangerous is called that, also where something else could not be read.
ORDER = (CLEAN, UNKNOWN, UNREADABLE, DANGEROUS)


def worst(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts; clean where there are none."""
    return max(verdicts, key=ORDER.index, default=CLEAN)


def judge(module: str, name: str, *, made: bool = False) -> Judgement:
    """What is known of ``name`` in ``module``, as Python's unpickler would import them (``Global.imported``).

    ``made``: all that the pickle does with it is to make objects without calling it (NEWOBJ, NEWOBJ_EX) and to fill them (BUILD,
    SETITEMS …). Then the class's ``__init__`` never runs, which is what saved modules rely on: a network whose constructor evaluates its
    configuration is dangerous to call and harmless to fill."""
    from .lookup import look_up

    return look_up(module, name, made)
