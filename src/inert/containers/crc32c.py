"""CRC-32C (Castagnoli), and the mask that LevelDB and TensorFlow put over a stored one.

Knows: the checksum of bytes, continued from that of the bytes before, by the processor's own instruction where it has one.
Refuses to know: what is summed. google_crc32c is imported when a checksum is first wanted.

Facts: LevelDB util/crc32c.h, TensorFlow 2.21 tsl/lib/hash/crc32c.h (kMaskDelta).
"""

from __future__ import annotations

MASK = 0xA282EAD8
LOW = 0xFFFFFFFF


def crc32c(data: bytes, crc: int = 0) -> int:
    """The checksum of what ``crc`` is the checksum of, with ``data`` behind it."""
    from google_crc32c import extend

    made: int = extend(crc, data)
    return made


def masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + MASK) & LOW


def unmasked(stored: int) -> int:
    turned = (stored - MASK) & LOW
    return (turned >> 17 | turned << 15) & LOW
