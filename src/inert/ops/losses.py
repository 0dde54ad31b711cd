"""What a repair tells: what was recovered and what was lost.

Knows: the words of the answer, which the command line and JSON repeat.
Refuses to know: how anything is found out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..finding import Finding


@dataclass(slots=True)
class Lost:
    """What is not in the repaired file: ``dtype``, ``shape`` and ``nbytes`` are None where nothing says them any more; ``nbytes`` of texts,
    too, whose size nothing but the texts themselves says."""

    name: str
    why: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    nbytes: int | None = None


@dataclass(slots=True)
class Repaired:
    """``written``: paths of files; ``format`` of them; ``recovered``: names of whole tensors; ``lost``; ``filled``: names of lost tensors
    that were filled, which are among the lost too; ``doubtful``: name → why its bytes may be wrong, of recovered tensors; ``more``: why
    there may have been more than anybody can name, "" where there was not; ``findings``: what was wrong (REPAIRS says what was done)."""

    written: list[str] = field(default_factory=list)
    format: str = ""
    recovered: list[str] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    doubtful: dict[str, str] = field(default_factory=dict)
    more: str = ""
    findings: list[Finding] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Whether everything was recovered, and nothing of it is in doubt."""
        return not (self.lost or self.doubtful or self.more)
