"""``inert.diff``: are two checkpoints the same, and where are they not.

Knows: what is compared with what (tensors by name, values by path, ties, code), which part of a checkpoint its weights are, and what makes
the answer: ``same`` is about names, types, shapes and values; how bytes lie in a file, and everything else that changes no value, is minor.
Refuses to know: formats. Two files of any two formats are compared as what they hold.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from itertools import chain
from math import isfinite

from ..checkpoint import Calm, Checkpoint
from ..errors import UnsupportedError
from ..finding import Finding, listed
from ..layout import contiguous, is_contiguous
from ..reading import open
from .diff_figures import Tolerance
from .diff_names import pair
from .diff_records import compare_code, compare_metadata
from .diff_result import Difference, Minor, Side
from .diff_tensors import Comparer
from .diff_values import Values
from .select import Patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, BinaryIO

    from ..limits import Limits
    from ..tensor import Tensor

    Given = str | os.PathLike[str] | BinaryIO | Checkpoint

ONLY = ("weights",)
OBJECTS = ("optimizer", "object")  # roles of TensorFlow's tensors that are no weights


def diff(
    a: Given,
    b: Given,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    equal_nan: bool = True,
    ignore_dtype: bool = False,
    only: str | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    rename: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    auto_rename: bool = False,
    byteorder: str | None = None,
    limits: Limits | None = None,
    progress: Callable[[int], None] | None = None,
) -> Difference:
    """Compare two checkpoints: paths, binary files or open Checkpoints, of any formats.

    Tensors are compared by name. Elements of different types are compared as the numbers that they are, with no rounding on the way;
    another type is a difference itself unless ``ignore_dtype``. Elements are equal where |a - b| <= ``atol`` + ``rtol`` |b|. NaN equals NaN
    unless ``equal_nan`` is False, 0.0 equals -0.0: where only bits differ, that is minor. Quantised tensors are compared by their integers
    and scales, with others by what these stand for; sparse ones by their dense arrays.
    ``only="weights"``: the model's weights, wherever they lie on either side, and nothing else · ``keep``, ``drop``: patterns of names and
    paths (as ``inert ls`` takes them) · ``rename``: regular expressions and what takes the place of their matches in the names of both.
    Where names differ by a regular change (``module.`` before each), this is seen, and the tensors are compared; ``auto_rename`` makes it
    count as no difference.
    A damaged tensor, and one that cannot be compared, is a difference. Memory grows with the number of tensors, not with their bytes.
    ``progress`` is told of bytes that were read.
    Raises as ``inert.open`` does; UnsupportedError for rules that make two names one, where no weights are found, and where nothing on
    either side fits ``keep``."""
    from ..limits import DEFAULT

    for name, number in (("rtol", rtol), ("atol", atol)):
        if not (isfinite(number) and number >= 0):
            raise UnsupportedError(f"{name}={number!r}", hint="say a number that is not negative")
    if only is not None and only not in ONLY:
        raise UnsupportedError(f"only={only!r}", hint="say weights")
    kept, dropped = (Patterns([one] if isinstance(one, str) else list(one)) for one in (keep, drop))
    rules = _rules(rename)
    tolerance, bounds, done = Tolerance(rtol, atol, equal_nan), limits or DEFAULT, progress or _nobody
    with Calm(), ExitStack() as stack:
        sides = [_entered(stack, given, byteorder, bounds) for given in (a, b)]
        first, second = sides
        parts = [_weights(side) if only else "" for side in sides]
        held = [_tensors(side, part, only, kept, dropped) for side, part in zip(sides, parts, strict=True)]
        expect = getattr(progress, "expect", None)
        if expect is not None:
            expect(sum(max(tensor.nbytes, 0) for side in held for tensor in side.values()))
        made = Difference(_side(first, held[0], parts[0]), _side(second, held[1], parts[1]))
        made.accepted = auto_rename
        comparer = Comparer(tolerance, ignore_dtype, done)
        _compare_tensors(made, held, rules, comparer, done)
        if not only:
            walk = Values(tolerance, bounds, kept, dropped)
            walk.beside(chain(first.tensors.values(), second.tensors.values()), comparer.unlike)
            _compare_values(made, first, second, walk)
            if not kept.given and not dropped.given:
                compare_code(made, first, second)
                compare_metadata(made, first, second)
        made.notes += [Finding("pattern-idle", f"{pattern!r} fits nothing on either side") for pattern in (*kept.idle, *dropped.idle)]
        if kept.given and len(kept.idle) == len(kept.given):  # a comparison of nothing, which would be called the same
            raise UnsupportedError(f"nothing fits {listed(kept.given)}: there is nothing to compare", hint="inert ls shows the names")
        for side in sides if second is not first else sides[:1]:
            made.notes += side.errors
    return made


def _nobody(count: int) -> None:
    """Nobody asked how far it is."""


def _rules(rename: Any) -> list[tuple[str, str]]:
    try:
        return [(pattern, put) for pattern, put in (rename.items() if hasattr(rename, "items") else rename)]
    except (TypeError, ValueError):
        raise UnsupportedError("rename is no mapping and no list of pairs", hint="give {regular expression: text}") from None


def _entered(stack: ExitStack, given: Any, byteorder: str | None, limits: Limits) -> Checkpoint:
    """The Checkpoint of what was given: what we open we close."""
    opened = given if isinstance(given, Checkpoint) else stack.enter_context(open(given, byteorder=byteorder, limits=limits))
    stack.enter_context(opened.content.source.steady())
    return opened


def _side(ckpt: Checkpoint, tensors: dict[str, Tensor], part: str) -> Side:
    return Side(ckpt.content.source.name, ckpt.format, tensors, part)


# -- what is compared -------------------------------------------------------------------------------------------------------------


def _weights(ckpt: Checkpoint) -> str:
    """The path of the weights, "" where they are all there is. UnsupportedError where none are found."""
    from ..profiles import describe
    from .wrap import weights_path

    found = describe(ckpt)
    if ckpt.content.profile() is not None or found["profile"] == "module":
        key = found["facts"].get("key", "")
        return str(key) if found["profile"] == "module" else ""
    if found["profile"] == "bare" and ckpt.tensors:
        return ""
    try:
        return weights_path(ckpt)
    except UnsupportedError as error:
        hint = "compare all of it, or name what is wanted: --keep PATTERN"
        raise UnsupportedError(error.message, part=ckpt.content.source.name, hint=hint) from None


def _tensors(ckpt: Checkpoint, part: str, only: str | None, kept: Patterns, dropped: Patterns) -> dict[str, Tensor]:
    """Tensors by the names under which they are compared: those that other names stand for included, names in ``part`` without it."""
    found = dict(ckpt.tensors.items())
    for name, other in ckpt.content.aliases(found).items():
        if other in found:
            found.setdefault(name, found[other])
    if only:
        lead = f"{part}." if part else ""
        variables = _variables(ckpt, found)
        found = {name[len(lead) :]: tensor for name, tensor in found.items() if name.startswith(lead) and name in variables}
    for patterns, stays in ((kept, True), (dropped, False)):
        if patterns.given:
            found = {name: tensor for name, tensor in found.items() if patterns(name) is stays}
    return found


def _variables(ckpt: Checkpoint, found: dict[str, Tensor]) -> Any:
    """The names that are no optimizer's, of a format that says so of each."""
    if not ckpt.format.startswith("tf-"):
        return found
    from ..formats.tf_profile import variable_of

    said = (ckpt.content.profile() or {}).get("facts", {}).get("variables", {})
    return {name for name in found if variable_of(name, said)["role"] not in OBJECTS}


