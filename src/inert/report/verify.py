"""A verification as a plain dict: what ``inert verify --json`` gives, and what its table is made of.

Knows: the shape of one file's answer and of several, and one sentence for each.
Refuses to know: what was checked, and how.
"""

from __future__ import annotations

from ..finding import ERROR, WARNING, listed
from ..ops.many import newest
from .listing import notes
from .plain import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..ops.verify import Verification

RUNS = 100  # places, and tensors, of one line of what was not verified
NAMED = 3  # tensors in a sentence


def verification(found: Verification) -> dict[str, Any]:
    """One file: ``ok``, ``findings``, what is ``unchecked`` and why, what was ``checked``, and the ``census`` where there is one."""
    made: dict[str, Any] = {
        "file": printable(found.file),
        "format": found.format,
        "ok": found.ok,
        "sentence": printable(sentence(found)),
        "counts": found.counts(),
        "findings": notes(found.findings),
        "unchecked": [
            {
                "file": printable(one.file),
                "part": printable(one.part),
                "why": printable(one.why),
                "harmless": one.harmless,
                "size": one.size,
                "runs": [list(run) for run in one.runs[:RUNS]],
                "tensors": [printable(name) for name in one.tensors[:RUNS]],
            }
            for one in found.unchecked
        ],
        "checked": {"bytes": found.bytes, "parts": found.parts},
    }
    if found.census is not None:
        rows = [{"name": printable(name), **counts} for name, counts in found.census.items()]
        total = {key: sum(row[key] for row in found.census.values()) for key in ("count", "nan", "inf", "odd")}
        made["census"] = {"tensors": rows, "total": total}
    return made


def verifications(found: Sequence[Verification], skipped: int = 0) -> dict[str, Any]:
    """Several files: ``ok`` where all are, all ``findings`` with the file of each, the ``files`` one by one, and the ``newest`` one without
    errors, None where each has some."""
    files = [verification(one) for one in found]
    return {
        "ok": not any(not one.ok for one in found),
        "findings": [{"file": one["file"], **row} for one in files for row in one["findings"]],
        "files": [{key: value for key, value in one.items() if key != "findings"} for one in files],
        "newest": printable(newest(one.file for one in found if one.ok)) or None,
        "skipped": skipped,
    }


def sentence(found: Verification) -> str:
    """What is to be said of a file in one line."""
    if found.error is not None and not found.format:
        return f"it cannot be opened: {found.findings[0].message}"
    counts = found.counts()
    if not found.ok:
        hit = list(dict.fromkeys(name for one in found.findings if one.severity == ERROR for name in one.tensors))
        tensors = f" that hit {_counted(len(hit), 'tensor')}: {_named(hit)}" if hit else ""
        return f"it is not sound: {_counted(counts[ERROR], 'error')}{tensors}{_more(counts[WARNING])}"
    return f"no error was found{_more(counts[WARNING])}{_not_verified(found)}"


def _more(warnings: int) -> str:
    return f", {_counted(warnings, 'warning')}" if warnings else ""


def _not_verified(found: Verification) -> str:
    """The largest of what nothing vouches for; a few bytes of headers are not worth a word."""
    held = [one for one in found.unchecked if not one.harmless]
    size = sum(one.size for one in held)
    if not size:
        return "; every checksum fits" if found.bytes else ""
    if size * 1000 < found.bytes or size < min(64, found.bytes // 4):
        return "; every checksum fits"
    most = max(held, key=lambda one: one.size)
    return f"; but {size:,} bytes cannot be verified ({most.why})"


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _named(names: list[str]) -> str:
    if len(names) <= NAMED:
        return listed(names)
    return f"{', '.join(name[:80] for name in names[:NAMED])} and {len(names) - NAMED:,} more"
