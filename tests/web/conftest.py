"""The page's server, once for all tests of a process, and Debian's Chromium to look at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import CORPUS, DEMO, Served, hostile, many

FILES = {
    "lightning": DEMO,
    "zip": CORPUS / "torch" / "views.pt",
    "legacy": CORPUS / "legacy" / "sharing.pt",
    "tensorflow": CORPUS / "tf" / "objects",
    "damaged": CORPUS / "broken" / "record_missing.pt",
    "refused": CORPUS / "broken" / "cut_half.pt",
    "safetensors": CORPUS / "safetensors" / "dtypes.safetensors",
    "sharded": CORPUS / "sharded" / "bin",
    "bad": CORPUS / "hostile" / "as_function.pt",
}
FLAGS = [
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-gpu",
]


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each file of the page by what it is an example of; their order is that of the page."""
    folder = tmp_path_factory.mktemp("view")
    return {**FILES, "hostile": hostile(folder), "many": many(folder)}


@pytest.fixture(scope="session")
def served(files: dict[str, Path]) -> Iterator[Served]:
    made = Served(list(files.values()))
    yield made
    assert made.stop() == 0


@pytest.fixture(scope="session")
def index(files: dict[str, Path]) -> dict[str, int]:
    return {name: at for at, name in enumerate(files)}


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium")
    if path is None:
        said = "Debian's chromium is not installed (apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=path, args=FLAGS)
        yield made
        made.close()
