"""Would torch load it?

Knows: how to put together what torch 2.13's zip reader says of the archive (reader.py) and its unpicklers of the pickles (weights.py);
which names a full load can import.
Refuses to know: torch itself. Nothing is loaded, imported or called to find out.

Of the machine it is assumed that it has torch 2.13 and NumPy, and that CUDA tensors are brought to the CPU (``map_location="cpu"``).
"""

from __future__ import annotations

import builtins
import collections
import sys
from abc import ABC, abstractmethod
from functools import partial

from ..errors import InertError, one_line
from ..pickle.decode import decode
from ..pickle.nodes import Dict
from . import allowed as table
from .ages import calls, oldest
from .allowed import TORCH, allowed, torch_name
from .reader import Reader
from .weights import HIGHEST, MEMO, Judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ..pickle.decode import Document
    from ..pickle.nodes import Global

__all__ = ["loads", "oldest"]

AVAILABLE = frozenset(("torch", "numpy"))  # besides Python's own modules
SHOWN = 6  # names in one sentence
_LOOKED_UP = {"builtins": dir(builtins), "collections": dir(collections)}  # modules that are here anyway, and in most files


def loads(ckpt: Any) -> dict[str, dict[str, Any]]:
    """What torch 2.13 does with an opened checkpoint: ``full`` (weights_only=False), ``weights_only`` (True, the default since torch 2.6,
    with the ``blocked`` names in order), ``mmap`` (mmap=True, else by default) and ``jit`` (torch.jit.load), each
    ``{"ok": bool, "why": str}``. A load that would give wrong values without a word is not ok."""
    if ckpt.content.wrappers:
        return _nowhere(f"it lies in {', in '.join(reversed(ckpt.content.wrappers))}, which torch does not see through: unpack it first")
    asked = FILES.get(ckpt.format)
    if asked:
        return asked(ckpt).answers()
    if ckpt.format == "torch-tar":
        return _tar(ckpt)
    if ckpt.format == "torchscript":
        return _script(ckpt)
    no = _no(f"torch.load reads no {ckpt.format} files")
    names = [name for document in ckpt.pickles.values() for name in document.globals]  # of the files of a set, which it does read
    blocked = _unique(torch_name(name) for name in names if not allowed(name))
    return {"full": no, "weights_only": {**no, "blocked": blocked}, "mmap": no, "jit": _no(f"torch.jit.load reads no {ckpt.format} files")}


def _nowhere(why: str) -> dict[str, dict[str, Any]]:
    return {"full": _no(why), "weights_only": {**_no(why), "blocked": []}, "mmap": _no(why), "jit": _no(why)}


def _tar(ckpt: Any) -> dict[str, dict[str, Any]]:
    """The layout before 0.1.10, which torch extracts to a temporary folder."""
    made = _nowhere(f"torch {TORCH} maps files of the zip layout only (torch.save since 1.6)")
    errors, plain = ckpt.errors, ckpt.content.source.region(0, 0) is not None
    if errors:
        made["full"] = _no(errors[0].message)
    elif not plain:
        made["full"] = _no("torch reads the tar layout from files on disk only")
    else:
        made["full"] = _yes(f"torch {TORCH} loads it with weights_only=False, if it has every class that is named")
    made["weights_only"] = {**_no(f"torch {TORCH} refuses the tar layout with weights_only=True, its default"), "blocked": []}
    made["jit"] = _no("it is a file of torch.save, not of torch.jit.save")
    return made


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


