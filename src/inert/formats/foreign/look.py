"""What is looked at, and the words that several recognisers use.

Knows: how much of a source is read at once, how a table is tried, and how bytes from a file are shown in a sentence.
Refuses to know: any table's rows. What is found inside something else goes back to all recognisers through ``Look.inside``.
"""

from __future__ import annotations

import re

from ...errors import one_line
from ...source import BytesSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...source import Source
    from .tables import Row, Rows

    Answer = tuple[str, str, str, str]  # kind, noun phrase, facts (begin with "; " or are empty), hint

END = 8 << 10  # bytes looked at on both ends of the file
WHOLE = 256 << 10  # files up to this size are searched for NUL runs and members' headers exactly, larger ones by samples
SHOWN = 3  # members, ranges or guesses that are listed


class Look:
    """What is looked at: both ends of a source. ``inner`` marks the beginning of something inside a wrapper: no end, no size.

    ``identify`` asks all recognisers.
    """

    __slots__ = ("head", "identify", "inner", "source", "tail")

    def __init__(self, source: Source, identify: Callable[[Look], Answer], inner: bool = False) -> None:
        self.source = source
        self.identify = identify
        self.inner = inner
        size = min(source.size, END)
        self.head = source.read(0, size)
        self.tail = b"" if inner else source.read(source.size - size, size)

    def inside(self, data: bytes) -> Answer:
        """What ``data`` is, the first bytes of what this source holds."""
        return self.identify(Look(BytesSource(data), self.identify, inner=True))


def matching(rows: Rows, data: bytes, flags: int = re.S) -> Iterator[Row]:
    """The rows whose pattern matches at the beginning of ``data``."""
    return (row for row in rows if re.match(row[1], data, flags))


def containing(rows: Rows, data: bytes, flags: int = re.S) -> Iterator[Row]:
    """The rows whose pattern is found anywhere in ``data``."""
    return (row for row in rows if re.search(row[1], data, flags))


def show(data: bytes, limit: int) -> str:
    return clip(data.decode("utf-8", "replace").strip(), limit)


def clip(text: str, limit: int) -> str:
    """``text`` from a file on one line of at most ``limit`` characters, escapes counted."""
    return one_line(one_line(text, limit), limit)


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
