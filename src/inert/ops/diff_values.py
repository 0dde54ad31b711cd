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
from collections import deque
from itertools import chain, zip_longest
from math import isfinite

from ..errors import InertError
from ..finding import Finding
from ..layout import Storage
from ..names import ELIDED, piece, wanted
from ..pickle.nodes import Buffer, Call, Dict, Global, List, Raw, Reference, Set
from ..tensor import Tensor
from ..torch.objects import Key, Object
from .diff_elements import same_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from ..limits import Limits
    from .diff_elements import Tolerance

    Link = tuple["Link", Any, int] | None  # (link of the container, step, number of steps)
    Entry = tuple[Any, Any, Any]  # step, value in a, value in b

LISTED = 1000  # differences that are kept; all are counted
AGAIN = 100  # entries that are compared again, for each further path that Limits.paths allows
STEPS, HEAD = 64, 8  # steps of a path that are spelled; of a longer one, those at its beginning
LARGE = 64  # bytes or characters, from which on equal texts are looked up instead of compared anew
PARTS = 1000  # of a key
NAMED = 100  # levels down to which patterns of names are asked
METADATA = "_metadata"  # torch's versions of modules, an attribute of a state dict


class Missing:
    """What stands where one side has nothing."""

    def __repr__(self) -> str:
        return "<nothing>"


