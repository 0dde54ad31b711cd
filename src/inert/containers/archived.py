"""A folder inside of an archive, as a Folder: nothing is unpacked, and its files are runs of the archive.

Knows: which members lie in it, by their names.
Refuses to know: which archive that is. It is given the names and what gives the bytes of each.
"""

from __future__ import annotations

import os

from ..errors import FormatError, LimitError
from ..source import Source, Window
from .folder import Folder, unsafe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..limits import Limits
    from ..source import Span


class Archived(Folder):
    """The members below ``path``, "" for all. ``base``: the archive, closed with it. ``stem``: what the names begin with of the files that
    are meant; "" where the whole folder is."""

    __slots__ = ("_base", "_content", "_members", "stem")

    def __init__(self, base: Source, members: dict[str, None], content: Callable[[str], Span], path: str = "", stem: str = "") -> None:
        inside = "/".join(step for step in (path, stem) if step)
        super().__init__(path, f"{base.name}!{inside}" if inside else base.name)
        self._base = base
        self._members = members
        self._content = content
        self.stem = stem

    def names(self, limits: Limits) -> list[str]:
        if self._listed is None:
            self._listed = sorted(name for name in self._steps() if "/" not in name)
            if len(self._listed) > limits.entries:
                raise LimitError(f"more than {limits.entries:,} files", part=self.name, hint="raise Limits.entries")
        return self._listed

    def folders(self) -> list[str]:
        return sorted({name.partition("/")[0] for name in self._steps() if "/" in name})

    def _steps(self) -> list[str]:
        """The names of all members in it, as from here."""
        lead = f"{self.path}/" if self.path else ""
        return [name[len(lead) :] for name in self._members if name.startswith(lead)]

    def place(self, name: str) -> str:
        wrong = unsafe(name)
        if wrong:
            raise FormatError(f"the file name {name[:200]!r} is refused: {wrong}", part=self.name)
        return f"{self.path}/{name}" if self.path else name

    def has(self, name: str) -> bool:
        return not unsafe(name) and self.place(name) in self._members

    def below(self, lead: str) -> Folder | None:
        if not lead:
            return self
        path = self.place(lead)
        there = any(name.startswith(f"{path}/") for name in self._members)
        return Archived(self._base, self._members, self._content, path) if there else None

    def open(self, name: str) -> Source:
        return self.adopt(self.afar(name))

    def afar(self, name: str) -> Source:
        whole = self.place(name)
        if whole not in self._members:
            raise FileNotFoundError(2, "No such member", whole)
        return Window(self._content(whole), f"{self._base.name}!{whole}")

    def size_of(self, name: str) -> int:
        return self.afar(name).size

    def close(self) -> None:
        super().close()
        self._base.close()


class Member(Window):
    """A member of an archive that knows the folder it lies in."""

    __slots__ = ("home",)

    def __init__(self, span: Span, home: Archived, name: str, base: Source) -> None:
        super().__init__(span, f"{base.name}!{name}", base)
        self.home = home


def home_of(base: Source, members: dict[str, None], content: Callable[[str], Span], name: str) -> Archived:
    """The folder that a member lies in."""
    return Archived(base, members, content, os.path.dirname(name))
