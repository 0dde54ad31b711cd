"""What ``weights_only=True`` of each torch takes, from 1.13, which brought it, on.

Knows: since which version each name is on the list, each opcode and each form of a call taken; which names left the list again.
Refuses to know: what torch 2.13 refuses whatever the version (weights.py): sizes, strides, damaged records, keys that cannot be hashed.

Facts: torch/_weights_only_unpickler.py, torch/storage.py and every ``add_safe_globals`` of torch 1.13.0 to 2.14.0, read one by one; what
torch 1.13.1, 2.0.1, 2.3.1, 2.4.1, 2.6.0, 2.13.0, 2.14.1 and 2.15.0 said of files that they had written (tests/test_versions.py and the
shared corpus). 2.15 is known by these alone, and taken to be as 2.14.
"""

from __future__ import annotations

import builtins

from ..pickle.nodes import Call, Global
from ..pickle.opcodes import OPCODES
from .ages import calls, forms
from .allowed import ALLOWED, BLOCKED_MODULES, BYTESWAP, REGISTERED, torch_name
from .answers import no, yes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from ..pickle.decode import Document
    from .answers import Answer

    Version = tuple[int, int]
    Need = tuple[Version, Version, str]  # first version that takes it, first that does not any more, what it is

FIRST = (1, 13)
VERSIONS = (FIRST, *((2, minor) for minor in range(16)))
NEVER = (99, 0)
HANDED = (2, 13)  # torch.load gives files whose names end in .safetensors to the package safetensors

