"""Archives are laid out as PyTorch lays them out: its own files, taken apart and written again, come out as they were.

Expectations are the bytes of files that torch wrote, ids and extra fields that torch wrote, and what Python's own zipfile reads.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inert.containers.zip import STORED, Zip
from inert.containers.zipwrite import ID, Archive, Record, in_set_order, serialization_id, sniffed
from inert.errors import UnsupportedError
from inert.files import open_source
from inert.limits import DEFAULT
from inert.sink import Out, Stream, destination
from tests.source_tree import REPOSITORY

HERE = Path(__file__).parent / "corpus"
SHARED = REPOSITORY.parent / "shared" / "corpus"
BIG = (1 << 32) + 64


def laid_out_again(path: Path, alignment: int = 64) -> bytes | None:
    """The bytes of an archive whose records are those of the one at ``path``; None where one is deflated."""
    with closing(open_source(str(path))) as source:
        zipped = Zip(source, DEFAULT)
        members = sorted(zipped.members.values(), key=lambda member: member.offset)
        if any(member.method != STORED for member in members):
            return None
        root = members[0].name.partition("/")[0]
        archive = Archive(root, [Record(member.name[len(root) + 1 :], zipped.span(member)) for member in members], alignment)
        return written(archive)


def written(archive: Archive) -> bytes:
    kept = bytearray()

    class Kept(Out):
        def write(self, data: bytes | memoryview) -> None:
            kept.extend(data)
            self._advance(len(data))

        def _by_kernel(self, span: Any) -> int:
            return 0

    archive.write(Kept(-1))
    assert len(kept) == archive.size
    return bytes(kept)


OURS = [path for path in sorted((HERE / "torch").glob("*.pt")) if path.stem != "no_crc" and path.read_bytes()[:4] == b"PK\3\4"]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_files_of_torch_come_out_as_they_were(path: Path) -> None:
    said = re.fullmatch(r"align_(\d+)", path.stem)
    assert laid_out_again(path, int(said[1]) if said else 64) == path.read_bytes()


def test_there_are_such_files() -> None:
    assert len(OURS) > 20


REAL = sorted((SHARED / "torch").glob("t*/*.pt")) if (SHARED / "torch").is_dir() else []
# taken apart: written with CRC 0, with another alignment, by TorchScript's writer (whose id hashes what it writes elsewhere), or altered
OTHERS = re.compile(r"no_?crc|align|skip|torchscript|script|cpp|package|hole|export")


@pytest.mark.corpus
@pytest.mark.skipif(not REAL, reason="the shared corpus of real files does not lie beside the repository")
def test_files_of_many_torches_come_out_as_they_were() -> None:
    seen = set()
    for path in REAL:
        if path.read_bytes()[:4] != b"PK\3\4" or OTHERS.search(path.name):
            continue
        made = laid_out_again(path)
        if made is not None:
            assert made == path.read_bytes(), path
            seen.add(path.parent.name)
    assert len(seen) >= 8


# ------------------------------------------------------------------------------------------------------------------ serialization id


def _archive_of(count: int) -> Archive:
    data = [Record(f"data/{i}", struct.pack("<2f", i, i)) for i in range(count)]
    return Archive("x", [Record("data.pkl", b"\x80\2}."), *data, Record("version", b"3\n"), Record(ID, bytes(40))])


def test_the_id_is_of_what_was_written_before_it() -> None:
    made = written(_archive_of(3))
    said = zipfile.ZipFile(_file(made)).read(f"x/{ID}").decode()
    crcs = [zlib.crc32(b"\x80\2}."), *(zlib.crc32(struct.pack("<2f", i, i)) for i in range(3)), zlib.crc32(b"3\n")]
    assert said == serialization_id(["data.pkl", "data/0", "data/1", "data/2", "version"], crcs)


def _file(data: bytes) -> Any:
    import io

    return io.BytesIO(data)


@given(st.lists(st.text(max_size=12), max_size=200))
@settings(max_examples=50)
def test_the_order_of_a_set_holds_each_name_once(names: list[str]) -> None:
    order = in_set_order(names)
    assert sorted(order) == sorted(set(names))


def test_content_that_begins_like_a_descriptor_is_hashed_as_one() -> None:
    assert sniffed(b"PK\7\x08\1\0\0\0", 5, 8) == [1, 5]
    assert sniffed(b"PK\7\x08\1\0\0", 5, 7) == [5]
    assert sniffed(b"PK\3\4\1\0\0\0", 5, 8) == [5]
    assert sniffed(b"", 0, 0) == []


def test_content_in_small_pieces_is_sniffed_too() -> None:
    pieces = [b"PK", b"", b"\7\x08", b"abcd", b"efgh"]
    whole = b"".join(pieces)

    def id_of(piece: Any) -> bytes:
        return zipfile.ZipFile(_file(written(Archive("x", [Record("data/0", piece), Record(ID, bytes(40))])))).read(f"x/{ID}")

    assert id_of(Stream(len(whole), lambda: pieces)) == id_of(whole) == serialization_id(
        ["data/0"], [int.from_bytes(b"abcd", "little"), zlib.crc32(whole)]
    ).encode()  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- alignment and ZIP64


@pytest.mark.parametrize("alignment", [1, 2, 48, 64, 4096, 65535])
def test_records_lie_at_multiples_of_the_alignment(alignment: int) -> None:
    archive = Archive("été", [Record(name, b"x" * len(name)) for name in ("a", "bb", "data/ccc", "")], alignment)
    data = written(archive)
    found = zipfile.ZipFile(_file(data))
    for info in found.infolist():
        name, extra = struct.unpack_from("<2H", data, info.header_offset + 26)
        assert (info.header_offset + 30 + name + extra) % alignment == 0
    assert [found.read(info) for info in found.infolist()] == [b"x", b"xx", b"x" * 8, b""]
    assert found.testzip() is None


@pytest.mark.parametrize("alignment", [0, -1, 65536, 1 << 20])
def test_an_alignment_that_pytorch_cannot_read_is_refused(alignment: int) -> None:
    with pytest.raises(UnsupportedError, match="alignment"):
        Archive("x", [], alignment)


class Sparse(Out):
    """Leaves holes where large pieces would be."""

    def pour_crc(self, piece: Any) -> int:
        if not isinstance(piece, Stream):
            return super().pour_crc(piece)
        self.first = b""
        os.lseek(self.fd, piece.length, os.SEEK_CUR)
        self._advance(piece.length)
        return 0


def sparse(path: Path, archive: Archive) -> None:
    fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    try:
        archive.write(Sparse(fd))
    finally:
        os.close(fd)


def hole(length: int) -> Stream:
    return Stream(length, lambda: pytest.fail("a hole was read"))


@pytest.mark.parametrize("first", [0xFFFFFFFE, 0xFFFFFFFF, 1 << 32, BIG])
def test_sizes_and_places_beyond_four_gigabytes(first: int, tmp_path: Path) -> None:
    records = [Record("data.pkl", b"pickle"), Record("data/0", hole(first)), Record("data/1", b"small"), Record("data/2", b"")]
    archive = Archive("big", [*records, Record("data/3", hole(BIG)), Record("version", b"3\n")])
    path = tmp_path / "big.pt"
    sparse(path, archive)
    assert path.stat().st_size == archive.size
    with zipfile.ZipFile(path) as found:
        assert [(info.filename, info.file_size) for info in found.infolist()] == [(f"big/{r.name}", r.size) for r in archive.records]
        assert [found.read(f"big/{name}") for name in ("data.pkl", "data/1", "data/2", "version")] == [b"pickle", b"small", b"", b"3\n"]
    with closing(open_source(str(path))) as source:
        zipped = Zip(source, DEFAULT)
        assert [member.size for member in zipped.members.values()] == [record.size for record in archive.records]
        spans = [zipped.span(member) for member in zipped.members.values()]
        assert all(span.offset % 64 == 0 for span in spans)
        assert [spans[i].read() for i in (0, 2, 3, 5)] == [b"pickle", b"small", b"", b"3\n"]


def test_extra_fields_beyond_four_gigabytes() -> None:
    """What torch 2.13 writes for a record of 4 GiB and 64 bytes, and for a small one behind it."""
    archive = Archive("a", [Record("data/0", hole(BIG)), Record("data/1", b"x")])
    large, small = archive._entries([0, 0])
    assert large.endswith(bytes.fromhex("0100 1000 4000000001000000 4000000001000000"))
    assert small.endswith(bytes.fromhex("0100 0800") + struct.pack("<Q", archive.offsets[1]))
    assert archive.heads[0][30 + len("a/data/0") :].startswith(bytes.fromhex("0100 1000 4000000001000000 0000000000000000"))


@pytest.mark.no_cover
def test_more_records_than_sixteen_bits_count(tmp_path: Path) -> None:
    path = tmp_path / "many.pt"
    archive = Archive("m", [Record(f"data/{i}", b"") for i in range(66_006)], 1)
    with destination(path, archive.size, sync=False) as out:
        archive.write(out)
    assert path.read_bytes()[-22:][8:12] == b"\xff" * 4
    with zipfile.ZipFile(path) as found:
        assert len(found.namelist()) == 66_006
