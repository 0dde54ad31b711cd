"""Any bytes after the manner of a legacy, tar or bare pickle file give a checkpoint, each tensor with data or a fault, or an InertError.

Seeds are whole files of each layout, one of them wrapped. Tensors are hashed, so that what is listed as sound must be readable.
"""

from __future__ import annotations

import gzip
import io
import pickle
import sys
from pathlib import Path

from driver import instrument, run

with instrument():
    import inert

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests import tars, test_legacy


def one(data: bytes) -> None:
    try:
        with inert.open(io.BytesIO(data)) as found:
            for tensor in found.tensors.values():
                try:
                    tensor.sha256()
                except inert.InertError:
                    pass
            list(map(str, found.notes))
            list(found.parts)
            dict(found.metadata)
    except inert.InertError as error:
        str(error)


PICKLES = Path(__file__).resolve().parents[1] / "tests" / "corpus" / "pickles"
SEEDS = [
    test_legacy.sample(), test_legacy.sample() * 2, tars.sample(), pickle.dumps({"a": [1, "x"]}, 0), gzip.compress(test_legacy.sample()),
    *(path.read_bytes() for path in sorted(PICKLES.glob("*.pkl"))), (PICKLES / "joblib-p4.joblib").read_bytes(),
]  # fmt: skip

if __name__ == "__main__":
    run(one, SEEDS)
