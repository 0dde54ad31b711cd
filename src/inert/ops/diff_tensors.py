"""Two tensors of one name: what differs between them.

Knows: which of their facts make them other tensors (element type, shape, kind, quantisation, values, damage) and which do not (strides,
device, requires_grad, class); how tensors made of components are compared; what need not be read to know that two are equal.
Refuses to know: how names were matched, and the arithmetic (diff_elements.py).
"""

from __future__ import annotations

from math import prod

from ..errors import FormatError, InertError, UnsupportedError
from ..layout import REFUSED
from .diff_elements import both, compare, extent_of, in_order, same_bytes, value_shape
from .diff_figures import Figures
from .views import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..layout import Layout
    from ..tensor import Tensor
    from .diff_figures import Tolerance

PLAIN = frozenset(("dense", "tiled", "numpy"))  # how a tensor came about, not what it is
LEVELS = 32  # components in components
GAPS = 2  # times as many bytes as elements, up to which strided tensors are first compared as they lie
# what makes a tensor another one, in the order in which it is told
DIFFERS = ("damaged", "kind", "dtype", "shape", "quantization", "values", "unread")


class Change:
    """What differs between two tensors. ``differs``: words of DIFFERS, none where they only differ within the tolerance · ``name``,
    ``other``: their names in a and b · ``a``, ``b``: the tensors · ``figures``: of their elements, where these were compared ·
    ``component``: where ``figures.first`` lies, of a tensor made of others · ``why``: what is damaged, or why they were not compared."""

    __slots__ = ("a", "b", "component", "differs", "figures", "name", "other", "why")

    def __init__(self, name: str, other: str, a: Tensor, b: Tensor) -> None:
        self.name = name
        self.other = other
        self.a = a
        self.b = b
        self.differs: tuple[str, ...] = ()
        self.figures: Figures | None = None
        self.component = ""
        self.why = ""

    def index(self, at: int) -> tuple[int, ...] | None:
        """A position among the elements as an index of a, of the component that it lies in where there is one; None for none."""
        if at < 0 or self.component:
            return None
        steps = []
        for size in reversed(value_shape(self.a.dtype, self.a.shape)):
            at, step = divmod(at, size)
            steps.append(step)
        return tuple(reversed(steps))

    def __repr__(self) -> str:
        return f"<Change {self.name!r}: {', '.join(self.differs)}>"


class Outcome:
    """What comparing elements has led to: the figures, the component in which the first difference lies, why there are none."""

    __slots__ = ("component", "damaged", "figures", "why")

    def __init__(self) -> None:
        self.figures: Figures | None = None
        self.component = ""
        self.damaged = False
        self.why = ""


