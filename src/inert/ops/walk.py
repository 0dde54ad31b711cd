"""Changing values in place, wherever they stand in a saved object.

Knows: how to visit everything that containers hold, once, and how to put something else in its place: in dicts, lists, queues, sets,
namespaces and the states of objects at once, in a tuple by making another tuple.
Refuses to know: what is changed and why. A loop with a stack of its own; cycles are visited once.
"""

from __future__ import annotations

from argparse import Namespace
from collections import deque

from ..tensor import Tensor
from ..torch.objects import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

LEAVES = frozenset((str, int, float, bool, bytes, type(None)))
FIELDS = ("state", "arguments", "keywords", "items", "pairs")  # of an object of an unknown class


def replace(root: Any, change: Callable[[Any], Any]) -> Any:
    """The root with ``change(value)`` in the place of every value, inner ones first; the same object where it changes nothing.

    ``change`` is asked once for each object, not for numbers, texts and the like; what many paths lead to is replaced in all of them."""
    done: dict[int, tuple[Any, Any]] = {}  # by id: the value, which must stay alive, and what takes its place
    todo: list[tuple[Any, bool]] = [(root, False)]
    while todo:
        value, ready = todo.pop()
        if type(value) in LEAVES or (id(value) in done and not ready):
            continue
        if not ready:
            done[id(value)] = value, value
            todo.append((value, True))
            todo += reversed([(item, False) for _, item in slots(value)])
            continue

        def now(item: Any) -> Any:
            return item if type(item) in LEAVES else done[id(item)][1]

        made = refilled(value, now)
        done[id(value)] = value, change(made)
    return done[id(root)][1] if type(root) not in LEAVES else root


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """(key, item) of all that a value holds."""
    if isinstance(value, dict):
        yield from value.items()
        if hasattr(value, "__dict__"):
            yield from vars(value).items()
    elif isinstance(value, (list, tuple, deque, set, frozenset)):
        yield from enumerate(value)
    elif isinstance(value, Namespace):
        yield from vars(value).items()
    elif isinstance(value, Object):
        yield from ((name, getattr(value, name)) for name in FIELDS)


def refilled(value: Any, now: Callable[[Any], Any]) -> Any:
    """The value with what now stands for its items; a tuple that changes is another one."""
    if isinstance(value, (dict, Namespace)):
        for holder in (value,) if isinstance(value, dict) else ():
            _refill(holder, now)
        if hasattr(value, "__dict__"):
            _refill(vars(value), now)
    elif isinstance(value, (list, deque)):
        for at, item in enumerate(value):
            fresh = now(item)
            if fresh is not item:
                value[at] = fresh
    elif isinstance(value, tuple):
        items = list(map(now, value))
        if any(a is not b for a, b in zip(items, value, strict=True)):
            return tuple(items) if type(value) is tuple else type(value)(items)
    elif isinstance(value, (set, frozenset)):
        items = list(map(now, value))
        if any(a is not b for a, b in zip(items, value, strict=True)):
            if isinstance(value, frozenset):
                return frozenset(items)
            value.clear()
            value.update(items)
    elif isinstance(value, Object):
        for name in FIELDS:
            setattr(value, name, now(getattr(value, name)))
    return value


def _refill(holder: dict[Any, Any], now: Callable[[Any], Any]) -> None:
    for key, item in holder.items():
        fresh = now(item)
        if fresh is not item:
            holder[key] = fresh


def each_tensor(root: Any, change: Callable[[Tensor], Any]) -> Any:
    """The root with other tensors in the places of its tensors. One tensor that is listed in several places is changed once."""
    known: dict[int, Any] = {}

    def one(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        layout = value.layout
        if id(layout) not in known:
            known[id(layout)] = layout, change(value)
        return known[id(layout)][1]

    return replace(root, one)


def each_place(root: Any, change: Callable[[Tensor], Any]) -> Any:
    """The root with other tensors in the places of its tensors: asked anew for each place, in order."""
    if isinstance(root, Tensor):
        return change(root)

    def one(value: Any) -> Any:
        return refilled(value, lambda item: change(item) if isinstance(item, Tensor) else item)

    return replace(root, one)
