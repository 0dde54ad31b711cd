"""Tensors that a JSON table describes: what torch.export writes beside its programs.

Knows: tensor_meta of a payload config, and its numbering of element types.
Refuses to know: where records lie; a Storage is given for each.

Facts: torch 2.13 torch/_export/serde/schema.py (TensorMeta, ScalarType, Layout), torch/export/pt2_archive/_package.py.
"""

from __future__ import annotations

from ..dtypes import DTYPES, DType
from ..layout import Layout, Storage
from .arguments import Odd
from .rebuild import Rebuilder
from .script import PARAMETER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits

# schema.py's own numbers, which are not C10's
EXPORT_TYPES: dict[int, DType] = {
    number: DTYPES[name]
    for number, name in {
        1: "uint8", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 9: "complex32",
        10: "complex64", 11: "complex128", 12: "bool", 13: "bfloat16", 28: "uint16", 29: "float8_e4m3fn", 30: "float8_e5m2",
        31: "float8_e4m3fnuz", 32: "float8_e5m2fnuz", 33: "float8_e8m0fnu", 34: "uint32", 35: "uint64",
    }.items()
}  # fmt: skip
STRIDED = 7


def described(meta: Any, storage: Storage, parameter: bool, limits: Limits) -> Layout:
    """The layout that a tensor_meta describes; one with a fault where it makes no sense."""
    facts = meta if isinstance(meta, dict) else {}
    number = facts.get("dtype")
    dtype = EXPORT_TYPES.get(number) if type(number) is int else None
    try:
        if dtype is None:
            raise Odd(f"its element type {number!r:.40} is none that torch.export knows")
        if facts.get("layout") != STRIDED:
            raise Odd(f"its layout {facts.get('layout')!r:.40} is not the strided one")
        if storage.dtype is DTYPES["uint8"]:
            storage.dtype = dtype  # a record is bytes; the first tensor says of what
        shape, strides = _numbers(facts.get("sizes")), _numbers(facts.get("strides"))
        offset = _number(facts.get("storage_offset"))
        layout = Rebuilder(None, limits).strided(storage, dtype, offset, shape, strides)  # type: ignore[arg-type]  # geometry alone
    except Odd as odd:
        layout = Layout(dtype or DTYPES["uint8"], (0,), (1,), 0, None)
        layout.fault = str(odd)
        return layout
    layout.requires_grad = facts.get("requires_grad") is True
    layout.type = PARAMETER if parameter else ""
    layout.device = _device(facts.get("device"))
    return layout


def _number(value: Any) -> int:
    number = value.get("as_int") if isinstance(value, dict) else None
    if type(number) is not int:
        raise Odd("a size, stride or offset is no number")  # as_expr: a symbol, which no saved tensor has
    return number


def _numbers(values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or len(values) > 1024:
        raise Odd("its sizes or strides are no list of numbers")
    return tuple(map(_number, values))


def _device(said: Any) -> str:
    if not isinstance(said, dict):
        return "cpu"
    kind, index = said.get("type"), said.get("index")
    return f"{kind}:{index}" if type(index) is int else str(kind)
