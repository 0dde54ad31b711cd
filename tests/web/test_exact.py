"""Integers of any size arrive in the browser as they are in the file."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inert.web.exact import SAFE, exact, spans
from tests.makers import dumps, storage, tensor, torch_zip
from tests.web.serving import Served
from tests.web.test_pages import Window

SCALAR, LOW, HIGH = 123456789, -(1 << 63), (1 << 63) - 1
VALUES = {"scalar": [SCALAR], "ends": [LOW, HIGH, 7], "near": [(1 << 40) + i for i in range(64)], "same": [HIGH, HIGH]}


def write(path: Path, seed: int) -> Path:
    held = {str(i): np.array(values, "<i8").tobytes() for i, values in enumerate(VALUES.values())}
    made: dict[str, Any] = {
        name: tensor(storage(str(i), len(values), "Long"), (len(values),) if len(values) > 1 else ())
        for i, (name, values) in enumerate(VALUES.items())
    }
    path.write_bytes(torch_zip(dumps({"state_dict": made, "hyper_parameters": {"seed": seed}, "pytorch-lightning_version": "2.0"}), held))
    return path


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("exact")
    made = Served([write(folder / "a.ckpt", HIGH), write(folder / "b.ckpt", HIGH - 1)])
    yield made
    assert made.stop() == 0


@pytest.fixture
def window(browser: Any, own: Served) -> Iterator[Window]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    made = Window(context, own)
    yield made
    context.close()
    made.check()


def test_what_a_browser_would_round_is_sent_as_text() -> None:
    assert exact({"a": [SAFE, SAFE + 1, -SAFE - 1, 1.5, True, None, "x"]}) == {
        "a": [SAFE, str(SAFE + 1), str(-SAFE - 1), 1.5, True, None, "x"]
    }


def test_the_integers_of_each_bin() -> None:
    assert spans(0, 39, 20)[:2] == [[0, 1], [2, 3]]
    found = spans(LOW, HIGH, 20)
    assert [found[0][0], found[-1][1]] == [str(LOW), str(HIGH)]
    assert all(int(last) + 1 == int(first) for (_, last), (first, _) in pairwise(found))


def test_pictures_of_integers_tell_neighbours_apart(own: Served) -> None:
    found = own.api("0/image", row=2)
    assert found["dtype"] == "<f8"
    assert np.frombuffer(b64decode(found["mean"]), "<f8").tolist() == VALUES["near"]
    assert [found["low"], found["high"]] == [1 << 40, (1 << 40) + 63]
    assert [own.api("0/image", row=1)[key] for key in ("low", "high")] == [str(LOW), str(HIGH)]
    averaged = own.api("0/image", row=2, max=8)
    assert averaged["low"] == (1 << 40) + 3.5


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        (0, ["123,456,789"]),
        (1, ["-9,223,372,036,854,775,808", "9,223,372,036,854,775,807"]),
        (2, ["1,099,511,627,776", "1,099,511,627,839"]),
        (3, ["9,223,372,036,854,775,807"]),
    ],
)
def test_every_number_of_the_page_is_exact(window: Window, row: int, shown: list[str]) -> None:
    page = window.go(f"/0/tensor/{row}")
    page.wait_for_selector("svg.histogram rect", state="attached")
    page.wait_for_selector("table.values td")
    assert page.eval_on_selector_all("svg.histogram text", "nodes => nodes.map(node => node.textContent)") == [shown[0], shown[-1]]
    facts = page.inner_text("dl.facts >> nth=1").split()
    assert [facts[facts.index(name) + 1] for name in ("min", "max")] == [shown[0], shown[-1]]
    assert page.inner_text(".picture + p") == " to ".join(shown)
    assert page.inner_text("table.values td >> nth=0") == shown[0]


def test_numbers_of_the_saved_object_are_exact(window: Window) -> None:
    page = window.go("/0/overview")
    assert str(HIGH) in page.inner_text(".card:has-text('Hyper-parameters')")
    page = window.go("/compare/0/1")
    page.wait_for_selector(".badge:text-is('different')")
    assert f"{HIGH}" in page.inner_text("main")
    assert f"{HIGH - 1}" in page.inner_text("main")


def test_sizes_are_written_as_the_command_line_writes_them(window: Window) -> None:
    from inert.words import size

    page = window.go("/0/overview")
    sizes = [0, 1, 999, 1000, 1020, 4096, 4100, 999_499, 999_500, 999_999, 1_000_000, 12_345_678, 10**12, 7 * 10**18, 5 * 10**21]
    written = page.evaluate(
        """async (sizes) => {
      const { size } = await import(new URL("static/dom.js", location.href).href);
      return sizes.map(size);
    }""",
        sizes,
    )
    assert written == [size(one) for one in sizes]
