"""Regular changes of names between two checkpoints.

Knows: how names and shapes give away that a wrapper of the module has put a prefix before all of them, or that a part has another word; the
rule is tried on a sample before it is believed.
Refuses to know: what the tensors hold.

Cost: in proportion to the names; a few dozen of them are looked at to find what may have changed.
"""

from __future__ import annotations

import re
from itertools import islice

from .diff_elements import value_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..tensor import Tensor

PROBES, NEAR, SAMPLE, RULES = 24, 16, 200, 8  # names looked at, partners for each, names a rule is tried on, rules
WRAPPERS = ("_orig_mod.", "_fsdp_wrapped_module.", "_checkpoint_wrapped_module.", "module.", "_forward_module.")
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


def regular(left: dict[str, Tensor], right: dict[str, Tensor], rules: list[Rule]) -> list[tuple[str, str, str]]:
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
        if new != name and new in its and new not in made and told_shape(mine[name]) == told_shape(its[new]):
            made[new] = name
    return [(new, name) if rule.side == "b" else (name, new) for new, name in made.items()]


def told_shape(tensor: Tensor) -> tuple[int, ...]:
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
            if told_shape(few[probe]) == told_shape(tensor):
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
