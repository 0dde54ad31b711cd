"""What DeepSpeed's ZeRO says in its files: plain values of every rank → the weights by name.

Knows: how frozen parameters, buffers and tied parameters are said, and which names and which order DeepSpeed's own consolidation gives.
Refuses to know: how partitions lie (partitions.py), how a fact is spelled (zero_said.py), files, and optimizer states.

Facts: DeepSpeed 0.19.8 (utils/zero_to_fp32.py; checkpoint/constants.py; state_dict of runtime/zero/stage_1_and_2.py, stage3.py and
runtime/bf16_optimizer.py; _common_checkpoint_state, _get_zero_param_shapes and _get_shared_params of runtime/engine.py).
"""

from __future__ import annotations

from collections import Counter
from math import prod

from ..finding import Finding, are
from ..tensor import Tensor
from ..widened import Widened, widens
from .partitions import FLOAT32, Flat, Joined, Strung, Woven, flats_of, refused
from .zero_said import alien, inner, is_text, pairs, shape_of, stage_of, worlds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits
    from .zero_said import Told

PARTITIONS, FLATS = "single_partition_of_fp32_groups", "fp32_flat_groups"  # of stages 1 and 2, and of stage 3


class Weights:
    """The weights of one model-parallel rank. ``tensors`` by name, in the order of DeepSpeed's consolidation; ``saved``: names whose values
    are those of the model's own precision, since no partition holds them; ``notes``.

    ``model``: the model file of the first data-parallel rank that has one; ``module``: the items of the state dict in it; ``models``: the
    model files of all ranks, asked for only where frozen parameters are cut among them, and ``each``: whether every rank has one;
    ``optimizers``: the optimizer files by rank; ``absent``: why there is none of a rank."""

    def __init__(
        self,
        model: Told,
        module: list[tuple[str, Any]],
        models: Callable[[], dict[int, Told]],
        each: bool,
        optimizers: dict[int, Told],
        absent: Callable[[str, int], str],
        limits: Limits,
    ) -> None:
        self.model = model
        self.module = module
        self.each = each
        self.models = models
        self.optimizers = {rank: inner(told) for rank, told in optimizers.items()}
        self.absent = absent
        self.limits = limits
        self.tensors: dict[str, Any] = {}
        self.notes: list[Finding] = []
        self.saved: list[str] = []
        self.first = next((told.value for _, told in sorted(self.optimizers.items()) if not told.fault), {})
        self.world = self._world()
        self.stage = self._stage()
        groups = model.value.get("param_shapes")
        self.groups = [groups] if isinstance(groups, dict) else list(groups) if isinstance(groups, (list, tuple)) else []
        self.experts: dict[str, Any] = {}  # parameters of experts, whose partitions lie with fewer ranks → shape
        if self.groups and (self.optimizers or self.stage == 3):
            self._buffers()
            self._frozen()
            self._trained()
            self._shared()
        self._rest()

    def _note(self, code: str, message: str, file: str = "", names: Iterable[str] = ()) -> None:
        self.notes.append(Finding(code, message, file or self.model.file, None, tuple(names)))

    # -- how many ranks, and which stage

    def _world(self) -> int:
        """The number of data-parallel ranks that most files name; files that name another one are not used."""
        said = {rank: worlds(told.value.get("partition_count")) for rank, told in self.optimizers.items() if not told.fault}
        counts = Counter(world for world in said.values() if world)
        if not counts:
            known = self.model.value.get("dp_world_size")
            return known if type(known) is int and known > 0 else max(self.optimizers, default=0) + 1
        world = max(counts, key=lambda one: (counts[one], one == said[min(said)]))
        for rank, told in self.optimizers.items():
            if not told.fault and said[rank] != world:
                told.fault = f"{told.file} is one of {said[rank] or 'an unknown number of'} partitions, the others are of {world:,}"
                self._note("zero-partitions", told.fault, told.file)
        stray = [told.file for rank, told in sorted(self.optimizers.items()) if rank >= world]
        if stray:
            self._note("zero-partitions", f"the weights are cut into {world:,} partitions; there {are(stray)}", stray[0])
        return world

    def _stage(self) -> int:
        said = stage_of(self.first.get("zero_stage"))
        if said is None:
            said = 3 if FLATS in self.first else 2 if PARTITIONS in self.first else None
        if said is None:
            config = self.model.value.get("ds_config")
            section = config.get("zero_optimization") if isinstance(config, dict) else None
            said = stage_of(section.get("stage")) if isinstance(section, dict) else None
        return 3 if said is None and self.each else said or 0

    # -- the parts of DeepSpeed's consolidation, in its order

    def _buffers(self) -> None:
        names = self.model.value.get("buffer_names")
        wanted = {name for name in names if type(name) is str} if isinstance(names, (list, tuple)) else set()
        for name, value in self.module:
            if name in wanted and isinstance(value, Tensor):
                self.tensors[name] = Tensor(Widened(value, self.limits), self.limits) if widens(value.dtype) else value

    def _frozen(self) -> None:
        shapes, held = self.model.value.get("frozen_param_shapes"), self.model.value.get("frozen_param_fragments")
        if not isinstance(shapes, dict) or not shapes:
            return
        if self.stage < 3:
            for name in filter(is_text, shapes):
                value = held.get(name) if isinstance(held, dict) else None
                self.tensors[name] = value if isinstance(value, Tensor) else self._faulty(name, shapes[name], "the model file lacks it")
            return
        models = self.models()
        for name in filter(is_text, shapes):
            fragments = {rank: self._fragment(told, name) for rank, told in models.items() if not told.fault}
            faults = {rank: told.fault for rank, told in models.items() if told.fault}
            absent = lambda rank, faults=faults: faults.get(rank) or self.absent("model", rank)  # noqa: E731
            parts = Woven({rank: [flat] for rank, flat in fragments.items()}, self.world, absent)
            shape = shape_of(shapes[name], parts.dtype, self.limits)
            self._parameter(name, shapes[name], parts, 0, parts.surplus(parts.part(prod(shape or ()))))

    def _fragment(self, told: Told, name: str) -> Flat:
        held = told.value.get("frozen_param_fragments")
        return Flat(held.get(name) if isinstance(held, dict) else None, told.file)

    def _trained(self) -> None:
        faults = {rank: told.fault for rank, told in self.optimizers.items() if told.fault}
        sound = {rank: told for rank, told in self.optimizers.items() if not told.fault and rank < self.world}

        def absent(rank: int) -> str:
            return faults.get(rank) or self.absent("optimizer", rank)

        refusal = alien(self.model.value)
        if refusal:
            self._note("zero-experts", refusal)
        if self.stage == 3:
            flats = {rank: flats_of(told.value.get(FLATS), told.file) for rank, told in sound.items()}
            self._group([pair for shapes in self.groups for pair in pairs(shapes)], Woven(flats, self.world, absent), None, refusal)
            return
        partitions = {rank: flats_of(told.value.get(PARTITIONS), told.file) for rank, told in sound.items()}
        counts, paddings = self.first.get("partition_count"), self.first.get("param_alignment_paddings")
        for number, shapes in enumerate(self.groups):
            world = counts[number] if isinstance(counts, (list, tuple)) and number < len(counts) else self.world
            if type(world) is int and world != self.world:
                self.experts |= dict(pairs(shapes))
                continue
            held = {rank: found[number] for rank, found in partitions.items() if number < len(found)}
            padding = paddings[number] if isinstance(paddings, (list, tuple)) and number < len(paddings) else None
            self._group(pairs(shapes), Joined(held, self.world, absent), padding, refusal)

    def _group(self, shapes: list[tuple[str, Any]], parts: Joined | Woven, padding: Any, refusal: str) -> None:
        """Every parameter of a group (of all, in stage 3) behind the one before it."""
        if padding is not None and not (
            isinstance(padding, (list, tuple)) and len(padding) == len(shapes) and all(type(one) is int and one >= 0 for one in padding)
        ):
            refusal = refusal or "its group's paddings are not those of its parameters"
        offset, sizes = 0, []
        for name, said in shapes:
            shape = shape_of(said, parts.dtype, self.limits)
            sizes.append(0 if shape is None else prod(shape))
            if shape is None and not refusal:
                refusal = f"the shape of {name[:80]!r} before it is none: {said!r:.80}"
                self._note("zero-sizes", f"the shape of a parameter is none: {said!r:.80}", "", [name])
        needs = [parts.part(size) if isinstance(parts, Woven) else size for size in sizes]
        gaps = list(padding) if padding is not None and not refusal else [0] * len(needs)
        surplus = "" if refusal else parts.surplus(sum(needs) + sum(gaps))
        if surplus:
            self._note("zero-sizes", surplus, "", [name for name, _ in shapes])
        for number, (name, said) in enumerate(shapes):
            self._parameter(name, said, parts, offset, refusal or surplus)
            offset += needs[number] + gaps[number]

    def _parameter(self, name: str, said: Any, parts: Joined | Woven, offset: int, refusal: str = "") -> None:
        dtype = parts.dtype
        shape = shape_of(said, dtype, self.limits)
        if shape is None or refusal:
            self.tensors[name] = self._faulty(name, said, refusal or f"its shape is none: {said!r:.80}", dtype)
            return
        self.tensors[name] = Tensor(Strung(name, dtype, shape, lambda: parts.runs(offset, prod(shape)), self.limits), self.limits)

    def _faulty(self, name: str, said: Any, why: str, dtype: DType = FLOAT32) -> Tensor:
        return Tensor(refused(name, dtype, shape_of(said, dtype, self.limits) or (0,), why), self.limits)

    def _shared(self) -> None:
        shared = self.model.value.get("shared_params")
        for name, other in pairs(shared):
            if type(other) is str and other in self.tensors:
                self.tensors[name] = self.tensors[other]

    # -- what no partition holds

    def _rest(self) -> None:
        """What the model's own state dict holds besides: all of it where there is no ZeRO, or no partition to be had."""
        partitioned = bool(self.tensors)
        for name, value in self.module:
            if name in self.tensors:
                continue
            placeholder = self.stage == 3 and isinstance(value, Tensor) and value.shape == (0,)
            if placeholder:
                value = self._faulty(name, (0,), f"{self.model.file} holds no values of it, and no partition is known to", value.dtype)
            elif partitioned and isinstance(value, Tensor):
                self.saved.append(name)
            self.tensors[name] = value

    def strangers(self, known: dict[str, Any]) -> dict[str, Tensor]:
        """The experts' parameters that nothing else has given: none by its name, and no slices of one (w1.0, w1.1 …)."""
        given = {name.rpartition(".")[0] for name in known} if self.experts else set()
        lost = [name for name in self.experts if name not in known and name not in given]
        return {name: self._faulty(name, self.experts[name], "its expert's file is not there") for name in lost}
