"""The page's answers about two files: what differs, and how the elements of one tensor differ.

Knows: that a comparison is worked out once, in steps, and that a change is found again by its name.
Refuses to know: how anything is compared.
"""

from __future__ import annotations

import json

from ..ops.diff import diff
from ..ops.diff_histogram import difference_histogram
from ..report.diff import told
from ..report.plain import printable
from .answers import BadRequest
from .exact import exact
from .work import steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..ops.diff_result import Difference
    from .answers import Words
    from .opened import Opened

Step = dict[str, "Any"]
TEXT = 1000  # characters of a value


def compare(a: Opened, b: Opened, words: Words) -> Iterator[Step]:
    """What ``inert diff --json`` says of the two, other values as texts; a regular change of names is compared through."""
    held = _held(a, b)
    if "told" not in held:
        first, second = a.checkpoint, b.checkpoint

        def work(count: Callable[[int], None]) -> Step:
            made = diff(first, second, auto_rename=True, progress=count)
            return {"made": made, "told": _readable(told(made))}

        for step in steps(work, _bytes(a) + _bytes(b)):
            if "told" not in step:
                yield step
            else:
                held.update(step)
    yield held["told"]


def _readable(found: Step) -> Step:
    """What was found as a browser can hold it: other values as the JSON that they are, cut where it is long."""
    spelled = [{key: _spelled(one[key]) if key in ("a", "b") else one[key] for key in one} for one in found["values"]]
    summary = [sentence.replace("; --only ", "; inert diff --only ") for sentence in found["summary"]]  # an option that the page lacks
    return {**exact({key: value for key, value in found.items() if key != "values"}), "values": spelled, "summary": summary}


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))[:TEXT]


def tensor(a: Opened, b: Opened, words: Words) -> Iterator[Step]:
    """``histogram``: edges and counts of B - A over the elements of the tensor ``name``; how many are ``equal``, ``nan``, ``infinite``."""
    made: Difference | None = _held(a, b).get("made")
    if made is None:
        raise BadRequest("the two were not compared yet")
    name = words.text("name")
    change = next((one for one in [*made.changed, *made.close] if printable(one.name) == name), None)
    if change is None:
        raise BadRequest("no tensor of this name has changed")

    def work(count: Callable[[int], None]) -> Step:
        before = 0

        def watch(read: int, total: int) -> bool:
            nonlocal before
            count(read - before)
            before = read
            return True

        found = difference_histogram(change.a, change.b, step=watch)
        histogram = {"edges": found.edges, "counts": found.counts} if found.counts else None
        return {"histogram": histogram, "equal": found.equal, "nan": found.nan, "infinite": found.infinite, "count": found.count}

    yield from steps(work, 2 * (max(change.a.nbytes, 0) + max(change.b.nbytes, 0)))


def _held(a: Opened, b: Opened) -> dict[str, Any]:
    """What is known of the comparison with ``b``, as ``a`` keeps it."""
    held: dict[str, Any] = a.once(("compared", b.index), dict)
    return held


def _bytes(opened: Opened) -> int:
    return sum(max(tensor.nbytes, 0) for tensor in opened.tensors)
