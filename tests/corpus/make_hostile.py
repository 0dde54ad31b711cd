"""Files that try to run code, to exhaust their reader or to lie to it: python make_hostile.py [FOLDER] (nothing but Python).

Every payload is harmless: it would put an empty file PWNED_own_… into /tmp/inert-mark, if that folder is there. ``hostile/expected.json`` says
of each file what it is, which names it asks for, and whether it opens. Files beyond SMALL bytes are not committed; tests/test_hostile.py makes
them anew from ``everything()``.
"""

from __future__ import annotations

import json
import struct
import sys
from collections import OrderedDict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from tests.makers import (  # noqa: E402
    PARAMETER,
    REBUILD_V2,
    REBUILD_V3,
    Entry,
    Made,
    Name,
    Pid,
    dumps,
    storage,
    tensor,
    text,
    torch_entries,
    zip_bytes,
)  # fmt: skip

FOLDER = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "hostile"
FLOATS = struct.pack("<6f", *range(6))
SMALL = 20_000  # bytes of a file that is committed
FILES: dict[str, bytes] = {}
TABLE: dict[str, dict[str, Any]] = {}
SYSTEM, HOOKS = Name("os", "system"), Name("collections", "OrderedDict")


def touch(name: str) -> str:
    return f"test -d /tmp/inert-mark && touch /tmp/inert-mark/PWNED_own_{name}"


def weight(key: str = "0") -> Made:
    return tensor(storage(key, 6), (2, 3))


def archive(data: bytes, *, deflate: bool = False, **options: Any) -> bytes:
    entries = torch_entries(data, {"0": FLOATS, "9": FLOATS}, **options)
    if deflate:
        entries[0].method = 8
    return zip_bytes(entries, align=8)


def put(name: str, data: bytes, why: str, *, opens: bool, calls: tuple[str, ...] = (), tensors: int | None = 0, refuses: str = "") -> None:
    """``calls``: dotted names that the pickles ask to call · ``tensors``: how many can be read (None: as many as a limit allows) · ``refuses``: words of the refusal."""
    assert f"{name}.pt" not in TABLE
    FILES[f"{name}.pt"] = data
    TABLE[f"{name}.pt"] = {"why": why, "opens": opens, "calls": sorted(calls), "tensors": tensors, "refuses": refuses}


