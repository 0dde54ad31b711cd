"""Tensors for other frameworks: the one place that imports one, because ``Tensor.torch()`` asks for it.

Knows: how to make a torch tensor from bytes, so that every element type passes.
Refuses to know: files; and to be imported by anything that reads.
"""

from __future__ import annotations

from .errors import UnsupportedError
from .layout import pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .layout import Layout
    from .limits import Limits


def torch_of(layout: Layout, limits: Limits) -> Any:
    """A torch tensor with the same elements, made through bytes so that every torch dtype passes."""
    import torch  # noqa: TID251 - the one exception: the caller asked for a torch tensor

    parts = {role: part.torch() for role, part in layout.components.items() if layout.kind != "tiled"}
    if layout.kind == "nested":
        return torch.nested.nested_tensor(list(parts.values()))
    if layout.kind.startswith("sparse_") and layout.kind != "sparse_coo":
        return getattr(torch, f"{layout.kind}_tensor")(*parts.values(), size=layout.shape)
    if layout.kind == "sparse_coo":
        return torch.sparse_coo_tensor(parts["indices"], parts["values"], layout.shape)
    if layout.kind == "meta":
        return torch.empty_strided(layout.shape, layout.strides, dtype=getattr(torch, layout.dtype), device="meta")
    dtype, plain = getattr(torch, layout.dtype, None), layout.dtype.numpy if layout.dtype.kind == "q" else layout.dtype
    if dtype is None or (layout.dtype.kind == "q" and layout.dtype.packed > 1):
        raise UnsupportedError(f"torch cannot be given {layout.dtype}")
    data = bytearray(b"".join(pieces(layout, limits)))
    made = torch.frombuffer(data, dtype=getattr(torch, plain)) if data else torch.empty(0, dtype=getattr(torch, plain))
    made = made.reshape(layout.shape)
    if layout.kind == "quantized":
        made = _quantized(torch, made, layout, parts)
    return made.requires_grad_() if layout.requires_grad else made


def _quantized(torch: Any, integers: Any, layout: Layout, parts: dict[str, Any]) -> Any:
    facts = layout.quantization
    if "axis" not in facts:
        return torch._make_per_tensor_quantized_tensor(integers, facts["scale"], facts["zero_point"])
    return torch._make_per_channel_quantized_tensor(integers, parts["scales"], parts["zero_points"], facts["axis"])
