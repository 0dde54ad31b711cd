"""The pickler: nodes (and, by way of ``expand``, plain values) → the bytes that the writing program's own pickler would write.

Knows: in which order nodes are written, the memo and the batches, in a Style. It is a loop with a stack of its own: no recursion.
Refuses to know: how each kind of node is written (kinds.py, leaves.py; rowcopy.py for whole rows; framing.py), and what the objects mean.
What it has no opcode for is given to ``expand``, which names the call that stands for it.

Facts: CPython 3.13 Lib/pickle.py and Modules/_pickle.c (batches, what is memoised, what holds itself).
"""

from __future__ import annotations

from itertools import chain
from struct import pack

from ..errors import LimitError, UnsupportedError
from .framing import framed
from .kinds import ODDLY_KEPT, SMALL, TABLE, Op, Put, Step, call_for
from .nodes import Call, Dict, Global, List, Node, Reference, Set, shown
from .opcodes import OPCODES
from .row import Row
from .spelling import spellings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .decode import Document
    from .spelling import Spellings
    from .style import Style

    Expand = Callable[[Any], Any]

REPEATS = 4_000_000  # parts written again because a tuple or call holds itself; each turn through it writes all of it once more
DUP = next(code for code, row in OPCODES.items() if row.name == "DUP")


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
        self.templates: dict[int, tuple[Any, ...]] = {}  # by id of a row's template: where the names lie that it gets, see ``copied``
        self.text = ""  # the last text that was written
        self.spelt: Spellings | None = None
        if self.machine is None or document is None:
            return
        if not style.puts_all:
            self.kept = set(map(id, self.machine.memo.values()))
            self.kept.update(map(id, chain.from_iterable(self.machine.texts)))  # memo entries that are hidden among the rows'
            self.spelt = spellings(document)
        else:
            self.kept = {id(value) for value in self.machine.memo.values() if type(value) in ODDLY_KEPT}

    def encode(self, root: Any) -> bytes:
        """The pickle of ``root``. UnsupportedError for what no pickle can hold in this style."""
        self._shared(root)
        todo: list[Any] = [self.spelling_of(None, [root])[0]]
        table, swaps = TABLE, self.swaps
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
            if type(node) in SMALL:
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
                node = node if type(node) in TABLE or self.expand is None else self.expand(node)
            if type(node) not in TABLE:
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
            call: Any = self.expand(value) if self.expand is not None and not isinstance(value, Node) else call_for(self, value)
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
        if id(node) not in self.kept and (not self.style.puts_all or type(node) in ODDLY_KEPT):
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


def encode(root: Any, style: Style, document: Document | None = None, expand: Expand | None = None) -> bytes:
    """The pickle of ``root`` in a Style. ``document``: where its nodes come from."""
    return Encoder(style, document, expand).encode(root)
