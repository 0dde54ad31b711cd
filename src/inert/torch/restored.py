"""Classes of torch whose own ``__setstate__`` cannot restore what an older torch wrote.

Knows: the attributes that torch 2.13's code takes for granted and older states lack, class by class.
Refuses to know: classes of other programs, and whatever else their code does.

Facts: torch 2.13 torch/nn/modules/rnn.py (RNNBase.__setstate__), tried out with the files of torch 1.0 to 1.4.
"""

from __future__ import annotations

from ..pickle.nodes import Call, Dict, List
from .arguments import text
from .needs import Refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RECURRENT = frozenset(f"torch.nn.modules.rnn.{name}" for name in ("RNNBase", "RNN", "LSTM", "GRU"))


def restored(name: str, call: Call) -> None:
    """Refused where the class called ``name`` would raise over a state that the call's result is given."""
    if name in RECURRENT:
        for state in call.states:
            _recurrent(name, state)


def _recurrent(name: str, state: Any) -> None:
    """The weights are laid flat anew only where their names are missing; else the list of them must be there."""
    said = {text(key): value for key, value in state.pairs() if type(text(key)) is str} if type(state) is Dict else {}
    names = said.get("all_weights", said.get("_all_weights"))
    while type(names) is List and names.items:
        names = names.items[0]
    if said and type(text(names)) is str and "_flat_weights" not in said:
        raise Refused(f"{name} of torch before 1.4 has no _flat_weights, which its class now wants: load its state_dict instead")
