"""Files and streams as Sources.

Knows: how a file that is held open is read, as a zero-copy view of one read-only map or as a copy; and a stream that can seek.
Refuses to know: what the bytes mean; and files of which there may be thousands (beside.py).

A file that shrinks, is rewritten or is replaced while open makes inert's own reads fail. Views handed out earlier are the
operating system's: a mapped page beyond a new, shorter end cannot be read.

Facts: CPython's mmap duplicates the descriptor it is given, and so costs one for as long as a view of it lives; since 3.13 it need not
(``trackfd``, Modules/mmapmodule.c).
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from stat import S_ISCHR, S_ISFIFO
from threading import Lock

from .errors import FormatError, TruncatedError, UnsupportedError
from .source import CHUNK, BytesSource, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, BinaryIO

MOST = 1 << 30  # bytes of one read call: some systems take no more than 2 GiB
FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
UNTRACKED: dict[str, Any] = {"trackfd": False} if sys.version_info >= (3, 13) and os.name == "posix" else {}


def mapped(fd: int, size: int, offset: int = 0) -> memoryview:
    """A read-only map of a file; it goes with its last view."""
    return memoryview(mmap(fd, size, access=ACCESS_READ, offset=offset, **UNTRACKED))


class FileSource(Source):
    """A file on disk: copies by ``pread``, views by one read-only map of the whole file, made when first asked for."""

    __slots__ = ("_fd", "_lock", "_map", "_stamp", "_steady", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1  # for close(), where there is no such file
        mode = os.stat(path).st_mode
        if S_ISFIFO(mode):  # opening it would wait for a writer
            raise UnsupportedError("this is a pipe, which cannot be read from any place", part=path, hint="write it to a file first")
        if S_ISCHR(mode):  # it would pass for an empty file
            raise UnsupportedError("this is a device, which has no size", part=path, hint="write what is wanted of it to a file first")
        self._fd = os.open(path, FLAGS)
        status = os.fstat(self._fd)
        self._stamp = stamp(status)
        self._map: memoryview | None = None
        self._lock = Lock()
        self._steady = False
        super().__init__(path, status.st_size)

    @contextmanager
    def steady(self) -> Iterator[None]:
        self._unchanged()
        before, self._steady = self._steady, True
        try:
            yield
        finally:
            self._steady = before
        self._unchanged()

    def read(self, offset: int, length: int) -> bytes:
        if offset >= 0 and 0 < length <= self.size - offset:  # the usual case, short: headers are read by the ten thousand
            self._unchanged()
            piece = os.pread(self._fd, length, offset)
            if len(piece) == length:
                return piece
        return super().read(offset, length)

    def view(self, offset: int, length: int) -> memoryview | None:
        self.check(offset, length)
        if not length:
            return memoryview(b"")
        self._unchanged()
        whole = self._map or self._mapped()
        return whole[offset : offset + length]

    def _mapped(self) -> memoryview:
        with self._lock:
            if self._map is None:
                self._map = mapped(self._fd, self.size)
            return self._map

    def readinto(self, offset: int, buffer: memoryview) -> None:
        self.check(offset, len(buffer))
        self._unchanged()
        fill(self._fd, offset, buffer, self.name)

    def region(self, offset: int, length: int) -> tuple[str, int]:
        return self.path, offset

    def descriptor(self, offset: int) -> tuple[int, int]:
        self._unchanged()
        return self._fd, offset

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        self._map = None  # dropped with the last view, never pulled from under one
        if fd >= 0:
            os.close(fd)

    def __del__(self) -> None:
        self.close()

    def _read(self, offset: int, length: int) -> bytes:
        self._unchanged()
        return content(self._fd, offset, length, self.name)

    def _unchanged(self) -> None:
        if self._steady:
            return
        if self._fd < 0:
            raise closed(self.name)
        compare(os.fstat(self._fd), self._stamp, self.name)
        try:
            there = stamp(os.stat(self.path))
        except OSError:
            there = self._stamp  # moved away or deleted: what we hold is still the file that was opened
        if there != self._stamp:
            raise changed(self.name)


class StreamSource(Source):
    """Any seekable binary file object. Reads take a lock, since the position is shared; the caller's position is put back."""

    __slots__ = ("_lock", "_stream")

    def __init__(self, stream: BinaryIO, name: str = "") -> None:
        self._stream = stream
        self._lock = Lock()
        at = stream.tell()
        if not isinstance(stream.read(0), bytes):
            raise OSError("a stream of text")
        size = stream.seek(0, os.SEEK_END)
        stream.seek(at)
        super().__init__(name or "<stream>", size)

    def _read(self, offset: int, length: int) -> bytes:
        with self._lock:
            at = self._stream.tell()
            try:
                self._stream.seek(offset)
                pieces = []
                while length:
                    piece = self._stream.read(min(length, CHUNK * 64))
                    if not piece:
                        raise TruncatedError("the stream ended early", part=self.name, offset=offset)
                    pieces.append(piece)
                    length -= len(piece)
                    offset += len(piece)
            finally:
                self._stream.seek(at)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def open_source(source: str | os.PathLike[str] | BinaryIO | bytes) -> Source:
    """A Source over a path, a seekable binary file, or bytes. OSError passes through; UnsupportedError where it cannot seek."""
    if isinstance(source, (str, os.PathLike)):
        return FileSource(os.fspath(source))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return BytesSource(source)
    name = getattr(source, "name", "")
    try:
        return StreamSource(source, name if isinstance(name, str) else "")
    except (AttributeError, TypeError, OSError) as error:
        raise UnsupportedError("a path or a seekable binary file is needed", hint="read a pipe into io.BytesIO first") from error


def stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def compare(now: os.stat_result, first: tuple[int, int, int, int], name: str) -> None:
    """Hold a file against its first stamp. TruncatedError where it has been cut, FormatError where it is another or has been changed."""
    found = stamp(now)
    if found == first:
        return
    if found[:2] == first[:2] and found[2] < first[2]:
        text = f"the file was cut from {first[2]:,} to {found[2]:,} bytes while it was open"
        raise TruncatedError(text, part=name, offset=found[2], hint="open it again")
    raise changed(name)


def content(fd: int, offset: int, length: int, name: str) -> bytes:
    """Bytes of an open file. TruncatedError where it has been cut."""
    pieces = []
    while length:
        piece = os.pread(fd, min(length, MOST), offset)
        if not piece:
            raise TruncatedError("the file was cut while it was open", part=name, offset=offset, hint="open it again")
        pieces.append(piece)
        offset += len(piece)
        length -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def fill(fd: int, offset: int, buffer: memoryview, name: str) -> None:
    """The bytes of an open file into ``buffer``."""
    while buffer:
        count = os.preadv(fd, [buffer[:MOST]], offset) if hasattr(os, "preadv") else 0
        if not count:
            buffer[:] = content(fd, offset, len(buffer), name)  # no preadv here, or the file was cut: content says so
            return
        offset, buffer = offset + count, buffer[count:]


def closed(name: str) -> UnsupportedError:
    return UnsupportedError("the checkpoint has been closed", part=name, hint="read inside the with block")


def changed(name: str) -> FormatError:
    return FormatError("the file was changed or replaced while it was open", part=name, hint="open it again")
