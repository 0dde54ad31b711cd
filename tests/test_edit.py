"""Checkpoints that are changed and saved again: what nobody touched keeps its bytes, and what was changed is all that changes.

Expected values: the bytes of the file itself; Python's own zipfile for records and checksums; NumPy for elements.
"""

from __future__ import annotations

import pickle
import re
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import inert
from inert.errors import UnsupportedError
from inert.pickle.encode import parts_of
from inert.pickle.nodes import Call, Dict, Global, List, Reference
from inert.tensor import Tensor
from inert.writers import Options, Saved
from inert.writers import torch_zip as writer
from tests.makers import torch_zip

HERE = Path(__file__).parent / "corpus"
SHARED = Path(__file__).parent.parent.parent / "shared" / "corpus"
PLAIN = HERE / "lightning" / "plain.ckpt"
ZIPS = sorted(
    path
    for folder in ("torch", "lightning", "crafted")
    for path in (HERE / folder).iterdir()
    if path.suffix in (".pt", ".ckpt") and path.read_bytes()[:4] == b"PK\3\4"
)


def records(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def readable(path: Path) -> bool:
    try:
        with inert.open(path) as ckpt:
            return ckpt.format == "torch-zip"
    except inert.InertError:
        return False


@pytest.mark.parametrize("path", ZIPS, ids=lambda path: path.name)
def test_an_untouched_checkpoint_is_saved_as_it_is(path: Path, tmp_path: Path) -> None:
    with inert.open(path) as ckpt:
        list(ckpt.tensors), ckpt.root, ckpt.pickles, ckpt.notes
        ckpt.save(tmp_path / "copy.pt")
    assert (tmp_path / "copy.pt").read_bytes() == path.read_bytes()


def written_again(path: Path, out: Path) -> None:
    """Through the whole way of an edit, with nothing edited."""
    with inert.open(path) as ckpt:
        content: Any = ckpt.content
        ckpt.root  # noqa: B018
        writer.edited(content, content.built, Saved(ckpt.root, {}, {}, ckpt), Options(str(out))).pour(str(out), sync=False)


@pytest.mark.parametrize(
    "path", [path for path in ZIPS if path.parent.name != "crafted" and "no_crc" not in path.name], ids=lambda path: path.name
)
def test_records_written_again_are_the_same(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "again.pt"
    written_again(path, out)
    before, after = records(path), records(out)
    assert list(before) == list(after)
    differing = [name for name in before if before[name] != after[name]]
    assert set(differing) <= {".data/serialization_id"}, differing  # PyTorch's own is made of checksums, which a file may lack


@pytest.mark.no_cover
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the shared corpus is not there: {SHARED}")
def test_the_shared_corpus_written_again_is_the_same_to_the_byte(tmp_path: Path) -> None:
    out, same, other = tmp_path / "again.pt", 0, []
    for folder in ("lightning", "torch/t2.13.0-py3.11", "torch/t2.6.0-py3.12", "torch/t1.8.1-py3.9"):
        for path in sorted((SHARED / folder).rglob("*")):
            if path.suffix in (".pt", ".ckpt") and path.is_file() and path.stem not in ("no_crc32", "skip_data") and readable(path):
                written_again(path, out)
                same += out.read_bytes() == path.read_bytes()
                if out.read_bytes() != path.read_bytes():
                    before, after = records(path), records(out)
                    assert {name for name in before if before[name] != after[name]} <= {".data/serialization_id"}, path
                    other.append(path.name)
    assert same > 250
    # whoever made the corpus has put other paths into some pickles of Lightning's: their ids are of the pickles before
    assert len(other) < same // 5, other


def difference(before: Any, after: Any) -> list[tuple[Any, Any]]:
    """Where two graphs of nodes say different things. Offsets, and how often the same thing is said, do not count."""
    found: list[tuple[Any, Any]] = []
    seen: set[tuple[int, int]] = set()
    todo = [(before, after)]
    while todo:
        a, b = todo.pop()
        if (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if type(a) is Global and type(b) is Global and (a.module, a.name) == (b.module, b.name):
            continue
        if (isinstance(a, (Call, Dict, List, Reference)) or type(a) is tuple) and isinstance(b, (Call, Dict, List, Reference, tuple)):
            x, y = parts_of(a, {}), parts_of(b, {})
            assert x is not None
            assert y is not None
            if len(x) != len(y):
                found.append((a, b))
            todo += zip(x, y, strict=False)
        elif a != b or type(a) is not type(b):
            found.append((a, b))
    return found


def test_renaming_one_key_of_a_lightning_checkpoint_changes_that_key_alone(tmp_path: Path) -> None:
    out = tmp_path / "renamed.ckpt"
    with inert.open(PLAIN) as ckpt:
        old = next(name for name in ckpt.tensors if name.startswith("state_dict."))
        new = f"{old}_0"
        ckpt.tensors.rename(old, new)
        assert new in ckpt.tensors
        assert old not in ckpt.tensors
        ckpt.save(out)
        names = [new if name == old else name for name in inert.open(PLAIN).tensors]
        with inert.open(out) as again:
            assert list(again.tensors) == names
            (a,), (b,) = ckpt.pickles.values(), again.pickles.values()
            keys = (old.removeprefix("state_dict."), new.removeprefix("state_dict."))
            assert difference(a.root, b.root) == [keys]
    before, after = records(PLAIN), records(out)
    assert list(before) == list(after)
    assert {name for name in before if before[name] != after[name]} == {"data.pkl", ".data/serialization_id"}
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None


def test_a_replaced_tensor_gets_a_record_of_its_own_and_the_others_keep_theirs(tmp_path: Path) -> None:
    out, elements = tmp_path / "replaced.ckpt", np.arange(5, dtype=np.float64)
    with inert.open(PLAIN) as ckpt:
        name = next(iter(ckpt.tensors))
        ckpt.tensors[name] = elements
        ckpt.save(out)
        others = {other: tensor.sha256() for other, tensor in ckpt.tensors.items() if other != name}
    with inert.open(out) as again:
        assert again.tensors[name].dtype == "float64"
        assert np.array_equal(again.tensors[name].numpy(), elements)
        assert {other: again.tensors[other].sha256() for other in others} == others
        assert not again.errors
    before, after = records(PLAIN), records(out)
    kept = [record for record in before if record.startswith("data/") and record in after]
    assert kept
    assert all(before[record] == after[record] for record in kept)
    assert elements.tobytes() in [after[record] for record in after if record not in before]


def test_deleting_a_tensor_takes_its_record_away(tmp_path: Path) -> None:
    out = tmp_path / "less.ckpt"
    with inert.open(PLAIN) as ckpt:
        name = next(iter(ckpt.tensors))
        gone = ckpt.tensors[name]
        assert gone.storage is not None
        key = gone.storage.key
        del ckpt.tensors[name]
        assert name not in ckpt.tensors
        ckpt.save(out)
    with inert.open(out) as again:
        assert list(again.tensors) == [other for other in inert.open(PLAIN).tensors if other != name]
    assert key in records(PLAIN)
    assert key not in records(out)


CHANGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], bool]]] = {
    "a new key": (lambda root: root.update(extra=[1, {"x": 2.5}]), lambda root: root["extra"] == [1, {"x": 2.5}]),
    "a number": (lambda root: root.update(epoch=77), lambda root: root["epoch"] == 77),
    "a list in place": (lambda root: root["lr_schedulers"].append("tail"), lambda root: root["lr_schedulers"][-1] == "tail"),
    "a part moved": (lambda root: root.update(moved=root.pop("loops")), lambda root: "loops" not in root and "fit_loop" in root["moved"]),
    "an order": (
        lambda root: root["state_dict"].move_to_end(next(iter(root["state_dict"]))),
        lambda root: isinstance(root["state_dict"], OrderedDict),
    ),
    "metadata of a state dict": (
        lambda root: setattr(root["state_dict"], "_metadata", OrderedDict(a={"version": 2})),
        lambda root: root["state_dict"]._metadata == {"a": {"version": 2}},
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_values_changed_in_place_are_what_is_read_again(what: str, tmp_path: Path) -> None:
    change, holds = CHANGES[what]
    out = tmp_path / "changed.ckpt"
    with inert.open(PLAIN) as ckpt:
        assert ckpt.untouched()
        change(ckpt.root)
        assert not ckpt.untouched()
        ckpt.save(out)
        hashes = sorted(tensor.sha256() for tensor in ckpt.tensors.values())
    with inert.open(out) as again:
        assert holds(again.root)
        assert sorted(tensor.sha256() for tensor in again.tensors.values()) == hashes
        assert not again.errors


def test_the_source_may_be_the_destination(tmp_path: Path) -> None:
    path = tmp_path / "model.ckpt"
    path.write_bytes(PLAIN.read_bytes())
    with inert.open(path) as ckpt:
        del ckpt.root["optimizer_states"]
        ckpt.save(path)
    with inert.open(path) as again:
        assert "optimizer_states" not in again.root
        assert again.tensors
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.ckpt"]


def test_places_that_cannot_be_changed_are_refused(tmp_path: Path) -> None:
    inert.save({"t": (np.zeros(2), np.ones(2)), "d": {"x": np.zeros(3)}}, tmp_path / "t.pt")
    with inert.open(tmp_path / "t.pt") as ckpt:
        with pytest.raises(UnsupportedError, match="tuple"):
            ckpt.tensors["t.0"] = np.zeros(2)
        with pytest.raises(UnsupportedError, match="tuple"):
            del ckpt.tensors["t.1"]
        with pytest.raises(KeyError):
            del ckpt.tensors["nothing"]
        with pytest.raises(ValueError, match=re.escape("'d'")):
            ckpt.tensors.rename("d.x", "elsewhere")
        ckpt.tensors["d.y.z"] = np.full(1, 7.0)
        assert "y.z" in ckpt.root["d"]
        ckpt.save(tmp_path / "u.pt")
    with inert.open(tmp_path / "u.pt") as again:
        assert list(again.tensors) == ["t.0", "t.1", "d.x", "d.y.z"]
        assert again.tensors["d.y.z"].numpy() == [7.0]


@pytest.mark.parametrize("where", ["object", "names"])
def test_the_methods_of_a_dict_change_the_object(tmp_path: Path, where: str) -> None:
    path = tmp_path / "t.pt"
    inert.save({name: np.full(2, number) for number, name in enumerate("abcdef")}, path)
    with inert.open(path if where == "object" else HERE / "tf" / "types" / "types") as ckpt:
        index = ckpt.tensors
        if where == "names":
            for name in [*index]:
                del index[name]
            index.update({name: np.full(2, number) for number, name in enumerate("abcdef")})
        model = dict(index)
        assert index.pop("nothing", None) is None
        assert index.pop("nothing", 3) == 3
        with pytest.raises(KeyError, match="nothing"):
            index.pop("nothing")
        assert index.pop("b") is model.pop("b")
        assert index.popitem() == model.popitem()
        assert index.setdefault("a", np.zeros(9)) is model["a"]
        assert index.setdefault("new", np.ones(1)).shape == (1,)
        index.update({"c": np.zeros(5)}, d=np.zeros(6))
        assert [(name, tensor.shape) for name, tensor in index.items()] == [
            ("a", (2,)),
            ("c", (5,)),
            ("d", (6,)),
            ("e", (2,)),
            ("new", (1,)),
        ]
        assert list(ckpt.root) == list(index) == [*reversed([*reversed(index)])]
        index.clear()
        assert not index
        assert not ckpt.root
        with pytest.raises(KeyError, match="popitem"):
            index.popitem()


@pytest.mark.parametrize("source", [PLAIN, HERE / "tf" / "names"], ids=lambda path: path.name)
def test_a_missing_name_gets_those_like_it(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with inert.open(source) as ckpt:
        index = ckpt.tensors
        known = max((name for name in index if len(name) < 300), key=len)
        with pytest.raises(KeyError) as caught:
            index[known[:-1] + "§"]
        assert f"did you mean {known!r}" in str(caught.value)
        assert caught.value.args == (known[:-1] + "§",)
        assert str(pickle.loads(pickle.dumps(caught.value)).args[0]) == str(caught.value)
        with pytest.raises(KeyError, match="names of tensors are texts"):
            index[3]  # type: ignore[index]
        monkeypatch.setattr("inert.index.near", None)  # nothing is compared before the text is asked for
        assert index.get("nothing") is None
        assert "nothing" not in index
        with pytest.raises(KeyError):
            index["nothing"]


def test_a_bare_tensor_is_replaced_as_the_whole_object(tmp_path: Path) -> None:
    inert.save(np.arange(3), tmp_path / "t.pt")
    with inert.open(tmp_path / "t.pt") as ckpt:
        ckpt.tensors[""] = np.arange(4)
        ckpt.save(tmp_path / "u.pt")
    with inert.open(tmp_path / "u.pt") as again:
        assert again.tensors[""].shape == (4,)
        assert isinstance(again.root, Tensor)


def test_tied_tensors_stay_tied_in_an_edit(tmp_path: Path) -> None:
    tied = np.arange(6.0)
    inert.save({"a": tied, "b": tied, "c": tied[2:4], "n": 1}, tmp_path / "t.pt")
    with inert.open(tmp_path / "t.pt") as ckpt:
        ckpt.root["n"] = 2
        ckpt.save(tmp_path / "u.pt")
    with inert.open(tmp_path / "u.pt") as again:
        a, b, c = (again.tensors[name] for name in "abc")
        assert a.storage == b.storage == c.storage
        assert c.offset == 2
        assert again.root["n"] == 2


def test_a_configuration_that_was_changed_is_written_as_plain_data_and_noted(tmp_path: Path) -> None:
    with inert.open(HERE / "lightning" / "omegaconf.ckpt") as ckpt:
        parameters = ckpt.root["hyper_parameters"]
        key = next(key for key, value in parameters.items() if isinstance(value, dict))
        parameters[key]["added"] = 5
        written = ckpt.save(tmp_path / "changed.ckpt")
    assert {note.code for note in written.notes} == {"class-plain"}
    with inert.open(tmp_path / "changed.ckpt") as again:
        assert again.root["hyper_parameters"][key]["added"] == 5
        assert list(again.tensors) == list(inert.open(HERE / "lightning" / "omegaconf.ckpt").tensors)


def test_a_pickle_in_nobodys_style_is_written_in_a_known_one_and_noted(tmp_path: Path) -> None:
    odd = b"\x80\x02}(X\x01\x00\x00\x00aK\x01X\x01\x00\x00\x00b\x8a\x01\x02K\x070u."  # a number is made and dropped again
    (tmp_path / "odd.pt").write_bytes(torch_zip(odd, {}))
    with inert.open(tmp_path / "odd.pt") as ckpt:
        assert ckpt.root == {"a": 1, "b": 2}
        ckpt.root["c"] = 3
        written = ckpt.save(tmp_path / "again.pt")
    assert [note.code for note in written.notes] == ["pickle-reencoded"]
    with inert.open(tmp_path / "again.pt") as again:
        assert again.root == {"a": 1, "b": 2, "c": 3}


SCRIPT = HERE / "script" / "module.pt"


def whole(tensor: Tensor) -> bool:
    """Whether the elements lie in order."""
    return bool(tensor.numpy().flags.c_contiguous)


def test_a_tensor_of_a_program_is_replaced_where_it_lies(tmp_path: Path) -> None:
    out = tmp_path / "out.pt"
    with inert.open(SCRIPT) as ckpt:
        users = Counter(one.storage for one in ckpt.tensors.values())
        name, first = next(
            (name, one) for name, one in ckpt.tensors.items() if one.dtype == "float32" and users[one.storage] == 1 and whole(one)
        )
        elements = np.arange(first.size, dtype=np.float32).reshape(first.shape)
        others = {other: one.sha256() for other, one in ckpt.tensors.items() if other != name}
        ckpt.tensors[name] = elements
        assert not ckpt.save(out).lost
    before, after = records(SCRIPT), records(out)
    assert list(before) == list(after)
    assert len([one for one in before if before[one] != after[one]]) == 1
    assert out.stat().st_size == SCRIPT.stat().st_size
    with zipfile.ZipFile(out) as archive:
        assert archive.testzip() is None
    with inert.open(out) as again:
        assert np.array_equal(again.tensors[name].numpy(), elements)
        assert {other: again.tensors[other].sha256() for other in others} == others


def test_what_would_make_a_program_untrue_is_refused(tmp_path: Path) -> None:
    with inert.open(SCRIPT) as ckpt:
        name, first = next((name, one) for name, one in ckpt.tensors.items() if one.dtype == "float32" and one.size > 1)
        ckpt.tensors[name] = np.zeros(3)
        with pytest.raises(UnsupportedError, match="cannot become float64"):
            ckpt.save(tmp_path / "out.pt")
    with inert.open(SCRIPT) as ckpt:
        del ckpt.tensors[name]
        with pytest.raises(UnsupportedError, match="not added, renamed or taken out"):
            ckpt.save(tmp_path / "out.pt")
    with pytest.raises(UnsupportedError, match="program"):
        inert.save({"w": np.zeros(2)}, tmp_path / "out.ptl")
    assert not list(tmp_path.iterdir())
    assert first.size > 1
