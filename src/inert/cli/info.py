"""``inert info``: what a file is as a whole."""

from __future__ import annotations

from ..reading import open
from ..report.about import info
from . import FINDINGS, FINE
from .options import Parser
from .terminal import write_json, write_lines
from .text import clean, counted, outline, size, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from typing import Any

ABOUT = """Say what a file is: container, writer, byte order, sizes, hyper-parameters; whether torch would load it, and why not.

No tensor data is read."""
LOADERS = {
    "full": "torch.load(weights_only=False)",
    "weights_only": "torch.load(weights_only=True)",
    "mmap": "torch.load(mmap=True)",
    "jit": "torch.jit.load",
}
NOTES = 30  # that are shown; --json has them all
KEYS = 20  # sections that are shown
NAMES = 30  # refused names that are shown
LINES = 100  # of hyper-parameters or facts that are shown


def parser() -> Parser:
    return Parser("info", ABOUT, ("file",))


def run(options: Namespace) -> int:
    with open(options.file, byteorder=options.byteorder) as ckpt:
        found = info(ckpt)
    if options.json:
        write_json(found)
    else:
        write_lines(page(found))
    return FINDINGS if any(note["severity"] == "error" for note in found["notes"]) else FINE


def page(found: dict[str, Any]) -> Iterator[str]:
    yield clean(found["sentence"], 600)
    for part in (general, loading, sections, facts, hyper_parameters, metadata, notes):
        lines = list(part(found))
        if lines:
            yield ""
            yield from lines


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table without its head."""
    yield from list(table(("",) * len(rows[0]), rows))[1:] if rows else ()


def general(found: dict[str, Any]) -> Iterator[str]:
    dtypes = ", ".join(f"{clean(one['dtype'])} {size(one['nbytes'])}" for one in found["dtypes"][:6])
    rows = [
        ("file", f"{found['file']}, {size(found['size'])}"),
        ("format", f"{found['format']}, compression {found['compression']}, {found['dimension_order']}"),
        ("profile", found["profile"]),
        ("byte order", found["byteorder"]),
        ("tensors", f"{counted(found['count'], 'tensor')}, {size(found['nbytes'])}{dtypes and f': {dtypes}'}"),
        ("storages", f"{counted(found['storages'], 'storage')}, {used(found)}"),
        ("safe?", safety(found)) if found["scan"] else ("loading", risk(found)),
    ]
    yield from _columns(rows)
    for lack in found["missing"]:
        yield f"missing     {clean(str(lack))}"


def used(found: dict[str, Any]) -> str:
    held = size(found["storage_nbytes"])
    return held if found["used_nbytes"] == found["storage_nbytes"] else f"the tensors use {size(found['used_nbytes'])} of {held}"


def safety(found: dict[str, Any]) -> str:
    return f"{found['scan']['verdict']}: {clean(found['scan']['summary'], 300)}"


def risk(found: dict[str, Any]) -> str:
    """What a load would run, said of this file rather than of its format."""
    if not found["loader_executes_code"]:
        return "the format holds data only"
    blocked = found["loads"]["weights_only"]["blocked"]
    if not blocked:
        return "a pickle, of names that torch itself takes for safe"
    return f"a full load runs what the file names: {', '.join(clean(str(name)) for name in blocked[:6])}{' …' if len(blocked) > 6 else ''}"


def loading(found: dict[str, Any]) -> Iterator[str]:
    yield "would it load?"
    if found["read_by"] and not any(said["ok"] for said in found["loads"].values()):  # five rows would say the same
        yield f"  torch.load and torch.jit.load read no {found['format']} files: {found['read_by']}"
        return
    rows = []
    for key, call in LOADERS.items():
        said = found["loads"].get(key)
        if said:
            why = str(said.get("why", ""))
            rows.append((f"  {call}", "yes" if said["ok"] else "no", why))
            rows += [("", "", str(name)) for name in said.get("blocked", [])[:NAMES] if str(name) not in why]
            rows += [("", "", text) for text in versions(said.get("versions", {}))]
    oldest = found["oldest"]
    rows.append(("  oldest torch that reads it", str(oldest.get("torch") or "none"), str(oldest.get("why", ""))))
    if found["read_by"]:
        rows.append(("  without torch.load", "yes", found["read_by"]))
    yield from _columns(rows)


def versions(said: dict[str, Any]) -> Iterator[str]:
    """Which versions of torch take it with weights_only=True, and why the newest of the others does not; nothing where none does."""
    runs: list[list[str]] = []
    stops = ""
    before = False
    for version, answer in said.items():
        if answer["ok"]:
            runs[-1:] = [[*runs[-1], version]] if before else [*runs[-1:], [version]]
        else:
            stops = f"; torch {version} stops: {answer['why']}"
        before = answer["ok"]
    if runs:
        taken = ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
        yield f"by version: taken by torch {taken}{stops}"


def sections(found: dict[str, Any]) -> Iterator[str]:
    """Keys with tensors, the largest first where they are many; the names of the others."""
    held = [one for one in found["sections"] if one["tensors"]]
    bare = [clean(one["key"], 80) for one in found["sections"] if not one["tensors"]]
    if len(held) > KEYS:
        held.sort(key=lambda one: -int(one["nbytes"]))
    if held or bare:
        yield "sections"
    yield from _columns([(f"  {one['key']}", counted(one["tensors"], "tensor"), size(one["nbytes"])) for one in held[:KEYS]])
    if len(held) > KEYS:
        yield f"  … {len(held) - KEYS:,} more"
    if bare:
        more = f" … {len(bare) - KEYS:,} more" if len(bare) > KEYS else ""
        yield f"  without tensors: {', '.join(bare[:KEYS])}{more}"


def facts(found: dict[str, Any]) -> Iterator[str]:
    if found["facts"]:
        yield from _cut(outline(found["facts"], cut=True))


def hyper_parameters(found: dict[str, Any]) -> Iterator[str]:
    if "hyper_parameters" in found:
        yield "hyper-parameters"
        yield from _cut(outline(found["hyper_parameters"], 1, cut=True))


def metadata(found: dict[str, Any]) -> Iterator[str]:
    if found["metadata"]:
        yield "metadata"
        yield from _columns([(f"  {name}", value) for name, value in found["metadata"].items()])


def notes(found: dict[str, Any]) -> Iterator[str]:
    if not found["notes"]:
        return
    yield "notes"
    for note in found["notes"][:NOTES]:
        where = note["where"]["part"] + ("" if note["where"]["offset"] is None else f" at byte {note['where']['offset']:,}")
        yield clean(f"  {note['severity']}: {where}{where and ': '}{note['message']}; {note['fix']}", 600)
    if len(found["notes"]) > NOTES:
        yield f"  … {len(found['notes']) - NOTES:,} more; --json has them all"


def _cut(lines: Iterator[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if number == LINES:
            yield "  … more: --json has it all"
            return
        yield line
