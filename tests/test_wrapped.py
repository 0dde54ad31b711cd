"""Checkpoints inside of something else: seen through where there is one, named with their members where there are several."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import pickle
import sys
import tarfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert import inflate, scratch
from inert.errors import FormatError, InertError, LimitError, UnidentifiedError, UnsupportedError
from inert.formats import locate
from inert.limits import Limits
from tests.conformance import look_over
from tests.makers import dumps, storage, tensor, torch_zip
from tests.tars import archive, sample

HERE = Path(__file__).parent / "corpus"
FLOATS = bytes(range(24))
TORCH = torch_zip(dumps({"w": tensor(storage("0", 6), (2, 3)), "epoch": 3}), {"0": FLOATS})
PICKLE = pickle.dumps({"epoch": 3}, 2)
SHA = hashlib.sha256(FLOATS).hexdigest()


def zstd(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(data))


def lz4(data: bytes) -> bytes:
    return bytes(pytest.importorskip("lz4.frame").compress(data))


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def lzma_alone(data: bytes) -> bytes:
    return lzma.compress(data, format=lzma.FORMAT_ALONE)


def zfile(data: bytes) -> bytes:
    """joblib before 0.10 (numpy_pickle_compat.write_zfile)."""
    return b"ZF" + hex(len(data)).ljust(19).encode() + zlib.compress(data)


COMPRESSIONS: dict[str, Any] = {
    "gzip": gzip.compress, "xz": lzma.compress, "bzip2": bz2.compress, "zlib": zlib.compress, "LZMA": lzma_alone,
    "Zstandard": zstd, "LZ4": lz4,
    "joblib's ZF format": zfile,
}  # fmt: skip
INSIDE = {"torch-zip": TORCH, "torch-tar": sample(), "pickle": PICKLE}


def opened(data: bytes, **options: Any) -> inert.Checkpoint:
    return inert.open(io.BytesIO(data), **options)


def codes(found: inert.Checkpoint) -> list[str]:
    return [note.code for note in found.notes]


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("how", COMPRESSIONS)
def test_a_compressed_checkpoint(how: str, inside: str) -> None:
    with opened(COMPRESSIONS[how](INSIDE[inside])) as found:
        assert found.format == inside
        assert found.metadata["wrapper"] == how
        assert found.root["epoch"] == 3
        assert "wrapper-opened" in codes(found)
        if inside == "torch-zip":
            assert found.tensors["w"].sha256() == SHA
            assert found.tensors["w"].file_offset is None


def test_torch_sees_through_none_of_it() -> None:
    from inert.report.about import info

    with opened(gzip.compress(archive({"m.pt": TORCH}))) as found:
        said = info(found)["loads"]
        assert not any(answer["ok"] for answer in said.values())
        assert "it lies in a tar archive as m.pt, in gzip, which torch does not see through" in said["full"]["why"]


@pytest.mark.parametrize("path", sorted((HERE / "pickles").glob("joblib-[!p]*")), ids=lambda path: path.name)
def test_what_joblib_compresses(path: Path) -> None:
    if "lz4" in path.name:
        pytest.importorskip("lz4.frame")
    with inert.open(path) as found:
        assert found.tensors["w"].numpy().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]


@pytest.mark.parametrize("how", ["gzip", "xz", "bzip2", "Zstandard", "LZ4"])
def test_streams_end_to_end_are_one_file(how: str) -> None:
    compress, half = COMPRESSIONS[how], len(TORCH) // 2
    data = compress(TORCH[:half]) + compress(TORCH[half:])
    with opened(data) as found:
        assert found.tensors["w"].sha256() == SHA
        assert "wrapper-damaged" not in codes(found)
    with opened(data + bytes(512)) as found:  # tapes and some tools pad with NULs
        assert "wrapper-damaged" not in codes(found)
    with opened(data + b"more") as found:
        assert any("something else follows it" in note.message for note in found.notes) or how == "LZ4"


@pytest.mark.parametrize(("module", "how"), [("zstandard", "zstd"), ("lz4.frame", "lz4")])
def test_a_missing_library_is_told(monkeypatch: pytest.MonkeyPatch, module: str, how: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    begins = {"zstd": b"\x28\xb5\x2f\xfd\x04\x00", "lz4": b"\x04\x22\x4d\x18\x64\x40"}[how]
    with pytest.raises(UnsupportedError, match=f"install the package {module.partition('.')[0]}, or unpack it with `{how} -d"):
        opened(begins + bytes(20))


def test_large_content_goes_to_a_temporary_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inflate, "IN_MEMORY", 100)
    with opened(gzip.compress(TORCH)) as found:
        held = found.tensors["w"]
    assert held.sha256() == SHA, "also when the checkpoint has been closed"
    monkeypatch.setattr(scratch, "TemporaryFile", lambda **_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(LimitError, match=r"temporary file \(No space left on device\); set TMPDIR"):
        opened(gzip.compress(TORCH))


def test_a_bomb_is_refused_in_time() -> None:
    bomb = gzip.compress(PICKLE + bytes(300 << 20), 9)
    start = time.process_time()
    with pytest.raises(LimitError, match="grow to more than"):
        opened(bomb)
    with pytest.raises(LimitError, match="grow to more than 1,000"):
        opened(gzip.compress(TORCH), limits=Limits(inflated=1000))
    assert time.process_time() - start < 10


@pytest.mark.parametrize("how", ["gzip", "bzip2", "Zstandard"])
def test_what_came_out_before_a_fault_is_read(how: str) -> None:
    """A bare pickle whose wrapper is cut behind it: all of the pickle is there."""
    data = COMPRESSIONS[how](PICKLE + b"\n" * 10)
    with opened(data[:-1]) if how == "gzip" else opened(data + b"x" * 40) as found:
        assert found.root == {"epoch": 3}
        assert "wrapper-damaged" in codes(found)


def test_a_wrapper_around_nothing_of_ours_is_named() -> None:
    for data, said in (
        (b"\x89PNG\r\n\x1a\n" + bytes(90), "a gzip wrapper around a PNG picture"),
        (b"hello " * 30, "around a plain text"),
        (b"", "holds nothing"),
    ):
        with pytest.raises(UnidentifiedError, match=said):
            opened(gzip.compress(data))


# --------------------------------------------------------------------------------------------------------------------- archives


@pytest.mark.parametrize("inside", INSIDE)
def test_the_only_checkpoint_of_an_archive(tmp_path: Path, inside: str) -> None:
    members = {"model/model.bin": INSIDE[inside], "model/config.json": b"{}", "__MACOSX/model/._model.bin": b"\0\5\x16\7" + bytes(40)}
    for name, data in {
        "a.zip": zipped(members), "b.zip": zipped(members, zipfile.ZIP_DEFLATED),
        "c.tar": archive(members), "d.tar.gz": gzip.compress(archive(members)),
        "e.tar.xz": lzma.compress(archive(members)), "f.zip": zipped({"x.tar.gz": gzip.compress(archive(members))}),
    }.items():  # fmt: skip
        path = tmp_path / name
        path.write_bytes(data)
        with inert.open(path) as found:
            assert found.format == inside
            assert found.root["epoch"] == 3
            assert "model/model.bin" in found.metadata["wrapper"]
            assert "wrapper-opened" in codes(found)
            plain = name in ("a.zip", "c.tar")
            if inside == "torch-zip":
                at = found.tensors["w"].file_offset
                assert (at is not None) == plain, "what lies plainly in an archive is mapped where it lies"
                assert at is None or data[at : at + 24] == FLOATS
                assert found.tensors["w"].sha256() == SHA
        loaded = inert.load(path)
        assert loaded["epoch"] == 3


def test_wrappers_are_seen_through_three_deep_and_no_further() -> None:
    three = gzip.compress(archive({"a.zip": zipped({"m.pt": TORCH})}))
    with opened(three) as found:
        assert found.metadata["wrapper"] == "gzip, then a tar archive as a.zip, then a zip archive as m.pt"
    with pytest.raises(UnidentifiedError, match=r"."):
        opened(gzip.compress(three))


def test_several_are_listed_and_named_by_their_members(tmp_path: Path) -> None:
    path = tmp_path / "outer.nemo"
    path.write_bytes(archive({"./model.ckpt": TORCH, "./other.ckpt": PICKLE, "./model_config.yaml": b"a: 1"}))
    with pytest.raises(
        UnidentifiedError, match=r"holds 2 files that may be checkpoints: model\.ckpt, other\.ckpt; name one .*outer\.nemo!model\.ckpt"
    ):
        inert.open(path)
    with inert.open(f"{path}!model.ckpt") as found:
        assert found.tensors["w"].sha256() == SHA
        assert found.metadata["wrapper"] == "a tar archive as model.ckpt"
    assert inert.load(f"{path}!other.ckpt") == {"epoch": 3}
    with pytest.raises(UnidentifiedError, match=r"no member 'gone\.ckpt'; there are model\.ckpt, other\.ckpt, model_config\.yaml"):
        inert.open(f"{path}!gone.ckpt")
    with pytest.raises(FileNotFoundError):
        inert.open(f"{path}x!model.ckpt")
    (tmp_path / "outer.nemo!model.ckpt").write_bytes(PICKLE)
    with inert.open(f"{path}!model.ckpt") as found:
        assert found.format == "pickle", "a file of that very name comes first"


def test_members_of_members(tmp_path: Path) -> None:
    inner = zipped({"deep/a.pt": TORCH, "b.pt": PICKLE})
    path = tmp_path / "x.tar.gz"
    path.write_bytes(gzip.compress(archive({"one.zip": inner, "two.zip": inner})))
    with inert.open(f"{path}!two.zip!a.pt") as found:
        assert found.tensors["w"].sha256() == SHA
        assert found.metadata["wrapper"] == "gzip, a tar archive as two.zip, then a zip archive as deep/a.pt"
    with pytest.raises(UnidentifiedError, match="inside each other"):
        inert.open(f"{path}!a!b!c!d")
    (tmp_path / "plain").write_bytes(PICKLE)
    with pytest.raises(UnidentifiedError, match="no zip or tar archive"):
        inert.open(f"{tmp_path / 'plain'}!x")
    assert locate("nothing!there") == ("nothing!there", ())


def test_a_member_that_is_none_is_told_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"model.bin": b"\x89PNG\r\n\x1a\n" + bytes(90)}))
    with pytest.raises(UnidentifiedError, match=r"a\.zip!model\.bin: this is a PNG picture"):
        inert.open(path)
    path.write_bytes(zipped({"model.pt": TORCH[:-30]}))
    with pytest.raises(FormatError, match=r"a\.zip!model\.pt"):
        inert.open(path)


@pytest.mark.parametrize("members", [{"a.txt": b"x"}, {"word/document.xml": b"<x/>", "[Content_Types].xml": b"<x/>"}])
def test_other_archives_keep_their_names(members: dict[str, bytes]) -> None:
    with pytest.raises(UnidentifiedError, match=r"zip archive|Office document"):
        opened(zipped(members))


def test_links_in_an_archive_lead_nowhere() -> None:
    link = tarfile.TarInfo("model.pt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with pytest.raises(UnidentifiedError, match="tar archive"):
        opened(archive({"model.pt": link, "readme": b"x"}))


# ------------------------------------------------------------------------------------------------------------------ any bytes

SEEDS = [
    gzip.compress(TORCH),
    lzma.compress(PICKLE),
    zipped({"m.pt": TORCH}),
    archive({"m.pt": PICKLE}),
    zfile(PICKLE),
    bz2.compress(archive({"m.pt": TORCH})),
]


@pytest.mark.parametrize("data", SEEDS, ids=lambda data: data[:4].hex())
def test_any_prefix_gives_a_result_or_a_refusal(data: bytes) -> None:
    for end in [*range(0, min(len(data), 300), 7), *range(300, len(data), 101)]:
        look_over(io.BytesIO(data[:end]))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SEEDS), st.data())
def test_any_change_gives_a_result_or_a_refusal(data: bytes, draw: Any) -> None:
    changed = bytearray(data)
    for _ in range(draw.draw(st.integers(1, 4))):
        changed[draw.draw(st.integers(0, len(changed) - 1))] = draw.draw(st.integers(0, 255))
    look_over(io.BytesIO(bytes(changed)))


def test_every_refusal_is_one_line() -> None:
    for data in SEEDS:
        for end in (5, 20, len(data) - 3):
            try:
                opened(data[:end]).close()
            except InertError as error:
                assert "\n" not in str(error)
