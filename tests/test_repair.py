"""inert.repair: each fault of the table is met, and gone from what is written; losses are named, and filled where that is asked for."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.errors import FormatError, InertError, UnsupportedError
from inert.finding import CODES, REPAIRS
from inert.ops.losses import Repaired
from tests.cuts import CORPUS, told
from tests.makers import Entry, Name, Pid, dumps, storage, tensor, torch_entries, torch_zip, zip_bytes
from tests.tars import archive, sample
from tests.test_findings import BLOB, MADE, legacy
from tests.test_verify import ODD
from tests.tf_tables import HEADER, bundle, entry, field, shape, stored, table
from tests.zipdamage import entries as zip_entries
from tests.zipdamage import whole

SMALL = ("w_f32", "b_f16", "e_bf16", "i_i32", "s_f32")
Maker = Callable[[Path], Path]


def corpus(name: str) -> Maker:
    return lambda into: CORPUS / name


def made(data: bytes, name: str = "file.pt") -> Maker:
    def make(into: Path) -> Path:
        (into / name).write_bytes(data)
        return into / name

    return make


def kept(code: str) -> Maker:
    """The input that test_findings has for a code."""
    data = MADE[code]
    return made(data[0] if isinstance(data, tuple) else data)


def odd(code: str) -> Maker:
    """The input that test_verify has for a code."""
    data = ODD[code][0]
    return made(data() if callable(data) else data)


def changed(name: str, change: Callable[[Path], Any], opens: str = "") -> Maker:
    """A folder of the corpus with a change."""

    def make(into: Path) -> Path:
        folder = Path(shutil.copytree(CORPUS / name, into / "set"))
        change(folder)
        return folder / opens

    return make


def put(path: Path, at: int, data: bytes) -> None:
    raw = bytearray(path.read_bytes())
    raw[at : at + len(data) if at + len(data) else None] = data
    path.write_bytes(raw)


def cut(path: Path, size: int) -> None:
    path.write_bytes(path.read_bytes()[:size])


def bytes_of(count: int) -> dict[bytes, bytes]:
    """Entries of as many tensors of one byte, with right checksums."""
    return {b"t%03d" % number: entry(4, (1,), number, 1, stored(bytes((number,)))) for number in range(count)}


def of_blocks(change: Callable[[bytearray, list[tuple[int, int]]], None]) -> Maker:
    """A bundle whose index has several blocks (their offsets and sizes are told), with a change."""

    def make(into: Path) -> Path:
        prefix = bundle(into, bytes_of(200), bytes(range(200)), size=700)
        path = prefix.with_name("made.index")
        with inert.open(path) as ckpt:
            places = list(ckpt.content.bundles[0].table.handles)  # type: ignore[attr-defined]
        raw = bytearray(path.read_bytes())
        change(raw, places)
        path.write_bytes(raw)
        return path

    return make


def flip(raw: bytearray, at: int) -> None:
    raw[at] ^= 0x15


def gap(into: Path) -> Path:
    prefix = bundle(into, bytes_of(3), bytes(range(3)))
    raw = table({b"": HEADER, **bytes_of(3)})
    prefix.with_name("made.index").write_bytes(raw[:-48] + b"??" + raw[-48:])
    return prefix.with_name("made.index")


def shared_blocks(into: Path) -> Path:
    """The metaindex where the index lies."""
    prefix = bundle(into, bytes_of(3), bytes(range(3)))
    raw = table({b"": HEADER, **bytes_of(3)})
    numbers, at = [], 0
    footer = raw[-48:]
    for _ in range(4):
        end = at
        while footer[end] & 0x80:
            end += 1
        numbers.append(footer[at : end + 1])
        at = end + 1
    prefix.with_name("made.index").write_bytes(raw[:-48] + (b"".join(numbers[2:] * 2)).ljust(40, b"\0") + footer[40:])
    return prefix.with_name("made.index")


def unordered(into: Path) -> Path:
    rows = [(b"", HEADER), *list(bytes_of(3).items())[::-1]]
    bundle(into, {}, bytes(range(3))).with_name("made.index").write_bytes(table(rows))
    return into / "made.index"


COUNT = legacy(["0"], BLOB).index(BLOB)
REFERENCE = dumps({"weight": tensor(storage("0", 2), (2,)), "pid": Pid(("elsewhere", 5)), "name": Name("os", "system")})
TAR = sample()
SMALL_FILE = (CORPUS / "torch" / "small.pt").read_bytes()
WHOLE = -(-len(TAR.rstrip(b"\0")) // 512) * 512  # of its members
NEWER = field(1, 1) + field(3, field(1, 1) + field(2, 2))  # for readers of version 2
LARGE = entry(1, (2, 3), 0, 24, stored(bytes(24)))
VALID = entry(4, (1,), 0, 1, stored(b"\0"))

# code → what makes an input that repair meets it in; every code of REPAIRS is here
CASES: dict[str, Maker] = {
    "zip-directory": corpus("broken/cut_the_end_record.pt"),
    "zip-cut": made(SMALL_FILE[: SMALL_FILE.index(b"PK\7\x08", SMALL_FILE.index(b"small/data/3")) - 3]),
    "zip-crc": corpus("broken/bit_flip.pt"),
    "zip-crc-field": corpus("broken/central_crc.pt"),
    "zip-crc-none": corpus("torch/no_crc.pt"),
    "zip-prefix": corpus("crafted/before.pt"),
    "zip-trailing": corpus("crafted/behind.pt"),
    "zip-comment": corpus("crafted/comment.pt"),
    "zip-count": corpus("broken/end_count.pt"),
    "zip-sizes": corpus("broken/central_packed.pt"),
    "zip-method": corpus("broken/central_method.pt"),
    "zip-encrypted": corpus("broken/central_encrypted.pt"),
    "zip-folder": kept("zip-folder"),
    "zip-masked": kept("zip-masked"),
    "zip-local-name": corpus("broken/local_name.pt"),
    "zip-local-header": corpus("broken/local_signature.pt"),
    "zip-local-fields": kept("zip-local-fields"),
    "zip-duplicate": corpus("crafted/duplicate.pt"),
    "zip-case": made(zip_bytes([*torch_entries(dumps([tensor(storage("0", 2), (2,))]), {"0": bytes(8)}), Entry("archive/VERSION", b"9")])),
    "zip-outside-root": corpus("crafted/more_folders.pt"),
    "zip-no-root": corpus("crafted/no_folder.pt"),
    "zip-deflated": corpus("crafted/deflated.pt"),
    "version-missing": corpus("crafted/no_version.pt"),
    "version-unknown": corpus("crafted/version_99.pt"),
    "byteorder-missing": corpus("crafted/torch_1_6.pt"),
    "byteorder-bad": corpus("crafted/byteorder_odd.pt"),
    "alignment-bad": made(whole(_1storage_alignment=b"x")),
    **{code: odd(code) for code in (
        "zip-name", "zip-descriptor", "zip-gap", "zip-disk", "zip-flags", "zip-extra", "zip-alignment",
    )},
    "zip-end": made(SMALL_FILE.replace(b"PK\6\6,", b"PK\6\6-", 1)),
    "zip-text": made(zip_bytes([*zip_entries(), Entry(b"archive/\xff", b"x")])),
    "record-missing": corpus("broken/record_missing.pt"),
    "record-size": corpus("broken/record_short.pt"),
    "tensor-damaged": corpus("safetensors/broken/cut.safetensors"),
    "reference-unknown": made(torch_zip(REFERENCE, {"0": bytes(8)})),
    "pickle-broken": corpus("broken/pickle_cut.pt"),
    "pickle-trailing": corpus("broken/pickle_junk_behind.pt"),
    "legacy-trailing": kept("legacy-trailing"),
    "legacy-head": made(legacy(["0"], BLOB).replace(b"M\xe9\x03.", b"M\xe9\x04.", 1)),
    "legacy-count": made(legacy(["0"], b"\7" + BLOB[1:])),
    "tar-cut": made(TAR[: TAR.index(b"storages\0") + 512 + 180]),
    "tar-damaged": made(TAR[:WHOLE] + b"x" * 512 + bytes(1024)),
    "tar-duplicate": made(archive({"sys_info": b"x"})[:1024] + TAR),
    "wrapper-opened": made(gzip.compress((CORPUS / "torch" / "small.pt").read_bytes()), "small.pt.gz"),
    "wrapper-damaged": made(gzip.compress((CORPUS / "torch" / "small.pt").read_bytes())[:-9], "small.pt.gz"),
    "safetensors-header": corpus("safetensors/broken/huge_header.safetensors"),
    "safetensors-metadata": corpus("safetensors/broken/metadata_number.safetensors"),
    "safetensors-entry": corpus("safetensors/broken/inside.safetensors"),
    "safetensors-extra": corpus("safetensors/broken/further_field.safetensors"),
    "safetensors-duplicate": corpus("safetensors/broken/names_twice.safetensors"),
    "safetensors-hole": corpus("safetensors/broken/hole.safetensors"),
    "safetensors-overlap": corpus("safetensors/broken/overlap.safetensors"),
    "safetensors-short": corpus("safetensors/broken/cut.safetensors"),
    "safetensors-trailing": corpus("safetensors/broken/trailing.safetensors"),
    "shard-missing": corpus("sharded/missing"),
    "shard-unreadable": changed("sharded/safetensors", lambda to: cut(to / "model-00001-of-00002.safetensors", 12)),
    "shard-path": corpus("sharded/escape"),
    "shard-ghost": corpus("sharded/ghost"),
    "shard-duplicate": corpus("sharded/twice"),
    "shard-stray": corpus("sharded/stray"),
    "shard-unnamed": lambda into: stale(into, forget),
    "shards-index": corpus("sharded/no_text"),
    "shards-total": corpus("sharded/total"),
    "shards-count": corpus("sharded/tied"),
    "shards-no-index": corpus("sharded/no_index"),
    "tf-index-cut": of_blocks(lambda raw, places: raw.__delitem__(slice(-60, None))),
    "tf-block-crc": of_blocks(lambda raw, places: flip(raw, places[1][0] + places[1][1] + 2)),
    "tf-block": of_blocks(lambda raw, places: raw.__setitem__(slice(places[2][0] + places[2][1] - 4, places[2][0] + places[2][1]), b"\xff" * 4)),
    "tf-order": unordered,
    "tf-index-gap": gap,
    "tf-index-overlap": shared_blocks,
    "tf-header": lambda into: bundle(into, {b"w": LARGE}, bytes(24), NEWER).with_name("made.index"),
    "tf-entry": lambda into: bundle(into, {b"a": b"\x0b", b"w": VALID}, b"\0").with_name("made.index"),
    "tf-shard-missing": changed("tf/v2_shards", lambda to: (to / "model.ckpt-7.data-00001-of-00004").unlink(), "model.ckpt-7.index"),
    "tf-shard-short": changed("tf/types", lambda to: cut(to / "types.data-00000-of-00001", 300), "types.index"),
    "tf-shard-long": changed("tf/types", lambda to: put(to / "types.data-00000-of-00001", 1 << 20, b"more"), "types.index"),
    "tf-overlap": lambda into: bundle(
        into, {b"a": entry(4, (4,), 0, 4, stored(bytes(4))), b"b": entry(4, (4,), 3, 4, stored(bytes(4)))}, bytes(7)
    ).with_name("made.index"),
    "tf-tensor-crc": changed("tf/types", lambda to: put(to / "types.data-00000-of-00001", 3, b"\xee"), "types.index"),
    "tf-mixed-steps": changed("tf/types", lambda to: put(to / "types.data-00000-of-00001", 0, b"\x5a" * 1024), "types.index"),
    "tf-unmerged": corpus("tf/unmerged"),
    "tf-part-missing": changed("tf/unmerged", lambda to: (to / "parts_temp" / "part-00001-of-00003.index").unlink()),
}  # fmt: skip
OTHERWISE = {
    "zip-beyond-end": "zip-cut",
    "zip-inflate": "zip-cut",
    "storage-deflated": "zip-deflated",
}  # what repair says of a fault that ordinary reading says otherwise


def target(source: Path, into: Path) -> Path:
    """A destination of the source's own format."""
    folder = into / "out"
    folder.mkdir()
    if (source.is_dir() and "tf" not in source.parts and not list(source.glob("*_temp"))) or source.name.endswith(".json"):
        return folder / "set"
    if source.is_dir() or source.suffix == ".index":
        return folder / "out.index"
    return folder / ("out.safetensors" if source.suffix == ".safetensors" else "out.pt")


