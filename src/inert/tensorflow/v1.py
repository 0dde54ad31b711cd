"""Checkpoints of TensorFlow's first version: what the messages in their table say.

Knows: SavedTensorSlices: the list of tensors with their slices, and a TensorProto's values, one typed list for each tensor: floats lie
there as they are (and are viewed in place), integers as varints, halfs and bfloat16 as varints of their bits, complex numbers in pairs.
Refuses to know: tables and files.

Facts: TensorFlow 2.21 saved_tensor_slice.proto, tensor.proto, saved_tensor_slice_util.h (which list each type uses).
"""

from __future__ import annotations

from ..containers.protowire import DELIMITED, FIXED32, FIXED64, VARINT, fields, text, varint
from ..errors import FormatError
from .messages import Header, dtype_of, extents, shape, version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..dtypes import DType
    from .messages import Extent

    Bytes = bytes | memoryview

# element type → (field of TensorProto, what a value is there: raw bytes of the element or its half, or a varint of it)
RAW, NUMBERS, TEXTS = "raw", "numbers", "texts"
LISTS: dict[str, tuple[int, str]] = {
    "float32": (5, RAW), "float64": (6, RAW), "complex64": (9, RAW), "complex128": (12, RAW), "string": (8, TEXTS), "int64": (10, NUMBERS),
    "bool": (11, NUMBERS), "float16": (13, NUMBERS), "bfloat16": (13, NUMBERS), "uint32": (16, NUMBERS), "uint64": (17, NUMBERS),
    **dict.fromkeys(("int32", "uint8", "int16", "int8", "uint16", "qint8", "quint8", "qint32", "qint16", "quint16"), (7, NUMBERS)),
}  # fmt: skip
CONTENT = 4  # tensor_content: the elements as they are; TensorFlow reads it, and its Saver never wrote it here
PIECE = 1 << 20  # bytes of varints that are taken apart at a time


class Saved:
    """One tensor of the list: ``slices`` as extents; ``fault``: why its shape can be none."""

    __slots__ = ("dtype", "fault", "name", "shape", "slices")

    def __init__(self) -> None:
        self.name = ""
        self.dtype = dtype_of(0)
        self.shape: tuple[int, ...] = ()
        self.fault = ""
        self.slices: list[tuple[Extent, ...]] = []


def meta(data: Bytes) -> tuple[list[Saved], Header]:
    """The tensors and the version of the entry under the empty key. FormatError where it is no SavedTensorSlices."""
    tensors: list[Saved] = []
    head = Header()
    for number, wire, value, end in fields(data):
        if (number, wire) == (1, DELIMITED):
            for inner, kind, start, stop in fields(data, value, end):
                if (inner, kind) == (1, DELIMITED):
                    tensors.append(_saved(data, start, stop))
                elif (inner, kind) == (2, DELIMITED):
                    version(data, start, stop, head)
        elif number == 1:
            raise FormatError("its first entry is that of a bundle")
    return tensors, head


def _saved(data: Bytes, start: int, end: int) -> Saved:
    made = Saved()
    for number, wire, value, stop in fields(data, start, end):
        if (number, wire) == (1, DELIMITED):
            made.name = text(data, value, stop)
        elif (number, wire) == (2, DELIMITED):
            made.shape, made.fault = shape(data, value, stop)
        elif (number, wire) == (3, VARINT):
            made.dtype = dtype_of(value)
        elif (number, wire) == (4, DELIMITED):
            made.slices.append(extents(data, value, stop))
    return made


def tensor_proto(data: Bytes, start: int, end: int) -> tuple[int, int]:
    """Where the TensorProto of an entry lies in ``data``. FormatError where there is none."""
    for number, wire, value, stop in fields(data, start, end):
        if (number, wire) == (2, DELIMITED):
            for inner, kind, first, last in fields(data, value, stop):
                if (inner, kind) == (3, DELIMITED):
                    return first, last
    raise FormatError("its entry holds no values")


def runs(data: Bytes, start: int, end: int, dtype: DType) -> tuple[str, list[tuple[int, int]]]:
    """(what the values are, where they lie in ``data``): the pieces of a type's list, one in what Saver writes."""
    field, kind = LISTS.get(dtype, (0, RAW))
    found: list[tuple[int, int]] = []
    content: list[tuple[int, int]] = []
    at = start
    for number, wire, value, stop in fields(data, start, end):
        if wire == DELIMITED:
            if number in (field, CONTENT):
                (content if number == CONTENT else found).append((value, stop))
            at = stop
            continue
        first = varint(data, at, end)[1]  # behind the tag: a list that is not packed has one for each value
        at = first + {FIXED32: 4, FIXED64: 8}.get(wire, 0) if wire != VARINT else varint(data, first, end)[1]
        if number == field:
            found.append((first, at))
    return (RAW, content) if content and not found else (kind, found)


def unpacked(data: Bytes, dtype: DType) -> bytes:
    """Little-endian elements from varints. FormatError where the last one does not end."""
    import numpy as np

    made, at, size = [], 0, len(data)
    while at < size:
        piece = np.frombuffer(data, np.uint8, min(PIECE, size - at), at)
        ends = np.flatnonzero(piece < 0x80)
        if not len(ends):
            raise FormatError("a number ends too early or has more than ten bytes", offset=at)
        piece = piece[: ends[-1] + 1]
        starts = np.concatenate(([0], ends[:-1] + 1))
        lengths = ends - starts + 1
        if lengths.max() > 10:
            raise FormatError("a number has more than ten bytes", offset=at)
        place = np.arange(len(piece)) - np.repeat(starts, lengths)
        values = np.add.reduceat((piece & 0x7F).astype(np.uint64) << (7 * place).astype(np.uint64), starts)
        made.append(values.astype(f"u{dtype.itemsize}").tobytes())
        at += len(piece)
    return b"".join(made)
