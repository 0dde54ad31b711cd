"""A tensor → a .npy file, complete or not there at all.

Knows: NumPy's file format, and which elements it can hold (bfloat16 and float8 are widened to float32, which holds them exactly).
Refuses to know: names and commands.
"""

from __future__ import annotations

import os

from ..errors import UnsupportedError
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO


def write_npy(tensor: Tensor | None, path: str, source: str) -> dict[str, Any]:
    """Write the elements in row-major order: first to a file beside ``path``, which then takes its place. What was written, plainly.

    UnsupportedError where the value is no tensor, has no single array, or ``path`` is the checkpoint itself; OSError passes through."""
    if tensor is None:
        raise UnsupportedError("this value is no tensor, so there is nothing for --npy to write", hint="--json writes it as JSON")
    if os.path.exists(path) and os.path.exists(source) and os.path.samefile(path, source):
        raise UnsupportedError("--npy would overwrite the checkpoint itself", part=path)
    folder, name = os.path.split(os.path.abspath(path))
    beside = os.path.join(folder, f".{name[:80]}.{os.getpid()}.tmp")
    try:
        with open(beside, "xb") as file:
            made = _pour(tensor, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == beside:
            error.filename = path  # what was asked for; the other is this module's own
        if os.path.exists(beside):
            os.unlink(beside)
        raise
    return {"path": path, **made}


def _pour(tensor: Tensor, file: BinaryIO) -> dict[str, Any]:
    import numpy as np

    from ..report.show import array_of
    from ..stats import numbers, pieces

    dtype = tensor.dtype
    streamed = tensor.kind in ("dense", "numpy", "quantized") and dtype.packed == 1
    if streamed:  # memory stays bounded, however large the tensor
        shape = tensor.shape
        kind = numbers(b"", dtype).dtype
    else:
        array = array_of(tensor)
        shape, kind = array.shape, array.dtype
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": tuple(shape)}
    np.lib.format.write_array_header_1_0(file, header)
    if streamed:
        for piece, _ in pieces(tensor):
            file.write(piece.tobytes())
    else:
        file.write(array.tobytes())
    note = "the stored integers" if tensor.kind == "quantized" else ""
    if kind.name != dtype and dtype.kind in "fc":
        note = f"{dtype} widened, exactly"
    return {"dtype": kind.name, "shape": list(shape), "note": note}
