"""The ZIP container as PyTorch writes it: named pieces → the archive, byte for byte.

Knows: headers, alignment padding, data descriptors, ZIP64 and the serialization id, as PyTorch's writer lays them out. Where everything
lies follows from names and lengths alone, so the size is known before a byte is written.
Refuses to know: what a record means.

Facts: torch 2.13 caffe2/serialize/inline_container.cc (PyTorchStreamWriter) and its miniz; libstdc++ for the order of the id's hashes.
"""

from __future__ import annotations

from struct import pack

from ..errors import UnsupportedError
from ..sink import length_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..sink import Out, Piece

FULL16, FULL32 = 0xFFFF, 0xFFFFFFFF
MASK = (1 << 64) - 1
DESCRIPTOR, UTF8 = 0x0008, 0x0800
ID = ".data/serialization_id"
ID_LENGTH = 40


class Record:
    """A member to write: ``name`` without the archive's folder, and its content."""

    __slots__ = ("name", "piece", "size")

    def __init__(self, name: str, piece: Piece) -> None:
        self.name = name
        self.piece = piece
        self.size = length_of(piece)


class Archive:
    """An archive to write: ``records`` in order under the folder ``root`` (no slash; "" for none). A record of the id's name gets its true
    content."""

    def __init__(self, root: str, records: Iterable[Record], alignment: int = 64) -> None:
        if not 1 <= alignment <= FULL16:
            raise UnsupportedError(
                f"an alignment of {alignment:,} bytes", hint="PyTorch reads 1 to 65535; 64 is usual, 4096 for mapped loads"
            )
        self.root = root
        self.records = [Record(ID, bytes(ID_LENGTH)) if record.name == ID else record for record in records]  # whatever there was
        self.alignment = alignment
        self.names = [(f"{root}/{record.name}" if root else record.name).encode("utf-8", "surrogateescape") for record in self.records]
        self.heads: list[bytes] = []
        self.offsets: list[int] = []
        at = 0
        for record, name in zip(self.records, self.names, strict=True):
            head = self._head(name, record.size, at)
            self.heads.append(head)
            self.offsets.append(at)
            at += len(head) + record.size + self._tail_length(record.size, at)
        self.directory = at
        self.size = at + sum(map(len, self._entries([0] * len(self.records)))) + (56 + 20 if self.records else 0) + 22

    def write(self, out: Out) -> None:
        """Write all of it."""
        crcs: list[int] = []
        hashed: list[int] = []
        for record, head, offset in zip(self.records, self.heads, self.offsets, strict=True):
            out.write(head)
            piece = record.piece
            if record.name == ID:
                names = [one.name for one in self.records[: len(crcs)]]
                piece = serialization_id(names, hashed).encode()
            crc = out.pour_crc(piece)
            crcs.append(crc)
            hashed += sniffed(out.first, crc, record.size)
            out.write(self._tail(crc, record.size, offset))
        entries = b"".join(self._entries(crcs))
        out.write(entries)
        out.write(self._end(len(entries)))

    def _head(self, name: bytes, size: int, at: int) -> bytes:
        """Local header with the padding that aligns the content."""
        wide = b""
        if size >= FULL32 or at >= FULL32:
            wide = (pack("<QQ", size, 0) if size >= FULL32 else b"") + (pack("<Q", at) if at >= FULL32 else b"")
            wide = pack("<HH", 1, len(wide)) + wide
        pad = -(at + 30 + len(name) + len(wide) + 4) % self.alignment
        extra = wide + b"FB" + pack("<H", pad) + b"Z" * pad
        flags = UTF8 | (DESCRIPTOR if size else 0)
        return pack("<4s5H3I2H", b"PK\3\4", 0, flags, 0, 0, 0, 0, 0, 0, len(name), len(extra)) + name + extra

    @staticmethod
    def _tail_length(size: int, at: int) -> int:
        return 0 if not size else 24 if size >= FULL32 or at >= FULL32 else 16

    def _tail(self, crc: int, size: int, at: int) -> bytes:
        """Data descriptor."""
        length = self._tail_length(size, at)
        return pack("<4sIQQ" if length == 24 else "<4s3I", b"PK\7\x08", crc, size, size) if length else b""

    def _entries(self, crcs: list[int]) -> list[bytes]:
        """The central directory."""
        made = []
        for record, name, at, crc in zip(self.records, self.names, self.offsets, crcs, strict=True):
            size, wide = record.size, b""
            if size >= FULL32 or at >= FULL32:
                wide = (pack("<QQ", size, size) if size >= FULL32 else b"") + (pack("<Q", at) if at >= FULL32 else b"")
                wide = pack("<HH", 1, len(wide)) + wide
            flags, low, place = UTF8 | (DESCRIPTOR if size else 0), min(size, FULL32), min(at, FULL32)
            numbers = (0, 0, flags, 0, 0, 0, crc, low, low, len(name), len(wide), 0, 0, 0, 0, place)
            made.append(pack("<4s6H3I5H2I", b"PK\1\2", *numbers) + name + wide)
        return made

    def _end(self, length: int) -> bytes:
        """ZIP64 end record, its locator, and the end record. Of no records the last alone, by which NumPy knows an empty archive."""
        count, start = len(self.records), self.directory
        end64 = pack("<4sQ2H2I4Q", b"PK\6\6", 44, 0x031E, 45, 0, 0, count, count, length, start)
        locator = pack("<4sIQI", b"PK\6\7", 0, start + length, 1)
        few = min(count, FULL16)
        return (end64 + locator if count else b"") + pack("<4s4H2IH", b"PK\5\6", 0, 0, few, few, min(length, FULL32), min(start, FULL32), 0)


