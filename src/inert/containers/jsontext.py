"""JSON texts that say where tensors are: text → values, by the rule of the program that reads such a text.

Knows: two rules. STRICT is RFC 8259 to the letter, as serde_json has it: no NaN, no lone surrogates, no text behind the value; whole
numbers of up to 20 digits are int, all other numbers float; every name that an object gives twice is told. PYTHON is what json.loads
takes, which torch's own readers use: NaN and lone surrogates pass, whole numbers of any length are int, and a byte order mark is skipped.
Of names given twice the last counts, by either rule.
Refuses to know: what the values mean; and recursion. STRICT is a loop with a stack of its own; Python's parser, which recurses and is many
times faster (programs' graphs are texts of some fifty million bytes), is given what has been found shallow and of few enough values.

Facts: RFC 8259; serde_json 1.0 (src/de.rs: 127 levels, "-0" and larger integers are floats), which reads safetensors headers; torch 2.13
torch/export/pt2_archive/_package.py (json.loads); CPython 3.13 Lib/json/decoder.py.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from ..errors import FormatError, LimitError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..source import Span


class Rule:
    """How a program reads JSON. ``steps``: by the Reader's own loop, else by Python's parser; ``depth``: levels, where the rule has a bound
    of its own (else Limits.json_depth); ``mark``: whether a byte order mark may come first."""

    __slots__ = ("depth", "mark", "steps")

    def __init__(self, steps: bool, depth: int, mark: bool) -> None:
        self.steps = steps
        self.depth = depth
        self.mark = mark


STRICT = Rule(steps=True, depth=127, mark=False)
PYTHON = Rule(steps=False, depth=0, mark=True)
MARK = "\ufeff"
PLAIN = re.compile(r'"([^"\\\x00-\x1f]*)"')  # a string without escapes
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
SPACE = re.compile(r"[ \t\n\r]*")
# what opens, closes or parts values, and whole texts, in which these mean nothing
MARKS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
COMMAS = re.compile(MARKS.pattern + "|,", re.DOTALL)
CLOSES = re.compile(r"[ \t\n\r]*[\]}]")
WORDS = {"t": ("true", True), "f": ("false", False), "n": ("null", None)}
_decode = JSONDecoder(strict=True).raw_decode  # STRICT asks it at a quotation mark only: there it reads one string, and nothing deeper


class Reader:
    """A position in a text. ``twice``: (name, position) of each name that an object gives again; the last value is kept."""

    def __init__(self, raw: bytes, part: str, limits: Limits, base: int = 0, rule: Rule = STRICT) -> None:
        """``base``: where ``raw`` begins in ``part``. FormatError where it is no UTF-8."""
        self.rule = rule
        self.depth = rule.depth or limits.json_depth
        self.part = part
        self.base = base
        self.at = 0
        self.left = limits.json_values
        self.most = limits.json_values
        self.twice: list[tuple[str, int]] = []
        try:
            self.text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise FormatError("the JSON text is no UTF-8", part=part, offset=base + error.start) from None
        if rule.mark and self.text.startswith(MARK):
            self.at = 1

    def fail(self, message: str, at: int | None = None) -> FormatError:
        """The error to raise for what stands at a position (the current one by default)."""
        return FormatError(f"no JSON: {message}", part=self.part, offset=self.offset(self.at if at is None else at))

    def offset(self, at: int) -> int:
        """Bytes from the start of the part to a position."""
        return self.base + len(self.text[:at].encode("utf-8", "surrogatepass"))

    def peek(self) -> str:
        """The next character that is no white space, "" at the end."""
        match = SPACE.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def take(self, wanted: str) -> str:
        """Step over one of the characters of ``wanted``."""
        found = self.peek()
        if not found or found not in wanted:
            raise self.fail(
                f"{' or '.join(wanted)} is expected, {found!r} found" if found else f"the text ends where {' or '.join(wanted)} is expected"
            )
        self.at += 1
        return found

    def string(self) -> str:
        if self.peek() != '"':
            raise self.fail("a name in quotation marks is expected")
        match = PLAIN.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
            return match[1]
        try:
            value, end = _decode(self.text, self.at)
        except JSONDecodeError as error:
            raise self.fail(error.msg, error.pos) from None
        text = str(value)
        if not text.isprintable() and any("\ud800" <= c <= "\udfff" for c in text):
            raise self.fail("half a surrogate pair")
        self.at = end
        return text

    def value(self) -> Any:
        """The value at the current position: dict, list, str, int, float, bool or None."""
        return self._stepwise() if self.rule.steps else self._at_once()

    def _at_once(self) -> Any:
        """The value as Python's parser reads it, once it is known to nest and to hold no more than it may."""
        self.peek()
        self._measure()
        try:
            found, self.at = _decode(self.text, self.at)
        except JSONDecodeError as error:
            raise self.fail(error.msg, error.pos) from None
        except (ValueError, RecursionError) as error:  # a number of more digits than Python takes
            raise self.fail(str(error)) from None
        return found

    def _measure(self) -> None:
        text, depth = self.text, 0
        many = text.count(",") + text.count("[") + text.count("{") >= self.left  # those in strings are counted too, so look again
        if many:
            self._count()
        for token in (COMMAS if many else MARKS).finditer(text, self.at):
            first = text[token.start()]
            if first in "[{":
                depth += 1
                if depth > self.depth:
                    hint = "raise Limits.json_depth"
                    raise LimitError(f"JSON of more than {self.depth} levels", part=self.part, offset=self.offset(token.start()), hint=hint)
            elif first in "]}":
                depth -= 1
            if many and first in "[{," and not CLOSES.match(text, token.end()):
                self._count()

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise LimitError(f"more than {self.most:,} JSON values", part=self.part, hint="raise Limits.json_values")

    def _stepwise(self) -> Any:
        stack: list[tuple[Any, str]] = []  # containers that are open, each with the name it waits for a value under
        while True:
            found = self._begin(stack)
            if found is _OPENED:
                continue
            while stack:
                container, name = stack[-1]
                if type(container) is list:
                    container.append(found)
                else:
                    container[name] = found
                if self.take(",]" if type(container) is list else ",}") == ",":
                    self._name(stack)
                    break
                found = stack.pop()[0]
            else:
                return found

    def _begin(self, stack: list[tuple[Any, str]]) -> Any:
        """A scalar or an empty container; _OPENED where a container has been put on the stack."""
        self._count()
        first = self.peek()
        if first not in ("{", "["):
            return self._scalar(first)
        if len(stack) >= self.depth:
            raise self.fail(f"more than {self.depth} levels")
        container: Any = {} if first == "{" else []
        self.at += 1
        if self.peek() == ("}" if first == "{" else "]"):
            self.at += 1
            return container
        stack.append((container, ""))
        self._name(stack)
        return _OPENED

    def _name(self, stack: list[tuple[Any, str]]) -> None:
        container, _ = stack[-1]
        if type(container) is dict:
            self.peek()
            at, name = self.at, self.string()
            if name in container:
                self.twice.append((name, at))
            self.take(":")
            stack[-1] = (container, name)

    def _scalar(self, first: str) -> Any:
        if first == '"':
            return self.string()
        if first in WORDS and self.text.startswith(WORDS[first][0], self.at):
            self.at += len(WORDS[first][0])
            return WORDS[first][1]
        match = NUMBER.match(self.text, self.at)
        if match is None:
            raise self.fail("a value is expected" if first else "the text ends where a value is expected")
        digits = match[0]
        whole = match[1] is None and match[2] is None and len(digits) <= 20 and digits != "-0"
        number = int(digits) if whole else float(digits)
        if number in (float("inf"), float("-inf")):
            raise self.fail("a number too large for a float")
        self.at = match.end()
        return number

    def end(self) -> int:
        """Characters behind the value that are no white space: 0 in a whole JSON text."""
        self.peek()
        return len(self.text) - self.at


_OPENED: Any = object()


def parse(raw: bytes, part: str, limits: Limits, rule: Rule = STRICT) -> tuple[Any, list[tuple[str, int]]]:
    """The one value of a JSON text, and the names given twice, where the rule tells. FormatError with the byte where it is none,
    LimitError where it is too deep or holds too much."""
    reader = Reader(raw, part, limits, 0, rule)
    found = reader.value()
    if reader.end():
        raise reader.fail("something follows the value")
    return found, reader.twice


def parse_record(span: Span, part: str, limits: Limits) -> Any:
    """The value of a record of JSON in an archive of torch, as torch reads it. LimitError where it is too long, FormatError where it is
    damaged."""
    if span.length > limits.json_bytes:
        raise LimitError(f"{span.length:,} bytes of JSON", part=part, hint="raise Limits.json_bytes")
    return parse(span.read(), part, limits, PYTHON)[0]
