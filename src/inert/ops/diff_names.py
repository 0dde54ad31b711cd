"""Which tensor of one checkpoint is which of another.

Knows: how names are matched as they are, after the user's own rules, after a regular change that names and shapes give away (a prefix that
a wrapper of the module has put before all of them, another word for a part), and by equal content under another name.
Refuses to know: what the tensors hold, but for the hash of those that have no partner by name.

Cost: in proportion to the names; a few dozen of them are looked at to find what may have changed.
"""

from __future__ import annotations

import re
from itertools import islice
from math import prod

from ..errors import InertError, UnsupportedError
from .diff_elements import value_shape
from .diff_tensors import family

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..tensor import Tensor

PROBES, NEAR, SAMPLE, RULES = 24, 16, 200, 8  # names looked at, partners for each, names a rule is tried on, rules
WRAPPERS = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.", "module.", "_forward_module.")
FEW = 16  # bytes: the content of smaller tensors says nothing
TOKEN = re.compile(r"[^./]*[./]|[^./]+")


class Rule:
    """A regular change: ``old`` in the names of one side stands where the other side has ``new``. ``where``: "start", "end" or "inside".

    ``side``: whose names it is applied to, "a" or "b"."""

    __slots__ = ("_inside", "new", "old", "side", "where")

    def __init__(self, where: str, old: str, new: str, side: str) -> None:
        self.where = where
        self.old = old
        self.new = new
        self.side = side
        self._inside = re.compile(self.pattern)

    @property
    def pattern(self) -> str:
        """What ``--rename`` takes for it."""
        if self.where == "start":
            return f"^{escaped(self.old)}"
        return f"{escaped(self.old)}$" if self.where == "end" else rf"(?<![^./]){escaped(self.old)}"

    @property
    def text(self) -> str:
        return self.new.replace("\\", "\\\\")

    def __call__(self, name: str) -> str:
        if self.where == "start":
            return self.new + name[len(self.old) :] if name.startswith(self.old) else name
        if self.where == "end":
            return name[: len(name) - len(self.old)] + self.new if name.endswith(self.old) else name
        return self._inside.sub(lambda _: self.new, name)

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.where, self.old, self.new, self.side

    def said(self) -> str:
        """In words: what the names of one side have."""
        mine, its = ("B", "A") if self.side == "b" else ("A", "B")
        what = {"start": "prefix", "end": "suffix"}.get(self.where, "part")
        if not self.new:
            return f"{mine}'s names have the {what} `{self.old}`"
        return f"{mine}'s names have the {what} `{self.old}` where {its}'s have `{self.new}`"


def escaped(text: str) -> str:
    """The text in a regular expression, with no more backslashes than it needs."""
    return re.sub(r"([\\.^$*+?{}\[\]|()])", r"\\\1", text)


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
        for one, other, how in (*_regular(left, right, made.rules), *_alike(left, right, done)):
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


# -- regular changes ------------------------------------------------------------------------------------------------------------


def _regular(left: dict[str, Tensor], right: dict[str, Tensor], rules: list[Rule]) -> list[tuple[str, str, str]]:
    """Pairs by regular changes, which are put into ``rules`` and taken out of both sides; none unless they explain most of one side."""
    most, found = min(len(left), len(right)), []
    rest_a, rest_b = dict(left), dict(right)
    for _ in range(RULES):
        if not rest_a or not rest_b:
            break
        best, pairs = None, 0
        for rule in _candidates(rest_a, rest_b):
            number = len(_applied(rule, rest_a, rest_b, SAMPLE))
            if number > pairs:
                best, pairs = rule, number
        if best is None:
            break
        matched = _applied(best, rest_a, rest_b)
        rules.append(best)
        for one, other in matched:
            del rest_a[one], rest_b[other]
            found.append((one, other, "pattern"))
    if 2 * len(found) < most:
        rules.clear()
        return []
    for one, other, _ in found:
        del left[one], right[other]
    return found


