"""The ZIP container: what PyTorch writes, what other programs make of it, and what hostile hands do to it.

Archives are made field by field (tests/makers.py) or by Python's zipfile; every finding is expected by its code.
"""

from __future__ import annotations

import io
import os
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.containers.deflated import inflate
from inert.containers.zip import Zip
from inert.errors import FormatError, InertError, LimitError, TruncatedError, UnsupportedError
from inert.files import FileSource
from inert.limits import Limits
from inert.source import BytesSource
from tests.makers import Entry, dumps, storage, tensor, torch_entries, torch_zip, zip_bytes

PICKLE = dumps({"w": tensor(storage("0", 6), (2, 3)), "b": tensor(storage("1", 2), (2,))})
STORAGES = {"0": struct.pack("<6f", *range(6)), "1": struct.pack("<2f", 7, 8)}


def records(**options: Any) -> list[Entry]:
    return torch_entries(PICKLE, STORAGES, **options)


def archive(data: bytes, **limits: int) -> Zip:
    return Zip(BytesSource(data, "x.pt"), Limits(**limits))


def codes(data: bytes) -> list[str]:
    """Codes of all that the container says of itself."""
    opened = archive(data)
    return [note.code for note in [*opened.notes, *opened.later()]]


def noted(data: bytes) -> set[str]:
    """Codes of all that opening the checkpoint says."""
    with inert.open(io.BytesIO(data)) as checkpoint:
        return {note.code for note in checkpoint.notes}


def content(opened: Zip, name: str) -> bytes:
    return opened.span(opened.members[name]).read()


# ------------------------------------------------------------------------------------------------------------- as PyTorch writes it


@pytest.mark.parametrize("align", [1, 48, 64, 4096])
def test_a_plain_archive(align: int) -> None:
    entries = records()
    data = zip_bytes(entries, align=align)
    opened = archive(data)
    assert list(opened.members) == [entry.name for entry in entries]
    assert len(opened.members) == len(entries)
    assert [note.code for note in [*opened.notes, *opened.later()]] == []
    for entry in entries:
        member = opened.members[str(entry.name)]
        assert (member.size, member.packed, member.method, member.crc32) == (len(entry.data), len(entry.data), 0, zlib.crc32(entry.data))
        assert (member.offset, opened.start(member)) == (data.index(b"PK\3\4", max(0, member.offset)), entry.at)
        assert entry.at % align == 0
        assert content(opened, str(entry.name)) == opened.content(str(entry.name)).read() == opened.raw(member).read() == entry.data
        assert opened.members.size(str(entry.name)) == len(entry.data)
    assert opened.members.size("absent") is None
    assert "absent" not in opened.members
    assert (opened.directory.count, opened.directory.shift, opened.directory.record, opened.directory.comment) == (
        len(entries),
        0,
        len(data) - 22,
        0,
    )


def test_python_and_torch_agree_with_the_maker() -> None:
    """The archives of these tests are real ones: Python's zipfile reads them too."""
    entries = records()
    entries[1].method = 8
    with zipfile.ZipFile(io.BytesIO(zip_bytes(entries))) as theirs:
        assert theirs.testzip() is None
        assert [theirs.read(info) for info in theirs.infolist()] == [entry.data for entry in entries]


@pytest.mark.parametrize("size", [0, 1, 4, 65535])
def test_an_empty_member_has_no_descriptor(size: int) -> None:
    entries = [Entry("a/data.pkl", b"N."), Entry("a/x", b"x" * size), Entry("a/y", b"y")]
    opened = archive(zip_bytes(entries))
    assert content(opened, "a/x") == b"x" * size
    assert content(opened, "a/y") == b"y"
    assert codes(zip_bytes(entries)) == []


@pytest.mark.parametrize("wide", [True, False])
def test_with_and_without_a_zip64_end(wide: bool) -> None:
    assert codes(zip_bytes(records(), wide=wide)) == []


@pytest.mark.parametrize("root", ["archive", "a b", "poids été", "☃", "a\nb", "a\tb", ".", "..", "x" * 300, "a\\b", "C:"])
def test_any_root_name(root: str) -> None:
    data = torch_zip(PICKLE, STORAGES, root=root)
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.notes == []
        assert checkpoint.metadata["root"] == root
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("raw", [b"caf\xe9/x", b"\xff\xfe/x", b"a\0b/x"])
def test_names_that_are_no_utf8_lose_nothing(raw: bytes) -> None:
    opened = archive(zip_bytes([Entry(raw, b"content", flags=8)]))
    (name,) = opened.members
    assert name.encode("utf-8", "surrogateescape") == raw
    assert content(opened, name) == opened.content(name).read() == b"content"
    assert [note.code for note in opened.later()] == (["zip-text"] if max(raw) > 127 else [])  # torch.load makes texts of them


