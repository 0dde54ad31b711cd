"""Dict keys and set elements at a bounded cost.

Knows: which values Python hashes and compares cheaply; all others stand as inert ``Key``s. A key may be deep, a DAG that unfolds to 2^60
parts, or one of many numbers that share a hash value: a file chooses its keys.
Refuses to know: what the keys are for.
"""

from __future__ import annotations

from ..pickle.nodes import ByteString
from .objects import Key, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Get = Callable[[Any], Any]


LONG_KEY = 1 << 16  # bytes or characters of a key, beyond which comparing it again and again is no longer cheap


def fill_dict(shell: Any, pairs: Any, get: Get) -> None:
    """Set the pairs, with keys that Python can hash at a bounded cost; others stand as ``Key``s."""
    for key, (_, value) in zip(hashables([key for key, _ in pairs], get), pairs, strict=True):
        shell[key] = get(value)


def hashables(nodes: list[Any], get: Get) -> list[Any]:
    """The values of dict keys or set elements; a Key for each whose hashing or comparing could be slow, or is impossible."""
    keys = [hashable(node, get) for node in nodes]
    if len(keys) > 1000 and crowded(keys):
        keys = [key if type(key) in (str, bytes, ByteString) else Key(node) for key, node in zip(keys, nodes, strict=True)]
    return keys


def crowded(keys: list[Any]) -> bool:
    """Whether more than a thousand different keys share hash values with others: a dict of them would take quadratic time."""
    first: dict[int, Any] = {}
    clashes = 0
    for key in keys:
        if type(key) not in (str, bytes, ByteString, Key):  # the hashes of texts and bytes cannot be foreseen
            there = first.setdefault(hash(key), key)
            clashes += there is not key and there != key
    return clashes > 1000


def hashable(node: Any, get: Get) -> Any:
    """The key's value where hashing and comparing it is cheap: plain, or a small flat or nested tuple of such; else a Key."""
    value = get(node)
    todo, count = [value], 0
    while todo:
        item = todo.pop()
        count += 1
        if isinstance(item, (str, bytes)):
            cheap = len(item) <= LONG_KEY
        elif isinstance(item, (tuple, frozenset)):
            cheap = len(item) <= 256
            todo.extend(item if cheap else ())
        else:
            try:
                cheap = hash(item) is not None
            except TypeError:
                cheap = False
        if not cheap or count > 256:
            return Key(node)
    return value


def set_plan(nodes: list[Any], shell: set[Any] | None) -> Plan:
    def finish(get: Get) -> Any:
        if shell is None:
            return frozenset(hashables(nodes, get))
        shell.update(hashables(nodes, get))
        return shell

    return Plan(nodes, finish, shell)