def code() -> None:
    """Names that would run code, in every way a pickle can ask for them; a readable tensor stands beside most."""
    run = Made(SYSTEM, (touch("reduce"),))
    put(
        "reduce",
        archive(dumps({"w": weight(), "x": run})),
        "REDUCE of os.system beside a tensor",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    put(
        "as_key",
        archive(dumps({"w": weight(), Made(SYSTEM, (touch("as_key"),)): 1})),
        "a call as a dict key",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    hooked = Made(REBUILD_V2, (storage("0", 6), 0, (2, 3), (3, 1), False, Made(SYSTEM, (touch("as_hooks"),))))
    put("as_hooks", archive(dumps({"w": hooked})), "a call as a tensor's backward hooks", opens=True, calls=("os.system",), tensors=1)
    sized = Made(REBUILD_V2, (storage("0", 6), 0, Made(SYSTEM, (touch("as_size"),)), (3, 1), False, OrderedDict()))
    put(
        "as_size",
        archive(dumps({"w": sized, "ok": weight("9")})),
        "a call as a tensor's sizes",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    put(
        "as_pid",
        archive(dumps({"w": weight(), "x": Pid(Made(SYSTEM, (touch("as_pid"),)))})),
        "a call as a persistent id",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    put(
        "as_state",
        archive(dumps({"w": weight(), "x": Made(Name("gone", "Class"), (), Made(SYSTEM, (touch("as_state"),)), new=True)})),
        "a call as an object's state",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    kind = Pid(("storage", Made(SYSTEM, (touch("as_type"),)), "0", "cpu", 6))
    put(
        "as_type",
        archive(dumps({"w": tensor(kind, (6,)), "ok": weight("9")})),
        "a call as a storage's type",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    put(
        "as_function",
        archive(dumps({"w": weight(), "x": Made(Made(Name("operator", "attrgetter"), ("system",)), (Name("builtins", "object"),))})),
        "a call whose function is the result of another",
        opens=True,
        calls=("operator.attrgetter",),
        tensors=1,
    )
    put(
        "parameter",
        archive(dumps({"w": Made(PARAMETER, (Made(SYSTEM, (touch("parameter"),)), True, OrderedDict())), "ok": weight("9")})),
        "a parameter around a call",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    deep: Any = weight()
    for _ in range(40):
        deep = Made(Name("torch._utils", "_rebuild_parameter"), (deep, True, OrderedDict()))
    put("parameters_in_parameters", archive(dumps({"w": deep, "ok": weight("9")})), "parameters forty deep", opens=True, tensors=2)
    put(
        "whole_class",
        archive(
            dumps(
                {"m": Made(Name("gone", "Model"), (), {"_parameters": {"w": weight()}, "_buffers": {}, "_modules": {}, "x": run}, new=True)}
            )
        ),
        "a module whose state holds a call",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    shell = text(touch("opcodes"))
    evil = b"cos\nsystem\n" + shell + b"\x85R"
    clean = dumps({"w": weight()})
    for name, data, why in (
        ("dropped", evil + b"0" + clean[2:], "the result is dropped, the object is clean"),
        ("dropped_by_mark", b"(" + evil + b"1" + clean[2:], "the result is dropped with a mark"),
        ("proto_twice", b"\x80\2" + evil + b"0\x80\2" + clean[2:], "a second PROTO behind the call"),
        ("inst", b"(" + shell + b"ios\nsystem\n0" + clean[2:], "INST"),
        ("obj", b"(cos\nsystem\n" + shell + b"o0" + clean[2:], "OBJ"),
        ("stack_global", b"\x80\4\x8c\2os\x8c\6system\x93" + shell + b"\x85R0" + clean[2:], "STACK_GLOBAL"),
        (
            "memo_global",
            b"\x80\4\x8c\2os\x94\x8c\6system\x9400\x8c\1xq\7" + b"0h\0h\1\x93" + shell + b"\x85R0" + clean[2:],
            "the parts of a name by way of the memo",
        ),
        ("newobj", b"cos\nsystem\n" + shell + b"\x85\x810" + clean[2:], "NEWOBJ"),
        ("newobj_ex", b"cos\nsystem\n" + shell + b"\x85}\x920" + clean[2:], "NEWOBJ_EX"),
        ("frame_lies", b"\x80\4\x95\4\0\0\0\0\0\0\0" + evil + b"0" + clean[2:], "a frame that ends inside an opcode"),
        ("text_opcodes", b"cos\nsystem\n(V" + touch("text").encode() + b"\np0\ntR0" + clean[2:], "protocol 0 before protocol 2"),
    ):
        put(name, archive(data), why, opens=True, calls=("os.system",), tensors=1)
    put(
        "extension",
        archive(b"\x80\2\x82\1" + shell + b"\x85R0" + clean[2:]),
        "a copyreg extension code",
        opens=True,
        calls=("copyreg.extension 1",),
        tensors=1,
    )
    put(
        "posix_py2",
        archive(b"c__builtin__\neval\n" + shell + b"\x85R0" + clean[2:]),
        "a Python 2 module name",
        opens=True,
        calls=("builtins.eval",),
        tensors=1,
    )
    put("dotted", archive(b"\x80\4\x8c\5torch\x8c\x17serialization.os.system\x93" + shell + b"\x85R0" + clean[2:]), "a dotted name through another module",
        opens=True, calls=("torch.serialization.os.system",), tensors=1)  # fmt: skip
    put(
        "build_on_class",
        archive(b"\x80\2cos\nsystem\n}X\4\0\0\0codeNsb0" + clean[2:]),
        "BUILD on a name",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    put("before_damage", archive(evil + b"0\xff"), "a call before a byte that is no opcode", opens=False, refuses="no opcode")
    put("without_stop", archive(evil), "no STOP behind the call", opens=False, refuses="without STOP")
    put("after_stop", archive(clean + evil + b"."), "a second pickle behind the first", opens=True, tensors=1)
    put(
        "in_a_record",
        archive(clean, more={"data/1": b"\x80\2" + evil + b"."}),
        "a pickle in a storage that nothing uses",
        opens=True,
        tensors=1,
    )
    whole = [Entry("archive/data.pkl", evil + b"."), *torch_entries(clean, {"0": FLOATS})]
    put("first_of_two", zip_bytes(whole), "the first of two data.pkl is the bad one", opens=True, tensors=1)
    whole = [*torch_entries(clean, {"0": FLOATS}), Entry("archive/data.pkl", evil + b"0" + clean[2:], method=8)]
    put(
        "last_of_two",
        zip_bytes(whole),
        "the last of two data.pkl is the bad one, and deflated",
        opens=True,
        calls=("os.system",),
        tensors=1,
    )
    whole = [*torch_entries(clean, {"0": FLOATS}), Entry("archive/DATA.PKL", evil + b".")]
    put("case_twin", zip_bytes(whole), "DATA.PKL beside data.pkl", opens=True, tensors=1)
    entries = torch_entries(clean, {"0": FLOATS})
    entries[0].local = {"name": b"archive/evil.pkl"}
    put("other_local_name", zip_bytes(entries), "the local header names another record", opens=True, tensors=1)
    put("deflated", archive(evil + b"0" + clean[2:], deflate=True), "inside a deflated pickle", opens=True, calls=("os.system",), tensors=1)
    legacy = b"".join([dumps(0x1950A86A20F9469CFC6C), dumps(1001), dumps({"little_endian": True}), evil + b".", dumps([])])
    put(
        "embedded",
        archive(dumps({"w": weight(), "x": Made(Name("torch.storage", "_load_from_bytes"), (legacy,))}, 3)),
        "inside an old file inside bytes",
        opens=True,
        calls=("torch.storage._load_from_bytes",),
        tensors=1,
    )
    array = Made(
        Name("numpy.core.multiarray", "_reconstruct"),
        (Name("numpy", "ndarray"), (0,), b"b"),
        (1, (1,), Made(Name("numpy", "dtype"), ("O8", 0, 1), (3, "|", None, None, None, -1, -1, 63)), False, [run]),
    )
    put(
        "object_array",
        archive(dumps({"w": weight(), "x": array}, 3)),
        "inside an array of objects",
        opens=True,
        calls=("numpy.core.multiarray._reconstruct", "numpy.dtype", "os.system"),
        tensors=1,
    )


def bombs() -> None:
    """Small files that would take a careless reader hours or gigabytes."""
    ok = dumps({"w": weight()})[2:-1]
    put("memo_index", archive(b"\x80\2Nr\0\0\0\x080" + ok + b"."), "a memo index of 2**27", opens=True, tensors=1)
    put("huge_string", archive(b"\x80\2X\xff\xff\xff\x7fabc."), "a text of 2 GiB in eight bytes", opens=False, refuses="TruncatedError")
    put("huge_bytes", archive(b"\x80\4\x8e" + b"\xff" * 7 + b"\x7fabc."), "bytes of 2**63 bytes", opens=False, refuses="TruncatedError")
    key = b"\x80\2}N" + b"2\x86" * 60 + b"Ns."
    put("exponential_key", archive(key), "a key whose hash takes 2**60 steps", opens=True)
    put(
        "exponential_element", archive(b"\x80\4\x8f(N" + b"2\x86" * 60 + b"\x90."), "a set element whose hash takes 2**60 steps", opens=True
    )
    twins = b"\x80\4" + b"".join(frozensets(base) for base in (0, 100))
    put("equal_frozensets", archive(twins + b"}h\x32Nsh\x96Ns."), "two equal keys whose comparison takes 2**50 steps", opens=True)
    put("deep_key", archive(b"\x80\2})" + b"\x85" * 150_000 + b"Ns.", deflate=True), "a key 150,000 levels deep", opens=True)
    put(
        "deep_dict",
        archive(b"\x80\2" + b"}K\1" * 200_000 + b"N" + b"s" * 200_000 + b".", deflate=True),
        "a dict 200,000 levels deep",
        opens=True,
    )
    put("deep_list", archive(b"\x80\2" + b"]" * 300_000 + b"a" * 299_999 + b".", deflate=True), "a list 300,000 levels deep", opens=True)
    put("deep_tuple", archive(b"\x80\2N" + b"\x85" * 300_000 + b".", deflate=True), "a tuple 300,000 levels deep", opens=True)
    put(
        "deep_calls",
        archive(b"\x80\2cm\nn\n" + b")R" * 150_000 + b".", deflate=True),
        "the result of a call is called, 150,000 times",
        opens=True,
    )
    put(
        "deep_states",
        archive(b"\x80\2" + b"cm\nn\n)R" * 60_000 + b"b" * 59_999 + b".", deflate=True),
        "an object in the state of another, 60,000 times",
        opens=True,
    )
    put(
        "deep_pids",
        archive(b"\x80\2N" + b"Q" * 300_000 + b".", deflate=True),
        "a persistent id of a persistent id, 300,000 times",
        opens=True,
    )
    put(
        "deep_tensors",
        archive(dumps(weight())[:-1] + b"q\xff0" + deep_tensors(4000) + b".", deflate=True),
        "a tensor at each of 4,000 levels",
        opens=True,
        tensors=4000,
    )
    laughs = b"\x80\2" + dumps([weight()])[2:-1] + b"".join(b"q%c0](h%ch%ce" % (200 + i, 200 + i, 200 + i) for i in range(50)) + b"."
    put("billion_tensors", archive(laughs), "2**50 paths to one tensor", opens=True, tensors=None)
    ring = b"\x80\2]q\0h\0a](h\0h\0e}X\1\0\0\0ah\0s\x86."
    put("rings", archive(ring), "lists that hold themselves", opens=True)
    numbers = b"".join(b"\x8a\x0c" + (k * (2**61 - 1)).to_bytes(12, "little") + b"N" for k in range(60_000))
    put("colliding_ints", archive(b"\x80\2}(" + numbers + b"u.", deflate=True), "60,000 keys with one hash value", opens=True)
    tuples = b"".join(b"\x8a\x0c" + (k * (2**61 - 1)).to_bytes(12, "little") + b"\x85N" for k in range(60_000))
    put("colliding_tuples", archive(b"\x80\2}(" + tuples + b"u.", deflate=True), "60,000 tuples with one hash value", opens=True)
    elements = b"".join(b"\x8a\x0c" + (k * (2**61 - 1)).to_bytes(12, "little") for k in range(60_000))
    put(
        "colliding_elements",
        archive(b"\x80\4\x8f(" + elements + b"\x90.", deflate=True),
        "60,000 set elements with one hash value",
        opens=True,
    )
    decimals = b"cdecimal\nDecimal\nq\0" + b"0" + b"".join(b"h\0" + text(str(k * (2**61 - 1))) + b"\x85RN" for k in range(30_000))
    put(
        "colliding_decimals",
        archive(b"\x80\2" + decimals.replace(b"q\x000", b"q\x000}(", 1) + b"u.", deflate=True),
        "30,000 Decimals with one hash value",
        opens=True,
    )
    for name, function, argument in (
        ("bytes", b"cbuiltins\nbytearray\n", b"B\0\0\x10\0" + bytes(1 << 20)),
        ("encode", b"c_codecs\nencode\n", text("x" * (1 << 20))),
        ("tuple", b"cbuiltins\ntuple\n", b"](" + b"N" * 200_000 + b"e"),
        ("list", b"cbuiltins\nlist\n", b"](" + b"N" * 200_000 + b"e"),
        ("dict", b"ccollections\nOrderedDict\n", b"}(" + b"".join(b"J" + struct.pack("<i", i) + b"N" for i in range(100_000)) + b"u"),
        ("size", b"ctorch\nSize\n", b"](" + b"K\1" * 200_000 + b"e"),
        ("load", b"ctorch.storage\n_load_from_bytes\n", b"B\0\0\x10\0" + dumps(0x1950A86A20F9469CFC6C).ljust(1 << 20, b"\0")),
        ("path", b"cpathlib\nPurePosixPath\n", text("x/" * 100_000)),
    ):  # fmt: skip
        more = text("latin1") + b"\x86" if name == "encode" else b"\x85"
        start = b"\x80\3" + function + b"q\0" + argument + more + b"q\0010]("
        put(
            f"copies_{name}",
            archive(start + b"h\0h\1R" * 200_000 + b"e.", deflate=True),
            f"200,000 calls of {name} on one large argument",
            opens=False,
            refuses="LimitError",
        )
    put(
        "shared_sizes",
        archive(b"\x80\2" + shared_sizes(100_000, 5_000) + b".", deflate=True),
        "one tuple of 100,000 sizes for 5,000 tensors",
        opens=True,
    )
    put("marks", archive(b"\x80\2" + b"(" * 1_000_001 + b".", deflate=True), "a million marks", opens=False, refuses="LimitError")
    put(
        "call_chain",
        archive(b"\x80\2cm\nn\n" + b")R" * 300_000 + b"."),
        "calls of what calls give, 300,000 deep",
        opens=True,
        calls=("m.n",),
    )
    put("digits", archive(b"\x80\2I" + b"9" * 1_000_000 + b"\n."), "a number of a million digits", opens=False, refuses="without an end")
    put(
        "long_number",
        archive(b"\x80\2\x8b\0\0\x10\0" + b"\x7f" * (1 << 20) + b".", deflate=True),
        "an integer of a million bytes",
        opens=False,
        refuses="LimitError",
    )
    inflating = torch_entries(b"\x80\2X" + struct.pack("<I", 64 << 20) + bytes(64 << 20) + b".", {"0": FLOATS})
    inflating[0].method = 8
    put("inflating_pickle", zip_bytes(inflating), "64 MiB of pickle in 64 KiB of archive", opens=False, refuses="LimitError")
    entries = torch_entries(dumps({"w": tensor(storage("0", 1 << 40, "Byte"), (1 << 40,)), "ok": weight("9")}), {"0": b"", "9": FLOATS})
    entries[4].method, entries[4].data, entries[4].size = 8, bytes(1000), 0xFFFFFFFF
    entries[4].extra = struct.pack("<2HQ", 1, 8, 1 << 40)
    put("inflating_storage", zip_bytes(entries), "a storage that claims to inflate to 1 TiB", opens=True, tensors=1)
    put(
        "duplicates",
        zip_bytes([*torch_entries(dumps({"w": weight()}), {"0": FLOATS}), Entry("archive/data/1", b"x", padding=b"", listed=3_000)]),
        "one record listed 3,000 times",
        opens=True,
        tensors=1,
    )


def frozensets(base: int) -> bytes:
    """Each holds the one before and a set of that and a number; memo entries from ``base``."""
    steps = (b"(h%c(h%cK%c\x91\x91q%c0" % (base + i, base + i, i, base + i + 1) for i in range(50))
    return b"(K\7\x91q" + bytes([base]) + b"0" + b"".join(steps)


def deep_tensors(levels: int) -> bytes:
    """{"t": tensor, "d": {"t": tensor, "d": …}}, the tensor from memo entry 255."""
    at = b"h\xff"
    return b"}(X\1\0\0\0t" + at + (b"X\1\0\0\0d}(X\1\0\0\0t" + at) * (levels - 1) + b"u" * levels


def shared_sizes(dimensions: int, count: int) -> bytes:
    head = dumps([weight()])[2:-1]
    sizes = b"(" + b"K\1" * dimensions + b"tq\xf00"
    names = b"ctorch._utils\n_rebuild_tensor_v2\nq\xf10(X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\x000X\3\0\0\0cpuK\6tq\xf20"
    return head + b"0" + sizes + names + b"](" + b"h\xf1(h\xf2QK\0h\xf0h\xf0\x89NtR" * count + b"e"


def lies() -> None:
    """Tensors that are not what they say; one good tensor stands beside each."""
    held = storage("0", 6)
    for name, bad, why in (
        ("too_large", tensor(held, (1000,)), "more elements than the storage"),
        ("far_offset", tensor(held, (3,), (1,), 4), "an offset beyond the storage"),
        ("negative_size", tensor(held, (-1, 3), (3, 1)), "a negative size"),
        ("negative_stride", tensor(held, (3,), (-1,), 5), "a negative stride"),
        ("negative_offset", tensor(held, (3,), (1,), -1), "a negative offset"),
        ("huge_stride", tensor(held, (2,), (2**62,)), "a stride of 2**62"),
        ("huge_size", tensor(held, (2**40, 2**40), (0, 0)), "2**80 elements"),
        ("rank_mismatch", tensor(held, (2, 3), (1,)), "two sizes and one stride"),
        ("short_storage", tensor(storage("0", 5), (5,)), "the pickle counts five elements, the record holds six"),
        ("long_storage", tensor(storage("0", 600), (600,)), "the pickle counts 600 elements, the record holds six"),
        ("negative_storage", tensor(storage("0", -6), (6,)), "a storage of -6 elements"),
        ("huge_storage", tensor(storage("0", 2**64), (6,)), "a storage of 2**64 elements"),
        ("missing_storage", tensor(storage("7", 6), (6,)), "a storage that is not there"),
        ("escaping_storage", tensor(storage("../version", 2, "Byte"), (2,)), "a storage key that leaves its folder"),
        ("absolute_storage", tensor(storage("/etc/passwd", 2, "Byte"), (2,)), "a storage key that is a path"),
        ("many_dimensions", tensor(held, (1,) * 5000), "5,000 dimensions"),
        (
            "unknown_storage",
            tensor(Pid(("storage", Name("torch", "FakeStorage"), "0", "cpu", 6)), (6,)),
            "a storage type that does not exist",
        ),
        ("no_storage", tensor(Pid("storage"), (6,)), "a persistent id that is a text"),
        ("text_sizes", tensor(held, "ab", "cd"), "sizes that are no numbers"),
        ("text_offset", tensor(held, (6,), (1,), "0"), "an offset that is a text"),
        (
            "wrong_dtype",
            Made(REBUILD_V3, (storage("0", 24, "Untyped"), 0, (6,), (1,), False, OrderedDict(), Name("os", "system"))),
            "a dtype that is none",
        ),
    ):
        put(f"lie_{name}", archive(dumps({"bad": bad, "ok": weight("9")})), why, opens=True, tensors=1)
    put(
        "stride_zero",
        archive(dumps({"bad": tensor(held, (2**31, 2**31), (0, 0)), "ok": weight("9")})),
        "2**62 elements over four bytes",
        opens=True,
        tensors=1,
    )
    sparse = Made(
        Name("torch._utils", "_rebuild_sparse_tensor"),
        (
            Made(Name("torch.serialization", "_get_layout"), ("torch.sparse_coo",)),
            (tensor(storage("1", 2, "Long"), (1, 2)), tensor(held, (2,)), (4,)),
        ),
    )
    entries = torch_entries(dumps({"bad": sparse, "ok": weight("9")}), {"0": FLOATS, "1": struct.pack("<2q", 1, 10**12), "9": FLOATS})
    put("sparse_far", zip_bytes(entries), "a sparse index far outside", opens=True, tensors=1)
    meta = Made(Name("torch._utils", "_rebuild_meta_tensor_no_storage"), (Name("torch", "float32"), (2**31, 2**31), (2**31, 1), False))
    put("huge_meta", archive(dumps({"m": meta, "ok": weight("9")})), "a meta tensor of 2**62 elements", opens=True, tensors=1)
    nested = Made(Name("torch._utils", "_rebuild_nested_tensor"), (weight(), meta, meta, meta))
    put("nested_meta", archive(dumps({"n": nested, "ok": weight("9")})), "a nested tensor described by meta tensors", opens=True, tensors=2)
    over = Made(
        Name("torch._utils", "_rebuild_nested_tensor"),
        (sparse, tensor(storage("1", 2, "Long"), (1, 2)), tensor(storage("1", 2, "Long"), (1, 2)), tensor(storage("1", 2, "Long"), (1,))),
    )
    entries = torch_entries(dumps({"n": over, "ok": weight("9")}), {"0": FLOATS, "1": struct.pack("<2q", 1, 1), "9": FLOATS})
    put("nested_sparse", zip_bytes(entries), "a nested tensor over a sparse one", opens=True, tensors=4)
    scale = Made(
        Name("torch._utils", "_rebuild_qtensor"),
        (storage("0", 24, "QInt8"), 0, (6,), (1,), (Name("torch", "per_tensor_affine"), "much", None), False, OrderedDict()),
    )
    put("quantized_scale", archive(dumps({"q": scale})), "a scale that is a text", opens=True)
    dag: Any = ()
    for _ in range(60):
        dag = (dag, dag)
    huge = 2**20000
    put(
        "tuples_as_pids",
        archive(
            dumps({"a": Pid(dag), "b": tensor(Pid(dag), (6,)), "c": tensor(Pid(("storage", dag, "9", "cpu", 6)), (6,)), "ok": weight("9")})
        ),
        "persistent ids whose text would be 2**60 characters long",
        opens=True,
        tensors=1,
    )
    put(
        "tuples_as_parts",
        archive(
            dumps(
                {
                    "a": Made(PARAMETER, (dag, True, OrderedDict())),
                    "b": Made(Name("torch._utils", "_rebuild_sparse_tensor"), (dag, dag)),
                    "c": Made(REBUILD_V3, (storage("0", 24, "Byte"), 0, (6,), (1,), False, OrderedDict(), dag)),
                    "d": Made(Name("torch._tensor", "_rebuild_from_type_v2"), (dag, dag, (), dag)),
                    "ok": weight("9"),
                }
            )
        ),
        "tuples of 2**60 parts where tensors are wanted",
        opens=True,
        tensors=1,
    )
    put(
        "huge_numbers",
        archive(
            dumps(
                {
                    "a": Pid(("storage", Name("torch", "FloatStorage"), "9", "cpu", huge)),
                    "b": tensor(storage("8", huge), (huge,), (huge,), huge),
                    huge: weight("9"),
                    (huge, 1): weight("9"),
                    "ok": weight("9"),
                }
            )
        ),
        "numbers that Python does not print",
        opens=True,
        tensors=3,
    )
    names = {
        "\x1b[31mred\x1b[0m\x07": weight(),
        "line\nbreak": weight(),
        "\u202etfel": weight(),
        "lone\udc80": weight(),
        "\0": weight(),
        "x" * 100_000: weight(),
    }
    put("terminal_names", archive(dumps(names)), "names that would steer a terminal", opens=True, tensors=6)


def everything() -> dict[str, bytes]:
    """Every file by name."""
    if not FILES:
        code()
        bombs()
        lies()
    return FILES


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    small = {name: data for name, data in everything().items() if len(data) <= SMALL}
    for name, data in small.items():
        (FOLDER / name).write_bytes(data)
    rows = (f"{json.dumps(name)}: {json.dumps(row, sort_keys=True)}" for name, row in sorted(TABLE.items()))
    (FOLDER / "expected.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    print(f"{len(small)} of {len(FILES)} files, {sum(map(len, small.values())):,} bytes")


if __name__ == "__main__":
    main()
