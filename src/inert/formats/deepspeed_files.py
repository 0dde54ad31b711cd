"""The files of a DeepSpeed checkpoint, by their names.

Knows: the patterns of names, the role and numbers that each says, and that the file ``latest`` of a folder names the subfolder of its last
save.
Refuses to know: what the files hold (deepspeed_state.py), and how they are opened (deepspeed.py).

Facts: DeepSpeed 0.19.8 (runtime/engine.py _get_ckpt_name, _get_rank_zero_ckpt_name, _get_expert_ckpt_name; runtime/pipe/module.py
ckpt_layer_path), and folders written by it.
"""

from __future__ import annotations

import os
import re

from ..containers.folder import Folder, unsafe
from ..content import Content
from ..files import FileSource
from ..finding import Finding
from ..torch.zero_said import Told

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

LATEST = "latest"
TAG = 1024  # bytes of the file that names a subfolder
OPTIMIZER = re.compile(r"(?:[a-z]+\d+_)?zero_pp_rank_(?P<rank>\d{1,9})_mp_rank_(?P<mp>\d{1,9})_?optim_states\.pt")
MODEL = re.compile(r"(?:zero_pp_rank_(?P<rank>\d{1,9})_)?mp_rank_(?P<mp>\d{1,9})_model_states\.pt")
EXPERT = re.compile(r"(?:layer_(?P<layer>\d{1,9})_)?expert_(?P<expert>\d{1,9})_mp_rank_(?P<mp>\d{1,9})_model_states\.pt")
LAYER = re.compile(r"layer_(?P<layer>\d{1,9})-(?:model_(?P<mp>\d{1,9})-)?model_states\.pt")
EXPERTS_OPTIMIZER = re.compile(r"expp_rank_(?P<rank>\d{1,9})_mp_rank_(?P<mp>\d{1,9})_optim_states\.pt")
ROLES = (("optimizer", OPTIMIZER), ("model", MODEL), ("expert", EXPERT), ("layer", LAYER), ("optimizer of experts", EXPERTS_OPTIMIZER))


class File:
    """A file of the set: role, data-parallel rank (or number of the layer or expert), model-parallel rank; its Content when asked for."""

    def __init__(self, name: str, role: str, number: int | None, mp: int, layer: int = 0) -> None:
        self.name = name
        self.path = ""  # "" where the name leads out of the folder
        self.role = role
        self.number = number
        self.mp = mp
        self.layer = layer
        self.content: Content | None = None
        self.fault: Finding | None = None
        self.told: Told | None = None
        self.notes: list[Finding] = []


def tag_of(folder: Folder) -> str:
    """The name that the file ``latest`` gives; "" where it is none. FormatError for one that leads out of the folder."""
    path = folder.place(LATEST)
    if not os.path.isfile(path) or os.path.getsize(path) > TAG:
        return ""
    file = FileSource(path)  # not one of the folder's own, since the folder may not be of this format
    try:
        tag = file.read(0, file.size).decode("utf-8").strip()
    except UnicodeDecodeError:
        return ""
    finally:
        file.close()
    if not tag.isprintable() or not tag:
        return ""
    if unsafe(tag):
        folder.place(tag)
    return tag


def files_of(names: list[str]) -> list[File]:
    """The files of a set, by number."""
    found = []
    for name in names:
        for role, pattern in ROLES:
            match = pattern.fullmatch(name)
            if match is not None:
                said = match.groupdict()
                number = said.get("rank") if "rank" in said else said.get("expert") or said.get("layer")
                layer = int(said.get("layer") or 0)
                found.append(File(name, role, None if number is None else int(number), int(said.get("mp") or 0), layer))
                break
    sound = any(file.role in ("optimizer", "model", "layer") for file in found)
    return sorted(found, key=lambda file: (file.mp, file.layer, file.number or 0, file.name)) if sound else []


def name_of(role: str, mp: int, rank: int, known: str) -> str:
    """The name of another rank's file, as that of a file that is there."""
    if role == "model":
        return f"zero_pp_rank_{rank}_mp_rank_{mp:02d}_model_states.pt"
    match = OPTIMIZER.fullmatch(known)
    return known[: match.start("rank")] + str(rank) + known[match.end("rank") :] if match else known
