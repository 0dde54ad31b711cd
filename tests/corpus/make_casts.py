"""casts.json: what torch's ``Tensor.to()`` makes of numbers of each floating type: python make_casts.py (torch 2.13.0, NumPy).

For every pair of types, the SHA-256 of the results' bits (every NaN as all ones, since processors differ in which NaN they give) and how
many of them are NaN. ``samples`` and ``settled`` are the test's too; they need NumPy alone.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

WIDTHS = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1,
          "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1}  # fmt: skip
# type → bits that count, and from which value of them on (or at which, None) it is a NaN
NANS = {
    "float64": (0x7FFFFFFFFFFFFFFF, 0x7FF0000000000001), "float32": (0x7FFFFFFF, 0x7F800001), "float16": (0x7FFF, 0x7C01),
    "bfloat16": (0x7FFF, 0x7F81), "float8_e4m3fn": (0x7F, 0x7F), "float8_e5m2": (0x7F, 0x7D), "float8_e8m0fnu": (0xFF, 0xFF),
}  # fmt: skip


def samples(name: str) -> Any:
    """Bits of numbers of a type: all there are of 8 and 16 bits; else a spread of all exponents, and what is near halves."""
    width = WIDTHS[name]
    if width < 4:
        return np.arange(1 << (8 * width), dtype=f"u{width}")
    kind = np.dtype(f"u{width}").type
    with np.errstate(over="ignore"):
        spread = np.arange(60_000, dtype=kind) * kind(0x9E3779B97F4A7C15 & ((1 << 8 * width) - 1))
    near = np.arange(1 << 16, dtype=np.uint32).astype(np.uint64) << np.uint64(16)  # every bfloat16, and its neighbours and halves
    halves = np.concatenate([near, near | np.uint64(0x7FFF), near | np.uint64(0x8000), near | np.uint64(0x8001), near + np.uint64(0xFFFF)])
    single = halves.astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        return np.concatenate([spread, (single if width == 4 else single.astype(np.float64)).view(kind)])


def settled(bits: Any, name: str) -> tuple[str, int]:
    """(SHA-256 of the bits with every NaN as all ones, how many are NaN)."""
    bits = np.ascontiguousarray(bits).view(f"u{WIDTHS[name]}").copy()
    if name in NANS:
        mask, first = NANS[name]
        empty = (bits & bits.dtype.type(mask)) >= bits.dtype.type(first)
    else:
        empty = bits == 0x80
    bits[empty] = np.iinfo(bits.dtype).max
    return hashlib.sha256(bits.tobytes()).hexdigest(), int(empty.sum())


def main() -> None:
    import torch

    signed = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}
    found = {}
    for source, width in WIDTHS.items():
        given = torch.from_numpy(samples(source).view(signed[width])).view(getattr(torch, source))
        for target, other in WIDTHS.items():
            if target != source:
                made = given.to(getattr(torch, target)).view(getattr(torch, np.dtype(signed[other]).name)).numpy()
                found[f"{source} {target}"] = settled(made, target)
    text = json.dumps({"writer": f"torch {torch.__version__}", "casts": found}, indent=1)
    Path(__file__).with_name("casts.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
