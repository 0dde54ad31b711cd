"""What fits where: no page scrolls sideways, tables become rows in a narrow window, and nothing stands under a name that says nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inert.cli import main
from tests.makers import Name, dumps, storage, tensor, torch_zip
from tests.web.serving import CORPUS, DEMO, Served
from tests.web.test_known import POINTER
from tests.web.test_pages import PAGES, Window

NARROW = {"width": 400, "height": 800}
WORD = "9f86d081884c7d659a2feaa0c55ad015" * 6


def odd(folder: Path) -> list[Path]:
    """Files with long unbroken words wherever a page shows one."""
    held = {"0": bytes(16)}
    long: dict[Any, Any] = {
        f"model.{WORD}.weight": tensor(storage("0", 4), (4,)),
        WORD: {WORD: WORD},
        Name("callbacks", WORD): {"best": WORD},
        "hyper_parameters": {WORD: WORD, "path": f"/{WORD}/{WORD}", "more": {WORD: {WORD: WORD}, "b": [WORD] * 9, "c": 1, "d": 2}},
        "state_dict": {WORD: tensor(storage("0", 4), (2, 2))},
        "pytorch-lightning_version": WORD,
    }
    files = {
        f"{WORD}.ckpt": torch_zip(dumps(long), held),
        "pointer.pt": POINTER.encode(),
        "page.html": f"<!doctype html><html>{WORD}</html>".encode(),
        "saved.pt": torch_zip(dumps(tensor(storage("0", 4), (4,))), held),
        "chain.pt": torch_zip(dumps({f"net.inner.core.{i}.w": tensor(storage("0", 4), (4,)) for i in range(3)}), held),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    for name in ("a", "b"):
        (folder / name).mkdir()
    shutil.copy(DEMO, folder / "a" / "model.ckpt")
    shutil.copy(CORPUS / "torch" / "views.pt", folder / "b" / "model.ckpt")
    broken = [CORPUS / "broken" / name for name in ("bit_flip.pt", "cut_half.pt", "record_missing.pt")]
    return [
        *(folder / name for name in files),
        folder / "a" / "model.ckpt",
        folder / "b" / "model.ckpt",
        CORPUS / "hostile" / "as_function.pt",
        *broken,
    ]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, list[str]]]:
    files = odd(tmp_path_factory.mktemp("odd"))
    made = Served(files)
    yield made, [path.name for path in files]
    assert made.stop() == 0


@pytest.fixture(params=[400])
def window(browser: Any, own: tuple[Served, list[str]], request: pytest.FixtureRequest) -> Iterator[Window]:
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    made = Window(context, own[0])
    yield made
    context.close()
    made.check()


def test_no_page_of_any_file_scrolls_sideways(window: Window, own: tuple[Served, list[str]]) -> None:
    wide = []
    for at, name in enumerate(own[1]):
        for route in (*PAGES, "tensor/0"):
            page = window.go(f"/{at}/{route}")
            page.wait_for_timeout(150)
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            page.wait_for_timeout(50)
            if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                wide.append((name, route))
    for pair in ("0/1", "0/3", "5/6"):
        page = window.go(f"/compare/{pair}")
        page.wait_for_timeout(300)
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            wide.append(("compare", pair))
    assert not wide
    window.faults = [fault for fault in window.faults if "422" not in fault]  # of tensors that are not there


def test_tables_become_rows_in_a_narrow_window(window: Window, own: tuple[Served, list[str]]) -> None:
    page = window.go(f"/{own[1].index('as_function.pt')}/safety")
    table = page.locator("table.names")
    assert table.evaluate("(one) => one.scrollWidth <= one.parentElement.clientWidth")
    name, verdict = page.locator("table.names code").first.bounding_box(), page.locator("table.names .badge").first.bounding_box()
    assert name["x"] == pytest.approx(verdict["x"], abs=1)  # one below the other
    titles = page.eval_on_selector_all(
        "table.names tbody tr:first-child td[data-title]", "cells => cells.map((one) => getComputedStyle(one, '::before').content)"
    )
    assert titles == ['"imported"', '"called"', '"where"']


@pytest.mark.parametrize("window", [1600], indirect=True)
def test_cards_fill_a_wide_window(window: Window, own: tuple[Served, list[str]]) -> None:
    """Each row of cards reaches the right edge."""
    page = window.go(f"/{own[1].index('bit_flip.pt')}/overview")
    boxes = page.eval_on_selector_all(
        ".columns > *", "cards => cards.map((one) => one.getBoundingClientRect()).map((r) => [r.top, r.right])"
    )
    edge = max(right for _, right in boxes)
    for top in {top for top, _ in boxes}:
        assert max(right for other, right in boxes if other == top) == pytest.approx(edge, abs=2)


def test_modules_of_a_single_one_are_open_from_the_start(window: Window, own: tuple[Served, list[str]]) -> None:
    page = window.go(f"/{own[1].index('chain.pt')}/overview")
    page.wait_for_selector("svg.treemap text")
    assert page.locator("nav.crumbs button").all_inner_texts() == ["all", "net", "inner", "core"]
    assert page.eval_on_selector_all("svg.treemap > g[role]", "tiles => tiles.length") == 3
    page.click("nav.crumbs button:text-is('net')")
    assert page.locator("svg.treemap > g[role=button]").count() == 1


def test_what_has_no_name_is_called_the_same_everywhere(window: Window, own: tuple[Served, list[str]]) -> None:
    at = own[1].index("saved.pt")
    said = "(the saved object itself)"
    page = window.go(f"/{at}/tensor/0")
    assert page.inner_text("h1") == said
    assert page.title().startswith(f"{said} · saved.pt · ")
    page.click("p.crumbs a:text-is('Tensors')")
    page.wait_for_selector(f".rows .row:has-text('{said}')")
    window.go(f"/{at}/overview")
    assert said in page.inner_text(".card:has-text('Sections')")


def test_files_of_one_name_are_told_apart(window: Window) -> None:
    page = window.go("/0/overview")
    assert [name for name in page.locator("nav.files a").all_inner_texts() if "model" in name] == ["a/model.ckpt", "b/model.ckpt"]
    page = window.go("/compare/5/6")
    assert "a/model.ckpt" in page.locator("select option").all_inner_texts()


def test_keys_that_are_names_have_their_verdict(window: Window) -> None:
    page = window.go("/0/object")
    row = page.locator(".branches li:has(.key:text-is('state_dict'))")
    assert row.count() == 1
    named = page.locator(".branches li:has-text('callbacks.9f86')").first.inner_text()
    assert named.startswith("unknown names")
    assert "<Global>" not in window.text()


def test_pressed_buttons_say_so(window: Window, own: tuple[Served, list[str]]) -> None:
    page = window.go(f"/{own[1].index('chain.pt')}/file")
    assert page.get_attribute("button:text-is('Opcodes')", "aria-pressed") == "true"
    page.click("button:text-is('Bytes')")
    assert [page.get_attribute(f"button:text-is('{name}')", "aria-pressed") for name in ("Opcodes", "Bytes")] == ["false", "true"]


def test_a_folder_that_is_no_checkpoint_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("a")
    assert main(["view", "--no-browser", str(tmp_path)]) == 2
    assert "not of one checkpoint" in capsys.readouterr().err
    assert main(["view", str(tmp_path), "--export", str(tmp_path / "page.html")]) == 2