class Comparer:
    """Compares pairs of tensors; what two pairs share is compared once."""

    def __init__(self, tolerance: Tolerance, ignore_dtype: bool, done: Callable[[int], None]) -> None:
        self.tolerance = tolerance
        self.ignore_dtype = ignore_dtype
        self.done = done
        self.known: dict[Any, tuple[Outcome, Layout, Layout]] = {}  # the layouts keep what the key's ids are of

    def __call__(self, name: str, other: str, a: Tensor, b: Tensor) -> Change | None:
        """How they differ; None where they do not, be it in bits alone."""
        made = Change(name, other, a, b)
        found = list(self._facts(a, b))
        outcome = self._outcome(a, b)
        word, why = self._scales(a.layout, b.layout)
        found += [word] if word else []
        made.figures, made.component, made.why = outcome.figures, outcome.component, outcome.why or why
        if outcome.damaged:
            found.append("damaged")
        elif outcome.why:
            found.append("unread")
        elif outcome.figures is not None and outcome.figures.different:
            found.append("values")
        made.differs = tuple(word for word in DIFFERS if word in found)
        figures = outcome.figures
        return made if made.differs or (figures is not None and (figures.within or figures.bits)) else None

    def unlike(self, a: Tensor, b: Tensor) -> bool:
        """Whether two tensors differ, beyond the tolerance."""
        found = self("", "", a, b)
        return found is not None and bool(found.differs)

    def _facts(self, a: Tensor, b: Tensor) -> Any:
        one, other = a.layout, b.layout
        if family(one) != family(other):
            yield "kind"
        if one.dtype.canonical != other.dtype.canonical and not self.ignore_dtype:
            yield "dtype"
        if value_shape(one.dtype, one.shape) != value_shape(other.dtype, other.shape):
            yield "shape"

    def _scales(self, one: Layout, other: Layout) -> tuple[str, str]:
        """What differs in how integers are meant ("quantization", or "damaged" with the reason), "" where nothing does."""
        mine, its = one.quantization or {}, other.quantization or {}
        if not mine or not its:
            return "", ""
        alike = mine.keys() == its.keys() and all(held == its[key] or repr(held) == repr(its[key]) for key, held in mine.items())
        for role, part in one.components.items() if alike else ():
            there = other.components.get(role)
            found = self._outcome(part, there) if there is not None else None
            if found is not None and found.why:
                return "damaged" if found.damaged else "unread", f"{role}: {found.why}"
            alike = alike and found is not None and _equal(found)
        return "" if alike else "quantization", ""

    def _outcome(self, a: Tensor, b: Tensor, level: int = 0) -> Outcome:
        key = place(a.layout), place(b.layout)
        if key in self.known:
            return self.known[key][0]
        made = Outcome()
        self.known[key] = made, a.layout, b.layout
        try:
            faults = [(side, tensor.layout.fault) for side, tensor in (("a", a), ("b", b)) if tensor.layout.fault]
            if faults:
                made.damaged, made.why = True, "; ".join(f"damaged in {side}: {fault}" for side, fault in faults)
            else:
                self._fill(made, a, b, level)
        except FormatError as error:
            made.damaged, made.why = True, str(error)
        except InertError as error:
            made.why = f"not compared: {error.message}"
        return made

    def _fill(self, made: Outcome, a: Tensor, b: Tensor, level: int) -> None:
        one, other = a.layout, b.layout
        kinds = {one.kind, other.kind}
        if kinds == {"strings"}:
            made.figures = _strings(a, b)
        elif self._untold(one, other) or kinds == {"meta"}:
            made.figures = Figures()
        elif kinds & REFUSED.keys() and any(map(_refused, (one, other))):
            self._parts(made, a, b, level)
        elif family(one) == family(other) and one.kind.startswith("sparse") and self._same_parts(a, b, level):
            made.figures = Figures()
        elif "strings" in kinds:
            raise UnsupportedError(f"{one.dtype} and {other.dtype} elements")
        elif prod(value_shape(one.dtype, one.shape)) == prod(value_shape(other.dtype, other.shape)):
            self._elements(made, a, b)

    def _elements(self, made: Outcome, a: Tensor, b: Tensor) -> None:
        """Tensors with elements, equally many on both sides."""
        if self._same_run(a, b):
            made.figures = Figures()
            made.figures.count = prod(value_shape(a.dtype, a.shape))
            return
        made.figures = compare(*both(a, b), self.tolerance, self.done)

    def _untold(self, one: Layout, other: Layout) -> bool:
        """Whether they are the very same elements, so that nothing need be read."""
        same = one is other or (one.storage is not None and place(one) == place(other))
        return same and one.kind != "strings" and (self.tolerance.equal_nan or one.dtype.kind not in "fcoxs")

    def _same_run(self, a: Tensor, b: Tensor) -> bool:
        """Whether elements in an order of their own (transposed, repeated) lie alike on both sides, in equal bytes."""
        one, other = a.layout, b.layout
        alike = (one.dtype, one.shape, one.strides, one.conj, one.neg) == (other.dtype, other.shape, other.strides, other.conj, other.neg)
        if not alike or one.kind.startswith("sparse") or not (self.tolerance.equal_nan or one.dtype.kind not in "fc"):
            return False
        if one.storage is None or other.storage is None or one.storage.order != other.storage.order:
            return False
        if in_order(one):
            return False  # compared as it is read anyway
        left, right = extent_of(a), extent_of(b)
        if left is None or right is None or left.length > GAPS * a.nbytes:
            return False
        return same_bytes(left, right, self.done)

    # -- tensors made of others -------------------------------------------------------------------------------------------------

    def _parts(self, made: Outcome, a: Tensor, b: Tensor, level: int) -> None:
        """Tensors that are no single array: compared by their components."""
        one, other = a.layout, b.layout
        if one.kind == other.kind == "opaque" and one.storage is not None and other.storage is not None:
            made.figures = _spans(one, other, self.done)
            return
        if family(one) != family(other):
            return  # said as such
        if one.kind == other.kind == "wrapper" and not one.components and not other.components:
            made.figures = Figures()  # this process holds nothing of it, on either side
            return
        if not one.components and not other.components:
            raise UnsupportedError(REFUSED[one.kind if one.kind in REFUSED else other.kind])
        if level >= LEVELS:
            raise UnsupportedError(f"tensors in tensors, more than {LEVELS} levels deep")
        if one.components.keys() != other.components.keys() or one.boxes != other.boxes:
            raise UnsupportedError(f"they are made of other components ({_roles(one)} and {_roles(other)})")
        total = Figures()
        for role, part in one.components.items():
            there = other.components[role]
            if value_shape(part.dtype, part.shape) != value_shape(there.dtype, there.shape):
                raise UnsupportedError(f"their components {role} have the shapes {list(part.shape)} and {list(there.shape)}")
            if part.dtype.canonical != there.dtype.canonical and not self.ignore_dtype:
                raise UnsupportedError(f"their components {role} are {part.dtype} and {there.dtype}")
            found = self._outcome(part, there, level + 1)
            if found.why:
                made.why, made.damaged, made.component = f"{role}: {found.why}", found.damaged, role
                return
            if found.figures is not None:
                if found.figures.different and not total.different:
                    made.component = role
                total.add(found.figures)
        made.figures = total

    def _same_parts(self, a: Tensor, b: Tensor, level: int) -> bool:
        """Whether sparse tensors have the same components; where not, their dense arrays may be equal all the same."""
        one, other = a.layout, b.layout
        if one.shape != other.shape or one.components.keys() != other.components.keys() or level >= LEVELS:
            return False
        pairs = [(part, other.components[role]) for role, part in one.components.items()]
        return all(part.shape == there.shape and _equal(self._outcome(part, there, level + 1)) for part, there in pairs)


