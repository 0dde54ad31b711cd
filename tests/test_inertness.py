"""Law 1: nothing in a file is ever run, imported or called. Proven three ways:

* by the source: no module of inert imports a loader of code or looks up a name to call it;
* by a fresh process: opening and listing a checkpoint loads none of these loaders, and nothing that the answer does not need;
* by an audit hook over the hostile corpus: the second reading of each file opens that file, maps it, and does nothing else.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.source_tree import REPOSITORY, SOURCE, imports, modules, parse

# The same names as in the TID251 table of pyproject.toml; a test below holds the two together.
BANNED = {"pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "torch", "tensorflow"}
RUNNERS = {"runpy", "code", "codeop", "imp"}  # no reader needs them either
REGISTRIES = ("inert", "inert.cli", "inert.formats", "inert.writers")  # these import their own modules by the names in their tables
DYNAMIC = {"eval", "exec", "compile", "__import__"}
THE_EXCEPTION = (
    "inert.interop",
    "torch",
    "torch_of",
)  # Tensor.torch() imports torch, because its caller asked: module, target, function

LATE = {"numpy", "ml_dtypes", "rich"}  # a listing into a pipe pays for none of them

HOSTILE = (REPOSITORY.parent / "shared" / "corpus" / "malicious", REPOSITORY / "tests" / "corpus" / "hostile")
MARKS = Path("/tmp/inert-mark")  # where the corpus' payloads put their PWNED_* files, if the folder is there


# ---------------------------------------------------------------------------------------------------------------- by the source


def test_no_module_imports_a_loader_of_code() -> None:
    faults = [
        f"{found}: banned; the one exception is torch inside Tensor.torch()"
        for found in imports()
        if found.target.partition(".")[0] in BANNED | RUNNERS and (found.module, found.target, found.function) != THE_EXCEPTION
    ]
    assert not faults, "\n" + "\n".join(faults)


def test_no_module_looks_up_code_by_name() -> None:
    """eval, exec, compile and __import__ nowhere; import_module only for the public names and for the formats of the registry."""
    faults = []
    for module, file in modules().items():
        for node in ast.walk(parse(file)):
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            bare = isinstance(node, ast.Name)
            if (bare and name in DYNAMIC) or name == "__import__" or (name == "import_module" and module not in REGISTRIES):
                faults.append(f"{file.name}:{node.lineno}: {module} names {name}: inert calls nothing that it has looked up by name")
    assert not faults, "\n" + "\n".join(faults)


def test_the_lint_rule_is_lifted_in_one_line_at_most() -> None:
    lifted = [
        (module, line.strip())
        for module, file in modules().items()
        for line in file.read_text(encoding="utf-8").splitlines()
        if "noqa" in line and "TID251" in line
    ]
    assert [module for module, _ in lifted] == ["inert.interop"], f"only Tensor.torch() may lift TID251: {lifted}"
    assert all(line.startswith("import torch") for _, line in lifted), lifted


def test_the_lint_rule_bans_the_same_names() -> None:
    lines = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    start = lines.index("[tool.ruff.lint.flake8-tidy-imports.banned-api]")
    table = [line for line in lines[start + 1 : lines.index("", start)] if line.startswith('"')]
    assert {line.split('"')[1] for line in table} == BANNED


# ------------------------------------------------------------------------------------------------------------ by a fresh process

TINY_PICKLE = (
    b"\x80\x02}q\x00X\x01\x00\x00\x00wq\x01"  # {"w":
    b"ctorch._utils\n_rebuild_tensor_v2\nq\x02("
    b"(X\x07\x00\x00\x00storageq\x03ctorch\nFloatStorage\nq\x04X\x01\x00\x00\x000q\x05X\x03\x00\x00\x00cpuq\x06K\x06tq\x07Q"
    b"K\x00K\x02K\x03\x86q\x08K\x03K\x01\x86q\x09\x89"  # offset 0, shape (2, 3), strides (3, 1), requires_grad False,
    b"ccollections\nOrderedDict\nq\x0a)Rq\x0btq\x0cRq\x0ds."  # no hooks
)


def tiny_checkpoint(path: Path) -> Path:
    """{"w": float32 tensor of shape (2, 3)} as torch.save writes it, without torch and without the standard pickle."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny/data.pkl", TINY_PICKLE)
        archive.writestr("tiny/byteorder", "little")
        archive.writestr("tiny/data/0", bytes(24))
        archive.writestr("tiny/version", "3\n")
    return path