def repaired(source: Path, into: Path, **options: Any) -> tuple[Repaired, Path]:
    to = target(source, into)
    done = inert.repair(source, f"{to}{os.sep}" if to.name == "set" else to, sync=False, **options)
    return done, to if to.name == "set" and len(done.written) > 1 else Path(done.written[-1])


def codes(path: Path, strict: bool = False) -> set[str]:
    with inert.open(path, strict=strict) as ckpt:
        return {note.code for note in ckpt.notes}


def test_the_table_is_whole() -> None:
    assert set(REPAIRS) == {*CASES, *OTHERWISE}
    assert set(REPAIRS) <= set(CODES)


def test_what_a_finding_promises_of_repair_is_in_the_table() -> None:
    promised = {code for code, (_, fix) in CODES.items() if "inert repair" in fix}
    assert promised - REPAIRS.keys() == {"unreadable"}  # which is any refusal to open a file


@pytest.mark.parametrize("code", CASES)
def test_a_fault_that_verify_finds_is_one_that_repair_mends(code: str, tmp_path: Path) -> None:
    """Check and fix are one: what verify finds of a file by such a code, it does not find of the repaired one."""
    source = CASES[code](tmp_path)
    _, path = repaired(source, tmp_path)
    assert not {note.code for note in inert.verify(path).findings} & REPAIRS.keys() - {"tensor-damaged", "reference-unknown"}


