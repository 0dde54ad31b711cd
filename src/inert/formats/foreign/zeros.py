"""Files in which nothing was written: empty, all NUL, all FF, or with runs of NULs between the rest.

Knows: how to find runs of NULs in a file of any size, exactly in a small one, from samples and by bisection in a large one.
Refuses to know: what the rest of the file is, and whether NULs are numbers or blocks that were never written.
"""

from __future__ import annotations

import re

from .look import END, SHOWN, WHOLE
from .tables import AGAIN, NEVER, TAR_KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...source import Source
    from .look import Answer, Look

PROBE, PROBES = 512, 64  # bytes of a sample, and how many: 512 is the smallest unit that storage loses
NUL_RUN = re.compile(rb"(?<!\0)\0{%d,}" % PROBE)


def empty(look: Look) -> Answer | None:
    if look.source.size:
        return None
    return "empty", "an empty file", "; nothing was written into it", AGAIN


def filled(look: Look) -> Answer | None:
    source = look.source
    if not look.head.strip(b"\xff") and _all(source, b"\xff"):
        return "ff-filled", "a file of nothing but FF bytes", _sampled(source), "a failing disk or card leaves such files: " + AGAIN
    if look.head.strip(b"\0") and not look.head.startswith(bytes(PROBE)):
        return None
    if look.inner:
        return "zero-filled", "NUL bytes", "", NEVER
    if _all(source, b"\0"):
        return "zero-filled", "a file of nothing but NUL bytes", _sampled(source), NEVER
    return "zero-filled", "a file that begins with NUL bytes", _told(source), NEVER


def note(look: Look, kind: str) -> str:
    """The NUL runs of a file that is damaged, or of one that ends in NULs: blocks that were never written."""
    if kind in ("empty", "zero-filled", "ff-filled", "tf-data", *TAR_KINDS):
        return ""
    ends = len(look.tail) == END and not look.tail[END // 2 :].strip(b"\0")
    told = _told(look.source) if ends or kind in ("unknown", "zip-cut", "zip-damaged") else ""
    return told and told + " (never written, or true zeros)"


def _told(source: Source) -> str:
    """The first NUL runs in words; "" where there are none."""
    ranges = _ranges(source)
    shown = ", ".join(f"{start:,} to {end:,}" for start, end in ranges[:SHOWN])
    more = " and further ones" if len(ranges) > SHOWN else ""
    return f"; bytes {shown}{more} are all NUL{_sampled(source)}" if ranges else ""


def _sampled(source: Source) -> str:
    return "" if source.size <= WHOLE else f" as far as {PROBES} samples show"


def _all(source: Source, byte: bytes) -> bool:
    if source.size <= WHOLE:
        return not source.read(0, source.size).strip(byte)
    return not any(_probe(source, at).strip(byte) for at in _probes(source))


def _probe(source: Source, at: int) -> bytes:
    return source.read(at, min(PROBE, source.size - at))


def _probes(source: Source) -> list[int]:
    """Offsets of evenly spaced samples, the first and the last bytes among them."""
    last = max(source.size - PROBE, 0)
    return sorted({last * i // (PROBES - 1) for i in range(PROBES)})


def _ranges(source: Source) -> list[tuple[int, int]]:
    """Runs of NULs: exact in small files; between samples, with edges found by bisection, in large ones."""
    if source.size <= WHOLE:
        return [match.span() for match in NUL_RUN.finditer(source.read(0, source.size))]
    ranges: list[tuple[int, int]] = []
    start = -1  # of the current run
    before = 0  # the sample before this one
    for at in _probes(source):
        zero = not _probe(source, at).strip(b"\0")
        if zero and start < 0:
            start = _edge(source, before, at, False) if at else 0
        elif not zero and start >= 0:
            ranges.append((start, _edge(source, before, at, True)))
            start = -1
            if len(ranges) > SHOWN:
                return ranges
        before = at
    return ranges if start < 0 else [*ranges, (start, source.size)]


def _edge(source: Source, low: int, high: int, zero: bool) -> int:
    """Where between two samples NULs end (``zero``: the one at ``low`` is all NUL, the other is not) or begin (the reverse)."""
    while high - low > PROBE:
        middle = (low + high) // 2
        if (not _probe(source, middle).strip(b"\0")) == zero:
            low = middle
        else:
            high = middle
    data = source.read(low, min(high - low + PROBE, source.size - low))
    return low + (len(data) - len(data.lstrip(b"\0")) if zero else len(data.rstrip(b"\0")))
