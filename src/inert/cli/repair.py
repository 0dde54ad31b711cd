"""``inert repair``: what is whole in a damaged checkpoint, as a sound one; and what is lost."""

from __future__ import annotations

from ..finding import REPAIRS
from ..ops.holes import FILLS
from ..ops.repair import DOUBTFUL, repair
from ..report.written import repaired
from ..writers import WRITERS
from . import FINDINGS, FINE, tell
from .options import Parser
from .terminal import Progress, write_json, write_lines
from .text import clean, counted, size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from ..finding import Finding
    from ..ops.losses import Lost, Repaired

ABOUT = """Write what is whole in SRC as DST, and say exactly what is lost.

SRC is a file, a folder or the prefix of a TensorFlow checkpoint. It may be cut short, have lost its directory or index, or be damaged \
anywhere: every tensor whose bytes are there is recovered.
DST is written when all of it is known, and replaced if it is there; SRC itself is never changed. \
DST has SRC's format where its suffix may mean that, else the suffix's (or --to).

  inert repair broken.pt fixed.pt
  inert repair broken.ckpt weights.safetensors --json
  inert repair shards/ fixed/

Exit status: 0 everything was recovered, 1 something is lost or in doubt, 2 it could not be done: nothing could be recovered."""
SHOWN = 20


def parser() -> Parser:
    made = Parser("repair", ABOUT, ("src", "dst"), needed=2)
    made.add_argument("--fill", choices=FILLS, help="write lost tensors of known type and shape all the same, filled with these")
    made.add_argument("--to", metavar="FORMAT", choices=[one.id for one in WRITERS], help="the format, where the suffix of DST says none")
    text = "tensors whose bytes do not have their checksum: kept and named (default), or left out"
    made.add_argument("--doubtful", choices=DOUBTFUL, default="keep", help=text)
    made.add_argument("--raw", action="store_true", help="where nothing says what the storages are, write them as bytes")
    made.add_argument("--no-sync", action="store_true", help="do not wait until the file is on the disk")
    return made


def run(options: Namespace) -> int:
    with Progress("writing", 0) as progress:
        done = repair(
            options.src,
            options.dst,
            fill=options.fill,
            to=options.to,
            doubtful=options.doubtful,
            raw=options.raw,
            byteorder=options.byteorder,
            sync=not options.no_sync,
            progress=progress,
        )
    if options.json:
        write_json(repaired(done))
    else:
        write_lines(summary(done))
        findings = list(beside(done))
        for finding in findings[:SHOWN]:
            tell(f"{str(finding).removesuffix(f'; {finding.fix}')}; {REPAIRS.get(finding.code, finding.fix)}")
        if len(findings) > SHOWN:
            tell(f"and {counted(len(findings) - SHOWN, 'more finding')}: see --json")
    return FINE if done.whole else FINDINGS


def beside(done: Repaired) -> Iterator[Finding]:
    """The findings that say more than which tensor is lost and why, which the summary says."""
    told = {(one.name, one.why) for one in done.lost}
    for one in done.findings:
        if not one.tensors or not all((name, one.message) in told for name in one.tensors):
            yield one


def summary(done: Repaired) -> Iterator[str]:
    import os

    for path in done.written:
        yield f"wrote {clean(path)}, {size(os.path.getsize(path))}"
    known = len(done.recovered) + len(done.lost)
    yield f"recovered {counted(len(done.recovered), 'tensor')}" + (f" of {known:,}" if done.lost else "")
    if not done.findings and done.whole:
        yield "nothing was wrong"
    for one in done.lost[:SHOWN]:
        yield f"lost {_named(one)}: {clean(one.why)}"
    if len(done.lost) > SHOWN:
        yield f"lost {counted(len(done.lost) - SHOWN, 'more tensor')}: see --json"
    if done.filled:
        yield f"of these, {counted(len(done.filled), 'tensor')} filled"
    for name, why in list(done.doubtful.items())[:SHOWN]:
        yield f"in doubt {clean(name)}: {clean(why)}"
    if len(done.doubtful) > SHOWN:
        yield f"in doubt {counted(len(done.doubtful) - SHOWN, 'more tensor')}: see --json"
    if done.more:
        yield f"there may have been more: {clean(done.more)}"


def _named(one: Lost) -> str:
    name = clean(one.name) if one.name else "the root"
    if one.dtype is None or one.shape is None:
        return name
    return f"{name} ({one.dtype} {list(one.shape)}{'' if one.nbytes is None else f', {size(one.nbytes)}'})"
