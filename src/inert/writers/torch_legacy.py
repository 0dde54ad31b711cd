"""torch-legacy: what torch.save writes with _use_new_zipfile_serialization=False, byte for byte but for the storages' keys.

Knows: the five pickles, and how storages follow them. Torch's keys are addresses in its own memory; here they are numbers of as many digits
(as addresses on 64-bit Linux have), counted up, so that storages lie in the order in which the object meets them.
Refuses to know: opcodes, and how bytes get to disk.

Facts: torch 2.13 torch/serialization.py (_legacy_save, normalize_storage_type), torch/csrc/serialization.cpp (THPStorage_writeFileRaw).
"""

from __future__ import annotations

from ..finding import Finding
from ..formats.torch_zip import FILLED
from ..pickle.encode import Encoder
from ..pickle.style import fresh
from ..sink import length_of
from ..torch.legacy import MAGIC, PROTOCOL
from ..torch.storing import Storing
from ..torch.unbuild import Unbuilder
from . import File, Plan
from .torch_pickle import pickled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..sink import Out
    from . import Options, Saved

FIRST = 10**13  # the first key
SYSTEM = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
VIEW = (None,)  # the sixth part of a persistent id, the view that it is of its storage, has been none since PyTorch 0.2


def plan(saved: Saved, options: Options) -> Plan:
    storing = Storing(first=FIRST, anew=True, tail=VIEW)
    data, notes = pickled(saved, options.protocol, storing)
    told = {key: text for key, text in saved.metadata.items() if key == FILLED}  # torch looks at nothing there
    parts = [plainly(MAGIC, options), plainly(PROTOCOL, options), plainly(SYSTEM | told, options), data]
    keys = sorted(storing.pieces)
    head = b"".join([*parts, plainly(keys, options)])

    def write(out: Out) -> None:
        out.write(head)
        for key in keys:
            out.write(storing.counts[key].to_bytes(8, "little"))
            out.pour(storing.pieces[key])

    size = len(head) + sum(8 + length_of(storing.pieces[key]) for key in keys)
    text = f"{storing.untyped:,} tensors are of types that this format has no storage for"
    return Plan([File("", size, write)], [], [*notes, Finding("legacy-untyped", text)] if storing.untyped else notes)


def plainly(value: Any, options: Options) -> bytes:
    """The pickle of one of the small values around the object."""
    return Encoder(fresh(options.protocol), None, Unbuilder(options.protocol, Storing(), {})).encode(value)
