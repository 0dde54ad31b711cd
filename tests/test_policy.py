"""The table of judged names: nobody listed twice, every row with its reason, danger in every spelling, and clean by listing alone."""

from __future__ import annotations

import csv
import importlib
import json
import sys
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inert.pickle.python2 import imported
from inert.policy import CLEAN, DANGEROUS, ORDER, UNKNOWN, UNREADABLE, Judgement, judge, libraries, lookup, python, shapes, torch, worst
from inert.policy.rows import Row
from inert.torch.allowed import ALLOWED
from tests.source_tree import REPOSITORY
from tools import find_aliases

SHARED = REPOSITORY.parent / "shared"
CLEAN_PAIRS = sorted(pair for pair, said in lookup.NAMED.items() if said.verdict == CLEAN)
ANY = st.text(max_size=20)


def verdict(path: str) -> str:
    module, _, name = path.rpartition(".")
    return judge(module, name).verdict


# ------------------------------------------------------------------------------------------------------------ the tables themselves


def test_every_row_says_why_and_names_something() -> None:
    for row in (*lookup.EXACT, *lookup.BELOW):
        said = row.judgement
        assert row.names.split()
        assert said.verdict in (CLEAN, UNKNOWN, DANGEROUS), row.names
        assert said.why.startswith(("it ", "pickles ", "TorchScript", "called it ", "made anew it ")), said.why
        assert not said.why.endswith("."), said.why
        assert "\n" not in said.why
        assert said.link.startswith("https://"), row.names


def test_exact_rows_name_modules_and_names() -> None:
    for row in lookup.EXACT:
        for module, name in row.exact():
            assert module, f"{name} has no module: a row begins with one"
            assert not module.startswith(".")
            assert ":" not in name


def test_prefixes_are_never_clean() -> None:
    assert {row.judgement.verdict for row in lookup.BELOW} == {DANGEROUS, UNKNOWN}


def test_no_name_is_in_two_rows() -> None:
    pairs = [pair for row in lookup.EXACT for pair in row.exact()]
    assert len(pairs) == len(set(pairs))
    paths = [path for row in lookup.BELOW for path in row.below()]
    assert len(paths) == len(set(paths))


def test_a_path_is_not_beneath_another_of_its_row() -> None:
    """Beneath one of another row it has a reason of its own."""
    for row in lookup.HAND:
        paths = set(row.below())
        hidden = [path for path in paths if any(".".join(path.split(".")[:length]) in paths for length in range(1, path.count(".") + 1))]
        assert not hidden


def test_a_judgement_is_frozen() -> None:
    said = judge("os", "system")
    with pytest.raises(AttributeError, match="cannot be changed"):
        said.verdict = CLEAN
    with pytest.raises(AttributeError):
        del said.why
    assert repr(said) == f"<Judgement dangerous: {said.why}>"


def test_the_worst_verdict_wins() -> None:
    assert ORDER == (CLEAN, UNKNOWN, UNREADABLE, DANGEROUS)
    assert worst([]) == CLEAN
    assert worst([UNKNOWN, CLEAN]) == UNKNOWN
    assert worst(iter([DANGEROUS, UNREADABLE, CLEAN])) == DANGEROUS  # known to be so, whatever else could not be read


# ------------------------------------------------------------------------------------------------------------------------- answers

