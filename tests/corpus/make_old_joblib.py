"""Dumps of joblib before 0.10: python make_old_joblib.py WRITER [FOLDER] with each Python and joblib of the table below.

WRITER is a name in WRITERS; the script refuses where the Python or the joblib is another. old_joblib/expected.json says what was dumped.
``python make_old_joblib.py check`` with a joblib of today (1.6) reads every dump that this still can and holds it against that. (The
joblib 0.9.4 of the day does not: it gives an empty matrix, and NumPy 1.16.3 and later refuse it arrays of objects.)
Nothing of inert is used. It runs on Python 2.7 as well, hence its looks.
"""

import hashlib
import json
import os
import sys

import joblib
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
WRITERS = {  # name : Python, joblib, options of dump
    "py36-0.9.4-z": ((3, 6), "0.9.4", {"compress": 3, "cache_size": 0}),
    "py36-0.9.4-p0": ((3, 6), "0.9.4", {"protocol": 0}),
    "py27-0.9.4": ((2, 7), "0.9.4", {}),
    "py27-0.8.4": ((2, 7), "0.8.4", {}),
    "py27-0.8.4-z": ((2, 7), "0.8.4", {"compress": 3, "cache_size": 0}),
    "py27-0.5.7-zip": ((2, 7), "0.5.7", {"compress": True}),
}
ARRAYS = ("w", "f", "big", "empty", "scalar", "matrix", "text")
UNREADABLE = ("py27-0.5.7-zip",)  # joblib of today reads no such archive
TORN = ("py27-0.8.4-z",)  # in place of an array of objects that joblib wrote the text of a list, which no joblib reads


def state(writer):
    made = {
        "w": np.arange(12, dtype="<f4").reshape(3, 4),
        "f": np.asfortranarray(np.arange(6, dtype="<i2").reshape(2, 3)),
        "big": np.arange(3, dtype=">f8"),
        "empty": np.zeros((0, 4), "<f4"),
        "scalar": np.array(7, "<i8"),
        "matrix": np.matrix([[1, 2], [3, 4]], dtype="<u2"),
        "text": np.array([b"ab", b"c"], dtype="S2"),
        "objects": np.array([1, None, 2.5], dtype=object),
        "record": np.array([(1, 2.5)], dtype=[("a", "<i4"), ("b", "<f8")]),
        "epoch": 3,
    }
    if writer in TORN:
        del made["objects"]
    return made


def facts(found):
    """What is in the arrays that were read: shape, NumPy's dtype, SHA-256 of the elements in row-major order, little-endian."""
    told = {}
    for name in ARRAYS:
        array = np.asarray(found[name])
        plain = array.astype(array.dtype.newbyteorder("<"))
        told[name] = [list(array.shape), plain.dtype.str.replace("|", ""), hashlib.sha256(plain.tobytes()).hexdigest()]
    if "objects" in found:
        told["objects"] = found["objects"].tolist()
    told["epoch"] = found["epoch"]
    return told


def main(writer, folder):
    table = os.path.join(folder, "expected.json")
    known = {}
    if os.path.exists(table):
        with open(table, encoding="utf-8") as file:
            known = json.load(file)
    if writer == "check":
        for name in sorted(set(known) - set(UNREADABLE)):
            assert facts(joblib.load(os.path.join(folder, name, "state.pkl"))) == known[name], name
        return
    python, version, options = WRITERS[writer]
    assert (sys.version_info[:2], joblib.__version__) == (python, version), (sys.version, joblib.__version__)
    home = os.path.join(folder, writer)
    if not os.path.isdir(home):
        os.makedirs(home)
    joblib.dump(state(writer), os.path.join(home, "state.pkl"), **options)
    known[writer] = facts(state(writer))
    with open(table, "w", encoding="utf-8") as file:
        file.write(json.dumps(known, indent=1, sort_keys=True, ensure_ascii=False, separators=(",", ": ")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "old_joblib"))
