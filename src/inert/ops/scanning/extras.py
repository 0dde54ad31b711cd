"""What an archive carries beside its members' contents: extra fields, in local headers and in the directory, and comments of members.

Knows: the blocks that programs write into extra fields, by their kind and length; all else is searched for pickles.
Refuses to know: what the blocks mean.

Facts: APPNOTE.TXT 6.3.10 (4.4.28, 4.5, 4.6) and Info-ZIP's extrafld.txt, for kinds and lengths; torch 2.13
caffe2/serialize/inline_container.cc (padding: "FB", and Z as often as it takes).
"""

from __future__ import annotations

from struct import Struct

from ...containers.zipentries import blocks
from . import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...containers.zip import Zip
    from .look import Look

# kind of a block → bytes that it takes at most: sizes and places, times, owners, encryption, a link's target is not among them
LENGTHS = {
    0x0001: 28, 0x000A: 32, 0x0017: 64, 0x5455: 13, 0x5855: 12, 0x7855: 4, 0x7875: 24, 0x9901: 7, 0xCAFE: 0,
}  # fmt: skip
PADDING, ALIGNMENT, FILLER = 0x4246, 0xD935, 0xA220  # of PyTorch, of zipalign, of Office documents: one byte again and again
SHORTEST = 10  # bytes of a pickle that names something
MOST = 20_000  # fields of one archive that are searched
_LENGTHS = Struct("<3H").unpack_from  # of an entry: name, extra field, comment
PADS: dict[int, bytes] = {0: b""}  # by their lengths


def padding(length: int) -> bytes:
    """An extra field of that many bytes as PyTorch writes it."""
    made = PADS.get(length)
    if made is None:
        made = PADS[length] = (b"FB" + max(length - 4, 0).to_bytes(2, "little") + b"Z" * (length - 4))[:length]
    return made


def plain(extra: bytes) -> bool:
    """Whether an extra field holds nothing but blocks of known kinds that are no longer than these are."""
    for kind, _, body in blocks(extra):
        if kind == PADDING:
            if body.count(b"Z") != len(body):
                return False
        elif kind in (ALIGNMENT, FILLER, -1):
            if len(body) >= SHORTEST and body[4:].count(0) != len(body) - 4:
                return False
        elif len(body) > LENGTHS.get(kind, SHORTEST - 1):
            return False
    return True


class Extras:
    """The extra fields and comments of one archive."""

    def __init__(self, look: Look, archive: Zip, part: str) -> None:
        self.look = look
        self.archive = archive
        self.part = part or archive.source.name
        self.searched = 0

    def local(self, name: str, start: int, end: int) -> None:
        """The extra field of a local header lies there."""
        if end - start >= SHORTEST and not plain(self.archive.source.read(start, end - start)):
            self._search(start, end - start, f"{name}: extra field")

    def header(self, name: str, offset: int, start: int) -> None:
        """The extra field of the local header at ``offset``, whose content begins at ``start``."""
        length = int.from_bytes(self.archive.source.read(offset + 28, 2), "little")
        self.local(name, start - length, start)

    def directory(self) -> None:
        """Extra fields and comments of the entries."""
        data, places, start = self.archive.members.data, self.archive.members.places, self.archive.directory.offset
        if len(data) == 46 * len(places) + sum(map(len, places)):
            return  # names and nothing else, as PyTorch writes it
        at = 0
        while data[at : at + 4] == b"PK\1\2" and at + 46 <= len(data):
            n, x, c = _LENGTHS(data, at + 28)
            extra = at + 46 + n
            if x >= SHORTEST and not plain(data[extra : extra + x]):
                self._search(start + extra, x, f"{self.part}: extra field in the directory")
            if c >= SHORTEST:
                self._search(start + extra + x, c, f"{self.part}: comment of a member")
            at = extra + x + c

    def _search(self, start: int, length: int, name: str) -> None:
        self.searched += 1
        if self.searched == MOST:
            self.look.note("scan-limit", f"more than {MOST:,} comments and extra fields of unknown kinds", name, start)
        if self.searched < MOST and start + length <= self.archive.source.size:
            streams.hunt(self.look, self.archive.source.span(start, length), name, start)
