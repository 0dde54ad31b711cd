"""What must hold of every format: a checkpoint against what its writing program reads from it, and a look over any file at all.

``differences`` compares an opened checkpoint with an expected.json (tests/corpus/describe.py says what is in one; the shared corpus of real
files has the same shape). ``look_over`` asks everything that can be asked of a file.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import inert
from inert.errors import InertError
from inert.pickle.nodes import Call, Global
from inert.tensor import Tensor
from inert.torch.objects import Object

ELIDED = {"_modules", "_parameters", "_buffers"}  # state_dict() leaves these out of its names
STATE_DICTS = ("torchscript", "torch-export")  # what the shared corpus tells of these is the state dict of the loaded module
NOWHERE = object()
Step = tuple[str, Any]

# Leaf types whose recorded value is only a text with an address, or a class of the program that inert cannot have.
UNTOLD = {
    "CYCLE", "functools.partial", "torch.ScriptObject", "torch._C.ScriptObject", "weakref.ReferenceType", "typing._SpecialForm", "numpy.random.mtrand.RandomState",
    "numpy.random._generator.Generator", "__builtin__.function", "__builtin__.builtin_function_or_method", "uuid.SafeUUID", "corpus_classes.Slotted",
    "builtins.builtin_function_or_method", "builtin_function_or_method", "type", "numpy.dtypes.VoidDType", "numpy.dtype[void]", "torch.layout", "torch.qscheme",
}  # fmt: skip


def differences(checkpoint: inert.Checkpoint, expected: dict[str, Any], told: Counter[str] | None = None) -> list[str]:
    """How the checkpoint differs from what the program read; [] where it does not. ``told`` counts the leaves compared, by type."""
    if checkpoint.format in STATE_DICTS and expected.get("leaves") and not expected.get("format"):
        expected = {**expected, "leaves": []}  # the expectation is a state dict's, and its leaves are that dict's own
    return [*tensors_differ(checkpoint, expected), *leaves_differ(checkpoint.root, expected, told)]


# --------------------------------------------------------------------------------------------------------------------- tensors


def steps(path: list[list[Any]]) -> list[Step]:
    return [(kind, value) for kind, value in path if not (kind == "attr" and value in ELIDED)]


def name_of(path: list[list[Any]]) -> str:
    return ".".join(str(value) for _, value in steps(path))


def odd_key(path: list[list[Any]]) -> bool:
    """A key that is no plain text or number: its spelling is inert's own."""
    return any(isinstance(value, dict) for _, value in path)


class Listing:
    """The listed tensors, found by the path that the program walked."""

    def __init__(self, tensors: dict[str, Tensor]) -> None:
        self.tensors = tensors
        self.paths: dict[tuple[str, ...], list[Tensor]] = defaultdict(list)
        for tensor in tensors.values():
            self.paths[tuple(map(str, tensor.path))].append(tensor)

    def find(self, path: list[list[Any]]) -> Tensor | None:
        whole = [step for step in path if step[0] != "part"]
        parts = [value for kind, value in path if kind == "part"]
        tensor = self.tensors.get(name_of(whole))
        wanted = tuple(str(value) for _, value in steps(whole))
        if tensor is None or tuple(map(str, tensor.path)) != wanted:  # a bracketed name, of which several may look alike
            exact = [t for t in self.paths[wanted] if [type(k) for k in t.path] == [type(v) for _, v in steps(whole)]]
            tensor = (exact or self.paths[wanted] or [tensor])[0]
        for part in parts:
            tensor = tensor.components.get(part) if tensor is not None else None
        return tensor


def tensors_differ(checkpoint: inert.Checkpoint, expected: dict[str, Any]) -> Iterator[str]:
    listing = Listing(dict(checkpoint.tensors))
    found: list[tuple[dict[str, Any], Tensor]] = []
    for entry in expected["tensors"]:
        if odd_key(entry["path"]):
            same = (t for t in listing.tensors.values() if (t.dtype, list(t.shape)) == (entry["dtype"], entry.get("shape", list(t.shape))))
            if not any(t.sha256() == entry.get("sha256", t.sha256()) for t in same):
                yield f"no tensor like {name_of(entry['path'])}"
            continue
        tensor = listing.find(entry["path"])
        if tensor is None:
            yield f"missing {name_of(entry['path'])}"
            continue
        found.append((entry, tensor))
        yield from (f"{entry['name']}: {text}" for text in tensor_differs(tensor, entry))
    yield from sharing_differs(found)
    arrays = {name_of(leaf["path"]) for leaf in expected.get("leaves", ()) if leaf["type"] == "numpy.ndarray"}
    known = {id(tensor) for _, tensor in found}
    inside = tuple(
        f"{name_of(leaf['path'][:-1])}." for leaf in expected.get("leaves", ()) if leaf["type"].endswith("ScriptObject")
    )  # packed weights
    if not any(odd_key(entry["path"]) for entry in expected["tensors"]) and "full_data_tensors" not in expected:
        strange = (name for name, t in listing.tensors.items() if id(t) not in known and name not in arrays and t.kind != "numpy")
        yield from (f"invented {name}" for name in strange if not name.startswith(inside))


