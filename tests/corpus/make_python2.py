"""Pickles by Python 2.7's two picklers, protocols 0 to 2: python2 make_python2.py [FOLDER] (default: python2 beside this file).

Old-style classes (INST, OBJ), new-style ones, long, str with bytes that are no text, unicode, and a list that holds itself. The
classes live in a module that exists only here.
"""
# ruff: noqa: UP004, UP031, I001

import cPickle
import os
import pickle
import sys
import types

gone = sys.modules["gone"] = types.ModuleType("gone")


class Old:
    def __init__(self, x):
        self.x = x

    def __getinitargs__(self):
        return (self.x, b"y".decode("ascii"))


class Plain:
    pass


class New(object):
    pass


for kind in (Old, Plain, New):
    kind.__module__ = "gone"
    setattr(gone, kind.__name__, kind)

old, plain, new = Old(3), Plain(), New()
plain.a = [1]
new.b = 2**70 - 2**70 + 2
texts = {
    b"s": b"bytes \xff\n'\"",
    b"u\xe2\x98\x83".decode("utf-8"): b"\xc3\xa9\n\\".decode("utf-8"),
    b"l": 12345678901234567890,
    b"i": -5,
    b"f": 1.5,
    b"t": (True, None, False),
}
value = [texts, old, plain, new, old, (1, 2, 3, 4), 2**31]
value.append(value)

folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "python2")
for protocol in (0, 1, 2):
    for writer in (pickle, cPickle):
        with open(os.path.join(folder, "%s-p%d.pkl" % (writer.__name__, protocol)), "wb") as out:
            out.write(writer.dumps(value, protocol))
