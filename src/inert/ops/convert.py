"""``inert.convert``: any checkpoint that can be read → any format that can be written, changed only where asked.

Knows: the order in which changes are made, and that the whole plan stands before a byte is written.
Refuses to know: how each change is made (the other modules here) and how a format is written (writers).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ..loading import find
from ..reading import open
from ..saving import save, tensors_in
from .select import rename as renamed
from .select import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..finding import Finding
    from ..limits import Limits
    from ..sink import Progress


@dataclass(frozen=True, slots=True)
class Converted:
    """What was written: paths of ``written`` files; ``lost``: (name of a value, why it is not in them); ``dropped``: names that were to be
    taken out; ``renamed``: old names → new ones; ``notes``: what else is worth knowing."""

    written: list[str]
    lost: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    notes: list[Finding] = field(default_factory=list)


def convert(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    to: str | None = None,
    root: str | None = None,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    rename: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    protocol: int = 2,
    alignment: int = 64,
    byteorder: str | None = None,
    limits: Limits | None = None,
    sync: bool = True,
    progress: Progress | None = None,
) -> Converted:
    """Write ``source`` as ``destination``, whose suffix says the format, or ``to`` does. Without changes a file is copied as it is.

    ``root``: only the value at this dotted path · ``keep``, ``drop``: patterns of names (as ``inert ls`` takes them) that stay or go ·
    ``rename``: regular expressions and what takes the place of their matches in tensor names, in order · ``protocol``, ``alignment``,
    ``sync``, ``progress``: as ``inert.save`` takes them. The source may be the destination.
    Raises as ``inert.open`` and ``inert.save`` do; UnsupportedError where two tensors would have one name."""
    from ..limits import DEFAULT
    from ..writers import Options, Saved, writer_for

    name = os.fspath(destination)
    rules = list(rename.items() if hasattr(rename, "items") else rename)
    with open(source, byteorder=byteorder, limits=limits or DEFAULT) as ckpt:
        writer = writer_for(name, to, 0, ckpt.format if ckpt.format == "torchscript" else "")  # old layouts become the new one
        value: Any = ckpt.root if root is None else find(ckpt.root, root)
        dropped = select(value, keep, drop) if keep or drop else []
        names = renamed(value, rules, ckpt.content.limits) if rules else {}
        if root is None and writer.id == ckpt.format:
            made = save(ckpt, name, format=writer.id, protocol=protocol, alignment=alignment, sync=sync, progress=progress)
            return Converted(made.files, made.lost, dropped, names, made.notes)
        saved = Saved(value, tensors_in(value), None, ckpt)
        plan = writer.plan(saved, Options(name, protocol, alignment))
        return Converted(plan.pour(name, sync=sync, progress=progress), plan.lost, dropped, names, plan.notes)
