"""The calls that pickles make: which of them are judged by their arguments, and which are odd whatever they call.

Knows: taking an attribute, encoding text, loading bytes; calls of what other calls gave; opcodes that change a class or module instead of
an object; which names are handed to those who may call them.
Refuses to know: what single names do (inert.policy).

Facts: CPython 3.13 Lib/pickle.py (load_build, load_reduce: what is called when), Lib/encodings/__init__.py (a codec's name is imported);
torch 2.13 torch/storage.py (_load_from_bytes is torch.load without weights_only).
"""

from __future__ import annotations

from ...pickle.nodes import Call, Dict, Global, List, Reference, Set, shown
from ...pickle.row import Row
from ...torch.arguments import text
from ...torch.ndarray import raw_bytes
from ...torch.persistent import class_of
from .arguments import CALLERS, odd
from .attributes import Obeyed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ...pickle.decode import Document
    from .judging import Names

Pair = tuple[str, str]

CHAIN = 64  # attributes of attributes
GETATTR = frozenset((("builtins", "getattr"),))
GETTER = frozenset((("operator", "attrgetter"), ("_operator", "attrgetter")))
ENCODE = frozenset((("_codecs", "encode"), ("codecs", "encode")))
LOADER = frozenset((("torch.storage", "_load_from_bytes"), ("torch", "storage._load_from_bytes")))
BY_ARGUMENTS = GETATTR | GETTER | ENCODE | LOADER  # clean where each call of them is, else dangerous
MADE_BY = frozenset((("copyreg", "__newobj__"), ("copyreg", "__newobj_ex__"), ("copyreg", "_reconstructor")))  # they call the class
GIVE_BACK = frozenset(  # they give what they are given
    ("torch.jit._pickle", name)
    for name in ("build_boollist", "build_doublelist", "build_intlist", "build_tensor_from_id", "build_tensorlist", "restore_type_tag")
)
CLASSES = frozenset(  # they give a class, or what passes attributes on to one
    (("builtins", "type"), ("enum", "Enum"), ("enum", "Flag"), ("enum", "IntEnum"), ("enum", "IntFlag"), ("typing", "_GenericAlias"))
)
CODECS = frozenset(
    ("latin1", "latin-1", "latin_1", "iso-8859-1", "iso8859-1", "utf-8", "utf8", "utf_8", "ascii", "us-ascii", "raw_unicode_escape")
)
MAKES = frozenset(("NEWOBJ", "NEWOBJ_EX"))  # what makes objects without calling the class
CHANGES = frozenset(("BUILD", "APPEND", "APPENDS", "ADDITEMS", "SETITEM", "SETITEMS"))
WHY = {  # of names that are judged by their calls
    "attribute": "takes attributes of names by names that are written down; each is judged itself",
    "codec": "turns text into bytes, in a codec that runs nothing",
    "loader": "loads a torch file from bytes that are in the pickle; these were scanned too",
}