def run(code: str, *arguments: object, cwd: Path, ahead: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A fresh Python with this tree's inert (or the one in the folder ``ahead``), without coverage's own imports."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("COV_", "COVERAGE_", "PYTEST_"))}
    folders = [str(folder) for folder in (ahead, SOURCE.parent) if folder] + [p for p in [clean.get("PYTHONPATH")] if p]
    command = [sys.executable, *(["-c", code] if "\n" in code else [code]), *map(str, arguments)]
    env = clean | {"PYTHONPATH": os.pathsep.join(folders)}
    return subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, timeout=300, check=False)


DUMP = """
import sys
def dump(path, loaded=tuple(sys.modules)):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\\n".join(loaded))
"""
OPEN_AND_LIST = """
import inert
with inert.open(sys.argv[2]) as ckpt:
    names = list(ckpt.tensors)
loaded = tuple(sys.modules)
assert names == ["w"], names
"""
LS = """
from inert.cli import main
out, path = sys.argv[1:]
sys.argv = ["inert", "ls", path]
try:
    status = main()
except SystemExit as stop:
    status = stop.code
loaded = tuple(sys.modules)
assert not status, status
sys.argv = ["-c", out, path]
"""


@pytest.mark.parametrize("job", [OPEN_AND_LIST, LS], ids=["open and list", "inert ls"])
def test_a_listing_loads_no_loader_of_code_and_nothing_it_does_not_need(job: str, tmp_path: Path) -> None:
    path = tiny_checkpoint(tmp_path / "tiny.pt")
    out = tmp_path / "modules"
    bare = run(DUMP + "dump(sys.argv[1])\n", out, cwd=tmp_path)
    assert not bare.returncode, bare.stderr
    baseline = set(out.read_text(encoding="utf-8").split())

    child = run(DUMP + job + "dump(sys.argv[1], loaded)\n", out, path, cwd=tmp_path)
    assert not child.returncode, child.stderr or child.stdout
    loaded = set(out.read_text(encoding="utf-8").split()) - baseline
    assert not (bad := sorted(loaded & BANNED)), f"a listing has loaded {', '.join(bad)}: a file's pickle is inert's own to read"
    assert not (late := sorted(loaded & LATE)), f"a listing has loaded {', '.join(late)}: import it where the answer needs it"
    if job is LS:
        assert "w" in child.stdout.split(), child.stdout


# ------------------------------------------------------------------------------------------------------------- by an audit hook


def hostile_folder() -> Path:
    for folder in HOSTILE:
        if folder.is_dir() and any(folder.iterdir()):
            return folder
    pytest.fail(f"there is no hostile corpus to prove anything with: neither {HOSTILE[0]} nor {HOSTILE[1]} holds a file")


def targets(root: Path) -> list[dict[str, Any]]:
    """Every file under ``root`` but the tables of expectations, and every folder that is a checkpoint itself.

    Each with the files that it may open: itself, or for an index and a folder checkpoint all files beside it.
    """
    found = []
    for path in sorted(root.rglob("*")):
        if not path.is_file() or (path.name.startswith("expected") and path.suffix == ".json"):
            continue
        beside = [str(other) for other in sorted(path.parent.iterdir()) if other.is_file()]
        if path.name == ".metadata":
            found.append({"path": str(path.parent), "files": [str(path.parent), *beside], "folders": [str(path.parent)]})
        shared = path.name == ".metadata" or path.name.endswith(".index.json")
        own = {"files": beside, "folders": [str(path.parent)]} if shared else {"files": [str(path)], "folders": []}
        found.append({"path": str(path), **own})
    return found


def preload() -> list[str]:
    """What inert's reading code names in its imports, inert's own modules first. cli and web are faces, __main__ would run."""
    faces = ("inert.cli", "inert.web", "inert.__main__")
    own = [module for module in modules() if not module.startswith(faces)]
    named = {found.target for found in imports() if not found.module.startswith(faces)}
    return own + sorted(name for name in named - set(own) if name.partition(".")[0] not in BANNED and not name.startswith(faces))


