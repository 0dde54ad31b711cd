"""The pickler: nodes (and, by way of ``expand``, plain values) → the bytes that the writing program's own pickler would write.

Knows: the opcodes of protocols 2 to 5, the memo, batches and frames, in a Style. It is a loop with a stack of its own: no recursion.
Refuses to know: what the objects mean. What it has no opcode for is given to ``expand``, which names the call that stands for it.

Facts: CPython 3.13 Lib/pickle.py and Modules/_pickle.c (order of opcodes, batches, frames, recursive tuples and reductions).
"""

from __future__ import annotations

from struct import pack

from ..errors import LimitError, UnsupportedError
from .nodes import Buffer, ByteString, Call, Dict, Global, List, Node, Raw, Reference, Set, shown
from .opcodes import OPCODES
from .row import Row, patterns
from .spelling import Empty, Number, spellings
from .style import candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .decode import Document
    from .row import Template
    from .spelling import Spellings
    from .style import Style

    Expand = Callable[[Any], Any]

FRAME_TARGET = 64 << 10  # a frame is ended at the first object that begins beyond so many bytes …
FRAME_LEAST = 4  # … and none is made for fewer
REPEATS = 4_000_000  # parts written again because a tuple or call holds itself; each turn through it writes all of it once more
DUP = next(code for code, row in OPCODES.items() if row.name == "DUP")


class Op(bytes):
    """Opcodes to write as they are, at their turn."""

    __slots__ = ()


class Step:
    """What is to be done when the parts of ``node`` have been written: ``ends`` it (the opcode) and do what comes ``later``, or ``drop``
    its parts if it turns out to have been written meanwhile, inside of them."""

    __slots__ = ("drop", "ends", "later", "node", "puts")

    def __init__(self, node: Any, ends: bytes, drop: bytes, puts: bool = True, later: list[Any] | None = None) -> None:
        self.node = node
        self.ends = ends
        self.drop = drop
        self.puts = puts
        self.later = later


class Put:
    """Memoise ``node``, which is on top of the stack."""

    __slots__ = ("node",)

    def __init__(self, node: Any) -> None:
        self.node = node


