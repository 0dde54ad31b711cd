"""What Python 3 calls the modules and names of Python 2, as pickles of protocol 0 to 2 spell them.

Knows: the two tables by which CPython's unpickler replaces what a pickle says before it imports anything, and the part of them that torch's
weights_only unpickler has.
Refuses to know: whether a name exists.

Facts: CPython 3.13 Lib/_compat_pickle.py (IMPORT_MAPPING, NAME_MAPPING and the exceptions), which the tests hold against the table of the
Python they run on; Lib/pickle.py (find_class): the tables are used below protocol 3 only, whole names first. Torch 2.13 torch/_utils.py
has fewer rows, which torch/_weights_only_unpickler.py uses whatever the protocol.
"""

from __future__ import annotations

# old module, new module
_MODULES = """
BaseHTTPServer http.server|CGIHTTPServer http.server|ConfigParser configparser|Cookie http.cookies|Dialog tkinter.dialog
DocXMLRPCServer xmlrpc.server|FileDialog tkinter.filedialog|HTMLParser html.parser|Queue queue|ScrolledText tkinter.scrolledtext
SimpleDialog tkinter.simpledialog|SimpleHTTPServer http.server|SimpleXMLRPCServer xmlrpc.server|SocketServer socketserver|StringIO io
Tkconstants tkinter.constants|Tkdnd tkinter.dnd|Tkinter tkinter|UserDict collections|UserList collections|UserString collections
__builtin__ builtins|_abcoll collections.abc|_elementtree xml.etree.ElementTree|_winreg winreg|anydbm dbm|cPickle pickle|cStringIO io
commands subprocess|cookielib http.cookiejar|copy_reg copyreg|dbhash dbm.bsd|dbm dbm.ndbm|dumbdbm dbm.dumb|dummy_thread _dummy_thread
gdbm dbm.gnu|htmlentitydefs html.entities|httplib http.client|markupbase _markupbase|repr reprlib|robotparser urllib.robotparser
test.test_support test.support|thread _thread|tkColorChooser tkinter.colorchooser|tkCommonDialog tkinter.commondialog
tkFileDialog tkinter.filedialog|tkFont tkinter.font|tkMessageBox tkinter.messagebox|tkSimpleDialog tkinter.simpledialog|ttk tkinter.ttk
urllib2 urllib.request|urlparse urllib.parse|whichdb dbm|xmlrpclib xmlrpc.client
"""
# old module, new module: the names that moved there, with = where their name has changed too
_NAMES = """
UserDict collections: IterableUserDict=UserDict UserDict
UserList collections: UserList
UserString collections: UserString
__builtin__ builtins: basestring=str long=int unichr=chr unicode=str xrange=range
__builtin__ functools: reduce
__builtin__ sys: intern
_multiprocessing multiprocessing.connection: Connection
_socket socket: fromfd
exceptions builtins: ArithmeticError AssertionError AttributeError BaseException BufferError BytesWarning DeprecationWarning EOFError
    EnvironmentError Exception FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError
    IndexError KeyError KeyboardInterrupt LookupError MemoryError NameError NotImplementedError OSError OverflowError
    PendingDeprecationWarning ReferenceError RuntimeError RuntimeWarning StandardError=Exception StopIteration SyntaxError SyntaxWarning
    SystemError SystemExit TabError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError
    UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
itertools builtins: ifilter=filter imap=map izip=zip
itertools itertools: ifilterfalse=filterfalse izip_longest=zip_longest
multiprocessing multiprocessing.context: AuthenticationError BufferTooShort ProcessError TimeoutError
multiprocessing.forking multiprocessing.popen_fork: Popen
multiprocessing.process multiprocessing.context: Process
socket socket: _socketobject=SocketType
urllib urllib.error: ContentTooShortError
urllib urllib.parse: quote quote_plus unquote unquote_plus urlencode
urllib urllib.request: getproxies pathname2url url2pathname urlcleanup urlopen urlretrieve
urllib2 urllib.error: HTTPError URLError
whichdb dbm: whichdb
"""
_TORCH = frozenset(
    ("__builtin__", "copy_reg", "Queue", "repr", "_abcoll", "UserDict", "UserList", "UserString", "whichdb", "StringIO", "cStringIO")
)
_TORCH_NAMES = frozenset(["__builtin__", "itertools", "UserDict", "UserList", "UserString"])


def _names() -> dict[tuple[str, str], tuple[str, str]]:
    found = {}
    for row in _NAMES.replace("\n    ", " ").strip().split("\n"):
        modules, names = row.split(": ")
        old, new = modules.split()
        for name in names.split():
            before, _, after = name.partition("=")
            found[old, before] = (new, after or before)
    return found


MODULES: dict[str, str] = dict(row.split() for row in _MODULES.strip().replace("\n", "|").split("|"))
NAMES = _names()
TORCH_MODULES = {old: new for old, new in MODULES.items() if old in _TORCH}
TORCH_NAMES = {old: new for old, new in NAMES.items() if old[0] in _TORCH_NAMES or old == ("exceptions", "StandardError")}


def imported(module: str, name: str, protocol: int) -> tuple[str, str]:
    """(module, name) that Python's unpickler imports for a name in a pickle of ``protocol``."""
    if protocol >= 3:
        return module, name
    return NAMES.get((module, name)) or (MODULES.get(module, module), name)


def looked_up(module: str, name: str) -> tuple[str, str]:
    """(module, name) that torch's weights_only unpickler looks up in its list."""
    return TORCH_NAMES.get((module, name)) or (TORCH_MODULES.get(module, module), name)
