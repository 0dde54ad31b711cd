"""``inert.verify``: everything that can be checked of a checkpoint, and a word on what cannot.

Knows: how the notes of reading, the checks of a format and those of what is wrapped around it become one list, worst first; that a file
which cannot be opened is a finding like any other.
Refuses to know: what is checked. Formats own their checks (``Content.checks``); those of tensors are in verify_tensors.py.

Every check reads in bounded pieces, in several threads; nothing is mapped, and memory does not grow with the file.
"""

from __future__ import annotations

import os
from contextlib import ExitStack

from ..checking import Inspector, Tally, Unchecked
from ..checkpoint import Calm, Checkpoint
from ..errors import InertError, LimitError, UnidentifiedError, UnsupportedError
from ..finding import ERROR, INFO, WARNING, Finding
from ..formats import identify
from ..limits import DEFAULT
from ..reading import hold
from . import verify_tensors as tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, BinaryIO

    from ..content import Content
    from ..limits import Limits
    from ..source import Source

ORDER = {ERROR: 0, WARNING: 1, INFO: 2}
THREADS = 8  # at most: more only wait for the same disk
DISTCP = ".distcp"
ALONE = 16 << 20  # bytes of a file that one thread checks as quickly


class Verification:
    """What was found. ``ok``: nothing of severity error · ``findings``: worst first · ``unchecked``: what could not be verified, and why ·
    ``bytes`` and ``parts`` that were checked · ``census``: of each tensor {count, nan, inf, odd}, where that was asked for ·
    ``format``: "" where the file could not be opened, and ``error`` is then why."""

    __slots__ = ("bytes", "census", "error", "file", "findings", "format", "parts", "unchecked")

    def __init__(self, file: str) -> None:
        self.file = file
        self.format = ""
        self.findings: list[Finding] = []
        self.unchecked: list[Unchecked] = []
        self.bytes = 0
        self.parts = 0
        self.census: dict[str, dict[str, int]] | None = None
        self.error: InertError | None = None

    @property
    def ok(self) -> bool:
        return not any(found.severity == ERROR for found in self.findings)

    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        return {severity: sum(found.severity == severity for found in self.findings) for severity in ORDER}

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"<Verification {self.file!r} {'ok' if self.ok else 'not ok'}, {len(self.findings)} findings>"


