"""Tensors by name as places in the saved object: assigning and deleting change the object.

Knows: which container and key a name's path leads to, and where a new name belongs. Of a format that names
tensors itself, the names are all there is.
Refuses to know: files, and how what was changed is written.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from .errors import UnsupportedError
from .names import HERE, children, near, piece
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import ItemsView, Iterable, Iterator, Mapping, ValuesView
    from typing import Any

    from .checkpoint import Checkpoint


_NONE = object()  # no default


class NoTensorError(KeyError):
    """No tensor has this name. Those like it are looked for when the text is asked for: a failed look-up that is caught costs nothing."""

    def __init__(self, name: Any, known: Iterable[str]) -> None:
        super().__init__(name)
        self.known = known

    def __str__(self) -> str:
        name = self.args[0]
        if not isinstance(name, str):
            return f"{name!r:.200}: names of tensors are texts"
        found = near(name, self.known)
        return f"{name!r:.200}" + (f": did you mean {', '.join(map(repr, found))}?" if found else ": no tensor has this name")

    def __reduce__(self) -> Any:
        return KeyError, (str(self),)  # what it looks through stays in its process


class TensorIndex(dict[str, Tensor]):
    """A dict of Tensors whose changes go through to the Checkpoint's root. UnsupportedError where a place cannot be changed: in a tuple."""

    def __init__(self, checkpoint: Checkpoint, tensors: dict[str, Tensor]) -> None:
        super().__init__(tensors)
        self._checkpoint = checkpoint

    def __setitem__(self, name: str, value: Any) -> None:
        tensor = as_tensor(value)
        known = self.get(name)
        if known is not None and not known.path:
            self._checkpoint.root = tensor
            super().__setitem__(name, tensor)
            return
        if known is None:
            base, container, key = place_for(self._checkpoint.root, name)
        else:
            base = known.path[:-1]
            container, key = self._slot(name, known)
        put(container, key, tensor)
        super().__setitem__(name, tensor.place(name, base, key))

    def __missing__(self, name: Any) -> Tensor:
        raise NoTensorError(name, self)

    def _slot(self, name: str, known: Tensor) -> tuple[Any, Any]:
        try:
            return slot(self._checkpoint.root, known.path)
        except KeyError:
            hint = "it lies beside the saved object, or ckpt.root was changed"
            raise UnsupportedError("no place in ckpt.root has this name", part=name, hint=hint) from None

    def __delitem__(self, name: str) -> None:
        known = self[name]
        if not known.path:
            raise UnsupportedError("the whole object is this tensor", part=name, hint="set ckpt.root")
        container, key = self._slot(name, known)
        if not isinstance(container, dict):  # what stands behind it in a list would get other names
            hint = "change what holds it in ckpt.root"
            raise UnsupportedError(f"nothing can be taken out of a {type(container).__name__} by name", part=name, hint=hint)
        del container[key]
        super().__delitem__(name)

    def pop(self, name: str, default: Any = _NONE) -> Any:
        return _pop(self, name, default)

    def popitem(self) -> tuple[str, Tensor]:
        return _popitem(self)

    def clear(self) -> None:
        for name in [*reversed(self)]:
            del self[name]

    def setdefault(self, name: str, default: Any = None) -> Tensor:
        return _setdefault(self, name, default)

    update = MutableMapping.update

    def __ior__(self, other: Any) -> TensorIndex:  # type: ignore[override,misc]
        self.update(other)
        return self

    def rename(self, old: str, new: str) -> None:
        """Give a tensor another name, in its old place. The new name must begin with the names of the dicts that it lies in.
        ValueError where it does not, or where another has it already."""
        known = self[old]
        if not known.path:
            raise ValueError(f"the whole object is this tensor: it has no name that could become {new!r}")
        container, key = self._slot(old, known)
        base = old[: len(old) - len(piece(key))] if old.endswith(piece(key)) else ""
        if not isinstance(container, dict) or not new.startswith(base) or not new[len(base) :]:
            raise ValueError(f"{old!r} cannot become {new!r}: it lies in {base.rstrip('.') or 'the root'!r}")
        fresh = new[len(base) :]
        if new in self or fresh in container:
            raise ValueError(f"{new!r} is there already")
        rekey(container, {key: fresh})
        items = [(new if name == old else name, tensor) for name, tensor in self.items()]
        super().clear()
        for name, tensor in items:
            super().__setitem__(name, Tensor(tensor.layout, tensor.limits).place(new, known.path[:-1], fresh) if name == new else tensor)


