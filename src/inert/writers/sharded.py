"""sharded: the shards and the index that Hugging Face's libraries write.

Knows: how tensors are dealt out to shards, how these are called, and the index. What fits one shard is one plain file without index.
Refuses to know: what is in a shard; the writer of its format knows.

The destination says the names: ``X.safetensors.index.json`` or ``X.safetensors`` → X-00001-of-00003.safetensors …; ``X.bin.index.json`` or
``X.bin`` → the same with torch.save's files; a folder → model-….safetensors in it.

Facts: huggingface_hub 2.4.0 (serialization/_base.py: split_state_dict_into_shards_factory; _torch.py: save_torch_state_dict,
get_torch_storage_id); transformers 4.57 for variants (model.safetensors.index.fp16.json → model.fp16-00001-of-00002.safetensors).
"""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

from ..errors import UnsupportedError
from ..finding import Finding
from ..layout import is_contiguous
from ..torch.storing import identity
from . import File, Options, Plan, Saved, is_folder, safetensors, torch_zip
from .flat import Flat, nbytes, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..tensor import Tensor

DEFAULT_SIZE = 5 * 10**9  # bytes of a shard, where nothing else is said
SHOWN = 5
_INDEX = re.compile(r"(?P<stem>.+)(?P<kind>\.(?:safetensors|bin))\.index(?:\.(?P<variant>[\w-]+))?\.json")
_FILE = re.compile(r"(?P<stem>.+)(?P<kind>\.(?:safetensors|bin|pt|pth|ckpt))")
_UNITS = {"": 1, "B": 1, **{f"{unit}B": 1000**power for power, unit in enumerate("KMGT", 1)}}
_UNITS |= {f"{unit}IB": 1024**power for power, unit in enumerate("KMGT", 1)}


class Names(NamedTuple):
    """``stem`` and ``kind`` (suffix) of the shards, name of the index (``listing``), and whether they lie ``inside`` of the destination."""

    stem: str
    kind: str
    listing: str
    inside: bool

    def shard(self, number: int, count: int) -> str:
        return f"{self.stem}-{number:05d}-of-{count:05d}{self.kind}" if count > 1 else self.stem + self.kind

    @property
    def family(self) -> re.Pattern[str]:
        """Names that files of such a set have, however many there are."""
        stem, kind = re.escape(self.stem), re.escape(self.kind)
        return re.compile(rf"{stem}(?:-\d{{5}}-of-\d{{5}})?{kind}|{re.escape(self.listing)}")


def plan(saved: Saved, options: Options) -> Plan:
    names = named(options)
    safe = names.kind == ".safetensors"
    flat = Flat(saved, options, alias=safe)
    most = options.max_shard_size or DEFAULT_SIZE
    if most < 0:
        raise UnsupportedError(f"shards of {most} bytes", hint="say a size like 5GB")
    shards, total = deal(flat.tensors, most, safe)
    said: dict[str, str] = safetensors.metadata(saved, flat, options) if safe else safetensors.texts(saved)
    files, notes, where = [], list(flat.notes), {}
    for number, shard in enumerate(shards, 1):
        name = names.shard(number, len(shards))
        if safe:
            mine = said if len(shards) == 1 else {key: said[key] for key in ("format",) if key in said}
            file, more = safetensors.lay(shard, mine, name)
        else:
            made = torch_zip.plan(Saved(dict(shard), {}), Options(name, options.protocol, options.alignment))
            file, more = File(name, made.files[0].size, made.files[0].write), made.notes
        files.append(file)
        notes += more
        where.update(dict.fromkeys(shard, name))
    if options.leaves == "sidecar":
        files = [*flat.sidecar(names.stem + names.kind), *files]
    if len(shards) > 1:
        files.append(index(names, total, said, where))
    elif not names.inside and options.name.endswith(".json"):
        notes.append(Finding("shards-one", f"everything fits one shard: {names.shard(1, 1)} was written, and no index", names.listing))
    notes += stale(names, options.name, {file.name for file in files})
    return Plan(files, flat.lost, notes, names.inside)


