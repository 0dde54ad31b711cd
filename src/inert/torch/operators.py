"""TorchScript's operators: whether torch 2.13 has what the code in an archive calls.

Knows: the families of operators and of classes that torch itself registers, and how TorchScript's source spells a call of one.
Refuses to know: single operators, and the language: the source is searched, not parsed, let alone compiled.

Facts: the operators that torch 2.13 lists (torch._C._jit_get_all_schemas) and its TORCH_LIBRARY and class_ registrations; the oracle holds
the table against it.
"""

from __future__ import annotations

import re

from ..errors import InertError
from ..pickle.nodes import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..pickle.decode import Document

KNOWN = frozenset((
    "aten", "prim", "prims", "quantized", "_quantized", "symm_mem", "static_runtime", "c10d", "onednn", "_c10d_functional", "mkldnn",
    "profiler", "sparse", "inductor", "_test", "_c10d_functional_autograd", "onnx", "quantization", "mkldnn_prepacked", "mkl",
    "debugprims", "_dtensor", "inductor_prims", "rngprims", "_native", "export", "debug_mode_ops", "_caffe2", "prepacked", "xnnpack",
    "vulkan_prepack", "metal_prepack", "_nnapi", "rnn", "dist_rpc", "dist_c10d", "cuda", "streams", "_TorchScriptTesting",
))  # fmt: skip
_CALL = re.compile(rb"\bops\.([A-Za-z_]\w*)\.|__torch__\.torch\.classes\.([A-Za-z_]\w*)\.")
MOST = 64 << 20  # bytes of source that are searched

# How names begin that the C++ unpickler knows; it takes any other for a type that the code defines, and finds none.
NAMES = ("__torch__.", "torch.", "collections.OrderedDict", "builtins.", "__builtin__.")


def unknown(pickles: dict[str, Document]) -> str:
    """Why torch's C++ unpickler stops at the pickles of an archive, by their names alone; "" where it does not."""
    for name in ("constants.pkl", "data.pkl"):
        document = pickles.get(name)
        for one in document.globals if document is not None else ():
            if not one.dotted.startswith(NAMES):
                return f"{name} names {one.dotted[:80]}, which is no type of TorchScript"
    root = pickles["data.pkl"].root
    return "" if isinstance(root, Call) and root.dotted.startswith("__torch__.") else "its data.pkl holds no module"


def absent(archive: Any, folder: str) -> tuple[list[str], str]:
    """(the families of operators that the code under ``folder`` calls and torch does not have, in order; why some code cannot be read)."""
    found: dict[str, None] = {}
    left = MOST
    for name, member in archive.members.items():
        if not (name.startswith(f"{folder}code/") and name.endswith(".py")) or member.size > left:
            continue
        left -= member.size
        try:
            text = archive.span(member, MOST).read()
        except InertError as error:
            return list(found), f"{name}: {error.message}"
        for match in _CALL.finditer(text):
            family = (match[1] or match[2]).decode()
            if family not in KNOWN:
                found[family] = None
    return list(found), ""
