"""Judged names of NumPy and other libraries.

Knows: NumPy's own pickles; data classes of the libraries that are met in checkpoints, each by its name; modules of well-known libraries
that run code, load pickles, open files or connections.
Refuses to know: whether a library is installed.

Facts: the sources of NumPy 1.13 to 2.4, pandas 3.0, scikit-learn 1.9, SciPy 1.18, joblib 1.6, OmegaConf 2.4, Lightning 2.6,
transformers 5.24, accelerate 1.15, DeepSpeed 0.19, torchvision 0.29, timm 1.0, mmengine 0.10, Keras 3.15, cloudpickle 3.1, dill 0.4; names
seen in published advisories about pickle scanners up to 2026.
"""

from __future__ import annotations

from .rows import CLEAN, DANGEROUS, UNKNOWN, Row

_NUMPY = "https://github.com/numpy/numpy/blob/v2.4.0/numpy/"
_RANDOM = "https://numpy.org/doc/stable/reference/random/index.html"
_PANDAS = "https://github.com/pandas-dev/pandas"
_SKLEARN = "https://scikit-learn.org/stable/model_persistence.html"
_ADVISORIES = "https://github.com/mmaitre314/picklescan/security/advisories"

DATA = (
    Row(
        CLEAN,
        "it makes an array or a scalar of its bytes",
        "NumPy 1.0",
        f"{_NUMPY}_core/multiarray.py",
        """
        numpy.core.multiarray: _reconstruct array scalar numpy._core.multiarray: _reconstruct array scalar numpy.core._multiarray_umath:
        _reconstruct scalar numpy._core._multiarray_umath: _reconstruct scalar numpy.core.numeric: _frombuffer numpy._core.numeric:
        _frombuffer numpy.ma.core: MaskedArray _mareconstruct numpy.ma: MaskedArray
        """,
    ),
    Row(
        CLEAN,
        "it says how strings of a type are kept",
        "NumPy 2.0",
        f"{_NUMPY}_core/_internal.py",
        "numpy._core._internal: _convert_to_stringdtype_kwargs",
    ),
    Row(
        CLEAN,
        "it is an array, an element type or a number",
        "NumPy 1.0",
        "https://numpy.org/doc/stable/reference/arrays.html",
        """
        numpy: bool_ byte bytes_ cdouble clongdouble complex128 complex64 csingle datetime64 double dtype float16 float32 float64 half
        int16 int32 int64 int8 intc intp long longdouble longlong matrix ndarray object_ recarray record short single str_ timedelta64
        ubyte uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong ushort void numpy.matrixlib.defmatrix: matrix
        """,
    ),
    Row(
        CLEAN,
        "it is an element type of NumPy 1",
        "NumPy 1.0 to 1.26",
        "https://numpy.org/doc/stable/reference/arrays.html",
        "numpy: bool8 cfloat complex_ float_ int0 int_ longfloat object0 singlecomplex str0 string_ uint0 unicode_ void0 dtype[float64]",
    ),
    Row(
        CLEAN,
        "it is the class of an element type",
        "NumPy 1.25",
        "https://numpy.org/doc/stable/reference/routines.dtypes.html",
        """
        numpy.dtypes: BoolDType ByteDType BytesDType CLongDoubleDType Complex128DType Complex64DType DateTime64DType Float16DType
        Float32DType Float64DType Int16DType Int32DType Int64DType Int8DType LongDoubleDType ObjectDType ShortDType StrDType StringDType
        TimeDelta64DType UInt16DType UInt32DType UInt64DType UInt8DType VoidDType
        """,
    ),
    Row(
        CLEAN,
        "it is a generator of random numbers and its state",
        "NumPy 1.17",
        _RANDOM,
        """
        numpy.random._pickle: __bit_generator_ctor __generator_ctor __randomstate_ctor numpy.random._mt19937: MT19937
        numpy.random._pcg64: PCG64 PCG64DXSM numpy.random._philox: Philox numpy.random._sfc64: SFC64 numpy.random._generator: Generator
        numpy.random.mtrand: RandomState numpy.random.bit_generator: SeedSequence SeedlessSeedSequence __pyx_unpickle_SeedSequence
        numpy.random: Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence __RandomState_ctor
        """,
    ),
    Row(
        CLEAN,
        "it is a table, a column or an index, and what they are kept in",
        "pandas 0.20",
        _PANDAS,
        """
        pandas.core.frame: DataFrame pandas.core.series: Series pandas.core.internals.managers: BlockManager SingleBlockManager
        pandas.core.internals.blocks: new_block pandas._libs.internals: BlockManager _unpickle_block pandas.core.indexes.base: Index
        _new_Index pandas.core.indexes.range: RangeIndex pandas.core.indexes.multi: MultiIndex pandas.core.indexes.datetimes:
        DatetimeIndex _new_DatetimeIndex pandas.core.arrays.categorical: Categorical pandas.core.dtypes.dtypes: CategoricalDtype
        pandas._libs.tslibs.timestamps: Timestamp _unpickle_timestamp pandas._libs.arrays: __pyx_unpickle_NDArrayBacked
        """,
    ),
    Row(
        CLEAN,
        "it is an index of earlier versions of pandas",
        "pandas 0.20 to 1.5",
        _PANDAS,
        "pandas.core.indexes.numeric: Float64Index Int64Index UInt64Index",
    ),
    Row(
        CLEAN,
        "it is a sparse array of three arrays",
        "SciPy 0.7",
        "https://docs.scipy.org/doc/scipy/reference/sparse.html",
        """
        scipy.sparse._csr: csr_array csr_matrix scipy.sparse._csc: csc_array csc_matrix scipy.sparse._coo: coo_array coo_matrix
        """,
    ),
    Row(
        CLEAN,
        "it is a sparse array of three arrays, under the name of earlier versions",
        "SciPy 0.7 to 1.14",
        "https://docs.scipy.org/doc/scipy/reference/sparse.html",
        "scipy.sparse.csr: csr_matrix scipy.sparse.csc: csc_matrix scipy.sparse.coo: coo_matrix",
    ),
    Row(
        CLEAN,
        "it is an estimator: its settings and what it has learnt",
        "scikit-learn 0.22",
        _SKLEARN,
        """
        sklearn.preprocessing._data: MaxAbsScaler MinMaxScaler PowerTransformer QuantileTransformer RobustScaler StandardScaler
        sklearn.preprocessing._label: LabelBinarizer LabelEncoder sklearn.preprocessing._encoders: OneHotEncoder OrdinalEncoder
        sklearn.linear_model._logistic: LogisticRegression sklearn.linear_model._base: LinearRegression sklearn.linear_model._ridge:
        Ridge sklearn.pipeline: Pipeline sklearn.svm._classes: SVC SVR sklearn.ensemble._forest: RandomForestClassifier
        RandomForestRegressor sklearn.tree._tree: Tree sklearn.tree._classes: DecisionTreeClassifier DecisionTreeRegressor
        ExtraTreeClassifier sklearn.decomposition._pca: PCA sklearn.cluster._kmeans: KMeans sklearn.utils._bunch: Bunch
        """,
    ),
    Row(
        CLEAN,
        "it is an estimator, under the name of earlier versions",
        "scikit-learn 0.10 to 0.23",
        _SKLEARN,
        """
        sklearn.preprocessing.data: MinMaxScaler StandardScaler sklearn.preprocessing.label: LabelEncoder sklearn.ensemble.forest:
        RandomForestClassifier RandomForestRegressor sklearn.svm.classes: SVC SVR sklearn.tree.tree: DecisionTreeClassifier
        DecisionTreeRegressor
        """,
    ),
    Row(
        CLEAN,
        "it stands for an array whose bytes follow in the same file",
        "joblib 0.10",
        "https://github.com/joblib/joblib",
        "joblib.numpy_pickle: NumpyArrayWrapper",
    ),
    Row(
        CLEAN,
        "it is a node of a configuration",
        "OmegaConf 2.0",
        "https://github.com/omry/omegaconf",
        """
        omegaconf.base: Box Container ContainerMetadata Metadata Node SCMode omegaconf.dictconfig: DictConfig omegaconf.listconfig:
        ListConfig omegaconf.nodes: AnyNode BooleanNode BytesNode EnumNode FloatNode IntegerNode PathNode StringNode UnionNode ValueNode
        """,
    ),
    Row(
        CLEAN,
        "it is a dict whose keys are attributes too",
        "",
        "https://github.com/Lightning-AI/pytorch-lightning",
        """
        lightning.fabric.utilities.data: AttributeDict lightning_fabric.utilities.data: AttributeDict easydict: EasyDict munch: Munch
        addict.addict: Dict yacs.config: CfgNode
        """,
    ),
    Row(
        CLEAN,
        "it was a dict whose keys are attributes too",
        "Lightning 0.8 to 2.0",
        "https://github.com/Lightning-AI/pytorch-lightning",
        "pytorch_lightning.utilities.parsing: AttributeDict lightning.pytorch.utilities.parsing: AttributeDict",
    ),
    Row(
        CLEAN,
        "it is a set of named constants",
        "transformers 4.0",
        "https://github.com/huggingface/transformers",
        """
        transformers.training_args: OptimizerNames transformers.trainer_utils: HubStrategy IntervalStrategy SaveStrategy SchedulerType
        accelerate.utils.dataclasses: DistributedType lightning.pytorch.trainer.states: TrainerFn RunningStage TrainerStatus
        pytorch_lightning.trainer.states: TrainerFn RunningStage TrainerStatus deepspeed.runtime.zero.config: ZeroStageEnum
        """,
    ),
    Row(
        CLEAN,
        "it keeps the scale of a loss",
        "DeepSpeed 0.3",
        "https://github.com/deepspeedai/DeepSpeed",
        "deepspeed.runtime.fp16.loss_scaler: DynamicLossScaler LossScaler",
    ),
)
EXPLAINED = (
    Row(
        UNKNOWN,
        "it is a configuration, whose values may be imported when they are looked at, or whose methods read files",
        "",
        "https://github.com/open-mmlab/mmengine",
        """
        mmengine.config.config: Config ConfigDict mmcv.utils.config: Config ConfigDict omegaconf.omegaconf: OmegaConf
        """,
    ),
    Row(
        UNKNOWN,
        "it stands for an array in a file beside this one, which joblib loads with its pickles",
        "joblib 0.8",
        "https://github.com/joblib/joblib",
        "joblib.numpy_pickle: NDArrayWrapper ZNDArrayWrapper joblib.numpy_pickle_compat: NDArrayWrapper ZNDArrayWrapper",
    ),
    Row(
        UNKNOWN,
        "made anew it sets the machine up for training; in files it is only filled",
        "transformers 3.0",
        "https://github.com/huggingface/transformers",
        "transformers.training_args: TrainingArguments accelerate.state: PartialState AcceleratorState",
    ),
)
EXACT = (*DATA, *EXPLAINED)

