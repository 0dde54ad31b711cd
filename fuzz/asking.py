"""What every reader's target asks of a checkpoint, and how several files or members make one input.

``asked`` opens a checkpoint twice and asks for all there is: both times the same answers, each of them sound or an InertError of one line
that says which part it is about. An input of several files is HEAD, then for each MARK, its name, a line's end and its bytes (``joined`` and
``parted``), so that changes within a file move nothing: sizes, offsets and checksums around it are made anew, and the inside is reached.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from driver import instrument
from mutation import MARK

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    import inert
    from inert.errors import InertError
    from inert.finding import CODES
    from inert.formats.torch_zip import TorchZip
    from inert.limits import Limits
    from inert.report.about import info
    from inert.report.listing import ls
    from inert.report.records import parts as records

import numpy as np

from tests.makers import Entry, zip_bytes

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"
LIMITS = Limits(
    inflated=1 << 22, logical_bytes=1 << 20, logical_ratio=64, paths=500, name_bytes=1 << 20, marks=5_000, json_values=100_000, pickles=200,
)  # fmt: skip
MOST = 40  # tensors of one input that are read, and parts that are looked at
LARGEST = 1 << 15  # bytes of a seed


# -- inputs -------------------------------------------------------------------------------------------------------------------


def joined(files: Mapping[str, bytes], head: bytes = b"") -> bytes:
    return head + b"".join(MARK + name.encode() + b"\n" + data for name, data in files.items())


def parted(data: bytes) -> tuple[bytes, dict[str, bytes]]:
    head, *parts = data.split(MARK)
    files = {}
    for part in parts:
        name, _, content = part.partition(b"\n")
        files[name.decode("utf-8", "replace")] = content
    return head, files


def found(*patterns: str, most: int = LARGEST) -> list[Path]:
    """Files of the test corpus, small ones."""
    paths = [path for pattern in patterns for path in sorted(CORPUS.glob(pattern))]
    return [path for path in paths if path.is_file() and path.stat().st_size <= most and path.suffix not in (".json", ".tsv", ".py")]


def contents(*patterns: str, most: int = LARGEST) -> list[bytes]:
    return [path.read_bytes() for path in found(*patterns, most=most)]


def members(*patterns: str, head: bytes = b"", most: int = LARGEST) -> list[bytes]:
    """Zip files of the corpus, each as an input of its members."""
    made = []
    for path in found(*patterns, most=most):
        try:
            with zipfile.ZipFile(path) as archive:
                made.append(joined({info.filename: archive.read(info) for info in archive.infolist()}, head))
        except zipfile.BadZipFile:
            continue  # a checksum that is wrong on purpose
    return [one for one in made if len(one) <= most]  # what was deflated may be far larger


def folders(*patterns: str, head: bytes = b"", most: int = 1 << 16) -> list[bytes]:
    """Folders of the corpus, each as an input of its files."""
    made = []
    for pattern in patterns:
        for folder in sorted(CORPUS.glob(pattern)):
            files = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
            made.append(joined(files, head))
    return [one for one in made if len(one) <= most]


def zipped(data: bytes) -> io.BytesIO:
    """An input as a zip archive of its members, or as it is where it has none. The head's first byte: deflated or not, aligned or not."""
    if MARK not in data:
        return io.BytesIO(data)
    head, files = parted(data)
    flags = head[0] if head else 0
    entries = [Entry(name, content, method=8 * (flags & 1 and not name.startswith(".data"))) for name, content in files.items()]
    return io.BytesIO(zip_bytes(entries, align=64 if flags & 2 else 1, wide=not flags & 4))


def tarred(data: bytes) -> io.BytesIO:
    """An input as a tar archive of its members; of one that has none, the checksums of headers are made right."""
    if MARK in data:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            for name, content in parted(data)[1].items():
                member = tarfile.TarInfo(name.replace("\0", "") or "x")
                member.size = len(content)
                try:
                    archive.addfile(member, io.BytesIO(content))
                except (ValueError, UnicodeError):
                    continue
        return io.BytesIO(buffer.getvalue())
    block = bytearray(data)
    for at in range(0, len(block) - 511, 512):
        if block[at + 257 : at + 262] == b"ustar":
            block[at + 148 : at + 156] = b" " * 8
            block[at + 148 : at + 156] = b"%06o\0 " % sum(block[at : at + 512])
    return io.BytesIO(bytes(block))


