"""wrapped: a checkpoint inside of something else: compressed, or the one checkpoint in a zip or tar archive.

Knows: which wrappers there are, how to get at what is in them (in place where it lies plainly, else inflated into memory or an unnamed
temporary file, within Limits), and how FORMATS is asked again about that, a few wrappers deep at most.
Refuses to know: what is inside, and to choose: an archive of several checkpoints is named with its members, and ``outer!member`` names one.

Facts: RFC 1950 to 1952, the xz, bzip2, Zstandard and LZ4 frame formats by their libraries; joblib 1.5 joblib/numpy_pickle_compat.py (ZF).
"""

from __future__ import annotations

import re
from functools import partial

from ..containers.archived import Archived, Member, home_of
from ..containers.folder import neighbours, unsafe
from ..containers.sstable import is_table
from ..containers.tar import BLOCK, Tar, is_header
from ..containers.zip import Zip
from ..errors import FormatError, InertError, UnidentifiedError, one_line
from ..finding import Finding
from ..inflate import ENGINES, inflated
from ..source import Source, Window
from .wrapped_folders import LITTER, folders, stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..content import Content
    from ..limits import Limits
    from ..source import Span

DEPTH = 3  # wrappers in wrappers: .tar.gz is two
LISTED = 12  # members that a refusal names
HEAD = 64 << 10  # bytes inflated to see whether what is inside is worth the whole
CHECKPOINT = re.compile(
    r"\.(?:pt2?|pth|ptl|bin|ckpt|safetensors|pkl|pickle|joblib|nemo|zip|tar|t?gz|xz|bz2|zst)$|(?:^|/)data\.pkl$", re.IGNORECASE
)

# What formats.foreign calls a zip or tar that may hold checkpoints; any other (a wheel, a picture …) it names better.
ARCHIVES = frozenset(("zip-of-checkpoint", "stable-baselines3", "torchserve", "zip", "nemo", "tar-of-checkpoint", "tar"))
# What it calls the beginning of what is worth inflating; there is nothing for inert in a compressed picture.
WORTH = ARCHIVES | {
    "torch-zip", "torch-legacy", "torch-tar", "torch-unpacked", "torchscript", "torch-package", "torch-export", "safetensors", "pickle",
    "joblib", "torch-dcp", "tf-bundle", "tf-v1", "zip-cut", *ENGINES,
}  # fmt: skip


class Archive:
    """A zip or tar as names and what gives the bytes of each. ``members``: the names that may be those of files in folders, empty files
    too."""

    __slots__ = ("archive", "content", "kind", "members", "names", "notes")

    def __init__(self, kind: str, sizes: dict[str, int], content: Callable[[str], Span], archive: Tar | Zip) -> None:
        self.kind = kind
        self.names = [name for name, size in sizes.items() if size]
        self.members = dict.fromkeys(name for name in sizes if not unsafe(name))
        self.content = content
        self.archive = archive
        self.notes = archive.notes


class Claim:
    """One way through: the inner source, which wrapper was seen through, what was odd about it. ``checks``: those of the wrapper;
    ``covered``: it, where its checksum vouches for what is inside."""

    __slots__ = ("checks", "covered", "inner", "notes", "wrapper")

    def __init__(self, inner: Source, wrapper: str, notes: list[Finding], checks: tuple[Any, ...] = (), covered: str = "") -> None:
        self.inner = inner
        self.wrapper = wrapper
        self.notes = notes
        self.checks = checks
        self.covered = covered


def claims(source: Source, limits: Limits) -> Claim | None:
    """The way through a wrapper that holds one thing that may be a checkpoint. UnidentifiedError for an archive of several."""
    kind = compression(source)
    if kind:
        return _through(source, limits, kind) if _worth(source, kind) else None
    archive = archive_of(source, limits)
    if archive is None:
        return None
    found = candidates(archive)
    homes = folders(archive)
    found = [name for name in found if name.rpartition("/")[0] not in homes.values() or not is_table(Window(archive.content(name), name))]
    found += homes
    if len(found) > 1:
        raise UnidentifiedError(
            f"this is a {archive.kind} archive that holds {len(found):,} files that may be checkpoints: {listing(found)}",
            part=source.name,
            hint=f"name one of them, as in {one_line(f'{source.name}!{found[0]}', 200)}",
        )
    if homes:
        return folder_of(source, archive, homes[found[0]])
    return member_of(source, archive, found[0]) if found else None


