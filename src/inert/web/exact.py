"""Integers as a browser can hold them: its numbers are float64, so that larger ones are sent as texts.

Knows: which integers those are, and which of them lie in a bin of a histogram. Refuses to know: what is counted.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SAFE = (1 << 53) - 1  # ECMAScript's Number.MAX_SAFE_INTEGER


def exact(value: Any) -> Any:
    """A value of a report, which is bounded in depth, with its large integers as texts."""
    if isinstance(value, dict):
        return {key: exact(one) for key, one in value.items()}
    if isinstance(value, list):
        return [exact(one) for one in value]
    return str(value) if type(value) is int and abs(value) > SAFE else value


def spans(low: int, high: int, bins: int) -> list[list[Any]]:
    """The first and the last integer of each of the equal bins from ``low`` to ``high``; the first is behind the last in an empty one."""
    firsts = [low + -(-(high - low) * at // bins) for at in range(bins)]
    return [[exact(first), exact(last)] for first, last in zip(firsts, [*(first - 1 for first in firsts[1:]), high], strict=True)]
