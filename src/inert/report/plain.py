"""Any value of a saved object → what JSON can hold: dicts with text keys, lists, texts, numbers, booleans, None.

Knows: how each kind of value is spelled in JSON, and how to end: depth, number of values and length of texts are bounded, whatever the
object's shape (cycles, 2^40 paths through shared containers, 200,000 levels). What is left out is said in its place: {"left_out": why}.
Refuses to know: what a value means, and NumPy (a NumPy scalar is asked for its plain number).

Spelling: bytes {"hex"} · NaN "NaN", infinities "Infinity" and "-Infinity" · complex "1+2j" · tuples and sets are lists · a key that is no
text is written as a name would be · tensors {"tensor", "dtype", "shape"} · unknown objects {"object", …} · names {"global"}.
"""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from math import isfinite, isnan

from ..layout import Storage
from ..names import piece
from ..pickle.nodes import Buffer, Call, Dict, Global, List, Reference, Set
from ..tensor import Tensor
from ..torch.objects import Key, Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

NODES, DEPTH, TEXT = 100_000, 64, 10_000  # values in all · levels · characters of one text
BITS = 4096  # of an integer: printing a larger one in decimal is quadratic, and JSON readers refuse it
_AS_TEXT = frozenset(  # types whose str() is short and says it all
    ("timedelta", "timezone", "PurePosixPath", "PureWindowsPath", "Decimal", "Fraction", "UUID", "slice", "range", "ellipsis")
)


class Mark(dict):  # type: ignore[type-arg]
    """The dict that stands for what JSON has no word for: its first key says which."""


def printable(value: str) -> str:
    """``value`` with lone surrogates, which no encoding can hold, as escapes."""
    return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()


def number(value: float) -> float | str:
    """A float as JSON can hold it."""
    if isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def complex_text(value: complex) -> str:
    """1+2j: as Python writes it, without the brackets."""
    return str(complex(value)).strip("()")


def plain(value: Any, *, nodes: int = NODES, depth: int = DEPTH, text: int = TEXT) -> Any:
    """``value`` as JSON can hold it: at most ``nodes`` values, ``depth`` levels, ``text`` characters a text."""
    return _Plain(nodes, depth, text).of(value, depth)


