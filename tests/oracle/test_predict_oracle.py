"""What inert says of torch.load, held against torch.load: its tables, and every case of tests/test_predict.py.

The files of the corpus are in test_predict_corpus.py.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import inert
from inert.pickle import python2
from inert.torch import allowed
from inert.torch.predict import loads
from tests.oracle.asked import Worker
from tests.test_predict import PICKED, REFUSED, TAKEN, case_of, copies, zipped


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    one = Worker()
    yield one
    one.stop()


# -- the tables ---------------------------------------------------------------------------------------------------------------


def in_a_fresh_python(code: str) -> Any:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


NAMES = "import json, torch\nfrom torch._weights_only_unpickler import _get_allowed_globals as a, _get_user_allowed_globals as u\n"


def test_the_allowed_names() -> None:
    assert set(in_a_fresh_python(NAMES + "print(json.dumps(list(a())))")) == allowed.ALLOWED
    assert set(in_a_fresh_python(NAMES + "print(json.dumps(list(u())))")) == allowed.REGISTERED


@pytest.mark.parametrize("module", sorted(set(allowed.LATER.values())))
def test_the_names_that_an_import_adds(module: str) -> None:
    said = set(in_a_fresh_python(NAMES + f"import {module}\nprint(json.dumps(list(u())))")) - allowed.REGISTERED
    wanted = {name for name, first in allowed.LATER.items() if first == module}
    assert wanted <= said


def test_the_names_that_torch_replaces() -> None:
    import torch._utils

    assert torch._utils.IMPORT_MAPPING == python2.TORCH_MODULES
    assert torch._utils.NAME_MAPPING == python2.TORCH_NAMES


def test_the_blocked_modules_devices_and_layouts() -> None:
    code = (
        "import json, torch, torch._weights_only_unpickler as w\nlayout = torch.serialization._get_layout\nlayout('torch.strided')\n"
        "print(json.dumps([w._blocklisted_modules, list(layout.cache)]))"
    )
    modules, layouts = in_a_fresh_python(code)
    assert set(modules) == allowed.BLOCKED_MODULES
    assert set(layouts) == allowed.LAYOUTS


def test_names_that_torch_lacks() -> None:
    code = (
        "import importlib, json\nmissing = []\nfor name in {names}:\n    module, _, last = name.rpartition('.')\n    try:\n"
        "        getattr(importlib.import_module(module), last)\n    except (ImportError, AttributeError):\n        missing.append(name)\n"
        "print(json.dumps(missing))"
    )
    names = [*allowed.GONE, *(f"{module}.x" for module in allowed.GONE_MODULES)]
    assert in_a_fresh_python(code.replace("{names}", repr(names))) == names
    assert in_a_fresh_python(code.replace("{names}", repr(list(allowed.CHANGED)))) == []


# -- single cases -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [*TAKEN, *REFUSED])
def test_a_case(key: str, tmp_path: Path, worker: Worker) -> None:
    raw = case_of(TAKEN[key] if key in TAKEN else REFUSED[key]).archive()
    path = tmp_path / "case.pt"
    path.write_bytes(raw)
    assert worker.ask(path, "weights_only")["weights_only"]["ok"] is (key in TAKEN)
    with inert.open(io.BytesIO(raw)) as ckpt:
        said = loads(ckpt)
    if not said["weights_only"]["blocked"]:
        assert worker.ask(path, "full")["full"]["ok"] is said["full"]["ok"], said["full"]["why"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("count", PICKED)
def test_which_of_several_records_torch_gets(count: int, last: bool, tmp_path: Path, worker: Worker) -> None:
    path = tmp_path / "copies.pt"
    path.write_bytes(zipped(copies(count, last)))
    assert worker.ask(path, "weights_only")["weights_only"]["ok"]
