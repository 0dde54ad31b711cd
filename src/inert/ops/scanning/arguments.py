"""Calls that are harmless with the arguments that picklers give them, and are not with others.

Knows: tensors, storages and arrays that take an address or objects out of numbers and bytes; element types of NumPy that lie about what
they hold; times of pandas that open the file of a time zone; which functions call what stands in their arguments.
Refuses to know: what single names do (inert.policy), and calls that are dangerous whatever they are given.

Facts, each seen to happen: torch 2.13 torch/csrc/utils/tensor_new.cpp (``cdata``), torch/csrc/Storage.cpp (``allocator``): an address that
is used as it stands; NumPy 2.4 multiarray/arrayobject.c (array_new takes objects from a buffer), descriptor.c (arraydescr_setstate believes
the flags, sizes and offsets it is given); pandas 3.1 tslibs/timezones.pyx (maybe_get_tz hands "dateutil/…" to dateutil.tz.gettz, which
opens that path).
"""

from __future__ import annotations

from itertools import islice
from re import compile as pattern

from ...pickle.nodes import ByteString, Call, Dict, Global
from ...torch.arguments import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Arguments = tuple[Any, ...]
    Spans = list[tuple[int, int, bool]]  # of each field: begin, end, whether it may hold objects

TORCH = frozenset(("torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse", "torch.storage", "torch._C", "torch.tensor"))
POINTED = pattern(r"\w*(?:Storage|Tensor|TensorBase)\Z")  # of torch's names: what has a constructor in C++
PARAMETERS = frozenset(("data", "device", "dtype", "requires_grad"))  # keywords that are values
ARRAYS = frozenset((("numpy", "ndarray"), ("numpy", "recarray"), ("numpy", "matrix"), ("numpy.matrixlib.defmatrix", "matrix")))
SHAPED = 2  # arguments of an array: shape and element type; what follows is memory
PANDAS = frozenset(
    ("DataFrame", "Series", "Index", "DatetimeIndex", "MultiIndex", "RangeIndex", "Timestamp", "Categorical", "CategoricalDtype")
)
DTYPE = ("numpy", "dtype")
PLAIN = pattern(r"[|<>=]?([biufcVSUaMmO?])([0-9]{0,9})(?:\[.{0,10}\])?\Z")
RECORD = frozenset((("numpy", "record"), ("numpy", "void"), ("numpy.core.records", "record"), ("numpy._core.records", "record")))
OBJECT, SIZED = ("O", ""), ("S", "U", "a", "V", "O")  # letters of what may be objects, and of what has its size in its state
HUGE = 1 << 62
OBJECTS = 3  # flags of an element type: it holds objects, and its arrays are pickled as lists of them
MOST = 64  # arguments and keywords that are looked at, and dimensions: no writer gives more, and one tuple may serve many calls

ADDRESS = "is given an address of memory"
MEMORY = "is given the memory of an array, whose bytes it may take for objects"
HIDDEN = "is given arguments that are made while loading"
LIES = "an element type says that it holds other bytes than it does, so that bytes of the file are taken for objects or addresses"
ZONE = "is given a time zone or element type as a text, which may be the path of a file to open"


def odd(call: Call, pair: tuple[str, str], known: dict[int, Spans]) -> str:
    """What is wrong with the arguments of a call of the name ``pair``; "" where nothing is. ``known``: records that were looked at."""
    if pair == DTYPE:
        return LIES if call.states and lies(call, known) else ""
    arguments = call.arguments
    if type(arguments) is not tuple:  # tuple(…), which makes them while loading
        return f"{'.'.join(pair)} {HIDDEN}" if type(arguments) is Call and (pair in CALLERS or watched(pair)) else ""
    for function, given, keywords in _through(pair, arguments, call.keywords):
        said = _odd(function, given, keywords)
        if said:
            return f"{'.'.join(function)} {said}"
    return ""


def _through(pair: tuple[str, str], arguments: Arguments, keywords: Any) -> Iterator[tuple[tuple[str, str], Arguments, Any]]:
    """The call itself, and those that it makes of its arguments."""
    yield pair, arguments, keywords
    inner = CALLERS.get(pair)
    if inner is not None and arguments and type(arguments[0]) is Global:
        given, more = inner(arguments)
        yield arguments[0].imported, given, more


def _rebuilt(arguments: Arguments) -> tuple[Arguments, Any]:  # (function, class, arguments, state), of old the last two only
    return next((value for value in arguments[1:4] if type(value) is tuple), ()), None


def _keyed(arguments: Arguments) -> tuple[Arguments, Any]:  # (class, keywords)
    return (), arguments[1] if len(arguments) > 1 else None


CALLERS: dict[tuple[str, str], Callable[[Arguments], tuple[Arguments, Any]]] = {
    ("torch._tensor", "_rebuild_from_type"): _rebuilt,
    ("torch._tensor", "_rebuild_from_type_v2"): _rebuilt,
    ("torch.tensor", "_rebuild_from_type"): _rebuilt,
    ("copyreg", "__newobj__"): lambda arguments: (arguments[1 : MOST + 1], None),
    ("copyreg", "__newobj_ex__"): lambda arguments: (
        arguments[1] if len(arguments) > 1 and type(arguments[1]) is tuple else (),
        arguments[2] if len(arguments) > 2 else None,
    ),
    ("pandas.core.indexes.base", "_new_Index"): _keyed,
    ("pandas.core.indexes.datetimes", "_new_DatetimeIndex"): _keyed,
}


def watched(pair: tuple[str, str]) -> bool:
    """Whether the arguments of a name matter."""
    module, name = pair
    return (
        pair in ARRAYS or (module in TORCH and POINTED.match(name) is not None) or (name in PANDAS and module.split(".", 1)[0] == "pandas")
    )


