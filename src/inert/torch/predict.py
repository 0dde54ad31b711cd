"""Would torch load it, and which is the oldest that would?

Knows: how to put together what torch 2.13's zip reader says of the archive (reader.py) and its unpicklers of the pickle (weights.py); which
names a full load can import; the first torch that reads what a file holds.
Refuses to know: torch itself. Nothing is loaded, imported or called to find out.

Of the machine it is assumed that it has torch 2.13 and NumPy, and that CUDA tensors are brought to the CPU (``map_location="cpu"``).
"""

from __future__ import annotations

import builtins
import collections
import sys
from functools import partial

from ..errors import InertError, one_line
from ..pickle.decode import decode
from ..pickle.nodes import Call, Dict
from ..pickle.row import Row
from . import allowed as table
from .allowed import TORCH, allowed, torch_name
from .reader import Reader
from .rebuild import text
from .weights import MEMO, Judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..pickle.decode import Document
    from ..pickle.nodes import Global

AVAILABLE = frozenset(("torch", "numpy"))  # besides Python's own modules
SHOWN = 6  # names in one sentence
_LOOKED_UP = {"builtins": dir(builtins), "collections": dir(collections)}  # modules that are here anyway, and in most files


def loads(ckpt: Any) -> dict[str, dict[str, Any]]:
    """What torch 2.13 does with an opened checkpoint: ``full`` (weights_only=False), ``weights_only`` (True, the default since torch 2.6,
    with the ``blocked`` names in order), ``mmap`` (mmap=True, else by default) and ``jit`` (torch.jit.load), each
    ``{"ok": bool, "why": str}``. ``mmap`` is not ok where torch would give wrong values without a word."""
    if ckpt.format == "torch-zip":
        return _Zip(ckpt).answers()
    if ckpt.format == "torchscript":
        return _script(ckpt)
    no = _no(f"torch.load reads no {ckpt.format} files")
    return {"full": no, "weights_only": {**no, "blocked": []}, "mmap": no, "jit": _no(f"torch.jit.load reads no {ckpt.format} files")}


def _script(ckpt: Any) -> dict[str, dict[str, Any]]:
    """A TorchScript file: torch.load hands archives on to torch.jit.load, which compiles the code in them; that may fail for reasons
    (operators that are not installed) which only the compiler knows."""
    pickles = [name.rpartition("/")[2] for name in ckpt.pickles]
    if "data.pkl" not in pickles:
        flat = ckpt.metadata.get("container") == "flatbuffer"
        why = "it is a flatbuffer: torch.load reads zip archives only" if flat else f"torch {TORCH} has no reader for model.json any more"
        jit = _yes(f"torch {TORCH} reads flatbuffers of the lite interpreter") if flat else _no(why)
        return {"full": _no(why), "weights_only": {**_no(why), "blocked": []}, "mmap": _no(why), "jit": jit}
    if "constants.pkl" not in pickles:
        why = "it holds no constants.pkl: only the lite interpreter reads it"
        return {"full": _no(why), "weights_only": {**_no(why), "blocked": []}, "mmap": _no(why), "jit": _no(why)}
    hands = "torch.load hands TorchScript archives on to torch.jit.load"
    only = _no(f"{hands} with weights_only=False alone; torch {TORCH} refuses its default, True")
    return {
        "full": _yes(f"{hands}, which compiles the code in the file"),
        "weights_only": {**only, "blocked": []},
        "mmap": _no(f"{hands}, which maps nothing"),
        "jit": _yes(f"torch.jit.load of torch {TORCH} reads it, if it has every operator that the code calls"),
    }