class Scratch:
    """A folder that is emptied for each input."""

    def __init__(self) -> None:
        shared = Path("/dev/shm")
        self.path = Path(tempfile.mkdtemp(prefix="inert-fuzz-", dir=shared if os.access(shared, os.W_OK) else None))

    def filled(self, files: Mapping[str, bytes]) -> Path:
        """The folder with these files in it and no others. Names that a system would refuse, or that lead elsewhere, are left out."""
        self.clear()
        for name, content in list(files.items())[:100]:
            steps = name.split("/")
            if (
                not name.isprintable()
                or len(name.encode("utf-8", "replace")) > 200
                or any(step in ("", ".", "..") for step in steps)
                or len(steps) > 6
            ):
                continue
            try:
                path = self.path.joinpath(*steps)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            except (OSError, UnicodeError):
                continue  # a file where a folder should be
        return self.path

    def clear(self) -> None:
        self.path.mkdir(exist_ok=True)
        for entry in os.scandir(self.path):
            if entry.is_dir(follow_symlinks=False):
                remove(entry.path)
            else:
                os.unlink(entry.path)


def remove(folder: str) -> None:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            remove(entry.path)
        else:
            os.unlink(entry.path)
    os.rmdir(folder)


_scratch: list[Scratch] = []


def scratch() -> Scratch:
    """The process's own, removed at its end."""
    if not _scratch:
        import atexit

        _scratch.append(Scratch())
        atexit.register(shutil.rmtree, _scratch[0].path, ignore_errors=True)
    return _scratch[0]


def opened_in(data: bytes) -> tuple[Path, Path]:
    """(the folder that holds an input's files, what the head names in it: a file, a prefix, or for no name the folder)."""
    head, files = parted(data)
    folder = scratch().filled(files)
    name = head.decode("utf-8", "replace")
    plain = name.isprintable() and len(name) < 100 and not name.startswith("/") and ".." not in name and "!" not in name
    return folder, folder / name if name and plain else folder


# -- questions ----------------------------------------------------------------------------------------------------------------


def told(error: InertError) -> str:
    """A refusal as one says it: one line, and which part of the file it is about."""
    text = str(error)
    assert text.strip(), "an error without a sentence"
    assert text.isprintable(), text
    assert error.offset is None or error.offset >= 0, error.offset
    return f"{type(error).__name__}: {text}"


def answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except InertError as error:
        return told(error)


def tensor_said(tensor: inert.Tensor, deep: int = 0) -> Iterator[Any]:
    """Everything a tensor says; its bytes, hash and array are of one mind."""
    yield tensor.name, str(tensor.dtype), tensor.shape, tensor.strides, tensor.offset, tensor.nbytes, tensor.kind, tensor.size
    yield tensor.requires_grad, tensor.device, tensor.fault, tensor.placement, tensor.boxes, repr(tensor)
    yield answer(lambda: tensor.file_offset), answer(lambda: tensor.file)
    assert repr(tensor).isprintable()
    raw, digest, array = answer(lambda: b"".join(tensor.chunks())), answer(tensor.sha256), answer(tensor.numpy)
    yield digest
    if isinstance(raw, bytes):
        assert hashlib.sha256(raw).hexdigest() == digest
        assert len(raw) == tensor.nbytes or tensor.kind == "strings", (len(raw), tensor.nbytes)
        assert not tensor.fault, tensor.fault
    else:
        assert raw == digest, (raw, digest)
    if isinstance(array, str):
        yield array
    elif isinstance(raw, bytes) and tensor.dtype.packed == 1 and tensor.dtype.numpy and tensor.kind not in ("strings", "opaque"):
        assert array.shape == tensor.shape, (array.shape, tensor.shape)
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        assert np.ascontiguousarray(little).tobytes() == raw
    if tensor.shape:
        answer(lambda: tensor[:1])
        answer(lambda: tensor[-1:, ...])
    if tensor.kind == "quantized":
        answer(tensor.dequantize)
    for role, part in list(tensor.components.items())[:8]:
        yield role
        if deep < 3:
            yield from tensor_said(part, deep + 1)


