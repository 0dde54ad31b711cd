"""TorchScript, torch.package and torch.export: names, roles, what is flagged, and that no bytes get anything but a result or an InertError.

That each file of tests/corpus/script is read as torch reads it, to the bit, is for test_corpus.py; here are the corners.
"""

from __future__ import annotations

import io
import json
import random
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.containers.jsontext import parse_record as parse
from inert.errors import FormatError, InertError, LimitError
from inert.files import FileSource
from inert.limits import Limits
from inert.names import HERE, Joined, Lister
from inert.source import BytesSource, Window
from inert.torch.objects import Object
from inert.torch.predict import loads
from inert.torch.storages import SCALAR_TYPES
from tests.conformance import look_over
from tests.makers import dumps, storage, tensor, torch_zip

FOLDER = Path(__file__).parent / "corpus" / "script"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix != ".json")
EMPTY = b"\x80\x02)."  # the pickle of ()


def zipped(records: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> io.BytesIO:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=method)
    return out


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def codes(checkpoint: inert.Checkpoint) -> set[str]:
    return {note.code for note in checkpoint.notes}


# ------------------------------------------------------------------------------------------------------------------- TorchScript


def test_a_scripted_module_is_an_object_graph() -> None:
    with inert.open(FOLDER / "module.pt") as checkpoint:
        root = checkpoint.root
        assert isinstance(root, Object)
        assert root.type == "__torch__.Outer"
        assert root["tied"]["weight"].storage is root["inner"]["weight"].storage
        assert root["numbers"] == [1, 2, 3]
        assert checkpoint.tensors["inner.weight"].storage is checkpoint.tensors["tied.weight"].storage
        assert checkpoint.tensors["inner.weight"].path == ("inner", "weight")


def test_tensors_are_detached_and_parameters_known_by_their_type() -> None:
    for name in ("module.pt", "flatbuffer.ptl"):
        with inert.open(FOLDER / name) as checkpoint:
            weight, count = checkpoint.tensors["inner.weight"], checkpoint.tensors["inner.count"]
            assert not weight.requires_grad
            assert (weight.layout.type, count.layout.type) == ("torch.nn.parameter.Parameter", "")


def test_roles_of_records() -> None:
    with inert.open(FOLDER / "module.pt") as checkpoint:
        roles = {name.partition("/")[2]: part.role for name, part in checkpoint.parts.items()}
    assert roles["data.pkl"] == "pickle"
    assert roles["data/0"] == "storage"
    assert roles["constants.pkl"] == "constants"
    assert roles["code/__torch__.py"] == "code"
    assert roles["code/__torch__.py.debug_pkl"] == "debug"
    assert roles["extra/sub/labels.txt"] == "extra"
    with inert.open(FOLDER / "lite.ptl") as checkpoint:
        assert checkpoint.parts["lite/bytecode.pkl"].role == "bytecode"
    with inert.open(FOLDER / "flatbuffer.ptl") as checkpoint:
        found = {name: part.role for name, part in checkpoint.parts.items()}
        assert found["storage 0"] == "storage"
        assert "code" in found.values()
        part = checkpoint.parts["storage 0"]
        assert part.offset is not None
        assert checkpoint.metadata["bytecode_version"] == "9"


def test_every_pickle_is_there_the_object_first() -> None:
    with inert.open(FOLDER / "lite.ptl") as checkpoint:
        names = [name.partition("/")[2] for name in checkpoint.pickles]
        assert names[0] == "data.pkl"
        assert {"constants.pkl", "bytecode.pkl", "code/__torch__.py.debug_pkl"} <= set(names)
        assert "lite/nothing" not in checkpoint.pickles
        assert all(document.fault is None for document in checkpoint.pickles.values())


def test_a_frozen_module_shows_its_constants() -> None:
    with inert.open(FOLDER / "frozen.pt") as checkpoint:
        assert list(checkpoint.root) == []
        assert all(name.startswith("CONSTANTS.c") for name in checkpoint.tensors)
        assert checkpoint.tensors["CONSTANTS.c0"].path == ("CONSTANTS", "c0")


def test_an_attribute_called_constants_gets_a_name_of_its_own() -> None:
    with inert.open(FOLDER / "frozen.pt") as checkpoint:
        tensor = checkpoint.tensors["CONSTANTS.c0"]
    joined = Joined([(HERE, {"CONSTANTS": {"c0": tensor}}), ("CONSTANTS", {"c0": tensor})])
    assert list(Lister(joined, Limits()).tensors) == ['["CONSTANTS"]["c0"]', '["CONSTANTS"]["c0"]#2']


