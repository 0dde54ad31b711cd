"""``inert diff``: what differs between two checkpoints."""

from __future__ import annotations

from collections import Counter

from ..errors import InertError
from ..ops.diff import ONLY, diff
from ..report.diff import MINOR, minor, sentences, told
from ..report.plain import Mark, plain
from . import FINDINGS, FINE
from .convert import rule
from .options import Parser
from .terminal import Progress, findings, write_json, write_lines, write_table
from .text import CELL, WHOLE, clean, compact, middle, shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..ops.diff_result import Difference
    from ..ops.diff_tensors import Change

ABOUT = """Say what differs between A and B: two files, folders or prefixes, of any
formats.

Tensors are compared by name, their elements as the numbers that they are,
whatever the types. How bytes lie in a file (order, strides, alignment,
compression) makes no difference.

  inert diff old.ckpt new.ckpt
  inert diff model.ckpt model.safetensors --only weights
  inert diff full.pt half.pt --ignore-dtype --rtol 1e-2 --atol 1e-6

Exit code: 0 the same, 1 different, 2 could not do it."""
SHOWN = 40  # rows of each table
ROOMS = (48, 60, 80)  # columns of a name, the least by which all can be told apart: the figures beside it fit a narrow terminal then
LISTS = {
    "--keep": ("PATTERN", "only tensors and values that fit: a name, what it lies in, or a glob"),
    "--drop": ("PATTERN", "all but what fits, such as optimizer_states"),
    "--rename": ("REGEX=TEXT", "compare under other names: on both sides, TEXT for each match of REGEX"),
}


def parser() -> Parser:
    made = Parser("diff", ABOUT, ("a", "b"), needed=2)
    made.add_argument(
        "--rtol", metavar="R", type=tolerance, default=0.0, help="elements are equal where |a - b| <= atol + rtol * |b| (default: 0)"
    )
    made.add_argument("--atol", metavar="A", type=tolerance, default=0.0, help="see --rtol (default: 0)")
    made.add_argument("--nan-differs", action="store_true", help="NaN differs from NaN (default: they are equal)")
    made.add_argument("--ignore-dtype", action="store_true", help="another element type alone is no difference")
    made.add_argument("--only", choices=ONLY, help="the model's weights alone, wherever they lie on either side")
    for name, (what, text) in LISTS.items():
        made.add_argument(name, metavar=what, action="append", default=[], help=text)
    made.add_argument("--auto-rename", action="store_true", help="take a regular change of names (module. before each) for no difference")
    made.add_argument("--full", action="store_true", help="all rows and columns, long names whole (--json always has all)")
    return made


