"""A pickle's opcodes as rows of text: what a disassembly shows.

Knows: where each opcode begins and what its argument says; which name each GLOBAL, INST and STACK_GLOBAL asks for, as far as the texts
just before it tell, in the memo or not. Refuses to know: the stack (decode.py), so that bytes which no machine can follow are shown all
the same.

Facts: CPython 3.13 Lib/pickletools.py.
"""

from __future__ import annotations

from struct import Struct

from .opcodes import OPCODES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_FIXED = {"u1": Struct("<B"), "u2": Struct("<H"), "u4": Struct("<I"), "i4": Struct("<i"), "u8": Struct("<Q"), "f8": Struct(">d")}
_SIZED = {"s1": Struct("<B"), "s4": Struct("<I"), "i4s": Struct("<i"), "s8": Struct("<Q")}
_TEXTS = frozenset(("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", "SHORT_BINSTRING", "BINSTRING", "STRING"))
_LENGTHS = {name: {"s1": 1, "s4": 4, "i4s": 4, "s8": 8}.get(kind, 0) for name, kind in ((o.name, o.argument) for o in OPCODES.values())}
_PUTS = frozenset(("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"))
_GETS = frozenset(("GET", "BINGET", "LONG_BINGET"))
_NEITHER = frozenset(("PROTO", "FRAME"))  # they touch neither stack nor memo
SHOWN = 200  # bytes of an argument that are given
LINE = 1 << 16  # bytes of a text line at most
STOP = 0x2E


class Row:
    """One opcode: ``offset``, ``name``, ``argument`` (a number, or bytes cut to SHOWN), ``length`` of the whole argument, ``asks``: the
    (module, name) that it would import."""

    __slots__ = ("argument", "asks", "length", "name", "offset")

    def __init__(self, offset: int, name: str, argument: Any = None, length: int = 0) -> None:
        self.offset = offset
        self.name = name
        self.argument = argument
        self.length = length
        self.asks: tuple[str, str] | None = None

    def __repr__(self) -> str:
        return f"<Row {self.offset} {self.name} {self.argument!r}>"


def rows(data: bytes, start: int = 0) -> Iterator[Row]:
    """Every opcode from ``start`` to STOP or to where bytes are none: there the last row is named "?" and its argument says why."""
    position, size = start, len(data)
    said = Said()
    while position < size:
        code = data[position]
        opcode = OPCODES.get(code)
        if opcode is None:
            yield Row(position, "?", f"byte {code:#04x} is no opcode")
            return
        made = Row(position, opcode.name)
        end = _argument(data, position + 1, opcode.argument, made)
        if end < 0:
            yield Row(position, "?", f"{opcode.name}: its argument goes beyond the end")
            return
        made.asks = said.asks(made, data, position + 1, end)
        yield made
        position = end
        if code == STOP:
            return
    yield Row(position, "?", "the pickle ends without STOP")


def _argument(data: bytes, at: int, kind: str, made: Row) -> int:
    """The offset behind an argument, which is put into ``made``; -1 where it goes beyond the end."""
    if not kind:
        return at
    if kind in _FIXED:
        form = _FIXED[kind]
        if at + form.size > len(data):
            return -1
        made.argument, made.length = form.unpack_from(data, at)[0], form.size
        return at + form.size
    if kind in _SIZED:
        form = _SIZED[kind]
        if at + form.size > len(data):
            return -1
        length: int = form.unpack_from(data, at)[0]
        at += form.size
        if length < 0 or at + length > len(data):
            return -1
        made.argument, made.length = data[at : at + min(length, SHOWN)], length
        return at + length
    end = at
    for _ in range(2 if kind == "lines" else 1):
        end = data.find(b"\n", end, end + LINE) + 1
        if not end:
            return -1
    made.argument, made.length = data[at : min(end - 1, at + SHOWN)], end - at
    return end


class Said:
    """The texts that lie on top of the stack, as far as they were put there one by one."""

    def __init__(self) -> None:
        self.top: list[str | None] = []
        self.memo: dict[int, str | None] = {}
        self.count = 0  # entries of the memo

    def asks(self, row: Row, data: bytes, at: int, end: int) -> tuple[str, str] | None:
        """The name that an opcode imports; what it does to the texts."""
        name = row.name
        if name in _TEXTS:
            raw = data[at + _LENGTHS.get(name, 0) : end] if row.length <= LINE else b""
            self.top.append(raw.rstrip(b"\n").decode("utf-8", "backslashreplace") if raw else None)
        elif name in _PUTS:
            place = self.count if name == "MEMOIZE" else _number(row.argument)
            self.memo[place] = self.top[-1] if self.top else None
            self.count += 1
        elif name in _GETS:
            self.top.append(self.memo.get(_number(row.argument)))
        elif name in ("GLOBAL", "INST"):
            self.top = []
            module, _, wanted = data[at : end - 1].decode("utf-8", "backslashreplace").partition("\n")
            return module, wanted
        elif name not in _NEITHER:
            module_, wanted_ = self.top[-2:] if len(self.top) > 1 else (None, None)
            self.top = []
            if name == "STACK_GLOBAL" and module_ is not None and wanted_ is not None:
                return module_, wanted_
        self.top = self.top[-2:]
        return None


def _number(argument: Any) -> int:
    """The place in the memo that an argument names; -1 where it is none."""
    digits = bytes(argument).strip() if isinstance(argument, (bytes, bytearray)) else b""
    return argument if isinstance(argument, int) else int(digits) if digits.isdigit() and len(digits) < 19 else -1
