"""inert.repair of files with a wrong byte somewhere: legacy, tar, bare pickles, TensorFlow; whatever it is, what is written can be read."""

from __future__ import annotations

import json
import random
import shutil
import struct
from pathlib import Path

import pytest

import inert
from inert.errors import FormatError, InertError, LimitError
from inert.torch.legacy import MAGIC, PROTOCOL
from tests.cuts import CORPUS, told
from tests.makers import Entry, Pid, dumps, storage, tensor, torch_entries, torch_zip, zip_bytes
from tests.tars import sample

LEGACY = (CORPUS / "legacy" / "state_dict.pt").read_bytes()


def written(raw: bytes, into: Path, suffix: str = ".pt") -> inert.Checkpoint:
    """What repair writes of these bytes, opened strictly."""
    (into / "damaged").write_bytes(raw)
    inert.repair(into / "damaged", into / f"out{suffix}", sync=False)
    return inert.open(into / f"out{suffix}", strict=True)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "name", ["legacy/state_dict.pt", "old/tar.pth", "old/numpy.pkl", "safetensors/shapes.safetensors", "torch/sharing.pt"]
)
def test_any_wrong_byte_gives_a_sound_file_or_a_refusal(name: str, tmp_path: Path) -> None:
    whole = (CORPUS / name).read_bytes()
    draw = random.Random(name)
    made = 0
    for at in draw.sample(range(len(whole)), min(len(whole), 90)):
        raw = bytearray(whole)
        raw[at] ^= 1 << draw.randrange(8)
        try:
            with written(bytes(raw), tmp_path) as ckpt:
                made += bool(ckpt.tensors)
        except InertError as error:
            assert str(error).isprintable()
    assert made > 40


def test_a_legacy_file_with_damaged_system_information_loses_nothing(tmp_path: Path) -> None:
    at = LEGACY.index(b"protocol_version") - 5
    with written(LEGACY[:at] + b"\xff" + LEGACY[at + 1 :], tmp_path) as ckpt:
        hashes, _ = told("legacy/state_dict.pt")
        assert {key: one.sha256() for key, one in ckpt.tensors.items()} == hashes


def test_a_legacy_file_with_damaged_keys_loses_nothing(tmp_path: Path) -> None:
    """Torch sorts them, and the storages' counts say where they begin."""
    with inert.open(CORPUS / "legacy" / "state_dict.pt") as ckpt:
        start = ckpt.parts["storage_keys"].offset or 0
    with written(LEGACY[: start + 2] + b"\xff" + LEGACY[start + 3 :], tmp_path) as ckpt:
        hashes, _ = told("legacy/state_dict.pt")
        assert {key: one.sha256() for key, one in ckpt.tensors.items()} == hashes


def test_a_legacy_object_that_breaks_gives_what_it_had_said(tmp_path: Path) -> None:
    with inert.open(CORPUS / "legacy" / "state_dict.pt") as ckpt:
        part = ckpt.parts["object"]
    at = (part.offset or 0) + part.size - 30
    path = tmp_path / "damaged"
    path.write_bytes(LEGACY[:at] + b"\xff" + LEGACY[at + 1 :])
    done = inert.repair(path, tmp_path / "out.pt", sync=False)
    hashes, _ = told("legacy/state_dict.pt")
    assert done.more
    assert done.recovered
    with inert.open(tmp_path / "out.pt", strict=True) as ckpt:
        assert all(ckpt.tensors[name].sha256() == hashes[name] for name in done.recovered if name in hashes)


def test_a_tar_whose_pickle_is_gone_gives_its_tensors_without_names(tmp_path: Path) -> None:
    raw = sample()
    at = raw.index(b"pickle\0")
    (tmp_path / "damaged").write_bytes(raw[:at] + b"PICKLE" + raw[at + 6 :])
    done = inert.repair(tmp_path / "damaged", tmp_path / "out.pt", sync=False)
    assert done.more
    assert len(done.recovered) == 3
    assert all("unnamed tensor" in name for name in done.recovered)


