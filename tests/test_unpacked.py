"""Archives that somebody has unpacked: the folder says what the archive says, and no other folder is taken for one."""

from __future__ import annotations

import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.cli import main
from inert.containers import unpacked as container
from inert.errors import FormatError, InertError, LimitError, UnidentifiedError, UnsupportedError
from inert.limits import Limits
from tests.conformance import differences, look_over
from tests.makers import dumps, storage, tensor
from tests.test_corpus import load, subject

HERE = Path(__file__).parent / "corpus"
SAVED = sorted(path for path in (HERE / "torch").glob("*.expected.json") if not path.name.startswith("no_crc"))  # unzip refuses that
SCRIPTS = [HERE / "script" / name for name in ("module.pt", "frozen.pt", "kinds.pt", "lite.ptl")]
PICKLE = dumps({"w": tensor(storage("0", 6), (2, 3)), "epoch": 3})
W = struct.pack("<6f", *range(6))


def unpack(archive: Path, home: Path) -> Path:
    """The folder in ``home`` that unzipping gives."""
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(home)
    (folder,) = home.iterdir()
    return folder


def write(home: Path, **records: bytes) -> Path:
    """``data__0`` is data/0."""
    for name, data in {"data.pkl": PICKLE, "data__0": W, **records}.items():
        path = home / name.replace("__", "/").replace("data_pkl", "data.pkl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return home


@pytest.mark.parametrize("path", SAVED, ids=lambda path: subject(path).name)
def test_it_says_what_the_program_read_from_the_archive(path: Path, tmp_path: Path) -> None:
    archive = subject(path)
    folder = unpack(archive, tmp_path / "out")
    expected = load(path)
    for way in (folder, folder / "data.pkl", tmp_path / "out"):
        with inert.open(way) as checkpoint, inert.open(archive) as packed:
            assert checkpoint.format == "pickle"
            assert differences(checkpoint, expected) == []
            codes = {note.code for note in checkpoint.notes} - {"data-beside"}
            zipped = {code for code in expected.get("notes", []) if not code.startswith("zip-")}
            assert codes == {"archive-unpacked", *zipped}
            assert set(checkpoint.parts) == {name.partition("/")[2] for name in packed.parts}
            assert {name: part.size for name, part in checkpoint.parts.items()} == {
                name.partition("/")[2]: part.size for name, part in packed.parts.items()
            }
            for part in checkpoint.parts.values():
                assert (part.offset, part.size) == (0, os.path.getsize(part.file))
            assert checkpoint.metadata == packed.metadata
            assert checkpoint.content.source.name == str(way)
            assert checkpoint.content.source.size == sum(part.size for part in checkpoint.parts.values())


@pytest.mark.parametrize("archive", SCRIPTS, ids=lambda path: path.name)
def test_a_script_module_is_read_as_one(archive: Path, tmp_path: Path) -> None:
    folder = unpack(archive, tmp_path / "out")
    with inert.open(folder) as checkpoint, inert.open(archive) as packed:
        assert (checkpoint.format, packed.format) == ("pickle", "torchscript")
        assert differences(checkpoint, load(archive.with_name(f"{archive.name}.expected.json"))) == []
        assert list(checkpoint.tensors) == list(packed.tensors)
        assert {name: part.role for name, part in checkpoint.parts.items()} == {
            name.partition("/")[2]: part.role for name, part in packed.parts.items()
        }
        codes = {note.code for note in checkpoint.notes}
        assert "archive-unpacked" in codes
        assert ("script-code" in codes) == ("script-code" in {note.code for note in packed.notes})
        assert next(iter(checkpoint.pickles)) == "data.pkl"


def test_load_and_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = write(tmp_path / "archive", byteorder=b"little", version=b"3\n", more__x=b"?")
    for mmap in (True, False):
        state = inert.load(home, mmap=mmap)
        assert state["w"].tolist() == [[0, 1, 2], [3, 4, 5]]
    for command in ("ls", "info", "parts"):
        assert main([command, str(home)]) == 0
        assert "pickle" in capsys.readouterr().out
    with inert.open(home) as checkpoint:
        assert checkpoint.parts["more/x"].role == "other", "every file is listed"
        held = checkpoint.tensors["w"]
        assert (held.file, held.file_offset) == (str(home / "data" / "0"), 0)
    with pytest.raises(UnsupportedError, match="closed"):
        held.numpy()


def test_the_folder_around_it_may_hold_litter_but_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "archive")
    (tmp_path / ".DS_Store").write_bytes(b"x")
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "._archive").write_bytes(b"x")
    with inert.open(tmp_path) as checkpoint:
        assert list(checkpoint.tensors) == ["w"]
        assert checkpoint.metadata["root"] == "archive"
    (tmp_path / "other").mkdir()
    with pytest.raises(UnidentifiedError):
        inert.open(tmp_path)


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "archive").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnidentifiedError):
        inert.open(tmp_path / "out")


