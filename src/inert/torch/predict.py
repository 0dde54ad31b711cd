"""Would torch load it?

Knows: which of torch 2.13's readers gets a file, by its format and name, and what each of them answers (saved.py for what torch.save
wrote); what weights_only thinks of pickles by themselves.
Refuses to know: torch itself. Nothing is loaded, imported or called to find out.

Of the machine it is assumed that it has torch 2.13, NumPy and, for files named .safetensors, safetensors 0.8; and that CUDA tensors are
brought to the CPU (``map_location="cpu"``).
"""

from __future__ import annotations

from ..limits import Limits
from .ages import oldest
from .allowed import TORCH, allowed, torch_name
from .answers import listed, loading, no, nowhere, unique, yes
from .imports import imports
from .operators import absent, unknown
from .reader import Reader
from .saved import Legacy, Posing, Zipped
from .versions import VERSIONS, handed, spelled, versions
from .weights import Judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..pickle.decode import Document
    from .answers import Answer

__all__ = ["imports", "loads", "oldest", "weights_only"]

SAFETENSORS = ".safetensors"
# Element types of safetensors that its package makes no torch tensors of.
NO_TENSORS = frozenset(("float6_e2m3fn", "float6_e3m2fn"))
PAIRS = "float4_e2m1fn"  # two values in a byte
# Of the tar layout: what Python reads on with, and the members that torch asks for
PASSED, NEEDED = frozenset(("tar-damaged", "tar-duplicate")), frozenset(("storages", "tensors", "pickle"))
HANDS = "torch.load hands TorchScript archives on to torch.jit.load"


def loads(ckpt: Any) -> dict[str, Answer]:
    """What torch 2.13 does with an opened checkpoint: ``full`` (weights_only=False), ``weights_only`` (True, the default since torch 2.6),
    ``mmap`` (mmap=True, else by default) and ``jit`` (torch.jit.load), each ``{"ok": bool, "why": str}``. A load that would give wrong
    values without a word is not ok.

    ``weights_only`` also has the ``blocked`` names in order, what each version of torch says (``versions``: {"1.13": {"ok", "why"}, …}),
    and ``since``: the first version from which on all take it, "" for none."""
    if ckpt.content.wrappers:
        return nowhere(f"it lies in {', in '.join(reversed(ckpt.content.wrappers))}, which torch does not see through: unpack it first")
    asked = FORMATS.get(ckpt.format, _other)
    return asked(ckpt)


def weights_only(documents: Iterable[Document], limits: Limits | None = None, legacy: bool = False) -> dict[str, Any]:
    """What torch 2.13's weights_only unpickler makes of pickles by themselves, whatever holds them: {"accepts", "blocked": the names it
    refuses, in order, "why", "since", "versions"} as ``loads`` has them. Storages are taken to be there and as long as the pickles say.

    ``legacy``: they are of the layout before 1.6, whose persistent ids have a part more. Rows are not taken apart."""
    documents = list(documents)
    judges = [Judge(document, None, _there, limits or Limits(), legacy=legacy) for document in documents]
    stops = [why for judge in judges for _, why in judge.refusals()]
    stops += [document.fault.message for document in documents if document.fault is not None]
    needs = [need for judge in judges for need in judge.needs()]
    since, said = versions(documents, needs)
    blocked = unique(torch_name(name) for document in documents for name in document.globals if not allowed(name))
    why = stops[0] if stops else f"torch {TORCH}'s weights_only unpickler takes every name and every opcode"
    return {"accepts": not stops, "blocked": blocked, "why": why, "since": since, "versions": said}


def _there(key: str) -> str:
    return ""


# -- by format ----------------------------------------------------------------------------------------------------------------


def _zipped(ckpt: Any) -> dict[str, Answer]:
    return Zipped(ckpt).answers()


def _legacy(ckpt: Any) -> dict[str, Answer]:
    return Legacy(ckpt).answers()


def _pickle(ckpt: Any) -> dict[str, Answer]:
    """A bare pickle: torch reads it for the number that begins the layout before 1.6, and refuses it; a full load has run it by then."""
    documents = list(ckpt.pickles.values())
    if Posing.of(documents):
        return Posing(ckpt).answers()
    made = _other(ckpt)
    if made["weights_only"]["blocked"]:
        made["full"] = no("torch.load reads no pickle files; with weights_only=False it runs what the first pickle names before it says so")
    return made


def _other(ckpt: Any) -> dict[str, Answer]:
    """A format that torch.load does not read."""
    made = nowhere(f"torch.load reads no {ckpt.format} files", f"torch.jit.load reads no {ckpt.format} files")
    names = [name for document in ckpt.pickles.values() for name in document.globals]  # of the files of a set, which it does read
    made["weights_only"]["blocked"] = unique(torch_name(name) for name in names if not allowed(name))
    return made