def audit(job: dict[str, Any], folder: Path, ahead: Path | None = None) -> dict[str, Any]:
    """The child's report. It runs in an empty folder, which must be empty afterwards."""
    empty = folder / "empty"
    empty.mkdir()
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    script = str(Path(__file__).with_name("audit_child.py"))
    child = run(script, folder / "job.json", folder / "report.json", cwd=empty, ahead=ahead)
    assert not child.returncode, f"the reading process ended with {child.returncode}: {child.stderr[-2000:]}"
    assert not (left := sorted(p.name for p in empty.iterdir())), f"reading has left files in its working folder: {left}"
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


@pytest.fixture
def no_payload_runs() -> Iterator[None]:
    def marks() -> set[tuple[str, int]]:
        return {(path.name, path.stat().st_mtime_ns) for path in MARKS.glob("PWNED_*")}

    MARKS.mkdir(parents=True, exist_ok=True)
    before = marks()
    yield
    assert not (new := sorted(marks() - before)), f"payloads have run and left {', '.join(name for name, _ in new)}"


@pytest.mark.usefixtures("no_payload_runs")
def test_reading_hostile_files_does_nothing_but_read_them(tmp_path: Path) -> None:
    folder = hostile_folder()
    report = audit({"preload": preload(), "targets": targets(folder)}, tmp_path)
    faults = report["faults"]
    shown = "\n".join(faults[:40] + ["…"] * (len(faults) > 40))
    assert not faults, f"{len(faults)} things happened that reading does not need:\n{shown}"
    assert report["opened"], f"not one file of {folder} could be opened, so nothing is proven"
    assert report["hashed"], f"not one tensor of {folder} could be read, so nothing is proven"
    assert report["scanned"], f"not one file of {folder} was scanned, so nothing is proven"


# Readers that do more than read: what the hook must see. Each is a whole package named inert.
HEAD = "import io, pickle, subprocess\nclass InertError(Exception): pass\ndef open(path):\n    "
LOADS = HEAD + "return pickle.loads(io.FileIO(path).read())\n"
IMPORTS = HEAD + "return __import__(io.FileIO(path).read().decode())\n"
STARTS = HEAD + "return subprocess.run([path])\n"
WRITES = HEAD + "io.FileIO('left-behind', 'w').close()\n    raise InertError\n"
SPIES = HEAD + "io.FileIO(__file__).close()\n    raise InertError\n"


@pytest.mark.parametrize(
    ("reader", "data", "fault"),
    [
        (LOADS, b"cos\nsystem\n(S'true'\ntR.", "event os.system"),
        (LOADS, b"c__builtin__\neval\n(S'1+1'\ntR.", "event compile"),
        (LOADS, b"cos\npopen\n(S'true'\ntR.", "event subprocess.Popen"),
        (IMPORTS, b"wave", "event import with 'wave'"),
        (STARTS, b"", "event subprocess.Popen"),
        (SPIES, b"", "event open"),
    ],
    ids=["pickle os.system", "pickle eval", "pickle popen", "import", "subprocess", "another file"],
)
def test_the_hook_sees_a_reader_that_trusts_its_files(reader: str, data: bytes, fault: str, tmp_path: Path) -> None:
    (tmp_path / "inert").mkdir()
    (tmp_path / "inert" / "__init__.py").write_text(reader, encoding="utf-8")
    (tmp_path / "hostile.pt").write_bytes(data)
    path = str(tmp_path / "hostile.pt")
    report = audit({"preload": [], "targets": [{"path": path, "files": [path], "folders": []}]}, tmp_path, ahead=tmp_path)
    assert any(fault in sentence for sentence in report["faults"]), report["faults"]


def test_a_file_left_behind_is_seen(tmp_path: Path) -> None:
    (tmp_path / "inert").mkdir()
    (tmp_path / "inert" / "__init__.py").write_text(WRITES, encoding="utf-8")
    job = {"preload": [], "targets": [{"path": "x", "files": ["x"], "folders": []}]}
    with pytest.raises(AssertionError, match="left-behind"):
        audit(job, tmp_path, ahead=tmp_path)
    assert "event open with 'left-behind'" in (tmp_path / "report.json").read_text(encoding="utf-8")