class NamedIndex(MutableMapping[str, Tensor]):
    """Tensors of a format that names them itself. Nothing but what is asked for is looked up before the first change, which lists them all.

    Where the root is a dict of these names, it changes too; a tree of objects is made anew, without what has no place in it."""

    def __init__(self, checkpoint: Checkpoint, tensors: Mapping[str, Tensor]) -> None:
        self._checkpoint = checkpoint
        self._held = tensors
        self._own: dict[str, Tensor] | None = None  # once something has been changed

    def __getitem__(self, name: str) -> Tensor:
        try:
            if isinstance(name, str):
                return self._held[name]
        except KeyError:
            pass
        raise NoTensorError(name, self)

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def items(self) -> ItemsView[str, Tensor]:
        return self._held.items()

    def values(self) -> ValuesView[Tensor]:
        return self._held.values()

    def __setitem__(self, name: str, value: Any) -> None:
        tensor = as_tensor(value)
        known = self.get(name)
        path = known.path if known is not None else (name,)
        placed = tensor.place(name, path[:-1], path[-1])
        own, root = self._changing()
        own[name] = placed
        if root is not None:
            root[name] = placed

    def __delitem__(self, name: str) -> None:
        self[name]  # KeyError where there is none
        own, root = self._changing()
        del own[name]
        if root is not None:
            root.pop(name, None)

    def rename(self, old: str, new: str) -> None:
        """Give a tensor another name; it keeps its place in the order. ValueError where another has the name already, or for no name."""
        known = self[old]
        if not new or new in self:
            raise ValueError(f"{new!r} is there already" if new else f"{old!r} needs a name")
        fresh = Tensor(known.layout, known.limits).place(new, (), new)
        own, root = self._changing()
        for names in (own,) if root is None else (own, root):
            if old in names:
                names[old] = fresh
                rekey(names, {old: new})

    def pop(self, name: str, default: Any = _NONE) -> Any:
        return _pop(self, name, default)

    def popitem(self) -> tuple[str, Tensor]:
        self._changing()  # a dict from now on, which has a last item
        return _popitem(self)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._own if self._own is not None else [*self._held])

    def clear(self) -> None:
        for name in [*reversed(self)]:
            del self[name]

    def setdefault(self, name: str, default: Any = None) -> Tensor:
        return _setdefault(self, name, default)

    def __repr__(self) -> str:
        return f"<{len(self):,} tensors by name>"

    def now(self, tensor: Tensor) -> Tensor | None:
        """What a tensor of the format has become: it, another one under its name, or None."""
        return tensor if self._own is None else self._own.get(tensor.name)

    def _changing(self) -> tuple[dict[str, Tensor], dict[str, Any] | None]:
        """The tensors that may be changed, and the root where it is a dict of their names."""
        if self._own is None:
            self._held = self._own = dict(self._held.items())
        return self._own, self._checkpoint.changing()


def _pop(index: TensorIndex | NamedIndex, name: str, default: Any) -> Any:
    """As dict.pop, with the place that the tensor has."""
    if default is not _NONE and name not in index:
        return default
    tensor = index[name]
    del index[name]
    return tensor


def _popitem(index: TensorIndex | NamedIndex) -> tuple[str, Tensor]:
    """The last item, as dict.popitem has it."""
    for name in reversed(index):
        return name, _pop(index, name, _NONE)
    raise KeyError("popitem(): there are no tensors")


