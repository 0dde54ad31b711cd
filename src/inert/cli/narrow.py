"""Lines for a terminal that is narrower than what is to be told.

Knows: which columns of a table stand beside each other in so much room, and where a line of words breaks. Words are never broken: a name or
a checksum can be copied whole.
Refuses to know: how wide the terminal is (see terminal.py), and what is shown.
"""

from __future__ import annotations

from .text import CELL, clean, width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHORT = 24  # columns of a cell that stays beside the others: types, shapes and sizes are no wider
INDENT = 4  # of a cell that stands below its row
LEAST = 16  # columns in which words are broken into lines; with fewer the terminal may do it


def natural(titles: Sequence[str], cells: Sequence[Sequence[str]]) -> list[int]:
    """Columns that the widest cell of each column takes."""
    return [max([len(title.lstrip(">")), *(width(row[i]) for row in cells)]) for i, title in enumerate(titles)]


def stacked(titles: Sequence[str], rows: Sequence[Sequence[str]], room: int, limit: int = CELL) -> Iterator[str]:
    """A table in ``room`` columns. What is too wide to stand beside the rest stands below its row, under the column's title; where even so
    the first column lacks room, its wide cells have a line of their own."""
    kept = [i for i in range(len(titles)) if not rows or any(row[i] for row in rows)]
    titles = [titles[i] for i in kept]
    cells = [[clean(row[i], limit) for i in kept] for row in rows]
    wide = natural(titles, cells)
    beside = list(range(len(titles)))
    while _together(wide, beside) > room and (broad := [i for i in beside[1:] if wide[i] > SHORT]):
        beside.remove(broad[-1])
    wide[0] = max(len(titles[0]), min(wide[0], room - _together(wide, beside[1:]) - 2))
    yield from _beside([title.lstrip(">") for title in titles], titles, beside, wide)
    for row in cells:
        yield from _beside(row, titles, beside, wide)
        for i in sorted(set(range(len(titles))) - set(beside)):
            if row[i]:
                yield from wrapped(f"{' ' * INDENT}{titles[i].lstrip('>')}: {row[i]}", room, INDENT + 2)


def _together(wide: Sequence[int], beside: Sequence[int]) -> int:
    return sum(wide[i] + 2 for i in beside) - 2


def _beside(row: Sequence[str], titles: Sequence[str], beside: Sequence[int], wide: Sequence[int]) -> Iterator[str]:
    line = ""
    for i in beside:
        blank = " " * (wide[i] - width(row[i]))
        if not i and width(row[i]) > wide[i] and len(beside) > 1:
            yield row[i]
            line = " " * wide[i]
        else:
            line += ("  " if i else "") + (blank + row[i] if titles[i].startswith(">") else row[i] + blank)
    if line.strip():
        yield line.rstrip()


def wrapped(text: str, room: int, indent: int) -> Iterator[str]:
    """``text`` in lines of ``room`` columns, all but the first of them indented. A word that is longer stays whole."""
    if room - indent < LEAST or width(text) <= room:
        yield text
        return
    lead = len(text) - len(text.lstrip(" "))
    line = text[:lead]
    fresh = True
    for word in text[lead:].split(" "):
        if not fresh and width(line) + 1 + width(word) > room:
            yield line.rstrip()
            line, fresh = " " * indent, True
        line += word if fresh else f" {word}"
        fresh = False
    yield line.rstrip()
