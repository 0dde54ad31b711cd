"""What torch says of files: a process with torch that answers for one file after another.

Run as a program, this file is the worker: it reads batches of {"path", "mode"} and answers each job with one line. A batch is loaded in a
child of the worker, so that what kills torch costs one answer; what hangs is killed with the worker. Full loads may import what another
load would then allow, and have batches of their own. Whether a file may be loaded in full is for the caller to decide.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

TIMEOUT = 60  # seconds for one file
MEMORY = 12 << 30  # bytes that a worker may map
HIDDEN = frozenset(("deepspeed", "lightning", "lightning_fabric", "lightning_utilities", "omegaconf", "pytorch_lightning", "torchmetrics"))


def digest(value: Any) -> str:
    """Of the dtypes, shapes and plain bytes of all tensors in containers: what mapped and read values are compared by.

    Dicts count whatever their order: safetensors 0.8 gives tensors that begin at one offset (empty ones) in any."""
    import torch

    found, seen, todo = hashlib.sha256(), set(), [value]
    while todo:
        one = todo.pop()
        if isinstance(one, torch.Tensor):
            found.update(f"{one.dtype}{tuple(one.shape)}".encode())
            plain = type(one) in (torch.Tensor, torch.nn.Parameter) and one.layout == torch.strided and not one.is_quantized
            if plain and one.device.type == "cpu" and one.numel() < 1 << 22 and not one.is_nested:
                try:
                    flat = one.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
                    found.update(flat.view(torch.uint8).numpy().tobytes())
                except (RuntimeError, TypeError, NotImplementedError):
                    found.update(b"?")
        elif isinstance(one, (dict, list, tuple)) and id(one) not in seen:
            seen.add(id(one))
            todo.extend([one[key] for key in sorted(one, key=repr)] if isinstance(one, dict) else one)
    return found.hexdigest()


def answer(path: str, mode: str) -> dict[str, Any]:
    import torch

    options: dict[str, Any] = {"map_location": "cpu", "weights_only": mode != "full", "mmap": mode == "mmap"}
    try:
        value = torch.jit.load(path, map_location="cpu") if mode == "jit" else torch.load(path, **options)
    except BaseException as error:  # whatever it is, torch did not load the file
        return {"ok": False, "kind": type(error).__name__, "why": str(error)[:500]}
    try:
        return {"ok": True, "digest": digest(value)}
    except Exception as error:  # torch cannot look at what it has loaded
        return {"ok": True, "digest": type(error).__name__}


def work() -> None:
    import resource

    import torch

    sys.meta_path.insert(0, Absent())
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.dup(1)
    os.dup2(2, 1)
    for line in sys.stdin:
        jobs = json.loads(line)
        while jobs:
            jobs = jobs[batch(jobs, out) :]


def batch(jobs: list[dict[str, str]], out: int) -> int:
    """Answer jobs in a child; how many have their answer now. What a load prints goes nowhere."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        for job in jobs:
            os.write(writes, (json.dumps(answer(job["path"], job["mode"])) + "\n").encode())
        os._exit(0)
    os.close(writes)
    done = 0
    with os.fdopen(reads, "rb") as lines:
        for line in lines:
            os.write(out, line)
            done += 1
    os.waitpid(child, 0)
    if done < len(jobs):
        os.write(out, (json.dumps({"ok": False, "kind": "died", "why": "torch did not come back"}) + "\n").encode())
    return done + 1


class Absent:
    """Hides what this environment has besides torch, NumPy and safetensors: predictions are for a machine that has just these."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class Worker:
    """The worker's process; started again when it hangs."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, path: Path, *modes: str) -> dict[str, Any]:
        """{mode: {"ok", …}} of "weights_only", "mmap", "jit" and "full"."""
        return self.ask_all([(path, modes)])[0]

    def ask_all(self, files: Iterable[tuple[Path, Iterable[str]]]) -> list[dict[str, Any]]:
        """The answers for many files, in order, from two processes: the full loads from one of their own. What one load imports, the next one
        has: a surprising answer is to be asked for again, alone."""
        asked = [(path, tuple(modes)) for path, modes in files]
        said: list[dict[str, Any]] = [{} for _ in asked]
        jobs = [(number, mode) for number, (_, modes) in enumerate(asked) for mode in modes]
        for group in [job for job in jobs if job[1] != "full"], [job for job in jobs if job[1] == "full"]:
            while group:
                answers = self._ask([{"path": str(asked[number][0]), "mode": mode} for number, mode in group])
                for (number, mode), one in zip(group, answers, strict=False):
                    said[number][mode] = one
                group = group[len(answers) :]
        return said

    def _ask(self, jobs: list[dict[str, str]]) -> list[dict[str, Any]]:
        """The answers to the first of the jobs, one at least; fewer than all where one hung."""
        if self.process is None:
            command = [sys.executable, "-W", "ignore", __file__]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(jobs).encode() + b"\n")
        process.stdin.flush()
        said: list[dict[str, Any]] = []
        while len(said) < len(jobs):
            timer = threading.Timer(TIMEOUT, self.kill)
            timer.start()
            try:
                line = process.stdout.readline()
            finally:
                timer.cancel()
            said.append(json.loads(line) if line else {"ok": False, "kind": "hang", "why": "torch did not come back"})
            if not line:
                self.stop()
                break
        return said

    def kill(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)

    def stop(self) -> None:
        self.kill()
        if self.process is not None:
            self.process.communicate()
            self.process = None


if __name__ == "__main__":
    work()
