"""tf-bundle: what TensorFlow's BundleWriter makes of named tensors in the order of their keys, byte for byte.

Knows: what becomes an entry of the index and a run of a data file; that partitioned tensors keep their slices, and strings, variants and
the object graph what they are. The index is written and appears last. Always little-endian.
Refuses to know: how the files are filled (tf_files.py), tables and messages as bytes (containers/sstablewrite.py, tensorflow/).

The destination is a prefix, with or without .index. Of what nobody has changed in a little-endian bundle the checksums are kept, so that
damage stays damage; a bundle that is whole and unchanged is copied, file by file.

Facts: TensorFlow 2.21 tensor_bundle.cc (BundleWriter, WriteStringTensor; MergeBundles for several data files), naming.cc.
"""

from __future__ import annotations

import os
from math import prod

from ..containers.crc32c import masked
from ..containers.sstablewrite import table
from ..errors import InertError, UnsupportedError
from ..finding import Finding
from ..formats.tf_bundle import TfBundle
from ..formats.tf_places import DATA, INDEX
from ..sink import Stream, length_of
from ..source import Span
from ..tensor import Tensor
from ..tensorflow import graph
from ..tensorflow.messages import NUMBERS, OPAQUE, head_bytes, slices_bytes
from ..tensorflow.slices import box_of, key_of
from ..tensorflow.strings import stored, stored_size, strings_crc, variants_crc
from . import File, Plan, left_out, recast
from .flat import Flat, elements
from .tf_files import Run, data_file, data_name, dealt, entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..layout import Layout
    from ..sink import Out, Piece
    from . import Options, Saved

SHOWN = 5
MANY = 99_999  # data files: what the names have digits for
# Types of which TensorFlow cuts and joins slices (GetSliceValue); of any other it gives back a slice as it was saved, and nothing else
JOINED = frozenset(
    ("float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool", "bfloat16", "complex64", "complex128", "qint8", "quint8",
     "qint32", "int4", "uint4")
)  # fmt: skip
CASTS = {"complex32": "complex64", "bcomplex32": "complex64", "float8_e8m0fnu": "bfloat16"}


def plan(saved: Saved, options: Options) -> Plan:
    stem = stem_of(options.name)
    if options.leaves == "metadata":
        raise UnsupportedError("TensorFlow's checkpoints hold no metadata", hint="leaves=sidecar keeps other values in a file beside")
    copy = copied(saved, options, stem)
    if copy is not None:
        return copy
    flat = Flat(saved, options, alias=False)
    lost = [*flat.lost, *graph_lost(saved, flat)]
    runs, wholes = laid(flat.tensors)
    shards = dealt(runs, options.max_shard_size, options.alignment)
    names = [data_name(stem, number, len(shards)) for number in range(len(shards))]
    crcs: list[dict[bytes, int]] = [{} for _ in shards]  # known when a data file has been written
    files = [data_file(*one) for one in zip(names, shards, crcs, strict=True)]

    def index() -> Iterator[bytes]:
        return table(entries(shards, crcs, wholes))

    def write(out: Out) -> None:
        for block in index():
            out.write(block)

    size = sum(map(len, index()))  # of checksums, only that they are there counts
    notes = [*flat.notes, *stale(stem, options.name, {*names, stem + INDEX})]
    beside = flat.sidecar(stem) if options.leaves == "sidecar" else []
    return Plan([*beside, *files, File(stem + INDEX, size, write)], lost, notes)


# -- names of files -----------------------------------------------------------------------------------------------------------


def stem_of(name: str) -> str:
    """What the names of the files begin with. UnsupportedError where the destination gives none."""
    stem = os.path.basename(name).removesuffix(INDEX)
    if not stem:
        raise UnsupportedError("a TensorFlow checkpoint needs a prefix for the names of its files", part=name, hint="such as FOLDER/model")
    return stem


def stale(stem: str, place: str, written: set[str]) -> list[Finding]:
    """A note of data files of an earlier save under this prefix, which are left as they are."""
    folder = os.path.dirname(place) or os.curdir
    there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    old = [name for name in there if name not in written and (found := DATA.fullmatch(name)) and found[1] == stem]
    more = f" and {len(old) - SHOWN:,} more" if len(old) > SHOWN else ""
    return [Finding("shards-stale", f"of an earlier save there are {', '.join(old[:SHOWN])}{more}", folder)] if old else []


# -- tensors ------------------------------------------------------------------------------------------------------------------


def laid(tensors: dict[str, Tensor]) -> tuple[list[Run], dict[bytes, bytes]]:
    """The runs in the order in which they lie, and the entries of partitioned tensors by key."""
    keys: dict[bytes, str] = {}
    for name in tensors:
        key = key_for(name)
        if keys.setdefault(key, name) is not name:
            raise UnsupportedError(f"it would have the key of {keys[key]!r}", part=name, hint="rename one of the two")
    runs: list[Run] = []
    wholes: dict[bytes, bytes] = {}
    for key, name in sorted(keys.items()):
        tensor = tensors[name]
        layout = tensor.layout
        if layout.kind in ("tiled", "strings") and layout.slices and (layout.dtype in JOINED or as_stored(layout)):
            wholes[key] = head_bytes(number_of(name, layout), layout.shape) + slices_bytes(layout.slices)
            runs += sliced(name, key, tensor)
        else:
            runs.append(run(name, key, tensor))
    return runs, wholes


def key_for(name: str) -> bytes:
    """The key of a tensor. UnsupportedError for names that TensorFlow uses for other things or cannot have."""
    if not name or name[0] == "\0":
        what = "a tensor without a name" if not name else "names that begin with a NUL are those of slices"
        raise UnsupportedError(f"{what} in a TensorFlow checkpoint", part=name, hint="put it into a dict" if not name else "rename it")
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise UnsupportedError("a name with half a surrogate pair, which UTF-8 cannot hold", part=name, hint="rename the tensor") from None