class Encoder:
    """Writes one pickle. ``references`` lists the persistent ids in the order they were written (for a Row: the Row itself).

    ``edits``: by id of a node, what it holds instead (for a List its items, for a Dict or Call its keys and values in turn).
    ``swaps``: by id of a node, what is written in its place. ``refer``: what to write for a persistent id (None: itself)."""

    def __init__(
        self,
        style: Style,
        document: Document | None = None,
        expand: Expand | None = None,
        edits: dict[int, Any] | None = None,
        swaps: dict[int, Any] | None = None,
        refer: Expand | None = None,
    ) -> None:
        self.style = style
        self.expand = expand
        self.edits = edits or {}
        self.swaps = swaps or {}
        self.refer = refer
        self.out: list[bytes] = []
        self.bounds: list[int] = []  # places in ``out`` where an object begins
        self.large: set[int] = set()  # places in ``out`` of large texts and bytes
        self.memo: dict[int, int] = {}
        self.alive: list[Any] = []  # what has been memoised by its id, which must not be given to another object
        self.next = style.first
        self.open: set[int] = set()  # ids of what has been begun, of the kinds that are memoised at their ends
        self.repeats = 0
        self.names: dict[tuple[str, str], Global] = {}
        self.calls: set[tuple[int, int]] = set()  # of the calls that have been begun: ids of function and arguments
        self.references: list[Any] = []
        self.expanded: dict[int, tuple[Any, Any]] = {}  # by id of a value: (the value, which must stay alive, its node)
        self.kept: set[int] = set()  # ids of the objects that the document shows memoised, where that matters
        self.machine = document._machine if document is not None else None
        self.dropped = self.machine.dropped if self.machine is not None else {}
        self.twins = {(id(call.function), id(call.arguments)) for call in self.machine.popped} if self.machine is not None else set()
        self.templates: dict[int, tuple[Any, ...]] = {}  # by id of a row's template: where the names lie that it gets, see ``_names``
        self.text = ""  # the last text that was written
        self.spelt: Spellings | None = None
        if self.machine is None or document is None:
            return
        if not style.puts_all:
            self.kept = set(map(id, self.machine.memo.values()))
            self.spelt = spellings(document)
        else:
            self.kept = {id(value) for value in self.machine.memo.values() if type(value) in _ODDLY_KEPT}

    def encode(self, root: Any) -> bytes:
        """The pickle of ``root``. UnsupportedError for what no pickle can hold in this style."""
        self._shared(root)
        todo: list[Any] = [self.spelling_of(None, [root])[0]]
        table, swaps = _TABLE, self.swaps
        while todo:
            item = todo.pop()
            if swaps and id(item) in swaps:
                if id(item) in self.kept:
                    self.kept.add(id(swaps[id(item)]))
                item = swaps[id(item)]
            kind = type(item)
            if kind is Op:
                self.out.append(item)
                continue
            if kind is Step:
                self._end(item, todo)
                continue
            if kind is Put:
                self.put(item.node)
                continue
            if self.style.framed:
                self.bounds.append(len(self.out))
            write = table.get(kind)
            if write is None:
                item = self._expand(item)
                write = table[type(item)]
            write(self, item, todo)
        self.out.append(b".")
        head = bytes((0x80, self.style.protocol))
        return head + (
            framed(self.out, self.bounds, self.large if self.style.outside else set()) if self.style.framed else b"".join(self.out)
        )

    def _shared(self, root: Any) -> None:
        """Where not everything is memoised: what is met more than once, which must be."""
        if self.style.puts_all and (self.machine is None or DUP not in self.machine.opcodes):
            return
        seen: set[int] = set()
        todo = [root]
        while todo:
            node = todo.pop()
            node = self.swaps.get(id(node), node)
            if id(node) in seen:
                self.kept.add(id(node))
                continue
            if type(node) in _SMALL:
                continue
            seen.add(id(node))
            if type(node) is Row and (self.machine is None or id(node) not in self.machine.changed):
                continue
            todo += parts_of(node, self.edits) or ()
            for setter in self.dropped.get(id(node), ()):
                todo += (setter.function, *setter.arguments)

    def begin(self, node: Any, size: int) -> None:
        """Take note of a node of ``size`` parts that is memoised at its end: meeting it again before that writes it again, in itself."""
        if id(node) not in self.open:
            self.open.add(id(node))
            return
        if self.style.late:
            raise UnsupportedError(f"{self.style.name} writes nothing that holds itself")
        self.repeats += size
        if self.repeats > REPEATS:
            raise LimitError("tuples or calls that hold themselves through many ways")

    def spelling_of(self, node: Any, parts: Any, first: int = 0) -> Any:
        """Parts of a node (from its part ``first`` on) with those in place that the document spells in a way of its own."""
        known = self.spelt.parts.get(id(node) if node is not None else None) if self.spelt is not None else None
        if known is None:
            return parts
        parts = list(parts)
        if id(node) in self.edits:
            if type(node) is Dict:
                values = {id(node.flat[at - 1]): (node.flat[at], part) for at, part in known.items() if at % 2}
                for at in range(1, len(parts), 2):
                    value, part = values.get(id(parts[at - 1]), (parts, None))
                    parts[at] = part if parts[at] is value else parts[at]
            return parts
        for at, part in known.items():
            if first <= at < first + len(parts):
                parts[at - first] = part
        return parts

    def _expand(self, value: Any) -> Any:
        known = self.expanded.get(id(value))
        if known is None:
            node = self.expand(value) if self.expand is not None else value
            if id(node) in self.swaps:  # the value's own node, which something else stands for now
                node = self.swaps[id(node)]
                node = node if type(node) in _TABLE or self.expand is None else self.expand(node)
            if type(node) not in _TABLE:
                raise UnsupportedError(f"a pickle cannot hold {shown(value)} ({type(value).__name__})")
            known = self.expanded[id(value)] = value, node
            self.kept.add(id(node))
        return known[1]

    def opened(self, node: Any, todo: list[Any]) -> None:
        """Memoise a list or dict that is empty so far, or later, when it is full."""
        if self.style.late:
            self.begin(node, 1)
            todo.append(Put(node))
        else:
            self.put(node)

    def name(self, module: str, name: str) -> Global:
        """A name that the encoder itself needs; one object for each, so that it is memoised once."""
        return self.names.setdefault((module, name), Global(module, name, 0, "GLOBAL" if self.style.protocol < 4 else "STACK_GLOBAL"))

    def spelled_out(self, value: Any) -> Call:
        """The call that stands for bytes, a bytearray or a set in protocols that have no opcode for them."""
        known = self.expanded.get(id(value))
        if known is None:
            call: Any = self.expand(value) if self.expand is not None and not isinstance(value, Node) else _call_for(self, value)
            known = self.expanded[id(value)] = value, call
            self.kept.add(id(call))
        made: Call = known[1]
        return made

    # -- memo ---------------------------------------------------------------------------------------------------------------

    def get(self, node: Any) -> bool:
        """Write the GET of what has been memoised. False where it has not."""
        index = self.memo.get(id(node))
        if index is None:
            return False
        self.out.append(b"h" + bytes((index,)) if index < 256 else b"j" + pack("<I", index))
        return True

    def put(self, node: Any) -> None:
        """Memoise what is on top of the stack."""
        if id(node) not in self.kept and (not self.style.puts_all or type(node) in _ODDLY_KEPT):
            return
        index = self.memo[id(node)] = self.next
        self.alive.append(node)
        self.next += 1
        if self.style.memoize:
            self.out.append(b"\x94")
        else:
            self.out.append(b"q" + bytes((index,)) if index < 256 else b"r" + pack("<I", index))

    def _end(self, step: Step, todo: list[Any]) -> None:
        node = step.node
        if id(node) in self.memo:  # what holds itself has been written meanwhile: take that one
            again = isinstance(node, Call) and (id(node.function), id(node.arguments)) in self.twins
            self.out.append(step.ends + b"0" if again else step.drop)  # CPython's pickler makes such a call twice
            self.get(node)
            return
        self.out.append(step.ends)
        if step.puts:
            self.put(node)
        if step.later:
            todo += reversed(step.later)

    # -- containers -----------------------------------------------------------------------------------------------------------

    def batches(self, node: Any, items: Any, width: int, one: bytes, many: bytes, exact: bool) -> Iterator[Any]:
        """Items of a node (``width`` of them belong together) in batches, with their opcodes."""
        size, step = len(items), self.style.batch * width
        if not size and self.style.marked and self._marked_empty(node):
            yield Op(b"(" + many)
        if size == width and self.style.single:
            yield from items
            yield Op(one)
            return
        at = 0
        while at < size:
            batch = items[at : at + step]
            at += step
            if len(batch) == width and self.style.single and not exact:
                yield from batch
                yield Op(one)
            else:
                yield Op(b"(")
                yield from batch
                yield Op(many)
        if exact and width == 2 and size and size % step == 0:  # CPython's C code finds out that a dict has ended by an empty batch
            yield Op(b"(" + many)

    def _marked_empty(self, node: Any) -> bool:
        if self.spelt is None or self.machine is None or id(node) not in self.spelt.known:
            return type(node) is List
        return self.machine.data[node.offset + 1 : node.offset + 3] in (b"(e", b"(u")

    # -- rows -----------------------------------------------------------------------------------------------------------------

    def row(self, row: Row) -> bool:
        """Copy the bytes of a row, with other memo indices where it now stands elsewhere. False where it must be written step by step."""
        machine, run, at = self.machine, row.run, row.at
        if machine is None or self.refer is not None or run.machine is not machine or id(row) in machine.changed or self.style.memoize:
            return False
        if not machine.runs:  # memo entries were written twice: what the row's own held is known by its nodes alone
            return False
        template = run.templates[at]
        names = self.templates.get(id(template))
        if names is None:
            names = self._names(template)
            if names:
                self.templates[id(template)] = names
        data, start, end, last = machine.data, run.starts[at], run.ends[at], run.results[at]
        first = row.first
        named = data[start] == 0x58
        if named:  # the text before it has been written on its own
            start += 5 + int.from_bytes(data[start + 1 : start + 5], "little")
            start += 2 if data[start] == 0x71 else 5
            first += 1
        key = start + template.width
        if not names or data[key] != 0x58:  # names that are not memoised yet; a key that is fetched from the memo
            return False
        shift = self.next - first
        if not shift and names[0] == template.indices:
            self.out.append(data[start:end])
        else:
            self.out.append(self._moved(data, start, first, last, names))
        if hasattr(row, "_made"):  # the machine has made its parts anew: they may be asked for
            self._aliases(row, first, shift)
        self.memo[id(row)] = last + shift
        self.next = last + shift + 1
        self.references.append(row)
        return True

    def _names(self, template: Template) -> tuple[Any, ...]:
        """The memo indices of the names that a row gets, and the opcodes that get them; () where one has none."""
        indices = tuple(self.memo.get(id(node), -1) for node in template.nodes)
        if -1 in indices or any(id(node) in self.swaps for node in template.nodes):
            return ()
        function, tag, kind, location, hooks = (b"h" + bytes((i,)) if i < 256 else b"j" + pack("<I", i) for i in indices)
        return indices, function + b"((" + tag + kind, location, hooks

    def _moved(self, data: bytes, start: int, first: int, last: int, names: tuple[Any, ...]) -> bytes:
        """The bytes of a row whose memo entries begin at the next index."""
        match = patterns(last < 256)[0].match(data, start)
        assert match is not None
        groups = match.groups()
        count = last + 1 - first
        if self.next >= 256:
            raw = pack(f"<{count}I", *range(self.next, self.next + count))
            puts = iter([b"r" + raw[at : at + 4] for at in range(0, 4 * count, 4)])
        else:
            puts = iter([b"q" + bytes((i,)) if i < 256 else b"r" + pack("<I", i) for i in range(self.next, self.next + count)])
        _, head, location, hooks = names
        text = groups[5]
        key = b"X" + pack("<I", len(text)) + text + next(puts) + location + groups[9] + b"t" + next(puts) + b"Q" + groups[11]
        shape = groups[12] + (next(puts) if groups[13] is not None else b"")
        strides = groups[14] + (next(puts) if groups[15] is not None else b"")
        end = groups[16] + hooks + b")R" + next(puts) + b"t" + next(puts) + b"R" + next(puts)
        return b"".join((head, key, shape, strides, end))

    def _aliases(self, row: Row, first: int, shift: int) -> None:
        """Let what the machine has made of a row's opcodes, the text before it included, be found where they lie now."""
        assert self.machine is not None
        memo = self.machine.memo
        for index in range(first, row.last):
            if index in memo:
                self.memo[id(memo[index])] = index + shift
        if row.first < first:
            self._same_text(memo.get(row.first))

    def _same_text(self, made: Any) -> None:
        """The text before a row, which the machine has made anew: the one written last, unless that has been renamed."""
        if type(made) is str and made == self.text and id(self.text) in self.memo:
            self.memo[id(made)] = self.memo[id(self.text)]


