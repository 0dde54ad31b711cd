"""What ``inert.diff`` counts is what torch counts: files by torch.save and safetensors, the expected figures by torch's own arithmetic."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import inert
from inert.ops.diff_histogram import difference_histogram

pytestmark = pytest.mark.oracle
FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz,
          torch.float8_e5m2fnuz]  # fmt: skip
INTEGERS = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.uint16, torch.uint32]
COMPLEX = [torch.complex64, torch.complex128, torch.complex32]
ODD = [0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1.0, 0.1, -2.5, 448.0]
SEED = torch.Generator().manual_seed(4)


def drawn(dtype: torch.dtype, size: int = 700) -> torch.Tensor:
    """Numbers with odd ones among them, as the type holds them."""
    if dtype.is_floating_point or dtype.is_complex:
        made = torch.randn(size, generator=SEED, dtype=torch.float64)
        places = torch.rand(size, generator=SEED) < 0.3
        made[places] = torch.tensor(ODD, dtype=torch.float64)[torch.randint(len(ODD), (int(places.sum()),), generator=SEED)]
        return made.to(dtype)
    return (
        torch.randint(0, 2, (size,), generator=SEED).to(dtype)
        if dtype is torch.bool
        else torch.randint(-50, 50, (size,), generator=SEED).to(dtype)
    )


def pair(one: torch.dtype, other: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors, a third of whose elements are of one number."""
    a, b = drawn(one), drawn(other)
    same = torch.rand(a.shape, generator=SEED) < 0.4
    wide = torch.float64 if one.is_floating_point or other.is_floating_point else torch.int64
    return a, torch.where(same, a.to(wide), b.to(wide)).to(other)


def compared(tmp_path: Path, a: Any, b: Any, **options: Any) -> inert.Difference:
    torch.save({"w": a}, tmp_path / "a.pt")
    torch.save({"w": b}, tmp_path / "b.pt", _use_new_zipfile_serialization=False)
    return inert.diff(tmp_path / "a.pt", tmp_path / "b.pt", ignore_dtype=True, **options)


def judged(found: inert.Difference, a: torch.Tensor, b: torch.Tensor, rtol: float, atol: float, equal_nan: bool) -> None:
    """The figures against torch's. ``a`` and ``b``: float64, int64 or complex128."""
    close = torch.isclose(a, b, rtol, atol, equal_nan)
    differ = ~torch.isclose(a, b, 0, 0, equal_nan)
    change = next(iter((*found.changed, *found.close)), None)
    if not differ.any():
        assert change is None
        return
    assert change is not None
    figures = change.figures
    assert figures is not None
    assert (figures.count, figures.different, figures.within) == (a.numel(), int((~close).sum()), int((differ & close).sum()))
    assert found.same is bool(close.all())
    first = int((~close if not close.all() else differ).to(torch.uint8).argmax())
    assert figures.first == first
    size, scale = ((x.abs()).to(torch.float64) for x in (a - b, b))
    apart, relative = torch.where(differ, size, torch.nan), torch.where(differ, size / scale, torch.nan)
    for most, at, every in ((figures.max_abs, figures.max_abs_at, apart), (figures.max_rel, figures.max_rel_at, relative)):
        told = every[~every.isnan()]
        if not told.numel():
            assert most is None
            continue
        assert most == pytest.approx(float(told.max()), rel=1e-15)
        assert float(every[at]) == pytest.approx(float(told.max()), rel=1e-15)
    if a.is_floating_point():
        only = [int((differ & x.isnan() & ~y.isnan()).sum()) for x, y in ((a, b), (b, a))]
        assert figures.nan == only


