#!/usr/bin/env python3
"""Which names of installed libraries are the same object as a name that is judged dangerous?

    python tools/find_aliases.py SINCE LINK MODULES…           # such as: "torch 2.13" https://… torch numpy
    python tools/find_aliases.py --write TARGET SINCE LINK MODULES…

imports the modules, and what lies in them, in a process of its own that is only good for that, goes through everything that they hold, and
compares objects by identity: functions, classes and modules. What has a name that the hand-made tables, or the
tables that tools/find_gadgets.py made, call dangerous is dangerous by each of its names. ``--write`` makes TARGET
(``src/inert/policy/aliases_found.py``). Names that a table calls clean are told on stderr and left out: one of the two judgements is wrong.

It runs the code of the libraries that it imports, as importing them does. Run it with the Python that has them: inert needs NumPy only.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
import textwrap
import types
import warnings
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from inert.policy import CLEAN, DANGEROUS, aliases_found, judge, lookup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from inert.policy import Judgement

STARTS = ("__main__", "antigravity", "idlelib", "lib2to3", "test", "tests", "testing", "this", "tkinter", "turtle", "turtledemo")
INDENT = " " * 8


def load(roots: Iterable[str]) -> None:
    """Import modules and everything in them that can be."""
    for root in roots:
        module = _import(root)
        for info in pkgutil.walk_packages(getattr(module, "__path__", None) or [], f"{root}.", onerror=lambda name: None):
            if not any(part in STARTS or part.startswith("_test") for part in info.name.split(".")):
                _import(info.name)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except BaseException:  # whatever a library's module does where something is missing
        return None


def names(roots: Iterable[str]) -> Iterator[tuple[str, str, Any]]:
    """(module, name, object) of all that the modules beneath some roots hold."""
    tops = frozenset(roots)
    for module in sorted(sys.modules):
        held = vars(sys.modules[module]) if module.split(".")[0] in tops and hasattr(sys.modules[module], "__dict__") else {}
        for name in sorted(filter(str.isidentifier, map(str, held))):
            value = held.get(name)
            if callable(value) or isinstance(value, types.ModuleType):
                yield module, name, value


def found(roots: Iterable[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Names beneath ``roots`` that are in no table, by the reason of the dangerous one; names that are clean in one."""
    objects: dict[int, list[tuple[str, str]]] = defaultdict(list)
    values: dict[int, Any] = {}
    for module, name, value in names(roots):
        values[id(value)] = value
        objects[id(value)].append((module, name))
    reasons: dict[str, str] = {}
    odd = []
    for key, pairs in objects.items():
        why = _of_its_own(values[key]) or next((said for said in map(_listed, pairs) if said), "")
        for module, name in pairs if why else ():
            verdict = judge(module, name).verdict
            if verdict == CLEAN:
                odd.append(f"{module}.{name}: {why}")
            elif verdict != DANGEROUS and (module, name) not in lookup.NAMED:
                reasons.setdefault(f"{module}.{name}", why)
    fresh: dict[str, list[str]] = defaultdict(list)
    for path, why in sorted(reasons.items()):
        fresh[why].append(path)
    return dict(sorted(fresh.items())), odd


def _of_its_own(value: Any) -> str:
    """Why an object is dangerous by the name that it has itself; "" where it is not. What a dangerous module has from elsewhere is not."""
    if isinstance(value, types.ModuleType):
        return _why(lookup.beneath(value.__name__))
    try:
        home, name = value.__module__, value.__qualname__
    except Exception:  # whatever an object does that is asked for what it has not
        return ""
    if not isinstance(home, str) or not isinstance(name, str) or (home, name) in lookup.NAMED:
        return ""
    return _why(lookup.beneath(f"{home}.{name}"))


def _listed(pair: tuple[str, str]) -> str:
    """Why a name that is listed itself is dangerous; "" where it only lies beneath one that is."""
    return _why(lookup.BENEATH.get(".".join(pair)))


def _why(listed: Judgement | None) -> str:
    return listed.why if listed is not None and listed.verdict == DANGEROUS else ""


def outermost(fresh: dict[str, list[str]]) -> dict[str, list[str]]:
    """Without those that lie beneath another one."""
    every = {path for paths in fresh.values() for path in paths}
    return {
        why: kept
        for why, paths in fresh.items()
        if (kept := [path for path in paths if every.isdisjoint(path.rsplit(".", up)[0] for up in range(1, path.count(".") + 1))])
    }


def written(fresh: dict[str, list[str]], since: str, link: str) -> str:
    rows = []
    for why, paths in fresh.items():
        text = textwrap.fill(
            " ".join(paths), 136, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False, break_long_words=False
        )
        rows.append(f'    Row(\n        DANGEROUS,\n        "{why}",\n        "{since}",\n        "{link}",')
        rows.append(f'        """\n{text}\n        """,\n    ),')
    return "\n".join(rows)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", metavar="TARGET", help="a module of inert.policy to make")
    parser.add_argument("since")
    parser.add_argument("link")
    parser.add_argument("modules", nargs="+", help='"std" stands for all of the standard library')
    options = parser.parse_args(arguments)
    known = {path for row in aliases_found.BELOW for path in row.below()}  # what this tool found before is no reason to keep it
    for path in known - {path for row in lookup.BELOW if row not in aliases_found.BELOW for path in row.below()}:
        del lookup.BENEATH[path]
    lookup._look_up.cache_clear()
    warnings.simplefilter("ignore")
    roots = [name for name in options.modules if name != "std"]
    roots += [name for name in sorted(sys.stdlib_module_names) if name not in STARTS] if "std" in options.modules else []
    load(roots)
    fresh, odd = found(roots)
    fresh = outermost(fresh)
    print(*odd, sep="\n", file=sys.stderr)
    if options.write:
        Path(options.write).write_text(
            f'"""Other names of what is dangerous: the same objects in {options.since}.\n\n'
            "Knows: what tools/find_aliases.py found by identity in the imported libraries; it made this file.\nRefuses to know: what "
            'other tables have judged.\n"""\n\nfrom __future__ import annotations\n\nfrom .rows import DANGEROUS, Row\n\n'
            f"BELOW: tuple[Row, ...] = (\n{written(fresh, options.since, options.link)}\n)\n",
            encoding="utf-8",
        )
        return 0
    for why, paths in fresh.items():
        print(f"\n{why} ({len(paths)})")
        print(textwrap.fill(" ".join(paths), 140, break_on_hyphens=False, break_long_words=False))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