def read(source: Source, limits: Limits, claim: Claim, byteorder: str | None) -> Content:
    return through(claim, limits, byteorder, 1)


def through(claim: Claim, limits: Limits, byteorder: str | None, depth: int) -> Content:
    """The Content of what is inside, by whichever format claims that."""
    from . import FORMATS
    from .foreign import describe

    source = claim.inner
    content: Content | None = None
    try:
        for one in FORMATS:
            if one.prefix or not (one.id == "wrapped" or isinstance(source, Archived)):
                content = one.open(source, limits, byteorder)
                if content is not None:
                    break
        else:
            if isinstance(source, Archived):
                raise UnidentifiedError("there is no checkpoint", part=source.name, hint="unpack the archive and look what it holds")
            further = claims(source, limits) if depth < DEPTH else None
            if further is None:
                _, sentence, hint = describe(source)
                raise UnidentifiedError(sentence, part=source.name, hint=hint)
            content = through(further, limits, byteorder, depth + 1)
    except InertError as error:
        error.part = error.part if error.part.startswith(source.name) else f"{source.name}: {error.part}".rstrip(": ")
        raise
    assert content is not None
    told = Finding("wrapper-opened", f"the checkpoint lies in {claim.wrapper}", source.name)
    content.wrappers = (claim.wrapper, *content.wrappers)
    content.wrapper_notes = (told, *claim.notes, *content.wrapper_notes)
    content.outer = (*claim.checks, *content.outer)
    content.covered = claim.covered or content.covered
    return content


def member(source: Source, name: str, limits: Limits) -> Claim:
    """The member that ``outer!name`` names, compression around the archive seen through. UnidentifiedError where there is none."""
    outer, wrappers, notes = source, [], []
    checks: tuple[Any, ...] = ()
    covered = ""
    for _ in range(DEPTH):
        kind = compression(outer)
        if not kind:
            break
        claim = _through(outer, limits, kind)
        outer = claim.inner
        wrappers.append(claim.wrapper)
        notes += claim.notes
        checks += claim.checks
        covered = covered or claim.covered
    archive = archive_of(outer, limits, picky=False)
    if archive is None:
        raise UnidentifiedError("this is no zip or tar archive", part=source.name, hint="only members of archives are named by '!'")
    if name not in archive.names:
        near = [one for one in archive.names if one.endswith(f"/{name}")]
        way = None if near else folder_named(outer, archive, name.rstrip("/"))
        if way is not None:
            return Claim(way.inner, ", ".join([*wrappers, way.wrapper]), notes + way.notes)
        if len(near) != 1:
            text = f"there is no member {one_line(name, 80)!r}; there are {listing(archive.names)}"
            raise UnidentifiedError(text, part=source.name, hint="give a member's whole name behind the '!'")
        name = near[0]
    claim = member_of(outer, archive, name)
    wrapper = ", ".join([*wrappers, claim.wrapper])
    return Claim(claim.inner, wrapper, notes + claim.notes, checks + claim.checks, covered or claim.covered)


def inside(source: Source, members: tuple[str, ...], limits: Limits, byteorder: str | None) -> Content:
    """The Content of what ``outer!member!member`` names."""
    if len(members) > DEPTH:
        raise UnidentifiedError(f"{len(members)} archives inside each other", part=source.name, hint="unpack the outer ones first")
    claims = [member(source, members[0], limits)]
    for name in members[1:]:
        claims.append(member(claims[-1].inner, name, limits))
    content = through(claims[-1], limits, byteorder, 1)
    for claim in reversed(claims[:-1]):
        content.wrappers = (claim.wrapper, *content.wrappers)
        content.wrapper_notes = (*claim.notes, *content.wrapper_notes)
        content.outer = (*claim.checks, *content.outer)
        content.covered = claim.covered or content.covered
    return content


