"""The rebuild table: a call that torch's pickles make for a tensor → the tensor's Layout, without making the call.

Knows: the argument tuples of torch's rebuild functions, and what must hold of them.
Refuses to know: where storages lie; a ``Storages`` object given by the format answers that. Arguments are read as data: wrong ones
raise ``Odd`` and the call stays an inert node; right ones that do not fit their storage give a Layout with a ``fault``.

Facts: torch 2.13 torch/_utils.py, torch/_tensor.py, torch/storage.py; older forms: torch 0.1 to 1.5 (same files).
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from ..dtypes import DType
from ..errors import InertError
from ..layout import Layout, Storage, bounds, is_contiguous
from ..pickle.nodes import ByteString, Call, Dict, Global, List, Reference, shown
from ..tensor import Tensor
from ..tiled import Box, tiled
from . import placements
from .inline import list_tensor
from .storages import DTYPE_VALUES, SPARSE_NUMBERS, SPARSE_PARTS, STORAGE_TYPES, TENSOR_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..limits import Limits
    from ..source import Span

    Declared = tuple[DType, int, str]  # element type, how many elements, device


TYPE_TAG = "torch.jit._pickle.restore_type_tag"


class Odd(Exception):
    """The arguments are not what the function takes."""


class Storages:
    """The storages of one pickle: made once per key from persistent ids, so that shared storage is one object."""

    def __init__(self, size: Callable[[str], int | None], opener: Callable[[str], Span], order: str, prefix: str = "data/") -> None:
        self.size = size  # of the record of a key in bytes, or None where there is none
        self.opener = opener
        self.order = order
        self.prefix = prefix
        self.known: dict[str, Storage] = {}
        self.declared: dict[str, Declared] = {}  # by key: what it is first declared to be counts, as in torch
        self.others: dict[tuple[str, DType, int], Storage] = {}  # what a key is declared to be later, where the first word does not count
        self.differing: set[str] = set()  # keys with several words on them
        self.retyped: set[str] = set()
        self.recounted: set[str] = set()
        self.missing = ""  # code of the finding for a storage that is not there, "" where the format says it in its own way
        self.views: dict[str | int, Storage] = {}
        self.embedded: Callable[[Call], Storage] | None = None  # the builder's: plain pickle puts a torch file into a call for each storage

    def of(self, node: Any) -> Storage:
        """The Storage of a Reference, or of a call whose argument holds one. Odd where it names none."""
        if isinstance(node, Call) and self.embedded is not None:
            return self.embedded(node)
        if type(node) is not Reference:
            raise Odd("the storage is no persistent id")
        storage = self.get(*self.said(node))
        pid = node.pid
        view = pid[5] if len(pid) == 6 else None
        if view is None:
            return storage
        if type(view) is not tuple or len(view) != 3:
            raise Odd("view metadata must be (key, offset, size)")
        return self.view(storage, *view)

    def said(self, node: Reference) -> tuple[Any, DType, Any, Any]:
        """Key, element type, device and number of elements that a persistent id names. Odd where it names no storage."""
        pid = node.pid
        if type(pid) is not tuple or not 5 <= len(pid) <= 6 or text(pid[0]) != "storage":
            raise Odd(f"persistent id {shown(pid)} names no storage")
        kind, key, location, count = pid[1:5]
        dtype = STORAGE_TYPES.get(kind.dotted) if type(kind) is Global else None
        if dtype is None:
            raise Odd(f"{shown(kind)} is no storage type")
        return text(key), dtype, text(location), count

    def key(self, node: Reference) -> Any:
        """The key that a persistent id names; the node itself where that is no text."""
        try:
            key = self.said(node)[0]
        except Odd:
            return node
        return key if type(key) is str else node

    def declare(self, node: Reference) -> None:
        """Take a persistent id's word on its storage, unless there is an earlier one."""
        try:
            key, dtype, location, count = self.said(node)
        except Odd:
            return
        if type(key) is str and type(count) is int and type(location) is str and count.bit_length() <= 63:
            word = (dtype, count, location)
            if self.declared.setdefault(key, word) != word:
                self.differing.add(key)

    def value(self, node: Reference) -> Any:
        """What a Reference stands for: a Storage, a class (its Global), or, in the tar layout, the Layout of a tensor."""
        named = class_of(node)
        return self.of(node) if named is None else named

    def view(self, root: Storage, key: Any, offset: Any, count: Any) -> Storage:
        """A storage that is a run of another's elements (PyTorch 0.1 and 0.2 had such), made once per key."""
        key, width = text(key), root.dtype.itemsize
        if type(key) not in (str, int) or type(offset) is not int or type(count) is not int:
            raise Odd("a storage view's key, offset and size must be a text and two numbers")
        if max(offset.bit_length(), count.bit_length()) > 63:
            raise Odd("a storage view beyond 64 bits")
        known = self.views.get(key)
        if known is None:
            name = f"{root.key}[{offset}:{offset + count}]"
            known = Storage(name, count * width, root.dtype, root.device, lambda: root.span().sub(offset * width, count * width))
            known.order = root.order
            if root.fault or min(offset, count) < 0 or (offset + count) * width > root.nbytes:
                known.fault = root.fault or f"its storage {name} does not lie inside {root.key}"
            self.views[key] = known
        return known

    def get(self, key: Any, dtype: DType, location: Any, count: Any) -> Storage:
        if type(key) is not str or type(count) is not int or type(location) is not str:
            raise Odd("a storage's key, location and size must be a text, a text and a number")
        if count.bit_length() > 63:
            raise Odd("a storage's size is beyond 64 bits")
        said = (dtype, count, location)
        first = self.declared.setdefault(key, said)
        storage = self.known.get(key) or self.known.setdefault(key, self._make(key, *first))
        return storage if first == said else self._again(key, storage, said)

    def _again(self, key: str, storage: Storage, said: Declared) -> Storage:
        """A key that is declared twice, and differently. Torch goes by the first word (but for a storage without bytes), and refuses
        the file where that is not what the record holds: here a later word that is true of the record is believed."""
        dtype, count, _ = said
        here = storage.nbytes and not storage.fault
        if dtype is not storage.dtype and (here or storage.fault):
            self.retyped.add(key)
        if count * dtype.itemsize != storage.nbytes:
            self.recounted.add(key)
        if here:
            return storage
        other = self.others.get((key, dtype, count)) or self.others.setdefault((key, dtype, count), self._make(key, *said))
        return storage if other.fault and storage.fault else other

    def _make(self, key: str, dtype: DType, count: int, location: str) -> Storage:
        nbytes = count * dtype.itemsize
        if location == "meta":
            return Storage(self.prefix + key, max(nbytes, 0), dtype, "meta", None)
        there = self.size(key)
        storage = Storage(self.prefix + key, nbytes, dtype, location, partial(self.opener, key))
        if self.order != "little":
            storage.order = self.order
        if there != nbytes:
            what = "is not in the file" if there is None else f"holds {there:,} bytes where the pickle says {nbytes:,}"
            storage.fault = f"its storage {storage.key.removeprefix('storage ')} {what}"
            storage.lack = self.missing if there is None else "record-size"
        return storage


