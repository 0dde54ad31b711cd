"""The files of a bundle: how data files are filled with runs, and what the index says of them.

Knows: where each run lies, that checksums are made while the data is written, and data_alignment, which TensorFlow has as an option.
Refuses to know: what a run is of (tf_bundle.py), and how a table is made (containers/sstablewrite.py).

Facts: TensorFlow 2.21 tensor_bundle.cc (BundleWriter::Options: data_alignment is 1 unless a program says otherwise), naming.cc.
"""

from __future__ import annotations

from typing import NamedTuple

from ..containers.crc32c import crc32c, masked
from ..errors import UnsupportedError
from ..sink import Stream, length_of
from ..tensorflow.messages import header_bytes, run_bytes
from . import File

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..sink import Out, Piece

WIDEST = 65_535  # bytes of an alignment, as in torch's archives


class Run(NamedTuple):
    """What lies in one run of a data file: its key, the beginning of its entry, its bytes; its checksum (masked) where that is known,
    else 0; what gives the checksum where it is no plain one of the bytes; how many zeros stand before it."""

    key: bytes
    head: bytes
    piece: Piece
    crc: int = 0
    sum: Callable[[], int] | None = None
    pad: int = 0


def data_name(stem: str, number: int, count: int) -> str:
    return f"{stem}.data-{number:05d}-of-{count:05d}"


def dealt(runs: list[Run], most: int, alignment: int) -> list[list[Run]]:
    """The runs of each data file, in order: one is full where the next run would make it larger than ``most`` (0: never). Each begins at a
    multiple of ``alignment`` (0: they lie back to back, as TensorFlow has them)."""
    if not 0 <= alignment <= WIDEST:
        raise UnsupportedError(f"an alignment of {alignment:,} bytes", hint=f"say 1 to {WIDEST}")
    if most < 0:
        raise UnsupportedError(f"data files of {most} bytes", hint="say a size like 5GB")
    shards: list[list[Run]] = [[]]
    filled = 0
    for one in runs:
        size, pad = length_of(one.piece), -filled % (alignment or 1)
        if most and filled and filled + pad + size > most:
            shards.append([])
            filled = pad = 0
        shards[-1].append(one._replace(pad=pad) if pad else one)
        filled += pad + size
    return shards


def data_file(name: str, runs: list[Run], crcs: dict[bytes, int]) -> File:
    return File(name, sum(one.pad + length_of(one.piece) for one in runs), lambda out: pour(out, runs, crcs))


def pour(out: Out, runs: list[Run], crcs: dict[bytes, int]) -> None:
    """A data file; the checksums of what is in it go into ``crcs``."""
    for one in runs:
        if one.pad:
            out.write(bytes(one.pad))
        if one.crc or one.sum is not None:
            out.pour(one.piece)
            crcs[one.key] = one.crc or (one.sum() if one.sum is not None else 0)
        else:
            crcs[one.key] = masked(summed(out, one.piece))


def summed(out: Out, piece: Piece) -> int:
    """Write a piece and give its CRC-32C, in one pass."""
    crc = 0

    def passing() -> Iterator[bytes]:
        nonlocal crc
        for block in (piece,) if isinstance(piece, bytes) else piece.chunks():
            crc = crc32c(block, crc)
            yield block

    out.pour(Stream(length_of(piece), passing))
    return crc


def entries(shards: list[list[Run]], crcs: list[dict[bytes, int]], wholes: dict[bytes, bytes]) -> Iterator[tuple[bytes, bytes]]:
    """What the index holds, in the order of the keys; the checksum is 1 of what has not been written."""
    places: dict[bytes, tuple[Run, int, int] | bytes] = dict(wholes)
    for number, shard in enumerate(shards):
        at = 0
        for one in shard:
            places[one.key] = one, number, at + one.pad
            at += one.pad + length_of(one.piece)
    yield b"", header_bytes(len(shards))
    for key in sorted(places):
        found = places[key]
        if isinstance(found, bytes):
            yield key, found
        else:
            held, number, at = found
            yield key, held.head + run_bytes(number, at, length_of(held.piece), crcs[number].get(key, 1))
