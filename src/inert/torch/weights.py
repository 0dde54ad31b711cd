"""What torch's unpickler makes of a document: where ``weights_only=True`` stops, and where a full load does.

Knows: the opcodes, names and calls that torch 2.13 takes, what it wants of a storage's record, and which keys and texts Python cannot make.
Refuses to know: archives (reader.py tells whether a record can be had), and the arguments of single functions (rules.py for the allowed
classes, tensors.py for the rebuild functions). Nothing is called: a call is judged by its arguments alone.

Facts: torch 2.13 torch/_weights_only_unpickler.py, torch/_utils.py, torch/_tensor.py, torch/serialization.py (_load), read and then tried
out one by one with the real program (tests/test_predict.py holds the cases). Where something has no rule here, a call is taken to succeed.
"""

from __future__ import annotations

from functools import partial

from ..errors import one_line
from ..pickle.nodes import ByteString, Call, Dict, Global, List, Reference, Set
from ..pickle.opcodes import OPCODES
from ..pickle.row import Row
from .allowed import CONSTANTS, REBUILDS, STORAGE_CLASSES, TENSOR_CLASSES, allowed, torch_name
from .arguments import Odd, text
from .needs import Refused, differentiable, needed
from .persistent import Taken, class_of
from .rebuild import Rebuilder
from .restored import restored
from .rules import CLASSES, FUNCTIONS, RULES, effects, kind_of
from .storages import STORAGE_TYPES, UNTYPED
from .tensors import rebuilt
from .versions import NEVER
from .walk import nodes, unhashable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits
    from ..pickle.decode import Document
    from ..pickle.row import Run, Template
    from .versions import Need

V2 = "torch._utils._rebuild_tensor_v2"
OBJECTS = ("torch.distributed._shard.sharded_tensor.api.ShardedTensor", "torch.distributed._sharded_tensor.api.ShardedTensor")
BUFFERS = frozenset((0x97, 0x98))  # NEXT_BUFFER, READONLY_BUFFER: torch gives no buffers
TEXTS = frozenset(b"STU")  # opcodes of Python 2 texts, which torch decodes as UTF-8
HIGHEST = 5  # protocol: Python refuses a higher one, torch's weights_only unpickler does not look at it
MOST = 10_000  # refusals that are kept
MEMO = 1 << 28  # highest memo index: CPython before 3.15 reserves 16 bytes for each below it
_ODD = (Odd, ValueError, TypeError, OverflowError, ArithmeticError, LookupError, AttributeError)  # arguments that make no sense
_KEYS = frozenset((int, float, str, bool, type(None), bytes, Global))


