"""What DeepSpeed's ZeRO says in its files: plain values of every rank → the weights by name.

Knows: how flat partitions lie one behind another in ZeRO-1 and 2 (a group is cut into one partition for each rank) and in ZeRO-3 (each
parameter is cut into one part for each rank), how frozen parameters, buffers and tied parameters are said, and which names and which order
DeepSpeed's own consolidation gives. A tensor's runs are worked out when its bytes are wanted.
Refuses to know: files, and optimizer states. What a rank's file says is a ``Told``: its value, or why there is none.

Facts: DeepSpeed 0.19.8 (utils/zero_to_fp32.py; checkpoint/constants.py; state_dict of runtime/zero/stage_1_and_2.py, stage3.py and
runtime/bf16_optimizer.py; _common_checkpoint_state, _get_zero_param_shapes and _get_shared_params of runtime/engine.py).
"""

from __future__ import annotations

from collections import Counter
from math import prod

from ..dtypes import DTYPES
from ..finding import Finding
from ..layout import Layout, Storage, contiguous
from ..tensor import Tensor
from ..tiled import geometry, strung
from ..widened import Widened, widens
from .arguments import Odd
from .objects import Object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits
    from ..tiled import Run

FLOAT32 = DTYPES["float32"]
STAGES = {"disabled": 0, "optimizer_states": 1, "gradients": 2, "weights": 3}  # by name, where an enumeration is not saved by value
PARTITIONS, FLATS = "single_partition_of_fp32_groups", "fp32_flat_groups"  # of stages 1 and 2, and of stage 3
SHOWN = 5  # names in one sentence


class Told:
    """What a file says: its dictionary, or the reason why there is none."""

    __slots__ = ("fault", "file", "value")

    def __init__(self, file: str, value: Any, fault: str = "") -> None:
        self.file = file
        self.value: dict[Any, Any] = value if isinstance(value, dict) else {}
        self.fault = fault or ("" if isinstance(value, dict) else f"{file} holds no dictionary")


class Flat:
    """A flat tensor of one rank: how many elements it has, and why it cannot be used, "" where it can."""

    __slots__ = ("count", "fault", "file", "tensor")

    def __init__(self, value: Any, file: str) -> None:
        self.file = file
        self.tensor = value
        self.count = 0
        self.fault = self._wrong(value)

    def _wrong(self, value: Any) -> str:
        if not isinstance(value, Tensor):
            return f"{self.file} holds no tensor where a flat partition is due"
        layout = value.layout
        if layout.kind != "dense" or len(layout.shape) != 1 or layout.storage is None or layout.conj or layout.neg:
            return f"{self.file} holds a {layout.kind} {layout.dtype}{list(layout.shape)[:SHOWN]} where a flat partition is due"
        self.count = layout.shape[0]
        if self.count > 1 and layout.strides != (1,):
            return f"{self.file} holds a flat partition that is no plain run of elements"
        return f"{self.file}: {layout.fault}" if layout.fault else ""

    def run(self, start: int, count: int) -> Run:
        """Some of its elements. Odd where they are not there."""
        if self.fault:
            raise Odd(self.fault)
        if start + count > self.count:
            raise Odd(f"elements {start:,} to {start + count:,} are wanted of a partition of {self.count:,} in {self.file}")
        return self.tensor.layout, start, count


def flats_of(value: Any, file: str) -> list[Flat]:
    """The flat tensors under a key: a list of them, or one. Those that together are more than their storage holds overlap: refused."""
    found = [Flat(one, file) for one in (value if isinstance(value, (list, tuple)) else [value])]
    held: dict[Any, int] = {}
    for flat in found:
        if not flat.fault:
            held[flat.tensor.storage] = held.get(flat.tensor.storage, 0) + flat.tensor.nbytes
    for flat in found:
        if not flat.fault and held[flat.tensor.storage] > flat.tensor.storage.nbytes:
            flat.fault = f"the flat partitions of {file} lie over one another"
    return found


# -- elements that several ranks hold together ----------------------------------------------------------------------------------


