"""The weights of a DeepSpeed checkpoint: what all its files say together.

Knows: which files belong together, which of them should be there, pipeline stages, slices and experts.
Refuses to know: how partitions make tensors (torch/zero.py), and how a file is opened: the set (deepspeed.py) says what each tells.

Missing and doubled files are noted; tensors that lie in them are listed with a fault.

Facts: DeepSpeed 0.19.8 (runtime/engine.py; pipeline stages and slices: runtime/pipe/topology.py), and folders written by it.
"""

from __future__ import annotations

from ..errors import FormatError
from ..finding import SHOWN, Finding, listed
from ..names import Lister
from ..tensor import Tensor
from ..torch.zero import FLATS, Weights
from ..torch.zero_said import Told, inner, pairs
from .deepspeed_files import name_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .deepspeed import DeepSpeed
    from .deepspeed_files import File


def converted(root: dict[Any, Any], convert: Callable[[Tensor], Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key, value in root.items():
        made[key] = convert(value) if isinstance(value, Tensor) else converted(value, convert) if isinstance(value, Slice) else value
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
            return f"{name_of(role, mp, rank, known)} is not there"

        return absent

    def _lacking(self, role: str, mp: int, there: set[int], world: int) -> None:
        known = next((file.name for file in self.content.files if file.role == role and file.mp == mp and file.number is not None), "")
        count = world - sum(rank < world for rank in there)
        if count > 0:
            ranks = [rank for rank in range(min(world, len(there) + SHOWN)) if rank not in there][:SHOWN]
            names = ", ".join(name_of(role, mp, rank, known) for rank in ranks)
            more = f" and {count - len(ranks):,} more" if count > len(ranks) else ""
            self._note("zero-missing", f"of {world:,} ranks' files there is no {names}{more}", name_of(role, mp, ranks[0], known))

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


def _is(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"
