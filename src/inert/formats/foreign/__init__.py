"""What a file is that inert does not open: one sentence that says so, and one hint that says what to do next.

Knows: in which order the recognisers of this package are asked. The content decides; a file's name is asked only where its
bytes say nothing. Reads the first and last few KiB and bounded samples, and inflates at most 4 KiB of a wrapper.
Refuses to know: how to read any of these formats, and whether one that it names is whole (unless its ends show that).
"""

from __future__ import annotations

import re

from ...source import BytesSource
from . import archives, guesses, heads, protobuf, text, wrappers, zeros
from .folders import describe_folder as describe_folder
from .look import Look, clip, counted
from .tables import TF_OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ...source import Source
    from .look import Answer

SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")  # bare numbers without a header: only the name tells

# In this order: what a magic number proves comes before what only looks alike.
RECOGNISERS: tuple[Callable[[Look], Answer | None], ...] = (
    zeros.empty,
    heads.later,
    heads.magic,
    wrappers.wrapped,
    archives.zipped,
    archives.tarred,
    heads.aria2,
    zeros.filled,
    guesses.stub,
    heads.pickled,
    text.written,
    protobuf.message,
    text.mangled,
)


def describe(source: Source) -> tuple[str, str, str]:
    """(kind, sentence, hint): a short id of what ``source`` is, one line that says so, and what to do next.

    Answers for any bytes and reads a bounded number of them. Raises only what ``source`` raises when read.
    """
    look = Look(source, _identify)
    kind, noun, facts, hint = _identify(look)
    if kind in ("unknown", "text", "zero-filled") and SHARD.search(source.name):
        facts = "; its bytes say nothing about themselves"
        if kind == "zero-filled":
            facts += "; it begins with NULs: zero by nature, or never written"
        kind, noun = "tf-data", "by its name a data shard of a TensorFlow checkpoint"
        hint = TF_OPEN
    facts += zeros.note(look, kind)
    return kind, clip(f"this is {noun}, {counted(source.size, 'byte')}{facts}", 400), hint


def beginning(data: bytes) -> str:
    """The short id of what ``data``, the first bytes of something, begins."""
    return _identify(Look(BytesSource(data), _identify, inner=True))[0]


def _identify(look: Look) -> Answer:
    for recognise in RECOGNISERS:
        answer = recognise(look)
        if answer is not None:
            return answer
    return guesses.unknown(look)
