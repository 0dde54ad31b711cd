"""What a notebook shows of a Checkpoint and of a Tensor: ``_repr_html_``.

Knows: how facts become a small table of HTML with no script, no style sheet and no picture, in the notebook's own colours.
Refuses to know: formats. Every text of a file is escaped, and cut where it is long; what cannot be read is said, never raised.
"""

from __future__ import annotations

from html import escape

from .errors import InertError, one_line
from .words import counted, shape, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .tensor import Tensor

ROWS = 20  # tensors of a checkpoint that are listed
TEXT = 160  # characters of a name
CORNER = 6  # rows and columns of a tensor that are shown
READ = 1 << 20  # elements of a tensor that is read for that, at most
CELL = 'style="text-align:left"'


def shown(text: Any, limit: int = TEXT) -> str:
    """A text as HTML that is nothing but this text."""
    return escape(one_line(str(text), limit))


def rows(head: Iterable[str], lines: Iterable[Iterable[Any]]) -> str:
    titles = "".join(f"<th {CELL}>{shown(title)}</th>" for title in head)
    body = "".join(f"<tr>{''.join(f'<td {CELL}>{shown(cell)}</td>' for cell in line)}</tr>" for line in lines)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def checkpoint_html(name: str, kind: str, tensors: Iterable[Tensor], notes: Iterable[Any]) -> str:
    """A checkpoint: what it is, its first tensors, its notes."""
    listed = list(tensors)
    total = sum(tensor.nbytes for tensor in listed)
    made = [f"<p><b>{shown(name, 300)}</b> · {shown(kind)} · {counted(len(listed), 'tensor')} · {size(total)}</p>"]
    lines = [
        (one.name or "(the object itself)", one.dtype, shape(one.shape), size(one.nbytes), one.fault or _kind(one)) for one in listed[:ROWS]
    ]
    if lines:
        made.append(rows(("name", "type", "shape", "size", ""), lines))
    if len(listed) > ROWS:
        made.append(f"<p>… and {len(listed) - ROWS:,} more</p>")
    found = list(notes)
    made += [f"<p>{shown(note.severity)}: {shown(note.message, 400)}</p>" for note in found[:5]]
    if len(found) > 5:
        made.append(f"<p>… and {len(found) - 5:,} more notes</p>")
    return "".join(made)


def tensor_html(tensor: Tensor) -> str:
    """A tensor: what it is, and the corner of its values where these are numbers that cost little to read."""
    facts = f"{tensor.dtype} {shape(tensor.shape)}{_kind(tensor) and ' ' + _kind(tensor)} · {size(tensor.nbytes)}"
    head = f"<p><b>{shown(tensor.name or '(the object itself)', 300)}</b> · {shown(facts, 300)}</p>"
    if tensor.fault:
        return f"{head}<p>damaged: {shown(tensor.fault, 400)}</p>"
    try:
        return head + _values(tensor)
    except InertError as error:
        return f"{head}<p>{shown(error, 400)}</p>"


def _values(tensor: Tensor) -> str:
    sizes = tensor.shape
    if tensor.kind in ("opaque", "meta") or not all(sizes):
        return ""
    elements = 1
    for length in sizes:
        elements *= length
    if elements > READ and tensor.kind != "dense":  # a dense one is mapped: nothing but the corner is read
        return "<p>its values: <code>.numpy()</code></p>"
    array = tensor.numpy()
    while array.ndim > 2:
        array = array[0]
    plane = array.reshape(1, -1) if array.ndim < 2 else array
    corner = plane[:CORNER, :CORNER]
    cut = array.shape != corner.shape or len(sizes) > 2
    lines = "".join(f"<tr>{''.join(f'<td {CELL}>{shown(value, 40)}</td>' for value in line)}</tr>" for line in corner)
    where = f"<p>of {'the first plane of ' if len(sizes) > 2 else ''}{shown(shape(sizes))}</p>" if cut and corner.size < elements else ""
    return f"<table><tbody>{lines}</tbody></table>{where}"


def _kind(tensor: Tensor) -> str:
    return "" if tensor.kind == "dense" else tensor.kind
