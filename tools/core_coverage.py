"""Fails where the tests cover too little of the core: what turns a stranger's bytes into values.

Usage: core_coverage.py [REPORT] [--floor PERCENT]. REPORT is what ``coverage json`` writes (default coverage.json).
Lines and branches count together, as in coverage's own percentages. Exit: 0 enough, 1 too little, 2 no answer.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

CORE = ("source", "containers", "pickle", "torch", "tensorflow", "formats")
FLOOR = 95.0


@dataclass(frozen=True, slots=True)
class Covered:
    """Of ``total`` lines and branches of the file ``name``, ``lines`` lines and ``branches`` branches were never taken."""

    name: str
    total: int
    lines: int
    branches: int

    @property
    def percent(self) -> float:
        return 100.0 * (self.total - self.lines - self.branches) / self.total if self.total else 100.0

    def __str__(self) -> str:
        return f"{self.name} {down(self.percent)} % ({self.lines} lines, {self.branches} branches missing)"


def part_of(file: str) -> str:
    """``src/inert/pickle/decode.py`` → ``pickle``; "" for a file outside the package."""
    parts = PurePosixPath(file.replace("\\", "/")).parts
    folders = [i for i, part in enumerate(parts[:-1]) if part == "inert" and (i == 0 or parts[i - 1] in ("src", "site-packages"))]
    return PurePosixPath(parts[folders[-1] + 1]).stem if folders else ""


def core_files(report: dict[str, Any]) -> list[Covered]:
    """The core's files in a coverage JSON report, least covered first."""
    found = []
    for file, entry in report["files"].items():
        if part_of(file) in CORE:
            s = entry["summary"]
            total = s["num_statements"] + s.get("num_branches", 0)
            found.append(Covered(file, total, s["missing_lines"], s.get("missing_branches", 0)))
    return sorted(found, key=lambda file: (file.percent, file.name))


def down(percent: float) -> str:
    """One decimal, rounded down: what is below a floor must not look as if it were on it."""
    return f"{int(percent * 10) / 10:.1f}"


def judge(report: dict[str, Any], floor: float = FLOOR) -> tuple[int, str]:
    """Exit status and the sentence that goes with it."""
    if not report["meta"].get("branch_coverage"):
        return 2, "the coverage report counts no branches: run pytest with --cov-branch"
    files = core_files(report)
    if not files:
        return 2, f"the coverage report names no file of the core ({', '.join(CORE)}): was inert measured?"
    whole = Covered("the core", *(sum(getattr(f, field) for f in files) for field in ("total", "lines", "branches")))
    if whole.percent >= floor:
        return 0, f"Coverage of the core is {down(whole.percent)} % (floor {floor:g} %) over {len(files)} files."
    worst = "\n".join(f"  {file}" for file in files[:5] if file.percent < 100)
    return 1, (
        f"Coverage of the core is {down(whole.percent)} %, below its floor of {floor:g} %: "
        f"{whole.lines} lines and {whole.branches} branches are never taken. Least covered:\n{worst}"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fail where the tests cover too little of the core.")
    parser.add_argument("report", nargs="?", default="coverage.json", type=Path)
    parser.add_argument("--floor", type=float, default=FLOOR, help="percent of lines and branches together (default %(default)g)")
    options = parser.parse_args(arguments)
    try:
        report = json.loads(options.report.read_text(encoding="utf-8"))
        status, sentence = judge(report, options.floor)
    except (OSError, ValueError, KeyError, TypeError) as error:
        status, sentence = 2, f"{options.report} cannot be used as a coverage JSON report: {type(error).__name__}: {error}"
    print(sentence, file=sys.stderr if status else sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(main())
