"""The value builder: a Document's nodes → the saved object as plain values, with Tensors in place.

Knows: how to walk any graph of nodes without recursion (sharing and cycles kept), and which table makes a value of which node.
Refuses to know: bytes and formats. What it cannot make a value of stays an inert node or an Object, with a finding.

A value that can hold itself (list, dict, set, Object …) is made empty when first met and filled at the end; one that cannot (tuple,
frozenset, date …) is made when its parts have been.
"""

from __future__ import annotations

from itertools import repeat

from ..errors import FormatError, InertError, LimitError
from ..finding import Finding
from ..layout import Layout, Storage
from ..pickle.nodes import Buffer, ByteString, Call, Dict, Global, List, Raw, Reference, Set, shown
from ..pickle.row import Row
from ..tensor import Tensor
from .arguments import Odd, text
from .immediate import immediate
from .inner import companion, embedded
from .keys import LONG_KEY, fill_dict, set_plan
from .ndarray import ARRAYS, BUFFERS, array_layout, object_items
from .objects import Key, Object, Plan, fill_object, object_plan
from .persistent import Storages
from .raw import ARRAY, nested_array, raw_layout, wrapper
from .rebuild import REBUILD, Rebuilder
from .rowmeaning import declare, meant
from .storages import DTYPE_VALUES, PLAIN_VALUES
from .values import CONTAINERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from .companions import Companions

ATOMS = frozenset((int, float, str, bool, type(None), bytes, bytearray))
NUMBERS = frozenset((int, float, bool, type(None)))  # hashed in no time, unless a great many of them clash
EMBEDDED = "torch.storage._load_from_bytes"
_ODD = (Odd, ValueError, TypeError, OverflowError, ArithmeticError, LookupError, AttributeError)


def _foreseen(reference: Reference) -> bool:
    """Whether a persistent id that names no storage is one that torch writes: a class with its source, an object of torch.package."""
    pid = reference.pid
    if type(pid) is not tuple or not pid:
        return False
    kind = text(pid[0])
    return kind == "reduce_package" or (kind == "module" and len(pid) > 1 and type(pid[1]) is Global)


def _holds_data(call: Call) -> bool:
    return call.dotted in REBUILD or call.dotted in ARRAYS or call.dotted in BUFFERS or bool(wrapper(call))


class Work:
    """What a pickle's calls may copy: in proportion to its bytes. ``bytes(x)``, ``dict(x)`` … may be asked of one argument again."""

    __slots__ = ("left",)

    def __init__(self, size: int) -> None:
        self.left = 4 * size + (1 << 16)

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise LimitError("the pickle's calls copy the same values again and again, far beyond its size")


