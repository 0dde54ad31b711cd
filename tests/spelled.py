"""Pickles spelled by hand, opcode by opcode: names, texts, numbers, tuples, dicts, calls and NumPy's element types.

Refuses to know: inert, and Python's pickler, which would spell them in its own way.
"""

from __future__ import annotations


def name(module: str, attribute: str) -> bytes:
    return f"c{module}\n{attribute}\n".encode()


def text(value: str) -> bytes:
    return b"X" + len(value).to_bytes(4, "little") + value.encode()


def number(value: int) -> bytes:
    return b"J" + value.to_bytes(4, "little", signed=True)


def of(*parts: bytes) -> bytes:
    return b"(" + b"".join(parts) + b"t"


def named(**values: bytes) -> bytes:
    return b"}(" + b"".join(text(key) + value for key, value in values.items()) + b"u"


def call(function: bytes, *arguments: bytes) -> bytes:
    return function + of(*arguments) + b"R"


def dtype(code: str, *state: bytes) -> bytes:
    made = call(name("numpy", "dtype"), text(code), b"\x89", b"\x88")
    return made + of(*state) + b"b" if state else made


def long_number(value: int) -> bytes:
    return b"\x8a\x08" + value.to_bytes(8, "little", signed=True)
