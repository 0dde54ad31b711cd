"""Where in an archive torch's records lie.

Knows: which folder of an archive holds data.pkl.
Refuses to know: what the records mean.

Facts: torch 2.13 caffe2/serialize/inline_container.cc (the folder of the first entry).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..containers.zip import Zip


def find_root(archive: Zip) -> str | None:
    """The folder (with its slash) that holds data.pkl: that of the first entry, as torch has it, else the only one; None for none."""
    first = next(iter(archive.members), "")
    root = first.partition("/")[0] + "/"
    if f"{root}data.pkl" in archive.members:
        return root
    homes = [name[:-8] for name in archive.members if name == "data.pkl" or name.endswith("/data.pkl")]
    homes = [home for home in homes if home.count("/") <= 1]
    return homes[0] if homes else None
