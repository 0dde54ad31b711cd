"""Salvage readers: of a damaged source, what can be trusted, as the same Content that a sound one gives, with holes.

Knows: the order in which a source is tried: the salvage reader of what its bytes look like, then the ordinary readers.
Refuses to know: what becomes of it (ops/repair.py), and any format's inside.
"""

from __future__ import annotations

from ..containers.folder import Folder, Prefix
from ..errors import InertError
from ..finding import Finding
from .held import Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..content import Content
    from ..limits import Limits
    from ..source import Source

__all__ = ["Salvage", "readable", "salvage"]
ZIP = b"PK\3\4"
DEPTH = 3  # wrappers in wrappers


def salvage(
    source: Source, members: tuple[str, ...], limits: Limits, byteorder: str | None, raw: bool = False, depth: int = 0, inner: bool = False
) -> Salvage:
    """What there is of a source. The refusal of the ordinary reader where no salvage reader knows better. ``inner``: it is one file of a
    set, and no set of its own."""
    from ..formats import identify

    refusal: InertError | None = None
    if not members:
        for reader in _readers(source, inner):
            try:
                found = reader(source, limits, byteorder, raw)
            except InertError as error:
                refusal = refusal or error
                continue
            if found is not None:
                return found
        wrapped = _unwrapped(source, limits) if depth < DEPTH else None
        if wrapped is not None:
            found = salvage(wrapped[0], (), limits, byteorder, raw, depth + 1, inner)
            told = Finding("wrapper-opened", f"the checkpoint lies in {wrapped[2]}", source.name)
            found.notes = [told, *wrapped[1], *found.notes]
            found.content.wrappers = (wrapped[2], *found.content.wrappers)
            return found
    if refusal is not None:
        raise refusal
    return Salvage(identify(afresh(source), limits, byteorder, members=members))


def readable(source: Source, members: tuple[str, ...], limits: Limits, byteorder: str | None) -> Content:
    """What an ordinary reader makes of a source; of one that it refuses as damaged, what there is, with what is wrong in its notes. Raises
    the ordinary reader's refusal where nothing is found either way."""
    from ..formats import identify

    try:
        return identify(source, limits, byteorder, members=members)
    except InertError as refusal:
        try:
            return salvage(source, members, limits, byteorder).content
        except InertError:
            raise refusal from None


def afresh(source: Source) -> Source:
    """A folder as if nothing in it had been opened yet."""
    if isinstance(source, Folder):
        return Prefix(source.name) if isinstance(source, Prefix) else Folder(source.path, source.name)
    return source


def _readers(source: Source, inner: bool) -> list[Reader]:
    """The salvage readers to try, by the first bytes."""
    if isinstance(source, Folder):
        from . import sets, tf

        return [sets.read, tf.read]
    from . import flat, legacy, pickles, sets, tar, tf, torch_zip

    head = source.read(0, min(512, source.size))
    if head[:4] == ZIP or (len(head) == 512 and not any(head)):
        return [torch_zip.read]
    if head[:1] == b"\x80" or head[:1] in pickles.STARTS:
        return [legacy.read, pickles.read]
    return [tar.read, flat.read, *(() if inner else (sets.read, tf.read)), torch_zip.behind]


def _unwrapped(source: Source, limits: Limits) -> tuple[Source, list[Finding], str] | None:
    """What is inside of a compressed file, or of an archive that holds one checkpoint; None where it is no wrapper."""
    if isinstance(source, Folder):
        return None
    from .wrapped import unwrapped

    return unwrapped(source, limits)


if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[Source, Limits, str | None, bool], Salvage | None]