DANGER = """
os.system posix.system nt.system os.path.join os.environ subprocess.Popen subprocess.run builtins.eval builtins.exec builtins.compile builtins.open
builtins.getattr builtins.setattr builtins.globals builtins.__import__ builtins.breakpoint __builtin__.eval __builtin__.execfile __builtin__.apply
__builtin__.file commands.getoutput cPickle.loads copy_reg.pickle copyreg.add_extension operator.attrgetter _operator.methodcaller operator.call
functools.reduce sys.modules sys.setprofile importlib.import_module importlib._bootstrap._gcd_import pkgutil.resolve_name pydoc.locate
runpy.run_path code.interact codeop.compile_command timeit.main pdb.run cProfile.runctx profile.runctx trace.Trace bdb.Bdb doctest.debug_script
ctypes.CDLL _ctypes.dlopen marshal.loads types.FunctionType types.CodeType pickle.loads _pickle.Unpickler shelve.open torch.load torch.jit.load
torch.storage._load_from_bytes torch.hub.load torch.utils.cpp_extension.load_inline torch._inductor.codecache.compile_file numpy.load joblib.load
numpy.f2py.crackfortran.myeval numpy.testing._private.utils.runstring dill.loads dill._dill._eval_repr cloudpickle.cloudpickle.subimport
pip.main setuptools.setup idlelib.run.Executive.runcode lib2to3.pgen2.grammar.Grammar asyncio.run multiprocessing.util.spawnv_passfds
ssl.get_server_certificate http.client.HTTPSConnection urllib.request.urlopen socket.socket smtplib.SMTP ftplib.FTP webbrowser.open
shutil.rmtree signal.raise_signal uuid._get_command_stdout _aix_support._read_cmd_output _osx_support._read_output logging.config.dictConfig
typing.get_type_hints typing.ForwardRef io.open _io.FileIO tempfile.NamedTemporaryFile zipfile.ZipFile sqlite3.connect gc.get_objects
site.addpackage inspect.getattr_static linecache.getline distutils.file_util.write_file platform.popen imaplib.IMAP4_stream
torch.fx.graph_module.reduce_graph_module torch.fx.graph_module.GraphModule torch.ops.load_library torch._dynamo.guards.GuardBuilder.get
torch.distributed.rpc.internal.PythonUDF pandas.read_pickle pandas.eval requests.get mlflow.projects.run yaml.unsafe_load
hydra.utils.instantiate transformers.dynamic_module_utils.get_class_in_module keras.models.load_model pathlib.Path.write_text pathlib.os
io.BytesIO.__class__ torch.package.package_importer.PackageImporter
"""


