"""What ``inert.diff`` answers.

Knows: the difference of two checkpoints as facts, and what of it makes them different.
Refuses to know: how it was found, and how it is shown (report/diff.py).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .diff_tensors import DIFFERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..finding import Finding
    from ..tensor import Tensor
    from .diff_names import Renamed
    from .diff_rules import Rule
    from .diff_tensors import Change
    from .diff_values import Value


@dataclass(slots=True)
class Side:
    """One of the two: ``file``, ``format``, the ``tensors`` that were compared by the names under which they were, and ``part``: the path
    of its weights, where only these were."""

    file: str
    format: str
    tensors: dict[str, Tensor] = field(repr=False)
    part: str = ""


@dataclass(slots=True)
class Minor:
    """A difference that changes no value: ``what`` (order, bits, ties, strides, device, requires_grad, type, placement, class, metadata),
    what ``a`` and ``b`` have where that is one for all, and the ``names`` concerned: at least the first of ``count``."""

    what: str
    names: list[str] = field(default_factory=list)
    a: str = ""
    b: str = ""
    count: int = 0


@dataclass(slots=True)
class Difference:
    """What two checkpoints do not have in common.

    ``removed``, ``added``: names of tensors in a, in b alone · ``renamed``: tensors that have another name in b, by the user's rules, a
    regular change of names or equal content · ``changed``: tensors that differ · ``close``: those that differ within the tolerance only ·
    ``values``: other values that differ, the first of ``values_count`` · ``minor``: what differs and changes no value · ``rules``: the
    regular changes of names · ``accepted``: whether these count as no difference · ``equal``: how many pairs of tensors are equal ·
    ``notes``: what is odd about either file."""

    a: Side
    b: Side
    removed: list[str] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    close: list[Change] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    values_count: int = 0
    minor: list[Minor] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    accepted: bool = False
    equal: int = 0
    notes: list[Finding] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Whether both hold the same tensors under the same names, and the same other values."""
        return not (self.removed or self.added or self.changed or self.values_count or self.moved)

    @property
    def moved(self) -> list[Renamed]:
        """Tensors whose other name counts as a difference."""
        return [one for one in self.renamed if one.how == "content" or (one.how == "pattern" and not self.accepted)]

    @property
    def kinds(self) -> dict[str, int]:
        """In how many tensors what differs: {"values": 3, "dtype": 1}."""
        counts = Counter(word for change in self.changed for word in change.differs)
        return {word: counts[word] for word in DIFFERS if counts[word]}