def test_a_member_that_python_s_zipfile_added_is_written_as_the_others_are(tmp_path: Path) -> None:
    source = tmp_path / "file.pt"
    shutil.copy(CORPUS / "torch" / "small.pt", source)
    with zipfile.ZipFile(source, "a") as there:
        there.writestr("small/extra/notes.txt", b"more")
    raw = bytearray(source.read_bytes())
    raw[raw.rindex(b"PK\1\2") + 6] = 45  # as it says of large files, in the directory alone
    source.write_bytes(raw)
    assert "zip-local-fields" in {note.code for note in inert.verify(source).findings}
    done, path = repaired(source, tmp_path)
    assert "zip-local-fields" in {note.code for note in done.findings}
    assert not [note for note in inert.verify(path).findings if note.severity != "info"]
    hashes, _ = told("torch/small.pt")
    with inert.open(path) as ckpt, zipfile.ZipFile(path) as there:
        assert {name: held.sha256() for name, held in ckpt.tensors.items()} == hashes
        assert there.read("small/extra/notes.txt") == b"more"


@pytest.mark.parametrize("name", [b"archive/a\0b", b"archive/../up", b"archive//c", b"archive/..", b"archive/C:\\x"])
def test_records_under_names_that_are_none_get_others(name: bytes, tmp_path: Path) -> None:
    source = made(zip_bytes([*zip_entries(), Entry(name, b"kept")]))(tmp_path)
    _, path = repaired(source, tmp_path)
    assert inert.verify(path).ok
    with zipfile.ZipFile(path) as there:
        assert b"kept" in [there.read(one) for one in there.namelist()]


