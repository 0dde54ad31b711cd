"""Raw deflate data, inflated in bounds.

Knows: how to make exactly as many bytes as were promised, in memory or in an unnamed temporary file.
Refuses to know: archives; wrapped files (inflate.py).
"""

from __future__ import annotations

from zlib import MAX_WBITS, decompressobj
from zlib import error as ZlibError

from ..errors import FormatError, TruncatedError
from ..source import BytesSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..source import Source, Span

IN_MEMORY = 64 << 20  # a larger inflated member goes to an unnamed temporary file


def inflate(packed: Span, size: int, name: str) -> Span:
    """Inflate raw deflate data that promises ``size`` bytes; never makes more. FormatError where it is damaged or lies."""
    source: Source
    if size <= IN_MEMORY:
        out = bytearray()
        _inflate_into(out.extend, packed, size, name)
        source = BytesSource(bytes(out), name)
    else:
        from ..scratch import written

        source = written(lambda write: _inflate_into(write, packed, size, name), name)
    return source.span()


def readable(packed: Span, cap: int, name: str) -> tuple[Span, str]:
    """What comes out of raw deflate data before a fault, its end or ``cap`` bytes; and what ended it too early, "" for nothing."""
    fault = ""

    def pieces() -> Iterator[bytes]:
        nonlocal fault
        engine, made = decompressobj(-MAX_WBITS), 0
        try:
            for piece in packed.chunks():
                while not engine.eof:
                    data = engine.decompress(piece, 1 << 20)
                    made += len(data)
                    if made > cap:
                        fault = f"it inflates to more than {cap:,} bytes"
                        return
                    yield data
                    piece = engine.unconsumed_tail
                    if not data and not piece:
                        break
        except ZlibError as error:
            fault = f"its deflated data is damaged ({error}); {made:,} bytes came out"
            return
        if not engine.eof:
            fault = f"its deflated data is cut short; {made:,} bytes came out"

    from ..inflate import poured

    return poured(pieces(), name).span(), fault


def _inflate_into(write: Callable[[bytes], Any], packed: Span, size: int, name: str) -> None:
    engine, made = decompressobj(-MAX_WBITS), 0
    try:
        for piece in packed.chunks():
            while not engine.eof:
                data = engine.decompress(piece, min(1 << 20, size - made + 1))
                made += len(data)
                if made > size:
                    raise FormatError(f"inflates to more than the {size:,} bytes it promises", part=name, offset=packed.offset)
                write(data)
                piece = engine.unconsumed_tail
                if not data and not piece:  # nothing is held back: more input is wanted
                    break
    except ZlibError as error:
        raise FormatError(f"its deflated data is damaged ({error})", part=name, offset=packed.offset) from None
    if made != size or not engine.eof:
        raise TruncatedError(f"inflates to {made:,} of {size:,} bytes", part=name, offset=packed.offset)
