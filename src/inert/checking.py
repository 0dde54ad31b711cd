"""What checks work with: threads and buffers of a bounded number, a tally of what was read, and a list of what no check can vouch for.

Knows: how jobs run side by side with their answers in order, and the CRC-32 of a Span in one pass.
Refuses to know: what is checked. The checks belong to containers and formats; what they give is for ops.verify to put together.

A check is a function of a Content and an Inspector that gives Findings, and never raises for the bytes.
"""

from __future__ import annotations

from collections import deque
from threading import Lock, local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Future, ThreadPoolExecutor
    from typing import Any, TypeVar

    from .source import Span

    Job = TypeVar("Job")
    Answer = TypeVar("Answer")

PIECE = 1 << 18  # bytes read at once: they stay in the processor's cache until they are summed
AHEAD = 4  # jobs for each thread that are begun before their answers are asked for
CODING = "bits of a compressed stream that make no difference to what comes out, which has a checksum"
HIT = 10_000  # tensors that one finding names


class Unchecked:
    """Bytes that were not verified: ``why``, in which ``part`` of which ``file``, ``runs`` as (offset, size) in that file, and the
    ``tensors`` that lie there. No runs: the whole part. ``harmless``: what is not found there makes no difference to what is read."""

    __slots__ = ("file", "harmless", "part", "runs", "tensors", "why")

    def __init__(
        self, why: str, file: str, part: str = "", runs: list[tuple[int, int]] | None = None, tensors: tuple[str, ...] = ()
    ) -> None:
        self.harmless = False
        self.why = why
        self.file = file
        self.part = part
        self.runs = runs or []
        self.tensors = tensors

    @property
    def size(self) -> int:
        """Bytes in all runs."""
        return sum(size for _, size in self.runs)

    def __str__(self) -> str:
        where = self.file if not self.part or self.part == self.file else f"{self.file}: {self.part}"
        return f"{where}: {self.why}"

    def __repr__(self) -> str:
        return f"<Unchecked {self} {self.size} bytes>"


class Tally:
    """What all Inspectors of one verification share."""

    def __init__(self, threads: int, done: Callable[[int], None] | None) -> None:
        self.threads = threads
        self.done = done
        self.bytes = 0
        self.parts = 0
        self.unchecked: list[Unchecked] = []
        self.lock = Lock()
        self.here = local()
        self.pool: ThreadPoolExecutor | None = None

    def close(self) -> None:
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)


class Inspector:
    """Handed to every check. ``hit`` gives the names of the tensors that view a storage."""

    def __init__(self, tally: Tally, named: Callable[[], Mapping[str, tuple[str, ...]]]) -> None:
        self.tally = tally
        self._named = named
        self._names: Mapping[str, tuple[str, ...]] | None = None

    def hit(self, *storages: str) -> tuple[str, ...]:
        """Names of the tensors that view storages of these keys. They are looked up when a first one is damaged."""
        if self._names is None:
            self._names = self._named()
        return tuple(dict.fromkeys(name for key in storages for name in self._names.get(key, ())))[:HIT]

    def within(self, tensors: tuple[str, ...]) -> Inspector:
        """An Inspector for a part of which every storage belongs to these tensors."""
        return Within(self.tally, tensors)

    def note(self, why: str, file: str, part: str = "", runs: list[tuple[int, int]] | None = None, tensors: tuple[str, ...] = ()) -> None:
        """What is not verified."""
        with self.tally.lock:
            self.tally.unchecked.append(Unchecked(why, file, part, runs, tensors))

    def coding(self, file: str, part: str, runs: list[tuple[int, int]]) -> None:
        """Compressed data whose content has a checksum: one content can be coded in many ways, and some bits only fill up."""
        one = Unchecked(CODING, file, part, runs)
        one.harmless = True
        with self.tally.lock:
            self.tally.unchecked.append(one)

    def read(self, size: int, parts: int = 0) -> None:
        """So many bytes have been checked, and these parts."""
        tally = self.tally
        with tally.lock:
            tally.bytes += size
            tally.parts += parts
            if tally.done is not None:
                tally.done(size)

    def again(self, size: int) -> None:
        """So many bytes have been read once more: they take time, and were checked before."""
        tally = self.tally
        with tally.lock:
            if tally.done is not None:
                tally.done(size)

    def buffer(self) -> memoryview:
        """A buffer of PIECE bytes, one for each thread."""
        here = self.tally.here
        if not hasattr(here, "buffer"):
            here.buffer = memoryview(bytearray(PIECE))
        made: memoryview = here.buffer
        return made

    def crc32(self, span: Span) -> int:
        """The CRC-32 of a span's bytes, read in pieces."""
        from isal.isal_zlib import crc32

        buffer, crc = self.buffer(), 0
        for at in range(0, span.length, PIECE):
            piece = buffer[: min(PIECE, span.length - at)]
            span.source.readinto(span.offset + at, piece)
            crc = crc32(piece, crc)
            self.read(len(piece))
        return crc

    def each(self, function: Callable[[Job], Answer], jobs: Iterable[Job]) -> Iterator[Answer]:
        """The answers in the order of the jobs, which run in threads: some are begun ahead, never all."""
        if self.tally.threads < 2:
            yield from map(function, jobs)
            return
        with self.tally.lock:
            if self.tally.pool is None:
                from concurrent.futures import ThreadPoolExecutor

                self.tally.pool = ThreadPoolExecutor(self.tally.threads, "inert-verify")
            pool = self.tally.pool
        begun: deque[Future[Any]] = deque()
        for job in jobs:
            begun.append(pool.submit(function, job))
            if len(begun) > AHEAD * self.tally.threads:
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()


class Within(Inspector):
    """Of a record that is a file of its own, whoever asks: it belongs to these tensors."""

    def __init__(self, tally: Tally, tensors: tuple[str, ...]) -> None:
        super().__init__(tally, dict)
        self.tensors = tensors

    def hit(self, *storages: str) -> tuple[str, ...]:
        return self.tensors[:HIT]


def runs_outside(held: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """(offset, size) of what lies between ``start`` and ``end`` and in none of the (offset, end) that are held."""
    at = start
    for first, last in sorted(held):
        if first > at:
            yield at, min(first, end) - at
        at = max(at, last)
        if at >= end:
            return
    if at < end:
        yield at, end - at
