"""Bytes somewhere: a Source is a file, a stream or a buffer; a Span is a run of bytes in one, bounds-checked at birth.

Knows: what every Source can be asked, and the two that need no file: bytes in memory, and a run of another Source.
Refuses to know: what the bytes mean, and files (files.py, scratch.py). A Span's abilities are asked for (``view()`` and ``region()`` may
give None), never assumed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager

from .errors import TruncatedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHUNK = 1 << 20  # bytes per piece of a bulk pass: large enough for full speed, small enough to stay in cache


class Source(ABC):
    """``size`` bytes under a ``name``. Reads are checked against ``size`` and never return less than was asked for.

    ``beside`` opens what lies beside it under a plain name, where it was taken out of something that knows (else None)."""

    __slots__ = ("beside", "name", "size")

    whole = True  # False for a folder, whose bytes lie in its files

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.beside: Callable[[str], Source] | None = None

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

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of the file. Views that were handed out stay valid."""

    @abstractmethod
    def _read(self, offset: int, length: int) -> bytes:
        """``length`` bytes, at least one, that lie inside of ``size``."""


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
