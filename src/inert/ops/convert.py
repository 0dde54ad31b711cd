"""``inert.convert``: any checkpoint that can be read → any format that can be written, changed only where asked.

Knows: the order in which changes are made, and that the whole plan stands before a byte is written.
Refuses to know: how each change is made (the other modules here) and how a format is written (writers).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from ..content import aliased
from ..errors import UnsupportedError, one_line
from ..finding import Finding
from ..names import find
from ..reading import open
from ..saving import tensors_in
from .select import rename as renamed
from .select import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ..checkpoint import Checkpoint
    from ..limits import Limits
    from ..sink import Progress
    from ..torch.respelling import Spelling
    from ..writers import Options
    from .cast import Casting
    from .plain import Replaced


SAME = ("torchscript", "tf-bundle")  # formats that a destination means whose suffix says nothing else


@dataclass(slots=True)
class Converted:
    """What was written: paths of ``written`` files; ``lost``: (name of a value, why it is not in them); ``dropped``: names that were to be
    taken out; ``renamed``: old names → new ones; ``cast``: {name, from, to, overflowed, saturated, zeroed} for each tensor that was cast;
    ``replaced``: values that are other ones now; ``notes``: what else is worth knowing."""

    written: list[str] = field(default_factory=list)
    lost: list[tuple[str, str]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    renamed: dict[str, str] = field(default_factory=dict)
    cast: list[dict[str, Any]] = field(default_factory=list)
    replaced: list[Replaced] = field(default_factory=list)
    notes: list[Finding] = field(default_factory=list)


def convert(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    to: str | None = None,
    root: str | None = None,
    unwrap: bool = False,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    strip: bool = False,
    rename: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    dense: bool = False,
    dtype: str | Sequence[str] | Mapping[str, str] = (),
    rebuild: str | None = None,
    compact: bool = False,
    shared: str = "alias",
    for_weights_only: bool = False,
    lightning: str | None = None,
    device: str | None = None,
    numpy: int = 0,
    protocol: int = 2,
    alignment: int = 0,
    max_shard_size: int | str = 0,
    leaves: str = "lost",
    byteorder: str | None = None,
    limits: Limits | None = None,
    sync: bool = True,
    progress: Progress | None = None,
) -> Converted:
    """Write ``source`` as ``destination``, whose suffix says the format, or ``to`` does. Without changes a file is copied as it is.

    Which part: ``root``: only the value at this dotted path · ``unwrap``: only the state dict, wherever it lies · ``keep``, ``drop``:
    patterns of names (as ``inert ls`` takes them) that stay or go.
    Names: ``strip``: without ``module.``, ``model.`` or ``_orig_mod.`` before every name · ``rename``: regular expressions and what takes
    the place of their matches in tensor names, in order.
    Tensors: ``dense``: sparse, quantised and replicated ones become dense · ``dtype``: floating ones are cast as ``torch.Tensor.to`` does:
    "bf16", or {pattern: type}, of which the last that fits a name counts · ``rebuild="v2"``: types that torch before 2.2 lacks become
    wider ones · ``compact``: views of a part of a storage get one of their own · ``shared``: tensors that share memory stay so ("alias"),
    are copied ("copy"), or are refused ("error").
    The object: ``for_weights_only``: whatever torch.load(weights_only=True) refuses becomes plain data · ``lightning``: a state dict
    becomes a checkpoint of this version of Lightning.
    The pickle: ``device="cpu"``: as if saved from there · ``numpy``: 1 or 2, whose names are used.
    The file: ``protocol``, ``alignment``, ``max_shard_size``, ``leaves``, ``sync``, ``progress``: as ``inert.save`` takes them. The source
    may be the destination.
    Raises as ``inert.open`` and ``inert.save`` do; UnsupportedError where two tensors would have one name, and for what cannot be done."""
    from ..limits import DEFAULT
    from ..torch.respelling import Spelling
    from ..writers import Options, writer_for
    from ..writers.sharded import bytes_of

    _sound(shared, rebuild, for_weights_only, protocol)
    name, done, spelling = os.fsdecode(destination), Converted(), Spelling(device or "", numpy)
    keep, drop = ([one] if isinstance(one, str) else one for one in (keep, drop))
    rules, casting, most = _rules(rename), _casting(dtype, limits or DEFAULT), bytes_of(max_shard_size)
    with open(source, byteorder=byteorder, limits=limits or DEFAULT) as ckpt:
        writer = writer_for(name, to, most, ckpt.format if ckpt.format in SAME else "")  # old layouts become the new one
        if for_weights_only and not writer.id.startswith("torch-"):
            raise UnsupportedError(f"{writer.id} is no format that torch.load reads", hint="name the destination .pt")
        done.notes += ckpt.errors  # what is damaged or missing in the source is so in what is made of it
        value, lost = _part(ckpt, root, unwrap, writer.id)
        if root is None and not unwrap and writer.id != ckpt.format:
            lost = [*lost, *_beside(ckpt, value)]
        added = root is None and value is not ckpt.root
        before = _items(value) if added and not unwrap else []  # of a root to which names were added
        done.notes += aliased(ckpt.content.aliases(ckpt.tensors)) if added and writer.id != ckpt.format else []
        value = _chosen(value, ckpt, done, keep, drop, strip, rules)
        value = _changed(value, ckpt, done, dense, casting, rebuild, compact, shared)
        whole = (value is ckpt.root or (bool(before) and _items(value) == before)) and not for_weights_only and lightning is None
        value = _suited(value, ckpt, done, spelling.device, for_weights_only, lightning)
        inner = to or "" if writer.id == "sharded" and to != writer.id else ""
        options = Options(name, protocol, alignment, most, leaves=leaves, inner=inner)
        plan = _plan(ckpt, value, writer, spelling, options, whole, for_weights_only)
        done.lost = [(name, one_line(why)) for name, why in (*lost, *plan.lost)]
        done.written = plan.pour(name, sync=sync, progress=progress)
        done.notes += plan.notes
        if casting is not None:
            done.cast = casting.told()
            done.notes += casting.findings() + casting.idle()
    return done


def _sound(shared: str, rebuild: str | None, for_weights_only: bool, protocol: int) -> None:
    """UnsupportedError for options that nothing can be done with, whatever the source."""
    if shared not in ("alias", "copy", "error"):
        raise UnsupportedError(f"shared={shared!r}", hint="say alias, copy or error")
    if rebuild not in (None, "v2"):
        raise UnsupportedError(f"rebuild={rebuild!r}", hint="say v2")
    if for_weights_only and protocol > 3:
        raise UnsupportedError(f"torch.load(weights_only=True) reads no pickle of protocol {protocol}", hint="leave it at 2")


def _rules(rename: Mapping[str, str] | Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    try:
        return [(pattern, put) for pattern, put in (rename.items() if hasattr(rename, "items") else rename)]
    except (TypeError, ValueError):
        raise UnsupportedError("rename is no mapping and no list of pairs", hint="give {regular expression: text}") from None


def _suited(value: Any, ckpt: Checkpoint, done: Converted, device: str, for_weights_only: bool, lightning: str | None) -> Any:
    """The object as whoever loads it wants it: from another device, of plain data alone, as a Lightning checkpoint."""
    if device:
        from .shape import on_cpu

        value, notes = on_cpu(value, ckpt.content.limits)
        done.notes += notes
    if for_weights_only:
        value = _plain(value, ckpt, done)
    if lightning is not None:
        from .wrap import lightning as wrapped

        value = wrapped(value, lightning)
    return value


def _casting(dtype: str | Sequence[str] | Mapping[str, str], limits: Limits) -> Casting | None:
    from .cast import Casting, floating, rule

    if hasattr(dtype, "items"):
        rules = [(pattern, floating(name)) for pattern, name in dtype.items()]
    else:
        rules = [rule(text) for text in ([dtype] if isinstance(dtype, str) else dtype)]
    return Casting(rules, limits) if rules else None


def _part(ckpt: Checkpoint, root: str | None, unwrap: bool, to: str) -> tuple[Any, list[tuple[str, str]]]:
    """The value that is to be written, and what is lost by choosing it."""
    from ..writers.roots import contents

    value, lost = contents(ckpt, to) if root is None else (find(ckpt.root, root), [])
    if unwrap:
        if root is not None:
            raise UnsupportedError("root and unwrap both say which part", hint="use one of them")
        from .wrap import weights_path

        path = weights_path(ckpt)
        value = find(value, path) if path else value
    return value, lost


def _chosen(
    value: Any, ckpt: Checkpoint, done: Converted, keep: Sequence[str], drop: Sequence[str], strip: bool, rules: list[tuple[str, str]]
) -> Any:
    """What stays, under its names."""
    limits = ckpt.content.limits
    if keep or drop:
        done.dropped, idle = select(value, keep, drop)
        done.notes += [Finding("pattern-idle", f"{pattern!r} fits nothing that can be kept or left out") for pattern in idle]
        if keep and isinstance(value, (dict, list)) and not value:
            text = "nothing would be left to write: no name fits what is to be kept"
            raise UnsupportedError(text, part=ckpt.content.source.name, hint="inert ls shows the names")
    if strip:
        from .wrap import strip_rules

        found = strip_rules(value, limits)
        rules = [*found, *rules]
        if not found:
            done.notes.append(Finding("pattern-idle", "there is no module., model. or _orig_mod. before every name to be stripped"))
    for rule in rules:
        fresh = renamed(value, [rule], limits)
        if not fresh:
            done.notes.append(Finding("pattern-idle", f"{rule[0]!r} is in no tensor's name"))
        back = {new: old for old, new in done.renamed.items()}
        for old, new in fresh.items():
            done.renamed[back.get(old, old)] = new
    return value


def _changed(
    value: Any, ckpt: Checkpoint, done: Converted, dense: bool, casting: Casting | None, rebuild: str | None, compact: bool, shared: str
) -> Any:
    """The tensors as they are wanted."""
    limits = ckpt.content.limits
    if not (dense or casting or rebuild or compact or shared != "alias"):
        return value
    from . import shape

    first = value
    if shared == "error":
        shape.refuse_shared(value, limits)
    if dense:
        value, notes = shape.dense(value, limits)
        done.notes += notes
    if shared == "copy":
        value = shape.untie(value, limits)
    if compact:
        value = shape.compact(value, limits)
    if casting is not None:
        value = casting.run(value)
    if rebuild == "v2":
        value, notes = shape.rebuild_v2(value, limits)
        done.notes += notes
    if first is ckpt.root and value is not first:
        ckpt.root = value
    return value


def _plain(value: Any, ckpt: Checkpoint, done: Converted) -> Any:
    from .plain import Plainer, Replaced, classes_in, names_in

    classes, others = classes_in(ckpt.content.built)
    plainer = Plainer(ckpt.content.limits, names_in(ckpt.content.built), classes)
    made = plainer.plain(value)
    done.replaced = plainer.replaced + [Replaced("…", f"{count:,} × {name}", "what they hold") for name, count in others.items()]
    return made


def _beside(ckpt: Checkpoint, value: Any) -> list[tuple[str, str]]:
    """Tensors that lie beside the saved object, such as the constants of a program in a package: no other format keeps them."""
    from ..names import Lister

    listed = ckpt.content.listed(ckpt.root)
    if listed is ckpt.root or ckpt.content.listing() is not None:
        return []
    inside = {id(tensor.layout) for tensor in Lister(value, ckpt.content.limits).tensors.values()}
    everything = Lister(listed, ckpt.content.limits).tensors
    return [(name, "it lies beside the saved object") for name, tensor in everything.items() if id(tensor.layout) not in inside]


def _items(value: Any) -> list[tuple[Any, int]]:
    """What a dict holds, by identity."""
    return [(key, id(item)) for key, item in value.items()] if isinstance(value, dict) else []


def _plan(ckpt: Checkpoint, value: Any, writer: Any, spelling: Spelling, options: Options, whole: bool, anew: bool) -> Any:
    """How to write it: a copy of the file where nothing was changed."""
    from ..writers import Saved, copied

    same = whole and writer.id == ckpt.format
    if same and ckpt.content.plain() and ckpt.untouched() and not spelling:
        return copied(ckpt.content.source)
    saved = Saved(value, tensors_in(value), None, None if anew else ckpt)
    saved.spelling = spelling
    return writer.plan(saved, options)
