"""Any bytes as a torch-zip checkpoint: a result or an InertError, of one printable line, for everything that can be asked.

What two readings of the same bytes say is the same; no tensor gives more bytes than its shape says; nothing is called.
"""

from __future__ import annotations

import io
import struct
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

from driver import instrument, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    import inert
    from inert.errors import InertError
    from inert.limits import Limits

from tests.makers import PARAMETER, REBUILD_V3, Made, Name, dumps, storage, tensor, torch_entries, zip_bytes

READS = ("formats.torch_zip", "containers.zip", "torch.strided", "torch.rebuild")
LIMITS = Limits(inflated=1 << 22, logical_bytes=1 << 24, paths=500, name_bytes=1 << 22)


def refusal(error: InertError) -> str:
    assert str(error).isprintable()
    assert str(error).strip()
    return type(error).__name__


def tried(ask: Any) -> Any:
    try:
        return ask()
    except InertError as error:
        return refusal(error)


def said(data: bytes) -> Any:
    try:
        checkpoint = inert.open(io.BytesIO(data), limits=LIMITS)
    except InertError as error:
        return refusal(error)
    with checkpoint:
        found: list[Any] = []
        for name, held in list(checkpoint.tensors.items())[:50]:
            found.append((name, held.dtype, held.shape, held.kind, tried(held.sha256), tried(lambda held=held: held.file_offset)))
            array = tried(held.numpy)
            if not isinstance(array, str) and held.dtype.packed == 1:
                assert array.shape == held.shape
            if held.shape:
                tried(lambda held=held: held[0:1] if held.shape[0] else None)
            repr(held)
        notes = [(note.code, str(note)) for note in checkpoint.notes]
        assert all(text.isprintable() for _, text in notes)
        parts = [(name, part.offset, part.size, part.role) for name, part in checkpoint.parts.items()]
        return found, sorted(notes), parts, dict(checkpoint.metadata)


def one(data: bytes) -> None:
    assert said(data) == said(data)


FLOATS = struct.pack("<6f", *range(6))
STATE = {"w": tensor(storage("0", 6), (2, 3)), "p": Made(PARAMETER, (tensor(storage("0", 6), (3,), (2,)), True, OrderedDict()))}
COO = Made(
    Name("torch._utils", "_rebuild_sparse_tensor"),
    (Name("torch", "sparse_coo"), (tensor(storage("1", 2, "Long"), (1, 2)), tensor(storage("0", 6), (2,)), (4,))),
)
CSR = Made(
    Name("torch._utils", "_rebuild_sparse_tensor"),
    (
        Name("torch", "sparse_csr"),
        (tensor(storage("1", 2, "Long"), (2,)), tensor(storage("1", 2, "Long"), (1,)), tensor(storage("0", 6), (1,)), (1, 9)),
    ),
)
QUANTIZED = Made(
    Name("torch._utils", "_rebuild_qtensor"),
    (storage("2", 4, "QUInt4x2"), 0, (8,), (1,), (Name("torch", "per_tensor_affine"), 0.5, 1), False, OrderedDict()),
)
LATER = Made(REBUILD_V3, (storage("2", 4, "Untyped"), 0, (2,), (1,), False, OrderedDict(), Name("torch", "uint16")))
ARRAY = Made(
    Name("numpy.core.multiarray", "_reconstruct"), (Name("numpy", "ndarray"), (0,), b"b"),
    (1, (2,), Made(Name("numpy", "dtype"), ("f4", False, True), (3, "<", None, None, None, -1, -1, 0)), False, b"12345678"),
)  # fmt: skip
VALUES = {
    "od": OrderedDict(a=1),
    "date": Made(Name("datetime", "date"), (b"\x07\xe4\1\2",)),
    "path": Made(Name("pathlib", "PosixPath"), ("a", "b")),
    "array": ARRAY,
}
STORAGES = {"0": FLOATS, "1": struct.pack("<2q", 0, 1), "2": b"\x01\x23\x45\x67"}


def whole(obj: Any, protocol: int = 2, *, deflate: bool = False) -> bytes:
    entries = torch_entries(dumps(obj, protocol), STORAGES)
    if deflate:
        entries[0].method = 8
    return zip_bytes(entries, align=4)


run(
    one,
    seeds=[
        whole(STATE), whole(STATE, 4), whole({"coo": COO, "csr": CSR, "q": QUANTIZED, "v3": LATER}), whole(VALUES, 3), whole([STATE, VALUES], 5, deflate=True),
        whole(Made(Name("gone", "Net"), (), {"_parameters": {"w": STATE["w"]}, "_buffers": {}, "_modules": {}}, new=True)),
    ],
    smoke=2000,
)  # fmt: skip
