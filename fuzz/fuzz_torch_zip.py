"""Invariant: any bytes give a Checkpoint or an InertError of one line; and every tensor of a Checkpoint gives a hash or an InertError.

From the container to the values: listing, root, notes, parts and data of whatever opens.
"""

from __future__ import annotations

import io
from pathlib import Path

from driver import instrument, run

with instrument():
    import inert

ROOT = Path(__file__).resolve().parent.parent
LIMITS = inert.Limits(logical_bytes=1 << 24, inflated=1 << 24)
SEEDS = [(ROOT / "examples" / "demo.ckpt").read_bytes()]
SEEDS += [path.read_bytes() for path in sorted((ROOT / "tests" / "corpus" / "torch").glob("*.pt"))[:40] if path.stat().st_size < 1 << 15]


def one(data: bytes) -> None:
    try:
        with inert.open(io.BytesIO(data), limits=LIMITS) as checkpoint:
            for tensor in checkpoint.tensors.values():
                assert tensor.dtype
                assert repr(tensor)
                try:
                    tensor.sha256()
                except inert.InertError as error:
                    check(error)
            assert checkpoint.notes is checkpoint.notes
            assert checkpoint.parts
    except inert.InertError as error:
        check(error)


def check(error: inert.InertError) -> None:
    assert str(error)
    assert "\n" not in str(error)


if __name__ == "__main__":
    run(one, SEEDS)
