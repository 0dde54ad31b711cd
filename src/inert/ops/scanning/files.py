"""Which files a path stands for, before any of them is looked at.

Knows: folders, the shards that an index names, checkpoints by their prefix; and that what is named and not looked at is told (Refused).
Refuses to know: what is in the files.
"""

from __future__ import annotations

import os

from ...containers.folder import Folder, Prefix
from ...errors import FormatError
from ...limits import DEFAULT
from ...reading import hold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...limits import Limits

INDEX = ".index.json"  # of a sharded set


class Refused(str):
    """A file that is named and not looked at: ``why``."""

    why: str

    def __new__(cls, name: str, why: str) -> Refused:
        made = super().__new__(cls, name)
        made.why = why
        return made

    def __reduce__(self) -> tuple[type[Refused], tuple[str, str]]:
        return Refused, (str(self), self.why)


def listed(paths: list[str], limits: Limits = DEFAULT) -> list[str]:
    """The files that some paths stand for, each once. FormatError where there are none: nothing was scanned, so nothing is clean."""
    found = list(dict.fromkeys(name for path in paths for name in files(path, limits)))
    if not found:
        raise FormatError("there is no file in it", part=paths[0] if paths else "", hint="give a file, or a folder that holds some")
    return found


def files(path: str, limits: Limits = DEFAULT) -> Iterator[str]:
    """The files that a path stands for: itself; those of a folder; the shards beside an index; a checkpoint's by its prefix."""
    if os.path.isdir(path):
        for name in _walk(path):
            yield name
            if name.endswith(INDEX):
                yield from _shards(name, limits)
        return
    if not os.path.lexists(path):
        held, members = hold(path)
        held.close()
        if isinstance(held, Prefix) and not members:
            yield from (os.path.join(held.path, name) for name in held.names(limits))
            return
    yield path
    if path.endswith(INDEX):
        yield from _shards(path, limits)


def _walk(path: str) -> Iterator[str]:
    """Whatever is no folder under a folder, in the order of the names, hidden ones included."""
    todo = [path]
    while todo:
        folder = todo.pop()
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if not entry.is_dir():  # a link to a file is one: a hub's cache is made of them; a pipe or a broken link is named as unreadable
                yield entry.path
        todo += [entry.path for entry in reversed(found) if entry.is_dir(follow_symlinks=False)]


def _shards(path: str, limits: Limits) -> Iterator[str]:
    """The files that an index names and that are there; Refused for those that lie elsewhere."""
    import json

    folder = Folder(os.path.dirname(path) or os.curdir)
    try:
        if os.path.getsize(path) > limits.json_bytes:
            return
        with open(path, encoding="utf-8") as file:
            named = json.load(file)["weight_map"].values()
        for name in dict.fromkeys(str(name) for name in named):
            try:
                place = folder.place(name)
            except FormatError as error:
                yield Refused(f"{path}: {name}", error.message)
                continue
            if os.path.lexists(place):  # in one that is missing nothing is hidden
                yield place
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return  # the index itself is scanned all the same
