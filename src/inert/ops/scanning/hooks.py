"""Names that are only text to a pickle or archive, and that a program imports and calls once it has read them.

Knows: under which keys Lightning, Hydra and Keras keep such names; by which names TorchScript writes and maps files.
Refuses to know: what the names do (inert.policy), and whether the program that reads the file is one of these.

Facts: Lightning 2.6.6 lightning/pytorch/core/saving.py (_load_state, _ALLOWED_INSTANTIATORS: load_from_checkpoint imports the name; earlier
versions whatever it is); Hydra 1.3 hydra/_internal/instantiate/_instantiate2.py (_target_); Keras 3.8 keras/src/saving/serialization_lib.py
(_retrieve_class_or_fn imports "module" and takes "class_name", or of functions "config", out of it; CVE-2025-1550); torch 2.13
torch/csrc/jit/runtime/register_special_ops.cpp (aten::save, whose path the script gives; torch.jit.load, and torch.load of such an archive,
run each ``__setstate__``).
"""

from __future__ import annotations

import re

from ...errors import InertError
from ...pickle.nodes import Call, Dict
from ...policy import DANGEROUS, judge
from .calls import values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ...containers.zip import Zip
    from ...pickle.decode import Document
    from .look import Look

KEYS = {"_instantiator": "load_from_checkpoint of Lightning", "_target_": "instantiate of Hydra"}
TRUSTED = frozenset(("lightning.pytorch.cli.instantiate_module", "pytorch_lightning.cli.instantiate_module"))
HELD = re.compile(b"|".join(key.encode() for key in KEYS))
YAML = re.compile(rb"""(?:^|[\s{,"'])_target_["']?\s*:\s*["']?([A-Za-z_][\w.]{0,300})""")
LAMBDA = re.compile(rb'"class_name"\s*:\s*"Lambda"')
MODULE = re.compile(rb'"module"\s*:\s*"([\w.]{1,200})"(?:\s*,\s*"class_name"\s*:\s*"(\w{1,200})")?(?:\s*,\s*"config"\s*:\s*"(\w{1,200})")?')

OPERATOR = re.compile(rb"(?:\.(?:\s|\\|#.*\n)*|aten::)(save|from_file)\b")  # torch.save, by whatever name the code calls torch
CODE = 16 << 20  # bytes of a file of code that are searched for the names of operators


def scripts(look: Look, archive: Zip, names: list[str], shown: Callable[[str], str]) -> None:
    """The code of a TorchScript archive: members of these names, where there are such."""
    for name in names:
        if name not in archive.members:
            continue
        try:
            span = archive.content(name)
            if look.spend(min(span.length, CODE), shown(name)):
                script(look, span.read(0, min(span.length, CODE)), shown(name))
        except InertError as error:
            look.unread(error, shown(name))


def script(look: Look, data: bytes, part: str) -> None:
    """TorchScript, as text or as the names of its operators, that reaches for files."""
    found = OPERATOR.search(data)
    if found:
        does = "writes a file" if found[1] == b"save" else "opens or makes a file"
        look.note("script-files", f"its code calls {found[1].decode('ascii')}, which {does}", part, found.start())


def pickled(look: Look, document: Document, part: str, base: int = 0) -> None:
    """Names under such keys in a pickle's dicts."""
    data: Any = document.data
    held = any(key.encode() in data for key in KEYS) if isinstance(data, bytes) else HELD.search(data) is not None
    if not held:
        return
    for node in values(document, document.calls):
        if type(node) is Dict or type(node) is Call:
            flat = node.flat or []
            for key, value in zip(flat[::2], flat[1::2], strict=False):
                if type(key) is str and key in KEYS and type(value) is str:
                    _named(look, value, KEYS[key], part, base + node.offset)


def _named(look: Look, name: str, by: str, part: str, offset: int | None) -> None:
    """Say that a program would call this name."""
    module, _, last = name.rpartition(".")
    said = judge(module, last)
    if name in TRUSTED or not module:
        look.note("text-name", f"{by} calls {name[:200]}", part, offset)
    elif said.verdict == DANGEROUS:
        look.note("text-name-dangerous", f"{by} would call {name[:200]}, and {said.why}", part, offset)
    elif by.endswith("Lightning"):
        look.note("text-name-unknown", f"{by} would call {name[:200]}", part, offset)
    else:
        look.note("text-name", f"{by} would call {name[:200]}", part, offset)


def texts(look: Look, data: bytes, part: str) -> None:
    """Names in the text of a configuration."""
    for found in YAML.finditer(data):
        _named(look, found[1].decode("ascii", "replace"), KEYS["_target_"], part, found.start(1))


def keras(look: Look, data: bytes, part: str) -> None:
    """What a model's configuration as Keras writes it would import and run."""
    found = LAMBDA.search(data)
    if found:
        look.note("lambda-layer", "a Lambda layer of Keras", part, found.start())
    for match in MODULE.finditer(data):
        module, *names = (str(group or b"", "ascii", "replace") for group in match.groups())
        for name in names:
            said = judge(module, name) if name and name not in ("function", "class") else None
            if said is not None and said.verdict == DANGEROUS:
                look.note("text-name-dangerous", f"Keras would import {module}.{name}, and {said.why}", part, match.start())
