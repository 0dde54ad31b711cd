"""A file cut short at any byte: never a traceback, and every tensor whose bytes are whole is recovered.

The plain suite looks at some cuts of each sample; INERT_ALL_CUTS=1 at all of them (the oracle suite does so).
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.cuts import SAMPLES, Cutter

SOME = 24


@pytest.mark.parametrize("name", SAMPLES)
def test_every_whole_tensor_of_a_cut_file_is_recovered(name: str, tmp_path: Path) -> None:
    cutter = Cutter(SAMPLES[name](tmp_path), tmp_path)
    size = len(cutter.whole)
    cuts = list(range(size + 1))
    if not os.environ.get("INERT_ALL_CUTS"):
        near = {end + step for end in set(cutter.sample.needs.values()) for step in (-1, 0)} | {0, 1, size - 1, size}
        picked = random.Random(name).sample(cuts, SOME) + random.Random(name).sample(sorted(near), min(len(near), SOME))
        cuts = sorted({cut for cut in picked if 0 <= cut <= size} | {size})
    most = max(cutter.check(cut) for cut in cuts)
    assert most >= len(cutter.sample.hashes)
