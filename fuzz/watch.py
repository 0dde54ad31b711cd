"""What one execution of a target may do: read the program's own files, write in its scratch folder, and take so much time and memory.

Knows: Python's audit events, the processor's time, the process's peak of memory.
Refuses to know: what the target asks. Whatever is reached, even where the code under test has caught it, comes out as an exception.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

One = Callable[[bytes], None]
WARM = 20  # executions until everything that is imported late has been


class TooSlow(BaseException):
    """Passes through every ``except Exception`` and ``except OSError`` of the code under test."""


class TooMuch(BaseException):
    """One input took more memory than any may."""


class Outside(BaseException):
    """Something was reached that is not the target's own."""


class Watch:
    """An audit hook that counts executions and lets each do no more than read the program's own files and use its scratch folder.

    Imports are let pass where they are of inert, its dependencies or Python itself (which asks for Jython's org): answers import what they
    need when first asked for."""

    MODULES = frozenset(
        (
            "org",
            "inert",
            "numpy",
            "ml_dtypes",
            "isal",
            "google_crc32c",
            "lz4",
            "zstandard",
            "compression",
            "backports",
            *sys.stdlib_module_names,
        )
    )
    NEVER = (
        "subprocess.", "os.exec", "os.system", "os.posix_spawn", "os.fork", "os.spawn", "socket.", "pickle.", "ctypes.dlsym", "ftplib.", "urllib.",
    )  # fmt: skip
    PATHS = frozenset(
        (
            "os.remove",
            "os.rename",
            "os.mkdir",
            "os.rmdir",
            "os.symlink",
            "os.link",
            "os.truncate",
            "os.chmod",
            "os.listdir",
            "os.scandir",
            "shutil.rmtree",
        )
    )

    def __init__(self, slow: float, growth: int) -> None:
        """``slow``: seconds of the processor's time; ``growth``: bytes by which one input may raise the process's peak."""
        self.slow = slow
        self.growth = growth
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
            names = [os.fsdecode(path) for path in args if isinstance(path, (str, bytes))]
            if type(args[-1]) is int and args[-1] >= 0 and event != "os.truncate":  # names in a folder that has been opened before
                names = [name for name in names if os.path.isabs(name)]
            return all(os.path.abspath(name).startswith((*self.own, *self.program, "/proc/self/fd/")) for name in names)
        return not event.startswith(self.NEVER)

    def around(self, one: One) -> One:
        """``one`` under watch and within its bounds of time and memory. What the code under test has caught comes out here."""
        self.broken = ""
        signal.signal(signal.SIGPROF, self._late)

        def watched(data: bytes) -> None:
            self.executions += 1
            self.inside = True
            peak = _peak()
            signal.setitimer(signal.ITIMER_PROF, self.slow)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # a user would find it between the lines of an answer
                    one(data)
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
                self.inside = False
            if self.broken:
                raise Outside(self.broken)
            if self.executions > WARM and _peak() - peak > self.growth:
                raise TooMuch(f"{_peak() - peak:,} more bytes of memory for one input")

        return watched

    def _late(self, signum: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {self.slow} seconds for one input")


def _peak() -> int:
    """Bytes of memory that the process, or the one that started it, has had at most; 0 where a system does not say."""
    if resource is None:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
