"""The page's answers about tensors: the columns of its table, one tensor, a picture and the values of a plane of it.

Knows: how fifty thousand rows become columns that a browser reads at once; how a plane of any size is averaged into a picture in bounded
memory. Refuses to know: HTTP.

A plane is two axes of a tensor (or one, or none) with all others held at an index. Reading goes by slices: what a picture of a part needs
is read, no more, where the tensor can be sliced; else the whole array is made, within the limits of ``Tensor.numpy()``.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter

from ..errors import LimitError, UnsupportedError
from ..report.listing import nbytes, row
from ..report.plain import number, plain, printable
from ..report.show import array_of, cut, dates
from ..stats import magnitude, pieces, refusal
from .answers import BadRequest
from .exact import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..tensor import Tensor
    from .answers import Words
    from .opened import Opened

PICTURE = 512  # rows and columns of a picture at most
TABLE = 64  # rows and columns of values at most
BAND = 1 << 22  # elements of a plane that are read at a time
WHOLE = 1 << 28  # elements of a tensor that cannot be sliced, at most


class Names:
    """Texts of which many are equal, as positions in a list of different ones."""

    def __init__(self) -> None:
        self.positions: dict[Any, int] = {}

    def at(self, value: Any) -> int:
        return self.positions.setdefault(value, len(self.positions))


def columns(opened: Opened, words: Words) -> dict[str, Any]:
    """All tensors, a list for each column; dtypes, shapes, kinds and sections as positions in lists of the different ones."""
    made: dict[str, Any] = opened.once("columns", lambda: _columns(opened))
    return made


def _columns(opened: Opened) -> dict[str, Any]:
    tensors = opened.tensors
    dtypes, shapes, kinds, sections, storages = Names(), Names(), Names(), Names(), Names()
    made: dict[str, Any] = {key: [] for key in ("names", "dtype", "shape", "nbytes", "kind", "storage", "section")}
    faults: dict[int, str] = {}
    for number_, tensor in enumerate(tensors):
        layout = tensor.layout
        made["names"].append(printable(tensor.name))
        made["dtype"].append(dtypes.at(str(tensor.dtype)))
        made["shape"].append(shapes.at(layout.shape))
        made["nbytes"].append(nbytes(tensor))
        made["kind"].append(kinds.at(layout.kind))
        made["storage"].append(-1 if layout.storage is None else storages.at(layout.storage))
        made["section"].append(sections.at(printable(tensor.name.partition(".")[0])))
        if layout.fault:
            faults[number_] = printable(layout.fault)
    sharers = Counter(made["storage"])
    return {
        "count": len(tensors),
        "dtypes": list(dtypes.positions),
        "shapes": [exact(list(shape)) for shape in shapes.positions],
        "kinds": list(kinds.positions),
        "sections": list(sections.positions),
        "storages": len(storages.positions),
        "sharing": [1 if at < 0 else sharers[at] for at in made["storage"]],
        "faults": faults,
        **made,
    }


def chosen(opened: Opened, words: Words) -> Tensor:
    tensors = opened.tensors
    if not tensors:
        raise BadRequest("this file holds no tensors")
    return tensors[words.number("row", high=len(tensors) - 1)]


def tensor(opened: Opened, words: Words) -> dict[str, Any]:
    """One tensor: its row of ``inert ls``, who shares its storage, and whether it can be shown as numbers."""
    found = chosen(opened, words)
    at = words.number("row")
    table = columns(opened, words)
    storage = table["storage"][at]
    sharers = [] if storage < 0 or table["sharing"][at] < 2 else [i for i, other in enumerate(table["storage"]) if other == storage]
    why = found.layout.fault or refusal(found)
    listed = row(found)
    return {
        **exact(listed),
        "nbytes": listed["nbytes"],
        "row": at,
        "sharers": [i for i in sharers if i != at][:100],
        "sharing": table["sharing"][at],
        "elements": exact(_product(found.shape)),
        "numeric": not why,
        "why": printable(why),
        "offset_in_file": found.file_offset if not found.layout.fault else None,
    }


# -- planes ---------------------------------------------------------------------------------------------------------------


class Plane:
    """Two axes of a tensor, rows and columns, and where the others are held; missing axes are of length 1."""

    def __init__(self, found: Tensor, words: Words) -> None:
        shape = tuple(found.shape)
        rank = len(shape)
        axes = words.numbers("axes", ",".join(map(str, range(max(0, rank - 2), rank))))
        at = words.numbers("at", ",".join("0" * rank))
        if len(axes) != min(2, rank) or len(set(axes)) != len(axes) or any(not 0 <= axis < rank for axis in axes):
            raise BadRequest(f"the parameter axes must name {min(2, rank)} of the {rank} dimensions")
        if len(at) != rank or any(not 0 <= i < max(1, size) for i, size in zip(at, shape, strict=True)):
            raise BadRequest("the parameter at must be an index of the tensor")
        self.tensor, self.axes, self.at, self.shape = found, axes, at, shape
        self.rows, self.cols = ([1, 1] + [shape[axis] for axis in axes])[-2:]
        self.empty = not all(shape)
        self.array: Any = None  # of a tensor that cannot be sliced, once it is made

    def read(self, first: int, last: int, left: int, right: int, bulk: bool = False) -> Any:
        """Rows ``first`` to ``last`` and columns ``left`` to ``right`` as a two-dimensional array. ``bulk``: of numbers, and read into
        memory of our own: a map would count all that is passed over as memory of this process."""
        index: list[Any] = list(self.at)
        if len(self.axes) == 2:
            index[self.axes[0]] = slice(first, last)
        if self.axes:
            index[self.axes[-1]] = slice(left, right)
        array = self._cut(tuple(index), bulk)
        if len(self.axes) == 2 and self.axes[0] > self.axes[1]:
            array = array.T
        if len(self.axes) < 2:
            array = array.reshape(1, -1)[first:last, slice(None) if self.axes else slice(left, right)]
        return array.reshape(last - first, right - left)

    def _cut(self, index: tuple[Any, ...], bulk: bool) -> Any:
        if self.array is None:
            try:
                part = cut(self.tensor, index) if self.shape else self.tensor
                return _copied(part) if bulk and part.kind == "dense" else array_of(part)
            except UnsupportedError:
                if _product(self.shape) > WHOLE:
                    text = "the tensor is too large to be shown: it cannot be read in parts"
                    raise LimitError(text, part=self.tensor.name, hint="convert it") from None
                self.array = array_of(self.tensor)
        return self.array[index]


def _copied(part: Tensor) -> Any:
    import numpy as np

    found = [piece for piece, _ in pieces(part)]
    return (np.concatenate(found) if len(found) > 1 else found[0]).reshape(part.shape) if found else np.zeros(part.shape)


def image(opened: Opened, words: Words) -> dict[str, Any]:
    """A plane as a picture: ``mean`` of the finite values of each block as little-endian floats of the type ``dtype`` in base64, NaN where
    there are none; ``low`` and ``high`` of them, exactly where each block is one integer."""
    found = chosen(opened, words)
    _refuse(found)
    plane = Plane(found, words)
    (first, last), (left, right) = words.range("rows", plane.rows), words.range("cols", plane.cols)
    most = words.number("max", 256, 1, PICTURE)
    tall, wide = min(last - first, most), min(right - left, most)
    made = {"rows": plane.rows, "cols": plane.cols, "height": tall, "width": wide}
    if plane.empty or not tall or not wide:
        return {**made, "height": 0, "width": 0, "dtype": "<f4", "mean": "", "nan": 0, "low": None, "high": None}
    blocks = Blocks(plane, _edges(first, last, tall), _edges(left, right, wide))
    single = tall == last - first and wide == right - left
    return {**made, "exact": single, "nan": blocks.odd, **blocks.result(single)}


class Blocks:
    """The means of a plane's blocks, read a band at a time; the smallest and the largest integer, where the values are such."""

    def __init__(self, plane: Plane, row_edges: Any, col_edges: Any) -> None:
        import numpy as np

        self.total = np.zeros((len(row_edges) - 1, len(col_edges) - 1))
        self.count = np.zeros(self.total.shape, np.int64)
        self.odd = 0
        self.type: Any = np.dtype(np.float32)
        self.bounds: list[int] = []
        for at in range(len(row_edges) - 1):
            step = max(1, BAND // max(1, int(row_edges[at + 1] - row_edges[at])))
            for begin in range(int(col_edges[0]), int(col_edges[-1]), step):
                end = min(begin + step, int(col_edges[-1]))
                block = magnitude(plane.read(int(row_edges[at]), int(row_edges[at + 1]), begin, end, bulk=True))
                self._add(at, block, np.searchsorted(col_edges, np.arange(begin, end), side="right") - 1)

    def _add(self, at: int, block: Any, places: Any) -> None:
        import numpy as np

        self.type = np.result_type(block.dtype, self.type)  # what float32 cannot tell apart is sent as float64
        if block.dtype.kind in "biu":
            self.bounds = [min([*self.bounds[:1], int(block.min())]), max([*self.bounds[1:], int(block.max())])]
        block = block.astype(np.float64)
        sound = np.isfinite(block)
        self.odd += int(block.size - sound.sum())
        wide = self.total.shape[1]
        self.total[at] += np.bincount(places, np.where(sound, block, 0.0).sum(axis=0), wide)
        self.count[at] += np.bincount(places, sound.sum(axis=0), wide).astype(np.int64)

    def result(self, single: bool) -> dict[str, Any]:
        """``single``: each block is one value."""
        import numpy as np

        code = "<f8" if self.type.itemsize > 4 else "<f4"
        with np.errstate(all="ignore"):
            mean = np.where(self.count > 0, self.total / np.maximum(self.count, 1), np.nan).astype(code)
        finite = mean[np.isfinite(mean)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (None, None)
        if single and self.bounds:
            low, high = exact(self.bounds)
        return {"dtype": code, "mean": b64encode(mean.tobytes()).decode(), "low": low, "high": high}


def values(opened: Opened, words: Words) -> dict[str, Any]:
    """At most TABLE rows and columns of a plane as numbers and texts."""
    found = chosen(opened, words)
    plane = Plane(found, words)
    (first, last), (left, right) = words.range("rows", plane.rows), words.range("cols", plane.cols)
    last, right = min(last, first + TABLE), min(right, left + TABLE)
    if plane.empty:
        return {"rows": plane.rows, "cols": plane.cols, "first": first, "left": left, "values": []}
    array = plane.read(first, last, left, right)
    kind = array.dtype.kind
    listed = dates(array).tolist() if kind in "Mm" else array.tolist()
    spelled = [[_spell(value) for value in line] for line in listed]
    return {"rows": plane.rows, "cols": plane.cols, "first": first, "left": left, "values": spelled}


def _spell(value: Any) -> Any:
    if isinstance(value, float):
        return number(value)
    return exact(plain(value, nodes=1000, text=200))


def _refuse(found: Tensor) -> None:
    why = found.layout.fault or refusal(found)
    if why:
        raise UnsupportedError(why, part=found.name)


def _edges(first: int, last: int, parts: int) -> Any:
    """The bounds of ``parts`` nearly equal blocks."""
    import numpy as np

    return np.array([first + (last - first) * i // parts for i in range(parts + 1)])


def _product(shape: tuple[int, ...]) -> int:
    made = 1
    for size in shape:
        made *= size
    return made