def _tar(ckpt: Any) -> dict[str, Answer]:
    """The layout before 0.1.10, which torch extracts to a temporary folder."""
    errors = [one for one in ckpt.errors if one.code not in PASSED and (one.code != "tar-refused" or one.where.part in NEEDED)]
    plain = ckpt.content.source.region(0, 0) is not None
    if errors:
        full = no(errors[0].message)
    elif not plain:
        full = no("torch reads the tar layout from files on disk only")
    else:
        full = yes(f"torch {TORCH} loads it with weights_only=False, if it has every class that is named")
    return loading(
        full,
        no(f"torch {TORCH} refuses the tar layout with weights_only=True, its default"),
        no(f"torch {TORCH} maps files of the zip layout only (torch.save since 1.6)"),
        no("it is a file of torch.save, not of torch.jit.save"),
    )


def _script(ckpt: Any) -> dict[str, Answer]:
    """A TorchScript file: torch.load hands archives on to torch.jit.load, which compiles the code in them; that may fail for reasons
    which only the compiler knows."""
    pickles = [name.rpartition("/")[2] for name in ckpt.pickles]
    if "data.pkl" not in pickles:
        if ckpt.metadata.get("container") != "flatbuffer":
            return nowhere(f"torch {TORCH} has no reader for model.json any more")
        flat = no("it is a flatbuffer: torch.load reads zip archives only")
        return loading(flat, flat, flat, yes(f"torch {TORCH} reads flatbuffers of the lite interpreter"))
    if "constants.pkl" not in pickles:
        return nowhere("it holds no constants.pkl: only the lite interpreter reads it")
    with ckpt.content.source.steady():
        reader = Reader(ckpt.content.archive)
        why = f"torch {TORCH} cannot open the file: {reader.closed}" if reader.closed else _compiled(ckpt)
        handing = why or (f"torch {TORCH} cannot open the file: {reader.unlisted}" if reader.unlisted else "")
    only = no(f"{HANDS} with weights_only=False alone; torch {TORCH} refuses its default, True")
    return loading(
        no(handing) if handing else yes(f"{HANDS}, which compiles the code in the file"),
        only,
        no(f"{HANDS}, which maps nothing"),
        no(why) if why else yes(f"torch.jit.load of torch {TORCH} reads it, if it has every operator that the code calls"),
    )


def _compiled(ckpt: Any) -> str:
    """Why torch.jit.load fails on an archive, as far as can be told without compiling it; "" for no reason."""
    stops = unknown(
        {name.rpartition("/")[2]: ckpt.pickles[name] for name in ckpt.pickles if name.endswith(("/data.pkl", "/constants.pkl"))}
    )
    if stops:
        return f"torch {TORCH} stops: {stops}"
    families, damage = absent(ckpt.content.archive, ckpt.content.folder)
    if families:
        return f"its code calls operators of {listed(families)}, which torch {TORCH} does not have: load their libraries first"
    return damage


def _safetensors(ckpt: Any) -> dict[str, Answer]:
    """torch.load goes by the name, and then leaves everything to the package: its options do not count."""
    path = ckpt.content.source.region(0, 0)
    jit = no("torch.jit.load reads no safetensors files")
    if path is None or not path[0].endswith(SAFETENSORS):
        name = no(f"torch.load reads safetensors only from files whose names end in {SAFETENSORS}")
        return loading(name, name, name, jit)
    errors = [note for note in ckpt.errors if note not in ckpt.content.let_pass]
    lacking = unique(str(tensor.dtype) for tensor in ckpt.tensors.values() if str(tensor.dtype) in NO_TENSORS)
    halves = next((name for name, held in ckpt.tensors.items() if held.dtype == PAIRS and (held.shape or (1,))[-1] % 2), None)
    if errors:
        answer = no(f"torch {TORCH} hands it to the package safetensors, which refuses it: {errors[0].message}")
    elif halves is not None:
        answer = no(f"torch {TORCH} hands it to the package safetensors, which makes no float4 of an odd last size: {halves!r}")
    elif lacking:
        answer = no(f"torch {TORCH} hands it to the package safetensors, which makes no tensors of {listed(lacking)}")
    else:
        answer = yes(f"torch {TORCH} hands files named {SAFETENSORS} to the package safetensors, which must be installed")
    older = no("torch before 2.13 reads no safetensors files")
    more = handed({spelled(version): older for version in VERSIONS}, answer)
    return loading(answer, {**answer, **more}, answer, jit)


FORMATS: dict[str, Callable[[Any], dict[str, Answer]]] = {
    "torch-zip": _zipped, "torch-legacy": _legacy, "torch-tar": _tar, "torchscript": _script, "safetensors": _safetensors,
    "pickle": _pickle,
}  # fmt: skip
