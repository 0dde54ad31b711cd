"""The rebuild functions of tensors with torch's eyes: which arguments torch 2.13 takes, and what it would make of them.

Knows: how many arguments each takes, which of them must be what, what the type and the state of a subclass may be.
Refuses to know: how a Layout is made of the arguments (rebuild.py) and what its numbers must be (needs.py).

Facts: torch 2.13 torch/_utils.py and torch/_tensor.py, each rule tried out with the real program.
"""

from __future__ import annotations

from ..pickle.nodes import Call, Dict, Global, List
from .allowed import FIXED, REBUILDS, REGISTERED, allowed
from .distributed import attributes
from .needs import Refused, differentiable, jagged, needed, nested, quantized, sparse
from .rebuild import Deep
from .rules import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..layout import Layout
    from .weights import Judge

# function → fewest and most arguments, as Python counts them
ARITY = {
    "_rebuild_tensor": (4, 4), "_rebuild_tensor_v2": (6, 7), "_rebuild_tensor_v3": (7, 8), "_rebuild_parameter": (3, 3),
    "_rebuild_parameter_with_state": (4, 4), "_rebuild_sparse_tensor": (2, 2), "_rebuild_qtensor": (7, 7), "_rebuild_nested_tensor": (4, 4),
    "_rebuild_meta_tensor_no_storage": (4, 4), "_rebuild_wrapper_subclass": (8, 8), "_rebuild_from_type_v2": (4, 4),
    "_rebuild_device_tensor_from_cpu_tensor": (4, 4), "_rebuild_device_tensor_from_numpy": (4, 4), "_rebuild_njt": (1, 1),
}  # fmt: skip
GRADS = {"_rebuild_tensor_v2": 4, "_rebuild_qtensor": 5}  # where the argument stands that must be a bool …
METADATA = {"_rebuild_tensor_v2": 6, "_rebuild_tensor_v3": 7}  # … and the one that must be a dict
# functions whose outcome hangs on the data, or on the code of a class
BY_DATA = frozenset(("_rebuild_nested_tensor", "_rebuild_njt", "_rebuild_device_tensor_from_numpy", "_rebuild_wrapper_subclass"))

SHARDED = "torch.distributed._shard.sharded_tensor.api.ShardedTensor"


def rebuilt(judge: Judge, call: Call, name: str) -> str:
    """Judge a call of one of torch's rebuild functions; the kind of what it makes. Refused, or Odd, where torch would raise."""
    arguments = call.arguments if type(call.arguments) is tuple else ()
    short = name.rpartition(".")[2]
    least, most = ARITY.get(short, (0, 99))
    if not least <= len(arguments) <= most:
        raise Refused(f"{short} takes {least} arguments, not {len(arguments)}")
    if short in BY_DATA:
        return _special(judge, short, arguments)
    if short == "_rebuild_from_type_v2":
        inner = _typed(judge, arguments)
        if inner is None:
            return "?"
    if short.startswith("_rebuild_parameter"):
        if arguments[0] is None:
            return "Parameter"
        if short.endswith("state"):
            _attributes(arguments[3])
    try:
        layout = judge.rebuilder.layout(call)
    except Deep:  # what is inside was judged when it was made
        return "Parameter" if "parameter" in short else "Tensor"
    _geometry(judge, layout, arguments, short)
    return "Parameter" if "parameter" in layout.type.lower() else "Tensor"


def _special(judge: Judge, short: str, arguments: tuple[Any, ...]) -> str:
    """Rebuild functions whose outcome hangs on the data, or on a class."""
    if short == "_rebuild_njt":
        jagged(arguments[0])
    elif short == "_rebuild_nested_tensor" and not (judge.full and any(kind_of(judge, part) == "?" for part in arguments)):
        nested([judge.rebuilder.tensor(part).layout for part in arguments])
    elif short == "_rebuild_device_tensor_from_numpy" and kind_of(judge, arguments[0]) != "?":
        raise Refused("a NumPy array is wanted")
    elif short == "_rebuild_wrapper_subclass" and not judge.full:
        raise Refused("a tensor subclass must define __torch_dispatch__")
    return "Tensor"


