"""What the pickles of one file ask for: every name with its judgement, and what is odd about the calls.

Knows: that a name is judged as Python's unpickler would import it; that making an object of a class is not calling it; which calls are
judged by their arguments as well (taking an attribute, encoding text, loading bytes); calls of what other calls gave; opcodes that change
a class or module instead of an object.
Refuses to know: what single names do (inert.policy), and where pickles are (look.py).

Facts: CPython 3.13 Lib/pickle.py (load_build, load_reduce: what is called when), Lib/encodings/__init__.py (a codec's name is imported);
torch 2.13 torch/storage.py (_load_from_bytes is torch.load without weights_only).
"""

from __future__ import annotations

from collections import Counter

from ...errors import TruncatedError
from ...finding import Finding
from ...pickle.begins import BEGINS
from ...pickle.nodes import Call, Dict, Global, List, Reference, Set, shown
from ...pickle.row import Row
from ...policy import CLEAN, DANGEROUS, judge
from ...torch.arguments import text
from ...torch.ndarray import raw_bytes
from ...torch.persistent import class_of
from .verdicts import overall, verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ...pickle.decode import Document

Pair = tuple[str, str]

NOTED = 50  # findings of one code that are kept; the others are counted
NAMES = 20_000  # different names that are kept
HEAD = 600  # characters of a text that tell what its bytes may be
CHAIN = 64  # attributes of attributes
LONGEST = 300  # characters of a name that are shown
GETATTR = frozenset((("builtins", "getattr"),))
GETTER = frozenset((("operator", "attrgetter"), ("_operator", "attrgetter")))
ENCODE = frozenset((("_codecs", "encode"), ("codecs", "encode")))
LOADER = frozenset((("torch.storage", "_load_from_bytes"), ("torch", "storage._load_from_bytes")))
BY_ARGUMENTS = GETATTR | GETTER | ENCODE | LOADER  # clean where each call of them is, else dangerous
CODECS = frozenset(
    ("latin1", "latin-1", "latin_1", "iso-8859-1", "iso8859-1", "utf-8", "utf8", "utf_8", "ascii", "us-ascii", "raw_unicode_escape")
)
CUT = {b"c": "GLOBAL", b"i": "INST"}
MAKES = frozenset(("NEWOBJ", "NEWOBJ_EX"))  # what makes objects without calling the class
CHANGES = frozenset(("BUILD", "APPEND", "APPENDS", "ADDITEMS", "SETITEM", "SETITEMS"))
WHY = {  # of names that are judged by their calls
    "attribute": "takes attributes of names by names that are written down; each is judged itself",
    "codec": "turns text into bytes, in a codec that runs nothing",
    "loader": "loads a torch file from bytes that are in the pickle; these were scanned too",
}


class Name:
    """One name that pickles of the file import: (module, name) as Python's unpickler has it, its verdict and why; how often it is
    imported (``count``) and called (``calls``); where it is first asked for, and as what it is ``written`` there."""

    __slots__ = ("calls", "count", "how", "link", "module", "name", "offset", "part", "since", "verdict", "why", "written")

    def __init__(self, module: str, name: str, part: str, offset: int, how: str, written: str) -> None:
        said = judge(module, name)
        self.module, self.name = module[:LONGEST], name[:LONGEST]
        self.verdict, self.why, self.since, self.link = said.verdict, said.why, said.since, said.link
        self.count = self.calls = 0
        self.part, self.offset, self.how, self.written = part, offset, how, written[: 2 * LONGEST]

    @property
    def dotted(self) -> str:
        return f"{self.module}.{self.name}"

    def copy(self) -> Name:
        made = object.__new__(Name)
        for slot in self.__slots__:
            setattr(made, slot, getattr(self, slot))
        return made

    def __repr__(self) -> str:
        return f"<{self.dotted} {self.verdict}>"