def tensor_differs(tensor: Tensor, entry: dict[str, Any]) -> Iterator[str]:
    yield from unequal("dtype", str(tensor.dtype), entry["dtype"])
    if entry.get("layout") == "nested":
        yield from unequal("kind", tensor.kind, "nested")
        parts = [(list(part.shape), part.sha256()) for part in tensor.components.values()]
        yield from unequal("components", parts, [(part["shape"], part["sha256"]) for part in entry["components"]])
        return
    yield from unequal("shape", list(tensor.shape), entry["shape"])
    if "requires_grad" in entry and not entry.get("layout"):
        yield from unequal("requires_grad", tensor.requires_grad, entry["requires_grad"])
    if entry.get("meta"):
        yield from unequal("kind", tensor.kind, "meta")
    elif entry.get("layout"):
        yield from unequal("kind", tensor.kind, entry["layout"])
        if "sha256_dense" in entry and entry["dtype"] != "bool":
            yield from unequal("dense", hashlib.sha256(np.ascontiguousarray(tensor.numpy()).tobytes()).hexdigest(), entry["sha256_dense"])
    if "stride" in entry and math.prod(entry["shape"]) > 1:
        yield from unequal("strides", list(tensor.strides), entry["stride"])
    if "strings" in entry:
        texts = [[len(text), hashlib.sha256(text).hexdigest()] for text in tensor.numpy().reshape(-1).tolist()]
        yield from unequal("strings", texts, entry["strings"])
    if entry.get("sha256"):
        yield from unequal("sha256", tensor.sha256(), entry["sha256"])
        yield from pieces_differ(tensor)
    if entry.get("quantized"):
        yield from quantization_differs(tensor, entry)


def pieces_differ(tensor: Tensor) -> Iterator[str]:
    """chunks() and numpy() say what sha256() says."""
    raw = b"".join(tensor.chunks())
    yield from unequal("chunks", hashlib.sha256(raw).hexdigest(), tensor.sha256())
    yield from unequal("nbytes", len(raw), tensor.nbytes)
    if tensor.dtype.packed == 1 and tensor.dtype.numpy:
        array = tensor.numpy()
        yield from unequal("numpy", (array.shape, np.ascontiguousarray(array).tobytes()), (tensor.shape, raw))


def quantization_differs(tensor: Tensor, entry: dict[str, Any]) -> Iterator[str]:
    facts = tensor.layout.quantization
    yield from unequal("kind", tensor.kind, "quantized")
    yield from unequal("scheme", f"torch.{facts['scheme']}", entry["qscheme"])
    if "q_scale" in entry:
        yield from unequal("scale", (facts["scale"], facts["zero_point"]), (entry["q_scale"], entry["q_zero_point"]))
    elif "q_scales" in entry:
        yield from unequal("axis", facts["axis"], entry["q_axis"])
        yield from unequal("scales", tensor.components["scales"].numpy().tolist(), entry["q_scales"])
        yield from unequal("zero points", tensor.components["zero_points"].numpy().tolist(), entry["q_zero_points"])
    if "dequantized" in entry:
        yield from unequal(
            "dequantized", hashlib.sha256(np.ascontiguousarray(tensor.dequantize()).tobytes()).hexdigest(), entry["dequantized"]
        )


def sharing_differs(found: list[tuple[dict[str, Any], Tensor]]) -> Iterator[str]:
    """Equal groups exactly where storages are equal, with equal offsets."""
    groups: dict[int, Any] = {}
    storages: dict[Any, int] = {}
    for entry, tensor in found:
        if "storage_group" not in entry or not math.prod(entry["shape"]):
            continue
        storage = tensor.storage
        assert storage is not None
        if groups.setdefault(entry["storage_group"], storage) != storage:
            yield f"{entry['name']}: sharing lost"
        if storages.setdefault(storage, entry["storage_group"]) != entry["storage_group"]:
            yield f"{entry['name']}: sharing invented"
        yield from (f"{entry['name']}: {text}" for text in unequal("offset", tensor.offset, entry["storage_offset"]))


