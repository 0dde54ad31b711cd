"""Folders of DeepSpeed: weights by name from the partitions of all ranks, and what is missing, doubled or untrue is said.

The folders of tests/corpus/deepspeed/ are made by make_deepspeed.py; tests/test_corpus.py compares them with DeepSpeed's own consolidation.
Runs are held against NumPy under random cuts; what no DeepSpeed would write is said to torch/zero.py in plain values.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import accumulate
from math import prod
from pathlib import Path
from time import process_time
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import inert
from inert import widened
from inert.cli import main
from inert.dtypes import DTYPES
from inert.errors import FormatError, LimitError, UnidentifiedError
from inert.layout import Layout, Storage, contiguous
from inert.limits import DEFAULT
from inert.source import BytesSource
from inert.tensor import Tensor
from inert.tiled import SHOWN, strung
from inert.torch.zero import Weights
from inert.torch.zero_said import Told
from inert.widened import Widened, widens
from tests.conformance import look_over

HERE = Path(__file__).parent / "corpus" / "deepspeed"
NAMES = sorted(path.name for path in HERE.iterdir() if path.is_dir())
TAG = "global_step1"


def dense(array: Any) -> Tensor:
    dtype = DTYPES[array.dtype.name]
    source = BytesSource(np.ascontiguousarray(array).tobytes(), "flat")
    storage = Storage("flat", source.size, dtype, "cpu", source.span)
    return Tensor(Layout(dtype, array.shape, contiguous(array.shape), 0, storage))


# ------------------------------------------------------------------------------------------------------------------------ runs


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=6), st.sampled_from(["int16", "float64", "uint8"]), st.randoms(use_true_random=False)
)
def test_any_runs_give_the_whole_tensor(counts: list[int], dtype: str, rng: random.Random) -> None:
    total = sum(counts)
    array = np.arange(total).astype(dtype)
    runs = []
    for start, count in zip(accumulate(counts, initial=0), counts, strict=False):
        before, behind = rng.randrange(4), rng.randrange(4)
        flat = np.concatenate([np.full(before, 99), array[start : start + count], np.full(behind, 99)]).astype(dtype)
        runs.append((dense(flat).layout, before, count))
    tensor = Tensor(strung(DTYPES[dtype], (total, 1), runs, lambda: runs, "t", DEFAULT))
    assert not tensor.fault
    assert np.array_equal(tensor.numpy(), array.reshape(total, 1))
    assert b"".join(tensor.chunks()) == array.tobytes()
    for _ in range(4):
        at = rng.randrange(total + 1)
        assert np.array_equal(tensor[at:], array.reshape(total, 1)[at:])
        assert np.array_equal(tensor[:at, 0], array[:at])
        offset = rng.randrange(array.nbytes + 1)
        length = rng.randrange(array.nbytes - offset + 1)
        assert tensor.layout.storage is not None
        assert tensor.layout.storage.span().read(offset, length) == array.tobytes()[offset : offset + length]
    if len(counts) > 1:
        assert tensor.kind == "tiled"
        assert b"".join(part.numpy().tobytes() for part in tensor.components.values()) == array.tobytes() or 0 in counts


def test_many_runs_are_not_components_and_too_few_elements_are_a_fault() -> None:
    flat = dense(np.arange(200, dtype=np.int32)).layout
    runs = [(flat, i, 1) for i in range(200)]
    many = strung(DTYPES["int32"], (200,), runs, lambda: runs, "t", DEFAULT)
    assert many.kind == "tiled"
    assert not many.components
    assert SHOWN < 200
    assert Tensor(many).numpy().tolist() == list(range(200))
    few = strung(DTYPES["int32"], (3,), runs[:2], lambda: runs[:2], "t", DEFAULT)
    assert "2 elements of 3" in few.fault
    with pytest.raises(FormatError):
        Tensor(few).numpy()


def test_a_run_of_a_damaged_partition_is_refused_when_it_is_read() -> None:
    sound, damaged = dense(np.arange(4)).layout, dense(np.arange(4)).layout
    runs = [(sound, 0, 4), (damaged, 0, 4)]
    tensor = Tensor(strung(DTYPES["int64"], (8,), runs, lambda: runs, "t", DEFAULT))
    damaged.fault = "its record is cut"
    assert tensor[:4].tolist() == [0, 1, 2, 3]
    with pytest.raises(FormatError, match="record is cut"):
        tensor.numpy()


# --------------------------------------------------------------------------------------------------------------------- widened


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "float8_e5m2", "float8_e4m3fn"])
def test_floating_point_numbers_become_float32(name: str) -> None:
    kind = DTYPES[name].array_type()
    array = (
        np.array([[1.5, -0.0, 1e300], [np.inf, np.nan, 0.1]]).astype(kind) if name == "float64" else np.arange(6).reshape(2, 3).astype(kind)
    )
    tensor = Tensor(Widened(dense(array), DEFAULT))
    with np.errstate(all="ignore"):
        wanted = array.astype(np.float32)
    assert (tensor.dtype, tensor.shape, tensor.file_offset) == ("float32", (2, 3), None)
    assert tensor.numpy().tobytes() == b"".join(tensor.chunks()) == wanted.tobytes()
    assert tensor[1, 1:].tobytes() == wanted[1, 1:].tobytes()
    assert tensor.layout.storage is not None
    assert tensor.layout.storage.span().read(3, 7) == wanted.tobytes()[3:10]


def test_a_strided_tensor_is_widened_too() -> None:
    array = np.arange(12, dtype=np.float64).reshape(3, 4)
    plain = dense(array)
    turned = plain.layout.copy()
    turned.shape, turned.strides = (4, 3), (1, 4)
    tensor = Tensor(Widened(Tensor(turned), DEFAULT))
    assert tensor.numpy().tolist() == array.T.tolist()
    assert tensor[2].tolist() == array.T[2].tolist()


def test_what_stays_as_it_is() -> None:
    assert not any(widens(DTYPES[name]) for name in ("float32", "int64", "bool", "complex64", "float4_e2m1fn_x2", "qint8"))


def test_widening_ends() -> None:
    """A buffer of 2^40 elements over eight bytes is refused, as it would be as it is."""
    bomb = dense(np.zeros(1)).layout.copy()
    bomb.shape, bomb.strides = (1 << 40,), (0,)
    tensor = Tensor(Widened(Tensor(bomb), DEFAULT))
    with pytest.raises(LimitError):
        tensor.sha256()


def test_a_damaged_tensor_stays_damaged() -> None:
    damaged = dense(np.zeros(2)).layout
    damaged.fault = "its record is cut"
    assert Tensor(Widened(Tensor(damaged), DEFAULT)).fault == "its record is cut"
    with pytest.raises(FormatError, match="cut"):
        widened.Floats(damaged, "t", DEFAULT).read(0, 4)


# --------------------------------------------------------------------------------------------------------------------- folders


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_and_the_one_around_it_are_one_checkpoint(name: str) -> None:
    expected = json.loads((HERE / f"{name}.expected.json").read_text())
    looks = [look_over(HERE / name), look_over(HERE / name / TAG)]
    assert looks[0].names == looks[1].names == [entry["name"] for entry in expected["tensors"]], "DeepSpeed's order"
    assert looks[0].hashed == looks[1].hashed == len(looks[0].names)
    assert sorted(looks[0].codes) == sorted(looks[1].codes) == expected["notes"]


def test_one_partition_gives_a_view_and_several_are_components() -> None:
    with inert.open(HERE / "zero2") as checkpoint:
        whole, cut = checkpoint.tensors["back.weight"], checkpoint.tensors["embed.weight"]
        assert (whole.kind, cut.kind, list(cut.components)) == ("dense", "tiled", ["0", "18"])
        assert whole.file is not None
        assert whole.file_offset is not None
        assert whole.file.endswith("zero_pp_rank_2_mp_rank_00_optim_states.pt")
        assert Path(whole.file).read_bytes()[whole.file_offset :][: whole.nbytes] == b"".join(whole.chunks())
        assert not whole.numpy().flags.owndata
        assert cut.components["18"].numpy().tolist() == cut.numpy().reshape(-1)[18:].tolist()
        tied = checkpoint.tensors["head.weight"]
        assert tied.storage == cut.storage
        assert tied.path == ("head.weight",)
        assert checkpoint.metadata["zero_stage"] == "2"
        assert checkpoint.metadata["ds_version"] == "0.19.8"
        assert checkpoint.metadata["partitions"] == "3"
        assert checkpoint.metadata["tag"] == TAG
        roles = {name: part.role for name, part in checkpoint.parts.items() if "/" not in name}
        assert sorted(roles.values()) == ["latest", "model", "optimizer", "optimizer", "optimizer"]
        assert any(name.endswith("data.pkl") for name in checkpoint.pickles)
        assert all(name.partition("/")[0] in roles for name in checkpoint.pickles)


@pytest.mark.parametrize("mmap", [True, False])
def test_load_gives_whole_arrays_and_keeps_ties(mmap: bool) -> None:
    state = inert.load(HERE / "zero3", mmap=mmap)
    assert state["head.weight"] is state["embed.weight"]
    assert state["embed.weight"].shape == (7, 3)
    assert state["narrow"].tolist() == [1.0, float(ml_dtypes.bfloat16(1 / 3))]


def test_a_single_file_stays_what_it_is() -> None:
    for name in ("mp_rank_00_model_states.pt", "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt"):
        with inert.open(HERE / "zero1" / TAG / name) as checkpoint:
            assert checkpoint.format == "torch-zip"


@pytest.mark.parametrize("command", ["ls", "info", "parts"])
@pytest.mark.parametrize("name", NAMES)
def test_commands_take_the_folder(command: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(HERE / name), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "deepspeed"
    assert main([command, str(HERE / name)]) == 0
    assert capsys.readouterr().out


def test_info_says_what_the_pickles_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", str(HERE / "zero1")]) == 0
    assert "a full load runs what the file names: deepspeed." in capsys.readouterr().out


def test_parts_go_file_by_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parts", str(HERE / "zero1")]) == 0
    homes = [line.partition("/")[0].split()[0] for line in capsys.readouterr().out.splitlines() if "_states.pt" in line]
    assert list(dict.fromkeys(homes)) == [home for home, before in zip(homes, ["", *homes], strict=False) if home != before]


def test_show_takes_a_weight(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(HERE / "zero3"), "embed.weight[0]", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shape"] == [3]


# --------------------------------------------------------------------------------------------------------------------- damaged


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: shutil.copytree(HERE / name, tmp_path / name) / TAG


def faults(checkpoint: inert.Checkpoint) -> dict[str, str]:
    return {name: tensor.fault for name, tensor in checkpoint.tensors.items() if tensor.fault}


def codes(checkpoint: inert.Checkpoint) -> set[str]:
    return {note.code for note in checkpoint.notes}


def test_a_missing_rank_costs_the_tensors_in_it(copy: Any) -> None:
    home = copy("zero2")
    (home / "zero_pp_rank_1_mp_rank_00_optim_states.pt").unlink()
    with inert.open(home) as checkpoint, inert.open(HERE / "zero2") as whole:
        lost = faults(checkpoint)
        assert list(lost) == ["embed.weight", "body.weight", "norm.bias", "body.bias", "head.weight"]
        assert all("zero_pp_rank_1_mp_rank_00_optim_states.pt is not there" in text for text in lost.values())
        assert {"zero-missing", "tensor-damaged"} <= codes(checkpoint)
        assert "back.weight" not in lost, "it lies in rank 2"
        for name, tensor in checkpoint.tensors.items():
            assert tensor.shape == whole.tensors[name].shape
            assert name in lost or tensor.sha256() == whole.tensors[name].sha256()
    with pytest.raises(FormatError, match=r"the set is not whole.*rank_1"):
        inert.load(home)
    assert main(["ls", str(home)]) == 1


def test_a_missing_rank_of_zero3_costs_every_tensor_that_reaches_it(copy: Any) -> None:
    home = copy("zero3")
    (home / "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt").unlink()
    with inert.open(home) as checkpoint:
        lost = faults(checkpoint)
        assert "embed.weight" in lost
        assert "scale" not in lost, "its one element lies in rank 0"
        assert "frozen.weight" not in lost, "frozen parameters lie in the model files"
    (home / "zero_pp_rank_1_mp_rank_00_model_states.pt").unlink()
    with inert.open(home) as checkpoint:
        assert "zero_pp_rank_1_mp_rank_00_model_states.pt is not there" in faults(checkpoint)["frozen.weight"]
        missing = [note.where.part for note in checkpoint.notes if note.code == "zero-missing"]
        assert missing == ["bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt", "zero_pp_rank_1_mp_rank_00_model_states.pt"]


def test_without_the_first_model_file_another_names_the_weights(copy: Any) -> None:
    home = copy("zero3")
    (home / "zero_pp_rank_0_mp_rank_00_model_states.pt").unlink()
    with inert.open(home) as checkpoint:
        assert "zero-missing" in codes(checkpoint)
        assert set(faults(checkpoint)) == {"frozen.weight", "frozen.bias", "head.weight"}, "only rank 0 knows what is tied"
        assert checkpoint.tensors["embed.weight"].shape == (7, 3)


def test_without_optimizer_files_the_model_s_own_weights_are_given(copy: Any) -> None:
    home = copy("zero1")
    for path in home.glob("*_optim_states.pt"):
        path.unlink()
    with inert.open(home) as checkpoint:
        assert codes(checkpoint) == {"zero-no-partitions"}
        assert checkpoint.tensors["embed.weight"].dtype == "bfloat16"
        assert not faults(checkpoint)
    assert inert.load(home)["embed.weight"].shape == (7, 3)


def test_without_optimizer_files_zero3_has_names_and_shapes_only(copy: Any) -> None:
    home = copy("zero3")
    for path in home.glob("*_optim_states.pt"):
        path.unlink()
    with inert.open(home) as checkpoint:
        assert checkpoint.tensors["embed.weight"].shape == (7, 3)
        assert "zero_pp_rank_0_mp_rank_00_optim_states.pt is not there" in checkpoint.tensors["embed.weight"].fault
        assert checkpoint.tensors["frozen.weight"].numpy().shape == (3, 3)
        assert "zero-no-partitions" in codes(checkpoint)
    with pytest.raises(FormatError):
        inert.load(home)


def test_optimizer_files_alone_have_no_names(copy: Any) -> None:
    home = copy("zero2")
    (home / "mp_rank_00_model_states.pt").unlink()
    with pytest.raises(FormatError, match="how the weights are named"):
        inert.open(home)


def test_a_rank_with_two_files_is_refused(copy: Any) -> None:
    home = copy("zero2")
    shutil.copy(home / "zero_pp_rank_0_mp_rank_00_optim_states.pt", home / "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt")
    with inert.open(home) as checkpoint:
        assert "zero-twice" in codes(checkpoint)
        assert "rank 0 has 2 files" in faults(checkpoint)["embed.weight"]
        assert "back.weight" not in faults(checkpoint)


def test_a_rank_too_many_and_one_of_another_save_are_told(copy: Any) -> None:
    home = copy("zero2")
    shutil.copy(home / "zero_pp_rank_0_mp_rank_00_optim_states.pt", home / "zero_pp_rank_3_mp_rank_00_optim_states.pt")
    with inert.open(home) as checkpoint:
        assert not faults(checkpoint)
        assert any("cut into 3 partitions; there is also zero_pp_rank_3" in note.message for note in checkpoint.notes)
    with pytest.raises(FormatError, match="not whole"):
        inert.load(home)
    (home / "zero_pp_rank_3_mp_rank_00_optim_states.pt").unlink()
    other = HERE / "zero1" / TAG / "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"
    shutil.copy(other, home / "zero_pp_rank_1_mp_rank_00_optim_states.pt")
    with inert.open(home) as checkpoint:
        assert "is one of 2 partitions, the others are of 3" in faults(checkpoint)["embed.weight"]


def test_both_kinds_of_model_files_are_told(copy: Any) -> None:
    home = copy("zero2")
    shutil.copy(home / "mp_rank_00_model_states.pt", home / "zero_pp_rank_0_mp_rank_00_model_states.pt")
    with inert.open(home) as checkpoint:
        assert not faults(checkpoint)
        assert "zero-twice" in codes(checkpoint)


@pytest.mark.parametrize("name", ["zero_pp_rank_1_mp_rank_00_optim_states.pt", "mp_rank_00_model_states.pt"])
def test_any_prefix_gives_an_answer(copy: Any, name: str) -> None:
    home = copy("zero2")
    data = (home / name).read_bytes()
    for end in range(0, len(data), 61):
        (home / name).write_bytes(data[:end])
        look = look_over(home)
        assert look.refused or look.codes, end
        if name.startswith("zero"):
            with inert.open(home) as checkpoint:
                assert "zero_pp_rank_1" in faults(checkpoint)["embed.weight"]


def test_random_changes_give_an_answer(copy: Any) -> None:
    rng, home = random.Random(7), copy("zero3")
    for path in sorted(home.iterdir()):
        data = path.read_bytes()
        for _ in range(60):
            mutant = bytearray(data)
            for _ in range(rng.choice((1, 2, 4))):
                mutant[rng.randrange(len(mutant) // 2)] = rng.randrange(256)
            path.write_bytes(mutant)
            look_over(home)
        path.write_bytes(data)


def test_nothing_readable_is_refused(copy: Any) -> None:
    home = copy("zero2")
    for path in home.iterdir():
        path.write_bytes(b"")
    with pytest.raises(FormatError, match="its only model file cannot be read"):
        inert.open(home)
    (home / "mp_rank_01_model_states.pt").write_bytes(b"")
    with pytest.raises(FormatError, match="none of its 2 model files can be read"):
        inert.open(home)


# ------------------------------------------------------------------------------------------------- slices, stages and experts


def test_tensor_parallel_ranks_are_slices_under_their_names(copy: Any) -> None:
    home = copy("zero2")
    for path in list(home.iterdir()):
        shutil.copy(path, home / path.name.replace("mp_rank_00", "mp_rank_01"))
    with inert.open(home) as checkpoint:
        assert "zero-slices" in codes(checkpoint)
        assert set(checkpoint.root) == {"mp_rank_00", "mp_rank_01"}
        assert checkpoint.tensors["mp_rank_01.embed.weight"].path == ("mp_rank_01", "embed.weight")
        assert checkpoint.tensors["mp_rank_01.embed.weight"].sha256() == checkpoint.tensors["mp_rank_00.embed.weight"].sha256()
        assert not faults(checkpoint)
    assert set(inert.load(home)) == {"mp_rank_00", "mp_rank_01"}
    (home / "mp_rank_00_model_states.pt").unlink()
    with inert.open(home) as checkpoint:
        assert list(checkpoint.root) == ["mp_rank_01"]
        assert "zero-missing" in codes(checkpoint)


def test_stages_of_a_pipeline_are_one_model() -> None:
    with inert.open(HERE / "pipeline") as checkpoint:
        assert checkpoint.tensors["1.weight"].dtype == checkpoint.tensors["2.weight"].dtype == "float32"
        assert checkpoint.tensors["0.weight"].dtype == "bfloat16", "the tied layer's own copy, in the model's precision"
        note = next(note for note in checkpoint.notes if note.code == "zero-saved")
        assert note.tensors == ("0.weight",)


def test_slices_of_stages_are_told_by_the_layers(copy: Any) -> None:
    """Two stages of two slices: ranks 0 and 1 are the slices of the first stage."""
    home = copy("pipeline")
    for path in sorted(home.iterdir(), reverse=True):
        if path.name.startswith("layer"):
            shutil.copy(path, home / path.name.replace("-model", "-model_01-model"))
            path.rename(home / path.name.replace("-model", "-model_00-model"))
        else:
            number = 2 * int(path.name.partition("mp_rank_")[2][:2])
            data = path.read_bytes()
            path.unlink()
            for slice in (number, number + 1):
                (
                    home
                    / f"{path.name.partition('mp_rank_')[0]}mp_rank_{slice:02d}_{path.name.rpartition('_mp_rank_')[2][3:] if 'optim' in path.name else 'model_states.pt'}"
                ).write_bytes(data)
    with inert.open(home) as checkpoint:
        assert set(checkpoint.root) == {"mp_rank_00", "mp_rank_01"}
        assert set(checkpoint.root["mp_rank_00"]) == set(checkpoint.root["mp_rank_01"]) >= {"1.weight", "2.weight", "0.weight"}
        assert not faults(checkpoint)


def test_an_expert_s_missing_file_is_told(copy: Any) -> None:
    home = copy("experts")
    (home / "layer_0_expert_1_mp_rank_00_model_states.pt").unlink()
    with inert.open(home) as checkpoint:
        note = next(note for note in checkpoint.notes if note.code == "zero-expert-missing")
        assert note.where.part == "layer_0_expert_1_mp_rank_00_model_states.pt"
    (home / "layer_0_expert_0_mp_rank_00_model_states.pt").unlink()
    with inert.open(home) as checkpoint:
        lost = faults(checkpoint)
        assert [name.rpartition(".")[2] for name in lost] == ["weight", "bias"]
        assert checkpoint.tensors[next(iter(lost))].shape == (4, 4)


# ---------------------------------------------------------------------------------------------------------------------- latest


@pytest.mark.parametrize("tag", ["../zero2/global_step1", "/etc", "..", "a/../b", "C:\\x", "."])
def test_latest_leads_nowhere_else(copy: Any, tag: str) -> None:
    around = copy("zero2").parent
    (around / "latest").write_text(tag)
    with pytest.raises(FormatError, match="is refused"):
        inert.open(around)


@pytest.mark.parametrize("text", [b"", b"global_step2", b"\xff\xfe", b"a\0b", b"x" * 2000, b"two\nlines", b"latest"])
def test_latest_that_names_no_folder_is_nothing(copy: Any, text: bytes) -> None:
    around = copy("zero2").parent
    (around / "latest").write_bytes(text)
    with pytest.raises(UnidentifiedError, match="not of one checkpoint"):
        inert.open(around)
    (around / "zero_to_fp32.py").write_text("")
    with pytest.raises(UnidentifiedError, match="name the folder of one save in it"):
        inert.open(around)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links here")
def test_links_out_of_the_folder_are_refused(copy: Any, tmp_path: Path) -> None:
    home = copy("zero2")
    elsewhere = shutil.move(home, tmp_path / "elsewhere")
    home.symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(FormatError, match="leads out of the folder"):
        inert.open(home.parent)
    home.unlink()
    home.mkdir()
    for path in Path(elsewhere).iterdir():
        (home / path.name).symlink_to(path) if "rank_1" in path.name else shutil.copy(path, home)
    with inert.open(home.parent) as checkpoint:
        assert "link that leads out" in faults(checkpoint)["embed.weight"]


def test_a_folder_with_an_index_is_the_index_s(copy: Any) -> None:
    around = copy("zero2").parent
    shutil.copy(HERE / "zero2" / TAG / "mp_rank_00_model_states.pt", around / "pytorch_model-00001-of-00001.bin")
    (around / "pytorch_model.bin.index.json").write_text('{"weight_map": {"module": "pytorch_model-00001-of-00001.bin"}}')
    with inert.open(around) as checkpoint:
        assert checkpoint.format == "sharded"


# ----------------------------------------------------------------------------------------------------- what nobody would write


def optimizer(flats: list[Any], world: Any = 1, **more: Any) -> dict[str, Any]:
    return {"optimizer_state_dict": {"zero_stage": 2, "partition_count": world, "single_partition_of_fp32_groups": flats, **more}}


def woven(flats: list[Any], world: Any = 1, **more: Any) -> dict[str, Any]:
    return {"optimizer_state_dict": {"zero_stage": 3, "partition_count": world, "fp32_flat_groups": flats, **more}}


def weights(shapes: Any, *optimizers: Any, module: Any = (), **more: Any) -> Weights:
    model = Told("model", {"param_shapes": shapes, **more})
    told = {rank: Told(f"rank {rank}", value) for rank, value in enumerate(optimizers)}
    return Weights(model, list(module), lambda: {0: model}, False, told, lambda role, rank: f"{role} {rank} is not there", DEFAULT)


def floats(*values: float) -> Tensor:
    return dense(np.array(values, np.float32))


@pytest.mark.parametrize("shape", [(-1,), (1 << 62, 4), ("2",), 5, None, (1,) * 70, (True,), {"a": 1}])
@pytest.mark.parametrize("stage", [optimizer, woven])
def test_a_shape_that_is_none_costs_what_stands_behind_it(shape: Any, stage: Any) -> None:
    made = weights([{"bad": shape, "good": (2,)}], stage([floats(1, 2)]))
    assert "its shape is none" in made.tensors["bad"].fault or "none" in made.tensors["bad"].fault
    assert "shape of 'bad'" in made.tensors["good"].fault
    assert [note.code for note in made.notes] == ["zero-sizes"]
    assert prod(made.tensors["bad"].shape) >= 0


def test_a_huge_shape_has_no_partition() -> None:
    for stage in (optimizer, woven):
        made = weights([{"huge": (1 << 40, 1 << 10)}], stage([floats(1, 2)]))
        assert made.tensors["huge"].fault
        assert "the parameters take" in made.notes[0].message


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "flat",
    [dense(np.zeros((2, 2), np.float32)), "text", None, CYCLE, {"a": 1}, dense(np.float32(1)), [1]],
    ids=["2-D", "text", "None", "cycle", "dict", "0-D", "list"],
)
@pytest.mark.parametrize("stage", [optimizer, woven])
def test_a_partition_must_be_flat(flat: Any, stage: Any) -> None:
    made = weights([{"w": (4,)}], stage([flat]))
    assert "flat partition is due" in made.tensors["w"].fault
    assert weights([{"w": (4,)}], stage(flat)).tensors["w"].fault


def test_partitions_that_make_more_of_a_storage_than_it_holds_are_refused() -> None:
    one = floats(*range(8))
    assert "lie over one another" in weights([{"w": (8000,)}], woven([one] * 1000)).tensors["w"].fault
    expanded = one.layout.copy()
    expanded.shape, expanded.strides = (1 << 30,), (0,)
    assert "no plain run" in weights([{"w": (1 << 30,)}], optimizer([Tensor(expanded)])).tensors["w"].fault


@pytest.mark.parametrize("world", [1 << 40, [1 << 40, 2], 0, -1, "2", None, [], [True], CYCLE])
def test_any_number_of_partitions_ends(world: Any) -> None:
    for stage in (optimizer, woven):
        start = process_time()
        made = weights([{"w": (1 << 50,), "v": (2,)}], stage([floats(1, 2)], world))
        assert made.tensors["w"].fault
        assert process_time() - start < 5


def test_sizes_that_do_not_add_up() -> None:
    surplus = weights([{"w": (4,)}], optimizer([floats(*range(400))]))
    assert "the parameters take 4 elements, the partitions hold 400" in surplus.tensors["w"].fault
    assert surplus.notes[0].tensors == ("w",)
    uneven = weights([{"w": (4,), "v": (4,)}], *(optimizer([floats(*range(n))], 4) for n in (2, 3, 2, 2)))
    assert not uneven.tensors["v"].fault
    assert "has 3 elements where 2 are due" in uneven.tensors["w"].fault
    woven3 = weights([{"w": (6,)}], woven([floats(1, 2), floats(3)], 2), woven([floats(4), floats(5, 6)], 2))
    assert "other sizes than the other files" in woven3.tensors["w"].fault
    mixed = weights([{"w": (4,)}], optimizer([floats(1, 2)], 2), optimizer([dense(np.zeros(2))], 2))
    assert "a partition of float64 among those of float32" in mixed.tensors["w"].fault
    empty = weights([{"w": (1,)}], optimizer([floats()]))
    assert empty.tensors["w"].fault


def test_paddings_must_be_those_of_the_parameters() -> None:
    padded = weights([{"w": (2,), "v": (1,)}], optimizer([floats(1, 2, 0, 3)], param_alignment_paddings=[[1, 0]]))
    assert padded.tensors["v"].numpy().tolist() == [3.0]
    for wrong in ([[1]], [[1, -1]], [[1, "0"]], [7]):
        made = weights([{"w": (2,), "v": (1,)}], optimizer([floats(1, 2, 0, 3)], param_alignment_paddings=wrong))
        assert "paddings" in made.tensors["v"].fault, wrong


def test_a_part_of_a_parameter_may_cross_flat_groups() -> None:
    made = weights(
        [{"w": (5,), "v": ()}],
        woven([floats(1, 2), floats(3, 9)], 2),
        woven([floats(4, 5), floats(0, 0)], 2),
    )
    assert made.tensors["w"].numpy().tolist() == [1, 2, 3, 4, 5]
    assert made.tensors["v"].numpy() == 9
    assert made.tensors["v"].kind == "dense"


def test_ranks_are_sorted_by_number() -> None:
    made = weights([{"w": (24,)}], *(optimizer([floats(2 * rank, 2 * rank + 1)], 12) for rank in range(12)))
    assert made.tensors["w"].numpy().tolist() == list(range(24))


def test_autoep_s_partitions_are_refused_as_deepspeed_refuses_them() -> None:
    layers = [{"checkpoint_format": "zero3_partitioned"}]
    made = weights([{"w": (2,)}], woven([floats(1, 2)]), ds_autoep_layers=layers)
    assert "AutoEP" in made.tensors["w"].fault
    assert made.notes[0].code == "zero-experts"


@pytest.mark.parametrize("odd", [None, 5, [5], {"a": 1}, [{5: (2,)}], CYCLE, [[]], "text"])
def test_whatever_stands_in_the_model_file(odd: Any) -> None:
    for key in (
        "param_shapes",
        "buffer_names",
        "frozen_param_shapes",
        "frozen_param_fragments",
        "shared_params",
        "ds_config",
        "ds_autoep_layers",
    ):
        more = {"module": [("w", floats(1))], key: odd} if key != "param_shapes" else {"module": [("w", floats(1))]}
        shapes = odd if key == "param_shapes" else [{"v": (1,)}]
        for stage in (optimizer, woven):
            made = weights(shapes, stage([floats(7)]), **more)
            assert "w" in made.tensors
            assert key == "param_shapes" or not made.tensors["v"].fault


def test_whatever_stands_in_an_optimizer_file() -> None:
    for odd in (None, 5, [], {}, {"optimizer_state_dict": CYCLE}, {"optimizer_state_dict": {"partition_count": 1}}):
        made = weights([{"v": (1,)}], odd)
        assert made.tensors["v"].fault


def every(world: int, count: int) -> Iterator[dict[str, Any]]:
    for rank in range(world):
        yield woven([dense(np.full(count, rank, np.float32))], world)


def test_a_thousand_ranks_are_strung_together_without_keeping_the_runs() -> None:
    made = weights([{f"p{i}": (1000, 2) for i in range(5)}], *every(1000, 10))
    assert not any(tensor.fault for tensor in made.tensors.values())
    tensor = made.tensors["p4"]
    assert (tensor.kind, tensor.components) == ("tiled", {})
    assert np.array_equal(tensor.numpy(), np.repeat(np.arange(1000, dtype=np.float32), 2).reshape(1000, 2))
    assert tensor[500].tolist() == [500, 500]
