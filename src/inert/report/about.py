"""What a checkpoint is: what ``inert info`` shows, and the sentence that begins every listing.

Knows: which facts describe a checkpoint as a whole, and where each comes from.
Refuses to know: what a profile's keys mean (profiles.py) and what torch would do with the file (torch/predict.py).
"""

from __future__ import annotations

from ..containers.folder import Folder
from ..finding import ERROR, INFO, WARNING
from ..words import counted
from .listing import notes, totals
from .plain import TEXT, plain, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..checkpoint import Checkpoint
    from ..finding import Finding

# Formats whose usual loader reads numbers and texts only; that of every other one is a pickle's, which runs what the file names.
DATA_ONLY = frozenset(("safetensors", "tf-bundle", "tf-v1"))
READERS = {  # what reads the formats that torch.load does not
    "safetensors": "safetensors.torch.load_file does",
    "sharded": "from_pretrained of transformers or diffusers reads the set",
    "torch-dcp": "torch.distributed.checkpoint.load does",
    "torch-export": "torch.export.load does",
    "torch-package": "torch.package.PackageImporter does",
    "deepspeed": "load_checkpoint of a DeepSpeed engine does, and runs what the files name",
    "tf-bundle": "tf.train.load_checkpoint of TensorFlow does",
    "tf-v1": "tf.train.load_checkpoint of TensorFlow does",
    "pickle": "pickle.load does (joblib.load where joblib wrote it), and runs what the file names",
}
SCANNED = frozenset(("torch-zip", "torch-legacy", "torch-tar", "torchscript", "torch-package", "torch-export", "pickle"))
UNPACKED = "they read the archive that it was unpacked from"
BLOCKED = 10_000  # names that a load refuses
NODES = 10_000  # values of hyper-parameters, and of all facts together


def info(ckpt: Checkpoint) -> dict[str, Any]:
    """Everything that is to be said of the file as a whole; the values are plain. Reads no tensor data."""
    with ckpt.content.source.steady():
        return _info(ckpt)


def _info(ckpt: Checkpoint) -> dict[str, Any]:
    from ..profiles import describe
    from ..torch.predict import loads, oldest

    said = describe(ckpt)
    tensors = list(ckpt.tensors.values())
    made: dict[str, Any] = {
        "file": printable(ckpt.content.source.name),
        "size": ckpt.content.source.size,
        "format": ckpt.format,
        "profile": said["profile"],
        "sentence": printable(sentence(ckpt, said)),
        "byteorder": byteorder(ckpt),
        "compression": compression(ckpt),
        "dimension_order": "row major",
        "loader_executes_code": not getattr(ckpt.content, "formats", {ckpt.format}) <= DATA_ONLY,
        "loads": plain(_bounded(loads(ckpt))),
        "oldest": plain(oldest(ckpt)),
        "read_by": reader(ckpt),
        "scan": safety(ckpt),
        "metadata": {printable(key): printable(value) for key, value in ckpt.metadata.items()},
        **totals(tensors),
        "dtypes": _dtypes(tensors),
        "sections": [{**one, "key": printable(one["key"][:TEXT])} for one in said.get("sections", [])],  # whole: their numbers add up
        "facts": plain(said.get("facts", {}), nodes=NODES, text=500),
        "missing": plain(said.get("missing", [])),
    }
    if "hyper_parameters" in said:
        made["hyper_parameters"] = plain(said["hyper_parameters"], nodes=NODES)
    made["notes"] = notes(ckpt.notes)
    return made


def _bounded(answers: dict[str, Any]) -> dict[str, Any]:
    """The answers, with so many of the blocked names that these leave room for what else is said."""
    for answer in answers.values():
        blocked = answer.get("blocked", [])
        if len(blocked) > BLOCKED:
            answer["blocked"] = [*blocked[:BLOCKED], f"and {len(blocked) - BLOCKED:,} more"]
    return answers


def safety(ckpt: Checkpoint) -> dict[str, str] | None:
    """Whether loading the file as a pickle is safe: the verdict of a scan, and why. None for what is no pickle, or in several files."""
    if ckpt.format not in SCANNED or isinstance(ckpt.content.source, Folder):
        return None
    from ..ops.scan import scan_source
    from .scan import sentence as why

    found = scan_source(ckpt.content.source)
    return {"verdict": found.verdict, "summary": why(found)}


def reader(ckpt: Checkpoint) -> str:
    """Which program reads a file that torch.load does not; "" where torch.load may."""
    if ckpt.format == "pickle" and getattr(ckpt.content, "archive", None) is not None:
        return UNPACKED
    return "" if ckpt.content.wrappers else READERS.get(ckpt.format, "")


def _dtypes(tensors: Iterable[Any]) -> list[dict[str, Any]]:
    """What there is of each element type, the largest first."""
    found: dict[str, dict[str, Any]] = {}
    for tensor in tensors:
        one = found.setdefault(str(tensor.dtype), {"dtype": str(tensor.dtype), "tensors": 0, "nbytes": 0})
        one["tensors"] += 1
        one["nbytes"] += tensor.nbytes
    return sorted(found.values(), key=lambda one: -one["nbytes"])


def byteorder(ckpt: Checkpoint) -> str:
    """The byte order that is used: the file's, else the caller's, else little."""
    return getattr(ckpt.content, "order", "") or ckpt.metadata.get("byteorder") or "little"


def compression(ckpt: Checkpoint) -> str:
    """Either "none", or how many records are deflated."""
    packed = sum(part.compressed is not None for part in ckpt.parts.values())
    return f"deflate ({packed} of {len(ckpt.parts)} records)" if packed else "none"


def sentence(ckpt: Checkpoint, said: dict[str, Any]) -> str:
    """Kind, container, producer, number of tensors, byte order and health, in one line."""
    count = len(ckpt.tensors)
    what = f"{ckpt.format} checkpoint of {said['sentence']}"
    return f"{what}, {count:,} tensor{'s' * (count != 1)}, {byteorder(ckpt)}-endian, {health(ckpt.notes)}"


DAMAGE = frozenset(("tensor-damaged", "record-missing", "record-size"))  # codes of what a single tensor is refused for


def health(found: Iterable[Finding]) -> str:
    """Either "no notes", or how many there are of each severity, which add up to all of them, and how many tensors they damage."""
    counts = dict.fromkeys((ERROR, WARNING, INFO), 0)
    damaged: set[str] = set()
    for note in found:
        damaged.update(note.tensors if note.code in DAMAGE else ())
        counts[note.severity] += 1
    words = [
        counted(counts[severity], word) for severity, word in ((ERROR, "error"), (WARNING, "warning"), (INFO, "note")) if counts[severity]
    ]
    if damaged:
        words[0] += f" ({counted(len(damaged), 'damaged tensor')})"
    return ", ".join(words) or "no notes"
