"""Sets of more files than a process may have open: all is read, little is held, and what is promised of one file holds of each.

The large sets are read by a process of its own, which may have 256 descriptors.
"""

from __future__ import annotations

import gc
import gzip
import io
import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert import beside, inflate, scratch
from inert.beside import BesideSource, Maps
from inert.containers import deflated, folder
from inert.errors import FormatError, LimitError, UnsupportedError
from inert.files import UNTRACKED
from inert.scratch import written
from tests.makers import Entry, dumps, storage, tensor, torch_entries, torch_zip, zip_bytes
from tests.source_tree import SOURCE

COUNT = 1500
MOST = 256  # the limit of macOS
READ = """
import json, os, resource, sys
import inert
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[2]), int(sys.argv[2])))

def held():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else -1

told = {}
with inert.open(sys.argv[1]) as checkpoint:
    told["opened"] = held()
    told["listed"] = [list(tensor.shape) for tensor in checkpoint.tensors.values()]
    arrays = [tensor.numpy() for tensor in checkpoint.tensors.values()]
    told["sums"] = [float(array.sum()) for array in arrays]
    told["hashed"] = len({tensor.sha256() for tensor in checkpoint.tensors.values()})
    told["notes"] = [note.code for note in checkpoint.notes]
    told["parts"] = len(checkpoint.parts)
    told["read"] = held()
del arrays
for mmap in (True, False):
    state = inert.load(sys.argv[1], mmap=mmap)
    told[f"loaded {mmap}"] = [float(array.sum()) for array in state.values()]
    told[f"writeable {mmap}"] = sorted({array.flags.writeable for array in state.values()})
del state
told["end"] = held()
json.dump(told, sys.stdout)
"""


def safetensors(name: str, value: float) -> bytes:
    header = json.dumps({name: {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return struct.pack("<Q", len(header)) + header + struct.pack("<2f", value, value)


def torch_bin(name: str, value: float) -> bytes:
    return torch_zip(dumps({name: tensor(storage("0", 2), (2,))}), {"0": struct.pack("<2f", value, value)})


def write_set(home: Path, kind: str, count: int) -> Path:
    make = {"safetensors": safetensors, "bin": torch_bin}[kind]
    stem = {"safetensors": "model", "bin": "pytorch_model"}[kind]
    home.mkdir()
    names = [f"{stem}-{n + 1:05}-of-{count:05}.{kind}" for n in range(count)]
    for number, name in enumerate(names):
        (home / name).write_bytes(make(f"w{number}", float(number)))
    where = {f"w{number}": name for number, name in enumerate(names)}
    (home / f"{stem}.{kind}.index.json").write_text(json.dumps({"metadata": {"total_size": 8 * count}, "weight_map": where}))
    return home


@pytest.mark.no_cover
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("kind", ["safetensors", "bin"])
def test_a_set_of_more_shards_than_descriptors(kind: str, tmp_path: Path) -> None:
    home = write_set(tmp_path / "set", kind, COUNT)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent)}
    ran = subprocess.run([sys.executable, "-c", READ, str(home), str(MOST)], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    told = json.loads(ran.stdout)
    sums = [2.0 * number for number in range(COUNT)]
    assert told["listed"] == [[2]] * COUNT
    assert told["sums"] == told["loaded True"] == told["loaded False"] == sums
    assert told["writeable True"] == [False]
    assert told["writeable False"] == [True]
    assert told["hashed"] == COUNT
    assert set(told["notes"]) <= {"byteorder-missing"}
    assert told["parts"] >= COUNT + 1
    assert told["opened"] < 60
    assert told["read"] < 160
    assert told["end"] < 20


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "HELD", 2)


@pytest.mark.usefixtures("few")
def test_closing_closes_every_shard_and_a_changed_one_is_told(tmp_path: Path) -> None:
    home = write_set(tmp_path / "set", "bin", 6)
    with inert.open(home) as checkpoint:
        tensors = list(checkpoint.tensors.values())
        kinds = [type(source).__name__ for source in checkpoint.content.source._opened]  # type: ignore[attr-defined]
        assert kinds == ["FileSource"] * 2 + ["BesideSource"] * 5
        kept = tensors[5].numpy()
        os.utime(home / "pytorch_model-00006-of-00006.bin", ns=(1, 1))
        with pytest.raises(FormatError, match="changed or replaced"):
            tensors[5].numpy()
        with pytest.raises(FormatError, match="changed or replaced"), checkpoint.content.source.steady():
            assert tensors[4].sha256()
    for one in tensors[:5]:
        with pytest.raises(UnsupportedError, match="closed"):
            one.numpy()
    assert kept.tolist() == [5.0, 5.0]


@pytest.mark.usefixtures("few")
def test_a_shard_that_may_not_be_read_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_set(tmp_path / "set", "safetensors", 4)
    opened = os.open

    def refuse(path: Any, *more: Any, **options: Any) -> int:
        if str(path).endswith("00004-of-00004.safetensors"):
            raise PermissionError(13, "Permission denied")
        return opened(path, *more, **options)

    monkeypatch.setattr(os, "open", refuse)
    with inert.open(home) as checkpoint:
        assert [(note.code, note.message) for note in checkpoint.notes] == [("shard-unreadable", "Permission denied")]
        assert len(checkpoint.tensors) == 3


def test_while_it_is_held_steady_the_file_read_last_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(bytes(100))
    one, other = (BesideSource(str(path)) for path in paths)
    calls: list[str] = []
    opened = os.open
    monkeypatch.setattr(os, "open", lambda path, *more: calls.append(str(path)) or opened(path, *more))
    with one.steady(), other.steady():
        for source in (one, one, other, other, other, one):
            assert source.read(0, 5) == bytes(5)
    assert calls == [str(paths[0]), str(paths[1]), str(paths[0])]
    assert BesideSource._latest == (None, None)
    assert one.read(0, 1) == one.read(1, 1)
    assert len(calls) == 5
    with one.steady():
        assert one.read(0, 1)
        one.close()
        assert BesideSource._latest == (None, None)
        with pytest.raises(UnsupportedError, match="closed"):
            one.read(0, 1)
        with pytest.raises(UnsupportedError, match="closed"):
            one.view(0, 0)
        one._open = True  # for the look at the end


@pytest.mark.skipif(bool(UNTRACKED), reason="maps cost no descriptor here")
def test_only_so_many_maps_are_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "descriptors", lambda: 3 * beside.SHARE)
    monkeypatch.setattr(beside, "MANY", Maps())
    sources = []
    for number in range(5):
        path = tmp_path / str(number)
        path.write_bytes(bytes([number]) * 10)
        sources.append(BesideSource(str(path)))
    views = [source.view(0, 10) for source in sources]
    assert [view is not None for view in views] == [True, True, True, False, False]
    assert [source.read(2, 3) for source in sources] == [bytes([number]) * 3 for number in range(5)]
    sources[0].close()
    assert sources[3].view(0, 1) is None, "its view is still used"
    del views
    gc.collect()
    assert sources[3].view(0, 1) == b"\3"


