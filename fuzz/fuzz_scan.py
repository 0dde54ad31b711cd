"""Any bytes give a verdict, the same twice; no name that Python's unpickler imports from them, bare or in a zip archive, is missing from it.

Findings are printable and of known codes; what is found dangerous in a file is found in it compressed too.
"""

from __future__ import annotations

import _compat_pickle
import gzip
import io
import pickle
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from driver import instrument, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    import inert
    from inert.finding import CODES
    from inert.limits import Limits
    from inert.policy import DANGEROUS, judge

from tests.makers import Entry, Made, Name, dumps, storage, tensor, torch_zip, zip_bytes

READS = ("policy",)
LIMITS = Limits(inflated=1 << 22, expand_floor=1 << 22, scan_floor=1 << 22, marks=5_000)
Pair = tuple[str, str]


class Thing:
    """What any name stands for: it takes everything and does nothing."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        pass

    def __call__(self, *args: Any, **keywords: Any) -> Thing:
        return Thing()

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    append = extend = add = __init__


class Python(pickle._Unpickler):  # type: ignore[name-defined,misc]
    """Python's unpickler, which imports nothing and remembers what it would import."""

    proto = 0

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.found: list[Pair] = []

    def find_class(self, module: str, name: str) -> type:
        if self.proto < 3:
            module, name = _compat_pickle.NAME_MAPPING.get((module, name), (_compat_pickle.IMPORT_MAPPING.get(module, module), name))
        self.found.append((module, name))
        return type("Thing", (Thing,), {})

    def persistent_load(self, pid: Any) -> Thing:
        if type(pid) is not tuple:  # as torch has it; pickle.load and joblib take none at all
            raise pickle.UnpicklingError("no persistent id of torch's")
        return Thing()


def imported(data: bytes) -> list[Pair]:
    """What Python's unpickler would import, up to the first fault."""
    if b"\x96" in data:  # BYTEARRAY8 makes as many bytes as the pickle claims
        return []
    reader = Python(data)
    try:
        reader.load()
    except Exception:  # whatever is wrong with it: the names before were imported
        pass
    return list(reader.found)


def zipped(data: bytes) -> Iterator[bytes]:
    """The pickles of an archive as Python's zipfile sees it."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist()[:20]:
                if member.filename.endswith(".pkl") and member.file_size < 1 << 20:
                    try:
                        yield archive.read(member)
                    except (zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zlib.error):
                        continue
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, OverflowError, UnicodeDecodeError):
        return


def bad(pair: Pair) -> bool:
    """Whether a name is there, for all one can tell by its spelling, and runs code. Longer ones than a file can have are none."""
    parts = [part for name in pair for part in name.split(".")]
    return all(part.isascii() and part.isidentifier() and len(part) < 200 for part in parts) and judge(*pair).verdict == DANGEROUS


def said(data: bytes) -> tuple[Any, ...]:
    report = inert.scan(io.BytesIO(data), limits=LIMITS)
    for finding in report.findings:
        assert finding.code in CODES
        assert str(finding).isprintable()
    names = [(one.module, one.name, one.verdict, one.count, one.calls) for one in report.globals]
    return report.verdict, names, [str(finding) for finding in report.findings], report.weights_only.accepts


def one(data: bytes) -> None:
    verdict, names, findings, accepts = said(data)
    assert (verdict, names, findings, accepts) == said(data)
    assert verdict in ("clean", "unknown", "dangerous", "unreadable")
    listed = {name[:2] for name in names}
    for pair in imported(data):
        if all(pair) and (data[:1] == b"\x80" or bad(pair)):
            assert (pair[0][:300], pair[1][:300]) in listed or verdict == "unreadable", f"Python imports {pair}"
    inside = [pair for member in zipped(data) for pair in imported(member) if bad(pair)]
    assert not inside or verdict in ("dangerous", "unreadable"), f"Python imports {inside[0]} from the archive"
    if verdict == "dangerous" and len(data) < 4096:
        assert said(gzip.compress(data, 1, mtime=0))[0] in ("dangerous", "unreadable")


CALL = Made(Name("os", "system"), ("true",))
STATE = {"w": tensor(storage("0", 2), (2,)), "x": CALL}
GETATTR = Made(Name("__builtin__", "getattr"), (Name("torch", "serialization"), "os"))

run(
    one,
    seeds=[
        *[dumps([CALL, GETATTR, {"a": b"cos\nsystem\n(S'true'\ntR."}], protocol) for protocol in range(6)],
        torch_zip(dumps(STATE), {"0": bytes(8)}), torch_zip(dumps(STATE, 4), {"0": dumps(CALL)}),
        zip_bytes([Entry("a/data.pkl", dumps(STATE), method=8), Entry("a/b.pkl", dumps(CALL, 0)), Entry("a/version", b"3\n")]),
        b"".join(map(dumps, (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}, [CALL], []))),
        b"\x80\4\x95\5\0\0\0\0\0\0\0\x8c\2os\x8c\6system\x93)R.", b"(S'x'\nios\nsystem\ncposix\nsystem\n0.",
    ],
    smoke=2000,
)  # fmt: skip
