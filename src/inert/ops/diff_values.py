"""Everything in two saved objects that is no tensor: numbers, texts, containers, objects of unknown classes.

Knows: how two graphs of values are walked side by side, and which differences make them other values: another number or text, an entry that
one side lacks. Another class of the same content (a tuple for a list), another order of keys and another spelling of a number's bits are
minor. Refuses to know: tensors, whose elements are compared by name (diff_tensors.py); and recursion. Cycles and 200,000 levels are walked
like any others. A pair of containers is compared once, however many paths lead to it, and its differences are counted under the first.

Cost: in proportion to both graphs. Where containers are shared crosswise, so that there are far more pairs than containers, those that must
be equal if all others are (union-find) are left out, and a note says so.
"""

from __future__ import annotations

from argparse import Namespace

from ..errors import InertError
from ..finding import Finding
from ..names import piece
from ..tensor import Tensor
from .diff_entries import ENTRIES, Attribute, reordered
from .diff_kinds import MISSING, class_of, inside, kind_of, length, lone
from .diff_leaves import Leaves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..limits import Limits
    from .diff_entries import Entry
    from .diff_figures import Tolerance
    from .select import Patterns

    Link = tuple["Link", Any, int] | None  # (link of the container, step, number of steps)

LISTED = 1000  # differences that are kept; all are counted
AGAIN = 100  # entries that are compared again, for each further path that Limits.paths allows
STEPS = 64  # steps of a path that are spelled: the last ones
NAMED = 100  # levels down to which patterns of names are asked
METADATA = "_metadata"  # torch's versions of modules, an attribute of a state dict


class Value:
    """A difference: ``path`` to it, the values there (MISSING for none); ``what`` it is: changed, added or removed."""

    __slots__ = ("a", "b", "path")

    def __init__(self, path: str, a: Any, b: Any) -> None:
        self.path = path
        self.a = a
        self.b = b

    @property
    def what(self) -> str:
        return "added" if self.a is MISSING else "removed" if self.b is MISSING else "changed"

    def __repr__(self) -> str:
        return f"<Value {self.path!r} {self.what}>"


class _Frame:
    __slots__ = ("entries", "link", "minor", "name", "whole")

    def __init__(self, entries: Iterator[Entry], link: Link, minor: bool, name: str | None, whole: bool) -> None:
        self.entries = entries
        self.link = link
        self.minor = minor  # whatever differs in here is minor
        self.name = name  # "" of the root; None where patterns are not asked
        self.whole = whole  # whether all in here is kept


