"""A state dict in what programs put around it, and out of it again: ``--unwrap``, ``--strip``, ``--lightning``.

Knows: where the weights lie in each profile of checkpoints, the prefixes that wrappers of modules put before names, and the keys that
Lightning's ``load_from_checkpoint`` asks for.
Refuses to know: files. Nothing is read of any tensor.

Facts: pytorch_lightning 2.6 (core/saving.py, trainer/connectors/checkpoint_connector.py); torch 2.13 (DataParallel and
DistributedDataParallel: ``module.``; torch.compile: ``_orig_mod.``).
"""

from __future__ import annotations

import re

from ..errors import UnsupportedError
from ..names import Lister
from ..profiles import describe
from ..profiles.lightning import VERSION
from ..profiles.values import is_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..checkpoint import Checkpoint
    from ..limits import Limits

PREFIXES = ("module.", "model.", "_orig_mod.", "_forward_module.")  # DDP; Lightning by habit; torch.compile; Lightning's strategies


def weights_path(ckpt: Checkpoint) -> str:
    """The dotted path of the state dict in a checkpoint, "" where it is the root. UnsupportedError where there is none."""
    found = describe(ckpt)
    if found["profile"] == "state-dict":
        return ""
    if found["profile"] == "lightning" and isinstance(ckpt.root.get("state_dict"), dict):
        return "state_dict"
    key = found["facts"].get("key", "") if found["profile"] == "training" else ""
    if not key:
        raise UnsupportedError(f"no state dict was found: this is {found['sentence']}", hint="say where it is: --root PATH")
    return str(key)


def strip_rules(root: Any, limits: Limits) -> list[tuple[str, str]]:
    """The rules of ``--rename`` that take away the wrappers' prefixes that all tensor names of a state dict have. None: none has one."""
    names, prefix = list(Lister(root, limits).tensors), ""
    while names:
        found = next((one for one in PREFIXES if all(name.startswith(prefix + one) for name in names)), None)
        if found is None or any(name == prefix + found for name in names):
            break
        prefix += found
    return [(f"^{re.escape(prefix)}", "")] if prefix else []


def lightning(root: Any, version: str) -> dict[str, Any]:
    """A Lightning checkpoint of a state dict, as the given version would have written it without a trainer's state."""
    if not re.fullmatch(r"\d+(\.\w+){1,4}", version):
        raise UnsupportedError(f"{version!r} is no version of Lightning", hint="such as 2.6.6")
    if not is_weights(root):
        raise UnsupportedError("only a state dict can be made a Lightning checkpoint", hint="name one with --root, or use --unwrap")
    return {
        "epoch": 0, "global_step": 0, VERSION: version, "state_dict": root, "loops": {}, "callbacks": {}, "optimizer_states": [],
        "lr_schedulers": [],
    }  # fmt: skip
