"""Arrays whose bytes stand raw between a pickle's opcodes: what joblib.dump has written since 0.10.

Knows: the wrapper object that says shape, order and dtype, however it is made, the padding behind it, and how many bytes follow; an array
of Python objects follows as a pickle of its own. ``Joblib`` is what the machine asks after each BUILD.
Refuses to know: files; those of joblib before 0.10 (.npy, .z) are for companions.py.

Facts: joblib 1.5 joblib/numpy_pickle.py (NumpyArrayWrapper.write_array, read_array; NumpyUnpickler.load_build: any object of
these classes is read by, after each BUILD).
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

ARRAY, FILE, PACKED = "array", "file", "packed file"
WRAPPERS = {"NumpyArrayWrapper": ARRAY, "NDArrayWrapper": FILE, "ZNDArrayWrapper": PACKED}  # class → where the array's bytes are
HOME = "joblib"  # some part of the class's path: sklearn has had a copy, and modules hold each other
GETTERS = frozenset(("builtins.getattr", "operator.attrgetter", "_operator.attrgetter"))
GIVERS = "torch.jit._pickle."  # its functions give back what they are given
CHAIN = 8  # calls of what a call gave
LOOKED = 8  # arguments that may be the class: those who make objects take it first or second
HAS_OBJECTS = 0x01  # NPY_ITEM_REFCOUNT of a dtype's flags


class Joblib:
    """Steps over the raw bytes behind each wrapper. ``base``: offset in ``source`` of the data that the machine reads; ``first``: where
    the first such bytes begin, which a plain unpickler would take for opcodes (-1: nowhere)."""

    def __init__(self, source: Source, base: int = 0) -> None:
        self.source = source
        self.base = base
        self.first = -1

    def __call__(self, machine: Machine, call: Call, position: int) -> int:
        kind = wrapper(call)
        if not kind:
            return position
        if len(call.states) > 1 or call.dotted.startswith(GIVERS):
            said = "BUILD changes the wrapper of an array that was made before, and joblib reads another by it"
            machine.note("pickle-array-again", position - 1, said)
        if kind != ARRAY:
            return position
        if len(call.states) > 1:
            raise FormatError("an array follows, but its wrapper had one before", offset=position - 1)
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


def wrapper(call: Call) -> str:
    """Where the array is that an object of joblib's stands for, whoever makes the object: the class is called, or stands in the arguments
    of who calls it (_reconstructor in protocols 0 and 1, __newobj__, __new__ …), or is an attribute that is taken while loading. "" for
    any other call."""
    for _ in range(CHAIN):
        function, arguments = call.function, call.arguments
        if type(function) is Global:
            kind = _named(function)
            if kind:
                return kind
        if type(arguments) is tuple:
            for value in arguments[:LOOKED]:
                kind = _named(value) if type(value) is Global else ""
                if type(value) is str and type(function) is Global and function.dotted in GETTERS:
                    kind = WRAPPERS.get(value.rpartition(".")[2], "")
                if kind:
                    return kind
        if type(arguments) is tuple and arguments and type(arguments[0]) is Call and call.dotted.startswith(GIVERS):
            function = arguments[0]
        if type(function) is not Call:
            break
        call = function
    return ""


def _named(value: Global) -> str:
    if "ArrayWrapper" not in value.name or HOME not in value.module:
        return ""
    return next((kind for kind in map(WRAPPERS.get, value.name.split(".")) if kind), "")


def companion_of(call: Call) -> str:
    """ "npy" or "z" for a call that stands for an array in a file of its own; "" for any other."""
    return {FILE: "npy", PACKED: "z"}.get(wrapper(call), "")


def fields(call: Call) -> dict[str, Any]:
    """What the wrapper says of its array: joblib reads that once the first state is set. Odd where it is none that holds attributes."""
    state = call.states[0] if call.states else None
    parts = state if type(state) is tuple and len(state) == 2 else (state,)  # attributes, and those that are set one by one
    if any(type(part) is not Dict and (part is not None or len(parts) == 1) for part in parts):
        raise Odd("its wrapper says nothing of it")
    return {str(text(key)): value for part in parts if type(part) is Dict for key, value in part.pairs()}


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
    if len(call.states) > 1 and type(call.states[-1]) is not Raw and isinstance(call.states[-1], Node) and wrapper(call) == ARRAY:
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
