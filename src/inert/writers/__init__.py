"""The registry of what can be written, and what a writer is given and gives back.

Knows: WRITERS, which one a path or a format's name asks for, and how a Plan becomes files.
Refuses to know: any format's inside. A new one is one file beside this one and one line here.

A writer's module has ``plan(saved, options) -> Plan``: everything that can be wrong is found before a byte is written.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from importlib import import_module

from ..errors import UnsupportedError, one_line
from ..finding import listed
from ..limits import DEFAULT
from ..names import Lister
from ..sink import destination, room, there
from ..torch.respelling import AS_IT_IS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..checkpoint import Checkpoint
    from ..finding import Finding
    from ..sink import Out, Progress
    from ..source import Source
    from ..tensor import Tensor


SHARED = ("alias", "copy", "error")
PROTOCOLS = (2, 3, 4, 5)
LEAVES = ("lost", "metadata", "sidecar", "error")
BATCH = 256  # files that are made visible together: each takes a descriptor until then


class Saved:
    """What is to be written: ``root`` (plain values with Tensors and arrays in place), ``tensors`` (a Tensor for each array in it, by
    id), ``metadata`` (texts that a format may keep, beside those of the source), ``source`` (the Checkpoint it comes from, if any),
    ``spelling`` of names and device tags in pickles."""

    __slots__ = ("metadata", "root", "source", "spelling", "tensors")

    def __init__(self, root: Any, tensors: dict[int, Tensor], metadata: dict[str, str] | None = None, source: Checkpoint | None = None):
        self.root = root
        self.tensors = tensors
        self.metadata = metadata or {}
        kinds = {type(part) for pair in self.metadata.items() for part in pair} - {str}
        if kinds:
            raise UnsupportedError(f"metadata with {kinds.pop().__name__}", hint="give texts under texts")
        self.source = source
        self.spelling = AS_IT_IS


class Options:
    """How to write: ``name`` (of the destination), ``protocol``, ``alignment`` in bytes (0: as the format's own library has it),
    ``max_shard_size`` in bytes (0: no shards) …

    For formats that hold named tensors and nothing else: ``shared`` says what becomes of tensors that share memory (of equal ones the
    first name is written and the others are named in the metadata: "alias"; each is written: "copy"; refused: "error"), ``leaves`` what
    becomes of other values (listed in Plan.lost: "lost"; as JSON in the metadata: "metadata"; in a file NAME.json beside: "sidecar";
    refused: "error"). ``inner``: id of the format of each shard ("": what the name says)."""

    def __init__(
        self,
        name: str,
        protocol: int = 2,
        alignment: int = 0,
        max_shard_size: int = 0,
        shared: str = "alias",
        leaves: str = "lost",
        inner: str = "",
    ) -> None:
        for said, known, what in ((shared, SHARED, "shared"), (leaves, LEAVES, "leaves")):
            if said not in known:
                raise UnsupportedError(f"{what}={said!r}", hint=f"say one of {', '.join(known)}")
        if protocol not in PROTOCOLS:
            raise UnsupportedError(f"protocol={protocol!r}", hint="say 2, 3, 4 or 5")
        self.name = name
        self.protocol = protocol
        self.alignment = alignment
        self.max_shard_size = max_shard_size
        self.shared = shared
        self.leaves = leaves
        self.inner = inner


class File:
    """A file of a plan: ``name`` ("" the destination itself, else a file in the plan's folder), ``size``, and ``write``, which pours it."""

    __slots__ = ("name", "size", "write")

    def __init__(self, name: str, size: int, write: Callable[[Out], None]) -> None:
        self.name = name
        self.size = size
        self.write = write


class Plan:
    """The files to write, in order; ``lost``: (path of a value, why it cannot be kept); ``notes``: what else is worth knowing.

    ``inside``: the destination is the folder of the files, which is made where there is none; else they lie beside the destination."""

    def __init__(
        self, files: list[File], lost: list[tuple[str, str]] | None = None, notes: list[Finding] | None = None, inside: bool = False
    ) -> None:
        self.files = files
        self.lost = lost or []
        self.notes = notes or []
        self.inside = inside

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def places(self, path: str) -> list[str]:
        """Where the files will be."""
        folder = path if self.inside else os.path.dirname(path)
        return [os.path.join(folder, file.name) if file.name else path for file in self.files]

    def pour(self, path: str, *, sync: bool = True, progress: Progress | None = None) -> list[str]:
        """Write the files; their paths. They appear in their order when all are written (of many hundred files, when a batch of them is):
        each is complete or untouched."""
        folder = path if self.inside else os.path.dirname(path)
        if self.inside:
            os.makedirs(folder, exist_ok=True)
        there(folder, path)
        room(folder or os.curdir, self.size, path)
        expect = getattr(progress, "expect", None)  # a progress line wants to know how much there is
        if expect is not None:
            expect(self.size)
        places = self.places(path)
        for start in range(0, len(places), BATCH):
            batch = [*zip(self.files, places, strict=True)][start : start + BATCH]
            with ExitStack() as stack:  # which ends the last one first
                outs = [stack.enter_context(destination(at, file.size, sync=sync, progress=progress)) for file, at in reversed(batch)]
                for (file, _), out in zip(batch, reversed(outs), strict=True):
                    file.write(out)
                    if out.position != file.size:  # a fault of ours, never of a file: it gets no name
                        raise RuntimeError(f"{out.position:,} bytes were written where {file.size:,} were planned")
        return places


class Written:
    """What has been written: ``files`` (paths); ``lost``: (path of a value, why it could not be kept); ``notes``."""

    __slots__ = ("files", "lost", "notes")

    def __init__(self, files: list[str], lost: list[tuple[str, str]], notes: list[Finding]) -> None:
        self.files = files
        self.lost = [(name, one_line(why)) for name, why in lost]  # it may quote the file
        self.notes = notes

    def __repr__(self) -> str:
        return f"<Written {', '.join(self.files)}; {len(self.lost)} lost>"


class Writer:
    """A format that can be written: by id, in its module; ``suffixes`` of paths that mean it."""

    __slots__ = ("id", "module", "suffixes", "summary")

    def __init__(self, id: str, module: str, suffixes: tuple[str, ...], summary: str) -> None:
        self.id = id
        self.module = module
        self.suffixes = suffixes
        self.summary = summary

    def plan(self, saved: Saved, options: Options) -> Plan:
        module = import_module(f"{__name__}.{self.module}")
        try:
            made: Plan = module.plan(saved, options)
        except UnsupportedError as error:
            raise (damaged(saved) if error.message.startswith(DAMAGED) else None) or error from None
        return made


DAMAGED = "a damaged tensor cannot be written"
NAMED = 20  # damaged tensors that are told by name


def damaged(saved: Saved) -> UnsupportedError | None:
    """The refusal of every damaged tensor of an object at once; None where they have no names."""
    found = [(name, tensor.fault) for name, tensor in Lister(saved.root, DEFAULT, saved.tensors).tensors.items() if tensor.fault]
    if not found or not found[0][0]:
        return None
    hint = f"leave {'it' if len(found) == 1 else 'them'} out: {drops([name for name, _ in found])}; or repair the file"
    if len(found) == 1:
        return UnsupportedError(f"{DAMAGED}: {found[0][1]}", part=found[0][0], hint=hint)
    text = f"{len(found):,} damaged tensors cannot be written: {listed(name for name, _ in found)}; of the first, {found[0][1]}"
    return UnsupportedError(text, hint=hint)


def drops(names: list[str]) -> str:
    """The options that leave tensors out."""
    from shlex import quote

    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return " ".join(f"--drop {quote(name)}" for name in names[:NAMED]) + more


def recast(name: str, dtype: str, to: str) -> str:
    """How a tensor becomes one of another type: by --dtype, which casts what NumPy or torch counts among floating types, or in Python."""
    if dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"):
        return f"cast it to {to} (--dtype {name}={to})" if name else f"cast it to {to} (--dtype {to})"
    return f"{left_out(name)}, or put its values as {to} in its place in Python: ckpt.tensors[name].numpy().astype({to!r})"


def left_out(name: str) -> str:
    """How a tensor is left out, as the next step that a message names."""
    return f"leave it out (--drop {name})" if name else "leave it out"


SUFFIXES = (".pt", ".pth", ".bin", ".ckpt")
# the first one whose suffix a path has is meant, where nothing else is said
WRITERS: tuple[Writer, ...] = (
    Writer("torch-zip", "torch_zip", SUFFIXES, "what torch.save writes since PyTorch 1.6"),
    Writer("torchscript", "torchscript", (".ptl", ".pt", ".pth"), "torch.jit.save's archive again, with the elements of tensors replaced"),
    Writer(
        "torch-legacy", "torch_legacy", SUFFIXES, "what torch.save writes with _use_new_zipfile_serialization=False, and before PyTorch 1.6"
    ),
    Writer("safetensors", "safetensors", (".safetensors",), "named tensors as the safetensors library writes them; nothing but tensors"),
    Writer("sharded", "sharded", (".index.json",), "the shards and the index of Hugging Face, in safetensors or as torch.save writes them"),
    Writer(
        "tf-bundle",
        "tf_bundle",
        (".index",),
        "named tensors in PREFIX.index and PREFIX.data-00000-of-00001, as TensorFlow saves them",
    ),
    Writer("npz", "npz", (".npz",), "what numpy.savez writes: arrays by name, of the types that NumPy has itself"),
    Writer("npy", "npy", (".npy",), "what numpy.save writes: one array"),
)
BUNDLE = "tf-bundle"
SHARDS = ("safetensors", "torch-zip")  # what shards can be


def copied(source: Source) -> Plan:
    """A file as it is."""
    return Plan([File("", source.size, lambda out: out.pour(source.span()))])


# Suffixes of formats that are not written here: another format under one of them would deceive whoever goes by it.
FOREIGN = (".h5", ".hdf5", ".keras", ".onnx", ".gguf", ".ggml", ".tflite", ".pb", ".msgpack", ".mlmodel", ".engine", ".parquet")


def writer_for(path: str, format: str | None = None, max_shard_size: int = 0, given: str = "") -> Writer:
    """The writer of a format, or the one that the path means: by its suffix, as a folder, or because shards are asked for. Of several that
    a suffix may mean, and where it means none, that of the ``given`` format. UnsupportedError where there is none."""
    known = {one.id: one for one in WRITERS}
    if format is not None and format not in known:
        raise UnsupportedError(f"{format} cannot be written", hint=meant(format))
    lower, own = path.lower(), known.get(given)
    bundle = format is None and (lower.endswith(known[BUNDLE].suffixes) or given == BUNDLE)  # which has shards of its own
    if format in (None, *SHARDS) and not bundle and (max_shard_size or (format is None and is_folder(path))):
        return known["sharded"]
    if format is not None:
        return known[format]
    said = lower.endswith((*FOREIGN, *(suffix for one in WRITERS for suffix in one.suffixes)))
    if own is not None and (lower.endswith(own.suffixes) or not said):
        return own
    for one in WRITERS:
        if lower.endswith(one.suffixes):
            return one
    suffixes = ", ".join(dict.fromkeys(suffix for one in WRITERS for suffix in one.suffixes))
    hint = f"use one of {suffixes}, or give --to FORMAT (format= or to= in Python)"
    raise UnsupportedError("the suffix says no format that can be written", part=path, hint=hint)


def meant(format: str) -> str:
    """What a format may be called that is none: the one of such a suffix, or of nearly such a name."""
    from difflib import get_close_matches

    known = [one.id for one in WRITERS]
    word = format.lower().lstrip(".")
    like = [one.id for one in WRITERS if f".{word}" in one.suffixes] or get_close_matches(word, known, 1)
    return f"did you mean {like[0]}?" if like else f"can be: {', '.join(known)}"


def is_folder(path: str) -> bool:
    """Whether a destination is a folder, there or to be made."""
    return path.endswith(("/", os.sep)) or os.path.isdir(path)
