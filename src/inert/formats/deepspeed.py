"""deepspeed: a folder of DeepSpeed's save_checkpoint: model files and, with ZeRO, one optimizer file of every data-parallel rank.

Knows: the names of the files, which of them belong together, and that the file ``latest`` of a folder names the subfolder of its last save.
``root`` is what DeepSpeed's own consolidation gives (float32 weights by name), and behind it what only the model files hold. Optimizer
states stay in the files.
Refuses to know: how partitions make tensors (torch/zero.py), and how a file is read (whatever torch format claims it).

Missing, damaged and doubled files are noted; tensors that lie in them are listed with a fault. ``inert.load`` refuses a torn set.

Facts: DeepSpeed 0.19.8 (names: runtime/engine.py _get_ckpt_name, _get_rank_zero_ckpt_name, _get_expert_ckpt_name; runtime/pipe/module.py
ckpt_layer_path; pipeline stages and slices: runtime/pipe/topology.py), and folders written by it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from ..beside import BesideSource
from ..checkpoint import Content, Part
from ..containers.folder import Folder, unsafe
from ..errors import FormatError, InertError
from ..files import FileSource
from ..finding import ERROR, Finding
from ..names import Lister
from ..tensor import Tensor
from ..torch.zero import FLATS, SHOWN, Told, Weights, inner, listed, pairs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source

LATEST = "latest"
TAG = 1024  # bytes of the file that names a subfolder
OPTIMIZER = re.compile(r"(?:[a-z]+\d+_)?zero_pp_rank_(?P<rank>\d{1,9})_mp_rank_(?P<mp>\d{1,9})_?optim_states\.pt")
MODEL = re.compile(r"(?:zero_pp_rank_(?P<rank>\d{1,9})_)?mp_rank_(?P<mp>\d{1,9})_model_states\.pt")
EXPERT = re.compile(r"(?:layer_(?P<layer>\d{1,9})_)?expert_(?P<expert>\d{1,9})_mp_rank_(?P<mp>\d{1,9})_model_states\.pt")
LAYER = re.compile(r"layer_(?P<layer>\d{1,9})-(?:model_(?P<mp>\d{1,9})-)?model_states\.pt")
EXPERTS_OPTIMIZER = re.compile(r"expp_rank_(?P<rank>\d{1,9})_mp_rank_(?P<mp>\d{1,9})_optim_states\.pt")
ROLES = (("optimizer", OPTIMIZER), ("model", MODEL), ("expert", EXPERT), ("layer", LAYER), ("optimizer of experts", EXPERTS_OPTIMIZER))
SAID = ("ds_version", "dp_world_size", "mp_world_size", "global_steps", "global_samples", "skipped_steps")
TORN = "zero-"  # errors of these codes mean that the set is not whole


class File:
    """A file of the set: role, data-parallel rank (or number of the layer or expert), model-parallel rank; its Content when asked for."""

    def __init__(self, name: str, role: str, number: int | None, mp: int, layer: int = 0) -> None:
        self.name = name
        self.path = ""  # "" where the name leads out of the folder
        self.role = role
        self.number = number
        self.mp = mp
        self.layer = layer
        self.content: Content | None = None
        self.fault: Finding | None = None
        self.told: Told | None = None
        self.notes: list[Finding] = []


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
    tag = _tag(source)
    path = source.place(tag) if tag else ""
    if not path or not os.path.isdir(path):
        return None
    inside = files_of(Folder(path).names(limits))
    return (f"{tag}/", inside) if inside else None


def _tag(folder: Folder) -> str:
    """The name that the file ``latest`` gives; "" where it is none. FormatError for one that leads out of the folder."""
    path = folder.place(LATEST)
    if not os.path.isfile(path) or os.path.getsize(path) > TAG:
        return ""
    file = FileSource(path)  # not one of the folder's own, since the folder may not be of this format
    try:
        tag = file.read(0, file.size).decode("utf-8").strip()
    except UnicodeDecodeError:
        return ""
    finally:
        file.close()
    if not tag.isprintable() or not tag:
        return ""
    if unsafe(tag):
        folder.place(tag)
    return tag


def files_of(names: list[str]) -> list[File]:
    """The files of a set, by number."""
    found = []
    for name in names:
        for role, pattern in ROLES:
            match = pattern.fullmatch(name)
            if match is not None:
                said = match.groupdict()
                number = said.get("rank") if "rank" in said else said.get("expert") or said.get("layer")
                layer = int(said.get("layer") or 0)
                found.append(File(name, role, None if number is None else int(number), int(said.get("mp") or 0), layer))
                break
    sound = any(file.role in ("optimizer", "model", "layer") for file in found)
    return sorted(found, key=lambda file: (file.mp, file.layer, file.number or 0, file.name)) if sound else []


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
        return _converted(state.root, convert), state.notes

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


def _converted(root: dict[Any, Any], convert: Callable[[Tensor], Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in root.items():
        made[key] = convert(value) if isinstance(value, Tensor) else _converted(value, convert) if isinstance(value, Slice) else value
    return made


class Slice(dict):  # type: ignore[type-arg]  # typing is not imported when it runs
    """The weights of one tensor-parallel rank."""


class State:
    """The weights of all files: ``root``, ``metadata`` and ``notes``."""

    def __init__(self, content: DeepSpeed) -> None:
        self.content = content
        self.limits = content.limits
        self.notes: list[Finding] = []
        self.root: dict[str, Any] = {}
        self.weights: dict[int, Weights] = {}  # by model-parallel rank
        for mp in sorted({file.mp for file in content.files if file.role in ("model", "optimizer")}):
            self._weights(mp)
        self._readable()
        self._cut()
        for mp, weights in self.weights.items():
            scope = self.scope(mp)
            for name, value in weights.tensors.items():
                scope.setdefault(name, value)  # tied layers lie in two stages of a pipeline
        self.saved = [name for weights in self.weights.values() for name in weights.saved]
        self._others()
        for mp, weights in self.weights.items():
            scope = self.scope(mp)
            scope.update((name, value) for name, value in weights.strangers(scope).items())
        self._said()

    def _note(self, code: str, message: str, part: str = "", names: list[str] | None = None) -> None:
        self.notes.append(Finding(code, message, part or self.content.folder.name, None, tuple(names or ())))

    def _readable(self) -> None:
        """FormatError where no file can be read that names weights."""
        naming = [file for file in self.content.files if file.role in ("model", "layer")]
        fault = next((file.fault for file in naming if self.content.tell(file).fault), None) if not self.weights else None
        if fault is not None and all(file.fault is not None for file in naming):
            text = f"none of its {len(naming):,} model files can be read" if len(naming) > 1 else "its only model file cannot be read"
            raise FormatError(f"{text}: {fault.where}: {fault.message}", part=self.content.folder.name, hint=fault.fix)

    def _of(self, role: str, mp: int) -> dict[int | None, list[File]]:
        found: dict[int | None, list[File]] = {}
        for file in self.content.files:
            if file.role == role and file.mp == mp:
                found.setdefault(file.number, []).append(file)
        return found

    # -- one model-parallel rank

    def _weights(self, mp: int) -> None:
        models, optimizers = self._of("model", mp), self._of("optimizer", mp)
        told = {rank: self._one(files, f"rank {rank}") for rank, files in optimizers.items() if rank is not None}
        each = None not in models
        if not each and len(models) > 1:
            each = any(FLATS in inner(one).value for one in told.values())
            other = [file.name for rank, files in models.items() if (rank is None) == each for file in files]
            self._note("zero-twice", f"model files of ZeRO-3 and of other stages; {listed(other)} {_is(other)} not read", other[0])
        chosen = {rank or 0: files for rank, files in models.items() if (rank is not None) == each}
        everyone = _Once(lambda: {rank: self._one(files, f"rank {rank}") for rank, files in sorted(chosen.items())})
        model = self._first(chosen)
        if model is None:
            names = listed([file.name for files in optimizers.values() for file in files])
            if not chosen:
                self._note("zero-missing", f"there is no mp_rank_{mp:02d}_model_states.pt, which names what lies in {names}")
            return
        made = Weights(model, self._items(model), everyone, each, told, self._absent(mp, optimizers), self.limits)
        self.weights[mp] = made
        self.notes += made.notes
        if made.groups or optimizers:
            wanted: list[tuple[str, Any]] = [("optimizer", optimizers)] if optimizers else []
            wanted += [("model", chosen)] if each else []
            for role, files in wanted:
                self._lacking(role, mp, {rank for rank in files if rank is not None}, made.world)
        if made.groups and not optimizers:
            lost = "they were in the optimizer files only" if made.stage == 3 else "the weights are those of the model file"
            self._note("zero-no-partitions", f"there is no *_optim_states.pt with the float32 weights; {lost}", model.file)

    def _one(self, files: list[File], what: str) -> Told:
        """What the only file of a rank says. Of two, nobody knows which one is meant."""
        if len(files) == 1:
            return self.content.tell(files[0])
        names = [file.name for file in files]
        fault = f"{what} has {len(names)} files: {listed(names)}"
        if not any(note.code == "zero-twice" and note.where.part == names[0] for note in self.notes):
            self._note("zero-twice", fault, names[0])
        return Told(names[0], None, fault)

    def _first(self, files: dict[int, list[File]]) -> Told | None:
        """The model file of the first rank whose file can be read."""
        for rank in sorted(files):
            told = self._one(files[rank], f"rank {rank}")
            if not told.fault:
                return told
        return None

    def _items(self, model: Told) -> list[tuple[str, Any]]:
        """What the model's state dict holds, by name; tensors of dictionaries in it under dotted names."""
        found: list[tuple[str, Any]] = []
        for name, value in pairs(model.value.get("module")):
            nested = isinstance(value, (dict, list, tuple))
            found += [(f"{name}.{key}", one) for key, one in Lister(value, self.limits).tensors.items()] if nested else [(name, value)]
        return found

    def _absent(self, mp: int, optimizers: dict[int | None, list[File]]) -> Callable[[str, int], str]:
        known = next((file.name for files in optimizers.values() for file in files), f"zero_pp_rank_0_mp_rank_{mp:02d}_optim_states.pt")

        def absent(role: str, rank: int) -> str:
            return f"{_name(role, mp, rank, known)} is not there"

        return absent

    def _lacking(self, role: str, mp: int, there: set[int], world: int) -> None:
        known = next((file.name for file in self.content.files if file.role == role and file.mp == mp and file.number is not None), "")
        count = world - sum(rank < world for rank in there)
        if count > 0:
            ranks = [rank for rank in range(min(world, len(there) + SHOWN)) if rank not in there][:SHOWN]
            names = ", ".join(_name(role, mp, rank, known) for rank in ranks)
            more = f" and {count - len(ranks):,} more" if count > len(ranks) else ""
            self._note("zero-missing", f"of {world:,} ranks' files there is no {names}{more}", _name(role, mp, ranks[0], known))

    # -- all of them

    def _cut(self) -> None:
        """Whether model-parallel ranks are stages of a pipeline, slices of every tensor, or both. Slices of a stage are numbered first."""
        layers = [file for file in self.content.files if file.role == "layer"]
        sizes = [made.model.value.get("mp_world_size") for made in self.weights.values()]
        said = max((size for size in sizes if type(size) is int), default=1)
        ranks = {file.mp for file in self.content.files if file.role in ("model", "optimizer")}
        self.piped = bool(layers)
        self.slices = max((file.mp for file in layers), default=0) + 1 if layers else max([said, *(rank + 1 for rank in ranks)])
        there = {file.mp for file in self.content.files if file.role == "model"}
        absent = [rank for rank in range(min(said, len(there) + SHOWN)) if rank not in there and rank not in ranks]
        if absent:
            names = listed([f"mp_rank_{rank:02d}_model_states.pt" for rank in absent])
            self._note("zero-missing", f"of {said:,} model-parallel ranks' files there is no {names}")

    def scope(self, mp: int) -> dict[str, Any]:
        """The dictionary for the tensors of a model-parallel rank."""
        if self.slices == 1:
            return self.root
        found: dict[str, Any] = self.root.setdefault(f"mp_rank_{mp % self.slices:02d}", Slice())
        return found

    def _others(self) -> None:
        """The layers of a pipeline and the experts, which have files of their own."""
        for file in self.content.files:
            if file.role in ("layer", "expert"):
                told, scope = self.content.tell(file), self.scope(file.mp)
                for key, value in pairs(told.value):
                    name = f"{file.layer}.{key}" if file.role == "layer" else key
                    if isinstance(value, Tensor) and name not in scope:
                        scope[name] = value
                        self.saved.append(name)
        self._experts()

    def _experts(self) -> None:
        """Numbers of experts that should have files, and have none."""
        known = [made.model.value.get("num_experts") for made in self.weights.values()]
        counts = next((one for one in known if isinstance(one, list)), [])
        held: dict[tuple[int, int], set[int]] = {}
        for file in self.content.files:
            if file.role == "expert":
                held.setdefault((file.mp, file.layer), set()).add(file.number or 0)
        for (mp, layer), numbers in held.items():
            said = counts[layer] if layer < len(counts) else max(numbers) + 1
            total = said if type(said) is int and said > 0 else max(numbers) + 1
            lost = [number for number in range(min(total, len(numbers) + SHOWN)) if number not in numbers]
            if lost:
                name = f"layer_{layer}_expert_{lost[0]}_mp_rank_{mp:02d}_model_states.pt"
                text = f"of {total:,} experts of layer {layer} there is no {listed([str(number) for number in lost])}"
                self._note("zero-expert-missing", text, name)

    def _said(self) -> None:
        optimizers = [file.name for file in self.content.files if file.role.startswith("optimizer")]
        inside = [made.model.file for made in self.weights.values() if made.model.value.get("optimizer") is not None]
        if self.saved and any(file.role == "optimizer" for file in self.content.files):
            what = f"{len(self.saved):,} tensors lie" if len(self.saved) > 1 else "a tensor lies"
            self._note("zero-saved", f"{what} in no optimizer file: {listed(self.saved)}", "", self.saved)
        if self.slices > 1:
            self._note("zero-slices", f"the tensors are cut among {self.slices:,} tensor-parallel ranks, each under its own name")
        if optimizers or inside:
            self._note("zero-optimizer", f"the optimizer's states are in {listed(optimizers or inside)}; the weights alone are listed")
        stages = [made for made in self.weights.values() if made.first.get("zero_stage") is not None]
        self.metadata = {"zero_stage": str(stages[0].stage)} if stages else {}
        if any(made.first for made in self.weights.values()):
            self.metadata["partitions"] = str(max(made.world for made in self.weights.values()))


class _Once:
    """A value that is made when first asked for."""

    def __init__(self, make: Callable[[], dict[int, Told]]) -> None:
        self.make = make
        self.made: dict[int, Told] | None = None

    def __call__(self) -> dict[int, Told]:
        if self.made is None:
            self.made = self.make()
        return self.made


def _name(role: str, mp: int, rank: int, known: str) -> str:
    """The name of another rank's file, as that of a file that is there."""
    if role == "model":
        return f"zero_pp_rank_{rank}_mp_rank_{mp:02d}_model_states.pt"
    match = OPTIMIZER.fullmatch(known)
    return known[: match.start("rank")] + str(rank) + known[match.end("rank") :] if match else known


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
