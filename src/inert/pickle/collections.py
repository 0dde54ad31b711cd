"""Handlers of the opcodes that make lists, dicts, sets and tuples, and of those that put something into one.

Knows: that these opcodes call methods where what they find is no plain container.
Refuses to know: hashing and comparing: a dict is its keys and values as written.
"""

from __future__ import annotations

from ..errors import FormatError
from ..words import article
from .arguments import unmark
from .nodes import Call, Dict, Global, List, Reference, Set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .decode import Machine
    from .handlers import Handler


def empty_list(m: Machine, position: int) -> int:
    m.stack.append(List([], position - 1))
    return position


def empty_dict(m: Machine, position: int) -> int:
    m.stack.append(Dict([], position - 1))
    return position


def empty_set(m: Machine, position: int) -> int:
    m.stack.append(Set([], position - 1))
    return position


def frozenset_(m: Machine, position: int) -> int:
    items = unmark(m)
    m.stack.append(Set(items, position - 1, frozen=True))
    return position


def list_(m: Machine, position: int) -> int:
    items = unmark(m)
    m.stack.append(List(items, position - 1))
    return position


def dict_(m: Machine, position: int) -> int:
    flat = unmark(m)
    if len(flat) % 2:
        raise FormatError("DICT with a key that has no value")
    m.stack.append(Dict(flat, position - 1))
    return position


def tuple_(m: Machine, position: int) -> int:
    items = unmark(m)
    m.stack.append(tuple(items))
    return position


def tuple_of(count: int) -> Handler:
    def push(m: Machine, position: int) -> int:
        stack = m.stack
        if len(stack) < count:
            raise IndexError
        stack[-count:] = [tuple(stack[-count:])]
        return position

    return push


def _extend(m: Machine, items: list[Any], position: int, how: str) -> None:
    target = m.stack[-1]
    if type(target) is List or type(target) is Set:
        if (type(target) is Set) != (how == "ADDITEMS"):
            raise FormatError(f"{how} on {article(type(target).__name__.lower())}")
        target.items.extend(items)
    elif isinstance(target, Call):
        if target.items is None:
            target.items = []
        target.items.extend(items)
    else:
        _odd_target(m, target, tuple(items), position, how)


def append(m: Machine, position: int) -> int:
    item = m.stack.pop()
    _extend(m, [item], position, "APPEND")
    return position


def appends(m: Machine, position: int) -> int:
    items = unmark(m)
    _extend(m, items, position, "APPENDS")
    return position


def additems(m: Machine, position: int) -> int:
    items = unmark(m)
    _extend(m, items, position, "ADDITEMS")
    return position


def _set(m: Machine, flat: list[Any], position: int, how: str) -> None:
    if len(flat) % 2:
        raise FormatError(f"{how} with a key that has no value")
    target = m.stack[-1]
    if type(target) is Dict:
        target.flat.extend(flat)
    elif isinstance(target, Call):
        if target.flat is None:
            target.flat = []
        target.flat.extend(flat)
    else:
        _odd_target(m, target, tuple(flat), position, how)


def setitem(m: Machine, position: int) -> int:
    value, key = m.stack.pop(), m.stack.pop()
    _set(m, [key, value], position, "SETITEM")
    return position


def setitems(m: Machine, position: int) -> int:
    flat = unmark(m)
    _set(m, flat, position, "SETITEMS")
    return position


def _odd_target(m: Machine, target: Any, arguments: tuple[Any, ...], position: int, how: str) -> None:
    """On a class or a persistent object these opcodes call a method of it: recorded as a Call. On plain data they are an error."""
    if not isinstance(target, (Global, Reference)):
        raise FormatError(f"{how} on {article(type(target).__name__)}")
    m.made.append(Call(target, arguments, position - 1, how))
