"""How bytes begin that are a pickle, or an archive or compressed file that may hold one.

Knows: the patterns, for the machine, which keeps such constants aside, and for whoever looks for pickles in other places.
Refuses to know: whether they are. A pattern is quick to say no; decoding tells.

Facts: CPython 3.13 Lib/pickletools.py; the magic numbers of inflate.py's compressions, of zip and other archives
(formats/foreign/tables.py) and of NumPy's files.
"""

from __future__ import annotations

import re

PROTO = rb"\x80[\x02-\x05](?=[()\]}cKMJGNXUTILFSVBCPi0\x80\x82-\x84\x88-\x8f\x95-\x97])"
NAME = rb"[A-Za-z_][\w.]{0,200}"
TEXT = rb"[ci]" + NAME + rb"\r?\n" + NAME + rb"\n"  # GLOBAL and INST
_COUNTED = rb"(?:\x8c.|U.|X.\0\0\0)" + NAME + rb"(?:\x94|q.)?"
STACKED = _COUNTED * 2 + rb"\x93"  # STACK_GLOBAL behind its two texts
ARCHIVES = (
    rb"PK\x03\x04|\x1f\x8b\x08|\xfd7zXZ\0|BZh[1-9](?:1AY&SY|\x17rE8P\x90)|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18|\x93NUMPY|ZF0x"
    rb"|\x78[\x01\x5e\x9c\xda]|\x5d\0\0.{2}(?:\xff{8}|.{5}\0{3})|\x89HDF\r\n"
    rb"|7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|MSCF\0{4}|LZIP[\0\x01]|\x89LZO\0\r\n|!<arch>\n|\xff\x06\0\0sNaPpY|MSWIM\0|Salted__"
)
STARTS = b"(])}lcNIJKMLFGSTUVXdi\x80\x82\x83\x84\x88\x89\x8a\x8c\x8d\x8e\x8f\x95BCP"  # opcodes that a pickle may begin with
_EARLY = rb"[" + re.escape(STARTS) + rb"].{0,256}?(?:" + TEXT + rb"|" + STACKED + rb")"
# held against the first bytes of a record or constant
BEGINS = re.compile(PROTO + rb"|" + ARCHIVES + rb"|" + TEXT + rb"|" + _EARLY, re.DOTALL)
FIRST = frozenset(STARTS + b"P\x1f\xfdB\x28\x04\x93Z\x78\x5d\x897R!\xff")  # first bytes of what BEGINS matches
# of archives that programs find behind anything, and that nothing here looks into
SEALED = re.compile(rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07[\0\x01]")
# searched for in bytes that nobody should read
ANYWHERE = re.compile(rb"PK\x03\x04|" + PROTO + rb"|" + TEXT + rb"|" + STACKED, re.DOTALL)