def parts_of(node: Any, edits: dict[int, Any]) -> list[Any] | None:
    """What a node holds; None for a leaf."""
    kind = type(node)
    if kind is tuple:
        return list(node)
    if kind is List or kind is Set:
        return list(edits.get(id(node), node.items))
    if kind is Dict:
        return list(edits.get(id(node), node.flat))
    if isinstance(node, Call):
        return [node.function, node.arguments, node.keywords, *(node.items or ()), *edits.get(id(node), node.flat or ()), *node.states]
    if kind is Reference:
        return [node.pid]
    return None


# -- one function for each kind of node ---------------------------------------------------------------------------------------


def _constant(code: bytes) -> Callable[[Encoder, Any, list[Any]], None]:
    return lambda e, value, todo: e.out.append(code)


def _bool(e: Encoder, value: bool, todo: list[Any]) -> None:
    e.out.append(b"\x88" if value else b"\x89")


def _number(e: Encoder, value: Number, todo: list[Any]) -> None:
    e.out.append(value.raw)


def _empty(e: Encoder, value: Empty, todo: list[Any]) -> None:
    if not e.get(value):
        e.out.append(b"(t" if value.marked else b")")
        if value.kept:
            e.kept.add(id(value))
            e.put(value)


def _int(e: Encoder, value: int, todo: list[Any]) -> None:
    if value.bit_length() > LARGE and e.kept:
        if not e.get(value):
            e.out.append(long1(value))
            if id(value) in e.kept:
                e.put(value)
        return
    if 0 <= value < 1 << 8:
        e.out.append(bytes((0x4B, value)))
    elif 0 <= value < 1 << 16:
        e.out.append(b"M" + pack("<H", value))
    elif -(1 << 31) <= value < 1 << 31:
        e.out.append(b"J" + pack("<i", value))
    elif e.style.wide == "text" and -(1 << 63) <= value < 1 << 63:
        e.out.append(b"I%d\n" % value)
    else:
        e.out.append(long1(value, 8 if e.style.wide == "eight" else 0))