@pytest.mark.parametrize("kept_", ["keep", "lost"])
def test_a_sparse_tensor_whose_indices_lead_out_of_it_is_in_doubt(kept_: str, tmp_path: Path) -> None:
    """Even where no checksum is wrong: torch reads and writes beyond the tensor."""
    from tests.test_verify import coo, longs

    data = {"0": longs([0, 9]), "1": bytes(8)}
    source = made(torch_zip(dumps({"s": coo([0, 9]), "w": tensor(storage("1", 2), (2,))}), data))(tmp_path)
    done, path = repaired(source, tmp_path, doubtful=kept_)
    if kept_ == "keep":
        assert (done.recovered, list(done.doubtful)) == (["s", "w"], ["s"])
    else:
        assert (done.recovered, [one.name for one in done.lost]) == (["w"], ["s"])
        assert inert.verify(path).ok


@pytest.mark.parametrize("code", CASES)
def test_a_fault_is_met_and_gone(code: str, tmp_path: Path) -> None:
    source = CASES[code](tmp_path)
    before = source.read_bytes() if source.is_file() else b""
    done, path = repaired(source, tmp_path)
    assert code in {note.code for note in done.findings}, [str(note) for note in done.findings]
    assert done.recovered
    assert code not in codes(path, strict=True)
    with inert.open(path) as ckpt:
        assert not [name for name in done.recovered if ckpt.tensors[name].fault]
        assert not [one.name for one in done.lost if one.name in ckpt.tensors]
    assert not source.is_file() or source.read_bytes() == before


def test_a_directory_that_leads_beyond_the_end(tmp_path: Path) -> None:
    raw = bytearray((CORPUS / "torch" / "small.pt").read_bytes())
    at = raw.index(b"small/data/4") - 30
    raw[at + 26 : at + 28] = b"\xff\xff"
    source = made(bytes(raw))(tmp_path)
    assert "zip-beyond-end" in codes(source) | {"zip-beyond-end"}
    done, path = repaired(source, tmp_path)
    assert done.recovered == list(SMALL)
    assert not {"zip-beyond-end", "zip-local-header"} & codes(path, strict=True)


# ------------------------------------------------------------------------------------------------------------- what is recovered

LOST = json.loads((CORPUS / "broken" / "expected.json").read_text())
GONE = {  # all of what they hold is lost: nothing is written
    "cut_after_the_pickle", "cut_half", "cut_in_the_pickle", "cut_to_nothing", "cut_to_signature", "hollow", "line_ends", "nuls", "pickle_empty",
    "pickle_text", "utf8_mangled",
}  # fmt: skip


@pytest.mark.parametrize("name", [name.removesuffix(".pt") for name in LOST if name.removesuffix(".pt") not in GONE])
def test_every_whole_tensor_of_a_damaged_file_is_recovered(name: str, tmp_path: Path) -> None:
    done, path = repaired(CORPUS / "broken" / f"{name}.pt", tmp_path)
    hashes, _ = told("torch/small.pt")
    row = LOST[f"{name}.pt"]
    assert done.more or set(done.recovered) | {one.name for one in done.lost} == set(SMALL)
    assert not row["opens"] or {one.name for one in done.lost} <= set(row["lost"])
    with inert.open(path, strict=True) as ckpt:
        right = {key for key in done.recovered if ckpt.tensors[key].sha256() == hashes[key]}
    assert set(done.recovered) - right == set(done.doubtful)


