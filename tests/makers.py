"""Files by hand: zip archives with any field wrong, and pickles of objects whose classes do not exist.

Knows: the fields of the ZIP container as PyTorch writes them (each can be overridden), and how CPython's own pickler, in pure Python,
writes names, calls and persistent ids of one's choosing.
Refuses to know: inert. What these functions make is what the tests hold inert against.
"""

from __future__ import annotations

import io
import pickle
import struct
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

# ----------------------------------------------------------------------------------------------------------------- zip archives

NARROW = 0xFFFFFFFF


@dataclass
class Entry:
    """One member. ``None`` stands for what PyTorch would write; ``local`` overrides fields of the local header only."""

    name: bytes | str
    data: bytes = b""
    method: int = 0
    flags: int | None = None
    crc: int | None = None
    packed: int | None = None  # sizes as the directory claims them
    size: int | None = None
    offset: int | None = None  # of the local header, as the directory claims it
    extra: bytes = b""  # of the directory entry
    comment: bytes = b""
    disk: int = 0
    padding: bytes | None = None  # of the local header: the whole extra field
    descriptor: bool = True
    listed: int = 1  # how many times the directory lists it
    local: dict[str, Any] = field(default_factory=dict)
    at: int = -1  # where its data begins; written by zip_bytes

    @property
    def raw_name(self) -> bytes:
        return self.name.encode() if isinstance(self.name, str) else self.name

    @property
    def content(self) -> bytes:
        if self.method != 8:
            return self.data
        engine = zlib.compressobj(9, zlib.DEFLATED, -15)
        return engine.compress(self.data) + engine.flush()


def zip_bytes(
    entries: Iterable[Entry],
    *,
    align: int = 64,
    before: bytes = b"",
    after: bytes = b"",
    comment: bytes = b"",
    wide: bool = True,
    shift: int = 0,
    end: Mapping[str, Any] | None = None,
    wide_end: Mapping[str, Any] | None = None,
    gap: bytes = b"",
) -> bytes:
    """An archive. ``before``: bytes that its offsets do not count (add ``shift`` to make them count) · ``wide``: with ZIP64 end record
    and locator, as PyTorch always has · ``end`` and ``wide_end`` override fields (count, here, size, offset, disk, comment) · ``gap``: bytes
    between the directory and the end records."""
    out, directory, count = bytearray(), bytearray(), 0
    entries = list(entries)
    for entry in entries:
        where = len(out) + shift
        name, content = entry.raw_name, entry.content
        flags = entry.flags if entry.flags is not None else 0x800 | (8 if content and entry.descriptor else 0)
        crc = zlib.crc32(entry.data) if entry.crc is None else entry.crc
        there = {"name": name, "method": entry.method, "flags": flags, "crc": 0, "packed": 0, "size": 0, "sig": b"PK\3\4"} | entry.local
        pad = entry.padding
        if pad is None:
            room = -(where + 30 + len(there["name"]) + 4) % align
            pad = b"FB" + struct.pack("<H", room) + b"Z" * room
        header = struct.pack(
            "<4s5H3I", there["sig"], 0, there["flags"], there["method"], 0, 0, there["crc"], there["packed"], there["size"]
        )
        lengths = (there.get("name_length", len(there["name"])), there.get("extra_length", len(pad)))
        out += header + struct.pack("<2H", *lengths) + there["name"] + pad
        entry.at = len(out) + len(before)
        out += content
        if content and entry.descriptor:
            out += struct.pack("<4s3I", b"PK\7\x08", crc, len(content), len(entry.data))
        packed = len(content) if entry.packed is None else entry.packed
        size = len(entry.data) if entry.size is None else entry.size
        offset = where if entry.offset is None else entry.offset
        row = struct.pack("<4s6H3I", b"PK\1\2", 0, 0, flags, entry.method, 0, 0, crc, packed, size)
        row += struct.pack("<5H2I", len(name), len(entry.extra), len(entry.comment), entry.disk, 0, 0, offset)
        directory += (row + name + entry.extra + entry.comment) * entry.listed
        count += entry.listed
    start = len(out) + shift
    out += directory + gap
    tail = {"disk": 0, "cd_disk": 0, "here": count, "count": count, "size": len(directory), "offset": start, "comment": len(comment)}
    if wide:
        w = tail | dict(wide_end or {})
        place = len(out) + shift
        fields = (44, 0x31E, 45, w["disk"], w["cd_disk"], w["here"], w["count"], w["size"], w["offset"])
        out += struct.pack("<4sQ2H2I4Q", b"PK\6\6", *fields)
        out += struct.pack("<4sIQI", b"PK\6\7", 0, w.get("place", place), 1)
    e = {key: min(value, 0xFFFF if key in ("here", "count") else NARROW) for key, value in tail.items()} | dict(end or {})
    out += struct.pack("<4s4H2IH", b"PK\5\6", e["disk"], e["cd_disk"], e["here"], e["count"], e["size"], e["offset"], e["comment"])
    return before + bytes(out) + comment + after


