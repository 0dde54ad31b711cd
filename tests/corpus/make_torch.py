"""Files that torch.save writes, and what torch reads back from them: python make_torch.py [FOLDER] (torch 2.13.0, numpy).

One file for each kind of thing that a checkpoint holds. Values are fixed, so that a second run writes the same bytes (embedded.pt and
legacy/ apart: the old layout names storages by their addresses).
"""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import fractions
import functools
import io
import math
import pathlib
import sys
import types
import uuid
import warnings
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from describe import write
from torch import nn

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "torch"
warnings.simplefilter("ignore")
torch.manual_seed(13)
gone = sys.modules["gone"] = types.ModuleType("gone")  # a module that exists here and nowhere else


def absent(kind: Any) -> Any:
    """Put a class into the module that readers will not have."""
    kind.__module__ = "gone"
    kind.__qualname__ = kind.__name__
    setattr(gone, kind.__name__, kind)
    return kind


@absent
class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, width, 3, bias=False)
        self.bn = nn.BatchNorm2d(width)
        self.register_buffer("scratch", torch.arange(3.0), persistent=False)
        self.register_buffer("nothing", None)
        self.register_parameter("missing", None)
        self.plain = torch.full((2,), 7.0)
        self.names = ["a", "b"]


@absent
class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model = nn.Sequential(Block(4), Block(3))
        self.head = nn.Linear(3, 2)
        self.head.weight = self.tied = nn.Parameter(torch.arange(6.0).reshape(2, 3))
        self.yaml = {"nc": 2, "backbone": [[-1, 1, "Conv", [64, 6]]]}


@absent
class Colour(enum.Enum):
    RED = 1
    BLUE = "blue"


@absent
class Level(enum.IntEnum):
    HIGH = 3


@absent
class Plain:
    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)


@absent
class Slotted:
    __slots__ = ("x", "y")


@absent
class Pair(collections.namedtuple("Pair", ["left", "right"])):
    __slots__ = ()


@absent
class Sub(torch.Tensor):
    pass


def base(count: int = 24) -> torch.Tensor:
    return torch.arange(float(count))


DTYPES = {
    "float16": [0.5, -2, math.inf, math.nan], "float32": [0.1, -0.0, math.nan, 1e-45], "float64": [0.1, -math.inf, 5e-324, 3],
    "bfloat16": [1.5, -3.25, math.inf, 0], "float8_e4m3fn": [1, -2, 448, 0.25], "float8_e5m2": [1, -2, 57344, math.inf],
    "float8_e4m3fnuz": [1, -2, 240, 0.5], "float8_e5m2fnuz": [1, -2, 57344, 0.5], "complex64": [1 + 2j, -3j, 0, 4],
    "complex128": [1 + 2j, -3j, 0, 4], "int8": [-128, 127, 0, 1], "int16": [-(2**15), 2**15 - 1, 0, 1], "int32": [-(2**31), 2**31 - 1, 0, 1],
    "int64": [-(2**63), 2**63 - 1, 0, 1], "uint8": [0, 255, 1, 2], "uint16": [0, 65535, 1, 2], "uint32": [0, 2**32 - 1, 1, 2],
    "uint64": [0, 2**63 - 1, 1, 2], "bool": [True, False, True, True],
}  # fmt: skip


def dtypes() -> dict[str, torch.Tensor]:
    found = {name: torch.tensor(values, dtype=getattr(torch, name)).reshape(2, 2) for name, values in DTYPES.items()}
    raw = torch.arange(1, 17, dtype=torch.uint8)
    for name, width in (
        ("float8_e8m0fnu", 1),
        ("float4_e2m1fn_x2", 1),
        ("bits8", 1),
        ("bits16", 2),
        ("bits1x8", 1),
        ("bits2x4", 1),
        ("bits4x2", 1),
        ("complex32", 4),
    ):
        found[name] = raw[: 4 * width].clone().view(getattr(torch, name)).reshape(2, 2)
    return found


