"""Whatever the bytes, a safetensors file: sound answers, twice the same, or an InertError; no tensor reaches beyond the file."""

from __future__ import annotations

import io
import struct

from asking import asked, contents
from driver import run

READS = ("formats.safetensors",)
SEEDS = (
    '{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
    '"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[8,12]}}   ',
    '{"a": {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}, "é": {"dtype": "I64", "shape": [], "data_offsets": [2, 10]}}',
    '{"\\u0061":["U8",[1],[0,1]],"b":{"dtype":"U8","x":[{"y":1e3}],"shape":[0],"data_offsets":[1,1]}}',
    "{}",
)


def one(data: bytes) -> None:
    """With the header's length made right where it cannot be: what follows the header's bracket is data."""
    asked(lambda: io.BytesIO(data), loads=False)
    end = data.rfind(b"}", 8) + 1
    if end and int.from_bytes(data[:8], "little") != end - 8:
        asked(lambda: io.BytesIO(struct.pack("<Q", end - 8) + data[8:]), loads=False)


run(
    one,
    seeds=[
        *[struct.pack("<Q", len(seed.encode())) + seed.encode() + bytes(range(12)) for seed in SEEDS],
        *contents("safetensors/*.safetensors", "safetensors/broken/*", most=5000),
    ],
    smoke=2000,
)
