"""Plain values → lines of text: sizes, shapes, tables, outlines, JSON.

Knows: how to make a table whose columns stand straight whatever script its cells are in, and that nothing which could steer a terminal
(control characters, bidi overrides) ever leaves in a line.
Refuses to know: what is shown, and rich (see terminal.py).
"""

from __future__ import annotations

from itertools import chain, islice

from .. import words
from ..errors import one_line
from ..report.listing import Rows
from ..report.plain import Mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

size, counted, shape = words.size, words.counted, words.shape
WIDE = 80  # columns of a cell that others are lined up with; a longer one pushes its own line only
CELL, WHOLE = 300, 1 << 20  # characters of a cell; of one that is to be whole
MEASURED = 10_000  # rows that a table is laid out by
ROOM = 100  # characters of a list or dict that stands in one line


def clean(text: str, limit: int = CELL) -> str:
    """``text`` as a cell: one line of printable characters."""
    return one_line(text, limit)


def width(text: str) -> int:
    """Columns of a terminal that ``text`` takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    return sum(0 if category(c) in ("Mn", "Me") else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def shortened(names: Iterable[str]) -> dict[str, str]:
    """What stands for each of the names that are wider than WIDE. Two that differ in the middle only are left whole."""
    made = {name: middle(name) for name in names if len(name) > WIDE or not name.isascii()}
    again: dict[str, int] = {}
    for short in made.values():
        again[short] = again.get(short, 0) + 1
    return {name: short for name, short in made.items() if short != name and again[short] == 1}


def middle(name: str, room: int = WIDE) -> str:
    """``name`` without its middle where it is wider than ``room``."""
    if len(name) <= 2 * room and width(clean(name, WHOLE)) <= room:
        return name
    head, tail = clean(name[:room], WHOLE), clean(name[-room:], WHOLE)
    return f"{_begin(head, room // 2)}…{_begin(tail[::-1], room - room // 2 - 1)[::-1]}"


def _begin(text: str, room: int) -> str:
    """As many characters as fit into ``room`` columns."""
    if text.isascii():
        return text[:room]
    used, end = 0, 0
    while end < len(text) and (used := used + width(text[end])) <= room:
        end += 1
    return text[:end]


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], limit: int = CELL) -> Iterator[str]:
    """Aligned lines. A title that begins with > is of a column set to the right; a column without a cell is left out. ``limit``:
    characters of a cell.

    Widths are those of the first MEASURED rows, and so are the columns, but for the last one: the others pass one by one."""
    all_rows = iter(rows)
    first = list(islice(all_rows, MEASURED))
    more = next(all_rows, None)
    last = len(titles) - 1 if more is not None else -1
    kept = [i for i in range(len(titles)) if not first or i == last or any(row[i] for row in first)]
    right = [titles[i].startswith(">") for i in kept]
    heads = [titles[i].lstrip(">") for i in kept]
    measured = [[clean(row[i], limit) for i in kept] for row in first]
    widths = [max([len(head)] + [w for row in measured if (w := width(row[i])) <= WIDE]) for i, head in enumerate(heads)]
    rest = ([clean(row[i], limit) for i in kept] for row in chain(() if more is None else (more,), all_rows))
    padded = [_rjust if on_the_right else _ljust for on_the_right in right]
    for row in chain((heads,), measured, rest):
        yield "  ".join([pad(cell, wide) for pad, cell, wide in zip(padded, row, widths, strict=True)]).rstrip()


def _ljust(cell: str, wide: int) -> str:
    return cell.ljust(wide) if cell.isascii() else cell + " " * (wide - width(cell))


def _rjust(cell: str, wide: int) -> str:
    return cell.rjust(wide) if cell.isascii() else " " * (wide - width(cell)) + cell


# -- outlines -------------------------------------------------------------------------------------------------------------


def outline(value: Any, indent: int = 0, cut: bool = False) -> Iterator[str]:
    """A plain value (of bounded depth: report.plain) as indented lines; what is short stands in one line.

    ``cut``: lists of plain items always do, shortened."""
    lead = "  " * indent
    if isinstance(value, dict) and value and not isinstance(value, Mark):
        for key, item in value.items():
            yield from _entry(f"{lead}{clean(key)}:", item, indent, cut)
        return
    short = compact(value, cut=cut)
    if short is not None:
        yield lead + short
        return
    for item in value:
        yield from _entry(f"{lead}-", item, indent, cut)


def _entry(head: str, item: Any, indent: int, cut: bool) -> Iterator[str]:
    short = compact(item, cut=cut)
    if short is not None:
        yield f"{head} {short}".rstrip()
        return
    yield head
    yield from outline(item, indent + 1, cut)


def compact(value: Any, room: int = ROOM, cut: bool = False) -> str | None:
    """A value in about ``room`` characters; None where it takes more than a line. Texts and marks are always one line, dicts and lists
    only where no dict is in them."""
    if isinstance(value, str):
        return clean(f'"{value}"', 2000)
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    if isinstance(value, Mark):
        return _marked(value)
    keyed = isinstance(value, dict)
    made: list[str] = []
    for number, (key, item) in enumerate(value.items() if keyed else enumerate(value)):
        text = compact(item, room, cut)
        if text is None or (isinstance(item, dict) and item and not isinstance(item, Mark)):
            return None
        text = f"{clean(str(key))}: {text}" if keyed else text
        room -= len(text) + 2
        if room < 0:
            if not cut or keyed or not made or isinstance(item, (dict, list)):
                return None
            made.append(f"… {len(value) - number:,} more")
            break
        made.append(text)
    return f"{{{', '.join(made)}}}" if keyed else f"[{', '.join(made)}]"


def _marked(value: Mark) -> str:
    """What stands for a value that JSON has no word for, in a few words."""
    mark, said = next(iter(value.items()))
    if mark == "tensor":
        more = f", {value['kind']}" if "kind" in value else ""
        return f"<{value.get('dtype')} {shape(value.get('shape', ()))}{more}{', damaged' if 'fault' in value else ''}>"
    if mark == "hex":
        return f"0x{said[:64]}{'…' if len(said) > 64 else ''} ({counted(value.get('length', len(said) // 2), 'byte')})"
    if mark == "left_out":
        return f"… {clean(str(said))}"
    if mark == "text":
        return clean(f'"{said[:200]}…" ({value.get("length", len(said)):,} characters)')
    return f"<{mark} {clean(str(said))}>"


# -- JSON -----------------------------------------------------------------------------------------------------------------


def as_json(value: dict[str, Any]) -> Iterator[str]:
    """JSON in pieces, all ASCII: a line for each top-level key, and one for each item of a list of dicts."""
    from json import JSONEncoder

    encode = JSONEncoder(allow_nan=False).encode
    yield "{"
    for number, (key, item) in enumerate(value.items()):
        yield f"{',' if number else ''}\n{encode(key)}: "
        if isinstance(item, Rows) or (isinstance(item, list) and item and all(isinstance(one, dict) for one in item)):
            yield "["
            yield from (f"{',' if at else ''}\n {encode(one)}" for at, one in enumerate(item))
            yield "\n]" if len(item) else "]"
        else:
            yield encode(item)
    yield "\n}\n"


def lines(found: Iterable[str]) -> Iterator[str]:
    """Each on a line of its own: whoever wrote it, nothing that is no printable character goes to a terminal."""
    return (f"{line if line.isprintable() else clean(line, len(line))}\n" for line in found)
