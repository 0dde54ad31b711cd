"""The header of .npy files: what NumPy says of an array in a text of Python.

Knows: the headers that NumPy itself writes; how many bytes an element takes, of records too, whose types are a list; which spellings leave
no doubt that the elements are plain numbers or text.
Refuses to know: any other text: it is matched, never evaluated. What is spelled in another way may hold Python objects, and NumPy loads
these from a pickle behind the header.

Facts: NumPy 2.4 numpy/lib/_format_impl.py (_write_array_header, descr_to_dtype: any text that numpy.dtype takes; read_array: objects are
pickle.load of what follows).
"""

from __future__ import annotations

import re

from ..source import Source
from .arguments import Odd
from .ndarray import item_type, plain_dtype

HEADER = re.compile(
    rb"\{'descr': (?:'([^']{1,64})'|(\[.*\])), 'fortran_order': (True|False), 'shape': \(([0-9L, ]*)\),? ?\} *\n?\Z", re.DOTALL
)
LONGEST = 1 << 20  # bytes of a header: records may name many fields
DEEP = 16  # records inside of records
HUGE = 1 << 62
_NAME = r"u?(?:'[^'\\\n]*'|\"[^\"\\\n]*\")"
_FIELD = rf"\((?:{_NAME}|\({_NAME}, {_NAME}\)), '([^'\\]{{1,64}})'(?:, \(([0-9L, ]{{1,200}})\))?\)"
FIELD = re.compile(_FIELD)
RECORD = re.compile(rf"\[{_FIELD}(?:, {_FIELD})*\]")


class Header:
    """What a .npy file says of its array: element type (NumPy's text, "" for records), Fortran order, shape, where the elements begin, and
    how many bytes one takes (``size``; -1 where that is not certain: they may be Python objects, and so a pickle)."""

    __slots__ = ("fortran", "shape", "size", "start", "text")

    def __init__(self, source: Source) -> None:
        head = source.read(0, min(12, source.size))
        if head[:6] != b"\x93NUMPY" or len(head) < 12 or not 1 <= head[6] <= 3:
            raise Odd("it is no .npy file")
        self.start, size = (10, int.from_bytes(head[8:10], "little")) if head[6] == 1 else (12, int.from_bytes(head[8:12], "little"))
        if size > min(LONGEST, source.size - self.start):
            raise Odd("its header is cut short" if size <= LONGEST else f"a header of {size:,} bytes")
        found = HEADER.match(source.read(self.start, size))
        if found is None:
            raise Odd("its header is none that NumPy writes")
        self.start += size
        self.text = found[1].decode("latin-1") if found[1] else ""
        self.size = element(self.text) if found[1] else record(found[2].decode("latin-1"))
        self.fortran = found[3] == b"True"
        self.shape = _sizes(found[4].decode())

    @property
    def objects(self) -> bool:
        """Whether the elements may be Python objects, and so a pickle."""
        return self.size < 0

    @property
    def nbytes(self) -> int:
        """Bytes that all elements take."""
        return _times(self.size, self.shape)


def element(text: str) -> int:
    """Bytes of an element whose type is a text; -1 where it holds objects, or is not spelled as NumPy writes it."""
    known = item_type(plain_dtype(text))
    if known is not None:
        return known[0].itemsize
    digits = text[2:] if text[:2] == "|V" else ""
    return int(digits) if digits.isdecimal() and len(digits) < 10 else -1


def record(text: str) -> int:
    """The same of a list of named fields."""
    for _ in range(DEEP):
        made = RECORD.sub(_record, text)
        size = element(made[1:-1])
        if size >= 0 or made == text:
            return size
        text = made
    return -1


def _record(found: re.Match[str]) -> str:
    """A record inside of another as a type of so many bytes, which takes its place; one that may hold objects stays as it is."""
    total = 0
    for field in FIELD.finditer(found[0]):
        size = element(field[1])
        if size < 0:
            return found[0]
        total += _times(size, _sizes(field[2] or ""))
    return f"'|V{total}'"


def _sizes(text: str) -> tuple[int, ...]:
    parts = [part.strip().rstrip("L") for part in text.split(",") if part.strip()]
    if not all(part.isdigit() and len(part) < 20 for part in parts):
        raise Odd("its shape is no list of numbers")
    return tuple(map(int, parts))


def _times(size: int, shape: tuple[int, ...]) -> int:
    for length in shape:
        size = min(size * length, HUGE) if length else 0
    return size
