"""inert against torch, safetensors and ztensor: each pair of figures from one run, given as a ratio.

Knows: how the files are made (by torch), what is measured, and that the minimum of several rounds in turn is what a noisy machine can say.
Refuses to know: any bound. It prints; a reader judges. ``--quick`` takes smaller files.

    python bench/run.py [--quick] [--keep DIR]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import inert


def state_dict(count: int) -> dict[str, torch.Tensor]:
    """Small tensors of three shapes and two types under names of a real model's length."""
    shapes = ((4, 8), (8,), (2, 2, 3, 3))
    kinds = (torch.float32, torch.float32, torch.float16)
    return {f"model.layers.{i // 12}.block.{i % 12}.weight{i % 3}": torch.zeros(shapes[i % 3], dtype=kinds[i % 3]) for i in range(count)}


def timed(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    kept = job()
    spent = time.perf_counter() - start
    del kept
    return spent


def versus(title: str, ours: Callable[[], Any], theirs: dict[str, Callable[[], Any]], rounds: int) -> None:
    """Ours and each of theirs in turn, ``rounds`` times; the best of each and their ratios."""
    best = dict.fromkeys(("inert", *theirs), float("inf"))
    for _ in range(rounds):
        for name, job in (("inert", ours), *theirs.items()):
            best[name] = min(best[name], timed(job))
    ratios = "  ".join(f"{name} {best[name] * 1e3:.1f} ms (× {best['inert'] / best[name]:.3f})" for name in theirs)
    print(f"{title:48} inert {best['inert'] * 1e3:8.1f} ms   {ratios}", flush=True)


def listing(path: Path) -> list[tuple[str, Any, Any]]:
    with inert.open(path) as checkpoint:
        return [(name, tensor.dtype, tensor.shape) for name, tensor in checkpoint.tensors.items()]


def ztensor_listing(path: Path) -> list[tuple[str, Any, Any]]:
    import ztensor

    with ztensor.open(str(path)) as source:
        return [(name, source[name].dtype, source[name].shape) for name in source.keys()]  # noqa: SIM118 - its mapping is no dict


def many(folder: Path, quick: bool) -> None:
    count = 5_000 if quick else 50_000
    path = folder / "many.pt"
    torch.save(state_dict(count), path)
    peers = {"torch": lambda: torch.load(path, weights_only=True, mmap=True), "ztensor": lambda: ztensor_listing(path)}
    versus(f"open and list {count:,} tensors", lambda: listing(path), peers, 3)

    print("growth:", end=" ", flush=True)
    for size in (1_000, 10_000, 100_000) if quick else (1_000, 10_000, 100_000, 1_000_000):
        grown = folder / "grown.pt"
        torch.save(state_dict(size), grown)
        code = "import inert, sys, time, resource\nt = time.perf_counter()\n"
        code += "with inert.open(sys.argv[1]) as c: n = sum(1 for t in c.tensors.values() if t.shape is not None)\n"
        code += "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        spent, peak = subprocess.check_output([sys.executable, "-c", code, str(grown)], text=True).split()
        print(
            f"{size:,}: {float(spent) / size * 1e6:.1f} µs, {int(peak) * 1024 / size:,.0f} B a tensor (whole process);", end=" ", flush=True
        )
    print()


def loading(folder: Path, quick: bool) -> None:
    side = 256 if quick else 1024
    path = folder / "load.pt"
    state = {f"layers.{i}.weight": torch.zeros(side, side) for i in range(256)}
    torch.save(state, path)
    versus("load 256 tensors mapped", lambda: inert.load(path), {"torch": lambda: torch.load(path, weights_only=True, mmap=True)}, 9)
    versus("load 256 tensors copied", lambda: inert.load(path, mmap=False), {"torch": lambda: torch.load(path, weights_only=True)}, 3)
    import safetensors.numpy

    other = folder / "load.safetensors"
    safetensors.numpy.save_file({name: np.zeros((side, side), np.float32) for name in state}, other)
    versus(
        "   beside safetensors (copied)",
        lambda: inert.load(path, mmap=False),
        {"safetensors": lambda: safetensors.numpy.load_file(other)},
        3,
    )


def converting(folder: Path, quick: bool) -> None:
    """One format into the other and back, whole processes: beside a copy of the file, and beside torch with safetensors."""
    side = 256 if quick else 1024
    paths = {suffix: folder / f"convert.{suffix}" for suffix in ("pt", "safetensors")}
    torch.save({f"layers.{i}.weight": torch.full((side, side), float(i)) for i in range(256)}, paths["pt"])
    inert.convert(paths["pt"], paths["safetensors"])
    theirs = {
        "pt": "import sys, torch; from safetensors.torch import save_file; save_file(torch.load(sys.argv[1], mmap=True), sys.argv[2])",
        "safetensors": "import sys, torch; from safetensors.torch import load_file; torch.save(load_file(sys.argv[1]), sys.argv[2])",
    }
    for kind, other in (("pt", "safetensors"), ("safetensors", "pt")):
        source, target = str(paths[kind]), str(folder / f"made.{other}")

        def run(*words: str) -> Callable[[], Any]:
            return lambda: subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

        ours = (sys.executable, "-m", "inert", "convert", source, target)
        copy, synced = folder / "copy", f"cp {source!r} {str(folder / 'copy')!r} && sync -f {str(folder / 'copy')!r}"
        peers = {"cp": run("cp", source, str(copy)), "torch+safetensors": run(sys.executable, "-c", theirs[kind], source, target)}
        versus(f"whole process: {kind} to {other}, no sync", run(*ours, "--no-sync"), peers, 5)
        versus(f"whole process: {kind} to {other}", run(*ours), {"cp and sync": run("sh", "-c", synced)}, 5)
        code = "import inert, sys; inert.convert(sys.argv[1], sys.argv[2], sync=False)\n"
        code += "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"  # ru_maxrss counts what the parent had
        peak = subprocess.check_output([sys.executable, "-c", code, source, target], text=True).strip()
        print(f"{'':48} peak of inert's process: {int(peak) // 1024} MiB")


def whole_process(folder: Path) -> None:
    path = folder / "small.pt"
    torch.save(state_dict(300), path)
    one_liner = f"import torch; [print(k, v.dtype, tuple(v.shape)) for k, v in torch.load({str(path)!r}).items()]"

    def run(*command: str) -> Callable[[], Any]:
        return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    peers = {"torch one-liner": run(sys.executable, "-c", one_liner), "python -c pass": run(sys.executable, "-c", "pass")}
    versus("whole process: inert ls of 300 tensors", run(sys.executable, "-m", "inert", "ls", str(path)), peers, 5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--keep", metavar="DIR", help="put the files here and leave them")
    options = parser.parse_args()
    print(f"Python {sys.version.split()[0]}, torch {torch.__version__}, {os.cpu_count()} processors; best of several rounds, in turn")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        many(folder, options.quick)
        loading(folder, options.quick)
        whole_process(folder)
        converting(folder, options.quick)
    print(f"peak of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")


if __name__ == "__main__":
    main()