def listing(names: list[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(one_line(name, 80) for name in names[:LISTED]) + more


# ------------------------------------------------------------------------------------------------------------------ compression


def compression(source: Source) -> str:
    """Which compression a source is in by its first bytes; "" for none."""
    head = source.read(0, min(16, source.size))
    return next((kind for kind, engine in ENGINES.items() if engine.begins.match(head)), "")


def _worth(source: Source, kind: str) -> bool:
    """Whether what is inside may be a checkpoint, by its beginning. A library that is missing is told where all is inflated."""
    from .foreign import beginning

    data = ENGINES[kind].head(source, HEAD)
    return data is None or (bool(data) and beginning(data) in WORTH)


def _through(source: Source, limits: Limits, kind: str) -> Claim:
    inner, notes = inflated(source, kind, limits)
    inner.beside = neighbours(source)
    from .wrapped_checks import covering, stream

    return Claim(inner, ENGINES[kind].noun, notes, (partial(stream, source, kind),), covering(source, kind))


# --------------------------------------------------------------------------------------------------------------------- archives


def archive_of(source: Source, limits: Limits, picky: bool = True) -> Archive | None:
    """A zip or tar archive, or None. ``picky``: only one of a kind that may hold checkpoints."""
    from .foreign import describe

    tar = source.size >= BLOCK and is_header(source.read(0, BLOCK))
    if not tar and source.read(0, min(4, source.size)) != b"PK\3\4":
        return None
    if picky and describe(source)[0] not in ARCHIVES:
        return None
    if tar:
        opened = Tar(source, limits)
        sizes = {name: one.size for name, one in opened.members.items() if not one.refused}
        return Archive("tar", sizes, opened.content, opened)
    try:
        archive = Zip(source, limits)
    except FormatError:
        return None
    sizes = {name: archive.members.size(name) or 0 for name in archive.members if not name.endswith("/")}
    return Archive("zip", sizes, lambda name: archive.span(archive.members[name]), archive)


def candidates(archive: Archive) -> list[str]:
    """The members that may be checkpoints, by their names."""
    return [name for name in archive.names if CHECKPOINT.search(name) and not LITTER.search(name)]


def member_of(source: Source, archive: Archive, name: str) -> Claim:
    inner = Member(archive.content(name), home_of(source, archive.members, archive.content, name), name, source)

    known: set[str] = set()

    def beside(other: str) -> Source:
        whole = name[: name.rfind("/") + 1] + other
        known.update(archive.names if not known else ())
        if whole not in known:
            raise FileNotFoundError(2, "No such member", whole)
        return Window(archive.content(whole), f"{source.name}!{whole}")

    inner.beside = beside
    from .wrapped_checks import members, vouched

    wrapper = f"a {archive.kind} archive as {one_line(name, 200)}"
    return Claim(inner, wrapper, list(archive.notes), (partial(members, archive, {name}),), vouched(archive, {name}))


# ------------------------------------------------------------------------------------- checkpoints of several files in an archive


def folder_of(source: Source, archive: Archive, path: str, stem: str = "") -> Claim:
    """The way into a folder of the archive, or to what the names of some files in it begin with."""
    from .wrapped_checks import members, vouched

    inner = Archived(source, archive.members, archive.content, path, stem)
    said = "/".join(step for step in (path, stem) if step)
    wrapper = f"a {archive.kind} archive" + (f" as {one_line(said, 200)}" if said else "")
    held = {name for name in archive.members if not path or name.startswith(f"{path}/")}
    return Claim(inner, wrapper, list(archive.notes), (partial(members, archive, held),), vouched(archive, held))


def folder_named(source: Source, archive: Archive, name: str) -> Claim | None:
    """What ``outer!name`` means where no member has that name: a folder, or the prefix of a checkpoint."""
    if any(one.startswith(f"{name}/") for one in archive.members):
        return folder_of(source, archive, name)
    home, _, stem = name.rpartition("/")
    return folder_of(source, archive, home, stem) if stem in stems(archive, home) else None
