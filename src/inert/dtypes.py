"""The dtype table: every element type of every container, one row each.

Knows: canonical name, bits of one value, bytes of one stored item, how many values an item packs, and what NumPy calls it.
Refuses to know: NumPy itself (imported by whoever asks for an array), and how a format spells a type (a spelling table per format).

Facts: torch 2.13 (c10/core/ScalarType.h: names and item sizes), TensorFlow 2.21 (types.proto), ml_dtypes 0.5 (what NumPy can hold).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class DType(str):
    """An element type; its text is its name, so that ``t.dtype == "bfloat16"`` holds.

    ``bits`` of one value · ``itemsize`` bytes of one stored item (0: no fixed size) · ``packed`` values in one item · ``kind``: b bool,
    i u integers, f float, c complex, q quantised, x bits without meaning, s text, o opaque · ``numpy``: NumPy's or ml_dtypes' name, "" for
    none · ``counts_items``: a shape counts items, not values (torch's float4_e2m1fn_x2, bits types) · ``canonical``: name of one value.
    """

    __slots__ = ("_array_type", "bits", "canonical", "counts_items", "itemsize", "kind", "numpy", "packed")
    bits: int
    itemsize: int
    packed: int
    kind: str
    numpy: str
    canonical: str
    counts_items: bool
    _array_type: Any

    @classmethod
    def of(cls, name: str, bits: int, kind: str, numpy: str, packed: int = 1, canonical: str = "", counts_items: bool = False) -> DType:
        made = cls(name)
        made._array_type = None
        made.bits = bits
        made.packed = packed
        made.itemsize = bits * packed // 8
        made.kind = kind
        made.numpy = numpy
        made.canonical = canonical or name
        made.counts_items = counts_items
        return made

    @property
    def unit(self) -> int:
        """Bytes of one real number in an item: what a change of byte order reverses (half an item for complex types)."""
        return self.itemsize // 2 if self.kind == "c" else self.itemsize

    @property
    def padded(self) -> bool:
        """Whether each value takes more bits than it has: TensorFlow's small types, one in a byte."""
        return self.itemsize * 8 > self.bits * self.packed

    def array_type(self) -> Any:
        """The NumPy dtype of one stored item. UnsupportedError where NumPy and ml_dtypes have none."""
        known = self._array_type
        if known is not None:
            return known
        if not self.numpy:
            from .errors import UnsupportedError

            raise UnsupportedError(f"NumPy has no {self}", hint="t.chunks() and t.sha256() give its bytes; t.torch() a torch tensor")
        import numpy as np

        try:
            made = np.dtype(self.numpy)
        except (TypeError, ValueError):
            import ml_dtypes

            if not hasattr(ml_dtypes, self.numpy):  # a long double of another machine, a text that is too long
                from .errors import UnsupportedError

                raise UnsupportedError(f"NumPy has no {self} here", hint="t.chunks() and t.sha256() give its bytes") from None
            made = np.dtype(getattr(ml_dtypes, self.numpy))
        self._array_type = made
        return made


_ROWS = """
float16 16 f float16|float32 32 f float32|float64 64 f float64|bfloat16 16 f bfloat16
float8_e4m3fn 8 f float8_e4m3fn|float8_e5m2 8 f float8_e5m2|float8_e4m3fnuz 8 f float8_e4m3fnuz|float8_e5m2fnuz 8 f float8_e5m2fnuz
float8_e8m0fnu 8 f float8_e8m0fnu|float8_e4m3b11fnuz 8 f float8_e4m3b11fnuz
int8 8 i int8|int16 16 i int16|int32 32 i int32|int64 64 i int64|uint8 8 u uint8|uint16 16 u uint16|uint32 32 u uint32|uint64 64 u uint64
bool 8 b bool|complex32 32 c -|bcomplex32 32 c -|complex64 64 c complex64|complex128 128 c complex128
qint8 8 q int8|quint8 8 q uint8|qint16 16 q int16|quint16 16 q uint16|qint32 32 q int32
bits8 8 x uint8|bits16 16 x uint16
"""
_PACKED = (  # name, bits of a value, kind, numpy of an item, values an item, canonical, shape counts items
    ("quint4x2", 4, "q", "uint8", 2, "", False),
    ("quint2x4", 2, "q", "uint8", 4, "", False),
    ("float4_e2m1fn_x2", 4, "f", "uint8", 2, "float4_e2m1fn", True),
    ("float4_e2m1fn", 4, "f", "uint8", 2, "", False),  # where a shape counts the values and no torch shape can say that
    ("float6_e2m3fn", 6, "f", "", 4, "", False),  # safetensors: a stream of bits, four values in three bytes
    ("float6_e3m2fn", 6, "f", "", 4, "", False),
    ("bits1x8", 1, "x", "uint8", 8, "", True),
    ("bits2x4", 2, "x", "uint8", 4, "", True),
    ("bits4x2", 4, "x", "uint8", 2, "", True),
)
_ONE_A_BYTE = (("int4", 4, "i"), ("uint4", 4, "u"), ("int2", 2, "i"), ("uint2", 2, "u"))  # TensorFlow: one value in each byte


def _table() -> dict[str, DType]:
    table = {}
    for row in _ROWS.replace("\n", "|").strip("|").split("|"):
        name, bits, kind, numpy = row.split()
        table[name] = DType.of(name, int(bits), kind, numpy.strip("-"))
    for name, size, kind, numpy, packed, canonical, counts in _PACKED:
        table[name] = DType.of(name, size, kind, numpy, packed, canonical, counts)
    for name, size, kind in _ONE_A_BYTE:
        table[name] = DType.of(name, size, kind, name)
        table[name].itemsize = 1
    for name, kind in (("string", "s"), ("variant", "o"), ("resource", "o")):
        table[name] = DType.of(name, 0, kind, "object" if kind == "s" else "")
    return table


DTYPES = _table()
FLOAT4_BYTE = DType.of("float4_e2m1fn", 4, "f", "float4_e2m1fn")  # TensorFlow's, of the same name: one value in each byte
FLOAT4_BYTE.itemsize = 1


def foreign(name: str, itemsize: int) -> DType:
    """A NumPy type outside the table (text, dates, records), known by NumPy's own name."""
    return DType.of(name, itemsize * 8, "s", name)
