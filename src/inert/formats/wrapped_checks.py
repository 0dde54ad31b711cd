"""What can be checked of what is wrapped around a checkpoint: compressed streams and archives.

Knows: which compressions carry a checksum of what is inside, which bytes of a stream's header that does not cover, and an archive's own
checks.
Refuses to know: what is inside. A stream's checksum was compared when it was inflated.

Facts: RFC 1950 (zlib: Adler-32), RFC 1952 (gzip: CRC-32; its header has none as a rule), RFC 8878 (Zstandard: bit 2 of the frame header's
descriptor), the LZ4 frame format 1.6 (bit 2 of FLG), the xz file format 1.2 (CRCs of everything), bzip2 1.0 (a CRC of each block).
"""

from __future__ import annotations

from ..containers import zipcheck, zipentries
from ..containers.zip import Zip
from ..finding import Finding
from ..inflate import ENGINES
from .plain_checks import tar_fillers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..checking import Inspector
    from ..source import Source
    from .wrapped import Archive

SUMMED = ("gzip", "xz", "bzip2", "zlib", "joblib-zfile")
FLAGGED = {"zstd": (4, 4), "lz4": (4, 4)}  # where the frame header's flags stand, and which of them says that a checksum follows
EXTRA, NAME, COMMENT, HEADER_CRC = 4, 8, 16, 2  # flags of a gzip header
TORCHS = ("zip-deflated", "zip-crc-none", "zip-case", "zip-text")  # findings that matter to torch alone, which reads no such archive
HEAD = 1 << 16


def covering(source: Source, kind: str) -> str:
    """The name of a compression whose stream has a checksum of all that is inside; "" for any other."""
    at, bit = FLAGGED.get(kind, (0, 0))
    flagged = bool(bit) and source.size > at and bool(source.read(at, 1)[0] & bit)
    return ENGINES[kind].noun if kind in SUMMED or flagged else ""


def stream(source: Source, kind: str, inspector: Inspector) -> Iterator[Finding]:
    """It was inflated when it was opened, and its checksum compared; what that does not cover is named."""
    noun = ENGINES[kind].noun
    if not covering(source, kind):
        inspector.note(f"a {noun} stream without a checksum", source.name, noun, [(0, source.size)])
    elif kind == "gzip":
        text = "the gzip header: time, system and name, which no checksum covers"
        inspector.note(text, source.name, noun, [(3, gzip_header(source) - 3)])
    elif kind in FLAGGED or kind == "joblib-zfile":
        inspector.note(f"the header of the {noun} stream", source.name, noun, [(0, min(ENGINES[kind].start(source) or 18, source.size))])
    if covering(source, kind):
        inspector.coding(source.name, noun, [(0, source.size)])
    inspector.read(source.size, 1)
    return
    yield


def gzip_header(source: Source) -> int:
    """Where the header of a gzip stream ends."""
    head = source.read(0, min(HEAD, source.size))
    if len(head) < 12:
        return len(head)
    flags, at = head[3], 10
    if flags & EXTRA:
        at += 2 + int.from_bytes(head[at : at + 2], "little")
    for flag in (NAME, COMMENT):
        if flags & flag:
            at = head.find(b"\0", at) + 1 or len(head)
    return min(at + 2 * bool(flags & HEADER_CRC), len(head))


def vouched(archive: Archive, names: set[str]) -> str:
    """The archive's kind, where it has a checksum of each of some members."""
    held = archive.archive
    return "zip" if isinstance(held, Zip) and all(held.members[name].crc32 or not held.members.size(name) for name in names) else ""


def members(archive: Archive, names: set[str], inspector: Inspector) -> Iterator[Finding]:
    """The archive's own checks, of all its members. ``names``: those that the checkpoint lies in."""
    held = archive.archive
    if isinstance(held, Zip):
        found = zipentries.rows(held)
        yield from zipentries.entries(held, found, inspector)
        yield from zipentries.ends(held, found, inspector)
        yield from zipcheck.records(held, found, inspector, lambda record: ())
        yield from (note for note in held.later() if note.code not in TORCHS)
        return
    yield from tar_fillers(held, inspector)
    rest = [one for name, one in held.members.items() if name not in names]
    others = [(one.offset, one.size) for one in rest if one.offset + one.size <= held.source.size]
    inspector.note("members of a tar archive, which have no checksums", held.source.name, "members", others)
