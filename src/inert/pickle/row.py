"""The shortcut: one tensor's record in a pickle, about thirty opcodes long, recognised whole by one compiled pattern.

Knows: the shape of the opcode run that Python's pickler makes of ``_rebuild_tensor_v2(('storage', T, key, location, n), offset, size,
stride, requires_grad, OrderedDict())`` once its five names have been memoised. A Row stands on the machine's stack where the Call would.
Refuses to know: anything that the machine does not. A Row is taken only where leaving its memo entries unwritten cannot be seen
(consecutive, all new); whoever asks for its function, arguments or events gets them from the machine, run over the Row's own bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from itertools import chain, islice, repeat
from operator import itemgetter
from struct import pack, unpack

from ..errors import FormatError
from .inside import GETS, INSIDE, note, opcodes
from .nodes import Call, Global, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .decode import Machine
    from .nodes import Node

_INT = b"(?:K.|M..|J....)"
_GET = b"(?:h.|j....)"
_PUTS = itemgetter(2, 6, 10, 13, 15, 18, 19, 20)  # groups that hold memo indices written, in order


@lru_cache(2)
def patterns(short: bool) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """The record alone, and behind the text that is its dict key. ``short``: memo indices below 256 (BINPUT), else LONG_BINPUT."""
    put = b"q(.)" if short else b"r(....)"
    several = b"(K.\x85|K.K.\x86|\\)|" + _INT + b"{1,3}[\x85-\x87]|\\(" + _INT + b"{0,64}t)(?:" + put + b")?"  # () is not memoised
    key = b"(?:X(.)\\x00\\x00\\x00([0-9]+)" + put + b"|(" + _GET + b"))"
    # function ((  'storage' T  key  location  n  t Q  offset  size  stride  requires_grad  hooks ) R  t R
    record = (
        b"(" + _GET + b"\\(\\(" + _GET * 2 + b")" + key + b"(" + _GET + b")(" + _INT + b")t" + put + b"Q(" + _INT + b")"
        + several * 2 + b"([\x88\x89])(" + _GET + b")\\)R" + put + b"t" + put + b"R" + put
    )  # fmt: skip
    named = b"X(....)(.{0,300}?)" + put + record
    return re.compile(b"()()()" + record, re.DOTALL), re.compile(named, re.DOTALL)


class Template:
    """The memoised names that many Rows share: function, 'storage', storage type, location, hooks class. ``meaning`` is
    for the layer above, which works it out once for each template."""

    __slots__ = ("function", "hooks", "indices", "location", "meaning", "storage", "tag", "width")

    def __init__(self, indices: tuple[int, ...], function: Any, tag: Any, storage: Any, location: Any, hooks: Any) -> None:
        self.indices = indices  # where the memo holds the five
        self.width = sum(2 if index < 256 else 5 for index in indices[:3]) + 2  # bytes from a record's start to its key
        self.function = function
        self.tag = tag
        self.storage = storage
        self.location = location
        self.hooks = hooks
        self.meaning: Any = None

    @property
    def nodes(self) -> tuple[Any, ...]:
        return self.function, self.tag, self.storage, self.location, self.hooks


_NOTHING = Call(None, (), 0, "")


class Run:
    """The columns of rows that follow one another: for each row its template, storage key, number of elements, offset, shape, strides,
    requires_grad (as its opcode), first byte, end, and the memo index of its result."""

    machine: Machine
    rows: list[Row]
    templates: list[Template]
    keys: list[Any]
    counts: list[int]
    offsets: list[int]
    shapes: list[tuple[int, ...]]
    strides: list[tuple[int, ...]]
    grads: tuple[bytes, ...]
    starts: memoryview  # of the GET of the function, or of the text before it
    ends: memoryview
    results: memoryview
    first: int  # memo index of the first PUT

    def holder(self, index: int) -> Row | None:
        """The row that wrote the memo entry ``index`` (at least ``first``), or None where that lies behind the run."""
        at = bisect_left(self.results, index)
        return self.rows[at] if at < len(self.rows) else None


class Row(Call):
    """A Call to rebuild a tensor, known by the bytes it matched: one index into a Run. Made into nodes on demand."""

    __slots__ = ("_extra", "_made", "at", "run", "value")

    _made: list[Node]  # set by Machine.replay
    _extra: Call  # the whole Call, once something is done to the result

    def __init__(self, run: Run, at: int) -> None:
        self.run = run
        self.at = at
        self.value: Any = None  # what the layer above has made of it

    template = property(lambda self: self.run.templates[self.at])
    key = property(lambda self: self.run.keys[self.at])
    shape = property(lambda self: self.run.shapes[self.at])
    start = property(lambda self: self.run.starts[self.at])
    end = property(lambda self: self.run.ends[self.at])
    last = property(lambda self: self.run.results[self.at])  # memo index of its last PUT, which is the result's …
    first = property(lambda self: self.run.results[self.at - 1] + 1 if self.at else self.run.first)  # … and of its first
    dtype = property(lambda self: self.run.templates[self.at].meaning.dtype)
    named = property(lambda self: self.run.machine.data[self.run.starts[self.at]] == 0x58)  # its bytes begin with the text before it

    def geometry(self) -> tuple[int, int, tuple[int, ...], tuple[int, ...], bool]:
        """(n, offset, shape, strides, requires_grad)"""
        run, at = self.run, self.at
        return run.counts[at], run.offsets[at], run.shapes[at], run.strides[at], run.grads[at] == b"\x88"

    def layout(self) -> Any:
        """What the layer above makes of the row, by way of its template."""
        return self.template.meaning.layout(self)

    def events(self) -> list[Node]:
        """The Reference and the two Calls that these opcodes make, in order."""
        if not hasattr(self, "_made"):
            self.run.machine.replay(self)
        return self._made

    def _whole(self) -> Call:
        call = self.events()[-1]
        assert isinstance(call, Call)
        self._extra = call
        self.run.machine.changed.add(id(self))
        return call

    function = property(lambda self: self.template.function)
    arguments = property(lambda self: self.events()[-1].arguments)
    keywords = property(lambda self: None)
    how = property(lambda self: "REDUCE")
    offset = property(lambda self: self.end - 6)
    # what is done to the result later (BUILD, APPENDS, SETITEMS) is kept by the whole Call
    states = property(lambda self: getattr(self, "_extra", _NOTHING).states, lambda self, v: setattr(self._whole(), "states", v))
    items = property(lambda self: getattr(self, "_extra", _NOTHING).items, lambda self, v: setattr(self._whole(), "items", v))
    flat = property(lambda self: getattr(self, "_extra", _NOTHING).flat, lambda self, v: setattr(self._whole(), "flat", v))


def take(machine: Machine, at: int) -> int:
    """Take the row whose function GET is at ``at``, and all ``text, row`` pairs that follow it. The offset behind them, or -1."""
    if not machine.shortcut or len(machine.marks) + 2 > machine.limits.marks:
        return -1
    alone, named = patterns(machine.top < 255)
    match = alone.match(machine.data, at)
    if match is None or not _accept(machine, [match]):
        return -1
    following = named.scanner(machine.data, match.end())  # type: ignore[attr-defined]
    batch = 8  # growing: where rows end, what has been matched behind them is in proportion to what was taken
    while _accept(machine, list(islice(iter(following.match, None), batch))) == batch:
        batch *= 4
    last = machine.made[-1]
    assert type(last) is Row
    end: int = last.end
    return end


_SERIES = 8192  # memo indices of a thousand rows: what one SETITEMS of Python's pickler covers
_ONES = int.from_bytes(b"\1\0\0\0" * _SERIES, "little")
_STEPS = int.from_bytes(pack(f"<{_SERIES}I", *range(_SERIES)), "little")


def _counting(first: int, count: int, width: int) -> bytes:
    """The numbers first, first + 1 … of ``width`` bytes each: one addition of two long numbers for 8,192 of them."""
    if first + count > 1 << (8 * width):
        return b""
    if count < 1000:
        return pack(f"<{count}{'I' if width == 4 else 'B'}", *range(first, first + count))
    steps = range(first, first + count, _SERIES)
    return b"".join((_STEPS + start * _ONES).to_bytes(4 * _SERIES + 4, "little")[: 4 * _SERIES] for start in steps)[: 4 * count]


def _accept(machine: Machine, matches: list[re.Match[bytes]]) -> int:
    """Turn consecutive matches into rows on the stack, column by column; as many of them as are sound. How many that were."""
    groups = [match.groups() for match in matches]
    if not groups:
        return 0
    columns = list(zip(*groups, strict=True))
    lengths, texts, keys, gets = columns[0], columns[1], columns[5], columns[7]
    if lengths[0]:
        wanted = unpack(f"<{len(texts)}I", b"".join(lengths))
        if wanted != tuple(map(len, texts)):  # the pattern ran over a text that no row follows
            good = next(i for i, text in enumerate(texts) if len(text) != wanted[i])
            return _accept(machine, matches[:good])
    puts, width = b"".join(filter(None, chain.from_iterable(map(_PUTS, groups)))), len(columns[20][0])
    run, found, got = Run(), machine.templates, set(gets)
    before = len(found)
    run.machine, run.first = machine, machine.top + 1
    try:
        run.templates = [found.get(names) or _template(machine, *names) for names in zip(columns[3], columns[8], columns[17], strict=True)]
        (run.shapes, shapes), (run.strides, strides) = _column(columns[12], numbers), _column(columns[14], numbers)
        sound = puts == _counting(machine.top + 1, len(puts) // width, width)
        sound = sound and b"".join(filter(None, columns[4])) == bytes([len(key) for key in keys if key is not None])
        sound = sound and not any(get and index_of(get) > machine.top for get in got)
        decoded = _texts(texts)
        run.keys = [str(key, "ascii") if key is not None else machine.fetch(index_of(get)) for key, get in zip(keys, gets, strict=True)]
    except (FormatError, ValueError):  # a memo entry that is missing, a tuple that is none, a text that is not UTF-8
        sound = False
    if not sound or set(map(type, run.keys)) != {str}:
        machine.shortcut = False  # not what a pickler writes: the machine goes on step by step
        return 0
    (run.counts, counts), (run.offsets, offsets), run.grads = _column(columns[9], number), _column(columns[11], number), columns[16]
    known = {9: counts, 11: offsets, 12: shapes, 14: strides}
    if not machine.afford(opcodes(columns, known, run) + len(puts) // width):
        machine.shortcut = False  # one opcode too many is among them: going step by step, the machine will find it
        return 0
    run.results = _packed(list(unpack(f"<{len(groups)}{'I' if width == 4 else 'B'}", b"".join(columns[20]))))
    run.starts, run.ends = _packed([match.start() for match in matches]), _packed([match.end() for match in matches])
    missing = INSIDE - machine.opcodes.keys()
    if missing:
        note(machine, missing if len(found) > before or got != {None} else missing - GETS, columns, known, run.starts)
    run.rows = rows = list(map(Row, repeat(run), range(len(groups))))
    machine.stack.extend(chain.from_iterable(zip(decoded, rows, strict=True)) if lengths[0] else rows)
    machine.made.extend(rows)
    machine.runs.append(run)
    if lengths[0]:
        machine.texts.append(decoded)
    machine.hidden += run.results[-1] - machine.top
    machine.top = run.results[-1]
    return len(rows)


def _packed(values: list[int]) -> memoryview:
    """Numbers at eight bytes each, where a list would take forty."""
    return memoryview(pack(f"{len(values)}Q", *values)).cast("Q")


def _texts(raw: tuple[bytes, ...]) -> list[str]:
    """The texts decoded, all at once where none holds a line feed."""
    whole = b"\n".join(raw)
    if whole.count(b"\n") == len(raw) - 1 and min(map(len, raw)) > 3:  # shorter ones may be of one letter
        return str(whole, "utf-8", "surrogatepass").split("\n")
    return [own(str(text, "utf-8", "surrogatepass")) for text in raw]


def _column(codes: tuple[bytes, ...], value: Callable[[bytes], Any]) -> tuple[list[Any], dict[bytes, Any]]:
    """The values of a column of opcodes: each different one is worked out once and shared. Also these alone, in order."""
    known: dict[bytes, Any] = dict.fromkeys(codes)
    for code in known:
        known[code] = value(code)
    return list(map(known.__getitem__, codes)), known


def _template(machine: Machine, names: bytes, location: bytes, hooks: bytes) -> Template:
    """The values behind the five GETs. FormatError where one is missing or where function or hooks are no plain names."""
    gets, position = [], 0
    for marks in (2, 0, 0):  # they follow the function
        width = 2 if names[position] == 0x68 else 5
        gets.append(names[position : position + width])
        position += width + marks
    indices = tuple(map(index_of, (*gets, location, hooks)))
    values = [machine.fetch(index) for index in indices]
    if type(values[0]) is not Global or type(values[4]) is not Global:
        raise FormatError("no plain names")
    template = machine.templates[names, location, hooks] = Template(indices, *values)
    return template


def index_of(get: bytes) -> int:
    """The memo index of a BINGET or LONG_BINGET opcode."""
    return int.from_bytes(get[1:], "little")


def number(code: bytes) -> int:
    """The value of a BININT1, BININT2 or BININT opcode."""
    return int.from_bytes(code[1:], "little", signed=code[0] == 0x4A)


def numbers(code: bytes) -> tuple[int, ...]:
    """The tuple of a run of integer opcodes with its tuple opcode. ValueError where that opcode does not fit their count."""
    if code == b")":
        return ()
    values, position, end = [], 1 if code[0] == 0x28 else 0, len(code) - 1
    while position < end:
        width = {0x4B: 1, 0x4D: 2, 0x4A: 4}[code[position]]
        values.append(int.from_bytes(code[position + 1 : position + 1 + width], "little", signed=width == 4))
        position += 1 + width
    if (code[end] != 0x74) if code[0] == 0x28 else (code[end] - 0x84 != len(values)):
        raise ValueError("a tuple opcode that does not fit its count")
    return tuple(values)
