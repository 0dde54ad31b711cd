"""Arrays in files of their own beside a pickle: what joblib.dump wrote before 0.10.

Knows: the wrapper objects that stand for them in the pickle, and joblib's .npy.z files, whose shape and element type stand in the pickle;
an array of Python objects is a pickle behind the header of its .npy file (npy.py).
Refuses to know: files anywhere else than right beside the pickle.

Facts: joblib 0.5.7, 0.8.4 and 0.9.4 joblib/numpy_pickle.py (NDArrayWrapper, ZNDArrayWrapper, write_zfile); joblib 1.5
joblib/numpy_pickle_compat.py.
"""

from __future__ import annotations

import re

from ..containers.folder import unsafe
from ..dtypes import DTYPES
from ..errors import FormatError, InertError
from ..finding import Finding
from ..layout import Layout, Storage
from ..pickle.decode import Document, decode
from ..pickle.nodes import Call, Global, shown
from ..pickle.row import Row
from ..source import Source
from .arguments import Odd, integers, text
from .ndarray import dtype_text, item_type, laid_out, plain_dtype
from .npy import Header
from .raw import companion_of, fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits

ZFILE = re.compile(rb"ZF(0x[0-9a-f]{1,16})L? *\Z")


class Companions:
    """The files beside one pickle. ``beside`` opens one by its name (OSError, FormatError); None where there is no telling what is
    beside."""

    def __init__(self, beside: Callable[[str], Source] | None, limits: Limits) -> None:
        self.beside = beside
        self.limits = limits
        self.files: dict[str, Source] = {}
        self.notes: dict[str, Finding] = {}
        self._wrong: dict[str, str] = {}
        self._headers: dict[str, Header] = {}
        self._objects: dict[str, Document] = {}
        self._inflated: dict[str, Source] = {}

    def file(self, name: str) -> Source:
        """A file beside the pickle. Odd where there is none, or none that may be read."""
        if unsafe(name) or "/" in name:
            raise Odd(f"its file {name[:200]!r} is refused: only a plain name can be that of a file beside the pickle")
        if name not in self.files:
            if name not in self._wrong:
                self._open(name)
            if name in self._wrong:
                raise Odd(self._wrong[name])
        return self.files[name]

    def _open(self, name: str) -> None:
        if self.beside is None:
            self._wrong[name] = f"its file {name[:200]!r} lies beside the pickle, which was not opened by its path"
            return
        try:
            self.files[name] = self.beside(name)
        except FileNotFoundError:
            self._wrong[name] = f"its file {name[:200]!r} is not beside the pickle"
        except OSError as error:
            self._wrong[name] = f"its file {name[:200]!r} cannot be opened: {error.strerror}"
        except FormatError as error:
            self._wrong[name] = error.message

    def array(self, call: Call) -> Layout | Document:
        """The Layout of the array that a wrapper stands for, with a fault where its bytes cannot be had; the pickle of an array of Python
        objects. Odd where the wrapper says nothing, and for records."""
        facts = fields(call)
        name = text(facts.get("filename"))
        if isinstance(name, bytes):
            name = name.decode("utf-8", "surrogateescape")
        if type(name) is not str:
            raise Odd(f"the name of its file is {shown(name)}")
        if companion_of(call) == "z":
            return self._packed(name, facts)
        try:
            found = self._plain(name)
        except (Odd, InertError) as error:
            wrong = str(error) if isinstance(error, Odd) and name not in self.files else f"its file {name[:200]!r}: {_said(error)}"
            return unknown(wrong)
        kind = facts.get("subclass")
        if type(found) is Layout and type(kind) is Global and kind.name == "matrix":
            found.type = kind.dotted
        if found is None:
            raise Odd("an array of records")
        return found

    def _plain(self, name: str) -> Layout | Document | None:
        """None for records."""
        source = self.file(name)
        header = self._headers.get(name)
        if header is None:
            header = self._headers[name] = Header(source)
        if header.objects:
            return self._pickle(name, source, header)
        known = item_type(plain_dtype(header.text))
        if known is None:
            return None
        if len(header.shape) > self.limits.rank:
            raise Odd(f"{len(header.shape)} dimensions")
        size = known[0].itemsize
        for length in header.shape:
            size *= length
        there = source.size - header.start
        if there > size:
            self.notes[name] = Finding("npy-trailing", f"{there - size:,} bytes follow the array", name, header.start + size)
        span = source.span(header.start, min(size, there))
        return laid_out(name, known, header.shape, header.fortran, span.length, lambda: span, self.limits)

    def _pickle(self, name: str, source: Source, header: Header) -> Document:
        known = self._objects.get(name)
        if known is None:
            if source.size - header.start > self.limits.pickle_bytes:
                raise Odd("its pickle is longer than Limits.pickle_bytes")
            data = source.read(header.start, source.size - header.start)
            known = self._objects[name] = decode(data, f"./{name}", self.limits)  # a name that no other pickle can have
        if known.fault is not None:
            raise Odd(known.fault.message)
        return known

    def _packed(self, name: str, facts: dict[str, Any]) -> Layout:
        state, wrong, said = facts.get("state"), "", -1
        try:
            source = self.file(name)
            found = ZFILE.match(source.read(0, min(21, source.size)))
            wrong = "" if found else f"its file {name[:200]!r} is none of joblib's compressed files"
            said = int(found[1], 16) if found else -1
        except (Odd, InertError) as error:
            wrong = _said(error)
        if type(state) is not tuple or len(state) not in (3, 4):
            raise Odd("the wrapper says nothing of its array")
        shape, dtype, fortran = state[-3:]
        sizes, known = integers(shape), item_type(dtype_text(dtype))
        if known is None:
            raise Odd("an array of objects or records")
        if len(sizes) > self.limits.rank:
            raise Odd(f"{len(sizes)} dimensions")
        wanted = known[0].itemsize
        for length in sizes:
            wanted *= length
        if not wrong and said != wanted:
            wrong = f"its file {name[:200]!r} holds {said:,} bytes, {wanted:,} are wanted"
        layout = laid_out(name, known, sizes, bool(fortran), wanted, lambda: self._inflate(name, wanted).span(), self.limits)
        if wrong and layout.storage is not None:
            layout.fault = layout.storage.fault = wrong
        return layout

    def _inflate(self, name: str, wanted: int) -> Source:
        known = self._inflated.get(name)
        if known is None:
            from ..inflate import inflated

            known, notes = inflated(self.file(name), "joblib-zfile", self.limits)
            if known.size != wanted:
                said = f": {notes[0].message}" if notes else ""
                raise FormatError(f"{known.size:,} bytes come out, {wanted:,} are wanted{said}", part=name)
            self._inflated[name] = known
        return known

    def close(self) -> None:
        for source in self.files.values():
            source.close()


def unknown(wrong: str) -> Layout:
    """The Layout of an array of which all stands in the file that cannot be read."""
    made = Layout(DTYPES["uint8"], (0,), (1,), 0, Storage("companion", 0, DTYPES["uint8"], "cpu", None))
    made.kind = "numpy"
    made.fault = f"{wrong}; its shape and element type stand only there"
    return made


def _said(error: Exception) -> str:
    return error.message if isinstance(error, InertError) else str(error)


def wrappers(document: Document) -> list[Call]:
    """The calls of a pickle that stand for arrays in files of their own. Rows, which are tensors, are none."""
    return [node for node in document.rows if isinstance(node, Call) and type(node) is not Row and companion_of(node)]
