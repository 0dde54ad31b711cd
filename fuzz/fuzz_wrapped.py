"""Whatever lies in gzip, bzip2, xz, zlib, zstd, LZ4, a zip or a tar, whole, cut or damaged: sound answers, twice the same, or an InertError.

An input is a row of wrappers by their first letters, a colon, and what they are put around; or the bytes themselves; or the files of a
folder, in a zip or, where the head begins with t, in a tar.
"""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Callable

from asking import MARK, asked, contents, folders, tarred, zipped
from driver import run

from tests import tars
from tests.makers import Entry, zip_bytes

READS = ("formats.wrapped", "formats.wrapped_folders", "containers.archived", "inflate", "scratch", "containers.deflated")


def further() -> dict[str, Callable[[bytes], bytes]]:
    made: dict[str, Callable[[bytes], bytes]] = {}
    try:
        import lz4.frame

        made["l"] = lz4.frame.compress
    except ImportError:
        pass
    try:
        import zstandard

        made["s"] = zstandard.ZstdCompressor(level=1).compress
    except ImportError:
        pass
    return made


def bundle(data: bytes) -> bytes:
    """A TensorFlow checkpoint in a folder of a zip archive: two bytes of length, the index, the data."""
    end = 2 + int.from_bytes(data[:2], "little")
    return zip_bytes([Entry("ck/model.index", data[2:end]), Entry("ck/model.data-00000-of-00001", data[end:])])


WRAPPERS: dict[str, Callable[[bytes], bytes]] = {
    "g": lambda data: gzip.compress(data, 1, mtime=0), "b": lambda data: bz2.compress(data, 1), "x": lambda data: lzma.compress(data, preset=0), "z": lambda data: zlib.compress(data, 1),
    "p": lambda data: zip_bytes([Entry("a/readme.txt", b"x"), Entry("a/model.pt", data)]), "d": lambda data: zip_bytes([Entry("model.pkl", data, method=8)]),
    "t": lambda data: tars.archive({"a/model.ckpt": data}), "c": lambda data: data[: len(data) * 2 // 3], "2": lambda data: data * 2, "f": bundle,
    **further(),
}  # fmt: skip
BEGIN = b"wrap "


def one(data: bytes) -> None:
    if MARK in data:
        archive = (tarred if data[:1] == b"t" else zipped)(data).getvalue()
        asked(lambda: io.BytesIO(archive), loads=False)
        return
    if data.startswith(BEGIN):
        letters, _, data = data.removeprefix(BEGIN).partition(b":")
        for letter in reversed(letters[:4].decode("latin-1")):
            data = WRAPPERS.get(letter, bytes)(data)
    asked(lambda: io.BytesIO(data), loads=False)


INNER = [
    *contents("pickles/joblib-p4.joblib", "legacy/bare_tensor.pt", "torch/bare_tensor.pt", "safetensors/metadata.safetensors"),
    tars.sample(),
]

INDEX, DATA = contents("tf/names/names.index", "tf/names/names.data-00000-of-00001")
BUNDLE = len(INDEX).to_bytes(2, "little") + INDEX + DATA

run(
    one,
    seeds=[
        *[BEGIN + letters.encode() + b":" + data for letters in (*WRAPPERS, "tg", "gt", "cg", "pd", "cx") for data in INNER[:3]],
        BEGIN + b"f:" + BUNDLE,
        bundle(BUNDLE),
        *[make(data) for make in WRAPPERS.values() for data in INNER],
        *folders("sharded/*", "dcp/two_ranks"),
        *folders("sharded/*", head=b"t"),
    ],
    smoke=1200,
)
