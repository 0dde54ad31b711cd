"""Files of the other layouts that torch and pickle write: python make_old.py [FOLDER] (torch 2.13.0, run in the repository's folder).

``torch-legacy`` by ``_use_new_zipfile_serialization=False``; ``torch-tar`` by the steps of PyTorch 0.1.9 (tests/tars.py), which torch 2.13
still reads; ``pickle`` by the pickle module. Each with what torch, or pickle, reads back.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]
from describe import write  # noqa: E402 - the line above finds it

from tests.tars import sample  # noqa: E402

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "old"


def legacy(value: Any, protocol: int = 2) -> bytes:
    buffer = io.BytesIO()
    torch.save(value, buffer, _use_new_zipfile_serialization=False, pickle_protocol=protocol)
    return buffer.getvalue()


def shared() -> dict[str, Any]:
    base = torch.arange(12.0).reshape(3, 4)
    return {"a": base, "t": base.t(), "row": base[1], "half": base.half(), "big": torch.tensor([1 << 40]), "epoch": 3}


def files() -> dict[str, tuple[bytes, str, str, tuple[str, ...]]]:
    torch.manual_seed(13)
    module = nn.Sequential(OrderedDict(fc=nn.Linear(3, 2), norm=nn.BatchNorm1d(2)))
    arrays = {"w": np.arange(6, dtype="<f4").reshape(2, 3), "nested": [{"b": np.array([True, False])}], "epoch": 3}
    return {
        "legacy_dict.pt": (legacy(shared()), "torch-legacy", "views that share a storage, several element types", ()),
        "legacy_protocol_4.pt": (legacy(shared(), 4), "torch-legacy", "frames before the magic number", ()),
        "legacy_module.pt": (legacy(module), "torch-legacy", "a whole module: its classes come with their source text", ("module-source",)),
        "tar.pth": (sample(), "torch-tar", "the layout before 0.1.10, with a storage view", ()),
        "numpy.pkl": (pickle.dumps(arrays, 4), "pickle", "a bare pickle of arrays", ()),
    }


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, (data, format, why, notes) in files().items():
        path = FOLDER / name
        path.write_bytes(data)
        value = pickle.loads(data) if format == "pickle" else None
        writer = "pickle" if format == "pickle" else f"torch {torch.__version__}"
        write(path, value, writer=writer, why=why, format=format, notes=list(notes))
    print(f"{len(files())} files in {FOLDER}")


if __name__ == "__main__":
    main()
