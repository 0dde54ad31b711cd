"""What fuzzing has found, by its kind: each input in tests/fuzzed keeps its target's invariant, and what was wrong behind it is right.

An input is named TARGET--WHAT. fuzz/driver.py takes them as seeds too, so that smoke runs change them further.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import warnings
import zipfile
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest

import inert
from inert.containers.sstable import Table
from inert.limits import Limits
from inert.pickle.decode import decode
from inert.pickle.encode import encode
from inert.pickle.roundtrip import style_of
from inert.source import BytesSource
from inert.stats import stats
from inert.torch.ndarray import plain_dtype
from tests import tf_tables
from tests.makers import Made, Name, dumps, storage, tensor, torch_zip
from tests.source_tree import REPOSITORY

FIXED = Path(__file__).parent / "fuzzed"
TARGETS = sorted({path.name.partition("--")[0] for path in FIXED.iterdir()})
CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("target", TARGETS)
def test_what_was_found_is_mended(target: str) -> None:
    paths = sorted(map(str, FIXED.glob(f"{target}--*")))
    command = [sys.executable, str(REPOSITORY / "fuzz" / f"{target}.py"), "--engine=random", *paths]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=os.environ | {"PYTHONPATH": str(REPOSITORY / "src")}
    )
    assert done.returncode == 0, done.stderr
    assert f"{target}: {len(paths)} executions" in done.stdout


# -- the kinds ----------------------------------------------------------------------------------------------------------------


def test_a_new_storage_never_takes_the_number_of_one_that_is_missing(tmp_path: Path) -> None:
    """The damaged tensor would have been read from the new one's bytes."""
    path = tmp_path / "m.pt"
    path.write_bytes(torch_zip(dumps({"a": tensor(storage("0", 2), (2,)), "b": tensor(storage("1", 2), (2,))}), {"0": bytes(8)}))
    with inert.open(path) as checkpoint:
        checkpoint.tensors["new"] = np.ones(2, np.float32)
        checkpoint.save(tmp_path / "out.pt", sync=False)
    with inert.open(tmp_path / "out.pt") as checkpoint:
        assert checkpoint.tensors["new"].numpy().tolist() == [1, 1]
        with pytest.raises(inert.InertError, match="data/1 is not in the file"):
            checkpoint.tensors["b"].numpy()


def test_the_text_before_a_record_stays_memoised_in_python_2s_style() -> None:
    state = dumps({f"w{i}": tensor(storage(str(i), 6), (2, 3)) for i in range(4)})
    data = state.replace(b"X\x02\0\0\0w3", b"U\x02w3")  # a text that only Python 2 writes
    document = decode(data, "pickle", Limits())
    assert document.fault is None
    style, same = style_of(document)
    assert style.name == "Python 2's cPickle"
    assert same
    assert encode(document.root, style, document) == data


@pytest.mark.parametrize("shape", [(0, 1 << 61), (1 << 61, 0, 4)])
def test_no_elements_in_dimensions_that_numpy_cannot_hold(shape: tuple[int, ...]) -> None:
    data = torch_zip(dumps({"a": tensor(storage("0", 0), shape, (1,) * len(shape))}), {"0": b""})
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert checkpoint.tensors["a"].nbytes == 0
        with pytest.raises(inert.UnsupportedError, match="NumPy has no array of shape"):
            checkpoint.tensors["a"].numpy()


def test_files_in_a_flatbuffer_that_lie_outside_of_it_are_noted_and_the_tensors_read() -> None:
    """It was asked for anew each time, and raised where notes and parts were wanted."""
    data = (FIXED / "fuzz_torchscript--file-beyond-the-end").read_bytes()
    with inert.open(io.BytesIO(data)) as checkpoint:
        assert "value-odd" in {note.code for note in checkpoint.notes}
        assert checkpoint.tensors
        assert dict(checkpoint.parts) == dict(checkpoint.parts)


@pytest.mark.parametrize("text", ["<f14", "i3", "b2", "M8[xs]", "c4", "f1"])
def test_sizes_and_units_that_numpy_has_not_are_no_plain_types(text: str) -> None:
    assert plain_dtype(text) == ""
    with pytest.raises(TypeError):
        np.dtype(text)


def test_an_old_letter_for_bytes_is_read_behind_a_byte_order_too() -> None:
    assert plain_dtype("<a4") == "<S4"


def test_signalling_nans_are_values_like_any_other() -> None:
    raw = np.array([0x7F800001, 0xFFBFFFFF, 0x3F800000], "<u4").tobytes()
    with (
        warnings.catch_warnings(),
        inert.open(io.BytesIO(torch_zip(dumps({"a": tensor(storage("0", 3), (3,))}), {"0": raw}))) as checkpoint,
    ):
        warnings.simplefilter("error")
        said = stats(checkpoint.tensors["a"])
    assert (said["nan"], said["min"], said["max"]) == (2, 1.0, 1.0)


