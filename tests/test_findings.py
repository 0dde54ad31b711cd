"""No code of the table is dead: each is given for some file of the corpus, for an input made here, or in a test that names it."""

from __future__ import annotations

import gzip
import io
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.errors import InertError
from inert.finding import CODES
from inert.limits import Limits
from tests.makers import Entry, Made, Name, dumps, storage, tensor, torch_entries, torch_zip, zip_bytes
from tests.tars import archive, checkpoint, storages, tensors

HERE = Path(__file__).parent / "corpus"
SYSTEM = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
WEIGHT = tensor(storage("0", 2), (2,))
TAR = checkpoint({}, storages([(0, "Float", bytes(8))]), tensors([]))
WHOLE = -(-len(TAR.rstrip(b"\0")) // 512) * 512  # of its members


def zipped(data: bytes, **options: Any) -> bytes:
    return torch_zip(data, {"0": bytes(8)}, **options)


def entries(**change: Any) -> list[Entry]:
    made = torch_entries(dumps(WEIGHT), {"0": bytes(8)})
    for key, value in change.items():
        setattr(next(entry for entry in made if entry.name == "archive/data/0"), key, value)
    return made


def legacy(keys: Any, *blobs: bytes, **system: Any) -> bytes:
    from inert.torch.legacy import MAGIC, PROTOCOL

    held = Made(Name("torch._utils", "_rebuild_tensor"), (storage("0", 2), 0, (2,), (1,)))
    held.args[0].value += (None,)
    return b"".join(map(dumps, (MAGIC, PROTOCOL, SYSTEM | system, held if keys else {}, keys))) + b"".join(blobs)


BLOB = struct.pack("<q2f", 2, 1, 2)


def joblib() -> bytes:
    payload = b"cposix\nsystem\nX\2\0\0\0id\x85R0N"
    dtype = Made(Name("numpy", "dtype"), ("u1", False, True), (3, "<", None, None, None, -1, -1, 0))
    facts = {"subclass": Name("numpy", "ndarray"), "shape": (len(payload),), "order": "C", "dtype": dtype, "allow_mmap": True}
    return dumps(Made(Name("joblib.numpy_pickle", "NumpyArrayWrapper"), (), facts, new=True))[:-1] + payload + b"."


def record_of(path: Path, name: str, data: bytes) -> bytes:
    """An archive of the corpus with one more record."""
    import zipfile

    with zipfile.ZipFile(path) as there:
        return zip_bytes([*(Entry(member, there.read(member)) for member in there.namelist()), Entry(name, data)])


def folder(name: str, change: Callable[[Path], Any]) -> Callable[[Path], Path]:
    def make(into: Path) -> Path:
        made = Path(shutil.copytree(HERE / name, into / "set"))
        change(made)
        return made

    return make


def stray(to: Path) -> None:
    """A partition more than the weights are cut into."""
    there = next(to.rglob("*zero_pp_rank_1*_optim_states.pt"))
    shutil.copy(there, there.with_name(there.name.replace("rank_1_", "rank_7_", 1)))


def beside(into: Path) -> Path:
    (into / "data").mkdir()
    (into / "data" / "0").write_bytes(bytes(8))
    (into / "data.pkl").write_bytes(dumps(WEIGHT))
    return into / "data.pkl"


def metadata(into: Path) -> Path:
    made = Path(shutil.copytree(HERE / "dcp" / "two_ranks", into / "set"))
    data = (made / ".metadata").read_bytes()
    assert b"\x05sizes" in data
    (made / ".metadata").write_bytes(data.replace(b"\x05sizes", b"\x05size5", 1))
    return made


# code → an input that has it: bytes, (bytes, limits), or what makes a file or folder
def marked(at: int, bits: int) -> bytes:
    """An archive with bits set in the byte ``at`` of the directory's entry of its storage."""
    data = bytearray(zip_bytes(entries()))
    data[data.rindex(b"archive/data/0") - 46 + at] |= bits
    return bytes(data)


MADE: dict[str, Any] = {
    "zip-folder": marked(38, 0x10),
    "zip-masked": marked(9, 0x20),
    "zip-local-fields": zip_bytes(entries(local={"method": 8})),
    "zip-overlap": zip_bytes(entries(packed=200, size=200)),
    "tar-duplicate": archive({"sys_info": b"x"})[:1024] + TAR,
    "tar-refused": archive({"sys_info": dumps(SYSTEM), "../up": b"1"})[:2048] + TAR,
    "tar-damaged": TAR[:WHOLE] + b"x" * 512 + bytes(1024),
    "tar-cut": TAR[: TAR.index(b"storages\0") + 520],
    "tensor-storage-retyped": zipped(dumps([WEIGHT, tensor(storage("0", 1, "Long"), (1,))])),
    "tensor-storage-resized": zipped(dumps([WEIGHT, tensor(storage("0", 3), (1,))])),
    "legacy-trailing": legacy(["0"], BLOB) + b"junk",
    "legacy-byteorder": legacy([], little_endian=False),
    "legacy-keys": legacy(["0", "0"], BLOB, BLOB),
    "wrapper-damaged": gzip.compress(dumps({"epoch": 3}) + b"\n" * 10)[:-1],
    "pickle-several": dumps([1]) + dumps([2]),
    "pickles-limit": (dumps([1]) + dumps([2]), Limits(pickles=1)),
    "pickle-hidden": joblib(),
    "data-missing": dumps(WEIGHT),
    "data-beside": beside,
    "shards-odd": folder("sharded/no_index", lambda to: shutil.copy(HERE / "torch" / "bare_list.pt", to / "model-00002-of-00002.safetensors")),
    "shards-choice": folder("sharded/bin", lambda to: shutil.copytree(HERE / "sharded" / "safetensors", to, dirs_exist_ok=True)),
    "dcp-file-missing": folder("dcp/two_ranks", lambda to: (to / "__1_0.distcp").unlink()),
    "dcp-record": folder("dcp/two_ranks", lambda to: (to / "__1_0.distcp").unlink()),
    "dcp-entry": metadata,
    "zero-unreadable": folder("deepspeed/zero2", lambda to: next(to.rglob("*zero_pp_rank_1*_optim_states.pt")).write_bytes(b"PK\3\4")),
    "zero-partitions": folder("deepspeed/zero2", stray),
    "pickle-protocol": zipped(b"\x80\6N."),
    "pickle-buffer": zipped(b"\x80\5\x97."),
    "pickle-duplicate-key": zipped(b"\x80\2}K\1NsK\1Ns."),
    "pickle-broken": zip_bytes([
        Entry("m/data.pkl", b"\x80\2}."), Entry("m/constants.pkl", b"\x80\2)."), Entry("m/version", b"3\n"), Entry("m/traced_inputs.pkl", b"\x80\2("),
    ]),
    "names-limit": (zipped(dumps({"a" * 50: WEIGHT, "b" * 50: WEIGHT})), Limits(name_bytes=70)),
    "export-native": record_of(HERE / "script" / "export.pt2", "export/data/aotinductor/model/a.so", b"\x7fELF"),
}  # fmt: skip


def given(path: Path | io.BytesIO, limits: Limits | None = None) -> set[str]:
    try:
        with inert.open(path, limits=limits or Limits()) as found:
            return {note.code for note in found.notes}
    except InertError:
        return set()


@pytest.mark.parametrize("code", MADE)
def test_an_input_has_it(code: str, tmp_path: Path) -> None:
    made = MADE[code]
    if callable(made):
        assert code in given(made(tmp_path))
    else:
        data, limits = made if isinstance(made, tuple) else (made, None)
        path = tmp_path / "file"
        path.write_bytes(data)
        assert code in given(path, limits)


def test_every_other_code_is_given_for_a_file_of_the_corpus() -> None:
    slow = ("deep_", "copies_", "colliding_", "marks", "call_")  # hostile ones, whose notes are others' too
    files = [path for path in HERE.rglob("*") if path.suffix not in (".py", ".tsv", ".json") or path.name.endswith(".index.json")]
    files = [path for path in files if not path.name.startswith(slow)]
    found = set().union(*map(given, files))
    texts = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name]
    named = {code for code in CODES if any(f'"{code}"' in text for text in texts)}  # made by hand there, and asserted
    assert set(CODES) - found - named - MADE.keys() == set()
    assert MADE.keys() <= CODES.keys()
