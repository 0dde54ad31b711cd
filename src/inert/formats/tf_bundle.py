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

from ..checkpoint import Calm
from ..content import Content, Listing, Part
from ..errors import FormatError, InertError
from ..finding import Finding
from ..tensor import Tensor
from ..tensorflow import graph
from ..tensorflow.columns import Listed
from ..tensorflow.entries import quick, stored
from ..tensorflow.messages import entry
from ..tensorflow.slices import decode, spelt
from .tf_checks import index_checks, shard_checks
from .tf_listing import Names, Pairs, Values
from .tf_places import BUNDLE, find
from .tf_shards import Bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, ValuesView
    from typing import Any

    from ..limits import Limits
    from ..source import Source
    from ..tensorflow.entries import Stored
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
        return iter(self.owner.found().names)

    def __len__(self) -> int:
        return len(self.owner.found().names)

    def items(self) -> ItemsView[str, Tensor]:
        found = self.owner.found()
        return Pairs(self, found.names, found.made)

    def values(self) -> ValuesView[Tensor]:
        return Values(self, self.owner.found().made)


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
        self.objects = any(bundle.has(graph.KEY.encode()) for bundle in self.bundles)
        self._stored: dict[str, Stored] = {}  # the entries of those
        self._found: Names | None = None
        self._tensors: dict[str, Tensor] | None = None
        self._nodes: tuple[list[graph.Node], list[Finding]] | None = None

    def plain(self) -> bool:
        return False  # an index from a stream is not all of it

    # -- tensors ----------------------------------------------------------------------------------------------------------------

    def listing(self) -> Listing:
        return Listing(Lazy(self), [])

    def one(self, name: str) -> Tensor | None:
        """A tensor by its name, at the cost of one block of the index."""
        if self._found is None and name and not name.startswith("\0") and len(self.bundles) == 1:
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
            path = graph.path_of(name) if self.objects else (name,)
            with self.lock:
                self._stored.setdefault(name, found)
                return self.known.setdefault(name, Tensor(found, self.limits, name, path[:-1], path[-1] if path else name))
        return self.tensors().get(name)

    def found(self) -> Names:
        """All tensors in the order of their keys, from one pass over the index."""
        with self.lock:
            if self._found is None:
                with Calm():
                    made = Names(self)
                self.objects = made.objects
                for name, tensor in self.known.items():
                    made.keep(name, tensor, self._stored[name])
                self._found = made
            return self._found

    def tensors(self) -> dict[str, Tensor]:
        """The same by name."""
        with self.lock:
            if self._tensors is None:
                found = self.found()
                self._tensors = dict(zip(found.names, found.made, strict=True))
            return self._tensors

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
        found = self.found()
        named = list(zip(found.names, map(self.entry, found.names, found.made), strict=True))
        for home, key, raw in found.slices:
            whole_name, extents = decode(key) or (key, ())
            named.append((f"{str(whole_name, 'utf-8', 'surrogateescape')}[{spelt(extents)}]", (home, raw)))
        for name, (bundle, raw) in named:
            place = quick(raw)
            if place is not None:
                yield name, bundle, *place[:3], raw
                continue
            try:
                whole = entry(raw)
            except FormatError:
                continue  # noted when it was listed
            if not whole.slices:
                yield name, bundle, whole.shard, whole.offset, whole.size, raw

    def entry(self, name: str, tensor: Tensor) -> tuple[Any, bytes]:
        """The bundle and the entry of a tensor."""
        if isinstance(tensor, Listed):
            return tensor.run.bundle, tensor.run.raw(name)
        kept = self.found().stored[name]
        return kept.head.bundle, kept.raw

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
        found = [*self.place.notes, *(note for bundle in self.bundles for note in bundle.notes), *self.found().odd]
        for bundle in self.bundles:
            found += index_checks(bundle)
        return [*found, *shard_checks(self)]

    def close(self) -> None:
        super().close()
        self.named.close()
        for bundle in self.bundles:
            bundle.file.close()
