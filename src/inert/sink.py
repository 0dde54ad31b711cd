"""Destinations: a file that is complete or untouched.

Knows: how bytes get to a path: into a nameless or sibling temporary file, by kernel copies or one bounded buffer, then fsync, rename,
fsync of the folder. Whatever ends a pouring early (an error, a full disk, Ctrl-C) leaves the destination as it was and nothing beside it.
Refuses to know: formats. Memory does not grow with what is poured.

Facts: Linux open(2) O_TMPFILE, copy_file_range(2), rename(2); POSIX fsync.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress

from .errors import UnsupportedError
from .source import CHUNK, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    Progress = Callable[[int], None]  # told how many bytes have been poured more
    Piece: TypeAlias = "bytes | Span | Stream"

_NO_KERNEL_COPY = {errno.ENOSYS, errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM, errno.EBADF, errno.ETXTBSY}
_FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT}  # what only a write ends in
PAGE = 4096
KERNEL_CHUNK = 64 << 20  # bytes of one kernel copy: progress is told and Ctrl-C heard between two


class Stream:
    """``length`` bytes that are made while they are poured, in pieces; made anew each time ``chunks`` is called."""

    __slots__ = ("chunks", "length")

    def __init__(self, length: int, chunks: Callable[[], Iterable[bytes]]) -> None:
        self.length = length
        self.chunks = chunks


def length_of(piece: Piece) -> int:
    """Bytes of a piece."""
    return len(piece) if isinstance(piece, bytes) else piece.length


def apart(places: Iterable[str], files: Iterable[str]) -> None:
    """UnsupportedError where a file that will be written is one of those that are read."""
    there = [place for place in places if os.path.exists(place)]
    own = [os.stat(file) for file in files if os.path.exists(file)] if there else []
    for place in there:
        if any(os.path.samestat(os.stat(place), one) for one in own):
            text = "it would overwrite the checkpoint itself, which is read and never changed"
            raise UnsupportedError(text, part=place, hint="give another name")


class Out:
    """A file being written from its beginning on. ``position``: bytes so far."""

    def __init__(self, fd: int, progress: Progress | None = None) -> None:
        self.fd = fd
        self.position = 0
        self.first = b""  # the first bytes, eight at most, of the piece that pour_crc wrote last
        self.progress = progress
        self._buffer: memoryview | None = None
        self._kernel = hasattr(os, "copy_file_range")

    def write(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        while view:
            count = os.write(self.fd, view)
            view = view[count:]
            self._advance(count)

    def pour(self, piece: Piece) -> None:
        """Write a piece, by the kernel where it can."""
        if isinstance(piece, bytes):
            self.write(piece)
        elif isinstance(piece, Span):
            done = self._by_kernel(piece) if self._kernel else 0
            for block in self._blocks(piece, done):
                self.write(block)
        else:
            self._stream(piece, self.write)

    def pour_crc(self, piece: Piece) -> int:
        """Write a piece and give its CRC-32, in one pass."""
        from isal.isal_zlib import crc32

        value = 0
        self.first = b""

        def both(data: bytes | memoryview) -> None:
            nonlocal value
            value = crc32(data, value)
            if len(self.first) < 8:
                self.first += bytes(data[: 8 - len(self.first)])
            self.write(data)

        if isinstance(piece, bytes):
            both(piece)
        elif isinstance(piece, Span):
            for block in self._blocks(piece, 0):
                both(block)
        else:
            self._stream(piece, both)
        return value

    def _stream(self, piece: Stream, write: Callable[[bytes | memoryview], None]) -> None:
        made = 0
        for block in piece.chunks():
            made += len(block)
            if made > piece.length:
                break
            write(block)
        if made != piece.length:
            raise RuntimeError(f"{made:,} bytes were made where {piece.length:,} were planned")  # a fault of ours, never of a file

    def _blocks(self, span: Span, at: int) -> Iterator[memoryview]:
        """The span in blocks of one buffer, which is filled anew for each."""
        if self._buffer is None:
            self._buffer = memoryview(bytearray(CHUNK))
        while at < span.length:
            block = self._buffer[: min(CHUNK, span.length - at)]
            span.source.readinto(span.offset + at, block)
            yield block
            at += len(block)

    def _by_kernel(self, span: Span) -> int:
        """Bytes of the span that a kernel copy has written; the rest must be copied by hand.

        None where the bytes come to lie otherwise in their pages: no file system can share such pages, and without that the kernel copies
        page by page, which takes half as long again as the buffer (ext4, Linux 6)."""
        held = span.source.descriptor(span.offset)
        done = 0
        if held is not None and (held[1] - self.position) % PAGE:
            return 0
        while held is not None and done < span.length:
            fd, offset = held
            try:
                count = os.copy_file_range(fd, self.fd, min(KERNEL_CHUNK, span.length - done), offset + done)
            except OSError as error:
                if error.errno not in _NO_KERNEL_COPY:
                    raise
                self._kernel = False
                break
            if not count:
                break  # the file was cut: reading it says so
            done += count
            self._advance(count)
        return done

    def _advance(self, count: int) -> None:
        self.position += count
        if self.progress is not None:
            self.progress(count)


@contextmanager
def destination(path: str | os.PathLike[str], size: int = 0, *, sync: bool = True, progress: Progress | None = None) -> Iterator[Out]:
    """An Out whose bytes become the file at ``path`` when the block ends well, all at once; else nothing changes there.

    ``size``: bytes that will be written, if known: OSError (ENOSPC) where there is no room for them. ``sync``: wait until file and name
    are on the disk. A link is followed; the mode of a file that is replaced is kept. OSError passes through; UnsupportedError for what
    is no plain file."""
    try:
        path = os.path.realpath(os.fsdecode(path))
    except ValueError as error:  # a null character, or half a surrogate pair
        raise UnsupportedError(f"no file can have this name: {error}", part=ascii(path)) from None
    folder = os.path.dirname(path)
    there(folder, path)
    mode = _mode_of(path)
    room(folder, size, path)
    name = _beside(folder, path)  # known before anything can bear it, so that whatever happens it can be removed
    try:
        with _temporary(folder, name) as (fd, nameless):
            if mode is not None:
                os.fchmod(fd, mode)
            out = Out(fd, progress)
            yield out
            if sync:
                os.fsync(fd)
            if nameless:
                _give_name(fd, name)
            os.replace(name, path)
        if sync:
            _sync_folder(folder)
    except OSError as error:
        if error.errno in _FULL and error.filename is None:
            error.filename = path
        raise
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name)


def _mode_of(path: str) -> int | None:
    """The permissions of the file that is to be replaced; None where there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "no plain file"
        raise UnsupportedError(f"the destination is {what}", part=path, hint="name a file")
    return stat.S_IMODE(status.st_mode)


