"""An archive that somebody has unpacked: the files of its folder, asked for as the members of containers.zip are.

Knows: every plain file below the folder, by its name in it; nothing is opened before its bytes are wanted.
Refuses to know: what a file means. Links that lead out of the folder, links to folders, pipes and devices are noted and left alone.
"""

from __future__ import annotations

import os

from ..errors import FormatError, LimitError
from ..finding import Finding
from .zip import Zip
from .zipdirectory import STORED, Member, Members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..limits import Limits
    from ..source import Source, Span
    from .folder import Folder

LITTER = frozenset((".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX"))  # what systems put into folders by themselves
SHOWN = 100  # notes


class File(Member):
    """One file as a member: stored, at the start of a file of its own, without a checksum."""

    __slots__ = ()

    def __init__(self, name: str, size: int) -> None:
        super().__init__(name, 0, size, size, 0, STORED, 0)


class Files(Members):
    """The files by name, those right in the folder first."""

    def __init__(self, sizes: dict[str, int]) -> None:
        super().__init__(b"", 0)
        self.sizes = sizes

    def __getitem__(self, name: str) -> File:
        return File(name, self.sizes[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    def __contains__(self, name: object) -> bool:
        return name in self.sizes

    def size(self, name: str) -> int | None:
        return self.sizes.get(name)


class Unpacked(Zip):
    """``members`` by name, ``notes``, and Spans on demand, as an opened Zip has them; there is no directory, and nothing to inflate."""

    def __init__(self, folder: Folder, limits: Limits, only: frozenset[str] | None = None) -> None:
        """``only``: of the folders in it, those to look into; all where that is None. LimitError beyond ``Limits.entries``."""
        self.source = self.folder = folder
        self.limits = limits
        self.notes: list[Finding] = []
        self.shadowed: list[Member] = []  # no two files have one name
        self._opened: dict[str, Source] = {}
        self.members = Files(dict(self._walk(only)))
        folder.size = self.size = sum(self.members.sizes.values())

    def _walk(self, only: frozenset[str] | None) -> Iterator[tuple[str, int]]:
        todo, seen = [""], 0
        while todo:
            home = todo.pop()
            files, folders = [], []
            with os.scandir(os.path.join(self.folder.path, home)) as entries:
                for entry in entries:
                    seen += 1
                    if seen > self.limits.entries:
                        raise LimitError(f"more than {self.limits.entries:,} files", part=self.folder.name, hint="raise Limits.entries")
                    name = home + entry.name
                    if entry.is_dir(follow_symlinks=False):
                        if home or only is None or entry.name in only:
                            folders.append(f"{name}/")
                    elif self._plain(entry, name):
                        files.append((name, entry.stat().st_size))
            yield from sorted(files)
            todo += sorted(folders, reverse=True)

    def _plain(self, entry: os.DirEntry[str], name: str) -> bool:
        """Whether an entry is a file to be read. What is not is noted."""
        wrong = "" if entry.is_file() else "it is no plain file"
        if not wrong and entry.is_symlink():
            try:
                self.folder.place(name)
            except FormatError as error:
                wrong = error.message
        if wrong and len(self.notes) < SHOWN:
            self.notes.append(Finding("folder-entry", wrong, name))
        return not wrong

    def start(self, member: Member) -> int:
        return 0

    def path(self, name: str) -> str:
        return os.path.join(self.folder.path, name)

    def content(self, name: str) -> Span:
        """The content of a file; it is opened once. FormatError where it is gone or another by now."""
        source = self._opened.get(name)
        if source is None:
            try:
                source = self._opened[name] = self.folder.open(name)
                self.folder.size = self.size  # which is that of all, opened or not
            except OSError as error:
                raise FormatError(f"the file cannot be opened: {error.strerror}", part=name, hint="open the folder again") from None
        if source.size != self.members.size(name):
            text = f"the file had {self.members.size(name):,} bytes and has {source.size:,} now"
            raise FormatError(text, part=name, hint="open the folder again")
        return source.span()

    def span(self, member: Member, cap: int | None = None) -> Span:
        return self.content(member.name)

    def pickle(self, member: Member) -> Span:
        """The content of a file that a pickle machine will read."""
        if member.size > self.limits.pickle_bytes:
            raise LimitError(f"a pickle of {member.size:,} bytes", part=member.name, hint="raise Limits.pickle_bytes")
        return self.content(member.name)

    def later(self) -> list[Finding]:
        return []


def only_folder(folder: Folder) -> str:
    """The name of the one folder that a folder holds and nothing else besides litter; "" where there is more, or less."""
    found = ""
    with os.scandir(folder.path) as entries:
        for entry in entries:
            if entry.name in LITTER or entry.name.startswith("._"):
                continue
            if found or not entry.is_dir(follow_symlinks=False):
                return ""
            found = entry.name
    return found