def test_fields_of_the_local_header_are_only_looked_at_for_lengths() -> None:
    """PyTorch leaves sizes and checksum zero there; a long extra field is skipped."""
    entries = [Entry("a/data.pkl", b"N."), Entry("a/long", b"content", padding=b"FB\xfa\xff" + b"Z" * 65530)]
    opened = archive(zip_bytes(entries))
    assert content(opened, "a/long") == b"content"
    assert [note.code for note in opened.later()] == []


# --------------------------------------------------------------------------------------------------------------------------- ZIP64


def zip64(*values: int) -> bytes:
    return struct.pack(f"<2H{len(values)}Q", 1, 8 * len(values), *values)


def test_saturated_fields_are_taken_from_the_extra_field() -> None:
    full = 0xFFFFFFFF
    entries = [
        Entry("a/data.pkl", b"N."),
        Entry("a/all", b"abc", packed=full, size=full, offset=full, extra=b"XX\2\0zz" + zip64(3, 3, 128)),
        Entry("a/sizes", b"abcd", packed=full, size=full, extra=zip64(4, 4)),
        Entry("a/offset", b"abcde", offset=full, extra=zip64(384)),
        Entry("a/none", b"abcdef", extra=zip64(9, 9, 9)),
    ]
    opened = archive(zip_bytes(entries, align=128))
    offsets = {name: (member.offset, member.size, member.packed) for name, member in opened.members.items()}
    data = zip_bytes(entries, align=128)
    places = [data.index(b"PK\3\4", entry.at - 128) for entry in entries]
    assert offsets["a/none"] == (places[4], 6, 6), "the extra field counts only where a field is saturated"
    assert offsets["a/sizes"] == (places[2], 4, 4)
    assert offsets["a/all"][1:] == (3, 3)
    assert offsets["a/all"][0] == 128
    assert offsets["a/offset"][0] == 384


@pytest.mark.parametrize(
    "extra", [b"", zip64(), zip64(3), b"\1\0\x18\0short", b"\1\0\xff\xff", b"XX\2\0zz", b"\1", zip64(2**63 + 5, 2**63 + 5, 2**63 + 5)]
)
def test_a_zip64_extra_field_that_is_missing_short_or_wild(extra: bytes) -> None:
    full = 0xFFFFFFFF
    data = zip_bytes([Entry("a/data.pkl", b"N."), Entry("a/x", b"abc", packed=full, size=full, offset=full, extra=extra)])
    opened = archive(data)
    with pytest.raises(FormatError):
        content(opened, "a/x")
    with pytest.raises(FormatError):
        opened.content("a/x")
    assert content(opened, "a/data.pkl") == b"N."
    assert {note.code for note in opened.later()} <= {"zip-beyond-end", "zip-local-header", "zip-sizes"}
    assert opened.later()


def big(path: Path, size: int, name: str, mode: str) -> list[Entry]:
    """A sparse file of more than ``size`` bytes: data.pkl, then a storage of ``size`` bytes with first and last byte set, then a small one."""
    full = 0xFFFFFFFF
    head = zip_bytes([Entry("a/data.pkl", b"N.")], wide=False)
    head = head[: head.index(b"PK\1\2")]
    where = [0, len(head)]
    extra = struct.pack("<2H2Q", 1, 16, size, 0) if mode == "descriptor" else b""
    local = struct.pack("<4s5H3I2H", b"PK\3\4", 0, 0x808, 0, 0, 0, 0, 0, 0, len(name), len(extra)) + name.encode() + extra
    start = len(head) + len(local)
    with path.open("wb") as out:
        out.write(head + local + b"F")
        out.seek(start + size - 1)
        out.write(b"L" + struct.pack("<4sI2Q", b"PK\7\x08", 0, size, size))
        where.append(out.tell())
        out.write(
            struct.pack("<4s5H3I2H", b"PK\3\4", 0, 0x808, 0, 0, 0, 0, 0, 0, 7, 12)
            + b"a/small"
            + struct.pack("<2HQ", 1, 8, where[2])
            + b"small"
        )
        cd = out.tell()
        rows = [
            ("a/data.pkl", 2, where[0], b""),
            (name, full, where[1], struct.pack("<2H2Q", 1, 16, size, size)),
            ("a/small", 5, full, struct.pack("<2HQ", 1, 8, where[2])),
        ]
        for member, length, offset, more in rows:
            out.write(
                struct.pack("<4s6H3I5H2I", b"PK\1\2", 0, 0, 0x808, 0, 0, 0, 0, length, length, len(member), len(more), 0, 0, 0, 0, offset)
                + member.encode()
                + more
            )
        end = out.tell()
        out.write(
            struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 0x31E, 45, 0, 0, 3, 3, end - cd, cd) + struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
        )
        out.write(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 3, 3, min(end - cd, full), full, 0))
    return [Entry(name, at=start), Entry("a/small", at=where[2] + 30 + 7 + 12)]