class Builder:
    """Builds the values of one Document. ``notes`` collects what was odd; ``tensors`` are in the order of their first appearance."""

    def __init__(
        self, document: Document, storages: Storages, limits: Limits, convert: Any = None, depth: int = 0, work: Work | None = None
    ) -> None:
        self.document = document
        self.storages = storages
        self.limits = limits
        self.convert = convert  # what stands in the place of each Tensor (inert.load: its array); None: the Tensor
        self.depth = depth
        self.work = work or Work(len(document.data))
        self.companions: Companions | None = None  # what opens files beside the pickle, where there may be some
        self.rebuild = Rebuilder(storages, limits, len(document.data))
        self.notes: list[Finding] = []
        self.done: dict[int, Any] = {}  # by id of the node; the document keeps the nodes alive

    def build(self) -> Any:
        """The value of the document's root."""
        before, self.storages.embedded = self.storages.embedded, self._stored
        try:
            return self._build()
        finally:
            self.storages.embedded = before  # what outlives the building must not hold it

    def _build(self) -> Any:
        declare(self.document.rows, self.storages, self.limits.rank)
        todo: list[Any] = [self.document.root]
        plans: dict[int, Plan] = {}
        fills: list[Plan | List | Dict | Object] = []  # an Object without its Plan: two bytes of input make one
        while todo:
            node = todo[-1]
            key = id(node)
            if type(node) in ATOMS or key in self.done or (type(node) is Row and node.value is not None):
                todo.pop()
                continue
            if isinstance(node, (Dict, List)):
                parts = node.items if isinstance(node, List) else node.flat
                self.work.spend(len(parts))
                self.done[key] = [] if isinstance(node, List) else {}
                fills.append(node)
                todo.pop()
                todo += self._open(parts)
                continue
            plan = plans.pop(key, None)
            if plan is not None:  # its parts have been made
                todo.pop()
                again = self._finish(node, plan)
                if again:
                    self.work.spend(len(again.children))
                    fills.append(again.shell)
                    todo += self._open(again.children)
                continue
            plan = self.plan(node)
            if plan is None:
                todo.pop()
                continue
            self.work.spend(len(plan.children) + plan.cost)
            if plan.shell is None:
                plans[key] = plan
                todo += self._open(plan.children)
            else:
                self.done[key] = plan.shell
                fills.append(plan.shell if type(plan.shell) is Object else plan)
                todo.pop()
                todo += self._open(plan.children)
        for made in fills:
            if isinstance(made, List):
                self.done[id(made)].extend(map(self.get, made.items))
            elif isinstance(made, Dict):
                self._fill(made, self.done[id(made)])
            elif isinstance(made, Object):
                fill_object(made, self.get)
            else:
                made.finish(self.get)
        for storage in sorted(self.storages.retyped, key=str):
            text = f"storage {shown(storage)} is declared with several element types"
            self.notes.append(Finding("tensor-storage-retyped", text, self.document.name))
        for storage in sorted(self.storages.recounted, key=str):
            text = f"storage {shown(storage)} is declared with several sizes"
            self.notes.append(Finding("tensor-storage-resized", text, self.document.name))
        return self.get(self.document.root)

    def get(self, node: Any) -> Any:
        """The value made for a node; the node itself where there is none (numbers, texts: their ids are never those of nodes)."""
        if type(node) is Row and node.value is not None:
            return node.value
        return self.done.get(id(node), node)

    def _open(self, nodes: list[Any]) -> list[Any]:
        """The nodes that need a visit, last one first. Rows, the bulk of any checkpoint, become tensors right here."""
        rows = [node for node in nodes if type(node) is Row and node.value is None and id(node) not in self.done]
        if rows:
            self._rows(rows)
        done = self.done
        return [
            node for node in reversed(nodes)
            if type(node) not in ATOMS and not (type(node) is Row and node.value is not None) and id(node) not in done
        ]  # fmt: skip

    def _finish(self, node: Any, plan: Plan) -> Plan | None:
        """Make an immutable value; where its parts will not do, an Object plan for it instead."""
        try:
            self.done[id(node)] = plan.finish(self.get)
            return None
        except _ODD as error:
            return self._inert(node, error)

    def _inert(self, call: Call, why: Exception | None = None) -> Plan:
        if why is not None:
            code = "tensor-damaged" if call.dotted in REBUILD else "value-odd"
            self._note(code, f"{call.dotted or 'a call'}: {str(why) or type(why).__name__}", call.offset)
        plan = object_plan(call)
        self.done[id(call)] = plan.shell
        return plan

    def plan(self, node: Any) -> Plan | None:
        """How to make the node's value; None where it has been made already."""
        kind = type(node)
        if kind is tuple:
            return Plan(list(node), lambda get: tuple(map(get, node)))
        if kind is Set:
            return set_plan(node.items, None if node.frozen else set())
        if isinstance(node, Call):
            return self._call(node)
        self.done[id(node)] = self._leaf(node)
        return None

    def filled(self, node: Dict) -> dict[Any, Any]:
        """The dict that a node stands for, made anew of the values that have been built."""
        made: dict[Any, Any] = {}
        notes, self.notes = self.notes, []
        self._fill(node, made)
        self.notes = notes
        return made

    def _fill(self, node: Dict, made: dict[Any, Any]) -> None:
        keys, items = node.flat[::2], node.flat[1::2]
        kinds = set(map(type, keys))
        texts = kinds <= {str} and max(map(len, keys), default=0) <= LONG_KEY
        if texts or (kinds <= NUMBERS and len(keys) <= 1000):
            made.update(zip(keys, map(self.get, items), strict=True))
        else:
            fill_dict(made, list(zip(keys, items, strict=True)), self.get)
            if any(type(key) is Key for key in made):
                self._note("pickle-odd-key", "a dict has such keys", node.offset)
        if len(made) < len(keys):
            self._note("pickle-duplicate-key", f"{len(keys) - len(made)} keys of a dict are repeated", node.offset)

    def _note(self, code: str, message: str, offset: int) -> None:
        if len(self.notes) < 1000:
            self.notes.append(Finding(code, message, self.document.name, offset))

    def _leaf(self, node: Any) -> Any:
        if type(node) is Global:
            return DTYPE_VALUES.get(node.dotted) or (node.dotted if node.dotted in PLAIN_VALUES else node)
        if type(node) is Reference:
            try:
                value = self.storages.value(node)
            except _ODD as error:
                if not _foreseen(node):
                    self._note("reference-unknown", str(error) or type(error).__name__, node.offset)
                return node
            return self._once(value) if type(value) is Layout else value
        assert type(node) in (Buffer, ByteString, Raw), node
        return text(node)

    def _call(self, call: Call) -> Plan | None:
        name = call.dotted
        try:
            if name in REBUILD:
                return self._tensor(call)
            if name in ARRAYS or name in BUFFERS:
                return self._array(call)
            if name == EMBEDDED:
                embedded(self, call)
                return None
            make = CONTAINERS.get(name)
            if make is None:
                kind = wrapper(call)
                if kind == ARRAY:
                    return self._array(call)
                if kind:
                    companion(self, call)
                    return None
                return immediate(call) or self._inert(call)
            plan = make(call)
            plan.cost += 3 * len(plan.children)  # it copies what its argument, a container, may already stand for elsewhere
            return plan
        except _ODD as error:
            if self.convert is not None and isinstance(error, InertError) and _holds_data(call):
                raise  # inert.load gives no Object in the place of a damaged array
            if self.convert is None or name not in REBUILD:
                return self._inert(call, error)
            raise FormatError(f"{name}: {str(error) or type(error).__name__}", part=self.document.name, offset=call.offset) from None

    def _tensor(self, call: Call) -> Plan | None:
        layout = self.rebuild.layout(call)
        self.work.spend(len(layout.components))
        tensor = self._made(layout)
        if layout.hooks is not None:
            self._note("tensor-hooks", "backward hooks are not empty", call.offset)
        state = [layout.attributes, layout.hooks, *call.states, *(call.flat or ()), *(call.items or ())]
        if call.dotted in ("torch.nn.parameter.Parameter", "torch.nn.Parameter") or call.how == "NEWOBJ":
            state = []  # the states of old forms are the data itself
        if all(part is None for part in state):
            self.done[id(call)] = tensor
            return None

        def finish(get: Any) -> None:
            layout.attributes, layout.hooks = get(layout.attributes), get(layout.hooks)
            later = [get(part) for part in state[2:]]
            if later:  # BUILD or SETITEM on a tensor
                layout.attributes = (layout.attributes, *later)

        return Plan(state, finish, tensor)

    def _once(self, layout: Layout) -> Any:
        """The one tensor of a Layout that many references may stand for."""
        known = self.done.get(id(layout))
        if known is None:
            known = self.done[id(layout)] = self._made(layout)
        return known

    def _made(self, layout: Layout) -> Any:
        tensor = Tensor(layout, self.limits)
        return self.convert(tensor) if self.convert else tensor

    def _array(self, call: Call) -> Plan | None:
        inner = nested_array(call)
        if inner is not None:
            return Plan([inner], lambda get: get(inner))
        nodes = object_items(call)
        if nodes is None:
            layout = raw_layout(call, self.limits) if wrapper(call) else array_layout(call, self.limits)
            self.work.spend(layout.storage.nbytes if layout.storage else 0)
            self.done[id(call)] = self._made(layout)
            return None
        shell: list[Any] = []  # an object array is shown as the list of its objects
        return Plan(nodes, lambda get: shell.extend(map(get, nodes)), shell)

    def _stored(self, call: Call) -> Storage:
        """The storage in an embedded torch file: what plain pickle makes of each storage, once."""
        if call.dotted == EMBEDDED and id(call) not in self.done:
            embedded(self, call)
        value = self.done.get(id(call))
        if type(value) is not Storage:
            raise Odd("the storage is no persistent id, and no torch file that holds one")
        return value

    # -- rows ---------------------------------------------------------------------------------------------------------------

    def _rows(self, rows: list[Row]) -> None:
        """Tensors of rows; those that are no plain tensors, or that later opcodes change, are left to the rebuild table."""
        templates = rows[0].run.machine.templates.values()
        for template in templates:
            if template.meaning is None:
                template.meaning = meant(template, self.storages, self.limits.rank)
        changed = rows[0].run.machine.changed
        if changed or not all(template.meaning for template in templates):
            rows = [row for row in rows if row.template.meaning and id(row) not in changed]
        differing = self.storages.differing
        for row, tensor in zip(rows, map(Tensor, rows, repeat(self.limits)), strict=True):
            if differing and row.key in differing:
                tensor = Tensor(row.layout(), self.limits)  # its own type is perhaps not the one that counts
            if self.convert is None:
                row.value = tensor
            else:  # a row lives in a cycle with its run: an array there would keep the file mapped until the next garbage collection
                self.done[id(row)] = self.convert(tensor)
