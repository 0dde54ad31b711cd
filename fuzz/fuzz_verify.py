"""Any bytes: a Verification, never an exception; and of a file without findings, a flipped byte is found or lies in what ``unchecked`` names.

What ``open`` refuses is not ok; two verifications of the same bytes say the same; every finding has a code of the table, one printable line
and its place, and comes before those that are less bad; runs of ``unchecked`` lie inside of the file.
"""

from __future__ import annotations

import atexit
import gzip
import io
import shutil
import struct
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

from driver import instrument, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    import inert
    from inert.errors import InertError
    from inert.finding import CODES
    from inert.limits import Limits
    from inert.ops.verify import ORDER
    from inert.report.verify import verification

from tests.makers import dumps, storage, tensor, torch_entries, torch_zip, zip_bytes
from tests.tars import sample

READS = ("ops.verify", "containers.zipcheck", "report.verify")
LIMITS = Limits(inflated=1 << 22, logical_bytes=1 << 24, paths=500, name_bytes=1 << 22)
CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"
BUNDLE = b"BNDL"  # then the length of an index as two bytes, the index, and its data file
NAMES = ("made.index", "made.data-00000-of-00001")
HOME = Path(tempfile.mkdtemp(prefix="fuzz-verify-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)


def parts(data: bytes) -> tuple[bytes, ...]:
    """The files that an input is: one, or an index and its data."""
    if not data.startswith(BUNDLE) or len(data) < 6:
        return (data,)
    size = int.from_bytes(data[4:6], "little")
    return data[6 : 6 + size], data[6 + size :]


def target(files: tuple[bytes, ...]) -> Any:
    if len(files) == 1:
        return io.BytesIO(files[0])
    for name, data in zip(NAMES, files, strict=True):
        (HOME / name).write_bytes(data)
    return HOME / NAMES[0]


def verified(files: tuple[bytes, ...]) -> Any:
    return inert.verify(target(files), census=True, limits=LIMITS, threads=1)


def said(found: Any) -> list[tuple[str, str, str]]:
    return [(one.code, one.message, str(one.where)) for one in found.findings]


def unchecked(found: Any, number: int) -> list[tuple[int, int]]:
    """The runs of one of the files, those of what lies in a wrapper left out."""
    name = NAMES[number] if found.file.endswith(NAMES[0]) else ""
    return [run for one in found.unchecked if one.file.endswith(name) and "!" not in one.file + one.part for run in one.runs]


def one(data: bytes) -> None:
    files = parts(data)
    found = verified(files)
    assert said(found) == said(verified(files))
    assert all(one.code in CODES and one.fix for one in found.findings)
    assert all(str(one).isprintable() for one in found.findings)
    ranks = [ORDER[one.severity] for one in found.findings]
    assert ranks == sorted(ranks)
    assert found.ok == (0 not in ranks)
    verification(found)
    if not any("wrapper" in code for code, _, _ in said(found)):
        for number, held in enumerate(files):
            runs = unchecked(found, number)
            assert all(at >= 0 and size >= 0 and at + size <= len(held) for at, size in runs), runs
    try:
        inert.open(target(files), limits=LIMITS).close()
    except InertError:
        assert not found.ok
        return
    if not found.findings:
        for number, held in enumerate(files):
            flip(files, number, zlib.crc32(held) % max(len(held), 1), unchecked(found, number))


def flip(files: tuple[bytes, ...], number: int, at: int, runs: list[tuple[int, int]]) -> None:
    """A byte of a file, changed, is found, or in a region that is named."""
    data = files[number]
    if data and not any(start <= at < start + size for start, size in runs):
        flipped = data[:at] + bytes((data[at] ^ (1 << zlib.adler32(data) % 8),)) + data[at + 1 :]
        assert verified((*files[:number], flipped, *files[number + 1 :])).findings, f"a flip of byte {at} of file {number} is not found"


STATE = {"a": tensor(storage("0", 6), (2, 3)), "b": tensor(storage("1", 2, "Bool"), (2,))}
DATA = {"0": struct.pack("<6f", *range(6)), "1": b"\0\1"}
DEFLATED = torch_entries(dumps(STATE), DATA)
DEFLATED[0].method = 8
FILES = (
    "legacy/sharing.pt",
    "safetensors/shapes.safetensors",
    "torch/align_1.pt",
    "pickles/joblib-zlib.joblib",
    "pickles/joblib-p4.joblib",
)
TABLES = ("tf/v1_types/first",)
BUNDLES = ("strings/strings", "slices/slices", "types/types", "objects/ckpt-2")


def bundle(name: str) -> bytes:
    index, data = ((CORPUS / "tf" / f"{name}.{suffix}").read_bytes() for suffix in ("index", "data-00000-of-00001"))
    return BUNDLE + struct.pack("<H", len(index)) + index + data


run(
    one,
    seeds=[
        torch_zip(dumps(STATE), DATA), zip_bytes(DEFLATED, align=4), gzip.compress(torch_zip(dumps(STATE), DATA), mtime=0), sample(),
        *((CORPUS / name).read_bytes() for name in (*FILES, *TABLES)), *map(bundle, BUNDLES),
    ],
    smoke=1000,
)  # fmt: skip
