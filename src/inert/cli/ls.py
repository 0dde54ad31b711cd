"""``inert ls``: the tensors of a file."""

from __future__ import annotations

import os
from itertools import islice

from ..names import near
from ..reading import open
from ..report.about import sentence
from ..report.listing import SORTS, Rows, ls, nbytes, notes, totals
from . import FAILED, tell
from .options import Parser
from .terminal import Progress, findings, write_json, write_lines, write_table
from .text import CELL, WHOLE, WIDE, clean, counted, middle, shape, shortened, size, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..checkpoint import Checkpoint

ABOUT = """List the tensors of a checkpoint: name, dtype, shape, size.

A PATTERN is a tensor's name, a module's name, or a glob over whole names: 'encoder', '*.bias', 'layers.[0-3].*'."""
SLACK = 20  # storages that hold this fraction more than their tensors use are worth a line
VIEWS = frozenset(("torch-zip", "torch-legacy", "torch-tar", "torchscript", "sharded"))  # formats of what torch.save makes of views
NONE: Mapping[str, str] = {}
LEAVES = 6  # tensors of a module that are named in a tree


def parser() -> Parser:
    made = Parser("ls", ABOUT, ("file",), rest="patterns")
    made.add_argument("--sort", choices=tuple(SORTS), default="", help="largest first, by name, or by dtype (default: as saved)")
    made.add_argument("--hash", action="store_true", help="add the SHA-256 of each tensor's elements")
    made.add_argument("--tree", action="store_true", help="the modules as a tree, with numbers of tensors and sizes")
    made.add_argument("--full", action="store_true", help="long names whole (so they are in --json, and where a PATTERN is the whole name)")
    made.add_argument("--bytes", action="store_true", help="sizes in bytes, exactly")
    return made


def run(options: Namespace) -> int:
    from ..profiles import describe

    with open(options.file, byteorder=options.byteorder) as ckpt, ckpt.content.source.steady():
        with Progress("hashing", sum(map(nbytes, ckpt.tensors.values())) if options.hash else 0) as progress:
            asked = (options.sort, options.hash, options.tree, options.json, lambda tensor: progress(nbytes(tensor)))
            found = ls(ckpt, options.patterns, *asked, late=True)
        everything = totals(ckpt.tensors.values()) if options.patterns else found
        if options.json:
            write_json({**found, "notes": notes(ckpt.notes)})
        elif found["count"] or not options.patterns:
            write_lines([sentence(ckpt, describe(ckpt)), ""])
            if options.tree:
                write_lines(tree(found["tree"], options.bytes, options.full))
            elif found["count"]:
                write_table(TITLES, cells(found["tensors"], options.bytes, options.patterns, options.full), WHOLE)
            write_lines(["", *summary(found, everything, options.bytes, ckpt.format in VIEWS)])
            if ckpt.notes:
                write_lines([clean(f"{counted(len(ckpt.notes), 'note')}: see inert info {options.file}", 600)])
        if options.patterns and not found["count"]:
            findings(ckpt.errors)  # a damaged file may hold it nonetheless
            return nothing(ckpt, options.patterns)
        return findings(ckpt.notes, f"info {options.file}")


def nothing(ckpt: Checkpoint, patterns: list[str]) -> int:
    """Say that no tensor fits, and which may have been meant."""
    asked = " or ".join(map(repr, patterns))
    files = [word for word in patterns if os.path.exists(word)]
    if files:
        tell(f"one file only: {files[0]!r} is another, and no tensor fits {asked}")
        return FAILED
    found = near(patterns[0], ckpt.tensors)
    first = [*islice(ckpt.tensors, 5)]
    if found:
        hint = f"did you mean {' or '.join(map(repr, found))}?"
    else:
        hint = f"there is {', '.join(map(repr, first))}{' …' if len(first) < len(ckpt.tensors) else ''}" if first else "it holds none"
    tell(f"no tensor fits {asked}: {hint}")
    return FAILED


TITLES = ("name", "dtype", "shape", ">size", "sha256", "notes")


