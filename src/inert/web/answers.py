"""The answers of the page's server by address: ``api/0/overview`` … → plain dicts.

Knows: the table of what may be asked, and how a request's words become arguments. Refuses to know: HTTP (server.py) and what answers mean.

An answer is a function of an Opened file and the request's parameters. Whatever is wrong with either is an InertError or a BadRequest.
"""

from __future__ import annotations

from ..errors import InertError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .opened import Opened

    Answer = Callable[[Opened, "Words"], Any]


class BadRequest(InertError):
    """The request's words make no question."""


class Words:
    """The parameters of a request, each read as what it must be. BadRequest names the one that is none."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = given

    def text(self, name: str, default: str | None = None) -> str:
        value = self.given.get(name, default)
        if value is None:
            raise BadRequest(f"the parameter {name} is missing")
        return value

    def number(self, name: str, default: int | None = None, low: int = 0, high: int = 1 << 62) -> int:
        said = self.text(name, None if default is None else str(default))
        value = integer(said)
        if value is None or not low <= value <= high:
            raise BadRequest(f"the parameter {name} must be a number from {low:,} to {high:,}")
        return value

    def numbers(self, name: str, default: str = "") -> list[int]:
        """Numbers with commas between them."""
        said = self.text(name, default)
        found = [integer(one) for one in said.split(",")] if said else []
        if None in found or len(found) > 64:
            raise BadRequest(f"the parameter {name} must be numbers with commas between them")
        return [one for one in found if one is not None]

    def range(self, name: str, length: int) -> tuple[int, int]:
        """``a:b`` within 0 and ``length``; the whole where it is missing."""
        first, colon, last = self.text(name, f"0:{length}").partition(":")
        low, high = integer(first), integer(last)
        if not colon or low is None or high is None or not 0 <= low <= high <= length:
            raise BadRequest(f"the parameter {name} must be a range within 0:{length}")
        return low, high


def integer(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else None
