"""``--dense``, ``--compact``, ``--shared``, ``--rebuild``: the same values in plainer tensors.

Knows: how sparse, quantised and replicated tensors become dense ones, how a view gets a storage of its own, how ties are cut, and which
type of old torch holds the values of a new one.
Refuses to know: files. Nothing is read here but what decides whether a change is exact.

Facts: torch 2.13 (``to_dense()``, ``dequantize()``, torch/distributed/tensor/placement_types.py); torch before 2.2 has neither
``_rebuild_tensor_v3`` nor the types that need it.
"""

from __future__ import annotations

from functools import partial
from math import prod

from ..dtypes import DTYPES, DType
from ..errors import UnsupportedError
from ..finding import Finding
from ..layout import Layout, Storage, contiguous, item_geometry, reach
from ..tensor import Tensor
from ..torch.objects import Object
from ..torch.storages import CLASS_OF
from .views import Views, names_of, own, place, run
from .walk import each_place, each_tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..source import Span


# -- dense --------------------------------------------------------------------------------------------------------------------


def dense(root: Any, limits: Limits) -> tuple[Any, list[Finding]]:
    """The root with sparse, quantised and replicated tensors as dense ones, in place; what could not be made dense."""
    left: dict[str, list[str]] = {}
    names = names_of(root, limits)

    def change(tensor: Tensor) -> Tensor:
        layout = tensor.layout
        if layout.fault:
            return tensor
        if layout.kind.startswith("sparse"):
            return Tensor(_made(layout, layout.dtype, tensor.numpy), tensor.limits)
        if layout.kind == "quantized":
            return Tensor(_made(layout, DTYPES["float32"], tensor.dequantize), tensor.limits)
        if layout.kind == "wrapper":
            local = replicated(layout)
            if local is not None:
                return local
        if layout.kind in ("wrapper", "nested"):
            left.setdefault(layout.kind, []).extend(names.get(place(layout), [""]))
        return tensor

    made = each_tensor(root, change)
    return made, [Finding("dense-left", f"{kind} tensors stay as they are", "", None, tuple(held)) for kind, held in left.items()]


def _made(layout: Layout, dtype: DType, make: Callable[[], Any]) -> Layout:
    """A dense layout whose elements are made when they are read."""
    size = prod(layout.shape) * dtype.itemsize

    def opened() -> Span:
        from ..casts import Whole

        return Whole(size, make, f"dense {layout.kind}").span()

    made = layout.copy()
    made.kind, made.dtype, made.components, made.quantization = "dense", dtype, {}, {}
    made.strides, made.offset = contiguous(layout.shape), 0
    made.storage = Storage("dense", size, dtype, layout.device, opened)
    if layout.kind == "quantized":
        made.type = layout.type
    return made


def replicated(layout: Layout) -> Tensor | None:
    """The whole tensor of a DTensor that every rank holds whole; None for anything else."""
    local = layout.components.get("_local_tensor")
    if not layout.type.endswith("DTensor") or local is None or local.shape != layout.shape:
        return None
    placements = _placements(layout.attributes)
    if not placements or any(type(one) is not Object or not one.type.endswith(".Replicate") for one in placements):
        return None
    made = local.layout.copy()
    made.requires_grad = layout.requires_grad
    return Tensor(made, local.limits)


def _placements(attributes: Any) -> tuple[Any, ...]:
    for part in attributes if type(attributes) is tuple else (attributes,):
        spec = part.get("_spec") if isinstance(part, dict) else None
        if type(spec) is Object:
            found = spec.fields.get("placements")
            return found if type(found) is tuple else ()
    return ()


# -- storages -----------------------------------------------------------------------------------------------------------------


def compact(root: Any, limits: Limits) -> Any:
    """The root with a storage of their own, in place, for views that use a part of one. What overlaps stays together, and so tied."""
    views = Views(root, limits)
    made: dict[Any, Layout] = {}
    for key, layouts in views.layouts.items():
        storage = views.storages[key]
        if key not in views.fixed and storage.opener is not None and not storage.fault:
            made |= _parted(storage, layouts, limits)

    def change(tensor: Tensor) -> Tensor:
        layout = tensor.layout
        known = made.get(place(layout)) if layout.kind == "dense" and not layout.fault else None
        if known is None:
            return tensor
        whole = layout.copy()
        whole.storage, whole.offset, whole.strides, whole.conj, whole.neg = (
            known.storage, known.offset, known.strides, known.conj, known.neg,
        )  # fmt: skip
        return Tensor(whole, tensor.limits)

    return each_tensor(root, change) if made else root


def _parted(storage: Storage, layouts: dict[Any, Layout], limits: Limits) -> dict[Any, Layout]:
    """New layouts by place for the views of one storage; none where they use all of it."""
    width = next(iter(layouts.values())).dtype.itemsize
    if any(layout.dtype.itemsize != width or layout.dtype.packed != 1 or layout.kind != "dense" for layout in layouts.values()):
        return {}
    runs = sorted(((*run(layout), key) for key, layout in layouts.items()), key=lambda found: found[:2])
    groups: list[tuple[int, int, list[Any]]] = []
    for start, end, key in runs:
        if groups and (start < groups[-1][1] or start == end):
            first, last, keys = groups.pop()
            keys.append(key)
            groups.append((first, max(last, end), keys))
        else:
            groups.append((start, end, [key]))
    if len(groups) == 1 and (groups[0][1] - groups[0][0]) * width == storage.nbytes and not _gaps(layouts, groups[0]):
        return {}
    made = {}
    for start, end, keys in groups:
        if _gaps(layouts, (start, end, keys)):
            made[keys[0]] = own(layouts[keys[0]], limits)
            continue
        opener = partial(_part, storage, start * width, end * width)
        part = Storage(storage.key, (end - start) * width, layouts[keys[0]].dtype, storage.device, opener)
        part.order = storage.order
        for key in keys:
            layout = made[key] = layouts[key].copy()
            layout.storage, layout.offset = part, layout.offset - start
    return made


