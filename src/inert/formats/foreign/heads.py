"""What the first bytes tell: magic numbers, and the few formats whose beginning needs more than a pattern.

Knows: what such beginnings say of themselves (a picture's size, an array's shape), and how a pickle without a magic number starts.
Refuses to know: what stands behind the first 8 KiB, except for a TensorFlow table's last eight bytes and a pickle's last one.
"""

from __future__ import annotations

import re

from .look import containing, matching, show
from .tables import AGAIN, HEADS, LATER_HEADS, OPEN, PICKLE_0, PICKLE_2, PICKLES
from .text import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .look import Answer, Look
    from .tables import Rows

TF_HEADER = re.compile(rb"\0\0[\x02-\x40]\x08.(?:\x10\x01)?\x1a[\x02-\x10]\x08\x01", re.S)  # the first entry of a bundle's index
TF_FOOTER = re.compile(rb"(?:[\x80-\xff]{0,4}[\0-\x7f]){4}\0{20,36}(?!\0{8}).{8}\Z", re.S)  # of a table: two handles, zeros, then not zeros
TF_MAGIC = b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"  # the last 8 bytes of a table: u64 0xdb4775248b80fb57


def later(look: Look) -> Answer | None:
    """What a later version will read."""
    answer = _safetensors(look) or _tf_table(look) or _begun(LATER_HEADS, look)
    if answer and answer[0] == "torch-legacy" and answer[2]:
        return (*answer[:3], AGAIN)
    return answer


def magic(look: Look) -> Answer | None:
    return _begun(HEADS, look)


def _begun(rows: Rows, look: Look) -> Answer | None:
    for kind, _, noun, hint in matching(rows, look.head):
        return kind, noun, FACTS[kind](look) if kind in FACTS else "", hint
    return None


def _safetensors(look: Look) -> Answer | None:
    if not re.match(rb".{8}(?:\xef\xbb\xbf)?\s*\{\s*[\"}]", look.head, re.S) or decode(look.head):
        return None
    header = int.from_bytes(look.head[:8], "little")
    if look.inner or header + 8 <= look.source.size:
        return "safetensors", "a safetensors file", f"; its header takes {header:,} bytes", OPEN
    return "safetensors", "a safetensors file cut short or damaged", f"; its header alone should take {header:,} bytes", AGAIN


def _tf_table(look: Look) -> Answer | None:
    """A LevelDB-style table. Its first value tells the two apart: a header (varint field) or the list of tensors (message)."""
    if not look.tail.endswith(TF_MAGIC):
        if look.inner or not TF_HEADER.match(look.head) or not TF_FOOTER.match(look.tail[-48:]):
            return None
        facts = f"; its last eight bytes, which say what it is, are {look.tail[-8:].hex(' ')} and not {TF_MAGIC.hex(' ')}"
        return "tf-bundle", "the index of a TensorFlow checkpoint, damaged at its end", facts, AGAIN
    first = re.match(rb"(?:[\x80-\xff]*[\0-\x7f][\xf0-\xff]?.{0,4}?)??\0\0[\x80-\xff]*[\0-\x7f](.)", look.head, re.S)
    if first is None:
        facts = "; its first entry is not that of a TensorFlow checkpoint"
        return "leveldb", "a table as LevelDB writes it", facts, f"if it should be a TensorFlow checkpoint: {AGAIN}"
    if first[1] == b"\x0a":
        return "tf-v1", "a TensorFlow checkpoint of the first version (V1)", "", OPEN
    return "tf-bundle", "the index of a TensorFlow checkpoint", "; the numbers are in the .data files beside it", OPEN


def _legacy_facts(look: Look) -> str:
    return "; it is cut short, for its header alone takes 137 bytes" if look.source.size < 137 and not look.inner else ""


def _png_facts(look: Look) -> str:
    width, height = (int.from_bytes(look.head[at : at + 4], "big") for at in (16, 20))
    return f"; {width:,} × {height:,} pixels" if len(look.head) >= 24 else ""


def _gguf_facts(look: Look) -> str:
    big = look.head[4:6] == b"\0\0"  # versions are small: the zeros tell the byte order
    version, tensors = (int.from_bytes(look.head[at:end], "big" if big else "little") for at, end in ((4, 8), (8, 16)))
    return f"; version {version}, {tensors:,} tensors" if version >= 2 and len(look.head) >= 24 else ""


def _npy_facts(look: Look) -> str:
    found = re.search(rb"'descr': ?'([^']{1,40})'.{0,80}?'shape': ?(\([\d, L]{0,200}\))", look.head, re.S)
    return f"; type {show(found[1], 40)}, shape {show(found[2], 60)}" if found else ""


def _hdf5_facts(look: Look) -> str:
    found = re.search(rb"keras_version|model_config|layer_names|model_weights|optimizer_weights", look.head)
    return "; Keras wrote it" if found else ""


FACTS: dict[str, Callable[[Look], str]] = {
    "torch-legacy": _legacy_facts,
    "png": _png_facts,
    "gguf": _gguf_facts,
    "npy": _npy_facts,
    "hdf5": _hdf5_facts,
}


def aria2(look: Look) -> Answer | None:
    """No magic number: version 1, and a bit field of as many bits as the download has pieces."""
    head = look.head
    if len(head) < 34 or not head.startswith(b"\0\1\0\0\0") or head[6:9] != bytes(3):
        return None
    at = 10 + head[9]  # behind the info hash
    piece, total, field = (int.from_bytes(head[at + a : at + b], "big") for a, b in ((0, 4), (4, 12), (20, 24)))
    if len(head) < at + 24 or not piece or field != (-(-total // piece) + 7) // 8:
        return None
    facts = f"; the whole file would be {total:,} bytes"
    return "aria2", "a control file of an unfinished aria2 download", facts, "let aria2 finish the download"


def pickled(look: Look) -> Answer | None:
    if PICKLE_2.match(look.head):
        facts = f"; protocol {look.head[1]}"
    elif PICKLE_0.match(look.head):
        facts = "; protocol 0 or 1"
    else:
        return None
    kind, _, noun, hint = next(containing(PICKLES, look.head))
    if not look.inner and not look.tail.endswith(b"."):
        facts += "; it does not end as a pickle does: it is cut short, or other data follow"
        hint = AGAIN
    return kind, noun, facts, hint
