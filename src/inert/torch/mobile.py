"""A module in a flatbuffer, as torch's lite interpreter reads it: IValues → plain values, with Tensors in place.

Knows: the schema's tables that hold values, types and storages.
Refuses to know: functions. Bytecode, operators and debug tables are not looked at; a function stands as None.

An IValue refers to others by number. Writers store what a value holds before the value; lists, dicts and objects may refer to anything all
the same (they are filled at the end), a tuple that refers to what comes later is noted.

Facts: torch 2.13 torch/csrc/jit/serialization/mobile_bytecode.fbs, flatbuffer_serializer.cpp. Field numbers are the schema's, in its order.
"""

from __future__ import annotations

from ..dtypes import DTYPES
from ..errors import FormatError
from ..layout import Layout, Storage
from ..pickle.nodes import Call, Global
from ..tensor import Tensor
from .arguments import Odd
from .keys import fill_dict
from .objects import Device, Object
from .rebuild import Rebuilder
from .script import tensor_of
from .storages import SCALAR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..containers.flatbuffer import Buffer, Table
    from ..limits import Limits
    from ..source import Span

# fields of the root table
BYTECODE_VERSION, EXTRA_FILES, STATE, IVALUES, STORAGES, TYPES, SOURCES, CONSTANTS, OPERATOR_VERSION = 0, 1, 3, 4, 6, 7, 8, 9, 10
KINDS = (
    "none", "int", "bool", "double", "complex", "tensor", "string", "list", "tuple", "dict", "object", "int list", "double list",
    "bool list", "device", "enum", "function",
)  # fmt: skip
INLINE = {"int": ("q", int), "bool": ("B", bool), "double": ("d", float)}
VECTORS = {"int list": ("q", int), "double list": ("d", float), "bool list": ("B", bool)}
SCHEMES = ("per_tensor_affine", "per_channel_affine", "per_tensor_symmetric", "per_channel_symmetric", "per_channel_affine_float_qparams")
ODD = 100  # odd things that are told