def _setdefault(index: TensorIndex | NamedIndex, name: str, default: Any) -> Tensor:
    if name not in index:
        index[name] = default
    return index[name]


def alike(a: Any, b: Any) -> bool:
    """Whether two trees of dicts hold the same objects in the same order."""
    todo, seen = [(a, b)], set()
    while todo:
        one, other = todo.pop()
        if type(one) is dict and type(other) is dict:
            if (id(one), id(other)) in seen:
                continue
            seen.add((id(one), id(other)))
            if list(one) != list(other):
                return False
            todo += zip(one.values(), other.values(), strict=True)
        elif one is not other:
            return False
    return True


def rekey(container: dict[Any, Any], names: dict[Any, Any]) -> None:
    """Other keys for some items of a dict, which keep their places."""
    items = [(names.get(key, key), value) for key, value in container.items()]
    container.clear()
    container.update(items)


def as_tensor(value: Any) -> Tensor:
    """A Tensor, or an array as one."""
    if isinstance(value, Tensor):
        return Tensor(value.layout, value.limits)  # a twin: this one may have a place of its own
    from .memory import is_array, tensors_of

    if not is_array(value):
        import numpy as np

        value = np.asarray(value)
    return tensors_of([value])[id(value)]


def slot(root: Any, path: tuple[Any, ...]) -> tuple[Any, Any]:
    """(container, key) of the value at a path. KeyError where the path leads nowhere."""
    value = root
    for step in path[:-1]:
        value = child(value, step)
    return home(value, path[-1])


def child(value: Any, step: Any) -> Any:
    """The item of a container under a key, looked for in those of its parts that add nothing to names, too."""
    if isinstance(value, dict):
        return value[step]
    if isinstance(value, (list, tuple)) and type(step) is int and 0 <= step < len(value):
        return value[step]
    for key, item in children(value) or ():
        if key is HERE:
            try:
                return child(item, step)
            except KeyError:
                continue
        if key is step or (type(key) is type(step) and key == step):
            return item
    raise KeyError(step)


def home(value: Any, step: Any) -> tuple[Any, Any]:
    """The dict or list that holds a key: a module's tensors lie in dicts of its own."""
    if isinstance(value, (dict, list)):
        if not (step in value if isinstance(value, dict) else 0 <= step < len(value)):
            raise KeyError(step)
        return value, step
    for key, item in children(value) or ():
        if key is HERE and isinstance(item, dict) and step in item:
            return item, step
    state = getattr(value, "state", None) or getattr(value, "__dict__", None)
    if isinstance(state, dict) and step in state:
        return state, step
    return value, step


def put(container: Any, key: Any, value: Any) -> None:
    if not isinstance(container, (dict, list)):
        raise UnsupportedError(f"nothing can be put into a {type(container).__name__}", hint="replace the whole of it in ckpt.root")
    container[key] = value


def place_for(root: Any, name: str) -> tuple[tuple[Any, ...], dict[Any, Any], str]:
    """The path of the deepest dict that the beginning of a new name leads to, that dict, and the rest of the name as the key."""
    if not isinstance(root, dict):
        raise UnsupportedError(f"a new name needs a dict to go into, and the root is a {type(root).__name__}", part=name)
    path: tuple[Any, ...] = ()
    container, rest = root, name
    while True:
        step = _longest(container, rest)
        if step is None:
            return path, container, rest
        path, container, rest = (*path, step), container[step], rest[len(piece(step)) + 1 :]


def _longest(container: dict[Any, Any], name: str) -> Any:
    """The longest key of a dict in it with which a name begins; None for none."""
    end = name.rfind(".")
    while end >= 0:
        text = name[:end]
        for key in (text, int(text)) if text.isdecimal() and len(text) < 19 else (text,):
            if isinstance(container.get(key), dict):
                return key
        end = name.rfind(".", 0, end)
    return None
