"""inert scan, verify and diff against others that read the same files: whole processes, each figure from one run, given as a ratio.

Knows: how the files are made (by inert), what each is measured against, and that the minimum of several rounds in turn is what a noisy
machine can say.
Refuses to know: any bound. It prints; a reader judges. ``--quick`` takes smaller files.

    python bench/checks.py --bin .venv-checks/bin [--quick]

``--bin`` holds inert (installed, not editable: such a one may compile its modules at every start), picklescan and hayward.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import inert

CRC = "import sys, isal.isal_zlib as z; f = open(sys.argv[1], 'rb'); b = bytearray(1 << 22); v = memoryview(b); c = 0\n"
CRC += "while n := f.readinto(b): c = z.crc32(v[:n], c)"
CRC32C = "import sys, google_crc32c as g; f = open(sys.argv[1], 'rb'); c = 0\nwhile d := f.read(1 << 22): c = g.extend(c, d)"


def spent(command: list[str], codes: tuple[int, ...] = (0, 1)) -> tuple[float, float]:
    """Wall and processor seconds of a whole process."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in codes:
        raise SystemExit(f"{' '.join(command[:4])} ended with {child.returncode}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime


def versus(title: str, jobs: dict[str, list[list[str]]], rounds: int) -> None:
    """Each job (commands one after another) in turn; the best of each, and inert's part of the others' time."""
    best = {name: (float("inf"), float("inf")) for name in jobs}
    for _ in range(rounds):
        for name, commands in jobs.items():
            found = [spent(command) for command in commands]
            best[name] = min(best[name][0], sum(one[0] for one in found)), min(best[name][1], sum(one[1] for one in found))
    ours = best["inert"]
    print(title, flush=True)
    for name, (wall, cpu) in best.items():
        parts = "" if name == "inert" else f"   inert takes {ours[0] / wall:6.3f} of the wall time, {ours[1] / cpu:6.3f} of the processor's"
        print(f"    {name:24} {wall:8.3f} s wall {cpu:8.3f} s processor{parts}", flush=True)


def torch_files(folder: Path, count: int, tensors: int) -> Path:
    folder.mkdir()
    for at in range(count):
        state = {f"layers.{i // 10}.weight{i % 10}": np.full(4, i, "<f4") for i in range(tensors)}
        inert.save(state, folder / f"f{at:04}.pt", sync=False)
    return folder


def large(path: Path, size: int) -> Path:
    """Eight tensors of random numbers."""
    random = np.random.default_rng(3)
    inert.save({f"layer{i}": random.random(size // 32, dtype="f4") for i in range(8)}, path, sync=False)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", type=Path, default=Path(sys.executable).parent)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    tools, rounds = options.bin, options.rounds
    python, ours = str(tools / "python"), str(tools / "inert")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many, size = (5_000, 1 << 26) if options.quick else (50_000, 1 << 30)
        one = torch_files(folder / "one", 1, many) / "f0000.pt"
        for title, path in (
            (f"scan: one file of {many:,} tensors", one),
            ("scan: 1,000 files of 1 tensor", torch_files(folder / "tiny", 1000, 1)),
            (f"scan: {many // 50:,} files of 1,000 tensors", torch_files(folder / "small", many // 50, 1000)),
        ):
            jobs = {"inert": [[ours, "scan", str(path)]], "picklescan": [[str(tools / "picklescan"), "-p", str(path)]]}
            versus(title, jobs | ({"hayward": [[str(tools / "hayward"), "scan", str(path)]]} if path == one else {}), rounds)
        whole = large(folder / "large.pt", size)
        versus(
            f"verify: a torch zip of {size >> 20:,} MiB",
            {"inert": [[ours, "verify", str(whole)]], "cat + CRC-32 (isal)": [["cat", str(whole)], [python, "-c", CRC, str(whole)]]},
            rounds,
        )
        inert.convert(whole, folder / "large.index", to="tf-bundle", sync=False)
        data = str(folder / "large.data-00000-of-00001")
        versus(
            f"verify: a TensorFlow bundle of {size >> 20:,} MiB",
            {"inert": [[ours, "verify", str(folder / "large")]], "CRC-32C (google-crc32c)": [[python, "-c", CRC32C, data]]},
            rounds,
        )
        copy = folder / "copy.pt"
        copy.write_bytes(whole.read_bytes())
        versus(
            f"diff: two equal files of {size >> 20:,} MiB",
            {"inert": [[ours, "diff", str(whole), str(copy)]], "cmp": [["cmp", str(whole), str(copy)]]},
            rounds,
        )


if __name__ == "__main__":
    main()
