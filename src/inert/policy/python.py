"""Judged names of Python's standard library.

Knows: classes and functions that only build data, each by its own name; modules that run code, reach files, the network or the
interpreter, as a whole, with the data-only names in them listed first; single functions of harmless modules that do so (the systematic
part of these is python_found.py, made by a tool that reads CPython's sources).
Refuses to know: other libraries.

Facts: the sources of CPython 2.7 and 3.8 to 3.13, and its documentation; names seen in published advisories about pickle scanners up to
2026 (github.com/mmaitre314/picklescan/security/advisories, github.com/trailofbits/fickling/security/advisories).
"""

from __future__ import annotations

from .rows import CLEAN, DANGEROUS, UNKNOWN, Row

_DOCS = "https://docs.python.org/3/library/"
_ADVISORIES = "https://github.com/mmaitre314/picklescan/security/advisories"

DATA = (
    Row(
        CLEAN,
        "it is a built-in type of numbers, text, bytes or containers",
        "Python 2",
        f"{_DOCS}stdtypes.html",
        "builtins: bool bytearray bytes complex dict float frozenset int list object range set slice str tuple",
    ),
    Row(
        CLEAN,
        "it is a constant",
        "Python 2",
        f"{_DOCS}constants.html",
        "builtins: Ellipsis NotImplemented",
    ),
    Row(
        CLEAN,
        "it gives a number, a character or a truth value of what it is given",
        "Python 2",
        f"{_DOCS}functions.html",
        "builtins: abs chr len ord round",
    ),
    Row(
        CLEAN,
        "it is an exception, which holds the values it is given",
        "Python 2",
        f"{_DOCS}exceptions.html",
        """
        builtins: ArithmeticError AssertionError AttributeError BaseException BufferError BytesWarning DeprecationWarning EOFError
        Exception FloatingPointError FutureWarning ImportError ImportWarning IndentationError IndexError KeyError LookupError
        MemoryError NameError NotImplementedError OSError OverflowError PendingDeprecationWarning ReferenceError RuntimeError
        RuntimeWarning StopIteration SyntaxError SyntaxWarning SystemError TabError TypeError UnboundLocalError UnicodeDecodeError
        UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError
        """,
    ),
    Row(
        CLEAN,
        "it is an exception of Python 3, which holds the values it is given",
        "Python 3.3",
        f"{_DOCS}exceptions.html",
        """
        builtins: BlockingIOError BrokenPipeError ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError
        ConnectionResetError FileExistsError FileNotFoundError InterruptedError IsADirectoryError ModuleNotFoundError NotADirectoryError
        PermissionError ProcessLookupError RecursionError ResourceWarning StopAsyncIteration TimeoutError
        """,
    ),
    Row(
        CLEAN,
        "it is a container",
        "Python 2.7",
        f"{_DOCS}collections.html",
        """
        collections: ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque
        _collections: OrderedDict defaultdict deque
        """,
    ),
    Row(CLEAN, "it is an array of numbers", "Python 2", f"{_DOCS}array.html", "array: array _array_reconstructor"),
    Row(
        CLEAN,
        "pickles of protocol 0 to 2 make an object of a class with it; the class is named beside it",
        "Python 2.2",
        f"{_DOCS}copyreg.html",
        "copyreg: __newobj__ __newobj_ex__ _reconstructor",
    ),
    Row(
        CLEAN,
        "pickles of protocol 0 to 2 spell bytes with it; other codecs than latin1 are Python's own",
        "Python 3.0",
        f"{_DOCS}codecs.html",
        "_codecs: encode",
    ),
    Row(
        CLEAN,
        "it is a date, a time or a duration",
        "Python 2.3",
        f"{_DOCS}datetime.html",
        "datetime: date datetime time timedelta timezone",
    ),
    Row(
        CLEAN,
        "it is a path as a value, which opens nothing until its methods are called",
        "Python 3.4",
        f"{_DOCS}pathlib.html",
        """
        pathlib: Path PosixPath PurePath PurePosixPath PureWindowsPath WindowsPath
        """,
    ),
    Row(
        CLEAN,
        "it is a path as a value, which opens nothing until its methods are called",
        "Python 3.13 to 3.13",
        f"{_DOCS}pathlib.html",
        "pathlib._local: Path PosixPath PurePath PurePosixPath PureWindowsPath WindowsPath",
    ),
    Row(CLEAN, "it is a decimal number or its rules", "Python 2.4", f"{_DOCS}decimal.html", "decimal: Context Decimal DecimalTuple"),
    Row(CLEAN, "it is a fraction", "Python 2.6", f"{_DOCS}fractions.html", "fractions: Fraction"),
    Row(CLEAN, "it is an identifier", "Python 2.5", f"{_DOCS}uuid.html", "uuid: SafeUUID UUID"),
    Row(CLEAN, "it is a value that an enumeration chooses", "Python 3.4", f"{_DOCS}enum.html", "enum: auto"),
    Row(
        CLEAN,
        "it compiles a text pattern, which matches nothing until it is used",
        "Python 2",
        f"{_DOCS}re.html",
        "re: _compile compile RegexFlag",
    ),
    Row(CLEAN, "it holds attributes and nothing else", "Python 2.7", f"{_DOCS}argparse.html", "argparse: Namespace"),
    Row(CLEAN, "it holds attributes and nothing else", "Python 3.3", f"{_DOCS}types.html", "types: SimpleNamespace"),
    Row(CLEAN, "it holds a text with places to fill in", "Python 2.4", f"{_DOCS}string.html", "string: Template"),
    Row(CLEAN, "it is a generator of random numbers and its state", "Python 2", f"{_DOCS}random.html", "random: Random"),
    Row(CLEAN, "it keeps text or bytes in memory", "Python 2.6", f"{_DOCS}io.html", "io: BytesIO StringIO _io: BytesIO StringIO"),
    Row(
        CLEAN,
        "it is a type hint",
        "Python 3.5",
        f"{_DOCS}typing.html",
        """
        typing: Any AnyStr Callable ClassVar DefaultDict Deque Dict FrozenSet Generic Iterable Iterator List Mapping MutableMapping
        MutableSequence NoReturn Optional Sequence Set Text Tuple Type TypeVar Union
        """,
    ),
    Row(CLEAN, "it is a type hint", "Python 3.8", f"{_DOCS}typing.html", "typing: Final Literal Protocol"),
    Row(CLEAN, "it is a type hint", "Python 3.9", f"{_DOCS}types.html", "types: GenericAlias typing: Annotated"),
    Row(CLEAN, "it is a type", "Python 3.10", f"{_DOCS}types.html", "types: EllipsisType NoneType NotImplementedType UnionType"),
    Row(
        CLEAN,
        "it is a constant or an empty class of dataclasses",
        "Python 3.7",
        f"{_DOCS}dataclasses.html",
        "dataclasses: MISSING _MISSING_TYPE",
    ),
    Row(CLEAN, "it is an element of a document", "Python 2.5", f"{_DOCS}xml.etree.elementtree.html", "xml.etree.ElementTree: Element"),
    Row(CLEAN, "it counts or repeats values", "Python 2.3", f"{_DOCS}itertools.html", "itertools: count repeat"),
)
# Not data alone and not danger alone: what people will ask about.
EXPLAINED = (
    Row(
        UNKNOWN,
        "it keeps a function and arguments for later: the function is named in the file and judged under its own name",
        "Python 2.5",
        f"{_DOCS}functools.html",
        "functools: partial _functools: partial",
    ),
    Row(
        UNKNOWN,
        "it calls a function for each element: the function is named in the file and judged under its own name",
        "Python 2",
        f"{_DOCS}functions.html",
        "builtins: all any enumerate filter iter map max min next reversed sorted sum zip itertools: accumulate chain starmap takewhile",
    ),
    Row(UNKNOWN, "it makes classes when it is given three arguments", "Python 2.2", f"{_DOCS}functions.html", "builtins: type"),
    Row(
        UNKNOWN,
        "it makes classes when it is given names, and a pickle may set any attribute of a class",
        "Python 3.4",
        f"{_DOCS}enum.html",
        "enum: Enum Flag IntEnum IntFlag",
    ),
    Row(
        UNKNOWN,
        "it is a type hint, and what a pickle sets on one is set on the class that it stands for",
        "Python 3.7",
        f"{_DOCS}typing.html",
        "typing: _GenericAlias _SpecialForm",
    ),
    Row(UNKNOWN, "it writes on the terminal", "Python 2", f"{_DOCS}functions.html", "builtins: print"),
    Row(UNKNOWN, "it wraps a function", "Python 2.2", f"{_DOCS}functions.html", "builtins: classmethod property staticmethod super"),
    Row(
        UNKNOWN,
        "it takes an element of any object, such as a table of functions",
        "Python 2.4",
        f"{_DOCS}operator.html",
        "operator: getitem itemgetter _operator: getitem itemgetter",
    ),
    Row(
        UNKNOWN,
        "it makes a class of validated names by evaluating text",
        "Python 2.6",
        f"{_DOCS}collections.html",
        "collections: namedtuple typing: NamedTuple NewType TypedDict",
    ),
    Row(UNKNOWN, "it calls a function when an object goes away", "Python 2.1", f"{_DOCS}weakref.html", "weakref: ref proxy finalize"),
    Row(
        UNKNOWN,
        "it reads the file of a time zone, by a checked name",
        "Python 3.9",
        f"{_DOCS}zoneinfo.html",
        "zoneinfo: ZoneInfo ZoneInfo._unpickle",
    ),
    Row(
        UNKNOWN,
        "it gives the logger of a name",
        "Python 2.3",
        f"{_DOCS}logging.html",
        "logging: getLogger Logger RootLogger LogRecord Formatter",
    ),
)
EXACT = (*DATA, *EXPLAINED)

