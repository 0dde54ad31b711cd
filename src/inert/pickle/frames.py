"""Frames of protocol 4: whether the opcodes keep to them.

Knows: where a frame begins and ends, and how to step from opcode to opcode without doing anything.
Refuses to know: what opcodes do. A frame that lies changes nothing of the reading: CPython's C unpickler, which pickle.load and torch.load
use, takes only its length (that many bytes must be there) and reads on. Its Python twin keeps to frames, and so refuses what crosses an
end, reads raw arrays from behind the frame (joblib), and goes on behind the frame for the next pickle.

Facts: CPython 3.13 Lib/pickle.py (_Unframer), Modules/_pickle.c (load_frame); PEP 3154.
"""

from __future__ import annotations

from .opcodes import OPCODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .decode import Machine

_FIXED = {"": 0, "u1": 1, "u2": 2, "u4": 4, "i4": 4, "u8": 8, "f8": 8}
_COUNTED = {"s1": 1, "s4": 4, "i4s": 4, "s8": 8}
_LINES = {"line": 1, "lines": 2}


def behind(data: bytes, at: int) -> int:
    """Offset of the opcode behind the one at ``at``, which has been handled before: its argument is whole."""
    argument = OPCODES[data[at]].argument
    at += 1
    if argument in _FIXED:
        return at + _FIXED[argument]
    if argument in _COUNTED:
        width = _COUNTED[argument]
        return at + width + int.from_bytes(data[at : at + width], "little")
    for _ in range(_LINES[argument]):
        at = data.find(b"\n", at) + 1
    return at


class Frame:
    """One frame: from the byte behind FRAME's argument to ``end``."""

    __slots__ = ("end", "start")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def leave(self, m: Machine, at: int) -> None:
        """At ``at``, the next FRAME or the end of the pickle, this one should be over. Notes where it is not, or where it ended inside
        an opcode. Frames that do not reach into one another are walked once each, and only those that end in the middle of opcodes."""
        if self.end > at:
            m.note("pickle-frame", self.start - 9, f"the frame should be over at byte {at:,} and goes on for {self.end - at:,} bytes")
        elif self.start >= 0 and self.end < at:
            place = self.start
            while place < self.end:
                before, place = place, behind(m.data, place)
            if place > self.end:
                m.note("pickle-frame", before, f"{OPCODES[m.data[before]].name} crosses the end of its frame at byte {self.end:,}")

    def stepped(self, m: Machine, at: int) -> None:
        """Raw bytes follow ``at``: a frame that is not over has them read from behind its end."""
        if self.end > at:
            m.note("pickle-frame", self.start - 9, f"raw bytes at byte {at:,} stand inside of the frame")
        m.frame = NONE


NONE = Frame(-1, -1)
