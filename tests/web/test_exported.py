"""The page in one file: what it holds is shown, and what it cannot do is not offered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from inert.cli import main
from tests.web.serving import DEMO, Served
from tests.web.test_pages import Window


@pytest.fixture
def exported(browser: Any, served: Served, tmp_path: Path) -> Iterator[Callable[..., Window]]:
    """An exported page, which may ask nobody for anything."""
    context = browser.new_context(viewport={"width": 1000, "height": 800}, offline=True)
    window = Window(context, served)

    def open_(route: str, *options: str) -> Window:
        made = tmp_path / "page.html"
        if not made.exists():
            assert main(["view", str(DEMO), "--export", str(made), *options]) == 0
        window.page.goto("about:blank")
        window.page.goto(f"{made.as_uri()}#/0/{route}")
        window.page.wait_for_selector("main[data-ready]", state="attached")
        return window

    yield open_
    assert not window.faults
    assert {urlsplit(url).scheme for url in window.asked} <= {"file", "about", "data"}
    context.close()


def test_it_works_from_a_file(exported: Callable[..., Window]) -> None:
    for route in ("overview", "tensors", "object", "file", "safety", "tensor/0"):
        assert not exported(route).page.query_selector("main > [role=alert]"), route


def test_the_first_opcodes_are_there_and_what_needs_a_server_is_not(exported: Callable[..., Window]) -> None:
    page = exported("file").page
    page.wait_for_selector(".opcodes tbody tr")
    assert page.inner_text(".opcodes tbody tr:first-child").split()[:3] == ["0", "PROTO", "2"]
    assert page.locator(".opcodes tbody tr").count() == 400
    assert "the first 400 opcodes" in page.inner_text("main")
    assert page.locator("button:visible:has-text('Show more'), button:has-text('Verify'), button:text-is('Bytes')").count() == 0
    page.click(".rows .row:has-text('version') >> nth=0")
    page.wait_for_selector("text=to see the bytes")
    assert exported("overview").page.locator("button:has-text('Verify')").count() == 0
    assert page.inner_text("#whole") == "Nothing odd met while reading; checksums were not verified"


def test_without_values_it_says_so_and_offers_none(exported: Callable[..., Window]) -> None:
    page = exported("tensor/0").page
    assert "Values were not exported" in page.inner_text("main")
    assert page.locator("canvas, main select, input[type=range], progress").count() == 0


def test_with_values_the_first_plane_is_there(exported: Callable[..., Window]) -> None:
    page = exported("tensor/0", "--values").page
    page.wait_for_selector("svg.histogram rect")
    page.wait_for_selector("table.values td")
    assert "not exported" not in page.inner_text("main")
    assert page.locator("main select, input[type=range]").count() == 0