@pytest.mark.parametrize("path", DANGER.split())
def test_danger(path: str) -> None:
    module, _, name = path.rpartition(".")
    assert judge(module, name).verdict == DANGEROUS
    assert judge(module, name).why


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("torch.serialization", "os.system"),  # by way of a module that imports it
        ("torch", "serialization.os.system"),
        ("posixpath", "os.system"),
        ("collections", "_sys.exit"),
        ("collections", "abc.sys.modules.get"),
        ("some.library", "os"),
        ("some.library", "_os"),
        ("some.library", "subprocess"),
        ("some.library", "system"),  # handed on
        ("some.library", "Thing.exec"),
        ("\u043e" + "s", "system"),  # a Cyrillic letter
        ("collections", "OrderedDict.__class__.__base__.__subclasses__"),
        ("collections", "OrderedDict.__init__.__globals__"),
        ("torch.nn.modules.linear", "Linear.__init__.__globals__"),
        ("anything", "__builtins__"),
        ("anything", "__loader__"),
        ("anything", "f.__code__"),
        ("some.tool.__main__", "Options"),  # a program
        ("ray.cloudpickle.cloudpickle", "_make_function"),  # a vendored copy
        ("joblib.externals.cloudpickle", "loads"),
        ("their.dill", "x"),
        ("os", ""),
        ("", "system"),
        ("os", "x" * 100_000),
        ("os", "path." * 30_000 + "join"),
        ("StringIO", "os"),  # Python 2's spelling of a module
        ("urllib2", "urlopen"),
        ("commands", "getstatusoutput"),
        ("numpy", "ndarray.tofile"),  # methods, whatever class inherits them
        ("numpy", "matrix.tofile"),
        ("numpy", "float64.tofile"),
        ("numpy.ma", "MaskedArray.dump"),
        ("numpy.rec", "fromfile"),
        ("torch", "FloatStorage.from_file"),
        ("torch._C", "StorageBase.from_file"),
        ("pandas", "DataFrame.to_pickle"),
        ("torch", "UntypedStorage._new_with_weak_ptr"),
        ("torch._C", "_construct_storage_from_data_pointer"),
        ("numpy.lib._stride_tricks_impl", "DummyArray"),
        ("_compat_pickle", "NAME_MAPPING"),  # the unpickler's own tables
        ("torch.serialization", "load_module_mapping"),
        ("torch._weights_only_unpickler", "_marked_safe_globals_set"),
        ("encodings", "aliases.aliases"),
        ("tokenize", "_builtin_open"),  # the same objects as dangerous ones
        ("torch.serialization", "_import_dotted_name"),
        ("torch.cuda", "CUDAPluggableAllocator"),
        ("numpy._core._multiarray_umath", "fromfile"),
        ("torch.distributed.device_mesh", "init_process_group"),
        ("random", "_urandom"),
        ("enum", "reduce"),
        ("torch.compiler.config", "install_config_module"),
        ("typing_extensions", "get_type_hints"),
        ("shlex", "shlex"),
    ],
)
def test_danger_in_other_shapes(module: str, name: str) -> None:
    assert judge(module, name).verdict == DANGEROUS


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("my.package", "Config"),
        ("__main__", "Net"),
        ("__torch__.my", "Net"),
        ("functools", "partial"),
        ("builtins", "map"),
        ("builtins", "type"),
        ("", ""),
        ("", "."),
        ("...", "..."),
        ("collections", "Ordered\x05ict"),
        ("torch", "nn.modules.linear.Linear"),  # the same class under a name that nobody listed
        ("__builtin__", "set"),  # above protocol 2 Python 3 looks for a module of that name
        ("StringIO", "StringIO"),
        ("collections", "OrderedDict\n"),
        ("collections ", "OrderedDict"),
        ("Collections", "OrderedDict"),
        ("x" * 100_000, "y" * 100_000),
        ("collections", "O" * 513),
        ("\ud800", "\udfff"),
        ("posix2", "thing"),
        ("osmosis", "thing"),
    ],
)
def test_nobody_knows(module: str, name: str) -> None:
    assert judge(module, name).verdict == UNKNOWN


def test_python_2_names_are_clean_as_their_pickles_import_them() -> None:
    assert judge(*imported("__builtin__", "set", 2)).verdict == CLEAN
    assert judge(*imported("copy_reg", "_reconstructor", 2)).verdict == CLEAN
    assert judge(*imported("__builtin__", "eval", 2)).verdict == DANGEROUS
    assert judge(*imported("__builtin__", "reduce", 2)).verdict == DANGEROUS


def test_made_is_not_called() -> None:
    """Saved modules are made without their constructors."""
    for module, name in (("ultralytics.nn.tasks", "DetectionModel"), ("models.yolo", "Model")):
        assert judge(module, name).verdict == DANGEROUS
        assert judge(module, name, made=True).verdict == UNKNOWN
    for module, name in (("os", "system"), ("collections", "OrderedDict"), ("my.own", "Net")):
        assert judge(module, name, made=True).verdict == judge(module, name).verdict


def test_rows_of_made_objects_are_about_classes_that_are_worse_to_call() -> None:
    for module, name in lookup.FILLED:
        assert judge(module, name).verdict == DANGEROUS, (module, name)
        assert judge(module, name, made=True).verdict == UNKNOWN


def test_what_weights_only_allows_is_clean() -> None:
    """torch's own list is what torch takes for data; where it is judged otherwise the reason is here."""
    assert sorted(path for path in ALLOWED if verdict(path) != CLEAN) == []


# -------------------------------------------------------------------------------------------------------------------- clean by listing


@given(st.sampled_from(CLEAN_PAIRS), ANY, ANY, ANY)
def test_nothing_is_clean_that_is_not_listed(pair: tuple[str, str], before: str, after: str, between: str) -> None:
    module, name = pair
    for changed in (
        (before + module, name),
        (module + after, name),
        (module, before + name),
        (module, name + after),
        (module + between, after + name),
    ):
        if lookup.NAMED.get(changed) is None or lookup.NAMED[changed].verdict != CLEAN:
            assert judge(*changed).verdict != CLEAN


