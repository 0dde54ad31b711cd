"""Numbers as people read them: bytes, counts, shapes.

Knows: units and plurals, and what is no text at all. Refuses to know: what is counted.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ONE = {"have": "has", "are": "is", "do": "does"}  # what verbs of many are of one, but for those that get an s
MOST = 200  # bits of a number that is written in units: a shape may ask for more bytes than any float can count
UNITS = ("kB", "MB", "GB", "TB", "PB", "EB")


def size(count: int, exact: bool = False) -> str:
    """Bytes as people read them, in powers of 1000: 32 B, 1.2 MB, 400 kB."""
    if exact:
        return str(count)
    if count < 1000:
        return f"{count} B"
    if count.bit_length() > MOST:
        return f"10^{int(count.bit_length() * 0.30103)} B"
    amount = float(count)
    for unit in UNITS:
        amount /= 1000
        if amount < 999.5 or unit == UNITS[-1]:
            break
    return f"{amount:.3g} {unit}" if amount < 999.5 else f"{amount:,.0f} {unit}"


def counted(count: int, word: str, verb: str = "") -> str:
    """1 byte, 2 bytes; with a verb, given as it is of many: 1 byte follows, 2 bytes follow."""
    if verb:
        return f"{counted(count, word)} {ONE.get(verb, verb + 's') if count == 1 else verb}"
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def is_text(text: str) -> bool:
    """Whether UTF-8 holds it: lone surrogates stand for bytes that were no UTF-8."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def article(word: str) -> str:
    """a dict, an int."""
    return f"{'an' if word[:1] in 'aeiouAEIOU' else 'a'} {word}"


def shape(sizes: Sequence[int]) -> str:
    """[3,224,224], without blanks: one word for the tools that take columns apart."""
    return f"[{','.join(map(str, sizes))}]"
