"""What formats of named tensors share: an object → its tensors by name, and what such a format cannot hold.

Knows: which tensors are one and the same, how a tensor's elements are given in order, and what becomes of values that are no tensors.
Refuses to know: how a format spells any of it.

Everything that can be wrong with a tensor is found here, before a byte is written. Facts: safetensors 0.8.0 (torch.py: save_model) for the
tensor that is kept of several equal ones, the alphabetically first, and how the metadata names the others.
"""

from __future__ import annotations

import json
from math import isfinite

from ..errors import InertError, LimitError, UnsupportedError
from ..finding import Finding
from ..layout import check_logical, is_contiguous, item_geometry, items_of, pieces, reach
from ..limits import DEFAULT
from ..names import HERE, LISTED, Lister, children, piece
from ..sink import Stream
from ..tensor import Tensor
from ..torch.objects import Object
from ..torch.storing import identity
from . import DAMAGED, File, left_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from ..layout import Layout
    from ..names import Link
    from ..sink import Piece
    from . import Options, Saved

_SCALARS = (str, int, bool, type(None))
LONGEST = 4096  # bits of a number in JSON: decimal digits take quadratic time, and Python's own reader refuses 4,300 of them
_NEXT = {
    "quantized": "dequantise it, or leave it out",
    "meta": "leave it out",
    "objects": "leave it out",
    "strings": "write a TensorFlow checkpoint, or leave it out",
    "opaque": "write a TensorFlow checkpoint, or leave it out",
}
SPARSE = "make it dense, or write its components under names of their own"


class Flat:
    """The named tensors of an object. ``aliases``: name → the name of the equal tensor that is written in its place. ``kept``: other
    values by name, as far as JSON can hold them. ``lost`` and ``notes``: as in a Plan."""

    def __init__(self, saved: Saved, options: Options, alias: bool = True) -> None:
        lister = Lister(saved.root, DEFAULT, saved.tensors)
        if any(note.code == "names-limit" for note in lister.notes):
            raise LimitError("the names of the tensors together are too long to be written", hint="write a part of the object")
        self.tensors = lister.tensors
        self.notes = list(lister.notes)
        self.lost = [(name, "a tensor's attributes") for name, tensor in self.tensors.items() if tensor.layout.attributes]
        self.aliases: dict[str, str] = {}
        self.kept: dict[str, Any] = {}
        source = saved.source
        kept = source.content.aliases(source.tensors).values() if source is not None else ()
        self._share(options.shared, alias, frozenset(kept))
        self._leaves(saved.root, lister, options.leaves)

    def _share(self, shared: str, alias: bool, preferred: frozenset[str]) -> None:
        equal, overlapping = ties(self.tensors, preferred)
        if shared == "error" and (equal or overlapping):
            names = ", ".join(([*equal, *equal.values()] or overlapping)[:5])
            raise UnsupportedError(f"tensors share memory: {names}", hint="shared=alias writes equal ones once, shared=copy each of them")
        if shared == "alias" and alias and equal:
            self.aliases = equal
            self.tensors = {name: tensor for name, tensor in self.tensors.items() if name not in equal}
            self.notes.append(
                Finding("shared-alias", f"{len(equal):,} equal tensors are written under one name each", "", None, tuple(equal))
            )
        elif alias:
            overlapping += [name for name in equal if name not in overlapping]
        if overlapping and alias:
            text = f"{len(overlapping):,} tensors that share memory are written one by one"
            self.notes.append(Finding("shared-copy", text, "", None, tuple(overlapping)))

    def _leaves(self, root: Any, lister: Lister, how: str) -> None:
        for name, value in leaves(root, lister):
            if type(value) is Object and lister.seen.get(id(value)) == LISTED:
                self.lost.append((name, f"{_a(value)}: of it only the tensors are kept"))
            elif how == "error":
                raise UnsupportedError(
                    f"{_a(value)} is no tensor", part=name, hint="leaves=lost leaves it out, leaves=sidecar keeps it beside"
                )
            elif how == "lost":
                self.lost.append((name, f"{_a(value)} is no tensor"))
            elif plain(value):
                self.kept[name] = value
            else:
                self.lost.append((name, f"{_a(value)} is no tensor, and JSON cannot hold it"))

    def sidecar(self, name: str) -> list[File]:
        """The file NAME.json, if anything is kept in it."""
        if not self.kept:
            return []
        data = (json.dumps(self.kept, indent=2) + "\n").encode()
        return [File(f"{name}.json", len(data), lambda out: out.write(data))]


# -- tensors ----------------------------------------------------------------------------------------------------------------------


