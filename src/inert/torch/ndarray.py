"""NumPy's objects in pickles: arrays, scalars, dtypes, in every spelling since Python 2.

Knows: ``_reconstruct`` with its state, ``_frombuffer``, ``scalar``, ``dtype``. An array becomes a Layout of kind "numpy".
Refuses to know: object arrays as numbers (their objects stay values), and any dtype text that is not in NumPy's plain grammar.

Facts: NumPy 2.4 numpy/_core/src/multiarray/methods.c (array_setstate), descriptor.c (arraydescr_setstate), numeric.py (_frombuffer).
"""

from __future__ import annotations

from re import compile as pattern

from ..dtypes import DTYPES, DType, foreign
from ..layout import Layout, Storage, contiguous
from ..pickle.nodes import ByteString, Call, Global, List
from ..source import BytesSource
from .arguments import Odd, integers, take

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..source import Span

ARRAYS = frozenset(f"numpy.{core}.multiarray._reconstruct" for core in ("core", "_core"))
BUFFERS = frozenset(f"numpy.{core}.numeric._frombuffer" for core in ("core", "_core"))
SCALARS = frozenset(f"numpy.{core}.multiarray.scalar" for core in ("core", "_core"))
DTYPE = "numpy.dtype"

_SIZED = r"[iu][1248]|f(?:2|4|8|12|16)|c(?:8|16|24|32)|V[0-9]{1,6}|[SUa][0-9]{1,9}"
_PLAIN = pattern(rf"[|<>=]?(?:{_SIZED}|[Mm]8(?:\[[0-9]{{0,6}}(?:[YMWDhms]|[munpfa]s)\])?|\?|O8?|b1)\Z")
_NAMES = {"f2": "float16", "f4": "float32", "f8": "float64", "b1": "bool", "?": "bool", "c8": "complex64", "c16": "complex128"}
_NAMES.update({f"{kind}{size}": f"{word}{size * 8}" for kind, word in (("i", "int"), ("u", "uint")) for size in (1, 2, 4, 8)})
_ML = {"bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "float8_e4m3b11fnuz"}


def raw_bytes(node: Any) -> bytes | None:
    """The bytes of a bytes, bytearray or Python 2 text, or of the latin-1 detour that protocol 2 takes; None for anything else."""
    if isinstance(node, (bytes, bytearray)):
        return bytes(node)
    if isinstance(node, Call) and node.dotted == "_codecs.encode" and type(node.arguments) is tuple and len(node.arguments) == 2:
        text, codec = node.arguments
        if type(text) is str and codec in ("latin1", "latin-1"):
            try:
                return text.encode("latin-1")
            except UnicodeEncodeError:
                return None
    if isinstance(node, Call) and node.dotted in ("builtins.bytes", "builtins.bytearray") and type(node.arguments) is tuple:
        return raw_bytes(node.arguments[0]) if len(node.arguments) == 1 else (b"" if not node.arguments else None)
    return None


def dtype_text(node: Any) -> str:
    """NumPy's text of a pickled dtype ("<f4", "|S5", "<M8[s]"), "O" for objects; "" for records and unknown ones."""
    if not isinstance(node, Call) or node.dotted != DTYPE or type(node.arguments) is not tuple or not node.arguments:
        return ""
    first = node.arguments[0]
    if type(first) is Global and first.module == "ml_dtypes" and first.name in _ML:
        return first.name
    name, order, unit = _plain(first), "", ""
    state = node.states[-1] if node.states else ()
    if type(state) is tuple and len(state) >= 2:
        order = _plain(state[1])
        if any(part is not None for part in state[2:4]):
            return ""  # a record or a sub-array
        if len(state) > 8 and name[:1] in "Mm":
            unit = _unit(state[8])
    if name in _ML:
        return name
    return plain_dtype((order if order in ("<", ">") else "") + name + unit)


def plain_dtype(text: str) -> str:
    """A dtype's text where it is in NumPy's plain grammar; "" for any other."""
    if not _PLAIN.match(text):
        return ""
    return text.replace("a", "S", 1) if text.lstrip("|<>=")[0] == "a" else text  # NumPy's old letter for bytes


def _plain(value: Any) -> str:
    if isinstance(value, ByteString):
        return value.decode("latin-1")
    return value if type(value) is str else ""


def _unit(metadata: Any) -> str:
    """[s], [25s] … from the (dict, (unit, count, …)) that a date dtype carries."""
    pair = metadata[1] if type(metadata) is tuple and len(metadata) == 2 else ()
    if type(pair) is not tuple or len(pair) < 2 or type(pair[1]) is not int:
        return ""
    data = raw_bytes(pair[0])  # protocol 2 takes its latin-1 detour here too
    raw = _plain(pair[0]) if data is None else data.decode("latin-1")
    return "" if raw in ("", "generic") else f"[{pair[1] if pair[1] != 1 else ''}{raw}]"


def item_type(text: str) -> tuple[DType, str] | None:
    """(element type, byte order) of a dtype's text; None where it is no plain type with a fixed size."""
    if text in _ML:
        return DTYPES[text], "little"
    order, name = ("big", text[1:]) if text[:1] == ">" else ("little", text.lstrip("|<="))
    known = _NAMES.get(name)
    if known:
        return DTYPES[known], order
    if not name or name[0] == "O":
        return None
    digits = name[1:].split("[")[0]
    size = int(digits) * (4 if name[0] == "U" else 1)
    return foreign(text, size), "little"  # NumPy keeps the order in the type's own text


def array_layout(call: Any, limits: Limits) -> Layout:
    """The Layout of a pickled array. Odd where its state is not an array's; object arrays and records are Odd too."""
    shape, dtype, fortran, data = array_state(call)
    known = item_type(dtype_text(dtype))
    raw = raw_bytes(data)
    if known is None or raw is None:
        raise Odd("an array of objects or records")
    return laid_out(f"numpy@{call.offset}", known, integers(shape), fortran, len(raw), BytesSource(raw, "numpy array").span, limits)


def laid_out(
    key: str, known: tuple[DType, str], sizes: tuple[int, ...], fortran: bool, nbytes: int, opener: Callable[[], Span], limits: Limits
) -> Layout:
    """The Layout of an array of ``sizes`` in C or Fortran order over the ``nbytes`` bytes that ``opener`` gives."""
    kind, order = known
    steps = tuple(reversed(contiguous(tuple(reversed(sizes))))) if fortran else contiguous(sizes)
    storage = Storage(key, nbytes, kind, "cpu", opener)
    storage.order = order
    layout = Layout(kind, sizes, steps, 0, storage)
    layout.kind = "numpy"
    count = 1
    for size in sizes:
        count *= size
    if min(sizes, default=0) < 0 or len(sizes) > limits.rank or count * kind.itemsize != nbytes:
        layout.fault = f"an array of shape {list(sizes)} over {nbytes:,} bytes"
    return layout


def array_state(call: Any) -> tuple[Any, Any, bool, Any]:
    """(shape, dtype, Fortran order, data) of a pickled array, as nodes. Odd where it is none."""
    if isinstance(call, Call) and call.dotted in ARRAYS and call.states:
        state = call.states[-1]
        if type(state) is tuple and len(state) in (4, 5):
            return state[-4], state[-3], bool(state[-2]), state[-1]
    if isinstance(call, Call) and call.dotted in BUFFERS and type(call.arguments) is tuple and len(call.arguments) >= 3:
        data, dtype, shape, *order = call.arguments
        return shape, dtype, _plain(order[0] if order else "C") == "F", data
    raise Odd("no array state")


def object_items(call: Any) -> list[Any] | None:
    """The nodes of an object array, or None."""
    try:
        data = array_state(call)[3]
    except Odd:
        return None
    return data.items if type(data) is List else None


def scalar(call: Call) -> Any:
    """A NumPy scalar of its own type. Odd where its bytes do not fit its dtype."""
    dtype, data = take(call.arguments, 1, 2)
    text, raw = dtype_text(dtype), raw_bytes(data)
    known = item_type(text)
    if known is None or raw is None or len(raw) != known[0].itemsize:
        raise Odd("a scalar whose bytes do not fit its dtype")
    import numpy as np

    kind = known[0].array_type() if text in _ML else np.dtype(text)
    return np.frombuffer(raw, kind)[0] if raw else kind.type()


def dtype_value(call: Call) -> Any:
    """A NumPy dtype. Odd for records and whatever is outside the plain grammar."""
    text = dtype_text(call)
    known = item_type(text)
    if known is None and text not in ("O", "|O", "O8", "|O8"):
        raise Odd("a record dtype")
    import numpy as np

    return known[0].array_type() if known and text in _ML else np.dtype(text)
