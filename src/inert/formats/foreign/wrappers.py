"""Wrappers around another file: what they are, and what is inside where their beginning can be inflated.

Knows: how to inflate at most 4 KiB of gzip, zlib, xz, lzma, bzip2 and base64.
Refuses to know: what the inflated bytes are, which all recognisers are asked; and a wrapper inside a wrapper, which is only named.
"""

from __future__ import annotations

import re

from .look import matching
from .tables import AGAIN, LINK, OPEN, PAGE, TAR_KINDS, WRAPPERS, WRONG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .look import Answer, Look

INSIDE = 4 << 10  # bytes inflated to tell what a wrapper holds
# Kinds of WRAPPERS whose beginning can be inflated → the bytes that takes: bzip2 gives nothing before a block of 900 kB is in.
INFLATED = {"gzip": 64 << 10, "zlib": 64 << 10, "xz": 64 << 10, "lzma": 64 << 10, "bzip2": 1 << 20}
WEAK = ("zlib", "lzma")  # two bytes, or some zeros, prove nothing: only what inflates is taken for one of these
ENCODED = ("pickle", "joblib", "torch-legacy", "torch-zip", "torchscript", "safetensors", "gzip", "npy", "hdf5")  # met as base64


def wrapped(look: Look) -> Answer | None:
    row = next(matching(WRAPPERS, look.head), None)
    if row is None:
        return None
    kind, _, noun, hint = row
    if kind not in INFLATED or (look.inner and kind not in WEAK):
        return kind, noun, "", hint  # a wrapper inside a wrapper is named, not opened
    data = _inflate(kind, look.source.read(0, min(INFLATED[kind], look.source.size))) if not look.inner else b""
    if not data:
        return None if kind in WEAK else (kind, noun, "; it holds nothing, or nothing that can be read", AGAIN)
    inner, what, facts, then = look.inside(data)
    facts = facts.replace("; ", "; inside: ", 1)
    if inner == "unknown":
        return kind, f"{noun} around something unknown", facts, hint
    if inner in TAR_KINDS:
        hint, then = "unpack it with `tar xf FILE`", OPEN
    return kind, f"{noun} around {what}", facts, then if then in (WRONG, PAGE, LINK) else _unpacked(hint, then)


def base64(look: Look, text: bytes) -> Answer | None:
    body = re.sub(rb"\s+", b"", re.sub(rb"\Adata:[^,]{0,100};base64,", b"", text))
    if look.inner or len(body) < 24 or not re.fullmatch(rb"[A-Za-z0-9+/]+=*", body):
        return None
    from binascii import a2b_base64

    body = body.rstrip(b"=")
    kind, what, facts, then = look.inside(a2b_base64(body[: len(body) // 4 * 4]))
    if kind not in ENCODED:
        return None  # hexadecimal digits and long words are base64 too
    return "base64", f"base64 text of {what}", facts, _unpacked("decode it with `base64 -d < FILE > NEW`", then)


def _unpacked(hint: str, then: str) -> str:
    return f"{hint} and open what comes out" if then is OPEN else f"{hint}; {then}"


def _inflate(kind: str, data: bytes) -> bytes:
    """The first bytes of what ``data`` inflates to; none where it does not."""
    try:
        if kind in ("gzip", "zlib"):
            from zlib import decompressobj

            return decompressobj(47).decompress(data, INSIDE)  # 47: gzip or zlib, whichever it is
        if kind == "bzip2":
            from bz2 import BZ2Decompressor

            return BZ2Decompressor().decompress(data, INSIDE)
        from lzma import LZMADecompressor

        return LZMADecompressor(memlimit=128 << 20).decompress(data, INSIDE)  # the file chooses the size of its dictionary
    except Exception:  # each of the three complains in its own way
        return b""
