"""Invariant: any bytes give a Document, with a fault that is an InertError or without one; the shortcut and the plain machine agree on it.

They agree on the end, on the fault's type and offset, and on every name, call and reference that was asked for, with its offset.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from pathlib import Path

from driver import instrument, run

with instrument():
    import inert
    from inert.pickle.decode import Document, decode

ROOT = Path(__file__).resolve().parent.parent


def record() -> bytes:
    """The pickle of the shipped checkpoint: tensor records, in the form that the shortcut takes."""
    content = inert.open(ROOT / "examples" / "demo.ckpt").content
    (document,) = content.pickles().values()
    return document.data


SEEDS = [record()[:4096], record()]
VALUE = {
    "a": [1, 2.5, None, True],
    "b": ("x", b"y", 1 << 70),
    3: OrderedDict(k={1, 2}),
    "c": frozenset((1,)),
    "d": bytearray(b"z"),
    "e": 1j,
}
SEEDS += [pickle.dumps(VALUE, protocol) for protocol in range(6)]


def sketch(document: Document) -> tuple[object, ...]:
    fault = document.fault
    assert fault is None or (isinstance(fault, inert.InertError) and "\n" not in str(fault))
    made = [(node.__class__.__name__.replace("Row", "Call"), node.offset, getattr(node, "dotted", "")) for node in document.made]
    return document.end, type(fault), fault and fault.offset, made


def one(data: bytes) -> None:
    quick, plain = decode(data), decode(data, shortcut=False)
    assert sketch(quick) == sketch(plain)


if __name__ == "__main__":
    run(one, SEEDS)
