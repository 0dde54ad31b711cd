"""Torch's spelling of element types and storages.

Knows: the storage classes, the dtype names, the layouts and the quantisation schemes that torch pickles name.
Refuses to know: how tensors are built from them (rebuild.py).

Facts: torch 2.13 (torch/storage.py, torch/__init__.py, c10/core/ScalarType.h); PyTorch 0.x spelled the same classes under torch.cuda.
"""

from __future__ import annotations

from ..dtypes import DTYPES, DType

UINT8 = DTYPES["uint8"]

_CLASSES = {
    "Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64", "Int": "int32", "Short": "int16",
    "Char": "int8", "Byte": "uint8", "Bool": "bool", "ComplexDouble": "complex128", "ComplexFloat": "complex64", "QInt8": "qint8",
    "QUInt8": "quint8", "QInt32": "qint32", "QUInt4x2": "quint4x2", "QUInt2x4": "quint2x4",
}  # fmt: skip

CLASS_OF: dict[DType, str] = {DTYPES[dtype]: name for name, dtype in _CLASSES.items()}  # types without one are written untyped

# global → element type: what a persistent id names …
STORAGE_TYPES: dict[str, DType] = {
    f"{module}.{name}Storage": DTYPES[dtype] for name, dtype in _CLASSES.items() for module in ("torch", "torch.cuda", "torch.storage")
}
# … the names that only the C++ pickler writes (TorchScript, torch::pickle_save): it has one for every ScalarType …
_CPP = {
    "ComplexHalf": "complex32", "UInt16": "uint16", "UInt32": "uint32", "UInt64": "uint64", "Float8_e5m2": "float8_e5m2",
    "Float8_e4m3fn": "float8_e4m3fn", "Float8_e5m2fnuz": "float8_e5m2fnuz", "Float8_e4m3fnuz": "float8_e4m3fnuz",
    "Float8_e8m0fnu": "float8_e8m0fnu", "Float4_e2m1fn_x2": "float4_e2m1fn_x2", "Bits1x8": "bits1x8", "Bits2x4": "bits2x4",
    "Bits4x2": "bits4x2", "Bits8": "bits8", "Bits16": "bits16",
}  # fmt: skip
STORAGE_TYPES.update({f"torch.{name}Storage": DTYPES[dtype] for name, dtype in _CPP.items()})
UNTYPED = frozenset(("torch.storage.UntypedStorage", "torch.UntypedStorage", "torch.storage._UntypedStorage", "torch._UntypedStorage"))
STORAGE_TYPES.update(dict.fromkeys(UNTYPED, UINT8))

# … and the tensor classes of PyTorch 0.1, whose objects are rebuilt as class(storage, offset, size, stride)
TENSOR_TYPES: dict[str, DType] = {
    f"{module}.{name}Tensor": DTYPES[dtype] for name, dtype in _CLASSES.items() for module in ("torch", "torch.cuda")
}

_TORCH_ONLY = {"string", "variant", "resource", "float8_e4m3b11fnuz", "int2", "int4", "uint2", "uint4", "qint16", "quint16"}
_ALIASES = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "short": "int16",
            "cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32"}  # fmt: skip

# dtype values: torch.float32 …
DTYPE_VALUES: dict[str, DType] = {f"torch.{name}": dtype for name, dtype in DTYPES.items() if name not in _TORCH_ONLY}
DTYPE_VALUES.update({f"torch.{alias}": DTYPES[name] for alias, name in _ALIASES.items()})

# other bare names of torch that are plain values, by the text they are shown as
PLAIN_VALUES = frozenset(
    f"torch.{name}"
    for name in (
        "per_tensor_affine", "per_tensor_symmetric", "per_channel_affine", "per_channel_symmetric", "per_channel_affine_float_qparams",
        "strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc",
        "contiguous_format", "channels_last", "channels_last_3d", "preserve_format",
    )
)  # fmt: skip

# C10's numbers of element types, which TorchScript writes for a dtype: c10/core/ScalarType.h. None: no type of torch 2.13's that holds data
SCALAR_TYPES: tuple[DType | None, ...] = tuple(
    DTYPES.get(name)
    for name in (
        "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64", "complex128", "bool",
        "qint8", "quint8", "qint32", "bfloat16", "quint4x2", "quint2x4", "bits1x8", "bits2x4", "bits4x2", "bits8", "bits16",
        "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16", "uint32", "uint64",
        *["(sub-byte integers)"] * 14, "float8_e8m0fnu", "float4_e2m1fn_x2",
    )
)  # fmt: skip

# C10's numbers of sparse layouts that the C++ pickler writes: c10/core/Layout.h
SPARSE_NUMBERS = {1: "torch.sparse_coo", 2: "torch.sparse_csr", 4: "torch.sparse_csc", 5: "torch.sparse_bsr", 6: "torch.sparse_bsc"}

# sparse layout → the roles of its component tensors, in the order torch pickles them
SPARSE_PARTS = {
    "torch.sparse_coo": ("indices", "values"),
    "torch.sparse_csr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_bsr": ("crow_indices", "col_indices", "values"),
    "torch.sparse_csc": ("ccol_indices", "row_indices", "values"),
    "torch.sparse_bsc": ("ccol_indices", "row_indices", "values"),
}
