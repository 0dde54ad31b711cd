"""inert.verify: every flipped byte is found or lies where ``.unchecked`` says that nobody looks; findings name what they hit."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.finding import CODES
from inert.limits import Limits
from tests.makers import Entry, Made, Name, dumps, storage, tensor, torch_entries, torch_zip, zip_bytes
from tests.tars import sample
from tests.tf_tables import bundle, entry, field, mask, stored, table

HERE = Path(__file__).parent / "corpus"
DOCS = Path(__file__).parent.parent / "docs" / "verify.md"
EVERY = bool(os.environ.get("INERT_EVERY_FLIP"))  # all bytes of the files below instead of some: minutes
TRIED = 1 << 20 if EVERY else 90  # flips of one sample

WEIGHTS = {"a": tensor(storage("0", 6), (2, 3)), "b": tensor(storage("0", 6), (3,)), "c": tensor(storage("1", 2), (2,))}
DATA = {"0": struct.pack("<6f", *range(6)), "1": struct.pack("<2f", 77, 78)}


def plain(**options: Any) -> bytes:
    return zip_bytes(torch_entries(dumps(WEIGHTS), DATA), **options)


def rows(**change: Any) -> list[Entry]:
    """The records of ``plain``, the first storage changed."""
    made = torch_entries(dumps(WEIGHTS), DATA)
    for key, value in change.items():
        setattr(next(one for one in made if one.name == "archive/data/0"), key, value)
    return made


def unsummed() -> bytes:
    made = torch_entries(dumps(WEIGHTS), DATA)
    for one in made:
        one.crc = 0
    return zip_bytes(made)


def verified(data: bytes, tmp_path: Path, name: str = "made.pt", **options: Any) -> inert.Verification:
    path = tmp_path / name
    path.write_bytes(data)
    return inert.verify(path, **options)


def told(found: inert.Verification) -> set[tuple[str, ...]]:
    return {(one.code, one.message, str(one.where)) for one in found.findings}


def codes(found: inert.Verification) -> list[str]:
    return [one.code for one in found.findings]


# -- every byte -------------------------------------------------------------------------------------------------------------------

CODING = "bits of a compressed stream that make no difference to what comes out"
PICKLE = "a pickle: it was decoded to its end"
BARE = "a file of its own, without a checksum"
# what: (a file or folder of the corpus, or bytes; why some of it is not checked, in the words of docs/verify.md)
SAMPLES: dict[str, tuple[Any, set[str]]] = {
    "torch-zip": ("torch/align_1.pt", set()),
    "torch-zip without checksums": (unsummed, {"records have no checksum: whoever wrote them computed none"}),
    "torch-zip, deflated": ("crafted/deflated.pt", {CODING}),
    "torchscript": ("script/frozen.pt", {CODING}),
    "torchscript, flatbuffer": ("script/flatbuffer.ptl", {"it has no checksums"}),
    "torch-package": ("script/package.pt", {CODING}),
    "torch-export": ("script/export.pt2", set()),
    "torch-legacy": ("legacy/sharing.pt", {PICKLE, "storages without checksums"}),
    "torch-tar": (sample, {"the contents of a tar archive, which have no checksums"}),
    "safetensors": ("safetensors/shapes.safetensors", {"the header's names and texts", "the format has no checksums"}),
    "sharded, pickles": ("sharded/bin", {"the index: it fits the shards, but it has no checksum"}),
    "sharded, safetensors": (
        "sharded/safetensors",
        {"the index: it fits the shards, but it has no checksum", "the header's names and texts", "the format has no checksums"},
    ),
    "torch-dcp": ("dcp/two_ranks", {PICKLE}),
    "deepspeed": ("deepspeed/zero2", {"it says which folder counts, and has no checksum"}),
    "tf-bundle": ("tf/strings/strings", set()),
    "tf-bundle, slices": ("tf/slices/slices", set()),
    "tf-v1": ("tf/v1_types/first", set()),
    "pickle": ("pickles/joblib-p4.joblib", {PICKLE}),
    "wrapped, gzip": (lambda: gzip.compress(plain(), mtime=0), {"the gzip header: time, system and name, which no checksum covers", CODING}),
    "wrapped, xz": ("pickles/joblib-xz.joblib", {CODING}),
    "wrapped, zlib": ("pickles/joblib-zlib.joblib", {CODING}),
    "wrapped, bzip2": ("pickles/joblib-bz2.joblib", {CODING}),
    "wrapped, LZMA": ("pickles/joblib-lzma.joblib", {PICKLE, "a LZMA stream without a checksum"}),
}  # fmt: skip


def laid_out(sample: Any, into: Path) -> tuple[Path, list[Path]]:
    """What is verified, and the files that it is."""
    if callable(sample):
        path = into / "made.pt"
        path.write_bytes(sample())
        return path, [path]
    source = HERE / sample
    if source.is_dir():
        made = Path(shutil.copytree(source, into / source.name))
        return made, [path for path in made.rglob("*") if path.is_file()]
    names = [path.name for path in source.parent.iterdir() if path.name == source.name or path.name.startswith(f"{source.name}.")]
    names = [name for name in names if not name.endswith(".json")]
    return into / source.name, [Path(shutil.copy(source.parent / name, into / name)) for name in names]


@pytest.mark.parametrize("name", SAMPLES)
def test_every_flipped_byte_is_found_or_lies_in_what_is_not_checked(name: str, tmp_path: Path) -> None:
    target, files = laid_out(SAMPLES[name][0], tmp_path)
    sound = inert.verify(target)
    assert sound.ok, sound.findings
    known, rng, missed, outside = told(sound), random.Random(name), [], 0
    regions, held = {file: unchecked(sound, file) for file in files}, content(target)
    places = [(file, at) for file in files for at in range(file.stat().st_size) if not regions[file](at)]
    for file, at in sorted(places if len(places) <= TRIED else rng.sample(places, TRIED)):
        data = file.read_bytes()
        for bits in (0xFF, 1, 0x80, 0x20) if EVERY else (rng.choice((0xFF, 1, 0x80, 0x20)),):
            file.write_bytes(data[:at] + bytes((data[at] ^ bits,)) + data[at + 1 :])
            found = inert.verify(target)
            if told(found) == known and not (regions[file](at, harmless=True) and content(target) == held):
                missed.append((file.name, at, bits))
        file.write_bytes(data)
        outside += 1
    assert not missed
    if places:
        assert outside


def unchecked(found: inert.Verification, file: Path) -> Callable[..., bool]:
    """Whether an offset of a file is in a region that the verification names: in one where it matters, or in one where it does not."""
    real = os.path.realpath(file)
    held = [one for one in found.unchecked if os.path.realpath(one.file) == real]
    return lambda at, harmless=False: any(
        start <= at < start + size for one in held if one.harmless == harmless for start, size in one.runs
    )


def content(path: Path) -> dict[str, str]:
    with inert.open(path) as ckpt:
        return {name: tensor.sha256() for name, tensor in ckpt.tensors.items()}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_not_checked_is_what_the_document_says(name: str, tmp_path: Path) -> None:
    target, _ = laid_out(SAMPLES[name][0], tmp_path)
    whys = [one.why for one in inert.verify(target).unchecked]
    wanted = SAMPLES[name][1]
    assert all(any(text in why for text in wanted) for why in whys), whys
    assert all(any(text in why for why in whys) for text in wanted), whys
    document = DOCS.read_text(encoding="utf-8")
    row = next(line for line in document.splitlines() if line.startswith(f"| {name} |"))
    assert all(text in row for text in wanted), row
    assert wanted or row.endswith("| nothing |"), row


def test_flips_of_storages_are_told_with_the_tensors_that_they_hit(tmp_path: Path) -> None:
    data = bytearray(plain())
    at = bytes(data).index(DATA["0"])
    data[at + 5] ^= 1
    found = verified(bytes(data), tmp_path)
    (one,) = found.findings
    assert (one.code, one.severity, one.where.part, one.where.offset) == ("zip-crc", "error", "archive/data/0", at)
    assert one.tensors == ("a", "b")
    assert f"{zlib.crc32(DATA['0']):08x}" in one.message
    assert f"{zlib.crc32(bytes(data[at : at + 24])):08x}" in one.message
    assert "inert repair" in one.fix
    assert not found.ok
    assert not found
    assert found.error is None


def test_in_a_set_the_shard_is_named(tmp_path: Path) -> None:
    target, _ = laid_out("sharded/bin", tmp_path)
    shard = target / "pytorch_model-00002-of-00002.bin"
    data = bytearray(shard.read_bytes())
    with inert.open(target) as ckpt:
        tensor = next(one for one in ckpt.tensors.values() if one.file and one.file.endswith(shard.name))
        assert tensor.file_offset is not None
        data[tensor.file_offset] ^= 0x40
    shard.write_bytes(data)
    (one,) = [one for one in inert.verify(target).findings if one.severity == "error"]
    assert one.code == "zip-crc"
    assert shard.name in one.where.part
    assert tensor.name in one.tensors


def test_in_a_distributed_checkpoint_the_name_of_the_state_is_given(tmp_path: Path) -> None:
    target, _ = laid_out("dcp/two_ranks", tmp_path)
    with inert.open(target) as ckpt:
        name, part = next((one.name, one) for one in ckpt.parts.values() if one.role == "record" and "[" in one.name)
    file = target / Path(part.file).name
    data = bytearray(file.read_bytes())
    assert part.offset is not None
    at = data.index(b"/data/0", part.offset) - len("archive") - 30  # the local header
    name_size, extra = struct.unpack_from("<2H", data, at + 26)
    data[at + 30 + name_size + extra] ^= 0x40
    file.write_bytes(data)
    hit = [one for one in inert.verify(target).findings if one.severity == "error"]
    assert hit
    assert all(one.tensors == (name.partition("[")[0],) for one in hit)
    assert all(file.name in one.where.part for one in hit)


# -- zip --------------------------------------------------------------------------------------------------------------------------


def test_a_sound_file_has_nothing_to_tell(tmp_path: Path) -> None:
    found = verified(plain(), tmp_path)
    assert (found.ok, found.findings, found.unchecked, found.format) == (True, [], [], "torch-zip")
    assert found.bytes >= 24 + 8 + len(dumps(WEIGHTS))
    assert found.parts == 8
    assert found.counts() == {"error": 0, "warning": 0, "info": 0}


@pytest.mark.parametrize("change", [{"method": 99}, {"flags": 0x809}, {"padding": b"FB\2\0ZY"}])
def test_what_is_odd_about_a_record_is_told_with_its_tensors(change: dict[str, Any], tmp_path: Path) -> None:
    found = verified(zip_bytes(rows(**change)), tmp_path)
    assert {one.tensors for one in found.findings} == {("a", "b")}
    assert all("records are encrypted, or compressed in a way that is not read" in one.why for one in found.unchecked)
    assert {one.tensors for one in found.unchecked} <= {("a", "b")}


def test_records_without_checksums_are_named_as_such(tmp_path: Path) -> None:
    found = verified(unsummed(), tmp_path)
    assert found.ok
    assert codes(found) == ["zip-crc-none"]
    (one,) = found.unchecked
    assert one.why.startswith("7 of 7 records have no checksum")
    assert set(one.tensors) == {"a", "b", "c"}
    assert one.size == sum(len(entry.data) for entry in rows())


def gap() -> bytes:
    """A member that the directory does not list, between two that it does."""
    made = rows()
    hidden = Entry("archive/hidden", b"x" * 40, listed=0)
    return zip_bytes([*made[:-1], hidden, made[-1]])


def appended() -> bytes:
    """By Python's zipfile, which says who it is."""
    import io

    out = io.BytesIO(zip_bytes(rows()))
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr(zipfile.ZipInfo("archive/added.txt"), "x")
    return out.getvalue()


