"""What else may hold pickles or code: tar archives, NumPy's files, safetensors, Keras and TensorFlow, source text.

Knows: which parts of these are pickles (members of a tar archive, the streams of torch's tar layout, arrays of objects), which rules
safetensors has, by which words TensorFlow graphs say that they run more than arithmetic; where configurations are (hooks.py reads them).
Refuses to know: HDF5 and protocol buffers as such; words are looked for in their bytes.

Facts: NumPy 2.4 numpy/lib/_format_impl.py; torch 2.13 torch/serialization.py (legacy_load);
TensorFlow 2.21 tensorflow/core/ops (script_ops.cc, io_ops.cc).
"""

from __future__ import annotations

import re

from ...containers.tar import Tar
from ...errors import InertError
from ...source import Window
from ...torch.arguments import Odd
from . import hooks, streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...source import Source
    from ...torch.npy import Header
    from .look import Look

BEGIN = re.compile(rb".{8}(?:\xef\xbb\xbf)?[ \t\n\r]{0,40}\{", re.DOTALL)  # of a safetensors file: the length of its header, and that
NUMPY = b"\x93NUMPY"
ARRAY = 4096  # bytes of work that an array in a row of them counts at least
SEARCHED = 64 << 20  # bytes of a graph or a Keras file that are searched for words
CONFIGURATION = 4 << 20  # bytes of the text of a configuration
YAML = re.compile(r"\.ya?ml$", re.IGNORECASE)
# operations of a graph that reach out of it → what they do
OPS = {
    b"PyFunc": "calls a Python function of the program that runs the graph", b"PyFuncStateless": "calls a Python function",
    b"EagerPyFunc": "calls a Python function of the program that runs the graph", b"ReadFile": "reads files", b"WriteFile": "writes files",
    b"MatchingFiles": "lists files", b"LoadDataset": "reads data sets from disk, which may name functions",
    b"DebugIdentityV3": "sends values to a URL",
}  # fmt: skip
OP = re.compile(rb"[\x12\x1a].(" + b"|".join(sorted(OPS, reverse=True)) + rb")(?![A-Za-z0-9_])", re.DOTALL)
PYTHON = re.compile(rb"(?:#!.*python|\s*(?:#.*\n|\"\"\"|from [\w.]+ import |import \w|def \w+\(|class \w+[(:]))")
GRAPH = re.compile(rb"\x08[\x00\x01]\x12|\x0a.{1,3}\x0a", re.DOTALL)  # saved_model_schema_version; a node's name


def look(look: Look, source: Source, head: bytes, part: str) -> bool:
    """Whether these bytes are of one of these kinds and nothing else can be in them; what is to be said of it is said."""
    if head.startswith(NUMPY):
        _npy(look, source, part)
    elif BEGIN.match(head) and _safetensors(look, source, part):
        pass
    elif b"\x89HDF\r\n\x1a\n" in head:
        look.kind = look.kind or "hdf5"
        hooks.keras(look, source.read(0, min(SEARCHED, source.size)), part or source.name)
        return False
    elif head[4:8] == b"PTMF":
        look.kind = look.kind or "torchscript"
        look.note("script-code", "compiled TorchScript in a flatbuffer", part or source.name)
        hooks.script(look, source.read(0, min(SEARCHED, source.size)), part or source.name)
        return False
    elif head.startswith(b"{") and source.size <= SEARCHED:
        data = source.read(0, source.size)
        if b'"class_name"' in data:
            hooks.keras(look, data, part or source.name)
        return False
    elif YAML.search(part or source.name) and source.size <= CONFIGURATION:
        hooks.texts(look, source.read(0, source.size), part or source.name)
        return False
    elif GRAPH.match(head) and _graph(look, source, part):
        look.kind = look.kind or "tf-graph"
        return False
    elif (part or source.name).endswith(".py") and PYTHON.match(head):
        look.kind = look.kind or "python"
        look.note("source-file", "a file of Python source", part or source.name)
    else:
        return False
    return True


def _npy(look: Look, source: Source, part: str) -> None:
    """Arrays one behind another. A pickle stands behind the header of one that may hold objects; what is plain ends where its shape says,
    and whatever follows is looked at."""
    from ...torch.npy import Header

    look.kind = look.kind or "npy"
    at = 0
    while at < source.size:
        name = part if not at else f"{part or source.name}[{at}:]"
        inner = Window(source.span(at, source.size - at), name or source.name) if at else source
        try:
            header = Header(inner)
        except (Odd, InertError) as error:
            look.note("scan-unread", f"a NumPy array whose header cannot be read: {error}", name or source.name, at)
            streams.hunt(look, inner.span(), name, at)
            return
        if header.objects:
            _objects(look, inner, header, name)
            return
        end = header.start + header.nbytes
        if end > inner.size:  # whoever wrote such a header has no array in mind
            streams.hunt(look, inner.span(header.start, inner.size - header.start), name, at + header.start)
            return
        at += end
        if source.size - at and source.read(at, min(6, source.size - at)) != NUMPY:
            streams.hunt(look, source.span(at, source.size - at), name, at)
            return
        if not look.spend(end - header.nbytes + ARRAY, part):
            return