def named(options: Options) -> Names:
    """The names that a destination means. UnsupportedError where it means none."""
    place = options.name.replace("\\", "/") if os.sep == "\\" else options.name
    if options.inner not in ("", "safetensors", "torch-zip"):
        raise UnsupportedError(f"shards of {options.inner}", hint="shards are safetensors or torch-zip")
    if is_folder(options.name):
        stem, kind = ("pytorch_model", ".bin") if options.inner == "torch-zip" else ("model", ".safetensors")
        return Names(stem, kind, f"{stem}{kind}.index.json", True)
    name = place.rpartition("/")[2]
    found = _INDEX.fullmatch(name)
    if found is not None:
        variant = f".{found['variant']}" if found["variant"] else ""
        names = Names(found["stem"] + variant, found["kind"], name, False)
    else:
        found = _FILE.fullmatch(name)
        if found is None:
            hint = "name it X.safetensors.index.json, X.bin.index.json, X.safetensors or X.bin, or name a folder"
            raise UnsupportedError("the name does not say what the shards are called", part=options.name, hint=hint)
        names = Names(found["stem"], found["kind"], f"{name}.index.json", False)
    if options.inner and (options.inner == "safetensors") != (names.kind == ".safetensors"):
        raise UnsupportedError(f"shards of {options.inner} are not called *{names.kind}", part=options.name, hint="give one of the two up")
    return names


def deal(tensors: Mapping[str, Tensor], most: int, safe: bool) -> tuple[list[dict[str, Tensor]], int]:
    """The tensors of each shard, and the bytes of all storages. In the order of the names: a shard is full where the next tensor would
    make it larger than ``most``; a tensor larger than that has one of its own. Tensors of one storage lie in one shard."""
    groups: dict[Any, list[str]] = {}
    for name, tensor in tensors.items():
        whole(name, tensor)  # nothing can be counted of a damaged one
        groups.setdefault(_memory(name, tensor, safe), []).append(name)
    shards: list[list[list[str]]] = []
    current: list[list[str]] = []
    filled = total = 0
    for group in groups.values():
        size = _size([tensors[name] for name in group], safe)
        total += size
        if size > most:
            shards.append([group])
            continue
        if filled + size > most:
            shards.append(current)
            current, filled = [], 0
        current.append(group)
        filled += size
    if current or not shards:
        shards.append(current)
    # the first of each storage, then the others, storage by storage: the order in which the Hugging Face library fills a shard
    dealt = [[*(group[0] for group in shard), *(name for group in shard for name in group[1:])] for shard in shards]
    return [{name: tensors[name] for name in shard} for shard in dealt], total


def _memory(name: str, tensor: Tensor, safe: bool) -> Any:
    """What is equal for tensors of one storage. In safetensors one that is not contiguous is written as a storage of its own."""
    layout = tensor.layout
    if layout.storage is None or (safe and not is_contiguous(layout.shape, layout.strides) and 0 not in layout.shape):
        return "tensor", name
    return identity(layout.storage) if layout.storage.nbytes else ("empty", layout.device)


def _size(group: list[Tensor], safe: bool) -> int:
    """Bytes that the tensors of one storage take: the storage, or in safetensors what is written of it."""
    first = group[0].layout
    if first.storage is None:
        return sum(tensor.nbytes for tensor in group)
    return sum(nbytes(tensor.layout) for tensor in group) if safe else first.storage.nbytes


def index(names: Names, total: int, said: Mapping[str, str], where: Mapping[str, str]) -> File:
    about = {"total_size": total, **{key: value for key, value in said.items() if key not in ("format", "total_size")}}
    data = json.dumps({"metadata": about, "weight_map": where}, indent=2).encode()
    return File(names.listing, len(data), lambda out: out.write(data))


def stale(names: Names, place: str, written: set[str]) -> list[Finding]:
    """A note of files of an earlier set of these names, which are left as they are."""
    folder = place if names.inside else os.path.dirname(place) or os.curdir
    there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    old = [name for name in there if names.family.fullmatch(name) and name not in written]
    more = f" and {len(old) - SHOWN:,} more" if len(old) > SHOWN else ""
    return [Finding("shards-stale", f"of an earlier set there are {', '.join(old[:SHOWN])}{more}", folder)] if old else []


def bytes_of(text: str | int) -> int:
    """A size: bytes, or a text like 5GB (decimal, as Hugging Face reads it), 500MB, 2GiB. UnsupportedError for any other."""
    if isinstance(text, int):
        return text
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,9})?)\s*([a-zA-Z]*)\s*", text)
    unit = _UNITS.get(found[2].upper()) if found else None
    if found is None or unit is None:
        raise UnsupportedError(f"{text!r} is no size", hint="say it like 5GB, 500MB or 2GiB")
    return int(float(found[1]) * unit)