def views() -> dict[str, Any]:
    whole = base()
    grid = whole.reshape(4, 6)
    image = torch.arange(2.0 * 3 * 4 * 5).reshape(2, 3, 4, 5)
    return {
        "whole": whole, "slice": whole[3:9], "step": whole[1::5], "grid": grid, "transposed": grid.t(), "column": grid[:, 2], "row": grid[1],
        "window": grid[1:3, 2:5], "diagonal": torch.diagonal(grid), "expanded": whole[:3].reshape(3, 1).expand(3, 4), "one": whole[7],
        "scalar": torch.tensor(3.5), "empty": torch.empty(0), "empty 2d": torch.empty(0, 5), "empty 3d": torch.empty(2, 0, 3), "empty slice": whole[24:],
        "one element": torch.ones(1, 1, 1), "channels_last": image.contiguous(memory_format=torch.channels_last), "permuted": image.permute(3, 1, 0, 2),
        "flipped": torch.flip(whole, [0]), "unfolded": whole.unfold(0, 4, 2), "as_strided": torch.as_strided(whole, (2, 2), (2, 2), 1),
        "deep": torch.arange(32.0).reshape(2, 2, 2, 2, 2),
    }  # fmt: skip


def sharing() -> dict[str, Any]:
    weight = nn.Parameter(torch.arange(12.0).reshape(3, 4))
    inner = {"weight": weight, "again": weight}
    return {
        "a": weight,
        "b": weight,
        "view": weight.detach()[1:],
        "nested": inner,
        "same dict": inner,
        "list": [weight, weight.detach().t(), torch.zeros(2)],
    }


def parameters() -> dict[str, Any]:
    marked = nn.Parameter(torch.ones(2))
    marked.note = "kept"  # type: ignore[attr-defined]
    return {
        "plain": nn.Parameter(torch.ones(2, 2)), "frozen": nn.Parameter(torch.ones(3), requires_grad=False), "buffer": nn.Buffer(torch.zeros(2)),
        "leaf": torch.ones(2, requires_grad=True), "marked": marked, "half": nn.Parameter(torch.ones(2, dtype=torch.float16)),
        "view": nn.Parameter(base()[4:8]),
    }  # fmt: skip


def sparse() -> dict[str, torch.Tensor]:
    dense = torch.tensor([[0, 1.0, 0, 2], [0, 0, 0, 0], [3, 0, 0, 4], [0, 0, 5, 0]])
    doubled = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 2]], [1.0, 2, 3], (3, 4), check_invariants=True)
    hybrid = torch.sparse_coo_tensor([[0, 2]], [[1.0, 2], [3, 4]], (3, 2), check_invariants=True)
    return {
        "coo": dense.to_sparse(), "uncoalesced": doubled, "hybrid": hybrid, "csr": dense.to_sparse_csr(), "csc": dense.to_sparse_csc(),
        "bsr": dense.to_sparse_bsr((2, 2)), "bsc": dense.to_sparse_bsc((2, 2)), "empty": torch.zeros(3, 0).to_sparse(), "none": torch.zeros(2, 2).to_sparse(),
        "batch csr": torch.stack([dense, dense.flip(0) * 0 + dense]).to_sparse_csr(), "half": dense.half().to_sparse(), "bool": (dense > 0).to_sparse(),
        "scalar": torch.sparse_coo_tensor(torch.zeros(0, 1, dtype=torch.int64), [5.0], ()),
    }  # fmt: skip


def quantized() -> dict[str, torch.Tensor]:
    values = torch.arange(12.0).reshape(3, 4) / 4
    channels = (torch.tensor([0.1, 0.2, 0.3], dtype=torch.float64), torch.tensor([0, 1, 2]))
    found = {
        "qint8": torch.quantize_per_tensor(values, 0.05, 3, torch.qint8), "quint8": torch.quantize_per_tensor(values, 0.05, 3, torch.quint8),
        "qint32": torch.quantize_per_tensor(values, 0.001, 0, torch.qint32), "channels": torch.quantize_per_channel(values, *channels, 0, torch.qint8),
        "float channels": torch.quantize_per_channel(values, channels[0].float(), channels[1].float(), 0, torch.quint8),
        "quint4x2": torch.quantize_per_channel(values, channels[0].float(), channels[1].float(), 0, torch.quint4x2),
        "odd quint4x2": torch.quantize_per_channel(torch.arange(15.0).reshape(3, 5) / 8, channels[0].float(), channels[1].float(), 0, torch.quint4x2),
    }  # fmt: skip
    found["transposed"] = found["qint8"].t()
    found["scalar"] = torch.quantize_per_tensor(torch.tensor(1.5), 0.5, 0, torch.qint8)
    return found


def nested() -> dict[str, torch.Tensor]:
    parts = [torch.arange(6.0).reshape(2, 3), torch.arange(12.0).reshape(4, 3)]
    return {
        "strided": torch.nested.nested_tensor(parts), "jagged": torch.nested.nested_tensor(parts, layout=torch.jagged),
        "two ragged": torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 1)]),
    }  # fmt: skip


