"""The registry: which formats there are, in the order in which they are asked whether a source is theirs.

Knows: FORMATS, and how a source finds its format.
Refuses to know: any format's inside. A new format is one file beside this one and one line here.
"""

from __future__ import annotations

import os
import re
from importlib import import_module

from ..containers.folder import Folder, Prefix
from ..errors import UnidentifiedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..content import Content
    from ..limits import Limits
    from ..source import Source


class Format:
    """A format by id; its module is imported when a source is held against it. The module has ``claims(source, limits) -> object | None``
    (cheap; what it found) and ``read(source, limits, claim, byteorder) -> Content``."""

    __slots__ = ("id", "module", "prefix", "summary")

    def __init__(self, id: str, module: str, summary: str, prefix: str = "") -> None:
        """``prefix``: what may follow in the names of its files where people name a checkpoint by their common beginning, a pattern. The
        files of such a format are found inside of archives too (containers/archived.py)."""
        self.id = id
        self.module = module
        self.summary = summary
        self.prefix = prefix

    def open(self, source: Source, limits: Limits, byteorder: str | None) -> Content | None:
        """The Content of a source of this format; None where it is none."""
        module = import_module(f"{__name__}.{self.module}")
        claim = module.claims(source, limits)
        if claim is None:
            return None
        content: Content = module.read(source, limits, claim, byteorder)
        return content

    def __repr__(self) -> str:
        return f"<Format {self.id}>"


FORMATS: tuple[Format, ...] = (
    Format("torch-zip", "torch_zip", "torch.save since PyTorch 1.6 (.pt .pth .bin .ckpt), Hugging Face pytorch_model.bin, Lightning"),
    Format("torchscript", "torchscript", "torch.jit.save since PyTorch 1.0 (.pt .pth), lite-interpreter files (.ptl) as zip or flatbuffer"),
    Format("torch-package", "torch_package", "torch.package (since PyTorch 1.8): its pickles' tensors; the Python source in it is flagged"),
    Format("torch-export", "torch_export", "torch.export.save (.pt2): weights and constants of every layout since PyTorch 2.1"),
    Format("torch-tar", "torch_tar", "torch.save before PyTorch 0.1.10: a tar archive of storages, tensors and a pickle"),
    Format("torch-legacy", "torch_legacy", "torch.save before PyTorch 1.6, and since with _use_new_zipfile_serialization=False"),
    Format("safetensors", "safetensors", "the safetensors library: Hugging Face model.safetensors, PEFT, diffusers"),
    Format(
        "sharded", "sharded", "Hugging Face shards: an index (*.index.json) or a folder with one, or with NAME-00001-of-00003 files only"
    ),
    Format("torch-dcp", "torch_dcp", "torch.distributed.checkpoint: a folder of .metadata and .distcp files (FSDP, TorchTitan, Megatron)"),
    Format(
        "deepspeed", "deepspeed", "DeepSpeed ZeRO 1, 2 and 3: a folder of *_model_states.pt and *_optim_states.pt, or the one around it"
    ),
    Format(
        "tf-bundle",
        "tf_bundle",
        "TensorFlow: PREFIX.index with PREFIX.data-00000-of-00001, named by the prefix, any of its files, a folder or a SavedModel",
        r"\.index|\.data-\d{5,10}-of-\d{5,10}|_temp(_[0-9a-f]{32})?",
    ),
    Format(
        "tf-v1", "tf_v1", "TensorFlow's Saver before 0.12 (write_version=V1): one file, or PREFIX-00000-of-00003", r"-\d{5,10}-of-\d{5,10}"
    ),
    Format("pickle", "unpacked", "an unpacked archive of torch.save or torch.jit.save: its folder, the one around it, or data.pkl in it"),
    Format(
        "pickle",
        "bare_pickle",
        "a bare pickle: NumPy dicts, joblib (arrays in files beside it included), a lone data.pkl, several pickles in a row",
    ),
    Format(
        "wrapped", "wrapped", "any of these inside of gzip, xz, bzip2, zstd, LZ4 or zlib, or as the one checkpoint in a zip or tar archive"
    ),
)


def locate(path: str) -> tuple[str, tuple[str, ...]]:
    """(path, members) of ``outer.nemo!model.ckpt``: what stands behind a "!" names a member, unless a file of that whole name is there."""
    parts = path.split("!")
    if len(parts) > 1 and not os.path.exists(path):
        for end in range(len(parts) - 1, 0, -1):
            outer = "!".join(parts[:end])
            if os.path.isfile(outer):
                return outer, tuple(parts[end:])
    return path, ()


def prefix(path: str, formats: Iterable[Format] = FORMATS) -> Prefix | None:
    """A path that is no file, as the beginning of the names of some: where a format's files lie there under such names. The name of one
    of these files that is missing stands for its beginning."""
    folder, stem = os.path.split(path)
    patterns = [re.compile(one.prefix) for one in formats if one.prefix]
    if not stem or not os.path.isdir(folder or os.curdir):
        return None
    with os.scandir(folder or os.curdir) as entries:
        names = [entry.name for entry in entries]
    begun = [match.start() for pattern in patterns if (match := re.search(f"(?:{pattern.pattern})$", stem)) and match.start()]
    for end in (len(stem), *begun):
        for name in names:
            if name.startswith(stem[:end]) and any(pattern.fullmatch(name[end:]) for pattern in patterns):
                return Prefix(path[: len(path) - len(stem) + end])
    return None


def identify(
    source: Source, limits: Limits, byteorder: str | None, formats: Iterable[Format] = FORMATS, members: tuple[str, ...] = ()
) -> Content:
    """The Content of whichever format claims the source, or the member of it that ``members`` lead to. UnidentifiedError says what
    the source is instead."""
    if members:
        from .wrapped import inside

        return inside(source, members, limits, byteorder)
    begun = isinstance(source, Prefix)  # the beginning of names: nobody else has to be imported and asked
    for one in formats:
        if begun and not one.prefix:
            continue
        content = one.open(source, limits, byteorder)
        if content is not None:
            return content
    from .foreign import describe, describe_folder
    from .foreign.tables import OPEN

    sentence, hint = describe_folder(source, limits) if isinstance(source, Folder) else describe(source)[1:]
    if hint == OPEN:  # by its looks it is one of those above, and none of them knows it again
        hint = "it is damaged, or only looks like one: `inert repair SRC DST` keeps what can be saved"
    raise UnidentifiedError(sentence, part=source.name, hint=hint)