def test_load_gives_arrays() -> None:
    for name in ("module.pt", "flatbuffer.ptl"):
        root = inert.load(FOLDER / name)
        assert root["inner"]["weight"].tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert inert.load(FOLDER / "export.pt2")["kept"].shape == (3,)


def model_json(**changes: Any) -> bytes:
    row = {
        "dims": ["2"],
        "offset": "0",
        "strides": ["1"],
        "requiresGrad": True,
        "dataType": "FLOAT",
        "data": {"key": "tensors/0"},
        "device": "cpu",
    }
    model = {
        "protoVersion": "5",
        "producerName": "pytorch",
        "mainModule": {
            "parameters": [{"name": "w", "tensorId": "0", "isBuffer": False}],
            "attributes": [{"name": "n", "type": "int", "id": "0"}, {"name": "none", "id": "-1"}],
            "submodules": [{"name": "sub", "parameters": [{"name": "b", "tensorId": "0", "isBuffer": True}]}],
        },
        "tensors": [row | changes],
    }
    return json.dumps(model).encode()


def model(**changes: Any) -> dict[str, bytes]:
    number = b"\x80\x02(K\x07t."
    return {"m/version": b"1\n", "m/model.json": model_json(**changes), "m/attributes.pkl": number, "m/tensors/0": struct.pack("<2f", 1, 2)}


def test_model_json() -> None:
    with inert.open(zipped(model())) as checkpoint:
        assert checkpoint.format == "torchscript"
        assert list(checkpoint.tensors) == ["w", "sub.b"]
        assert checkpoint.root["n"] == 7
        assert checkpoint.root["none"] is None
        assert checkpoint.tensors["w"].numpy().tolist() == [1.0, 2.0]
        assert checkpoint.tensors["w"].storage is checkpoint.tensors["sub.b"].storage
        assert checkpoint.metadata["producerName"] == "pytorch"
    with inert.open(zipped(model(dataType="UINT8", isQuantized=True, scale=0.5, zeroPoint="3"))) as checkpoint:
        assert checkpoint.tensors["w"].layout.quantization == {"scheme": "per_tensor_affine", "scale": 0.5, "zero_point": 3}


WRONG_ROWS: tuple[dict[str, Any], ...] = (
    {"dataType": "STRING"}, {"data": {"key": "tensors/9"}}, {"data": 3}, {"dims": ["99"]}, {"dims": "x"}, {"strides": [None]},
    {"offset": "-1"}, {"dims": [str(10**30)]}, {"offset": 1.5},
)  # fmt: skip


@pytest.mark.parametrize("changes", WRONG_ROWS, ids=str)
def test_a_wrong_tensor_of_model_json_is_refused_alone(changes: dict[str, Any]) -> None:
    with inert.open(zipped(model(**changes))) as checkpoint:
        assert checkpoint.tensors["w"].fault
        assert "tensor-damaged" in codes(checkpoint)


def test_model_json_of_nonsense() -> None:
    for text in (
        b"",
        b"[]",
        b"{",
        b'{"mainModule": 3}',
        b'{"mainModule": {"parameters": [{"name": "a", "tensorId": "7"}, 3], "submodules": [4]}}',
        b"\xff",
    ):
        look_over(zipped({"m/version": b"1\n", "m/model.json": text, "m/tensors/0": b""}))  # type: ignore[arg-type]


def pickled(body: bytes) -> dict[str, bytes]:
    return {"m/data.pkl": b"\x80\x02" + body + b".", "m/constants.pkl": EMPTY, "m/version": b"3\n", "m/byteorder": b"little"}


def test_tags_enums_and_tables_of_the_pickler() -> None:
    lists = b"ctorch.jit._pickle\nbuild_intlist\n(](K\x01K\x02etR"
    tagged = b"ctorch.jit._pickle\nrestore_type_tag\n(}X\x01\0\0\0aK\x01sX\x0e\0\0\0Dict[str, int]tR"
    with inert.open(zipped(pickled(b"(" + lists + tagged + b"c__torch__\nColour\nK\x05Rt"))) as checkpoint:
        numbers, table, colour = checkpoint.root
        assert numbers == [1, 2]
        assert table == {"a": 1}
        assert (colour.type, colour.arguments) == ("__torch__.Colour", 5)
    with inert.open(zipped(pickled(b"ctorch.jit._pickle\nbuild_tensor_from_id\n(K\x05tR"))) as checkpoint:
        assert "value-odd" in codes(checkpoint)
    with inert.open(zipped(pickled(b"c__main__\nIntList\n(](K\x01etR"))) as checkpoint:
        assert checkpoint.root == [1]


