"""Files of single ranks: what each holds of its DTensors and ShardedTensors, and where that lies in the whole.

tests/corpus/distributed/ is made by make_distributed.py with several versions of torch, whose words on each tensor stand in expected.json.
Hostile ones are made by hand; the arithmetic of shards is held against numpy.array_split and a plain model.
"""

from __future__ import annotations

import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import inert
from inert.cli import main
from inert.errors import FormatError, UnsupportedError
from inert.report.show import show
from inert.stats import stats
from inert.tensor import Tensor
from inert.torch.cuts import chunk, joined, part
from inert.torch.predict import loads
from tests.conformance import look_over
from tests.makers import Made, Name, dumps, storage, tensor, torch_zip

HERE = Path(__file__).parent / "corpus" / "distributed"
TABLE: dict[str, Any] = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
EACH = [(file, name) for file, row in TABLE.items() for name in row["tensors"]]
# torch 2.1's compute_local_offset forgets the first cut of a dimension that is cut twice; its own local tensor begins at row 3
WRONG = {("dtensor-2.1.2-2.pt", "twice"): (3, 0)}
ROWS = np.arange(15, dtype="f4").reshape(5, 3)


@pytest.mark.parametrize(("file", "name"), EACH)
def test_what_torch_says_of_it(file: str, name: str) -> None:
    expected = TABLE[file]["tensors"][name]
    with inert.open(HERE / file) as checkpoint:
        found = checkpoint.tensors[name]
        assert (list(found.shape), found.dtype) == (expected["shape"], expected["dtype"])
        hashes = {role: held.sha256() for role, held in found.components.items()}
        assert hashes == {role: held["sha256"] for role, held in expected["parts"].items()}
        wanted = {role: (tuple(held["offsets"]), tuple(held["shape"])) for role, held in expected["parts"].items()}
        if (file, name) in WRONG:
            wanted["_local_tensor"] = (WRONG[file, name], wanted["_local_tensor"][1])
        if name in ("terms", "scattered"):  # terms of a sum, and every other row: no boxes
            wanted = {}
        assert found.boxes == wanted
        if "whole" in expected:
            assert found.sha256() == expected["whole"]
            assert found.nbytes == found.numpy().nbytes
        elif expected["parts"] and any(expected["shape"]):
            with pytest.raises(UnsupportedError, match="this file holds"):
                found.sha256()


@pytest.mark.parametrize("file", [file for file in TABLE if file.startswith("dtensor")])
def test_a_box_is_where_the_values_lie(file: str) -> None:
    with inert.open(HERE / file) as checkpoint:
        for name in ("rows", "columns", "everywhere", "both", "twice", "mixed", "parameter"):
            for found in [checkpoint.tensors[name]] if name in checkpoint.tensors else []:
                at, size = found.boxes["_local_tensor"]
                wanted = ROWS[tuple(slice(start, start + count) for start, count in zip(at, size, strict=True))]
                assert np.array_equal(found.components["_local_tensor"].numpy(), wanted), name


