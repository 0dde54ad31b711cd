"""Functions that run code, import, start programs, load pickles, open files or connections, as the versions of libraries.py has them.

Knows: what tools/find_gadgets.py read from the sources; it made this file.
Refuses to know: what rows written by hand have judged.
"""

from __future__ import annotations

from .rows import DANGEROUS, UNKNOWN, Row

BELOW: tuple[Row, ...] = (
    Row(
        DANGEROUS,
        "it runs that is text, or made of its arguments",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        accelerate.accelerator.Accelerator._prepare_deepspeed accelerate.accelerator.Accelerator._prepare_fsdp2
        accelerate.accelerator.Accelerator._prepare_one accelerate.accelerator.Accelerator._prepare_tp
        accelerate.accelerator.Accelerator.prepare accelerate.accelerator.Accelerator.prepare_model
        deepspeed.compile.passes.long_context_checkpointing.register_long_context_checkpointing
        deepspeed.runtime.compiler.compiled_autograd deepspeed.runtime.pipe.module.PipelineModule.compile
        deepspeed.utils.torch.jit_script_compat keras.src.backend.torch.trainer.TorchTrainer.make_predict_function
        keras.src.backend.torch.trainer.TorchTrainer.make_test_function keras.src.backend.torch.trainer.TorchTrainer.make_train_function
        lightning.fabric.wrappers._to_compiled lightning_fabric.wrappers._to_compiled mmengine._strategy.base.BaseStrategy.compile_model
        mmengine.testing.compare.check_python_script scipy._lib._bunch._make_tuple_bunch
        scipy._lib.array_api_compat._internal.clone_module scipy.optimize._nonlin._nonlin_wrapper
        scipy.stats._distn_infrastructure.rv_generic._attach_argparser_methods timm.optim.kron.Kron._init_fns
        timm.task.classification.ClassificationTask.compile timm.task.distillation.DistillationTeacher.compile
        timm.task.distillation.FeatureDistillationTask.compile timm.task.distillation.LogitDistillationTask.compile
        timm.task.task.TrainingTask.compile_ema timm.task.token_distillation.TokenDistillationTask.compile
        torchvision.ops.roi_align.lazy_compile transformers.generation.continuous_batching.model_runner.ModelRunner
        transformers.integrations.flex_attention.WrappedFlexAttention
        transformers.integrations.flex_attention.compile_friendly_flex_attention
        transformers.integrations.flex_attention.flex_attention_forward
        transformers.models.diffusion_gemma.generation_diffusion_gemma.DiffusionGemmaGenerationMixin._compile_functions
        transformers.models.diffusion_gemma.generation_diffusion_gemma.DiffusionGemmaGenerationMixin.generate
        transformers.models.vibevoice.generation_vibevoice.VibeVoiceGenerationMixin._get_negative_compiled_call
        transformers.models.vibevoice.generation_vibevoice.VibeVoiceGenerationMixin._sample transformers.utils.doc.copy_func
        ultralytics.data.utils.check_det_dataset ultralytics.models.sam.modules.sam.SAM2Model
        ultralytics.models.sam.modules.sam.SAM3Model ultralytics.models.sam.sam3.decoder.TransformerDecoder
        ultralytics.models.sam.sam3.encoder.TransformerEncoderFusion ultralytics.models.sam.sam3.maskformer_segmentation.PixelDecoder
        ultralytics.models.sam.sam3.maskformer_segmentation.SegmentationHead
        ultralytics.models.sam.sam3.maskformer_segmentation.UniversalSegmentationHead
        ultralytics.models.sam.sam3.text_encoder_ve.TextTransformer ultralytics.models.sam.sam3.text_encoder_ve.Transformer
        ultralytics.models.sam.sam3.text_encoder_ve.VETextEncoder ultralytics.models.sam.sam3.vitdet.ViT
        ultralytics.models.sam.sam3.vl_combiner.SAM3VLBackbone
        ultralytics.nn.tasks._initialize_yolo_model ultralytics.nn.tasks.guess_model_task ultralytics.nn.tasks.load_checkpoint
        ultralytics.nn.tasks.parse_model ultralytics.utils.torch_utils.attempt_compile
        """,
    ),
    Row(
        DANGEROUS,
        "it imports a module by its name",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        accelerate.utils.imports._is_package_available deepspeed.accelerator.cuda_accelerator.CUDA_Accelerator._lazy_init_class_dict
        deepspeed.accelerator.hpu_accelerator.HPU_Accelerator._lazy_init_class_dict
        deepspeed.accelerator.klxpu_accelerator.KLXPU_Accelerator._lazy_init_class_dict
        deepspeed.accelerator.mlu_accelerator.MLU_Accelerator._lazy_init_class_dict
        deepspeed.accelerator.npu_accelerator.NPU_Accelerator._lazy_init_class_dict
        deepspeed.accelerator.sdaa_accelerator.SDAA_Accelerator._lazy_init_class_dict
        deepspeed.accelerator.supa_accelerator.SUPA_Accelerator._lazy_init_class_dict
        deepspeed.accelerator.xpu_accelerator.XPU_Accelerator._lazy_init_class_dict
        deepspeed.module_inject.containers.internlm.InternLMLayerPolicy._init_orig_layer_class_once
        deepspeed.ops.triton_ops.fused_rotary_pos_emb.replace_rotary_pos_emb deepspeed.runtime.torch_autocast.init_autocast_params
        lightning.__setup__._load_py_module lightning.fabric.accelerators.registry.call_register_accelerators
        lightning.fabric.plugins.precision.utils._ClassReplacementContextManager lightning.pytorch.utilities.imports._try_import_module
        lightning_fabric.__setup__._load_py_module lightning_fabric.accelerators.registry.call_register_accelerators
        lightning_fabric.plugins.precision.utils._ClassReplacementContextManager omegaconf.resolvers.oc.coerce
        omegaconf.vendor.antlr4._pygrun.main pytorch_lightning.__setup__._load_py_module
        pytorch_lightning.utilities.imports._try_import_module scipy.__getattr__
        scipy._lib._array_api_docs_tables.make_flat_capabilities_table scipy._lib.deprecation._sub_module_deprecation
        scipy.ndimage._support_alternative_backends.delegate_xp scipy.optimize._optimize.show_options
        scipy.signal._support_alternative_backends.delegate_xp scipy.sparse.__getattr__ sklearn.__getattr__
        sklearn.utils._set_output.check_library_installed timm.optim._optim_factory.OptimizerRegistry.create_optimizer
        timm.optim._optim_factory.OptimizerRegistry.get_optimizer_class timm.optim._optim_factory._import_class
        transformers.exporters.metadata.load_treespec transformers.exporters.metadata.register_treespec_types
        transformers.exporters.utils.apply_patches transformers.exporters.utils.import_dotted_path
        transformers.integrations.hub_kernels.lazy_load_kernel
        transformers.integrations.hub_kernels.use_kernel_func_from_hub_with_fallback
        transformers.integrations.integration_utils.run_hp_search_ray
        transformers.processing_utils._LazyAutoProcessorMapping.__getitem__ transformers.utils.generic.maybe_replace_from_package
        ultralytics.nn.tasks._SafeLoad.loading ultralytics.nn.tasks.temporary_modules ultralytics.nn.tasks.torch_safe_load
        ultralytics.utils.callbacks.base.add_integration_callbacks ultralytics.utils.export.tensorflow.onnx2saved_model
        ultralytics.utils.files.import_execstack ultralytics.utils.is_pip_package
        """,
    ),
    Row(
        DANGEROUS,
        "it starts programs",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        accelerate.utils.torch_xla.install_xla deepspeed.nvme.ds_aio_job.run_job
        deepspeed.ops.transformer.inference.triton.matmul_ext.AutotuneCacheManager
        deepspeed.ops.transformer.inference.triton.matmul_ext.Fp16Matmul._read_autotune_table
        deepspeed.ops.transformer.inference.triton.matmul_ext.Fp16Matmul._update_autotune_table
        deepspeed.ops.transformer.inference.triton.matmul_ext.Fp16Matmul._write_autotune_table
        deepspeed.ops.transformer.inference.triton.matmul_ext.TritonCacheDir.warn_if_nfs
        deepspeed.ops.transformer.inference.triton.matmul_ext.TritonMatmul._read_autotune_table
        deepspeed.ops.transformer.inference.triton.matmul_ext.TritonMatmul._update_autotune_table
        deepspeed.ops.transformer.inference.triton.matmul_ext.TritonMatmul._write_autotune_table
        deepspeed.ops.transformer.inference.triton.matmul_ext.is_nfs_path
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.merge_map_results
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.run_map
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.run_reduce
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DistributedDataAnalyzer.run_map_reduce
        deepspeed.utils.numa.check_for_numactl_pkg lightning.pytorch.accelerators.cuda.get_nvidia_gpu_stats
        lightning.pytorch.serve.servable_module_validator.ServableModuleValidator.on_train_start
        lightning.pytorch.trainer.connectors.signal_connector._SignalConnector._slurm_sigusr_handler_fn
        mmengine.dist.utils._init_dist_slurm mmengine.dist.utils.init_dist pytorch_lightning.accelerators.cuda.get_nvidia_gpu_stats
        pytorch_lightning.serve.servable_module_validator.ServableModuleValidator.on_train_start
        pytorch_lightning.trainer.connectors.signal_connector._SignalConnector._slurm_sigusr_handler_fn
        torchmetrics.utilities.checks._try_proceed_with_timeout ultralytics.data.utils.check_cls_dataset
        ultralytics.utils.checks.check_apt_requirements ultralytics.utils.checks.check_executorch_requirements
        ultralytics.utils.checks.check_multiple_install ultralytics.utils.checks.check_requirements
        ultralytics.utils.checks.check_tensorrt ultralytics.utils.checks.is_sudo_available
        ultralytics.utils.downloads.attempt_download_asset ultralytics.utils.downloads.download
        ultralytics.utils.downloads.safe_download ultralytics.utils.export.ascend.onnx2ascend ultralytics.utils.export.imx.torch2imx
        ultralytics.utils.export.tensorflow.tflite2edgetpu ultralytics.utils.logger._DriveInfo._macos_mounts
        """,
    ),
    Row(
        DANGEROUS,
        "it loads another pickle",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        accelerate.accelerator.Accelerator.load_state accelerate.utils.fsdp_utils.load_fsdp_model
        accelerate.utils.fsdp_utils.load_fsdp_optimizer deepspeed.inference.engine.InferenceEngine._load_checkpoint
        deepspeed.inference.v2.engine_factory.build_engine_from_ds_checkpoint deepspeed.inference.v2.engine_factory.build_hf_engine
        deepspeed.inference.v2.model_implementations.inference_policy_base.InferenceV2Policy.populate_model_parameters
        deepspeed.module_inject.replace_module.replace_module deepspeed.module_inject.replace_module.replace_transformer_layer
        deepspeed.module_inject.replace_module.revert_transformer_layer deepspeed.nvme.torch_fastio_engine.Torch_FastIO_Engine.read
        deepspeed.nvme.torch_io.TorchIO_Engine.read
        deepspeed.runtime.base_optimizer.ZeROOptimizer.load_hp_checkpoint_state_from_checkpoint_dir
        deepspeed.runtime.checkpoint_engine.decoupled_checkpoint_engine.DecoupledCheckpointEngine.load
        deepspeed.runtime.checkpoint_engine.fast_checkpoint_engine.FastCheckpointEngine.load
        deepspeed.runtime.checkpoint_engine.torch_checkpoint_engine.TorchCheckpointEngine.load
        keras.src.datasets.boston_housing.load_data keras.src.datasets.california_housing.load_data keras.src.datasets.mnist.load_data
        keras.src.dtype_policies.dtype_policy_test.DTypePolicyTest.test_python_serialization
        keras.src.dtype_policies.dtype_policy_test.QuantizedDTypePolicyTest.test_python_serialization
        keras.src.layers.layer_test.LayerTest.test_pickle_layer keras.src.losses.loss_test.LossTest.test_pickle
        keras.src.metrics.metric_test.MetricTest.test_pickle
        keras.src.optimizers.optimizer_test.OptimizerTest.test_pickleable_optimizers
        lightning.fabric.utilities.load._load_distributed_checkpoint lightning.pytorch.demos.mnist_datamodule._MNIST
        lightning_fabric.utilities.load._load_distributed_checkpoint mmengine.dataset.base_dataset.BaseDataset.__getitem__
        mmengine.dataset.base_dataset.BaseDataset.get_data_info mmengine.dataset.base_dataset.BaseDataset.prepare_data
        mmengine.dist.dist._all_gather_object mmengine.dist.dist._broadcast_object_list mmengine.dist.dist._collect_results_device
        mmengine.dist.dist._gather_object mmengine.dist.dist._tensor_to_object mmengine.dist.dist.all_gather_object
        mmengine.dist.dist.broadcast_object_list mmengine.dist.dist.collect_results mmengine.dist.dist.collect_results_cpu
        mmengine.dist.dist.collect_results_gpu mmengine.dist.dist.gather_object pytorch_lightning.demos.mnist_datamodule._MNIST
        sklearn.utils.estimator_checks.check_estimators_pickle sklearn.utils.estimator_checks.check_sparsify_coefficients
        timm.task._helpers._load_train_checkpoint timm.task._helpers.load_task_ema_checkpoint timm.task._helpers.resume_task_checkpoint
        torchmetrics.functional.audio.nisqa._load_nisqa_model torchmetrics.functional.image.dists.DISTSNetwork
        torchmetrics.functional.image.lpips._LPIPS torchmetrics.functional.image.lpips._NoTrainLpips
        torchmetrics.functional.image.lpips.learned_perceptual_image_patch_similarity
        transformers.models.bark.processing_bark.BarkProcessor
        transformers.models.qwen2_5_omni.modeling_qwen2_5_omni.Qwen2_5OmniForConditionalGeneration.load_speakers
        transformers.models.qwen2_5_omni.modular_qwen2_5_omni.Qwen2_5OmniForConditionalGeneration.load_speakers
        transformers.models.rag.retrieval_rag.LegacyIndex._deserialize_index
        transformers.models.rag.retrieval_rag.LegacyIndex._load_passages
        transformers.models.wav2vec2.modeling_wav2vec2.Wav2Vec2PreTrainedModel.load_adapter
        transformers.trainer.Trainer._inner_training_loop transformers.trainer.Trainer._load_best_model
        transformers.trainer.Trainer._load_from_checkpoint transformers.trainer.Trainer._load_optimizer_and_scheduler
        transformers.trainer.Trainer._load_rng_state transformers.trainer.Trainer._load_scaler
        transformers.trainer.Trainer._prepare_for_training transformers.trainer.Trainer._run_epoch transformers.trainer.Trainer.train
        ultralytics.data.base.BaseDataset.__getitem__ ultralytics.data.base.BaseDataset.check_cache_ram
        ultralytics.data.base.BaseDataset.get_image_and_label ultralytics.data.base.BaseDataset.load_image
        ultralytics.data.dataset.ClassificationDataset.__getitem__ ultralytics.data.utils.load_dataset_cache_file
        ultralytics.data.utils.load_depth ultralytics.data.utils.verify_image_depth
        ultralytics.models.yolo.model.YOLOE.load_prompt_embeddings ultralytics.nn.backends.pytorch.TorchScriptBackend.load_model
        ultralytics.nn.text_model.MobileCLIPTS ultralytics.nn.text_model.build_text_model
        ultralytics.solutions.similarity_search.VisualAISearch.load_or_build_index ultralytics.utils.patches.torch_load
        """,
    ),
    Row(
        DANGEROUS,
        "it loads machine code",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        ultralytics.nn.backends.onnx.ONNXBackend.load_model ultralytics.nn.backends.onnx._load_migraphx_session
        ultralytics.nn.backends.onnx._register_migraphx_ep
        """,
    ),
    Row(
        DANGEROUS,
        "it opens or changes files that its arguments name",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        accelerate.accelerator.Accelerator.profile accelerate.accelerator.Accelerator.save_model
        accelerate.accelerator.Accelerator.save_state accelerate.checkpointing.save_accelerator_state
        accelerate.tracking.TensorBoardTracker.store_init_configuration accelerate.utils.deepspeed.HfDeepSpeedConfig
        accelerate.utils.fsdp_utils.merge_fsdp_weights accelerate.utils.fsdp_utils.save_fsdp_model
        accelerate.utils.fsdp_utils.save_fsdp_optimizer accelerate.utils.offload.OffloadedWeightsLoader
        accelerate.utils.offload.load_offloaded_weight accelerate.utils.offload.offload_state_dict
        accelerate.utils.offload.offload_weight accelerate.utils.offload.save_offload_index deepspeed.compile.util.count_inflight_values
        deepspeed.inference.v2.checkpoint.huggingface_engine.HuggingFaceCheckpointEngine._fetch_checkpoint_files
        deepspeed.inference.v2.engine_v2.InferenceEngineV2.serialize deepspeed.init_inference
        deepspeed.io.fast_file_writer.FastFileWriter deepspeed.io.mock_file_writer.MockFileWriter
        deepspeed.io.py_file_writer.PyFileWriter deepspeed.monitor.csv_monitor.csvMonitor.setup_log_dir
        deepspeed.monitor.csv_monitor.csvMonitor.write_events deepspeed.monitor.tensorboard.TensorBoardMonitor.get_summary_writer
        deepspeed.nvme.ds_aio_basic.AIOBasic_Engine.write deepspeed.nvme.ds_aio_handle.AIOHandle_Engine
        deepspeed.nvme.ds_aio_job.Job.open_output_file deepspeed.nvme.parse_nvme_stats.get_metric
        deepspeed.nvme.parse_nvme_stats.get_results deepspeed.nvme.parse_nvme_stats.get_sorted_results
        deepspeed.nvme.parse_nvme_stats.main deepspeed.nvme.perf_run_sweep.SweepConfig
        deepspeed.nvme.perf_run_sweep.get_sweep_config_dict deepspeed.nvme.perf_run_sweep.main
        deepspeed.nvme.perf_run_sweep.remove_folder deepspeed.nvme.perf_run_sweep.run_read_sweep
        deepspeed.nvme.perf_run_sweep.run_write_sweep deepspeed.nvme.perf_run_sweep.sweep_main
        deepspeed.nvme.torch_fastio_engine.Torch_FastIO_Engine.write deepspeed.nvme.torch_io.TorchIO_Engine.write
        deepspeed.ops.transformer.inference.config.DeepSpeedInferenceConfig.from_json_file
        deepspeed.ops.transformer.inference.moe_inference.DeepSpeedMoEInferenceConfig.from_json_file
        deepspeed.ops.transformer.transformer.DeepSpeedTransformerConfig.from_json_file
        deepspeed.profiling.flops_profiler.profiler.FlopsProfiler.print_model_profile
        deepspeed.runtime.checkpoint_engine.checkpoint_engine.CheckpointEngine.makedirs
        deepspeed.runtime.checkpoint_engine.fast_checkpoint_engine.FastCheckpointEngine.save
        deepspeed.runtime.checkpoint_engine.torch_checkpoint_engine.TorchCheckpointEngine.save deepspeed.runtime.config.DeepSpeedConfig
        deepspeed.runtime.config.DeepSpeedConfigWriter.load_config deepspeed.runtime.config.DeepSpeedConfigWriter.write_config
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.finalize_metric_results
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.init_metric_results
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.merge_metric_to_sample
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.run_map_helper
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DataAnalyzer.update_metric_results
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.DistributedDataAnalyzer.file_write_ordered
        deepspeed.runtime.data_pipeline.data_sampling.data_analyzer.test_compare_both_data_analyzers
        deepspeed.runtime.data_pipeline.data_sampling.data_sampler.DeepSpeedDataSampler
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.IndexedCachedDataset
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.IndexedDataset
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.IndexedDatasetBuilder
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.MMapIndexedDataset
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.MMapIndexedDatasetBuilder
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset._warmup_mmap_file
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.infer_dataset_impl
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.make_builder
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset.make_dataset
        deepspeed.runtime.engine.DeepSpeedEngine._change_recovery_script_permissions
        deepspeed.runtime.engine.DeepSpeedEngine._commit_decoupled_checkpoint
        deepspeed.runtime.engine.DeepSpeedEngine._copy_recovery_script deepspeed.runtime.engine.DeepSpeedEngine._save_zero_checkpoint
        deepspeed.runtime.engine.DeepSpeedEngine.load_checkpoint deepspeed.runtime.engine.DeepSpeedEngine.save_checkpoint
        deepspeed.runtime.swap_tensor.optimizer_utils.OptimizerSwapper
        deepspeed.runtime.swap_tensor.partitioned_param_swapper.AsyncPartitionedParameterSwapper
        deepspeed.runtime.tensor_parallel.init_utils.load_ds_config deepspeed.runtime.utils.ensure_directory_exists
        deepspeed.utils.debug.log_rank_file deepspeed.utils.debug.printflock deepspeed.utils.logging.print_json_dist
        keras.src.applications.imagenet_utils.decode_predictions keras.src.callbacks.csv_logger_test.CSVLoggerTest.test_CSVLogger
        keras.src.callbacks.csv_logger_test.CSVLoggerTest.test_stop_training_csv
        keras.src.callbacks.model_checkpoint_test.ModelCheckpointTest.test_model_checkpoint_options
        keras.src.callbacks.orbax_checkpoint_test.OrbaxCheckpointTest.test_checkpoint_with_assets
        keras.src.callbacks.tensorboard_test.TestTensorBoardV2.test_TensorBoard_projector_callback
        keras.src.callbacks.terminate_on_nan_test.TerminateOnNaNTest.test_raise_error_terminate_preserves_backup
        keras.src.datasets.cifar.load_batch keras.src.datasets.fashion_mnist.load_data keras.src.datasets.imdb.get_word_index
        keras.src.datasets.npz_utils.load_npz keras.src.datasets.npz_utils_test.LoadNpzTest.test_loads_numeric_arrays
        keras.src.datasets.npz_utils_test.LoadNpzTest.test_loads_ragged_object_arrays
        keras.src.datasets.npz_utils_test.LoadNpzTest.test_rejects_pickle_gadget keras.src.datasets.reuters.get_word_index
        keras.src.export.litert.LiteRTExporter.export keras.src.layers.preprocessing.index_lookup.IndexLookup.load_assets
        keras.src.layers.preprocessing.index_lookup.IndexLookup.save_assets
        keras.src.layers.preprocessing.index_lookup_test.IndexLookupLayerTest.test_load_assets_handles_trailing_newlines
        keras.src.layers.preprocessing.integer_lookup_test.IntegerLookupTest.test_vocabulary_from_file
        keras.src.layers.preprocessing.string_lookup_test.StringLookupTest.test_vocabulary_file
        keras.src.layers.preprocessing.text_vectorization_test.TextVectorizationTest.test_vocabulary_from_file
        keras.src.testing.test_case.TestCase.get_temp_dir lightning.fabric.plugins.io.xla.XLACheckpointIO.save_checkpoint
        lightning.fabric.utilities.spike.SpikeDetection._handle_spike lightning.fabric.utilities.spike.SpikeDetection.on_train_batch_end
        lightning.pytorch.callbacks.model_checkpoint.ModelCheckpoint._link_checkpoint
        lightning.pytorch.callbacks.model_checkpoint.ModelCheckpoint._save_last_checkpoint
        lightning.pytorch.callbacks.model_checkpoint.ModelCheckpoint.on_exception
        lightning.pytorch.callbacks.model_checkpoint.ModelCheckpoint.on_train_batch_end
        lightning.pytorch.callbacks.model_checkpoint.ModelCheckpoint.on_train_end
        lightning.pytorch.callbacks.model_checkpoint.ModelCheckpoint.on_train_epoch_end
        lightning.pytorch.callbacks.model_checkpoint.ModelCheckpoint.on_validation_end lightning.pytorch.demos.transformer.WikiText2
        lightning.pytorch.demos.transformer.tokenize lightning.pytorch.loops.evaluation_loop._EvaluationLoop._print_results
        lightning.pytorch.loops.evaluation_loop._EvaluationLoop.on_run_end
        lightning_fabric.plugins.io.xla.XLACheckpointIO.save_checkpoint lightning_fabric.utilities.spike.SpikeDetection._handle_spike
        lightning_fabric.utilities.spike.SpikeDetection.on_train_batch_end mmengine._strategy.deepspeed.DeepSpeedStrategy
        mmengine.hooks.checkpoint_hook.CheckpointHook._save_best_checkpoint
        mmengine.hooks.checkpoint_hook.CheckpointHook._save_checkpoint
        mmengine.hooks.checkpoint_hook.CheckpointHook._save_checkpoint_with_step
        mmengine.hooks.checkpoint_hook.CheckpointHook.after_train_epoch mmengine.hooks.checkpoint_hook.CheckpointHook.after_train_iter
        mmengine.hooks.checkpoint_hook.CheckpointHook.after_val_epoch mmengine.hooks.logger_hook.LoggerHook.after_run
        mmengine.hooks.profiler_hook.NPUProfilerHook mmengine.testing.runner_test_case.RunnerTestCase.clear_work_dir
        mmengine.visualization.vis_backend.LocalVisBackend._dump mmengine.visualization.vis_backend.LocalVisBackend._init_env
        mmengine.visualization.vis_backend.LocalVisBackend.add_image mmengine.visualization.vis_backend.LocalVisBackend.add_scalar
        mmengine.visualization.vis_backend.LocalVisBackend.add_scalars mmengine.visualization.vis_backend.MLflowVisBackend._init_env
        mmengine.visualization.vis_backend.TensorboardVisBackend._init_env mmengine.visualization.vis_backend.WandbVisBackend._init_env
        numpy._core._methods._dump numpy._core.records.array numpy.ma.mrecords.fromtextfile numpy.ma.mrecords.openfile
        numpy.random._examples.cffi.parse.parse_distributions_h omegaconf.vendor.antlr4.FileStream.FileStream
        pandas.compat._cpu._read_sysfs_int pandas.compat._cpu._read_sysfs_str pandas.util._print_versions.show_versions
        pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint._link_checkpoint
        pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint._save_last_checkpoint
        pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint.on_exception
        pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint.on_train_batch_end
        pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint.on_train_end
        pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint.on_train_epoch_end
        pytorch_lightning.callbacks.model_checkpoint.ModelCheckpoint.on_validation_end pytorch_lightning.demos.transformer.WikiText2
        pytorch_lightning.demos.transformer.tokenize pytorch_lightning.loops.evaluation_loop._EvaluationLoop._print_results
        pytorch_lightning.loops.evaluation_loop._EvaluationLoop.on_run_end scipy._lib._tmpdirs.in_tempdir scipy._lib._tmpdirs.tempdir
        scipy._lib.pyprima.common.message.cpenmsg scipy._lib.pyprima.common.message.fmsg scipy._lib.pyprima.common.message.retmsg
        scipy._lib.pyprima.common.message.rhomsg scipy.odr._odrpack.ODR scipy.special._precompute.expn_asy.main
        scipy.special._precompute.gammainc_asy.main scipy.special._precompute.gammainc_data.main
        scipy.special._precompute.hyp2f1_data.main scipy.special._precompute.wright_bessel_data.main sklearn._build_utils.tempita.main
        sklearn._build_utils.tempita.process_tempita sklearn.feature_extraction.text._VectorizerMixin.decode
        sklearn.tree._export.export_graphviz sklearn.utils._repr_html.estimator.estimator_html_repr
        timm.data.readers.class_map.load_class_map timm.data.readers.reader_hfds.ReaderHfds.__getitem__
        timm.data.readers.reader_image_folder.ReaderImageFolder.__getitem__ timm.data.readers.reader_image_in_tar.ReaderImageInTar
        timm.data.readers.reader_image_in_tar._extract_tarinfo timm.data.readers.reader_image_in_tar.extract_tarinfos
        timm.data.readers.reader_image_tar.ReaderImageTar timm.data.real_labels.RealLabelsImagenet
        timm.loss.class_weights.load_class_stats timm.loss.class_weights.load_class_weights
        timm.loss.class_weights.resolve_class_weights timm.models.repghost.RepGhostNet.convert_to_deploy
        timm.models.repghost.repghost_model_convert timm.utils.checkpoint_saver.CheckpointSaver._cleanup_checkpoints
        timm.utils.checkpoint_saver.CheckpointSaver._duplicate timm.utils.checkpoint_saver.CheckpointSaver._replace
        timm.utils.checkpoint_saver.CheckpointSaver._save timm.utils.checkpoint_saver.CheckpointSaver._track_checkpoint
        timm.utils.checkpoint_saver.CheckpointSaver.load_state_dict
        timm.utils.checkpoint_saver.CheckpointSaver.load_state_dict_from_checkpoint
        timm.utils.checkpoint_saver.CheckpointSaver.save_checkpoint timm.utils.checkpoint_saver.CheckpointSaver.save_milestone
        timm.utils.checkpoint_saver.CheckpointSaver.save_recovery timm.utils.summary.get_outdir timm.utils.summary.trim_summary
        timm.utils.summary.update_summary torchmetrics.detection.helpers.CocoBackend.tm_to_coco
        torchmetrics.functional.audio.dnsmos._load_session torchmetrics.functional.audio.dnsmos._prepare_dnsmos
        torchmetrics.functional.audio.nisqa._download_weights torchmetrics.functional.text.bert._load_baseline
        torchmetrics.functional.text.bert._read_csv_from_local_file torchmetrics.functional.text.bert.bert_score
        torchmetrics.functional.text.sacre_bleu._SacreBLEUTokenizer._tokenize_flores
        torchmetrics.functional.text.sacre_bleu._SacreBLEUTokenizer._tokenize_flores_101
        torchmetrics.functional.text.sacre_bleu._SacreBLEUTokenizer._tokenize_flores_200
        torchmetrics.functional.text.sacre_bleu._SacreBLEUTokenizer.download_flores_file transformers.audio_utils.load_audio_as
        transformers.configuration_utils.PreTrainedConfig._dict_from_json_file
        transformers.configuration_utils.PreTrainedConfig._get_config_dict
        transformers.configuration_utils.PreTrainedConfig.from_json_file
        transformers.configuration_utils.PreTrainedConfig.from_pretrained
        transformers.configuration_utils.PreTrainedConfig.get_config_dict
        transformers.configuration_utils.PreTrainedConfig.save_pretrained transformers.configuration_utils.PreTrainedConfig.to_json_file
        transformers.convert_slow_tokenizer.AlbertConverter transformers.convert_slow_tokenizer.BarthezConverter
        transformers.convert_slow_tokenizer.BertGenerationConverter transformers.convert_slow_tokenizer.BigBirdConverter
        transformers.convert_slow_tokenizer.CamembertConverter transformers.convert_slow_tokenizer.CanaryConverter
        transformers.convert_slow_tokenizer.DebertaV2Converter transformers.convert_slow_tokenizer.GemmaConverter
        transformers.convert_slow_tokenizer.GemmaSentencePieceExtractor transformers.convert_slow_tokenizer.HeliumConverter
        transformers.convert_slow_tokenizer.LlamaConverter transformers.convert_slow_tokenizer.MBart50Converter
        transformers.convert_slow_tokenizer.MBartConverter transformers.convert_slow_tokenizer.MoshiConverter
        transformers.convert_slow_tokenizer.NllbConverter transformers.convert_slow_tokenizer.OmniASRConverter
        transformers.convert_slow_tokenizer.ParakeetConverter transformers.convert_slow_tokenizer.PegasusConverter
        transformers.convert_slow_tokenizer.ReformerConverter transformers.convert_slow_tokenizer.RemBertConverter
        transformers.convert_slow_tokenizer.SeamlessM4TConverter transformers.convert_slow_tokenizer.SentencePieceExtractor
        transformers.convert_slow_tokenizer.SpmConverter transformers.convert_slow_tokenizer.T5Converter
        transformers.convert_slow_tokenizer.UdopConverter transformers.convert_slow_tokenizer.VideoPrismConverter
        transformers.convert_slow_tokenizer.XGLMConverter transformers.convert_slow_tokenizer.XLMRobertaConverter
        transformers.convert_slow_tokenizer.XLNetConverter transformers.distributed.checkpoint.consolidate_distributed_checkpoint
        transformers.distributed.configuration_utils.DistributedConfig.to_json_file
        transformers.distributed.mixin.DistributedMixin.save_distributed_checkpoint
        transformers.exporters.base.ExportedModel.save_pretrained
        transformers.exporters.exporter_executorch.ExecutorchExporter.save_program
        transformers.exporters.exporter_executorch._patch_flatc_compile_nonfinite
        transformers.exporters.runners.runner_openvino._physical_cores
        transformers.feature_extraction_utils.FeatureExtractionMixin.from_json_file
        transformers.feature_extraction_utils.FeatureExtractionMixin.save_pretrained
        transformers.feature_extraction_utils.FeatureExtractionMixin.to_json_file
        transformers.generation.configuration_utils.BaseWatermarkingConfig.to_json_file
        transformers.generation.configuration_utils.GenerationConfig._dict_from_json_file
        transformers.generation.configuration_utils.GenerationConfig.from_pretrained
        transformers.generation.configuration_utils.GenerationConfig.save_pretrained
        transformers.generation.configuration_utils.GenerationConfig.to_json_file
        transformers.generation.continuous_batching.utils._get_numa_nodes_memory
        transformers.generation.continuous_batching.utils.get_device_and_memory_breakdown
        transformers.image_processing_base.ImageProcessingMixin.from_json_file
        transformers.image_processing_base.ImageProcessingMixin.save_pretrained
        transformers.image_processing_base.ImageProcessingMixin.to_json_file
        transformers.integrations.accelerate.accelerate_disk_offload transformers.integrations.deepgemm._get_nvcc_version
        transformers.integrations.gguf.reader.GgufHeader.from_file transformers.integrations.gguf.reader._mapped
        transformers.integrations.gguf.reader.load_gguf_state_dict transformers.integrations.gguf.reader.read_gguf_metadata
        transformers.integrations.integration_utils.DagsHubCallback.on_train_end
        transformers.integrations.integration_utils.KubeflowCallback._get_token
        transformers.integrations.integration_utils.NeptuneCallback transformers.integrations.integration_utils.WandbCallback.on_log
        transformers.integrations.integration_utils.WandbCallback.on_predict
        transformers.integrations.integration_utils.WandbCallback.on_train_begin
        transformers.integrations.integration_utils.WandbCallback.on_train_end
        transformers.integrations.integration_utils.WandbCallback.setup
        transformers.integrations.integration_utils.save_model_architecture_to_file
        transformers.integrations.mistral.tokenizer.MistralConverter
        transformers.integrations.mistral.tokenizer._check_tekken_vocab_unchanged
        transformers.integrations.mistral.tokenizer._resolve_chat_template
        transformers.integrations.mistral.tokenizer.convert_tekken_tokenizer
        transformers.integrations.mistral.tokenizer.save_tekken_format transformers.integrations.peft.maybe_load_adapters
        transformers.integrations.tpu.save_tpu_checkpoint transformers.model_debugging_utils._attach_debugger_logic
        transformers.model_debugging_utils.log_model_debug_trace transformers.model_debugging_utils.model_addition_debugger_context
        transformers.models.bartpho.tokenization_bartpho.BartphoTokenizer transformers.models.bert.tokenization_bert.load_vocab
        transformers.models.bert.tokenization_bert_legacy.BertTokenizerLegacy
        transformers.models.bert.tokenization_bert_legacy.load_vocab
        transformers.models.bert_japanese.tokenization_bert_japanese.BertJapaneseTokenizer
        transformers.models.bert_japanese.tokenization_bert_japanese.load_vocab
        transformers.models.bertweet.tokenization_bertweet.BertweetTokenizer
        transformers.models.biogpt.tokenization_biogpt.BioGptTokenizer
        transformers.models.blenderbot_small.tokenization_blenderbot_small.BlenderbotSmallTokenizer
        transformers.models.clvp.tokenization_clvp.ClvpTokenizer transformers.models.cpm.tokenization_cpm.CpmTokenizer.save_vocabulary
        transformers.models.cpm.tokenization_cpm_fast.CpmTokenizerFast.save_vocabulary
        transformers.models.cpmant.tokenization_cpmant.CpmAntTokenizer transformers.models.cpmant.tokenization_cpmant.load_vocab
        transformers.models.ctrl.tokenization_ctrl.CTRLTokenizer
        transformers.models.ernie4_5_vl_moe.processing_ernie4_5_vl_moe.Ernie4_5_VLMoeProcessor.save_pretrained
        transformers.models.ernie4_5_vl_moe.video_processing_ernie4_5_vl_moe.Ernie4_5_VLMoeVideoProcessor.save_pretrained
        transformers.models.esm.tokenization_esm.EsmTokenizer transformers.models.esm.tokenization_esm.load_vocab_file
        transformers.models.fastspeech2_conformer.tokenization_fastspeech2_conformer.FastSpeech2ConformerTokenizer
        transformers.models.flaubert.tokenization_flaubert.FlaubertTokenizer transformers.models.fsmt.tokenization_fsmt.FSMTTokenizer
        transformers.models.gpt_neox_japanese.tokenization_gpt_neox_japanese.GPTNeoXJapaneseTokenizer
        transformers.models.gpt_neox_japanese.tokenization_gpt_neox_japanese.load_vocab_and_emoji
        transformers.models.luke.tokenization_luke.LukeTokenizer transformers.models.m2m_100.tokenization_m2m_100.M2M100Tokenizer
        transformers.models.m2m_100.tokenization_m2m_100.load_json transformers.models.m2m_100.tokenization_m2m_100.save_json
        transformers.models.marian.tokenization_marian.MarianTokenizer transformers.models.marian.tokenization_marian.load_json
        transformers.models.marian.tokenization_marian.save_json transformers.models.mgp_str.tokenization_mgp_str.MgpstrTokenizer
        transformers.models.mluke.tokenization_mluke.MLukeTokenizer transformers.models.myt5.tokenization_myt5.ByteRewriter
        transformers.models.myt5.tokenization_myt5.MyT5Tokenizer
        transformers.models.oneformer.image_processing_oneformer.OneFormerImageProcessor
        transformers.models.oneformer.image_processing_oneformer.load_metadata
        transformers.models.oneformer.image_processing_pil_oneformer.OneFormerImageProcessorPil
        transformers.models.oneformer.image_processing_pil_oneformer.load_metadata
        transformers.models.phobert.tokenization_phobert.PhobertTokenizer
        transformers.models.pop2piano.processing_pop2piano.Pop2PianoProcessor.save_pretrained
        transformers.models.pop2piano.tokenization_pop2piano.Pop2PianoTokenizer
        transformers.models.prophetnet.tokenization_prophetnet.ProphetNetTokenizer
        transformers.models.prophetnet.tokenization_prophetnet.load_vocab
        transformers.models.rag.tokenization_rag.RagTokenizer.save_pretrained
        transformers.models.roc_bert.tokenization_roc_bert.RoCBertTokenizer
        transformers.models.roc_bert.tokenization_roc_bert.load_vocab
        transformers.models.siglip.tokenization_siglip.SiglipTokenizer.save_vocabulary
        transformers.models.speech_to_text.tokenization_speech_to_text.Speech2TextTokenizer
        transformers.models.speech_to_text.tokenization_speech_to_text.load_json
        transformers.models.speech_to_text.tokenization_speech_to_text.save_json
        transformers.models.splinter.tokenization_splinter.load_vocab transformers.models.tapas.tokenization_tapas.TapasTokenizer
        transformers.models.tapas.tokenization_tapas.load_vocab
        transformers.models.vibevoice.processing_vibevoice.VibeVoiceProcessor.save_audio
        transformers.models.vits.tokenization_vits.VitsTokenizer transformers.models.wav2vec2.tokenization_wav2vec2.Wav2Vec2CTCTokenizer
        transformers.models.wav2vec2_phoneme.tokenization_wav2vec2_phoneme.Wav2Vec2PhonemeCTCTokenizer
        transformers.models.whisper.tokenization_whisper.WhisperTokenizer transformers.models.xlm.tokenization_xlm.XLMTokenizer
        transformers.processing_utils.ProcessorMixin.from_pretrained transformers.processing_utils.ProcessorMixin.get_processor_dict
        transformers.processing_utils.ProcessorMixin.save_pretrained transformers.processing_utils.ProcessorMixin.to_json_file
        transformers.tokenization_mistral_common.MistralCommonBackend.save_pretrained
        transformers.tokenization_python.PythonBackend.save_vocabulary
        transformers.tokenization_utils_base.PreTrainedTokenizerBase._from_pretrained
        transformers.tokenization_utils_base.PreTrainedTokenizerBase._save_pretrained
        transformers.tokenization_utils_base.PreTrainedTokenizerBase.from_pretrained
        transformers.tokenization_utils_base.PreTrainedTokenizerBase.save_chat_templates
        transformers.tokenization_utils_base.PreTrainedTokenizerBase.save_pretrained
        transformers.tokenization_utils_base.load_vocab_and_merges
        transformers.tokenization_utils_sentencepiece.SentencePieceBackend.save_vocabulary
        transformers.tokenization_utils_tokenizers.TokenizersBackend transformers.trainer.Trainer
        transformers.trainer_callback.TrainerState.load_from_json transformers.trainer_callback.TrainerState.save_to_json
        transformers.trainer_jit_checkpoint.CheckpointManager.execute_jit_checkpoint
        transformers.trainer_pt_utils.remove_dummy_checkpoint transformers.trainer_pt_utils.save_metrics
        transformers.trainer_utils.load_sharded_checkpoint transformers.trainer_utils.rotate_checkpoints
        transformers.utils.generic.is_timm_local_checkpoint transformers.utils.generic.safe_load_json_file
        transformers.utils.logging._configure_library_root_logger
        transformers.utils.network_logging._NetworkDebugProfiler.cleanup_shared_dir
        transformers.utils.quantization_config.QuantizationConfigMixin.to_json_file
        transformers.video_processing_utils.VideoProcessorMixin.from_json_file
        transformers.video_processing_utils.VideoProcessorMixin.save_pretrained
        transformers.video_processing_utils.VideoProcessorMixin.to_json_file ultralytics.data.annotator.auto_annotate
        ultralytics.data.base.BaseDataset ultralytics.data.converter._convert_ndjson_to_yolo ultralytics.data.converter.convert_coco
        ultralytics.data.converter.convert_ndjson_to_yolo ultralytics.data.converter.convert_segment_masks_to_yolo_seg
        ultralytics.data.converter.create_synthetic_coco_dataset ultralytics.data.converter.yolo_bbox2segment
        ultralytics.data.dataset.GroundingDataset.cache_labels ultralytics.data.loaders.LoadImagesAndVideos
        ultralytics.data.loaders.LoadStreams ultralytics.data.split.autosplit ultralytics.data.split.split_classify_dataset
        ultralytics.data.split_dota.crop_and_save ultralytics.data.split_dota.load_yolo_dota
        ultralytics.data.split_dota.split_images_and_labels ultralytics.data.split_dota.split_trainval
        ultralytics.data.utils._replace_image ultralytics.data.utils.check_file_speeds ultralytics.data.utils.check_image
        ultralytics.data.utils.compress_one_image ultralytics.data.utils.save_dataset_cache_file ultralytics.data.utils.verify_image
        ultralytics.data.utils.verify_image_label ultralytics.data.utils.verify_image_mask
        ultralytics.data.utils.visualize_image_annotations ultralytics.models.sam.build._build_sam
        ultralytics.models.sam.build._build_sam2 ultralytics.models.sam.build._load_checkpoint
        ultralytics.models.sam.build_sam3._load_checkpoint ultralytics.models.sam.build_sam3.build_interactive_sam3
        ultralytics.models.sam.build_sam3.build_sam3_image_model ultralytics.models.yolo.depth.calibrate.calibrate_checkpoint
        ultralytics.models.yolo.obb.val.OBBValidator.eval_json ultralytics.models.yolo.world.train.WorldTrainer.build_dataset
        ultralytics.models.yolo.world.train.WorldTrainer.generate_text_embeddings
        ultralytics.models.yolo.world.train.WorldTrainer.set_text_embeddings
        ultralytics.models.yolo.yoloe.train.YOLOETrainerFromScratch.generate_text_embeddings
        ultralytics.nn.backends.base.BaseBackend.engine_header ultralytics.nn.backends.base.BaseBackend.read_metadata
        ultralytics.nn.backends.base._read_proto_map ultralytics.nn.backends.onnx._migraphx_cache_dir
        ultralytics.nn.backends.tensorflow.TensorFlowBackend.load_model ultralytics.nn.backends.tensorrt.TensorRTBackend.load_model
        ultralytics.solutions.parking_management.ParkingManagement ultralytics.solutions.streamlit_inference.Inference.image_inference
        ultralytics.utils.JSONDict._load ultralytics.utils.JSONDict._save ultralytics.utils.YAML.load ultralytics.utils.YAML.print
        ultralytics.utils.YAML.save ultralytics.utils.dist.ddp_cleanup ultralytics.utils.dist.generate_ddp_command
        ultralytics.utils.downloads.check_disk_space ultralytics.utils.downloads.delete_dsstore ultralytics.utils.downloads.unzip_file
        ultralytics.utils.downloads.zip_directory ultralytics.utils.export.axelera.torch2axelera
        ultralytics.utils.export.deepx.onnx2deepx ultralytics.utils.export.engine.onnx2engine
        ultralytics.utils.export.litert.torch2litert ultralytics.utils.export.xilinx.onnx2xilinx ultralytics.utils.files.spaces_in_path
        ultralytics.utils.get_user_config_dir ultralytics.utils.logger.SystemLogger.get_metrics ultralytics.utils.patches.imread
        ultralytics.utils.patches.imread_unicode ultralytics.utils.plotting.plot_tune_results
        ultralytics.utils.torch_utils.strip_optimizer ultralytics.utils.uploads._ProgressReader ultralytics.utils.uploads.safe_upload
        """,
    ),
    Row(
        DANGEROUS,
        "it talks to the network",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        keras.src.callbacks.remote_monitor.RemoteMonitor.on_epoch_end
        lightning.fabric.plugins.collectives.torch_collective.TorchCollective.init_group
        lightning.fabric.plugins.environments.lightning.find_free_network_port
        lightning.fabric.utilities.distributed._init_dist_connection
        lightning_fabric.plugins.collectives.torch_collective.TorchCollective.init_group
        lightning_fabric.plugins.environments.lightning.find_free_network_port
        lightning_fabric.utilities.distributed._init_dist_connection mmengine.dist.utils._init_dist_mpi
        mmengine.dist.utils._init_dist_pytorch timm.utils.distributed.init_distributed_device
        timm.utils.distributed.init_distributed_device_so torchmetrics.functional.text.bert._read_csv_from_url
        transformers.distributed.utils._ensure_torch_distributed transformers.distributed.utils.initialize_distributed_mesh
        transformers.integrations.integration_utils.KubeflowCallback._update_status
        transformers.integrations.integration_utils.KubeflowCallback.on_step_end ultralytics.data.build.check_source
        ultralytics.data.build.load_inference_source ultralytics.data.loaders.autocast_list ultralytics.utils.checks.check_data_portable
        ultralytics.utils.checks.check_file ultralytics.utils.checks.check_latest_pypi_version ultralytics.utils.checks.check_yaml
        ultralytics.utils.checks.resolve_platform_uri ultralytics.utils.dist.find_free_network_port
        ultralytics.utils.downloads.get_github_assets ultralytics.utils.downloads.is_url ultralytics.utils.events._post
        ultralytics.utils.logger.ConsoleLogger._flush_buffer ultralytics.utils.logger.ConsoleLogger._write_destination
        """,
    ),
)
# Classes of these that do so when they are called: a pickle that only makes and fills their objects does not.
MADE = (
    Row(
        UNKNOWN,
        "it is a class whose constructor is dangerous to call; the only makes and fills its objects",
        "the versions of libraries.py",
        "https://pypi.org",
        """
        accelerate.utils.deepspeed: HfDeepSpeedConfig accelerate.utils.offload: OffloadedWeightsLoader deepspeed.io.fast_file_writer:
        FastFileWriter deepspeed.io.mock_file_writer: MockFileWriter deepspeed.io.py_file_writer: PyFileWriter
        deepspeed.nvme.ds_aio_handle: AIOHandle_Engine deepspeed.nvme.perf_run_sweep: SweepConfig
        deepspeed.ops.transformer.inference.triton.matmul_ext: AutotuneCacheManager deepspeed.runtime.config: DeepSpeedConfig
        deepspeed.runtime.data_pipeline.data_sampling.data_sampler: DeepSpeedDataSampler
        deepspeed.runtime.data_pipeline.data_sampling.indexed_dataset: IndexedCachedDataset IndexedDataset IndexedDatasetBuilder
        MMapIndexedDatasetBuilder deepspeed.runtime.swap_tensor.optimizer_utils: OptimizerSwapper
        deepspeed.runtime.swap_tensor.partitioned_param_swapper: AsyncPartitionedParameterSwapper
        lightning.fabric.plugins.precision.utils: _ClassReplacementContextManager lightning.pytorch.demos.mnist_datamodule: _MNIST
        lightning.pytorch.demos.transformer: WikiText2 lightning_fabric.plugins.precision.utils: _ClassReplacementContextManager
        mmengine._strategy.deepspeed: DeepSpeedStrategy mmengine.hooks.profiler_hook: NPUProfilerHook
        omegaconf.vendor.antlr4.FileStream: FileStream pytorch_lightning.demos.mnist_datamodule: _MNIST
        pytorch_lightning.demos.transformer: WikiText2 scipy.odr._odrpack: ODR timm.data.readers.reader_image_in_tar: ReaderImageInTar
        timm.data.readers.reader_image_tar: ReaderImageTar timm.data.real_labels: RealLabelsImagenet
        torchmetrics.functional.image.dists: DISTSNetwork torchmetrics.functional.image.lpips: _LPIPS _NoTrainLpips
        transformers.convert_slow_tokenizer: AlbertConverter BarthezConverter BertGenerationConverter BigBirdConverter
        CamembertConverter CanaryConverter DebertaV2Converter GemmaConverter GemmaSentencePieceExtractor HeliumConverter LlamaConverter
        MBart50Converter MBartConverter MoshiConverter NllbConverter OmniASRConverter ParakeetConverter PegasusConverter
        ReformerConverter RemBertConverter SeamlessM4TConverter SentencePieceExtractor SpmConverter T5Converter UdopConverter
        VideoPrismConverter XGLMConverter XLMRobertaConverter XLNetConverter transformers.generation.continuous_batching.model_runner:
        ModelRunner transformers.integrations.flex_attention: WrappedFlexAttention transformers.integrations.mistral.tokenizer:
        MistralConverter transformers.models.bark.processing_bark: BarkProcessor transformers.models.bartpho.tokenization_bartpho:
        BartphoTokenizer transformers.models.bert.tokenization_bert_legacy: BertTokenizerLegacy
        transformers.models.bert_japanese.tokenization_bert_japanese: BertJapaneseTokenizer
        transformers.models.bertweet.tokenization_bertweet: BertweetTokenizer transformers.models.biogpt.tokenization_biogpt:
        BioGptTokenizer transformers.models.blenderbot_small.tokenization_blenderbot_small: BlenderbotSmallTokenizer
        transformers.models.clvp.tokenization_clvp: ClvpTokenizer transformers.models.cpmant.tokenization_cpmant: CpmAntTokenizer
        transformers.models.ctrl.tokenization_ctrl: CTRLTokenizer transformers.models.esm.tokenization_esm: EsmTokenizer
        transformers.models.fastspeech2_conformer.tokenization_fastspeech2_conformer: FastSpeech2ConformerTokenizer
        transformers.models.flaubert.tokenization_flaubert: FlaubertTokenizer transformers.models.fsmt.tokenization_fsmt: FSMTTokenizer
        transformers.models.gpt_neox_japanese.tokenization_gpt_neox_japanese: GPTNeoXJapaneseTokenizer
        transformers.models.luke.tokenization_luke: LukeTokenizer transformers.models.m2m_100.tokenization_m2m_100: M2M100Tokenizer
        transformers.models.marian.tokenization_marian: MarianTokenizer transformers.models.mgp_str.tokenization_mgp_str:
        MgpstrTokenizer transformers.models.mluke.tokenization_mluke: MLukeTokenizer transformers.models.myt5.tokenization_myt5:
        ByteRewriter MyT5Tokenizer transformers.models.oneformer.image_processing_oneformer: OneFormerImageProcessor
        transformers.models.oneformer.image_processing_pil_oneformer: OneFormerImageProcessorPil
        transformers.models.phobert.tokenization_phobert: PhobertTokenizer transformers.models.pop2piano.tokenization_pop2piano:
        Pop2PianoTokenizer transformers.models.prophetnet.tokenization_prophetnet: ProphetNetTokenizer
        transformers.models.roc_bert.tokenization_roc_bert: RoCBertTokenizer
        transformers.models.speech_to_text.tokenization_speech_to_text: Speech2TextTokenizer
        transformers.models.tapas.tokenization_tapas: TapasTokenizer transformers.models.vits.tokenization_vits: VitsTokenizer
        transformers.models.wav2vec2.tokenization_wav2vec2: Wav2Vec2CTCTokenizer
        transformers.models.wav2vec2_phoneme.tokenization_wav2vec2_phoneme: Wav2Vec2PhonemeCTCTokenizer
        transformers.models.whisper.tokenization_whisper: WhisperTokenizer transformers.models.xlm.tokenization_xlm: XLMTokenizer
        transformers.tokenization_utils_tokenizers: TokenizersBackend transformers.trainer: Trainer ultralytics.data.base: BaseDataset
        ultralytics.data.loaders: LoadImagesAndVideos LoadStreams ultralytics.models.sam.modules.sam: SAM2Model SAM3Model
        ultralytics.models.sam.sam3.decoder: TransformerDecoder ultralytics.models.sam.sam3.encoder: TransformerEncoderFusion
        ultralytics.models.sam.sam3.maskformer_segmentation: PixelDecoder SegmentationHead UniversalSegmentationHead
        ultralytics.models.sam.sam3.text_encoder_ve: TextTransformer Transformer VETextEncoder ultralytics.models.sam.sam3.vitdet: ViT
        ultralytics.models.sam.sam3.vl_combiner: SAM3VLBackbone ultralytics.nn.tasks: ClassificationModel DepthModel DetectionModel
        OBBModel PoseModel RTDETRDetectionModel SegmentationModel SemanticSegmentationModel WorldModel YOLOEModel YOLOESegModel
        ultralytics.nn.text_model: MobileCLIPTS ultralytics.solutions.parking_management: ParkingManagement ultralytics.utils.uploads:
        _ProgressReader
        """,
    ),
)