@pytest.mark.parametrize("name", sorted(GONE))
def test_nothing_is_written_where_all_is_lost(name: str, tmp_path: Path) -> None:
    with pytest.raises(InertError) as caught:
        inert.repair(CORPUS / "broken" / f"{name}.pt", tmp_path / "out.pt")
    assert str(caught.value).isprintable()
    assert not list(tmp_path.iterdir())


SOUND = (
    "torch/small.pt", "legacy/state_dict.pt", "safetensors/shapes.safetensors", "script/module.pt", "lightning/plain.ckpt", "torch/no_byteorder.pt",
)  # fmt: skip


@pytest.mark.parametrize("name", SOUND[:5])
def test_a_sound_file_is_copied(name: str, tmp_path: Path) -> None:
    source = CORPUS / name
    done = inert.repair(source, tmp_path / f"out{source.suffix}", sync=False)
    assert done.whole
    assert (tmp_path / f"out{source.suffix}").read_bytes() == source.read_bytes()


def short(into: Path) -> Path:
    """small.pt without its last three storages."""
    raw = (CORPUS / "torch" / "small.pt").read_bytes()
    path = into / "short.pt"
    path.write_bytes(raw[: raw.index(b"small/data/2") + 20])
    return path


def test_losses_have_name_type_shape_and_bytes(tmp_path: Path) -> None:
    done, _ = repaired(short(tmp_path), tmp_path)
    _, shapes = told("torch/small.pt")
    assert done.recovered == ["w_f32", "b_f16"]
    assert {one.name for one in done.lost} == {"e_bf16", "i_i32", "s_f32"}
    for one in done.lost:
        assert (one.dtype, one.shape) == shapes[one.name]
        assert one.nbytes == np.prod(one.shape, dtype=int) * {"bfloat16": 2}.get(str(one.dtype), 4)
        assert "not in the file" in one.why
    assert not done.whole


@pytest.mark.parametrize("fill", ["zeros", "nan"])
@pytest.mark.parametrize("to", ["out.pt", "out.safetensors", "out.index"])
def test_holes_are_filled_where_that_is_asked_for(fill: str, to: str, tmp_path: Path) -> None:
    done = inert.repair(short(tmp_path), tmp_path / to, fill=fill, sync=False)
    assert done.filled == ["e_bf16", "i_i32", "s_f32"]
    assert {one.name for one in done.lost} == set(done.filled)
    assert "repair-filled" in {note.code for note in done.findings}
    hashes, shapes = told("torch/small.pt")
    with inert.open(tmp_path / to, strict=True) as ckpt:
        for name in done.filled:
            assert ckpt.tensors[name].shape == shapes[name][1]
            values = ckpt.tensors[name].numpy().astype("float64")
            assert bool(np.isnan(values).all() if fill == "nan" and name != "i_i32" else (values == 0).all())
        assert ckpt.tensors["w_f32"].sha256() == hashes["w_f32"]
        if to == "out.index":
            assert "repair-untold" in {note.code for note in done.findings}
        else:
            assert ckpt.metadata["filled_by_inert_repair"] == f"{fill}: e_bf16, i_i32, s_f32"


def test_a_legacy_file_says_what_was_filled_too(tmp_path: Path) -> None:
    raw = (CORPUS / "legacy" / "state_dict.pt").read_bytes()
    source = made(raw[:-3])(tmp_path)
    done = inert.repair(source, tmp_path / "out.pt", fill="zeros", sync=False)
    with inert.open(tmp_path / "out.pt", strict=True) as ckpt:
        assert ckpt.format == "torch-legacy"
        assert ckpt.metadata["filled_by_inert_repair"] == f"zeros: {', '.join(done.filled)}"


def test_a_hole_in_a_list_keeps_its_place(tmp_path: Path) -> None:
    root = {"list": [tensor(storage("0", 2), (2,)), tensor(storage("1", 2), (2,))], "pair": (tensor(storage("1", 2), (2,)), 3)}
    source = made(torch_zip(dumps(root), {"0": struct.pack("<2f", 1, 2)}))(tmp_path)
    done = inert.repair(source, tmp_path / "out.pt", sync=False)
    assert {one.name for one in done.lost} == {"list.1", "pair.0"}
    assert "repair-place" in {note.code for note in done.findings}
    with inert.open(tmp_path / "out.pt", strict=True) as ckpt:
        assert ckpt.root["list"][1] is None
        assert ckpt.root["pair"] == (None, 3)
        assert ckpt.tensors["list.0"].numpy().tolist() == [1, 2]


