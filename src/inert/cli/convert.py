"""``inert convert``: a checkpoint in another format, or the same one with changes."""

from __future__ import annotations

from ..errors import InertError
from ..ops.convert import convert
from ..writers import WRITERS
from . import tell
from .options import Parser
from .terminal import Progress, findings, write_json, write_lines
from .text import clean, counted, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from ..ops.convert import Converted

ABOUT = """Write SRC as DST: in the format of its suffix (or --to), and changed only where asked.

Within one format, what nothing asks to change keeps its bytes; without changes the file is copied. DST may be SRC: it is replaced when
the new file is complete, and untouched if anything goes wrong before.

  inert convert model.ckpt weights.safetensors --root state_dict
  inert convert last.ckpt small.ckpt --drop optimizer_states --rename '^state_dict\\.model\\.=state_dict.'"""
SHOWN = 8


def parser() -> Parser:
    made = Parser("convert", ABOUT, ("src", "dst"), needed=2)
    made.add_argument("--to", metavar="FORMAT", choices=[one.id for one in WRITERS], help="the format, where the suffix of DST says none")
    made.add_argument("--root", metavar="PATH", help="only what stands at this dotted path, such as state_dict")
    made.add_argument("--keep", metavar="PATTERN", action="append", default=[], help="only what fits: a name, what it lies in, or a glob")
    made.add_argument("--drop", metavar="PATTERN", action="append", default=[], help="without what fits, such as optimizer_states")
    made.add_argument("--rename", metavar="REGEX=TEXT", action="append", default=[], help="in tensor names, TEXT for each match of REGEX")
    made.add_argument("--protocol", type=int, choices=(2, 3, 4, 5), default=2, help="of the pickle that is written anew (default: 2)")
    made.add_argument("--alignment", metavar="BYTES", type=int, default=64, help="of the records in a new archive (default: 64)")
    made.add_argument("--no-sync", action="store_true", help="do not wait until the file is on the disk")
    return made


def run(options: Namespace) -> int:
    with Progress("writing", 0) as progress:
        done = convert(
            options.src,
            options.dst,
            to=options.to,
            root=options.root,
            keep=options.keep,
            drop=options.drop,
            rename=[rule(text) for text in options.rename],
            protocol=options.protocol,
            alignment=options.alignment,
            byteorder=options.byteorder,
            sync=not options.no_sync,
            progress=progress,
        )
    if options.json:
        write_json(told(done))
    else:
        write_lines(summary(done))
    for name, why in done.lost[:SHOWN]:
        tell(f"not kept: {name or 'the root'}: {why}")
    if len(done.lost) > SHOWN:
        tell(f"and {counted(len(done.lost) - SHOWN, 'more value')}: see --json")
    return findings(done.notes)


def rule(text: str) -> tuple[str, str]:
    """REGEX=TEXT; the last = divides, since names hold none."""
    pattern, sign, put = text.rpartition("=")
    if not sign or not pattern:
        raise InertError(f"--rename {text!r} is not of the form REGEX=TEXT", hint="such as '^model\\.='")
    return pattern, put


def told(done: Converted) -> dict[str, object]:
    return {
        "written": done.written,
        "lost": [{"name": name, "why": why} for name, why in done.lost],
        "dropped": done.dropped,
        "renamed": done.renamed,
        "notes": [{"code": note.code, "severity": note.severity, "message": note.message, "where": str(note.where)} for note in done.notes],
    }


def summary(done: Converted) -> Iterator[str]:
    import os

    for path in done.written:
        yield f"wrote {clean(path)}, {size(os.path.getsize(path))}"
    if done.dropped:
        yield f"left out {_few(done.dropped)}"
    if done.renamed:
        first = next(iter(done.renamed.items()))
        yield f"renamed {counted(len(done.renamed), 'tensor')}, such as {clean(first[0])} to {clean(first[1])}"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(clean(name) for name in names[:SHOWN]) + more
