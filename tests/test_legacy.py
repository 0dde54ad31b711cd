"""The multi-pickle layout before torch 1.6: what a writer may put there, what a damaged file still gives, what is refused."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.errors import FormatError
from inert.limits import Limits
from inert.torch.objects import Object
from tests.conformance import look_over
from tests.makers import KINDS, Made, Name, Pid, dumps, tensor
from tests.source_tree import SOURCE

MAGIC = 0x1950A86A20F9469CFC6C
SYSTEM = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
WIDTHS = {"Float": 4, "Long": 8, "Half": 2, "Byte": 1, "Untyped": 1}


def held(key: Any, count: Any, kind: str = "Float", view: Any = None, location: Any = "cpu") -> Pid:
    return Pid(("storage", KINDS[kind], key, location, count, view))


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def blob(data: bytes, width: int = 4, count: int | None = None) -> bytes:
    return struct.pack("<q", len(data) // width if count is None else count) + data


def save(root: Any, keys: Any, *blobs: bytes, protocol: int = 2, magic: int = MAGIC, version: int = 1001, system: Any = SYSTEM) -> bytes:
    return b"".join(dumps(part, protocol) for part in (magic, version, system, root, keys)) + b"".join(blobs)


def sample() -> bytes:
    root = {"a": tensor(held("1", 4), (2, 2)), "b": tensor(held("2", 2), (2,)), "again": tensor(held("1", 4), (2,), offset=2), "epoch": 3}
    return save(root, ["1", "2"], blob(floats(1, 2, 3, 4)), blob(floats(5, 6)))


def opened(data: bytes, **options: Any) -> inert.Checkpoint:
    return inert.open(io.BytesIO(data), **options)


def codes(found: inert.Checkpoint) -> list[str]:
    return [note.code for note in found.notes]


def test_a_save(tmp_path: Path) -> None:
    path = tmp_path / "m.pth"
    path.write_bytes(sample())
    with inert.open(path) as found:
        assert found.format == "torch-legacy"
        assert list(found.tensors) == ["a", "b", "again"]
        assert found.tensors["a"].numpy().tolist() == [[1, 2], [3, 4]]
        assert found.tensors["again"].numpy().tolist() == [3, 4]
        assert found.tensors["a"].storage is found.tensors["again"].storage
        at = found.tensors["b"].file_offset
        assert at is not None
        assert path.read_bytes()[at : at + 8] == floats(5, 6)
        assert list(found.pickles) == ["magic", "protocol", "sys_info", "object", "storage_keys"]
        assert [part.role for part in found.parts.values()] == ["pickle"] * 5 + ["storage"] * 2
        assert found.metadata["byteorder"] == "little"
        assert not found.notes


@pytest.mark.parametrize("protocol", range(1, 5))
def test_protocols(protocol: int) -> None:
    """In protocol 0 a persistent id is a text, which torch does not read either."""
    with opened(save({"a": tensor(held("1", 1), (1,))}, ["1"], blob(floats(7)), protocol=protocol)) as found:
        assert found.tensors["a"].numpy().tolist() == [7]


@pytest.mark.parametrize("protocol", range(2, 5))
def test_module_classes_carry_their_names_and_their_source(protocol: int) -> None:
    """('module', class, file, source): the class is what the id stands for. Its source is kept, noted once, and never looked into."""
    source = "class Net(Module):\n    import os; os.system('id')\n"
    net = Pid(("module", Name("models", "Net"), "/home/x/models.py", source))
    bare = Pid(("module", Name("torch.nn", "Linear"), None, None))
    state = {"_parameters": {"w": tensor(held("1", 2), (2,))}, "_buffers": {}, "_modules": {"inner": Made(bare, (), {"x": 1}, new=True)}}
    root = [
        Made(net, (), state, new=True),
        Made(net, (), {"y": 2}, new=True),
        Made(Name("copyreg", "_reconstructor"), (net, Name("builtins", "object"), None)),
    ]
    with opened(save(root, ["1"], blob(floats(1, 2)), protocol=protocol)) as found:
        assert [one.type for one in found.root] == ["models.Net"] * 3
        inner = found.root[0].fields["_modules"]["inner"]
        assert isinstance(inner, Object)
        assert inner.type == "torch.nn.Linear"
        assert list(found.tensors) == ["0.w"]
        (note,) = found.notes
        assert (note.code, note.severity) == ("module-source", "info")
        assert f"the source text of models.Net is in the file: {len(source):,} characters, from '/home/x/models.py'" == note.message
        assert source in [reference.pid[3] for reference in found.pickles["object"].references if reference.pid[0] == "module"]


def test_views_of_storages() -> None:
    """Torch 0.1 and 0.2 saved storages that are runs of another: (view key, offset, size) in elements."""
    first, last = held("1", 6, view=("v", 2, 3)), held("1", 6)
    root = [
        tensor(first, (3,)),
        tensor(first, (2,), offset=1),
        tensor(last, (6,)),
        tensor(held("1", 6, view=("w", 4, 9)), (1,)),
        tensor(first, (4,)),
    ]
    with opened(save(root, ["1"], blob(floats(*range(6))))) as found:
        one, two, whole, outside, beyond = found.tensors.values()
        assert (one.numpy().tolist(), two.numpy().tolist()) == ([2, 3, 4], [3, 4])
        assert one.storage is two.storage
        assert whole.numpy().tolist() == [0, 1, 2, 3, 4, 5]
        assert "does not lie inside" in outside.fault
        assert "number 4 of a storage that holds 3" in beyond.fault


@pytest.mark.parametrize("view", [(1, 2), "x", ("v", "0", 1), (None, 0, 1), ("v", 1 << 70, 1)])
def test_view_metadata_that_is_none(view: Any) -> None:
    with opened(save([tensor(held("1", 2, view=view), (1,))], ["1"], blob(floats(1, 2)))) as found:
        assert "tensor-damaged" in codes(found)
        assert not found.tensors


def test_python_2_texts() -> None:
    """cPickle writes str as bytes: keys, locations and the word 'storage' too."""
    data = save({"a": tensor(held("12", 1), (1,))}, ["12"], blob(floats(7)))
    for text in (b"storage", b"cpu", b"12", b"a", b"little_endian", b"protocol_version"):
        data = data.replace(b"X" + struct.pack("<I", len(text)) + text, b"U" + bytes([len(text)]) + text)
    assert b"U\x07storage" in data
    with opened(data) as found:
        assert found.tensors["a"].numpy().tolist() == [7]
        assert found.metadata["byteorder"] == "little"
        assert not found.notes


@pytest.mark.parametrize("kind", ["float8_e4m3fn", "uint16", "complex32"])
def test_what_torch_writes_and_cannot_read_back(kind: str) -> None:
    """Element types without a storage class: _rebuild_tensor_v3 over untyped bytes, whose count is one of bytes."""
    width = {"float8_e4m3fn": 1, "uint16": 2, "complex32": 4}[kind]
    made = Made(
        Name("torch._utils", "_rebuild_tensor_v3"), (held("1", 4 * width, "Untyped"), 0, (4,), (1,), False, {}, Name("torch", kind))
    )
    raw = bytes(range(4 * width))
    with opened(save([made], ["1"], blob(raw, 1))) as found:
        assert (str(found.tensors["0"].dtype), found.tensors["0"].shape) == (kind, (4,))
        assert b"".join(found.tensors["0"].chunks()) == raw


# --------------------------------------------------------------------------------------------------------------------- damage


def test_storages_behind_a_fault_are_refused_one_by_one() -> None:
    data = sample()
    with opened(data[:-1]) as found:
        assert found.tensors["a"].numpy().tolist() == [[1, 2], [3, 4]]
        assert "is not in the file" in found.tensors["b"].fault
        assert {"record-missing", "tensor-damaged"} == set(codes(found))
    with opened(data[: data.index(floats(1, 2, 3, 4))]) as found:
        assert all(tensor.fault for tensor in found.tensors.values())
        assert found.root["epoch"] == 3


@pytest.mark.parametrize(
    ("keys", "blobs", "said"),
    [
        (["1"], [blob(floats(1, 2), count=3)], "does not fit"),
        (["1"], [blob(floats(1, 2), count=1)], "counts 1 elements where the pickle says 2"),
        (["1"], [blob(floats(1, 2), count=-1)], "does not fit"),
        (["1"], [blob(floats(1, 2), count=1 << 62)], "does not fit"),
        (["9", "1"], [blob(b""), blob(floats(1, 2))], "no tensor uses it"),
        ([1], [blob(floats(1, 2))], "no tensor uses it"),
        ("1", [blob(floats(1, 2))], "not a list"),
        ([], [], ""),
    ],
)
def test_keys_and_counts_that_lie(keys: Any, blobs: list[bytes], said: str) -> None:
    with opened(save([tensor(held("1", 2), (2,))], keys, *blobs)) as found:
        assert found.tensors["0"].fault
        assert any(said in note.message for note in found.notes)
        assert found.errors


def test_of_several_words_on_a_storage_the_one_that_its_count_bears_out_is_believed() -> None:
    root = [tensor(held("1", 1), (1,)), tensor(held("1", 2), (2,)), tensor(held("2", 1), (1,))]
    with opened(save(root, ["1", "2"], blob(floats(1, 2)), blob(floats(3)))) as found:
        assert found.tensors["0"].fault, "torch refuses the file for it"
        assert [found.tensors[name].numpy().tolist() for name in "12"] == [[1, 2], [3]]
        assert set(codes(found)) == {"record-size", "tensor-storage-resized"}


def test_a_key_listed_twice_is_read_as_torch_does() -> None:
    with opened(save([tensor(held("1", 1), (1,))], ["1", "1"], blob(floats(1)), blob(floats(2)))) as found:
        assert found.tensors["0"].numpy().tolist() == [2], "each is read in turn into the same storage"
        assert codes(found) == ["legacy-keys"]
        assert found.errors


@pytest.mark.parametrize("count", [1 << 62, -1, 1 << 70])
def test_sizes_that_lie_cost_nothing(count: int) -> None:
    with opened(save([tensor(held("1", count), (1,))], ["1"], blob(floats(1)))) as found:
        assert not found.tensors or found.tensors["0"].fault


def test_wrong_heads_are_refused() -> None:
    with pytest.raises(FormatError, match="protocol 1002; torch knows 1001"):
        opened(save({}, [], version=1002))
    with opened(save({}, [], system={"little_endian": False})) as found:
        assert codes(found) == ["legacy-byteorder"]
    with opened(save({}, [], system=5)) as found:
        assert found.metadata == {"protocol_version": "1001"}


def test_saves_one_behind_another() -> None:
    other = save({"c": tensor(held("1", 1), (1,))}, ["1"], blob(floats(9)))
    with opened(sample() + other + sample()) as found:
        assert list(found.tensors)[:4] == ["0.a", "0.b", "0.again", "1.c"]
        assert found.tensors["1.c"].numpy().tolist() == [9]
        assert found.tensors["0.a"].storage != found.tensors["2.a"].storage
        assert codes(found) == ["pickle-several"]
        assert "2/object" in found.pickles
    with opened(sample() + b"junk") as found:
        assert list(found.tensors) == ["a", "b", "again"]
        assert codes(found) == ["legacy-trailing"]
    with opened(other * 5, limits=Limits(pickles=10)) as found:
        assert len(found.root) == 2
        assert "pickles-limit" in codes(found)


def test_any_prefix_gives_a_result_or_a_refusal() -> None:
    data = sample()
    for end in range(len(data)):
        look_over(io.BytesIO(data[:end]))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_change_gives_a_result_or_a_refusal(draw: Any) -> None:
    data = bytearray(sample() + sample())
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, len(data) - 1))] = draw.draw(st.integers(0, 255))
    look_over(io.BytesIO(bytes(data)))


LISTING = """
import sys, inert
with inert.open(sys.argv[1]) as found:
    print(len(found.tensors), len(found.notes), open("/proc/self/status").read().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process alone is told by Linux only")
def test_a_gigabyte_is_stepped_over_not_read(tmp_path: Path) -> None:
    """The file is sparse: what counts is that nothing of its data is touched."""
    path = tmp_path / "large.pth"
    count, names = 1 << 20, [str(i) for i in range(256)]
    head = save({name: tensor(held(name, count), (1024, 1024)) for name in names}, sorted(names))
    with path.open("wb") as file:
        file.write(head)
        for _ in names:
            file.write(struct.pack("<q", count))
            file.seek(4 * count, 1)
        file.truncate()
    assert path.stat().st_size > 1 << 30
    done = subprocess.run(
        [sys.executable, "-c", LISTING, str(path)], capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SOURCE.parent)}
    )
    tensors, notes, peak = map(int, done.stdout.split())
    assert (tensors, notes) == (256, 0)
    assert peak << 10 < 100 << 20
