"""Bytes somewhere: a Source is a file, a stream or a buffer; a Span is a run of bytes in one, bounds-checked at birth.

Knows: how to read a run of bytes once, as a zero-copy view where the operating system allows it and as a copy where not.
Refuses to know: what the bytes mean. A Span's abilities are asked for (``view()`` and ``region()`` may give None), never assumed.

A file that shrinks, is rewritten or is replaced while open makes inert's own reads fail. Views handed out earlier are the
operating system's: a mapped page beyond a new, shorter end cannot be read.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from stat import S_ISFIFO, S_ISREG
from threading import Lock

from .errors import FormatError, TruncatedError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

CHUNK = 1 << 20  # bytes per piece of a bulk pass: large enough for full speed, small enough to stay in cache


class Source:
    """``size`` bytes under a ``name``. Reads are checked against ``size`` and never return less than was asked for."""

    __slots__ = ("name", "size")

    whole = True  # False for a folder, whose bytes lie in its files

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Bytes ``[offset, offset + length)`` as a copy. Raises TruncatedError where they are not all there."""
        self.check(offset, length)
        return self._read(offset, length) if length else b""

    def view(self, offset: int, length: int) -> memoryview | None:
        """The same bytes without a copy, or None where the source cannot be mapped."""
        self.check(offset, length)
        return None

    def readinto(self, offset: int, buffer: memoryview) -> None:
        """Fill ``buffer`` (bytes) from ``offset``."""
        buffer[:] = self.read(offset, len(buffer))

    def region(self, offset: int, length: int) -> tuple[str, int] | None:
        """(path, offset) of the same bytes in a plain file, or None."""
        return None

    def descriptor(self, offset: int) -> tuple[int, int] | None:
        """(file descriptor, offset in its file) of the byte at ``offset``, for kernel copies; None where the bytes lie in no open file."""
        return None

    def check(self, offset: int, length: int) -> None:
        if offset < 0 or length < 0 or offset + length > self.size:
            raise TruncatedError(
                f"bytes {offset:,} to {offset + length:,} are wanted of {self.size:,}", part=self.name, offset=max(offset, 0)
            )

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Many reads that are held to be of one state of the file: it is looked at before the first and after the last."""
        yield

    def span(self, offset: int = 0, length: int | None = None) -> Span:
        return Span(self, offset, self.size - offset if length is None else length)

    def close(self) -> None:
        """Let go of the file. Views that were handed out stay valid."""

    def _read(self, offset: int, length: int) -> bytes:
        raise NotImplementedError


class FileSource(Source):
    """A file on disk: copies by ``pread``, views by one read-only map of the whole file, made when first asked for."""

    __slots__ = ("_fd", "_lock", "_map", "_stamp", "_steady", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = -1  # for close(), where there is no such file
        if S_ISFIFO(os.stat(path).st_mode):  # opening it would wait for a writer
            raise UnsupportedError("this is a pipe, which cannot be read from any place", part=path, hint="write it to a file first")
        self._fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
        status = os.fstat(self._fd)
        self._stamp = _stamp(status)
        self._map: memoryview | None = None
        self._lock = Lock()
        self._steady = False
        super().__init__(path, status.st_size)

    @contextmanager
    def steady(self) -> Iterator[None]:
        self._unchanged()
        self._steady = True
        try:
            yield
        finally:
            self._steady = False
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
                self._map = memoryview(mmap(self._fd, self.size, access=ACCESS_READ))
            return self._map

    def readinto(self, offset: int, buffer: memoryview) -> None:
        self.check(offset, len(buffer))
        self._unchanged()
        while buffer:
            count = os.preadv(self._fd, [buffer[: 1 << 30]], offset) if hasattr(os, "preadv") else 0
            if not count:
                buffer[:] = self._read(offset, len(buffer))  # no preadv here, or the file was cut: _read says so
                return
            offset, buffer = offset + count, buffer[count:]

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
        pieces = []
        while length:
            piece = os.pread(self._fd, min(length, 1 << 30), offset)
            if not piece:
                raise TruncatedError("the file was cut while it was open", part=self.name, offset=offset, hint="open it again")
            pieces.append(piece)
            offset += len(piece)
            length -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def _unchanged(self) -> None:
        if self._steady:
            return
        if self._fd < 0:
            raise UnsupportedError("the checkpoint has been closed", part=self.name, hint="read inside the with block")
        now = os.fstat(self._fd)
        if now.st_size < self.size:
            raise TruncatedError(
                f"the file was cut from {self.size:,} to {now.st_size:,} bytes while it was open",
                part=self.name,
                offset=now.st_size,
                hint="open it again",
            )
        try:
            there = _stamp(os.stat(self.path))
        except OSError:
            there = self._stamp  # moved away or deleted: what we hold is still the file that was opened
        if _stamp(now) != self._stamp or there != self._stamp:
            raise FormatError("the file was changed or replaced while it was open", part=self.name, hint="open it again")


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


class ScratchSource(Source):
    """What has been written to a temporary file of inert's own, which may be closed; the bytes go with the last Span over them."""

    __slots__ = ("_fd", "_map")

    def __init__(self, file: BinaryIO, name: str) -> None:
        file.flush()
        self._fd = os.dup(file.fileno())
        self._map: memoryview | None = None
        super().__init__(name, os.fstat(self._fd).st_size)

    def view(self, offset: int, length: int) -> memoryview | None:
        self.check(offset, length)
        if self._map is None and self.size:  # nobody else has the file: it cannot be cut under the map
            self._map = memoryview(mmap(self._fd, self.size, access=ACCESS_READ))
        return self._map[offset : offset + length] if self._map else memoryview(b"")

    def descriptor(self, offset: int) -> tuple[int, int]:
        return self._fd, offset

    def __del__(self) -> None:
        os.close(self._fd)

    def _read(self, offset: int, length: int) -> bytes:
        pieces = [os.pread(self._fd, min(length - done, 1 << 30), offset + done) for done in range(0, length, 1 << 30)]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class BytesSource(Source):
    """Bytes in memory: what was inflated, or what a pickle holds in itself."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes | bytearray | memoryview, name: str = "<bytes>") -> None:
        self._data = memoryview(data).toreadonly().cast("B")
        super().__init__(name, len(self._data))

    def view(self, offset: int, length: int) -> memoryview:
        self.check(offset, length)
        return self._data[offset : offset + length]

    def _read(self, offset: int, length: int) -> bytes:
        return bytes(self._data[offset : offset + length])


class Window(Source):
    """A run of another Source as a Source of its own: a file that lies whole inside another one. Closing it closes ``base``, where that
    is given: the archive that the run lies in, or was inflated from."""

    __slots__ = ("_base", "_span")

    def __init__(self, span: Span, name: str, base: Source | None = None) -> None:
        self._span = span
        self._base = base
        super().__init__(name, span.length)

    def view(self, offset: int, length: int) -> memoryview | None:
        self.check(offset, length)
        return self._span.source.view(self._span.offset + offset, length)

    def readinto(self, offset: int, buffer: memoryview) -> None:
        self.check(offset, len(buffer))
        self._span.source.readinto(self._span.offset + offset, buffer)

    def region(self, offset: int, length: int) -> tuple[str, int] | None:
        return self._span.source.region(self._span.offset + offset, length)

    def descriptor(self, offset: int) -> tuple[int, int] | None:
        return self._span.source.descriptor(self._span.offset + offset)

    @contextmanager
    def steady(self) -> Iterator[None]:
        with self._span.source.steady():
            yield

    def close(self) -> None:
        if self._base is not None:
            self._base.close()

    def _read(self, offset: int, length: int) -> bytes:
        return self._span.source.read(self._span.offset + offset, length)


class BesideSource(Source):
    """A plain file beside the one that was opened, of which there may be thousands: opened for each reading, mapped when a view is wanted.
    OSError where there is none; FormatError where it is no plain file or has been changed since."""

    __slots__ = ("_map", "_stamp", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        status = os.stat(path)
        if not S_ISREG(status.st_mode):  # a FIFO would be waited for
            raise FormatError("this is no plain file", part=path)
        self._stamp = _stamp(status)
        self._map: memoryview | None = None
        super().__init__(path, status.st_size)

    def view(self, offset: int, length: int) -> memoryview | None:
        self.check(offset, length)
        with self._opened() as file:
            if self._map is None and self.size:
                self._map = memoryview(mmap(file.fileno(), self.size, access=ACCESS_READ))
        return self._map[offset : offset + length] if self._map else memoryview(b"")

    def region(self, offset: int, length: int) -> tuple[str, int]:
        return self.path, offset

    def _opened(self) -> BinaryIO:
        file = open(self.path, "rb", buffering=0)  # noqa: SIM115 - the caller's with closes it
        if _stamp(os.fstat(file.fileno())) != self._stamp:
            file.close()
            raise FormatError("the file was changed or replaced while it was open", part=self.name, hint="open it again")
        return file

    def _read(self, offset: int, length: int) -> bytes:
        with self._opened() as file:
            file.seek(offset)
            pieces = []
            while length:
                piece = file.read(min(length, 1 << 30))
                if not piece:
                    raise TruncatedError("the file was cut while it was open", part=self.name, offset=offset, hint="open it again")
                pieces.append(piece)
                length -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class Span:
    """``length`` bytes of ``source`` from ``offset``; lies inside the source or is not made (TruncatedError)."""

    __slots__ = ("length", "offset", "source")

    def __init__(self, source: Source, offset: int, length: int) -> None:
        source.check(offset, length)
        self.source = source
        self.offset = offset
        self.length = length

    def read(self, start: int = 0, length: int | None = None) -> bytes:
        """Bytes from ``start`` (within the span), all the rest by default, as a copy."""
        length = self.length - start if length is None else length
        self._inside(start, length)
        return self.source.read(self.offset + start, length)

    def readinto(self, buffer: memoryview) -> None:
        """Fill ``buffer``, which must be as long as the span."""
        self.source.readinto(self.offset, buffer)

    def view(self) -> memoryview | None:
        """The span without a copy, or None."""
        return self.source.view(self.offset, self.length)

    def region(self) -> tuple[str, int] | None:
        """(path, offset) where the bytes lie plainly in a file, or None."""
        return self.source.region(self.offset, self.length)

    def sub(self, start: int, length: int | None = None) -> Span:
        length = self.length - start if length is None else length
        self._inside(start, length)
        return Span(self.source, self.offset + start, length)

    def chunks(self, size: int = CHUNK) -> Iterator[bytes]:
        """The span in copies of at most ``size`` bytes: memory stays bounded and no page is mapped."""
        for start in range(0, self.length, size):
            yield self.source.read(self.offset + start, min(size, self.length - start))

    def _inside(self, start: int, length: int) -> None:
        if start < 0 or length < 0 or start + length > self.length:
            raise TruncatedError(
                f"bytes {start:,} to {start + length:,} are wanted of {self.length:,}", part=self.source.name, offset=self.offset
            )

    def __repr__(self) -> str:
        return f"<Span {self.source.name} [{self.offset}, {self.offset + self.length})>"


def _stamp(status: os.stat_result) -> tuple[int, int, int, int]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


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
