"""``inert scan``: what loading a file as a pickle would import and call.

Knows: how a path, a folder or several of them become files to look at, one report for each and one for all; the verdicts.
Refuses to know: where pickles are and what they ask for (scanning/), and how a report is shown (report, cli).

Nothing is loaded, imported or called to find out, and nothing is written.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from ..checkpoint import Calm
from ..containers.folder import Folder
from ..errors import FormatError, InertError, LimitError
from ..files import FileSource
from ..finding import Finding
from ..limits import DEFAULT
from ..pickle.opcodes import OPCODES
from ..policy import UNREADABLE, worst
from ..reading import hold
from ..source import BytesSource, Source
from ..torch.allowed import allowed, torch_name
from .scanning.files import Refused, listed
from .scanning.judging import Name
from .scanning.look import Look

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO

    from ..limits import Limits

    Path = str | os.PathLike[str]

LOADED = ("torch-zip", "torch-legacy")  # what torch.load reads with weights_only=True
SMALL = 1 << 20  # bytes of an archive that are read at once: a thousand little files need no thousand maps
TOGETHER = 32  # files that one process is given at a time


class WeightsOnly:
    """What torch.load(weights_only=True) makes of the names: whether it ``accepts`` them all, and those it has ``blocked``. Values are not
    looked at; ``inert info`` says what torch does with the file as a whole."""

    __slots__ = ("accepts", "blocked", "why")

    def __init__(self, accepts: bool, blocked: list[str], why: str) -> None:
        self.accepts = accepts
        self.blocked = blocked
        self.why = why

    def __repr__(self) -> str:
        return f"<WeightsOnly {'accepts' if self.accepts else 'refuses'}: {self.why}>"


class ScanReport:
    """The answer of a scan. ``verdict``: "clean" (only names that build data), "unknown" (names that nobody has judged), "dangerous" (names
    that run code, or a way to hide them) or "unreadable" (part of it could not be read to its end); of several files the worst one's.
    ``globals``: every name that is imported, in order; ``findings``: what else was found; ``weights_only``; ``files``: one report for each
    file, where several were scanned; ``kind``: what the file is by its content."""

    __slots__ = ("file", "files", "findings", "globals", "kind", "size", "verdict", "weights_only")

    def __init__(
        self,
        file: str,
        verdict: str,
        globals: list[Name],
        findings: list[Finding],
        weights_only: WeightsOnly,
        kind: str = "",
        size: int = 0,
    ) -> None:
        self.file = file
        self.verdict = verdict
        self.globals = globals
        self.findings = findings
        self.weights_only = weights_only
        self.kind = kind
        self.size = size
        self.files: list[ScanReport] = []

    def __repr__(self) -> str:
        return f"<ScanReport {self.file!r} {self.verdict}: {len(self.globals):,} names, {len(self.findings):,} findings>"


def scan(
    source: Path | BinaryIO | Iterable[Path],
    *,
    limits: Limits = DEFAULT,
    jobs: int = 1,
    progress: Callable[[int], Any] | None = None,
) -> ScanReport:
    """Look at every pickle in a file, in all files of a folder, or in several of these, and judge what it would import and call.

    ``source``: a path, a seekable binary file, or several paths. A folder is gone through with all folders in it, links to
    other folders left out; the index of a sharded set stands for its shards as well. Whatever the bytes, there is an answer:
    what cannot be read makes the verdict "unreadable". ``jobs``: processes for many files; ``progress`` is called with the number
    of bytes of each file that is done.
    Raises OSError for a path that is not there, and InertError for a folder without files."""
    if not isinstance(source, (str, os.PathLike)) and hasattr(source, "read"):
        return _one(source, limits)
    paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
    names = [os.fspath(path) for path in paths]
    found = listed(names, limits)
    if found == names and len(names) == 1:
        report = _one(names[0], limits)
        if progress:
            progress(report.size)
        return report
    return together(names, list(several(found, limits, jobs, progress)))


def several(
    paths: list[str], limits: Limits = DEFAULT, jobs: int = 1, progress: Callable[[int], Any] | None = None
) -> Iterator[ScanReport]:
    """A report for each of the files, in their order; one that is gone or may not be read is unreadable."""
    reports = _parallel(paths, limits, jobs) if jobs > 1 and len(paths) > TOGETHER else (_safely(path, limits) for path in paths)
    for report in reports:
        if progress:
            progress(report.size)
        yield report


def _parallel(paths: list[str], limits: Limits, jobs: int) -> Iterator[ScanReport]:
    from concurrent.futures import ProcessPoolExecutor
    from functools import partial
    from signal import SIG_IGN, SIGINT, signal

    yield _safely(paths[0], limits)  # which imports what is needed, so that each process need not
    size = max(1, min(TOGETHER, len(paths) // (2 * jobs)))
    batches = [paths[at : at + size] for at in range(1, len(paths), size)]
    # Ctrl-C is for the process that waits; the others end with it
    with ProcessPoolExecutor(min(jobs, len(batches)), initializer=signal, initargs=(SIGINT, SIG_IGN)) as pool:
        for reports in pool.map(partial(_batch, limits), batches):
            yield from reports


def _batch(limits: Limits, paths: list[str]) -> list[ScanReport]:
    return [_safely(path, limits) for path in paths]


def _safely(path: str, limits: Limits) -> ScanReport:
    if isinstance(path, Refused):
        return _unread(path, path.why)
    try:
        return _one(path, limits)
    except (InertError, OSError) as error:
        message = error.message if isinstance(error, InertError) else (error.strerror or str(error))
        return _unread(path, message)


def _unread(name: str, message: str) -> ScanReport:
    return ScanReport(name, UNREADABLE, [], [Finding("scan-unread", message, name)], WeightsOnly(False, [], "it was not read"))


@contextmanager
def _held(source: Any) -> Iterator[Source]:
    held, members = hold(source)
    try:
        if members:
            from ..formats.wrapped import member

            inner = held
            for name in members:
                inner = member(inner, name, DEFAULT).inner
            yield inner
        elif type(held) is FileSource and held.size <= SMALL and held.read(0, min(2, held.size)) == b"PK":
            yield BytesSource(held.read(0, held.size), held.name)
        else:
            yield held
    finally:
        held.close()


def _one(source: Any, limits: Limits) -> ScanReport:
    """The report of one file."""
    with Calm(), _held(source) as held:
        if isinstance(held, Folder):
            raise FormatError("this is a folder", part=held.name)
        return scan_source(held, limits)


def scan_source(held: Source, limits: Limits = DEFAULT) -> ScanReport:
    """The report of bytes that are held already, such as an open checkpoint's."""
    look = Look(limits, held.size)
    try:
        with held.steady():
            look.file(held)
    except InertError as error:  # the file was cut or changed meanwhile, or something that no look expected
        look.unread(error, held.name)
    except MemoryError:
        look.unread(LimitError("it needs more memory than there is"), held.name)
    verdict = look.names.judged()
    if not look.pickles and verdict != UNREADABLE:
        look.note("scan-nothing", _sentence(held), held.name)
    names = list(look.names.names.values())
    return ScanReport(held.name, verdict, names, look.names.told(), _weights_only(look), look.kind, held.size)


