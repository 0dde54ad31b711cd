"""One index of TensorFlow's bundles and its data files.

Knows: the header of an index, the names of its data files, which of them are there, and where an entry's bytes lie.
Refuses to know: what an entry means (tensorflow/), and how several indexes make one checkpoint (tf_bundle.py).

Facts: TensorFlow 2.21 tensor_bundle.cc.
"""

from __future__ import annotations

from ..containers import sstable
from ..containers.folder import Folder
from ..errors import FormatError, InertError
from ..finding import Finding
from ..tensorflow.messages import Header, header
from .tf_places import INDEX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ..source import Source, Span
    from ..tensorflow.entries import Head
    from .tf_bundle import TfBundle

READS = 1  # TF_CHECKPOINT_VERSION: the highest min_consumer that TensorFlow accepts
STUB, STUBS = 4096, ("git-lfs-pointer", "html")  # what downloads put in the place of a file, and how small that is
HELD = 64  # data files kept open; of more, each is opened when it is read


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
            file: Source = self.folder.open(made.name) if kept else self.folder.afar(made.name)
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


def stub(file: Source) -> str:
    """What a small file is that a download has put in the place of a data file; "" for any other one."""
    from .foreign import describe

    kind, sentence, _ = describe(file)
    return f"its data file is none: {sentence}" if kind in STUBS else ""