# -- tensors ------------------------------------------------------------------------------------------------------------------------


def _compare_tensors(made: Difference, held: list[dict[str, Tensor]], rules: Any, comparer: Comparer, done: Callable[[int], None]) -> None:
    a, b = held
    paired = pair(a, b, rules, done)
    made.removed, made.added, made.renamed, made.rules = paired.removed, paired.added, paired.renamed, paired.rules
    minor: dict[tuple[str, str, str], Minor] = {}
    for one, other in paired.pairs:
        found = comparer(one, other, a[one], b[other])
        if found is None or not (found.differs or (found.figures is not None and found.figures.within)):
            made.equal += 1
        else:
            (made.changed if found.differs else made.close).append(found)
        bits = found.figures.bits if found is not None and found.figures is not None else 0
        for what, mine, its in (*_facts(a[one], b[other]), *([("bits", "", "")] if bits else [])):
            kept = minor.setdefault((what, mine, its), Minor(what, [], mine, its))
            kept.names.append(one)
            kept.count += 1
    made.minor += minor.values()
    added = set(paired.added)
    if [other for _, other in paired.pairs] != [name for name in b if name not in added]:
        made.minor.append(Minor("order", [], count=1))
    made.minor += _ties(paired.pairs, a, b)


def _facts(a: Tensor, b: Tensor) -> list[tuple[str, str, str]]:
    """(what, a's, b's) of two tensors, for what changes no element."""
    one, other = a.layout, b.layout
    found = []
    if one.requires_grad is not other.requires_grad:
        found.append(("requires_grad", str(one.requires_grad), str(other.requires_grad)))
    if one.strides != other.strides and one.shape == other.shape and not one.fault and not other.fault:
        ways = way(one.shape, one.strides), way(other.shape, other.strides)
        found += [("strides", *ways)] if ways[0] != ways[1] else []
    for what in ("device", "type", "placement"):
        mine, its = str(getattr(one, what)), str(getattr(other, what))
        if mine != its:
            found.append((what, mine, its))
    return found