def test_a_name_that_runs_code_stays_a_name() -> None:
    with inert.open(zipped(pickled(b"cposix\nsystem\nX\x02\0\0\0ls\x85R"))) as checkpoint:
        assert checkpoint.root.type == "posix.system"
    records = {**pickled(b"}"), "m/bytecode.pkl": b"\x80\x02cposix\nsystem\nX\x02\0\0\0ls\x85R.", "m/extra/a.pkl": b"not a pickle"}
    with inert.open(zipped(records)) as checkpoint:
        assert [call.dotted for call in checkpoint.pickles["m/bytecode.pkl"].calls] == ["posix.system"]
        assert "m/extra/a.pkl" not in checkpoint.pickles


def test_a_damaged_pickle_beside_the_object_is_noted() -> None:
    for name in ("m/constants.pkl", "m/traced_inputs.pkl", "m/code/a.py.debug_pkl"):
        with inert.open(zipped({**pickled(b"}"), name: b"\x80\x02("})) as checkpoint:
            assert checkpoint.root == {}
            assert "pickle-broken" in codes(checkpoint)
    with pytest.raises(FormatError, match="data"):
        inert.open(zipped({**pickled(b"}"), "m/data.pkl": b"\x80\x02("}))


def test_storages_of_constants_are_their_own() -> None:
    tensor = (
        b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
        + b"0X\x03\0\0\0cpuK\x01tQK\0(K\x01t(K\x01t\x89ccollections\nOrderedDict\n)RtR"
    )
    records = {**pickled(b"}X\x01\0\0\0a" + tensor + b"s"), "m/constants.pkl": b"\x80\x02" + tensor + b"\x85."}
    records |= {"m/data/0": struct.pack("<f", 1), "m/constants/0": struct.pack("<f", 2)}
    with inert.open(zipped(records)) as checkpoint:
        assert {name: tensor.numpy().tolist() for name, tensor in checkpoint.tensors.items()} == {"a": [1.0], "CONSTANTS.c0": [2.0]}
    del records["m/constants/0"]
    with inert.open(zipped(records)) as checkpoint:
        assert checkpoint.tensors["CONSTANTS.c0"].fault


def test_numbers_of_scalar_types() -> None:
    assert SCALAR_TYPES[6] == "float32"
    assert (SCALAR_TYPES[27], SCALAR_TYPES[30], SCALAR_TYPES[43]) == ("uint16", None, None)
    assert SCALAR_TYPES[44:] == ("float8_e8m0fnu", "float4_e2m1fn_x2")


# ------------------------------------------------------------------------------------------------------- packages and programs


def test_a_package_is_flagged_and_its_tensors_are_read() -> None:
    with inert.open(FOLDER / "package.pt") as checkpoint:
        assert set(checkpoint.root) == {"model/state.pkl", "script/all.pkl", ".data/ts_code/0", ".data/ts_code/1"}
        roles = {name.partition("/")[2]: part.role for name, part in checkpoint.parts.items()}
        assert (roles["packed.py"], roles["conf/raw"], roles["model/state.pkl"]) == ("source", "resource", "pickle")
        assert roles[".data/0.storage"] == "storage"
        assert {"package-source", "package-reduce"} <= codes(checkpoint)
        row = checkpoint.tensors["model/state.pkl.row"]
        assert row.storage is checkpoint.tensors["model/state.pkl.weight"].storage
        assert checkpoint.metadata["extern_modules"].startswith("collections") or "torch" in checkpoint.metadata["extern_modules"]


def test_a_package_of_broken_pickles() -> None:
    records = members(FOLDER / "package.pt")
    records["package/model/state.pkl"] = b"\x80\x03("
    with inert.open(zipped(records)) as checkpoint:
        assert "pickle-broken" in codes(checkpoint)
        assert ".data/ts_code/0.0.weight" in checkpoint.tensors
    with pytest.raises(FormatError):
        inert.open(zipped({"p/.data/extern_modules": b"", "p/a/b.pkl": b"\x80\x03("}))


def test_several_programs_in_one_archive() -> None:
    records = members(FOLDER / "export.pt2")
    for part in ("weights", "constants"):
        records[f"export/data/{part}/other_{part}_config.json"] = records[f"export/data/{part}/model_{part}_config.json"]
    with inert.open(zipped(records)) as checkpoint:
        assert set(checkpoint.root) == {"model", "other"}
        assert "other.lin.weight" in checkpoint.tensors