def cells(rows: Rows, exact: bool, asked: Sequence[str] = (), full: bool = False) -> Iterator[tuple[str, ...]]:
    """The rows of the table. Tied tensors are said to be equal to the first of their names. Of very long names the middle is left out,
    unless ``full`` or ``asked`` for."""
    short = {} if full else shortened(rows.names)
    for name in asked:
        short.pop(name, None)
    first: dict[str, int] = {}  # by storage, the position of the first row that has it
    for at, row in enumerate(rows):
        owns = first.setdefault(row["storage"], at) if row["storage"] is not None and row["nbytes"] else at
        owner = row if owns == at else rows[owns]
        hashed = row.get("sha256") or ("none" if "sha256" in row else "")
        said = remarks(row, owner, named(owner["name"], short))
        yield (named(row["name"], short), row["dtype"], shape(row["shape"]), size(row["nbytes"], exact), hashed, said)


def named(name: str, short: Mapping[str, str] = NONE) -> str:
    """A name that can be seen: the empty one as two quotes, others as ``short`` has them."""
    return short.get(name, name) or '""'


SAME = ("offset", "shape", "strides", "dtype", "conj", "neg")


def remarks(row: dict[str, Any], owner: dict[str, Any], twin: str) -> str:
    """What is out of the ordinary with a tensor; ``twin``: what its storage's first owner is called."""
    said = [f"damaged: {row['fault']}"] if "fault" in row else []
    if row["kind"] != "dense":
        said.append(row["kind"])
    if "placement" in row:
        said += [f"holds {row['holds']}"] if "holds" in row else []
        said.append(row["placement"])
    if owner is not row:
        same = all(row.get(key) == owner.get(key) for key in SAME)
        said.append(f"= {twin}" if same else f"shares storage with {twin}")
    said += [f"also {named(name)}" for name in row.get("aliases", [])[:LEAVES]]
    if row["device"] not in ("cpu", "meta"):
        said.append(row["device"])
    said += [word for word in ("conj", "neg") if row.get(word)]
    if row.get("sha256_why") and "fault" not in row and "placement" not in row:
        said.append(row["sha256_why"])
    return ", ".join(said)


def summary(found: dict[str, Any], everything: dict[str, Any], exact: bool, views: bool = True) -> Iterator[str]:
    """How many, how large; and where the storages hold much more than the tensors use, how much."""
    part = "" if found["count"] == everything["count"] else f" of {everything['count']:,}"
    count = f"{found['count']:,}{part} tensor{'' if found['count'] == 1 and not part else 's'}"
    amount, held = ((f"{found[key]} B" if exact else size(found[key])) for key in ("nbytes", "storage_nbytes"))
    yield f"{count}, {amount} of tensors in {counted(found['storages'], 'storage')} of {held}"
    spare = everything["storage_nbytes"] - everything["used_nbytes"]
    if spare * SLACK > everything["storage_nbytes"] and spare > 1000:
        used, held = size(everything["used_nbytes"]), size(everything["storage_nbytes"])
        why = ": a saved view keeps its whole storage; clone() views before saving to drop the rest" if views else " of what was saved"
        yield f"uses {used} of {held}{why}"


def tree(root: dict[str, Any], exact: bool, full: bool = False) -> Iterator[str]:
    """Modules, each with what is in it; a module with one child and nothing else shares its line."""
    rows = [("", root)] if root["leaves"] or not root["children"] else []
    rows += list(_branches(root, full))
    found = []
    for lead, node in rows:
        leaves = ", ".join(named(leaf if full else middle(leaf)) for leaf in node["leaves"][:LEAVES]) + (
            " …" if len(node["leaves"]) > LEAVES else ""
        )
        found.append((lead, f"{node['tensors']:,}", size(node["nbytes"], exact), leaves))
    return table(("module", ">tensors", ">size", "its own tensors"), found, WHOLE if full else CELL)


def _branches(root: dict[str, Any], full: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    todo = [(child, "", i == 0, True) for i, child in enumerate(reversed(root["children"]))]
    while todo:
        node, lead, last, top = todo.pop()
        name = named(node["name"])
        while len(node["children"]) == 1 and not node["leaves"]:
            node = node["children"][0]
            name += "." + node["name"]
        begun = "" if top else lead + ("└─ " if last else "├─ ")
        yield begun + (name if full else middle(name, max(WIDE - len(begun), WIDE // 2))), node
        below = "" if top else lead + ("   " if last else "│  ")
        todo += [(child, below, i == 0, False) for i, child in enumerate(reversed(node["children"]))]
