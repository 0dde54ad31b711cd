"""The messages in a TensorFlow checkpoint's index, read and written by hand: a listing must not pay for a protobuf library.

Knows: BundleHeaderProto, BundleEntryProto, TensorShapeProto, TensorSliceProto, VersionDef, and TensorFlow's numbers for element types.
Refuses to know: tables and files. What a message says is given as it is; whether it can be true is for others to judge.

Facts: TensorFlow 2.21 tensor_bundle.proto, tensor_shape.proto, tensor_slice.proto, versions.proto, types.proto.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..containers.protowire import DELIMITED, FIXED32, VARINT, encoded, fields, message_field, number_field, signed
from ..dtypes import DTYPES, FLOAT4_BYTE, DType
from ..errors import FormatError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Bytes = bytes | memoryview
    Extent = tuple[int, int]  # start and length along one dimension; length -1: all of it

# types.proto: number of a DataType → our name of it. 0 is DT_INVALID, 101 and above are references, which are never stored.
NAMES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8", 7: "string", 8: "complex64", 9: "int64", 10: "bool",
    11: "qint8", 12: "quint8", 13: "qint32", 14: "bfloat16", 15: "qint16", 16: "quint16", 17: "uint16", 18: "complex128", 19: "float16",
    20: "resource", 21: "variant", 22: "uint32", 23: "uint64", 24: "float8_e5m2", 25: "float8_e4m3fn", 26: "float8_e4m3fnuz",
    27: "float8_e4m3b11fnuz", 28: "float8_e5m2fnuz", 29: "int4", 30: "uint4", 31: "int2", 32: "uint2",
}  # fmt: skip
TYPES: dict[int, DType] = {number: DTYPES[name] for number, name in NAMES.items()} | {33: FLOAT4_BYTE}
OPAQUE = ("variant", "resource")
MOST = 1 << 31  # numbers of types beyond this are cut in what is said of them


def dtype_of(number: int) -> DType:
    """The element type of a DataType; an opaque one of its own for a number that TensorFlow does not know."""
    return TYPES.get(number) or DType.of(f"DataType {min(number, MOST)}", 0, "o", "")


class Header:
    """What the entry under the empty key says."""

    __slots__ = ("bad_consumers", "big", "min_consumer", "producer", "shards")

    def __init__(self) -> None:
        self.shards = self.producer = self.min_consumer = 0
        self.big = False
        self.bad_consumers: list[int] = []

    def told(self) -> dict[str, str]:
        """The versions, as metadata."""
        said = {"producer": str(self.producer), "min_consumer": str(self.min_consumer)}
        return said | ({"bad_consumers": ", ".join(map(str, self.bad_consumers[:20]))} if self.bad_consumers else {})


def header(data: Bytes) -> Header:
    """FormatError where the bytes are no BundleHeaderProto."""
    made = Header()
    for number, wire, value, end in fields(data):
        if (number, wire) == (1, VARINT):
            made.shards = signed(value, 32)
        elif (number, wire) == (2, VARINT):
            made.big = value == 1
        elif (number, wire) == (3, DELIMITED):
            version(data, value, end, made)
        elif number <= 3:
            raise FormatError(f"field {number} is of another type")
    return made


def version(data: Bytes, start: int, end: int, made: Header) -> None:
    """A VersionDef's numbers, put into ``made``."""
    for number, wire, value, _ in fields(data, start, end):
        if (number, wire) == (1, VARINT):
            made.producer = signed(value, 32)
        elif (number, wire) == (2, VARINT):
            made.min_consumer = signed(value, 32)
        elif (number, wire) == (3, VARINT):
            made.bad_consumers.append(signed(value, 32))


class Entry:
    """A BundleEntryProto. ``fault``: why its shape can be none."""

    __slots__ = ("crc", "dtype", "fault", "offset", "shape", "shard", "size", "slices")

    def __init__(self) -> None:
        self.dtype = dtype_of(0)
        self.shape: tuple[int, ...] = ()
        self.shard = self.offset = self.size = self.crc = 0
        self.slices: list[tuple[Extent, ...]] = []
        self.fault = ""


