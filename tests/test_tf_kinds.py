"""Strings in slices, quantised integers, aligned data: what TensorFlow's checkpoints hold and other formats do not. Expected values are
TensorFlow's (tests/corpus/tf)."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import inert
from inert.cli import main
from inert.errors import FormatError, LimitError, UnidentifiedError, UnsupportedError
from inert.formats.tf_bundle import TfBundle
from inert.formats.tf_checks import tensor_checks
from inert.limits import Limits
from tests.tf_tables import bundle, entry, field, mask, shape, stored, table

HERE = Path(__file__).parent / "corpus" / "tf"
STRINGS = HERE / "string_slices" / "string_slices"
QUANTISED = {"qint8": "int8", "quint8": "uint8", "qint16": "int16", "quint16": "uint16", "qint32": "int32"}


def wanted() -> list[list[object]]:
    rows = json.loads((HERE / "string_slices.expected.json").read_text(encoding="utf-8"))["tensors"]
    found: list[list[object]] = next(row["strings"] for row in rows if row["name"] == "t")
    return found


def told(values: list[bytes]) -> list[list[object]]:
    return [[len(one), hashlib.sha256(one).hexdigest()] for one in values]


# ------------------------------------------------------------------------------------------------------------------ strings in slices


def test_strings_in_slices_are_one_tensor() -> None:
    with inert.open(STRINGS) as checkpoint:
        assert not checkpoint.notes
        tensor = checkpoint.tensors["t"]
        assert (tensor.kind, tensor.shape, tensor.nbytes) == ("strings", (5, 2), sum(one.nbytes for one in tensor.components.values()))
        assert told(tensor.numpy().reshape(-1).tolist()) == wanted()
        assert told(tensor[1:4, 1].tolist()) == [wanted()[place] for place in (3, 5, 7)]
        assert list(tensor.components) == ["0,0", "3,0", "3,1"]
        assert tensor.boxes["3,1"] == ((3, 1), (2, 1))
        assert tensor.file is None
        plain = tensor.sha256()
    loaded = inert.load(STRINGS)["t"]
    assert told(loaded.reshape(-1).tolist()) == wanted()
    with inert.open(STRINGS) as checkpoint:
        assert checkpoint.tensors["t"].sha256() == plain


def test_the_commands_show_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", str(STRINGS), "--hash"]) == 0
    assert "[5,2]" in capsys.readouterr().out
    assert main(["show", str(STRINGS), "t[2:4]"]) == 0
    assert "b'two'" in capsys.readouterr().out
    assert main(["show", str(HERE / "v1_types"), "string"]) == 0
    assert "b'abc'" in capsys.readouterr().out
    assert inert.load(HERE / "v1_types")["string"].tolist() == [b"", b"abc"]


def test_strings_in_slices_stay_in_them(tmp_path: Path) -> None:
    inert.convert(STRINGS, tmp_path / "out", rename={"^t$": "text"})
    with inert.open(tmp_path / "out") as checkpoint:
        assert isinstance(checkpoint.content, TfBundle)
        assert not checkpoint.notes
        assert list(tensor_checks(checkpoint.content)) == []
        assert told(checkpoint.tensors["text"].numpy().reshape(-1).tolist()) == wanted()
        assert list(checkpoint.tensors["text"].components) == ["0,0", "3,0", "3,1"]
    inert.save(inert.load(STRINGS), tmp_path / "one.index")
    with inert.open(tmp_path / "one") as checkpoint:
        assert told(checkpoint.tensors["t"].numpy().reshape(-1).tolist()) == wanted()
        assert not checkpoint.tensors["t"].components


def test_slices_that_share_bytes_are_no_bomb(tmp_path: Path) -> None:
    text = b"x" * 5000
    data = b"\x88\x27" + mask(stored_lengths(5000)).to_bytes(4, "little") + text
    count = 40
    items = {b"\0m\0\1\1\1" + bytes((0x80 + i, 0x81)): entry(7, (1,), 0, len(data)) for i in range(count)}
    slices = b"".join(field(7, field(1, (field(1, i) if i else b"") + field(2, 1))) for i in range(count))
    prefix = bundle(tmp_path, {**items, b"m": field(1, 7) + field(2, shape(count)) + slices}, data)
    with inert.open(prefix) as checkpoint:
        assert checkpoint.tensors["m"].numpy().tolist() == [text] * count
    with inert.open(prefix, limits=Limits(logical_bytes=1000, logical_ratio=10)) as checkpoint, pytest.raises(LimitError):
        checkpoint.tensors["m"].numpy()


def stored_lengths(size: int) -> int:
    from google_crc32c import value

    found: int = value(size.to_bytes(4, "little"))
    return found


# ------------------------------------------------------------------------------------------------------------------ quantised integers


@pytest.mark.parametrize("suffix", [".pt", ".safetensors", ".npz"])
def test_quantised_integers_without_a_scale_become_plain_ones(suffix: str, tmp_path: Path) -> None:
    done = inert.convert(HERE / "types", tmp_path / f"m{suffix}", keep=["x/qint*", "x/quint*"])
    assert sorted(done.lost) == sorted((f"x/{name}", f"that its integers are quantised: {name} without a scale") for name in QUANTISED)
    with inert.open(HERE / "types") as before:
        held = {name: before.tensors[f"x/{name}"].numpy() for name in QUANTISED}
    found = dict(np.load(tmp_path / "m.npz")) if suffix == ".npz" else inert.load(tmp_path / f"m{suffix}")
    for name, plain in QUANTISED.items():
        assert found[f"x/{name}"].dtype.name == plain
        assert found[f"x/{name}"].tolist() == held[name].tolist() == [[0, 1, 2], [3, 4, 5]]


def test_from_bundle_to_bundle_they_stay_what_they_are(tmp_path: Path) -> None:
    assert inert.convert(HERE / "types", tmp_path / "m", to="tf-bundle", rename={"^x/": "y/"}).lost == []
    with inert.open(tmp_path / "m") as after:
        assert {str(after.tensors[f"y/{name}"].dtype) for name in QUANTISED} == set(QUANTISED)


# ------------------------------------------------------------------------------------------------------------------------- alignment


@pytest.mark.parametrize("alignment", [1, 64, 4096])
def test_data_is_aligned(alignment: int, tmp_path: Path) -> None:
    inert.convert(HERE / "ordered", tmp_path / "m.index", alignment=alignment)
    with inert.open(tmp_path / "m") as after, inert.open(HERE / "ordered") as before:
        assert isinstance(after.content, TfBundle)
        assert [offset % alignment for _, _, _, offset, _, _ in after.content.places()] == [0] * len(list(after.content.places()))
        assert {name: one.sha256() for name, one in after.tensors.items()} == {name: one.sha256() for name, one in before.tensors.items()}
        assert not after.notes
        assert list(tensor_checks(after.content)) == []
    if alignment == 1:
        assert (tmp_path / "m.index").read_bytes() == (HERE / "ordered" / "ordered.index").read_bytes()


def test_aligned_data_in_several_files(tmp_path: Path) -> None:
    done = inert.convert(HERE / "ordered", tmp_path / "m.index", alignment=256, max_shard_size=3000)
    assert len(done.written) > 3
    assert all(Path(name).stat().st_size <= 3000 for name in done.written[:-1])
    with pytest.raises(UnsupportedError, match="an alignment of 70,000 bytes"):
        inert.convert(HERE / "ordered", tmp_path / "n.index", alignment=70_000)


# ------------------------------------------------------------------------------------------------------------------------ large indexes


def test_one_tensor_of_many_blocks_costs_one_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of the index that are read are counted: for opening, for a name, for a name beside it, for all."""
    from inert.containers.sstable import Table

    items = {b"": field(1, 1) + field(3, field(1, 1))} | {
        b"layer/%06d" % i: entry(1, (1,), 4 * i, 4, stored(bytes(4))) for i in range(20_000)
    }
    (tmp_path / "m.index").write_bytes(table(items, size=2000))
    (tmp_path / "m.data-00000-of-00001").write_bytes(bytes(80_000))
    read: list[tuple[int, int]] = []
    block = Table.block
    monkeypatch.setattr(Table, "block", lambda self, handle: (read.append(handle), block(self, handle))[1])
    with inert.open(tmp_path / "m") as checkpoint:
        assert isinstance(checkpoint.content, TfBundle)
        index = checkpoint.content.bundles[0].table
        data = set(index.handles)
        assert len(data) > 200
        opened = [handle for handle in read if handle in data]
        assert len(set(opened)) <= 2  # of the header, and of the object graph's name
        read.clear()
        assert checkpoint.tensors["layer/010000"].shape == (1,)
        assert checkpoint.tensors["layer/010000"].numpy().tolist() == [0.0]
        assert len(read) == 1
        assert checkpoint.tensors["layer/010001"].shape == (1,)
        assert len(read) <= 2
        assert "layer/02" not in checkpoint.tensors
        assert len(read) <= 4
        read.clear()
        assert len(checkpoint.tensors) == 20_000
        assert len([handle for handle in read if handle in data]) <= len(data)


