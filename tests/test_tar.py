"""The tar container and the layout of torch before 0.1.10: what is read, what is refused, what is left of a damaged archive."""

from __future__ import annotations

import io
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.containers.tar import Tar
from inert.errors import FormatError, LimitError, TruncatedError
from inert.limits import DEFAULT, Limits
from inert.source import BytesSource
from tests.conformance import look_over
from tests.makers import Made, Name, Pid, dumps
from tests.tars import SYSTEM, archive, checkpoint, key, sample, storages, tensors


def members(data: bytes, limits: Limits = DEFAULT) -> Tar:
    return Tar(BytesSource(data), limits)


def codes(found: Any) -> list[str]:
    return [note.code for note in found.notes]


# ------------------------------------------------------------------------------------------------------------- the container


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("name", ["a", "./b/c", "d/" * 60 + "long", "ü" * 40, "e" * 99])
def test_names_of_any_dialect(format: int, name: str) -> None:
    found = members(archive({name: b"x" * 700, "last": b"y"}, format))
    assert list(found.members) == [name.removeprefix("./"), "last"]
    assert found.content(name.removeprefix("./")).read() == b"x" * 700
    assert found.content("last").read() == b"y"
    assert not found.notes


def test_a_size_of_eight_gib_in_binary_and_in_pax() -> None:
    """GNU writes such sizes as binary numbers, pax as text; here of files that end early."""
    for format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        info = tarfile.TarInfo("big")
        info.size = 1 << 34
        data = info.tobuf(format) + b"begin"
        found = members(data)
        assert found.members["big"].size == 1 << 34
        assert "tar-cut" in codes(found)
        assert found.content("big", cut=True).read() == b"begin"
        with pytest.raises(TruncatedError, match="17,179,869,184 bytes would end beyond"):
            found.content("big")


@pytest.mark.parametrize(
    "kind", [tarfile.LNKTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.GNUTYPE_SPARSE, b"Z"]
)
def test_what_is_no_plain_file_is_listed_and_refused(kind: bytes) -> None:
    info = tarfile.TarInfo("storages")
    info.type, info.linkname = kind, "/etc/passwd"
    found = members(archive({"storages": info, "next": b"1"}))
    assert found.content("next").read() == b"1"
    assert codes(found) == ["tar-refused"]
    with pytest.raises(FormatError, match="not a plain file"):
        found.content("storages")


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../b", "C:\\x", "a\\..\\b"])
def test_names_that_lead_elsewhere_are_refused(name: str) -> None:
    found = members(archive({name: b"1"}))
    assert codes(found) == ["tar-refused"]
    with pytest.raises(FormatError, match="not a plain file"):
        found.content(name)


def test_a_folder_is_no_finding() -> None:
    info = tarfile.TarInfo("folder/")
    info.type = tarfile.DIRTYPE
    assert codes(members(archive({"folder/": info, "folder/a": b"1"}))) == []


def test_of_equal_names_the_last_counts() -> None:
    data = archive({"a": b"first"})[:1024] + archive({"a": b"second"})
    found = members(data)
    assert found.content("a").read() == b"second"
    assert codes(found) == ["tar-duplicate"]


def test_damage_and_bounds() -> None:
    data = archive({"a": b"1", "b": b"2"})
    damaged = bytearray(data)
    damaged[1024 + 5] ^= 1
    assert codes(members(bytes(damaged))) == ["tar-damaged"]
    with pytest.raises(LimitError, match="more than 1 members"):
        members(data, Limits(entries=1))
    long = tarfile.TarInfo("././@LongLink")
    long.type, long.size = b"L", 1 << 30
    with pytest.raises(FormatError, match="an extended header of 1,073,741,824 bytes"):
        members(long.tobuf(tarfile.GNU_FORMAT) + b"x" * 512)


# ------------------------------------------------------------------------------------------------------------------ the layout