def _gaps(layouts: dict[Any, Layout], group: tuple[int, int, list[Any]]) -> bool:
    """Whether a lone view leaves out items between its first and its last one."""
    start, end, keys = group
    if len(keys) > 1:
        return False
    layout = layouts[keys[0]]
    shape, strides, _ = item_geometry(layout)
    return reach(shape, strides)[1] < end - start


def _part(storage: Storage, start: int, end: int) -> Span:
    return storage.span().sub(start, end - start)


def untie(root: Any, limits: Limits) -> Any:
    """The root with a storage of its own for every place where a tensor stands, but the first of each storage."""
    seen: set[int] = set()
    held: list[Storage] = []

    def change(tensor: Tensor) -> Tensor:
        layout = tensor.layout
        storage = layout.storage
        if storage is None or storage.opener is None or layout.kind not in ("dense", "tiled") or layout.fault:
            return tensor
        if id(storage) not in seen:
            seen.add(id(storage))
            held.append(storage)
            return tensor
        return Tensor(own(layout, limits), tensor.limits)

    return each_place(root, change)


def refuse_shared(root: Any, limits: Limits) -> None:
    """UnsupportedError where two tensors share a storage."""
    views = Views(root, limits)
    for layouts in views.layouts.values():
        names = [name for key in layouts for name in views.names[key]]
        if len(names) > 1:
            raise UnsupportedError(
                f"{' and '.join(map(repr, names[:3]))} share storage", hint="shared=alias keeps that, shared=copy cuts it"
            )


def on_cpu(root: Any, limits: Limits) -> tuple[Any, list[Finding]]:
    """The root with tensors on the CPU, in place, that were saved by way of another device's own call; what notes its device itself.
    Device tags of storages are for torch/respelling.py."""
    names = names_of(root, limits)
    left: list[str] = []

    def change(tensor: Tensor) -> Tensor:
        layout = tensor.layout
        if layout.kind == "wrapper" and layout.device not in ("", "cpu", "meta"):
            left.extend(names.get(place(layout), [""]))
        if layout.storage is None or layout.kind != "dense" or layout.device in ("cpu", "meta") or layout.storage.device != "cpu":
            return tensor
        made = layout.copy()
        made.device = "cpu"
        return Tensor(made, tensor.limits)

    made = each_tensor(root, change)
    return made, [Finding("device-left", "wrapped tensors name another device", "", None, tuple(left))] if left else []


# -- types that old torch lacks -----------------------------------------------------------------------------------------------


def rebuild_v2(root: Any, limits: Limits) -> tuple[Any, list[Finding]]:
    """The root with its tensors as torch before 2.2 can rebuild them, in place: newer types become wider ones that hold every value.
    UnsupportedError where there is none; what was widened."""
    names = names_of(root, limits)
    widened: dict[str, list[str]] = {}
    storages: dict[Any, tuple[Storage, Storage]] = {}

    def change(tensor: Tensor) -> Tensor:
        layout = tensor.layout
        typed = layout.storage is None or layout.storage.dtype is layout.dtype
        if layout.kind not in ("dense", "tiled", "meta") or layout.fault or (layout.dtype in CLASS_OF and typed):
            return tensor
        made = layout.copy()
        if layout.dtype not in CLASS_OF:
            found = names.get(place(layout), [""])
            made.dtype = _wider(layout, found[0])
            widened.setdefault(f"{layout.dtype} → {made.dtype}", []).extend(found)
        if layout.storage is not None:
            key = id(layout.storage), layout.dtype
            if key not in storages:
                storages[key] = layout.storage, _typed(layout.storage, layout.dtype, made.dtype)
            made.storage = storages[key][1]
        return Tensor(made, tensor.limits)

    made = each_tensor(root, change)
    return made, [Finding("dtype-widened", kinds, "", None, tuple(held)) for kinds, held in widened.items()]


def _wider(layout: Layout, name: str) -> DType:
    from ..casts import wider

    try:
        found = wider(layout.dtype)
    except UnsupportedError as error:
        raise UnsupportedError(f"{name!r}: {error.message}", hint="cast it, or leave it out") from None
    if layout.dtype == "uint64" and layout.storage is not None and layout.storage.opener is not None:
        import numpy as np

        for block in Tensor(layout).chunks():
            if (np.frombuffer(block, "<u8") >> np.uint64(63)).any():
                raise UnsupportedError(f"{name!r} holds numbers beyond int64, and torch before 2.3 has no uint64", hint="leave it out")
    return found


def _typed(storage: Storage, given: DType, wanted: DType) -> Storage:
    """The items of a storage in a type that has a storage class."""
    items = storage.nbytes // given.itemsize

    def opened() -> Span:
        from ..casts import Encoded, widened

        if given is wanted:
            return storage.span().sub(0, items * given.itemsize)
        kernel = widened(given, wanted, storage.order == "big")
        return Encoded(storage.span(), items, given.itemsize, wanted.itemsize, kernel, storage.key).span()

    made = Storage(storage.key, items * wanted.itemsize, wanted, storage.device, None if storage.opener is None else opened)
    if given is wanted:
        made.order = storage.order
    made.fault = storage.fault
    return made