@pytest.mark.parametrize("size", [(1 << 32) - 1, (1 << 32) + 64, 3 << 40])
def test_members_beyond_four_gigabytes(size: int, tmp_path: Path) -> None:
    path = tmp_path / "big.pt"
    try:
        large, small = big(path, size, "a/large", "descriptor")
    except OSError:
        pytest.skip("no sparse files of this size here")
    source = FileSource(str(path))
    try:
        opened = Zip(source, Limits())
        assert [note.code for note in [*opened.notes, *opened.later()]] == ["zip-crc-none"]
        member = opened.members["a/large"]
        assert (member.size, member.packed, opened.start(member)) == (size, size, large.at)
        span = opened.content("a/large")
        assert (span.length, span.read(0, 1), span.read(size - 1), span.read(size // 2, 3)) == (size, b"F", b"L", bytes(3))
        assert opened.start(opened.members["a/small"]) == small.at
        assert content(opened, "a/small") == b"small"
    finally:
        source.close()


def test_fifty_thousand_members_and_more_than_the_narrow_count_holds() -> None:
    entries = [Entry(f"a/data/{i}", b"%d" % i, padding=b"") for i in range(70_000)]
    data = zip_bytes([Entry("a/data.pkl", b"N.", padding=b""), *entries])
    assert struct.unpack_from("<H", data, len(data) - 12) == (0xFFFF,)
    opened = archive(data)
    assert (len(opened.members), opened.directory.count) == (70_001, 70_001)
    assert [content(opened, f"a/data/{i}") for i in (0, 9, 10, 99, 12345, 69_999)] == [b"0", b"9", b"10", b"99", b"12345", b"69999"]
    assert opened.notes == []


def test_a_directory_is_read_in_one_piece() -> None:
    """50,000 members take one read of the directory, not one for each of them."""
    reads = []

    class Counting(BytesSource):
        def _read(self, offset: int, length: int) -> bytes:
            reads.append(length)
            return super()._read(offset, length)

    data = zip_bytes([Entry(f"a/data/{i}", b"", padding=b"") for i in range(50_000)])
    assert len(Zip(Counting(data), Limits()).members) == 50_000
    assert len(reads) < 20


# --------------------------------------------------------------------------------------------------------------- deflated members


def deflated(data: bytes, **options: Any) -> bytes:
    return zip_bytes([Entry("a/data.pkl", b"N."), Entry("a/x", data, method=8, **options)])


@pytest.mark.parametrize("data", [b"", b"x", b"content " * 1000, os.urandom(70_000)])
def test_a_deflated_member(data: bytes) -> None:
    opened = archive(deflated(data))
    assert content(opened, "a/x") == opened.content("a/x").read() == data
    assert opened.members["a/x"].size == len(data)
    assert opened.span(opened.members["a/x"]) is opened.span(opened.members["a/x"])


@pytest.mark.parametrize("wide", [False, True])
def test_what_zipfile_makes_of_a_checkpoint(wide: bool) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as theirs:
        for entry in records():
            with theirs.open(zipfile.ZipInfo(str(entry.name)), "w", force_zip64=wide) as member:
                member.write(entry.data)
    with inert.open(out) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        assert [note for note in checkpoint.notes if note.severity != "info"] == []


def test_deflated_records_of_a_checkpoint_are_noted_and_not_mapped() -> None:
    entries = records()
    for entry in entries:
        entry.method = 8
    data = zip_bytes(entries)
    assert noted(data) == {"zip-deflated"}
    with inert.open(io.BytesIO(data)) as checkpoint:
        tensor = checkpoint.tensors["w"]
        assert tensor.file_offset is None
        assert tensor.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        assert checkpoint.parts["archive/data/0"].compressed == len(entries[4].content)


@pytest.mark.parametrize(("size", "kind"), [(7999, FormatError), (8001, TruncatedError), (0, FormatError), (1 << 31, TruncatedError)])
def test_a_deflated_size_that_lies(size: int, kind: type[InertError]) -> None:
    opened = archive(deflated(b"content " * 1000, size=size))
    with pytest.raises(kind):
        content(opened, "a/x")


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_deflated_data_that_ends_early_or_is_damaged(cut: int) -> None:
    packed = len(Entry("", b"content " * 1000, method=8).content)
    with pytest.raises(FormatError):
        content(archive(deflated(b"content " * 1000, packed=packed - cut)), "a/x")
    damaged = bytearray(deflated(b"content " * 1000))
    place = bytes(damaged).index(Entry("", b"content " * 1000, method=8).content)
    damaged[place] ^= 0xFF
    with pytest.raises(FormatError):
        content(archive(bytes(damaged)), "a/x")


def test_bytes_behind_the_end_of_deflated_data_are_let_be() -> None:
    raw = Entry("", b"content", method=8).content
    data = zip_bytes([Entry("a/data.pkl", b"N."), Entry("a/x", raw + b"junk")])
    opened = archive(data)
    member = opened.members["a/x"]
    member.method, member.size = 8, 7
    assert opened.span(member).read() == b"content"


def test_a_bomb_is_refused_before_it_goes_off() -> None:
    entries = torch_entries(b"\x80\2X\0\0\0\4" + bytes(64 << 20) + b".")
    entries[0].method = 8
    data = zip_bytes(entries)
    assert len(data) < 200_000
    tracemalloc.start()
    try:
        with pytest.raises(LimitError, match=r"more than") as raised:
            inert.open(io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
    assert raised.value.part == "archive/data.pkl"
    assert "Limits." in str(raised.value)
    with inert.open(io.BytesIO(data), limits=Limits(expand_ratio=2000)) as checkpoint:
        assert checkpoint.root == "\0" * (64 << 20)


def test_a_storage_may_grow_to_its_limit_only() -> None:
    data = deflated(bytes(1 << 20))
    assert len(content(archive(data), "a/x")) == 1 << 20
    with pytest.raises(LimitError):
        content(archive(data, inflated=(1 << 20) - 1), "a/x")


def test_a_large_member_is_inflated_to_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inert.containers.deflated.IN_MEMORY", 1000)
    opened = archive(deflated(b"content " * 1000))
    span = opened.span(opened.members["a/x"])
    assert bytes(span.view() or b"") == b"content " * 1000, "the temporary file is mapped"
    assert span.region() is None
    assert span.read() == b"content " * 1000
    assert span.sub(8, 7).read() == b"content"
    with pytest.raises(FormatError):
        content(archive(deflated(b"content " * 1000, size=7999)), "a/x")


def test_inflating_takes_pieces() -> None:
    data = os.urandom(3 << 20)
    raw = Entry("", data, method=8).content
    assert inflate(BytesSource(raw).span(), len(data), "x").read() == data


# ------------------------------------------------------------------------------------------------------- methods, flags, checksums


@pytest.mark.parametrize("method", [1, 9, 12, 14, 93, 99, 0xFFFF])
def test_other_methods_are_refused_one_by_one(method: int) -> None:
    entries = records()
    entries[4].method = method
    data = zip_bytes(entries)
    assert "zip-method" in noted(data)
    with inert.open(io.BytesIO(data)) as checkpoint:
        with pytest.raises(UnsupportedError, match=f"method {method}"):
            checkpoint.tensors["w"].numpy()
        assert checkpoint.tensors["b"].numpy().tolist() == [7, 8]


@pytest.mark.parametrize("flags", [0x809, 0x849, 0x828])
@pytest.mark.parametrize("method", [0, 8])
def test_encrypted_and_patched_members_are_refused(flags: int, method: int) -> None:
    entries = records()
    entries[4].flags, entries[4].method = flags, method
    data = zip_bytes(entries)
    assert "zip-encrypted" in noted(data)
    with inert.open(io.BytesIO(data)) as checkpoint, pytest.raises(UnsupportedError, match="encrypted"):
        checkpoint.tensors["w"].numpy()


def test_stored_sizes_that_differ() -> None:
    entries = records()
    entries[4].packed = 20
    with inert.open(io.BytesIO(zip_bytes(entries))) as checkpoint, pytest.raises(FormatError, match="sizes differ"):
        checkpoint.tensors["w"].numpy()


def test_no_checksum_is_no_fault() -> None:
    entries = records()
    for entry in entries:
        entry.crc = 0
    data = zip_bytes(entries)
    assert noted(data) == {"zip-crc-none"}
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.tensors["b"].numpy().tolist() == [7, 8]
    assert "zip-crc-none" not in noted(zip_bytes(records()))
    empty = records(more={"empty": b""})
    assert "zip-crc-none" not in noted(zip_bytes(empty)), "an empty member's checksum is zero"


# ------------------------------------------------------------------------------------------------------- two members, two answers


def test_of_equal_names_the_last_counts_and_the_others_are_shown() -> None:
    entries = records()
    entries.insert(4, Entry("archive/data/0", struct.pack("<6f", *[9] * 6)))
    data = zip_bytes(entries)
    assert noted(data) == {"zip-duplicate"}
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        shown = checkpoint.parts["archive/data/0 (hidden 1)"]
        assert data[shown.offset : shown.offset + 4] == struct.pack("<f", 9)
    opened = archive(data)
    (hidden,) = opened.shadowed
    assert opened.span(hidden).read() == struct.pack("<6f", *[9] * 6)


@pytest.mark.parametrize("copies", [2, 3, 5])
def test_each_deflated_copy_has_its_own_content(copies: int) -> None:
    entries = [Entry("a/data.pkl", b"N.")] + [Entry("a/x", b"copy %d" % i, method=8) for i in range(copies)]
    opened = archive(zip_bytes(entries))
    assert content(opened, "a/x") == b"copy %d" % (copies - 1)
    assert [opened.span(member).read() for member in opened.shadowed] == [b"copy %d" % i for i in range(copies - 1)]
    assert content(opened, "a/x") == b"copy %d" % (copies - 1)
    assert [note.code for note in opened.notes] == ["zip-duplicate"] * (copies - 1)


def test_a_hundred_thousand_equal_names_make_a_hundred_notes() -> None:
    opened = archive(zip_bytes([Entry("a/x", b"x", padding=b"", listed=100_000)]))
    assert len(opened.shadowed) == 99_999
    assert len(opened.notes) == 100


def test_a_hidden_copy_is_inspected_like_any_other() -> None:
    entries = [Entry("a/data.pkl", b"N.", local={"name": b"a/other.pkl"}), Entry("a/data.pkl", b"K\1.")]
    opened = archive(zip_bytes(entries))
    assert content(opened, "a/data.pkl") == b"K\1."
    assert [note.code for note in opened.later()] == ["zip-local-name"]


@pytest.mark.parametrize("twin", ["archive/DATA/0", "Archive/data/0", "archive/data.PKL"])
def test_names_that_differ_by_case_only(twin: str) -> None:
    data = zip_bytes([*records(), Entry(twin, b"x" * 24)])
    assert "zip-case" in noted(data)
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_members_that_share_bytes() -> None:
    entries = records()
    data = zip_bytes(entries)
    places = {name: member.offset for name, member in archive(data).members.items()}
    entries[5].offset = places["archive/data/0"]
    data = zip_bytes(entries)
    assert {"zip-overlap", "zip-local-name"} <= noted(data)
    entries[5].offset = None
    assert noted(zip_bytes(entries)) == set()


def test_a_member_that_swallows_the_next() -> None:
    entries = records()
    entries[4].packed = entries[4].size = 200
    assert "zip-overlap" in noted(zip_bytes(entries))


LOCAL = {
    "name": ({"name": b"archive/data/7"}, "zip-local-name"),
    "longer name": ({"name": b"archive/data/0.bin"}, "zip-local-name"),
    "method": ({"method": 8}, "zip-local-fields"),
    "encrypted": ({"flags": 0x809}, "zip-local-fields"),
    "signature": ({"sig": b"PK\3\5"}, "zip-local-header"),
    "name length": ({"name_length": 0xFFFF}, "zip-beyond-end"),
    "extra length": ({"extra_length": 0xFFFF}, "zip-beyond-end"),
}  # fmt: skip


@pytest.mark.parametrize("what", LOCAL)
def test_a_local_header_that_disagrees(what: str) -> None:
    change, code = LOCAL[what]
    entries = records()
    entries[4].local = change
    data = zip_bytes(entries)
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert code in {note.code for note in checkpoint.notes}
        assert next(note for note in checkpoint.notes if note.code == code).where.part == "archive/data/0"
        if code in ("zip-local-header", "zip-beyond-end"):
            assert checkpoint.parts["archive/data/0"].offset is None
            with pytest.raises(FormatError):
                checkpoint.tensors["w"].numpy()
        else:
            assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]], "the directory is the truth"
        assert checkpoint.tensors["b"].numpy().tolist() == [7, 8]


@pytest.mark.parametrize(("field", "value"), [("crc", 1), ("packed", 5), ("size", 5)])
def test_local_sizes_count_where_there_is_no_descriptor(field: str, value: int) -> None:
    entry = Entry("a/x", b"content", descriptor=False, local={"crc": zlib.crc32(b"content"), "packed": 7, "size": 7} | {field: value})
    opened = archive(zip_bytes([Entry("a/data.pkl", b"N."), entry]))
    assert [note.code for note in opened.later()] == ["zip-local-fields"]
    entry.local.update(crc=zlib.crc32(b"content"), packed=7, size=7)
    assert codes(zip_bytes([Entry("a/data.pkl", b"N."), entry])) == []
    entry.local.update(crc=zlib.crc32(b"content"), packed=0xFFFFFFFF, size=0xFFFFFFFF)
    assert codes(zip_bytes([Entry("a/data.pkl", b"N."), entry])) == []


def test_a_disagreement_is_noted_once() -> None:
    entries = [Entry("a/data.pkl", b"N."), Entry("a/x", b"x", local={"name": b"a/z"})]
    opened = archive(zip_bytes(entries))
    for _ in range(3):
        assert opened.start(opened.members["a/x"]) == entries[1].at
    assert [note.code for note in [*opened.notes, *opened.later()]] == ["zip-local-name"]


@pytest.mark.parametrize("offset", [1 << 20, 0xFFFFFFFE, -30])
def test_a_local_offset_outside_the_file(offset: int) -> None:
    entries = records()
    data = zip_bytes(entries)
    entries[4].offset = offset if offset > 0 else len(data) + offset + 1
    with inert.open(io.BytesIO(zip_bytes(entries))) as checkpoint:
        assert {note.code for note in checkpoint.notes} <= {"zip-beyond-end", "zip-local-header"}
        assert checkpoint.notes
        with pytest.raises(FormatError):
            checkpoint.tensors["w"].numpy()


# ---------------------------------------------------------------------------------------------------- around and behind the archive


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("before", [b"#!/bin/sh\n", b"PK\3\4" + bytes(100), bytes(5000)])
def test_bytes_before_the_archive(before: bytes, wide: bool) -> None:
    data = zip_bytes(records(), before=before, wide=wide)
    assert "zip-prefix" in noted(data)
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(FormatError):
        inert.open(io.BytesIO(data), strict=True)


def test_a_stored_member_of_two_sizes_is_noted() -> None:
    path = Path(__file__).parent / "corpus" / "broken" / "central_packed.pt"
    assert "zip-sizes" in noted(path.read_bytes())
    with pytest.raises(FormatError, match="sizes differ"):
        inert.open(path, strict=True)


def test_bytes_before_the_archive_that_its_offsets_count() -> None:
    data = zip_bytes(records(), before=bytes(64), shift=64)
    assert noted(data) == set()


@pytest.mark.parametrize("after", [b"\n", b"x" * 1000, bytes(60_000)])
def test_bytes_behind_the_archive(after: bytes) -> None:
    assert noted(zip_bytes(records(), after=after)) == {"zip-trailing"}


def test_more_behind_the_archive_than_is_searched() -> None:
    with pytest.raises(FormatError, match="end-of-archive") as raised:
        inert.open(io.BytesIO(zip_bytes(records(), after=bytes(200_000))))
    assert "cut short" in str(raised.value)


def test_a_comment() -> None:
    assert noted(zip_bytes(records(), comment=b"made elsewhere")) == {"zip-comment"}


def test_a_comment_with_a_false_end_record() -> None:
    """A reader that takes the last signature reads another archive than one that takes the last which fits."""
    false = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 46, 0, 0)
    data = zip_bytes(records(), comment=false)
    assert "zip-comment" in noted(data)
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    data = zip_bytes(records(), comment=b"PK\5\6" * 10)
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert len(checkpoint.tensors) == 2


