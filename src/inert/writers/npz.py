"""npz: what numpy.load reads as numpy.savez's: arrays by name in an uncompressed zip archive.

Knows: the names of members. Refuses to know: NumPy's header (npy.py), zip headers (containers/zipwrite.py: data begins at multiples of 64).

Facts: NumPy 2.4 numpy/lib/_npyio_impl.py (savez: NAME.npy, arr_0 for an array without a name).
"""

from __future__ import annotations

from ..containers.zipwrite import Archive, Record
from ..errors import UnsupportedError
from ..sink import Stream, length_of
from . import File, Plan
from .npy import array, flattened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..sink import Piece
    from . import Options, Saved

LONGEST = (1 << 16) - 1 - len(".npy")  # bytes of a member's name, whose length has 16 bits


def plan(saved: Saved, options: Options) -> Plan:
    flat = flattened(saved, options)
    records = [Record(f"{member(name)}.npy", joined(*array(name, tensor))) for name, tensor in flat.tensors.items()]
    archive = Archive("", records)
    beside = flat.sidecar(options.name.replace("\\", "/").rpartition("/")[2])
    return Plan([*beside, File("", archive.size, archive.write)], flat.lost, flat.notes)


def member(name: str) -> str:
    """The member's name. UnsupportedError for what would leave the folder in which somebody unpacks the archive."""
    if name.startswith(("/", "\\")) or "\0" in name or ".." in name.replace("\\", "/").split("/") or name[1:2] == ":":
        raise UnsupportedError("as the name of a file it would lead outside", part=name, hint="rename the tensor")
    try:
        if len(name.encode()) > LONGEST:
            raise UnsupportedError("a zip archive holds no names of 64 KiB", part=f"{name[:60]}…", hint="rename the tensor")
    except UnicodeEncodeError:
        raise UnsupportedError("a name with half a surrogate pair, which UTF-8 cannot hold", part=name, hint="rename the tensor") from None
    return name or "arr_0"


def joined(head: bytes, piece: Piece) -> Piece:
    if isinstance(piece, bytes):
        return head + piece

    def chunks() -> Iterator[bytes]:
        yield head
        yield from piece.chunks()

    return Stream(len(head) + length_of(piece), chunks)
