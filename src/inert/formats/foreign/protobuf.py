"""Protocol buffers: no magic number, so the nesting of the first fields has to fit.

Knows: how fields are laid out, and which of them ONNX, Core ML and TensorFlow write first.
Refuses to know: schemas, and anything behind the first 16 fields of a message or the first 8 KiB of a file.
"""

from __future__ import annotations

import re

from .look import show
from .tables import BESIDE, MAKER, TF_OPEN, USE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .look import Answer, Look


def message(look: Look) -> Answer | None:
    if look.head[:1] not in (b"\x08", b"\x0a"):
        return None
    fields = _fields(look.head)
    numbers = [number for number, _ in fields]
    if _op(look.head, 2, 1, 2, 1, 1) or _word(look.head, rb"\d+\.\d+\.\S+", 2, 1, 5):
        hint = "its weights are in variables/ beside it; " + TF_OPEN
        return "tf-saved-model", "the graph of a TensorFlow SavedModel", "", hint
    if _op(look.head, 1, 2, 1, 1) or _word(look.head, rb"\d+\.\d+\.\S+", 1, 5):
        return "tf-meta", "the graph of a TensorFlow checkpoint (.meta)", "", BESIDE
    if _op(look.head, 1, 2) and _word(look.head, rb"[\w./-]+", 1, 1):
        return "tf-graph", "a frozen TensorFlow graph (.pb)", "", "inert does not read weights inside graphs: use TensorFlow"
    if numbers[:1] != [1] or not isinstance(fields[0][1], int) or not 1 <= fields[0][1] <= 99:
        return None
    if set(numbers[1:]) <= {2, 3, 4, 5, 6, 7, 8, 14, 20, 25} and (_word(look.head, rb"[\w .+/-]+", 2) or _dig(look.head, 7, 1)):
        producer = _dig(look.head, 2)
        facts = f"; written by {show(producer, 40)}" if producer else ""
        return "onnx", "an ONNX model", facts, USE + "the onnx package"
    if _word(look.head, rb"[\w./ -]+", 2, 1, 1):
        return "coreml", "a Core ML model, as its first fields suggest", "", MAKER
    return None


def _fields(data: bytes) -> list[tuple[int, int | bytes]]:
    """The first fields of a message as (number, value); [] where the bytes are no message. The last value may be cut."""
    fields: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(data) and len(fields) < 16:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        value, at = _varint(data, at) if wire in (0, 2) else (0, at)
        if at < 0 or not number or wire not in (0, 1, 2, 5):
            return fields if at < 0 else []
        length = {0: 0, 1: 8, 2: value, 5: 4}[wire]
        fields.append((number, data[at : at + length] if wire else value))
        at += length
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """(value, next offset), or (0, -1) where it does not end within ten bytes."""
    value = 0
    for i in range(10):
        if at < 0 or at + i >= len(data):
            break
        value |= (data[at + i] & 0x7F) << 7 * i
        if data[at + i] < 0x80:
            return value, at + i + 1
    return 0, -1


def _dig(data: bytes, *numbers: int) -> bytes:
    """The bytes of the first field of these numbers, one inside the other; b"" where there is none."""
    for number in numbers:
        data = next((value for found, value in _fields(data) if found == number and isinstance(value, bytes)), b"")
    return data


def _word(data: bytes, pattern: bytes, *numbers: int) -> bool:
    return re.fullmatch(pattern, _dig(data, *numbers)) is not None


def _op(data: bytes, *numbers: int) -> bool:
    """An operation's name such as AddV2 stands there."""
    return _word(data, rb"_?[A-Z][A-Za-z0-9_]{1,60}", *numbers)
