"""A Document written again: in which Style, and what of it would be lost.

Knows: which Style gives a Document's very bytes, and how to find what its value does not hold.
Refuses to know: how anything is written (encode.py).
"""

from __future__ import annotations

from ..errors import UnsupportedError
from .encode import encode, parts_of
from .kinds import SMALL
from .nodes import Global, Node
from .row import Row
from .style import candidates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .decode import Document
    from .style import Style


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
        if type(node) in SMALL or id(node) in seen:
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
