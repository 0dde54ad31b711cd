"""Compressed files as Sources: inflated once, into memory while that is small and into an unnamed temporary file beyond.

Knows: the streams of gzip, zlib, xz, lzma, bzip2, Zstandard, LZ4 and joblib's old ZF files, one or several end to end, and how much they
may grow. What came out before a fault is kept, and the fault told.
Refuses to know: what is inside. Two of the libraries are not Python's own (zstandard, lz4); where one is missing, the refusal says so.
"""

from __future__ import annotations

import re
from zlib import decompressobj

from .errors import FormatError, LimitError, UnsupportedError
from .finding import Finding
from .source import BytesSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .limits import Limits
    from .source import Source

PIECE = 1 << 20  # bytes inflated at once
STEP = 1 << 16  # compressed bytes read at once
IN_MEMORY = 64 << 20  # more than this goes to a temporary file
WINDOW = 128 << 20  # bytes of dictionary that a stream may ask for


class Missing(Exception):
    """A library that is not there; the text says what to do."""


class Damaged(Exception):
    """The compressed data is no further readable."""


class _Zlib:
    """zlib's object in the manner of those of bz2 and lzma."""

    def __init__(self, bits: int) -> None:
        self._engine = decompressobj(bits)
        self._held = b""

    eof = property(lambda self: self._engine.eof)
    unused_data = property(lambda self: self._engine.unused_data)
    needs_input = property(lambda self: not self._held and not self.eof)

    def decompress(self, data: bytes, most: int) -> bytes:
        out = self._engine.decompress(self._held + data, most)
        self._held = self._engine.unconsumed_tail
        if not out and self._held:  # it gave nothing though it had input: it will not
            self._held = b""
        return out


class _Zstandard:
    """The package zstandard in the same manner. It has no bound on what it gives at once, so it is fed a little at a time."""

    FED = 512  # bytes: at most 128 blocks of 128 KiB each

    def __init__(self, module: Any) -> None:
        self._engine = module.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
        self._in = b""
        self._out = bytearray()
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        return bool(self._engine.eof) and not self._out

    @property
    def needs_input(self) -> bool:
        return not self._in and not self._out and not self.eof

    def decompress(self, data: bytes, most: int) -> bytes:
        self._in += data
        at = 0
        while at < len(self._in) and len(self._out) < most and not self._engine.eof:
            self._out += self._engine.decompress(self._in[at : at + self.FED])
            at += self.FED
        self._in = self._in[at:]
        if self._engine.eof:
            self.unused_data = self._engine.unused_data + self._in
        out = bytes(self._out[:most])
        del self._out[:most]
        return out


def _xz() -> Any:
    from lzma import LZMADecompressor

    return LZMADecompressor(memlimit=WINDOW)


def _bzip2() -> Any:
    from bz2 import BZ2Decompressor

    return BZ2Decompressor()


def _zstd() -> Any:
    try:
        from compression.zstd import ZstdDecompressor  # type: ignore[import-not-found,unused-ignore]  # Python 3.14
    except ImportError:
        pass
    else:
        return ZstdDecompressor()
    try:
        import zstandard
    except ImportError:
        raise Missing("install the package zstandard, or unpack it with `zstd -d < FILE > NEW`") from None
    return _Zstandard(zstandard)


def _lz4() -> Any:
    try:
        from lz4.frame import LZ4FrameDecompressor
    except ImportError:
        raise Missing("install the package lz4, or unpack it with `lz4 -d < FILE > NEW`") from None
    return LZ4FrameDecompressor()


def _zfile(source: Source) -> int:
    """Where the zlib stream of joblib's old format begins: behind "ZF" and the length in hexadecimal, padded to 19 characters."""
    return 22 if source.size > 22 and source.read(21, 1) == b" " else 21


