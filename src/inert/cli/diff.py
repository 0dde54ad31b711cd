"""``inert diff``: what differs between two checkpoints."""

from __future__ import annotations

from ..errors import InertError
from ..ops.diff import ONLY, diff
from ..report.diff import MINOR, minor, sentences, told
from ..report.plain import Mark, plain
from . import FINDINGS, FINE
from .convert import rule
from .options import Parser
from .terminal import Progress, findings, write_json, write_lines, write_table
from .text import CELL, WHOLE, clean, compact, shape, shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..ops.diff_result import Difference

ABOUT = """Say what differs between A and B: two files, folders or prefixes of any formats.

Exit code: 0 the same, 1 different, 2 could not do it. Tensors are compared by name, their elements as the numbers that they are whatever
the types; how bytes lie in a file does not matter.

  inert diff old.ckpt new.ckpt
  inert diff model.ckpt model.safetensors --only weights
  inert diff full.pt half.pt --ignore-dtype --rtol 1e-2 --atol 1e-6"""
SHOWN = 40  # rows of each table
LISTS = {
    "--keep": ("PATTERN", "only what fits: a name, what it lies in, or a glob"),
    "--drop": ("PATTERN", "without what fits, such as optimizer_states"),
    "--rename": ("REGEX=TEXT", "in the names of both, TEXT for each match of REGEX"),
}


def parser() -> Parser:
    made = Parser("diff", ABOUT, ("a", "b"), needed=2)
    made.add_argument(
        "--rtol", metavar="R", type=tolerance, default=0.0, help="elements are equal where |a - b| <= atol + rtol * |b| (default: 0)"
    )
    made.add_argument("--atol", metavar="A", type=tolerance, default=0.0, help="see --rtol (default: 0)")
    made.add_argument("--nan-differs", action="store_true", help="NaN is not equal to NaN")
    made.add_argument("--ignore-dtype", action="store_true", help="another element type is no difference, only other values are")
    made.add_argument("--only", choices=ONLY, help="the model's weights, wherever they lie on either side, and nothing else")
    for name, (what, text) in LISTS.items():
        made.add_argument(name, metavar=what, action="append", default=[], help=text)
    made.add_argument("--auto-rename", action="store_true", help="a regular change of names (module. before each) is no difference")
    made.add_argument("--full", action="store_true", help="every row, and long names whole (--json always has all)")
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
    for title, titles, rows in (
        ("changed", CHANGED, changed_rows(made, full)),
        ("within the tolerance", CHANGED, changed_rows(made, full, close=True)),
        ("other names", ("A", "B", "known by"), [(one.a, one.b, HOW[one.how]) for one in made.moved]),
        ("in A only", ONE, sole_rows(made.removed, made.a.tensors, full)),
        ("in B only", ONE, sole_rows(made.added, made.b.tensors, full)),
        ("other values", ("path", "A", "B"), [(one.path or "the root", *map(_value, (one.a, one.b))) for one in made.values]),
        ("no matter for the values", ("what", "A", "B", "where"), minor_rows(made)),
    ):
        section(title, titles, rows, full, limit, made.values_count if title == "other values" else 0)


HOW = {"pattern": "a regular change", "content": "equal content"}
CHANGED = ("name", "dtype", "shape", ">differing", ">max abs", ">max rel", "first at", "notes")
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


def changed_rows(made: Difference, full: bool, close: bool = False) -> list[tuple[str, ...]]:
    found = made.close if close else made.changed
    short = {} if full else shortened([one.name for one in found])
    rows = []
    for one in found:
        figures = one.figures if one.figures is not None and (one.figures.different or one.figures.within) else None
        pairs = (one.a.dtype, one.b.dtype), (shape(one.a.shape), shape(one.b.shape))
        index = one.index(figures.first) if figures is not None else None
        rows.append(
            (
                short.get(one.name, one.name) or '""',
                *(str(x) if x == y else f"{x} → {y}" for x, y in pairs),
                f"{figures.different or figures.within:,} of {figures.count:,}" if figures is not None else "",
                _figure(figures.max_abs if figures is not None else None),
                _figure(figures.max_rel if figures is not None else None),
                shape(index) if index is not None else "",
                ", ".join(_remarks(one)),
            )
        )
    return rows


def _remarks(one: Any) -> Iterable[str]:
    if one.other != one.name:
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
    short = {} if full else shortened(names)
    return [(short.get(name, name) or '""', str(tensors[name].dtype), shape(tensors[name].shape)) for name in names]


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
