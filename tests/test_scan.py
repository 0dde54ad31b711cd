"""``inert.scan``: what is found in files made by hand, in the hostile files of tests/corpus, and in the shared corpus.

The expected verdicts are what the unpicklers of Python, torch, joblib, NumPy and Keras would do with the bytes; nothing here asks inert for them.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import struct
import tarfile
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.limits import Limits
from inert.ops.scan import ScanReport
from inert.ops.scanning.files import Refused, files
from inert.ops.scanning.verdicts import VERDICTS
from tests.makers import Entry, Made, Name, dumps, storage, tensor, torch_zip, zip_bytes
from tests.source_tree import REPOSITORY

HERE = Path(__file__).parent / "corpus"
SHARED = REPOSITORY.parent / "shared" / "corpus"
PLAIN = {"w": tensor(storage("0", 2), (2,))}
STORED = {"0": bytes(8)}
SYSTEM = b"cos\nsystem\n(S'true'\ntR."
CALL = Made(Name("os", "system"), ("true",))


def scan(data: bytes, **options: Any) -> ScanReport:
    return inert.scan(io.BytesIO(data), **options)


def names(report: ScanReport, verdict: str = "") -> list[str]:
    return [one.dotted for one in report.globals if verdict in ("", one.verdict)]


def codes(report: ScanReport) -> set[str]:
    return {finding.code for finding in report.findings}


def zipped(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return made.getvalue()


def tarred(members: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return made.getvalue()


def npy(objects: bytes) -> bytes:
    """An array of objects as NumPy 2 saves it: its header, then the pickle."""
    head = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + objects


# ------------------------------------------------------------------------------------------------------------------- what is asked for


def test_a_plain_checkpoint_is_clean() -> None:
    report = scan(torch_zip(dumps(PLAIN), STORED))
    assert (report.verdict, report.kind, report.findings) == ("clean", "torch-zip", [])
    assert names(report) == ["torch._utils._rebuild_tensor_v2", "torch.FloatStorage", "collections.OrderedDict"]
    assert [(one.count, one.calls) for one in report.globals] == [(1, 1), (1, 0), (1, 1)]
    assert report.weights_only.accepts
    assert report.weights_only.blocked == []
    assert "clean" in repr(report)


def test_fifty_rows_count_like_fifty_calls() -> None:
    state = OrderedDict((f"layer.{i}.weight", tensor(storage(str(i), 2), (2,))) for i in range(50))
    report = scan(torch_zip(dumps(state), {str(i): bytes(8) for i in range(50)}))
    found = {one.dotted: one for one in report.globals}
    assert found["torch._utils._rebuild_tensor_v2"].calls == 50
    assert report.verdict == "clean"


def test_names_stand_in_the_order_of_their_import_with_their_place() -> None:
    data = b"\x80\x04" + b"cos\nsystem\n0cposix\nabort\n0cgone\nThing\n0."
    report = scan(data)
    assert names(report) == ["os.system", "posix.abort", "gone.Thing"]
    assert [one.offset for one in report.globals] == [2, 14, 28]
    assert [one.verdict for one in report.globals] == ["dangerous", "dangerous", "unknown"]
    assert [one.calls for one in report.globals] == [0, 0, 0]
    assert report.verdict == "dangerous"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x80\x02cos\nsystem\n0K\x01.", "os.system"),  # dropped
        (b"\x80\x02cos\nsystem\nX\x04\0\0\0true\x85R0\xff.", "os.system"),  # before a parse error
        (b"\x80\x02cos\nsystem\nX\x04\0\0\0true\x85R", "os.system"),  # without an end
        (b"\x80\x02}q\x00X\x02\0\0\0osq\x01X\x06\0\0\0systemq\x02h\x01h\x02\x93h\x00\x86R.", "os.system"),  # parts from the memo
        (b"\x80\x04\x8c\x13torch.serialization\x8c\tos.system\x93)R.", "torch.serialization.os.system"),  # a dotted name
        (b"\x80\x02c__builtin__\neval\nX\x03\0\0\x001+1\x85R.", "builtins.eval"),  # Python 2's spelling
        (b"\x80\x04\x95\x03\0\0\0\0\0\0\0cos\nsystem\n)R.", "os.system"),  # a frame that ends inside of an opcode
        (b"\x80\x02\x80\x04cos\nsystem\n)R.", "os.system"),  # a second PROTO
        (b"(S'true'\nios\nsystem\n.", "os.system"),  # INST
        (b"\x80\x02cos\nsystem\nX\x04\0\0\0true\x85\x81.", "os.system"),  # NEWOBJ
        (b"(S'true'\nios\nsystem_", "os.system"),  # INST at the very end: Python leaves the last byte out, and calls it
        (b"ios\nsystem\n.", "os.system"),  # INST without a mark: Python's own unpickler imports before it looks for one
        (b"\x80\x04\x95\xff\0\0\0\0\0\0\0\x8c\x02os\x940\x8c\x06system\x940h\x00h\x01\x93)R.", "os.system"),  # a frame beyond the end
    ],
)
def test_tricks_of_the_opcodes_hide_no_name(data: bytes, name: str) -> None:
    report = scan(data)
    assert report.verdict == "dangerous"
    assert name in names(report, "dangerous")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x80\x02\x82\x01)R.", "pickle-extension"),
        (b"\x80\x04\x8c\x02os\x8c\x02ab\x85\x93)R.", "pickle-broken"),
        (
            b"\x80\x04c_codecs\nencode\n\x8c\x06system\x8c\x06latin1\x86R\x8c\x02os\x8c\x06systemcbuiltins\nstr\n)R\x93.",
            "pickle-computed-name",
        ),
        (b"\x80\x04cgone\nThing\n}\x8c\x01a\x8c\x01bsb.", "pickle-changes-name"),  # BUILD on a class
        (b"\x80\x04cgone\nThing\n)R)R.", "pickle-calls-result"),
        (b"\x80\x04\x95\x03\0\0\0\0\0\0\0cgone\nThing\n.", "pickle-frame"),
        (b"\x80\x04\x95\xff\0\0\0\0\0\0\0cgone\nThing\n.", "pickle-frame"),  # beyond the end
        (b"\x80\x02\x80\x04cgone\nThing\n.", "pickle-proto"),
        (b"\x80\x04c_codecs\nencode\n\x8c\x01a\x8c\x05rot13\x86R.", "pickle-codec"),
        (b"\x80\x04ctorch.storage\n_load_from_bytes\ncgone\nmake\n)R\x85R.", "pickle-loads-bytes"),
    ],
)
def test_what_is_odd_is_told(data: bytes, code: str) -> None:
    report = scan(data)
    assert code in codes(report)
    assert report.verdict in {VERDICTS[code], "dangerous"}


class TestGetattr:
    @staticmethod
    def taken(of: Any, attribute: Any) -> ScanReport:
        return scan(torch_zip(dumps(Made(Name("__builtin__", "getattr"), (of, attribute)))))

    def test_of_a_name_and_a_text_is_that_name(self) -> None:
        report = self.taken(Name("datetime", "datetime"), "fromtimestamp")
        assert "datetime.datetime.fromtimestamp" in names(report)
        assert {one.dotted: one.verdict for one in report.globals}["builtins.getattr"] == "clean"
        assert "pickle-getattr" not in codes(report)

    def test_of_a_dangerous_name_is_dangerous(self) -> None:
        report = self.taken(Name("torch", "serialization"), "os")
        assert report.verdict == "dangerous"
        assert "torch.serialization.os" in names(report, "dangerous")

    def test_of_what_getattr_gave_goes_on(self) -> None:
        inner = Made(Name("__builtin__", "getattr"), (Name("gone", "thing"), "os"))
        assert "gone.thing.os.system" in names(self.taken(inner, "system"), "dangerous")

    @pytest.mark.parametrize("of", [Made(Name("gone", "Thing"), ()), "text", 1], ids=["a call", "a text", "a number"])
    def test_of_anything_else_is_dangerous(self, of: Any) -> None:
        report = self.taken(of, "name")
        assert report.verdict == "dangerous"
        assert "pickle-getattr" in codes(report)

    def test_by_a_name_that_is_made_is_dangerous(self) -> None:
        report = self.taken(Name("gone", "Thing"), Made(Name("gone", "text"), ()))
        assert report.verdict == "dangerous"

    def test_passed_on_is_dangerous(self) -> None:
        report = scan(torch_zip(dumps([Made(Name("__builtin__", "getattr"), (Name("gone", "a"), "b")), Name("__builtin__", "getattr")])))
        assert "builtins.getattr" in names(report, "dangerous")


# ------------------------------------------------------------------------------------------------------------------- where it is found

LEGACY = b"".join(map(dumps, (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, [], [])))
PLACES: dict[str, Callable[[], bytes]] = {
    "bare": lambda: SYSTEM,
    "bare, protocol 4": lambda: dumps(CALL, 4),
    "a second pickle in the stream": lambda: dumps({"a": 1}) + dumps(CALL),
    "behind zeros": lambda: dumps({"a": 1}) + bytes(64) + dumps(CALL),
    "gzip": lambda: gzip.compress(dumps(CALL)),
    "xz": lambda: lzma.compress(dumps(CALL)),
    "bzip2": lambda: bz2.compress(dumps(CALL)),
    "gzip in gzip": lambda: gzip.compress(gzip.compress(dumps(CALL))),
    "gzip of an archive": lambda: gzip.compress(torch_zip(dumps(CALL))),
    "data.pkl": lambda: torch_zip(dumps(CALL)),
    "a deflated member": lambda: zipped({"archive/data.pkl": dumps(CALL)}, zipfile.ZIP_DEFLATED),
    "a member of another name": lambda: zipped({"archive/data.pkl": dumps({}), "archive/notes": dumps(CALL)}),
    "a member of protocol 0": lambda: zipped({"archive/data.pkl": dumps({}), "archive/notes.txt": SYSTEM}),
    "a record of a tensor": lambda: torch_zip(dumps(PLAIN), {"0": dumps(CALL)}),
    "behind a tensor": lambda: torch_zip(dumps(PLAIN), {"0": bytes(8) + dumps(CALL)}),
    "an archive in an archive": lambda: zipped({"a.zip": zipped({"b.zip": zipped({"data.pkl": dumps(CALL)})})}),
    "before the archive": lambda: dumps(CALL) + torch_zip(dumps(PLAIN), STORED),
    "behind the archive": lambda: torch_zip(dumps(PLAIN), STORED) + dumps(CALL),
    "an archive behind another": lambda: torch_zip(dumps(PLAIN), STORED) + torch_zip(dumps(CALL)),
    "a hidden member": lambda: zip_bytes([Entry("a/data.pkl", dumps(CALL)), Entry("a/data.pkl", dumps({}))]),
    "a member that no directory names": lambda: zip_bytes(
        [Entry("a/data.pkl", dumps({})), Entry("a/more.pkl", dumps(CALL), listed=0), Entry("a/version", b"3\n")]
    ),
    "a control pickle of the old layout": lambda: LEGACY.replace(dumps(1001), b"\x80\x02" + SYSTEM[:-1] + b"0M\xe9\x03."),
    "behind the old layout": lambda: LEGACY + dumps(CALL),
    "tar": lambda: tarred({"a/b": dumps(CALL)}),
    "tar in gzip": lambda: gzip.compress(tarred({"a/b": dumps(CALL)})),
    "behind tar": lambda: tarred({"a": b"x"}) + dumps(CALL),
    "an array of objects": lambda: npy(dumps([CALL], 3)),
    "an array in npz": lambda: zipped({"a.npy": npy(dumps([CALL], 3))}),
    "bytes that torch loads": lambda: torch_zip(dumps(Made(Name("torch.storage", "_load_from_bytes"), (SYSTEM,)), 3)),
    "bytes in a pickle": lambda: torch_zip(dumps({"blob": dumps(CALL)}, 3)),
    "bytes in bytes": lambda: torch_zip(dumps({"blob": dumps({"blob": gzip.compress(dumps(CALL))}, 3)}, 3)),
}


TOLD = {  # which also say that they are odd
    "an archive behind another": "zip-several",
    "a member that no directory names": "zip-stray",
    "bytes in a pickle": "pickle-embedded",
    "behind the archive": "pickle-elsewhere",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_call_is_found_wherever_it_stands(place: str) -> None:
    report = scan(PLACES[place]())
    assert report.verdict == "dangerous", report.findings
    assert {"os.system", "posix.system"} & set(names(report, "dangerous"))
    assert all(str(finding).isprintable() for finding in report.findings)
    assert TOLD.get(place, "") in ("", *codes(report))


def test_what_is_nothing_to_load_is_told() -> None:
    report = scan(b"\x89PNG\r\n\x1a\n" + bytes(40))
    assert (report.verdict, codes(report)) == ("clean", {"scan-nothing"})
    package = scan(zipped({"m/__init__.py": b"import os\n"}))
    assert codes(package) >= {"source-file"}


BROKEN: dict[str, tuple[Callable[[], bytes], str]] = {
    "a cut archive": (lambda: torch_zip(dumps(PLAIN), STORED)[:-30], "scan-unread"),
    "a cut pickle": (lambda: torch_zip(dumps(PLAIN)[:-9], STORED), "pickle-broken"),
    "an encrypted member": (lambda: zip_bytes([Entry("a/data.pkl", dumps({}), flags=1)]), "zip-encrypted"),
    "a method nobody has": (lambda: zip_bytes([Entry("a/data.pkl", dumps({}), method=99)]), "zip-method"),
    "a pickle that is none": (lambda: torch_zip(b"\0\1\2\3"), "scan-unread"),
    "damaged gzip": (lambda: gzip.compress(dumps(PLAIN))[:20] + b"\xff" * 40, "scan-unread"),
    "a header that lies": (lambda: npy(b"")[:20], "scan-unread"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_read_is_never_clean(name: str) -> None:
    made, code = BROKEN[name]
    report = scan(made())
    assert report.verdict == "unreadable"
    assert code in codes(report)


HIDDEN: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "two of one name": (lambda: zip_bytes([Entry("a/data.pkl", dumps({}), listed=2)]), "zip-duplicate", "dangerous"),
    "another local name": (
        lambda: zip_bytes([Entry("a/data.pkl", dumps({}), local={"name": b"b/data.pkl"})]),
        "zip-local-name",
        "dangerous",
    ),
    "bytes more than the tensors": (lambda: torch_zip(dumps(PLAIN), {"0": bytes(80)}), "storage-extra", "unknown"),
    "names that differ by case": (
        lambda: zip_bytes([Entry("a/data.pkl", dumps({})), Entry("a/DATA.PKL", dumps({}))]),
        "zip-case",
        "unknown",
    ),
    "a name that leads outside": (lambda: zip_bytes([Entry("a/data.pkl", dumps({})), Entry("../x", b"1")]), "archive-escape", "dangerous"),
}


@pytest.mark.parametrize("name", HIDDEN)
def test_hiding_is_a_finding(name: str) -> None:
    made, code, verdict = HIDDEN[name]
    report = scan(made())
    assert code in codes(report)
    assert report.verdict == verdict


def test_a_name_is_imported_before_the_fault_whatever_it_is() -> None:
    for proto in range(6):
        report = scan(b"\x80" + bytes([proto]) + b"]cgone\nThing\n\xff")
        assert (report.verdict, names(report)) == ("unreadable", ["gone.Thing"])


def test_nested_too_deep_is_unreadable() -> None:
    data = dumps(CALL)
    for _ in range(12):
        data = zipped({"a.zip": data})
    report = scan(data)
    assert report.verdict == "unreadable"
    assert codes(report) == {"scan-limit"}


def test_the_work_is_bounded() -> None:
    bomb = zipped({f"{i}.zip": zipped({"z.pkl": dumps({"a": "b" * (1 << 20)})}, zipfile.ZIP_DEFLATED) for i in range(9)})
    report = scan(bomb, limits=Limits(scan_floor=1 << 20, scan_ratio=1))
    assert "scan-limit" in codes(report)
    assert report.verdict == "unreadable"


# ------------------------------------------------------------------------------------------------------- code that is no pickle's


def test_torchscript_and_packages_list_their_source() -> None:
    code = {"m/data.pkl": dumps({}), "m/constants.pkl": dumps(()), "m/code/__torch__.py": b"class A(Module):\n  pass\n"}
    report = scan(zipped(code))
    assert (report.kind, "script-code" in codes(report)) == ("torchscript", True)
    package = {
        "p/.data/extern_modules": b"torch\n",
        "p/.data/version": b"6\n",
        "p/m/__init__.py": b"import os\n",
        "p/m/model.pkl": dumps({}),
    }
    report = scan(zipped(package))
    assert (report.kind, report.verdict) == ("torch-package", "unknown")
    assert "package-source" in codes(report)


LAYER = {"class_name": "Lambda", "config": {"function": ["4wAAAA==", None, None]}}
GADGET = {"module": "subprocess", "class_name": "Popen", "config": {"args": ["true"]}}
FUNCTION = {"module": "builtins", "class_name": "function", "config": "eval", "registered_name": "function"}
DENSE = {"module": "keras.layers", "class_name": "Dense", "config": {"activation": "relu"}}


@pytest.mark.parametrize(
    ("layer", "code"), [(LAYER, "lambda-layer"), (GADGET, "text-name-dangerous"), (FUNCTION, "text-name-dangerous"), (DENSE, "")]
)
@pytest.mark.parametrize("shape", ["json", "keras", "h5"])
def test_keras(layer: dict[str, Any], code: str, shape: str) -> None:
    text = json.dumps({"class_name": "Sequential", "config": {"layers": [layer]}}).encode()
    data = {"json": text, "keras": zipped({"config.json": text}), "h5": b"\x89HDF\r\n\x1a\n" + bytes(64) + text}[shape]
    report = scan(data)
    assert report.verdict == ("dangerous" if code else "clean")
    assert codes(report) & {"lambda-layer", "text-name-dangerous"} == ({code} if code else set())


def graph(op: bytes) -> bytes:
    def field(number: int, data: bytes) -> bytes:
        return bytes([number << 3 | 2, len(data)]) + data

    nodes = b"".join(field(1, field(1, b"n" + kind) + field(2, kind)) for kind in (b"Const", op))
    return b"\x08\x01" + field(2, field(2, nodes))


def test_operations_of_a_graph_that_reach_out_are_told() -> None:
    report = scan(graph(b"WriteFile"))
    assert "tf-op" in codes(report)
    assert report.kind == "tf-graph"
    assert "tf-op" not in codes(scan(graph(b"MatMul")))


@pytest.mark.parametrize(
    ("hyper", "code", "verdict"),
    [
        ({"_instantiator": "lightning.pytorch.cli.instantiate_module", "lr": 0.1}, "text-name", "clean"),
        ({"_instantiator": "os.system"}, "text-name-dangerous", "dangerous"),
        ({"_instantiator": "mine.make"}, "text-name-unknown", "unknown"),
        ({"model": {"_target_": "torch.nn.Linear"}}, "text-name", "clean"),
        ({"model": [{"_target_": "subprocess.run"}]}, "text-name-dangerous", "dangerous"),
        ({"lr": 0.1}, "", "clean"),
    ],
)
def test_names_in_hyper_parameters(hyper: dict[str, Any], code: str, verdict: str) -> None:
    report = scan(torch_zip(dumps({"state_dict": {}, "hyper_parameters": hyper})))
    assert report.verdict == verdict
    assert codes(report) == ({code} if code else set())


def test_names_in_the_text_of_a_configuration() -> None:
    text = b"model:\n  _target_: nemo.Model\n  hook:\n    _target_: 'os.system'\n"
    report = scan(tarred({"model_config.yaml": text, "weights.ckpt": torch_zip(dumps(PLAIN), STORED)}))
    assert report.verdict == "dangerous"
    assert codes(report) == {"text-name", "text-name-dangerous"}


# ------------------------------------------------------------------------------------------------------------------------ weights_only


@pytest.mark.parametrize(
    ("data", "accepts", "blocked"),
    [
        (torch_zip(dumps(PLAIN), STORED), True, []),
        (torch_zip(dumps(CALL), STORED), False, ["os.system"]),
        (torch_zip(dumps({"a": 1}, 4)), False, []),
        (zipped({"a.txt": b"x"}), False, []),
        (b"", False, []),
    ],
)
def test_weights_only(data: bytes, accepts: bool, blocked: list[str]) -> None:
    said = scan(data).weights_only
    assert (said.accepts, said.blocked) == (accepts, blocked)
    assert said.why
    assert ("accepts" in repr(said)) == accepts


# ------------------------------------------------------------------------------------------------------------------- files and folders


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.pt").write_bytes(torch_zip(dumps(PLAIN), STORED))
    (tmp_path / "b" / "bad.pkl").write_bytes(SYSTEM)
    (tmp_path / "b" / "unknown.pkl").write_bytes(dumps(Made(Name("gone", "Thing"), ())))
    (tmp_path / "readme.md").write_bytes(b"# words\n")
    return tmp_path


def test_a_folder_gives_a_report_for_each_file(folder: Path) -> None:
    sizes: list[int] = []
    report = inert.scan(folder, progress=sizes.append)
    assert report.verdict == "dangerous"
    found = {Path(one.file).name: one.verdict for one in report.files}
    assert found == {"a.pt": "clean", "readme.md": "clean", "bad.pkl": "dangerous", "unknown.pkl": "unknown"}
    assert sum(sizes) == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    assert {"os.system", "gone.Thing"} <= set(names(report))
    assert report.weights_only.blocked == ["os.system", "gone.Thing"]


def test_several_paths_and_one_name_for_all(folder: Path) -> None:
    report = inert.scan([folder / "a.pt", folder / "b" / "bad.pkl", folder / "a.pt"])
    assert [Path(one.file).name for one in report.files] == ["a.pt", "bad.pkl"]
    assert report.file == "3 paths"


def test_processes_give_the_same_reports(tmp_path: Path) -> None:
    for index in range(70):
        (tmp_path / f"{index:02}.pkl").write_bytes(SYSTEM if index == 40 else dumps(PLAIN))
    one, two = inert.scan(tmp_path), inert.scan(tmp_path, jobs=2)
    assert [(a.file, a.verdict, names(a)) for a in one.files] == [(b.file, b.verdict, names(b)) for b in two.files]
    assert [(a.dotted, a.count, a.calls) for a in one.globals] == [(b.dotted, b.count, b.calls) for b in two.globals]


def test_an_index_stands_for_its_shards(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "a.bin").write_bytes(torch_zip(dumps(CALL)))
    (tmp_path / "outside.bin").write_bytes(torch_zip(dumps(CALL)))
    index = {"weight_map": {"w": "a.bin", "v": "a.bin", "x": "../outside.bin", "y": "gone.bin"}}
    (tmp_path / "inside" / "a.bin").write_bytes(torch_zip(dumps(CALL)))
    (tmp_path / "inside" / "m.index.json").write_text(json.dumps(index), encoding="utf-8")
    found = list(files(str(tmp_path / "inside" / "m.index.json")))
    assert [Path(name).name for name in found if not isinstance(name, Refused)] == ["m.index.json", "a.bin"]
    assert [str(name) for name in found if isinstance(name, Refused)] == [
        f"{tmp_path}/inside/m.index.json: ../outside.bin"
    ]  # not looked at
    assert inert.scan(tmp_path / "inside" / "m.index.json").verdict == "dangerous"


def test_a_member_of_an_archive(tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(tarred({"a.pt": torch_zip(dumps(PLAIN), STORED), "b.pt": torch_zip(dumps(CALL))}))
    assert inert.scan(f"{tmp_path / 'x.tar'}!a.pt").verdict == "clean"
    assert inert.scan(f"{tmp_path / 'x.tar'}!b.pt").verdict == "dangerous"


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        inert.scan(tmp_path / "gone.pt")
    with pytest.raises(inert.InertError, match="no file"):
        inert.scan(tmp_path)


def test_a_file_beside_an_old_joblib_pickle_is_looked_at(tmp_path: Path) -> None:
    wrapper = Made(
        Name("joblib.numpy_pickle", "NDArrayWrapper"), (), {"filename": "x_01.npy", "subclass": Name("numpy", "ndarray")}, new=True
    )
    (tmp_path / "x").write_bytes(dumps({"a": wrapper}))
    (tmp_path / "x_01.npy").write_bytes(npy(dumps([CALL], 2)))
    assert "os.system" in names(inert.scan(tmp_path / "x"), "dangerous")


# ----------------------------------------------------------------------------------------------------------------------- whole corpora

HOSTILE: dict[str, dict[str, Any]] = json.loads((HERE / "hostile" / "expected.json").read_text(encoding="utf-8"))
CLEAN_CALLS = {"m.n", "numpy.core.multiarray._reconstruct", "numpy.dtype", "torch.storage._load_from_bytes"}
SLOW = ("deep_", "copies_", "colliding_", "call_chain", "marks")


@pytest.mark.parametrize("name", [name for name in HOSTILE if (HERE / "hostile" / name).exists() and not name.startswith(SLOW)])
def test_hostile_files_of_ours(name: str) -> None:
    report = inert.scan(HERE / "hostile" / name)
    asked = set(HOSTILE[name]["calls"])
    assert asked <= set(names(report))
    if asked - CLEAN_CALLS:
        assert report.verdict == "dangerous"
    if not HOSTILE[name]["opens"]:
        assert report.verdict in ("unreadable", "dangerous", "clean")


def called(text: str) -> str:
    """The name in an entry of ``calls``: "posix.system ('true',)" → "posix.system", as Python 3 spells it."""
    name = text.replace("(", " ").split()[0]
    renamed = {"__builtin__.eval": "builtins.eval", "__builtin__.apply": "builtins.apply", "commands.getoutput": "subprocess.getoutput"}
    return renamed.get(name, name.replace("copy_reg.", "copyreg."))


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not there")
def test_hostile_files_of_the_shared_corpus() -> None:
    table = json.loads((SHARED / "malicious" / "expected.share.json").read_text(encoding="utf-8"))
    wrong = []
    for path, said in table.items():
        report = inert.scan(SHARED / "malicious" / path)
        wanted = {"unsafe": ("dangerous", "unreadable"), "unknown-class": ("unknown", "clean"), "safe": ("clean",)}[said["expect"]]
        lacking = [call for call in map(called, said.get("calls") or ()) if "." in call and call not in names(report)]
        if report.verdict not in wanted or lacking:
            wrong.append(f"{path}: {report.verdict}, {said['expect']} is right; lacks {lacking}")
    assert not wrong, "\n".join(wrong)


BY_VALUE = {"torch/extra/cloudpickle_module_with_lambda.pt"}  # functions that are in the file as bytes


@pytest.mark.corpus
@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared corpus is not there")
def test_real_files_raise_no_alarm() -> None:
    """A seventh of the files; all of those that must."""
    paths = sorted(
        path for top in ("torch", "lightning", "thirdparty", "tf", "vector") for path in (SHARED / top).rglob("*") if path.is_file()
    )
    chosen = [path for i, path in enumerate(paths) if not i % 7 and path.suffix not in (".json", ".txt", ".py", ".md")]
    alarms = {}
    for path in chosen + [SHARED / name for name in BY_VALUE]:
        report = inert.scan(path)
        if report.verdict in ("dangerous", "unreadable"):
            alarms[str(path.relative_to(SHARED))] = [*names(report, "dangerous"), *map(str, report.findings)]
    assert alarms.keys() == BY_VALUE, alarms
    assert len(chosen) > 100


# -- what is no plain file, and what an index says of elsewhere


def test_nothing_of_a_folder_is_passed_over(tmp_path: Path) -> None:
    """A pipe, a device under a file's name and a link to nothing are named; a folder with one of them is not clean."""
    (tmp_path / "a.pt").write_bytes(torch_zip(dumps({"w": tensor(storage("0", 1), (1,))}), {"0": bytes(4)}))
    assert inert.scan(tmp_path).verdict == "clean"
    os.mkfifo(tmp_path / "b.pt")
    (tmp_path / "c.pt").symlink_to("/dev/zero")
    (tmp_path / "d.pt").symlink_to(tmp_path / "gone.pt")
    found = inert.scan(tmp_path)
    assert {os.path.basename(one.file): one.verdict for one in found.files} == {
        "a.pt": "clean", "b.pt": "unreadable", "c.pt": "unreadable", "d.pt": "unreadable",
    }  # fmt: skip
    assert found.verdict == "unreadable"


@pytest.mark.parametrize("name", ["/etc/passwd", "../x.bin", "a\0b.bin", "..\\x.bin"])
def test_an_index_that_leads_elsewhere_is_not_clean(tmp_path: Path, name: str) -> None:
    """Whoever loads the set might follow it; a shard that is missing is nothing to load."""
    index = tmp_path / "pytorch_model.bin.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": {"a": "pytorch_model-00001-of-00002.bin"}}))
    assert inert.scan(index).verdict == "clean"
    index.write_text(json.dumps({"metadata": {}, "weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": name}}))
    for path in (index, tmp_path):
        found = inert.scan(path)
        assert found.verdict == "unreadable"
        assert any("is refused" in note.message for one in found.files for note in one.findings)
