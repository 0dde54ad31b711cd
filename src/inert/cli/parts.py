"""``inert parts``: the records of a file. Decodes no pickle, so that it also answers where a pickle is damaged."""

from __future__ import annotations

from ..errors import InertError
from ..limits import DEFAULT
from ..reading import hold
from ..report.listing import covered
from ..report.records import parts
from ..salvage import readable
from .options import ONE, STATUS, Parser
from .terminal import findings, write_json, write_lines, write_table
from .text import clean, counted, shortened, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator
    from typing import Any

    from ..content import Content
    from ..source import Source

ABOUT = f"""List every record of a file: offset, size, checksum, alignment, role; and what fills the bytes between them.

No pickle is decoded, but where an archive is damaged and only that can tell how long its records are. \
Offsets and sizes are bytes; alignment is the largest power of two that divides the offset.
{ONE}

{STATUS}"""
QUIET = ("header", "padding", "descriptor")  # what every record has: told in columns and in the summary, not in rows of its own


def parser() -> Parser:
    return Parser("parts", ABOUT, ("file",))


def run(options: Namespace) -> int:
    source, members = hold(options.file)
    held: Source | Content = source
    try:
        held = content = readable(source, members, DEFAULT, options.byteorder)
        found = parts(content)
        notes = content.notes()
    except InertError as error:
        error.part = error.part or source.name
        raise
    finally:
        held.close()
    if options.json:
        write_json(found)
    else:
        write_lines([head(found), ""])
        write_table(("name", ">offset", ">size", ">stored", "crc32", ">align", "role"), list(rows(found)))
        write_lines(["", *summary(found)])
    return findings(notes)


def head(found: dict[str, Any]) -> str:
    metadata = found["metadata"]
    said = [f"{found['format']} container, {counted(len(found['parts']), 'record')} in {found['size']:,} bytes"]
    said += [f"{name} {clean(metadata[name], 80)}" for name in ("byteorder", "version") if metadata.get(name)]
    if found["alignment"]:
        there = found["alignment_found"]
        lost = there is not None and there % found["alignment"] and found["alignment"] <= 4096
        said.append(f"alignment {found['alignment']}" + (f", but the storages lie at multiples of {there}" if lost else ""))
    return ", ".join(said)


def rows(found: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """Records in the file's order (of several, one file behind another), with the gaps that have something to tell."""
    short = shortened([part["name"] for part in found["parts"]])
    files = {name: number for number, name in enumerate(dict.fromkeys(part["file"] for part in found["parts"]))}
    places = [(files[part["file"]], part["offset"] if part["offset"] is not None else -1, part) for part in found["parts"]]
    places += [(0, gap["offset"], gap) for gap in found["gaps"] if gap["kind"] not in QUIET]
    for _, _, one in sorted(places, key=lambda place: place[:2]):
        if "role" not in one:
            yield (f"({one['kind']})", str(one["offset"]), str(one["size"]), "", "", "", "")
            continue
        offset = "?" if one["offset"] is None else str(one["offset"])
        crc = "none" if one["crc32"] is None else f"{one['crc32']:08x}"
        stored = "" if one["compressed"] is None else str(one["compressed"])
        yield (
            short.get(one["name"], one["name"]),
            offset,
            str(one["size"]),
            stored,
            crc,
            str(one["alignment"] or ""),
            one["role"] + (", hidden" if "hidden" in one else ""),
        )


def recorded(parts: list[dict[str, Any]]) -> int:
    """Bytes of the files that belong to a record: those of a record within another, as in the files of a set, count once."""
    runs: dict[str, list[tuple[int, int]]] = {}
    total = 0
    for part in parts:
        stored = part["size"] if part["compressed"] is None else part["compressed"]
        if part["offset"] is None:
            total += stored
        else:
            runs.setdefault(part["file"], []).append((part["offset"], part["offset"] + stored))
    return total + sum(map(covered, runs.values()))


def summary(found: dict[str, Any]) -> Iterator[str]:
    """Where the bytes of the file go, and what the container says of itself."""
    total: dict[str, int] = {}
    if found["parts"]:
        total["records"] = recorded(found["parts"])
    for gap in found["gaps"]:
        total[gap["kind"]] = total.get(gap["kind"], 0) + gap["size"]
    yield ", ".join(f"{size(count)} of {kind}{'s' * (kind in ('header', 'descriptor'))}" for kind, count in total.items())
    for name, value in found["metadata"].items():
        if name not in ("byteorder", "version"):
            yield f"{clean(name, 80)} {clean(value)}"
