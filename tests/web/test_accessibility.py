"""axe-core finds no serious fault on any page, in light and in dark."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.web.serving import Served
from tests.web.test_pages import Window

AXE = Path(os.environ.get("AXE", Path(sys.prefix) / "node" / "node_modules" / "axe-core" / "axe.min.js"))
ROUTES = (
    "{0}/overview",
    "{0}/tensors",
    "{0}/tensor/0",
    "{0}/object",
    "{0}/file",
    "{0}/safety",
    "{1}/overview",
    "{1}/safety",
    "{2}/overview",
    "{2}/file",
)


@pytest.fixture(scope="session")
def axe() -> str:
    if not AXE.is_file():
        said = "axe-core is not there (make test puts it there)"
        if os.environ.get("CI"):
            pytest.fail(said)
        pytest.skip(said)
    return AXE.read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault(browser: Any, served: Served, index: dict[str, int], axe: str, scheme: str) -> None:
    """The content security policy is off for this: it would keep the checker out as well."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme, bypass_csp=True)
    window = Window(context, served)
    places = [index[name] for name in ("lightning", "bad", "refused")]
    routes = [f"/{route.format(*places)}" for route in ROUTES] + [f"/compare/{index['lightning']}/{index['zip']}"]
    faults = []
    for route in routes:
        page = window.go(route)
        page.wait_for_timeout(400)
        page.add_script_tag(content=axe)
        found = page.evaluate("async () => (await axe.run(document, { resultTypes: ['violations'] })).violations")
        faults += [
            f"{route}: {one['impact']} {one['id']}: {one['help']}: {[node['html'][:150] for node in one['nodes'][:3]]}"
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
    context.close()
    assert not faults, "\n".join(faults)