class Engine:
    """One compression: ``noun``, how its streams begin, what inflates one of them, and where the first of them stands."""

    __slots__ = ("begins", "make", "noun", "start")

    def __init__(self, noun: str, begins: bytes, make: Callable[[], Any], start: Callable[[Source], int] = lambda source: 0) -> None:
        self.noun = noun
        self.begins = re.compile(begins, re.DOTALL)
        self.make = make
        self.start = start

    def pieces(self, source: Source) -> Iterator[bytes]:
        """What is inside, in pieces of at most PIECE. Raises Missing, or Damaged where the data ends early or is wrong."""
        at, data, engine = self.start(source), b"", self.make()
        while True:
            if engine.eof:  # of one stream: another may follow, and NULs between them
                data = (engine.unused_data or b"").lstrip(b"\0")
                while len(data) < 16 and at < source.size:
                    more = source.read(at, min(STEP, source.size - at))
                    data, at = (data + more).lstrip(b"\0"), at + len(more)
                if not data:
                    return
                if not self.begins.match(data):
                    raise Damaged("something else follows it")
                engine = self.make()
            elif engine.needs_input and not data:
                if at >= source.size:
                    raise Damaged("it ends early")
                data = source.read(at, min(STEP, source.size - at))
                at += len(data)
            try:
                out = engine.decompress(data, PIECE)
            except Exception as error:  # each library complains in its own way
                raise Damaged(str(error) or type(error).__name__) from None
            data = b""
            if out:
                yield out

    def head(self, source: Source, most: int) -> bytes | None:
        """The first bytes of what is inside: b"" where there are none, None where the library is missing."""
        out = b""
        try:
            for piece in self.pieces(source):
                out += piece
                if len(out) >= most:
                    break
        except Missing:
            return None
        except Damaged:
            pass
        return out[:most]


# By the kind that formats.foreign gives such files.
ENGINES = {
    "gzip": Engine("gzip", rb"\x1f\x8b\x08", lambda: _Zlib(31)),
    "xz": Engine("xz", rb"\xfd7zXZ\0", _xz),
    "bzip2": Engine("bzip2", rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", _bzip2),
    "zstd": Engine("Zstandard", rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", _zstd),
    "lz4": Engine("LZ4", rb"\x04\x22\x4d\x18", _lz4),
    "zlib": Engine("zlib", rb"\x78[\x01\x5e\x9c\xda]", lambda: _Zlib(15)),
    "lzma": Engine("LZMA", rb"\x5d\0\0.{2}(?:\xff{8}|.{5}\0{3})", _xz),
    "joblib-zfile": Engine("joblib's ZF format", rb"ZF0x", lambda: _Zlib(15), _zfile),
}


def inflated(source: Source, kind: str, limits: Limits) -> tuple[Source, list[Finding]]:
    """What is inside of ``source`` as a Source of its own, and what was wrong with the wrapping. LimitError where it grows too far,
    UnsupportedError where a library is missing, FormatError where nothing comes out."""
    engine = ENGINES[kind]
    cap = min(limits.inflated, max(IN_MEMORY, limits.expand_ratio * source.size))
    notes: list[Finding] = []

    def pieces() -> Iterator[bytes]:
        made = 0
        try:
            for piece in engine.pieces(source):
                made += len(piece)
                if made > cap:
                    text = f"{source.size:,} compressed bytes grow to more than {cap:,}"
                    raise LimitError(text, part=source.name, hint="raise Limits.inflated and Limits.expand_ratio, or unpack it")
                yield piece
        except Damaged as error:
            if not made:
                raise FormatError(f"the {engine.noun} wrapper is damaged: {error}", part=source.name) from None
            text = f"the {engine.noun} wrapper is damaged: {error}; {made:,} bytes came out"
            notes.append(Finding("wrapper-damaged", text, source.name))
        except Missing as error:
            raise UnsupportedError(
                f"it is compressed with {engine.noun}, for which a library is missing", part=source.name, hint=str(error)
            ) from None

    return poured(pieces(), source.name), notes


def poured(pieces: Iterator[bytes], name: str) -> Source:
    """A Source of the pieces: in memory, or in an unnamed temporary file where they are many."""
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) > IN_MEMORY:
            break
    else:
        return BytesSource(bytes(held), name)
    from .scratch import written

    def fill(write: Callable[[bytes | bytearray], None]) -> None:
        write(held)
        held.clear()
        for piece in pieces:
            write(piece)

    return written(fill, name)
