"""Run by test_inertness.py in a process of its own: reads hostile files under an audit hook and reports what else happened.

Usage: audit_child.py JOB REPORT. JOB is {"preload": [modules], "targets": [{"path", "files", "folders"}]}; REPORT gets
{"opened": count, "hashed": count, "faults": ["file: sentence", …]}.

1. Everything that inert's own source imports is imported, so that whatever comes later was asked for by a file.
2. The hook goes in, and every file is read once, warm: imports of further parts of these packages are let pass, no other import,
   and no event that runs, writes or reaches anything.
3. Every file is read again, strictly: opening that very file for reading, the map and ``id()`` are all that may happen.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

STRICT = {"mmap.__new__", "builtins.id"}
WARM = STRICT | {"exec", "compile", "marshal.loads", "object.__getattr__", "sys._getframe", "os.listdir", "os.scandir"}
NODES = ("inert.pickle", "inert.torch", "inert.tensorflow")  # where the classes of a saved object's nodes are defined
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Watch:
    """The hook: while ``target`` is set, each event that ``events`` does not permit becomes a fault, said once."""

    def __init__(self) -> None:
        self.target: dict[str, Any] | None = None
        self.events: set[str] = set()
        self.packages: set[str] = set()
        self.faults: dict[str, None] = {}

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if self.target is not None and event not in self.events and not self.permits(event, args):
            self.fault(f"event {event} with {_shown(args)}")

    def permits(self, event: str, args: tuple[Any, ...]) -> bool:
        assert self.target is not None
        warm = self.events is WARM
        if event == "open":
            path, flags = args[0], args[2]
            if not isinstance(path, (str, bytes, os.PathLike)) or (isinstance(flags, int) and flags & WRITES):
                return False
            path = os.path.abspath(os.fsdecode(path))
            return path in self.target["files"] or (warm and any(path.startswith(folder) for folder in sys.path if folder))
        if event in ("os.listdir", "os.scandir"):
            return isinstance(args[0], (str, os.PathLike)) and os.path.abspath(os.fspath(args[0])) in self.target["folders"]
        if event == "import":
            return warm and str(args[0]).partition(".")[0] in self.packages
        return False

    def fault(self, sentence: str) -> None:
        assert self.target is not None
        when = "first reading" if self.events is WARM else "second reading"
        self.faults[f"{self.target['path']}: {sentence} ({when})"] = None


def _shown(args: tuple[Any, ...]) -> str:
    return ", ".join(repr(a)[:120] if isinstance(a, (str, bytes, int, list, tuple, type(None))) else f"<{type(a).__name__}>" for a in args)


class Counts:
    opened = hashed = scanned = 0


def examine(inert: Any, path: str, counts: Counts) -> None:
    """What a user would do to look a file over. A refusal is an answer; any other exception is the caller's to report."""
    try:
        with inert.open(path) as ckpt:
            counts.opened += 1
            for name in ckpt.tensors:
                try:
                    ckpt.tensors[name].sha256()
                    counts.hashed += 1
                except inert.InertError as error:
                    str(error)
            try:
                walk(ckpt.root)
            except inert.InertError as error:
                str(error)
            for note in ckpt.notes:
                str(note)
    except inert.InertError as error:
        str(error)
    except IsADirectoryError:
        if not os.path.isdir(path):
            raise
    try:
        inert.scan(path)
        counts.scanned += 1
    except inert.InertError as error:
        str(error)


def walk(root: Any) -> None:
    """Touch every value under ``root``: containers by their items, inert's nodes by their fields; tensors are hashed instead."""
    seen: set[int] = set()
    todo = [root]
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, (str, bytes, bytearray, int, float, complex, type(None))):
            continue
        seen.add(id(value))
        if hasattr(value, "items") and hasattr(value, "keys"):
            todo += [part for pair in value.items() for part in pair]
        elif isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ == "deque":
            todo += list(value)
        elif type(value).__module__.startswith(NODES) and not hasattr(value, "sha256"):
            todo += [getattr(value, field) for kind in type(value).__mro__ for field in _slots(kind) if hasattr(value, field)]
            todo += list(getattr(value, "__dict__", {}).values())


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def main() -> None:
    job_path, report_path = sys.argv[1:]
    with open(job_path, encoding="utf-8") as file:
        job = json.load(file)
    del sys.path[0]  # this script's folder: nothing may be imported from it
    for name in job["preload"]:
        try:
            importlib.import_module(name)
        except ImportError:
            if name.startswith("inert"):
                raise
    inert: Any = importlib.import_module("inert")
    assert inert.open, inert.InertError

    watch, counts = Watch(), Counts()
    watch.packages = {name.partition(".")[0] for name in sys.modules}
    sys.addaudithook(watch)
    for watch.events in (WARM, STRICT):
        counts.opened = counts.hashed = counts.scanned = 0
        for target in job["targets"]:
            watch.target = target
            try:
                examine(inert, target["path"], counts)
            except Exception as error:
                watch.fault(f"{type(error).__name__} instead of an InertError: {error}")
            watch.target = None

    with open(report_path, "w", encoding="utf-8") as file:
        json.dump({"opened": counts.opened, "hashed": counts.hashed, "scanned": counts.scanned, "faults": list(watch.faults)}, file)


if __name__ == "__main__":
    main()