def unequal(what: str, found: Any, wanted: Any) -> Iterator[str]:
    if found != wanted:
        yield f"{what} {found!r:.200}, not {wanted!r:.200}"


# ---------------------------------------------------------------------------------------------------------------------- leaves


def place(root: Any, path: list[list[Any]]) -> Any:
    """What stands at a path of the saved object; NOWHERE where there is nothing."""
    for kind, step in path:
        if kind == "class":
            break
        try:
            if kind in ("key", "index"):
                root = root[step]
            elif isinstance(root, Object):
                root = root.fields[step]
            else:
                root = vars(root)[step] if hasattr(root, "__dict__") else getattr(root, step)
        except (KeyError, IndexError, TypeError, AttributeError):
            return NOWHERE
    return root


def leaves_differ(root: Any, expected: dict[str, Any], told: Counter[str] | None) -> Iterator[str]:
    for leaf in expected.get("leaves", ()):
        kind, path = leaf["type"], leaf["path"]
        if kind in UNTOLD or odd_key(path) or configured(root, path):
            continue
        found = place(root, path)
        told = Counter() if told is None else told
        told[kind] += 1
        if found is NOWHERE:
            yield f"value {leaf['name']}: no such place"
        elif not LEAVES.get(kind, LEAVES["enum"] if is_enum(leaf) else never)(found, leaf):
            yield f"value {leaf['name']} ({kind}): {found!r:.100}, not {leaf.get('value')!r:.100}"


def configured(root: Any, path: list[list[Any]]) -> bool:
    """Below an OmegaConf container or a dict subclass with attributes, which inert gives as plain dict and list."""
    for i, (kind, _) in enumerate(path):
        if kind == "attr" and type(place(root, path[:i])) in (dict, list, int, float, str, bool, type(None)):
            return True
        if kind == "class" and type(place(root, path[:i])) in (dict, list, int, float, str, bool, type(None)):
            return True
    return False


def is_enum(leaf: dict[str, Any]) -> bool:
    return isinstance(leaf.get("value"), dict) and "enum" in leaf["value"]


def never(found: Any, leaf: dict[str, Any]) -> bool:
    return False


def number(value: Any) -> Any:
    if isinstance(value, dict):
        return int(value["int"]) if "int" in value else float(value["float"])
    return value


def same_number(found: Any, leaf: dict[str, Any]) -> bool:
    wanted = number(leaf["value"])
    if type(found).__name__ != leaf["type"]:
        return False
    if isinstance(wanted, float) and (math.isnan(wanted) or wanted == 0):
        return math.isnan(found) if math.isnan(wanted) else found == 0 and math.copysign(1, found) == math.copysign(1, wanted)
    return bool(found == wanted)


