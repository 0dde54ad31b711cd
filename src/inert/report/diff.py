"""A Difference as plain dicts, and in sentences.

Knows: how each difference is spelled in JSON, and how the whole is said in a sentence or three.
Refuses to know: how anything was compared.
"""

from __future__ import annotations

from ..ops.diff_kinds import MISSING
from .listing import notes
from .plain import complex_text, number, plain, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..ops.diff_result import Difference, Minor
    from ..ops.diff_tensors import Change
    from ..ops.diff_values import Value

NODES, TEXT = 50, 500  # values and characters of a value that differs
RULES = 3  # regular changes of names that a sentence tells
NAMES = 100  # of tensors of which the same minor thing is to be said
# what differs in a tensor → in the summary
WORDS = {
    "damaged": "{} damaged", "kind": "{} of another kind", "dtype": "{} of another dtype", "shape": "{} of another shape",
    "quantization": "{} quantised otherwise", "values": "{} with other values", "unread": "{} that could not be compared",
}  # fmt: skip
MINOR = {
    "order": "entries in another order",
    "bits": "equal in value, not in every bit (0.0 and -0.0, or NaNs)",
    "ties": "tied on one side only",
    "strides": "with another memory layout", "device": "saved from another device", "requires_grad": "with another requires_grad",
    "type": "of another class", "placement": "placed otherwise", "class": "of another class",
    "metadata": "entries of metadata",
}  # fmt: skip


def told(made: Difference) -> dict[str, Any]:
    """What ``inert diff --json`` writes."""
    return {
        "same": made.same,
        "summary": sentences(made),
        "a": side(made.a),
        "b": side(made.b),
        "equal": made.equal,
        "added": [printable(name) for name in made.added],
        "removed": [printable(name) for name in made.removed],
        "renamed": [{"a": printable(one.a), "b": printable(one.b), "how": one.how} for one in made.renamed],
        "changed": [changed(one) for one in made.changed],
        "kinds": made.kinds,
        "close": [changed(one) for one in made.close],
        "values": [value(one) for one in made.values],
        "values_count": made.values_count,
        "minor": [minor(one) for one in made.minor],
        "rename": [{"said": printable(rule.said()), "regex": rule.pattern, "text": rule.text} for rule in made.rules],
        "notes": notes(made.notes),
    }


def side(held: Any) -> dict[str, Any]:
    return {"file": printable(held.file), "format": held.format, "tensors": len(held.tensors), "part": printable(held.part)}


def changed(one: Change) -> dict[str, Any]:
    """One tensor. Pairs are [a's, b's]; ``count`` counts the elements that differ (``within``: within the tolerance), of ``elements``."""
    made: dict[str, Any] = {"name": printable(one.name)}
    if one.other != one.name:
        made["other"] = printable(one.other)
    made |= {
        "differs": list(one.differs),
        "dtype": [str(one.a.dtype), str(one.b.dtype)],
        "shape": [list(one.a.shape), list(one.b.shape)],
        "kind": [one.a.kind, one.b.kind],
    }
    if one.why:
        made["why"] = printable(one.why)
    if "quantization" in one.differs:
        made["quantization"] = [plain(side.layout.quantization) for side in (one.a, one.b)]
    figures = one.figures
    if figures is None:
        return made
    firsts = figures.firsts
    return made | {
        "elements": figures.count,
        "count": figures.different,
        "within": figures.within,
        "bits": figures.bits,
        "nan": list(figures.nan),
        "max_abs": _number(figures.max_abs),
        "max_abs_at": _index(one, figures.max_abs_at),
        "max_rel": _number(figures.max_rel),
        "max_rel_at": _index(one, figures.max_rel_at),
        "mean_abs": _number(figures.mean_abs),
        "first": _index(one, figures.first),
        "first_values": None if firsts is None else [plain(held, text=TEXT) for held in firsts],
    } | ({"component": printable(one.component)} if one.component else {})  # fmt: skip


def _index(one: Change, at: int) -> list[int] | None:
    found = one.index(at)
    return None if found is None else list(found)


def _number(held: Any) -> Any:
    return number(held) if isinstance(held, float) else complex_text(held) if isinstance(held, complex) else held


def value(one: Value) -> dict[str, Any]:
    """One value that is no tensor; ``a`` or ``b`` is left out where there is none."""
    made: dict[str, Any] = {"path": printable(one.path), "what": one.what}
    for key, held in (("a", one.a), ("b", one.b)):
        if held is not MISSING:
            made[key] = plain(held, nodes=NODES, depth=6, text=TEXT)
    return made