def test_a_checkpoint() -> None:
    with inert.open(io.BytesIO(sample())) as found:
        assert found.format == "torch-tar"
        assert list(found.tensors) == ["w", "n.0", "n.1", "v"]
        assert found.root["epoch"] == 3
        w, v = found.tensors["w"], found.tensors["v"]
        assert (w.shape, w.strides, w.offset, str(w.dtype)) == ((2, 3), (3, 1), 1, "float32")
        assert np.array_equal(w.numpy(), [[1, 2, 3], [4, 5, 6]])
        assert np.array_equal(v.numpy(), [[2, 4], [3, 5]]), "a view of the storage, transposed"
        assert found.tensors["n.0"].storage is found.tensors["n.1"].storage
        assert found.tensors["n.0"].numpy().tolist() == [-1, 7]
        assert found.metadata == {"protocol_version": "1000", "byteorder": "little"}
        assert {part.role for part in found.parts.values()} == {"system", "pickle", "storages", "tensors", "storage"}
        assert found.parts["storage 1"].size == 32
        assert not found.notes


def test_bytes_lie_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "m.pth"
    path.write_bytes(sample())
    with inert.open(path) as found:
        tensor = found.tensors["w"]
        at = tensor.file_offset
        assert at is not None
        assert struct.unpack("<6f", path.read_bytes()[at : at + 24]) == (1, 2, 3, 4, 5, 6)
    loaded = inert.load(path)
    assert loaded["n"][0] is loaded["n"][1]


def test_what_is_said_of_it(tmp_path: Path) -> None:
    from inert.report.about import info
    from inert.report.records import parts

    path = tmp_path / "m.pth"
    path.write_bytes(sample())
    with inert.open(path) as found:
        said = info(found)
        assert said["loads"]["full"]["ok"]
        assert not said["loads"]["weights_only"]["ok"]
        assert "tar layout" in said["oldest"]["why"]
        assert [row["name"] for row in parts(found.content)["parts"]] == list(found.parts)
    path.write_bytes(sample()[: sample().index(struct.pack("<8f", *range(8)))])
    with inert.open(path) as found:
        assert not info(found)["loads"]["full"]["ok"]
    with inert.open(io.BytesIO(sample())) as found:
        assert "on disk only" in info(found)["loads"]["full"]["why"]


def test_old_objects_keep_their_class_and_its_source() -> None:
    """PyTorch 0.1 gave the classes of containers persistent ids of their own: (class, file, source)."""
    linear = Pid((Name("torch.nn.modules.linear", "Linear"), "/x/linear.py", "class Linear(Module): pass"))
    weight = Made(Name("torch.nn.parameter", "Parameter"), (), (key(10), True, None), new=True)
    module = Made(linear, (), {"_parameters": {"weight": weight}, "_buffers": {}, "_modules": {}}, new=True)
    data = checkpoint(module, storages([(1, "Float", bytes(8))]), tensors([(10, 1, "Float", (2,), (1,), 0)]))
    with inert.open(io.BytesIO(data)) as found:
        assert found.root.type == "torch.nn.modules.linear.Linear"
        assert list(found.tensors) == ["weight"]
        assert found.tensors["weight"].requires_grad
        (note,) = found.notes
        assert note.code == "module-source"
        assert "26 characters" in note.message
        assert "class Linear(Module): pass" in [
            text for reference in found.pickles["pickle"].references for text in (reference.pid[2:3] or [])
        ]


