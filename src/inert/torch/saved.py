"""Would torch load what torch.save wrote: a file of the zip layout or of the one before it.

Knows: how to put together what torch 2.13's zip reader says of the archive (reader.py), its unpicklers of the pickles (weights.py), other
versions of them (versions.py), and what a full load imports (imports.py).
Refuses to know: torch itself. Nothing is loaded, imported or called to find out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial

from ..errors import InertError
from ..pickle.decode import decode
from ..pickle.nodes import Dict
from . import allowed as table
from .ages import calls
from .allowed import TORCH, allowed, torch_name
from .answers import counted, listed, loading, no, unique, yes
from .imports import imports
from .legacy import MAGIC, PROTOCOL
from .reader import Reader
from .versions import NEVER, handed, versions
from .weights import HIGHEST, MEMO, Judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..pickle.decode import Document
    from ..pickle.nodes import Global
    from .answers import Answer
    from .versions import Need

RENAME = "its name ends in .safetensors, so torch.load hands it to the safetensors reader; rename it"


class File(ABC):
    """The answers for one file. ``documents``: the pickles that torch reads, that of the object first."""

    documents: list[Document]
    legacy = False

    def __init__(self, ckpt: Any) -> None:
        self.content = ckpt.content
        self.limits = self.content.limits
        self.path = self.content.source.region(0, 0)
        self.fault = ""  # why torch cannot open the file at all
        self.tags: list[str] = []
        self.others: list[Need] = []  # what stops every version of torch, apart from names and opcodes

    def answers(self) -> dict[str, Answer]:
        """All four. Reads the headers of the records; the file is held to be one throughout."""
        with self.content.source.steady():
            return self._answers()

    def _answers(self) -> dict[str, Answer]:
        names = [name for document in self.documents for name in document.globals]
        blocked = unique(torch_name(name) for name in names if not allowed(name))
        jit = no("it is a file of torch.save, not of torch.jit.save: it holds no code and no constants.pkl")
        if self.fault:
            self.others.append((NEVER, NEVER, self.fault))
        else:
            self.refusals = self._judge(first=True)
        since, said = versions(self.documents, self.others, self.order)
        more = {"blocked": blocked, "since": since, "versions": said}
        if self.path is not None and self.path[0].endswith(".safetensors"):
            self.fault = RENAME
            more |= handed(said, no(RENAME))
        if self.fault:
            fault = no(f"torch {TORCH} cannot open the file: {self.fault}")
            return loading(fault, {**fault, **more}, fault, jit)
        return loading(self._full(names, blocked), {**self._weights_only(blocked), **more}, self._mmap(blocked), jit)

    @property
    def order(self) -> str:
        return str(getattr(self.content, "order", "little"))

    def _judge(self, full: bool = False, mapped: bool = False, first: bool = False) -> list[tuple[int, str]]:
        found = []
        for document in self.documents:
            judge = Judge(document, self._size, partial(self._trouble, mapped=mapped), self.limits, full, mapped, self.legacy)
            found += judge.refusals()
            self.tags = unique([*self.tags, *(tag for tag in judge.tags if tag != "cpu")])
            if first:
                self.others += judge.needs()
        return found

    def _elsewhere(self) -> str:
        """A hint where tensors were saved from other devices, which the reading machine may not have."""
        return f'; saved from {listed(self.tags)}: where that is missing, give map_location="cpu"' if self.tags else ""

    @abstractmethod
    def _size(self, key: str) -> int | None:
        """Bytes of a storage's record as torch sees them; None where it sees none."""

    @abstractmethod
    def _trouble(self, key: str, mapped: bool) -> str:
        """Why torch cannot read a storage's record; "" where it can."""

    def _weights_only(self, blocked: list[str]) -> Answer:
        if not self.refusals:
            return yes(f"torch {TORCH} loads it with weights_only=True, its default{self._elsewhere()}")
        if blocked:
            return no(f"torch {TORCH} refuses {counted(blocked, 'name')}: {listed(blocked)}{_import(blocked)}")
        return no(f"torch {TORCH}'s weights_only unpickler stops: {self.refusals[0][1]}")

    @abstractmethod
    def _mmap(self, blocked: list[str]) -> Answer:
        """The answer for mmap=True."""

    def _full(self, names: list[Global], blocked: list[str]) -> Answer:
        needed, gone = imports(names)
        if needed:
            return no(f"needs {listed(needed)}, and then runs what the file names")
        if gone:
            return no(f"torch {TORCH} lacks {listed(gone)}")
        refusals = self._judge(full=True) if self.refusals or any(map(_doubtful, self.documents)) else []
        if refusals:
            return no(f"torch {TORCH} stops: {refusals[0][1]}")
        runs = f", and runs what the file names: {listed(blocked)}" if blocked else ""
        return yes(f"torch {TORCH} loads it with weights_only=False{runs}{self._elsewhere()}")