def long1(value: int, least: int = 0) -> bytes:
    """LONG1 or LONG4 of a number, in as few bytes as hold it, but ``least`` of them."""
    size = (value.bit_length() if value >= 0 else (value + 1).bit_length()) // 8 + 1
    size = max(size if value else 0, least)
    return (b"\x8a" + bytes((size,)) if size < 256 else b"\x8b" + pack("<i", size)) + value.to_bytes(size, "little", signed=True)


def _float(e: Encoder, value: float, todo: list[Any]) -> None:
    e.out.append(b"G" + pack(">d", value))


def _counted(e: Encoder, node: Any, raw: bytes, short: bytes, plain: bytes, long: bytes, sign: str = "I") -> None:
    size = len(raw)
    if short and size < 256:
        head = short + bytes((size,))
    elif size < 1 << (31 if sign == "i" else 32):
        head = plain + pack("<" + sign, size)
    elif long and e.style.protocol >= 4:
        head = long + pack("<Q", size)
    else:
        raise UnsupportedError(f"protocol {e.style.protocol} has no text of {size:,} bytes", hint="use protocol 4")
    if size < FRAME_TARGET:
        e.out.append(head + raw)
    else:
        e.out += (head, raw)
        e.large.add(len(e.out) - 1)
    e.put(node)


