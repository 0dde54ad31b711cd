"""The flat partitions of DeepSpeed's ZeRO: elements that several ranks hold together.

Knows: how partitions lie one behind another in ZeRO-1 and 2 (a group is cut into one partition for each rank) and in ZeRO-3 (each parameter
is cut into one part for each rank). A tensor's runs are worked out when its bytes are wanted.
Refuses to know: names and shapes (zero.py), and files.

Facts: DeepSpeed 0.19.8 (utils/zero_to_fp32.py; runtime/zero/stage_1_and_2.py and stage3.py).
"""

from __future__ import annotations

from collections import Counter
from math import prod

from ..dtypes import DTYPES
from ..finding import SHOWN
from ..layout import Layout, Storage, contiguous
from ..tensor import Tensor
from ..tiled import strung
from .arguments import Odd

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from ..dtypes import DType
    from ..limits import Limits
    from ..tiled import Run

FLOAT32 = DTYPES["float32"]


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