def test_two_archives_end_to_end() -> None:
    """torch reads the first, whose offsets are true; Python's zipfile the second."""
    second = torch_zip(dumps({"other": 1}))
    data = zip_bytes(records()) + second
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert {note.code for note in checkpoint.notes} >= {"zip-prefix"} or "zip-count" in {note.code for note in checkpoint.notes}
        assert checkpoint.errors


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ({"count": 3, "here": 3}, "zip-count"),
        ({"count": 60_000, "here": 60_000}, "zip-count"),
        ({"size": 100}, "zip-count"),
        ({"offset": 7}, "zip-count"),
    ],
)
def test_end_records_that_disagree_are_noted_and_zip64_counts(end: dict[str, int], code: str) -> None:
    assert noted(zip_bytes(records(), end=end)) == {code}


@pytest.mark.parametrize("count", [8, 10, 60_000])
def test_counts_that_lie(count: int) -> None:
    data = zip_bytes(records(), wide=False, end={"count": count, "here": count})
    opened = archive(data)
    assert "zip-count" in [note.code for note in opened.notes] or count == len(records())
    assert len(opened.members) == min(count, len(records()))
    wide = archive(zip_bytes(records(), end={"count": count, "here": count}, wide_end={"count": count, "here": count}))
    assert len(wide.members) == min(count, len(records()))


