"""Calls that make a container, or stand for one: what the objects of a pickle are as plain Python data.

Knows: the table of names whose calls build data (dicts, sets, queues, namespaces, configuration nodes), and what data they build.
Refuses to know: any other class (objects.py keeps those whole). Nothing here calls what a file names: the table maps names to constructors
of inert's choosing.

Facts: CPython 3.8 to 3.13 (__reduce_ex__ of these classes), OmegaConf 2.3 (_content, _val), torch 2.13 (torch/jit/_pickle.py).
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque

from ..pickle.nodes import Call, Dict, Global, List, Set
from .arguments import Odd, text
from .keys import fill_dict, set_plan
from .ndarray import DTYPE, SCALARS, dtype_value, scalar
from .objects import Plan, effective

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Get = Callable[[Any], Any]


def argument(call: Call, position: int = 0) -> Any:
    return call.arguments[position] if type(call.arguments) is tuple and len(call.arguments) > position else None


def pairs_of(node: Any) -> Iterator[tuple[Any, Any]]:
    """Key and value nodes of a Dict, or of a list of pairs (OrderedDict's argument in Python 2)."""
    if type(node) is Dict:
        yield from node.pairs()
    elif type(node) is List:
        for item in node.items:
            pair = tuple(item.items) if type(item) is List else item
            if type(pair) is not tuple or len(pair) != 2:
                raise Odd("a list that is not one of pairs")
            yield pair
    elif node is not None:
        raise Odd("neither a dict nor a list of pairs")


def _mapping(call: Call, shell: Any, first: Any) -> Plan:
    pairs = [*pairs_of(first), *zip(*[iter(call.flat or ())] * 2, strict=True)]
    fields = state_fields(call)
    if fields and not hasattr(shell, "__dict__"):
        raise Odd("a state for what keeps none")

    def finish(get: Get) -> Any:
        fill_dict(shell, pairs, get)
        if fields:
            vars(shell).update((name, get(node)) for name, node in fields.items())
        return shell

    return Plan([*[node for pair in pairs for node in pair], *fields.values()], finish, shell)


_PLAIN_TYPES: tuple[type, ...] = (list, dict, int, float, str, set, tuple, bool)
FACTORIES: dict[str, Callable[[], Any]] = {f"builtins.{kind.__name__}": kind for kind in _PLAIN_TYPES}
FACTORIES["collections.OrderedDict"] = OrderedDict


def _defaultdict(call: Call) -> Plan:
    factory = argument(call)
    known = FACTORIES.get(factory.dotted) if type(factory) is Global else None
    if factory is not None and known is None:
        raise Odd("a default factory that is no plain type")
    return _mapping(call, defaultdict(known), argument(call, 1))


def _counter(call: Call) -> Plan:
    return _mapping(call, Counter(), argument(call))


def _ordered(call: Call) -> Plan:
    return _mapping(call, OrderedDict(), argument(call))


def _dict(call: Call) -> Plan:
    return _mapping(call, {}, argument(call))


def _sequence(node: Any) -> list[Any]:
    if node is None:
        return []
    if type(node) in (List, Set):
        items: list[Any] = node.items
        return items
    if type(node) is tuple:
        return list(node)
    raise Odd("no list")


def _deque(call: Call) -> Plan:
    bound = argument(call, 1)
    if bound is not None and (type(bound) is not int or bound < 0):
        raise Odd("a deque's bound")
    shell: deque[Any] = deque(maxlen=bound)
    nodes = [*_sequence(argument(call)), *(call.items or [])]
    return Plan(nodes, lambda get: shell.extend(map(get, nodes)), shell)


def _set(call: Call) -> Plan:
    shell: set[Any] = set()
    return set_plan([*_sequence(argument(call)), *(call.items or [])], shell)


def _frozenset(call: Call) -> Plan:
    return set_plan(_sequence(argument(call)), None)


def _list(call: Call) -> Plan:
    shell: list[Any] = []
    nodes = [*_sequence(argument(call)), *(call.items or [])]
    return Plan(nodes, lambda get: shell.extend(map(get, nodes)), shell)


def _tuple(call: Call) -> Plan:
    nodes = _sequence(argument(call))
    return Plan(nodes, lambda get: tuple(map(get, nodes)))


def state_fields(call: Call) -> dict[str, Any]:
    """Field nodes of an object's states, by name. Odd where a state is no dict of names."""
    found: dict[str, Any] = {}
    parts = [part for state in effective(call.states) for part in (state if type(state) is tuple else (state,))]
    for part in effective(parts):
        if type(part) is not Dict and part is not None:
            raise Odd("a state that is no dict")
        for key, value in part.pairs() if part is not None else ():
            name = text(key)
            if not isinstance(name, str):
                raise Odd("a state with other keys than names")
            found[name] = value
    return found


def _namespace(call: Call) -> Plan:
    from argparse import Namespace

    shell = Namespace()
    fields = state_fields(call)

    def finish(get: Get) -> Any:
        vars(shell).update((name, get(node)) for name, node in fields.items())
        return shell

    return Plan(list(fields.values()), finish, shell)


def _attribute_dict(call: Call) -> Plan:
    """dict subclasses that are only a dict with attribute access (Lightning's AttributeDict, EasyDict): their state repeats their items."""
    bare = Call(call.function, (), call.offset, call.how)
    bare.flat = call.flat
    return _mapping(bare, {}, None)


def _first(call: Call) -> Plan:
    """torch's C++ pickler tags a list or dict by a call; the container itself is the first argument."""
    inner = argument(call)
    return Plan([inner], lambda get: get(inner))


def _config(call: Call) -> Plan:
    """OmegaConf's DictConfig and ListConfig as plain dict and list; parents (cycles) and metadata are left out."""
    fields = state_fields(call)
    content = fields.get("_content", fields.get("content"))
    if type(content) is Dict:
        return _mapping(Call(call.function, (), call.offset, call.how), {}, content)
    if type(content) is List:
        shell: list[Any] = []
        nodes = content.items
        return Plan(nodes, lambda get: shell.extend(map(get, nodes)), shell)
    return Plan([content], lambda get: get(content))  # None, "???" or an interpolation


def _config_value(call: Call) -> Plan:
    fields = state_fields(call)
    node = fields.get("_val", fields.get("val"))
    return Plan([node], lambda get: get(node))


def _uuid(call: Call) -> Plan:
    number = state_fields(call).get("int")
    if type(number) is not int or not 0 <= number < 1 << 128:
        raise Odd("a UUID without its number")
    from uuid import UUID

    return Plan([], lambda get: UUID(int=number))


CONTAINERS: dict[str, Callable[[Call], Plan]] = {
    "collections.OrderedDict": _ordered,
    "collections.defaultdict": _defaultdict,
    "collections.Counter": _counter,
    "collections.deque": _deque,
    "builtins.dict": _dict,
    "builtins.list": _list,
    "builtins.tuple": _tuple,
    "builtins.set": _set,
    "builtins.frozenset": _frozenset,
    "argparse.Namespace": _namespace,
    "types.SimpleNamespace": _namespace,
    "uuid.UUID": _uuid,
    "omegaconf.dictconfig.DictConfig": _config,
    "omegaconf.listconfig.ListConfig": _config,
    "torch.jit._pickle.build_intlist": _first,
    "torch.jit._pickle.build_doublelist": _first,
    "torch.jit._pickle.build_boollist": _first,
    "torch.jit._pickle.build_tensorlist": _first,
    "torch.jit._pickle.restore_type_tag": _first,
    DTYPE: lambda call: Plan([], lambda get: dtype_value(call)),
}
for _name in ("Any", "String", "Integer", "Float", "Boolean", "Enum", "Path", "Bytes", "Value", "Untyped"):
    CONTAINERS[f"omegaconf.nodes.{_name}Node"] = _config_value
for _name in (
    "pytorch_lightning.utilities.parsing.AttributeDict", "lightning.pytorch.utilities.parsing.AttributeDict",
    "lightning_fabric.utilities.data.AttributeDict", "lightning.fabric.utilities.data.AttributeDict", "easydict.EasyDict",
):  # fmt: skip
    CONTAINERS[_name] = _attribute_dict
for _name in SCALARS:
    CONTAINERS[_name] = lambda call: Plan([], lambda get: scalar(call))