def ties(tensors: Mapping[str, Tensor], preferred: Collection[str] = ()) -> tuple[dict[str, str], list[str]]:
    """(name → the ``preferred`` or alphabetically first name of an equal tensor over the same memory; names that overlap without being
    equal)."""
    groups: dict[Any, list[str]] = {}
    runs: dict[Any, list[tuple[int, int, str]]] = {}
    for name, tensor in tensors.items():
        layout = tensor.layout
        if layout.storage is None or layout.fault or 0 in layout.shape or layout.kind not in ("dense", "quantized", "numpy"):
            continue
        memory, width = identity(layout.storage), layout.dtype.itemsize
        place = (memory, layout.dtype, layout.shape, layout.strides, layout.offset, layout.conj, layout.neg, layout.kind)
        group = groups.setdefault(place, [])
        if not group:
            last = reach(layout.shape, layout.strides)[0]
            runs.setdefault(memory, []).append((layout.offset * width, (layout.offset + last + 1) * width, name))
        group.append(name)
    equal = {}
    for group in groups.values():
        if len(group) > 1:
            first, *others = sorted(group, key=lambda name: (name not in preferred, name))
            equal.update(dict.fromkeys(others, first))
    return equal, [name for found in runs.values() if len(found) > 1 for name in _overlapping(found)]


def _overlapping(runs: list[tuple[int, int, str]]) -> Iterator[str]:
    """The names of runs that meet another one."""
    runs.sort()
    end, last, told = -1, "", True
    for start, stop, name in runs:
        meets = start < end
        if meets:
            if not told:
                yield last
            yield name
        if stop > end:
            end, last, told = stop, name, meets


def elements(name: str, tensor: Tensor) -> Piece:
    """The elements in row-major order, little-endian: as a Span where they lie so. UnsupportedError naming the tensor where it has none."""
    layout = tensor.layout
    try:
        return _elements(layout, tensor)
    except LimitError as error:
        raise LimitError(error.message, part=name, hint=error.hint) from None
    except InertError as error:
        raise UnsupportedError(error.message, part=name, hint=error.hint or left_out(name)) from None


def whole(name: str, tensor: Tensor) -> None:
    """UnsupportedError for a damaged tensor."""
    fault = tensor.layout.fault
    if fault:
        raise UnsupportedError(f"{DAMAGED}: {fault}", part=name, hint=f"{left_out(name)}, or repair the file")


def _elements(layout: Layout, tensor: Tensor) -> Piece:
    whole("", tensor)
    if layout.kind not in ("dense", "numpy", "tiled") or layout.storage is None:
        raise UnsupportedError(f"a tensor of kind {layout.kind}", hint=_NEXT.get(layout.kind, SPARSE))
    shape, strides, offset = item_geometry(layout)
    last, _, wrong = reach(shape, strides)
    if wrong:
        raise UnsupportedError(wrong)
    width, limits = layout.dtype.itemsize, tensor.limits
    size = nbytes(layout)
    check_logical(size, (last + 1) * width, limits)
    if not size:
        return b""
    span = layout.storage.span()
    turned = layout.conj or layout.neg or (layout.storage.order == "big" and layout.dtype.unit > 1)
    if turned or not is_contiguous(shape, strides):
        return Stream(size, lambda: pieces(layout, limits))
    return span.sub(offset * width, size)


def nbytes(layout: Layout) -> int:
    """Bytes of the elements in order."""
    return items_of(layout.dtype, layout.shape) * layout.dtype.itemsize


# -- everything else ----------------------------------------------------------------------------------------------------------------


def leaves(root: Any, lister: Lister, objects: bool = False) -> Iterator[tuple[str, Any]]:
    """(name, value) of what holds no tensor: of nested ones the highest. An unknown object with tensors in it is given, and not entered
    unless ``objects`` are."""
    seen, budget = lister.seen, DEFAULT.name_bytes
    if isinstance(root, Tensor) or id(root) in lister.arrays:
        return
    todo: list[tuple[Any, Link]] = [(root, None)]
    entered: set[int] = set()
    while todo:
        value, link = todo.pop()
        enters = seen.get(id(value)) == LISTED or (value is root and children(root) is not None)
        if not enters or (type(value) is Object and not objects):
            name = _joined(link)
            budget -= len(name) + 1
            if budget < 0:
                raise LimitError("the names of the values together are too long to be written", hint="write a part of the object")
            yield name, value
        elif id(value) not in entered:
            entered.add(id(value))
            inside = [pair for pair in children(value) or () if not isinstance(pair[1], Tensor) and id(pair[1]) not in lister.arrays]
            todo += [(item, link if key is HERE else (link, key)) for key, item in reversed(inside)]


def _joined(link: Link) -> str:
    steps = []
    while link is not None:
        link, key = link
        steps.append(piece(key))
    return ".".join(reversed(steps))


def plain(value: Any) -> bool:
    """Whether JSON holds the value as it is: texts, numbers, lists and dicts with texts for keys, not too many and not too deep."""
    level, count = [value], 0
    for _ in range(DEFAULT.json_depth):
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is int and item.bit_length() > LONGEST:
                return False
            if kind in _SCALARS or (kind is float and isfinite(item)):
                continue
            if isinstance(item, dict) and all(type(key) is str for key in item):
                below += item.values()
            elif kind in (list, tuple):
                below += item
            else:
                return False
            count += len(item)
            if count > DEFAULT.json_values:
                return False
        level = below
        if not level:
            return True
    return False


def _a(value: Any) -> str:
    """A value in a few words."""
    if type(value) is Object:
        return f"an object of {value.type}"
    kind = "NoneType" if value is None else type(value).__name__
    many = f" of {len(value):,}" if isinstance(value, (dict, list, tuple, set, frozenset)) else ""
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}{many}"