@pytest.mark.parametrize("one", FLOATS + INTEGERS, ids=str)
def test_the_figures_of_any_two_types_are_torchs(one: torch.dtype, tmp_path: Path) -> None:
    for number, other in enumerate(FLOATS + INTEGERS):
        a, b = pair(one, other)
        wide = torch.float64 if one.is_floating_point or other.is_floating_point else torch.int64
        for rtol, atol, equal_nan in ((0.0, 0.0, True), (0.0, 0.0, False), *(((1e-2, 0.5, True),) if number % 3 == 0 else ())):
            found = compared(tmp_path, a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
            judged(found, a.to(wide), b.to(wide), rtol, atol, equal_nan)


@pytest.mark.parametrize(("one", "other"), [*itertools.product(COMPLEX, repeat=2)], ids=str)
def test_complex_figures_are_torchs(one: torch.dtype, other: torch.dtype, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # complex32 is experimental
        a = torch.complex(torch.randn(50, generator=SEED), torch.randn(50, generator=SEED)).to(one)
        b = torch.where(torch.rand(50, generator=SEED) < 0.5, a.to(torch.complex128), a.to(torch.complex128) * (1 + 0.1j)).to(other)
        wide = a.to(torch.complex128), b.to(torch.complex128)
        found = compared(tmp_path, a, b)
    judged(found, *wide, 0.0, 0.0, True)


def test_bits_that_change_no_number(tmp_path: Path) -> None:
    for dtype in FLOATS[:6]:
        a = torch.tensor([0.0, -0.0, 1.0, 0.0], dtype=torch.float64).to(dtype)
        b = torch.tensor([-0.0, 0.0, 1.0, 0.0], dtype=torch.float64).to(dtype)
        found = compared(tmp_path, a, b)
        assert torch.equal(a.to(torch.float64), b.to(torch.float64))
        assert found.same
        assert [(one.what, one.names) for one in found.minor] == [("bits", ["w"])]


def test_views_are_compared_as_torch_reads_them(tmp_path: Path) -> None:
    base = torch.arange(60, dtype=torch.float32).reshape(5, 12)
    views = [base.t(), base[1:4, ::2], base[:, 3], base[0].expand(4, 12), base.flatten()[7:], base.reshape(1, 5, 3, 4).permute(0, 3, 1, 2)]
    for number, view in enumerate(views):
        assert compared(tmp_path, view, view.contiguous()).same
        other = view.clone().contiguous()
        other.view(-1)[number] += 1
        (change,) = compared(tmp_path, view, other).changed
        assert change.figures is not None
        assert change.index(change.figures.first) == tuple(int(i) for i in (view != other).nonzero()[0])


def test_sparse_and_quantised_tensors(tmp_path: Path) -> None:
    warnings.simplefilter("ignore")
    dense = torch.zeros(6, 5)
    dense[1, 2], dense[4, 0] = 3, -1
    other = dense.clone()
    other[4, 0], other[5, 4] = 2, 0.25
    for turn in (torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr, torch.Tensor.to_sparse_csc):
        assert compared(tmp_path, turn(dense), turn(dense)).same
        for a, b in ((turn(dense), turn(other)), (turn(dense), other)):
            found = compared(tmp_path, a, b)
            (change,) = found.changed
            if change.figures is not None:
                assert (change.figures.different, change.figures.max_abs) == (int((dense != other).sum()), 3.0)
            assert "values" in change.differs or "kind" in change.differs
    a = torch.quantize_per_tensor(torch.linspace(-2, 2, 40), 0.05, 3, torch.qint8)
    b = torch.quantize_per_tensor(torch.linspace(-2, 2.2, 40), 0.05, 3, torch.qint8)
    (change,) = compared(tmp_path, a, b).changed
    assert change.figures is not None
    assert change.figures.different == int((a.int_repr() != b.int_repr()).sum())
    assert change.figures.max_abs == int((a.int_repr().to(int) - b.int_repr().to(int)).abs().max())
    (change,) = compared(tmp_path, a, b.dequantize()).changed
    assert change.figures is not None
    assert change.figures.different == int((a.dequantize() != b.dequantize()).sum())
    rows = torch.quantize_per_channel(
        torch.randn(3, 8, generator=SEED), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2]), 0, torch.quint8
    )
    found = compared(tmp_path, rows, rows.dequantize())
    assert all(change.figures is None or change.figures.different == 0 for change in (*found.changed, *found.close))
    scaled = torch.quantize_per_tensor(torch.linspace(-2, 2, 40), 0.06, 3, torch.qint8)
    assert "quantization" in compared(tmp_path, a, scaled).changed[0].differs


def test_state_dicts_of_wrapped_modules(tmp_path: Path) -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 2))
    torch.save(model.state_dict(), tmp_path / "a.pt")
    wrapped = {
        "data_parallel": torch.nn.DataParallel(model),
        "averaged": torch.optim.swa_utils.AveragedModel(model),
        "compiled": torch.compile(model, backend="eager"),
    }
    for name, module in wrapped.items():
        torch.save(module.state_dict(), tmp_path / f"{name}.pt")
        found = inert.diff(tmp_path / "a.pt", tmp_path / f"{name}.pt", auto_rename=True)
        assert (found.equal, found.removed, found.changed) == (len(model.state_dict()), [], []), name
        assert {rule.old for rule in found.rules} == {"_orig_mod." if name == "compiled" else "module."}
        assert found.added == (["n_averaged"] if name == "averaged" else [])
    safetensors = pytest.importorskip("safetensors.torch")
    safetensors.save_file(model.state_dict(), tmp_path / "a.safetensors")
    assert inert.diff(tmp_path / "a.pt", tmp_path / "a.safetensors").same
    torch.save({"model": model.state_dict(), "step": 3}, tmp_path / "run.pt")
    assert inert.diff(tmp_path / "run.pt", tmp_path / "a.safetensors", only="weights").same


def test_the_histogram_is_that_of_the_differences(tmp_path: Path) -> None:
    for one, other in ((torch.float32, torch.bfloat16), (torch.float16, torch.float8_e5m2), (torch.int16, torch.int16)):
        a = (torch.randn(5000, generator=SEED) * 20).to(one)
        b = (a.to(torch.float64) + torch.randint(-2, 3, (5000,), generator=SEED)).to(other)
        torch.save({"a": a, "b": b}, tmp_path / "h.pt")
        with inert.open(tmp_path / "h.pt") as ckpt:
            found = difference_histogram(ckpt.tensors["a"], ckpt.tensors["b"], 25)
        apart = (b.to(torch.float64) - a.to(torch.float64)).numpy()
        assert (found.low, found.high, found.equal) == (apart.min(), apart.max(), int((apart == 0).sum()))
        assert found.counts == np.histogram(apart, np.array(found.edges))[0].tolist()
