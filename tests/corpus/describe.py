"""What torch itself reads from a file, as the JSON that the tests hold inert against.

Knows: how to walk an object that torch has loaded, and how to get the contiguous bytes of any tensor.
Refuses to know: inert. Shape of the JSON: ``tensors`` = {path: steps of [key | index | attr | part, value], name, dtype, shape, stride, sha256 of
the contiguous little-endian bytes (the integers of a quantised tensor), storage_group (equal exactly for shared storage), storage_offset,
requires_grad, layout, q_*, components}; ``leaves`` = {path, name, type, value} of everything else.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import json
import math
import pathlib
import sys
import types
import uuid
import warnings
from argparse import Namespace
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import torch

PARTS = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


def content(tensor: torch.Tensor) -> bytes:
    """The contiguous bytes of a dense tensor, conjugated and negated where it is only marked so."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if not tensor.is_contiguous():
        tensor = tensor.contiguous()
    start = tensor.storage_offset() * tensor.itemsize
    return bytes(tensor.untyped_storage())[start : start + tensor.nbytes]


def sha(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


class Walk:
    def __init__(self) -> None:
        self.tensors: list[dict[str, Any]] = []
        self.leaves: list[dict[str, Any]] = []
        self.groups: dict[int, int] = {}
        self.keep: list[Any] = []

    def tensor(self, tensor: torch.Tensor, path: list[Any]) -> None:
        entry: dict[str, Any] = {"path": path, "name": named(path), "dtype": str(tensor.dtype).removeprefix("torch.")}
        self.tensors.append(entry)
        if type(tensor) not in (torch.Tensor,):
            entry["class"] = f"{type(tensor).__module__}.{type(tensor).__qualname__}"
        if tensor.is_nested:
            entry["layout"] = "nested"
            entry["components"] = [{"shape": list(part.shape), "sha256": sha(content(part))} for part in tensor.unbind()]
            return
        entry |= {"shape": list(tensor.shape), "requires_grad": tensor.requires_grad}
        if tensor.is_meta:
            entry |= {"meta": True, "stride": list(tensor.stride())}
            return
        if tensor.layout in PARTS:
            entry["layout"] = str(tensor.layout).removeprefix("torch.")
            dense = tensor.detach().to_dense()
            entry["sha256_dense"] = sha(content(dense))
            for part in PARTS[tensor.layout]:
                self.tensor(getattr(tensor, part)().detach(), [*path, ["part", part.removeprefix("_")]])
            return
        entry["stride"] = list(tensor.stride())
        if tensor.is_quantized:
            self.quantized(tensor, entry)
            return
        storage = tensor.untyped_storage()
        self.keep.append(storage)
        group = self.groups.setdefault(storage._cdata, len(self.groups))
        entry |= {"storage_group": group, "storage_offset": tensor.storage_offset(), "sha256": sha(content(tensor))}

    def quantized(self, tensor: torch.Tensor, entry: dict[str, Any]) -> None:
        entry |= {"quantized": True, "qscheme": str(tensor.qscheme()), "sha256_of": "int_repr", "sha256": sha(content(tensor.int_repr()))}
        if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
            entry |= {"q_scale": tensor.q_scale(), "q_zero_point": tensor.q_zero_point()}
        else:
            entry |= {"q_scales": tensor.q_per_channel_scales().tolist(), "q_zero_points": tensor.q_per_channel_zero_points().tolist()}
            entry["q_axis"] = tensor.q_per_channel_axis()
        entry["dequantized"] = sha(content(tensor.dequantize()))

    def leaf(self, value: Any, path: list[Any], shown: Any, kind: str = "") -> None:
        kind = kind or (
            type(value).__name__ if type(value).__module__ == "builtins" else f"{type(value).__module__}.{type(value).__qualname__}"
        )
        self.leaves.append({"path": path, "name": named(path), "type": kind, "value": shown})

    def walk(self, value: Any, path: list[Any], active: tuple[int, ...] = ()) -> None:
        kind = type(value)
        if isinstance(value, torch.Tensor):
            self.tensor(value, path)
        elif id(value) in active:
            self.leaf(value, path, None, "CYCLE")
        elif isinstance(value, enum.Enum):
            self.leaf(value, path, {"enum": value.name, "repr": repr(value.value)})
        elif isinstance(value, np.ndarray):
            self.array(value, path)
        elif isinstance(value, np.generic):
            self.leaf(value, path, scalar(value))
        elif isinstance(value, (dict, list, tuple)) and kind is not torch.Size:
            self.container(value, path, (*active, id(value)))
        elif isinstance(value, (Namespace, torch.nn.Module)) or not plain(value):
            self.leaf(None, [*path, ["class", f"{kind.__module__}.{kind.__qualname__}"]], None, "object")
            fields = [(name, getattr(value, name)) for name in getattr(kind, "__slots__", ()) if hasattr(value, name)]
            for name, item in [*fields, *getattr(value, "__dict__", {}).items()]:
                self.walk(item, [*path, ["attr", name]], (*active, id(value)))
        else:
            self.leaf(value, path, simple(value))

    def container(self, value: Any, path: list[Any], active: tuple[int, ...]) -> None:
        keyed = isinstance(value, dict)
        items = value.items() if keyed else enumerate(value)
        if isinstance(value, OrderedDict) and getattr(value, "_metadata", None) is not None:
            self.leaf(None, [*path, ["attr", "_metadata"]], {key: dict(item) for key, item in value._metadata.items()}, "_metadata")
        if not len(value):
            module = "builtins" if type(value).__module__ == "builtins" else type(value).__module__
            self.leaf(value, path, {} if keyed else [], f"{module}.{type(value).__qualname__}")
        for key, item in items:
            step = key if type(key) in (str, int) else {"repr": repr(key)}
            self.walk(item, [*path, ["key" if keyed else "index", step]], active)

    def array(self, value: np.ndarray[Any, Any], path: list[Any]) -> None:
        self.leaf(value, path, None, "numpy.ndarray")
        entry = self.leaves[-1]
        entry |= {"dtype": value.dtype.name, "dtype_str": value.dtype.str, "shape": list(value.shape)}
        if value.dtype.hasobject:
            entry["value"] = [repr(item) for item in value.ravel().tolist()]
        else:
            little = value.astype(value.dtype.newbyteorder("<")) if value.dtype.kind in "biufc" else value
            entry["sha256"] = sha(np.ascontiguousarray(little).tobytes())


def plain(value: Any) -> bool:
    kinds = (
        torch.dtype,
        torch.device,
        torch.layout,
        pathlib.PurePath,
        datetime.date,
        datetime.time,
        datetime.timedelta,
        datetime.tzinfo,
        decimal.Decimal,
    )
    kinds += (fractions.Fraction, uuid.UUID, type, types.FunctionType, types.BuiltinFunctionType, torch.UntypedStorage, torch.TypedStorage)
    kinds += (torch.qscheme, torch.Size, np.dtype, functools.partial)
    return isinstance(value, kinds) or type(value).__module__ in ("builtins", "collections")


def simple(value: Any) -> Any:
    """A leaf's value in JSON."""
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return f"{value.__module__}.{value.__qualname__}"
    if value is None or isinstance(value, (bool, str)):
        return value
    if type(value) is int:
        return value if abs(value) < 1 << 53 else {"int": str(value)}
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is complex:
        return [value.real, value.imag]
    if isinstance(value, (bytes, bytearray)):
        return {"hex": value[:64].hex(), "len": len(value), "sha256": sha(bytes(value))}
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, torch.Size):
        return list(value)
    if isinstance(value, torch.TypedStorage):
        value = value._untyped_storage
    if isinstance(value, torch.UntypedStorage):
        return {"nbytes": value.nbytes(), "sha256": sha(bytes(value))}
    if isinstance(value, (torch.dtype, torch.device, pathlib.PurePath, datetime.date, datetime.timedelta)):
        return str(value)
    return repr(value)


