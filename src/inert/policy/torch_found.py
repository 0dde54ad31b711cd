"""Functions that run code, import, start programs, load pickles, open files or connections, as torch 2.13 has them.

Knows: what tools/find_gadgets.py read from the sources; it made this file.
Refuses to know: what rows written by hand have judged.
"""

from __future__ import annotations

from .rows import DANGEROUS, UNKNOWN, Row

BELOW: tuple[Row, ...] = (
    Row(
        DANGEROUS,
        "it runs code that is text, or made of its arguments",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch._guards.ChainedSource.get_value torch._guards.Source.get_value
        torch._higher_order_ops.invoke_leaf_function._resolve_mutated_flat_indices
        torch._higher_order_ops.triton_kernel_wrap.triton_kernel_wrapper_mutation_dense
        torch._higher_order_ops.utils._hop_compile_and_call torch._higher_order_ops.utils._maybe_compile_and_run_fn
        torch._subclasses.complex_tensor._ops.common.ComplexTensorMode.__torch_dispatch__ torch.compiler.compile
        torch.distributed.flight_recorder.components.builder.build_db
        torch.distributed.flight_recorder.components.builder.build_groups_memberships
        torch.distributed.flight_recorder.components.builder.transform_ft
        torch.distributed.tensor.experimental._context_parallel._attention._context_parallel_buffers
        torch.distributed.tensor.experimental._context_parallel._attention._context_parallel_shard
        torch.distributed.tensor.experimental._context_parallel._attention._create_cp_block_mask
        torch.distributed.tensor.experimental._context_parallel._attention.context_parallel
        torch.export._unlift._convert_guards_code_to_fn torch.export._unlift._unlift_exported_program_lifted_states
        torch.nn.attention.flex_attention.BlockMask._unflatten torch.nn.attention.flex_attention._reconstruct_closure_fn
        torch.nn.attention.flex_attention.create_block_mask torch.nn.attention.flex_attention.flex_attention
        torch.utils._traceback.report_compile_source_on_error
        """,
    ),
    Row(
        DANGEROUS,
        "it imports a module by its name",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch.__getattr__ torch._export.db.examples._collect_examples torch._logging._internal._get_module_and_submodules
        torch._logging._internal._is_valid_module torch._logging._internal._parse_log_settings
        torch._logging._internal._update_log_state_from_env torch._logging._internal.set_logs
        torch._native.common_utils._unavailable_reason torch._native.get_user_ordering_fn torch._utils._import_dotted_name
        torch._utils._type torch._utils.try_import torch._vendor.quack._compile_payload.deserialize_worker_value
        torch._vendor.quack._compile_payload.load_epilogue_from_source torch._vendor.quack._compile_worker.main torch.ao.__getattr__
        torch.ao.nn.__getattr__ torch.ao.nn.intrinsic.__getattr__
        torch.distributed._local_tensor.LocalTensorMode._patch_random_functions
        torch.distributed._local_tensor.LocalTensorMode._unpatch_random_functions
        torch.export.custom_ops._call_custom_autograd_function_in_pre_dispatch torch.nn.attention._fa3._fa3_import_module
        torch.nn.attention._fa3.register_flash_attention_fa3 torch.nn.attention._fa4._fa4_flash_attention_backward_impl
        torch.nn.attention._fa4._fa4_flash_attention_forward_impl
        torch.nn.attention._fa4._fa4_flash_attention_forward_no_dropout_inplace_impl torch.nn.attention._fa4._fa4_import_module
        torch.nn.attention._fa4._fa4_run_backward torch.nn.attention._fa4._fa4_run_forward
        torch.nn.attention._fa4._fa4_scaled_dot_product_flash_attention_backward_impl
        torch.nn.attention._fa4._fa4_scaled_dot_product_flash_attention_forward_impl
        torch.nn.attention._fa4.register_flash_attention_fa4 torch.nn.utils._deprecation_utils.lazy_deprecated_import
        torch.onnx._internal.fx._pass.PackageInfo.from_python_class torch.utils._import_utils._check_module_exists
        torch.utils._pytree._defaultdict_deserialize torch.utils._pytree.enum_object_hook
        """,
    ),
    Row(
        DANGEROUS,
        "it starts programs",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._get_results
        torch._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._run_async
        torch._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._stop_run
        torch._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._wait_for_running
        torch._strobelight.compile_time_profiler.StrobelightCompileTimeProfiler._cls_init
        torch._strobelight.compile_time_profiler.get_fburl torch._strobelight.compile_time_profiler.get_strobelight_url
        torch._vendor.quack.autotuner.Autotuner torch._vendor.quack.autotuner.autotune torch.backends.xeon.run_cpu._CPUinfo
        torch.backends.xeon.run_cpu._Launcher.is_numactl_available torch.cuda._memory_viz.compare
        torch.cuda._memory_viz.format_flamegraph torch.cuda._memory_viz.memory torch.cuda._memory_viz.segments
        torch.distributed.debug.start_debug_server torch.utils._get_clean_triton.get_clean_triton
        torch.utils._get_clean_triton.process_file
        torch.utils._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._get_results
        torch.utils._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._run_async
        torch.utils._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._stop_run
        torch.utils._strobelight.cli_function_profiler.StrobelightCLIFunctionProfiler._wait_for_running
        """,
    ),
    Row(
        DANGEROUS,
        "it loads another pickle",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch._jit_internal._get_overloaded_methods torch._jit_internal._overload torch._jit_internal._overload_method
        torch._jit_internal._qualified_name torch._jit_internal.get_overload_no_implementation_error_message
        torch._utils._augment_memory_snapshot_stack_traces torch._vendor.quack._compile_worker._recv
        torch._vendor.quack.autotuner._reader_thread_main torch._vendor.quack.autotuner._recv_from_worker
        torch.cuda._annotate_cuda_graph_trace.main torch.cuda._memory_viz._read
        torch.distributed.checkpoint._experimental.checkpoint_reader.CheckpointReader._partial_read
        torch.distributed.checkpoint._experimental.checkpoint_reader.CheckpointReader.read
        torch.distributed.checkpoint._pg_transport.PGTransport.recv_checkpoint
        torch.distributed.checkpoint.default_planner.DefaultLoadPlanner.load_bytes
        torch.distributed.flight_recorder.components.loader.read_dir torch.distributed.flight_recorder.components.loader.read_dump
        torch.distributed.optim.zero_redundancy_optimizer.ZeroRedundancyOptimizer.consolidate_state_dict
        torch.distributed.optim.zero_redundancy_optimizer._broadcast_object torch.export.pt2_archive._package._load_constants
        torch.export.pt2_archive._package._load_exported_programs torch.export.pt2_archive._package._load_state_dict
        torch.export.pt2_archive._package.load_pt2
        """,
    ),
    Row(
        DANGEROUS,
        "it loads machine code",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch._appdirs._get_win_folder_with_ctypes torch._load_global_deps torch._preload_cuda_deps torch._preload_cuda_lib
        torch.cuda._utils._get_hip_runtime_library torch.cuda._utils._get_hiprtc_library torch.cuda._utils._get_nvrtc_library
        torch.xpu.memory.XPUPluggableAllocator
        """,
    ),
    Row(
        DANGEROUS,
        "it opens or changes files that its arguments name",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch._lazy.save torch._logging._internal.LazyTraceHandler.emit torch._utils_internal.get_writable_path
        torch._vendor.quack._compile_payload._write_epilogue_module_if_needed
        torch._vendor.quack._compile_worker._install_parent_watchdog torch._vendor.quack.autotuner.FileCacheManager
        torch._vendor.quack.bench.bench_utils.run_and_print torch._vendor.quack.cache.jit.FileLock.__enter__
        torch._vendor.quack.cute_dsl_elf_fix.patch torch._vendor.quack.trace.TraceSession.__exit__
        torch._vendor.quack.trace.TraceSession._write_summary torch._vendor.quack.trace.TraceSession.write_trace
        torch.autograd.profiler_util.EventList.export_chrome_trace torch.autograd.profiler_util.EventList.export_stacks
        torch.backends.xeon.run_cpu.main torch.cuda._annotate_cuda_graph_trace.load_trace
        torch.cuda._annotate_cuda_graph_trace.save_trace torch.cuda._memory_viz._write torch.cuda.gds.GdsFile
        torch.cuda.memory._dump_snapshot torch.cuda.memory._save_memory_usage torch.cuda.memory._save_segment_usage
        torch.cuda.tunable._gather_tunableop_results torch.cuda.tunable._gather_unique_untuned_gemm_from_files
        torch.cuda.tunable.mgpu_tune_gemm_in_file torch.cuda.tunable.tune_gemm_in_file
        torch.distributed.checkpoint._consolidate_hf_safetensors._consolidate_safetensors_files
        torch.distributed.checkpoint._consolidate_hf_safetensors._process_output_file
        torch.distributed.checkpoint._consolidate_hf_safetensors._write_data
        torch.distributed.checkpoint._consolidate_hf_safetensors._write_metadata
        torch.distributed.checkpoint._consolidate_hf_safetensors._write_overall_metadata_file
        torch.distributed.checkpoint._consolidate_hf_safetensors.consolidate_safetensors_files
        torch.distributed.checkpoint._consolidate_hf_safetensors.consolidate_safetensors_files_on_every_rank
        torch.distributed.checkpoint._experimental.checkpoint_writer.CheckpointWriter.write
        torch.distributed.checkpoint.default_planner.DefaultSavePlanner.resolve_data
        torch.distributed.checkpoint.default_planner.DefaultSavePlanner.transform_object
        torch.distributed.checkpoint.quantized_hf_storage.QuantizedHuggingFaceStorageReader._load_quantization_metadata
        torch.distributed.checkpoint.staging._ReplicationStager torch.distributed.debug._frontend.PeriodicDumper._run
        torch.distributed.debug._frontend.PeriodicDumper.start torch.distributed.flight_recorder.fr_trace.main
        torch.distributed.pipelining.schedules.PipelineScheduleMulti._dump_csv
        torch.distributed.pipelining.schedules.PipelineScheduleMulti._load_csv
        torch.distributed.pipelining.schedules._PipelineScheduleRuntime._dump_csv
        torch.distributed.pipelining.schedules._PipelineScheduleRuntime._load_csv
        torch.distributed.pipelining.schedules._dump_chrometrace
        torch.distributed.tensor.debug._comm_mode.CommDebugMode.generate_json_dump
        torch.distributed.tensor.debug._comm_mode.CommDebugMode.log_comm_debug_tracing_table_to_file torch.export._draft_export.get_loc
        torch.export.experimental._ExportPackage._compiled_and_package torch.export.pt2_archive._package.PT2ArchiveWriter.write_file
        torch.export.pt2_archive._package.PT2ArchiveWriter.write_folder torch.export.pt2_archive._package._package_aoti_files
        torch.export.pt2_archive._package._package_constants torch.export.pt2_archive._package._package_exported_programs
        torch.export.pt2_archive._package._package_state_dict torch.export.pt2_archive._package._save_pickled_tensors
        torch.export.pt2_archive._package.is_pt2_package torch.export.pt2_archive._package.package_pt2
        torch.numa.binding._core_complex_get_logical_cpus_to_bind_to torch.numa.binding._exclusive_get_logical_cpus_to_bind_to
        torch.numa.binding._get_allowed_logical_cpu_indices_for_numa_node
        torch.numa.binding._get_arbitrary_allowed_cpu_index_for_numa_node
        torch.numa.binding._get_cpu_indices_for_numa_node_MAYBE_NOT_ALLOWED torch.numa.binding._get_gpu_indices_for_numa_node
        torch.numa.binding._get_logical_cpu_indices_sharing_same_physical_core_as
        torch.numa.binding._get_logical_cpus_sharing_same_max_level_cache_as torch.numa.binding._get_logical_cpus_to_bind_to
        torch.numa.binding._get_numa_node_index_for_gpu_index torch.numa.binding._get_numa_node_indices_for_socket_index
        torch.numa.binding._get_socket_index_for_cpu torch.numa.binding._get_socket_index_for_numa_node
        torch.numa.binding._get_validated_logical_cpus_to_bind_to torch.numa.binding._node_get_logical_cpus_to_bind_to
        torch.numa.binding._socket_get_logical_cpus_to_bind_to torch.onnx._internal.exporter._reporting.create_onnx_export_report
        torch.onnx._internal.exporter._reporting.create_torch_export_error_report
        torch.onnx._internal.torchscript_exporter.onnx_proto_utils.export_as_test_case
        torch.onnx._internal.torchscript_exporter.onnx_proto_utils.export_data
        torch.onnx._internal.torchscript_exporter.onnx_proto_utils.load_test_case torch.serialization._open_file_like
        torch.serialization._open_zipfile_writer_file torch.serialization.get_unsafe_globals_in_checkpoint torch.serialization.mkdtemp
        torch.sparse._triton_ops_meta.dump torch.storage._StorageBase.__reduce__ torch.utils._cpp_embed_headers._embed_headers
        torch.utils._cpp_embed_headers.embed_headers torch.utils._cpp_embed_headers.read_file torch.utils._zip.main
        torch.utils.file_baton.FileBaton.release torch.utils.file_baton.FileBaton.try_acquire torch.xpu.memory._dump_snapshot
        """,
    ),
    Row(
        DANGEROUS,
        "it talks to the network",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch.distributed.checkpoint._async_process_executor._AsyncCheckpointProcess._checkpointing_subprocess
        torch.distributed.debug._frontend.fetch_aiohttp torch.distributed.debug._frontend.fetch_all
        torch.distributed.debug._frontend.fetch_thread_pool
        """,
    ),
)
# Classes of these that do so when they are called: a pickle that only makes and fills their objects does not.
MADE = (
    Row(
        UNKNOWN,
        "it is a class whose constructor is dangerous to call; the pickle only makes and fills its objects",
        "torch 2.13",
        "https://github.com/pytorch/pytorch/tree/v2.13.0/torch",
        """
        torch._vendor.quack.autotuner: Autotuner FileCacheManager torch.backends.xeon.run_cpu: _CPUinfo torch.cuda.gds: GdsFile
        torch.distributed.checkpoint.staging: _ReplicationStager torch.serialization: _open_zipfile_writer_file torch.xpu.memory:
        XPUPluggableAllocator
""",
    ),
)