class Joined:
    """A group of ZeRO-1 and 2: the partitions of all ranks end to end, all but the last of one size."""

    def __init__(self, flats: dict[int, Flat], world: int, absent: Callable[[int], str]) -> None:
        self.flats = flats
        self.world = world
        self.absent = absent
        sizes = Counter(flat.count for rank, flat in flats.items() if rank < world - 1 and not flat.fault)
        last = flats.get(world - 1)
        self.size = max(sizes, key=lambda size: (sizes[size], size)) if sizes else last.count if last is not None and world == 1 else None
        for rank, flat in flats.items():
            wrong = self.size is not None and (flat.count > self.size or (flat.count != self.size and rank != world - 1))
            if wrong and not flat.fault:
                flat.fault = f"the partition in {flat.file} has {flat.count:,} elements where {self.size:,} are due"

    @property
    def dtype(self) -> DType:
        return dtype_of(self.flats.values())

    def surplus(self, needed: int) -> str:
        """Why all partitions together cannot be those of parameters with this many elements; "" where they may, or are not all there."""
        if len(self.flats) < self.world or any(flat.fault for flat in self.flats.values()):
            return ""
        held, step = sum(flat.count for flat in self.flats.values()), 2 * self.world
        return "" if -(-needed // step) == -(-held // step) else f"the parameters take {needed:,} elements, the partitions hold {held:,}"

    def runs(self, offset: int, count: int) -> Iterator[Run]:
        """Where elements of the group lie. Odd where some are not there."""
        while count:
            rank, start = divmod(offset, self.size) if self.size else (0, 0)
            flat = self.flats.get(rank)
            if flat is None or not self.size:
                raise Odd(self.absent(rank) if flat is None else flat.fault or "the partitions are empty")
            step = min(count, self.size - start)
            yield flat.run(start, step)
            offset += step
            count -= step


class Woven:
    """The flat groups of ZeRO-3: each rank holds its part of every parameter, in one order, through all its groups end to end."""

    def __init__(self, flats: dict[int, list[Flat]], world: int, absent: Callable[[int], str]) -> None:
        self.flats = flats
        self.world = world
        self.absent = absent
        kinds = Counter(tuple(flat.count for flat in held) for held in flats.values() if not any(flat.fault for flat in held))
        self.sizes = max(kinds, key=lambda sizes: kinds[sizes]) if kinds else ()
        for held in flats.values():
            counts = tuple(flat.count for flat in held)
            for flat in held:
                if not flat.fault and counts != self.sizes:
                    flat.fault = f"{flat.file} has partitions of other sizes than the other files"

    @property
    def dtype(self) -> DType:
        return dtype_of(flat for held in self.flats.values() for flat in held)

    def part(self, count: int) -> int:
        """Elements of a parameter that each rank holds."""
        return -(-count // self.world)

    def surplus(self, needed: int) -> str:
        held = sum(self.sizes)
        return "" if needed == held or not self.sizes else f"the parameters take {needed:,} elements of each rank, which hold {held:,}"

    def runs(self, offset: int, count: int) -> Iterator[Run]:
        """Where a parameter of ``count`` elements lies whose parts begin at ``offset``. Odd where some are not there."""
        part, rank = self.part(count), 0
        while count > 0:
            held = self.flats.get(rank)
            if held is None:
                raise Odd(self.absent(rank))
            yield from self._of(held, offset, min(part, count))
            count -= part
            rank += 1

    def _of(self, held: list[Flat], offset: int, count: int) -> Iterator[Run]:
        for flat in held:
            step = min(count, flat.count - offset)
            if step > 0:
                yield flat.run(offset, step)
                count -= step
                offset = flat.count
            elif flat.fault and not flat.count:
                raise Odd(flat.fault)
            offset -= flat.count
            if not count:
                return
        if count:
            raise Odd(
                f"its part lies beyond the {sum(flat.count for flat in held):,} elements of {held[0].file if held else 'the partitions'}"
            )


def dtype_of(flats: Iterable[Flat]) -> DType:
    """The element type of most flat tensors: float32, unless somebody trained with other master weights."""
    found = Counter(flat.tensor.dtype for flat in flats if not flat.fault)
    return found.most_common(1)[0][0] if found else FLOAT32


class Strung:
    """A parameter's Layout, made when it is asked for. Knows partitions, and no file's Content: a map goes with its last view."""

    __slots__ = ("dtype", "limits", "made", "name", "runs", "shape")

    def __init__(self, name: str, dtype: DType, shape: tuple[int, ...], runs: Callable[[], Iterator[Run]], limits: Limits) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.runs = runs
        self.limits = limits
        self.made: Layout | None = None

    def layout(self) -> Layout:
        if self.made is None:
            try:
                found = self._sound()
                self.made = strung(self.dtype, self.shape, found, lambda: list(self.runs()), self.name, self.limits)
                self.made.requires_grad = any(flat.requires_grad for flat, _, _ in found)
            except Odd as odd:
                self.made = refused(self.name, self.dtype, self.shape, str(odd))
        return self.made

    def _sound(self) -> list[Run]:
        """Its runs. Odd where one is missing or of another type."""
        found = list(self.runs())
        for flat, _, _ in found:
            if flat.dtype is not self.dtype:
                raise Odd(f"a partition of {flat.dtype} among those of {self.dtype}")
        return found


def refused(name: str, dtype: DType, shape: tuple[int, ...], why: str) -> Layout:
    """The Layout of a tensor whose elements are not to be had."""
    storage = Storage(name, prod(shape) * dtype.itemsize, dtype, "cpu", None)
    made = Layout(dtype, shape, contiguous(shape), 0, storage)
    made.fault = storage.fault = why
    return made


# -- the weights of one model-parallel rank ----------------------------------------------------------------------------------------


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


def inner(told: Told) -> Told:
    """The optimizer's own dictionary of an optimizer file."""
    return told if told.fault else Told(told.file, told.value.get("optimizer_state_dict"))


def worlds(said: Any) -> int:
    """partition_count: a number, or one for each group, of which the largest is that of all ranks; 0 for neither."""
    found = list(said) if isinstance(said, (list, tuple)) else [said]
    return max(found) if found and all(type(one) is int and one > 0 for one in found) else 0


def stage_of(said: Any) -> int | None:
    """ZeRO's stage, which is saved as a number or as a member of ZeroStageEnum."""
    if isinstance(said, Object) and said.type.endswith("ZeroStageEnum") and isinstance(said.arguments, tuple) and said.arguments:
        said = said.arguments[-1]
    if type(said) is str:
        said = STAGES.get(said)
    return said if type(said) is int and 0 <= said <= 3 else None


def alien(model: dict[Any, Any]) -> str:
    """Why partitions cannot be put together at all: DeepSpeed's own consolidation refuses AutoEP's partitions of ZeRO-3, too."""
    layers = model.get("ds_autoep_layers") or model.get("autoep_layers")
    formats = [one.get("checkpoint_format") for one in layers if isinstance(one, dict)] if isinstance(layers, list) else []
    return "AutoEP has cut the experts among other ranks than the rest" if "zero3_partitioned" in formats else ""


def shape_of(said: Any, dtype: DType, limits: Limits) -> tuple[int, ...] | None:
    """A shape as DeepSpeed saves it; None for what is none."""
    if not isinstance(said, (tuple, list)) or not all(type(size) is int for size in said):
        return None
    shape = tuple(said)
    return None if geometry(dtype, shape, limits) else shape


def is_text(name: Any) -> bool:
    return type(name) is str


def pairs(said: Any) -> list[tuple[str, Any]]:
    """The items of a dictionary by name."""
    return [(name, value) for name, value in said.items() if type(name) is str] if isinstance(said, dict) else []


def listed(names: list[str]) -> str:
    return ", ".join(name[:80] for name in names[:SHOWN]) + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")


def are(names: list[str]) -> str:
    return f"{'is' if len(names) == 1 else 'are'} also {listed(names)}"
