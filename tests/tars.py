"""Checkpoints in the tar layout, by the writer's own steps: no program that writes it can be installed any more.

Knows: PyTorch 0.1.9's ``torch.save`` (torch/serialization.py of that version): which members, which pickles, which raw numbers.
Refuses to know: inert. ``tests/oracle/test_tar_oracle.py`` holds what this makes against what torch 2.13 reads from it.
"""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
from typing import Any

from tests.makers import KINDS, Name, Pid, dumps

SYSTEM = {"protocol_version": 1000, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
WIDTHS = {"Float": 4, "Double": 8, "Half": 2, "Long": 8, "Int": 4, "Short": 2, "Byte": 1}


def storages(rows: list[tuple[int, str, bytes]], views: list[tuple[int, int, int, int]] = [], location: str = "cpu") -> bytes:  # noqa: B006
    """rows: key, kind (Float …), bytes · views: key, key of the root, offset and size in elements."""
    out = dumps(len(rows))
    for key, kind, raw in rows:
        out += (
            dumps((key, location, KINDS.get(kind) or Name("torch", f"{kind}Storage"))) + struct.pack("<q", len(raw) // WIDTHS[kind]) + raw
        )
    return out + dumps(list(views))


def tensors(rows: list[tuple[int, int, str, tuple[int, ...], tuple[int, ...], int]]) -> bytes:
    """rows: key, key of the storage, kind, sizes, strides, offset in elements."""
    out = dumps(len(rows))
    for key, held, kind, shape, strides, offset in rows:
        out += dumps((key, held, Name("torch", f"{kind}Tensor"))) + struct.pack("<ii", len(shape), 0)
        out += struct.pack(f"<{2 * len(shape) + 1}q", *shape, *strides, offset)
    return out


def archive(members: dict[str, bytes | tarfile.TarInfo], format: int = tarfile.PAX_FORMAT) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as file:
        for name, data in members.items():
            if isinstance(data, tarfile.TarInfo):
                file.addfile(data)
                continue
            info = tarfile.TarInfo(name)
            info.size = len(data)
            file.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def checkpoint(root: Any, held: bytes, listed: bytes) -> bytes:
    return archive({"sys_info": pickle.dumps(SYSTEM, 2), "pickle": dumps(root), "tensors": listed, "storages": held})


def key(number: int) -> Pid:
    return Pid(str(number))


def sample() -> bytes:
    """Two storages, a view of the first, three tensors; one is reached twice."""
    floats = struct.pack("<8f", *range(8))
    held = storages([(1, "Float", floats), (2, "Long", struct.pack("<2q", -1, 7))], [(3, 1, 2, 4)])
    listed = tensors([(10, 1, "Float", (2, 3), (3, 1), 1), (11, 2, "Long", (2,), (1,), 0), (12, 3, "Float", (2, 2), (1, 2), 0)])
    return checkpoint({"w": key(10), "n": [key(11), key(11)], "v": key(12), "epoch": 3}, held, listed)