def _odd(pair: tuple[str, str], arguments: Arguments, keywords: Any) -> str:
    module, name = pair
    if pair in ARRAYS:
        return MEMORY if len(arguments) > SHAPED or _keys(keywords) else ""
    if module in TORCH and POINTED.match(name):
        return ADDRESS if not _keys(keywords) <= PARAMETERS else ""
    if name in PANDAS and module.split(".", 1)[0] == "pandas":
        return ZONE if any(_texts(value) for value in _settings(arguments, keywords)) else ""
    return ""


def _keys(keywords: Any) -> set[str]:
    """The keywords of a call; one that is not written down is "?"."""
    if keywords is None:
        return set()
    if type(keywords) is not Dict or len(keywords.flat) > 2 * MOST:
        return {"?"}
    return {key if type(key) is str else "?" for key in map(text, keywords.flat[::2])}


def _settings(arguments: Arguments, keywords: Any) -> Iterator[Any]:
    """What may be an element type or a time zone."""
    yield from arguments[1:MOST]
    if type(keywords) is Dict:
        for key, value in islice(keywords.pairs(), MOST):
            if text(key) not in ("name", "names", "data"):
                yield value


def _texts(value: Any) -> bool:
    """Whether a value is a text that may hold a path, or made while loading of who knows what."""
    said = text(value)
    if type(said) is str:
        return "/" in said or "\\" in said
    return type(value) is Call and (value.dotted.startswith(("builtins.", "_codecs.", "numpy.str")) or not value.dotted)


# -- element types of NumPy ---------------------------------------------------------------------------------------------------


def lies(call: Call, known: dict[int, Spans]) -> bool:
    """Whether the state of an element type differs from what it is made of: NumPy believes it."""
    state = call.states[-1]
    if len(call.states) > 1 or type(state) is not tuple or len(state) < 7:
        return True
    kind, size = _made(call)
    length, flags = state[5], state[7] if len(state) > 7 else None
    if type(length) is not int or (flags is not None and type(flags) is not int):
        return True
    if flags is not None and kind in OBJECT and flags & OBJECTS != OBJECTS:
        return True
    if length >= 0 and size >= 0 and length != size and kind in SIZED:
        return True
    if state[2] is None and state[4] is None:
        return length < 0 and kind in SIZED and length != -1
    spans = [*_part(state[2]), *_fields(state[4], known)]
    size = length if size < 0 else size
    if any(start < 0 or end < start or end > size for start, end, _ in spans):
        return True
    if not any(objects for _, _, objects in spans):
        return False
    return (flags is not None and flags & OBJECTS != OBJECTS) or _overlap(spans)


def _made(call: Any) -> tuple[str, int]:
    """(letter, bytes) of an element type as it is made, before any state: ("V", -1) for records, ("", -1) for what is not known."""
    if type(call) is not Call or call.dotted != "numpy.dtype" or type(call.arguments) is not tuple or not call.arguments:
        return "", -1
    first = call.arguments[0]
    if type(first) is Global:
        known = "V" if first.imported in RECORD else "?" if first.module == "ml_dtypes" else ""
        return known, -1
    said = first.decode("latin-1") if isinstance(first, ByteString) else first
    found = PLAIN.match(said) if type(said) is str else None
    if found is None:
        return ("?" if type(said) is str and said.startswith(("bfloat16", "float8", "int4", "uint4")) else ""), -1
    kind, digits = found[1], int(found[2] or (1 if found[1] == "?" else 8))
    return kind, digits * (4 if kind == "U" else 1)


def _size(call: Any) -> tuple[int, bool]:
    """(bytes, whether it holds objects) of the element type of a field; -1 where it is not known. What its own state says is looked at
    where it is made."""
    kind, size = _made(call)
    state = call.states[-1] if type(call) is Call and call.states else ()
    if type(state) is tuple and len(state) > 5 and size < 0 and type(state[5]) is int:
        size = state[5]
    flags = state[7] if type(state) is tuple and len(state) > 7 and type(state[7]) is int else 0
    return size, kind in OBJECT or bool(flags & 1)


def _part(part: Any) -> Spans:
    """Begin and end of a sub-array; an end before its begin where it is none."""
    if part is None:
        return []
    if type(part) is not tuple or len(part) != 2:
        return [(0, -1, True)]
    length, objects = _size(part[0])
    counts = part[1] if type(part[1]) is tuple else (part[1],)
    if len(counts) > MOST or any(type(count) is not int or not 0 <= count < HUGE for count in counts):
        return [(0, -1, True)]
    for count in counts:
        length = min(length * count, HUGE)
    return [(0, length, objects)]


def _fields(fields: Any, known: dict[int, Spans]) -> Spans:
    """The same of the fields of a record, in order, each once: one with a title stands under that too."""
    if fields is None:
        return []
    spans = known.get(id(fields))
    if spans is None:
        found = {_field(value) for value in fields.flat[1::2]} if type(fields) is Dict else {(0, -1, True)}
        spans = known[id(fields)] = sorted(found)
    return spans


def _field(value: Any) -> tuple[int, int, bool]:
    if type(value) is not tuple or len(value) < 2 or type(value[1]) is not int:
        return 0, -1, True
    length, objects = _size(value[0])
    return value[1], value[1] + length, objects


def _overlap(spans: Spans) -> bool:
    """Whether something shares bytes with an object."""
    last, object_to = 0, 0
    for start, end, objects in spans:
        if start < object_to or (objects and start < last):
            return True
        last = max(last, end)
        object_to = max(object_to, end) if objects else object_to
    return False
