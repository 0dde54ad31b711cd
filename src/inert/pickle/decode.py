"""The pickle machine: bytes of one pickle → a Document of inert nodes.

Knows: what every opcode of protocols 0 to 5 does to the stack, the marks and the memo, as CPython's Lib/pickle.py has it.
Refuses to know: any module. A name is kept as a Global, a call as a Call; nothing is imported, called, hashed or compared. The machine
is a loop over a table of handlers: no recursion, no allocation from an unchecked length, work linear in the bytes.

Whatever was made before a fault is kept: ``Document.fault`` says what is wrong, ``Document.made`` what the pickle had asked for by then.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from itertools import islice, repeat
from operator import attrgetter, length_hint
from struct import error as StructError
from threading import RLock

from ..errors import FormatError, InertError, LimitError, TruncatedError, one_line
from ..limits import DEFAULT
from .frames import NONE
from .handlers import HANDLERS, Stop, first_use
from .nodes import Call, Global, Reference
from .opcodes import OPCODES
from .row import Row, Run, Template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..limits import Limits
    from .handlers import Follow, Handler
    from .nodes import Node
    from .spelling import Spellings

_first = attrgetter("first")
ODD = 1000  # oddities that are kept: a note is many times as long as an opcode
SLICE = 1 << 20  # opcodes between two looks at the budget
_FIXED = {"u1": 1, "u2": 2, "u4": 4, "i4": 4, "u8": 8, "f8": 8, "s1": 1, "s4": 4, "i4s": 4, "s8": 8}


class Document:
    """One decoded pickle: ``root`` (its value as nodes), ``end`` (offset behind STOP), ``protocol``, ``odd`` (code, offset, text) for
    what no ordinary writer does, ``opcodes`` (code → offset of its first use, in that order), ``fault`` (the error that ended it, or
    None), ``rest`` (what stood on the stack at the fault, mark by mark). Immutable once made."""

    __slots__ = ("_machine", "_parted", "data", "end", "fault", "name", "odd", "opcodes", "protocol", "rest", "root")

    def __init__(self, name: str, machine: Machine) -> None:
        self.name = name
        self.data = machine.data
        self._machine = machine
        self._parted: tuple[list[Run], list[Node]] | None = None
        self.root: Any = None
        self.end = 0
        self.fault: InertError | None = None
        self.rest: list[list[Any]] = []
        self.protocol = machine.protocol
        self.odd = machine.odd
        self.opcodes = machine.opcodes

    @property
    def top(self) -> int:
        """The highest memo index written; -1 for none."""
        return self._machine.top

    @property
    def has_rows(self) -> bool:
        """Whether any tensor's record was taken by the shortcut (row.py)."""
        return bool(self._machine.runs) or any(type(node) is Row for node in self._machine.made)

    @property
    def rows(self) -> list[Node]:
        """``made`` with its Rows left whole: what to look through where there may be a million of them."""
        return self._machine.made

    @property
    def blobs(self) -> list[tuple[int, bytes | bytearray]]:
        """(offset, bytes) of every constant that begins like a pickle or an archive, dropped ones and those before a fault too."""
        return self._machine.blobs

    def parted(self) -> tuple[list[Run], list[Node]]:
        """``rows`` taken apart: the runs that the rows are of, as columns, and everything else in order."""
        if self._parted is None:
            made = self._machine.made
            runs = self._machine.runs or list({id(node.run): node.run for node in made if type(node) is Row}.values())
            self._parted = runs, [node for node in made if type(node) is not Row]
        return self._parted

    @property
    def frame_end(self) -> int:
        """Where the last frame ends: Python's own unpickler goes on there for the next pickle, whatever stands before it."""
        return self._machine.frame.end

    @property
    def made(self) -> Iterator[Node]:
        """Every Global, Reference and Call in the order the opcodes make them, dropped ones and those before a fault too."""
        for node in self._machine.made:
            if type(node) is Row:
                yield from node.events()
            else:
                yield node

    @property
    def globals(self) -> list[Global]:
        return [n for n in self.parted()[1] if type(n) is Global]

    @property
    def calls(self) -> list[Call]:
        return [n for n in self.made if isinstance(n, Call)]

    @property
    def references(self) -> list[Reference]:
        return [n for n in self.made if type(n) is Reference]

    def __repr__(self) -> str:
        return f"<Document {self.name!r}, protocol {self.protocol}, {self.end} bytes>"


