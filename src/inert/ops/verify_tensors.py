"""What verify checks of the tensors themselves, whatever their format: names, the indices of sparse ones, and the census of values.

Knows: which tensors view which storage, what a name may be, and how many elements may be looked at in a file that says more than it holds.
Refuses to know: how one tensor is looked at (sparse.py, census.py), and containers.
"""

from __future__ import annotations

from ..finding import Finding
from ..words import counted, is_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ..checking import Inspector
    from ..layout import Storage
    from ..tensor import Tensor
    from .verify import Verification

SPARE, TIMES = 64 << 20, 4  # bytes of elements that are looked at: so many, and so many times those that are stored


def viewed(tensors: Mapping[str, Tensor]) -> dict[str, tuple[str, ...]]:
    """The names of the tensors that view each storage, by its key."""
    made: dict[str, dict[str, None]] = {}
    for name, tensor in tensors.items():
        todo, seen = [tensor], 0
        while todo and seen < 1 << 16:
            one = todo.pop()
            seen += 1
            storage = one.storage
            if storage is not None:
                made.setdefault(storage.key, {})[name] = None
            todo += one.components.values()
    return {key: tuple(names) for key, names in made.items()}


def names(tensors: Mapping[str, Tensor], format: str) -> Iterator[Finding]:
    """Names that no encoding holds. TensorFlow's are bytes, and may be any."""
    if format.startswith("tf-"):
        return
    odd = [name for name in tensors if not is_text(name)]
    if odd:
        yield Finding(
            "tensor-name", f"{counted(len(odd), 'name', 'hold')} lone surrogates, such as {odd[0][:80]!r}", odd[0], None, tuple(odd)
        )


class Budget:
    """How many bytes of elements may be looked at: some times as many as are stored. A file may say a million tensors over the same bytes,
    or large ones over few."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        self.tensors = tensors
        self.left = -1

    def spend(self, size: int) -> bool:
        """Whether so many are still to be had."""
        if self.left < 0:
            self.left = SPARE + TIMES * sum({id(one): one.nbytes for one in self._storages()}.values())
        if size > self.left:
            return False
        self.left -= size
        return True

    def _storages(self) -> Iterator[Storage]:
        for tensor in self.tensors.values():
            for one in (tensor, *tensor.components.values()):
                if one.storage is not None and not one.fault:
                    yield one.storage


def sparse(tensors: Mapping[str, Tensor], made: Verification, inspector: Inspector) -> Iterator[Finding]:
    """The indices of sparse tensors lie inside of their shapes: torch itself looks only when it is told to."""
    budget = Budget(tensors)
    for name, tensor in tensors.items():
        if tensor.kind.startswith("sparse") and not tensor.fault:
            from .sparse import wrong

            if not budget.spend(sum(one.nbytes for role, one in tensor.components.items() if role != "values")):
                inspector.note("indices that are far more than the bytes behind them", made.file, name, None, (name,))
                continue

            said = wrong(tensor, inspector)
            if said:
                yield Finding("sparse-indices", said, name, None, (name,))


def census(tensors: Mapping[str, Tensor], made: Verification, inspector: Inspector) -> Iterator[Finding]:
    """NaN and infinities of every tensor of floats, and bytes of bool tensors that are neither 0 nor 1. Views of the same elements are
    counted once for each name, and read once."""
    from .census import counted

    same: dict[Any, list[str]] = {}
    for name, tensor in tensors.items():
        place = (tensor.storage, tensor.offset, tensor.shape, tensor.strides) if tensor.storage is not None else name
        same.setdefault(place, []).append(name)
    made.census = {}
    budget = Budget(tensors)
    jobs = []
    for names in same.values():
        if budget.spend(tensors[names[0]].nbytes):
            jobs.append(names)
        else:
            inspector.note("elements that are far more than the bytes behind them: not counted", made.file, names[0], None, tuple(names))
    for names, counts in zip(jobs, inspector.each(lambda job: counted(tensors[job[0]], inspector), jobs), strict=True):
        if counts is not None:
            made.census.update((name, counts) for name in names)
    for code, keys, text in (("values-nan", ("nan", "inf"), "NaN or infinite values"), ("values-bool", ("odd",), "bytes that are no bool")):
        hit = {name: sum(counts[key] for key in keys) for name, counts in made.census.items()}
        names = [name for name, count in hit.items() if count]
        if names:
            worst = max(names, key=hit.__getitem__)
            total = f"{len(names):,} of {len(hit):,} tensors hold {text}, such as {hit[worst]:,} in {worst[:200]!r}"
            yield Finding(code, total, made.file, None, tuple(names))
