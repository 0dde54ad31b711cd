"""The page's long answers: statistics of a tensor, the verification of a file, a download; each in steps that can be left off.

Knows: how to work in slices and tell how far it is. Refuses to know: HTTP.
"""

from __future__ import annotations

import io
from queue import Full, Queue
from threading import Event, Thread

from ..errors import InertError
from ..report.listing import nbytes
from ..report.show import array_of
from ..report.show import statistics as statistics_of
from ..stats import numbers, pieces
from .exact import exact, spans
from .tensors import chosen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from ..tensor import Tensor
    from .answers import Words
    from .opened import Opened

SHOWN = 20  # places of NaN and infinities that are named
TOLD = 16 << 20  # bytes between two words of how far it is


class _Left(BaseException):
    """Nobody listens any more."""


def steps(work: Callable[[Callable[[int], None]], Any], total: int) -> Iterator[dict[str, Any]]:
    """``{"done", "total"}`` while ``work`` tells how many bytes it has read more, then what it gives. Closing it ends the work."""
    told: Queue[Any] = Queue(4)
    left = Event()
    done = said = 0

    def count(more: int) -> None:
        nonlocal done, said
        done += more
        if left.is_set():
            raise _Left
        if done - said >= TOLD:
            said = done
            _put(told, left, {"done": done, "total": total})

    def run() -> None:
        try:
            made: Any = work(count)
        except _Left:
            return
        except Exception as error:
            made = error
        _put(told, left, (made,))

    thread = Thread(target=run, name="inert-work", daemon=True)
    thread.start()
    try:
        while True:
            step = told.get()
            if not isinstance(step, tuple):
                yield step
                continue
            if isinstance(step[0], Exception):
                raise step[0]
            yield step[0]
            return
    finally:
        left.set()


def _put(told: Queue[Any], left: Event, step: Any) -> None:
    while not left.is_set():
        try:
            told.put(step, timeout=0.2)
            return
        except Full:
            continue


def statistics(opened: Opened, words: Words) -> Iterator[dict[str, Any]]:
    """``stats`` as ``inert show --stats`` has them, for a browser to hold, and where the first NaN and infinities are."""
    found = chosen(opened, words)
    found_at: dict[Any, dict[str, Any]] = opened.once("stats", dict)
    key = words.number("row")
    if key in found_at:
        yield found_at[key]
        return

    def work(count: Callable[[int], None]) -> dict[str, Any]:
        made: dict[str, Any] = {"stats": _readable(statistics_of(found, count))}
        if made["stats"]["nan"] or made["stats"]["inf"]:
            made["odd"] = _odd(found, count)
        return made

    for step in steps(work, 2 * nbytes(found)):
        if "stats" in step:
            found_at[key] = step
        yield step


def _readable(stats: dict[str, Any]) -> dict[str, Any]:
    """Statistics with exact integers, and those that each bin of a histogram of integers holds."""
    low, high, histogram = stats["min"], stats["max"], stats["histogram"]
    if isinstance(low, int) and histogram:
        bins = len(histogram["counts"])
        whole = [[exact(low + at)] * 2 for at in range(bins)] if high - low < bins else spans(low, high, bins)
        stats = {**stats, "histogram": {**histogram, "spans": whole}}
    made: dict[str, Any] = exact(stats)
    return made


def verification(opened: Opened, words: Words) -> Iterator[dict[str, Any]]:
    """What ``inert verify`` says of the file."""
    from ..ops.verify import verify
    from ..report.verify import verification as told

    held: dict[str, Any] = opened.once("verified", dict)
    if not held:
        total = max(opened.size, 1)
        for step in steps(lambda count: told(verify(opened.path, progress=count)), total):
            if "findings" not in step:
                yield step
            else:
                held.update(step)
    yield held


def _odd(found: Tensor, count: Callable[[int], None]) -> dict[str, list[list[int]]]:
    """Indices of the first NaN and infinities, SHOWN of each."""
    import numpy as np

    places: dict[str, list[int]] = {"nan": [], "inf": []}
    at = 0
    for piece, size in pieces(found):
        for name, test in (("nan", np.isnan), ("inf", np.isinf)):
            room = SHOWN - len(places[name])
            if room:
                places[name] += (np.flatnonzero(test(piece))[:room] + at).tolist()
        at += piece.size
        count(size)
        if all(len(one) == SHOWN for one in places.values()):
            break
    return {name: [[int(i) for i in np.unravel_index(place, found.shape)] for place in one] for name, one in places.items()}


def npy(opened: Opened, words: Words) -> tuple[str, int, Iterator[bytes]]:
    """(file name, size, pieces) of a tensor as a .npy file. Raises before the first piece where there is no such array."""
    import numpy as np

    found = chosen(opened, words)
    found._sound()
    dtype = found.dtype
    if found.kind in ("dense", "numpy", "quantized") and dtype.packed == 1:
        shape, kind = tuple(found.shape), numbers(b"", dtype).dtype
        blocks: Iterator[Any] = (piece.tobytes() for piece, _ in pieces(found))
    else:
        array = array_of(found)
        if array.dtype.hasobject:
            raise InertError(f"{dtype} elements have no .npy form", part=found.name)
        shape, kind = array.shape, array.dtype
        blocks = iter((array.tobytes(),))
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape})
    size = head.tell() + kind.itemsize * int(np.prod(shape, dtype=object))

    def all_of_it() -> Iterator[bytes]:
        yield head.getvalue()
        yield from blocks

    name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in found.name)[-80:] or "tensor"
    return f"{name}.npy", size, all_of_it()
