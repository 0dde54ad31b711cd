"""Classes of torch.nn and torch.optim that only hold what they are given, until somebody runs them.

Knows: the modules, optimizers and schedulers of torch 2.13, each by its name, and those of earlier versions that old files hold.
Refuses to know: classes of other packages that derive from them.

Facts: torch 2.13's sources, every ``__setstate__``, ``__new__`` and ``__init__`` of these classes read. An object is made by
``object.__new__`` and filled by ``Module.__setstate__`` or ``Optimizer.__setstate__``: both put the state into ``__dict__`` and add what
older versions did not have; those that override them (MultiheadAttention, Softmax and its kind, _ConvNd, AvgPool3d, RNNBase, Upsample,
the transformer layers, the optimizers) set defaults beside it, and run nothing that the state names. Constructors allocate and store.
Hooks, activations and factors that are functions are names in the file, and judged as such; calling a made module is for the scan to tell.
"""

from __future__ import annotations

from .rows import CLEAN, UNKNOWN, Row

_GIT = "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/"

CLASSES = (
    Row(
        CLEAN,
        "it is a layer of torch: its parameters and settings",
        "torch 0.1",
        f"{_GIT}nn/modules",
        """
        torch.nn.modules.activation: CELU ELU GELU GLU Hardshrink Hardsigmoid Hardswish Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish
        MultiheadAttention PReLU RReLU ReLU ReLU6 SELU SiLU Sigmoid Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh
        Tanhshrink Threshold torch.nn.modules.adaptive: AdaptiveLogSoftmaxWithLoss torch.nn.modules.batchnorm: BatchNorm1d BatchNorm2d
        BatchNorm3d LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d SyncBatchNorm _BatchNorm _LazyNormBase _NormBase
        torch.nn.modules.channelshuffle: ChannelShuffle torch.nn.modules.container: Container ModuleDict ModuleList ParameterDict
        ParameterList Sequential torch.nn.modules.conv: Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d
        LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d _ConvNd _ConvTransposeMixin _ConvTransposeNd
        torch.nn.modules.distance: CosineSimilarity PairwiseDistance torch.nn.modules.dropout: AlphaDropout Dropout Dropout1d Dropout2d
        Dropout3d FeatureAlphaDropout _DropoutNd torch.nn.modules.flatten: Flatten Unflatten torch.nn.modules.fold: Fold Unfold
        torch.nn.modules.instancenorm: InstanceNorm1d InstanceNorm2d InstanceNorm3d LazyInstanceNorm1d LazyInstanceNorm2d
        LazyInstanceNorm3d _InstanceNorm torch.nn.modules.linear: Bilinear Identity LazyLinear Linear NonDynamicallyQuantizableLinear
        torch.nn.modules.loss: BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss GaussianNLLLoss HingeEmbeddingLoss
        HuberLoss KLDivLoss L1Loss LinearCrossEntropyLoss MSELoss MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss
        MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss SmoothL1Loss SoftMarginLoss TripletMarginLoss TripletMarginWithDistanceLoss
        _Loss _WeightedLoss torch.nn.modules.module: Module torch.nn.modules.normalization: CrossMapLRN2d GroupNorm LayerNorm
        LocalResponseNorm RMSNorm torch.nn.modules.padding: CircularPad1d CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d
        ConstantPad3d ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d ZeroPad1d
        ZeroPad2d ZeroPad3d _CircularPadNd _ConstantPadNd _ReflectionPadNd _ReplicationPadNd torch.nn.modules.pixelshuffle: PixelShuffle
        PixelUnshuffle torch.nn.modules.pooling: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
        AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d FractionalMaxPool2d FractionalMaxPool3d LPPool1d LPPool2d
        LPPool3d MaxPool1d MaxPool2d MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d _AdaptiveAvgPoolNd _AdaptiveMaxPoolNd _AvgPoolNd
        _LPPoolNd _MaxPoolNd _MaxUnpoolNd torch.nn.modules.rnn: GRU GRUCell LSTM LSTMCell RNN RNNBase RNNCell RNNCellBase
        torch.nn.modules.sparse: Embedding EmbeddingBag torch.nn.modules.transformer: Transformer TransformerDecoder
        TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer torch.nn.modules.upsampling: Upsample UpsamplingBilinear2d
        UpsamplingNearest2d
        """,
    ),
    Row(
        CLEAN,
        "it is an optimizer or a schedule: its settings and state",
        "torch 0.1",
        f"{_GIT}optim",
        """
        torch.optim.adadelta: Adadelta torch.optim.adagrad: Adagrad torch.optim.adam: Adam torch.optim.adamax: Adamax torch.optim.adamw:
        AdamW torch.optim.asgd: ASGD torch.optim.lbfgs: LBFGS torch.optim.lr_scheduler: ChainedScheduler ConstantLR CosineAnnealingLR
        CosineAnnealingWarmRestarts CyclicLR ExponentialLR LRScheduler LambdaLR LinearLR MultiStepLR MultiplicativeLR OneCycleLR
        PolynomialLR ReduceLROnPlateau SequentialLR StepLR _LRScheduler torch.optim.nadam: NAdam torch.optim.optimizer: Optimizer
        torch.optim.radam: RAdam torch.optim.rmsprop: RMSprop torch.optim.rprop: Rprop torch.optim.sgd: SGD torch.optim.sparse_adam:
        SparseAdam torch.optim.swa_utils: SWALR
        """,
    ),
    Row(
        CLEAN,
        "it marks a setting that must be given",
        "torch 0.1 to 2.4",
        f"{_GIT}optim/optimizer.py",
        "torch.optim.optimizer: _RequiredParameter",
    ),
    Row(
        CLEAN,
        "it is a layer of earlier versions of torch",
        "torch 0.1 to 2.5",
        f"{_GIT}nn/modules",
        "torch.nn.modules.linear: _LinearWithBias",
    ),
    Row(
        CLEAN,
        "it holds a module that runs on several devices",
        "torch 0.1",
        f"{_GIT}nn/parallel/data_parallel.py",
        "torch.nn.parallel.data_parallel: DataParallel",
    ),
    Row(
        CLEAN,
        "it keeps how a parameter is normed, pruned or observed",
        "torch 0.3",
        f"{_GIT}nn/utils",
        """
        torch.nn.utils.prune: CustomFromMask Identity L1Unstructured LnStructured PruningContainer RandomStructured RandomUnstructured
        torch.nn.utils.spectral_norm: SpectralNorm SpectralNormLoadStateDictPreHook SpectralNormStateDictHook
        torch.nn.utils.weight_norm: WeightNorm
        """,
    ),
    Row(
        CLEAN,
        "it is a quantized layer, or what observes one",
        "torch 1.10",
        f"{_GIT}ao",
        """
        torch.ao.nn.quantized.modules.conv: Conv1d Conv2d Conv3d torch.ao.nn.quantized.modules.linear: Linear LinearPackedParams
        torch.ao.nn.quantized.dynamic.modules.linear: Linear torch.ao.nn.intrinsic.modules.fused: ConvBn2d ConvBnReLU2d ConvReLU2d
        LinearReLU torch.ao.nn.intrinsic.quantized.modules.conv_relu: ConvReLU2d torch.ao.quantization.stubs: DeQuantStub QuantStub
        QuantWrapper torch.ao.quantization.observer: HistogramObserver MinMaxObserver MovingAverageMinMaxObserver
        MovingAveragePerChannelMinMaxObserver PerChannelMinMaxObserver PlaceholderObserver torch.ao.quantization.fake_quantize:
        FakeQuantize torch.ao.quantization.qconfig: QConfig
        """,
    ),
    Row(
        CLEAN,
        "it is a quantized layer of earlier versions of torch",
        "torch 1.3 to 1.13",
        f"{_GIT}nn/quantized",
        """
        torch.nn.quantized.modules.conv: Conv1d Conv2d Conv3d torch.nn.quantized.modules.linear: Linear LinearPackedParams
        torch.nn.quantized.dynamic.modules.linear: Linear torch.nn.intrinsic.quantized.modules.conv_relu: ConvReLU2d
        torch.nn.intrinsic.qat.modules.conv_fused: ConvBnReLU2d
        """,
    ),
    Row(
        UNKNOWN,
        "it joins the group of processes that is running",
        "torch 1.0",
        f"{_GIT}nn/parallel/distributed.py",
        "torch.nn.parallel.distributed: DistributedDataParallel torch.distributed.device_mesh: DeviceMesh",
    ),
    Row(
        UNKNOWN,
        "it keeps a class and arguments for later: the class is named in the file and judged under its own name",
        "torch 1.3",
        f"{_GIT}ao/quantization/observer.py",
        "torch.ao.quantization.observer: _PartialWrapper torch.quantization.observer: _PartialWrapper",
    ),
)
