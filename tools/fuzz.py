"""Runs every fuzz target for its share of a bounded time, or each for a fixed number of inputs.

Usage: fuzz.py [--seconds TOTAL | --smoke] [--jobs N] [--targets FOLDER] [--logs FOLDER] [-- ARGUMENT…]. Targets are FOLDER/fuzz_*.py. Each
gets ``--seconds TOTAL/count``, or ``--smoke``: then it tries the same inputs on every machine (fuzz/driver.py), so that what is green once
stays green. It gets the further ARGUMENTs too. One line per target says how many executions there were, in how many seconds, and the
verdict; whatever a target and its engine print is in LOGS/NAME.log. The last lines are of what has failed: the end of its traceback, its
input in base64 where that is short, and its name with the exception.
Exit: 0 all invariants hold, 1 one does not or a target hung, 2 there is no target.
"""

from __future__ import annotations

import argparse
import base64
import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

GRACE = 60.0  # seconds beyond its share after which a target has hung: start, instrumentation, one slow input
SMOKE = 300.0  # the same for a fixed number of inputs, which are some five seconds' worth
SHORT = 4096  # bytes of an input that is printed
TAIL = 25  # lines of a log that are printed
NOISE = re.compile(r"#\d+\s|INFO:|WARNING: |stat::|MS: |artifact_prefix=|==\d+==|SUMMARY:|NOTE:|\s*$")
COUNT = re.compile(r": ([\d,]+) executions$|^stat::number_of_executed_units: (\d+)", re.MULTILINE)
RAISED = re.compile(r"^[A-Za-z_][\w.]*(?::.*)?$", re.MULTILINE)


class Outcome(NamedTuple):
    """What came of a target: ``why`` it failed ("" where it did not), the end of its ``log`` and the inputs that it ``kept``."""

    target: Path
    why: str
    executions: int
    seconds: float
    log: str
    kept: tuple[Path, ...]


def run_target(target: Path, arguments: list[str], limit: float, logs: Path) -> Outcome:
    command = [sys.executable, str(target), *arguments]
    found = target.parent / "found"
    before = set(found.glob("*"))
    start, log = time.monotonic(), logs / f"{target.stem}.log"
    environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1"}
    with (
        tempfile.TemporaryDirectory(prefix="inert-fuzz-") as scratch,
        log.open("wb") as out,
    ):  # an engine ends its process without tidying up
        try:
            environment["TMPDIR"] = scratch
            done = subprocess.run(
                command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=limit, check=False, env=environment
            )
            why = f"ended with status {done.returncode}" if done.returncode else ""
        except subprocess.TimeoutExpired:
            why = f"did not end within {limit:g} s"
    text = log.read_text("utf-8", "replace")
    counts = [int((mine or engine).replace(",", "")) for mine, engine in COUNT.findall(text)]
    kept = tuple(path for path in sorted(set(found.glob(f"{target.stem}-*")) - before)) or _named(text)
    return Outcome(target, why, max(counts, default=0), time.monotonic() - start, text, kept if why else ())


def _named(text: str) -> tuple[Path, ...]:
    """An input that had been found before, by what the log says of it."""
    return tuple(path for name in re.findall(r"; kept as (.+)$", text, re.MULTILINE) if (path := Path(name)).is_file())


def told(outcome: Outcome) -> str:
    """A failure, so that it can be made again from these lines alone. The last one names the target and the exception."""
    lines = [line for line in outcome.log.splitlines() if not NOISE.match(line)]
    said = [f"—— {outcome.target.name} {outcome.why}; the end of what it said:", *lines[-TAIL:]]
    for path in outcome.kept[:2]:
        data = path.read_bytes()
        if len(data) < SHORT:
            text = base64.b64encode(data).decode("ascii")
            said.append(f"—— again: echo {text} | base64 -d >found && python {outcome.target.parent.name}/{outcome.target.name} found")
        else:
            said.append(f"—— its input of {len(data):,} bytes is {path}")
    raised = [line for line in lines if RAISED.match(line) and not line.startswith(outcome.target.stem)]
    return "\n".join([*said, f"—— {outcome.target.name}: {raised[-1][:300] if raised else outcome.why}"])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Run every fuzz target for its share of a bounded time, or for a fixed number of inputs.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together (default %(default)g)")
    parser.add_argument("--smoke", action="store_true", help="a fixed number of inputs each, the same on every machine")
    parser.add_argument("--jobs", type=int, default=1, help="targets at a time")
    parser.add_argument("--targets", type=Path, default=Path(__file__).resolve().parent.parent / "fuzz")
    parser.add_argument("--logs", type=Path, help="where the targets' output goes (default: TARGETS/logs)")
    parser.add_argument("--grace", type=float, help=argparse.SUPPRESS)
    parser.add_argument("further", nargs="*", metavar="ARGUMENT", help="passed on to each target, after --")
    options = parser.parse_args(arguments)
    targets = sorted(options.targets.glob("fuzz_*.py"))
    if not targets:
        print(f"there is no fuzz target in {options.targets}: its files are named fuzz_*.py", file=sys.stderr)
        return 2
    share = options.seconds * options.jobs / len(targets)
    logs = options.logs or options.targets / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    if options.smoke:
        given, limit = ["--smoke"], SMOKE if options.grace is None else options.grace
    else:
        given, limit = ["--seconds", f"{share:g}"], share + (GRACE if options.grace is None else options.grace)
    failed = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(lambda target: run_target(target, [*given, *options.further], limit, logs), targets):
            verdict = outcome.why or "fine"
            print(f"{outcome.target.name}: {outcome.executions:,} executions, {outcome.seconds:.0f} s, {verdict}", flush=True)
            if outcome.why:
                failed.append(outcome)
    if failed:
        print(f"{len(failed)} of {len(targets)} fuzz targets failed; inputs lie in {options.targets / 'found'}, logs in {logs}")
        for outcome in failed:
            print(told(outcome), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
