"""A destination is the old file or the new one, whole, whatever ends the writing; and nothing is left beside it."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from inert import sink
from inert.errors import UnsupportedError
from inert.files import FileSource, open_source
from inert.sink import Out, Stream, destination
from inert.source import BytesSource

OLD, NEW = b"old" * 1000, bytes(range(256)) * 4096  # the new one: a MiB
ROOT = os.geteuid() == 0
NAMELESS = hasattr(os, "O_TMPFILE")


@pytest.fixture(params=["nameless", "named"] if NAMELESS else ["named"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of temporary files."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    return str(request.param)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "out.pt"
    path.write_bytes(OLD)
    return path


def pour(path: Any, data: bytes = NEW, **options: Any) -> None:
    with destination(path, len(data), **options) as out:
        for at in range(0, len(data), 1 << 16):
            out.write(data[at : at + (1 << 16)])


def untouched(path: Path) -> None:
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == [path.name]


def test_a_new_file(kind: str, tmp_path: Path) -> None:
    pour(tmp_path / "new.pt")
    assert (tmp_path / "new.pt").read_bytes() == NEW
    assert os.listdir(tmp_path) == ["new.pt"]
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "new.pt").stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.parametrize("sync", [True, False])
def test_a_file_is_replaced_and_keeps_its_mode(kind: str, place: Path, sync: bool) -> None:
    place.chmod(0o640)
    pour(place, sync=sync)
    assert place.read_bytes() == NEW
    assert place.stat().st_mode & 0o7777 == 0o640
    assert os.listdir(place.parent) == [place.name]


def test_names_of_every_form(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("plain", "x" * 255, "é" * 127, "with spaces é\n", ".hidden", os.fsdecode(b"\xff")):
        pour(name)
        assert (tmp_path / name).read_bytes() == NEW
    assert len(os.listdir(tmp_path)) == 6


def test_a_link_is_followed(kind: str, place: Path) -> None:
    link = place.parent / "link"
    link.symlink_to(place.name)
    pour(link)
    assert link.is_symlink()
    assert place.read_bytes() == NEW


def test_a_link_to_nothing_makes_what_it_names(kind: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/new")
    pour(tmp_path / "link")
    assert (tmp_path / "there" / "new").read_bytes() == NEW
    assert (tmp_path / "link").is_symlink()


def test_a_ring_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        pour(tmp_path / "a")
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_what_is_no_plain_file_is_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(UnsupportedError, match="a folder"):
        pour(tmp_path / "folder")
    with pytest.raises(UnsupportedError, match="no plain file"):
        pour(tmp_path / "fifo")
    with pytest.raises(UnsupportedError, match="no plain file"):
        pour("/dev/null")
    assert sorted(os.listdir(tmp_path)) == ["fifo", "folder"]


def test_a_folder_that_is_not_there_is_an_error(kind: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no folder .* for the destination; make it first"):
        pour(tmp_path / "no" / "such.pt")


@pytest.mark.skipif(ROOT, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(kind: str, place: Path) -> None:
    place.parent.chmod(0o555)
    try:
        with pytest.raises(PermissionError):
            pour(place)
        untouched(place)
    finally:
        place.parent.chmod(0o755)


def test_a_folder_that_may_not_be_written_as_the_system_says_it(kind: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may write everywhere, so the refusal is injected."""
    real = os.open

    def refuse(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & (os.O_WRONLY | os.O_CREAT):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(PermissionError):
        pour(place)
    monkeypatch.undo()
    untouched(place)


# ------------------------------------------------------------------------------------------------------------- what may end a pouring

ENDINGS: list[Callable[[], BaseException]] = [
    lambda: OSError(errno.ENOSPC, "No space left on device"), lambda: OSError(errno.EIO, "Input/output error"),
    lambda: OSError(errno.EDQUOT, "Disk quota exceeded"), KeyboardInterrupt, lambda: RuntimeError("ours"), MemoryError,
]  # fmt: skip
WRITES = -(-len(NEW) >> 16)


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: type(ending()).__name__ + str(ending())[:12])
@pytest.mark.parametrize("turn", [0, 1, WRITES // 2, -1 % (len(NEW) >> 16)])
def test_whatever_ends_it_at_any_write(kind: str, place: Path, monkeypatch: pytest.MonkeyPatch, ending: Any, turn: int) -> None:
    real, count = os.write, 0

    def write(fd: int, data: Any) -> int:
        nonlocal count
        if count == turn:
            raise ending()
        count += 1
        return real(fd, data)

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(type(ending())):
        pour(place)
    monkeypatch.undo()
    untouched(place)


@pytest.mark.parametrize("call", ["fsync", "fchmod", "replace", "link", "statvfs"])
@pytest.mark.parametrize("ending", ENDINGS[:4], ids=lambda ending: type(ending()).__name__ + str(ending())[:12])
def test_whatever_ends_it_at_its_end(kind: str, place: Path, monkeypatch: pytest.MonkeyPatch, call: str, ending: Any) -> None:
    def fail(*args: Any, **options: Any) -> Any:
        raise ending()

    monkeypatch.setattr(os, call, fail)
    if call == "link" and (kind == "named" or isinstance(ending(), OSError)):
        pour(place)  # another way is found
        monkeypatch.undo()
        assert place.read_bytes() == NEW
        assert os.listdir(place.parent) == [place.name]
        return
    with pytest.raises(type(ending())):
        pour(place)
    monkeypatch.undo()
    untouched(place)


def test_an_error_inside_the_block(kind: str, place: Path) -> None:
    with pytest.raises(ZeroDivisionError), destination(place) as out:
        out.write(b"some")
        raise ZeroDivisionError
    untouched(place)


def test_a_copy_under_a_name_that_fails_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a nameless file gets no name, it is copied to one that has; the disk may be full by then."""
    if not NAMELESS:
        pytest.skip("no nameless files here")

    def refuse(*args: Any, **options: Any) -> None:
        raise OSError(errno.ENOENT, "no /proc")

    syncs = 0
    real = os.fsync

    def full(fd: int) -> None:
        nonlocal syncs
        syncs += 1
        if syncs == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(fd)

    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        pour(place)
    monkeypatch.undo()
    untouched(place)


def test_short_writes_are_gone_on_with(kind: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, bytes(data)[:1000]))
    pour(place)
    assert place.read_bytes() == NEW


def test_no_room_is_said_before_a_byte_is_written(kind: str, place: Path) -> None:
    with pytest.raises(OSError, match=r"are to be written and .* are free") as caught, destination(place, 1 << 60):
        pytest.fail("the block was entered")
    assert caught.value.errno == errno.ENOSPC
    assert f"{1 << 60:,} bytes" in str(caught.value)
    untouched(place)


CHILD = """
import os, resource, signal, sys
if sys.argv[1] == "named":
    del os.O_TMPFILE
from inert.sink import destination
path, limit = sys.argv[2], int(sys.argv[3])
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
data = bytes(range(256)) * 4096
try:
    print("ready", flush=True)
    while True:
        with destination(path, len(data), sync=sys.argv[4] == "sync") as out:
            for at in range(0, len(data), 1 << 14):
                out.write(data[at : at + (1 << 14)])
        if limit:
            break
except OSError as error:
    print(error.errno, flush=True)
"""


def child(kind: str, path: Path, limit: int, sync: str = "sync") -> subprocess.Popen[str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, kind, str(path), str(limit), sync], stdout=subprocess.PIPE, text=True, env=environment
    )  # fmt: skip


@pytest.mark.parametrize("limit", [1, 1 << 14, (1 << 20) - 1])
def test_a_limit_of_file_sizes(kind: str, place: Path, limit: int) -> None:
    with child(kind, place, limit) as process:
        out, _ = process.communicate(timeout=60)
    assert out.split() == ["ready", str(errno.EFBIG)]
    untouched(place)


def killed(kind: str, folder: Path, rounds: int) -> None:
    """Kill a process that saves again and again, at ever another moment; look at what it leaves."""
    place = folder / "out.pt"
    for turn in range(rounds):
        place.write_bytes(OLD)
        with child(kind, place, 0, "sync" if turn % 2 else "nosync") as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.0007 * (turn * 7 % 40))
            process.send_signal(signal.SIGKILL)
            process.wait()
        assert place.read_bytes() in (OLD, NEW)
        beside = [name for name in os.listdir(folder) if name != place.name]
        assert all(name.startswith(".out.pt.") and name.endswith(".part") for name in beside)
        assert len(beside) <= 1
        for name in beside:
            (folder / name).unlink()


def test_a_process_that_is_killed(kind: str, tmp_path: Path) -> None:
    killed(kind, tmp_path, 6)


# ----------------------------------------------------------------------------------------------------------------------------- pieces


@pytest.fixture
def source(tmp_path: Path) -> Iterator[FileSource]:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "source"
    path.write_bytes(NEW * 3 + b"tail")
    opened = open_source(str(path))
    assert isinstance(opened, FileSource)
    yield opened
    opened.close()


def test_pieces_of_every_kind(kind: str, place: Path, source: FileSource) -> None:
    told: list[int] = []
    pieces = [
        b"head",
        source.span(5, len(NEW) * 3 - 5),
        Stream(6, lambda: [b"abc", b"", b"def"]),
        source.span(0, 0),
        BytesSource(b"memory").span(),
    ]
    with destination(place, progress=told.append) as out:
        for piece in pieces:
            out.pour(piece)
        assert out.position == sum(told) == len(NEW) * 3 + 11 - 5 + 5
    assert place.read_bytes() == b"head" + NEW[5:] + NEW * 2 + b"abcdef" + b"memory"


def test_checksums_of_pieces_of_every_kind(kind: str, place: Path, source: FileSource) -> None:
    import zlib

    span = source.span(7, len(NEW) * 2)
    with destination(place) as out:
        assert out.pour_crc(b"head") == zlib.crc32(b"head")
        assert out.pour_crc(span) == zlib.crc32(span.read())
        assert out.first == span.read(0, 8)
        assert out.pour_crc(Stream(6, lambda: [b"abc", b"def"])) == zlib.crc32(b"abcdef")
        assert out.pour_crc(b"") == 0
    assert place.read_bytes() == b"head" + span.read() + b"abcdef"


@pytest.mark.parametrize("code", sorted(sink._NO_KERNEL_COPY))
def test_where_the_kernel_does_not_copy_it_is_done_by_hand(
    place: Path, source: FileSource, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    calls = 0
    real = getattr(os, "copy_file_range", None)
    if real is None:
        pytest.skip("no copy_file_range here")

    def once(fd: int, out: int, count: int, *rest: Any) -> int:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError(code, os.strerror(code))
        return int(real(fd, out, min(count, 1000), *rest))

    monkeypatch.setattr(os, "copy_file_range", once)
    with destination(place) as out:
        out.pour(source.span())
        out.pour(source.span(1))
    assert calls == 2  # asked no more
    assert place.read_bytes() == NEW * 3 + b"tail" + (NEW * 3 + b"tail")[1:]


def test_another_error_of_the_kernels_copy_passes_through(
    kind: str, place: Path, source: FileSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "copy_file_range", full, raising=False)
    with pytest.raises(OSError, match="No space"), destination(place) as out:
        out.pour(source.span())
    monkeypatch.undo()
    untouched_but_in(place)


def untouched_but_in(path: Path) -> None:
    assert path.read_bytes() == OLD
    assert sorted(os.listdir(path.parent)) == ["in", path.name]


def test_a_source_that_is_cut_meanwhile(kind: str, place: Path, source: FileSource) -> None:
    span = source.span()
    os.truncate(place.parent / "in" / "source", 1000)
    with pytest.raises(Exception, match=r".") as caught, destination(place) as out:
        out.pour(span)
    assert isinstance(caught.value, (OSError, ValueError))
    untouched_but_in(place)


def test_source_and_destination_are_one_file(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "in.pt"
    path.write_bytes(NEW)
    opened = open_source(str(path))
    with destination(path) as out:
        out.pour(b"new head")
        out.pour(opened.span(100))
        assert out.pour_crc(opened.span(0, 100))
    opened.close()
    assert path.read_bytes() == b"new head" + NEW[100:] + NEW[:100]


@pytest.mark.parametrize("made", [[b"abc"], [b"abcdefg"], [b"abc", b"defg"], []])
def test_a_stream_of_another_length_is_a_fault(kind: str, place: Path, made: list[bytes]) -> None:
    for pour_it in (Out.pour, Out.pour_crc):
        with pytest.raises(RuntimeError, match="planned"), destination(place) as out:
            pour_it(out, Stream(6, lambda: made))
        untouched(place)


def test_memory_does_not_grow_with_what_is_poured(place: Path, source: FileSource) -> None:
    import tracemalloc

    tracemalloc.start()
    try:
        with destination(place) as out:
            out._kernel = False
            out.pour(source.span())
            out.pour_crc(source.span())
        assert tracemalloc.get_traced_memory()[1] < sink.CHUNK + (1 << 20)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_names_the_destination(place: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def full(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    with pytest.raises(OSError, match=re.escape(str(place))) as caught, destination(place) as out:
        monkeypatch.setattr(os, "write", full)
        out.write(b"x")
    monkeypatch.undo()
    assert caught.value.errno == code
    assert not place.exists() or place.read_bytes() != b"x"
