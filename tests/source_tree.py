"""The source tree as text: which module imports what, read with ``ast``; nothing is imported to find out.

Knows: how an import statement, relative or not, at the top or in a function, names its module.
Refuses to know: which imports are allowed; test_layers.py and test_inertness.py judge them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "src" / "inert"


@dataclass(frozen=True, slots=True)
class Import:
    """``module`` imports ``target`` (dotted, absolute) on ``line`` of ``file``, inside ``function`` ("" at the top)."""

    module: str
    target: str
    file: Path
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line}: {self.module} imports {self.target}"


def modules(root: Path = SOURCE) -> dict[str, Path]:
    """Dotted name → file, for every module under ``root``, which is a package's folder. The package itself is ``root.name``."""
    found = {}
    for file in sorted(root.rglob("*.py")):
        parts = [root.name, *file.relative_to(root).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def imports(root: Path = SOURCE) -> list[Import]:
    """Every import of every module under ``root``; ``from a import b`` means ``a.b`` where that is a module, else ``a``."""
    return _own() if root == SOURCE else _all(root)


@cache
def _own() -> list[Import]:
    return _all(SOURCE)


def _all(root: Path) -> list[Import]:
    tree = modules(root)
    names = set(tree)
    for name in tree:  # a folder without __init__.py is a package too
        while "." in name:
            name = name.rpartition(".")[0]
            names.add(name)
    return [found for module, file in tree.items() for found in _imports_of(module, file, names)]


def _imports_of(module: str, file: Path, names: set[str]) -> list[Import]:
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    found = []
    for node, function in _walk(parse(file), ""):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            targets = [full if (full := f"{base}.{alias.name}") in names else base for alias in node.names]
        else:
            continue
        found += [Import(module, target, file, node.lineno, function) for target in dict.fromkeys(targets)]
    return sorted(found, key=lambda found: found.line)


def _base(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join([*parts, node.module] if node.module else parts)


def _walk(node: ast.AST, function: str) -> list[tuple[ast.AST, str]]:
    """Every node below ``node`` with the name of the innermost function around it."""
    found, todo = [], [(node, function)]
    while todo:
        node, function = todo.pop()
        found.append((node, function))
        inner = node.name if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        todo += [(child, inner) for child in ast.iter_child_nodes(node)]
    return found
