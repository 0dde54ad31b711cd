"""TensorFlow reads what repair writes of its checkpoints, cut short in the index or in the data, with the values of the whole ones."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import inert
from tests.cuts import SAMPLES, Cutter

tf = pytest.importorskip("tensorflow")
CUTS = 12


@pytest.mark.parametrize("name", ["tf-data", "tf-index"])
@pytest.mark.parametrize("fill", [None, "zeros"])
def test_tensorflow_reads_what_is_left(name: str, fill: str | None, tmp_path: Path) -> None:
    cutter = Cutter(SAMPLES[name](tmp_path), tmp_path)
    prefix = str(cutter.sample.folder / cutter.sample.open).removesuffix(".index")
    reader = tf.train.load_checkpoint(prefix)
    dtypes = reader.get_variable_to_dtype_map()

    def raw(at: str, key: str) -> bytes:
        return bytes(
            np.asarray(tf.raw_ops.RestoreV2(prefix=at, tensor_names=[key], shape_and_slices=[""], dtypes=[dtypes[key]])[0]).tobytes()
        )

    whole = {key: raw(prefix, key) for key in dtypes}
    least, size = min(filter(None, cutter.sample.needs.values())), len(cutter.whole)
    for cut in [*random.Random(name).sample(range(least, size), CUTS), size]:
        cutter.path.write_bytes(cutter.whole[:cut])
        out = tmp_path / f"{cut}"
        done = inert.repair(cutter.sample.folder / cutter.sample.open, f"{out}.index", fill=fill, sync=False)
        found = set(tf.train.load_checkpoint(str(out)).get_variable_to_dtype_map())
        assert {*done.recovered, *done.filled} == found
        assert not [key for key in done.recovered if raw(str(out), key) != whole[key]]
