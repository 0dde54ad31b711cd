"""inert against TensorFlow: listings of bundles, each pair of figures from one run, given as a ratio.

Knows: how the bundles are made (small ones by TensorFlow, indexes of a million entries by inert), what is measured, and that the minimum of
several rounds in turn is what a noisy machine can say; times are of the processor, wall times stand beside them.
Refuses to know: any bound. It prints; a reader judges. ``--quick`` takes smaller indexes.

    python bench/bundles.py [--quick] [--inert PYTHON]   (an interpreter with inert installed, where this one has it as source)
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

import inert
from inert.containers.sstablewrite import table
from inert.tensorflow.messages import head_bytes, header_bytes, run_bytes

SHAPES = ((4, 8), (8,), (2, 2, 3, 3))
LIST = "import inert, sys, time\nt = time.process_time()\n"
LIST += "with inert.open(sys.argv[1]) as c: n = sum(1 for one in c.tensors.values() if one.shape is not None)\n"
ONE = "import inert, sys, time\nt = time.process_time()\n"
ONE += "with inert.open(sys.argv[1]) as c: n = c.tensors['model/layer_00100/block_3/weight0'].nbytes\n"
SAID = "print(time.process_time() - t, open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"


def names(count: int) -> list[str]:
    return [f"model/layer_{i // 12:05d}/block_{i % 12}/weight{i % 3}" for i in range(count)]


def saved(prefix: Path, count: int) -> str:
    tensors = [tf.zeros(SHAPES[i % 3]) for i in range(count)]
    tf.raw_ops.SaveV2(prefix=str(prefix), tensor_names=names(count), shape_and_slices=[""] * count, tensors=tensors)
    return str(prefix)


def index(prefix: Path, count: int) -> str:
    """An index as TensorFlow's writer makes it, with a data file of nothing but a hole."""

    def entries() -> Iterator[tuple[bytes, bytes]]:
        yield b"", header_bytes(1)
        for number, name in enumerate(sorted(name.encode() for name in names(count))):
            yield name, head_bytes(1, SHAPES[0]) + run_bytes(0, 128 * number, 128, 1 + number)

    with open(f"{prefix}.index", "wb") as file:
        file.writelines(table(entries()))
    with open(f"{prefix}.data-00000-of-00001", "wb") as file:
        file.truncate(128 * count)
    return str(prefix)


def versus(title: str, jobs: dict[str, Callable[[], tuple[float, float]]], rounds: int) -> None:
    """Each job in turn; the best of each, and how many times ours the others take. A job gives (processor, wall) seconds."""
    best = dict.fromkeys(jobs, (float("inf"), float("inf")))
    for _ in range(rounds):
        for name, job in jobs.items():
            best[name] = min(best[name][0], (found := job())[0]), min(best[name][1], found[1])
    ours = best["inert"]
    print(f"{title}: inert {ours[0] * 1e3:.2f} ms ({ours[1] * 1e3:.2f} wall)", flush=True)
    for name, theirs in list(best.items())[1:]:
        times = f"{theirs[0] * 1e3:9.2f} ms ({theirs[1] * 1e3:.2f} wall)"
        print(f"    {name:58} {times}   × {theirs[0] / ours[0]:.2f} ({theirs[1] / ours[1]:.2f} wall)")


def inside(job: Callable[[], Any]) -> Callable[[], tuple[float, float]]:
    def run() -> tuple[float, float]:
        wall, start = time.perf_counter(), time.thread_time()
        kept = job()
        found = time.thread_time() - start, time.perf_counter() - wall
        del kept
        return found

    return run


def installed() -> dict[str, str]:
    """The environment without what puts other modules before the installed ones."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def process(*command: str) -> Callable[[], tuple[float, float]]:
    def run() -> tuple[float, float]:
        wall = time.perf_counter()
        child = subprocess.Popen(command, env=installed(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{command[:3]} failed")
        return used.ru_utime + used.ru_stime, time.perf_counter() - wall

    return run


def listing(path: str) -> list[tuple[str, Any]]:
    with inert.open(path) as checkpoint:
        return [(name, tensor.shape) for name, tensor in checkpoint.tensors.items()]


def typed(path: str) -> list[tuple[str, Any, Any]]:
    with inert.open(path) as checkpoint:
        return [(name, tensor.dtype, tensor.shape) for name, tensor in checkpoint.tensors.items()]


def tensorflow_typed(path: str) -> list[tuple[str, Any, Any]]:
    reader = tf.train.load_checkpoint(path)
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    return [(name, types[name], shapes[name]) for name in sorted(shapes)]


def growth(folder: Path, python: str, counts: tuple[int, ...]) -> None:
    for count in counts:
        path = index(folder / "grown", count)
        for what, code in (("all listed", LIST), ("one by name", ONE)):
            spent, peak = subprocess.check_output([python, "-c", code + SAID, path], text=True, env=installed()).split()
            each = f", {float(spent) / count * 1e6:.2f} µs and {int(peak) * 1024 / count:,.0f} B each" if code is LIST else ""
            print(f"index of {count:>9,} entries, {what}: {float(spent) * 1e3:8.1f} ms, peak {int(peak) // 1024} MiB{each}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--inert", metavar="PYTHON", default=sys.executable)
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, TensorFlow {tf.__version__}, {os.cpu_count()} processors; best of several rounds, in turn")
    with tempfile.TemporaryDirectory() as temporary:
        path = saved(Path(temporary) / "small", 5_000)
        assert [(name, list(shape)) for name, shape in listing(path)] == tf.train.list_variables(path)
        rounds = 30 if options.quick else 100
        theirs = {"tf.train.list_variables": inside(lambda: tf.train.list_variables(path))}
        versus("names and shapes of 5,000 variables", {"inert": inside(lambda: listing(path)), **theirs}, rounds)
        theirs = {"load_checkpoint, shape and dtype maps": inside(lambda: tensorflow_typed(path))}
        versus("names, types and shapes of 5,000 variables", {"inert": inside(lambda: typed(path)), **theirs}, rounds)
        one_liner = f"import tensorflow as tf; print(tf.train.list_variables({path!r}))"
        jobs = {
            "inert": process(options.inert, "-m", "inert", "ls", path),
            "python -c 'import tensorflow …; tf.train.list_variables'": process(sys.executable, "-c", one_liner),
            "python -c pass": process(options.inert, "-c", "pass"),
        }
        versus("whole process: inert ls of 5,000 variables", jobs, 3 if options.quick else 6)
        growth(Path(temporary), options.inert, (25_000, 50_000, 100_000) if options.quick else (250_000, 500_000, 1_000_000))


if __name__ == "__main__":
    main()
