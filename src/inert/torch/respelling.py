"""How names and device tags are spelled in a pickle that is written: as they were, or as another machine or NumPy wants them.

Knows: NumPy's modules before and since its version 2, and where a persistent id says which device a storage came from.
Refuses to know: values. Only the words change, and so nothing else of the pickle does.

Facts: NumPy 2.0 renamed numpy.core to numpy._core; 1.26 reads both. torch 2.13 torch/serialization.py (persistent_id).
"""

from __future__ import annotations

from ..errors import UnsupportedError
from ..pickle.nodes import ByteString, Global, Reference

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..pickle.decode import Document

CORES = {1: "numpy.core", 2: "numpy._core"}
CPU = "cpu"
OLD_CPU = ByteString(b"cpu")


class Spelling:
    """``device``: "cpu", or "" for the tags as they are. ``numpy``: 1 or 2, or 0 for the names as they are."""

    __slots__ = ("device", "numpy")

    def __init__(self, device: str = "", numpy: int = 0) -> None:
        if device not in ("", CPU):
            raise UnsupportedError(f"device={device!r}", hint="cpu is the only device that every machine has")
        if numpy not in (0, *CORES):
            raise UnsupportedError(f"numpy={numpy!r}", hint="say 1 or 2")
        self.device = device
        self.numpy = numpy

    def __bool__(self) -> bool:
        return bool(self.device or self.numpy)

    def module(self, name: str) -> str:
        """A module's name in the wanted NumPy's spelling."""
        if self.numpy:
            for core in CORES.values():
                if name == core or name.startswith(f"{core}."):
                    return CORES[self.numpy] + name[len(core) :]
        return name

    def location(self, tag: Any) -> Any:
        """A storage's device tag. What is on the meta device has no data, and stays there."""
        if not self.device or tag in ("meta", b"meta", CPU, b"cpu"):
            return tag
        return OLD_CPU if type(tag) is ByteString else CPU

    def swaps(self, document: Document) -> dict[int, Any]:
        """Names that are spelled otherwise, by id of their nodes."""
        modules: dict[int, str] = {}  # by id: texts that the pickle shares stay shared
        found: dict[int, Any] = {}
        for node in document.globals if self.numpy else ():
            fresh = self.module(node.module)
            if fresh != node.module:
                found[id(node)] = Global(modules.setdefault(id(node.module), fresh), node.name, node.offset, node.how)
        return found

    def reference(self, node: Reference) -> Reference:
        """A persistent id with its device tag as wanted."""
        pid = node.pid
        if not self.device or type(pid) is not tuple or len(pid) < 5 or pid[0] not in ("storage", b"storage"):
            return node
        tag = self.location(pid[3])
        return node if tag is pid[3] else Reference((*pid[:3], tag, *pid[4:]), node.offset)


AS_IT_IS = Spelling()
