"""Arrays in memory as Tensors: what ``inert.save`` is given.

Knows: NumPy arrays (ml_dtypes' too) and torch's own tensors, where the caller has them; that arrays which overlap in memory share storage.
Refuses to know: how anything is written. Nothing is copied unless an array's memory is no plain run of native items.
"""

from __future__ import annotations

import ctypes
import sys

from .dtypes import DTYPES, FLOAT4_BYTE
from .errors import UnsupportedError
from .layout import Layout, Storage, contiguous, reach
from .source import BytesSource
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .dtypes import DType

PARAMETER = "torch.nn.parameter.Parameter"


def is_array(value: Any) -> bool:
    """Whether a value is a NumPy array or a torch tensor. Imports neither: where their module is not loaded there can be none."""
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    return (numpy is not None and isinstance(value, numpy.ndarray)) or (torch is not None and isinstance(value, torch.Tensor))


def tensors_of(arrays: Iterable[Any]) -> dict[int, Tensor]:
    """A Tensor for each array, by its id; arrays over the same memory get one Storage. UnsupportedError for element types that no
    checkpoint holds."""
    made: dict[int, Tensor] = {}
    plain, known = [], set()
    for array in arrays:
        if id(array) in known:
            continue
        known.add(id(array))
        if is_strings(array):
            made[id(array)] = strings_of(array)
        elif type(array).__module__.partition(".")[0] == "numpy" or not hasattr(array, "untyped_storage"):
            plain.append(array)
        else:
            made[id(array)] = _Torch.tensor(array)
    made.update(_numpy(plain))
    return made


def memory(start: int, length: int, owner: Any, name: str) -> BytesSource:
    """``length`` bytes of this process's memory, which ``owner`` keeps alive."""
    if not length:
        return BytesSource(b"", name)
    view = (ctypes.c_ubyte * length).from_address(start)
    view.owner = owner  # type: ignore[attr-defined]  # lives as long as the view does
    return BytesSource(memoryview(view).cast("B"), name)


def storage_of(start: int, length: int, dtype: DType, device: str, owner: Any, name: str) -> Storage:
    source = memory(start, length, owner, name)
    storage = Storage(name, length, dtype, device, source.span)
    return storage


# -- strings ------------------------------------------------------------------------------------------------------------------


def is_strings(array: Any) -> bool:
    """Whether it is an array of bytes objects: what a tensor of strings is loaded as. Of no elements, any array of objects is."""
    return getattr(array.dtype, "hasobject", False) and array.dtype.name == "object" and all(type(one) is bytes for one in array.flat)


def strings_of(array: Any) -> Tensor:
    held: list[bytes] = array.reshape(-1).tolist()
    storage = Storage("strings", sum(map(len, held)), DTYPES["string"], "cpu", None)
    layout = Layout(DTYPES["string"], array.shape, contiguous(array.shape), 0, storage)
    layout.kind, layout.strings = "strings", lambda: held
    return Tensor(layout)


# -- NumPy --------------------------------------------------------------------------------------------------------------------


def dtype_of(array: Any) -> DType:
    """The element type of an array; UnsupportedError for texts, dates, records and objects."""
    found = FLOAT4_BYTE if array.dtype.name == FLOAT4_BYTE else DTYPES.get(array.dtype.name)
    if found is None or found.packed != 1 or found.kind in "so":
        raise UnsupportedError(f"an array of {array.dtype} is no tensor", hint="convert it to numbers, or to a list")
    if hasattr(array, "mask"):
        raise UnsupportedError("a masked array, whose mask no tensor can keep", hint="fill it, or give its data and its mask")
    return found


def _plain(array: Any) -> Any:
    """The array itself where its memory is a run of native items seen through whole, non-negative strides; else a copy."""
    import numpy as np

    item = array.dtype.itemsize
    native = array.dtype.isnative and all(stride >= 0 and stride % item == 0 for stride in array.strides)
    if type(array) is not np.ndarray:
        array = np.asarray(array)  # a matrix, a mapped array …: its data
    return array if native else np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)).reshape(array.shape)


def _bounds(array: Any) -> tuple[int, int]:
    """First byte and the byte behind the last one."""
    start = array.__array_interface__["data"][0]
    if not array.size:
        return start, start
    last = sum((size - 1) * stride for size, stride in zip(array.shape, array.strides, strict=True))
    return start, start + last + array.dtype.itemsize