TORCHLESS = b"\x80\x02}X\1\0\0\0aK\1s."
RANDOM: dict[str, dict[str, bytes]] = {
    "a pickle of a project": {"data.pkl": TORCHLESS, "data/train.csv": b"1,2", "README.md": b"#"},
    "with a version that is none": {"data.pkl": TORCHLESS, "version": b"1.2.3\n", "byteorder": b"network"},
    "no pickle": {"data.pkl": b"text", "version": b"3\n", "data/0": W},
    "a torch pickle, its data elsewhere": {"data.pkl": PICKLE},
    "SavedModel": {"saved_model.pb": b"\x08\x01", "variables/variables.index": b"", "version": b"3\n"},
    "a web model": {"model.json": b'{"modelTopology": {}}', "version": b"3\n"},
    "a package": {"data.pkl": PICKLE, "version": b"6\n", ".data/extern_modules": b"torch\n", "data/0": W},
    "an exported program": {"data.pkl": PICKLE, "version": b"6\n", "archive_format": b"pt2"},
    "nothing": {},
}


@pytest.mark.parametrize("records", RANDOM.values(), ids=RANDOM)
def test_other_folders_are_not_taken_for_one(records: dict[str, bytes], tmp_path: Path) -> None:
    for name, data in records.items():
        (tmp_path / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "x" / name).write_bytes(data)
    for path in (tmp_path / "x", tmp_path):
        if path.is_dir():
            with pytest.raises(FormatError if "saved_model.pb" in records and path.name == "x" else UnidentifiedError):
                inert.open(path)


@pytest.mark.parametrize(
    "records",
    [{}, {"version": b"3\n"}, {"byteorder": b"big"}, {".format_version": b"1"}, {".data__version": b"3\n"}],
    ids=lambda records: ",".join(records) or "data only",
)
def test_one_record_is_enough(records: dict[str, bytes], tmp_path: Path) -> None:
    with inert.open(write(tmp_path / "x", **records)) as checkpoint:
        wanted = struct.unpack(">6f" if "byteorder" in records else "<6f", W)
        assert tuple(checkpoint.tensors["w"].numpy().ravel()) == wanted


def test_storages_of_pytorch_1_4_lie_in_tensors(tmp_path: Path) -> None:
    home = write(tmp_path / "x", version=b"2")
    (home / "data").rename(home / "tensors")
    with inert.open(home) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_model_json_of_the_first_script_modules(tmp_path: Path) -> None:
    home = tmp_path / "x"
    (home / "tensors").mkdir(parents=True)
    (home / "tensors" / "0").write_bytes(W)
    model = (
        b'{"protoVersion":"1","mainModule":{"name":"m","parameters":[{"isBuffer":false,"tensorId":"0","name":"w"}]},"producerName":"pytorch",'
        b'"tensors":[{"dims":["2","3"],"offset":"0","strides":["3","1"],"requiresGrad":true,"dataType":"FLOAT","data":{"key":"tensors/0"}}]}'
    )
    (home / "model.json").write_bytes(model)
    (home / "version").write_bytes(b"1\n")
    with inert.open(home) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
        assert checkpoint.metadata["producerName"] == "pytorch"


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    lost = dumps({"w": tensor(storage("0", 6), (2, 3)), "lost": tensor(storage("1", 2), (2,))})
    with inert.open(write(tmp_path / "x", data_pkl=lost)) as checkpoint:
        assert checkpoint.tensors["w"].numpy().shape == (2, 3)
        assert "data/1" in checkpoint.tensors["lost"].fault
        said = {note.code: note.message for note in checkpoint.notes}
        assert said["data-missing"] == "the data of 1 of 2 storages is not here, such as data/1"
        assert said["data-beside"] == "1 storage"


