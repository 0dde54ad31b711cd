"""A pickle that ends in a fault → the value as far as it had been said: what stood on the stack, put into the containers it was meant for.

Knows: how picklers fill containers (keys and values between a mark and SETITEMS, items before APPENDS, a state before BUILD), and so which
of the values on the stack are finished, and under which keys the unfinished ones would have stood.
Refuses to know: what any of it means. Nothing is read again.

Facts: CPython 3.13 Lib/pickle.py (save_dict, _batch_setitems, _batch_appends, save_reduce). Where the stack leaves it open whether a key
belongs to an empty dict or to the one around it, it is given to the one around it.
"""

from __future__ import annotations

from ..errors import TruncatedError
from .decode import decode
from .nodes import Call, Dict, Global, List, Reference, Set
from .row import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from .decode import Document
    from .handlers import Follow

    Levels = list[list[Any]]

_KEYS = frozenset((str, int, float, bool, bytes, type(None)))
DEEP = 200  # levels that a path is made of at most
TOLD = 1000  # unfinished values that are told of
FRAMES = 4  # lying frames that are put right
_ORDERED = ("collections.OrderedDict", "collections.defaultdict", "collections.Counter")


def decode_cut(data: bytes, name: str, limits: Limits, *, shortcut: bool = True, follow: Follow | None = None) -> Document:
    """Decode a pickle that may be cut short or damaged: a frame that is longer than what is left is taken to be as long as that."""
    document = decode(data, name, limits, shortcut=shortcut, follow=follow)
    for _ in range(FRAMES):
        at = document.fault.offset if isinstance(document.fault, TruncatedError) else None
        if at is None or data[at : at + 1] != b"\x95" or at + 9 > len(data):
            break
        data = data[: at + 1] + (len(data) - at - 9).to_bytes(8, "little") + data[at + 9 :]
        document = decode(data, name, limits, shortcut=shortcut, follow=follow)
    return document


def rescue(document: Document) -> list[tuple[Any, ...]]:
    """Give a document that ended in a fault the root that its stack amounts to; the paths of keys whose values were not finished.

    The root is None where nothing had been said."""
    levels = [list(level) for level in document.rest]
    open_: list[tuple[Any, ...]] = []
    document.rest = []
    if not levels:
        return open_
    inner = levels.pop()
    while levels:
        outer = levels[-1]
        _hand_over(inner, outer, levels, open_)
        inner = levels.pop()
    _chain(inner, 0, [], open_)
    document.root = inner[0] if inner else None
    return open_


def _path(levels: Levels) -> tuple[Any, ...]:
    """The keys under which what stands above these levels would have stood; of very many the last ones."""
    return tuple(level[-2] for level in levels[-DEEP:] if len(level) > 1 and _is_key(level[-2]))


def _tell(open_: list[tuple[Any, ...]], path: tuple[Any, ...]) -> None:
    if len(open_) < TOLD:
        open_.append(path)


def _is_key(value: Any) -> bool:
    return type(value) in _KEYS or (isinstance(value, bytes) or (type(value) is tuple and all(type(part) in _KEYS for part in value)))


def _fillable(value: Any) -> bool:
    return isinstance(value, Call) and type(value) is not Row


def _hand_over(items: list[Any], outer: list[Any], at: Levels, open_: list[tuple[Any, ...]]) -> None:
    """What stands above a mark goes to what stands below it."""
    target = outer[-1] if outer else None
    if type(target) is Dict:
        target.flat.extend(_pairs(items, at, open_))
    elif type(target) is List or type(target) is Set:
        target.items.extend(_items(items, at, open_))
    elif _fillable(target):
        _fill(target, items, at, open_)
    elif type(target) is Global:
        _argue(target, items, outer)
    else:
        held = _items(items, at, open_)
        if any(_holds(item) for item in held):  # a tuple under way
            outer.append(tuple(held))


def _fill(target: Any, items: list[Any], at: Levels, open_: list[tuple[Any, ...]]) -> None:
    """The items of a list's subclass, or the pairs of a dict's."""
    if target.dotted in _ORDERED or (items and _is_key(items[0])):
        target.flat = [*(target.flat or ()), *_pairs(items, at, open_)]
    else:
        target.items = [*(target.items or ()), *_items(items, at, open_)]


def _argue(target: Any, items: list[Any], outer: list[Any]) -> None:
    """The arguments of a call under way: of a dict made of pairs they are worth keeping as far as they go."""
    outer.pop()
    if target.dotted in _ORDERED and items and type(items[0]) is List:
        outer.append(Call(target, tuple(items[:1]), target.offset, "REDUCE"))


def _pairs(items: list[Any], at: Levels, open_: list[tuple[Any, ...]]) -> list[Any]:
    """Keys with finished values."""
    made: list[Any] = []
    place, count = 0, len(items)
    while place < count:
        key, rest = items[place], items[place + 1 :]
        if not _is_key(key):
            if made and _fillable(made[-1]) and type(key) in (Dict, tuple):
                made[-1].states = [*made[-1].states, key]  # its BUILD did not come
            break
        if not rest or (type(rest[0]) in (Global, Reference) and (len(rest) == 1 or type(rest[1]) is tuple)):
            _tell(open_, (*_path(at), key))
            break
        made += (key, rest[0])
        place += 2
    return made


def _items(items: list[Any], at: Levels, open_: list[tuple[Any, ...]]) -> list[Any]:
    """Finished items of a list."""
    made = list(items)
    for start, item in enumerate(made):
        if type(item) is Dict and not item.flat and len(made) - start in (2, 3) and _is_key(made[start + 1]):
            _chain(made, start, at, open_)
            break
    while len(made) > 1 and _fillable(made[-2]) and type(made[-1]) is Dict:
        owner, state = made[-2], made.pop()
        owner.states = [*owner.states, state]
    while made and (type(made[-1]) in (Global, Reference) or (len(made) > 1 and type(made[-2]) is Global)):
        made.pop()
    return made


def _chain(items: list[Any], start: int, at: Levels, open_: list[tuple[Any, ...]]) -> None:
    """Containers of one entry each, whose SETITEM, APPEND or BUILD did not come: from ``start`` on each takes what stands above it."""
    while len(items) > start + 1:
        last = items.pop()
        below = items[-1]
        deep = len(items) > start + 1
        if deep and _is_key(below) and type(items[-2]) is Dict and type(last) not in (Global, Reference):
            items.pop()
            items[-1].flat += (below, last)
        elif deep and _is_key(below) and _fillable(items[-2]) and type(last) not in (Global, Reference):
            items.pop()
            items[-1].flat = [*(items[-1].flat or ()), below, last]
        elif type(below) is List and type(last) not in (Global, Reference):
            below.items.append(last)
        elif _fillable(below) and type(last) in (Dict, tuple):
            below.states = [*below.states, last]
        elif _is_key(last) and (type(below) is Dict or _fillable(below)):
            keys = items[max(start, len(items) - DEEP) :]
            _tell(open_, (*_path(at), *(item for item in keys if _is_key(item)), last))


def _holds(item: Any) -> bool:
    """Whether it is worth keeping in a tuple that was not finished."""
    return isinstance(item, (Call, Dict, List, Set)) or (type(item) is tuple and any(isinstance(part, (Call, Dict, List)) for part in item))