def _applied(rule: Rule, left: dict[str, Tensor], right: dict[str, Tensor], most: int | None = None) -> list[tuple[str, str]]:
    """(name in a, name in b) of what the rule brings together: each once, of one shape."""
    mine, its = (right, left) if rule.side == "b" else (left, right)
    made: dict[str, str] = {}
    for name in islice(mine, most):
        new = rule(name)
        if new != name and new in its and new not in made and _shape(mine[name]) == _shape(its[new]):
            made[new] = name
    return [(new, name) if rule.side == "b" else (name, new) for new, name in made.items()]


def _shape(tensor: Tensor) -> tuple[int, ...]:
    return value_shape(tensor.dtype, tensor.shape)


def _candidates(left: dict[str, Tensor], right: dict[str, Tensor]) -> list[Rule]:
    """Changes that some pair of names suggests, each once; those that take something away before those that exchange it."""
    found: dict[tuple[str, str, str, str], Rule] = {}
    for word in WRAPPERS:
        for side in "ba":
            for where in ("start", "inside"):
                rule = Rule(where, word, "", side)
                found[rule.key] = rule
    pairs = [*zip(islice(left, PROBES), islice(right, PROBES), strict=False)] if len(left) == len(right) else []
    pairs += [*_near(left, right), *((one, other) for other, one in _near(right, left))]
    for one, other in pairs:
        for rule in _between(one, other):
            found.setdefault(rule.key, rule)
    return sorted(found.values(), key=lambda rule: bool(rule.new))


def _near(few: dict[str, Tensor], many: dict[str, Tensor]) -> list[tuple[str, str]]:
    """Names of one side with those of the other that end alike and have the same shape."""
    step = max(1, len(few) // PROBES)
    probes = [*islice(few, 0, None, step)][:PROBES]
    wanted: dict[str, list[str]] = {}
    for name in probes:
        wanted.setdefault(_tail(name), []).append(name)
    found: list[tuple[str, str]] = []
    for name, tensor in many.items():
        for probe in wanted.get(_tail(name), ()):
            if _shape(few[probe]) == _shape(tensor):
                found.append((probe, name))
    by_probe: dict[str, list[str]] = {}
    for probe, name in found:
        by_probe.setdefault(probe, []).append(name)
    made = []
    for probe, names in by_probe.items():
        tokens = TOKEN.findall(probe)
        names.sort(key=lambda name: -_common(tokens[::-1], TOKEN.findall(name)[::-1]))
        made += [(probe, name) for name in names[:NEAR]]
    return made


def _tail(name: str) -> str:
    return name[max(name.rfind("."), name.rfind("/")) + 1 :]


def _common(one: list[str], other: list[str]) -> int:
    count = 0
    for x, y in zip(one, other, strict=False):
        if x != y:
            break
        count += 1
    return count


def _between(one: str, other: str) -> list[Rule]:
    """What may have made one of two names out of the other."""
    made = []
    for mine, its, side in ((other, one, "b"), (one, other, "a")):
        if mine.endswith(its) and len(mine) > len(its):
            made.append(Rule("start", mine[: len(mine) - len(its)], "", side))
        if mine.startswith(its) and len(mine) > len(its):
            made.append(Rule("end", mine[len(its) :], "", side))
    a, b = TOKEN.findall(one), TOKEN.findall(other)
    head = _common(a, b)
    tail = _common(a[head:][::-1], b[head:][::-1])
    middle_a, middle_b = ("".join(tokens[head : len(tokens) - tail]) for tokens in (a, b))
    if head + tail and middle_a != middle_b and not _numbers(middle_a, middle_b):
        where = "start" if not head else "inside" if tail else "end"
        made.append(Rule(where, middle_b, middle_a, "b") if middle_b else Rule(where, middle_a, middle_b, "a"))
    return made


def _numbers(one: str, other: str) -> bool:
    """Whether two parts of names differ by a number alone: another layer is another tensor."""
    return any(part.strip("./").isdigit() for part in (one, other))


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
    shape = _shape(tensor)
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
