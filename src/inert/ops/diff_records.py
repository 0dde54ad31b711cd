"""What two files hold besides their saved objects: source code, metadata.

Knows: which records make a program another one, and which formats have metadata of their users.
Refuses to know: formats' own bookkeeping, which says nothing about values.
"""

from __future__ import annotations

from .diff_elements import same_bytes
from .diff_kinds import MISSING
from .diff_result import Difference, Minor
from .diff_values import LISTED, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..checkpoint import Checkpoint
    from ..content import Part
    from ..source import Span

CODE = frozenset(("code",))  # parts that are neither tensors nor values, and yet what a program is
NAMED = frozenset(("safetensors", "sharded"))  # formats whose metadata is their users' own


def compare_code(made: Difference, a: Checkpoint, b: Checkpoint) -> None:
    """Source code in files of one format: another program, even where its weights are the same."""
    if a.format != b.format or a is b:
        return
    mine, its = ({_inner(name): part for name, part in side.parts.items() if part.role in CODE} for side in (a, b))
    for name in dict.fromkeys([*mine, *its]):
        one, other = mine.get(name), its.get(name)
        if one is not None and other is not None and _same_part(a, one, b, other):
            continue
        made.values_count += 1
        if len(made.values) < LISTED:
            left, right = (MISSING if part is None else f"{part.size:,} bytes of {part.role}" for part in (one, other))
            made.values.append(Value(name, left, right))


def _same_part(a: Checkpoint, one: Part, b: Checkpoint, other: Part) -> bool:
    """Whether two records hold the same: by their bytes where these lie plainly, else by size and checksum."""
    if one.size != other.size:
        return False
    left, right = _span(a, one), _span(b, other)
    return one.crc32 == other.crc32 if left is None or right is None else same_bytes(left, right, _untold)


def _span(ckpt: Checkpoint, part: Part) -> Span | None:
    source = ckpt.content.source
    if part.offset is None or part.compressed not in (None, part.size) or part.file != source.name or not source.whole:
        return None
    return source.span(part.offset, part.size) if part.offset + part.size <= source.size else None


def _inner(name: str) -> str:
    """A record's name without the archive's own folder, which is named like the file."""
    return name.partition("/")[2] or name


def compare_metadata(made: Difference, a: Checkpoint, b: Checkpoint) -> None:
    if a.format not in NAMED or b.format not in NAMED:
        return
    mine, its = dict(a.metadata), dict(b.metadata)
    names = [key for key in dict.fromkeys([*mine, *its]) if mine.get(key) != its.get(key)]
    if names:
        made.minor.append(Minor("metadata", names, count=len(names)))


def _untold(count: int) -> None:
    """Records are small: nobody waits for them."""