def test_a_tar_whose_first_header_is_damaged_is_searched(tmp_path: Path) -> None:
    raw = bytearray(sample())
    raw[150] ^= 1  # its checksum
    with written(bytes(raw), tmp_path) as ckpt, inert.open(tmp_path / "out.pt") as again:
        assert len(ckpt.tensors) == len(again.tensors) == 4


def test_a_tar_without_its_storages_is_refused(tmp_path: Path) -> None:
    raw = sample()
    (tmp_path / "damaged").write_bytes(raw[: raw.index(b"storages\0")])
    with pytest.raises(FormatError, match="nothing can be recovered: storages of this archive"):
        inert.repair(tmp_path / "damaged", tmp_path / "out.pt")


def test_a_bare_pickle_that_is_cut_gives_the_arrays_before_the_cut(tmp_path: Path) -> None:
    whole = (CORPUS / "old" / "numpy.pkl").read_bytes()
    with inert.open(CORPUS / "old" / "numpy.pkl") as ckpt:
        hashes = {key: one.sha256() for key, one in ckpt.tensors.items()}
    (tmp_path / "damaged").write_bytes(whole[:-40])
    done = inert.repair(tmp_path / "damaged", tmp_path / "out.npz", sync=False)
    assert done.more
    assert 0 < len(done.recovered) <= len(hashes)
    with inert.open(CORPUS / "old" / "numpy.pkl") as ckpt:
        assert all(ckpt.tensors[name].sha256() == hashes[name] for name in done.recovered if name in hashes)


def test_the_first_of_two_values_under_one_key_is_written_no_more(tmp_path: Path) -> None:
    pickle = (
        b"\x80\2}(X\1\0\0\0w"
        + dumps(tensor(Pid(("storage", 1)), (2,)))[2:-1]
        + b"X\1\0\0\0w"
        + dumps(tensor(storage("0", 2), (2,)))[2:-1]
        + b"u."
    )
    with written(torch_zip(pickle, {"0": bytes(8)}), tmp_path) as ckpt:
        assert list(ckpt.tensors) == ["w"]


def test_a_key_that_is_a_persistent_id_is_left_out(tmp_path: Path) -> None:
    pickle = b"\x80\2}(X\1\0\0\0w" + dumps(tensor(storage("0", 2), (2,)))[2:-1] + b"X\1\0\0\0vQK\1u."
    with written(torch_zip(pickle, {"0": bytes(8)}), tmp_path) as ckpt:
        assert list(ckpt.root) == ["w"]


@pytest.mark.parametrize("way", ["folder", "prefix", "index", "data"])
def test_an_index_without_footer_is_found_by_any_name(way: str, tmp_path: Path) -> None:
    folder = shutil.copytree(CORPUS / "tf" / "types", tmp_path / "run")
    index = folder / "types.index"
    index.write_bytes(index.read_bytes()[:-50])
    name = {"folder": folder, "prefix": folder / "types", "index": index, "data": folder / "types.data-00000-of-00001"}[way]
    done = inert.repair(name, tmp_path / "out.index", sync=False)
    hashes, _ = told("tf/types")
    assert set(done.recovered) == set(hashes)
    with inert.open(tmp_path / "out", strict=True) as ckpt:
        assert {key: one.sha256() for key, one in ckpt.tensors.items()} == hashes


def test_an_index_of_nothing_is_refused(tmp_path: Path) -> None:
    folder = shutil.copytree(CORPUS / "tf" / "types", tmp_path / "run")
    (folder / "types.index").write_bytes(b"\xff" * 200)
    with pytest.raises(InertError):
        inert.repair(folder, tmp_path / "out.index")


def test_a_set_whose_index_is_no_json_is_made_again(tmp_path: Path) -> None:
    folder = shutil.copytree(CORPUS / "sharded" / "bin", tmp_path / "run")
    index = folder / "pytorch_model.bin.index.json"
    index.write_text(index.read_text()[:-20])
    done = inert.repair(index, f"{tmp_path / 'out'}/", sync=False)
    hashes, _ = told("sharded/bin")
    assert set(done.recovered) == set(hashes)
    with inert.open(tmp_path / "out", strict=True) as ckpt:
        assert {key: one.sha256() for key, one in ckpt.tensors.items()} == hashes
    assert json.loads((tmp_path / "out" / "pytorch_model.bin.index.json").read_text())["weight_map"]


