"""Whatever the bytes: a result or one sentence, quickly, in bounded memory, and nothing that a file names is done.

Every file of tests/corpus/hostile and broken (and of the shared corpus' malicious and broken, where it lies beside the repository) is opened,
listed, hashed and walked in a process of its own, which may use 10 seconds and 300 MB and may write nothing.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.errors import InertError
from inert.pickle.decode import decode
from tests.conformance import calls, look_over
from tests.source_tree import REPOSITORY, SOURCE

HERE = Path(__file__).parent / "corpus"
SHARED = REPOSITORY.parent / "shared" / "corpus"
MARKS = Path("/tmp/inert-mark")
SECONDS, MEGABYTES = 10, 300


def maker(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"tests.corpus.{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOSTILE: dict[str, dict[str, Any]] = json.loads((HERE / "hostile" / "expected.json").read_text(encoding="utf-8"))
BROKEN: dict[str, dict[str, Any]] = json.loads((HERE / "broken" / "expected.json").read_text(encoding="utf-8"))


# -------------------------------------------------------------------------------------------- each file in a process of its own


def child() -> None:
    """Reads paths, a line each; writes a JSON line for each: what a forked process found, its seconds and its peak memory."""
    for line in sys.stdin:
        path = line.rstrip("\n")
        reader, writer = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(reader)
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            try:
                found = vars(look_over(path))
                found["names"] = len(found["names"])
            except BaseException as error:
                found = {"crash": f"{type(error).__name__}: {error}"[:300]}
            used = resource.getrusage(resource.RUSAGE_SELF)
            found["seconds"] = used.ru_utime + used.ru_stime  # of the processor: what else the machine does is not this file's
            found["megabytes"] = used.ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20)
            os.write(writer, json.dumps(found).encode()[:60_000])
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            said = pipe.read()
        _, status = os.waitpid(pid, 0)
        found = (
            json.loads(said) if said else {"crash": f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "said nothing"}
        )
        print(json.dumps({"path": path, "seconds": 0.0, **found}), flush=True)


def examined(paths: list[Path]) -> list[dict[str, Any]]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("COV_", "COVERAGE_", "PYTEST_"))}
    env = clean | {"PYTHONPATH": os.pathsep.join([str(SOURCE.parent), str(REPOSITORY)])}
    code = "from tests.test_hostile import child; child()"
    done = subprocess.run(
        [sys.executable, "-c", code], input="".join(f"{path}\n" for path in paths), capture_output=True, text=True, env=env, cwd=REPOSITORY, check=False
    )  # fmt: skip
    assert not done.returncode, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["path"] for row in found] == list(map(str, paths))
    return found


def faults(rows: list[dict[str, Any]]) -> list[str]:
    """What no file may make inert do."""
    found = []
    for row in rows:
        name = Path(row["path"]).name
        if "crash" in row:
            found.append(f"{name}: {row['crash']}")
            continue
        if row["seconds"] > SECONDS:
            found.append(f"{name}: took {row['seconds']:.1f} s")
        if row["megabytes"] > MEGABYTES:
            found.append(f"{name}: took {row['megabytes']:.0f} MB")
        if not row["opened"] and not row["refused"]:
            found.append(f"{name}: neither opened nor refused")
    return found


def marks() -> set[str]:
    return set(os.listdir(MARKS)) if MARKS.is_dir() else set()


@pytest.mark.no_cover
def test_no_hostile_file_of_ours_does_anything(tmp_path: Path) -> None:
    made = maker("make_hostile").everything()
    for name, data in made.items():
        (tmp_path / name).write_bytes(data)
    before = marks()
    rows = examined([tmp_path / name for name in sorted(made)])
    assert faults(rows) == []
    assert marks() == before
    assert {path.name for path in tmp_path.iterdir()} == set(made), "a file has been written"
    wrong = []
    for row in rows:
        wanted = HOSTILE[Path(row["path"]).name]
        readable = row.get("hashed", 0)
        if row["opened"] != wanted["opens"] or wanted["tensors"] not in (readable, None) or wanted["refuses"] not in row["refused"]:
            wrong.append(f"{Path(row['path']).name}: opened {row['opened']}, {readable} tensors read; {row['refused']}")
    assert not wrong, wrong


@pytest.mark.no_cover
def test_the_committed_files_are_what_their_maker_makes() -> None:
    made = maker("make_hostile")
    small = {name: data for name, data in made.everything().items() if len(data) <= made.SMALL}
    there = {path.name: path.read_bytes() for path in (HERE / "hostile").iterdir() if path.suffix == ".pt"}
    assert there.keys() == small.keys()
    assert [name for name, data in small.items() if there[name] != data and b"\1\2" in data and HOSTILE[name] and not deflated(data)] == []
    assert set(made.TABLE) == set(HOSTILE)


def deflated(data: bytes) -> bool:
    """Whether a member is compressed: another zlib may make other bytes of the same content."""
    at = data.index(b"PK\1\2")
    while at >= 0:
        if data[at + 10 : at + 12] == b"\x08\0":
            return True
        at = data.find(b"PK\1\2", at + 4)
    return False


SLOW = ("deep_", "copies_", "colliding_", "marks", "digits", "long_number")  # tried once, in a process of its own, is enough


@pytest.mark.parametrize("name", [name for name in HOSTILE if (HERE / "hostile" / name).exists() and not name.startswith(SLOW)])
def test_what_a_hostile_file_asks_for_is_recorded(name: str) -> None:
    wanted = HOSTILE[name]
    try:
        with inert.open(HERE / "hostile" / name) as checkpoint:
            assert wanted["opens"], "opened"
            assert calls(checkpoint) >= set(wanted["calls"])
            if wanted["tensors"] == 1 and "ok" in checkpoint.tensors:
                assert checkpoint.tensors["ok"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
                assert checkpoint.notes or not name.startswith("lie_"), "a lie is noted"
    except InertError as error:
        assert not wanted["opens"], error
        assert wanted["refuses"] in f"{type(error).__name__}: {error}"
        assert str(error).isprintable()


def test_a_call_before_a_fault_is_still_known() -> None:
    with zipfile.ZipFile(HERE / "hostile" / "before_damage.pt") as archive:
        document = decode(archive.read("archive/data.pkl"))
    assert document.fault is not None
    assert [call.dotted for call in document.calls] == ["os.system"]


# ---------------------------------------------------------------------------------------------------------------- damaged files


def test_every_broken_file_of_ours_gives_an_answer() -> None:
    rows = examined(sorted(path for path in (HERE / "broken").iterdir() if path.suffix == ".pt"))
    assert faults(rows) == []
    assert len(rows) == len(BROKEN)


@pytest.mark.parametrize("name", BROKEN)
def test_damage_is_told_and_what_is_whole_can_be_read(name: str) -> None:
    wanted = BROKEN[name]
    names = ["w_f32", "b_f16", "e_bf16", "i_i32", "s_f32"]
    try:
        with inert.open(HERE / "broken" / name) as checkpoint:
            assert wanted["opens"], "opened"
            assert list(checkpoint.tensors) == names
            lost = []
            for key, tensor in checkpoint.tensors.items():
                try:
                    tensor.sha256()
                    tensor.numpy()
                except InertError as error:
                    lost.append(key)
                    assert str(error).isprintable()
            assert sorted(lost) == wanted["lost"]
            assert {note.code for note in checkpoint.notes} >= set(wanted["notes"])
    except InertError as error:
        assert not wanted["opens"], error
        assert wanted["refuses"] in f"{type(error).__name__}: {error}"
        assert str(error).isprintable()


@pytest.mark.parametrize("name", [name for name, row in BROKEN.items() if row["lost"] and row["notes"]])
def test_a_strict_reader_refuses_a_file_with_a_damaged_tensor(name: str) -> None:
    with pytest.raises(InertError):
        inert.open(HERE / "broken" / name, strict=True)


# ------------------------------------------------------------------------------------------------------------- the shared corpus


@pytest.mark.no_cover
@pytest.mark.corpus
@pytest.mark.parametrize("kind", ["malicious", "broken"])
def test_the_shared_corpus(kind: str) -> None:
    if not (SHARED / kind).is_dir():
        pytest.skip("the shared corpus of real files does not lie beside the repository")
    paths = sorted(path for path in (SHARED / kind).rglob("*") if path.is_file() and path.suffix not in (".json", ".py", ".tsv"))
    before = marks()
    rows = examined(paths)
    assert faults(rows) == []
    assert marks() == before
    assert sum(row["opened"] for row in rows) > 20
    table = json.loads((SHARED / kind / "expected.share.json").read_text(encoding="utf-8"))
    wrong = []
    for row in rows:
        wanted = table.get(Path(row["path"]).relative_to(SHARED / kind).as_posix(), {})
        if (
            wanted.get("expect", "").startswith("loads")
            and row["refused"]
            and "UnidentifiedError" not in row["refused"]
            and "this version" not in row["refused"]
        ):
            wrong.append(f"{row['path']}: torch loads it, inert: {row['refused']}")
    assert wrong == []
