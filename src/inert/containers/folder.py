"""A folder as a Source of names: what lies in it, and its files as Sources of their own.

Knows: which names lead to a file inside the folder. A name that a file gives must be relative and plain; where it is a symbolic link, its
target must lie inside the folder too, or in the ``blobs`` of the Hugging Face cache that the folder is a snapshot of.
Refuses to know: what the files mean. It lists one level, opens plain files only (no pipe, no device), holds a few open, and closes all.

Facts: huggingface_hub 1.0 (cache layout: models--ORG--NAME/snapshots/REVISION/FILE is a link to ../../blobs/HASH).
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager

from ..errors import FormatError, LimitError, UnsupportedError
from ..files import FileSource
from ..source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..limits import Limits

HELD = 24  # files that stay open; further ones are opened for each reading: a process has few descriptors, a set may have thousands
DRIVE = re.compile(r"[A-Za-z]:")


class Folder(Source):
    """The files of a folder. It has no bytes of its own: ``size`` is that of all files opened so far."""

    __slots__ = ("_home", "_listed", "_opened", "path")

    whole = False

    def __init__(self, path: str, name: str = "") -> None:
        super().__init__(name or path, 0)
        self.path = path
        self._opened: list[Source] = []
        self._listed: list[str] | None = None
        self._home = ""

    def names(self, limits: Limits) -> list[str]:
        """The files right in the folder, sorted; folders in it are left out. LimitError for more than ``Limits.entries``."""
        if self._listed is None:
            found: list[str] = []
            with os.scandir(self.path) as entries:
                for entry in entries:
                    if len(found) >= limits.entries:
                        raise LimitError(f"more than {limits.entries:,} files", part=self.name, hint="raise Limits.entries")
                    if not entry.is_dir():
                        found.append(entry.name)
            self._listed = sorted(found)
        return self._listed

    def place(self, name: str) -> str:
        """The path of a file under a name that somebody else has chosen. FormatError where it leads out of the folder."""
        wrong = unsafe(name)
        path = os.path.join(self.path, name)
        if not wrong and not self._inside(os.path.realpath(path)):
            wrong = "it is a link that leads out of the folder"
        if wrong:
            raise FormatError(f"the file name {name[:200]!r} is refused: {wrong}", part=self.name)
        return path

    def _inside(self, real: str) -> bool:
        home = self._home = self._home or os.path.realpath(self.path)
        if real.startswith(os.path.join(home, "")):
            return True
        cache, snapshots, _ = home.rpartition(f"{os.sep}snapshots{os.sep}")
        return bool(snapshots) and os.path.dirname(real) == os.path.join(cache, "blobs")

    def has(self, name: str) -> bool:
        """Whether a file is there, under a name that does not lead out of the folder."""
        try:
            return os.path.isfile(self.place(name))
        except FormatError:
            return False

    def below(self, lead: str) -> Folder | None:
        """The folder at ``lead`` in this one (itself for ""); None where there is none."""
        if not lead:
            return self
        return Folder(os.path.join(self.path, lead)) if os.path.isdir(os.path.join(self.path, lead)) else None

    def folders(self) -> list[str]:
        """The names of the folders right in this one."""
        with os.scandir(self.path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir())

    def open(self, name: str) -> Source:
        """A file of the folder, closed with it. FormatError for a name that leads out of it, FileNotFoundError for none."""
        path = self.place(name)
        if os.path.exists(path) and not os.path.isfile(path):
            raise FormatError(f"{name[:200]!r} is no plain file", part=self.name)
        if len(self._opened) < HELD:
            return self.adopt(FileSource(path))
        return self.adopt(self.afar(name))

    def afar(self, name: str) -> Source:
        """A file of the folder that nobody closes: one of many, opened for each reading."""
        from ..beside import BesideSource

        return BesideSource(self.place(name))

    def size_of(self, name: str) -> int:
        """Bytes of a file of the folder."""
        return os.stat(self.place(name)).st_size

    def adopt(self, source: Source) -> Source:
        """Close this source with the folder."""
        self._opened.append(source)
        self.size += source.size
        return source

    @contextmanager
    def steady(self) -> Iterator[None]:
        with ExitStack() as stack:
            for source in self._opened:
                stack.enter_context(source.steady())
            yield

    def close(self) -> None:
        for source in self._opened:
            source.close()

    def _read(self, offset: int, length: int) -> bytes:
        raise UnsupportedError("a folder has no bytes of its own", part=self.name)


class Prefix(Folder):
    """A path that is no file, but what the names of some files begin with: ``name`` is the path, ``stem`` its last step. Of the folder,
    only those files are its own."""

    __slots__ = ("stem",)

    def __init__(self, path: str) -> None:
        folder, self.stem = os.path.split(path)
        super().__init__(folder or os.curdir, path)

    def names(self, limits: Limits) -> list[str]:
        return [name for name in super().names(limits) if name.startswith(self.stem)]


def unsafe(name: str) -> str:
    """Why a name is no plain relative one; "" where it is."""
    if not name or "\0" in name:
        return "it is empty" if not name else "it holds a NUL"
    if "\\" in name or DRIVE.match(name):
        return "it is a path of Windows"
    if name.startswith("/"):
        return "it is an absolute path"
    if any(step in ("", ".", "..") for step in name.split("/")):
        return "its steps lead elsewhere"
    return ""


def around(source: Source) -> Folder | None:
    """The folder that a file lies in, under the file's own name; None for what is no file on a disk."""
    if not isinstance(source, FileSource):
        return None
    folder = Folder(os.path.dirname(source.path) or os.curdir, source.name)
    folder.adopt(source)
    return folder


def neighbours(source: Source) -> Callable[[str], Source] | None:
    """What opens a file beside a source by its plain name (FormatError, OSError); None where there is no telling what is beside it."""
    if source.beside is not None:
        return source.beside
    return Folder(os.path.dirname(source.path) or os.curdir).open if isinstance(source, FileSource) else None
