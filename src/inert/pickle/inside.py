"""What is inside of rows: how many opcodes they are made of, and where those stand that the machine has not met before.

Knows: which column of a row's groups (row.py) holds which opcodes.
Refuses to know: values. The machine that goes step by step counts and notes the same (tests/test_pickle_rows.py).
"""

from __future__ import annotations

import re

from .frames import behind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .decode import Machine
    from .row import Run

GETS = frozenset(b"hj")
INSIDE = frozenset(b"(hjXtQKMJ)\x85\x86\x87\x88\x89Rqr")  # opcodes of records
# those that not every record has: the columns they may stand in, and what a value looks like that holds one
_HOLDERS = {
    ord(code): (places, re.compile(pattern, re.DOTALL))
    for code, places, pattern in (
        ("h", (3, 7, 8, 17), b"(?:j....(?:\\(\\()?)*h"), ("j", (3, 7, 8, 17), b"(?:h.(?:\\(\\()?)*j"),
        ("K", (9, 11, 12, 14), b"\\(?(?:M..|J....)*K"), ("M", (9, 11, 12, 14), b"\\(?(?:K.|J....)*M"),
        ("J", (9, 11, 12, 14), b"\\(?(?:K.|M..)*J"), ("\x85", (12, 14), b".+\x85\\Z"), ("\x86", (12, 14), b".+\x86\\Z"),
        ("\x87", (12, 14), b".+\x87\\Z"),
    )
}  # fmt: skip


def opcodes(columns: list[tuple[Any, ...]], known: dict[int, dict[bytes, Any]], run: Run) -> int:
    """How many opcodes rows are made of beside their PUTs, less the GET of a row alone, which the machine is handling: sixteen and the text
    or the GET before them, and those of their sizes and strides."""
    count = len(columns[0]) * (18 if columns[0][0] else 16)
    for place, values in ((12, run.shapes), (14, run.strides)):
        count += len(values) + (sum(map(len, values)) if len(known[place]) > 1 else len(values) * len(values[0]))
        if any(code[0] == 0x28 for code in known[place]):
            count += sum(code[0] == 0x28 for code in columns[place])
    return count


def note(
    machine: Machine, missing: frozenset[int], columns: list[tuple[Any, ...]], known: dict[int, dict[bytes, Any]], starts: memoryview
) -> None:
    """Note where rows have opcodes that the machine has not met before, as it would have done."""
    found = []
    for code in missing:
        row = _first_row(code, columns, known)
        if row >= 0:
            place: int = starts[row]
            while machine.data[place] != code:
                place = behind(machine.data, place)
            found.append((place, code))
    machine.opcodes.update((code, place) for place, code in sorted(found))


def _first_row(code: int, columns: list[tuple[Any, ...]], known: dict[int, dict[bytes, Any]]) -> int:
    """The first row that holds an opcode, or -1."""
    if code == 0x58:
        return 0 if columns[0][0] or columns[5][0] is not None else -1
    if code in b"qr":
        return 0 if (len(columns[20][0]) == 1) == (code == 0x71) else -1
    if code in b"\x88\x89":
        grad = bytes((code,))
        return columns[16].index(grad) if grad in columns[16] else -1
    if code not in _HOLDERS:
        return 0
    places, pattern = _HOLDERS[code]
    found = []
    for place in places:
        value = next((value for value in known.get(place) or dict.fromkeys(columns[place]) if value and pattern.match(value)), None)
        if value is not None:
            found.append(columns[place].index(value))
    return min(found, default=-1)