class Mobile:
    """The values of one flatbuffer. ``odd`` says what was strange; ``storages`` are made once each, so that tensors share them."""

    def __init__(self, buffer: Buffer, limits: Limits, convert: Any = None) -> None:
        self.buffer = buffer
        self.root = buffer.root()
        self.limits = limits
        self.convert = convert
        self.odd: list[str] = []
        self.spans = self._spans()
        self.storages: dict[int, Storage] = {}
        self.rebuild = Rebuilder(None, limits)  # type: ignore[arg-type]  # for its geometry alone, which asks for no storages
        self.types = [self._type(at) for at in self.root.places(TYPES)]
        self.values: list[Any] = []
        self.later: list[Callable[[], None]] = []
        self._ivalues()

    def state(self) -> Any:
        """The module."""
        return self.value(self.root.number(STATE, "I"))

    def constants(self) -> list[Any]:
        return [self.value(number) for number in self.root.numbers(CONSTANTS, "I")]

    def files(self, field: int) -> list[tuple[str, Span]]:
        """The files of a vector: name and content, not read."""
        tables = [self.buffer.table(at) for at in self.root.places(field)]
        return [(table.text(0), span) for table in tables if (span := table.span(1)) is not None]

    def value(self, number: int) -> Any:
        if number < len(self.values):
            return self.values[number]
        self._note(f"value {number} of {len(self.values)} is asked for")
        return None

    def _note(self, text: str) -> None:
        if len(self.odd) < ODD:
            self.odd.append(text)

    def _spans(self) -> list[Span | None]:
        return [self.buffer.table(at).span(0) for at in self.root.places(STORAGES)]

    def _type(self, at: int) -> tuple[str, list[str]]:
        """A class: its qualified name and its attributes, where it has no state of its own."""
        table = self.buffer.table(at)
        return table.text(0), [self.buffer.text(place) for place in table.places(2)]

    def _ivalues(self) -> None:
        for at in self.root.places(IVALUES):
            table = self.buffer.table(at)
            kind = table.number(0, "B")
            name = KINDS[kind] if kind < len(KINDS) else "unknown"
            self.values.append(self._make(name, table.target(1)))
        for fill in self.later:
            fill()

    def _make(self, kind: str, at: int) -> Any:
        if kind in ("none", "function") or not at:
            return None
        if kind in INLINE:
            form, make = INLINE[kind]
            return make(self._inline(at, form))
        if kind == "complex":
            return complex(self._inline(at, "d"), self._inline(at + 8, "d"))
        maker = MAKERS.get(kind)
        if maker is None:
            self._note(f"a value of {kind} kind")
            return None
        return maker(self, self.buffer.table(at))

    def _inline(self, at: int, form: str) -> Any:
        from struct import calcsize, unpack

        return unpack("<" + form, self.buffer.read(at, calcsize("<" + form)))[0]

    # -- one function for each kind of table ------------------------------------------------------------------------------------

    def _list(self, table: Table) -> Any:
        made: list[Any] = []
        numbers = table.numbers(0, "I")
        self.later.append(lambda: made.extend(map(self.value, numbers)))
        return made

    def _tuple(self, table: Table) -> Any:
        return tuple(map(self.value, table.numbers(0, "I")))

    def _dict(self, table: Table) -> Any:
        made: dict[Any, Any] = {}
        keys, values = table.numbers(0, "I"), table.numbers(1, "I")
        if len(keys) != len(values):
            self._note(f"a dict of {len(keys)} keys and {len(values)} values")

        def fill() -> None:
            pairs = list(zip(map(self.value, keys), map(self.value, values), strict=False))
            fill_dict(made, pairs, lambda value: value)

        self.later.append(fill)
        return made

    def _object(self, table: Table) -> Any:
        number = table.number(0, "I")
        name, attributes = self.types[number] if number < len(self.types) else ("", [])
        made = Object(_instance(name, table.at))
        state, numbers = table.number(1, "I"), table.numbers(2, "I")
        if numbers and len(numbers) != len(attributes):
            self._note(f"an object of {name[:80]!r} has {len(numbers)} attributes, its class {len(attributes)}")

        def fill() -> None:
            if table.place(2):
                made.state = dict(zip(attributes, map(self.value, numbers), strict=False))
            elif state:
                made.state = self.value(state)

        self.later.append(fill)
        return made

    def _enum(self, table: Table) -> Any:
        made = Object(_instance(table.text(0), table.at))
        made.arguments = self.value(table.number(1, "I"))
        return made

    def _tensor(self, table: Table) -> Any:
        return tensor_of(self._layout(table), self.limits, self.convert)

    # -- tensors ----------------------------------------------------------------------------------------------------------------

    def _layout(self, table: Table, depth: int = 0) -> Layout:
        """TensorMetadata: storage, ScalarType, offset, sizes, strides, requires_grad, quantisation."""
        code = table.number(1, "b")
        dtype = SCALAR_TYPES[code] if 0 <= code < len(SCALAR_TYPES) else None
        if dtype is None or depth > 1:
            layout = Layout(dtype or DTYPES["uint8"], (0,), (1,), 0, None)
            layout.fault = f"element type {code} is none that torch saves" if dtype is None else "scales that have scales"
            return layout
        storage = self._storage(table.number(0, "I"))
        if storage.dtype is DTYPES["uint8"]:
            storage.dtype = dtype  # a flatbuffer's storages are bytes; the first tensor says of what
        try:
            layout = self.rebuild.strided(
                storage, dtype, table.number(2, "i"), table.numbers(3, "i"), table.numbers(4, "i"), bool(table.number(5, "B"))
            )
        except Odd as odd:
            layout = Layout(dtype, (0,), (1,), 0, None)
            layout.fault = str(odd)
            return layout
        schema = table.table(6)
        if schema is not None:
            self._quantized(layout, schema, depth)
        return layout

    def _quantized(self, layout: Layout, schema: Table, depth: int) -> None:
        number = schema.number(0, "b")
        scheme = SCHEMES[number] if 0 <= number < len(SCHEMES) else "unknown"
        layout.kind = "quantized"
        scales, zeros = schema.table(3), schema.table(4)
        if scales is None or zeros is None:
            layout.quantization = {"scheme": scheme, "scale": schema.number(1, "d", 0.0), "zero_point": schema.number(2, "i")}
            return
        layout.quantization = {"scheme": scheme, "axis": schema.number(5, "i")}
        layout.components = {
            "scales": Tensor(self._layout(scales, depth + 1), self.limits),
            "zero_points": Tensor(self._layout(zeros, depth + 1), self.limits),
        }

    def _storage(self, number: int) -> Storage:
        known = self.storages.get(number)
        if known is None:
            span = self.spans[number] if number < len(self.spans) else None
            key = f"storage {number}"
            known = self.storages[number] = Storage(key, span.length if span else 0, DTYPES["uint8"], "cpu", lambda: _there(span, key))
            if span is None:
                known.fault = f"its storage {key} is not in the file"
        return known


MAKERS: dict[str, Callable[[Mobile, Table], Any]] = {
    "tensor": Mobile._tensor,
    "string": lambda mobile, table: table.text(0),
    "device": lambda mobile, table: Device(table.text(0)),
    "list": Mobile._list,
    "tuple": Mobile._tuple,
    "dict": Mobile._dict,
    "object": Mobile._object,
    "enum": Mobile._enum,
}
for _kind, (_form, _make) in VECTORS.items():
    MAKERS[_kind] = lambda mobile, table, form=_form, make=_make: list(map(make, table.numbers(0, form)))  # type: ignore[misc]


def _instance(qualified: str, offset: int) -> Call:
    """What a pickle would have asked for: an object of a class by its qualified name."""
    module, _, name = qualified.rpartition(".")
    return Call(Global(module, name, offset), (), offset, "NEWOBJ")


def _there(span: Span | None, key: str) -> Span:
    if span is None:
        raise FormatError(f"its storage {key} is not in the file", part=key)
    return span
