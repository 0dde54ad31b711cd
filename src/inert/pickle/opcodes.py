"""The opcodes of pickle protocols 0 to 5, one row each.

Knows: code, name, the protocol that brought it, the kind of its argument, and whether torch's weights_only unpickler takes it.
Refuses to know: what they do (decode.py).

Facts: CPython's Lib/pickletools.py for codes, names, protocols and arguments; torch 2.13's torch/_weights_only_unpickler.py for the last.
"""

from __future__ import annotations

# argument kinds: "" none · u1 u2 u4 i4 u8 f8 fixed numbers · s1 s4 s8 i4s a length and that many bytes · line, two lines: text up to \n
_ROWS = """
28 MARK 0 - w|2e STOP 0 - w|30 POP 0 - .|31 POP_MARK 1 - .|32 DUP 0 - .|46 FLOAT 0 line .|49 INT 0 line .|4c LONG 0 line .|4e NONE 0 - w
50 PERSID 0 line .|51 BINPERSID 1 - w|52 REDUCE 0 - w|53 STRING 0 line .|54 BINSTRING 1 i4s .|55 SHORT_BINSTRING 1 s1 w|56 UNICODE 0 line .
58 BINUNICODE 1 s4 w|5d EMPTY_LIST 1 - w|61 APPEND 0 - w|62 BUILD 0 - w|63 GLOBAL 0 lines w|64 DICT 0 - .|65 APPENDS 1 - w|67 GET 0 line .
68 BINGET 1 u1 w|69 INST 0 lines .|6a LONG_BINGET 1 u4 w|6c LIST 0 - .|6f OBJ 1 - .|70 PUT 0 line .|71 BINPUT 1 u1 w|72 LONG_BINPUT 1 u4 w
73 SETITEM 0 - w|74 TUPLE 0 - w|75 SETITEMS 1 - w|7d EMPTY_DICT 1 - w|29 EMPTY_TUPLE 1 - w|47 BINFLOAT 1 f8 w|4a BININT 1 i4 w
4b BININT1 1 u1 w|4d BININT2 1 u2 w|80 PROTO 2 u1 w|81 NEWOBJ 2 - w|82 EXT1 2 u1 .|83 EXT2 2 u2 .|84 EXT4 2 i4 .|85 TUPLE1 2 - w
86 TUPLE2 2 - w|87 TUPLE3 2 - w|88 NEWTRUE 2 - w|89 NEWFALSE 2 - w|8a LONG1 2 s1 w|8b LONG4 2 i4s .|42 BINBYTES 3 s4 .
43 SHORT_BINBYTES 3 s1 .|8c SHORT_BINUNICODE 4 s1 .|8d BINUNICODE8 4 s8 .|8e BINBYTES8 4 s8 .|8f EMPTY_SET 4 - w|90 ADDITEMS 4 - .
91 FROZENSET 4 - .|92 NEWOBJ_EX 4 - .|93 STACK_GLOBAL 4 - .|94 MEMOIZE 4 - .|95 FRAME 4 u8 .|96 BYTEARRAY8 5 s8 .|97 NEXT_BUFFER 5 - .
98 READONLY_BUFFER 5 - .
"""


class Opcode:
    __slots__ = ("argument", "code", "name", "protocol", "weights_only")

    def __init__(self, code: int, name: str, protocol: int, argument: str, weights_only: bool) -> None:
        self.code = code
        self.name = name
        self.protocol = protocol
        self.argument = argument
        self.weights_only = weights_only

    def __repr__(self) -> str:
        return f"<Opcode {self.name}>"


def _table() -> dict[int, Opcode]:
    table = {}
    for row in _ROWS.replace("\n", "|").strip("|").split("|"):
        code, name, protocol, argument, taken = row.split()
        table[int(code, 16)] = Opcode(int(code, 16), name, int(protocol), argument.strip("-"), taken == "w")
    return table


OPCODES = _table()
