"""Any bytes as a pickle: a Document whose fault is an InertError, and the shortcut for tensor records cannot be told from the machine.

Everything that is made stands at an offset inside the bytes, in order; a prefix of the bytes makes a prefix of it.
"""

from __future__ import annotations

import pickle
import sys
from collections import OrderedDict
from pathlib import Path

from driver import instrument, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

with instrument():
    from inert.errors import InertError
    from inert.limits import Limits
    from inert.pickle.decode import Document, decode

from tests.makers import Made, Name, Pid, dumps, storage, tensor

READS = ("pickle.decode", "pickle.handlers", "pickle.row", "pickle.inside", "pickle.frames")
LIMITS = Limits(marks=5_000)


def seen(document: Document) -> list[tuple[str, int, str]]:
    return [(type(node).__name__, node.offset, getattr(node, "dotted", "")) for node in document.made]


def one(data: bytes) -> None:
    quick, slow = (decode(data, "pickle", LIMITS, shortcut=shortcut) for shortcut in (True, False))
    for document in (quick, slow):
        assert document.fault is None or isinstance(document.fault, InertError)
        assert str(document.fault).isprintable()
        assert 0 <= document.end <= len(data)
    assert (type(quick.fault), str(quick.fault), quick.end, quick.odd) == (type(slow.fault), str(slow.fault), slow.end, slow.odd)
    made = seen(quick)
    assert made == seen(slow)
    assert all(0 <= offset < len(data) for _, offset, _ in made)
    half = seen(decode(data[: len(data) // 2], "pickle", LIMITS))
    assert made[: len(half)] == half or quick.fault is not None


STATE = {f"w{i}": tensor(storage(str(i), 6), (2, 3)) for i in range(8)}
MANY = [[str(i) for i in range(300)], STATE, {"n": 5, "text": "x"}]
OBJECTS = [
    Made(Name("gone", "C"), (1,), {"a": 1}, new=True),
    Pid(("storage", 1)),
    OrderedDict(a=1),
    {1, 2},
    frozenset({3}),
    b"x",
    bytearray(b"y"),
    1 << 80,
    1.5,
]

run(
    one,
    seeds=[
        dumps(STATE), dumps(MANY), *[dumps(OBJECTS, protocol) for protocol in range(2, 6)], *[pickle.dumps([1, "a", {"b": (None, True)}], p) for p in range(6)],
        b"(ios\nsystem\n(cos\nsystem\no\x82\1\x83\1\0\x84\1\0\0\0Pid\n.", b"\x80\4\x95\5\0\0\0\0\0\0\0\x8c\1a\x940.",
    ],
    smoke=6000,
)  # fmt: skip
