"""Files of which there may be thousands, as Sources that hold no descriptor.

Knows: how such a file is opened for each reading and found to be what it was at first, and how many of them may be mapped at once.
Refuses to know: what the bytes mean; the few files that are held open are files.FileSource.

A process has 256 descriptors on some systems and 1,024 on most. CPython's mmap takes one for as long as a view lives, before Python 3.13:
where such maps would take too many, view() is None and readers copy. A file that is deleted while it is in use can be read no further.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from stat import S_ISREG
from threading import Lock
from weakref import ref

from .errors import FormatError
from .files import FLAGS, UNTRACKED, closed, compare, content, fill, mapped, stamp
from .source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from mmap import mmap

SHARE = 4  # maps that cost a descriptor each may take one of so many of those that the process may have …
FREE = 1 << 15  # … of which this many are counted on where the system sets no bound


class Maps:
    """The maps of files that may be many: as many as there are descriptors for, where each costs one."""

    def __init__(self) -> None:
        self._alive: set[ref[mmap]] = set()
        self._most = 0

    def map(self, fd: int, size: int, offset: int = 0) -> memoryview | None:
        """A map as ``mapped`` makes it; None where there are too many already."""
        if UNTRACKED:
            return mapped(fd, size, offset)
        self._most = self._most or descriptors() // SHARE
        if len(self._alive) >= self._most:
            return None
        made = mapped(fd, size, offset)
        self._alive.add(ref(made.obj, self._alive.discard))  # type: ignore[arg-type]
        return made


def descriptors() -> int:
    """How many descriptors the process may have."""
    try:
        from resource import RLIMIT_NOFILE, getrlimit
    except ImportError:  # no Unix
        return FREE
    soft = getrlimit(RLIMIT_NOFILE)[0]
    return soft if 0 < soft < FREE else FREE


MANY = Maps()


class BesideSource(Source):
    """A plain file of which there may be thousands: it is opened for each reading, and then held against what it was at first.
    OSError where there is none; FormatError where it is no plain file or has been changed, replaced or deleted since."""

    __slots__ = ("_lock", "_map", "_open", "_stamp", "_steady", "path")
    _latest: tuple[BesideSource | None, _Handle | None] = (None, None)  # the file read last of all that are held steady, kept open

    def __init__(self, path: str) -> None:
        self.path = path
        if not S_ISREG(os.stat(path).st_mode):  # a FIFO would be waited for
            raise FormatError("this is no plain file", part=path)
        first = _Handle(path)
        status = os.fstat(first.fd)
        self._stamp = stamp(status)
        self._map: memoryview | None = None
        self._open = True
        self._steady = False
        self._lock = Lock()
        super().__init__(path, status.st_size)

    @contextmanager
    def steady(self) -> Iterator[None]:
        """The file is looked at by its name, not opened: there may be thousands. Of those that are read meanwhile one stays open."""
        self._unchanged()
        self._steady = True
        try:
            yield
        finally:
            self._steady = False
            self._let_go()
        self._unchanged()

    def view(self, offset: int, length: int) -> memoryview | None:
        self.check(offset, length)
        if not self._open:
            raise closed(self.name)
        if not length:
            return memoryview(b"")
        if self._map is None:
            with self._lock:
                if self._map is None:
                    file = self._handle()
                    self._map = MANY.map(file.fd, self.size)
        elif not self._steady:
            self._unchanged()
        return None if self._map is None else self._map[offset : offset + length]

    def readinto(self, offset: int, buffer: memoryview) -> None:
        self.check(offset, len(buffer))
        file = self._handle()
        fill(file.fd, offset, buffer, self.name)

    def region(self, offset: int, length: int) -> tuple[str, int]:
        return self.path, offset

    def close(self) -> None:
        self._open = False
        self._map = None  # dropped with the last view
        self._let_go()

    def _let_go(self) -> None:
        if BesideSource._latest[0] is self:
            BesideSource._latest = (None, None)

    def _read(self, offset: int, length: int) -> bytes:
        file = self._handle()
        return content(file.fd, offset, length, self.name)

    def _unchanged(self) -> None:
        if not self._open:
            raise closed(self.name)
        try:
            now = os.stat(self.path)
        except FileNotFoundError:
            raise gone(self.name) from None
        compare(now, self._stamp, self.name)

    def _handle(self) -> _Handle:
        """The file, opened, and found to be what it was; while it is held steady, it is looked at once."""
        if not self._open:
            raise closed(self.name)
        whose, file = BesideSource._latest
        if whose is self and file is not None:
            return file
        try:
            file = _Handle(self.path)
        except FileNotFoundError:
            raise gone(self.name) from None
        compare(os.fstat(file.fd), self._stamp, self.name)
        if self._steady:
            BesideSource._latest = (self, file)
        return file


class _Handle:
    """An open file, closed with the last reference: hold one for as long as ``fd`` is used."""

    __slots__ = ("fd",)

    def __init__(self, path: str) -> None:
        self.fd = -1
        self.fd = os.open(path, FLAGS)

    def __del__(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)


def gone(name: str) -> FormatError:
    return FormatError("the file was moved or deleted while the checkpoint was open", part=name, hint="put it back, or open it again")
