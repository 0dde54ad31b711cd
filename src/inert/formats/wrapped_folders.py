"""Which folders of a zip or tar archive hold a checkpoint of several files: TensorFlow's.

Knows: by which names and by what in them such files are known.
Refuses to know: what a checkpoint is made of (tf_places.py), and how one is opened there (wrapped.py, containers/archived.py).
"""

from __future__ import annotations

import re

from ..containers.sstable import is_table
from ..source import Window

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..source import Span
    from .wrapped import Archive

BUNDLE = re.compile(r"(.+?)(?:\.index|\.data-\d{5,10}-of-\d{5,10}|-\d{5,10}-of-\d{5,10})", re.S)  # what lies under TensorFlow's prefixes
STATE = re.compile(rb"(?:all_)?model_checkpoint_path")  # how its state file begins
FEW = 100  # members that are looked into for a checkpoint of several files
LITTER = re.compile(r"(?:^|/)(?:__MACOSX/|\._)|data\.pkl$")  # companions that macOS puts beside files; a part of a checkpoint


def stems(archive: Archive, home: str) -> list[str]:
    """What the names of a checkpoint's files in a folder of the archive begin with, each once."""
    lead = f"{home}/" if home else ""
    found = (BUNDLE.fullmatch(name[len(lead) :]) for name in archive.members if name.startswith(lead))
    return list(dict.fromkeys(match[1] for match in found if match is not None and "/" not in match[1]))


def folders(archive: Archive) -> dict[str, str]:
    """The folders in an archive that hold the files of TensorFlow's checkpoints, under what may stand behind a "!" to name them: for the
    files that lie in no folder, what their names begin with."""
    found: dict[str, str] = {}
    tried = 0
    for name in archive.members:
        home, _, base = name.rpartition("/")
        above, _, last = home.rpartition("/")
        if last == "variables" and f"{above}/saved_model.pb".lstrip("/") in archive.members:
            home = above
        if home in found or tried == FEW or not (base == "checkpoint" or BUNDLE.fullmatch(base)) or LITTER.search(name):
            continue
        tried += 1
        if base == "checkpoint":
            fits = bool(STATE.match(_head(archive.content(name))))
        else:
            fits = ".data-" in base or is_table(Window(archive.content(name), name))
        if fits:
            found[home] = home or next(iter(stems(archive, "")), base)
    return {label: home for home, label in found.items()}


def _head(span: Span) -> bytes:
    return span.source.read(span.offset, min(span.length, 64))
