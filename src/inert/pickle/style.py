"""How a program writes its pickles: what its opcodes leave open, as one row of a table for each kind of pickler.

Knows: the picklers whose habits are known, and which of them may have written a Document.
Refuses to know: what the pickles mean. encode.py writes in a Style.

Facts: CPython 3.8 to 3.13 Modules/_pickle.c and Lib/pickle.py; CPython 2.7 Modules/cPickle.c; torch 2.13
torch/csrc/jit/serialization/pickler.cpp.
"""

from __future__ import annotations

from typing import NamedTuple

from .opcodes import OPCODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .decode import Document

ENDLESS = 1 << 62
_CODES = {row.name: code for code, row in OPCODES.items()}
INT, MEMOIZE, FRAME = _CODES["INT"], _CODES["MEMOIZE"], _CODES["FRAME"]
BINSTRING = {_CODES["BINSTRING"], _CODES["SHORT_BINSTRING"]}  # what only Python 2 writes


class Style(NamedTuple):
    """``name`` of the pickler · ``protocol`` · ``first`` memo index · ``puts_all``: every object that can be is memoised, else those that
    the Document shows (Python 2 looks at reference counts) · ``batch``: items of one APPENDS or SETITEMS · ``single``: one item alone is
    written without a mark · ``exact``: plain lists and dicts are cut into batches without looking ahead (CPython's C code), so that a last
    batch may hold one item or none · ``marked``: a mark stands before the arguments of a new REDUCE, and before the items of an empty
    list · ``late``: an object is memoised when all of it has been written, and what a persistent id stands for is memoised too ·
    ``memoize``: MEMOIZE, not PUT · ``framed`` · ``outside``: large texts and bytes stand outside of the frames (since Python
    3.6.4) · ``wide``: how a new number beyond 32 bits is written: "least" bytes, as "text", or as "eight" bytes · ``long_counts``: a new
    storage's number of elements is a Python 2 ``long``. Where not ``puts_all``, the Document also shows how its own numbers and tuples are
    spelled (spelling.py)."""

    name: str
    protocol: int = 2
    first: int = 0
    puts_all: bool = True
    batch: int = 1000
    single: bool = True
    exact: bool = True
    marked: bool = False
    late: bool = False
    memoize: bool = False
    framed: bool = False
    outside: bool = True
    wide: str = "least"
    long_counts: bool = False


C = Style("CPython's pickle")
PYTHON = Style("Python's pickle, in Python", exact=False)
CPICKLE = Style("Python 2's cPickle", first=1, puts_all=False, exact=False)
TORCH = Style("torch's C++ pickler", puts_all=False, batch=ENDLESS, single=False, exact=False, marked=True, late=True, wide="eight")
KNOWN = (C, PYTHON, CPICKLE, TORCH)


def candidates(document: Document) -> list[Style]:
    """The Styles in which the Document may have been written, most likely first. Their protocol has every opcode that it has."""
    codes = document.opcodes
    protocol = max(2, min(document.protocol, 5), *(OPCODES[code].protocol for code in codes if code in OPCODES))
    if protocol >= 3:
        found = [C, PYTHON, C._replace(outside=False)]
    elif BINSTRING & codes.keys():
        old = CPICKLE._replace(wide="text" if INT in codes else "least", long_counts=True)
        found = [old, old._replace(first=0), C, PYTHON]
    elif document.has_rows:
        found = [C, PYTHON]  # only Python 3 writes tensors so
    else:
        found = [C, PYTHON, TORCH, CPICKLE]
    return [style._replace(protocol=protocol, memoize=MEMOIZE in codes, framed=FRAME in codes) for style in found]


def fresh(protocol: int = 2) -> Style:
    """How CPython's own pickle writes what is saved anew."""
    return C._replace(protocol=protocol, memoize=protocol >= 4, framed=protocol >= 4)