def _objects(look: Look, source: Source, header: Header, part: str) -> None:
    span = source.span(header.start, source.size - header.start)
    if not streams.read(look, span, f"{part}: objects" if part else "objects", True):
        look.note("scan-unread", "an array of objects without the pickle that holds them", part or source.name, header.start)


def _safetensors(look: Look, source: Source, part: str) -> bool:
    """Data by its nature; what breaks its rules is told."""
    from ...formats import safetensors

    length = safetensors.claims(source, look.limits)
    if length is None:
        return False
    look.kind = look.kind or "safetensors"
    try:
        content = safetensors.read(source, look.limits, length, None)
        look.names.take(content.notes())
        for offset, size in content.uncovered():
            name = f"{part}: bytes that no tensor covers" if part else "bytes that no tensor covers"
            streams.hunt(look, source.span(offset, size), name, offset)
    except InertError as error:
        look.unread(error, part or source.name)
    return True


def _graph(look: Look, source: Source, part: str) -> bool:
    """A TensorFlow graph or SavedModel: operations that do more than arithmetic."""
    data = source.read(0, min(SEARCHED, source.size))
    if b"\x0a" not in data or not any(word in data for word in (b"Const", b"Placeholder", b"NoOp", b"VarHandleOp")):
        return False
    for name, does in OPS.items():
        at = next((found.start() for found in OP.finditer(data) if found[1] == name), -1)
        if at >= 0:
            look.note("tf-op", f"the graph's operation {name.decode()} {does}", part or source.name, at)
    hooks.keras(look, data, part or source.name)
    return True


def tar(look: Look, source: Source, part: str, depth: int) -> None:
    """Every member, and the streams of torch's layout before 0.1.10."""
    try:
        archive = Tar(source, look.limits)
    except InertError as error:
        look.unread(error, part or source.name)
        return
    look.names.take(archive.notes)
    names = archive.members.keys()
    torch = {"storages", "tensors", "pickle"} <= names
    look.kind = look.kind or ("torch-tar" if torch else "tar")
    for member in (*archive.shadowed, *archive.members.values()):
        name, hidden = member.name, archive.members[member.name] is not member
        if member.refused and not member.refused.startswith("under a"):
            continue
        where = f"{part}!{name}" if part else name
        room = source.size - member.offset
        if room <= 0 or not member.size:
            continue
        if member.size > room:
            look.note("tar-cut", f"its {member.size:,} bytes end beyond the file", where, member.offset)
        span = source.span(member.offset, min(member.size, room))
        if torch and name in ("storages", "tensors") and not hidden:
            continue
        look.inner(span, f"{where} (hidden by a later one of its name)" if hidden else where, depth, name in ("pickle", "sys_info"))
        if torch and name == "pickle" and depth == 0:
            look.main.clear()
    if torch:
        _streams(look, archive, part)
    _behind(look, source, archive, part)


def _streams(look: Look, archive: Tar, part: str) -> None:
    """The pickles between the raw numbers of storages and tensors, and whatever stands behind the last."""
    from ...torch.tar import Objects

    try:
        spans = (archive.content("storages", cut=True), archive.content("tensors", cut=True))
        objects = Objects(*spans, look.limits)
    except InertError as error:
        look.unread(error, part or archive.source.name)
        return
    for name, document in objects.documents.items():
        look.document(document, f"{part}!{name}" if part else name)
    for note in objects.notes:
        look.note("scan-unread", note.message, note.where.part, note.where.offset)
    for name, span in zip(("storages", "tensors"), spans, strict=True):
        if objects.notes:  # a stream that was not read to its end: what looks like a pickle in it is one
            streams.hunt(look, span, f"{part}!{name}" if part else name)


def _behind(look: Look, source: Source, archive: Tar, part: str) -> None:
    """What follows the archive's last member."""
    end = max((member.offset + member.size for member in archive.members.values()), default=0)
    if source.size - end > 512 and source.read(end, min(1 << 20, source.size - end)).strip(b"\0"):
        streams.hunt(look, source.span(end, source.size - end), part or source.name, end)
