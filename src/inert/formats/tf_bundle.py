"""tf-bundle: TensorFlow's checkpoints since 0.12, name-based or object-based, and the variables of a SavedModel.

Knows: how an index and its data files make a checkpoint, how parts that were never merged make one, what the object graph adds, and which
checks there are: each gives Findings. One tensor by name costs one block of the index; a listing, one pass over it.
Refuses to know: what an entry means (tensorflow/) and how a table is laid out (containers/sstable.py).

Facts: TensorFlow 2.21 tensor_bundle.cc, and bundles of TensorFlow 0.12 to 2.21.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from threading import RLock

from ..beside import BesideSource
from ..checkpoint import Calm, Content, Listing, Part
from ..containers import sstable
from ..containers.crc32c import crc32c, masked
from ..containers.folder import Folder
from ..errors import FormatError, InertError
from ..finding import Finding
from ..tensor import Tensor
from ..tensorflow import graph
from ..tensorflow.entries import Joined, Stored, listed, quick, stored
from ..tensorflow.messages import Header, entry, header
from ..tensorflow.slices import decode, key_of, spelt
from ..tensorflow.strings import strings_crc, variants_crc
from .tf_places import BUNDLE, INDEX, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, ValuesView
    from typing import Any, Literal

    from ..limits import Limits
    from ..source import Source, Span
    from ..tensorflow.entries import Head
    from ..tensorflow.messages import Entry
    from .tf_places import Place

READS = 1  # TF_CHECKPOINT_VERSION: the highest min_consumer that TensorFlow accepts
MIXED = 3  # tensors whose checksums fail, that say more than that each is damaged
STUB, STUBS = 4096, ("git-lfs-pointer", "html")  # what downloads put in the place of a file, and how small that is
HELD = 64  # data files kept open; of more, each is opened when it is read
FAULTS = {"crc": "tf-block-crc", "block": "tf-block", "order": "tf-order", "overlap": "tf-index-overlap", "gap": "tf-index-gap"}


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


class Shard:
    """One data file, or why there is none."""

    __slots__ = ("file", "missing", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.file: Source | None = None
        self.missing = ""


class Bundle:
    """One index and its data files."""

    def __init__(self, owner: TfBundle, folder: Folder | None, stem: str, file: Source | None) -> None:
        self.owner = owner
        self.limits = owner.limits
        self.folder = folder
        self.stem = stem
        if file is None:
            assert folder is not None
            file = folder.open(stem + INDEX)
        self.file = file
        self.name = stem + INDEX if folder is not None else file.name
        self.table = sstable.Table(file, self.limits)
        self.shards: dict[int, Shard] = {}
        self.heads: dict[bytes, Head] = {}
        self.header, self.notes = self._header()
        self.order: Literal["little", "big"] = "big" if self.header.big else "little"

    def _header(self) -> tuple[Header, list[Finding]]:
        """The header and what is wrong with it. Without one, one data file is taken for all there is; where the only block cannot be read,
        there is nothing to tell: FormatError."""
        try:
            raw, lost = self.table.get(b""), FormatError("it has no header, the entry under the empty key")
        except FormatError as error:
            if len(self.table.handles) < 2:
                error.part = error.part or self.name
                error.hint = error.hint or "get the file again"
                raise
            raw, lost = None, error
        try:
            made = header(raw) if raw is not None else None
        except FormatError as error:
            made, lost = None, error
        if made is None:
            made = Header()
            made.shards = 1
            return made, [Finding("tf-header", lost.message, self.name, lost.offset)]
        wrong = []
        if made.min_consumer > READS:
            wrong.append(f"it asks for readers of version {made.min_consumer}; TensorFlow 2.21 is of version {READS}")
        if made.producer < 0 or READS in made.bad_consumers:
            wrong.append(f"its version is {made.producer}, and it excludes readers of {made.bad_consumers[:5]}")
        if made.shards < 0:
            wrong.append(f"it says that there are {made.shards:,} data files")
        return made, [Finding("tf-header", text, self.name) for text in wrong]

    # -- data files -------------------------------------------------------------------------------------------------------------

    def shard(self, number: int) -> Shard:
        known = self.shards.get(number)
        if known is None:
            known = self.shards[number] = self._open(number)
        return known

    def _open(self, number: int) -> Shard:
        made = Shard(f"{self.stem}.data-{number:05d}-of-{self.header.shards:05d}")
        if self.folder is None:
            made.missing = "its data lies in a file beside the index, and a stream has none"
            return made
        try:
            kept = len(self.shards) < HELD
            file: Source = self.folder.open(made.name) if kept else BesideSource(self.folder.place(made.name))
            made.file, made.missing = file, stub(file) if file.size < STUB else ""
        except InertError as error:
            made.missing = error.message
        except FileNotFoundError:
            made.missing = f"{made.name[:200]!r}, which it lies in, is not there"
        except OSError as error:
            made.missing = f"{made.name[:200]!r}: {error.strerror or error}"
        return made

    def place(self, shard: int, offset: int, size: int) -> tuple[str, str]:
        if not 0 <= shard < self.header.shards:
            return "", f"it lies in data file {shard:,} of {self.header.shards:,}"
        found = self.shard(shard)
        if found.file is None or found.missing:
            return found.name, found.missing
        if offset < 0 or size < 0 or offset + size > found.file.size:
            return found.name, f"bytes {offset:,} to {offset + size:,} are wanted of {found.name[:200]!r}, which has {found.file.size:,}"
        return found.name, ""

    def span(self, shard: int, offset: int, size: int) -> Span:
        file = self.shard(shard).file
        if file is None:
            raise FormatError(self.shard(shard).missing, part=self.name)
        return file.span(offset, size)

    def has(self, key: bytes) -> bool:
        """Whether the index has a key; not, where the block that should hold it is damaged."""
        try:
            return self.table.has(key)
        except InertError:
            return False

    def raw(self, key: bytes) -> tuple[Bundle, bytes] | None:
        """The entry under a key, here or in another part of the same save."""
        for one in (self, *(other for other in self.owner.bundles if other is not self)):
            found = one.table.get(key)
            if found is not None:
                return one, found
        return None


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


def stub(file: Source) -> str:
    """What a small file is that a download has put in the place of a data file; "" for any other one."""
    from .foreign import describe

    kind, sentence, _ = describe(file)
    return f"its data file is none: {sentence}" if kind in STUBS else ""


def names_of(keys: list[bytes]) -> list[str]:
    """The keys as texts; bytes that are no UTF-8 are kept as surrogates."""
    whole = str(b"\0".join(keys), "utf-8", "surrogateescape")
    names = whole.split("\0") if keys else []
    return names if len(names) == len(keys) else [str(key, "utf-8", "surrogateescape") for key in keys]


# -- checks -----------------------------------------------------------------------------------------------------------------------


def index_checks(bundle: Bundle) -> Iterator[Finding]:
    """Checksums and places of the blocks of an index."""
    for fault in (*sstable.checksums(bundle.table), *sstable.layout(bundle.table)):
        yield Finding(FAULTS[fault.code], fault.message, bundle.name, fault.offset)


def shard_checks(content: TfBundle) -> Iterator[Finding]:
    """What of each data file is not as the index says: missing, short, longer than its last tensor, or with tensors that share bytes."""
    runs: dict[tuple[Bundle, int], list[tuple[int, int, str]]] = {}
    for name, bundle, number, offset, size, _ in content.places():
        if 0 <= number < bundle.header.shards:
            runs.setdefault((bundle, number), []).append((offset, size, name))
    for (bundle, number), held in runs.items():
        shard = bundle.shard(number)
        if shard.file is None or shard.missing:
            if bundle.folder is None:
                yield Finding("tf-index-alone", "the data of its tensors cannot be reached", bundle.name)
            else:
                names = tuple(name for _, _, name in held)
                text = f"{shard.missing}: {len(names):,} tensor{'s' * (len(names) != 1)}, {sum(size for _, size, _ in held):,} bytes"
                yield Finding("tf-shard-missing", text, shard.name, None, names)
            continue
        held.sort()
        yield from _shared(shard, held)
        end = max(offset + size for offset, size, _ in held)
        if end > shard.file.size:
            hit = tuple(name for offset, size, name in held if offset + size > shard.file.size)
            yield Finding(
                "tf-shard-short", f"the index places bytes up to {end:,} in it; it has {shard.file.size:,}", shard.name, None, hit
            )
        elif end < shard.file.size:
            yield Finding("tf-shard-long", f"its last tensor ends at byte {end:,} of {shard.file.size:,}", shard.name, end)


def _shared(shard: Shard, held: list[tuple[int, int, str]]) -> Iterator[Finding]:
    """Tensors that lie over others; ``held`` is sorted."""
    end, owner = 0, ""
    for offset, size, name in held:
        if size > 0 and offset < end:
            yield Finding("tf-overlap", f"{name[:200]!r} lies over the bytes of {owner[:200]!r}", shard.name, offset, (owner, name))
        if offset + size > end:
            end, owner = offset + size, name


def tensor_checks(content: TfBundle, done: Callable[[int], None] | None = None) -> Iterator[Finding]:
    """Every tensor's checksum. Where most of a file's tensors fail, index and data are of two saves. Reads all data, in its order."""
    tried: dict[str, int] = {}
    failed: dict[str, list[Finding]] = {}
    for name, bundle, number, offset, size, raw in sorted(content.places(), key=lambda place: place[2:4]):
        shard, missing = bundle.place(number, offset, size)
        if missing:
            continue  # shard_checks says so
        tried[shard] = tried.get(shard, 0) + 1
        try:
            wrong = differs(bundle.span(number, offset, size), entry(raw), bundle.order)
        except InertError as error:
            wrong = error.message
        if wrong:
            failed.setdefault(shard, []).append(Finding("tf-tensor-crc", wrong, shard, offset, (name,)))
        if done is not None:
            done(size)
    for shard, found in failed.items():
        if len(found) < MIXED or 2 * len(found) <= tried[shard]:
            yield from found
            continue
        text = f"{len(found):,} of {tried[shard]:,} tensors in it do not have the checksums that the index has for them"
        yield Finding("tf-mixed-steps", text, shard, None, tuple(name for one in found for name in one.tensors))


def differs(span: Span, found: Entry, order: Literal["little", "big"]) -> str:
    """How stored bytes differ from the checksum of their entry; "" where they do not."""
    if found.dtype == "string":
        crc = strings_crc(span.read(), prod(found.shape), order)
    elif found.dtype == "variant":
        crc = variants_crc(span.read(), prod(found.shape), order)
    else:
        crc = 0
        for piece in span.chunks():
            crc = crc32c(piece, crc)
    return "" if masked(crc) == found.crc else f"the checksum of its bytes is {masked(crc):08x}, not {found.crc:08x}"
