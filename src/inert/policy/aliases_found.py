"""Other names of what is dangerous: the same objects in Python 3.11, NumPy 2.4 and torch 2.13.

Knows: what tools/find_aliases.py found by identity in the imported libraries; it made this file.
Refuses to know: what other tables have judged.
"""

from __future__ import annotations

from .rows import DANGEROUS, Row

BELOW: tuple[Row, ...] = (
    Row(
        DANGEROUS,
        "it belongs to the operating system: files, processes, the environment",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        backports.tarfile.grp backports.tarfile.pwd filelock._core._registry._RESOLVE_DIR filelock._native._unix.fcntl
        filelock._sqlite._connection.GETPID filelock._sqlite._fork.GETPID filelock._sqlite._lock.GETPID
        filelock._sqlite._transactions.GETPID fnmatch.posixpath functorch.dim.magic_trace.signal
        lightning_fabric.plugins.environments.slurm.signal lightning_fabric.utilities.distributed.signal locale._setlocale
        networkx.utils.decorators.splitext pytorch_lightning.trainer.call.signal
        pytorch_lightning.trainer.connectors.signal_connector.signal random._urandom sympy.testing.runtests.signal
        sympy.utilities.runtests.signal torch._export.db.examples.basename torch._export.db.examples.dirname
        torch._export.db.examples.isfile torch._export.db.examples.join torch.backends.xeon.run_cpu.expanduser
        torch.export._draft_export.getpass torch.utils._osp torch.utils.data._utils.signal_handling.signal
        """,
    ),
    Row(
        DANGEROUS,
        "it belongs to the running interpreter, and reaches every module of it",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        pytorch_lightning.demos.mnist_datamodule.warn random._warn sympy.external.gmpy.warn sympy.multipledispatch.dispatcher.warn
        sympy.physics.vector.frame.warn sympy.physics.vector.point.warn torch.ao.nn.quantized.modules.activation.warn
        torch.nn.attention.bias.warn torch.nn.attention.warn tqdm._main.warn tqdm._monitor.warn tqdm._tqdm.warn tqdm._tqdm_gui.warn
        tqdm._tqdm_notebook.warn tqdm.autonotebook.warn tqdm.contrib.warn tqdm.gui.warn tqdm.rich.warn tqdm.std.warn tqdm.tk.warn
        tqdm.utils.warn warnings._filters_mutated warnings.warn
        """,
    ),
    Row(
        DANGEROUS,
        "it calls functions in other processes, or opens connections to them",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        lightning_fabric.fabric.ReduceOp lightning_fabric.plugins.collectives.torch_collective.RedOpType
        lightning_fabric.plugins.collectives.torch_collective.ReduceOp lightning_fabric.utilities.distributed.ReduceOp
        lightning_fabric.utilities.distributed.group lightning_fabric.utilities.types.ProcessGroup
        lightning_fabric.utilities.types.RedOpType lightning_fabric.utilities.types.ReduceOp
        pytorch_lightning.utilities.types.ProcessGroup torch._jit_internal.PyRRef torch._jit_internal.RRef
        torch.distributed.AllToAllOptions torch.distributed.AllreduceCoalescedOptions torch.distributed.AllreduceOptions
        torch.distributed.Backend torch.distributed.BackendConfig torch.distributed.BarrierOptions torch.distributed.BroadcastOptions
        torch.distributed.BuiltinCommHookType torch.distributed.DebugLevel torch.distributed.GatherOptions torch.distributed.GradBucket
        torch.distributed.GroupMember torch.distributed.GroupName torch.distributed.Logger torch.distributed.P2POp
        torch.distributed.PrefixStore torch.distributed.ProcessGroup torch.distributed.ProcessGroupGloo torch.distributed.ReduceOp
        torch.distributed.ReduceOptions torch.distributed.ReduceScatterOptions torch.distributed.Reducer
        torch.distributed.ScatterOptions torch.distributed.Store torch.distributed.Work torch.distributed._Backend
        torch.distributed._CoalescingManager torch.distributed._ControlCollectives torch.distributed._StoreCollectives
        torch.distributed._Work torch.distributed._all_gather_base torch.distributed._broadcast_coalesced
        torch.distributed._coalescing_manager torch.distributed._compute_bucket_assignment_by_size
        torch.distributed._create_process_group_wrapper torch.distributed._create_store_from_options
        torch.distributed._dist2.ProcessGroup torch.distributed._dist2.ReduceOp torch.distributed._dist2.Store
        torch.distributed._dist2._current_process_group torch.distributed._dist2._set_process_group torch.distributed._dist2.rendezvous
        torch.distributed._functional_collectives.c10d torch.distributed._functional_collectives.legacy_all_gather
        torch.distributed._functional_collectives.legacy_all_gather_base
        torch.distributed._functional_collectives.legacy_all_to_all_single torch.distributed._functional_collectives.legacy_allgather
        torch.distributed._functional_collectives.legacy_allgather_single torch.distributed._functional_collectives.legacy_allreduce
        torch.distributed._functional_collectives.legacy_batch_p2p_ops torch.distributed._functional_collectives.legacy_irecv
        torch.distributed._functional_collectives.legacy_isend torch.distributed._functional_collectives.legacy_reduce_scatter_base
        torch.distributed._functional_collectives.legacy_reducescatter
        torch.distributed._functional_collectives.legacy_reducescatter_single torch.distributed._functional_collectives_impl.c10d
        torch.distributed._get_process_group_name torch.distributed._local_tensor.ProcessGroup
        torch.distributed._local_tensor._c10d.FakeWork torch.distributed._local_tensor._c10d.GroupName
        torch.distributed._local_tensor._c10d.ProcessGroup torch.distributed._local_tensor._c10d.PythonCallbackWork
        torch.distributed._local_tensor._c10d.ReduceOp torch.distributed._local_tensor._c10d.Work
        torch.distributed._local_tensor._c10d._check_op torch.distributed._local_tensor._c10d._get_default_group
        torch.distributed._local_tensor._c10d._resolve_process_group torch.distributed._local_tensor._get_default_group
        torch.distributed._make_nccl_premul_sum torch.distributed._meta_registrations.FakeWork torch.distributed._rank_not_in_group
        torch.distributed._reduce_scatter_base torch.distributed._register_builtin_comm_hook torch.distributed._register_comm_hook
        torch.distributed._shard.api.distributed_c10d torch.distributed._shard.checkpoint._async_process_executor.PrefixStore
        torch.distributed._shard.checkpoint._async_process_executor.TCPStore
        torch.distributed._shard.checkpoint._pg_transport.ProcessGroup torch.distributed._shard.checkpoint._pg_transport.Work
        torch.distributed._shard.checkpoint.optimizer._get_default_group torch.distributed._shard.checkpoint.staging.ProcessGroup
        torch.distributed._shard.sharded_tensor._ops.binary_cmp.distributed_c10d
        torch.distributed._shard.sharded_tensor.api.distributed_c10d torch.distributed._shard.sharded_tensor.api.rpc
        torch.distributed._shard.sharded_tensor.reshard.ProcessGroup torch.distributed._shard.sharded_tensor.reshard.all_to_all
        torch.distributed._shard.sharded_tensor.reshard.all_to_all_single torch.distributed._shard.sharded_tensor.utils.c10d
        torch.distributed._shard.sharded_tensor.utils.rpc torch.distributed._shard.sharding_spec.chunk_sharding_spec.distributed_c10d
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops._common._all_gather_base
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops._common.all_reduce
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops._common.all_to_all_single
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops.embedding.all_gather
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops.embedding.reduce_scatter
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops.embedding_bag.ReduceOp
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops.embedding_bag.all_gather
        torch.distributed._shard.sharding_spec.chunk_sharding_spec_ops.embedding_bag.reduce_scatter
        torch.distributed._sharded_tensor._ops.binary_cmp.distributed_c10d torch.distributed._sharded_tensor.api.distributed_c10d
        torch.distributed._sharded_tensor.api.rpc torch.distributed._sharded_tensor.reshard.ProcessGroup
        torch.distributed._sharded_tensor.reshard.all_to_all torch.distributed._sharded_tensor.reshard.all_to_all_single
        torch.distributed._sharded_tensor.utils.c10d torch.distributed._sharded_tensor.utils.rpc
        torch.distributed._sharding_spec.chunk_sharding_spec.distributed_c10d
        torch.distributed._sharding_spec.chunk_sharding_spec_ops._common._all_gather_base
        torch.distributed._sharding_spec.chunk_sharding_spec_ops._common.all_reduce
        torch.distributed._sharding_spec.chunk_sharding_spec_ops._common.all_to_all_single
        torch.distributed._sharding_spec.chunk_sharding_spec_ops.embedding.all_gather
        torch.distributed._sharding_spec.chunk_sharding_spec_ops.embedding.reduce_scatter
        torch.distributed._sharding_spec.chunk_sharding_spec_ops.embedding_bag.ReduceOp
        torch.distributed._sharding_spec.chunk_sharding_spec_ops.embedding_bag.all_gather
        torch.distributed._sharding_spec.chunk_sharding_spec_ops.embedding_bag.reduce_scatter
        torch.distributed._state_dict_utils.distributed_c10d torch.distributed._test_python_store torch.distributed._time_estimator
        torch.distributed._verify_params_across_processes torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks.GradBucket
        torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook.distributed_c10d
        torch.distributed.algorithms.model_averaging.utils.ProcessGroup torch.distributed.algorithms.model_averaging.utils.group
        torch.distributed.all_gather torch.distributed.all_gather_coalesced torch.distributed.all_gather_into_tensor
        torch.distributed.all_gather_object torch.distributed.all_gather_single torch.distributed.all_reduce
        torch.distributed.all_reduce_coalesced torch.distributed.all_to_all torch.distributed.all_to_all_single
        torch.distributed.barrier torch.distributed.batch_isend_irecv torch.distributed.broadcast
        torch.distributed.broadcast_object_list torch.distributed.checkpoint._async_process_executor.PrefixStore
        torch.distributed.checkpoint._async_process_executor.TCPStore torch.distributed.checkpoint._pg_transport.ProcessGroup
        torch.distributed.checkpoint._pg_transport.Work torch.distributed.checkpoint.optimizer._get_default_group
        torch.distributed.checkpoint.staging.ProcessGroup torch.distributed.debug._WorkerServer
        torch.distributed.debug._handlers._Request torch.distributed.debug._handlers._Response
        torch.distributed.debug._handlers._register_handler torch.distributed.destroy_process_group
        torch.distributed.device_mesh.C10dBackend torch.distributed.device_mesh.GroupName torch.distributed.device_mesh.ProcessGroup
        torch.distributed.device_mesh._get_default_group torch.distributed.device_mesh._resolve_process_group
        torch.distributed.device_mesh.get_backend torch.distributed.device_mesh.get_process_group_ranks
        torch.distributed.device_mesh.get_rank torch.distributed.device_mesh.get_world_size
        torch.distributed.device_mesh.init_process_group torch.distributed.device_mesh.is_initialized
        torch.distributed.device_mesh.new_group torch.distributed.device_mesh.split_group
        torch.distributed.fsdp._flat_param.FakeProcessGroup torch.distributed.fsdp._fully_shard._fsdp_collectives.ReduceOp
        torch.distributed.fsdp._fully_shard._fsdp_collectives.symm_mem torch.distributed.fsdp._init_utils._get_default_group
        torch.distributed.fsdp._optim_utils._get_pg_default_device torch.distributed.fsdp._shard_utils.distributed_c10d
        torch.distributed.fsdp.sharded_grad_scaler.ProcessGroup torch.distributed.gather torch.distributed.gather_object
        torch.distributed.get_backend torch.distributed.get_backend_config torch.distributed.get_debug_level
        torch.distributed.get_default_backend_for_device torch.distributed.get_global_rank torch.distributed.get_group_rank
        torch.distributed.get_node_local_rank torch.distributed.get_pg_count torch.distributed.get_process_group_ranks
        torch.distributed.get_rank torch.distributed.get_world_size torch.distributed.group torch.distributed.irecv
        torch.distributed.is_backend_available torch.distributed.is_gloo_available torch.distributed.is_initialized
        torch.distributed.is_mpi_available torch.distributed.is_nccl_available torch.distributed.is_torchelastic_launched
        torch.distributed.is_ucc_available torch.distributed.is_xccl_available torch.distributed.isend
        torch.distributed.monitored_barrier torch.distributed.new_group torch.distributed.new_subgroups
        torch.distributed.new_subgroups_by_enumeration torch.distributed.optim.optimizer.RRef
        torch.distributed.optim.optimizer.dist_autograd torch.distributed.optim.optimizer.rpc
        torch.distributed.pipelining._IR.ProcessGroup torch.distributed.record_comm torch.distributed.recv torch.distributed.reduce
        torch.distributed.reduce_scatter torch.distributed.reduce_scatter_single torch.distributed.reduce_scatter_tensor
        torch.distributed.register_rendezvous_handler torch.distributed.scatter torch.distributed.scatter_object_list
        torch.distributed.send torch.distributed.send_object_list torch.distributed.set_debug_level
        torch.distributed.set_debug_level_from_env torch.distributed.shrink_group torch.distributed.split_group
        torch.distributed.supports_complex torch.distributed.tensor._collective_utils.GroupName
        torch.distributed.tensor._collective_utils.ProcessGroup torch.distributed.tensor._collective_utils.Work
        torch.distributed.tensor._collective_utils._resolve_process_group torch.distributed.tensor._collective_utils.broadcast
        torch.distributed.tensor._collective_utils.get_group_rank torch.distributed.tensor._collective_utils.get_rank
        torch.distributed.tensor._collective_utils.scatter torch.distributed.tensor.experimental._context_parallel._attention.c10d
        torch.distributed.tensor.experimental._context_parallel._cp_custom_ops.c10d torch.distributed.tensor.parallel.fsdp.c10d
        torch.distributed.tensor.parallel.loss.c10d torch.nn.parallel.distributed.RRef torch.nn.parallel.distributed.ReduceOp
        torch.nn.parallel.distributed._get_default_group torch.nn.parallel.distributed._rank_not_in_group
        """,
    ),
    Row(
        DANGEROUS,
        "it calls machine code, or reads and writes memory",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        sympy.external.gmpy.c_long sympy.external.gmpy.sizeof torch.xpu.byref torch.xpu.c_double torch.xpu.c_uint32 torch.xpu.c_void_p
        torch.xpu.cast torch.xpu.pointer
        """,
    ),
    Row(
        DANGEROUS,
        "it calls the function that it is given with arguments that it is given",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        _strptime._thread_allocate_lock dataclasses._thread enum.reduce filelock._async_lock._owners.Lock
        filelock._async_lock._transitions.Lock filelock._core._acquire.current_thread filelock._core._fork.Condition
        filelock._core._fork.RLock filelock._core._fork.get_ident filelock._core._lock.RLock filelock._core._registry.local
        filelock._core._release.current_thread filelock._core._release.main_thread filelock._core._settings.RLock
        filelock._core._shutdown.active_count filelock._core._shutdown.atexit filelock._core._shutdown.local filelock._core._state.RLock
        filelock._core._state.Thread filelock._core._state.current_thread filelock._core._state.local filelock._soft._lease.Event
        filelock._soft._lease.Thread filelock._soft._lease.current_thread filelock._soft._read_write._lock.atexit
        filelock._soft._strict._lock.Thread filelock._soft._strict._release.RLock filelock._soft._strict._release.Thread
        filelock._sqlite._connection.ExitStack filelock._sqlite._fork._thread functools.RLock
        lightning_fabric.plugins.precision.bitsandbytes.ExitStack lightning_fabric.plugins.precision.transformer_engine.ExitStack
        lightning_fabric.utilities.distributed.atexit lightning_utilities.core.apply_func.cached_property logging.atexit
        more_itertools.more.cached_property more_itertools.more.reduce more_itertools.recipes.reduce
        networkx.algorithms.approximation.kcomponents.cached_property networkx.algorithms.bipartite.generators.reduce
        networkx.algorithms.dominance.reduce networkx.algorithms.isomorphism.ismags.reduce networkx.classes.digraph.cached_property
        networkx.classes.graph.cached_property networkx.classes.multidigraph.cached_property networkx.classes.multigraph.cached_property
        numpy._core.arrayprint.get_ident numpy._core.getlimits.cached_property numpy._core.printoptions.ContextVar
        numpy.lib._arrayterator_impl.reduce numpy.random.bit_generator.RLock pytorch_lightning.core.mixins.hparams_mixin.ContextVar
        reprlib.get_ident statistics.reduce sympy.combinatorics.permutations.reduce sympy.core.add.reduce sympy.core.expr.reduce
        sympy.core.mul.reduce sympy.core.parameters.local sympy.crypto.crypto.reduce sympy.diffgeom.diffgeom.reduce
        sympy.external.gmpy.reduce sympy.functions.combinatorial.factorials.reduce
        sympy.functions.elementary._trigonometric_special.reduce sympy.integrals.heurisch.reduce sympy.integrals.prde.reduce
        sympy.integrals.rde.reduce sympy.integrals.risch.reduce sympy.integrals.transforms.reduce sympy.matrices.common.reduce
        sympy.matrices.expressions.kronecker.reduce sympy.matrices.expressions.matadd.reduce sympy.matrices.matrixbase.reduce
        sympy.matrices.utilities.local sympy.physics.biomechanics.activation.cached_property sympy.physics.quantum.circuitutils.reduce
        sympy.physics.quantum.hilbert.reduce sympy.physics.units.dimensions.reduce sympy.physics.units.util.reduce
        sympy.physics.vector.functions.reduce sympy.plotting.intervalmath.lib_interval.reduce sympy.polys.agca.modules.reduce
        sympy.polys.fields.reduce sympy.polys.matrices.domainmatrix.reduce sympy.polys.numberfields.minpoly.reduce
        sympy.polys.polyroots.reduce sympy.polys.polytools.reduce sympy.polys.rings.reduce sympy.printing.glsl.reduce
        sympy.printing.rust.reduce sympy.series.gruntz.reduce sympy.sets.fancysets.reduce sympy.sets.sets.reduce
        sympy.simplify.hyperexpand.reduce sympy.simplify.powsimp.reduce sympy.simplify.trigsimp.reduce sympy.solvers.pde.reduce
        sympy.stats.rv.singledispatch sympy.stats.sampling.sample_numpy.singledispatch sympy.stats.sampling.sample_pymc.singledispatch
        sympy.stats.sampling.sample_scipy.singledispatch sympy.tensor.array.expressions.array_expressions.reduce
        sympy.tensor.array.expressions.arrayexpr_derivatives.reduce sympy.tensor.array.expressions.arrayexpr_derivatives.singledispatch
        sympy.tensor.array.expressions.from_array_to_matrix.singledispatch sympy.tensor.functions.singledispatch
        sympy.tensor.index_methods.reduce sympy.tensor.tensor.reduce sympy.vector.parametricregion.singledispatch
        torch._decomp.decompositions.reduce torch._higher_order_ops.utils.ExitStack torch._jit_internal.LockType
        torch._jit_internal._thread torch._prims.reduce torch._prims_common.reduce torch._refs.reduce torch._refs.singledispatch
        torch._strobelight.cli_function_profiler.Lock torch._subclasses.fake_impls.reduce torch._subclasses.fake_tensor.atexit
        torch.ao.pruning._experimental.data_sparsifier.data_norm_sparsifier.reduce
        torch.ao.pruning.sparsifier.weight_norm_sparsifier.reduce torch.autograd._functions.reduce
        torch.autograd._functions.tensor.reduce torch.autograd.graph.contextvars torch.distributed._pycute.int_tuple.reduce
        torch.distributed._shard.checkpoint.planner.reduce torch.distributed._shard.metadata.reduce
        torch.distributed._shard.sharded_tensor.api.reduce torch.distributed._sharded_tensor.api.reduce
        torch.distributed.checkpoint.planner.reduce torch.distributed.fsdp._optim_utils.ExitStack torch.distributed.optim.optimizer.Lock
        torch.distributed.tensor._nonlinear_redux.reduce torch.distributed.tensor._op_schema.cached_property
        torch.export._trace.ExitStack torch.nn.modules.linear_cross_entropy.cached_property
        torch.nn.utils._expanded_weights.group_norm_expanded_weights.reduce torch.optim._multi_tensor.partialmethod
        torch.utils._strobelight.cli_function_profiler.Lock torch.utils.data._utils.atexit torch.utils.viz._cycles.atexit
        tqdm._monitor.Event tqdm._monitor.Thread tqdm._monitor.atexit tqdm._monitor.current_thread tqdm.utils.partialmethod
        """,
    ),
    Row(
        DANGEROUS,
        "it changes which names and storages torch.load takes, and for what",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        torch.distributed._serialization._weights_only_unpickler torch.serialization._weights_only_unpickler
        """,
    ),
    Row(
        DANGEROUS,
        "it compiles or runs code that is text or comes out of bytes",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        functorch.FunctionalModule functorch.FunctionalModuleWithBuffers functorch._src.aot_autograd.PytreeThunk
        functorch._src.make_functional._swap_state functorch._src.vmap._add_batch_dim functorch._src.vmap._create_batched_inputs
        functorch._src.vmap._get_name functorch._src.vmap._process_batched_inputs functorch._src.vmap._remove_batch_dim
        functorch._src.vmap._unwrap_batched functorch._src.vmap._validate_and_get_batch_size functorch.combine_state_for_ensemble
        functorch.compile.aot_function functorch.compile.aot_module functorch.compile.aot_module_simplified
        functorch.compile.compiled_function functorch.compile.compiled_module functorch.compile.config functorch.compile.debug_compile
        functorch.compile.default_partition functorch.compile.draw_graph functorch.compile.draw_graph_compile
        functorch.compile.get_aot_compilation_context functorch.compile.get_aot_graph_name functorch.compile.get_graph_being_compiled
        functorch.compile.make_boxed_compiler functorch.compile.make_boxed_func functorch.compile.memory_efficient_fusion
        functorch.compile.min_cut_rematerialization_partition functorch.compile.minifier functorch.compile.nnc_jit functorch.compile.nop
        functorch.compile.print_compile functorch.compile.pythonkey_decompose functorch.compile.ts_compile
        functorch.experimental.chunk_vmap functorch.experimental.ops.HigherOrderOperator functorch.functionalize functorch.grad
        functorch.grad_and_value functorch.hessian functorch.jacfwd functorch.jacrev functorch.jvp functorch.make_functional
        functorch.make_functional_with_buffers functorch.make_fx functorch.vjp functorch.vmap torch.CompilationUnit
        torch._decomp.HigherOrderOperator torch._decomp.OperatorBase torch._decomp.decompositions.aten
        torch._decomp.decompositions_for_jvp.aten torch._decomp.decompositions_for_rng.aten torch._export._PyTreeCodeGen
        torch._export._PyTreeInfo torch._export.compatibility torch._export.config.install_config_module
        torch._export.converter.subgraph_rewriter torch._export.db.examples.assume_constant_result.torchdynamo
        torch._export.fx_traceback torch._export.make_fx torch._export.non_strict_utils.AttrSource
        torch._export.non_strict_utils.ConstraintViolationError torch._export.non_strict_utils.DimDynamic
        torch._export.non_strict_utils.EqualityConstraint torch._export.non_strict_utils.FakeScriptObject
        torch._export.non_strict_utils.GetItemSource torch._export.non_strict_utils.GuardOnDataDependentSymNode
        torch._export.non_strict_utils.LocalSource torch._export.non_strict_utils.RelaxedUnspecConstraint
        torch._export.non_strict_utils.ShapeEnv torch._export.non_strict_utils.StatelessSymbolicContext
        torch._export.non_strict_utils.SymIntSymbolicContext torch._export.non_strict_utils.TensorProperty
        torch._export.non_strict_utils.TensorPropertySource torch._export.non_strict_utils.TrackedFake
        torch._export.non_strict_utils._find_user_code_frame
        torch._export.non_strict_utils._suggest_fixes_for_data_dependent_error_non_strict torch._export.non_strict_utils.config
        torch._export.non_strict_utils.is_opaque_value torch._export.pass_base.PassBase torch._export.pass_base.PassResult
        torch._export.pass_base.PropagateUnbackedSymInts torch._export.pass_base.PythonKeyTracer torch._export.pass_base.TensorMetadata
        torch._export.pass_base._extract_tensor_metadata torch._export.pass_base.compute_unbacked_bindings torch._export.pass_base.fx
        torch._export.pass_base.fx_traceback torch._export.passes._node_metadata_hook.GraphModule
        torch._export.passes.add_runtime_assertions_for_constraints_pass.PassBase
        torch._export.passes.add_runtime_assertions_for_constraints_pass.PassResult
        torch._export.passes.add_runtime_assertions_for_constraints_pass.free_unbacked_symbols
        torch._export.passes.collect_tracepoints_pass.PassBase torch._export.passes.collect_tracepoints_pass.PassResult
        torch._export.passes.constant_folding.aten torch._export.passes.functionalize_side_effectful_ops_pass.PassResult
        torch._export.passes.functionalize_side_effectful_ops_pass.aten torch._export.passes.insert_custom_op_guards.OpProfile
        torch._export.passes.insert_custom_op_guards.TensorMetadata torch._export.passes.lift_constants_pass.FakeScriptObject
        torch._export.passes.lift_constants_pass._get_attr torch._export.passes.lift_constants_pass.get_opaque_type_name
        torch._export.passes.lift_constants_pass.is_opaque_reference_type torch._export.passes.lift_constants_pass.is_opaque_type
        torch._export.passes.lift_constants_pass.maybe_to_fake_obj torch._export.passes.remove_runtime_assertions.PassBase
        torch._export.passes.remove_runtime_assertions.PassResult
        torch._export.passes.replace_quantized_ops_with_standard_ops_pass._assign_attr
        torch._export.passes.replace_view_ops_with_view_copy_ops_pass.HigherOrderOperator
        torch._export.utils.PreDispatchTorchFunctionMode torch._export.utils._deregister_pytree_flatten_spec
        torch._export.utils.first_call_function_nn_module_stack torch._export.utils.insert_deferred_runtime_asserts
        torch._export.utils.register_pytree_flatten_spec torch._export.verifier.GraphModule torch._export.verifier.HigherOrderOperator
        torch._export.verifier.is_opaque_type torch._export.wrappers.HigherOrderOperator
        torch._export.wrappers.PreDispatchTorchFunctionMode torch._export.wrappers.ProxyTorchDispatchMode
        torch._export.wrappers.track_tensor_tree torch._higher_order_ops.aoti_call_delegate.HigherOrderOperator
        torch._higher_order_ops.aoti_call_delegate.ProxyTorchDispatchMode
        torch._higher_order_ops.aoti_call_delegate.disable_proxy_modes_tracing
        torch._higher_order_ops.aoti_call_delegate.track_tensor_tree torch._higher_order_ops.associative_scan.HigherOrderOperator
        torch._higher_order_ops.associative_scan.ProxyTorchDispatchMode torch._higher_order_ops.associative_scan.aten
        torch._higher_order_ops.associative_scan.disable_proxy_modes_tracing torch._higher_order_ops.associative_scan.track_tensor_tree
        torch._higher_order_ops.auto_functionalize.HigherOrderOperator torch._higher_order_ops.auto_functionalize.OperatorBase
        torch._higher_order_ops.auto_functionalize.ProxyTorchDispatchMode
        torch._higher_order_ops.auto_functionalize.disable_proxy_modes_tracing torch._higher_order_ops.auto_functionalize.library_utils
        torch._higher_order_ops.auto_functionalize.track_tensor_tree torch._higher_order_ops.base_hop.HigherOrderOperator
        torch._higher_order_ops.base_hop.ProxyTorchDispatchMode torch._higher_order_ops.base_hop.disable_proxy_modes_tracing
        torch._higher_order_ops.base_hop.track_tensor_tree torch._higher_order_ops.cond.HigherOrderOperator
        torch._higher_order_ops.cond.ProxyTorchDispatchMode torch._higher_order_ops.cond.track_tensor_tree
        torch._higher_order_ops.effects.CustomOpDef torch._higher_order_ops.effects.EffectType
        torch._higher_order_ops.effects.HigherOrderOperator torch._higher_order_ops.effects.ProxyTorchDispatchMode
        torch._higher_order_ops.effects.RegistrationHandle torch._higher_order_ops.effects._EffectType
        torch._higher_order_ops.effects.disable_proxy_modes_tracing torch._higher_order_ops.effects.track_tensor_tree
        torch._higher_order_ops.executorch_call_delegate.HigherOrderOperator
        torch._higher_order_ops.executorch_call_delegate.ProxyTorchDispatchMode
        torch._higher_order_ops.executorch_call_delegate.disable_proxy_modes_tracing
        torch._higher_order_ops.executorch_call_delegate.get_proxy_slot
        torch._higher_order_ops.executorch_call_delegate.track_tensor_tree torch._higher_order_ops.flat_apply.FakeScriptObject
        torch._higher_order_ops.flat_apply.HigherOrderOperator torch._higher_order_ops.flat_apply.is_opaque_type
        torch._higher_order_ops.flex_attention.GraphModule torch._higher_order_ops.flex_attention.HigherOrderOperator
        torch._higher_order_ops.flex_attention.ProxyTorchDispatchMode torch._higher_order_ops.flex_attention.annotate
        torch._higher_order_ops.flex_attention.make_fx torch._higher_order_ops.flex_attention.track_tensor_tree
        torch._higher_order_ops.hints_wrap.HigherOrderOperator torch._higher_order_ops.hints_wrap.ProxyTorchDispatchMode
        torch._higher_order_ops.hints_wrap.track_tensor_tree torch._higher_order_ops.inline_asm_elementwise.HigherOrderOperator
        torch._higher_order_ops.inline_asm_elementwise.ProxyTorchDispatchMode
        torch._higher_order_ops.inline_asm_elementwise.track_tensor_tree
        torch._higher_order_ops.invoke_leaf_function.HigherOrderOperator
        torch._higher_order_ops.invoke_leaf_function.ProxyTorchDispatchMode
        torch._higher_order_ops.invoke_leaf_function._leaf_function_module_retriever
        torch._higher_order_ops.invoke_leaf_function.register_opaque_type torch._higher_order_ops.invoke_leaf_function.track_tensor_tree
        torch._higher_order_ops.invoke_subgraph.FakeScriptObject torch._higher_order_ops.invoke_subgraph.GraphModule
        torch._higher_order_ops.invoke_subgraph.HigherOrderOperator torch._higher_order_ops.invoke_subgraph.ProxyTorchDispatchMode
        torch._higher_order_ops.invoke_subgraph.disable_proxy_modes_tracing
        torch._higher_order_ops.invoke_subgraph.insert_deferred_runtime_asserts torch._higher_order_ops.invoke_subgraph.is_opaque_type
        torch._higher_order_ops.invoke_subgraph.track_tensor_tree torch._higher_order_ops.local_map.GraphModule
        torch._higher_order_ops.local_map.HigherOrderOperator torch._higher_order_ops.local_map.ProxyTorchDispatchMode
        torch._higher_order_ops.local_map.track_tensor_tree torch._higher_order_ops.map.HigherOrderOperator
        torch._higher_order_ops.map.ProxyTorchDispatchMode torch._higher_order_ops.map.disable_proxy_modes_tracing
        torch._higher_order_ops.map.track_tensor_tree torch._higher_order_ops.out_dtype.HigherOrderOperator
        torch._higher_order_ops.out_dtype.ProxyTorchDispatchMode torch._higher_order_ops.out_dtype.disable_proxy_modes_tracing
        torch._higher_order_ops.out_dtype.maybe_handle_decomp torch._higher_order_ops.out_dtype.track_tensor_tree
        torch._higher_order_ops.passes.inline_invoke_subgraph.GraphModule torch._higher_order_ops.print.HigherOrderOperator
        torch._higher_order_ops.print.ProxyTorchDispatchMode torch._higher_order_ops.register_hook.HigherOrderOperator
        torch._higher_order_ops.run_const_graph.HigherOrderOperator torch._higher_order_ops.run_const_graph.ProxyTorchDispatchMode
        torch._higher_order_ops.run_const_graph.track_tensor_tree torch._higher_order_ops.scan.HigherOrderOperator
        torch._higher_order_ops.scan.ProxyTorchDispatchMode torch._higher_order_ops.scan.aten
        torch._higher_order_ops.scan.disable_proxy_modes_tracing torch._higher_order_ops.scan.track_tensor_tree
        torch._higher_order_ops.schema.FakeScriptObject torch._higher_order_ops.schema.is_opaque_type
        torch._higher_order_ops.strict_mode.HigherOrderOperator torch._higher_order_ops.strict_mode.ProxyTorchDispatchMode
        torch._higher_order_ops.strict_mode.disable_proxy_modes_tracing torch._higher_order_ops.strict_mode.make_fx
        torch._higher_order_ops.strict_mode.track_tensor_tree torch._higher_order_ops.torchbind.FakeScriptObject
        torch._higher_order_ops.torchbind.HigherOrderOperator torch._higher_order_ops.torchbind.ProxyTorchDispatchMode
        torch._higher_order_ops.torchbind._is_script_object torch._higher_order_ops.torchbind._ns_and_class_name
        torch._higher_order_ops.torchbind.has_side_effect torch._higher_order_ops.torchbind.track_tensor_tree
        torch._higher_order_ops.triton_kernel_wrap.HigherOrderOperator torch._higher_order_ops.triton_kernel_wrap.ProxyTorchDispatchMode
        torch._higher_order_ops.triton_kernel_wrap.disable_proxy_modes_tracing torch._higher_order_ops.triton_kernel_wrap.fx
        torch._higher_order_ops.triton_kernel_wrap.guard_scalar torch._higher_order_ops.triton_kernel_wrap.track_tensor_tree
        torch._higher_order_ops.utils.FakeScriptObject torch._higher_order_ops.utils.HigherOrderOperator
        torch._higher_order_ops.utils.OperatorBase torch._higher_order_ops.utils.TensorMetadata
        torch._higher_order_ops.utils._extract_tensor_metadata torch._higher_order_ops.utils._temp_remove_metadata_torch_function_mode
        torch._higher_order_ops.utils.disable_proxy_modes_tracing torch._higher_order_ops.utils.fx_traceback
        torch._higher_order_ops.utils.insert_deferred_runtime_asserts torch._higher_order_ops.utils.is_opaque_type
        torch._higher_order_ops.utils.make_fx torch._higher_order_ops.while_loop.HigherOrderOperator
        torch._higher_order_ops.while_loop.ProxyTorchDispatchMode torch._higher_order_ops.while_loop.disable_proxy_modes_tracing
        torch._higher_order_ops.while_loop.track_tensor_tree torch._higher_order_ops.wrap.GraphModule
        torch._higher_order_ops.wrap.HigherOrderOperator torch._higher_order_ops.wrap.ProxyTorchDispatchMode
        torch._higher_order_ops.wrap.track_tensor_tree torch._lazy.extract_compiled_graph.fx torch._meta_registrations.addcdiv_
        torch._meta_registrations.addcmul_ torch._meta_registrations.aten torch._meta_registrations.exp_config
        torch._meta_registrations.lerp_ torch._prims._make_token torch._prims._sink_tokens torch._prims._uniform_helper torch._prims.abs
        torch._prims.acos torch._prims.acosh torch._prims.add torch._prims.amax torch._prims.amin torch._prims.as_strided
        torch._prims.as_strided_scatter torch._prims.asin torch._prims.asinh torch._prims.atan torch._prims.atan2 torch._prims.atanh
        torch._prims.bessel_i0 torch._prims.bessel_i0e torch._prims.bessel_i1 torch._prims.bessel_i1e torch._prims.bessel_j0
        torch._prims.bessel_j1 torch._prims.bitwise_and torch._prims.bitwise_not torch._prims.bitwise_or torch._prims.bitwise_xor
        torch._prims.broadcast_in_dim torch._prims.cat torch._prims.cbrt torch._prims.ceil torch._prims.clone torch._prims.collapse
        torch._prims.collapse_view torch._prims.conj torch._prims.conj_physical torch._prims.convert_element_type
        torch._prims.copy_strided torch._prims.copy_to torch._prims.cos torch._prims.cosh torch._prims.device_put torch._prims.digamma
        torch._prims.div torch._prims.empty torch._prims.empty_permuted torch._prims.empty_strided torch._prims.eq torch._prims.erf
        torch._prims.erf_inv torch._prims.erfc torch._prims.erfcx torch._prims.executor.GraphModule torch._prims.executor.make_fx
        torch._prims.executor.wrapper_and_args_for_make_fx torch._prims.exp torch._prims.exp2 torch._prims.expm1 torch._prims.fft_c2c
        torch._prims.fft_c2r torch._prims.fft_r2c torch._prims.fill torch._prims.floor torch._prims.fmax torch._prims.fmin
        torch._prims.fmod torch._prims.frexp torch._prims.full torch._prims.full_like torch._prims.gcd torch._prims.ge torch._prims.gt
        torch._prims.hypot torch._prims.igamma torch._prims.igammac torch._prims.imag torch._prims.iota
        torch._prims.is_functional_schema torch._prims.isfinite torch._prims.item torch._prims.le torch._prims.lgamma torch._prims.log
        torch._prims.log10 torch._prims.log1p torch._prims.log2 torch._prims.lt torch._prims.maximum torch._prims.maximum_value
        torch._prims.minimum torch._prims.minimum_value torch._prims.mul torch._prims.ndtri torch._prims.ne torch._prims.neg
        torch._prims.nextafter torch._prims.normal torch._prims.pow torch._prims.prod torch._prims.real torch._prims.reciprocal
        torch._prims.remainder torch._prims.reshape torch._prims.resize torch._prims.rev torch._prims.rng_prims.HigherOrderOperator
        torch._prims.rng_prims.ProxyTorchDispatchMode torch._prims.rng_prims.disable_proxy_modes_tracing
        torch._prims.rng_prims.track_tensor_tree torch._prims.round torch._prims.rsqrt torch._prims.scalar_tensor
        torch._prims.shift_left torch._prims.shift_right_arithmetic torch._prims.sign torch._prims.signbit torch._prims.sin
        torch._prims.sinh torch._prims.spherical_bessel_j0 torch._prims.split_dim torch._prims.sqrt torch._prims.squeeze
        torch._prims.sub torch._prims.sum torch._prims.svd torch._prims.tan torch._prims.tanh torch._prims.transpose torch._prims.trunc
        torch._prims.var torch._prims.view_element_type torch._prims.view_of torch._prims.where torch._prims.xor_sum torch._prims.zeta
        torch._refs.alias_copy torch._refs.as_strided_copy torch._refs.aten torch._refs.diagonal_copy torch._refs.expand_copy
        torch._refs.fft.aten torch._refs.highest_precision_float torch._refs.narrow_copy torch._refs.nn.functional.aten
        torch._refs.permute_copy torch._refs.special.aten torch._refs.squeeze_copy torch._refs.t_copy torch._refs.transpose_copy
        torch._refs.unbind_copy torch._refs.unsqueeze_copy torch._refs.view_copy torch._subclasses._fake_tensor_utils.SymNode
        torch._subclasses.complex_tensor._ops.aten.aten torch._subclasses.complex_tensor._ops.prims.aten
        torch._subclasses.complex_tensor._ops.prims.prims torch._subclasses.fake_impls._normalize_function_or_error
        torch._subclasses.fake_impls.aten torch._subclasses.fake_tensor.FakeScriptObject torch._subclasses.fake_tensor.MissingOpProfile
        torch._subclasses.fake_tensor.aten torch._subclasses.fake_tensor.library_utils torch._subclasses.fake_tensor.normalize_function
        torch._subclasses.fake_utils.aten torch._subclasses.functional_tensor.TorchBindOpOverload
        torch._subclasses.functional_tensor._get_dispatch_mode_pre_dispatch torch._subclasses.functional_tensor.fx_traceback
        torch._subclasses.schema_check_mode._normalize_function_or_error torch.ao.nn.quantized.dynamic.modules.conv.ops
        torch.ao.nn.quantized.modules.conv.ops torch.ao.nn.quantized.modules.functional_modules.ops
        torch.ao.ns._numeric_suite_fx.GraphModule torch.ao.ns.fx.graph_matcher.GraphModule torch.ao.ns.fx.graph_matcher.toq
        torch.ao.ns.fx.graph_passes.GraphModule torch.ao.ns.fx.graph_passes.map_arg torch.ao.ns.fx.mappings.toq
        torch.ao.ns.fx.n_shadows_utils.GraphModule torch.ao.ns.fx.pattern_utils.GraphModule torch.ao.ns.fx.pattern_utils.toq
        torch.ao.ns.fx.utils.GraphModule torch.ao.ns.fx.utils.toq torch.ao.ns.fx.weight_utils.GraphModule
        torch.ao.ns.fx.weight_utils.toq torch.ao.pruning._experimental.pruner.base_structured_sparsifier.symbolic_trace
        torch.ao.quantization.fx._decomposed.Library torch.ao.quantization.fx._decomposed.impl
        torch.ao.quantization.fx._equalize.GraphModule torch.ao.quantization.fx._lower_to_native_backend.GraphModule
        torch.ao.quantization.fx._lower_to_native_backend.map_arg torch.ao.quantization.fx._model_report.detector.GraphModule
        torch.ao.quantization.fx._model_report.model_report.GraphModule torch.ao.quantization.fx.convert.GraphModule
        torch.ao.quantization.fx.fuse.GraphModule torch.ao.quantization.fx.fuse.map_arg
        torch.ao.quantization.fx.graph_module.GraphModule torch.ao.quantization.fx.lower_to_fbgemm.GraphModule
        torch.ao.quantization.fx.lower_to_qnnpack.GraphModule torch.ao.quantization.fx.prepare.GraphModule
        torch.ao.quantization.fx.qconfig_mapping_utils.GraphModule torch.ao.quantization.fx.tracer.Scope
        torch.ao.quantization.fx.utils.GraphModule torch.ao.quantization.fx.utils.map_arg torch.ao.quantization.quantize_fx.GraphModule
        torch.ao.quantization.quantize_fx.Scope torch.ao.quantization.quantize_jit.wrap_cpp_module torch.autograd.function._functorch
        torch.backends.mps._Library torch.compiler.config.Config torch.compiler.config.install_config_module torch.cuda._sanitizer.aten
        torch.distributed._functional_collectives.get_proxy_mode torch.distributed._local_tensor.ConstantIntNode
        torch.distributed._tensor._shards_wrapper.aten torch.distributed.config.Config torch.distributed.config.install_config_module
        torch.distributed.pipelining._IR.aten_pipe_split_alias torch.distributed.pipelining._IR.fx
        torch.distributed.pipelining._IR.map_aggregate torch.distributed.pipelining._IR.split_module
        torch.distributed.pipelining._utils.fx torch.distributed.pipelining.microbatch.map_aggregate
        torch.distributed.pipelining.stage.fx torch.distributed.pipelining.stage.map_aggregate torch.distributed.tensor._api.aten
        torch.distributed.tensor._collective_utils.guard_or_false torch.distributed.tensor._decompositions.GuardOnDataDependentSymNode
        torch.distributed.tensor._dispatch.aten torch.distributed.tensor._dispatch.fill_defaults
        torch.distributed.tensor._ops._conv_ops.aten torch.distributed.tensor._ops._embedding_ops.aten
        torch.distributed.tensor._ops._math_ops.aten torch.distributed.tensor._ops._math_ops.prims
        torch.distributed.tensor._ops._matrix_ops.aten torch.distributed.tensor._ops._matrix_ops.guard_or_false
        torch.distributed.tensor._ops._pointwise_ops.aten torch.distributed.tensor._ops._pointwise_ops.op
        torch.distributed.tensor._ops._pointwise_ops.prims torch.distributed.tensor._ops._random_ops._op
        torch.distributed.tensor._ops._random_ops.aten torch.distributed.tensor._ops._tensor_ops.aten
        torch.distributed.tensor._ops._tensor_ops.prims torch.distributed.tensor._ops._tensor_ops.statically_known_true
        torch.distributed.tensor._ops._view_ops.aten torch.distributed.tensor._ops.aten torch.distributed.tensor._ops.guard_or_false
        torch.distributed.tensor._ops.op torch.distributed.tensor._ops.prims torch.distributed.tensor._ops.statically_known_true
        torch.distributed.tensor._sharding_prop.aten torch.distributed.tensor._shards_wrapper.aten
        torch.distributed.tensor._tp_conv.aten torch.distributed.tensor.debug._comm_mode.c10d_ops
        torch.distributed.tensor.debug._comm_mode.funcol_autograd torch.distributed.tensor.debug._comm_mode.funcol_native
        torch.distributed.tensor.debug._comm_mode.funcol_py torch.distributed.tensor.debug._op_coverage.aot_module
        torch.distributed.tensor.debug._op_coverage.make_boxed_func torch.distributed.tensor.debug._op_coverage.select_decomp_table
        torch.distributed.tensor.experimental._context_parallel._attention.aten
        torch.distributed.tensor.experimental._context_parallel._sharding_rules.aten
        torch.distributed.tensor.experimental._tp_transform.GraphModule torch.distributed.tensor.experimental._tp_transform.PassBase
        torch.distributed.tensor.experimental._tp_transform.PassResult
        torch.distributed.tensor.experimental._tp_transform._extract_tensor_metadata
        torch.distributed.tensor.experimental._tp_transform.aten torch.distributed.tensor.experimental._tp_transform.make_fx
        torch.distributed.tensor.parallel.loss.aten torch.export.PassResult torch.export._draft_export.OpProfile
        torch.export._draft_export.UserError torch.export._draft_export.UserErrorType torch.export._leakage_detection_utils.TrackedFake
        torch.export._remove_auto_functionalized_pass.decompose_auto_functionalized torch.export._safeguard.ProxyTorchDispatchMode
        torch.export._swap.erase_nodes torch.export._swap.fuse_as_graphmodule torch.export._swap.fx_pytree
        torch.export._swap.legalize_graph torch.export._trace.ConstraintViolationError torch.export._trace.FakeScriptObject
        torch.export._trace.GraphSignature torch.export._trace.GuardOnDataDependentSymNode
        torch.export._trace.PreDispatchTorchFunctionMode torch.export._trace.ShapeEnv torch.export._trace.UserError
        torch.export._trace.UserErrorType torch.export._trace._PyTreeInfo torch.export._trace._detect_attribute_assignment
        torch.export._trace._graph_input_names torch.export._trace._graph_output_names
        torch.export._trace.aot_export_joint_with_descriptors torch.export._trace.create_functional_call
        torch.export._trace.create_tree_flattened_fn torch.export._trace.free_unbacked_symbols torch.export._trace.get_proxy_slot
        torch.export._trace.get_subclass_typing_container torch.export._trace.is_opaque_type torch.export._trace.make_fx
        torch.export._trace.maybe_to_fake_obj torch.export._trace.register_buffer_assignment_hook torch.export._trace.track_tensor_tree
        torch.export._unlift.NodeSource torch.export._unlift.NodeSourceAction torch.export._unlift._PyTreeCodeGen
        torch.export._unlift._PyTreeInfo torch.export.experimental._utils.IndentedBuffer torch.export.exported_program.FakeScriptObject
        torch.export.exported_program.PassManager torch.export.exported_program.PassResult torch.export.exported_program._PyTreeCodeGen
        torch.export.exported_program._PyTreeInfo torch.export.exported_program.compatibility
        torch.export.exported_program.first_call_function_nn_module_stack torch.export.exported_program.insert_deferred_runtime_asserts
        torch.export.graph_signature.FakeScriptObject torch.export.graph_signature.get_opaque_type_name
        torch.export.graph_signature.is_opaque_type torch.export.pt2_archive._package.is_opaque_value
        torch.export.pt2_archive._package.normalize_path_separator torch.export.unflatten.FakeScriptObject
        torch.export.unflatten._get_attr torch.export.unflatten._get_attr_via_attr_list torch.export.unflatten._print_readable
        torch.export.unflatten.fx_pytree torch.export.unflatten.is_fx_symbolic_tracing torch.export.unflatten.is_opaque_value
        torch.jit.Attribute torch.jit.ONNXTracedModule torch.jit.RecursiveScriptClass torch.jit.RecursiveScriptModule
        torch.jit.ScriptModule torch.jit.ScriptWarning torch.jit.TopLevelTracedModule torch.jit.TracedModule torch.jit.TracerWarning
        torch.jit.TracingCheckError torch.jit._ScriptProfile torch.jit._decompositions.aten torch.jit._freeze.RecursiveScriptModule
        torch.jit._freeze.ScriptModule torch.jit._get_trace_graph torch.jit._logging.add_stat_value torch.jit._logging.time_point
        torch.jit._script_if_tracing torch.jit._unique_state_dict torch.jit._unwrap_optional torch.jit.interface torch.jit.is_tracing
        torch.jit.script_method torch.jit.trace_module torch.nested._internal.nested_int.ConstantIntNode
        torch.nested._internal.ops.normalize_function torch.nn.attention._fa3.Library torch.nn.attention._fa4.Library
        torch.nn.utils._expanded_weights.expanded_weights_impl.aten torch.nn.utils.parametrize.is_opaque_reference_type
        torch.onnx._internal.fx.passes.type_promotion.fx_traceback torch.onnx._internal.fx.passes.type_promotion.proxy_tensor
        torch.quantization.fx.graph_module.GraphModule torch.quantization.quantize_fx.Scope torch.quantized_gru torch.quantized_lstm
        torch.sparse._triton_ops.has_triton torch.sparse._triton_ops.warn_once torch.utils._debug_mode._utils._parse_stack_trace
        torch.utils._runtime_estimation.aten torch.utils._runtime_estimation.get_device_tflops
        torch.utils._runtime_estimation.get_gpu_dram_gbps torch.utils._runtime_estimation.optimization_hint
        torch.utils._runtime_estimation.statically_known_true torch.utils.bundled_inputs.wrap_cpp_module
        torch.utils.checkpoint.LoggingTensorMode torch.utils.checkpoint.capture_logs torch.utils.checkpoint.fx_traceback
        torch.utils.debug_log.leaf_function torch.utils.flop_counter.aten
        """,
    ),
    Row(
        DANGEROUS,
        "it downloads, and runs or writes what it got",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        torch._prims.debug_prims.ContentStoreReader torch.backends.xeon.run_cpu.Std torch.backends.xeon.run_cpu._DefaultLogsSpecs
        torch.backends.xeon.run_cpu.start_processes torch.distributed._shard.checkpoint._async_process_executor._get_fq_hostname
        torch.distributed._shard.checkpoint._async_process_executor.get_free_port
        torch.distributed._shard.checkpoint._experimental.barriers.store_util
        torch.distributed.checkpoint._async_process_executor._get_fq_hostname
        torch.distributed.checkpoint._async_process_executor.get_free_port
        torch.distributed.checkpoint._experimental.barriers.store_util torch.utils.data.DFIterDataPipe torch.utils.data.DataChunk
        torch.utils.data.IterDataPipe torch.utils.data.MapDataPipe torch.utils.data.argument_validation
        torch.utils.data.dataloader.IterDataPipe torch.utils.data.dataloader.MapDataPipe
        torch.utils.data.dataloader._IterDataPipeSerializationWrapper torch.utils.data.dataloader._MapDataPipeSerializationWrapper
        torch.utils.data.functional_datapipe torch.utils.data.graph.IterDataPipe torch.utils.data.graph.MapDataPipe
        torch.utils.data.graph_settings.SHARDING_PRIORITIES torch.utils.data.graph_settings._ShardingIterDataPipe
        torch.utils.data.guaranteed_datapipes_determinism torch.utils.data.non_deterministic torch.utils.data.runtime_validation
        torch.utils.data.runtime_validation_disabled
        """,
    ),
    Row(
        DANGEROUS,
        "it fetches or sends something over the network",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        pytorch_lightning.trainer.connectors.checkpoint_connector.LocalFileSystem
        pytorch_lightning.trainer.connectors.checkpoint_connector.url_to_fs
        torch.distributed._shard.checkpoint._fsspec_filesystem.url_to_fs torch.distributed.checkpoint._fsspec_filesystem.url_to_fs
        """,
    ),
    Row(
        DANGEROUS,
        "it imports a module by its name",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        lightning_fabric.plugins.precision.bitsandbytes._ClassReplacementContextManager
        lightning_fabric.plugins.precision.transformer_engine._ClassReplacementContextManager torch._import_dotted_name
        torch._logging.set_logs torch._native.cutedsl_utils._unavailable_reason torch._native.ops.foreach_mm.impl._unavailable_reason
        torch._native.triton_utils._unavailable_reason torch.distributed._shard.checkpoint._extension.try_import
        torch.distributed.checkpoint._extension.try_import torch.serialization._import_dotted_name torch.storage._type
        """,
    ),
    Row(
        DANGEROUS,
        "it imports modules, or finds code by its name",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        jaraco.text.files lightning_fabric.__setup__.find_packages lightning_fabric.__setup__.module_from_spec
        lightning_fabric.__setup__.spec_from_file_location lightning_fabric.utilities.registry.entry_points
        lightning_utilities.core.imports.PackageNotFoundError lightning_utilities.core.imports._version
        lightning_utilities.core.imports.distribution lightning_utilities.core.imports.find_spec
        lightning_utilities.core.imports.metadata networkx.conftest.entry_points networkx.utils.backends.entry_points
        numpy.random._common.interface pytorch_lightning.__setup__.find_packages pytorch_lightning.__setup__.module_from_spec
        pytorch_lightning.__setup__.spec_from_file_location tokenize.lookup torch.cuda.amp.common.find_spec
        torchmetrics.detection.helpers.version tqdm.version.PackageNotFoundError tqdm.version.version
        """,
    ),
    Row(
        DANGEROUS,
        "it is code: a function, a method, a frame or what they are made of",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        _collections_abc.async_generator _collections_abc.coroutine _collections_abc.generator contextlib.MethodType
        functorch.dim.wrap_type.BuiltinMethodType functorch.dim.wrap_type.GetSetDescriptorType
        functorch.dim.wrap_type.MethodDescriptorType functorch.dim.wrap_type.WrapperDescriptorType hmac._functype
        lightning_fabric.wrappers.MethodType numpy._core.fromnumeric._gentype
        pytorch_lightning.trainer.connectors.signal_connector.FrameType sympy.integrals.risch.GeneratorType
        sympy.polys.rings.GeneratorType sympy.solvers.solvers.GeneratorType sympy.solvers.solveset.GeneratorType
        torch.distributed._local_tensor.TracebackType torch.distributed.algorithms.join.TracebackType
        torch.distributed.pipelining._IR.MethodType torch.jit._ir_utils.TracebackType torch.utils._filelock.TracebackType
        torch.utils._traceback.TracebackType torch.utils.viz._cycles.CellType typing.MethodDescriptorType typing.MethodWrapperType
        typing.WrapperDescriptorType
        """,
    ),
    Row(
        DANGEROUS,
        "it loads another pickle",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        lightning_fabric.utilities.consolidate_checkpoint._load_distributed_checkpoint
        pytorch_lightning.utilities.consolidate_checkpoint._load_distributed_checkpoint
        torch.cuda.memory._augment_memory_snapshot_stack_traces torch.distributed.flight_recorder.fr_trace.read_dir
        torch.functional.overload torch.jit._overload torch.jit._overload_method torch.nn.functional._overload
        torch.xpu.memory._augment_memory_snapshot_stack_traces torchmetrics.functional.image.learned_perceptual_image_patch_similarity
        torchmetrics.functional.image.perceptual_path_length._LPIPS torchmetrics.image.lpip._LPIPS torchmetrics.image.lpip._NoTrainLpips
        torchmetrics.image.perceptual_path_length._LPIPS
        """,
    ),
    Row(
        DANGEROUS,
        "it loads another pickle or program",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        pytorch_lightning.trainer.connectors.data_connector.mp torch._higher_order_ops.utils.StorageWeakRef
        torch._jit_internal.package_mangling torch._subclasses.fake_tensor.StorageWeakRef torch.distributed._serialization._load
        torch.distributed._shard.checkpoint._async_process_executor.mp
        torch.distributed._shard.checkpoint._experimental.checkpoint_process.ProcessExitedException
        torch.distributed._shard.checkpoint._experimental.checkpoint_process.mp torch.distributed.checkpoint._async_process_executor.mp
        torch.distributed.checkpoint._experimental.checkpoint_process.ProcessExitedException
        torch.distributed.checkpoint._experimental.checkpoint_process.mp torch.distributed.recv_object_list
        torch.distributed.tensor.debug._comm_mode.ModTracker torch.export.pt2_archive._package.ExportedProgramDeserializer
        torch.export.pt2_archive._package.SerializedArtifact torch.export.pt2_archive._package._dataclass_to_dict
        torch.export.pt2_archive._package._dict_to_dataclass torch.export.pt2_archive._package.deserialize_device
        torch.export.pt2_archive._package.deserialize_scalar_type torch.export.pt2_archive._package.deserialize_size
        torch.export.pt2_archive._package.deserialize_storage_offset torch.export.pt2_archive._package.deserialize_stride
        torch.export.pt2_archive._package.schema torch.export.pt2_archive._package.serialize
        torch.export.pt2_archive._package.serialize_tensor_meta torch.jit.save_jit_module_to_flatbuffer
        """,
    ),
    Row(
        DANGEROUS,
        "it loads another pickle, or changes how pickles are loaded",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        packaging.ranges.copyreg pytorch_lightning.profilers.advanced.pstats re.copyreg sympy.core.function.copyreg
        torch._tensor.copyreg torch._utils.copyreg torch.distributed._shard.checkpoint.utils.Stats
        torch.distributed.checkpoint.utils.Stats torch.nn.utils.parametrize.copyreg torch.serialization.copyreg torch.utils.copyreg
        """,
    ),
    Row(
        DANGEROUS,
        "it loads checkpoints with the pickles in them, or imports what a text names",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        lightning_fabric._graveyard.tpu.SingleDeviceXLAStrategy lightning_fabric._graveyard.tpu._StrategyRegistry
        lightning_fabric.accelerators.tpu.SingleDeviceXLAStrategy lightning_fabric.accelerators.tpu._StrategyRegistry
        lightning_fabric.connector.DeepSpeedStrategy lightning_fabric.connector.FSDPStrategy
        lightning_fabric.connector.ModelParallelStrategy lightning_fabric.connector.ParallelStrategy
        lightning_fabric.connector.SingleDeviceStrategy lightning_fabric.connector.SingleDeviceXLAStrategy
        lightning_fabric.connector.Strategy lightning_fabric.connector.XLAFSDPStrategy lightning_fabric.connector.XLAStrategy
        lightning_fabric.fabric.DataParallelStrategy lightning_fabric.fabric.DeepSpeedStrategy lightning_fabric.fabric.FSDPStrategy
        lightning_fabric.fabric.Logger lightning_fabric.fabric.SingleDeviceStrategy lightning_fabric.fabric.Strategy
        lightning_fabric.fabric.XLAStrategy lightning_fabric.fabric._MultiProcessingLauncher lightning_fabric.fabric._Sharded
        lightning_fabric.fabric._XLALauncher lightning_fabric.plugins.environments.lsf.get_filesystem
        lightning_fabric.plugins.io.torch_io._atomic_save lightning_fabric.plugins.io.torch_io.get_filesystem
        lightning_fabric.plugins.io.torch_io.pl_load lightning_fabric.plugins.io.xla.get_filesystem
        lightning_fabric.plugins.precision.tpu.SingleDeviceXLAStrategy lightning_fabric.plugins.precision.tpu._StrategyRegistry
        lightning_fabric.plugins.precision.tpu_bf16.SingleDeviceXLAStrategy
        lightning_fabric.plugins.precision.tpu_bf16._StrategyRegistry lightning_fabric.plugins.precision.xlabf16.SingleDeviceXLAStrategy
        lightning_fabric.plugins.precision.xlabf16._StrategyRegistry lightning_fabric.utilities.distributed._is_local_file_protocol
        lightning_fabric.wrappers.Strategy pytorch_lightning._graveyard._torchmetrics._patch_pl_to_mirror_if_necessary
        pytorch_lightning._graveyard.tpu.SingleDeviceXLAStrategy pytorch_lightning._graveyard.tpu._StrategyRegistry
        pytorch_lightning.accelerators.tpu.SingleDeviceXLAStrategy pytorch_lightning.accelerators.tpu._StrategyRegistry
        pytorch_lightning.callbacks.model_checkpoint._is_dir pytorch_lightning.callbacks.model_checkpoint._is_local_file_protocol
        pytorch_lightning.callbacks.model_checkpoint.get_filesystem pytorch_lightning.callbacks.stochastic_weight_avg.DeepSpeedStrategy
        pytorch_lightning.callbacks.stochastic_weight_avg.FSDPStrategy pytorch_lightning.core.datamodule._load_from_checkpoint
        pytorch_lightning.core.module.FabricLogger pytorch_lightning.core.module.Logger
        pytorch_lightning.core.module._load_from_checkpoint pytorch_lightning.core.module.get_filesystem
        pytorch_lightning.loops.prediction_loop._MultiProcessingLauncher pytorch_lightning.loops.utilities.FSDPStrategy
        pytorch_lightning.loops.utilities.ParallelStrategy pytorch_lightning.loops.utilities.Strategy
        pytorch_lightning.plugins.precision.tpu.SingleDeviceXLAStrategy pytorch_lightning.plugins.precision.tpu._StrategyRegistry
        pytorch_lightning.plugins.precision.tpu_bf16.SingleDeviceXLAStrategy
        pytorch_lightning.plugins.precision.tpu_bf16._StrategyRegistry
        pytorch_lightning.plugins.precision.xlabf16.SingleDeviceXLAStrategy
        pytorch_lightning.plugins.precision.xlabf16._StrategyRegistry pytorch_lightning.profilers.advanced.get_filesystem
        pytorch_lightning.profilers.profiler.get_filesystem pytorch_lightning.trainer.call.WandbLogger
        pytorch_lightning.trainer.call._SubprocessScriptLauncher pytorch_lightning.trainer.connectors.accelerator_connector.DDPStrategy
        pytorch_lightning.trainer.connectors.accelerator_connector.DeepSpeedStrategy
        pytorch_lightning.trainer.connectors.accelerator_connector.FSDPStrategy
        pytorch_lightning.trainer.connectors.accelerator_connector.ModelParallelStrategy
        pytorch_lightning.trainer.connectors.accelerator_connector.ParallelStrategy
        pytorch_lightning.trainer.connectors.accelerator_connector.SingleDeviceStrategy
        pytorch_lightning.trainer.connectors.accelerator_connector.SingleDeviceXLAStrategy
        pytorch_lightning.trainer.connectors.accelerator_connector.Strategy
        pytorch_lightning.trainer.connectors.accelerator_connector.XLAStrategy
        pytorch_lightning.trainer.connectors.callback_connector.LitLogger
        pytorch_lightning.trainer.connectors.checkpoint_connector._is_dir
        pytorch_lightning.trainer.connectors.checkpoint_connector._pl_migrate_checkpoint
        pytorch_lightning.trainer.connectors.checkpoint_connector.get_filesystem
        pytorch_lightning.trainer.connectors.checkpoint_connector.pl_legacy_patch
        pytorch_lightning.trainer.connectors.logger_connector.logger_connector.CSVLogger
        pytorch_lightning.trainer.connectors.logger_connector.logger_connector.LitLogger
        pytorch_lightning.trainer.connectors.logger_connector.logger_connector.Logger
        pytorch_lightning.trainer.connectors.logger_connector.logger_connector.TensorBoardLogger
        pytorch_lightning.trainer.setup.DummyLogger pytorch_lightning.trainer.trainer.CSVLogger pytorch_lightning.trainer.trainer.Logger
        pytorch_lightning.trainer.trainer.ParallelStrategy pytorch_lightning.trainer.trainer.Strategy
        pytorch_lightning.trainer.trainer.TensorBoardLogger pytorch_lightning.trainer.trainer._is_local_file_protocol
        pytorch_lightning.trainer.trainer._log_hyperparams pytorch_lightning.utilities.compile.DDPStrategy
        pytorch_lightning.utilities.compile.DeepSpeedStrategy pytorch_lightning.utilities.compile.FSDPStrategy
        pytorch_lightning.utilities.compile.SingleDeviceStrategy pytorch_lightning.utilities.compile.Strategy
        """,
    ),
    Row(
        DANGEROUS,
        "it loads machine code",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        torch.xpu.XPUPluggableAllocator
        """,
    ),
    Row(
        DANGEROUS,
        "it looks any attribute up, or changes it: what is reached that way is no longer named in the file",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        collections._recursive_repr filelock._async_lock._acquire.iscoroutinefunction filelock._async_lock._release.iscoroutinefunction
        functools.recursive_repr lightning_fabric.__setup__.ModuleType lightning_fabric.plugins.precision.bitsandbytes.ModuleType
        lightning_fabric.utilities.registry.ModuleType lightning_fabric.utilities.registry.getmembers
        lightning_fabric.utilities.registry.isclass lightning_utilities.core.imports.ModuleType pytorch_lightning.__setup__.ModuleType
        pytorch_lightning.utilities.memory.gc sympy.matrices.common.isfunction sympy.matrices.matrixbase.isfunction
        sympy.testing.runtests.unwrap sympy.utilities.runtests.unwrap torch._export.db.case.ModuleType torch._export.utils.Parameter
        torch._export.utils.ismethod torch._utils.ModuleType torch.accelerator.graphs.gc torch.ao.quantization.utils.getfullargspec
        torch.ao.quantization.utils.signature torch.cuda.graphs.gc torch.cuda.memory.signature
        torch.distributed._shard.checkpoint._async_process_executor.gc torch.distributed._shard.checkpoint.state_dict.gc
        torch.distributed._shard.op_registry_utils.signature torch.distributed.checkpoint._async_process_executor.gc
        torch.distributed.checkpoint.state_dict.gc torch.distributed.flight_recorder.components.loader.gc
        torch.distributed.pipelining._IR.Parameter torch.distributed.pipelining._IR.Signature torch.distributed.pipelining._IR.signature
        torch.export._leakage_detection_utils.gc torch.onnx._internal.exporter._onnx_program.gc torch.utils._import_utils.ModuleType
        torch.utils.viz._cycles.gc torchmetrics.detection.helpers.ModuleType tqdm.utils.signature
        """,
    ),
    Row(
        DANGEROUS,
        "it opens files, to read or to write them",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        backports.tarfile.bltn_open email.parser.TextIOWrapper encodings.bz2_codec.bz2 filelock._core._fork.pathlib
        filelock._identity._process.FileIO filelock._soft._lease.pathlib filelock._sqlite._connection.pathlib
        filelock._sqlite._fork.pathlib filelock._sqlite._transactions.pathlib lightning_fabric.__setup__.glob
        lightning_fabric.utilities.consolidate_checkpoint.ArgumentParser lightning_utilities.cli.dependencies.glob
        lightning_utilities.docs.formatting.glob networkx.generators.atlas.gzip networkx.readwrite.gexf.ElementTree
        networkx.readwrite.gexf.SubElement networkx.readwrite.gexf.register_namespace networkx.readwrite.gexf.tostring
        networkx.utils.decorators.bz2 networkx.utils.decorators.gzip packaging.metadata.pathlib pytorch_lightning.__setup__.glob
        sympy.testing.pytest.pathlib sympy.testing.runtests_pytest.pathlib sympy.utilities.pytest.pathlib tokenize.TextIOWrapper
        tokenize._builtin_open torch._export.db.examples.glob torch._logging._internal.pathlib
        torch.backends.xeon.run_cpu.ArgumentParser torch.backends.xeon.run_cpu.glob torch.cuda._annotate_cuda_graph_trace.gzip
        torch.cuda.tunable.glob torch.distributed._serialization.BufferedIOBase
        torch.distributed._shard.checkpoint._consolidate_hf_safetensors.glob
        torch.distributed.checkpoint._consolidate_hf_safetensors.glob torch.distributed.debug._handlers.pathlib
        torch.export.pt2_archive._package.glob torch.glob torch.onnx._internal.exporter._capture_strategies.pathlib
        torch.onnx._internal.torchscript_exporter.onnx_proto_utils.glob torch.utils._zip.ZipFile torch.utils._zip.glob
        torch.utils.viz._cycles.NamedTemporaryFile xml.etree.ElementInclude.ElementTree
        """,
    ),
    Row(
        DANGEROUS,
        "it opens or changes files that its arguments name",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        lightning_fabric.utilities.warnings._custom_format_warning lightning_fabric.utilities.warnings._default_format_warning
        numpy.rec.array pytorch_lightning.demos.WikiText2 pytorch_lightning.demos.lstm.WikiText2
        torch.distributed._shard.checkpoint.hf_storage.consolidate_safetensors_files
        torch.distributed.checkpoint.hf_storage.consolidate_safetensors_files torch.export.pt2_archive.is_pt2_package
        torch.nativert.backends._lower_utils.package_pt2 torchmetrics.functional.audio.dnsmos._cached_load_session
        torchmetrics.functional.text._deprecated.bert_score torchmetrics.text.bert.bert_score warnings._formatwarning_orig
        warnings._showwarning_orig zoneinfo.available_timezones
        """,
    ),
    Row(
        DANGEROUS,
        "it reads a file, and the pickles in it where there are any",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        numpy.matlib.load numpy.matlib.save
        """,
    ),
    Row(
        DANGEROUS,
        "it reads or writes files that its arguments name",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        safetensors._safetensors_rust.safe_open
        """,
    ),
    Row(
        DANGEROUS,
        "it runs code that is text, or made of its arguments",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        filelock._async_lock._executor.dataclass filelock._async_lock._lock.dataclass filelock._async_lock._owners.dataclass
        filelock._core._fork.dataclass filelock._core._settings.dataclass filelock._core._shutdown.dataclass
        filelock._core._state.dataclass filelock._soft._lease.dataclass filelock._soft._read_write._generations.dataclass
        filelock._soft._read_write._hold.dataclass filelock._soft._read_write._participant.dataclass
        filelock._soft._strict._claims.dataclass filelock._soft._strict._directories.dataclass filelock._sqlite._connection.dataclass
        filelock._sqlite._links.dataclass filelock._sqlite._transactions.dataclass functorch.dim._getsetitem.dataclass
        functorch.dim._tensor_info.dataclass networkx.algorithms.similarity.dataclass networkx.algorithms.tree.branchings.dataclass
        networkx.algorithms.tree.mst.dataclass networkx.utils.configs.dataclass packaging._tokenizer.dataclass
        packaging.pylock.dataclass pytorch_lightning.callbacks.progress.rich_progress.dataclass
        pytorch_lightning.loops.evaluation_loop.dataclass pytorch_lightning.loops.fit_loop.dataclass
        pytorch_lightning.loops.optimization.automatic.dataclass pytorch_lightning.loops.optimization.closure.dataclass
        pytorch_lightning.loops.optimization.manual.dataclass pytorch_lightning.loops.progress.dataclass
        pytorch_lightning.loops.training_epoch_loop.dataclass pytorch_lightning.trainer.connectors.data_connector.dataclass
        pytorch_lightning.trainer.connectors.logger_connector.result.dataclass pytorch_lightning.trainer.states.dataclass
        pytorch_lightning.utilities.types.dataclass sympy.integrals.manualintegrate.dataclass sympy.physics.biomechanics.curve.dataclass
        torch._export.db.case.dataclass torch._guards.dataclass torch._higher_order_ops.associative_scan._maybe_compile_and_run_fn
        torch._higher_order_ops.auto_functionalize.dataclass torch._higher_order_ops.flat_apply.dataclass
        torch._higher_order_ops.invoke_leaf_function.dataclass torch._higher_order_ops.invoke_subgraph.dataclass
        torch._higher_order_ops.scan._maybe_compile_and_run_fn torch._higher_order_ops.schema.dataclass
        torch._higher_order_ops.utils.dataclass torch._logging._internal.dataclass torch._native.registry.dataclass
        torch._subclasses._fake_tensor_utils.dataclass torch._subclasses.fake_tensor.dataclass torch._subclasses.meta_utils.dataclass
        torch.ao.quantization.backend_config.backend_config.dataclass torch.ao.quantization.fx.custom_config.dataclass
        torch.ao.quantization.fx.utils.dataclass torch.ao.quantization.observer.dataclass torch.cuda._sanitizer.dataclass
        torch.distributed._mesh_layout.dataclass torch.distributed._serialization.dataclass
        torch.distributed._shard.checkpoint._async_process_executor.dataclass
        torch.distributed._shard.checkpoint._consolidate_hf_safetensors.dataclass
        torch.distributed._shard.checkpoint._experimental.barriers.dataclass
        torch.distributed._shard.checkpoint._experimental.checkpoint_process.dataclass
        torch.distributed._shard.checkpoint._experimental.checkpoint_writer.dataclass
        torch.distributed._shard.checkpoint._experimental.config.dataclass
        torch.distributed._shard.checkpoint._experimental.staging.dataclass
        torch.distributed._shard.checkpoint._experimental.types.dataclass torch.distributed._shard.checkpoint._hf_utils.dataclass
        torch.distributed._shard.checkpoint._pg_transport.dataclass torch.distributed._shard.checkpoint.metadata.dataclass
        torch.distributed._shard.checkpoint.planner.dataclass torch.distributed._shard.checkpoint.staging.dataclass
        torch.distributed._shard.checkpoint.state_dict.dataclass torch.distributed._shard.checkpoint.storage.dataclass
        torch.distributed._shard.metadata.dataclass torch.distributed._shard.sharded_tensor.api.dataclass
        torch.distributed._shard.sharded_tensor.metadata.dataclass torch.distributed._shard.sharded_tensor.shard.dataclass
        torch.distributed._shard.sharding_plan.api.dataclass torch.distributed._shard.sharding_spec.api.dataclass
        torch.distributed._shard.sharding_spec.chunk_sharding_spec.dataclass torch.distributed._sharded_tensor.api.dataclass
        torch.distributed._sharded_tensor.metadata.dataclass torch.distributed._sharded_tensor.shard.dataclass
        torch.distributed._sharding_spec.api.dataclass torch.distributed._sharding_spec.chunk_sharding_spec.dataclass
        torch.distributed._tensor.experimental.context_parallel torch.distributed._tensor.placement_types.dataclass
        torch.distributed.algorithms.ddp_comm_hooks.mixed_precision_hooks.dataclass
        torch.distributed.algorithms.ddp_comm_hooks.optimizer_overlap_hooks.dataclass
        torch.distributed.checkpoint._async_process_executor.dataclass
        torch.distributed.checkpoint._consolidate_hf_safetensors.dataclass torch.distributed.checkpoint._experimental.barriers.dataclass
        torch.distributed.checkpoint._experimental.checkpoint_process.dataclass
        torch.distributed.checkpoint._experimental.checkpoint_writer.dataclass
        torch.distributed.checkpoint._experimental.config.dataclass torch.distributed.checkpoint._experimental.staging.dataclass
        torch.distributed.checkpoint._experimental.types.dataclass torch.distributed.checkpoint._hf_utils.dataclass
        torch.distributed.checkpoint._pg_transport.dataclass torch.distributed.checkpoint.metadata.dataclass
        torch.distributed.checkpoint.planner.dataclass torch.distributed.checkpoint.staging.dataclass
        torch.distributed.checkpoint.state_dict.dataclass torch.distributed.checkpoint.storage.dataclass
        torch.distributed.collective_utils.dataclass torch.distributed.debug._frontend.dataclass
        torch.distributed.flight_recorder.fr_trace.build_db torch.distributed.flight_recorder.fr_trace.transform_ft
        torch.distributed.fsdp._fully_shard._fsdp_api.dataclass torch.distributed.fsdp._fully_shard._fsdp_common.dataclass
        torch.distributed.fsdp._fully_shard._fsdp_param.dataclass torch.distributed.fsdp._optim_utils.dataclass
        torch.distributed.fsdp._trace_utils.dataclass torch.distributed.fsdp.api.dataclass torch.distributed.pipelining._utils.dataclass
        torch.distributed.pipelining.schedules.dataclass torch.distributed.tensor._collective_utils.dataclass
        torch.distributed.tensor._dtensor_spec.dataclass torch.distributed.tensor._op_schema.dataclass
        torch.distributed.tensor._ops._einsum_strategy.dataclass torch.distributed.tensor._ops._mask_buffer.dataclass
        torch.distributed.tensor._ops._math_ops.dataclass torch.distributed.tensor._ops._view_ops.dataclass
        torch.distributed.tensor._ops.dataclass torch.distributed.tensor._ops.single_dim_strategy.dataclass
        torch.distributed.tensor.experimental._attention._context_parallel_shard
        torch.distributed.tensor.experimental._attention.context_parallel
        torch.distributed.tensor.experimental._context_parallel._attention.create_block_mask
        torch.distributed.tensor.experimental._context_parallel._attention.dataclass
        torch.distributed.tensor.experimental._context_parallel._context_parallel_shard
        torch.distributed.tensor.experimental._context_parallel.context_parallel torch.distributed.tensor.experimental.context_parallel
        torch.distributed.tensor.placement_types.dataclass torch.export._draft_export.dataclass torch.export.custom_obj.dataclass
        torch.export.pt2_archive._package.dataclass torch.export.unflatten.dataclass torch.nn.attention._fa3.dataclass
        torch.nn.attention._fa4.dataclass torch.nn.parallel.distributed.dataclass torch.numa.binding.dataclass
        torch.utils._python_dispatch.dataclass torch.utils.data._utils.worker.dataclass torchgen.api.autograd.dataclass
        torchgen.api.python.dataclass torchgen.api.types.dataclass torchgen.api.types.signatures.dataclass
        torchgen.api.types.types.dataclass torchgen.api.types.types_base.dataclass torchgen.api.ufunc.dataclass
        torchgen.dest.lazy_ir.dataclass torchgen.dest.register_dispatch_key.dataclass torchgen.dest.ufunc.dataclass
        torchgen.gen.dataclass torchgen.gen_aoti_c_shim.dataclass torchgen.gen_functionalization_type.dataclass
        torchgen.gen_vmap_plumbing.dataclass torchgen.model.dataclass torchgen.selective_build.operator.dataclass
        torchgen.selective_build.selector.dataclass
        """,
    ),
    Row(
        DANGEROUS,
        "it runs text as code, or imports what a text names",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        networkx.conftest.pytest numpy._pyinstaller.tests.pytest pytorch_lightning.callbacks.model_checkpoint.yaml sympy.SympifyError
        sympy.algebras.quaternion._sympify sympy.algebras.quaternion.sympify sympy.assumptions.ask.sympify
        sympy.assumptions.assume._sympify sympy.assumptions.wrapper._sympify sympy.benchmarks.bench_symbench.sympify
        sympy.calculus.accumulationbounds._sympify sympy.calculus.euler.sympify sympy.calculus.singularities.sympify
        sympy.calculus.util._sympify sympy.categories.baseclasses.sympify sympy.codegen.ast.SympifyError sympy.codegen.ast._sympify
        sympy.codegen.ast.sympify sympy.codegen.cnodes.sympify sympy.codegen.fnodes.sympify sympy.codegen.matrix_nodes.sympify
        sympy.codegen.numpy_nodes.sympify sympy.combinatorics.free_groups.CantSympify sympy.combinatorics.partitions._sympify
        sympy.combinatorics.partitions.sympify sympy.combinatorics.perm_groups._sympify sympy.combinatorics.permutations._sympify
        sympy.combinatorics.prufer._sympify sympy.concrete.expr_with_limits.sympify sympy.concrete.guess.sympify sympy.conftest.pytest
        sympy.core.SympifyError sympy.core.assumptions.sympify sympy.core.backend.SympifyError sympy.core.backend.lambdify
        sympy.core.backend.sympify sympy.core.basic.SympifyError sympy.core.basic._sympify sympy.core.basic.sympify
        sympy.core.benchmarks.bench_sympify.sympify sympy.core.containers.SympifyError sympy.core.containers._sympify
        sympy.core.containers.sympify sympy.core.decorators.SympifyError sympy.core.decorators.sympify sympy.core.evalf.lambdify
        sympy.core.evalf.sympify sympy.core.expr._sympify sympy.core.expr.sympify sympy.core.exprtools.sympify
        sympy.core.function._sympify sympy.core.function.sympify sympy.core.intfunc.sympify sympy.core.mul.sympify
        sympy.core.numbers.SympifyError sympy.core.numbers._convert_numpy_types sympy.core.numbers._is_numpy_instance
        sympy.core.numbers._sympify sympy.core.numbers.sympify sympy.core.operations._sympify_ sympy.core.operations.sympify
        sympy.core.power._sympify sympy.core.relational.SympifyError sympy.core.relational._sympify sympy.core.singleton.sympify
        sympy.core.sorting.SympifyError sympy.core.sorting.sympify sympy.core.symbol.sympify sympy.core.traversal.sympify
        sympy.diffgeom.diffgeom._sympify sympy.discrete.convolutions.sympify sympy.discrete.recurrences.sympify
        sympy.discrete.transforms.sympify sympy.functions.combinatorial.factorials.sympify sympy.functions.elementary.complexes.sympify
        sympy.functions.elementary.exponential.sympify sympy.functions.elementary.hyperbolic.sympify
        sympy.functions.elementary.integers._sympify sympy.functions.elementary.miscellaneous.sympify
        sympy.functions.elementary.trigonometric.sympify sympy.functions.special.bessel.sympify sympy.functions.special.bsplines.sympify
        sympy.functions.special.error_functions.sympify sympy.functions.special.zeta_functions.sympify sympy.geometry.ellipse.sympify
        sympy.geometry.entity.sympify sympy.geometry.line.sympify sympy.geometry.point.sympify sympy.geometry.polygon.sympify
        sympy.holonomic.holonomic.sympify sympy.holonomic.numerical.sympify sympy.holonomic.recurrence.sympify
        sympy.integrals.heurisch.sympify sympy.integrals.integrals.sympify sympy.integrals.intpoly._sympify
        sympy.integrals.meijerint.sympify sympy.interactive.printing.preview sympy.logic.algorithms.lra_theory.sympify
        sympy.logic.boolalg._sympify sympy.logic.boolalg.sympify sympy.logic.inference.sympify sympy.matrices.common.SympifyError
        sympy.matrices.common.sympify sympy.matrices.dense.sympify sympy.matrices.eigen._sympify
        sympy.matrices.expressions.applyfunc._sympify sympy.matrices.expressions.applyfunc.sympify
        sympy.matrices.expressions.blockmatrix._sympify sympy.matrices.expressions.companion._sympify
        sympy.matrices.expressions.determinant.sympify sympy.matrices.expressions.diagonal._sympify
        sympy.matrices.expressions.dotproduct._sympify sympy.matrices.expressions.fourier._sympify
        sympy.matrices.expressions.funcmatrix._sympify sympy.matrices.expressions.funcmatrix.sympify
        sympy.matrices.expressions.hadamard.sympify sympy.matrices.expressions.inverse._sympify
        sympy.matrices.expressions.kronecker.sympify sympy.matrices.expressions.matadd.sympify
        sympy.matrices.expressions.matexpr.SympifyError sympy.matrices.expressions.matexpr._sympify
        sympy.matrices.expressions.matmul.sympify sympy.matrices.expressions.matpow._sympify
        sympy.matrices.expressions.permutation._sympify sympy.matrices.expressions.sets._sympify
        sympy.matrices.expressions.special._sympify sympy.matrices.expressions.trace.sympify sympy.matrices.immutable._sympify
        sympy.matrices.matrixbase.SympifyError sympy.matrices.matrixbase._sympify sympy.matrices.matrixbase.sympify
        sympy.matrices.repmatrix.SympifyError sympy.matrices.repmatrix._sympify sympy.ntheory.continued_fraction._sympify
        sympy.ntheory.primetest.sympify sympy.parse_expr sympy.physics.continuum_mechanics.arch.sympify
        sympy.physics.continuum_mechanics.beam.lambdify sympy.physics.continuum_mechanics.beam.sympify
        sympy.physics.continuum_mechanics.cable.sympify sympy.physics.continuum_mechanics.truss.sympify
        sympy.physics.control.lti._sympify sympy.physics.control.lti.sympify sympy.physics.mechanics.actuator.sympify
        sympy.physics.mechanics.body_base.sympify sympy.physics.mechanics.inertia.sympify sympy.physics.mechanics.lagrange.sympify
        sympy.physics.mechanics.wrapping_geometry.sympify sympy.physics.optics.gaussopt.sympify sympy.physics.optics.medium._sympify
        sympy.physics.optics.utils.sympify sympy.physics.optics.waves._sympify sympy.physics.optics.waves.sympify
        sympy.physics.quantum.cg.sympify sympy.physics.quantum.circuitutils.sympify sympy.physics.quantum.dagger.sympify
        sympy.physics.quantum.gate._sympify sympy.physics.quantum.grover.sympify sympy.physics.quantum.hilbert.sympify
        sympy.physics.quantum.qapply._sympify sympy.physics.quantum.qapply.sympify sympy.physics.quantum.qexpr.sympify
        sympy.physics.quantum.qubit._sympify sympy.physics.quantum.spin.sympify sympy.physics.quantum.tensorproduct.sympify
        sympy.physics.quantum.trace.sympify sympy.physics.secondquant.sympify sympy.physics.units.dimensions.sympify
        sympy.physics.units.prefixes.sympify sympy.physics.units.quantities.sympify sympy.physics.units.util.sympify
        sympy.physics.vector.dyadic.sympify sympy.physics.vector.frame.sympify sympy.physics.vector.functions.sympify
        sympy.physics.vector.vector.sympify sympy.physics.wigner.sympify sympy.plotting.pygletplot.plot_interval.sympify
        sympy.plotting.series.lambdify sympy.plotting.series.sympify sympy.plotting.textplot.lambdify sympy.plotting.utils.sympify
        sympy.polys.constructor.sympify sympy.polys.distributedmodules.sympify sympy.polys.domains.domain.sympify
        sympy.polys.domains.expressiondomain.SympifyError sympy.polys.domains.expressiondomain.sympify
        sympy.polys.domains.expressionrawdomain.sympify sympy.polys.fields.CantSympify sympy.polys.fields.sympify
        sympy.polys.matrices.domainmatrix._sympify sympy.polys.monomials.sympify sympy.polys.numberfields.galois_resolvents.lambdify
        sympy.polys.numberfields.minpoly.sympify sympy.polys.numberfields.subfield._sympify sympy.polys.numberfields.subfield.sympify
        sympy.polys.numberfields.utilities.lambdify sympy.polys.numberfields.utilities.sympify sympy.polys.partfrac.sympify
        sympy.polys.polyclasses.CantSympify sympy.polys.polymatrix._sympify sympy.polys.polyoptions.sympify
        sympy.polys.polyroots.sympify sympy.polys.polytools._sympify sympy.polys.polytools.sympify sympy.polys.rationaltools.sympify
        sympy.polys.rings.CantSympify sympy.polys.rings.sympify sympy.polys.rootoftools.lambdify sympy.polys.rootoftools.sympify
        sympy.polys.solvers.sympify sympy.polys.specialpolys.sympify sympy.preview sympy.printing.codeprinter.sympify
        sympy.printing.latex.SympifyError sympy.printing.mathml.sympify sympy.printing.pretty.pretty.SympifyError
        sympy.printing.tableform.SympifyError sympy.sandbox.indexed_integrals.sympify sympy.series.aseries.sympify
        sympy.series.formal.sympify sympy.series.fourier.sympify sympy.series.limits.sympify sympy.series.limitseq.sympify
        sympy.series.order.sympify sympy.series.residues.sympify sympy.series.sequences.sympify sympy.series.series.sympify
        sympy.sets.conditionset._sympify sympy.sets.contains.sympify sympy.sets.fancysets._sympify sympy.sets.fancysets.sympify
        sympy.sets.handlers.union.sympify sympy.sets.powerset._sympify sympy.sets.sets._sympify sympy.sets.sets.sympify
        sympy.simplify.cse_main.sympify sympy.simplify.fu.sympify sympy.simplify.hyperexpand.sympify sympy.simplify.powsimp.sympify
        sympy.simplify.radsimp.sympify sympy.simplify.simplify._sympify sympy.simplify.simplify.sympify
        sympy.simplify.sqrtdenest.sympify sympy.simplify.trigsimp.sympify sympy.solvers.decompogen.sympify
        sympy.solvers.diophantine.diophantine._sympify sympy.solvers.inequalities.sympify sympy.solvers.ode.ode.sympify
        sympy.solvers.ode.subscheck.sympify sympy.solvers.recurr.sympify sympy.solvers.simplex.sympify sympy.solvers.solvers._sympify
        sympy.solvers.solvers.lambdify sympy.solvers.solvers.sympify sympy.solvers.solveset._sympify sympy.solvers.solveset.sympify
        sympy.stats.crv._sympify sympy.stats.crv.sympify sympy.stats.crv_types.sympify sympy.stats.drv._sympify sympy.stats.drv.sympify
        sympy.stats.drv_types.sympify sympy.stats.frv._sympify sympy.stats.frv.sympify sympy.stats.frv_types.sympify
        sympy.stats.joint_rv.sympify sympy.stats.joint_rv_types.sympify sympy.stats.matrix_distributions._sympify
        sympy.stats.matrix_distributions.sympify sympy.stats.random_matrix_models._sympify sympy.stats.rv._sympify
        sympy.stats.rv.lambdify sympy.stats.rv.sympify sympy.stats.sampling.sample_scipy.lambdify
        sympy.stats.stochastic_process_types._sympify sympy.stats.stochastic_process_types.sympify
        sympy.stats.symbolic_multivariate_probability._sympify sympy.stats.symbolic_probability._sympify
        sympy.tensor.array.array_comprehension._sympify sympy.tensor.array.array_comprehension.sympify
        sympy.tensor.array.arrayop._sympify sympy.tensor.array.dense_ndim_array._sympify
        sympy.tensor.array.expressions.array_expressions._sympify sympy.tensor.array.ndim_array.sympify
        sympy.tensor.array.sparse_ndim_array._sympify sympy.tensor.functions.sympify sympy.tensor.indexed._sympify
        sympy.tensor.indexed.sympify sympy.tensor.tensor.CantSympify sympy.tensor.tensor._sympify sympy.tensor.tensor.sympify
        sympy.tensor.toperators.sympify sympy.testing.pytest.pytest sympy.testing.pytest.raises sympy.testing.runtests_pytest.pytest
        sympy.utilities.matchpy_connector._sympify sympy.utilities.pytest.pytest sympy.utilities.pytest.raises
        sympy.vector.functions.sympify sympy.vector.operators.sympify sympy.vector.orienters.sympify sympy.vector.scalar._sympify
        sympy.vector.vector.sympify torch.distributed.debug._frontend.DictLoader torch.distributed.debug._frontend.Environment
        torch.utils._sympy.functions.sympify torchgen.gen.YamlDumper torchgen.gen.yaml torchgen.gen_backend_stubs.yaml
        torchgen.gen_lazy_tensor.yaml torchgen.selective_build.selector.yaml torchgen.yaml_utils.Dumper torchgen.yaml_utils.Loader
        torchgen.yaml_utils.YamlDumper
        """,
    ),
    Row(
        DANGEROUS,
        "it runs text as code, starts compilers or loads machine code",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        numpy._core._add_newdocs.add_newdoc numpy._core._add_newdocs_scalars.add_newdoc numpy.lib.add_newdoc numpy.ma.testutils.assert_
        numpy.ma.testutils.assert_allclose numpy.ma.testutils.assert_array_almost_equal_nulp numpy.ma.testutils.assert_raises
        numpy.ma.testutils.build_err_msg numpy.matlib.ctypeslib numpy.matlib.f2py numpy.matlib.testing
        """,
    ),
    Row(
        DANGEROUS,
        "it runs text or bytes as code",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        argparse._ argparse.ngettext functorch.dim._py_inst_decoder.dis functorch.dim.dis getopt._
        lightning_utilities.core.overrides.Mock numpy.ma.testutils.TestCase optparse._ optparse.gettext optparse.ngettext
        pytorch_lightning.profilers.advanced.cProfile sympy.testing.runtests.DocTestFinder sympy.testing.runtests.DocTestRunner
        sympy.testing.runtests.pdoctest sympy.utilities.runtests.DocTestFinder sympy.utilities.runtests.DocTestRunner
        sympy.utilities.runtests.pdoctest sympy.utilities.timeutils.timeit torch._dispatch.python.unittest torch._export.patch
        torch._guards.unittest torch._jit_internal.ForwardRef torch.distributed._shard.checkpoint.utils.cProfile
        torch.distributed.checkpoint.utils.cProfile torch.distributed.flight_recorder.components.types._eval_type
        torch.distributed.pipelining._schedule_visualizer.mock torch.export._trace.mock torch.nested._internal.nested_int.ForwardRef
        torch.nested._internal.nested_int.get_type_hints torch.nested._internal.nested_tensor.ForwardRef
        torch.nested._internal.nested_tensor.get_type_hints torch.nested._internal.ops.ForwardRef
        torch.nested._internal.ops.get_type_hints torch.utils.checkpoint.ForwardRef torch.utils.checkpoint.get_type_hints
        torchmetrics.utilities.checks.Mock tqdm.tk.tkinter tqdm.tk.ttk
        """,
    ),
    Row(
        DANGEROUS,
        "it runs that is text, or made of its arguments",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        lightning_fabric.fabric._to_compiled
        """,
    ),
    Row(
        DANGEROUS,
        "it starts programs",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        filelock._async_lock._backends.ConcurrentFuture filelock._async_lock._backends.futures
        filelock._async_lock._executor.ConcurrentFuture filelock._async_lock._owners.ConcurrentFuture
        filelock._async_lock._release.futures filelock._async_lock._transitions.ConcurrentFuture filelock._filesystem._exchange.platform
        filelock._filesystem._ownership.platform filelock._soft._read_write._async.ThreadPoolExecutor
        filelock._soft._strict._lock.Future filelock._soft._strict._release.Future filelock._sqlite._async.ThreadPoolExecutor
        jaraco.context.platform lightning_fabric.accelerators.mps.platform lightning_fabric.utilities.imports.platform
        packaging.markers.platform packaging.tags.platform pytorch_lightning.plugins.io.async_plugin.ThreadPoolExecutor
        pytorch_lightning.trainer.connectors.signal_connector.call sympy.testing.pytest.platform sympy.testing.runtests.platform
        sympy.utilities.pytest.platform sympy.utilities.runtests.platform torch.backends.xeon.run_cpu.platform torch.cuda.memory._memory
        torch.cuda.memory._segments torch.cuda.platform torch.cuda.tunable.mp torch.distributed._shard.checkpoint._async_executor.Future
        torch.distributed._shard.checkpoint._async_process_executor.Future
        torch.distributed._shard.checkpoint._async_process_executor.ThreadPoolExecutor
        torch.distributed._shard.checkpoint._async_thread_executor.Future
        torch.distributed._shard.checkpoint._async_thread_executor.ThreadPoolExecutor
        torch.distributed._shard.checkpoint._checkpointer.Future
        torch.distributed._shard.checkpoint._experimental.checkpoint_process.Connection
        torch.distributed._shard.checkpoint._experimental.checkpoint_process.Future
        torch.distributed._shard.checkpoint._experimental.checkpoint_process.ThreadPoolExecutor
        torch.distributed._shard.checkpoint._experimental.checkpoint_writer.Future
        torch.distributed._shard.checkpoint._experimental.checkpointer.Future
        torch.distributed._shard.checkpoint._experimental.staging.Future
        torch.distributed._shard.checkpoint._experimental.staging.ThreadPoolExecutor
        torch.distributed._shard.checkpoint._experimental.utils.Future torch.distributed._shard.checkpoint.staging.Future
        torch.distributed._shard.checkpoint.staging.ThreadPoolExecutor torch.distributed.checkpoint._async_executor.Future
        torch.distributed.checkpoint._async_process_executor.Future
        torch.distributed.checkpoint._async_process_executor.ThreadPoolExecutor
        torch.distributed.checkpoint._async_thread_executor.Future
        torch.distributed.checkpoint._async_thread_executor.ThreadPoolExecutor torch.distributed.checkpoint._checkpointer.Future
        torch.distributed.checkpoint._experimental.checkpoint_process.Connection
        torch.distributed.checkpoint._experimental.checkpoint_process.Future
        torch.distributed.checkpoint._experimental.checkpoint_process.ThreadPoolExecutor
        torch.distributed.checkpoint._experimental.checkpoint_writer.Future
        torch.distributed.checkpoint._experimental.checkpointer.Future torch.distributed.checkpoint._experimental.staging.Future
        torch.distributed.checkpoint._experimental.staging.ThreadPoolExecutor torch.distributed.checkpoint._experimental.utils.Future
        torch.distributed.checkpoint.staging.Future torch.distributed.checkpoint.staging.ThreadPoolExecutor
        torch.distributed.debug._frontend.ThreadPoolExecutor torch.platform torch.utils._functools.ThreadPoolExecutor
        torch.utils.checkpoint.platform torch.utils.data.dataloader.python_multiprocessing
        torchmetrics.functional.multimodal.clip_iqa._try_proceed_with_timeout
        torchmetrics.functional.multimodal.clip_score._try_proceed_with_timeout
        torchmetrics.functional.text.bert._try_proceed_with_timeout torchmetrics.image.arniqa._try_proceed_with_timeout
        torchmetrics.image.lpip._try_proceed_with_timeout torchmetrics.multimodal.clip_iqa._try_proceed_with_timeout
        torchmetrics.multimodal.clip_score._try_proceed_with_timeout torchmetrics.text.bert._try_proceed_with_timeout
        tqdm.contrib.utils_worker.ThreadPoolExecutor uuid.platform
        """,
    ),
    Row(
        DANGEROUS,
        "it talks to the network",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        lightning_fabric.plugins.environments.mpi.find_free_network_port packaging.pylock.unquote packaging.pylock.urlparse
        pytorch_lightning.demos.mnist_datamodule.HTTPError torch._strobelight.compile_time_profiler.gethostname
        torch.distributed.debug._frontend.BaseHTTPRequestHandler torch.distributed.debug._frontend.ThreadingHTTPServer
        torch.distributed.debug._frontend.parse_qs torch.distributed.debug._frontend.urlparse xml.etree.ElementInclude.urljoin
        """,
    ),
    Row(
        DANGEROUS,
        "it writes files or loads machine code",
        "Python 3.11, NumPy 2.4 and torch 2.13",
        "https://docs.python.org/3/library/pickle.html",
        """
        pytorch_lightning.profilers.pytorch.ProfilerAction pytorch_lightning.profilers.pytorch.ProfilerActivity
        pytorch_lightning.profilers.pytorch.record_function pytorch_lightning.profilers.pytorch.tensorboard_trace_handler
        torch.PyTorchFileReader torch.PyTorchFileWriter torch.ScriptModuleSerializer torch.autograd.ProfilerActivity
        torch.autograd.ProfilerConfig torch.autograd.ProfilerState torch.autograd.profiler_legacy.ProfilerConfig
        torch.autograd.profiler_legacy.ProfilerState torch.cuda.CUDAPluggableAllocator
        torch.distributed._shard.checkpoint.FileSystemReader torch.distributed._shard.checkpoint.FileSystemWriter
        torch.distributed._shard.checkpoint._checkpointer.loader torch.distributed._shard.checkpoint._checkpointer.saver
        torch.distributed._shard.checkpoint._fsspec_filesystem.FileSystemBase
        torch.distributed._shard.checkpoint._fsspec_filesystem.FileSystemReader
        torch.distributed._shard.checkpoint._fsspec_filesystem.FileSystemWriter
        torch.distributed._shard.checkpoint._fsspec_filesystem.SerializationFormat torch.distributed._shard.checkpoint.async_save
        torch.distributed._shard.checkpoint.filesystem torch.distributed._shard.checkpoint.format_utils
        torch.distributed._shard.checkpoint.hf_storage.FileSystemReader torch.distributed._shard.checkpoint.hf_storage.FileSystemWriter
        torch.distributed._shard.checkpoint.hf_storage.SerializationFormat torch.distributed._shard.checkpoint.load
        torch.distributed._shard.checkpoint.load_state_dict torch.distributed._shard.checkpoint.optimizer.load_state_dict
        torch.distributed._shard.checkpoint.save torch.distributed._shard.checkpoint.save_state_dict
        torch.distributed._shard.checkpoint.state_dict_loader torch.distributed._shard.checkpoint.state_dict_saver
        torch.distributed.checkpoint.FileSystemReader torch.distributed.checkpoint.FileSystemWriter
        torch.distributed.checkpoint._checkpointer.loader torch.distributed.checkpoint._checkpointer.saver
        torch.distributed.checkpoint._fsspec_filesystem.FileSystemBase torch.distributed.checkpoint._fsspec_filesystem.FileSystemReader
        torch.distributed.checkpoint._fsspec_filesystem.FileSystemWriter
        torch.distributed.checkpoint._fsspec_filesystem.SerializationFormat torch.distributed.checkpoint._storage_utils.FileSystemReader
        torch.distributed.checkpoint._storage_utils.FileSystemWriter torch.distributed.checkpoint.async_save
        torch.distributed.checkpoint.hf_storage.FileSystemReader torch.distributed.checkpoint.hf_storage.FileSystemWriter
        torch.distributed.checkpoint.hf_storage.SerializationFormat torch.distributed.checkpoint.load
        torch.distributed.checkpoint.load_state_dict torch.distributed.checkpoint.optimizer.load_state_dict
        torch.distributed.checkpoint.save torch.distributed.checkpoint.save_state_dict
        torch.distributed.debug._handlers._ExperimentalConfig torch.distributed.debug._handlers.profile
        torch.distributed.fsdp._fully_shard._fsdp_param_group.record_function torch.distributed.pipelining.schedules.record_function
        torch.import_ir_module torch.import_ir_module_from_buffer torch.parse_ir
        """,
    ),
)
