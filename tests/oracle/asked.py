"""What torch says of files: a process with torch that answers for one file after another.

Run as a program, this file is the worker: it reads {"path", "modes"} lines and answers each with a line for each mode. The loads of a
file are made in two children of the worker, since a full load may import what another load would then allow; what hangs is killed, and
what kills torch is an answer too. Whether a file may be loaded in full is for the caller to decide.
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
from typing import Any

TIMEOUT = 60  # seconds for one file
MEMORY = 12 << 30  # bytes a worker may map
HIDDEN = frozenset(("lightning", "lightning_fabric", "lightning_utilities", "omegaconf", "pytorch_lightning", "torchmetrics"))


def digest(value: Any) -> str:
    """Of the dtypes, shapes and plain bytes of all tensors in containers: what mapped and read values are compared by."""
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
            todo.extend(one.values() if isinstance(one, dict) else one)
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
    for line in sys.stdin:
        job = json.loads(line)
        for modes in ([mode for mode in job["modes"] if mode != "full"], [mode for mode in job["modes"] if mode == "full"]):
            child = os.fork() if modes else 0  # a process of its own: what a load imports, the next must not have
            if modes and not child:
                for mode in modes:
                    os.write(1, (json.dumps({mode: answer(job["path"], mode)}) + "\n").encode())
                os._exit(0)
            if modes and os.waitpid(child, 0)[1]:
                raise SystemExit("torch died")


class Absent:
    """Hides what this environment has besides torch, NumPy and safetensors: predictions are for a machine that has just these."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class Worker:
    """The worker's process; started again when it hangs or dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, path: Path, *modes: str) -> dict[str, Any]:
        """{mode: {"ok", …}} of "weights_only", "mmap", "jit" and "full", which is asked for last."""
        said: dict[str, Any] = {}
        modes = tuple(sorted(modes, key=lambda mode: mode == "full"))
        while left := [mode for mode in modes if mode not in said]:
            said |= self._ask(path, left)  # what kills torch has an answer, and the others are asked for again
        return said

    def _ask(self, path: Path, modes: list[str]) -> dict[str, Any]:
        if self.process is None:
            command = [sys.executable, "-W", "ignore", __file__]
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(TIMEOUT, self.kill)
        timer.start()
        said: dict[str, Any] = {}
        try:
            process.stdin.write(json.dumps({"path": str(path), "modes": modes}).encode() + b"\n")
            process.stdin.flush()
            for mode in modes:
                line = process.stdout.readline()
                if not line:
                    said[mode] = {"ok": False, "kind": "died", "why": "torch did not come back"}
                    self.stop()
                    break
                said |= json.loads(line)
        finally:
            timer.cancel()
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