def meta() -> dict[str, torch.Tensor]:
    return {
        "a": torch.empty(3, 5, device="meta"),
        "half": torch.empty(7, device="meta", dtype=torch.float16),
        "huge": torch.empty(1 << 40, 1 << 10, device="meta"),
    }


def lazy_bits() -> dict[str, torch.Tensor]:
    c = torch.tensor([1 + 2j, 3 - 4j, 5j, -6], dtype=torch.complex64)
    return {
        "conj": c.conj(), "imag of conj": c.clone().conj().imag, "neg": torch._neg_view(base(4)), "real": torch.view_as_real(c.clone()), "conj slice": c.conj()[1:3],
        "double": c.to(torch.complex128).conj(), "neg of conj": torch._neg_view(c.conj()), "plain": c,
    }  # fmt: skip


def python_objects() -> dict[Any, Any]:
    return {
        "none": None, "true": True, "int": -7, "big": 10**40, "negative": -(2**65), "float": 0.1, "inf": math.inf, "nan": math.nan, "-0": -0.0, "str": "zu\xdf \u2603 \U0001f600",
        "lone": "a\udc80", "bytes": b"\x00\xff\x80abc", "no bytes": b"", "bytearray": bytearray(b"\x01\x02"), "no bytearray": bytearray(), "complex": 1 + 2j,
        "list": [1, [2, [3]], ()], "tuple": (1, (2, "x"), []), "set": {1, 2, 3}, "no set": set(), "frozenset": frozenset({1, "a"}), "slice": slice(1, 5, 2), "range": range(0, 10, 3),
        "date": datetime.date(1999, 12, 31), "datetime": datetime.datetime(2020, 1, 2, 3, 4, 5, 6), "time": datetime.time(1, 2, 3), "timedelta": datetime.timedelta(days=3, seconds=4),
        "utc": datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc), "zone": datetime.timezone(datetime.timedelta(hours=2), "CEST"),
        "decimal": decimal.Decimal("1.25"), "decimal inf": decimal.Decimal("-Infinity"), "fraction": fractions.Fraction(1, 3), "uuid": uuid.UUID(int=5),
        "path": pathlib.PurePosixPath("a/b.txt"), "win": pathlib.PureWindowsPath("C:\\x"), "real path": pathlib.PosixPath("/tmp/x"), "root path": pathlib.PosixPath("/"), "no path": pathlib.PurePosixPath(),
        "ordered": collections.OrderedDict(b=1, a=2), "default": collections.defaultdict(list, {"x": [1]}), "counter": collections.Counter("aab"), "deque": collections.deque([1, 2], 5),
        "endless deque": collections.deque([3, [4]]), "namespace": Namespace(lr=0.1, out=pathlib.PurePosixPath("o"), sub=Namespace(x=[1])), "simple": types.SimpleNamespace(a=1),
        "type": int, "function": len, "partial": functools.partial(int, base=2), 5: "five", 1.5: "float key", None: "none key", (1, "x"): "tuple key", b"k": "bytes key", True: "bool key",
        "size": torch.Size([2, 3]), "no size": torch.Size([]), "dtype": torch.float16, "device": torch.device("cpu"), "device 1": torch.device("cuda", 1), "layout": torch.strided,
        "sparse layout": torch.sparse_coo, "qscheme": torch.per_tensor_affine, "deep": functools.reduce(lambda inner, _: {"d": inner}, range(30), {}),
    }  # fmt: skip


def custom_objects() -> dict[str, Any]:
    slotted = Slotted()
    slotted.x, slotted.y = 1, torch.ones(2)  # type: ignore[attr-defined]
    ring = Plain(name="ring")
    ring.me = ring  # type: ignore[attr-defined]
    return {
        "plain": Plain(a=1, w=torch.arange(3.0)), "empty": Plain(), "slotted": slotted, "colour": Colour.RED, "blue": Colour.BLUE, "level": Level.HIGH,
        "ring": ring, "list": [Plain(x=torch.zeros(1))], "shared": [ring, ring],
    }  # fmt: skip


def subclasses() -> dict[str, Any]:
    marked = torch.ones(2)
    marked.note = {"a": 1, "t": torch.zeros(3)}  # type: ignore[attr-defined]
    return {"marked": marked, "sub": torch.arange(4.0).as_subclass(Sub)}


