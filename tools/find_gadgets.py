#!/usr/bin/env python3
"""Which functions and classes of a library run code, import, start programs, load pickles or open what their arguments say?

    python tools/find_gadgets.py SOURCES…              # folders of packages (site-packages/torch, lib/python3.13), or single modules
    python tools/find_gadgets.py --write TARGET SINCE LINK SOURCES…

reads the sources with ``ast`` (nothing is imported) and prints the dotted paths that no row of ``inert.policy`` has judged yet, by reason.
A function is told when it calls one of SINKS with an argument that is no constant, or when it hands arguments on to a function of its own
module that is told; a class is told when making, filling or calling one does so
(MADE has those that are told for calls alone). It is an aid: it sees neither calls through variables nor
across modules, and some of what it tells is harmless. ``--write`` makes TARGET (a ``src/inert/policy/…_found.py``); SINCE is like "Python
3.8 to 3.13". Rows written by hand come first and hide what lies beneath them.
"""

from __future__ import annotations

import argparse
import ast
import sys
import textwrap
import warnings
from collections import defaultdict
from pathlib import Path

from inert.policy import lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# What a name does, by its dotted path, or by that of a module or class above it.
SINKS = {
    "code": """
        builtins.eval builtins.exec runpy code.InteractiveInterpreter code.interact types.FunctionType types.CodeType torch.compile
    """,
    "import": """
        builtins.__import__ importlib.import_module importlib.util importlib.machinery importlib.reload imp pkgutil.resolve_name
        pydoc.locate pkgutil.get_loader torch.hub.load torch.ops.load_library
    """,
    "program": """
        os.system os.popen os.execl os.execle os.execlp os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle os.spawnlp
        os.spawnv os.spawnve os.spawnvp os.fork os.forkpty os.posix_spawn os.startfile subprocess _posixsubprocess pty commands popen2
        multiprocessing.Process asyncio.create_subprocess_exec asyncio.create_subprocess_shell
    """,
    "pickle": """
        pickle.load pickle.loads pickle.Unpickler _pickle.load _pickle.loads _pickle.Unpickler marshal.load marshal.loads cPickle.load
        cPickle.loads torch.load torch.jit.load torch.package numpy.load numpy.fromregex joblib.load cloudpickle.load cloudpickle.loads
        dill.load dill.loads shelve.open pandas.read_pickle pandas.read_hdf
    """,
    "machine": """
        ctypes.CDLL ctypes.PyDLL ctypes.WinDLL ctypes.OleDLL ctypes.cdll ctypes.windll ctypes.pydll ctypes.LibraryLoader
    """,
    "file": """
        builtins.open io.open io.open_code io.FileIO _io.open _io.FileIO codecs.open os.open os.remove os.unlink os.rename os.replace
        os.mkdir os.makedirs os.rmdir os.removedirs os.chmod os.chown os.link os.symlink os.truncate os.kill shutil tempfile.mkdtemp
        tempfile.mkstemp tempfile.NamedTemporaryFile zipfile.ZipFile tarfile.open tarfile.TarFile gzip.open bz2.open lzma.open
        gzip.GzipFile sqlite3.connect dbm.open tokenize.open linecache.getlines linecache.getline numpy.fromfile numpy.memmap
        numpy.loadtxt numpy.genfromtxt numpy.save numpy.savez numpy.savetxt torch.save fsspec.open fsspec.filesystem
        xml.etree.ElementTree.parse
    """,
    "network": """
        socket.socket socket.create_connection socket.create_server urllib.request.urlopen urllib.request.urlretrieve
        urllib.request.build_opener http.client.HTTPConnection http.client.HTTPSConnection requests httpx aiohttp ftplib.FTP
        smtplib.SMTP urllib.urlopen urllib2.urlopen ssl.get_server_certificate webbrowser.open huggingface_hub.hf_hub_download
        huggingface_hub.snapshot_download torch.distributed.init_process_group
    """,
}
WHY = {
    "code": "it runs code that is text, or made of its arguments",
    "import": "it imports a module by its name",
    "program": "it starts programs",
    "pickle": "it loads another pickle",
    "machine": "it loads machine code",
    "file": "it opens or changes files that its arguments name",
    "network": "it talks to the network",
}
FILLS = "it is a class whose constructor is dangerous to call; the pickle only makes and fills its objects"
ORDER = list(SINKS)
KIND = {path: kind for kind, paths in SINKS.items() for path in paths.split()}
CALLED = ("__init__", "__call__", "__post_init__")  # what calling a class or an object of it runs
FILLED = (  # what making an object without a call, filling it and dropping it runs
    *("__new__", "__setstate__", "__del__", "__setattr__", "__getattr__", "__getattribute__", "__hash__", "__eq__"),
    *("__setitem__", "append", "extend", "add"),
)
BUILTINS = {path.split(".")[1] for path in KIND if path.startswith("builtins.")}
INDENT = " " * 8
WHOLE: dict[str, Any] = {"break_on_hyphens": False, "break_long_words": False}
SKIPPED = {"tests", "test", "testing_tests", "__pycache__", "site-packages"}


