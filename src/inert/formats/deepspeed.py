"""deepspeed: a folder of DeepSpeed's save_checkpoint: model files and, with ZeRO, one optimizer file of every data-parallel rank.

Knows: how the files of a set are opened and asked. ``root`` is what DeepSpeed's own consolidation gives (float32 weights by name), and
behind it what only the model files hold. Optimizer states stay in the files.
Refuses to know: the names of the files (deepspeed_files.py), what they say together (deepspeed_state.py), and how a file is read (whatever
torch format claims it).

Damaged files are noted. ``inert.load`` refuses a torn set.

Facts: DeepSpeed 0.19.8, and folders written by it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..beside import BesideSource
from ..containers.folder import Folder
from ..content import Content, Part
from ..errors import FormatError, InertError
from ..finding import ERROR, Finding
from ..tensor import Tensor
from ..torch.zero_said import Told
from .deepspeed_files import LATEST, files_of, tag_of
from .deepspeed_state import State, converted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source
    from .deepspeed_files import File

SAID = ("ds_version", "dp_world_size", "mp_world_size", "global_steps", "global_samples", "skipped_steps")
TORN = "zero-"  # errors of these codes mean that the set is not whole


def claims(source: Source, limits: Limits) -> tuple[str, list[File]] | None:
    """(the subfolder with a slash, "" for the folder itself; the files of the set)."""
    if not isinstance(source, Folder):
        return None
    names = source.names(limits)
    found = files_of(names)
    if found:
        return "", found
    if LATEST not in names:
        return None
    tag = tag_of(source)
    path = source.place(tag) if tag else ""
    if not path or not os.path.isdir(path):
        return None
    inside = files_of(Folder(path).names(limits))
    return (f"{tag}/", inside) if inside else None


def read(source: Source, limits: Limits, claim: tuple[str, list[File]], byteorder: str | None) -> DeepSpeed:
    assert isinstance(source, Folder)
    return DeepSpeed(source, limits, *claim)


class DeepSpeed(Content):
    format = "deepspeed"

    def __init__(self, folder: Folder, limits: Limits, home: str, files: list[File]) -> None:
        super().__init__(folder, limits)
        self.folder = folder
        self.home = home
        self.files = files
        self.size = 0  # of all files together, opened or not
        self._state: State | None = None
        for file in files:
            try:
                file.path = folder.place(home + file.name)
                self.size += os.path.getsize(file.path)
            except (InertError, OSError):  # said when the file is to be opened
                continue
        folder.size = self.size
        if not any(file.role in ("model", "layer") for file in files):
            raise FormatError(
                "there is no *_model_states.pt, which alone says how the weights are named and shaped",
                part=folder.name,
                hint="get the model files, or open an optimizer file by its own name",
            )

    # -- files ----------------------------------------------------------------------------------------------------------------

    def open(self, file: File) -> Content | None:
        """The Content of a file; None where it cannot be read, and ``file.fault`` says why."""
        if file.content is None and file.fault is None:
            file.content = self._identify(file, lambda: self.folder.open(self.home + file.name))
            self.folder.size = self.size
        return file.content

    def peek(self, file: File) -> Content | None:
        """The same for one question: a file that no tensor is read from is not kept open, since there may be a thousand of them."""
        if file.content is not None or file.fault is not None:
            return file.content
        return self._identify(file, lambda: BesideSource(self.folder.place(self.home + file.name)))

    def _identify(self, file: File, source: Callable[[], Source]) -> Content | None:
        from . import FORMATS, identify

        try:
            made = identify(source(), self.limits, None, [one for one in FORMATS if one.id in ("torch-zip", "torch-legacy")])
        except InertError as error:
            file.fault = Finding("zero-unreadable", error.message, file.name, error.offset)
        except OSError as error:
            file.fault = Finding("zero-unreadable", error.strerror or str(error), file.name)
        else:
            made.label = f"{file.name}/"
            return made
        return None

    def tell(self, file: File) -> Told:
        """What a file says."""
        if file.told is None:
            content = self.open(file)
            if content is not None:
                try:
                    value, file.notes = content.root()
                    file.told = Told(file.name, value)
                    if file.told.fault:
                        file.fault = Finding("zero-unreadable", "it holds no dictionary", file.name)
                    return file.told
                except InertError as error:
                    file.fault = Finding("zero-unreadable", error.message, file.name, error.offset)
            assert file.fault is not None
            file.told = Told(file.name, None, f"{file.name} cannot be read: {file.fault.message}")
        return file.told

    @property
    def state(self) -> State:
        if self._state is None:
            self._state = State(self)
        return self._state

    # -- what a checkpoint is asked -------------------------------------------------------------------------------------------

    def pickles(self) -> Mapping[str, Document]:
        return Pickles(self)

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        state = self.state
        if convert is None:
            return state.root, state.notes
        faults = [file.fault for file in self.files if file.fault is not None]
        torn = next((note for note in [*state.notes, *faults] if note.severity == ERROR and note.code.startswith(TORN)), None)
        if torn is not None:
            hint = "inert.open gives the tensors that are there"
            raise FormatError(f"the set is not whole: {torn.where}: {torn.message}", part=self.folder.name, hint=hint)
        return converted(state.root, convert), state.notes

    def parts(self) -> dict[str, Part]:
        made = {}
        if self.home:
            made[LATEST] = Part(LATEST, self.folder.place(LATEST), 0, self.folder.size_of(LATEST), LATEST)
        for file in self.files:
            content = self.peek(file)
            if file.path:
                made[file.name] = Part(file.name, file.path, 0, os.path.getsize(file.path), file.role)
            for name, part in content.parts().items() if content is not None else ():
                inner = f"{file.name}/{part.name}"
                made[f"{file.name}/{name}"] = Part(inner, part.file, part.offset, part.size, part.role, part.compressed, part.crc32)
        return made

    def metadata(self) -> dict[str, str]:
        model = next((told for file in self.files if file.role == "model" and not (told := self.tell(file)).fault), None)
        said = {"tag": self.home.rstrip("/")} if self.home else {}
        if model is not None:
            said |= {key: str(model.value[key]) for key in SAID if type(model.value.get(key)) in (int, str)}
        return said | self.state.metadata

    def checks(self) -> tuple[Any, ...]:
        from . import set_checks

        return (set_checks.deepspeed,)

    def notes(self) -> list[Finding]:
        """Of files that no tensor is read from only whether they can be opened."""
        self.state  # noqa: B018  # opens what it needs
        unused = [file for file in self.files if file.content is None and self.peek(file) is None]
        inner = [note for file in self.files if file.content is not None for note in file.content.notes()]
        faults = [file.fault for file in self.files if file.fault is not None and (file in unused or file.told is not None)]
        return [*faults, *inner]


class Pickles(Mapping):  # type: ignore[type-arg]  # typing is not imported when it runs
    """The pickles of all files by FILE/NAME, each decoded when it is asked for."""

    def __init__(self, content: DeepSpeed) -> None:
        self.content = content
        self.files = {file.name: file for file in content.files}

    def _of(self, file: File) -> dict[str, Document]:
        content = self.content.peek(file)
        try:
            return {} if content is None else {f"{file.name}/{name}": made for name, made in content.pickles().items()}
        except InertError as error:
            file.fault = file.fault or Finding("zero-unreadable", error.message, file.name, error.offset)
            return {}

    def __getitem__(self, name: str) -> Document:
        file = self.files.get(name.partition("/")[0])
        if file is None:
            raise KeyError(name)
        return self._of(file)[name]

    def __iter__(self) -> Iterator[str]:
        for file in self.content.files:
            yield from self._of(file)

    def __len__(self) -> int:
        return sum(len(self._of(file)) for file in self.content.files)