class Names:
    """The names and findings of one file."""

    def __init__(self) -> None:
        self.names: dict[Pair, Name] = {}
        self.findings: list[Finding] = []
        self.noted: Counter[str] = Counter()
        self.verdicts: set[str] = set()
        self.settled: dict[Pair, str] = {}  # names that were judged by their calls, with why …
        self.unsettled: set[Pair] = set()  # … and those that once were used in another way
        self.worse: set[Pair] = set()  # classes that are worse to call than to fill …
        self.called: set[Pair] = set()  # … and names that were called, or handed to those who may call them
        self.blobs: list[
            tuple[bytes | bytearray, str, bool]
        ] = []  # constants that begin like a pickle or archive: bytes, part, loaded for sure
        self._told: set[tuple[str, str, str, int | None]] = set()  # several looks may find the same

    # -- findings -----------------------------------------------------------------------------------------------------------

    def note(self, code: str, message: str, part: str = "", offset: int | None = None) -> None:
        self.take([Finding(code, message, part, offset)])

    def take(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            key = (finding.code, finding.message, finding.where.part, finding.where.offset)
            if key in self._told:
                continue
            self.verdicts.add(verdict(finding.code))
            self.noted[finding.code] += 1
            if self.noted[finding.code] <= NOTED:
                self.findings.append(finding)
                self._told.add(key)

    def told(self) -> list[Finding]:
        """The findings, and how many more there are of some codes."""
        more = [(code, count - NOTED) for code, count in self.noted.items() if count > NOTED]
        return self.findings + [Finding(code, f"and {count:,} more of this kind") for code, count in more]

    def judged(self) -> str:
        """The verdict of all names and findings; settles those that are judged by their calls."""
        for pair, why in self.settled.items():
            if pair not in self.unsettled and pair in self.names:
                self.names[pair].verdict, self.names[pair].why = CLEAN, why
        for pair in self.unsettled & self.names.keys():
            self.names[pair].verdict = DANGEROUS
            self.names[pair].why = "what it gives is only known while loading"
        for pair in self.worse - self.called:
            said = judge(*pair, made=True)
            self.names[pair].verdict, self.names[pair].why = said.verdict, said.why
        return overall([*self.verdicts, *(name.verdict for name in self.names.values())])

    # -- documents ----------------------------------------------------------------------------------------------------------

    def document(self, document: Document, part: str, base: int = 0, faults: bool = True) -> None:
        """Everything that a pickle asks for. ``base``: offset of its data in ``part``; ``faults``: whether it should be whole."""
        for code, at, odd in document.odd:
            self.note(code, odd, part, base + at)
        if document.fault is not None and faults:
            self.note("pickle-broken", document.fault.message, part, base + (document.fault.offset or 0))
        runs, others = document.parted()
        calls: list[Call] = []
        for node in others:
            if type(node) is Global:
                self._import(node.imported, part, base + node.offset, node.how, f"{node.module}.{node.name}")
            elif type(node) is Call:
                calls.append(node)
        last = cut(document)
        if last is not None:
            name = self._import(last.imported, part, base + last.offset, last.how, f"{last.module}.{last.name}")
            if last.how == "INST":
                name.calls += 1
                self.called.add(last.imported)
        for run in runs:
            for template, count in Counter(run.templates).items():
                self._count(template.function, count)
                self.called.add(template.function.imported)
                self._count(template.hooks, count)
                if template.function.imported in BY_ARGUMENTS:
                    self.unsettled.add(template.function.imported)
        if calls:
            _Calls(self, document, calls, part, base).look()
        self._constants(document, calls, part)

    def _import(self, pair: Pair, part: str, offset: int, how: str, written: str = "") -> Name:
        known = self.names.get(pair)
        if known is None:
            if len(self.names) >= NAMES:
                self.note("scan-limit", f"more than {NAMES:,} different names", part, offset)
                pair = ("", "(names beyond the limit)")
                known = self.names.get(pair)
            if known is None:
                known = self.names[pair] = Name(*pair, part, offset, how, written or ".".join(pair))
                if judge(*pair, made=True).verdict != known.verdict:
                    self.worse.add(pair)
        known.count += 1
        return known

    def _count(self, function: Any, count: int = 1) -> None:
        if type(function) is Global:
            known = self.names.get(function.imported)
            if known is not None:
                known.calls += count

    def _constants(self, document: Document, calls: list[Call], part: str) -> None:
        """Bytes in a pickle that begin like a file, or that are loaded as one: those of one constant once."""
        known: set[int] = set()
        for call in calls:
            sure = call.dotted == "torch.storage._load_from_bytes"
            if not (sure or call.dotted == "_codecs.encode") or not _arguments(call, 1):
                continue
            value = call.arguments[0]
            value = value.arguments[0] if isinstance(value, Call) and _arguments(value, 1) else value
            if id(value) in known or (not sure and not (type(value) is str and BEGINS.match(value[:HEAD].encode("latin-1", "replace")))):
                continue
            known.add(id(value))
            data = raw_bytes(call.arguments[0] if sure else call)
            if data is not None:
                self.blobs.append((data, f"{part}@{call.offset}", sure))
        self.blobs += [(data, f"{part}@{offset}", False) for offset, data in document.blobs]


class _Calls:
    """The calls of one document that the shortcut did not take."""

    def __init__(self, names: Names, document: Document, calls: list[Call], part: str, base: int) -> None:
        self.names = names
        self.document = document
        self.calls = calls
        self.part = part
        self.base = base
        self.special: set[Pair] = set()
        self.applied: set[int] = set()  # ids of attrgetter calls that were called at once

    def note(self, code: str, message: str, call: Call) -> None:
        self.names.note(code, message, self.part, self.base + call.offset)

    def look(self) -> None:
        for call in self.calls:
            if call.how in CHANGES:
                self._change(call)
            elif call.how != "STACK_GLOBAL":
                self._function(call, call.function)
        if self.special or self.names.worse:
            self._passed_on()

    def _change(self, call: Call) -> None:
        """BUILD and the like on what is no object that the pickle has made."""
        target = call.function
        if type(target) is Global:
            self.note("pickle-changes-name", f"{call.how} changes {target.dotted} itself", call)
        elif type(target) is Reference and class_of(target) is not None:
            self.note("pickle-changes-name", f"{call.how} changes a class itself", call)
        elif type(target) is Reference:
            self.note("pickle-calls-result", f"{call.how} on what a persistent id stands for", call)

    def _function(self, call: Call, function: Any) -> None:
        if type(function) is Global:
            self.names._count(function)
            pair = function.imported
            if pair in BY_ARGUMENTS:
                self.special.add(pair)
                self._by_arguments(call, pair)
            elif call.how not in MAKES:
                self.names.called.add(pair)
        elif isinstance(function, Call):
            getter = function.function
            if type(getter) is Global and getter.imported in GETTER:
                self.applied.add(id(function))
                self._attribute(call, getter.imported)
                return
            meant = resolve(function)
            if meant is not None:
                known = self.names.names.get(meant)
                if known is not None:
                    known.calls += 1
                return  # judged where the attribute is taken
            name = function.dotted or "another call"
            self.note("pickle-calls-result", f"calls what {name} returned", call)
        elif type(function) is Reference:
            named = class_of(function)
            if named is not None:  # a class with its source text, as torch saves whole modules
                self.names._count(named)
                return
            self.note("pickle-calls-result", "calls what a persistent id stands for", call)

    def _by_arguments(self, call: Call, pair: Pair) -> None:
        if pair in GETATTR:
            self._attribute(call, pair)
        elif pair in ENCODE:
            codec = text(call.arguments[1]) if _arguments(call, 2) else None
            if type(codec) is str and codec.lower() in CODECS and type(call.arguments[0]) is str:
                self._settle(pair, "codec")
            else:
                self._unsettle(pair, "pickle-codec", f"encodes by the codec {shown(codec)}", call)
        elif pair in LOADER:
            if _arguments(call, 1) and raw_bytes(call.arguments[0]) is not None:
                self._settle(pair, "loader")
            else:
                self._unsettle(pair, "pickle-loads-bytes", "torch.load of bytes that are made while loading", call)

    def _attribute(self, call: Call, pair: Pair) -> None:
        meant = resolve(call)
        if meant is None:
            self._unsettle(pair, "pickle-getattr", f"{'.'.join(pair)} of {_what(call)}", call)
            return
        self._settle(pair, "attribute")
        self.names.called.add(meant)
        self.names._import(meant, self.part, self.base + call.offset, ".".join(pair))

    def _settle(self, pair: Pair, why: str) -> None:
        self.names.settled.setdefault(pair, WHY[why])

    def _unsettle(self, pair: Pair, code: str, message: str, call: Call) -> None:
        self.names.unsettled.add(pair)
        self.note(code, message, call)

    def _passed_on(self) -> None:
        """Names that are judged by their calls may be called by others too, once they are passed on."""
        for value in values(self.document, self.calls):
            if type(value) is Global:
                self.names.called.add(value.imported)
                self.names.unsettled.update({value.imported} & BY_ARGUMENTS)
            elif type(value) is Call and type(value.function) is Global and id(value) not in self.applied:
                self.names.unsettled.update({value.function.imported} & GETTER)


def cut(document: Document) -> Global | None:
    """The name that ends with the bytes instead of a line feed: Python takes all but its last byte and imports that, and INST calls it."""
    fault = document.fault
    if not isinstance(fault, TruncatedError) or fault.offset is None or bytes(document.data[fault.offset : fault.offset + 1]) not in CUT:
        return None
    module, _, name = bytes(document.data[fault.offset + 1 : fault.offset + 4 * LONGEST]).partition(b"\n")
    if len(name) < 2 or b"\n" in name or fault.offset + 2 + len(module) + len(name) != len(document.data):
        return None
    said = [str(text, "utf-8", "replace") for text in (module, name[:-1])]
    return Global(said[0], said[1], fault.offset, CUT[bytes(document.data[fault.offset : fault.offset + 1])], document.protocol)


def values(document: Document, calls: list[Call]) -> Iterator[Any]:
    """Every value of a document but the functions of its calls."""
    todo: list[Any] = [document.root]
    todo += [part for call in calls for part in (call.arguments, call.keywords, call.states, call.items, call.flat)]
    seen: set[int] = set()
    while todo:
        value = todo.pop()
        kind = type(value)
        if kind is Row or kind in (str, bytes, int, float, bool) or value is None or id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if kind in (tuple, list):
            todo.extend(value)
        elif kind is List or kind is Set:
            todo.extend(value.items)
        elif kind is Dict:
            todo.extend(value.flat)
        elif kind is Reference:
            todo.append(value.pid)
        elif kind is Call:
            if isinstance(value.function, Call):
                todo.append(value.function.arguments)  # of a call that is called: not passed on itself
            todo += (value.arguments, value.keywords, value.states, value.items, value.flat)


def _arguments(call: Call, count: int) -> bool:
    return type(call.arguments) is tuple and len(call.arguments) >= count


def _taken(call: Call) -> tuple[Any, str] | None:
    """(of what, which attribute) a call takes by a name that is written down; None for any other call."""
    function = call.function
    if type(function) is Global and function.imported in GETATTR and _arguments(call, 2) and len(call.arguments) == 2:
        name = text(call.arguments[1])
        return (call.arguments[0], name) if type(name) is str else None
    if not isinstance(function, Call) or type(function.function) is not Global or function.function.imported not in GETTER:
        return None
    if not _arguments(function, 1) or len(function.arguments) != 1 or not _arguments(call, 1):
        return None
    name = text(function.arguments[0])
    return (call.arguments[0], name) if type(name) is str else None


def resolve(call: Any) -> Pair | None:
    """The (module, dotted name) that taking attributes of a name gives; None where it is something else."""
    steps: list[str] = []
    while isinstance(call, Call) and len(steps) < CHAIN:
        found = _taken(call)
        if found is None:
            return None
        call, name = found
        steps.append(name)
    if type(call) is not Global:
        return None
    module, name = call.imported
    return module, ".".join((name, *reversed(steps)))


def _what(call: Call) -> str:
    """What a call takes an attribute of, in a few words."""
    value = call.arguments[0] if _arguments(call, 1) else call.arguments
    if isinstance(value, Call):
        return f"what {value.dotted or 'a call'} returned"
    return shown(value)
