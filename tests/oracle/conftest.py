"""Everything in this folder compares with the real programs and bears the mark ``oracle``.

Where torch is not installed nothing here is collected, and ``pytest -m oracle tests/oracle`` then fails with "no tests ran".
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

collect_ignore_glob = [] if find_spec("torch") else ["test_*.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.oracle)