def lied() -> bytes:
    data = bytearray(plain())
    at = data.index(DATA["0"]) + 24
    assert data[at : at + 4] == b"PK\7\10"
    data[at + 8] ^= 1
    return bytes(data)


ODD: dict[str, tuple[Any, str]] = {
    # code: (bytes, or records, and the severity)
    "zip-crc": (zip_bytes(rows(crc=5)), "error"),
    "zip-inflate": (zip_bytes(rows(method=8, data=bytes(24), size=23)), "error"),
    "zip-gap": (gap, "warning"),
    "zip-name": (torch_zip(dumps(WEIGHTS), DATA, more={"../up": b"x"}), "error"),
    "zip-disk": (zip_bytes(rows(disk=2)), "error"),
    "zip-flags": (zip_bytes(rows(flags=0x1808)), "warning"),
    "zip-extra": (zip_bytes(rows(padding=b"FB\2\0ZY")), "warning"),
    "zip-strangers": (appended, "info"),
    "zip-end": (plain(wide_end={"place": 7}), "error"),
    "zip-alignment": (plain(align=8), "warning"),
    "storage-deflated": (zip_bytes(rows(method=8)), "warning"),
    "storage-key": (torch_zip(dumps(tensor(storage("../0", 6), (6,))), {"../0": DATA["0"]}), "error"),
    "zip-descriptor": (lied, "warning"),
    "zip-prefix": (zip_bytes(rows(), before=b"PK\3\4", shift=4), "error"),
    "zip-count": (plain(end={"count": 0xFFFF}), "error"),
    "zip-overlap": (zip_bytes([*rows()[:-1], Entry("archive/version", b"3\n", packed=400, size=400)]), "error"),
}  # fmt: skip