class Values:
    """One walk. ``found``: the first differences, ``count`` of all · ``minor``: kind of minor difference → paths (the first), and
    ``minor_count`` · ``notes``: what was left out."""

    def __init__(self, tolerance: Tolerance, limits: Limits, kept: Patterns | None = None, dropped: Patterns | None = None) -> None:
        self.tolerance = tolerance
        self.found: list[Value] = []
        self.count = 0
        self.minor: dict[str, list[str]] = {}
        self.minor_count: dict[str, int] = {}
        self.notes: list[Finding] = []
        self.kept = kept if kept is not None and kept.given else None
        self.dropped = dropped if dropped is not None and dropped.given else None
        self.pairs: set[tuple[int, int]] = set()
        self.seen: set[int] = set()
        self.classes: dict[int, int] = {}  # union-find over ids of containers
        self.again = AGAIN * limits.paths
        self.skipped = 0
        self.leafless: dict[int, bool] = {}  # containers by id: whether nothing but tensors is in them
        self.leaves = Leaves(tolerance)
        self.tensors: list[Tensor] = []
        self.named: set[int] = set()  # ids of tensors that are told by name
        self.looked = False  # for components of these
        self.unlike: Callable[[Tensor, Tensor], bool] | None = None

    def beside(self, tensors: Iterable[Tensor], unlike: Callable[[Tensor, Tensor], bool]) -> None:
        """``tensors``: those that are compared by name · ``unlike``: whether two others differ."""
        self.tensors, self.unlike = [*tensors], unlike
        self.named = {id(tensor) for tensor in self.tensors}

    def run(self, a: Any, b: Any, name: str = "") -> None:
        """Compare two values, which stand at the path ``name`` (a root: "")."""
        patterns = self.kept is not None or self.dropped is not None
        stack = [_Frame(iter([(None, a, b)]), None, False, "" if patterns else None, self.kept is None)]
        start: Link = (None, name, 1) if name else None
        first = True
        while stack:
            frame = stack[-1]
            entry = next(frame.entries, None)
            if entry is None:
                stack.pop()
                continue
            step, one, other = entry
            link = start if first else frame.link if step is None else (frame.link, step, frame.link[2] + 1 if frame.link else 1)
            label, whole = frame.name, frame.whole
            if label is not None and not first and step is not None:
                label, whole, out = self._asked(label, step, whole)
                if out:
                    continue
            first = False
            minor = frame.minor or (type(step) is Attribute and step == METADATA)
            entries = self._compare(one, other, link, minor, whole)
            if entries is not None:
                stack.append(_Frame(entries, link, minor, label, whole))
        if self.skipped:
            text = f"{self.skipped:,} pairs of containers that are shared crosswise were not compared each with each"
            self.notes.append(Finding("paths-limit", text, "root"))

    def _asked(self, label: str, step: Any, whole: bool) -> tuple[str | None, bool, bool]:
        """The name of an entry (None: too deep for patterns), whether it is kept with all in it, and whether it is left out."""
        name = f"{label}.{piece(step)}" if label else piece(step)
        if self.dropped is not None and self.dropped(name):
            return name, whole, True
        whole = whole or (self.kept is not None and self.kept(name))
        deep = name.count(".") > NAMED or len(name) > 100 * NAMED
        return (None if deep else name), whole, deep and not whole

    # -- one pair -----------------------------------------------------------------------------------------------------------

    def _compare(self, a: Any, b: Any, link: Link, minor: bool, whole: bool) -> Iterator[Entry] | None:
        """Note how two values differ; the entries that are still to be compared, where both are containers of one family."""
        if a is b and (self.tolerance.equal_nan or type(a) in (str, int, bytes, type(None), bool)):
            return None
        kind, other = kind_of(a), kind_of(b)
        if kind == other == "tensor":
            self._unlisted(a, b, link, minor, whole)
            mine, its = (MISSING if side.layout.attributes is None else side.layout.attributes for side in (a, b))
            return iter([("attributes", mine, its)]) if mine is not its else None
        if kind != other:
            if whole and any(self._tells(side) for side in (a, b)):
                self._note(a, b, link, minor)
            elif not whole and (a is MISSING or b is MISSING):
                return self._one_sided(a, b)
            return None
        if kind == "":
            if whole:
                self._leaves(a, b, link, minor)
            return None
        if not self._first(a, b, kind):
            return None
        if whole and class_of(a) != class_of(b) and kind not in ("object", "call"):
            self._minor("class", link)
        if kind == "mapping" and reordered(a, b):
            self._minor("order", link)
        return ENTRIES[kind](a, b)

    def _unlisted(self, a: Any, b: Any, link: Link, minor: bool, whole: bool) -> None:
        """Tensors without a name, such as those in the attributes of another, are values like any others."""
        if whole and self.unlike is not None and not (self._named(a) and self._named(b)) and self.unlike(a, b):
            self._note(a, b, link, minor)

    def _named(self, tensor: Any) -> bool:
        """Whether a tensor is told by name, or as a component of one that is."""
        if id(tensor) in self.named:
            return True
        if not self.looked:
            self.looked = True
            for one in self.tensors:
                parts = [*one.layout.components.values()]
                while parts:
                    part = parts.pop()
                    if id(part) not in self.named:
                        self.named.add(id(part))
                        parts += part.layout.components.values()
        return id(tensor) in self.named

    def _one_sided(self, a: Any, b: Any) -> Iterator[Entry] | None:
        """What is in a container that has no partner, where patterns keep some of it."""
        held = b if a is MISSING else a
        kind = kind_of(held)
        if kind not in ("mapping", "sequence") or id(held) in self.seen:
            return None
        self.seen.add(id(held))
        entries = enumerate(held) if kind == "sequence" else (vars(held) if isinstance(held, Namespace) else held).items()
        return ((key, MISSING, item) if a is MISSING else (key, item, MISSING) for key, item in entries)

    def _leaves(self, a: Any, b: Any, link: Link, minor: bool) -> None:
        try:
            said = self.leaves(a, b)
        except InertError as error:  # a storage that cannot be read
            self.notes.append(Finding("tensor-damaged", error.message, spelled(link)))
            said = "value"
        if said == "value":
            self._note(a, b, link, minor)
        elif said:
            self._minor(said, link)

    def _note(self, a: Any, b: Any, link: Link, minor: bool) -> None:
        if minor:
            self._minor("metadata", link)
            return
        self.count += 1
        if len(self.found) < LISTED:
            self.found.append(Value(spelled(link), a, b))

    def _minor(self, kind: str, link: Link) -> None:
        self.minor_count[kind] = self.minor_count.get(kind, 0) + 1
        paths = self.minor.setdefault(kind, [])
        if len(paths) < LISTED:
            paths.append(spelled(link))

    def _first(self, a: Any, b: Any, kind: str) -> bool:
        """Whether a pair of containers is to be compared now."""
        pair = (id(a), id(b))
        if pair in self.pairs:
            return False
        self.pairs.add(pair)
        known = id(a) in self.seen and id(b) in self.seen
        self.seen.update(pair)
        one, other = self._class(id(a)), self._class(id(b))
        if one != other:
            self.classes[one] = other
        elif known and id(a) != id(b):
            self.again -= length(a, kind) + length(b, kind) + 1
            if self.again < 0:
                self.skipped += 1
                return False
        return True

    def _class(self, number: int) -> int:
        classes = self.classes
        while (above := classes.get(number, number)) != number:
            classes[number] = classes.get(above, above)
            number = above
        return number

    def _tells(self, value: Any) -> bool:
        """Whether a value that has no partner is to be told: not where there are only tensors in it, which are told by name."""
        if value is MISSING or isinstance(value, Tensor):
            return value is not MISSING and self.unlike is not None and not self._named(value)
        if lone(value):
            return True
        if id(value) not in self.leafless:
            self._look(value)
        return not self.leafless[id(value)]

    def _look(self, value: Any) -> None:
        """Find out whether a container holds nothing but tensors; each is looked through once."""
        self.leafless[id(value)] = True
        path = [(value, inside(value))]
        while path:
            for item in path[-1][1]:
                if isinstance(item, Tensor):
                    continue
                if lone(item) or not self.leafless.get(id(item), True):
                    for container, _ in path:
                        self.leafless[id(container)] = False
                    return
                if id(item) not in self.leafless:
                    self.leafless[id(item)] = True
                    path.append((item, inside(item)))
                    break
            else:
                path.pop()


def spelled(link: Link) -> str:
    """A path, as names of tensors are spelled; of a very long one its end."""
    steps: list[str] = []
    total = link[2] if link else 0
    while link is not None and len(steps) < STEPS:
        link, step, _ = link
        steps.append(piece(step))
    if total > len(steps):
        steps.append(f"… {total - len(steps):,} steps")
    return ".".join(reversed(steps))
