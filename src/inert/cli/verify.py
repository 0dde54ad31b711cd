"""``inert verify``: is a file, a set of files or a whole folder of them as it was written?"""

from __future__ import annotations

import gc
import os

from ..errors import UnidentifiedError
from ..finding import ERROR, INFO, WARNING
from ..limits import DEFAULT
from ..ops.many import checkpoints, each, newest
from ..ops.verify import THREADS, Verification, verify
from ..report.verify import sentence, verification, verifications
from . import FAILED, FINDINGS, FINE, fail, no_file, tell
from .options import Parser
from .terminal import Progress, write_json, write_lines, write_table
from .text import clean, counted, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

ABOUT = """Check files to the byte: structure, bounds, every checksum, every file of a set; and say what cannot be verified.

FILE may be a folder: a checkpoint in several files, or one that holds many checkpoints.

Exit status: 0 nothing wrong or warnings only, 1 errors were found (with --strict: warnings too), 2 it could not be done."""
SHOWN = 200  # findings of one file in a table
SWEPT = 16  # files whose objects may lie about
TOLD = 8  # lines on what was not verified


def parser() -> Parser:
    made = Parser("verify", ABOUT, ("file",), rest="files")
    made.add_argument("--census", action="store_true", help="count NaN and infinite values of every tensor as well")
    made.add_argument("--strict", action="store_true", help="warnings end in exit status 1, too")
    made.add_argument("--all", action="store_true", help="also the notes that are good to know, in the table")
    return made


class Job:
    """The paths to be checked, and what became of them."""

    def __init__(self, options: Namespace) -> None:
        self.options = options
        self.given = [options.file, *options.files]
        self.skipped = 0  # files of a folder that are no checkpoints
        self.failed = False

    def paths(self) -> Iterator[tuple[str, bool]]:
        """(path, whether somebody has named it). A folder that is no checkpoint stands for those in it."""
        for path in self.given:
            if os.path.isdir(path):
                yield from ((one, one == path) for one in checkpoints(path, DEFAULT))
            else:
                yield path, True


def run(options: Namespace) -> int:
    job = Job(options)
    if len(job.given) == 1 and not os.path.isdir(options.file):
        return _alone(options)
    jobs = list(job.paths())
    if not jobs:
        return fail(f"there is no file in the folder {options.file!r}")
    found: list[Verification] = []
    with Progress("checking", _size(path for path, _ in jobs)) as progress:

        def one(job: tuple[str, bool]) -> tuple[Verification | str, bool]:
            path, named = job
            try:
                threads = None if len(jobs) == 1 else 1
                return verify(path, census=options.census, byteorder=options.byteorder, threads=threads, progress=progress), named
            except OSError as error:
                return f"{path}: {(not os.path.lexists(path) and no_file(path)) or error.strerror or error}", named

        for number, (answer, named) in enumerate(each(one, jobs, min(os.cpu_count() or 1, THREADS)), 1):
            if not number % SWEPT:
                gc.collect()  # a command runs without; what one file leaves is little, what thousands leave is not
            if isinstance(answer, str):
                tell(answer)
                job.failed = True
            elif isinstance(answer.error, UnidentifiedError) and not answer.format:
                job.skipped += not named
                if named:
                    tell(str(answer.error))
                job.failed |= named
            else:
                found.append(answer)
    if not found:
        return FAILED if job.failed else fail(f"there is no checkpoint in the folder {options.file!r}")
    if options.json:
        write_json(verification(found[0]) if len(job.given) == len(found) == 1 and not job.skipped else verifications(found, job.skipped))
    else:
        apart = False
        for answer in found:
            tall = bool(answer.findings) or answer.census is not None
            _tell(answer, options, apart or (tall and answer is not found[0]))
            apart = tall
        _sum_up(found, job.skipped)
    return FAILED if job.failed else _code(found, options)


def _alone(options: Namespace) -> int:
    with Progress("checking", _size([options.file]) * (1 + options.census)) as progress:
        found = verify(options.file, census=options.census, byteorder=options.byteorder, progress=progress)
    if isinstance(found.error, UnidentifiedError) and not found.format:
        return fail(str(found.error))
    if options.json:
        write_json(verification(found))
    else:
        _tell(found, options, False)
    return _code([found], options)


def _code(found: list[Verification], options: Namespace) -> int:
    bad = (ERROR, WARNING) if options.strict else (ERROR,)
    return FINDINGS if any(note.severity in bad for one in found for note in one.findings) else FINE


def _size(paths: object) -> int:
    """Bytes of the files, as far as their names tell."""
    total = 0
    for path in paths:  # type: ignore[attr-defined]
        try:
            total += os.stat(path).st_size
        except OSError:  # a prefix, or a member of an archive
            continue
    return total


def _tell(found: Verification, options: Namespace, apart: bool) -> None:
    """A table of what was found, what to do about it, and one sentence."""
    shown = [one for one in found.findings if options.all or one.severity != INFO]
    write_lines([""] if apart else [])
    if shown:
        rows = [(one.severity, one.code, str(one.where), one.message, _names(one.tensors)) for one in shown[:SHOWN]]
        write_table(("severity", "code", "where", "what", "tensors"), rows)
        if len(shown) > SHOWN:
            write_lines([f"… {counted(len(shown) - SHOWN, 'more finding')}: --json gives them all"])
        write_lines(["", *(clean(f"{code}: {fix}", 600) for code, fix in {one.code: one.fix for one in shown[:SHOWN]}.items())])
    if found.census is not None:
        write_lines(_census(found))
    if options.all or not found.ok:
        unchecked = [one for one in found.unchecked if options.all or not one.harmless]
        write_lines(clean(f"not verified: {one} ({size(one.size)})", 600) for one in unchecked[:TOLD])
        if len(unchecked) > TOLD:
            write_lines([f"not verified: {len(unchecked) - TOLD:,} more; --json gives them all"])
    facts = f"{found.format}, {counted(found.parts, 'part')}, {size(found.bytes)} checked" if found.format else ""
    write_lines([clean(f"{found.file}: {sentence(found)}", 800) + (f" ({facts})" if facts else "")])


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")


def _census(found: Verification) -> Iterator[str]:
    assert found.census is not None
    hit = {name: counts for name, counts in found.census.items() if counts["nan"] or counts["inf"]}
    for name, counts in list(hit.items())[:SHOWN]:
        yield clean(f"{name}: {counts['nan']:,} NaN, {counts['inf']:,} infinite of {counts['count']:,}", 600)
    total = {key: sum(counts[key] for counts in found.census.values()) for key in ("count", "nan", "inf")}
    told = f"{counted(total['nan'], 'NaN')} and {total['inf']:,} infinite of {total['count']:,} values"
    yield f"census: {told} in {counted(len(found.census), 'floating tensor')}"


def _sum_up(found: list[Verification], skipped: int) -> None:
    if len(found) + skipped < 2:
        return
    bad = sum(not one.ok for one in found)
    more = f", {counted(skipped, 'file')} of other kinds left out" if skipped else ""
    write_lines(["", f"{counted(len(found), 'checkpoint')}: {bad:,} not sound, {len(found) - bad:,} without errors{more}"])
    last = newest(one.file for one in found if one.ok)
    if bad and last:
        write_lines([clean(f"the newest without errors: {last}", 800)])
