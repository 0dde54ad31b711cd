"""One file of the page, opened: its checkpoint or why there is none, and what has been worked out of it.

Knows: that a file that cannot be opened still has records and a verdict, and that each answer is worked out once.
Refuses to know: how answers are asked for and written.
"""

from __future__ import annotations

import os
from threading import RLock

from ..errors import InertError
from ..reading import open as open_checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..checkpoint import Checkpoint
    from ..tensor import Tensor


class Opened:
    """``checkpoint`` or ``refusal``; ``tensors`` as a list, whose positions are the row numbers that the page speaks of."""

    def __init__(self, path: str, index: int = 0, byteorder: str | None = None) -> None:
        """OSError where there is no such file."""
        self.path = path
        self.index = index
        self.refusal: InertError | None = None
        self._checkpoint: Checkpoint | None = None
        self._made: dict[Any, Any] = {}
        self._lock = RLock()
        try:
            self._checkpoint = open_checkpoint(path, byteorder=byteorder)
        except InertError as error:
            self.refusal = error

    @property
    def checkpoint(self) -> Checkpoint:
        """Raises what refused the file."""
        if self._checkpoint is None:
            assert self.refusal is not None
            raise self.refusal
        return self._checkpoint

    @property
    def size(self) -> int:
        """Bytes of the file; of a folder or a set those of all its files, where it could be opened."""
        if self._checkpoint is not None:
            return self._checkpoint.content.source.size
        return os.path.getsize(self.path) if os.path.isfile(self.path) else 0

    def read_from(self) -> set[str]:
        """The paths of the files that it is."""
        return {self.path} | (self._checkpoint.content.read_from() if self._checkpoint is not None else set())

    @property
    def tensors(self) -> list[Tensor]:
        made: list[Tensor] = self.once("tensors", lambda: list(self.checkpoint.tensors.values()))
        return made

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, made when first asked for; several threads may ask."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            return self._made[key]

    def close(self) -> None:
        if self._checkpoint is not None:
            self._checkpoint.close()
