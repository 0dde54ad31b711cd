"""Headers of tar archives that programs read differently: inert sees what CPython's tarfile sees, which torch reads the tar layout with, or
refuses the member."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import pytest

import inert
from inert.containers.tar import Tar
from inert.limits import DEFAULT
from inert.source import BytesSource
from inert.torch.legacy import MAGIC
from inert.torch.predict import loads
from tests.makers import dumps
from tests.spelled import call, name, text
from tests.tars import checkpoint, storages, tensors

HEADER = 512
END = bytes(1024)
PLAIN = checkpoint({"epoch": 1}, storages([]), tensors([]))
SYSTEM = b"\x80\2" + call(name("os", "system"), text("true")) + b"."


def header(called: bytes, length: int, kind: bytes = b"0", **fields: bytes) -> bytes:
    """``fields``: size, prefix, magic, checksum and any other bytes by their names."""
    made = bytearray(HEADER)
    places = {"size": 124, "mtime": 136, "magic": 257, "prefix": 345}
    values = {"size": b"%011o\0" % length, "mtime": b"0" * 11 + b"\0", "magic": b"ustar\x0000"} | fields
    made[: len(called)] = called
    for key, place in places.items():
        if key in values:
            made[place : place + len(values[key])] = values[key]
    made[156:157] = kind
    made[148:156] = b" " * 8
    made[148:156] = fields.get("checksum") or b"%06o\0 " % (
        sum(made) - (256 * sum(byte > 127 for byte in made) if "signed" in fields else 0)
    )
    return bytes(made)


def filled(data: bytes) -> bytes:
    return data + bytes(-len(data) % HEADER)


def member(called: bytes, data: bytes, kind: bytes = b"0", **fields: bytes) -> bytes:
    return header(called, len(data), kind, **fields) + filled(data)


def pax(*records: tuple[bytes, bytes], kind: bytes = b"x", more: bytes = b"") -> bytes:
    out = b""
    for key, value in records:
        body = b" " + key + b"=" + value + b"\n"
        size = len(body) + 1
        while len(str(size)) + len(body) != size:
            size = len(str(size)) + len(body)
        out += str(size).encode() + body
    return member(b"pax", out + more, kind)


A, B = member(b"a", b"first"), member(b"b", b"second")
HIDDEN = member(b"hidden", b"third")
WAYS = {
    "a plain one": A + B,
    "a size with a blank": pax((b"size", b" 512")) + header(b"a", 512 + len(HIDDEN)) + bytes(512) + HIDDEN,
    "a size with an underscore": pax((b"size", b"5_12")) + header(b"a", 512 + len(HIDDEN)) + bytes(512) + HIDDEN,
    "a size with a sign": pax((b"size", b"+512")) + header(b"a", 512 + len(HIDDEN)) + bytes(512) + HIDDEN,
    "a size that is none": pax((b"size", b"5x")) + header(b"a", 5) + filled(b"12345") + B,
    "a size for all": pax((b"size", b"2"), kind=b"g") + A + B,
    "an octal size with an underscore": member(b"a", b"12345678", size=b"0_0000000010") + B,
    "an octal size behind a zero byte": header(b"a", 0, size=b"\0" + b"0000000005") + B,
    "an octal size that is none": A + header(b"b", 0, size=b"0000000x005\0") + B,
    "a checksum of signed bytes": member("ä".encode(), b"first", signed=b"") + B,
    "no name of its own": pax((b"path", b"a")) + member(b"", b"first") + B,
    "a prefix without the magic number": member(b"a", b"first", magic=b"\0" * 8, prefix=b"folder") + B,
    "a header of Solaris": pax((b"path", b"c"), kind=b"X") + A + B,
    "a long name that ends early": member(b"long", b"c\0rest", b"L") + A,
    "two names": member(b"long", b"c\0", b"L") + pax((b"path", b"d")) + A,
    "two names, and the other first": pax((b"path", b"d")) + member(b"long", b"c\0", b"L") + A,
    "a file that is a folder by its name": header(b"a/", 512, b"\0") + B,
    "an odd time": A + header(b"b", 6, mtime=b"x" * 12) + filled(b"second"),
    "junk behind the last": A + b"junk" * 128 + B,
    "records behind the records": pax((b"path", b"c"), more=b"\n13 path=evil\n") + A,
    "a record that ends early": pax((b"path", b"c"), more=b"5 path=evil\n") + A,
    "sparse, 0.1": pax((b"GNU.sparse.map", b"0,1,9,4"), (b"GNU.sparse.size", b"13")) + A + B,
    "sparse, 0.0": pax((b"GNU.sparse.size", b"9"), (b"GNU.sparse.offset", b"4"), (b"GNU.sparse.numbytes", b"5")) + A + B,
    "sparse, 1.0": pax((b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0"), (b"GNU.sparse.realsize", b"5"))
    + member(b"a", filled(b"1\n0\n5\n") + b"first"),
    "another name": pax((b"GNU.sparse.name", b"c")) + A + B,
}


@pytest.mark.parametrize("way", WAYS)
def test_members_are_those_that_python_sees(way: str) -> None:
    data = WAYS[way] + END
    found = Tar(BytesSource(data), DEFAULT)
    seen = {name: found.content(name).read() for name, one in found.members.items() if not one.refused}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        expected = {info.name: file.read() for info in archive for file in [archive.extractfile(info)] if file is not None}
    refused = [one for one in found.members.values() if one.refused and one.refused != "a folder"]
    assert all(expected[name] == content for name, content in seen.items())
    assert len(seen) + len(refused) == len(expected), "a member is read or refused, and never passed over"
    sparse = way.startswith(("sparse", "another", "a size for all", "records", "a record"))
    assert bool(refused) == sparse
    odd = way in ("a size with a blank", "a size with an underscore", "a size with a sign", "a size that is none")
    assert ("tar-number" in {note.code for note in found.notes}) == odd


def test_a_sparse_pickle_is_refused() -> None:
    """The zeros that are not in the file hide what torch reads: a text takes them, and what follows is another pickle."""
    made = pax((b"GNU.sparse.map", b"0,7,200,40"), (b"GNU.sparse.size", b"240")) + member(b"pickle", b"x" * 47) + END
    with tarfile.open(fileobj=io.BytesIO(PLAIN)) as archive:
        end = max(info.offset_data + -(-info.size // HEADER) * HEADER for info in archive)
    data = PLAIN[:end] + made
    report = inert.scan(io.BytesIO(data))
    assert (report.verdict, "tar-refused" in {one.code for one in report.findings}) == ("dangerous", True)
    assert not inert.verify(io.BytesIO(data)).ok


def test_members_that_later_ones_hide_are_scanned() -> None:
    report = inert.scan(io.BytesIO(member(b"a", SYSTEM) + member(b"a", b"x") + END))
    assert report.verdict == "dangerous"


def test_junk_behind_the_last_member_is_no_fault_to_torch(tmp_path: Any) -> None:
    with tarfile.open(fileobj=io.BytesIO(PLAIN)) as archive:
        end = max(info.offset_data + -(-info.size // HEADER) * HEADER for info in archive)
    path = tmp_path / "old.pth"
    path.write_bytes(PLAIN[:end] + b"junk" * 256)
    with inert.open(path) as found:
        assert loads(found)["full"]["ok"]
    assert inert.scan(path).verdict != "clean"


# ------------------------------------------------------------------------------------------------------ a tar archive and a pickle at once


def posing(behind: bytes) -> bytes:
    """A save of the layout before 1.6 whose first bytes are a tar header too: most of it stands in a text that is dropped."""
    first = dumps(MAGIC) + b"\x80\2X"
    made = bytearray(first + (HEADER - len(first) - 4).to_bytes(4, "little")).ljust(HEADER, b" ")
    made[100:148] = b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % 512 + b"0" * 11 + b"\0"
    made[156:265] = b"0" + bytes(100) + b"ustar\x0000"
    made[265:] = bytes(HEADER - 265)
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    rest = b"0M\xe9\x03." + dumps({"protocol_version": 1001, "little_endian": True, "type_sizes": {}}) + dumps({"epoch": 3}) + dumps([])
    return bytes(made) + filled(rest) + behind


def test_torch_tries_tar_first(tmp_path: Any) -> None:
    path = tmp_path / "both.pth"
    path.write_bytes(posing(PLAIN))
    with inert.open(path) as found:
        assert (found.format, found.root) == ("torch-tar", {"epoch": 1})
    assert inert.scan(path).verdict == "dangerous"
    path.write_bytes(posing(b""))
    with inert.open(path) as found:
        assert found.format == "torch-legacy"
        assert "tar-head" in {note.code for note in found.notes}
        answers = loads(found)
        assert not answers["full"]["ok"]
        assert not answers["weights_only"]["ok"]
    assert inert.scan(path).verdict == "dangerous"
