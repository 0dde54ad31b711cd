"""What is left of a TensorFlow checkpoint.

Knows: that the blocks of an index stand one behind another from its first byte on, each with a checksum, so that they can be found without
the footer; and that every tensor has a checksum in its entry, which says whether entry and bytes belong together.
Refuses to know: what an entry means, and what the ordinary reader knows of files and shards.

Facts: TensorFlow 2.21 lib/io/table_builder.cc, block_builder.cc (a restart every 16 entries; the first is 0), tensor_bundle.cc.
"""

from __future__ import annotations

from ..containers.crc32c import crc32c, masked
from ..containers.folder import Folder, Prefix, around
from ..containers.protowire import varint
from ..containers.sstable import PLAIN, TRAILER
from ..containers.sstablewrite import RESTART, table
from ..errors import FormatError, InertError
from ..finding import Finding
from ..formats import tf_places
from ..formats.tf_bundle import TfBundle
from ..formats.tf_checks import tensor_checks
from ..formats.tf_places import BUNDLE, DATA, INDEX, Place
from ..source import BytesSource
from ..tensorflow.messages import entry, header
from .held import Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..limits import Limits
    from ..source import Source

LARGE = 1 << 30  # bytes of an index that is taken apart in memory


def read(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    refusal: InertError | None = None
    place: Place | None = None
    try:
        place = tf_places.find(source, limits)
        if place is not None and place.kind != BUNDLE:
            return None
        if place is not None:
            return _salvage(TfBundle(source, place, limits))
    except FormatError as error:
        refusal = error
    home = _index(source, limits, place)
    if home is None:
        if refusal is not None and _belongs(source):
            raise refusal
        return None
    folder, stem, file = home
    pairs, whole, note = entries(file, limits)
    if not pairs or pairs[0][0]:
        if refusal is not None:
            raise refusal
        return None
    mended = BytesSource(b"".join(table(pairs)), file.name)
    content = TfBundle(source, Place(BUNDLE, folder, [stem], mended), limits)
    made = _salvage(content)
    made.notes.append(note)
    if not whole:
        made.more = "the index is cut or damaged; what it would have named behind the fault is not known"
    return made


def _salvage(content: TfBundle) -> Salvage:
    """The tensors, those left out whose bytes do not have the checksum of their entry."""
    made = Salvage(content)
    for note in tensor_checks(content):
        made.notes.append(note)
        made.lost += [(name, f"{note.message}") for name in note.tensors]
    for note in content.notes():
        if note.code == "tf-entry":
            made.lost += [(name, note.message) for name in note.tensors]
    if any(note.code == "tf-block" for note in content.notes()):
        made.more = "a block of the index is damaged; what else it named is not known"
    return made


def _belongs(source: Source) -> bool:
    base = source.name.replace("\\", "/").rpartition("/")[2]
    return isinstance(source, Folder) or base.endswith(INDEX) or DATA.fullmatch(base) is not None


def _index(source: Source, limits: Limits, place: Place | None) -> tuple[Folder, str, Source] | None:
    """(folder, prefix, index file) of a checkpoint whose index the ordinary reader refuses."""
    if isinstance(source, Folder):
        names = Folder.names(source, limits)
        stems = [name[: -len(INDEX)] for name in names if name.endswith(INDEX)]
        if isinstance(source, Prefix):
            stems = [stem for stem in stems if stem == source.stem.removesuffix(INDEX)]
        if not stems:
            return None
        return source, stems[-1], source.open(stems[-1] + INDEX)
    folder = around(source)
    base = source.name.replace("\\", "/").rpartition("/")[2]
    if folder is None:
        return None
    if base.endswith(INDEX):
        return folder, base[: -len(INDEX)], source
    data = DATA.fullmatch(base)
    if data is None or not folder.has(data[1] + INDEX):
        return None
    return folder, data[1], folder.open(data[1] + INDEX)


def entries(file: Source, limits: Limits) -> tuple[list[tuple[bytes, bytes]], bool, Finding]:
    """The entries of an index, block by block from its beginning, in ascending order; whether the last block had its end; and what is said
    of it."""
    data = file.read(0, min(file.size, LARGE))
    made: dict[bytes, bytes] = {}
    at, blocks, whole = 0, 0, False
    while at < len(data) and len(made) < limits.entries:
        pairs, end = block(data, at)
        if end < 0 or not pairs:
            made = {key: raw for key, raw in pairs if _is_entry(key, raw)} | made  # the beginning of the index block is like an entry
            whole = end >= 0 and not pairs
            break
        if blocks and not _entries_of(pairs):
            whole = True  # the index block: all blocks of data have been met
            break
        made.update((key, raw) for key, raw in pairs if _is_entry(key, raw))
        at, blocks = end, blocks + 1
    text = f"the index has no readable footer; {len(made):,} entries in {blocks:,} whole blocks{'' if whole else ' and a part'} were found"
    return sorted(made.items()), whole, Finding("tf-index-cut", text, file.name, at)


def block(data: bytes, at: int) -> tuple[list[tuple[bytes, bytes]], int]:
    """The entries of the block at a place, and where the next one begins: -1 where it has no end with a right checksum."""
    start, key = at, b""
    made: list[tuple[bytes, bytes]] = []
    while True:
        if data[at : at + 4] == b"\0\0\0\0":  # no entry begins so: the first restart
            restarts = max(-(-len(made) // RESTART), 1)
            end = at + 4 * restarts + 4
            right = int.from_bytes(data[end - 4 : end], "little") == restarts and data[end : end + 1] == bytes((PLAIN,))
            stored = int.from_bytes(data[end + 1 : end + TRAILER], "little")
            if right and end + TRAILER <= len(data) and masked(crc32c(data[start : end + 1])) == stored:
                return made, end + TRAILER
            return made, -1
        try:
            shared, place = varint(data, at, len(data))
            own, place = varint(data, place, len(data))
            length, place = varint(data, place, len(data))
        except FormatError:
            return made, -1
        stop = place + own + length
        if shared > len(key) or stop > len(data) or (made and not own):  # a key is longer than what it shares with the one before
            return made, -1
        key = key[:shared] + data[place : place + own]
        made.append((key, data[place + own : stop]))
        at = stop


def _entries_of(pairs: list[tuple[bytes, bytes]]) -> bool:
    return all(_is_entry(key, raw) for key, raw in pairs)


def _is_entry(key: bytes, raw: bytes) -> bool:
    try:
        if key:
            return bool(entry(raw).dtype.bits) or len(raw) > 4
        header(raw)
    except InertError:
        return False
    return True