def numpy_objects() -> dict[str, Any]:
    found: dict[str, Any] = {
        "grid": np.arange(6, dtype=np.float32).reshape(2, 3), "fortran": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)), "zero-d": np.array(5.0), "empty": np.zeros((0, 3)),
        "bool": np.array([True, False]), "complex": np.array([1 + 2j], np.complex64), "half": np.array([0.5, 2], np.float16), "uint": np.array([1, 2**64 - 1], np.uint64), "big": np.arange(3, dtype=">i4"),
        "bytes": np.array([b"ab", b"c"]), "text": np.array(["ab", "\u2603z"]), "dates": np.array(["2020-01-02", "NaT"], "M8[D]"), "spans": np.array([1, 2], "m8[s]"),
        "objects": np.array([1, "x", None], object), "sliced": np.arange(10)[2:8:2], "tensor": torch.ones(2),
    }  # fmt: skip
    scalars = [
        np.bool_(True),
        np.int8(-1),
        np.int16(-2),
        np.int32(-3),
        np.int64(-4),
        np.uint8(1),
        np.uint16(2),
        np.uint32(3),
        np.uint64(4),
        np.float16(0.5),
        np.float32(0.25),
        np.float64(0.1),
    ]
    scalars += [
        np.complex64(1 + 2j),
        np.complex128(3 - 4j),
        np.bytes_(b"cde"),
        np.str_("\u2603z"),
        np.datetime64("1970-01-02T00:00:00"),
        np.timedelta64(1, "D"),
    ]
    found |= {f"scalar {value.dtype.str}": value for value in scalars}
    return found | {"dtype": np.dtype("float32"), "big dtype": np.dtype(">i2"), "date dtype": np.dtype("M8[s]")}


def state_dict() -> Any:
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Sequential(nn.Linear(4, 2, bias=False))).state_dict()


def training() -> dict[str, Any]:
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimiser = torch.optim.AdamW([{"params": model[0].parameters(), "lr": 0.1}, {"params": model[2].parameters()}], lr=1e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, 2)
    for _ in range(3):
        optimiser.zero_grad()
        model(torch.arange(6.0).reshape(2, 3)).sum().backward()
        optimiser.step()
        schedule.step()
    return {
        "epoch": 3,
        "model": model.state_dict(),
        "optimizer": optimiser.state_dict(),
        "scheduler": schedule.state_dict(),
        "rng": torch.arange(16, dtype=torch.uint8),
    }


def colliding() -> dict[Any, Any]:
    return {
        "a.b": torch.zeros(1),
        "a": {"b": torch.ones(1)},
        "0": torch.zeros(2),
        0: torch.ones(2),
        "": torch.zeros(3),
        "x.": {"": torch.ones(3)},
        "x": {".": torch.zeros(4)},
    }


def small() -> dict[str, torch.Tensor]:
    return {
        "w_f32": torch.arange(256.0).reshape(16, 16) / 7, "b_f16": base(8).half(), "e_bf16": base(6).reshape(2, 3).bfloat16(),
        "i_i32": torch.arange(6, dtype=torch.int32).reshape(2, 3), "s_f32": torch.tensor(2.5),
    }  # fmt: skip


def storages() -> dict[str, Any]:
    typed = torch.arange(3.0)
    return {"untyped": torch.arange(4, dtype=torch.uint8).untyped_storage(), "typed": typed.storage(), "its tensor": typed[1:]}


def embedded() -> dict[str, Any]:
    """A tensor that plain pickle has written: a whole file of the old layout inside bytes."""
    import pickle

    class Loads:
        def __init__(self, raw: bytes) -> None:
            self.raw = raw

        def __reduce__(self) -> Any:
            return torch.storage._load_from_bytes, (self.raw,)

    def legacy(value: Any) -> bytes:
        out = io.BytesIO()
        torch.save(value, out, _use_new_zipfile_serialization=False)
        return out.getvalue()

    assert pickle
    return {"tensor": Loads(legacy(torch.arange(3.0))), "dict": Loads(legacy({"w": torch.ones(2), "again": [torch.zeros(1)]}))}


