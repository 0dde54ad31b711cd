"""What a format gives of a file: records, listing, and the Content that answers for it.

Knows: the questions that every format answers, and the notes that nothing but names gives rise to.
Refuses to know: when anything is asked (checkpoint.py), and every format.
"""

from __future__ import annotations

from contextlib import suppress

from .errors import InertError
from .finding import Finding, listed
from .names import piece
from .torch.distributed import FLAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any

    from .checking import Inspector
    from .limits import Limits
    from .pickle.decode import Document
    from .source import Source
    from .tensor import Tensor
    from .torch.build import Builder


FILES = ("torch-zip", "torchscript", "torch-package", "torch-export", "torch-tar", "torch-legacy", "pickle", "safetensors")  # one file each
SAFETENSORS = ".safetensors"  # whoever goes by it takes nothing else
TORCH = (".pt", ".pth")  # for torch.load, which refuses a pickle that torch.save did not write, and safetensors


class Part:
    """A record, member, shard or section: ``offset`` (None where its bytes do not lie plainly in ``file``), ``size`` of its content,
    ``compressed`` size where it differs, ``crc32`` as stored (None: none), ``role`` (pickle, storage, version, byteorder, code …)."""

    __slots__ = ("compressed", "crc32", "file", "name", "offset", "role", "size")

    def __init__(
        self, name: str, file: str, offset: int | None, size: int, role: str, compressed: int | None = None, crc32: int | None = None
    ) -> None:
        self.name = name
        self.file = file
        self.offset = offset
        self.size = size
        self.role = role
        self.compressed = compressed
        self.crc32 = crc32

    def __repr__(self) -> str:
        return f"<Part {self.name!r} {self.role} {self.size} bytes>"


class Listing:
    """``tensors`` by name in the object's order, and ``notes`` on what was left out of them."""

    __slots__ = ("notes", "tensors")

    def __init__(self, tensors: Mapping[str, Tensor], notes: list[Finding]) -> None:
        self.tensors = tensors
        self.notes = notes


class Content:
    """What a format knows of one source. Subclasses override what they have; nothing is asked twice."""

    format = ""
    wrappers: tuple[str, ...] = ()  # what was seen through to get at the source, outermost first …
    wrapper_notes: tuple[Finding, ...] = ()  # … and what was odd about that
    covered = ""  # the wrapper whose checksum vouches for every byte of the source; "" where there is none
    outer: tuple[Callable[[Inspector], Iterator[Finding]], ...] = ()  # the checks of what is wrapped around it
    label = ""  # what its storages' names begin with: the shard's name in a set
    built: Builder | None = None  # what built the root out of one pickle: it knows which node each value came from

    def __init__(self, source: Source, limits: Limits) -> None:
        self.source = source
        self.limits = limits

    def pickles(self) -> Mapping[str, Document]:
        """The decoded pickles by name. Raises where the one that holds the object cannot be read."""
        return {}

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        """The saved object and what was odd about it; ``convert`` gives what stands in the place of each tensor."""
        return {}, []

    def plain(self) -> bool:
        """Whether the source's bytes are the whole checkpoint: no folder, no set of files, nothing wrapped around it."""
        return self.source.whole and not self.wrappers

    def listed(self, root: Any) -> Any:
        """What tensors are listed from: the root, and what a format keeps beside it."""
        return root

    def listing(self) -> Listing | None:
        """The tensors by name, and notes about that, of a format whose names are not the paths of its root; then ``listed`` is not asked,
        and nor is ``root`` before somebody wants it."""
        return None

    def profile(self) -> dict[str, Any] | None:
        """What ``profiles.describe`` gives, of a format that says itself what was saved; no root is needed for it."""
        return None

    def parts(self) -> dict[str, Part]:
        """Every record; decodes no pickle."""
        return {}

    def read_from(self) -> set[str]:
        """The paths of the files that it is read from."""
        files = {self.source.name}
        with suppress(InertError):  # the parts of a damaged file may not be known; its own path is
            files.update(part.file for part in self.parts().values())
        return files

    def metadata(self) -> dict[str, str]:
        return {}

    def aliases(self, names: Collection[Any]) -> dict[str, str]:
        """name → which of these ``names`` stands for it, of a format that writes equal tensors once and names the others beside. They are
        not listed, as the format's own library does not; a conversion gives them back."""
        return {}

    def notes(self) -> list[Finding]:
        """What was tolerated, container checks that are too dear for opening included."""
        return []

    def checks(self) -> tuple[Callable[[Any, Inspector], Iterator[Finding]], ...]:
        """The checks that read all of it, beside what ``notes`` says: functions of this Content and an Inspector."""
        return ()

    def storage_key(self, record: str) -> str:
        """What the storage is called that a part of the file holds; "" where that cannot be said."""
        return ""

    def close(self) -> None:
        self.source.close()


def flattened(tensors: Mapping[str, Tensor]) -> list[Finding]:
    """A note for each parameter that FSDP has flattened, which nothing but its name says."""
    text = (
        "by its name one rank's piece of a flattened FSDP parameter: several parameters end to end, which this file alone cannot take apart"
    )
    found = []
    for name, tensor in tensors.items():
        if name.endswith(FLAT) and piece(tensor.path[-1] if tensor.path else "").rpartition(".")[2] in FLAT:
            found.append(Finding("tensor-flattened", text, name, None, (name,)))
    return found


def aliased(aliases: Mapping[str, str]) -> list[Finding]:
    """A note of the names that other tensors stand for."""
    if not aliases:
        return []
    pairs = listed(f"{name} = {kept}" for name, kept in aliases.items())
    return [Finding("aliases", f"the metadata names tensors that others stand for: {pairs}", "", None, tuple(aliases))]


def misnamed(content: Content) -> list[Finding]:
    """A note where the file's name promises a format that programs go by, and the content is another."""
    name, format = content.source.name, content.format
    low = name.lower() if format in FILES else ""
    if (low.endswith(SAFETENSORS) and format != "safetensors") or (low.endswith(TORCH) and format in ("pickle", "safetensors")):
        return [Finding("file-name", f"it is called {low[low.rindex('.') :]}, and is {format}", name)]
    return []


def damage(name: str, tensor: Tensor) -> Finding:
    """Why a tensor is refused: its storage's record, where that is missing or of another size than was declared, or the tensor itself."""
    storages = [part.storage for part in (tensor, *tensor.components.values())]
    code = next((storage.lack for storage in storages if storage is not None and storage.lack), "tensor-damaged")
    return Finding(code, tensor.fault, name, None, (name,))