def test_a_count_beyond_the_limit_allocates_nothing() -> None:
    with pytest.raises(LimitError, match=r"Limits\.entries"):
        archive(zip_bytes(records(), wide_end={"count": 1 << 62, "here": 1 << 62}))
    assert archive(zip_bytes(records(), wide_end={"count": 1 << 20, "here": 1 << 20})).members
    with pytest.raises(LimitError):
        archive(zip_bytes(records()), entries=3)


@pytest.mark.parametrize(
    "wide_end",
    [
        {"size": 1 << 63}, {"size": (1 << 64) - 1}, {"offset": 1 << 63}, {"offset": (1 << 64) - 1}, {"disk": 1}, {"cd_disk": 7}, {"here": 2},
        {"offset": 1 << 20, "size": 1 << 40},
    ],
)  # fmt: skip
def test_wild_end_records(wide_end: dict[str, int]) -> None:
    with pytest.raises(FormatError):
        archive(zip_bytes(records(), wide_end=wide_end))


@pytest.mark.parametrize("offset", [0, 4])
def test_a_directory_offset_that_is_too_small_looks_like_bytes_put_into_the_archive(offset: int) -> None:
    opened = archive(zip_bytes(records(), wide_end={"offset": offset}))
    assert "zip-directory" in [note.code for note in opened.notes]
    assert content(opened, "archive/data.pkl") == content(archive(zip_bytes(records())), "archive/data.pkl")


