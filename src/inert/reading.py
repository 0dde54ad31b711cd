"""``inert.open`` and ``inert.load``.

Knows: how a path becomes a Checkpoint, and a Checkpoint the saved object with NumPy arrays.
Refuses to know: formats and values.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from .checkpoint import Calm, Checkpoint
from .containers.folder import Folder
from .errors import DAMAGED, FormatError, InertError, LimitError
from .files import open_source
from .formats import FORMATS, identify, locate, prefix
from .limits import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, BinaryIO

    from .content import Content
    from .formats import Format
    from .limits import Limits
    from .source import Source
    from .writers import Written


def open(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    strict: bool = False,
    byteorder: str | None = None,
    limits: Limits = DEFAULT,
    formats: Iterable[Format] = FORMATS,
) -> Checkpoint:
    """Open a checkpoint: the path of a file or folder, or a seekable binary file. Reads its directory and its pickle (of a set of shards,
    those of every shard), no tensor data.

    A checkpoint inside of a compressed file, or the only one in a zip or tar archive, is opened as if it lay there plainly;
    ``"outer.nemo!model.ckpt"`` names a member of an archive that holds several.
    ``strict`` refuses what is otherwise noted as an error. ``byteorder`` ("little" or "big") is used where the file does not say.
    Raises UnidentifiedError for what is no checkpoint, FormatError or TruncatedError for a damaged one, UnsupportedError, LimitError;
    OSError (no such file) passes through."""
    if byteorder not in (None, "little", "big"):
        raise ValueError("byteorder must be 'little', 'big' or None")
    with Calm(), _opened(source, limits, byteorder, formats) as content:
        checkpoint = Checkpoint(content, _save)
        checkpoint.pickles, checkpoint.tensors  # noqa: B018  # what is damaged is refused here, not at the first tensor
        if strict and checkpoint.errors:
            first = checkpoint.errors[0]
            more = f" (and {len(checkpoint.errors) - 1} more)" if len(checkpoint.errors) > 1 else ""
            raise FormatError(first.message + more, part=first.where.part, offset=first.where.offset, hint=first.fix)
        return checkpoint


def _save(checkpoint: Checkpoint, path: str | os.PathLike[str], **options: Any) -> Written:
    from .saving import save  # what only reads does not pay for writing

    return save(checkpoint, path, **options)


def hold(source: str | os.PathLike[str] | BinaryIO) -> tuple[Source, tuple[str, ...]]:
    """The Source of a path or a seekable binary file, and the members named behind the path. The path of a folder gives its Folder, one
    that only begins the names of a checkpoint's files a Prefix."""
    members: tuple[str, ...] = ()
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(path, str):
            path, members = locate(path)
        if os.path.isdir(path):
            return Folder(path), members
        if not os.path.lexists(path):
            begun = prefix(os.fsdecode(path))
            if begun is not None:
                return begun, members
        source = path
    return open_source(source), members


@contextmanager
def _opened(source: Any, limits: Limits, byteorder: str | None, formats: Iterable[Format]) -> Iterator[Content]:
    """The Content of a source for what follows; everything is closed where that fails, and a refusal says which file it is about."""
    held, members = hold(source)
    holders: list[Source | Content] = [held]
    try:
        content = identify(held, limits, byteorder, formats, members)
        holders.append(content)
        yield content
    except BaseException as error:
        for holder in holders:
            holder.close()
        if isinstance(error, MemoryError):
            raise LimitError("reading it needs more memory than there is", part=held.name) from None
        if isinstance(error, InertError):
            error.part = error.part or held.name
            error.file = error.file or held.name
            if isinstance(error, FormatError):
                error.hint = error.hint or DAMAGED
        raise


def load(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    root: str | None = None,
    mmap: bool = True,
    byteorder: str | None = None,
    limits: Limits = DEFAULT,
) -> Any:
    """The saved object with NumPy arrays in the places of tensors (ml_dtypes for bfloat16 and the like); tied tensors are one array.

    ``mmap``: read-only views of the mapped file; otherwise writable copies, one for each storage, that share memory as the tensors did.
    ``root``: only the value at this dotted path. What no plain array can say (sparse, quantised, meta …) stays a Tensor.
    Raises as ``open`` does, and FormatError where a tensor is damaged."""
    from .loading import Arrays
    from .names import find

    if byteorder not in (None, "little", "big"):
        raise ValueError("byteorder must be 'little', 'big' or None")
    with Calm(), _opened(source, limits, byteorder, FORMATS) as content, content.source.steady():
        value, _ = content.root(Arrays(mmap))
    content.close()
    return value if root is None else find(value, root)
