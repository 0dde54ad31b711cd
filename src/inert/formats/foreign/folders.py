"""What a folder is that no format reads as a whole: told by the names in it.

Knows: the names that programs give to the files of a folder, in the order in which they are asked.
Refuses to know: the files. None is opened.
"""

from __future__ import annotations

import re

from .look import SHOWN, clip, counted
from .tables import TF_LATER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...containers.folder import Folder
    from ...limits import Limits

INSIDE = "name one of the files in it"
# Pattern over all names, one a line · what the folder is · what to do next
FOLDERS = (
    (
        r"^\.metadata$",
        "a folder with a .metadata that torch.distributed.checkpoint did not write",
        f"do not load it unless you trust its maker; {INSIDE}",
    ),
    (
        r"^zero_to_fp32\.py$",
        "the folder around DeepSpeed checkpoints, without a file 'latest' that names one of them",
        "name the folder of one save in it, such as global_step1000",
    ),
    (r"^saved_model\.pbt?x?t?$", "a TensorFlow SavedModel", f"its numbers are in the folder variables; {TF_LATER}"),
    (r"^[^\n]*\.index$", "a folder with TensorFlow checkpoints", TF_LATER),
    (r"^data\.pkl$", "a folder with a data.pkl but without the other records of a PyTorch archive", f"{INSIDE}, such as data.pkl"),
)
CHECKPOINTS = re.compile(r"\.(?:pt2?|pth|ptl|bin|ckpt|safetensors|pkl|t7|h5|gguf|onnx)$")


def describe_folder(folder: Folder, limits: Limits) -> tuple[str, str]:
    """(sentence, hint): what the folder is, and what to do next."""
    names = folder.names(limits)
    text = "\n".join(names[:10_000])
    for pattern, noun, hint in FOLDERS:
        if re.search(pattern, text, re.M):
            return f"this is {noun}", hint
    if not names:
        return "this is a folder without files", "name a file or the folder that holds it"
    found = [name for name in names if CHECKPOINTS.search(name)]
    said = clip(", ".join((found or names)[:SHOWN]), 200)
    return f"this is a folder of {counted(len(names), 'file')}, not of one checkpoint in several files", f"{INSIDE}, such as {said}"
