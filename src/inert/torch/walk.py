"""Walks over a document's nodes: each once, and what hashing a key of them would cost.

Knows: what every node holds, and how Python hashes tuples: anew each time, whatever they share.
Refuses to know: recursion, and what the nodes mean.
"""

from __future__ import annotations

from ..pickle.nodes import Call, Dict, Global, List, Reference, Set
from ..pickle.row import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..pickle.decode import Document

SLOW, DEEP = 1 << 32, 120_000  # steps and levels of hashing a key: hours, and the end of a C stack of 8 MiB
UNHASHABLE = frozenset(("list", "dict", "set", "OrderedDict", "Counter", "bytearray"))
_ATOMS = frozenset((int, float, str, bool, type(None), bytes, bytearray, Global, Row))


def unhashable(key: Any, kind_of: Callable[[Any], str]) -> str:
    """Why a value cannot be a dict key or in a set; "" where it can. ``kind_of`` tells the type of what is no tuple."""
    if type(key) is not tuple:
        kind = kind_of(key)
        return f"unhashable key of type {kind}" if kind in UNHASHABLE else ""
    steps: dict[int, tuple[int, int]] = {}  # of each tuple: what hashing it costs, and how deep it goes
    todo: list[Any] = [key]
    while todo:
        node = todo[-1]
        later = [item for item in node if type(item) is tuple and id(item) not in steps]
        if later:
            todo += later
            continue
        todo.pop()
        cost, depth = 1, 0
        for item in node:
            if type(item) is tuple:
                inner, below = steps[id(item)]
                cost, depth = cost + inner, max(depth, below)
            elif why := unhashable(item, kind_of):
                return why
        steps[id(node)] = min(cost, SLOW), depth + 1
    cost, depth = steps[id(key)]
    if cost >= SLOW:
        return "hashing a dict key would take hours (tuples that share tuples): torch hangs"
    return f"a dict key of {depth:,} nested tuples: torch crashes" if depth > DEEP else ""


def nodes(document: Document) -> Iterator[Any]:
    """Every container, call and text of a document, once; also what no path from the root leads to."""
    seen: set[int] = set()
    todo = [document.root, *(node for node in document.rows if type(node) is not Row)]
    while todo:
        node = todo.pop()
        kind = type(node)
        if kind in _ATOMS or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if kind is List or kind is Set:
            todo += node.items
        elif kind is Dict:
            todo += node.flat
        elif kind is tuple:
            todo += node
        elif kind is Reference:
            todo.append(node.pid)
        elif isinstance(node, Call):
            todo += (node.function, node.arguments, node.keywords, *node.states, *(node.items or ()), *(node.flat or ()))