def test_programs_that_keep_torch_save_files_inside() -> None:
    old = members(FOLDER / "export_old.pt2")
    records = {"e/data/weights/model.pt": old["serialized_state_dict.pt"], "e/data/constants/model.pt": old["serialized_constants.pt"]}
    with inert.open(zipped({**records, "e/archive_format": b"pt2"})) as checkpoint, inert.open(FOLDER / "export_old.pt2") as other:
        assert {n: t.sha256() for n, t in checkpoint.tensors.items()} == {n: t.sha256() for n, t in other.tensors.items()}
    config = json.dumps({"config": {"a": {"path_name": "weight_0", "is_param": False, "use_pickle": True, "tensor_meta": None}}}).encode()
    records = {
        "e/archive_format": b"pt2",
        "e/data/weights/m_weights_config.json": config,
        "e/data/weights/weight_0": old["serialized_state_dict.pt"],
    }
    with inert.open(zipped(records)) as checkpoint:
        assert "a.lin.weight" in checkpoint.tensors
        assert [name.partition("!")[0] for name in checkpoint.pickles] in ([], ["e/data/weights/weight_0"])


def test_constants_of_the_same_name() -> None:
    records = members(FOLDER / "export.pt2")
    records["export/data/constants/model_constants_config.json"] = records["export/data/weights/model_weights_config.json"].replace(
        b"weight_", b"tensor_"
    )
    with inert.open(zipped(records)) as checkpoint:
        assert {"lin.weight", "constants.lin.weight"} <= set(checkpoint.tensors)


def test_compiled_code_in_a_program_is_flagged() -> None:
    records = {**members(FOLDER / "export.pt2"), "export/data/aotinductor/model/a.so": b"\x7fELF"}
    with inert.open(zipped(records)) as checkpoint:
        assert "export-native" in codes(checkpoint)
        assert checkpoint.parts["export/data/aotinductor/model/a.so"].role == "native"


WRONG_META: tuple[Any, ...] = (
    None, {}, {"dtype": 99}, {"layout": 1}, {"sizes": [{"as_expr": {}}]}, {"sizes": 3}, {"strides": [{"as_int": -1}]},
    {"storage_offset": {}},
    {"sizes": [{"as_int": 10**12}]}, {"sizes": [{"as_int": 2}] * 2000},
)  # fmt: skip


@pytest.mark.parametrize("changes", WRONG_META, ids=lambda value: str(value)[:40])
def test_a_wrong_weight_of_a_program_is_refused_alone(changes: Any) -> None:
    records = members(FOLDER / "export.pt2")
    config = json.loads(records["export/data/weights/model_weights_config.json"])
    row = config["config"]["kept"]
    row["tensor_meta"] = row["tensor_meta"] | changes if changes else changes
    records["export/data/weights/model_weights_config.json"] = json.dumps(config).encode()
    with inert.open(zipped(records)) as checkpoint:
        assert checkpoint.tensors["kept"].fault
        assert not checkpoint.tensors["lin.weight"].fault


@pytest.mark.parametrize("config", [b"", b"[]", b'{"config": 3}', b"\xff\xfe", b'{"config": ' + b"[" * 5000])
def test_a_program_whose_table_is_damaged(config: bytes) -> None:
    with pytest.raises(InertError):
        inert.open(zipped({**members(FOLDER / "export.pt2"), "export/data/weights/model_weights_config.json": config}))


# ----------------------------------------------------------------------------------------------------------- bytes of any kind


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_prefix(path: Path, tmp_path: Path) -> None:
    data = path.read_bytes()
    cut = tmp_path / path.name
    for length in [*range(0, len(data), 37), len(data) - 1, len(data) - 22]:
        cut.write_bytes(data[:length])
        look_over(cut)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_changed_bytes(path: Path, tmp_path: Path) -> None:
    data, dice = path.read_bytes(), random.Random(13)
    changed = tmp_path / path.name
    for _ in range(150):
        other = bytearray(data)
        for _ in range(dice.randrange(1, 8)):
            at = dice.randrange(len(data))
            other[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
        changed.write_bytes(other)
        look_over(changed)


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix != ".ptl"], ids=lambda path: path.name)
def test_changed_records(path: Path) -> None:
    """The archive is whole, its pickles and tables are not."""
    records, dice = members(path), random.Random(13)
    small = [name for name, data in records.items() if data and name.endswith((".pkl", ".json", ".pt", "version", "archive_format"))]
    for _ in range(120):
        name = dice.choice(small)
        other = bytearray(records[name])
        for _ in range(dice.randrange(1, 5)):
            other[dice.randrange(len(other))] = dice.randrange(256)
        look_over(zipped({**records, name: bytes(other)}))  # type: ignore[arg-type]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_stream_is_read_as_a_file(path: Path) -> None:
    with inert.open(path) as checkpoint, path.open("rb") as stream, inert.open(stream) as other:
        assert list(checkpoint.tensors) == list(other.tensors)


