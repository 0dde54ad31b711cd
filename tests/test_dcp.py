"""Folders of torch.distributed.checkpoint: whole tensors from the chunks of all ranks, and what is missing or untrue is said.

The folders of tests/corpus/dcp/ are made by make_dcp.py; tests/test_corpus.py compares them with torch's own consolidation. Tiles are held
against NumPy under random tilings.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import inert
from inert import tiled as tiles
from inert.cli import main
from inert.dtypes import DTYPES
from inert.errors import FormatError, LimitError, UnidentifiedError
from inert.formats.torch_dcp import placed
from inert.layout import Layout, Storage, contiguous
from inert.limits import DEFAULT
from inert.source import BytesSource
from inert.tensor import Tensor
from inert.tiled import Box, fault, tiled
from tests import makers
from tests.conformance import look_over
from tests.makers import Made, Name, dumps, torch_zip

HERE = Path(__file__).parent / "corpus" / "dcp"
NAMES = sorted(path.name for path in HERE.iterdir() if path.is_dir())


# ----------------------------------------------------------------------------------------------------------------------- tiles


def dense(array: Any) -> Tensor:
    dtype = DTYPES[array.dtype.name]
    source = BytesSource(array.tobytes(), "box")
    storage = Storage("box", source.size, dtype, "cpu", source.span)
    return Tensor(Layout(dtype, array.shape, contiguous(array.shape), 0, storage))


def cut(rng: random.Random, shape: tuple[int, ...], parts: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """A random tiling: boxes are halved along random dimensions."""
    boxes = [((0,) * len(shape), shape)]
    for _ in range(parts):
        at, size = boxes.pop(rng.randrange(len(boxes)))
        axis = rng.randrange(len(shape)) if shape else 0
        if not shape or size[axis] < 2:
            boxes.append((at, size))
            continue
        half = rng.randrange(1, size[axis])
        boxes.append((at, (*size[:axis], half, *size[axis + 1 :])))
        boxes.append(((*at[:axis], at[axis] + half, *at[axis + 1 :]), (*size[:axis], size[axis] - half, *size[axis + 1 :])))
    rng.shuffle(boxes)
    return boxes


def boxed(array: Any, boxes: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> list[Box]:
    places = ((at, size, tuple(slice(a, a + n) for a, n in zip(at, size, strict=True))) for at, size in boxes)
    return [Box(at, size, dense(array[place].copy())) for at, size, place in places]


def assembled(array: Any, boxes: list[Box]) -> Tensor:
    return Tensor(tiled(DTYPES[array.dtype.name], array.shape, boxes, "t", DEFAULT))


@given(
    st.lists(st.integers(0, 5), max_size=4),
    st.integers(0, 8),
    st.sampled_from(["int32", "uint8", "float64"]),
    st.sampled_from([1, 8, 40, 1 << 20]),
    st.randoms(use_true_random=False),
)
def test_any_tiling_gives_the_whole_tensor(shape: list[int], parts: int, dtype: str, piece: int, rng: random.Random) -> None:
    array = np.arange(prod(shape)).astype(dtype).reshape(shape)
    tensor = assembled(array, boxed(array, cut(rng, tuple(shape), parts)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "PIECE", piece)
        assert (tensor.kind, tensor.fault, tensor.file_offset, tensor.nbytes) == ("tiled", "", None, array.nbytes)
        assert np.array_equal(tensor.numpy(), array)
        assert b"".join(tensor.chunks()) == array.tobytes()
        if shape and shape[0]:
            start = rng.randrange(shape[0])
            assert np.array_equal(tensor[start], array[start])
            assert np.array_equal(tensor[start:], array[start:])
            assert np.array_equal(tensor[..., :1], array[..., :1])


def test_only_the_boxes_that_are_needed_are_read() -> None:
    array = np.arange(40).reshape(10, 4)
    boxes = boxed(array, [((i, 0), (1, 4)) for i in range(10)])
    boxes[7].tensor = Tensor(object())  # whoever asks this one for anything fails
    tensor = assembled(array, boxes)
    assert tensor[2:5].tolist() == array[2:5].tolist()
    assert tensor[8].tolist() == array[8].tolist()
    with pytest.raises(AttributeError):
        tensor.sha256()


@pytest.mark.parametrize(
    ("boxes", "says"),
    [
        ([((0, 0), (2, 3))], "6 elements of 12"),
        ([((0, 0), (4,))], "1 dimensions in a tensor of 2"),
        ([((0, 1), (4, 3))], "beyond the shape"),
        ([((-1, 0), (4, 3))], "beyond the shape"),
        ([], "0 elements of 12"),
    ],
)
def test_boxes_that_make_no_tensor_are_a_fault(boxes: list[Any], says: str) -> None:
    assert says in fault((4, 3), [Box(at, size, dense(np.zeros(1))) for at, size in boxes])


def test_overlapping_boxes_leave_a_gap_that_is_refused() -> None:
    array = np.arange(12).reshape(4, 3)
    tensor = assembled(array, boxed(array, [((0, 0), (2, 3)), ((1, 0), (2, 3))]))
    assert not tensor.fault
    with pytest.raises(FormatError, match="9 of 12 elements"):
        tensor.numpy()


def test_a_box_that_is_not_as_announced_is_refused() -> None:
    array = np.arange(6).reshape(2, 3)
    for wrong in (np.arange(3), np.arange(6).reshape(3, 2), np.arange(6, dtype=np.int16).reshape(2, 3)):
        tensor = assembled(array, [Box((0, 0), (2, 3), dense(wrong))])
        with pytest.raises(FormatError, match="was announced"):
            tensor.sha256()


# --------------------------------------------------------------------------------------------------------------------- folders


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_and_its_metadata_are_one_checkpoint(name: str) -> None:
    looks = [look_over(HERE / name), look_over(HERE / name / ".metadata")]
    assert looks[0].names == looks[1].names
    assert looks[0].hashed == len(looks[0].names)
    assert not looks[0].codes


def test_one_chunk_is_a_view_of_its_file_and_several_are_components() -> None:
    with inert.open(HERE / "two_ranks") as checkpoint:
        whole, rows = checkpoint.tensors["model.whole"], checkpoint.tensors["model.rows"]
        assert whole.kind == "dense"
        assert whole.file is not None
        assert whole.file_offset is not None
        assert Path(whole.file).read_bytes()[whole.file_offset :][:6] == b"\x00\x3c" * 3
        assert not whole.numpy().flags.owndata
        assert (rows.kind, list(rows.components)) == ("tiled", ["0,0", "3,0"])
        assert rows.components["3,0"].numpy().tolist() == rows.numpy()[3:].tolist()
        assert checkpoint.metadata["version"] == "1.0.0"
        assert checkpoint.root["step"] == 3


@pytest.mark.parametrize("mmap", [True, False])
def test_load_gives_whole_arrays(mmap: bool) -> None:
    state = inert.load(HERE / "two_ranks", mmap=mmap)
    assert state["model"]["rows"].tolist() == np.arange(24).reshape(6, 4).tolist()
    assert state["model"]["columns"].tolist() == np.arange(21).reshape(3, 7).tolist()


def test_paths_are_those_of_the_saved_state() -> None:
    with inert.open(HERE / "alone") as checkpoint:
        assert checkpoint.tensors["model.half.b"].path == ("model", "half.b")
        assert checkpoint.tensors["steps.1.lr"].path == ("steps", 1, "lr")
        assert checkpoint.root["steps"][0].shape == (2,)


@pytest.mark.parametrize("command", ["ls", "info", "parts"])
def test_commands_take_the_folder(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(HERE / "four_ranks"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "torch-dcp"
    if command == "ls":
        assert found["storage_nbytes"] == found["nbytes"]


# --------------------------------------------------------------------------------------------------------------------- damaged


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return shutil.copytree(HERE / "two_ranks", tmp_path / "two_ranks")


def test_a_missing_file_is_noted_and_the_rest_is_read(folder: Path) -> None:
    (folder / "__1_0.distcp").unlink()
    with inert.open(folder) as checkpoint:
        codes = {note.code for note in checkpoint.notes}
        assert codes == {"dcp-file-missing", "dcp-record", "tensor-damaged"}, "the number of steps lay there too"
        assert "is not there" in checkpoint.tensors["model.rows"].fault
    with pytest.raises(FormatError):
        inert.load(folder)
    (folder / "__0_0.distcp").unlink()
    with pytest.raises(FormatError, match=r"none of its 2 \.distcp files"):
        inert.open(folder)


@pytest.mark.parametrize("name", [".metadata", "__0_0.distcp"])
def test_any_prefix_gives_an_answer(folder: Path, name: str) -> None:
    data = (folder / name).read_bytes()
    for end in range(0, len(data), 1 if name == ".metadata" else 97):
        (folder / name).write_bytes(data[:end])
        look = look_over(folder)
        assert look.refused or look.codes or look.damaged, end


def changed(data: bytes, change: Callable[[bytes], bytes]) -> bytes:
    made = change(data)
    assert made != data
    return made


LIES: dict[str, Callable[[bytes], bytes]] = {
    "another file": lambda data: data.replace(b"__1_0.distcp", b"__2_0.distcp"),
    "a path": lambda data: data.replace(b"__1_0.distcp", b"../__0.distc"),
    "another class": lambda data: data.replace(b"\x8c\x08Metadata", b"\x8c\x08Metadat_"),
    "another dtype": lambda data: data.replace(b"float32", b"float64"),
    "a field's name": lambda data: data.replace(b"relative_path", b"relative_pat_"),
    "a name": lambda data: data.replace(b"offsets", b"offset_"),
}


@pytest.mark.parametrize("lie", LIES)
def test_metadata_that_lies_is_found_out(folder: Path, lie: str) -> None:
    path = folder / ".metadata"
    path.write_bytes(changed(path.read_bytes(), LIES[lie]))
    look = look_over(folder)
    assert look.refused or look.codes or look.damaged


def test_random_changes_give_an_answer(folder: Path) -> None:
    rng, path = random.Random(5), folder / ".metadata"
    data = path.read_bytes()
    for _ in range(400):
        mutant = bytearray(data)
        for _ in range(rng.choice((1, 2, 4))):
            mutant[rng.randrange(len(mutant))] = rng.randrange(256)
        path.write_bytes(mutant)
        look_over(folder)


CLASSES = "torch.distributed.checkpoint.metadata"


def said(name: str, state: Any, module: str = CLASSES) -> Made:
    return Made(Name(module, name), (), state, new=True)


@pytest.mark.parametrize("parts", [1, 2])
def test_a_record_of_few_bytes_and_many_elements_is_refused(tmp_path: Path, parts: int) -> None:
    each = 1 << 36
    record = torch_zip(dumps(makers.tensor(makers.storage("0", 4), (each,), (0,))), {"0": bytes(16)})
    (tmp_path / "__0_0.distcp").write_bytes(record * parts)
    chunks = [said("ChunkStorageMetadata", {"offsets": (i * each,), "sizes": (each,)}) for i in range(parts)]
    properties = said("TensorProperties", (Name("torch", "float32"), Name("torch", "strided"), False, 0, False))
    entry = said("TensorStorageMetadata", {"properties": properties, "size": (parts * each,), "chunks": chunks})
    places = {}
    for i in range(parts):
        place = {"relative_path": "__0_0.distcp", "offset": i * len(record), "length": len(record)}
        index = said("MetadataIndex", {"fqn": "w", "offset": (i * each,), "index": i})
        places[index] = said("_StorageInfo", place, "torch.distributed.checkpoint.filesystem")
    root = said("Metadata", {"state_dict_metadata": {"w": entry}, "planner_data": {"w": ("w",)}, "storage_data": places})
    (tmp_path / ".metadata").write_bytes(dumps(root))
    with inert.open(tmp_path) as checkpoint:
        tensor = checkpoint.tensors["w"]
        assert (tensor.shape, tensor.fault) == ((parts * each,), "")
        for ask in (tensor.numpy, tensor.sha256, lambda: tensor[:2]):
            with pytest.raises(LimitError, match="over 4 stored bytes"):
                ask()


def test_a_record_that_is_damaged_costs_its_tensor_only(folder: Path) -> None:
    path = folder / "__0_0.distcp"
    data = path.read_bytes()
    path.write_bytes(data[:1300] + bytes(1200) + data[2500:])
    look = look_over(folder)
    assert look.opened
    assert look.damaged > 0
    assert look.hashed


def test_a_folder_whose_metadata_is_another_program_s_is_named(tmp_path: Path) -> None:
    (tmp_path / ".metadata").write_bytes(b"cposix\nsystem\n(S'true'\ntR.")
    with pytest.raises(UnidentifiedError, match="did not write"):
        inert.open(tmp_path)
    assert look_over(tmp_path / ".metadata").names == [], "a bare pickle, or refused"


@pytest.mark.parametrize(
    ("root", "path", "fits"),
    [
        ({}, ("a", 0, "b"), True),
        ({"a": [1]}, ("a", 1), True),
        ({"a": 1}, ("a", "b"), False),
        ({"a": [1]}, ("a", "b"), False),
        ({"a": [1]}, ("a", 1 << 40), False),
        ({"a": [1]}, ("a", -1), False),
    ],
)
def test_values_are_put_where_their_paths_lead(root: dict[Any, Any], path: tuple[Any, ...], fits: bool) -> None:
    assert placed(root, path, "value") == fits
    if fits:
        here: Any = root
        for key in path:
            here = here[key]
        assert here == "value"