def minor(one: Minor) -> dict[str, Any]:
    made: dict[str, Any] = {"what": one.what, "count": one.count}
    if one.a or one.b:
        made |= {"a": printable(one.a), "b": printable(one.b)}
    return made | {"names": [printable(name) for name in one.names[:NAMES]]}


# -- sentences --------------------------------------------------------------------------------------------------------------------


def sentences(made: Difference) -> list[str]:
    """The answer in words: whether they are the same; what differs, and how far; what a regular change of names or a tolerance has to do
    with it."""
    return [_verdict(made), *_greatest(made), *_renaming(made), *_minor(made)]


def _verdict(made: Difference) -> str:
    pairs = made.equal + len(made.changed) + len(made.close)
    close = f", {len(made.close):,} of them within the tolerance only" if made.close else ""
    parts = []
    if made.changed:
        kinds = ", ".join(_kind(made, kind, count) for kind, count in made.kinds.items())
        parts.append(f"{len(made.changed):,} of {counted(pairs, 'tensor')} {differ(len(made.changed))} ({kinds})")
    for names, where in ((made.removed, "in A only"), (made.added, "in B only"), (made.moved, "under another name")):
        if names:
            parts.append(f"{counted(len(names), 'tensor')} {where}")
    if made.values_count:
        parts.append(f"{counted(made.values_count, 'other value')} {differ(made.values_count)}")
    same = made.equal + len(made.close)
    if parts:
        return f"different: {', '.join(parts)}" + (f"; {same:,} the same{close}" if same and not made.moved else "")
    parts = [f"`{one.part}` of {name}" if one.part else f"all of {name}" for one, name in ((made.a, "A"), (made.b, "B"))]
    held = f" ({' and '.join(parts)})" if made.a.part or made.b.part else ""
    return f"the same: {counted(pairs, 'tensor') if pairs else 'no tensors'}{close}{held}"


def _kind(made: Difference, kind: str, count: int) -> str:
    said = WORDS[kind].format(f"{count:,}")
    pairs = {f"{one.a.dtype} → {one.b.dtype}" for one in made.changed if kind == "dtype" in one.differs}
    return f"{said}: {pairs.pop()}" if len(pairs) == 1 else said


def _greatest(made: Difference) -> list[str]:
    """Where the greatest difference is, if there are several to choose from."""
    found = [one for one in (made.changed or made.close) if one.figures is not None and one.figures.max_abs is not None]
    if len(found) < 2:
        return []
    most = max(found, key=lambda one: one.figures.max_abs if one.figures and one.figures.max_abs is not None else 0)
    assert most.figures is not None
    assert most.figures.max_abs is not None
    return [f"the greatest difference is {most.figures.max_abs:.3g}, in {most.name or 'the tensor'}"]


def _renaming(made: Difference) -> list[str]:
    """What regular changes of names were seen, and what comes of comparing through them."""
    found = []
    seen = {one.a for one in made.renamed if one.how == "pattern"}
    if made.rules and seen:
        said = " and ".join(rule.said() for rule in made.rules[:RULES]) + (" …" if len(made.rules) > RULES else "")
        unlike = sum(change.name in seen for change in made.changed)
        these = counted(len(seen), "tensor")
        result = f"{unlike:,} of these {these} {differ(unlike)}" if unlike else f"these {these} hold the same"
        options = " ".join(f"--rename '{rule.pattern}={rule.text}'" for rule in made.rules[:RULES])
        how = "" if made.accepted else f"; {options} (or --auto-rename) takes them as the same names"
        how += "; --only weights compares the weights alone" if made.values_count and (made.removed or made.added) else ""
        found.append(f"{said}: compared through that, {result}{how}")
    moved = [one for one in made.renamed if one.how == "content"]
    if moved:
        found.append(f"{counted(len(moved), 'tensor')} of A found in B by equal content, such as {moved[0].a} as {moved[0].b}")
    return found


def _minor(made: Difference) -> list[str]:
    """What differs and changes no value."""
    counts: dict[str, int] = {}
    for one in made.minor:
        counts[one.what] = counts.get(one.what, 0) + one.count
    if not counts:
        return []
    said = [_says(what, count) for what, count in counts.items()]
    return [f"no effect on values: {'; '.join(said)}"]


def _says(what: str, count: int) -> str:
    if what == "order":
        return MINOR[what]
    if what == "metadata":
        return f"{count:,} {'entry' if count == 1 else 'entries'} of metadata"
    return f"{counted(count, 'container or number' if what == 'class' else 'tensor')} {MINOR[what]}"


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def differ(count: int) -> str:
    return "differs" if count == 1 else "differ"