@pytest.mark.parametrize("code", ODD)
def test_what_is_odd_about_an_archive(code: str, tmp_path: Path) -> None:
    made, severity = ODD[code]
    found = verified(made() if callable(made) else made, tmp_path)
    hit = [one for one in found.findings if one.code == code]
    assert hit, found.findings
    assert all(one.severity == severity == CODES[code][0] for one in hit)
    assert found.ok == (severity != "error") or any(one.severity == "error" for one in found.findings)
    assert all(one.fix for one in hit)


def test_hidden_members_between_others_are_told(tmp_path: Path) -> None:
    (one,) = [one for one in verified(gap(), tmp_path).findings if one.code == "zip-gap"]
    assert "members in them that the directory does not list" in one.message


def test_a_second_end_record_is_told(tmp_path: Path) -> None:
    found = verified(plain(comment=b"PK\5\6" + b"\1" * 18), tmp_path)
    assert {"zip-end", "zip-comment"} <= set(codes(found))


def test_a_kind_of_finding_is_given_for_a_hundred_members_and_then_counted(tmp_path: Path) -> None:
    made = [*rows(), *(Entry(f"archive/more/{number}", b"x", padding=b"FB\1\0Y") for number in range(130))]
    found = [one for one in verified(zip_bytes(made), tmp_path).findings if one.code == "zip-extra"]
    assert len(found) == 101
    assert found[-1].message == "and 30 more members like this"


