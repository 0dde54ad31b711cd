"""npy: what numpy.save writes for one array in row-major order.

Knows: NumPy's header and the element types that NumPy has itself. Refuses to know: how files are put together (npz.py).

Facts: NumPy 2.4 numpy/lib/format.py (version 1.0 of the format; the header padded to 64 bytes).
"""

from __future__ import annotations

import io

from ..errors import UnsupportedError
from ..sink import length_of
from . import File, Plan, recast
from .flat import Flat, elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sink import Out, Piece
    from ..tensor import Tensor
    from . import Options, Saved

NATIVE = frozenset(
    ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
     "complex128")
)  # fmt: skip
CASTS = {"bcomplex32": "complex64", "complex32": "complex64"}


def plan(saved: Saved, options: Options) -> Plan:
    flat = flattened(saved, options)
    if len(flat.tensors) != 1:
        names = ", ".join(list(flat.tensors)[:5])
        raise UnsupportedError(
            f"a .npy file holds one array, and here are {len(flat.tensors):,}: {names}", hint="keep one of them, or write .npz"
        )
    ((name, tensor),) = flat.tensors.items()
    head, piece = array(name, tensor)

    def write(out: Out) -> None:
        out.write(head)
        out.pour(piece)

    beside = flat.sidecar(options.name.replace("\\", "/").rpartition("/")[2])
    return Plan([*beside, File("", len(head) + length_of(piece), write)], flat.lost, flat.notes)


def flattened(saved: Saved, options: Options) -> Flat:
    if options.leaves == "metadata":
        raise UnsupportedError("NumPy's files hold no metadata", hint="leaves=sidecar keeps other values in a file beside")
    return Flat(saved, options, alias=False)


def array(name: str, tensor: Tensor) -> tuple[bytes, Piece]:
    """Header and elements of one array. UnsupportedError naming it where NumPy's files have no such type."""
    import numpy as np

    piece = elements(name, tensor)
    dtype = tensor.dtype
    if dtype not in NATIVE:
        to = CASTS.get(dtype, "float32" if dtype.kind == "f" else "int8")
        raise UnsupportedError(f"NumPy's files have no {dtype}", part=name, hint=f"write safetensors, or {recast(name, dtype, to)}")
    head = io.BytesIO()
    facts = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype.numpy).newbyteorder("<")), "fortran_order": False, "shape": tensor.shape}
    np.lib.format.write_array_header_1_0(head, facts)
    return head.getvalue(), piece
