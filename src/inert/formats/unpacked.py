"""pickle: an archive of torch.save or torch.jit.save that somebody has unpacked, by its folder or by the data.pkl in it.

Knows: by what such a folder is told from any other with a data.pkl in it; its records are read as those of the archive are.
Refuses to know: folders of which only the name says so; packages and exported programs, whose pickles lie deeper; and more than one level
of folder around it, with nothing else inside.

Facts: torch 2.13 torch/serialization.py (_save, _load), caffe2/serialize/inline_container.cc (records), torch 1.0 to 1.3 model.json.
"""

from __future__ import annotations

import os
import re

from ..containers.folder import Folder, around
from ..containers.unpacked import Unpacked, only_folder
from ..finding import Finding
from ..torch.arguments import text
from ..words import counted
from .torch_zip import OTHERS, TorchZip
from .torchscript import TorchScript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..containers.zipdirectory import Member
    from ..content import Part
    from ..limits import Limits
    from ..source import Source

HEAD = 1 << 20  # bytes of data.pkl in which a torch storage is looked for, where no other record tells
MARKS = {  # records that torch writes, and what is in them
    "byteorder": rb"(?:little|big)\Z",
    "version": rb"\d{1,3}\s*\Z",
    ".data/version": rb"\d{1,3}\s*\Z",
    ".format_version": rb"\d{1,3}\s*\Z",
}
SCRIPT = ("constants.pkl", "bytecode.pkl")
MODEL = b'"protoVersion"'  # model.json begins with it
FOREIGN = tuple(name for name in OTHERS if name not in SCRIPT)
FOLDERS = frozenset(
    ("data", "tensors", ".data", "code", "constants", "extra", "traced_inputs", "debug", "libs", "attributes"),
)  # of an archive: other folders beside a data.pkl that was opened by its name are none of it


class Claim:
    """The folder, whether it is a script module's, and which of its folders belong to it (None: all)."""

    __slots__ = ("folder", "only", "script")

    def __init__(self, folder: Folder, script: bool, only: frozenset[str] | None) -> None:
        self.folder = folder
        self.script = script
        self.only = only


def claims(source: Source, limits: Limits) -> Claim | None:
    """A folder with the records of an archive, the folder around it, or data.pkl in it."""
    if isinstance(source, Folder):
        kind = _kind(source.path)
        if not kind:
            inner = only_folder(source)
            kind = _kind(os.path.join(source.path, inner)) if inner else ""
            source = Folder(os.path.join(source.path, inner), source.name) if kind else source
        return Claim(source, kind == "script", None) if kind else None
    if os.path.basename(source.name) != "data.pkl":
        return None
    folder = around(source)
    kind = _kind(folder.path) if folder is not None else ""
    return Claim(folder, kind == "script", FOLDERS) if folder is not None and kind else None


def _kind(home: str) -> str:
    """ "script", "save", or "" for a folder that is neither."""
    if any(os.path.exists(os.path.join(home, name)) for name in FOREIGN):
        return ""
    marked = any(re.match(pattern, _head(home, name, 8)) for name, pattern in MARKS.items())
    pickled = _head(home, "data.pkl", 2)[:1] == b"\x80"
    if pickled and any(_head(home, name, 2)[:1] == b"\x80" for name in SCRIPT):
        return "script"
    if marked and MODEL in _head(home, "model.json", 4096):
        return "script"
    return "save" if pickled and (marked or _stored(home)) else ""


def _stored(home: str) -> bool:
    """Whether data.pkl names torch's storages and there is a folder for them."""
    if not any(os.path.isdir(os.path.join(home, name)) for name in ("data", "tensors")):
        return False
    head = _head(home, "data.pkl", HEAD)
    return b"storage" in head and re.search(rb"torch[^ -~]{1,4}\w*Storage", head) is not None


def _head(home: str, name: str, most: int) -> bytes:
    """The first bytes of a record; b"" where it is no plain file of the folder."""
    path = os.path.join(home, name)
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return b""
    with open(path, "rb", buffering=0) as file:
        return file.read(most)


def read(source: Source, limits: Limits, claim: Claim, byteorder: str | None) -> TorchZip:
    made = UnpackedScript if claim.script else UnpackedSave
    try:
        return made(claim.folder, limits, Unpacked(claim.folder, limits, claim.only), "", byteorder)
    except BaseException:
        claim.folder.close()
        raise


class _Records(TorchZip):
    """What differs where the records are files."""

    format = "pickle"
    archive: Unpacked

    def _early(self) -> None:
        names = self.archive.members
        if not any(name.startswith("data/") for name in names) and any(name.startswith("tensors/") for name in names):
            self.data = "tensors/"  # PyTorch 1.4
        self.order = self._order()
        self._version()

    def _told(self) -> Iterator[Finding]:
        """Where the bytes of the storages are."""
        document = self.pickles().get("data.pkl")
        pids = [reference.pid for reference in document.references] if document else []
        said = [pid[2] for pid in pids if type(pid) is tuple and len(pid) > 4 and text(pid[0]) == "storage"]
        keys = dict.fromkeys(key for key in map(text, said) if type(key) is str)
        missing = [key for key in keys if self.archive.members.size(self.data + key) is None]
        if missing:
            count = f"{len(missing):,} of {len(keys):,}"
            yield Finding("data-missing", f"the data of {count} storages is not here, such as {self.data}{missing[0][:40]}", "data.pkl")
        if len(missing) < len(keys):
            yield Finding("data-beside", counted(len(keys) - len(missing), "storage"), "data.pkl")

    def _part(self, name: str, member: Member) -> Part:
        part = super()._part(name, member)
        part.file, part.crc32 = self.archive.path(name), None
        return part

    def checks(self) -> tuple[Any, ...]:
        from .zip_checks import UNPACKED

        return UNPACKED

    def metadata(self) -> dict[str, str]:
        return {**super().metadata(), "root": os.path.basename(os.path.abspath(self.archive.folder.path))}

    def notes(self) -> list[Finding]:
        return [Finding("archive-unpacked", counted(len(self.archive.members), "file"), self.source.name), *super().notes(), *self._told()]


class UnpackedSave(_Records):
    pass


class UnpackedScript(_Records, TorchScript):
    pass
