"""The record of a tensor written again: its very bytes, with other memo indices where it stands elsewhere now.

Knows: when a Row's bytes say the same at another place, and where the indices lie in them.
Refuses to know: how a Row is written step by step (kinds.py), and what it means.
"""

from __future__ import annotations

from struct import pack

from .row import Row, patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .row import Template


def copied(e: Encoder, row: Row) -> bool:
    """Copy the bytes of a row, with other memo indices where it now stands elsewhere. False where it must be written step by step."""
    machine, run, at = e.machine, row.run, row.at
    if machine is None or e.refer is not None or run.machine is not machine or id(row) in machine.changed or e.style.memoize:
        return False
    if not machine.runs:  # memo entries were written twice: what the row's own held is known by its nodes alone
        return False
    template = run.templates[at]
    names = e.templates.get(id(template))
    if names is None:
        names = _names(e, template)
        if names:
            e.templates[id(template)] = names
    data, start, end, last = machine.data, run.starts[at], run.ends[at], run.results[at]
    first = row.first
    named = data[start] == 0x58
    if named:  # the text before it has been written on its own
        start += 5 + int.from_bytes(data[start + 1 : start + 5], "little")
        start += 2 if data[start] == 0x71 else 5
        first += 1
    key = start + template.width
    if not names or data[key] != 0x58:  # names that are not memoised yet; a key that is fetched from the memo
        return False
    shift = e.next - first
    if not shift and names[0] == template.indices:
        e.out.append(data[start:end])
    else:
        e.out.append(_moved(e, data, start, first, last, names))
    if hasattr(row, "_made"):  # the machine has made its parts anew: they may be asked for
        _aliases(e, row, first, shift)
    e.memo[id(row)] = last + shift
    e.next = last + shift + 1
    e.references.append(row)
    return True


def _names(e: Encoder, template: Template) -> tuple[Any, ...]:
    """The memo indices of the names that a row gets, and the opcodes that get them; () where one has none."""
    indices = tuple(e.memo.get(id(node), -1) for node in template.nodes)
    if -1 in indices or any(id(node) in e.swaps for node in template.nodes):
        return ()
    function, tag, kind, location, hooks = (b"h" + bytes((i,)) if i < 256 else b"j" + pack("<I", i) for i in indices)
    return indices, function + b"((" + tag + kind, location, hooks


def _moved(e: Encoder, data: bytes, start: int, first: int, last: int, names: tuple[Any, ...]) -> bytes:
    """The bytes of a row whose memo entries begin at the next index."""
    match = patterns(last < 256)[0].match(data, start)
    assert match is not None
    groups = match.groups()
    count = last + 1 - first
    if e.next >= 256:
        raw = pack(f"<{count}I", *range(e.next, e.next + count))
        puts = iter([b"r" + raw[at : at + 4] for at in range(0, 4 * count, 4)])
    else:
        puts = iter([b"q" + bytes((i,)) if i < 256 else b"r" + pack("<I", i) for i in range(e.next, e.next + count)])
    _, head, location, hooks = names
    text = groups[5]
    key = b"X" + pack("<I", len(text)) + text + next(puts) + location + groups[9] + b"t" + next(puts) + b"Q" + groups[11]
    shape = groups[12] + (next(puts) if groups[13] is not None else b"")
    strides = groups[14] + (next(puts) if groups[15] is not None else b"")
    end = groups[16] + hooks + b")R" + next(puts) + b"t" + next(puts) + b"R" + next(puts)
    return b"".join((head, key, shape, strides, end))


def _aliases(e: Encoder, row: Row, first: int, shift: int) -> None:
    """Let what the machine has made of a row's opcodes, the text before it included, be found where they lie now."""
    assert e.machine is not None
    memo = e.machine.memo
    for index in range(first, row.last):
        if index in memo:
            e.memo[id(memo[index])] = index + shift
    if row.first < first:
        same_text(e, memo.get(row.first))


def same_text(e: Encoder, made: Any) -> None:
    """The text before a row, which the machine has made anew: the one written last, unless that has been renamed."""
    if type(made) is str and made == e.text and id(e.text) in e.memo:
        e.memo[id(made)] = e.memo[id(e.text)]
