"""``inert view --export``: the answers that the page will ask for, gathered ahead.

Knows: which addresses the page's scripts ask for, and how many of each a page of a bearable size holds.
Refuses to know: what answers mean, and how they lie in the page (bundle.py).

Values of tensors (statistics, pictures, tables) are in the page only where they are asked for.
"""

from __future__ import annotations

from collections import deque
from urllib.parse import urlencode

from ..errors import InertError
from ..report.plain import printable
from . import compare, objects, overview, records, tensors, work
from .answers import Words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from .opened import Opened

TENSORS = 2000  # tensors whose own pages are there
VALUES = 200  # tensors whose values are there
BYTES = 1 << 30  # of tensors that are read for statistics, in all
PICKLES = 20  # pickles whose first opcodes are there
NODES = 2000  # containers of the saved object
CHILDREN = 200  # as object.js asks for
OPCODES = 400  # as hex.js asks for
SIDE = 384  # as tensor.js asks for
ROWS, COLUMNS = 32, 16  # as tensor.js asks for


def address(path: str, words: dict[str, Any]) -> str:
    """As the page's data.js spells it."""
    said = urlencode(words, safe="*").replace("~", "%7E")
    return f"api/{path}?{said}" if said else f"api/{path}"


def gather(opened: Sequence[Opened], values: bool = False, done: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Answers by address; what has none has the error that says why. ``done`` is told of bytes of tensors that were read."""
    made: dict[str, Any] = {"api/files": overview.listing(opened)}
    for one in opened:
        made.update(_of_file(one, values, done or (lambda more: None)))
    if len(opened) > 1 and not any(one.refusal for one in opened[:2]):
        made[address("compare", {"a": 0, "b": 1})] = _answer(lambda: _last(compare.compare(opened[0], opened[1], Words({}))))
    return made


def _ask(one: Opened, question: str, function: Callable[[Opened, Words], Any], words: dict[str, Any] | None = None) -> tuple[str, Any]:
    """(address, answer) of a question about a file."""
    said = words or {}
    given = Words({name: str(value) for name, value in said.items()})
    return address(f"{one.index}/{question}", said), _answer(lambda: function(one, given))


def _answer(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except InertError as error:
        return {"error": printable(str(error)), "code": type(error).__name__}


def _last(steps: Iterator[Any]) -> Any:
    return deque(steps, maxlen=1).pop()


def _of_file(one: Opened, values: bool, done: Callable[[int], None]) -> Iterator[tuple[str, Any]]:
    yield _ask(one, "scan", overview.scan)
    where, listed = _ask(one, "parts", records.parts)
    yield where, listed
    for part in [part for part in listed.get("parts", ()) if part["role"] == "pickle"][:PICKLES]:
        yield _ask(one, "pickle", records.pickle, {"part": part["name"], "start": 0, "count": OPCODES})
    if one.refusal is None:
        yield _ask(one, "overview", overview.overview)
        yield _ask(one, "tensors", tensors.columns)
        yield from _tensors(one, values, done)
        yield from _object(one)


def _tensors(one: Opened, values: bool, done: Callable[[int], None]) -> Iterator[tuple[str, Any]]:
    left = BYTES
    for row, found in enumerate(one.tensors[:TENSORS]):
        where, about = _ask(one, "tensor", tensors.tensor, {"row": row})
        yield where, about
        if not values or row >= VALUES or not about.get("numeric"):
            continue
        size = max(found.nbytes, 0)
        if size <= left:
            left -= size
            yield _ask(one, "stats", lambda one, words: _last(work.statistics(one, words)), {"row": row})
            done(size)
        yield from _plane(one, row, list(found.shape))


def _plane(one: Opened, row: int, shape: list[int]) -> Iterator[tuple[str, Any]]:
    """The picture and the corner that the tensor's page shows at first."""
    rank = len(shape)
    axes = ",".join(map(str, range(max(0, rank - 2), rank)))
    rows, columns = ([1, 1, *shape])[-2:]
    words = {"row": row, "axes": axes, "at": ",".join("0" * rank)}
    yield _ask(one, "image", tensors.image, {**words, "max": SIDE})
    corner = {"rows": f"0:{min(rows, ROWS)}", "cols": f"0:{min(columns, COLUMNS)}"}
    yield _ask(one, "values", tensors.values, {**words, **corner})


def _object(one: Opened) -> Iterator[tuple[str, Any]]:
    """The saved object from its root on, the nearest containers first, NODES of them."""
    todo, at = [""], 0
    while at < len(todo):
        path = todo[at]
        at += 1
        where, node = _ask(one, "object", objects.node, {"path": path, "count": CHILDREN})
        yield where, node
        inside = [child["at"] for child in node.get("children", ()) if child["count"] and child["kind"] in objects.OPENED]
        todo += [f"{path}.{step}".lstrip(".") for step in inside[: max(NODES - len(todo), 0)]]