def test_a_flatbuffer_whose_values_are_the_same_ones_again_and_again() -> None:
    """Many offsets to one long list: a few bytes would stand for more items than there is memory."""
    data = bytearray((FOLDER / "flatbuffer.ptl").read_bytes())
    root = struct.unpack_from("<I", data, 0)[0]
    vtable = root - struct.unpack_from("<i", data, root)[0]
    slot = struct.unpack_from("<H", data, vtable + 4 + 2 * 4)[0]
    count = 20_000
    vector = len(data)
    value = vector + 4 + 4 * count + 8  # behind the vector: an IValue's vtable, the IValue, a List's vtable, the List, its items
    data += struct.pack("<I", count) + b"".join(struct.pack("<I", value - (vector + 4 + 4 * i)) for i in range(count))
    data += struct.pack("<4H", 8, 12, 8, 4) + struct.pack("<iII", 8, 16, 7)
    data += struct.pack("<4H", 6, 8, 4, 0) + struct.pack("<iII", 8, 4, count) + bytes(4 * count)
    data[root + slot : root + slot + 4] = struct.pack("<I", vector - (root + slot))
    with pytest.raises(LimitError, match="the same"):
        inert.open(io.BytesIO(data))


def test_json_is_bounded() -> None:
    def span(text: bytes) -> Any:
        return BytesSource(text).span()

    assert parse(span(b'\xef\xbb\xbf{"a": "[[[[[\\"", "b": [1]}'), "x", Limits(json_depth=2)) == {"a": '[[[[["', "b": [1]}
    for text in (b"[[[1]]]", b'{"a": {"b": {}}}'):
        with pytest.raises(LimitError, match="levels"):
            parse(span(text), "x", Limits(json_depth=2))
    with pytest.raises(LimitError, match="bytes of JSON"):
        parse(span(b"[1, 2, 3]"), "x", Limits(json_bytes=4))
    for text in (b"[1", b"\xff", b'"', b'{"a": ' + b"9" * 5000 + b"}", b'"' + b'\\"' * 9999):
        with pytest.raises(FormatError):
            parse(span(text), "x", Limits())


def test_a_window_is_a_source_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    window = Window(FileSource(str(path)).span(2, 5), "inner")
    assert (window.size, window.read(1, 3), window.region(1, 1)) == (5, b"345", (str(path), 3))
    view = window.view(0, 5)
    assert view is not None
    assert bytes(view) == b"23456"
    with pytest.raises(FormatError, match="inner"):
        window.read(3, 3)


def test_what_is_predicted_of_torch() -> None:
    from inert.torch.predict import loads, oldest

    with inert.open(FOLDER / "module.pt") as checkpoint:
        said = loads(checkpoint)
        assert {key: answer["ok"] for key, answer in said.items()} == {"full": True, "weights_only": False, "mmap": False, "jit": True}
        assert "operators" in oldest(checkpoint)["why"]
    with inert.open(FOLDER / "flatbuffer.ptl") as checkpoint:
        assert {key: answer["ok"] for key, answer in loads(checkpoint).items()} == {
            "full": False,
            "weights_only": False,
            "mmap": False,
            "jit": True,
        }
    with inert.open(zipped(model())) as checkpoint:
        assert not any(answer["ok"] for answer in loads(checkpoint).values())
    with inert.open(FOLDER / "export.pt2") as checkpoint:
        assert not any(answer["ok"] for answer in loads(checkpoint).values())


def test_model_json_beside_a_pickle_is_one_record_of_a_torch_save_file_like_any_other(tmp_path: Path) -> None:
    """torch 2.13 asks for constants.pkl alone, and loads such a file."""
    path = tmp_path / "model.pt"
    path.write_bytes(torch_zip(dumps({"w": tensor(storage("0", 2), (2,))}), {"0": struct.pack("<2f", 1, 2)}, more={"model.json": b"{}"}))
    with inert.open(path, strict=True) as found:
        assert found.format == "torch-zip"
        assert found.tensors["w"].numpy().tolist() == [1, 2]
        assert loads(found)["weights_only"]["ok"]
    assert inert.scan(path).verdict == "clean"
    assert inert.repair(path, tmp_path / "again.pt").format == "torch-zip"
