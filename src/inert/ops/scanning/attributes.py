"""Attributes that other code obeys: what a pickle says under these names is an address, a class or a function to whoever reads them.

Knows: their names, and where a pickle can give an object attributes: its state, the arguments and the items of its call.
Refuses to know: what else the object is.

Facts: NumPy 2.4 numpy/_core/src/multiarray/ctors.c (``__array_interface__`` and ``__array_struct__`` of any object are addresses,
``__array__`` is called); torch 2.13 torch/csrc/utils/tensor_numpy.cpp and tensor_new.cpp (``__cuda_array_interface__``, ``__dlpack__``);
pandas 3.1 core/interchange; CPython 3.13 Lib/pickle.py (load_build: ``__setstate__`` of an object is called with the next state; the second
part of a state of two is set attribute by attribute, ``__class__`` and ``__dict__`` too), Lib/copy.py.
"""

from __future__ import annotations

from itertools import islice

from ...pickle.nodes import ByteString, Call, Dict, List
from ...torch.arguments import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

OBEYED = frozenset((
    "__array_interface__", "__array_struct__", "__array__", "__cuda_array_interface__", "__dlpack__", "__dlpack_device__", "__buffer__",
    "__arrow_array__", "__arrow_c_array__", "__arrow_c_stream__", "__dataframe__", "__class__", "__dict__", "__setstate__", "__deepcopy__",
    "__copy__", "__getnewargs__", "__getnewargs_ex__",
))  # fmt: skip
DICTS = frozenset(("builtins.dict", "collections.OrderedDict"))  # a state that is a dict to the unpickler: these, whoever fills them
PARTS = 8  # of a tuple that are looked at: a state has two, a partial function's four


class Obeyed:
    """The attribute of that kind that a call's object is given; "" where there is none. What many calls share is looked at once: it lives
    as long as the document, so that it is known by its id."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, bool], str] = {}

    def __call__(self, call: Call) -> str:
        own = _named(call.flat, False) if call.flat else ""
        return own or self._all(call.states, True) or self._all(call.arguments, False) or self._one(call.keywords, False)

    def _all(self, values: Any, state: bool) -> str:
        if type(values) not in (tuple, list):
            return self._one(values, state)
        return self._once(values, state, lambda: next(filter(None, (self._one(value, state) for value in values)), ""))

    def _one(self, value: Any, state: bool) -> str:
        for part in value[:PARTS] if type(value) is tuple else (value,):
            said = ""
            if type(part) is Dict:
                said = self._once(part, state, lambda part=part: _named(part.flat, state))  # type: ignore[misc]
            elif state and type(part) is Call and part.dotted in DICTS and part.arguments:
                said = self._once(part, state, lambda part=part: _named(_pairs(part), state))  # type: ignore[misc]
            if said:
                return said
        return ""

    def _once(self, value: Any, state: bool, look: Callable[[], str]) -> str:
        place = id(value), state
        if place not in self.known:
            self.known[place] = look()
        return self.known[place]


def _named(flat: list[Any], state: bool) -> str:
    """The first such key of keys and values in turn. ``state``: they are attributes, whatever their names turn out to be."""
    for key in islice(flat, 0, None, 2):
        said = key if type(key) is str else text(key) if type(key) is ByteString else ""
        if said in OBEYED:
            return str(said)
        if state and type(key) is Call:
            return "an attribute whose name is made while loading"
    return ""


def _pairs(made: Call) -> list[Any]:
    """The same of a dict that a call makes of pairs; one key, the call, where it makes them of something else."""
    given = made.arguments[0] if type(made.arguments) is tuple else made
    flat: list[Any] = []
    for pair in given.items if type(given) is List else given if type(given) is tuple else (made,):
        both = pair.items if type(pair) is List else pair
        flat += both if type(both) in (list, tuple) and len(both) == 2 else (made, None)
    return given.flat if type(given) is Dict else flat