@given(ANY, ANY)
def test_any_text_is_judged(module: str, name: str) -> None:
    said = judge(module, name)
    assert isinstance(said, Judgement)
    assert said.verdict != CLEAN or (module, name) in lookup.NAMED


@given(st.sampled_from(sorted(lookup.BENEATH)), st.text(alphabet="abc_.", max_size=12))
def test_what_lies_beneath_danger_is_dangerous_unless_it_is_listed(path: str, more: str) -> None:
    if lookup.BENEATH[path].verdict == DANGEROUS and (path, more) not in lookup.NAMED:
        assert judge(path, more).verdict == DANGEROUS


def test_clean_names_beneath_danger_are_few_and_known() -> None:
    """Data that lies in modules of danger: each exception is a decision."""
    modules = {module for module, name in CLEAN_PAIRS if (found := lookup.beneath(f"{module}.{name}")) and found.verdict == DANGEROUS}
    assert modules == {
        "_io",
        "copyreg",
        "io",
        "joblib.numpy_pickle",
        "pathlib",
        "pathlib._local",
        "torch._dynamo.decorators",
        "torch.distributed.checkpoint.filesystem",
        "xml.etree.ElementTree",
    }


def test_judging_is_quick() -> None:
    judge("warm", "up")
    begin = time.process_time()
    for index in range(2_000):
        judge(f"package{index}.module", "Some.Class")
    assert time.process_time() - begin < 1  # 10 ms on a desktop


def test_a_hostile_name_is_judged_quickly() -> None:
    begin = time.process_time()
    for module, name in (("a." * 500_000, "b." * 500_000), ("." * 1_000_000, "." * 1_000_000), ("os", "." * 1_000_000)):
        judge(module, name)
    assert time.process_time() - begin < 1


# -------------------------------------------------------------------------------------------------------------------- the real names


def data_rows(rows: tuple[Row, ...]) -> list[tuple[str, str]]:
    return [pair for row in rows if row.judgement.verdict == CLEAN and " to " not in row.judgement.since for pair in row.exact()]


def since(pair: tuple[str, str]) -> tuple[int, ...]:
    program, _, version = lookup.NAMED[pair].since.partition(" ")
    return tuple(int(part) for part in version.split(".")) if program == "Python" else (99,)


FUNCTIONS_OF_DATA = {
    "__newobj__",
    "__newobj_ex__",
    "_array_reconstructor",
    "_compile",
    "_reconstructor",
    "abs",
    "chr",
    "compile",
    "encode",
    "len",
    "ord",
    "round",
}


def test_clean_names_of_python_exist_and_are_what_they_say() -> None:
    """Every clean name is there, is a class, a constant or one of few functions, and has no dangerous name where it was defined."""
    for module, name in data_rows(python.DATA):
        if since((module, name)) > sys.version_info:
            continue
        found: Any = getattr(importlib.import_module(module), name)
        if callable(found) and not isinstance(found, type) and not str(type(found)).startswith("<class 'typing."):
            assert name in FUNCTIONS_OF_DATA or module == "typing", (module, name)
        home, own = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
        if isinstance(found, type) and home and own and (home, own) not in lookup.NAMED:
            assert judge(home, own).verdict == UNKNOWN or home in ("pathlib._local", "_random", "_struct"), (home, own)


# ------------------------------------------------------------------------------------------------------------- the seeds and the corpus