def test_a_set_without_numbers_in_its_names_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for number, file in enumerate(sorted((CORPUS / "sharded" / "safetensors").glob("*-of-*"))):
        shutil.copy(file, folder / f"part{number}.safetensors")
    (folder / "model.safetensors.index.json").write_text("{")
    done = inert.repair(folder / "model.safetensors.index.json", f"{tmp_path / 'out'}/", sync=False)
    hashes, _ = told("sharded/safetensors")
    assert set(done.recovered) == set(hashes)
    (folder / "part0.safetensors").unlink()
    (folder / "part1.safetensors").unlink()
    with pytest.raises(FormatError, match="there are no shards"):
        inert.repair(folder / "model.safetensors.index.json", f"{tmp_path / 'other'}/", sync=False)


def test_a_frame_with_a_wrong_length_costs_nothing(tmp_path: Path) -> None:
    raw = (CORPUS / "torch" / "state_dict.p4.pt").read_bytes()
    at = raw.index(b"\x80\4\x95") + 8
    with written(raw[:at] + b"\x7f" + raw[at + 1 :], tmp_path) as ckpt:
        hashes, _ = told("torch/state_dict.p4.pt")
        assert {key: one.sha256() for key, one in ckpt.tensors.items()} == hashes


def test_a_pickle_that_grows_beyond_bounds_is_refused(tmp_path: Path) -> None:
    pickle = b"\x80\2]" + b"(" + b"K\1" * (9 << 20) + b"e."
    (tmp_path / "bomb.pt").write_bytes(zip_bytes([Entry("a/data.pkl", pickle, method=8), Entry("a/version", b"3\n")]))
    with pytest.raises(LimitError, match=r"would grow to 18,874,37\d, more than"):
        inert.repair(tmp_path / "bomb.pt", tmp_path / "out.pt")


@pytest.mark.no_cover
@pytest.mark.parametrize("name", ["deep_tuple.pt", "marks.pt", "rings.pt", "stride_zero.pt", "lie_huge_size.pt", "lie_negative_storage.pt"])
def test_hostile_files_end_in_an_answer(name: str, tmp_path: Path) -> None:
    try:
        done = inert.repair(CORPUS / "hostile" / name, tmp_path / "out.pt", fill="nan", sync=False)
    except InertError as error:
        assert str(error).isprintable()
        assert not list(tmp_path.iterdir())
    else:
        with inert.open(tmp_path / "out.pt", strict=True) as ckpt:
            assert set(done.recovered) <= set(ckpt.tensors)


def test_a_cut_storage_that_no_tensor_uses_is_not_written_as_if_it_were_whole(tmp_path: Path) -> None:
    """The object's pickle ends early, so that nothing but a name is saved."""
    with inert.open(CORPUS / "legacy" / "state_dict.pt") as ckpt:
        start = ckpt.parts["object"].offset or 0
    at = LEGACY.index(b"_rebuild_tensor_v2\n", start) + len(b"_rebuild_tensor_v2\n")
    with written(LEGACY[:at] + b"." + LEGACY[at + 1 : -3], tmp_path) as ckpt:
        assert not ckpt.tensors


def put_in(raw: bytes, at: int, count: int) -> bytes:
    """With bytes put in before a place, or (less than 0) taken out behind it."""
    return raw[:at] + b"\7" * count + raw[at:] if count > 0 else raw[:at] + raw[at - count :]


