"""``inert scan``: what loading a file as a pickle would import and call."""

from __future__ import annotations

import os
import sys

from ..limits import DEFAULT
from ..ops.scan import scan, several, together
from ..ops.scanning.files import listed
from ..report import scan as said
from ..report.scan import MEANS, NEXT, counts, sentence
from . import FINDINGS, FINE, version
from .options import Parser
from .terminal import Progress, write_json, write_lines, write_table
from .text import clean, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from ..ops.scan import ScanReport
    from ..ops.scanning.judging import Name

ABOUT = """Say what loading files as pickles would import and call, and whether anything is hidden in them. Nothing is loaded to find out.

FILE is a file, a folder (with all folders in it), the prefix of a TensorFlow checkpoint, or 'ARCHIVE!MEMBER'. Verdicts, the worst one last:

  clean       only names that build data
  unknown     names that nobody has judged
  unreadable  part of it could not be read to its end
  dangerous   names that run code, or a way to hide them

Exit status: 0 clean or unknown, 1 unreadable or dangerous (with --fail-on unknown: unknown too), 2 it could not be done."""
FAILS = {"dangerous": ("dangerous", "unreadable"), "unknown": ("unknown", "dangerous", "unreadable")}
NOTES = 12  # findings that are shown of one file; --json has them all
ROWS = 40  # names that are shown of one file
SHORT = 3  # findings that are shown of each of several files


def parser() -> Parser:
    made = Parser("scan", ABOUT, ("file",), rest="files")
    made.add_argument("--sarif", action="store_true", help="the answer as SARIF 2.1.0, on stdout")
    made.add_argument(
        "--fail-on", choices=tuple(FAILS), default="dangerous", help="the least verdict that ends in exit status 1 (default: dangerous)"
    )
    made.add_argument("--all", action="store_true", help="of several files, list the clean ones too")
    made.add_argument("--jobs", type=int, default=0, metavar="N", help="processes for many files (default: one for each processor)")
    return made


def run(options: Namespace) -> int:
    paths = [options.file, *options.files]
    found = listed(paths)
    report = scan(found[0]) if len(paths) == 1 and found == paths else _many(paths, found, options.jobs)
    if options.sarif:
        from ..report.sarif import sarif

        write_json(sarif(report, version()))
    elif options.json:
        write_json(said.report(report))
    elif report.files:
        write_lines(overview(report, options.all))
    else:
        page(report)
    return FINDINGS if any(one.verdict in FAILS[options.fail_on] for one in report.files or [report]) else FINE


def _many(paths: list[str], found: list[str], jobs: int) -> ScanReport:
    total = sum(map(_size, found)) if sys.stderr.isatty() else 0
    with Progress(f"scanning {counted(len(found), 'file')}", total) as progress:
        return together(paths, list(several(found, DEFAULT, jobs or os.cpu_count() or 1, progress)))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


# -- one file ---------------------------------------------------------------------------------------------------------------


def page(report: ScanReport) -> None:
    """Verdict, what it would do, why, and what to do next."""
    write_lines([f"{clean(report.file)}: {report.verdict.upper()}: {clean(sentence(report), 600)}"])
    names = sorted(report.globals, key=lambda name: -list(MEANS).index(name.verdict))
    if names:
        write_lines([""])
        rows = [
            (one.verdict, called(one), f"{one.count:,}", f"{one.calls:,}", _place(one.part, one.offset), one.why) for one in names[:ROWS]
        ]
        write_table(("verdict", "name", ">imported", ">called", "first in", "why"), rows)
    if len(names) > ROWS:
        write_lines([f"… {len(names) - ROWS:,} more names: --json has them all"])
    write_lines(notes(report))
    write_lines(["", *advice(report)])


def called(name: Name) -> str:
    """A name as Python 3 imports it, and as it is written where that differs."""
    return name.dotted if name.written in ("", name.dotted) else f"{name.dotted} (written {name.written})"


def _place(part: str, offset: int) -> str:
    return f"{part} at byte {offset:,}"


def notes(report: ScanReport) -> Iterator[str]:
    order = ("error", "warning", "info")
    found = sorted(report.findings, key=lambda note: order.index(note.severity))
    if found:
        yield ""
    for note in found[:NOTES]:
        yield clean(str(note), 600)
    if len(found) > NOTES:
        yield f"… {len(found) - NOTES:,} more findings: --json has them all"


def advice(report: ScanReport) -> Iterator[str]:
    said = report.weights_only
    if said.accepts:
        yield "torch.load(weights_only=True) takes every name in it"
    elif said.blocked:
        more = f" and {len(said.blocked) - 6:,} more" if len(said.blocked) > 6 else ""
        yield clean(f"torch.load(weights_only=True) refuses {', '.join(said.blocked[:6])}{more}", 600)
    yield f"next: {NEXT[report.verdict]}"


# -- several ------------------------------------------------------------------------------------------------------------------


def overview(report: ScanReport, clean_too: bool) -> Iterator[str]:
    """A line for each file that is not clean, its findings, and how many there are of each verdict."""
    for one in report.files:
        if one.verdict == "clean" and not clean_too:
            continue
        yield f"{one.verdict:10}  {clean(one.file)}: {clean(sentence(one), 400)}"
        told = [note for note in one.findings if note.severity != "info"]
        for note in told[:SHORT]:
            said = str(note).replace(f"{one.file}: ", "", 1).replace(f"{one.file} at", "at", 1)  # which file it is stands above
            yield f"            {clean(said, 400)}"
        if len(told) > SHORT:
            yield f"            … {len(told) - SHORT:,} more: inert scan {clean(one.file)}"
    found = counts(report)
    yield f"{counted(len(report.files), 'file')}: " + ", ".join(f"{count:,} {verdict}" for verdict, count in found.items() if count)
    yield f"next: {NEXT[report.verdict]}" if report.verdict != "clean" else "every file may be loaded"