def _sentence(source: Source) -> str:
    from ..formats.foreign import describe

    try:
        return describe(source)[1]
    except InertError as error:
        return error.message


def _weights_only(look: Look) -> WeightsOnly:
    """By the names and opcodes of the pickles that torch.load reads."""
    blocked = list(dict.fromkeys(torch_name(name) for document in look.main for name in document.globals if not allowed(name)))
    opcodes = [
        OPCODES[code].name for document in look.main for code in document.opcodes if code in OPCODES and not OPCODES[code].weights_only
    ]
    if not look.main or look.kind not in LOADED:
        return WeightsOnly(False, blocked, "torch.load with weights_only=True reads no such file")
    if blocked:
        return WeightsOnly(False, blocked, f"it refuses {len(blocked)} name{'s' * (len(blocked) != 1)}")
    if opcodes:
        return WeightsOnly(False, [], f"it refuses the opcode {opcodes[0]}")
    if any(document.fault is not None for document in look.main):
        return WeightsOnly(False, [], "the pickle is damaged")
    return WeightsOnly(True, [], "it takes every name and opcode")


def together(names: list[str], reports: list[ScanReport]) -> ScanReport:
    """One report of many: every name once, with the worst that was found anywhere. ``names``: the paths that were asked for."""
    merged: dict[tuple[str, str], Name] = {}
    for report in reports:
        for one in report.globals:
            known = merged.get((one.module, one.name))
            if known is None:
                known = merged[one.module, one.name] = one.copy()
                known.part = f"{report.file}: {one.part}"
            else:
                known.count += one.count
                known.calls += one.calls
                if worst((known.verdict, one.verdict)) != known.verdict:
                    known.verdict, known.why = one.verdict, one.why
    blocked = list(dict.fromkeys(name for report in reports for name in report.weights_only.blocked))
    held = [report for report in reports if report.globals or report.kind in LOADED]
    accepts = bool(held) and all(report.weights_only.accepts for report in held)
    said = WeightsOnly(accepts, blocked, "it takes every pickle" if accepts else "it refuses some of the files, or there are none for it")
    whole = ScanReport(
        names[0] if len(names) == 1 else f"{len(names)} paths",
        worst(report.verdict for report in reports),
        list(merged.values()),
        [finding for report in reports for finding in report.findings],
        said,
        "",
        sum(report.size for report in reports),
    )
    whole.files = reports
    return whole