def entry(data: Bytes) -> Entry:
    """FormatError where the bytes are no BundleEntryProto."""
    made = Entry()
    for number, wire, value, end in fields(data):
        if (number, wire) == (1, VARINT):
            made.dtype = dtype_of(value)
        elif (number, wire) == (2, DELIMITED):
            made.shape, made.fault = shape(data, value, end)
        elif (number, wire) == (3, VARINT):
            made.shard = signed(value, 32)
        elif (number, wire) == (4, VARINT):
            made.offset = signed(value)
        elif (number, wire) == (5, VARINT):
            made.size = signed(value)
        elif (number, wire) == (6, FIXED32):
            made.crc = value
        elif (number, wire) == (7, DELIMITED):
            made.slices.append(extents(data, value, end))
        elif number <= 7:
            raise FormatError(f"field {number} is of another type")
    return made


def shape(data: Bytes, start: int, end: int) -> tuple[tuple[int, ...], str]:
    """(sizes of a TensorShapeProto, why they can be none)."""
    made, fault = [], ""
    for number, wire, value, stop in fields(data, start, end):
        if (number, wire) == (2, DELIMITED):
            size = 0
            for inner, kind, found, _ in fields(data, value, stop):
                if (inner, kind) == (1, VARINT):
                    size = signed(found)
            made.append(size)
        elif (number, wire) == (3, VARINT) and value:
            fault = "its shape is not known"
    return tuple(made), fault or ("a negative size" if min(made, default=0) < 0 else "")


def extents(data: Bytes, start: int, end: int) -> tuple[Extent, ...]:
    """Start and length of a TensorSliceProto along each dimension."""
    made = []
    for number, wire, value, stop in fields(data, start, end):
        if (number, wire) == (1, DELIMITED):
            at, length = 0, -1
            for inner, kind, found, _ in fields(data, value, stop):
                if (inner, kind) == (1, VARINT):
                    at = signed(found)
                elif (inner, kind) == (2, VARINT):
                    length = signed(found)
            made.append((at, length))
    return tuple(made)


# -- the usual entry, by its run of bytes -------------------------------------------------------------------------------------

# What BundleWriter writes behind type and shape: shard, offset and size, each where it is not 0, and the checksum. All fields are there
# once and in order, so that reading them one by one would say the same (tests/test_tensorflow.py holds both against each other).
_NUMBER = rb"([\x80-\xff]{0,8}[\x00-\x7f])"
TAIL = re.compile(rb"(?:\x18([\x00-\x7f]))?(?:\x20" + _NUMBER + rb")?(?:\x28" + _NUMBER + rb")?(\x35.{4})?", re.S)


def number_of(raw: bytes | None) -> int:
    """A varint of at most nine bytes, which cannot be negative; 0 for a field that is not there."""
    if not raw:
        return 0
    if len(raw) == 1:
        return raw[0]
    value = 0
    for byte in reversed(raw):
        value = value << 7 | byte & 0x7F
    return value


# -- written ------------------------------------------------------------------------------------------------------------------

NUMBERS: dict[str, int] = {str(dtype): number for number, dtype in TYPES.items()}
PRODUCER = 1  # kTensorBundleVersion, which TensorFlow writes since 0.12


def header_bytes(shards: int) -> bytes:
    """The header of a little-endian bundle."""
    return number_field(1, shards) + message_field(3, number_field(1, PRODUCER))


@lru_cache(1 << 12)
def head_bytes(number: int, sizes: tuple[int, ...]) -> bytes:
    """The beginning of an entry: type and shape."""
    return number_field(1, number) + message_field(2, b"".join(message_field(2, number_field(1, size)) for size in sizes))


def run_bytes(shard: int, offset: int, size: int, crc: int) -> bytes:
    """The end of an entry whose bytes lie in one run. ``crc`` is masked."""
    tail = b"\x35" + crc.to_bytes(4, "little") if crc else b""
    return number_field(3, shard) + number_field(4, offset) + number_field(5, size) + tail


def slices_bytes(slices: Iterable[tuple[Extent, ...]]) -> bytes:
    """The end of the entry of a partitioned tensor. A length that is the whole dimension, -1, is left out; one of 0 is there."""
    made = []
    for one in slices:
        steps = (number_field(1, at) + (b"\x10" + encoded(length) if length >= 0 else b"") for at, length in one)
        made.append(message_field(7, b"".join(message_field(1, step) for step in steps)))
    return b"".join(made)
