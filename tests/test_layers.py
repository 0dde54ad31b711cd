"""Law 4: lower layers do not know upper ones. The imports are read from the source; the table below is the law.

An import inside a function or under TYPE_CHECKING counts like any other: to name a type is to know it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.source_tree import REPOSITORY, SOURCE, imports, modules, parse


@dataclass(frozen=True, slots=True)
class Layer:
    """``names``: modules and packages right under inert, which may import each other and lower layers. ``rule``: why no more."""

    names: tuple[str, ...]
    rule: str


# Lowest first. A new module right under inert gets its place here.
LAYERS = (
    Layer(("errors", "limits", "finding", "words"), "errors, limits and findings are words for everybody and know nothing else of inert"),
    Layer(
        ("source", "files", "beside", "scratch", "sink", "inflate", "checking"),
        "source, sink and inflate move bytes; what the bytes mean is for the layers above",
    ),
    Layer(("dtypes",), "the dtype table holds facts about numbers; it knows no tensor, container or format"),
    Layer(("containers", "pickle"), "containers give Spans and the pickle machine gives nodes; neither knows what a tensor is"),
    Layer(
        ("layout", "tensor", "arrays", "casts", "interop", "tiled", "widened", "memory", "notebook"),
        "a tensor is elements over Spans; which program wrote it is for torch and tensorflow to know",
    ),
    Layer(("torch", "tensorflow"), "torch and tensorflow make values of nodes and Spans; they know no Checkpoint and no format"),
    Layer(("names",), "names walk the values of a root; they know no Checkpoint"),
    Layer(("checkpoint", "content", "index"), "a Checkpoint holds what was read; it knows neither profiles nor the formats that fill it"),
    Layer(("profiles",), "profiles look at a Checkpoint's keys; they know no format"),
    Layer(("formats", "writers"), "a format claims and reads, a writer plans; operations use both and are never used by them"),
    Layer(("salvage",), "salvage reads what an ordinary reader refuses, and knows these; nothing that reads or writes knows it"),
    Layer(("reading", "loading", "saving"), "reading opens a source by the registry, saving writes by the other; they know no operation"),
    Layer(("ops", "policy", "stats"), "operations give results; how these are laid out is for report, how they are shown for cli and web"),
    Layer(("report",), "report turns results into plain dicts; it knows no command line and no page"),
    Layer(("cli", "web"), "cli and web are thin faces over the submodules; the public names are for the users of inert"),
    Layer(("__init__", "__main__"), ""),
)
LEVEL = {name: level for level, layer in enumerate(LAYERS) for name in layer.names}


def layer_name(module: str) -> str:
    """``inert.torch.rebuild`` → ``torch``; ``inert`` itself → ``__init__``."""
    return module.split(".")[1] if "." in module else "__init__"


def unplaced(root: Path = SOURCE) -> list[str]:
    return [
        f"{module} is in no layer: give {layer_name(module)!r} its place in LAYERS of tests/test_layers.py"
        for module in modules(root)
        if layer_name(module) not in LEVEL
    ]


def climbs(layer: Layer, root: Path = SOURCE) -> list[str]:
    """Imports of an upper layer by a module of ``layer``."""
    level = LAYERS.index(layer)
    return [
        f"{found}: {layer.rule}"
        for found in imports(root)
        if layer_name(found.module) in layer.names
        and found.target.startswith(f"{root.name}.")
        and LEVEL.get(layer_name(found.target), -1) > level
    ]


def borrowed(root: Path = SOURCE) -> list[str]:
    """Imports of the public names by inert's own modules."""
    return [
        f"{found}: inside inert a name is imported from the submodule that defines it, never from the package itself"
        for found in imports(root)
        if found.target == root.name
    ]


def prints(root: Path = SOURCE) -> list[str]:
    return [
        f"{file.name}:{node.lineno}: {module} names print: only cli prints; return the text, or note a Finding"
        for module, file in modules(root).items()
        if layer_name(module) != "cli"
        for node in ast.walk(parse(file))
        if isinstance(node, ast.Name) and node.id == "print"
    ]


def told(faults: list[str]) -> str:
    return "\n" + "\n".join(faults)


def test_every_module_is_in_a_layer() -> None:
    assert not (faults := unplaced()), told(faults)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: "+".join(layer.names))
def test_no_layer_imports_an_upper_one(layer: Layer) -> None:
    assert not (faults := climbs(layer)), told(faults)


def test_nothing_inside_imports_the_public_names() -> None:
    assert not (faults := borrowed()), told(faults)


def test_only_cli_prints() -> None:
    assert not (faults := prints()), told(faults)


# ------------------------------------------------------------------------------------------------- the rules do catch something


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "inert"
    for folder in ("torch", "formats", "cli", "containers"):
        (root / folder).mkdir(parents=True)
    (root / "__init__.py").write_text("from .formats import FORMATS\nfrom . import source\n")
    (root / "source.py").write_text("def f():\n    from .tensor import Tensor\n    return Tensor\n")
    (root / "tensor.py").write_text("import inert.source\nfrom . import dtypes\nfrom inert.torch import rebuild\n")
    (root / "dtypes.py").write_text("")
    (root / "torch" / "rebuild.py").write_text("from .. import tensor, load\nfrom ..formats import FORMATS\n")
    (root / "formats" / "__init__.py").write_text("FORMATS = ()\nfrom ..torch import rebuild\n")
    (root / "containers" / "zip.py").write_text("import zipfile, pickle, torch\nshow = print\n")
    (root / "cli" / "__init__.py").write_text("import inert.formats\nprint(1)\n")
    (root / "stray.py").write_text("")
    return root


def test_a_climb_is_caught_at_the_top_and_in_a_function_relative_or_not(tree: Path) -> None:
    faults = [fault for layer in LAYERS for fault in climbs(layer, tree)]
    assert [fault.partition(": ")[2].partition(":")[0] for fault in faults] == [
        "inert.source imports inert.tensor",
        "inert.tensor imports inert.torch.rebuild",
        "inert.torch.rebuild imports inert.formats",
    ]
    assert "source, sink and inflate move bytes" in faults[0]


def test_a_borrowed_public_name_is_caught(tree: Path) -> None:
    assert [fault.split(":")[0] for fault in borrowed(tree)] == ["rebuild.py"]


def test_a_print_outside_cli_is_caught(tree: Path) -> None:
    assert [fault.split(":")[0] for fault in prints(tree)] == ["zip.py"]


def test_a_module_without_a_layer_is_caught(tree: Path) -> None:
    assert unplaced(tree) == ["inert.stray is in no layer: give 'stray' its place in LAYERS of tests/test_layers.py"]


def test_an_empty_tree_breaks_no_rule(tmp_path: Path) -> None:
    (tmp_path / "inert").mkdir()
    root = tmp_path / "inert"
    assert not [*unplaced(root), *borrowed(root), *prints(root), *(f for layer in LAYERS for f in climbs(layer, root))]


def test_the_architecture_names_every_module_and_package_right_under_inert() -> None:
    text = (REPOSITORY / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = [line for line in text.splitlines() if line.startswith("|")]
    missing = [
        name
        for layer in LAYERS
        for name in layer.names
        if name[0] != "_" and not any(f"{name}.py" in line or f"`{name}/" in line for line in table)
    ]
    assert not missing, f"the table of ARCHITECTURE.md does not name {missing}"
