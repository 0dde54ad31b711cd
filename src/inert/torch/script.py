"""TorchScript: what the C++ pickler of torch.jit.save writes otherwise than torch.save does.

Knows: tensors as ``module.state_dict()`` gives them (detached), tensors that stand in a table of model.json (torch 1.0 to 1.3), and how
that table spells element types.
Refuses to know: TorchScript's own language. ``code/`` is never parsed, so parameters and buffers are not told apart by their class's lists:
a tensor that wants gradients is called a parameter, and what a module holds is named by its attribute either way.

Facts: torch 2.13 torch/csrc/jit/serialization (pickler.cpp, unpickler.cpp, import_legacy.cpp); caffe2/proto/torch.proto and caffe2.proto as
of torch 1.2 for model.json.
"""

from __future__ import annotations

from ..dtypes import DTYPES, DType
from ..layout import Layout, Storage
from ..tensor import Tensor
from .arguments import Odd
from .build import Builder
from .objects import Plan
from .rebuild import Rebuilder
from .values import argument

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..pickle.nodes import Call
    from ..source import Span
    from .persistent import Storages

PARAMETER = "torch.nn.parameter.Parameter"

# A tensor by its number in the table of model.json; the second name is what torch 1.1 wrote.
FROM_TABLE = frozenset(("torch.jit._pickle.build_tensor_from_id", "__main__.TensorID"))
LISTS = frozenset(("__main__.IntList",))  # torch 1.1; later torch.jit._pickle.build_intlist, which values.py knows

# caffe2's names of element types, which model.json uses
CAFFE2_TYPES: dict[str, DType] = {
    "FLOAT": DTYPES["float32"], "DOUBLE": DTYPES["float64"], "FLOAT16": DTYPES["float16"], "BFLOAT16": DTYPES["bfloat16"],
    "INT64": DTYPES["int64"], "INT32": DTYPES["int32"], "INT16": DTYPES["int16"], "INT8": DTYPES["int8"], "UINT8": DTYPES["uint8"],
    "BYTE": DTYPES["uint8"], "BOOL": DTYPES["bool"],
}  # fmt: skip
QUANTIZED = {"uint8": DTYPES["quint8"], "int8": DTYPES["qint8"], "int32": DTYPES["qint32"]}


def detach(layout: Layout) -> Layout:
    """The layout as state_dict() gives the tensor: wanting no gradients. That it wanted them is kept as its type."""
    if layout.requires_grad:
        layout.requires_grad = False
        layout.type = layout.type or PARAMETER
    return layout


def tensor_of(layout: Layout, limits: Limits, convert: Any = None) -> Any:
    """The detached tensor, or what stands in its place."""
    tensor = Tensor(detach(layout), limits)
    return convert(tensor) if convert else tensor


class ScriptBuilder(Builder):
    """Builds the values of a pickle of torch.jit.save. ``table``: the tensors that ``build_tensor_from_id`` means."""

    def __init__(
        self, document: Document, storages: Storages, limits: Limits, convert: Any = None, table: list[Layout] | None = None
    ) -> None:
        super().__init__(document, storages, limits, convert)
        self.table = table or []

    def _call(self, call: Call) -> Plan | None:
        if call.dotted in FROM_TABLE:
            number = argument(call)
            if type(number) is int and 0 <= number < len(self.table):
                self.done[id(call)] = self._made(self.table[number])
                return None
            return self._inert(call, Odd(f"no tensor {number!r:.40} in a table of {len(self.table)}"))
        if call.dotted in LISTS:
            inner = argument(call)
            return Plan([inner], lambda get: get(inner))
        return super()._call(call)

    def _made(self, layout: Layout) -> Any:
        return super()._made(detach(layout))


