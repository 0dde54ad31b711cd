#!/usr/bin/env python3
"""inert's scan and other scanners of pickles, side by side over the same files.

    python tools/compare_scanners.py CORPUS                 # prints the tables
    python tools/compare_scanners.py CORPUS --write         # and puts them into docs/scan.md
    python tools/compare_scanners.py CORPUS --venvs DIR --only inert hayward

CORPUS is a folder with ``malicious/`` (and ``malicious/expected.share.json``: what each file is) beside folders of real checkpoints. Each
other scanner is installed from PyPI, at the version of SCANNERS, into an environment of its own below DIR, and asked through its library as
its own command would ask it; one process reads all files, and is started again behind a file that ends it. Scanners say that they only
read; they run without a network where ``unshare`` can take it away, in an empty folder, under an audit hook that writes down whatever
belongs to a payload instead of a reader (starting programs, connections, real unpickling, writing files).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "scan.md"
SECONDS = 60  # for one file

# Package and version on PyPI, what it needs beside itself, where its documentation says what its exit codes mean.
SCANNERS = {
    "inert": ("", (), ""),
    "picklescan": ("1.0.5", ("py7zr",), "https://github.com/mmaitre314/picklescan"),
    "modelscan": ("0.8.8", (), "https://github.com/protectai/modelscan"),
    "fickling": ("0.1.12", ("typing_extensions",), "https://github.com/trailofbits/fickling"),
    "hayward": ("1.4.1", (), "https://pypi.org/project/hayward/"),
}
# What a scanner can say of a file. "passed" is silence about everything dangerous; "skipped" is silence about the whole file.
FLAGGED, UNREAD, PASSED, SKIPPED, CRASHED = "flagged", "unread", "passed", "skipped", "crashed"
Said = tuple[str, bool]  # what its command says unless it is told otherwise; whether the strictest setting of it flags the file
STRICT = {
    "inert": "--fail-on unknown",
    "picklescan": "--strict",
    "modelscan": "(no such setting)",
    "fickling": "(no such setting)",
    "hayward": "--fail-on info",
}

# ------------------------------------------------------------------------------------------- in the environment of a scanner


def _inert() -> Callable[[str], Said]:
    import inert

    verdicts = {"dangerous": FLAGGED, "unreadable": UNREAD, "unknown": PASSED, "clean": PASSED}

    def scan(path: str) -> Said:
        verdict = inert.scan(path).verdict
        return verdicts[verdict], verdict != "clean"

    return scan


def _picklescan() -> Callable[[str], Said]:
    import py7zr  # type: ignore[import-not-found,unused-ignore]  # noqa: F401  (it asks the machine what it is when it is imported)
    from picklescan.scanner import scan_file_path  # type: ignore[import-not-found,unused-ignore]

    def scan(path: str) -> Said:
        said = scan_file_path(path)
        told = FLAGGED if said.issues_count else UNREAD if said.scan_err else PASSED if said.scanned_files else SKIPPED
        return told, bool(said.issues_count or said.suspicious_count)  # its --strict counts both

    return scan


def _modelscan() -> Callable[[str], Said]:
    from modelscan.modelscan import ModelScan  # type: ignore[import-not-found,unused-ignore]

    scanner = ModelScan()

    def scan(path: str) -> Said:
        said = scanner.scan(path)["summary"]
        told = FLAGGED if said["total_issues"] else UNREAD if scanner.errors else PASSED if said["scanned"]["total_scanned"] else SKIPPED
        return told, told == FLAGGED

    return scan


def _fickling() -> Callable[[str], Said]:
    import zipfile

    from fickling.analysis import Severity  # type: ignore[import-not-found,unused-ignore]
    from fickling.loader import scan_file, scan_zip_archive  # type: ignore[import-not-found,unused-ignore]

    def scan(path: str) -> Said:
        said = list(scan_zip_archive(path, graceful=True).values()) if zipfile.is_zipfile(path) else [scan_file(path, graceful=True)]
        if any(result.severity > Severity.LIKELY_SAFE for one in said for result in one.results):
            return FLAGGED, True
        return UNREAD if any(one.errors for one in said) else PASSED if said else SKIPPED, False

    return scan


def _hayward() -> Callable[[str], Said]:
    from hayward import ModelFileScanner, is_coverage_gap  # type: ignore[import-not-found,unused-ignore]

    scanner = ModelFileScanner()

    def scan(path: str) -> Said:
        said = scanner.scan_file(Path(path))
        if any(finding.severity.value in ("critical", "high") for finding in said):  # its --fail-on is "high"
            return FLAGGED, True
        return UNREAD if any(is_coverage_gap(finding) for finding in said) else PASSED, bool(said)

    return scan


MAKE = {"inert": _inert, "picklescan": _picklescan, "modelscan": _modelscan, "fickling": _fickling, "hayward": _hayward}
_PAYLOAD = """
os.system os.exec os.posix_spawn os.spawn os.fork os.startfile subprocess.Popen pty.spawn pickle.find_class ctypes.dlopen socket.connect
socket.getaddrinfo urllib.Request webbrowser.open sqlite3.connect code.__new__ os.remove os.rename os.mkdir shutil.rmtree
"""
PAYLOAD = frozenset(_PAYLOAD.split())


def worker(name: str, listed: str, written: str) -> None:
    """Scans the files of a list, one JSON line each: the path, what was said, and which events of a payload were seen."""
    seen: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in PAYLOAD:
            seen.add(f"{event} {arguments[:2]!r}"[:100])
        elif event == "open" and isinstance(arguments[0], (str, bytes)) and str(arguments[1] or "r")[:1] in "wax":
            seen.add(f"writes {arguments[0]!r}"[:100])

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} seconds")

    scan = MAKE[name]()
    signal.signal(signal.SIGALRM, late)
    with open(written, "a", encoding="utf-8", buffering=1) as lines, open(os.devnull, "w", encoding="utf-8") as nowhere:
        sys.stdout = sys.stderr = nowhere
        sys.addaudithook(hook)
        for path in json.loads(Path(listed).read_text(encoding="utf-8")):
            seen.clear()
            signal.alarm(SECONDS)
            begin = time.perf_counter()
            try:
                (said, strict), why = scan(path), ""
            except (Exception, SystemExit, KeyboardInterrupt) as fault:
                (said, strict), why = (CRASHED, False), f"{type(fault).__name__}: {fault}"[:200]
            signal.alarm(0)
            took = time.perf_counter() - begin
            print(json.dumps({"path": path, "said": said, "strict": strict, "why": why, "seen": sorted(seen), "seconds": took}), file=lines)


# ---------------------------------------------------------------------------------------------------------------- the comparison


def environment(name: str, venvs: Path) -> str:
    """The interpreter that has a scanner."""
    version, beside, _ = SCANNERS[name]
    if name == "inert":
        return sys.executable
    home = venvs / f"{name}-{version}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"{name}=={version}", *beside], check=True)
        (home / "ready").touch()
    return str(python)


def alone() -> list[str]:
    """The words that take the network away, where that is possible."""
    words = ["unshare", "-rn"]
    if shutil.which("unshare") and subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
        return words
    print("no unshare: scanners run with the network of this machine", file=sys.stderr)
    return []


def ask(name: str, python: str, paths: list[str]) -> dict[str, dict[str, Any]]:
    """What a scanner says of each path."""
    said: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        listed, written = Path(folder) / "paths.json", Path(folder) / "said.jsonl"
        inside = Path(folder) / "cwd"
        inside.mkdir()
        surroundings = {
            "PATH": os.defpath,
            "HOME": str(inside),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(ROOT / "src") if name == "inert" else "",
        }
        left = paths
        while left:
            written.write_text("")
            listed.write_text(json.dumps(left), encoding="utf-8")
            command = [*alone(), python, "-W", "ignore", __file__, "--worker", name, str(listed), str(written)]
            ended = subprocess.run(command, cwd=inside, env=surroundings, capture_output=True, text=True, check=False)
            rows = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
            said.update((row["path"], row) for row in rows)
            if len(rows) == len(left):
                break
            if not rows and ended.returncode == 1:
                raise SystemExit(f"{name} does not start:\n{ended.stderr[-2000:]}")
            died = left[len(rows)]
            said[died] = {
                "path": died,
                "said": CRASHED,
                "strict": False,
                "why": f"exit {ended.returncode}",
                "seen": ["the process ended"],
                "seconds": 0.0,
            }
            left = left[len(rows) + 1 :]
    return said


# Kinds of hiding, by beginnings of paths below malicious/; the first that fits.
KINDS: tuple[tuple[str, str], ...] = (
    ("zip archives that readers see differently", "zip/"),
    ("other containers", "containers/"),
    (
        "protocols 0 and 1, text opcodes, opcodes that make objects",
        "opcodes/proto0 opcodes/proto1 opcodes/global_text opcodes/obj opcodes/newobj opcodes/build_ opcodes/bytearray8 "
        "opcodes/stack_global_short_binstring",
    ),
    ("names put together from the memo", "opcodes/stack_global opcodes/many_memo"),
    (
        "calls that leave no trace in the result, or stand inside other calls",
        "opcodes/pop_result opcodes/dict_key opcodes/persid opcodes/reduce_inside opcodes/rebuild_from opcodes/storage_type",
    ),
    ("streams that break off or lie about themselves", "opcodes/no_stop opcodes/frame opcodes/proto_ opcodes/next_buffer"),
    ("other names of the same function: aliases, Python 2, codecs, extension codes", "opcodes/"),
    (
        "functions of torch, NumPy and other libraries",
        "gadgets/torch gadgets/numpy gadgets/pandas gadgets/joblib gadgets/cloudpickle gadgets/dill gadgets/pip",
    ),
    (
        "functions of the standard library that everybody knows",
        "gadgets/builtins gadgets/os_ gadgets/subprocess gadgets/nt_ gadgets/importlib.pt gadgets/io_ gadgets/webbrowser gadgets/py2",
    ),
    (
        "calls by way of harmless functions",
        "gadgets/functools gadgets/map gadgets/operator gadgets/base64 gadgets/collections gadgets/sys_modules gadgets/_pickle",
    ),
    ("less known functions of the standard library", "gadgets/"),
    ("else", ""),
)


def kind(path: str) -> str:
    return next(label for label, begins in KINDS if not begins or path.startswith(tuple(begins.split())))


def hostile(corpus: Path) -> tuple[list[str], list[str]]:
    """The files of malicious/ that do harm, and those that are there to be told apart from them."""
    table = json.loads((corpus / "malicious" / "expected.share.json").read_text(encoding="utf-8"))
    bad = [path for path, row in table.items() if row["expect"] == "unsafe"]
    return bad, [path for path in table if path not in set(bad)]


def benign(corpus: Path, among: list[str]) -> list[str]:
    """Real checkpoints, and the harmless files of malicious/; damaged files are neither."""
    paths = [f"malicious/{path}" for path in among]
    for top in sorted(corpus.iterdir()):
        if top.is_dir() and top.name not in ("malicious", "broken"):
            paths += [str(path.relative_to(corpus)) for path in sorted(top.rglob("*")) if path.is_file() and not _about(path)]
    return paths


def _about(path: Path) -> bool:
    return path.name.endswith(("expected.json", "_SOURCE.txt", ".md", ".txt", ".tsv", ".py"))


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    head = list(head)
    yield f"| {' | '.join(head)} |"
    yield "|" + "|".join(["---"] + ["--:"] * (len(head) - 1)) + "|"
    for row in rows:
        yield f"| {' | '.join(f'{cell:,}' if isinstance(cell, int) else str(cell) for cell in row)} |"


def report(bad: list[str], good: list[str], said: dict[str, dict[str, dict[str, Any]]]) -> Iterator[str]:
    """The tables, a line at a time. ``bad`` and ``good`` are keys of what each scanner said."""
    yield f"{len(bad):,} hostile and {len(good):,} benign files, Python {sys.version_info[0]}.{sys.version_info[1]}."
    yield ""
    head = ("", "hostile: flagged", "could not read", "missed", "crashed", "benign: passed", "not looked at", "could not read")
    rows: list[tuple[object, ...]] = []
    for name, row in said.items():
        here = Counter(row[path]["said"] for path in bad)
        there = Counter(row[path]["said"] for path in good)
        seconds = sum(row[path]["seconds"] for path in (*bad, *good))
        label = f"{name} {SCANNERS[name][0]}".strip()
        rows.append(
            (
                *(label, here[FLAGGED], here[UNREAD], here[PASSED] + here[SKIPPED], here[CRASHED]),
                *(there[PASSED], there[SKIPPED], there[UNREAD], there[FLAGGED], there[CRASHED], f"{seconds:.1f} s"),
            )
        )
    yield from table((*head, "false alarms", "crashed", "time for all"), rows)
    yield ""
    yield "At the strictest setting of each command:"
    yield ""
    strict = [
        (f"{name} {STRICT[name]}", sum(row[path]["strict"] for path in bad), sum(row[path]["strict"] for path in good))
        for name, row in said.items()
    ]
    yield from table(("", "hostile: flagged", "benign: flagged"), strict)
    yield ""
    yield "Hostile files that each flagged or said it could not read, by kind of hiding:"
    yield ""
    kinds = Counter(kind(path.partition("malicious/")[2]) for path in bad)
    rows = []
    for label, _ in KINDS:
        if kinds[label]:
            ours = [path for path in bad if kind(path.partition("malicious/")[2]) == label]
            rows.append((label, len(ours), *(sum(row[path]["said"] in (FLAGGED, UNREAD) for path in ours) for row in said.values())))
    yield from table(("kind", "files", *said), rows)
    yield ""
    for name, row in said.items():
        missed = [path.partition("malicious/")[2] for path in bad if row[path]["said"] in (PASSED, SKIPPED)]
        if missed:
            yield f"* **{name}** missed: {', '.join(f'`{path}`' for path in sorted(missed))}"
    for name, row in said.items():
        for path in (*bad, *good):
            if row[path]["said"] == CRASHED:
                yield f"* **{name}** crashed on `{path.removeprefix('malicious/')}`: {row[path]['why']}"
    yield ""
    for name, row in said.items():
        alarms = [path for path in good if row[path]["said"] == FLAGGED]
        if alarms:
            shown = ", ".join(f"`{path}`" for path in alarms[:8])
            yield f"* **{name}** raised an alarm on: {shown}{f' and {len(alarms) - 8:,} more' if len(alarms) > 8 else ''}"
    yield ""
    ran = {name: sorted({event.split(" ")[0] for one in row.values() for event in one["seen"]}) for name, row in said.items()}
    for name, events in ran.items():
        if events:
            count = sum(bool(one["seen"]) for one in said[name].values())
            yield f"* **{name}** did more than read, in {count:,} files: {', '.join(events)}"
    if not any(ran.values()):
        yield "None of them did more than read: no program started, nothing unpickled, no file written, no connection made."


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument(
        "--venvs", type=Path, default=Path(tempfile.gettempdir()) / "inert-scanners", help="where the scanners are installed"
    )
    parser.add_argument("--only", nargs="+", choices=SCANNERS, default=list(SCANNERS))
    parser.add_argument("--write", action="store_true", help=f"put the tables into {DOCUMENT.relative_to(ROOT)}")
    parser.add_argument("--json", type=Path, help="where to keep what each said of each file")
    options = parser.parse_args(arguments)
    corpus = options.corpus.resolve()
    dangerous, harmless = hostile(corpus)
    bad = [str(corpus / "malicious" / path) for path in dangerous]
    good = [str(corpus / path) for path in benign(corpus, harmless)]
    said = {}
    for name in options.only:
        said[name] = ask(name, environment(name, options.venvs), [*bad, *good])
        print(name, dict(Counter(row["said"] for row in said[name].values())), file=sys.stderr)
    if options.json:
        options.json.write_text(json.dumps(said, indent=1), encoding="utf-8")
    short = {name: {path.removeprefix(f"{corpus}/"): one for path, one in row.items()} for name, row in said.items()}
    lines = list(report([f"malicious/{path}" for path in dangerous], benign(corpus, harmless), short))
    print("\n".join(lines))
    if options.write:
        put(lines)
    return 0


def put(lines: list[str]) -> None:
    """The tables in their place in the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    begin, end = "<!-- compared -->\n", "<!-- /compared -->"
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    DOCUMENT.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:5])
    else:
        raise SystemExit(main())