MISSING = Missing()


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

    def __init__(self, tolerance: Tolerance, limits: Limits, keep: Sequence[str] = (), drop: Sequence[str] = ()) -> None:
        self.tolerance = tolerance
        self.found: list[Value] = []
        self.count = 0
        self.minor: dict[str, list[str]] = {}
        self.minor_count: dict[str, int] = {}
        self.notes: list[Finding] = []
        self.kept = wanted(keep) if keep else None
        self.dropped = wanted(drop) if drop else None
        self.pairs: set[tuple[int, int]] = set()
        self.seen: set[int] = set()
        self.classes: dict[int, int] = {}  # union-find over ids of containers
        self.again = AGAIN * limits.paths
        self.skipped = 0
        self.leafless: dict[int, bool] = {}  # containers by id: whether nothing but tensors is in them
        self.texts: dict[Any, int] = {}  # large texts → a number
        self.numbers: dict[int, tuple[Any, int]] = {}  # id of a large text → it, and its number

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
        return ENTRIES[kind](self, a, b, link)

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
            said = self._unlike(a, b)
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
            self.again -= _length(a, kind) + _length(b, kind) + 1
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
            return False
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

    # -- leaves -------------------------------------------------------------------------------------------------------------

    def _unlike(self, a: Any, b: Any) -> str:
        """How two values that are no containers differ: "value", or a minor difference ("class", "bits"), or none."""
        kind = type(a)
        if kind is type(b):
            if kind in (str, bytes, bytearray, int):
                return "" if self._same(a, b) else "value"
            if kind in (bool, type(None)):
                return "" if a is b else "value"
        if isinstance(a, Storage) and isinstance(b, Storage):
            return "" if same_storage(a, b) else "value"
        if isinstance(a, Global) and isinstance(b, Global):
            return "" if a.dotted == b.dotted else "value"
        if isinstance(a, (Buffer, Raw)) and kind is type(b):
            return "" if type(b) is Buffer or same_span(a, b) else "value"
        mine, its = scalar(a), scalar(b)
        if isinstance(mine, NUMBERS) and isinstance(its, NUMBERS):
            return self._numbers(mine, its) or ("" if kind is type(b) else "class")
        for texts in (str, bytes):
            if kind is not type(b) and isinstance(a, texts) and isinstance(b, texts):
                return "class" if self._same(a, b) else "value"
        if kind is not type(b):
            return "value"
        if hasattr(a, "tobytes"):  # a NumPy scalar that Python has no number for, or an array
            one, other = ((side.dtype, getattr(side, "shape", ()), side.tobytes()) for side in (a, b))
            return "" if one == other else "value"
        if kind.__name__ == "Decimal":
            return "" if str(a) == str(b) else "value"  # signalling NaNs cannot be compared
        return "" if a == b else "value"

    def _numbers(self, a: Any, b: Any) -> str:
        if a != a and b != b:  # noqa: PLR0124
            return "" if self.tolerance.equal_nan else "value"
        if isinstance(a, complex) or isinstance(b, complex):
            if isinstance(a, complex) and isinstance(b, complex):
                return self._numbers(a.real, b.real) or self._numbers(a.imag, b.imag)
            return "" if a == b else "value"
        if a == b:
            return "bits" if isinstance(a, float) and isinstance(b, float) and not a and str(a) != str(b) else ""
        if isinstance(a, float) or isinstance(b, float):
            return "" if self._near(a, b) else "value"
        return "value"

    def _near(self, a: Any, b: Any) -> bool:
        if self.tolerance.exact or any(isinstance(side, int) and side.bit_length() > 1000 for side in (a, b)):
            return False
        return isfinite(b) and isfinite(a) and abs(a - b) <= self.tolerance.atol + self.tolerance.rtol * abs(b)

    def _same(self, a: Any, b: Any) -> bool:
        """Whether two texts, bytes or integers are equal: a large one is looked at once, however often a file refers to it."""
        if isinstance(a, int):
            return bool(a == b) if a.bit_length() <= 8 * LARGE else a.bit_length() == b.bit_length() and self._number(a) == self._number(b)
        if len(a) != len(b):
            return False
        return bool(a == b) if len(a) <= LARGE else self._number(a) == self._number(b)

    def _number(self, value: Any) -> int:
        known = self.numbers.get(id(value))
        if known is None:
            text: Any = bytes(value) if isinstance(value, bytearray) else value
            known = self.numbers[id(value)] = value, self.texts.setdefault(text, len(self.texts))
        return known[1]

    # -- the entries of containers --------------------------------------------------------------------------------------------

    def mappings(self, a: Any, b: Any, link: Link) -> Iterator[Entry]:
        mine, its = (vars(side) if isinstance(side, Namespace) else side for side in (a, b))
        if list(mine) != list(its) and mine.keys() == its.keys():
            self._minor("order", link)
        return self._keyed(mine, its, attributes(a), attributes(b))

    def _keyed(self, a: dict[Any, Any], b: dict[Any, Any], mine: dict[str, Any], its: dict[str, Any]) -> Iterator[Entry]:
        odd_a: list[Any] = []
        for key, value in a.items():
            if key in b:
                yield key, value, b[key]
            elif odd(key):
                odd_a.append(key)
            else:
                yield key, value, MISSING
        odd_b = []
        for key, value in b.items():
            if key not in a:
                if odd(key):
                    odd_b.append(key)
                else:
                    yield key, MISSING, value
        for key, other in zip_longest(odd_a, odd_b, fillvalue=MISSING):  # keys that only their own object equals, in order
            step = other if key is MISSING else key
            yield step, content(key), content(other)
            yield step, MISSING if key is MISSING else a[key], MISSING if other is MISSING else b[other]
        for name in dict.fromkeys([*mine, *its]):
            yield Attribute(name), mine.get(name, MISSING), its.get(name, MISSING)

    def sequences(self, a: Any, b: Any, link: Link) -> Iterator[Entry]:
        return _numbered(a, b)

    def sets(self, a: Any, b: Any, link: Link) -> Iterator[Entry]:
        return self._members(a, b)

    def _members(self, a: Any, b: Any) -> Iterator[Entry]:
        left, right = ([item for item in side if item not in other] for side, other in ((a, b), (b, a)))
        for item in left:
            if not odd(item):
                yield item, item, MISSING
        for item in right:
            if not odd(item):
                yield item, MISSING, item
        odds = (sorted(filter(odd, side), key=place_of) for side in (left, right))
        for number, (one, other) in enumerate(zip_longest(*odds, fillvalue=MISSING)):
            yield number, content(one), content(other)

    def objects(self, a: Any, b: Any, link: Link) -> Iterator[Entry]:
        return self._fields(a, b)

    def _fields(self, a: Object, b: Object) -> Iterator[Entry]:
        yield "<class>", a.type, b.type
        mine, its = a.fields, b.fields
        if mine or its:
            for name in dict.fromkeys([*mine, *its]):
                one, other = mine.get(name, MISSING), its.get(name, MISSING)
                elided = name in ELIDED and isinstance(one, dict) and isinstance(other, dict)
                yield None if elided else name, one, other
        else:
            yield "state", a.state, b.state
        yield "args", a.arguments, b.arguments
        yield "kwargs", a.keywords, b.keywords
        yield from _numbered(a.items, b.items)
        alone = MISSING, MISSING
        for number, (one, other) in enumerate(zip_longest(a.pairs, b.pairs, fillvalue=alone)):
            yield f"<key {number}>", one[0], other[0]
            yield other[0] if one is alone else one[0], one[1], other[1]

    def nodes(self, a: Any, b: Any, link: Link) -> Iterator[Entry]:
        return _numbered([*inside(a)], [*inside(b)])


class Attribute(str):
    """A step to an attribute of a dict or the like."""

    __slots__ = ()


def _numbered(a: Iterable[Any], b: Iterable[Any]) -> Iterator[Entry]:
    return ((number, one, other) for number, (one, other) in enumerate(zip_longest(a, b, fillvalue=MISSING)))


# -- what values are ------------------------------------------------------------------------------------------------------------