def _numpy(arrays: list[Any]) -> dict[int, Tensor]:
    items = [(array, _plain(array), dtype_of(array)) for array in arrays]
    runs = sorted(((*_bounds(plain), number) for number, (_, plain, _) in enumerate(items)), key=lambda run: run[:2])
    made: dict[int, Tensor] = {}
    group: list[tuple[int, int, int]] = []
    reached = 0  # the byte behind all that the group covers
    for run in runs:
        if run[0] == run[1]:  # an empty array overlaps nothing, and stands between no others
            made.update(_grouped([run], items))
            continue
        if group and run[0] >= reached:
            made.update(_grouped(group, items))
            group = []
        group.append(run)
        reached = max(reached, run[1])
    made.update(_grouped(group, items))
    return made


def _grouped(group: list[tuple[int, int, int]], items: list[Any]) -> dict[int, Tensor]:
    """Tensors over one storage: the memory that a group of overlapping arrays covers."""
    if not group:
        return {}
    start, end = group[0][0], max(run[1] for run in group)
    owners = [items[number][1] for _, _, number in group]
    storage = storage_of(start, end - start, items[group[0][2]][2], "cpu", owners, f"array {group[0][2]}")
    made = {}
    for at, _, number in group:
        array, plain, dtype = items[number]
        item = dtype.itemsize
        if (at - start) % item:
            raise UnsupportedError("arrays overlap in memory at places that are no multiples of their element sizes", hint="copy one")
        strides = tuple(stride // item for stride in plain.strides) if plain.size else contiguous(plain.shape)
        made[id(array)] = Tensor(Layout(dtype, plain.shape, strides, (at - start) // item, storage))
    return made


# -- torch --------------------------------------------------------------------------------------------------------------------


class _Torch:
    """torch's own tensors, whose module the caller has imported. Storages are known by the address of torch's own object."""

    @staticmethod
    def tensor(value: Any) -> Tensor:
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        try:
            return _Torch.made(value, kind)
        except (RuntimeError, ValueError, TypeError) as error:  # an uninitialised parameter, a tensor inside of vmap …: torch's own refusal
            text = str(error).partition("\n")[0][:200]
            raise UnsupportedError(f"a {kind} whose memory torch does not give: {text}", hint="give a plain tensor") from None

    @staticmethod
    def made(value: Any, kind: str) -> Tensor:
        name = str(value.dtype).removeprefix("torch.")
        dtype = DTYPES.get(name)
        if dtype is None or value.layout != sys.modules["torch"].strided or value.is_quantized or value.is_nested:
            raise UnsupportedError(f"a torch tensor of {value.layout} {value.dtype}", hint="give a dense one")
        device = str(value.device)
        if device == "meta":
            layout = Layout(dtype, tuple(value.shape), tuple(value.stride()), 0, None, bool(value.requires_grad), device)
            layout.kind = "meta"
            return _Torch.said(value, layout)
        here = value.detach() if value.device.type == "cpu" else value.detach().cpu()
        held = here.untyped_storage()
        last = here.storage_offset() + reach(tuple(here.shape), tuple(here.stride()))[0]
        size = (last + 1) * dtype.itemsize if here.numel() else 0
        if held.device.type == "meta" or size > held.nbytes() or (size and not held.data_ptr()):  # fake, freed, or made of other tensors
            raise UnsupportedError(f"a {kind} without data of its own", hint="give a plain tensor")
        storage = storage_of(held.data_ptr(), held.nbytes(), dtype, device, held, f"storage {held._cdata:#x}")
        layout = Layout(dtype, tuple(here.shape), tuple(here.stride()), here.storage_offset(), storage, bool(value.requires_grad), device)
        layout.conj, layout.neg = bool(here.is_conj()), bool(here.is_neg())
        return _Torch.said(value, layout)

    @staticmethod
    def said(value: Any, layout: Layout) -> Tensor:
        """With the class and the attributes that torch.save keeps, too."""
        torch, kind = sys.modules["torch"], type(value)
        if issubclass(kind, torch.nn.Parameter):
            layout.type = PARAMETER
        elif kind is not torch.Tensor:
            layout.type = f"{kind.__module__}.{kind.__qualname__}"
        layout.attributes = dict(vars(value)) or None
        return Tensor(layout)
