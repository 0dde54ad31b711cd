"""safetensors: a JSON header, then the bytes of all tensors without gaps.

Knows: the header's rules, the spelling of element types, and how tensors must lie. The library refuses a whole file for one fault; inert
reads what has an answer, and notes as an error what the library would refuse (so that ``strict`` refuses it too).
Refuses to know: what tensors mean. A header without an object in it has no answer: FormatError, or TruncatedError where it is cut.

Facts: safetensors 0.8.0 (tensor.rs: read_metadata, Metadata::validate, Dtype; torch.py: save_model writes such names into the metadata,
load_model does not read them: the model says itself what is tied), its README ("Format"), and what it says of broken files.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

from ..containers.jsontext import Reader
from ..content import Content, Part
from ..dtypes import DTYPES
from ..errors import FormatError, LimitError, TruncatedError
from ..finding import Finding
from ..layout import Layout, Storage, contiguous
from ..tensor import Tensor
from ..words import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits
    from ..source import Source, Span

# The library's spelling → ours. F8_E4M3 is the variant without infinities.
SPELLING = {
    "BOOL": "bool", "U8": "uint8", "I8": "int8", "U16": "uint16", "I16": "int16", "U32": "uint32", "I32": "int32", "U64": "uint64",
    "I64": "int64", "F16": "float16", "BF16": "bfloat16", "F32": "float32", "F64": "float64", "C64": "complex64",
    "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn", "F8_E8M0": "float8_e8m0fnu", "F8_E4M3FNUZ": "float8_e4m3fnuz",
    "F8_E5M2FNUZ": "float8_e5m2fnuz", "F4": "float4_e2m1fn", "F6_E2M3": "float6_e2m3fn", "F6_E3M2": "float6_e3m2fn",
}  # fmt: skip
FIELDS = ("dtype", "shape", "data_offsets")
METADATA = "__metadata__"
SAID = frozenset(("format", "total_size", "wrapper"))  # texts that are never names of tensors
DIMENSIONS = 1024  # of a shape that is looked at
HEADER = 100_000_000  # bytes of the longest header
MARK = "\ufeff"
_PLAIN = {spelling: DTYPES[name] for spelling, name in SPELLING.items() if spelling != "F4"}

_BEGIN = re.compile(rb"(.{8})(?:\xef\xbb\xbf)?[ \t\n\r]{0,40}\{[ \t\n\r]{0,40}[\"}]", re.S)
_NUMBER = r"(?:0|[1-9][0-9]{0,18})"
# An entry as its writers write it, with or without a space behind commas and colons. Whatever differs is read step by step.
_ENTRY = re.compile(
    rf'"([^"\\\x00-\x1f]*)": ?\{{"dtype": ?"(\w+)", ?"shape": ?\[((?:{_NUMBER}(?:, ?{_NUMBER}){{0,63}})?)\], ?'
    rf'"data_offsets": ?\[({_NUMBER}), ?({_NUMBER})\]\}}, ?'
)


def claims(source: Source, limits: Limits) -> int | None:
    """Eight bytes that are a length, then the beginning of a JSON object: the length. Text with a brace at its ninth character is none."""
    match = _BEGIN.match(source.read(0, min(96, source.size)))
    if match is None:
        return None
    length = int.from_bytes(match[1], "little")
    return None if length > HEADER and match[1].isascii() and match[1].decode().isprintable() else length


def read(source: Source, limits: Limits, length: int, byteorder: str | None) -> Safetensors:
    """The Content of a file whose header takes ``length`` bytes."""
    if length > HEADER:
        raise FormatError(f"a header of {length:,} bytes; {HEADER:,} are the most", part=source.name, offset=0)
    if length > source.size - 8:
        text = f"the header alone should take {length:,} bytes, and {source.size - 8:,} are there"
        raise TruncatedError(text, part=source.name, offset=source.size, hint="download or copy the file again")
    if length > limits.json_bytes:
        raise LimitError(f"a header of {length:,} bytes", part=source.name, offset=0, hint="raise Limits.json_bytes")
    return Safetensors(source, limits, length)


def aliases_in(metadata: Mapping[str, str], names: Collection[Any]) -> dict[str, str]:
    """Texts that say which tensor stands for an equal one, as save_model writes them: a name that no tensor has → one that a tensor has."""
    return {key: text for key, text in metadata.items() if text in names and key not in names and key not in SAID}


class Row:
    """A tensor's entry; its Layout is made when it is asked for. ``begin`` and ``end`` count from the first byte behind the header."""

    __slots__ = ("begin", "content", "dtype", "end", "name", "shape")

    def __init__(self, content: Safetensors, name: str, dtype: DType, shape: tuple[int, ...], begin: int, end: int) -> None:
        self.content = content
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.begin = begin
        self.end = end

    def layout(self) -> Layout:
        strides, size, wrong = geometry(self.dtype, self.shape, self.content.limits.rank)
        storage = Storage(self.content.label + self.name, max(self.end - self.begin, 0), self.dtype, "cpu", self._span)
        made = Layout(self.dtype, self.shape, strides, 0, storage)
        if wrong or size != self.end - self.begin or self.end > self.content.room:
            made.fault = storage.fault = wrong or self._fault()
        return made

    def _span(self) -> Span:
        return self.content.source.span(self.content.start + self.begin, self.end - self.begin)

    def _fault(self) -> str:
        """Why the tensor's place cannot be its own."""
        if self.end < self.begin:
            return f"its data ends at {self.end:,} and begins at {self.begin:,}"
        if geometry(self.dtype, self.shape, self.content.limits.rank)[1] != self.end - self.begin:
            return f"{self.dtype} of shape {list(self.shape)} does not take {self.end - self.begin:,} bytes"
        return f"its data ends at byte {self.end:,} of the {self.content.room:,} behind the header"