def tolerance(text: str) -> float:
    """A tolerance, as one line says what is wrong with it."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise InertError(f"{text!r} is no tolerance", hint="a number that is not negative, such as 1e-5")
    return found


def run(options: Namespace) -> int:
    with Progress("comparing", 0) as progress:
        made = diff(
            options.a,
            options.b,
            rtol=options.rtol,
            atol=options.atol,
            equal_nan=not options.nan_differs,
            ignore_dtype=options.ignore_dtype,
            only=options.only,
            keep=options.keep,
            drop=options.drop,
            rename=[rule(text) for text in options.rename],
            auto_rename=options.auto_rename,
            byteorder=options.byteorder,
            progress=progress,
        )
    if options.json:
        write_json(told(made))
    else:
        show(made, options.full)
    findings(made.notes)
    return FINE if made.same else FINDINGS


def show(made: Difference, full: bool) -> None:
    """The sentences, then a table for each kind of difference."""
    write_lines([clean(text, 2000) for text in sentences(made)])
    limit = WHOLE if full else CELL
    regular = {one.a for one in made.renamed if one.how == "pattern"}
    for title, titles, rows in (
        ("changed", CHANGED, changed_rows(made.changed, full, regular)),
        ("within the tolerance", CHANGED, changed_rows(made.close, full, regular) if full else []),
        ("other names", ("A", "B", "known by"), [(one.a, one.b, HOW[one.how]) for one in made.moved if full or one.how == "content"]),
        ("in A only", ONE, sole_rows(made.removed, made.a.tensors, full)),
        ("in B only", ONE, sole_rows(made.added, made.b.tensors, full)),
        ("other values", ("path", "A", "B"), [(one.path or "the root", *map(_value, (one.a, one.b))) for one in made.values]),
        ("no effect on values", ("what", "A", "B", "where"), minor_rows(made)),
    ):
        section(title, titles, rows, full, limit, made.values_count if title == "other values" else 0)


HOW = {"pattern": "a regular change", "content": "equal content"}
CHANGED = ("name", "dtype", "shape", ">differ", ">max abs", ">max rel", "first at", "notes")
ONE = ("name", "dtype", "shape")


def section(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]], full: bool, limit: int, total: int = 0) -> None:
    if not rows:
        return
    kept = rows if full else rows[:SHOWN]
    write_lines(["", f"{title}:"])
    write_table(titles, kept, limit)
    left = max(total, len(rows)) - len(kept)
    if left:
        write_lines([f"… {left:,} more: {'see' if not full else 'not kept, see'} {'--full or --json' if not full else '--keep PATTERN'}"])


def changed_rows(found: list[Change], full: bool, regular: set[str]) -> list[tuple[str, ...]]:
    short = brief([one.name for one in found], full)
    pairs = {(str(one.a.dtype), str(one.b.dtype)) for one in found}
    told = not full and len(found) > 1 and len(pairs) == 1 and "dtype" in found[0].differs  # in the sentence above
    rows: list[tuple[str, ...]] = []
    for one, name in zip(found, short, strict=True):
        figures = one.figures
        many = 0 if figures is None else figures.different or figures.within
        index = one.index(figures.first) if figures is not None and (full or many < figures.count) else None
        dtypes, shapes = (str(one.a.dtype), str(one.b.dtype)), (shape(one.a.shape), shape(one.b.shape))
        rows.append(
            (
                name,
                "" if told else _pair(*dtypes),
                _pair(*shapes),
                "" if figures is None else "all" if 1 < many == figures.count and not full else f"{many:,}",
                _figure(figures.max_abs if figures is not None else None),
                _figure(figures.max_rel if figures is not None else None),
                shape(index) if index else "",
                ", ".join(_remarks(one, full or one.name not in regular)),
            )
        )
    return rows


def brief(names: Sequence[str], full: bool) -> list[str]:
    """Names as cells: long ones without their middle, unless two would look alike."""
    made, twice = list(names), set()
    for room in () if full else ROOMS:
        made = [middle(name, room) for name in names]
        twice = {one for one, count in Counter(made).items() if count > 1}
        if not twice:
            break
    return [(name if one in twice else one) or '""' for name, one in zip(names, made, strict=True)]


def _pair(one: str, other: str) -> str:
    return one if one == other else f"{one} → {other}"


def _remarks(one: Change, named: bool) -> Iterable[str]:
    if named and one.other != one.name:
        yield f"{one.other} in B"
    if "kind" in one.differs:
        yield f"{one.a.kind} → {one.b.kind}"
    if "quantization" in one.differs:
        yield "another scale or zero point"
    if one.figures is not None and any(one.figures.nan):
        yield f"NaN in A {one.figures.nan[0]:,}, in B {one.figures.nan[1]:,}"
    if one.component and not one.why:
        yield f"in its {one.component}"
    if one.why:
        yield one.why


def _figure(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) and value < 10**15 else f"{value:.3g}"


def sole_rows(names: list[str], tensors: Any, full: bool) -> list[tuple[str, ...]]:
    cells = zip(names, brief(names, full), strict=True)
    return [(cell, str(tensors[name].dtype), shape(tensors[name].shape)) for name, cell in cells]


def _value(held: Any) -> str:
    from ..ops.diff_kinds import MISSING

    if held is MISSING:
        return "–"
    made = plain(held, nodes=20, depth=3, text=100)
    said = compact(made)
    if said is None:
        said = f"{{{', '.join(made)}}}" if isinstance(made, dict) and not isinstance(made, Mark) else f"a list of {len(made):,}"
    return clean(said, 80)


def minor_rows(made: Difference) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for said, one in ((minor(one), one) for one in made.minor if one.a or one.b or one.names):
        names = said["names"]
        where = ", ".join(names[:3]) + (f" and {one.count - min(len(names), 3):,} more" if one.count > min(len(names), 3) and names else "")
        rows.append((MINOR[one.what], said.get("a", ""), said.get("b", ""), where))
    return rows