# ------------------------------------------------------------------------------------------------------------------------ what is broken


def damaged(tmp_path: Path, name: str, file: str, change: object) -> Path:
    folder = shutil.copytree(HERE / name, tmp_path / "run")
    path = folder / file
    raw = path.read_bytes()
    path.write_bytes(change(raw) if callable(change) else change)
    return folder


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda raw: raw[:-8] + bytes.fromhex("57fb808b24754700"),
            r"its last eight bytes, which say what it is, are 57 fb 80 8b 24 75 47 00",
        ),
        (lambda raw: raw[:-50], r"the index of a TensorFlow checkpoint, cut short, 220 bytes"),
        (lambda raw: raw[:9], "the index of a TensorFlow checkpoint, cut short"),
        (lambda raw: bytes(range(200)), r"is none: this is a file of no format that inert knows"),
        (lambda raw: b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 9\n", "this is a Git LFS pointer"),
    ],
)
def test_an_index_that_is_none_is_named_with_its_cause(change: object, says: str, tmp_path: Path) -> None:
    folder = damaged(tmp_path, "shards", "shards.index", change)
    for way in ("", "shards", "shards.index", "shards.data-00001-of-00003"):
        with pytest.raises(FormatError, match=says) as caught:
            inert.open(folder / way)
        assert "3 of its data files are there (121 bytes)" in str(caught.value)


