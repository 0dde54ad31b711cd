"""What is left of a tar archive of torch.save before PyTorch 0.1.10.

Knows: the members that torch needs, found by their headers wherever these stand; a storage that is cut short is taken as far as it goes.
Refuses to know: what the streams mean (torch/tar.py).
"""

from __future__ import annotations

from ..containers.tar import BLOCK, Member, Tar, is_header, number
from ..errors import FormatError, InertError
from ..finding import Finding
from ..formats.torch_tar import NEEDED, TorchTar
from ..layout import Layout
from ..pickle.decode import decode
from ..pickle.partial import decode_cut, rescue
from ..tensor import Tensor
from ..torch.build import Builder
from ..torch.tar import Objects
from .held import Salvage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..pickle.decode import Document
    from ..source import Source

BLOCKS = 1 << 22  # blocks that are looked at for a member's header


class Partial(Objects):
    partial = True


class SalvagedTar(TorchTar):
    def _object(self) -> Document:
        if self._document is None and "pickle" in self.tar.members:
            self._document = decode_cut(self.tar.content("pickle", cut=True).read(), "pickle", self.limits)
            self.open_ = rescue(self._document) if self._document.fault is not None else []
        if self._document is None:
            self._document = decode(b"N.", "pickle", self.limits)
            self.open_ = []
        return self._document

    def _held(self) -> Objects:
        if self._objects is None:
            self._objects = Partial(self._stream("storages"), self._stream("tensors"), self.limits)
        return self._objects

    def root(self, convert: Callable[[Tensor], Any] | None = None) -> tuple[Any, list[Finding]]:
        document, held = self._object(), self._held()
        builder = Builder(document, held, self.limits, convert)
        value = builder.build() if document.root is not None else {}
        if document.fault is None and "pickle" in self.tar.members:
            return value, builder.notes
        made = value if isinstance(value, dict) else {"": value}
        for key, layout in held.keyed.items():  # what nothing names
            if isinstance(layout, Layout) and id(layout) not in builder.done:
                made[f"(unnamed tensor {key})"] = Tensor(layout, self.limits)
        return made, builder.notes


def read(source: Source, limits: Limits, byteorder: str | None, raw: bool) -> Salvage | None:
    if source.size < BLOCK:
        return None
    try:
        archive = Tar(source, limits)
    except FormatError:
        return None
    first = next(iter(archive.members), "")
    if not is_header(source.read(0, BLOCK)) or first in ("sys_info", *NEEDED):
        _search(archive, source, limits)
    if not any(name in archive.members for name in NEEDED):
        return None
    if "storages" not in archive.members or "tensors" not in archive.members:
        lost = [name for name in ("tensors", "storages") if name not in archive.members]
        raise FormatError(f"nothing can be recovered: {' and '.join(lost)} of this archive are not in the file", part=source.name)
    content = SalvagedTar(source, limits, archive)
    made = Salvage(content)
    document = content._object()
    if document.fault is not None:
        made.notes.append(Finding("pickle-broken", document.fault.message, "pickle", document.fault.offset))
        made.lost += [(".".join(map(str, path)), "the pickle ends before it says what this is") for path in content.open_]
    if "pickle" not in archive.members:
        made.notes.append(Finding("pickle-broken", "the pickle that names the tensors is not in the file", source.name))
    if document.fault is not None or "pickle" not in archive.members:
        made.more = "the pickle that names the tensors is damaged or missing"
    for note in content._held().notes:
        if note.where.part == "tensors":
            made.more = f"the list of tensors ends early: {note.message}"
    return made


def _search(archive: Tar, source: Source, limits: Limits) -> None:
    """Members whose headers the archive's chain does not lead to."""
    missing = [name for name in ("sys_info", *NEEDED) if name not in archive.members]
    heads = tuple(name.encode() + b"\0" for name in missing) + tuple(b"./" + name.encode() + b"\0" for name in missing)
    if not missing:
        return
    for at in range(0, min(source.size - BLOCK + 1, BLOCKS * BLOCK), BLOCK):
        if not source.read(at, 12).startswith(heads):
            continue
        try:
            header = source.read(at, BLOCK)
        except InertError:
            return
        name = header[:100].partition(b"\0")[0].decode("utf-8", "replace").removeprefix("./")
        if is_header(header) and name not in archive.members:
            archive.members[name] = Member(name, at + BLOCK, number(header[124:136]) or 0)
