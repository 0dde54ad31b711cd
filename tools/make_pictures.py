"""The pictures of docs/view.md: pages of ``inert view`` in Debian's Chromium, at two widths, light and dark.

make pictures
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
DEMO, HOSTILE, DAMAGED = "examples/demo.ckpt", "tests/corpus/hostile/as_function.pt", "tests/corpus/broken/record_missing.pt"
PICTURES = REPOSITORY / "docs" / "pictures"
WIDE, NARROW = (1600, 1000), (400, 860)
# name, address behind #, what to wait for
PAGES = (
    ("overview", "/0/overview", "#verdict.good"),
    ("tensors", "/0/tensors", ".rows .row"),
    ("tensor", "/0/tensor/6", "svg.histogram rect"),
    ("object", "/0/object", ".branches li"),
    ("file", "/0/file", ".opcodes tbody tr"),
    ("safety", "/1/safety", "table.names .badge.bad"),
    ("damaged", "/2/overview", "#verdict"),
    ("compare", "/compare/0/3", "button.name"),
)


def edited(folder: Path) -> Path:
    """The example with a layer a little changed, an entry gone, and another epoch."""
    import numpy as np

    import inert

    path = folder / "edited.ckpt"
    with inert.open(REPOSITORY / DEMO) as ckpt:
        name = "state_dict.head.weight"
        array = ckpt.tensors[name].numpy().copy()
        ckpt.tensors[name] = array + np.random.default_rng(1).normal(0, 0.01, array.shape).astype(array.dtype)
        ckpt.root["epoch"] = 3
        del ckpt.tensors["state_dict.head.bias"]
        ckpt.save(path)
    return path


def main() -> int:
    from tempfile import TemporaryDirectory

    chromium = shutil.which("chromium")
    if chromium is None:
        print("Debian's chromium is not installed", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        files = [DEMO, HOSTILE, DAMAGED, str(edited(Path(folder)))]
        command = [sys.executable, "-m", "inert", "view", "--no-browser", *files]
        with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+/", server.stdout.readline())
                assert found is not None
                shoot(chromium, found.group())
            finally:
                server.terminate()
    return 0


def shoot(chromium: str, address: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium)
        for scheme in ("light", "dark"):
            for width, height in (WIDE, NARROW):
                context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
                page = context.new_page()
                for name, route, sign in PAGES:
                    page.goto(f"{address}#{route}")
                    page.wait_for_selector(f'main[data-ready="#{route}"] {sign}')
                    if name == "compare":
                        page.click("button.name")
                        page.wait_for_selector("svg.histogram")
                    page.wait_for_timeout(300)
                    page.screenshot(path=PICTURES / f"{name}-{width}-{scheme}.png")
                context.close()
        browser.close()


if __name__ == "__main__":
    raise SystemExit(main())
