"""inert opens machine-learning checkpoints as data, never as code: no PyTorch, no TensorFlow, nothing in a file is ever run.

Knows: the public names, nothing else. Refuses to know: how they do it.
"""

from __future__ import annotations

from .checkpoint import Checkpoint, Part
from .errors import FormatError, InertError, LimitError, TruncatedError, UnidentifiedError, UnsupportedError
from .finding import Finding
from .formats import FORMATS
from .limits import Limits
from .reading import load, open
from .saving import save
from .tensor import Tensor

__version__ = "0.1.0"

__all__ = [
    "FORMATS",
    "Checkpoint",
    "Finding",
    "FormatError",
    "InertError",
    "LimitError",
    "Limits",
    "Part",
    "Tensor",
    "TruncatedError",
    "UnidentifiedError",
    "UnsupportedError",
    "__version__",
    "load",
    "open",
    "save",
]