class Calls:
    """The calls of one document that the shortcut did not take."""

    def __init__(self, names: Names, document: Document, calls: list[Call], part: str, base: int) -> None:
        self.names = names
        self.document = document
        self.calls = calls
        self.part = part
        self.base = base
        self.special: set[Pair] = set()
        self.records: dict[int, Any] = {}  # element types of NumPy that were looked at
        self.applied: set[int] = set()  # ids of attrgetter calls that were called at once

    def note(self, code: str, message: str, call: Call) -> None:
        self.names.note(code, message, self.part, self.base + call.offset)

    def look(self) -> None:
        obeyed = Obeyed()
        for call in self.calls:
            said = obeyed(call)
            if said:
                self.note("pickle-odd-arguments", f"{call.dotted or 'an object'} is given {said}, which other code obeys", call)
            if call.how in CHANGES:
                self._change(call)
            elif call.how != "STACK_GLOBAL":
                self._function(call, call.function)
        if self.special or self.names.worse or not BY_ARGUMENTS.isdisjoint(self.names.names):
            self._passed_on()

    def _change(self, call: Call) -> None:
        """BUILD and the like on what is no object that the pickle has made."""
        self._changed(call.function, call.how, call)

    def _changed(self, target: Any, how: str, call: Call) -> None:
        if type(target) is Global:
            self.note("pickle-changes-name", f"{how} changes {target.dotted} itself", call)
        elif type(target) is Reference and class_of(target) is not None:
            self.note("pickle-changes-name", f"{how} changes a class itself", call)
        elif type(target) is Reference:
            self.note("pickle-calls-result", f"{how} on what a persistent id stands for", call)

    def _function(self, call: Call, function: Any) -> None:
        if type(function) is Global:
            self.names.counted(function)
            pair = function.imported
            if pair in BY_ARGUMENTS:
                self.special.add(pair)
                self._by_arguments(call, pair)
            elif call.how not in MAKES:
                self.names.called.add(pair)
            if pair in MADE_BY:
                self._made_by(call)
            elif pair in CALLERS:
                self._called(call)
            elif pair in GIVE_BACK and (call.states or call.items or call.flat):
                self._changed(given_back(call), "BUILD" if call.states else "APPEND", call)
            elif pair in CLASSES and call.states:
                self.note("pickle-changes-name", f"BUILD changes a class that {function.dotted} gave", call)
            said = odd(call, pair, self.records)
            if said:
                self.note("pickle-odd-arguments", said, call)
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
                self.names.counted(named)
                return
            self.note("pickle-calls-result", "calls what a persistent id stands for", call)

    def _made_by(self, call: Call) -> None:
        """A class that is given to those who make objects of it: what has an attribute of that name passes for one."""
        for value in call.arguments[:2] if type(call.arguments) is tuple else ():
            if type(value) is Call or (type(value) is Reference and class_of(value) is None):
                self.note("pickle-calls-result", f"makes an object by what {shown(value)} gave", call)

    def _called(self, call: Call) -> None:
        """A function that is given to those who call it, with arguments that they are given: picklers name it."""
        function = call.arguments[0] if arguments_of(call, 1) else None
        if (type(function) is Call and resolve(function) is None) or (type(function) is Reference and class_of(function) is None):
            self.note("pickle-odd-arguments", f"{call.dotted} calls what {shown(function)} gave", call)
        if type(function) is Global and function.imported in GIVE_BACK:  # whose result gets attributes then
            for given in call.arguments[1:4]:
                self._changed(given[0] if type(given) is tuple and given else None, call.how, call)

    def _by_arguments(self, call: Call, pair: Pair) -> None:
        if pair in GETATTR:
            self._attribute(call, pair)
        elif pair in ENCODE:
            codec = text(call.arguments[1]) if arguments_of(call, 2) else None
            if type(codec) is str and codec.lower() in CODECS and type(call.arguments[0]) is str:
                self._settle(pair, "codec")
            else:
                self._unsettle(pair, "pickle-codec", f"encodes by the codec {shown(codec)}", call)
        elif pair in LOADER:
            if arguments_of(call, 1) and raw_bytes(call.arguments[0]) is not None:
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
        self.names.imported(meant, self.part, self.base + call.offset, ".".join(pair))

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


def given_back(value: Any) -> Any:
    """What calls that give back their argument were given, at last."""
    for _ in range(CHAIN):
        if type(value) is not Call or type(value.function) is not Global or value.function.imported not in GIVE_BACK:
            break
        if not arguments_of(value, 1):
            break
        value = value.arguments[0]
    return value


def arguments_of(call: Call, count: int) -> bool:
    return type(call.arguments) is tuple and len(call.arguments) >= count


def _taken(call: Call) -> tuple[Any, str] | None:
    """(of what, which attribute) a call takes by a name that is written down; None for any other call."""
    function = call.function
    if type(function) is Global and function.imported in GETATTR and arguments_of(call, 2) and len(call.arguments) == 2:
        name = text(call.arguments[1])
        return (call.arguments[0], name) if type(name) is str else None
    if not isinstance(function, Call) or type(function.function) is not Global or function.function.imported not in GETTER:
        return None
    if not arguments_of(function, 1) or len(function.arguments) != 1 or not arguments_of(call, 1):
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
    value = call.arguments[0] if arguments_of(call, 1) else call.arguments
    if isinstance(value, Call):
        return f"what {value.dotted or 'a call'} returned"
    return shown(value)
