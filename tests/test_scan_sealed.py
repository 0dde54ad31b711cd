"""What nothing looks into is never clean, and what is appended, or kept beside members, is looked at."""

from __future__ import annotations

import io
import struct
import tarfile
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

import inert
from inert.formats.foreign.tables import HEADS, SEALED, WRAPPERS
from tests.makers import Entry, dumps, torch_zip, zip_bytes
from tests.spelled import call, name, text

SYSTEM = b"\x80\2" + call(name("os", "system"), text("true")) + b"."
OLD = b"cos\nsystem\n(S'true'\ntR."
KINDS = {
    "7z": b"7z\xbc\xaf\x27\x1c\0\x04", "rar": b"Rar!\x1a\x07\1\0", "rar 4": b"Rar!\x1a\x07\0", "cab": b"MSCF\0\0\0\0", "compress": b"\x1f\x9d\x90",
    "lzip": b"LZIP\1", "lzop": b"\x89LZO\0\r\n\x1a\n", "snappy": b"\xff\x06\0\0sNaPpY", "lrzip": b"LRZI\0", "lzfse": b"bvx2", "zpaq": b"zPQ\2",
    "arj": b"\x60\xea\x28\0\x22\x0b\1\x0b", "ace": bytes(7) + b"**ACE**", "lha": b"\x20\0-lh5-", "xar": b"xar!\0\x1c", "wim": b"MSWIM\0\0\0",
    "cpio": b"070701000000AA", "squashfs": b"hsqs", "ar": b"!<arch>\n", "encrypted": b"Salted__",
}  # fmt: skip


def scan(data: bytes) -> Any:
    return inert.scan(io.BytesIO(data))


def codes(report: Any) -> set[str]:
    return {finding.code for finding in report.findings}


def zipped(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for called, data in members.items():
            archive.writestr(called, data)
    return made.getvalue()


def tarred(data: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo("a")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


PLACES: dict[str, Callable[[bytes], bytes]] = {
    "alone": lambda data: data,
    "in a zip archive": lambda data: zipped({"a": data}),
    "in a zip archive in another": lambda data: zipped({"b.zip": zipped({"a.txt": data})}),
    "in a tar archive": tarred,
    "beside a checkpoint's records": lambda data: torch_zip(dumps({}), more={"extra": data}),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_nothing_looks_into_is_unreadable(kind: str, place: str) -> None:
    report = scan(PLACES[place](KINDS[kind] + bytes(100)))
    assert report.verdict == "unreadable"
    assert "scan-unread" in codes(report)


def test_an_image_is_known_by_its_later_sign() -> None:
    assert scan(bytes(0x8001) + b"CD001" + bytes(2048)).verdict == "unreadable"


def test_a_sealed_archive_among_the_records_or_behind_anything() -> None:
    assert scan(torch_zip(dumps({}), {"7": KINDS["7z"] + bytes(58)})).verdict == "unreadable"
    assert scan(b"MZ" + bytes(300) + KINDS["7z"] + bytes(58)).verdict == "unreadable"
    assert scan(torch_zip(dumps({})) + KINDS["rar"] + bytes(58)).verdict == "unreadable"


def test_every_kind_that_is_sealed_is_in_the_tables() -> None:
    assert {row[0] for row in (*WRAPPERS, *HEADS)} >= SEALED


# ----------------------------------------------------------------------------------------------------------------- behind other formats


@pytest.mark.parametrize(
    "head",
    [
        b"\x89HDF\r\n\x1a\n" + bytes(200),
        b"GGUF\3\0\0\0" + bytes(200),
        struct.pack("<I", 24) + b"PTMF" + bytes(200),
        b"\x08\1\x12\x06\x0a\x04\x0a\x02NoOp" + bytes(200),
    ],
)
def test_pickles_behind_other_formats_are_found(head: bytes) -> None:
    for data in (SYSTEM, OLD):
        report = scan(head + data + b"\n")
        assert (report.verdict, "pickle-elsewhere" in codes(report)) == ("dangerous", True)
    assert scan(head).verdict != "dangerous"


def test_what_is_appended_to_a_large_file_is_found() -> None:
    assert scan(b"\x89HDF\r\n\x1a\n" + bytes(40 << 20) + SYSTEM).verdict == "dangerous"


# ----------------------------------------------------------------------------------------------------------------- beside the members


def block(kind: int, data: bytes) -> bytes:
    return struct.pack("<2H", kind, len(data)) + data


def archive(**fields: Any) -> bytes:
    return zip_bytes([Entry("a/data.pkl", dumps({})), Entry("a/data/0", bytes(4), **fields), Entry("a/version", b"3\n")])


FIELDS: dict[str, Callable[[bytes], dict[str, Any]]] = {
    "a block of an unknown kind": lambda data: {"padding": block(0x1234, data)},
    "padding": lambda data: {"padding": block(0x4246, data)},
    "what is no block": lambda data: {"padding": data},
    "a time that is too long": lambda data: {"padding": block(0x5455, data)},
    "a block behind the padding": lambda data: {"padding": block(0x4246, b"ZZ") + block(0x6375, data)},
    "the directory": lambda data: {"extra": block(0x1234, data)},
    "the directory's padding": lambda data: {"extra": block(0x4246, data)},
    "a comment": lambda data: {"comment": data},
    "a comment in another encoding": lambda data: {"comment": b"\xff\xfe" + data},
}


@pytest.mark.parametrize("field", FIELDS)
def test_pickles_in_extra_fields_and_comments_are_found(field: str) -> None:
    for data in (SYSTEM, OLD):
        report = scan(archive(**FIELDS[field](data)))
        assert (report.verdict, "pickle-elsewhere" in codes(report)) == ("dangerous", True)


def test_fields_of_other_programs_are_no_findings() -> None:
    time, owner = block(0x5455, b"\3" + bytes(8)), block(0x7875, b"\1\4" + bytes(4) + b"\4" + bytes(4))
    for fields in ({"padding": time + owner}, {"extra": time + owner, "padding": b""}, {"comment": b"the weights of the first layer"}):
        report = scan(archive(**fields))
        assert (report.verdict, codes(report)) == ("clean", set())
