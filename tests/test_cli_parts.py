"""``inert parts``: every byte of a file has its place in the answer, and no pickle is decoded for it."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from inert.cli import main
from inert.cli.text import size
from tests.makers import Entry, dumps, storage, tensor, torch_entries, torch_zip, zip_bytes
from tests.test_cli_ls import CORPUS, needs_corpus
from tests.test_cli_main import Run, run

__all__ = ["run"]

PICKLE = dumps({"w": tensor(storage("0", 6), (2, 3))})
KEYS = {"name", "file", "offset", "size", "compressed", "crc32", "role"}


def answer(run: Run, path: Path, code: int = 0) -> dict[str, Any]:
    found, out, _ = run("parts", "--json", path)
    assert found == code
    made: dict[str, Any] = json.loads(out)
    return made


def written(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "x.pt"
    path.write_bytes(data)
    return path


def covered(found: dict[str, Any]) -> int:
    """Bytes of all records and gaps; they must not overlap."""
    runs = [(gap["offset"], gap["size"]) for gap in found["gaps"]]
    runs += [(part["offset"], part["size"] if part["compressed"] is None else part["compressed"]) for part in found["parts"]]
    runs.sort()
    assert all(at + size <= after for (at, size), (after, _) in pairwise(runs) if size)
    return sum(size for _, size in runs)


def test_every_record_and_every_byte(run: Run, tmp_path: Path) -> None:
    values = struct.pack("<6f", *range(6))
    entries = torch_entries(PICKLE, {"0": values}, more={".data/serialization_id": b"1" * 40})
    path = written(tmp_path, zip_bytes(entries))
    found = answer(run, path)
    assert [part["name"] for part in found["parts"]] == [entry.name for entry in entries]
    for part, entry in zip(found["parts"], entries, strict=True):
        assert set(part) >= KEYS
        assert (part["file"], part["offset"], part["size"], part["compressed"]) == (str(path), entry.at, len(entry.data), None)
        assert part["crc32"] == zlib.crc32(entry.data)
        assert part["offset"] % part["alignment"] == 0
        assert part["offset"] % (2 * part["alignment"]) or part["alignment"] == 4096
    roles = {part["name"].removeprefix("archive/"): part["role"] for part in found["parts"]}
    assert roles == {
        "data.pkl": "pickle", ".format_version": "format version", ".storage_alignment": "alignment", "byteorder": "byteorder",
        "data/0": "storage", "version": "version", ".data/serialization_id": "serialization id",
    }  # fmt: skip
    assert covered(found) == found["size"] == path.stat().st_size
    assert (found["alignment"], found["format"]) == (64, "torch-zip")
    assert {"version": "3", "byteorder": "little", "serialization_id": "1" * 40}.items() <= found["metadata"].items()
    kinds = {gap["kind"] for gap in found["gaps"]}
    assert kinds == {"header", "padding", "descriptor", "directory", "end records"}


@pytest.mark.parametrize("align", [1, 64, 4096])
def test_padding_makes_the_alignment(run: Run, tmp_path: Path, align: int) -> None:
    found = answer(run, written(tmp_path, zip_bytes(torch_entries(PICKLE, {"0": bytes(24)}), align=align)))
    assert found["alignment_found"] >= align
    assert covered(found) == found["size"]


def test_what_a_zip_program_rewrote(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in torch_entries(PICKLE * 9, {"0": bytes(2400)}):
            archive.writestr(str(entry.name), entry.data)
    found = answer(run, path)
    part = next(part for part in found["parts"] if part["role"] == "storage")
    assert (part["size"], part["crc32"]) == (2400, zlib.crc32(bytes(2400)))
    assert 0 < part["compressed"] < 100
    assert covered(found) == path.stat().st_size
    head = run("parts", path)[1].splitlines()[0]
    assert "alignment 64, but the storages lie at multiples of" in head


def test_a_broken_pickle_is_no_hindrance(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, torch_zip(b"\x80\x02\xff this is no pickle", {"0": bytes(24)}))
    assert run("ls", path)[0] == 2
    found = answer(run, path)
    assert [part["size"] for part in found["parts"] if part["role"] in ("pickle", "storage")] == [21, 24]
    code, out, err = run("parts", path)
    assert (code, err) == (0, "")
    assert "archive/data.pkl" in out


def test_bytes_before_between_and_after(run: Run, tmp_path: Path) -> None:
    path = written(tmp_path, zip_bytes(torch_entries(PICKLE, {"0": bytes(24)}), before=b"#!/bin/sh\n", after=b"more" * 5))
    found = answer(run, path, code=1)
    gaps = {gap["kind"]: gap["size"] for gap in found["gaps"]}
    assert (gaps["prefix"], gaps["trailing bytes"]) == (10, 20)
    assert covered(found) == found["size"]
    _, out, err = run("parts", path)
    assert "(prefix)" in out
    assert "(trailing bytes)" in out
    assert "bytes lie before the archive" in err


def test_a_hidden_member_is_shown_as_such(run: Run, tmp_path: Path) -> None:
    entries = [Entry("archive/data.pkl", b"first, hidden"), *torch_entries(PICKLE, {"0": bytes(24)})]
    found = answer(run, written(tmp_path, zip_bytes(entries)), code=1)
    twins = [part for part in found["parts"] if part["name"] == "archive/data.pkl"]
    assert [part.get("hidden", False) for part in sorted(twins, key=lambda part: part["offset"])] == [True, False]
    assert covered(found) == found["size"]
    assert "hidden" in run("parts", tmp_path / "x.pt")[1]


def test_a_member_whose_header_is_gone_has_no_offset(run: Run, tmp_path: Path) -> None:
    entries = torch_entries(PICKLE, {"0": bytes(24)})
    data = bytearray(zip_bytes(entries))
    at = data.rindex(b"PK\3\4", 0, next(entry.at for entry in entries if str(entry.name).endswith("data/0")))
    data[at : at + 4] = b"XXXX"
    found = answer(run, written(tmp_path, bytes(data)), code=1)
    assert [part["offset"] for part in found["parts"] if part["role"] == "storage"] == [None]
    assert "unused bytes" in {gap["kind"] for gap in found["gaps"]}


def test_names_are_escaped(run: Run, tmp_path: Path) -> None:
    entries = [*torch_entries(PICKLE, {"0": bytes(24)}), Entry("archive/\x1b[2J\u202eevil", b"x"), Entry(b"archive/\xff", b"y")]
    code, out, _ = run("parts", written(tmp_path, zip_bytes(entries)))
    assert code == 1  # a name that is no UTF-8 stops torch.load
    assert "\x1b" not in out
    assert "archive/\\x1b[2J\\u202eevil" in out
    assert "archive/\\udcff" in json.dumps(answer(run, tmp_path / "x.pt", 1)).replace("\\\\", "\\")


def test_the_records_of_a_cut_archive_are_found_by_their_own_headers(run: Run, tmp_path: Path) -> None:
    data = zip_bytes(torch_entries(PICKLE, {"0": bytes(24)}))
    found = answer(run, written(tmp_path, data[:-30]), 1)
    assert [part["name"] for part in found["parts"]] == [entry.name for entry in torch_entries(PICKLE, {"0": bytes(24)})]
    assert all(data[part["offset"] :][: part["size"]] == raw for part, raw in zip(found["parts"], contents(), strict=True))
    code, out, err = run("parts", tmp_path / "x.pt")
    assert (code, "archive/data/0" in out) == (1, True)
    assert f"{tmp_path / 'x.pt'} at byte {len(data) - 30:,}: no end-of-archive record" in err


def contents() -> list[bytes]:
    return [entry.data for entry in torch_entries(PICKLE, {"0": bytes(24)})]


def test_what_holds_no_records_is_one_line(run: Run, tmp_path: Path) -> None:
    code, out, err = run("parts", written(tmp_path, zip_bytes(torch_entries(PICKLE, {"0": bytes(24)}))[:20]))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert str(tmp_path / "x.pt") in err


@pytest.mark.parametrize("place", ["sharded/bin", "sharded/safetensors", "tf/shards", "tf/v1_shards", "deepspeed/zero2", "dcp/two_ranks"])
def test_the_files_of_a_set_and_their_records_count_once(run: Run, place: str) -> None:
    folder = Path(__file__).parent / "corpus" / place
    names = {part["file"] for part in answer(run, folder)["parts"]}
    held = sum(Path(name).stat().st_size for name in names)
    assert f"\n{size(held)} of records\n" in run("parts", folder)[1] + "\n"


@needs_corpus
@pytest.mark.corpus
def test_the_reference_vector(run: Run) -> None:
    path = CORPUS / "vector" / "small.pt"
    found = answer(run, path)
    assert (found["size"], found["alignment"], found["alignment_found"]) == (3587, 64, 64)
    sizes = {part["name"].removeprefix("small/"): part["size"] for part in found["parts"]}
    assert sizes == {
        "data.pkl": 477, ".format_version": 1, ".storage_alignment": 2, "byteorder": 6, "data/0": 1024, "data/1": 16, "data/2": 12,
        "data/3": 24, "data/4": 4, "version": 2, ".data/serialization_id": 40,
    }  # fmt: skip
    metadata = found["metadata"]
    assert (metadata["byteorder"], metadata["version"], metadata["storage_alignment"]) == ("little", "3", "64")
    assert metadata["serialization_id"].startswith("00551901853203590787")
    assert covered(found) == 3587


def test_names_of_metadata_steer_no_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.safetensors"
    header = json.dumps({"__metadata__": {"\x1b[2J\x07\u202ea": "\x9b31m"}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    main(["parts", str(path)])
    said = capsys.readouterr().out
    assert r"\x1b[2J\x07\u202ea \x9b31m" in said
    assert all(line.isprintable() for line in said.splitlines())