def _str(e: Encoder, value: str, todo: list[Any]) -> None:
    e.text = value
    if not e.get(value):
        raw = value.encode("utf-8", "surrogatepass")
        _counted(e, value, raw, b"\x8c" if e.style.protocol >= 4 else b"", b"X", b"\x8d")


def _bytes(e: Encoder, value: bytes, todo: list[Any]) -> None:
    if e.style.protocol < 3:
        todo.append(e.spelled_out(value))
    elif not e.get(value):
        _counted(e, value, value, b"C", b"B", b"\x8e")


def _byte_string(e: Encoder, value: ByteString, todo: list[Any]) -> None:
    if not e.get(value):
        _counted(e, value, value, b"U", b"T", b"", "i")


def _bytearray(e: Encoder, value: bytearray, todo: list[Any]) -> None:
    if e.style.protocol < 5:
        todo.append(e.spelled_out(value))
    elif not e.get(value):
        e.out.append(b"\x96" + pack("<Q", len(value)))
        e.out.append(bytes(value))
        if len(value) >= FRAME_TARGET:
            e.large.add(len(e.out) - 1)
        e.put(value)


def _tuple(e: Encoder, node: tuple[Any, ...], todo: list[Any]) -> None:
    count = len(node)
    if not count:
        e.out.append(b")")
    elif not e.get(node):
        e.begin(node, count)
        if count <= 3 and (e.spelt is None or id(node) not in e.spelt.marked):
            todo.append(Step(node, b"\x85\x86\x87"[count - 1 : count], b"0" * count))
        else:
            e.out.append(b"(")
            todo.append(Step(node, b"t", b"1"))
        todo += reversed(e.spelling_of(node, node))


