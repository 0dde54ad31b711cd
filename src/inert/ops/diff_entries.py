"""The entries of two containers of one family, side by side.

Knows: what belongs to what (values of one key, items of one position; what equals nothing but itself in the order of the pickle), with
MISSING where one side has nothing.
Refuses to know: whether they are equal (diff_values.py).
"""

from __future__ import annotations

from argparse import Namespace
from itertools import zip_longest

from ..names import ELIDED
from ..torch.objects import Object
from .diff_kinds import MISSING, attributes, content, inside, odd, place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    Entry = tuple[Any, Any, Any]  # step, value in a, value in b


class Attribute(str):
    """A step to an attribute of a dict or the like."""

    __slots__ = ()


def reordered(a: Any, b: Any) -> bool:
    """Whether two mappings have the same keys in another order."""
    mine, its = held(a), held(b)
    return list(mine) != list(its) and mine.keys() == its.keys()


def held(mapping: Any) -> dict[Any, Any]:
    return vars(mapping) if isinstance(mapping, Namespace) else mapping


def mappings(a: Any, b: Any) -> Iterator[Entry]:
    return keyed(held(a), held(b), attributes(a), attributes(b))


def keyed(a: dict[Any, Any], b: dict[Any, Any], mine: dict[str, Any], its: dict[str, Any]) -> Iterator[Entry]:
    odd_a: list[Any] = []
    for key, value in a.items():
        if key in b:
            yield key, value, b[key]
        elif odd(key):
            odd_a.append(key)
        else:
            yield key, value, MISSING
    odd_b = []
    for key, value in b.items():
        if key not in a:
            if odd(key):
                odd_b.append(key)
            else:
                yield key, MISSING, value
    for key, other in zip_longest(odd_a, odd_b, fillvalue=MISSING):  # keys that only their own object equals, in order
        step = other if key is MISSING else key
        yield step, content(key), content(other)
        yield step, MISSING if key is MISSING else a[key], MISSING if other is MISSING else b[other]
    for name in dict.fromkeys([*mine, *its]):
        yield Attribute(name), mine.get(name, MISSING), its.get(name, MISSING)


def sequences(a: Any, b: Any) -> Iterator[Entry]:
    return numbered(a, b)


def sets(a: Any, b: Any) -> Iterator[Entry]:
    left, right = ([item for item in side if item not in other] for side, other in ((a, b), (b, a)))
    for item in left:
        if not odd(item):
            yield item, item, MISSING
    for item in right:
        if not odd(item):
            yield item, MISSING, item
    odds = (sorted(filter(odd, side), key=place_of) for side in (left, right))
    for number, (one, other) in enumerate(zip_longest(*odds, fillvalue=MISSING)):
        yield number, content(one), content(other)


def objects(a: Object, b: Object) -> Iterator[Entry]:
    yield "<class>", a.type, b.type
    mine, its = a.fields, b.fields
    if mine or its:
        for name in dict.fromkeys([*mine, *its]):
            one, other = mine.get(name, MISSING), its.get(name, MISSING)
            elided = name in ELIDED and isinstance(one, dict) and isinstance(other, dict)
            yield None if elided else name, one, other
    else:
        yield "state", a.state, b.state
    yield "args", a.arguments, b.arguments
    yield "kwargs", a.keywords, b.keywords
    yield from numbered(a.items, b.items)
    alone = MISSING, MISSING
    for number, (one, other) in enumerate(zip_longest(a.pairs, b.pairs, fillvalue=alone)):
        yield f"<key {number}>", one[0], other[0]
        yield other[0] if one is alone else one[0], one[1], other[1]


def nodes(a: Any, b: Any) -> Iterator[Entry]:
    return numbered(inside(a), inside(b))


def numbered(a: Iterable[Any], b: Iterable[Any]) -> Iterator[Entry]:
    return ((number, one, other) for number, (one, other) in enumerate(zip_longest(a, b, fillvalue=MISSING)))


ENTRIES: dict[str, Callable[[Any, Any], Iterator[Entry]]] = {
    "mapping": mappings, "sequence": sequences, "set": sets, "object": objects, "node": nodes,
}  # fmt: skip
