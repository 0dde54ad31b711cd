"""Bare pickles and joblib files: python make_pickles.py [FOLDER] (numpy, joblib 1.6, lz4; nothing of inert).

One dict of arrays, by every writer and in every wrapper that joblib has; what is in it stands in the table of tests/test_bare_pickle.py.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import joblib
import numpy as np

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "pickles"
STATE = {
    "w": np.arange(12, dtype="<f4").reshape(3, 4),
    "f": np.asfortranarray(np.arange(6, dtype="<i2").reshape(2, 3)),
    "big": np.arange(3, dtype=">f8"),
    "empty": np.zeros((0, 4), "<f4"),
    "scalar": np.array(7, "<i8"),
    "objects": np.array([1, "two", None], dtype=object),
    "record": np.array([(1, 2.5)], dtype=[("a", "<i4"), ("b", "<f8")]),
    "twin": None,
    "epoch": 3,
}
STATE["twin"] = STATE["w"]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for protocol in range(6):
        (FOLDER / f"numpy-p{protocol}.pkl").write_bytes(pickle.dumps(STATE, protocol))
    for protocol in (2, 4):
        joblib.dump(STATE, FOLDER / f"joblib-p{protocol}.joblib", protocol=protocol)
    for method in ("zlib", "gzip", "bz2", "lzma", "xz", "lz4"):
        joblib.dump(STATE, FOLDER / f"joblib-{method}.joblib", compress=(method, 3))


if __name__ == "__main__":
    main()