def test_records_that_share_bytes_are_read_once(tmp_path: Path) -> None:
    made = rows()
    many = [Entry(f"archive/copy/{number}", made[0].data, offset=0) for number in range(50)]
    for one in many:
        one.descriptor = False
    found = verified(zip_bytes([*made, *many]), tmp_path)
    assert "zip-overlap" in codes(found)
    assert any("share bytes with others" in one.why for one in found.unchecked)


def test_deflated_content_is_inflated_within_limits(tmp_path: Path) -> None:
    data = zip_bytes([*rows(), Entry("archive/zeros", bytes(1 << 20), method=8)])
    assert verified(data, tmp_path).ok
    found = verified(data, tmp_path, limits=Limits(inflated=1 << 10))
    assert any(one.code == "zip-inflate" and "Limits.inflated" in one.message for one in found.findings)


def test_large_records_are_summed_in_threads(tmp_path: Path) -> None:
    held = {str(number): os.urandom(1 << 20) for number in range(6)}
    data = torch_zip(dumps({key: tensor(storage(key, 1 << 18), (1 << 18,)) for key in held}), held)
    damaged = bytearray(data)
    damaged[data.index(held["3"]) + 1000] ^= 1
    path = tmp_path / "large.pt"
    path.write_bytes(damaged)
    seen: list[int] = []
    for threads in (1, 4):
        found = inert.verify(path, threads=threads, progress=seen.append)
        assert [(one.code, one.tensors) for one in found.findings] == [("zip-crc", ("3",))]
        assert found.bytes >= 6 << 20
    assert sum(seen) == 2 * found.bytes


# -- other containers -------------------------------------------------------------------------------------------------------------


def test_fillers_of_a_tar_archive_are_zero(tmp_path: Path) -> None:
    data = bytearray(sample())
    data[-1] = 1
    assert "tar-filler" in codes(verified(bytes(data), tmp_path, "made.pth"))
    data = bytearray(sample())
    data[155] = 0x41  # behind the digits of the first header's checksum
    assert "tar-header" in codes(verified(bytes(data), tmp_path, "made.pth"))


def test_a_record_of_the_past_in_a_distributed_file_is_told(tmp_path: Path) -> None:
    target, files = laid_out("dcp/two_ranks", tmp_path)
    file = next(path for path in files if path.suffix == ".distcp")
    file.write_bytes(file.read_bytes() + b"left over")
    assert "dcp-stray" in codes(inert.verify(target))


