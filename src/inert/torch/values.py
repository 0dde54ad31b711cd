"""Values: what the objects of a pickle stand for, as plain Python data.

Knows: the table of names whose calls build data (containers, paths, dates, numbers, configuration nodes), and what data they build.
Refuses to know: any other class. Its objects become ``Object``s that keep everything: name, arguments, state, items.
Nothing here calls what a file names: the table maps names to constructors of inert's choosing.

Facts: CPython 3.8 to 3.13 (__reduce_ex__ of the classes below), OmegaConf 2.3 (_content, _val), torch 2.13 (Size, device, _get_layout).
"""

from __future__ import annotations

import codecs
from collections import Counter, OrderedDict, defaultdict, deque

from ..pickle.nodes import ByteString, Call, Dict, Global, List, Set
from .ndarray import DTYPE, SCALARS, dtype_value, raw_bytes, scalar
from .rebuild import Odd, text

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
        self.type = call.dotted or repr(call.function)
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
            return f"<{self.type}({self.arguments[0]!r:.60})>"
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


# -- calls that make one immutable value from their arguments ---------------------------------------------------------------


def _encode(value: Any, codec: str = "latin1") -> bytes:
    if codec not in ("latin1", "latin-1", "utf-8", "utf8", "ascii"):
        raise ValueError(codec)
    return codecs.encode(value, codec)


def _bytearray(value: Any = b"", codec: str = "latin1") -> bytearray:
    if isinstance(value, int):
        raise ValueError("a bytearray of zeros")
    return bytearray(_encode(value, codec) if isinstance(value, str) else value)


def _datetime(name: str) -> Callable[..., Any]:
    def make(*arguments: Any) -> Any:
        import datetime

        first, *rest = arguments
        if isinstance(first, str):  # a Python 2 text, or the latin-1 text that unpickling with encoding="latin1" leaves
            first = first.encode("latin-1", "surrogateescape")
        if name in ("date", "time", "datetime") and not isinstance(first, bytes):
            raise ValueError(name)
        return getattr(datetime, name)(first, *rest)

    return make


def _timezone(offset: Any, *name: Any) -> Any:
    import datetime

    return datetime.timezone(offset, *name)


def _path(flavour: str) -> Callable[..., Any]:
    def make(*parts: Any) -> Any:
        import pathlib

        return getattr(pathlib, flavour)(*parts)

    return make


def _decimal(value: Any) -> Any:
    from decimal import Decimal

    if not isinstance(value, str) or len(value) > 4300:
        raise ValueError(value)
    return Decimal(value)


def _fraction(*value: Any) -> Any:
    from fractions import Fraction

    if isinstance(value[0], str) and (len(value[0]) > 4300 or "e" in value[0].lower()):
        raise ValueError(value)
    return Fraction(*value)


def _slice(*arguments: Any) -> slice:
    return slice(*arguments)


def _range(*arguments: int) -> range:
    return range(*arguments)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _device(kind: Any, index: Any = None) -> Device:
    if not isinstance(kind, str) or not isinstance(index, (int, type(None))):
        raise ValueError("no device")
    return Device(kind if index is None else f"{kind}:{index}")


def _size(items: Any = ()) -> Size:
    return Size(items)


IMMEDIATE: dict[str, Callable[..., Any]] = {
    "builtins.complex": complex,
    "builtins.slice": _slice,
    "builtins.range": _range,
    "builtins.bytes": lambda value=b"", codec="latin1": _encode(value, codec) if isinstance(value, str) else bytes(_bytearray(value)),
    "builtins.bytearray": _bytearray,
    "builtins.int": lambda value=0: int(value),
    "builtins.float": lambda value=0.0: float(value),
    "builtins.str": lambda value="": _text(value),
    "builtins.bool": lambda value=False: bool(value),
    "_codecs.encode": _encode,
    "datetime.date": _datetime("date"),
    "datetime.time": _datetime("time"),
    "datetime.datetime": _datetime("datetime"),
    "datetime.timedelta": _datetime("timedelta"),
    "datetime.timezone": _timezone,
    "decimal.Decimal": _decimal,
    "fractions.Fraction": _fraction,
    "torch.Size": _size,
    "torch.device": _device,
    "torch.serialization._get_layout": _text,
    "torch.serialization._get_dtype": _text,
}
for _module in ("pathlib", "pathlib._local"):
    for _name in ("PosixPath", "PurePosixPath"):
        IMMEDIATE[f"{_module}.{_name}"] = _path("PurePosixPath")
    for _name in ("WindowsPath", "PureWindowsPath"):
        IMMEDIATE[f"{_module}.{_name}"] = _path("PureWindowsPath")
    IMMEDIATE[f"{_module}.Path"] = IMMEDIATE[f"{_module}.PurePath"] = _path("PurePosixPath")


def immediate(call: Call) -> Plan | None:
    make = IMMEDIATE.get(call.dotted)
    if make is None or call.states or call.items or call.flat or type(call.arguments) is not tuple or len(call.arguments) > 64:
        return None
    raw = raw_bytes(call)
    if raw is not None:
        return Plan([], lambda get: bytearray(raw) if call.dotted == "builtins.bytearray" else raw, cost=len(raw))
    cost = sum(len(part.items if type(part) is List else part) for part in call.arguments if type(part) in _SIZED)
    return Plan(list(call.arguments), lambda get: make(*map(_simple, map(get, call.arguments))), cost=cost)


_SIZED = (str, bytes, ByteString, tuple, List)


def _simple(value: Any) -> Any:
    """An argument that a constructor may be given: no container but a flat one of numbers, nothing whose text could be large."""
    if isinstance(value, (list, tuple)):
        if any(type(item) is not int for item in value):
            raise ValueError("a container of more than numbers")
    elif isinstance(value, (dict, set, frozenset, Object, Key)):
        raise ValueError("a container")
    return text(value)


# -- calls that make a container ----------------------------------------------------------------------------------------------


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


def set_plan(nodes: list[Any], shell: set[Any] | None) -> Plan:
    def finish(get: Get) -> Any:
        if shell is None:
            return frozenset(hashables(nodes, get))
        shell.update(hashables(nodes, get))
        return shell

    return Plan(nodes, finish, shell)


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
    for state in call.states:
        for part in state if type(state) is tuple else (state,):
            if type(part) is Dict:
                found.update((text(key), value) for key, value in part.pairs())
            elif part is not None:
                raise Odd("a state that is no dict")
    if not all(isinstance(name, str) for name in found):
        raise Odd("a state with other keys than names")
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


RECONSTRUCTORS = ("copyreg._reconstructor", "copyreg.__newobj__", "copyreg.__newobj_ex__")  # the class stands in the arguments


def object_plan(call: Call) -> Plan:
    """An Object that keeps everything the call and its later opcodes say."""
    shell = Object(call)
    inner = call.arguments
    if call.dotted in RECONSTRUCTORS and type(inner) is tuple and inner and type(inner[0]) is Global:
        shell.type, inner = inner[0].dotted, inner[1:]
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