def said(checkpoint: inert.Checkpoint) -> list[Any]:
    """Every answer of an opened checkpoint, in an order that only depends on it."""
    made: list[Any] = [checkpoint.format, repr(checkpoint), checkpoint.content.wrappers]
    for name, tensor in list(checkpoint.tensors.items())[:MOST]:
        assert isinstance(name, str)
        assert tensor.name == name
        made += tensor_said(tensor)
    for note in checkpoint.notes:
        assert note.code in CODES, note.code
        assert str(note).isprintable(), note
        made.append((note.code, str(note), note.severity))
    for name, part in list(checkpoint.parts.items())[:MOST]:
        assert part.size >= 0
        assert part.offset is None or part.offset >= 0
        made.append((name, part.name, part.file, part.offset, part.size, part.role, part.compressed, part.crc32))
    assert all(type(text) is str for pair in checkpoint.metadata.items() for text in pair), checkpoint.metadata
    made += [dict(checkpoint.metadata), type(checkpoint.root).__name__]
    for name in list(checkpoint.pickles)[:MOST]:
        document = answer(lambda name=name: checkpoint.pickles[name])  # debug tables are decoded when they are asked for
        made.append(
            (name, document) if isinstance(document, str) else (name, sum(1 for _ in document.made), str(document.fault), document.end)
        )
    for question in (info, ls, lambda ckpt: records(ckpt.content)):
        made.append(answer(lambda question=question: json.dumps(question(checkpoint), allow_nan=False)))
    if isinstance(checkpoint.content, TorchZip) and checkpoint.format == "torch-zip":
        assert checkpoint.untouched()
    return made


def asked(source: Callable[[], Any], loads: bool = True) -> Any:
    """All answers of what ``source()`` gives to open, the same a second time; strictly opened, it is refused exactly for its errors."""
    try:
        checkpoint = inert.open(source(), limits=LIMITS)
    except InertError as error:
        assert error.part, f"{error} names no part"
        assert answer(lambda: inert.open(source(), limits=LIMITS)) == told(error)
        return None
    with checkpoint:  # once open, only what is asked of a tensor may be refused
        first = said(checkpoint)
        errors = checkpoint.errors
    with inert.open(source(), limits=LIMITS, strict=not errors) as checkpoint:
        assert (again := said(checkpoint)) == first, difference(first, again)
    if errors:
        refusal = answer(lambda: inert.open(source(), limits=LIMITS, strict=True))
        assert isinstance(refusal, str), errors
    if loads:
        answer(lambda: inert.load(source(), limits=LIMITS))
    return first


def difference(first: Iterable[Any], again: Iterable[Any]) -> str:
    return next((f"{a!r:.300} first, {b!r:.300} then" for a, b in zip(first, again, strict=False) if a != b), "more answers one time")


def in_bytes(data: bytes) -> None:
    """An input as the bytes of one file."""
    asked(lambda: io.BytesIO(data))


def in_zip(data: bytes) -> None:
    archive = zipped(data).getvalue()
    asked(lambda: io.BytesIO(archive))


def in_tar(data: bytes) -> None:
    archive = tarred(data).getvalue()
    asked(lambda: io.BytesIO(archive))


def in_folder(data: bytes) -> None:
    """An input as files in a folder; nothing there is touched."""
    folder, path = opened_in(data)
    before = listing(folder)
    try:
        asked(lambda: path)
    except FileNotFoundError:
        assert not path.exists()  # the head names nothing
    assert listing(folder) == before


def listing(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.lstat().st_mtime_ns if path.is_file() else 0) for path in folder.rglob("*"))
