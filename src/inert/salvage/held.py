"""What a salvage reader gives: a Content with holes, and what is known of the holes; and storages of which a part may be missing.

Knows: that a tensor is whole where the bytes that it views are there, whatever else of its storage is missing.
Refuses to know: formats.
"""

from __future__ import annotations

from functools import partial

from ..layout import Storage
from ..source import BytesSource
from ..torch.persistent import Storages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..content import Content
    from ..dtypes import DType
    from ..finding import Finding
    from ..source import Span
    from ..writers import Options, Plan


class Salvage:
    """``content``; ``notes``: what was wrong with the source, beside the content's own notes; ``lost``: (name, why) of what is not among
    its tensors; ``doubts``: storage's key → why its bytes may be wrong; ``unsure``: why what is said of all tensors may be; ``more``: why
    there may have been more that nobody can name; ``healed``: what writes the source again in its own layout, where nothing is lost."""

    def __init__(self, content: Content) -> None:
        self.content = content
        self.notes: list[Finding] = []
        self.lost: list[tuple[str, str]] = []
        self.doubts: dict[str, str] = {}
        self.unsure = ""
        self.more = ""
        self.healed: Callable[[Options], Plan | None] | None = None


class Held(Storages):
    """Storages as far as their records reach: one that is cut short holds the items that are there, one that is too long those that the
    pickle declares."""

    def __init__(self, size: Callable[[str], int | None], opener: Callable[[str], Span], order: str, prefix: str = "data/") -> None:
        super().__init__(size, opener, order, prefix)
        self.odd: dict[str, str] = {}  # storage's key → how its record differs from what the pickle says
        self.longer: dict[str, str] = {}  # of those that are longer
        self.wanted: dict[str, int] = {}  # and how many bytes that says

    def _make(self, key: str, dtype: DType, count: int, location: str) -> Storage:
        made = super()._make(key, dtype, count, location)
        there = None if location == "meta" else self.size(key)
        if there is None and not count and location != "meta":
            made.fault = made.lack = ""  # of a record that is not there, nothing is missing
            made.nbytes = 0
            made.opener = lambda: BytesSource(b"", made.key).span()
            return made
        if there is None or count < 0 or there == made.nbytes:
            return made
        if there > made.nbytes:
            made.lack = ""
            self.longer[made.key] = f"it holds {there:,} bytes where the pickle says {made.nbytes:,}"
        self.odd[made.key] = made.fault.removeprefix("its storage ")
        made.fault = ""
        self.wanted[made.key] = made.nbytes
        made.nbytes = min(made.nbytes, there - there % dtype.itemsize)
        made.opener = partial(self._part, key, made.nbytes)
        return made

    def _part(self, key: str, size: int) -> Span:
        return self.opener(key).sub(0, size)