class _Plain:
    """One conversion: what is left of its budget, and the containers that it is inside of."""

    def __init__(self, nodes: int, depth: int, text: int) -> None:
        self.nodes = nodes
        self.depth = depth
        self.text = text
        self.inside: dict[int, int] = {}  # id of a container → its level

    def of(self, value: Any, room: int) -> Any:
        """``value`` with ``room`` levels below it; recursion is bounded by that."""
        self.nodes -= 1
        make = _BY_TYPE.get(type(value)) or _by_kind(value)
        return make(self, value, room)

    def string(self, value: str, room: int = 0) -> Any:
        self.nodes -= len(value) >> 6
        if len(value) <= self.text:
            return printable(value)
        return Mark(text=printable(value[: self.text]), length=len(value), left_out=f"{len(value) - self.text:,} characters")

    def binary(self, value: bytes, room: int = 0) -> Any:
        self.nodes -= len(value) >> 6
        if len(value) <= self.text:
            return Mark(hex=bytes(value).hex())
        return Mark(hex=bytes(value[: self.text]).hex(), length=len(value), left_out=f"{len(value) - self.text:,} bytes")

    def integer(self, value: int, room: int = 0) -> Any:
        if value.bit_length() <= BITS:
            return value
        return Mark(integer=f"{hex(value)[:64]}…", bits=value.bit_length())

    def container(self, value: Any, room: int, make: Callable[[Any, int], Any]) -> Any:
        """``make(value, room - 1)`` where the levels, the budget and the path allow it; else why not."""
        level = self.inside.get(id(value))
        if level is not None:
            return Mark(left_out=f"a cycle: the same container {level - room} levels up")
        if room <= 0 or self.nodes < 0:
            why = f"more than {self.depth} levels deep" if room <= 0 else "too many values"
            return Mark(left_out=f"{_size(value)}: {why}")
        self.inside[id(value)] = room
        made = make(value, room - 1)
        del self.inside[id(value)]
        return made

    def array(self, value: Iterable[Any], room: int) -> Any:
        return self.container(value, room, self._array)

    def _array(self, value: Any, room: int) -> list[Any]:
        made: list[Any] = []
        for item in value:
            if self.nodes < 0:
                made.append(Mark(left_out=f"{len(value) - len(made):,} more"))
                break
            made.append(self.of(item, room))
        return made

    def mapping(self, value: dict[Any, Any], room: int) -> Any:
        return self.container(value, room, lambda value, room: self.pairs(value.items(), len(value), room))

    def pairs(self, pairs: Iterable[tuple[Any, Any]], count: int, room: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        again: dict[str, int] = {}
        for key, item in pairs:
            if self.nodes < 0:
                made["left_out"] = f"{count - len(made):,} more"
                break
            name = base = self.key(key)
            while name in made:  # 1 and "1": both are kept
                again[base] = again.get(base, 1) + 1
                name = f"{base}#{again[base]}"
            made[name] = self.of(item, room)
        return made

    def key(self, key: Any) -> str:
        name = piece(key)
        self.nodes -= len(name) >> 6
        return printable(name if len(name) <= self.text else f"{name[: self.text]}… ({len(name):,} characters)")

    # -- what only inert knows ------------------------------------------------------------------------------------------

    def tensor(self, value: Tensor, room: int) -> Any:
        made = Mark(tensor=printable(value.name), dtype=str(value.dtype), shape=list(value.shape))
        if value.kind != "dense":
            made["kind"] = value.kind
        if value.fault:
            made["fault"] = printable(value.fault)
        return made

    def object(self, value: Object, room: int) -> Any:
        return self.container(value, room, self._object)

    def _object(self, value: Object, room: int) -> dict[str, Any]:
        made: dict[str, Any] = {"object": self.string(value.type)}
        if value.arguments != ():
            made["arguments"] = self.of(value.arguments, room)
        if value.keywords is not None:
            made["keywords"] = self.of(value.keywords, room)
        fields = value.fields
        if fields:
            made["fields"] = self.pairs(fields.items(), len(fields), room)
        elif value.state is not None:
            made["state"] = self.of(value.state, room)
        if value.items:
            made["items"] = self._array(value.items, room)
        if value.pairs:
            made["pairs"] = self.pairs(value.pairs, len(value.pairs), room)
        return made

    def name(self, value: Global, room: int) -> Any:
        return Mark({"global": self.string(value.dotted)})

    def call(self, value: Call, room: int) -> Any:
        return Mark(call=self.string(value.dotted or type(value.function).__name__), at=value.offset)

    def reference(self, value: Reference, room: int) -> Any:
        return self.container(value, room, lambda value, room: {"reference": self.of(value.pid, room)})

    def storage(self, value: Storage, room: int) -> Any:
        return Mark(storage=self.string(value.key), dtype=str(value.dtype), nbytes=value.nbytes)

    def shape(self, value: Any, room: int) -> Any:
        """A node that is no value: what it is and how large."""
        return Mark(node=_size(value))

    def anything(self, value: Any, room: int) -> Any:
        if hasattr(value, "dtype") and hasattr(value, "item"):  # a NumPy scalar, or an array that a user has put there
            return self.numpy(value, room)
        if hasattr(value, "isoformat"):
            return str(value.isoformat())
        if type(value).__name__ in _AS_TEXT:
            return self.string(str(value))
        if type(value).__module__.startswith("numpy"):  # a dtype
            return self.string(str(value))
        return Mark(value=type(value).__name__)

    def numpy(self, value: Any, room: int) -> Any:
        if getattr(value, "shape", ()):
            return Mark(array=str(value.dtype), shape=list(value.shape))
        kind = value.dtype.kind
        if kind in "Mm":
            return _date(value)
        if kind == "V":  # a type that Python lacks: bfloat16, float8 …, or bytes without meaning
            try:
                return number(float(value))
            except (TypeError, ValueError):
                return self.binary(value.tobytes())
        item = value.item()
        return str(value) if type(item) is type(value) else self.of(item, room)


_BY_TYPE: dict[type, Callable[[_Plain, Any, int], Any]] = {
    type(None): lambda plain, value, room: value,
    bool: lambda plain, value, room: value,
    int: _Plain.integer,
    float: lambda plain, value, room: number(value),
    complex: lambda plain, value, room: complex_text(value),
    str: _Plain.string,
    bytes: _Plain.binary,
    bytearray: _Plain.binary,
    dict: _Plain.mapping,
    list: _Plain.array,
    tuple: _Plain.array,
    Tensor: _Plain.tensor,
    Storage: _Plain.storage,
    Object: _Plain.object,
    Global: _Plain.name,
    Call: _Plain.call,
    Reference: _Plain.reference,
    Buffer: _Plain.shape,
    Key: lambda plain, value, room: Mark(key=_size(value.node)),
}
_BY_KIND: tuple[tuple[Any, Callable[[_Plain, Any, int], Any]], ...] = (
    (str, lambda plain, value, room: plain.string(str(value))),  # DType, Device
    (bool, lambda plain, value, room: bool(value)),
    (bytes, _Plain.binary),  # a Python 2 text that is no UTF-8
    (dict, _Plain.mapping),
    ((list, tuple, deque, set, frozenset), _Plain.array),
    (Namespace, lambda plain, value, room: plain.mapping(vars(value), room)),
    ((List, Dict, Set), _Plain.shape),
    (Tensor, _Plain.tensor),
    (Call, _Plain.call),
)


def _date(value: Any) -> Any:
    """A NumPy date or duration; its number where it has no unit, which NumPy itself has no text for."""
    try:
        return str(value)
    except ValueError:
        return int(value.view("i8"))


def _by_kind(value: Any) -> Callable[[_Plain, Any, int], Any]:
    if type(value).__module__ not in ("numpy", "ml_dtypes"):  # numpy.float64 is a float too, but not only
        for kind, make in _BY_KIND:
            if isinstance(value, kind):
                return make
    return _Plain.anything


def _size(value: Any) -> str:
    """A container in a few words: never its content."""
    word = value.type if isinstance(value, Object) else type(value).__name__
    count = getattr(value, "items", None) if isinstance(value, (List, Set)) else value
    count = value.flat[::2] if isinstance(value, Dict) else count
    try:
        return f"{printable(word)[:200]} of {len(count):,}"  # type: ignore[arg-type]
    except TypeError:
        return printable(word)[:200]