def dropped(name: str, record: str, into: Path) -> Path:
    """An archive of the corpus without one of its records."""
    path = into / "dropped.pt"
    with zipfile.ZipFile(CORPUS / name) as there:
        names = [one for one in there.namelist() if not one.endswith(record)]
        assert len(names) < len(there.namelist())
        path.write_bytes(zip_bytes([Entry(one, there.read(one)) for one in names]))
    return path


@pytest.mark.parametrize("name", ["torch/nested.pt", "torch/sparse.pt", "torch/quantized.pt", "torch/storages.pt", "torch/subclasses.pt"])
def test_what_is_made_of_several_tensors_is_lost_with_any_of_them(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(CORPUS / name) as there:
        records = [info for info in there.infolist() if "/data/" in info.filename]
    for number, record in enumerate(records[:16]):
        into = tmp_path / str(number)
        into.mkdir()
        source = dropped(name, record.filename.partition("/")[2], into)
        try:
            done = inert.repair(source, into / "out.pt", sync=False)
        except FormatError as error:
            assert "nothing can be recovered" in str(error)
            continue
        assert bool(done.lost) == bool(record.file_size), record.filename
        with inert.open(into / "out.pt", strict=True) as ckpt:
            assert set(done.recovered) <= set(ckpt.tensors)


def test_attributes_that_are_lost_leave_their_tensor(tmp_path: Path) -> None:
    from tests.makers import Made

    inner = tensor(storage("1", 2), (2,))
    held = Made(
        Name("torch._tensor", "_rebuild_from_type_v2"),
        (Name("torch._utils", "_rebuild_tensor_v2"), Name("torch", "Tensor"), tensor(storage("0", 2), (2,)).args, {"extra": inner}),
    )
    source = made(torch_zip(dumps({"w": held}), {"0": struct.pack("<2f", 1, 2)}))(tmp_path)
    done = inert.repair(source, tmp_path / "out.pt", sync=False)
    assert done.recovered == ["w"]
    assert not done.whole
    assert "repair-attributes" in {note.code for note in done.findings}
    with inert.open(tmp_path / "out.pt", strict=True) as ckpt:
        assert ckpt.tensors["w"].numpy().tolist() == [1, 2]


# ---------------------------------------------------------------------------------------------------------------------- options


def test_doubtful_tensors_can_be_left_out(tmp_path: Path) -> None:
    done = inert.repair(CORPUS / "broken" / "bit_flip.pt", tmp_path / "kept.pt", sync=False)
    assert len(done.doubtful) == 1
    assert not done.whole
    without = inert.repair(CORPUS / "broken" / "bit_flip.pt", tmp_path / "out.pt", doubtful="lost", sync=False)
    assert [one.name for one in without.lost] == list(done.doubtful)
    assert "checksum" in without.lost[0].why


def test_storages_without_names_are_written_as_bytes(tmp_path: Path) -> None:
    source = dropped("torch/small.pt", "data.pkl", tmp_path)
    with pytest.raises(FormatError, match=r"data\.pkl, which says what everything is, is not in the file.*--raw"):
        inert.repair(source, tmp_path / "out.pt")
    done = inert.repair(source, tmp_path / "out.pt", raw=True, sync=False)
    assert "repair-raw" in {note.code for note in done.findings}
    assert done.more
    with inert.open(tmp_path / "out.pt", strict=True) as ckpt, zipfile.ZipFile(CORPUS / "torch" / "small.pt") as there:
        for name, one in ckpt.tensors.items():
            assert one.numpy().tobytes() == there.read(f"small/{name}")


def test_a_source_is_never_its_own_destination(tmp_path: Path) -> None:
    path = short(tmp_path)
    held, link = path.read_bytes(), tmp_path / "link.pt"
    link.symlink_to(path)
    for place in (path, link):
        with pytest.raises(UnsupportedError, match="overwrite the checkpoint itself"):
            inert.repair(path, place, sync=False)
    assert path.read_bytes() == held


@pytest.mark.parametrize("place", ["sharded/bin", "sharded/safetensors", "tf/shards"])
def test_nor_is_any_file_of_a_set(place: str, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(CORPUS / place, tmp_path / "set"))
    held = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    source = next(iter(folder.glob("*.index"))).with_suffix("") if place.startswith("tf") else folder
    with pytest.raises(UnsupportedError, match="overwrite the checkpoint itself"):
        inert.repair(source, source, sync=False)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == held


def test_another_format_by_suffix_or_by_name(tmp_path: Path) -> None:
    source = CORPUS / "broken" / "cut_the_end_record.pt"
    assert inert.repair(source, tmp_path / "a.safetensors", sync=False).format == "safetensors"
    assert inert.repair(source, tmp_path / "a.pt", to="torch-legacy", sync=False).format == "torch-legacy"
    hashes, _ = told("torch/small.pt")
    for name in ("a.safetensors", "a.pt"):
        with inert.open(tmp_path / name, strict=True) as ckpt:
            assert {key: one.sha256() for key, one in ckpt.tensors.items()} == {key: hashes[key] for key in SMALL}


@pytest.mark.parametrize(
    ("options", "error"),
    [({"fill": "ones"}, UnsupportedError), ({"doubtful": "no"}, UnsupportedError), ({"byteorder": "odd"}, ValueError), ({"to": "zip"}, UnsupportedError)],
)  # fmt: skip
def test_options_that_are_none(options: dict[str, Any], error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        inert.repair(CORPUS / "torch" / "small.pt", tmp_path / "out.pt", **options)
    assert not list(tmp_path.iterdir())


def test_an_archive_that_another_library_wrote_gets_its_alignment_back(tmp_path: Path) -> None:
    source = tmp_path / "again.pt"
    with zipfile.ZipFile(CORPUS / "torch" / "small.pt") as there, zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as out:
        for name in there.namelist():
            out.writestr(name, there.read(name))
        out.writestr("notes/readme.txt", "appended by somebody")
    done, path = repaired(source, tmp_path)
    assert done.whole
    with inert.open(path, strict=True) as ckpt:
        assert all((part.offset or 0) % 64 == 0 and part.compressed is None for part in ckpt.parts.values())
        hashes, _ = told("torch/small.pt")
        assert {key: one.sha256() for key, one in ckpt.tensors.items()} == {key: hashes[key] for key in SMALL}
        assert not [name for name in ckpt.parts if "readme" in name]


def test_a_program_that_is_not_whole_gives_its_tensors(tmp_path: Path) -> None:
    raw = (CORPUS / "script" / "module.pt").read_bytes()
    at = raw.index(b"PK\1\2") - 60
    source = made(raw[:at])(tmp_path)
    done, path = repaired(source, tmp_path)
    assert "repair-program" in {note.code for note in done.findings}
    assert done.format == "torch-zip"
    hashes, _ = told("script/module.pt")
    with inert.open(path, strict=True) as ckpt:
        assert {key: ckpt.tensors[key].sha256() for key in done.recovered} == {key: hashes[key] for key in done.recovered}


def test_a_record_whose_name_is_no_text_is_kept_under_another(tmp_path: Path) -> None:
    source = made(SMALL_FILE[: SMALL_FILE.rindex(b"PK\6\6")].replace(b"small/version", b"small/ve\xa7sion"))(tmp_path)
    done, path = repaired(source, tmp_path)
    assert done.recovered == list(SMALL)
    assert b"small/ve%A7sion" in path.read_bytes()
    assert "zip-text" not in [note.code for note in inert.verify(path).findings]


# ------------------------------------------------------------------------------------------------------------ sets and stale indexes


def stale(into: Path, change: Callable[[dict[str, str], Path], Any]) -> Path:
    """The set of the corpus with another map in its index."""
    folder = Path(shutil.copytree(CORPUS / "sharded" / "safetensors", into / "set"))
    path = folder / "model.safetensors.index.json"
    facts = json.loads(path.read_text())
    change(facts["weight_map"], folder)
    path.write_text(json.dumps(facts))
    return folder


def forget(where: dict[str, str], folder: Path) -> None:
    """The index knows nothing of the second shard."""
    for name in [name for name, shard in where.items() if shard == "model-00002-of-00002.safetensors"]:
        del where[name]


def older(where: dict[str, str], folder: Path) -> None:
    """The shards are of a later save, in other pieces: the index names files that are gone."""
    for number in (1, 2):
        (folder / f"model-0000{number}-of-00002.safetensors").rename(folder / f"model-0000{number}-of-00003.safetensors")
    raw = b'{"more":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}'
    (folder / "model-00003-of-00003.safetensors").write_bytes(len(raw).to_bytes(8, "little") + raw + b"abc")


def misplace(where: dict[str, str], folder: Path) -> None:
    """Each tensor is said to lie in the other shard."""
    files = sorted(set(where.values()))
    where.update({name: files[1 - files.index(shard)] for name, shard in where.items()})


@pytest.mark.parametrize("change", [forget, older, misplace])
@pytest.mark.parametrize("by", ["", "model.safetensors.index.json"])
def test_an_index_of_another_save_loses_nothing(change: Callable[..., Any], by: str, tmp_path: Path) -> None:
    hashes: dict[str, str] = json.loads((CORPUS / "sharded" / "expected.json").read_text())["safetensors"]["tensors"]
    folder = stale(tmp_path, change)
    source = folder / by if by else folder
    done, path = repaired(source, tmp_path)
    assert done.whole
    with inert.open(path, strict=True) as ckpt:
        there = {name: held.sha256() for name, held in ckpt.tensors.items()}
        assert {name: held for name, held in there.items() if name != "more"} == hashes
        assert ("more" in there) == (change is older)
        if change is older:
            assert bytes(ckpt.tensors["more"].numpy()) == b"abc"
    found = inert.verify(source).findings
    if change is forget:
        assert ("shard-unnamed", "model-00002-of-00002.safetensors") in {(note.code, note.where.part) for note in found}
    elif change is older:  # none of those that it names is there
        assert "inert repair" in found[0].fix


def test_a_shard_too_many_is_told_and_left_out(tmp_path: Path) -> None:
    """A whole set, and a file of another beside it that says the same."""
    folder = stale(
        tmp_path, lambda where, to: shutil.copy(to / "model-00001-of-00002.safetensors", to / "model-00001-of-00003.safetensors")
    )
    assert [(note.code, note.where.part) for note in inert.verify(folder).findings] == [
        ("shard-unnamed", "model-00001-of-00003.safetensors")
    ]
    done, path = repaired(folder, tmp_path)
    assert done.whole
    assert not inert.verify(path).findings


def test_shards_of_other_sets_are_none_of_this_one(tmp_path: Path) -> None:
    folder = stale(tmp_path, lambda where, to: shutil.copy(to / "model-00001-of-00002.safetensors", to / "mtp-00001-of-00001.safetensors"))
    assert not inert.verify(folder).findings


@pytest.mark.parametrize("fill", ["zeros", "nan"])
def test_of_a_variable_saved_in_slices_those_that_are_lost_are_filled(fill: str, tmp_path: Path) -> None:
    data = struct.pack("<3f", 1, 2, 3)
    items = {b"\0m\0\1\1\1" + bytes((0x80 + i, 0x81)): entry(1, (1,), 4 * i, 4, stored(data[4 * i :][:4])) for i in range(3)}
    slices = b"".join(field(7, field(1, (field(1, i) if i else b"") + field(2, 1))) for i in range(3))
    bundle(tmp_path, {**items, b"m": field(1, 1) + field(2, shape(3)) + slices, b"w": entry(1, (1,), 0, 4, stored(data[:4]))}, data[:8])
    done, path = repaired(tmp_path / "made.index", tmp_path, fill=fill)
    assert (done.recovered, [one.name for one in done.lost], done.filled) == (["w"], ["m"], ["m"])
    assert [note.message.partition(" were")[0] for note in done.findings if note.code == "repair-filled" and note.where.part == "m"] == [
        "1 of its 3 slices"
    ]
    with inert.open(path, strict=True) as ckpt:
        there = ckpt.tensors["m"].numpy().tolist()
        assert there[:2] == [1, 2]
        assert there[2] == 0 if fill == "zeros" else np.isnan(there[2])
    assert inert.repair(tmp_path / "made.index", tmp_path / "m.safetensors", fill=fill, sync=False).filled == ["m"]
    with inert.open(tmp_path / "m.safetensors", strict=True) as ckpt:
        assert ckpt.tensors["m"].numpy().tolist()[:2] == [1, 2]


def test_of_lost_texts_nobody_says_how_many_bytes_they_were(tmp_path: Path) -> None:
    items = {b"s": entry(7, (2,), 4, 10), b"w": entry(4, (4,), 0, 4, stored(b"abcd"))}
    done, _ = repaired(bundle(tmp_path, items, b"abcd").with_name("made.index"), tmp_path, fill="zeros")
    assert (done.recovered, done.filled) == (["w"], [])
    assert [(one.name, one.dtype, one.shape, one.nbytes) for one in done.lost] == [("s", "string", (2,), None)]


def test_a_cut_is_told_with_its_place_and_the_tensors_beyond_it(tmp_path: Path) -> None:
    (found,) = [one for one in inert.verify(CORPUS / "safetensors" / "broken" / "cut.safetensors").findings if one.severity == "error"]
    assert (found.code, found.tensors) == ("safetensors-short", ("b",))
    folder = Path(shutil.copytree(CORPUS / "tf" / "types", tmp_path / "set"))
    cut(folder / "types.data-00000-of-00001", 300)
    (short_,) = [one for one in inert.verify(folder / "types.index").findings if one.code == "tf-shard-short"]
    assert short_.where.offset == 300
