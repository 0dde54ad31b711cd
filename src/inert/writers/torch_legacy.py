"""torch-legacy: what torch.save writes with _use_new_zipfile_serialization=False, byte for byte but for the storages' keys.

Knows: the five pickles, and how storages follow them. Torch's keys are addresses in its own memory; here they are numbers of as many digits
(as addresses on 64-bit Linux have), counted up, so that storages lie in the order in which the object meets them.
Refuses to know: opcodes, and how bytes get to disk.

Facts: torch 2.13 torch/serialization.py (_legacy_save, normalize_storage_type), torch/csrc/serialization.cpp (THPStorage_writeFileRaw).
"""

from __future__ import annotations

from ..errors import UnsupportedError
from ..finding import Finding
from ..pickle.encode import Encoder
from ..pickle.nodes import Reference
from ..pickle.style import fresh
from ..sink import length_of
from ..torch.legacy import MAGIC, PROTOCOL
from ..torch.storages import CLASS_OF
from ..torch.unbuild import Storing, Unbuilder
from . import File, Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..layout import Layout
    from ..sink import Out
    from . import Options, Saved

FIRST = 10**13  # the first key
SYSTEM = {"protocol_version": PROTOCOL, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}


class Keyed(Storing):
    """Storages under this format's keys, with the number of their items, which stands before each."""

    def __init__(self) -> None:
        super().__init__()
        self.next = FIRST
        self.counts: dict[str, int] = {}


class LegacyUnbuilder(Unbuilder):
    """References have a sixth part, the view that they are of their storage, which has been none since PyTorch 0.2."""

    storing: Keyed
    untyped = 0

    def function(self, node: Any) -> Any:
        return node

    def reference(self, layout: Layout) -> Reference:
        if layout.device == "meta":
            raise UnsupportedError("a storage on the meta device, which this format cannot hold", hint="write torch-zip, or leave it out")
        word, kind, key, location, count = super().reference(layout).pid
        self.storing.counts.setdefault(key, count)
        self.untyped += layout.dtype not in CLASS_OF
        return Reference((word, kind, "".join((key[:1], key[1:])), location, count, None), 0)  # torch makes the key's text anew each time


def plan(saved: Saved, options: Options) -> Plan:
    storing = Keyed()
    unbuilder = LegacyUnbuilder(options.protocol, storing, saved.tensors)

    def pickled(value: Any) -> bytes:
        return Encoder(fresh(options.protocol), None, unbuilder).encode(value)

    parts = [pickled(MAGIC), pickled(PROTOCOL), pickled(SYSTEM), pickled(saved.root)]
    keys = sorted(storing.pieces)
    head = b"".join([*parts, pickled(keys)])

    def write(out: Out) -> None:
        out.write(head)
        for key in keys:
            out.write(storing.counts[key].to_bytes(8, "little"))
            out.pour(storing.pieces[key])

    size = len(head) + sum(8 + length_of(storing.pieces[key]) for key in keys)
    text = f"{unbuilder.untyped:,} tensors are of types that this format has no storage for"
    notes = [Finding("legacy-untyped", text)] if unbuilder.untyped else []
    return Plan([File("", size, write)], [], notes)
