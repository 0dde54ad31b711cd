"""Everything in this folder compares with the real programs and bears the mark ``oracle``.

What needs torch is collected where torch is installed, what needs tensorflow where that is: each has an environment of its own. Where neither
is, nothing is collected, and ``pytest -m oracle tests/oracle`` then fails with "no tests ran".
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

TENSORFLOW = [path.name for path in Path(__file__).parent.glob("test_*.py") if path.name.startswith(("test_tensorflow", "test_tf_"))]
TORCH = [path.name for path in Path(__file__).parent.glob("test_*.py") if path.name not in TENSORFLOW]
collect_ignore = [*([] if find_spec("torch") else TORCH), *([] if find_spec("tensorflow") else TENSORFLOW)]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.oracle)
