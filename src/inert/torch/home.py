"""Where in an archive torch's records lie.

Knows: which folder of an archive holds data.pkl, and that torch takes no notice of the case of names.
Refuses to know: what the records mean.

Facts: torch 2.13 caffe2/serialize/inline_container.cc (the folder of the first entry), third_party/miniz (names are compared with ASCII
letters folded).
"""

from __future__ import annotations

from itertools import islice

from ..finding import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..containers.zip import Zip

RECORDS = ("data.pkl", "version", ".data/version", "byteorder", ".storage_alignment", ".format_version", ".data/serialization_id")
DATA = "data/"


def find_root(archive: Zip) -> str | None:
    """The folder (with its slash) that holds data.pkl: that of the first entry, as torch has it, else the only one; None for none.

    Records whose names differ from torch's by case alone are called by torch's in the directory from then on, with a note."""
    first = next(iter(archive.members), "")
    root = first.partition("/")[0] + "/"
    _respell(archive, root)
    if f"{root}data.pkl" in archive.members:
        return root
    homes = [name[:-8] for name in archive.members if name == "data.pkl" or name.endswith("/data.pkl")]
    homes = [home for home in homes if home.count("/") <= 1]
    return homes[0] if homes else None


def _respell(archive: Zip, root: str) -> None:
    """Of two that would get one name, the first gets it."""
    members, kept, size = archive.members, (f"{root}{DATA}", f"{root}code/"), len(root)
    names: dict[str, str] = {}  # torch's → those in the directory
    for name in members:
        if name.startswith(kept) or not name.startswith(root):
            continue
        inner = name[size:]
        folded = fold(inner)
        wanted = root + (folded if folded in RECORDS else DATA + inner[len(DATA) :] if folded.startswith(DATA) else inner)
        if wanted != name and wanted not in members and wanted not in names:
            names[wanted] = name
    if names:
        for new, old in islice(names.items(), 100):
            archive.notes.append(Finding("zip-case", f"torch takes it for {new!r:.160}", old, members[old].offset))
        archive.rename({old: new for new, old in names.items()})


def fold(name: str) -> str:
    """As miniz folds case: ASCII letters only."""
    return name.lower() if name.isascii() else "".join(letter.lower() if letter.isascii() else letter for letter in name)