corpus = pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} does not lie beside the repository")
# Names of groups of data that are judged dangerous all the same, and why.
EXCEPTIONS = {
    "torch.storage._load_from_bytes": "loads the torch file in its argument; the scan looks inside and has the last word",
    "numpy.core._ufunc_reconstruct": "imports the module that its argument names",
    "numpy.core.memmap.memmap": "opens, makes or empties the file that its argument names",
    "torch.jit._script.unpackage_script_module": "loads a program of a package",
    "torch.jit._script.RecursiveScriptModule": "belongs to the module that loads and compiles programs",
    "torch_utils.persistence._reconstruct_persistent_obj": "runs the source text that the pickle holds",
    "dnnlib.tflib.network.Network": "runs the source text that the pickle holds",
    "e3nn.util.codegen._mixin": "loads the programs that the pickle holds",
    **dict.fromkeys(
        (
            *(
                "models.yolo.DetectionModel",
                "models.yolo.Model",
                "ultralytics.nn.tasks.ClassificationModel",
                "ultralytics.nn.tasks.DetectionModel",
            ),
            *("ultralytics.nn.tasks.OBBModel", "ultralytics.nn.tasks.PoseModel", "ultralytics.nn.tasks.SegmentationModel"),
        ),
        "called it evaluates a text of its configuration; only made it is unknown (test_made_is_not_called)",
    ),
    "_operator.attrgetter": "looks attributes up",
    "_operator.methodcaller": "calls what it looks up",
}
GROUPS_OF_CODE = ("always dangerous (bypass corpus)", "python code (needs care)", "torch graph/compile")


def seeds() -> list[dict[str, str]]:
    with (SHARED / "globals.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def seed_verdict(path: str) -> str:
    module, _, name = path.rpartition(".")
    return judge(*imported(module, name, 2)).verdict


@corpus
@pytest.mark.corpus
def test_the_seeds_are_judged_by_their_group() -> None:
    column = next(iter(seeds()[0]))
    assert len(seeds()) == 702
    for row in seeds():
        path, group, said = row[column], row["group"], seed_verdict(row[column])
        if group == "always dangerous (bypass corpus)":
            assert said == DANGEROUS, path
        elif group not in GROUPS_OF_CODE:
            assert (said == DANGEROUS) == (path in EXCEPTIONS), path
        if row["allowed_by_torch_weights_only"] == "yes":
            assert said == CLEAN, path


@corpus
@pytest.mark.corpus
def test_every_call_of_the_hostile_corpus_is_dangerous_or_harmless_by_itself() -> None:
    table = json.loads((SHARED / "corpus" / "malicious" / "expected.share.json").read_text(encoding="utf-8"))
    harmless = {  # what hostile files use to build their arguments, or to hide
        "_codecs.encode",
        "argparse.Namespace",
        "base64.b64decode",
        "builtins.list",
        "builtins.map",
        "collections.Counter",
        "copy_reg._reconstructor",
        "functools.partial",
        "mypkg.config.Config",
        "numpy.zeros",
        "torch._tensor._rebuild_from_type_v2",
    }
    for path, row in table.items():
        for call in row["calls"]:
            spelled = call.removeprefix("nested ").partition(" (")[0]
            if spelled.startswith("EXT"):
                continue  # a number instead of a name: for the scan to tell
            parts = spelled.split(".")  # a pickle may split module and name at any dot
            said = {judge(*imported(".".join(parts[:at]), ".".join(parts[at:]), 2)).verdict for at in range(1, len(parts))}
            assert (DANGEROUS in said) == (spelled not in harmless), (path, call)


def test_what_is_the_same_object_as_something_dangerous_is_dangerous() -> None:
    """As tools/find_aliases.py finds it, in some modules of Python."""
    roots = (
        "argparse",
        "collections",
        "dataclasses",
        "enum",
        "fnmatch",
        "functools",
        "locale",
        "logging",
        "random",
        "re",
        "reprlib",
        "tokenize",
    )
    find_aliases.load(roots)
    fresh, clean = find_aliases.found(roots)
    assert not clean
    if sys.version_info[:2] == (3, 11):  # others have names of their own
        assert not fresh


def test_names_reached_by_tables_are_tables() -> None:
    """The names of the modules that hold the tables, so that none is left out of the order of asking."""
    for module in (python, torch, libraries):
        assert set(module.EXACT) <= set(lookup.EXACT)
        assert set(module.BELOW) <= set(lookup.HAND)
    assert shapes.FUNCTIONS
