"""``inert convert``: a checkpoint in another format, or the same one with changes."""

from __future__ import annotations

from ..errors import InertError
from ..ops.convert import convert
from ..report.written import converted
from ..writers import LEAVES, SHARED, WRITERS
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

Within one format, what nothing asks to change keeps its bytes; without changes the file is copied. A DST that exists is replaced, \
also where it is SRC: when the new file is complete, and not if anything goes wrong before.
SRC is a file, a folder, the prefix of a TensorFlow checkpoint, or 'ARCHIVE!MEMBER'. A DST that is a folder, or ends in /, gets \
safetensors as Hugging Face has them: model.safetensors, or shards with their index.

  inert convert model.ckpt weights.safetensors --root state_dict
  inert convert last.ckpt small.ckpt --drop optimizer_states --rename '^state_dict\\.model\\.=state_dict.'
  inert convert last.ckpt weights.pt --unwrap --strip --dtype bf16 --dtype '*.norm.*=float32'
  inert convert strange.pt plain.pt --for-weights-only

Exit status: 0 written, 1 written but with errors that are told, 2 it could not be done, and DST is as it was."""
SHOWN = 8
PLACELESS = "values that the format has no place for: lost and listed, in safetensors' metadata, in a JSON file beside it, or an error"
KEEP = "--leaves sidecar keeps the other values in a JSON file beside it, one file of a torch format (no shards) keeps them all"

FLAGS = {
    "--unwrap": "only the state dict, wherever it lies in a training checkpoint",
    "--strip": "without module., model. or _orig_mod. where all names begin so",
    "--dense": "sparse, quantised and replicated tensors as dense ones",
    "--compact": "a storage of its own for each view of a part of one",
    "--for-weights-only": "plain data for whatever torch.load(weights_only=True) refuses",
}
LISTS = {
    "--keep": ("PATTERN", "only what fits: a name, what it lies in, or a glob"),
    "--drop": ("PATTERN", "without what fits, such as optimizer_states"),
    "--rename": ("REGEX=TEXT", "in tensor names, TEXT for each match of REGEX"),
    "--dtype": ("[PATTERN=]TYPE", "cast floating tensors (whose names fit), as tensor.to(TYPE) does; the last that fits counts"),
}


def parser() -> Parser:
    made = Parser("convert", ABOUT, ("src", "dst"), needed=2)
    formats = [one.id for one in WRITERS]
    made.add_argument("--to", metavar="FORMAT", choices=formats, help=f"in this format, whatever the suffix of DST: {', '.join(formats)}")
    made.add_argument("--root", metavar="PATH", help="only what stands at this dotted path, such as state_dict")
    for name, (what, text) in LISTS.items():
        made.add_argument(name, metavar=what, action="append", default=[], help=text)
    for name, text in FLAGS.items():
        made.add_argument(name, action="store_true", help=text)
    made.add_argument("--shared", choices=SHARED, default="alias", help="tensors that share memory: stay so, are copied, are refused")
    made.add_argument("--rebuild", choices=("v2",), help="types that torch before 2.2 lacks as wider ones of the same values")
    made.add_argument("--lightning", metavar="VERSION", help="a state dict as a checkpoint of this version of Lightning, such as 2.6.6")
    made.add_argument("--device", choices=("cpu",), help="as if all tensors had been saved from there")
    made.add_argument("--numpy", type=int, choices=(1, 2), default=0, help="names in the pickle as this NumPy has them")
    made.add_argument("--protocol", type=int, choices=(2, 3, 4, 5), default=2, help="of the pickle that is written anew (default: 2)")
    made.add_argument(
        "--alignment",
        metavar="BYTES",
        type=int,
        default=0,
        help="of the records in a new archive (default: 64), or of TensorFlow's tensors (1)",
    )
    made.add_argument("--max-shard-size", metavar="SIZE", default="0", help="in shards as Hugging Face or TensorFlow has them, such as 5GB")
    made.add_argument(
        "--leaves",
        choices=LEAVES,
        default="lost",
        help=PLACELESS,
    )
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
            unwrap=options.unwrap,
            strip=options.strip,
            rename=[rule(text) for text in options.rename],
            dense=options.dense,
            dtype=options.dtype,
            rebuild=options.rebuild,
            compact=options.compact,
            shared=options.shared,
            for_weights_only=options.for_weights_only,
            lightning=options.lightning,
            device=options.device,
            numpy=options.numpy,
            protocol=options.protocol,
            alignment=options.alignment,
            max_shard_size=options.max_shard_size,
            leaves=options.leaves,
            byteorder=options.byteorder,
            sync=not options.no_sync,
            progress=progress,
        )
    if options.json:
        write_json(converted(done))
    else:
        write_lines(summary(done))
    for name, why in done.lost[:SHOWN]:
        tell(f"not kept: {name or 'the root'}: {why}")
    if len(done.lost) > SHOWN:
        tell(f"and {counted(len(done.lost) - SHOWN, 'more value')}: see --json")
    if done.lost and options.leaves == "lost":
        tell(f"the destination holds tensors only: {KEEP}")
    return findings(done.notes)


def rule(text: str) -> tuple[str, str]:
    """REGEX=TEXT; the last = divides, since names hold none."""
    pattern, sign, put = text.rpartition("=")
    if not sign or not pattern:
        raise InertError(f"--rename {text!r} is not of the form REGEX=TEXT", hint="such as '^model\\.='")
    return pattern, put


def summary(done: Converted) -> Iterator[str]:
    import os

    for path in done.written:
        yield f"wrote {clean(path)}, {size(os.path.getsize(path))}"
    if done.dropped:
        yield f"left out {_few(done.dropped)}"
    if done.renamed:
        first = next(iter(done.renamed.items()))
        yield f"renamed {counted(len(done.renamed), 'tensor')}, such as {clean(first[0])} to {clean(first[1])}"
    kinds: dict[str, int] = {}
    for one in done.cast:
        kind = f"{one['from']} to {one['to']}"
        kinds[kind] = kinds.get(kind, 0) + 1
    for kind, number in kinds.items():
        yield f"cast {counted(number, 'tensor')} from {kind}"
    for change in done.replaced[:SHOWN]:
        yield f"replaced {clean(change.path or 'the root')}: {clean(change.was)} by {clean(change.now)}"
    if len(done.replaced) > SHOWN:
        yield f"replaced {counted(len(done.replaced) - SHOWN, 'more value')}: see --json"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(clean(name) for name in names[:SHOWN]) + more
