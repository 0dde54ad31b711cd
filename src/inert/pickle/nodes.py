"""What a pickle is made of, as inert data.

Knows: the nouns. Numbers, strings, bytes, None, booleans and tuples stand for themselves; lists, dicts and sets are nodes, so that nothing
is ever hashed or compared while reading; a ``Global`` is a name the pickle asks to import (never imported), a ``Call`` a call it asks to
make (never made), a ``Reference`` a persistent id (never fetched). Sharing and cycles are kept by identity.
Refuses to know: what any name means.

Offsets count bytes from the pickle's start to the opcode that made the node. Nodes are written by the machine alone; treat them as frozen.
"""

from __future__ import annotations

from .python2 import imported, looked_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..source import Span


class Node:
    """Base of all nodes."""

    __slots__ = ()


class Global(Node):
    """A name to import: ``module`` and ``name`` as spelled, ``how`` the opcode that asked, ``protocol`` the pickle's at that place.

    ``dotted`` is the name in Python 3 spelling. Python itself replaces old spellings below protocol 3 only; above it, those that torch's
    weights_only unpickler replaces in every protocol are: Python has no such modules, unless somebody has put some there.
    What decides over danger is ``imported``, the (module, name) that Python's unpickler would import."""

    __slots__ = ("dotted", "how", "module", "name", "offset", "protocol")

    def __init__(self, module: str, name: str, offset: int, how: str = "GLOBAL", protocol: int = 2) -> None:
        self.module = module
        self.name = name
        self.protocol = protocol
        self.dotted = ".".join(imported(module, name, protocol) if protocol < 3 else looked_up(module, name))
        self.offset = offset
        self.how = how

    @property
    def imported(self) -> tuple[str, str]:
        return imported(self.module, self.name, self.protocol)

    def __repr__(self) -> str:
        return f"<Global {self.dotted}>"


class Reference(Node):
    """A persistent id: ``pid`` is whatever stood for it (torch: a tuple naming a storage)."""

    __slots__ = ("offset", "pid")

    def __init__(self, pid: Any, offset: int) -> None:
        self.pid = pid
        self.offset = offset

    def __repr__(self) -> str:
        return f"<Reference at {self.offset}>"


class Buffer(Node):
    """An out-of-band buffer (protocol 5), whose bytes are not in the pickle."""

    __slots__ = ("offset", "readonly")

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.readonly = False

    def __repr__(self) -> str:
        return f"<Buffer at {self.offset}>"


class Raw(Node):
    """Bytes that stand between two opcodes, where the writing program put an array's data: ``span`` says where."""

    __slots__ = ("offset", "span")

    def __init__(self, span: Span, offset: int) -> None:
        self.span = span
        self.offset = offset

    def __repr__(self) -> str:
        return f"<Raw {self.span.length} bytes at {self.offset}>"


class List(Node):
    __slots__ = ("items", "offset")

    def __init__(self, items: list[Any], offset: int) -> None:
        self.items = items
        self.offset = offset

    def __repr__(self) -> str:
        return f"<List of {len(self.items)}>"


class Dict(Node):
    """``flat`` holds key, value, key, value … as written: duplicates and unhashable keys included."""

    __slots__ = ("flat", "offset")

    def __init__(self, flat: list[Any], offset: int) -> None:
        self.flat = flat
        self.offset = offset

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        it = iter(self.flat)
        return zip(it, it, strict=False)

    def __repr__(self) -> str:
        return f"<Dict of {len(self.flat) // 2}>"


class Set(Node):
    __slots__ = ("frozen", "items", "offset")

    def __init__(self, items: list[Any], offset: int, frozen: bool = False) -> None:
        self.items = items
        self.offset = offset
        self.frozen = frozen

    def __repr__(self) -> str:
        return f"<{'FrozenSet' if self.frozen else 'Set'} of {len(self.items)}>"


class Call(Node):
    """A call to make: ``function`` (a Global, or whatever stood there), ``arguments`` (a tuple, or whatever stood there), ``how``
    (REDUCE, NEWOBJ, NEWOBJ_EX, OBJ or INST), and what was done to the result: ``states`` (one for each BUILD), ``items``
    (APPEND, APPENDS, ADDITEMS), ``flat`` (SETITEM, SETITEMS: key, value, …)."""

    __slots__ = ("arguments", "flat", "function", "how", "items", "keywords", "offset", "states")

    def __init__(self, function: Any, arguments: Any, offset: int, how: str, keywords: Any = None) -> None:
        self.function = function
        self.arguments = arguments
        self.keywords = keywords
        self.offset = offset
        self.how = how
        self.states: tuple[Any, ...] | list[Any] = ()
        self.items: list[Any] | None = None
        self.flat: list[Any] | None = None

    @property
    def dotted(self) -> str:
        """The function's name in Python 3 spelling, "" where it is no plain name."""
        function = self.function
        return function.dotted if type(function) is Global else ""

    def __repr__(self) -> str:
        return f"<Call {self.dotted or 'of ' + type(self.function).__name__} at {self.offset}>"


class ByteString(bytes):
    """A Python 2 ``str`` (STRING, BINSTRING, SHORT_BINSTRING): bytes whose text encoding only their writer knows."""

    __slots__ = ()


def shown(value: Any) -> str:
    """A node or plain value in a few words. ``repr`` of a deep or much shared tuple, or of a huge number, may never end."""
    if isinstance(value, (str, bytes, bytearray)):
        return repr(value[:60])
    if isinstance(value, (tuple, list, dict, set, frozenset)):
        return f"a {type(value).__name__} of {len(value):,}"
    if isinstance(value, int) and value.bit_length() > 200:
        return f"a number of {value.bit_length():,} bits"
    return repr(value)[:80]


def own(text: str) -> str:
    """The text as an object of its own. Python keeps one object for each text of one letter, but a pickle that writes such a text twice
    has had two: encode.py must tell them apart."""
    return "".join(("", text)) if len(text) == 1 else text


def own_bytes(raw: bytes) -> bytes:
    """The same for bytes: Python keeps one object for each single byte."""
    return b"".join((b"", raw)) if len(raw) == 1 else raw
