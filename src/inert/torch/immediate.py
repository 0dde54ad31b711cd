"""Calls that make one immutable value of their arguments: numbers, dates, paths, bytes, torch.Size.

Knows: the table of names and which constructor of inert's choosing stands for each.
Refuses to know: arguments that are containers of more than numbers, or so large that the constructor's work would exceed the file's size.

Facts: CPython 3.8 to 3.13 (__reduce_ex__ of these classes), torch 2.13 (Size, device, _get_layout).
"""

from __future__ import annotations

import codecs

from ..pickle.nodes import ByteString, Call, List
from .arguments import text
from .ndarray import raw_bytes
from .objects import Device, Plan, Size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Get = Callable[[Any], Any]


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

    for part in value:
        number = type(part) is int and part.bit_length() < 1 << 14
        if not number and not (type(part) is str and len(part) < 4300 and "e" not in part.lower()):
            raise ValueError("no numerator or denominator")
    return Fraction(*value)


def _int(value: Any = 0) -> int:
    if not isinstance(value, (int, float, str, bytes)):
        raise ValueError("no number")
    return int(value)


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
    "builtins.int": _int,
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
    return Plan(list(call.arguments), lambda get: make(*[_simple(part, get) for part in call.arguments]), cost=cost)


_SIZED = (str, bytes, ByteString, tuple, List)


def _simple(node: Any, get: Get) -> Any:
    """An argument that a constructor may be given: no container but a flat one of numbers. Tensors and ranges can be iterated for ever."""
    value = list(node.items) if type(node) is List else get(node)  # lists are filled last of all
    if isinstance(value, (list, tuple)):
        if any(type(item) is not int for item in value):
            raise ValueError("a container of more than numbers")
    elif not isinstance(value, (str, bytes, bytearray)) and (hasattr(value, "__iter__") or hasattr(value, "__getitem__")):
        raise ValueError("a container")
    return text(value)
