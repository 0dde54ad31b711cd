"""What has been changed in the values of a pickle since they were built, told as edits of its nodes.

Knows: which node each value came from, and how to tell that a dict, list, set or namespace holds something else now. What nobody touched
keeps its node, and so its bytes; what moved elsewhere takes its node along.
Refuses to know: opcodes and files.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque

from ..pickle.encode import parts_of
from ..pickle.nodes import Call, Dict, List, Set
from ..pickle.row import Row
from .arguments import Odd
from .build import ATOMS
from .keys import set_plan
from .objects import RECONSTRUCTORS, Key, Object
from .values import CONTAINERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .build import Builder

MUTABLE = (list, dict, set, deque, Namespace)  # and their subclasses here


class Changes:
    """``nodes``: by id of a value, the node it was built from · ``edits``: by id of a Dict or List, what it holds now · ``swaps``: by id of
    another node, what stands in its place now · ``plain``: names of classes of which only the contents are left, as a plain container."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.nodes: dict[int, Any] = {}
        self.edits: dict[int, list[Any]] = {}
        self.swaps: dict[int, Any] = {}
        self.plain: list[str] = []
        self._walk()

    def __bool__(self) -> bool:
        return bool(self.edits or self.swaps)

    def _walk(self) -> None:
        """Look at every node that a value was built from, once."""
        builder = self.builder
        todo, seen = [builder.document.root], {0}
        while todo:
            node = todo.pop()
            if type(node) in ATOMS or id(node) in seen:
                continue
            seen.add(id(node))
            if type(node) is Row and node.value is not None:
                self.nodes[id(node.value)] = node
                continue
            value = builder.done.get(id(node), node)
            if value is not node:
                self.nodes[id(value)] = node
                if type(value) is not tuple and isinstance(value, MUTABLE):
                    self._look(node, value)
                elif type(value) is Object and isinstance(node, Call) and value.call is node:
                    self._object(node, value)
            todo += parts_of(node, {}) or ()

    def _look(self, node: Any, value: Any) -> None:
        get = self.builder.get
        if type(node) is List:
            if len(value) != len(node.items) or any(get(item) is not now for item, now in zip(node.items, value, strict=True)):
                self.edits[id(node)] = list(value)
        elif type(node) is Dict:
            if not same(self.builder.filled(node), value):
                self.edits[id(node)] = self._flat(node.flat, value)
        elif type(node) is Set:
            if not same(set_plan(node.items, set()).finish(get), value):
                self.edits[id(node)] = list(value)
        elif isinstance(node, Call) and node.dotted in CONTAINERS:
            self._call(node, value)

    def _object(self, call: Call, value: Object) -> None:
        """An object of an unknown class whose arguments, state or contents are others now."""
        get = self.builder.get
        inner = call.arguments[1:] if call.dotted in RECONSTRUCTORS and type(call.arguments) is tuple else call.arguments
        plain = type(value.arguments) is tuple and type(inner) is tuple
        given = value.arguments is not get(inner) and not (plain and held(value.arguments, inner, get))
        states = value.state if len(call.states) > 1 else (value.state,) * len(call.states)
        flat = [part for pair in value.pairs for part in pair]
        both = ((states, call.states), (value.items, call.items), (flat, call.flat))
        stated, items, pairs = (not held(now, then, get) for now, then in both)
        keywords = value.keywords is not get(call.keywords)
        if not (given or stated or items or pairs or keywords):
            return
        arguments = value.arguments if given else inner
        if inner is not call.arguments:
            arguments = (call.arguments[0], *arguments) if given else call.arguments
        made = self.swaps[id(call)] = Call(call.function, arguments, call.offset, call.how, value.keywords if keywords else call.keywords)
        made.states = tuple(states) if stated else call.states
        made.items = list(value.items) if items else call.items
        made.flat = flat if pairs else call.flat

    def _flat(self, flat: list[Any], value: dict[Any, Any]) -> list[Any]:
        """Keys and values in turn, the keys spelled as they were."""
        known = {}
        for key in flat[::2]:
            now = self.builder.get(key)
            if type(now) in ATOMS and type(now) is not bytearray:  # which a Key stands for
                known[type(now), now] = key
        return [part for key, item in value.items() for part in (known.get((type(key), key), key), item)]

    def _call(self, call: Call, value: Any) -> None:
        try:
            plan = CONTAINERS[call.dotted](call)
            before = plan.finish(self.builder.get)
        except (Odd, ValueError, TypeError, OverflowError):
            return  # it was not built by this table either
        if plan.shell is None or before is None:
            before = plan.shell if plan.shell is not None else before
        if before is value or type(before) is not type(value) or same(before, value):
            return
        self.swaps[id(call)] = self._made(call, value)

    def _made(self, call: Call, value: Any) -> Any:
        """The call that gives what the value is now."""
        made = Call(call.function, call.arguments, call.offset, call.how, call.keywords)
        made.states = call.states
        kind = type(value)
        if kind is OrderedDict:
            made.arguments, made.flat = (), self._flat(call.flat or [], value)
            if "_metadata" in vars(value):
                made.states = (dict(vars(value)),)
        elif kind is defaultdict:
            made.arguments, made.flat = call.arguments[:1], self._flat(call.flat or [], value)
        elif kind is Counter:
            made.arguments, made.flat = (dict(value),), None
        elif kind is Namespace:
            made.states = (dict(vars(value)),)
        elif kind is deque:
            made.arguments, made.items = ((), value.maxlen) if value.maxlen is not None else (), list(value)
        elif kind is set and call.arguments:
            made.arguments, made.items = (list(value),), None
        elif kind is dict and call.flat and not call.arguments:
            made.flat = self._flat(call.flat, value)
            made.states = (dict(value),) if call.states else ()  # AttributeDict and its like: the state says the items again
        else:
            self.plain.append(call.dotted)
            return kind(value)
        return made


def held(now: Any, nodes: Any, get: Callable[[Any], Any]) -> bool:
    """Whether a sequence holds the very values that were built from these nodes."""
    nodes = nodes or ()
    return len(now) == len(nodes) and all(value is get(node) for value, node in zip(now, nodes, strict=True))


def elements(value: set[Any]) -> set[Any]:
    """A set's elements, its Keys by the nodes they stand for: each building makes Keys of its own."""
    return {(Key, id(item.node)) if type(item) is Key else item for item in value}


def same(before: Any, value: Any) -> bool:
    """Whether two containers of one kind hold the very same items in the same order."""
    if isinstance(before, dict):
        if len(before) != len(value) or (vars(before) if hasattr(before, "__dict__") else None) != (
            vars(value) if hasattr(value, "__dict__") else None
        ):
            return False
        return all(
            (a is b or (type(a) is type(b) and (a.node is b.node if type(a) is Key else a == b))) and x is y
            for (a, x), (b, y) in zip(before.items(), value.items(), strict=True)
        )
    if isinstance(before, Namespace):
        return same(vars(before), vars(value))
    if isinstance(before, set):
        return len(before) == len(value) and elements(before) == elements(value)
    return len(before) == len(value) and all(a is b for a, b in zip(before, value, strict=True))
