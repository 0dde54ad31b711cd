"""Bytes somewhere: every read inside its bounds, whatever happens to the file meanwhile."""

from __future__ import annotations

import gc
import io
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import inert
from inert.beside import BesideSource
from inert.errors import FormatError, InertError, TruncatedError, UnsupportedError
from inert.files import FileSource, StreamSource, open_source
from inert.scratch import written
from inert.source import BytesSource, Source, Span
from tests.makers import dumps, storage, tensor, torch_zip

DATA = bytes(range(256)) * 5
Plain = FileSource | BesideSource


@pytest.fixture(params=["file", "beside", "stream", "bytes", "scratch"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Source]:
    path = tmp_path / "data.bin"
    path.write_bytes(DATA)
    made: dict[str, Callable[[], Source]] = {
        "file": lambda: FileSource(str(path)),
        "beside": lambda: BesideSource(str(path)),
        "stream": lambda: StreamSource(io.BytesIO(DATA), "data.bin"),
        "bytes": lambda: BytesSource(DATA, "data.bin"),
        "scratch": lambda: written(lambda write: write(DATA), "data.bin"),
    }
    held = made[request.param]()
    yield held
    held.close()


def test_bytes_are_read_where_they_are(source: Source) -> None:
    assert source.size == len(DATA)
    for offset, length in ((0, 0), (0, 1), (5, 7), (250, 20), (0, len(DATA)), (len(DATA), 0), (len(DATA) - 1, 1)):
        wanted = DATA[offset : offset + length]
        assert source.read(offset, length) == wanted
        span = source.span(offset, length)
        assert span.read() == wanted
        assert b"".join(span.chunks(3)) == wanted
        view = source.view(offset, length)
        assert view is None or bytes(view) == wanted
        room = bytearray(length)
        source.readinto(offset, memoryview(room))
        assert room == wanted
        room = bytearray(length)
        span.readinto(memoryview(room))
        assert room == wanted
        region = source.region(offset, length)
        if region is not None:
            assert Path(region[0]).read_bytes()[region[1] :][:length] == wanted
    assert source.span(1250).read() == DATA[1250:]
    assert repr(source.span(3, 4)).endswith("[3, 7)>")


@pytest.mark.parametrize(
    ("offset", "length"), [(-1, 1), (0, -1), (-1, 0), (0, 1281), (1280, 1), (1281, 0), (1 << 70, 1), (0, 1 << 70), (1 << 63, 1 << 63)]
)
def test_nothing_is_read_outside(source: Source, offset: int, length: int) -> None:
    for ask in (source.read, source.view, source.check, source.span):
        with pytest.raises(TruncatedError) as raised:
            ask(offset, length)
        assert raised.value.part.endswith("data.bin")
        assert raised.value.offset is not None
        assert raised.value.offset >= 0
    with pytest.raises(TruncatedError):
        source.readinto(1279, memoryview(bytearray(2)))


@settings(max_examples=200, deadline=None)
@given(st.integers(-5, 40), st.integers(-5, 40), st.integers(-5, 40), st.integers(-5, 40))
def test_a_span_of_a_span(offset: int, length: int, start: int, count: int) -> None:
    whole = BytesSource(DATA[:30]).span()
    inside = offset >= 0 and length >= 0 and offset + length <= 30
    if not inside:
        with pytest.raises(TruncatedError):
            whole.sub(offset, length)
        return
    span = whole.sub(offset, length)
    assert span.read() == DATA[offset : offset + length]
    if start >= 0 and count >= 0 and start + count <= length:
        wanted = DATA[offset + start : offset + start + count]
        assert span.sub(start, count).read() == span.read(start, count) == wanted
        assert bytes(span.sub(start, count).view() or b"") == wanted
    else:
        for ask in (span.sub, span.read):
            with pytest.raises(TruncatedError):
                ask(start, count)
    assert whole.sub(offset).length == 30 - offset


def test_a_span_is_inside_or_is_not_made() -> None:
    with pytest.raises(TruncatedError):
        Span(BytesSource(b"abc"), 1, 3)
    assert Span(BytesSource(b"abc"), 1, 2).read() == b"bc"


def test_a_view_is_the_very_bytes_and_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    held = FileSource(str(path))
    view = held.view(256, 256)
    assert view is not None
    assert view.readonly
    with pytest.raises(TypeError):
        view[0] = 1
    assert held.region(5, 1) == (str(path), 5)
    array = bytearray(DATA)
    shared = BytesSource(array).view(0, 4)
    array[0] = 77
    assert shared[0] == 77
    assert shared.readonly
    held.close()


def test_chunks_are_bounded() -> None:
    pieces = list(BytesSource(DATA).span(10, 1000).chunks(64))
    assert b"".join(pieces) == DATA[10:1010]
    assert max(map(len, pieces)) == 64
    assert list(BytesSource(b"").span().chunks()) == []


# --------------------------------------------------------------------------------------------------------- while the file is open


@pytest.fixture(params=[FileSource, BesideSource])
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Plain, Path]]:
    path = tmp_path / "data.bin"
    path.write_bytes(DATA)
    made = request.param(str(path))
    yield made, path
    made.close()


