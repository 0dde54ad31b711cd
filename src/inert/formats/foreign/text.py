"""Text: pointers, web pages, JSON, source code … and binary data that somebody's program took for text.

Knows: which bytes are text, in UTF-8, UTF-16 or nearly Latin-1, and what a text of some kinds tells of itself.
Refuses to know: grammars. Only a text's beginning is held against patterns; no JSON, XML or YAML is parsed.
"""

from __future__ import annotations

import re

from .look import END, matching, show
from .tables import BINARY, MAKER, PROSE, TEXTS, TOLD, WRONG
from .wrappers import base64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .look import Answer, Look
    from .tables import Rows

UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks


def written(look: Look) -> Answer | None:
    text = decode(look.head)
    if not text:
        return None
    if b"\0" in look.tail.rstrip(b"\0") and not look.head.startswith(UTF_16):
        return "text-and-binary", "a file that begins as text and ends as binary data", _telling("text", text), MAKER
    return _told(TEXTS, text) or base64(look, text) or _path_file(text) or _told(PROSE, text)


def mangled(look: Look) -> Answer | None:
    """UTF-8's replacement character all over binary data: somebody's program read the file as text and wrote it back."""
    found = look.head.count(b"\xef\xbf\xbd")
    if found < 4 or found * 64 < len(look.head):
        return None
    facts = f"; {found:,} bytes of the first {len(look.head):,} were replaced by U+FFFD"
    return "mangled", "binary data damaged by a conversion to text", facts, BINARY


def decode(head: bytes) -> bytes:
    """The head as UTF-8 text with plain line ends and no byte order mark, or nothing where it is no text."""
    if head.startswith(UTF_16):
        text = head[: len(head) // 2 * 2].decode("utf-16", "replace")
    else:
        head = head.rstrip(b"\0")  # a page may lie in a file that was made longer beforehand
        text = head.decode("utf-8", "replace")
        if "\ufffd" in text[:-1] and len(re.findall(rb"[\x20-\x7e\s]", head)) > 0.7 * len(head):
            text = head.decode("latin-1")
    if re.search("[\0-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]", text[:-1]):  # the head's end may cut the last character
        return b""
    return text.strip("\ufeff \t\r\n").replace("\r\n", "\n").encode("utf-8", "replace")


def _told(rows: Rows, text: bytes) -> Answer | None:
    for kind, _, noun, hint in matching(rows, text, re.I | re.S):
        return kind, noun, _telling(kind, text), hint
    return None


def _path_file(text: bytes) -> Answer | None:
    """site-packages/*.pth: comments, imports and folders only. It shares its suffix with checkpoints."""
    lines = [line for line in text.split(b"\n") if line.strip() and not line.startswith(b"#")]
    if not lines or len(text) > END // 2 or not all(re.match(rb"import[ \t]|\.{0,2}/\S|[A-Za-z]:\\", line) for line in lines):
        return None
    kind = "python-path-file"
    return kind, "a Python path file (.pth of site-packages)", _telling(kind, text), "it tells Python where modules are; " + WRONG


def _telling(kind: str, text: bytes) -> str:
    pattern, template = TOLD.get(kind, (b"", ""))
    found = re.search(pattern, text, re.I) if template else None
    if found is None:
        return ""
    groups = {name: show(b" ".join(value.split()), 80) for name, value in found.groupdict().items()}
    numbers = {name: f"{int(value):,}" for name, value in groups.items() if name[0] == "n" and len(value) < 20}
    return template.format_map(groups | numbers)
