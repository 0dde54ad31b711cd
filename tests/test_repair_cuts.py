"""A file cut short at any byte: never a traceback, and every tensor whose bytes are whole is recovered.

The plain suite cuts each sample at the bounds of its structures, one byte before and one behind them, and at some other places;
INERT_ALL_CUTS=1 cuts at every byte (some minutes).
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.cuts import SAMPLES, Cutter

SOME = 12
ALL = bool(os.environ.get("INERT_ALL_CUTS"))
SLOW = ("quantized", "zip-1.6")  # cut by the whole run and by the oracle alone


@pytest.mark.parametrize("name", [name for name in SAMPLES if ALL or name not in SLOW])
def test_every_whole_tensor_of_a_cut_file_is_recovered(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name](tmp_path)
    assert sample.needs
    assert set(sample.needs) <= set(sample.hashes), "what these hold is not known"
    cutter = Cutter(sample, tmp_path)
    size = len(cutter.whole)
    cuts = list(range(size + 1))
    if not ALL:
        near = {bound + step for bound in sample.bounds() for step in (-1, 0, 1)}
        cuts = sorted(near.intersection(cuts) | {*random.Random(name).sample(cuts, SOME)})
    most = max(cutter.check(cut) for cut in cuts)
    assert most >= len(sample.hashes)
