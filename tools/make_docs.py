"""Makes what the documents repeat of the code: docs/findings.md, the tables of docs/loading.md and docs/fuzzing.md, and in README.md the
formats, writers and transcripts of commands.

Usage: make_docs.py. Writes the files that are not as they should be and names them. In all but the first only what stands between
``<!-- NAME -->`` and ``<!-- /NAME -->`` is made; without these markers the file is left alone.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import sys
from pathlib import Path

from inert.cli import main as inert_command
from inert.finding import CODES, REPAIRS
from inert.formats import FORMATS
from inert.torch import versions
from inert.writers import WRITERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parent.parent
FINDINGS = """\
<!-- Made by tools/make_docs.py from the table CODES of src/inert/finding.py: change that, then run it. -->

# Findings

What inert notes about a file, by code. An *error* means that something cannot be read, that torch refuses it, or that programs
may see different things in it: `inert` then ends with status 1. A *warning* is worth a look; an *info* is good to know.

"""
REPAIR = """
## Repairs

What `inert repair` does about a fault. Where bytes are missing or damaged, the tensors over them are left out and listed; all else is
mended by writing it anew.

"""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table, one line a row."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)


def findings() -> str:
    return FINDINGS + table(("code", "severity", "what to do next"), ((f"`{code}`", *row) for code, row in CODES.items())) + repairs()


def repairs() -> str:
    return REPAIR + table(("code", "what `inert repair` does about it"), ((f"`{code}`", text) for code, text in REPAIRS.items()))


def formats() -> str:
    return table(("format", "written by"), ((f"`{one.id}`", one.summary) for one in FORMATS))


def writers() -> str:
    rows = ((f"`{one.id}`", " ".join(f"`{suffix}`" for suffix in one.suffixes) or "by name only", one.summary) for one in WRITERS)
    return table(("format", "suffixes", "what is written"), rows)


def loading() -> str:
    """What each version of torch added to the list of weights_only, and what it took off."""
    said: dict[tuple[int, int], list[str]] = {version: [] for version in versions.VERSIONS}
    for name, first in versions.SINCE.items():
        said[first].append(f"`{name}`")
    for name, (first, until) in versions.OTHERS.items():
        if name not in versions.EXCEPTIONS and name not in versions.SINCE:
            said[first].append(f"`{name}`" + (f" (until {versions.spelled(until)})" if until != versions.NEVER else ""))
    for version, what in versions.BESIDES.items():
        said[version].append(what)
    return table(("torch", "takes from then on"), ((versions.spelled(version), ", ".join(what) or "—") for version, what in said.items()))


# name of the markers → the command, and how many lines of its output are shown
TRANSCRIPTS = {
    "transcript:ls": (("ls", "examples/demo.ckpt", "state_dict"), 40),
    "transcript:info": (("info", "examples/demo.ckpt"), 28),
    "transcript:scan": (("scan", "tests/corpus/hostile/dotted.pt"), 20),
    "transcript:verify": (("verify", "tests/corpus/broken/bit_flip.pt"), 28),
}


def targets(root: Path = ROOT) -> str:
    """Each fuzz target, its invariant, and how many executions of it fuzz/executions.tsv counts."""
    counts: dict[str, int] = {}
    for line in (root / "fuzz" / "executions.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        name, count = line.split("\t")
        counts[name] = int(count)
    rows = []
    for path in sorted((root / "fuzz").glob("fuzz_*.py")):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        invariant = " ".join(said.partition("\n\n")[0].split())
        rows.append((f"`{path.stem}`", invariant, f"{counts.get(path.stem, 0):,}"))
    total = f"fuzz: {sum(counts.values()) / 1e6:.1f} million executions in all, as fuzz/executions.tsv counts them.\n\n"
    return total + table(("target", "what it holds", "executions"), rows)


def transcript(arguments: tuple[str, ...], most: int) -> str:
    """A command and what it prints, as a fenced block."""
    out, here = io.StringIO(), Path.cwd()
    os.chdir(ROOT)
    try:
        with contextlib.redirect_stdout(out):
            inert_command(list(arguments))
    finally:
        os.chdir(here)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    shown = lines if len(lines) <= most else [*lines[:most], "…"]
    return "```\n" + "\n".join((f"$ inert {' '.join(arguments)}", *shown)) + "\n```\n"


def between(text: str, name: str, body: str) -> str:
    """``text`` with ``body`` between the markers of this name; as it is where it has none. ValueError where one has no partner."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, begun, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not ended and (begun or end in text):
        raise ValueError(f"of the lines {begin.strip()} and {end} one is missing, or they stand in the wrong order")
    return f"{before}{begin}{body}{end}{after}" if ended else text


def documents(root: Path = ROOT) -> dict[Path, str]:
    """File → the text that it should hold."""
    readme = root / "README.md"
    text = between(readme.read_text(encoding="utf-8"), "formats", formats())
    text = between(text, "writers", writers())
    for name, (arguments, most) in TRANSCRIPTS.items():
        text = between(text, name, transcript(arguments, most))
    loads = root / "docs" / "loading.md"
    about = between(loads.read_text(encoding="utf-8"), "versions", loading()) if loads.exists() else ""
    fuzzing = root / "docs" / "fuzzing.md"
    held = between(fuzzing.read_text(encoding="utf-8"), "targets", targets(root)) if fuzzing.exists() else ""
    made = {root / "docs" / "findings.md": findings(), readme: text, loads: about, fuzzing: held}
    return {file: text for file, text in made.items() if text}


def main(root: Path = ROOT) -> int:
    for file, text in documents(root).items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
            print(f"{file.relative_to(root)} made anew")
    return 0


if __name__ == "__main__":
    sys.exit(main())