# Names that 2.13 allows and 1.13 did not → the first version that does.
_SINCE = {
    (2, 0): "torch._tensor._rebuild_from_type_v2",
    (2, 2): """torch._utils._rebuild_nested_tensor torch._utils._rebuild_tensor_v3 torch.float8_e4m3fn torch.float8_e5m2""",
    (2, 3): "torch.float8_e4m3fnuz torch.float8_e5m2fnuz",
    (2, 4): """collections.Counter torch._utils._rebuild_parameter_with_state torch._utils._rebuild_qtensor
        torch._utils._rebuild_wrapper_subclass torch.bfloat16 torch.bits16 torch.bits1x8 torch.bits2x4 torch.bits4x2 torch.bits8
        torch.bool torch.device torch.per_channel_affine torch.per_channel_affine_float_qparams torch.per_channel_symmetric
        torch.per_tensor_affine torch.per_tensor_symmetric torch.qint32 torch.qint8 torch.quint2x4 torch.quint4x2 torch.quint8
        torch.uint8""",
    (2, 5): "_codecs.encode builtins.bytearray torch._utils._rebuild_device_tensor_from_numpy",
    (2, 6): """builtins.complex builtins.set torch._utils._rebuild_device_tensor_from_cpu_tensor torch.uint16 torch.uint32 torch.uint64""",
    (2, 7): " ".join(f"torch.{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)) + " torch.float8_e8m0fnu",
    (2, 8): "torch.float4_e2m1fn_x2",
    (2, 10): "torch.distributed._mesh_layout._MeshLayout",
    (2, 13): "torch.distributed._mesh_layout._FlatLayout",
}
SINCE = {name: version for version, names in _SINCE.items() for name in names.split()}
# … and those that 2.13 does not allow, or that a newer one has given up: name → first version with it, first version without it again.
OTHERS: dict[str, tuple[Version, Version]] = {
    "torch._utils._rebuild_sparse_csr_tensor": (FIRST, (2, 0)),
    "torch.bcomplex32": ((2, 14), NEVER),
    "torch.nested._internal.nested_tensor.NestedTensor": ((2, 6), (2, 15)),
    "torch.nested._internal.nested_tensor._rebuild_njt": ((2, 6), (2, 15)),
    "traceback.StackSummary": ((2, 14), NEVER),
    "traceback.FrameSummary": ((2, 14), NEVER),
}
EXCEPTIONS = {  # torch.distributed allows them since 2.14
    f"builtins.{name}" for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
}
OTHERS |= dict.fromkeys(EXCEPTIONS, ((2, 14), NEVER))
PYTHON_2 = (2, 6)  # names of Python 2 are replaced in every protocol …
PYTHON_2_PROTOCOL_2 = (2, 4)  # … and only in protocol 2 before
OPCODE_SINCE = {0x47: (2, 0)}  # BINFLOAT: numbers like a learning rate
NEW_OBJECTS = (2, 6)  # NEWOBJ of other classes than Parameter, BUILD on others than tensors, Parameter and OrderedDict
BESIDES = {  # the same in words, for docs/loading.md
    FIRST: "brought weights_only: 90 names, 33 opcodes",
    (2, 0): "the opcode BINFLOAT; metadata (conjugate and negative bits); sparse CSR, CSC, BSR and BSC",
    PYTHON_2_PROTOCOL_2: "Python 2's names for `builtins` and `copyreg`, in pickles of protocol 2",
    (2, 1): "the byteorder record; a sparse COO tensor's mark of being coalesced",
    NEW_OBJECTS: "NEWOBJ and BUILD for every class on the list; Python 2's names in every protocol; it became the default",
    HANDED: "files whose names end in `.safetensors`, by way of the package safetensors",
    (2, 14): "every exception class of `builtins`",
}
BUILT = ("collections.OrderedDict", "torch.nn.parameter.Parameter", "torch.Tensor")


def versions(documents: Iterable[Document], others: Iterable[Need] = (), order: str = "little") -> tuple[str, dict[str, Answer]]:
    """("2.4": the first version from which on all take it, "" for none; {"1.13": {"ok", "why"}, … "2.15"}).

    ``others``: what a version must take apart from names and opcodes."""
    needs = [*(need for document in documents for need in _needs(document)), *others]
    if order == "big":
        needs.append((BYTESWAP, NEVER, "big-endian data, which older ones read as if it were their own"))
    said = {spelled(version): _said(version, needs) for version in VERSIONS}
    return since(said), said


def since(said: dict[str, Answer]) -> str:
    """The first version from which on all take it."""
    found = ""
    for version in reversed(said):
        if not said[version]["ok"]:
            break
        found = version
    return found


def handed(said: dict[str, Answer], answer: Answer) -> dict[str, Any]:
    """The answers where the file's name ends in .safetensors: ``answer`` from the version on that hands such a file to that package."""
    made = {spelled(version): answer if version >= HANDED else said[spelled(version)] for version in VERSIONS}
    return {"since": since(made), "versions": made}


def spelled(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def _said(version: Version, needs: list[Need]) -> Answer:
    for first, until, what in needs:
        if version < first:
            return no(what if first == NEVER else f"{what}, which torch {spelled(first)} brought")
        if version >= until:
            return no(f"{what}, gone since torch {spelled(until)}")
    return yes("it takes every name and every opcode")


def _needs(document: Document) -> Iterator[Need]:
    """What a version must take, each thing once."""
    known: dict[Any, Need] = {}
    for name in document.globals:
        known.setdefault((name.module, name.name), _name(name, document.protocol))
    yield from known.values()
    for code in document.opcodes:
        row = OPCODES.get(code)
        if row is None or not row.weights_only:
            yield NEVER, NEVER, f"the opcode {row.name if row else code}"
        elif code in OPCODE_SINCE:
            yield OPCODE_SINCE[code], NEVER, f"the opcode {row.name}"
    for call in calls(document):
        for first, what in forms(call):
            yield first, NEVER, what
        if _new(call):
            yield NEW_OBJECTS, NEVER, f"{call.how} of {call.dotted[:80]}"
            return


def _new(call: Call) -> bool:
    """Whether it makes or fills an object of a class that was only to be called before."""
    plain = call.dotted in BUILT or call.dotted.startswith(("torch._utils.", "torch._tensor."))
    return not plain and type(call.function) is Global and (call.how == "NEWOBJ" or bool(call.states))


def _name(name: Global, protocol: int) -> Need:
    raw, dotted = f"{name.module}.{name.name}", torch_name(name)
    if name.module in BLOCKED_MODULES:
        return NEVER, NEVER, f"the name {dotted}"
    first, until = listed_since(dotted)
    if raw != dotted and first < NEVER:
        first = max(first, PYTHON_2_PROTOCOL_2 if protocol == 2 else PYTHON_2)
    return first, until, f"the name {dotted}"


def listed_since(dotted: str) -> tuple[Version, Version]:
    """First version that has the name on its list, and the first that has it no longer; NEVER where there is none."""
    if dotted in OTHERS:
        return OTHERS[dotted]
    if dotted in ALLOWED or dotted in REGISTERED:
        return SINCE.get(dotted, FIRST), NEVER
    return NEVER, NEVER
