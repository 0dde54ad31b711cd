"""The page says what is known of a file, and no more: before and after verification, with and without pickles, and every count the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inert.report.about import info
from inert.web.opened import Opened
from tests.web.serving import CORPUS, DEMO, Served
from tests.web.test_pages import Window

FLIP, BAD, DATA, LOST, CUT = (
    CORPUS / "broken" / "bit_flip.pt",
    CORPUS / "hostile" / "as_function.pt",
    CORPUS / "safetensors" / "dtypes.safetensors",
    CORPUS / "broken" / "record_missing.pt",
    CORPUS / "broken" / "cut_half.pt",
)
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "ab" * 32 + "\nsize 12345\n"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    pointer = tmp_path_factory.mktemp("pointer") / "model.pt"
    pointer.write_text(POINTER)
    made = Served([FLIP, BAD, DATA, LOST, pointer, DEMO, CUT])
    yield made
    assert made.stop() == 0


@pytest.fixture
def window(browser: Any, own: Served) -> Iterator[Window]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    made = Window(context, own)
    yield made
    context.close()
    made.check()


def test_nothing_is_called_healthy_before_it_was_verified(window: Window) -> None:
    page = window.go("/0/overview")
    assert page.inner_text("#whole") == "Nothing odd met while reading; checksums not verified yet"
    assert page.get_attribute("#whole", "class") == "badge open"
    page.click("button:has-text('Verify every checksum')")
    page.wait_for_selector("#whole.bad")
    assert "Damaged: 1 error" in page.inner_text("#whole")
    assert "w_f32" in page.inner_text(".verifier")


def test_what_was_found_is_known_on_every_page(window: Window) -> None:
    page = window.go("/0/file")
    page.click("button:has-text('Verify every checksum')")
    page.wait_for_selector(".rows .row:has-text('small/data/0') .badge:text-is('damaged')")
    assert page.locator(".rows .badge:text-is('damaged')").count() == 1
    page = window.go("/0/overview")
    assert "when it was verified" in page.inner_text("#whole.bad")
    window.go("/0/tensors")
    assert page.locator(".rows .badge:text-is('damaged')").count() == 1
    page.select_option("select[aria-label='Only']", label="damaged")
    assert "w_f32" in page.inner_text(".rows .row")
    page.click(".rows .row")
    page.wait_for_selector("h1:has-text('w_f32')")
    assert page.locator(".badge.bad:text-is('damaged')").count() == 1


def test_a_sound_file_is_so_once_it_was_verified(window: Window) -> None:
    page = window.go("/5/overview")
    page.click("button:has-text('Verify every checksum')")
    page.wait_for_selector("#whole.good:text-is('Verified: every checksum fits')")


def test_what_is_dangerous_looks_well_nowhere(window: Window) -> None:
    page = window.go("/1/overview")
    page.wait_for_selector("section.card.bad #verdict.bad")
    assert page.locator(".badges .good").count() == 0
    assert page.locator("tr:has-text('weights_only=False') .badge.bad:text-is('yes')").count() == 1
    page.click("button:has-text('Verify every checksum')")
    page.wait_for_selector("#whole:has-text('Verified')")
    assert page.locator(".badges .good").count() == 0


def test_without_a_pickle_there_is_nothing_to_refuse(window: Window) -> None:
    page = window.go("/2/overview")
    page.wait_for_selector("#verdict.good:has-text('No pickle in it')")
    assert page.locator("tr:has-text('weights_only=True') .badge.good").count() == 1
    window.go("/2/safety")
    assert "There is no pickle in it, so there is nothing for it to refuse." in window.text()
    assert "refuses it" not in window.text()
    window.go("/4/safety")
    assert "No pickle in it" in page.inner_text("h1")
    window.go("/5/safety")
    assert "takes its names" in window.text()


def test_the_records_and_opcodes_of_a_cut_archive_are_shown(window: Window) -> None:
    page = window.go("/6/file")
    page.wait_for_selector("p.bad:has-text('cut')")
    page.click(".rows .row:has(:text-is('small/data.pkl')):has(:text-is('pickle'))")
    page.wait_for_selector("button:text-is('Opcodes')")
    page.wait_for_selector("text=STOP")


def test_errors_are_counted_in_one_way(window: Window) -> None:
    """Of the sentence, the badge and the card of notes each names all of them, so that the numbers add up."""
    page = window.go("/3/overview")
    found = window.served.api("3/overview")["info"]
    errors = sum(note["severity"] == "error" for note in found["notes"])
    said = f"{errors} error{'s' * (errors != 1)}"
    damaged = len({name for note in found["notes"] for name in note["tensors"]})
    assert f"{said} ({damaged} damaged tensor{'s' * (damaged != 1)})" in page.inner_text("h1")
    assert page.inner_text("#whole").startswith(f"Damaged: {said}")
    assert page.locator(f"h2:has-text('Noted while reading: {said}')").count() == 1


def test_the_sentence_counts_every_note_once(tmp_path: Path) -> None:
    for path in sorted((CORPUS / "broken").glob("*.pt")):
        opened = Opened(str(path))
        if opened.refusal is None:
            found = info(opened.checkpoint)
            sentence = found["sentence"].rpartition("-endian, ")[2]
            words = [part.strip().split(" (")[0] for part in sentence.split(",")] if sentence != "no notes" else []
            assert sum(int(word.split()[0]) for word in words) == len(found["notes"]), sentence
        opened.close()