def scalar(value: np.generic) -> Any:
    if isinstance(value, np.bytes_):
        return {"hex": bytes(value).hex()}
    if isinstance(value, np.complexfloating):
        return [float(value.real), float(value.imag)]
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return str(value)
    item = value.item()
    return item if isinstance(item, (bool, int, float, str)) else repr(item)


def named(path: list[Any]) -> str:
    return ".".join(str(value) for _, value in path)


def described(path: Path, value: Any = None, **more: Any) -> dict[str, Any]:
    """What torch.load gives for a file, all its objects allowed (it is our own), and what weights_only=True says. ``value``: what another
    program gives for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if value is None:
            value = torch.load(path, weights_only=False, map_location="cpu" if more.pop("to_cpu", False) else None)
        try:
            torch.load(path, weights_only=True)
            allowed = "ok"
        except Exception as error:
            allowed = type(error).__name__
        walk = Walk()
        walk.walk(value, [])
    root = f"{type(value).__module__}.{type(value).__qualname__}"
    program = f"torch {torch.__version__} / python {sys.version.split()[0]}"
    return {"loader": program, "weights_only": allowed, "root_type": root, **more, "tensors": walk.tensors, "leaves": walk.leaves}


def write(path: Path, value: Any = None, **more: Any) -> None:
    """``path``.expected.json beside the file."""
    text = json.dumps(described(path, value, **more), ensure_ascii=True, separators=(",", ":"))
    text = text.replace('{"path":', '\n{"path":').replace('"leaves":', '\n"leaves":')
    path.with_name(f"{path.name}.expected.json").write_text(text + "\n", encoding="utf-8")


def renamed(value: Any, old: str, new: str) -> Any:
    """The value with a folder's name replaced in its texts."""
    if isinstance(value, dict):
        return {renamed(key, old, new): renamed(item, old, new) for key, item in value.items()}
    return value.replace(old, new) if isinstance(value, str) else value