@pytest.mark.parametrize("directory", ["there", "gone"])
@pytest.mark.parametrize("count", [1, 4, 64, -1, -4])
def test_a_record_that_bytes_were_put_into_is_in_doubt(count: int, directory: str, tmp_path: Path) -> None:
    """Only the tensor over it: the directory, even though its offsets are wrong, or the descriptor behind the record tells."""
    tree = {name: tensor(storage(str(key), 12), (12,)) for key, name in enumerate("abc")}
    data = {str(key): struct.pack("<12f", *range(100 * key, 100 * key + 12)) for key in range(3)}
    whole = zip_bytes(torch_entries(dumps(tree), data))
    raw = put_in(whole, whole.index(data["1"]) + 13, count)
    if directory == "gone":
        raw = raw[: raw.index(b"PK\1\2")]
    path = tmp_path / "bad.pt"
    path.write_bytes(raw)
    done = inert.repair(path, tmp_path / "good.pt")
    assert (done.recovered, list(done.doubtful)) == (["a", "b", "c"], ["b"])
    with inert.open(tmp_path / "good.pt") as found:
        assert [bytes(found.tensors[name].numpy()) for name in "ac"] == [data["0"], data["2"]]
    assert inert.repair(path, tmp_path / "less.pt", doubtful="lost").recovered == ["a", "c"]
    if directory == "there":
        report = inert.verify(path)
        assert {name for one in report.findings if one.severity == "error" for name in one.tensors} == {"b"}


@pytest.mark.parametrize("count", [1, 4, 16, -1, -4])
@pytest.mark.parametrize("hit", [0, 1, 2])
def test_a_storage_of_the_old_layout_that_bytes_were_put_into_is_in_doubt(hit: int, count: int, tmp_path: Path) -> None:
    """The counts behind it tell where the others stand now; the last one is told by what is left at the end."""
    blobs = [struct.pack("<q4f", 4, *range(10 * key, 10 * key + 4)) for key in range(3)]
    tree = {name: tensor(legacy_storage(str(key), 4), (4,)) for key, name in enumerate("abc")}
    head = b"".join(map(dumps, (MAGIC, PROTOCOL, {}, tree, ["0", "1", "2"])))
    path = tmp_path / "bad.pt"
    path.write_bytes(put_in(head + b"".join(blobs), len(head) + 24 * hit + 14, count))
    done = inert.repair(path, tmp_path / "good.pt")
    name = "abc"[hit]
    if hit == 2 and count < 0:  # no more than cut short
        assert ([one.name for one in done.lost], done.doubtful) == ([name], {})
    else:
        assert (done.recovered, list(done.doubtful)) == (["a", "b", "c"], [name])
    with inert.open(tmp_path / "good.pt") as found:
        for key, other in enumerate("abc"):
            if other != name:
                assert bytes(found.tensors[other].numpy()) == blobs[key][8:]


