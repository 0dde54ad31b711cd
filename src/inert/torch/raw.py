"""Arrays whose bytes stand raw between a pickle's opcodes: what joblib.dump has written since 0.10.

Knows: the wrapper object that says shape, order and dtype, the padding behind it, and how many bytes follow; an array of Python objects
follows as a pickle of its own. ``Joblib`` is what the machine asks after each BUILD.
Refuses to know: files; those of joblib before 0.10 (.npy, .z) are for companions.py.

Facts: joblib 1.5 joblib/numpy_pickle.py (NumpyArrayWrapper.write_array, read_array).
"""

from __future__ import annotations

from ..errors import FormatError
from ..pickle.decode import Machine
from ..pickle.nodes import Call, Dict, Global, Node, Raw
from .arguments import Odd, integers, text
from .ndarray import dtype_text, item_type, laid_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..layout import Layout
    from ..limits import Limits
    from ..source import Source

HOMES = ("joblib", "sklearn.externals.joblib")
WRAPPERS = frozenset(f"{home}.numpy_pickle.NumpyArrayWrapper" for home in HOMES)
PLAIN = frozenset(f"{home}.numpy_pickle.NDArrayWrapper" for home in HOMES)
PACKED = frozenset(f"{home}.numpy_pickle.ZNDArrayWrapper" for home in HOMES)
RECONSTRUCTOR = "copyreg._reconstructor"  # protocols 0 and 1: the class stands in the arguments
HAS_OBJECTS = 0x01  # NPY_ITEM_REFCOUNT of a dtype's flags


class Joblib:
    """Steps over the raw bytes behind each wrapper. ``base``: offset in ``source`` of the data that the machine reads; ``first``: where
    the first such bytes begin, which a plain unpickler would take for opcodes (-1: nowhere)."""

    def __init__(self, source: Source, base: int = 0) -> None:
        self.source = source
        self.base = base
        self.first = -1

    def __call__(self, machine: Machine, call: Call, position: int) -> int:
        if call.dotted not in WRAPPERS:
            return position
        self.first = position if self.first < 0 else self.first
        try:
            facts = fields(call)
            if has_objects(facts.get("dtype")):
                return self._nested(machine, call, position)
            size = count(facts) * item_size(facts.get("dtype"))
        except Odd as error:
            raise FormatError(f"an array follows, but {error}", offset=position) from None
        if facts.get("numpy_array_alignment_bytes") is not None:
            position += 1 + machine.data[position]
        span = self.source.span(self.base + position, size)
        call.states = (*call.states, Raw(span, position))
        return position + size

    def _nested(self, machine: Machine, call: Call, position: int) -> int:
        """An array of objects: a pickle with a memo of its own, and none that follows raw inside."""
        inner = Machine(machine.data, machine.limits, shortcut=False)
        try:
            end = inner.run(position)
            inner.frame.leave(inner, end)
        finally:  # what it had asked for before a fault is known as well
            machine.made += inner.made
            machine.blobs += inner.blobs
            for code, at, odd in inner.odd:
                machine.note(code, at, odd)
        if not inner.stack:
            raise FormatError("STOP finds nothing on the stack", offset=end - 1)
        call.states = (*call.states, inner.stack[-1])
        return end


def companion_of(call: Call) -> str:
    """ "npy" or "z" for a call that stands for an array in a file of its own; "" for any other."""
    name = call.dotted
    if name == RECONSTRUCTOR and type(call.arguments) is tuple and call.arguments and type(call.arguments[0]) is Global:
        name = call.arguments[0].dotted
    return "npy" if name in PLAIN else "z" if name in PACKED else ""


def fields(call: Call) -> dict[str, Any]:
    """What the wrapper says of its array. Odd where its state is no dict."""
    state = call.states[0] if call.states else None
    if type(state) is not Dict:
        raise Odd("its wrapper says nothing of it")
    return {str(text(key)): value for key, value in state.pairs()}


def count(facts: dict[str, Any]) -> int:
    number = 1
    for size in integers(facts.get("shape")):
        number *= size
    if number < 0 or number.bit_length() > 63:
        raise Odd("its shape is negative or beyond 64 bits")
    return number


def _state(dtype: Any) -> tuple[Any, ...]:
    state = dtype.states[-1] if isinstance(dtype, Call) and dtype.states else ()
    return state if type(state) is tuple else ()


def has_objects(dtype: Any) -> bool:
    state = _state(dtype)
    flags = state[7] if len(state) > 7 else 0
    return dtype_text(dtype).endswith(("O", "O8")) or (type(flags) is int and bool(flags & HAS_OBJECTS))


def item_size(dtype: Any) -> int:
    """Bytes of one element; of a record too, whose size its state gives."""
    known = item_type(dtype_text(dtype))
    if known is not None:
        return known[0].itemsize
    state = _state(dtype)
    size = state[5] if len(state) > 6 and state[3] is not None else None
    if type(size) is not int or not 0 <= size < 1 << 31:
        raise Odd("its element type is none that NumPy has")
    return size


def nested_array(call: Call) -> Any:
    """The node of the array of objects that followed a wrapper as a pickle of its own, or None."""
    if call.dotted in WRAPPERS and len(call.states) > 1 and type(call.states[-1]) is not Raw and isinstance(call.states[-1], Node):
        return call.states[-1]
    return None


def raw_layout(call: Call, limits: Limits) -> Layout:
    """The Layout of a wrapper's array. Odd where nothing raw followed it, and for records."""
    facts, raw = fields(call), call.states[-1]
    known = item_type(dtype_text(facts.get("dtype")))
    if type(raw) is not Raw or known is None:
        raise Odd("an array of records" if type(raw) is Raw else "an array without its bytes")
    span, fortran = raw.span, text(facts.get("order")) == "F"
    return laid_out(f"numpy@{raw.offset}", known, integers(facts.get("shape")), fortran, span.length, lambda: span, limits)
