"""One tensor or one value of a checkpoint: what ``inert show`` shows.

Knows: how a name finds its tensor, a slice of it, or any other value of the saved object; how elements become nested lists.
Refuses to know: how anything is printed.

A name is looked for as the name of a tensor, then as that with a slice behind it (``w[0:2,3]``), then as a path through the saved object
(``optimizer_states.0.param_groups.0.lr``), where a key may hold dots itself.
"""

from __future__ import annotations

from itertools import islice
from math import prod

from ..dtypes import DTYPES
from ..errors import FormatError, InertError, LimitError, UnsupportedError
from ..layout import Layout, Storage, contiguous
from ..names import CANDIDATES, HERE, children, near, piece
from ..source import BytesSource
from ..tensor import Tensor
from ..words import counted
from .listing import row
from .plain import complex_text, number, plain, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..checkpoint import Checkpoint

FEW = 1000  # elements that are always given whole
CORNER = 200  # elements of the corner that is given of a larger tensor
MANY = 10_000_000  # elements that are given as nested lists at most
NODES = 10_000_000  # values of an object that are given with ``full``


def show(
    ckpt: Checkpoint, name: str, *, stats: bool = False, full: bool = False, done: Callable[[int], None] | None = None
) -> dict[str, Any]:
    """``name``, ``dtype``, ``shape`` …, ``values`` and with ``stats`` ``stats`` of a tensor; ``name``, ``type``, ``value`` of all else.

    ``why`` says why ``values`` or ``stats`` are None. Not ``full``: a corner of a large tensor (``values_of`` says which), a bounded part
    of a large object. ``done`` is told of the bytes read for the statistics. UnsupportedError where nothing has that name."""
    found = find(ckpt, name)
    if not isinstance(found, Tensor):
        value = found[0]
        limits = {"nodes": NODES, "text": NODES} if full else {}
        return {"name": printable(name), "type": printable(kind_of(value)), "value": plain(value, **limits)}
    made = row(found)
    made["name"] = printable(name)
    try:
        made.update(elements(found, full))
        if stats:
            made["stats"] = statistics(found, done)
    except InertError as error:
        made.setdefault("values", None)
        made["why"] = printable(error.message)
        if stats:
            made["stats"] = None
        if isinstance(error, FormatError):
            made.setdefault("fault", printable(error.message))
    return made


def kind_of(value: Any) -> str:
    """The type of a value as its file has it."""
    named = getattr(value, "type", None)
    return named if isinstance(named, str) else type(value).__name__


def statistics(tensor: Tensor, done: Callable[[int], None] | None = None) -> dict[str, Any]:
    """``inert.stats.stats`` as JSON can hold it."""
    from ..stats import stats

    made = stats(tensor, done=done)
    return {key: _number(value) if isinstance(value, (float, complex)) else value for key, value in made.items()}


def _number(value: Any) -> Any:
    return complex_text(value) if isinstance(value, complex) else number(value)


# -- names ----------------------------------------------------------------------------------------------------------------


def find(ckpt: Checkpoint, name: str) -> Tensor | tuple[Any]:
    """The tensor (or slice of one) that ``name`` names, or the value there in a tuple. UnsupportedError, with like names, for neither."""
    tensor = ckpt.tensors.get(name)
    if tensor is None:
        tensor = _sliced(ckpt, name)
    if tensor is not None:
        return tensor
    found = walk(ckpt.root, name)
    if found is None:
        raise UnsupportedError(f"there is no {name!r:.200} in it", part=ckpt.content.source.name, hint=like(ckpt, name))
    return found[0] if isinstance(found[0], Tensor) else found


def _sliced(ckpt: Checkpoint, name: str) -> Tensor | None:
    base, bracket, inside = name.rpartition("[")
    if not bracket or not inside.endswith("]"):
        return None
    index = indices(inside[:-1])
    tensor = ckpt.tensors.get(base)
    if tensor is None:
        there = walk(ckpt.root, base)
        tensor = there[0] if there and isinstance(there[0], Tensor) else None
    if tensor is None:
        return None
    if index is None:
        raise UnsupportedError(f"[{inside[:-1]:.100}] is no slice of {base!r:.200}", hint="NumPy's are, such as [0:2,3]")
    try:
        return cut(tensor, index)
    except IndexError as error:
        raise UnsupportedError(f"{name}: {error}", hint=f"its shape is {list(tensor.shape)}") from None


def indices(text: str) -> tuple[Any, ...] | None:
    """``0:2,3,...`` as an index; None where it is none."""
    made: list[Any] = []
    for item in text.split(","):
        item = item.strip()
        bounds = [bound.strip() for bound in item.split(":")]
        if item == "...":
            made.append(Ellipsis)
        elif len(bounds) > 3 or not all(_integer(bound) or (not bound and len(bounds) > 1) for bound in bounds):
            return None
        elif len(bounds) == 1:
            made.append(int(item))
        else:
            made.append(slice(*(int(bound) if bound else None for bound in bounds)))
    return tuple(made)


def _integer(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) < 20