def _list(e: Encoder, node: List, todo: list[Any]) -> None:
    if not e.get(node):
        e.out.append(b"]")
        e.opened(node, todo)
        items = e.spelling_of(node, e.edits.get(id(node), node.items))
        todo += reversed(list(e.batches(node, items, 1, b"a", b"e", e.style.exact)))


def _dict(e: Encoder, node: Dict, todo: list[Any]) -> None:
    if not e.get(node):
        e.out.append(b"}")
        e.opened(node, todo)
        flat = e.spelling_of(node, e.edits.get(id(node), node.flat))
        todo += reversed(list(e.batches(node, flat, 2, b"s", b"u", e.style.exact)))


def _set(e: Encoder, node: Set, todo: list[Any]) -> None:
    if e.style.protocol < 4:
        todo.append(e.spelled_out(node))
        return
    if e.get(node):
        return
    items = e.spelling_of(node, e.edits.get(id(node), node.items))
    if node.frozen:
        e.begin(node, len(items))
        e.out.append(b"(")
        todo.append(Step(node, b"\x91", b"1"))
        todo += reversed(items)
        return
    e.out.append(b"\x8f")
    e.put(node)
    ends = len(items) + (e.style.exact and len(items) % 1000 == 0 and bool(items))  # CPython's C code ends a full set by an empty batch
    for at in reversed(range(0, ends, 1000)):
        todo += [Op(b"\x90"), *reversed(items[at : at + 1000]), Op(b"(")]


def _row(e: Encoder, row: Row, todo: list[Any]) -> None:
    if e.get(row) or e.row(row):
        return
    row.events()
    if e.machine is not None and row.run.machine is e.machine and e.machine.data[row.start] == 0x58:
        e._same_text(e.machine.memo.get(row.first))
    if not e.style.puts_all and e.machine is not None:
        e.kept.update(id(e.machine.memo[i]) for i in range(row.first, row.last + 1) if i in e.machine.memo)
    _call(e, row, todo)


_CALLS = {"REDUCE": b"R", "NEWOBJ": b"\x81", "NEWOBJ_EX": b"\x92"}


def _call(e: Encoder, node: Call, todo: list[Any]) -> None:
    if e.get(node):
        return
    if e.dropped:
        e.calls.add((id(node.function), id(node.arguments)))
    e.begin(node, 1 + len(node.items or ()) + len(node.flat or ()) + len(node.states))
    function, arguments, keywords = e.spelling_of(node, (node.function, node.arguments, node.keywords))
    later = list(_later(e, node))
    puts = not e.style.late
    if not puts:
        later.append(Put(node))
    if node.how == "INST":
        name = f"{function.module}\n{function.name}\n".encode("utf-8", "surrogatepass")
        todo += [Step(node, b"i" + name, b"1", puts, later), *reversed(e.spelling_of(arguments, arguments)), Op(b"(")]
    elif node.how == "OBJ":
        todo += [Step(node, b"o", b"1", puts, later), *reversed(e.spelling_of(arguments, arguments)), function, Op(b"(")]
    elif e.style.marked and node.how == "REDUCE" and type(arguments) is tuple and (e.spelt is None or id(node) not in e.spelt.known):
        todo += [Step(node, b"tR", b"10", puts, later), *reversed(list(_marked(arguments))), Op(b"("), function]
    elif node.how in _CALLS:
        parts = [function, arguments, *([keywords] if node.how == "NEWOBJ_EX" else [])]
        todo += [Step(node, _CALLS[node.how], b"0" * len(parts), puts, later), *reversed(parts)]
    else:
        raise UnsupportedError(f"a call by {node.how} leaves nothing to write")