@pytest.mark.parametrize("count", [1, 7, 200])
@pytest.mark.parametrize("name", ["archive/data.pkl", "archive/data/0", "archive/data/1"])
def test_bytes_put_into_a_member_or_taken_out_move_what_follows_it(name: str, count: int) -> None:
    whole = zip_bytes([Entry(f"archive/{one}", bytes(range(250))) for one in ("data.pkl", "data/0", "data/1", "version")])
    at = archive(whole).start(archive(whole).members[name]) + 20
    for data in (whole[:at] + b"x" * count + whole[at:], whole[:at] + whole[at + count :]):
        opened = archive(data)
        assert [(note.code, note.where.part) for note in opened.notes] == [("zip-directory", name)]
        assert all(content(opened, other) == bytes(range(250)) for other in opened.members if other != name)


@pytest.mark.parametrize("end", [{"disk": 1}, {"cd_disk": 1}, {"here": 3}, {"size": 0xFFFFFFFE}, {"offset": 0xFFFFFFFE}])
def test_wild_narrow_end_records(end: dict[str, int]) -> None:
    with pytest.raises(FormatError):
        archive(zip_bytes(records(), wide=False, end=end))


@pytest.mark.parametrize("place", [0, 1 << 20, 1 << 63, (1 << 64) - 1])
def test_a_locator_that_points_elsewhere(place: int) -> None:
    opened = archive(zip_bytes(records(), wide_end={"place": place}))
    assert len(opened.members) == len(records())


