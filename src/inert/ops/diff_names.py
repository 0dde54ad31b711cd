"""Which tensor of one checkpoint is which of another.

Knows: how names are matched as they are, after the user's own rules, after a regular change (diff_rules.py), and by equal content under
another name.
Refuses to know: what the tensors hold, but for the hash of those that have no partner by name.
"""

from __future__ import annotations

import re
from math import prod

from ..errors import InertError, UnsupportedError
from .diff_rules import regular, told_shape
from .diff_tensors import family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..tensor import Tensor
    from .diff_rules import Rule

FEW = 16  # bytes: the content of smaller tensors says nothing


class Renamed:
    """One tensor under two names; ``how``: rule (the user's), pattern (a regular change) or content."""

    __slots__ = ("a", "b", "how")

    def __init__(self, a: str, b: str, how: str) -> None:
        self.a = a
        self.b = b
        self.how = how

    def __repr__(self) -> str:
        return f"<Renamed {self.a!r} {self.b!r} by {self.how}>"


class Pairing:
    """``pairs``: (name in a, name in b) in a's order · ``removed``, ``added``: names in a, in b alone · ``renamed`` · ``rules``: the
    regular changes that were seen."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, str]] = []
        self.removed: list[str] = []
        self.added: list[str] = []
        self.renamed: list[Renamed] = []
        self.rules: list[Rule] = []


def pair(a: Mapping[str, Tensor], b: Mapping[str, Tensor], rules: Iterable[tuple[str, str]], done: Callable[[int], None]) -> Pairing:
    """The partners of all tensors. ``rules``: the user's, for the names of both. UnsupportedError where they give two one name."""
    made = Pairing()
    compiled = [(_compiled(pattern), text) for pattern, text in rules]
    names_a, names_b = (_canonical(side, compiled, which) for side, which in ((a, "A"), (b, "B")))
    partner: dict[str, str] = {}
    for name, own in names_a.items():
        there = names_b.get(name)
        if there is not None:
            partner[own] = there
            if own != there:
                made.renamed.append(Renamed(own, there, "rule"))
    taken = set(partner.values())
    left = {name: a[name] for name in a if name not in partner}
    right = {name: b[name] for name in b if name not in taken}
    if left and right:
        for one, other, how in (*regular(left, right, made.rules), *_alike(left, right, done)):
            partner[one] = other
            made.renamed.append(Renamed(one, other, how))
    taken = set(partner.values())
    made.pairs = [(name, partner[name]) for name in a if name in partner]
    made.removed = [name for name in a if name not in partner]
    made.added = [name for name in b if name not in taken]
    return made


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UnsupportedError(f"{pattern!r} is no regular expression: {error}") from None


def _canonical(side: Mapping[str, Tensor], rules: list[tuple[re.Pattern[str], str]], which: str) -> dict[str, str]:
    """Name after the rules → name."""
    if not rules:
        return {name: name for name in side}
    made: dict[str, str] = {}
    for name in side:
        new = name
        for pattern, text in rules:
            try:
                new = pattern.sub(text, new)
            except (re.error, IndexError) as error:
                raise UnsupportedError(f"{text!r} cannot take the place of {pattern.pattern!r}: {error}") from None
        if new in made:
            text = f"{made[new]!r} and {name!r} of {which} would both be called {new!r}"
            raise UnsupportedError(text, hint="change the expression")
        made[new] = name
    return made


# -- equal content --------------------------------------------------------------------------------------------------------------


def _alike(left: dict[str, Tensor], right: dict[str, Tensor], done: Callable[[int], None]) -> list[tuple[str, str, str]]:
    """Pairs of equal content, type and shape, where there is one such tensor on each side; what is all of one byte proves nothing."""
    shared = {_kind(tensor) for tensor in left.values()} & {_kind(tensor) for tensor in right.values()} - {None}
    prints_a, prints_b = (_prints(side, shared, done) for side in (left, right))
    found = []
    for key, names in prints_a.items():
        others = prints_b.get(key, ())
        if len(names) == len(others) == 1:
            found.append((names[0], others[0], "content"))
            del left[names[0]], right[others[0]]
    return found


def _kind(tensor: Tensor) -> Any:
    """What two tensors of equal content have in common; None for what has no content of its own."""
    layout = tensor.layout
    shape = told_shape(tensor)
    if layout.fault or layout.quantization or family(layout) != "dense" or prod(shape) * layout.dtype.bits < 8 * FEW:
        return None
    return layout.dtype.canonical, shape


def _prints(side: dict[str, Tensor], shared: set[Any], done: Callable[[int], None]) -> dict[Any, list[str]]:
    from hashlib import sha256

    found: dict[Any, list[str]] = {}
    for name, tensor in side.items():
        kind = _kind(tensor)
        if kind not in shared:
            continue
        digest, constant = sha256(usedforsecurity=False), True
        try:
            for piece in tensor.chunks():
                digest.update(piece)
                constant = constant and piece.count(piece[:1]) == len(piece)
                done(len(piece))
        except InertError:
            continue  # it has no partner then, and is told as there on one side only
        if not constant:
            found.setdefault((kind, digest.digest()), []).append(name)
    return found
