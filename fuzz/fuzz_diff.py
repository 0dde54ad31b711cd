"""Whatever two files are, comparing them gives a Difference or an InertError; any file is the same as itself, changed only where it is damaged
or cannot be compared; what A has alone B lacks, and the other way round; and the report of it can always be written and shown.

The first byte cuts the input in two: one half is A, the other B."""

from __future__ import annotations

import io
import json
import struct
from pathlib import Path

from driver import instrument, run

with instrument():
    import inert
    from inert.cli.diff import changed_rows, minor_rows, sole_rows
    from inert.cli.text import lines, table
    from inert.limits import Limits
    from inert.ops.diff import diff
    from inert.report.diff import told

READS = ("ops.diff", "report.diff")
LIMITS = Limits(inflated=1 << 24, entries=1 << 16)
CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"
SEEDS = ("torch/small.pt", "torch/sharing.pt", "torch/sparse.pt", "torch/quantized.pt", "torch/subclasses.pt", "torch/python_objects.pt",
         "legacy/small.pt", "safetensors/dtypes.safetensors")  # fmt: skip


def one(data: bytes) -> None:
    at = struct.unpack_from("<H", data.ljust(2))[0]
    a, b = data[2 : 2 + at], data[2 + at :]
    found = compared(a, b)
    if found is not None:
        back = compared(b, a)
        assert back is not None, "comparing has no direction"
        assert (len(found.removed), len(found.added), found.same) == (len(back.added), len(back.removed), back.same)
    for side in (a, b):
        found = compared(side, side)
        if found is not None:
            assert not found.removed and not found.added, "a file is as itself"  # noqa: PT018
            assert all(change.differs in (("damaged",), ("unread",)) for change in found.changed), found.changed


def compared(a: bytes, b: bytes) -> inert.Difference | None:
    try:
        found = diff(io.BytesIO(a), io.BytesIO(b), limits=LIMITS)
    except inert.InertError:
        return None
    json.dumps(told(found), allow_nan=False)
    for rows in (
        changed_rows(found.changed, False, set()),
        minor_rows(found),
        sole_rows(found.removed, found.a.tensors, False),
        sole_rows(found.added, found.b.tensors, False),
    ):
        for line in lines(table(tuple("x" * len(rows[0])) if rows else (), rows)):
            assert line.strip("\n").isprintable(), line
    return found


def seeds() -> list[bytes]:
    files = [(CORPUS / name).read_bytes() for name in SEEDS if (CORPUS / name).exists()]
    pairs = [(one, other) for one in files for other in (one, files[0]) if len(one) < 1 << 15]
    return [struct.pack("<H", len(a)) + a + b for a, b in pairs]


if __name__ == "__main__":
    run(one, seeds(), smoke=600)
