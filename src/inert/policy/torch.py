"""Judged names of PyTorch.

Knows: what torch's own pickles are made of, name by name; classes of torch.nn and torch.optim, whose state is set by torch's own code;
parts of torch that compile, load, run or download.
Refuses to know: what a network does when somebody runs it.

Facts: the sources of torch 0.1 to 2.14; names seen in published advisories about pickle scanners up to 2026. An object of a class of
torch.nn.modules or torch.optim is made by ``object.__new__`` and filled by ``Module.__setstate__`` or ``Optimizer.__setstate__``: both
put the state into ``__dict__`` and add what older versions lacked; the few overriding ones (RNNBase, MultiheadAttention, activations,
pooling, the optimizers) set defaults beside it. Their constructors allocate and store. Hooks and functions in the state are named in the
file and judged under their own names.
"""

from __future__ import annotations

from .rows import CLEAN, DANGEROUS, UNKNOWN, Row
from .torch_classes import CLASSES

_GIT = "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/"
_ALLOWED = f"{_GIT}_weights_only_unpickler.py"
_ADVISORIES = "https://github.com/mmaitre314/picklescan/security/advisories"

DATA = (
    Row(
        CLEAN,
        "it makes a tensor that views the bytes of a storage",
        "torch 0.1",
        f"{_GIT}_utils.py",
        """
        torch._utils: _rebuild_meta_tensor_no_storage _rebuild_nested_tensor _rebuild_parameter _rebuild_parameter_v2
        _rebuild_parameter_with_state _rebuild_qtensor _rebuild_sparse_csr_tensor _rebuild_sparse_tensor _rebuild_tensor
        _rebuild_tensor_v2 _rebuild_tensor_v3 _rebuild_device_tensor_from_numpy _rebuild_device_tensor_from_cpu_tensor
        _rebuild_wrapper_subclass
        """,
    ),
    Row(
        CLEAN,
        "it made a tensor of an array that another device had held",
        "torch 1.5 to 1.13",
        f"{_GIT}_utils.py",
        "torch._utils: _rebuild_xla_tensor",
    ),
    Row(
        CLEAN,
        "it makes a tensor of a subclass by a function and a class that are named beside it",
        "torch 1.5",
        f"{_GIT}_tensor.py",
        "torch._tensor: _rebuild_from_type _rebuild_from_type_v2",
    ),
    Row(
        CLEAN,
        "it makes a tensor of a subclass by a function and a class that are named beside it",
        "torch 1.5 to 1.8",
        f"{_GIT}_tensor.py",
        "torch.tensor: _rebuild_from_type",
    ),
    Row(
        CLEAN,
        "it makes a jagged nested tensor of its values and offsets",
        "torch 2.1",
        f"{_GIT}nested/_internal/nested_tensor.py",
        "torch.nested._internal.nested_tensor: NestedTensor _rebuild_njt torch._dynamo.decorators: _DimRange",
    ),
    Row(CLEAN, "it gives the layout of a name", "torch 1.0", f"{_GIT}serialization.py", "torch.serialization: _get_layout"),
    Row(
        CLEAN,
        "it is a type of storage, which names the elements of the bytes in a record",
        "torch 0.1",
        f"{_GIT}storage.py",
        """
        torch: BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage DoubleStorage FloatStorage
        HalfStorage IntStorage LongStorage QInt32Storage QInt8Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage ShortStorage
        UntypedStorage torch.cuda: BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage ComplexFloatStorage
        DoubleStorage FloatStorage HalfStorage IntStorage LongStorage ShortStorage torch.storage: TypedStorage UntypedStorage
        """,
    ),
    Row(
        CLEAN,
        "it is a type of storage of other versions of torch",
        "torch 1.6 to 1.13",
        f"{_GIT}storage.py",
        """
        torch: ComplexHalfStorage UInt16Storage UInt32Storage UInt64Storage torch.storage: _LegacyStorage _TypedStorage _UntypedStorage
        torch.cuda: UntypedStorage
        """,
    ),
    Row(
        CLEAN,
        "it is an element type",
        "torch 0.4",
        f"{_GIT}_weights_only_unpickler.py",
        """
        torch: bfloat16 bits16 bits1x8 bits2x4 bits4x2 bits8 bool cdouble cfloat chalf complex128 complex32 complex64 double dtype float
        float16 float32 float64 float4_e2m1fn_x2 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu half int int16
        int32 int64 int8 long qint32 qint8 quint2x4 quint4x2 quint8 short uint16 uint32 uint64 uint8 int1 int2 int3 int4 int5 int6 int7
        uint1 uint2 uint3 uint4 uint5 uint6 uint7 bcomplex32
        """,
    ),
    Row(
        CLEAN,
        "it is a shape, a device, a layout, a memory format or a way to quantize",
        "torch 0.4",
        _ALLOWED,
        """
        torch: Size channels_last channels_last_3d contiguous_format device finfo iinfo jagged layout memory_format per_channel_affine
        per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine per_tensor_symmetric preserve_format qscheme sparse_bsc
        sparse_bsr sparse_coo sparse_csc sparse_csr strided torch.torch_version: TorchVersion
        """,
    ),
    Row(
        CLEAN,
        "it is a tensor class",
        "torch 0.1",
        f"{_GIT}_tensor.py",
        """
        torch: BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor ShortTensor
        Tensor torch.cuda: BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor
        ShortTensor torch.sparse: BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor
        ShortTensor torch.cuda.sparse: BFloat16Tensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor LongTensor
        ShortTensor torch.autograd.variable: Variable torch.nn.parameter: Buffer Parameter UninitializedBuffer UninitializedParameter
        torch._C: TensorBase
        """,
    ),
    Row(CLEAN, "it was the class of all tensors", "torch 0.4 to 2.1", f"{_GIT}_tensor.py", "torch.tensor: Tensor torch._C: _TensorBase"),
    Row(
        CLEAN, "it is a generator of random numbers and its state", "torch 0.1", f"{_GIT}random.py", "torch._C: Generator torch: Generator"
    ),
    Row(
        CLEAN,
        "TorchScript's pickles spell lists and types with it",
        "torch 1.0",
        f"{_GIT}jit/_pickle.py",
        "torch.jit._pickle: build_boollist build_doublelist build_intlist build_tensor_from_id build_tensorlist restore_type_tag",
    ),
    Row(
        CLEAN,
        "it looked a backend up, in modules of early versions",
        "torch 0.1 to 1.4",
        f"{_GIT}nn",
        "torch.nn.backends.thnn: _get_thnn_function_backend",
    ),
    Row(
        CLEAN,
        "it computes on tensors",
        "torch 0.1",
        f"{_GIT}nn/functional.py",
        """
        torch.nn.functional: celu elu gelu glu hardsigmoid hardswish hardtanh leaky_relu log_softmax logsigmoid mish prelu relu relu6
        selu sigmoid silu softmax softmin softplus softsign tanh tanhshrink cross_entropy mse_loss l1_loss smooth_l1_loss
        """,
    ),
    Row(
        CLEAN,
        "it is a class of torch's distributed checkpoints: shapes, offsets, files",
        "torch 2.0",
        f"{_GIT}distributed/checkpoint/metadata.py",
        """
        torch.distributed.checkpoint.metadata: BytesStorageMetadata ChunkStorageMetadata Metadata MetadataIndex StorageMeta
        TensorProperties TensorStorageMetadata _MEM_FORMAT_ENCODING torch.distributed.checkpoint.filesystem: _StorageInfo
        torch.distributed._shard.sharded_tensor.metadata: MEM_FORMAT_ENCODING ShardedTensorMetadata TensorProperties
        torch.distributed._shard.metadata: ShardMetadata
        """,
    ),
    Row(
        CLEAN,
        "it says how a distributed tensor is placed",
        "torch 2.0",
        f"{_GIT}distributed/tensor/placement_types.py",
        """
        torch.distributed.tensor.placement_types: Partial Placement Replicate Shard _StridedShard
        torch.distributed._tensor.placement_types: DTensorSpec Replicate Shard TensorMeta torch.distributed.tensor._dtensor_spec:
        DTensorSpec TensorMeta torch.distributed._shard.sharding_spec.chunk_sharding_spec: ChunkShardingSpec
        torch.distributed.remote_device: _remote_device
        """,
    ),
    Row(
        CLEAN,
        "it is a distributed tensor, under the names of earlier versions",
        "torch 2.0 to 2.4",
        f"{_GIT}distributed/_tensor",
        "torch.distributed._tensor.api: DTensor torch.cuda.amp.grad_scaler: _refresh_per_optimizer_state",
    ),
    Row(
        CLEAN,
        "it is a distributed tensor, of its part and its placement",
        "torch 2.5",
        f"{_GIT}distributed/tensor/_api.py",
        "torch.distributed.tensor: DTensor",
    ),
    Row(
        CLEAN,
        "it keeps the scale of gradients",
        "torch 1.6",
        f"{_GIT}amp/grad_scaler.py",
        """
        torch.amp.grad_scaler: GradScaler OptState _refresh_per_optimizer_state torch.cuda.amp.grad_scaler: GradScaler
        """,
    ),
    *CLASSES,
)
EXPLAINED = (
    Row(
        UNKNOWN,
        "it belongs to a module that torch compiles when it is used: what is compiled is named in the file",
        "torch 2.0",
        f"{_GIT}_dynamo",
        """
        torch._dynamo.eval_frame: OptimizeContext OptimizedModule torch._dynamo.convert_frame: CatchErrorsWrapper ConvertFrame
        ConvertFrameAssert torch._dynamo.hooks: Hooks torch._inductor.compile_fx: compile_fx torch._ops: OpOverload OpOverloadPacket
        """,
    ),
    Row(
        UNKNOWN,
        "it belongs to a graph, which is code once a GraphModule is made of it",
        "torch 1.8",
        f"{_GIT}fx",
        """
        torch.fx.graph: CodeGen Graph _Namespace torch.fx.node: Node torch.fx._symbolic_trace: Tracer torch.fx.immutable_collections:
        immutable_dict immutable_list
        """,
    ),
    Row(
        UNKNOWN,
        "it sets any attribute of any object",
        "torch 2.0",
        f"{_GIT}_utils.py",
        "torch._utils: _set_obj_state",
    ),
    Row(
        UNKNOWN,
        "it is an object of TorchScript; who can pickle one has code of its own",
        "torch 1.3",
        f"{_GIT}_C",
        "torch: ScriptObject torch._C: ScriptObject",
    ),
)
EXACT = (*DATA, *EXPLAINED)

