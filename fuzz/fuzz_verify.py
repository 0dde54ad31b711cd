"""Any bytes: a Verification, never an exception; and of a file without findings, a flipped byte is found or lies in what ``unchecked`` names.

What ``open`` refuses is not ok; two verifications of the same bytes say the same; every finding has a code of the table, one printable line
and its place, and comes before those that are less bad; runs of ``unchecked`` lie inside of the file.
"""

from __future__ import annotations

import gzip
import io
import struct
import sys
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

LIMITS = Limits(inflated=1 << 22, logical_bytes=1 << 24, paths=500, name_bytes=1 << 22)
CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"


def verified(data: bytes) -> Any:
    return inert.verify(io.BytesIO(data), census=True, limits=LIMITS, threads=1)


def said(found: Any) -> list[tuple[str, str, str]]:
    return [(one.code, one.message, str(one.where)) for one in found.findings]


def one(data: bytes) -> None:
    found = verified(data)
    assert said(found) == said(verified(data))
    assert all(one.code in CODES and one.fix for one in found.findings)
    assert all(text.isprintable() and where.isprintable() for _, text, where in said(found))
    ranks = [ORDER[one.severity] for one in found.findings]
    assert ranks == sorted(ranks)
    assert found.ok == (0 not in ranks)
    verification(found)
    outer = [run for one in found.unchecked if "!" not in one.file and "!" not in one.part for run in one.runs]
    if not found.format.startswith("tf-") and not any("wrapper" in code for code, _, _ in said(found)):
        assert all(0 <= at and 0 <= size and at + size <= len(data) for at, size in outer), outer
    try:
        inert.open(io.BytesIO(data), limits=LIMITS).close()
    except InertError:
        assert not found.ok
        return
    if data and not found.findings:
        at = zlib.crc32(data) % len(data)
        if not any(start <= at < start + size for start, size in outer):
            flipped = data[:at] + bytes((data[at] ^ (1 << zlib.adler32(data) % 8),)) + data[at + 1 :]
            assert verified(flipped).findings, f"a flip of byte {at} is not found"


STATE = {"a": tensor(storage("0", 6), (2, 3)), "b": tensor(storage("1", 2, "Bool"), (2,))}
DATA = {"0": struct.pack("<6f", *range(6)), "1": b"\0\1"}
DEFLATED = torch_entries(dumps(STATE), DATA)
DEFLATED[0].method = 8
FILES = ("legacy/sharing.pt", "safetensors/shapes.safetensors", "torch/align_1.pt", "pickles/joblib-zlib.joblib", "pickles/joblib-p4.joblib")
TABLES = ("tf/v1_types/first",)

run(
    one,
    seeds=[
        torch_zip(dumps(STATE), DATA), zip_bytes(DEFLATED, align=4), gzip.compress(torch_zip(dumps(STATE), DATA), mtime=0), sample(),
        *((CORPUS / name).read_bytes() for name in (*FILES, *TABLES)),
    ],
)  # fmt: skip
