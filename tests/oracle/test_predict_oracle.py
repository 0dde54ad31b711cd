"""What inert says of torch.load, held against torch.load: every case of tests/test_predict.py and every file of the corpus.

Run as a program, this file is the worker: it reads {"path", "modes"} lines and answers each with what torch said. Each load is made in
a process of its own, since one may import what another would then allow; one that hangs is killed. Hostile files (malicious/) are never
loaded in full.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "corpus"
CORPUS = SHARED if SHARED.is_dir() else ROOT / "tests" / "corpus"
TIMEOUT = 60  # seconds for one file
MEMORY = 12 << 30  # bytes a worker may map

# files that are not put to torch at all
SKIPPED = {
    "broken/pickle/dag_hash_bomb.pt": "hashing its key takes hours",
    "broken/zip/pickle_bomb_120M.pt": "120 MB of opcodes take torch minutes; inert refuses it by Limits.expand_ratio",
}
# full loads that fail in a class's own code, which inert does not know
CLASSES = {"torch/t1.0.1-py3.6/lstm_module.pt": "torch 2.13's LSTM wants an attribute that torch 1.0 did not save"}


# -- the worker ---------------------------------------------------------------------------------------------------------------


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
        value = torch.load(path, **options)
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
    """Hides what this environment has besides torch and NumPy: predictions are for a machine that has just these."""

    NAMES = frozenset(
        ("lightning", "lightning_fabric", "lightning_utilities", "omegaconf", "pytorch_lightning", "safetensors", "torchmetrics")
    )

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self.NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class Worker:
    """A process with torch that answers for one file after another; started again when it hangs."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, path: Path, *modes: str) -> dict[str, Any]:
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
                said |= json.loads(line) if line else {mode: {"ok": False, "kind": "hang", "why": "torch did not come back"}}
        finally:
            timer.cancel()
        if process.poll() is not None:
            self.stop()
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
    raise SystemExit

import inert  # noqa: E402
from inert.pickle import python2  # noqa: E402
from inert.torch import allowed  # noqa: E402
from inert.torch.predict import loads  # noqa: E402
from tests.test_predict import PICKED, REFUSED, TAKEN, case_of, copies, zipped  # noqa: E402


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    one = Worker()
    yield one
    one.stop()


# -- the tables ---------------------------------------------------------------------------------------------------------------


def in_a_fresh_python(code: str) -> Any:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


NAMES = "import json, torch\nfrom torch._weights_only_unpickler import _get_allowed_globals as a, _get_user_allowed_globals as u\n"


def test_the_allowed_names() -> None:
    assert set(in_a_fresh_python(NAMES + "print(json.dumps(list(a())))")) == allowed.ALLOWED
    assert set(in_a_fresh_python(NAMES + "print(json.dumps(list(u())))")) == allowed.REGISTERED


@pytest.mark.parametrize("module", sorted(set(allowed.LATER.values())))
def test_the_names_that_an_import_adds(module: str) -> None:
    said = set(in_a_fresh_python(NAMES + f"import {module}\nprint(json.dumps(list(u())))")) - allowed.REGISTERED
    wanted = {name for name, first in allowed.LATER.items() if first == module}
    assert wanted <= said


def test_the_names_that_torch_replaces() -> None:
    import torch._utils

    assert torch._utils.IMPORT_MAPPING == python2.TORCH_MODULES
    assert torch._utils.NAME_MAPPING == python2.TORCH_NAMES


def test_the_blocked_modules_devices_and_layouts() -> None:
    code = (
        "import json, torch, torch._weights_only_unpickler as w\nlayout = torch.serialization._get_layout\nlayout('torch.strided')\n"
        "print(json.dumps([w._blocklisted_modules, list(layout.cache)]))"
    )
    modules, layouts = in_a_fresh_python(code)
    assert set(modules) == allowed.BLOCKED_MODULES
    assert set(layouts) == allowed.LAYOUTS


def test_names_that_torch_lacks() -> None:
    code = (
        "import importlib, json\nmissing = []\nfor name in {names}:\n    module, _, last = name.rpartition('.')\n    try:\n"
        "        getattr(importlib.import_module(module), last)\n    except (ImportError, AttributeError):\n        missing.append(name)\n"
        "print(json.dumps(missing))"
    )
    names = [*allowed.GONE, *(f"{module}.x" for module in allowed.GONE_MODULES)]
    assert in_a_fresh_python(code.replace("{names}", repr(names))) == names
    assert in_a_fresh_python(code.replace("{names}", repr(list(allowed.CHANGED)))) == []


