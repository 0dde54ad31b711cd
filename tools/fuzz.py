"""Runs every fuzz target for its share of a bounded time.

Usage: fuzz.py [--seconds TOTAL] [--targets FOLDER] [-- ARGUMENT…]. Each FOLDER/fuzz_*.py gets ``--seconds TOTAL/count`` and
the further ARGUMENTs; it uses atheris where that is installed, else its random driver (fuzz/driver.py).
Exit: 0 all invariants hold, 1 one does not or a target hung, 2 there is no target.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GRACE = 30.0  # seconds beyond its share after which a target has hung: start, instrumentation, one slow input


def run_target(target: Path, share: float, further: list[str], grace: float = GRACE) -> str:
    """Why ``target`` failed, or "" where it did not."""
    command = [sys.executable, str(target), "--seconds", f"{share:g}", *further]
    try:
        with tempfile.TemporaryDirectory(prefix="inert-fuzz-") as scratch:  # an engine ends its process without tidying up
            done = subprocess.run(command, timeout=share + grace, check=False, env=os.environ | {"TMPDIR": scratch})
    except subprocess.TimeoutExpired:
        return f"did not end within {share + grace:g} s"
    return f"ended with status {done.returncode}" if done.returncode else ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run every fuzz target for its share of a bounded time.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together (default %(default)g)")
    parser.add_argument("--targets", type=Path, default=Path(__file__).resolve().parent.parent / "fuzz")
    parser.add_argument("--grace", type=float, default=GRACE, help=argparse.SUPPRESS)
    parser.add_argument("further", nargs="*", metavar="ARGUMENT", help="passed on to each target, after --")
    options = parser.parse_args(arguments)
    targets = sorted(options.targets.glob("fuzz_*.py"))
    if not targets:
        print(f"there is no fuzz target in {options.targets}: its files are named fuzz_*.py", file=sys.stderr)
        return 2
    share = options.seconds / len(targets)
    failed = 0
    for target in targets:
        start = time.monotonic()
        why = run_target(target, share, options.further, options.grace)
        print(
            f"{target.name}: {why or 'fine'} ({time.monotonic() - start:.0f} s)",
            file=sys.stderr if why else sys.stdout,
            flush=True,
        )
        failed += bool(why)
    if failed:
        print(
            f"{failed} of {len(targets)} fuzz targets failed; what they found lies in {options.targets / 'found'}",
            file=sys.stderr,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
