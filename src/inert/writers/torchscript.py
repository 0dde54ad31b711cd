"""torchscript: an archive of torch.jit.save again, with the elements of tensors replaced where they lie.

Knows: which records the replaced tensors lie in, and that nothing moves: only their bytes and the checksums of these records change.
Refuses to know: code, other types or shapes: what TorchScript's source says of a module is not looked at, so it must stay true.

Facts: torch 2.13 caffe2/serialize/inline_container.cc (headers and descriptors).
"""

from __future__ import annotations

from ..containers.zipdirectory import DEFLATED
from ..errors import UnsupportedError
from ..formats.torchscript import TorchScript
from ..layout import is_contiguous, pieces
from ..limits import DEFAULT
from ..names import Lister
from ..sink import Stream, length_of
from . import File, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..content import Content
    from ..sink import Out, Piece
    from ..source import Source
    from ..tensor import Tensor
    from . import Options, Saved

DESCRIPTOR = 8  # flag of a member whose checksum stands behind its data


def plan(saved: Saved, options: Options) -> Plan:
    content = saved.source.content if saved.source is not None else None
    if not isinstance(content, TorchScript):
        raise UnsupportedError("TorchScript holds a program, which cannot be made of tensors", hint="edit an archive of torch.jit.save")
    records: dict[str, list[tuple[int, Tensor]]] = {}
    for first, now in replaced(content, saved):
        name, at = place_of(first, content)
        records.setdefault(name, []).append((at, now))
    patches = [patch for name, changes in records.items() for patch in patched(content, name, changes)]
    return Plan([File("", content.source.size, lambda out: pour(out, content.source, sorted(patches, key=lambda patch: patch[0])))])


def replaced(content: Content, saved: Saved) -> list[tuple[Tensor, Tensor]]:
    """(tensor in the file, what takes its place) for all that differ. UnsupportedError where the names are not the same any more, where
    type or shape are not, or where a tensor that shares its storage is not replaced too."""
    before = Lister(content.listed(content.root()[0]), content.limits).tensors
    now = Lister(content.listed(saved.root), content.limits).tensors
    if list(before) != list(now):
        odd = next(iter(set(before) ^ set(now)), "")
        raise UnsupportedError(f"a module's tensors can be replaced, not added, renamed or taken out: {odd!r}")
    changed = [name for name in before if not same(before[name], now[name])]
    for name in changed:
        old, new = before[name], now[name]
        if (old.dtype, old.shape) != (new.dtype, new.shape):
            text = f"{name!r} is {old.dtype}{list(old.shape)} and cannot become {new.dtype}{list(new.shape)}"
            raise UnsupportedError(text, hint="the program expects what it was saved with")
    storages = {before[name].storage for name in changed}
    for name, tensor in before.items():
        if name not in changed and tensor.storage in storages:
            raise UnsupportedError(f"{name!r} shares its storage with a tensor that is replaced", hint="replace both")
    return [(before[name], now[name]) for name in changed]


def same(a: Tensor, b: Tensor) -> bool:
    """Whether a tensor is still the one in the file."""
    x, y = a.layout, b.layout
    keys = (x.storage.key if x.storage else None), (y.storage.key if y.storage else None)
    return keys[0] == keys[1] and (x.dtype, x.shape, x.strides, x.offset, x.kind) == (y.dtype, y.shape, y.strides, y.offset, y.kind)


def place_of(tensor: Tensor, content: TorchScript) -> tuple[str, int]:
    """(record, offset in it) of a tensor's elements, which must lie there in order."""
    layout = tensor.layout
    storage = layout.storage
    plain = layout.kind == "dense" and storage is not None and not (layout.fault or layout.conj or layout.neg)
    if not plain or storage is None or storage.order != "little" or not is_contiguous(layout.shape, layout.strides):
        raise UnsupportedError(f"{tensor.name!r} does not lie in order in one record, so it cannot be replaced in place")
    return content.folder + storage.key, layout.offset * layout.dtype.itemsize


def patched(content: TorchScript, name: str, changes: list[tuple[int, Tensor]]) -> Iterator[tuple[int, Piece]]:
    """(offset in the file, what to write there) for a record: its new bytes, and its checksum in both places."""
    archive = content.archive
    member = archive.members[name]
    if member.method == DEFLATED:
        raise UnsupportedError("its record is compressed, so nothing can be replaced in place", part=name)
    span = archive.span(member)
    once: dict[int, Tensor] = {}
    for at, tensor in changes:
        known = once.setdefault(at, tensor)
        if known is not tensor and known.sha256() != tensor.sha256():
            raise UnsupportedError("tied tensors are replaced by different ones", part=name, hint="give them the same elements")
    runs = [(at, elements(once[at])) for at in sorted(once)]
    for at, piece in runs:
        yield span.offset + at, piece
    if not member.crc32:
        return  # it was not computed
    raw = _crc(span_with(span.source, span.offset, span.length, runs)).to_bytes(4, "little")
    if member.flags & DESCRIPTOR:
        yield span.offset + span.length + 4, raw
    else:
        yield member.offset + 14, raw
    yield archive.directory.offset + archive.members.places[name] + 16, raw


def elements(tensor: Tensor) -> Piece:
    layout = tensor.layout
    return Stream(tensor.nbytes, lambda: pieces(layout, DEFAULT))


def span_with(source: Source, start: int, length: int, runs: list[tuple[int, Piece]]) -> Iterator[Piece]:
    """A run of the source with other bytes at some places."""
    at = 0
    for place, piece in runs:
        if place < at:
            raise UnsupportedError("two tensors that overlap are replaced by different ones", hint="replace one of them")
        yield source.span(start + at, place - at)
        yield piece
        at = place + length_of(piece)
    yield source.span(start + at, length - at)


def _crc(parts: Iterator[Piece]) -> int:
    from isal.isal_zlib import crc32

    value = 0
    for part in parts:
        for block in part.chunks() if not isinstance(part, bytes) else [part]:
            value = crc32(block, value)
    return value


def pour(out: Out, source: Source, patches: list[tuple[int, Piece]]) -> None:
    for piece in span_with(source, 0, source.size, patches):
        out.pour(piece)