@lru_cache(1 << 12)
def geometry(dtype: DType, shape: tuple[int, ...], rank: int) -> tuple[tuple[int, ...], int, str]:
    """(strides, bytes, why there can be no such tensor or "")."""
    strides = contiguous(shape)
    bits = dtype.bits * (dtype.packed if dtype.counts_items else 1)
    if prod(n for n in shape if n) * bits >= 1 << 63:
        return strides, -1, "its size exceeds 64 bits"
    if len(shape) > rank:
        return strides, -1, f"{len(shape)} dimensions, more than {rank}"
    size = prod(shape) * bits
    return strides, size // 8, f"{size:,} bits are no whole number of bytes" if size % 8 else ""


class Safetensors(Content):
    format = "safetensors"

    def __init__(self, source: Source, limits: Limits, length: int) -> None:
        super().__init__(source, limits)
        self.start = 8 + length  # of the data
        self.room = source.size - self.start
        self.rows: dict[str, Row] = {}
        self.odd: dict[str, Any] = {}  # entries that no tensor can be made of
        self.order: str = "little"
        self._metadata: dict[str, str] = {}
        self._notes: list[Finding] = []
        self.let_pass: list[Finding] = []  # those that the library reads all the same, against its specification
        self._header(Reader(source.read(8, length), source.name, limits, 8))

    def _note(self, code: str, text: str, offset: int | None = None, tensors: tuple[str, ...] = ()) -> None:
        self._notes.append(Finding(code, text, self.source.name, offset, tensors))

    # -- the header ---------------------------------------------------------------------------------------------------------

    def _header(self, reader: Reader) -> None:
        if reader.text.startswith(MARK):
            self._note("safetensors-header", "the header begins with a byte order mark", 8)
            reader.at = 1
        elif not reader.text.startswith("{"):
            self._note("safetensors-header", "the header does not begin with {", 8)
            self.let_pass.append(self._notes[-1])
        reader.take("{")
        if reader.peek() == "}":
            reader.at += 1
        else:
            self._members(reader)
        left = reader.end()
        if left:
            self._note("safetensors-header", f"{left:,} characters follow the header's object", reader.offset(reader.at))

    def _members(self, reader: Reader) -> None:
        """Every member: as many as can be by the pattern of an entry, the others step by step."""
        match, text, rows, odd, at = _ENTRY.match, reader.text, self.rows, self.odd, reader.at
        shapes: dict[str, tuple[int, ...]] = {"": ()}
        while True:
            found = match(text, at)
            while found is not None:
                name, spelling, shape, begin, end = found.groups()
                dtype, sizes = _PLAIN.get(spelling), shapes.get(shape)
                if sizes is None:
                    sizes = shapes[shape] = tuple(map(int, shape.split(",")))
                if dtype is None or name in rows or name in odd or name == METADATA:
                    break
                rows[name] = Row(self, name, dtype, sizes, int(begin), int(end))
                at = found.end()
                found = match(text, at)
            reader.at = at
            self._member(reader)
            if reader.take(",}") == "}":
                return
            reader.peek()
            at = reader.at

    def _row(self, name: str, spelling: str, shape: tuple[int, ...], begin: int, end: int) -> None:
        dtype = DTYPES[SPELLING[spelling]]
        if spelling == "F4" and shape and not shape[-1] % 2:  # as torch's front end has it: its shape counts pairs
            dtype, shape = DTYPES["float4_e2m1fn_x2"], (*shape[:-1], shape[-1] // 2)
        self.rows[name] = Row(self, name, dtype, shape, begin, end)

    def _member(self, reader: Reader) -> None:
        reader.peek()
        at, name = reader.at, reader.string()
        reader.take(":")
        twice = len(reader.twice)
        value = reader.value()
        again = {key for key, _ in reader.twice[twice:]}
        if name == METADATA:
            self._describe(value, again, at)
            return
        self._entry(name, value, at)
        for key in again & set(FIELDS):
            self._note("safetensors-entry", f"{key} stands twice in one entry; the last was used", reader.offset(at), (name,))

    def _describe(self, value: Any, again: set[str], at: int) -> None:
        if self._metadata or (again and not isinstance(value, dict)):
            self._note("safetensors-metadata", f"{METADATA} stands twice; the last was used", at + 8)
            self._metadata = {}
        if type(value) is not dict:
            if value is not None:
                self._note("safetensors-metadata", f"{METADATA} is no object", at + 8)
            return
        for key in again:
            self._note("safetensors-extra", f"the metadata gives {key[:80]!r} twice; the last was used", at + 8)
        for key, text in value.items():
            if type(text) is not str:
                self._note("safetensors-metadata", f"{key[:80]!r} of the metadata is no text", at + 8)
            if type(text) not in (dict, list):
                self._metadata[key] = text if type(text) is str else _json(text)

    def _entry(self, name: str, value: Any, at: int) -> None:
        """An entry as a JSON value: whatever is odd about it is noted, and where no tensor can be made of it, it is kept as it is."""
        at += 8  # near enough: characters, where names are ASCII as nearly all are
        if name in self.rows or name in self.odd:
            self._note("safetensors-duplicate", f"two tensors are called {name[:80]!r}", at, (name,))
            self.let_pass.append(self._notes[-1])
            self.rows.pop(name, None)
            self.odd.pop(name, None)
        if type(value) is list and len(value) == len(FIELDS):
            self._note("safetensors-extra", "an entry is a list instead of an object", at, (name,))
            value = dict(zip(FIELDS, value, strict=True))
        wrong = _wrong(value) or _endless(value["shape"], self.limits.rank)
        if wrong:
            self._note("safetensors-entry", wrong, at, (name,))
            self.odd[name] = value
            return
        more = [key for key in value if key not in FIELDS]
        if more:
            self._note("safetensors-extra", f"an entry has a further field {more[0][:80]!r}", at, (name,))
        self._row(name, value["dtype"], tuple(value["shape"]), *value["data_offsets"])

    # -- what a checkpoint is asked -------------------------------------------------------------------------------------------

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        limits = self.limits
        made: dict[str, Any] = {name: Tensor(row, limits) for name, row in self.rows.items()}
        if convert is not None:
            made = {name: convert(tensor) for name, tensor in made.items()}
        return {**made, **self.odd}, []

    def parts(self) -> dict[str, Part]:
        name = "header"
        while name in self.rows:
            name = f"({name})"
        made = {name: Part(name, self.source.name, 8, self.start - 8, "header")}
        for key, row in self.rows.items():
            inside = row.begin <= row.end <= self.room
            made[key] = Part(key, self.source.name, self.start + row.begin if inside else None, max(row.end - row.begin, 0), "storage")
        return made

    def metadata(self) -> dict[str, str]:
        return dict(self._metadata)

    def aliases(self, names: Collection[Any]) -> dict[str, str]:
        if any(note.code == "safetensors-metadata" for note in self._notes):
            return {}  # what is no text may look like a name
        return aliases_in(self._metadata, names)

    def checks(self) -> tuple[Any, ...]:
        from . import plain_checks

        return (plain_checks.safetensors,)

    def notes(self) -> list[Finding]:
        return [*self._notes, *self._coverage()]

    def _runs(self) -> list[tuple[int, int, str]]:
        """(begin, end, name) of the tensors in the order of their bytes."""
        return sorted((row.begin, row.end, row.name) for row in self.rows.values() if row.begin <= row.end)

    def uncovered(self) -> Iterator[tuple[int, int]]:
        """(offset in the file, size) of the bytes that no tensor covers."""
        at = 0
        for begin, end in [*((begin, end) for begin, end, _ in self._runs()), (self.source.size - self.start,) * 2]:
            if begin > at and at < self.source.size - self.start:
                yield self.start + at, min(begin, self.source.size - self.start) - at
            at = max(at, end)

    def _coverage(self) -> Iterator[Finding]:
        """Tensors follow each other without gaps, from the first byte behind the header to the file's last."""
        where, at = self.source.name, 0
        for begin, end, name in self._runs():
            if begin > at:
                yield Finding(
                    "safetensors-hole", f"{begin - at:,} bytes lie before it and belong to no tensor", where, self.start + at, (name,)
                )
            elif begin < at and end > begin:
                yield Finding(
                    "safetensors-overlap", f"it shares {min(at, end) - begin:,} bytes with others", where, self.start + begin, (name,)
                )
            elif begin < at:
                yield Finding("safetensors-entry", "an empty tensor lies inside others", where, self.start + begin, (name,))
            at = max(at, end)
        left = self.source.size - self.start - at
        if left < 0:
            held = self.source.size - self.start
            hit = tuple(name for _, end, name in self._runs() if end > held)
            yield Finding("safetensors-short", f"{counted(-left, 'byte', 'are')} missing at the end", where, self.source.size, hit)
        elif left:
            yield Finding("safetensors-trailing", f"{counted(left, 'byte', 'follow')} the last tensor", where, self.start + at)


def _wrong(value: Any) -> str:
    """Why no tensor can be made of an entry; "" where one can."""
    if type(value) is not dict:
        return "an entry is no object"
    missing = [key for key in FIELDS if key not in value]
    if missing:
        return f"{missing[0]} is missing"
    dtype, shape, offsets = (value[key] for key in FIELDS)
    if type(dtype) is not str or dtype not in SPELLING:
        return f"the element type is {_json(dtype)[:40]}, which the format does not have"
    if type(shape) is not list or not all(map(_unsigned, shape)):
        return "the shape is no list of sizes"
    if type(offsets) is not list or len(offsets) != 2 or not all(map(_unsigned, offsets)):
        return "data_offsets are no two offsets"
    return ""


def _endless(shape: list[int], rank: int) -> str:
    """Why a shape is none: with so many dimensions its size would be a number of thousands of digits, and its strides too."""
    if len(shape) > rank and (len(shape) > DIMENSIONS or prod(n for n in shape if n) >= 1 << 63):
        return f"{len(shape):,} dimensions, more than {rank}"
    return ""


def _unsigned(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 64


def _json(value: Any) -> str:
    """A scalar as JSON spells it; the kind of a container."""
    words = {True: "true", False: "false", None: "null"}
    if type(value) in (bool, type(None)):
        return words[value]
    return f"a {type(value).__name__}" if isinstance(value, (dict, list)) else str(value)