def test_a_wrapper_s_archive_is_checked_with_its_other_members(tmp_path: Path) -> None:
    path = tmp_path / "made.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.pt", plain())
        archive.writestr("readme.txt", b"hello " * 50)
    assert inert.verify(path).ok
    with zipfile.ZipFile(path) as archive:
        at = archive.getinfo("readme.txt").header_offset + 30 + len("readme.txt") + 4
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF
    path.write_bytes(data)
    found = inert.verify(path)
    assert [one.where.part for one in found.findings if one.severity == "error"] == ["readme.txt"]


def test_a_cut_wrapper_is_an_error(tmp_path: Path) -> None:
    found = verified(gzip.compress(plain())[:-6], tmp_path, "made.pt.gz")
    assert "wrapper-damaged" in codes(found)


# -- what cannot be opened --------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[bytes, str, str]] = {
    "cut": (plain()[:300], "unreadable", "cut short"),
    "page": (b"<!doctype html><html><title>Quota exceeded</title></html>", "unidentified", "Quota exceeded"),
    "pickle": (torch_zip(dumps(WEIGHTS)[:-20], DATA), "unreadable", ""),
    "header": (struct.pack("<Q", 99) + b'{"a":1', "unreadable", "header alone should take"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_open_refuses_is_a_finding(name: str, tmp_path: Path) -> None:
    data, code, words = REFUSED[name]
    found = verified(data, tmp_path)
    first = found.findings[0]
    assert (found.ok, first.code, first.severity) == (False, code, "error")
    assert words in first.message
    assert first.fix
    assert isinstance(found.error, inert.InertError)
    with pytest.raises(inert.InertError):
        inert.open(tmp_path / "made.pt")


def test_a_damaged_pickle_is_told_with_its_checksum(tmp_path: Path) -> None:
    data = bytearray(plain())
    at = data.index(b"_rebuild_tensor_v2")
    data[at + 25] = 0xFF
    found = verified(bytes(data), tmp_path)
    assert {"unreadable", "zip-crc"} <= set(codes(found))


def test_no_such_file_passes_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        inert.verify(tmp_path / "none.pt")
    with pytest.raises(ValueError, match="byteorder"):
        inert.verify(tmp_path / "none.pt", byteorder="middle")


def test_limits_are_findings(tmp_path: Path) -> None:
    assert codes(verified(plain(), tmp_path, limits=Limits(pickle_bytes=10)))[0] == "limit"


def test_a_missing_library_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inert.inflate import ENGINES, Missing

    def missing() -> Any:
        raise Missing("install it")

    monkeypatch.setattr(ENGINES["gzip"], "make", missing)
    assert codes(verified(gzip.compress(plain()), tmp_path, "made.pt.gz")) == ["unsupported"]


def test_a_file_that_changes_meanwhile_is_told(tmp_path: Path) -> None:
    path = tmp_path / "made.pt"
    path.write_bytes(plain())

    def change(_: int) -> None:
        if path.stat().st_size == len(plain()):
            path.write_bytes(plain() + b"x")

    found = inert.verify(path, progress=change)
    assert not found.ok
    assert any("changed" in one.message for one in found.findings)


def test_streams_are_verified_like_files(tmp_path: Path) -> None:
    import io

    data = bytearray(plain())
    assert inert.verify(io.BytesIO(bytes(data))).ok
    data[data.index(DATA["1"])] ^= 1
    assert inert.verify(io.BytesIO(bytes(data))).findings[0].tensors == ("c",)


# -- tensors ----------------------------------------------------------------------------------------------------------------------


def coo(indices: list[int], count: int = 2) -> Any:
    rows = tensor(storage("0", len(indices), "Long"), (len(indices) // count, count))
    values = tensor(storage("1", count), (count,))
    layout = Made(Name("torch.serialization", "_get_layout"), ("torch.sparse_coo",))
    return Made(Name("torch._utils", "_rebuild_sparse_tensor"), (layout, (rows, values, Made(Name("torch", "Size"), ((3, 4),)))))


def csr(starts: list[int], columns: list[int]) -> Any:
    parts = [
        tensor(storage("0", len(starts), "Long"), (len(starts),)),
        tensor(storage("1", len(columns), "Long"), (len(columns),)),
        tensor(storage("2", len(columns)), (len(columns),)),
    ]
    layout = Made(Name("torch.serialization", "_get_layout"), ("torch.sparse_csr",))
    return Made(Name("torch._utils", "_rebuild_sparse_tensor"), (layout, (*parts, Made(Name("torch", "Size"), ((3, 4),)))))


def longs(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}q", *numbers)


COO = {
    (0, 2, 3, 1): "",
    (0, 3, 3, 1): "dimension 0 has 3 places, and an index is 3",
    (0, 2, -1, 1): "dimension 1 has 4 places, and an index is -1",
}
CSR = {
    ((0, 1, 1, 2), (3, 0)): "", ((0, 1, 1, 2), (4, 0)): "col_indices has 4 places, and an index is 4", ((1, 1, 1, 2), (3, 0)): "does not begin with 0",
    ((0, 2, 1, 2), (3, 0)): "does not rise", ((0, 1, 1, 1), (3, 0)): "does not end with the number of values, 2",
    ((0, 1, 2), (3, 0)): "crow_indices has 3 numbers for 3 lines",
}  # fmt: skip


@pytest.mark.parametrize("indices", COO)
def test_indices_of_sparse_tensors_lie_inside(indices: tuple[int, ...], tmp_path: Path) -> None:
    found = verified(torch_zip(dumps({"s": coo(list(indices))}), {"0": longs(list(indices)), "1": bytes(8)}), tmp_path)
    assert [(one.code, one.message, one.tensors) for one in found.findings] == (
        [("sparse-indices", COO[indices], ("s",))] if COO[indices] else []
    )


@pytest.mark.parametrize("indices", CSR)
def test_compressed_indices_rise_and_lie_inside(indices: tuple[tuple[int, ...], tuple[int, ...]], tmp_path: Path) -> None:
    starts, columns = map(list, indices)
    data = {"0": longs(starts), "1": longs(columns), "2": bytes(4 * len(columns))}
    found = verified(torch_zip(dumps({"s": csr(starts, columns)}), data), tmp_path)
    said = [one.message for one in found.findings if one.code == "sparse-indices"]
    assert (CSR[indices] in said[0]) if CSR[indices] else not found.findings


def test_a_census_counts_what_is_not_finite(tmp_path: Path) -> None:
    inert.save(
        {
            "sound": np.arange(4, dtype="f4"),
            "nan": np.array([np.nan, 1, np.inf, -np.inf, np.nan], "f8"),
            "half": np.array([np.inf], "f2"),
            "whole": np.arange(3),
            "complex": np.array([complex(0, np.nan)], "c8"),
        },
        tmp_path / "made.pt",
    )
    assert inert.verify(tmp_path / "made.pt").census is None
    found = inert.verify(tmp_path / "made.pt", census=True)
    assert found.census == {
        "sound": {"count": 4, "nan": 0, "inf": 0, "odd": 0},
        "nan": {"count": 5, "nan": 2, "inf": 2, "odd": 0},
        "half": {"count": 1, "nan": 0, "inf": 1, "odd": 0},
        "complex": {"count": 1, "nan": 1, "inf": 0, "odd": 0},
    }
    (one,) = found.findings
    assert (one.code, one.severity, one.tensors) == ("values-nan", "warning", ("nan", "half", "complex"))
    assert found.ok


def test_a_bool_that_is_neither_is_told_in_a_census(tmp_path: Path) -> None:
    found = verified(torch_zip(dumps({"flags": tensor(storage("0", 3, "Bool"), (3,))}), {"0": b"\0\1\2"}), tmp_path, census=True)
    assert [(one.code, one.tensors) for one in found.findings] == [("values-bool", ("flags",))]


def test_what_many_tensors_say_over_few_bytes_is_not_counted(tmp_path: Path) -> None:
    wide = {str(number): tensor(storage("0", 6), (1 << 22, 6), (0, 1)) for number in range(4)}
    found = verified(torch_zip(dumps(wide), {"0": DATA["0"]}), tmp_path, census=True)
    assert any("far more than the bytes behind them" in one.why for one in found.unchecked)


def test_a_name_that_no_encoding_holds_is_told(tmp_path: Path) -> None:
    found = verified(torch_zip(dumps({"a\ud800": WEIGHTS["a"]}), DATA), tmp_path)
    assert "tensor-name" in codes(found)


# -- TensorFlow: each cause has its sentence --------------------------------------------------------------------------------------

VALUE = struct.pack("<4f", 1, 2, 3, 4)
GOOD = {b"w": entry(1, (4,), 0, 16, stored(VALUE))}


def tf(folder: Path, change: Callable[[Path], Any] = lambda prefix: None) -> inert.Verification:
    prefix = bundle(folder, GOOD, VALUE)
    change(prefix)
    return inert.verify(prefix.with_name("made.index") if prefix.with_name("made.index").exists() else prefix)


def index(prefix: Path) -> Path:
    return prefix.with_name("made.index")


def shard(prefix: Path) -> Path:
    return prefix.with_name("made.data-00000-of-00001")


def swapped(prefix: Path) -> None:
    a, b = index(prefix).read_bytes(), shard(prefix).read_bytes()
    index(prefix).write_bytes(b)
    shard(prefix).write_bytes(a)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 16\n"
CAUSES: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "the two files are exchanged": (swapped, "unreadable", "the files bear each other's names"),
    "the index is cut": (lambda p: index(p).write_bytes(index(p).read_bytes()[:-60]), "unreadable", "index 'made.index' of this TensorFlow checkpoint is none"),
    "the index is empty": (lambda p: index(p).write_bytes(b""), "unreadable", "empty"),
    "the mark at its end is wrong": (lambda p: flip(index(p), -3), "unreadable", "index 'made.index' of this TensorFlow checkpoint is none"),
    "a block of the index": (lambda p: flip(index(p), 20), "tf-block-crc", "has the checksum"),
    "a tensor's bytes": (lambda p: flip(shard(p), 5), "tf-tensor-crc", "the checksum of its bytes"),
    "the data is a pointer of Git LFS": (lambda p: shard(p).write_bytes(POINTER), "tf-shard-missing", "Git LFS"),
    "the index is a pointer of Git LFS": (lambda p: index(p).write_bytes(POINTER), "unreadable", "Git LFS"),
    "the data is not there": (lambda p: shard(p).unlink(), "tf-shard-missing", "is not there"),
    "the index is not there": (lambda p: index(p).unlink(), "unreadable", "is missing"),
    "the data is cut": (lambda p: shard(p).write_bytes(VALUE[:9]), "tf-shard-short", "it has 9"),
}  # fmt: skip


@pytest.mark.parametrize("cause", CAUSES)
def test_a_broken_bundle_is_told_by_its_cause(cause: str, tmp_path: Path) -> None:
    change, code, words = CAUSES[cause]
    found = tf(tmp_path, change)
    assert not found.ok
    hit = [one for one in found.findings if one.code == code]
    assert hit, found.findings
    assert words in hit[0].message
    assert hit[0].fix
    if code.startswith(("tf-tensor", "tf-shard")):
        assert hit[0].tensors == ("w",)


def test_a_sound_bundle_is_sound(tmp_path: Path) -> None:
    found = tf(tmp_path)
    assert (found.ok, found.findings, found.unchecked) == (True, [], [])


def test_index_and_data_of_two_steps_are_told_as_that(tmp_path: Path) -> None:
    items = {f"v{number}".encode(): entry(1, (4,), 16 * number, 16, stored(VALUE)) for number in range(6)}
    prefix = bundle(tmp_path, items, bytes(96))
    (one,) = inert.verify(prefix).findings
    assert one.code == "tf-mixed-steps"
    assert len(one.tensors) == 6
    assert "two saves" in one.fix


def test_what_aligns_tensors_is_zeros(tmp_path: Path) -> None:
    items = {b"a": entry(1, (4,), 0, 16, stored(VALUE)), b"b": entry(1, (4,), 64, 16, stored(VALUE))}
    found = inert.verify(bundle(tmp_path, items, VALUE + bytes(48) + VALUE))
    assert (found.findings, found.unchecked) == ([], [])
    found = inert.verify(bundle(tmp_path, items, VALUE + bytes(40) + b"\7" + bytes(7) + VALUE + b"more"))
    assert [(one.code, one.where.offset) for one in found.findings] == [("tf-shard-long", 80), ("tf-gap", 56)]
    (one,) = found.unchecked
    assert (one.why, one.runs) == ("bytes that belong to no tensor", [(16, 48), (80, 4)])


def test_tensors_over_the_same_bytes_are_not_summed_for_ever(tmp_path: Path) -> None:
    items = {f"v{number}".encode(): entry(1, (4,), 0, 16, stored(VALUE)) for number in range(40)}
    found = inert.verify(bundle(tmp_path, items, VALUE))
    assert "tf-overlap" in codes(found)
    assert sum(one.why == "a tensor that lies over others" for one in found.unchecked) == 38


def test_a_footer_s_filler_is_zero(tmp_path: Path) -> None:
    data = bytearray(table({b"": field(1, 1) + field(3, field(1, 1)), **GOOD}))
    data[-9] = 1
    (tmp_path / "made.index").write_bytes(data)
    (tmp_path / "made.data-00000-of-00001").write_bytes(VALUE)
    assert codes(inert.verify(tmp_path / "made")) == ["tf-footer"]
    assert mask(0) == 0xA282EAD8


# -- anything ---------------------------------------------------------------------------------------------------------------------

SEEDS = [plain(), zip_bytes(rows(method=8)), gzip.compress(plain(), mtime=0), sample(), (HERE / "legacy/sharing.pt").read_bytes()]


@settings(max_examples=120, deadline=None)
@given(
    st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 1 << 14), st.binary(min_size=0, max_size=6), st.integers(0, 6)), max_size=4)
)
def test_whatever_the_bytes_there_is_an_answer(tmp_path_factory: Any, data: bytes, changes: list[tuple[int, bytes, int]]) -> None:
    import io

    made = bytearray(data)
    for at, put, drop in changes:
        at %= len(made) + 1
        made[at : at + drop] = put
    found = inert.verify(io.BytesIO(bytes(made)), census=True)
    assert found.findings or found.ok
    assert all(one.code in CODES for one in found.findings)
    assert found.ok == all(one.severity != "error" for one in found.findings)
    assert [one.severity for one in found.findings] == sorted(
        (one.severity for one in found.findings), key=["error", "warning", "info"].index
    )


