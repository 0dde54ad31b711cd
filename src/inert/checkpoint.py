"""The Checkpoint: one opened file, folder or set, whatever its format.

Knows: what every checkpoint offers (tensors, root, pickles, parts, metadata, notes) and that each is made once, when first asked for.
Refuses to know: formats. A format hands over a Content, which answers the questions a Checkpoint is asked.
"""

from __future__ import annotations

import gc
from threading import RLock
from types import MappingProxyType

from .content import Listing, aliased, damage, flattened, misnamed
from .errors import InertError, UnsupportedError
from .finding import ERROR, Finding
from .index import NamedIndex, TensorIndex, alike
from .names import Lister

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from types import TracebackType
    from typing import Any

    from .content import Content, Part
    from .pickle.decode import Document


class Calm:
    """No garbage collection meanwhile: a reading makes many objects that all stay, which the collector would look through over and over."""

    def __enter__(self) -> None:
        self.was = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self.was:
            gc.enable()


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