def test_a_gap_before_the_end_records_and_a_directory_that_is_longer() -> None:
    assert "zip-count" in noted(zip_bytes(records(), gap=b"gap"))
    data = zip_bytes(records(), wide_end={"size": 100})
    assert "zip-count" in [note.code for note in archive(data).notes]


def test_an_empty_archive_has_no_members() -> None:
    assert len(archive(zip_bytes([], wide=False)).members) == 0
    assert len(archive(zip_bytes([])).members) == 0
    data = bytearray(zip_bytes([Entry("a", b"x")]))
    at = data.index(b"PK\1\2")
    data[at + 28 : at + 30] = b"\xff\xff"  # the length of the name
    with pytest.raises(FormatError, match="no readable entry"):
        archive(bytes(data))
    with pytest.raises(FormatError, match="no central directory"):
        archive(bytes(data).replace(b"PK\1\2", b"PK\1\1"))


def test_other_folders_and_no_folder() -> None:
    outside = [*records(), Entry("other/data.pkl", dumps({})), Entry("loose", b"")]
    assert noted(zip_bytes(outside)) == {"zip-outside-root"}
    assert "zip-no-root" in noted(zip_bytes(records(root="")))
    first = [Entry("readme/x", b""), *records()]
    assert "zip-outside-root" in noted(zip_bytes(first))
    with inert.open(io.BytesIO(zip_bytes(first))) as checkpoint:
        assert len(checkpoint.tensors) == 2
        assert checkpoint.parts["readme/x"].role == "foreign"
    folder = [Entry("archive/", b""), *records()]
    with inert.open(io.BytesIO(zip_bytes(folder))) as checkpoint:
        assert checkpoint.parts["archive/"].role == "folder"
        assert checkpoint.notes == []


