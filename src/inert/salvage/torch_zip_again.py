"""The records of a damaged archive again, each with its bytes, in a layout that is right in every field.

Knows: which small records torch asks for; that nothing is made anew where a record that counts is not whole.
Refuses to know: how records were found, and how tensors are written.
"""

from __future__ import annotations

from urllib.parse import quote_from_bytes

from ..containers.folder import unsafe
from ..containers.zipwrite import ID, ID_LENGTH, Archive, Record
from ..errors import InertError
from ..formats.torch_zip import VERSIONS, TorchZip
from ..formats.torchscript import FOLDERS
from ..torch.legacy import declared
from ..words import is_text
from ..writers import File, Plan
from ..writers.torch_zip import alignment, archive_name
from .torch_zip import SalvagedScript, SalvagedZip

NEEDED = ("data.pkl", "byteorder", "version", ".data/version", "constants.pkl", ID)  # records that torch asks for by name
TRACED = "traced_inputs.pkl"  # what a program was traced with: it runs without
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..writers import Options


def records_again(content: SalvagedZip | SalvagedScript, options: Options) -> Plan | None:
    """The archive's records again, each with its bytes, in a layout that is right in every field; None where one of those that count is not
    whole."""
    archive, folder = content.archive, content.folder
    document = content.main_document()
    if document.fault is not None or (isinstance(content, SalvagedScript) and content.program()):
        return None
    torn = {name.removeprefix(folder) for name, one in content.pickles().items() if one.fault is not None}
    if torn - {TRACED}:
        return None
    sizes = _sizes(content)
    records: list[Record] = []
    needed = {name.lower() for name in (*sizes, *(folder + one for one in NEEDED))}
    exact = {*sizes, *(folder + one for one in NEEDED)}
    for member in sorted(archive.members.values(), key=lambda one: one.offset):
        name = member.name.removeprefix(folder)
        if not member.name.startswith(folder) or name.endswith("/") or name in ("", ID):
            continue
        if member.name.lower() in needed and member.name not in exact:
            continue  # torch looks records up without regard to case
        if name in torn or any(name.startswith(FOLDERS[one]) for one in torn):
            continue
        span = archive.content(member.name)
        if member.name in archive.cut and member.name not in sizes and member.name != document.name:
            continue  # of one that no tensor uses
        if member.name in sizes:
            if span.length < sizes[member.name]:
                return None
            span = span.sub(0, sizes[member.name])
        name = name if member.name in exact else spelled(name)
        while name in {record.name for record in records} if name != member.name.removeprefix(folder) else False:
            name += "~"
        records.append(Record(name, document.data[: document.end] if member.name == document.name else span))
    if any(name not in archive.members for name, size in sizes.items() if size):
        return None  # what no tensor names is missing
    records += [Record(name.removeprefix(folder), b"") for name in sizes if name not in archive.members]
    _settings(content, records)
    records.append(Record(ID, bytes(ID_LENGTH)))
    home = folder.rstrip("/")
    plan = Archive(archive_name(options.name) if unsafe(home) else home, records, alignment(content.metadata()))
    return Plan([File("", plan.size, plan.write)])


def spelled(name: str) -> str:
    """The name of a record that nobody asks for, where torch can make no text of it, or where it leads elsewhere, with %XX."""
    if is_text(name) and not unsafe(name):
        return name
    steps = [quote_from_bytes(step.encode("utf-8", "surrogateescape"), "") for step in name.split("/") if step]
    return "/".join(step.replace(".", "%2E") if step in (".", "..") else step for step in steps) or "%00"


def _sizes(content: SalvagedZip | SalvagedScript) -> dict[str, int]:
    """The size that the pickle declares, by the record of each storage."""
    found = {}
    for name, document in content.pickles().items():
        inner = name.removeprefix(content.folder)
        home = FOLDERS.get(inner, "") if isinstance(content, SalvagedScript) else "data/"
        home = content.data.removeprefix(content.folder) if home == "data/" else home
        if home and inner != TRACED:
            for key, words in declared(document).items():
                dtype, count = next(iter(words))
                if count >= 0:
                    found[f"{content.folder}{home}{key}"] = dtype.itemsize * count
    return found


def _settings(content: TorchZip, records: list[Record]) -> None:
    """The small records that torch asks for, where they are missing or say what it refuses."""
    at = {record.name: number for number, record in enumerate(records)}
    order = Record("byteorder", content.order.encode())
    if "byteorder" not in at:
        records.append(order)
    elif _text(records[at["byteorder"]]) not in ("little", "big"):
        records[at["byteorder"]] = order
    if ".storage_alignment" in at:
        records[at[".storage_alignment"]] = Record(".storage_alignment", str(alignment(content.metadata())).encode())
    name = ".data/version" if ".data/version" in at else "version"
    said = _text(records[at[name]]).strip() if name in at else ""
    version = Record(name, b"3\n")
    if name not in at:
        records.append(version)
    elif not said.isdigit() or len(said) > 3 or int(said) not in VERSIONS:
        records[at[name]] = version


def _text(record: Record) -> str:
    piece = record.piece
    try:
        data = piece if isinstance(piece, bytes) else piece.read(0, min(piece.length, 64))  # type: ignore[union-attr]
    except InertError:
        return ""
    return data.decode("utf-8", "replace")