def test_a_cut_of_the_old_layout_puts_nothing_in_doubt(tmp_path: Path) -> None:
    blobs = [struct.pack("<q4f", 4, *range(10 * key, 10 * key + 4)) for key in range(3)]
    tree = {name: tensor(legacy_storage(str(key), 4), (4,)) for key, name in enumerate("abc")}
    head = b"".join(map(dumps, (MAGIC, PROTOCOL, {}, tree, ["0", "1", "2"])))
    path = tmp_path / "bad.pt"
    for size in (24, 28, 40, 48, 52, 71):
        path.write_bytes((head + b"".join(blobs))[: len(head) + size])
        done = inert.repair(path, tmp_path / "good.pt")
        assert (done.recovered, done.doubtful) == (["a", "b", "c"][: size // 24], {})


def legacy_storage(key: str, count: int) -> Pid:
    made = storage(key, count)
    made.value += (None,)
    return made


def test_a_list_s_item_takes_the_state_that_was_left_on_the_stack(tmp_path: Path) -> None:
    """Whatever stands in the list, the state goes to the object before it."""
    for front in (b"", b"K\1", b"K\1K\2K\3"):
        data = b"\x80\2csome\nList\n)R(" + front + b"ccollections\nOrderedDict\n)R}\xff"
        path = tmp_path / "bad.pt"
        path.write_bytes(torch_zip(data))
        with pytest.raises(InertError, match="nothing can be recovered"):
            inert.repair(path, tmp_path / "out.pt")


def test_a_storage_of_no_bytes_that_the_list_of_keys_does_not_name(tmp_path: Path) -> None:
    """Nothing of its tensor is missing, but torch looks for it: the file is written anew, with a right list."""
    tree = {"e": tensor(legacy_storage("7", 0), (0,)), "w": tensor(legacy_storage("0", 2), (2,))}
    path = tmp_path / "bad.pt"
    path.write_bytes(b"".join(map(dumps, (MAGIC, PROTOCOL, {}, tree, ["0"]))) + struct.pack("<q2f", 2, 1, 2) + b"junk")
    done = inert.repair(path, tmp_path / "good.pt")
    assert done.recovered == ["e", "w"]
    with inert.open(tmp_path / "good.pt", strict=True) as found:
        assert found.tensors["e"].numpy().shape == (0,)
        assert found.tensors["w"].numpy().tolist() == [1, 2]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_member_without_either_of_its_signatures_is_found_where_the_one_before_it_ends(number: int, tmp_path: Path) -> None:
    tree = {name: tensor(storage(str(key), 12), (12,)) for key, name in enumerate("abc")}
    data = {str(key): struct.pack("<12f", *range(100 * key, 100 * key + 12)) for key in range(3)}
    raw = bytearray(zip_bytes(torch_entries(dumps(tree), data)))
    name = b"archive/data/%d" % number
    for at in (raw.index(name) - 30, raw.rindex(name) - 46):
        assert raw[at : at + 2] == b"PK"
        raw[at : at + 4] = b"\xff\0\xff\0"
    path = tmp_path / "bad.pt"
    path.write_bytes(raw)
    done = inert.repair(path, tmp_path / "good.pt")
    assert (done.recovered, done.doubtful, done.lost) == (["a", "b", "c"], {}, [])
    with inert.open(tmp_path / "good.pt", strict=True) as found:
        assert [bytes(found.tensors[one].numpy()) for one in "abc"] == list(data.values())


def test_a_program_s_record_that_is_longer_than_its_pickle_says_is_in_doubt(tmp_path: Path) -> None:
    """Storages come before the pickle of a program: with neither directory nor descriptor, a record ends where the next one begins."""
    raw = bytearray((CORPUS / "script" / "module.pt").read_bytes())
    with inert.open(CORPUS / "script" / "module.pt") as whole:
        part = whole.parts["module/data/0"]
        hashes = {name: held.sha256() for name, held in whole.tensors.items()}
    assert part.offset is not None
    end = part.offset + part.size
    assert raw[end : end + 4] == b"PK\7\x08"
    raw[end - 4 : end + 4] = bytes(8)
    path = tmp_path / "bad.pt"
    path.write_bytes(raw[: raw.index(b"PK\1\2")])
    done = inert.repair(path, tmp_path / "good.pt")
    assert list(done.doubtful) == ["view"]
    with inert.open(tmp_path / "good.pt") as found:
        assert {name for name in done.recovered if found.tensors[name].sha256() != hashes[name]} == {"view"}


def test_a_record_whose_end_was_taken_out_with_the_directory_gone_is_in_doubt(tmp_path: Path) -> None:
    """Its descriptor stands among its bytes then, and the next member right behind them."""
    tree = {name: tensor(storage(str(key), 12), (12,)) for key, name in enumerate("ab")}
    data = {str(key): struct.pack("<12f", *range(100 * key, 100 * key + 12)) for key in range(2)}
    raw = zip_bytes(torch_entries(dumps(tree), data))
    path = tmp_path / "bad.pt"
    path.write_bytes(put_in(raw[: raw.index(b"PK\1\2")], raw.index(data["0"]) + 20, -16))
    done = inert.repair(path, tmp_path / "good.pt")
    assert (done.recovered, list(done.doubtful)) == (["a", "b"], ["a"])


def test_a_call_that_no_unpickler_can_make_is_no_full_recovery(tmp_path: Path) -> None:
    path = tmp_path / "bad.pt"
    odd = b"\x80\2ccollections\nOrderedDict\nK\1R."
    path.write_bytes(torch_zip(odd))
    assert not inert.repair(path, tmp_path / "good.pt").whole