@pytest.mark.parametrize(
    ("file", "name", "says", "holds"),
    [
        ("dtensor-2.13.0-1.pt", "rows", "Shard(0) on mesh 4, rank 1 at [1]", "rows 2:4 of it"),
        ("dtensor-2.13.0-3.pt", "both", "Shard(0), Shard(1) on mesh dp=2 × tp=2, rank 3 at [1, 1]", "[3:5, 2:3] of it"),
        ("dtensor-2.13.0-3.pt", "columns", "Shard(1) on mesh 4, rank 3 at [3]", "nothing of it"),
        ("dtensor-2.13.0-1.pt", "terms", "Partial(sum) on mesh 4, rank 1 at [1]", "one process's term of it"),
        (
            "dtensor-2.13.0-1.pt", "strided", "_StridedShard(0, split_factor=2), Shard(0) on mesh dp=2 × tp=2, rank 1 at [0, 1]", "rows 4:6 of it",
        ),
        (
            "dtensor-2.13.0-1.pt", "scattered", "_StridedShard(0, split_factor=2), Replicate() on mesh dp=2 × tp=2, rank 1 at [0, 1]", "a part of it",
        ),
        ("dtensor-2.13.0-3.pt", "sub", "Shard(0) on mesh tp=2, rank 3 at [1]", "rows 3:5 of it"),
        ("dtensor-2.1.2-2.pt", "both", "Shard(0), Shard(1) on mesh 2 × 2, at [1, 0]", "[3:5, 0:2] of it"),
        ("dtensor-2.3.1-3.pt", "mixed", "Replicate(), Shard(1) on mesh dp=2 × tp=2, rank 3 at [1, 1]", "[0:5, 2:3] of it"),
        ("dtensor-2.6.0-2.pt", "both", "Shard(0), Shard(1) on mesh dp=2 × tp=2, rank 2 at [1, 0]", "[3:5, 0:2] of it"),
        ("dtensor-2.9.1-1.pt", "both", "Shard(0), Shard(1) on mesh dp=2 × tp=2, rank 1 at [0, 1]", "[0:3, 2:3] of it"),
        ("sharded-1.13.1-1.pt", "w", "1 of 2 shards, rank 1 of 2", "rows 3:5 of it"),
        ("fsdp_local-2.13.0-1.pt", "_flat_param", "1 of 2 shards, rank 1 of 2", "[16:32] of it"),
        ("fsdp_sharded-2.13.0-3.pt", "1.weight", "0 of 2 shards, rank 3 of 4", "a part of it"),
    ],
)  # fmt: skip
def test_the_placement_is_said_and_what_the_file_holds(file: str, name: str, says: str, holds: str) -> None:
    with inert.open(HERE / file) as checkpoint:
        found = checkpoint.tensors[name]
        assert found.placement == says
        with pytest.raises(UnsupportedError) as caught:
            found.numpy()
        assert f"this file holds {holds}" in caught.value.message
        assert says in caught.value.message
        assert "see its components" in caught.value.hint


def test_a_tensor_of_one_piece_has_no_placement() -> None:
    with inert.open(HERE.parent / "torch" / "small.pt") as checkpoint:
        found = checkpoint.tensors["w_f32"]
        assert (found.placement, found.boxes) == ("", {})
        row = show(checkpoint, "w_f32")
        assert not {"placement", "boxes", "holds"} & set(row)


def test_a_whole_copy_is_read_as_the_whole() -> None:
    with inert.open(HERE / "dtensor-2.13.0-1.pt") as checkpoint:
        found = checkpoint.tensors["everywhere"]
        assert (found.kind, found.storage) == ("wrapper", found.components["_local_tensor"].storage)
        assert np.array_equal(found.numpy(), ROWS)
        assert not found.numpy().flags.owndata
        assert found[1:3, 2].tolist() == ROWS[1:3, 2].tolist()
        assert b"".join(found.chunks()) == ROWS.tobytes()
        assert stats(found)["max"] == 14
        assert found.file_offset == found.components["_local_tensor"].file_offset
        with pytest.raises(UnsupportedError):
            stats(checkpoint.tensors["rows"])
    with inert.open(HERE / "alone-2.13.0-0.pt") as checkpoint:
        two, turned = checkpoint.tensors["two"], checkpoint.tensors["mesh"]
        assert (two.kind, list(two.components), two.boxes["1"]) == ("tiled", ["0", "1"], ((3, 0), (2, 3)))
        assert two[2:4].tolist() == ROWS[2:4].tolist()
        assert np.array_equal(turned.numpy(), ROWS.T)


def test_boxes_of_a_folder_of_chunks() -> None:
    with inert.open(HERE.parent / "dcp" / "two_ranks") as checkpoint:
        assert checkpoint.tensors["model.rows"].boxes == {"0,0": ((0, 0), (3, 4)), "3,0": ((3, 0), (3, 4))}
        assert checkpoint.tensors["model.rows"].placement == ""


def test_load_gives_whole_copies_as_arrays_and_parts_as_tensors() -> None:
    state = inert.load(HERE / "alone-2.13.0-0.pt")
    assert state["two"].tolist() == ROWS.tolist()
    assert isinstance(inert.load(HERE / "dtensor-2.13.0-1.pt")["rows"], Tensor)


# ----------------------------------------------------------------------------------------------------------------------- faces