def test_tensors_that_cannot_be_read_for_a_reason_that_is_told_are_not_told_again(tmp_path: Path) -> None:
    found = verified(torch_zip(dumps(WEIGHTS), {"1": DATA["1"]}), tmp_path)
    assert [(one.code, one.tensors) for one in found.findings] == [("record-missing", ("a",)), ("record-missing", ("b",))]
    prefix = bundle(tmp_path, GOOD)
    prefix.with_name("made.data-00000-of-00001").unlink()
    assert codes(inert.verify(prefix)) == ["tf-shard-missing"]


@pytest.mark.parametrize(
    ("at", "bits", "code"),
    [(8, 1, "zip-encrypted"), (8, 0x40, "zip-encrypted"), (8, 0x20, "zip-encrypted"), (9, 0x20, "zip-masked"), (38, 0x10, "zip-folder")],
)
@pytest.mark.parametrize("name", [b"archive/data.pkl", b"archive/data/1", b"archive/version"])
def test_bits_of_the_directory_that_torch_stumbles_over(tmp_path: Path, name: bytes, at: int, bits: int, code: str) -> None:
    """torch 2.13 refuses the archive; of a record that is marked as a folder it gives what happens to be in memory, without a word."""
    data = bytearray(plain())
    data[data.rindex(name) - 46 + at] |= bits
    path, mended = tmp_path / "archive.pt", tmp_path / "mended.pt"
    path.write_bytes(data)
    report = inert.verify(path)
    assert not report.ok
    assert code in {finding.code for finding in report.findings}
    inert.repair(path, mended)
    assert inert.verify(mended).ok
    assert inert.load(mended)["c"].tolist() == [77, 78]


