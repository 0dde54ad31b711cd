"""What can be checked of the formats without checksums, beside what reading one notes already; and what, therefore, nobody can vouch for.

Knows: which bytes of a legacy file, a tar archive, a safetensors file, a pickle and a flatbuffer no rule holds, and the fillers of a tar
archive, which must be zero.
Refuses to know: how these are read. Each check is a function of a Content and an Inspector.
"""

from __future__ import annotations

import re

from ..checking import runs_outside
from ..containers.tar import BLOCK, is_header
from ..finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..checking import Inspector
    from ..containers.tar import Tar

PIECE = 1 << 20
SUM = re.compile(rb"[ 0-7]{6}(?:\0 |[ \0]\Z| \0)|[0-7]{7}\0")  # how programs end the checksum of a header
PICKLE = "a pickle: it was decoded to its end, but it has no checksum, and another name or number in it is as good as the right one"


def legacy(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Pickles and storages have no checksums; the counts of the storages are those that the pickle says."""
    file = content.source.name
    pickles: list[tuple[int, int]] = []
    storages: list[tuple[int, int]] = []
    for part in content.parts().values():
        (storages if part.role == "storage" else pickles).append((part.offset, part.size))
    inspector.note(PICKLE, file, "pickles", pickles)
    inspector.note("storages without checksums", file, "storages", storages)
    held = [(at, at + size) for at, size in pickles] + [(at - 8, at + size) for at, size in storages]
    rest = list(runs_outside(held, 0, content.source.size))
    if rest:
        inspector.note("bytes behind the last save that was read", file, "", rest)
    inspector.read(8 * len(storages) + sum(size for _, size in pickles), len(pickles) + len(storages))
    return
    yield


def whole(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """A file of which only the structure can be checked."""
    inspector.note("it has no checksums", content.source.name, "", [(0, content.source.size)])
    inspector.read(0, len(content.parts()))
    return
    yield


def pickled(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Pickles that are the file; the files beside it that hold its arrays."""
    source = content.source
    inspector.note(PICKLE, source.name, "", [(0, source.size)])
    for name, file in content.companions.files.items():
        inspector.note("an array in a file of its own, without a checksum", file.name, name, [(0, file.size)])
    inspector.read(source.size, len(content.parts()))
    return
    yield


def safetensors(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """The header's rules were checked when it was read; the format has no checksums."""
    file, start = content.source.name, content.start
    inspector.note("the header's names and texts: it keeps all rules, but it has no checksum", file, "header", [(8, start - 8)])
    if content.source.size > start:
        inspector.note("the format has no checksums", file, "tensors", [(start, content.source.size - start)])
    inspector.read(start, 1 + len(content.rows))
    return
    yield


# -- tar --------------------------------------------------------------------------------------------------------------------------


def tar(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Headers have checksums, which reading has looked at; fillers are zero; contents have none."""
    yield from tar_fillers(content.tar, inspector)
    file = content.source.name
    runs = [(member.offset, member.size) for member in content.tar.members.values() if member.offset + member.size <= content.source.size]
    inspector.note("the contents of a tar archive, which have no checksums", file, "members", runs)


def tar_fillers(archive: Tar, inspector: Inspector) -> Iterator[Finding]:
    """What fills the last block of each member, and the blocks behind the last one; the spelling of a header's checksum."""
    source = archive.source
    for member in archive.members.values():
        head = source.read(member.offset - BLOCK, BLOCK)
        if is_header(head) and not SUM.match(head[148:156]):
            yield Finding("tar-header", "the checksum of its header is spelled oddly", member.name, member.offset - BLOCK + 148)
        inspector.read(BLOCK, 1)
    runs = archive.fillers + ([(archive.end, source.size - archive.end)] if archive.whole else [])
    for offset, size in runs:
        end = min(offset + size, source.size)
        for start in range(offset, end, PIECE):
            data = source.read(start, min(PIECE, end - start))
            inspector.read(len(data))
            if data.count(0) != len(data):
                place = start + len(data) - len(data.lstrip(b"\0"))
                yield Finding("tar-filler", "there is something in the zeros that fill up the archive", source.name, place)
                break
