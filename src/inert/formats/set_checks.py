"""What can be checked of checkpoints in several files: each file by its own format's checks, and what lies between its records.

Knows: how the findings of a shard become those of its set, and the places that an index or a plan gives.
Refuses to know: what each format checks.
"""

from __future__ import annotations

from ..checking import runs_outside
from ..errors import InertError
from ..finding import INFO, Finding
from .sharded_index import unnamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..checking import Inspector
    from ..content import Content


def inside(content: Content, inspector: Inspector, name: str) -> Iterator[Finding]:
    """The findings of a file of a set, under its name there."""
    for check in content.checks():
        try:
            for found in check(content, inspector):
                part = found.where.part
                found.where.part = part if name in part else f"{name}/{part}".rstrip("/")
                yield found
        except InertError as error:
            yield Finding("unreadable", error.message, name, error.offset, inspector.hit(name))


def shards(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Every shard; and the index, which has no checksum."""
    if content.index.name:
        file, size = content.folder.place(content.index.name), content.folder.size_of(content.index.name)
        inspector.note("the index: it fits the shards, but it has no checksum", file, content.index.name, [(0, size)])
        inspector.read(size, 1)
    for shard in content.shards():
        if shard.content is not None and shard.fault is None:
            yield from inside(shard.content, inspector, shard.name)
    for name in unnamed(content.index, content.folder.names(content.limits)):
        yield Finding("shard-unnamed", "its name is that of a shard, and the index does not name it", name)


def deepspeed(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Every file of a ZeRO folder, also those that no tensor is read from."""
    for file in content.files:
        held = content.peek(file)
        if held is None:
            continue
        yield from inside(held, inspector, file.name)
        if held is not file.content:
            held.close()
    if content.home:
        from .deepspeed_files import LATEST

        runs = [(0, content.folder.size_of(LATEST))]
        inspector.note("it says which folder counts, and has no checksum", content.folder.place(LATEST), LATEST, runs)


def dcp(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Every record, which is a file of torch.save; the plan, which has no checksum; and what lies between records."""
    from .plain_checks import PICKLE

    inspector.note(PICKLE, content.file.name, "", [(0, content.file.size)])
    inspector.read(content.file.size, 1)
    held: dict[str, list[tuple[int, int]]] = {}
    places = [(place, name, offsets) for (name, offsets), place in content.plan.places.items() if place.file in content.files]
    seen: set[tuple[str, int, int]] = set()
    for place, name, offsets in sorted(places, key=lambda one: (one[0].file, one[0].offset)):
        key = (place.file, place.offset, place.length)
        runs = held.setdefault(place.file, [])
        if key in seen or (runs and place.offset < runs[-1][1]):
            if key not in seen:
                yield Finding("dcp-record", f"it shares bytes with another record of {place.file[:200]}", name, None, (name,))
            continue
        seen.add(key)
        if place.offset + place.length > content.files[place.file].size:
            yield Finding("dcp-record", f"its record would end beyond {place.file[:200]}", name, place.offset, (name,))
            continue
        runs.append((place.offset, place.offset + place.length))
        yield from _record(content, place, name, offsets, inspector)
    for file, runs in held.items():
        source = content.files[file]
        rest = list(runs_outside(runs, 0, source.size))
        if rest:
            size = sum(length for _, length in rest)
            yield Finding("dcp-stray", f"{size:,} bytes belong to no record of .metadata", file, rest[0][0])
            inspector.note("bytes that no record of .metadata claims", source.name, file, rest)


def _record(content: Any, place: Any, name: str, offsets: Any, inspector: Inspector) -> Iterator[Finding]:
    where = f"{place.file}: {name}[{', '.join(map(str, offsets))}]" if offsets else f"{place.file}: {name}"
    file = content.files[place.file].name
    if place.coded:
        inspector.note(f"a record that is coded: {place.coded}", file, where, [(place.offset, place.length)], (name,))
        return
    try:
        held = content._record(place, name)
        notes = held.notes()
    except InertError as error:
        yield Finding("dcp-record", error.message, where, place.offset + (error.offset or 0), (name,))
        return
    own, before = inspector.within((name,)), len(inspector.tally.unchecked)
    for found in notes:
        if found.severity != INFO:
            yield Finding(found.code, found.message, where, _moved(found.where.offset, place.offset), (name,))
    for check in held.checks():
        for found in check(held, own):
            yield Finding(found.code, found.message, where, _moved(found.where.offset, place.offset), found.tensors)
    for one in inspector.tally.unchecked[before:]:  # as part of the file that the record lies in
        one.file, one.runs = file, [(place.offset + at, size) for at, size in one.runs]


def _moved(offset: int | None, by: int) -> int | None:
    return None if offset is None else offset + by
