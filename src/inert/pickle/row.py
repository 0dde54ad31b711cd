"""The shortcut: one tensor's record in a pickle, about thirty opcodes long, recognised whole by one compiled pattern.

Knows: the shape of the opcode run that Python's pickler makes of ``_rebuild_tensor_v2(('storage', T, key, location, n), offset, size,
stride, requires_grad, OrderedDict())`` once its five names have been memoised. A Row stands on the machine's stack where the Call would.
Refuses to know: anything that the machine does not. A Row is taken only where leaving its memo entries unwritten cannot be seen
(consecutive, all new); whoever asks for its function, arguments or events gets them from the machine, run over the Row's own bytes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, repeat
from operator import add, itemgetter
from struct import pack, unpack

from ..errors import FormatError
from .nodes import Call, Global

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .decode import Machine
    from .nodes import Node

_INT = b"(?:K.|M..|J....)"
_GET = b"(?:h.|j....)"
_PUT = b"r(....)"  # LONG_BINPUT: the first 256 memo entries are left to the machine
_TUPLE = b"(\\)|" + _INT + b"{1,3}[\x85-\x87]|\\(" + _INT + b"*t)(?:" + _PUT + b")?"  # () is not memoised
_KEY = b"(?:X(.)\\x00\\x00\\x00([0-9]+)" + _PUT + b"|(" + _GET + b"))"

# function ((  'storage' T  key  location  n  t Q  offset  size  stride  requires_grad  hooks ) R  t R
_RECORD = (
    b"(" + _GET + b"\\(\\(" + _GET * 2 + b")" + _KEY + b"(" + _GET + b")(" + _INT + b")t" + _PUT + b"Q(" + _INT + b")"
    + _TUPLE * 2 + b"([\x88\x89])(" + _GET + b")\\)R" + _PUT + b"t" + _PUT + b"R" + _PUT
)  # fmt: skip
ALONE = re.compile(b"()()()" + _RECORD, re.DOTALL)
NAMED = re.compile(b"X(....)(.{0,300}?)" + _PUT + _RECORD, re.DOTALL)  # after the text that is its dict key
_PUTS = itemgetter(2, 6, 10, 13, 15, 18, 19, 20)  # groups that hold memo indices written, in order


class Template:
    """The memoised names that many Rows share: function, 'storage', storage type, location, hooks class. ``meaning`` is
    for the layer above, which works it out once for each template."""

    __slots__ = ("function", "hooks", "location", "meaning", "machine", "storage", "tag")

    def __init__(self, machine: Machine, function: Any, tag: Any, storage: Any, location: Any, hooks: Any) -> None:
        self.machine = machine
        self.function = function
        self.tag = tag
        self.storage = storage
        self.location = location
        self.hooks = hooks
        self.meaning: Any = None


_NOTHING = Call(None, (), 0, "")


class Row(Call):
    """A Call to rebuild a tensor, known by the bytes it matched; made into nodes on demand."""

    __slots__ = ("_extra", "_made", "end", "fields", "first", "last", "start", "template")

    def __init__(self, start: int, end: int, fields: tuple[Any, ...], template: Template, first: int, last: int) -> None:
        self.start = start  # of the GET of the function, or of the text before it
        self.end = end
        self.fields = fields  # key, n, offset, size, stride, requires_grad
        self.template = template
        self.first = first  # memo index of the first PUT …
        self.last = last  # … and of the last, which is the result's

    def events(self) -> list[Node]:
        """The Reference and the two Calls that these opcodes make, in order."""
        try:
            return self._made
        except AttributeError:
            return self.template.machine.replay(self)

    def layout(self) -> Any:
        """What the layer above makes of the row, by way of its template."""
        return self.template.meaning.layout(self)

    def storage(self) -> Any:
        return self.template.meaning.storage(self)

    def _whole(self) -> Call:
        call = self.events()[-1]
        assert isinstance(call, Call)
        self._extra: Call = call
        self.template.machine.changed.add(id(self))
        return call

    function = property(lambda self: self.template.function)  # type: ignore[assignment]
    arguments = property(lambda self: self._whole().arguments)  # type: ignore[assignment]
    keywords = property(lambda self: None)  # type: ignore[assignment]
    how = property(lambda self: "REDUCE")  # type: ignore[assignment]
    offset = property(lambda self: self.end - 6)  # type: ignore[assignment]
    # what is done to the result later (BUILD, APPENDS, SETITEMS) is kept by the whole Call
    states = property(
        lambda self: getattr(self, "_extra", _NOTHING).states, lambda self, v: setattr(self._whole(), "states", v)
    )  # type: ignore[assignment]
    items = property(
        lambda self: getattr(self, "_extra", _NOTHING).items, lambda self, v: setattr(self._whole(), "items", v)
    )  # type: ignore[assignment]
    flat = property(
        lambda self: getattr(self, "_extra", _NOTHING).flat, lambda self, v: setattr(self._whole(), "flat", v)
    )  # type: ignore[assignment]


def take(machine: Machine, at: int) -> int:
    """Take the row whose function GET is at ``at``, and all ``text, row`` pairs that follow it. The offset behind them, or -1."""
    if not machine.shortcut or machine.top < 255:
        return -1
    match = ALONE.match(machine.data, at)
    if match is None or not _accept(machine, [match]):
        return -1
    named = NAMED.scanner(machine.data, match.end())  # type: ignore[attr-defined]
    matches = list(iter(named.match, None))
    _accept(machine, matches)
    last: Row = machine.made[-1]  # type: ignore[assignment]
    return last.end


_SERIES = 8192  # memo indices of a thousand rows: what one SETITEMS of Python's pickler covers
_ONES = int.from_bytes(b"\1\0\0\0" * _SERIES, "little")
_STEPS = int.from_bytes(pack(f"<{_SERIES}I", *range(_SERIES)), "little")


def _counting(first: int, count: int) -> bytes:
    """The 32-bit numbers first, first + 1 … as bytes: one addition of two long numbers for 8,192 of them."""
    if first + count >= 1 << 32:
        return b""
    steps = range(first, first + count, _SERIES)
    return b"".join((_STEPS + start * _ONES).to_bytes(4 * _SERIES + 4, "little")[: 4 * _SERIES] for start in steps)[: 4 * count]


def _accept(machine: Machine, matches: list[re.Match[bytes]]) -> bool:
    """Turn consecutive matches into rows on the stack, column by column; as many of them as are sound."""
    groups = [match.groups() for match in matches]
    if not groups:
        return False
    columns = list(zip(*groups, strict=True))
    lengths, texts, names, keys, gets = columns[0], columns[1], columns[3], columns[5], columns[7]
    if lengths[0]:
        wanted = unpack(f"<{len(texts)}I", b"".join(lengths))
        if wanted != tuple(map(len, texts)):  # the pattern ran over a text that no row follows
            good = next(i for i, text in enumerate(texts) if len(text) != wanted[i])
            return _accept(machine, matches[:good])
    found = machine.templates
    templates = [found.get(got) or _template(machine, *got) for got in zip(names, columns[8], columns[17], strict=True)]
    puts = b"".join(filter(None, chain.from_iterable(map(_PUTS, groups))))
    first = machine.top + 1
    shapes, strides = list(map(numbers, columns[12])), list(map(numbers, columns[14]))
    sound = all(templates) and puts == _counting(first, len(puts) // 4) and None not in shapes and None not in strides
    sound = sound and b"".join(filter(None, columns[4])) == bytes([len(key) for key in keys if key is not None])
    if not sound or any(get and index_of(get) >= first for get in set(gets)):
        machine.shortcut = False  # not what a pickler writes: the machine goes on step by step
        return False
    try:
        decoded = [str(text, "utf-8", "surrogatepass") for text in texts]
    except UnicodeDecodeError:
        return False
    named = [str(key, "ascii") if key is not None else machine.fetch(index_of(get)) for key, get in zip(keys, gets, strict=True)]
    grads = [flag == b"\x88" for flag in columns[16]]
    fields = zip(named, map(number, columns[9]), map(number, columns[11]), shapes, strides, grads, strict=True)
    results = unpack(f"<{len(groups)}I", b"".join(columns[20]))
    firsts = chain((first,), map(add, results, repeat(1)))
    rows = list(map(Row, [m.start() for m in matches], [m.end() for m in matches], fields, templates, firsts, results))
    machine.stack.extend(chain.from_iterable(zip(decoded, rows, strict=True)) if lengths[0] else rows)
    machine.made.extend(rows)
    machine.rows.update(zip(results, rows, strict=True))
    machine.hidden += results[-1] - machine.top
    machine.top = results[-1]
    return True


def _template(machine: Machine, names: bytes, location: bytes, hooks: bytes) -> Template | None:
    """The values behind the five GETs; None where one is missing or where function or hooks are no plain names."""
    gets, position = [], 0
    for behind in (2, 0, 0):  # two marks follow the function
        width = 2 if names[position] == 0x68 else 5
        gets.append(names[position : position + width])
        position += width + behind
    try:
        values = [machine.fetch(index_of(get)) for get in (*gets, location, hooks)]
    except FormatError:
        return None
    if type(values[0]) is not Global or type(values[4]) is not Global:
        return None
    template = machine.templates[names, location, hooks] = Template(machine, *values)
    return template


def index_of(get: bytes) -> int:
    """The memo index of a BINGET or LONG_BINGET opcode."""
    return int.from_bytes(get[1:], "little")


@lru_cache(1 << 12)
def number(code: bytes) -> int:
    """The value of a BININT1, BININT2 or BININT opcode."""
    return int.from_bytes(code[1:], "little", signed=code[0] == 0x4A)


@lru_cache(1 << 12)
def numbers(code: bytes) -> tuple[int, ...] | None:
    """The tuple of a run of integer opcodes with its tuple opcode; None where that opcode does not fit their count."""
    if code == b")":
        return ()
    values, position, end = [], 1 if code[0] == 0x28 else 0, len(code) - 1
    while position < end:
        width = {0x4B: 1, 0x4D: 2, 0x4A: 4}[code[position]]
        values.append(int.from_bytes(code[position + 1 : position + 1 + width], "little", signed=width == 4))
        position += 1 + width
    if (code[end] != 0x74) if code[0] == 0x28 else (code[end] - 0x84 != len(values)):
        return None
    return tuple(values)
