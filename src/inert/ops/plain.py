"""``--for-weights-only``: the saved object as data that torch.load(weights_only=True) takes, and a list of what had to be replaced.

Knows: which values torch 2.13's weights_only unpickler makes by itself, and which plain value says the same as any other: a dict for a
namespace or an object of a class, a text for a path or a date, a number for a NumPy scalar, a tensor for an array.
Refuses to know: files. Tensors keep their storages; nothing of them is read. A loop with stacks of its own; cycles stay cycles.

Facts: torch 2.13 (torch/allowed.py has the names that pass, torch/weights.py the opcodes).
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter, OrderedDict, defaultdict, deque

from ..dtypes import DTYPES, DType
from ..errors import UnsupportedError
from ..layout import Layout, Storage
from ..names import piece
from ..pickle.nodes import Call, Global, shown
from ..tensor import Tensor
from ..torch.allowed import CONSTANTS, DEVICES, TORCH
from ..torch.objects import Device, Object, Size
from ..torch.storages import CLASS_OF
from ..torch.values import CONTAINERS
from .plain_values import ATOMS, CLASS, EMPTY, LONGEST, contents, hashable, kind_of, single, sound
from .shape import replicated
from .views import own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..limits import Limits

    Link = tuple["Link", Any] | None


class Replaced:
    """One replacement: the ``path`` of the value, what it ``was`` and what it is ``now``, in a few words."""

    __slots__ = ("now", "path", "was")

    def __init__(self, path: str, was: str, now: str) -> None:
        self.path = path
        self.was = was
        self.now = now

    def __repr__(self) -> str:
        return f"<Replaced {self.path}: {self.was} by {self.now}>"


class Plainer:
    """One conversion. ``replaced`` lists what is another value now, in the object's order; beyond ``Limits.name_bytes`` of paths, without
    their paths. ``names``: texts that stand for a name in the file, by id (they look like any text).
    ``classes``: those of dicts and lists that became plain when they were read, by id."""

    def __init__(self, limits: Limits, names: dict[int, str] | None = None, classes: dict[int, str] | None = None) -> None:
        self.limits = limits
        self.classes = classes or {}
        self.names = names or {}
        self.budget = limits.name_bytes
        self.replaced: list[Replaced] = []
        self.done: dict[int, tuple[Any, Any]] = {}  # by id: the value, which must stay alive, and what stands for it
        self.fills: list[Callable[[], None]] = []
        self.todo: list[tuple[Any, Link, Callable[[], None] | None]] = []

    def plain(self, root: Any) -> Any:
        """What stands for the root."""
        self.todo = [(root, None, None)]
        while self.todo:
            value, link, ready = self.todo.pop()
            if ready is not None:
                ready()
            elif type(value) in ATOMS:
                self._atom(value, link)
            elif id(value) not in self.done:
                self._open(value, link)
        for fill in self.fills:
            fill()
        return self.now(root)

    def now(self, value: Any) -> Any:
        """What stands for a value that has been seen."""
        known = self.done.get(id(value))
        return value if known is None else known[1]

    def _atom(self, value: Any, link: Link) -> None:
        if type(value) is int and value.bit_length() > LONGEST:
            self._set(value, hex(value), link, "a number of 2,040 bits and more", "its hexadecimal digits")
        elif value == b"":
            self._set(value, EMPTY, link)
        elif type(value) is str and id(value) in self.names:
            self.say(link, self.names[id(value)], "its name")

    def _set(self, value: Any, made: Any, link: Link, was: str = "", now: str = "") -> None:
        self.done[id(value)] = value, made
        if was:
            self.say(link, was, now)

    def say(self, link: Link, was: str, now: str) -> None:
        steps = []
        while link is not None and self.budget > 0:
            link, key = link
            steps.append(piece(key))
            self.budget -= len(steps[-1]) + 8
        self.replaced.append(Replaced(".".join(reversed(steps)) if self.budget > 0 else "…", was, now))

    # -- one kind of value after another --------------------------------------------------------------------------------------

    def _open(self, value: Any, link: Link) -> None:
        kind = type(value)
        if isinstance(value, Tensor):
            self._tensor(value, link)
        elif isinstance(value, dict):
            self._dict(value, link)
        elif kind in (list, deque):
            self._list(value, value, link, self.classes.get(id(value), "") if kind is list else "deque")
        elif isinstance(value, tuple):
            self._tuple(value, link)
        elif isinstance(value, (set, frozenset)):
            self._elements(value, link)
        elif isinstance(value, Namespace):
            self._fields(value, dict(vars(value)), link, "argparse.Namespace")
        elif kind is Object:
            self._object(value, link)
        elif kind is bytearray or kind is DType:
            text = kind is DType and f"torch.{value}" not in CONSTANTS
            self._set(value, str(value) if text else value, link, f"torch.{value}" if text else "", "its name")
        elif kind is Device:
            known = value.partition(":")[0] in DEVICES
            self._set(value, value if known else str(value), link, "" if known else "torch.device", "its name")
        elif isinstance(value, Storage):
            self._storage(value, link)
        else:
            made, now = single(value)
            self._set(value, made, link, kind_of(value), now)

    def _children(self, pairs: Iterator[tuple[Any, Any]] | list[tuple[Any, Any]], link: Link) -> None:
        self.todo += [(item, (link, key), None) for key, item in reversed(list(pairs))]

    def _dict(self, value: dict[Any, Any], link: Link) -> None:
        kind = type(value)
        shell: dict[Any, Any] = kind() if kind in (dict, OrderedDict, Counter) else {}
        was = "collections.defaultdict" if kind is defaultdict else self.classes.get(id(value), "")
        self._set(value, shell, link, was, "dict")
        self._filled(shell, value.items(), link)
        fields = vars(value) if hasattr(value, "__dict__") else {}
        if fields and kind is OrderedDict:
            self._children(list(fields.items()), link)
            self.fills.append(lambda: vars(shell).update((key, self.now(item)) for key, item in fields.items()))

    def _filled(self, shell: dict[Any, Any], pairs: Any, link: Link) -> None:
        pairs = list(pairs)
        self._children(pairs, link)
        odd = any(type(key) is not str for key, _ in pairs)
        taken = {key for key, _ in pairs if hashable(key) is key} if odd else set()

        def fill() -> None:
            for key, item in pairs:
                shell[self._key(key, taken, link) if odd else key] = self.now(item)

        self.fills.append(fill)

    def _key(self, key: Any, taken: set[Any], link: Link) -> Any:
        """A key that torch can make, and that nothing else there has."""
        made = hashable(key)
        if made is key or made is EMPTY:
            return made
        base, number = made, 2
        while made in taken:
            made, number = f"{base}#{number}", number + 1
        taken.add(made)
        self.say((link, key), f"a key: {kind_of(key)}", f"{type(made).__name__} {shown(made)}")
        return made

    def _list(self, value: Any, items: Any, link: Link, was: str) -> None:
        shell: list[Any] = []
        self._set(value, shell, link, was, "list")
        items = list(items)
        self._children(list(enumerate(items)), link)
        self.fills.append(lambda: shell.extend(map(self.now, items)))

    def _tuple(self, value: tuple[Any, ...], link: Link) -> None:
        if type(value) is Size:
            self._set(value, value, link)
            return
        self.done[id(value)] = value, value  # while its parts are made, for what would hold itself

        def ready() -> None:
            made = tuple(map(self.now, value))
            self.done[id(value)] = value, made if any(a is not b for a, b in zip(made, value, strict=True)) else value

        self.todo.append((value, link, ready))
        self._children(list(enumerate(value)), link)

    def _elements(self, value: Any, link: Link) -> None:
        shell: set[Any] = set()
        self._set(value, shell, link, *(("frozenset", "set") if isinstance(value, frozenset) else ()))
        taken = {item for item in value if hashable(item) is item}
        for item in value:
            if isinstance(item, Tensor):
                self._open(item, link)
                shell.add(self.now(item))
            else:
                shell.add(self._key(item, taken, link))

    def _fields(self, value: Any, fields: dict[Any, Any], link: Link, was: str) -> None:
        shell: dict[Any, Any] = {}
        self._set(value, shell, link, was, "dict")
        self._filled(shell, fields.items(), link)

    def _object(self, value: Object, link: Link) -> None:
        arguments = value.arguments if type(value.arguments) is tuple else ()
        bare = value.state is None and not value.items and not value.pairs and not value.keywords
        if bare and value.type == "builtins.getattr" and len(arguments) == 2 and type(arguments[0]) is Global:  # an Enum, Python 3.11
            self._set(value, f"{arguments[0].dotted}.{arguments[1]}", link, "a member of a class", "its dotted name")
        elif bare and len(arguments) == 1 and type(arguments[0]) in ATOMS and value.call.how == "REDUCE":  # an Enum, a path …
            self._set(value, arguments[0], link, value.type, f"{type(arguments[0]).__name__} {shown(arguments[0])}")
        else:
            self._fields(value, contents(value), link, value.type)

    # -- tensors ----------------------------------------------------------------------------------------------------------------

    def _tensor(self, value: Tensor, link: Link) -> None:
        layout = value.layout
        if layout.kind == "wrapper":
            local = replicated(layout)
            if local is not None:
                self._set(value, local, link, layout.type, "the tensor that every rank holds")
                return
        if layout.kind in ("wrapper", "nested"):
            parts: dict[Any, Any] = dict(layout.components)
            if layout.kind == "nested":
                self._list(value, parts.values(), link, "a nested tensor")
            else:
                self._fields(value, {CLASS: layout.type, "shape": layout.shape, **parts}, link, layout.type or "a tensor subclass")
            return
        if layout.kind == "numpy":
            self._array(value, link)
            return
        if f"torch.{layout.dtype}" not in CONSTANTS:
            raise UnsupportedError(f"torch {TORCH} has no {layout.dtype}", part=value.name, hint="cast it, or leave it out")
        made = sound(layout)
        if made is layout:
            self._set(value, value, link)
        else:
            lost = [what for what, was in (("attributes", layout.attributes), ("hooks", layout.hooks)) if was is not None]
            was = layout.type if layout.type != made.type else "a tensor with requires_grad that torch cannot load"
            was = f"a tensor with {' and '.join(lost)}" if lost and not (layout.type and layout.type != made.type) else was
            self._set(value, Tensor(made, value.limits), link, was, "a plain tensor")

    def _array(self, value: Tensor, link: Link) -> None:
        layout = value.layout
        if layout.dtype in DTYPES and not layout.fault and (layout.dtype in CLASS_OF or f"torch.{layout.dtype}" in CONSTANTS):
            big = layout.storage is not None and layout.storage.order == "big"
            made = own(layout, value.limits) if big else layout.copy()
            made.kind, made.type, made.attributes = "dense", "", None
            self._set(value, Tensor(made, value.limits), link, "a NumPy array", "a tensor")
        else:
            found = value.numpy()
            items = found.astype(str).tolist() if found.dtype.kind in "Mm" else found.tolist()
            self._set(value, items, link, f"a NumPy array of {found.dtype}", "list")

    def _storage(self, value: Storage, link: Link) -> None:
        items = value.nbytes // value.dtype.itemsize
        layout = Layout(
            value.dtype, (items * (1 if value.dtype.counts_items else value.dtype.packed),), (1,), 0, value, False, value.device
        )
        layout.fault = value.fault
        self._set(value, Tensor(layout, self.limits), link, "a storage", "a tensor")


def classes_in(builder: Any) -> tuple[dict[int, str], Counter[str]]:
    """Classes whose values inert makes plain when it reads them (OmegaConf's, AttributeDict): of each dict and list, by id; and how many
    other values there are of each of OmegaConf's classes, which no identity tells apart."""
    made: dict[int, str] = {}
    others: Counter[str] = Counter()
    for node in builder.document.rows if builder is not None else ():
        if not isinstance(node, Call) or node.dotted not in CONTAINERS or node.dotted.startswith(("builtins.", "collections.")):
            continue
        value = builder.done.get(id(node))
        if type(value) in (dict, list):
            made[id(value)] = node.dotted
        elif node.dotted.startswith("omegaconf."):
            others[node.dotted] += 1
    return made, others


def names_in(builder: Any) -> dict[int, str]:
    """Texts that stand for a name of torch's (torch.strided …), by id: what the builder makes of such a name."""
    found = {}
    for node in builder.document.globals if builder is not None else ():
        value = builder.done.get(id(node))
        if type(value) is str:
            found[id(value)] = node.dotted
    return found