def there(folder: str, path: str) -> None:
    """FileNotFoundError where the folder is missing in which ``path`` is to be made."""
    if not os.path.exists(folder or os.curdir):
        raise FileNotFoundError(errno.ENOENT, f"no folder {folder!r} for the destination; make it first", path)


def room(folder: str, size: int, path: str) -> None:
    """OSError (ENOSPC) where the folder has no room for ``size`` bytes, of which ``path`` is to be made."""
    if not hasattr(os, "statvfs") or not size:
        return
    there = os.statvfs(folder)
    free = there.f_bavail * there.f_frsize
    if size > free:
        raise OSError(errno.ENOSPC, f"{size:,} bytes are to be written and {free:,} are free", path)


@contextmanager
def _temporary(folder: str, name: str) -> Iterator[tuple[int, bool]]:
    """A descriptor of an empty file in the folder, and whether that is a nameless one, which vanishes by itself; else it bears ``name``."""
    fd = _nameless(folder)
    nameless = fd is not None
    if fd is None:
        fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0), 0o666)
    try:
        yield fd, nameless
    finally:
        os.close(fd)


def _nameless(folder: str) -> int | None:
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL) or not os.path.isdir(folder):
            raise
        return None


def _beside(folder: str, path: str) -> str:
    start = os.fsdecode(os.fsencode(os.path.basename(path))[:100])  # a name has 255 bytes at most
    return os.path.join(folder, f".{start}.{os.urandom(6).hex()}.part")


def _give_name(fd: int, name: str) -> None:
    """A name for a nameless file, so that it can take another's place. Where the system refuses one, a copy of the file bears it."""
    nameless = f"/proc/self/fd/{fd}"
    try:
        os.link(nameless, name, src_dir_fd=fd, follow_symlinks=True)  # src_dir_fd only so that Python calls linkat, which follows
    except OSError:
        with open(nameless, "rb") as source, open(name, "xb") as copy:
            os.fchmod(copy.fileno(), stat.S_IMODE(os.fstat(fd).st_mode))
            while block := source.read(CHUNK):
                copy.write(block)
            copy.flush()
            os.fsync(copy.fileno())


def _sync_folder(folder: str) -> None:
    if not hasattr(os, "O_DIRECTORY"):
        return
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
