"""inert opens machine-learning checkpoints as data, never as code: no PyTorch, no TensorFlow, nothing in a file is ever run.

Knows: the public names, nothing else. Refuses to know: how they do it.
"""

from __future__ import annotations

from importlib import import_module

from .checkpoint import Checkpoint
from .content import Part
from .errors import FormatError, InertError, LimitError, TruncatedError, UnidentifiedError, UnsupportedError
from .finding import Finding
from .formats import FORMATS
from .limits import Limits
from .reading import load, open
from .saving import save
from .tensor import Tensor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .ops.convert import convert
    from .ops.diff import diff
    from .ops.diff_result import Difference
    from .ops.repair import repair
    from .ops.scan import ScanReport, scan
    from .ops.verify import Verification, verify

__version__ = "0.1.0"

_LATE = {  # what only some users need is imported when it is first asked for
    "Difference": "ops.diff_result",
    "ScanReport": "ops.scan",
    "Verification": "ops.verify",
    "convert": "ops.convert",
    "diff": "ops.diff",
    "repair": "ops.repair",
    "scan": "ops.scan",
    "verify": "ops.verify",
}

__all__ = [
    "FORMATS",
    "Checkpoint",
    "Difference",
    "Finding",
    "FormatError",
    "InertError",
    "LimitError",
    "Limits",
    "Part",
    "ScanReport",
    "Tensor",
    "TruncatedError",
    "UnidentifiedError",
    "UnsupportedError",
    "Verification",
    "__version__",
    "convert",
    "diff",
    "load",
    "open",
    "repair",
    "save",
    "scan",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
    return made