@pytest.mark.parametrize("key", ["../secret", "/etc/passwd", "..", "", "x\0y", "fifo", "folder", "link", "outside"])
def test_no_key_leads_out_of_the_folder(key: str, tmp_path: Path) -> None:
    home = write(tmp_path / "x", data_pkl=dumps({"w": tensor(storage(key, 1), (1,))}), version=b"3\n")
    (tmp_path / "secret").write_bytes(bytes(4))
    (home / "data" / "folder").mkdir()
    os.mkfifo(home / "data" / "fifo")
    (home / "data" / "link").symlink_to(tmp_path / "secret")
    (home / "data" / "outside").symlink_to(tmp_path)
    for way in (home, home / "data.pkl"):
        with inert.open(way) as checkpoint:
            assert checkpoint.tensors["w"].fault
            odd = {note.where.part for note in checkpoint.notes if note.code == "folder-entry"}
            assert odd == {"data/fifo", "data/link", "data/outside"}
            assert str(tmp_path / "secret") not in {part.file for part in checkpoint.parts.values()}


def test_a_file_beside_data_pkl_is_no_part_of_it(tmp_path: Path) -> None:
    """By the name of data.pkl, only the folders of an archive are looked into."""
    home = write(tmp_path / "downloads", movies__x=b"?", version=b"3\n")
    with inert.open(home / "data.pkl") as checkpoint:
        assert sorted(checkpoint.parts) == ["data.pkl", "data/0", "version"]


def test_files_that_change(tmp_path: Path) -> None:
    home = write(tmp_path / "x", version=b"3\n")
    with inert.open(home) as checkpoint:
        (home / "data" / "0").write_bytes(W + b"more")
        with pytest.raises(FormatError, match="had 24 bytes and has 28 now"):
            checkpoint.tensors["w"].numpy()
        (home / "data" / "0").unlink()
    with inert.open(write(home)) as checkpoint:
        (home / "data" / "0").unlink()
        with pytest.raises(FormatError, match="No such file"):
            checkpoint.tensors["w"].numpy()


def test_limits_hold(tmp_path: Path) -> None:
    home = write(tmp_path / "x", version=b"3\n")
    with pytest.raises(LimitError, match="more than 3 files"):
        inert.open(home, limits=Limits(entries=3))
    with pytest.raises(LimitError, match="a pickle of"):
        inert.open(home, limits=Limits(pickle_bytes=10))
    for number in range(5):
        os.mkfifo(home / f"f{number}")


def test_a_thousand_odd_entries_are_a_hundred_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "SHOWN", 3)
    home = write(tmp_path / "x", version=b"3\n")
    for number in range(5):
        os.mkfifo(home / f"f{number}")
    with inert.open(home) as checkpoint:
        assert [note.code for note in checkpoint.notes].count("folder-entry") == 3


def test_many_storages_hold_few_files_open(tmp_path: Path) -> None:
    count = 200
    state = {f"w{i}": tensor(storage(str(i), 1), (1,)) for i in range(count)}
    home = write(tmp_path / "x", data_pkl=dumps(state), **{f"data__{i}": struct.pack("<f", i) for i in range(count)})
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with inert.open(home) as checkpoint:
        assert [one.sha256() for one in checkpoint.tensors.values()]
        assert not before or len(os.listdir("/proc/self/fd")) < before + 60
    assert [array.item() for array in inert.load(home).values()] == list(range(count))


def test_any_cut_of_any_record_gives_a_result_or_a_refusal(tmp_path: Path) -> None:
    folder = unpack(HERE / "script" / "module.pt", tmp_path / "out")
    records: dict[Path, bytes] = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for path, data in records.items():
        for end in {0, 1, len(data) // 2, max(len(data) - 1, 0)}:
            path.write_bytes(data[:end])
            look_over(folder)
        path.write_bytes(data)


def test_a_damaged_pickle_is_refused_with_its_fault(tmp_path: Path) -> None:
    home = write(tmp_path / "x", data_pkl=PICKLE[:-10], version=b"3\n")
    ways: list[Any] = [home, home / "data.pkl"]
    for way in ways:
        with pytest.raises(InertError, match=r"data\.pkl"):
            inert.open(way)