# ------------------------------------------------------------------------------------------------------------------------ any bytes

WHOLE = zip_bytes(records(more={".data/serialization_id": b"0" * 40}), align=8)
SMALL = zip_bytes(
    [Entry("a/data.pkl", dumps({"w": tensor(storage("0", 1), ())})), Entry("a/data/0", b"abcd", method=8), Entry("a/version", b"3\n")],
    align=1,
    wide=False,
)


def one_line(error: InertError) -> None:
    assert str(error)
    assert "\n" not in str(error)


def look_over(data: bytes) -> None:
    """Everything that can be asked of an archive gives a result or an InertError."""
    try:
        opened = archive(data)
        opened.later()
    except InertError as error:
        one_line(error)
        return
    for member in [*opened.members.values(), *opened.shadowed]:
        for ask in (opened.span, opened.pickle, opened.raw):
            try:
                assert len(ask(member).read()) <= len(data) * 1100
            except InertError as error:
                one_line(error)
    for name in opened.members:
        try:
            opened.content(name)
        except InertError:
            pass
    try:
        with inert.open(io.BytesIO(data)) as checkpoint:
            for each in checkpoint.tensors.values():
                try:
                    each.sha256()
                except InertError:
                    pass
            assert all(str(note) for note in checkpoint.notes)
            assert len(checkpoint.parts) >= 1
            assert checkpoint.format == "pickle" or "root" in checkpoint.metadata  # the only member of a zip, once misnamed
    except InertError as error:
        one_line(error)


@pytest.mark.parametrize("data", [WHOLE, SMALL], ids=["whole", "small"])
def test_every_prefix(data: bytes) -> None:
    for end in range(len(data)):
        look_over(data[:end])
        with pytest.raises(InertError):
            inert.open(io.BytesIO(data[:end]))


@pytest.mark.parametrize("value", [0x00, 0xFF, None])
def test_every_byte_flipped(value: int | None) -> None:
    for at in range(len(SMALL)):
        look_over(SMALL[:at] + bytes([SMALL[at] ^ 1 if value is None else value]) + SMALL[at + 1 :])


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_damage(data: st.DataObject) -> None:
    raw = bytearray(data.draw(st.sampled_from([WHOLE, SMALL])))
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(raw) - 1))
        how = data.draw(st.integers(0, 4))
        if how == 0:
            raw[at] = data.draw(st.integers(0, 255))
        elif how == 1:
            raw[at : at + 4] = struct.pack("<I", data.draw(st.sampled_from([0, 1, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF])))
        elif how == 2:
            del raw[at : at + data.draw(st.integers(1, 60))]
        elif how == 3:
            raw[at:at] = raw[data.draw(st.integers(0, len(raw))) :][: data.draw(st.integers(1, 120))]
        else:
            raw[at : at + 8] = struct.pack("<Q", data.draw(st.sampled_from([0, 1 << 32, 1 << 63, (1 << 64) - 1])))
        if not raw:
            return
    look_over(bytes(raw))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.binary(max_size=60))
def test_noise_around_signatures(noise: bytes, tail: bytes) -> None:
    look_over(b"PK\3\4" + noise + b"PK\1\2" + noise + b"PK\5\6" + tail)


def test_many_false_end_records_are_not_tried_for_ever() -> None:
    """A tail of signatures, each of which looks a little like an end record."""
    false = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, 46, 0, 0)
    with pytest.raises(FormatError):
        archive(b"PK\3\4" + bytes(64) + false * 5000)


def test_members_that_claim_the_same_bytes_with_other_sizes_do_not_share_a_content() -> None:
    """Found by fuzzing: two directory entries over one deflated member, one of them promising more than there is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data/0", bytes(64))
        archive.writestr("a/data/1", bytes(64))
    data = bytearray(out.getvalue())
    second = data.rindex(b"PK\1\2")
    data[second + 24 : second + 28] = (9999).to_bytes(4, "little")  # its size …
    data[second + 42 : second + 46] = bytes(4)  # … and the place of the first
    opened = Zip(BytesSource(bytes(data)), Limits())
    assert opened.span(opened.members["a/data/0"]).read() == bytes(64)
    with pytest.raises(FormatError):
        opened.span(opened.members["a/data/1"])