class Module:
    """One source file: what its names stand for, and which of its functions are told, and why."""

    def __init__(self, name: str, tree: ast.Module, package: bool) -> None:
        self.name = name
        self.package = package
        self.alias = {name: f"builtins.{name}" for name in BUILTINS}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.classes: set[str] = set()
        self.told: dict[str, str] = {}
        self.filled: set[str] = set()  # classes that are told for what filling their objects does
        self.bases: dict[str, list[str]] = {}
        for node in ast.walk(tree):
            self.imports(node)
        self.collect(tree.body, "")
        self.judge()

    def imports(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for row in node.names:
                self.alias[row.asname or row.name.split(".")[0]] = row.name if row.asname else row.name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = self.name.split(".")
                above = above[: len(above) - node.level + self.package]
                base = ".".join((*above, base)).strip(".")
            for row in node.names:
                self.alias[row.asname or row.name] = f"{base}.{row.name}"

    def collect(self, body: list[ast.stmt], above: str) -> None:
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions[above + node.name] = node
            elif isinstance(node, ast.ClassDef):
                self.classes.add(above + node.name)
                self.bases[above + node.name] = [base.id for base in node.bases if isinstance(base, ast.Name)]
                self.collect(node.body, f"{above}{node.name}.")
            elif isinstance(node, (ast.If, ast.Try, ast.With)):
                for part in ("body", "orelse", "finalbody"):
                    self.collect(getattr(node, part, []), above)
                for handler in getattr(node, "handlers", []):
                    self.collect(handler.body, above)

    def path(self, node: ast.expr, owner: str) -> str:
        """Dotted path of what is called; "" where it is neither a name nor an attribute of one."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        first = node.id
        if first in ("self", "cls") and owner and len(parts) == 1:
            return f"{self.name}.{owner}{parts[0]}"
        if first not in self.alias:
            return ".".join((self.name, first, *reversed(parts)))
        return ".".join((self.alias[first], *reversed(parts)))

    def kind(self, path: str) -> str:
        own = path.removeprefix(f"{self.name}.")
        if own != path and own in self.told:
            return self.told[own]
        while path:
            if path in KIND:
                return KIND[path]
            path = path.rpartition(".")[0]
        return ""

    def found(self, function: ast.AST, owner: str) -> str:
        """The worst kind of what a function calls with arguments of its own."""
        kinds = []
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or not (node.args or node.keywords):
                continue
            first = node.args[0] if node.args else node.keywords[0].value
            if isinstance(first, (ast.Constant, ast.List)) and all(isinstance(item, ast.Constant) for item in getattr(first, "elts", ())):
                continue
            kind = self.kind(self.path(node.func, owner))
            if kind:
                kinds.append(kind)
        return min(kinds, key=ORDER.index, default="")

    def judge(self) -> None:
        for _ in range(4):  # calls within the module, a few deep
            before = dict(self.told)
            for name, function in self.functions.items():
                kind = self.found(function, name.rpartition(".")[0] + "." if "." in name else "")
                if kind:
                    self.told[name] = kind
            for name in self.classes:
                self.look_at(name)
            if self.told == before:
                return

    def look_at(self, name: str) -> None:
        """A class is told for its own methods, or for those that it has from a class of its module."""
        lines = [name, *self.bases[name]]
        kinds = [self.told[f"{line}.{method}"] for line in lines for method in CALLED + FILLED if f"{line}.{method}" in self.told]
        kinds += [self.told[base] for base in self.bases[name] if base in self.told]
        if kinds:
            self.told[name] = min(kinds, key=ORDER.index)
        if any(f"{line}.{method}" in self.told for line in lines for method in FILLED) or not self.filled.isdisjoint(self.bases[name]):
            self.filled.add(name)


def sources(root: Path) -> Iterator[tuple[str, Path, bool]]:
    """Module name, file, and whether it is a package's ``__init__``."""
    if root.is_file():
        yield root.stem, root, False
        return
    base = root.parent if (root / "__init__.py").is_file() else root
    for file in sorted(root.rglob("*.py")):
        parts = file.relative_to(base).with_suffix("").parts
        if SKIPPED.isdisjoint(parts) and all(part.isidentifier() for part in parts):
            package = parts[-1] == "__init__"
            yield ".".join(parts[:-1] if package else parts), file, package


def look(roots: list[Path]) -> tuple[dict[str, set[str]], set[tuple[str, str]]]:
    """Paths that are told, by kind; classes of these that only a call makes dangerous, as (module, name)."""
    told: dict[str, set[str]] = defaultdict(set)
    called: set[tuple[str, str]] = set()
    filled: set[tuple[str, str]] = set()
    for root in roots:
        for name, file, package in sources(root):
            try:
                with warnings.catch_warnings(action="ignore"):
                    tree = ast.parse(file.read_bytes())
            except SyntaxError as fault:
                print(f"{file}: {fault}", file=sys.stderr)
                continue
            module = Module(name, tree, package)
            for own, kind in module.told.items():
                told[kind].add(f"{name}.{own}")
                if own in module.classes:
                    (filled if own in module.filled else called).add((name, own))
    return told, called - filled


def new(told: dict[str, set[str]]) -> dict[str, list[str]]:
    """Those that are neither judged by hand nor beneath another of them, the worst kind first."""
    hand = {path for row in lookup.HAND for path in row.below()}
    data = {".".join(pair) for pair in lookup.NAMED}
    done: set[str] = set()
    kept: dict[str, list[str]] = {}
    for kind in ORDER:
        fresh = []
        for path in sorted(told.get(kind, ()), key=lambda path: (path.count("."), path)):
            parts = path.split(".")
            above = {".".join(parts[:length]) for length in range(1, len(parts) + 1)}
            if above.isdisjoint(hand) and above.isdisjoint(done) and above.isdisjoint(data):
                done.add(path)
                fresh.append(path)
        kept[kind] = sorted(fresh)
    return kept


def only_called(kept: dict[str, list[str]], called: set[tuple[str, str]]) -> str:
    """The classes among ``kept`` that are no danger until they are called, in the words of Row.exact."""
    fresh = {path for paths in kept.values() for path in paths}
    modules = defaultdict(list)
    for module, name in sorted(called):
        if f"{module}.{name}" in fresh:
            modules[module].append(name)
    return " ".join(f"{module}: {' '.join(names)}" for module, names in modules.items())


def wrapped(names: str) -> str:
    return textwrap.fill(names, 136, initial_indent=INDENT, subsequent_indent=INDENT, **WHOLE)


def written(kept: dict[str, list[str]], since: str, link: str) -> str:
    rows = []
    for kind, paths in kept.items():
        if paths:
            names = wrapped(" ".join(paths))
            rows.append(f'    Row(\n        DANGEROUS,\n        "{WHY[kind]}",\n        "{since}",\n        "{link}",')
            rows.append(f'        """\n{names}\n        """,\n    ),')
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", nargs=3, metavar=("TARGET", "SINCE", "LINK"), help="a module of inert.policy to make")
    parser.add_argument("sources", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    told, called = look(options.sources)
    kept = new(told)
    if options.write:
        target, since, link = options.write
        Path(target).write_text(
            f'"""Functions that run code, import, start programs, load pickles, open files or connections, as {since} has them.\n\n'
            "Knows: what tools/find_gadgets.py read from the sources; it made this file.\nRefuses to know: what rows written by hand have "
            'judged.\n"""\n\nfrom __future__ import annotations\n\nfrom .rows import DANGEROUS, UNKNOWN, Row\n\n'
            f"BELOW: tuple[Row, ...] = (\n{written(kept, since, link)}\n)\n"
            "# Classes of these that do so when they are called: a pickle that only makes and fills their objects does not.\n"
            f'MADE = (Row(UNKNOWN, "{FILLS}", "{since}", "{link}", """\n{wrapped(only_called(kept, called))}\n"""),)\n',
            encoding="utf-8",
        )
        return 0
    for kind, paths in kept.items():
        print(f"\n{kind}: {WHY[kind]} ({len(paths)})")
        print(textwrap.fill(" ".join(paths), 140, **WHOLE))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
