"""Whatever tree of dicts, lists and tuples holds tensors, however odd its keys: every tensor is listed once a place, under a name of its own that
leads to it, and a tensor that is renamed, replaced or deleted by its name is so in the tree."""

from __future__ import annotations

from driver import instrument, run

with instrument():
    from inert.checkpoint import Checkpoint
    from inert.content import Content
    from inert.dtypes import DTYPES
    from inert.errors import InertError, UnsupportedError
    from inert.index import slot
    from inert.layout import Layout
    from inert.limits import Limits
    from inert.names import Lister, bracketed, find
    from inert.source import BytesSource
    from inert.tensor import Tensor

READS = ("names", "index")
KEYS = (
    "a",
    "b",
    "a.b",
    "",
    "0",
    0,
    1,
    -1,
    1.5,
    "é",
    '["a"]',
    "[0]",
    "#2",
    None,
    True,
    ("t", 1),
    b"x",
    "a\nb",
    1 << 70,
    "weight",
    ".",
    "..",
    "a.",
)
LIMITS = Limits(paths=50)


def tensor() -> Tensor:
    return Tensor(Layout(DTYPES["float32"], (0,), (1,), 0, None), LIMITS)


def tree(data: bytes) -> object:
    """A machine that builds: each byte opens a container, closes one, or puts a tensor, a number or something known somewhere."""
    root: dict[object, object] = {}
    stack: list[object] = [root]
    known: list[object] = [root]
    for at in range(0, len(data) - 1, 2):
        what, key = data[at], KEYS[data[at + 1] % len(KEYS)]
        made: object = (
            tensor,
            dict,
            list,
            tensor,
            lambda: 5,
            lambda: known[what % len(known)],
            lambda: (tensor(), 1, {"x": tensor()}),
            tensor,
        )[what % 8]()
        here = stack[-1]
        if what >= 200 and len(stack) > 1:
            stack.pop()
        elif isinstance(here, dict):
            here[key] = made
        elif isinstance(here, list):
            here.append(made)
        if type(made) in (dict, list) and made is not root and not any(made is one for one in known):
            known.append(made)
            stack.append(made)
    return root


class Held(Content):
    def __init__(self, value: object) -> None:
        super().__init__(BytesSource(b"", "tree"), LIMITS)
        self.value = value

    def root(self, convert: object = None) -> tuple[object, list[object]]:
        return self.value, []


def led(root: object, path: tuple[object, ...]) -> object:
    for step in path:
        root = root[step]  # type: ignore[index]
    return root


def one(data: bytes) -> None:
    data = data[:400]
    root = tree(data)
    checkpoint = Checkpoint(Held(root))
    found = Lister(root, LIMITS)
    assert all(str(note).isprintable() for note in found.notes)
    places = set()
    for name, held in found.tensors.items():
        assert type(name) is str
        assert held.name == name
        there = led(root, held.path)
        assert isinstance(there, Tensor)
        assert there._layout is held._layout
        places.add(bracketed(held.path))
        try:
            find(root, name)
        except InertError as error:
            assert str(error).isprintable()
    assert len(places) == len(found.tensors) or any("#" in name for name in found.tensors), "one place under two names"
    edited(checkpoint, data)


def edited(checkpoint: Checkpoint, data: bytes) -> None:
    names = list(checkpoint.tensors)
    for number, name in enumerate(names[:6]):
        held, choice = checkpoint.tensors.get(name), data[number % len(data)] % 3
        if held is None:
            continue
        try:
            container, key = slot(checkpoint.root, held.path)
        except KeyError:
            continue  # what holds it is in several places, and was changed in another one
        try:
            if choice == 0:
                del checkpoint.tensors[name]
                assert name not in checkpoint.tensors
                assert key not in container
            elif choice == 1:
                fresh = tensor()
                checkpoint.tensors[name] = fresh
                assert container[key]._layout is fresh._layout  # type: ignore[index]
            else:
                new = f"{name}~"
                checkpoint.tensors.rename(name, new)
                assert new in checkpoint.tensors
                assert name not in checkpoint.tensors
        except (UnsupportedError, ValueError) as error:
            assert str(error)


run(
    one,
    seeds=[
        b"\1\0\0\0\0\1\xd0\0\0\2",
        bytes(range(8)) * 4,
        b"\1\0\2\1\0\0\0\0\6\0\xd0\0\5\2\5\3",
        b"\1\x02\0\0\xd0\0\1\0\1\1\0\0\xc8\0\0\1\0\2",
        b"\5\0\1\1\5\1\0\0\xd1\0\5\1\5\2\5\3",
    ],
    smoke=6000,
)