def test_views_of_a_storage_that_cannot_be_mapped_share_one_copy() -> None:
    held = storage("0", 6)
    data = torch_zip(dumps({"a": tensor(held, (6,)), "b": tensor(held, (2,), offset=4)}), {"0": struct.pack("<6f", *range(6))})
    state = inert.load(io.BytesIO(data))
    assert state["b"].tolist() == [4, 5]
    assert np.shares_memory(state["a"], state["b"])
    assert not state["a"].flags.writeable


# ----------------------------------------------------------------------------------------------------------------- temporary files


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_inflated_records_share_a_few_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deflated, "IN_MEMORY", 10)
    monkeypatch.setattr(inflate, "IN_MEMORY", 10)
    count = 100
    state = {f"w{i}": tensor(storage(str(i), 100), (100,)) for i in range(count)}
    entries = torch_entries(dumps(state), {str(i): np.full(100, i, "<f4").tobytes() for i in range(count)})
    packed = zip_bytes([Entry(one.name, one.data, method=8) for one in entries])
    gc.collect()
    before = descriptors()
    with inert.open(io.BytesIO(packed)) as checkpoint, inert.open(io.BytesIO(gzip.compress(packed))) as wrapped:
        for one in (checkpoint, wrapped):
            hashes = [part.sha256() for part in one.tensors.values()]
            assert len(set(hashes)) == count
        assert descriptors() - before <= scratch.FILES
        arrays = [part.numpy() for part in wrapped.tensors.values()]
    del checkpoint, wrapped, one
    gc.collect()
    assert [array[99] for array in arrays] == list(range(count))
    del arrays
    gc.collect()
    assert descriptors() <= before


def test_what_is_refused_half_way_leaves_nothing_in_a_shared_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "FILES", len(scratch._ALIVE) + 1)
    kept = written(lambda write: write(b"kept"), "kept")

    def refused(write: Any) -> None:
        write(bytes(10))
        inner = written(lambda more: more(b"inner"), "inner")  # another file, since this one is being written to
        assert inner.read(0, 5) == b"inner"
        raise LimitError("too much")

    with pytest.raises(LimitError):
        written(refused, "refused")
    size = os.fstat(kept._scratch.fd).st_size
    assert size == 4
    later = written(lambda write: write(b"later"), "later")
    assert (kept.read(0, 4), later.read(0, 5)) == (b"kept", b"later")
    view = later.view(1, 3)
    assert view is None or bytes(view) == b"ate"
