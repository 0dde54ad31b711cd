"""Any bytes as a zip archive: a result or an InertError; no member gives more bytes than its limit, none from outside the file.

Also: names, offsets and contents are the same on a second reading, and whatever Python's zipfile reads of a stored member is what inert reads.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path

from driver import instrument, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    from inert.containers.zip import Zip
    from inert.errors import InertError
    from inert.limits import Limits
    from inert.source import BytesSource

from tests.makers import Entry, torch_entries, zip_bytes

READS = ("containers.zip", "containers.zipdirectory", "containers.zipentries")
LIMITS = Limits(entries=100_000, inflated=1 << 22)


def contents(data: bytes) -> list[tuple[str, int, bytes | None]] | None:
    """(name, offset, content or None where it is refused) of every member; None where the archive is refused."""
    try:
        archive = Zip(BytesSource(data), LIMITS)
    except InertError as error:
        assert str(error).isprintable()
        return None
    found: list[tuple[str, int, bytes | None]] = []
    for member in [*archive.members.values(), *archive.shadowed][:200]:
        try:
            content = archive.span(member).read()
            assert len(content) == member.size <= max(len(data), LIMITS.inflated)
        except InertError as error:
            assert str(error).isprintable()
            content = None
        found.append((member.name, member.offset, content))
    for note in [*archive.notes, *archive.later()]:
        assert str(note).isprintable()
    return found


def one(data: bytes) -> None:
    found = contents(data)
    assert contents(data) == found
    if found is None:
        return
    mine = {name: content for name, _, content in found if content is not None}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as theirs:
            if theirs.start_dir != data.find(b"PK\1\2") or len({info.filename for info in theirs.infolist()}) != len(theirs.infolist()):
                return  # an archive behind other bytes, or of several members of one name: readers differ on it, which inert notes
            for info in theirs.infolist()[:50]:
                if info.filename in mine and info.compress_type == zipfile.ZIP_STORED:
                    assert theirs.read(info) == mine[info.filename]
    except Exception as error:
        if isinstance(error, AssertionError):
            raise


DEFLATED = [Entry("a/data.pkl", b"N."), Entry("a/data/0", bytes(1000), method=8), Entry("a/version", b"3\n")]
DUPLICATES = [Entry("a/data.pkl", b"N."), Entry("a/x", b"1", method=8), Entry("a/x", b"2", method=8), Entry("a/X", b"3")]

run(
    one,
    seeds=[
        zip_bytes(torch_entries(b"\x80\2N.", {"0": b"abcd"})),
        zip_bytes(torch_entries(b"\x80\2N.", {"0": b"abcd"}), align=1, wide=False),
        zip_bytes(DEFLATED),
        zip_bytes(DUPLICATES, before=b"#!/bin/sh\n", comment=b"comment"),
        zip_bytes(
            [
                Entry(
                    "a",
                    b"x",
                    packed=0xFFFFFFFF,
                    size=0xFFFFFFFF,
                    offset=0xFFFFFFFF,
                    extra=b"\1\0\x18\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                )
            ]
        ),
    ],
    smoke=8000,
)
