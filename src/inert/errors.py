"""The error tree: every way in which bytes can have no answer.

Knows: five kinds of refusal, each carrying the part of the file, the byte offset and the next step, said in one line.
Refuses to know: formats. ``OSError`` (no such file, no permission) is the operating system's to say and passes through.
"""

from __future__ import annotations


def one_line(text: str, limit: int = 600) -> str:
    """``text`` on one line, control characters shown as escapes, cut at ``limit`` characters.

    Text from a file may end up on a terminal: what is no printable character is escaped, so that it cannot steer one.
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class InertError(Exception):
    """Base of all refusals: ``message``, ``part`` (record or file), ``offset`` (bytes from the part's start) and ``hint``."""

    def __init__(self, message: str, *, part: str = "", offset: int | None = None, hint: str = "") -> None:
        super().__init__(message, part, offset, hint)
        self.message = message
        self.part = part
        self.offset = offset
        self.hint = hint
        self.file = ""  # the file that was opened, where the part is something inside of it

    def __str__(self) -> str:
        file = f"{self.file}: " if self.file and not self.part.startswith(self.file) else ""
        where = file + (f"{self.part}: " if self.part else "")
        at = "" if self.offset is None else f" (at byte {self.offset:,})"
        hint = f"; {self.hint}" if self.hint else ""
        return one_line(f"{where}{self.message}{at}{hint}")


DAMAGED = "the file is damaged or was cut short: get it again, or keep what is whole with inert repair"


class UnidentifiedError(InertError):
    """The bytes are of no format that inert reads; the message says what they are, where that can be told."""


class FormatError(InertError, ValueError):
    """The bytes break a rule of their own format."""


class TruncatedError(FormatError, EOFError):
    """The bytes end before their format says they do."""


class UnsupportedError(InertError):
    """The bytes are understood, but what is asked for cannot be given."""


class LimitError(InertError):
    """Giving the answer would break a bound of :class:`inert.Limits`."""