def _later(e: Encoder, node: Call) -> Iterator[Any]:
    """What is done to the result of a call."""
    at = 3
    if node.items:
        yield from e.batches(node, e.spelling_of(node, node.items, at), 1, b"a", b"e", False)
    at += len(node.items or ())
    flat = e.edits.get(id(node), node.flat)
    if flat:
        yield from e.batches(node, e.spelling_of(node, flat, at), 2, b"s", b"u", False)
    at += len(node.flat or ())
    for state in e.spelling_of(node, node.states, at):
        yield from (state, Op(b"b"))
    for setter in e.dropped.get(id(node), ()):  # what sets the state, called for its effect alone
        if (id(setter.function), id(setter.arguments)) in e.calls:
            continue  # no setter, but what CPython's pickler makes a second time of what holds itself
        yield setter.function
        if len(setter.arguments) == 2:
            yield from (*setter.arguments, Op(b"\x86R0"))
        else:
            yield from (Op(b"("), *setter.arguments, Op(b"tR0"))


def _marked(arguments: tuple[Any, ...]) -> Iterator[Any]:
    """Arguments as torch's C++ pickler writes them: sizes and strides have marks too."""
    for part in arguments:
        if type(part) is tuple and len(part) <= 3 and set(map(type, part)) <= {int}:
            yield from (Op(b"("), *part, Op(b"t"))
        else:
            yield part


def _call_for(e: Encoder, value: Any) -> Call:
    home = "builtins" if e.style.protocol >= 3 else "__builtin__"
    if type(value) is Set:
        return Call(e.name(home, "frozenset" if value.frozen else "set"), (List(value.items, 0),), 0, "REDUCE")
    if type(value) is bytearray:
        return Call(e.name(home, "bytearray"), (bytes(value),) if value else (), 0, "REDUCE")
    if not value:
        return Call(e.name(home, "bytes"), (), 0, "REDUCE")
    return Call(e.name("_codecs", "encode"), (value.decode("latin-1"), "latin1"), 0, "REDUCE")


def _global(e: Encoder, node: Global, todo: list[Any]) -> None:
    if e.get(node):
        return
    if node.how == "EXT":
        number = int(node.name.rpartition(" ")[2])
        e.out.append(
            b"\x82" + bytes((number,))
            if number < 256
            else b"\x83" + pack("<H", number)
            if number < 1 << 16
            else b"\x84" + pack("<i", number)
        )
        return
    if e.style.protocol >= 4 and node.how != "GLOBAL":
        todo += [Step(node, b"\x93", b"00"), node.name, node.module]
        return
    if "\n" in node.module or "\n" in node.name:
        raise UnsupportedError("a name with a line feed in it, before protocol 4")
    e.out.append(f"c{node.module}\n{node.name}\n".encode("utf-8", "surrogatepass"))
    e.put(node)


def _reference(e: Encoder, node: Reference, todo: list[Any]) -> None:
    if e.get(node):
        return
    told = e.refer(node) if e.refer is not None else node
    if type(told) is not Reference:
        todo.append(told)
        return
    e.begin(node, 1)
    e.references.append(node)
    pid = told.pid
    if e.style.long_counts and type(pid) is tuple and len(pid) in (5, 6) and type(pid[4]) is int and _is_new(e, pid):
        pid = (*pid[:4], _long(pid[4]), *pid[5:])
    todo += [Step(node, b"Q", b"0"), *e.spelling_of(node, [pid])]


