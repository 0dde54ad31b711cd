"""torch-zip: what torch.save writes, byte for byte.

Knows: the records and their order, the archive's name, and which of them may be taken from the file that is edited.
Refuses to know: opcodes, zip headers, how bytes get to disk.

Facts: torch 2.13 torch/serialization.py (_save), caffe2/serialize/inline_container.cc (archive name).
"""

from __future__ import annotations

from ..containers.zipwrite import ID, ID_LENGTH, Archive, Record
from ..errors import UnsupportedError
from ..pickle.encode import Encoder
from ..pickle.style import fresh
from ..torch.unbuild import Storing, Unbuilder
from . import File, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..sink import Piece
    from . import Options, Saved


def plan(saved: Saved, options: Options) -> Plan:
    storing = Storing()
    unbuilder = Unbuilder(options.protocol, storing, saved.tensors)
    data = Encoder(fresh(options.protocol), None, unbuilder).encode(saved.root)
    archive = Archive(archive_name(options.name), records(data, storing.pieces, options.alignment), options.alignment)
    return Plan([File("", archive.size, archive.write)])


def records(data: bytes, pieces: dict[str, Piece], alignment: int) -> list[Record]:
    """Everything that torch.save writes, in its order."""
    return [
        Record("data.pkl", data),
        Record(".format_version", b"1"),
        Record(".storage_alignment", str(alignment).encode()),
        Record("byteorder", b"little"),
        *(Record(f"data/{key}", piece) for key, piece in pieces.items()),
        Record("version", b"3\n"),
        Record(ID, bytes(ID_LENGTH)),
    ]


def archive_name(path: str) -> str:
    """The folder in the archive: the file's name up to its last dot; "archive" where that has letters beyond ASCII."""
    name = path.replace("\\", "/").rpartition("/")[2]
    stem = name.rpartition(".")[0] if "." in name else name
    if not stem:
        raise UnsupportedError(f"the name {name!r} leaves none for the archive's folder", hint="put something before the dot")
    return stem if path.isascii() else "archive"
