"""tf-bundle: TensorFlow's checkpoints since 0.12, name-based or object-based, and the variables of a SavedModel.

Knows: how an index and its data files make a checkpoint, how parts that were never merged make one, and what the object graph adds. One
tensor by name costs one block of the index; a listing, one pass over it.
Refuses to know: what an entry means (tensorflow/), how a table is laid out (containers/sstable.py), where data files are (tf_shards.py),
and what is checked (tf_checks.py).

Facts: TensorFlow 2.21 tensor_bundle.cc, and bundles of TensorFlow 0.12 to 2.21.
"""

from __future__ import annotations

from collections.abc import Mapping
from threading import RLock

from ..checkpoint import Calm, Content, Listing, Part
from ..containers import sstable
from ..errors import FormatError, InertError
from ..finding import Finding
from ..tensor import Tensor
from ..tensorflow import graph
from ..tensorflow.entries import Joined, Stored, listed, quick, stored
from ..tensorflow.messages import entry
from ..tensorflow.slices import decode, key_of, spelt
from .tf_checks import FAULTS, index_checks, shard_checks
from .tf_places import BUNDLE, find
from .tf_shards import Bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, ValuesView
    from typing import Any

    from ..limits import Limits
    from ..source import Source
    from .tf_places import Place


def claims(source: Source, limits: Limits) -> Place | None:
    """Where the files are: the source is one of them, their folder, or their prefix."""
    place = find(source, limits)
    return place if place is not None and place.kind == BUNDLE else None


def read(source: Source, limits: Limits, claim: Place, byteorder: str | None) -> TfBundle:
    try:
        return TfBundle(source, claim, limits)
    except BaseException:
        if claim.folder is not None:
            claim.folder.close()
        raise


class Lazy(Mapping[str, Tensor]):
    """The tensors of a checkpoint by name. One that is asked for by its name is looked up; anything else lists them all, once."""

    __slots__ = ("owner",)

    def __init__(self, owner: TfBundle) -> None:
        self.owner = owner

    def __getitem__(self, name: str) -> Tensor:
        found = self.owner.one(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.owner.entries())

    def __len__(self) -> int:
        return len(self.owner.entries())

    def items(self) -> ItemsView[str, Tensor]:
        return self.owner.tensors().items()

    def values(self) -> ValuesView[Tensor]:
        return self.owner.tensors().values()


