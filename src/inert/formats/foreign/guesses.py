"""What no table knows: the first bytes as they are, and the nearest guess.

Knows: how few bytes may still be the beginning of something, and how numbers and noise look.
Refuses to know: certainty. A guess is called one, and its hint sends the reader to where the file came from.
"""

from __future__ import annotations

from .look import SHOWN
from .tables import AGAIN, BEGINNINGS, EMBEDDED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .look import Answer, Look


def unknown(look: Look) -> Answer:
    shown = look.head[:16].hex(" ")
    guess, hint = _guess(look)
    return "unknown", "a file of no format that inert knows", f"; it begins with {shown} (hex){guess}", hint


def stub(look: Look) -> Answer | None:
    """A few bytes that are the beginning of something; a letter or two are text as well."""
    if look.inner or look.source.size >= 16 or not any(magic.startswith(look.head) for magic, _ in BEGINNINGS):
        return None
    return unknown(look)


def _guess(look: Look) -> tuple[str, str]:
    """The nearest guess and what to do, for bytes that no table knows."""
    head = look.head
    starts = dict.fromkeys(noun for magic, noun in BEGINNINGS if magic.startswith(head))
    if starts and not look.inner:
        return f"; nearest guess: the beginning of {' or '.join(list(starts)[:SHOWN])}, cut short", AGAIN
    for magic, noun in EMBEDDED:
        at = head.find(magic)
        if at > 0:
            hint = f"cut off what stands before it with `tail -c +{at + 1} FILE > NEW`, then open NEW"
            return f"; nearest guess: {noun}, with {at:,} bytes of something else before it", hint
    if head[:1] == b"\x80" and len(head) > 2 and head[1] > 5:
        return f"; nearest guess: a damaged pickle, for protocol {head[1]} does not exist", AGAIN
    exponents = [byte & 0x7F for byte in head[3::4]]
    if len(exponents) >= 16 and sum(0x32 <= byte <= 0x43 for byte in exponents) > 0.9 * len(exponents):
        return "; nearest guess: float32 numbers without a header", "ask its maker for names and shapes: nothing here tells them"
    if len(head) >= 4096 and len(set(head)) >= 250:
        return "; nearest guess: compressed, encrypted or raw numbers", "ask where it came from; " + AGAIN
    return "; no nearer guess", "ask where it came from; " + AGAIN
