"""Two values that are no containers: are they equal, and if not, is it their value that differs.

Knows: that numbers are equal where their values are (an int and a NumPy scalar, 0.0 and -0.0, NaN and NaN if so wished, floats within the
tolerance), and that equal texts of another class are minor. Large texts are looked at once, however often a file refers to them.
Refuses to know: containers (diff_values.py).
"""

from __future__ import annotations

from math import isfinite

from ..layout import Storage
from ..pickle.nodes import Buffer, Global, Raw
from .diff_elements import same_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .diff_figures import Tolerance

LARGE = 64  # bytes or characters, from which on equal texts are looked up instead of compared anew
NUMBERS = (int, float, complex)


class Leaves:
    """Compares pairs: "value" where they differ, "class" or "bits" for a minor difference, "" for none. Raises where one is damaged."""

    def __init__(self, tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self.texts: dict[Any, int] = {}  # large texts → a number
        self.numbers: dict[int, tuple[Any, int]] = {}  # id of a large text → it, and its number

    def __call__(self, a: Any, b: Any) -> str:
        """How two values that are no containers differ: "value", or a minor difference ("class", "bits"), or none."""
        kind = type(a)
        if kind is type(b):
            if kind in (str, bytes, bytearray, int):
                return "" if self._same(a, b) else "value"
            if kind in (bool, type(None)):
                return "" if a is b else "value"
        if isinstance(a, Storage) and isinstance(b, Storage):
            return "" if same_storage(a, b) else "value"
        if isinstance(a, Global) and isinstance(b, Global):
            return "" if a.dotted == b.dotted else "value"
        if isinstance(a, (Buffer, Raw)) and kind is type(b):
            return "" if type(b) is Buffer or same_span(a, b) else "value"
        mine, its = scalar(a), scalar(b)
        if isinstance(mine, NUMBERS) and isinstance(its, NUMBERS):
            return self._numbers(mine, its) or ("" if kind is type(b) else "class")
        for texts in (str, bytes):
            if kind is not type(b) and isinstance(a, texts) and isinstance(b, texts):
                return "class" if self._same(a, b) else "value"
        if kind is not type(b):
            return "value"
        if hasattr(a, "tobytes"):  # a NumPy scalar that Python has no number for, or an array
            one, other = ((side.dtype, getattr(side, "shape", ()), side.tobytes()) for side in (a, b))
            return "" if one == other else "value"
        if kind.__name__ == "Decimal":
            return "" if str(a) == str(b) else "value"  # signalling NaNs cannot be compared
        return "" if a == b else "value"

    def _numbers(self, a: Any, b: Any) -> str:
        if a != a and b != b:  # noqa: PLR0124
            return "" if self.tolerance.equal_nan else "value"
        if isinstance(a, complex) or isinstance(b, complex):
            if isinstance(a, complex) and isinstance(b, complex):
                return self._numbers(a.real, b.real) or self._numbers(a.imag, b.imag)
            return "" if a == b else "value"
        if a == b:
            return "bits" if isinstance(a, float) and isinstance(b, float) and not a and str(a) != str(b) else ""
        if isinstance(a, float) or isinstance(b, float):
            return "" if self._near(a, b) else "value"
        return "value"

    def _near(self, a: Any, b: Any) -> bool:
        if self.tolerance.exact or any(isinstance(side, int) and side.bit_length() > 1000 for side in (a, b)):
            return False
        return isfinite(b) and isfinite(a) and abs(a - b) <= self.tolerance.atol + self.tolerance.rtol * abs(b)

    def _same(self, a: Any, b: Any) -> bool:
        """Whether two texts, bytes or integers are equal: a large one is looked at once, however often a file refers to it."""
        if isinstance(a, int):
            return bool(a == b) if a.bit_length() <= 8 * LARGE else a.bit_length() == b.bit_length() and self._number(a) == self._number(b)
        if len(a) != len(b):
            return False
        return bool(a == b) if len(a) <= LARGE else self._number(a) == self._number(b)

    def _number(self, value: Any) -> int:
        known = self.numbers.get(id(value))
        if known is None:
            text: Any = bytes(value) if isinstance(value, bytearray) else value
            known = self.numbers[id(value)] = value, self.texts.setdefault(text, len(self.texts))
        return known[1]


def scalar(value: Any) -> Any:
    """The number of a NumPy scalar, where Python has one for it; whatever else as it is."""
    if type(value).__module__ == "numpy" and not getattr(value, "shape", True) and value.dtype.kind in "biufc":
        made = value.item()
        return made if isinstance(made, NUMBERS) else value
    return value


def same_storage(a: Storage, b: Storage) -> bool:
    """Whether two storages that stand in saved objects by themselves hold the same items. Raises where one is damaged."""
    if a is b:
        return True
    if (a.nbytes, a.dtype, a.order) != (b.nbytes, b.dtype, b.order):
        return False
    if a.opener is None or b.opener is None:
        return a.opener is b.opener
    one, other = a.span(), b.span()
    return one.length == other.length and same_bytes(one, other, lambda count: None)


def same_span(a: Any, b: Any) -> bool:
    return a.span.length == b.span.length and same_bytes(a.span, b.span, lambda count: None)