def same_bytes(kind: type) -> Callable[[Any, dict[str, Any]], bool]:
    def same(found: Any, leaf: dict[str, Any]) -> bool:
        value = leaf["value"]
        return type(found) is kind and (found[: len(value["hex"]) // 2].hex(), len(found), hashlib.sha256(bytes(found)).hexdigest()) == (
            value["hex"],
            value["len"],
            value["sha256"],
        )

    return same


def same_text(found: Any, leaf: dict[str, Any]) -> bool:
    wanted = leaf["value"]
    if isinstance(wanted, dict) and "sha256_utf8" in wanted:
        return (len(found), hashlib.sha256(found.encode("utf-8", "surrogatepass")).hexdigest()) == (wanted["len"], wanted["sha256_utf8"])
    return type(found) is str and found == wanted


def text_of(module: str, kind: str, spell: Callable[[Any], str] = str) -> Callable[[Any, dict[str, Any]], bool]:
    """Values of a standard class, told by their text."""

    def same(found: Any, leaf: dict[str, Any]) -> bool:
        return (type(found).__module__.partition("._")[0], type(found).__name__, spell(found)) == (module, kind, leaf["value"])

    return same


def same_array(found: Any, leaf: dict[str, Any]) -> bool:
    if leaf["dtype_str"].startswith("[") or isinstance(found, Object):
        return isinstance(found, Object) and found.type.startswith("numpy.")  # records and masked arrays are kept as they are
    if leaf["dtype"] == "object":
        return list(map(repr, found)) == leaf["value"]
    if not isinstance(found, Tensor) or found.kind != "numpy":
        return False
    array = found.numpy()
    if "sha256" not in leaf:
        return list(array.shape) == leaf["shape"] and [str(item) for item in array.ravel().tolist()] == leaf["value"]
    if leaf["dtype_str"][1] in "biufc":
        name = np.dtype(leaf["dtype_str"]).name
        return (str(found.dtype), list(found.shape), found.sha256(), array.dtype.name) == (name, leaf["shape"], leaf["sha256"], name)
    same = (array.dtype.str, list(array.shape)) == (leaf["dtype_str"], leaf["shape"])
    return same and hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() == leaf["sha256"]


def same_scalar(found: Any, leaf: dict[str, Any]) -> bool:
    kind = leaf["type"].removeprefix("numpy.")
    if not isinstance(found, np.generic) or type(found).__name__.rstrip("_") != kind.rstrip("_"):
        return False
    value = leaf["value"]
    if isinstance(found, np.bytes_):
        return bytes(found).hex() == value["hex"]
    if isinstance(found, np.complexfloating):
        return [found.real, found.imag] == value
    return (str(found) if isinstance(found, (np.datetime64, np.timedelta64)) else found.item()) == number(value)


def empty(kind: type) -> Callable[[Any, dict[str, Any]], bool]:
    return lambda found, leaf: type(found) is kind and not found and found is not None


def same_enum(found: Any, leaf: dict[str, Any]) -> bool:
    """An Enum member is kept as an object: its class and the value it is looked up by."""
    return isinstance(found, Object) and found.type == leaf["type"] and repr(found.arguments[0]) == leaf["value"]["repr"]


def same_global(found: Any, leaf: dict[str, Any]) -> bool:
    """A name; a method is a getattr of its class."""
    if isinstance(found, Object) and found.type == "builtins.getattr":
        return ".".join(getattr(part, "dotted", part) for part in found.arguments) == leaf["value"]
    return isinstance(found, Global) and found.dotted == leaf["value"].replace("__builtin__.", "builtins.")


def same_class(found: Any, leaf: dict[str, Any]) -> bool:
    wanted = leaf["path"][-1][1]
    if wanted in ("argparse.Namespace", "types.SimpleNamespace"):
        return type(found).__name__ == "Namespace"
    return (
        isinstance(found, Object) and found.type == wanted
    ) or f"{type(found).__module__}.{type(found).__name__}" == wanted == "uuid.UUID"


def same_metadata(found: Any, leaf: dict[str, Any]) -> bool:
    return {key: dict(value) for key, value in found.items()} == leaf["value"]


def same_storage(found: Any, leaf: dict[str, Any]) -> bool:
    raw = found.span().read()
    return (len(raw), hashlib.sha256(raw).hexdigest()) == (leaf["value"]["nbytes"], leaf["value"]["sha256"])


def same_set(kind: type) -> Callable[[Any, dict[str, Any]], bool]:
    return lambda found, leaf: type(found) is kind and sorted(map(repr, found)) == sorted(leaf["value"])


LEAVES: dict[str, Callable[[Any, dict[str, Any]], bool]] = {
    "int": same_number, "float": same_number, "str": same_text,
    "str(py2)": lambda found, leaf: found == leaf["value"] and type(found) is str,
    "bytes(py2 str)": lambda found, leaf: bytes(found).hex() == leaf["value"]["hex"],
    "bool": lambda found, leaf: found is leaf["value"], "NoneType": lambda found, leaf: found is None,
    "complex": lambda found, leaf: type(found) is complex and [found.real, found.imag] == leaf["value"],
    "bytes": same_bytes(bytes), "bytearray": same_bytes(bytearray), "_metadata": same_metadata, "object": same_class, "enum": same_enum,
    "numpy.ndarray": same_array, "global": same_global,
    "torch.Size": lambda found, leaf: type(found).__name__ == "Size" and list(found) == leaf["value"],
    "torch.dtype": lambda found, leaf: f"torch.{found}" == leaf["value"], "torch.device": lambda found, leaf: str(found) == leaf["value"],
    "collections.deque": lambda found, leaf: type(found) is deque and ((leaf["value"] == [] and not found) or repr(found) == leaf["value"]),
    "datetime.datetime": text_of("datetime", "datetime"), "datetime.date": text_of("datetime", "date"), "datetime.timedelta": text_of("datetime", "timedelta"),
    "datetime.time": text_of("datetime", "time", repr), "datetime.timezone": text_of("datetime", "timezone", repr),
    "decimal.Decimal": text_of("decimal", "Decimal", repr), "fractions.Fraction": text_of("fractions", "Fraction", repr), "uuid.UUID": text_of("uuid", "UUID", repr),
    "pathlib.PosixPath": text_of("pathlib", "PurePosixPath"), "pathlib.PurePosixPath": text_of("pathlib", "PurePosixPath"), "pathlib.PureWindowsPath": text_of("pathlib", "PureWindowsPath"),
    "builtins.dict": empty(dict), "builtins.list": empty(list), "collections.OrderedDict": empty(OrderedDict), "collections.defaultdict": empty(defaultdict), "collections.Counter": empty(Counter),
    "torch.FloatStorage": same_storage, "torch.storage.TypedStorage": same_storage, "torch.storage.UntypedStorage": same_storage,
    "numpy.dtypes.Float32DType": lambda found, leaf: repr(found) == leaf["value"], "numpy.dtype[float32]": lambda found, leaf: repr(found) == leaf["value"],
    "builtins.tuple": lambda found, leaf: found == () and isinstance(found, tuple),
}  # fmt: skip
for _kind in ("Int16DType", "DateTime64DType"):
    LEAVES[f"numpy.dtypes.{_kind}"] = LEAVES["numpy.dtypes.Float32DType"]
for _kind in (set, frozenset):
    LEAVES[_kind.__name__] = LEAVES[f"builtins.{_kind.__name__}"] = LEAVES[f"__builtin__.{_kind.__name__}"] = same_set(_kind)
for _kind in (range, slice):
    LEAVES[_kind.__name__] = LEAVES[f"builtins.{_kind.__name__}"] = LEAVES[f"__builtin__.{_kind.__name__}"] = text_of(
        "builtins", _kind.__name__, repr
    )
for _name in ("dict", "list", "tuple"):
    LEAVES[f"__builtin__.{_name}"] = LEAVES[f"builtins.{_name}"]
for _name in [
    "bool",
    "bool_",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bytes_",
    "str_",
    "datetime64",
    "timedelta64",
]:
    LEAVES[f"numpy.{_name}"] = same_scalar


# --------------------------------------------------------------------------------------------------------------------- any file


class Look:
    """What a look over a file found: ``opened``, or ``refused`` with its sentence; how many tensors were hashed and how many refused."""

    def __init__(self) -> None:
        self.opened = False
        self.refused = ""
        self.hashed = self.damaged = 0
        self.names: list[str] = []
        self.codes: list[str] = []
        self.verdict: str = ""


def look_over(path: Any, **options: Any) -> Look:
    """Open, list, hash, walk the root, the parts, the metadata and the notes. Only an InertError is an answer; each is one line."""
    look = Look()
    try:
        with inert.open(path, **options) as checkpoint:
            look.opened = True
            for name, tensor in checkpoint.tensors.items():
                look.names.append(name)
                repr(tensor)
                for ask in (tensor.sha256, lambda tensor=tensor: tensor.file_offset):
                    try:
                        ask()
                        look.hashed += ask == tensor.sha256
                    except InertError as error:
                        look.damaged += 1
                        one_line(error)
            for note in checkpoint.notes:
                assert "\n" not in str(note)
                look.codes.append(note.code)
            assert all(part.size >= 0 for part in checkpoint.parts.values())
            repr(
                (
                    checkpoint.root if not isinstance(checkpoint.root, (dict, list, tuple)) else type(checkpoint.root),
                    dict(checkpoint.metadata),
                )
            )
            for document in checkpoint.pickles.values():
                assert sum(1 for _ in document.made) >= 0
    except InertError as error:
        one_line(error)
        look.refused = f"{type(error).__name__}: {error}"
    return look


def one_line(error: InertError) -> None:
    text = str(error)
    assert text.strip()
    assert text.isprintable(), text


def calls(checkpoint: inert.Checkpoint) -> set[str]:
    """The dotted names that the pickles ask to call."""
    return {node.dotted for document in checkpoint.pickles.values() for node in document.made if isinstance(node, Call) and node.dotted}
