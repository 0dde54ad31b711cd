"""Samples of each format, cut short at any byte: what must be whole then, and what repair makes of it.

What is whole is worked out from the intact file alone: where a tensor's bytes and what names it end. Repair is never asked for it. What the
tensors hold is what their own programs read from the intact file (the committed expected.json).
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import inert
from inert.containers.sstable import Table
from inert.files import open_source
from inert.limits import DEFAULT
from inert.tensor import Tensor
from tests.conformance import name_of

CORPUS = Path(__file__).parent / "corpus"


@dataclass
class Sample:
    """``file``: the one that is cut, in ``folder``; ``open``: what is repaired; ``needs``: name of a tensor → how many of the file's first
    bytes it needs; ``hashes`` of all tensors, as their own program read them; ``suffix`` of what is written; ``shapes``: type
    and shape of each, by the same."""

    name: str
    folder: Path
    file: str
    open: str
    needs: dict[str, int]
    hashes: dict[str, str]
    shapes: dict[str, tuple[str, tuple[int, ...]]]
    suffix: str

    def bounds(self) -> set[int]:
        """Where the structures of the file begin and end."""
        path = self.folder / self.file
        raw = path.read_bytes()
        found = {0, len(raw), *self.needs.values()}
        for match in re.finditer(rb"PK(?:\x03\x04|\x01\x02|\x07\x08|\x05\x06|\x06[\x06\x07])", raw):
            found.add(match.start())
            if match[0] == b"PK\3\4":
                name, extra = (int.from_bytes(raw[match.start() + at :][:2], "little") for at in (26, 28))
                found |= {match.start() + 30, match.start() + 30 + name, match.start() + 30 + name + extra}
        if path.suffix not in (".gz", ".index") and ".data-" not in path.name:
            with inert.open(path) as checkpoint:
                for part in checkpoint.parts.values():
                    start = part.offset or 0
                    found |= {start, start + (part.size if part.compressed is None else part.compressed)}
                    found |= {start - 8} if part.role == "storage" else set()
        if path.suffix == ".index":
            blocks = [at for at in range(len(raw)) if raw[at : at + 4] == bytes(4)]  # the first restart of a block
            found |= {len(raw) - 48, len(raw) - 8, *(at + step for at in blocks for step in (0, 3, 4, 8, 13))}  # its footer and blocks
        if path.suffix == ".pth":
            found |= set(range(0, len(raw), 512))
        return found


def ends(tensor: Tensor) -> int:
    """The offset behind the last byte of the file that the tensor's elements take."""
    last = 0
    for part in (tensor, *tensor.components.values()):
        layout = part.layout
        if layout.storage is None or layout.storage.opener is None or 0 in layout.shape:
            continue
        reach = sum((size - 1) * stride for size, stride in zip(layout.shape, layout.strides, strict=True))
        items = reach + 1 if layout.dtype.packed == 1 or layout.dtype.counts_items else -(-(reach + 1) // layout.dtype.packed)
        span = layout.storage.span()
        region = span.region()
        assert region is not None
        last = max(last, region[1] + (layout.offset // layout.dtype.packed + items) * layout.dtype.itemsize)
    return last


Told = tuple[dict[str, str], dict[str, tuple[str, tuple[int, ...]]]]


def told(source: str) -> Told:
    """Hashes, and types and shapes, of the tensors of a file of the corpus, as the program that writes such files read them."""
    rows = json.loads((CORPUS / f"{source}.expected.json").read_text())["tensors"]
    rows = {name_of(row["path"]): row for row in rows if "sha256" in row}
    return {name: row["sha256"] for name, row in rows.items()}, {name: (row["dtype"], tuple(row["shape"])) for name, row in rows.items()}


def copy(source: Path, into: Path) -> Path:
    into.mkdir(parents=True)
    return Path(shutil.copytree(source, into / "set") if source.is_dir() else shutil.copy(source, into))


def archive(name: str, source: str, into: Path, pickles: tuple[str, ...]) -> Sample:
    """A zip, legacy or tar file: a tensor needs its bytes, and the parts that name it."""
    path = copy(CORPUS / source, into / name)
    with inert.open(path) as checkpoint:
        parts = checkpoint.parts
        named = max((parts[part].offset or 0) + parts[part].size for part in parts if part.rpartition("/")[2] in pickles)
        needs = {key: max(named, ends(tensor)) for key, tensor in checkpoint.tensors.items() if tensor.kind in ("dense", "quantized")}
        for key, tensor in checkpoint.tensors.items():
            if path.suffix == ".pth" and tensor.storage is not None and "[" in tensor.storage.key:
                needs[key] = (parts["storages"].offset or 0) + parts["storages"].size  # what says of what it is a view stands at the end
    return Sample(name, path.parent, path.name, path.name, needs, *told(source), path.suffix)


def flat(name: str, source: str, into: Path) -> Sample:
    path = copy(CORPUS / source, into / name)
    with inert.open(path) as checkpoint:
        head = checkpoint.parts["header"].size + 8
        needs = {key: max(head, ends(tensor)) for key, tensor in checkpoint.tensors.items()}
    return Sample(name, path.parent, path.name, path.name, needs, *told(source), path.suffix)


def deflated(name: str, source: str, into: Path) -> Sample:
    """An archive whose records are compressed: a tensor needs as many bytes as give it when they are inflated."""
    import zipfile

    path = copy(CORPUS / source, into / name)
    raw = path.read_bytes()
    records = {}
    with zipfile.ZipFile(path) as there:
        for info in there.infolist():
            start = info.header_offset + 30 + int.from_bytes(raw[info.header_offset + 26 :][:2], "little")
            start += int.from_bytes(raw[info.header_offset + 28 :][:2], "little")
            records[info.filename] = (start, info.compress_size, info.compress_type)

    def inflated(record: str, wanted: int) -> int:
        start, packed, method = records[record]
        if method != 8:
            return start + wanted
        for size in range(packed + 1):
            if len(zlib.decompressobj(-15).decompress(raw[start : start + size])) >= wanted:
                return start + size
        raise AssertionError(record)

    with inert.open(path) as checkpoint:
        pickle = next(one for one in records if one.endswith("data.pkl"))
        root = pickle.removesuffix("data.pkl")
        named = records[pickle][0] + records[pickle][1]
        needs = {}
        for key, tensor in checkpoint.tensors.items():
            assert tensor.storage is not None
            size = (tensor.offset + tensor.size) * tensor.dtype.itemsize
            needs[key] = max(named, inflated(root + tensor.storage.key, size))
    return Sample(name, path.parent, path.name, path.name, needs, *told(source), path.suffix)


def zipped(name: str, source: str, into: Path) -> Sample:
    """A file inside gzip: a tensor needs as many bytes as inflate to what it needs of that."""
    inner = archive(f"{name}-inner", source, into, ("storage_keys", "data.pkl"))
    data = gzip.compress((inner.folder / inner.file).read_bytes(), 6, mtime=0)
    made = into / name
    made.mkdir()
    path = made / f"{inner.file}.gz"
    path.write_bytes(data)
    lengths = [len(zlib.decompressobj(31).decompress(data[:size])) for size in range(len(data) + 1)]
    needs = {key: next(size for size, length in enumerate(lengths) if length >= wanted) for key, wanted in inner.needs.items()}
    return Sample(name, made, path.name, path.name, needs, inner.hashes, inner.shapes, inner.suffix)


def bundle_data(name: str, source: str, into: Path) -> Sample:
    """The data file of a TensorFlow checkpoint."""
    folder = copy(CORPUS / source, into / name)
    index = next(folder.glob("*.index"))
    data = next(folder.glob("*.data-00000-*"))
    with inert.open(index) as checkpoint:
        needs = {key: ends(tensor) for key, tensor in checkpoint.tensors.items() if (tensor.file_offset or 0) or tensor.nbytes}
    return Sample(name, folder, data.name, index.name, needs, *told(source), ".index")


def bundle_index(name: str, source: str, into: Path) -> Sample:
    """The index of one: a tensor needs its entry."""
    folder = copy(CORPUS / source, into / name)
    index = next(folder.glob("*.index"))
    file = open_source(index)
    needs = {}
    for key, block, _, end in Table(file, DEFAULT).entries([]):
        needs[key.decode()] = block.base + end
    file.close()
    hashes, shapes = told(source)
    return Sample(name, folder, index.name, index.name, {key: needs[key] for key in hashes}, hashes, shapes, ".index")


def shard(name: str, source: str, into: Path) -> Sample:
    """One shard of a set, an archive or safetensors file."""
    folder = copy(CORPUS / source, into / name)
    index = next(folder.glob("*.index.json"))
    path = sorted(folder.glob("*-00001-of-*"))[0]
    with inert.open(path) as checkpoint:
        parts = checkpoint.parts
        head = next(part for key, part in parts.items() if part.role in ("header", "pickle"))
        needs = {key: max((head.offset or 0) + head.size, ends(tensor)) for key, tensor in checkpoint.tensors.items()}
    with inert.open(index) as checkpoint:
        for key in checkpoint.tensors:
            needs.setdefault(key, 0)
    return Sample(name, folder, path.name, index.name, needs, *told(source), "/")


SAMPLES: dict[str, Callable[[Path], Sample]] = {
    "zip": lambda into: archive("zip", "torch/small.pt", into, ("data.pkl",)),
    "zip-sharing": lambda into: archive("zip-sharing", "torch/sharing.pt", into, ("data.pkl",)),
    "zip-deflated": lambda into: deflated("zip-deflated", "crafted/deflated.pt", into),
    "zip-1.6": lambda into: archive("zip-1.6", "crafted/torch_1_6.pt", into, ("data.pkl",)),
    "lightning": lambda into: archive("lightning", "lightning/weights_only.ckpt", into, ("data.pkl",)),
    "quantized": lambda into: archive("quantized", "torch/quantized.pt", into, ("data.pkl",)),
    "legacy": lambda into: archive("legacy", "legacy/state_dict.pt", into, ("storage_keys",)),
    "legacy-views": lambda into: archive("legacy-views", "legacy/views.pt", into, ("storage_keys",)),
    "tar": lambda into: archive("tar", "old/tar.pth", into, ("pickle", "tensors")),
    "safetensors": lambda into: flat("safetensors", "safetensors/dtypes.safetensors", into),
    "tf-data": lambda into: bundle_data("tf-data", "tf/types", into),
    "tf-index": lambda into: bundle_index("tf-index", "tf/types", into),
    "torchscript": lambda into: archive("torchscript", "script/module.pt", into, ("data.pkl", "constants.pkl")),
    "sharded": lambda into: shard("sharded", "sharded/safetensors", into),
    "sharded-bin": lambda into: shard("sharded-bin", "sharded/bin", into),
    "gzip": lambda into: zipped("gzip", "legacy/state_dict.pt", into),
}


class Cutter:
    """Cuts one sample again and again, and holds what repair makes of it against what must be whole."""

    def __init__(self, sample: Sample, into: Path) -> None:
        self.sample = sample
        self.into = into
        self.path = sample.folder / sample.file
        self.whole = self.path.read_bytes()
        self.out = into / "out"

    def check(self, cut: int) -> int:
        """Cut the file to so many bytes, repair it, and read what that gives; how many tensors were recovered."""
        sample = self.sample
        self.path.write_bytes(self.whole[:cut])
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir()
        target = self.out / ("set/" if sample.suffix == "/" else f"out{sample.suffix}")
        wanted = {key for key, size in sample.needs.items() if size <= cut}
        try:
            done = inert.repair(sample.folder / sample.open, str(target) + (os.sep if sample.suffix == "/" else ""), sync=False)
        except inert.InertError as error:
            assert not wanted, (cut, sorted(wanted), str(error))
            assert str(error).isprintable()
            assert not list(self.out.rglob("*")), cut
            return 0
        missing = wanted - set(done.recovered)
        assert not missing, (cut, sorted(missing), done.lost[:3])
        assert cut < len(self.whole) or done.whole, (cut, done)
        lost = {one.name: one for one in done.lost}
        for key in set(sample.needs) - set(done.recovered):
            assert done.more or key in lost, (cut, key)
            if key in lost and lost[key].dtype is not None:
                assert (lost[key].dtype, lost[key].shape) == sample.shapes[key], (cut, key)
        path = self.out / "set" if sample.suffix == "/" and len(done.written) > 1 else Path(done.written[-1])
        with inert.open(path, strict=True) as checkpoint:
            found = checkpoint.tensors
            for key in done.recovered:
                if key in sample.hashes:
                    assert found[key].sha256() == sample.hashes[key], (cut, key)
                else:
                    assert key in found, (cut, key)
        return len(done.recovered)