class _Zip:
    """The answers for one torch-zip file."""

    def __init__(self, ckpt: Any) -> None:
        self.content = ckpt.content
        self.limits = self.content.limits
        self.path = self.content.source.region(0, 0)
        self.reader = Reader(self.content.archive)
        self.fault = self._renamed() or self.reader.fault
        (self.document,) = ckpt.pickles.values()
        if not self.fault:
            self._other_pickle()

    def _renamed(self) -> str:
        if self.path is not None and self.path[0].endswith(".safetensors"):
            return "its name ends in .safetensors, so torch.load hands it to the safetensors reader; rename it"
        return ""

    def _other_pickle(self) -> None:
        """Of several members called data.pkl, judge the one that torch gets."""
        found, archive = self.reader.find("data.pkl"), self.content.archive
        if found is None or found.offset == archive.members[f"{self.content.folder}data.pkl"].offset:
            return
        try:
            document = decode(archive.pickle(found).read(), found.name, self.limits)
        except InertError as error:
            self.fault = f"torch reads another data.pkl than inert, and that one is damaged: {error.message}"
            return
        self.document = document
        if document.fault is not None:
            self.fault = f"torch reads another data.pkl than inert, and that one is damaged: {document.fault.message}"

    def answers(self) -> dict[str, dict[str, Any]]:
        blocked = _unique(torch_name(name) for name in self.document.globals if not allowed(name))
        jit = _no("it is a file of torch.save, not of torch.jit.save: it holds no code and no constants.pkl")
        if self.fault:
            no = _no(f"torch {TORCH} cannot open the file: {self.fault}")
            return {"full": no, "weights_only": {**no, "blocked": blocked}, "mmap": no, "jit": jit}
        self.refusals = self._judge()
        return {
            "full": self._full(blocked),
            "weights_only": {**self._weights_only(blocked), "blocked": blocked},
            "mmap": self._mmap(blocked),
            "jit": jit,
        }

    def _judge(self, full: bool = False, mapped: bool = False) -> list[tuple[int, str]]:
        judge = Judge(self.document, self._size, partial(self._trouble, mapped=mapped), self.limits, full, mapped)
        refusals = judge.refusals()
        self.tags = [tag for tag in judge.tags if tag != "cpu"]
        return refusals

    def _elsewhere(self) -> str:
        """A hint where tensors were saved from other devices, which the reading machine may not have."""
        return f'; saved from {_list(self.tags)}: where that is missing, give map_location="cpu"' if self.tags else ""

    def _size(self, key: str) -> int | None:
        return self.reader.size(f"data/{key}")

    def _trouble(self, key: str, mapped: bool) -> str:
        return self.reader.trouble(f"data/{key}", mapped)

    def _weights_only(self, blocked: list[str]) -> dict[str, Any]:
        if not self.refusals:
            return _yes(f"torch {TORCH} loads it with weights_only=True, its default{self._elsewhere()}")
        if blocked:
            return _no(f"torch {TORCH} refuses {_count(blocked, 'name')}: {_list(blocked)}{_imports(blocked)}")
        return _no(f"torch {TORCH}'s weights_only unpickler stops: {self.refusals[0][1]}")

    def _mmap(self, blocked: list[str]) -> dict[str, Any]:
        if self.path is None:
            return _no("mmap=True wants the path of a file; this was opened from a stream")
        # what can be read can be mapped, unless it is deflated
        refusals = self._judge(mapped=True) if self.refusals or self.reader.deflated else []
        if not refusals:
            return _yes(f"torch {TORCH} maps the storages from the file{self._elsewhere()}")
        if not blocked:
            return _no(f"torch {TORCH} with mmap=True: {refusals[0][1]}")
        also = "; with weights_only=False it could map them" if not self._judge(full=True, mapped=True) else ""
        return _no(f"weights_only=True, which is the default, refuses {_list(blocked)}{also}")

    def _full(self, blocked: list[str]) -> dict[str, Any]:
        needed, gone = imports(self.document.globals)
        if needed:
            return _no(f"needs {_list(needed)}, and then runs what the file names")
        if gone:
            return _no(f"torch {TORCH} lacks {_list(gone)}")
        # what weights_only takes, Python's own unpickler takes too, as a rule
        doubtful = self.refusals or self.document.top > MEMO or any(map(_doubtful, calls(self.document)))
        refusals = self._judge(full=True) if doubtful else []
        if refusals:
            return _no(f"torch {TORCH} stops: {refusals[0][1]}")
        runs = f", and runs what the file names: {_list(blocked)}" if blocked else ""
        return _yes(f"torch {TORCH} loads it with weights_only=False{runs}{self._elsewhere()}")


def _yes(why: str) -> dict[str, Any]:
    return {"ok": True, "why": one_line(why)}


def _no(why: str) -> dict[str, Any]:
    return {"ok": False, "why": one_line(why)}


def _unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _count(names: list[str], what: str) -> str:
    return f"{len(names)} {what}{'s' * (len(names) != 1)}"


def _list(names: list[str]) -> str:
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def _imports(blocked: list[str]) -> str:
    """A hint where importing a module of torch's is all it takes."""
    modules = _unique(table.LATER[name] for name in blocked if name in table.LATER)
    return f"; import {', '.join(modules)} first" if modules and all(name in table.LATER for name in blocked) else ""


