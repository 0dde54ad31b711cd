"""A tensor → a .npy file.

Knows: NumPy's file format, and which elements it can hold (bfloat16 and float8 are widened to float32, which holds them exactly).
Refuses to know: names and commands.
"""

from __future__ import annotations

from ..errors import UnsupportedError
from ..sink import apart, destination
from ..tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..sink import Out


def write_npy(tensor: Tensor | None, path: str, files: set[str]) -> dict[str, Any]:
    """Write the elements in row-major order. What was written, plainly. ``files``: those of the checkpoint.

    UnsupportedError where the value is no tensor, has no single array, or ``path`` is one of ``files``; OSError passes through."""
    if tensor is None:
        raise UnsupportedError("this value is no tensor, so there is nothing for --npy to write", hint="--json writes it as JSON")
    apart([path], files)
    with destination(path) as out:
        made = _pour(tensor, out)
    return {"path": path, **made}


def _pour(tensor: Tensor, file: Out) -> dict[str, Any]:
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
