"""Whatever the bytes, a safetensors file gives a result or an InertError; two readings agree, and no tensor reaches beyond the file."""

from __future__ import annotations

import io
import struct

from driver import instrument, run

with instrument():
    import inert

SEEDS = (
    '{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},'
    '"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[8,12]}}   ',
    '{"a": {"dtype": "F4", "shape": [2, 2], "data_offsets": [0, 2]}, "é": {"dtype": "I64", "shape": [], "data_offsets": [2, 10]}}',
    '{"\\u0061":["U8",[1],[0,1]],"b":{"dtype":"U8","x":[{"y":1e3}],"shape":[0],"data_offsets":[1,1]}}',
    "{}",
)


def reading(data: bytes) -> list[object]:
    said: list[object] = []
    with inert.open(io.BytesIO(data)) as checkpoint:
        for name, tensor in checkpoint.tensors.items():
            said += [name, str(tensor.dtype), tensor.shape]
            try:
                size = sum(map(len, tensor.chunks()))
                assert size == tensor.nbytes <= len(data) - 8
                said.append(tensor.sha256())
                tensor.numpy()
            except inert.InertError as error:
                said.append(str(error))
        said += [str(note) for note in checkpoint.notes] + [repr(part) for part in checkpoint.parts.values()]
    return said


def one(data: bytes) -> None:
    try:
        first = reading(data)
    except inert.InertError:
        return
    assert reading(data) == first


run(one, seeds=[struct.pack("<Q", len(seed.encode())) + seed.encode() + bytes(range(12)) for seed in SEEDS])
