"""What is left of a safetensors file.

Knows: a header whose length or JSON is damaged, taken apart entry by entry; where the data begins, by the file's length.
Refuses to know: what the ordinary reader knows: the rules of the format, and which tensors lie beyond the end.
"""

from __future__ import annotations

import json
import re

from ..containers.jsontext import Reader
from ..errors import FormatError, InertError, TruncatedError
from ..finding import Finding
from ..formats import safetensors
from ..formats.safetensors import HEADER, METADATA, Safetensors
from .held import Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..source import Source

_SPACE = r"[ \t\r\n]*"
_LIST = r"\[[\d, \t\r\n]*\]"
_FIELD = rf'"(?:dtype|shape|data_offsets)"{_SPACE}:{_SPACE}(?:"\w+"|{_LIST})'
_ENTRY = re.compile(rf'"((?:[^"\\]|\\.)*)"{_SPACE}:{_SPACE}(\{{{_SPACE}{_FIELD}(?:{_SPACE},{_SPACE}{_FIELD}){{2}}{_SPACE}\}})')
_NAMED = re.compile(rf'"((?:[^"\\]|\\.){{1,4096}})"{_SPACE}:{_SPACE}\{{{_SPACE}"(?:dtype|shape|data_offsets)"')


class Rebuilt(Safetensors):
    """A file whose header is damaged: its entries, and where its data begins, were found."""

    def __init__(self, source: Source, limits: Limits, start: int, entries: dict[str, Any]) -> None:
        self.entries = entries
        super().__init__(source, limits, start - 8)

    def _header(self, reader: Reader) -> None:
        for name, value in self.entries.items():
            self._entry(name, value, 0)


def read(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    head = source.read(0, min(96, source.size))
    if b"{" not in head[8:64]:
        return None
    refusal: InertError
    try:
        claim = safetensors.claims(source, limits)
        if claim is not None:
            content = safetensors.read(source, limits, claim, byteorder)
            return _salvage(content)
        refusal = FormatError("this is no header of a safetensors file", part=source.name, offset=0)
    except InertError as error:
        refusal = error
    found = _rebuilt(source, limits, refusal)
    if found is None and claim is not None:
        raise FormatError(f"nothing can be recovered: {refusal.message}", part=source.name, offset=refusal.offset)
    return found


def _salvage(content: Safetensors) -> Salvage:
    made = Salvage(content)
    odd, content.odd = content.odd, {}
    made.lost = [(name, f"its entry in the header: {_why(content, name)}") for name in odd]
    return made


def _why(content: Safetensors, name: str) -> str:
    return next((note.message for note in content._notes if note.code == "safetensors-entry" and name in note.tensors), "it is damaged")


def _rebuilt(source: Source, limits: Limits, why: InertError) -> Salvage | None:
    """The file by its entries, wherever they can be read. None where there are none, or where the header takes up the whole file."""
    data = source.read(8, min(source.size - 8, HEADER, limits.json_bytes))
    text = data.decode("latin-1")  # one character for each byte: names are decoded one by one
    entries: dict[str, Any] = {}
    end = 0
    for match in _ENTRY.finditer(text):
        try:
            name, value = json.loads(f'"{_utf8(match[1])}"'), json.loads(match[2])
        except ValueError:
            continue
        if name != METADATA:
            entries[name] = value
            end = match.end()
    if not entries or (isinstance(why, TruncatedError) and end >= len(text)):
        return None
    most = max((value["data_offsets"][1] for value in entries.values() if _placed(value)), default=0)
    start = source.size - most
    tail = text[end : start - 8] if start - 8 >= end else ""
    if not tail or tail.strip(" }\n\r\t"):
        closing = re.match(r"[ \t\r\n]*\}[ ]*", text[end : end + 64])
        if closing is None:
            return None  # the header goes on, and no data can be found behind it
        start = 8 + end + closing.end()
        start -= (start % 8) if text[end + closing.end() - 1 : end + closing.end()] == " " else 0
    content = Rebuilt(source, limits, start, entries)
    made = _salvage(content)
    made.notes.append(
        Finding("safetensors-header", f"{why.message}; {len(entries):,} entries of it could be read", source.name, why.offset)
    )
    known = set(entries)
    for match in _NAMED.finditer(text[: start - 8]):
        name = _utf8(match[1])
        if name not in known and name != METADATA:
            known.add(name)
            made.lost.append((name, "its entry in the header is damaged"))
    made.more = "entries of the header that are damaged may be of further tensors"
    return made


def _placed(value: Any) -> bool:
    offsets = value.get("data_offsets")
    return type(offsets) is list and len(offsets) == 2 and all(type(one) is int for one in offsets)


def _utf8(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "replace")