def test_what_the_census_reads_again_was_checked_once(tmp_path: Path) -> None:
    plain_, counted = (verified(plain(), tmp_path, census=census) for census in (False, True))
    assert counted.census
    assert plain_.bytes == counted.bytes <= (tmp_path / "made.pt").stat().st_size


def test_a_tensor_without_a_name_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """What was dropped for saying nothing that others do not say: torch stops at the call, so the file is never sound."""
    arguments = (storage("1", 2), 0, (2,), (1,), False)  # one less than the function takes
    bad = {"a": tensor(storage("0", 6), (2, 3)), "b": Made(Name("torch._utils", "_rebuild_tensor_v2"), arguments)}
    found = verified(torch_zip(dumps(bad), DATA), tmp_path)
    assert not found.ok
    assert codes(found) == ["tensor-damaged"]


@pytest.mark.parametrize("given", [b"K\5", b"N", b"\x88", b"G\0\0\0\0\0\0\0\0"])
def test_a_call_with_something_that_is_no_tuple_is_an_error(given: bytes, tmp_path: Path) -> None:
    """Python's unpickler and torch's stop there: TypeError."""
    found = verified(torch_zip(b"\x80\2ccollections\nOrderedDict\n" + given + b"R."), tmp_path)
    assert not found.ok
    assert codes(found) == ["pickle-arguments"]