def class_of(node: Reference) -> Global | None:
    """The class that a persistent id stands for: ('module', class, file, source) before torch 1.6, (class, file, source) before 0.1.10."""
    pid = node.pid
    if type(pid) is not tuple or not 3 <= len(pid) <= 4 or (len(pid) == 4 and text(pid[0]) != "module"):
        return None
    return pid[-3] if type(pid[-3]) is Global else None


def class_name(node: Any) -> str:
    """The dotted name of a class that a Global or a persistent id stands for; "" for anything else."""
    named = class_of(node) if type(node) is Reference else node
    return named.dotted if type(named) is Global else ""


def text(value: Any) -> Any:
    """A Python 2 text as str, where it is one."""
    if type(value) is ByteString:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    return value


PARTS = 1 << 20  # numbers that describe one nested tensor
DIMENSIONS = 1024  # of a size or stride that is looked at: one tuple may serve many tensors
ENTRIES = 1 << 16  # of the states of all wrapper subclasses of a pickle, beside one for each of its bytes: one state may serve many of them
PART = 16  # such entries that a component costs; its record in the pickle is longer


def integers(value: Any) -> tuple[int, ...]:
    """The numbers of a tuple, list or torch.Size."""
    if isinstance(value, Call) and value.dotted == "torch.Size" and type(value.arguments) is tuple and len(value.arguments) == 1:
        value = value.arguments[0]
    if type(value) is List and len(value.items) <= DIMENSIONS:
        value = tuple(value.items)
    if type(value) is not tuple or len(value) > DIMENSIONS or any(type(item) is not int for item in value):
        raise Odd("a size or stride is no tuple of numbers")
    if any(item.bit_length() > 63 for item in value):
        raise Odd("a size or stride beyond 64 bits")
    return value


