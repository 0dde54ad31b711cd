"""What inert says of torch.load and torch.jit.load, held against both: every file of tests/corpus, and of the shared corpus where there is one.

Hostile files (hostile/, malicious/) are never loaded in full, nor given to torch.jit.load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.torch.predict import loads
from tests.oracle.asked import Worker

ROOT = Path(__file__).parents[2]
CORPORA = [ROOT / "tests" / "corpus", ROOT.parent / "shared" / "corpus"]
WORDS = (".expected.json", ".py", ".md", ".tsv", "_SOURCE.txt", "expected.json", "expected.share.json")  # about the files
AT_ONCE = 120  # files of one test

WRONG = "torch would map"  # … what are no values of the tensor's
# files that are not put to torch at all
SKIPPED = {
    "broken/pickle/dag_hash_bomb.pt": "hashing its key takes hours",
    "broken/zip/pickle_bomb_120M.pt": "120 MB of opcodes take torch minutes; inert refuses it by Limits.expand_ratio",
}


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    one = Worker()
    yield one
    one.stop()


def groups() -> Iterator[Any]:
    for corpus in CORPORA:
        files = [path for path in sorted(corpus.rglob("*")) if path.is_file() and not path.name.endswith(WORDS)]
        files = [path for path in files if path.relative_to(corpus).as_posix() not in SKIPPED]
        for start in range(0, len(files), AT_ONCE):
            some = files[start : start + AT_ONCE]
            yield pytest.param(corpus, some, id=f"{corpus.parent.name}-{some[0].relative_to(corpus).as_posix()}")


def modes(corpus: Path, path: Path) -> tuple[str, ...]:
    hostile = path.relative_to(corpus).parts[0] in ("hostile", "malicious")
    return ("weights_only", "mmap") if hostile else ("weights_only", "mmap", "jit", "full")


def predicted(path: Path) -> dict[str, Any]:
    try:
        with inert.open(path) as ckpt:
            return loads(ckpt)
    except inert.InertError as error:
        return {mode: {"ok": False, "why": f"inert refuses it: {error}"} for mode in ("weights_only", "mmap", "jit", "full")}


def differences(said: dict[str, Any], real: dict[str, Any]) -> Iterator[str]:
    for mode, one in real.items():
        ok = one["ok"]
        if mode == "mmap" and ok:  # mapped values that are not those that are read are no success
            read = [real[key]["digest"] for key in ("weights_only", "full") if key in real and real[key]["ok"]]
            ok = one["digest"] in read if read else WRONG not in said[mode]["why"]
        if said[mode]["ok"] != ok:
            yield f"{mode}: inert says {said[mode]['ok']} ({said[mode]['why']}), torch {one}"
    missing = lacks(real.get("full", {}))
    if missing and missing.isprintable() and missing not in said["full"]["why"] and "no pickle files" not in said["full"]["why"]:
        yield f"full: torch lacks {missing}, inert says {said['full']['why']}"


def lacks(real: dict[str, Any]) -> str:
    """The module or class for want of which a full load failed; "" for any other end."""
    wanted: dict[str, Callable[[str], str]] = {
        "ModuleNotFoundError": lambda text: text.partition("'")[2].partition("'")[0],
        "AttributeError": lambda text: text.partition("Can't get attribute '")[2].partition("'")[0],
    }
    return wanted.get(real.get("kind", ""), lambda text: "")(real.get("why", ""))


@pytest.mark.parametrize(("corpus", "files"), list(groups()))
def test_the_files(corpus: Path, files: list[Path], worker: Worker) -> None:
    real = worker.ask_all((path, modes(corpus, path)) for path in files)
    found = []
    for path, one in zip(files, real, strict=True):
        said = predicted(path)
        if any(differences(said, one)):  # by itself, which no other file's imports can change
            found += [f"{path.relative_to(corpus)} {line}" for line in differences(said, worker.ask(path, *modes(corpus, path)))]
    assert not found, "\n" + "\n".join(found)


def test_the_skipped_files_are_there() -> None:
    assert all((CORPORA[1] / name).exists() for name in SKIPPED) or not CORPORA[1].is_dir()
