"""The page's answers about the saved object: one container at a time.

Knows: what kind each value is of, and what it is called in a few words. Refuses to know: what values mean.

A place in the object is the list of child positions that leads to it; nothing is walked but that and the children that are asked for, so
cycles and shared containers of any depth cost nothing.
"""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from itertools import islice

from ..names import HERE, children, piece
from ..pickle.nodes import Buffer, Call, Global, Reference, shown
from ..policy import ORDER, judge
from ..report.plain import plain, printable
from ..tensor import Tensor
from ..torch.objects import Object
from .answers import BadRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .answers import Words
    from .opened import Opened

PAGE = 500  # children in one answer
TEXT = 2000  # characters of a text
DEEP = 5000  # steps of a place
OPENED = frozenset(("dict", "list", "tuple", "set", "object", "call", "reference", "tensor"))  # kinds that the page opens
NAMED = frozenset(("global", "call", "object"))  # kinds that a name of the file stands behind
KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Tensor,), "tensor"), ((bool,), "number"), ((int, float, complex), "number"), ((str,), "text"), ((bytes, bytearray), "bytes"),
    ((dict,), "dict"), ((list, deque), "list"), ((tuple,), "tuple"), ((set, frozenset), "set"), ((Namespace,), "object"),
    ((Global,), "global"), ((Call,), "call"), ((Reference, Buffer), "reference"), ((Object,), "object"),
)  # fmt: skip


def node(opened: Opened, words: Words) -> dict[str, Any]:
    """The value at ``path`` (positions with dots between them) with its children from ``start`` on."""
    said = words.text("path", "")
    steps = said.split(".") if said else []
    if len(steps) > DEEP or not all(step.isascii() and step.isdecimal() and len(step) < 12 for step in steps):
        raise BadRequest("the parameter path must be positions with dots between them")
    value: Any = opened.checkpoint.root
    names: list[str] = []
    for step in steps:
        found = next(islice(_inside(value), int(step), None), None)
        if found is None:
            raise BadRequest("nothing is at that place of the object")
        names.append(_called(found[0]))
        value = found[1]
    start, count = words.number("start", 0), words.number("count", 200, 1, PAGE)
    rows = opened.once("rows", lambda: _rows(opened))
    shown_children = []
    for at, (key, child) in enumerate(islice(_inside(value), start, start + count), start):
        shown_children.append({"key": printable(_called(key)[:TEXT]), "at": at, **_judged(key), **_said(child, rows)})
    return {
        "path": said,
        "names": [printable(name[:TEXT]) for name in names],
        **_said(value, rows),
        "start": start,
        "children": shown_children,
    }


def _rows(opened: Opened) -> dict[int, int]:
    """By id of a tensor's layout, its row."""
    return {id(tensor.layout): row for row, tensor in enumerate(opened.tensors)}


def _inside(value: Any) -> Any:
    """(key, child) of a container; what stands in place of a module's own dicts is named by its key all the same."""
    if isinstance(value, Tensor):
        return iter(value.components.items())
    if isinstance(value, Call):
        parts = {"function": value.function, "arguments": value.arguments, "keywords": value.keywords, "states": list(value.states)}
        return ((name, part) for name, part in parts.items() if part not in (None, [], ()))
    if isinstance(value, Reference):
        return iter((("id", value.pid),))
    if isinstance(value, Object):
        return ((("state" if key is HERE else key), child) for key, child in children(value) or ())
    return iter(children(value) or ())


def _called(key: Any) -> str:
    """A key as the page shows it: that which is a name of the file, such as the class of a callback, by that name alone."""
    return key.dotted if isinstance(key, Global) else piece(key)


def _judged(key: Any) -> dict[str, Any]:
    """The verdict of a key that is a name of the file."""
    if not isinstance(key, Global):
        return {}
    judged = judge(*key.imported)
    return {"key_verdict": judged.verdict, "key_why": judged.why}


def _said(value: Any, rows: dict[int, int]) -> dict[str, Any]:
    """``kind``, ``type``, ``label`` and ``count`` of a value; ``row`` of a tensor."""
    kind = "none" if value is None else next((kind for types, kind in KINDS if isinstance(value, types)), "other")
    made: dict[str, Any] = {"kind": kind, "type": printable(_type(value)), "label": _label(value, kind), "count": _count(value)}
    if kind == "tensor" and id(value.layout) in rows:
        made["row"] = rows[id(value.layout)]
    if kind in NAMED:
        judged = max((judge(*name) for name in _asked(value)), key=lambda one: ORDER.index(one.verdict))
        made |= {"verdict": judged.verdict, "why": judged.why}
    return made


def _asked(value: Any) -> list[tuple[str, str]]:
    """(module, name) of what a value is made by, and of what it is."""
    made_by = value.call if isinstance(value, Object) else value
    while isinstance(made_by, Call):
        made_by = made_by.function
    module, _, name = _type(value).rpartition(".")
    own = [] if isinstance(made_by, Global) and made_by is value else [(module, name)]
    return [made_by.imported, *own] if isinstance(made_by, Global) else own


def _type(value: Any) -> str:
    named = getattr(value, "type", None)
    return named if isinstance(named, str) else type(value).__name__


def _count(value: Any) -> int:
    try:
        return len(value) if isinstance(value, (dict, list, tuple, set, frozenset, deque)) else sum(1 for _ in _inside(value))
    except TypeError:
        return 0


def _label(value: Any, kind: str) -> Any:
    if kind == "tensor":
        return f"{value.dtype} [{','.join(map(str, value.shape))}]"
    if kind == "text":
        return printable(value if len(value) <= TEXT else value[:TEXT] + "…")
    if kind in ("number", "bytes"):
        made = plain(value if kind == "number" else bytes(value[:64]), text=TEXT)
        return made if isinstance(made, (int, float)) and abs(made) < 1 << 53 else str(made)
    if kind in ("dict", "list", "tuple", "set", "none"):
        return ""
    if kind == "global":
        return printable(value.dotted[:TEXT])
    return printable(shown(value) if kind in ("call", "reference", "other") else repr(value)[:TEXT])
