"""Frames of protocol 4: which of them are noted, held against CPython's two unpicklers."""

from __future__ import annotations

import io
import pickle
import struct
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.pickle.decode import decode

HERE = Path(__file__).parent / "corpus"


def frame(length: int) -> bytes:
    return b"\x95" + struct.pack("<Q", length)


def by_c(data: bytes) -> Any:
    return pickle.loads(data)


def by_python(data: bytes) -> Any:
    return pickle._Unpickler(io.BytesIO(data)).load()  # type: ignore[attr-defined]


START = b"\x80\4"
LIST = b"]\x94(K\1K\2M\0\1e"  # [1, 2, 256]
SOUND = {
    "one frame": START + frame(len(LIST) + 1) + LIST + b".",
    "two frames": START + frame(4) + LIST[:3] + b"(" + frame(2) + b"10" + LIST[2:] + b".",
    "outside": START + frame(2) + LIST[:2] + LIST[2:] + b".",
    "opcodes between frames": START + frame(2) + LIST[:2] + LIST[2:] + frame(1) + b".",
    "empty frames": START + frame(0) + frame(0) + LIST + frame(0) + b".",
    "text arguments": START + frame(5) + b"I12\n0" + b"F1.5\n0" + LIST + b".",
}
# what lies → the place that is noted, and whether Python's twin refuses it
LIES = {
    "inside an argument": (START + frame(9) + LIST + b".", 11 + 7, True),
    "before an argument": (START + frame(8) + LIST + b".", 11 + 7, False),
    "inside a text": (START + frame(8) + b"\x8c\x08abcdefgh.", 11, True),
    "inside a line": (START + frame(2) + b"I123\n.", 11, True),
    "inside two lines": (START + frame(6) + b"cbuiltins\nint\n.", 11, True),
    "a frame in a frame": (START + frame(20) + frame(len(LIST) + 1) + LIST + b".", 2, True),
    "behind STOP": (START + frame(len(LIST) + 3) + LIST + b".xx", 2, False),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sound_frame_is_not_noted(name: str) -> None:
    document = decode(SOUND[name])
    assert document.fault is None
    assert document.odd == []
    assert by_c(SOUND[name]) == by_python(SOUND[name])


@pytest.mark.parametrize("name", LIES)
def test_a_frame_that_lies_is_noted_and_read_as_the_c_unpickler_does(name: str) -> None:
    data, place, refused = LIES[name]
    document = decode(data)
    assert document.fault is None
    assert [(code, at) for code, at, _ in document.odd] == [("pickle-frame", place)]
    by_c(data)
    if refused:
        with pytest.raises(pickle.UnpicklingError):
            by_python(data)
    else:
        assert by_python(data) == by_c(data)


@pytest.mark.parametrize("protocol", [4, 5])
def test_what_cpythons_pickler_writes_keeps_to_its_frames(protocol: int) -> None:
    value = [bytes(70_000), "x" * 70_000, list(range(50_000)), {str(i): i / 3 for i in range(9000)}, bytearray(66_000), "é" * 33_000]
    for dumps in (pickle.dumps, pickle._dumps):  # type: ignore[attr-defined]
        assert decode(dumps(value, protocol)).odd == []


def test_many_lying_frames_take_little_memory_and_time() -> None:
    document = decode(START + frame(1) * 60_000 + b"N.")
    assert document.fault is None
    assert 0 < len(document.odd) <= 1000
    document = decode(START + (frame(2) + b"K\1\x30K\1\x30") * 20_000 + b"N.")
    assert document.odd == []


def test_the_hostile_frame_is_noted() -> None:
    with inert.open(HERE / "hostile" / "frame_lies.pt") as checkpoint:
        assert "pickle-frame" in {note.code for note in checkpoint.notes}
