"""torch-zip: what torch.save writes, byte for byte; and a file of it again with what was changed in it.

Knows: the records and their order, the archive's name, and which records of an edited file are taken over as they are.
Refuses to know: opcodes, zip headers, how bytes get to disk.

Facts: torch 2.13 torch/serialization.py (_save), caffe2/serialize/inline_container.cc (archive name).
"""

from __future__ import annotations

from ..containers.zipdirectory import DEFLATED
from ..containers.zipwrite import ID, ID_LENGTH, Archive, Record
from ..errors import UnsupportedError
from ..finding import Finding
from ..formats.torch_zip import FILLED, TorchZip
from ..pickle.encode import Encoder
from ..pickle.nodes import Reference
from ..pickle.roundtrip import style_of
from ..pickle.row import Row
from ..torch.arguments import text
from ..torch.changes import Changes
from ..torch.storing import Storing
from ..torch.unbuild import Unbuilder
from . import File, Plan
from .torch_pickle import pickled

TYPE_CHECKING = False
ALIGNMENT = 64  # of the records, in bytes, as torch has them
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..sink import Piece
    from ..torch.build import Builder
    from . import Options, Saved


def plan(saved: Saved, options: Options) -> Plan:
    content = saved.source.content if saved.source is not None else None
    if type(content) is TorchZip and content.built is not None and saved.root is content.built.get(content.built.document.root):
        return edited(content, content.built, saved, options)
    storing = Storing()
    data, notes = pickled(saved, options.protocol, storing)
    alignment = options.alignment or ALIGNMENT
    made = records(data, storing.pieces, alignment)
    if FILLED in saved.metadata:
        made.insert(-1, Record(f".data/{FILLED}", saved.metadata[FILLED].encode("utf-8", "surrogatepass")))
    archive = Archive(archive_name(options.name), made, alignment)
    return Plan([File("", archive.size, archive.write)], notes=notes)


def records(data: bytes, pieces: dict[str, Piece], alignment: int) -> list[Record]:
    """Everything that torch.save writes, in its order."""
    return [
        Record("data.pkl", data),
        Record(".format_version", b"1"),
        Record(".storage_alignment", str(alignment).encode()),
        Record("byteorder", b"little"),
        *(Record(f"data/{key}", piece) for key, piece in pieces.items()),
        Record("version", b"3\n"),
        Record(ID, bytes(ID_LENGTH)),
    ]


def archive_name(path: str) -> str:
    """The folder in the archive: the file's name up to its last dot; "archive" where that has letters beyond ASCII."""
    name = path.replace("\\", "/").rpartition("/")[2]
    stem = name.rpartition(".")[0] if "." in name else name
    if not stem:
        raise UnsupportedError(f"the name {name!r} leaves none for the archive's folder", hint="put something before the dot")
    return stem if path.isascii() else "archive"


# -- an edited file ---------------------------------------------------------------------------------------------------------------


def edited(content: TorchZip, builder: Builder, saved: Saved, options: Options) -> Plan:
    """The same file with another data.pkl: records that it still names keep their bytes, new storages stand behind the last old one."""
    changes, document = Changes(builder), builder.document
    style, same = style_of(document)
    notes = [Finding("class-plain", f"{name} is written as a plain container", document.name) for name in dict.fromkeys(changes.plain)]
    if not same:
        notes.append(Finding("pickle-reencoded", f"written as {style.name} would, protocol {style.protocol}", document.name))
    folder, members = content.folder, content.archive.members
    home = content.data.removeprefix(folder)
    keys = {name.removeprefix(content.data) for name in members if name.startswith(content.data)}
    keys |= keys_of(document._machine.made)  # a record that is missing must not be found in what is new
    storing = Storing(frozenset(keys), content.order)
    storing.know(builder.storages)
    spelling = saved.spelling
    unbuilder = Unbuilder(style.protocol, storing, saved.tensors, changes.nodes, spelling=spelling)
    swaps = {**spelling.swaps(document), **changes.swaps}
    encoder = Encoder(style, document, unbuilder, changes.edits, swaps, spelling.reference if spelling.device else None)
    data = encoder.encode(document.root)
    used = keys_of(encoder.references)
    made: list[Record] = []
    place = 1
    for member in sorted(members.values(), key=lambda member: member.offset):
        name = member.name.removeprefix(folder)
        if member.name == f"{folder}data.pkl":
            made.append(Record(name, data))
        elif member.name.startswith(content.data) and member.name.removeprefix(content.data) not in used:
            continue  # nothing views this storage any more
        elif not member.name.endswith("/"):
            made.append(Record(name, content.archive.content(member.name) if member.method == DEFLATED else content.archive.span(member)))
        if member.name.startswith(content.data) or name in ("data.pkl", "byteorder"):
            place = len(made)
    made[place:place] = [Record(f"{home}{key}", piece) for key, piece in storing.pieces.items()]
    archive = Archive(folder.rstrip("/"), made, alignment(content.metadata()))
    return Plan([File("", archive.size, archive.write)], notes=notes)


def alignment(metadata: Mapping[str, str]) -> int:
    """What a file's .storage_alignment says; PyTorch's own where that is nothing that storages can be aligned to."""
    said = metadata.get("storage_alignment", "")
    return int(said) if said.isascii() and said.isdecimal() and len(said) < 6 and 0 < int(said) < 1 << 16 else ALIGNMENT


def keys_of(nodes: Sequence[Any]) -> set[str]:
    """The keys of the storages that persistent ids among the nodes, and rows, name."""
    rows = (node.key for node in nodes if type(node) is Row)
    said = (text(node.pid[2]) for node in nodes if type(node) is Reference and named(node.pid))
    return {key for key in (*rows, *said) if type(key) is str}


def named(pid: object) -> bool:
    return type(pid) is tuple and len(pid) >= 5 and text(pid[0]) == "storage"