def torch_entries(
    data: bytes,
    storages: Mapping[str, bytes] | None = None,
    *,
    root: str = "archive",
    byteorder: str | None = "little",
    version: str | None = "3\n",
    more: Mapping[str, bytes] | None = None,
) -> list[Entry]:
    """The records of a torch.save file in PyTorch's order; ``None`` leaves a record out."""
    records: list[tuple[str, bytes]] = [("data.pkl", data), (".format_version", b"1"), (".storage_alignment", b"64")]
    if byteorder is not None:
        records.append(("byteorder", byteorder.encode()))
    records += [(f"data/{key}", raw) for key, raw in (storages or {}).items()]
    if version is not None:
        records.append(("version", version.encode()))
    records += list((more or {}).items())
    return [Entry(f"{root}/{name}" if root else name, raw) for name, raw in records]


def torch_zip(data: bytes, storages: Mapping[str, bytes] | None = None, **options: Any) -> bytes:
    return zip_bytes(torch_entries(data, storages, **options))


# --------------------------------------------------------------------------------------------------------------------- pickles


class Name:
    """A global: saved as its module and name, whatever these are."""

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name

    def __call__(self, *args: Any) -> Any:
        raise AssertionError(f"{self.module}.{self.name} was called")

    def __repr__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(eq=False)
class Made:
    """An object: ``function(*args)``, then ``state`` by BUILD, ``items`` by APPENDS, ``pairs`` by SETITEMS. ``new``: by NEWOBJ."""

    function: Any
    args: Any = ()
    state: Any = None
    items: list[Any] | None = None
    pairs: list[tuple[Any, Any]] | None = None
    new: bool = False

    def __call__(self, *args: Any) -> Any:
        raise AssertionError("a result was called")


@dataclass(eq=False)
class Pid:
    """What a persistent id stands for."""

    value: Any


class Pickler(pickle._Pickler):  # type: ignore[name-defined,misc]
    """CPython's pickler with Names, Made objects and Pids."""

    dispatch = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def persistent_id(self, obj: Any) -> Any:
        return obj.value if isinstance(obj, Pid) else None

    def save_name(self, obj: Name) -> None:
        if self.proto >= 4:
            self.save(obj.module)
            self.save(obj.name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + obj.module.encode() + b"\n" + obj.name.encode() + b"\n")
        self.memoize(obj)

    def save_made(self, obj: Made) -> None:
        if not obj.new:
            self.save_reduce(obj.function, obj.args, obj.state, iter(obj.items or ()), iter(obj.pairs or ()), obj=obj)
            return
        self.save(obj.function)
        self.save(obj.args)
        self.write(pickle.NEWOBJ)
        self.memoize(obj)
        if obj.items is not None:
            self._batch_appends(iter(obj.items))
        if obj.pairs is not None:
            self._batch_setitems(iter(obj.pairs))
        if obj.state is not None:
            self.save(obj.state)
            self.write(pickle.BUILD)

    dispatch[Name] = save_name
    dispatch[Made] = save_made


def dumps(obj: Any, protocol: int = 2) -> bytes:
    out = io.BytesIO()
    Pickler(out, protocol).dump(obj)
    return out.getvalue()


REBUILD_V1 = Name("torch._utils", "_rebuild_tensor")
REBUILD_V2 = Name("torch._utils", "_rebuild_tensor_v2")
REBUILD_V3 = Name("torch._utils", "_rebuild_tensor_v3")
PARAMETER = Name("torch._utils", "_rebuild_parameter")
KINDS = {kind: Name("torch", f"{kind}Storage") for kind in ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Byte", "Bool")}
KINDS["Untyped"] = Name("torch.storage", "UntypedStorage")
CPU, STORAGE = "cpu", "storage"  # one object each, so that the pickler memoises them as it does for torch


def storage(key: Any, count: Any, kind: str = "Float", location: Any = CPU) -> Pid:
    return Pid((STORAGE, KINDS.get(kind) or Name("torch", f"{kind}Storage"), key, location, count))


def steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides."""
    found, step = [], 1
    for size in reversed(shape):
        found.append(step)
        step *= max(size, 1)
    return tuple(reversed(found))


def tensor(held: Any, shape: Any, stride: Any = None, offset: Any = 0, grad: Any = False, *more: Any) -> Made:
    """A tensor as torch.save writes it today: _rebuild_tensor_v2. Sizes and strides are tuples of their own, as torch's are."""
    stride = steps(shape) if stride is None else stride
    shape, stride = (tuple([*part]) if type(part) is tuple else part for part in (shape, stride))
    return Made(REBUILD_V2, (held, offset, shape, stride, grad, OrderedDict(), *more))


def text(value: str | bytes) -> bytes:
    """A BINUNICODE opcode."""
    raw = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    return b"X" + struct.pack("<I", len(raw)) + raw