def _typed(judge: Judge, arguments: tuple[Any, ...]) -> Any:
    """Check the type and state of _rebuild_from_type_v2; the function inside, or None where only its own code knows the rest."""
    function, kind, _, state = arguments
    if type(kind) is Global and kind.dotted == SHARDED:
        raise Refused(_group(state))
    _attributes(state)
    name = function.dotted if type(function) is Global else ""
    if name.endswith("._rebuild_njt"):
        inner = arguments[2]
        if type(inner) is not tuple or len(inner) != 1:
            raise Refused("_rebuild_njt takes 1 argument")
        jagged(inner[0])
    if name in REGISTERED:
        return None
    if judge.full and type(function) is Global and type(kind) is Global and not (allowed(function) and allowed(kind)):
        return function if name in REBUILDS and name.rpartition(".")[2] not in BY_DATA else None
    if type(kind) is not Global or not (kind.dotted in ("torch.Tensor", "torch.nn.parameter.Parameter") or kind.dotted in REGISTERED):
        raise Refused("_rebuild_from_type_v2 wants a tensor class")
    if name.endswith("._rebuild_wrapper_subclass"):
        raise Refused("a tensor subclass must define __torch_dispatch__")
    if name not in REBUILDS:
        raise Refused(f"{name or 'what is no name'} makes no tensor")
    return None if name.rpartition(".")[2] in BY_DATA else function


def _group(state: Any) -> str:
    """What ShardedTensor.__setstate__ wants of the program: that it is one of the processes that saved it."""
    group = state[2] if type(state) is tuple and len(state) == 5 else None
    said = attributes(group.states[-1]) if isinstance(group, Call) and group.states else {}
    rank, size = said.get("global_rank"), said.get("global_world_size")
    known = type(rank) is int and type(size) is int and max(rank, size).bit_length() < 64
    who = f"rank {rank} of {size}" if known else "the rank that saved it"
    return f"a ShardedTensor can be loaded only by {who}, in a program that has called torch.distributed.init_process_group"


def _attributes(state: Any) -> None:
    """State that torch sets as attributes: a dict, or a pair of dicts or None."""
    if type(state) is tuple and len(state) != 2:
        raise Refused("a tensor's state must be a dict or a pair")
    for part in state if type(state) is tuple else (state,):
        if type(part) is Dict:
            bad = [key for key in part.flat[::2] if type(key) is not str or key in FIXED]
            if bad:
                raise Refused(f"the attribute {bad[0]!r:.40} of a tensor cannot be set")
        elif part is not None and not isinstance(part, Call) and (part or type(part) is List):
            raise Refused("a tensor's state must be a dict")


def _geometry(judge: Judge, layout: Layout, arguments: tuple[Any, ...], short: str) -> None:
    if layout.requires_grad:
        differentiable(layout.dtype)
    if short in GRADS and type(arguments[GRADS[short]]) is not bool:
        raise Refused("requires_grad must be a bool")
    if short == "_rebuild_tensor_v3" and layout.requires_grad:
        raise Refused("_rebuild_tensor_v3 with requires_grad: torch sets no data of such a tensor")
    metadata = arguments[METADATA[short]] if len(arguments) > METADATA.get(short, 99) else None
    if metadata and (type(metadata) is not Dict or any(type(key) is not str for key in metadata.flat[::2])):
        raise Refused("a tensor's metadata must be a dict of texts")
    if layout.conj and layout.dtype.kind != "c":
        raise Refused("only complex tensors can be conjugated")
    if layout.kind == "quantized":
        quantized(layout)
    if layout.kind.startswith("sparse"):
        sparse(layout)
    elif layout.kind == "meta" and layout.storage is None:
        needed(layout.dtype, layout.shape, layout.strides, 0, meta=True)
    elif layout.storage is not None:
        why = judge.room(layout.storage.key, needed(layout.dtype, layout.shape, layout.strides, layout.offset))
        if why:
            raise Refused(why)