def dtype_of(value: Any) -> DType:
    dtype = DTYPE_VALUES.get(value.dotted) if type(value) is Global else None
    if dtype is None:
        raise Odd(f"{shown(value)} is no dtype")
    return dtype


def take(arguments: Any, least: int, most: int) -> list[Any]:
    """The arguments, filled up with None to ``most``. Odd where there are fewer or more than the function takes."""
    if type(arguments) is not tuple or not least <= len(arguments) <= most:
        got = len(arguments) if type(arguments) is tuple else type(arguments).__name__
        raise Odd(f"{got} arguments where {least} to {most} are wanted" if least < most else f"{got} arguments where {least} are wanted")
    return [*arguments, *[None] * (most - len(arguments))]


class Rebuilder:
    """Calls → Layouts, of a pickle of ``size`` bytes."""

    def __init__(self, storages: Storages, limits: Limits, size: int = 0) -> None:
        self.storages = storages
        self.limits = limits
        self._depth = 0
        self._lists: dict[tuple[int, str], Tensor] = {}  # made of lists of numbers, by their ids: the document keeps them alive
        self._entries = ENTRIES + size

    def spend(self, entries: int) -> None:
        self._entries -= entries
        if self._entries < 0:
            raise Odd("the states of wrapper subclasses are shared by so many that reading them would take far longer than the file is")

    def layout(self, call: Call) -> Layout:
        """The Layout that ``call`` asks to build. Odd where its arguments are wrong; KeyError where it is no tensor call."""
        if self._depth > 16:
            raise Odd("tensors wrapped in tensors, more than 16 deep")
        self._depth += 1
        try:
            return REBUILD[call.dotted](self, call)
        finally:
            self._depth -= 1

    def tensor(self, node: Any) -> Tensor:
        """A component: a tensor call inside another's arguments, or what stands for a tensor in the tar layout."""
        if type(node) is Reference and type(layout := self.storages.value(node)) is Layout:
            return Tensor(layout, limits=self.limits)
        if not isinstance(node, Call) or node.dotted not in REBUILD:
            raise Odd(f"{shown(node)} is no tensor")
        return Tensor(self.layout(node), limits=self.limits)

    def numbers(self, scheme: str, scales: Any, zeros: Any) -> list[Tensor]:
        """Scales and zero points: two tensors, or two lists of numbers, of which each is looked through once."""
        if type(scales) is not List or type(zeros) is not List:
            return [self.tensor(scales), self.tensor(zeros)]
        found = []
        for node, dtype in zip((scales, zeros), ("float32",) * 2 if "float_qparams" in scheme else ("float64", "int64"), strict=True):
            if (id(node), dtype) not in self._lists:
                self._lists[id(node), dtype] = list_tensor(node, dtype, self.limits)
            found.append(self._lists[id(node), dtype])
        return found

    def strided(self, storage: Storage, dtype: DType, offset: Any, size: Any, stride: Any, grad: Any = False) -> Layout:
        shape, strides = integers(size), integers(stride)
        if type(offset) is not int or offset.bit_length() > 63 or type(grad) not in (bool, int):
            raise Odd("the offset is no 64-bit number or requires_grad no boolean")
        layout = Layout(dtype, shape, strides, offset, storage, bool(grad), storage.device)
        if storage.device == "meta":
            layout.kind = "meta"
        fault = storage.fault or bounds(dtype, shape, strides, offset, storage, self.limits.rank)
        if fault:
            layout.fault = fault
        return layout


def _hooks(layout: Layout, hooks: Any) -> Layout:
    """Backward hooks are an empty OrderedDict in every sound file, a plain empty dict in some; anything else is kept as nodes."""
    if not (hooks is None or _bare(hooks)):
        layout.hooks = hooks
    return layout


def _bare(hooks: Any) -> bool:
    """Whether these are no hooks at all: a dictionary without arguments, items or a state that could hold some."""
    if type(hooks) is Dict:
        return not hooks.flat
    if not isinstance(hooks, Call) or hooks.dotted != "collections.OrderedDict":
        return False
    given = hooks.arguments[0] if type(hooks.arguments) is tuple and len(hooks.arguments) == 1 else None  # Python 2: OrderedDict([])
    empty = hooks.arguments == () or (type(given) is List and not given.items)
    return empty and not (hooks.keywords or hooks.states or hooks.flat or hooks.items)