@pytest.mark.parametrize(
    ("held", "listed", "said"),
    [
        (dumps(1), tensors([]), "the pickle ends without STOP"),
        (dumps("x"), tensors([]), "the number of storages is 'x'"),
        (dumps(1) + dumps((1, "cpu")), tensors([]), "entry 0 is"),
        (dumps(1) + dumps((1, "cpu", Name("os", "system"))), tensors([]), "no storage's"),
        (storages([(1, "Float", bytes(8))], [(3, 2, 0, 1)]), tensors([]), "the view 3 is of no storage"),
        (dumps(1) + dumps((1, "cpu", Name("torch", "FloatStorage"))) + struct.pack("<q", -1), tensors([]), "-4 bytes are wanted"),
        (dumps(1) + dumps((1, "cpu", Name("torch", "FloatStorage"))) + struct.pack("<q", 1 << 60), tensors([]), "are wanted of 0"),
        (storages([]), dumps(1 << 70), "the pickle ends without STOP"),
        (storages([]), dumps(1) + dumps((1, 2, Name("torch", "FloatTensor"))) + struct.pack("<i", 1000) + bytes(4), "1,000 dimensions"),
        (storages([]), dumps(1) + dumps((1, 2, 3)) + bytes(16), "of no known type"),
    ],
)  # fmt: skip
def test_a_damaged_stream_is_noted(held: bytes, listed: bytes, said: str) -> None:
    with inert.open(io.BytesIO(checkpoint({"a": 1}, held, listed))) as found:
        assert found.root == {"a": 1}
        assert "record-missing" in codes(found)
        assert any(said in note.message for note in found.notes), found.notes


def test_tensors_behind_a_fault_are_refused_one_by_one() -> None:
    held = storages([(1, "Float", bytes(8)), (2, "Float", bytes(8))])[:-30]
    listed = tensors([(10, 1, "Float", (2,), (1,), 0), (11, 2, "Float", (2,), (1,), 0), (12, 1, "Float", (9,), (1,), 0)])
    data = checkpoint([key(10), key(11), key(12), key(13)], held, listed)
    with inert.open(io.BytesIO(data)) as found:
        assert found.tensors["0"].numpy().tolist() == [0, 0]
        assert found.tensors["1"].fault == "its storage 2 is not in the file"
        assert "number 9 of a storage that holds 2" in found.tensors["2"].fault
        assert list(found.tensors) == ["0", "1", "2"], "what no entry describes stays a Reference"


def test_a_cut_archive_gives_what_is_left() -> None:
    data = sample()
    start = data.index(struct.pack("<8f", *range(8)))
    with inert.open(io.BytesIO(data[: start + 40])) as found:
        assert found.tensors["w"].numpy()[0, 0] == 1
        assert found.tensors["n.0"].fault
        assert {"tar-cut", "record-missing", "tensor-damaged"} <= set(codes(found))


def test_links_in_the_place_of_streams_are_refused() -> None:
    link = tarfile.TarInfo("pickle")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    with pytest.raises(FormatError, match="a symbolic link"):
        inert.open(io.BytesIO(archive({"pickle": link, "tensors": tensors([]), "storages": storages([])})))


def test_odd_pickles_are_kept_for_whoever_judges_them() -> None:
    call = Made(Name("os", "system"), ("id",))
    held = dumps(1) + dumps((1, "cpu", call))
    with inert.open(io.BytesIO(checkpoint({}, held, tensors([])))) as found:
        assert [node.dotted for node in found.pickles["storages/0"].globals] == ["os.system"]
    many = dumps(9) + dumps((1, "cpu", Name("torch", "FloatStorage"))) + struct.pack("<q", 0)
    with pytest.raises(LimitError, match="odd pickles"):
        inert.open(io.BytesIO(checkpoint({}, many + dumps(call), tensors([]))), limits=Limits(pickles=1)).notes  # noqa: B018


def test_any_prefix_gives_a_result_or_a_refusal() -> None:
    data = sample()
    for end in [*range(0, 600, 37), *range(600, len(data), 97)]:
        look_over(io.BytesIO(data[:end]))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_change_gives_a_result_or_a_refusal(draw: Any) -> None:
    data = bytearray(sample())
    for _ in range(draw.draw(st.integers(1, 4))):
        data[draw.draw(st.integers(0, 6000))] = draw.draw(st.integers(0, 255))
    look_over(io.BytesIO(bytes(data)))


def test_a_tar_of_something_else_is_not_claimed() -> None:
    with pytest.raises(inert.UnidentifiedError, match="a tar archive"):
        inert.open(io.BytesIO(archive({"readme": b"hello"})))
    assert SYSTEM["protocol_version"] == 1000