def family(layout: Layout) -> str:
    """The kind, where it says what a tensor is."""
    return "dense" if layout.kind in PLAIN or (layout.kind == "wrapper" and layout.storage is not None) else layout.kind


def _refused(layout: Layout) -> bool:
    return layout.kind in REFUSED and not (layout.kind == "wrapper" and layout.storage is not None)


def _equal(outcome: Outcome) -> bool:
    """Whether elements were compared, and none differs at all."""
    figures = outcome.figures
    return figures is not None and not outcome.why and not (figures.different or figures.within)


def _roles(layout: Layout) -> str:
    names = list(layout.components)
    return ", ".join(names[:4]) + (f" … {len(names):,} in all" if len(names) > 4 else "") if names else "none"


def _strings(a: Tensor, b: Tensor) -> Figures:
    """Elements that are strings of bytes: a reader has all of a tensor's at once."""
    found = Figures()
    one, other = a.numpy().reshape(-1).tolist(), b.numpy().reshape(-1).tolist()
    found.count = min(len(one), len(other))
    for at, (x, y) in enumerate(zip(one, other, strict=False)):
        if x != y:
            if found.first < 0:
                found.first, found.firsts = at, (x, y)
            found.different += 1
    return found


def _spans(one: Layout, other: Layout, done: Callable[[int], None]) -> Figures:
    """Elements that only TensorFlow knows: their bytes."""
    assert one.storage is not None
    assert other.storage is not None
    left, right = one.storage.span(), other.storage.span()
    found = Figures()
    found.count = prod(one.shape)
    if left.length != right.length or not same_bytes(left, right, done):
        found.different = 1  # which of them cannot be told
    return found