def number_of(name: str, layout: Layout) -> int:
    """TensorFlow's number of the element type. UnsupportedError where it has none."""
    found = NUMBERS.get(layout.dtype)
    if found is None or layout.dtype.packed > 1:
        to = CASTS.get(layout.dtype)
        hint = recast(name, layout.dtype, to) if to else left_out(name)
        raise UnsupportedError(f"TensorFlow has no {layout.dtype}", part=name, hint=hint)
    return found


def run(name: str, key: bytes, tensor: Tensor) -> Run:
    """The run of a tensor that is stored in one."""
    layout = tensor.layout
    if layout.kind in ("strings", "opaque"):
        return objects(name, key, layout)
    piece = elements(name, tensor)  # says what is wrong with its kind
    return Run(key, head_bytes(number_of(name, layout), layout.shape), piece, known_crc(layout, piece))


def as_stored(layout: Layout) -> bool:
    """Whether the elements of a partitioned tensor are still those of its slices."""
    parts = layout.components.values()
    return len(parts) == len(layout.slices) and all(part.dtype == layout.dtype for part in parts)


def sliced(name: str, key: bytes, tensor: Tensor) -> Iterator[Run]:
    """The runs of a partitioned tensor's slices: as they are stored, or cut from the tensor where it has been given other elements."""
    from ..arrays import narrow

    layout = tensor.layout
    if layout.kind != "strings":
        elements(name, tensor)
    parts, same = list(layout.components.values()), as_stored(layout)
    for number, extents in enumerate(layout.slices):
        offsets, sizes = box_of(extents, layout.shape)
        if same:
            part = parts[number]
        else:
            cut = narrow(layout, tuple(slice(at, at + size) for at, size in zip(offsets, sizes, strict=True)))
            cut.kind, cut.components = "dense", {}
            part = Tensor(cut, tensor.limits)
        yield run(name, key_of(key, extents), part)


def known_crc(layout: Layout, piece: Piece) -> int:
    """The checksum that a bundle has for bytes which are written as they lie there; 0 where there is none."""
    storage = layout.storage
    if storage is None or not storage.crc32c or storage.order != "little" or not isinstance(piece, (Span, bytes)):
        return 0
    return storage.crc32c if length_of(piece) == storage.nbytes and layout.offset == 0 else 0


def objects(name: str, key: bytes, layout: Layout) -> Run:
    """The run of strings, or of variants, which only TensorFlow understands: their bytes as they are stored, or strings anew."""
    if layout.fault or layout.storage is None:
        hint = "leave it out, or repair the file"
        raise UnsupportedError(f"a damaged tensor cannot be written: {layout.fault or 'it has no data'}", part=name, hint=hint)
    storage, count = layout.storage, prod(layout.shape)
    head = head_bytes(number_of(name, layout), layout.shape)
    total = variants_crc if layout.dtype in OPAQUE else strings_crc
    if storage.opener is not None and storage.order == "little":
        span = storage.span()
        return Run(key, head, span, storage.crc32c, lambda: masked(total(span.read(), count, "little")))
    if layout.strings is None:
        raise UnsupportedError(f"a {layout.dtype} tensor of another byte order", part=name, hint="leave it out")
    try:
        size = stored_size(layout.strings())
    except InertError as error:
        raise UnsupportedError(error.message, part=name, hint="leave it out, or repair the file") from None
    strings = layout.strings
    return Run(key, head, Stream(size, lambda: stored(strings())), 0, lambda: masked(total(b"".join(stored(strings())), count, "little")))


# -- what is copied -----------------------------------------------------------------------------------------------------------


def graph_lost(saved: Saved, flat: Flat) -> list[tuple[str, str]]:
    """The object graph is taken out, and said to be lost, where the values that it names are not all there under their names."""
    found = flat.tensors.get(graph.KEY)
    if found is None or saved.source is None or not isinstance(saved.source.content, TfBundle):
        return []
    nodes, _ = saved.source.content.nodes()
    keys = {key for node in nodes for _, key in node.attributes.values()}
    gone = [key for key in sorted(keys) if key not in flat.tensors and saved.source.content.one(key) is not None]
    if not gone:
        return []
    del flat.tensors[graph.KEY]
    more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
    return [(graph.KEY, f"the object graph names {gone[0]!r}{more}, which is not there under this name any more")]


def copied(saved: Saved, options: Options, stem: str) -> Plan | None:
    """The files of a bundle as they are, under the new prefix; None where anything is changed or missing."""
    content = saved.source.content if saved.source is not None else None
    if not isinstance(content, TfBundle) or options.max_shard_size or options.alignment or len(content.bundles) != 1:
        return None
    bundle, tensors = content.bundles[0], content.tensors()
    root = saved.root
    if bundle.order != "little" or bundle.header.shards > MANY or type(root) is not dict or list(root) != list(tensors):
        return None
    used = {number for _, _, number, _, _, _ in content.places()}
    if any(root[name] is not tensor for name, tensor in tensors.items()) or any(bundle.place(number, 0, 0)[1] for number in used):
        return None
    count = bundle.header.shards
    held = {number: bundle.shard(number).file for number in range(count)}
    files = [File(data_name(stem, number, count), file.size, copier(file.span())) for number, file in held.items() if file is not None]
    files.append(File(stem + INDEX, bundle.file.size, copier(bundle.file.span())))
    return Plan(files, [], stale(stem, options.name, {file.name for file in files}))


def copier(span: Span) -> Callable[[Out], None]:
    return lambda out: out.pour(span)
