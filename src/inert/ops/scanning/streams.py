"""Pickles one behind another, and pickles where nobody should look for any.

Knows: the layout of torch.save before 1.6, whose storages are stepped over; joblib's raw arrays, as joblib reads them and as pickle does;
that Python's two unpicklers go on at different places behind a frame that lies; what tells a pickle from bytes that happen to decode.
Refuses to know: what is asked for (judging.py).

Facts: CPython 3.13 Lib/pickle.py (_Unframer), Modules/_pickle.c; torch 2.13 torch/serialization.py (_legacy_load); joblib 1.5.
"""

from __future__ import annotations

import re

from ...errors import InertError, TruncatedError
from ...pickle.begins import ANYWHERE, NAME, SEALED, STARTS
from ...pickle.decode import Document, decode
from ...pickle.nodes import Call, Global
from ...pickle.row import Row
from ...policy import DANGEROUS, judge
from ...torch.legacy import MAGIC, read_legacy, source_notes
from ...torch.raw import Joblib
from ...words import counted
from .beside import neighbours
from .judging import cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...source import Span
    from .look import Look

WINDOW = 1 << 16  # bytes that are decoded before more is read
MAPPED = 64 << 20  # larger files are decoded over the map: copies of their arrays would take as much memory as the file
UNSURE = 1 << 20  # bytes of what may be raw data that are decoded at most, where nothing says that it is a pickle
HUNTED = 16 << 20  # bytes of a gap that are searched
FRAMES = 64  # lying frames of one pickle that are corrected
STEPPED = 4096  # bytes of a pickle that is decoded faster step by step than by columns
AGAIN = 2  # times the length of a gap that is decoded in it
TRIED = 10_000  # places in a gap that are tried
PROTOCOLS = (b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5")
OLDER = (b"\x80\0", b"\x80\1")  # which no pickler writes and every unpickler takes; other files begin so too
_PLAIN = re.compile(NAME.decode() + r"\Z")


class Reading:
    """One pickle decoded: the document, and what stepped over raw bytes in it."""

    __slots__ = ("base", "document", "follow", "lied", "start")

    def __init__(self, document: Document, follow: Joblib, base: int, start: int = 0, lied: int = -1) -> None:
        self.document = document
        self.follow = follow
        self.base = base  # offset in the span of the document's data
        self.start = start  # of the pickle in that data
        self.lied = lied  # where a frame claims more bytes than there are, or -1

    @property
    def taken(self) -> int:
        """Bytes that were decoded."""
        fault = self.document.fault
        return max((self.document.end or (fault.offset if fault and fault.offset else 0) + 1) - self.start, 1)


def at(look: Look, span: Span, start: int, name: str, most: int, whole: bool = False) -> Reading:
    """The pickle at ``start`` of a span, looking at no more than ``most`` bytes. ``whole``: it is expected to take all of them."""
    limits = look.limits
    room = min(span.length - start, most)
    for window in (MAPPED, room) if whole or room < 2 * WINDOW else (WINDOW, MAPPED, room):
        length = min(window, room)
        if length > MAPPED and span.offset == 0 and span.length == span.source.size:
            from ...formats.bare_pickle import whole as mapped

            data: Any = mapped(span.source, limits)
            follow = Joblib(span.source, 0)
            return Reading(decode(data, name, limits, start=start, follow=follow), follow, 0, start)
        data = span.read(start, length)
        follow = Joblib(span.source, span.offset + start)
        document = decode(data, name, limits, follow=follow, shortcut=length > STEPPED)
        if length == room or not _short(document):
            break
    lied = -1
    for _ in range(FRAMES):
        place = _overlong(document)
        if place < 0:
            break
        lied = place if lied < 0 else lied
        data = data[: place + 1] + (length - place - 9).to_bytes(8, "little") + data[place + 9 :]
        follow = Joblib(span.source, span.offset + start)
        document = decode(data, name, limits, follow=follow)
    return Reading(document, follow, start, 0, lied)


def _overlong(document: Document) -> int:
    """Where a frame claims more bytes than there are, or -1: CPython's C unpickler refuses it, its Python twin, which joblib uses, reads
    on."""
    fault = document.fault
    if not isinstance(fault, TruncatedError) or fault.offset is None or fault.offset + 9 > len(document.data):
        return -1
    return fault.offset if bytes(document.data[fault.offset : fault.offset + 1]) == b"\x95" else -1


def _short(document: Document) -> bool:
    """Whether more bytes might mend the fault: the pickle, or what follows raw in it, ends too early."""
    fault = document.fault
    return fault is not None and (isinstance(fault, TruncatedError) or fault.offset is None or fault.offset >= len(document.data) - 16)


def meant(document: Document) -> bool:
    """Whether a pickle that nobody has promised asks for something in earnest: it calls what has a name, or names what is dangerous, or is
    whole and imports something. Text and numbers decode to names by chance, but hardly to calls."""
    found = False
    for node in document.rows:
        if type(node) is Row:
            return True
        if type(node) is Global:
            if node.how != "EXT" and _PLAIN.match(node.module) and _PLAIN.match(node.name):
                found = True
                if judge(*node.imported).verdict == DANGEROUS:
                    return True
        elif type(node) is Call and found:
            return True
    last = cut(document)
    if last is not None and judge(*last.imported).verdict == DANGEROUS:
        return True
    return found and document.fault is None


def worth(head: bytes) -> bool:
    """Whether a pickle may begin so."""
    return bool(head) and head[0] in STARTS


def read(look: Look, span: Span, part: str, sure: bool, rest: bool = True) -> bool:
    """The pickles that begin at a span's first byte. Whether there are any. ``sure``: somebody is to read them, so that a first one with a
    fault counts too, where it begins as pickles since protocol 2 do. ``rest``: whether to search what follows them."""
    if not worth(span.read(0, min(1, span.length))):
        return False
    start, number = 0, 0
    while start < span.length:
        name = f"pickle {number}" if number else "pickle"
        proto = span.read(start, min(2, span.length - start)) in PROTOCOLS
        reading = at(look, span, start, name, span.length if proto or sure or number else UNSURE, sure and not number and span.offset > 0)
        if not look.spend(reading.taken, part):
            return True
        if not _taken(reading.document, proto, sure, number, span):
            break
        end = _take(look, span, reading, f"{part}: {name}" if part and number else part or name, start, number)
        number += 1
        if number >= look.limits.pickles:
            look.note("pickles-limit", f"{number:,} pickles were read", part, end)
            return True
        if end <= start:  # it has a fault: what stands behind that may be anything
            start += 1
            break
        start = end
    if number and start < span.length and rest:
        _rest(look, span, start, part)
    return number > 0


def _taken(document: Document, proto: bool, sure: bool, number: int, span: Span) -> bool:
    """Whether what was decoded is taken for a pickle."""
    if meant(document):
        return True
    if document.fault is not None:
        begins = proto or (bytes(document.data[:2]) in OLDER and (document.globals or cut(document)))
        return bool(begins) and sure and not number
    return proto or (sure and not number and (document.top >= 0 or document.end == span.length))


def _take(look: Look, span: Span, reading: Reading, part: str, start: int, number: int) -> int:
    """A pickle's names, and those of what else it may be read as; the offset where the next one may begin."""
    document, base = reading.document, reading.base
    if document.root == MAGIC and type(document.root) is int:
        end = _legacy(look, span, part, start)
        if end > start:
            return end
    look.document(document, part, base)
    if reading.lied >= 0 and document.fault is None:
        look.note("pickle-frame", "a frame claims more bytes than there are, and the pickle ends before them", part, base + reading.lied)
    if number == 0:
        look.latest = document
        if part == look.main_part:
            look.main.append(document)
    if reading.follow.first >= 0:
        _plainly(look, reading, part)
    neighbours(look, document, span, part)
    if document.fault is not None:
        return start
    look.kind = look.kind or "pickle"
    end = base + document.end
    if document.frame_end > document.end and base + document.frame_end < span.length:
        other = at(look, span, base + document.frame_end, "behind the frame", UNSURE).document
        if meant(other):
            look.document(other, f"{part} (behind the frame)", base + document.frame_end)
    return end


def _legacy(look: Look, span: Span, part: str, start: int) -> int:
    """A save in the layout before 1.6: its five pickles, and the end of its storages; ``start`` where it is damaged."""
    try:
        save = read_legacy(span, look.limits, start)
    except InertError:
        return start
    for name, document in save.pickles.items():
        look.document(document, f"{part}: {name}" if part and part != "pickle" else name, save.starts[name])
    if part == look.main_part and not look.main:
        look.main += [save.pickles["object"], *(one for name, one in save.pickles.items() if name != "object")]
        look.kind = look.kind or "torch-legacy"
    look.names.take(source_notes(save.pickles["object"]))
    return save.end


def _plainly(look: Look, reading: Reading, part: str) -> None:
    """What pickle.load finds in the raw bytes of arrays that joblib steps over."""
    document = reading.document
    plain = decode(document.data, "plain", look.limits, start=reading.start)
    known = {(node.module, node.name) for node in document.rows if type(node) is Global}
    more = [node for node in plain.rows if type(node) is Global and (node.module, node.name) not in known]
    if more and meant(plain):
        look.note("pickle-hidden", f"pickle.load finds {more[0].dotted} in the bytes of an array", part, reading.base + more[0].offset)
        look.names.document(plain, f"{part} (as pickle.load reads it)", reading.base, faults=False)


def _rest(look: Look, span: Span, start: int, part: str) -> None:
    """What follows the last pickle."""
    left = span.sub(start)
    if not left.read(0, min(WINDOW, left.length)).strip(b"\0\r\n\t "):
        return
    if look.kind != "torch-legacy":
        look.note("pickle-trailing", f"{counted(left.length, 'byte', 'follow')} the last pickle", part or "pickle", start)
    hunt(look, left, part or "pickle", start)


def hunt(look: Look, span: Span, part: str, base: int = 0) -> None:
    """Pickles and archives' members anywhere in bytes that are none of a known structure. ``base``: offset of the span in ``part``."""
    part = part or span.source.name
    length = min(span.length, HUNTED)
    data = span.read(0, length)
    place, tried, left = 0, 0, AGAIN * length + UNSURE
    _first(look, data, part, base)
    shut = SEALED.search(data)
    if shut:
        look.note("scan-unread", "an archive stands here that is not looked into", part, base + shut.start())
    while found := ANYWHERE.search(data, place):
        place = found.start() + 1
        tried += 1
        if tried > TRIED:
            look.note("scan-limit", f"more than {TRIED:,} places look like a pickle's beginning", part, base + found.start())
            return
        if found[0] == b"PK\3\4":
            from .strays import stray

            place = max(place, stray(look, data, found.start(), part, base))
            continue
        document = decode(data, "pickle", look.limits, start=found.start())
        reached = document.end or (document.fault.offset if document.fault and document.fault.offset else found.start()) + 1
        left -= max(reached - found.start(), 1)
        if not look.spend(max(reached - found.start(), 1), part):
            return
        if meant(document):
            look.note("pickle-elsewhere", "a pickle stands here", part, base + found.start())
            look.document(document, part, base)
            place = max(place, document.end)
        if left < 0:
            look.note("scan-limit", "pickles that might begin at its many places overlap too much", part, base + found.start())
            return


def _first(look: Look, data: bytes, part: str, base: int) -> None:
    """The region's very beginning, whatever it looks like."""
    if worth(data[:1]) and not ANYWHERE.match(data):
        document = decode(data, "pickle", look.limits)
        if meant(document):
            look.note("pickle-elsewhere", "a pickle stands here", part, base)
            look.document(document, part, base)
