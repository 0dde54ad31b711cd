"""The tensors of a bundle from one pass over its indexes.

Knows: which entries are tensors, which are slices of them, and what is odd; that of several entries with one name the first counts.
Refuses to know: what an entry means (tensorflow/), and files.

What nearly every bundle is, one index in order without slices, stays two lists, names and tensors; a dict is made when it is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import ItemsView, ValuesView
from functools import partial

from ..containers.sstablecolumns import Columns
from ..errors import FormatError
from ..finding import Finding
from ..tensor import Tensor
from ..tensorflow import graph
from ..tensorflow.entries import Joined, Stored, listed, stored
from ..tensorflow.slices import decode, key_of
from .tf_checks import FAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..containers.sstable import Fault
    from .tf_bundle import TfBundle
    from .tf_shards import Bundle


class Names:
    """``names`` and ``made``, the tensors under them, in the order of the keys. ``stored``: the entries of those that are not Listed,
    ``slices``: bundle, key and entry of the slices that tensors are made of, ``odd``: what was noted."""

    def __init__(self, owner: TfBundle) -> None:
        self.limits = owner.limits
        self.objects = owner.objects
        self.bundles = owner.bundles
        self.names: list[str] = []
        self.made: list[Any] = []  # Tensors, and Stored of which Tensors are made at the end
        self.stored: dict[str, Stored] = {}
        self.slices: list[tuple[Bundle, bytes, bytes]] = []
        self.odd: list[Finding] = []
        self._budget = self.limits.name_bytes
        self._by_name: dict[str, Any] | None = {} if len(self.bundles) > 1 else None
        self._parted: dict[str, list[Stored]] = {}
        for bundle in self.bundles:
            self._read(bundle)
        if self._parted or self.slices:
            self._join()
        self.objects = self.objects or graph.KEY in self.stored
        if self._by_name is not None:
            self.names, self.made = list(self._by_name), list(self._by_name.values())
        if self.stored:
            self.made = [
                self._placed(name, one) if isinstance(one, Stored) else one for name, one in zip(self.names, self.made, strict=True)
            ]

    def path(self, name: str) -> tuple[Any, ...]:
        return graph.path_of(name) if self.objects else (name,)

    def keep(self, name: str, tensor: Tensor, found: Stored) -> None:
        """A tensor that has been handed out stays what it is."""
        at = bisect_left(self.names, name)
        if self.names[at : at + 1] != [name]:  # not in order, or in a block that cannot be read to its end
            at = self.names.index(name) if name in self.names else len(self.names)
        self.names[at : at + 1], self.made[at : at + 1] = [name], [tensor]
        self.stored[name] = found

    def _placed(self, name: str, found: Stored) -> Tensor:
        path = self.path(name)
        return Tensor(found, self.limits, name, path[:-1], path[-1] if path else name)

    def _read(self, bundle: Bundle) -> None:
        faults: list[Fault] = []
        for rows in bundle.table.listing(faults):
            if isinstance(rows, Columns):
                self._budget -= rows.length
                self.objects = self.objects or rows.has(graph.KEY)
                names, made = self._columns(bundle, rows)
            else:
                self._budget -= sum(map(len, rows[0]))
                names, made = self._pairs(bundle, *rows)
            if self._budget < 0:
                self.odd.append(Finding("names-limit", f"{len(self.names):,} tensors are listed", bundle.name))
                break
            self._add(bundle, names, made)
        if self._by_name is None and any(fault.code == "order" for fault in faults):
            self._by_name = {}
            names, self.names = self.names, []
            self._add(bundle, names, self.made)
        self.odd += [Finding(FAULTS[one.code], one.message, bundle.name, one.offset) for one in faults]

    def _add(self, bundle: Bundle, names: list[str], made: list[Any]) -> None:
        if self._by_name is None:
            self.names += names
            self.made += made
            return
        for name, one in zip(names, made, strict=True):
            known = self._by_name.setdefault(name, one)
            home = self.stored[name].head.bundle if name in self.stored else known.run.bundle
            if known is not one and home is not bundle and name not in self._parted:
                self.odd.append(Finding("tf-order", f"{name[:200]!r} stands in two parts", bundle.name, None, (name,)))

    def _columns(self, bundle: Bundle, columns: Columns) -> tuple[list[str], list[Any]]:
        from ..tensorflow.columns import Run

        made, odd = Run(bundle, columns, bundle.heads, self.path).tensors()
        names = columns.keys
        if odd:
            names = names.copy()  # the run looks its own up
            for number in odd:
                name = names[number]
                made[number] = self._one(bundle, name, name.encode(), columns.value(number)) if name else None
            for number in reversed(odd):
                if made[number] is None:
                    del names[number], made[number]
        return names, made

    def _one(self, bundle: Bundle, name: str, key: bytes, raw: bytes) -> Stored | None:
        try:
            return self._kept(name, stored(bundle, key, raw, bundle.heads))
        except FormatError as error:
            self._wrong(bundle, name, error)
            return None

    def _pairs(self, bundle: Bundle, keys: list[bytes], values: list[bytes]) -> tuple[list[str], list[Any]]:
        while keys and not keys[0]:  # the header; a second one is out of order
            del keys[0], values[0]
        if keys and min(keys) < b"\1":
            pairs = list(zip(keys, values, strict=True))
            self.slices += [(bundle, key, raw) for key, raw in pairs if key[:1] == b"\0"]
            keys, values = [key for key in keys if key[:1] > b"\0"], [raw for key, raw in pairs if key[:1] > b"\0"]
        names, made = names_of(keys), listed(bundle, keys, values, bundle.heads)
        kept, read = [], []
        for name, one in zip(names, made, strict=True):
            if isinstance(one, FormatError):
                self._wrong(bundle, name, one)
            else:
                kept.append(name)
                read.append(self._kept(name, one))
        return kept, read

    def _kept(self, name: str, found: Stored) -> Stored:
        """An entry of its own; one that is made of slices may have others in other parts."""
        if found.key:
            self._parted.setdefault(name, []).append(found)
        self.stored.setdefault(name, found)
        return found

    def _wrong(self, bundle: Bundle, name: str, error: FormatError) -> None:
        self.odd.append(Finding("tf-entry", f"the entry of {name[:200]!r}: {error.message}", bundle.name, None, (name,)))

    def _join(self) -> None:
        """Tensors of slices, which may be entries of several parts; slices that no tensor is made of are tensors of their own."""
        found = self._by_name = self._by_name if self._by_name is not None else dict(zip(self.names, self.made, strict=True))
        used: set[bytes] = set()
        for name, parts in self._parted.items():
            entries = [(part.head.bundle, part.entry()) for part in parts]
            if len(parts) > 1 and isinstance(found[name], Stored):
                self.stored[name] = found[name] = joined = Joined(parts[0].head, parts[0].raw, parts[0].key)
                joined.others = entries[1:]
            used |= {key_of(parts[0].key, extents) for _, one in entries for extents in one.slices}
        for bundle, key, raw in self.slices:
            if key in used:
                continue
            name = str(key, "utf-8", "surrogateescape")
            try:
                self.stored[name] = found[name] = stored(bundle, key, raw, bundle.heads)
            except FormatError as error:
                self.odd.append(Finding("tf-entry", f"the entry of a slice: {error.message}", bundle.name, None, (name,)))
            slice_of = decode(key)
            if slice_of is not None:
                text = f"a slice of {str(slice_of[0], 'utf-8', 'replace')[:200]!r}, which has no such slice"
                self.odd.append(Finding("tf-slice-stray", text, bundle.name, None, (name,)))
        self.slices = [one for one in self.slices if one[1] in used]


def names_of(keys: list[bytes]) -> list[str]:
    """The keys as texts; bytes that are no UTF-8 are kept as surrogates."""
    whole = str(b"\0".join(keys), "utf-8", "surrogateescape")
    names = whole.split("\0") if keys else []
    return names if len(names) == len(keys) else [str(key, "utf-8", "surrogateescape") for key in keys]


class Pairs(ItemsView[str, Tensor]):
    """``items()`` of a Mapping whose names and tensors are two lists."""

    def __init__(self, mapping: Mapping[str, Tensor], names: list[str], made: list[Tensor]) -> None:
        super().__init__(mapping)
        self._each = partial(zip, names, made)

    def __iter__(self) -> Iterator[tuple[str, Tensor]]:
        return iter(self._each())


class Values(ValuesView[Tensor]):
    """``values()`` of the same."""

    def __init__(self, mapping: Mapping[str, Tensor], made: list[Tensor]) -> None:
        super().__init__(mapping)
        self._made = made

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._made)