def test_an_index_of_another_program_is_not_tensorflow_s(tmp_path: Path) -> None:
    (tmp_path / "git.index").write_bytes(b"DIRC" + bytes(200))
    with pytest.raises(UnidentifiedError):
        inert.open(tmp_path / "git.index")
    assert main(["ls", str(tmp_path / "git.index")]) == 2


def test_files_under_each_other_s_names(tmp_path: Path) -> None:
    names = [HERE / "types" / name for name in ("types.index", "types.data-00000-of-00001")]
    for file, other in zip(names, reversed(names), strict=True):
        shutil.copy(file, tmp_path / other.name)
    for way in ("", "types", "types.index"):
        with pytest.raises(
            FormatError, match=r"'types\.data-00000-of-00001' is an index by its content: the files bear each other's names"
        ):
            inert.open(tmp_path / way)


@pytest.mark.parametrize(("at", "listed"), [(30, False), (75, True)])
def test_a_block_whose_checksum_is_wrong_is_named(at: int, listed: bool, tmp_path: Path) -> None:
    folder = damaged(tmp_path, "shards", "shards.index", lambda raw: raw[:at] + bytes((raw[at] ^ 1,)) + raw[at + 1 :])
    with inert.open(folder) as checkpoint:
        said = next(note for note in checkpoint.notes if note.code == "tf-block-crc")
        assert said.where.part == "shards.index"
        assert "the block of 184 bytes has the checksum" in said.message
        assert "TensorFlow refuses the index" in said.fix
        assert any(tensor.fault for tensor in checkpoint.tensors.values()) or listed
