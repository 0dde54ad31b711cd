"""Which table answers for a name.

Knows: the order of asking. A name that is listed is what its row says. Else the longest listed path that it lies beneath decides, and
what its shape gives away; then Python 3's spelling of a Python 2 name, which may only make it worse.
Classes whose calls are worse than their objects have a second row, for pickles that only make and fill their objects.
Refuses to know: the names themselves (the tables beside this module).
"""

from __future__ import annotations

from functools import lru_cache

from ..pickle.python2 import MODULES, NAMES
from . import aliases_found, libraries, libraries_found, python, python_found, shapes, torch, torch_found
from .rows import CLEAN, DANGEROUS, UNKNOWN, Judgement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rows import Row

EXACT: tuple[Row, ...] = (*python.EXACT, *torch.EXACT, *libraries.EXACT)  # one name each: data, and what is worth a reason of its own
HAND: tuple[Row, ...] = (*python.BELOW, *torch.BELOW, *libraries.BELOW)  # a module or a function, and everything beneath it
BELOW: tuple[Row, ...] = (
    *HAND,
    *python_found.BELOW,
    *torch_found.BELOW,
    *libraries_found.BELOW,
    *aliases_found.BELOW,
)  # the same, found by tools

MADE: tuple[Row, ...] = (*libraries.MADE, *python_found.MADE, *torch_found.MADE, *libraries_found.MADE)  # classes that nobody calls

NAMED: dict[tuple[str, str], Judgement] = {pair: row.judgement for row in EXACT for pair in row.exact()}
BENEATH: dict[str, Judgement] = {path: row.judgement for row in BELOW for path in row.below()}
FILLED: dict[tuple[str, str], Judgement] = {pair: row.judgement for row in reversed(MADE) for pair in row.exact()}  # the first row wins
DEEPEST = max(path.count(".") for path in BENEATH) + 1  # parts of the longest path
LONGEST = 512  # characters of a module or of a name; a longer one is judged by its beginning

NOBODY_KNOWS = Judgement(UNKNOWN, "it is outside the table: what importing and calling it does is up to the program that has it")
TOO_LONG = Judgement(UNKNOWN, "it is longer than the name of anything")


def look_up(module: str, name: str, made: bool) -> Judgement:
    if made and (module, name) in FILLED:
        return FILLED[module, name]
    if len(module) > LONGEST or len(name) > LONGEST:
        found = _look_up(module[:LONGEST], name[:LONGEST])
        return found if found.verdict not in (CLEAN, UNKNOWN) else TOO_LONG
    return _look_up(module, name)


@lru_cache(maxsize=4096)
def _look_up(module: str, name: str) -> Judgement:
    return NAMED.get((module, name)) or _guessed(module, name) or _older(module, name) or NOBODY_KNOWS


def _guessed(module: str, name: str) -> Judgement | None:
    found = beneath(f"{module}.{name}")
    if found is not None and found.verdict == DANGEROUS:
        return found
    return shapes.judged(module, name, beneath) or found


def beneath(path: str) -> Judgement | None:
    """The judgement of the longest listed path that is ``path`` or lies above it."""
    parts = path.split(".", DEEPEST)[:DEEPEST]
    while parts:
        found = BENEATH.get(".".join(parts))
        if found is not None:
            return found
        parts.pop()
    return None


def _older(module: str, name: str) -> Judgement | None:
    """What Python 2's spelling stands for, where the protocol of the pickle has not had it replaced. It is never better than unknown:
    Python 3 has no such module, unless somebody has put one there."""
    newer = NAMES.get((module, name)) or (MODULES.get(module, ""), name)
    found = NAMED.get(newer) or _guessed(*newer) if newer[0] else None
    return found if found is not None and found.verdict != CLEAN else None