class TfBundle(Content):
    format = "tf-bundle"

    def __init__(self, source: Source, place: Place, limits: Limits) -> None:
        super().__init__(place.folder if place.folder is not None else source, limits)
        self.named = source
        self.place = place
        self.bundles: list[Bundle] = []
        for stem in place.stems:
            self.bundles.append(Bundle(self, place.folder, stem, place.file))
        if not self.bundles:
            raise FormatError("it has no index", part=source.name)
        if len({bundle.header.big for bundle in self.bundles}) > 1:
            raise FormatError("its parts are of different byte orders", part=source.name)
        self.known: dict[str, Tensor] = {}  # looked up one by one
        self.lock = RLock()
        self.stored: dict[str, Stored] = {}
        self.slices: list[tuple[Bundle, bytes, bytes]] = []  # entries of slices: bundle, key, entry
        self.odd: list[Finding] = []
        self._listed = False
        self._tensors: dict[str, Tensor] | None = None
        self._nodes: tuple[list[graph.Node], list[Finding]] | None = None
        self.objects = any(bundle.has(graph.KEY.encode()) for bundle in self.bundles)

    def plain(self) -> bool:
        return False  # an index from a stream is not all of it

    # -- tensors ----------------------------------------------------------------------------------------------------------------

    def listing(self) -> Listing:
        return Listing(Lazy(self), [])

    def one(self, name: str) -> Tensor | None:
        """A tensor by its name, at the cost of one block of the index."""
        if self._tensors is None and name and not name.startswith("\0") and len(self.bundles) == 1:
            known = self.known.get(name)
            if known is not None:
                return known
            bundle, key = self.bundles[0], name.encode("utf-8", "surrogateescape")
            try:
                raw = bundle.table.get(key)
                if raw is None:
                    return None
                found = stored(bundle, key, raw, bundle.heads)
            except FormatError:
                return self.tensors().get(name)
            with self.lock:
                return self.known.setdefault(name, self._placed(name, found))
        return self.tensors().get(name)

    def _placed(self, name: str, found: Stored) -> Tensor:
        path = graph.path_of(name) if self.objects else (name,)
        return Tensor(found, self.limits, name, path[:-1], path[-1] if path else name)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors in the order of their keys, from one pass over the index."""
        with self.lock:
            if self._tensors is None:
                with Calm():
                    self.entries()
                    limits = self.limits
                    if self.objects:
                        made = {name: self._placed(name, found) for name, found in self.stored.items()}
                    else:
                        made = {name: Tensor(found, limits, name, (), name) for name, found in self.stored.items()}
                self._tensors = made | self.known
            return self._tensors

    def entries(self) -> dict[str, Stored]:
        """What the index has of every tensor."""
        with self.lock:
            if not self._listed:
                with Calm():
                    self._list()
                self._listed = True
            return self.stored

    def _list(self) -> None:
        parted: dict[str, list[Stored]] = {}
        budget = self.limits.name_bytes
        for bundle in self.bundles:
            faults: list[sstable.Fault] = []
            for keys, values in bundle.table.listing(faults):
                while keys and not keys[0]:  # the header; a second one is out of order
                    del keys[0], values[0]
                if keys and keys[0] < b"\1":
                    keys, values = self._apart(bundle, keys, values)
                budget -= sum(map(len, keys))
                if budget < 0:
                    self.odd.append(Finding("names-limit", f"{len(self.stored):,} tensors are listed", bundle.name))
                    break
                for name, found in zip(names_of(keys), listed(bundle, keys, values, bundle.heads), strict=True):
                    if type(found) is Stored and not found.key and name not in self.stored:
                        self.stored[name] = found
                    else:
                        self._odd(bundle, name, found, parted)
            self.odd += [Finding(FAULTS[one.code], one.message, bundle.name, one.offset) for one in faults]
        self._join(parted)
        self.objects = self.objects or graph.KEY in self.stored

    def _apart(self, bundle: Bundle, keys: list[bytes], values: list[bytes]) -> tuple[list[bytes], list[bytes]]:
        """Keys and values without those of slices, which are put aside."""
        self.slices += [(bundle, key, raw) for key, raw in zip(keys, values, strict=True) if key[:1] == b"\0"]
        plain = [(key, raw) for key, raw in zip(keys, values, strict=True) if key[:1] > b"\0"]
        return [key for key, _ in plain], [raw for _, raw in plain]

    def _odd(self, bundle: Bundle, name: str, found: Stored | FormatError, parted: dict[str, list[Stored]]) -> None:
        """An entry that is none, of a tensor of slices, or of a name that is known already: the first one counts, as for TensorFlow."""
        if isinstance(found, FormatError):
            self.odd.append(Finding("tf-entry", f"the entry of {name[:200]!r}: {found.message}", bundle.name, None, (name,)))
        elif found.key:
            parted.setdefault(name, []).append(found)
            self.stored.setdefault(name, found)
        elif self.stored[name].head.bundle is not bundle:
            self.odd.append(Finding("tf-order", f"{name[:200]!r} stands in two parts", bundle.name, None, (name,)))

    def _join(self, parted: dict[str, list[Stored]]) -> None:
        """Tensors of slices, which may be entries of several parts; slices that no tensor is made of are tensors of their own."""
        used: set[bytes] = set()
        for name, parts in parted.items():
            entries = [(part.head.bundle, part.entry()) for part in parts]
            if len(parts) > 1:
                self.stored[name] = joined = Joined(parts[0].head, parts[0].raw, parts[0].key)
                joined.others = entries[1:]
            used |= {key_of(parts[0].key, extents) for _, one in entries for extents in one.slices}
        for bundle, key, raw in self.slices:
            if key in used:
                continue
            name = str(key, "utf-8", "surrogateescape")
            try:
                self.stored[name] = stored(bundle, key, raw, bundle.heads)
            except FormatError as error:
                self.odd.append(Finding("tf-entry", f"the entry of a slice: {error.message}", bundle.name, None, (name,)))
            slice_of = decode(key)
            if slice_of is not None:
                text = f"a slice of {str(slice_of[0], 'utf-8', 'replace')[:200]!r}, which has no such slice"
                self.odd.append(Finding("tf-slice-stray", text, bundle.name, None, (name,)))
        self.slices = [one for one in self.slices if one[1] in used]

    # -- objects ----------------------------------------------------------------------------------------------------------------

    def nodes(self) -> tuple[list[graph.Node], list[Finding]]:
        """The object graph's nodes; none, and why, where it cannot be read."""
        if self._nodes is None:
            try:
                tensor = self.one(graph.KEY) if self.objects else None
                raw = b"" if tensor is None else tensor.numpy().reshape(-1).tolist()[0]
                self._nodes = graph.parse(raw), []
            except (InertError, IndexError, TypeError) as error:
                text = error.message if isinstance(error, InertError) else "it is no single string"
                self._nodes = [], [Finding("tf-object-graph", text, graph.KEY)]
        return self._nodes

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        """The tree of objects with tensors in place; without an object graph, the tensors by their names."""
        nodes, odd = self.nodes()
        if not nodes:
            return {name: tensor if convert is None else convert(tensor) for name, tensor in self.tensors().items()}, odd
        made: dict[str, Any] = {}

        def value(key: str) -> Any:
            if key not in made:
                tensor = self.one(key)
                made[key] = tensor if tensor is None or convert is None else convert(tensor)
            return made[key]

        return graph.tree(nodes, value), odd

    # -- what a checkpoint is asked -----------------------------------------------------------------------------------------------

    def profile(self) -> dict[str, Any]:
        from .tf_profile import profile

        first = self.bundles[0].header
        tensors = self.tensors()
        for tensor in tensors.values():
            tensor.layout  # noqa: B018  # asks for the data files
        files = sorted(shard.name for bundle in self.bundles for shard in bundle.shards.values())
        facts = {
            "writer": f"TensorFlow with checkpoints of version {first.producer}, for readers of version {first.min_consumer} and later",
            "index": [bundle.name for bundle in self.bundles],
            "data files": {"number": sum(bundle.header.shards for bundle in self.bundles), "used": files},
        }
        return profile(tensors, self.nodes()[0], self.objects, facts)

    def places(self) -> Iterator[tuple[str, Bundle, int, int, int, bytes]]:
        """(name, bundle, shard, offset, size, entry) of whatever lies in one run of a data file: tensors, and slices under their names."""
        self.entries()
        named: list[tuple[str, Any, bytes]] = [(name, one.head.bundle, one.raw) for name, one in self.stored.items()]
        for home, key, raw in self.slices:
            whole_name, extents = decode(key) or (key, ())
            named.append((f"{str(whole_name, 'utf-8', 'surrogateescape')}[{spelt(extents)}]", home, raw))
        for name, bundle, raw in named:
            found = quick(raw)
            if found is not None:
                yield name, bundle, *found, raw
                continue
            try:
                whole = entry(raw)
            except FormatError:
                continue  # noted when it was listed
            if not whole.slices:
                yield name, bundle, whole.shard, whole.offset, whole.size, raw

    def parts(self) -> dict[str, Part]:
        made = {bundle.name: Part(bundle.name, bundle.file.name, 0, bundle.file.size, "index") for bundle in self.bundles}
        for bundle in self.bundles:
            for number in range(min(bundle.header.shards, self.limits.entries, 1000)):
                shard = bundle.shard(number)
                if shard.file is not None:
                    made[shard.name] = Part(shard.name, shard.file.name, 0, shard.file.size, "shard")
        for name, bundle, number, offset, size, _ in self.places():
            file_name, missing = bundle.place(number, offset, size)
            file = bundle.shards[number].file if number in bundle.shards else None
            part = Part(name, file.name if file else file_name, None if missing else offset, max(size, 0), "storage")
            made[name if name not in made else f"{name}@{offset}"] = part
        return made

    def metadata(self) -> dict[str, str]:
        shards = sum(bundle.header.shards for bundle in self.bundles)
        return {"byteorder": self.bundles[0].order, "shards": str(shards), **self.bundles[0].header.told()}

    def checks(self) -> tuple[Any, ...]:
        from .tf_checks import data

        return (data,)

    def notes(self) -> list[Finding]:
        self.entries()
        found = [*self.place.notes, *(note for bundle in self.bundles for note in bundle.notes), *self.odd]
        for bundle in self.bundles:
            found += index_checks(bundle)
        return [*found, *shard_checks(self)]

    def close(self) -> None:
        super().close()
        self.named.close()
        for bundle in self.bundles:
            bundle.file.close()


def names_of(keys: list[bytes]) -> list[str]:
    """The keys as texts; bytes that are no UTF-8 are kept as surrogates."""
    whole = str(b"\0".join(keys), "utf-8", "surrogateescape")
    names = whole.split("\0") if keys else []
    return names if len(names) == len(keys) else [str(key, "utf-8", "surrogateescape") for key in keys]