# -- single cases -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [*TAKEN, *REFUSED])
def test_a_case(key: str, tmp_path: Path, worker: Worker) -> None:
    raw = case_of(TAKEN[key] if key in TAKEN else REFUSED[key]).archive()
    path = tmp_path / "case.pt"
    path.write_bytes(raw)
    assert worker.ask(path, "weights_only")["weights_only"]["ok"] is (key in TAKEN)
    with inert.open(io.BytesIO(raw)) as ckpt:
        said = loads(ckpt)
    if not said["weights_only"]["blocked"]:
        assert worker.ask(path, "full")["full"]["ok"] is said["full"]["ok"], said["full"]["why"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("count", PICKED)
def test_which_of_several_records_torch_gets(count: int, last: bool, tmp_path: Path, worker: Worker) -> None:
    path = tmp_path / "copies.pt"
    path.write_bytes(zipped(copies(count, last)))
    assert worker.ask(path, "weights_only")["weights_only"]["ok"]


# -- the corpus ---------------------------------------------------------------------------------------------------------------


MAGIC = (bytes.fromhex("6cfc9c46f9206aa85019"), b"119547037146038801333356")  # of the layout before 1.6, as bytes and as text
OTHERS = (b"/code/", b"constants.pkl", b"/.data/extern_modules", b"/models/")  # TorchScript, packages, exported programs


def saved_files() -> dict[str, list[Path]]:
    """The files of torch.save in both its layouts, whole or damaged, by folder."""
    found: dict[str, list[Path]] = {}
    for path in sorted(CORPUS.rglob("*")):
        name = path.relative_to(CORPUS).as_posix()
        if not path.is_file() or path.name.endswith((".json", ".py", ".txt", ".md")) or name in SKIPPED:
            continue
        with path.open("rb") as file:
            head = file.read(64)
        zipped = head.startswith(b"PK\3\4") and not any(mark in path.read_bytes() for mark in OTHERS)
        if zipped or any(magic in head for magic in MAGIC):
            found.setdefault("/".join(name.split("/")[:2]), []).append(path)
    return found


FILES = saved_files()


def differences(path: Path, worker: Worker) -> Iterator[str]:
    name = path.relative_to(CORPUS).as_posix()
    real = worker.ask(path, "weights_only", "mmap")
    if not name.startswith("malicious/") and name not in CLASSES:
        real |= worker.ask(path, "full")
    if real["mmap"]["ok"] and real["weights_only"]["ok"]:  # mapped values that are not those that are read are no success
        real["mmap"]["ok"] = real["mmap"]["digest"] == real["weights_only"]["digest"]
    try:
        with inert.open(path) as ckpt:
            said = loads(ckpt)
    except inert.InertError as error:
        yield from (f"{name} {mode}: torch reads it, inert: {error}" for mode in real if real[mode]["ok"])
        return
    for mode in real:
        if said[mode]["ok"] != real[mode]["ok"]:
            yield f"{name} {mode}: inert says {said[mode]}, torch {real[mode]}"
    yield from unnamed(name, real.get("full", {}), said["full"]["why"])


def unnamed(name: str, real: dict[str, Any], why: str) -> Iterator[str]:
    """A full load that failed for want of a module or a class: inert must say which."""
    wanted: dict[str, Callable[[str], str]] = {
        "ModuleNotFoundError": lambda text: text.partition("'")[2].partition("'")[0],
        "AttributeError": lambda text: text.partition("Can't get attribute '")[2].partition("'")[0],
    }
    missing = wanted.get(real.get("kind", ""), lambda text: "")(real.get("why", ""))
    if missing and missing not in why and missing.isprintable():
        yield f"{name} full: torch lacks {missing}, inert says {why}"


@pytest.mark.parametrize("folder", FILES)
def test_the_files_of_a_folder(folder: str, worker: Worker) -> None:
    assert not (found := [line for path in FILES[folder] for line in differences(path, worker)]), "\n" + "\n".join(found)