def _bits(layout: Layout, metadata: Any) -> Layout:
    """{'conj': True, 'neg': True}: the stored values are not conjugated or negated yet."""
    if isinstance(metadata, Call) and metadata.dotted == TYPE_TAG and type(metadata.arguments) is tuple and metadata.arguments:
        metadata = metadata.arguments[0]  # the C++ pickler tags every dict with its type
    if metadata is None or not isinstance(metadata, Dict):
        return layout
    for key, value in metadata.pairs():
        if key == "conj" and value is True:
            layout.conj = True
        elif key == "neg" and value is True:
            layout.neg = True
    return layout


def tensor_v1(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride = take(call.arguments, 4, 4)
    held = b.storages.of(storage)
    return b.strided(held, held.dtype, offset, size, stride)


def tensor_v2(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride, grad, hooks, metadata = take(call.arguments, 6, 7)
    held = b.storages.of(storage)
    return _bits(_hooks(b.strided(held, held.dtype, offset, size, stride, grad), hooks), metadata)


def tensor_v3(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride, grad, hooks, dtype, metadata = take(call.arguments, 7, 8)
    return _bits(_hooks(b.strided(b.storages.of(storage), dtype_of(dtype), offset, size, stride, grad), hooks), metadata)


def parameter(b: Rebuilder, call: Call) -> Layout:
    data, grad, hooks, _state = take(call.arguments, 1, 4)
    layout = b.tensor(data).layout.copy()
    layout.requires_grad = grad is None or grad is True
    layout.type = "torch.nn.parameter.Parameter"
    if len(call.arguments) == 4:
        layout.attributes = _state
    for state in call.states:  # (requires_grad, volatile, hooks) of torch 0.x
        if type(state) is tuple and state and type(state[0]) is bool:
            layout.requires_grad = state[0]
    return _hooks(layout, hooks)


def parameter_object(b: Rebuilder, call: Call) -> Layout:
    """Parameter as NEWOBJ: its tensor is in the arguments or in the first state."""
    if type(call.arguments) is tuple and call.arguments:
        return parameter(b, call)
    for state in call.states:
        if type(state) is tuple and state:
            inner = Call(call.function, state[:2], call.offset, call.how)
            return parameter(b, inner)
    raise Odd("a Parameter without data")


def old_tensor(b: Rebuilder, call: Call) -> Layout:
    """torch.FloatTensor() with a state of (storage, offset, size, stride): torch 0.1."""
    state = call.states[-1] if call.states else call.arguments
    storage, offset, size, stride = take(state, 4, 4)
    return b.strided(b.storages.of(storage), TENSOR_TYPES[call.dotted], offset, size, stride)


def sparse(b: Rebuilder, call: Call) -> Layout:
    if type(call.arguments) is tuple and len(call.arguments) in (6, 7):
        return _sparse_flat(b, call.arguments)
    kind, data = take(call.arguments, 2, 2)
    name = kind.dotted if type(kind) is Global else None
    if isinstance(kind, Call) and kind.dotted == "torch.serialization._get_layout":
        name = text(take(kind.arguments, 1, 1)[0])
    roles = SPARSE_PARTS.get(str(name))
    if roles is None or type(data) is not tuple:
        raise Odd(f"{name or shown(kind)} is no sparse layout")
    values = take(data, len(roles) + 1, len(roles) + 2)
    return _sparse(b, str(name), values[len(roles)], values[: len(roles)])


def _sparse_flat(b: Rebuilder, arguments: tuple[Any, ...]) -> Layout:
    """As the C++ pickler has it: (number of the layout, size, requires_grad, components …, hooks)."""
    number, size, grad, *nodes, hooks = arguments
    name = SPARSE_NUMBERS.get(number) if type(number) is int else None
    if name is None or len(nodes) != len(SPARSE_PARTS[name]):
        raise Odd(f"{shown(number)} is no sparse layout of {len(nodes)} components")
    layout = _sparse(b, name, size, nodes)
    layout.requires_grad = grad is True
    return _hooks(layout, hooks)


def _sparse(b: Rebuilder, name: str, size: Any, nodes: list[Any]) -> Layout:
    parts = {role: b.tensor(node) for role, node in zip(SPARSE_PARTS[name], nodes, strict=True)}
    layout = Layout(parts["values"].dtype, integers(size), (), 0, None)
    layout.kind = name.removeprefix("torch.")
    layout.components = parts
    layout.device = parts["values"].device
    layout.fault = next((f"{role}: {part.fault}" for role, part in parts.items() if part.fault), "")
    if not layout.fault and (min(layout.shape, default=0) < 0 or len(layout.shape) > b.limits.rank):
        layout.fault = "a negative size or too many dimensions"
    return layout


def quantized(b: Rebuilder, call: Call) -> Layout:
    storage, offset, size, stride, parameters, grad, hooks = take(call.arguments, 7, 7)
    held = b.storages.of(storage)
    layout = _hooks(b.strided(held, held.dtype, offset, size, stride, grad), hooks)
    layout.kind = layout.kind if layout.kind == "meta" else "quantized"
    if type(parameters) is not tuple or len(parameters) < 3 or type(parameters[0]) is not Global:
        raise Odd("quantisation parameters")
    scheme = parameters[0].dotted.removeprefix("torch.")
    if scheme.startswith("per_tensor"):
        if type(parameters[1]) not in (int, float) or type(parameters[2]) is not int:
            raise Odd("a scale or zero point that is no number")
        layout.quantization = {"scheme": scheme, "scale": parameters[1], "zero_point": parameters[2]}
        return layout
    axis = take(parameters, 4, 4)[3]
    scales, zeros = b.numbers(scheme, parameters[1], parameters[2])
    if scales.dtype == "float32":  # torch tags both kinds alike; float parameters are what tells them apart
        scheme = "per_channel_affine_float_qparams"
    layout.quantization = {"scheme": scheme, "axis": axis}
    layout.components = {"scales": scales, "zero_points": zeros}
    if type(axis) is not int or not 0 <= axis < len(layout.shape) or scales.shape != (layout.shape[axis],) or zeros.shape != scales.shape:
        layout.fault = layout.fault or "its scales and zero points do not fit its shape"
    return layout


def nested(b: Rebuilder, call: Call) -> Layout:
    buffer, *facts = (b.tensor(node) for node in take(call.arguments, 4, 4))
    sizes, strides, offsets = map(_numbers, facts)
    return _jagged(b, buffer, list(zip(map(tuple, sizes), map(tuple, strides), offsets, strict=True)))


def _numbers(tensor: Tensor) -> list[Any]:
    """The integers that say how a nested tensor is laid out; they are data, and read while opening."""
    if tensor.size > PARTS:
        raise Odd(f"a nested tensor described by {tensor.size:,} numbers")
    try:
        array = tensor.numpy()
    except InertError as error:
        raise Odd(f"sizes, strides and offsets of a nested tensor: {error.message}") from None
    if array.dtype.kind not in "iu":
        raise Odd("sizes, strides or offsets of a nested tensor that are no integers")
    numbers: list[Any] = array.tolist()
    return numbers


def _jagged(b: Rebuilder, buffer: Tensor, rows: list[tuple[tuple[int, ...], tuple[int, ...], int]]) -> Layout:
    whole = buffer.layout
    if whole.storage is None:
        raise Odd(f"a nested tensor over a {whole.kind} one")
    common = [row[0] for row in rows]
    shape = tuple(sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*common, strict=True))  # -1: differs from part to part
    layout = Layout(whole.dtype, (len(rows), *shape), (), 0, None, whole.requires_grad, whole.device)
    layout.kind, layout.components = "nested", {}
    for i, (size, stride, start) in enumerate(rows):
        part = b.strided(whole.storage, whole.dtype, whole.offset + start, size, stride)
        layout.components[str(i)] = Tensor(part, limits=b.limits)
    layout.fault = whole.fault or next((part.fault for part in layout.components.values() if part.fault), "")
    return layout


def jagged(b: Rebuilder, call: Call) -> Layout:
    """NestedTensor of the jagged layout: values, offsets, ragged dimension 1 (others stay inert)."""
    state = take(call.arguments, 1, 1)[0]
    if type(state) is not Dict:
        raise Odd("a jagged tensor's state is no dict")
    facts = {key: value for key, value in state.pairs() if type(key) is str}
    layout = _from_offsets(b, b.tensor(facts.get("values")), b.tensor(facts.get("offsets")))
    if facts.get("lengths") is not None or facts.get("_ragged_idx", 1) != 1:
        raise Odd("a jagged tensor with lengths or another ragged dimension")
    layout.requires_grad = facts.get("requires_grad") is True
    return layout


def jagged_object(b: Rebuilder, call: Call) -> Layout:
    """The same as torch 2.3 and earlier pickled it: NestedTensor(values, offsets)."""
    values, offsets = take(call.arguments, 2, 2)
    return _from_offsets(b, b.tensor(values), b.tensor(offsets))


def _from_offsets(b: Rebuilder, values: Tensor, offsets: Tensor) -> Layout:
    at = _numbers(offsets)
    step = values.strides[0] if values.shape else 1
    rows = [((end - start, *values.shape[1:]), values.strides, start * step) for start, end in pairwise(at)]
    return _jagged(b, values, rows)


def meta(b: Rebuilder, call: Call) -> Layout:
    dtype, size, stride, grad = take(call.arguments, 4, 4)
    layout = Layout(dtype_of(dtype), integers(size), integers(stride), 0, None, grad is True, "meta")
    layout.kind = "meta"
    return layout


def from_cpu(b: Rebuilder, call: Call) -> Layout:
    data, dtype, device, grad = take(call.arguments, 4, 4)
    layout = b.tensor(data).layout.copy()
    if layout.dtype != dtype_of(dtype):
        raise Odd("the dtype differs from the data's")
    layout.device, layout.requires_grad = str(text(device)), grad is True
    return layout


def from_numpy(b: Rebuilder, call: Call) -> Layout:
    from .ndarray import array_layout

    data, dtype, device, grad = take(call.arguments, 4, 4)
    layout = array_layout(data, b.limits)
    wanted = dtype_of(dtype)
    if wanted not in (layout.dtype, "bfloat16"):  # bfloat16 travels as float32
        raise Odd(f"an array of {layout.dtype} for a tensor of {wanted}")
    layout.kind, layout.device, layout.requires_grad = "dense", str(text(device)), grad is True
    return layout


def wrapper(b: Rebuilder, call: Call) -> Layout:
    kind, dtype, size, stride, offset, _, device, grad = take(call.arguments, 8, 8)
    layout = Layout(dtype_of(dtype), integers(size), integers(stride), offset if type(offset) is int else 0, None, grad is True)
    layout.kind = "wrapper"
    layout.type = kind.dotted if type(kind) is Global else ""
    where = take(device.arguments, 1, 2)[0] if isinstance(device, Call) and device.dotted == "torch.device" else ""
    layout.device = str(text(where))
    return layout


def from_type(b: Rebuilder, call: Call) -> Layout:
    function, kind, arguments, state = take(call.arguments, 4, 4)
    inner = Call(function, arguments, call.offset, call.how)
    if inner.dotted not in REBUILD:
        raise Odd(f"{shown(function)} rebuilds no tensor")
    layout = b.layout(inner).copy()
    if type(kind) is Global and kind.dotted != "torch.Tensor":
        layout.type = kind.dotted
    layout.attributes = state
    if layout.kind == "wrapper":
        _wrap(b, layout, state, call.offset)
    return layout


def sharded_object(b: Rebuilder, call: Call) -> Layout:
    """A ShardedTensor before torch 1.13, where it was no tensor: an object whose state is that of the later ones."""
    state: Any = call.states[-1] if call.states else None
    if type(state) is not tuple or len(state) != 5:
        raise Odd("a ShardedTensor without a state of five parts")
    said = placements.fields(state[1], "ShardedTensorMetadata")
    properties = said.get("tensor_properties")
    facts = properties.states[-1] if isinstance(properties, Call) and properties.states else None
    if type(facts) is tuple and len(facts) > 2:
        dtype, grad = facts[0], facts[2]
    else:
        dtype, grad = map(placements.attributes(facts).get, ("dtype", "requires_grad"))
    layout = Layout(dtype_of(dtype), integers(said.get("size")), (), 0, None, grad is True)
    layout.kind, layout.type, layout.attributes = "wrapper", call.dotted, state
    _wrap(b, layout, state, call.offset)
    return layout


def _wrap(b: Rebuilder, layout: Layout, state: Any, offset: int) -> None:
    """Give a wrapper subclass its components, and what one rank's file says of the whole."""
    b.spend(1 + PART * placements.cost(state))
    known = placements.placed(layout.type, state, layout.shape)
    nodes = _inner_tensors(b, state) if known is None else known.parts
    layout.components = {role: b.tensor(node) for role, node in nodes.items() if isinstance(node, Call) and node.dotted in REBUILD}
    layout.fault = next((f"{role}: {part.fault}" for role, part in layout.components.items() if part.fault), "")
    if known is None:
        return
    parts = layout.components
    boxes = {role: box for role, box in known.boxes.items() if role in parts and parts[role].shape == box[1]}
    odd = [role for role in known.boxes if role not in boxes]
    layout.placement = known.text + (f" (but {odd[0]} is not of that shape)" if odd else "")
    layout.boxes = boxes
    layout.partial = known.partial
    layout.holds = placements.holds(boxes, layout.shape)
    if not odd and not layout.fault and not known.partial:
        _whole(b, layout, offset)


def _whole(b: Rebuilder, layout: Layout, offset: int) -> None:
    """Where local tensors are all of it, the whole can be read from them: one is a view of its storage, several are tiles."""
    parts = [(layout.components[role], box) for role, box in layout.boxes.items()]
    plain = all(part.kind == "dense" and part.dtype == layout.dtype for part, _ in parts)
    if not plain or not parts or len(layout.boxes) != len(layout.components):
        return
    full = next((part.layout for part, box in parts if box == ((0,) * len(layout.shape), layout.shape)), None)
    if full is not None:
        layout.storage, layout.strides, layout.offset = full.storage, full.strides, full.offset
        layout.conj, layout.neg = full.conj, full.neg
    elif all(is_contiguous(part.shape, part.strides) and not (part.layout.conj or part.layout.neg) for part, _ in parts):
        tiles = [Box(start, size, part) for part, (start, size) in parts]
        made = tiled(layout.dtype, layout.shape, tiles, f"shards@{offset}", b.limits)
        if not made.fault:
            layout.kind, layout.storage, layout.strides = made.kind, made.storage, made.strides


def _inner_tensors(b: Rebuilder, state: Any) -> dict[str, Any]:
    """The nodes of tensors that a wrapper subclass keeps in its state, by attribute: torchao's data and scales."""
    found: dict[str, Any] = {}
    for part in state if type(state) is tuple else (state,):
        if type(part) is Dict:
            b.spend(len(part.flat) // 2)
            found |= {key: value for key, value in part.pairs() if type(key) is str and isinstance(value, Call) and value.dotted in REBUILD}
    b.spend(PART * len(found))
    return found


REBUILD: dict[str, Callable[[Rebuilder, Call], Layout]] = {
    "torch._utils._rebuild_tensor": tensor_v1,
    "torch._utils._rebuild_tensor_v2": tensor_v2,
    "torch._utils._rebuild_tensor_v3": tensor_v3,
    "torch._utils._rebuild_parameter": parameter,
    "torch._utils._rebuild_parameter_with_state": parameter,
    "torch.nn.parameter.Parameter": parameter_object,
    "torch.nn.Parameter": parameter_object,
    "torch.nn.parameter.Buffer": parameter_object,
    "torch._utils._rebuild_sparse_tensor": sparse,
    "torch._utils._rebuild_sparse_csr_tensor": sparse,
    "torch._utils._rebuild_qtensor": quantized,
    "torch._utils._rebuild_nested_tensor": nested,
    "torch.nested._internal.nested_tensor._rebuild_njt": jagged,
    "torch.nested._internal.nested_tensor.NestedTensor": jagged_object,
    "torch._utils._rebuild_meta_tensor_no_storage": meta,
    "torch._utils._rebuild_device_tensor_from_cpu_tensor": from_cpu,
    "torch._utils._rebuild_device_tensor_from_numpy": from_numpy,
    "torch._utils._rebuild_xla_tensor": from_numpy,
    "torch._utils._rebuild_wrapper_subclass": wrapper,
    "torch._tensor._rebuild_from_type_v2": from_type,
    "torch._tensor._rebuild_from_type": from_type,
    "torch.tensor._rebuild_from_type": from_type,
    "torch._utils._rebuild_from_type_v2": from_type,
    "torch.distributed._shard.sharded_tensor.api.ShardedTensor": sharded_object,
    "torch.distributed._sharded_tensor.api.ShardedTensor": sharded_object,
}
REBUILD.update(dict.fromkeys(TENSOR_TYPES, old_tensor))
