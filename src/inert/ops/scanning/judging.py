"""What the pickles of one file ask for: every name with its judgement, and the findings.

Knows: that a name is judged as Python's unpickler would import it; that making an object of a class is not calling it; that a name which is
judged by its calls is clean where each of them is; bytes in pickles that are files themselves.
Refuses to know: calls (calls.py), what single names do (inert.policy), and where pickles are (look.py).
"""

from __future__ import annotations

from collections import Counter

from ...errors import TruncatedError
from ...finding import Finding
from ...pickle.begins import BEGINS
from ...pickle.nodes import Call, Global, Reference
from ...policy import CLEAN, DANGEROUS, judge, worst
from ...torch.ndarray import raw_bytes
from ...torch.persistent import unnamed
from .calls import BY_ARGUMENTS, Calls, Pair, arguments_of
from .verdicts import verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ...pickle.decode import Document

NOTED = 50  # findings of one code that are kept; the others are counted
NAMES = 20_000  # different names that are kept
HEAD = 600  # characters of a text that tell what its bytes may be
LONGEST = 300  # characters of a name that are shown
CUT = {b"c": "GLOBAL", b"i": "INST"}


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
        return worst([*self.verdicts, *(name.verdict for name in self.names.values())])

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
                self.imported(node.imported, part, base + node.offset, node.how, f"{node.module}.{node.name}")
            elif type(node) is Call:
                calls.append(node)
            elif type(node) is Reference and unnamed(node):
                said = "a persistent id gives source text to a class that is made while loading: torch may write it to a file of its name"
                self.note("pickle-odd-arguments", said, part, base + node.offset)
        last = cut(document)
        if last is not None:
            name = self.imported(last.imported, part, base + last.offset, last.how, f"{last.module}.{last.name}")
            if last.how == "INST":
                name.calls += 1
                self.called.add(last.imported)
        for run in runs:
            for template, count in Counter(run.templates).items():
                self.counted(template.function, count)
                self.called.add(template.function.imported)
                self.counted(template.hooks, count)
                if template.function.imported in BY_ARGUMENTS:
                    self.unsettled.add(template.function.imported)
        if calls:
            Calls(self, document, calls, part, base).look()
        self._constants(document, calls, part)

    def imported(self, pair: Pair, part: str, offset: int, how: str, written: str = "") -> Name:
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

    def counted(self, function: Any, count: int = 1) -> None:
        if type(function) is Global:
            known = self.names.get(function.imported)
            if known is not None:
                known.calls += count

    def _constants(self, document: Document, calls: list[Call], part: str) -> None:
        """Bytes in a pickle that begin like a file, or that are loaded as one: those of one constant once."""
        known: set[int] = set()
        for call in calls:
            sure = call.dotted == "torch.storage._load_from_bytes"
            if not (sure or call.dotted == "_codecs.encode") or not arguments_of(call, 1):
                continue
            value = call.arguments[0]
            value = value.arguments[0] if isinstance(value, Call) and arguments_of(value, 1) else value
            if id(value) in known or (not sure and not (type(value) is str and BEGINS.match(value[:HEAD].encode("latin-1", "replace")))):
                continue
            known.add(id(value))
            data = raw_bytes(call.arguments[0] if sure else call)
            if data is not None:
                self.blobs.append((data, f"{part}@{call.offset}", sure))
        self.blobs += [(data, f"{part}@{offset}", False) for offset, data in document.blobs]


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
