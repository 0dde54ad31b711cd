"""What can be checked of PyTorch's archives, beside what reading one notes already: one function for each check.

Knows: what PyTorch promises of its records (alignment, names of storages, where the root is), and which tensors a record belongs to.
Refuses to know: the fields of a ZIP archive (containers/zipentries.py, zipcheck.py), and what a pickle means.

Facts: PyTorch 2.13 torch/serialization.py (_save, _load: mmap, calculate_storage_offsets), caffe2/serialize/inline_container.cc.
"""

from __future__ import annotations

from ..containers import zipcheck, zipentries
from ..errors import InertError
from ..finding import Finding
from ..words import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ..checking import Inspector

FORBIDDEN = ("/", "\\", "\0", "..")  # in a storage's key, which names a record


def container(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """The archive itself: every byte of it that a checksum or another field vouches for."""
    archive = content.archive
    found = zipentries.rows(archive)
    yield from zipentries.entries(archive, found, inspector)
    yield from zipentries.ends(archive, found, inspector)
    yield from zipcheck.records(archive, found, inspector, lambda name: inspector.hit(content.storage_key(name)))


def root_name(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """The folder of the records has a name, and one that leads nowhere."""
    name = content.folder.rstrip("/")
    if content.folder and name in ("", ".", ".."):
        yield Finding("zip-name", f"the folder of its records is called {name!r}", content.source.name)


def keys(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Keys of storages are plain names: a record outside of their folder is none."""
    try:
        documents = list(content.pickles().values())
    except InertError:
        return  # said already
    from .torch_zip import storage_keys

    for document in documents:
        odd = sorted(key for key in storage_keys(document) if type(key) is str and (not key or any(text in key for text in FORBIDDEN)))
        if odd:
            text = f"{counted(len(odd), 'storage', 'have')} a key that is no plain name, such as {odd[0][:80]!r}"
            yield Finding("storage-key", text, document.name)


def alignment(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Storages lie at multiples of what .storage_alignment says, where it says something."""
    said = content.metadata().get("storage_alignment", "")
    if not said or any(note.code == "alignment-bad" for note in content.notes()):
        return
    if not (said.isascii() and said.isdecimal()) or len(said) > 9 or not int(said):
        yield Finding("zip-alignment", f".storage_alignment is {said[:20]!r}", f"{content.folder}.storage_alignment")
        return
    step, lost, total = int(said), [], 0
    for name, part in content.parts().items():
        if part.role == "storage" and part.size:
            total += 1
            if part.offset is not None and part.offset % step:
                lost.append(name)
    if lost:
        text = f"{len(lost):,} of {total:,} storages do not lie at multiples of {step:,}, as .storage_alignment says"
        yield Finding("zip-alignment", text, lost[0], None, inspector.hit(*map(content.storage_key, lost)))


def deflated(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Storages that are compressed, which PyTorch never does."""
    members = content.archive.members
    packed = [name for name, part in content.parts().items() if part.role == "storage" and part.compressed is not None and name in members]
    if packed:
        text = f"{len(packed):,} of its storages are compressed"
        yield Finding("storage-deflated", text, packed[0], None, inspector.hit(*map(content.storage_key, packed)))


def unpacked(content: Any, inspector: Inspector) -> Iterator[Finding]:
    """Of records that are files: there is nothing to hold their bytes against."""
    for name, member in content.archive.members.items():
        inspector.note("a file of its own, without a checksum", content.archive.path(name), name, [(0, member.size)])
    inspector.read(0, len(content.archive.members))
    return
    yield


CHECKS = (container, root_name, keys, alignment, deflated)
UNPACKED = (unpacked, keys)
