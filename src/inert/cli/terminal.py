"""Where a command's answer goes: a pipe gets plain lines, a terminal a table by rich and, meanwhile, a progress line.

Knows: what is a terminal, and what to do when nobody reads on.
Refuses to know: what is written.
"""

from __future__ import annotations

import sys
from itertools import chain, islice

from . import FINDINGS, FINE, hush, tell
from .text import CELL, as_json, clean, counted, lines, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..finding import Finding

RICH = 500  # rows: rich lays out about 2,000 a second
SHOWN = 5  # findings that are said beside a listing


def write(pieces: Iterable[str]) -> None:
    """To stdout. A reader that has gone away is no fault: the rest is dropped, and the command's exit code stays what it is."""
    out = sys.stdout.write
    try:
        for piece in pieces:
            out(piece)
        sys.stdout.flush()
    except BrokenPipeError:
        hush()


def write_json(value: dict[str, Any]) -> None:
    write(as_json(value))


def write_lines(found: Iterable[str]) -> None:
    write(lines(found))


def write_table(titles: Sequence[str], rows: Iterable[Sequence[str]], limit: int = CELL) -> None:
    """Rows as they come: only those of a table that is small and on a terminal are held together."""
    if sys.stdout.isatty():
        all_rows = iter(rows)
        first = list(islice(all_rows, RICH + 1))
        if len(first) <= RICH:
            try:
                _rich(titles, first, limit)
                return
            except ImportError:
                pass
        rows = chain(first, all_rows)
    write_lines(table(titles, rows, limit))


def _rich(titles: Sequence[str], rows: Sequence[Sequence[str]], limit: int) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    kept = [i for i in range(len(titles)) if not rows or any(row[i] for row in rows)]
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for i in kept:
        title = titles[i]
        made.add_column(title.lstrip(">"), justify="right" if title.startswith(">") else "left", overflow="fold")
    for row in rows:
        made.add_row(*(Text(clean(row[i], limit)) for i in kept))
    Console().print(made)


def findings(found: Sequence[Finding], command: str = "") -> int:
    """Say the errors and warnings on stderr, the worst first; the exit code that they make."""
    errors = [note for note in found if note.severity == "error"]
    said = errors + [note for note in found if note.severity == "warning"]
    for note in said[:SHOWN]:
        tell(str(note))
    if len(said) > SHOWN:
        tell(f"{counted(len(said) - SHOWN, 'more note')}{command and f': see inert {command}'}")
    return FINDINGS if errors else FINE


class Progress:
    """A line on stderr while long work goes on: how much of ``total`` is done. Nothing where stderr is no terminal."""

    def __init__(self, what: str, total: int) -> None:
        self.what = what
        self.total = max(total, 1)
        self.done = 0
        self.next = 0.0
        self.active = sys.stderr.isatty()
        self.shown = False

    def expect(self, total: int) -> None:
        """How much there is, where that was not known before."""
        self.total = max(total, 1)

    def __call__(self, more: int) -> None:
        if not self.active:
            return
        from time import monotonic

        self.done += more
        now = monotonic()
        if not self.next:
            self.next = now + 0.5  # short work shows nothing
        elif now > self.next:
            self.next = now + 0.1
            self.shown = True
            sys.stderr.write(f"\r{self.what} {min(self.done * 100 // self.total, 100):3} %")
            sys.stderr.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
