"""decode → encode → decode gives an equal graph, and encode → decode → encode the same bytes, whatever the pickle.

Where a pickle comes out other than it was, style_of says so.
"""

from __future__ import annotations

import pickle
import sys
from collections import OrderedDict
from pathlib import Path

from driver import instrument, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    from inert.errors import LimitError, UnsupportedError
    from inert.limits import Limits
    from inert.pickle.decode import decode
    from inert.pickle.encode import encode
    from inert.pickle.roundtrip import style_of

from tests.graphs import difference
from tests.makers import Made, Name, Pid, dumps, storage, tensor

READS = ("pickle.encode", "pickle.decode", "pickle.roundtrip", "pickle.style", "pickle.row", "pickle.framing")
LIMITS = Limits(marks=5_000)


def one(data: bytes) -> None:
    document = decode(data, "pickle", LIMITS)
    if document.fault is not None:
        return
    try:
        style, same = style_of(document)
        made = encode(document.root, style, document)
    except (UnsupportedError, LimitError):
        return
    assert same == (made == data[: document.end])
    second = decode(made, "pickle", LIMITS)
    assert second.fault is None, second.fault
    assert difference([(document.root, second.root)], places=False) == ""
    assert encode(second.root, style, second) == made


STATE = {f"w{i}": tensor(storage(str(i), 6), (2, 3)) for i in range(8)}
LOOP: list[object] = []
LOOP.append((LOOP, Made(Name("gone", "L"), (LOOP,))))
OBJECTS = [
    Made(Name("gone", "C"), (1,), {"a": 1}, new=True), Pid(("storage", 1)), OrderedDict(a=1), {1, 2}, frozenset({3}), b"x", bytearray(b"y"), 1 << 80, 1.5,
]  # fmt: skip

run(
    one,
    seeds=[
        dumps(STATE), dumps([[str(i) for i in range(300)], STATE]), dumps(LOOP), *[dumps(OBJECTS, protocol) for protocol in range(2, 6)],
        *[pickle.dumps([1, "a", {"b": (None, True)}], p) for p in range(6)], b"(ios\nsystem\n(cos\nsystem\no\x82\1\x83\1\1\x84\1\0\1\0l.",
        b"\x80\2X\1\0\0\0aQ2q\0h\0\x87.", b"\x80\2(()q\0(tq\1(th\0h\1(K\1tI5\n\x8a\1\5t.", b"\x80\2cX\nY\nq\0)Rq\1cset\nter\nq\2h\1K\1\x86R0.",
        b"\x80\2}q\1(U\1aq\2\x8a\1\5U\1bq\3K\5U\1cq\4\x8a\1\7u.", b"\x80\2cX\nY\nq\0(]q\1(h\0)Retb.",
    ],
    smoke=5000,
)  # fmt: skip