def way(shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    """How elements lie, in a word."""
    if len(shape) != len(strides) or is_contiguous(shape, strides):
        return "row-major"
    if len(shape) in (4, 5):
        turned = (shape[0], *shape[2:], shape[1])
        steps = contiguous(turned)
        if strides == (steps[0], steps[-1], *steps[1:-1]):
            return "channels-last"
    if is_contiguous(shape[::-1], strides[::-1]):
        return "column-major"
    return f"strides {list(strides)}" if len(strides) <= 8 else "strided"


def _ties(pairs: list[tuple[str, str]], a: dict[str, Tensor], b: dict[str, Tensor]) -> list[Minor]:
    """Tensors that share storage on one side and not on the other."""
    mine: dict[int, list[str]] = {}
    its: dict[int, list[str]] = {}
    home: dict[str, tuple[int, int]] = {}
    for one, other in pairs:
        left, right = (id(t.storage) if t.storage is not None else -1 for t in (a[one], b[other]))
        if -1 in (left, right):
            continue
        home[one] = left, right
        mine.setdefault(left, []).append(one)
        its.setdefault(right, []).append(one)
    found = []
    for groups, where in ((mine, 1), (its, 0)):
        for names in groups.values():
            if len(names) > 1 and len({home[name][where] for name in names}) > 1:
                sides = ("shared", "apart") if where else ("apart", "shared")
                found.append(Minor("ties", names, *sides, count=len(names)))
    return found


# -- the rest -----------------------------------------------------------------------------------------------------------------------


def _compare_values(made: Difference, a: Checkpoint, b: Checkpoint, walk: Values) -> None:
    walk.run(a.root, b.root)
    made.values += walk.found
    made.values_count += walk.count
    made.notes += walk.notes
    for what, names in walk.minor.items():
        known = next((one for one in made.minor if one.what == "order" == what), None)
        if known is None:
            made.minor.append(Minor(what, names, count=walk.minor_count[what]))
        else:  # the order of tensors is that of their dicts
            known.names, known.count = names, walk.minor_count[what]