NUMBERS = (int, float, complex)
SOLE = (Key, Object, Global, Call, Tensor, Storage, Reference, Buffer, Raw, List, Dict, Set)  # equal to nothing but themselves
FAMILIES: tuple[tuple[tuple[type, ...], str], ...] = (
    ((Tensor,), "tensor"), ((dict, Namespace), "mapping"), ((set, frozenset), "set"), ((list, tuple, deque), "sequence"),
    ((Object,), "object"), ((Call, Reference, List, Dict, Set), "node"),
)  # fmt: skip
_PLAIN = frozenset((str, int, float, bool, bytes, type(None), Missing))
_BY_TYPE: dict[type, str] = {}


def kind_of(value: Any) -> str:
    """The family of a container, "tensor" for a tensor; "" for what is compared as a whole."""
    kind = type(value)
    if kind in _PLAIN:
        return ""
    known = _BY_TYPE.get(kind)
    if known is None:
        known = _BY_TYPE[kind] = next((family for kinds, family in FAMILIES if issubclass(kind, kinds)), "")
    return known


def class_of(value: Any) -> type:
    return dict if type(value).__name__ == "TensorIndex" else type(value)


ENTRIES: dict[str, Callable[[Values, Any, Any, Link], Iterator[Entry]]] = {
    "mapping": Values.mappings, "sequence": Values.sequences, "set": Values.sets, "object": Values.objects, "node": Values.nodes,
}  # fmt: skip


def lone(value: Any) -> bool:
    """Whether a value says something itself, whatever is in it: all but tensors, and containers that hold something."""
    kind = kind_of(value)
    if kind in ("mapping", "sequence", "set"):
        return not (vars(value) if isinstance(value, Namespace) else value)
    return kind != "tensor"


def inside(value: Any) -> Iterator[Any]:
    """What a container holds."""
    kind = kind_of(value)
    if kind == "mapping":
        return iter((vars(value) if isinstance(value, Namespace) else value).values())
    if kind == "object":
        state = value.fields.values() or [value.state]
        return chain(state, (value.arguments, value.keywords), value.items, chain.from_iterable(value.pairs))
    if isinstance(value, Call):
        return iter([value.function, value.arguments, value.keywords, *value.states, *(value.items or ()), *(value.flat or ())])
    if isinstance(value, Reference):
        return iter([value.pid])
    if isinstance(value, Dict):
        return iter(value.flat)
    return iter(value.items if isinstance(value, (List, Set)) else value)


def _length(value: Any, kind: str) -> int:
    """About how many entries there are to be compared."""
    if kind in ("mapping", "sequence", "set"):
        return len(vars(value) if isinstance(value, Namespace) else value)
    return len(value.fields) + len(value.items) + len(value.pairs) if kind == "object" else sum(1 for _ in inside(value))


def attributes(value: Any) -> dict[str, Any]:
    """What a dict of a class of its own keeps beside its entries."""
    return vars(value) if isinstance(value, dict) and hasattr(value, "__dict__") and type(value).__name__ != "TensorIndex" else {}


def odd(key: Any) -> bool:
    """Whether a key may be there on the other side without being found: it, or a part of it, equals nothing but itself."""
    todo = [key]
    while todo:
        item = todo.pop()
        if isinstance(item, SOLE) or item != item:  # noqa: PLR0124
            return True
        if isinstance(item, (tuple, frozenset)):
            todo += item
    return False


def content(key: Any) -> Any:
    """What a key says, where it is an inert one."""
    return key.node if type(key) is Key else key


def place_of(item: Any) -> tuple[int, int, list[str]]:
    """An order for members of a set that equal nothing but themselves: where in the pickle they stand, and what else is in them."""
    first, count, plain = 1 << 63, 0, []
    todo = [item]
    while todo and count < PARTS:
        held = todo.pop()
        count += 1
        if isinstance(held, (tuple, frozenset)):
            todo += held
        elif isinstance(held, SOLE):
            node = held.node if type(held) is Key else held.call if type(held) is Object else held
            first = min(first, getattr(node, "offset", first))
        else:
            plain.append(str(held)[:LARGE] if not isinstance(held, int) or held.bit_length() < LARGE else hex(held))
    return first, count, sorted(plain)


def scalar(value: Any) -> Any:
    """The number of a NumPy scalar, where Python has one for it; whatever else as it is."""
    if type(value).__module__ == "numpy" and not getattr(value, "shape", True) and value.dtype.kind in "biufc":
        made = value.item()
        return made if isinstance(made, NUMBERS) else value
    return value


def same_storage(a: Storage, b: Storage) -> bool:
    """Whether two storages that stand in saved objects by themselves hold the same items. Raises where one is damaged."""
    if a is b:
        return True
    if (a.nbytes, a.dtype, a.order) != (b.nbytes, b.dtype, b.order):
        return False
    if a.opener is None or b.opener is None:
        return a.opener is b.opener
    one, other = a.span(), b.span()
    return one.length == other.length and same_bytes(one, other, lambda count: None)


def same_span(a: Any, b: Any) -> bool:
    return a.span.length == b.span.length and same_bytes(a.span, b.span, lambda count: None)


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