BELOW = (
    Row(
        UNKNOWN,
        "it is a class of the program that saved the file",
        "",
        "https://docs.python.org/3/library/__main__.html",
        "__main__",
    ),
    Row(
        DANGEROUS,
        "it makes functions and classes out of bytes",
        "",
        "https://github.com/cloudpipe/cloudpickle",
        """
        cloudpickle dill torch_utils.persistence dnnlib.tflib.network.Network dnnlib.util.call_func_by_name dnnlib.util.get_obj_by_name
        dnnlib.util.get_module_from_obj_name dnnlib.util.open_url e3nn.util.codegen numba ray.cloudpickle
        """,
    ),
    Row(
        DANGEROUS,
        "it reads a file, and the pickles in it where there are any",
        "NumPy 1.0",
        f"{_NUMPY}lib/_npyio_impl.py",
        """
        numpy.load numpy.fromfile numpy.fromregex numpy.loadtxt numpy.genfromtxt numpy.save numpy.savez numpy.savez_compressed
        numpy.savetxt numpy.DataSource numpy.lib.npyio numpy.lib._npyio_impl numpy.lib.format numpy.lib._format_impl
        numpy.lib._datasource numpy.core.records.fromfile numpy._core.records.fromfile numpy.rec.fromfile numpy.core.multiarray.fromfile
        numpy._core.multiarray.fromfile
        """,
    ),
    Row(
        DANGEROUS,
        "it makes arrays over any address of memory",
        "NumPy 1.0",
        f"{_NUMPY}lib/_stride_tricks_impl.py",
        "numpy.lib.stride_tricks numpy.lib._stride_tricks_impl",
    ),
    Row(
        DANGEROUS,
        "called it opens, makes or empties a file; of an array that was mapped only the class is named",
        "NumPy 1.0",
        f"{_NUMPY}_core/memmap.py",
        "numpy.memmap numpy.core.memmap numpy._core.memmap numpy.lib.format.open_memmap",
    ),
    Row(
        DANGEROUS,
        "it runs text as code, starts compilers or loads machine code",
        "NumPy 1.0",
        _ADVISORIES,
        """
        numpy.f2py numpy.distutils numpy.testing numpy.ctypeslib numpy.lib.utils numpy.lib._utils_impl numpy.lib.introspect
        numpy.core._ufunc_reconstruct numpy._core._ufunc_reconstruct numpy.compat numpy.conftest numpy.core.function_base.add_newdoc
        numpy._core.function_base.add_newdoc numpy.core._dtype_ctypes numpy.core._internal._ctypes numpy._core._internal._ctypes
        """,
    ),
    Row(
        DANGEROUS,
        "it reads files, pickles and pages of the network, or evaluates text",
        "pandas 0.10",
        _PANDAS,
        """
        pandas.io pandas.read_pickle pandas.to_pickle pandas.read_csv pandas.read_table pandas.read_fwf pandas.read_clipboard
        pandas.read_excel pandas.read_json pandas.read_html pandas.read_xml pandas.read_hdf pandas.read_feather pandas.read_parquet
        pandas.read_orc pandas.read_sas pandas.read_spss pandas.read_sql pandas.read_sql_query pandas.read_sql_table pandas.read_gbq
        pandas.read_stata pandas.read_iceberg pandas.ExcelFile pandas.ExcelWriter pandas.HDFStore pandas.eval pandas.core.computation
        pandas.compat.pickle_compat pandas._testing pandas.util.testing pandas.compat._optional pandas.plotting
        pandas.core.frame.DataFrame.eval pandas.core.frame.DataFrame.query pandas.core.generic.NDFrame pandas.core.frame.DataFrame.apply
        pandas.core.frame.DataFrame.pipe
        """,
    ),
    Row(
        DANGEROUS,
        "it loads pickles, or runs functions in other processes",
        "joblib 0.8",
        "https://github.com/joblib/joblib",
        """
        joblib loky sklearn.externals sklearn.utils._testing sklearn.utils.discovery sklearn.datasets sklearn.utils.parallel skops.io
        skops.card scipy.io scipy.datasets scipy.misc scipy.sparse.load_npz scipy.sparse.save_npz scipy.sparse._matrix_io scipy.weave
        scipy._lib._uarray scipy._lib._testutils scipy._lib._ccallback xgboost.core.Booster.load_model
        """,
    ),
    Row(
        DANGEROUS,
        "it fetches or sends something over the network",
        "",
        _ADVISORIES,
        """
        requests requests_toolbelt httpx httpx2 httpcore httplib2 aiohttp urllib3 websocket websockets paramiko fabric boto3 botocore
        s3fs gcsfs adlfs s3transfer smart_open pycurl treq grpc zmq pika kafka redis pymongo ldap3 dns huggingface_hub datasets.load
        datasets.utils.file_utils gdown wget kaggle kagglehub wandb clearml comet_ml neptune mlflow modelscope nltk.data nltk.downloader
        gradio gradio_client streamlit selenium scrapy fsspec
        """,
    ),
    Row(
        DANGEROUS,
        "it starts programs or controls processes",
        "",
        _ADVISORIES,
        """
        pexpect ptyprocess psutil sh plumbum invoke delegator sarge docker kubernetes ansible execnet ray.util ray._private ray.remote
        dask distributed celery billiard pathos ppft multiprocess pyspark IPython ipykernel jupyter_client notebook jedi win32api
        win32com win32process pythoncom pywin32_testutil _win32sysloader xonsh pyautogui keyboard
        """,
    ),
    Row(
        DANGEROUS,
        "it runs text as code, or imports what a text names",
        "",
        _ADVISORIES,
        """
        six.moves six.exec_ future.moves past.builtins past.translation future.utils pyximport Cython cython cffi _cffi_backend
        pycparser numexpr sympy.core.sympify sympy.parsing sympy.utilities.lambdify sympy.utilities._compilation
        sympy.utilities.autowrap sympy.sympify sympy.lambdify sympy.printing.preview jinja2 mako tornado.template tornado.util chameleon
        cheetah genshi django.template django.utils.module_loading werkzeug.utils.import_string werkzeug.debug flask.cli
        twisted.python.reflect zope.dottedname setuptools_scm hydra omegaconf.omegaconf.OmegaConf omegaconf._utils
        fvcore.common.registry detectron2.config detectron2.utils.registry iopath mmcv.utils mmcv.runner mmcv.Config mmengine.config
        mmengine.registry mmengine.hub mmengine.utils mmengine.fileio mmengine.runner mmengine.infer yaml ruamel cerberus jsonpickle
        hickle klepto execjs js2py asteval RestrictedPython simpleeval pytest _pytest nose py coverage hypothesis.extra.ghostwriter
        pdbpp ipdb pudb decorator.FunctionMaker wrapt lazy_loader etils.epy catalogue confection spacy.util spacy.cli srsly thinc.config
        pluggy stevedore dynaconf environs dotenv attr._make.make_class attr._make._make_method attr._make._compile_and_eval
        attr.make_class
        """,
    ),
    Row(
        DANGEROUS,
        "it reads or writes files that its arguments name",
        "",
        _ADVISORIES,
        """
        h5py.File h5py._hl.files tables.open_file zarr.open netCDF4.Dataset pyarrow.fs pyarrow.parquet pyarrow.feather pyarrow.csv
        pyarrow.plasma pyarrow.serialization pyarrow.memory_map pyarrow.OSFile polars.read_csv polars.io openpyxl xlrd lxml
        PIL.Image.open PIL.ImageShow PIL.ImageMath PIL.ImageGrab PIL.EpsImagePlugin PIL.IptcImagePlugin cv2.imread cv2.imwrite
        cv2.FileStorage imageio skimage.io soundfile librosa.load matplotlib.pyplot matplotlib.image matplotlib.cbook matplotlib.testing
        safetensors.safe_open safetensors.torch safetensors.numpy sqlalchemy.create_engine sqlalchemy.ext.serializer gensim.utils
        torchvision.datasets torchvision.io torchaudio.load torchtext.utils torchtext.vocab.vectors onnx.load onnxruntime tensorrt
        """,
    ),
    Row(
        DANGEROUS,
        "it loads models with the code in them",
        "",
        "https://keras.io/api/models/model_saving_apis/",
        """
        keras.models keras.saving keras.src.saving keras.src.models keras.engine keras.utils.get_file keras.src.utils
        keras.utils.generic_utils keras.layers.Lambda keras.layers.core.Lambda keras.src.layers.core.lambda_layer tf_keras
        keras.src.legacy.saving tensorflow.keras.models tensorflow.python.keras tensorflow.saved_model tensorflow.python.saved_model
        tensorflow.io tensorflow.python.lib tensorflow.python.ops.io_ops tensorflow.python.ops.gen_io_ops tensorflow.raw_ops
        tensorflow.load_library tensorflow.load_op_library tensorflow.python.framework.load_library tensorflow.python.ops.script_ops
        tensorflow.py_function tensorflow.numpy_function tensorflow.python.platform tensorflow.python.tools tensorflow.python.debug
        tensorflow.python.training.saver tensorflow.python.util tensorflow.python.autograph tensorflow.python.data.experimental
        """,
    ),
    Row(
        DANGEROUS,
        "called it evaluates a text of its configuration",
        "ultralytics 8.0",
        "https://github.com/ultralytics/ultralytics/blob/main/ultralytics/nn/tasks.py",
        """
        ultralytics.nn.tasks.ClassificationModel ultralytics.nn.tasks.DepthModel ultralytics.nn.tasks.DetectionModel
        ultralytics.nn.tasks.OBBModel ultralytics.nn.tasks.PoseModel ultralytics.nn.tasks.RTDETRDetectionModel
        ultralytics.nn.tasks.SegmentationModel ultralytics.nn.tasks.SemanticSegmentationModel ultralytics.nn.tasks.WorldModel
        ultralytics.nn.tasks.YOLOEModel ultralytics.nn.tasks.YOLOESegModel models.yolo.Model models.yolo.DetectionModel
        models.yolo.SegmentationModel
        """,
    ),
    Row(
        DANGEROUS,
        "it loads checkpoints with the pickles in them, or imports what a text names",
        "",
        "https://github.com/huggingface/transformers",
        """
        transformers.dynamic_module_utils transformers.models.auto transformers.pipelines transformers.utils.hub
        transformers.utils.import_utils transformers.commands transformers.cli transformers.testing_utils transformers.agents
        transformers.tools transformers.convert_slow_tokenizers_checkpoints_to_fast transformers.modeling_utils transformers.file_utils
        transformers.hf_argparser transformers.conversion_mapping transformers.generation.utils accelerate.commands accelerate.launchers
        accelerate.test_utils accelerate.utils.launch accelerate.utils.other accelerate.utils.modeling accelerate.utils.operations
        accelerate.utils.environment deepspeed.launcher deepspeed.ops.op_builder deepspeed.utils.zero_to_fp32 deepspeed.checkpoint
        deepspeed.runtime.state_dict_factory deepspeed.comm deepspeed.env_report deepspeed.autotuning deepspeed.elasticity
        lightning.pytorch.cli lightning.fabric.cli lightning.pytorch.core.saving lightning.fabric.utilities.cloud_io
        lightning.fabric.strategies lightning.pytorch.strategies lightning.pytorch.utilities.migration
        lightning.pytorch.utilities.upgrade_checkpoint lightning.pytorch.utilities.deepspeed lightning.app lightning.pytorch.loggers
        lightning.fabric.loggers lightning_fabric.cli lightning_fabric.strategies lightning_fabric.utilities.cloud_io
        lightning_fabric.loggers pytorch_lightning.cli pytorch_lightning.core.saving pytorch_lightning.strategies
        pytorch_lightning.utilities.migration pytorch_lightning.utilities.cloud_io pytorch_lightning.utilities.deepspeed
        pytorch_lightning.utilities.upgrade_checkpoint pytorch_lightning.loggers torchvision.models._api torchvision.extension
        torchvision._internally_replaced_utils timm.models._hub timm.models._helpers timm.models.hub timm.models.helpers
        timm.models._factory ultralytics.hub ultralytics.engine ultralytics.cfg fastai.learner.load_learner
        fastai.basic_train.load_learner fastai.data.external fastcore.xtras fastcore.net fastcore.imports espnet_model_zoo
        flair.file_utils paddle.load mxnet.nd.load cupy.load cupy.RawKernel cupy.RawModule cupy.cuda cupy._core.raw
        jax.experimental.host_callback jax.pure_callback
        """,
    ),
)
# The same classes where a pickle only makes and fills their objects, as saved modules do.
MADE = (
    Row(
        UNKNOWN,
        "it is a network; called it evaluates a text of its configuration, but the pickle only makes and fills its objects",
        "ultralytics 8.0",
        "https://github.com/ultralytics/ultralytics/blob/main/ultralytics/nn/tasks.py",
        """
        ultralytics.nn.tasks: ClassificationModel DepthModel DetectionModel OBBModel PoseModel RTDETRDetectionModel
        SegmentationModel SemanticSegmentationModel WorldModel YOLOEModel YOLOESegModel models.yolo: DetectionModel Model
        SegmentationModel
        """,
    ),
)
