"""``inert show``: one tensor, or any other value of the saved object."""

from __future__ import annotations

import sys

from ..errors import FormatError, InertError, LimitError
from ..reading import open
from ..report.listing import nbytes
from ..report.show import FEW, array_of, corner, cut, dates, find, show
from ..tensor import Tensor
from . import FINDINGS, tell
from .options import ONE, STATUS, Parser
from .terminal import Progress, findings, write_json, write_lines
from .text import clean, outline, shape, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator
    from typing import Any

ABOUT = f"""Show one tensor, a slice of one, or any other value by its path in the saved object.

NAME: layer.weight · 'layer.weight[0:2,3]' · hyper_parameters · optimizer_states.0.param_groups.0.lr
Without NAME: the saved object as an outline.
{ONE}

{STATUS}"""
LINES = 500  # of an outline, unless --full
BAR = 40  # columns of the longest bar of a histogram
EDGE = 3  # elements at each end of a dimension that is cut


def parser() -> Parser:
    made = Parser("show", ABOUT, ("file", "name"))
    made.add_argument(
        "--stats",
        action="store_true",
        help="min, max, mean, std (by n, as NumPy has it), NaN, inf, zeros, a histogram; reads the whole tensor",
    )
    made.add_argument("--full", action="store_true", help="every element, every value")
    made.add_argument("--npy", metavar="OUT", help="also write the tensor (or slice) to a .npy file")
    return made


def run(options: Namespace) -> int:
    name = options.name or ""
    with open(options.file, byteorder=options.byteorder) as ckpt:
        found = find(ckpt, name)
        tensor = found if isinstance(found, Tensor) else None
        written = None
        faults: list[str] = []
        if options.npy:
            from .npy import write_npy

            written = write_npy(tensor, options.npy, ckpt.content.read_from())
        if options.json:
            with Progress("reading", 2 * tensor.nbytes if tensor else 0) as progress:
                made = show(ckpt, name, stats=options.stats, full=options.full, done=progress)
            write_json(made if written is None else {**made, "npy": written})
            faults += ["fault"] * ("fault" in made)
        elif tensor is None:
            write_lines(_value(show(ckpt, name, full=options.full), options.full))
            if options.stats:
                tell("this value is no tensor: there are no statistics of it")
        else:
            write_lines(_tensor(tensor, name, options.stats, options.full, faults))
            if written is not None:
                write_lines(["", clean(f"written to {options.npy}: {written['dtype']} {shape(written['shape'])}{_widened(written)}")])
        code = findings([note for note in ckpt.notes if tensor is not None and note.tensors == (tensor.name,)])
        return FINDINGS if faults else code


def _widened(written: dict[str, Any]) -> str:
    return f" ({written['note']})" if written["note"] else ""


def _value(made: dict[str, Any], full: bool) -> Iterator[str]:
    """A value that is no tensor."""
    for number, line in enumerate(outline(made["value"])):
        if number == LINES and not full:
            yield "… more: --full shows it all"
            return
        yield line


def _tensor(tensor: Tensor, name: str, stats: bool, full: bool, faults: list[str]) -> Iterator[str]:
    """What it is, its elements, its statistics. What is wrong with its data is added to ``faults``."""
    yield clean(", ".join(_facts(tensor, name)), 600)
    for role, part in tensor.components.items():
        box = tensor.boxes.get(role) if tensor.placement else None
        at = "" if box is None else f", [{', '.join(f'{at}:{at + count}' for at, count in zip(*box, strict=True))}] of the whole"
        yield clean(f"  {role}: {part.dtype} {shape(part.shape)}, {size(part.nbytes)}{at}", 600)
    if tensor.fault:
        yield clean(f"damaged: {tensor.fault}", 600)
        return
    try:
        text = _elements(tensor, full)
    except InertError as error:
        faults += [error.message] * isinstance(error, FormatError)
        text = [clean(f"no elements to show: {error.message}{error.hint and f' ({error.hint})'}", 600)]
    yield from text
    if stats:
        yield ""
        yield from _stats(tensor)


def _facts(tensor: Tensor, name: str) -> Iterable[str]:
    layout = tensor.layout
    yield f"{name or 'the saved object'}: {layout.dtype} {shape(layout.shape)}"
    yield size(nbytes(tensor))
    if layout.kind != "dense":
        yield layout.kind
    for fact, value in layout.quantization.items():
        yield f"{fact} {value}"
    if layout.type:
        yield layout.type
    if layout.placement:
        yield layout.placement
    if layout.storage is not None and not layout.fault and layout.kind != "meta":
        at = "" if tensor.file_offset is None else f", byte {tensor.file_offset:,} of the file"
        yield f"storage {layout.storage.key}{at}"
    if layout.device:
        yield layout.device
    if layout.requires_grad:
        yield "requires grad"


def _elements(tensor: Tensor, full: bool) -> list[str]:
    """The elements as NumPy prints them; of a large tensor the ends of each dimension."""
    import numpy as np

    if full or tensor.size <= FEW:
        array = array_of(tensor)
        threshold = sys.maxsize
    else:
        array = _ends(tensor)
        threshold = 0
    if array.dtype.kind in "SUOMm":
        array = dates(array) if array.dtype.kind in "Mm" else array
        array = np.array([clean(str(item)) for item in array.reshape(-1).tolist()], object).reshape(array.shape)
    text = np.array2string(array, threshold=threshold, edgeitems=EDGE, max_line_width=120, separator=" ")
    return [clean(line, 1 << 20) for line in text.split("\n")]


def _ends(tensor: Tensor) -> Any:
    """The first and last elements of each dimension, with one between that stands for those left out: it is printed as dots."""
    import numpy as np

    from ..stats import numbers

    try:
        array = tensor.numpy() if tensor.dtype.numpy and tensor.dtype.packed == 1 else array_of(tensor)
    except LimitError:  # far more elements than bytes: stride 0
        return array_of(cut(tensor, corner(tensor)))
    keep = EDGE if array.ndim <= 6 else 1
    index = [[*range(keep + 1), *range(n - keep, n)] if n > 2 * keep + 1 else list(range(n)) for n in array.shape]
    return numbers(array[np.ix_(*index)], tensor.dtype) if index else array


def _stats(tensor: Tensor) -> Iterator[str]:
    from ..report.show import statistics

    try:
        with Progress("reading", 2 * tensor.nbytes) as progress:
            made = statistics(tensor, progress)
    except InertError as error:
        yield clean(f"no statistics: {error.message}", 600)
        return
    histogram = made.pop("histogram")
    note = made.pop("note", "")
    yield "  ".join(f"{key} {made[key]:,}" for key in ("count", "nan", "inf", "zeros"))
    yield "  ".join(f"{key} {_short(made[key])}" for key in ("min", "max", "mean", "std")) + (f"  ({note})" if note else "")
    if histogram:
        yield from _bars(histogram)


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)


def _bars(histogram: dict[str, Any]) -> Iterator[str]:
    edges, counts = histogram["edges"], histogram["counts"]
    most = max(counts)
    bar = "█" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
    labels = [f"{edge:.4g}" for edge in edges]
    wide = max(map(len, labels))
    for low, high, count in zip(labels, labels[1:], counts, strict=False):
        filled = -(-count * BAR // most) if most else 0
        yield f"  {low:>{wide}} … {high:<{wide}}  {bar * filled}{' ' * bool(filled)}{count:,}"
