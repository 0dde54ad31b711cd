"""The families of values that saved objects are made of: what is walked into, and what is compared as a whole.

Knows: what is in each container, which values equal nothing but themselves, and how such ones are put in an order.
Refuses to know: how two of them are compared (diff_values.py, diff_leaves.py).
"""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from itertools import chain

from ..layout import Storage
from ..pickle.nodes import Buffer, Call, Dict, Global, List, Raw, Reference, Set
from ..tensor import Tensor
from ..torch.objects import Key, Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

PARTS = 1000  # of a key
TEXT = 64  # characters of one of its parts


class Missing:
    """What stands where one side has nothing."""

    def __repr__(self) -> str:
        return "<nothing>"


MISSING = Missing()
SOLE = (Key, Object, Global, Call, Tensor, Storage, Reference, Buffer, Raw, List, Dict, Set)  # equal to nothing but themselves
FAMILIES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Tensor,), "tensor"), ((dict, Namespace), "mapping"), ((set, frozenset), "set"), ((list, tuple, deque), "sequence"),
    ((Object,), "object"), ((Call, Reference, List, Dict, Set), "node"),
)  # fmt: skip
_PLAIN = frozenset((str, int, float, bool, bytes, type(None), Missing))
_BY_TYPE: dict[type, str] = {}


def kind_of(value: Any) -> str:
    """The family of a container, "tensor" for a tensor; "" for what is compared as a whole."""
    kind = type(value)
    if kind in _PLAIN:
        return ""
    known = _BY_TYPE.get(kind)
    if known is None:
        known = _BY_TYPE[kind] = next((family for kinds, family in FAMILIES if issubclass(kind, kinds)), "")
    return known


def class_of(value: Any) -> type:
    return dict if type(value).__name__ == "TensorIndex" else type(value)


def lone(value: Any) -> bool:
    """Whether a value says something itself, whatever is in it: all but tensors, and containers that hold something."""
    kind = kind_of(value)
    if kind in ("mapping", "sequence", "set"):
        return not (vars(value) if isinstance(value, Namespace) else value)
    return kind != "tensor"


def inside(value: Any) -> Iterator[Any]:
    """What a container holds."""
    kind = kind_of(value)
    if kind == "mapping":
        return iter((vars(value) if isinstance(value, Namespace) else value).values())
    if kind == "object":
        state = value.fields.values() or [value.state]
        return chain(state, (value.arguments, value.keywords), value.items, chain.from_iterable(value.pairs))
    if isinstance(value, Call):
        return iter([value.function, value.arguments, value.keywords, *value.states, *(value.items or ()), *(value.flat or ())])
    if isinstance(value, Reference):
        return iter([value.pid])
    if isinstance(value, Dict):
        return iter(value.flat)
    return iter(value.items if isinstance(value, (List, Set)) else value)


def length(value: Any, kind: str) -> int:
    """About how many entries there are to be compared."""
    if kind in ("mapping", "sequence", "set"):
        return len(vars(value) if isinstance(value, Namespace) else value)
    return len(value.fields) + len(value.items) + len(value.pairs) if kind == "object" else sum(1 for _ in inside(value))


def attributes(value: Any) -> dict[str, Any]:
    """What a dict of a class of its own keeps beside its entries."""
    return vars(value) if isinstance(value, dict) and hasattr(value, "__dict__") and type(value).__name__ != "TensorIndex" else {}


def odd(key: Any) -> bool:
    """Whether a key may be there on the other side without being found: it, or a part of it, equals nothing but itself."""
    todo = [key]
    while todo:
        item = todo.pop()
        if isinstance(item, SOLE) or item != item:  # noqa: PLR0124
            return True
        if isinstance(item, (tuple, frozenset)):
            todo += item
    return False


def content(key: Any) -> Any:
    """What a key says, where it is an inert one."""
    return key.node if type(key) is Key else key


def place_of(item: Any) -> tuple[int, int, list[str]]:
    """An order for members of a set that equal nothing but themselves: where in the pickle they stand, and what else is in them."""
    first, count, plain = 1 << 63, 0, []
    todo = [item]
    while todo and count < PARTS:
        held = todo.pop()
        count += 1
        if isinstance(held, (tuple, frozenset)):
            todo += held
        elif isinstance(held, SOLE):
            node = held.node if type(held) is Key else held.call if type(held) is Object else held
            first = min(first, getattr(node, "offset", first))
        else:
            plain.append(str(held)[:TEXT] if not isinstance(held, int) or held.bit_length() < TEXT else hex(held))
    return first, count, sorted(plain)
