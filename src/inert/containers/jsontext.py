"""JSON texts that say where tensors are: parsed with a bound on their size and depth.

Knows: how deep a text nests before it is parsed (Python's parser recurses), and which of its errors mean what.
Refuses to know: any schema. Of repeated names the last counts, as in Python's json and in the programs that read these files.
"""

from __future__ import annotations

import re

from ..errors import FormatError, LimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..source import Span

# what opens or closes a level, and whole texts, in which brackets mean nothing
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{]|[\]}]', re.S)


def parse(span: Span, part: str, limits: Limits) -> Any:
    """The value of a JSON text. FormatError where it is none, LimitError where it is too long or too deep."""
    if span.length > limits.json_bytes:
        raise LimitError(f"{span.length:,} bytes of JSON", part=part, hint="raise Limits.json_bytes")
    try:
        text = span.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError("its JSON is no UTF-8 text", part=part, offset=error.start) from None
    _shallow(text, part, limits.json_depth)
    import json

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"its JSON is damaged: {error.msg}", part=part, offset=error.pos, hint="the file may be cut short") from None
    except (ValueError, RecursionError) as error:  # a number of more digits than Python takes
        raise FormatError(f"its JSON cannot be parsed: {error}", part=part) from None


def _shallow(text: str, part: str, most: int) -> None:
    depth = 0
    for token in _TOKENS.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > most:
                raise LimitError(f"JSON of more than {most} levels", part=part, offset=token.start(), hint="raise Limits.json_depth")
        elif first in "]}":
            depth -= 1
