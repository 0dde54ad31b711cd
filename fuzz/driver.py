"""What every fuzz target shares: atheris where it can be imported, else a random driver; both change inputs by their structure (mutation.py).

A target is a file fuzz/fuzz_NAME.py; its docstring's first line states the invariant, and READS names the modules that it is for:

    from driver import instrument, run

    with instrument():
        import inert

    READS = ("formats.NAME",)

    def one(data: bytes) -> None:
        try:
            ...
        except inert.InertError:
            pass

    run(one, seeds=[b"..."], smoke=2000)

What readers of checkpoints share (what is asked, inputs of several files) is in asking.py; what one execution may do, in watch.py.

Usage of a target: fuzz_NAME.py [--seconds N | --runs N | --smoke] [--engine auto|atheris|random] [--seed N] [--first N] [--corpus FOLDER]
[INPUT…]. With INPUTs these are tried once each. --smoke: the random driver, seed 1, as many inputs as ``smoke`` says beside the seeds: the
same ones on every machine. Input number N depends on the seed and on N alone, so that --first N --runs 1 makes it again.
The invariant is broken by any exception that leaves ``one``, by more than SLOW seconds of the processor's time, by more than GROWTH bytes
of memory for one input or MEMORY for the process, and by whatever reaches outside: a file that is not the target's own, an import of what
is no part of inert or its dependencies, a process, a connection. The input is then written to fuzz/found/, and the exit status is not 0.
The last line says how many executions there were.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib
import os
import pkgutil
import random
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from mutation import LONGEST, changed, mutated
from watch import One, Outside, TooMuch, TooSlow, Watch

SLOW = 10  # seconds of the processor's time for one input; real ones take milliseconds
GROWTH = 256 << 20  # bytes by which one input may raise the process's peak
MEMORY = 2 << 30  # bytes, of the whole process
SMOKE = 300  # inputs of a target that does not say
FOUND = Path(__file__).resolve().parent / "found"
FIXED = Path(__file__).resolve().parent.parent / "tests" / "fuzzed"  # NAME--WHAT: inputs that once broke an invariant, seeds for ever
RANDOM = ("--engine=random", "random", "--smoke")


def atheris() -> Any:
    """The module, or None where it is not installed."""
    try:
        import atheris
    except ImportError:
        return None
    return atheris


@contextlib.contextmanager
def instrument() -> Iterator[None]:
    """Imports of inert in this block are instrumented for atheris, where it is there."""
    engine = None if any(word in sys.argv for word in RANDOM) else atheris()
    with engine.instrument_imports(include=["inert"]) if engine else contextlib.nullcontext():
        yield
        if engine:  # formats, writers and many others are imported when they are first asked for: too late
            for found in pkgutil.walk_packages(importlib.import_module("inert").__path__, "inert."):
                if not found.name.startswith(("inert.cli", "inert.__main__")):
                    importlib.import_module(found.name)


def keep(data: bytes, name: str) -> Path:
    FOUND.mkdir(exist_ok=True)
    path = FOUND / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def attempt(one: One, data: bytes, name: str, number: str = "") -> bool:
    """Whether the invariant holds for ``data``; where not, the input is kept and the reason printed."""
    try:
        one(data)
    except (Exception, TooSlow, TooMuch, Outside):
        sys.stdout.flush()
        traceback.print_exc()
        path = keep(data, name)
        print(f"{name}: {len(data):,} bytes break the invariant{number}; kept as {path}", file=sys.stderr, flush=True)
        return False
    return True


class Target:
    """A target's function under watch, with its name and seeds."""

    def __init__(self, one: One, seeds: Sequence[bytes], name: str) -> None:
        self.name = name
        self.seeds = seeds
        self.watch = Watch(SLOW, GROWTH)
        self.one = self.watch.around(one)

    def ended(self, status: int) -> NoReturn:
        """Ends the process with the count of executions, whatever an engine or a library would have it do at its end."""
        print(f"{self.name}: {self.watch.executions:,} executions", flush=True)
        sys.exit(status)

    def tried(self, paths: Iterable[Path]) -> int:
        held = [attempt(self.one, path.read_bytes(), self.name) for path in paths]  # each of them, whatever comes of the first
        return 0 if all(held) else 1

    def random(self, seed: int, seconds: float, first: int, runs: int | None) -> int:
        """The seeds as they are, then changed ones, until the time is over or there were ``runs`` of these."""
        end = time.monotonic() + seconds
        if not first and not all(attempt(self.one, data, self.name, " (a seed)") for data in self.seeds):
            return 1
        number = first
        while time.monotonic() < end if runs is None else number < first + runs:
            data = mutated(random.Random(seed << 40 | number), self.seeds)
            if not attempt(self.one, data, self.name, f" (--engine random --seed {seed} --first {number} --runs 1)"):
                return 1
            number += 1
        print(f"{self.name}: the invariant holds")
        return 0

    def guided(self, engine: Any, seed: int, seconds: float, corpus: str | None, runs: int | None) -> NoReturn:
        """Does not return: the engine ends the process."""
        folder = Path(corpus) / self.name if corpus else Path(tempfile.mkdtemp(prefix=f"inert-{self.name}-"))
        folder.mkdir(parents=True, exist_ok=True)
        FOUND.mkdir(exist_ok=True)
        for data in self.seeds:
            (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
        longest = max(LONGEST, *map(len, self.seeds))
        flags: dict[str, Any] = {
            "timeout": SLOW * 20,  # of the clock's time, where the watch is not heard: in a C function
            "rss_limit_mb": MEMORY >> 20,
            "max_len": longest,
            "seed": seed,
            "artifact_prefix": f"{FOUND / self.name}-",
            "print_final_stats": 1,
            "verbosity": 1,
        }
        flags |= {"max_total_time": max(1, int(seconds))} if runs is None else {"runs": runs}

        def one(data: bytes) -> None:
            if not attempt(self.one, data, self.name):
                print(f"{self.name}: {self.watch.executions:,} executions", flush=True)
                os._exit(1)  # before the engine says it all again, at length

        def custom(data: bytes, most: int, chance: int) -> bytes:
            """Half of the engine's own changes, half by structure."""
            rng = random.Random(chance)
            made = changed(rng, data, self.seeds) if rng.randrange(2) else engine.Mutate(data, most)
            return bytes(made)[:most]

        argv = [sys.argv[0], *(f"-{key}={value}" for key, value in flags.items()), str(folder)]
        engine.Setup(argv, engine.instrument_func(one), custom_mutator=custom)
        engine.Fuzz()
        self.ended(0)


def _bound() -> None:
    """MEMORY in force; atheris has its own means."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def run(one: One, seeds: Iterable[bytes], smoke: int = SMOKE) -> None:
    """The command line of a target. Ends the process. ``smoke``: how many changed inputs --smoke tries, some five seconds' worth."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--runs", type=int, help="so many inputs, however long that takes")
    parser.add_argument("--smoke", action="store_true", help="a fixed number of inputs, the same everywhere")
    parser.add_argument("--engine", choices=("auto", "atheris", "random"), default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="of the random driver's inputs the number to begin with")
    parser.add_argument("--corpus", help="where atheris keeps its inputs from run to run, in a folder per target (default: nowhere)")
    parser.add_argument("inputs", nargs="*", type=Path, help="try these files, once each")
    options = parser.parse_args()
    name = Path(sys.argv[0]).stem
    fixed = [path.read_bytes() for path in sorted(FIXED.glob(f"{name}--*"))]
    target = Target(one, [*fixed, *seeds] or [b""], name)
    runs = smoke if options.smoke else options.runs
    engine = None if options.engine == "random" or options.smoke or options.inputs else atheris()
    if engine is None and options.engine == "atheris" and not options.inputs:
        parser.error("atheris cannot be imported; install inert[fuzz], or use --engine random")
    sys.addaudithook(target.watch)
    if options.inputs:
        _bound()
        target.ended(target.tried(options.inputs))
    share = f"{options.seconds:g} s" if runs is None else f"{runs:,} inputs"
    print(f"{target.name}: {'atheris' if engine else 'random driver'}, {len(target.seeds)} seeds, {share}", flush=True)
    if engine:
        target.guided(engine, options.seed, options.seconds, options.corpus, runs)
    _bound()
    target.ended(target.random(options.seed, options.seconds, options.first, runs))