class Machine:
    """Stack, marks and memo of one reading. ``position`` arguments point behind the opcode that is being handled."""

    def __init__(self, data: bytes, limits: Limits, shortcut: bool = True, follow: Follow | None = None) -> None:
        self.data = data
        self.follow = follow
        self.size = len(data)
        self.limits = limits
        self.shortcut = shortcut
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.made: list[Node] = []
        self.odd: list[tuple[str, int, str]] = []
        self.blobs: list[tuple[int, bytes | bytearray]] = []  # bytes that begin like a pickle or an archive, with their offsets
        self.protocol = 0  # the highest that was said …
        self.current = 0  # … and the last: it decides over the spelling of names
        self.frame = NONE
        self.start = 0  # offset of the pickle's first byte
        self.top = -1  # highest memo index written so far
        self.runs: list[Run] = []  # of rows, in the order of their memo indices
        self.texts: list[list[str]] = []  # of each run whose rows have texts before them
        self.hidden = 0  # memo entries that rows stand for and that are not written out
        self.dropped: dict[int, list[Call]] = {}  # by id of their first argument: calls made for their effect on it (copyreg's setters)
        self.popped: list[Call] = []  # every call that POP has dropped
        self.changed: set[int] = set()  # ids of rows whose results later opcodes did something to
        self.templates: dict[tuple[bytes, ...], Template] = {}
        self.spellings: Spellings | None = None  # worked out when the pickle is written again
        self.lock = RLock()
        self.opcodes: dict[int, int] = {}
        self.left = limits.opcodes  # those that may still be handled, but for …
        self.steps = repeat(None, 0)  # … the slice under way
        self.table: list[Handler] = [first_use] * 256  # each handler takes its place when it is first wanted

    def run(self, start: int = 0) -> int:
        """Handle opcodes until STOP; the offset behind it. Raises whatever ends the pickle early, always an InertError."""
        at = position = self.start = start
        data, table = self.data, self.table
        try:
            while self.left > 0:
                self.steps = repeat(None, min(SLICE, self.left))
                self.left -= length_hint(self.steps)
                for _ in self.steps:
                    at = position
                    position = table[data[position]](self, position + 1)
        except Stop:
            return at + 1
        except InertError as error:
            error.offset = at if error.offset is None else error.offset
            raise
        except (IndexError, StructError):
            raise self._short(at) from None
        except (ValueError, OverflowError) as error:
            raise FormatError(f"{self._name(at)}: {one_line(str(error), 120)}", offset=at) from None
        raise LimitError(f"more than {self.limits.opcodes:,} opcodes", offset=at, hint="raise Limits.opcodes")

    def afford(self, count: int) -> bool:
        """Whether so many more opcodes may be handled, and another one behind them. They are counted then."""
        if count >= self.left + length_hint(self.steps):
            return False
        self.left -= count
        if self.left < 0:  # the rest is taken from the slice under way
            deque(islice(self.steps, -self.left), 0)
            self.left = 0
        return True

    def replay(self, row: Row) -> None:
        """Run the machine over a row's own bytes, write its memo entries, and leave with it what that made."""
        with self.lock:
            if hasattr(row, "_made"):
                return
            again = Machine(self.data, self.limits, shortcut=False)
            again.memo, again.runs = self.memo, self.runs
            position, end = row.start, row.end
            while position < end:
                position = HANDLERS[self.data[position]](again, position + 1)
            self.memo[row.last] = row
            self.hidden -= row.last - row.first + 1
            row._made = again.made

    def fetch(self, index: int) -> Any:
        """The memo's value at ``index``. FormatError where nothing has been put there."""
        try:
            return self.memo[index]
        except KeyError:
            at = bisect_right(self.runs, index, key=_first) - 1
            row = self.runs[at].holder(index) if at >= 0 else None
            if row is not None:
                if row.last == index:
                    return row
                row.events()
                return self.memo[index]
        raise FormatError(f"memo entry {index} is used but was never written")

    def put(self, index: int, value: Any) -> None:
        if index <= self.top:
            if self.runs:
                self._settle()
        else:
            self.top = index
        self.memo[index] = value

    def _settle(self) -> None:
        """A memo entry is written out of order: write out what the rows stand for and take no more of them."""
        for run in self.runs:
            for row in run.rows:
                row.events()
        self.runs = []
        self.shortcut = False

    def note(self, code: str, at: int, text: str) -> None:
        """Keep what no ordinary writer does; of a great many, the first ones."""
        if len(self.odd) < ODD:
            self.odd.append((code, at, text))

    def _name(self, at: int) -> str:
        known = OPCODES.get(self.data[at])
        return known.name if known else f"opcode {self.data[at]:#04x}"

    def _short(self, at: int) -> FormatError:
        if at >= self.size:
            return TruncatedError("the pickle ends without STOP", offset=at, hint="the file is cut short or damaged: get the file again")
        known = OPCODES.get(self.data[at])
        if known and at + 1 + _FIXED.get(known.argument, 0) > self.size:
            return TruncatedError(
                f"{known.name} lacks its argument", offset=at, hint="the file is cut short or damaged: get the file again"
            )
        return FormatError(f"{self._name(at)} finds too little on the stack", offset=at, hint="the pickle is damaged: get the file again")


def decode(
    data: bytes,
    name: str = "pickle",
    limits: Limits = DEFAULT,
    *,
    start: int = 0,
    shortcut: bool = True,
    follow: Follow | None = None,
) -> Document:
    """Decode one pickle that begins at ``start``. Never raises for what the bytes say: see ``Document.fault``. ``follow`` is asked after
    each BUILD on a Call where the opcodes go on: some programs put raw bytes between them."""
    machine = Machine(data, limits, shortcut, follow)
    document = Document(name, machine)
    try:
        if len(data) - start > limits.pickle_bytes:
            raise LimitError(f"a pickle of {len(data):,} bytes", hint="raise Limits.pickle_bytes")
        document.end = machine.run(start)
        machine.frame.leave(machine, document.end)
        document.root = machine.stack[-1]
    except IndexError:
        document.fault = FormatError("STOP finds nothing on the stack", offset=document.end - 1)
    except InertError as error:
        document.fault = error
    except MemoryError:
        document.fault = LimitError("the pickle needs more memory than there is")
    if document.fault is not None:
        document.fault.part = document.fault.part or name
        document.rest = [*machine.marks, machine.stack]
        _let_go(document.fault)
    document.protocol = machine.protocol
    machine.marks.clear()
    machine.stack = []
    return document


def _let_go(error: InertError) -> None:
    """Forget where an error was raised: the frames there hold the document that holds the error, and a scan may decode a great many."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
