"""What every fuzz target shares: atheris where it can be imported, else a random driver that mutates the seeds.

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

    run(one, seeds=[b"..."])

What readers of checkpoints share (what is asked, inputs of several files) is in asking.py.

Usage of a target: fuzz_NAME.py [--seconds N] [--engine auto|atheris|random] [--seed N] [--corpus FOLDER] [INPUT…].
With INPUTs these are tried once each. The invariant is broken by any exception that leaves ``one``, by more than SLOW seconds,
by more than MEMORY bytes, and by whatever reaches outside: a file that is not the target's own, an import of what is no part of
inert or its dependencies, a process, a connection. The input is then written to fuzz/found/, and the exit status is not 0.
The last line says how many executions there were.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import hashlib
import importlib
import os
import pkgutil
import random
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

SLOW = 25  # seconds for one input, on a machine that has other work: real ones take milliseconds
MEMORY = 2 << 30  # bytes, of the whole process
LONGEST = 1 << 16  # bytes of an input
FOUND = Path(__file__).resolve().parent / "found"
EDGES = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)

One = Callable[[bytes], None]


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
    engine = None if "--engine=random" in sys.argv or "random" in sys.argv else atheris()
    with engine.instrument_imports(include=["inert"]) if engine else contextlib.nullcontext():
        yield
        if engine:  # formats, writers and many others are imported when they are first asked for: too late
            for found in pkgutil.walk_packages(importlib.import_module("inert").__path__, "inert."):
                if not found.name.startswith(("inert.cli", "inert.__main__")):
                    importlib.import_module(found.name)


def mutated(rng: random.Random, seeds: Sequence[bytes]) -> bytes:
    """One of the seeds after one to eight random changes."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(9):
            case 0 if data:
                data[at - 1] ^= 1 << rng.randrange(8)
            case 1 if data:
                data[at - 1] = rng.randrange(256)
            case 2:
                data[at:at] = rng.randbytes(rng.choice((1, 2, 4, 16)))
            case 3:
                del data[at : at + rng.choice((1, 2, 4, 16, 256))]
            case 4:
                del data[at:]
            case 5:
                data[at:at] = data[at : at + rng.choice((1, 4, 16, 256))] * rng.choice((1, 2, 16))
            case 6:
                other = rng.choice(seeds)
                data[at:] = other[rng.randrange(len(other) + 1) :]
            case 7:
                edge = rng.choice(EDGES)
                width = max(rng.choice((1, 2, 4, 8)), (edge.bit_length() + 7) // 8)
                data[at : at + width] = edge.to_bytes(width, rng.choice(("little", "little", "big")))
            case 8:
                length = rng.choice((1, 2, 4, 30, 46))
                start = rng.randrange(len(data) + 1)
                data[at : at + length] = data[start : start + length]
            case _:
                data += rng.randbytes(1)
    return bytes(data[:LONGEST])


def keep(data: bytes, name: str) -> Path:
    FOUND.mkdir(exist_ok=True)
    path = FOUND / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


class Outside(BaseException):
    """Something was reached that is not the target's own."""


class Watch:
    """An audit hook that counts executions and lets each do no more than read the program's own files and use its scratch folder.

    Imports are let pass where they are of inert, its dependencies or Python itself: answers import what they need when first asked for."""

    MODULES = frozenset(
        ("inert", "numpy", "ml_dtypes", "isal", "google_crc32c", "lz4", "zstandard", "compression", "backports", *sys.stdlib_module_names)
    )
    NEVER = (
        "subprocess.",
        "os.exec",
        "os.system",
        "os.posix_spawn",
        "os.fork",
        "os.spawn",
        "socket.",
        "pickle.",
        "ctypes.dlsym",
        "ftplib.",
        "urllib.",
        "shutil.rmtree",
    )
    PATHS = frozenset(
        ("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.truncate", "os.chmod", "os.listdir", "os.scandir")
    )

    def __init__(self) -> None:
        self.executions = 0
        self.inside = False
        self.broken = ""
        self.own = tuple({os.path.abspath(tempfile.gettempdir()), os.path.realpath(tempfile.gettempdir()), "/dev/shm"})
        self.program = tuple(os.path.abspath(folder) for folder in {*sys.path, sys.prefix, sys.base_prefix} if folder)

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if self.inside and not self.permits(event, args):
            self.broken = f"{event} with {args!r:.300}"
            raise Outside(self.broken)

    def permits(self, event: str, args: tuple[Any, ...]) -> bool:
        if event == "open":
            path, _, flags = args
            if not isinstance(path, (str, bytes, os.PathLike)):
                return True  # a descriptor, which has been opened before
            path = os.path.abspath(os.fsdecode(path))
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            return path.startswith(self.own) or (not writes and path.startswith((*self.program, "/proc/", "/sys/", "/etc/", "/usr/")))
        if event == "import":
            return str(args[0]).partition(".")[0] in self.MODULES
        if event in self.PATHS:
            return all(
                os.path.abspath(os.fsdecode(path)).startswith((*self.own, *self.program, "/proc/self/fd/"))
                for path in args
                if isinstance(path, (str, bytes))
            )
        return not event.startswith(self.NEVER)

    def around(self, one: One) -> One:
        """``one`` under watch. What the code under test has caught comes out here."""
        self.broken = ""

        def watched(data: bytes) -> None:
            self.executions += 1
            self.inside = True
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # a user would find it between the lines of an answer
                    one(data)
            finally:
                self.inside = False
            if self.broken:
                raise Outside(self.broken)

        return watched

    def begin(self, name: str) -> None:
        sys.addaudithook(self)
        atexit.register(lambda: print(f"{name}: {self.executions:,} executions", flush=True))


def attempt(one: One, data: bytes, name: str) -> bool:
    """Whether the invariant holds for ``data``; where not, the input is kept and the reason printed."""
    signal.alarm(SLOW)
    try:
        one(data)
    except (Exception, TooSlow, Outside):
        traceback.print_exc()
        path = keep(data, name)
        print(f"{name}: {len(data):,} bytes break the invariant; kept as {path}", file=sys.stderr)
        return False
    finally:
        signal.alarm(0)
    return True


def run_random(one: One, seeds: Sequence[bytes], name: str, seconds: float, seed: int) -> int:
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    for data in seeds:
        if not attempt(one, data, name):
            return 1
    while time.monotonic() < end:
        if not attempt(one, mutated(rng, seeds), name):
            return 1
    print(f"{name}: the invariant holds")
    return 0


def run_atheris(engine: Any, one: One, seeds: Sequence[bytes], name: str, seconds: float, seed: int, corpus: str | None) -> None:
    """Does not return: the engine ends the process."""
    FOUND.mkdir(exist_ok=True)
    folder = Path(corpus) / name if corpus else Path(tempfile.mkdtemp(prefix=f"inert-{name}-"))
    folder.mkdir(parents=True, exist_ok=True)
    for data in seeds:
        (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    flags = {
        "max_total_time": max(1, int(seconds)),
        "timeout": SLOW,
        "rss_limit_mb": MEMORY >> 20,
        "max_len": max(LONGEST, *map(len, seeds)),
        "seed": seed,
        "artifact_prefix": f"{FOUND / name}-",
        "print_final_stats": 1,
        "verbosity": 1,
    }
    engine.Setup([sys.argv[0], *(f"-{key}={value}" for key, value in flags.items()), str(folder)], engine.instrument_func(one))
    engine.Fuzz()


class TooSlow(BaseException):
    """Passes through every ``except Exception`` and ``except OSError`` of the code under test."""


def _too_slow(signum: int, frame: FrameType | None) -> None:
    raise TooSlow(f"more than {SLOW} seconds for one input")


def _bound() -> None:
    """SLOW and MEMORY in force; atheris has its own means."""
    signal.signal(signal.SIGALRM, _too_slow)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def run(one: One, seeds: Iterable[bytes]) -> None:
    """The command line of a target. Ends the process."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--engine", choices=("auto", "atheris", "random"), default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", help="where atheris keeps its inputs from run to run, in a folder per target (default: nowhere)")
    parser.add_argument("inputs", nargs="*", type=Path, help="try these files, once each")
    options = parser.parse_args()
    name = Path(sys.argv[0]).stem
    if options.inputs:
        _bound()
        broken = [path for path in options.inputs if not attempt(one, path.read_bytes(), name)]
        sys.exit(1 if broken else 0)
    seeds = list(seeds) or [b""]
    watch = Watch()
    watch.begin(name)
    one = watch.around(one)
    engine = None if options.engine == "random" else atheris()
    if engine is None and options.engine == "atheris":
        parser.error("atheris cannot be imported; install inert[fuzz], or use --engine random")
    print(f"{name}: {'atheris' if engine else 'random driver'}, {len(seeds)} seeds, {options.seconds:g} s", flush=True)
    if engine:
        run_atheris(engine, one, seeds, name, options.seconds, options.seed, options.corpus)
    _bound()
    sys.exit(run_random(one, seeds, name, options.seconds, options.seed))
