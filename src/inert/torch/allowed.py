"""What torch 2.13 allows, lacks, and has had since when: the tables behind "would torch.load take it?".

Knows: the 144 names that ``weights_only=True`` allows by default, those that some import adds, the names of older and newer torch that
2.13 does not have, and the first torch that reads each thing a file may hold.
Refuses to know: how a file is judged by them (weights.py, predict.py).

Facts: torch 2.13's ``torch._weights_only_unpickler._get_allowed_globals()`` and ``get_safe_globals()`` after ``import torch``, held
against this table by tests/oracle/test_predict_oracle.py; the Python sources and headers of torch 1.0 to 2.14 for the first versions,
tried out with torch 1.5.1 on files of every later writer.
"""

from __future__ import annotations

from ..pickle.python2 import looked_up

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..pickle.nodes import Global

TORCH = "2.13"  # the version that every sentence of predict.py speaks of
BLOCKED_MODULES = frozenset(("sys", "os", "posix", "nt"))  # refused even where the caller allows a name of theirs

_NUMBERS = ["Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte"]
_MORE = ["Bool", "ComplexDouble", "ComplexFloat"]
_QUANTIZED = ["QInt8", "QInt32", "QUInt8", "QUInt4x2", "QUInt2x4"]
_DTYPES = [
    "float64",
    "float32",
    "float16",
    "bfloat16",
    "complex128",
    "complex64",
    "complex32",
    "int64",
    "int32",
    "int16",
    "int8",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
    "float8_e4m3fn",
    "float8_e5m2",
    "float8_e4m3fnuz",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float4_e2m1fn_x2",
    "bits8",
    "bits16",
    "bits1x8",
    "bits2x4",
    "bits4x2",
    "qint8",
    "qint32",
    "quint8",
    "quint4x2",
    "quint2x4",
]
REBUILDS = frozenset(
    f"torch._utils._rebuild_{name}"
    for name in (
        "tensor", "tensor_v2", "tensor_v3", "parameter", "parameter_with_state", "sparse_tensor", "qtensor", "nested_tensor",
        "meta_tensor_no_storage", "wrapper_subclass", "device_tensor_from_cpu_tensor", "device_tensor_from_numpy",
    )
) | {"torch._tensor._rebuild_from_type_v2"}  # fmt: skip
TENSOR_CLASSES = frozenset(
    [f"{module}.{name}Tensor" for module in ("torch", "torch.cuda", "torch.sparse", "torch.cuda.sparse") for name in _NUMBERS]
    + ["torch.BoolTensor", "torch.cuda.BoolTensor"]
)
STORAGE_CLASSES = frozenset(
    [f"torch.{name}Storage" for name in _NUMBERS + _MORE + _QUANTIZED]
    + [f"torch.cuda.{name}Storage" for name in _NUMBERS + _MORE]
    + ["torch.storage.UntypedStorage", "torch.storage.TypedStorage"]
)
DATA = frozenset((
    "collections.OrderedDict", "collections.Counter", "builtins.bytearray", "builtins.set", "builtins.complex", "_codecs.encode",
    "torch.Size", "torch.Tensor", "torch.device", "torch.nn.parameter.Parameter", "torch.serialization._get_layout",
))  # fmt: skip
CONSTANTS = frozenset(
    [f"torch.{name}" for name in _DTYPES]
    + [f"torch.{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)]
    + [f"torch.per_{name}" for name in ["tensor_affine", "tensor_symmetric", "channel_affine", "channel_symmetric"]]
    + ["torch.per_channel_affine_float_qparams"]
)
ALLOWED = REBUILDS | TENSOR_CLASSES | STORAGE_CLASSES | DATA | CONSTANTS

# What ``import torch`` itself allows beyond that list …
REGISTERED = frozenset((
    "torch.nested._internal.nested_tensor.NestedTensor", "torch.nested._internal.nested_tensor._rebuild_njt",
    "torch.distributed._mesh_layout._MeshLayout", "torch.distributed._mesh_layout._FlatLayout",
))  # fmt: skip
# … and what further imports add to it: name → the module to import first.
LATER = dict.fromkeys(
    (
        "torch.distributed.device_mesh.DeviceMesh", "torch.distributed.tensor.DTensor",
        "torch.distributed.tensor._dtensor_spec.DTensorSpec", "torch.distributed.tensor._dtensor_spec.ShardOrderEntry",
        "torch.distributed.tensor._dtensor_spec.TensorMeta", "torch.distributed.tensor.placement_types.Partial",
        "torch.distributed.tensor.placement_types.Replicate", "torch.distributed.tensor.placement_types.Shard",
        "torch.distributed.tensor.placement_types._StridedShard",
    ),
    "torch.distributed.tensor",
) | {"torch._dynamo.decorators._DimRange": "torch._dynamo"}  # fmt: skip

DEVICES = frozenset(
    [
        "cpu",
        "cuda",
        "ipu",
        "xpu",
        "mkldnn",
        "opengl",
        "opencl",
        "ideep",
        "hip",
        "ve",
        "fpga",
        "maia",
        "xla",
        "lazy",
        "vulkan",
        "mps",
        "meta",
        "hpu",
        "mtia",
        "privateuseone",
    ]
)
LAYOUTS = frozenset(
    f"torch.{name}" for name in ["strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged"]
)

# Names of torch that 2.13 does not have → what became of them. A full load ends with AttributeError or ModuleNotFoundError.
GONE = {
    "torch.nn.modules.linear._LinearWithBias": "torch 1.9 renamed it to NonDynamicallyQuantizableLinear",
    "torch.storage._UntypedStorage": "torch 1.13 renamed it to UntypedStorage",
    "torch.storage._TypedStorage": "torch 1.13 renamed it to TypedStorage",
    "torch._utils._rebuild_sparse_csr_tensor": "torch 2.0 removed it",
    "torch._utils._rebuild_mlc_tensor": "torch 1.12 removed it",
    "torch.distributed._tensor.placement_types._Partial": "renamed to Partial between torch 2.3 and 2.6",
}
GONE["torch.bcomplex32"] = "torch 2.14 brought it"
GONE_MODULES = {
    "torch._six": "torch 2.0 removed it",
    "torch.legacy": "torch 1.0 removed it",
    "torch.nn._functions": "torch 1.5 removed it",
    "torch.nn.backends.backend": "torch 1.5 removed it",
    "torch.utils.bottleneck": "torch has removed it",
}
# Objects whose class is there, but whose own code cannot restore what an older torch wrote.
CHANGED = {"torch.nn.quantized.modules.linear.LinearPackedParams": "its class has changed since torch 1.13"}

# Attributes of a tensor that a state cannot set (torch 2.13: setattr on a plain tensor, tried one by one).
FIXED = frozenset((
    "H", "T", "__class__", "__cuda_array_interface__", "__dict__", "__weakref__", "_base", "_cdata", "_python_dispatch",
    "_version", "device", "dtype", "grad_fn", "is_cpu", "is_cuda", "is_ipu", "is_leaf", "is_maia", "is_meta", "is_mkldnn",
    "is_mps", "is_mtia", "is_nested", "is_quantized", "is_sparse", "is_sparse_csr", "is_vulkan", "is_xla", "is_xpu", "itemsize",
    "layout", "mH", "mT", "name", "nbytes", "ndim", "output_nr", "retains_grad", "shape",
))  # fmt: skip


def torch_name(name: Global) -> str:
    """The name under which torch looks it up in its list."""
    return ".".join(looked_up(name.module, name.name))


def allowed(name: Global) -> bool:
    """Whether ``weights_only=True`` lets the name pass, in a program that has imported nothing but torch."""
    dotted = torch_name(name)
    return (dotted in ALLOWED or dotted in REGISTERED) and name.module not in BLOCKED_MODULES


# -- the first torch that reads it -------------------------------------------------------------------------------------------

OLDEST = (1, 5)  # of the zip container with data/ records and version 3; torch 1.6 is the first that writes it by default
OLDEST_LEGACY = (0, 1)  # of several pickles end to end (0.1.10); what they hold is mostly younger
# highest version record → first torch that reads it
VERSIONS = {3: (1, 5), 5: (1, 6), 6: (1, 9), 9: (1, 11), 10: (1, 12)}
FIRST: dict[str, tuple[int, int]] = {
    "torch._utils._rebuild_tensor_v2": (0, 4),
    "torch._utils._rebuild_parameter": (1, 0),
    "torch.BoolStorage": (1, 1),
    "torch.BFloat16Storage": (1, 2),
    "torch.QInt8Storage": (1, 2),
    "torch.QUInt8Storage": (1, 2),
    "torch.QInt32Storage": (1, 2),
    "torch._utils._rebuild_qtensor": (1, 2),
    "torch._utils._rebuild_sparse_tensor": (1, 4),
    "torch.serialization._get_layout": (1, 4),
    "torch.ComplexFloatStorage": (1, 6),
    "torch.ComplexDoubleStorage": (1, 6),
    "torch.QUInt4x2Storage": (1, 8),
    "torch.QUInt2x4Storage": (1, 11),
    "torch.storage._UntypedStorage": (1, 12),
    "torch.storage.UntypedStorage": (1, 13),
    "torch.storage.TypedStorage": (1, 13),
    "torch.tensor._rebuild_from_type": (1, 8),
    "torch._tensor._rebuild_from_type": (1, 9),
    "torch._tensor._rebuild_from_type_v2": (1, 10),
    "torch._utils._rebuild_meta_tensor_no_storage": (1, 10),
    "torch._utils._rebuild_device_tensor_from_numpy": (1, 10),
    "torch._utils._rebuild_sparse_csr_tensor": (1, 11),
    "torch._utils._rebuild_wrapper_subclass": (1, 12),
    "torch._utils._rebuild_parameter_with_state": (2, 0),
    "torch._utils._rebuild_nested_tensor": (2, 2),
    "torch._utils._rebuild_tensor_v3": (2, 2),
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": (2, 6),
    "torch.nested._internal.nested_tensor.NestedTensor": (2, 2),
    "torch.nested._internal.nested_tensor._rebuild_njt": (2, 6),
    "torch.uint16": (2, 3),
    "torch.uint32": (2, 3),
    "torch.uint64": (2, 3),
    "torch.float8_e8m0fnu": (2, 7),
    "torch.float4_e2m1fn_x2": (2, 8),
    "torch.bcomplex32": (2, 14),
    "torch.per_channel_affine_float_qparams": (1, 7),
    "torch.nn.modules.linear.NonDynamicallyQuantizableLinear": (1, 9),
    "torch.nn.parameter.UninitializedParameter": (1, 8),
}
# prefix of a module → first torch that has it
FIRST_MODULES = {
    "torch.ao.nn": (1, 13),
    "torch.ao": (1, 9),
    "torch.distributed.tensor": (2, 5),
    "torch.distributed._tensor": (2, 0),
    "torch._dynamo": (2, 0),
}
BYTESWAP = (2, 1)  # the byteorder record is obeyed; older ones read a big-endian file as if it were of their own machine
METADATA = (2, 0)  # conj and neg bits: a seventh argument of _rebuild_tensor_v2
COALESCED = (2, 1)  # a fourth item of a sparse COO tensor's data
COMPRESSED = (2, 0)  # sparse CSR, CSC, BSR and BSC through _rebuild_sparse_tensor