class _File(ABC):
    """The answers for one file. ``documents``: the pickles that torch reads, that of the object first."""

    documents: list[Document]
    legacy = False

    def __init__(self, ckpt: Any) -> None:
        self.content = ckpt.content
        self.limits = self.content.limits
        self.path = self.content.source.region(0, 0)
        self.fault = ""  # why torch cannot open the file at all
        self.tags: list[str] = []
        if self.path is not None and self.path[0].endswith(".safetensors"):
            self.fault = "its name ends in .safetensors, so torch.load hands it to the safetensors reader; rename it"

    def answers(self) -> dict[str, dict[str, Any]]:
        names = [name for document in self.documents for name in document.globals]
        blocked = _unique(torch_name(name) for name in names if not allowed(name))
        jit = _no("it is a file of torch.save, not of torch.jit.save: it holds no code and no constants.pkl")
        if self.fault:
            no = _no(f"torch {TORCH} cannot open the file: {self.fault}")
            return {"full": no, "weights_only": {**no, "blocked": blocked}, "mmap": no, "jit": jit}
        self.refusals = self._judge()
        return {
            "full": self._full(names, blocked),
            "weights_only": {**self._weights_only(blocked), "blocked": blocked},
            "mmap": self._mmap(blocked),
            "jit": jit,
        }

    def _judge(self, full: bool = False, mapped: bool = False) -> list[tuple[int, str]]:
        found = []
        for document in self.documents:
            judge = Judge(document, self._size, partial(self._trouble, mapped=mapped), self.limits, full, mapped, self.legacy)
            found += judge.refusals()
            self.tags = _unique([*self.tags, *(tag for tag in judge.tags if tag != "cpu")])
        return found

    def _elsewhere(self) -> str:
        """A hint where tensors were saved from other devices, which the reading machine may not have."""
        return f'; saved from {_list(self.tags)}: where that is missing, give map_location="cpu"' if self.tags else ""

    @abstractmethod
    def _size(self, key: str) -> int | None:
        """Bytes of a storage's record as torch sees them; None where it sees none."""

    @abstractmethod
    def _trouble(self, key: str, mapped: bool) -> str:
        """Why torch cannot read a storage's record; "" where it can."""

    def _weights_only(self, blocked: list[str]) -> dict[str, Any]:
        if not self.refusals:
            return _yes(f"torch {TORCH} loads it with weights_only=True, its default{self._elsewhere()}")
        if blocked:
            return _no(f"torch {TORCH} refuses {_count(blocked, 'name')}: {_list(blocked)}{_imports(blocked)}")
        return _no(f"torch {TORCH}'s weights_only unpickler stops: {self.refusals[0][1]}")

    @abstractmethod
    def _mmap(self, blocked: list[str]) -> dict[str, Any]:
        """The answer for mmap=True."""

    def _full(self, names: list[Global], blocked: list[str]) -> dict[str, Any]:
        needed, gone = imports(names)
        if needed:
            return _no(f"needs {_list(needed)}, and then runs what the file names")
        if gone:
            return _no(f"torch {TORCH} lacks {_list(gone)}")
        refusals = self._judge(full=True) if self.refusals or any(map(_doubtful, self.documents)) else []
        if refusals:
            return _no(f"torch {TORCH} stops: {refusals[0][1]}")
        runs = f", and runs what the file names: {_list(blocked)}" if blocked else ""
        return _yes(f"torch {TORCH} loads it with weights_only=False{runs}{self._elsewhere()}")


class _Zip(_File):
    """torch-zip"""

    def __init__(self, ckpt: Any) -> None:
        super().__init__(ckpt)
        self.reader = Reader(self.content.archive)
        self.fault = self.fault or self.reader.fault
        self.documents = list(ckpt.pickles.values())
        if not self.fault:
            self._other_pickle()

    def _other_pickle(self) -> None:
        """Of several members called data.pkl, judge the one that torch gets."""
        found, archive = self.reader.find("data.pkl"), self.content.archive
        if found is None or found.offset == archive.members[f"{self.content.folder}data.pkl"].offset:
            return
        try:
            document = decode(archive.pickle(found).read(), found.name, self.limits)
            if document.fault is not None:
                raise document.fault
            self.documents = [document]
        except InertError as error:
            self.fault = f"torch reads another data.pkl than inert, and that one is damaged: {error.message}"

    def _size(self, key: str) -> int | None:
        return self.reader.size(f"data/{key}")

    def _trouble(self, key: str, mapped: bool) -> str:
        return self.reader.trouble(f"data/{key}", mapped)

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


class _Legacy(_File):
    """torch-legacy: torch reads the first save and nothing behind it."""

    legacy = True

    def __init__(self, ckpt: Any) -> None:
        super().__init__(ckpt)
        self.save = self.content.saves()[0]
        pickles = self.save.pickles
        self.documents = [pickles["object"], *(document for name, document in pickles.items() if name != "object")]
        self.fault = self.fault or self.save.fault

    def _size(self, key: str) -> int | None:
        size: int | None = self.save.size(key)
        return size

    def _trouble(self, key: str, mapped: bool) -> str:
        return "" if self.save.size(key) is not None else "no data follows for it, so torch would leave it as it happens to be"

    def _mmap(self, blocked: list[str]) -> dict[str, Any]:
        return _no(f"torch {TORCH} maps files of the zip layout only (torch.save since 1.6)")


FILES: dict[str, type[_File]] = {"torch-zip": _Zip, "torch-legacy": _Legacy}


def _doubtful(document: Document) -> bool:
    """Whether Python's own unpickler may stop where that of weights_only does not: an unknown protocol, a huge memo, arguments that are no
    tuple, odd states."""
    for call in calls(document):
        plain = call.dotted == "collections.OrderedDict" and all(type(state) is Dict for state in call.states)
        if type(call.arguments) is not tuple or call.how == "BUILD" or (call.states and not plain):
            return True
    return document.top > MEMO or document.protocol > HIGHEST


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
        module, attribute = name.imported
        dotted = f"{module}.{attribute}"
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
        elif module in _LOOKED_UP and attribute not in _LOOKED_UP[module]:
            gone.append(f"{dotted} (Python has no such name)")
    return _unique(needed), _unique(gone)
