"""DeepSpeed's own consolidation, in a process of its own: importing deepspeed changes torch for the whole process."""

from __future__ import annotations

import os
from pathlib import Path


def consolidate(folder: str, out: str) -> str:
    """Write the float32 state dict of a folder to ``out`` with torch.save. The name of the error that DeepSpeed refuses it with, "" for none."""
    os.environ.setdefault("DS_ACCELERATOR", "cpu")
    import torch
    from deepspeed.utils.zero_to_fp32 import get_fp32_state_dict_from_zero_checkpoint

    try:
        made = get_fp32_state_dict_from_zero_checkpoint(folder)
    except (ValueError, TypeError, FileNotFoundError, KeyError, AttributeError) as error:
        return type(error).__name__
    torch.save(dict(made), Path(out))
    return ""
