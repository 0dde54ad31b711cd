"""The Checkpoint: one opened file, folder or set, whatever its format.

Knows: what every checkpoint offers (tensors, root, pickles, parts, metadata, notes) and that each is made once, when first asked for.
Refuses to know: formats. A format hands over a Content, which answers the questions a Checkpoint is asked.
"""

from __future__ import annotations

import gc
from threading import RLock
from types import MappingProxyType

from .errors import InertError, UnsupportedError
from .finding import ERROR, Finding, listed
from .index import NamedIndex, TensorIndex, alike
from .names import Lister, piece
from .torch.distributed import FLAT

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterator, Mapping
    from types import TracebackType
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


class Calm:
    """No garbage collection meanwhile: a reading makes many objects that all stay, which the collector would look through over and over."""

    def __enter__(self) -> None:
        self.was = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self.was:
            gc.enable()


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


class Checkpoint:
    """An opened checkpoint. Use it as a context manager; what it has handed out stays valid. May be read from several threads."""

    def __init__(self, content: Content, saver: Callable[..., Any] | None = None) -> None:
        self.content = content
        self.format = content.format
        self._saver = saver  # writing is for a layer above
        self._lock = RLock()
        self._made: dict[str, Any] = {}

    def _once(self, name: str, make: Any) -> Any:
        try:
            return self._made[name]
        except KeyError:
            with self._lock:
                if name not in self._made:
                    self._made[name] = make()
                return self._made[name]

    @property
    def pickles(self) -> Mapping[str, Document]:
        """Each pickle as inert nodes, by the name of its record."""
        made: Mapping[str, Document] = self._once("pickles", lambda: MappingProxyType(self.content.pickles()))
        return made

    @property
    def parts(self) -> Mapping[str, Part]:
        """Every record with file, offset, size, role and checksum. Decodes no pickle."""
        made: Mapping[str, Part] = self._once("parts", lambda: MappingProxyType(self.content.parts()))
        return made

    @property
    def metadata(self) -> Mapping[str, str]:
        """What the container says of itself: byteorder, version, serialization_id …"""

        def make() -> Mapping[str, str]:
            wrapped = {"wrapper": ", then ".join(self.content.wrappers)} if self.content.wrappers else {}
            return MappingProxyType(self.content.metadata() | wrapped)

        made: Mapping[str, str] = self._once("metadata", make)
        return made

    @property
    def root(self) -> Any:
        """The saved object as plain values with Tensors in place. May be changed, and then saved: ``tensors`` does not look again."""
        return self._once("root", self._rooted)[0]

    @root.setter
    def root(self, value: Any) -> None:
        with self._lock:
            self._once("read", self._listed)  # what is in the file: untouched() wants it
            self._made["root"] = (value, *self._once("root", self._rooted)[1:])
            self._made.pop("listed", None)
            self._made.pop("tensors", None)

    def _rooted(self) -> tuple[Any, list[Finding], Any, list[Any]]:
        """The root, what was odd about it, and what it was at first."""
        listed = self._made.get("tensors")
        value, notes = self.content.root(listed.now) if type(listed) is NamedIndex else self.content.root()
        return value, notes, value, list(value.items()) if isinstance(value, dict) else []

    @property
    def tensors(self) -> TensorIndex:
        """Every tensor by name, in the object's order. Nothing but metadata is read.

        Assigning an array or Tensor under a name, and deleting a name, changes that place of ``root``; a new name goes into the deepest
        dict that its beginning leads to. Where a format names tensors itself (TensorFlow's), names are all there is to them."""

        def make() -> Any:
            listed = self._listed()
            return (NamedIndex if type(listed) is Listing else TensorIndex)(self, listed.tensors)

        made: TensorIndex = self._once("tensors", make)
        return made

    def changing(self) -> dict[str, Any] | None:
        """Of a format that names tensors itself: the root, made if need be, where it is a dict of these names, so that it changes with
        them. None for a tree of objects, which will be made anew. UnsupportedError where that was changed itself."""
        with self._lock:
            flat = self._flat()
            if flat:
                root: dict[str, Any] = self.root
                return root if type(root) is dict else None
            self._tree()
            self._made.pop("root", None)
            return None

    def named(self) -> Any:
        """Of a format that names tensors itself: what there is to be saved, with the changes made to ``tensors`` and ``root``.
        UnsupportedError for changes in a tree of objects, which says no names."""
        if "root" in self._made and self._flat():
            return dict(self.root) if type(self.root) is dict else self.root
        self._tree()
        return dict(self.tensors.items())

    def _flat(self) -> bool:
        """Whether the format's root is the dict of its tensors by their names."""

        def make() -> bool:
            fresh = self.content.root()[0]
            return type(fresh) is dict and list(fresh) == list(self._listed().tensors)

        made: bool = self._once("flat", make)
        return made

    def _tree(self) -> None:
        """UnsupportedError where somebody has changed the tree of objects."""
        if "root" in self._made and not alike(self.root, self._made_anew()):
            text = "the tree of objects was changed, and where something stands in it says no name"
            raise UnsupportedError(text, part="ckpt.root", hint="change ckpt.tensors")

    def _made_anew(self) -> Any:
        index: Any = self.tensors
        return self.content.root(index.now)[0]

    def untouched(self) -> bool:
        """Whether ``root`` is still what was read."""
        if "root" not in self._made:
            return True
        value, _, first, items = self._made["root"]
        if value is not first:
            return False
        if self.content.built is not None:
            from .torch.changes import Changes

            return not Changes(self.content.built)
        now = list(value.items()) if isinstance(value, dict) else []
        if len(now) != len(items) or any(a is not c or b is not d for (a, b), (c, d) in zip(now, items, strict=True)):
            return False
        before, after = self._once("read", self._listed).tensors, Lister(self.content.listed(value), self.content.limits).tensors
        return list(before) == list(after) and all(before[name].layout is after[name].layout for name in before)

    def save(self, path: str | os.PathLike[str], **options: Any) -> Any:
        """Write the checkpoint with the changes made to ``root`` and ``tensors``; in the same format, what nobody changed keeps its bytes.

        Where nothing was changed the file is copied. Options are those of ``inert.save``; its own path may be the destination (open it
        again after that). The answer is that of ``inert.save``: files, lost values, notes.
        Raises as ``inert.save`` does, and FormatError for damaged tensors."""
        if self._saver is None:
            raise UnsupportedError("this Checkpoint was not opened by inert.open")
        return self._saver(self, path, **options)

    def _listed(self) -> Any:
        return self._once("listed", self._list)

    def _list(self) -> Listing | Lister:
        return self.content.listing() or Lister(self.content.listed(self.root), self.content.limits)

    @property
    def notes(self) -> list[Finding]:
        """What was tolerated while reading. Asking for it makes the checks that opening puts off (every local header, every tensor)."""

        def make() -> list[Finding]:
            listed = self._listed()
            damaged = [damage(name, tensor) for name, tensor in listed.tensors.items() if tensor.fault]
            odd = [*damaged, *flattened(listed.tensors), *aliased(self.content.aliases(listed.tensors)), *misnamed(self.content)]
            return [*self.content.wrapper_notes, *self.content.notes(), *self._once("root", self._rooted)[1], *listed.notes, *odd]

        made: list[Finding] = self._once("notes", make)
        return made

    @property
    def errors(self) -> list[Finding]:
        """The notes that a strict reader would refuse the file for."""
        return [note for note in self.notes if note.severity == ERROR]

    def close(self) -> None:
        """Let go of the file. Arrays that were handed out stay valid."""
        self.content.close()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Checkpoint {self.content.source.name!r} {self.format}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from .notebook import checkpoint_html, shown

        name = self.content.source.name
        try:
            return checkpoint_html(name, self.format, self.tensors.values(), self.notes)
        except InertError as error:
            return f"<p><b>{shown(name, 300)}</b> · {shown(self.format)} · {shown(error, 400)}</p>"


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
