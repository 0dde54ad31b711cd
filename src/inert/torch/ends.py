"""The end records of a zip archive, as PyTorch's own reader takes them: which it finds, and what of them it refuses.

Knows: how far back it searches and in which steps, which fields it compares, and which disks it allows.
Refuses to know: the entries of the directory (reader.py), and how inert reads end records (containers/zipdirectory.py).

Facts: torch 2.13 third_party/miniz-3.0.2/miniz.c (mz_zip_reader_locate_header_sig, mz_zip_reader_read_central_dir) and
caffe2/serialize/inline_container.cc (an archive without files is refused).
"""

from __future__ import annotations

from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..containers.zip import Zip
    from ..source import Source

_END = Struct("<4s4H2IH")  # end of central directory
_LOCATOR = Struct("<4sIQI")  # of the ZIP64 end record
_END64 = Struct("<4sQ2H2I4Q")
END, LOCATOR, END64, ENTRY = 22, 20, 56, 46  # bytes
SEARCHED = 65535 + END  # bytes from the end, after which the search ends
LOOKED = SEARCHED + 4096  # at most
WINDOW, STEP = 4096, 4093  # bytes it looks at, and goes back by; a step to before the beginning of the file is an error
DISKS = "by its end records it is spread over several disks"


class Ends:
    """What torch takes from the end records. ``fault``: why it opens no such archive, "" where it does · ``disk``: the number of the disk
    that entries may name beside 1."""

    def __init__(self, archive: Zip) -> None:
        self.disk = 0
        self.fault = self._read(archive)

    def _read(self, archive: Zip) -> str:
        where, source = archive.directory, archive.source
        at = source.size - min(source.size, LOOKED)
        tail = source.read(at, source.size - at)
        last = tail.rfind(b"PK\5\6", 0, len(tail) - END + 4)
        if last < 0 or not _found(source.size, at + last):
            return f"{source.size - where.record - END:,} bytes follow the end record, and torch does not search that far"
        _, disk, first, here, count, size, offset, _ = _END.unpack_from(tail, last)
        at += last
        wide = _wide(source, at)
        if isinstance(wide, str):
            return wide
        if wide is not None:
            disk, first, here, count, size, offset = wide
        self.disk = disk
        if here != count or (disk, first) not in ((0, 0), (1, 1)):
            return DISKS
        if not count:
            return "by its end record it holds no files"
        if size < count * ENTRY or offset + size > source.size:
            return "its directory does not lie where the end record says"
        if (offset, count) != (where.offset, where.count):
            return f"torch takes the {count:,} members at offset {offset:,} for the directory, by the end record at {at:,}"
        return ""


def _found(size: int, at: int) -> bool:
    """Whether the search, which goes back from the end of the file window by window, comes to ``at``."""
    start = max(size - WINDOW, 0)
    while at < start:
        if size - start >= SEARCHED or start < STEP:
            return False
        start -= STEP
    return True


def _wide(source: Source, at: int) -> tuple[int, ...] | str | None:
    """The fields of the ZIP64 end record: disk, that of the directory, its members there and in all, its size and offset. A text where
    torch opens no such archive: why; None where it sees no such record."""
    if at < LOCATOR + END64:
        return None
    signature, _, place, disks = _LOCATOR.unpack(source.read(at - LOCATOR, LOCATOR))
    if signature != b"PK\6\7":
        return None
    if place > source.size - END64:
        return "its ZIP64 end record would lie beyond the end of the file"
    signature, length, _, _, *fields = _END64.unpack(source.read(place, END64))
    if signature != b"PK\6\6":
        return None
    if length < END64 - 12:
        return f"its ZIP64 end record says that it has {length:,} bytes"
    return DISKS if disks != 1 else tuple(fields)
