"""Opcodes in frames, as CPython cuts them.

Knows: where a frame ends, and what stands outside of any.
Refuses to know: what the opcodes do. Whether the frames of a file are sound is for frames.py.

Facts: CPython 3.13 Lib/pickle.py and Modules/_pickle.c.
"""

from __future__ import annotations

from struct import pack

FRAME_TARGET = 64 << 10  # a frame is ended at the first object that begins beyond so many bytes …
FRAME_LEAST = 4  # … and none is made for fewer


def framed(out: list[bytes], bounds: list[int], outside: set[int]) -> bytes:
    """The opcodes in frames, as CPython cuts them: at the first object beyond 64 KiB, and large texts and bytes ``outside`` of any. Both
    say places in ``out``."""
    made: list[bytes] = []
    frame: list[bytes] = []
    size, starts = 0, set(bounds)

    def close() -> None:
        nonlocal size
        if frame:
            made.append((b"\x95" + pack("<Q", size) if size >= FRAME_LEAST else b"") + b"".join(frame))
        frame.clear()
        size = 0

    for at, piece in enumerate(out):
        if at in starts and size >= FRAME_TARGET:
            close()
        if at in outside:  # its head is the last piece of the frame before: it stands outside too
            head = frame.pop()
            size -= len(head)
            close()
            made += (head, piece)
            continue
        frame.append(piece)
        size += len(piece)
    close()
    return b"".join(made)