def _is_new(e: Encoder, node: Any) -> bool:
    return e.spelt is None or id(node) not in e.spelt.known


def _long(value: int) -> Number:
    number = Number(value)
    number.raw = long1(value)
    return number


def _buffer(e: Encoder, node: Buffer, todo: list[Any]) -> None:
    if not e.get(node):
        e.out.append(b"\x97\x98" if node.readonly else b"\x97")
        e.put(node)


def _raw(e: Encoder, node: Raw, todo: list[Any]) -> None:
    raise UnsupportedError("bytes stand between the opcodes, as joblib writes them", hint="convert to another format")


_TABLE: dict[type, Callable[[Encoder, Any, list[Any]], None]] = {
    type(None): _constant(b"N"), bool: _bool, int: _int, Number: _number, Empty: _empty, float: _float, str: _str, bytes: _bytes,
    ByteString: _byte_string,
    bytearray: _bytearray, tuple: _tuple, List: _list, Dict: _dict, Set: _set, Row: _row, Call: _call, Global: _global,
    Reference: _reference, Buffer: _buffer, Raw: _raw,
}  # fmt: skip
LARGE = 64  # bits of a number that is memoised where the document does so: writing it again for each GET would multiply the bytes
_ODDLY_KEPT = frozenset((int, Reference, Buffer))  # what CPython's pickler memoises never, but other pickles may
_SMALL = frozenset((type(None), bool, float, Number))


# -- frames -------------------------------------------------------------------------------------------------------------------


def framed(out: list[bytes], bounds: list[int], outside: set[int]) -> bytes:
    """The opcodes in frames, as CPython cuts them: at the first object beyond 64 KiB, and large texts and bytes ``outside`` of any. Both
    say places in ``out``."""
    made: list[bytes] = []
    frame: list[bytes] = []
    size, starts = 0, set(bounds)

    def close() -> None:
        nonlocal size
        if frame:
            made.append((b"\x95" + pack("<Q", size) if size >= FRAME_LEAST else b"") + b"".join(frame))
        frame.clear()
        size = 0

    for at, piece in enumerate(out):
        if at in starts and size >= FRAME_TARGET:
            close()
        if at in outside:  # its head is the last piece of the frame before: it stands outside too
            head = frame.pop()
            size -= len(head)
            close()
            made += (head, piece)
            continue
        frame.append(piece)
        size += len(piece)
    close()
    return b"".join(made)


def encode(root: Any, style: Style, document: Document | None = None, expand: Expand | None = None) -> bytes:
    """The pickle of ``root`` in a Style. ``document``: where its nodes come from."""
    return Encoder(style, document, expand).encode(root)


def style_of(document: Document) -> tuple[Style, bool]:
    """The Style in which a sound Document is written, and whether writing it again in that gives its very bytes."""
    data = bytes(document.data[document._machine.start : document.end])
    styles = candidates(document)
    for style in styles:
        try:
            if encode(document.root, style, document) == data:
                return style, True
        except UnsupportedError:
            continue
    return styles[0], False


def lost(document: Document) -> list[Node]:
    """What a sound Document asks for and its encoding would not: names, calls and persistent ids that its value does not hold, like those
    that POP has dropped, or a BUILD on a name. Calls of setters for their effect on an object are kept."""
    machine = document._machine
    seen: set[int] = set()
    todo = [document.root]
    while todo:
        node = todo.pop()
        if type(node) in _SMALL or id(node) in seen:
            continue
        seen.add(id(node))
        if type(node) is Row and id(node) not in machine.changed:
            seen.update(map(id, node.template.nodes))
            if type(node.template.hooks) is not Global or hasattr(node, "_made"):
                todo += node.events()
            continue
        todo += parts_of(node, {}) or ()
        for setter in machine.dropped.get(id(node), ()):
            todo.append(setter)
    return [node for node in machine.made if id(node) not in seen]
