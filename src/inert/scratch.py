"""Inflated bytes that are too many for memory, in unnamed temporary files.

Knows: how what is written becomes a Source, and that however many such Sources there are share a few files: each costs a descriptor.
Refuses to know: what is inflated, and any name on the disk. A file goes with the last Source over it.
"""

from __future__ import annotations

import os
from mmap import ALLOCATIONGRANULARITY
from tempfile import TemporaryFile
from threading import Lock
from weakref import WeakSet

from .beside import MANY
from .errors import LimitError
from .files import content
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 16  # temporary files; while there are as many, what comes then is written behind what is in one of them


class Scratch:
    """A temporary file of inert's own. Who writes to it holds ``lock``."""

    __slots__ = ("__weakref__", "_file", "end", "fd", "lock")

    def __init__(self) -> None:
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - it stays open until nobody has it any more
        self.fd = self._file.fileno()
        self.end = 0
        self.lock = Lock()

    def __del__(self) -> None:
        file = getattr(self, "_file", None)  # there is none where it could not be made
        if file is not None:
            file.close()


_ALIVE: WeakSet[Scratch] = WeakSet()


def written(fill: Callable[[Callable[[bytes | bytearray], None]], None], name: str) -> ScratchSource:
    """What ``fill`` gives to the function that it is called with. LimitError where the disk does not take it."""
    scratch = _free(name)
    start = at = -(-scratch.end // ALLOCATIONGRANULARITY) * ALLOCATIONGRANULARITY  # where a map can begin

    def write(data: bytes | bytearray) -> None:
        nonlocal at
        rest = memoryview(data)
        while rest:
            try:
                count = os.pwrite(scratch.fd, rest, at)
            except OSError as error:
                raise _full(name, error) from None
            at, rest = at + count, rest[count:]

    try:
        fill(write)
        scratch.end = at
    except BaseException:
        os.ftruncate(scratch.fd, scratch.end)
        raise
    finally:
        scratch.lock.release()
    return ScratchSource(scratch, start, at - start, name)


def _free(name: str) -> Scratch:
    """A file that nobody writes to, locked: a new one while there are few, or while all others are being written to."""
    if len(_ALIVE) >= FILES:
        for scratch in sorted(_ALIVE, key=lambda one: one.end):
            if scratch.lock.acquire(blocking=False):
                return scratch
    try:
        made = Scratch()
    except OSError as error:
        raise _full(name, error) from None
    made.lock.acquire()
    _ALIVE.add(made)
    return made


def _full(name: str, error: OSError) -> LimitError:
    text = f"what is inside cannot be written to a temporary file ({error.strerror})"
    return LimitError(text, part=name, hint="set TMPDIR to a folder with room for it")


class ScratchSource(Source):
    """A run of a temporary file: nobody else has it, so it cannot change under a reader."""

    __slots__ = ("_map", "_scratch", "_start")

    def __init__(self, scratch: Scratch, start: int, size: int, name: str) -> None:
        self._scratch = scratch
        self._start = start
        self._map: memoryview | None = None
        super().__init__(name, size)

    def view(self, offset: int, length: int) -> memoryview | None:
        self.check(offset, length)
        if not length:
            return memoryview(b"")
        if self._map is None:
            self._map = MANY.map(self._scratch.fd, self.size, self._start)
        return None if self._map is None else self._map[offset : offset + length]

    def descriptor(self, offset: int) -> tuple[int, int]:
        return self._scratch.fd, self._start + offset

    def _read(self, offset: int, length: int) -> bytes:
        return content(self._scratch.fd, self._start + offset, length, self.name)