def imports(names: Iterable[Global]) -> tuple[list[str], list[str]]:
    """(what a full load needs besides torch, NumPy and Python: "the module models.yolo"; names that torch 2.13 or Python lacks)."""
    needed: list[str] = []
    gone: list[str] = []
    for name in names:
        dotted = name.dotted
        module = dotted.removesuffix(f".{name.name}")
        top = module.partition(".")[0]
        if name.how == "EXT":
            continue
        if module == "__main__":
            needed.append(f"the class {name.name} of the script that saved it (__main__)")
        elif top not in AVAILABLE and top not in sys.stdlib_module_names:
            needed.append(f"the module {module}")
        elif dotted in table.GONE or dotted in table.CHANGED:
            gone.append(f"{dotted} ({table.GONE.get(dotted) or table.CHANGED[dotted]})")
        elif any(module == old or module.startswith(f"{old}.") for old in table.GONE_MODULES):
            gone.append(f"{dotted} ({next(why for old, why in table.GONE_MODULES.items() if module.startswith(old))})")
        elif module in _LOOKED_UP and dotted.rpartition(".")[2] not in _LOOKED_UP[module]:
            gone.append(f"{dotted} (Python has no such name)")
    return _unique(needed), _unique(gone)


# -- the oldest torch that reads it ------------------------------------------------------------------------------------------


def oldest(ckpt: Any) -> dict[str, str]:
    """``{"torch": "1.5", "why": …}``: the first version of torch that reads what the file holds, by a full load, and what makes it so."""
    if ckpt.format != "torch-zip":
        script = "which version reads it depends on the operators that its code calls"
        return {"torch": "", "why": script if ckpt.format == "torchscript" else f"torch.load reads no {ckpt.format} files"}
    (document,) = ckpt.pickles.values()
    content = ckpt.content
    found = [(table.OLDEST, "the zip layout with data/ records")]
    if content.data.endswith("tensors/"):
        return {"torch": "1.4", "why": "only torch 1.4 reads the zip layout with tensors/ records"}
    found += _container(ckpt)
    for name in document.globals:
        if name.dotted in table.FIRST:
            found.append((table.FIRST[name.dotted], name.dotted))
        else:
            prefix = next((prefix for prefix in table.FIRST_MODULES if name.dotted.startswith(f"{prefix}.")), None)
            if prefix:
                found.append((table.FIRST_MODULES[prefix], prefix))
    found += _arguments(document)
    version, why = max(found, key=lambda pair: pair[0])
    since = ".".join(map(str, version))
    also = (
        "; besides, NumPy 1.26 or newer (numpy._core)" if any(name.dotted.startswith("numpy._core.") for name in document.globals) else ""
    )
    return {"torch": since, "why": one_line(f"read since torch {since}: {why}{also}")}


def _container(ckpt: Any) -> list[tuple[tuple[int, int], str]]:
    found = []
    said = ckpt.metadata.get("version", "3")
    number = int(said) if said.isdigit() and len(said) < 4 else 3
    first = next((first for most, first in table.VERSIONS.items() if number <= most), None)
    if first:
        found.append((first, f"version {number} of the archive format"))
    if ckpt.content.order == "big":
        found.append((table.BYTESWAP, "big-endian data"))
    return found


def _doubtful(call: Call) -> bool:
    """Whether Python's unpickler may see a call otherwise than that of weights_only: arguments that are no tuple, BUILD on the unusual."""
    if type(call.arguments) is not tuple or call.how == "BUILD":
        return True
    return bool(call.states) and not (call.dotted == "collections.OrderedDict" and all(type(state) is Dict for state in call.states))


def calls(document: Document) -> Iterator[Call]:
    """The calls that are no Rows, which are all alike."""
    for node in document.rows:
        if isinstance(node, Call) and type(node) is not Row:
            yield node


def _arguments(document: Document) -> list[tuple[tuple[int, int], str]]:
    """Arguments that older rebuild functions do not take."""
    found = []
    for call in calls(document):
        arguments = call.arguments if type(call.arguments) is tuple else ()
        if call.dotted == "torch._utils._rebuild_tensor_v2" and len(arguments) == 7:
            found.append((table.METADATA, "a tensor's metadata (conjugate or negative bit)"))
        elif call.dotted == "torch._utils._rebuild_sparse_tensor" and len(arguments) == 2:
            layout, data = arguments
            said = layout.arguments if isinstance(layout, Call) else None
            name = text(said[0]) if type(said) is tuple and said else ""
            if name != "torch.sparse_coo":
                found.append((table.COMPRESSED, f"the layout {name}"))
            elif type(data) is tuple and len(data) == 4:
                found.append((table.COALESCED, "a sparse tensor's mark of being coalesced"))
    return found
