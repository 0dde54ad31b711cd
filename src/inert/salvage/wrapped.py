"""What is left of a wrapper: what came out of compressed data before its fault, the one checkpoint in a damaged archive.

Knows: that a wrapper cut short still gives a beginning, which is a damaged checkpoint of its own.
Refuses to know: what is inside.
"""

from __future__ import annotations

from ..containers.tar import BLOCK, Tar, is_header
from ..containers.zipfound import Walked
from ..errors import InertError
from ..formats.wrapped import Archive, candidates, compression
from ..inflate import ENGINES, inflated
from ..source import Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..finding import Finding
    from ..limits import Limits
    from ..source import Source


def unwrapped(source: Source, limits: Limits) -> tuple[Source, list[Finding], str] | None:
    """(what is inside, what was wrong with the wrapping, what that is); None where it is no wrapper, or one of several checkpoints."""
    kind = compression(source)
    if kind:
        try:
            inner, notes = inflated(source, kind, limits)
        except InertError:
            return None
        return inner, notes, ENGINES[kind].noun
    archive = _archive(source, limits)
    found = candidates(archive) if archive is not None else []
    if archive is None or len(found) != 1:
        return None
    try:
        span = archive.content(found[0])
    except InertError:
        return None
    return Window(span, f"{source.name}!{found[0]}", source), archive.notes, f"a {archive.kind} archive as {found[0]}"


def _archive(source: Source, limits: Limits) -> Archive | None:
    head = source.read(0, min(BLOCK, source.size))
    if head[:4] == b"PK\3\4":
        walked = Walked(source, limits, lambda name, found: None)
        return Archive("zip", {name: walked.members.size(name) or 0 for name in walked.members}, walked.content, walked)
    if is_header(head):
        tar = Tar(source, limits)
        names = {name: one.size for name, one in tar.members.items() if not one.refused}
        return Archive("tar", names, lambda name: tar.content(name, cut=True), tar)
    return None
