"""The page as one file: its modules, its sheet and the answers that it needs, with no request left to make.

Knows: the few forms in which the page's modules import and export, and how data lies in a page so that it stays data.
Refuses to know: what the page shows.

Each module becomes a function that gives its exports. The file allows itself only that script and that sheet, by their hashes (W3C CSP 3),
so that a text that slipped out of the data would still not be code.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files as resources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

START = "app.js"
_ENDS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})  # what could end the element that the data lie in
_IMPORT = re.compile(r'^import \{ ([^}]*) \} from "\./([a-z]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|const|class) (\w+)", re.MULTILINE)


def read(name: str) -> str:
    return (resources(__package__) / "static" / name).read_text("utf-8")


def script(read: Callable[[str], str] = read) -> str:
    """All modules that ``app.js`` needs as one script, each behind those that it imports. ValueError where these go in a circle."""
    done: dict[str, str] = {}
    _add(START, read, done, ())
    return '"use strict";\n' + "\n".join(done.values())


def _add(name: str, read: Callable[[str], str], done: dict[str, str], above: tuple[str, ...]) -> None:
    if name in done:
        return
    if name in above:
        raise ValueError(f"{' → '.join((*above, name))}: these modules import each other")
    text = read(name)
    for _, other in _IMPORT.findall(text):
        _add(f"{other}.js", read, done, (*above, name))
    exports = ", ".join(found for _, found in _EXPORT.findall(text))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const { \1 } = module_\2;\n", text))
    if re.search(r"^(?:import|export)\b", body, re.MULTILINE):
        raise ValueError(f"{name}: an import or export in a form that is not known here")
    done[name] = f"const module_{name.removesuffix('.js')} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"


def page(answers: dict[str, Any], title: str) -> str:
    """The HTML of a page that holds ``answers`` by their addresses."""
    code, sheet, icon = script(), read("style.css"), read("icon.svg")
    if "</script" in code.lower() or "</style" in sheet.lower():
        raise ValueError("the page's own code would end its element")
    policy = f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(sheet)}; img-src data:; base-uri 'none'; form-action 'none'"
    policy += "; require-trusted-types-for 'script'; trusted-types 'none'"
    data = (
        json.dumps(answers, ensure_ascii=True, separators=(",", ":"))
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
        .replace("&", "\\u0026")
    )
    parts = {
        'href="static/icon.svg"': f'href="data:image/svg+xml;base64,{b64encode(icon.encode()).decode()}"',
        '<link rel="stylesheet" href="static/style.css">': f"<style>{sheet}</style>",
        '<script type="module" src="static/app.js"></script>': (
            f'<script type="application/json" id="inert-data">{data}</script>\n<script>{code}</script>'
        ),
        "<title>inert</title>": f"<title>{_escaped(title)}</title>",
        '<meta charset="utf-8">': f'<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
    }
    made = read("index.html")
    for old, new in parts.items():
        if made.count(old) != 1:
            raise ValueError(f"index.html has not one {old}")
        made = made.replace(old, new)
    return made


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _escaped(text: str) -> str:
    from html import escape

    from ..errors import one_line

    return escape(one_line(text, 200))
