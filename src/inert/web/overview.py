"""The page's first answers: the files, what one of them is, what is in it by module, and whether it is safe.

Knows: which reports make an overview. Refuses to know: how they are worked out.
"""

from __future__ import annotations

import os
from importlib.metadata import version

from ..report.about import info
from ..report.listing import modules
from ..report.plain import printable
from .exact import exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .answers import Words
    from .opened import Opened

CHILDREN = 60  # modules of one module that are given by name; the smallest are summed up
NODES = 1500  # of the whole tree
OPTIMIZERS = ("optimizer", "optim", "exp_avg", "exp_avg_sq", "momentum_buffer", "adam", "slot")
AVERAGES = ("ema", "shadow", "averaged", "swa")


def listing(opened: Sequence[Opened]) -> dict[str, Any]:
    """Every file with what is known at once: its name, size and format, or why it was refused."""
    return {"version": version("inert"), "files": [_file(one) for one in opened]}


def _file(opened: Opened) -> dict[str, Any]:
    made: dict[str, Any] = {
        "index": opened.index,
        "name": printable(os.path.basename(opened.path) or opened.path),
        "path": printable(opened.path),
    }
    if opened.refusal is not None:
        return {**made, "size": opened.size, "format": "", "refused": printable(str(opened.refusal))}
    return {**made, "size": opened.size, "format": opened.checkpoint.format}


def _report(opened: Opened) -> dict[str, Any]:
    made: dict[str, Any] = opened.once("info", lambda: _told(info(opened.checkpoint)))
    return made


def _told(report: dict[str, Any]) -> dict[str, Any]:
    """The report with what the file itself says, which may hold any integer, as a browser can hold it."""
    return {**report, **{key: exact(report[key]) for key in ("facts", "hyper_parameters") if key in report}}


def overview(opened: Opened, words: Words) -> dict[str, Any]:
    """``info`` as ``inert info`` has it, ``tree`` of modules by bytes, ``shares``: bytes of weights, optimizer, averages."""
    report = _report(opened)
    return {"info": report, "tree": opened.once("tree", lambda: _tree(opened)), "shares": _shares(report)}


def _tree(opened: Opened) -> dict[str, Any]:
    """Modules by bytes, cut to NODES: what is left out of a module is summed up in a last child named "…"."""
    root = modules(opened.tensors, sizes=True)
    made = _leaf(root, os.path.basename(opened.path))
    todo = [(root, made)]
    left = NODES
    while todo:
        wide: list[tuple[dict[str, Any], dict[str, Any]]] = []
        for node, copy in todo:
            inside = sorted([*node["children"], *map(_single, node["leaves"])], key=lambda one: -one["nbytes"])
            shown = inside[: min(CHILDREN, max(0, left))]
            left -= len(shown)
            pairs = [(one, _leaf(one, one["name"])) for one in shown]
            copy["children"] = [leaf for _, leaf in pairs]
            rest = inside[len(shown) :]
            if rest and shown:
                nbytes, tensors = (sum(one[key] for one in rest) for key in ("nbytes", "tensors"))
                copy["children"].append({"name": "…", "nbytes": nbytes, "tensors": tensors, "children": []})
            wide += [pair for pair in pairs if pair[0]["children"] or pair[0]["leaves"]]
        todo = wide if left > 0 else []
    return made


def _single(leaf: Any) -> dict[str, Any]:
    """A tensor that lies in a module itself, as a module of its own."""
    return {"name": leaf["name"], "nbytes": leaf["nbytes"], "tensors": 1, "children": [], "leaves": []}


def _leaf(node: dict[str, Any], name: str) -> dict[str, Any]:
    return {"name": printable(name), "nbytes": node["nbytes"], "tensors": node["tensors"], "children": []}


def _shares(report: dict[str, Any]) -> dict[str, int]:
    """Bytes by use, told by the names of the sections; of TensorFlow's, whose slots lie beside their variables, by the roles."""
    found = {"weights": 0, "optimizer": 0, "averages": 0, "object graph": 0}
    for section in report["sections"]:
        found[_use(section["key"].lower())] += section["nbytes"]
    slots = report["facts"].get("optimizer") if report["format"].startswith("tf-") else None
    if isinstance(slots, dict) and isinstance(slots.get("nbytes"), int):
        moved = min(slots["nbytes"] - found["optimizer"], found["weights"])
        found["weights"] -= moved
        found["optimizer"] += moved
    return found


def _use(name: str) -> str:
    if name == "_checkpointable_object_graph":
        return "object graph"
    if any(word in name for word in OPTIMIZERS):
        return "optimizer"
    return "averages" if set(name.replace("-", "_").split("_")) & set(AVERAGES) else "weights"


def scan(opened: Opened, words: Words) -> dict[str, Any]:
    """What ``inert scan`` says of the file."""
    from ..ops.scan import scan as scanned
    from ..report.scan import report

    made: dict[str, Any] = opened.once("scan", lambda: report(scanned(opened.path)))
    return made