def test_the_faces_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", str(HERE / "dtensor-2.13.0-1.pt")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("rows ") and "holds rows 2:4, Shard(0) on mesh 4, rank 1 at [1]" in line for line in lines)
    assert any(line.startswith("terms ") and line.endswith("wrapper, Partial(sum) on mesh 4, rank 1 at [1]") for line in lines)
    assert main(["ls", str(HERE / "sharded-2.13.0-1.pt"), "--json", "--hash"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["tensors"]
    assert (row["placement"], row["holds"], row["sha256"]) == ("1 of 2 shards, rank 1 of 2", "rows 3:5", None)
    assert row["boxes"] == {"0": {"offsets": [3, 0], "shape": [2, 3]}}
    assert row["components"]["0"]["shape"] == [2, 3]
    assert row["nbytes"] == 24
    assert main(["show", str(HERE / "sharded-2.13.0-1.pt"), "w"]) == 0
    out = capsys.readouterr().out
    assert "0: float32 [2,3], 24 B, [3:5, 0:3] of the whole" in out
    assert "this file holds rows 3:5 of it" in out
    assert main(["show", str(HERE / "sharded-2.13.0-1.pt"), "w.0"]) == 0
    assert "14." in capsys.readouterr().out


@pytest.mark.parametrize("file", ["fsdp_local-2.13.0-1.pt", "fsdp_local-2.3.1-1.pt"])
def test_a_flattened_parameter_is_said_to_be_one(file: str) -> None:
    with inert.open(HERE / file) as checkpoint:
        (note,) = checkpoint.notes
        assert (note.code, note.severity, note.tensors) == ("tensor-flattened", "info", ("_flat_param",))
        assert "cannot take apart" in note.message


@pytest.mark.parametrize(
    ("file", "says"),
    [
        ("sharded-2.13.0-1.pt", "only by rank 1 of 2"),
        ("fsdp_local-2.13.0-1.pt", "only by rank 1 of 2"),
        ("dtensor-2.13.0-1.pt", ""),
        ("dtensor-2.3.1-3.pt", "lacks torch.distributed._tensor.placement_types._Partial"),
    ],
)
def test_whether_torch_would_load_it(file: str, says: str) -> None:
    with inert.open(HERE / file) as checkpoint:
        full = loads(checkpoint)["full"]
    assert full["ok"] == (not says)
    assert says in full["why"]
    assert ("torch.distributed.init_process_group" in full["why"]) == ("rank" in says)


# ----------------------------------------------------------------------------------------------------------------------- arithmetic


@given(st.integers(0, 60), st.integers(1, 12))
def test_chunks_are_those_of_torch(size: int, count: int) -> None:
    full = -(-size // count)
    model = [list(range(size))[full * i : full * (i + 1)] for i in range(count)]
    assert [list(range(*chunk(size, count, i))) for i in range(count)] == model
    assert sum(map(len, model)) == size


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=5), st.integers(0, 30), st.integers(0, 30))
def test_runs_are_cut_and_joined_as_lists_are(steps: list[tuple[int, int]], start: int, end: int) -> None:
    runs, at = [], 0
    for gap, count in steps:
        runs.append((at + gap, count))
        at += gap + count
    flat = [i for first, count in runs for i in range(first, first + count)]
    assert [i for first, count in part(runs, start, end) for i in range(first, first + count)] == flat[start:end]
    merged = joined(runs)
    assert [i for first, count in merged for i in range(first, first + count)] == flat
    assert all(a + n < b for (a, n), (b, _) in pairwise(merged))


# ----------------------------------------------------------------------------------------------------------------------- by hand

DTENSOR = Name("torch.distributed.tensor", "DTensor")
SHARDED = Name("torch.distributed._shard.sharded_tensor.api", "ShardedTensor")
KINDS = "torch.distributed.tensor.placement_types"


def made(module: str, name: str, state: Any) -> Made:
    return Made(Name(module, name), (), state, new=True)


def wrapper(kind: Name, shape: Any, state: Any) -> Made:
    device = Made(Name("torch", "device"), ("cpu",))
    arguments = (kind, Name("torch", "float32"), shape, (1,) * len(shape), 0, Name("torch", "strided"), device, False)
    return Made(Name("torch._tensor", "_rebuild_from_type_v2"), (Name("torch._utils", "_rebuild_wrapper_subclass"), kind, arguments, state))


def mesh_of(sizes: Any, at: Any, **more: Any) -> Made:
    axes = tuple(made("torch.distributed._mesh_layout", "_FlatLayout", {"shape": size, "stride": (1,)}) for size in sizes)
    layout = made("torch.distributed._mesh_layout", "_MeshLayout", {"axes": axes})
    return made("torch.distributed.device_mesh", "DeviceMesh", {"_layout": layout, "_coordinate_on_dim": at, **more})


def dtensor(shape: Any, placements: Any, mesh: Any, local: Any = None, **more: Any) -> Made:
    spec = made("torch.distributed.tensor._dtensor_spec", "DTensorSpec", {"mesh": mesh, "placements": placements, **more})
    return wrapper(DTENSOR, shape, (None, {"_local_tensor": local or tensor(storage("0", 4), (2, 2)), "_spec": spec}))


def shard(dim: Any) -> Made:
    return made(KINDS, "Shard", {"dim": dim})


def strided(dim: Any, factor: Any) -> Made:
    return made(KINDS, "_StridedShard", {"dim": dim, "split_factor": factor})


def local(offsets: Any, sizes: Any, held: Any = None) -> Made:
    where = made("torch.distributed._shard.metadata", "ShardMetadata", (None, {"shard_offsets": offsets, "shard_sizes": sizes}))
    held = tensor(storage("0", 4), (2, 2)) if held is None else held
    return made("torch.distributed._shard.sharded_tensor.shard", "Shard", (None, {"tensor": held, "metadata": where}))


def sharded(shards: Any, shape: Any = (4, 2), everywhere: Any = 2, group: Any = None) -> Made:
    said = {"shards_metadata": [None] * everywhere, "size": shape}
    metadata = made("torch.distributed._shard.sharded_tensor.metadata", "ShardedTensorMetadata", said)
    return wrapper(SHARDED, shape, (shards, metadata, group, None, False))


def opened(state: Any) -> inert.Checkpoint:
    return inert.open(io.BytesIO(torch_zip(dumps(state), {"0": np.arange(4, dtype="f4").tobytes()})))


def one(state: Any) -> Tensor:
    return opened({"w": state}).tensors["w"]


MESH = mesh_of([(2,)], (1,), _rank=1)
BIG = 1 << 80
ORDER = Name("torch.distributed.tensor._dtensor_spec", "ShardOrderEntry")


def test_a_tensor_by_hand_has_its_box() -> None:
    found = one(dtensor((4, 2), (shard(0),), MESH))
    assert found.boxes == {"_local_tensor": ((2, 0), (2, 2))}
    assert found.placement == "Shard(0) on mesh 2, rank 1 at [1]"
    found = one(sharded([local([2, 0], [2, 2])]))
    assert (found.boxes, found.placement) == ({"0": ((2, 0), (2, 2))}, "1 of 2 shards")


@pytest.mark.parametrize(
    "odd",
    [
        dtensor((4, 2), (shard(2),), MESH), dtensor((4, 2), (shard(-1),), MESH), dtensor((4, 2), (shard("0"),), MESH),
        dtensor((4, 2), (shard(True),), MESH), dtensor((4, 2), (shard(BIG),), MESH), dtensor((4, 2), (shard(None),), MESH),
        dtensor((4, 2), (made(KINDS, "Diagonal", {"dim": 0}),), MESH), dtensor((4, 2), (made("gone", "Shard", {"dim": 0}),), MESH),
        dtensor((4, 2), (shard(0), shard(0)), MESH), dtensor((4, 2), (shard(0),), mesh_of([(2,)], (2,))),
        dtensor((4, 2), (shard(0),), mesh_of([(2,)], (-1,))), dtensor((4, 2), (shard(0),), mesh_of([(2,)], None)),
        dtensor((4, 2), (shard(0),), mesh_of([(2,)], (0, 0))), dtensor((4, 2), (shard(0),), mesh_of([(0,)], (0,))),
        dtensor((4, 2), (shard(0),), mesh_of([(BIG,)], (0,))), dtensor((4, 2), (shard(0),), mesh_of([(1 << 62, 1 << 62)], (0,))),
        dtensor((4, 2), (shard(0),), mesh_of([("2",)], (0,))), dtensor((4, 2), (shard(0),), mesh_of([5], (0,))),
        dtensor((4, 2), (shard(0),), mesh_of([(2,)] * 5000, (0,) * 5000)), dtensor((4, 2), (shard(0),), None),
        dtensor((4, 2), (shard(0),) * 5000, mesh_of([(2,)] * 5000, (0,) * 5000)), dtensor((4, 2), (3, None, "x"), MESH),
        dtensor((4, 2), (strided(0, 0),), MESH), dtensor((4, 2), (strided(0, -2),), MESH), dtensor((4, 2), (strided(0, BIG),), MESH),
        dtensor((4, 2), (strided(0, "2"),), MESH), dtensor((1 << 62, 2), (strided(0, 1 << 40),), MESH),
        dtensor((-4, 2), (shard(0),), MESH), dtensor((4, 2), (made(KINDS, "Partial", {"reduce_op": "sum"}),), MESH),
        dtensor((4, 2), (shard(0),), MESH, shard_order=(Made(ORDER, (0, (7,)), new=True),)),
        dtensor((4, 2), (shard(0),), MESH, shard_order=(Made(ORDER, (0, (0, 0)), new=True),)),
        dtensor((4, 2), (shard(0),), MESH, shard_order=(5,)),
        dtensor((5, 2), (shard(0),), mesh_of([(5,)], (1,))), dtensor((2, 2), (shard(0),), mesh_of([(1 << 62,)], (1 << 61,))),
        sharded([local([-2, 0], [2, 2])]), sharded([local([3, 0], [2, 2])]), sharded([local([2, 0], [1, 2])]), sharded([local([2], [2])]),
        sharded([local([2.0, 0], [2, 2])]), sharded([local("20", "22")]), sharded([local([BIG, 0], [2, 2])]), sharded([local(None, None)]),
        sharded([]), sharded([5, None]), sharded([local([0, 0], [2, 2], held="no tensor")]),
    ],
)  # fmt: skip
def test_what_does_not_fit_has_no_box_and_is_read_all_the_same(odd: Made) -> None:
    checkpoint = opened({"w": odd})
    found = checkpoint.tensors["w"]
    assert (found.kind, found.boxes) == ("wrapper", {})
    assert len(found.placement) < 90_000
    with pytest.raises(UnsupportedError):
        found.numpy()
    for held in found.components.values():
        assert held.numpy().tolist() == [[0, 1], [2, 3]]
    assert "w" in look_over(io.BytesIO(torch_zip(dumps({"w": odd}), {"0": bytes(16)}))).names


def test_a_local_tensor_of_another_shape_is_told() -> None:
    found = one(dtensor((5, 2), (shard(0),), mesh_of([(5,)], (1,))))
    assert found.placement == "Shard(0) on mesh 5, at [1] (but _local_tensor is not of that shape)"


def test_names_of_a_mesh_cannot_steer_a_terminal() -> None:
    found = one(dtensor((4, 2), (shard(0),), mesh_of([(2,)], (1,), _mesh_dim_names=("\x1b[2J" + "x" * 500,))))
    assert found.placement.startswith("Shard(0) on mesh \\x1b[2Jxxx")
    assert len(found.placement) < 100
    assert one(dtensor((4, 2), (shard(0),), mesh_of([(2,)], (1,), _mesh_dim_names=(1, 2)))).placement == "Shard(0) on mesh 2, at [1]"


@pytest.mark.parametrize(
    ("order", "at", "wanted"),
    [((0, 1), (0, 1), 1), ((1, 0), (0, 1), 2), ((1, 0), (1, 0), 1)],
)
def test_shards_are_cut_in_their_order(order: tuple[int, ...], at: tuple[int, ...], wanted: int) -> None:
    held = tensor(storage("0", 4), (1, 4))
    entry = Made(ORDER, (0, order), new=True)
    found = one(dtensor((4, 4), (shard(0), shard(0)), mesh_of([(2,), (2,)], at), local=held, shard_order=(entry,)))
    assert found.boxes == {"_local_tensor": ((wanted, 0), (1, 4))}


def test_what_replicates_needs_no_mesh() -> None:
    found = one(dtensor((2, 2), (made(KINDS, "Replicate", {}),), None))
    assert found.numpy().tolist() == [[0, 1], [2, 3]]
    assert found.placement == "Replicate() on a mesh of unknown shape"


def test_a_damaged_local_tensor_is_a_damaged_tensor() -> None:
    checkpoint = opened({"w": dtensor((2, 2), (made(KINDS, "Replicate", {}),), MESH, local=tensor(storage("9", 4), (2, 2)))})
    assert [note.code for note in checkpoint.errors] == ["record-missing"]
    with pytest.raises(FormatError, match="_local_tensor: its storage data/9 is not in the file"):
        checkpoint.tensors["w"].numpy()


def test_local_shards_that_overlap_or_lie_make_no_whole() -> None:
    twice = one(sharded([local([0, 0], [2, 2]), local([0, 0], [2, 2])], (4, 2)))
    with pytest.raises(FormatError, match="some twice"):
        twice.numpy()
    spread = tensor(storage("0", 4), (1 << 40, 2), (0, 1))  # a few bytes that are many elements
    bomb = one(sharded([local([0, 0], [1 << 40, 2], spread), local([1 << 40, 0], [1 << 40, 2], spread)], (1 << 41, 2)))
    assert (bomb.kind, len(bomb.boxes)) == ("wrapper", 2)
    with pytest.raises(UnsupportedError, match="this file holds"):
        bomb.sha256()


def test_wrappers_that_hold_themselves_end() -> None:
    state: list[Any] = []
    around = sharded(state)
    state.append(local([0, 0], [4, 2], around))
    assert opened({"w": around}).root is not None
    inner: Any = tensor(storage("0", 4), (2, 2))
    for _ in range(15):
        inner = sharded([local([0, 0], [2, 2], inner)] * 8, (2, 2))
    look_over(io.BytesIO(torch_zip(dumps({"w": inner}), {"0": bytes(16)})))


def test_one_list_of_shards_for_many_tensors_costs_no_more_than_its_bound() -> None:
    many = [local([0, 0], [2, 2])] * 20_000
    found = opened([sharded(many) for _ in range(100)])
    codes = {note.code for note in found.notes}
    assert "tensor-damaged" in codes, "the bound on what wrapper subclasses list is met, and said"


def test_a_sharded_tensor_as_an_object() -> None:
    """As torch 1.10 to 1.12 saved it: NEWOBJ, and the state that later ones have."""
    for module in ("_shard.sharded_tensor", "_sharded_tensor"):
        home = f"torch.distributed.{module}"
        properties = made(f"{home}.metadata", "TensorProperties", (Name("torch", "float32"), Name("torch", "strided"), True, 0, False))
        said = {"shards_metadata": [None, None], "size": Made(Name("torch", "Size"), ((4, 2),)), "tensor_properties": properties}
        where = made(
            "torch.distributed._sharding_spec._internals", "ShardMetadata", (None, {"shard_offsets": [2, 0], "shard_lengths": [2, 2]})
        )
        held = {"tensor": tensor(storage("0", 4), (2, 2)), "metadata": where}
        group = Made(Made(Name("builtins", "getattr"), (Name(f"{home}.api", "ShardedTensor"), "ProcessGroupState")), (), None, new=True)
        state = ([made(f"{home}.shard", "Shard", (None, held))], made(f"{home}.metadata", "ShardedTensorMetadata", said), None, None, False)
        checkpoint = opened({"w": made(f"{home}.api", "ShardedTensor", state), "group": group})
        found = checkpoint.tensors["w"]
        assert (found.shape, found.dtype, found.requires_grad) == ((4, 2), "float32", True)
        assert (found.boxes, found.placement) == ({"0": ((2, 0), (2, 2))}, "1 of 2 shards")
        assert "torch 1.12 and before" in loads(checkpoint)["full"]["why"]
        odd = opened({"w": made(f"{home}.api", "ShardedTensor", {"a": 1})})
        assert "tensor-damaged" in {note.code for note in odd.notes}


def test_local_shards_in_a_dtensor_are_components_of_it() -> None:
    chunks = [made("torch.distributed.checkpoint.metadata", "ChunkStorageMetadata", {"offsets": (0, i), "sizes": (2, 2)}) for i in (0, 2)]
    meta = made("torch.distributed.checkpoint.metadata", "TensorStorageMetadata", {"chunks": chunks})
    kind = Name("torch.distributed.tensor._shards_wrapper", "LocalShardsWrapper")
    held = [tensor(storage("0", 4), (2, 2))] * 2
    inner = wrapper(kind, (2, 4), (None, {"_local_shards": held, "_storage_meta": meta}))
    found = one(dtensor((2, 4), (shard(0),), MESH, local=inner)).components["_local_tensor"]
    assert (list(found.components), found.placement) == (["0", "1"], "2 local shards at [0, 0], [0, 2]")
    assert found.components["1"].numpy().tolist() == [[0, 1], [2, 3]]
