"""A scan as plain rows: what ``inert scan --json`` and its tables show.

Knows: which facts of a report are told, and the sentences that say what a verdict means and what to do next.
Refuses to know: how any of it was found (ops/scan.py).
"""

from __future__ import annotations

from ..ops.scanning.verdicts import verdict
from .listing import notes
from .plain import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.scan import ScanReport
    from ..ops.scanning.judging import Name

SHOWN = 4  # names in a sentence
MEANS = {
    "clean": "every name that it asks for builds data, and nothing is hidden in it",
    "unknown": "nobody has judged some of what it asks for",
    "dangerous": "it holds a way to mislead or change the program that loads or unpacks it",
    "unreadable": "part of it could not be read to its end, so that nobody can say what it would do",
}
NEXT = {
    "clean": "it may be loaded",
    "unknown": "load it as a pickle only if you trust its maker; inert ls, info and convert read its tensors without running anything",
    "dangerous": "do not load it as a pickle; inert ls, info and convert read its tensors without running anything",
    "unreadable": "do not take it for clean: get the file again, or see what inert verify and inert info say of it",
}


def report(found: ScanReport) -> dict[str, Any]:
    """A scan as JSON has it; of several files the merged names and findings, and ``files`` with a report for each."""
    made: dict[str, Any] = {
        "file": printable(found.file),
        "verdict": found.verdict,
        "summary": sentence(found),
        "kind": found.kind,
        "size": found.size,
        "weights_only": {
            "accepts": found.weights_only.accepts,
            "blocked": [printable(name) for name in found.weights_only.blocked],
            "why": found.weights_only.why,
        },
        "globals": [row(name) for name in found.globals],
        "findings": notes(found.findings),
    }
    if found.files:
        made["findings"] = [{"file": printable(one.file), **note} for one in found.files for note in notes(one.findings)]
        made["counts"] = counts(found)
        made["files"] = [report(one) for one in found.files]
    return made


def row(name: Name) -> dict[str, Any]:
    """One name: how often it is imported and called, where first, and why it is judged so."""
    return {
        "module": printable(name.module),
        "name": printable(name.name),
        "verdict": name.verdict,
        "count": name.count,
        "calls": name.calls,
        "where": {"part": printable(name.part), "offset": name.offset},
        "how": name.how,
        "written": printable(name.written),
        "why": name.why,
        "since": name.since or None,
        "link": name.link or None,
    }


def counts(report: ScanReport) -> dict[str, int]:
    """How many files there are of each verdict."""
    found: dict[str, int] = dict.fromkeys(MEANS, 0)
    for one in report.files or [report]:
        found[one.verdict] += 1
    return found


def sentence(report: ScanReport) -> str:
    """What the verdict means for this file, in one line."""
    if report.verdict == "clean" and not report.globals:
        return "no pickle in it asks for anything"
    bad = [name for name in report.globals if name.verdict == report.verdict]
    if report.verdict == "dangerous" and bad:
        return f"loading it as a pickle would {_verbs(bad)} {named(bad)}"
    if report.verdict == "unknown" and bad:
        return f"nobody has judged what it asks for: {named(bad)}"
    told = next((note.message for note in report.findings if verdict(note.code) == report.verdict), "")
    return f"{MEANS[report.verdict]}: {printable(told)}" if told else MEANS[report.verdict]


def _verbs(names: list[Name]) -> str:
    return "call" if any(name.calls for name in names) else "import"


def named(names: list[Name]) -> str:
    shown = ", ".join(printable(name.dotted) for name in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")