BELOW = (
    Row(
        DANGEROUS,
        "it runs text or bytes as code",
        "Python 2",
        f"{_DOCS}functions.html",
        """
        builtins.eval builtins.exec builtins.compile builtins.execfile builtins.__build_class__ builtins.help builtins.input code
        codeop runpy timeit trace profile cProfile _lsprof hotshot pdb bdb cmd doctest rlcompleter _pyrepl compiler.compile
        compiler.compileFile parser.suite parser.expr parser.compilest parser.sequence2st parser.tuple2st symtable _symtable rexec
        Bastion user ast.parse dis tkinter Tkinter _tkinter turtle turtledemo idlelib lib2to3 unittest test.support test.libregrtest
        test.regrtest test.pythoninfo _testcapi _testinternalcapi _testlimitedcapi _testmultiphase _testclinic _testbuffer
        _xxsubinterpreters _xxinterpchannels _interpreters _interpchannels _interpqueues xxsubtype _ctypes_test gettext
        typing.get_type_hints typing.evaluate_forward_ref typing._eval_type typing.ForwardRef typing.get_annotations annotationlib
        dataclasses._create_fn dataclasses._FuncBuilder dataclasses.make_dataclass string.Formatter
        """,
    ),
    Row(
        DANGEROUS,
        "it starts programs",
        "Python 2",
        f"{_DOCS}subprocess.html",
        """
        subprocess commands.getoutput commands.getstatusoutput _posixsubprocess _winapi pty popen2 multiprocessing _multiprocessing
        _posixshmem concurrent.futures pipes webbrowser antigravity platform _aix_support _osx_support _bootsubprocess _ios_support
        _android_support _apple_support uuid.getnode uuid.uuid1 uuid._find_mac uuid._find_mac_near_keyword
        uuid._find_mac_under_heading uuid._get_command_stdout uuid._ifconfig_getter uuid._ip_getter uuid._arp_getter
        uuid._lanscan_getter uuid._netstat_getter uuid._ipconfig_getter uuid._popen uuid._netbios_getter uuid._unix_getter
        uuid._windll_getter uuid._find_mac_netstat uuid.main mailcap cgi CGIHTTPServer
        """,
    ),
    Row(
        DANGEROUS,
        "it belongs to the operating system: files, processes, the environment",
        "Python 2",
        f"{_DOCS}os.html",
        """
        os posix nt posixpath ntpath genericpath macpath os2emxpath ce riscos msvcrt fcntl mmap resource signal select selectors
        termios tty syslog pwd grp spwd crypt nis curses _curses _curses_panel readline winreg _winreg winsound msilib _msi _signal
        _overlapped _wmi posixfile _locale.setlocale locale.setlocale ossaudiodev faulthandler getpass
        """,
    ),
    Row(
        DANGEROUS,
        "it calls machine code, or reads and writes memory",
        "Python 2.5",
        f"{_DOCS}ctypes.html",
        "ctypes _ctypes dl",
    ),
    Row(
        DANGEROUS,
        "it imports modules, or finds code by its name",
        "Python 2",
        f"{_DOCS}importlib.html",
        """
        builtins.__import__ builtins.reload importlib importlib_metadata importlib_resources imp _imp _frozen_importlib
        _frozen_importlib_external pkgutil modulefinder zipimport zipapp ihooks imputil site sitecustomize usercustomize sysconfig
        _sysconfig _sysconfigdata pydoc pydoc_data linecache warnings._getcategory warnings._setoption warnings._processoptions pip
        setuptools pkg_resources distutils ensurepip venv _distutils_hack __hello__ __phello__ this codecs.lookup _codecs.lookup
        encodings.search_function optparse.OptionParser mimetypes logging.config xml.sax.make_parser
        xml.dom.domreg.getDOMImplementation
        """,
    ),
    Row(
        DANGEROUS,
        "it looks any attribute up, or changes it: what is reached that way is no longer named in the file",
        "Python 2",
        f"{_DOCS}functions.html",
        """
        builtins.getattr builtins.setattr builtins.delattr builtins.hasattr builtins.globals builtins.locals builtins.vars
        builtins.dir builtins.str.format builtins.str.format_map operator.attrgetter operator.methodcaller operator.call
        _operator.attrgetter _operator.methodcaller _operator.call inspect gc types.ModuleType types.prepare_class types.new_class
        types.resolve_bases copy._reconstruct reprlib.recursive_repr
        """,
    ),
    Row(
        DANGEROUS,
        "it calls the function that it is given with arguments that it is given",
        "Python 2",
        f"{_DOCS}functools.html",
        """
        functools.reduce _functools.reduce functools.partialmethod functools.cached_property functools.singledispatch
        functools.singledispatchmethod builtins.apply threading _thread thread dummy_threading _dummy_thread _threading_local
        _dummy_threading asyncio _asyncio atexit contextvars _contextvars contextlib.ExitStack contextlib.AsyncExitStack
        contextlib._BaseExitStack sched.scheduler.run
        """,
    ),
    Row(
        DANGEROUS,
        "it is code: a function, a method, a frame or what they are made of",
        "Python 2",
        f"{_DOCS}types.html",
        """
        types.CodeType types.FunctionType types.LambdaType types.MethodType types.BuiltinFunctionType types.BuiltinMethodType
        types.WrapperDescriptorType types.MethodWrapperType types.MethodDescriptorType types.ClassMethodDescriptorType
        types.GetSetDescriptorType types.MemberDescriptorType types.CellType types.GeneratorType types.CoroutineType
        types.AsyncGeneratorType types.FrameType types.TracebackType types.coroutine new.code new.function new.instancemethod
        new.module opcode
        """,
    ),
    Row(
        DANGEROUS,
        "it loads another pickle, or changes how pickles are loaded",
        "Python 2",
        f"{_DOCS}pickle.html",
        """
        pickle _pickle cPickle pickletools copyreg _compat_pickle shelve dbm anydbm dbhash whichdb dumbdbm gdbm _dbm _gdbm marshal pstats
        xdrlib logging.handlers
        """,
    ),
    Row(
        DANGEROUS,
        "it is a table by which Python finds codecs, and the modules of them",
        "Python 2",
        f"{_DOCS}codecs.html",
        "encodings._aliases encodings._cache encodings._unknown encodings.aliases",
    ),
    Row(
        DANGEROUS,
        "it reads the files that the text it is given names",
        "Python 2",
        f"{_DOCS}shlex.html",
        "shlex.shlex",
    ),
    Row(
        DANGEROUS,
        "it evaluates type hints that are text",
        "Python 3.7 (typing_extensions)",
        "https://typing-extensions.readthedocs.io/en/latest/#typing_extensions.get_type_hints",
        """
        typing_extensions.get_type_hints typing_extensions.evaluate_forward_ref typing_extensions._eval_with_owner
        typing_extensions.get_annotations typing_extensions.ForwardRef
        """,
    ),
    Row(
        DANGEROUS,
        "it opens files, to read or to write them",
        "Python 2",
        f"{_DOCS}io.html",
        """
        builtins.open builtins.file io _io _pyio codecs.open codecs.EncodedFile codecs.register _codecs.register shutil tempfile
        zipfile tarfile gzip bz2 lzma fileinput filecmp glob dircache tokenize.open tokenize.main sqlite3 _sqlite3 bsddb _bsddb
        pathlib logging.FileHandler logging.basicConfig argparse.FileType argparse.ArgumentParser configparser ConfigParser netrc
        wave aifc sunau sndhdr imghdr chunk uu binhex mailbox xml.etree.ElementTree xml.etree.cElementTree _elementtree xml.dom
        xml.sax xmllib py_compile compileall tabnanny json.tool tracemalloc _tracemalloc mhlib mimify contextlib.chdir
        plistlib.readPlist plistlib.writePlist
        """,
    ),
    Row(
        DANGEROUS,
        "it talks to the network",
        "Python 2",
        f"{_DOCS}internet.html",
        """
        socket _socket ssl _ssl http httplib urllib urllib2 robotparser smtplib smtpd ftplib poplib imaplib nntplib telnetlib xmlrpc
        xmlrpclib SimpleXMLRPCServer DocXMLRPCServer socketserver SocketServer BaseHTTPServer SimpleHTTPServer asyncore asynchat
        wsgiref cgitb
        """,
    ),
    Row(
        DANGEROUS,
        "it belongs to the running interpreter, and reaches every module of it",
        "Python 2",
        f"{_DOCS}sys.html",
        """
        sys builtins.breakpoint builtins.exit builtins.quit builtins.copyright builtins.credits builtins.license _sitebuiltins
        builtins.intern builtins.SystemExit builtins.KeyboardInterrupt builtins.GeneratorExit _warnings warnings.filterwarnings
        warnings.simplefilter warnings.resetwarnings warnings.catch_warnings
        """,
    ),
)
