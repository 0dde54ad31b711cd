"""What a TensorFlow checkpoint holds as a whole: how it was saved, which variables there are, and who is an optimiser's state.

Knows: the names that TensorFlow's and Keras' optimisers give to their slots, and what the object graph says of them.
Refuses to know: files; and what a model does.

Facts: TensorFlow 1.15 training/*.py (slot names), TensorFlow 2.21 and Keras 3 (optimizer/_variables), and real checkpoints of each.
"""

from __future__ import annotations

import re

from ..tensorflow import graph

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..tensor import Tensor

# the last step of a slot's name, in checkpoints by name; the variable is what stands before it
SLOT = re.compile(
    r"Adam(?:_1)?|adam_[mv]|AdaMax(?:_1)?|Momentum|RMSProp(?:_1)?|Adagrad|Adadelta(?:_1)?|Ftrl(?:_1)?|[Ll]amb(?:_1)?|"
    r"ExponentialMovingAverage"
)
# the last step of an optimizer's own numbers; those of the second row have such names only as objects below an optimizer
POWER = re.compile(r"beta\d_power(?:_\d+)?")
NUMBER = re.compile(r"beta_\d|decay|learning_rate|iter|epsilon|rho|momentum")
KERAS = re.compile(r"(?:.*/)?optimizer/(?:_variables/|_iterations|_learning_rate|iterations|learning_rate|beta_\d)")
MOST = 20


def variable_of(name: str, known: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """What is known of one tensor: ``full_name`` of its variable, ``role`` (variable, optimizer, average, object), ``slot`` and ``of``."""
    made = dict(known.get(name, ()))
    if "slot" in made:
        return made | {"role": "optimizer"}
    before, mark, attribute = name.rpartition(graph.ATTRIBUTES)
    if name == graph.KEY or (mark and attribute != graph.VALUE):
        return made | {"role": "object"}
    variable, slot, rest = before.rpartition(graph.SLOT)
    if slot:
        return made | {"role": "optimizer", "slot": rest.rpartition("/")[2], "of": variable}
    variable, _, last = (before or name).rpartition("/")
    if POWER.fullmatch(last) or (mark and (NUMBER.fullmatch(last) or ("optimizer/" in name and KERAS.match(name)))):
        return made | {"role": "optimizer"}
    if not mark and variable and SLOT.fullmatch(last):
        return made | {"role": "average" if last.startswith("Exp") else "optimizer", "slot": last, "of": variable}
    return made | {"role": "variable"}


def keras_slots(told: dict[str, dict[str, Any]]) -> None:
    """Keras 3 gives a slot no place in the graph, only a name: OPTIMIZER/PATH_OF_THE_VARIABLE_SLOT, its steps joined by underscores."""
    known = {
        said["full_name"].replace("/", "_"): said["full_name"]
        for said in told.values()
        if said["role"] == "variable" and said.get("full_name")
    }
    for said in told.values():
        if said["role"] != "optimizer" or "slot" in said or "/" not in said.get("full_name", ""):
            continue
        full = said["full_name"].partition("/")[2]
        at = full.rfind("_")
        while at > 0 and full[:at] not in known:
            at = full.rfind("_", 0, at)
        if at > 0:
            said |= {"slot": full[at + 1 :], "of": known[full[:at]]}


def profile(tensors: Mapping[str, Tensor], nodes: list[graph.Node], objects: bool, facts: dict[str, Any]) -> dict[str, Any]:
    """The profile of tensors by name; ``facts`` of the container are put first."""
    known = graph.variables(nodes)
    sections: dict[str, list[int]] = {}
    roles: dict[str, list[int]] = {}
    slots: dict[str, int] = {}
    variables: dict[str, Any] = {}
    told = {name: variable_of(name, known) for name in tensors}
    keras_slots(told)
    for name, tensor in tensors.items():
        size = max(tensor.nbytes, 0)
        said = told[name]
        for entry in (sections.setdefault(name.partition("/")[0], [0, 0]), roles.setdefault(said["role"], [0, 0])):
            entry[0] += size
            entry[1] += 1
        if "slot" in said:
            slots[said["slot"]] = slots.get(said["slot"], 0) + 1
        if said["role"] != "object" and (known or said["role"] != "variable"):
            variables[name] = {key: said[key] for key in ("role", "full_name", "slot", "of") if said.get(key)}
    optimizer = {"tensors": roles["optimizer"][1], "nbytes": roles["optimizer"][0], "slots": slots} if "optimizer" in roles else None
    trained = roles.get("variable", [0, 0])
    how = "objects (tf.train.Checkpoint, SavedModel or Keras)" if objects else "variables by name (tf.train.Saver)"
    text = f"{how}, {trained[1]:,} variable{'s' * (trained[1] != 1)}"
    if optimizer:
        text += f" and an optimizer's state of {roles['optimizer'][1]:,} tensor{'s' * (roles['optimizer'][1] != 1)}"
    found: dict[str, Any] = {**facts, "roles": {role: {"tensors": n, "nbytes": size} for role, (size, n) in roles.items()}}
    found |= {"optimizer": optimizer} if optimizer else {}
    if nodes:
        found["objects"] = {"nodes": len(nodes), "root": list(nodes[0].children)[:MOST]}
        savers = sorted({node.saver for node in nodes if node.saver})
        found["objects"] |= {"savers": savers[:MOST]} if savers else {}
    found |= {"variables": variables} if variables else {}
    return {
        "profile": "training" if optimizer else "state-dict",
        "sentence": text,
        "sections": [{"key": key, "nbytes": size, "tensors": n} for key, (size, n) in sections.items()],
        "facts": found,
        "missing": [],
    }
