"""The registry of what can be written, and what a writer is given and gives back.

Knows: WRITERS, which one a path or a format's name asks for, and how a Plan becomes files.
Refuses to know: any format's inside. A new one is one file beside this one and one line here.

A writer's module has ``plan(saved, options) -> Plan``: everything that can be wrong is found before a byte is written.
"""

from __future__ import annotations

import os
from importlib import import_module

from ..errors import UnsupportedError
from ..sink import destination
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


class Saved:
    """What is to be written: ``root`` (plain values with Tensors and arrays in place), ``tensors`` (a Tensor for each array in it, by
    id), ``metadata`` (texts that a format may keep), ``source`` (the Checkpoint it comes from, if any), ``spelling`` of names and device
    tags in pickles."""

    __slots__ = ("metadata", "root", "source", "spelling", "tensors")

    def __init__(self, root: Any, tensors: dict[int, Tensor], metadata: dict[str, str] | None = None, source: Checkpoint | None = None):
        self.root = root
        self.tensors = tensors
        self.metadata = metadata or {}
        self.source = source
        self.spelling = AS_IT_IS


class Options:
    """How to write: ``name`` (of the destination), ``protocol``, ``alignment``, ``max_shard_size`` in bytes (0: no shards) …"""

    def __init__(self, name: str, protocol: int = 2, alignment: int = 64, max_shard_size: int = 0) -> None:
        self.name = name
        self.protocol = protocol
        self.alignment = alignment
        self.max_shard_size = max_shard_size


class File:
    """One file of a plan: ``name`` ("" the destination itself, else a file in that folder), ``size``, and ``write``, which pours it."""

    __slots__ = ("name", "size", "write")

    def __init__(self, name: str, size: int, write: Callable[[Out], None]) -> None:
        self.name = name
        self.size = size
        self.write = write


class Plan:
    """The files to write, in order; ``lost``: (path of a value, why it cannot be kept); ``notes``: what else is worth knowing."""

    def __init__(self, files: list[File], lost: list[tuple[str, str]] | None = None, notes: list[Finding] | None = None) -> None:
        self.files = files
        self.lost = lost or []
        self.notes = notes or []

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    def pour(self, path: str, *, sync: bool = True, progress: Progress | None = None) -> list[str]:
        """Write the files; their paths. Each is complete or untouched."""
        written = []
        for file in self.files:
            place = os.path.join(path, file.name) if file.name else path
            with destination(place, file.size, sync=sync, progress=progress) as out:
                file.write(out)
            written.append(place)
        return written


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
        made: Plan = module.plan(saved, options)
        return made


WRITERS: tuple[Writer, ...] = (
    Writer("torch-zip", "torch_zip", (".pt", ".pth", ".bin", ".ckpt"), "what torch.save writes since PyTorch 1.6"),
    Writer("torchscript", "torchscript", (".ptl", ".pt", ".pth"), "torch.jit.save's archive again, with the elements of tensors replaced"),
)


def copied(source: Source) -> Plan:
    """A file as it is."""
    return Plan([File("", source.size, lambda out: out.pour(source.span()))])


def writer_for(path: str, format: str | None = None, given: str = "") -> Writer:
    """The writer of a format, or the one that the path's suffix means: the ``given`` format where the suffix may mean that too, or means
    nothing. UnsupportedError where there is none."""
    if format is not None:
        for one in WRITERS:
            if one.id == format:
                return one
        raise UnsupportedError(f"{format} cannot be written", hint=f"can be: {', '.join(one.id for one in WRITERS)}")
    lower = path.lower()
    own = next((one for one in WRITERS if one.id == given), None)
    if own is not None and (lower.endswith(own.suffixes) or not any(lower.endswith(one.suffixes) for one in WRITERS)):
        return own
    for one in WRITERS:
        if lower.endswith(one.suffixes):
            return one
    known = ", ".join(suffix for one in WRITERS for suffix in one.suffixes)
    raise UnsupportedError("the suffix says no format that can be written", part=path, hint=f"use one of {known}, or say the format")
