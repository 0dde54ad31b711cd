"""Arguments of torch's calls, read as data.

Knows: what a text, a size, a dtype and a tuple of arguments look like in torch's pickles, of Python 2 too. Anything else is ``Odd``.
Refuses to know: which function takes them, and what for.
"""

from __future__ import annotations

from ..dtypes import DType
from ..pickle.nodes import ByteString, Call, Global, List, shown
from .storages import DTYPE_VALUES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
DIMENSIONS = 1024  # of a size or stride that is looked at: one tuple may serve many tensors


class Odd(Exception):
    """The arguments are not what the function takes."""


def text(value: Any) -> Any:
    """A Python 2 text as str, where it is one."""
    if type(value) is ByteString:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value


def integers(value: Any) -> tuple[int, ...]:
    """The numbers of a tuple, list or torch.Size."""
    if isinstance(value, Call) and value.dotted == "torch.Size" and type(value.arguments) is tuple and len(value.arguments) == 1:
        value = value.arguments[0]
    if type(value) is List and len(value.items) <= DIMENSIONS:
        value = tuple(value.items)
    if type(value) is not tuple or len(value) > DIMENSIONS or any(type(item) is not int for item in value):
        raise Odd("a size or stride is no tuple of numbers")
    if any(item.bit_length() > 63 for item in value):
        raise Odd("a size or stride beyond 64 bits")
    return value


def dtype_of(value: Any) -> DType:
    dtype = DTYPE_VALUES.get(value.dotted) if type(value) is Global else None
    if dtype is None:
        raise Odd(f"{shown(value)} is no dtype")
    return dtype


def take(arguments: Any, least: int, most: int) -> list[Any]:
    """The arguments, filled up with None to ``most``. Odd where there are fewer or more than the function takes."""
    if type(arguments) is not tuple or not least <= len(arguments) <= most:
        got = len(arguments) if type(arguments) is tuple else type(arguments).__name__
        raise Odd(f"{got} arguments where {least} to {most} are wanted" if least < most else f"{got} arguments where {least} are wanted")
    return [*arguments, *[None] * (most - len(arguments))]
