"""The nouns that values are made of: objects of unknown classes, inert keys, torch's small value types, and Plans to make values.

Knows: how an unknown object keeps everything that its call says.
Refuses to know: any class (immediate.py and values.py name those that are data).
"""

from __future__ import annotations

from ..pickle.nodes import Call, shown
from .rebuild import class_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Get = Callable[[Any], Any]


class Object:
    """An object of a class that inert does not know: ``type`` (dotted name), ``arguments``, ``keywords``, ``state`` (of the last BUILD),
    ``items`` (appended), ``pairs`` (set), all as values; ``fields`` is its state as one dict. Hashable by identity."""

    __slots__ = ("arguments", "call", "items", "keywords", "pairs", "state", "type")

    def __init__(self, call: Call) -> None:
        self.type = class_name(call.function) or shown(call.function)
        self.call = call
        self.arguments: Any = ()
        self.keywords: Any = None
        self.state: Any = None
        self.items: list[Any] = []
        self.pairs: list[tuple[Any, Any]] = []

    @property
    def fields(self) -> dict[str, Any]:
        parts = self.state if type(self.state) is tuple else (self.state,)
        found: dict[str, Any] = {}
        for part in parts:
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


def object_plan(call: Call) -> Plan:
    """An Object that keeps everything the call and its later opcodes say."""
    shell = Object(call)
    inner = call.arguments
    if call.dotted in RECONSTRUCTORS and type(inner) is tuple and inner and class_name(inner[0]):
        shell.type, inner = class_name(inner[0]), inner[1:]
    flat = call.flat or []
    children = [call.function, inner, call.keywords, *call.states, *(call.items or []), *flat]

    def finish(get: Get) -> Any:
        shell.arguments = get(inner)
        shell.keywords = get(call.keywords)
        states = [get(state) for state in call.states]
        shell.state = states[-1] if len(states) < 2 and states else (tuple(states) or None)
        shell.items = [get(item) for item in call.items or []]
        shell.pairs = [(get(k), get(v)) for k, v in zip(flat[::2], flat[1::2], strict=True)]
        return shell

    return Plan(children, finish, shell)
