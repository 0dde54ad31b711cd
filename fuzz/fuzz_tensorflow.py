"""Whatever the bytes of an index, a data file or a first-version table: a result or an InertError, twice the same; what is read can be written and read again.

No tensor reaches beyond its file, and one tensor by its name is the same as in the listing.
"""

from __future__ import annotations

import struct
from pathlib import Path

from asking import scratch
from driver import instrument, run

with instrument():
    import inert
    from inert.formats.tf_bundle import TfBundle
    from inert.formats.tf_checks import tensor_checks

READS = ("formats.tf_bundle", "formats.tf_v1", "formats.tf_checks", "containers.protowire", "containers.sstable", "writers.tf_files")
HERE = Path(__file__).parent.parent / "tests" / "corpus" / "tf"
BUNDLES = ("objects/ckpt-2", "slices/slices", "strings/strings", "types/types", "names/names")
FIRST = ("v1_types/first", "v1_file/model.ckpt-7")


def join(index: bytes, data: bytes) -> bytes:
    """An index and a data file as one input; a first-version table has no data."""
    return struct.pack("<H", len(index)) + index + data


def seeds() -> list[bytes]:
    made = [join((HERE / f"{name}.index").read_bytes(), (HERE / f"{name}.data-00000-of-00001").read_bytes()) for name in BUNDLES]
    return made + [join((HERE / name).read_bytes(), b"") for name in FIRST]


def reading(prefix: Path) -> list[object]:
    said: list[object] = []
    with inert.open(prefix) as checkpoint:
        for name, tensor in checkpoint.tensors.items():
            said += [name, str(tensor.dtype), tensor.shape, tensor.fault]
            try:
                said.append(tensor.sha256())
                tensor.numpy()
            except inert.InertError as error:
                said.append(str(error))
        said += [str(note) for note in checkpoint.notes] + [repr(part) for part in checkpoint.parts.values()]
        if isinstance(checkpoint.content, TfBundle):
            said += [str(note) for note in tensor_checks(checkpoint.content)]
        names = list(checkpoint.tensors)
    with inert.open(prefix) as checkpoint:
        for name in names:
            alone = checkpoint.tensors.get(name)
            assert alone is not None or any(note.code == "tf-order" for note in checkpoint.notes), name
    return said


def written(prefix: Path) -> None:
    """The sound tensors are the same in a bundle that is written of them, and in that with other names and several data files."""
    out, again = prefix.with_name("out"), prefix.with_name("again")
    with inert.open(prefix) as checkpoint:
        sound = {}
        for name, tensor in checkpoint.tensors.items():
            try:
                sound[name] = tensor.sha256()
            except inert.InertError:
                continue
        try:
            inert.save({name: checkpoint.tensors[name] for name in sound}, out, format="tf-bundle", sync=False)
        except inert.UnsupportedError:
            return  # a name that can be none, or a type that TensorFlow does not have
    with inert.open(out) as checkpoint:
        assert {name: tensor.sha256() for name, tensor in checkpoint.tensors.items()} == sound
        assert {note.code for note in checkpoint.errors} <= {"tf-object-graph"}, checkpoint.errors  # a string like any other
    lost = [name for name, _ in inert.convert(out, again, rename={"^": "n/"}, max_shard_size=99, sync=False).lost]
    with inert.open(again) as checkpoint:
        found = {name: tensor.sha256() for name, tensor in checkpoint.tensors.items()}
        assert found == {f"n/{name}": digest for name, digest in sound.items() if f"n/{name}" not in lost}


def one(data: bytes) -> None:
    size = int.from_bytes(data[:2], "little")
    prefix = scratch().filled({"m.index": data[2 : 2 + size], "m.data-00000-of-00001": data[2 + size :]}) / "m"
    try:
        first = reading(prefix)
    except inert.InertError:
        return
    assert reading(prefix) == first
    written(prefix)


run(one, seeds=seeds(), smoke=300)
