"""What a name gives away by its shape, whoever owns it.

Knows: attributes that lead from any object to everything; modules that other modules hold (``torch.serialization`` has ``os``); names of
functions that modules hand on, and of methods that classes inherit; vendored copies of picklers; modules that are programs.
Refuses to know: single names (the tables).

Facts: CPython's unpickler follows dots in a name from protocol 4 on (Lib/pickle.py, _getattribute), and any attribute of a module is a
name it can import: "from os import system" in a library gives that library a ``system``.
"""

from __future__ import annotations

from .rows import DANGEROUS, Judgement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_REFERENCE = "https://docs.python.org/3/reference/datamodel.html"
_NUMPY = "https://numpy.org/doc/stable/reference/generated/numpy.ndarray.tofile.html"
_PICKLE = "https://docs.python.org/3/library/pickle.html"

LEADS_ON = Judgement(DANGEROUS, "it is an attribute that leads from any object to its module's names and to every class", "", _REFERENCE)
HELD = Judgement(DANGEROUS, "it leads by way of another module to a name that runs code", "Python 3.4 (protocol 4)", _PICKLE)
HANDED_ON = Judgement(DANGEROUS, "it bears the name of a function that runs code, which modules hand on to each other", "", _PICKLE)
OPENS = Judgement(
    DANGEROUS, "it bears the name of a function or method that reads or writes the file or memory that it is given", "", _NUMPY
)
COPY = Judgement(DANGEROUS, "it is a copy of a library that makes functions out of bytes", "", "https://github.com/cloudpipe/cloudpickle")
PROGRAM = Judgement(DANGEROUS, "importing the module starts a program", "", "https://docs.python.org/3/library/__main__.html")

_ATTRIBUTES = """
__base__ __bases__ __builtins__ __call__ __class__ __closure__ __code__ __defaults__ __del__ __delattr__ __dict__ __func__ __get__
__getattr__ __getattribute__ __getstate__ __globals__ __init_subclass__ __kwdefaults__ __loader__ __mro__ __objclass__ __path__
__prepare__ __reduce__ __reduce_ex__ __self__ __set__ __set_name__ __setattr__ __spec__ __subclasshook__ __subclasses__ __traceback__
__wrapped__ __build_class__ __import__ ag_code ag_frame co_code cr_code cr_frame f_back f_builtins f_globals f_locals func_code
func_globals gi_code gi_frame im_class im_func im_self mro tb_frame tb_next
"""
# Functions that run code, load it or look it up, under names that are hardly ever given to anything else.
_FUNCTIONS = """
CDLL FunctionType Popen __import__ attrgetter check_call check_output eval exec exec_ execfile execl execle execlp execv execve execvp
execvpe getattr getoutput getstatusoutput import_module load_library methodcaller os_system popen popen2 popen3 popen4 posix_spawn
posix_spawnp resolve_name run_module run_path runcode runsource setattr spawnl spawnle spawnlp spawnv spawnve spawnvp startfile system
urlopen urlretrieve
"""
# Methods and functions that read or write the file or the memory that they are given, whatever class has or inherits them.
_FILES = """
_free_weak_ref _new_shared_cuda _new_shared_fd_cpu _new_shared_filename_cpu _new_using_fd_cpu _new_using_filename_cpu _new_with_file
_new_with_weak_ptr _set_from_file _write_file
fromfile from_file from_pickle fromregex genfromtxt loadtxt memmap open_memmap read_csv read_excel read_feather read_hdf read_json
read_orc read_parquet read_pickle read_sas read_spss read_stata savetxt savez savez_compressed to_csv to_excel to_feather to_hdf to_html
to_latex to_markdown to_orc to_parquet to_pickle to_stata tofile
"""
# Modules that other modules hold under their own names, or behind an underscore.
_MODULES = """
asyncio builtins codeop ctypes ftplib imp importlib inspect io linecache marshal multiprocessing nt os pdb pickle pkgutil posix pty pydoc
requests runpy shutil smtplib socket sqlite3 ssl subprocess sys sysconfig tarfile tempfile threading urllib webbrowser zipfile zipimport
"""
ATTRIBUTES, FUNCTIONS, FILES, MODULES = (frozenset(text.split()) for text in (_ATTRIBUTES, _FUNCTIONS, _FILES, _MODULES))
ARRAYS = ("numpy", "pandas")  # whose classes have a dump that writes a pickle
PICKLERS = frozenset(("cloudpickle", "cloudpickle_fast", "dill", "_dill"))


def judged(module: str, name: str, beneath: Callable[[str], Judgement | None]) -> Judgement | None:
    """What the shape of a name says that no table has; ``beneath`` looks a path up."""
    parts = name.split(".")
    if not ATTRIBUTES.isdisjoint(parts):
        return LEADS_ON
    packages = module.split(".")
    if "__main__" in packages[1:]:
        return PROGRAM
    if not PICKLERS.isdisjoint(packages):
        return COPY
    if parts[-1] in FUNCTIONS:
        return HANDED_ON
    if parts[-1] in FILES or (parts[-1] == "dump" and packages[0] in ARRAYS):
        return OPENS
    return HELD if _held(parts, beneath) else None


def _held(parts: list[str], beneath: Callable[[str], Judgement | None]) -> bool:
    if parts[-1].lstrip("_") in MODULES:
        return True
    for index in range(len(parts) - 1):
        found = beneath(".".join((parts[index].lstrip("_"), *parts[index + 1 : index + 16])))
        if found is not None and found.verdict == DANGEROUS:
            return True
    return False
