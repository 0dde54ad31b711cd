"""The shortcut for tensor records, on the pickles that torch itself writes: it is taken, and it changes nothing."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from inert.pickle.decode import decode
from tests.test_pickle_rows import check


def pickled(value: Any, **options: Any) -> bytes:
    out = io.BytesIO()
    torch.save(value, out, **options)
    with zipfile.ZipFile(out) as archive:
        return archive.read("archive/data.pkl")


def tied() -> dict[str, Any]:
    weight, plain = nn.Parameter(torch.ones(2, 3)), torch.ones(4)
    found: dict[str, Any] = {f"w{i}": torch.full((2,), float(i)) for i in range(60)}
    return found | {"a": weight, "b": weight, "c": plain, "d": plain, "e": plain[1:3], "f": [plain, {"g": plain}]}


def optimiser() -> dict[str, Any]:
    model = nn.Sequential(*[nn.Linear(2, 2) for _ in range(40)])
    adam = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    adam.step()
    return {"model": model.state_dict(), "optimizer": adam.state_dict(), "epoch": 3}


VALUES: dict[str, tuple[Callable[[], Any], int]] = {
    "a large state dict": (lambda: {f"layer.{i}.weight": torch.zeros(2) for i in range(9500)}, 9490),
    "an optimiser": (optimiser, 150),
    "tied tensors": (tied, 55),
    "scalars": (lambda: {f"s{i}": torch.tensor(float(i)) for i in range(300)}, 295),
    "five dimensions": (lambda: {f"s{i}": torch.zeros(1, 2, 1, 2, 1) for i in range(100)}, 95),
    "many types": (lambda: {f"{d}.{i}": torch.zeros(2, dtype=d) for i in range(30) for d in (torch.float32, torch.half, torch.int64, torch.bool)}, 110),
    "parameters": (lambda: {f"p{i}": nn.Parameter(torch.zeros(i)) for i in range(100)}, 95),
    "a list": (lambda: [torch.zeros(i) for i in range(300)], 290),
    "names": (lambda: {f"été.☃.{i}": torch.zeros(1) for i in range(100)}, 95),
    "large storages": (lambda: {f"v{i}": torch.zeros(70_000)[i : i + 300] for i in range(100)}, 95),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("protocol", [2, 3])
def test_torchs_own_records(name: str, protocol: int) -> None:
    make, least = VALUES[name]
    document, rows = check(pickled(make(), pickle_protocol=protocol))
    assert document.fault is None
    assert rows >= least


def test_most_of_a_state_dict_is_never_made_into_nodes() -> None:
    data = pickled({f"layer.{i}.weight": torch.zeros(2) for i in range(3000)})
    document = decode(data)
    assert len(document._machine.memo) + document._machine.hidden == document._machine.top + 1
    assert document._machine.hidden > 7 * 2990