def verify(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    census: bool = False,
    byteorder: str | None = None,
    limits: Limits = DEFAULT,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Verification:
    """Check a file, folder or set that ``inert.open`` would open: structure, bounds, every checksum there is. Reads all of it once.

    ``census``: count NaN and infinities of every tensor as well (reads the data again). ``threads``: how many read and sum at a time (by
    default as many as there are processors, 8 at most). ``progress`` is told how many bytes more have been checked, by
    whichever thread it was, one at a time.
    A file that cannot be opened gives a Verification with that as its finding. OSError (no such file) passes through."""
    if byteorder not in (None, "little", "big"):
        raise ValueError("byteorder must be 'little', 'big' or None")
    with Calm():
        part, held, members = _held(source)
        made = Verification(held.name)
        tally = Tally(threads or _threads(held), progress)
        try:
            content = identify(held, limits, byteorder, members=members)
        except InertError as error:
            held.close()
            made.error = error
            made.findings = [refusal(error, held.name)]
            return made
        except BaseException:
            held.close()
            raise
        try:
            _examine(content, made, tally, census)
            if part:
                made.findings = ordered([*made.findings, *unclaimed(content, part)])
        finally:
            tally.close()
            content.close()
    return made


def examined(content: Content) -> Verification:
    """What there is to be found of a Content that is open already, and stays open."""
    made = Verification(content.source.name)
    tally = Tally(_threads(content.source), None)
    try:
        _examine(content, made, tally, False)
    finally:
        tally.close()
    return made


def _held(source: str | os.PathLike[str] | BinaryIO) -> tuple[str, Source, tuple[str, ...]]:
    """What is to be checked. A .distcp file is nothing by itself: its set is, and the file's path is given first."""
    place = os.fsdecode(source) if isinstance(source, (str, os.PathLike)) else ""
    if place.endswith(DISTCP):
        from ..formats.torch_dcp import set_of

        whole = set_of(place)
        if whole:
            return (place, *hold(whole))
    return ("", *hold(source))


def unclaimed(content: Any, path: str) -> Iterator[Finding]:
    """That a .distcp file is none of the set that lies around it."""
    names = {os.path.realpath(part.file) for part in content.parts().values()}
    if os.path.realpath(path) not in names:
        yield Finding("dcp-stray", "no record of .metadata lies in this file: nothing of it was checked", path)


def _threads(held: Source) -> int:
    if held.whole and held.size < ALONE:
        return 1
    return min(os.cpu_count() or 1, THREADS)


def _examine(content: Content, made: Verification, tally: Tally, census: bool) -> None:
    checkpoint = Checkpoint(content)
    made.format = content.format
    found: list[Finding] = []

    def told(steps: Callable[[], Iterable[Finding]]) -> None:
        """The findings of a step; that it cannot go on is one more."""
        try:
            found.extend(steps())
        except InertError as error:
            found.append(refusal(error, content.source.name))
            made.error = made.error or error
        except MemoryError:
            found.append(refusal(LimitError("checking it needs more memory than there is"), content.source.name))

    told(lambda: _opened(checkpoint))
    told(lambda: checkpoint.notes if made.error is None else [*content.wrapper_notes, *content.notes()])
    inspector = Inspector(tally, lambda: tensors.viewed(checkpoint.tensors) if made.error is None else {})
    with ExitStack() as stack:
        try:
            stack.enter_context(content.source.steady())
        except InertError as error:
            found.append(refusal(error, content.source.name))
        for outer in content.outer:
            told(lambda outer=outer: outer(inspector))  # type: ignore[misc]
        inside = len(tally.unchecked)
        for check in content.checks():
            told(lambda check=check: check(content, inspector))  # type: ignore[misc]
        if content.covered:  # the wrapper's checksum vouches for what is inside
            tally.unchecked[inside:] = [one for one in tally.unchecked[inside:] if one.file != content.source.name]
        if made.error is None:
            told(lambda: tensors.sparse(checkpoint.tensors, made, inspector))
            told(lambda: tensors.names(checkpoint.tensors, content.format))
        if census and made.error is None:
            told(lambda: tensors.census(checkpoint.tensors, made, inspector))
        told(lambda: _left(stack))
    if made.error is None:
        for one in found:  # reading knows records, and no tensors
            if not one.tensors and one.severity != INFO and one.where.part:
                one.tensors = inspector.hit(content.storage_key(one.where.part))
    made.findings = ordered(found)
    made.unchecked = tally.unchecked
    made.bytes, made.parts = tally.bytes, tally.parts


def _opened(checkpoint: Checkpoint) -> list[Finding]:
    """What opening reads, and refuses where it is damaged."""
    checkpoint.pickles, checkpoint.tensors  # noqa: B018
    return []


def _left(stack: ExitStack) -> list[Finding]:
    """The file is looked at once more: it may have been changed meanwhile."""
    stack.close()
    return []


def refusal(error: InertError, name: str) -> Finding:
    """An error as the finding that it is."""
    code = "unreadable"
    if isinstance(error, UnidentifiedError):
        code = "unidentified"
    elif isinstance(error, LimitError):
        code = "limit"
    elif isinstance(error, UnsupportedError):
        code = "unsupported"
    made = Finding(code, error.message, error.part or name, error.offset)
    made.fix = error.hint or made.fix
    return made


def ordered(found: list[Finding]) -> list[Finding]:
    """Each finding once, the worst first, else as they were found. That a tensor cannot be read goes without saying where something
    else says why; of one that has no name, nothing else does."""
    once = {(one.code, one.message, one.where.part, one.where.offset, one.tensors): one for one in found}
    told = {name for one in found if one.severity == ERROR and one.code != "tensor-damaged" for name in one.tensors}
    left = [one for one in once.values() if one.code != "tensor-damaged" or not one.tensors or not told.issuperset(one.tensors)]
    return sorted(left, key=lambda one: ORDER[one.severity])