def test_an_npz_of_nothing_is_an_archive_that_numpy_knows(tmp_path: Path) -> None:
    inert.save({}, tmp_path / "m.npz", sync=False)
    assert zipfile.ZipFile(tmp_path / "m.npz").namelist() == []
    assert np.load(tmp_path / "m.npz").files == []


def test_a_serialization_id_of_any_length_is_made_anew(tmp_path: Path) -> None:
    source = CORPUS / "torch" / "small.pt"
    made = io.BytesIO()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(made, "w") as new:
        for member in old.infolist():
            new.writestr(member.filename, b"1" if member.filename.endswith("serialization_id") else old.read(member))
    (tmp_path / "m.pt").write_bytes(made.getvalue())
    with inert.open(tmp_path / "m.pt") as checkpoint:
        names = list(checkpoint.tensors)
        checkpoint.tensors.rename(names[0], "new")
        checkpoint.save(tmp_path / "out.pt", sync=False)
    with zipfile.ZipFile(tmp_path / "out.pt") as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("serialization_id"))
        assert len(archive.read(name)) == 40
    with inert.open(tmp_path / "out.pt") as checkpoint:
        assert list(checkpoint.tensors) == ["new", *names[1:]]


def test_a_fault_that_quotes_the_file_is_one_printable_line() -> None:
    data = (FIXED / "fuzz_legacy--control-character-in-a-fault").read_bytes()
    with inert.open(io.BytesIO(data)) as checkpoint:
        faults = [repr(one) for one in checkpoint.tensors.values() if one.fault]
    assert faults
    assert all(text.isprintable() for text in faults)


def test_a_key_of_an_index_that_is_not_before_the_next_block_is_told() -> None:
    """A look-up by the key goes astray there, and said nothing."""
    data = (FIXED / "fuzz_sstable--index-key-beyond-its-block").read_bytes()
    faults: list[object] = []
    table = Table(BytesSource(data), Limits())
    assert list(table.entries(faults))
    assert faults
    sound = Table(BytesSource(tf_tables.table({b"a": b"1", b"b": b"2"}, 1, 0)), Limits())
    none: list[object] = []
    assert len(list(sound.entries(none))) == 2
    assert not none


def test_sets_of_keys_that_nobody_has_touched_are_so() -> None:
    names = {(Name("gone", "A"), 1), (Name("gone", "B"), 2)}
    for value in (Made(Name("builtins", "set"), ([tuple(pair) for pair in names],)), {"s": {1, 2}}, OrderedDict(a={("x", 1)})):
        with inert.open(io.BytesIO(torch_zip(dumps(value, 4)))) as checkpoint:
            assert checkpoint.root is not None
            assert checkpoint.untouched()


def test_a_root_that_is_set_to_itself_is_untouched_and_a_value_in_two_places_is_listed_in_both() -> None:
    with inert.open(CORPUS / "script" / "module.pt") as checkpoint:
        checkpoint.root = checkpoint.root
        before = list(checkpoint.tensors)
        assert checkpoint.untouched()
        checkpoint.tensors[before[0]] = np.zeros(3, np.float32)
        assert not checkpoint.untouched()
        checkpoint.root = checkpoint.root
        assert list(checkpoint.tensors) == before
        assert not checkpoint.untouched()


def test_why_a_value_is_lost_is_a_line_of_text_whatever_its_type_is_called(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(
        torch_zip(dumps({"w": tensor(storage("0", 1), (1,)), "odd": Made(Name("torch._ut\x01ls", "Thing"), ())}), {"0": bytes(4)})
    )
    whys = [why for name, why in inert.convert(path, tmp_path / "m.safetensors", sync=False).lost if name == "odd"]
    assert len(whys) == 1
    assert "torch._ut\\x01ls" in whys[0]
    with inert.open(path) as checkpoint:
        saved = checkpoint.save(tmp_path / "n.safetensors", format="safetensors", sync=False)
    assert all(why.isprintable() for _, why in saved.lost)


def test_a_bytearray_that_is_a_key_does_not_stand_in_the_way_of_an_edit(tmp_path: Path) -> None:
    """CPython cannot hold it; other keys of the dict are spelled as they were."""
    path = tmp_path / "m.pt"
    odd = b"\x96" + (2).to_bytes(8, "little") + b"ab" + b"K\1s"  # BYTEARRAY8 as a key, SETITEM
    data = dumps({"w": tensor(storage("0", 1), (1,)), "d": {"k": 1}}, 5)
    path.write_bytes(torch_zip(data.replace(b"\x8c\1k\x94K\1s", b"\x8c\1k\x94K\1s" + odd), {"0": bytes(4)}))
    with inert.open(path) as checkpoint:
        checkpoint.tensors["w"] = np.ones(1, np.float32)
        checkpoint.root["d"]["k"] = 2
        checkpoint.save(tmp_path / "n.pt", sync=False)
    with inert.open(tmp_path / "n.pt") as checkpoint:
        assert checkpoint.root["d"]["k"] == 2
        assert len(checkpoint.root["d"]) == 2
