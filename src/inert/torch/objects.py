"""The nouns that values are made of: objects of unknown classes, inert keys, torch's small value types, and Plans to make values.

Knows: how an unknown object keeps everything that its call says.
Refuses to know: any class (immediate.py and values.py name those that are data).
"""

from __future__ import annotations

from functools import partial

from ..pickle.nodes import Call, shown
from .persistent import class_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Get = Callable[[Any], Any]


def effective(states: Sequence[Any]) -> list[Any]:
    """The states of an object as they have to be taken one after another: a pickle may give one state again and again. By the first time
    that each is given, which is the order of names, and by the last, which is whose values stay."""
    first = {id(state): state for state in states}
    last = {id(state): state for state in reversed(states)}
    return [*first.values(), *reversed(last.values())] if len(first) < len(states) else list(states)


class Object:
    """An object of a class that inert does not know: ``type`` (dotted name), ``arguments``, ``keywords``, ``state`` (of the last BUILD),
    ``items`` (appended), ``pairs`` (set), all as values; ``fields`` is its state as one dict. Hashable by identity."""

    __slots__ = ("arguments", "call", "items", "keywords", "pairs", "state")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.arguments: Any = ()
        self.keywords: Any = None
        self.state: Any = None
        self.items: Sequence[Any] = ()  # no lists of their own for what most objects have none of: two bytes of input make an object
        self.pairs: Sequence[tuple[Any, Any]] = ()

    @property
    def type(self) -> str:
        call = self.call
        named = class_name(call.arguments[0]) if reconstructs(call) else ""
        return named or class_name(call.function) or shown(call.function)

    @property
    def fields(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for part in effective(self.state if type(self.state) is tuple else (self.state,)):
            if isinstance(part, dict):
                found.update((key, value) for key, value in part.items() if isinstance(key, str))
        return found

    @property
    def is_module(self) -> bool:
        """Whether it has the three dicts that every torch.nn.Module keeps."""
        state = self.state
        return isinstance(state, dict) and "_parameters" in state and "_buffers" in state and "_modules" in state

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __repr__(self) -> str:
        if type(self.arguments) is tuple and len(self.arguments) == 1 and isinstance(self.arguments[0], (str, int, float)):
            return f"<{self.type}({shown(self.arguments[0])})>"
        return f"<{self.type} object>"


class Key:
    """A dict key or set element that Python could not hold cheaply (deep, unhashable, colliding); compares by identity."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node

    def __repr__(self) -> str:
        return f"<key {type(self.node).__name__}>"


class Size(tuple):  # type: ignore[type-arg]
    """torch.Size"""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class Device(str):
    """torch.device: "cpu", "cuda:1" …"""

    __slots__ = ()


class Plan:
    """How to make one value: its ``children`` (nodes) first; then ``finish(get)`` makes the value, or fills the ``shell`` made already.
    ``cost``: bytes or items that are copied beside the children."""

    __slots__ = ("children", "cost", "finish", "shell")

    def __init__(self, children: list[Any], finish: Callable[[Get], Any], shell: Any = None, cost: int = 0) -> None:
        self.children = children
        self.finish = finish
        self.shell = shell
        self.cost = cost


RECONSTRUCTORS = ("copyreg._reconstructor", "copyreg.__newobj__", "copyreg.__newobj_ex__")  # the class stands in the arguments


def reconstructs(call: Call) -> bool:
    """Whether the first argument is the class."""
    return call.dotted in RECONSTRUCTORS and type(call.arguments) is tuple and bool(call.arguments and class_name(call.arguments[0]))


def object_plan(call: Call) -> Plan:
    """An Object that keeps everything the call and its later opcodes say."""
    shell = Object(call)
    children = [call.function, call.arguments, call.keywords, *call.states, *(call.items or ()), *(call.flat or ())]
    return Plan(children, partial(fill_object, shell), shell)


def fill_object(made: Object, get: Get) -> None:
    """Give an Object the values of what its call says."""
    call = made.call
    made.arguments, made.keywords = get(call.arguments), get(call.keywords)
    if reconstructs(call):
        made.arguments = made.arguments[1:]
    states = [get(state) for state in call.states]
    made.state = states[-1] if len(states) < 2 and states else (tuple(states) or None)
    if call.items:
        made.items = [get(item) for item in call.items]
    if call.flat:
        made.pairs = [(get(k), get(v)) for k, v in zip(call.flat[::2], call.flat[1::2], strict=True)]