def ways(source: Source) -> list[Callable[[], Any]]:
    return [
        lambda: source.read(0, 10),
        lambda: source.view(0, 10),
        lambda: source.readinto(0, memoryview(bytearray(10))),
        lambda: source.span().read(),
        lambda: list(source.span().chunks(100)),
        lambda: source.span(0, 5).readinto(memoryview(bytearray(5))),
    ]


def test_a_file_that_is_cut(held: tuple[Plain, Path]) -> None:
    source, path = held
    os.truncate(path, 100)
    for ask in ways(source):
        with pytest.raises(TruncatedError, match="cut from 1,280 to 100 bytes while it was open"):
            ask()


def test_a_file_that_is_cut_between_the_look_and_the_read(held: tuple[Plain, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    source, path = held
    with source.steady():
        assert source.read(0, 1) == DATA[:1]
        monkeypatch.setattr(source.__class__, "_unchanged", lambda self: None)
        os.truncate(path, 100)
        for ask in (lambda: source.read(90, 20), lambda: source.read(200, 20), lambda: source.readinto(90, memoryview(bytearray(20)))):
            with pytest.raises(TruncatedError, match="cut while it was open"):
                ask()


def test_a_file_that_is_rewritten(held: tuple[Plain, Path]) -> None:
    source, path = held
    path.write_bytes(bytes(len(DATA)))
    os.utime(path, ns=(1, 1))
    for ask in ways(source):
        with pytest.raises(FormatError, match="changed or replaced"):
            ask()


def test_a_file_that_grows(held: tuple[Plain, Path]) -> None:
    source, path = held
    with path.open("ab") as out:
        out.write(b"more")
    for ask in ways(source):
        with pytest.raises(FormatError, match="changed or replaced"):
            ask()


def test_a_file_that_is_replaced(held: tuple[Plain, Path], tmp_path: Path) -> None:
    source, path = held
    other = tmp_path / "other"
    other.write_bytes(DATA)
    os.replace(other, path)
    for ask in ways(source):
        with pytest.raises(FormatError, match="changed or replaced"):
            ask()


def test_a_file_that_is_deleted_is_still_the_one_that_was_opened(held: tuple[Plain, Path]) -> None:
    source, path = held
    view = source.view(0, 5)
    path.unlink()
    if isinstance(source, BesideSource):  # which holds nothing
        for ask in ways(source):
            with pytest.raises(FormatError, match="moved or deleted"):
                ask()
        with pytest.raises(FormatError, match="moved or deleted"), source.steady():
            pass
    else:
        assert source.read(0, 5) == DATA[:5]
        assert bytes(source.view(0, 5) or b"") == DATA[:5]
    assert bytes(view or b"") == DATA[:5]


def test_a_steady_reading_is_held_against_the_file_at_its_end(held: tuple[Plain, Path]) -> None:
    source, path = held
    with source.steady():
        assert source.read(0, 5) == DATA[:5]
    with pytest.raises(FormatError, match="changed or replaced"), source.steady():
        os.utime(path, ns=(1, 1))
        assert source.read(0, 5) == DATA[:5]
    with pytest.raises(FormatError, match="changed or replaced"), source.steady():
        pass
    with BytesSource(DATA).steady():
        pass


def test_a_closed_file(held: tuple[Plain, Path]) -> None:
    source, _ = held
    view = source.view(0, 300)
    assert view is not None
    source.close()
    source.close()
    for ask in ways(source):
        with pytest.raises(UnsupportedError, match="closed"):
            ask()
    assert bytes(view) == DATA[:300], "what was handed out stays"


def test_no_such_file_is_the_operating_systems_to_say(tmp_path: Path) -> None:
    for ask in (lambda: FileSource(str(tmp_path / "none")), lambda: inert.open(tmp_path / "none")):
        with pytest.raises(FileNotFoundError):
            ask()
        gc.collect()  # a half-made source goes without a word


def test_the_file_is_let_go_with_its_source(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else -1
    for _ in range(50):
        source = FileSource(str(path))
        assert source.view(0, 4) is not None
        del source
        with pytest.raises(InertError):
            inert.open(path)
    gc.collect()
    if before >= 0:
        assert len(os.listdir("/proc/self/fd")) <= before + 1


# -------------------------------------------------------------------------------------------------------------------- streams


class Stubborn(io.RawIOBase):
    """A seekable file that gives a few bytes at a time and remembers where it was left."""

    def __init__(self, data: bytes, most: int = 7) -> None:
        self.data = io.BytesIO(data)
        self.most = most
        self.short = False

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.data.seek(offset, whence)

    def tell(self) -> int:
        return self.data.tell()

    def read(self, size: int = -1) -> bytes:
        return b"" if self.short or not size else self.data.read(min(size, self.most) if size >= 0 else self.most)


def test_a_stream_that_gives_little_at_a_time_and_is_left_where_it_was() -> None:
    stream = Stubborn(DATA)
    stream.seek(33)
    source = StreamSource(stream)  # type: ignore[arg-type]
    assert stream.tell() == 33
    assert source.read(100, 500) == DATA[100:600]
    assert stream.tell() == 33
    assert source.view(0, 10) is None
    assert source.region(0, 10) is None
    stream.short = True
    with pytest.raises(TruncatedError, match="ended early"):
        source.read(100, 500)
    assert stream.tell() == 33


def test_a_stream_that_shrinks() -> None:
    stream = io.BytesIO(DATA)
    source = StreamSource(stream)
    stream.truncate(50)
    assert source.read(0, 50) == DATA[:50]
    with pytest.raises(TruncatedError, match="ended early"):
        source.read(0, 51)


def test_a_stream_is_read_from_several_threads() -> None:
    source = StreamSource(Stubborn(DATA))  # type: ignore[arg-type]
    wrong: list[int] = []

    def read(start: int) -> None:
        for _ in range(50):
            if source.read(start, 200) != DATA[start : start + 200]:
                wrong.append(start)

    threads = [threading.Thread(target=read, args=(i * 100,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(DATA)
    assert open_source(str(path)).read(0, 3) == open_source(path).read(0, 3) == DATA[:3]
    assert open_source(io.BytesIO(DATA)).name == "<stream>"
    with path.open("rb") as file:
        assert open_source(file).name == str(path)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as pipe, os.fdopen(writer, "wb"), pytest.raises(UnsupportedError, match="seekable"):
        open_source(pipe)
    assert open_source(b"bytes").read(1, 3) == open_source(memoryview(b"bytes")).read(1, 3) == b"yte"
    for what in (None, 5, object(), io.BytesIO, io.StringIO("text")):
        with pytest.raises(UnsupportedError, match="path or a seekable binary file"):
            open_source(what)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------- a checkpoint over such sources

FILE = torch_zip(dumps({"w": tensor(storage("0", 6), (2, 3)), "n": 5}), {"0": np.arange(6, dtype="<f4").tobytes()})
WANTED = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_arrays_outlive_the_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(FILE)
    with inert.open(path) as checkpoint:
        tensor = checkpoint.tensors["w"]
        array = tensor.numpy()
    del checkpoint
    gc.collect()
    assert array.tolist() == WANTED
    path.unlink()
    assert array.tolist() == WANTED
    with pytest.raises(UnsupportedError, match="closed"):
        tensor.numpy()
    with pytest.raises(UnsupportedError, match="closed"):
        tensor.sha256()


@pytest.mark.parametrize("change", ["cut", "replace", "rewrite"])
def test_a_checkpoint_whose_file_changes(change: str, tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(FILE)
    with inert.open(path) as checkpoint:
        tensor = checkpoint.tensors["w"]
        if change == "cut":
            os.truncate(path, 200)
        elif change == "replace":
            (tmp_path / "n").write_bytes(FILE)
            os.replace(tmp_path / "n", path)
        else:
            path.write_bytes(FILE[::-1])
            os.utime(path, ns=(1, 1))
        for ask in (
            tensor.numpy,
            tensor.sha256,
            lambda: tensor[0],
            lambda: list(tensor.chunks()),
            lambda: checkpoint.notes,
            lambda: checkpoint.parts,
        ):
            with pytest.raises(FormatError, match="while it was open"):
                ask()
        assert (tensor.shape, tensor.dtype) == ((2, 3), "float32"), "what has been read stays known"


def test_a_stream_is_not_closed_and_may_begin_anywhere() -> None:
    stream = io.BytesIO(FILE)
    stream.seek(17)
    with inert.open(stream) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == WANTED
        assert checkpoint.tensors["w"].file_offset is None
        assert checkpoint.tensors["w"].file is None
    assert not stream.closed
    assert stream.tell() == 17


def test_a_file_object_is_read_like_its_path(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    path.write_bytes(FILE)
    with path.open("rb") as file, inert.open(file) as checkpoint:
        assert checkpoint.tensors["w"].numpy().tolist() == WANTED
    with inert.open(str(path)) as checkpoint:
        assert checkpoint.tensors["w"].file == str(path)
        at = checkpoint.tensors["w"].file_offset
        assert FILE[at : at + 24] == np.arange(6, dtype="<f4").tobytes()


def test_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(inert.UnidentifiedError, match="folder"):
        inert.open(tmp_path)


def test_several_threads_read_one_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "m.pt"
    count = 200
    state = {f"w{i}": tensor(storage(str(i), 4), (4,)) for i in range(count)}
    path.write_bytes(torch_zip(dumps(state), {str(i): np.full(4, i, "<f4").tobytes() for i in range(count)}))
    wrong: list[Any] = []
    with inert.open(path) as checkpoint:

        def read(first: int) -> None:
            try:
                for i in range(count):
                    i = (i + first) % count
                    if checkpoint.tensors[f"w{i}"].numpy().tolist() != [i] * 4 or checkpoint.notes or len(checkpoint.parts) != count + 5:
                        wrong.append(i)
            except Exception as error:
                wrong.append(error)

        threads = [threading.Thread(target=read, args=(i * 25,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
