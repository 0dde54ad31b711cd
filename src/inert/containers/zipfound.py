"""An archive of the members that a walk over the bytes found, for all who read archives.

Knows: which members are whole, which are cut, and whose bytes do not have their checksum.
Refuses to know: how they were found (zipwalk.py).
"""

from __future__ import annotations

from ..errors import LimitError
from ..finding import Finding
from ..source import Span
from .deflated import readable
from .zip import Zip
from .zipdirectory import DEFLATED, ENCRYPTED, PATCHED, STORED, Directory, Member, Members
from .zipwalk import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..limits import Limits
    from ..source import Source
    from .zipwalk import Found, Sized


class Listed(Members):
    """Members that were found, by name."""

    def __init__(self, members: dict[str, Member]) -> None:
        super().__init__(b"", 0)
        self.held = members
        self.places = dict.fromkeys(members, 0)

    def __getitem__(self, name: str) -> Member:
        return self.held[name]

    def size(self, name: str) -> int | None:
        return self.held[name].size if name in self.held else None


class Walked(Zip):
    """An archive of members that were found. ``cut``: those of which a part is missing, by name; ``wrong``: why the bytes of others are
    in doubt. Of members of one name the last whole one counts."""

    def __init__(self, source: Source, limits: Limits, sized: Sized) -> None:
        walk = Walk(source, limits, sized)
        self.source = source
        self.limits = limits
        self.notes = walk.notes
        self.shadowed: list[Member] = []
        self.ended = walk.ended
        self.cut: dict[str, Found] = {}
        self.wrong: dict[str, str] = {}
        self._starts: dict[tuple[int, str], int] = {}
        self._left = max(limits.inflated, limits.expand_ratio * source.size)  # bytes that all members may inflate to
        self._inflated: dict[tuple[int, int, int], Span] = {}
        self.directory = Directory(source.size, 0, len(walk.found), 0, source.size, source.size, 0)
        held: dict[str, Member] = {}
        for found in walk.found:
            self._take(found, held)
        self.members = Listed(held)

    def _take(self, found: Found, held: dict[str, Member]) -> None:
        size, name = found.size, found.name
        place = (found.head, found.there, size)
        if found.flags & (ENCRYPTED | PATCHED) and found.method == STORED:
            found.flags &= ~(ENCRYPTED | PATCHED)  # torch does not look at these bits; where it is true, the checksum will tell
        if found.flags & (ENCRYPTED | PATCHED):
            found.whole, size = False, 0
            self.notes.append(Finding("zip-encrypted", "encrypted or a patch", name, found.head))
        elif found.method == DEFLATED:
            grown = max(self.limits.expand_floor, self.limits.expand_ratio * found.there)
            if name.endswith(".pkl") and found.vouched and size > grown:
                text = f"{found.there:,} compressed bytes would grow to {size:,}, more than {grown:,}"
                raise LimitError(text, part=name, offset=found.head, hint="raise Limits.expand_ratio")
            most = min(size if found.vouched else max(size, grown), self.limits.inflated, self._left)
            content, fault = readable(Span(self.source, found.start, found.there), most, name)
            self._left -= content.length
            if fault or (found.vouched and content.length != size):
                found.whole = False
                self.notes.append(Finding("zip-cut", fault or f"inflates to {content.length:,} of {size:,} bytes", name, found.head))
            size = content.length
            place = (found.head, found.there, size)
            self._inflated[place] = content
        elif not found.whole:
            size = found.there
            text = f"{found.there:,} bytes of it are there" + (f" of {found.packed:,}" if found.packed > found.there else "")
            self.notes.append(Finding("zip-cut", text, name, found.head))
        member = Member(name, found.head, found.there, size, found.checks[0] if found.checks else 0, found.method, found.flags)
        if name in held:
            self.notes.append(Finding("zip-duplicate", "two members have this name", name, found.head))
            if not found.whole and name not in self.cut:
                self.shadowed.append(member)
                return
            self.shadowed.append(held[name])
        held[name] = member
        self.cut.pop(name, None)
        self.wrong.pop(name, None)
        if not found.whole:
            self.cut[name] = found
        self._starts[found.head, name] = found.start
        if found.whole and found.doubt and not found.checks:
            self.wrong[name] = found.doubt
            self.notes.append(Finding("zip-gap", found.doubt, name, found.head))
        if found.whole and found.checks:
            self._check(found, self._inflated[place] if found.method == DEFLATED else Span(self.source, found.start, found.there))

    def rename(self, names: dict[str, str]) -> None:
        held = {names.get(name, name): self.members[name] for name in self.members}
        for name, member in held.items():
            self._starts[member.offset, name] = self._starts[member.offset, member.name]
            member.name = name
        self.members = Listed(held)
        self.cut = {names.get(name, name): found for name, found in self.cut.items()}
        self.wrong = {names.get(name, name): why for name, why in self.wrong.items()}

    def _check(self, found: Found, content: Span) -> None:
        """Compare a member's bytes with its checksums: one that stands twice, and once right, was damaged itself."""
        from isal.isal_zlib import crc32

        value = 0
        for block in content.chunks():
            value = crc32(block, value)
        wrong = [check for check in found.checks if check != value]
        if wrong and len(wrong) < len(found.checks):
            text = f"one of its two checksums is {wrong[0]:08x}; the other one, {value:08x}, is that of the bytes"
            self.notes.append(Finding("zip-crc-field", text, found.name, found.head))
        elif wrong:
            text = f"its bytes have the checksum {value:08x}, not {wrong[0]:08x}"
            self.wrong[found.name] = text
            self.notes.append(Finding("zip-crc", text, found.name, found.head))

    def inspect(self, member: Member) -> tuple[int, list[Finding]]:
        return self._starts.get((member.offset, member.name), member.offset), []

    def content(self, name: str) -> Span:
        return self.span(self.members[name])