FILES: dict[str, tuple[Callable[[], Any], str, dict[str, Any]]] = {
    "dtypes": (dtypes, "every element type that torch can save", {}),
    "views": (views, "slices, strides, offsets, 0-d, zero-size, expanded", {}),
    "sharing": (sharing, "tied tensors and views of one storage, by several paths", {}),
    "parameters": (parameters, "Parameter, Buffer, a parameter with attributes", {}),
    "sparse": (sparse, "COO, CSR, CSC, BSR, BSC, hybrid, batched, empty", {}),
    "quantized": (quantized, "per tensor, per channel, packed quint4x2", {}),
    "nested": (nested, "strided and jagged nested tensors", {}),
    "meta": (meta, "tensors without data", {}),
    "conj_neg": (lazy_bits, "conjugated and negated views, which are stored unchanged", {}),
    "python_objects": (python_objects, "plain Python values of every kind", {}),
    "custom_objects": (custom_objects, "objects of a module that readers do not have", {}),
    "subclasses": (subclasses, "tensors with attributes, a tensor subclass", {}),
    "numpy_objects": (numpy_objects, "arrays, scalars and dtypes of NumPy", {}),
    "state_dict": (state_dict, "OrderedDict with _metadata", {}),
    "state_dict.p3": (state_dict, "protocol 3", {"pickle_protocol": 3}),
    "state_dict.p4": (state_dict, "protocol 4", {"pickle_protocol": 4}),
    "state_dict.p5": (state_dict, "protocol 5", {"pickle_protocol": 5}),
    "python_objects.p4": (python_objects, "plain Python values, protocol 4", {"pickle_protocol": 4}),
    "python_objects.p5": (python_objects, "plain Python values, protocol 5", {"pickle_protocol": 5}),
    "numpy_objects.p5": (numpy_objects, "NumPy, protocol 5: _frombuffer", {"pickle_protocol": 5}),
    "training": (training, "model, optimiser and scheduler states under keys", {}),
    "module": (Net, "a whole module whose class is gone", {}),
    "colliding": (colliding, "names that collide when joined with dots", {}),
    "storages": (storages, "storages as values", {}),
    "embedded": (embedded, "whole old-layout files inside bytes", {}),
    "small": (small, "five tensors, every record at its usual place", {}),
    "bare_tensor": (lambda: base(6).reshape(2, 3).t(), "nothing but a tensor", {}),
    "bare_parameter": (lambda: nn.Parameter(torch.ones(2)), "nothing but a parameter", {}),
    "bare_list": (lambda: [torch.ones(1), 2, "three"], "a list", {}),
    "bare_int": (lambda: 42, "a number", {}),
    "bare_none": (lambda: None, "nothing", {}),
    "empty_dict": (dict, "an empty dict", {}),
    "many": (lambda: {f"block.{i}.weight": torch.full((2,), float(i)) for i in range(60)}, "more than 256 memo entries", {}),
    "name with spaces \u00e9t\u00e9": (state_dict, "a root folder named otherwise", {}),
}  # fmt: skip


def save(name: str, value: Any, why: str, notes: tuple[str, ...] = (), **options: Any) -> None:
    path = FOLDER / f"{name}.pt"
    torch.save(value, path, **options)
    write(path, writer=f"torch.save torch {torch.__version__}", why=why, notes=notes)


def configured(name: str, why: str, notes: tuple[str, ...] = (), **settings: Any) -> None:
    from torch.utils.serialization import config

    with config.patch({f"save.{key}": value for key, value in settings.items()}):
        save(name, {"a": base(5), "b": torch.ones(2, 2)}, why, notes)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, (make, why, options) in FILES.items():
        torch.manual_seed(13)
        save(name, make(), why, **options)
    torch.manual_seed(13)
    configured("no_crc", "no checksums", ("zip-crc-none",), compute_crc32=False)
    configured("align_1", "no padding", storage_alignment=1)
    configured("align_4096", "pages", storage_alignment=4096)
    save("no_byteorder", state_dict(), "the C++ writer's own byteorder record, last", _disable_byteorder_record=True)
    with (FOLDER / "from_buffer.pt").open("wb") as out:
        torch.save(state_dict(), out)
    write(FOLDER / "from_buffer.pt", writer=f"torch.save torch {torch.__version__}", why="root folder 'archive'")

    other = FOLDER.parent / "other"
    other.mkdir(exist_ok=True)
    legacy = FOLDER.parent / "legacy"
    legacy.mkdir(exist_ok=True)
    for name in ("state_dict", "views", "sharing", "quantized", "module", "python_objects", "bare_tensor", "empty_dict"):
        make, why, _ = FILES[name]
        torch.manual_seed(13)
        path = legacy / f"{name}.pt"
        torch.save(make(), path, _use_new_zipfile_serialization=False)
        facts = {"format": "torch-legacy"} | ({"notes": ["module-source"]} if name == "module" else {})
        write(path, writer=f"torch.save torch {torch.__version__}", why=f"the layout before 1.6: {why}", **facts)
    print(f"{len(list(FOLDER.glob('*.pt')))} files in {FOLDER}")


if __name__ == "__main__":
    main()