def cut(tensor: Tensor, index: tuple[Any, ...]) -> Tensor:
    """A slice as a tensor: a view of the same storage where that can be, else a copy. IndexError as NumPy has it."""
    from ..arrays import narrow

    if any(isinstance(item, slice) and item.step == 0 for item in index):
        raise IndexError("slice step cannot be zero")
    layout = tensor._sound()
    try:
        part = narrow(layout, index)
    except UnsupportedError:
        return held(tensor.numpy()[index], tensor)
    part.components = {}  # the scales of a quantised tensor are those of the whole
    return _named(part, tensor)


def held(array: Any, tensor: Tensor) -> Tensor:
    """An array as a tensor over its own bytes."""
    import numpy as np

    array = np.asarray(array)
    dtype = DTYPES.get(array.dtype.name)
    if dtype is None:
        raise UnsupportedError(f"a slice of {tensor.dtype} values", part=tensor.name)
    storage = Storage("slice", array.nbytes, dtype, "cpu", BytesSource(array.tobytes(), "slice").span)
    return _named(Layout(dtype, array.shape, contiguous(array.shape), 0, storage), tensor)


def _named(layout: Layout, tensor: Tensor) -> Tensor:
    """A tensor of ``layout`` under the name of ``tensor``."""
    made, path = Tensor(layout, tensor.limits), tensor.path
    made.name = tensor.name
    return made.place(tensor.name, path[:-1], path[-1]) if path else made


def walk(root: Any, path: str) -> tuple[Any] | None:
    """The value at a path, in a tuple; None for none. Every way to split the path into keys is tried, each place once."""
    todo: list[tuple[Any, str]] = [(root, path)]
    seen: set[tuple[int, str]] = set()
    if not path:
        return (root,)
    while todo:
        value, rest = todo.pop()
        if (id(value), rest) in seen:
            continue
        seen.add((id(value), rest))
        inside = value.components.items() if isinstance(value, Tensor) else children(value) or ()
        for key, item in inside:
            if key is HERE:
                todo.append((item, rest))
                continue
            name = piece(key)
            if rest == name:
                return (item,)
            if rest.startswith(name) and rest[len(name)] == ".":
                todo.append((item, rest[len(name) + 1 :]))
    return None


def like(ckpt: Checkpoint, name: str) -> str:
    """Did you mean …?"""
    below = sum(known.startswith(f"{name}.") for known in ckpt.tensors)
    if below:
        return f"it is the beginning of {counted(below, 'name')}: inert ls FILE {printable(name)!r} lists them"
    found = near(name, ckpt.tensors, _keys(ckpt.root))
    if found:
        return f"did you mean {', '.join(repr(printable(known)) for known in found)}?"
    first = [*islice(_keys(ckpt.root), 5)] or [*islice(ckpt.tensors, 5)]
    return f"there is {', '.join(repr(printable(known)) for known in first)} …" if first else "the saved object holds nothing"


def _keys(root: Any) -> Iterable[str]:
    return (piece(key) for key, _ in islice(children(root) or (), CANDIDATES) if key is not HERE)


# -- elements -------------------------------------------------------------------------------------------------------------


def elements(tensor: Tensor, full: bool = False) -> dict[str, Any]:
    """``values``: nested lists of the elements; of a large tensor a corner, and ``values_of`` says which, unless ``full``."""
    size = prod(tensor.shape)
    if full and size > MANY:
        raise LimitError(f"{size:,} elements are too many to write out", hint="write them with --npy, or take a slice")
    if size <= FEW or full:
        return {"values": nested(tensor)}
    index = corner(tensor)
    return {"values": nested(cut(tensor, index)), "values_of": f"[{','.join(f'0:{part.stop}' for part in index)}]"}


def corner(tensor: Tensor) -> tuple[slice, ...]:
    """The index of the first elements of each dimension, about CORNER in all."""
    edge = max(1, int(CORNER ** (1 / len(tensor.shape))))
    return tuple(slice(0, min(edge, length)) for length in tensor.shape)


def nested(tensor: Tensor) -> Any:
    """The elements as nested lists: numbers, booleans, texts; NaN, infinities and complex numbers as texts."""
    array = array_of(tensor)
    kind = array.dtype.kind
    if kind in "biu":
        return array.tolist()
    if kind in "fc":
        return _spelled(array.tolist())
    return plain(dates(array).tolist() if kind in "Mm" else array.tolist(), nodes=NODES)


def dates(array: Any) -> Any:
    """NumPy dates and durations as texts; their numbers where they have no unit, which NumPy itself has no text for."""
    try:
        return array.astype(str)
    except ValueError:
        return array.view("i8")


def array_of(tensor: Tensor) -> Any:
    """The elements as an array of NumPy's own types: bfloat16 and float8 widened, complex32 as complex64."""
    from ..stats import numbers

    dtype = tensor.dtype
    if dtype.kind == "c" and not dtype.numpy:
        return numbers(b"".join(tensor.chunks()), dtype).reshape(tensor.shape)
    return numbers(tensor.numpy(), dtype)


def _spelled(value: Any) -> Any:
    """Nested lists (at most as deep as a tensor has dimensions) with every number as JSON can hold it."""
    if isinstance(value, list):
        return [_spelled(item) for item in value]
    return _number(value)