class Judge:
    """One reading of a document with torch's eyes. ``full``: a full load, whose names are somebody else's business (predict.py).
    ``mapped``: with ``mmap=True``, where torch takes bytes from the file without looking at the records' sizes. ``legacy``: a pickle of the
    layout before 1.6, whose persistent ids have a part more."""

    def __init__(
        self, document: Document, size: Callable[[str], int | None] | None, trouble: Callable[[str], str], limits: Limits,
        full: bool = False, mapped: bool = False, legacy: bool = False,
    ) -> None:  # fmt: skip
        self.document = document
        self.records = size is not None
        self.trouble = trouble  # why torch cannot read the record of a key, "" where it can
        self.full = full
        self.mapped = mapped
        self.legacy = legacy
        self.storages = Taken(size, mapped)
        self.rebuilder = Rebuilder(self.storages, limits, len(document.data))
        self.kinds: dict[int, str] = {}  # of results, by id of the node that makes them
        self.unlisted: list[tuple[int, str]] = []  # names and opcodes, over which versions differ
        self.refused: list[tuple[int, str]] = []  # whatever else
        self.tags: dict[str, None] = {}  # devices that storages were saved from
        self.sizes: dict[Any, int] = {}  # storage key → bytes, as first declared
        self.templates: dict[Any, Any] = {}  # element type, None: not the plain form
        self.shapes: dict[Any, tuple[DType | None, int, int, str]] = {}

    def refusals(self) -> list[tuple[int, str]]:
        """(offset in the pickle, reason) of everything torch would stumble over, in the order of the pickle. Empty: it reads it."""
        self._opcodes()
        nodes, at = self.document.rows, 0
        while at < len(nodes):
            node = nodes[at]
            if type(node) is Row:  # the first of a run, whose rows follow one another
                self._run(node.run)
                at += len(node.run.rows)
            else:
                self._node(node)
                at += 1
        self._walk()
        return sorted([*self.unlisted, *self.refused], key=lambda refusal: refusal[0])

    def needs(self) -> list[Need]:
        """What stops every version of torch."""
        return [(NEVER, NEVER, why) for _, why in self.refused]

    def _refuse(self, offset: int, why: str) -> None:
        if len(self.refused) < MOST:
            self.refused.append((offset, one_line(why, 300)))

    def _unlisted(self, offset: int, why: str) -> None:
        if len(self.unlisted) < MOST:
            self.unlisted.append((offset, one_line(why, 300)))

    def _opcodes(self) -> None:
        for code, offset in self.document.opcodes.items():
            known = OPCODES.get(code)
            if known is None or (not self.full and not known.weights_only):
                self._unlisted(offset, f"the opcode {known.name if known else code} at byte {offset:,} is not among the 34 it takes")
            elif code in BUFFERS:
                self._refuse(offset, "the pickle wants an out-of-band buffer, which torch.load does not give")
        if self.full and self.document.protocol > HIGHEST:
            self._refuse(0, f"Python refuses pickle protocol {self.document.protocol}; the highest is {HIGHEST}")
        if self.full and self.document.top > MEMO:
            self._refuse(0, f"memo index {self.document.top:,} makes Python's unpickler reserve {self.document.top >> 26:,} GiB")

    def _node(self, node: Any) -> None:
        kind = type(node)
        try:
            if kind is Global:
                self._global(node)
            elif kind is Reference:
                self._reference(node)
            elif isinstance(node, Call):
                self._call(node)
        except Refused as error:
            self._refuse(node.offset, str(error))
        except _ODD as error:
            self._refuse(node.offset, f"{node.dotted if isinstance(node, Call) else 'a storage'}: {error}")

    def _global(self, name: Global) -> None:
        if not self.full and not allowed(name):
            self._unlisted(name.offset, f"{torch_name(name)} is not on its list")
        if self.full and name.how == "EXT":
            raise Refused(f"{name.name} stands for a name that is registered nowhere")

    # -- storages -----------------------------------------------------------------------------------------------------------

    def _reference(self, node: Reference) -> None:
        pid, parts = node.pid, 6 if self.legacy else 5
        if self.full and self.legacy and type(pid) is tuple and len(pid) == 4 and text(pid[0]) == "module":
            self.kinds[id(node)] = "?"  # a class with its source, which torch compares
            return
        if self.full and type(pid) is tuple and any(isinstance(part, Call) and type(part) is not Row for part in pid):
            self.kinds[id(node)] = "?"  # what the file's own code makes of it
            return
        if type(pid) is not tuple or not pid or text(pid[0]) != "storage":
            raise Refused("a persistent id that names no storage")
        if len(pid) != parts:
            raise Refused(f"a storage's persistent id of {len(pid)} parts instead of {parts}")
        if self.legacy and type(pid[1]) is Global and pid[1].dotted in UNTYPED:
            raise Refused("an untyped storage, which torch writes but cannot read in the layout before 1.6")
        storage = self.storages.of(node)
        self.tags[str(text(pid[3]))[:40]] = None
        self._storage(storage.key, storage.nbytes, node)

    def _storage(self, key: Any, nbytes: int, node: Any) -> None:
        if self.sizes.get(key):
            return  # torch keeps what it has read of a key, unless that was nothing
        self.sizes[key] = nbytes
        there = self.storages.size(key) if self.records else nbytes
        why = self.trouble(key)
        if why:
            self._refuse(node.offset, f"data/{key}: {why}")
        elif nbytes < 0 or (there != nbytes and not self.mapped):
            self._refuse(node.offset, f"data/{key} holds {there:,} bytes where the pickle says {nbytes:,}")

    # -- tensors ------------------------------------------------------------------------------------------------------------

    def _run(self, run: Run) -> None:
        """A run of rows, column by column: of what many have in common, each different one is judged once."""
        shapes, changed, first = self.shapes, run.machine.changed, self.storages.declared.setdefault
        columns = zip(run.rows, run.templates, run.keys, run.counts, run.offsets, run.shapes, run.strides, run.grads, strict=True)
        for row, template, key, count, offset, shape, strides, grad in columns:
            same = (template, count, offset, shape, strides, grad)
            known = shapes.get(same)
            if known is None:
                known = shapes[same] = self._shape(row, template)
            dtype, nbytes, needs, why = known
            if dtype is None or first(key, (dtype, count, "cpu"))[0] is not dtype or (changed and id(row) in changed):
                for node in row.events():
                    self._node(node)
                continue
            self._storage(key, nbytes, row)
            why = why or self.room(key, needs)
            if why:
                self._refuse(row.offset, why)

    def _plain(self, template: Any) -> DType | None:
        """The element type of a template's tensors; None where it is not the plain form."""
        storage = template.storage
        self.tags[str(text(template.location))[:40]] = None
        plain = template.function.dotted == V2 and text(template.tag) == "storage" and template.hooks.dotted == "collections.OrderedDict"
        return STORAGE_TYPES.get(storage.dotted) if plain and type(storage) is Global and type(template.location) is str else None

    def _shape(self, row: Row, template: Template) -> tuple[DType | None, int, int, str]:
        """(element type or None, bytes of the storage, bytes that the tensor needs of it, why there is no such tensor)."""
        if template not in self.templates:
            self.templates[template] = self._plain(template)
        dtype = self.templates[template]
        if dtype is None:
            return None, 0, 0, ""
        count, offset, shape, strides, grad = row.geometry()
        try:
            if grad:
                differentiable(dtype)
            return dtype, count * dtype.itemsize, needed(dtype, shape, strides, offset), ""
        except Refused as error:
            return dtype, count * dtype.itemsize, 0, str(error)

    def room(self, key: Any, needs: int) -> str:
        """Why a tensor that needs ``needs`` bytes of the storage does not get them."""
        held = self.sizes.get(key, 0)
        if needs > held:
            return f"a tensor needs {needs:,} bytes of data/{key}, which has {held:,}"
        if self.mapped and self.records and needs > (self.storages.size(key) or 0):
            return f"a tensor needs {needs:,} bytes of data/{key}; torch would map what lies behind the record as if it were its values"
        return ""

    # -- calls --------------------------------------------------------------------------------------------------------------

    def _call(self, call: Call) -> None:
        name = call.dotted
        if call.how not in ("REDUCE", "NEWOBJ", "NEWOBJ_EX", "OBJ", "INST"):
            self._method(call)
            return
        function = call.function
        if type(function) is not Global:
            kind = kind_of(self, function)
            if not self.full or kind != "?":
                raise Refused(f"a call of a {kind}, which is no function")
            named = class_of(function) if type(function) is Reference else None
            if named is not None:
                restored(named.dotted, call)
            return
        if not self.full and not allowed(function):
            return  # refused already, by its name
        self.kinds[id(call)] = "?"
        try:
            self.kinds[id(call)] = self._result(call, name)
        except _ODD as error:
            raise Refused(f"{name}: {error}") from None
        effects(self, self.kinds[id(call)], call)
        if self.full:
            restored(name, call)

    def _result(self, call: Call, name: str) -> str:
        """The kind of what the call makes."""
        if name in CONSTANTS or (name in STORAGE_CLASSES and not name.startswith("torch.storage.")):
            raise Refused(f"{name} cannot be called")
        if call.how == "NEWOBJ" and (name in REBUILDS or name in FUNCTIONS):
            raise Refused(f"{name} is no class")
        if call.how == "NEWOBJ" and name in OBJECTS and self.full:
            raise Refused("a ShardedTensor as torch 1.12 and before wrote it, an object without arguments: its class now wants some")
        if name in REBUILDS or name in FUNCTIONS[2:]:
            return rebuilt(self, call, name)
        arguments = self._arguments(call) if name in RULES else []
        if name in CLASSES and (call.how == "NEWOBJ" or name not in RULES):
            return CLASSES[name]
        return RULES[name](self, arguments) if name in RULES else "?"

    def _arguments(self, call: Call) -> list[Any]:
        given = call.arguments
        if type(given) is tuple:
            return list(given)
        if type(given) in (List, Set) and not self.full:
            items: list[Any] = given.items
            return items
        if type(given) is Dict and not self.full:
            return given.flat[::2]
        raise Refused(f"{call.dotted} is called with a {kind_of(self, given)} for arguments")

    def _method(self, call: Call) -> None:
        """BUILD, APPEND, SETITEM … on what no call has made: a class, a storage, a list."""
        target = kind_of(self, call.function)
        filled = type(call.arguments) is tuple and any(state is not None for state in call.arguments)
        known = type(call.function) is Global and call.function.dotted in TENSOR_CLASSES
        if call.how == "BUILD" and not known and (target == "storage" or (self.full and (target == "global" or not filled))):
            return
        if not self.full or known or target != "global":
            raise Refused(f"{call.how} on a {target}")

    # -- keys and texts -----------------------------------------------------------------------------------------------------

    def _walk(self) -> None:
        """Look through all nodes once: keys that Python cannot hash, and Python 2 texts that torch cannot decode."""
        texts = bool(TEXTS & self.document.opcodes.keys())
        for node in nodes(self.document):
            kind = type(node)
            if kind is ByteString:
                if texts and type(text(node)) is not str:
                    self._refuse(self._first_text(), "a Python 2 text that is not UTF-8")
                    texts = False
            elif kind is Dict or (isinstance(node, Call) and node.flat):
                for key in node.flat[::2]:
                    if type(key) not in _KEYS:
                        why = self.unhashable(key)
                        if why:
                            self._refuse(node.offset, why)
                            break

    def _first_text(self) -> int:
        return min(offset for code, offset in self.document.opcodes.items() if code in TEXTS)

    def unhashable(self, key: Any) -> str:
        """Why a value cannot be a dict key or in a set; "" where it can."""
        return unhashable(key, partial(kind_of, self))
