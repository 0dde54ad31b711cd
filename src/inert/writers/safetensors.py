"""safetensors: what the library's save_file writes, byte for byte.

Knows: the header, the order in which tensors lie, the spelling of element types, and what the format has no place for.
Refuses to know: how tensors are found in an object (flat.py).

Facts: safetensors 0.8.0 (tensor.rs: prepare, Dtype; bindings/python torch.py: save_file, save_model). Tensors lie in the order of their
types, those of the largest alignment first, then by name. The library writes metadata in an order of chance; here it is sorted.
"""

from __future__ import annotations

import json

from ..errors import LimitError, UnsupportedError
from ..finding import Finding
from ..formats.safetensors import HEADER, METADATA, SPELLING
from ..layout import items_of
from ..sink import length_of
from . import File, Plan, left_out, recast
from .flat import Flat, elements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..sink import Out, Piece
    from ..tensor import Tensor
    from . import Options, Saved

# The library's types in the order in which their tensors lie
ORDER = (
    "U64", "I64", "F64", "C64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16", "F8_E5M2FNUZ", "F8_E4M3FNUZ", "F8_E8M0", "F8_E4M3",
    "F8_E5M2", "I8", "U8", "F6_E3M2", "F6_E2M3", "F4", "BOOL",
)  # fmt: skip
SPELLED = {name: spelling for spelling, name in SPELLING.items()} | {"float4_e2m1fn_x2": "F4"}
_RANK = {spelling: rank for rank, spelling in enumerate(ORDER)}
NEAR = HEADER * 9 // 10  # bytes of a header that is worth a warning
CASTS = {"complex128": "complex64", "complex32": "complex64", "bcomplex32": "complex64", "float8_e4m3b11fnuz": "bfloat16"}


def plan(saved: Saved, options: Options) -> Plan:
    flat = Flat(saved, options)
    file, notes = lay(flat.tensors, metadata(saved, flat, options))
    beside = flat.sidecar(options.name.replace("\\", "/").rpartition("/")[2]) if options.leaves == "sidecar" else []
    return Plan([*beside, file], flat.lost, [*flat.notes, *notes])


def metadata(saved: Saved, flat: Flat, options: Options) -> dict[str, str]:
    """The metadata of a file that stands alone: the texts that are to be kept, aliases, and values as JSON where that is wanted."""
    said = texts(saved)
    if saved.source is None or saved.source.format != "safetensors":
        said.setdefault("format", "pt")
    name_aliases(said, flat)
    if options.leaves == "metadata":
        for name, value in flat.kept.items():
            if name in said:
                flat.lost.append((name, "the metadata has a text of this name already"))
            else:
                said[name] = json.dumps(value)
    return said


def texts(saved: Saved) -> dict[str, str]:
    """The metadata that is to be kept: the source's, and what is given on top. What another format says of its own container (byteorder,
    version …) is none of it."""
    source = saved.source
    held = source.metadata if source is not None and source.format in ("safetensors", "sharded") else {}
    known = source.content.aliases(source.tensors) if source is not None else {}  # these are tensors again, if they are still there
    return {key: text for key, text in held.items() if key not in ("wrapper", "total_size") and key not in known} | saved.metadata


def name_aliases(said: dict[str, str], flat: Flat) -> None:
    for name, kept in flat.aliases.items():
        if said.setdefault(name, kept) != kept:
            flat.lost.append((name, f"it is equal to {kept}, and the metadata has another text of its name already"))


def lay(tensors: Mapping[str, Tensor], said: Mapping[str, str], name: str = "") -> tuple[File, list[Finding]]:
    """The File that holds these tensors. UnsupportedError for the first that the format cannot hold."""
    rows = []
    for key, tensor in tensors.items():
        spelling = spelled(key, tensor)
        rows.append((_RANK[spelling], key, spelling, shape_of(tensor), elements(key, tensor)))
    rows.sort(key=lambda row: row[:2])
    entries = [f'"{METADATA}":{_json(dict(sorted(said.items(), key=lambda item: (item[0] != "format", item[0]))))}'] if said else []
    pieces: list[Piece] = []
    at = 0
    for _, key, spelling, shape, piece in rows:
        end = at + length_of(piece)
        entries.append(f'{_json(key)}:{{"dtype":"{spelling}","shape":[{",".join(map(str, shape))}],"data_offsets":[{at},{end}]}}')
        pieces.append(piece)
        at = end
    head = _encoded(f"{{{','.join(entries)}}}")
    head += b" " * (-len(head) % 8)
    if len(head) > HEADER:
        hint = "write shards, or shorter names"
        raise LimitError(f"the header would take {len(head):,} bytes; the safetensors library reads {HEADER:,}", part=name, hint=hint)
    notes = [Finding("header-large", f"the header takes {len(head):,} bytes", name)] if len(head) > NEAR else []

    def write(out: Out) -> None:
        out.write(len(head).to_bytes(8, "little") + head)
        for piece in pieces:
            out.pour(piece)

    return File(name, 8 + len(head) + at, write), notes


def spelled(name: str, tensor: Tensor) -> str:
    """What the format calls the tensor's element type."""
    if name == METADATA:
        raise UnsupportedError("the format keeps this name for its metadata", part=name, hint="rename the tensor")
    found = SPELLED.get(tensor.dtype)
    if found is None or tensor.dtype.padded or tensor.kind not in ("dense", "numpy", "tiled"):
        elements(name, tensor)  # says what is wrong with its kind
        to = CASTS.get(tensor.dtype)
        hint = recast(name, tensor.dtype, to) if to else f"{left_out(name)}, or write another format"
        raise UnsupportedError(f"safetensors has no {tensor.dtype}", part=name, hint=hint)
    return found


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """The shape as the format counts it: values, also where torch counts pairs of them."""
    shape, dtype = tensor.shape, tensor.dtype
    if not dtype.counts_items:
        bits = items_of(dtype, shape) * dtype.itemsize * 8
        if dtype.packed > 1 and bits != tensor.size * dtype.bits:
            raise UnsupportedError(
                f"{tensor.size:,} values of {dtype} are no whole number of bytes", part=tensor.name, hint=left_out(tensor.name)
            )
        return shape
    return (*shape[:-1], shape[-1] * dtype.packed) if shape else (dtype.packed,)


def _json(value: str | dict[str, str]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _encoded(header: str) -> bytes:
    try:
        return header.encode()
    except UnicodeEncodeError as error:
        text = header[max(error.start - 20, 0) : error.start + 1]
        raise UnsupportedError("a name or text with half a surrogate pair, which UTF-8 cannot hold", part=text, hint="rename it") from None