class Table:
    """The tensors of model.json. Records that several tensors name are one Storage; ``size`` and ``opener`` are asked by record name."""

    def __init__(self, size: Callable[[str], int | None], opener: Callable[[str], Span], order: str, limits: Limits) -> None:
        self.size = size
        self.opener = opener
        self.order = order
        self.rebuild = Rebuilder(None, limits)  # type: ignore[arg-type]  # used for its geometry alone, which asks for no storages
        self.known: dict[str, Storage] = {}

    def layouts(self, rows: Any) -> list[Layout]:
        return [self._layout(row if isinstance(row, dict) else {}) for row in rows] if isinstance(rows, list) else []

    def _layout(self, row: dict[str, Any]) -> Layout:
        dtype = CAFFE2_TYPES.get(str(row.get("dataType", "FLOAT")))
        data = row.get("data")
        key = data.get("key") if isinstance(data, dict) else None
        try:
            if dtype is None or not isinstance(key, str):
                raise Odd("its element type or its record is missing in model.json")
            quantized = row.get("isQuantized") is True
            dtype = QUANTIZED.get(dtype, dtype) if quantized else dtype
            sizes, strides = _numbers(row.get("dims")), _numbers(row.get("strides"))
            layout = self.rebuild.strided(self._storage(key, dtype, row), dtype, _number(row.get("offset", 0)), sizes, strides)
        except Odd as odd:
            layout = Layout(dtype or DTYPES["uint8"], (0,), (1,), 0, None)
            layout.fault = str(odd)
            return layout
        if quantized and dtype.kind == "q":
            layout.kind = "quantized"
            scale = row.get("scale", 1.0)
            layout.quantization = {
                "scheme": "per_tensor_affine",
                "scale": scale if isinstance(scale, (int, float)) else 1.0,
                "zero_point": _number(row.get("zeroPoint", 0)),
            }
        layout.requires_grad = row.get("requiresGrad") is True
        return layout

    def _storage(self, key: str, dtype: DType, row: dict[str, Any]) -> Storage:
        known = self.known.get(key)
        if known is None:
            there = self.size(key)
            known = Storage(key, there or 0, dtype, str(row.get("device", "cpu")), lambda: self.opener(key))
            known.order = self.order
            if there is None:
                known.fault = f"its storage {key} is not in the file"
            self.known[key] = known
        return known


def _number(value: Any) -> int:
    """proto3 writes 64-bit numbers into JSON as texts."""
    if isinstance(value, str) and len(value) < 20 and value.lstrip("-").isdecimal():
        value = int(value)
    if type(value) is not int:
        raise Odd("a size, stride or offset of model.json is no number")
    return value


def _numbers(values: Any) -> tuple[int, ...]:
    if values is None:
        return ()  # proto3 leaves out what is empty
    if not isinstance(values, list) or len(values) > 1024:
        raise Odd("sizes or strides of model.json are no list of numbers")
    return tuple(map(_number, values))


def module_tree(model: Any, table: list[Layout], values: list[Any], made: Callable[[Layout], Any]) -> tuple[dict[str, Any], list[str]]:
    """The main module of model.json as dicts of parameters, buffers, attributes and submodules, and what was odd about it.

    ``values``: those of attributes.pkl. Iterative: modules wait on a list until their dict is there."""
    root: dict[str, Any] = {}
    odd: list[str] = []
    main = model.get("mainModule") if isinstance(model, dict) else None
    todo: list[tuple[dict[str, Any], Any]] = [(root, main)]
    while todo:
        into, definition = todo.pop()
        if not isinstance(definition, dict):
            odd.append("a module of model.json is no object")
            continue
        for row in _rows(definition, "parameters"):
            _place(into, row, "tensorId", table, made, odd)
        for row in _rows(definition, "attributes"):
            if str(row.get("name")) not in into:
                _place(into, row, "id", values, lambda value: value, odd)
        for row in _rows(definition, "submodules"):
            below: dict[str, Any] = {}
            into[str(row.get("name", ""))] = below
            todo.append((below, row))
    return root, odd[:100]


def _rows(definition: dict[str, Any], key: str) -> list[dict[str, Any]]:
    rows = definition.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _place(into: dict[str, Any], row: dict[str, Any], key: str, table: list[Any], made: Callable[[Any], Any], odd: list[str]) -> None:
    name = str(row.get("name", ""))
    try:
        number = _number(row.get(key, 0))
    except Odd:
        number = -2
    if 0 <= number < len(table):
        into[name] = made(table[number])
    elif number == -1:
        into[name] = None  # torch: set by __setstate__
    else:
        odd.append(f"{name[:80]!r} is number {number} of a table of {len(table)}")