class Zipped(File):
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

    def _mmap(self, blocked: list[str]) -> Answer:
        if self.path is None:
            return no("mmap=True wants the path of a file; this was opened from a stream")
        # what can be read can be mapped, unless it is deflated
        refusals = self._judge(mapped=True) if self.refusals or self.reader.deflated else []
        if not refusals:
            return yes(f"torch {TORCH} maps the storages from the file{self._elsewhere()}")
        if not blocked:
            return no(f"torch {TORCH} with mmap=True: {refusals[0][1]}")
        also = "; with weights_only=False it could map them" if not self._judge(full=True, mapped=True) else ""
        return no(f"weights_only=True, which is the default, refuses {listed(blocked)}{also}")


class Legacy(File):
    """torch-legacy: torch reads the first save and nothing behind it."""

    legacy = True

    def __init__(self, ckpt: Any) -> None:
        super().__init__(ckpt)
        self.save = self.content.saves()[0]
        pickles = self.save.pickles
        self.documents = [pickles["object"], *(document for name, document in pickles.items() if name != "object")]
        tarred = (
            "torch takes it for a tar archive, by its first 512 bytes, and misses the members of its own" if self.content.tarred else ""
        )
        self.fault = tarred or self.fault or self.save.fault

    def _size(self, key: str) -> int | None:
        size: int | None = self.save.size(key)
        return size

    def _trouble(self, key: str, mapped: bool) -> str:
        return "" if self.save.size(key) is not None else "no data follows for it, so torch would leave it as it happens to be"

    def _mmap(self, blocked: list[str]) -> Answer:
        return no(f"torch {TORCH} maps files of the zip layout only (torch.save since 1.6)")


class Posing(File):
    """A stream of pickles that torch takes for the layout before 1.6 by the values of the first two: the number that tells the layout may
    come out of a pickle that does more than say it. Of storages nothing is known."""

    legacy = True

    def __init__(self, ckpt: Any) -> None:
        super().__init__(ckpt)
        documents = list(ckpt.pickles.values())
        self.documents = [documents[3], *documents[:3], *documents[4:5]]  # the object first

    @staticmethod
    def of(documents: list[Document]) -> bool:
        """Whether these pickles begin as those of a legacy file."""
        return len(documents) >= 5 and documents[0].root == MAGIC and documents[1].root == PROTOCOL

    def _size(self, key: str) -> int | None:
        return None

    def _trouble(self, key: str, mapped: bool) -> str:
        return "what follows the pickles is not looked at"

    def _mmap(self, blocked: list[str]) -> Answer:
        return no(f"torch {TORCH} maps files of the zip layout only (torch.save since 1.6)")


def _doubtful(document: Document) -> bool:
    """Whether Python's own unpickler may stop where that of weights_only does not: an unknown protocol, a huge memo, arguments that are no
    tuple, odd states."""
    for call in calls(document):
        plain = call.dotted == "collections.OrderedDict" and all(type(state) is Dict for state in call.states)
        if type(call.arguments) is not tuple or call.how == "BUILD" or (call.states and not plain):
            return True
    return document.top > MEMO or document.protocol > HIGHEST


def _import(blocked: list[str]) -> str:
    """A hint where importing a module of torch's is all it takes."""
    modules = unique(table.LATER[name] for name in blocked if name in table.LATER)
    return f"; import {', '.join(modules)} first" if modules and all(name in table.LATER for name in blocked) else ""