BELOW = (
    Row(
        UNKNOWN,
        "it is a class of TorchScript, whose code is in the file",
        "torch 1.0",
        f"{_GIT}jit",
        "__torch__",
    ),
    Row(
        UNKNOWN,
        "it is a class of a torch.package, whose code is in the file",
        "torch 1.9",
        f"{_GIT}package",
        "<torch_package_0> <torch_package_1> <torch_package_2> <torch_package_3>",
    ),
    Row(
        DANGEROUS,
        "it loads another pickle or program",
        "torch 0.1",
        f"{_GIT}serialization.py",
        """
        torch.load torch.serialization.load torch.serialization._load torch.serialization._legacy_load torch.storage._load_from_bytes
        torch.package torch.multiprocessing torch.distributed._tools torch.export.load torch._export.serde torch.jit._serialization
        torch.jit.load torch.jit._script.unpackage_script_module torch.jit.jit_module_from_flatbuffer
        torch.distributed.distributed_c10d.recv_object_list torch.distributed.distributed_c10d._tensor_to_object
        torch.utils.data.datapipes.utils.decoder torch._inductor.package torch.utils.model_dump torch.utils.show_pickle
        """,
    ),
    Row(
        DANGEROUS,
        "it takes an address of memory",
        "torch 2.0",
        f"{_GIT}csrc/Module.cpp",
        """
        torch._C._construct_storage_from_data_pointer torch._C._construct_CUDA_Tensor_From_Storage_And_Metadata
        torch._C._tensor_impl_raw_handle torch._C._free_And_Remove_DeleterFn
        """,
    ),
    Row(
        DANGEROUS,
        "it changes which names and storages torch.load takes, and for what",
        "torch 0.1",
        f"{_GIT}serialization.py",
        """
        torch.serialization.load_module_mapping torch.serialization.add_safe_globals torch.serialization.clear_safe_globals
        torch.serialization.safe_globals torch.serialization._package_registry torch.serialization.register_package
        torch.serialization.config torch.serialization._serialization_tls torch.serialization.skip_data
        torch.serialization.set_default_load_endianness torch.serialization.set_default_mmap_options
        torch.utils.serialization.config torch._weights_only_unpickler
        """,
    ),
    Row(
        DANGEROUS,
        "it compiles or runs code that is text or comes out of bytes",
        "torch 1.0",
        f"{_GIT}utils",
        """
        torch.utils.cpp_extension torch.utils._cpp_extension_versioner torch.utils.bottleneck torch.utils.collect_env torch.utils.hipify
        torch.utils._config_module torch.utils._freeze torch.utils._triton torch.utils.jit torch.utils.benchmark torch._inductor
        torch._dynamo torch._functorch torch._C._jit_compilation_unit torch._numpy.testing torch.fx torch.jit.CompilationUnit
        torch.jit.unsupported_tensor_ops torch.jit.annotations torch.jit.frontend torch.jit._script torch.jit._monkeytype_config
        torch.jit._trace torch.jit.script torch.jit.trace torch.jit._recursive torch.jit.mobile torch._classes torch._ops torch.ops
        torch.classes torch.library torch._library torch._custom_op torch._custom_ops torch.compile torch.testing._internal
        """,
    ),
    Row(
        DANGEROUS,
        "it downloads, and runs or writes what it got",
        "torch 0.1",
        f"{_GIT}hub.py",
        """
        torch.hub torch.utils.model_zoo torch.utils._content_store torch.distributed.run torch.distributed.launch
        torch.distributed.launcher torch.distributed.elastic torch.utils.tensorboard torch.utils.data.datapipes
        """,
    ),
    Row(
        DANGEROUS,
        "it calls functions in other processes, or opens connections to them",
        "torch 1.4",
        f"{_GIT}distributed/rpc",
        """
        torch.distributed.rpc torch.distributed.nn torch.distributed.rendezvous torch.distributed.init_process_group
        torch.distributed.distributed_c10d torch.distributed.TCPStore torch.distributed.FileStore torch.distributed.HashStore
        torch._C._distributed_c10d torch._C._distributed_rpc torch.distributed.autograd torch.distributed._symmetric_memory
        """,
    ),
    Row(
        DANGEROUS,
        "it writes files or loads machine code",
        "torch 0.1",
        _GIT,
        """
        torch.save torch.serialization.save torch.jit.save torch.from_file torch.UntypedStorage.from_file
        torch.storage.UntypedStorage.from_file torch._C._load_library torch.profiler torch.autograd.profiler
        torch._C.import_ir_module torch._C.import_ir_module_from_buffer torch.distributed.checkpoint.state_dict_loader
        torch.distributed.checkpoint.state_dict_saver torch.distributed.checkpoint.filesystem
        torch.distributed.checkpoint.format_utils torch.serialization._open_file torch.serialization._open_zipfile_reader
        torch._C.PyTorchFileReader torch._C.PyTorchFileWriter torch._C._load_for_lite_interpreter
        torch._C._load_for_lite_interpreter_from_buffer torch._C._load_jit_module_from_bytes torch._C._load_jit_module_from_file
        torch._C._load_mobile_module_from_bytes torch._C._load_mobile_module_from_file torch._C._save_jit_module
        torch._C._save_mobile_module torch._C._save_parameters torch._C._gds_load_storage torch._C._gds_save_storage
        torch._C._import_ir_module_from_package torch._C._pickle_load_obj torch._C._pickle_save torch._C._get_model_extra_files
        torch._C._get_model_extra_files_from_buffer torch._C.ScriptModuleSerializer torch._C.CompilationUnit
        torch._C._jit_script_compile torch._C._jit_script_class_compile torch._C._jit_script_compile_overload
        torch._C._jit_script_interface_compile torch._C._parse_source_def torch._C.parse_ir torch._C._dispatch_library
        torch._C._profiler torch._C._cuda_customAllocator torch._C._xpu_customAllocator torch.cuda.memory.CUDAPluggableAllocator
        """,
    ),
)
