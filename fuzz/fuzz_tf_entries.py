"""Whatever the entries of TensorFlow's tables, whose blocks and checksums are right: sound answers, twice the same, or an InertError.

An input's files are the keys and values of an index; "data" is the data file. fuzz_tensorflow.py is for raw bytes, fuzz_sstable.py for blocks.
"""

from __future__ import annotations

from asking import CORPUS, asked, joined, parted, scratch
from driver import instrument, run

with instrument():
    from inert.containers.sstable import Table
    from inert.formats.tf_checks import tensor_checks
    from inert.limits import Limits
    from inert.source import BytesSource

import inert
from tests import tf_tables

READS = ("formats.tf_bundle", "formats.tf_places", "formats.tf_shards", "formats.tf_checks", "formats.tf_profile", "formats.tf_v1", "tensorflow.entries", "tensorflow.messages",
         "tensorflow.slices", "tensorflow.strings", "tensorflow.graph", "tensorflow.v1")  # fmt: skip
DATA = "data"
SAFE = "%"  # a key that begins with it is in hexadecimal digits: the keys of slices are no text


def key_of(name: str) -> bytes:
    if name.startswith(SAFE):
        try:
            return bytes.fromhex(name[1:])
        except ValueError:
            pass
    return b"" if name == "-" else name.encode("utf-8", "surrogatepass")


def name_of(key: bytes) -> str:
    return (
        key.decode()
        if key.isascii() and key.decode().isprintable() and key and not key.startswith(b"%")
        else SAFE + key.hex()
        if key
        else "-"
    )


def one(data: bytes) -> None:
    head, files = parted(data)
    held = files.pop(DATA, None)
    items = dict(sorted((key_of(name), value) for name, value in files.items()))
    index = tf_tables.table(items, 1 << 20 if head[:1] != b"\1" else 60, 0 if head[1:2] != b"\1" else 1)
    if held is None:
        path = scratch().filled({"m": index}) / "m"
    else:
        path = scratch().filled({"m.index": index, "m.data-00000-of-00001": held}) / "m"
    if asked(lambda: path, loads=False) is None or held is None:
        return
    with inert.open(path) as checkpoint:
        assert all(str(note).isprintable() for note in tensor_checks(checkpoint.content))
        names = list(checkpoint.tensors)
    with inert.open(path) as checkpoint:
        for name in names[:40]:
            alone = checkpoint.tensors.get(name)
            assert alone is not None or any(note.code == "tf-order" for note in checkpoint.notes), name


def entries(raw: bytes) -> dict[str, bytes]:
    return {name_of(key): bytes(block.data[start:end]) for key, block, start, end in Table(BytesSource(raw), Limits()).entries([])}


def seeds() -> list[bytes]:
    made = []
    for index in sorted((CORPUS / "tf").rglob("*.index")):
        data = index.with_name(index.stem + ".data-00000-of-00001")
        made.append(joined({**entries(index.read_bytes()), DATA: data.read_bytes() if data.exists() else b""}))
    for name in ("v1_types/first", "v1_file/model.ckpt-7"):
        made.append(joined(entries((CORPUS / "tf" / name).read_bytes())))
    return [one for one in made if len(one) < 1 << 15]


run(one, seeds=seeds(), smoke=400)