# -- the serialization id ---------------------------------------------------------------------------------------------------------


def combine(seed: int, value: int) -> int:
    """c10::hash_combine."""
    return (seed ^ (value + 0x9E3779B9 + (seed << 6) + (seed >> 2))) & MASK


def serialization_id(names: list[str], crcs: list[int]) -> str:
    """Forty digits: a hash of the record names in the order of libstdc++'s unordered_set, and one of the CRCs in the order of writing."""
    first = second = 0
    for name in in_set_order(names):
        first = combine(first, murmur(name.encode("utf-8", "surrogateescape")))
    for crc in crcs:
        second = combine(second, crc)
    return f"{first:020d}{second:020d}"


def sniffed(first: bytes, crc: int, size: int) -> list[int]:
    """What the id's second half takes from a record: the CRC of its descriptor (records without bytes have none). PyTorch's writer looks
    for descriptors in what it writes, and so takes content that begins like one for one as well."""
    if not size:
        return []
    return ([int.from_bytes(first[4:], "little")] if len(first) == 8 and first[:4] == b"PK\7\x08" else []) + [crc]


def murmur(data: bytes) -> int:
    """libstdc++'s std::hash<std::string>: MurmurHash64A with its own seed."""
    factor = 0xC6A4A7935BD1E995
    value = 0xC70F6907 ^ (len(data) * factor & MASK)
    whole = len(data) & ~7
    for at in range(0, whole, 8):
        part = int.from_bytes(data[at : at + 8], "little") * factor & MASK
        part = (part ^ part >> 47) * factor & MASK
        value = (value ^ part) * factor & MASK
    if len(data) & 7:
        value = (value ^ int.from_bytes(data[whole:], "little")) * factor & MASK
    value = (value ^ value >> 47) * factor & MASK
    return value ^ value >> 47


# libstdc++'s bucket counts as a set grows: a prime at least twice the one before (__prime_list)
_BUCKETS = (1, 13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933, 351061, 712697, 1447153, 2938679, 5967347)


def in_set_order(names: list[str]) -> list[str]:
    """The names as libstdc++'s unordered_set goes through them: a new one stands first of all, or first of its bucket."""
    following: dict[str | None, str | None] = {None: None}  # a list with links; None is its head
    before: dict[int, str | None] = {}  # bucket → what stands before its first name
    hashes: dict[str, int] = {}
    size = 1
    for name in names:
        if name in hashes:
            continue
        hashes[name] = murmur(name.encode("utf-8", "surrogateescape"))
        if len(hashes) > size:
            size = next(count for count in _BUCKETS if count >= len(hashes) and count > size)
            following, before = _rehashed(following, hashes, size)
        _insert(name, hashes, following, before, size)
    order, at = [], following[None]
    while at is not None:
        order.append(at)
        at = following[at]
    return order


def _insert(name: str, hashes: dict[str, int], following: dict[str | None, str | None], before: dict[int, str | None], size: int) -> None:
    bucket = hashes[name] % size
    if bucket in before:
        place = before[bucket]
        following[name] = following[place]
        following[place] = name
        return
    following[name] = following[None]
    following[None] = name
    behind = following[name]
    if behind is not None:
        before[hashes[behind] % size] = name
    before[bucket] = None


def _rehashed(
    following: dict[str | None, str | None], hashes: dict[str, int], size: int
) -> tuple[dict[str | None, str | None], dict[int, str | None]]:
    """The same names in more buckets: put in one by one, in the order of the list."""
    made: dict[str | None, str | None] = {None: None}
    before: dict[int, str | None] = {}
    at = following[None]
    while at is not None:
        _insert(at, hashes, made, before, size)
        at = following[at]
    return made, before
